// SPDX-License-Identifier: Apache-2.0
// What only Ouroboros has: exact numbers of pages and classes; pools so small that many tiles wait for pages that no
// tile supplies; chunks that change their class; and a check() that finds planted damage.
#include "../../alloc/ouroboros/ouroboros.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <vector>

#include "../support/simt_space.hpp"
#include "full_queue.hpp"
#include "tested_allocators.hpp"
#include "workload.hpp"

namespace wyrm::tests {

using alloc::chunk_bytes;
constexpr std::size_t unit_bytes = 8 * chunk_bytes;  // what host memory is committed by

// From few to many tiles that run at the same time.
template <class Space>
Space make_many_tiles(std::uint64_t seed) {
  if constexpr (std::is_same_v<Space, simt_space>) {
    static std::map<unsigned, simt_space> made;
    unsigned const resident = 1 + static_cast<unsigned>(seed % 8);
    return made.try_emplace(resident, seed, 2u, resident).first->second;
  } else {
    return make_space<Space>();
  }
}

// All page sizes, from their description: multiples of 16 bytes up to 128, four to a doubling up to 1 KiB, parts of a
// chunk, and runs of chunks.
std::vector<std::size_t> page_sizes() {
  std::vector<std::size_t> all;
  for (std::size_t bytes = 16; bytes <= 128; bytes += 16) all.push_back(bytes);
  for (std::size_t power = 128; power < 1024; power *= 2)
    for (std::size_t k = 5; k <= 8; ++k) all.push_back(power / 4 * k);
  for (std::size_t parts = 7; parts > 1; --parts) all.push_back(chunk_bytes / parts / 16 * 16);
  for (std::size_t chunks = 1; chunks <= 8; ++chunks) all.push_back(chunks * chunk_bytes);
  for (std::size_t power = 8; power < 128; power *= 2)
    for (std::size_t k = 5; k <= 8; ++k) all.push_back(power / 4 * k * chunk_bytes);
  return all;
}

template <class A>
constexpr bool manages_chunks = std::string_view(A::name).ends_with('c');

template <class A>
class ouroboros : public space_test<typename A::space_type> {
 protected:
  using allocator = A;
  using blocks = typename pool<allocator>::blocks;

  // A virtualized queue of chunks takes two chunks as nodes when the first chunk is carved.
  static constexpr std::size_t queue_chunks = A::name[10] == 'v' && A::name[13] == 'c' ? 2 : 0;
  static constexpr bool queue_nodes = A::name[10] == 'v';  // queue nodes lie between the pages

