// SPDX-License-Identifier: Apache-2.0
// Tests the launches: the functor is called exactly once for every index, by all lanes of a tile; and tiles that wait
// for each other with backoff make progress.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../exec/atomic.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../support/spaces.hpp"

namespace wyrm::tests {

/// The number of calls for an index, and the lanes that called.
struct visit {
  std::uint32_t times;
  std::uint32_t lanes;
};

/// Records every call. Has one operator for each kind of launch.
struct record_visits {
  visit* visits;
  std::size_t n;
  std::uint64_t* strays;  // number of calls with an invalid index

  WYRM_HD void record(std::size_t i, unsigned lane, bool valid) const {
    if (valid != (i < n)) exec::atomic_ref<std::uint64_t>(*strays).fetch_add(1, exec::relaxed);
    if (!valid || i >= n) return;
    exec::atomic_ref<std::uint32_t>(visits[i].times).fetch_add(1, exec::relaxed);
    exec::atomic_ref<std::uint32_t>(visits[i].lanes).fetch_or(1u << lane, exec::relaxed);
  }
  WYRM_HD void operator()(std::size_t i) const { record(i, 0, true); }
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i) const {
    record(i, t.rank(), true);
  }
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    // All lanes of the tile make the call, also those beyond the end.
    bool const complete = t.ballot(true) == 0xffffffffu >> (32 - Tile::size());
    if (!complete || i % Tile::size() != t.rank()) exec::atomic_ref<std::uint64_t>(*strays).fetch_add(1, exec::relaxed);
    record(i, 0, valid);
  }
};

/// `launch(space, n, f)` must call f for each index below n once, by `lanes` lanes.
template <class Space, class Launch>
void expect_each_once(unsigned lanes, Launch const& launch) {
  Space const space = make_space<Space>();
  for (std::size_t const n : {std::size_t{0}, std::size_t{1}, std::size_t{31}, std::size_t{32}, std::size_t{33},
                              std::size_t{1000}, scaled(100003, 2003)}) {
    SCOPED_TRACE("n = " + std::to_string(n));
    exec::buffer<visit, Space> visits(space, n);
    exec::buffer<std::uint64_t, Space> strays(space, 1);
    space.fill(visits.data(), 0, visits.bytes());
    space.fill(strays.data(), 0, strays.bytes());
    launch(space, n, record_visits{visits.data(), n, strays.data()});
    std::vector<visit> const seen = exec::copy_out(space, visits.data(), n);
    EXPECT_EQ(exec::read(space, strays.data()), 0u);
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_EQ(seen[i].times, lanes) << "index " << i;
      ASSERT_EQ(seen[i].lanes, 0xffffffffu >> (32 - lanes)) << "index " << i;
    }
  }
}

/// A ticket lock: tiles take tickets, and enter the critical section in the order of tickets. A tile waits only for
/// tiles that already run. The tile in the critical section changes plain memory.
struct take_turns {
  std::uint32_t* tickets;
  std::uint32_t* turn;
  std::uint32_t* total;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i) const {
    std::uint32_t mine = 0;
    if (t.rank() == 0) mine = exec::atomic_ref<std::uint32_t>(*tickets).fetch_add(1, exec::relaxed);
    mine = t.shfl(mine, 0);
    exec::atomic_ref<std::uint32_t> now(*turn);
    for (unsigned attempt = 0; now.load(exec::acquire) != mine; ++attempt) t.backoff(attempt);
    t.sync();
    if (t.rank() == 0) {
      *total += static_cast<std::uint32_t>(i);
      now.store(mine + 1, exec::release);
    }
  }
};

