// SPDX-License-Identifier: Apache-2.0
// What align-malloc+small promises beyond other allocators: which pool serves a request, and which one grows. A typed
// suite, on any space.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "../../alloc/align/align_small.hpp"
#include "workload.hpp"

namespace wyrm::tests {

static_assert(alloc::hosted_allocator<alloc::align_malloc_small<exec::host_space>>);
static_assert(alloc::carving_ref<alloc::align_malloc_small<exec::host_space>::ref_type>);

/// One interleaved block for each tile: each lane writes its words and reads them again; counts lanes that find others.
template <class Ref>
struct write_interleaved_words {
  Ref ref;
  std::uint64_t* wrong;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i) const {
    alloc::interleaved_block const b = ref.allocate_interleaved(t, 5000);
    bool good = static_cast<bool>(b);
    if (good) {
      auto const mine = b.template view<std::uint64_t>(t.rank());
      std::uint64_t const tag = i << 32 | t.rank() << 16;
      for (std::uint64_t k = 0; k < mine.size(); ++k) mine[k] = tag + k;
      t.sync();
      for (std::uint64_t k = 0; k < mine.size(); ++k) good = good && mine[k] == tag + k;
    }
    if (!good) exec::atomic_ref<std::uint64_t>(*wrong).fetch_add(1, exec::relaxed);
    t.sync();
    ref.deallocate(t, t.rank() == 0 ? b.data() : nullptr);
  }
};

template <class Space>
class align_small_suite : public space_test<Space> {
 public:
  using allocator = alloc::align_malloc_small<Space>;
  using pool_type = pool<allocator>;
  static constexpr std::size_t mib = std::size_t{1} << 20;

  static alloc::options of(std::size_t bytes, std::size_t reserve) {
    return {.pool_bytes = bytes, .reserve_bytes = reserve, .checked = true, .guards = false};
  }
  /// How many more blocks of this size the pool has.
  static std::size_t more_blocks(pool_type& p, std::size_t bytes) { return p.exhaust(bytes).size(); }
};
TYPED_TEST_SUITE_P(align_small_suite);

// A small block takes a page of Ouroboros, which is aligned to 16 bytes; a large one takes pages of 4 KiB.
TYPED_TEST_P(align_small_suite, the_size_of_a_request_selects_the_pool) {
  typename TestFixture::pool_type p(this->of(8 * this->mib, 16 * this->mib));
  std::vector<std::size_t> const sizes{1, 100, 4095, 4096, 4097, 70000};
  std::vector<std::size_t> const taken{16, 112, 4096, 4096, 8192, 73728};
  std::vector<block> const blocks = p.allocate(sizes);
  std::size_t all = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    ASSERT_NE(blocks[i].p, nullptr);
    all += taken[i];
  }
  EXPECT_EQ(p.owner().stats().granted, all);
  // Large blocks of a tile are adjacent, and small ones are elsewhere.
  if (TypeParam::template tile_size < 32 >> 1) {
    EXPECT_EQ(blocks[4].p, blocks[3].p + 4096);
    EXPECT_EQ(blocks[5].p, blocks[4].p + 8192);
  }
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_FALSE(blocks[i].p >= blocks[3].p && blocks[i].p < blocks[5].p + 73728) << sizes[i];
  p.expect_sound();
  p.free(blocks);
  p.expect_sound();
}

TYPED_TEST_P(align_small_suite, the_pool_that_ran_out_grows) {
  typename TestFixture::pool_type p(this->of(8 * this->mib, 64 * this->mib));
  (void)this->more_blocks(p, 1024);
  p.owner().grow(4 * this->mib);
  EXPECT_EQ(this->more_blocks(p, 1024), 4 * this->mib / 1024);
  EXPECT_EQ(this->more_blocks(p, 8192), 4 * this->mib / 8192);  // of the first half; now both have refused
  p.owner().grow(8 * this->mib);
  EXPECT_EQ(this->more_blocks(p, 8192), 4 * this->mib / 8192);
  p.owner().grow(4 * this->mib);  // of which small blocks have refused none
  EXPECT_EQ(this->more_blocks(p, 8192), 4 * this->mib / 8192);
  EXPECT_EQ(this->more_blocks(p, 1024), 4 * this->mib / 1024);
  p.expect_sound();
  p.reset();
  std::size_t const before = p.committed();
  p.owner().grow(8 * this->mib);  // neither has, since the reset
  EXPECT_EQ(p.committed(), before + 8 * this->mib);
  EXPECT_EQ(this->more_blocks(p, 1024), (4 + 4 + 4 + 4) * this->mib / 1024);
  p.expect_sound();
}

