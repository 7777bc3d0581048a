// SPDX-License-Identifier: Apache-2.0
// What only ScatterAlloc has: which pages serve a request, its parameters, several super blocks, pages that are split
// anew or become runs of chunks, exact statistics, and a check() that finds planted damage.
#include "../../alloc/scatter/scatter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "../../exec/host_space.hpp"
#include "../support/corrupt.hpp"
#include "../support/simt_space.hpp"
#include "workload.hpp"

namespace wyrm::tests {

using alloc::chunk_bytes;
using alloc::count_pair;
using alloc::page_word;
using alloc::scatter_parameters;
using alloc::scatter_shape;
using alloc::spot_request;
using host = exec::host_space;
constexpr std::size_t kib = 1024;

TEST(scatter_words, pages_are_closed_empty_or_full) {
  constexpr page_word closed = page_word::closed();
  static_assert(closed.is_closed() && !closed.is_empty() && !closed.is_usable());
  static_assert(closed.spots() == 0 && closed.count() == 0 && closed.bits() == 0);
  constexpr page_word empty = page_word::split(73, 0);
  static_assert(!empty.is_closed() && empty.is_empty() && empty.is_usable());
  static_assert(empty.plus(72).count() == 72 && empty.plus(72).spots() == 73);
  static_assert(empty.plus(72).is_usable() && !empty.plus(72).is_empty());
  static_assert(!empty.plus(73).is_usable() && !empty.plus(1000).is_usable());
  static_assert(empty.plus(1000).minus(1000).bits() == empty.bits());
  // An addition to a closed page does not open it.
  static_assert(closed.plus(5).is_closed() && !closed.plus(5).is_usable() && !closed.plus(5).is_empty());
  static_assert(page_word::split(1, 0).bits() + closed.plus(5).bits() == page_word::split(1, 5).bits());
}

TEST(scatter_words, two_counts_in_one_word) {
  constexpr std::int32_t numbers[] = {0, 1, -1, 4096, -4096, 1 << 30, -(1 << 30)};
  for (std::int32_t const usable : numbers)
    for (std::int32_t const empty : numbers) {
      count_pair const c = count_pair::of(count_pair{usable, empty}.bits());
      EXPECT_EQ(c.usable, usable);
      EXPECT_EQ(c.empty, empty);
      for (std::int32_t const more : {1, -1}) {
        count_pair const sum = count_pair::of(count_pair{usable, empty}.bits() + count_pair{more, -more}.bits());
        EXPECT_EQ(sum.usable, usable + more);
        EXPECT_EQ(sum.empty, empty - more);
      }
    }
}

scatter_shape shape_of(std::size_t page_bytes, double max_frag) {
  return {
      static_cast<std::uint32_t>(std::countr_zero(page_bytes)), 2, 1, 1, 1, static_cast<std::uint32_t>(max_frag * 256)};
}

// The model: of all numbers of spots, those are the right ones whose spots have the size S at least, and S max_frag at
// most. S is the size of the smallest spots that are large enough. If an alignment above 16 is requested, the spots
// have the smallest power of two that is enough for both.
TEST(scatter_words, requests_are_served_by_spots_that_are_not_too_large) {
  for (std::size_t const page_bytes : {512u, 1024u, 8192u})
    for (double const max_frag : {1.0, 1.25, 2.0, 16.0}) {
      scatter_shape const s = shape_of(page_bytes, max_frag);
      std::uint32_t const units = s.page_units();
      ASSERT_EQ(units * 16, page_bytes);
      // Of a size in units.
      struct right {
        std::uint32_t least;
        std::uint32_t most;
      };
      std::vector<right> model(units + 1);
      for (std::uint32_t wanted = 1; wanted <= units; ++wanted) {
        std::uint32_t smallest = units;
        for (std::uint32_t spots = 1; spots <= units; ++spots)
          if (units / spots >= wanted) smallest = std::min(smallest, units / spots);
        right r{units, 1};
        for (std::uint32_t spots = 1; spots <= units; ++spots)
          if (units / spots >= smallest && units / spots <= smallest * max_frag)
            r = {std::min(r.least, spots), std::max(r.most, spots)};
        model[wanted] = r;
      }
      for (std::uint32_t bytes = 1; bytes <= page_bytes; ++bytes) {
        for (std::uint32_t align = 1; align <= 16; align *= 2) {
          spot_request const r = spot_request::of(s, bytes, align);
          ASSERT_EQ(r.most, model[(bytes + 15) / 16].most) << bytes << " bytes of " << page_bytes;
          ASSERT_EQ(r.least, model[(bytes + 15) / 16].least) << bytes << " bytes of " << page_bytes;
        }
        for (std::uint32_t align = 32; align <= page_bytes; align *= 2) {
          spot_request const r = spot_request::of(s, bytes, align);
          std::uint32_t const size = std::bit_ceil(std::max(bytes, align));
          ASSERT_EQ(r.least, page_bytes / size) << bytes << " bytes, aligned to " << align;
          ASSERT_EQ(r.most, r.least);
        }
      }
    }
}

TEST(scatter_words, a_request_suits_pages_with_room_and_empty_ones) {
  spot_request const r = spot_request::of(shape_of(8192, 2), 100, 16);
  EXPECT_EQ(r.most, 73u);
  EXPECT_EQ(r.least, 35u);  // spots of 14 units
  EXPECT_TRUE(r.fits(page_word::split(73, 72)));
  EXPECT_FALSE(r.fits(page_word::split(73, 73)));
  EXPECT_FALSE(r.fits(page_word::split(74, 1)));
  EXPECT_TRUE(r.fits(page_word::split(35, 1)));
  EXPECT_FALSE(r.fits(page_word::split(34, 1)));
  EXPECT_FALSE(r.suits(page_word::split(34, 1)));
  EXPECT_TRUE(r.suits(page_word::split(34, 0)));
  EXPECT_TRUE(r.suits(page_word::split(512, 0)));
  EXPECT_FALSE(r.suits(page_word::closed()));
  EXPECT_FALSE(r.fits(page_word::closed().plus(3)));
}

void expect_refused(scatter_parameters const& parameters, std::string const& name) {
  try {
    alloc::scatteralloc<host> const pool(host(1), {.pool_bytes = 64 * kib, .reserve_bytes = 64 * kib}, parameters);
    ADD_FAILURE() << "a bad " << name << " is accepted";
  } catch (error const& e) {
    EXPECT_EQ(e.code(), error_code::bad_argument);
    EXPECT_NE(std::string(e.what()).find("scatteralloc: " + name), std::string::npos) << e.what();
  }
}

TEST(scatter_parameters, bad_ones_are_refused) {
  for (std::size_t const bytes : {0u, 1u, 256u, 511u, 513u, 1000u, 8191u, 16384u})
    expect_refused({.page_bytes = bytes}, "page_bytes");
  for (std::size_t const pages : {0u, 1u, 2u, 3u, 5u, 129u, 4095u, 8192u})
    expect_refused({.region_pages = pages}, "region_pages");
  for (std::size_t const bytes : {(std::size_t{4} << 30) + 1, ~std::size_t{0}})
    expect_refused({.super_block_bytes = bytes}, "super_block_bytes");
  for (std::uint32_t const factor : {65536u, ~0u})
    expect_refused({.multiprocessor_factor = factor}, "multiprocessor_factor");
  for (double const frag : {0.0, 0.999, -2.0, 16.001, 1e300, std::numeric_limits<double>::infinity(),
                            std::numeric_limits<double>::quiet_NaN()})
    expect_refused({.max_frag = frag}, "max_frag");
}

TEST(scatter_parameters, limits_are_accepted) {
  for (scatter_parameters const& parameters :
       {scatter_parameters{.page_bytes = 512}, scatter_parameters{.page_bytes = 8192},
        scatter_parameters{.page_bytes = 512, .region_pages = 4}, scatter_parameters{.region_pages = 4096},
        scatter_parameters{.super_block_bytes = 1}, scatter_parameters{.super_block_bytes = std::size_t{4} << 30},
        scatter_parameters{.page_bytes = 512, .region_pages = 4, .super_block_bytes = 1},
        scatter_parameters{.size_factor = 0}, scatter_parameters{.size_factor = ~0u},
        scatter_parameters{.multiprocessor_factor = 65535}, scatter_parameters{.max_frag = 1},
        scatter_parameters{.max_frag = 16}}) {
    pool<alloc::scatteralloc<host>> p({.pool_bytes = 64 * kib, .reserve_bytes = 64 * kib, .checked = true}, host(1),
                                      parameters);
    auto const blocks = p.allocate({1, 16, 100, 500, 5000, 9000});
    EXPECT_EQ(served(blocks), 6u);
    p.expect_sound();
    p.free(blocks);
    p.expect_sound();
  }
}

/// One request per lane, of the same alignment.
template <class Ref>
struct allocate_aligned {
  Ref ref;
  block* blocks;
  std::size_t align;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    void* const p = ref.allocate(t, valid ? blocks[i].bytes : 0, align);
    if (!valid) return;
    blocks[i].p = static_cast<unsigned char*>(p);
    if (p != nullptr) fill_block(blocks[i]);
  }
};

