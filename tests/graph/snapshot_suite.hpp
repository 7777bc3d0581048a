// SPDX-License-Identifier: Apache-2.0
// Snapshots: each equals the model at its moment, whatever the graph does later, and all pages return.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../../exec/injected_failure.hpp"
#include "../../graph/dynamic_graph.hpp"
#include "../../graph/query/difference.hpp"
#include "../support/seed.hpp"
#include "../support/spaces.hpp"
#include "failures.hpp"
#include "graph_case.hpp"
#include "model.hpp"
#include "moment.hpp"

namespace wyrm::tests {

template <class S, template <class> class A, class V = graph::no_value>
struct snapshot_case {
  using space = S;
  using allocator = A<S>;
  using value = V;
  using graph_type = graph::dynamic_graph<S, A<S>, V>;
  static constexpr bool has_values = !std::is_same_v<V, graph::no_value>;
};

/// The sum of numbers.
template <class Value>
Value combined(Value const& old, Value const& added) {
  if constexpr (std::is_arithmetic_v<Value>)
    return old + added;
  else
    return added;
}

template <class Case>
class snapshots : public testing::Test {
 protected:
  using graph_type = typename Case::graph_type;
  using value = typename Case::value;
  using space_type = typename Case::space;
  using model_type = basic_model<value>;

