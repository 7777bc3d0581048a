// SPDX-License-Identifier: Apache-2.0
// Memory of a space, on host threads and on simulated warps (simt_space), and what only host_space has.
#include "memory_suite.hpp"

#include <set>
#include <thread>

#include "../support/simt_space.hpp"

namespace wyrm::tests {

using spaces = ::testing::Types<exec::host_space, simt_space>;
INSTANTIATE_TYPED_TEST_SUITE_P(on, memory, spaces, by_name);

TEST(memory_kind, has_names) {
  EXPECT_EQ(exec::memory_kind_named("device"), exec::memory_kind::device);
  EXPECT_EQ(exec::memory_kind_named("managed"), exec::memory_kind::managed);
  EXPECT_EQ(exec::memory_kind_named("host"), exec::memory_kind::host);
  for (exec::memory_kind const kind : exec::memory_kinds)
    EXPECT_EQ(exec::memory_kind_named(exec::to_string(kind)), kind);
  for (char const* const name : {"", "Host", "hos", "hosts", "unified"}) try {
      (void)exec::memory_kind_named(name);
      ADD_FAILURE() << name;
    } catch (error const& e) {
      EXPECT_EQ(e.code(), error_code::bad_argument);
      EXPECT_NE(std::string(e.what()).find("device, managed, host"), std::string::npos) << e.what();
    }
}

TEST(host_space, lanes_for_a_list) {
  exec::host_space const three(3);
  EXPECT_EQ(three.threads(), 3u);
  for (std::uint32_t const length : {0u, 1u, 767u, 768u}) EXPECT_EQ(three.lanes_for(&length), length);
  for (std::uint32_t const length : {769u, 0xffffffffu}) EXPECT_EQ(three.lanes_for(&length), 768u);
  EXPECT_GE(exec::host_space().threads(), 1u);
}

TEST(host_space, alignment) {
  exec::host_space const one(1);
  std::size_t const huge = std::size_t{2} << 20;  // a huge page
  for (std::size_t const bytes : {std::size_t{0}, std::size_t{1}, std::size_t{257}, huge - 1, huge, huge + 1}) {
    void* const p = one.allocate(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % (bytes < huge ? 256 : huge), 0u) << bytes;
    one.fill(p, 1, bytes);
    one.deallocate(p, bytes);
  }
}

/// Takes everything from a space, and writes down what is taken.
struct recording_source final : exec::range_source {
  exec::host_space space{1};
  std::size_t reserved = 0;
  std::size_t committed = 0;
  bool is_full = false;

  void* reserve(std::size_t bytes) override {
    if (bytes > std::size_t{1} << 30) throw error(error_code::out_of_memory, "more than the source has");
    reserved = bytes;
    return space.reserve(bytes);
  }
  void commit(void* base, std::size_t from, std::size_t to) override {
    EXPECT_EQ(from, committed);
    if (is_full) throw error(error_code::out_of_memory, "the source is full");
    space.commit(base, from, to);
    committed = to;
  }
  void unreserve(void* base, std::size_t range, std::size_t bytes) noexcept override {
    EXPECT_EQ(range, reserved);
    EXPECT_EQ(bytes, committed);
    space.unreserve(base, range, bytes);
    reserved = committed = 0;
  }
};
TEST(host_space, reservation_from_a_source) {
  using reservation = exec::reservation<exec::host_space>;
  recording_source source;
  exec::host_space const space(1);
  std::size_t const step = space.granularity();
  {
    reservation all = reservation::between(space, step, std::size_t{4} << 30, exec::memory_kind::device, &source);
    EXPECT_EQ(source.reserved, std::size_t{1} << 30);
    EXPECT_EQ(all.capacity(), source.reserved);
    all.commit(1);
    EXPECT_EQ(source.committed, step);
    all.data()[step - 1] = std::byte{7};
    reservation moved = std::move(all);
    source.is_full = true;
    expect_out_of_memory([&] { moved.commit(step + 1); });
    EXPECT_EQ(moved.committed(), step);
    source.is_full = false;
    moved.commit(3 * step);
    EXPECT_EQ(source.committed, 3 * step);
    EXPECT_EQ(moved.data()[step - 1], std::byte{7});
  }
  EXPECT_EQ(source.reserved, 0u);  // freed once, by the source
  EXPECT_THROW(reservation(space, step, exec::memory_kind::host, &source), error);
}

/// Work that asks to be done by one thread.
struct record_thread {
  static constexpr std::size_t grain = exec::one_thread;
  std::vector<std::thread::id>* threads;
  template <class Tile>
  void operator()(Tile const&, std::size_t i) const {
    (*threads)[i] = std::this_thread::get_id();
  }
};
TEST(host_space, work_for_one_thread) {
  std::vector<std::thread::id> threads(scaled(100000, 1000));
  exec::for_each_tile<1>(exec::host_space(4), threads.size(), record_thread{&threads});
#if WYRM_HOST_THREADS != 1  // with std::thread, every thread takes an equal range
  EXPECT_EQ(std::set<std::thread::id>(threads.begin(), threads.end()).size(), 1u);
#endif
}

}  // namespace wyrm::tests
