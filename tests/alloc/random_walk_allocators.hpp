// SPDX-License-Identifier: Apache-2.0
// Tests of the random-walk allocators beyond the conformance suite, on any space: memory moves between size classes,
// and RW_malloc places blocks at any unit.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "../../alloc/ledger.hpp"
#include "../../alloc/random_walk/random_walk.hpp"
#include "../../alloc/random_walk/rw_malloc.hpp"
#include "../../exec/converged_tile.hpp"
#include "../support/seed.hpp"
#include "tested_allocators.hpp"
#include "workload.hpp"

namespace wyrm::tests {

template <class A>
class random_walk_allocator : public space_test<typename A::space_type> {
 protected:
  static constexpr bool has_classes = !std::is_same_v<A, alloc::rw_malloc<typename A::space_type>>;
  static constexpr std::size_t mib = std::size_t{1} << 20;
  static alloc::options options(std::size_t bytes) {
    return {.pool_bytes = bytes, .reserve_bytes = 2 * bytes, .checked = true, .guards = false};
  }
};
TYPED_TEST_SUITE_P(random_walk_allocator);

// The whole pool is used for one size after the other, and then for one block.
TYPED_TEST_P(random_walk_allocator, memory_moves_between_sizes) {
  pool<TypeParam> p(this->options(scaled(this->mib, this->mib / 2)));
  for (std::size_t const bytes : {64u, 8192u, 1024u, 16384u, 128u, 4096u, 65536u, 64u, 64u}) {
    SCOPED_TRACE(std::to_string(bytes) + " bytes");
    auto const all = p.exhaust(bytes);
    // Chunks are returned one by one, so a run of them may be placed where it leaves less room for other runs. Blocks
    // of RW_malloc may cross from one chunk to the next.
    std::size_t const most = p.committed() / bytes;
    EXPECT_GE(all.size() + (this->has_classes ? (bytes > 8192 ? 2 : 0) : 2 + most / 10), most);
    p.expect_sound();
    p.free(all);
    p.expect_sound();
  }
  auto const whole = p.allocate(1, p.committed());
  EXPECT_EQ(served(whole), 1u);
  p.expect_sound();
}

// First every second block is freed, so that no chunk is wholly free; then the others are freed, too.
TYPED_TEST_P(random_walk_allocator, partly_free_chunks_stay) {
  pool<TypeParam> p(this->options(scaled(this->mib, this->mib / 4)));
  auto all = p.exhaust(2048);
  std::sort(all.begin(), all.end(), [](block const& a, block const& b) { return a.p < b.p; });
  typename pool<TypeParam>::blocks stay;
  typename pool<TypeParam>::blocks go;
  for (std::size_t i = 0; i < all.size(); ++i) (i % 2 == 0 ? stay : go).push_back(all[i]);
  p.free(go);
  p.owner().compact();
  p.expect_sound();
  EXPECT_EQ(served(p.allocate(4, 4096)), 0u);
  auto const again = p.exhaust(2048);
  EXPECT_GE(again.size(), this->has_classes ? go.size() : go.size() * 9 / 10);
  p.expect_sound();
  p.free(stay);
  p.free(again);
  EXPECT_GE(p.exhaust(1024).size(), this->has_classes ? 2 * all.size() : 2 * all.size() * 9 / 10);
  p.expect_sound();
}

TYPED_TEST_P(random_walk_allocator, all_sizes_in_one_warp) {
  pool<TypeParam> p(this->options(16 * this->mib));
  for (unsigned round = 0; round < 3; ++round) {
    std::vector<std::size_t> sizes;
    for (unsigned i = 0; i < 32; ++i) sizes.push_back(std::size_t{16} << (i * 7 + round) % 17);
    auto const blocks = p.allocate(sizes);
    EXPECT_EQ(served(blocks), 32u);
    p.expect_sound();
    if (round == 1) continue;  // the blocks of this round stay
    p.free(blocks);
    p.expect_sound();
  }
}

TYPED_TEST_P(random_walk_allocator, sizes_that_are_not_powers_of_two) {
  for (std::size_t const bytes : {3000u, 5000u, 6000u}) {
    SCOPED_TRACE(std::to_string(bytes) + " bytes");
    pool<TypeParam> p(this->options(this->mib));
    auto const all = p.exhaust(bytes);
    p.expect_sound();
    if (this->has_classes) {
      EXPECT_EQ(all.size(), p.committed() / (bytes <= 4096 ? 4096 : 8192));
    } else {
      // A random search misses some of the last holes, and two tiles that claim the same units both give up.
      EXPECT_GE(static_cast<double>(all.size() * bytes), 0.85 * static_cast<double>(p.committed()));
    }
  }
}

// No page begins there. In an unchecked pool, too, such a pointer is counted, and frees nothing.
TYPED_TEST_P(random_walk_allocator, pointers_into_pages_are_bad_frees) {
  pool<TypeParam> p({.pool_bytes = 8 * this->mib, .reserve_bytes = 8 * this->mib, .checked = false});
  if (!this->has_classes) GTEST_SKIP() << "a block of rw-malloc begins at any unit, also inside a larger one";
  auto const blocks = p.allocate({17, 64, 200, 5000, 8192, 16384, 100000, this->mib, this->mib + 1});
  EXPECT_EQ(served(blocks), blocks.size());
  std::size_t const granted = p.owner().stats().granted;
  typename pool<TypeParam>::blocks wrong;
  for (block const& b : blocks)
    for (std::size_t const at : {std::size_t{16}, b.bytes / 2 / 16 * 16, (b.bytes - 1) / 16 * 16})
      if (at > 0) wrong.push_back({1, 0, b.p + at});
  p.free_in_order(wrong);
  p.expect_bad_frees(wrong.size());
  p.expect_sound();
  EXPECT_EQ(p.owner().stats().granted, granted);
  p.free(blocks);
  p.expect_sound();
}

TYPED_TEST_P(random_walk_allocator, statistics_in_numbers) {
  pool<TypeParam> p(this->options(16 * this->mib));
  std::vector<std::size_t> const sizes{1, 15, 16, 17, 32, 33, 100, 128, 129, 4095, 4096, 4097, 8192};
  auto const blocks = p.allocate(sizes);
  EXPECT_EQ(served(blocks), sizes.size());
  constexpr bool has_classes = TestFixture::has_classes;
  std::size_t granted = 0;
  std::vector<std::size_t> in_use(17);
  for (std::size_t const bytes : sizes) {
    std::size_t const page = has_classes ? std::max<std::size_t>(std::bit_ceil(bytes), 16) : (bytes + 15) / 16 * 16;
    granted += page;
    in_use[has_classes ? std::bit_width(page) - 5 : 0] += has_classes ? 1 : page / 16;
  }
  alloc::statistics s = p.owner().stats();
  EXPECT_EQ(s.granted, granted);
  EXPECT_EQ(s.committed, 16 * this->mib);
  EXPECT_EQ(s.reserved, 32 * this->mib);
  ASSERT_EQ(s.classes.size(), has_classes ? 17u : 1u);
  std::size_t carved = 0;
  for (std::size_t c = 0; c < s.classes.size(); ++c) {
    SCOPED_TRACE("class " + std::to_string(c));
    EXPECT_EQ(s.classes[c].page_bytes, std::size_t{16} << c);
    EXPECT_EQ(s.classes[c].pages - s.classes[c].free, in_use[c]);
    EXPECT_EQ(s.classes[c].pages * s.classes[c].page_bytes % 8192, 0u);  // whole chunks
    carved += s.classes[c].pages * s.classes[c].page_bytes;
  }
  EXPECT_EQ(s.peak, carved);  // of a new pool, chunks are taken from the front
  auto const large = p.allocate({this->mib + 1});
  EXPECT_EQ(p.owner().stats().granted, granted + this->mib + 8192);
  EXPECT_EQ(p.owner().stats().peak, carved + this->mib + 8192);
  p.free(large);
  p.free(blocks);
  s = p.owner().stats();
  EXPECT_EQ(s.granted, 0u);
  for (alloc::class_statistics const& k : s.classes) EXPECT_EQ(k.free, k.pages);
  p.owner().compact();
  for (alloc::class_statistics const& k : p.owner().stats().classes) EXPECT_EQ(k.pages, 0u);
  p.expect_sound();
}

REGISTER_TYPED_TEST_SUITE_P(random_walk_allocator, memory_moves_between_sizes, partly_free_chunks_stay,
                            all_sizes_in_one_warp, sizes_that_are_not_powers_of_two, pointers_into_pages_are_bad_frees,
                            statistics_in_numbers);

template <class Space>
using random_walk_allocators = types_of<alloc::random_walk_family<Space>>;

/// Frees blocks with their requested size.
template <class Ref>
struct free_sized {
  Ref ref;
  block const* blocks;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    ref.deallocate(t, valid ? blocks[i].p : nullptr, valid ? blocks[i].bytes : 0);
  }
};