template <class Space>
class scatter : public space_test<Space> {
 protected:
  using allocator = alloc::scatteralloc<Space>;
  using blocks = typename pool<allocator>::blocks;

  static alloc::options bytes(std::size_t n, std::size_t reserve = 0) {
    return {.pool_bytes = n, .reserve_bytes = reserve != 0 ? reserve : n, .checked = true, .guards = false};
  }
  struct pool_type : pool<allocator> {
    pool_type(alloc::options const& o, scatter_parameters const& parameters)
        : pool<allocator>(o, make_space<Space>(), parameters) {}
  };
  // Pages and regions of all sizes; super blocks of several chunks, of one, and of parts of chunks.
  static std::vector<scatter_parameters> all_parameters() {
    return {{.page_bytes = 512, .region_pages = 4, .super_block_bytes = 8 * kib, .max_frag = 1},
            {.page_bytes = 512, .region_pages = 4, .super_block_bytes = 2 * kib, .max_frag = 2},
            {.page_bytes = 512, .region_pages = 4, .super_block_bytes = 6 * kib, .max_frag = 1},
            {.page_bytes = 1024, .region_pages = 4, .super_block_bytes = 12 * kib, .max_frag = 1},
            {.page_bytes = 2048, .region_pages = 8, .super_block_bytes = 80 * kib, .max_frag = 1.5},
            {.page_bytes = 4096, .region_pages = 4, .super_block_bytes = 48 * kib, .max_frag = 1},
            {.page_bytes = 8192, .region_pages = 4, .super_block_bytes = 96 * kib, .max_frag = 1},
            {.page_bytes = 8192, .region_pages = 4, .super_block_bytes = 32 * kib, .size_factor = 0, .max_frag = 4},
            {.page_bytes = 1024, .region_pages = 64, .super_block_bytes = 0, .max_frag = 2},
            {}};
  }
  static std::string text(scatter_parameters const& p) {
    return "pages of " + std::to_string(p.page_bytes) + ", regions of " + std::to_string(p.region_pages) +
           ", super blocks of " + std::to_string(p.super_block_bytes) + ", max_frag " + std::to_string(p.max_frag);
  }
  // How many blocks of one size fill a pool.
  static std::size_t capacity(scatter_parameters const& p, std::size_t pool_bytes, std::size_t size) {
    if (size > p.page_bytes) return pool_bytes / ((size + chunk_bytes - 1) / chunk_bytes * chunk_bytes);
    return pool_bytes / p.page_bytes * (p.page_bytes / 16 / ((size + 15) / 16));
  }
  static alloc::class_statistics class_of(pool_type& p, std::size_t page_bytes) {
    for (alloc::class_statistics const& k : p.owner().stats().classes)
      if (k.page_bytes == page_bytes) return k;
    return {};
  }
  static void expect_class(pool_type& p, std::size_t page_bytes, std::size_t pages, std::size_t free) {
    alloc::class_statistics const k = class_of(p, page_bytes);
    EXPECT_EQ(k.pages, pages) << "of " << page_bytes << " bytes";
    EXPECT_EQ(k.free, free) << "of " << page_bytes << " bytes";
  }
  // With nothing in it, a pool is one block.
  static void expect_whole(pool_type& p) {
    p.expect_sound();
    EXPECT_TRUE(p.owner().stats().classes.empty());
    blocks const all = p.allocate(1, p.committed());
    EXPECT_EQ(served(all), 1u);
    p.expect_sound();
    p.free(pool_type::only_served(all));
    p.expect_sound();
  }
};

