// SPDX-License-Identifier: Apache-2.0
// The tests of random walks, for any space: paths, frequencies of arcs, memory.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "../../algorithms/random_walks.hpp"
#include "../../exec/injected_failure.hpp"
#include "../graph/model.hpp"
#include "../support/refusal.hpp"
#include "../support/seed.hpp"
#include "../support/spaces.hpp"
#include "graphs_fixture.hpp"
#include "weighted_graphs.hpp"

namespace wyrm::tests {

template <class Space>
class random_walks_test : public graphs_test<Space> {
 protected:
  using typename graphs_test<Space>::graph_type;
  using options = algorithms::random_walk_options;

  template <class Graph>
  static algorithms::walk_paths walk(Graph const& g, options o) {
    o.weighted = !std::is_same_v<typename Graph::value_type, graph::no_value>;
    algorithms::random_walker<Space> walker(g.space(), small_pool());
    walker.walk(g.view(), o);
    return walker.paths();
  }
  static alloc::options small_pool() {
    return {
        .pool_bytes = std::size_t{1} << 16, .reserve_bytes = std::size_t{1} << 28, .checked = true, .guards = false};
  }
  /// The size n if lanes are threads, and a tenth of it if lanes are fibers.
  static std::uint32_t sized(std::uint32_t n) {
    return static_cast<std::uint32_t>(scaled(std::string_view(Space::name) == "simt" ? n / 10 : n, n / 20));
  }
  static bool has(graph::csr const& g, graph::vertex_id u, graph::vertex_id v) {
    auto const row = g.targets.begin();
    return std::binary_search(row + static_cast<std::ptrdiff_t>(g.offsets[u]),
                              row + static_cast<std::ptrdiff_t>(g.offsets[u + 1]), v);
  }
  /// Checks that Pearson's statistic is at most the value that it exceeds in one of a million tests, if these are the
  /// probabilities (the approximation of Wilson and Hilferty): seeds may be random, and there are many tests.
  static void expect_drawn(std::vector<double> const& counts, std::vector<double> const& probabilities) {
    double all = 0;
    for (double const c : counts) all += c;
    double chi = 0;
    double freedom = -1;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (probabilities[i] == 0) {
        EXPECT_EQ(counts[i], 0);
        continue;
      }
      double const expected = all * probabilities[i];
      ASSERT_GE(expected, 5) << "too few draws for this test";
      chi += (counts[i] - expected) * (counts[i] - expected) / expected;
      ++freedom;
    }
    double const variance = 2 / (9 * std::max(freedom, 1.0));
    EXPECT_LE(chi, std::max(freedom, 1.0) * std::pow(1 - variance + 4.75 * std::sqrt(variance), 3));
  }
  /// Counts the targets of all steps from `now`; if `before` is a vertex, only of steps with this previous vertex.
  static std::vector<double> steps_from(algorithms::walk_paths const& paths, std::size_t n, graph::vertex_id now,
                                        graph::vertex_id before = ~0u) {
    std::vector<double> counts(n);
    for (std::size_t w = 0; w + 1 < paths.offsets.size(); ++w)
      for (std::uint64_t i = paths.offsets[w] + (before != ~0u ? 1 : 0); i + 1 < paths.offsets[w + 1]; ++i)
        if (paths.vertices[i] == now && (before == ~0u || paths.vertices[i - 1] == before))
          ++counts[paths.vertices[i + 1]];
    return counts;
  }
  static std::vector<graph::edge> both_ways(std::vector<graph::edge> edges) {
    for (std::size_t i = 0, n = edges.size(); i < n; ++i) edges.push_back({edges[i].target, edges[i].source});
    return edges;
  }
  /// A wheel of six vertices, a tail, and an isolated vertex.
  static std::vector<graph::edge> wheel() {
    return {{0, 1}, {0, 2}, {0, 3}, {0, 4}, {0, 5}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 1}, {5, 6}};
  }
};

TYPED_TEST_SUITE_P(random_walks_test);

