// SPDX-License-Identifier: Apache-2.0
// The tests of distances from one source that are maintained while the graph changes, for any space: known graphs with
// literal results, and random changes of all kinds, after each of which the distances are those of serial programs, and
// of full runs.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../../algorithms/incremental_bfs.hpp"
#include "../../algorithms/incremental_sssp.hpp"
#include "../../exec/injected_failure.hpp"
#include "../../graph/catch_up.hpp"
#include "../../graph/snapshot.hpp"
#include "../graph/model.hpp"
#include "../support/refusal.hpp"
#include "../support/seed.hpp"
#include "../support/verify_paths.hpp"
#include "local_fixture.hpp"

namespace wyrm::tests {

template <class Space>
class maintained_distances_test : public local_test<Space> {
 protected:
  using ids = std::vector<graph::vertex_id>;
  using edges = std::vector<graph::edge>;
  using numbers = std::vector<double>;
  using bfs = algorithms::incremental_bfs<Space>;
  using sssp = algorithms::incremental_sssp<Space>;
  static constexpr std::uint32_t none = algorithms::bfs_result::unreached;
  static constexpr double far = std::numeric_limits<double>::infinity();
  static constexpr graph::options kinds[3] = {
      {.directed = false, .self_loops = true},
      {.directed = true, .in_neighbours = true, .self_loops = true},
      {.directed = true, .in_neighbours = false, .self_loops = true},
  };

  template <class Value>
  static graph::any_graph weighted(std::size_t n, edges const& list, std::vector<Value> const& w, graph::options o) {
    o.values = graph::number_type_of<Value>;
    return any_graph_test<Space>::make(n, list, o, graph::host_numbers(w));
  }
  static bfs bfs_of(graph::any_graph const& g, algorithms::incremental_bfs_options const& o) {
    return bfs(any_graph_test<Space>::space_of(g), g.view(), o);
  }
  static sssp sssp_of(graph::any_graph const& g, algorithms::incremental_sssp_options const& o) {
    return sssp(any_graph_test<Space>::space_of(g), g.view(), o);
  }
  /// Distances in arcs.
  static std::vector<std::uint32_t> hops_of(numbers const& distances) {
    std::vector<std::uint32_t> hops;
    for (double const d : distances) hops.push_back(d == far ? none : static_cast<std::uint32_t>(d));
    return hops;
  }
  static std::size_t reached_of(numbers const& distances) {
    return distances.size() - static_cast<std::size_t>(std::count(distances.begin(), distances.end(), far));
  }
  static void expect_hops(graph::any_graph const& g, bfs const& r) {
    auto const want = serial_lengths(g.to_csr(), r.source(), {});
    ASSERT_EQ(r.distance(), hops_of(want));
    ASSERT_EQ(r.reached(), reached_of(want));
  }