template <class... Space>
struct several {};
template <class... A, class... B>
::testing::Types<A..., B...> join(several<A...>, several<B...>);
using on_host = std::conditional_t<WYRM_TEST_HOST, several<host>, several<>>;
using on_simt = std::conditional_t<WYRM_TEST_SIMT, several<simt_space>, several<>>;
using spaces = decltype(join(on_host{}, on_simt{}));
TYPED_TEST_SUITE(scatter, spaces, by_name);

TYPED_TEST(scatter, one_size_fills_all_pages) {
  for (scatter_parameters const& parameters : this->all_parameters()) {
    SCOPED_TRACE(this->text(parameters));
    typename TestFixture::pool_type p(this->bytes(128 * kib), parameters);
    for (std::size_t const size : {std::size_t{100}, std::size_t{250}, parameters.page_bytes, std::size_t{8193}}) {
      // Runs are adjacent if all chunks are with the extent before.
      if (size > parameters.page_bytes) p.owner().compact();
      auto const all = p.exhaust(size);
      EXPECT_EQ(all.size(), this->capacity(parameters, 128 * kib, size)) << size;
      p.expect_sound();
      p.free(all);
      p.expect_sound();
    }
    this->expect_whole(p);
  }
}

TYPED_TEST(scatter, many_threads_with_any_parameters) {
  unsigned seed = 100;
  for (scatter_parameters const& parameters : this->all_parameters()) {
    SCOPED_TRACE(this->text(parameters));
    typename TestFixture::pool_type p(this->bytes(256 * kib), parameters);
    for (bool const threads : {false, true}) {
      // The pool is used up at times, and large requests take empty pages.
      for (std::size_t const largest : {std::size_t{600}, 4 * kib, 20 * kib}) {
        auto const left = p.churn(96, static_cast<unsigned>(scaled(12, 3)), ++seed, largest, threads);
        p.expect_sound();
        p.free(left);
        p.expect_sound();
      }
    }
    this->expect_whole(p);
  }
}

