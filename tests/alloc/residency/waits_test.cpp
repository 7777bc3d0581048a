// SPDX-License-Identifier: Apache-2.0
// What launches and requests for arrays wait for, where other launches are enqueued and go on.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "checked_lru.hpp"
#include "queued_space.hpp"
#include "region_blocks.hpp"

namespace wyrm::tests {

namespace {

using residency::access;
using residency::use_hint;
constexpr std::size_t block = std::size_t{64} << 10;
auto const nothing = [](auto const&) {};
constexpr std::chrono::milliseconds patience(20'000);  // for what should happen at once

/// Two clients with a queue each, whose launches all end with the test.
struct two_clients {
  explicit two_clients(std::size_t blocks, std::size_t limit = residency::unlimited, bool is_lazy = true,
                       int priority_of_two = 0)
      : m(space_of_one, options_of(blocks, is_lazy)),
        one(m.make_client({.name = "one", .limit = limit}, space_of_one)),
        two(m.make_client({.name = "two", .priority = priority_of_two}, space_of_two)) {}
  static residency::options options_of(std::size_t blocks, bool is_lazy) {
    residency::options o = options_with(std::make_shared<residency::fixed_budget>(blocks * block), block);
    o.lazy_transfers = is_lazy;
    return o;
  }
  ~two_clients() { finish(); }
  void finish() const {
    space_of_one.queue().finish();
    space_of_two.queue().finish();
  }
  queued_space space_of_one;
  queued_space space_of_two;
  residency::manager<queued_space> m;
  residency::client<queued_space> one;
  residency::client<queued_space> two;
};

residency::region region_of(residency::client<queued_space>& c, std::size_t blocks) {
  residency::region r = c.reserve(blocks * block);
  write_blocks(r, block, 1);
  return r;
}

/// Runs f in another thread. At the end all launches end, so that f returns.
class other_thread {
 public:
  other_thread(two_clients const& both, std::function<void()> f)
      : both_(both), done_(std::async(std::launch::async, std::move(f))) {}
  other_thread(other_thread const&) = delete;
  ~other_thread() {
    both_.finish();
    done_.wait();
  }
  [[nodiscard]] bool is_done(std::chrono::milliseconds within = patience) const {
    return done_.wait_for(within) == std::future_status::ready;
  }

 private:
  two_clients const& both_;
  std::future<void> done_;
};
bool is_waited_for(queued_space const& space) {
  auto const end = std::chrono::steady_clock::now() + patience;
  while (space.queue().waiting() == 0 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  return space.queue().waiting() > 0;
}

TEST(residency_waits, of_a_launch_end_though_other_clients_go_on) {
  two_clients both(8);
  residency::region small = region_of(both.two, 1);
  residency::region large = region_of(both.one, 16);
  both.two.launch({{small}}, nothing);
  other_thread const begun(both, [&] { both.one.launch({{large}}, nothing); });
  ASSERT_TRUE(is_waited_for(both.space_of_two));  // for the block, which may be room
  both.two.launch({{small}}, nothing);
  both.space_of_two.queue().finish(1);
  EXPECT_TRUE(begun.is_done());
  EXPECT_FALSE(both.space_of_two.queue().is_done(2));
  EXPECT_EQ(resident_blocks(large, block), 7u);
}

TEST(residency_waits, of_a_launch_end_though_another_thread_reads_its_small_range) {
  two_clients both(8);
  residency::region large = region_of(both.one, 16);
  residency::region small = both.one.reserve(64);
  small.write(0, "12345678", 8);
  ASSERT_FALSE(small.is_resident(0));
  auto const read_small = [&] { both.one.launch({{small, 0, 64, access::read, use_hint::once}}, nothing); };
  read_small();
  other_thread const begun(both, [&] { both.one.launch({{large}, {small}}, nothing); });
  ASSERT_TRUE(is_waited_for(both.space_of_one));
  std::uint64_t last = 1;
  for (; last < 5 && !begun.is_done(std::chrono::milliseconds(50)); ++last) {
    read_small();
    both.space_of_one.queue().finish(last);
  }
  EXPECT_TRUE(begun.is_done());
  EXPECT_FALSE(both.space_of_one.queue().is_done(last));
}

TEST(residency_waits, a_client_at_its_limit_waits_for_no_other) {
  two_clients both(16, 3 * block);
  residency::region small = region_of(both.two, 1);
  residency::region large = region_of(both.one, 4);
  both.two.launch({{small}}, nothing);
  other_thread const begun(both, [&] { both.one.launch({{large}}, nothing); });
  EXPECT_TRUE(begun.is_done());
  EXPECT_EQ(resident_blocks(large, block), 3u);
}

TEST(residency_waits, an_array_that_cannot_fit_is_refused_at_once) {
  two_clients both(8);
  residency::region small = region_of(both.two, 1);
  residency::region large = region_of(both.one, 2);
  both.one.launch({{large}}, nothing);
  both.space_of_one.queue().finish();
  both.two.launch({{small}}, nothing);
  exec::memory_manager& memory = both.one.space().manager();
  memory.allocating(5 * block);
  other_thread const refused(both, [&] {
    try {
      memory.allocating(5 * block);
      ADD_FAILURE();
    } catch (error const& e) {
      EXPECT_EQ(e.code(), error_code::out_of_memory) << e.what();
    }
  });
  EXPECT_TRUE(refused.is_done());
  EXPECT_EQ(resident_blocks(large, block), 2u);  // nothing is evicted in vain
  memory.freed(5 * block);
}

// Blocks of a client of higher priority are room once their region is released, when the launch that uses them ends.
TEST(residency_waits, a_launch_gets_what_a_client_of_higher_priority_has_released) {
  two_clients both(8, residency::unlimited, true, 1);
  residency::region large = region_of(both.one, 8);
  {
    residency::region const released = region_of(both.two, 6);
    both.two.launch({{released}}, nothing);
  }
  other_thread const begun(both, [&] { both.one.launch({{large}}, nothing); });
  EXPECT_TRUE(is_waited_for(both.space_of_two));
  both.finish();
  EXPECT_TRUE(begun.is_done());
  EXPECT_EQ(resident_blocks(large, block), 8u);
}

// The blocks of a client of higher priority stay. Its launch ends while the request waits, and nothing happens after
// it.
TEST(residency_waits, an_array_waits_for_the_last_launch_of_a_client_of_higher_priority) {
  two_clients both(8, residency::unlimited, true, 1);
  residency::region large = region_of(both.two, 6);
  both.two.launch({{large}}, nothing);
  exec::memory_manager& memory = both.one.space().manager();
  other_thread const refused(both, [&] {
    try {
      memory.allocating(4 * block);
      ADD_FAILURE();
    } catch (error const& e) {
      EXPECT_EQ(e.code(), error_code::out_of_memory) << e.what();
    }
  });
  EXPECT_TRUE(is_waited_for(both.space_of_two));
  both.finish();
  EXPECT_TRUE(refused.is_done());
  EXPECT_EQ(resident_blocks(large, block), 6u);
}

// The pool has a free block, which a client at its limit cannot take. Its small range takes the place of a large one.
TEST(residency_waits, a_small_range_of_a_client_at_its_limit_comes_first) {
  two_clients both(8, 4 * block, false);
  residency::region large = region_of(both.one, 16);
  both.one.launch({{large}}, nothing);
  { residency::region const freed = region_of(both.two, 1); }
  residency::region small = both.one.reserve(64);
  other_thread const begun(both, [&] { both.one.launch({{large}, {small}}, nothing); });
  EXPECT_TRUE(is_waited_for(both.space_of_one));
  both.space_of_one.queue().finish();
  EXPECT_TRUE(begun.is_done());
  EXPECT_TRUE(small.is_resident(0));
  EXPECT_EQ(resident_blocks(large, block), 3u);
}

// A large region is not small because it is named in pieces, and many small regions are not small together.
TEST(residency_waits, only_few_blocks_come_first_because_they_are_small) {
  two_clients both(8);
  residency::region table = region_of(both.one, 8);
  both.space_of_one.queue().finish();
  residency::region large = region_of(both.one, 16);
  std::vector<residency::used_range> names{{table}};
  for (std::size_t i = 0; i < 16; ++i) names.push_back({large, i * block, block});
  { residency::use const u = both.one.use(names); }
  EXPECT_EQ(resident_blocks(table, block), 8u);
  std::vector<residency::region> parts;
  for (int i = 0; i < 20; ++i) parts.push_back(region_of(both.one, 1));
  std::vector<residency::used_range> all{{table}};
  for (residency::region& r : parts) all.push_back({r});
  { residency::use const u = both.one.use(all); }
  EXPECT_EQ(resident_blocks(table, block), 6u);
}

}  // namespace

}  // namespace wyrm::tests