  void SetUp() override {
    if (!available<space_type>()) GTEST_SKIP() << "there is no device for the space '" << space_type::name << "'";
  }
  graph_type make(std::size_t vertices, bool directed = false) {
    graph::options o{.directed = directed};
    o.pool = {.pool_bytes = std::size_t{1} << 20, .reserve_bytes = std::size_t{1} << 30, .checked = true};
    return graph_type(make_space<space_type>(), vertices, o);
  }
  static std::vector<value> values_for(std::mt19937& random, std::size_t n) {
    std::vector<value> values(Case::has_values ? n : 0);
    if constexpr (Case::has_values)
      for (value& v : values) v = static_cast<value>(random() % 7);
    return values;
  }
  /// An insertion or an erasure of random edges, in graph and model.
  static void change(graph_type& g, model_type& model, std::mt19937& random, std::size_t most, bool erases) {
    auto const batch = random_edges(random, g.vertices(), 1 + random() % most);
    auto const values = values_for(random, batch.size());
    if (erases)
      expect_equal(g.erase(batch), model.erase(batch));
    else
      insert(g, model, batch, values);
  }
  static void insert(graph_type& g, model_type& model, std::vector<graph::edge> const& batch,
                     std::vector<value> const& values) {
    if constexpr (Case::has_values)
      expect_equal(g.insert(batch, values), model.insert(batch, values));
    else
      expect_equal(g.insert(batch), model.insert(batch));
  }
  using moment = basic_moment<value>;
  static moment take(graph_type& g, model_type const& model) { return moment_of(g, model); }
  /// A change of any kind, in graph and model: edges are inserted, erased, both, or selected and erased, or vertices
  /// are added or removed.
  static void change_somehow(graph_type& g, model_type& model, std::mt19937& random) {
    auto const kind = random() % 16;
    if (kind == 0) {
      std::size_t const n = 1 + random() % 3;
      EXPECT_EQ(g.add_vertices(n), model.add_vertices(n));
      return;
    }
    if (kind == 1) {
      std::vector<graph::vertex_id> batch;
      for (std::size_t n = random() % 4; batch.size() < n;)
        batch.push_back(static_cast<graph::vertex_id>(random() % g.vertices()));
      expect_equal(g.remove_vertices(batch), model.remove_vertices(batch));
      return;
    }
    if (kind == 2) {
      sum_leaves const some{13, static_cast<graph::vertex_id>(random() % 13)};
      expect_equal(g.erase_if(some), model.erase(model.selected(some)));
      return;
    }
    auto batch = random_edges(random, g.vertices(), 1 + random() % 30);
    std::erase_if(
        batch, [&](graph::edge e) { return model.absent().contains(e.source) || model.absent().contains(e.target); });
    auto const values = values_for(random, batch.size());
    if (kind < 8) {
      insert(g, model, batch, values);
    } else if (kind < 12) {
      expect_equal(g.erase(batch), model.erase(batch));
    } else {
      std::vector<graph::operation> operations(batch.size());
      for (graph::operation& o : operations) o = random() % 2 == 0 ? graph::operation::erase : graph::operation::insert;
      auto const want = model.apply(batch, operations, values);
      if constexpr (Case::has_values)
        expect_equal(g.apply(batch, operations, values), want);
      else
        expect_equal(g.apply(batch, operations), want);
    }
  }
  static bool is_intact(space_type const& space, moment const& m) {
    std::string const wrong = unlike_its_moment(space, m);
    EXPECT_EQ(wrong, "");
    return wrong.empty();
  }
  /// Pages of ended snapshots return with the next change.
  static void expect_no_snapshots(graph_type& g) {
    g.erase({{0, 0}});
    EXPECT_EQ(damage(g), "");
    EXPECT_EQ(g.memory().snapshot_pages, 0u);
  }
};
TYPED_TEST_SUITE_P(snapshots);

// Up to 50 snapshots live at once, and end in any order.
TYPED_TEST_P(snapshots, each_equals_its_moment) {
  for (bool const directed : {false, true}) {
    graph::vertex_id const n = 700;
    std::size_t const rounds = scaled(300, 60);
    auto g = this->make(n, directed);
    auto model = typename snapshots<TypeParam>::model_type(n, directed, false);
    std::mt19937 random(seeded(directed));
    std::vector<typename snapshots<TypeParam>::moment> living;
    for (std::size_t round = 0; round < rounds; ++round) {
      bool const large = random() % 16 == 0;  // some vertices get more neighbours than a tile sorts, and are hubs
      this->change(g, model, random, large ? 6000 : 40, random() % 8 < (round / 64 % 2 == 0 ? 2u : 6u));
      if (random() % 3 == 0) living.push_back(this->take(g, model));
      if (living.size() > 50 || (!living.empty() && random() % 4 == 0)) {
        std::size_t const at = random() % living.size();
        ASSERT_TRUE(this->is_intact(g.space(), living[at])) << "round " << round;
        living.erase(living.begin() + static_cast<std::ptrdiff_t>(at));
      }
      if (round % 16 != 0) continue;
      ASSERT_EQ(g.to_csr(), model.to_csr()) << "round " << round;
      ASSERT_EQ(damage(g), "") << "round " << round;
      ASSERT_FALSE(testing::Test::HasFailure()) << "round " << round;
    }
    for (auto const& m : living) ASSERT_TRUE(this->is_intact(g.space(), m));
    living.clear();
    this->expect_no_snapshots(g);
    EXPECT_EQ(g.to_csr(), model.to_csr());
  }
}

// Updates of all kinds, each of which may take a snapshot or end one, so that about 50 live. At the end all pages
// return.
TYPED_TEST_P(snapshots, fifty_of_a_thousand_updates) {
  bool const directed = TypeParam::has_values;
  std::size_t const rounds = scaled(1000, 60);
  auto g = this->make(60, directed);
  auto model = typename snapshots<TypeParam>::model_type(60, directed, false);
  std::mt19937 random(seeded(50));
  std::vector<typename snapshots<TypeParam>::moment> living;
  std::size_t most = 0;
  std::size_t compared = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    this->change_somehow(g, model, random);
    if (living.empty() || random() % 8 < (living.size() < 50 ? 6u : 2u)) {
      living.push_back(this->take(g, model));
      most = std::max(most, living.size());
    } else {
      std::size_t const at = random() % living.size();
      ASSERT_TRUE(this->is_intact(g.space(), living[at]));
      living.erase(living.begin() + static_cast<std::ptrdiff_t>(at));
      ++compared;
    }
    if (round % 16 == 0) {
      ASSERT_EQ(g.to_csr(), model.to_csr());
      ASSERT_EQ(damage(g), "");
    }
    ASSERT_FALSE(testing::Test::HasFailure());
  }
  EXPECT_GE(most, std::min(rounds / 6, std::size_t{50}));
  for (auto const& m : living) ASSERT_TRUE(this->is_intact(g.space(), m));
  EXPECT_EQ(compared + living.size() + compared, rounds);
  living.clear();
  this->expect_no_snapshots(g);
  ASSERT_EQ(g.to_csr(), model.to_csr());
  // All memory that the allocator has granted is in pages of the graph, and without edges there are none. Pages with
  // values may have padding.
  using allocator = typename TypeParam::allocator;
  auto const in_pages = [&] { return g.memory().neighbours + g.memory().slack; };
  if constexpr (allocator::family.reclaims && allocator::family.resets && !TypeParam::has_values) {
    EXPECT_EQ(g.allocator().stats().granted, in_pages());
  }
  auto const all = model.selected([](graph::vertex_id, graph::vertex_id) { return true; });
  expect_equal(g.erase(all), model.erase(all));
  EXPECT_EQ(in_pages(), 0u);
  EXPECT_EQ(g.allocator().stats().granted, 0u);
}

