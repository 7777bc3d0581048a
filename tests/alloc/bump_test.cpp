// SPDX-License-Identifier: Apache-2.0
// The baselines. The bump pointer at the end of the pool: requests that do not fit leave it there, however many there
// are. The limit of system_malloc. Statistics of both in numbers.
#include "../../alloc/baseline/bump.hpp"
#include "../../alloc/baseline/system.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

#include "../../exec/host_space.hpp"

namespace wyrm::tests {

namespace {

// As large as addresses can be, so that a few requests would make the pointer overflow. There is no memory of that
// size.
class bump_of_2_to_60_bytes : public ::testing::Test {
 protected:
  static constexpr std::uint64_t size = std::uint64_t{1} << 60;
  [[nodiscard]] alloc::bump_ref ref() { return {reinterpret_cast<std::byte*>(16), size, &used_, ledger_.ref()}; }
  [[nodiscard]] std::uint64_t failures() const {
    alloc::statistics s;
    ledger_.report(s);
    return s.failures;
  }

  std::uint64_t used_ = 0;
  alloc::ledger<exec::host_space> ledger_{exec::host_space(1), nullptr, 0, {.checked = false}};
};

TEST_F(bump_of_2_to_60_bytes, refusals_do_not_wrap_the_pointer) {
  ASSERT_NE(ref().malloc(size - 16), nullptr);
  for (int i = 1; i <= 100; ++i) ASSERT_EQ(ref().malloc(size), nullptr) << "refusal " << i;
  // After a request that did not fit, the pool counts as used up.
  EXPECT_EQ(ref().malloc(16), nullptr);
  EXPECT_EQ(failures(), 101u);
  EXPECT_GE(used_, size);
  EXPECT_LE(used_, 2 * size);
}

TEST_F(bump_of_2_to_60_bytes, refused_requests_of_a_full_pool_do_not_move_the_pointer) {
  ASSERT_NE(ref().malloc(size), nullptr);
  for (int i = 1; i <= 100; ++i) ASSERT_EQ(ref().malloc(size), nullptr) << "refusal " << i;
  EXPECT_EQ(used_, size);
}

TEST(bump, in_numbers) {
  alloc::bump<exec::host_space> pool(exec::host_space(1), {.pool_bytes = 1, .reserve_bytes = 131072, .checked = false});
  auto const ref = pool.ref();
  auto* const base = static_cast<std::byte*>(ref.malloc(1));
  EXPECT_EQ(ref.malloc(16), base + 16);
  EXPECT_EQ(ref.malloc(17), base + 32);
  EXPECT_EQ(pool.stats().granted, 64u);
  alloc::page_array pages{};
  EXPECT_EQ(ref.carve(exec::scalar_tile{}, 16, 100, pages), 0u);
  EXPECT_EQ(ref.claim(pages, 16, 0), base + 64);
  EXPECT_EQ(ref.claim(pages, 16, 99), base + 1648);
  EXPECT_EQ(ref.carve(exec::scalar_tile{}, 32, 1997, pages), 32u);  // there is room for 1996
  EXPECT_EQ(pool.stats().granted, 1664u);
  EXPECT_EQ(ref.carve(exec::scalar_tile{}, 32, 1996, pages), 0u);
  EXPECT_EQ(pool.stats().granted, 65536u);
  EXPECT_EQ(ref.malloc(1), nullptr);
  for (std::ptrdiff_t const at : {-16, 8, 1, 65536}) ref.free(base + at);
  ref.free(base);
  ref.free(base + 65520);
  alloc::statistics s = pool.stats();
  EXPECT_EQ(s.failures, 1u);
  EXPECT_EQ(s.bad_frees, 4u);
  EXPECT_EQ(s.peak, 65536u);
  pool.grow(1);
  EXPECT_EQ(ref.malloc(65537), nullptr);
  pool.reset();
  EXPECT_EQ(ref.malloc(100), base);
  EXPECT_EQ(ref.malloc(131072), nullptr);  // the pool is used up from now on
  s = pool.stats();
  EXPECT_EQ(s.granted, 131072u);
  EXPECT_EQ(s.committed, 131072u);
  EXPECT_EQ(s.reserved, 131072u);
  EXPECT_EQ(s.failures, 1u);
  EXPECT_EQ(s.bad_frees, 0u);
}

TEST(bump, memory_that_was_added_after_a_refusal) {
  alloc::bump<exec::host_space> pool(exec::host_space(1),
                                     {.pool_bytes = 1, .reserve_bytes = 131072, .checked = true, .guards = false});
  auto* const base = static_cast<std::byte*>(pool.ref().malloc(100));
  EXPECT_EQ(pool.ref().malloc(65536), nullptr);
  pool.grow(1);
  EXPECT_EQ(pool.ref().malloc(65536), base + 65536);
  EXPECT_EQ(pool.stats().asked, 100u + 65536);
  pool.check();
  pool.ref().free(base + 65536);
  pool.ref().free(base + 65536);
  EXPECT_EQ(pool.stats().bad_frees, 1u);
}

// Each block has a header of 16 bytes.
TEST(system_malloc, in_numbers) {
  alloc::system_malloc<exec::host_space> pool(exec::host_space(1),
                                              {.pool_bytes = 1000, .reserve_bytes = 2000, .checked = false});
  auto const ref = pool.ref();
  for (std::size_t const bytes : {std::size_t{985}, std::size_t{1001}, SIZE_MAX, SIZE_MAX - 15})
    EXPECT_EQ(ref.malloc(bytes), nullptr) << bytes;
  EXPECT_EQ(ref.malloc(0), nullptr);
  void* const p = ref.malloc(984);
  EXPECT_NE(p, nullptr);
  EXPECT_EQ(ref.malloc(1), nullptr);
  alloc::statistics s = pool.stats();
  EXPECT_EQ(s.granted, 1000u);
  EXPECT_EQ(s.failures, 5u);
  pool.check();
  ref.free(p);
  s = pool.stats();
  EXPECT_EQ(s.granted, 0u);
  EXPECT_EQ(s.peak, 1000u);
  EXPECT_EQ(s.committed, 1000u);
  EXPECT_EQ(s.reserved, 2000u);
  pool.check();
  EXPECT_THROW(pool.grow(1001), error);
  pool.grow(1000);
  EXPECT_EQ(pool.stats().committed, 2000u);
  void* const larger = ref.malloc(1984);
  EXPECT_NE(larger, nullptr);
  EXPECT_EQ(pool.stats().peak, 2000u);
  ref.free(larger);
}

}  // namespace

}  // namespace wyrm::tests
