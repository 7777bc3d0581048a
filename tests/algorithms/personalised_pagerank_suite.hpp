// SPDX-License-Identifier: Apache-2.0
// The tests of personalised PageRank, for any space, and of PageRank as Graphalytics defines it.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "../../algorithms/personalised_pagerank.hpp"
#include "../support/refusal.hpp"
#include "../support/verify.hpp"
#include "local_fixture.hpp"

namespace wyrm::tests {

template <class Space>
class personalised_pagerank_test : public local_test<Space> {
 protected:
  using typename local_test<Space>::edges;
  using typename local_test<Space>::ids;
  using options = algorithms::personalised_options;
  using ranked = std::vector<algorithms::ranked_vertex>;

  static auto ranks(graph::any_graph const& g, ids const& sources, options const& o = {}) {
    return algorithms::personalised_pageranks(personalised_pagerank_test::space_of(g), g.view(), sources, o);
  }
  template <class Real = double>
  static std::vector<Real> matrix(graph::any_graph const& g, ids const& sources, options const& o, unsigned width) {
    auto const space = personalised_pagerank_test::space_of(g);
    algorithms::personalised_ranker<Space, Real> ranker(space);
    ranker.prepare(g.view(), o);
    (void)ranker.run(g.view(), sources);
    EXPECT_EQ(ranker.width(), width);
    return exec::copy_out(space, ranker.ranks(), std::size_t{g.vertices()} * width);
  }
  static std::vector<double> serial(graph::any_graph const& g, graph::vertex_id source, double damping,
                                    std::vector<float> const& weights) {
    std::vector<double> jumps(g.vertices());
    jumps[source] = 1;
    return serial_pagerank(g.to_csr(), damping, jumps, true, weights);
  }
  template <class Real = double>
  static void expect_verified(graph::any_graph const& g, ids const& sources, std::vector<float> const& weights = {}) {
    unsigned const width = sources.size() <= 8 ? 8 : 32;
    double const bound = std::is_same_v<Real, float> ? 1e-6 : 1e-11;
    auto const got =
        matrix<Real>(g, sources, {.damping = 0.5, .tolerance = 1e-12, .weighted = !weights.empty()}, width);
    for (std::size_t c = 0; c < width; ++c) {
      auto const want =
          c < sources.size() ? serial(g, sources[c], 0.5, weights) : std::vector<double>(g.vertices(), 0.0);
      for (std::size_t v = 0; v < want.size(); ++v)
        ASSERT_NEAR(static_cast<double>(got[v * width + c]), want[v], bound) << "source " << c << ", vertex " << v;
    }
  }
};

TYPED_TEST_SUITE_P(personalised_pagerank_test);

TYPED_TEST_P(personalised_pagerank_test, ranks_of_known_graphs) {
  using ranked = typename TestFixture::ranked;
  auto const arcs = this->make(5, {{0, 2}, {0, 1}, {3, 0}}, {.directed = true});
  auto const got = this->ranks(arcs, {0, 4, 3}, {.damping = 0.5, .tolerance = 1e-15, .top = 3});
  ASSERT_EQ(got.top.size(), 3u);
  // 0 keeps 1/2 and sends 1/8 to each of 1 and 2, of 3/4 in total. Equal ranks are in the order of ids.
  ASSERT_EQ(got.top[0].size(), 3u);
  EXPECT_EQ(got.top[0][0].vertex, 0u);
  EXPECT_DOUBLE_EQ(got.top[0][0].rank, 2.0 / 3);
  EXPECT_EQ(got.top[0][1].vertex, 1u);
  EXPECT_EQ(got.top[0][2].vertex, 2u);
  EXPECT_DOUBLE_EQ(got.top[0][2].rank, 1.0 / 6);
  EXPECT_EQ(got.top[1], (ranked{{4, 1.0}}));  // no other vertex has a rank
  ASSERT_EQ(got.top[2].size(), 3u);           // of four
  EXPECT_DOUBLE_EQ(got.top[2][0].rank, 0.5 / 0.875);
  EXPECT_EQ(got.top[2][1].vertex, 0u);
  EXPECT_DOUBLE_EQ(got.top[2][1].rank, 0.25 / 0.875);
  EXPECT_TRUE(this->ranks(arcs, {}).top.empty());
  EXPECT_TRUE(this->ranks(arcs, {0}, {.top = 0}).top[0].empty());
}

TYPED_TEST_P(personalised_pagerank_test, ranks_agree_with_the_verifier) {
  for (unsigned seed = 0; seed < 4; ++seed) {
    SCOPED_TRACE(seed);
    bool const directed = seed % 2 == 1;
    std::size_t const n = 120;
    auto const all = this->random(seed, n, 2 * n, 80);
    graph::options o{.directed = directed, .self_loops = seed >= 2};
    std::vector<graph::vertex_id> sources{0, 5, 5, 119};
    if (seed >= 1)
      for (graph::vertex_id v = 20; v < 48; ++v) sources.push_back(v);
    this->expect_verified(this->make(n, all, o), sources);
    this->template expect_verified<float>(this->make(n, all, o), sources);
    std::mt19937 random(seeded(seed + 20));
    std::vector<float> weights(all.size());
    for (float& w : weights) w = random() % 6 == 0 ? 0 : static_cast<float>(random() % 100);
    o.values = graph::number_type::f32;
    auto g = this->make(n, all, o, std::span<float const>(weights));
    this->expect_verified(g, sources, g.template values<float>());
    g.erase(random_edges(random, n, 3 * n));
    this->expect_verified(g, sources, g.template values<float>());
  }
}

// A row of each kind: 16 to a tile, one to a tile, and parts.
TYPED_TEST_P(personalised_pagerank_test, rows_of_hubs_for_many_sources) {
  auto const n = static_cast<graph::vertex_id>(this->sized(3'000, 1'300));
  for (bool const directed : {false, true}) {
    std::vector<graph::edge> all = this->random(7, n, n, 200);
    for (graph::vertex_id v = 1; v < n; ++v) all.insert(all.end(), {{v, 9}, {9, v}});
    for (graph::vertex_id v = 0; v < 600; ++v) all.push_back({v, 11});
    auto const g = this->make(n, all, {.directed = directed});
    this->expect_verified(g, {9, 11, 0});
  }
}

TYPED_TEST_P(personalised_pagerank_test, sources_do_not_depend_on_each_other) {
  std::size_t const n = 90;
  auto const g = this->make(n, this->random(8, n, 3 * n, 30), {.directed = true});
  std::vector<graph::vertex_id> all(n);
  std::iota(all.begin(), all.end(), graph::vertex_id{0});
  auto const blocks = this->ranks(g, all, {.top = n});  // 32, 32 and 26
  for (graph::vertex_id const v : {0u, 31u, 32u, 89u}) EXPECT_EQ(this->ranks(g, {v}, {.top = n}).top[0], blocks.top[v]);
}

TYPED_TEST_P(personalised_pagerank_test, the_error_is_bounded) {
  std::size_t const n = 60;
  auto const g = this->make(n, this->random(9, n, 2 * n, 10), {.directed = true});
  for (unsigned const iterations : {0u, 1u, 2u, 5u}) {
    auto const got = this->ranks(g, {0}, {.max_iterations = iterations, .top = n});
    EXPECT_EQ(got.iterations, iterations);
    EXPECT_DOUBLE_EQ(got.error, 2 * std::pow(0.85, iterations + 1));
    auto want = this->serial(g, 0, 0.85, {});
    for (auto const& [v, rank] : got.top[0]) want[v] -= rank;
    double error = 0;
    for (double const difference : want) error += std::abs(difference);
    EXPECT_LE(error, got.error);
  }
  auto const enough = this->ranks(g, {0}, {.tolerance = 0.01});
  EXPECT_LE(enough.error, 0.01);
  EXPECT_GT(enough.error, 0.0085);
}

TYPED_TEST_P(personalised_pagerank_test, one_set_of_sources) {
  std::size_t const n = 100;
  auto const g = this->make(n, this->random(10, n, 2 * n, 30), {.directed = true});
  auto const space = this->space_of(g);
  std::vector<double> jumps(n);
  jumps[3] = 0.75;
  jumps[50] = 0.25;
  auto const want = serial_pagerank(g.to_csr(), 0.5, jumps, true);
  std::vector<algorithms::weighted_source> const sources{{3, 2}, {50, 2}, {3, 4}};
  auto const got = algorithms::personalised_pagerank(space, g.view(), sources, {.damping = 0.5, .tolerance = 1e-13});
  for (std::size_t v = 0; v < n; ++v) ASSERT_NEAR(got.rank[v], want[v], 1e-11);
}

TYPED_TEST_P(personalised_pagerank_test, bad_sources) {
  auto g = this->make(4, {{0, 1}, {1, 2}});
  auto const space = this->space_of(g);
  this->expect_contains(refusal([&] { (void)this->ranks(g, {1, 4}); }), "the source 4 is no vertex of the graph");
  g.remove_vertices({2});
  this->expect_contains(refusal([&] { (void)this->ranks(g, {1, 2}); }), "the source 2 was removed");
  EXPECT_EQ(this->ranks(g, {1}).top[0].size(), 2u);
  this->expect_contains(refusal([&] { (void)this->ranks(g, {1}, {.damping = 1}); }), "damping must be in [0, 1)");
  this->expect_contains(refusal([&] { (void)this->ranks(g, {1}, {.weighted = true}); }), "no numbers as values");
  algorithms::personalised_ranker<TypeParam> ranker(space);
  ranker.prepare(g.view(), {});
  std::vector<graph::vertex_id> const many(33, 0);
  this->expect_contains(refusal([&] { (void)ranker.run(g.view(), many); }), "33 sources; one run takes at most 32");
  auto const of_set = [&](algorithms::weighted_source const& s) {
    return refusal([&] { (void)algorithms::personalised_pagerank(space, g.view(), {&s, 1}); });
  };
  this->expect_contains(of_set({4, 1}), "the source 4 with the weight 1");
  this->expect_contains(of_set({0, -1}), "the weight not negative");
  this->expect_contains(of_set({2, 1}), "vertex 2 was removed");
}

TYPED_TEST_P(personalised_pagerank_test, ranks_of_graphalytics) {
  for (bool const directed : {true, false}) {
    auto const example = graphalytics_example::read(directed ? "example-directed" : "example-undirected", "PR");
    if (example.ids.empty()) GTEST_SKIP() << "WYRM_DATA does not name a folder with graphalytics";
    auto const g = this->make(example.ids.size(), example.edges, {.directed = directed});
    auto const got = algorithms::pagerank(this->space_of(g), g.view(),
                                          {.tolerance = std::numeric_limits<double>::min(), .max_iterations = 2});
    EXPECT_EQ(got.iterations, 2u);
    for (std::size_t v = 0; v < got.rank.size(); ++v) EXPECT_NEAR(got.rank[v], example.result[v], 1e-14);
  }
}

REGISTER_TYPED_TEST_SUITE_P(personalised_pagerank_test, ranks_of_known_graphs, ranks_agree_with_the_verifier,
                            rows_of_hubs_for_many_sources, sources_do_not_depend_on_each_other, the_error_is_bounded,
                            one_set_of_sources, bad_sources, ranks_of_graphalytics);

}  // namespace wyrm::tests
