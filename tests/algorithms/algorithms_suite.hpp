// SPDX-License-Identifier: Apache-2.0
// The tests of the algorithms, for any space: known graphs with literal results, random graphs against the serial
// verifiers, before and after updates.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "../../algorithms/pagerank.hpp"
#include "../../algorithms/triangles.hpp"
#include "../../alloc/ouroboros/ouroboros.hpp"
#include "../../graph/dynamic_graph.hpp"
#include "../graph/model.hpp"
#include "../support/spaces.hpp"
#include "../support/verify.hpp"

namespace wyrm::tests {

template <class Space>
class algorithms_test : public space_test<Space> {
 protected:
  using graph_type = graph::dynamic_graph<Space, alloc::ouroboros_s_p<Space>>;

  graph_type make(std::size_t n, std::vector<graph::edge> const& edges, bool directed = false, bool loops = false) {
    graph::options o{.directed = directed, .self_loops = loops};
    o.pool = {.pool_bytes = std::size_t{1} << 20, .reserve_bytes = std::size_t{1} << 28, .checked = true};
    graph_type g(make_space<Space>(), n, o);
    g.insert(edges);
    return g;
  }
  static auto pagerank(graph_type const& g, algorithms::pagerank_options const& o = {}) {
    return algorithms::pagerank(g.space(), g.view(), o);
  }
  static auto triangles(graph_type const& g) {
    return algorithms::triangles(g.space(), g.view(), {.per_vertex = true});
  }
  static void expect_ranks(graph_type const& g, double damping) {
    auto const got = pagerank(g, {.damping = damping, .tolerance = 1e-12});
    auto const want = serial_pagerank(g.to_csr(), damping);
    EXPECT_TRUE(got.converged);
    EXPECT_NEAR(std::accumulate(got.rank.begin(), got.rank.end(), 0.0), 1.0, 1e-12);
    for (std::size_t v = 0; v < want.size(); ++v) ASSERT_NEAR(got.rank[v], want[v], 1e-11) << "vertex " << v;
  }
  static std::vector<graph::edge> clique(graph::vertex_id n) {
    std::vector<graph::edge> edges;
    for (graph::vertex_id u = 0; u < n; ++u)
      for (graph::vertex_id v = u + 1; v < n; ++v) edges.push_back({v, u});
    return edges;
  }
};

TYPED_TEST_SUITE_P(algorithms_test);

TYPED_TEST_P(algorithms_test, pagerank_of_known_graphs) {
  // A star: the centre has (1 - d)/n + d (n - 1) x for x = (1 - d)/n + d c/(n - 1), so c = (1 + d (n - 1))/(n (1 + d)).
  std::vector<graph::edge> star;
  for (graph::vertex_id i = 1; i < 5; ++i) star.push_back({0, i});
  auto const r = this->pagerank(this->make(5, star), {.tolerance = 1e-13});
  EXPECT_NEAR(r.rank[0], (1 + 0.85 * 4) / (5 * 1.85), 1e-12);
  for (std::size_t i = 1; i < 5; ++i) EXPECT_NEAR(r.rank[i], (1 - r.rank[0]) / 4, 1e-12);

  for (double const rank : this->pagerank(this->make(7, this->clique(7))).rank) EXPECT_NEAR(rank, 1.0 / 7, 1e-12);

  // Without arcs everybody dangles; the even start is the answer.
  auto const isolated = this->pagerank(this->make(4, {}));
  EXPECT_EQ(isolated.rank, std::vector<double>(4, 0.25));
  EXPECT_EQ(isolated.iterations, 1u);
  EXPECT_TRUE(isolated.converged);

  auto const none = this->pagerank(this->make(0, {}));
  EXPECT_TRUE(none.converged);
  EXPECT_TRUE(none.rank.empty());

  // 0 -> 1, and 1 dangles: r1 = b + d r0, r0 = b with b = (1 - d)/2 + d r1/2, so r0 = 1/(2 + d).
  auto const arc = this->pagerank(this->make(2, {{0, 1}}, true), {.tolerance = 1e-14});
  EXPECT_NEAR(arc.rank[0], 1 / 2.85, 1e-12);
  EXPECT_NEAR(arc.rank[1], 1.85 / 2.85, 1e-12);
}

TYPED_TEST_P(algorithms_test, pagerank_agrees_with_the_verifier) {
  for (unsigned seed = 0; seed < 6; ++seed) {
    std::mt19937 random(seed);
    std::size_t const n = 50 + 100 * seed;
    auto g = this->make(n, random_edges(random, n, n * (seed + 1)), seed % 2 == 1, seed >= 4);
    this->expect_ranks(g, seed < 3 ? 0.85 : 0.5);
    g.erase(random_edges(random, n, n));
    g.insert(random_edges(random, n, n));
    this->expect_ranks(g, 0.85);
  }
}

TYPED_TEST_P(algorithms_test, pagerank_options) {
  std::mt19937 random(5);
  auto const g = this->make(100, random_edges(random, 100, 400));
  auto const cold = this->pagerank(g, {.tolerance = 1e-10});
  auto const warm = this->pagerank(g, {.tolerance = 1e-10, .start = cold.rank});
  EXPECT_LE(warm.iterations, 2u);
  EXPECT_TRUE(warm.converged);
  auto const few = this->pagerank(g, {.tolerance = 1e-10, .max_iterations = 3});
  EXPECT_EQ(few.iterations, 3u);
  EXPECT_FALSE(few.converged);
  EXPECT_GE(few.change, 1e-10);
  EXPECT_EQ(this->pagerank(g, {.max_iterations = 7}).rank, this->pagerank(g, {.max_iterations = 7}).rank);

  EXPECT_THROW(this->pagerank(g, {.damping = 1}), error);
  EXPECT_THROW(this->pagerank(g, {.damping = -0.1}), error);
  EXPECT_THROW(this->pagerank(g, {.tolerance = 0}), error);
  EXPECT_THROW(this->pagerank(g, {.start = {1, 0}}), error);
  typename TestFixture::graph_type const one_way(make_space<TypeParam>(), 3,
                                                 {.directed = true, .in_neighbours = false});
  EXPECT_THROW(this->pagerank(one_way), error);
}

TYPED_TEST_P(algorithms_test, triangles_of_known_graphs) {
  EXPECT_EQ(this->triangles(this->make(0, {})).total, 0u);
  EXPECT_EQ(this->triangles(this->make(5, {})).total, 0u);
  auto const clique = this->triangles(this->make(40, this->clique(40)));
  EXPECT_EQ(clique.total, 40u * 39 * 38 / 6);
  EXPECT_EQ(clique.per_vertex, std::vector<std::uint64_t>(40, 39 * 38 / 2));
  // Two triangles that share the edge 1-2, a tail, and self-loops that make none.
  auto const bow =
      this->triangles(this->make(6, {{0, 1}, {1, 2}, {2, 0}, {3, 1}, {3, 2}, {3, 4}, {1, 1}, {4, 4}}, false, true));
  EXPECT_EQ(bow.total, 2u);
  EXPECT_EQ(bow.per_vertex, (std::vector<std::uint64_t>{1, 2, 2, 1, 0, 0}));
  EXPECT_THROW(this->triangles(this->make(3, {{0, 1}}, true)), error);
}

TYPED_TEST_P(algorithms_test, triangles_agree_with_the_verifier) {
  for (unsigned seed = 0; seed < 5; ++seed) {
    std::mt19937 random(seed);
    std::size_t const n = 40 + 60 * seed;
    auto g = this->make(n, random_edges(random, n, n * 6), false, seed % 2 == 1);
    for (int round = 0; round < 3; ++round) {
      auto const got = this->triangles(g);
      EXPECT_EQ(got.per_vertex, serial_triangles(g.to_csr()));
      EXPECT_EQ(got.total * 3, std::accumulate(got.per_vertex.begin(), got.per_vertex.end(), std::uint64_t{0}));
      EXPECT_EQ(algorithms::triangles(g.space(), g.view()).total, got.total);
      g.erase(random_edges(random, n, n));
      g.insert(random_edges(random, n, n));
    }
  }
}

REGISTER_TYPED_TEST_SUITE_P(algorithms_test, pagerank_of_known_graphs, pagerank_agrees_with_the_verifier,
                            pagerank_options, triangles_of_known_graphs, triangles_agree_with_the_verifier);

}  // namespace wyrm::tests
