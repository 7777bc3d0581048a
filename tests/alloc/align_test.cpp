// SPDX-License-Identifier: Apache-2.0
// align-malloc on threads of the host and on warps of fibers, and what its check() finds.
#include "align_suite.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "../support/simt_space.hpp"

namespace wyrm::tests {

using on_cpu = ::testing::Types<exec::host_space, simt_space>;
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, align_suite, on_cpu, by_name);

namespace {

using host = exec::host_space;

// A pool whose tables the test changes.
class damaged_pool : public alloc::align_malloc<host> {
 public:
  damaged_pool()
      : alloc::align_malloc<host>(
            host(1), {.pool_bytes = std::size_t{1} << 20, .reserve_bytes = std::size_t{1} << 20, .checked = false}) {}
  [[nodiscard]] std::uint64_t& entry(std::size_t page) { return entries_.data()[page]; }
  [[nodiscard]] std::uint32_t& live(std::size_t page) { return live_.data()[page]; }
  void free_space(std::uint32_t page) {
    host_->use([&](auto&, alloc::portion_space& spaces) { EXPECT_TRUE(spaces.free(page)); });
  }
};

// Two blocks of two pages, each in a space of its own: at pages 0 and 32.
void expect(std::string const& message, std::function<void(damaged_pool&)> const& damage) {
  damaged_pool pool;
  ASSERT_NE(pool.ref().malloc(8192), nullptr);
  ASSERT_NE(pool.ref().malloc(8192), nullptr);
  ASSERT_NO_THROW(pool.check());
  damage(pool);
  try {
    pool.check();
    ADD_FAILURE() << "check() does not find: " << message;
  } catch (error const& e) {
    EXPECT_EQ(e.code(), error_code::corrupt);
    EXPECT_NE(std::string(e.what()).find(message), std::string::npos) << e.what();
  }
}

TEST(align_check, finds_damage) {
  using entry = alloc::align_entry;
  expect("the space at page 0 has another number of blocks", [](auto& pool) { pool.entry(0) = 0; });
  expect("the space at page 32 has another number of blocks", [](auto& pool) { pool.live(32) = 2; });
  expect("the block at page 0 is not in its space", [](auto& pool) { pool.entry(0) = entry(0, 3).bits(); });
  expect("the block at page 0 is not in its space", [](auto& pool) { pool.entry(0) = entry(32, 2).bits(); });
  expect("the block at page 1 begins inside another", [](auto& pool) { pool.entry(1) = entry(0, 1).bits(); });
  expect("the block at page 32 is not in its space", [](auto& pool) { pool.free_space(32); });
  expect("the space at page 0 has no blocks", [](auto& pool) {
    pool.entry(0) = 0;
    pool.live(0) = 0;
  });
}

// Copies wait for what has been launched before, as on a GPU: here, one function.
struct asynchronous_space : host {
  static inline std::function<void()> running;
  asynchronous_space() : host(1) {}
  void copy_out(void* to, void const* from, std::size_t bytes) const {
    if (std::function<void()> const f = std::exchange(running, nullptr)) f();
    host::copy_out(to, from, bytes);
  }
};

// Functions of the owner are ordered on the space: they may be called while the last kernel runs, and wait for it. The
// host must serve this kernel meanwhile.
TEST(align_host, serves_kernels_that_a_function_of_the_owner_waits_for) {
  using allocator = alloc::align_malloc<asynchronous_space>;
  allocator pool(asynchronous_space(), {.pool_bytes = std::size_t{1} << 20, .reserve_bytes = std::size_t{4} << 20},
                 {.limit = std::chrono::seconds(3)});
  std::function<void(allocator&)> const functions[] = {
      [](auto& p) { (void)p.stats(); }, [](auto& p) { p.check(); }, [](auto& p) { p.grow(std::size_t{1} << 20); },
      [](auto& p) { p.compact(); },     [](auto& p) { p.reset(); }, [](auto& p) { (void)p.unanswered(); }};
  for (auto const& f : functions) {
    void* block = nullptr;
    asynchronous_space::running = [&] { block = pool.ref().malloc(100); };
    f(pool);
    EXPECT_NE(block, nullptr);
  }
  EXPECT_EQ(pool.unanswered(), 0u);
}

// A process ends normally although its pools are destroyed after the service, or never.
TEST(align_service_death, a_process_ends_with_pools) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";  // each in a process of its own, which begins without a service
  static std::optional<alloc::align_malloc<host>> global;
  alloc::options const o{.pool_bytes = 4096, .reserve_bytes = 4096};
  auto const end = [](int status) { std::exit(status); };
  EXPECT_EXIT((global.emplace(host(1), o), end(global->ref().malloc(1) != nullptr ? 0 : 1)), testing::ExitedWithCode(0),
              "");
  EXPECT_EXIT((end((new alloc::align_malloc<host>(host(1), o))->ref().malloc(1) != nullptr ? 0 : 1)),
              testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace wyrm::tests
