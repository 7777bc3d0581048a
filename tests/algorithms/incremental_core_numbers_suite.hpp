// SPDX-License-Identifier: Apache-2.0
// The tests of maintained core numbers, for any space: known graphs that change edge by edge, with literal results, and
// long sequences of random changes, compared with the serial verifier after each change.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "../../algorithms/incremental_core_numbers.hpp"
#include "../../graph/catch_up.hpp"
#include "../../graph/snapshot.hpp"
#include "../graph/model.hpp"
#include "../support/refusal.hpp"
#include "../support/seed.hpp"
#include "../support/verify.hpp"
#include "graphs_fixture.hpp"

namespace wyrm::tests {

template <class Space>
class incremental_core_numbers_test : public graphs_test<Space> {
 protected:
  using graph_type = typename graphs_test<Space>::graph_type;
  using result_type = algorithms::incremental_core_numbers<Space>;
  using edges = std::vector<graph::edge>;
  using counts = std::vector<std::uint32_t>;
  static constexpr double never = INFINITY;

  graph_type graph_of(std::size_t n, edges const& list, bool loops = false) {
    return this->make(n, list, false, loops, this->one_thread());
  }
  static result_type attached(graph_type& g, double full_run = never) {
    result_type result(g.space(), g.view(), {.full_run = full_run});
    g.attach(result);
    return result;
  }
  static void expect_right(graph_type const& g, result_type const& cores) {
    auto const got = cores.result();
    auto const want = serial_core_numbers(g.to_csr());
    ASSERT_EQ(got.core, want);
    ASSERT_EQ(got.degeneracy, want.empty() ? 0 : *std::max_element(want.begin(), want.end()));
    ASSERT_TRUE(cores.belongs_to(g.view()));
  }
  /// Edges among the vertices of a few groups, which are dense inside: many core numbers, and rises by several units.
  static edges grouped_edges(std::mt19937& random, std::size_t n, std::size_t count) {
    edges all = random_edges(random, n, count);
    auto const size = static_cast<graph::vertex_id>(n / 4);
    for (graph::edge& e : all) {
      if (random() % 3 == 0) continue;
      graph::vertex_id const base = e.source / size * size;
      e.target = std::min(base + e.target % size, static_cast<graph::vertex_id>(n - 1));
    }
    return all;
  }

  /// A graph, its model, and core numbers that are maintained with full runs never, sometimes and always.
  struct followed_cores {
    followed_cores(Space const& space, std::size_t n, bool loops, std::uint64_t seed)
        : random(seeded(seed)), model(n, false, loops), g(space, n, settings(loops)) {
      for (double const full_run : {never, 0.25, 0.0})
        results.push_back(std::make_unique<result_type>(g.space(), g.view(), options(full_run)));
      for (auto const& one : results) g.attach(*one);
    }
    static algorithms::incremental_core_numbers_options options(double full_run) { return {.full_run = full_run}; }
    static graph::options settings(bool loops) {
      graph::options o{.directed = false, .self_loops = loops};
      o.pool = {.pool_bytes = std::size_t{1} << 18, .reserve_bytes = std::size_t{1} << 28};
      return o;
    }
    // Mostly batches of few edges; those of some steps are dense.
    void step() {
      std::size_t const n = model.vertices();
      edges batch = random() % 2 == 0 ? random_edges(random, n, 1 + random() % 12)
                                      : grouped_edges(random, n, 1 + random() % (random() % 8 == 0 ? 4 * n : 12));
      std::erase_if(batch, [&](graph::edge const& e) {
        return model.absent().contains(e.source) || model.absent().contains(e.target);
      });
      auto const kind = random() % 40;
      if (kind < 12) {
        g.insert(batch), model.insert(batch);
      } else if (kind < 20) {
        erase_present(1 + random() % 12);
      } else if (kind < 34) {
        std::vector<graph::operation> what(batch.size());
        for (auto& one : what) one = random() % 2 == 0 ? graph::operation::insert : graph::operation::erase;
        for (graph::edge const& e : some_edges(batch.size()))
          batch.push_back(e), what.push_back(graph::operation::erase);
        g.apply(batch, what), model.apply(batch, what, {});
      } else if (kind < 36) {
        std::size_t const k = 1 + random() % 4;
        ASSERT_EQ(g.add_vertices(k), model.add_vertices(k));
      } else if (kind < 38) {
        std::vector<graph::vertex_id> gone(1 + random() % 4);
        for (graph::vertex_id& v : gone) v = static_cast<graph::vertex_id>(random() % n);
        g.remove_vertices(gone), model.remove_vertices(gone);
      } else if (kind == 38) {
        erase_present(g.edges() / 2);
      } else {
        if (random() % 2 == 0) rebuild();
        if (random() % 2 == 0) g.clear(), model.clear();
      }
    }
    // Edges of the graph, some twice.
    edges some_edges(std::size_t k) {
      graph::csr const rows = model.to_csr();
      edges all;
      for (graph::vertex_id v = 0; v < model.vertices(); ++v)
        for (auto i = rows.offsets[v]; i < rows.offsets[v + 1]; ++i) all.push_back({v, rows.targets[i]});
      std::shuffle(all.begin(), all.end(), random);
      all.resize(std::min(k, all.size()));
      return all;
    }
    void erase_present(std::size_t k) {
      edges const batch = some_edges(k);
      g.erase(batch), model.erase(batch);
    }
    void rebuild() {
      std::size_t const absent = model.absent().size();  // build() is for graphs without absent vertices
      ASSERT_EQ(g.add_vertices(absent), model.add_vertices(absent));
      g.clear();
      g.build(model.to_csr());
    }
    void check() const {
      ASSERT_EQ(g.to_csr(), model.to_csr());
      for (auto const& one : results) ASSERT_NO_FATAL_FAILURE(expect_right(g, *one));
    }