// An update costs memory only for the vertices that it changes, and an unchanged graph shares all pages.
TYPED_TEST_P(snapshots, pages_are_shared_until_they_change) {
  auto g = this->make(1000);
  auto model = typename snapshots<TypeParam>::model_type(1000, false, false);
  std::mt19937 random(seeded(4));
  this->change(g, model, random, 20000, false);
  auto const first = this->take(g, model);
  auto const second = this->take(g, model);
  EXPECT_EQ(g.memory().snapshot_pages, 0u);
  EXPECT_GE(g.memory().snapshot_tables, 2 * 12 * 1000u);
  EXPECT_EQ(first.taken.view().graph_id(), g.view().graph_id());
  EXPECT_EQ(first.taken.view().version(), g.view().version());
  graph::csr const rows = g.to_csr();
  ASSERT_GT(rows.targets.size(), 0u);
  graph::vertex_id u = 0;
  while (rows.offsets[u + 1] == 0) ++u;
  graph::vertex_id const v = rows.targets[rows.offsets[u]];
  g.erase({{u, v}});
  auto const page = [&](graph::graph_view const& of, graph::vertex_id w) {
    return exec::read(g.space(), of.out_records() + w).page();
  };
  for (graph::vertex_id w = 0; w < 1000; ++w)
    EXPECT_EQ(page(g.view(), w) != page(first.taken.view(), w), w == u || w == v) << w;
  EXPECT_GT(g.memory().snapshot_pages, 0u);
  EXPECT_NE(first.taken.view().version(), g.view().version());
  EXPECT_THROW(g.compact(), error);
  EXPECT_TRUE(this->is_intact(g.space(), first));
  EXPECT_TRUE(this->is_intact(g.space(), second));
}

// Every allocation of every change fails, one after the other, while two snapshots exist. Pages are then replaced by
// all changes, also by erasures. The larger graph has a small pool, which grows.
TYPED_TEST_P(snapshots, failures_change_nothing) {
  using graph_type = typename TestFixture::graph_type;
  constexpr bool reclaims = TypeParam::allocator::family.reclaims;
  for (bool const directed : {false, true}) {
    SCOPED_TRACE(directed ? "directed" : "undirected");
    graph::vertex_id const n = exec::has_tiles<typename TypeParam::space> ? 16 : 50;
    auto g = this->make(n, directed);
    failures_beside_snapshots<graph_type> test(g, 3 * n, reclaims);
    test.run(failing::pages);
    test.run(failing::requests);
    test.run_compact();
    graph::options o{.directed = directed};
    o.pool = {.pool_bytes = std::size_t{64} << 10, .reserve_bytes = std::size_t{1} << 30, .checked = true};
    // A GPU commits at least 2 MiB.
    constexpr bool is_gpu = requires { TypeParam::space::device_count(); };
    std::size_t const edges = is_gpu ? 100'000 : 12'000;
    graph_type large(g.space(), edges / 40, o);
    std::size_t const committed = large.memory().pool_committed;
    failures_beside_snapshots<graph_type>(large, edges, reclaims).run(failing::requests);
    EXPECT_GT(large.memory().pool_committed, committed) << "no pool has grown";
  }
}

// Any request for memory of snapshot() fails.
TYPED_TEST_P(snapshots, one_that_fails_leaves_none) {
  auto g = this->make(300, true);
  auto model = typename snapshots<TypeParam>::model_type(300, true, false);
  std::mt19937 random(seeded(2));
  this->change(g, model, random, 900, false);
  for (std::uint64_t k = 1;; ++k) {
    std::optional<graph::snapshot> taken;
    bool failed = false;
    {
      exec::injected_failure const failing(k);
      try {
        taken = g.snapshot();
      } catch (error const& e) {
        ASSERT_EQ(e.code(), error_code::out_of_memory);
        failed = true;
      }
    }
    ASSERT_EQ(damage(g), "");
    if (!failed) break;
    ASSERT_LT(k, 10u);
    this->change(g, model, random, 50, k % 2 == 0);
    ASSERT_EQ(g.memory().snapshot_pages, 0u);
  }
}

