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
