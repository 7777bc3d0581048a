// SPDX-License-Identifier: Apache-2.0
// The tests of minimum spanning forests, for any space: known graphs with literal results, weights of all types and
// equal weights, and random graphs compared with the serial verifier, before and after updates.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "../../algorithms/components.hpp"
#include "../../algorithms/spanning_forest.hpp"
#include "../support/verify_structure.hpp"
#include "structure_fixture.hpp"

namespace wyrm::tests {

template <class Space>
class spanning_forest_test : public structure_test<Space> {
 protected:
  using typename structure_test<Space>::edges;

  auto of(graph::any_graph const& g) { return algorithms::spanning_forest(this->space_of(g), g.view()); }
  template <class Weight>
  graph::any_graph weighted(std::size_t n, edges const& all, std::vector<Weight> const& weights) {
    return this->make(n, all, {.self_loops = true, .values = graph::number_type_of<Weight>}, weights);
  }
  /// The weights of edges in the order of the edges, by their arcs in a CSR.
  template <class Weight>
  static std::vector<double> weights_of(edges const& some, graph::csr const& g, std::vector<Weight> const& of_arcs) {
    std::vector<double> weights;
    for (graph::edge const& e : some)
      for (auto i = g.offsets[e.source]; i < g.offsets[e.source + 1]; ++i)
        if (g.targets[i] == e.target) weights.push_back(of_arcs.empty() ? 1.0 : static_cast<double>(of_arcs[i]));
    return weights;
  }
  template <class Weight>
  void expect_verified(graph::any_graph const& g, std::vector<Weight> const& of_arcs) {
    graph::csr const rows = g.to_csr();
    edges const want = serial_spanning_forest(rows, of_arcs);
    auto const got = of(g);
    ASSERT_EQ(got.edges, want);
    ASSERT_EQ(got.weights, weights_of(want, rows, of_arcs));
    double const sum = std::accumulate(got.weights.begin(), got.weights.end(), 0.0);
    ASSERT_NEAR(got.weight, sum, 1e-9 * (1 + std::abs(sum)));
    ASSERT_EQ(got.trees, algorithms::components(this->space_of(g), g.view()).count);
  }
  template <class Weight>
  void expect_verified_for_type(bool has_few_weights) {
    SCOPED_TRACE(graph::name_of(graph::number_type_of<Weight>));
    for (unsigned seed = 0; seed < 4; ++seed) {
      SCOPED_TRACE(seed);
      std::mt19937 random(seeded(seed));
      std::size_t const n = 20 + this->sized(400, 80) * seed;
      auto const weights = [&](std::size_t m) {
        std::vector<Weight> all(m);
        for (Weight& w : all) {
          auto const k = static_cast<int>(random() % (has_few_weights ? 3 : 1'000'000));
          w = static_cast<Weight>(std::is_unsigned_v<Weight> ? k : k - (has_few_weights ? 1 : 500'000));
          if (std::is_floating_point_v<Weight> && !has_few_weights) w /= static_cast<Weight>(7);
        }
        return all;
      };
      std::size_t const m = n * (seed % 3 + 1);
      auto g = weighted(n, this->random_edges(random, n, m), weights(m));
      ASSERT_NO_FATAL_FAILURE(expect_verified(g, g.template values<Weight>()));
      g.erase(this->random_edges(random, n, n));
      g.insert(this->random_edges(random, n, n / 4), weights(n / 4));
      g.remove_vertices({1, 7, static_cast<graph::vertex_id>(n - 1)});
      ASSERT_NO_FATAL_FAILURE(expect_verified(g, g.template values<Weight>()));
    }
  }
};

TYPED_TEST_SUITE_P(spanning_forest_test);

TYPED_TEST_P(spanning_forest_test, known_forests) {
  using edges = typename TestFixture::edges;
  auto const none = this->of(this->make(0, {}));
  EXPECT_TRUE(none.edges.empty());
  EXPECT_EQ(none.trees, 0u);
  auto const isolated = this->of(this->make(3, {{1, 1}}, {.self_loops = true}));
  EXPECT_TRUE(isolated.edges.empty());
  EXPECT_EQ(isolated.weight, 0.0);
  EXPECT_EQ(isolated.trees, 3u);

  // Without weights edges are taken in ascending order.
  auto const square = this->of(this->make(5, {{3, 0}, {2, 3}, {1, 2}, {0, 1}}));
  EXPECT_EQ(square.edges, (edges{{0, 1}, {0, 3}, {1, 2}}));
  EXPECT_EQ(square.weights, (std::vector<double>{1, 1, 1}));
  EXPECT_EQ(square.weight, 3.0);
  EXPECT_EQ(square.trees, 2u);
  // The example of Cormen, Leiserson, Rivest and Stein, figure 23.1, in which two edges of weight 8 are possible.
  edges const all{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 7},
                  {7, 0}, {1, 7}, {2, 8}, {8, 7}, {8, 6}, {2, 5}, {3, 5}};
  auto const book = this->of(this->weighted(9, all, std::vector<float>{4, 8, 7, 9, 10, 2, 1, 8, 11, 2, 7, 6, 4, 14}));
  EXPECT_EQ(book.edges, (edges{{0, 1}, {0, 7}, {2, 3}, {2, 5}, {2, 8}, {3, 4}, {5, 6}, {6, 7}}));
  EXPECT_EQ(book.weight, 37.0);
  EXPECT_EQ(book.trees, 1u);
}

TYPED_TEST_P(spanning_forest_test, extreme_weights) {
  using edges = typename TestFixture::edges;
  edges const triangle{{0, 1}, {1, 2}, {0, 2}};
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  // Doubles could not tell these weights apart.
  EXPECT_EQ(this->of(this->weighted(3, triangle, std::vector<std::int64_t>{most, most - 1, most - 2})).edges,
            (edges{{0, 2}, {1, 2}}));
  EXPECT_EQ(this->of(this->weighted(3, triangle, std::vector<std::int64_t>{most, most, -most - 1})).edges,
            (edges{{0, 1}, {0, 2}}));
  EXPECT_EQ(this->of(this->weighted(3, triangle, std::vector<std::uint32_t>{~0u, 1u << 31, 0})).edges,
            (edges{{0, 2}, {1, 2}}));
  // Zeros of both signs are equal, and the order of negative numbers is that of numbers.
  EXPECT_EQ(this->of(this->weighted(3, triangle, std::vector<double>{0.0, -0.0, -0.0})).edges, (edges{{0, 1}, {0, 2}}));
  auto const negative = this->of(this->weighted(3, triangle, std::vector<double>{-1e308, -1.5, -2.5}));
  EXPECT_EQ(negative.edges, (edges{{0, 1}, {0, 2}}));
  EXPECT_EQ(negative.weights, (std::vector<double>{-1e308, -2.5}));
}

TYPED_TEST_P(spanning_forest_test, paths_with_ascending_weights) {
  // In the first round each vertex chooses the edge to its predecessor: one long chain of trees.
  auto const n = static_cast<graph::vertex_id>(this->sized(100'000, 1'000));
  for (unsigned order = 0; order < 3; ++order) {
    auto names = this->random_names(n, 4);
    if (order < 2) std::sort(names.begin(), names.end());
    if (order == 1) std::reverse(names.begin(), names.end());
    auto const edges = this->renamed(this->path(n), names);
    std::vector<std::uint32_t> weights(edges.size());
    std::iota(weights.begin(), weights.end(), 1u);
    auto const got = this->of(this->weighted(n, edges, weights));
    EXPECT_EQ(got.edges.size(), n - 1);
    EXPECT_EQ(got.trees, 1u);
    EXPECT_EQ(got.weight, static_cast<double>(n) * (n - 1) / 2);
  }
}

TYPED_TEST_P(spanning_forest_test, agree_with_the_verifier) {
  for (bool const has_few_weights : {false, true}) {
    this->template expect_verified_for_type<std::uint32_t>(has_few_weights);
    this->template expect_verified_for_type<std::int64_t>(has_few_weights);
    this->template expect_verified_for_type<float>(has_few_weights);
    this->template expect_verified_for_type<double>(has_few_weights);
  }
  auto const log2 = static_cast<unsigned>(this->sized(13, 9));
  auto const edges = this->skewed(log2, std::size_t{8} << log2);
  this->expect_verified(this->make(std::size_t{1} << log2, edges), std::vector<double>());
  std::mt19937 random(seeded(3));
  std::vector<float> weights(edges.size());
  for (float& w : weights) w = static_cast<float>(random() % 1000) / 8;
  auto const g = this->weighted(std::size_t{1} << log2, edges, weights);
  this->expect_verified(g, g.template values<float>());
}

TYPED_TEST_P(spanning_forest_test, parts_of_disjoint_graphs) {
  // The forest of two graphs side by side is that of each.
  std::mt19937 random(seeded(5));
  std::size_t const n = 150;
  auto both = this->random_edges(random, n, 300);
  auto const first = this->of(this->make(n, both));
  auto const second_edges = this->random_edges(random, n, 200);
  auto const second = this->of(this->make(n, second_edges));
  for (graph::edge const& e : second_edges)
    both.push_back({e.source + static_cast<graph::vertex_id>(n), e.target + static_cast<graph::vertex_id>(n)});
  auto const got = this->of(this->make(2 * n + 3, both));
  auto want = first.edges;
  for (graph::edge const& e : second.edges)
    want.push_back({e.source + static_cast<graph::vertex_id>(n), e.target + static_cast<graph::vertex_id>(n)});
  EXPECT_EQ(got.edges, want);
  EXPECT_EQ(got.trees, first.trees + second.trees + 3);
}

TYPED_TEST_P(spanning_forest_test, bad_input) {
  EXPECT_THROW(this->of(this->make(3, {{0, 1}}, {.directed = true})), error);
  for (double const bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                           -std::numeric_limits<double>::infinity()}) {
    auto const g = this->weighted(5, {{0, 1}, {4, 2}, {2, 3}, {3, 1}}, std::vector<double>{1, bad, 1, bad});
    try {
      this->of(g);
      ADD_FAILURE() << "accepted " << bad;
    } catch (error const& e) {
      EXPECT_EQ(e.code(), error_code::bad_argument);
      EXPECT_NE(std::string(e.what()).find("the edge 1 - 3 is"), std::string::npos) << e.what();
    }
  }
}

TYPED_TEST_P(spanning_forest_test, a_finder_serves_graphs_of_any_size) {
  auto const space = this->space_of(this->make(0, {}));
  algorithms::spanning_forest_finder finder(space);
  std::mt19937 random(seeded(11));
  for (std::size_t const n : {0u, 40u, 700u, 33u, 1200u, 64u}) {
    auto const g = this->make(n, n > 0 ? this->random_edges(random, n, 2 * n) : typename TestFixture::edges());
    std::size_t failures = 0;
    auto const run = this->with_failures([&] { return finder.run(g.view()); }, failures);
    EXPECT_GE(failures, n == 40 ? (exec::has_tiles<TypeParam> ? 5u : 4u) : 0u);  // a CPU needs fewer buffers
    auto const want = serial_spanning_forest(g.to_csr(), std::vector<double>());
    EXPECT_EQ(exec::copy_out(space, finder.edges(), run.edges), want);
    EXPECT_EQ(run.weight, static_cast<double>(want.size()));
  }
}

REGISTER_TYPED_TEST_SUITE_P(spanning_forest_test, known_forests, extreme_weights, paths_with_ascending_weights,
                            agree_with_the_verifier, parts_of_disjoint_graphs, bad_input,
                            a_finder_serves_graphs_of_any_size);

}  // namespace wyrm::tests
