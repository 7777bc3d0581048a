// SPDX-License-Identifier: Apache-2.0
// Tests teams: after each sync(), every tile reads what the others wrote before it.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "../../exec/atomic.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../../exec/tile.hpp"
#include "../support/spaces.hpp"

namespace wyrm::tests {

/// Records the lanes and the team of each tile.
struct record_team {
  std::uint32_t* lanes;  // of tiles
  std::uint32_t* strays;
  std::uint32_t tiles;
  template <class Tile, class Team>
  WYRM_HD void operator()(Tile const& t, Team const& team) const {
    if (team.tiles() != tiles || team.rank() >= tiles)
      exec::atomic_ref<std::uint32_t>(*strays).fetch_add(1, exec::relaxed);
    else
      exec::atomic_ref<std::uint32_t>(lanes[team.rank()]).fetch_add(1u << t.rank(), exec::relaxed);
  }
};

/// Inclusive prefix sums, by steps of which each adds the value so far below: all values are read and written in each
/// step, by plain accesses, and the two arrays swap.
struct sum_prefixes {
  std::uint64_t* from;
  std::uint64_t* to;
  std::size_t n;
  template <class Tile, class Team>
  WYRM_HD void operator()(Tile const& t, Team const& team) const {
    std::uint64_t const* now = from;
    std::uint64_t* next = to;
    for (std::size_t below = 1; below < n; below *= 2) {
      for (std::size_t i = team.rank() * Tile::size() + t.rank(); i < n; i += std::size_t{team.tiles()} * Tile::size())
        next[i] = now[i] + (i >= below ? now[i - below] : 0);
      team.sync();
      std::uint64_t* const done = next;
      next = const_cast<std::uint64_t*>(now);
      now = done;
    }
  }
};

/// Many steps: a tile gets the value of the tile above it, and adds its own rank. Each tile counts the steps until a
/// sum that all tiles add to reaches a bound; the count of the next step is reset meanwhile.
struct pass_values {
  std::uint32_t* values;  // of tiles, twice
  std::uint32_t* counts;  // 3, in turn
  std::uint32_t* steps;   // of tiles
  std::uint32_t most;
  template <class Tile, class Team>
  WYRM_HD void operator()(Tile const& t, Team const& team) const {
    std::uint32_t const above = team.rank() + 1 < team.tiles() ? team.rank() + 1 : 0;
    std::uint32_t step = 0;
    for (; counts[step % 3] < most; ++step) {
      if (t.rank() == 0) {
        values[(step + 1) % 2 * team.tiles() + team.rank()] = values[step % 2 * team.tiles() + above] + team.rank();
        exec::atomic_ref<std::uint32_t>(counts[(step + 1) % 3]).fetch_add(step + 1, exec::relaxed);
        if (team.rank() == 0) counts[(step + 2) % 3] = 0;
      }
      team.sync();
    }
    if (t.rank() == 0) steps[team.rank()] = step;
  }
};

struct count_part {
  std::uint32_t* tiles;
  template <class Tile, class Team>
  WYRM_HD void operator()(Tile const& t, Team const& team) const {
    if (team.rank() == 0 && t.rank() == 0) *tiles = team.tiles_of_part();
  }
};

/// The part takes steps while the others wait, and then all of them do: in each step, a tile adds the value of the tile
/// above it to its own.
struct take_steps_in_turn {
  std::uint32_t* values;  // of tiles, twice
  std::uint32_t turns;
  std::uint32_t steps;  // of the part, in each turn; even
  template <class Tile, class Team>
  WYRM_HD void operator()(Tile const& t, Team const& team) const {
    for (std::uint32_t turn = 0; turn < turns; ++turn) {
      if (team.in_part()) take(t, team.part(), team.tiles(), steps);
      team.sync();
      take(t, team, team.tiles(), 2);
    }
  }

