// SPDX-License-Identifier: Apache-2.0
// The suite of the random-walk page pools, on any space: no page is allocated twice or lost, a request fails only if no
// page is free, and the number of steps agrees with the theory.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "../../alloc/random_walk/page_pool.hpp"
#include "../../exec/atomic.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../support/seed.hpp"
#include "../support/spaces.hpp"

namespace wyrm::tests {

namespace {

/// One page for each of n threads.
template <class Ref>
struct allocate_pages {
  Ref ref;
  std::uint64_t seed;
  std::uint64_t* pages;
  std::uint64_t* steps;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    alloc::walk w(seed, i);
    std::uint64_t const page = ref.allocate(t, w, valid);
    if (!valid) return;
    pages[i] = page;
    steps[i] = w.steps;
  }
};
template <class Ref>
struct free_pages {
  Ref ref;
  std::uint64_t const* pages;
  WYRM_HD void operator()(std::size_t i) const {
    if (pages[i] != Ref::no_page) ref.free(pages[i]);
  }
};

/// Each thread allocates and frees pages at random, and keeps some of them for a while. It records itself in `owners`
/// as the owner of a page, and checks that the page had no other owner.
template <class Ref>
struct churn {
  Ref ref;
  std::uint64_t seed;
  unsigned rounds;
  std::uint64_t* owners;  // per page: thread + 1, or 0
  std::uint64_t* errors;
  std::uint64_t* done;  // allocations and frees
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    alloc::walk w(seed, i);
    alloc::walk dice(seed + 1, i);
    std::uint64_t mine[3] = {Ref::no_page, Ref::no_page, Ref::no_page};
    std::uint64_t n = 0;
    for (unsigned round = 0; round <= rounds; ++round) {
      for (std::uint64_t& page : mine) {
        bool const last = round == rounds;
        bool const acts = valid && (last || dice.draw(2) == 0);
        if (acts && page != Ref::no_page) {
          expect(owner(page).exchange(0, exec::relaxed) == i + 1);
          ref.free(page);
          page = Ref::no_page;
          ++n;
        }
        std::uint64_t const got = ref.allocate(t, w, acts && !last);
        if (got == Ref::no_page) continue;
        expect(owner(got).exchange(i + 1, exec::relaxed) == 0);
        page = got;
        ++n;
      }
    }
    exec::atomic_ref<std::uint64_t>(*done).fetch_add(n, exec::relaxed);
  }
  [[nodiscard]] WYRM_HD exec::atomic_ref<std::uint64_t> owner(std::uint64_t page) const {
    return exec::atomic_ref<std::uint64_t>(owners[page]);
  }
  WYRM_HD void expect(bool holds) const {
    if (!holds) exec::atomic_ref<std::uint64_t>(*errors).fetch_add(1, exec::relaxed);
  }
};

}  // namespace

/// Pool: a page_pool.
template <class Pool>
class random_walk : public space_fixture<typename Pool::space_type> {
 public:
  using space_type = typename Pool::space_type;
  using ref_type = typename Pool::ref_type;
  static constexpr std::uint64_t none = ref_type::no_page;
  static constexpr unsigned bits = ref_type::used_type::bits;
  static constexpr bool is_crowded = ref_type::used_type::locks && requires { space_type::device_count(); };

