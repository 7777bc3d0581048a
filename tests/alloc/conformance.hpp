// SPDX-License-Identifier: Apache-2.0
// The conformance suite of the concept device_allocator, for each allocator of the registry, on any space.
// alloc::traits says what an allocator cannot do; tests of that are skipped or less strict.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string_view>
#include <vector>

#include "../../alloc/registry.hpp"
#include "../support/seed.hpp"
#include "tested_allocators.hpp"
#include "workload.hpp"

namespace wyrm::tests {

inline constexpr std::size_t mib = std::size_t{1} << 20;
inline std::size_t largest_pool() { return scaled(32 * mib, 8 * mib); }

/// Devices commit 2 MiB at least for each range of a pool.
inline alloc::options pool_of(std::size_t bytes, bool checked) {
  return {.pool_bytes = bytes,
          .reserve_bytes = std::max(std::min(8 * bytes, 2 * largest_pool()), 16 * mib),
          .checked = checked,
          .guards = false};
}

/// The same, of which the share has so many bytes, and the same room to grow.
template <class A>
alloc::options pool_with_share(std::size_t bytes, bool checked) {
  alloc::options o = pool_of(bytes, checked);
  o.pool_bytes = with_share<A>(o.pool_bytes);
  o.reserve_bytes = with_share<A>(o.reserve_bytes);
  return o;
}

inline std::vector<std::size_t> random_sizes(std::size_t n, std::size_t largest, std::uint64_t seed) {
  std::mt19937_64 random(seeded(seed));
  std::vector<std::size_t> sizes(n);
  for (std::size_t& s : sizes) s = 1 + random() % largest;
  return sizes;
}

template <class A>
class conformance : public space_test<typename A::space_type> {};
TYPED_TEST_SUITE_P(conformance);

TYPED_TEST_P(conformance, one_size_at_a_time) {
  for (bool const checked : {false, true})
    for (std::size_t const bytes : {1u, 15u, 16u, 17u, 100u, 1000u, 4096u, 8192u, 8193u, 70000u}) {
      SCOPED_TRACE(std::to_string(bytes) + (checked ? " bytes, checked" : " bytes"));
      pool<TypeParam> p(pool_of(scaled(8 * mib, 2 * mib), checked));
      std::size_t const n = std::min(scaled(200, 40), p.committed() / 16 / bytes + 1);
      auto blocks = p.allocate(n, bytes);
      EXPECT_EQ(served(blocks), n);
      p.expect_sound();
      p.free(split_off(blocks, n / 2));
      p.expect_sound();
      auto const more = p.allocate(n / 2, bytes);
      EXPECT_EQ(served(more), n / 2);
      p.expect_sound();
      p.free(more);
      p.free(blocks);
      p.expect_sound();
    }
}

TYPED_TEST_P(conformance, mixed_sizes_in_one_launch) {
  for (bool const checked : {false, true}) {
    SCOPED_TRACE(checked ? "checked" : "unchecked");
    pool<TypeParam> p(pool_of(largest_pool(), checked));
    std::size_t const n = scaled(1000, 200);
    auto const first = p.allocate(random_sizes(n, 9000, 1));
    EXPECT_EQ(served(first), n);
    p.expect_sound();
    auto second = p.allocate(random_sizes(n, 9000, 2));
    EXPECT_EQ(served(second), n);
    p.free(first);
    p.expect_sound();
    p.free(split_off(second, n / 3));
    p.expect_sound();
    auto const third = p.allocate(random_sizes(n, 9000, 3));
    EXPECT_EQ(served(third), n);
    p.expect_sound();
    p.free(third);
    p.free(second);
    p.expect_sound();
  }
}

TYPED_TEST_P(conformance, only_some_lanes_request) {
  pool<TypeParam> p(pool_of(8 * mib, true));
  std::mt19937 random(seeded(1));
  for (int kind = 0; kind < 4; ++kind) {
    std::vector<std::size_t> sizes = random_sizes(320, 3000, static_cast<std::uint64_t>(kind));
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      std::size_t const tile = i / 32;
      bool const asks = kind == 0   ? i % 32 == tile      // one lane
                        : kind == 1 ? i % 2 == tile % 2   // every second lane
                        : kind == 2 ? i % 32 < 3 * tile   // the first lanes, or none
                                    : random() % 3 == 0;  // random lanes
      if (!asks) sizes[i] = 0;
    }
    auto const asked = static_cast<std::size_t>(sizes.size()) -
                       static_cast<std::size_t>(std::count(sizes.begin(), sizes.end(), std::size_t{0}));
    auto const blocks = p.allocate(sizes);
    EXPECT_EQ(served(blocks), asked);
    p.expect_sound();
    p.free(blocks);  // as many lanes have nothing to free
    p.expect_sound();
  }
  EXPECT_EQ(served(p.allocate(64, 0)), 0u);
  p.expect_sound();
}

