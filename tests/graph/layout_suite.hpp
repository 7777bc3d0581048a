// SPDX-License-Identifier: Apache-2.0
// The tests of layouts, in which the pages of all vertices are written one after the other: building from a CSR, and
// compaction. For any space and allocator; the files that include this header instantiate them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "../support/seed.hpp"
#include "graph_case.hpp"

namespace wyrm::tests {

template <class Case>
class layout_test : public dynamic_graph_test<Case> {};
TYPED_TEST_SUITE_P(layout_test);

// A graph from a CSR, with hubs and without, works like any other graph.
TYPED_TEST_P(layout_test, is_built_from_a_csr) {
  std::size_t const n = 1500;
  std::mt19937 random(seeded(37));
  for (graph::options const o : {graph::options{}, graph::options{.self_loops = true}, graph::options{.directed = true},
                                 graph::options{.directed = true, .in_neighbours = false, .self_loops = true}})
    for (std::size_t const size : {0u, 10u, 3000u, 20000u}) {
      graph_model model(n, o.directed, o.self_loops);
      auto edges = random_edges(random, n, size);
      for (std::size_t i = 0; i < size / 8; ++i) edges[i].source = 0;
      model.insert(edges);
      graph::csr const rows = model.to_csr();
      auto g = this->make(n, o);
      graph::update_report const built = g.build(rows);
      ASSERT_EQ(g.to_csr(), rows);
      ASSERT_EQ(damage(g), "");
      EXPECT_EQ(g.arcs(), rows.targets.size());
      auto other = this->make(n, o);
      std::vector<graph::edge> const all = this->edges_of(rows);
      graph::update_report const inserted = other.insert(all);
      EXPECT_EQ(g.edges(), other.edges());
      EXPECT_EQ(built.inserted, inserted.inserted);
      auto const more = random_edges(random, n, 1000);
      expect_equal(g.insert(more), model.insert(more));
      expect_equal(g.erase(edges), model.erase(edges));
      ASSERT_EQ(g.to_csr(), model.to_csr());
      ASSERT_EQ(damage(g), "");

      auto third = this->make(n, o);
      exec::buffer<std::uint64_t, typename TestFixture::space_type> offsets(g.space(), n + 1);
      exec::buffer<graph::vertex_id, typename TestFixture::space_type> targets(g.space(), rows.targets.size());
      exec::copy_in<std::uint64_t>(g.space(), offsets.data(), rows.offsets);
      exec::copy_in<graph::vertex_id>(g.space(), targets.data(), rows.targets);
      third.build(graph::resident_csr{offsets.data(), targets.data(), rows.targets.size()});
      EXPECT_EQ(third.to_csr(), rows);
      EXPECT_EQ(damage(third), "");
    }
}

// Numbers of vertices around the sizes of tiles, blocks and groups of tiles. Each vertex has neighbours of both
// directions, the last one many; builds, updates and layouts are compared with models of both directions.
TYPED_TEST_P(layout_test, any_number_of_vertices) {
  for (std::size_t const n : {1u, 2u, 3u, 4u, 5u, 31u, 32u, 33u, 64u, 65u, 255u, 256u, 257u, 289u})
    for (graph::options const o : {graph::options{}, graph::options{.directed = true, .self_loops = true}}) {
      SCOPED_TRACE(std::to_string(n) + (o.directed ? " vertices, directed" : " vertices"));
      graph_model out(n, o.directed, o.self_loops);
      graph_model in(n, o.directed, o.self_loops);
      auto const flipped = [](std::vector<graph::edge> edges) {
        for (graph::edge& e : edges) std::swap(e.source, e.target);
        return edges;
      };
      auto const expect_right = [&](auto const& g, char const* when) {
        auto const vertices = static_cast<graph::vertex_id>(n);
        ASSERT_EQ(g.to_csr(), out.to_csr()) << when;
        ASSERT_EQ(graph::detail::export_csr(g.space(), this->in_records(g), vertices), in.to_csr()) << when;
        ASSERT_EQ(damage(g), "") << when;
      };
      std::vector<graph::edge> edges;
      for (graph::vertex_id v = 0; v < n; ++v) {
        edges.push_back({v, static_cast<graph::vertex_id>((v + 1) % n)});
        edges.push_back({v, v / 2});
        if (v % 3 == 0) edges.push_back({static_cast<graph::vertex_id>(n - 1), v});
      }
      auto inserted = this->make(n, o);
      expect_equal(inserted.insert(edges), out.insert(edges));
      in.insert(flipped(edges));
      expect_right(inserted, "inserted");
      auto built = this->make(n, o);
      expect_equal(built.build(out.to_csr()), {.requested = inserted.edges(), .inserted = inserted.edges()});
      expect_right(built, "built");
      std::vector<graph::edge> gone;  // of the last vertex, and of each fourth one
      for (graph::edge const e : edges)
        if (e.source + 1 == n || e.source % 4 == 0) gone.push_back(e);
      expect_equal(built.erase(gone), out.erase(gone));
      in.erase(flipped(gone));
      expect_right(built, "erased");
      built.compact();
      expect_right(built, "compacted");
      expect_equal(built.insert(edges), out.insert(edges));
      in.insert(flipped(edges));
      expect_right(built, "inserted again");
    }
}

// A row with one wrong entry, at any position, at several alignments of the row in the CSR; other rows surround it or
// do not. Rows are copied in blocks of four entries.
TYPED_TEST_P(layout_test, a_wrong_entry_at_any_position_is_found) {
  using graph::vertex_id;
  vertex_id const n = 100;
  vertex_id const tested = 40;
  auto g = this->make(n, {.directed = true, .in_neighbours = false});
  auto with_loops = this->make(n, {.directed = true, .in_neighbours = false, .self_loops = true});
  auto const rows_of = [&](std::vector<vertex_id> const& row, std::size_t before, std::size_t after) {
    graph::csr rows{{0}, {}};
    for (vertex_id v = 0; v < n; ++v) {
      if (v == tested) rows.targets.insert(rows.targets.end(), row.begin(), row.end());
      std::size_t const others = v == 0 ? before : v == 70 ? after : 0;
      for (std::size_t k = 0; k < others; ++k) rows.targets.push_back(static_cast<vertex_id>(k + 1));
      rows.offsets.push_back(rows.targets.size());
    }
    return rows;
  };
  auto const expect_wrong = [&](graph::csr const& rows, char const* why) {
    try {
      g.build(rows);
      ADD_FAILURE() << why << ": no error";
      g.clear();
    } catch (error const& e) {
      EXPECT_NE(std::string(e.what()).find("row 40 of the CSR is wrong (1 such rows in all)"), std::string::npos)
          << why << ": " << e.what();
    }
  };
  std::size_t const length = 21;
  for (std::size_t k = 0; k < length; ++k)
    for (bool const surrounded : {false, true}) {
      SCOPED_TRACE("entry " + std::to_string(k) + (surrounded ? ", surrounded" : ""));
      std::size_t const before = surrounded ? 4 + k / 4 % 4 : 0;
      std::size_t const after = surrounded ? 8 : 0;
      std::vector<vertex_id> good(length);
      for (std::size_t i = 0; i < length; ++i) good[i] = static_cast<vertex_id>(i < k ? 2 * i : 2 * i + 41);
      std::vector<vertex_id> row = good;
      if (k > 0) {
        row[k] = row[k - 1];
        expect_wrong(rows_of(row, before, after), "an entry twice");
        row[k] = row[k - 1] - 1;
        expect_wrong(rows_of(row, before, after), "a smaller entry");
      }
      row[k] = tested;  // ascends, as the entries before it are at most 38
      expect_wrong(rows_of(row, before, after), "a self-loop");
      EXPECT_EQ(with_loops.build(rows_of(row, before, after)).inserted, length + before + after);
      EXPECT_EQ(with_loops.to_csr(), rows_of(row, before, after));
      with_loops.clear();
      row.resize(k + 1);
      row[k] = n;
      expect_wrong(rows_of(row, before, after), "an id out of range");
      row[k] = n - 1;
      EXPECT_EQ(g.build(rows_of(row, before, after)).inserted, row.size() + before + after);
      EXPECT_EQ(g.to_csr(), rows_of(row, before, after));
      g.clear();
    }
}

// The message names the first wrong row and their number.
TYPED_TEST_P(layout_test, the_first_wrong_row_is_named) {
  using graph::vertex_id;
  vertex_id const n = 300;
  auto g = this->make(n, {.directed = true});
  for (std::vector<vertex_id> const& bad :
       {std::vector<vertex_id>{0}, {299}, {31, 32}, {7, 8, 255, 256}, {3, 35, 298}, {40, 41, 42, 43}}) {
    graph::csr rows{{0}, {}};
    for (vertex_id v = 0; v < n; ++v) {
      rows.targets.push_back(std::find(bad.begin(), bad.end(), v) != bad.end() ? n : (v + 1) % n);
      rows.offsets.push_back(rows.targets.size());
    }
    std::string what;
    try {
      g.build(rows);
    } catch (error const& e) {
      what = e.what();
    }
    EXPECT_NE(what.find("row " + std::to_string(bad.front()) + " of the CSR is wrong (" + std::to_string(bad.size()) +
                        " such"),
              std::string::npos)
        << what;
    EXPECT_EQ(g.arcs(), 0u);
  }
  EXPECT_EQ(damage(g), "");
}

// In an undirected graph each arc needs its reverse, also where the target has a neighbour with a larger id.
TYPED_TEST_P(layout_test, a_missing_reverse_is_found) {
  auto g = this->make(3);
  for (graph::csr const& rows :
       {graph::csr{{0, 1, 2, 3}, {1, 2, 1}}, {{0, 1, 3, 3}, {1, 0, 2}}, {{0, 0, 1, 3}, {2, 0, 1}}}) {
    try {
      g.build(rows);
      ADD_FAILURE() << "no error";
      g.clear();
    } catch (error const& e) {
      EXPECT_NE(std::string(e.what()).find(" 1 arcs without their reverse"), std::string::npos) << e.what();
    }
  }
  EXPECT_EQ(g.build(graph::csr{{0, 1, 3, 4}, {1, 0, 2, 1}}).inserted, 2u);
  EXPECT_EQ(damage(g), "");
}

// Rows of about 512 neighbours, beyond which several tiles copy a row, and rows of whole numbers of parts.
TYPED_TEST_P(layout_test, rows_at_the_size_of_a_hub) {
  std::size_t const n = 1100;
  std::vector<std::size_t> const degrees{511, 512, 513, 1023, 1024, 1025};
  for (bool const in_neighbours : {false, true}) {
    graph::csr rows{{0}, {}};
    for (std::size_t v = 0; v < n; ++v) {
      for (std::size_t k = 0; v < degrees.size() && k < degrees[v]; ++k)
        rows.targets.push_back(static_cast<graph::vertex_id>(degrees.size() + k));
      rows.offsets.push_back(rows.targets.size());
    }
    auto g = this->make(n, {.directed = true, .in_neighbours = in_neighbours});
    EXPECT_EQ(g.build(rows).inserted, rows.targets.size());
    ASSERT_EQ(g.to_csr(), rows);
    ASSERT_EQ(damage(g), "");
    g.compact();
    ASSERT_EQ(g.to_csr(), rows);
    ASSERT_EQ(damage(g), "");
    // Inserts and erases one neighbour of each, which crosses the boundary in both directions.
    std::vector<graph::edge> more;
    for (std::size_t v = 0; v < degrees.size(); ++v) more.push_back({static_cast<graph::vertex_id>(v), 0});
    more[0].target = 1;
    EXPECT_EQ(g.insert(more).inserted, more.size());
    ASSERT_EQ(damage(g), "");
    EXPECT_EQ(g.erase(more).erased, more.size());
    ASSERT_EQ(g.to_csr(), rows);
    ASSERT_EQ(damage(g), "");
  }
}

// The number of arcs of a CSR on the device is larger, or smaller, than its last offset.
TYPED_TEST_P(layout_test, a_csr_on_the_device_with_another_number_of_arcs_is_refused) {
  using space = typename TestFixture::space_type;
  for (bool const directed : {false, true})
    for (std::uint64_t const arcs : {std::uint64_t{1}, std::uint64_t{3}}) {
      auto g = this->make(4, {.directed = directed});
      exec::buffer<std::uint64_t, space> offsets(g.space(), 5);
      exec::buffer<graph::vertex_id, space> targets(g.space(), 4);
      exec::copy_in<std::uint64_t>(g.space(), offsets.data(), std::vector<std::uint64_t>{0, 1, 2, 2, 2});
      exec::copy_in<graph::vertex_id>(g.space(), targets.data(), std::vector<graph::vertex_id>{1, 0, 3, 3});
      EXPECT_THROW(g.build(graph::resident_csr{offsets.data(), targets.data(), arcs}), error) << arcs << " arcs";
      EXPECT_EQ(g.to_csr(), (graph::csr{{0, 0, 0, 0, 0}, {}}));
      EXPECT_EQ(damage(g), "");
      EXPECT_EQ(g.build(graph::resident_csr{offsets.data(), targets.data(), 2}).inserted, directed ? 2u : 1u);
      EXPECT_EQ(damage(g), "");
    }
}

// The pool is used up in the second slice of a CSR; the rows of the first slice must not be counted again.
TYPED_TEST_P(layout_test, a_csr_in_slices_that_needs_memory) {
  bool const fibers = std::string(TestFixture::space_type::name) == "simt";
  std::size_t const n = fibers ? 600 : scaled(8300, 600);
  graph::csr rows{{0}, {}};
  for (std::size_t v = 0; v < n; ++v) {  // 255 neighbours on each side, and the self-loop
    std::size_t const begin = rows.targets.size();
    for (std::size_t k = 0; k < 511; ++k) rows.targets.push_back(static_cast<graph::vertex_id>((v + n - 255 + k) % n));
    std::sort(rows.targets.begin() + static_cast<std::ptrdiff_t>(begin), rows.targets.end());
    rows.offsets.push_back(rows.targets.size());
  }
  graph::options o{.self_loops = true};
  o.pool.pool_bytes = n * 2048 - (std::size_t{64} << 10);
  auto g = this->make(n, o);
  EXPECT_EQ(g.build(rows).inserted, n * 256);
  EXPECT_EQ(g.edges(), n * 256);
  EXPECT_EQ(g.to_csr(), rows);
  EXPECT_EQ(damage(g), "");
}

// The pages of hubs are allocated one by one: those allocated before the pool grows are not allocated again.
TYPED_TEST_P(layout_test, a_pool_grows_for_the_hubs_of_a_csr) {
  constexpr graph::vertex_id degree = 600;
  graph::options o{.directed = true, .in_neighbours = false};
  o.pool.pool_bytes = std::size_t{256} << 10;
  std::size_t const committed = this->make(1, o).memory().pool_committed;  // a GPU commits more
  std::size_t const n = std::max<std::size_t>(committed / 4096 * 3 / 2, degree + 1);
  graph::csr rows{{0}, {}};
  for (graph::vertex_id v = 0; v < n; ++v) {
    for (graph::vertex_id k = 0; k < degree; ++k) rows.targets.push_back(k < v ? k : k + 1);
    rows.offsets.push_back(rows.targets.size());
  }
  auto g = this->make(n, o);
  EXPECT_EQ(g.build(rows).inserted, n * degree);
  EXPECT_EQ(g.to_csr(), rows);
  EXPECT_EQ(damage(g), "");
}

TYPED_TEST_P(layout_test, a_wrong_csr_changes_nothing) {
  using graph::csr;
  auto const refused = [&](csr const& rows, bool directed, char const* why) {
    auto g = this->make(4, {.directed = directed});
    std::string what;
    try {
      g.build(rows);
    } catch (error const& e) {
      EXPECT_EQ(e.code(), error_code::bad_argument);
      what = e.what();
    }
    EXPECT_NE(what.find(why), std::string::npos) << what;
    EXPECT_EQ(g.to_csr(), (csr{{0, 0, 0, 0, 0}, {}}));
    EXPECT_EQ(damage(g), "");
    EXPECT_EQ(g.insert(std::vector<graph::edge>{{0, 1}}).inserted, 1u);
  };
  for (bool const directed : {false, true}) {
    refused({{0, 1, 2, 2}, {1, 0}}, directed, "offset more than vertices");
    refused({{0, 1, 2, 2, 3}, {1, 0}}, directed, "offset more than vertices");
    refused({{0, 2, 1, 2, 2}, {1, 3}}, directed, "row 1 of the CSR is wrong (1 such");
    refused({{0, 9, 1, 2, 2}, {1, 0}}, directed, "row 0 of the CSR is wrong (2 such");
    refused({{1, 1, 1, 2, 2}, {1, 0}}, directed, "row 0 of the CSR is wrong (1 such");
    refused({{0, 1, 2, 2, 2}, {1, 4}}, directed, "row 1 of the CSR is wrong (1 such");
    refused({{0, 0, 2, 2, 2}, {2, 0}}, directed, "row 1 of the CSR is wrong (1 such");
    refused({{0, 0, 0, 2, 2}, {1, 1}}, directed, "row 2 of the CSR is wrong (1 such");
    refused({{0, 0, 0, 0, 1}, {3}}, directed, "no self-loops");
  }
  refused({{0, 1, 1, 1, 1}, {1}}, false, "both directions");

  auto h = this->make(4, {.directed = true});
  for (std::uint64_t k = 0; k < 2; ++k) {
    h.fail_allocations_from(k);
    EXPECT_THROW(h.build(csr{{0, 1, 2, 2, 2}, {1, 0}}), error);
    EXPECT_EQ(h.to_csr(), (csr{{0, 0, 0, 0, 0}, {}}));
    EXPECT_EQ(damage(h), "");
  }
  auto g = this->make(4);
  g.insert(std::vector<graph::edge>{{0, 1}});
  try {
    g.build(csr{{0, 0, 0, 0, 0}, {}});
    ADD_FAILURE() << "no error";
  } catch (error const& e) {
    EXPECT_EQ(e.code(), error_code::bad_argument);
    EXPECT_NE(std::string(e.what()).find("this one has 1; clear() it"), std::string::npos) << e.what();
  }
  EXPECT_EQ(g.edges(), 1u);
}

// In a malformed CSR more rows can be hubs than its number of arcs permits; these must not be written past their list.
TYPED_TEST_P(layout_test, a_csr_with_rows_that_overlap_is_refused) {
  graph::vertex_id const n = 1200;
  graph::csr rows;
  for (graph::vertex_id v = 0; v <= n; ++v) rows.offsets.push_back(v % 2 == 0 ? 0 : 600);
  rows.offsets.back() = 600;
  for (graph::vertex_id v = 0; v < 600; ++v) rows.targets.push_back(2 * v);
  auto g = this->make(n, {.directed = true, .self_loops = true});
  EXPECT_THROW(g.build(rows), error);
  EXPECT_EQ(g.arcs(), 0u);
  EXPECT_EQ(damage(g), "");
}

TYPED_TEST_P(layout_test, compaction_keeps_the_graph_and_releases_old_pool) {
  std::size_t const n = 3000;
  for (bool const directed : {false, true}) {
    auto g = this->make(n, {.directed = directed});
    graph_model model(n, directed, false);
    std::mt19937 random(seeded(41));
    g.compact();
    EXPECT_EQ(damage(g), "");
    auto const many = random_edges(random, n, 60000);
    expect_equal(g.insert(many), model.insert(many));
    std::vector<graph::edge> const gone(many.begin(), many.begin() + 55000);
    expect_equal(g.erase(gone), model.erase(gone));
    graph::memory_report const before = g.memory();
    for (std::uint64_t const k : {0u, 1u, 1000u}) {
      g.fail_allocations_from(k);
      EXPECT_THROW(g.compact(), error);
      EXPECT_EQ(g.to_csr(), model.to_csr());
      EXPECT_EQ(damage(g), "");
    }
    g.fail_allocations_from(decltype(g)::never);
    EXPECT_EQ(g.memory().total(), before.total());
    g.compact();
    graph::memory_report const after = g.memory();
    EXPECT_EQ(g.to_csr(), model.to_csr());
    EXPECT_EQ(damage(g), "");
    EXPECT_LE(after.slack, before.slack);
    EXPECT_LT(after.scratch, before.scratch / 4);
    EXPECT_LE(after.total(), before.total());
    if (directed) {
      EXPECT_EQ(graph::detail::export_csr(g.space(), this->in_records(g), n).targets.size(), g.arcs());
    }
    auto const more = random_edges(random, n, 5000);
    expect_equal(g.insert(more), model.insert(more));
    EXPECT_EQ(g.to_csr(), model.to_csr());
    EXPECT_EQ(damage(g), "");
  }
}

/// Of the pairs of a vertex and the next one with a page of the same size, in a range of 256 vertices: how many have
/// pages in descending order, and how many there are. Hubs do not count.
template <class Graph>
std::pair<std::size_t, std::size_t> disorder(Graph const& g, graph::packed_record const* from) {
  std::pair<std::size_t, std::size_t> found;
  std::map<std::uint32_t, std::pair<std::size_t, graph::vertex_id const*>> last;
  for (std::size_t v = 0; v < g.vertices(); ++v) {
    graph::packed_record const r = exec::read(g.space(), from + v);
    if (r.degree == 0 || r.degree > graph::detail::hub_degree) continue;
    auto& [range, page] = last[r.capacity()];
    if (page != nullptr && range == v / 256) {
      ++found.second;
      found.first += r.page() < page;
    }
    range = v / 256;
    page = r.page();
  }
  return found;
}

// On a device, where pages are carved, the pages of a size form two arrays. On a CPU several threads allocate them,
// each for a range of vertices.
TYPED_TEST_P(layout_test, compaction_restores_the_order_of_rows) {
  if (!TypeParam::carves) GTEST_SKIP() << "the allocator has no pages of fixed sizes";
  std::size_t const n = 3000;
  bool const is_carved = exec::has_tiles<typename TestFixture::space_type>;
  for (bool const directed : {false, true}) {
    auto g = this->make(n, {.directed = directed});
    std::mt19937 random(seeded(43));
    for (std::size_t round = 0; round < 6; ++round) {
      g.insert(random_edges(random, n, 20000));
      auto const all = this->edges_of(g.to_csr());
      auto const begin = all.begin() + static_cast<std::ptrdiff_t>(round % 3 * all.size() / 3);
      g.erase(std::vector<graph::edge>(begin, begin + static_cast<std::ptrdiff_t>(all.size() / 3)));
    }
    g.insert(random_edges(random, n, 10000));
    if (TypeParam::reclaims) {
      auto const [before, pairs] = disorder(g, g.view().out_records());
      EXPECT_GT(before, pairs / 4);
    }
    g.compact();
    for (auto const* records : {g.view().out_records(), g.view().in_records()}) {
      auto const [after, pairs] = disorder(g, records);
      EXPECT_GT(pairs, n / 2);
      EXPECT_LE(after, is_carved ? graph::detail::carved_pages::sizes : pairs / 8);
    }
  }
}

// Most of the pool is free, but all chunks have a page in use: all pages are rewritten instead of growth.
TYPED_TEST_P(layout_test, a_pool_of_scattered_pages_does_not_grow) {
  for (bool const in_neighbours : {false, true}) {
    graph::options o{.directed = true, .in_neighbours = in_neighbours};
    o.pool.pool_bytes = std::size_t{256} << 10;
    std::size_t const committed = this->make(1, o).memory().pool_committed;  // a GPU commits larger steps
    std::size_t const n = committed / (in_neighbours ? 32 : 16) / 10 * 7;
    graph_model model(n, true, false);
    model.insert(ring_edges(n, 0, 1, 4, n));
    graph::csr const rows = model.to_csr();
    auto g = this->make(n, o);
    g.build(rows);
    auto const gone = ring_edges(n, 1, 1, 4, n);  // one vertex of 16 keeps its page
    expect_equal(g.erase(gone), model.erase(gone));
    std::size_t const before = g.memory().pool_committed;
    auto const more = ring_edges(n, 0, 4, 14, n / 8);  // pages of 64 bytes
    expect_equal(g.insert(more), model.insert(more));
    EXPECT_EQ(g.to_csr(), model.to_csr());
    EXPECT_EQ(damage(g), "");
    EXPECT_EQ(g.memory().pool_committed, before);
  }
}

// Pages that updates have scattered over the pool, of both tables: they are rewritten when memory is short, and
// when the graph is compacted, and are changed after that. The model of the in-neighbours has the edges reversed.
TYPED_TEST_P(layout_test, both_tables_are_right_when_pages_are_scattered) {
  graph::options o{.directed = true};
  o.pool.pool_bytes = std::size_t{256} << 10;
  std::size_t const committed = this->make(1, o).memory().pool_committed;  // a GPU commits more
  std::size_t const n = committed / 32 / 10 * 7;
  auto g = this->make(n, o);
  graph_model out(n, true, false);
  graph_model in(n, true, false);
  auto const expect_right = [&](char const* when) {
    SCOPED_TRACE(when);
    ASSERT_EQ(g.to_csr(), out.to_csr());
    ASSERT_EQ(graph::detail::export_csr(g.space(), this->in_records(g), static_cast<graph::vertex_id>(n)), in.to_csr());
    ASSERT_EQ(damage(g), "");
  };
  auto const change = [&](bool inserts, std::vector<graph::edge> const& batch) {
    auto reverse = batch;
    for (graph::edge& e : reverse) std::swap(e.source, e.target);
    expect_equal(inserts ? g.insert(batch) : g.erase(batch), inserts ? out.insert(batch) : out.erase(batch));
    (void)(inserts ? in.insert(reverse) : in.erase(reverse));
  };
  // Vertex v has arcs to those from v + 1 on. Three arcs of all but each 16th vertex are erased again.
  auto const arcs = [&](bool of_all, std::size_t first, std::size_t last, std::size_t vertices) {
    std::vector<graph::edge> edges;
    for (std::size_t v = 0; v < vertices; ++v)
      for (std::size_t to = v + first; (of_all || v % 16 != 0) && to < v + last; ++to)
        edges.push_back({static_cast<graph::vertex_id>(v), static_cast<graph::vertex_id>(to % n)});
    return edges;
  };
  change(true, arcs(true, 1, 4, n));
  change(false, arcs(false, 1, 4, n));
  expect_right("after pages were freed all over the pool");
  std::size_t const before = g.memory().pool_committed;
  change(true, arcs(true, 4, 14, n / 8));  // larger pages than those that were freed
  EXPECT_EQ(g.memory().pool_committed, before);
  expect_right("after all pages were rewritten");
  // Random changes of rewritten pages, with hubs of either direction that come and go.
  std::mt19937 random(seeded(67));
  for (unsigned round = 0; round < 6; ++round) {
    std::vector<graph::edge> star;
    for (std::size_t i = 0; i < 900; ++i) {
      auto const v = static_cast<graph::vertex_id>(random() % n);
      star.push_back(round % 2 == 0 ? graph::edge{5, v} : graph::edge{v, 5});
    }
    change(true, star);
    change(true, random_edges(random, n, n / 4));
    if (round % 3 == 1) {
      g.compact();
      expect_right("after compaction");
    }
    auto gone = this->edges_of(g.to_csr());
    std::shuffle(gone.begin(), gone.end(), random);
    gone.resize(gone.size() / 3);
    change(false, gone);
    change(false, star);
    expect_right("after random changes");
  }
  change(false, this->edges_of(g.to_csr()));
  expect_right("without edges");
}

// A CSR is built in a pool that cannot grow and all of whose pages were freed by an erasure: its chunks are in the
// reuse queue of the pool, where neighbours have not merged into runs.
TYPED_TEST_P(layout_test, a_csr_is_built_from_pages_that_were_freed) {
  if (!TypeParam::counts_only_pages) return;
  graph::options o{.directed = true, .in_neighbours = false};
  o.pool.pool_bytes = std::size_t{256} << 10;
  o.pool.reserve_bytes = this->make(1, o).memory().pool_committed;  // a GPU commits more
  o.pool.pool_bytes = o.pool.reserve_bytes;
  std::size_t const n = o.pool.pool_bytes / 16 / 10 * 7;
  auto g = this->make(n, o);
  graph_model out(n, true, false);
  std::vector<graph::edge> edges;
  for (std::size_t v = 0; v < n; ++v)
    for (std::size_t to = v + 1; to <= v + 3; ++to)
      edges.push_back({static_cast<graph::vertex_id>(v), static_cast<graph::vertex_id>(to % n)});
  out.insert(edges);
  EXPECT_EQ(g.insert(edges).inserted, edges.size());
  EXPECT_EQ(g.erase(edges).erased, edges.size());
  EXPECT_EQ(g.allocator().stats().granted, 0u);
  EXPECT_EQ(g.build(out.to_csr()).inserted, edges.size());
  EXPECT_EQ(g.to_csr(), out.to_csr());
  EXPECT_EQ(damage(g), "");
}

REGISTER_TYPED_TEST_SUITE_P(layout_test, a_csr_is_built_from_pages_that_were_freed, is_built_from_a_csr,
                            any_number_of_vertices, a_wrong_entry_at_any_position_is_found,
                            the_first_wrong_row_is_named, a_missing_reverse_is_found, rows_at_the_size_of_a_hub,
                            a_csr_on_the_device_with_another_number_of_arcs_is_refused,
                            a_csr_in_slices_that_needs_memory, a_pool_grows_for_the_hubs_of_a_csr,
                            a_wrong_csr_changes_nothing, a_csr_with_rows_that_overlap_is_refused,
                            compaction_keeps_the_graph_and_releases_old_pool, compaction_restores_the_order_of_rows,
                            a_pool_of_scattered_pages_does_not_grow, both_tables_are_right_when_pages_are_scattered);

}  // namespace wyrm::tests
