// SPDX-License-Identifier: Apache-2.0
// Tests simt_space itself: undefined behaviour on a GPU ends the program with a message; and the seed determines the
// order of lanes. To fix an order, lanes of one tile wait for each other here, which other code must not do.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../exec/converged_tile.hpp"
#include "../../exec/launch.hpp"
#include "../support/simt_space.hpp"

namespace wyrm::tests {

// Runs one tile of two lanes, which is enough for all tests here.
template <class F>
void run_two_lanes(F const& f) {
  exec::for_each_tile<2>(simt_space(1, 1, 1), 1, f);
}

struct different_collectives {
  template <class Tile>
  void operator()(Tile const& t, std::size_t) const {
    if (t.rank() == 0)
      (void)t.ballot(true);
    else
      (void)t.any(true);
  }
};

// Lane 1 is in the collective when lane 0 returns.
struct early_return {
  bool* ready;
  template <class Tile>
  void operator()(Tile const& t, std::size_t) const {
    if (t.rank() == 1) {
      *ready = true;
      t.sync();
    } else {
      for (unsigned attempt = 0; !*ready; ++attempt) t.backoff(attempt);
    }
  }
};

// Lane 1 has returned when lane 0 calls the collective.
struct late_call {
  bool* ready;
  template <class Tile>
  void operator()(Tile const& t, std::size_t) const {
    if (t.rank() == 1) {
      *ready = true;
      return;
    }
    for (unsigned attempt = 0; !*ready; ++attempt) t.backoff(attempt);
    (void)t.shfl(1, 0);
  }
};

// All lanes of a tile return after the same number of collectives, which differs between tiles; this is permitted.
struct uniform_return {
  template <class Tile>
  void operator()(Tile const& t, std::size_t i) const {
    for (std::size_t k = 0; k < i % 5; ++k) t.sync();
  }
};

class simt_death : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  bool ready_ = false;
};

TEST_F(simt_death, lanes_that_call_different_collectives) {
  EXPECT_DEATH(run_two_lanes(different_collectives{}),
               "simt_space: lanes of one tile call different collectives at the same time");
}

TEST_F(simt_death, a_lane_that_returns_while_others_wait) {
  EXPECT_DEATH(run_two_lanes(early_return{&ready_}),
               "simt_space: a lane returns while others of its tile wait for it in a collective");
}

TEST_F(simt_death, a_lane_that_calls_when_others_have_returned) {
  EXPECT_DEATH(run_two_lanes(late_call{&ready_}),
               "simt_space: a lane calls a collective that others of its tile will never call");
}

TEST(simt, lanes_may_return_at_different_collectives_in_different_tiles) {
  exec::for_each_tile<32>(simt_space(1, 2, 3), 200, uniform_return{});
}

struct record_order {
  std::vector<unsigned>* order;
  template <class Tile>
  void operator()(Tile const& t, std::size_t) const {
    order->push_back(t.rank());
    t.sync();
    order->push_back(t.rank());
  }
};

TEST(simt, the_seed_determines_the_order_of_lanes) {
  auto const order = [](std::uint64_t seed) {
    std::vector<unsigned> ranks;
    exec::for_each_tile<32>(simt_space(seed, 1, 1), 1, record_order{&ranks});
    return ranks;
  };
  std::vector<unsigned> const first = order(1);
  ASSERT_EQ(first.size(), 64u);
  EXPECT_EQ(order(1), first);
  EXPECT_NE(order(2), first);
  for (std::size_t half = 0; half < 2; ++half) {  // every lane calls the collective before any lane returns from it
    std::vector<bool> seen(32);
    for (std::size_t i = 0; i < 32; ++i) seen[first[half * 32 + i]] = true;
    EXPECT_EQ(seen, std::vector<bool>(32, true));
  }
}

// Each lane gathers in one of two branches, and records its branch, and the branches and the number of the lanes that
// it is together with.
struct gather_in_branches {
  struct record {
    unsigned branch = 0;
    unsigned size = 0;
    std::uint32_t others = 0;
  };
  record* records;
  template <class Tile>
  void operator()(Tile const& t, std::size_t i) const {
    record& r = records[i * 32 + t.rank()];
    r.branch = t.rank() % 3 == 0 ? 1 : 2;
    if (r.branch == 1) {
      note(exec::converged_tile::gather(records), r, 1);
    } else {
      note(exec::converged_tile::gather(records), r, 2);
    }
  }
  static void note(exec::converged_tile const& together, record& r, std::uint32_t branch) {
    r.size = together.size();
    r.others = exec::any_bits(together, branch);
  }
};

TEST(simt, lanes_gather_only_at_the_same_place_some_of_them_or_all) {
  constexpr std::size_t tiles = 200;
  std::vector<gather_in_branches::record> records(tiles * 32);
  exec::for_each_tile<32>(simt_space(1, 2, 3), tiles, gather_in_branches{records.data()});
  std::vector<std::size_t> of_size(33);
  for (auto const& r : records) {
    ASSERT_EQ(r.others, r.branch);
    ++of_size.at(r.size);
  }
  EXPECT_EQ(of_size[0], 0u);
  EXPECT_GT(of_size[1], 0u);   // lanes that are alone,
  EXPECT_GT(of_size[21], 0u);  // and all lanes of a branch
  EXPECT_GT(std::count_if(of_size.begin(), of_size.end(), [](std::size_t n) { return n > 0; }), 10);
}

// Lane 1 waits in its converged tile for lane 0, which has returned.
struct leaves_converged_tile {
  bool late;  // lane 0 leaves before the collective
  template <class Tile>
  void operator()(Tile const& t, std::size_t) const {
    exec::converged_tile const together = exec::converged_tile::gather(this);
    for (unsigned attempt = 0; t.rank() == (late ? 1 : 0) && attempt < 1000; ++attempt) t.backoff(attempt);
    if (t.rank() == 1) together.sync();
  }
};

TEST_F(simt_death, a_lane_that_leaves_a_converged_tile) {
  EXPECT_DEATH(
      {
        for (std::uint64_t seed = 1; seed < 100; ++seed)  // until chance brings both lanes together
          exec::for_each_tile<2>(simt_space(seed, 1, 1), 1, leaves_converged_tile{false});
      },
      "simt_space: a lane leaves a converged tile while others of it wait for it in a collective");
  EXPECT_DEATH(
      {
        for (std::uint64_t seed = 1; seed < 100; ++seed)
          exec::for_each_tile<2>(simt_space(seed, 1, 1), 1, leaves_converged_tile{true});
      },
      "simt_space: a lane calls a collective that others of its converged tile will never call");
}

}  // namespace wyrm::tests
