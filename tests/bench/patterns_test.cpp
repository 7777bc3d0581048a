// SPDX-License-Identifier: Apache-2.0
// The patterns of access on the CPU and on simulated warps (simt_space), and what they are made of.
#include <limits>
#include <random>
#include <set>

#include "../support/simt_space.hpp"
#include "patterns_suite.hpp"

namespace wyrm::tests {

#if WYRM_TEST_HOST
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, patterns_test, testing::Types<exec::host_space>);
#endif
#if WYRM_TEST_SIMT
INSTANTIATE_TYPED_TEST_SUITE_P(simt, patterns_test, testing::Types<simt_space>);
#endif

using namespace bench;

TEST(division, is_exact_for_all_indices) {
  std::mt19937_64 random(seeded(1));
  for (std::uint64_t const odd : {1u, 3u, 5u, 7u, 15u, 35u, 175u, 511u})
    for (unsigned const shift : {0u, 1u, 7u, 12u, 20u, 30u})
      for (std::uint64_t const threads : {std::uint64_t{1}, std::uint64_t{33}, paper_threads}) {
        std::uint64_t const per_thread = odd << shift;
        division const parts(threads, per_thread);
        ASSERT_EQ(parts.per_thread(), per_thread);
        auto const check = [&](std::uint64_t i) {
          ASSERT_EQ(parts.thread_of(i), i / per_thread) << i << " / " << per_thread;
        };
        for (int i = 0; i < 200; ++i) check(random() % (threads * per_thread));
        for (std::uint64_t t = 0; t < threads; t += 1 + t / 16) {  // both sides of the boundaries
          check(t * per_thread);
          check((t + 1) * per_thread - 1);
        }
        check(threads * per_thread - 1);
      }
}

TEST(division, refuses_what_it_cannot_divide) {
  EXPECT_NO_THROW(division(paper_threads, 511));
  for (auto const& [threads, per_thread] : {std::pair<std::uint64_t, std::uint64_t>{paper_threads, 513},
                                            {0, 64},
                                            {64, 0},
                                            {1, (1 << 16) + 1},
                                            {std::numeric_limits<std::uint64_t>::max(), 3}}) {
    try {
      division(threads, per_thread);
      ADD_FAILURE() << threads << ", " << per_thread;
    } catch (error const& refused) {
      EXPECT_EQ(refused.code(), error_code::bad_argument) << refused.what();
    }
  }
}

TEST(extent, has_the_size_that_was_asked_for) {
  std::uint64_t const gib = std::uint64_t{1} << 30;
  for (std::uint64_t const size : {1u, 4u, 20u})
    EXPECT_EQ(extent::of_bytes(paper_threads, size * gib).bytes(), size * gib);
  EXPECT_EQ(extent::of_bytes(64, 1).bytes(), 64u * (64 << 10));
  EXPECT_EQ(extent::of_bytes(64, (64ull * 3 + 63) * (64 << 10)).bytes(), 64u * 3 * (64 << 10));
  EXPECT_EQ(extent::of_bytes(1024, 1024 * 512, 512).bytes(), 1024u * 512);
}

// Shares are 64ths of the memory, and each thread owns whole items and whole units of 4 KiB of each array.
TEST(patterns, divide_their_memory) {
  for (std::uint64_t const gib : {1u, 4u, 20u}) {
    extent const e = extent::of_bytes(paper_threads, gib << 30);
    for_each_application([&]<class Pattern>() {
      Pattern const p{e};
      std::uint64_t words = 0;
      for (unsigned a = 0; a < Pattern::arrays; ++a) {
        words += own_words(p, a);
        EXPECT_EQ(own_words(p, a) * sizeof(word) % alloc::arranged_unit, 0u) << Pattern::name;
        EXPECT_NO_THROW(division(e.threads, own_words(p, a))) << Pattern::name;
      }
      EXPECT_EQ(words, e.words) << Pattern::name;
    });
    EXPECT_EQ(stencil{e}.rows_per_thread() * stencil::width, own_words(stencil{e}, 0));
    EXPECT_EQ(k_means{e}.points_per_thread() % k_means::group, 0u);
  }
}