template <unsigned W, class Space>
void expect_turns(std::size_t tiles) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Space const space = make_space<Space>(seed);
    exec::buffer<std::uint32_t, Space> words(space, 3);
    space.fill(words.data(), 0, words.bytes());
    exec::for_each_tile<W>(space, tiles, take_turns{words.data(), words.data() + 1, words.data() + 2});
    EXPECT_EQ(exec::copy_out(space, words.data(), 3),
              (std::vector<std::uint32_t>{static_cast<std::uint32_t>(tiles), static_cast<std::uint32_t>(tiles),
                                          static_cast<std::uint32_t>(tiles * (tiles - 1) / 2)}));
  }
}

/// Adds up the values of a table, each times its place, and the index of the call.
struct weigh_table {
  std::uint32_t count;
  std::uint64_t* sums;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, std::uint32_t const* table) const {
    std::uint64_t mine = 0;
    for (std::uint32_t k = t.rank(); k < count; k += Tile::size()) mine += std::uint64_t{table[k]} * (k + 1);
    std::uint64_t const all = exec::sum(t, mine);
    if (t.rank() == 0) sums[i] = all + i;
  }
};

/// Each lane writes a number to the memory of its tile, and reads that of the next lane.
struct pass_numbers {
  std::uint32_t* sums;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, std::byte* memory) const {
    auto* const numbers = reinterpret_cast<std::uint32_t*>(memory);
    auto const mine = static_cast<std::uint32_t>(i * 1000 + t.rank());
    numbers[t.rank()] = mine;
    t.sync();
    sums[i * Tile::size() + t.rank()] = numbers[(t.rank() + 1) % Tile::size()];
  }
};

template <unsigned W, class Space>
void expect_memory_of_tiles(std::size_t n) {
  auto const space = make_space<Space>();
  constexpr std::size_t lanes = Space::template tile_size<W>;
  exec::buffer<std::uint32_t, Space> sums(space, n * lanes);
  exec::for_each_tile_with_memory<W, W == 8 ? 48 : 128>(space, n, pass_numbers{sums.data()});
  auto const got = exec::copy_out(space, sums.data(), n * lanes);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t lane = 0; lane < lanes; ++lane)
      ASSERT_EQ(got[i * lanes + lane], i * 1000 + (lane + 1) % lanes) << i << " of " << n << ", lane " << lane;
}

/// The same between the threads of a block, in device memory. Counts the calls for each index.
struct pass_numbers_in_block {
  static constexpr std::uint32_t most = 1024;  // threads of a block
  std::uint32_t* numbers;
  std::uint32_t* got;
  std::uint32_t* calls;
  template <class Block>
  WYRM_HD void operator()(Block const& b, std::size_t i) const {
    static_assert(Block::size() <= most);
    std::size_t const first = i * most;
    exec::atomic_ref<std::uint32_t>(calls[i]).fetch_add(1, exec::relaxed);
    numbers[first + b.rank()] = static_cast<std::uint32_t>(i * 2000 + b.rank());
    b.sync();
    got[first + b.rank()] = numbers[first + (b.rank() + 1) % Block::size()];
  }
};

template <class Space>
void expect_blocks(std::size_t n) {
  constexpr std::uint32_t most = pass_numbers_in_block::most;
  auto const space = make_space<Space>();
  exec::buffer<std::uint32_t, Space> numbers(space, n * most);
  exec::buffer<std::uint32_t, Space> values(space, n * most);
  exec::buffer<std::uint32_t, Space> calls(space, n);
  space.fill(values.data(), 0xff, values.bytes());
  space.fill(calls.data(), 0, calls.bytes());
  exec::for_each_block(space, n, pass_numbers_in_block{numbers.data(), values.data(), calls.data()});
  auto const got = exec::copy_out(space, values.data(), n * most);
  auto const threads = exec::copy_out(space, calls.data(), n);
  for (std::size_t i = 0; i < n; ++i) {
    ASSERT_GE(threads[i], exec::has_tiles<Space> ? 32u : 1u) << i;
    ASSERT_EQ(threads[i], threads[0]) << i << " of " << n;
    for (std::uint32_t k = 0; k < most; ++k)
      ASSERT_EQ(got[i * most + k], k < threads[0] ? i * 2000 + (k + 1) % threads[0] : 0xffffffff)
          << i << " of " << n << ", thread " << k;
  }
}

