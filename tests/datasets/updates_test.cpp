// SPDX-License-Identifier: Apache-2.0
#include "../../datasets/updates.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "../../datasets/random.hpp"

namespace wyrm::tests {

using datasets::update_batch;
using datasets::update_kind;

// The first values of splitmix64 for seed 1234567, as published with the generator.
TEST(random_numbers, are_splitmix64) {
  datasets::random_numbers random(1234567);
  EXPECT_EQ(random.next(), 6457827717110365317u);
  EXPECT_EQ(random.next(), 3203168211198807973u);
  EXPECT_EQ(random.next(), 9817491932198370423u);
}

TEST(update_batch, is_uniform_without_self_loops) {
  auto const batch = update_batch(update_kind::random, 10, 90000, 1);
  std::vector<int> counts(100);
  for (auto const& [u, v] : batch) {
    ASSERT_LT(u, 10u);
    ASSERT_LT(v, 10u);
    ASSERT_NE(u, v);
    ++counts[u * 10 + v];
  }
  // 90 arcs, 1,000 each; six standard deviations are 190.
  for (std::size_t i = 0; i < 100; ++i)
    if (i % 11 != 0) {
      EXPECT_NEAR(counts[i], 1000, 190);
    }
}

TEST(update_batch, pressure_has_sources_in_a_range_of_1000) {
  auto const batch = update_batch(update_kind::pressure, 100000, 50000, 2);
  auto const [low, high] =
      std::minmax_element(batch.begin(), batch.end(), [](auto const& a, auto const& b) { return a.source < b.source; });
  EXPECT_LT(high->source - low->source, 1000u);
  EXPECT_GT(high->source - low->source, 990u);
  EXPECT_GT(std::count_if(batch.begin(), batch.end(), [](auto const& e) { return e.target > 50000; }), 20000);
  auto const small = update_batch(update_kind::pressure, 3, 100, 2);
  EXPECT_TRUE(std::all_of(small.begin(), small.end(), [](auto const& e) { return e.source < 3 && e.target < 3; }));
}

TEST(update_batch, is_a_function_of_the_seed) {
  EXPECT_EQ(update_batch(update_kind::random, 1000, 100, 3), update_batch(update_kind::random, 1000, 100, 3));
  EXPECT_NE(update_batch(update_kind::random, 1000, 100, 3), update_batch(update_kind::random, 1000, 100, 4));
  EXPECT_THROW((void)update_batch(update_kind::random, 1, 1, 0), error);
  EXPECT_TRUE(update_batch(update_kind::random, 2, 0, 0).empty());
}

}  // namespace wyrm::tests
