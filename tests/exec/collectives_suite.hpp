// SPDX-License-Identifier: Apache-2.0
// Tests every collective of a tile, and the functions of tile.hpp that use them, for each width of tile: device code
// calls all of them and records the results of each lane; the host compares these with a model that computes them from
// the arguments of the lanes.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "../../exec/atomic.hpp"
#include "../../exec/converged_tile.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../../exec/tile.hpp"
#include "../support/seed.hpp"
#include "../support/spaces.hpp"

namespace wyrm::tests {

inline constexpr unsigned widest = 32;

struct sixteen_bytes {
  std::uint64_t first;
  std::uint32_t second;
};

/// The arguments of lane `lane` of tile `tile`.
struct lane_arguments {
  WYRM_HD lane_arguments(std::size_t tile, unsigned lane, unsigned size)
      : word((tile * 64 + lane + 1) * 0x9e3779b97f4a7c15ull),
        source(static_cast<unsigned>((lane * 5 + tile) % size)),
        common(static_cast<unsigned>(tile % size)),
        key(static_cast<std::uint32_t>(word >> 20) % (tile % 5 == 0 ? 0xffffffff : 1 + static_cast<unsigned>(tile))) {}
  [[nodiscard]] WYRM_HD std::uint8_t byte() const { return static_cast<std::uint8_t>(word >> 56); }
  [[nodiscard]] WYRM_HD std::uint32_t half() const { return static_cast<std::uint32_t>(word >> 32); }
  [[nodiscard]] WYRM_HD int negative() const { return -static_cast<int>(word >> 48); }
  [[nodiscard]] WYRM_HD double real() const { return static_cast<double>(word >> 40) / 4; }
  [[nodiscard]] WYRM_HD sixteen_bytes pair() const { return {word, half()}; }

  std::uint64_t word;
  unsigned source;  // the lane from which this lane reads
  unsigned common;  // the lane from which all lanes read
  std::uint32_t key;
};

/// The results of one lane.
struct lane_results {
  unsigned size;
  unsigned rank;
  std::uint32_t ballot;
  bool any;
  bool all;
  std::uint8_t byte;
  std::uint32_t half;
  int negative;
  std::uint64_t word;
  std::uint64_t broadcast;
  double real;
  float single;
  void const* pointer;
  sixteen_bytes pair;
  unsigned rank_in;
  unsigned first_lane;
  std::uint32_t match;
  std::uint32_t any_bits;
  std::uint32_t sum_below_half;
  std::uint64_t sum_below_word;
  std::uint32_t sum_half;
  std::uint64_t sum_word;
  int sum_negative;
  double sum_real;
  std::uint64_t before_sync;
  std::uint64_t after_sync;
};

struct call_collectives {
  std::uint32_t const* masks;  // for each tile: the predicates of its lanes
  std::uint64_t* mailbox;      // `widest` entries per tile, like results
  lane_results* results;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i) const {
    lane_arguments const mine(i, t.rank(), t.size());
    std::uint32_t const mask = masks[i] & 0xffffffffu >> (32 - t.size());
    bool const predicate = (mask >> t.rank() & 1) != 0;
    lane_results& r = results[i * widest + t.rank()];
    r.size = t.size();
    r.rank = t.rank();
    r.ballot = t.ballot(predicate);
    r.any = t.any(predicate);
    r.all = t.all(predicate);
    r.byte = t.shfl(mine.byte(), mine.source);
    r.half = t.shfl(mine.half(), mine.source);
    r.negative = t.shfl(mine.negative(), mine.source);
    r.word = t.shfl(mine.word, mine.source);
    r.broadcast = t.shfl(mine.word, mine.common);
    r.real = t.shfl(mine.real(), mine.source);
    r.single = t.shfl(static_cast<float>(mine.byte()), mine.source);
    r.pointer = t.shfl(static_cast<void const*>(&r), mine.source);
    r.pair = t.shfl(mine.pair(), mine.source);
    r.rank_in = exec::rank_in(t, mask);
    r.first_lane = mask != 0 ? exec::first_lane(mask) : widest;
    r.match = exec::match(t, mine.key);
    r.any_bits = exec::any_bits(t, mine.half());
    r.sum_below_half = exec::sum_below(t, mine.half());
    r.sum_below_word = exec::sum_below(t, mine.word);
    r.sum_half = exec::sum(t, mine.half());
    r.sum_word = exec::sum(t, mine.word);
    r.sum_negative = exec::sum(t, mine.negative());
    r.sum_real = exec::sum(t, mine.real());
    // A plain write of another lane is visible after a sync, and is not overwritten before the next sync.
    mailbox[i * widest + t.rank()] = mine.word;
    t.sync();
    r.before_sync = mailbox[i * widest + mine.source];
    t.sync();
    mailbox[i * widest + t.rank()] = ~mine.word;
    t.sync();
    r.after_sync = mailbox[i * widest + mine.source];
  }
};

