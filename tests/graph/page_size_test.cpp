// SPDX-License-Identifier: Apache-2.0
// Tests sizes of pages, and their representation in records.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "../../graph/table/page_size.hpp"
#include "../../graph/view.hpp"

namespace wyrm::tests {

namespace {

/// Degrees around each boundary at which the capacity changes, and the largest degrees.
std::vector<std::uint32_t> degrees_at_borders() {
  std::vector<std::uint32_t> all;
  for (std::uint64_t power = 1; power <= 0x80000000; power *= 2)
    for (std::uint64_t eighth = 8; eighth < 16; ++eighth)
      for (std::uint64_t const d : {power * eighth / 8 - 1, power * eighth / 8, power * eighth / 8 + 1})
        all.push_back(static_cast<std::uint32_t>(d));
  for (std::uint32_t const d : {0u, 0xf0000001u, 0xfffffffeu, 0xffffffffu}) all.push_back(d);
  return all;
}

}  // namespace

TEST(page_size_test, has_room_for_the_neighbours_with_little_slack) {
  for (std::uint32_t const degree : degrees_at_borders()) {
    std::uint32_t const capacity = graph::capacity_for(degree);
    EXPECT_GE(capacity, degree);
    EXPECT_EQ(capacity == 0, degree == 0);
    EXPECT_LT(capacity, 2 * std::uint64_t{degree} + 4) << degree;
    std::uint64_t const slack = capacity - degree;
    EXPECT_TRUE(degree <= 1 << 18 || 8 * slack <= degree) << degree;
    EXPECT_EQ(graph::keeps_page(capacity, degree), degree > 0) << degree;
    EXPECT_FALSE(graph::keeps_page(capacity, capacity + 1)) << degree;
  }
}

// Powers of two of at least 16 bytes up to 1 MiB, then multiples of an eighth of the power of two below.
TEST(page_size_test, sizes_in_numbers) {
  struct row {
    std::uint32_t degree;
    std::uint32_t capacity;
  };
  for (row const r :
       {row{0, 0}, row{1, 4}, row{4, 4}, row{5, 8}, row{8, 8}, row{9, 16}, row{512, 512}, row{513, 1024},
        row{262144, 262144}, row{262145, 294912}, row{294912, 294912}, row{294913, 327680}, row{524288, 524288},
        row{524289, 589824}, row{0xf0000000, 0xf0000000}, row{0xf0000001, 0xffffffff}})
    EXPECT_EQ(graph::capacity_for(r.degree), r.capacity) << r.degree;
  EXPECT_EQ(graph::page_bytes(4), 16u);
  EXPECT_EQ(graph::page_bytes(0xffffffff), std::size_t{0xffffffff} * 4);
}

// With values: capacities are multiples of 4, so that values are aligned; they fill powers of two of bytes up to 1 MiB
// but for 1/16, and have at most 1/8 of slack beyond that.
TEST(page_size_test, pages_with_values) {
  for (unsigned const width : {4u, 8u, 16u})
    for (std::uint32_t const degree : degrees_at_borders()) {
      if (degree > 0xf0000000) continue;
      std::uint32_t const capacity = graph::capacity_for(degree, width);
      std::size_t const bytes = graph::page_bytes(capacity, width);
      SCOPED_TRACE(std::to_string(degree) + " neighbours, values of " + std::to_string(width) + " bytes");
      EXPECT_GE(capacity, degree);
      EXPECT_EQ(capacity % 4, 0u);
      EXPECT_EQ(bytes, std::size_t{capacity} * (4 + width));
      if (degree > 0 && bytes > std::size_t{1} << 20) {
        EXPECT_LE(8 * (std::uint64_t{capacity} - degree), degree);
      } else if (bytes >= 256) {
        EXPECT_LE(16 * (graph::rounded_page_bytes(bytes, 16) - bytes), graph::rounded_page_bytes(bytes, 16));
        EXPECT_LT(graph::capacity_for(capacity / 2, width), capacity);
      }
      EXPECT_EQ(graph::keeps_page(capacity, degree, width), degree > 0);
      graph::vertex_record const record = graph::packed_record(graph::vertex_record{nullptr, degree, capacity});
      EXPECT_EQ(record.capacity, capacity);
    }
}

TEST(page_size_test, a_page_stays_between_a_quarter_and_full) {
  for (std::uint32_t capacity = 8; capacity <= 1 << 18; capacity *= 2) {
    EXPECT_TRUE(graph::keeps_page(capacity, capacity));
    EXPECT_TRUE(graph::keeps_page(capacity, capacity / 4 + 1));
    EXPECT_FALSE(graph::keeps_page(capacity, capacity / 4));
  }
  EXPECT_TRUE(graph::keeps_page(4, 1));
  EXPECT_FALSE(graph::keeps_page(4, 0));
}

TEST(page_size_test, a_packed_record_unpacks_to_the_same_record) {
  for (std::uint32_t const degree : degrees_at_borders())
    for (std::uint64_t const address :
         {std::uint64_t{16}, std::uint64_t{0x7fff'ffff'fff0}, std::uint64_t{0xffff'1234'5670}}) {
      auto* const page = reinterpret_cast<graph::vertex_id*>(address);
      graph::packed_record const packed = graph::vertex_record{page, degree, graph::capacity_for(degree)};
      graph::vertex_record const record = packed;
      EXPECT_EQ(record.page, page);
      EXPECT_EQ(record.degree, degree);
      EXPECT_EQ(record.capacity, graph::capacity_for(degree));
      EXPECT_EQ(packed.page(), page);
      EXPECT_EQ(packed.capacity(), graph::capacity_for(degree));
    }
}

TEST(page_size_test, a_record_of_zeros_has_no_page) {
  graph::vertex_record const none = graph::packed_record(graph::vertex_record{nullptr, 0, 0});
  graph::vertex_record const zeros = graph::packed_record{};
  for (graph::vertex_record const& r : {none, zeros}) {
    EXPECT_EQ(r.page, nullptr);
    EXPECT_EQ(r.degree, 0u);
    EXPECT_EQ(r.capacity, 0u);
  }
}

}  // namespace wyrm::tests
