// SPDX-License-Identifier: Apache-2.0
// What blocks of every allocator have in common: alignment on request, sizes, objects in them, and errors of the
// program that checked mode detects. A typed suite, on any space.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "../../alloc/objects.hpp"
#include "../../alloc/registry.hpp"
#include "../support/seed.hpp"
#include "workload.hpp"

namespace wyrm::tests {

/// One request, with its alignment. block_bytes: what the ref says afterwards, where it can.
struct aligned_block {
  block b;
  std::uint64_t align;
  std::uint64_t block_bytes;
};

/// By all lanes of a tile, or per thread.
template <class Ref, bool PerThread>
struct allocate_aligned {
  Ref ref;
  aligned_block* blocks;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    void* p = nullptr;
    if constexpr (!PerThread)
      p = ref.allocate(t, valid ? blocks[i].b.bytes : 0, valid ? blocks[i].align : 16);
    else if (valid)
      p = ref.malloc(blocks[i].b.bytes, blocks[i].align);
    if (!valid) return;
    blocks[i].b.p = static_cast<unsigned char*>(p);
    if (p == nullptr) return;
    fill_block(blocks[i].b);
    if constexpr (alloc::measuring_ref<Ref>) blocks[i].block_bytes = ref.block_bytes(p);
  }
};

/// Checks blocks, and frees them.
template <class Ref>
struct check_and_free {
  Ref ref;
  aligned_block const* blocks;
  std::uint64_t* changed;
  WYRM_HD void operator()(std::size_t i) const {
    if (blocks[i].b.p == nullptr) return;
    if (!is_intact(blocks[i].b)) exec::atomic_ref<std::uint64_t>(*changed).fetch_add(1, exec::relaxed);
    ref.free(blocks[i].b.p);
  }
};

/// Writes a byte so many bytes from the beginning of a block.
struct write_byte {
  block const* blocks;
  WYRM_HD void operator()(std::size_t i) const { blocks[i].p[blocks[i].tag] = 0x11; }
};

/// Reallocates a block several times, each time to another size. The bytes that both sizes have stay the same.
template <class Ref>
struct reallocate_often {
  Ref ref;
  std::uint64_t* wrong;
  WYRM_HD void operator()(std::size_t i) const {
    constexpr std::size_t sizes[] = {10, 16, 17, 100, 128, 5000, 4000, 20, 12000, 1};
    auto* p = static_cast<unsigned char*>(nullptr);
    std::size_t before = 0;
    bool good = true;
    for (std::size_t const bytes : sizes) {
      std::size_t const had = p != nullptr ? ref.block_bytes(p) : 0;
      auto* const now = static_cast<unsigned char*>(alloc::reallocate(ref, p, bytes));
      good = good && now != nullptr && (now == p) == (bytes <= had && p != nullptr);
      if (now == nullptr) break;
      for (std::size_t k = 0; k < (bytes < before ? bytes : before); ++k)
        good = good && now[k] == static_cast<unsigned char>(i + k);
      for (std::size_t k = 0; k < bytes; ++k) now[k] = static_cast<unsigned char>(i + k);
      p = now;
      before = bytes;
    }
    good = good && alloc::reallocate(ref, p, ~std::size_t{0} / 2) == nullptr;  // leaves the block as it is
    good = good && p[0] == static_cast<unsigned char>(i) && alloc::reallocate(ref, p, 0) == nullptr;
    if (!good) exec::atomic_ref<std::uint64_t>(*wrong).fetch_add(1, exec::relaxed);
  }
};

