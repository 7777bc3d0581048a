// SPDX-License-Identifier: Apache-2.0
// The list-based allocators: how segments are split and merged, which bin and which list a free segment is in, what
// compact() and a request that finds nothing repair, what check() finds, and which bad frees are counted.
#include "../../alloc/lists/lists.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "../../exec/host_space.hpp"
#include "../support/corrupt.hpp"
#include "../support/simt_space.hpp"
#include "workload.hpp"

namespace wyrm::tests {
namespace {

using host = exec::host_space;
constexpr std::size_t kib = 1024;

// Four free lists; the test says which one a request looks into first.
struct four_lists {
  static constexpr char const* name = "four-lists";
  static inline std::uint32_t here = 0;
  template <class Space>
  static std::uint32_t count(Space const&) {
    return 4;
  }
  static std::uint32_t current(std::uint32_t) { return here; }
};

// Nine free lists, whatever the number of threads; each request looks first into another one.
struct changing_lists {
  static constexpr char const* name = "changing-lists";
  static inline std::uint64_t requests = 0;
  template <class Space>
  static std::uint32_t count(Space const&) {
    return 9;
  }
  static std::uint32_t current(std::uint32_t count) {
    std::uint64_t const request = exec::atomic_ref<std::uint64_t>(requests).fetch_add(1, exec::relaxed);
    return static_cast<std::uint32_t>(scramble(request) % count);
  }
};

template <class Policy>
class small_pool : public alloc::list_allocator<host, Policy> {
  using base = alloc::list_allocator<host, Policy>;

 public:
  explicit small_pool(bool checked = false, std::size_t bytes = 64 * kib)
      : base(host(1), {.pool_bytes = bytes, .reserve_bytes = 4 * bytes, .checked = checked, .guards = false}) {
    four_lists::here = 0;
  }
  using base::copy_lists;
  using base::copy_state;