/// The same for single threads, each of which is a tile.
struct call_collectives_per_thread {
  call_collectives calls;
  WYRM_HD void operator()(std::size_t i) const { calls(exec::scalar_tile{}, i); }
};

/// The lanes of a tile that are `present` gather, and call all collectives in the tiles that they become. Such a tile
/// has the number 32 i + the lane of its first member. Lanes that name different objects do not gather: in each third
/// tile of the launch there are two.
struct call_collectives_of_gathered_lanes {
  call_collectives calls;
  std::uint32_t const* present;
  unsigned* members;  // `widest` entries per gathered tile: lanes
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i) const {
    if ((present[i] >> t.rank() & 1) == 0) return;
    exec::converged_tile const together = exec::converged_tile::gather(present + object(i, t.rank()));
    std::size_t const group = i * widest + together.shfl(t.rank(), 0);
    members[group * widest + together.rank()] = t.rank();
    calls(together, group);
  }
  WYRM_HD static unsigned object(std::size_t i, unsigned lane) { return i % 3 == 0 ? lane / 3 % 2 : 0; }
};

/// Lanes gather at several places again and again, at different times, and stay for different times, as in calls of
/// malloc. So lanes that have gathered come to a collective at the same time as other lanes, which are not in their
/// tile.
struct gather_again_and_again {
  std::uint32_t* wrong;
  std::uint32_t* counters;  // 64
  WYRM_HD static std::uint32_t random(std::uint64_t x) {
    x = (x ^ x >> 31) * 0x9e3779b97f4a7c15u;
    return static_cast<std::uint32_t>((x ^ x >> 29) * 0xbf58476d1ce4e5b9u >> 40);
  }
  WYRM_HD void operator()(std::size_t i) const {
    for (unsigned round = random(i) % 8; round < 40; ++round) {
      std::uint32_t const r = random(i * 64 + round);
      if (r % 2 == 0) use(i, r / 8);
      switch (r % 4) {
        case 0: use(i, r / 8 + 1); break;
        case 1: use(i, r / 16); break;
        case 2: use(i, r / 32); break;
        default: continue;
      }
    }
  }
  WYRM_HD void use(std::size_t i, std::uint32_t r) const {
    exec::converged_tile const t = exec::converged_tile::gather(wrong);
    bool works = true;
    for (unsigned step = 0;; ++step) {
      std::uint32_t const n = count_wrong(t, i, step);
      if (n > 0) exec::atomic_ref<std::uint32_t>(*wrong).fetch_add(n, exec::relaxed);
      // Each lane spends some time at memory before the next collective.
      for (std::uint32_t k = r % 7 + step; works && k < 8; ++k)
        works = exec::atomic_ref<std::uint32_t>(counters[(r + k) % 64]).fetch_add(1, exec::relaxed) % 16 != 0;
      if (!t.any(works) || step > r % 5) works = false;
      if (!t.any(works)) break;
    }
  }
  WYRM_HD static std::uint32_t count_wrong(exec::converged_tile const& t, std::size_t i, unsigned step) {
    unsigned const other = (t.rank() + step) % t.size();
    std::uint32_t const all = 0xffffffffu >> (32 - t.size());
    std::uint32_t const pair = 3u << (t.rank() & ~1u) & all;
    std::uint64_t const word = std::uint64_t{i} << 32 | t.rank();
    std::uint64_t const word_of_other = t.shfl(word, other);
    std::uint32_t wrong = t.shfl(t.rank(), other) != other;
    wrong += static_cast<std::uint32_t>(word_of_other) != other || (word_of_other >> 32) / widest != i / widest;
    wrong += t.ballot(true) != all;
    wrong += exec::match(t, t.rank() / 2) != pair;
    wrong += exec::any_bits(t, 1u << t.rank()) != all;
    wrong += exec::sum(t, 1u) != t.size();
    wrong += exec::sum_below(t, std::uint64_t{1}) != t.rank();
    return wrong + count_wrong(exec::by_position(t), t, other);
  }
  // The same lanes under their positions in the warp, which have gaps.
  WYRM_HD static std::uint32_t count_wrong(exec::positioned_tile const& p, exec::converged_tile const& t,
                                           unsigned other) {
    std::uint32_t const all = p.ballot(true);
    std::uint32_t const even = p.ballot(t.rank() % 2 == 0);
    std::uint32_t const pair = exec::match(p, t.rank() / 2);
    auto const size = [](std::uint32_t lanes) { return static_cast<unsigned>(cuda::std::popcount(lanes)); };
    auto const rank_of = [&](unsigned lane) { return p.shfl(t.rank(), lane); };
    bool const has_partner = (t.rank() | 1) < t.size();
    std::uint32_t wrong = size(all) != t.size() || exec::rank_in(p, all) != t.rank() || (all >> p.rank() & 1) == 0;
    wrong += rank_of(exec::find_kth_set(all, other)) != other;
    wrong += rank_of(exec::first_lane(all)) != 0 || rank_of(exec::last_lane(all)) != t.size() - 1;
    wrong += size(even) != (t.size() + 1) / 2 || (even >> p.rank() & 1) != (t.rank() % 2 == 0);
    wrong += size(pair) != (has_partner ? 2u : 1u) || (pair >> p.rank() & 1) == 0;
    wrong += rank_of(exec::first_lane(pair)) != (t.rank() & ~1u);
    wrong += exec::any_bits(p, 1u << t.rank()) != 0xffffffffu >> (32 - t.size());
    wrong += exec::sum_below(p, std::uint64_t{1}) != t.rank();
    wrong += !p.any(t.rank() == t.size() - 1) || p.any(t.rank() == t.size());
    wrong += !p.all(t.rank() < t.size()) || p.all(t.rank() != t.size() - 1);
    p.sync();
    return wrong;
  }
};