  // Pools of n units of 64 KiB, which are 8 chunks each.
  static alloc::options units(std::size_t n, bool checked = true) {
    return {.pool_bytes = n * unit_bytes, .reserve_bytes = 4 * n * unit_bytes, .checked = checked, .guards = false};
  }
  static void expect_class(pool<allocator>& p, std::size_t page_bytes, std::size_t pages, std::size_t free) {
    alloc::class_statistics const k = p.owner().stats().classes.at(alloc::detail::class_for(page_bytes));
    EXPECT_EQ(k.page_bytes, page_bytes);
    EXPECT_EQ(k.pages, pages) << "of " << page_bytes << " bytes";
    EXPECT_EQ(k.free, free) << "of " << page_bytes << " bytes";
  }
  // In each class all pages are free.
  static void expect_all_free(pool<allocator>& p) {
    for (alloc::class_statistics const& k : p.owner().stats().classes)
      EXPECT_EQ(k.free, k.pages) << "of " << k.page_bytes << " bytes";
    p.expect_sound();
  }
};

template <class Space>
using allocators_on = tested<alloc::ouroboros_family<Space>>;
template <class... A, class... B>
::testing::Types<A..., B...> join(alloc::list<A...>, alloc::list<B...>);
using on_host = std::conditional_t<WYRM_TEST_HOST, allocators_on<exec::host_space>, alloc::list<>>;
using on_simt = std::conditional_t<WYRM_TEST_SIMT, allocators_on<simt_space>, alloc::list<>>;
using variants = decltype(join(on_host{}, on_simt{}));

struct by_name_and_space {
  template <class A>
  static std::string GetName(int) {
    return std::string(A::space_type::name) + "_" + by_name::GetName<A>(0);
  }
};
TYPED_TEST_SUITE(ouroboros, variants, by_name_and_space);

TYPED_TEST(ouroboros, pages_and_classes_in_numbers) {
  pool<TypeParam> p(this->units(40));
  alloc::statistics s = p.owner().stats();
  EXPECT_EQ(s.committed, 2621440u);
  EXPECT_EQ(s.reserved, 10485760u);
  EXPECT_EQ(s.granted, 0u);
  EXPECT_EQ(s.peak, 0u);
  std::vector<std::size_t> const sizes = page_sizes();
  ASSERT_EQ(s.classes.size(), sizes.size());
  for (std::size_t c = 0; c < sizes.size(); ++c) {
    EXPECT_EQ(s.classes[c].page_bytes, sizes[c]);
    this->expect_class(p, sizes[c], 0, 0);
  }

  auto const a = p.allocate({1, 16, 17, 100, 128, 129, 5000, 8192, 8193, 65537, 1048576, 1048577});
  EXPECT_EQ(served(a), 12u);
  this->expect_class(p, 16, 512, 510);
  this->expect_class(p, 32, 256, 255);
  this->expect_class(p, 48, 0, 0);
  this->expect_class(p, 112, 73, 72);
  this->expect_class(p, 128, 64, 63);
  this->expect_class(p, 160, 51, 50);
  this->expect_class(p, 4096, 0, 0);
  this->expect_class(p, 8192, 2, 0);
  this->expect_class(p, 16384, 1, 0);
  this->expect_class(p, 65536, 0, 0);
  this->expect_class(p, 81920, 1, 0);
  this->expect_class(p, 1048576, 1, 0);
  s = p.owner().stats();
  EXPECT_EQ(s.granted, 2 * 16 + 32 + 112 + 128 + 160 + 2 * 8192 + 16384 + 81920 + 1048576 + 129 * 8192u);
  EXPECT_EQ(s.asked, 1u + 16 + 17 + 100 + 128 + 129 + 5000 + 8192 + 8193 + 65537 + 1048576 + 1048577);
  p.expect_sound();
  p.free(a);
  this->expect_class(p, 16, 512, 512);
  this->expect_class(p, 8192, 2, 2);
  this->expect_all_free(p);
  // Free pages are used before new chunks.
  (void)p.allocate(510, 16);
  this->expect_class(p, 16, 512, 2);
  p.expect_sound();
}

// The memory of an empty queue.
TYPED_TEST(ouroboros, static_memory_of_a_class) {
  std::string_view const name = TypeParam::name;
  EXPECT_LT(TypeParam::bytes_per_class, name.find("-va-") != name.npos ? 8192u : 1024u);
}

TYPED_TEST(ouroboros, the_smallest_pool) {
  for (std::size_t const bytes : {16u, 17u, 1024u, 4096u, 8192u}) {
    SCOPED_TRACE(std::to_string(bytes) + " bytes");
    std::size_t const page = bytes == 17 ? 32 : bytes;
    pool<TypeParam> p({.pool_bytes = 1, .reserve_bytes = 1, .checked = true, .guards = false});
    EXPECT_EQ(p.committed(), 65536u);
    auto const all = p.exhaust(bytes);
    EXPECT_EQ(all.size(), (65536 - this->queue_chunks * 8192) / page);
    EXPECT_EQ(served(p.allocate({16, 8192, 65536})), 0u);
    p.expect_sound();
    p.free(all);
    this->expect_all_free(p);
    // Chunks that are pages, and chunks in queues, may change their class; chunks of which only pages are queued stay.
    bool const whole = this->queue_chunks == 0 && (bytes == 8192 || manages_chunks<TypeParam>);
    EXPECT_EQ(served(p.allocate({65536})), whole ? 1u : 0u);
    p.reset();
    EXPECT_EQ(served(p.allocate({65536})), this->queue_chunks == 0 ? 1u : 0u);
    p.expect_sound();
  }
}

TYPED_TEST(ouroboros, all_classes_in_one_warp) {
  pool<TypeParam> p(this->units(400));  // a third of it is needed
  std::vector<std::size_t> sizes;
  for (std::size_t i = 0; i < 32 * 4; ++i) sizes.push_back(i % 51 < 50 ? page_sizes()[i % 51] : 1200000);
  auto const some = p.allocate(sizes);
  EXPECT_EQ(served(some), sizes.size());
  p.expect_sound();
  p.free(some);
  this->expect_all_free(p);
}

// Pages that are chunks, or runs of chunks: they are reused in their class, and by other classes when no other memory
// is left; neighbours merge into longer runs.
TYPED_TEST(ouroboros, pages_larger_than_a_chunk) {
  pool<TypeParam> p(this->units(200));  // 12.5 MiB; 10 are needed
  std::vector<std::size_t> sizes;
  for (std::size_t i = 0; i < 40; ++i) sizes.push_back((std::size_t{8192} << i % 8) - 100 * (i % 3));
  auto const first = p.allocate(sizes);
  EXPECT_EQ(served(first), 40u);
  for (std::size_t bytes = 8192; bytes <= 1 << 20; bytes *= 2) this->expect_class(p, bytes, 5, 0);
  p.expect_sound();
  p.free(first);
  this->expect_all_free(p);
  auto const again = p.allocate(sizes);
  EXPECT_EQ(served(again), 40u);
  for (std::size_t bytes = 8192; bytes <= 1 << 20; bytes *= 2) this->expect_class(p, bytes, 5, 0);
  p.free(again);
  // All of it as chunks, then as one run, then as the largest pages.
  auto const chunks = p.exhaust(8192);
  EXPECT_GE(chunks.size(), 1600u - 18 * this->queue_nodes);
  EXPECT_EQ(served(p.allocate({16384})), 0u);
  p.expect_sound();
  p.free(chunks);
  this->expect_all_free(p);
  auto const run = p.allocate({5u << 20});
  EXPECT_GE(served(run), this->queue_nodes ? 0u : 1u);  // nodes may lie in the middle
  p.free(run);
  auto const largest = p.exhaust(1 << 20);
  EXPECT_GE(largest.size(), 8u);  // less than 1 MiB is left before the run, between nodes, behind them
  p.expect_sound();
  p.free(largest);
  this->expect_all_free(p);
  EXPECT_GE(served(p.allocate(1000, 300)), 1000u);
  p.expect_sound();
}

// Chunks that hold free pages of one size only become memory for any size.
TYPED_TEST(ouroboros, compaction) {
  for (std::size_t const bytes : {16u, 64u, 640u, 1000u, 2700u, 4096u, 8192u, 24576u}) {
    if (bytes == 16 && scaled(100) < 100) continue;  // 80,000 pages: too many for slow checkers
    SCOPED_TRACE(std::to_string(bytes) + " bytes");
    std::size_t const units = scaled(20, 8);
    pool<TypeParam> p(this->units(units));
    auto all = p.exhaust(bytes);
    std::size_t const pages = all.size();
    auto const kept = split_off(all, 3);
    p.free(all);
    EXPECT_EQ(p.owner().stats().failures > 0, true);
    p.owner().compact();
    p.expect_sound();
    // Other classes get all chunks but those that hold the three kept blocks, or queue nodes.
    auto const others = p.exhaust(bytes == 2048 ? 4096 : 2048);
    EXPECT_GE(others.size(), 4 * (8 * units - 3 * std::max<std::size_t>(bytes / 8192, 1) - 4 * this->queue_nodes));
    p.expect_sound();
    p.free(others);
    p.free(kept);
    p.owner().compact();
    p.expect_sound();
    alloc::statistics const s = p.owner().stats();
    for (alloc::class_statistics const& k : s.classes) EXPECT_EQ(k.pages * k.page_bytes, 0u) << k.page_bytes;
    auto const again = p.exhaust(bytes);
    EXPECT_GE(again.size(), pages - pages / 10);
    p.expect_sound();
  }
}

// More free pages than a ring accepts: the others are spilled.
TEST(ouroboros_ring, free_pages_beyond_the_ring) {
  exec::host_space const space(1);
  constexpr std::size_t bytes = std::size_t{17} << 20;
  alloc::ouroboros_s_p<exec::host_space> a(space, {.pool_bytes = bytes, .reserve_bytes = bytes, .guards = false});
  std::vector<void*> pages;
  while (void* const p = a.ref().malloc(16)) pages.push_back(p);
  EXPECT_EQ(pages.size(), bytes / 16);
  for (void* const p : pages) a.ref().free(p);
  a.check();
  EXPECT_EQ(a.stats().classes[0].free, pages.size());
  EXPECT_EQ(a.ref().malloc(4096), nullptr);
  for (std::size_t i = 0; i < pages.size(); ++i) ASSERT_NE(pages[i] = a.ref().malloc(16), nullptr) << i;
  EXPECT_EQ(a.ref().malloc(16), nullptr);
  a.check();
  void* const kept = pages.back();
  pages.pop_back();
  for (void* const p : pages) a.ref().free(p);
  a.compact();
  a.check();
  EXPECT_EQ(a.stats().classes[0].pages, 512u);
  EXPECT_NE(a.ref().malloc(4096), nullptr);
  a.ref().free(kept);
  a.check();
}

// Eight chunks for many tiles that request one size, then all sizes. Some wait for pages that others cannot supply.
TYPED_TEST(ouroboros, many_tiles_wait_for_pages_that_cannot_be_supplied) {
  for (std::uint64_t seed = 1; seed <= scaled(20); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    auto const space = make_many_tiles<typename TypeParam::space_type>(seed);
    // Three chunks and more for each class, where its queue takes two.
    pool<TypeParam> p(this->units(1 + seed % 2 + 2 * this->queue_chunks, seed % 3 != 0), space);
    std::size_t const bytes = page_sizes()[seed * 5 % 27];
    std::size_t const pages = (p.committed() / 8192 - this->queue_chunks) * (8192 / bytes);
    auto const one_size = p.allocate(pages + 10 * 32, bytes);
    EXPECT_EQ(served(one_size), pages);
    p.expect_sound();
    p.free(one_size);
    this->expect_all_free(p);

    p.reset();
    for (int round = 0; round < 3; ++round) {
      std::vector<std::size_t> sizes(600);
      for (std::size_t i = 0; i < sizes.size(); ++i)
        sizes[i] = std::size_t{1} << scramble(seed * 1000 + i + static_cast<std::size_t>(round) * 7919) % 15;
      auto const mixed = p.allocate(sizes);
      EXPECT_GT(served(mixed), 0u);
      EXPECT_LT(served(mixed), 600u);
      p.expect_sound();
      p.free(mixed);
      this->expect_all_free(p);
    }
  }
}

// The same with frees in between, so that waiting tiles get freed pages.
TYPED_TEST(ouroboros, churn_of_many_tiles_in_a_few_chunks) {
  for (std::uint64_t seed = 1; seed <= scaled(15); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    pool<TypeParam> p(this->units(1 + seed % 3, seed % 2 == 0), make_many_tiles<typename TypeParam::space_type>(seed));
    auto const left = p.churn(scaled(320, 160), 30, seed, seed % 4 == 0 ? 64 : 9000);
    p.expect_sound();
    p.free(left);
    this->expect_all_free(p);
  }
}

TYPED_TEST(ouroboros, growth_with_pages_in_every_queue) {
  pool<TypeParam> p(this->units(10));
  auto const first = p.allocate({16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536});
  p.free(p.allocate(300, 64));  // advances the front and the back of a queue
  (void)p.allocate(100, 64);
  std::vector<alloc::class_statistics> const before = p.owner().stats().classes;
  p.owner().grow(5 * unit_bytes);
  EXPECT_EQ(p.committed(), 15 * unit_bytes);
  for (alloc::class_statistics const& k : before) this->expect_class(p, k.page_bytes, k.pages, k.free);
  p.expect_sound();
  EXPECT_EQ(served(p.allocate(20, 64)), 20u);  // the free pages first, without another chunk
  this->expect_class(p, 64, before[3].pages, before[3].free - 20);
  p.free(first);
  p.expect_sound();
}

TYPED_TEST(ouroboros, queues_that_are_full) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    fill_a_queue<TypeParam>(make_many_tiles<typename TypeParam::space_type>(seed), scaled(400, 100), 4);
  }
}

