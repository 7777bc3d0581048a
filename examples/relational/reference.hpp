// SPDX-License-Identifier: Apache-2.0
// Serial versions of the join and the group-by, to check results against, and tables to run both on.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <unordered_map>
#include <vector>

#include "group_by.hpp"
#include "hash_join.hpp"

namespace relational {

/// The pairs of the join.
[[nodiscard]] inline std::vector<joined> serial_join(std::vector<tuple> const& r, std::vector<tuple> const& s) {
  std::unordered_multimap<std::uint32_t, std::uint32_t> table;
  for (tuple const& one : r) table.emplace(one.key, one.value);
  std::vector<joined> pairs;
  for (tuple const& one : s)
    for (auto [at, end] = table.equal_range(one.key); at != end; ++at) pairs.push_back({at->second, one.value});
  return pairs;
}

/// The groups, one for each key, in the order of keys.
[[nodiscard]] inline std::vector<group> serial_group_by(std::vector<tuple> tuples) {
  std::sort(tuples.begin(), tuples.end(), [](tuple const& a, tuple const& b) { return a.key < b.key; });
  std::vector<group> groups;
  for (tuple const& one : tuples) {
    if (groups.empty() || groups.back().key != one.key) groups.push_back({one.key, 0, 0});
    ++groups.back().count;
    groups.back().sum += one.value;
  }
  return groups;
}

/// Whether both have the same pairs, in any order.
[[nodiscard]] inline bool same_pairs(std::vector<joined> a, std::vector<joined> b) {
  auto const less = [](joined const& x, joined const& y) { return x.r != y.r ? x.r < y.r : x.s < y.s; };
  std::sort(a.begin(), a.end(), less);
  std::sort(b.begin(), b.end(), less);
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](joined const& x, joined const& y) { return x.r == y.r && x.s == y.s; });
}

/// Whether `groups`, in any order, are those that are expected, in the order of their keys.
[[nodiscard]] inline bool same_groups(std::vector<group> groups, std::vector<group> const& expected) {
  std::sort(groups.begin(), groups.end(), [](group const& a, group const& b) { return a.key < b.key; });
  return std::equal(groups.begin(), groups.end(), expected.begin(), expected.end(), [](group const& a, group const& b) {
    return a.key == b.key && a.count == b.count && a.sum == b.sum;
  });
}

/// n tuples with random keys below `keys`. The values are the numbers of the tuples.
[[nodiscard]] inline std::vector<tuple> uniform_tuples(std::size_t n, std::uint32_t keys, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<tuple> tuples(n);
  for (std::size_t i = 0; i < n; ++i)
    tuples[i] = {static_cast<std::uint32_t>(random() % keys), static_cast<std::uint32_t>(i)};
  return tuples;
}

/// n tuples with keys of the normal distribution around 2^31.
[[nodiscard]] inline std::vector<tuple> normal_tuples(std::size_t n, double deviation, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0x1p31, deviation);
  std::vector<tuple> tuples(n);
  for (std::size_t i = 0; i < n; ++i)
    tuples[i] = {static_cast<std::uint32_t>(std::clamp(normal(random), 0.0, 0x1p32 - 1)),
                 static_cast<std::uint32_t>(i)};
  return tuples;
}

}  // namespace relational