/// Masks of all lanes, of no lane, of each single lane, of all lanes but one, and random ones.
inline std::vector<std::uint32_t> predicate_masks(unsigned size) {
  std::uint32_t const full = 0xffffffffu >> (32 - size);
  std::vector<std::uint32_t> masks{full, 0};
  for (unsigned lane = 0; lane < size; ++lane) {
    masks.push_back(1u << lane);
    masks.push_back(full & ~(1u << lane));
  }
  std::mt19937 random(seeded(size));
  for (int i = 0; i < 40; ++i) masks.push_back(static_cast<std::uint32_t>(random()) & full);
  return masks;
}

inline void expect_lane(lane_results const* tile, lane_results const* tile_on_device, std::size_t i, unsigned lane,
                        unsigned size, std::uint32_t mask) {
  unsigned members = 0;
  unsigned below = 0;
  unsigned first = widest;
  std::uint32_t matches = 0;
  std::uint32_t any_bits = 0;
  std::uint32_t below_half = 0;
  std::uint64_t below_word = 0;
  std::uint32_t sum_half = 0;
  std::uint64_t sum_word = 0;
  int sum_negative = 0;
  double sum_real = 0;
  for (unsigned l = 0; l < size; ++l) {
    lane_arguments const a(i, l, size);
    bool const set = (mask >> l & 1) != 0;
    members += set;
    below += set && l < lane;
    if (set && first == widest) first = l;
    if (a.key == lane_arguments(i, lane, size).key) matches |= 1u << l;
    if (l < lane) {
      below_half += a.half();
      below_word += a.word;
    }
    sum_half += a.half();
    any_bits |= a.half();
    sum_word += a.word;
    sum_negative += a.negative();
    sum_real += a.real();
  }
  lane_arguments const mine(i, lane, size);
  lane_arguments const expected(i, mine.source, size);
  lane_results const& r = tile[lane];
  ASSERT_EQ(r.size, size);
  ASSERT_EQ(r.rank, lane);
  ASSERT_EQ(r.ballot, mask);
  ASSERT_EQ(r.any, members > 0);
  ASSERT_EQ(r.all, members == size);
  ASSERT_EQ(r.byte, expected.byte());
  ASSERT_EQ(r.half, expected.half());
  ASSERT_EQ(r.negative, expected.negative());
  ASSERT_EQ(r.word, expected.word);
  ASSERT_EQ(r.broadcast, lane_arguments(i, mine.common, size).word);
  ASSERT_EQ(r.real, expected.real());
  ASSERT_EQ(r.single, static_cast<float>(expected.byte()));
  ASSERT_EQ(r.pointer, tile_on_device + mine.source);
  ASSERT_EQ(r.pair.first, expected.pair().first);
  ASSERT_EQ(r.pair.second, expected.pair().second);
  ASSERT_EQ(r.rank_in, below);
  ASSERT_EQ(r.first_lane, first);
  ASSERT_EQ(r.match, matches);
  ASSERT_EQ(r.any_bits, any_bits);
  ASSERT_EQ(r.sum_below_half, below_half);
  ASSERT_EQ(r.sum_below_word, below_word);
  ASSERT_EQ(r.sum_half, sum_half);
  ASSERT_EQ(r.sum_word, sum_word);
  ASSERT_EQ(r.sum_negative, sum_negative);
  ASSERT_EQ(r.sum_real, sum_real);
  ASSERT_EQ(r.before_sync, expected.word);
  ASSERT_EQ(r.after_sync, ~expected.word);
}