TYPED_TEST_P(conformance, single_threads) {
  pool<TypeParam> p(pool_of(largest_pool(), true));
  std::size_t const n = scaled(1000, 200);
  auto const blocks = p.allocate_per_thread(random_sizes(n, 9000, 4));
  p.expect_sound();
  auto const more = p.allocate(random_sizes(n / 2, 9000, 5));  // tiles can allocate what threads have freed
  EXPECT_EQ(served(more), n / 2);
  p.free_per_thread_shuffled(blocks);
  p.expect_sound();
  p.free_per_thread_shuffled(more);
  p.expect_sound();
  p.free_per_thread_shuffled(p.allocate(64, 0));  // nullptr
  p.expect_sound();
}

TYPED_TEST_P(conformance, churn_with_room) {
  for (bool const checked : {false, true}) {
    SCOPED_TRACE(checked ? "checked" : "unchecked");
    pool<TypeParam> p(pool_of(largest_pool(), checked));
    auto const left = p.churn(scaled(200, 64), static_cast<unsigned>(scaled(120, 20)), 1, 9000);
    EXPECT_GT(left.size(), 0u);
    p.expect_sound();
    p.free(left);
    p.expect_sound();
  }
}

TYPED_TEST_P(conformance, churn_of_single_threads) {
  for (bool const has_room : {true, false}) {
    SCOPED_TRACE(has_room ? "with room" : "without room");
    pool<TypeParam> p(pool_of(has_room ? largest_pool() : mib / 2, has_room));
    auto const left = p.churn(scaled(1000, 100), static_cast<unsigned>(scaled(60, 20)), 3, 2000, true);
    p.expect_sound();
    p.free_per_thread_shuffled(left);
    p.expect_sound();
  }
}

// The requests exceed the pool, so that some are refused at any time.
TYPED_TEST_P(conformance, churn_without_room) {
  for (std::uint64_t seed = 1; seed <= scaled(6, 3); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    pool<TypeParam> p(pool_of(mib / 2, seed != 2), make_space<typename TypeParam::space_type>(seed));
    auto const left = p.churn(scaled(300, 64), static_cast<unsigned>(scaled(60, 20)), seed, 9000);
    p.expect_sound();
    p.free(left);
    p.expect_sound();
  }
}

// So many rounds that there are WYRM_TEST_OPERATIONS operations, with WYRM_TEST_SAMPLES as class verification has them.
// In nearly all rounds each lane makes one operation, mostly on a small block.
TYPED_TEST_P(conformance, long_churn) {
  double const operations = operations_or(20000);
  if (!owns_pool<TypeParam>() || !family<TypeParam>().reclaims) GTEST_SKIP() << "the allocator reuses no memory";
  std::size_t const lanes = operations < 1e7 ? 320 : 131072;
  // Blocks of 4 KiB need more.
  std::size_t const bytes = lanes << (family<TypeParam>().unit_bytes < 4096 ? 14 : 16);
  pool<TypeParam> p({.pool_bytes = bytes, .reserve_bytes = bytes, .checked = false});
  verification const verify{test_samples()};
  ownership owned;
  exec::buffer<std::uint32_t, typename TypeParam::space_type> owners(p.space());
  if (verify.samples > 0 && is_contiguous<TypeParam>()) {
    owned.base = p.base();
    owned.unit = family<TypeParam>().unit_bytes;
    owners.reserve(p.committed() / owned.unit);
    owned.owners = owners.data();
  }
  struct {
    std::uint64_t largest;
    double fraction;
  } const kinds[] = {{200, 0.7}, {64, 0.2}, {9000, 0.1}};
  for (auto const& [largest, fraction] : kinds) {
    auto const rounds = static_cast<unsigned>(operations * fraction / static_cast<double>(lanes)) + 1;
    p.space().fill(owners.data(), 0, owners.bytes());
    p.free(p.churn(lanes, rounds, largest, largest, false, verify, owned));
    p.expect_sound();
  }
}

