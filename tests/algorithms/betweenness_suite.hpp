// SPDX-License-Identifier: Apache-2.0
// The tests of betweenness, for any space: known graphs with literal results, which NetworkX returns too, and random
// graphs compared with the definition.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "../../algorithms/betweenness.hpp"
#include "../graph/model.hpp"
#include "../support/refusal.hpp"
#include "../support/seed.hpp"
#include "../support/verify_paths.hpp"
#include "any_graph_fixture.hpp"

namespace wyrm::tests {

template <class Space>
class betweenness_test : public any_graph_test<Space> {
 protected:
  using ids = std::vector<graph::vertex_id>;
  using numbers = std::vector<double>;
  using options = algorithms::betweenness_options;

  static numbers of_all(graph::any_graph const& g, options const& o = {}) {
    return algorithms::betweenness(any_graph_test<Space>::space_of(g), g.view(), o).score;
  }
  static numbers of(graph::any_graph const& g, ids const& sources, options const& o = {}) {
    return algorithms::betweenness(any_graph_test<Space>::space_of(g), g.view(), sources, o).score;
  }
  static void expect_near(numbers const& got, numbers const& want) {
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t v = 0; v < want.size(); ++v) ASSERT_NEAR(got[v], want[v], 1e-9 * (1 + want[v])) << v;
  }
  static void expect_scores(graph::any_graph const& g, ids const& some) {
    graph::csr const rows = g.to_csr();
    ids every(g.vertices());
    std::iota(every.begin(), every.end(), 0u);
    options const both{.both_directions = true};
    auto const all = of_all(g, both);
    expect_near(all, serial_betweenness(rows, every));
    ASSERT_EQ(of_all(g, both), all);
    expect_near(of(g, some, both), serial_betweenness(rows, some));
  }
};

TYPED_TEST_SUITE_P(betweenness_test);

TYPED_TEST_P(betweenness_test, scores_of_known_graphs) {
  using numbers = typename TestFixture::numbers;
  using ids = typename TestFixture::ids;
  using algorithms::betweenness_scale;
  EXPECT_TRUE(this->of_all(this->make(0, {})).empty());
  for (auto const scale : {betweenness_scale::none, betweenness_scale::pairs, betweenness_scale::largest}) {
    EXPECT_EQ(this->of_all(this->make(1, {}), {.scale = scale}), numbers{0});
    EXPECT_EQ(this->of_all(this->make(3, {{0, 1}}), {.scale = scale, .extrapolate = true}), (numbers{0, 0, 0}));
  }
  // A circle of four with a tail, an edge, and an isolated vertex.
  auto const g = this->make(8, {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {3, 4}, {5, 6}});
  EXPECT_EQ(this->of_all(g), (numbers{1, 0.5, 1, 3.5, 0, 0, 0, 0}));
  EXPECT_EQ(this->of_all(g, {.both_directions = true}), (numbers{2, 1, 2, 7, 0, 0, 0, 0}));
  EXPECT_EQ(this->of_all(g, {.scale = betweenness_scale::pairs}),
            (numbers{2 / 42.0, 1 / 42.0, 2 / 42.0, 7 / 42.0, 0, 0, 0, 0}));
  EXPECT_EQ(this->of_all(g, {.scale = betweenness_scale::largest}),
            (numbers{2 / 7.0, 1 / 7.0, 2 / 7.0, 1, 0, 0, 0, 0}));
  // From some sources: those of 0 pass through 1, 3 and, on the way to 4, through 3 again.
  EXPECT_EQ(this->of(g, {0}), (numbers{0, 0.25, 0, 0.75, 0, 0, 0, 0}));
  EXPECT_EQ(this->of(g, {0, 7, 5, 0}), (numbers{0, 0.5, 0, 1.5, 0, 0, 0, 0}));
  EXPECT_EQ(this->of(g, {0, 7}, {.extrapolate = true}), (numbers{0, 1, 0, 3, 0, 0, 0, 0}));
  EXPECT_EQ(this->of(g, ids{}), numbers(8));
  EXPECT_EQ(this->of(g, ids{}, {.scale = betweenness_scale::largest, .extrapolate = true}), numbers(8));

  std::vector<graph::edge> const arcs{{0, 1}, {1, 2}, {2, 3}, {3, 0}, {3, 4}, {0, 2}, {2, 2}};
  auto const directed = this->make(5, arcs, {.directed = true, .self_loops = true});
  EXPECT_EQ(this->of_all(directed), (numbers{3, 0, 5, 6, 0}));
  EXPECT_EQ(this->of_all(directed, {.scale = betweenness_scale::pairs}), (numbers{3 / 12.0, 0, 5 / 12.0, 6 / 12.0, 0}));
}

