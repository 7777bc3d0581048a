// SPDX-License-Identifier: Apache-2.0
// A space that is bound to a client: launches that go on, several threads, arrays, and budgets that want memory back.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "../../../alloc/residency/lru_cost.hpp"
#include "../../../alloc/residency/manager.hpp"
#include "../../../exec/injected_failure.hpp"
#include "../../../exec/memory.hpp"

namespace wyrm::tests {
namespace {

namespace residency = alloc::residency;
using exec::host_space;
constexpr std::size_t block = std::size_t{64} << 10;

/// A budget that others want back when the test says so.
class wanted_budget final : public residency::budget {
 public:
  explicit wanted_budget(std::size_t bytes) : fixed_(bytes) {}
  std::size_t acquire(std::size_t bytes, std::size_t step) override { return fixed_.acquire(bytes, step); }
  void give_back(std::size_t bytes) noexcept override {
    fixed_.give_back(bytes);
    wanted -= std::min<std::size_t>(wanted, bytes);
  }
  std::size_t wanted_back() const override { return wanted; }
  std::size_t limit() const override { return fixed_.limit(); }
  std::size_t taken() const { return fixed_.taken(); }
  std::atomic<std::size_t> wanted = 0;

 private:
  residency::fixed_budget fixed_;
};

/// LRU-COST that records which blocks leave the device.
class recording_policy final : public residency::policy {
 public:
  using number = residency::block_number;
  explicit recording_policy(std::vector<number>& left) : left_(left) {}
  void loaded(number b, residency::object_number object) override { lru_.loaded(b, object); }
  void used(std::span<number const> blocks, residency::launch_number launch, bool writes,
            residency::use_hint hint) override {
    lru_.used(blocks, launch, writes, hint);
  }
  void finished(residency::launch_number launch) override { lru_.finished(launch); }
  void overwritten(number b) override { lru_.overwritten(b); }
  void copied_out(number b) override { lru_.copied_out(b); }
  void removed(number b) override {
    left_.push_back(b);
    lru_.removed(b);
  }
  std::optional<residency::victim> next_victim(residency::dirty_check& check) override {
    return lru_.next_victim(check);
  }

 private:
  std::vector<number>& left_;
  residency::lru_cost lru_;
};

class bound_space : public ::testing::Test {
 protected:
  void use_blocks(std::size_t blocks, residency::options o = {}) {
    budget = std::make_shared<wanted_budget>(blocks * block);
    o.budget = budget;
    o.block_bytes = block;
    manager.emplace(host_space(1), o);
  }
  void use_blocks_checked(std::size_t blocks) {
    residency::options o;
    o.checked = true;
    use_blocks(blocks, o);
  }
  /// left: receives what leaves the device.
  void use_blocks_recording(std::size_t blocks, std::vector<residency::block_number>& left) {
    residency::options o;
    o.make_policy = [&left] { return std::make_unique<recording_policy>(left); };
    use_blocks(blocks, o);
  }
  /// A pool of so many blocks on a space, all of them written.
  static exec::reservation<host_space> pool_of(host_space const& space, std::size_t blocks) {
    exec::reservation<host_space> pool(space, blocks * block);
    pool.commit(blocks * block);
    space.fill(pool.data(), 7, blocks * block);
    return pool;
  }