// With samples and owners, the churn finds a block that changes under its owner, and blocks that overlap.
TYPED_TEST_P(conformance, sampled_verification) {
  using space_type = typename TypeParam::space_type;
  if (!owns_pool<TypeParam>() || !is_contiguous<TypeParam>()) GTEST_SKIP() << "the pool is not one range of addresses";
  pool<TypeParam> p(pool_of(4 * mib, false));
  verification const verify{16};
  exec::buffer<std::uint32_t, space_type> owners(p.space(), 4 * mib / 16);
  p.space().fill(owners.data(), 0, owners.bytes());
  ownership const owned{p.base(), family<TypeParam>().unit_bytes, owners.data()};
  auto const left = p.churn(64, 20, 3, 3000, false, verify, owned);
  p.expect_sound();
  std::size_t units = 0;
  for (block const& b : left) units += (b.bytes + owned.unit - 1) / owned.unit;
  auto const words = exec::copy_out(p.space(), owners.data(), owners.size());
  EXPECT_EQ(owners.size() - static_cast<std::size_t>(std::count(words.begin(), words.end(), 0u)), units);
  p.free(left);
  p.expect_sound();
}

TYPED_TEST_P(conformance, exhaustion) {
  for (std::size_t const bytes : {scaled(100) < 100 ? 64u : 16u, 512u, 4096u, 8192u}) {
    SCOPED_TRACE(std::to_string(bytes) + " bytes");
    pool<TypeParam> p(pool_of(scaled(mib, mib / 2), bytes > 64));
    std::size_t at_once = 0;
    auto const blocks = p.exhaust(bytes, &at_once);
    if (owns_pool<TypeParam>()) {
      EXPECT_GE(at_once * (in_units<TypeParam>(bytes) + family<TypeParam>().header_bytes),
                share_of<TypeParam>(p.committed()) * 95 / 100);
    }
    EXPECT_GT(at_once, 0u);
    EXPECT_GT(p.owner().stats().failures, 0u);
    p.expect_sound();
    p.free(blocks);
    p.expect_sound();
    if (!family<TypeParam>().reclaims) continue;
    auto const again = p.exhaust(bytes);
    if (owns_pool<TypeParam>() && family<TypeParam>().packs) {
      EXPECT_EQ(again.size(), blocks.size());
    } else {
      EXPECT_GE(again.size(), blocks.size() * 9 / 10);
    }
    p.expect_sound();
    p.free(again);
    p.expect_sound();
  }
}

TYPED_TEST_P(conformance, the_whole_pool_and_no_more) {
  if (!owns_pool<TypeParam>()) GTEST_SKIP() << "the allocator has no pool of its own";
  for (bool const checked : {false, true}) {
    pool<TypeParam> p(pool_of(2 * mib, checked));
    std::size_t const all = share_of<TypeParam>(p.committed());
    auto const whole = p.allocate(1, all);
    EXPECT_EQ(served(whole), 1u);
    EXPECT_EQ(served(p.allocate(1, is_contiguous<TypeParam>() ? 1 : all)), 0u);
    p.expect_sound();
    p.free(whole);
    p.expect_sound();
    p.reset();
    EXPECT_EQ(served(p.allocate(1, all + 1)), 0u);
    p.expect_sound();
  }
}