TYPED_TEST(scatter, super_blocks_are_used_one_after_the_other) {
  // Eight super blocks of 16 pages.
  typename TestFixture::pool_type p(
      this->bytes(1024 * kib), {.page_bytes = 8192, .region_pages = 4, .super_block_bytes = 128 * kib, .max_frag = 1});
  // The first super block is open, with the next chunk at most.
  EXPECT_LE(p.owner().stats().peak, 136 * kib);
  std::size_t most = 0;
  typename TestFixture::blocks all;
  for (int k = 0; k < 8; ++k) {
    auto const more = p.allocate(64, 2048);
    EXPECT_EQ(served(more), 64u);
    all.insert(all.end(), more.begin(), more.end());
    most += 128 * kib;
    EXPECT_GE(p.owner().stats().peak, most);
    EXPECT_LE(p.owner().stats().peak, most + 264 * kib);
    p.expect_sound();
  }
  EXPECT_EQ(p.owner().stats().granted, 1024 * kib);
  EXPECT_EQ(served(p.allocate(1, 16)), 0u);
  // There is room in one super block, whichever it is.
  std::sort(all.begin(), all.end(), [](block const& a, block const& b) { return a.p < b.p; });
  for (std::size_t const k : {3u, 7u, 0u, 4u}) {
    auto const first = all.begin() + static_cast<std::ptrdiff_t>(k * 64);
    p.free({first, first + 64});
    auto const again = p.allocate(64, 2048);
    EXPECT_EQ(served(again), 64u);
    std::copy(again.begin(), again.end(), first);
    p.expect_sound();
  }
  p.free(all);
  this->expect_whole(p);
}

// Rounds of requests for a small part of the pool: freed memory is used again, and most of the pool stays unused.
TYPED_TEST(scatter, freed_memory_is_used_again) {
  for (scatter_parameters const& parameters :
       {scatter_parameters{.page_bytes = 1024, .region_pages = 16, .super_block_bytes = 512 * kib},
        scatter_parameters{.page_bytes = 1024, .region_pages = 16, .super_block_bytes = 1024 * kib},
        scatter_parameters{.region_pages = 16, .super_block_bytes = 512 * kib},
        scatter_parameters{.region_pages = 16, .super_block_bytes = 1024 * kib}}) {
    SCOPED_TRACE(this->text(parameters));
    typename TestFixture::pool_type p(this->bytes(8192 * kib), parameters);
    std::mt19937_64 random(seeded(3));
    for (std::size_t round = 0; round < scaled(20, 4); ++round) {
      std::vector<std::size_t> sizes;
      for (std::size_t sum = 0; sum < 400 * kib;) {
        sizes.push_back(1 + random() % std::min<std::size_t>(parameters.page_bytes, round % 2 == 0 ? 1000 : 3000));
        sum += sizes.back();
      }
      auto const all = p.allocate(sizes);
      EXPECT_EQ(served(all), sizes.size());
      EXPECT_LE(p.owner().stats().granted, 700 * kib);
      p.expect_sound();
      p.free(all);
      p.expect_sound();
    }
    EXPECT_LE(p.owner().stats().peak, 2560 * kib);
  }
}