  /// A graph with values of type Value, several results that follow it, and random changes.
  template <class Value>
  struct followed {
    followed(graph::options const& kind, std::size_t n, std::uint64_t seed)
        : random(seeded(seed)), present(n, true), source(static_cast<graph::vertex_id>(random() % n)) {
      edges const first = random_edges(random, n, 4 * n);
      g.emplace(weighted<Value>(n, first, draw(first.size()), kind));
      for (double const full_run : {1.0, 0.15}) {
        searches.push_back(std::make_unique<bfs>(bfs_of(*g, {.source = source, .full_run = full_run})));
        lengths.push_back(std::make_unique<sssp>(sssp_of(*g, {.source = source, .full_run = full_run})));
      }
      steps.emplace(sssp_of(*g, {.source = source, .weighted = false, .full_run = 1}));
      for (std::size_t i = 0; i < 2; ++i) g->attach(*searches[i]), g->attach(*lengths[i]);
      g->attach(*steps);
    }
    // Few different weights: many paths have equal lengths. Some arcs add nothing to a distance.
    std::vector<Value> draw(std::size_t n) {
      constexpr double some[8] = {0, 0, 1, 1, 2, 5, 0x1p-60, 0.1};
      std::vector<Value> w(n);
      for (Value& one : w) one = static_cast<Value>(some[random() % 8]);
      return w;
    }
    edges of_present(std::size_t n) {
      edges some = random_edges(random, present.size(), n);
      std::erase_if(some, [&](graph::edge const& e) { return !present[e.source] || !present[e.target]; });
      return some;
    }
    // Edges of the graph.
    edges existing(std::size_t n) {
      graph::csr const rows = g->to_csr();
      edges all;
      for (graph::vertex_id u = 0; u + 1 < rows.offsets.size(); ++u)
        for (auto i = rows.offsets[u]; i < rows.offsets[u + 1]; ++i) all.push_back({u, rows.targets[i]});
      std::shuffle(all.begin(), all.end(), random);
      if (all.size() > n) all.resize(n);
      return all;
    }
    void remove(ids const& gone) {
      g->remove_vertices(gone);
      for (graph::vertex_id const v : gone) present[v] = false;
    }
    void add(std::size_t n) {
      ids const added = g->add_vertices(n);
      present.resize(g->vertices());
      for (graph::vertex_id const v : added) present[v] = true;
    }
    void step() {
      std::size_t const size = 1 + random() % (random() % 4 == 0 ? 40 : 4);
      edges const some = of_present(2 * size);
      edges const there = existing(size);
      switch (random() % 17) {
        case 0:
        case 1:
        case 2: g->insert(some, draw(some.size())); break;
        case 3:
        case 4:
        case 5: g->erase(there); break;
        case 6:
        case 7: g->insert(there, draw(there.size())); break;  // other values
        case 8:
        case 9: {
          edges mixed = some;
          mixed.insert(mixed.end(), there.begin(), there.end());
          std::shuffle(mixed.begin(), mixed.end(), random);
          std::vector<graph::operation> what(mixed.size());
          for (auto& one : what) one = random() % 2 == 0 ? graph::operation::insert : graph::operation::erase;
          g->apply(mixed, what, draw(mixed.size()));
          break;
        }
        case 10: remove({static_cast<graph::vertex_id>(random() % present.size())}); break;
        case 11: add(1 + random() % 3); break;
        case 12:
          if (random() % 4 == 0) remove({source});
          break;
        case 13: revive_source(); break;
        case 14: (void)g->erase_async(there); break;
        case 15: random() % 8 == 0 ? replace() : revive_source(); break;
        default: late(there, some);
      }
    }
    // clear(), and build(), which is for graphs without absent vertices.
    void replace() {
      graph::csr const rows = g->to_csr();
      auto const values = g->values<Value>();
      bool const is_whole = std::count(present.begin(), present.end(), false) == 0;
      std::uint64_t const version = g->view().version();
      g->clear();
      if (is_whole) g->build(rows, values);
      replacements += g->view().version() - version;  // a graph without edges does not change
    }
    void revive_source() {
      if (!present[source]) add(static_cast<std::size_t>(std::count(present.begin(), present.end(), false)));
      edges some = of_present(4);
      for (graph::edge& e : some) e.source = source;
      g->insert(some, draw(some.size()));
    }
    // One result of each kind catches up with several changes.
    void late(edges const& there, edges const& some) {
      auto const then = g->snapshot();
      for (std::size_t i = 0; i < 2; ++i) g->detach(*searches[i]), g->detach(*lengths[i]);
      g->erase(there);
      g->insert(some, draw(some.size()));
      add(1);
      Space const space = any_graph_test<Space>::space_of(*g);
      for (std::size_t i = 0; i < 2; ++i) {
        graph::catch_up(space, *searches[i], then.view(), g->view());
        graph::catch_up(space, *lengths[i], then.view(), g->view());
        g->attach(*searches[i]), g->attach(*lengths[i]);
      }
    }
    void check(bool with_full_runs) const {
      graph::csr const rows = g->to_csr();
      numbers weights;
      for (Value const w : g->values<Value>()) weights.push_back(static_cast<double>(w));
      numbers const by_weight = serial_lengths(rows, source, weights);
      numbers const by_arcs = serial_lengths(rows, source, {});
      for (auto const& one : searches) {
        ASSERT_EQ(one->distance(), hops_of(by_arcs));
        ASSERT_EQ(one->reached(), reached_of(by_arcs));
      }
      for (auto const& one : lengths) {
        ASSERT_EQ(one->distance(), by_weight);
        ASSERT_EQ(one->reached(), reached_of(by_weight));
      }
      ASSERT_EQ(steps->distance(), by_arcs);
      if (!with_full_runs) return;
      Space const space = any_graph_test<Space>::space_of(*g);
      ASSERT_EQ(lengths[0]->distance(), algorithms::sssp(space, g->view(), source).distance);
      ASSERT_EQ(searches[0]->distance(), algorithms::bfs(space, g->view(), ids{source}).distance);
    }