// Sizes for which arithmetic without checks overflows: for one request, or for the sum over a tile.
TYPED_TEST_P(conformance, sizes_beyond_any_memory) {
  constexpr std::size_t half = SIZE_MAX / 2 + 1;
  for (std::vector<std::size_t> const& sizes : {std::vector<std::size_t>{SIZE_MAX},
                                                {SIZE_MAX - 14},
                                                {SIZE_MAX - 15},
                                                {SIZE_MAX - 31},
                                                {SIZE_MAX - 100},
                                                {half},
                                                {half, half},
                                                std::vector<std::size_t>(32, half),
                                                {half, half - 100, 0, half + 300},
                                                std::vector<std::size_t>(32, SIZE_MAX / 32 + 1),
                                                {std::size_t{1} << 48}}) {
    SCOPED_TRACE(std::to_string(sizes.size()) + " sizes, the first " + std::to_string(sizes[0]));
    pool<TypeParam> p(pool_of(mib, true));
    EXPECT_EQ(served(p.allocate(100, 100)), 100u);
    EXPECT_EQ(served(p.allocate(sizes)), 0u);
    p.expect_sound();
    auto const after = p.allocate(100, 100);  // an allocator may count as used up after a refusal
    EXPECT_TRUE(served(after) == 100u || !family<TypeParam>().reclaims);
    p.expect_sound();
  }
}

TYPED_TEST_P(conformance, blocks_are_inside_the_pool) {
  if (!owns_pool<TypeParam>()) GTEST_SKIP() << "the allocator has no pool of its own";
  if (!is_contiguous<TypeParam>()) GTEST_SKIP() << "the pool has two ranges of addresses";
  pool<TypeParam> p(pool_of(2 * mib, false));
  unsigned char* const base = p.base();
  ASSERT_NE(base, nullptr);
  for (block const& b : p.allocate(random_sizes(scaled(1000, 500), 9000, 6))) {
    if (b.p == nullptr) continue;
    ASSERT_GE(b.p, base);
    ASSERT_LE(b.p + b.bytes, base + p.committed());
  }
  p.expect_sound();
}

TYPED_TEST_P(conformance, reset_frees_everything) {
  if (!family<TypeParam>().resets) {
    pool<TypeParam> p(pool_of(mib, true));
    EXPECT_THROW(p.owner().reset(), error);
    return;
  }
  for (bool const checked : {false, true}) {
    pool<TypeParam> p(pool_of(scaled(mib, mib / 4), checked));
    std::size_t const n = p.exhaust(128).size();
    p.reset();
    EXPECT_EQ(p.owner().stats().granted, 0u);
    p.expect_sound();
    (void)p.allocate(random_sizes(300, 9000, 7));
    p.expect_sound();
    p.reset();
    p.expect_sound();
    std::size_t const again = p.exhaust(128).size();
    EXPECT_TRUE(again == n || (!family<TypeParam>().packs && again >= n * 9 / 10)) << again << " of " << n;
    p.expect_sound();
    p.reset();
    std::size_t const all = p.exhaust(4096).size();
    std::string_view const name = TypeParam::name;  // a virtualized queue of chunks uses two chunks itself
    if (!family<TypeParam>().packs) {
      EXPECT_GE(all, p.committed() / 4096 * 9 / 10);
      continue;
    }
    std::size_t const header = family<TypeParam>().header_bytes;
    EXPECT_EQ(all, (share_of<TypeParam>(p.committed()) + header) / (4096 + header) -
                       (name.ends_with("va-c") || name.ends_with("vl-c") ? 4 : 0));
    p.expect_sound();
  }
}

TYPED_TEST_P(conformance, growth_after_exhaustion) {
  for (bool const checked : {false, true}) {
    SCOPED_TRACE(checked ? "checked" : "unchecked");
    pool<TypeParam> p(pool_of(scaled(mib, mib / 4), checked));
    std::size_t const before = p.committed();
    auto blocks = p.exhaust(1000);
    p.expect_sound();
    p.free(split_off(blocks, blocks.size() / 3));  // so that there are free blocks when the pool grows
    p.owner().grow(before);
    p.expect_sound();
    EXPECT_EQ(p.committed(), 2 * before);
    auto const more = p.exhaust(1000);
    EXPECT_GE(more.size(), blocks.size() / 2);
    EXPECT_TRUE(more.size() * in_units<TypeParam>(1024) >= before * 95 / 100 || !owns_pool<TypeParam>()) << more.size();
    p.expect_sound();
    p.owner().grow(before);
    EXPECT_GT(served(p.allocate(random_sizes(100, 9000, 8))), 0u);
    p.expect_sound();
    p.free(more);
    p.free(blocks);
    p.expect_sound();
  }
}