TYPED_TEST(scatter, empty_pages_become_runs_and_runs_become_pages) {
  for (scatter_parameters const& parameters : this->all_parameters()) {
    SCOPED_TRACE(this->text(parameters));
    typename TestFixture::pool_type p(this->bytes(128 * kib), parameters);
    for (bool const compacts : {false, true, false}) {
      auto small = p.exhaust(512);
      EXPECT_EQ(small.size(), 256u);
      EXPECT_EQ(served(p.allocate(1, 10 * kib)), 0u);
      // All pages of the first half of the pool become empty.
      std::sort(small.begin(), small.end(), [](block const& a, block const& b) { return a.p < b.p; });
      auto const rest = split_off(small, 128);
      p.free(small);
      if (compacts) p.owner().compact();
      p.expect_sound();
      auto const large = p.allocate(1, 64 * kib);
      EXPECT_EQ(served(large), 1u);
      EXPECT_EQ(served(p.allocate(1, 16)), 0u);
      p.expect_sound();
      p.free(large);
      p.expect_sound();
      EXPECT_EQ(p.owner().stats().granted, 64 * kib);
      auto const again = p.exhaust(512);
      EXPECT_EQ(again.size(), 128u);
      p.expect_sound();
      p.free(again);
      p.free(rest);
      p.expect_sound();
    }
    this->expect_whole(p);
  }
}

// Large and small requests at the same time, in a pool in which each takes memory that the other has freed.
TYPED_TEST(scatter, pages_and_runs_at_the_same_time) {
  typename TestFixture::pool_type p(this->bytes(256 * kib),
                                    {.page_bytes = 2048, .region_pages = 4, .super_block_bytes = 32 * kib});
  std::mt19937_64 random(seeded(5));
  for (std::size_t round = 0; round < scaled(20, 4); ++round) {
    std::vector<std::size_t> sizes;
    for (int k = 0; k < 256; ++k) {
      auto const kind = random() % 16;
      sizes.push_back(kind == 0 ? 2049 + random() % (24 * kib) : kind < 4 ? 1025 + random() % 1024 : 1 + random() % 64);
    }
    auto const all = p.only_served(p.allocate(sizes));
    p.expect_sound();
    EXPECT_GE(all.size(), 64u);
    p.free(all);
    p.expect_sound();
  }
  this->expect_whole(p);
}

TYPED_TEST(scatter, statistics_in_numbers) {
  typename TestFixture::pool_type p(this->bytes(1024 * kib, 2048 * kib), {.max_frag = 1});
  alloc::statistics s = p.owner().stats();
  EXPECT_EQ(s.committed, 1024 * kib);
  EXPECT_EQ(s.reserved, 2048 * kib);
  EXPECT_EQ(s.granted, 0u);
  EXPECT_TRUE(s.classes.empty());
  // One page each, and a run of two chunks. In units of 16 bytes: 1, 7, 32, all of a page twice.
  std::vector<typename TestFixture::blocks> all;
  for (std::size_t const size : {16u, 100u, 500u, 5000u, 8192u, 8193u}) {
    all.push_back(p.allocate(1, size));
    p.expect_sound();
  }
  s = p.owner().stats();
  EXPECT_EQ(s.granted, 16u + 112u + 512u + 2 * 8192u + 16384u);
  EXPECT_EQ(s.asked, 16u + 100u + 500u + 5000u + 8192u + 8193u);
  ASSERT_EQ(s.classes.size(), 4u);
  this->expect_class(p, 16, 512, 511);
  this->expect_class(p, 112, 73, 72);
  this->expect_class(p, 512, 16, 15);
  this->expect_class(p, 8192, 2, 0);
  p.free(all[1]);
  p.free(all[4]);
  s = p.owner().stats();
  EXPECT_EQ(s.granted, 16u + 512u + 8192u + 16384u);
  ASSERT_EQ(s.classes.size(), 3u);
  this->expect_class(p, 16, 512, 511);
  this->expect_class(p, 512, 16, 15);
  this->expect_class(p, 8192, 1, 0);
  for (std::size_t const k : {0u, 2u, 3u, 5u}) p.free(all[k]);
  EXPECT_EQ(p.owner().stats().granted, 0u);
  EXPECT_EQ(p.owner().stats().failures, 0u);
  this->expect_whole(p);
  p.reset();
  EXPECT_EQ(p.owner().stats().asked, 0u);
  this->expect_whole(p);
  EXPECT_EQ(served(p.allocate({16, 100, 16, 9000})), 4u);
  p.reset();
  this->expect_whole(p);
}

TYPED_TEST(scatter, a_page_keeps_no_trace_of_its_last_split) {
  typename TestFixture::pool_type p(this->bytes(64 * kib), {.region_pages = 4});
  for (std::size_t const size : {16u, 8192u, 100u, 16u, 3000u, 16u, 64u * 1024u, 16u}) {
    auto const all = p.exhaust(size);
    EXPECT_EQ(all.size(), this->capacity({}, 64 * kib, size)) << size;
    p.expect_sound();
    p.free(all);
    p.expect_sound();
  }
}