// Nodes have two entries, so two of three chunks hold pages and the third is their node. A class can have all chunks of
// a pool, however many nodes that takes, and also of a pool that has grown.
template <class A>
class ouroboros_one_thread : public ::testing::Test {};
using one_thread = ::testing::Types<alloc::ouroboros_s_c<exec::host_space>, alloc::ouroboros_va_c<exec::host_space>,
                                    alloc::ouroboros_vl_c<exec::host_space>, alloc::ouroboros_va_p<exec::host_space>>;
TYPED_TEST_SUITE(ouroboros_one_thread, one_thread, by_name);
TYPED_TEST(ouroboros_one_thread, one_class_has_the_whole_pool) {
  std::string_view const name = TypeParam::name;
  TypeParam a(exec::host_space(1), {.pool_bytes = 16u << 20, .reserve_bytes = 32u << 20, .guards = false}, 1);
  bool const has_nodes = name.find("-v") != name.npos && name.ends_with('c');
  std::vector<void*> pages;
  auto const exhaust = [&](std::size_t bytes) {
    while (void* const p = a.ref().malloc(bytes)) pages.push_back(p);
  };
  exhaust(8192);
  EXPECT_GE(pages.size(), has_nodes ? 2 * 2048 / 3 - 2 : 2048u);
  a.grow(16u << 20);
  exhaust(8192);
  EXPECT_GE(pages.size(), has_nodes ? 2 * 4096 / 3 - 2 : 4096u);
  EXPECT_EQ(a.ref().malloc(4096), nullptr);
  a.check();
  for (void* const p : pages) a.ref().free(p);
  a.check();
  pages.clear();
  exhaust(4096);  // another class, which needs its own nodes
  EXPECT_GE(pages.size(), has_nodes ? 2 * (2 * (2 * 4096 / 3) / 3) - 4 : name.ends_with('c') ? 8192u : 0u);
  a.check();
}
// A carving that fails says how much memory is missing; after the pool has grown by as much it succeeds.
TYPED_TEST(ouroboros_one_thread, a_carved_class_has_the_whole_pool) {
  TypeParam a(exec::host_space(1), {.pool_bytes = 16u << 20, .reserve_bytes = 32u << 20, .guards = false}, 1);
  std::uint32_t const count = 4 * (2 * 4096 / 3 - 2);  // of four a chunk
  alloc::page_array pages{};
  for (int tries = 0; tries < 2; ++tries) {
    std::uint64_t const missing = a.ref().carve(exec::scalar_tile{}, 2048, count, pages);
    EXPECT_EQ(missing == 0, tries == 1) << missing << " bytes are missing";
    if (tries == 0) a.grow(missing);
  }
  for (std::uint32_t k = 0; k < count && pages.second != nullptr; ++k) (void)a.ref().claim(pages, 2048, k);
  a.check();
  // More than there can ever be.
  for (std::uint32_t const many : {0xffffffffu, 0xfffffff0u, 0x80000000u})
    EXPECT_GE(a.ref().carve(exec::scalar_tile{}, 2048, many, pages), std::uint64_t{many} * 2048 - (32u << 20));
}

