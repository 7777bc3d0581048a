// SPDX-License-Identifier: Apache-2.0
// One value more or less among ascending ones, beside std::set.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "../../graph/update/sorted_values.hpp"

namespace wyrm::tests {

namespace {

struct way {
  char const* name;
  bool (*insert)(graph::vertex_id*, std::uint32_t, graph::vertex_id);
  bool (*erase)(graph::vertex_id*, std::uint32_t, graph::vertex_id);
};
constexpr way ways[] = {{"as the processor can", graph::detail::insert_value, graph::detail::erase_value},
                        {"portable", graph::detail::portable::insert_value, graph::detail::portable::erase_value}};

constexpr graph::vertex_id mark = 0xabcdabcd;  // before and behind the values

/// Values between two marks, and room for so many.
struct guarded {
  explicit guarded(std::set<graph::vertex_id> const& of, std::size_t room) : all(room + 2, mark) {
    std::size_t i = 1;
    for (graph::vertex_id const v : of) all[i++] = v;
  }
  graph::vertex_id* data() { return all.data() + 1; }
  std::vector<graph::vertex_id> all;
};

/// Inserts and erases one value, which may be there or not.
void change(way const& how, std::set<graph::vertex_id> const& before, graph::vertex_id value) {
  auto const n = static_cast<std::uint32_t>(before.size());
  std::set<graph::vertex_id> with = before;
  bool const is_new = with.insert(value).second;
  std::set<graph::vertex_id> without = before;
  without.erase(value);

  guarded more(before, with.size());
  EXPECT_EQ(how.insert(more.data(), n, value), is_new) << value << " among " << n;
  EXPECT_EQ(more.all, guarded(with, with.size()).all) << value << " among " << n;

  guarded fewer(before, n);
  EXPECT_EQ(how.erase(fewer.data(), n, value), !is_new) << value << " among " << n;
  for (std::size_t i = without.size(); i < n; ++i) fewer.data()[i] = mark;  // what is left behind does not matter
  EXPECT_EQ(fewer.all, guarded(without, n).all) << value << " among " << n;
}

}  // namespace

TEST(ascending_test, every_place_among_up_to_100) {
  for (way const& how : ways)
    for (std::uint32_t n = 0; n <= 100; ++n) {
      SCOPED_TRACE(std::string(how.name));
      std::set<graph::vertex_id> odd;  // every place is there, before, between and behind
      for (std::uint32_t i = 0; i < n; ++i) odd.insert(2 * i + 1);
      for (graph::vertex_id v = 0; v <= 2 * n; ++v) change(how, odd, v);
    }
}

TEST(ascending_test, random_values_of_all_bits) {
  std::mt19937 random(1);
  for (way const& how : ways)
    for (std::uint32_t const n : {1u, 15u, 16u, 17u, 63u, 64u, 65u, 127u, 129u, 500u, 5000u}) {
      SCOPED_TRACE(std::string(how.name));
      std::set<graph::vertex_id> some{0, 0x7fffffff, 0x80000000, 0xfffffffe};  // no vertex has the id 0xffffffff
      while (some.size() < n) some.insert(static_cast<graph::vertex_id>(random() % 0xffffffff));
      for (int i = 0; i < 40; ++i) change(how, some, static_cast<graph::vertex_id>(random() % 0xffffffff));
      int left = 40;
      for (graph::vertex_id const v : some)
        if (left-- > 0) change(how, some, v);
      change(how, some, *some.rbegin());
    }
}

}  // namespace wyrm::tests