TYPED_TEST_P(conformance, growth_beyond_the_reserve_changes_nothing) {
  pool<TypeParam> p(pool_of(mib, true));
  auto const blocks = p.allocate(random_sizes(100, 3000, 9));
  std::size_t const before = p.committed();
  for (std::size_t const more : {p.owner().stats().reserved - before + 1, 100 * largest_pool(), SIZE_MAX / 2 + 1,
                                 SIZE_MAX - before, SIZE_MAX - before + 1, SIZE_MAX - 15, SIZE_MAX}) {
    try {
      p.owner().grow(more);
      ADD_FAILURE() << "grow() accepted " << more;
    } catch (error const& e) {
      EXPECT_EQ(e.code(), error_code::out_of_memory);
    }
    EXPECT_EQ(p.committed(), before);
    p.expect_sound();
  }
  p.owner().grow(p.owner().stats().reserved - before);
  EXPECT_EQ(p.committed(), p.owner().stats().reserved);
  EXPECT_EQ(served(p.allocate(random_sizes(100, 3000, 10))), 100u);
  p.expect_sound();
}

// All launches of class pool use the ref that was made first.
TYPED_TEST_P(conformance, a_ref_is_small_and_valid_as_long_as_the_owner) {
  EXPECT_LE(sizeof(typename TypeParam::ref_type), 64u);
  pool<TypeParam> p(pool_of(mib, true));
  std::size_t const before = p.committed();
  auto const first = p.allocate(random_sizes(100, 3000, 21));
  p.owner().grow(before);
  p.free(p.allocate(random_sizes(100, 3000, 22)));
  p.expect_sound();
  p.move_owner();
  auto const second = p.allocate(random_sizes(100, 3000, 23));
  EXPECT_EQ(served(second), 100u);
  p.owner().grow(2 * before);
  p.owner().compact();
  EXPECT_EQ(served(p.allocate(1, before + before / 2)), 1u);
  EXPECT_EQ(served(p.allocate(random_sizes(100, 3000, 24))), 100u);
  p.free(first);
  p.free(second);
  p.expect_sound();
  if (!owns_pool<TypeParam>()) return;
  p.reset();
  EXPECT_EQ(served(p.allocate(1, p.committed() + 1)), 0u);
  p.expect_sound();
  p.reset();  // an allocator may count as used up after a refusal
  EXPECT_EQ(served(p.allocate(1, share_of<TypeParam>(p.committed()))), 1u);
  p.expect_sound();
}

TYPED_TEST_P(conformance, pools_beyond_any_memory) {
  auto const space = make_space<typename TypeParam::space_type>();
  for (std::size_t const bytes : {SIZE_MAX, SIZE_MAX - 15, SIZE_MAX - 65536, SIZE_MAX / 2 + 1, SIZE_MAX / 4 + 2})
    for (bool const is_pool : {true, false}) {
      alloc::options const o =
          is_pool ? alloc::options{.pool_bytes = bytes, .reserve_bytes = mib, .checked = false}
                  : alloc::options{.pool_bytes = mib, .reserve_bytes = bytes, .checked = true, .guards = false};
      try {
        TypeParam const owner(space, in_tested_memory<TypeParam>(o));
        ADD_FAILURE() << (is_pool ? "accepted a pool of " : "accepted a reserve of ") << bytes << " bytes";
      } catch (error const& e) {
        EXPECT_EQ(e.code(), error_code::out_of_memory) << e.what();
      }
    }
}

