// SPDX-License-Identifier: Apache-2.0
// Tests sizes of pages, and their representation in records.
#include <gtest/gtest.h>

#include <bit>
#include <cstddef>
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
        EXPECT_LE(16 * (graph::rounded_page_bytes(bytes, true) - bytes), graph::rounded_page_bytes(bytes, true));
        EXPECT_LT(graph::capacity_for(capacity / 2, width), capacity);
      }
      EXPECT_EQ(graph::keeps_page(capacity, degree, width), degree > 0);
      graph::vertex_record const record = graph::packed_record(graph::vertex_record{nullptr, degree, capacity});
      EXPECT_EQ(record.capacity, capacity);
    }
}

// The smallest capacities, from the sizes that Ouroboros has: as many entries as fit, but a multiple of 4, and not more
// digits than a record can store. No smaller page has room.
TEST(page_size_test, pages_of_a_layout) {
  std::vector<std::size_t> sizes;
  for (unsigned c = 0; c < alloc::detail::page_classes; ++c) sizes.push_back(alloc::detail::page_bytes(c));
  for (unsigned const width : {0u, 4u, 8u, 16u}) {
    std::size_t const each = 4 + width;
    std::vector<std::uint32_t> capacities;  // of each size, the smaller ones of equal ones
    for (std::size_t const bytes : sizes) {
      auto capacity = static_cast<std::uint32_t>(bytes / each / 4 * 4);
      while (graph::vertex_record(graph::packed_record(graph::vertex_record{nullptr, 0, capacity})).capacity !=
             capacity)
        capacity -= 4;
      if (capacity > (capacities.empty() ? 0 : capacities.back())) capacities.push_back(capacity);
    }
    std::size_t at = 0;
    for (std::uint32_t degree = 1; degree <= capacities.back(); ++degree) {
      if (degree > capacities[at]) ++at;
      ASSERT_EQ(graph::least_capacity_for(degree, width), capacities[at]) << degree << " neighbours, width " << width;
      ASSERT_TRUE(graph::keeps_page(capacities[at], degree, width) || degree <= 4) << degree;
    }
    EXPECT_EQ(graph::least_capacity_for(0, width), 0u);
    for (std::uint32_t const degree : {capacities.back() + 1, 1u << 24, 0xf0000000u})
      EXPECT_EQ(graph::least_capacity_for(degree, width), graph::capacity_for(degree, width));
    // Little is lost: a size is at most a quarter larger than the one before, or a third where few pages fit in a
    // chunk.
    for (std::uint32_t const degree : {17u, 100u, 255u, 300u, 600u, 3000u, 5000u, 10000u, 40000u})
      EXPECT_LE(graph::rounded_page_bytes(graph::page_bytes(graph::least_capacity_for(degree, width), width), false),
                degree * each * (degree * each < 1024 || degree * each > 32768 ? 5 : 8) / 4 + 3 * each + 16)
          << degree << " neighbours, width " << width;
  }
}

TEST(page_size_test, slack_of_a_layout) {
  graph::layout_sizes const none{0, false, 0};
  graph::layout_sizes const half{0, false, 128};
  graph::layout_sizes const powers{0, true, 0};
  for (std::uint32_t const degree : degrees_at_borders()) {
    EXPECT_EQ(none.capacity(degree), graph::least_capacity_for(degree)) << degree;
    EXPECT_EQ(powers.capacity(degree), graph::capacity_for(degree)) << degree;
    std::uint64_t const wanted = degree + std::uint64_t{degree} / 2;
    if (wanted < 0xf0000000) {
      EXPECT_EQ(half.capacity(degree), graph::least_capacity_for(degree + degree / 2)) << degree;
    }
    EXPECT_GE(half.capacity(degree), degree);
  }
}

TEST(page_size_test, bytes_that_a_page_takes) {
  for (std::size_t const bytes : {16u, 20u, 48u, 100u, 1100u, 2720u, 5000u, 20000u, 1u << 20}) {
    std::size_t const fine = graph::rounded_page_bytes(bytes, false);
    EXPECT_EQ(fine, alloc::detail::page_bytes(alloc::detail::class_for(bytes)));
    EXPECT_EQ(graph::rounded_page_bytes(bytes, true), std::bit_ceil(bytes));
  }
  EXPECT_EQ(graph::rounded_page_bytes(0, false), 0u);
  EXPECT_EQ(graph::rounded_page_bytes(0, true), 0u);
  EXPECT_EQ(graph::rounded_page_bytes((1u << 20) + 1, false), (1u << 20) + 8192);
  EXPECT_EQ(graph::rounded_page_bytes((1u << 20) + 1, true), (1u << 20) + 8192);
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