// The search of rw-malloc in one region.
struct region_search : alloc::detail::unit_runs {
  using alloc::detail::unit_runs::parts;
  using alloc::detail::unit_runs::run;
  explicit region_search(parts const& p) : unit_runs(p) {}
  template <class Tile>
  [[nodiscard]] WYRM_HD run longest(Tile const& t, std::uint32_t region, std::uint64_t end) const {
    std::uint32_t const words = (alloc::detail::region_words + t.size() - 1) / t.size();
    return longest_run(t, whole(region), t.rank() * words, words, end);
  }
  /// The first run for one thread; `in_words`: the first one of whole words.
  [[nodiscard]] WYRM_HD run first(std::uint32_t region, std::uint64_t end, std::uint32_t units, bool in_words) const {
    if (in_words) return first_words(whole(region), end, units);
    return units > 64 ? first_long(whole(region), end, units) : first_fit(whole(region), end, units);
  }
};
// Region i by thread i.
struct search_regions_alone {
  region_search search;
  std::uint32_t units;
  bool in_words;
  std::uint64_t end;
  region_search::run* found;
  WYRM_HD void operator()(std::size_t i) const {
    found[i] = search.first(static_cast<std::uint32_t>(i), end, units, in_words);
  }
};
// Region i by lane 0, stride, 2 * stride, ... of warp i.
struct search_regions {
  region_search search;
  std::uint32_t stride;
  std::uint64_t end;
  region_search::run* found;
  WYRM_HD void operator()(std::size_t i) const {
    if (i % 32 % stride != 0) return;
    exec::converged_tile const t = exec::converged_tile::gather(found);
    region_search::run const longest = search.longest(t, static_cast<std::uint32_t>(i / 32), end);
    found[i] = longest;
  }
};

