// SPDX-License-Identifier: Apache-2.0
// The tests of clustering coefficients and similarities, for any space.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "../../algorithms/clustering_coefficients.hpp"
#include "../../algorithms/similar_pairs.hpp"
#include "../../algorithms/similarity.hpp"
#include "../support/refusal.hpp"
#include "../support/verify_local.hpp"
#include "local_fixture.hpp"

namespace wyrm::tests {

template <class Space>
class neighbourhoods_test : public local_test<Space> {
 protected:
  static auto coefficients(graph::any_graph const& g) {
    return algorithms::clustering_coefficients(neighbourhoods_test::space_of(g), g.view());
  }
  static std::vector<double> similarity(graph::any_graph const& g, std::vector<graph::edge> const& pairs,
                                        algorithms::similarity_measure measure) {
    return algorithms::similarity(neighbourhoods_test::space_of(g), g.view(), std::span<graph::edge const>(pairs),
                                  measure);
  }
  static auto similar(graph::any_graph const& g, algorithms::similar_pairs_options const& o) {
    return algorithms::similar_pairs(neighbourhoods_test::space_of(g), g.view(), o);
  }
};

TYPED_TEST_SUITE_P(neighbourhoods_test);

TYPED_TEST_P(neighbourhoods_test, coefficients_of_known_graphs) {
  EXPECT_TRUE(this->coefficients(this->make(0, {})).local.empty());
  // A triangle with a tail at 2 and a self-loop at 0.
  auto const tail = this->coefficients(this->make(5, {{0, 1}, {1, 2}, {2, 0}, {2, 3}, {0, 0}}, {.self_loops = true}));
  EXPECT_EQ(tail.local, (std::vector<double>{1, 1, 1.0 / 3, 0, 0}));
  EXPECT_NEAR(tail.average, (2 + 1.0 / 3) / 5, 1e-15);
  EXPECT_NEAR(tail.global, 3.0 / 5, 1e-15);
  // A triangle with arcs in both directions between 0 and 1 only.
  auto const both = this->coefficients(this->make(3, {{0, 1}, {1, 0}, {1, 2}, {2, 0}}, {.directed = true}));
  EXPECT_EQ(both.local, (std::vector<double>{0.5, 0.5, 1}));
  EXPECT_NEAR(both.global, 4.0 / 6, 1e-15);
}

TYPED_TEST_P(neighbourhoods_test, coefficients_agree_with_the_verifier) {
  for (unsigned seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(seed);
    std::size_t const n = 40 + 50 * seed;
    auto g = this->make(n, this->random(seed, n, n * (2 + seed), 80),
                        {.directed = seed % 2 == 1, .in_neighbours = seed % 4 == 1, .self_loops = seed > 2});
    EXPECT_EQ(this->coefficients(g).local, serial_clustering_coefficients(g.to_csr()));
    g.erase(this->random(seed + 50, n, n, 10));
    g.remove_vertices({1, 5});
    auto const got = this->coefficients(g);
    EXPECT_EQ(got.local, serial_clustering_coefficients(g.to_csr()));
    EXPECT_NEAR(got.average, std::accumulate(got.local.begin(), got.local.end(), 0.0) / static_cast<double>(n - 2),
                1e-12);
  }
  auto const dense = this->clique(0, 150);  // rows of all bins
  EXPECT_EQ(this->coefficients(this->make(150, dense)).local, std::vector<double>(150, 1.0));
  EXPECT_EQ(this->coefficients(this->make(150, dense, {.directed = true})).local, std::vector<double>(150, 0.5));
}

TYPED_TEST_P(neighbourhoods_test, a_counter_of_coefficients_serves_many_graphs) {
  auto const both = this->make(3, {{0, 1}, {1, 0}, {1, 2}, {2, 0}}, {.directed = true});
  auto const dense = this->make(40, this->clique(0, 40));
  algorithms::clustering_coefficients_counter<TypeParam> counter(this->space_of(both));
  for (int round = 0; round < 2; ++round) {
    EXPECT_NEAR(counter.run(both.view()).global, 4.0 / 6, 1e-15);
    EXPECT_EQ(exec::read(this->space_of(both), counter.local() + 2), 1.0);
    EXPECT_EQ(exec::read(this->space_of(both), counter.local() + 1), 0.5);
    EXPECT_EQ(counter.run(this->make(0, {}).view()).global, 0.0);
    EXPECT_EQ(counter.run(dense.view()).average, 1.0);
    EXPECT_EQ(exec::read(this->space_of(dense), counter.local() + 39), 1.0);
  }
}

TYPED_TEST_P(neighbourhoods_test, coefficients_of_graphalytics) {
  for (bool const directed : {true, false}) {
    auto const example = graphalytics_example::read(directed ? "example-directed" : "example-undirected", "LCC");
    if (example.ids.empty()) GTEST_SKIP() << "WYRM_DATA does not name a folder with graphalytics";
    auto const got = this->coefficients(this->make(example.ids.size(), example.edges, {.directed = directed})).local;
    for (std::size_t v = 0; v < got.size(); ++v) EXPECT_NEAR(got[v], example.result[v], 1e-14) << v;
  }
}

TYPED_TEST_P(neighbourhoods_test, similarity_of_pairs) {
  using algorithms::similarity_measure;
  auto const g = this->make(6, {{0, 2}, {0, 3}, {1, 2}, {1, 3}, {1, 4}});
  EXPECT_EQ(this->similarity(g, {{0, 1}, {0, 5}, {0, 0}, {2, 4}}, similarity_measure::jaccard),
            (std::vector<double>{2.0 / 3, 0, 1, 0.5}));
  EXPECT_EQ(this->similarity(g, {{0, 1}, {5, 5}}, similarity_measure::overlap), (std::vector<double>{1, 0}));
  EXPECT_EQ(this->similarity(g, {{0, 1}}, similarity_measure::cosine), (std::vector<double>{2 / std::sqrt(6.0)}));
  EXPECT_TRUE(this->similarity(g, {}, similarity_measure::cosine).empty());
  auto const refused = refusal([&] { this->similarity(g, {{0, 1}, {2, 6}}, similarity_measure::cosine); });
  this->expect_contains(refused, "similarity: ");
  this->expect_contains(refused, "(2, 6)");
  std::mt19937 random(seeded(2));
  std::size_t const n = 300;
  auto const large = this->make(n, this->random(3, n, 4 * n, n), {.directed = true});
  auto const pairs = random_edges(random, n, 500);
  auto const got = this->similarity(large, pairs, similarity_measure::jaccard);
  auto const rows = large.to_csr();
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    auto const [both, all] = serial_overlap(rows, pairs[i]);
    ASSERT_EQ(got[i], all == 0 ? 0 : static_cast<double>(both) / static_cast<double>(all)) << i;
  }
}