 protected:
  struct result {
    std::vector<std::uint64_t> pages;
    std::vector<std::uint64_t> steps;
  };
  result allocate(Pool const& pool, std::size_t n, std::uint64_t seed) {
    exec::buffer<std::uint64_t, space_type> pages(this->space(), n);
    exec::buffer<std::uint64_t, space_type> steps(this->space(), n);
    exec::for_each_lane<32>(this->space(), n, allocate_pages<ref_type>{pool.ref(), seed, pages.data(), steps.data()});
    return {exec::copy_out(this->space(), pages.data(), n), exec::copy_out(this->space(), steps.data(), n)};
  }
  void free(Pool const& pool, std::vector<std::uint64_t> const& all) {
    exec::buffer<std::uint64_t, space_type> pages(this->space(), all.size());
    exec::copy_in<std::uint64_t>(this->space(), pages.data(), all);
    exec::for_each(this->space(), all.size(), free_pages<ref_type>{pool.ref(), pages.data()});
    this->space().synchronize();
  }
  /// Makes so many random pages of the pool free, and the others used.
  void leave_free(Pool& pool, std::uint64_t free, std::uint64_t seed) {
    std::vector<bool> used(pool.pages(), false);
    std::fill(used.begin() + static_cast<std::ptrdiff_t>(free), used.end(), true);
    std::shuffle(used.begin(), used.end(), std::mt19937_64(seeded(seed)));
    pool.set_used(used);
  }
  /// Runs churn with threads that keep up to three pages each. Returns the number of allocations and frees.
  std::uint64_t churn_pool(std::uint64_t pages, std::size_t threads, unsigned rounds, double fraction) {
    Pool pool(this->space(), pages, fraction);
    exec::buffer<std::uint64_t, space_type> owners(this->space(), pages);
    exec::buffer<std::uint64_t, space_type> counters(this->space(), 2);
    this->space().fill(owners.data(), 0, owners.bytes());
    this->space().fill(counters.data(), 0, counters.bytes());
    exec::for_each_lane<32>(
        this->space(), threads,
        churn<ref_type>{pool.ref(), 3, rounds, owners.data(), counters.data(), counters.data() + 1});
    EXPECT_EQ(exec::read(this->space(), counters.data()), 0u) << "a page had two owners";
    EXPECT_EQ(count_used(pool), 0u);
    return exec::read(this->space(), counters.data() + 1);
  }
  static std::uint64_t count_used(Pool const& pool) {
    std::vector<bool> const used = pool.used();
    return static_cast<std::uint64_t>(std::count(used.begin(), used.end(), true));
  }
};

TYPED_TEST_SUITE_P(random_walk);

TYPED_TEST_P(random_walk, all_pages_once_and_then_none) {
  for (std::uint64_t const pages : {1u, 7u, 64u, 1000u, 4096u}) {
    SCOPED_TRACE(pages);
    TypeParam pool(this->space(), pages);
    EXPECT_EQ(this->count_used(pool), 0u);
    auto const first = this->allocate(pool, pages + 40, 1).pages;
    std::set<std::uint64_t> const distinct(first.begin(), first.end());
    EXPECT_EQ(distinct.size(), pages + 1);
    EXPECT_EQ(std::count(first.begin(), first.end(), this->none), 40);
    EXPECT_EQ(*std::next(distinct.rbegin()), pages - 1);
    EXPECT_EQ(this->count_used(pool), pages);

    std::vector<std::uint64_t> back;  // every third
    for (std::uint64_t page = 0; page < pages; page += 3) back.push_back(page);
    this->free(pool, back);
    EXPECT_EQ(this->count_used(pool), pages - back.size());
    auto second = this->allocate(pool, back.size() + 1, 2).pages;
    std::sort(second.begin(), second.end());
    EXPECT_EQ(second.back(), this->none);
    second.pop_back();
    EXPECT_EQ(second, back);

    pool.reset();
    EXPECT_EQ(this->count_used(pool), 0u);
  }
}