/// Calls `launch(tiles, calls)`, which executes the calls in `tiles` tiles of `size` lanes, and checks the recorded
/// results.
template <class Space, class Launch>
void expect_collectives(Space const& space, unsigned size, Launch const& launch) {
  SCOPED_TRACE("tile of " + std::to_string(size));
  std::vector<std::uint32_t> const masks = predicate_masks(size);
  exec::buffer<std::uint32_t, Space> device_masks(space, masks.size());
  exec::buffer<std::uint64_t, Space> mailbox(space, masks.size() * widest);
  exec::buffer<lane_results, Space> device_results(space, masks.size() * widest);
  exec::copy_in<std::uint32_t>(space, device_masks.data(), masks);
  space.fill(device_results.data(), 0xee, device_results.bytes());
  launch(masks.size(), call_collectives{device_masks.data(), mailbox.data(), device_results.data()});
  std::vector<lane_results> const results = exec::copy_out(space, device_results.data(), device_results.size());
  for (std::size_t i = 0; i < masks.size(); ++i)
    for (unsigned lane = 0; lane < size; ++lane) {
      SCOPED_TRACE("tile " + std::to_string(i) + ", lane " + std::to_string(lane));
      expect_lane(results.data() + i * widest, device_results.data() + i * widest, i, lane, size, masks[i]);
      if (::testing::Test::HasFatalFailure()) return;
    }
}

template <unsigned W, class Space>
void expect_collectives_of_width(Space const& space) {
  expect_collectives(space, Space::template tile_size<W>, [&](std::size_t tiles, call_collectives const& calls) {
    exec::for_each_tile<W>(space, tiles, calls);
  });
}