TYPED_TEST_P(snapshots, outlive_their_graph) {
  using moment = typename snapshots<TypeParam>::moment;
  std::vector<moment> living;
  auto const space = make_space<typename TypeParam::space>();
  {
    auto g = this->make(200);
    auto model = typename snapshots<TypeParam>::model_type(200, false, false);
    std::mt19937 random(seeded(6));
    for (unsigned i = 0; i < 6; ++i) {
      this->change(g, model, random, 400, i % 3 == 2);
      living.push_back(this->take(g, model));
    }
    auto moved = std::move(g);
    this->change(moved, model, random, 100, true);
    living.erase(living.begin() + 2);
    living.push_back(this->take(moved, model));
    moved.clear();
    EXPECT_EQ(damage(moved), "");
    EXPECT_EQ(moved.arcs(), 0u);
  }
  for (moment const& m : living) EXPECT_TRUE(this->is_intact(space, m));
  living.erase(living.begin() + 1);
  for (moment const& m : living) EXPECT_TRUE(this->is_intact(space, m));
}

// The difference of two moments, applied to a graph that is as at the first one, makes it as at the second one; and it
// has no entry too many. With hubs, and with a moment that is the graph as it is now.
TYPED_TEST_P(snapshots, the_difference_leads_from_one_to_another) {
  using value = typename TypeParam::value;
  using model_type = typename snapshots<TypeParam>::model_type;
  for (bool const directed : {false, true}) {
    graph::vertex_id const n = 800;
    auto g = this->make(n, directed);
    model_type model(n, directed, false);
    std::mt19937 random(seeded(20));
    std::vector<graph::snapshot> moments;
    std::vector<model_type> models;
    for (unsigned i = 0; i < 5; ++i) {
      this->change(g, model, random, i % 2 == 0 ? 9000 : 30, i == 3);
      this->change(g, model, random, 40, true);
      if (i == 4) break;
      moments.push_back(g.snapshot());
      models.push_back(model);
    }
    models.push_back(model);
    for (std::size_t a = 0; a < models.size(); ++a)
      for (std::size_t b = 0; b < models.size(); ++b) {
        auto const view_of = [&](std::size_t k) { return k < moments.size() ? moments[k].view() : g.view(); };
        auto const found = graph::difference<value>(g.space(), view_of(a), view_of(b)).to_host();
        model_type from = models[a];
        from.set_combiner([](value const& old, value const& added) { return combined(old, added); });
        graph::update_report const r = from.apply(found.edges, found.operations, found.values);
        EXPECT_EQ(from.to_csr(), models[b].to_csr()) << a << " to " << b;
        EXPECT_TRUE(std::ranges::equal(from.values(), models[b].values(), model_type::same)) << a << " to " << b;
        // An edge with another value is erased and inserted.
        EXPECT_EQ(r.inserted + 2 * r.updated + r.erased, found.edges.size()) << a << " to " << b;
        EXPECT_EQ(r.duplicates, r.updated) << a << " to " << b;
        EXPECT_TRUE(a != b || found.edges.empty());
      }
    auto other = this->make(n, directed);
    EXPECT_THROW((void)graph::difference<value>(g.space(), g.view(), other.view()), error);
  }
}

// A build that fails while a snapshot lives frees its own pages only.
TYPED_TEST_P(snapshots, a_build_may_fail) {
  using value = typename TypeParam::value;
  auto g = this->make(300);
  auto model = typename snapshots<TypeParam>::model_type(300, false, false);
  std::mt19937 random(seeded(8));
  this->change(g, model, random, 3000, false);
  auto const old = this->take(g, model);
  std::vector<value> values;
  if constexpr (TypeParam::has_values) values = g.values();
  g.clear();
  graph::csr bad = old.rows;
  bad.offsets[100] = bad.targets.size() + 5;
  auto const build = [&](graph::csr const& rows) {
    if constexpr (TypeParam::has_values)
      g.build(rows, values);
    else
      g.build(rows);
  };
  EXPECT_THROW(build(bad), error);
  EXPECT_EQ(damage(g), "");
  g.fail_allocations_from(40);
  EXPECT_THROW(build(old.rows), error);
  g.fail_allocations_from(g.never);
  EXPECT_EQ(damage(g), "");
  EXPECT_EQ(g.allocator().stats().bad_frees, 0u);
  EXPECT_EQ(g.arcs(), 0u);
  build(old.rows);
  EXPECT_EQ(g.to_csr(), old.rows);
  EXPECT_EQ(damage(g), "");
  EXPECT_TRUE(this->is_intact(g.space(), old));
}

