// SPDX-License-Identifier: Apache-2.0
// The arrangement of the lanes of a warp, compared with a list of units that is dealt out round by round; Eq. 1 and 2
// of the paper; and arrays in interleaved blocks.
#include "../../alloc/align/arrangement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "../../alloc/align/interleaved_block.hpp"
#include "../support/seed.hpp"

namespace wyrm::tests {

using namespace alloc;

constexpr std::uint64_t kib = 1024;

static_assert(sizeof(interleaved_block) == 32 && std::is_trivially_copyable_v<interleaved_block>);
static_assert(sizeof(lane_table) == 1200 && std::is_trivially_copyable_v<lane_table>);
static_assert(std::random_access_iterator<lane_view<int>::iterator>);
static_assert(std::random_access_iterator<lane_view<int const>::iterator>);
static_assert(arrangement(100 * kib, 32, lane_order::ascending).block_bytes() == 32 * 100 * kib);

/// The lanes in the order of their turns, as the paper lists them.
std::vector<unsigned> turns(lane_order order, unsigned lanes) {
  std::vector<unsigned> all(lanes);
  std::iota(all.begin(), all.end(), 0u);
  if (order == lane_order::even_earlier)
    std::stable_partition(all.begin(), all.end(), [](unsigned lane) { return lane < 2 || lane % 2 == 0; });
  return all;
}

struct unit_of_lane {
  unsigned lane;
  std::uint64_t unit;
};
/// The units of the block one after the other, each with the lane and the unit of the lane that it is.
std::vector<unit_of_lane> deal(std::vector<std::uint64_t> const& bytes, lane_order order) {
  auto lanes = turns(order, static_cast<unsigned>(bytes.size()));
  auto const units = [&](unsigned lane) { return (bytes[lane] + 4 * kib - 1) / (4 * kib); };
  std::stable_sort(lanes.begin(), lanes.end(), [&](unsigned a, unsigned b) { return units(a) / 16 > units(b) / 16; });
  std::vector<unit_of_lane> block;
  std::vector<std::uint64_t> given(bytes.size());
  auto const give = [&](unsigned lane, std::uint64_t count) {
    for (std::uint64_t n = 0; n < count; ++n) block.push_back({lane, given[lane]++});
  };
  for (bool more = true; more;) {
    more = false;
    for (unsigned const lane : lanes)
      if (units(lane) - given[lane] >= 16) {
        give(lane, 16);
        more = true;
      }
  }
  for (std::uint64_t const segment : {8u, 4u, 2u, 1u})
    for (unsigned const lane : lanes)
      if (units(lane) - given[lane] >= segment) give(lane, segment);
  return block;
}

/// Every unit of the block has one owner, which is the one of the model, and the inverse finds it.
void expect_as_dealt(arrangement const& arranged, std::vector<std::uint64_t> const& bytes, lane_order order) {
  auto const block = deal(bytes, order);
  ASSERT_EQ(arranged.lanes(), bytes.size());
  for (unsigned lane = 0; lane < bytes.size(); ++lane) ASSERT_EQ(arranged.bytes(lane), bytes[lane]);
  ASSERT_EQ(arranged.block_bytes(), block.size() * 4 * kib);
  for (std::uint64_t unit = 0; unit < block.size(); ++unit) {
    auto const [lane, of_lane] = block[unit];
    for (std::uint64_t const within : {std::uint64_t{0}, 4 * kib - 1}) {
      ASSERT_EQ(arranged.offset(lane, of_lane * 4 * kib + within), unit * 4 * kib + within)
          << "lane " << lane << ", its unit " << of_lane;
      ASSERT_EQ(arranged.position(unit * 4 * kib + within), (lane_position{lane, of_lane * 4 * kib + within}))
          << "unit " << unit;
    }
  }
}

class arrangement_of_lanes : public ::testing::TestWithParam<lane_order> {
 protected:
  lane_order order_ = GetParam();
};

TEST_P(arrangement_of_lanes, places_are_turns) {
  for (unsigned lanes = 1; lanes <= 32; ++lanes) {
    auto const expected = turns(order_, lanes);
    for (unsigned place = 0; place < lanes; ++place) {
      EXPECT_EQ(lane_at_place(order_, place, lanes), expected[place]);
      EXPECT_EQ(place_of_lane(order_, expected[place], lanes), place);
    }
  }
}

TEST_P(arrangement_of_lanes, equal_requests) {
  for (unsigned lanes = 1; lanes <= 32; ++lanes)
    for (std::uint64_t const bytes : {std::uint64_t{1}, 4 * kib, 4 * kib + 1, 44 * kib, 60 * kib + 1, 64 * kib,
                                      65 * kib, 124 * kib, 256 * kib, 1000 * kib + 5}) {
      SCOPED_TRACE(std::to_string(lanes) + " lanes, " + std::to_string(bytes) + " bytes");
      expect_as_dealt({bytes, lanes, order_}, std::vector<std::uint64_t>(lanes, bytes), order_);
    }
}

// A table of equal requests describes the same arrangement as no table.
TEST_P(arrangement_of_lanes, equal_requests_in_a_table) {
  lane_table table;
  for (unsigned lanes = 1; lanes <= 32; ++lanes) {
    std::vector<std::uint64_t> const bytes(lanes, 300 * kib);
    table.enter_all(bytes, order_);
    expect_as_dealt({&table, lanes, order_}, bytes, order_);
  }
}

TEST_P(arrangement_of_lanes, different_requests) {
  std::mt19937_64 random(seeded(401));
  for (unsigned lanes = 1; lanes <= 32; ++lanes)
    for (std::uint64_t const most : {9 * kib, 200 * kib, 600 * kib}) {
      SCOPED_TRACE(std::to_string(lanes) + " lanes, up to " + std::to_string(most) + " bytes");
      std::vector<std::uint64_t> bytes(lanes);
      // Some lanes ask for nothing, and some for as much as others.
      for (auto& b : bytes) b = random() % 5 == 0 ? 0 : random() % 3 == 0 ? most : 1 + random() % most;
      lane_table table;
      table.enter_all(bytes, order_);
      expect_as_dealt({&table, lanes, order_}, bytes, order_);
    }
}

TEST_P(arrangement_of_lanes, one_lane_of_many_has_memory) {
  for (unsigned const lane : {0u, 7u, 31u}) {
    std::vector<std::uint64_t> bytes(32);
    bytes[lane] = 150 * kib;
    lane_table table;
    table.enter_all(bytes, order_);
    expect_as_dealt({&table, 32, order_}, bytes, order_);
  }
}

// The lanes of a warp in lockstep touch one contiguous range of tiles, whatever offset they access.
TEST_P(arrangement_of_lanes, equal_offsets_lie_together) {
  arrangement const arranged(2048 * kib, 32, order_);
  for (std::uint64_t at = 0; at < 2048 * kib; at += 36 * kib) {
    std::uint64_t lowest = ~std::uint64_t{0};
    std::uint64_t highest = 0;
    for (unsigned lane = 0; lane < 32; ++lane) {
      lowest = std::min(lowest, arranged.offset(lane, at) / (64 * kib));
      highest = std::max(highest, arranged.offset(lane, at) / (64 * kib));
    }
    EXPECT_EQ(highest - lowest, 31u);
    EXPECT_EQ(lowest % 32, 0u);  // one VABlock of 2 MiB
  }
}

INSTANTIATE_TEST_SUITE_P(orders, arrangement_of_lanes,
                         ::testing::Values(lane_order::ascending, lane_order::even_earlier), [](auto const& info) {
                           return info.param == lane_order::ascending ? "ascending" : "even_earlier";
                         });

// Eq. 1 and 2 with the unit of 64 KiB: UVM_addr = User_addr + (OB x WS + Lane_ID - OB) x 64 KiB, where OB = OF / 64
// KiB.
TEST(arrangement, is_equation_2) {
  for (unsigned lanes = 1; lanes <= 32; ++lanes) {
    arrangement const arranged(512 * kib, lanes, lane_order::ascending);
    for (unsigned lane = 0; lane < lanes; ++lane)
      for (std::uint64_t of = 0; of < 512 * kib; of += 1000) {
        std::uint64_t const ob = of / (64 * kib);
        EXPECT_EQ(arranged.offset(lane, of), of + (ob * lanes + lane - ob) * 64 * kib);
      }
  }
}

class interleaved : public ::testing::Test {
 protected:
  interleaved() {
    table_.enter_all(bytes_, lane_order::ascending);
    arrangement const arranged(&table_, 4, lane_order::ascending);
    memory_ = std::make_unique<std::byte[]>(arranged.block_bytes());
    block_ = {memory_.get(), arranged};
  }
  std::vector<std::uint64_t> bytes_{200 * kib, 70 * kib + 5, 0, 500};
  lane_table table_;
  std::unique_ptr<std::byte[]> memory_;
  interleaved_block block_;
};

TEST_F(interleaved, lanes_are_arrays) {
  EXPECT_TRUE(block_);
  EXPECT_FALSE(interleaved_block());
  for (unsigned lane = 0; lane < 4; ++lane) {
    auto const values = block_.view<std::uint32_t>(lane);
    ASSERT_EQ(values.size(), bytes_[lane] / 4);
    ASSERT_EQ(values.empty(), lane == 2);
    for (std::uint32_t i = 0; i < values.size(); ++i) values[i] = lane << 28 | i;
  }
  for (unsigned lane = 0; lane < 4; ++lane) {
    auto const values = block_.view<std::uint32_t const>(lane);
    std::uint32_t i = 0;
    for (std::uint32_t const& value : values) {
      ASSERT_EQ(value, lane << 28 | i);
      ASSERT_EQ(&value, &block_.at<std::uint32_t>(lane, i));
      ASSERT_EQ(block_.position(&value), (lane_position{lane, i * 4}));
      ++i;
    }
    EXPECT_EQ(i, bytes_[lane] / 4);
  }
}

TEST_F(interleaved, iterators_serve_algorithms) {
  auto const values = block_.view<std::uint64_t>(0);
  std::vector<std::uint64_t> expected(values.size());
  std::mt19937_64 random(seeded(402));
  std::generate(expected.begin(), expected.end(), random);
  std::copy(expected.begin(), expected.end(), values.begin());
  std::sort(values.begin(), values.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_TRUE(std::equal(values.begin(), values.end(), expected.begin(), expected.end()));
  EXPECT_EQ(values.end() - values.begin(), static_cast<std::ptrdiff_t>(expected.size()));
  EXPECT_EQ(*(values.end() - 1), expected.back());
  EXPECT_EQ(values.begin()[9], expected[9]);
}

}  // namespace wyrm::tests
