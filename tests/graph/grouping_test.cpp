// SPDX-License-Identifier: Apache-2.0
// Tests the hash table that groups a batch by source, scattering, and pending_update, each in isolation.
#include <gtest/gtest.h>

#include <cstdint>
#include <new>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "../../alloc/registry.hpp"
#include "../../exec/host_space.hpp"
#include "../../graph/batch/group.hpp"
#include "../../graph/dynamic_graph.hpp"

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
                                                  nullptr, targets.data(), nullptr, slice}};
    for (std::size_t thread = 0; thread < scatter.threads(); ++thread) scatter(thread);
    for (std::uint32_t i = 0; i < size; ++i)
      ASSERT_EQ(targets[i], 3 * i + 1) << "edge " << i << " of " << size << " in slices of " << slice;
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