    std::mt19937 random;
    std::vector<bool> present;
    graph::vertex_id source;
    std::size_t replacements = 0;
    std::optional<graph::any_graph> g;
    std::vector<std::unique_ptr<bfs>> searches;
    std::vector<std::unique_ptr<sssp>> lengths;
    std::optional<sssp> steps;
  };

  template <class Value>
  static void follow(std::uint64_t seed, std::size_t steps) {
    for (std::size_t kind = 0; kind < 3; ++kind) {
      SCOPED_TRACE("kind " + std::to_string(kind));
      followed<Value> f(kinds[kind], any_graph_test<Space>::sized(60, 24), seed + kind);
      for (std::size_t i = 0; i < steps; ++i) {
        SCOPED_TRACE("step " + std::to_string(i));
        f.step();
        ASSERT_NO_FATAL_FAILURE(f.check(i % 8 == 0));
      }
      if (kind == 2) continue;
      EXPECT_EQ(f.searches[0]->full_runs(), f.replacements);
      EXPECT_EQ(f.lengths[0]->full_runs(), f.replacements);
    }
  }
};

TYPED_TEST_SUITE_P(maintained_distances_test);

TYPED_TEST_P(maintained_distances_test, arcs_of_a_known_graph) {
  constexpr auto none = TestFixture::none;
  using distances = std::vector<std::uint32_t>;
  for (auto const& kind : TestFixture::kinds) {
    if (!kind.directed) continue;
    auto g = this->make(8, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {0, 5}, {5, 3}, {6, 2}}, kind);
    auto r = this->bfs_of(g, {.source = 0, .full_run = 1});
    g.attach(r);
    EXPECT_EQ(r.distance(), (distances{0, 1, 2, 2, 3, 1, none, none}));
    EXPECT_EQ(r.reached(), 6u);
    g.insert({{0, 4}, {4, 6}, {6, 6}});
    EXPECT_EQ(r.distance(), (distances{0, 1, 2, 2, 1, 1, 2, none}));
    g.erase({{1, 2}});  // 2 remains reached, by 6
    EXPECT_EQ(r.distance(), (distances{0, 1, 3, 2, 1, 1, 2, none}));
    g.erase({{0, 5}, {0, 4}});
    EXPECT_EQ(r.distance(), (distances{0, 1, none, none, none, none, none, none}));
    EXPECT_EQ(r.reached(), 2u);
    g.apply(std::vector<graph::edge>{{0, 1}, {0, 3}, {1, 7}, {7, 0}},
            std::vector<graph::operation>{graph::operation::erase, graph::operation::insert, graph::operation::insert,
                                          graph::operation::insert});
    EXPECT_EQ(r.distance(), (distances{0, none, 4, 1, 2, none, 3, none}));
    EXPECT_EQ(r.reached(), 5u);
    EXPECT_EQ(r.source(), 0u);
  }
}

TYPED_TEST_P(maintained_distances_test, lengths_of_a_known_graph) {
  constexpr double far = TestFixture::far;
  using distances = std::vector<double>;
  using weights = std::vector<float>;
  for (auto const& kind : TestFixture::kinds) {
    SCOPED_TRACE(kind.directed ? "directed" : "undirected");
    auto g = this->weighted(6, {{0, 1}, {1, 2}, {0, 2}, {2, 3}, {4, 5}}, weights{1, 1, 4, 0.5, 1}, kind);
    auto r = this->sssp_of(g, {.source = 0, .full_run = 1});
    g.attach(r);
    EXPECT_EQ(r.distance(), (distances{0, 1, 2, 2.5, far, far}));
    g.insert(std::vector<graph::edge>{{1, 2}}, weights{8});  // another value
    EXPECT_EQ(r.distance(), (distances{0, 1, 4, 4.5, far, far}));
    g.insert(std::vector<graph::edge>{{0, 2}, {3, 4}}, weights{0.25, 0});
    EXPECT_EQ(r.distance(), (distances{0, 1, 0.25, 0.75, 0.75, 1.75}));
    EXPECT_EQ(r.reached(), 6u);
    g.erase({{2, 3}});
    EXPECT_EQ(r.distance(), (distances{0, 1, 0.25, far, far, far}));
    EXPECT_EQ(r.reached(), 3u);
  }
}