// The window of the pool is a run in its middle, which cannot be extended when the pool grows.
TYPED_TEST(ouroboros_one_thread, a_carving_succeeds_where_the_window_is_not_at_the_end) {
  TypeParam a(exec::host_space(1),
              {.pool_bytes = 400 * alloc::chunk_bytes, .reserve_bytes = 64u << 20, .guards = false});
  void* const large = a.ref().malloc(160 * alloc::chunk_bytes);
  while (a.ref().malloc(alloc::chunk_bytes) != nullptr) continue;
  a.ref().free(large);
  EXPECT_NE(a.ref().malloc(16), nullptr);  // out of a window in the freed run
  alloc::page_array pages{};
  std::uint64_t const missing = a.ref().carve(exec::scalar_tile{}, 2048, 4 * 200, pages);
  ASSERT_GT(missing, 0u);
  EXPECT_LE(missing, 202 * alloc::chunk_bytes);
  a.check();
  a.grow(missing);
  ASSERT_EQ(a.ref().carve(exec::scalar_tile{}, 2048, 4 * 200, pages), 0u);
  for (std::uint32_t k = 0; k < 4 * 200; ++k) (void)a.ref().claim(pages, 2048, k);
  a.check();
}

// The class had the whole pool before, and its queue still has stale entries of chunks that other classes have now.
TYPED_TEST(ouroboros_one_thread, a_carving_succeeds_after_other_classes_have_taken_the_chunks) {
  for (unsigned const node_log2 : {1u, 4u}) {
    SCOPED_TRACE(std::to_string(1u << node_log2) + " entries a node");
    TypeParam a(exec::host_space(1),
                {.pool_bytes = 400 * alloc::chunk_bytes, .reserve_bytes = 64u << 20, .guards = false}, node_log2);
    std::vector<void*> pages;
    while (void* const p = a.ref().malloc(2048)) pages.push_back(p);
    for (void* const p : pages) a.ref().free(p);
    a.compact();
    for (std::size_t const bytes : {2 * alloc::chunk_bytes, alloc::chunk_bytes})
      while (a.ref().malloc(bytes) != nullptr) continue;
    alloc::page_array array{};
    std::uint64_t const missing = a.ref().carve(exec::scalar_tile{}, 2048, 4 * 200, array);
    ASSERT_GT(missing, 0u);
    a.grow(missing);
    ASSERT_EQ(a.ref().carve(exec::scalar_tile{}, 2048, 4 * 200, array), 0u);
    for (std::uint32_t k = 0; k < 4 * 200; ++k) (void)a.ref().claim(array, 2048, k);
    a.check();
  }
}