// Each memory request of a constructor, of grow() and of compact() fails once. After the growth, the ledger of a host
// has more than one step of memory.
TYPED_TEST_P(conformance, requests_for_memory_that_fail) {
  alloc::options const o{.pool_bytes = mib, .reserve_bytes = 16 * mib, .checked = true, .guards = false};
  auto const space = make_space<typename TypeParam::space_type>();
  for (std::uint64_t requests = 0;; ++requests) {
    exec::injected_failure const failure(requests);
    try {
      TypeParam const owner(space, in_tested_memory<TypeParam>(o));
      break;
    } catch (error const& e) {
      ASSERT_EQ(e.code(), error_code::out_of_memory);
    }
  }
  pool<TypeParam> p(o);
  auto const blocks = p.allocate(random_sizes(100, 3000, 31));
  std::size_t const before = p.committed();
  for (std::uint64_t requests = 0; p.committed() == before; ++requests) {
    SCOPED_TRACE("grow() is refused memory after " + std::to_string(requests) + " requests");
    bool refused = false;
    try {
      exec::injected_failure const failure(requests);
      p.owner().grow(8 * mib);
    } catch (error const& e) {
      refused = true;
      EXPECT_EQ(e.code(), error_code::out_of_memory);
    }
    EXPECT_EQ(p.committed(), refused ? before : before + 8 * mib);
    p.expect_sound();
    auto const some = p.allocate(32, 100);
    EXPECT_EQ(served(some), 32u);
    p.free(some);
    p.expect_sound();
    if (this->HasFailure()) return;
  }
  for (std::uint64_t requests = 0;; ++requests) {
    try {
      exec::injected_failure const failure(requests);
      p.owner().compact();
      break;
    } catch (error const& e) {
      ASSERT_EQ(e.code(), error_code::out_of_memory);
    }
    p.expect_sound();
  }
  std::size_t const large = before + mib;
  EXPECT_EQ(served(p.allocate(1, large)), 1u);
  p.expect_sound();
  p.free(blocks);
  p.expect_sound();
}

// The host reads blocks of managed and of pinned memory at their addresses, which it could not if the pool, or what it
// has grown by, were memory of the device.
TYPED_TEST_P(conformance, each_kind_of_memory) {
  for (exec::memory_kind const kind : exec::memory_kinds) {
    SCOPED_TRACE(exec::to_string(kind));
    bool const is_of_device = kind == exec::memory_kind::device;
    alloc::options o = pool_of(2 * mib, true);
    o.memory = kind;
    if (!owns_pool<TypeParam>() && !is_of_device) {
      try {
        TypeParam const owner(make_space<typename TypeParam::space_type>(), o);
        ADD_FAILURE() << "accepted";
      } catch (error const& e) {
        EXPECT_EQ(e.code(), error_code::bad_argument) << e.what();
        EXPECT_NE(std::string_view(e.what()).find(exec::to_string(kind)), std::string_view::npos) << e.what();
      }
      continue;
    }
    pool<TypeParam> p(o);
    auto const expect_blocks = [&](typename pool<TypeParam>::blocks const& blocks) {
      EXPECT_EQ(served(blocks), blocks.size());
      p.space().synchronize();
      for (block const& b : blocks) EXPECT_TRUE(is_of_device || is_intact(b));
      p.expect_sound();
    };
    auto const first = p.allocate(random_sizes(scaled(200, 50), 9000, 41));
    expect_blocks(first);
    p.owner().grow(4 * mib);
    std::size_t const rest = p.owner().stats().committed - p.owner().stats().peak;
    auto const large = p.allocate(1, share_of<TypeParam>(rest / 2));
    expect_blocks(large);
    p.free(first);
    p.owner().compact();
    expect_blocks(large);
    p.free(large);
    p.expect_sound();
    if (!family<TypeParam>().resets) continue;
    p.reset();
    expect_blocks(p.allocate(random_sizes(scaled(200, 50), 9000, 42)));
  }
}