/// Regions with random units in use: in turn of any number, many, and few. Many chunks are adjacent to the one before.
/// The last region is not complete.
template <class Space>
class random_regions {
 public:
  static constexpr std::uint32_t region_units = alloc::detail::region_units;
  static constexpr std::uint32_t chunk_units = alloc::detail::units_per_chunk;
  static constexpr std::uint64_t few_free = 1;
  static constexpr std::uint64_t few_used = 2;

  explicit random_regions(std::size_t regions)
      : units_(regions * region_units),
        end_(units_ - chunk_units),
        used_(units_ / 64),
        chunks_(units_ / chunk_units),
        words_(space_, used_.size()),
        table_(space_, chunks_.size()),
        state_(space_, 1),
        memory_(space_, {.pool_bytes = 1 << 20, .reserve_bytes = 1 << 20}),
        ledger_(space_, memory_.base(), memory_.capacity(), {.checked = false}) {
    std::mt19937_64 random(seeded(1));
    for (std::uint64_t& word : used_) {
      std::uint64_t const kind = static_cast<std::size_t>(&word - used_.data()) * 64 / region_units % 3;
      if (kind == few_free) {  // only the ends of words are free, so runs cross the borders of words and chunks
        word = random() % 2 == 0 ? ~std::uint64_t{0} << random() % 64 : ~std::uint64_t{0} >> random() % 64;
        continue;
      }
      if (kind == few_used) {
        word = random() % 12 != 0 ? 0 : std::uint64_t{1} << random() % 64;
        continue;
      }
      word = random();
      for (std::uint64_t k = random() % 6; k > 0; --k) word = k % 2 == 0 ? word & random() : word | random();
      if (random() % 2 == 0) word = random() % 4 == 0 ? ~std::uint64_t{0} : 0;
    }
    for (std::size_t k = 0; k < chunks_.size(); ++k) {
      bool const are_adjacent = random() % (k * chunk_units / region_units % 3 == few_used ? 8 : 2) != 0;
      chunks_[k] = k > 0 && are_adjacent ? chunks_[k - 1] + 1 : static_cast<std::uint32_t>(random() % 1000);
    }
    exec::copy_in<std::uint64_t>(space_, words_.data(), used_);
    exec::copy_in<std::uint32_t>(space_, table_.data(), chunks_);
  }
  [[nodiscard]] Space const& space() const { return space_; }
  [[nodiscard]] std::uint64_t end_word() const { return end_ / 64; }
  [[nodiscard]] region_search search() const {
    return region_search(
        {memory_.ref(), ledger_.ref(), state_.data(), table_.data(), nullptr, words_.data(), nullptr, nullptr, 0});
  }
  /// For each unit of a region the length of the run of free units that ends with it: by a loop over units.
  [[nodiscard]] std::vector<std::uint32_t> lengths(std::size_t region) const {
    std::vector<std::uint32_t> length;
    std::size_t const first = region * region_units;
    for (std::size_t unit = first; unit < first + region_units; ++unit) {
      std::size_t const chunk = unit / chunk_units;
      bool const goes_on = unit > first && (unit % chunk_units != 0 || chunks_[chunk] == chunks_[chunk - 1] + 1);
      bool const is_free = unit < end_ && (used_[unit / 64] >> unit % 64 & 1) == 0;
      length.push_back(is_free ? (goes_on ? length.back() : 0) + 1 : 0);
    }
    return length;
  }