// A class gets chunks that it had before: its queue never needs room for more entries than the pool has chunks.
TYPED_TEST(ouroboros_one_thread, a_class_has_its_chunks_again) {
  constexpr std::size_t chunks = 4088;
  alloc::options const o{
      .pool_bytes = chunks * alloc::chunk_bytes, .reserve_bytes = chunks * alloc::chunk_bytes, .guards = false};
  for (unsigned const node_log2 : {1u, 2u, 11u}) {
    SCOPED_TRACE(std::to_string(1u << node_log2) + " entries a node");
    TypeParam a(exec::host_space(1), o, node_log2);
    for (int round = 0; round < 4; ++round) {
      std::vector<void*> pages;
      while (void* const p = a.ref().malloc(alloc::chunk_bytes / 2)) pages.push_back(p);
      a.check();
      EXPECT_GE(pages.size(), 2 * (chunks - (chunks >> node_log2) - 2)) << "round " << round;
      for (void* const p : pages) a.ref().free(p);
      a.check();
      a.compact();
      a.check();
    }
  }
}

// Where 32 bits do not count all pages of the smallest sizes, entries of their queues have 64.
TYPED_TEST(ouroboros, a_pool_that_may_grow_beyond_64_gib) {
  alloc::options const o{.pool_bytes = 60 * unit_bytes, .reserve_bytes = std::size_t{300} << 30, .checked = false};
  pool<TypeParam> p(o);
  for (std::size_t const bytes : {16u, 64u, 128u}) {
    auto const some = p.allocate(scaled(6000, 500), bytes);
    EXPECT_EQ(served(some), some.size());
    p.expect_sound();
    p.free(some);
    this->expect_all_free(p);
    auto const again = p.allocate(some.size(), bytes);
    EXPECT_EQ(served(again), again.size());
    p.expect_sound();
    p.free(again);
  }
  p.owner().grow(10 * unit_bytes);
  p.free(p.churn(scaled(320, 64), 20, 1, 200));
  this->expect_all_free(p);
}