TYPED_TEST_P(align_small_suite, carving_that_lacks_memory_makes_small_blocks_grow) {
  typename TestFixture::pool_type p(this->of(8 * this->mib, 64 * this->mib));
  std::uint64_t missing = 0;
  EXPECT_TRUE(p.carve({0, 0, 0, 0, 0, 0, 0, 4000}, missing).empty());
  ASSERT_GT(missing, 0u);
  p.owner().grow(missing);
  auto const blocks = p.carve({0, 0, 0, 0, 0, 0, 0, 4000}, missing);
  EXPECT_EQ(missing, 0u);
  p.expect_sound();
  p.free(blocks);
  p.expect_sound();
}

// Also where the pool that ran out has no room left.
TYPED_TEST_P(align_small_suite, a_pool_that_cannot_grow_leaves_it_to_the_other) {
  for (std::size_t const bytes : {std::size_t{1024}, std::size_t{8192}}) {
    typename TestFixture::pool_type p(this->of(8 * this->mib, 24 * this->mib));
    (void)this->more_blocks(p, bytes);
    p.owner().grow(12 * this->mib);  // 8 to the one, 4 to the other
    EXPECT_EQ(p.committed(), 20 * this->mib);
    EXPECT_EQ(this->more_blocks(p, bytes), 8 * this->mib / bytes);
    EXPECT_EQ(this->more_blocks(p, bytes == 1024 ? 8192 : 1024), 8 * this->mib / (bytes == 1024 ? 8192 : 1024));
    EXPECT_THROW(p.owner().grow(4 * this->mib + 1), error);
    p.owner().grow(4 * this->mib);
    EXPECT_EQ(p.committed(), p.owner().stats().reserved);
    p.expect_sound();
  }
}

TYPED_TEST_P(align_small_suite, the_part_of_small_blocks_is_an_option) {
  auto const space = make_space<TypeParam>();
  for (double const part : {0.25, 0.75}) {
    typename TestFixture::pool_type p(this->of(32 * this->mib, 32 * this->mib), space,
                                      alloc::align_small_parameters{.small = part});
    EXPECT_EQ(this->more_blocks(p, 2048), static_cast<std::size_t>(part * 32) * this->mib / 2048);
    EXPECT_EQ(this->more_blocks(p, 16384), static_cast<std::size_t>((1 - part) * 32) * this->mib / 16384);
    EXPECT_EQ(p.committed(), 32 * this->mib);
    p.expect_sound();
  }
  double const nan = std::numeric_limits<double>::quiet_NaN();
  for (double const wrong : {0.0, 1.0, -0.5, 2.0, nan}) {
    try {
      typename TestFixture::allocator const owner(space, this->of(this->mib, this->mib), {.small = wrong});
      ADD_FAILURE() << wrong;
    } catch (error const& e) {
      EXPECT_EQ(e.code(), error_code::bad_argument);
    }
  }
}

TYPED_TEST_P(align_small_suite, small_blocks_need_no_host) {
  typename TestFixture::pool_type p(this->of(8 * this->mib, 8 * this->mib));
  p.owner().stop();
  EXPECT_FALSE(p.owner().is_serving());
  auto const blocks = p.allocate(100, 4095);
  EXPECT_EQ(served(blocks), 100u);
  EXPECT_EQ(served(p.allocate(40, 4096)), 0u);
  EXPECT_GT(p.owner().unanswered(), 0u);
  p.expect_sound();
  p.owner().start();
  auto const large = p.allocate(40, 5000);
  EXPECT_EQ(served(large), 40u);
  p.free(large);
  p.free(blocks);
  p.expect_sound();
}

TYPED_TEST_P(align_small_suite, interleaved_blocks_are_large) {
  using ref_type = typename TestFixture::allocator::ref_type;
  auto const space = make_space<TypeParam>();
  typename TestFixture::allocator owner(space, this->of(32 * this->mib, 32 * this->mib));
  exec::buffer<std::uint64_t, TypeParam> wrong(space, 1);
  exec::write(space, wrong.data(), std::uint64_t{0});
  exec::for_each_tile<32>(space, 12, write_interleaved_words<ref_type>{owner.ref(), wrong.data()});
  EXPECT_EQ(exec::read(space, wrong.data()), 0u);
  EXPECT_EQ(owner.stats().granted, 0u);
  EXPECT_EQ(owner.stats().bad_frees, 0u);
  owner.check();
}

REGISTER_TYPED_TEST_SUITE_P(align_small_suite, the_size_of_a_request_selects_the_pool, the_pool_that_ran_out_grows,
                            carving_that_lacks_memory_makes_small_blocks_grow,
                            a_pool_that_cannot_grow_leaves_it_to_the_other, the_part_of_small_blocks_is_an_option,
                            small_blocks_need_no_host, interleaved_blocks_are_large);

}  // namespace wyrm::tests
