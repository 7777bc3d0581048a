// SPDX-License-Identifier: Apache-2.0
// Tables of the threads of a host.
#include "../../algorithms/detail/thread_tables.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>

#include "../../exec/atomic.hpp"
#include "../../exec/error.hpp"
#include "../../exec/host_space.hpp"
#include "../../exec/injected_failure.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/tile.hpp"
#include "../../graph/types.hpp"
#include "../support/seed.hpp"

namespace wyrm::tests {

namespace {

using algorithms::detail::label_sums;
using algorithms::detail::label_tables;
using algorithms::detail::thread_tables;
using algorithms::detail::thread_tables_view;
constexpr std::uint64_t plenty = std::uint64_t{1} << 40;

/// A tile counts the entries of its table that are not 0, writes all of them, checks that no other tile does so, and
/// clears them.
struct use_table {
  static constexpr std::size_t grain = 1;
  thread_tables_view<std::uint32_t> tables;
  std::uint32_t* faults;
  template <class Tile>
  void operator()(Tile const& t, std::size_t number) const {
    unsigned const index = tables.acquire(t);
    std::uint32_t* const table = tables.table(index);
    auto const mine = static_cast<std::uint32_t>(number + 1);
    std::uint32_t wrong = 0;
    for (std::size_t i = 0; i < tables.entries_each; ++i) wrong += table[i] != 0 ? 1u : 0u;
    for (std::size_t i = 0; i < tables.entries_each; ++i) table[i] = mine;
    for (std::size_t i = 0; i < tables.entries_each; ++i) wrong += table[i] != mine ? 1u : 0u;
    for (std::size_t i = 0; i < tables.entries_each; ++i) table[i] = 0;
    tables.release(index);
    exec::atomic_ref<std::uint32_t>(*faults).fetch_add(wrong, exec::relaxed);
  }
};

void expect_clear(exec::host_space const& space, thread_tables<std::uint32_t, exec::host_space>& tables) {
  std::uint32_t faults = 0;
  exec::for_each_tile<1>(space, 200, use_table{tables.cleared(), &faults});
  EXPECT_EQ(faults, 0u);
}

}  // namespace

// Also where there are fewer tables than threads, and where tables grow.
TEST(thread_tables, are_clear_for_each_tile) {
  exec::host_space const space(4);
  std::mt19937 random(seeded(1));
  for (unsigned trial = 0; trial < 20; ++trial) {
    SCOPED_TRACE(trial);
    thread_tables<std::uint32_t, exec::host_space> tables(space);
    for (unsigned use = 0; use < 6; ++use) {
      std::size_t const n = 1 + random() % 2000;
      std::uint64_t const most = random() % 4 == 0 ? plenty : random() % 40000;
      tables.reserve(n, most);
      auto const view = tables.cleared();
      EXPECT_GE(view.entries_each, n);
      EXPECT_GE(view.count, 1u);
      EXPECT_LE(view.count, 4u);
      expect_clear(space, tables);
    }
  }
}

TEST(thread_tables, are_as_many_as_fit) {
  exec::host_space const space(4);
  thread_tables<std::uint32_t, exec::host_space> tables(space);
  tables.reserve(1024, 0);
  EXPECT_EQ(tables.view().count, 1u);
  expect_clear(space, tables);
  tables.reserve(1000, 2 * 4096);
  EXPECT_EQ(tables.view().count, 2u);
  expect_clear(space, tables);
  tables.reserve(1024, plenty);
  EXPECT_EQ(tables.view().count, 4u);
  expect_clear(space, tables);
  auto const* const before = tables.view().entries;
  tables.reserve(10, 0);  // less than there is
  EXPECT_EQ(tables.view().count, 4u);
  EXPECT_EQ(tables.view().entries, before);
  expect_clear(space, tables);
}

TEST(thread_tables, can_be_used_after_a_failed_request) {
  exec::host_space const space(2);
  for (std::size_t allowed = 0; allowed < 2; ++allowed) {
    thread_tables<std::uint32_t, exec::host_space> tables(space);
    {
      exec::injected_failure const failure(allowed);
      EXPECT_THROW(tables.reserve(100, plenty), error);
    }
    tables.reserve(50, plenty);
    expect_clear(space, tables);
    {
      exec::injected_failure const failure(0);
      EXPECT_THROW(tables.reserve(5000, plenty), error);
    }
    tables.reserve(40, plenty);
    expect_clear(space, tables);
    tables.reserve(5000, plenty);
    expect_clear(space, tables);
  }
}

TEST(label_tables, add_up_by_label) {
  exec::host_space const space(1);
  label_tables<std::uint64_t, exec::host_space> tables(space);
  std::mt19937 random(seeded(2));
  for (unsigned trial = 0; trial < 50; ++trial) {
    std::size_t const n = 1 + random() % 30;
    tables.reserve(n, 0);
    auto const view = tables.cleared();
    auto const held = view.acquire(exec::scalar_tile{});
    label_sums<std::uint64_t> sums = held.empty_sums();
    std::map<graph::vertex_id, std::uint64_t> expected;
    for (std::size_t i = 0; i < 4 * n; ++i) {
      auto const label = static_cast<graph::vertex_id>(random() % n);
      std::uint64_t const number = 1 + random();
      sums.add(label, number);
      expected[label] += number;
    }
    EXPECT_EQ(sums.size, expected.size());
    for (auto const& [label, sum] : expected) EXPECT_EQ(sums[label], sum);
    sums.take_each([&](graph::vertex_id label, std::uint64_t sum) {
      EXPECT_EQ(expected.at(label), sum);
      expected.erase(label);
    });
    EXPECT_TRUE(expected.empty());
    for (graph::vertex_id label = 0; label < n; ++label) EXPECT_EQ(sums[label], 0u);
    held.flush(exec::scalar_tile{});
  }
}

}  // namespace wyrm::tests