TYPED_TEST_P(random_walks_test, paths_go_along_arcs) {
  std::mt19937 random(seeded(1));
  std::size_t const n = 200;
  auto const g = this->make(n, random_edges(random, n, 300), true);  // some vertices have no out-neighbours
  graph::csr const rows = g.to_csr();
  auto const paths = this->walk(g, {.steps = 70, .per_vertex = 3});
  ASSERT_EQ(paths.offsets.size(), 3 * n + 1);
  ASSERT_EQ(paths.vertices.size(), paths.offsets.back());
  for (std::size_t w = 0; w < 3 * n; ++w) {
    std::uint64_t const begin = paths.offsets[w];
    std::uint64_t const end = paths.offsets[w + 1];
    ASSERT_EQ(paths.vertices[begin], w / 3);
    for (std::uint64_t i = begin; i + 1 < end; ++i)
      ASSERT_TRUE(this->has(rows, paths.vertices[i], paths.vertices[i + 1]));
    graph::vertex_id const last = paths.vertices[end - 1];
    ASSERT_TRUE(end - begin == 71 || rows.offsets[last] == rows.offsets[last + 1]);
  }
}

TYPED_TEST_P(random_walks_test, arcs_are_drawn_evenly) {
  auto const g = this->make(8, this->wheel());
  auto const paths = this->walk(g, {.seed = 5, .steps = 40, .per_vertex = this->sized(2000)});
  this->expect_drawn(this->steps_from(paths, 8, 0), {0, .2, .2, .2, .2, .2, 0, 0});
  this->expect_drawn(this->steps_from(paths, 8, 5), {.25, .25, 0, 0, .25, 0, .25, 0});
}

TYPED_TEST_P(random_walks_test, arcs_are_drawn_by_weight) {
  auto const g = this->make(8, this->both_ways(this->wheel()), true);
  graph::csr const rows = g.to_csr();
  std::vector<float> weights(rows.targets.size(), 1);
  // Arcs of vertex 0: the one to 1 has weight 0, those to 2 ... 5 have weights 1 to 4. Those of 6 are 0, so walks end
  // there.
  for (std::uint64_t i = rows.offsets[0]; i < rows.offsets[1]; ++i)
    weights[i] = static_cast<float>(rows.targets[i] - 1) * 0.3f;
  weights[rows.offsets[6]] = 0;
  auto const paths = this->walk(with_values(g, weights), {.seed = 6, .steps = 40, .per_vertex = this->sized(2000)});
  this->expect_drawn(this->steps_from(paths, 8, 0), {0, 0, .1, .2, .3, .4, 0, 0});
  this->expect_drawn(this->steps_from(paths, 8, 5), {.25, .25, 0, 0, .25, 0, .25, 0});
  this->expect_drawn(this->steps_from(paths, 8, 6), std::vector<double>(8));
}

TYPED_TEST_P(random_walks_test, steps_of_second_order) {
  auto const g = this->make(8, this->wheel());
  double const p = 0.25;
  double const q = 4;
  auto const paths = this->walk(g, {.seed = 7, .steps = 60, .p = p, .q = q, .per_vertex = this->sized(3000)});
  // A step from 5 after 1: 1 is the previous vertex, 0 is a neighbour of 1, 4 and 6 are not.
  double sum = 1 / p + 1 + 2 / q;
  this->expect_drawn(this->steps_from(paths, 8, 5, 1), {1 / sum, 1 / p / sum, 0, 0, 1 / q / sum, 0, 1 / q / sum, 0});
  // A step from 0 after 3: 3 is the previous vertex, 2 and 4 are neighbours of 3, 1 and 5 are not.
  sum = 1 / p + 2 + 2 / q;
  this->expect_drawn(this->steps_from(paths, 8, 0, 3),
                     {0, 1 / q / sum, 1 / sum, 1 / p / sum, 1 / sum, 1 / q / sum, 0, 0});
}