REGISTER_TYPED_TEST_SUITE_P(snapshots, a_build_may_fail, the_difference_leads_from_one_to_another,
                            each_equals_its_moment, fifty_of_a_thousand_updates, pages_are_shared_until_they_change,
                            failures_change_nothing, one_that_fails_leaves_none, outlive_their_graph);

/// One thread per vertex: a number that depends on all of its neighbours and their order.
struct hash_rows {
  graph::graph_view g;
  std::uint64_t* hashes;
  WYRM_HD void operator()(std::size_t v) const {
    std::uint64_t h = g.degree(static_cast<graph::vertex_id>(v));
    for (graph::vertex_id const u : g.neighbours(static_cast<graph::vertex_id>(v))) h = (h ^ u) * 0x9e3779b97f4a7c15;
    hashes[v] = h;
  }
};
/// Threads with a stream each read snapshots, while this thread changes the graph, takes snapshots and drops them, for
/// so many rounds, and for WYRM_TEST_SECONDS. A reader computes a number of each row and compares it with the model's.
template <class Space, class Allocator>
void read_while_updating(std::size_t rounds) {
  graph::vertex_id const n = 400;
  graph::dynamic_graph<Space, Allocator> g(make_space<Space>(), n, {.pool = {.checked = true}});
  graph_model model(n, false, false);
  struct moment {
    graph::snapshot taken;
    std::vector<std::uint64_t> hashes;
  };
  std::mutex mutex;
  std::deque<moment> latest;
  std::atomic<bool> ends = false;
  std::atomic<std::size_t> read = 0;
  std::atomic<std::size_t> wrong = 0;
  auto const reads = [&](unsigned number) {
    Space const own = make_space<Space>();
    exec::buffer<std::uint64_t, Space> hashes(own, n);
    std::mt19937 random(number);
    while (!ends) {
      std::optional<moment> m;
      {
        std::lock_guard const lock(mutex);
        if (!latest.empty()) m = latest[random() % latest.size()];
      }
      if (!m) {
        std::this_thread::yield();
        continue;
      }
      exec::for_each(own, n, hash_rows{m->taken.view(), hashes.data()});
      wrong += exec::copy_out(own, hashes.data(), n) != m->hashes;
      ++read;
    }
  };
  std::vector<std::thread> readers;
  for (unsigned i = 0; i < 2; ++i) readers.emplace_back(reads, i);
  std::mt19937 random(seeded(12));
  auto const end = std::chrono::steady_clock::now() + test_duration();
  for (std::size_t round = 0; round < rounds || read < 2 || std::chrono::steady_clock::now() < end; ++round) {
    auto const batch = random_edges(random, n, 1 + random() % 300);
    bool const erases = random() % 8 < (round / 16 % 2 == 0 ? 2u : 6u);
    expect_equal(erases ? g.erase(batch) : g.insert(batch), erases ? model.erase(batch) : model.insert(batch));
    graph::csr const rows = model.to_csr();
    moment m{g.snapshot(), {}};
    for (graph::vertex_id v = 0; v < n; ++v) {
      std::uint64_t h = rows.offsets[v + 1] - rows.offsets[v];
      for (std::uint64_t i = rows.offsets[v]; i < rows.offsets[v + 1]; ++i)
        h = (h ^ rows.targets[i]) * 0x9e3779b97f4a7c15;
      m.hashes.push_back(h);
    }
    std::lock_guard const lock(mutex);
    latest.push_back(std::move(m));
    if (latest.size() > 4) latest.erase(latest.begin() + static_cast<std::ptrdiff_t>(random() % latest.size()));
  }
  ends = true;
  for (std::thread& t : readers) t.join();
  EXPECT_EQ(wrong, 0u) << "of " << read << " reads";
  latest.clear();
  g.erase({{0, 0}});
  EXPECT_EQ(damage(g), "");
  EXPECT_EQ(g.memory().snapshot_pages, 0u);
  EXPECT_EQ(g.to_csr(), model.to_csr());
}

}  // namespace wyrm::tests