// Vertices at the same distance that arcs of length zero join in a cycle must not support each other.
TYPED_TEST_P(maintained_distances_test, cycles_of_length_zero) {
  constexpr double far = TestFixture::far;
  using distances = std::vector<double>;
  using weights = std::vector<double>;
  for (auto const& kind : TestFixture::kinds) {
    auto g =
        this->weighted(7, {{0, 1}, {1, 2}, {2, 3}, {3, 1}, {3, 4}, {0, 5}, {5, 3}}, weights{1, 0, 0, 0, 0, 2, 1}, kind);
    auto r = this->sssp_of(g, {.full_run = 1});
    g.attach(r);
    EXPECT_EQ(r.distance(), (distances{0, 1, 1, 1, 1, 2, far}));
    g.erase({{0, 1}});
    EXPECT_EQ(r.distance(), (distances{0, 3, 3, 3, 3, 2, far}));
    g.erase({{5, 3}});
    EXPECT_EQ(r.distance(), (distances{0, far, far, far, far, 2, far}));
    g.insert(std::vector<graph::edge>{{5, 2}, {4, 6}}, weights{0x1p-60, 0x1p-60});  // rounded away
    EXPECT_EQ(r.distance(), (distances{0, 2, 2, 2, 2, 2, 2}));
    g.erase({{0, 5}});
    EXPECT_EQ(r.distance(), (distances{0, far, far, far, far, far, far}));
    g.insert(std::vector<graph::edge>{{0, 4}, {4, 3}}, weights{0, 0});
    g.erase({{2, 3}});
    EXPECT_EQ(r.distance()[4], 0);
    EXPECT_EQ(r.distance(), (serial_lengths(g.to_csr(), 0, g.template values<double>())));
  }
}

TYPED_TEST_P(maintained_distances_test, random_changes_with_weights_uint32) {
  this->template follow<std::uint32_t>(100, this->sized(300, 40));
}
TYPED_TEST_P(maintained_distances_test, random_changes_with_weights_int64) {
  this->template follow<std::int64_t>(200, this->sized(300, 40));
}
TYPED_TEST_P(maintained_distances_test, random_changes_with_weights_float) {
  this->template follow<float>(300, this->sized(300, 40));
}
TYPED_TEST_P(maintained_distances_test, random_changes_with_weights_double) {
  this->template follow<double>(400, this->sized(300, 40));
}

// Rows that are divided into parts: a support in the last part, children in all of them, and a new distance from one.
TYPED_TEST_P(maintained_distances_test, hubs) {
  auto const n = static_cast<graph::vertex_id>(this->sized(3000, 900));
  for (auto const& kind : TestFixture::kinds) {
    SCOPED_TRACE(kind.directed ? "directed" : "undirected");
    graph::vertex_id const hub = 1;
    std::vector<graph::edge> list{{0, hub}, {0, 2}, {2, 3}, {0, n - 1}, {n - 1, hub}};
    for (graph::vertex_id v = 3; v < n - 1; ++v) {
      list.push_back({hub, v});
      if (kind.directed) list.push_back({v, hub});
    }
    auto g = this->make(n, list, kind);
    auto r = this->bfs_of(g, {.source = 0, .full_run = 1});
    g.attach(r);
    ASSERT_NO_FATAL_FAILURE(this->expect_hops(g, r));
    EXPECT_EQ(r.distance()[n - 2], 2u);
    g.erase({{0, hub}});  // the hub and its children are one arc farther away
    EXPECT_EQ(r.distance()[n - 2], 3u);
    ASSERT_NO_FATAL_FAILURE(this->expect_hops(g, r));
    g.erase({{n - 1, hub}});  // the hub is reached by 3
    EXPECT_EQ(r.distance()[n - 2], 4u);
    ASSERT_NO_FATAL_FAILURE(this->expect_hops(g, r));
    g.insert({{2, hub}});  // now also by 2
    ASSERT_NO_FATAL_FAILURE(this->expect_hops(g, r));
    g.insert({{2, n - 2}});
    g.erase({{2, hub}, {2, 3}});  // the support is the last but one
    EXPECT_EQ(r.distance()[3], 4u);
    ASSERT_NO_FATAL_FAILURE(this->expect_hops(g, r));
    g.remove_vertices({n - 2});
    EXPECT_EQ(r.reached(), 3u);
    ASSERT_NO_FATAL_FAILURE(this->expect_hops(g, r));
  }
}