TYPED_TEST_P(random_walks_test, walks_stop_and_restart) {
  auto const g = this->make(8, this->wheel());
  std::uint32_t const walks = this->sized(3000);
  auto const paths = this->walk(g, {.seed = 8, .steps = ~0u, .stop = 0.1, .per_vertex = walks, .starts = {0, 3}});
  ASSERT_EQ(paths.offsets.size(), 2 * walks + 1);
  // Geometric: 1/0.1 vertices on average, with a standard deviation of sqrt(0.9)/0.1.
  EXPECT_NEAR(static_cast<double>(paths.vertices.size()) / (2 * walks), 10, 5 * 9.5 / std::sqrt(2.0 * walks));

  auto const home = this->walk(g, {.seed = 9, .steps = 50, .restart = 0.4, .per_vertex = walks / 4, .starts = {6}});
  // 6 has no self-loop, so a step from 6 to 6 is a restart; a step from 5 to 6 may also be along an arc.
  this->expect_drawn(this->steps_from(home, 8, 6), {0, 0, 0, 0, 0, .6, .4, 0});
  this->expect_drawn(this->steps_from(home, 8, 5), {.15, .15, 0, 0, .15, 0, .55, 0});
}

TYPED_TEST_P(random_walks_test, walks_are_equal_in_all_spaces) {
  std::mt19937 random(seeded(2));
  std::size_t const n = 100;
  auto const edges = random_edges(random, n, 400);
  auto const plain = this->make(n, edges);
  std::vector<float> weights(plain.arcs());
  for (float& w : weights) w = static_cast<float>(random() % 1000) / 7;
  weights = symmetric(plain.to_csr(), std::move(weights));
  auto const g = with_values(plain, weights);
  typename TestFixture::options const o{
      .seed = 3, .steps = 100, .stop = 0.01, .restart = 0.05, .p = 0.5, .q = 2, .per_vertex = 2, .weighted = true};
  auto const got = this->walk(g, o);
  auto const same = with_values(exec::host_space(1), plain, weights);
  auto const want = algorithms::random_walks(exec::host_space(1), same.view(), o);
  EXPECT_EQ(got.offsets, want.offsets);
  EXPECT_EQ(got.vertices, want.vertices);
  typename TestFixture::options other = o;
  other.seed = 4;
  EXPECT_NE(this->walk(g, other).vertices, want.vertices);
}

