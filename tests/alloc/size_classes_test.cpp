// SPDX-License-Identifier: Apache-2.0
// The size classes of Ouroboros against a list of sizes and plain divisions: every request, every offset in a chunk,
// and every page that a window can have.
#include "../../alloc/size_classes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../../alloc/allocator.hpp"
#include "../../alloc/ouroboros/chunk_word.hpp"
#include "../../alloc/ouroboros/class_state.hpp"
#include "../../alloc/ouroboros/page_window.hpp"

namespace wyrm::tests {
namespace {

using namespace alloc::detail;
using alloc::chunk_bytes;

std::vector<std::size_t> const sizes{16,     32,     48,     64,     80,     96,     112,    128,    160,    192,
                                     224,    256,    320,    384,    448,    512,    640,    768,    896,    1024,
                                     1168,   1360,   1632,   2048,   2720,   4096,   8192,   16384,  24576,  32768,
                                     40960,  49152,  57344,  65536,  81920,  98304,  114688, 131072, 163840, 196608,
                                     229376, 262144, 327680, 393216, 458752, 524288, 655360, 786432, 917504, 1048576};

TEST(size_classes, the_sizes) {
  ASSERT_EQ(sizes.size(), page_classes);
  for (unsigned c = 0; c < page_classes; ++c) {
    SCOPED_TRACE(std::to_string(sizes[c]) + " bytes");
    EXPECT_EQ(page_bytes(c), sizes[c]);
    EXPECT_EQ(pages_per_chunk(c), sizes[c] < chunk_bytes ? chunk_bytes / sizes[c] : 1);
    EXPECT_EQ(run_chunks(c), sizes[c] < chunk_bytes ? 1 : sizes[c] / chunk_bytes);
    EXPECT_EQ(c < split_classes, sizes[c] < chunk_bytes);
    EXPECT_LE(pages_per_chunk(c), 1u << index_log2(c));
    if (c < split_classes) {
      EXPECT_LT(1u << index_log2(c), 2 * chunk_bytes / sizes[c]);
      EXPECT_LE(16 * (chunk_bytes - pages_per_chunk(c) * sizes[c]), chunk_bytes);  // unused
      EXPECT_LT(pages_per_chunk(c + 1), pages_per_chunk(c));                       // or the class would be pointless
      EXPECT_EQ(page_units(c) * page_unit, sizes[c]);
    } else {
      EXPECT_EQ(index_log2(c), 0u);
    }
    // virtual_queues counts wide classes from the first one on.
    EXPECT_LE(index_log2(c), index_log2(c > 0 ? c - 1 : 0));
  }
}

TEST(size_classes, each_request_has_the_smallest_class) {
  unsigned c = 0;
  for (std::size_t bytes = 1; bytes <= largest_page; ++bytes) {
    if (bytes > sizes[c]) ++c;
    ASSERT_EQ(class_for(bytes), c) << bytes << " bytes";
  }
}

// Free pages are found by their offset: the division is exact for each offset, and refuses those where no page begins.
TEST(size_classes, each_offset_in_a_chunk) {
  for (unsigned c = 0; c < page_classes; ++c)
    for (std::uint64_t const chunk : {std::uint64_t{0}, std::uint64_t{5}, (std::uint64_t{1} << 27) - 1})
      for (std::uint64_t at = 0; at < chunk_bytes; ++at) {
        std::uint64_t const index = at / sizes[c];
        bool const begins = at % sizes[c] == 0 && (index + 1) * sizes[c] <= std::max(chunk_bytes, sizes[c]);
        std::uint64_t const page = page_at(c, chunk * chunk_bytes + at);
        ASSERT_EQ(page != no_page, begins) << at << ", pages of " << sizes[c] << " bytes";
        if (!begins) continue;
        ASSERT_EQ(page, page_in_chunk(c, chunk, static_cast<std::uint32_t>(index)));
        ASSERT_EQ(chunk_of_page(c, page), chunk);
        ASSERT_EQ(index_of_page(c, page), index);
        ASSERT_EQ(page_offset(c, page), chunk * chunk_bytes + at);
      }
}

TEST(size_classes, each_page_of_a_window) {
  for (unsigned c = 0; c < page_classes; ++c) {
    std::uint64_t expected = 3 * chunk_bytes;
    for (std::uint32_t n = 0; n < (1u << 21); ++n) {
      ASSERT_EQ(page_offset(c, nth_page(c, 3, n)), expected) << "page " << n << " of " << sizes[c] << " bytes";
      expected += sizes[c];
      std::uint64_t const rest = chunk_bytes - expected % chunk_bytes;
      if (sizes[c] < chunk_bytes && rest < sizes[c]) expected += rest;
      if (expected > chunk_bytes << 27) break;  // the largest pool
    }
  }
}

// Bits of different meaning do not overlap, and each class but those of whole chunks has a bit of its own.
TEST(size_classes, the_word_of_a_chunk) {
  std::uint64_t all = chunk_word::counts | chunk_word::owners | chunk_word::hinted;
  EXPECT_EQ(all & chunk_word::queued(split_classes), 0u);
  for (unsigned c = 0; c < page_classes; ++c) {
    EXPECT_EQ(chunk_word::owner(c) & ~chunk_word::owners, 0u);
    EXPECT_NE(chunk_word::owner(c), 0u);
    EXPECT_LE(pages_per_chunk(c), chunk_word::counts);
    if (c > split_classes) {
      EXPECT_EQ(chunk_word::queued(c), chunk_word::queued(split_classes));
    } else {
      EXPECT_EQ(all & chunk_word::queued(c), 0u);
      all |= chunk_word::queued(c);
    }
  }
}

// No two sizes that follow each other, or are powers of two that do, have neighbouring states.
TEST(size_classes, states_of_neighbouring_sizes_are_apart) {
  using states = class_states<alloc::queue_ends>;
  std::vector<bool> has(page_classes);
  for (unsigned c = 0; c < page_classes; ++c) {
    ASSERT_LT(states::slot(c), page_classes);
    EXPECT_FALSE(has[states::slot(c)]);
    has[states::slot(c)] = true;
  }
  auto const apart = [](unsigned a, unsigned b) {
    unsigned const one = states::slot(a);
    unsigned const other = states::slot(b);
    return one > other ? one - other > 1 : other - one > 1;
  };
  for (unsigned c = 0; c + 1 < page_classes; ++c) EXPECT_TRUE(apart(c, c + 1)) << c;
  for (std::size_t bytes = 16; bytes < largest_page; bytes *= 2)
    EXPECT_TRUE(apart(class_for(bytes), class_for(2 * bytes))) << bytes;
}

TEST(size_classes, aligned_requests) {
  for (std::size_t align = 1; align <= alloc::largest_alignment; align *= 2)
    for (std::size_t bytes = 1; bytes <= 20000; ++bytes) {
      std::size_t const request = alloc::aligned_request(bytes, align);
      ASSERT_GE(request, bytes);
      unsigned const c = class_for(request);
      for (std::uint32_t n : {1u, pages_per_chunk(c) - 1, pages_per_chunk(c) + 1})
        ASSERT_EQ(page_offset(c, nth_page(c, 7, n)) % align, 0u) << bytes << " bytes, aligned to " << align;
      ASSERT_TRUE(request == bytes || align > alloc::alignment);
    }
}

}  // namespace
}  // namespace wyrm::tests
