// SPDX-License-Identifier: Apache-2.0
// PageRank with the rows of in-neighbours copied so that hubs come first, for any space.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "../../algorithms/pagerank.hpp"
#include "../graph/model.hpp"
#include "../support/verify.hpp"
#include "any_graph_fixture.hpp"

namespace wyrm::tests {

template <class Space>
class hubs_test : public any_graph_test<Space> {
 protected:
  static constexpr double tolerance = 1e-10;
  static constexpr algorithms::detail::bin_limits limits{32, 256, 1024, 1024};
  /// More vertices than the table has values, so that hubs have to be chosen; an odd number, so that an array behind
  /// one of that length is not aligned by chance.
  static std::size_t vertices() {
    std::size_t const n = std::max(any_graph_test<Space>::sized(6000, 400),
                                   exec::table_capacity<float>(make_space<Space>()) + std::size_t{100});
    return n | 1;
  }
  static algorithms::pagerank_options options(bool hubs_first) {
    return {.tolerance = tolerance, .hubs_first_from = hubs_first ? 0 : ~std::uint64_t{0}};
  }
  static void expect_equal(std::vector<double> const& got, std::vector<double> const& want, double bound) {
    ASSERT_EQ(got.size(), want.size());
    double distance = 0;
    for (std::size_t v = 0; v < got.size(); ++v) distance += std::abs(got[v] - want[v]);
    ASSERT_LE(distance, bound);
  }
  // Some vertices have most of the arcs.
  static std::vector<graph::edge> skewed(std::mt19937& random, std::size_t n, std::size_t count) {
    std::vector<graph::edge> edges = random_edges(random, n, count);
    for (std::size_t i = 0; i < edges.size(); ++i)
      if (i % 4 != 0) edges[i].source = static_cast<graph::vertex_id>(random() % 24 * 7);
    return edges;
  }
};

TYPED_TEST_SUITE_P(hubs_test);

TYPED_TEST_P(hubs_test, ranks_agree_with_the_verifier) {
  for (unsigned seed = 0; seed < 4; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seeded(seed));
    std::size_t const n = this->vertices();
    bool const directed = seed % 2 == 1;
    // With few edges, most vertices have none.
    std::size_t const edges = seed / 2 == 0 ? 8 * n : n / 2;
    auto g = this->make(n, this->skewed(random, n, edges), {.directed = directed, .self_loops = seed >= 2});
    graph::csr const rows = g.to_csr();
    auto const want = serial_pagerank(rows, 0.85);
    double const bound = 0.85 / 0.15 * this->tolerance + serial_pagerank_error(0.85);
    auto const space = this->space_of(g);
    auto const table = exec::table_capacity<double>(space);
    algorithms::detail::hubs_first<TypeParam> hubs(space);
    EXPECT_EQ(hubs.prepare(g.view(), table, 0.25, this->limits), table > 0);
    std::set<graph::vertex_id> isolated;
    for (graph::vertex_id v = 0; v < n; ++v)
      if (rows.offsets[v] == rows.offsets[v + 1]) isolated.insert(v);
    for (graph::vertex_id const v : rows.targets) isolated.erase(v);
    if (table > 0) {
      EXPECT_EQ(hubs.isolated(), isolated.size());
      auto const ids = exec::copy_out(space, hubs.old_ids(), n);
      EXPECT_EQ(std::vector(isolated.begin(), isolated.end()),
                std::vector(ids.end() - static_cast<std::ptrdiff_t>(isolated.size()), ids.end()));
    }
    auto const got = algorithms::pagerank(space, g.view(), this->options(true));
    EXPECT_TRUE(got.converged);
    this->expect_equal(got.rank, want, bound);
    auto const single = [&] {
      auto o = this->options(true);
      o.ranks = algorithms::precision::fp32;
      o.tolerance = 1e-5;
      return algorithms::pagerank(space, g.view(), o);
    }();
    this->expect_equal(single.rank, want, 1e-4);
    // Starts from ranks in the order of the graph, on the host and on the device.
    auto o = this->options(true);
    o.start = want;
    algorithms::pagerank_ranker<TypeParam> ranker(space);
    EXPECT_LE(ranker.run(g.view(), o).iterations, 8u);
    EXPECT_LE(ranker.run(g.view(), this->options(true), true).iterations, 2u);
    this->expect_equal(exec::copy_out(space, ranker.rank(), n), want, bound);
  }
}

TYPED_TEST_P(hubs_test, removed_vertices_have_no_rank) {
  std::mt19937 random(seeded(9));
  std::size_t const n = this->vertices();
  for (bool const directed : {false, true}) {
    auto g = this->make(n, this->skewed(random, n, 8 * n), {.directed = directed});
    g.remove_vertices({0, 7, static_cast<graph::vertex_id>(n - 1)});
    auto const space = this->space_of(g);
    auto const got = algorithms::pagerank(space, g.view(), this->options(true));
    this->expect_equal(got.rank, algorithms::pagerank(space, g.view(), this->options(false)).rank,
                       2 * 0.85 / 0.15 * this->tolerance);
    EXPECT_EQ(got.rank[0] + got.rank[7] + got.rank[n - 1], 0);
  }
}