  std::shared_ptr<wanted_budget> budget;
  std::optional<residency::manager<host_space>> manager;
};

// Access to blocks that no launch uses is forbidden in checked mode.
TEST_F(bound_space, launches_use_what_was_made_since_the_last_one) {
  use_blocks_checked(8);
  auto client = manager->make_client();
  host_space const space = client.space();
  auto const pool = pool_of(space, 1);
  auto region = client.reserve(2 * block);
  std::vector<char> const bytes(block, 3);
  region.write(block, bytes.data(), block);
  {
    host_space::guard const launch(space);
    EXPECT_EQ(region.data()[block], std::byte{3});
    EXPECT_TRUE(region.is_resident(block));
    auto const more = pool_of(space, 1);
    EXPECT_EQ(more.data()[block - 1], std::byte{7});
  }
  EXPECT_EQ(client.counters().staged_bytes, 0u);
}

// "Addresses only": a launch takes no memory for blocks of regions that have none.
TEST_F(bound_space, launches_use_only_blocks_with_memory) {
  use_blocks(8);
  auto client = manager->make_client();
  auto const region = client.reserve(1000 * block);
  auto const pool = pool_of(client.space(), 1);
  EXPECT_EQ(manager->counters().resident_bytes, block);
  EXPECT_EQ(manager->counters().host_bytes, 0u);
}

TEST_F(bound_space, a_launch_that_does_not_begin_leaves_no_trace) {
  use_blocks_checked(4);  // checked: pins call for protection, which may fail
  auto client = manager->make_client();
  auto other = manager->make_client();
  auto const pool = pool_of(client.space(), 4);
  auto const second = pool_of(other.space(), 2);  // the launch of `client` has ended
  bool has_failed = false;
  std::thread([&] {
    for (std::uint64_t n = 1; n < 20; ++n) {
      exec::injected_failure const failure(n);
      try {
        host_space::guard const launch(client.space());
      } catch (error const&) {
        has_failed = true;
      }
    }
  }).join();
  EXPECT_TRUE(has_failed);
  { host_space::guard const launch(client.space()); }
  { host_space::guard const launch(other.space()); }
  EXPECT_EQ(other.counters().resident_bytes, 2 * block);
}

TEST_F(bound_space, tells_what_is_in_host_memory_and_how_much_arrays_may_have) {
  use_blocks(6);
  auto client = manager->make_client();
  host_space const space = client.space();
  auto const pool = pool_of(space, 4);
  EXPECT_EQ(space.manager()->in_host_memory(pool.data(), 4 * block), 0u);
  EXPECT_EQ(space.manager()->room_for_arrays(), 6 * block);
  exec::buffer<char, host_space> const array(space, 3 * block);
  EXPECT_EQ(space.manager()->in_host_memory(pool.data(), 4 * block), block);
  EXPECT_EQ(space.manager()->room_for_arrays(), 3 * block);
  residency::client_options first;
  first.priority = 1;
  auto other = manager->make_client(first);
  auto const more = pool_of(other.space(), 2);
  EXPECT_EQ(other.space().manager()->in_host_memory(more.data(), 2 * block), 0u);
  EXPECT_EQ(space.manager()->in_host_memory(pool.data(), 4 * block), 3 * block);
  EXPECT_EQ(space.manager()->room_for_arrays(), block);
  EXPECT_EQ(other.space().manager()->room_for_arrays(), 3 * block);
  {
    host_space::guard const launch(space);  // uses one block, which cannot leave
    EXPECT_EQ(other.space().manager()->room_for_arrays(), 2 * block);
  }
  residency::client_options limited;
  limited.limit = block / 2;
  EXPECT_EQ(manager->make_client(limited).space().manager()->room_for_arrays(), block / 2);
}

// As the vertex table of a graph, which has memory first.
TEST_F(bound_space, ranges_of_a_high_rate_leave_the_device_last) {
  std::vector<residency::block_number> left;
  use_blocks_recording(6, left);
  auto client = manager->make_client();
  host_space const space = client.space();
  exec::reservation<host_space> table(space, 2 * block, exec::memory_kind::device, exec::use_rate::high);
  table.commit(2 * block);
  space.fill(table.data(), 7, 2 * block);
  {
    auto const pool = pool_of(space, 4);
    { exec::buffer<std::byte, host_space> const array(space, 3 * block); }
    EXPECT_EQ(left.size(), 3u);
    EXPECT_EQ(std::count_if(left.begin(), left.end(), [](auto b) { return b < 2; }), 0) << "blocks of the table";
    { host_space::guard const launch(space); }
    left.clear();
    { exec::buffer<std::byte, host_space> const array(space, 5 * block); }
    EXPECT_EQ(std::count_if(left.begin(), left.end(), [](auto b) { return b < 2; }), 1) << "blocks of the table";
  }
  manager.reset();
}

TEST_F(bound_space, ranges_of_a_high_rate_evict_others) {
  std::vector<residency::block_number> left;
  use_blocks_recording(6, left);
  {
    auto client = manager->make_client();
    host_space const space = client.space();
    exec::reservation<host_space> table(space, 8 * block, exec::memory_kind::device, exec::use_rate::high);
    table.commit(block);
    auto const pool = pool_of(space, 8);  // blocks 1 to 8
    EXPECT_EQ(client.counters().staged_bytes, 3 * block);
    table.commit(2 * block);  // between launches
    EXPECT_EQ(left.size(), 1u);
    {
      host_space::guard const launch(space);
      space.fill(table.data(), 1, 2 * block);
      table.commit(4 * block);  // in a launch that uses the pool
      space.fill(table.data(), 2, 4 * block);
      EXPECT_EQ(table.data()[4 * block - 1], std::byte{2});
      for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(pool.data()[i * block], std::byte{7});
    }
    EXPECT_EQ(left.size(), 3u);
    table.commit(8 * block);  // more than the budget: the rest is in host memory
    EXPECT_EQ(left.size(), 5u);
    for (residency::block_number const b : left) EXPECT_TRUE(b >= 1 && b <= 8) << b << " is of the table";
    EXPECT_EQ(client.counters().resident_bytes, 6 * block);
    EXPECT_EQ(client.counters().staged_bytes, 10 * block);
  }
  manager.reset();
}

TEST_F(bound_space, arrays_evict_blocks_of_their_own_launch) {
  use_blocks(4);
  auto client = manager->make_client();
  host_space const space = client.space();
  auto const pool = pool_of(space, 4);
  EXPECT_EQ(client.counters().resident_bytes, 4 * block);
  host_space::guard const launch(space);
  {
    exec::buffer<std::byte, host_space> const array(space, 2 * block + 1);
    EXPECT_EQ(client.counters().resident_bytes, block);
    EXPECT_EQ(budget->taken(), 3 * block + 1);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(pool.data()[i * block], std::byte{7});
  }
  try {
    exec::buffer<std::byte, host_space> const array(space, 4 * block + 1);
    FAIL() << "an array larger than the budget";
  } catch (error const& e) {
    EXPECT_EQ(e.code(), error_code::out_of_memory);
    EXPECT_NE(std::string(e.what()).find("must have " + std::to_string(4 * block + 1)), std::string::npos) << e.what();
  }
  EXPECT_EQ(pool.data()[0], std::byte{7});
}

// The launch begins again when the array has room; if it cannot, the array is not taken.
TEST_F(bound_space, a_failed_array_takes_nothing) {
  use_blocks_checked(4);
  auto client = manager->make_client();
  host_space const space = client.space();
  auto const pool = pool_of(space, 4);
  for (std::uint64_t n = 1; n < 40; ++n) {
    host_space::guard const launch(space);
    exec::injected_failure const failure(n);
    try {
      exec::buffer<std::byte, host_space> const array(space, 2 * block);
    } catch (error const&) {
    }
  }
  exec::buffer<std::byte, host_space> const all(space, 4 * block);
  EXPECT_EQ(budget->taken(), 4 * block);
}

TEST_F(bound_space, arrays_wait_for_launches_of_other_threads) {
  for (bool const is_own_client : {true, false}) {
    use_blocks(8);
    auto first = manager->make_client();
    auto second = manager->make_client();
    auto const pool = pool_of(first.space(), 8);
    std::promise<void> in;
    std::atomic<bool> is_over = false;
    std::thread other([&] {
      host_space::guard const launch(first.space());
      in.set_value();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      is_over = true;
    });
    in.get_future().wait();
    exec::buffer<std::byte, host_space> const array((is_own_client ? first : second).space(), block);
    EXPECT_TRUE(is_over);
    other.join();
  }
}

// What arrays have had stays theirs for a while: an operation that needs them again moves nothing.
TEST_F(bound_space, blocks_leave_room_for_the_arrays_of_the_next_operation) {
  use_blocks(4);
  auto client = manager->make_client();
  host_space const space = client.space();
  auto const pool = pool_of(space, 4);
  auto const in_blocks = [&] { return client.counters().resident_bytes / block; };
  EXPECT_EQ(in_blocks(), 4u);
  for (int i = 0; i < 3; ++i) {
    {
      exec::buffer<std::byte, host_space> const array(space, 2 * block);
      space.fill(pool.data(), 7, block);
      EXPECT_EQ(in_blocks(), 2u);
    }
    space.fill(pool.data(), 8, block);
    EXPECT_EQ(in_blocks(), 2u);
    EXPECT_EQ(client.counters().moved_in_bytes, 0u);
  }
  for (int i = 0; i < 200; ++i) space.fill(pool.data(), 9, block);
  EXPECT_EQ(in_blocks(), 4u);
}

// A launch that goes on with blocks in place takes them to the device as soon as what it may evict is not in use.
TEST_F(bound_space, launches_get_what_one_of_lower_priority_has_held) {
  use_blocks(4);
  auto low = manager->make_client({"low", 0});
  auto high = manager->make_client({"high", 1});
  auto const held = pool_of(low.space(), 3);
  std::promise<void> in;
  std::promise<void> out;
  std::thread other([&] {
    host_space::guard const launch(low.space());
    in.set_value();
    out.get_future().wait();
  });
  in.get_future().wait();
  host_space const space = high.space();
  auto const pool = pool_of(space, 4);
  EXPECT_EQ(high.counters().resident_bytes, block);
  out.set_value();
  other.join();
  space.fill(pool.data(), 8, block);
  EXPECT_EQ(high.counters().resident_bytes, 4 * block);
}

// Two threads that each hold a launch and want memory of the other would wait for ever.
TEST_F(bound_space, arrays_in_launches_do_not_wait_for_others) {
  use_blocks(8);
  auto first = manager->make_client();
  auto second = manager->make_client();
  auto const pool = pool_of(first.space(), 8);
  auto const small = pool_of(second.space(), 1);
  host_space::guard const launch(second.space());
  std::promise<void> in;
  std::promise<void> out;
  std::thread other([&] {
    host_space::guard const theirs(first.space());
    in.set_value();
    out.get_future().wait();
  });
  in.get_future().wait();
  exec::buffer<std::byte, host_space> held(second.space());
  bool was_refused = false;
  try {
    for (std::size_t i = 0; i < 9; ++i) held.reserve((i + 1) * block);
  } catch (error const& e) {
    was_refused = true;
    EXPECT_EQ(e.code(), error_code::out_of_memory);
  }
  EXPECT_TRUE(was_refused);
  out.set_value();
  other.join();
}

// What a launch has used is freed when it ends, and does not wait for an operation of another client.
TEST_F(bound_space, ranges_that_a_launch_frees_end_with_it) {
  use_blocks(8);
  auto client = manager->make_client();
  host_space const space = client.space();
  auto const pool = pool_of(space, 1);
  std::optional<exec::reservation<host_space>> other(pool_of(space, 2));
  {
    host_space::guard const launch(space);
    other.reset();
  }
  residency::statistics const now = client.counters();
  EXPECT_EQ(now.resident_bytes + now.staged_bytes, block);
}

TEST_F(bound_space, launches_return_what_the_budget_wants) {
  use_blocks(8);
  auto client = manager->make_client();
  host_space const space = client.space();
  auto const pool = pool_of(space, 8);
  {
    host_space::guard const launch(space);
    budget->wanted = 4 * block;
  }
  EXPECT_EQ(budget->taken(), 4 * block);
  budget->wanted = block;
  { host_space::guard const launch(space); }
  EXPECT_EQ(budget->wanted, 0u);
}

// A launch belongs to the threads that are in it, not to the one that began it.
TEST_F(bound_space, transfers_wait_for_launches_of_other_threads_only) {
  use_blocks(8);
  auto client = manager->make_client();
  host_space const space = client.space();
  auto region = client.reserve(block);
  char const byte = 5;
  region.write(0, &byte, 1);
  std::promise<void> in;
  std::promise<void> out;
  std::thread other;
  {
    host_space::guard const began(space);
    other = std::thread([&] {
      host_space::guard const joined(space);
      in.set_value();
      EXPECT_THROW(region.write(0, &byte, 1), error);
      out.get_future().wait();
    });
    in.get_future().wait();
  }
  std::thread release([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    out.set_value();
  });
  region.write(0, &byte, 1);  // waits
  release.join();
  other.join();
}

}  // namespace
}  // namespace wyrm::tests