// Without checked mode a double free is not noticed at once; check() finds it.
TYPED_TEST(ouroboros, check_finds_a_page_that_was_freed_twice) {
  for (std::size_t const bytes : {16u, 100u, 8192u}) {
    TypeParam a(make_space<typename TypeParam::space_type>(), this->units(4, false));
    auto const ref = a.ref();
    void* const kept = ref.malloc(bytes);
    void* const p = ref.malloc(bytes);
    EXPECT_NE(kept, nullptr);
    ref.free(p);
    a.check();
    ref.free(p);
    try {
      a.check();
      ADD_FAILURE() << "check() found nothing";
    } catch (error const& e) {
      EXPECT_EQ(e.code(), error_code::corrupt);
      char const* const found =
          TypeParam::name[std::string(TypeParam::name).size() - 1] == 'p' ? "is free twice" : "but counts";
      EXPECT_NE(std::string(e.what()).find(found), std::string::npos) << e.what();
    }
  }
}

TYPED_TEST(ouroboros, a_large_block_freed_twice_is_counted_unchecked_too) {
  TypeParam a(make_space<typename TypeParam::space_type>(), this->units(20, false));
  void* const p = a.ref().malloc(1100000);
  a.ref().free(p);
  a.ref().free(p);
  a.check();
  EXPECT_EQ(a.stats().bad_frees, 1u);
  EXPECT_EQ(a.stats().granted, 0u);
}