TYPED_TEST(scatter, blocks_have_the_requested_alignment) {
  for (scatter_parameters const& parameters : this->all_parameters()) {
    SCOPED_TRACE(this->text(parameters));
    TypeParam const space = make_space<TypeParam>();
    alloc::scatteralloc<TypeParam> owner(space, this->bytes(1024 * kib), parameters);
    for (std::size_t align = 1; align <= 4096; align *= 2) {
      std::vector<block> asked;
      for (std::size_t const size : {1u, 16u, 48u, 64u, 100u, 512u, 1000u, 1024u, 4096u, 5000u, 8192u, 9000u})
        asked.push_back({size, size * align, nullptr});
      exec::buffer<block, TypeParam> device(space, asked.size());
      exec::copy_in<block>(space, device.data(), asked);
      using ref_type = typename alloc::scatteralloc<TypeParam>::ref_type;
      exec::for_each_lane<32>(space, asked.size(), allocate_aligned<ref_type>{owner.ref(), device.data(), align});
      for (block const& b : exec::copy_out(space, device.data(), asked.size())) {
        ASSERT_NE(b.p, nullptr) << b.bytes << " bytes, aligned to " << align;
        // Where there are no larger spots than necessary, blocks of a power of two are aligned to it, as the pool is.
        bool const has_own_size = parameters.max_frag < 1.01 && std::has_single_bit(b.bytes);
        std::size_t const own = has_own_size ? std::min<std::size_t>(b.bytes, 4096) : 16;
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(b.p) % std::max({align, own, std::size_t{16}}), 0u)
            << b.bytes << " bytes, aligned to " << align;
        EXPECT_GE(owner.stats().granted, b.bytes);
      }
      owner.check();
      exec::for_each_lane<32>(space, asked.size(), free_in_tiles<ref_type>{owner.ref(), device.data()});
      owner.check();
      EXPECT_EQ(owner.stats().granted, 0u);
      EXPECT_EQ(owner.stats().bad_frees, 0u);
    }
  }
}

TYPED_TEST(scatter, a_tiny_pool_grows_to_a_large_one) {
  for (scatter_parameters const& parameters :
       {scatter_parameters{}, scatter_parameters{.page_bytes = 1024, .region_pages = 16},
        scatter_parameters{.page_bytes = 512, .region_pages = 4, .super_block_bytes = 6 * kib},
        scatter_parameters{.page_bytes = 8192, .region_pages = 4, .super_block_bytes = 1024 * kib}}) {
    SCOPED_TRACE(this->text(parameters));
    typename TestFixture::pool_type p(this->bytes(64 * kib, 6400 * kib), parameters);
    auto all = p.exhaust(500);
    EXPECT_EQ(all.size(), this->capacity(parameters, p.committed(), 500));
    p.expect_sound();
    for (std::size_t const more : {64u, 128u, 0u, 704u, 5440u}) {
      p.owner().grow(more * kib);
      p.expect_sound();
      auto const mixed = p.allocate({16, 200, 900, 3000, 17, 201, 901, 3001});
      EXPECT_EQ(served(mixed), more > 0 ? 8u : served(mixed));
      p.expect_sound();
      p.free(p.only_served(mixed));
      std::size_t const left = scaled(400, 20);
      auto const other = p.only_served(p.allocate(left, 500));
      if (more >= 704) {
        EXPECT_EQ(other.size(), left);
      }
      all.insert(all.end(), other.begin(), other.end());
      p.expect_sound();
    }
    EXPECT_EQ(p.committed(), 6400 * kib);
    // There are many chunks of which nothing is used.
    auto const run = p.allocate(1, 1024 * kib);
    EXPECT_EQ(served(run), 1u);
    p.expect_sound();
    p.free(run);
    p.free(all);
    this->expect_whole(p);
  }
}

TYPED_TEST(scatter, refs_stay_valid_and_bad_frees_are_counted) {
  for (bool const checked : {true, false}) {
    SCOPED_TRACE(checked ? "checked" : "unchecked");
    alloc::options o = this->bytes(64 * kib, 128 * kib);
    o.checked = checked;
    typename TestFixture::pool_type p(o, {.page_bytes = 1024, .region_pages = 4, .super_block_bytes = 16 * kib});
    auto const all = p.allocate({100, 100, 3000});
    p.move_owner();
    auto const bad = [&](unsigned char* q) {
      p.free_in_order({block{1, 0, q}});
      p.expect_bad_frees(1);
      p.expect_sound();
    };
    bad(all[0].p + 16);    // inside a block
    bad(all[0].p + 1);     // not aligned
    bad(all[2].p + 1024);  // inside a run
    p.free(all);
    bad(all[0].p);
    bad(all[2].p);
    this->expect_whole(p);
  }
}

