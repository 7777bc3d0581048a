// SPDX-License-Identifier: Apache-2.0
// How a pool grows when an update has too little memory: by a large step, and where its limit does not allow that, by
// what the update needs. Limits are chosen so that the one succeeds and the other does not.
#include "../../graph/table/pool_growth.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../../alloc/baseline/bump.hpp"
#include "../../alloc/ouroboros/ouroboros.hpp"
#include "../../exec/error.hpp"
#include "../../exec/host_space.hpp"
#include "../../graph/dynamic_graph.hpp"

namespace wyrm::tests {
namespace {

using allocator = alloc::ouroboros_s_p<exec::host_space>;
constexpr std::size_t kib = 1024;
constexpr std::size_t mib = 1024 * kib;

// Steps are multiples of the 64 KiB in which host memory is committed.
TEST(pool_growth, takes_the_large_step_else_the_needed_one_else_throws) {
  struct row {
    std::size_t room;  // that the pool may grow by
    std::size_t grown;
  };
  for (row const r : {row{1024 * kib, 512 * kib},
                      {512 * kib, 512 * kib},
                      {448 * kib, 192 * kib},
                      {192 * kib, 192 * kib},
                      {128 * kib, 0}}) {
    SCOPED_TRACE(std::to_string(r.room / kib) + " KiB of room");
    allocator pool(exec::host_space(1), {.pool_bytes = mib, .reserve_bytes = mib + r.room});
    ASSERT_EQ(pool.stats().committed, mib);
    graph::detail::pool_growth<allocator> memory(pool, false);
    auto const find = [&] { memory.find(128 * kib, 64 * kib, 512 * kib); };
    EXPECT_NO_THROW(find());  // where the pool cannot grow, free pages are made usable, once
    EXPECT_EQ(pool.stats().committed, mib + r.grown);
    if (r.grown > 0) continue;
    EXPECT_THROW(find(), error);
    EXPECT_EQ(pool.stats().committed, mib);
  }
}

// Pages are made usable for other sizes if they have as many bytes as are missing, and again only if half as many are
// missing as before.
TEST(pool_growth, free_pages_are_compacted_if_there_are_enough) {
  allocator pool(exec::host_space(1), {.pool_bytes = mib, .reserve_bytes = mib});
  ASSERT_NE(pool.ref().malloc(4096), nullptr);
  std::size_t const free = mib - pool.stats().granted;
  ASSERT_LT(free, mib);
  graph::detail::pool_growth<allocator> memory(pool, false);
  EXPECT_FALSE(memory.compact_if_free(free + 1));
  EXPECT_TRUE(memory.compact_if_free(free));
  EXPECT_FALSE(memory.compact_if_free(free));
  EXPECT_FALSE(memory.compact_if_free(free / 2 + 1));
  EXPECT_TRUE(memory.compact_if_free(free / 2));
  EXPECT_FALSE(memory.compact_if_free(free / 4 + 1));
  try {
    memory.find(free / 2, 0, 0);
    FAIL() << "no error";
  } catch (error const& e) {
    EXPECT_EQ(e.code(), error_code::out_of_memory);
    EXPECT_NE(std::string(e.what()).find("neighbours need " + std::to_string(free / 2 / kib) +
                                         " KiB more than there are; nothing was changed"),
              std::string::npos)
        << e.what();
  }
  graph::detail::pool_growth<allocator> never(pool, true);
  EXPECT_FALSE(never.compact_if_free(1));

  using bump = alloc::bump<exec::host_space>;
  bump simple(exec::host_space(1), {.pool_bytes = mib, .reserve_bytes = mib});
  EXPECT_FALSE((graph::detail::pool_growth<bump>(simple, false).compact_if_free(1)));
}

// A pool of 16 MiB would grow by an eighth, and may by three quarters of that.
TEST(pool_growth, of_a_graph_falls_back_to_what_a_batch_needs) {
  constexpr graph::vertex_id n = 4096;
  constexpr graph::vertex_id filled = 2040;  // rows whose pages have 8 KiB: eight chunks of the pool are left
  constexpr graph::vertex_id degree = 2048;
  graph::options o{.directed = true, .in_neighbours = false};
  o.pool = {.pool_bytes = 16 * mib, .reserve_bytes = 16 * mib + 1536 * kib};
  graph::dynamic_graph<exec::host_space, allocator> g(exec::host_space(1), n, o);
  graph::csr rows{{0}, {}};
  for (graph::vertex_id v = 0; v < n; ++v) {
    for (graph::vertex_id k = 0; v < filled && k < degree; ++k) rows.targets.push_back(k < v ? k : k + 1);
    rows.offsets.push_back(rows.targets.size());
  }
  g.build(rows);
  ASSERT_EQ(g.memory().pool_committed, 16 * mib);

  // 64 rows of 2 KiB each, for which 16 chunks are needed.
  std::vector<graph::edge> batch;
  graph::csr want{{0}, {}};
  for (graph::vertex_id v = 0; v < n; ++v) {
    for (std::uint64_t i = rows.offsets[v]; i < rows.offsets[v + 1]; ++i) want.targets.push_back(rows.targets[i]);
    for (graph::vertex_id to = 0; v >= filled && v < filled + 64 && to < 512; ++to) {
      batch.push_back({v, to});
      want.targets.push_back(to);
    }
    want.offsets.push_back(want.targets.size());
  }
  EXPECT_EQ(g.insert(batch).inserted, 64U * 512);
  EXPECT_EQ(g.to_csr(), want);
  EXPECT_NO_THROW(g.check());
  EXPECT_GT(g.memory().pool_committed, 16 * mib);
  EXPECT_LT(g.memory().pool_committed, 18 * mib);
}

}  // namespace
}  // namespace wyrm::tests
