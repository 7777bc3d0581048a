// SPDX-License-Identifier: Apache-2.0
// Weights of all types of values, for any space: the same weights give the same ranks, walks and clusters.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "../../algorithms/clustering.hpp"
#include "../../algorithms/pagerank.hpp"
#include "../../algorithms/random_walks.hpp"
#include "../graph/model.hpp"
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
  auto const expect = [](std::vector<std::string> const& got, std::string const& part) {
    for (std::string const& message : got) expect_contains(message, part);
  };
  expect(this->template refusals<std::int64_t>(g, 1, -3), ": the weight of the arc 1 -> 3 is -3; weights must be");
  expect(this->template refusals<double>(g, 2, -1e-300), ": the weight of the arc 3 -> 4 is -1e-300; weights must be");
  expect(this->template refusals<double>(g, 0, std::numeric_limits<double>::infinity()), " 0 -> 3 is inf;");
  expect(this->template refusals<float>(g, 0, -std::numeric_limits<float>::infinity()), " 0 -> 3 is -inf;");
  EXPECT_EQ(this->template refusals<std::uint32_t>(g, 0, 0xffffffff), std::vector<std::string>(3));
}

REGISTER_TYPED_TEST_SUITE_P(weight_types_test, all_types_give_the_same_results, largest_weights_do_not_overflow,
                            invalid_weights_are_refused);

}  // namespace wyrm::tests
