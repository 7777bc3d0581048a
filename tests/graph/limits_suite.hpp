// SPDX-License-Identifier: Apache-2.0
// Tests limits of a graph, for any space and allocator: failure of any request for memory, hubs that cannot move,
// builds in slices, several pending updates, and moved graphs.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../../exec/injected_failure.hpp"
#include "../support/seed.hpp"
#include "graph_suite.hpp"

namespace wyrm::tests {

template <class Case>
class graph_limits : public dynamic_graph_test<Case> {};
TYPED_TEST_SUITE_P(graph_limits);

/// The code and the message of the error that f throws; nothing if it does not throw.
template <class F>
std::optional<std::pair<error_code, std::string>> error_of(F const& f) {
  try {
    f();
    return std::nullopt;
  } catch (error const& e) {
    return std::pair(e.code(), std::string(e.what()));
  }
}
template <class F>
void expect_refused(F const& f, char const* why) {
  auto const thrown = error_of(f);
  ASSERT_TRUE(thrown) << "nothing was thrown; expected: " << why;
  EXPECT_EQ(thrown->first, error_code::bad_argument);
  EXPECT_NE(thrown->second.find(why), std::string::npos) << thrown->second;
}

// Every vertex has a self-loop. The page of vertex 0, a hub, is allocated after all others, some of which are filled
// then. Every loop must be counted once, for each initial size of the pool.
TYPED_TEST_P(graph_limits, loops_are_counted_where_a_hub_waits_for_memory) {
  std::size_t const n = 8000;
  graph::csr rows{{0}, {}};
  for (graph::vertex_id v = 0; v < n; ++v) {
    if (v == 0)
      for (graph::vertex_id u = 0; u < n; ++u) rows.targets.push_back(u);
    else
      rows.targets.insert(rows.targets.end(), {0, v});
    rows.offsets.push_back(rows.targets.size());
  }
  for (std::size_t kib = 64; kib <= 384; kib += 64) {
    SCOPED_TRACE(std::to_string(kib) + " KiB");
    graph::options o{.self_loops = true};
    o.pool.pool_bytes = kib << 10;
    auto g = this->make(n, o);
    EXPECT_EQ(g.build(rows).inserted, 2 * n - 1);
    EXPECT_EQ(g.edges(), 2 * n - 1);
    EXPECT_EQ(damage(g), "");
    g.compact();
    EXPECT_EQ(damage(g), "");
  }
}

// Without memory for another page, which hubs usually get, edges are inserted into a page that has room. A batch for
// which another vertex has no room fails as a whole.
TYPED_TEST_P(graph_limits, a_hub_with_room_needs_no_memory) {
  std::size_t const n = 9000;
  for (bool const directed : {true, false}) {
    SCOPED_TRACE(directed ? "directed" : "undirected");
    graph::options const o{.directed = directed, .in_neighbours = false};
    auto g = this->make(n, o);
    graph_model model(n, directed, false);
    std::vector<graph::edge> star;
    for (graph::vertex_id v = 1; v <= 3000; ++v) star.push_back({0, 2 * v});
    for (graph::vertex_id v = 1; v < n; ++v) star.push_back({v, v % 2 == 0 ? 1u : 3u});  // leaves have pages with room
    expect_equal(g.insert(star), model.insert(star));
    g.fail_allocations_from(0);
    std::vector<graph::edge> some;
    for (graph::vertex_id v = 0; v < 500; ++v) some.push_back({0, 4 * v + 1});
    std::shuffle(some.begin(), some.end(), std::mt19937(seeded(3)));
    expect_equal(g.insert(some), model.insert(some));
    expect_equal(g.insert({{0, 7}, {0, 7}, {0, 9}}), model.insert(std::vector<graph::edge>{{0, 7}, {0, 7}, {0, 9}}));
    ASSERT_EQ(g.to_csr(), model.to_csr());
    ASSERT_EQ(damage(g), "");
    // The page has room for 4,096 neighbours. One batch is too large for it, the other needs a page for vertex 8.
    std::vector<graph::edge> too_many;
    for (graph::vertex_id v = 0; v < 1000; ++v) too_many.push_back({0, 8 * v + 3});
    std::vector<graph::edge> with_another{{0, 11}, {0, 15}};
    for (graph::vertex_id v = 20; v < 30; ++v) with_another.push_back({8, v});
    graph::csr const before = g.to_csr();
    for (auto const& batch : {too_many, with_another}) {
      auto const thrown = error_of([&] { g.insert(batch); });
      ASSERT_TRUE(thrown);
      EXPECT_EQ(thrown->first, error_code::out_of_memory);
      ASSERT_EQ(g.to_csr(), before);
      ASSERT_EQ(damage(g), "");
    }
    // As many edges as the page has room for.
    std::vector<graph::edge> fitting;
    for (graph::vertex_id v = 0; fitting.size() < 4096 - model.to_csr().offsets[1]; ++v)
      fitting.push_back({0, 8 * v + 3});
    expect_equal(g.insert(fitting), model.insert(fitting));
    ASSERT_EQ(g.to_csr(), model.to_csr());
    ASSERT_EQ(damage(g), "");
    g.fail_allocations_from(g.never);
    expect_equal(g.insert(too_many), model.insert(too_many));
    expect_equal(g.insert(with_another), model.insert(with_another));
    EXPECT_EQ(g.to_csr(), model.to_csr());
    EXPECT_EQ(damage(g), "");
  }
}

// An erasure without memory leaves a list in a page that is far too large for it. An insertion into that list must not
// be visible after another vertex of the batch got no page.
TYPED_TEST_P(graph_limits, lists_in_pages_that_are_too_large_are_restored) {
  for (graph::vertex_id const neighbours : {16u, 64u, 2000u})
    for (graph::vertex_id const stay : {1u, 2u, 3u, 20u}) {
      if (stay >= neighbours / 4) continue;
      SCOPED_TRACE(std::to_string(stay) + " of " + std::to_string(neighbours) + " neighbours stay");
      std::size_t const n = 3000;
      auto g = this->make(n, {.directed = true, .in_neighbours = false});
      graph_model model(n, true, false);
      std::vector<graph::edge> list;
      for (graph::vertex_id v = 0; v < neighbours; ++v) list.push_back({0, 10 + v});
      expect_equal(g.insert(list), model.insert(list));
      g.fail_allocations_from(0);
      std::vector<graph::edge> const gone(list.begin() + stay, list.end());
      expect_equal(g.erase(gone), model.erase(gone));
      for (std::uint64_t const fails_from : {1u, 2u, 3u}) {
        g.fail_allocations_from(fails_from);
        std::vector<graph::edge> batch{{0, 5}, {0, 2500}};
        for (graph::vertex_id v = 1; v < 9; ++v) batch.push_back({v, 20});
        auto const failed = error_of([&] { g.insert(batch); });
        ASSERT_TRUE(failed);
        EXPECT_EQ(failed->first, error_code::out_of_memory);
        ASSERT_EQ(g.to_csr(), model.to_csr());
        ASSERT_EQ(damage(g), "");
      }
      g.fail_allocations_from(g.never);
      std::vector<graph::edge> const more{{0, 5}, {0, 10}, {3, 1}};
      expect_equal(g.insert(more), model.insert(more));
      expect_equal(g.erase(more), model.erase(more));
      EXPECT_EQ(g.to_csr(), model.to_csr());
      EXPECT_EQ(damage(g), "");
    }
}

// For every n, the n-th request for memory fails in every operation of a graph: the operation throws, nothing changes,
// and the graph works afterwards.
TYPED_TEST_P(graph_limits, every_request_for_memory_may_fail) {
  using graph_type = typename TestFixture::graph_type;
  using space_type = typename TestFixture::space_type;
  std::size_t const n = 700;
  for (graph::options o : {graph::options{}, graph::options{.directed = true, .self_loops = true}}) {
    SCOPED_TRACE(o.directed ? "directed" : "undirected");
    o.pool.pool_bytes = std::size_t{64} << 10;
    std::mt19937 random(seeded(53));
    graph_model model(n, o.directed, o.self_loops);
    // Runs f with a failure of request 0, 1, ..., until no request fails.
    auto const fail_each = [&](char const* what, auto const& f, auto const& is_as_before) {
      unsigned failures = 0;
      for (bool done = false; !done && !testing::Test::HasFailure();) {
        auto const thrown = error_of([&] {
          exec::injected_failure const failure(failures);
          f();
          done = true;
        });
        if (done) break;
        EXPECT_EQ(thrown->first, error_code::out_of_memory) << what << ": " << thrown->second;
        is_as_before(failures++);
        ASSERT_LT(failures, 1000u) << what;
      }
      EXPECT_TRUE(failures > 0 || !exec::has_tiles<space_type>) << what << " requests no memory";
    };
    std::optional<graph_type> made;
    fail_each(
        "construction", [&] { made.emplace(this->make(n, o)); }, [](unsigned) {});
    graph_type& g = *made;
    auto const same = [&](unsigned k) {
      ASSERT_EQ(g.to_csr(), model.to_csr()) << "request " << k;
      ASSERT_EQ(damage(g), "") << "request " << k;
    };
    for (std::size_t const size : {200u, 2000u, 20000u}) {
      auto batch = random_edges(random, n, size);
      for (std::size_t i = 0; i < size / 2; ++i) batch[i].source = batch[i].source % 20;
      std::optional<graph::update_report> got;
      fail_each(
          "insert", [&] { got = g.insert(batch); }, same);
      expect_equal(*got, model.insert(batch));
      same(0);
      std::vector<graph::edge> const gone(batch.begin(), batch.begin() + static_cast<std::ptrdiff_t>(size / 2));
      g.compact();  // without scratch
      fail_each(
          "erase", [&] { got = g.erase(gone); }, same);
      expect_equal(*got, model.erase(gone));
      same(0);
    }
    fail_each(
        "compact", [&] { g.compact(); }, same);
    same(0);
    fail_each(
        "to_csr", [&] { (void)g.to_csr(); }, same);
    fail_each(
        "check", [&] { g.check(); }, same);
    graph::csr const rows = model.to_csr();
    std::optional<graph_type> other;
    auto const fresh = [&] {
      other.reset();
      other.emplace(this->make(n, o));
    };
    fresh();
    fail_each(
        "build", [&] { other->build(rows); },
        [&](unsigned k) {
          ASSERT_EQ(other->arcs(), 0u) << "request " << k;
          ASSERT_EQ(damage(*other), "") << "request " << k;
          fresh();  // a new graph without the buffers of the failed attempt
        });
    ASSERT_EQ(other->to_csr(), rows);
    ASSERT_EQ(damage(*other), "");
  }
}

// In-neighbours are inserted in slices: the graph is the same for any slice size, and scratch is proportional to a
// slice.
TYPED_TEST_P(graph_limits, in_neighbours_are_built_in_slices) {
  std::size_t const n = 500;
  std::mt19937 random(seeded(59));
  graph_model model(n, true, true);
  model.insert(random_edges(random, n, 20000));
  graph::csr const rows = model.to_csr();
  std::size_t const arcs = rows.targets.size();
  std::vector<std::size_t> scratch;
  for (std::size_t const slice : {std::size_t{0}, arcs, arcs - 1, std::size_t{1000}, std::size_t{1999}}) {
    auto g = this->make(n, {.directed = true, .self_loops = true});
    g.build_in_slices_of(slice);
    EXPECT_EQ(g.build(rows).inserted, arcs);
    ASSERT_EQ(g.to_csr(), rows);
    ASSERT_EQ(damage(g), "");  // in-neighbours are the mirror of out-neighbours
    scratch.push_back(g.memory().scratch);
    auto const more = random_edges(random, n, 300);
    graph_model changed = model;
    expect_equal(g.insert(more), changed.insert(more));
    ASSERT_EQ(g.to_csr(), changed.to_csr());
    ASSERT_EQ(damage(g), "");
  }
  EXPECT_LT(scratch[3] + 16 * arcs, scratch[1]) << "scratch is proportional to the arcs";
}

TYPED_TEST_P(graph_limits, one_update_is_pending_at_a_time) {
  using graph::edge;
  auto g = this->make(10);
  std::vector<edge> const first{{0, 1}, {1, 2}};
  std::vector<edge> const second{{2, 3}};
  {
    graph::pending_update pending = g.insert_async(first);
    expect_refused([&] { (void)g.insert_async(second); }, "is pending");
    expect_refused([&] { (void)g.erase(first); }, "is pending");
    expect_refused([&] { g.clear(); }, "is pending");
    expect_refused([&] { g.compact(); }, "is pending");
    expect_refused([&] { (void)g.build(graph::csr{{0}, {}}); }, "is pending");
    expect_refused([&] { (void)g.to_csr(); }, "is pending");
    expect_refused([&] { (void)g.view(); }, "is pending");
    EXPECT_EQ(g.edges(), 0u);
    expect_equal(pending.get(), {.requested = 2, .inserted = 2});
    expect_refused([&] { (void)pending.get(); }, "called before");
    expect_equal(g.insert_async(second).get(), {.requested = 1, .inserted = 1});
    expect_refused([&] { (void)pending.get(); }, "called before");
  }
  EXPECT_EQ(g.edges(), 3u);
  EXPECT_EQ(damage(g), "");
  std::vector<edge> const bad{{0, 10}};
  graph::pending_update refused = g.insert_async(bad);
  expect_refused([&] { (void)refused.get(); }, "edge 0 of the batch");
  expect_equal(g.erase(second), {.requested = 1, .erased = 1});  // no update is pending
  {
    graph::pending_update one = g.insert_async(second);
    graph::pending_update const other = std::move(one);
    expect_refused([&] { (void)one.get(); }, "moved from");  // NOLINT(bugprone-use-after-move)
  }
  EXPECT_EQ(g.edges(), 3u);
  std::optional<graph::pending_update> orphan;
  {
    auto gone = this->make(10);
    orphan.emplace(gone.insert_async(first));
  }
  expect_refused([&] { (void)orphan->get(); }, "was destroyed");
}

// Pages that a pending update has allocated and not used are freed with the graph; a leak checker detects failures.
TYPED_TEST_P(graph_limits, a_graph_is_destroyed_while_an_update_waits_for_memory) {
  std::size_t const n = 64;
  std::vector<graph::edge> first;
  std::vector<graph::edge> second;
  for (graph::vertex_id v = 0; v < n; ++v) {
    for (graph::vertex_id k = 1; k <= 4; ++k) first.push_back({v, (v + k) % 64});
    second.push_back({v, (v + 5) % 64});
  }
  for (std::uint64_t const fails_from : {std::uint64_t{0}, std::uint64_t{20}, std::uint64_t{63}})
    for (bool const assigned : {false, true}) {
      std::optional<graph::pending_update> pending;
      auto g = this->make(n, {.directed = true, .in_neighbours = false});
      g.insert(first);
      g.fail_allocations_from(fails_from);
      pending.emplace(g.insert_async(second));
      if (!assigned) continue;
      g = this->make(1);
      expect_refused([&] { (void)pending->get(); }, "was destroyed");
      EXPECT_EQ(damage(g), "");
    }
}

TYPED_TEST_P(graph_limits, graphs_are_moved_and_assigned) {
  using graph_type = typename TestFixture::graph_type;
  static_assert(std::is_nothrow_move_constructible_v<graph_type> && std::is_nothrow_move_assignable_v<graph_type>);
  using graph::edge;
  auto a = this->make(10, {.directed = true});
  a.insert({{0, 1}, {1, 2}});
  graph_type b(std::move(a));
  EXPECT_EQ(b.edges(), 2u);
  // NOLINTBEGIN(bugprone-use-after-move): the state of a moved graph
  EXPECT_EQ(a.vertices(), 0u);
  EXPECT_EQ(a.edges(), 0u);
  EXPECT_EQ(a.arcs(), 0u);
  EXPECT_EQ(a.view().vertices(), 0u);
  expect_refused([&] { a.insert({{0, 1}}); }, "moved from");
  expect_refused([&] { a.clear(); }, "moved from");
  expect_refused([&] { a.check(); }, "moved from");
  expect_refused([&] { (void)a.to_csr(); }, "moved from");
  expect_refused([&] { (void)a.memory(); }, "moved from");
  expect_refused([&] { (void)a.allocator(); }, "moved from");
  a = this->make(4);
  a.insert({{0, 3}});
  EXPECT_EQ(a.to_csr(), (graph::csr{{0, 1, 1, 1, 2}, {3, 0}}));
  EXPECT_EQ(damage(a), "");
  a = std::move(b);
  EXPECT_EQ(a.to_csr().targets, (std::vector<graph::vertex_id>{1, 2}));
  EXPECT_EQ(b.edges(), 0u);
  // NOLINTEND(bugprone-use-after-move)
  EXPECT_EQ(damage(a), "");
  std::vector<edge> const more{{2, 3}, {3, 4}};
  graph::pending_update pending = a.insert_async(more);
  graph_type c(std::move(a));
  expect_equal(pending.get(), {.requested = 2, .inserted = 2});
  EXPECT_EQ(c.edges(), 4u);
  EXPECT_EQ(damage(c), "");
  expect_equal(c.erase({{2, 3}}), {.requested = 1, .erased = 1});
}

// Each vertex that a batch changes needs a page, so that the number of allocations is known.
TYPED_TEST_P(graph_limits, the_last_allocation_may_fail) {
  graph::vertex_id const n = 40;
  std::vector<graph::edge> path;
  for (graph::vertex_id v = 0; v < 30; ++v) path.push_back({v, v + 1});
  struct row {
    graph::options o;
    std::uint64_t allocations;  // of an insertion
    std::uint64_t last;         // vertex with a page
  };
  for (row const& r :
       {row{{}, 31, 30}, row{{.directed = true}, 60, 30}, row{{.directed = true, .in_neighbours = false}, 30, 29}}) {
    SCOPED_TRACE(std::to_string(r.allocations) + " allocations");
    auto g = this->make(n, r.o);
    auto const expect_limit = [&](std::uint64_t least, auto const& change, char const* what) {
      g.fail_allocations_from(least - 1);
      auto const failed = error_of(change);
      ASSERT_TRUE(failed) << what;
      EXPECT_EQ(failed->first, error_code::out_of_memory) << what;
      EXPECT_EQ(damage(g), "") << what;
      g.fail_allocations_from(least);
      EXPECT_FALSE(error_of(change)) << what;
      EXPECT_EQ(g.edges(), 30u) << what;
      EXPECT_EQ(damage(g), "") << what;
      g.fail_allocations_from(decltype(g)::never);
    };
    expect_limit(
        r.allocations, [&] { g.insert(path); }, "insert");
    expect_limit(
        r.last + 1, [&] { g.compact(); }, "compact");
    graph::csr const rows = g.to_csr();
    g.clear();
    expect_limit(
        r.o.directed ? 30 : 31, [&] { g.build(rows); }, "build");
  }
}

// Long source groups of a sparse batch in the table of in-neighbours only: planned by a tile, ranked by several tiles,
// and too large for that.
TYPED_TEST_P(graph_limits, long_groups_of_the_second_table) {
  std::size_t const n = 6000;
  for (std::uint32_t const size : {5u, 33u, 1024u, 1025u}) {
    SCOPED_TRACE(std::to_string(size) + " arcs to vertex 0");
    auto g = this->make(n, {.directed = true});
    graph_model out(n, true, false);
    graph_model in(n, true, false);
    std::vector<graph::edge> batch;
    for (graph::vertex_id v = 1; v <= size; ++v) batch.push_back({v, 0});
    for (graph::vertex_id v = 1; v < 4500; ++v) batch.push_back({v + 1, v});
    batch.push_back(batch.front());
    std::shuffle(batch.begin(), batch.end(), std::mt19937(seeded(71)));
    auto const change = [&](bool inserts) {
      auto reverse = batch;
      for (graph::edge& e : reverse) std::swap(e.source, e.target);
      expect_equal(inserts ? g.insert(batch) : g.erase(batch), inserts ? out.insert(batch) : out.erase(batch));
      (void)(inserts ? in.insert(reverse) : in.erase(reverse));
      ASSERT_EQ(graph::detail::export_csr(g.space(), this->in_records(g), n), in.to_csr());
      ASSERT_EQ(damage(g), "");
    };
    change(true);
    batch.resize(batch.size() / 2);
    for (graph::vertex_id v = 1; v <= size; v += 2) batch.push_back({v, 0});
    change(false);
  }
}

// Batches that change hubs of both directions, whose pages are larger than those of other vertices, and many other
// vertices, without memory from some vertex on. In the larger graph, hubs whose pages have room are changed in place.
TYPED_TEST_P(graph_limits, a_failed_batch_of_hubs_changes_nothing) {
  graph::vertex_id const n = 2000;
  for (auto const& [directed, edges] : {std::pair(true, 3000u), {false, 3000u}, {true, 60000u}, {false, 60000u}}) {
    SCOPED_TRACE((directed ? "directed, " : "undirected, ") + std::to_string(edges));
    graph::options o{.directed = directed, .self_loops = true};
    o.pool.pool_bytes = std::size_t{2} << 20;
    auto g = this->make(n, o);
    graph_model model(n, directed, true);
    std::mt19937 random(seeded(83));
    auto first = random_edges(random, n, edges);
    auto batch = random_edges(random, n, 4000);
    for (graph::vertex_id v = 0; v < 1500; ++v) {
      first.push_back({v % 2, v});
      batch.push_back({1, v});
      batch.push_back({v + 400, 2});
    }
    expect_equal(g.insert(first), model.insert(first));
    graph::csr const before = g.to_csr();
    std::size_t const granted_before = granted(g);
    for (std::uint64_t const k : {0u, 9u, 1000u}) {
      g.fail_allocations_from(k);
      auto const failed = error_of([&] { (void)g.insert(batch); });
      ASSERT_TRUE(failed) << k;
      EXPECT_EQ(failed->first, error_code::out_of_memory) << failed->second;
      ASSERT_EQ(g.to_csr(), before) << k;
      ASSERT_EQ(damage(g), "") << k;
      EXPECT_EQ(g.arcs(), before.targets.size());
      if (TypeParam::reclaims) {
        EXPECT_EQ(granted(g), granted_before) << k;
      }
    }
    g.fail_allocations_from(decltype(g)::never);
    expect_equal(g.insert(batch), model.insert(batch));
    ASSERT_EQ(g.to_csr(), model.to_csr());
    ASSERT_EQ(damage(g), "");
    g.fail_allocations_from(0);
    expect_equal(g.erase(batch), model.erase(batch));
    ASSERT_EQ(g.to_csr(), model.to_csr());
    ASSERT_EQ(damage(g), "");
  }
}

TYPED_TEST_P(graph_limits, versions_count_changes) {
  auto g = this->make(5);
  auto const id = g.view().graph_id();
  EXPECT_NE(id, 0u);
  EXPECT_NE(this->make(5).view().graph_id(), id);
  std::uint64_t version = g.view().version();
  auto const expect_changes = [&](std::uint64_t n, char const* what) {
    version += n;
    EXPECT_EQ(g.view().version(), version) << what;
    EXPECT_EQ(g.view().graph_id(), id) << what;
  };
  g.clear();
  expect_changes(0, "clear() without edges");
  g.insert(std::span<graph::edge const>());
  expect_changes(0, "an empty batch");
  g.insert({{0, 1}});
  expect_changes(1, "insert()");
  expect_refused([&] { g.insert({{1, 2}, {0, 5}}); }, "edge 1 of the batch");
  expect_changes(0, "a refused batch");
  g.erase({{0, 1}, {2, 3}});
  expect_changes(1, "erase()");
  expect_refused([&] { g.build(graph::csr{{0, 1, 1, 1, 1, 1}, {1}}); }, "both directions");
  expect_changes(0, "a refused build()");
  g.build(graph::csr{{0, 1, 2, 2, 2, 2}, {1, 0}});
  expect_changes(1, "build()");
  g.compact();
  expect_changes(0, "compact()");
  g.clear();
  expect_changes(1, "clear()");
  auto other = std::move(g);
  EXPECT_EQ(other.view().graph_id(), id);
  EXPECT_EQ(other.view().version(), version);
  EXPECT_EQ(g.view().graph_id(), 0u);  // NOLINT(bugprone-use-after-move): the state of a moved graph
}

REGISTER_TYPED_TEST_SUITE_P(graph_limits, loops_are_counted_where_a_hub_waits_for_memory,
                            a_hub_with_room_needs_no_memory, lists_in_pages_that_are_too_large_are_restored,
                            every_request_for_memory_may_fail, in_neighbours_are_built_in_slices,
                            one_update_is_pending_at_a_time, graphs_are_moved_and_assigned,
                            a_graph_is_destroyed_while_an_update_waits_for_memory, the_last_allocation_may_fail,
                            long_groups_of_the_second_table, versions_count_changes,
                            a_failed_batch_of_hubs_changes_nothing);

}  // namespace wyrm::tests
