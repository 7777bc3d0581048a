// SPDX-License-Identifier: Apache-2.0
#include "../../apps/number_index.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "../support/seed.hpp"

namespace wyrm::tests {

namespace {

using numbers = std::vector<std::uint64_t>;
constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();

/// Compares all numbers, and those beside them, with the places of their first occurrences.
void expect_places(numbers const& all) {
  apps::number_index const index(all);
  std::map<std::uint64_t, graph::vertex_id> first;
  for (std::size_t i = 0; i < all.size(); ++i) first.emplace(all[i], static_cast<graph::vertex_id>(i));
  numbers wanted{0, 1, 63, 64, 65, largest - 1, largest};
  for (std::uint64_t const number : all)
    for (std::uint64_t const by : {std::uint64_t{0}, std::uint64_t{1}, largest, std::uint64_t{64}})
      wanted.push_back(number + by);
  for (std::uint64_t const number : wanted) {
    auto const found = first.find(number);
    auto const want = found == first.end() ? std::nullopt : std::optional(found->second);
    ASSERT_EQ(index.find(all, number), want) << number;
  }
}

}  // namespace

TEST(number_index, finds_the_places_of_numbers) {
  EXPECT_TRUE(apps::number_index(numbers()).empty());
  EXPECT_FALSE(apps::number_index(numbers{5}).empty());
  EXPECT_FALSE(apps::number_index(numbers{5, 4}).empty());
  for (numbers const& all : {numbers{0}, numbers{largest}, numbers{0, largest}, numbers{largest, 0}, numbers{7, 7, 7},
                             numbers{9, 3, 9, 64, 3}, numbers{63, 64, 127, 128, 191}, numbers{100, 163, 164, 228, 355},
                             numbers{largest - 64, largest - 1, largest}})
    expect_places(all);
}

TEST(number_index, finds_random_numbers) {
  std::mt19937_64 random(seeded(31));
  for (std::uint64_t const step : numbers{1, 2, 3, 60, 130, 1'000'000'000}) {
    numbers ascending;
    std::uint64_t last = random() % 1000;
    for (int i = 0; i < 2000; ++i) ascending.push_back(last += 1 + random() % step);
    expect_places(ascending);
    numbers unordered = ascending;
    std::shuffle(unordered.begin(), unordered.end(), random);
    expect_places(unordered);
    unordered.insert(unordered.end(), ascending.begin(), ascending.end());
    expect_places(unordered);
  }
}

}  // namespace wyrm::tests