    std::mt19937 random;
    graph_model model;
    graph_type g;
    std::vector<std::unique_ptr<result_type>> results;
  };
};

TYPED_TEST_SUITE_P(incremental_core_numbers_test);

TYPED_TEST_P(incremental_core_numbers_test, of_known_changes) {
  using counts = typename TestFixture::counts;
  auto g = this->graph_of(8, {{0, 1}, {1, 2}, {2, 3}});
  auto const cores = this->attached(g);
  EXPECT_EQ(cores.result().core, (counts{1, 1, 1, 1, 0, 0, 0, 0}));
  g.insert({{3, 0}});  // a cycle
  EXPECT_EQ(cores.result().core, (counts{2, 2, 2, 2, 0, 0, 0, 0}));
  g.insert({{0, 2}, {1, 3}});  // a clique of four
  EXPECT_EQ(cores.result().core, (counts{3, 3, 3, 3, 0, 0, 0, 0}));
  EXPECT_EQ(cores.result().degeneracy, 3u);
  g.insert({{4, 0}, {4, 1}, {5, 4}});
  EXPECT_EQ(cores.result().core, (counts{3, 3, 3, 3, 2, 1, 0, 0}));
  g.apply(std::vector<graph::edge>{{0, 1}, {4, 2}},
          std::vector<graph::operation>{graph::operation::erase, graph::operation::insert});
  EXPECT_EQ(cores.result().core, (counts{3, 3, 3, 3, 3, 1, 0, 0}));
  g.insert({{0, 1}, {4, 3}});  // a clique of five
  EXPECT_EQ(cores.result().core, (counts{4, 4, 4, 4, 4, 1, 0, 0}));
  g.remove_vertices({0});
  EXPECT_EQ(cores.result().core, (counts{0, 3, 3, 3, 3, 1, 0, 0}));
  EXPECT_FALSE(cores.recomputed());
  g.clear();
  EXPECT_EQ(cores.result().core, counts(8, 0));
  EXPECT_TRUE(cores.recomputed());
}

// From no edge to all, and back; at once, and one by one.
TYPED_TEST_P(incremental_core_numbers_test, of_cliques) {
  using counts = typename TestFixture::counts;
  auto const n = static_cast<graph::vertex_id>(this->sized(24, 10));
  auto const all = this->clique(n);
  auto g = this->graph_of(n, {});
  auto const cores = this->attached(g);
  for (graph::edge const& e : all) {
    g.insert({e});
    ASSERT_NO_FATAL_FAILURE(this->expect_right(g, cores));
  }
  EXPECT_EQ(cores.result().core, counts(n, n - 1));
  for (graph::edge const& e : all) {
    g.erase({e});
    ASSERT_NO_FATAL_FAILURE(this->expect_right(g, cores));
  }
  g.insert(all);
  EXPECT_EQ(cores.result().core, counts(n, n - 1));
  g.erase({{0, 1}});
  EXPECT_EQ(cores.result().core, counts(n, n - 2));
  g.erase(all);
  EXPECT_EQ(cores.result().core, counts(n, 0));
  EXPECT_FALSE(cores.recomputed());
}

// A clique whose vertices have rows of several parts: all fall by one when an edge is erased, and rise by one when it
// comes back; so do the neighbours of two vertices that neighbour all others, through which the search goes.
TYPED_TEST_P(incremental_core_numbers_test, of_hubs) {
  using counts = typename TestFixture::counts;
  auto const n = static_cast<graph::vertex_id>(this->sized(600, 270));
  auto g = this->graph_of(n, this->clique(n));
  auto const cores = this->attached(g);
  g.erase({{7, 9}});
  EXPECT_EQ(cores.result().core, counts(n, n - 2));
  g.insert({{7, 9}});
  EXPECT_EQ(cores.result().core, counts(n, n - 1));

  graph::vertex_id const leaves = 700;
  std::vector<graph::edge> star;
  for (graph::vertex_id v = 1; v <= leaves; ++v) star.push_back({0, v});
  auto h = this->graph_of(leaves + std::size_t{2}, star);
  auto const of_star = this->attached(h);
  EXPECT_EQ(of_star.result().core[0], 1u);
  for (graph::edge& e : star) e.source = leaves + 1;
  h.insert(star);
  EXPECT_EQ(of_star.result().core, counts(leaves + std::size_t{2}, 2));
  h.insert({{0, leaves + 1}});
  EXPECT_EQ(of_star.result().core, counts(leaves + std::size_t{2}, 2));
  h.insert({{1, 2}, {3, 4}});
  ASSERT_NO_FATAL_FAILURE(this->expect_right(h, of_star));
  EXPECT_EQ(of_star.result().core[4], 3u);
  h.remove_vertices({leaves + 1});
  ASSERT_NO_FATAL_FAILURE(this->expect_right(h, of_star));
  h.remove_vertices({0});
  ASSERT_NO_FATAL_FAILURE(this->expect_right(h, of_star));
  EXPECT_FALSE(of_star.recomputed());
}

// A chain is closed and opened: each step reaches two vertices more. With a bound of steps this is a full run.
TYPED_TEST_P(incremental_core_numbers_test, of_chains) {
  using counts = typename TestFixture::counts;
  auto const n = static_cast<graph::vertex_id>(this->sized(3000, 300));
  auto g = this->graph_of(n, this->path(n));
  auto const cores = this->attached(g);
  auto const bounded = this->attached(g, 0.25);
  for (unsigned turn = 0; turn < 2; ++turn) {
    g.insert({{n - 1, 0}});
    EXPECT_EQ(cores.result().core, counts(n, 2));
    EXPECT_EQ(bounded.result().core, counts(n, 2));
    EXPECT_FALSE(cores.recomputed());
    EXPECT_TRUE(bounded.recomputed());
    g.erase({{turn, turn + 1}});
    EXPECT_EQ(cores.result().core, counts(n, 1));
    EXPECT_EQ(bounded.result().core, counts(n, 1));
    g.erase({{n - 1, 0}});
    g.insert({{turn, turn + 1}});
    EXPECT_EQ(bounded.result().core, counts(n, 1));
    // A vertex that hangs on the chain is found at once.
    g.erase({{0, 1}});
    EXPECT_EQ(bounded.result().core[0], 0u);
    EXPECT_FALSE(bounded.recomputed());
    g.insert({{0, 1}});
    EXPECT_EQ(bounded.result().core, counts(n, 1));
    EXPECT_FALSE(bounded.recomputed());
  }
}

TYPED_TEST_P(incremental_core_numbers_test, of_random_changes) {
  std::size_t const steps = this->sized(500, 60);
  for (bool const loops : {false, true}) {
    typename TestFixture::followed_cores f(this->one_thread(), this->sized(60, 40), loops, loops ? 11 : 12);
    std::size_t full_runs = 0;
    for (std::size_t i = 0; i < steps; ++i) {
      SCOPED_TRACE("step " + std::to_string(i));
      ASSERT_NO_FATAL_FAILURE(f.step());
      ASSERT_NO_FATAL_FAILURE(f.check());
      full_runs += f.results[1]->recomputed() ? 1u : 0u;
    }
    EXPECT_GT(full_runs, 0u);
    EXPECT_LT(full_runs, steps);
  }
}

// Larger graphs with hubs, and batches that change a part of the graph.
TYPED_TEST_P(incremental_core_numbers_test, of_skewed_graphs) {
  auto const log2 = std::string(TypeParam::name) == "simt" ? 9u : 11u;
  auto const all = this->skewed(log2);
  auto g = this->make(std::size_t{1} << log2, all);
  auto const never = this->attached(g);
  auto const sometimes = this->attached(g, 0.25);
  std::mt19937 random(seeded(14));
  for (std::size_t const size : {1u, 1u, 10u, 100u, 1000u}) {
    auto batch = random_edges(random, g.vertices(), size);
    for (std::size_t i = 0; i < size; ++i) batch.push_back(all[random() % all.size()]);
    for (bool const erases_first : {true, false}) {
      std::vector<graph::operation> what(batch.size());
      for (std::size_t i = 0; i < what.size(); ++i)
        what[i] = (i < size) == erases_first ? graph::operation::erase : graph::operation::insert;
      g.apply(batch, what);
      ASSERT_NO_FATAL_FAILURE(this->expect_right(g, never));
      ASSERT_NO_FATAL_FAILURE(this->expect_right(g, sometimes));
    }
  }
  EXPECT_FALSE(never.recomputed());
}

// Names of vertices do not matter, nor vertices without edges; and the union of two graphs that share no vertex has the
// core numbers of both.
TYPED_TEST_P(incremental_core_numbers_test, are_independent_of_names) {
  std::mt19937 random(seeded(15));
  graph::vertex_id const n = 50;
  std::vector<graph::vertex_id> names(n);
  std::iota(names.begin(), names.end(), graph::vertex_id{0});
  std::shuffle(names.begin(), names.end(), random);
  auto const renamed = [&](std::vector<graph::edge> batch, graph::vertex_id first) {
    for (graph::edge& e : batch) e = {first + names[e.source], first + names[e.target]};
    return batch;
  };
  auto g = this->graph_of(n, {});
  auto both = this->graph_of(2 * n + std::size_t{7}, {});
  auto const cores = this->attached(g);
  auto const of_both = this->attached(both);
  for (unsigned step = 0; step < 12; ++step) {
    auto const batch = this->grouped_edges(random, n, 20);
    auto twice = renamed(batch, 0);
    auto const other = renamed(batch, n + 7);
    twice.insert(twice.end(), other.begin(), other.end());
    if (step % 3 == 2)
      g.erase(batch), both.erase(twice);
    else
      g.insert(batch), both.insert(twice);
    auto const got = cores.result();
    auto const got_both = of_both.result();
    ASSERT_EQ(got_both.degeneracy, got.degeneracy);
    for (graph::vertex_id v = 0; v < n; ++v) {
      ASSERT_EQ(got_both.core[names[v]], got.core[v]);
      ASSERT_EQ(got_both.core[n + 7 + names[v]], got.core[v]);
    }
    for (graph::vertex_id v = n; v < n + 7; ++v) ASSERT_EQ(got_both.core[v], 0u);
  }
}

TYPED_TEST_P(incremental_core_numbers_test, catch_up_and_move) {
  std::mt19937 random(seeded(17));
  std::size_t const n = 80;
  auto g = this->graph_of(n, this->grouped_edges(random, n, 200));
  auto cores = this->attached(g);
  auto const then = g.snapshot();
  g.detach(cores);
  g.insert(this->grouped_edges(random, n, 100));
  g.remove_vertices({3, 4});
  (void)g.add_vertices(5);
  graph::catch_up(g.space(), cores, then.view(), g.view());
  this->expect_right(g, cores);
  auto moved = std::move(cores);
  g.attach(moved);
  g.insert(this->grouped_edges(random, n, 10));
  this->expect_right(g, moved);
  g.detach(moved);
  graph::catch_up(g.space(), moved, g.view(), then.view());
  EXPECT_TRUE(moved.belongs_to(then.view()));
  EXPECT_EQ(moved.result().core.size(), n);
  graph::catch_up(g.space(), moved, then.view(), g.view());
  this->expect_right(g, moved);
}

TYPED_TEST_P(incremental_core_numbers_test, of_bad_arguments_and_empty_graphs) {
  using cores = typename TestFixture::result_type;
  auto const directed = this->make(3, {{0, 1}}, true);
  EXPECT_NE(refusal([&] { cores const c(directed.space(), directed.view()); }).find("directed"), std::string::npos);
  auto g = this->graph_of(0, {});
  for (double const share : {-0.1, static_cast<double>(NAN)})
    EXPECT_NE(refusal([&] { cores const c(g.space(), g.view(), {.full_run = share}); }).find("full_run"),
              std::string::npos);
  auto const none = this->attached(g);
  EXPECT_TRUE(none.result().core.empty());
  EXPECT_EQ(none.result().degeneracy, 0u);
  EXPECT_FALSE(none.recomputed());
  (void)g.add_vertices(3);
  g.insert({{0, 1}, {1, 2}, {2, 0}});
  EXPECT_EQ(none.result().core, (std::vector<std::uint32_t>{2, 2, 2}));
}

REGISTER_TYPED_TEST_SUITE_P(incremental_core_numbers_test, of_known_changes, of_cliques, of_hubs, of_chains,
                            of_random_changes, of_skewed_graphs, are_independent_of_names, catch_up_and_move,
                            of_bad_arguments_and_empty_graphs);

}  // namespace wyrm::tests