TYPED_TEST_P(maintained_distances_test, long_paths) {
  auto const n = static_cast<graph::vertex_id>(this->sized(400, 60));
  for (auto const& kind : TestFixture::kinds) {
    std::vector<graph::edge> list;
    for (graph::vertex_id v = 1; v < n; ++v) list.push_back({v - 1, v});
    auto g = this->make(n, list, kind);
    auto r = this->bfs_of(g, {.full_run = 1});
    g.attach(r);
    g.erase({{0, 1}});
    EXPECT_EQ(r.reached(), 1u);
    g.insert({{0, n / 2}});
    EXPECT_EQ(r.distance()[n - 1], n - 1 - n / 2 + 1);
    ASSERT_NO_FATAL_FAILURE(this->expect_hops(g, r));
    g.insert({{n - 1, 1}});
    ASSERT_NO_FATAL_FAILURE(this->expect_hops(g, r));
    EXPECT_EQ(r.reached(), n);
  }
}

TYPED_TEST_P(maintained_distances_test, full_runs) {
  auto const n = static_cast<graph::vertex_id>(this->sized(100, 40));
  std::vector<graph::edge> list;
  for (graph::vertex_id v = 1; v < n; ++v) list.push_back({v - 1, v});
  for (auto const& kind : TestFixture::kinds) {
    auto g = this->make(n, list, kind);
    auto never = this->bfs_of(g, {.full_run = 1});
    auto always = this->bfs_of(g, {.full_run = 0});
    auto half = this->sssp_of(g, {.full_run = 0.7});
    EXPECT_EQ(always.full_runs(), 0u);
    for (graph::maintained_result* const one :
         {static_cast<graph::maintained_result*>(&never), static_cast<graph::maintained_result*>(&always),
          static_cast<graph::maintained_result*>(&half)})
      g.attach(*one);
    auto const expect = [&](std::size_t of_always, std::size_t of_half) {
      ASSERT_NO_FATAL_FAILURE(this->expect_hops(g, never));
      ASSERT_EQ(always.distance(), never.distance());
      ASSERT_EQ(this->hops_of(half.distance()), never.distance());
      ASSERT_EQ(always.full_runs(), of_always);
      ASSERT_EQ(half.full_runs(), of_half);
    };
    g.insert({{n - 10, n - 1}});  // lowers few distances
    ASSERT_NO_FATAL_FAILURE(expect(1, 0));
    g.insert({{n - 10, n - 1}, {1, 0}});  // changes none
    ASSERT_NO_FATAL_FAILURE(expect(1, 0));
    g.insert({{0, 4}});
    ASSERT_NO_FATAL_FAILURE(expect(2, 1));
    g.erase({{0, 4}});
    ASSERT_NO_FATAL_FAILURE(expect(3, 2));
    if (!kind.directed || kind.in_neighbours) {
      EXPECT_EQ(never.full_runs(), 0u);
    }
    g.clear();
    ASSERT_NO_FATAL_FAILURE(expect(4, 3));
    g.insert(list);
    ASSERT_NO_FATAL_FAILURE(expect(5, 4));
  }
}