/// Counts the objects that exist.
struct counted {
  WYRM_HD counted(std::uint64_t* number, std::uint64_t v) : objects(number), value(v) { add(1); }
  WYRM_HD ~counted() { add(~std::uint64_t{0}); }
  WYRM_HD void add(std::uint64_t n) const { exec::atomic_ref<std::uint64_t>(*objects).fetch_add(n, exec::relaxed); }
  std::uint64_t* objects;
  std::uint64_t value;
};
struct alignas(256) aligned_object : counted {
  using counted::counted;
};
template <class Ref>
struct make_and_destroy {
  Ref ref;
  std::uint64_t* objects;
  std::uint64_t* wrong;
  WYRM_HD void operator()(std::size_t i) const {
    counted* const one = alloc::make<counted>(ref, objects, i);
    aligned_object* const other = alloc::make<aligned_object>(ref, objects, i + 1);
    bool const good = one != nullptr && other != nullptr && one->value == i && other->value == i + 1 &&
                      reinterpret_cast<std::uintptr_t>(other) % 256 == 0;
    if (!good) exec::atomic_ref<std::uint64_t>(*wrong).fetch_add(1, exec::relaxed);
    if (i % 2 == 0) alloc::destroy(ref, other);
    alloc::destroy(ref, one);
    if (i % 2 != 0) alloc::destroy(ref, other);
    alloc::destroy(ref, static_cast<counted*>(nullptr));
  }
};

template <class A>
class blocks_suite : public space_test<typename A::space_type> {
 public:
  using space_type = typename A::space_type;
  using ref_type = typename A::ref_type;

  static alloc::options pool_of(bool checked, bool guards) {
    return {.pool_bytes = std::size_t{8} << 20,
            .reserve_bytes = std::size_t{8} << 20,
            .checked = checked,
            .guards = guards};
  }
};
TYPED_TEST_SUITE_P(blocks_suite);

TYPED_TEST_P(blocks_suite, blocks_are_aligned_as_requested) {
  using ref_type = typename TypeParam::ref_type;
  auto const space = make_space<typename TypeParam::space_type>();
  for (int const mode : {0, 1, 2, 3, 4, 5}) {
    SCOPED_TRACE(mode);
    TypeParam owner(space, this->pool_of(mode >= 2, mode >= 4));
    std::mt19937_64 random(seeded(static_cast<std::uint64_t>(mode)));
    std::vector<aligned_block> all(scaled(300, 96));
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i] = {{1 + random() % (random() % 8 == 0 ? 9000 : 300), i, nullptr}, std::uint64_t{1} << random() % 13, 0};
    exec::buffer<aligned_block, typename TypeParam::space_type> device(space, all.size());
    exec::buffer<std::uint64_t, typename TypeParam::space_type> changed(space, 1);
    exec::copy_in<aligned_block>(space, device.data(), all);
    exec::write(space, changed.data(), std::uint64_t{0});
    if (mode % 2 == 0)
      exec::for_each_lane<32>(space, all.size(), allocate_aligned<ref_type, false>{owner.ref(), device.data()});
    else
      exec::for_each_lane<32>(space, all.size(), allocate_aligned<ref_type, true>{owner.ref(), device.data()});
    owner.check();
    all = exec::copy_out(space, device.data(), all.size());
    for (aligned_block const& a : all) {
      ASSERT_NE(a.b.p, nullptr) << a.b.bytes << " bytes, alignment " << a.align;
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.b.p) % std::max<std::uint64_t>(a.align, 16), 0u) << a.align;
      EXPECT_TRUE(!alloc::measuring_ref<ref_type> || a.block_bytes >= a.b.bytes);
    }
    exec::for_each(space, all.size(), check_and_free<ref_type>{owner.ref(), device.data(), changed.data()});
    owner.check();
    alloc::statistics const s = owner.stats();
    EXPECT_EQ(exec::read(space, changed.data()), 0u) << "blocks overlap";
    EXPECT_EQ(s.bad_frees + s.overflows + s.failures, 0u);
    EXPECT_TRUE(!family<TypeParam>().reclaims || s.granted == 0);
  }
}