TYPED_TEST_P(neighbourhoods_test, similar_pairs_of_a_known_graph) {
  using algorithms::similarity_measure;
  using edges = typename TestFixture::edges;
  auto const g = this->make(6, {{0, 2}, {0, 3}, {1, 2}, {1, 3}, {1, 4}});
  auto const half = this->similar(g, {.bound = 0.5});
  EXPECT_EQ(half.pairs, (edges{{0, 1}, {2, 3}, {2, 4}, {3, 4}}));
  EXPECT_EQ(half.scores, (std::vector<double>{2.0 / 3, 1, 0.5, 0.5}));
  EXPECT_EQ(this->similar(g, {.bound = 0.6}).pairs, (edges{{0, 1}, {2, 3}}));
  EXPECT_EQ(this->similar(g, {.measure = similarity_measure::overlap, .bound = 1}).pairs.size(), 4u);
  EXPECT_TRUE(this->similar(g, {.bound = 1.5}).pairs.empty());
  EXPECT_TRUE(this->similar(this->make(0, {}), {}).pairs.empty());
  EXPECT_EQ(this->similar(g, {.bound = 0.5, .max_pairs = 4}).pairs.size(), 4u);
  this->expect_contains(refusal([&] { this->similar(g, {.bound = 0.5, .max_pairs = 3}); }), "4 pairs");
  this->expect_contains(refusal([&] { this->similar(g, {.bound = 0}); }), "bound is 0");
  this->expect_contains(refusal([&] { this->similar(g, {.batch = 0}); }), "batch 0");
  auto const one_way = this->make(2, {{0, 1}}, {.directed = true, .in_neighbours = false});
  this->expect_contains(refusal([&] { this->similar(one_way, {}); }),
                        "similar_pairs: the directed graph does not keep in-neighbours");
}

TYPED_TEST_P(neighbourhoods_test, similar_pairs_agree_with_the_verifier) {
  for (unsigned seed = 0; seed < 4; ++seed) {
    SCOPED_TRACE(seed);
    std::size_t const n = 60 + 40 * seed;
    bool const directed = seed % 2 == 1;
    auto g = this->make(n, this->random(seed + 20, n, 4 * n, n),
                        {.directed = directed, .in_neighbours = directed, .self_loops = seed > 1});
    g.remove_vertices({3, 7});
    graph::csr const rows = g.to_csr();
    typename TestFixture::edges pairs;
    std::vector<double> scores;
    for (graph::vertex_id u = 0; u < n; ++u)
      for (graph::vertex_id v = u + 1; v < n; ++v) {
        auto const [both, all] = serial_overlap(rows, {u, v});
        if (static_cast<double>(both) < 0.2 * static_cast<double>(all) || both == 0) continue;
        pairs.push_back({u, v});
        scores.push_back(static_cast<double>(both) / static_cast<double>(all));
      }
    EXPECT_GT(pairs.size(), 20u);
    for (std::uint64_t const batch : {1u, 700u, 1u << 24}) {
      auto const got = this->similar(g, {.bound = 0.2, .batch = batch});
      EXPECT_EQ(got.pairs, pairs) << batch;
      EXPECT_EQ(got.scores, scores) << batch;
    }
  }
}

REGISTER_TYPED_TEST_SUITE_P(neighbourhoods_test, coefficients_of_known_graphs, coefficients_agree_with_the_verifier,
                            a_counter_of_coefficients_serves_many_graphs, coefficients_of_graphalytics,
                            similarity_of_pairs, similar_pairs_of_a_known_graph, similar_pairs_agree_with_the_verifier);

}  // namespace wyrm::tests
