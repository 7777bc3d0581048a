// SPDX-License-Identifier: Apache-2.0
// Compares the bulk primitives of a space with the standard library, for inputs from empty to large.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "../../exec/bulk.hpp"
#include "../../exec/memory.hpp"
#include "../support/seed.hpp"
#include "../support/spaces.hpp"

namespace wyrm::tests {

/// Sizes; some around 4096, the block size of sums on a host.
inline std::vector<std::size_t> bulk_sizes() {
  return {0, 1, 2, 33, 1000, 4095, 4096, 4097, 8193, scaled(300001, 5003)};
}

inline std::vector<std::uint64_t> random_keys(std::size_t n, std::uint64_t below_power_of_two_mask) {
  std::mt19937_64 random(seeded(n + below_power_of_two_mask));
  std::vector<std::uint64_t> keys(n);
  for (std::uint64_t& k : keys) k = random() & below_power_of_two_mask;
  return keys;
}

/// Values in memory of a space. The buffer has one entry more, so that it also has an address without values.
template <class T, class Space>
exec::buffer<T, Space> on(Space const& space, std::vector<T> const& values) {
  exec::buffer<T, Space> b(space, values.size() + 1);
  exec::copy_in<T>(space, b.data(), values);
  return b;
}

template <class Space>
void expect_sorted(Space const& space, typename Space::bulk& bulk, std::vector<std::uint64_t> keys, unsigned bits) {
  SCOPED_TRACE(std::to_string(keys.size()) + " keys of " + std::to_string(bits) + " bits");
  auto const device_keys = on(space, keys);
  exec::buffer<std::uint64_t, Space> const spare(space, keys.size() + 1);
  std::uint64_t* const result = bulk.sort(device_keys.data(), spare.data(), keys.size(), bits);
  EXPECT_TRUE(result == device_keys.data() || result == spare.data());
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(exec::copy_out(space, result, keys.size()), keys);
}

template <class Space>
using bulk = space_test<Space>;
TYPED_TEST_SUITE_P(bulk);

TYPED_TEST_P(bulk, sort) {
  TypeParam const space = make_space<TypeParam>();
  typename TypeParam::bulk primitives(space);
  for (std::size_t const n : bulk_sizes())
    for (unsigned const bits : {1u, 20u, 33u, 63u, 64u})
      expect_sorted(space, primitives, random_keys(n, ~std::uint64_t{0} >> (64 - bits)), bits);
  expect_sorted(space, primitives, std::vector<std::uint64_t>(2000, 0xfedcba9876543210u), 64);
  std::vector<std::uint64_t> falling(2000);
  for (std::size_t i = 0; i < falling.size(); ++i) falling[i] = falling.size() - i;
  expect_sorted(space, primitives, falling, 11);
}

TYPED_TEST_P(bulk, sort_pairs) {
  TypeParam const space = make_space<TypeParam>();
  typename TypeParam::bulk primitives(space);
  for (std::size_t const n : bulk_sizes())
    for (unsigned const bits : {3u, 40u, 64u}) {
      SCOPED_TRACE(std::to_string(n) + " pairs of " + std::to_string(bits) + " bits");
      std::vector<std::uint64_t> const keys = random_keys(n, ~std::uint64_t{0} >> (64 - bits));
      std::vector<std::uint32_t> numbers(n);  // the order of equal keys
      for (std::size_t i = 0; i < n; ++i) numbers[i] = static_cast<std::uint32_t>(i);
      auto const device_keys = on(space, keys);
      auto const device_numbers = on(space, numbers);
      exec::buffer<std::uint64_t, TypeParam> const spare(space, n + 1);
      exec::buffer<std::uint32_t, TypeParam> const spare_numbers(space, n + 1);
      exec::sorted_pairs const got =
          primitives.sort_pairs(device_keys.data(), spare.data(), device_numbers.data(), spare_numbers.data(), n, bits);
      std::stable_sort(numbers.begin(), numbers.end(), [&](auto a, auto b) { return keys[a] < keys[b]; });
      std::vector<std::uint64_t> sorted(n);
      for (std::size_t i = 0; i < n; ++i) sorted[i] = keys[numbers[i]];
      EXPECT_EQ(exec::copy_out(space, got.keys, n), sorted);
      EXPECT_EQ(exec::copy_out(space, got.values, n), numbers);
    }
}

TYPED_TEST_P(bulk, unique) {
  TypeParam const space = make_space<TypeParam>();
  typename TypeParam::bulk primitives(space);
  auto const expect_unique = [&](std::vector<std::uint64_t> keys) {
    SCOPED_TRACE(std::to_string(keys.size()) + " keys");
    auto const in = on(space, keys);
    exec::buffer<std::uint64_t, TypeParam> const out(space, keys.size() + 1);
    std::size_t const n = primitives.unique(in.data(), out.data(), keys.size());
    EXPECT_EQ(exec::copy_out(space, in.data(), keys.size()), keys);  // the input is unchanged
    std::vector<std::uint32_t> begins;
    for (std::uint32_t i = 0; i < keys.size(); ++i)
      if (i == 0 || keys[i] != keys[i - 1]) begins.push_back(i);
    exec::buffer<std::uint32_t, TypeParam> const first(space, keys.size() + 1);
    primitives.run_begins(in.data(), first.data(), keys.size());
    EXPECT_EQ(exec::copy_out(space, first.data(), begins.size()), begins);
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    ASSERT_EQ(n, keys.size());
    EXPECT_EQ(exec::copy_out(space, out.data(), n), keys);
  };
  for (std::size_t const n : bulk_sizes()) {
    expect_unique(random_keys(n, 3));  // runs, and keys that occur again in later runs
    expect_unique(random_keys(n, ~std::uint64_t{0}));
    expect_unique(std::vector<std::uint64_t>(n, 42));
  }
}

TYPED_TEST_P(bulk, inclusive_sum) {
  TypeParam const space = make_space<TypeParam>();
  typename TypeParam::bulk primitives(space);
  auto const expect_sums = [&](std::vector<std::uint32_t> const& values) {
    SCOPED_TRACE(std::to_string(values.size()) + " values");
    auto const in = on(space, values);
    exec::buffer<std::uint64_t, TypeParam> const out(space, values.size() + 1);
    space.fill(out.data(), 0xee, out.bytes());
    primitives.inclusive_sum(in.data(), out.data(), values.size());
    std::vector<std::uint64_t> expected{0};
    for (std::uint32_t const v : values) expected.push_back(expected.back() + v);
    EXPECT_EQ(exec::copy_out(space, out.data(), values.size() + 1), expected);
  };
  for (std::size_t const n : bulk_sizes()) {
    std::vector<std::uint32_t> values(n);
    std::mt19937 random(seeded(static_cast<std::uint32_t>(n)));
    for (std::uint32_t& v : values) v = static_cast<std::uint32_t>(random());
    expect_sums(values);
    expect_sums(std::vector<std::uint32_t>(n, 0xffffffffu));  // sums exceed 32 bits from the second value on
  }
}

TYPED_TEST_P(bulk, sum) {
  TypeParam const space = make_space<TypeParam>();
  typename TypeParam::bulk primitives(space);
  for (std::size_t const n : bulk_sizes()) {
    SCOPED_TRACE(std::to_string(n) + " values");
    std::vector<std::uint64_t> const whole = random_keys(n, ~std::uint64_t{0} >> 4);
    std::vector<double> real(n);  // multiples of 1/8, so that no addition rounds
    std::uint64_t whole_sum = 0;
    double real_sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      real[i] = static_cast<double>(whole[i] % 100000) / 8 - 5000;
      whole_sum += whole[i];
      real_sum += real[i];
    }
    EXPECT_EQ(primitives.sum(on(space, whole).data(), n), whole_sum);
    EXPECT_EQ(primitives.sum(on(space, real).data(), n), real_sum);
  }
}

