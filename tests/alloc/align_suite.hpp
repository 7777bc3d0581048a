// SPDX-License-Identifier: Apache-2.0
// What align-malloc promises beyond other allocators: where the blocks of warps are, and what happens when the host
// does not answer, is late, or stops. A typed suite, on any space.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../../alloc/align/align.hpp"
#include "workload.hpp"

namespace wyrm::tests {

static_assert(alloc::hosted_allocator<alloc::align_malloc<exec::host_space>>);

/// Posts a request, and never looks for the answer, as a thread does that ends by a fault.
struct post_and_vanish {
  alloc::mailbox_ref host;
  WYRM_HD void operator()(std::size_t) const { (void)host.post(alloc::mail::kind::allocate, 1); }
};

/// One block for each tile, of which lane l of tile i has sizes[l] bytes, or the same size for all lanes. Writes all
/// words, and then checks all; counts those that changed, and addresses at which the handle finds another lane.
template <class Ref>
struct write_interleaved {
  Ref ref;
  bool equal;
  std::uint64_t* wrong;
  std::uint64_t* missing;
  [[nodiscard]] WYRM_HD static std::uint64_t bytes_of(std::size_t i) { return i * 7919 % 90000 / 8 * 8; }
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i) const {
    std::uint64_t const bytes = equal ? bytes_of(i + 1) : bytes_of(i * 32 + t.rank());
    alloc::interleaved_block const b = ref.allocate_interleaved(t, bytes);
    if (!b) {
      exec::atomic_ref<std::uint64_t>(*missing).fetch_add(1, exec::relaxed);
      return;
    }
    std::uint64_t const tag = scramble(i * 32 + t.rank());
    auto const mine = b.view<std::uint64_t>(t.rank());
    bool good = mine.size() == bytes / 8;
    for (std::uint64_t k = 0; k < mine.size(); k += 1 + k % 37) mine[k] = tag + k;
    t.sync();
    for (std::uint64_t k = 0; k < mine.size(); k += 1 + k % 37) good = good && mine[k] == tag + k;
    if (mine.size() > 0)
      good = good && b.position(&mine[mine.size() - 1]) == alloc::lane_position{t.rank(), (mine.size() - 1) * 8};
    if (!good) exec::atomic_ref<std::uint64_t>(*wrong).fetch_add(1, exec::relaxed);
    t.sync();
    ref.deallocate(t, t.rank() == 0 ? b.data() : nullptr);
  }
};

/// Requests more than the pool has, in one lane and in the sum with a table; counts blocks that it gets.
template <class Ref>
struct ask_for_too_much {
  Ref ref;
  std::uint64_t pool_bytes;
  std::uint64_t* served;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t) const {
    bool const is_last = t.rank() == t.size() - 1;
    bool const one = static_cast<bool>(ref.allocate_interleaved(t, is_last ? ~std::uint64_t{0} : 8));
    bool const sum = static_cast<bool>(
        ref.allocate_interleaved(t, pool_bytes - (is_last && t.size() > 1 ? 1 : 0) + (t.size() > 1 ? 0 : 1)));
    if (one || sum) exec::atomic_ref<std::uint64_t>(*served).fetch_add(1, exec::relaxed);
  }
};

/// A pool whose host can be made to wait.
template <class Space>
class watched_pool : public alloc::align_malloc<Space> {
 public:
  using alloc::align_malloc<Space>::align_malloc;
  /// Calls f(), while the host answers no request.
  template <class F>
  void without_answers(F const& f) {
    this->host_->use([&](auto&, auto&) { f(); });
  }
  [[nodiscard]] alloc::mailbox_ref mailbox() const { return this->host_->ref(); }
};

template <class Space>
class align_suite : public space_test<Space> {
 public:
  static constexpr std::size_t page = alloc::align_page_bytes;
  static constexpr std::size_t leaf = 16 * page;
  static constexpr std::size_t mib = std::size_t{1} << 20;