TYPED_TEST_P(blocks_suite, alignments_that_are_refused) {
  using ref_type = typename TypeParam::ref_type;
  auto const space = make_space<typename TypeParam::space_type>();
  TypeParam owner(space, this->pool_of(true, true));
  std::vector<aligned_block> all;
  for (std::uint64_t const align :
       {std::uint64_t{0}, std::uint64_t{3}, std::uint64_t{12}, std::uint64_t{24}, std::uint64_t{48},
        std::uint64_t{4097}, std::uint64_t{8192}, std::uint64_t{1} << 40, ~std::uint64_t{0}})
    for (std::uint64_t const bytes : {1u, 100u, 10000u}) all.push_back({{bytes, 0, nullptr}, align, 0});
  exec::buffer<aligned_block, typename TypeParam::space_type> device(space, all.size());
  exec::copy_in<aligned_block>(space, device.data(), all);
  exec::for_each_lane<32>(space, all.size(), allocate_aligned<ref_type, false>{owner.ref(), device.data()});
  for (aligned_block const& a : exec::copy_out(space, device.data(), all.size())) EXPECT_EQ(a.b.p, nullptr) << a.align;
  EXPECT_EQ(owner.stats().failures, all.size());
  owner.check();
}

TYPED_TEST_P(blocks_suite, blocks_change_their_size) {
  using ref_type = typename TypeParam::ref_type;
  if constexpr (alloc::measuring_ref<ref_type>) {
    auto const space = make_space<typename TypeParam::space_type>();
    for (bool const guards : {false, true}) {
      TypeParam owner(space, this->pool_of(guards, guards));
      exec::buffer<std::uint64_t, typename TypeParam::space_type> wrong(space, 1);
      exec::write(space, wrong.data(), std::uint64_t{0});
      exec::for_each(space, scaled(200, 64), reallocate_often<ref_type>{owner.ref(), wrong.data()});
      EXPECT_EQ(exec::read(space, wrong.data()), 0u);
      owner.check();
      EXPECT_EQ(owner.stats().granted, 0u);
    }
  }
}

TYPED_TEST_P(blocks_suite, objects_are_constructed_and_destroyed) {
  using ref_type = typename TypeParam::ref_type;
  auto const space = make_space<typename TypeParam::space_type>();
  TypeParam owner(space, this->pool_of(true, true));
  exec::buffer<std::uint64_t, typename TypeParam::space_type> counts(space, 2);
  exec::write(space, counts.data(), std::uint64_t{0});
  exec::write(space, counts.data() + 1, std::uint64_t{0});
  exec::for_each(space, 500, make_and_destroy<ref_type>{owner.ref(), counts.data(), counts.data() + 1});
  EXPECT_EQ(exec::read(space, counts.data()), 0u) << "objects that are not destroyed";
  EXPECT_EQ(exec::read(space, counts.data() + 1), 0u);
  owner.check();
}

inline bool has_error(alloc::statistics const& s, alloc::memory_error_kind kind, void const* p, std::uint64_t bytes) {
  return std::any_of(s.errors.begin(), s.errors.end(), [&](alloc::memory_error const& e) {
    return e.kind == kind && e.address == reinterpret_cast<std::uintptr_t>(p) && e.bytes == bytes;
  });
}

struct refuses_to_be {
  refuses_to_be() { throw std::runtime_error("no"); }
};

// Kernels have no exceptions.
TYPED_TEST_P(blocks_suite, a_constructor_that_throws_leaves_no_block) {
  if constexpr (std::is_same_v<typename TypeParam::space_type, exec::host_space>) {
    TypeParam owner(make_space<exec::host_space>(), this->pool_of(true, true));
    EXPECT_THROW((void)alloc::make<refuses_to_be>(owner.ref()), std::runtime_error);
    owner.check();
    EXPECT_TRUE(!family<TypeParam>().reclaims || owner.stats().granted == 0);
  }
}