 private:
  Space space_;
  std::size_t units_;
  std::size_t end_;
  std::vector<std::uint64_t> used_;
  std::vector<std::uint32_t> chunks_;
  exec::buffer<std::uint64_t, Space> words_;
  exec::buffer<std::uint32_t, Space> table_;
  exec::buffer<alloc::detail::span_state, Space> state_;
  alloc::extent<Space> memory_;
  alloc::ledger<Space> ledger_;
};

template <class Space>
class rw_malloc_suite : public space_test<Space> {
 protected:
  using allocator = alloc::rw_malloc<Space>;
  static void free_by_size(pool<allocator>& p, std::vector<block> const& blocks) {
    exec::buffer<block, Space> copy(p.space(), blocks.size());
    exec::copy_in<block>(p.space(), copy.data(), blocks);
    exec::for_each_lane<32>(p.space(), blocks.size(),
                            free_sized<typename allocator::ref_type>{p.owner().ref(), copy.data()});
  }
  /// Frees with wrong sizes, which are counted, and then with the right pointers.
  static void expect_harmless(pool<allocator>& p, std::vector<block> const& wrong, std::vector<block> const& good) {
    free_by_size(p, wrong);
    p.expect_bad_frees(wrong.size());
    p.expect_sound();
    p.free(good);
    p.expect_sound();
  }
};
TYPED_TEST_SUITE_P(rw_malloc_suite);

TYPED_TEST_P(rw_malloc_suite, sized_free) {
  using allocator = alloc::rw_malloc<TypeParam>;
  pool<allocator> p(
      {.pool_bytes = std::size_t{4} << 20, .reserve_bytes = std::size_t{4} << 20, .checked = true, .guards = false});
  std::vector<std::size_t> sizes;
  for (std::size_t i = 0; i < scaled(300, 100); ++i) sizes.push_back(1 + i * 7919 % (i % 50 == 0 ? 70000 : 3000));
  auto const blocks = p.allocate(sizes);
  EXPECT_EQ(served(blocks), sizes.size());
  this->free_by_size(p, blocks);
  EXPECT_EQ(p.owner().stats().granted, 0u);
  EXPECT_EQ(p.owner().stats().bad_frees, 0u);
  p.owner().check();
}

// In an unchecked pool: at the end that follows from a wrong size no block ends, which is detected.
TYPED_TEST_P(rw_malloc_suite, a_wrong_size_is_counted_and_harmless) {
  using allocator = alloc::rw_malloc<TypeParam>;
  pool<allocator> p({.pool_bytes = std::size_t{1} << 20, .reserve_bytes = std::size_t{1} << 20, .checked = false});
  auto const good = p.allocate(40, 100);
  auto wrong = good;
  for (std::size_t i = 0; i < wrong.size(); ++i) wrong[i].bytes = i % 2 == 0 ? 50 : 200000;
  this->expect_harmless(p, wrong, good);
}