TYPED_TEST_P(conformance, bad_frees_are_counted_and_harmless) {
  if (!owns_pool<TypeParam>()) GTEST_SKIP() << "the allocator has no pool of its own";
  pool<TypeParam> p(pool_of(4 * mib, true));
  unsigned char* const base = p.base();
  ASSERT_NE(base, nullptr);
  exec::buffer<unsigned char, typename TypeParam::space_type> const elsewhere(p.space(), 4096);
  auto const blocks = p.allocate(random_sizes(150, 9000, 11));
  auto const small = p.allocate(50, 64);
  ASSERT_EQ(served(blocks) + served(small), 200u);

  typename pool<TypeParam>::blocks foreign;
  auto const add = [&](unsigned char* at) { foreign.push_back({1, 0, at}); };
  add(elsewhere.data());
  add(elsewhere.data() + 1024);
  add(reinterpret_cast<unsigned char*>(std::uintptr_t{16}));
  add(base - 16);
  add(base + p.committed());
  add(base + p.committed() + 64 * 1024);
  add(base + p.committed() - 16);  // inside the pool, where nothing was allocated
  add(base + p.committed() - 64 * 1024);
  add(base + p.committed() - 1);
  for (block const& b : small) {
    add(b.p + 1);
    add(b.p + 8);
    add(b.p + 16);
    add(b.p + 32);
  }
  for (block const& b : blocks)
    if (b.bytes > 128) add(b.p + b.bytes / 2 / 16 * 16);
  p.free_in_order(foreign);
  p.expect_bad_frees(foreign.size());
  p.expect_sound();

  // Good and bad frees in one tile; the same block twice in one launch.
  std::size_t const bad = foreign.size();
  foreign.insert(foreign.end(), small.begin(), small.end());
  foreign.insert(foreign.end(), small.begin(), small.end());
  p.free(small);
  p.expect_sound();
  p.free_in_order(foreign);
  p.expect_bad_frees(bad + 2 * small.size());
  p.expect_sound();
  auto const twice = p.allocate(50, 64);
  ASSERT_EQ(served(twice), 50u);
  auto both = twice;
  both.insert(both.end(), twice.begin(), twice.end());
  std::shuffle(both.begin(), both.end(), std::mt19937(seeded(1)));
  p.free_once_each(both, twice);
  p.expect_bad_frees(50);
  p.expect_sound();

  p.free(blocks);
  p.expect_sound();
  p.free_in_order(blocks);
  p.expect_bad_frees(blocks.size());
  p.expect_sound();
  auto const after = p.allocate(random_sizes(150, 9000, 12));
  EXPECT_EQ(served(after), 150u);
  p.expect_sound();
}

TYPED_TEST_P(conformance, foreign_frees_are_counted_unchecked_too) {
  if (!owns_pool<TypeParam>()) GTEST_SKIP() << "the allocator has no pool of its own";
  pool<TypeParam> p(pool_of(2 * mib, false));
  unsigned char* const base = p.base();
  ASSERT_NE(base, nullptr);
  auto const blocks = p.allocate(100, 200);
  p.free_in_order({{1, 0, base - 16},
                   {1, 0, base + p.committed()},
                   {1, 0, blocks[0].p + 1},
                   {1, 0, reinterpret_cast<unsigned char*>(std::uintptr_t{16})}});
  p.expect_bad_frees(4);
  p.expect_sound();
  p.free(blocks);
  p.expect_sound();
}

TYPED_TEST_P(conformance, compaction_keeps_live_blocks) {
  for (bool const checked : {false, true}) {
    SCOPED_TRACE(checked ? "checked" : "unchecked");
    pool<TypeParam> p(pool_of(largest_pool(), checked));
    std::size_t const n = scaled(2000, 200);
    auto blocks = p.allocate(random_sizes(n, 3000, 13));
    auto small = p.allocate(n, 24);
    p.free(split_off(blocks, n / 2));
    p.free(split_off(small, n - n / 10));
    p.owner().compact();
    p.expect_sound();
    auto const more = p.allocate(random_sizes(n, 3000, 14));
    EXPECT_EQ(served(more), n);
    p.expect_sound();
    p.free(small);
    p.free(more);
    p.owner().compact();
    p.owner().compact();  // nothing is left to compact
    p.expect_sound();
    p.free(blocks);
    p.expect_sound();
  }
}

