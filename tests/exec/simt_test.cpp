// SPDX-License-Identifier: Apache-2.0
// The test space itself: what would be undefined on a GPU ends the program here, with a message; and seeds order the
// lanes. Lanes of one tile wait for each other in here, which no other code may, to fix the order of what they do.
#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "../../exec/launch.hpp"
#include "../support/simt_space.hpp"

namespace wyrm::tests {

// One tile of two lanes is enough for all of these.
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

// Lane 1 has returned when lane 0 comes to the collective.
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

// Lanes that leave together, after another number of collectives in each tile, are no mistake.
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

TEST(simt, lanes_that_return_together_are_no_mistake) {
  exec::for_each_tile<32>(simt_space(1, 2, 3), 200, uniform_return{});
}

struct note_order {
  std::vector<unsigned>* order;
  template <class Tile>
  void operator()(Tile const& t, std::size_t) const {
    order->push_back(t.rank());
    t.sync();
    order->push_back(t.rank());
  }
};

TEST(simt, the_seed_orders_the_lanes) {
  auto const order = [](std::uint64_t seed) {
    std::vector<unsigned> ranks;
    exec::for_each_tile<32>(simt_space(seed, 1, 1), 1, note_order{&ranks});
    return ranks;
  };
  std::vector<unsigned> const first = order(1);
  ASSERT_EQ(first.size(), 64u);
  EXPECT_EQ(order(1), first);
  EXPECT_NE(order(2), first);
  for (std::size_t half = 0; half < 2; ++half) {  // every lane comes to the collective before one leaves it
    std::vector<bool> seen(32);
    for (std::size_t i = 0; i < 32; ++i) seen[first[half * 32 + i]] = true;
    EXPECT_EQ(seen, std::vector<bool>(32, true));
  }
}

}  // namespace wyrm::tests