TYPED_TEST_P(random_walks_test, memory_grows_with_steps) {
  std::mt19937 random(seeded(3));
  std::size_t const n = 300;
  auto edges = random_edges(random, n, 2000);
  for (graph::vertex_id v = 0; v < n; ++v)
    edges.push_back({v, static_cast<graph::vertex_id>((v + 1) % n)});  // no walk ends
  auto const g = this->make(n, edges);
  algorithms::random_walker<TypeParam> walker(g.space(), this->small_pool());
  for (std::uint32_t const steps : {1u, 1000u, 59u}) {
    walker.walk(g.view(), {.steps = steps});
    EXPECT_EQ(walker.pool().granted, n * ((steps + 30) / 30) * 128) << steps;
  }
  // A pool with a limit that is too low.
  algorithms::random_walker<TypeParam> narrow(
      g.space(), {.pool_bytes = std::size_t{1} << 16, .reserve_bytes = std::size_t{1} << 21});
  EXPECT_THROW(narrow.walk(g.view(), {.steps = 100'000}), error);
  narrow.walk(g.view(), {.steps = 10});
  EXPECT_EQ(narrow.paths().vertices, this->walk(g, {.steps = 10}).vertices);
}

// The ids of the vertices need any number of bits, also all of them.
TYPED_TEST_P(random_walks_test, visits_are_counted) {
  for (std::size_t const n : {1u, 2u, 60u, 64u, 65u}) {
    SCOPED_TRACE(n);
    std::mt19937 random(seeded(4));
    auto const g = this->make(n, random_edges(random, n, 2 * n), false, n < 3);
    algorithms::random_walker<TypeParam> walker(g.space(), this->small_pool());
    walker.walk(g.view(), {.steps = 35, .restart = 0.1, .per_vertex = 4});
    auto const paths = walker.paths();
    std::map<std::pair<graph::vertex_id, graph::vertex_id>, std::uint32_t> want;
    for (std::size_t w = 0; w + 1 < paths.offsets.size(); ++w)
      for (std::uint64_t i = paths.offsets[w] + 1; i < paths.offsets[w + 1]; ++i)
        ++want[{paths.vertices[paths.offsets[w]], paths.vertices[i]}];
    auto const got = walker.co_visits();
    ASSERT_EQ(got.size(), want.size());
    std::size_t i = 0;
    for (auto const& [pair, count] : want) EXPECT_EQ(got[i++], (algorithms::co_visit{pair.first, pair.second, count}));
  }
}

TYPED_TEST_P(random_walks_test, empty_walks_and_invalid_options) {
  auto const none = this->make(0, {});
  EXPECT_EQ(this->walk(none, {}).offsets, std::vector<std::uint64_t>{0});
  auto const isolated = this->make(2, {});
  EXPECT_EQ(this->walk(isolated, {}).vertices, (std::vector<graph::vertex_id>{0, 1}));
  algorithms::random_walker<TypeParam> walker(isolated.space(), this->small_pool());
  walker.walk(isolated.view(), {});
  EXPECT_TRUE(walker.co_visits().empty());
  auto const loop = this->make(1, {{0, 0}}, false, true);
  EXPECT_EQ(this->walk(loop, {.steps = 3, .p = 4, .q = 0.5}).vertices, std::vector<graph::vertex_id>(4));

  auto const g = this->make(8, this->wheel());
  EXPECT_THROW(this->walk(g, {.stop = 1}), error);
  EXPECT_THROW(this->walk(g, {.restart = -0.1}), error);
  EXPECT_THROW(this->walk(g, {.p = 0}), error);
  EXPECT_THROW(this->walk(g, {.q = 1e9}), error);
  EXPECT_THROW(this->walk(g, {.steps = ~0u}), error);
  EXPECT_THROW(this->walk(g, {.starts = {8}}), error);
  EXPECT_EQ(this->walk(with_values(g, std::vector<float>(g.arcs())), {}).vertices.size(),
            8u);  // all walks end at their starts
}

// The neighbours of where a walk was before are those that arcs lead to from there, not those that arcs lead from.
TYPED_TEST_P(random_walks_test, steps_of_second_order_follow_directions) {
  auto const g = this->make(4, {{0, 1}, {0, 2}, {1, 2}, {1, 3}, {3, 0}}, true);
  std::uint32_t const walks = this->sized(40000);
  // From 1 after 0: an arc leads from 0 to 2, and none from 0 to 3.
  auto const far = this->walk(g, {.seed = 11, .steps = 2, .q = 100, .per_vertex = walks, .starts = {0}});
  this->expect_drawn(this->steps_from(far, 4, 0), {0, .5, .5, 0});
  this->expect_drawn(this->steps_from(far, 4, 1, 0), {0, 0, 100.0 / 101, 1.0 / 101});
  auto const near = this->walk(g, {.seed = 12, .steps = 2, .q = 0.01, .per_vertex = walks, .starts = {0}});
  this->expect_drawn(this->steps_from(near, 4, 1, 0), {0, 0, 1.0 / 101, 100.0 / 101});
  // From 0 after 3, of which 0 is the only neighbour, both others are far.
  this->expect_drawn(
      this->steps_from(this->walk(g, {.seed = 13, .q = 100, .per_vertex = walks / 4, .starts = {3}}), 4, 0, 3),
      {0, .5, .5, 0});
}

// Weights are made whole numbers for the walk: none that is not 0 becomes 0, however large the others are.
TYPED_TEST_P(random_walks_test, arcs_of_tiny_weights_are_walked) {
  // Rows: 0 -> 1 2, 1 -> 0, 2 -> 3, 3 -> 0 1.
  auto const g = this->make(4, {{0, 1}, {0, 2}, {1, 0}, {2, 3}, {3, 0}, {3, 1}}, true);
  for (float const tiny : {1e-20f, 1e-37f})
    for (float const large : {1.0f, 1e30f}) {
      SCOPED_TRACE(std::to_string(tiny) + " beside " + std::to_string(large));
      auto const valued = with_values(g, std::vector<float>{0, large, tiny, tiny, tiny, 0});
      auto const paths = this->walk(valued, {.steps = 4, .starts = {0, 1, 2}});
      EXPECT_EQ(paths.offsets, (std::vector<std::uint64_t>{0, 5, 10, 15}));
      EXPECT_EQ(paths.vertices, (std::vector<graph::vertex_id>{0, 2, 3, 0, 2,  //
                                                               1, 0, 2, 3, 0,  //
                                                               2, 3, 0, 2, 3}));
    }
}

// A step that is taken restarts with the same probability, whatever the probability is that the walk has ended before.
TYPED_TEST_P(random_walks_test, restarts_do_not_depend_on_stops) {
  auto const g = this->make(8, this->wheel());
  std::uint32_t const walks = this->sized(20000);
  for (double const stop : {0.2, 0.5}) {
    SCOPED_TRACE(stop);
    auto const paths = this->walk(
        g, {.seed = seeded(21), .steps = ~0u, .stop = stop, .restart = 0.4, .per_vertex = walks, .starts = {6}});
    this->expect_drawn(this->steps_from(paths, 8, 6), {0, 0, 0, 0, 0, .6, .4, 0});
    // Of the vertices on the paths, one in 1 / stop is the last of its path.
    auto const all = static_cast<double>(paths.vertices.size());
    this->expect_drawn({static_cast<double>(walks), all - walks}, {stop, 1 - stop});
  }
  auto const home = this->walk(g, {.steps = 33, .restart = 1, .starts = {4, 7}});
  EXPECT_EQ(home.offsets, (std::vector<std::uint64_t>{0, 34, 68})) << "also at a vertex without neighbours";
  for (std::size_t i = 0; i < 68; ++i) EXPECT_EQ(home.vertices[i], i < 34 ? 4u : 7u);
}

TYPED_TEST_P(random_walks_test, steps_of_second_order_by_weight) {
  auto const g = this->make(8, this->both_ways(this->wheel()), true);
  graph::csr const rows = g.to_csr();
  std::vector<float> weights(rows.targets.size(), 1);
  // Arcs of vertex 5 to 0, 1, 4 and 6 have the weights 1 to 4.
  for (std::uint64_t i = rows.offsets[5]; i < rows.offsets[6]; ++i)
    weights[i] = static_cast<float>(1 + i - rows.offsets[5]);
  auto const valued = with_values(g, weights);
  for (auto const& [p, q] : {std::pair(4.0, 0.5), std::pair(0.5, 4.0), std::pair(2.0, 2.0), std::pair(1.0, 3.0)}) {
    SCOPED_TRACE(std::to_string(p) + " " + std::to_string(q));
    auto const paths =
        this->walk(valued, {.seed = seeded(22), .steps = 60, .p = p, .q = q, .per_vertex = this->sized(1500)});
    // After 1: 1 is the previous vertex, 0 is a neighbour of 1, 4 and 6 are not.
    double const sum = 1 + 2 / p + 7 / q;
    this->expect_drawn(this->steps_from(paths, 8, 5, 1), {1 / sum, 2 / p / sum, 0, 0, 3 / q / sum, 0, 4 / q / sum, 0});
  }
}

// Starts in any order, repeated; walks of one start are contiguous.
TYPED_TEST_P(random_walks_test, walks_begin_at_their_starts) {
  auto const g = this->make(8, this->wheel());
  auto const paths = this->walk(g, {.steps = 3, .per_vertex = 2, .starts = {3, 0, 7, 3}});
  ASSERT_EQ(paths.offsets.size(), 9u);
  std::vector<graph::vertex_id> first;
  std::vector<std::uint64_t> lengths;
  for (std::size_t w = 0; w < 8; ++w) {
    first.push_back(paths.vertices[paths.offsets[w]]);
    lengths.push_back(paths.offsets[w + 1] - paths.offsets[w]);
  }
  EXPECT_EQ(first, (std::vector<graph::vertex_id>{3, 3, 0, 0, 7, 7, 3, 3}));
  EXPECT_EQ(lengths, (std::vector<std::uint64_t>{4, 4, 4, 4, 1, 1, 4, 4}));
}

// A walker with the memory of earlier walks gives the same paths as a new one.
TYPED_TEST_P(random_walks_test, one_walker_for_several_graphs) {
  std::mt19937 random(seeded(23));
  auto const large = this->make(150, random_edges(random, 150, 400), true);
  auto const small = this->make(8, this->wheel());
  auto const none = this->make(0, {});
  std::vector<float> weights(large.arcs());
  for (float& w : weights) w = static_cast<float>(random() % 5);
  auto const large_by_weight = with_values(large, weights);
  auto const small_by_weight = with_values(small, std::vector<float>(small.arcs(), 0.5f));
  using options = typename TestFixture::options;
  using graph_type = typename TestFixture::graph_type;
  using weighted_type = graph_on<TypeParam, float>;
  std::vector<std::pair<std::variant<graph_type const*, weighted_type const*>, options>> const calls{
      {&large_by_weight, {.steps = 70, .weighted = true}},
      {&small, {.steps = 5, .per_vertex = 3}},
      {&none, {}},
      {&large, {.steps = 31, .starts = {3, 149}}},
      {&small_by_weight, {.starts = {2}, .weighted = true}},
      {&small, {.per_vertex = 0}},
      {&large, {.steps = 100, .p = 0.5, .q = 2}},
      {&large, {.steps = 0}}};
  algorithms::random_walker<TypeParam> walker(small.space(), this->small_pool());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    SCOPED_TRACE(i);
    auto const& g = calls[i].first;
    options const& o = calls[i].second;
    auto const want = std::visit(
        [&](auto const* of) {
          walker.walk(of->view(), o);
          return this->walk(*of, o);
        },
        g);
    auto const got = walker.paths();
    EXPECT_EQ(got.offsets, want.offsets);
    EXPECT_EQ(got.vertices, want.vertices);
    std::uint64_t visits = 0;
    for (algorithms::co_visit const& v : walker.co_visits()) visits += v.count;
    EXPECT_EQ(visits, want.vertices.size() - (want.offsets.size() - 1));
  }
}

TYPED_TEST_P(random_walks_test, options_at_their_limits) {
  auto const g = this->make(8, this->wheel());
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  for (double const bias : {0.01, 100.0}) {
    EXPECT_NO_THROW(this->walk(g, {.steps = 3, .p = bias}));
    EXPECT_NO_THROW(this->walk(g, {.steps = 3, .q = bias}));
  }
  for (double const bias : {0.0099, 100.1, double{nan}}) {
    EXPECT_THROW(this->walk(g, {.p = bias}), error);
    EXPECT_THROW(this->walk(g, {.q = bias}), error);
  }
  for (double const probability : {-0.01, 1.01, double{nan}}) {
    EXPECT_THROW(this->walk(g, {.stop = probability}), error);
    EXPECT_THROW(this->walk(g, {.restart = probability}), error);
  }
  EXPECT_NO_THROW(this->walk(g, {.starts = {7}}));
}

TYPED_TEST_P(random_walks_test, invalid_weights_leave_the_paths_of_the_last_walk) {
  auto const g = this->make(8, this->wheel());
  algorithms::random_walker<TypeParam> walker(g.space(), this->small_pool());
  walker.walk(g.view(), {.steps = 5});
  auto const before = walker.paths();
  auto const weighted = [&](auto const& of) { return refusal([&] { walker.walk(of.view(), {.weighted = true}); }); };
  for (float const w : {-1.0f, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    std::vector<float> weights(g.arcs(), 1);
    weights[3] = w;
    this->expect_contains(weighted(with_values(g, weights)), "random walks: the weight of the arc 0 -> 4 is");
  }
  this->expect_contains(weighted(g), "random walks: the edges of the graph have no numbers as values");
  EXPECT_EQ(walker.paths().vertices, before.vertices);
  EXPECT_EQ(weighted(with_values(g, std::vector<float>(g.arcs()))), "");
}

TYPED_TEST_P(random_walks_test, walks_follow_updates_of_values) {
  using ids = std::vector<graph::vertex_id>;
  auto g = with_values(this->make(4, {{0, 1}, {0, 2}, {1, 3}, {2, 3}}), std::vector<float>{1, 0, 1, 0, 0, 0, 0, 0});
  algorithms::random_walker<TypeParam> walker(g.space(), this->small_pool());
  auto const path = [&] {
    walker.walk(g.view(), {.steps = 3, .starts = {0}, .weighted = true});
    return walker.paths().vertices;
  };
  EXPECT_EQ(path(), (ids{0, 1, 0, 1}));
  g.insert(std::vector<graph::edge>{{1, 0}, {2, 0}}, std::vector<float>{0.0f, 2.5f});
  EXPECT_EQ(path(), (ids{0, 2, 0, 2}));
  g.erase({{0, 2}});
  EXPECT_EQ(path(), ids{0});
}

// Each request for memory fails in turn, for a walker that has the paths of an earlier walk.
TYPED_TEST_P(random_walks_test, walks_without_memory_leave_no_paths_or_the_last) {
  std::mt19937 random(seeded(1));
  auto const plain = this->make(200, random_edges(random, 200, 800), false);
  auto const g = with_values(plain, std::vector<float>(plain.arcs(), 1.0f));
  algorithms::random_walk_options const few{.steps = 5, .starts = {1, 2}};
  algorithms::random_walk_options const many{.steps = 200, .weighted = true};
  alloc::options pool;
  pool.pool_bytes = std::size_t{64} << 10;
  bool done = false;
  unsigned failures = 0;
  unsigned without_paths = 0;
  for (; !done && !testing::Test::HasFailure(); ++failures) {
    ASSERT_LT(failures, 100u);
    algorithms::random_walker<TypeParam> walker(g.space(), pool);
    walker.walk(g.view(), few);
    auto const before = walker.paths();
    try {
      exec::injected_failure const failure(failures);
      walker.walk(g.view(), many);
      done = true;
    } catch (error const& e) {
      EXPECT_EQ(e.code(), error_code::out_of_memory);
    }
    auto const paths = walker.paths();
    if (done) {
      EXPECT_EQ(paths.offsets.size(), 201u);
    } else if (paths.vertices.empty()) {
      EXPECT_EQ(paths.offsets, (std::vector<std::uint64_t>{0}));
      EXPECT_TRUE(walker.co_visits().empty());
      ++without_paths;
    } else {
      EXPECT_EQ(paths.offsets, before.offsets);
      EXPECT_EQ(paths.vertices, before.vertices);
    }
  }
  EXPECT_GT(without_paths, 0u);  // of one request at least: memory of a GPU is requested in large steps
}

REGISTER_TYPED_TEST_SUITE_P(random_walks_test, paths_go_along_arcs, arcs_are_drawn_evenly, arcs_are_drawn_by_weight,
                            steps_of_second_order, walks_stop_and_restart, walks_are_equal_in_all_spaces,
                            memory_grows_with_steps, visits_are_counted, empty_walks_and_invalid_options,
                            steps_of_second_order_follow_directions, arcs_of_tiny_weights_are_walked,
                            restarts_do_not_depend_on_stops, steps_of_second_order_by_weight,
                            walks_begin_at_their_starts, one_walker_for_several_graphs, options_at_their_limits,
                            invalid_weights_leave_the_paths_of_the_last_walk, walks_follow_updates_of_values,
                            walks_without_memory_leave_no_paths_or_the_last);

}  // namespace wyrm::tests