// Ids that come, and go where a result goes back to an earlier moment.
TYPED_TEST_P(maintained_distances_test, sources_that_come_and_go) {
  constexpr auto none = TestFixture::none;
  using distances = std::vector<std::uint32_t>;
  auto g = this->make(2, {{0, 1}});
  auto const space = this->space_of(g);
  auto const small = g.snapshot();
  g.add_vertices(2);
  g.insert({{1, 2}, {2, 3}});
  auto r = this->bfs_of(g, {.source = 3, .full_run = 1});
  EXPECT_EQ(r.distance(), (distances{3, 2, 1, 0}));
  auto const large = g.snapshot();
  graph::catch_up(space, r, large.view(), small.view());
  EXPECT_EQ(r.distance(), (distances{none, none}));
  EXPECT_EQ(r.reached(), 0u);
  graph::catch_up(space, r, small.view(), large.view());
  EXPECT_EQ(r.distance(), (distances{3, 2, 1, 0}));
  EXPECT_EQ(r.reached(), 4u);
  g.attach(r);
  g.remove_vertices({3});
  EXPECT_EQ(r.distance(), (distances{none, none, none, 0}));  // as bfs() says
  g.insert({{0, 2}});
  g.add_vertices(1);
  EXPECT_EQ(r.distance(), (distances{none, none, none, 0}));
  g.insert({{0, 3}});
  EXPECT_EQ(r.distance(), (distances{1, 2, 2, 0}));
}

// The same batches for other numbers of the vertices, for two copies side by side, and with vertices without edges.
TYPED_TEST_P(maintained_distances_test, numbers_of_vertices_do_not_matter) {
  auto const n = static_cast<graph::vertex_id>(this->sized(80, 30));
  std::mt19937 random(seeded(3));
  std::vector<graph::vertex_id> number(n);
  for (graph::vertex_id v = 0; v < n; ++v) number[v] = 2 * n + 5 - v;
  std::shuffle(number.begin(), number.end(), random);
  for (auto const& kind : TestFixture::kinds) {
    auto g = this->make(n, {}, kind);
    auto other = this->make(3 * n + 10, {}, kind);  // a copy from 0 on, and one with other numbers
    auto first = this->bfs_of(g, {.source = 2});
    auto same = this->bfs_of(other, {.source = 2});
    auto renumbered = this->bfs_of(other, {.source = number[2]});
    g.attach(first);
    other.attach(same);
    other.attach(renumbered);
    for (unsigned step = 0; step < 12; ++step) {
      auto const batch = random_edges(random, n, n / 3);
      auto twice = batch;
      for (auto const& e : batch) twice.push_back({number[e.source], number[e.target]});
      if (step % 3 < 2) {
        g.insert(batch);
        other.insert(twice);
      } else {
        g.erase(batch);
        other.erase(twice);
      }
      auto const want = first.distance();
      for (graph::vertex_id v = 0; v < n; ++v) {
        ASSERT_EQ(same.distance()[v], want[v]);
        ASSERT_EQ(renumbered.distance()[number[v]], want[v]);
      }
      ASSERT_EQ(same.reached(), first.reached());
    }
  }
}

// A change whose k-th request for memory fails leaves all as it is; what succeeds requests no memory after the update.
TYPED_TEST_P(maintained_distances_test, memory_that_runs_out) {
  struct last final : graph::maintained_result {
    explicit last(graph::graph_view const& g) : maintained_result("last", g) {}
    std::optional<exec::injected_failure> failure;

   private:
    void on_before(graph::graph_view const&, graph::graph_change const&) override {}
    void on_after(graph::graph_view const&) override { failure.emplace(0); }
    void on_undo(graph::graph_view const&) override {}
  };
  auto const n = static_cast<graph::vertex_id>(this->sized(400, 60));
  std::mt19937 random(seeded(4));
  auto const sparse = random_edges(random, n, n / 2);
  auto dense = random_edges(random, n, 4 * n);
  for (graph::vertex_id v = 1; v < n; ++v) dense.push_back({v, 1});
  bool const slow = std::string(TypeParam::name) == "simt";
  for (auto const& kind : TestFixture::kinds) {
    std::vector<float> const ones(sparse.size(), 1);
    bool done = false;
    for (std::uint64_t served = 0; !done; served += slow ? 7 : 1) {
      ASSERT_LT(served, 200u);
      auto g = this->weighted(n, sparse, ones, kind);
      last no_more(g.view());
      auto a = this->bfs_of(g, {.full_run = 0.5});
      auto b = this->sssp_of(g, {.full_run = 0.5});
      g.attach(no_more);
      g.attach(a);
      g.attach(b);
      auto const hops = a.distance();
      auto const lengths = b.distance();
      try {
        exec::injected_failure const failure(served);
        g.insert(dense, std::vector<float>(dense.size(), 2));
        no_more.failure.reset();
        done = true;
      } catch (error const& e) {
        ASSERT_EQ(e.code(), error_code::out_of_memory) << e.what();
        ASSERT_EQ(a.distance(), hops);
        ASSERT_EQ(b.distance(), lengths);
        ASSERT_TRUE(a.belongs_to(g.view()) && b.belongs_to(g.view()));
      }
      g.erase({{0, 1}, {sparse[0]}, {sparse[1]}});
      no_more.failure.reset();
      ASSERT_NO_FATAL_FAILURE(this->expect_hops(g, a));
      g.insert(dense, std::vector<float>(dense.size(), 3));
      no_more.failure.reset();
      ASSERT_NO_FATAL_FAILURE(this->expect_hops(g, a));
      auto const w = g.template values<float>();
      ASSERT_EQ(b.distance(), serial_lengths(g.to_csr(), 0, {w.begin(), w.end()}));
    }
  }
}