// A tile of one lane that stops at one of its collectives until a flag is set, as an operating system may stop a thread
// at any time.
class stopping_tile {
 public:
  stopping_tile(unsigned stop_at, std::atomic<bool>& stopped, std::atomic<bool> const& go_on)
      : left_(stop_at), stopped_(&stopped), go_on_(&go_on) {}
  static constexpr unsigned size() { return 1; }
  static constexpr unsigned rank() { return 0; }
  [[nodiscard]] std::uint32_t ballot(bool predicate) const { return step(predicate ? 1u : 0u); }
  [[nodiscard]] bool any(bool predicate) const { return step(predicate); }
  [[nodiscard]] bool all(bool predicate) const { return step(predicate); }
  template <class T>
  [[nodiscard]] T shfl(T value, unsigned) const {
    return step(value);
  }
  void sync() const { (void)step(0); }
  static void backoff(unsigned attempt) { exec::pause(attempt); }

 private:
  template <class T>
  T step(T value) const {
    if (left_-- != 0) return value;
    stopped_->store(true);
    while (!go_on_->load()) std::this_thread::yield();
    return value;
  }
  mutable unsigned left_;
  std::atomic<bool>* stopped_;
  std::atomic<bool> const* go_on_;
};
static_assert(exec::tile<stopping_tile>);

// Wherever the tile stops that supplies a chunk, a thread that waits for it takes one chunk in its place at most.
TEST(ouroboros_progress, a_thread_that_waits_for_a_stopped_tile_takes_one_chunk_at_most) {
  exec::host_space const space(1);
  bool reached = true;
  unsigned stop_at = 0;
  for (; reached; ++stop_at) {
    SCOPED_TRACE("stopped at collective " + std::to_string(stop_at));
    alloc::ouroboros_s_p<exec::host_space> a(space, {.pool_bytes = 10 * unit_bytes, .reserve_bytes = 10 * unit_bytes});
    std::atomic<bool> stopped{false};
    std::atomic<bool> go_on{false};
    std::atomic<bool> first_done{false};
    std::atomic<bool> second_done{false};
    void* first = nullptr;
    void* second = nullptr;
    std::thread supplier([&] {
      first = a.ref().allocate(stopping_tile(stop_at, stopped, go_on), 16);
      first_done.store(true);
    });
    while (!stopped.load() && !first_done.load()) std::this_thread::yield();
    reached = stopped.load();
    std::thread waiter([&] {
      second = a.ref().malloc(16);
      second_done.store(true);
    });
    // It may serve itself, or have to wait for the other thread.
    for (int i = 0; i < 20 && !second_done.load(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    go_on.store(true);
    supplier.join();
    waiter.join();
    EXPECT_NE(first, nullptr);
    EXPECT_NE(second, nullptr);
    EXPECT_NE(first, second);
    EXPECT_LE(a.stats().classes[0].pages, 2 * 512u);
    a.check();
  }
  EXPECT_GE(stop_at, 5u);  // there are several collectives in allocate()
}

}  // namespace wyrm::tests
