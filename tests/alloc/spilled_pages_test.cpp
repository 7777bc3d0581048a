// SPDX-License-Identifier: Apache-2.0
// Lists of spilled pages: where another thread holds the lock of a list, and added and taken by the lanes of a tile.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <vector>

#include "../../alloc/ouroboros/spilled_pages.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../support/simt_space.hpp"
#include "../support/spaces.hpp"

namespace wyrm::tests {
namespace {

using alloc::detail::spilled_pages;
using tile = exec::scalar_tile;

// The lists of class 0, whose pages have 16 bytes, in a memory of eight such pages. A thread that waits throws.
class spilled : public ::testing::Test {
 protected:
  spilled() {
    exec::set_host_wait([] { throw std::runtime_error("waits"); });
  }
  ~spilled() override { exec::set_host_wait(nullptr); }

  void link(std::uint64_t page, std::uint64_t next, std::uint64_t next_batch) {
    memory_[2 * page] = next;
    memory_[2 * page + 1] = next_batch;
  }
  [[nodiscard]] std::uint32_t take(std::uint32_t n, std::uint64_t& page) {
    return pool_.take(tile{}, 0, 0, n, 0, page);
  }

  alignas(16) std::array<std::uint64_t, 16> memory_{};
  spilled_pages lists_{};
  alloc::detail::spilled_pages_ref pool_{reinterpret_cast<std::byte*>(memory_.data()), &lists_};
};

// Every list is locked and empty, while the last page is still counted: another lane has taken it. A lane that looks
// for pages must neither wait for these locks nor take them.
TEST_F(spilled, empty_lists_are_not_waited_for) {
  lists_.count = 1;
  for (std::uint64_t& list : lists_.lists) list = spilled_pages::locked;
  std::uint64_t page = 77;
  EXPECT_EQ(take(1, page), 0u);
  EXPECT_EQ(page, 77u);
  for (std::uint64_t const list : lists_.lists) EXPECT_EQ(list, spilled_pages::locked);
}

// A locked list is skipped where another list has a batch, and the rest of a batch is returned to any list.
TEST_F(spilled, locked_lists_are_skipped) {
  link(3, 5 + 1, 0);
  link(5, 0, 0);
  lists_.count = 2;
  for (std::uint64_t& list : lists_.lists) list = spilled_pages::locked | (7 + 1);
  lists_.lists[spilled_pages::size - 1] = 3 + 1;
  std::uint64_t page = 77;
  ASSERT_EQ(take(1, page), 1u);
  EXPECT_EQ(page, 3u);
  EXPECT_EQ(lists_.count, 1u);
  EXPECT_EQ(lists_.lists[spilled_pages::size - 1], 5u + 1);
  ASSERT_EQ(take(2, page), 1u);
  EXPECT_EQ(page, 5u);
  EXPECT_EQ(lists_.count, 0u);
}

// The only batch is in a list that another thread has locked: its lock is waited for.
TEST_F(spilled, a_batch_in_a_locked_list_is_waited_for) {
  lists_.count = 1;
  lists_.lists[4] = spilled_pages::locked | (3 + 1);
  std::uint64_t page = 77;
  EXPECT_THROW((void)take(1, page), std::runtime_error);
  lists_.lists[4] = 3 + 1;
  EXPECT_EQ(take(1, page), 1u);
  EXPECT_EQ(page, 3u);
}

// Lanes of a mask spill a page each; even lanes of class 0, odd lanes of class 1.
struct spill_pages {
  alloc::detail::spilled_pages_ref pool;
  std::uint32_t mask;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t) const {
    bool const spills = (mask >> t.rank() & 1) != 0;
    unsigned const c = t.rank() % 2;
    pool.add(t, c, 32 + t.rank(), alloc::detail::group_by(t, c, spills), spills);
  }
};
// The first n lanes after `leader`, modulo the tile, take pages of class 0. A lane without a page has 0.
struct take_pages {
  alloc::detail::spilled_pages_ref pool;
  unsigned leader;
  std::uint32_t n;
  std::uint64_t* pages;
  std::uint32_t* got;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t) const {
    std::uint64_t page = 0;
    std::uint32_t const rank = (t.rank() + Tile::size() - leader) % Tile::size();
    std::uint32_t const taken = pool.take(t, 0, leader, n, rank, page);
    pages[rank] = page;
    if (t.rank() == leader) *got = taken;
  }
};

template <class Space>
class spilled_by_tiles : public space_test<Space> {};
using spaces = ::testing::Types<exec::host_space, simt_space>;
TYPED_TEST_SUITE(spilled_by_tiles, spaces, by_name);

TYPED_TEST(spilled_by_tiles, each_page_once_and_in_order) {
  constexpr unsigned lanes = TypeParam::template tile_size<32>;
  TypeParam const space = make_space<TypeParam>();
  exec::buffer<std::uint64_t, TypeParam> memory(space, 64 * 4);
  exec::buffer<spilled_pages, TypeParam> lists(space, 2);
  exec::buffer<std::uint64_t, TypeParam> pages(space, lanes);
  exec::buffer<std::uint32_t, TypeParam> got(space, 1);
  space.fill(lists.data(), 0, lists.bytes());
  alloc::detail::spilled_pages_ref const pool(reinterpret_cast<std::byte*>(memory.data()), lists.data());
  std::mt19937 random(seeded(1));
  for (std::uint32_t mask : {0xffffffffu, 0u, 1u, 0x80000000u, 0x40000000u, 0x55555555u, 0xaaaaaaaau, 0u, 0u, 0u}) {
    if (mask == 0) mask = static_cast<std::uint32_t>(random());
    if (lanes == 1) mask &= 1;
    SCOPED_TRACE(mask);
    exec::for_each_tile<32>(space, 1, spill_pages{pool, mask});
    std::vector<std::uint64_t> of_class[2];
    for (unsigned lane = 0; lane < 32; ++lane)
      if ((mask >> lane & 1) != 0) of_class[lane % 2].push_back(32 + lane);
    for (unsigned c = 0; c < 2; ++c) {
      EXPECT_EQ(exec::read(space, lists.data() + c).count, of_class[c].size());
      EXPECT_EQ(pool.has_some(c), !of_class[c].empty());
    }
    // All pages of class 1 are one batch.
    std::vector<std::uint64_t> found;
    auto const add = [&](std::uint64_t page) {
      found.push_back(page);
      return true;
    };
    EXPECT_EQ(pool.visit_batch(lists.data()[1], 1, 5, add), !of_class[1].empty());
    EXPECT_EQ(found, of_class[1]);
    EXPECT_FALSE(pool.visit_batch(lists.data()[1], 1, 5, add));
    lists.data()[1].count = 0;
    // A tile takes some of class 0, then the rest.
    auto left = of_class[0];
    for (std::uint32_t const n : {0u, 1u, 3u, lanes, 1u}) {
      exec::for_each_tile<32>(space, 1, take_pages{pool, 5 % lanes, n, pages.data(), got.data()});
      auto const wanted = std::min<std::size_t>(n, left.size());
      EXPECT_EQ(exec::read(space, got.data()), wanted);
      std::vector<std::uint64_t> expected(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(wanted));
      left.erase(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(wanted));
      expected.resize(lanes);
      EXPECT_EQ(exec::copy_out(space, pages.data(), lanes), expected);
      EXPECT_EQ(exec::read(space, lists.data()).count, left.size());
    }
    EXPECT_TRUE(left.empty());
  }
}

}  // namespace
}  // namespace wyrm::tests
