// SPDX-License-Identifier: Apache-2.0
// Rings of queue entries (chunk_pool.hpp, index_ring.hpp) that are emptied by reset(), or moved to a longer ring, while
// their entries are anywhere: also around the end of the slots, and of 32-bit positions. An entry that reset() leaves
// would be read as another one later, or keep its slot from its next writer for ever; here a thread that
// waits long fails.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../../alloc/ouroboros/ouroboros.hpp"
#include "../../exec/host_space.hpp"
#include "../support/spaces.hpp"
#include "tested_allocators.hpp"

namespace wyrm::tests {
namespace {

using space = exec::host_space;

class ring : public ::testing::Test {
 protected:
  // More than polls that find something in the end.
  static constexpr unsigned most_waits = 100'000;
  static inline unsigned waits = 0;

  ring() {
    waits = 0;
    exec::set_host_wait([] {
      if (++waits > most_waits) throw std::runtime_error("a thread waits");
    });
  }
  ~ring() override { exec::set_host_wait(nullptr); }

  // Ends of a queue through which so many entries went.
  static alloc::queue_ends ends_after(std::uint64_t entries) {
    alloc::queue_ends ends;
    while (entries > 0) {
      auto const some = static_cast<std::uint32_t>(std::min<std::uint64_t>(entries, 0x7fffffff));
      (void)ends.claim_back(some);
      EXPECT_EQ(ends.take(some), some);
      (void)ends.claim_front(some);
      entries -= some;
    }
    return ends;
  }
  static void write(alloc::ring_memory<space> const& memory, alloc::queue_ends& ends, std::uint32_t n) {
    for (std::uint32_t i = 0; i < n; ++i) memory.ring().write(ends.claim_back(1), 100 + i);
  }
  static void expect_taken(alloc::ring_memory<space> const& memory, alloc::queue_ends& ends, std::uint32_t n) {
    for (std::uint32_t i = 0; i < n; ++i) {
      EXPECT_TRUE(ends.take_one());
      EXPECT_EQ(memory.ring().read(ends.claim_front(1)), 100 + i);
    }
    EXPECT_FALSE(ends.take_one());
  }
  // f(entries before, entries) for queues that begin at each slot, around the end of positions too.
  template <class F>
  static void for_each_place(std::uint32_t slots, F const& f) {
    std::uint64_t const around = std::uint64_t{1} << 32;
    for (std::uint64_t const from : {std::uint64_t{0}, around - slots})
      for (std::uint64_t before = from; before <= from + slots + 1; ++before)
        for (std::uint32_t n = 0; n <= slots; ++n) {
          SCOPED_TRACE(std::to_string(n) + " entries from position " + std::to_string(before) + " on");
          f(before, n);
        }
  }
};

TEST_F(ring, is_empty_after_reset_wherever_its_entries_are) {
  constexpr std::uint32_t slots = 8;
  for (bool const wide : {false, true})
    for_each_place(slots, [&](std::uint64_t before, std::uint32_t n) {
      alloc::ring_memory<space> memory{space(1)};
      memory.reset(slots, wide, {});
      alloc::queue_ends ends = ends_after(before);
      write(memory, ends, n);
      memory.reset(slots, wide, ends);
      ends = {};
      EXPECT_EQ(memory.entries(ends, "ring", "").size(), 0u);  // throws if a slot is full
      std::uint64_t index = 0;
      for (std::uint32_t slot = 0; slot < slots; ++slot) EXPECT_FALSE(memory.ring().try_read(slot, index)) << slot;
      for (unsigned lap = 0; lap < 3; ++lap) {
        write(memory, ends, slots - 1);
        expect_taken(memory, ends, slots - 1);
      }
      memory.reset(2 * slots, wide, ends);  // a longer one
      ends = {};
      write(memory, ends, 2 * slots);
      expect_taken(memory, ends, 2 * slots);
    });
}

TEST_F(ring, entries_keep_their_order_in_a_longer_one) {
  constexpr std::uint32_t slots = 4;
  for (bool const wide : {false, true})
    for_each_place(slots, [&](std::uint64_t before, std::uint32_t n) {
      alloc::ring_memory<space> memory{space(1)};
      memory.reset(slots, wide, {});
      alloc::queue_ends ends = ends_after(before);
      write(memory, ends, n);
      memory.move_to(memory.longer(2 * slots), ends);
      EXPECT_EQ(memory.size(), 2 * slots);
      EXPECT_EQ(ends.size(), n);
      for (std::uint32_t i = n; i < 2 * slots; ++i) memory.ring().write(ends.claim_back(1), 100 + i);
      expect_taken(memory, ends, 2 * slots);
    });
}

template <class A>
class ring_of_a_pool : public ring {};
TYPED_TEST_SUITE(ring_of_a_pool, types_of<alloc::ouroboros_family<space>>, by_name);

// All pages of a pool are taken and freed, so that they are in the queue; some of them again, so that the queue goes on
// around the end; then a few are taken, and the pool is reset.
TYPED_TEST(ring_of_a_pool, serves_as_if_it_were_new_after_reset) {
  std::size_t const bytes = 8 * alloc::chunk_bytes;
  TypeParam pool(space(1), {.pool_bytes = bytes, .reserve_bytes = bytes, .checked = true, .guards = false});
  auto const ref = pool.ref();
  for (std::size_t const page : {std::size_t{4096}, std::size_t{8192}}) {
    auto const take = [&](std::size_t most) {
      std::vector<void*> pages;
      for (void* p = nullptr; pages.size() < most && (p = ref.malloc(page)) != nullptr;) pages.push_back(p);
      return pages;
    };
    auto const free = [&](std::vector<void*> const& pages) {
      for (void* const p : pages) ref.free(p);
    };
    pool.reset();
    std::size_t const all = take(~std::size_t{0}).size();
    ASSERT_GE(all, 3u);
    for (std::size_t again = 0; again <= all; ++again)
      for (std::size_t const kept : {std::size_t{0}, std::size_t{1}, all - 1, all}) {
        SCOPED_TRACE(std::to_string(page) + " bytes: " + std::to_string(again) + " of " + std::to_string(all) +
                     " taken again, " + std::to_string(kept) + " kept");
        pool.reset();
        free(take(all));
        free(take(again));
        EXPECT_EQ(take(kept).size(), kept);
        pool.reset();
        EXPECT_NO_THROW(pool.check());
        EXPECT_EQ(pool.stats().granted, 0u);
        for (unsigned lap = 0; lap < 3; ++lap) {
          auto const pages = take(~std::size_t{0});
          EXPECT_EQ(pages.size(), all);
          EXPECT_EQ(std::set<void*>(pages.begin(), pages.end()).size(), pages.size());
          EXPECT_NO_THROW(pool.check());
          free(pages);
          EXPECT_NO_THROW(pool.check());
        }
      }
  }
}

// No page begins there. In an unchecked pool, too, such a pointer is counted, and frees nothing.
TYPED_TEST(ring_of_a_pool, pointers_into_pages_are_bad_frees) {
  constexpr std::size_t mib = std::size_t{1} << 20;
  TypeParam pool(space(1), {.pool_bytes = 8 * mib, .reserve_bytes = 8 * mib, .checked = false});
  auto const ref = pool.ref();
  std::vector<std::byte*> blocks;
  std::size_t wrong = 0;
  for (std::size_t const bytes : {std::size_t{17}, std::size_t{64}, std::size_t{5000}, std::size_t{8192},
                                  std::size_t{16384}, std::size_t{100000}, mib, mib + 1}) {
    blocks.push_back(static_cast<std::byte*>(ref.malloc(bytes)));
    ASSERT_NE(blocks.back(), nullptr);
    std::size_t const granted = pool.stats().granted;
    for (std::size_t const at : {std::size_t{16}, bytes / 2 / 16 * 16, (bytes - 1) / 16 * 16, bytes / 2, bytes - 1}) {
      if (at == 0) continue;
      ref.free(blocks.back() + at);
      EXPECT_EQ(pool.stats().bad_frees, ++wrong) << at << " bytes into a block of " << bytes;
    }
    EXPECT_EQ(pool.stats().granted, granted);
    EXPECT_NO_THROW(pool.check());
  }
  for (std::byte* const p : blocks) ref.free(p);
  EXPECT_EQ(pool.stats().bad_frees, wrong);
  EXPECT_EQ(pool.stats().granted, 0u);
}

}  // namespace
}  // namespace wyrm::tests