  static alloc::options of(std::size_t bytes) {
    return {.pool_bytes = bytes, .reserve_bytes = std::max(bytes, 16 * mib), .checked = true, .guards = false};
  }
  static std::size_t pages(std::size_t bytes) { return (bytes + page - 1) / page; }
};
TYPED_TEST_SUITE_P(align_suite);

TYPED_TEST_P(align_suite, blocks_of_a_tile_are_adjacent) {
  pool<alloc::align_malloc<TypeParam>> p(this->of(16 * this->mib));
  std::vector<std::size_t> sizes(320);
  for (std::size_t i = 0; i < sizes.size(); ++i) sizes[i] = i % 5 == 2 ? 0 : 1 + i * 977 % 20000;
  std::vector<block> const blocks = p.allocate(sizes);
  p.expect_sound();
  constexpr std::size_t lanes = TypeParam::template tile_size<32>;
  unsigned char* end = nullptr;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (i % lanes == 0) end = nullptr;
    if (sizes[i] == 0) continue;
    ASSERT_NE(blocks[i].p, nullptr);
    EXPECT_TRUE(end == nullptr || blocks[i].p == end) << i;
    end = blocks[i].p + this->pages(sizes[i]) * this->page;
  }
  p.free(blocks);
  p.expect_sound();
}

TYPED_TEST_P(align_suite, a_space_is_free_when_its_last_block_is) {
  pool<alloc::align_malloc<TypeParam>> p(this->of(4 * this->mib));
  constexpr std::size_t lanes = TypeParam::template tile_size<32>;
  std::vector<block> blocks = p.allocate(lanes, 5000);
  EXPECT_EQ(p.owner().stats().granted, lanes * 2 * this->page);
  std::vector<block> const last = split_off(blocks, 1);
  p.free(blocks);
  EXPECT_EQ(p.owner().stats().granted, lanes * 2 * this->page);
  p.expect_sound();
  p.free(last);
  EXPECT_EQ(p.owner().stats().granted, 0u);
  p.expect_sound();
}

// Eq. 3: the trees of the parents of two warptrees do not overlap; here spaces of one page, so parents have 128 KiB.
TYPED_TEST_P(align_suite, warps_are_apart_until_the_padding_is_needed) {
  constexpr std::size_t lanes = TypeParam::template tile_size<32>;
  for (bool const pack : {false, true}) {
    pool<alloc::align_malloc<TypeParam>> p(this->of(4 * this->mib), make_space<TypeParam>(),
                                           alloc::align_parameters{.pack = pack});
    std::size_t const places = 4 * this->mib / (2 * this->leaf);
    std::vector<std::size_t> sizes((places + 8) * lanes);
    for (std::size_t i = 0; i < sizes.size(); i += lanes) sizes[i] = 100;  // one lane of each tile
    std::vector<block> const blocks = p.allocate(sizes);
    EXPECT_EQ(served(blocks), pack ? places + 8 : places);
    p.expect_sound();
    unsigned char const* base = nullptr;
    for (block const& b : blocks)
      if (b.p != nullptr && (base == nullptr || b.p < base)) base = b.p;
    std::map<std::size_t, unsigned> parents;
    for (block const& b : blocks)
      if (b.p != nullptr) ++parents[static_cast<std::size_t>(b.p - base) / (2 * this->leaf)];
    EXPECT_EQ(parents.size(), places) << "a place that is apart was not used";
    p.free(pool<alloc::align_malloc<TypeParam>>::only_served(blocks));
    p.expect_sound();
  }
}

// If no space has room for all lanes, lanes are served one by one.
TYPED_TEST_P(align_suite, lanes_are_served_alone_where_they_cannot_be_together) {
  pool<alloc::align_malloc<TypeParam>> p(this->of(2 * this->mib));
  std::vector<block> first = p.allocate(p.committed() / this->page, 100);
  EXPECT_EQ(served(first), first.size());
  std::vector<block> gone;
  std::vector<block> kept;
  constexpr std::size_t lanes = TypeParam::template tile_size<32>;
  for (std::size_t i = 0; i < first.size(); ++i) (i / lanes % 4 == 0 ? gone : kept).push_back(first[i]);
  p.free(gone);
  EXPECT_EQ(served(p.allocate(std::vector<std::size_t>(32, 2 * this->mib))), 0u);
  std::vector<std::size_t> sizes(32, 2 * this->mib);
  sizes[3] = 4000;
  sizes[30] = 1;
  std::vector<block> const two = p.allocate(sizes);
  EXPECT_EQ(served(two), 2u);
  p.expect_sound();
}