// Searches give up long before they find one free page of 100,000; the sweep finds it.
TYPED_TEST_P(random_walk, the_last_free_page_is_found) {
  TypeParam pool(this->space(), 100'000, 0.01);
  for (std::uint64_t const page : {0u, 1u, 63u, 64u, 77'777u, 99'999u}) {
    std::vector<bool> used(pool.pages(), true);
    used[page] = false;
    pool.set_used(used);
    auto const got = this->allocate(pool, 64, page).pages;
    EXPECT_EQ(std::count(got.begin(), got.end(), page), 1);
    EXPECT_EQ(std::count(got.begin(), got.end(), this->none), 63);
  }
}

TYPED_TEST_P(random_walk, the_same_seed_finds_the_same_pages) {
  TypeParam one(this->space(), 10'000);
  TypeParam two(this->space(), 10'000);
  EXPECT_EQ(this->allocate(one, 1, 5).pages, this->allocate(two, 1, 5).pages);
  EXPECT_NE(this->allocate(one, 1, 6).pages, this->allocate(two, 1, 7).pages);
}

// Threads need about as many pages as there are, so the pool is full or nearly full all the time.
TYPED_TEST_P(random_walk, churn_of_a_pool_that_is_nearly_full) {
  EXPECT_GT(this->churn_pool(1000, 640, static_cast<unsigned>(scaled(200, 20)), 0.05), 0u);
}

// As many operations as WYRM_TEST_OPERATIONS says; half of the pool is free.
TYPED_TEST_P(random_walk, long_churn) {
  double const operations = operations_or(20000);
  std::size_t const threads = operations < 1e7 ? 320 : 131072;
  auto const rounds = static_cast<unsigned>(operations / (2.9 * static_cast<double>(threads))) + 1;
  EXPECT_GE(static_cast<double>(this->churn_pool(6 * threads, threads, rounds, 0.01)), operations);
}

// TAS and WAS, see theory.hpp. The average over the seeds has a standard error below 0.5 %.
TYPED_TEST_P(random_walk, steps_agree_with_the_theory) {
  constexpr std::size_t pages = 1'000'000;
  constexpr std::size_t threads = 5000;
  constexpr unsigned w = random_walk<TypeParam>::bits;
  auto const seeds = static_cast<unsigned>(scaled(8, 8));
  TypeParam pool(this->space(), pages, 1e-4);
  for (double const fraction : {0.5, 0.1, 0.05, 0.01}) {
    SCOPED_TRACE(fraction);
    alloc::theory::search const s{pages, fraction * pages, threads};
    double average = 0;
    double of_warp = 0;
    for (unsigned seed = 0; seed < seeds; ++seed) {
      this->leave_free(pool, static_cast<std::uint64_t>(fraction * pages), seed);
      auto const steps = this->allocate(pool, threads, seed).steps;
      double of_warps = 0;
      for (std::size_t i = 0; i < threads; ++i) average += static_cast<double>(steps[i]) / threads / seeds;
      for (std::size_t i = 0; i + 32 <= threads; i += 32)
        of_warps += static_cast<double>(*std::max_element(&steps[i], &steps[i] + 32));
      of_warp += of_warps / (threads / 32) / seeds;
    }
    constexpr bool is_per_warp = TypeParam::ref_type::how == alloc::page_search::per_warp;
    if (is_per_warp && TypeParam::space_type::template tile_size<32> == 32) {
      EXPECT_LE(of_warp, alloc::theory::cooperative_bound(s, w) + 1);  // whole steps
      EXPECT_GE(of_warp, 1);
    } else {
      double const expected = alloc::theory::average_as_words_empty(s, w);
      if (random_walk<TypeParam>::is_crowded) {
        // Thousands of threads search at the same time, and some find their word locked. The bound of their fraction is
        // the number of threads per word.
        double const locked = threads * w / s.pages;
        EXPECT_GE(average, 0.97 * expected);
        EXPECT_LE(average, (1.03 + locked) * expected);
        double const finds = (1 - alloc::theory::empty_words(s, w).empty_then) * (1 - locked);
        EXPECT_LT(of_warp, alloc::theory::warp_bound_for_failure(1 - finds));
        continue;
      }
      EXPECT_NEAR(average, expected, 0.03 * expected);
      if (w == 1 || fraction > 0.01) {
        EXPECT_NEAR(average, alloc::theory::average(s, w), 0.03 * average);
      }
      // A few more steps come from lost races and from locked words.
      EXPECT_LT(of_warp, alloc::theory::warp_bound_as_words_empty(s, w) + 0.01);
      EXPECT_LT(of_warp, (w == 1 ? 1 : 1.05) * alloc::theory::warp_bound(s, w));  // see theory.hpp: 4 % more
    }
  }
}

// Tiles of 32 lanes sweep over pools whose last words are fewer than lanes: each page of each of these words in turn is
// the only free one. Searches give up at once.
TYPED_TEST_P(random_walk, sweeps_over_any_number_of_words_find_the_only_free_page) {
  constexpr std::uint64_t bits = TestFixture::bits;
  for (std::uint64_t const words : {1u, 2u, 31u, 33u, 37u, 63u, 65u, 95u, 97u})
    for (std::uint64_t const missing : std::set<std::uint64_t>{0, 1, bits / 2, bits - 1}) {
      if (missing >= bits) continue;  // pages of the last word
      std::uint64_t const pages = words * bits - missing;
      TypeParam pool(this->space(), pages, 0.99);
      std::vector<bool> used(pages, true);
      std::set<std::uint64_t> free{0, pages - 1};
      for (std::uint64_t word = 0; word < words; ++word)
        for (std::uint64_t const page : {word * bits, word * bits + word % bits, word * bits + bits - 1})
          if (page < pages) free.insert(page);
      for (std::uint64_t const page : free) {
        used[page] = false;
        pool.set_used(used);
        used[page] = true;
        auto const got = this->allocate(pool, 1, page).pages;
        ASSERT_EQ(got[0], page) << "of " << pages;
        ASSERT_EQ(this->count_used(pool), pages);
      }
      ASSERT_EQ(this->allocate(pool, 1, 7).pages[0], this->none);
    }
}

// The returned number is the number of free pages; after the last page none is free.
TYPED_TEST_P(random_walk, scatter_frees_pages_of_the_pool_only) {
  for (std::uint64_t const pages : {1u, 31u, 32u, 33u, 63u, 64u, 65u, 1000u, 2079u}) {
    SCOPED_TRACE(std::to_string(pages) + " pages");
    TypeParam pool(make_space<typename TypeParam::space_type>(), pages);
    auto const free_pages = [&] {
      std::vector<bool> const used = pool.used();
      return static_cast<std::uint64_t>(std::count(used.begin(), used.end(), false));
    };
    EXPECT_EQ(pool.scatter(0, seeded(1)), 0u);
    EXPECT_EQ(free_pages(), 0u);
    std::uint64_t const some = pool.scatter(0.5, seeded(2));
    EXPECT_EQ(some, free_pages());
    if (pages >= 1000) {
      EXPECT_NEAR(static_cast<double>(some), static_cast<double>(pages) / 2, 3 * std::sqrt(pages));
    }
    EXPECT_EQ(pool.scatter(1, seeded(3)), pages);
    EXPECT_EQ(free_pages(), pages);
  }
}

REGISTER_TYPED_TEST_SUITE_P(random_walk, all_pages_once_and_then_none, the_last_free_page_is_found,
                            scatter_frees_pages_of_the_pool_only, the_same_seed_finds_the_same_pages,
                            churn_of_a_pool_that_is_nearly_full, long_churn, steps_agree_with_the_theory,
                            sweeps_over_any_number_of_words_find_the_only_free_page);

template <class Space>
using random_walk_pools =
    ::testing::Types<alloc::rw_pages<Space>, alloc::rw_bm_pages<Space, std::uint32_t, true>,
                     alloc::rw_bm_pages<Space, std::uint64_t, true>, alloc::rw_bm_pages<Space, std::uint64_t, false>,
                     alloc::corw_pages<Space, std::uint32_t, true>, alloc::corw_pages<Space, std::uint64_t, false>,
                     alloc::crw_pages<Space, std::uint32_t, true>, alloc::crw_pages<Space, std::uint64_t, false>>;

struct random_walk_names {
  template <class Pool>
  static std::string GetName(int) {
    using used = typename Pool::ref_type::used_type;
    constexpr auto how = Pool::ref_type::how;
    if (used::bits == 1) return "rw";
    std::string const name = how == alloc::page_search::per_thread  ? "rw_bm"
                             : how == alloc::page_search::clustered ? "crw"
                                                                    : "corw";
    return name + "_" + std::to_string(used::bits) + (used::locks ? "_lock_map" : "");
  }
};

}  // namespace wyrm::tests