// A wrong size with which a block would end where another one does, in a later region of 32 KiB.
TYPED_TEST_P(rw_malloc_suite, a_wrong_size_that_ends_with_another_block_is_counted_and_harmless) {
  using allocator = alloc::rw_malloc<TypeParam>;
  pool<allocator> p({.pool_bytes = std::size_t{256} << 10, .reserve_bytes = std::size_t{256} << 10, .checked = false});
  auto const good = p.exhaust(4096);
  auto wrong = good;
  std::sort(wrong.begin(), wrong.end(), [](block const& a, block const& b) { return a.p < b.p; });
  std::size_t const ahead = 8;  // blocks of 4 KiB
  ASSERT_GT(wrong.size(), 2 * ahead);
  for (std::size_t i = 0; i + ahead < wrong.size(); ++i)
    wrong[i].bytes = static_cast<std::size_t>(wrong[i + ahead].p - wrong[i].p) + 4096;
  wrong.resize(wrong.size() - ahead);
  this->expect_harmless(p, wrong, good);
}

// By tiles of all lanes of a warp, of some, and of one, so a lane has one word or more.
TYPED_TEST_P(rw_malloc_suite, the_longest_run_of_a_region_is_found) {
  std::size_t const regions = scaled(200, 50);
  random_regions<TypeParam> const all(regions);
  exec::buffer<region_search::run, TypeParam> found(all.space(), regions * 32);
  for (std::uint32_t const stride : {1u, 2u, 3u, 7u, 31u, 32u}) {
    SCOPED_TRACE("every " + std::to_string(stride) + "th lane");
    exec::for_each(all.space(), regions * 32, search_regions{all.search(), stride, all.end_word(), found.data()});
    auto const results = exec::copy_out(all.space(), found.data(), found.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (i % 32 % stride != 0) continue;
      auto const length = all.lengths(i / 32);
      std::uint32_t const longest = *std::max_element(length.begin(), length.end());
      ASSERT_EQ(results[i].units, longest) << "region " << i / 32;
      if (longest > 0) {
        ASSERT_LE(results[i].at + longest, length.size());
        ASSERT_EQ(length[results[i].at + longest - 1], longest) << "region " << i / 32;
      }
    }
  }
}

TYPED_TEST_P(rw_malloc_suite, a_single_thread_finds_the_first_run_of_a_length) {
  std::size_t const regions = scaled(600, 300);
  random_regions<TypeParam> const all(regions);
  exec::buffer<region_search::run, TypeParam> found(all.space(), regions);
  for (std::uint32_t const units : {1u,   2u,   17u,  63u,  64u,  65u,  100u, 127u, 128u,  192u,  200u, 256u,
                                    320u, 384u, 448u, 512u, 513u, 576u, 700u, 832u, 1000u, 1024u, 1025u})
    for (bool const in_words : {false, true}) {
      if (in_words && units % 64 != 0) continue;
      SCOPED_TRACE(std::to_string(units) + (in_words ? " units in whole words" : " units"));
      std::size_t hits = 0;
      exec::for_each(all.space(), regions,
                     search_regions_alone{all.search(), units, in_words, all.end_word(), found.data()});
      auto const results = exec::copy_out(all.space(), found.data(), found.size());
      for (std::size_t i = 0; i < regions; ++i) {
        auto const length = all.lengths(i);
        std::size_t last = units - 1;  // of the run, or beyond the region
        while (last < length.size() && (length[last] < units || (in_words && (last + 1) % 64 != 0))) ++last;
        ASSERT_EQ(results[i].units, last < length.size() ? units : 0) << "region " << i;
        if (last < length.size()) {
          ASSERT_EQ(results[i].at + units - 1, last) << "region " << i;
          ++hits;
        }
      }
      EXPECT_GT(hits, 0u);
    }
}

REGISTER_TYPED_TEST_SUITE_P(rw_malloc_suite, sized_free, a_wrong_size_is_counted_and_harmless,
                            a_wrong_size_that_ends_with_another_block_is_counted_and_harmless,
                            the_longest_run_of_a_region_is_found, a_single_thread_finds_the_first_run_of_a_length);

}  // namespace wyrm::tests