TYPED_TEST_P(hubs_test, only_skewed_graphs_are_copied) {
  std::size_t const n = 2000;
  std::vector<graph::edge> ring;
  for (graph::vertex_id v = 0; v < n; ++v) ring.push_back({v, static_cast<graph::vertex_id>((v + 1) % n)});
  auto g = this->make(n, ring);
  auto const space = this->space_of(g);
  algorithms::detail::hubs_first<TypeParam> hubs(space);
  EXPECT_FALSE(hubs.prepare(g.view(), 64, 0.25, this->limits));
  // 20 hubs are the sources of nearly all arcs into 2,000 vertices.
  std::vector<graph::edge> stars;
  for (graph::vertex_id v = 0; v < n; ++v) stars.push_back({v % 20 * 100 + 50, v});
  auto const directed = this->make(n, stars, {.directed = true, .self_loops = true});
  EXPECT_FALSE(hubs.prepare(directed.view(), 19, 0.25, this->limits));
  ASSERT_TRUE(hubs.prepare(directed.view(), 20, 0.25, this->limits));
  EXPECT_EQ(hubs.hubs(), 20u);
  auto const old_ids = exec::copy_out(space, hubs.old_ids(), n);
  std::vector<graph::vertex_id> new_ids(n, ~graph::vertex_id{0});
  for (graph::vertex_id v = 0; v < n; ++v) new_ids[old_ids[v]] = v;
  for (graph::vertex_id h = 0; h < 20; ++h) EXPECT_EQ(old_ids[h], h * 100 + 50);
  EXPECT_EQ(std::count(new_ids.begin(), new_ids.end(), ~graph::vertex_id{0}), 0);
}

// Some components, of which each keeps its ranks in the power method, and vertices without arcs.
TYPED_TEST_P(hubs_test, no_rank_is_lost_or_leaves_its_component) {
  std::size_t const n = this->vertices();
  std::mt19937 random(seeded(5));
  std::vector<graph::edge> edges;
  for (graph::vertex_id v = 0; v + 200 < n; ++v)  // ten components, with a hub each
    edges.push_back({v, random() % 4 == 0 ? static_cast<graph::vertex_id>(v % 10 + random() % 20 * 10) : v % 10});
  auto const g = this->make(n, edges);
  auto const space = this->space_of(g);
  auto const want = serial_pagerank(g.to_csr(), 0.85);
  algorithms::pagerank_ranker<TypeParam> ranker(space);
  for (double const tolerance : {1e-5, 1e-12}) {
    auto o = this->options(true);
    o.tolerance = tolerance;
    auto const run = ranker.run(g.view(), o);
    EXPECT_TRUE(run.converged);
    auto const got = exec::copy_out(space, ranker.rank(), n);
    EXPECT_NEAR(std::accumulate(got.begin(), got.end(), 0.0), 1, 1e-11);
    this->expect_equal(got, want, 0.85 / 0.15 * tolerance + serial_pagerank_error(0.85));
    double dangling = 0;
    graph::csr const rows = g.to_csr();
    for (std::size_t v = 0; v < n; ++v)
      if (rows.offsets[v] == rows.offsets[v + 1]) dangling += got[v];
    EXPECT_GT(dangling, 0);
    EXPECT_NEAR(ranker.dangling(), dangling, tolerance);
    (void)ranker.run(g.view(), o);
    EXPECT_EQ(exec::copy_out(space, ranker.rank(), n), got);
    o.hubs_first_from = ~std::uint64_t{0};
    EXPECT_LE(run.iterations, ranker.run(g.view(), o).iterations + 3);
  }
  // A fixed number of iterations gives the ranks of the power method.
  auto o = this->options(true);
  o.tolerance = std::numeric_limits<double>::min();
  o.max_iterations = 9;
  auto const nine = algorithms::pagerank(space, g.view(), o).rank;
  o.hubs_first_from = ~std::uint64_t{0};
  this->expect_equal(nine, algorithms::pagerank(space, g.view(), o).rank, 1e-14);
}

// All contributions round to the same value, so that the first iteration changes no rank.
TYPED_TEST_P(hubs_test, what_is_not_sent_counts_as_change) {
  std::vector<graph::edge> edges;
  for (graph::vertex_id u = 0; u < 60; ++u) {
    for (graph::vertex_id v = 0; v < 1000; ++v) edges.push_back({u, v});
    for (graph::vertex_id v = 1000; v < 2001; ++v) edges.push_back({1000 + u, v});
  }
  auto const g = this->make(2001, edges, {.directed = true, .self_loops = true});
  auto const got = algorithms::pagerank(this->space_of(g), g.view(), this->options(true));
  this->expect_equal(got.rank, serial_pagerank(g.to_csr(), 0.85),
                     0.85 / 0.15 * this->tolerance + serial_pagerank_error(0.85));
}

REGISTER_TYPED_TEST_SUITE_P(hubs_test, ranks_agree_with_the_verifier, removed_vertices_have_no_rank,
                            only_skewed_graphs_are_copied, no_rank_is_lost_or_leaves_its_component,
                            what_is_not_sent_counts_as_change);

}  // namespace wyrm::tests