TYPED_TEST_P(conformance, carved_pages_behave_like_others) {
  if constexpr (alloc::carving_ref<typename TypeParam::ref_type>) {
    for (bool const checked : {false, true}) {
      SCOPED_TRACE(checked ? "checked" : "unchecked");
      pool<TypeParam> p(pool_with_share<TypeParam>(scaled(8 * mib, 2 * mib), checked));
      std::uint64_t missing = 1;
      // Before the carving some windows and queues have pages, and others are empty.
      auto some = p.allocate(random_sizes(scaled(400, 100), 2048, 11));
      p.free(split_off(some, some.size() / 2));
      auto const first = p.carve({700, 37, 0, 129, 64, 1, 9, 4}, missing);
      EXPECT_EQ(missing, 0u);
      p.expect_sound();
      auto const second = p.carve({3, 500, 300, 0, 7, 8, 0, 13}, missing);
      EXPECT_EQ(missing, 0u);
      p.expect_sound();
      p.free(first);
      p.expect_sound();
      auto const others = p.allocate(random_sizes(scaled(400, 100), 2048, 12));
      p.expect_sound();
      EXPECT_TRUE(p.carve({0, 0, 0, 0, 0, 0, 0, 6000}, missing).empty());
      EXPECT_GT(missing, 0u);
      p.expect_sound();
      p.owner().grow(missing);
      auto const third = p.carve({0, 0, 0, 0, 0, 0, 0, 6000}, missing);
      EXPECT_EQ(missing, 0u);
      p.expect_sound();
      for (auto const& all : {some, second, others, third}) p.free(all);
      p.expect_sound();
    }
  }
}

// For example the last page first: claiming and freeing a page does not depend on other pages.
TYPED_TEST_P(conformance, carved_pages_are_claimed_and_freed_in_any_order) {
  if constexpr (alloc::carving_ref<typename TypeParam::ref_type>) {
    for (bool const checked : {false, true})
      for (std::uint32_t const step : {1u, 0xfffffffbu, 17u}) {
        SCOPED_TRACE(std::string(checked ? "checked" : "unchecked") + ", step " + std::to_string(step));
        pool<TypeParam> p(pool_with_share<TypeParam>(scaled(8 * mib, 2 * mib), checked));
        auto some = p.allocate(random_sizes(scaled(400, 100), 2048, 11));
        for (int round = 0; round < 2; ++round) {
          p.carve_and_free({700, 37, 0, 129, 64, 1, 9, 4}, step);
          p.expect_sound();
          if (family<TypeParam>().reclaims) {
            std::vector<alloc::class_statistics> const classes = p.owner().stats().classes;
            auto const its = std::find_if(classes.begin(), classes.end(),
                                          [](auto const& k) { return k.page_bytes == carved_bytes(0); });
            ASSERT_NE(its, classes.end());
            EXPECT_GE(its->free, 700u);
          }
          auto const others = p.allocate(random_sizes(scaled(400, 100), 2048, 12));
          p.expect_sound();
          p.free(others);
        }
        EXPECT_EQ(p.owner().stats().bad_frees, 0u);
        p.free(some);
        p.expect_sound();
      }
  }
}

REGISTER_TYPED_TEST_SUITE_P(conformance, one_size_at_a_time, mixed_sizes_in_one_launch, only_some_lanes_request,
                            single_threads, churn_with_room, churn_of_single_threads, churn_without_room, long_churn,
                            sampled_verification, exhaustion, the_whole_pool_and_no_more, sizes_beyond_any_memory,
                            blocks_are_inside_the_pool, reset_frees_everything, growth_after_exhaustion,
                            growth_beyond_the_reserve_changes_nothing, a_ref_is_small_and_valid_as_long_as_the_owner,
                            pools_beyond_any_memory, requests_for_memory_that_fail, each_kind_of_memory,
                            bad_frees_are_counted_and_harmless, foreign_frees_are_counted_unchecked_too,
                            compaction_keeps_live_blocks, carved_pages_behave_like_others,
                            carved_pages_are_claimed_and_freed_in_any_order);

}  // namespace wyrm::tests
