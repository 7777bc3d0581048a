// SPDX-License-Identifier: Apache-2.0
// Tests grouping of a batch by source, its hash table, scattering, uploads, lists of a view, and pending_update, each
// in isolation.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <new>
#include <numeric>
#include <random>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../../alloc/registry.hpp"
#include "../../exec/host_space.hpp"
#include "../../graph/batch/group.hpp"
#include "../../graph/dynamic_graph.hpp"
#include "../support/seed.hpp"
#include "../support/simt_space.hpp"
#include "../support/spaces.hpp"

namespace wyrm::tests {
namespace {

using graph::vertex_id;
using graph::detail::slot_table;

// Ids that an attacker could choose: their products with one multiplier, one of those that hashes commonly use, all
// have the same upper bits.
std::vector<vertex_id> crafted_ids(std::uint32_t multiplier, std::size_t n) {
  std::uint32_t inverse = 1;
  for (int i = 0; i < 5; ++i) inverse *= 2 - multiplier * inverse;  // Newton's iteration modulo 2^32
  std::vector<vertex_id> ids(n);
  for (std::size_t i = 0; i < n; ++i) ids[i] = static_cast<std::uint32_t>(i) * inverse;
  return ids;
}

/// The number of probes of all searches when ids are inserted into a table.
std::uint64_t probes(std::vector<vertex_id> const& ids, std::uint32_t seed) {
  unsigned const log2 = 18;
  std::vector<vertex_id> keys(std::size_t{1} << log2, 0xffffffff);
  slot_table const table{keys.data(), nullptr, 1u << log2, 32 - log2, seed};
  std::uint64_t sum = 0;
  for (vertex_id const v : ids) sum += ((table.find(v) - table.home(v)) & (table.slots - 1)) + 1;
  return sum;
}

TEST(grouping, crafted_ids_do_not_collide) {
  std::size_t const n = 100000;
  for (std::uint32_t const multiplier : {0x9e3779b1u, 0x9e3779b9u, 0x85ebca6bu, 0xc2b2ae35u, 1u})
    for (std::uint32_t const seed : {1u, 2u, 0xdeadbeefu})
      EXPECT_LT(probes(crafted_ids(multiplier, n), seed), 3 * n) << std::hex << multiplier << ", seed " << seed;
}

// Ids that collide with one seed do not collide with another, and each graph has its own seed.
TEST(grouping, each_graph_has_a_seed) {
  std::vector<vertex_id> ids;
  slot_table const known{nullptr, nullptr, 1u << 18, 14, 12345};
  for (vertex_id v = 0; ids.size() < 2000; ++v)
    if (known.hash(v) >> 20 == 0) ids.push_back(v);
  EXPECT_GT(probes(ids, 12345), 100 * ids.size());
  EXPECT_LT(probes(ids, 54321), 3 * ids.size());

  using graph_type = graph::dynamic_graph<exec::host_space, alloc::bump<exec::host_space>>;
  std::set<std::uint32_t> seeds;
  for (int i = 0; i < 8; ++i) seeds.insert(graph_type(exec::host_space(1), 1).settings().hash_seed);
  EXPECT_GT(seeds.size(), 6u);
  EXPECT_EQ(seeds.count(0), 0u);
  graph::options const o{.hash_seed = 77};
  EXPECT_EQ(graph_type(exec::host_space(1), 1, o).settings().hash_seed, 77u);
}

TEST(grouping, tables_with_the_maximum_number_of_slots) {
  static_assert(slot_table::lanes(0) == 0 && slot_table::lanes(1) == 1 && slot_table::lanes(5) == 2);
  for (std::uint32_t const slots : {0xfffffffbu, 0xfffffffcu, 0xfffffffdu, 0xfffffffeu, 0xffffffffu})
    EXPECT_GE(slot_table::lanes(slots) * slot_table::slots_per_lane, slots) << slots;
}

// For slices of any size.
TEST(grouping, each_edge_of_a_slice_is_scattered) {
  for (auto const& [size, slice] : {std::pair<std::size_t, std::size_t>{10000, 0},
                                    {10000, 1000},
                                    {10240, 1024},
                                    {9999, 1000},
                                    {3000, 2999},
                                    {700, 100},
                                    {2561, 257},
                                    {1, 1}}) {
    std::vector<graph::edge> edges(size);
    std::vector<graph::detail::arc_place> places(size);
    std::vector<std::uint32_t> counts(size);
    std::vector<vertex_id> targets(size, 0xffffffff);
    for (std::uint32_t i = 0; i < size; ++i) {
      edges[i] = {i, 3 * i + 1};
      places[i] = {i, 0};
      counts[i] = i;
    }
    slot_table const table{nullptr, counts.data(), static_cast<std::uint32_t>(size), 0, 1};
    graph::detail::scatter_targets const scatter{{edges.data(), size, graph::orientation::forward, table, places.data(),
                                                  nullptr, targets.data(), nullptr, slice, graph::detail::hub_degree}};
    for (std::size_t thread = 0; thread < scatter.threads(); ++thread) scatter(thread);
    for (std::uint32_t i = 0; i < size; ++i)
      ASSERT_EQ(targets[i], 3 * i + 1) << "edge " << i << " of " << size << " in slices of " << slice;
  }
}

using arc = std::pair<vertex_id, vertex_id>;

/// The arcs of all source groups, sorted. Expects that groups do not overlap, and that all have different sources.
template <class Space>
std::vector<arc> arcs_of(graph::batch<Space>& batch, graph::detail::update_status const& s, unsigned table) {
  std::vector<arc> all;
  std::vector<vertex_id> sources;
  std::vector<bool> taken(s.arcs(table));
  for (std::uint32_t k = 0; k < s.groups(table); ++k) {
    graph::detail::source_group const g = batch.view().groups[k];
    EXPECT_GT(g.size, 0u);
    EXPECT_LE(std::size_t{g.begin} + g.size, taken.size());
    sources.push_back(g.source);
    for (std::uint32_t i = g.begin; i < g.begin + g.size && i < taken.size(); ++i) {
      EXPECT_FALSE(taken[i]) << "position " << i << " is in two groups";
      taken[i] = true;
      all.emplace_back(g.source, batch.view().targets[i]);
    }
  }
  std::sort(all.begin(), all.end());
  std::sort(sources.begin(), sources.end());
  EXPECT_EQ(std::adjacent_find(sources.begin(), sources.end()), sources.end()) << "two groups of a vertex";
  return all;
}

/// Groups the same batch twice in the same memory, as two batches of an update sequence would.
template <class Space>
void expect_groups(std::size_t size, vertex_id vertices, graph::orientation which, bool keeps_loops, unsigned seed) {
  SCOPED_TRACE(std::to_string(size) + " edges, " + std::to_string(vertices) + " vertices, seed " +
               std::to_string(seed));
  Space const space = make_space<Space>();
  std::mt19937 random(seeded(seed));
  unsigned const table = which == graph::orientation::reverse ? 1 : 0;
  graph::batch<Space> batch(space, 1 + seed);
  graph::detail::status_memory<Space> status(space);
  for (int round = 0; round < 2; ++round) {
    std::vector<graph::edge> edges(size);
    std::vector<arc> want;
    std::uint64_t loops = 0;
    std::uint64_t outside = 0;
    for (graph::edge& e : edges) {
      e = {static_cast<vertex_id>(random() % vertices), static_cast<vertex_id>(random() % vertices)};
      if (random() % 16 == 0) e.target = e.source;
      if (random() % 16 == 1) e.source = vertices - 1;
      if (random() % 64 == 0) (random() % 2 == 0 ? e.source : e.target) = vertices;
      bool const is_outside = e.source >= vertices || e.target >= vertices;
      bool const is_loop = !is_outside && e.source == e.target;
      outside += is_outside;
      loops += is_loop;
      if (is_outside || (is_loop && !keeps_loops)) continue;
      if (which != graph::orientation::reverse) want.emplace_back(e.source, e.target);
      if (which == graph::orientation::reverse || (which == graph::orientation::both && !is_loop))
        want.emplace_back(e.target, e.source);
    }
    std::sort(want.begin(), want.end());
    std::size_t largest = 0;
    for (std::size_t i = 0, first = 0; i < want.size(); ++i) {
      if (want[i].first != want[first].first) first = i;
      largest = std::max(largest, i + 1 - first);
    }
    for (std::size_t const most : {largest, largest - 1}) {
      if (largest == 0) continue;
      status.clear();
      batch.begin({edges.data(), size}, 0, vertices, which, keeps_loops, graph::detail::hub_degree, status.data(),
                  table);
      batch.count(0, size);
      batch.group(static_cast<std::uint32_t>(most), nullptr, nullptr);
      graph::detail::update_status const& s = status.read();
      ASSERT_TRUE(arcs_of(batch, s, table) == want);
      EXPECT_LE(s.groups(table), batch.max_groups());
      EXPECT_EQ(s.batches[1 - table], 0u);
      EXPECT_EQ(s.has_large_group, most < largest);
      EXPECT_EQ(s.total().self_loops, table == 0 ? loops : 0);  // of the same edges in two tables, once
      EXPECT_EQ(s.out_of_range, table == 0 ? outside : 0);
    }
  }
}

// Sizes around those of blocks and buckets; few vertices, for which the table is indexed by vertex, and many.
template <class Space>
void expect_groups_of_all_sizes(std::vector<std::size_t> const& sizes) {
  unsigned seed = 0;
  for (std::size_t const size : sizes)
    for (vertex_id const vertices : {1u, 2u, 33u, 255u, 256u, 257u, 4097u, 0xfffffffeu})
      for (auto const which : {graph::orientation::forward, graph::orientation::reverse, graph::orientation::both}) {
        ++seed;
        expect_groups<Space>(size, vertices, which, seed % 2 == 0, seed);
      }
}
TEST(grouping, a_batch_by_source_on_the_host) {
  expect_groups_of_all_sizes<exec::host_space>({1, 2, 31, 2048, 4096, 8192, 8193});
}
TEST(grouping, a_batch_by_source_in_tiles) { expect_groups_of_all_sizes<simt_space>({1, 2, 32, 33, 65, 300}); }

TEST(grouping, a_batch_of_too_many_arcs_is_refused) {
  exec::host_space const space(1);
  graph::detail::status_memory<exec::host_space> status(space);
  graph::batch<exec::host_space> batch(space, 1);
  auto const begin = [&](std::size_t edges, graph::orientation which) {
    batch.begin({nullptr, edges}, 0, 10, which, false, graph::detail::hub_degree, status.data(), 0);
  };
  EXPECT_THROW(begin(std::size_t{1} << 31, graph::orientation::both), error);
  EXPECT_THROW(begin(0xffffffff, graph::orientation::forward), error);
  EXPECT_THROW(begin(std::size_t{1} << 32, graph::orientation::reverse), error);
  EXPECT_EQ(batch.bytes(), 0u);
}

// Each row is passed on once, in order, and after its targets were uploaded, wherever slices of 2^22 targets end.
TEST(upload, rows_of_a_csr_are_complete) {
  std::size_t const slice = std::size_t{1} << 22;
  std::vector<vertex_id> all(2 * slice + 7);
  std::iota(all.begin(), all.end(), 1u);
  for (std::vector<std::uint64_t> const& offsets : {std::vector<std::uint64_t>{0, 0},
                                                    {0, 5, 5, 7},
                                                    {0, slice - 1, slice + 1},
                                                    {0, 0, slice, slice, slice + 3, slice + 3},
                                                    {0, 10, 2 * slice + 7}}) {
    std::span<vertex_id const> const targets(all.data(), offsets.back());
    graph::csr_view const rows(offsets, targets);
    auto const vertices = static_cast<vertex_id>(offsets.size() - 1);
    graph::detail::uploader<exec::host_space> uploader{exec::host_space(1)};
    graph::detail::csr_rows const there = uploader.room_for(rows);
    std::size_t next = 0;
    uploader.upload(rows, vertices, [&](std::size_t first, std::size_t n) {
      EXPECT_EQ(first, next);
      EXPECT_GT(n, 0u);
      next = first + n;
      ASSERT_LE(next, vertices);
      EXPECT_TRUE(std::equal(offsets.begin(), offsets.end(), there.offsets));
      std::uint64_t const from = offsets[first];
      EXPECT_TRUE(std::equal(targets.begin() + static_cast<std::ptrdiff_t>(from),
                             targets.begin() + static_cast<std::ptrdiff_t>(offsets[next]), there.targets + from))
          << "rows from " << first << " on";
    });
    EXPECT_EQ(next, vertices);
  }
}

TEST(options, batches_for_the_construction_of_a_graph) {
  std::size_t const least = std::size_t{1} << 22;
  for (std::uint64_t const edges : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{4 * least}})
    EXPECT_EQ(graph::slice_for(edges), least) << edges;
  EXPECT_EQ(graph::slice_for(4 * least + 1), least + 1);
  EXPECT_EQ(graph::slice_for(4 * least + 5), least + 2);
  for (std::uint64_t const edges : {std::uint64_t{1} << 30, (std::uint64_t{1} << 30) + 1, std::uint64_t{1} << 40})
    EXPECT_EQ(graph::slice_for(edges), std::size_t{1} << 28) << edges;
}

TEST(view, positions_in_ascending_lists) {
  for (std::uint32_t n = 0; n <= 70; ++n) {
    std::vector<vertex_id> odd(n);
    for (std::uint32_t i = 0; i < n; ++i) odd[i] = 2 * i + 1;
    for (vertex_id v = 0; v <= 2 * n + 1; ++v) {
      EXPECT_EQ(graph::lower_bound(odd.data(), n, v), v / 2 < n ? v / 2 : n) << v << " among " << n;
      EXPECT_EQ(graph::contains({odd.data(), n}, v), v % 2 == 1 && v < 2 * n) << v << " among " << n;
    }
  }
}

TEST(pending_update, a_destructor_ignores_errors) {
  {
    graph::pending_update const p([]() -> graph::update_report { throw std::runtime_error("a foreign error"); });
  }
  {
    graph::pending_update const p([]() -> graph::update_report { throw std::bad_alloc(); });
  }
  graph::pending_update p([]() -> graph::update_report { throw std::runtime_error("a foreign error"); });
  EXPECT_THROW((void)p.get(), std::runtime_error);
  EXPECT_THROW((void)p.get(), error);
}

}  // namespace
}  // namespace wyrm::tests
