// SPDX-License-Identifier: Apache-2.0
// The allocators as a library: the global pool, and adaptors. A typed suite, on any space.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "../../alloc/alloc.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../support/spaces.hpp"
#include "library_lists.hpp"

namespace wyrm::tests {

struct malloc_without_pool {
  std::uint32_t* wrong;
  WYRM_HD void operator()(std::size_t) const {
    void* const p = wyrm::malloc(8);
    wyrm::free(p);
    if (p != nullptr || wyrm::realloc(nullptr, 8) != nullptr || make<list_node>(1u, nullptr) != nullptr)
      exec::atomic_ref<std::uint32_t>(*wrong).fetch_add(1, exec::relaxed);
  }
};

/// Mallocs a block of `bytes` per thread, and frees it unless kept.
template <class Ref>
struct malloc_some {
  Ref ref;
  std::size_t bytes;
  void** kept;
  WYRM_HD void operator()(std::size_t i) const {
    void* const p = ref.malloc(bytes);
    if (kept != nullptr)
      kept[i] = p;
    else
      ref.free(p);
  }
};
template <class Ref>
struct free_some {
  Ref ref;
  void** blocks;
  WYRM_HD void operator()(std::size_t i) const { ref.free(blocks[i]); }
};

template <class Space>
class library : public space_test<Space> {
 public:
  static alloc::options pool_of(std::size_t bytes, bool checked) {
    return {.pool_bytes = bytes, .reserve_bytes = std::size_t{16} << 20, .checked = checked};
  }
};
TYPED_TEST_SUITE_P(library);

TYPED_TEST_P(library, kernels_use_the_global_pool) {
  auto const space = make_space<TypeParam>();
  constexpr std::size_t n = 1000;
  exec::buffer<list_node*, TypeParam> heads(space, n);
  exec::buffer<unsigned char*, TypeParam> arrays(space, n);
  exec::buffer<std::uint32_t, TypeParam> wrong(space, 1);
  exec::write(space, wrong.data(), 0u);
  exec::for_each(space, 100, malloc_without_pool{wrong.data()});
  alloc::global_allocator<TypeParam> pool(space, this->pool_of(std::size_t{1} << 20, true));
  alloc::set_global(pool);
  for (int round = 0; round < 2; ++round) {
    exec::for_each(space, n, build_lists{heads.data(), arrays.data()});
    EXPECT_GT(pool.stats().granted, n * 300);
    pool.check();
    pool.grow(std::size_t{1} << 20);  // the global pool need not be set again
    exec::for_each(space, n, free_lists{heads.data(), arrays.data(), wrong.data()});
    pool.check();
  }
  alloc::statistics const s = pool.stats();
  EXPECT_EQ(s.granted + s.failures + s.bad_frees + s.overflows, 0u);
  {
    alloc::global_allocator<TypeParam> other(space, this->pool_of(std::size_t{1} << 20, true));
    alloc::set_global(other);
    exec::for_each(space, n, build_lists{heads.data(), arrays.data()});
    EXPECT_GT(other.stats().granted, 0u);
    EXPECT_EQ(pool.stats().granted, 0u);
    alloc::unset_global(other);
  }
  exec::for_each(space, 100, malloc_without_pool{wrong.data()});
  EXPECT_EQ(exec::read(space, wrong.data()), 0u);
}

TYPED_TEST_P(library, a_limit_refuses_what_exceeds_it) {
  using pool_type = alloc::limited<alloc::corw<TypeParam>>;
  static_assert(alloc::device_allocator<pool_type>);
  auto const space = make_space<TypeParam>();
  pool_type pool(space, this->pool_of(std::size_t{4} << 20, true), 100 * 256);
  constexpr std::size_t n = 320;
  exec::buffer<void*, TypeParam> blocks(space, n);
  auto const run = [&] {
    exec::for_each(space, n, malloc_some<decltype(pool.ref())>{pool.ref(), 200, blocks.data()});
    std::vector<void*> const got = exec::copy_out(space, blocks.data(), n);
    pool.check();
    return n - static_cast<std::size_t>(std::count(got.begin(), got.end(), nullptr));
  };
  // A guard makes blocks of 200 bytes pages of 256; 200 of them count.
  std::size_t const fit = 100 * 256 / 200;
  std::size_t served = run();
  EXPECT_GE(served, fit / 2);
  EXPECT_LE(served, fit);
  EXPECT_EQ(pool.used(), served * 200);
  EXPECT_EQ(pool.stats().failures, n - served);
  exec::for_each(space, n, free_some<decltype(pool.ref())>{pool.ref(), blocks.data()});
  exec::for_each(space, 1, free_some<decltype(pool.ref())>{pool.ref(), blocks.data()});  // a second time
  EXPECT_EQ(pool.used(), 0u);
  EXPECT_EQ(pool.stats().bad_frees, exec::read(space, blocks.data()) != nullptr ? 1u : 0u);
  pool.set_limit(SIZE_MAX);
  pool.grow(std::size_t{1} << 20);
  EXPECT_EQ(run(), n);
  EXPECT_EQ(pool.used(), n * 200);
  pool.reset();
  EXPECT_EQ(pool.used(), 0u);
}

TYPED_TEST_P(library, usage_is_counted) {
  using pool_type = alloc::counted<alloc::ouroboros_vl_p<TypeParam>>;
  static_assert(alloc::device_allocator<pool_type>);
  auto const space = make_space<TypeParam>();
  pool_type pool(space, this->pool_of(std::size_t{1} << 20, false));
  constexpr std::size_t n = 300;
  exec::buffer<void*, TypeParam> blocks(space, n);
  using ref = decltype(pool.ref());
  exec::for_each(space, n, malloc_some<ref>{pool.ref(), 100, blocks.data()});
  exec::for_each(space, n, malloc_some<ref>{pool.ref(), 0, nullptr});
  exec::for_each(space, 10, malloc_some<ref>{pool.ref(), std::size_t{1} << 30, nullptr});
  exec::for_each(space, n / 3, free_some<ref>{pool.ref(), blocks.data()});
  alloc::usage const u = pool.usage();
  EXPECT_EQ(u.blocks, n - n / 3);
  EXPECT_EQ(u.bytes, (n - n / 3) * 112);
  EXPECT_EQ(u.most_blocks, n);
  EXPECT_EQ(u.most_bytes, n * 112);
  EXPECT_EQ(u.all_blocks, n);
  EXPECT_EQ(u.all_bytes, n * 112);
  EXPECT_EQ(u.asked, n * 100);
  EXPECT_EQ(u.refused, 10u);
  EXPECT_EQ(pool.stats().granted, u.bytes);
}

TYPED_TEST_P(library, the_last_calls_are_logged) {
  using pool_type = alloc::logged<alloc::limited<alloc::rw_malloc<TypeParam>>>;
  static_assert(alloc::device_allocator<pool_type>);
  auto const space = make_space<TypeParam>();
  pool_type pool(space, this->pool_of(std::size_t{1} << 20, false), 64);
  using ref = decltype(pool.ref());
  constexpr std::size_t n = 20;
  exec::buffer<void*, TypeParam> blocks(space, n);
  exec::for_each(space, n, malloc_some<ref>{pool.ref(), 100, blocks.data()});
  exec::for_each(space, 1, malloc_some<ref>{pool.ref(), std::size_t{1} << 30, nullptr});
  exec::for_each(space, n, free_some<ref>{pool.ref(), blocks.data()});
  std::vector<alloc::event> events = pool.events();
  ASSERT_EQ(events.size(), 2 * n + 1);
  std::map<std::uint64_t, int> live;
  for (std::size_t i = 0; i < events.size(); ++i) {
    alloc::event const& e = events[i];
    EXPECT_EQ(e.number, i);
    bool const allocated = i < n;
    EXPECT_EQ(e.kind, allocated ? alloc::event_kind::allocated
                      : i == n  ? alloc::event_kind::refused
                                : alloc::event_kind::freed);
    EXPECT_EQ(e.granted, i == n ? 0u : 112u);
    EXPECT_EQ(e.asked, allocated ? 100u : i == n ? std::uint64_t{1} << 30 : 0u);
    live[e.address] += allocated ? 1 : i == n ? 0 : -1;
  }
  EXPECT_EQ(live.size(), n + 1);  // nullptr, too
  for (auto const& [address, count] : live) EXPECT_EQ(count, 0) << address;
  EXPECT_EQ(to_string(alloc::event{12, alloc::event_kind::allocated, 0x10, 100, 112}), "12,allocated,0x10,100,112");
  // More calls than the ring has slots: the last ones are kept, as far as no two calls wrote a slot at the same time.
  exec::for_each(space, 1000, malloc_some<ref>{pool.ref(), 16, nullptr});
  events = pool.events();
  EXPECT_LE(events.size(), 64u);
  EXPECT_GE(events.size(), 1u);
  for (std::size_t i = 1; i < events.size(); ++i) EXPECT_LT(events[i - 1].number, events[i].number);
  EXPECT_GE(events.back().number + 64, 2 * n + 1 + 2000);
  pool.reset();
  EXPECT_TRUE(pool.events().empty());
}

TYPED_TEST_P(library, a_launch_is_repeated_after_a_failure) {
  auto const space = make_space<TypeParam>();
  alloc::ouroboros_s_p<TypeParam> pool(space, this->pool_of(std::size_t{64} << 10, false));
  using ref = decltype(pool.ref());
  constexpr std::size_t n = 3000;
  exec::buffer<void*, TypeParam> blocks(space, n);
  std::size_t calls = 0;
  auto const launch = [&] {
    if (calls > 0) exec::for_each(space, n, free_some<ref>{pool.ref(), blocks.data()});
    exec::for_each(space, n, malloc_some<ref>{pool.ref(), 1024, blocks.data()});
  };
  EXPECT_FALSE(alloc::retry(pool, launch, [&](std::size_t refused) {
    EXPECT_GT(refused, 0u);
    return ++calls < 3;
  }));
  EXPECT_EQ(calls, pool.stats().committed >= n * 1024 ? 0u : 3u);
  EXPECT_TRUE(alloc::retry(pool, launch, [&](std::size_t) {
    pool.grow(std::size_t{1} << 20);
    return true;
  }));
  EXPECT_GE(pool.stats().granted, n * 1024);
}

REGISTER_TYPED_TEST_SUITE_P(library, kernels_use_the_global_pool, a_limit_refuses_what_exceeds_it, usage_is_counted,
                            the_last_calls_are_logged, a_launch_is_repeated_after_a_failure);

}  // namespace wyrm::tests