// The lanes of a tile free blocks, of which some are named twice, and some are free already. A page has 32, 64 or 9
// blocks of these sizes, so their bits are in one word, in two words of a page, and on several pages. The pool is
// unchecked, so only the bits show which blocks are free.
TYPED_TEST(scatter, lanes_that_free_together_free_each_block_once) {
  for (std::size_t const size : {32u, 16u, 112u}) {
    SCOPED_TRACE(std::to_string(size) + " bytes");
    alloc::options o = this->bytes(64 * kib);
    o.checked = false;
    typename TestFixture::pool_type p(o, {.page_bytes = 1024, .region_pages = 4, .super_block_bytes = 16 * kib});
    typename TestFixture::blocks all = p.exhaust(size);
    std::ranges::sort(all, {}, &block::p);  // by page and bit
    ASSERT_EQ(all.size(), TestFixture::capacity({.page_bytes = 1024}, 64 * kib, size));
    std::vector<bool> is_free(all.size());
    auto const free = [&](std::vector<std::size_t> const& named) {
      typename TestFixture::blocks in_order;
      typename TestFixture::blocks gone;
      for (std::size_t const i : named) {
        in_order.push_back(all[i]);
        if (!is_free[i]) gone.push_back(all[i]);
        is_free[i] = true;
      }
      p.free_once_each(in_order, gone);
      p.expect_bad_frees(in_order.size() - gone.size());
      p.expect_sound();
    };
    free({0, 2, 31});
    free({40, 41, 1});  // in two words
    free({3, 35});      // the same bit in two words
    free({4, 6, 4, 8});
    free({5, 37, 5, 37});
    free({6, 6});
    free({7, 8, 30, 35, 62});
    p.free(p.exhaust(size));  // none is live
    p.expect_sound();
    for (int k = 0; k < 2; ++k) {
      std::vector<std::size_t> every(all.size());
      std::iota(every.begin(), every.end(), 0);
      free(every);
    }
    this->expect_whole(p);
  }
}

// A pool whose tables can be damaged. It has pages of 2 KiB, and one block of 100 bytes, in a page of 18 spots. Another
// chunk is a run.
class damaged_pool : public alloc::scatteralloc<host> {
  using base = alloc::scatteralloc<host>;

 public:
  explicit damaged_pool(bool checked = true)
      : base(host(1), {.pool_bytes = 64 * kib, .reserve_bytes = 64 * kib, .checked = checked, .guards = false},
             {.page_bytes = 2048, .region_pages = 4, .super_block_bytes = 16 * kib, .max_frag = 1}) {
    EXPECT_NE(ref().malloc(100), nullptr);
    EXPECT_NE(ref().malloc(3000), nullptr);
    for (page = 0; words()[page] != page_word::split(18, 1).bits();) ++page;
    // An empty page in another chunk, as many chunks are open.
    empty = (page ^ 4) % 8;
    EXPECT_TRUE(page_word(words()[empty]).is_empty());
  }
  using base::pages;
  std::uint64_t* words() { return words_.data(); }
  std::uint32_t* fields(std::uint32_t at) { return fields_.data() + at * pages().shape().words(); }
  std::uint64_t* regions() { return regions_.data(); }
  std::uint64_t* super_blocks() { return super_blocks_.data(); }
  alloc::scatter_state& state() { return *state_.data(); }
  alloc::extent_ref memory() { return memory_.ref(); }

  std::uint32_t page = 0;
  std::uint32_t empty = 0;
};

template <class Damage>
void expect_found(std::string const& what, Damage const& damage, bool checked = true) {
  damaged_pool pool(checked);
  EXPECT_NO_THROW(pool.check());
  damage(pool);
  expect_corrupt(what, [&] { pool.check(); });
}

