// SPDX-License-Identifier: Apache-2.0
// The hash join and the group-by of examples/relational against serial versions: sizes, skewed keys, pages of several
// sizes, and pools that are too small.
#pragma once

#include "../../examples/relational/group_by.hpp"
#include "../../examples/relational/hash_join.hpp"
#include "../../examples/relational/reference.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <type_traits>
#include <vector>

#include "../../alloc/registry.hpp"
#include "../support/spaces.hpp"

namespace wyrm::tests {

using relational::group;
using relational::joined;
using relational::tuple;

/// n tuples with the same key.
inline std::vector<tuple> same_key(std::size_t n, std::uint32_t key) {
  std::vector<tuple> tuples(n);
  for (std::size_t i = 0; i < n; ++i) tuples[i] = {key, static_cast<std::uint32_t>(i)};
  return tuples;
}
inline std::vector<tuple> both(std::vector<tuple> a, std::vector<tuple> const& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

template <class A>
class relational_case : public space_fixture<typename A::space_type> {
 protected:
  using space_type = typename A::space_type;
  static constexpr bool is_slow = std::string_view(space_type::name) == "simt";

  static alloc::options pool_of(std::size_t bytes) {
    return {.pool_bytes = bytes, .reserve_bytes = bytes, .checked = true};
  }
  [[nodiscard]] exec::buffer<tuple, space_type> upload(std::vector<tuple> const& tuples) const {
    exec::buffer<tuple, space_type> copy(this->space(), tuples.size());
    exec::copy_in<tuple>(this->space(), copy.data(), tuples);
    return copy;
  }
  template <class T>
  [[nodiscard]] std::vector<T> download(exec::buffer<T, space_type> const& values, std::size_t n) const {
    return exec::copy_out(this->space(), values.data(), n);
  }
  // Nothing is left in a pool, and nothing was freed twice.
  static void expect_empty(A const& pool) {
    pool.check();
    EXPECT_EQ(pool.stats().bad_frees, 0u);
    if (A::family.reclaims) {
      EXPECT_EQ(pool.stats().granted, 0u);
    }
  }

  void expect_join(std::vector<tuple> const& r, std::vector<tuple> const& s, std::size_t page_bytes = 256) {
    expect_join(r, s, page_bytes, r.size(), s.size());
  }
  void expect_join(std::vector<tuple> const& r, std::vector<tuple> const& s, std::size_t page_bytes, std::size_t most_r,
                   std::size_t most_s) {
    std::vector<joined> const expected = serial_join(r, s);
    auto const on_r = upload(r);
    auto const on_s = upload(s);
    A pool(this->space(), pool_of(std::size_t{16} << 20));
    relational::join_memory memory(this->space(), most_r, most_s);
    relational::result_lists<joined, space_type> results(this->space(), memory.tiles(), page_bytes);
    for (int run = 0; run < 2; ++run) {
      relational::hash_join(memory, on_r.data(), r.size(), on_s.data(), s.size(), pool, results);
      EXPECT_EQ(results.lost(), 0u);
      EXPECT_EQ(results.count(), expected.size());
      auto const pairs = results.gather();
      EXPECT_TRUE(same_pairs(download(pairs, pairs.size()), expected)) << r.size() << " and " << s.size() << " tuples";
      results.free(pool);
      expect_empty(pool);
    }
    exec::buffer<joined, space_type> pairs(this->space());
    std::size_t const n = two_pass_join(memory, on_r.data(), r.size(), on_s.data(), s.size(), pairs);
    EXPECT_TRUE(same_pairs(download(pairs, n), expected)) << r.size() << " and " << s.size() << " tuples, two passes";
  }

  void expect_groups(std::vector<tuple> const& tuples, std::size_t page_bytes = 512,
                     std::size_t pool_bytes = std::size_t{16} << 20) {
    auto const on_space = upload(tuples);
    A pool(this->space(), pool_of(pool_bytes));
    relational::grouping by_key(this->space(), tuples.size(), page_bytes);
    relational::result_lists<group, space_type> results(this->space(), by_key.tiles(), page_bytes);
    for (int run = 0; run < 2; ++run) {
      EXPECT_EQ(by_key.run(on_space.data(), tuples.size(), pool, results), 0u);
      EXPECT_EQ(results.lost(), 0u);
      auto const groups = results.gather();
      EXPECT_TRUE(same_groups(download(groups, groups.size()), relational::serial_group_by(tuples)))
          << tuples.size() << " tuples, pages of " << page_bytes << " bytes";
      results.free(pool);
      expect_empty(pool);
    }
  }
};
TYPED_TEST_SUITE_P(relational_case);

TYPED_TEST_P(relational_case, join_of_all_sizes) {
  for (std::size_t const n : {0u, 1u, 31u, 33u, 1000u, 4000u}) {
    auto const keys = static_cast<std::uint32_t>(n + 1);
    this->expect_join(relational::uniform_tuples(n, keys, 1), relational::uniform_tuples(n, keys, 2));
  }
  this->expect_join(relational::uniform_tuples(3, 9, 3), relational::uniform_tuples(900, 9, 4));
  this->expect_join(relational::uniform_tuples(900, 9, 3), relational::uniform_tuples(3, 9, 4));
  this->expect_join(relational::uniform_tuples(70, 60, 3), relational::uniform_tuples(90, 60, 4), 256, 5000, 6000);
}

TYPED_TEST_P(relational_case, join_without_matches) {
  auto const r = relational::uniform_tuples(700, 1000, 1);
  std::vector<tuple> s = relational::uniform_tuples(700, 1000, 2);
  for (tuple& one : s) one.key += 1000;
  this->expect_join(r, s);
}

TYPED_TEST_P(relational_case, join_of_duplicates) {
  this->expect_join(relational::uniform_tuples(500, 40, 1), relational::uniform_tuples(400, 40, 2));
  this->expect_join(same_key(1100, 7), same_key(30, 7));  // more than a hash table has
  this->expect_join(same_key(30, 0xffffffff), same_key(1100, 0xffffffff));
}

TYPED_TEST_P(relational_case, join_with_small_and_large_pages) {
  for (std::size_t const page_bytes : {24u, 32u, 8192u})
    this->expect_join(relational::uniform_tuples(300, 60, 1), relational::uniform_tuples(300, 60, 2), page_bytes);
}

TYPED_TEST_P(relational_case, join_reports_lost_pairs) {
  using space_type = typename TypeParam::space_type;
  std::size_t const n = this->is_slow ? 500 : 1500;
  std::size_t const bytes = this->is_slow ? std::size_t{256} << 10 : std::size_t{2} << 20;
  auto const tuples = this->upload(same_key(n, 3));
  TypeParam pool(this->space(), this->pool_of(bytes));
  relational::join_memory memory(this->space(), n, n);
  relational::result_lists<joined, space_type> results(this->space(), memory.tiles(), 256);
  relational::hash_join(memory, tuples.data(), n, tuples.data(), n, pool, results);
  EXPECT_GT(results.lost(), 0u);
  EXPECT_GT(results.count(), 0u);
  EXPECT_EQ(results.lost() + results.count(), n * n);
  results.free(pool);
  EXPECT_EQ(results.lost(), 0u);
  this->expect_empty(pool);
  if (!TypeParam::family.reclaims) return;
  relational::hash_join(memory, tuples.data(), 50, tuples.data(), 50, pool, results);
  EXPECT_EQ(results.lost(), 0u);
  EXPECT_EQ(results.count(), 2500u);
}

TYPED_TEST_P(relational_case, groups_of_all_sizes) {
  for (std::size_t const n : {0u, 1u, 31u, 33u, 1000u, 5000u}) {
    this->expect_groups(relational::normal_tuples(n, 0x1p29, 1));
    this->expect_groups(relational::uniform_tuples(n, 0xffffffff, 2));
  }
}

TYPED_TEST_P(relational_case, groups_of_skewed_keys) {
  std::size_t const n = this->is_slow ? 3000 : 40'000;
  for (double const deviation : {0x1p20, 0x1p10, 100.0, 1.0})
    this->expect_groups(relational::normal_tuples(n, deviation, 1));
  this->expect_groups(both(same_key(n, 0xffffffff), same_key(5, 0)));
  this->expect_groups(both(same_key(2000, 0x01020304), relational::uniform_tuples(2000, 3000, 2)));
  // The third digit of keys tells them apart, or the last one.
  this->expect_groups(both(same_key(2000, 0x01020304), same_key(2000, 0x01020504)));
  this->expect_groups(both(same_key(2000, 0x01020304), same_key(2000, 0x01020305)));
}

TYPED_TEST_P(relational_case, groups_of_many_stripes) {
  if (this->is_slow) GTEST_SKIP() << "fibers are slow";
  std::size_t const n = scaled(700'000, 600'000);
  this->expect_groups(relational::normal_tuples(n, 0x1p29, 1), 512, std::size_t{256} << 20);
  this->expect_groups(same_key(n, 12345), 512, std::size_t{256} << 20);
}

TYPED_TEST_P(relational_case, groups_with_small_and_large_pages) {
  for (std::size_t const page_bytes : {32u, 64u, 4096u})
    this->expect_groups(relational::normal_tuples(2000, 0x1p12, 1), page_bytes);
}

TYPED_TEST_P(relational_case, group_by_reports_lost_tuples) {
  using space_type = typename TypeParam::space_type;
  std::size_t const n = this->is_slow ? 20'000 : 300'000;
  std::size_t const bytes = this->is_slow ? std::size_t{64} << 10 : std::size_t{2} << 20;
  for (double const deviation : {0x1p29, 50.0}) {
    std::vector<tuple> const tuples = relational::normal_tuples(n, deviation, 1);
    auto const on_space = this->upload(tuples);
    TypeParam pool(this->space(), this->pool_of(bytes));
    relational::grouping by_key(this->space(), n);
    relational::result_lists<group, space_type> results(this->space(), by_key.tiles(), 512);
    std::uint64_t const lost = by_key.run(on_space.data(), n, pool, results);
    EXPECT_GT(lost, 0u);
    auto const groups = results.gather();
    std::uint64_t found = 0;
    for (group const& one : this->download(groups, groups.size())) found += one.count;
    EXPECT_LE(found + lost, n);
    if (results.lost() == 0) {
      EXPECT_EQ(found + lost, n);
    }
    results.free(pool);
    this->expect_empty(pool);
    if (!TypeParam::family.reclaims) continue;
    EXPECT_EQ(by_key.run(on_space.data(), 10, pool, results), 0u);
    auto const few = results.gather();
    EXPECT_TRUE(same_groups(this->download(few, few.size()),
                            relational::serial_group_by({tuples.begin(), tuples.begin() + 10})));
  }
}

TYPED_TEST_P(relational_case, bad_pages_are_refused) {
  using space_type = typename TypeParam::space_type;
  for (std::size_t const bytes : {std::size_t{0}, std::size_t{16}, std::size_t{23}, (std::size_t{1} << 20) + 1}) {
    EXPECT_THROW((relational::grouping(this->space(), 10, bytes)), error);
    EXPECT_THROW((relational::result_lists<joined, space_type>(this->space(), 10, bytes)), error);
  }
}

REGISTER_TYPED_TEST_SUITE_P(relational_case, join_of_all_sizes, join_without_matches, join_of_duplicates,
                            join_with_small_and_large_pages, join_reports_lost_pairs, groups_of_all_sizes,
                            groups_of_skewed_keys, groups_of_many_stripes, groups_with_small_and_large_pages,
                            group_by_reports_lost_tuples, bad_pages_are_refused);

template <class Space>
using relational_allocators =
    ::testing::Types<alloc::ouroboros_s_p<Space>, alloc::ouroboros_vl_c<Space>, alloc::rw<Space>, alloc::corw<Space>,
                     alloc::crw<Space>, alloc::bump<Space>>;

}  // namespace wyrm::tests