  [[nodiscard]] std::byte* allocate(std::size_t bytes, std::size_t align = 16) {
    return static_cast<std::byte*>(this->view().allocate(exec::scalar_tile{}, bytes, align));
  }
  void free(void* p) { this->ref().free(p); }
  [[nodiscard]] std::size_t bad_frees() const { return this->stats().bad_frees; }
  // The number of free segments per bin, in one list or in all.
  [[nodiscard]] std::vector<std::uint64_t> free_segments() const {
    std::vector<std::uint64_t> counts(alloc::bins);
    for (alloc::free_list const& list : copy_lists())
      for (unsigned bin = 0; bin < alloc::bins; ++bin) counts[bin] += list.count[bin];
    return counts;
  }
  [[nodiscard]] std::uint64_t free_segments_of(unsigned list) const {
    std::uint64_t count = 0;
    alloc::free_list const l = copy_lists()[list];
    for (std::uint64_t const n : l.count) count += n;
    return count;
  }
  template <class Damage>
  void expect(std::string const& what, Damage const& damage) {
    auto lists = copy_lists();
    auto state = copy_state();
    EXPECT_NO_THROW(base::check(lists, state));
    damage(lists, state);
    expect_corrupt(what, [&] { base::check(lists, state); });
  }
};
using one_list = small_pool<alloc::one_free_list>;
using many_lists = small_pool<four_lists>;
using counts = std::vector<std::uint64_t>;

alloc::segment_header& header_of(void* p) {
  return *reinterpret_cast<alloc::segment_header*>(static_cast<std::byte*>(p) - 16);
}

TEST(lists, bins_have_segments_of_twice_the_size) {
  EXPECT_EQ(alloc::segment_units(1), 2u);
  EXPECT_EQ(alloc::segment_units(16), 2u);
  EXPECT_EQ(alloc::segment_units(17), 3u);
  EXPECT_EQ(alloc::segment_units(SIZE_MAX), (std::uint64_t{1} << 60) + 1);
  for (unsigned bin = 0; bin < alloc::bins; ++bin) {
    std::uint64_t const least = std::uint64_t{2} << bin;
    EXPECT_EQ(alloc::bin_of(least), bin);
    EXPECT_EQ(alloc::bin_of(2 * least - 1), bin);
    EXPECT_EQ(alloc::bin_bytes(bin), (least - 1) * 16);
  }
  EXPECT_EQ(alloc::bin_of(std::uint64_t{1} << 36), 9u);
}

TEST(lists, split_segments_in_numbers) {
  one_list pool;
  std::byte* const a = pool.allocate(100);  // 7 units, and the header
  std::byte* const b = pool.allocate(1);
  std::byte* const c = pool.allocate(64 * kib - 14 * 16);
  std::byte* const d = pool.allocate(33);
  EXPECT_EQ(b, a + 8 * 16);
  EXPECT_EQ(c, b + 2 * 16);
  EXPECT_EQ(d, a + 64 * kib - 3 * 16);
  EXPECT_EQ(pool.allocate(1), nullptr);
  EXPECT_EQ(pool.view().block_bytes(a), 112u);
  EXPECT_EQ(pool.view().block_bytes(b), 16u);
  EXPECT_EQ(pool.view().block_bytes(d), 48u);
  EXPECT_EQ(pool.view().block_bytes(a + 16), 0u);
  EXPECT_EQ(pool.view().block_bytes(a - 16), 0u);
  EXPECT_EQ(pool.view().block_bytes(a + 64 * kib), 0u);
  alloc::statistics s = pool.stats();
  EXPECT_EQ(s.granted, 64 * kib);
  EXPECT_EQ(s.peak, 64 * kib);
  EXPECT_EQ(s.failures, 1u);
  pool.check();
  pool.free(b);
  pool.free(d);
  s = pool.stats();
  EXPECT_EQ(s.granted, 64 * kib - 6 * 16);
  EXPECT_EQ(s.peak, 64 * kib);
  ASSERT_EQ(s.classes.size(), 10u);
  EXPECT_EQ(s.classes[0].page_bytes, 16u);
  EXPECT_EQ(s.classes[0].free, 1u);
  EXPECT_EQ(s.classes[1].page_bytes, 48u);
  EXPECT_EQ(s.classes[1].free, 1u);
  EXPECT_EQ(s.classes[1].pages, 1u);
  // A rest of one unit, in which no segment fits, stays with the block.
  EXPECT_EQ(pool.allocate(17), d);
  EXPECT_EQ(pool.view().block_bytes(d), 48u);
  pool.check();
}

TEST(lists, requests_take_the_first_fit_from_the_bin_of_their_size) {
  one_list pool;
  // Free segments of 4, 7, 8 and 16 units, between used ones.
  std::vector<std::byte*> blocks;
  for (std::size_t const units : {4u, 7u, 8u, 16u}) {
    blocks.push_back(pool.allocate(units * 16 - 16));
    (void)pool.allocate(16);
  }
  (void)pool.allocate(pool.stats().committed - pool.stats().granted - 16);
  EXPECT_EQ(pool.free_segments(), counts(10));
  for (std::byte* const p : blocks) pool.free(p);
  EXPECT_EQ(pool.free_segments(), (counts{0, 2, 1, 1, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(pool.allocate(64), blocks[1]);  // 5 units: not the 4 in the same bin
  EXPECT_EQ(pool.free_segments(), (counts{1, 1, 1, 1, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(pool.allocate(64), blocks[2]);  // from the next bin; 3 units remain
  EXPECT_EQ(pool.allocate(64), blocks[3]);  // 11 units remain
  EXPECT_EQ(pool.free_segments(), (counts{2, 1, 1, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(pool.allocate(256), nullptr);
  pool.check();
}

TEST(lists, a_free_merges_with_the_successor_only) {
  one_list pool(true);
  std::array<std::byte*, 5> p{};
  for (std::byte*& block : p) block = pool.allocate(48);  // 4 units
  EXPECT_EQ(pool.free_segments(), (counts{0, 0, 0, 0, 0, 0, 0, 0, 0, 1}));
  pool.free(p[1]);
  pool.free(p[0]);  // 8 units
  EXPECT_EQ(pool.free_segments(), (counts{0, 0, 1, 0, 0, 0, 0, 0, 0, 1}));
  pool.free(p[2]);  // the predecessor is free, the successor is not
  EXPECT_EQ(pool.free_segments(), (counts{0, 1, 1, 0, 0, 0, 0, 0, 0, 1}));
  pool.free(p[3]);
  EXPECT_EQ(pool.free_segments(), (counts{0, 2, 1, 0, 0, 0, 0, 0, 0, 1}));
  pool.free(p[4]);  // with the large rest
  EXPECT_EQ(pool.free_segments(), (counts{0, 2, 1, 0, 0, 0, 0, 0, 0, 1}));
  pool.check();
  pool.compact();
  EXPECT_EQ(pool.free_segments(), (counts{0, 0, 0, 0, 0, 0, 0, 0, 0, 1}));
  pool.check();
  EXPECT_EQ(pool.stats().granted, 0u);
}

TEST(lists, a_request_that_finds_nothing_merges) {
  for (bool const compacts : {false, true}) {
    one_list pool(true);
    std::vector<std::byte*> blocks;
    while (std::byte* const p = pool.allocate(100)) blocks.push_back(p);
    for (std::byte* const p : blocks) pool.free(p);  // ascending: no successor is free
    EXPECT_EQ(pool.stats().granted, 0u);
    counts const before = pool.free_segments();
    EXPECT_GE(before[2], blocks.size() - 1);
    pool.check();
    if (compacts) {
      pool.compact();
      EXPECT_EQ(pool.free_segments(), (counts{0, 0, 0, 0, 0, 0, 0, 0, 0, 1}));
    }
    EXPECT_NE(pool.allocate(64 * kib), nullptr);
    pool.check();
  }
}

TEST(lists, new_memory_merges_with_the_old) {
  for (bool const compacts : {false, true}) {
    many_lists pool(true);
    EXPECT_EQ(pool.allocate(64 * kib + 1), nullptr);
    pool.grow(64 * kib);
    pool.check();
    if (compacts) pool.compact();
    EXPECT_NE(pool.allocate(128 * kib), nullptr);
    pool.check();
    pool.grow(0);
    pool.check();
  }
}

TEST(lists, memory_moves_between_lists_by_halves) {
  many_lists pool(true);
  std::byte* const a = pool.allocate(1008);  // 64 units of 4097
  four_lists::here = 2;
  std::byte* const b = pool.allocate(1008);
  EXPECT_EQ(b, a + 32 * kib);  // of 4033 units, list 0 keeps 31 times 64
  EXPECT_EQ(pool.free_segments_of(0), 1u);
  EXPECT_EQ(pool.free_segments_of(2), 1u);
  EXPECT_EQ(pool.allocate(1008), b + 1024);  // from list 2
  pool.check();
  // Blocks return to the lists that they came from, and merge within their lists only.
  four_lists::here = 3;
  pool.free(a);
  EXPECT_EQ(pool.free_segments_of(0), 1u);
  pool.free(b + 1024);
  pool.free(b);
  EXPECT_EQ(pool.free_segments_of(0), 1u);
  EXPECT_EQ(pool.free_segments_of(2), 1u);
  EXPECT_EQ(pool.free_segments_of(3), 0u);
  pool.check();
  four_lists::here = 0;
  std::byte* const all = pool.allocate(32 * kib - 16);
  EXPECT_EQ(all, a);
  pool.free(all);  // the successor is free, but in list 2
  EXPECT_EQ(pool.free_segments_of(0), 1u);
  EXPECT_EQ(pool.free_segments_of(2), 1u);
  EXPECT_NE(pool.allocate(64 * kib), nullptr);  // what is left in both lists
  EXPECT_EQ(pool.free_segments(), counts(10));
  pool.check();
}

TEST(lists, blocks_of_one_size_fill_the_pool_from_all_lists) {
  many_lists pool;
  for (std::size_t const bytes : {16u, 100u, 1000u, 5000u}) {
    for (int round = 0; round < 2; ++round) {
      std::vector<std::byte*> blocks;
      for (std::size_t i = 0;; ++i) {
        four_lists::here = static_cast<std::uint32_t>(scramble(i) % 4);
        std::byte* const p = pool.allocate(bytes);
        if (p == nullptr) break;
        blocks.push_back(p);
      }
      EXPECT_EQ(blocks.size(), (64 * kib / 16 + 1) / alloc::segment_units(bytes)) << bytes;
      for (std::size_t i = 0; i < blocks.size(); ++i) pool.free(blocks[i * 7919 % blocks.size()]);
      pool.check();
    }
    pool.compact();
    EXPECT_EQ(pool.free_segments(), (counts{0, 0, 0, 0, 0, 0, 0, 0, 0, 1}));
  }
}

// After a refusal, no request of that size searches again until memory is freed.
TEST(lists, a_refused_size_is_known_until_a_free) {
  one_list pool;
  std::byte* const a = pool.allocate(1000);
  std::byte* const b = pool.allocate(1000);
  while (pool.allocate(16) != nullptr) continue;
  EXPECT_EQ(pool.copy_state().unavailable, 2u);
  pool.free(a);
  EXPECT_EQ(pool.copy_state().unavailable, alloc::list_pool_state::not_known);
  EXPECT_EQ(pool.allocate(1025), nullptr);
  EXPECT_EQ(pool.copy_state().unavailable, 66u);
  EXPECT_EQ(pool.allocate(1000), a);
  pool.free(b);
  EXPECT_EQ(pool.allocate(1008, 4096) == nullptr, reinterpret_cast<std::uintptr_t>(b) % 4096 != 0);
  EXPECT_EQ(pool.allocate(1008), b);
  pool.grow(64 * kib);
  EXPECT_NE(pool.allocate(64 * kib - 16), nullptr);
  pool.check();
}

TEST(lists, blocks_have_the_requested_alignment) {
  many_lists pool(true, 256 * kib);
  std::vector<std::byte*> blocks;
  for (unsigned round = 0; round < 3; ++round) {
    four_lists::here = round;
    for (std::size_t align = 1; align <= 4096; align *= 2)
      for (std::size_t const bytes : {1u, 40u, 5000u}) {
        std::byte* const p = pool.allocate(bytes, align);
        ASSERT_NE(p, nullptr);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % std::max<std::size_t>(align, 16), 0u);
        EXPECT_GE(pool.view().block_bytes(p), bytes);
        blocks.push_back(p);
      }
    pool.check();
    for (std::size_t i = 0; i < blocks.size(); i += 2) pool.free(blocks[i]);
    pool.check();
    for (std::size_t i = 1; i < blocks.size(); i += 2) pool.free(blocks[i]);
    blocks.clear();
    pool.check();
  }
  EXPECT_NE(pool.allocate(256 * kib, 4096), nullptr);  // the pool begins at a page
  EXPECT_EQ(pool.allocate(16, 4096), nullptr);
  pool.check();
}

TEST(lists, check_finds_damaged_segments) {
  one_list pool(true);
  std::byte* const a = pool.allocate(100);
  std::byte* const b = pool.allocate(200);
  (void)pool.allocate(300);
  pool.free(b);  // segment 8 of 14 units
  auto const expect = [&](std::string const& what, auto& place, auto const& damage) {
    pool.check();
    auto const before = place;
    damage(place);
    expect_corrupt(what, [&] { pool.check(); });
    place = before;
    pool.check();
  };
  using alloc::segment_header;
  using alloc::segment_links;
  using alloc::segment_word;
  segment_header& h = header_of(b);
  expect("segment 8: there is no header", h, [](segment_header& x) { x.tag ^= 2; });
  expect("segment 8: the size is not possible", h, [](segment_header& x) { --x.word, x.word &= ~std::uint64_t{15}; });
  expect("segment 8: the size is not possible", h, [](segment_header& x) { x.word += 5000; });
  expect("segment 10: there is no header", h, [](segment_header& x) { x.word -= 12; });
  expect("segment 8: there is no such free list", h,
         [](segment_header& x) { x.word = segment_word::free(14, 1).bits(); });
  expect("segment 8 is not free", h, [](segment_header& x) { x.word = segment_word::used(14, 0).bits(); });
  auto& links = *reinterpret_cast<segment_links*>(b);
  expect("segment 7 is not free", links, [](segment_links& x) { x.next = 8; });
  expect("list 0, bin 2: the links do not agree", links, [](segment_links& x) { x.previous = 5; });
  (void)a;
}

TEST(lists, check_finds_damaged_lists) {
  many_lists pool(true);
  std::byte* const a = pool.allocate(100);
  (void)pool.allocate(100);
  std::byte* const b = pool.allocate(100);
  (void)pool.allocate(100);
  pool.free(a);
  pool.free(b);
  using lists = std::vector<alloc::free_list>;
  using state = alloc::list_pool_state;
  pool.expect("a lock is held", [](lists& l, state&) { l[3].lock = 1; });
  pool.expect("list 0, bin 2: the number of segments is wrong", [](lists& l, state&) { ++l[0].count[2]; });
  pool.expect("list 0, bin 2: the links do not agree", [](lists& l, state&) { l[0].first[2] = 1; });
  pool.expect("list 1, bin 2: a segment is in a wrong bin", [](lists& l, state&) {
    std::swap(l[0].first[2], l[1].first[2]);
    std::swap(l[0].count[2], l[1].count[2]);
  });
  pool.expect("list 0, bin 3: a segment is in a wrong bin", [](lists& l, state&) {
    std::swap(l[0].first[2], l[0].first[3]);
    std::swap(l[0].count[2], l[0].count[3]);
  });
  pool.expect("a free segment is in no list", [](lists& l, state&) { l[0].first[2] = l[0].count[2] = 0; });
  pool.expect("the bytes in use are not those that are counted", [](lists&, state& s) { --s.granted; });
  pool.expect("the peak is below the bytes in use", [](lists&, state& s) { s.peak = s.granted - 1; });
  pool.expect("counts as refused", [](lists&, state& s) { s.unavailable = 8; });
}

TEST(lists, check_compares_the_segments_with_the_live_blocks) {
  one_list pool(true);
  std::byte* const a = pool.allocate(100);
  EXPECT_EQ(pool.allocate(100), a + 128);
  pool.check();
  // What segment 0 is, is in the state of the pool; so the next one grows over its successor.
  std::byte* const b = a + 128;
  EXPECT_EQ(pool.allocate(100), b + 128);
  header_of(b).word = alloc::segment_word::used(16, 0).bits();
  expect_corrupt("live blocks are not the used segments", [&] { pool.check(); });
  pool.reset();
  EXPECT_EQ(pool.allocate(100), a);
  std::uint64_t& rest = header_of(b).word;
  rest = alloc::segment_word::used(alloc::segment_word(rest).units(), 0).bits();
  expect_corrupt("is not free", [&] { pool.check(); });
}

// Two aligned addresses are 2 units apart, so half of the segments begin one unit before one: too few for a segment.
TEST(lists, no_segment_is_smaller_than_two_units) {
  for (std::size_t const before : {1u, 16u, 17u, 48u}) {
    one_list pool(true);
    ASSERT_NE(pool.allocate(before), nullptr);
    for (std::size_t const align : {32u, 64u}) {
      std::byte* const p = pool.allocate(100, align);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % align, 0u);
      pool.check();
    }
  }
}

// In an unchecked pool, too. All are counted, and change nothing.
TEST(lists, bad_frees_are_counted) {
  for (bool const checked : {false, true}) {
    SCOPED_TRACE(checked ? "checked" : "unchecked");
    many_lists pool(checked);
    std::byte* const a = pool.allocate(100);
    std::byte* const b = pool.allocate(100);
    std::byte* const c = pool.allocate(100);
    for (std::size_t i = 0; i < 100; ++i) a[i] = b[i] = c[i] = std::byte{0x5a};
    std::size_t bad = 0;
    auto const expect_bad = [&](void* p) {
      std::size_t const granted = pool.stats().granted;
      pool.free(p);
      EXPECT_EQ(pool.bad_frees(), ++bad);
      EXPECT_EQ(pool.stats().granted, granted);
      pool.check();
    };
    expect_bad(a - 16);
    expect_bad(a + 1);
    expect_bad(a + 16);
    expect_bad(b + 112);
    expect_bad(a + 64 * kib);
    expect_bad(a + 64 * kib - 16);
    expect_bad(reinterpret_cast<void*>(std::uintptr_t{16}));
    pool.free(b);
    expect_bad(b);
    pool.free(a);  // merges with b
    expect_bad(a);
    expect_bad(b);
    pool.free(c);
    pool.compact();
    expect_bad(c);
    pool.free(nullptr);
    EXPECT_EQ(pool.bad_frees(), bad);
    std::byte* const d = pool.allocate(100);
    std::byte* const e = pool.allocate(100);
    header_of(e + 32) = header_of(e);  // the same bytes at another place
    expect_bad(e + 32);
    pool.reset();
    bad = 0;
    expect_bad(d);  // of before the reset
    expect_bad(e);
    EXPECT_EQ(pool.allocate(64 * kib), a);
  }
}

// A request for more than is left merges in the middle of the churn, and memory moves between nine lists.
template <class Space>
void churn_with_nine_lists() {
  for (std::uint64_t seed = 1; seed <= scaled(4, 2); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    alloc::options const o{
        .pool_bytes = 512 * kib, .reserve_bytes = 512 * kib, .checked = seed % 2 == 0, .guards = false};
    pool<alloc::list_allocator<Space, changing_lists>> p(o, make_space<Space>(seed));
    for (bool const threads : {false, true}) {
      auto const left = p.churn(scaled(200, 64), 20, seed, 9000, threads);
      p.expect_sound();
      p.free(left);
      p.expect_sound();
    }
    EXPECT_EQ(served(p.allocate(1, 512 * kib)), 1u);
    p.expect_sound();
  }
}
#if WYRM_TEST_HOST
TEST(lists, churn_with_nine_lists_on_threads) { churn_with_nine_lists<host>(); }
#endif
#if WYRM_TEST_SIMT
TEST(lists, churn_with_nine_lists_on_warps) { churn_with_nine_lists<simt_space>(); }
#endif

}  // namespace
}  // namespace wyrm::tests