// A page has 512 blocks of 16 bytes.
TEST(scatter_hints, a_thread_goes_on_at_its_last_page) {
  using allocator = alloc::scatteralloc<exec::host_space>;
  allocator pool(exec::host_space(1), {.pool_bytes = 1u << 20, .reserve_bytes = 4u << 20, .guards = false});
  constexpr std::size_t page_bytes = 8192;
  auto const page_of = [](void* p) { return reinterpret_cast<std::uintptr_t>(p) / page_bytes; };
  std::vector<void*> blocks;
  for (std::size_t i = 0; i < 600; ++i) blocks.push_back(pool.ref().malloc(16));
  auto const first = page_of(blocks.front());
  auto const last = page_of(blocks.back());
  ASSERT_NE(first, last);
  for (void* const p : blocks)
    if (page_of(p) == first) pool.ref().free(p);
  EXPECT_EQ(page_of(pool.ref().malloc(16)), last);
  pool.check();
  pool.reset();
  EXPECT_EQ(page_of(pool.ref().malloc(16)), first);
  pool.grow(1u << 20);
  EXPECT_EQ(page_of(pool.ref().malloc(16)), first);
  pool.check();
}

TEST(scatter_check, finds_damaged_pages) {
  spot_request const same{18, 18};
  for (bool const checked : {false, true}) {
    expect_found(
        "the count is wrong",
        [&](damaged_pool& p) { EXPECT_FALSE(p.pages().reserve(p.page, p.pages().word(p.page), 1, same).is_closed()); },
        checked);
    expect_found(
        "the count is wrong", [](damaged_pool& p) { EXPECT_TRUE(p.pages().clear(p.page, 0)); }, checked);
    expect_found(
        "the count is wrong", [](damaged_pool& p) { (void)p.pages().release(p.page, 1); }, checked);
    expect_found(
        "the count is wrong", [](damaged_pool& p) { (void)p.pages().mark(p.page, 5, 18); }, checked);
    expect_found(
        "a spot is used that it does not have", [](damaged_pool& p) { (void)p.pages().mark_all(p.page, 18, 1); },
        checked);
    expect_found(
        "a spot is used that it does not have", [](damaged_pool& p) { p.fields(p.empty)[3] = 1u << 31; }, checked);
    expect_found(
        "the count is too large", [](damaged_pool& p) { p.words()[p.page] = page_word::split(18, 19).bits(); },
        checked);
    expect_found(
        "the count is too large", [](damaged_pool& p) { p.words()[31] = 1; }, checked);
    expect_found(
        "some pages of a chunk are closed", [](damaged_pool& p) { EXPECT_TRUE(p.pages().close(p.empty)); }, checked);
    expect_found(
        "chunk 7 has 2 owners", [](damaged_pool& p) { p.pages().open(exec::scalar_tile{}, 28, 4); }, checked);
    expect_found(
        "has 0 owners",
        [](damaged_pool& p) {
          for (std::uint32_t k = 0; k < 4; ++k) EXPECT_TRUE(p.pages().close(p.empty / 4 * 4 + k));
        },
        checked);
  }
}

TEST(scatter_check, finds_wrong_counts) {
  std::string const of_region = "the number of usable or of empty pages of a region is wrong";
  std::string const of_block = "the number of regions with usable or empty pages of a super block is wrong";
  for (count_pair const more : {count_pair{1, 0}, count_pair{-1, 0}, count_pair{0, 1}, count_pair{0, -1}}) {
    expect_found(of_region, [&](damaged_pool& p) { p.regions()[0] += more.bits(); });
    expect_found(of_region, [&](damaged_pool& p) { p.regions()[7] += more.bits(); });
    expect_found(of_block, [&](damaged_pool& p) { p.super_blocks()[0] += more.bits(); });
    expect_found(of_block, [&](damaged_pool& p) { p.super_blocks()[3] += more.bits(); });
  }
  expect_found("there is no such super block", [](damaged_pool& p) { p.state().active = 4; });
  expect_found("a lock is held", [](damaged_pool& p) { p.state().lock = 1; });
}

TEST(scatter_check, finds_blocks_that_nobody_has_requested) {
  spot_request const same{18, 18};
  auto const take = [&](damaged_pool& p) {
    EXPECT_FALSE(p.pages().reserve(p.page, p.pages().word(p.page), 1, same).is_closed());
    (void)p.pages().mark(p.page, 1, 18);
  };
  expect_found("live blocks are not the used spots", take);
  expect_found("live blocks are not the used spots", [](damaged_pool& p) {
    EXPECT_TRUE(p.pages().clear(p.page, 0));
    (void)p.pages().release(p.page, 1);
  });
  expect_found("a run of chunks is lost", [](damaged_pool& p) { EXPECT_NE(p.memory().allocate(8192), nullptr); });
  damaged_pool p(false);  // without a record of live blocks
  take(p);
  EXPECT_NO_THROW(p.check());
}

}  // namespace wyrm::tests
