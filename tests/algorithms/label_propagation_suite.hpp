// SPDX-License-Identifier: Apache-2.0
// The tests of label propagation, for any space.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "../../algorithms/label_propagation.hpp"
#include "../support/refusal.hpp"
#include "../support/verify_local.hpp"
#include "local_fixture.hpp"

namespace wyrm::tests {

template <class Space>
class label_propagation_test : public local_test<Space> {
 protected:
  using typename local_test<Space>::ids;

  static ids labels(graph::any_graph const& g, algorithms::label_propagation_options const& o = {},
                    ids const& initial = {}) {
    return algorithms::label_propagation(label_propagation_test::space_of(g), g.view(), o, initial);
  }
  static ids own_labels(graph::any_graph const& g) {
    ids all(g.vertices());
    std::iota(all.begin(), all.end(), graph::vertex_id{0});
    return all;
  }
  static void expect_verified(graph::any_graph const& g, unsigned iterations, ids initial = {},
                              std::vector<double> const& weights = {}) {
    ids const got = labels(g, {.iterations = iterations, .weighted = !weights.empty()}, initial);
    if (initial.empty()) initial = own_labels(g);
    ASSERT_EQ(got, serial_label_propagation(g.to_csr(), g.settings().directed, iterations, initial, weights));
  }
};

TYPED_TEST_SUITE_P(label_propagation_test);

TYPED_TEST_P(label_propagation_test, labels_of_known_graphs) {
  using ids = typename TestFixture::ids;
  EXPECT_TRUE(this->labels(this->make(0, {})).empty());
  EXPECT_EQ(this->labels(this->make(3, {})), (ids{0, 1, 2}));
  // Two triangles with an edge between them, and an isolated vertex.
  auto const two = this->make(7, {{0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 5}, {5, 3}, {2, 3}});
  EXPECT_EQ(this->labels(two, {.iterations = 0}), (ids{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(this->labels(two, {.iterations = 1}), (ids{1, 0, 0, 2, 3, 3, 6}));
  EXPECT_EQ(this->labels(two, {.iterations = 2}), (ids{0, 0, 0, 3, 2, 2, 6}));
  // All votes of an iteration are about labels before it: two vertices exchange their labels each time.
  EXPECT_EQ(this->labels(this->make(2, {{0, 1}}), {.iterations = 3}), (ids{1, 0}));
  // Labels from elsewhere, in another order: 5 and 9 have one vote each at vertex 1.
  EXPECT_EQ(this->labels(this->make(3, {{0, 1}, {1, 2}}), {.iterations = 1}, {9, 7, 5}), (ids{7, 5, 7}));
}

TYPED_TEST_P(label_propagation_test, directions_and_loops) {
  using ids = typename TestFixture::ids;
  // Vertex 3 has out-neighbours 1 and 2, and in-neighbour 2, whose label counts twice.
  auto const both = this->make(4, {{3, 1}, {3, 2}, {2, 3}}, {.directed = true});
  EXPECT_EQ(this->labels(both, {.iterations = 1}), (ids{0, 3, 3, 2}));
  // An arc 0 -> 1 tells both ends of each other.
  EXPECT_EQ(this->labels(this->make(3, {{0, 1}}, {.directed = true}), {.iterations = 1}), (ids{1, 0, 2}));
  // A self-loop of an undirected graph is one vote; of a directed graph it is two.
  EXPECT_EQ(this->labels(this->make(3, {{2, 2}, {2, 1}}, {.self_loops = true}), {.iterations = 1}), (ids{0, 2, 1}));
  EXPECT_EQ(this->labels(this->make(3, {{2, 2}, {2, 1}}, {.directed = true, .self_loops = true}), {.iterations = 1}),
            (ids{0, 2, 2}));
}

TYPED_TEST_P(label_propagation_test, bad_arguments_of_label_propagation) {
  auto const g = this->make(3, {{0, 1}});
  this->expect_contains(refusal([&] { this->labels(g, {}, {1, 2}); }), "2 initial labels for 3 vertices");
  this->expect_contains(refusal([&] { this->labels(g, {}, {1, 2, graph::no_vertex}); }), "vertex 2");
  this->expect_contains(refusal([&] { this->labels(g, {.weighted = true}); }), "no numbers");
  auto const one_way = this->make(3, {{0, 1}}, {.directed = true, .in_neighbours = false});
  this->expect_contains(refusal([&] { this->labels(one_way); }), "in-neighbours");
  auto const negative =
      this->make(3, {{0, 1}}, {.values = graph::number_type::f64}, std::vector<double>{-std::ldexp(1, -1)});
  this->expect_contains(refusal([&] { this->labels(negative, {.weighted = true}); }), "0 -> 1 is -0.5");
}

TYPED_TEST_P(label_propagation_test, labels_agree_with_the_verifier) {
  for (unsigned seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    bool const directed = seed % 2 == 1;
    std::size_t const n = 40 + 60 * seed;
    auto g = this->make(n, this->random(seed, n, n * (1 + seed % 4), seed < 4 ? 0 : 40),
                        {.directed = directed, .self_loops = seed % 3 == 0});
    this->expect_verified(g, seed % 4 + 1);
    // Few labels, so that many votes are equal.
    typename TestFixture::ids initial(n);
    std::mt19937 random(seeded(seed));
    for (graph::vertex_id& label : initial) label = graph::no_vertex - 1 - static_cast<graph::vertex_id>(random() % 5);
    this->expect_verified(g, 3, initial);
    for (graph::vertex_id& label : initial) label = graph::no_vertex - 1 - label;
    this->expect_verified(g, 3, initial);
    g.erase(this->random(seed + 100, n, n, 10));
    g.remove_vertices({1, 7, static_cast<graph::vertex_id>(n - 1)});
    this->expect_verified(g, 5);
  }
}

TYPED_TEST_P(label_propagation_test, labels_near_hubs) {
  // Rows that are shared by several warps; and rows of each length around the bounds.
  for (bool const directed : {false, true}) {
    auto const n = static_cast<graph::vertex_id>(this->sized(20'000, 1'500));
    auto edges = this->random(directed, n, n, n);
    graph::vertex_id const of_lengths = n / 2;
    graph::vertex_id v = of_lengths;
    for (unsigned const length : {7u, 8u, 9u, 31u, 32u, 33u, 511u, 512u, 513u, 1025u}) {
      for (unsigned k = 1; k <= length; ++k) edges.push_back({v, (v + k) % n});
      v += 3;
    }
    auto const g = this->make(n, edges, {.directed = directed});
    this->expect_verified(g, 3);
    typename TestFixture::ids initial(n);
    for (graph::vertex_id i = 0; i < n; ++i) initial[i] = i % 7 == 0 ? i : 4 * n + i % 2;
    this->expect_verified(g, 2, initial);
  }
}

TYPED_TEST_P(label_propagation_test, weighted_votes) {
  using ids = typename TestFixture::ids;
  // Vertex 1 has the neighbours 0 and 2; the weight decides, and a vote of weight 0 is none.
  auto const of = [&](std::vector<float> const& weights) {
    auto const g = this->make(4, {{0, 1}, {1, 2}, {2, 3}}, {.values = graph::number_type::f32}, weights);
    return this->labels(g, {.iterations = 1, .weighted = true});
  };
  EXPECT_EQ(of({1, 2, 4}), (ids{1, 2, 3, 2}));
  EXPECT_EQ(of({2, 2, 2}), (ids{1, 0, 1, 2}));
  EXPECT_EQ(of({0, 0, 1e-30F}), (ids{0, 1, 3, 2}));
  EXPECT_EQ(of({0, 0, 0}), (ids{0, 1, 2, 3}));
  // One vote for 7, and three for 9, which are equal in total: the smaller label wins.
  auto const of_four = [&](auto one, decltype(one) third) {
    auto const g = this->make(5, {{4, 0}, {4, 1}, {4, 2}, {4, 3}}, {.values = graph::number_type_of<decltype(one)>},
                              std::vector{one, third, third, third});
    return this->labels(g, {.iterations = 1, .weighted = true}, {7, 9, 9, 9, 1})[4];
  };
  EXPECT_EQ(of_four(std::uint32_t{3}, 1), 7u);
  EXPECT_EQ(of_four(~std::uint32_t{0}, ~std::uint32_t{0} / 3), 7u);
  EXPECT_EQ(of_four(~std::uint32_t{0} - 1, ~std::uint32_t{0} / 3), 9u);
  EXPECT_EQ(of_four(std::int64_t{3}, 1), 7u);
  EXPECT_EQ(of_four(3.0F, 1), 7u);
  EXPECT_EQ(of_four(0x1.8p1023, 0x1p1022), 7u);
  double const least = std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(of_four(3 * least, least), 7u);
}

TYPED_TEST_P(label_propagation_test, weighted_votes_agree_with_the_verifier) {
  for (bool const directed : {false, true}) {
    SCOPED_TRACE(directed);
    auto const n = static_cast<graph::vertex_id>(this->sized(3'000, 700));
    auto edges = this->random(11, n, 2 * std::size_t{n}, n);
    // Small integers, for many equal sums.
    auto const expect_verified = [&](auto type) {
      using weight = decltype(type);
      std::vector<weight> weights(edges.size());
      std::mt19937 random(seeded(5));
      for (weight& w : weights) w = static_cast<weight>(random() % 8);
      auto const g = this->make(n, edges, {.directed = directed, .values = graph::number_type_of<weight>}, weights);
      auto const values = g.template values<weight>();
      this->expect_verified(g, 3, {}, std::vector<double>(values.begin(), values.end()));
    };
    expect_verified(std::uint32_t{});
    expect_verified(std::int64_t{});
    expect_verified(float{});
    expect_verified(double{});
  }
}

TYPED_TEST_P(label_propagation_test, labels_of_several_runs) {
  auto const space = TestFixture::space_of(this->make(0, {}));
  algorithms::label_propagator propagator(space);
  for (std::size_t const n : {std::size_t{900}, std::size_t{30}, std::size_t{1200}}) {
    auto const edges = this->random(3, n, 2 * n, n);
    auto const g = this->make(n, edges, {.directed = n == 30});
    propagator.run(g.view(), {.iterations = 4});
    EXPECT_EQ(exec::copy_out(space, propagator.label(), n), this->labels(g, {.iterations = 4}));
  }
  // A disjoint union: each part gets the labels that it has alone, and isolated vertices keep theirs.
  std::size_t const n = 200;
  auto const edges = this->random(4, n, 2 * n, 30);
  auto both = edges;
  for (graph::edge const& e : edges) both.push_back({e.source + graph::vertex_id{n}, e.target + graph::vertex_id{n}});
  auto const one = this->labels(this->make(n, edges));
  auto const two = this->labels(this->make(2 * n + 5, both));
  for (graph::vertex_id v = 0; v < n; ++v) {
    ASSERT_EQ(two[v], one[v]);
    ASSERT_EQ(two[v + n], one[v] + n);
  }
  for (graph::vertex_id v = 2 * n; v < 2 * n + 5; ++v) EXPECT_EQ(two[v], v);
}

TYPED_TEST_P(label_propagation_test, labels_of_graphalytics) {
  for (bool const directed : {true, false}) {
    auto const example = graphalytics_example::read(directed ? "example-directed" : "example-undirected", "CDLP");
    if (example.ids.empty()) GTEST_SKIP() << "WYRM_DATA does not name a folder with graphalytics";
    auto const g = this->make(example.ids.size(), example.edges, {.directed = directed});
    auto const got = this->labels(g, {.iterations = 2}, example.ids);
    EXPECT_EQ(std::vector<double>(got.begin(), got.end()), example.result);
  }
}

REGISTER_TYPED_TEST_SUITE_P(label_propagation_test, labels_of_known_graphs, directions_and_loops,
                            bad_arguments_of_label_propagation, labels_agree_with_the_verifier, labels_near_hubs,
                            weighted_votes, weighted_votes_agree_with_the_verifier, labels_of_several_runs,
                            labels_of_graphalytics);

}  // namespace wyrm::tests
