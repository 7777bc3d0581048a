// SPDX-License-Identifier: Apache-2.0
// The theory and the helpers of the random walks against known numbers, and the suites of their pools and allocators on
// the host and in lockstep.
#include "random_walk_allocators.hpp"
#include "random_walk_suite.hpp"

#include <bit>
#include <cmath>
#include <string>

#include "../../exec/host_space.hpp"
#include "../support/seed.hpp"
#include "../support/simt_space.hpp"

namespace wyrm::tests {

namespace theory = alloc::theory;

TEST(random_walk_theory, queues) {
  EXPECT_DOUBLE_EQ(theory::queue_average(1), 1);
  EXPECT_DOUBLE_EQ(theory::queue_average(5000), 2500.5);
  EXPECT_DOUBLE_EQ(theory::queue_warp_average(1), 1);
  // The largest of 32 random places of N is N 32/33 on average, up to rounding.
  EXPECT_NEAR(theory::queue_warp_average(100'000), 100'000 * 32.0 / 33, 1);
}

TEST(random_walk_theory, averages_of_hand_computed_searches) {
  // Two free pages of four, two threads: 4/2 steps for the first, 4/1 for the second.
  EXPECT_DOUBLE_EQ(theory::average({4, 2, 2}, 1), 3);
  // Words of two pages: 1/(1 - 1/4) and 1/(1 - 9/16).
  EXPECT_DOUBLE_EQ(theory::average({4, 2, 2}, 2), (4.0 / 3 + 16.0 / 7) / 2);
  // (T/N) (H_A - H_(A-N)) against its logarithm, of a million pages of which 1 % are free.
  theory::search const s{1e6, 1e4, 5000};
  EXPECT_NEAR(theory::average(s, 1), 200 * std::log(2), 0.02);
  EXPECT_NEAR(theory::average_approximately(s), 200 * std::log(2), 1e-9);
  // While nearly all words have a free page, one step suffices.
  EXPECT_NEAR(theory::average({1e6, 5e5, 5000}, 32), 1, 1e-6);
  EXPECT_NEAR(theory::average_as_words_empty({1e6, 5e5, 5000}, 32), 1, 0.1);
  // With one page per word, the model of words agrees with Eq. 5.
  EXPECT_NEAR(theory::average_as_words_empty({1e6, 1e4, 5000}, 1), theory::average({1e6, 1e4, 5000}, 1), 0.02);
}

TEST(random_walk_theory, bounds_of_warps) {
  // Half free at the end: of 32 threads that fail with 1/2 the last needs, on average, the sum over k of
  // 1 - (1 - 2^-k)^32, which is log2(32) + Euler's constant / ln 2 + 1/2, up to terms of the order of 1/32.
  EXPECT_NEAR(theory::warp_bound({1e6, 505'000, 5000}, 1), 5 + 0.5772 / std::log(2) + 0.5, 0.03);
  EXPECT_EQ(theory::warp_bound_for_failure(0), 1);
  EXPECT_TRUE(std::isinf(theory::warp_bound_for_failure(1)));
  // Theorems 1 and 2, where threads need nearly all free pages.
  theory::search const s{1e6, 5001, 5000};
  for (unsigned const w : {32u, 64u}) {
    EXPECT_NEAR(theory::average(s, w), theory::bitmap_average_limit(theory::average(s, 1), w),
                0.03 * theory::average(s, w));
    EXPECT_NEAR(theory::warp_bound(s, w), theory::bitmap_bound_limit(theory::warp_bound(s, 1), w),
                0.01 * theory::warp_bound(s, w));
  }
}

TEST(random_walk_theory, cooperative_search) {
  theory::search const s{1e6, 1e4, 5000};
  EXPECT_DOUBLE_EQ(theory::found_by_warp(s, 32).mean, 5.12);
  EXPECT_NEAR(theory::found_by_warp(s, 32).deviation, 2.2570, 1e-4);
  EXPECT_DOUBLE_EQ(theory::cooperative_bound(s, 32), 6.25);
  EXPECT_DOUBLE_EQ(theory::cooperative_bound({1e6, 5e5, 5000}, 64), 1);
}

TEST(random_walk_theory, clusters) {
  EXPECT_DOUBLE_EQ(theory::cluster_is_used_up(10, 1), 0);
  EXPECT_DOUBLE_EQ(theory::cluster_is_used_up(10, 4), 3.0 / 13);
  EXPECT_DOUBLE_EQ(theory::clustered_average({1e6, 1e4, 5000}, 1), 1);
  EXPECT_NEAR(theory::clustered_average({1e6, 1e4, 5000}, 10'001), 1 + 0.5 * 200 * std::log(2), 1e-9);
}

TEST(random_walk_theory, pages_until_a_search_gives_up) {
  EXPECT_NEAR(theory::pages_until_given_up(0.005), 1076, 1);  // section 3.2.3
  // Fewer than 1 % of the searches give up wrongly: with less than this probability none of so many pages is free.
  for (double const fraction : {0.1, 0.01, 0.001})
    EXPECT_LT(std::pow(1 - fraction, theory::pages_until_given_up(fraction)), 0.01);
}

// Known answers of the authors' library (Random123, kat_vectors).
TEST(walk, philox_known_answers) {
  using exec::four_words;
  auto const expect = [](four_words const& got, four_words const& wanted) {
    for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(got.x[i], wanted.x[i]) << i;
  };
  four_words const ones{{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}};
  four_words const pi{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}};
  expect(exec::philox<10>({{}}, 0, 0), {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}});
  expect(exec::philox<10>(ones, ones.x[0], ones.x[0]), {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}});
  expect(exec::philox<10>(pi, 0xa4093822, 0x299f31d0), {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}});
  expect(exec::philox<7>({{}}, 0, 0), {{0x5f6fb709, 0x0d893f64, 0x4f121f81, 0x4f730a48}});
  expect(exec::philox<7>(ones, ones.x[0], ones.x[0]), {{0x5207ddc2, 0x45165e59, 0x4d8ee751, 0x8c52f662}});
  expect(exec::philox<7>(pi, 0xa4093822, 0x299f31d0), {{0x4dfccaba, 0x190a87f0, 0xc47362ba, 0xb6b5242a}});
}

TEST(walk, draws_evenly) {
  constexpr unsigned places = 10;
  constexpr unsigned draws = 100'000;
  unsigned hits[places] = {};
  alloc::walk w(1, 2);
  for (unsigned i = 0; i < draws; ++i) ++hits[w.draw(places)];
  double chi_square = 0;
  for (unsigned const h : hits) chi_square += (h - 1e4) * (h - 1e4) / 1e4;
  EXPECT_LT(chi_square, 27.9);  // 9 degrees of freedom, one in a thousand
}

TEST(bits, the_kth_set_bit) {
  std::mt19937_64 random(seeded(1));
  for (unsigned i = 0; i < 2000; ++i) {
    std::uint64_t const x = i < 70 ? (i < 64 ? std::uint64_t{1} << i : i % 2 * ~std::uint64_t{0}) : random() & random();
    auto const lower = static_cast<std::uint32_t>(x);
    unsigned k = 0;
    for (unsigned bit = 0; bit < 64; ++bit) {
      EXPECT_EQ(exec::lowest_set(x, k), x & ((std::uint64_t{1} << bit) - 1)) << x;
      EXPECT_EQ(exec::bits_up_to<std::uint64_t>(bit), ~std::uint64_t{0} >> (63 - bit));
      if (bit < 32) {
        EXPECT_EQ(exec::lowest_set(lower, k), lower & ((std::uint64_t{1} << bit) - 1)) << x;
      }
      if ((x >> bit & 1) == 0) continue;
      if (bit < 32) {
        EXPECT_EQ(exec::find_kth_set(lower, k), bit) << x;
      }
      EXPECT_EQ(exec::find_kth_set(x, k++), bit) << x;
    }
    EXPECT_EQ(exec::lowest_set(x, k), x);
    EXPECT_EQ(exec::lowest_set(x, 99), x);
  }
}

// Compared with a loop over units, for words and for regions with borders that runs do not cross.
TEST(free_runs, of_words_and_regions) {
  std::mt19937_64 random(seeded(1));
  for (unsigned i = 0; i < 3000; ++i) {
    std::size_t const words = 1 + i % 4;
    std::vector<std::uint64_t> free(words);
    for (std::uint64_t& word : free) {
      word = random();
      for (std::uint64_t k = random() % 6; k > 0; --k) word = k % 2 == 0 ? word & random() : word | random();
      if (random() % 5 == 0) word = random() % 2 == 0 ? 0 : ~std::uint64_t{0};
    }
    std::vector<bool> behind(words);
    alloc::detail::free_runs got;
    for (std::size_t w = 0; w < words; ++w) {
      behind[w] = w > 0 && random() % 3 != 0;
      got = w == 0 ? alloc::detail::runs_of(free[w])
                   : alloc::detail::join(got, alloc::detail::runs_of(free[w]), behind[w]);
    }
    std::uint32_t longest = 0;
    std::vector<std::uint32_t> length;  // per unit: the length of the run that ends with it
    for (std::size_t unit = 0; unit < 64 * words; ++unit) {
      bool const goes_on = unit > 0 && (unit % 64 != 0 || behind[unit / 64]);
      bool const is_free = (free[unit / 64] >> unit % 64 & 1) != 0;
      length.push_back(is_free ? (goes_on ? length.back() : 0) + 1 : 0);
      longest = std::max(longest, length.back());
    }
    std::uint32_t prefix = 0;
    while (prefix < 64 * words && length[prefix] == prefix + 1) ++prefix;
    ASSERT_EQ(got.units, 64 * words);
    ASSERT_EQ(got.longest, longest);
    ASSERT_EQ(got.prefix, prefix);
    ASSERT_EQ(got.suffix, length.back());
    if (longest > 0) {
      ASSERT_EQ(length[got.at + longest - 1], longest);
    }
  }
}

TEST(free_runs, the_first_of_a_length) {
  std::mt19937_64 random(seeded(1));
  for (unsigned i = 0; i < 500; ++i) {
    std::uint64_t free = i == 0 ? 0 : i == 1 ? ~std::uint64_t{0} : random();
    for (std::uint64_t k = random() % 6; k > 0 && i > 1; --k) free = k % 2 == 0 ? free & random() : free | random();
    for (std::uint32_t units = 1; units <= 66; ++units) {
      std::uint32_t at = 0;
      std::uint32_t length = 0;
      for (std::uint32_t unit = 0; unit < 64 && length < units; ++unit) {
        length = (free >> unit & 1) != 0 ? length + 1 : 0;
        at = unit + 1 - length;
      }
      ASSERT_EQ(alloc::detail::first_run(free, units), length == units ? at : 64u) << free << ' ' << units;
    }
  }
}

// A single thread draws the same numbers each time, so it finds the same pages.
template <class A>
std::vector<std::ptrdiff_t> places_of_blocks() {
  A pool(exec::host_space(1),
         {.pool_bytes = std::size_t{1} << 20, .reserve_bytes = std::size_t{1} << 20, .guards = false});
  auto* const base = static_cast<std::byte*>(pool.ref().malloc(std::size_t{1} << 20));
  pool.ref().free(base);
  pool.reset();
  std::vector<std::ptrdiff_t> places;
  std::vector<void*> blocks;
  for (unsigned i = 0; i < 2000; ++i) {
    blocks.push_back(pool.ref().malloc(16 + i % 5 * 100));
    places.push_back(static_cast<std::byte*>(blocks.back()) - base);
    if (i % 3 == 0) pool.ref().free(blocks[i / 2]);
    if (i % 3 == 0) blocks[i / 2] = nullptr;
  }
  return places;
}
TEST(random_walk_allocators, runs_are_reproducible) {
  using space = exec::host_space;
  EXPECT_EQ(places_of_blocks<alloc::rw<space>>(), places_of_blocks<alloc::rw<space>>());
  EXPECT_EQ(places_of_blocks<alloc::corw<space>>(), places_of_blocks<alloc::corw<space>>());
  EXPECT_EQ(places_of_blocks<alloc::crw<space>>(), places_of_blocks<alloc::crw<space>>());
  EXPECT_EQ(places_of_blocks<alloc::rw_malloc<space>>(), places_of_blocks<alloc::rw_malloc<space>>());
}

TEST(page_pool, bad_sizes_are_refused) {
  exec::host_space const space(1);
  using pool = alloc::corw_pages<exec::host_space>;
  EXPECT_THROW(pool(space, 0), error);
  EXPECT_THROW(pool(space, (std::uint64_t{1} << 32) + 1), error);
  EXPECT_THROW(pool(space, 10, 0), error);
  EXPECT_THROW(pool(space, 10, 1), error);
  pool ten(space, 10);
  EXPECT_THROW(ten.set_used(std::vector<bool>(11)), error);
  EXPECT_EQ(ten.bytes(), 2 * sizeof(std::uint64_t));
}

// CRW: a thread takes the page after its last one, in one step; else the next free page of that word, else the lowest.
template <class Pool>
void expect_clusters() {
  constexpr std::uint64_t bits = Pool::ref_type::used_type::bits;
  Pool pool(exec::host_space(1), 1000);
  alloc::walk w(seeded(1), 0);
  auto const next = [&] {
    std::uint64_t const before = w.steps;
    std::uint64_t const page = pool.ref().allocate(exec::scalar_tile{}, w, true);
    EXPECT_EQ(w.steps, before + 1);
    return page;
  };
  w.last_page = 500;
  for (std::uint64_t page = 501; page < 1000; ++page) ASSERT_EQ(next(), page);
  // There is no page after the last: a random one is taken.
  EXPECT_LT(pool.ref().allocate(exec::scalar_tile{}, w, true), 501u);
  std::vector<bool> used(1000, true);
  used[2 * bits + 3] = used[2 * bits + 20] = used[2 * bits + 30] = false;
  pool.set_used(used);
  w.last_page = 2 * bits + 10;
  EXPECT_EQ(next(), 2 * bits + 20);
  w.last_page = 2 * bits + 30;
  EXPECT_EQ(next(), 2 * bits + 3);
  EXPECT_EQ(next(), 2 * bits + 30);
  EXPECT_EQ(pool.used(), std::vector<bool>(1000, true));
}
TEST(clustered_search, takes_the_page_after_the_last_one) {
  expect_clusters<alloc::crw_pages<exec::host_space, std::uint32_t, true>>();
  expect_clusters<alloc::crw_pages<exec::host_space, std::uint64_t, false>>();
  // The allocator keeps the last page of a thread between calls.
  alloc::crw<exec::host_space> pool(exec::host_space(1),
                                    {.pool_bytes = 1u << 20, .reserve_bytes = 1u << 20, .guards = false});
  auto* const first = static_cast<std::byte*>(pool.ref().malloc(32));
  for (std::ptrdiff_t i = 1; i < 256; ++i) ASSERT_EQ(pool.ref().malloc(32), first + 32 * i);
}

// In a full pool. With a limit of 0.5 % these are 1077 used pages (section 3.2.3, see above), or as many words as that.
template <class Pool>
void expect_steps(std::uint64_t steps) {
  Pool pool(exec::host_space(1), 5000, 0.005);
  pool.set_used(std::vector<bool>(5000, true));
  alloc::walk w(seeded(1), 0);
  EXPECT_EQ(pool.ref().allocate(exec::scalar_tile{}, w, true), alloc::walk::no_page);
  EXPECT_EQ(w.steps, steps);
}
TEST(page_pool, a_search_gives_up_after_so_many_steps) {
  using space = exec::host_space;
  expect_steps<alloc::rw_pages<space>>(1077);
  expect_steps<alloc::rw_bm_pages<space, std::uint32_t, true>>(34);
  expect_steps<alloc::rw_bm_pages<space, std::uint64_t, false>>(17);
  expect_steps<alloc::corw_pages<space, std::uint64_t, false>>(17);
  expect_steps<alloc::crw_pages<space, std::uint64_t, false>>(17);
}

// Threads by themselves leave no gaps between blocks; blocks of a multiple of 1 KiB begin with a word of the bitmap.
TEST(rw_malloc, single_threads_fill_the_pool) {
  constexpr std::size_t pool_bytes = std::size_t{4} << 20;
  for (std::size_t const bytes : {1024u, 1040u, 1536u, 2064u, 3072u, 4096u, 5008u, 8192u}) {
    SCOPED_TRACE(bytes);
    alloc::rw_malloc<exec::host_space> pool(
        exec::host_space(1),
        {.pool_bytes = pool_bytes, .reserve_bytes = pool_bytes, .checked = false, .guards = false});
    std::size_t blocks = 0;
    for (; void* const p = pool.ref().malloc(bytes); ++blocks) {
      if (bytes == 1024 || bytes == 4096 || bytes == 8192) {
        ASSERT_EQ(reinterpret_cast<std::uintptr_t>(p) % 1024, 0u);
      }
    }
    double const filled = static_cast<double>(blocks * bytes) / pool_bytes;
    EXPECT_GE(filled, 8192 % bytes == 0 ? 1. : .85);
    EXPECT_LE(filled, 1.);
    pool.check();
  }
}

#if WYRM_TEST_HOST
INSTANTIATE_TYPED_TEST_SUITE_P(host, random_walk, random_walk_pools<exec::host_space>, random_walk_names);
INSTANTIATE_TYPED_TEST_SUITE_P(host, random_walk_allocator, random_walk_allocators<exec::host_space>, by_name);
INSTANTIATE_TYPED_TEST_SUITE_P(host, rw_malloc_suite, ::testing::Types<exec::host_space>);
#endif
#if WYRM_TEST_SIMT
INSTANTIATE_TYPED_TEST_SUITE_P(simt, random_walk, random_walk_pools<simt_space>, random_walk_names);
INSTANTIATE_TYPED_TEST_SUITE_P(simt, random_walk_allocator, random_walk_allocators<simt_space>, by_name);
INSTANTIATE_TYPED_TEST_SUITE_P(simt, rw_malloc_suite, ::testing::Types<simt_space>);
#endif

}  // namespace wyrm::tests