// Kernels get nullptr from a host that has stopped. What they free then is free later.
TYPED_TEST_P(align_suite, a_host_that_stops) {
  pool<alloc::align_malloc<TypeParam>> p(this->of(4 * this->mib));
  std::vector<block> blocks = p.allocate(64, 10000);
  EXPECT_EQ(served(blocks), 64u);
  EXPECT_TRUE(p.owner().is_serving());
  p.owner().stop();
  p.owner().stop();
  EXPECT_FALSE(p.owner().is_serving());
  EXPECT_EQ(served(p.allocate(64, 100)), 0u);
  EXPECT_GT(p.owner().unanswered(), 0u);
  p.free(split_off(blocks, 32));
  p.expect_sound();
  p.free(blocks);
  p.expect_sound();
  EXPECT_EQ(p.owner().stats().granted, 0u);
  p.owner().start();
  std::vector<block> const whole = p.allocate(1, p.committed());
  EXPECT_EQ(served(whole), 1u);
  p.free(whole);
  p.expect_sound();

  // Requests of that time do not take memory later.
  p.owner().stop();
  EXPECT_EQ(served(p.allocate(64, 60000)), 0u);
  p.owner().start();
  std::vector<block> const all = p.allocate(1, p.committed());
  EXPECT_EQ(served(all), 1u);
  p.free(all);
  p.expect_sound();
}

// The host answers only after the time limit: requests are refused, and the spaces of late answers are not lost. On a
// busy machine the host may be late at other times, too.
TYPED_TEST_P(align_suite, a_host_that_is_late) {
  using pool_type = pool<watched_pool<TypeParam>>;
  for (std::uint32_t const slots : {0u, 2u}) {
    pool_type p(this->of(4 * this->mib), make_space<TypeParam>(),
                alloc::align_parameters{.slots = slots, .limit = std::chrono::milliseconds(10)});
    auto const allocate_at_last = [&](std::size_t n, std::size_t bytes) {
      std::vector<block> blocks;
      for (int attempt = 0; attempt < 1000 && blocks.empty(); ++attempt)
        blocks = pool_type::only_served(p.allocate(n, bytes));
      return blocks;
    };
    std::vector<block> const blocks = allocate_at_last(6, 100);
    ASSERT_FALSE(blocks.empty());
    p.owner().without_answers([&] { EXPECT_EQ(served(p.allocate(6, 100)), 0u); });
    p.expect_sound();
    p.owner().without_answers([&] { p.free(blocks); });
    p.expect_sound();
    EXPECT_EQ(p.owner().stats().granted, 0u);
    // Kernels return late spaces, too, and go on.
    p.owner().without_answers([&] { EXPECT_EQ(served(p.allocate(6, 100)), 0u); });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    p.free(allocate_at_last(1, 100));
    p.expect_sound();
    EXPECT_EQ(allocate_at_last(1, p.committed()).size(), 1u);
    p.expect_sound();
  }
}

// A thread that ends after its request costs a slot and the space that it asked for; the pool serves others, and ends.
TYPED_TEST_P(align_suite, a_thread_that_vanishes) {
  auto const space = make_space<TypeParam>();
  pool<watched_pool<TypeParam>> p(this->of(4 * this->mib), space);
  exec::for_each(space, 20, post_and_vanish{p.owner().mailbox()});
  space.synchronize();
  std::vector<block> const blocks = p.allocate(100, 5000);
  EXPECT_EQ(served(blocks), 100u);
  p.free(blocks);
}

TYPED_TEST_P(align_suite, one_slot_serves_all) {
  pool<alloc::align_malloc<TypeParam>> p(this->of(4 * this->mib), make_space<TypeParam>(),
                                         alloc::align_parameters{.slots = 1});
  p.free(p.churn(64, static_cast<unsigned>(scaled(20, 5)), 1, 9000));
  p.expect_sound();
}