// Options need not name guards.
TYPED_TEST_P(blocks_suite, checked_mode_has_guards) {
  using ref_type = typename TypeParam::ref_type;
  if constexpr (alloc::measuring_ref<ref_type> && std::is_same_v<typename TypeParam::space_type, exec::host_space>) {
    alloc::options o{.pool_bytes = std::size_t{4} << 20, .reserve_bytes = std::size_t{4} << 20};
    o.checked = true;
    TypeParam owner(make_space<exec::host_space>(), o);
    auto* const p = static_cast<char*>(owner.ref().malloc(100));
    ASSERT_NE(p, nullptr);
    p[100] = 1;
    owner.ref().free(p);
    EXPECT_EQ(owner.stats().overflows, 1u);
  }
}

TYPED_TEST_P(blocks_suite, errors_of_the_program_are_reported_with_address_and_size) {
  using kind = alloc::memory_error_kind;
  pool<TypeParam> p(this->pool_of(true, true));
  auto const write = [&](std::vector<block> const& at) {
    exec::buffer<block, typename TypeParam::space_type> device(p.space(), at.size());
    exec::copy_in<block>(p.space(), device.data(), at);
    exec::for_each(p.space(), at.size(), write_byte{device.data()});
  };
  std::vector<std::size_t> const sizes{1, 15, 16, 17, 64, 100, 1000, 4096, 8192, 70000, std::size_t{3} << 20};
  auto blocks = p.allocate(sizes);
  ASSERT_EQ(served(blocks), sizes.size());
  for (block& b : blocks) b.tag = b.bytes - 1;
  write(blocks);  // the last byte of each block belongs to it
  p.owner().check();

  // One byte beyond the end: of one block, found by check(), and then of all blocks, found when they are freed.
  block const first{blocks[5].bytes, blocks[5].bytes, blocks[5].p};
  write({first});
  try {
    p.owner().check();
    ADD_FAILURE() << "check() does not find an overflow";
  } catch (error const& e) {
    char address[24];
    std::snprintf(address, sizeof(address), "0x%llx",
                  static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(first.p)));
    EXPECT_EQ(e.code(), error_code::corrupt);
    EXPECT_NE(std::string(e.what()).find(address), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("100 bytes"), std::string::npos) << e.what();
  }
  for (block& b : blocks) b.tag = b.bytes;
  write(blocks);
  p.free_once_each(blocks, blocks);
  alloc::statistics s = p.owner().stats();
  EXPECT_EQ(s.overflows, blocks.size());
  EXPECT_EQ(s.bad_frees, 0u);
  for (block const& b : blocks) EXPECT_TRUE(has_error(s, kind::overflow, b.p, b.bytes)) << b.bytes;

  p.free_in_order(blocks);
  s = p.owner().stats();
  EXPECT_EQ(s.bad_frees, blocks.size());
  for (block const& b : blocks) EXPECT_TRUE(has_error(s, kind::double_free, b.p, b.bytes)) << b.bytes;

  auto const others = p.allocate(2, 100);
  exec::buffer<unsigned char, typename TypeParam::space_type> const elsewhere(p.space(), 4096);
  std::vector<block> const foreign{{1, 0, elsewhere.data() + 64}, {1, 0, others[0].p + 48}, {1, 0, others[1].p + 1}};
  p.free_in_order(foreign);
  s = p.owner().stats();
  EXPECT_EQ(s.bad_frees, blocks.size() + foreign.size());
  for (std::size_t const i : {std::size_t{0}, std::size_t{2}})
    EXPECT_TRUE(has_error(s, kind::foreign_free, foreign[i].p, 0)) << i;
  p.free_once_each(others, others);
  EXPECT_EQ(p.owner().stats().bad_frees, blocks.size() + foreign.size());
}

