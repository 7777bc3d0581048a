// SPDX-License-Identifier: Apache-2.0
// Weights of all types of values, for any space: the same weights give the same ranks, walks and clusters.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "../../algorithms/clustering.hpp"
#include "../../algorithms/pagerank.hpp"
#include "../../algorithms/random_walks.hpp"
#include "../graph/model.hpp"
#include "../support/refusal.hpp"
#include "../support/seed.hpp"
#include "../support/verify.hpp"
#include "graphs_fixture.hpp"
#include "weighted_graphs.hpp"

namespace wyrm::tests {

template <class Space>
class weight_types_test : public graphs_test<Space> {
 protected:
  using graph_type = typename graphs_test<Space>::graph_type;

  struct results {
    std::vector<double> rank;
    std::vector<graph::vertex_id> paths;
    std::vector<std::uint32_t> label;
    friend bool operator==(results const&, results const&) = default;
  };
  /// Of the graph with these weights times a factor, as values of a type.
  template <class Value>
  static results run(graph_type const& g, std::vector<std::uint32_t> const& weights, double factor = 1) {
    std::vector<Value> values;
    for (std::uint32_t const w : weights) values.push_back(static_cast<Value>(factor * w));
    auto const valued = with_values(g, values);
    return {algorithms::pagerank(g.space(), valued.view(), {.damping = 0.5, .tolerance = 1e-12, .weighted = true}).rank,
            algorithms::random_walks(g.space(), valued.view(), {.steps = 20, .weighted = true}).vertices,
            algorithms::clustering(g.space(), valued.view(), {.walks = 4, .weighted = true}).label};
  }
  /// The messages with which the algorithms refuse a graph in which all weights but one are 1.
  template <class Value>
  static std::vector<std::string> refusals(graph_type const& g, std::size_t at, Value value) {
    std::vector<Value> values(g.arcs(), Value{1});
    values.at(at) = value;
    auto const valued = with_values(g, values);
    return {refusal([&] { (void)algorithms::pagerank(g.space(), valued.view(), {.weighted = true}); }),
            refusal([&] { (void)algorithms::random_walks(g.space(), valued.view(), {.weighted = true}); }),
            refusal([&] { (void)algorithms::clustering(g.space(), valued.view(), {.weighted = true}); })};
  }
};

TYPED_TEST_SUITE_P(weight_types_test);

TYPED_TEST_P(weight_types_test, all_types_give_the_same_results) {
  for (bool const directed : {false, true}) {
    SCOPED_TRACE(directed ? "directed" : "undirected");
    std::mt19937 random(seeded(1));
    std::size_t const n = this->sized(500, 60);
    auto const g = this->make(n, random_edges(random, n, 4 * n), directed, true, this->one_thread());
    std::vector<std::uint32_t> weights(g.arcs());
    for (std::uint32_t& w : weights) w = static_cast<std::uint32_t>(random() % 1000);
    if (!directed) weights = symmetric(g.to_csr(), weights);
    auto const want = this->template run<std::uint32_t>(g, weights);
    std::vector<double> const ranks =
        serial_pagerank(g.to_csr(), 0.5, {}, false, std::vector<float>(weights.begin(), weights.end()));
    for (std::size_t v = 0; v < n; ++v) ASSERT_NEAR(want.rank[v], ranks[v], 1e-11);
    EXPECT_TRUE(want == this->template run<std::int64_t>(g, weights));
    EXPECT_TRUE(want == this->template run<float>(g, weights));
    EXPECT_TRUE(want == this->template run<double>(g, weights));
    // Sums are beyond the range of double; weights are subnormal; integers are large.
    EXPECT_TRUE(want == this->template run<double>(g, weights, 0x1p1013));
    EXPECT_TRUE(want == this->template run<double>(g, weights, 0x1p-1074));
    EXPECT_TRUE(want == this->template run<std::int64_t>(g, weights, 0x1p52));
    EXPECT_TRUE(want == this->template run<std::uint32_t>(g, weights, 0x1p22));
  }
}

// Weights that are no floats are rounded, but each vertex still sends its rank.
TYPED_TEST_P(weight_types_test, ranks_by_doubles_add_up_to_1) {
  std::mt19937 random(seeded(3));
  std::size_t const n = this->sized(300, 80);
  auto const g = this->make(n, random_edges(random, n, 5 * n), true);
  std::vector<double> weights(g.arcs());
  for (double& w : weights) w = std::uniform_real_distribution<double>(0, 1e-50)(random);
  std::vector<float> rounded;
  for (double const w : weights) rounded.push_back(static_cast<float>(w * 1e50));
  auto const valued = with_values(g, weights);
  auto const rank =
      algorithms::pagerank(g.space(), valued.view(), {.damping = 0.5, .tolerance = 1e-13, .weighted = true}).rank;
  auto const want = serial_pagerank(g.to_csr(), 0.5, {}, false, rounded);
  EXPECT_NEAR(std::accumulate(rank.begin(), rank.end(), 0.0), 1.0, 1e-12);
  for (std::size_t v = 0; v < n; ++v) ASSERT_NEAR(rank[v], want[v], 1e-7);
}

TYPED_TEST_P(weight_types_test, largest_weights_do_not_overflow) {
  auto const g = this->make(3, {{0, 1}, {0, 2}}, true);
  double const most = std::numeric_limits<double>::max();
  auto const valued = with_values(g, std::vector<double>{most, most});
  auto const got =
      algorithms::pagerank(g.space(), valued.view(), {.damping = 0.5, .tolerance = 1e-14, .weighted = true});
  auto const want = serial_pagerank(g.to_csr(), 0.5);
  for (std::size_t v = 0; v < 3; ++v) EXPECT_NEAR(got.rank[v], want[v], 1e-13);
}

TYPED_TEST_P(weight_types_test, invalid_weights_are_refused) {
  auto const g = this->make(5, {{1, 3}, {3, 4}, {0, 3}}, true);
  auto const expect = [&](std::vector<std::string> const& got, std::string const& part) {
    for (std::string const& message : got) this->expect_contains(message, part);
  };
  expect(this->template refusals<std::int64_t>(g, 1, -3), ": the weight of the arc 1 -> 3 is -3; weights must be");
  expect(this->template refusals<double>(g, 2, -1e-300), ": the weight of the arc 3 -> 4 is -1e-300; weights must be");
  expect(this->template refusals<double>(g, 0, std::numeric_limits<double>::infinity()), " 0 -> 3 is inf;");
  expect(this->template refusals<float>(g, 0, -std::numeric_limits<float>::infinity()), " 0 -> 3 is -inf;");
  EXPECT_EQ(this->template refusals<std::uint32_t>(g, 0, 0xffffffff), std::vector<std::string>(3));
}

// Rows of all bins: for a lane, a group, a warp, and a hub of several parts.
TYPED_TEST_P(weight_types_test, integers_of_rows_of_all_lengths) {
  std::mt19937 random(seeded(2));
  std::size_t const n = 2300;
  std::vector<graph::edge> edges = random_edges(random, n, 500);
  for (graph::vertex_id v = 1; v < n; ++v) edges.push_back({0, v});
  for (graph::vertex_id v = 4; v < 604; ++v) edges.push_back({1, v});
  for (graph::vertex_id v = 4; v < 104; ++v) edges.push_back({2, v});
  auto const g = this->make(n, edges, true);
  std::vector<double> weights(g.arcs());
  for (double& w : weights)
    w = random() % 8 == 0 ? 0 : std::ldexp(1.0 + static_cast<double>(random() % 9), -static_cast<int>(random() % 50));
  weights[2000] = 100;  // the largest, in the second part of a hub
  auto const valued = with_values(g, weights);
  algorithms::detail::integer_weights<TypeParam> integers(g.space());
  integers.make(valued.view(), "test");
  auto const got = exec::copy_out(g.space(), integers.data(), weights.size());
  auto const sums = exec::copy_out(g.space(), integers.sums(), weights.size() + 1);
  EXPECT_EQ(exec::copy_out(g.space(), integers.offsets(), n + 1), g.to_csr().offsets);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    double const rounded = std::floor(weights[i] * 0x1p31 / 100 + 0.5);
    std::uint64_t const want = weights[i] > 0 && rounded < 1 ? 1 : static_cast<std::uint64_t>(rounded);
    ASSERT_LE(got[i] > want ? got[i] - want : want - got[i], 1u) << "a quotient may be rounded the other way";
    ASSERT_EQ(got[i] > 0, weights[i] > 0);
    ASSERT_EQ(sums[i], sum);
    sum += got[i];
  }
  EXPECT_EQ(sums.back(), sum);
  EXPECT_EQ(got[2000], 0x80000000u);
}

REGISTER_TYPED_TEST_SUITE_P(weight_types_test, all_types_give_the_same_results, largest_weights_do_not_overflow,
                            integers_of_rows_of_all_lengths, ranks_by_doubles_add_up_to_1, invalid_weights_are_refused);

}  // namespace wyrm::tests