TYPED_TEST_P(betweenness_test, scores_agree_with_the_definition) {
  std::size_t const rounds = this->sized(6, 3);
  for (unsigned seed = 0; seed < rounds; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seeded(seed));
    std::size_t const n = this->sized(40 + 30 * seed, 40);
    auto g = this->make(n, random_edges(random, n, n * (seed % 3 + 1)),
                        {.directed = seed % 2 == 1, .self_loops = seed % 3 > 0});
    typename TestFixture::ids const some{5, 0, static_cast<graph::vertex_id>(random() % n), 5};
    this->expect_scores(g, some);
    g.erase(random_edges(random, n, n / 2));
    g.remove_vertices({5, 6});
    this->expect_scores(g, some);
  }
}

// Hubs, whose rows several tiles share: k vertices between two hubs, and k leaves that both hubs have in common.
TYPED_TEST_P(betweenness_test, scores_of_hubs) {
  auto const k = static_cast<graph::vertex_id>(this->sized(3000, 700));
  std::vector<graph::edge> edges;
  for (graph::vertex_id v = 2; v < k + 2; ++v) {
    edges.push_back({0, v});
    edges.push_back({v, 1});
  }
  edges.push_back({k + 2, 0});
  edges.push_back({1, k + 3});
  double const m = k;
  for (bool const directed : {false, true}) {
    auto const g = this->make(k + std::size_t{4}, edges, {.directed = directed});
    auto const got = this->of(g, {k + 2}, {.both_directions = true});
    // From k + 2: all paths go through 0; those to k + 3 through 1, too, and each of the others has one part in m.
    EXPECT_NEAR(got[0], m + 2, 1e-9);
    EXPECT_NEAR(got[1], 1, 1e-12);
    for (graph::vertex_id v = 2; v < k + 2; ++v) ASSERT_NEAR(got[v], 2 / m, 1e-12);
    EXPECT_EQ(got[k + 2], 0);
    EXPECT_EQ(got[k + 3], 0);
    EXPECT_EQ(this->of(g, {k + 2}, {.both_directions = true}), got);
  }
}

TYPED_TEST_P(betweenness_test, scores_of_long_paths) {
  auto const n = static_cast<graph::vertex_id>(this->sized(1000, 100));
  std::vector<graph::edge> edges;
  for (graph::vertex_id v = 0; v + 1 < n; ++v) edges.push_back({v, v + 1});
  auto const got = this->of_all(this->make(n, edges));
  for (graph::vertex_id v = 0; v < n; ++v) ASSERT_EQ(got[v], static_cast<double>(v) * (n - 1 - v));
}

// The number of shortest paths doubles with each of the diamonds in a row.
TYPED_TEST_P(betweenness_test, scores_with_more_paths_than_integers) {
  auto const diamonds = [&](graph::vertex_id count) {
    std::vector<graph::edge> edges;
    for (graph::vertex_id d = 0; d < count; ++d)
      for (graph::vertex_id const middle : {3 * d + 1, 3 * d + 2}) {
        edges.push_back({3 * d, middle});
        edges.push_back({middle, 3 * d + 3});
      }
    return this->make(3 * count + std::size_t{1}, edges);
  };
  auto const got = this->of(diamonds(1000), {0}, {.both_directions = true});
  for (graph::vertex_id d = 0; d < 1000; ++d) {
    ASSERT_EQ(got[3 * d], d == 0 ? 0 : 3.0 * (1000 - d));
    ASSERT_EQ(got[3 * d + 1], (1 + 3.0 * (999 - d)) / 2);
  }
  EXPECT_NE(refusal([&] { this->of(diamonds(1030), {0}); }).find("more shortest paths"), std::string::npos);
}

TYPED_TEST_P(betweenness_test, bad_arguments_of_betweenness) {
  EXPECT_EQ(refusal([&] {
              this->of(this->make(3, {}), {0, 3});
            }),
            "betweenness: the source 3 is not in the graph, which has 3 vertices; they are numbered from 0");
  auto const g = this->make(3, {{0, 1}}, {.directed = true, .in_neighbours = false});
  EXPECT_NE(refusal([&] { this->of_all(g); }).find("does not keep in-neighbours"), std::string::npos);
}

// A scorer keeps its memory from graph to graph; isolated vertices do not change the scores of others.
TYPED_TEST_P(betweenness_test, a_scorer_serves_graphs_of_any_size) {
  TypeParam const space = this->space_of(this->make(0, {}));
  algorithms::betweenness_scorer<TypeParam> scorer(space);
  std::mt19937 random(seeded(4));
  for (std::size_t const n : {60u, 20u, 0u, 90u, 1u}) {
    auto const edges = n > 0 ? random_edges(random, n, 2 * n) : std::vector<graph::edge>();
    auto const g = this->make(n, edges);
    scorer.run(g.view());
    auto const got = exec::copy_out(space, scorer.score(), n);
    ASSERT_EQ(got, this->of_all(g));
    auto more = this->of_all(this->make(n + 5, edges));
    more.resize(n);
    ASSERT_EQ(more, got);
  }
}

REGISTER_TYPED_TEST_SUITE_P(betweenness_test, scores_of_known_graphs, scores_agree_with_the_definition, scores_of_hubs,
                            scores_of_long_paths, scores_with_more_paths_than_integers, bad_arguments_of_betweenness,
                            a_scorer_serves_graphs_of_any_size);

}  // namespace wyrm::tests