// Against a model: the live blocks as the program knows them, and the sizes that the ref reports.
TYPED_TEST_P(blocks_suite, fragmentation_follows_from_the_live_blocks) {
  using ref_type = typename TypeParam::ref_type;
  auto const space = make_space<typename TypeParam::space_type>();
  if (!owns_pool<TypeParam>()) {
    EXPECT_FALSE(TypeParam(space, this->pool_of(true, false)).stats().fragmentation.has_value());
    return;
  }
  EXPECT_FALSE(TypeParam(space, this->pool_of(false, false)).stats().fragmentation.has_value());
  TypeParam owner(space, this->pool_of(true, false));
  EXPECT_EQ(owner.stats().fragmentation->largest_free, share_of<TypeParam>(owner.stats().committed));
  std::mt19937_64 random(seeded(5));
  std::vector<aligned_block> all(scaled(500, 160));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = {{1 + random() % 5000, i, nullptr}, 16, 0};
  exec::buffer<aligned_block, typename TypeParam::space_type> device(space, all.size());
  exec::buffer<std::uint64_t, typename TypeParam::space_type> changed(space, 1);
  exec::copy_in<aligned_block>(space, device.data(), all);
  exec::for_each_lane<32>(space, all.size(), allocate_aligned<ref_type, false>{owner.ref(), device.data()});
  all = exec::copy_out(space, device.data(), all.size());
  for (int round = 0; round < 3; ++round) {
    std::map<std::uintptr_t, std::uint64_t> ends;
    double internal = 0;
    std::size_t requested = 0;
    for (aligned_block const& a : all) {
      ASSERT_NE(a.b.p, nullptr);
      std::uint64_t const granted = alloc::measuring_ref<ref_type> ? a.block_bytes : (a.b.bytes + 15) / 16 * 16;
      ends[reinterpret_cast<std::uintptr_t>(a.b.p)] = granted;
      internal += static_cast<double>(granted - a.b.bytes) / static_cast<double>(granted);
      requested += a.b.bytes;
    }
    alloc::statistics const s = owner.stats();
    ASSERT_TRUE(s.fragmentation.has_value());
    alloc::fragmentation_statistics const& f = *s.fragmentation;
    EXPECT_EQ(f.blocks, all.size());
    EXPECT_EQ(f.requested, requested);
    EXPECT_NEAR(f.internal, internal / static_cast<double>(all.size()), 1e-9);
    std::size_t granted = 0;
    std::size_t between = 0;  // the largest gap between two blocks
    for (auto it = ends.begin(); it != ends.end(); ++it) {
      granted += it->second;
      if (std::next(it) != ends.end())
        between = std::max<std::size_t>(between, std::next(it)->first - (it->first + it->second));
    }
    EXPECT_EQ(f.free, s.committed - granted - all.size() * family<TypeParam>().header_bytes);
    if (is_contiguous<TypeParam>()) {
      EXPECT_GE(f.largest_free + family<TypeParam>().header_bytes, between);
    }
    EXPECT_LE(f.largest_free, f.free);
    EXPECT_NEAR(f.external, 1 - static_cast<double>(f.largest_free) / static_cast<double>(f.free), 1e-9);
    EXPECT_GE(f.blowup, static_cast<double>(granted) / static_cast<double>(requested) - 1e-9);
    EXPECT_GE(s.peak, static_cast<std::size_t>(f.blowup * static_cast<double>(requested) * 0.999));
    // Every second block is freed.
    std::vector<aligned_block> gone;
    std::vector<aligned_block> rest;
    for (std::size_t i = 0; i < all.size(); ++i) (i % 2 == 0 ? gone : rest).push_back(all[i]);
    exec::copy_in<aligned_block>(space, device.data(), gone);
    exec::for_each(space, gone.size(), check_and_free<ref_type>{owner.ref(), device.data(), changed.data()});
    all = rest;
  }
  owner.check();
}

REGISTER_TYPED_TEST_SUITE_P(blocks_suite, blocks_are_aligned_as_requested, alignments_that_are_refused,
                            blocks_change_their_size, objects_are_constructed_and_destroyed,
                            a_constructor_that_throws_leaves_no_block, checked_mode_has_guards,
                            errors_of_the_program_are_reported_with_address_and_size,
                            fragmentation_follows_from_the_live_blocks);

}  // namespace wyrm::tests
