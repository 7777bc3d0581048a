// SPDX-License-Identifier: Apache-2.0
// The tests of dynamic_graph and its updates, for any space and allocator: every guarantee of the container. The files
// that include this header instantiate them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "../support/corrupt.hpp"
#include "../support/seed.hpp"
#include "graph_case.hpp"

namespace wyrm::tests {

TYPED_TEST_SUITE_P(dynamic_graph_test);

TYPED_TEST_P(dynamic_graph_test, agrees_with_the_model_undirected) {
  auto g = this->make(60);
  churn(g, scaled(2000), 60, 80, 1);
}

TYPED_TEST_P(dynamic_graph_test, agrees_with_the_model_directed) {
  auto g = this->make(60, {.directed = true});
  churn(g, scaled(2000), 60, 80, 2);
}

TYPED_TEST_P(dynamic_graph_test, agrees_with_the_model_with_self_loops) {
  auto undirected = this->make(20, {.self_loops = true});
  churn(undirected, scaled(500), 20, 60, 3);
  auto directed = this->make(20, {.directed = true, .in_neighbours = false, .self_loops = true});
  churn(directed, scaled(500), 20, 60, 4);
}

TYPED_TEST_P(dynamic_graph_test, agrees_with_the_model_large_batches) {
  auto g = this->make(3000);
  churn(g, scaled(60), 3000, 20000, 5);
}

// Few edges for many vertices, so that sources are counted in a hash table.
TYPED_TEST_P(dynamic_graph_test, agrees_with_the_model_small_batches) {
  auto undirected = this->make(5000);
  churn(undirected, scaled(400), 5000, 40, 6);
  auto directed = this->make(5000, {.directed = true});
  churn(directed, scaled(400), 5000, 40, 7);
  std::size_t const many = 600000;
  auto sparse = this->make(many);
  churn(sparse, 3, many, 35000, 8);
}

// Source groups that a tile sorts, that several tiles rank, and that are too large for both. Their vertices become hubs
// and stop to be hubs; in a directed graph also in the table of in-neighbours only.
TYPED_TEST_P(dynamic_graph_test, agrees_with_the_model_few_sources) {
  std::size_t const n = 4000;
  for (auto const& [directed, few_targets] : {std::pair(false, false), {true, false}, {true, true}}) {
    auto g = this->make(n, {.directed = directed});
    graph_model model(n, directed, false);
    std::mt19937 random(seeded(19));
    for (std::size_t const size : {100u, 2000u, 8000u, 40u, 20000u, 3000u, 7000u, 1u, 4500u, 12000u}) {
      if (size > scaled(400000, 8000)) continue;
      auto batch = random_edges(random, n, size);
      auto const sources = static_cast<graph::vertex_id>(1 + random() % 30);
      for (graph::edge& e : batch) (few_targets ? e.target : e.source) %= sources;
      expect_equal(g.insert(batch), model.insert(batch));
      ASSERT_EQ(g.to_csr(), model.to_csr()) << size << " edges inserted";
      ASSERT_EQ(damage(g), "") << size << " edges inserted";
      for (graph::edge& e : batch)
        if (random() % 4 == 0) (few_targets ? e.source : e.target) = static_cast<graph::vertex_id>(random() % n);
      expect_equal(g.erase(batch), model.erase(batch));
      ASSERT_EQ(g.to_csr(), model.to_csr()) << size << " edges erased";
      ASSERT_EQ(damage(g), "") << size << " edges erased";
      batch.resize(batch.size() * 3 / 4);
      expect_equal(g.insert(batch), model.insert(batch));
    }
  }
}

// Source groups at the limits between the ways in which a sparse batch is planned: by a lane, by a tile, ranked by
// several tiles, and too large for that; on a CPU in a register, sorted in registers, sorted by radix, and too large.
TYPED_TEST_P(dynamic_graph_test, agrees_with_the_model_source_groups_at_limits) {
  std::size_t const n = 30000;
  for (std::uint32_t const size : {4u, 5u, 16u, 17u, 31u, 32u, 33u, 96u, 97u, 1023u, 1024u, 1025u, 16384u, 16385u}) {
    SCOPED_TRACE(std::to_string(size) + " arcs of vertex 0");
    auto g = this->make(n, {.directed = true, .in_neighbours = false});
    graph_model model(n, true, false);
    for (std::uint32_t const first : {1u, size / 2}) {  // the second batch has half of the neighbours already
      std::vector<graph::edge> batch;
      for (graph::vertex_id v = first; v < first + size; ++v) batch.push_back({0, v});
      for (graph::vertex_id v = 1; v < 5000; ++v) batch.push_back({v, v + first});
      std::shuffle(batch.begin(), batch.end(), std::mt19937(seeded(61)));
      expect_equal(g.insert(batch), model.insert(batch));
      ASSERT_EQ(g.to_csr(), model.to_csr());
      ASSERT_EQ(damage(g), "");
    }
  }
}

// Batches of two arcs per vertex up to an eighth of the arcs of the graph, in which one block changes the lists of hubs
// in place. The four hubs have 2,300 to 5,900 neighbours.
TYPED_TEST_P(dynamic_graph_test, agrees_with_the_model_long_lists_in_large_batches) {
  std::size_t const n = 6000;
  for (bool const directed : {false, true}) {
    auto g = this->make(n, {.directed = directed});
    graph_model model(n, directed, false);
    std::mt19937 random(seeded(23));
    auto const batch_of = [&](std::size_t per_vertex, unsigned of_hubs) {
      auto batch = random_edges(random, n, directed ? n * per_vertex : n * per_vertex / 2);
      for (graph::vertex_id hub = 0; hub < 4; ++hub)
        for (unsigned i = 0; i < of_hubs * (1 + 4 * hub); ++i)
          batch.push_back({hub, static_cast<graph::vertex_id>(random() % n)});
      return batch;
    };
    auto batch = batch_of(30, 600);
    expect_equal(g.insert(batch), model.insert(batch));
    for (unsigned round = 0; round < 5; ++round) {
      batch = batch_of(2, 60);
      expect_equal(g.insert(batch), model.insert(batch));
      ASSERT_EQ(g.to_csr(), model.to_csr()) << "inserted, round " << round;
      ASSERT_EQ(damage(g), "");
      batch = batch_of(2, 100);
      expect_equal(g.erase(batch), model.erase(batch));
      ASSERT_EQ(g.to_csr(), model.to_csr()) << "erased, round " << round;
      ASSERT_EQ(damage(g), "");
    }
  }
}

// Such a batch does not move hubs whose pages have room, so it needs no second pages for them.
TYPED_TEST_P(dynamic_graph_test, a_large_batch_changes_hubs_in_place) {
  std::size_t const n = 2000;
  auto g = this->make(n, {.directed = true, .in_neighbours = false});
  std::mt19937 random(seeded(31));
  auto batch = random_edges(random, n, 40 * n);
  for (graph::vertex_id hub = 0; hub < 5; ++hub)
    for (graph::vertex_id v = 0; v < 1200 + 150 * hub; ++v) batch.push_back({hub, 100 + v});
  (void)g.insert(batch);
  auto const pages = [&] {
    std::vector<void const*> of;
    for (graph::vertex_id hub = 0; hub < 5; ++hub)
      of.push_back(exec::read(g.space(), g.view().out_records() + hub).page());
    return of;
  };
  auto const before = pages();
  batch = random_edges(random, n, 2 * n);
  for (graph::vertex_id hub = 0; hub < 5; ++hub) batch.push_back({hub, 7 + hub});
  (void)g.insert(batch);
  EXPECT_EQ(pages(), before);
  (void)g.erase(batch);
  EXPECT_EQ(pages(), before);
  EXPECT_EQ(damage(g), "");
}

// Without memory for another page, a hub shrinks in its page.
TYPED_TEST_P(dynamic_graph_test, a_hub_without_memory) {
  std::size_t const n = 3000;
  auto g = this->make(n, {.directed = true, .in_neighbours = false});
  graph_model model(n, true, false);
  std::vector<graph::edge> all;
  for (graph::vertex_id v = 1; v < n; ++v) all.push_back({0, v});
  expect_equal(g.insert(all), model.insert(all));
  g.fail_allocations_from(0);
  std::mt19937 random(seeded(29));
  for (int round = 0; round < 6; ++round) {
    auto some = random_edges(random, n, 400);
    for (graph::edge& e : some) e.source = 0;
    expect_equal(g.erase(some), model.erase(some));
    ASSERT_EQ(g.to_csr(), model.to_csr());
  }
  expect_equal(g.erase(all), model.erase(all));
  EXPECT_EQ(g.arcs(), 0u);
  EXPECT_EQ(damage(g), "");
}

// Edges in memory of the space, and batches from the host that are uploaded in slices.
TYPED_TEST_P(dynamic_graph_test, edges_in_device_memory_or_in_slices) {
  std::size_t const n = 20000;  // so that few edges are drawn twice
  std::mt19937 random(seeded(31));
  bool const in_slices = TestFixture::space_type::upload::is_concurrent;
  std::size_t const large = in_slices ? (std::size_t{2} << 20) + 100 : 50000;
  std::vector<graph::edge> const batch = random_edges(random, n, in_slices ? large : scaled(large, 1000));
  graph_model model(n, false, false);
  graph::update_report const inserted = model.insert(batch);
  graph::update_report const erased = model.erase(batch);
  auto g = this->make(n);
  exec::buffer<graph::edge, typename TestFixture::space_type> there(g.space(), batch.size());
  exec::copy_in<graph::edge>(g.space(), there.data(), batch);
  graph::resident_edges const resident(there.data(), batch.size());
  expect_equal(g.insert(resident), inserted);
  expect_equal(g.erase(batch), erased);
  expect_equal(g.insert(batch), inserted);
  expect_equal(g.erase(resident), erased);
  EXPECT_EQ(g.arcs(), 0u);
  expect_equal(g.insert(graph::resident_edges(nullptr, 0)), {});
}

// Asynchronous updates; also if the pool has to grow, an id is out of range, or get() is not called.
TYPED_TEST_P(dynamic_graph_test, updates_may_be_finished_later) {
  std::size_t const n = 2000;
  graph::options o;
  o.pool.pool_bytes = std::size_t{64} << 10;
  auto g = this->make(n, o);
  graph_model model(n, false, false);
  std::mt19937 random(seeded(47));
  auto const batch = random_edges(random, n, 30000);
  graph::pending_update inserting = g.insert_async(batch);
  expect_equal(inserting.get(), model.insert(batch));
  ASSERT_EQ(g.to_csr(), model.to_csr());
  std::vector<graph::edge> const some(batch.begin(), batch.begin() + 1000);
  (void)g.erase_async(some);
  model.erase(some);
  EXPECT_EQ(g.to_csr(), model.to_csr());
  EXPECT_EQ(g.arcs(), model.to_csr().targets.size());
  std::vector<graph::edge> const bad{{1, 2}, {3, static_cast<graph::vertex_id>(n)}};
  graph::pending_update refused = g.insert_async(bad);
  EXPECT_THROW(refused.get(), error);
  EXPECT_EQ(g.insert_async(std::span<graph::edge const>()).get().requested, 0u);
  EXPECT_EQ(g.to_csr(), model.to_csr());
  EXPECT_EQ(damage(g), "");
}

TYPED_TEST_P(dynamic_graph_test, keeps_in_neighbours) {
  using graph::edge;
  auto g = this->make(4, {.directed = true});
  g.insert(std::vector<edge>{{0, 1}, {2, 1}, {3, 1}, {1, 0}});
  g.erase(std::vector<edge>{{2, 1}});
  auto const in = graph::detail::export_csr(g.space(), this->in_records(g), 4);
  EXPECT_EQ(in, (graph::csr{{0, 1, 3, 3, 3}, {1, 0, 3}}));
  EXPECT_EQ(g.edges(), 3u);
}

TYPED_TEST_P(dynamic_graph_test, empty_and_trivial) {
  using graph::edge;
  auto none = this->make(0);
  expect_equal(none.insert({}), {});
  EXPECT_EQ(none.to_csr(), (graph::csr{{0}, {}}));
  EXPECT_THROW(none.insert(std::vector<edge>{{0, 0}}), error);

  auto one = this->make(1);
  expect_equal(one.insert(std::vector<edge>{{0, 0}}), {.requested = 1, .self_loops = 1});
  EXPECT_EQ(one.to_csr(), (graph::csr{{0, 0}, {}}));

  auto two = this->make(2);
  expect_equal(two.insert(std::vector<edge>{{1, 0}}), {.requested = 1, .inserted = 1});
  EXPECT_EQ(two.to_csr(), (graph::csr{{0, 1, 2}, {1, 0}}));
  EXPECT_EQ(two.edges(), 1u);
  EXPECT_EQ(two.arcs(), 2u);
  two.clear();
  EXPECT_EQ(two.arcs(), 0u);
  EXPECT_EQ(two.to_csr(), (graph::csr{{0, 0, 0}, {}}));
  EXPECT_EQ(damage(two), "");
}

// A star whose centre has 100,000 neighbours, inserted and erased in parts.
TYPED_TEST_P(dynamic_graph_test, a_hub) {
  std::size_t const leaves = scaled(100000);
  auto g = this->make(leaves + 1);
  std::vector<graph::edge> star(leaves);
  for (graph::vertex_id i = 0; i < leaves; ++i) star[i] = i % 2 ? graph::edge{0, i + 1} : graph::edge{i + 1, 0};
  std::shuffle(star.begin(), star.end(), std::mt19937(seeded(7)));
  for (std::size_t part = 0; part < 4; ++part) {
    std::span const slice(star.begin() + static_cast<std::ptrdiff_t>(leaves * part / 4),
                          star.begin() + static_cast<std::ptrdiff_t>(leaves * (part + 1) / 4));
    expect_equal(g.insert(slice), {.requested = slice.size(), .inserted = slice.size()});
  }
  ASSERT_EQ(damage(g), "");
  graph::csr const c = g.to_csr();
  std::vector<graph::vertex_id> all(leaves);
  std::iota(all.begin(), all.end(), 1u);
  EXPECT_TRUE(std::equal(all.begin(), all.end(), c.targets.begin()));
  EXPECT_EQ(c.offsets[1], leaves);

  // All leaves but every tenth are erased; the page of the centre shrinks.
  std::vector<graph::edge> some;
  for (graph::vertex_id i = 1; i <= leaves; ++i)
    if (i % 10 != 0) some.push_back({i, 0});
  expect_equal(g.erase(some), {.requested = some.size(), .erased = some.size()});
  EXPECT_EQ(g.to_csr().offsets[1], leaves / 10);
  EXPECT_EQ(damage(g), "");
  EXPECT_LE(g.memory().slack, std::size_t{64} << 10 | leaves * 16);
  expect_equal(g.erase(star), {.requested = leaves, .erased = leaves / 10, .missing = leaves - leaves / 10});
  EXPECT_EQ(g.memory().neighbours + g.memory().slack, 0u);
  EXPECT_EQ(damage(g), "");
}

TYPED_TEST_P(dynamic_graph_test, insert_then_erase_restores_it) {
  std::size_t const n = 500;
  auto g = this->make(n);
  std::mt19937 random(seeded(11));
  auto const start = random_edges(random, n, 3000);
  g.insert(start);
  graph::csr const before = g.to_csr();
  auto const there = [&](graph::edge e) {
    auto const row = before.targets.begin();
    return std::binary_search(row + static_cast<std::ptrdiff_t>(before.offsets[e.source]),
                              row + static_cast<std::ptrdiff_t>(before.offsets[e.source + 1]), e.target);
  };
  for (int round = 0; round < 5; ++round) {
    auto const batch = random_edges(random, n, 5000);
    std::vector<graph::edge> fresh;
    std::copy_if(batch.begin(), batch.end(), std::back_inserter(fresh), [&](graph::edge e) { return !there(e); });
    g.insert(batch);
    EXPECT_NE(g.to_csr(), before);
    g.erase(fresh);
    ASSERT_EQ(g.to_csr(), before);
    ASSERT_EQ(damage(g), "");
  }
}

TYPED_TEST_P(dynamic_graph_test, an_id_out_of_range_changes_nothing) {
  using graph::edge;
  for (bool const directed : {false, true}) {
    auto g = this->make(10, {.directed = directed});
    g.insert(std::vector<edge>{{0, 1}, {2, 3}});
    graph::csr const before = g.to_csr();
    std::vector<edge> const bad{{4, 5}, {6, 7}, {3, 10}, {0xffffffff, 1}};
    for (int erase = 0; erase < 2; ++erase) {
      try {
        (void)(erase ? g.erase(bad) : g.insert(bad));
        FAIL() << "no error";
      } catch (error const& e) {
        EXPECT_EQ(e.code(), error_code::bad_argument);
        EXPECT_NE(
            std::string(e.what()).find("edge 2 of the batch is (3, 10), but the graph has only 10 vertices (2 such "
                                       "edges in all); nothing was changed"),
            std::string::npos)
            << e.what();
      }
      EXPECT_EQ(g.to_csr(), before);
      EXPECT_EQ(damage(g), "");
    }
    expect_equal(g.insert(std::vector<edge>{{4, 5}}), {.requested = 1, .inserted = 1});
  }
}

// The pool cannot grow enough: the whole batch fails, in whichever step, and the graph works afterwards.
TYPED_TEST_P(dynamic_graph_test, out_of_memory_changes_nothing) {
  for (bool const directed : {false, true}) {
    std::size_t const n = 4000;
    graph::options o{.directed = directed};
    std::size_t const reserve = scaled(std::size_t{4} << 20, std::size_t{2} << 20);  // a GPU commits steps of 2 MiB
    o.pool.pool_bytes = reserve / 2;
    o.pool.reserve_bytes = reserve;
    auto g = this->make(n, o);
    std::mt19937 random(seeded(13));
    g.insert(random_edges(random, n, 5000));
    graph::csr const before = g.to_csr();
    std::size_t const used = g.memory().neighbours + g.memory().slack;
    auto const too_much = random_edges(random, n, reserve / 4);
    try {
      g.insert(too_much);
      FAIL() << "the batch fits";
    } catch (error const& e) {
      EXPECT_EQ(e.code(), error_code::out_of_memory);
      EXPECT_NE(std::string(e.what()).find("nothing was changed"), std::string::npos) << e.what();
    }
    ASSERT_EQ(g.to_csr(), before);
    ASSERT_EQ(damage(g), "");
    EXPECT_EQ(g.memory().neighbours + g.memory().slack, used);
    auto const little = random_edges(random, n, 100);
    graph_model model(n, directed, false);
    model.insert(this->edges_of(before));
    expect_equal(g.insert(little), model.insert(little));
    ASSERT_EQ(g.to_csr(), model.to_csr());
  }
}

TYPED_TEST_P(dynamic_graph_test, every_allocation_may_fail) {
  for (bool const directed : {false, true}) {
    SCOPED_TRACE(directed ? "directed" : "undirected");
    auto g = this->make(scaled(30, 20), {.directed = directed});
    expect_failures_change_nothing(g, TypeParam::reclaims);
  }
}

// No memory leaks: the bytes of all pages are the bytes that the allocator has granted, and all are freed at the end.
TYPED_TEST_P(dynamic_graph_test, memory_adds_up) {
  std::size_t const n = 1000;
  auto g = this->make(n);
  std::mt19937 random(seeded(17));
  for (std::size_t round = 0; round < 10; ++round) {
    g.insert(random_edges(random, n, 4000));
    auto gone = this->edges_of(g.to_csr());
    std::shuffle(gone.begin(), gone.end(), random);
    gone.resize(gone.size() * round / 10);  // first few, then so many that pages are replaced by smaller ones
    g.erase(gone);
    graph::memory_report const m = g.memory();
    EXPECT_EQ(m.neighbours, g.arcs() * 4);
    EXPECT_EQ(m.neighbours + m.slack + m.pool_free, m.pool_committed);
    EXPECT_EQ(m.vertex_table, n * 12);
    EXPECT_LE(m.pool_committed, m.pool_reserved);
    if (TypeParam::reclaims) {
      EXPECT_GE(g.allocator().stats().granted, m.neighbours + m.slack);
    }
    if (TypeParam::counts_only_pages) {
      EXPECT_EQ(g.allocator().stats().granted, m.neighbours + m.slack);  // nothing is lost
    }
  }
  g.clear();
  EXPECT_EQ(g.arcs(), 0u);
  EXPECT_EQ(g.memory().neighbours + g.memory().slack, 0u);
  if (TypeParam::reclaims) {
    EXPECT_EQ(g.allocator().stats().granted, 0u);
  }
  EXPECT_EQ(g.allocator().stats().bad_frees, 0u);
}

/// Allocates memory of a graph's pool that belongs to no vertex.
template <class View>
struct take_page {
  View pool;
  WYRM_HD void operator()(std::size_t) const { (void)pool.malloc(16); }
};

/// Writes a neighbour in a page. On the device, because copies from the host do not reach the pages of all allocators.
struct write_neighbour {
  graph::vertex_id* page;
  std::uint32_t index;
  graph::vertex_id value;
  WYRM_HD void operator()(std::size_t) const { page[index] = value; }
};
template <class Graph>
void put_neighbour(Graph const& g, graph::packed_record const& record, std::uint32_t index, graph::vertex_id value) {
  exec::for_each(g.space(), 1, write_neighbour{record.page(), index, value});
}

template <class Graph>
requires requires(Graph const& g) { g.check(); }
void expect_corrupt(Graph const& g, std::string const& what) {
  expect_corrupt(what, [&] { g.check(); });
}

// Pages that belong to two vertices, that are smaller than the capacity of a vertex, or that belong to no vertex.
TYPED_TEST_P(dynamic_graph_test, damaged_pages_are_found) {
  for (bool const directed : {false, true}) {
    auto g = this->make(10, {.directed = directed});
    g.insert({{5, 6}, {6, 7}});
    g.check();
    // Both vertices have neighbour 6 only, so the contents of pages do not show the damage.
    auto* const in = const_cast<graph::packed_record*>(this->in_records(g)) + 7;
    graph::packed_record const good = exec::read(g.space(), in);
    graph::vertex_record const other = exec::read(g.space(), g.view().out_records() + 5);
    exec::write(g.space(), in, graph::packed_record(other));
    expect_corrupt(g, "1 pages reach into another");

    exec::write(g.space(), in, graph::packed_record({good.page(), 1, 4096}));
    expect_corrupt(g, "the graph is damaged: ");
    if (TypeParam::counts_only_pages) {
      exec::write(g.space(), in, graph::packed_record({good.page(), 1, 8}));
      expect_corrupt(g, "the graph is damaged: ");
    }
    exec::write(g.space(), in, good);
    g.check();

    if (!TypeParam::counts_only_pages) continue;
    using view = decltype(g.allocator().view());
    exec::for_each(g.space(), 1, take_page<view>{g.allocator().view()});
    expect_corrupt(g, "16 bytes of the pool are lost");
    g.clear();
    g.check();
    g.insert({{5, 6}});
    g.check();
  }
}

// The same page for two vertices, for each vertex, so that the two are at any position among all pages.
TYPED_TEST_P(dynamic_graph_test, a_page_of_two_vertices_is_found) {
  graph::vertex_id const n = 70;
  auto g = this->make(n, {.directed = true, .in_neighbours = false});
  std::vector<graph::edge> ring;
  for (graph::vertex_id v = 0; v < n; ++v) ring.push_back({v, (v + 1) % n});
  g.insert(ring);
  auto* const records = const_cast<graph::packed_record*>(g.view().out_records());
  for (graph::vertex_id v = 0; v < n; ++v) {
    graph::packed_record const good = exec::read(g.space(), records + v);
    exec::write(g.space(), records + v, exec::read(g.space(), records + (v + 1) % n));
    expect_corrupt(g, "1 pages reach into another");
    exec::write(g.space(), records + v, good);
  }
  g.check();
}

/// The message of check() for these numbers of faults.
inline std::string faults(int pages, int order, int range, int self_loops, int unmirrored) {
  return "the graph is damaged: " + std::to_string(pages) + " vertices with a wrong page, " + std::to_string(order) +
         " neighbours out of order, " + std::to_string(range) + " out of range, " + std::to_string(self_loops) +
         " self-loops, " + std::to_string(unmirrored) + " arcs without their reverse";
}

TYPED_TEST_P(dynamic_graph_test, damaged_neighbours_are_found) {
  using graph::vertex_id;
  auto g = this->make(40, {.directed = true, .in_neighbours = false});
  std::vector<graph::edge> row;
  for (vertex_id v = 1; v <= 20; ++v) row.push_back({3, v + 3});  // neighbour i is i + 4
  g.insert(row);
  auto* const record = const_cast<graph::packed_record*>(g.view().out_records()) + 3;
  graph::packed_record const good = exec::read(g.space(), record);
  auto const put = [&](std::uint32_t i, vertex_id v) { put_neighbour(g, good, i, v); };
  for (std::uint32_t const i : {1u, 7u, 8u, 9u, 15u, 16u, 17u, 19u}) {
    SCOPED_TRACE("neighbour " + std::to_string(i));
    put(i, i + 3);  // the neighbour before it, once more
    expect_corrupt(g, faults(0, 1, 0, 0, 0));
    put(i, 0);
    expect_corrupt(g, faults(0, 1, 0, 0, 0));
    put(i, i + 4);
  }
  put(0, 3);
  expect_corrupt(g, faults(0, 0, 0, 1, 0));
  put(0, 4);
  put(19, 40);
  expect_corrupt(g, faults(0, 0, 1, 0, 0));
  put(19, 39);
  g.check();
  for (graph::vertex_record const& bad :
       {graph::vertex_record{good.page(), 33, 32}, {good.page(), 0, 32}, {nullptr, 20, 32}, {nullptr, 0, 32}}) {
    exec::write(g.space(), record, graph::packed_record(bad));
    expect_corrupt(g, faults(1, 0, 0, 0, 0));
  }
  if (TypeParam::counts_only_pages) {
    exec::write(g.space(), record, graph::packed_record({good.page(), 20, 64}));
    expect_corrupt(g, "its pages have 256 bytes, more than the 128 that the pool granted");
    exec::write(g.space(), record, graph::packed_record({good.page(), 20, 28}));
    expect_corrupt(g, "16 bytes of the pool are lost");
  }
  exec::write(g.space(), record, graph::packed_record({good.page(), 19, 32}));
  expect_corrupt(g, "the graph has 19 arcs but counted 20");
  exec::write(g.space(), record, good);
  g.check();
}

// An arc without its reverse, where the target has a neighbour with a larger id, and where it has none; in a directed
// graph also an arc that only the table of in-neighbours has.
TYPED_TEST_P(dynamic_graph_test, arcs_without_reverse_are_found) {
  using graph::vertex_id;
  auto g = this->make(4);
  g.insert({{0, 1}, {1, 3}});
  auto const put_first = [&](vertex_id v, vertex_id neighbour) {
    put_neighbour(g, exec::read(g.space(), g.view().out_records() + v), 0, neighbour);
  };
  put_first(1, 2);  // instead of 0
  expect_corrupt(g, faults(0, 0, 0, 0, 2));
  put_first(1, 0);
  g.check();
  put_first(3, 0);  // instead of 1
  expect_corrupt(g, faults(0, 0, 0, 0, 2));
  put_first(3, 1);
  g.check();

  g = this->make(2, {.self_loops = true});
  g.insert({{0, 1}});
  put_first(0, 0);
  put_first(1, 1);
  expect_corrupt(g, "the graph has 2 edges but counted 1");

  g = this->make(10, {.directed = true});
  g.insert({{5, 6}, {4, 6}, {6, 7}});
  auto* const in = const_cast<graph::packed_record*>(this->in_records(g)) + 6;
  graph::packed_record const good = exec::read(g.space(), in);
  put_neighbour(g, good, 2, 8);
  exec::write(g.space(), in, graph::packed_record({good.page(), 3, good.capacity()}));
  expect_corrupt(g, faults(0, 0, 0, 0, 1));
  exec::write(g.space(), in, good);
  g.check();
}

TYPED_TEST_P(dynamic_graph_test, the_view_says_whether_there_are_in_neighbours) {
  for (std::size_t const n : {0u, 1u, 5u}) {
    EXPECT_TRUE(this->make(n).view().has_in_neighbours()) << n;
    EXPECT_TRUE(this->make(n, {.in_neighbours = false}).view().has_in_neighbours()) << n;
    EXPECT_TRUE(this->make(n, {.directed = true}).view().has_in_neighbours()) << n;
    EXPECT_EQ(this->make(n, {.directed = true, .in_neighbours = false}).view().has_in_neighbours(), n == 0) << n;
  }
}

// A vertex whose degree alternates around the boundary of a page size keeps its page.
TYPED_TEST_P(dynamic_graph_test, pages_have_hysteresis) {
  using graph::edge;
  auto g = this->make(64, {.directed = true, .in_neighbours = false});
  std::vector<edge> row;
  for (graph::vertex_id i = 1; i <= 16; ++i) row.push_back({0, i});
  g.insert(row);
  auto const page = this->page_of(g, 0);
  std::vector<edge> const one{{0, 17}};
  g.insert(one);  // 17 neighbours: the next page size
  auto const larger = this->page_of(g, 0);
  EXPECT_NE(larger, page);
  for (int i = 0; i < 5; ++i) {
    g.erase(one);
    EXPECT_EQ(this->page_of(g, 0), larger);
    g.insert(one);
    EXPECT_EQ(this->page_of(g, 0), larger);
  }
  row.resize(8);
  g.erase(row);  // 9 left of 32
  EXPECT_EQ(this->page_of(g, 0), larger);
  g.erase(one);  // 8 left of 32: a page for 8
  EXPECT_NE(this->page_of(g, 0), larger);
  EXPECT_EQ(g.memory().neighbours, 8u * 4);
  EXPECT_EQ(g.memory().slack, 0u);
}

// A record has 12 bytes in each table; entries, slack and scratch of both tables are counted.
TYPED_TEST_P(dynamic_graph_test, memory_counts_the_tables_of_both_directions) {
  std::size_t const n = 500;
  std::mt19937 random(seeded(61));
  auto const edges = random_edges(random, n, 4000);
  graph_model model(n, true, false);
  model.insert(edges);
  std::size_t const arcs = model.to_csr().targets.size();
  std::size_t scratch_of_one = 0;
  for (bool const in_neighbours : {false, true}) {
    SCOPED_TRACE(in_neighbours ? "both directions" : "out-neighbours");
    std::size_t const tables = in_neighbours ? 2 : 1;
    auto g = this->make(n, {.directed = true, .in_neighbours = in_neighbours});
    EXPECT_EQ(g.memory().vertex_table, tables * n * 12);
    EXPECT_EQ(g.memory().neighbours + g.memory().slack, 0u);
    g.insert(edges);
    graph::memory_report const m = g.memory();
    EXPECT_EQ(m.vertex_table, tables * n * 12);
    EXPECT_EQ(m.neighbours, tables * arcs * 4);
    EXPECT_EQ(m.neighbours + m.slack + m.pool_free, m.pool_committed);
    if (TypeParam::counts_only_pages) {
      EXPECT_EQ(m.neighbours + m.slack, g.allocator().stats().granted);
    }
    EXPECT_EQ(m.total(), m.vertex_table + m.pool_committed + m.allocator_overhead + m.scratch);
    if (in_neighbours)
      EXPECT_GT(m.scratch, scratch_of_one);
    else
      scratch_of_one = m.scratch;
    g.compact();
    EXPECT_EQ(g.memory().vertex_table, tables * n * 12);
    EXPECT_EQ(g.memory().neighbours, tables * arcs * 4);
  }
  auto undirected = this->make(n);
  undirected.insert(edges);
  EXPECT_EQ(undirected.memory().vertex_table, n * 12);
}

// Uploaded batches and CSRs, and the list of the hubs of a CSR.
TYPED_TEST_P(dynamic_graph_test, scratch_of_uploads_and_hubs_is_counted) {
  using space = typename TestFixture::space_type;
  graph::options const o{.directed = true, .in_neighbours = false};
  graph::vertex_id const n = 700;
  graph::csr rows{{0}, {}};
  for (graph::vertex_id v = 0; v < n; ++v) {
    for (graph::vertex_id u = 0; v < 10 && u < 600; ++u) rows.targets.push_back(u + 20);
    rows.offsets.push_back(rows.targets.size());
  }
  auto const edges = this->edges_of(rows);
  auto empty = this->make(n, o);
  exec::buffer<std::uint64_t, space> offsets(empty.space(), rows.offsets.size());
  exec::buffer<graph::vertex_id, space> targets(empty.space(), rows.targets.size());
  exec::buffer<graph::edge, space> batch(empty.space(), edges.size());
  exec::copy_in<std::uint64_t>(empty.space(), offsets.data(), rows.offsets);
  exec::copy_in<graph::vertex_id>(empty.space(), targets.data(), rows.targets);
  exec::copy_in<graph::edge>(empty.space(), batch.data(), edges);
  std::size_t const none = empty.memory().scratch;
  EXPECT_GT(none, 0u);  // the status
  auto uploaded = this->make(n, o);
  auto resident = this->make(n, o);
  uploaded.build(rows);
  resident.build(graph::resident_csr{offsets.data(), targets.data(), rows.targets.size()});
  EXPECT_GE(resident.memory().scratch, none + 10 * sizeof(graph::detail::csr_hub));
  EXPECT_GE(uploaded.memory().scratch, resident.memory().scratch + 8 * rows.offsets.size() + 4 * rows.targets.size());
  uploaded.compact();
  resident.compact();
  EXPECT_EQ(uploaded.memory().scratch, none);
  EXPECT_EQ(resident.memory().scratch, none);
  uploaded.insert(edges);
  resident.insert(graph::resident_edges(batch.data(), edges.size()));
  std::size_t const copied = exec::has_tiles<space> ? edges.size() : 0;  // a CPU reads the batch where it is
  EXPECT_GE(uploaded.memory().scratch, resident.memory().scratch + sizeof(graph::edge) * copied);
}

REGISTER_TYPED_TEST_SUITE_P(
    dynamic_graph_test, agrees_with_the_model_undirected, agrees_with_the_model_directed,
    agrees_with_the_model_with_self_loops, agrees_with_the_model_large_batches, agrees_with_the_model_small_batches,
    agrees_with_the_model_few_sources, agrees_with_the_model_source_groups_at_limits,
    agrees_with_the_model_long_lists_in_large_batches, a_large_batch_changes_hubs_in_place, a_hub_without_memory,
    edges_in_device_memory_or_in_slices, updates_may_be_finished_later, keeps_in_neighbours, empty_and_trivial, a_hub,
    insert_then_erase_restores_it, an_id_out_of_range_changes_nothing, out_of_memory_changes_nothing,
    every_allocation_may_fail, memory_adds_up, damaged_pages_are_found, a_page_of_two_vertices_is_found,
    damaged_neighbours_are_found, arcs_without_reverse_are_found, the_view_says_whether_there_are_in_neighbours,
    pages_have_hysteresis, scratch_of_uploads_and_hubs_is_counted, memory_counts_the_tables_of_both_directions);

}  // namespace wyrm::tests