/// Every lane that is present is in one gathered tile, in whose order the lanes are; and its collectives are right. The
/// lanes are those of whole warps, as on a GPU the lanes of narrower tiles gather with their neighbours.
template <class Space>
void expect_collectives_of_gathered_lanes(Space const& space) {
  constexpr unsigned size = Space::template tile_size<widest>;
  std::vector<std::uint32_t> const present = predicate_masks(size);
  std::size_t const groups = present.size() * widest;
  std::mt19937 random(seeded(size));
  std::vector<std::uint32_t> predicates(groups);
  for (std::uint32_t& p : predicates) p = static_cast<std::uint32_t>(random());
  exec::buffer<std::uint32_t, Space> device_present(space, present.size());
  exec::buffer<std::uint32_t, Space> device_predicates(space, groups);
  exec::buffer<unsigned, Space> device_members(space, groups * widest);
  exec::buffer<std::uint64_t, Space> mailbox(space, groups * widest);
  exec::buffer<lane_results, Space> device_results(space, groups * widest);
  exec::copy_in<std::uint32_t>(space, device_present.data(), present);
  exec::copy_in<std::uint32_t>(space, device_predicates.data(), predicates);
  space.fill(device_results.data(), 0, device_results.bytes());
  using work = call_collectives_of_gathered_lanes;
  exec::for_each_tile<widest>(space, present.size(),
                              work{{device_predicates.data(), mailbox.data(), device_results.data()},
                                   device_present.data(),
                                   device_members.data()});
  std::vector<lane_results> const results = exec::copy_out(space, device_results.data(), device_results.size());
  std::vector<unsigned> const members = exec::copy_out(space, device_members.data(), device_members.size());
  for (std::size_t i = 0; i < present.size(); ++i) {
    std::uint32_t seen = 0;
    for (unsigned first = 0; first < size; ++first) {
      std::size_t const group = i * widest + first;
      unsigned const n = results[group * widest].size;
      for (unsigned lane = 0; lane < n; ++lane) {
        SCOPED_TRACE("tile " + std::to_string(i) + ", group of lane " + std::to_string(first) + ", lane " +
                     std::to_string(lane) + " of " + std::to_string(n));
        unsigned const member = members[group * widest + lane];
        ASSERT_LT(member, size);
        ASSERT_TRUE(lane == 0 ? member == first : member > members[group * widest + lane - 1]);
        ASSERT_EQ(work::object(i, member), work::object(i, first));
        seen |= 1u << member;
        expect_lane(results.data() + group * widest, device_results.data() + group * widest, group, lane, n,
                    predicates[group] & 0xffffffffu >> (32 - n));
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
    ASSERT_EQ(seen, present[i]) << "tile " << i;
  }
}

template <class Space>
using collectives = space_test<Space>;
TYPED_TEST_SUITE_P(collectives);

TYPED_TEST_P(collectives, tiles_of_each_width) {
  TypeParam const space = make_space<TypeParam>();
  expect_collectives_of_width<1>(space);
  expect_collectives_of_width<4>(space);
  expect_collectives_of_width<8>(space);
  expect_collectives_of_width<32>(space);
}

TYPED_TEST_P(collectives, single_threads) {
  TypeParam const space = make_space<TypeParam>();
  expect_collectives(space, 1, [&](std::size_t tiles, call_collectives const& calls) {
    exec::for_each(space, tiles, call_collectives_per_thread{calls});
  });
}

TYPED_TEST_P(collectives, lanes_that_gather) {
  TypeParam const space = make_space<TypeParam>();
  expect_collectives_of_gathered_lanes(space);
}

TYPED_TEST_P(collectives, gathered_tiles_that_meet) {
  TypeParam const space = make_space<TypeParam>();
  exec::buffer<std::uint32_t, TypeParam> wrong(space, 1);
  exec::buffer<std::uint32_t, TypeParam> counters(space, 64);
  exec::write(space, wrong.data(), 0u);
  space.fill(counters.data(), 0, counters.bytes());
  exec::for_each(space, scaled(1000, 100), gather_again_and_again{wrong.data(), counters.data()});
  EXPECT_EQ(exec::read(space, wrong.data()), 0u);
}

REGISTER_TYPED_TEST_SUITE_P(collectives, tiles_of_each_width, single_threads, lanes_that_gather,
                            gathered_tiles_that_meet);

}  // namespace wyrm::tests