 private:
  template <class Tile, class Team>
  WYRM_HD void take(Tile const& t, Team const& team, unsigned stride, std::uint32_t n) const {
    std::uint32_t const above = team.rank() + 1 < team.tiles() ? team.rank() + 1 : 0;
    for (std::uint32_t i = 0; i < n; ++i) {
      std::uint32_t const* const now = values + i % 2 * stride;
      if (t.rank() == 0) values[(i + 1) % 2 * stride + team.rank()] = now[team.rank()] + now[above];
      team.sync();
    }
  }
};

template <class Space>
class team : public space_test<Space> {
 protected:
  void SetUp() override {
    space_test<Space>::SetUp();
    if (!this->IsSkipped() && exec::team_tiles<8>(make_space<Space>()) == 0)
      GTEST_SKIP() << "the device is too small for teams";
  }
};
TYPED_TEST_SUITE_P(team);

TYPED_TEST_P(team, has_all_lanes_of_all_tiles_once) {
  auto const space = make_space<TypeParam>();
  auto const check = [&]<unsigned W>(std::integral_constant<unsigned, W>) {
    std::size_t const tiles = exec::team_tiles<W>(space);
    exec::buffer<std::uint32_t, TypeParam> words(space, tiles + 1);
    space.fill(words.data(), 0, words.bytes());
    exec::for_team<W>(space, record_team{words.data(), words.data() + tiles, static_cast<std::uint32_t>(tiles)});
    auto expected = std::vector<std::uint32_t>(tiles, 0xffffffffu >> (32 - TypeParam::template tile_size<W>));
    expected.push_back(0);
    EXPECT_EQ(exec::copy_out(space, words.data(), tiles + 1), expected);
  };
  check(std::integral_constant<unsigned, 8>{});
  check(std::integral_constant<unsigned, 32>{});
}

TYPED_TEST_P(team, reads_what_other_tiles_wrote_before_sync) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed)
    for (std::size_t const n : {std::size_t{1}, std::size_t{2}, std::size_t{777}, scaled(30'000, 1000)}) {
      auto const space = make_space<TypeParam>(seed);
      std::vector<std::uint64_t> values(n);
      std::vector<std::uint64_t> sums(n);
      std::uint64_t sum = 0;
      for (std::size_t i = 0; i < n; ++i) {
        values[i] = i * 7 % 13;
        sums[i] = sum += values[i];
      }
      exec::buffer<std::uint64_t, TypeParam> from(space, n);
      exec::buffer<std::uint64_t, TypeParam> to(space, n);
      exec::copy_in<std::uint64_t>(space, from.data(), values);
      exec::for_team<8>(space, sum_prefixes{from.data(), to.data(), n});
      unsigned steps = 0;
      while ((std::size_t{1} << steps) < n) ++steps;
      ASSERT_EQ(exec::copy_out(space, steps % 2 == 0 ? from.data() : to.data(), n), sums);
    }
}

TYPED_TEST_P(team, takes_the_same_steps_in_all_tiles) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    auto const space = make_space<TypeParam>(seed);
    auto const tiles = static_cast<std::uint32_t>(exec::team_tiles<8>(space));
    auto const steps = static_cast<std::uint32_t>(scaled(3000, 30));
    std::vector<std::uint32_t> expected(tiles);
    for (std::uint32_t s = 0; s < steps; ++s) {
      std::vector<std::uint32_t> next(tiles);
      for (std::uint32_t i = 0; i < tiles; ++i) next[i] = expected[(i + 1) % tiles] + i;
      expected = next;
    }
    exec::buffer<std::uint32_t, TypeParam> words(space, std::size_t{3} * tiles + 3);
    space.fill(words.data(), 0, words.bytes());
    std::uint32_t* const counts = words.data() + std::size_t{3} * tiles;
    std::uint32_t* const taken = words.data() + std::size_t{2} * tiles;
    exec::for_team<8>(space, pass_values{words.data(), counts, taken, steps * tiles});
    EXPECT_EQ(exec::copy_out(space, taken, tiles), std::vector<std::uint32_t>(tiles, steps));
    EXPECT_EQ(exec::copy_out(space, words.data() + std::size_t{steps % 2} * tiles, tiles), expected);
  }
}

TYPED_TEST_P(team, has_a_part_that_works_while_others_wait) {
  auto const space = make_space<TypeParam>();
  auto const tiles = static_cast<std::uint32_t>(exec::team_tiles<8>(space));
  exec::buffer<std::uint32_t, TypeParam> values(space, std::size_t{2} * tiles + 1);
  exec::for_team<8>(space, count_part{values.data()});
  std::uint32_t const part = exec::read(space, values.data());
  ASSERT_TRUE(part >= 1 && part <= tiles);
  std::vector<std::uint32_t> expected(std::size_t{2} * tiles, 1);
  exec::copy_in<std::uint32_t>(space, values.data(), expected);
  std::uint32_t const turns = 20;
  std::uint32_t const steps = 30;
  exec::for_team<8>(space, take_steps_in_turn{values.data(), turns, steps});
  auto const take = [&](std::uint32_t n, std::uint32_t times) {
    for (std::uint32_t s = 0; s < times; ++s)
      for (std::uint32_t i = 0; i < n; ++i) {
        std::uint32_t const* const now = expected.data() + std::size_t{s % 2} * tiles;
        expected[std::size_t{(s + 1) % 2} * tiles + i] = now[i] + now[(i + 1) % n];
      }
  };
  for (std::uint32_t t = 0; t < turns; ++t) {
    take(part, steps);
    take(tiles, 2);
  }
  EXPECT_EQ(exec::copy_out(space, values.data(), expected.size()), expected);
}

REGISTER_TYPED_TEST_SUITE_P(team, has_all_lanes_of_all_tiles_once, reads_what_other_tiles_wrote_before_sync,
                            takes_the_same_steps_in_all_tiles, has_a_part_that_works_while_others_wait);

}  // namespace wyrm::tests