TYPED_TEST_P(maintained_distances_test, refusals) {
  auto g = this->weighted(3, {{0, 1}}, std::vector<double>{1}, {.directed = true});
  auto const expect = [&](auto const& f, std::string const& part) { this->expect_contains(refusal(f), part); };
  expect([&] { this->bfs_of(g, {.source = 3}); }, "the source 3 is not in the graph, which has 3 vertices");
  expect([&] { this->sssp_of(g, {.full_run = -1}); }, "full_run is -1");
  expect([&] { this->bfs_of(g, {.full_run = std::numeric_limits<double>::quiet_NaN()}); }, "full_run is nan");
  auto r = this->sssp_of(g, {});
  auto hops = this->bfs_of(g, {});
  g.attach(r);
  g.attach(hops);
  // The graph refuses these changes after the results have prepared for them.
  auto const expect_undone = [&] {
    EXPECT_EQ(r.distance(), (std::vector<double>{0, 1, TestFixture::far}));
    EXPECT_EQ(hops.distance(), (std::vector<std::uint32_t>{0, 1, TestFixture::none}));
    EXPECT_TRUE(r.belongs_to(g.view()) && hops.belongs_to(g.view()));
  };
  expect([&] { g.insert(std::vector<graph::edge>{{1, 2}, {0, 3}}, std::vector<double>{1, 1}); }, "3");
  expect_undone();
  g.fail_allocations_from(0);
  EXPECT_THROW(g.insert(std::vector<graph::edge>{{1, 2}}, std::vector<double>{1}), error);
  g.fail_allocations_from(graph::any_graph::never);
  expect_undone();
  for (double const wrong : {-1.0, TestFixture::far, std::numeric_limits<double>::quiet_NaN()}) {
    expect(
        [&] {
          g.insert(std::vector<graph::edge>{{0, 1}, {1, 2}}, std::vector<double>{1, wrong});
        },
        "edge 1 of the batch is (1, 2), whose value is no weight");
    expect_undone();
    EXPECT_EQ(g.arcs(), 1u);
  }
  // A self-loop, an entry that a later one replaces, and one that is erased, are not the reason.
  expect(
      [&] {
        g.apply(
            std::vector<graph::edge>{{2, 2}, {0, 1}, {0, 1}, {0, 2}, {0, 2}, {1, 2}},
            std::vector<graph::operation>{graph::operation::insert, graph::operation::insert, graph::operation::insert,
                                          graph::operation::insert, graph::operation::erase, graph::operation::insert},
            std::vector<double>{-1, -7, 1, -1, 0, -1});
      },
      "edge 5 of the batch is (1, 2), whose value is no weight");
  expect_undone();
  g.detach(r);
  g.insert(std::vector<graph::edge>{{1, 2}}, std::vector<double>{-1});  // arcs are no lengths
  EXPECT_EQ(hops.distance(), (std::vector<std::uint32_t>{0, 1, 2}));
  expect([&] { this->sssp_of(g, {}); }, "the weight of the arc 1 -> 2 is -1");
}

