// SPDX-License-Identifier: Apache-2.0
// Compares insertion and erasure of a value in a sorted array with std::set.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "../../graph/update/sorted_values.hpp"
#include "../support/seed.hpp"

namespace wyrm::tests {

namespace {

struct variant {
  char const* name;
  bool (*insert)(graph::vertex_id*, std::uint32_t, graph::vertex_id);
  bool (*erase)(graph::vertex_id*, std::uint32_t, graph::vertex_id);
};
constexpr variant variants[] = {
    {"best for the processor", graph::detail::insert_value, graph::detail::erase_value},
    {"portable", graph::detail::portable::insert_value, graph::detail::portable::erase_value}};

constexpr graph::vertex_id mark = 0xabcdabcd;  // before and after the values

/// An array with room for `room` values between two marks.
struct guarded {
  explicit guarded(std::set<graph::vertex_id> const& of, std::size_t room) : all(room + 2, mark) {
    std::size_t i = 1;
    for (graph::vertex_id const v : of) all[i++] = v;
  }
  graph::vertex_id* data() { return all.data() + 1; }
  std::vector<graph::vertex_id> all;
};

/// Inserts and erases one value, which is present or not.
void change(variant const& tested, std::set<graph::vertex_id> const& before, graph::vertex_id value) {
  auto const n = static_cast<std::uint32_t>(before.size());
  std::set<graph::vertex_id> with = before;
  bool const is_new = with.insert(value).second;
  std::set<graph::vertex_id> without = before;
  without.erase(value);

  guarded more(before, with.size());
  EXPECT_EQ(tested.insert(more.data(), n, value), is_new) << value << " among " << n;
  EXPECT_EQ(more.all, guarded(with, with.size()).all) << value << " among " << n;

  guarded fewer(before, n);
  EXPECT_EQ(tested.erase(fewer.data(), n, value), !is_new) << value << " among " << n;
  for (std::size_t i = without.size(); i < n; ++i) fewer.data()[i] = mark;  // unspecified contents
  EXPECT_EQ(fewer.all, guarded(without, n).all) << value << " among " << n;
}

}  // namespace

TEST(ascending_test, every_position_among_up_to_100_values) {
  for (variant const& tested : variants)
    for (std::uint32_t n = 0; n <= 100; ++n) {
      SCOPED_TRACE(std::string(tested.name));
      std::set<graph::vertex_id> odd;  // values before, between and after these cover every position
      for (std::uint32_t i = 0; i < n; ++i) odd.insert(2 * i + 1);
      for (graph::vertex_id v = 0; v <= 2 * n; ++v) change(tested, odd, v);
    }
}

TEST(ascending_test, random_values_of_all_bits) {
  std::mt19937 random(seeded(1));
  for (variant const& tested : variants)
    for (std::uint32_t const n : {1u, 15u, 16u, 17u, 63u, 64u, 65u, 127u, 129u, 500u, 5000u}) {
      SCOPED_TRACE(std::string(tested.name));
      std::set<graph::vertex_id> some{0, 0x7fffffff, 0x80000000, 0xfffffffe};  // no vertex has the id 0xffffffff
      while (some.size() < n) some.insert(static_cast<graph::vertex_id>(random() % 0xffffffff));
      for (int i = 0; i < 40; ++i) change(tested, some, static_cast<graph::vertex_id>(random() % 0xffffffff));
      int left = 40;
      for (graph::vertex_id const v : some)
        if (left-- > 0) change(tested, some, v);
      change(tested, some, *some.rbegin());
    }
}

}  // namespace wyrm::tests