// Values of many magnitudes: another order of additions would round differently.
TYPED_TEST_P(bulk, sum_of_doubles_is_repeatable) {
  TypeParam const space = make_space<TypeParam>();
  typename TypeParam::bulk primitives(space);
  std::mt19937_64 random(seeded(7));
  std::vector<double> values(scaled(1000000, 100000));
  long double exact = 0;
  for (double& v : values) {
    v = 1.0 / static_cast<double>(1 + random() % 1000000);
    exact += static_cast<long double>(v);
  }
  auto const in = on(space, values);
  double const first = primitives.sum(in.data(), values.size());
  EXPECT_NEAR(first, static_cast<double>(exact), 1e-8);
  for (std::size_t i = 0; i < 50; ++i) ASSERT_EQ(primitives.sum(in.data(), values.size()), first) << "repetition " << i;
}

TYPED_TEST_P(bulk, scratch_is_kept) {
  TypeParam const space = make_space<TypeParam>();
  typename TypeParam::bulk primitives(space);
  std::vector<std::uint64_t> const keys = random_keys(10000, 0xffff);
  expect_sorted(space, primitives, keys, 16);
  std::size_t const bytes = primitives.bytes();
  expect_sorted(space, primitives, keys, 16);
  expect_sorted(space, primitives, random_keys(5000, 0xffff), 16);
  EXPECT_EQ(primitives.bytes(), bytes);
}

REGISTER_TYPED_TEST_SUITE_P(bulk, sort, sort_pairs, unique, inclusive_sum, sum, sum_of_doubles_is_repeatable,
                            scratch_is_kept);

}  // namespace wyrm::tests
