// SPDX-License-Identifier: Apache-2.0
// Lists of spilled pages, where another thread holds the lock of a list.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "../../alloc/ouroboros/spilled_pages.hpp"

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

}  // namespace
}  // namespace wyrm::tests