template <class Space>
using launch = space_test<Space>;
TYPED_TEST_SUITE_P(launch);

TYPED_TEST_P(launch, for_each_calls_each_index_once) {
  expect_each_once<TypeParam>(1, [](auto const& space, std::size_t n, auto const& f) { exec::for_each(space, n, f); });
}

TYPED_TEST_P(launch, for_each_tile_calls_each_index_once) {
  expect_each_once<TypeParam>(TypeParam::template tile_size<8>, [](auto const& space, std::size_t n, auto const& f) {
    exec::for_each_tile<8>(space, n, f);
  });
  expect_each_once<TypeParam>(TypeParam::template tile_size<32>, [](auto const& space, std::size_t n, auto const& f) {
    exec::for_each_tile<32>(space, n, f);
  });
}

TYPED_TEST_P(launch, for_each_lane_calls_each_index_once) {
  expect_each_once<TypeParam>(
      1, [](auto const& space, std::size_t n, auto const& f) { exec::for_each_lane<4>(space, n, f); });
  expect_each_once<TypeParam>(
      1, [](auto const& space, std::size_t n, auto const& f) { exec::for_each_lane<32>(space, n, f); });
}

TYPED_TEST_P(launch, tiles_that_wait_for_each_other_make_progress) {
  expect_turns<32, TypeParam>(scaled(1000, 100));
  expect_turns<1, TypeParam>(scaled(1000, 100));
}

TYPED_TEST_P(launch, for_each_tile_with_table_passes_the_values) {
  auto const space = make_space<TypeParam>();
  for (std::uint32_t const count : {1u, 3u, 4u, 61u})
    for (std::size_t const n : {std::size_t{0}, std::size_t{1}, scaled(5003, 203)}) {
      std::vector<std::uint32_t> values(count);
      std::uint64_t want = 0;
      for (std::uint32_t k = 0; k < count; ++k) {
        values[k] = 1000 - 7 * k;
        want += std::uint64_t{values[k]} * (k + 1);
      }
      exec::buffer<std::uint32_t, TypeParam> from(space, count + std::size_t{1});
      exec::copy_in<std::uint32_t>(space, from.data(), values);
      exec::buffer<std::uint64_t, TypeParam> sums(space, n);
      exec::for_each_tile_with_table<32>(space, n, static_cast<std::uint32_t const*>(from.data()), count,
                                         weigh_table{count, sums.data()});
      auto const got = exec::copy_out(space, sums.data(), n);
      for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(got[i], want + i);
      EXPECT_THROW(exec::for_each_tile_with_table<32>(space, n, static_cast<std::uint32_t const*>(from.data() + 1),
                                                      count, weigh_table{count, sums.data()}),
                   error);
    }
}

TYPED_TEST_P(launch, for_each_tile_with_memory_gives_each_tile_its_own) {
  for (std::size_t const n : {std::size_t{0}, std::size_t{1}, scaled(5003, 203)}) {
    expect_memory_of_tiles<8, TypeParam>(n);
    expect_memory_of_tiles<32, TypeParam>(n);
  }
}

TYPED_TEST_P(launch, for_each_block_calls_all_threads_of_a_block) {
  for (std::size_t const n : {std::size_t{0}, std::size_t{1}, scaled(1003, 103)}) expect_blocks<TypeParam>(n);
}

REGISTER_TYPED_TEST_SUITE_P(launch, for_each_calls_each_index_once, for_each_tile_calls_each_index_once,
                            for_each_lane_calls_each_index_once, for_each_tile_with_table_passes_the_values,
                            for_each_tile_with_memory_gives_each_tile_its_own,
                            for_each_block_calls_all_threads_of_a_block, tiles_that_wait_for_each_other_make_progress);

}  // namespace wyrm::tests