// The value of an edge after the whole batch counts, however the batch is planned.
TYPED_TEST_P(maintained_distances_test, values_that_are_no_weights) {
  auto const expect = [&](auto const& f, std::string const& part) { this->expect_contains(refusal(f), part); };
  constexpr graph::vertex_id n = 3000;
  for (graph::options o : TestFixture::kinds) {
    o.combine = graph::combiner::sum;
    auto g = this->weighted(n, {}, std::vector<float>{}, o);
    auto r = this->sssp_of(g, {});
    g.attach(r);
    auto const expect_hub = [&](double there) {
      std::vector<double> want(n, there);
      want[0] = 0;
      EXPECT_EQ(r.distance(), want);
      EXPECT_TRUE(r.belongs_to(g.view()));
      g.check();
    };
    std::vector<graph::edge> star;
    for (graph::vertex_id v = 1; v < n; ++v) star.push_back({0, v});
    std::vector<float> weights(star.size(), 2);
    weights[1234] = -2;
    std::string const combined = "combined with those of the batch, are no weights";
    expect([&] { g.insert(star, weights); }, combined);
    expect_hub(TestFixture::far);
    EXPECT_EQ(g.edges(), 0u);
    weights[1234] = 2;
    g.insert(star, weights);
    expect_hub(2);
    // Values are added up: 2 - 1 is a weight, and 1 - 1 - 1 is not.
    g.insert(star, std::vector<float>(star.size(), -1));
    expect_hub(1);
    expect([&] { g.insert(std::vector<graph::edge>{{0, 7}, {0, 7}}, std::vector<float>{-1, -1}); }, combined);
    float const most = std::numeric_limits<float>::max();
    expect(
        [&] {
          g.insert(std::vector<graph::edge>{{0, 7}, {0, 7}}, std::vector<float>{most, most});
        },
        "combined with those of the batch, are no weights");
    expect_hub(1);
    // An edge that the same batch erases has no value.
    g.apply(std::vector<graph::edge>{{5, 6}, {5, 6}},
            std::vector<graph::operation>{graph::operation::insert, graph::operation::erase},
            std::vector<float>{-1, 0});
    expect_hub(1);

    graph::csr const rows = g.to_csr();
    auto values = g.template values<float>();
    g.clear();
    values[17] = -1;
    expect([&] { g.build(rows, values); }, "values of the CSR are no weights (1 in all)");
    expect_hub(TestFixture::far);
    values[17] = 1;
    g.build(rows, values);
    expect_hub(1);
  }
}

TYPED_TEST_P(maintained_distances_test, distances_of_graphalytics) {
  for (bool const directed : {true, false}) {
    std::string const name = directed ? "example-directed" : "example-undirected";
    auto const lengths = graphalytics_example::read(name, "SSSP");
    if (lengths.ids.empty()) GTEST_SKIP() << "WYRM_DATA does not name a folder with graphalytics";
    // The source is the vertex at distance zero.
    auto const source = static_cast<graph::vertex_id>(std::find(lengths.result.begin(), lengths.result.end(), 0.0) -
                                                      lengths.result.begin());
    std::size_t const n = lengths.ids.size();
    auto g = this->weighted(n, {}, std::vector<double>{}, {.directed = directed});
    auto r = this->sssp_of(g, {.source = source, .full_run = 1});
    g.attach(r);
    for (std::size_t i = 0; i < lengths.edges.size(); ++i) {
      g.insert(std::vector{lengths.edges[i]}, std::vector{lengths.weights[i] / 2});
      g.insert(std::vector{lengths.edges[i]}, std::vector{lengths.weights[i]});
    }
    for (std::size_t v = 0; v < n; ++v) {
      double const got = r.distance()[v];
      EXPECT_TRUE(got == lengths.result[v] || std::abs(got - lengths.result[v]) < 1e-12) << lengths.ids[v];
    }
  }
}

REGISTER_TYPED_TEST_SUITE_P(maintained_distances_test, arcs_of_a_known_graph, lengths_of_a_known_graph,
                            cycles_of_length_zero, random_changes_with_weights_uint32,
                            random_changes_with_weights_int64, random_changes_with_weights_float,
                            random_changes_with_weights_double, hubs, long_paths, full_runs, sources_that_come_and_go,
                            numbers_of_vertices_do_not_matter, memory_that_runs_out, refusals,
                            values_that_are_no_weights, distances_of_graphalytics);

}  // namespace wyrm::tests
