// SPDX-License-Identifier: Apache-2.0
// Compares changes of sorted lists with std::set, std::sort and std::lower_bound.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "../../graph/update/sorted_values.hpp"
#include "../support/seed.hpp"

namespace wyrm::tests {

namespace {

using graph::vertex_id;
using list = std::vector<vertex_id>;

struct variant {
  char const* name;
  decltype(&graph::detail::sort_values) sort;
  decltype(&graph::detail::insert_few) insert_few;
  decltype(&graph::detail::erase_few) erase_few;
  decltype(&graph::detail::find_lower_bounds) find;
  decltype(&graph::detail::insert_at) insert_at;
  decltype(&graph::detail::erase_at) erase_at;
};
namespace best = graph::detail;
namespace portable = graph::detail::portable;
constexpr variant variants[] = {
    {"best for the processor", best::sort_values, best::insert_few, best::erase_few, best::find_lower_bounds,
     best::insert_at, best::erase_at},
#if defined(__x86_64__)
    {"4 at once", portable::sort_values, best::in_fours::insert_few, best::in_fours::erase_few,
     portable::find_lower_bounds, portable::insert_at, portable::erase_at},
#endif
    {"portable", portable::sort_values, portable::insert_few, portable::erase_few, portable::find_lower_bounds,
     portable::insert_at, portable::erase_at}};

constexpr vertex_id mark = 0xabcdabcd;  // before and after the values

/// An array with room for `room` values between two marks.
struct guarded {
  guarded(list const& of, std::size_t room) : all(room + 2, mark) { std::copy(of.begin(), of.end(), data()); }
  vertex_id* data() { return all.data() + 1; }
  /// The first n values, if nothing was written after `room` values or before the first one.
  list values(std::size_t n) {
    EXPECT_EQ(all.front(), mark);
    EXPECT_EQ(all.back(), mark);
    return {data(), data() + n};
  }
  list all;
};

list ascending(std::set<vertex_id> const& of) { return {of.begin(), of.end()}; }
std::uint32_t size_of(list const& of) { return static_cast<std::uint32_t>(of.size()); }

/// Pages have room for a multiple of 4 values.
std::size_t room_for(std::size_t n) { return (n + 3) / 4 * 4; }

/// Inserts and erases values, which may repeat, in place and to another list.
void change_few(variant const& tested, std::set<vertex_id> const& before, list const& values) {
  list const there = ascending(before);
  std::set<vertex_id> with = before;
  std::set<vertex_id> without = before;
  std::uint32_t inserted = 0;
  std::uint32_t erased = 0;
  for (std::uint32_t k = 0; k < values.size(); ++k) {
    inserted |= static_cast<std::uint32_t>(with.insert(values[k]).second) << k;
    erased |= static_cast<std::uint32_t>(without.erase(values[k])) << k;
  }
  for (bool const in_place : {false, true}) {
    guarded from(there, room_for(in_place ? with.size() : there.size()));
    guarded other({}, room_for(with.size()));
    guarded& to = in_place ? from : other;
    EXPECT_EQ(tested.insert_few(from.data(), size_of(there), values.data(), size_of(values), to.data()), inserted);
    EXPECT_EQ(to.values(with.size()), ascending(with));
  }
  for (bool const in_place : {false, true}) {
    guarded from(there, room_for(there.size()));
    guarded other({}, room_for(there.size()));
    guarded& to = in_place ? from : other;
    EXPECT_EQ(tested.erase_few(from.data(), size_of(there), values.data(), size_of(values), to.data()), erased);
    EXPECT_EQ(to.values(without.size()), ascending(without));
  }
}

/// Looks up ascending values, inserts those that are new, and erases those that are present.
void change_many(variant const& tested, std::set<vertex_id> const& before, std::set<vertex_id> const& values) {
  list const there = ascending(before);
  list const searched = ascending(values);
  std::vector<std::uint32_t> at(values.size());
  tested.find(there.data(), size_of(there), searched.data(), size_of(searched), at.data());
  list added;
  std::vector<std::uint32_t> places;
  std::vector<std::uint32_t> removed;
  for (std::size_t k = 0; k < searched.size(); ++k) {
    auto const expected = std::lower_bound(there.begin(), there.end(), searched[k]) - there.begin();
    ASSERT_EQ(at[k], expected) << searched[k];
    if (before.count(searched[k]) != 0) {
      removed.push_back(at[k]);
    } else {
      places.push_back(at[k] + size_of(added));
      added.push_back(searched[k]);
    }
  }
  std::set<vertex_id> with = before;
  with.insert(values.begin(), values.end());
  list without;
  std::set_difference(there.begin(), there.end(), searched.begin(), searched.end(), std::back_inserter(without));
  for (bool const in_place : {false, true}) {
    guarded from(there, in_place ? with.size() : there.size());
    guarded other({}, with.size());
    guarded& to = in_place ? from : other;
    tested.insert_at(to.data(), from.data(), size_of(there), added.data(), places.data(), size_of(added));
    EXPECT_EQ(to.values(with.size()), ascending(with));
    guarded fewer(there, there.size());
    guarded rest({}, without.size());
    guarded& left = in_place ? fewer : rest;
    tested.erase_at(left.data(), fewer.data(), size_of(there), removed.data(), size_of(removed));
    EXPECT_EQ(left.values(without.size()), without);
  }
}

}  // namespace

TEST(ascending_test, every_position_in_a_register) {
  for (variant const& tested : variants)
    for (std::uint32_t n = 0; n < graph::detail::few_values; ++n) {
      SCOPED_TRACE(std::string(tested.name) + ", " + std::to_string(n));
      std::set<vertex_id> odd;  // values before, between and after these cover every position
      for (std::uint32_t i = 0; i < n; ++i) odd.insert(2 * i + 1);
      for (vertex_id v = 0; v <= 2 * n; ++v) change_few(tested, odd, {v});
      for (vertex_id v = 0; v <= 2 * n && n < 14; ++v)
        for (vertex_id w = 0; w <= 2 * n; ++w) change_few(tested, odd, {v, w});
    }
}

TEST(ascending_test, some_values_in_a_register) {
  std::mt19937 random(seeded(1));
  for (variant const& tested : variants) {
    SCOPED_TRACE(std::string(tested.name));
    for (int round = 0; round < 5000; ++round) {
      std::uint32_t const range = round % 2 == 0 ? 20 : 0xffffffff;
      std::set<vertex_id> some;
      for (auto i = static_cast<unsigned>(random() % 17); i > 0; --i)
        some.insert(static_cast<vertex_id>(random() % range));
      list values(random() % (17 - some.size()));
      for (vertex_id& v : values) v = static_cast<vertex_id>(random() % range);
      change_few(tested, some, values);
    }
    std::set<vertex_id> const ends{0, 0x7fffffff, 0x80000000, 0xfffffffe};  // no vertex has the id 0xffffffff
    change_few(tested, {}, ascending(ends));
    change_few(tested, ends, ascending(ends));
    change_few(tested, {1, 0x90000000}, {0xfffffffe, 0, 0x80000000, 0x7fffffff, 0xfffffffe});
  }
}

TEST(ascending_test, lists_of_any_length) {
  std::mt19937 random(seeded(2));
  for (variant const& tested : variants)
    for (std::uint32_t const n :
         {0u, 1u, 4u, 15u, 16u, 17u, 31u, 33u, 63u, 64u, 65u, 80u, 81u, 127u, 129u, 500u, 5000u})
      for (std::uint32_t const changes : {0u, 1u, 2u, 15u, 16u, 17u, 100u, 3000u})
        for (std::uint32_t const range : {6000u, 0xffffffffu}) {
          SCOPED_TRACE(std::string(tested.name) + ", " + std::to_string(n) + " and " + std::to_string(changes));
          std::set<vertex_id> some;
          std::set<vertex_id> values;
          while (some.size() < n) some.insert(static_cast<vertex_id>(random() % range));
          list const there = ascending(some);
          while (values.size() < changes) {
            bool const present = n > changes && random() % 2 == 0;
            values.insert(present ? there[random() % n] : static_cast<vertex_id>(random() % range));
          }
          change_many(tested, some, values);
        }
}

TEST(ascending_test, sort_with_repetitions) {
  std::mt19937 random(seeded(3));
  for (variant const& tested : variants)
    for (std::uint32_t n = 0; n < 3000; n += n < 300 ? 1 : 100)
      for (std::uint32_t const range : {1u, 10u, 300u, 70'000u, 0xffffffffu}) {
        list values(n);
        for (vertex_id& v : values) v = static_cast<vertex_id>(random() % range);
        list expected = values;
        std::sort(expected.begin(), expected.end());
        guarded mine(values, n);
        guarded spare({}, n);
        vertex_id const* const sorted = tested.sort(mine.data(), spare.data(), n);
        guarded& result = sorted == mine.data() ? mine : spare;
        ASSERT_EQ(sorted, result.data());
        ASSERT_EQ(result.values(n), expected) << tested.name << ": " << n << " values below " << range;
        (void)mine.values(n);
        (void)spare.values(n);
      }
}

}  // namespace wyrm::tests