TYPED_TEST_P(align_suite, pools_share_a_thread_that_ends_with_the_last) {
  using allocator = alloc::align_malloc<TypeParam>;
  auto const& service = alloc::detail::host_service::instance();
  EXPECT_FALSE(service.is_running());
  {
    auto first = std::make_unique<pool<allocator>>(this->of(2 * this->mib));
    EXPECT_TRUE(service.is_running());
    pool<allocator> second(this->of(2 * this->mib));
    EXPECT_EQ(served(first->allocate(40, 100)), 40u);
    EXPECT_EQ(served(second.allocate(40, 100)), 40u);
    first.reset();
    EXPECT_TRUE(service.is_running());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // the thread sleeps now
    EXPECT_EQ(served(second.allocate(40, 100)), 40u);
    second.move_owner();
    EXPECT_EQ(served(second.allocate(40, 100)), 40u);
    second.expect_sound();
    second.owner().stop();
    EXPECT_FALSE(service.is_running());
    second.owner().start();
    EXPECT_TRUE(service.is_running());
  }
  EXPECT_FALSE(service.is_running());
}

TYPED_TEST_P(align_suite, interleaved_blocks) {
  using ref_type = typename alloc::align_malloc<TypeParam>::ref_type;
  auto const space = make_space<TypeParam>();
  exec::buffer<std::uint64_t, TypeParam> counts(space, 2);
  for (bool const guards : {false, true})
    for (bool const equal : {true, false}) {
      alloc::options o = this->of(48 * this->mib);
      o.guards = guards;
      alloc::align_malloc<TypeParam> owner(space, o);
      space.fill(counts.data(), 0, counts.bytes());
      exec::for_each_tile<32>(space, 12,
                              write_interleaved<ref_type>{owner.ref(), equal, counts.data(), counts.data() + 1});
      EXPECT_EQ(exec::read(space, counts.data()), 0u);
      std::size_t const lanes = TypeParam::template tile_size<32>;
      // Requests of nothing but zero bytes get no memory, and fail in no other way.
      EXPECT_EQ(exec::read(space, counts.data() + 1), !equal && lanes == 1 ? 1u : 0u);
      EXPECT_EQ(owner.stats().failures, 0u);
      EXPECT_EQ(owner.stats().granted, 0u);
      EXPECT_EQ(owner.stats().bad_frees, 0u);
      owner.check();
    }
  alloc::align_malloc<TypeParam> small(space, this->of(64 << 10));
  space.fill(counts.data(), 0, counts.bytes());
  std::size_t const before = small.stats().committed;
  exec::for_each_tile<32>(space, 1, ask_for_too_much<ref_type>{small.ref(), before, counts.data()});
  EXPECT_EQ(exec::read(space, counts.data()), 0u);
  EXPECT_EQ(small.stats().failures, 2u);
  small.check();
}

TYPED_TEST_P(align_suite, impossible_parameters_are_refused) {
  auto const space = make_space<TypeParam>();
  for (alloc::align_parameters const& wrong :
       {alloc::align_parameters{.slots = 65537}, alloc::align_parameters{.limit = std::chrono::nanoseconds(-1)}}) {
    try {
      alloc::align_malloc<TypeParam> const owner(space, this->of(this->mib), wrong);
      ADD_FAILURE();
    } catch (error const& e) {
      EXPECT_EQ(e.code(), error_code::bad_argument);
    }
  }
}

REGISTER_TYPED_TEST_SUITE_P(align_suite, blocks_of_a_tile_are_adjacent, a_space_is_free_when_its_last_block_is,
                            warps_are_apart_until_the_padding_is_needed,
                            lanes_are_served_alone_where_they_cannot_be_together, a_host_that_stops,
                            a_host_that_is_late, a_thread_that_vanishes, one_slot_serves_all,
                            pools_share_a_thread_that_ends_with_the_last, interleaved_blocks,
                            impossible_parameters_are_refused);

}  // namespace wyrm::tests