TEST(b_plus_tree_of_benchmark, is_a_search_tree) {
  for (extent const e : {extent{64, 16 << 10}, extent{40, 48 << 10}, extent{1, 16 << 10}}) {
    b_plus_tree const p{e};
    std::uint64_t const nodes = e.threads * e.words / p.node_words;
    ASSERT_LT(p.root(), nodes);
    EXPECT_GT(p.leaves, nodes * 9 / 10);
    auto const array = detail::initial_array(p, 0);
    // Walks all nodes from the root, each with the range of its keys.
    struct subtree {
      std::uint64_t node;
      std::uint64_t least;
      std::uint64_t limit;
    };
    std::vector<subtree> open{{p.root(), 0, p.no_key}};
    std::set<std::uint64_t> seen;
    std::vector<word> keys;
    while (!open.empty()) {
      subtree const at = open.back();
      open.pop_back();
      ASSERT_TRUE(seen.insert(at.node).second) << at.node;
      word const* const words = &array[at.node * p.node_words];
      for (unsigned k = p.fan_out; k-- > 0;) {
        if (words[k] == p.no_key) {
          ASSERT_GE(at.node, p.leaves);
          continue;
        }
        ASSERT_GE(words[k], at.least);
        ASSERT_LT(words[k], k + 1 < p.fan_out ? std::min<std::uint64_t>(words[k + 1], at.limit) : at.limit);
        if (at.node < p.leaves)
          keys.push_back(words[k]);
        else
          open.push_back({words[p.fan_out + k], words[k],
                          k + 1 < p.fan_out ? std::min<std::uint64_t>(words[k + 1], at.limit) : at.limit});
      }
    }
    EXPECT_EQ(seen.size(), p.root() + 1);
    std::sort(keys.begin(), keys.end());
    ASSERT_EQ(keys.size(), p.entries());
    for (std::uint64_t i = 0; i < keys.size(); ++i) ASSERT_EQ(keys[i], p.key(i));
  }
}

TEST(b_plus_tree_of_benchmark, refuses_more_keys_than_there_are_numbers) {
  std::uint64_t const gib = std::uint64_t{1} << 30;
  EXPECT_NO_THROW(b_plus_tree{extent::of_bytes(paper_threads, 25 * gib)});
  EXPECT_THROW(b_plus_tree{extent::of_bytes(paper_threads, 32 * gib)}, error);
}

TEST(b_plus_tree_of_benchmark, searches_one_region_after_the_other) {
  b_plus_tree const p{extent{64, 16 << 10}};
  std::uint64_t const n = p.searches_per_thread();
  std::uint64_t const region = p.key(p.entries()) / p.regions;
  for (std::uint64_t t = 0; t < p.size.threads; ++t)
    for (std::uint64_t s = 0; s < n; ++s) ASSERT_EQ(p.sought(t, s) / region, s / (n / p.regions));
}

TEST(accesses_to_own_memory, are_in_step_for_the_lanes_of_a_warp) {
  own_memory const random{{64, 1 << 19}, 100, false};
  own_memory const step{{64, 1 << 19}, 100, true};
  std::set<std::uint64_t> drawn;
  for (std::uint32_t k = 0; k < step.accesses; ++k)
    for (std::uint64_t t = 0; t < 64; ++t) {
      EXPECT_EQ(step.offset(t, k), step.offset(t / 32 * 32, k));
      EXPECT_LT(random.offset(t, k), random.size.words);
      drawn.insert(random.offset(t, k));
    }
  EXPECT_NE(step.offset(0, 0), step.offset(32, 0));
  EXPECT_GT(drawn.size(), 6300u);  // of 6,400 draws from 2^19
}

}  // namespace wyrm::tests
