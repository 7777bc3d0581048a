// SPDX-License-Identifier: Apache-2.0
// The two list-based allocators of ScatterAlloc (InPar 2012, section 4), which are baselines there:
//  - list-size: one free list with ten bins by size,
//  - list-mp: a free list with ten bins by size for each multiprocessor.
// Both are slow: each request and each free takes a lock. lists_ref.hpp describes the algorithm, its differences from
// the paper, and why it is correct. This file contains the owner.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../allocator.hpp"
#include "../fragmentation.hpp"
#include "../ledger.hpp"
#include "../shared_view.hpp"
#include "free_lists.hpp"
#include "lists_check.hpp"
#include "lists_ref.hpp"
#include "segments.hpp"

namespace wyrm::alloc {

namespace detail {
template <class Ref>
struct add_segment {
  Ref ref;
  std::uint64_t first;
  WYRM_HD void operator()(std::size_t) const { ref.add(first); }
};
template <class Ref>
struct merge_segments {
  Ref ref;
  WYRM_HD void operator()(std::size_t) const { ref.merge(); }
};
/// A number that differs from call to call.
inline std::uint64_t next_epoch() {
  static std::atomic<std::uint64_t> epoch = 0;
  return ++epoch;
}
}  // namespace detail

/// Owner of the pool and of its free lists.
template <class Space, class Policy>
class list_allocator {
 public:
  using space_type = Space;
  using view_type = lists_ref<Policy>;
  using ref_type = pool_ref<view_type>;
  static constexpr char const* name = Policy::name;
  static constexpr traits family{.header_bytes = sizeof(segment_header)};

  list_allocator(Space const& space, options const& o)
      : space_(space),
        memory_(reserve_pool(space, o)),
        lists_(space, Policy::count(space)),
        state_(space, 1),
        ledger_(space, memory_.data(), memory_.capacity(), o),
        shared_(space) {
    memory_.commit(std::max<std::size_t>(o.pool_bytes, 1));
    ledger_.cover(memory_.committed());
    reset();
    shared_.write(view());
  }

  [[nodiscard]] ref_type ref() const { return shared_.ref(); }
  [[nodiscard]] view_type view() const {
    return {{segments(), lists_.data(), static_cast<std::uint32_t>(lists_.size())}, state_.data(), ledger_.ref()};
  }
  void reset() {
    space_.fill(lists_.data(), 0, lists_.bytes());
    exec::write(space_, state_.data(), list_pool_state{{{}, detail::next_epoch()}, 0, 0, 0});
    ledger_.reset();
    add(0);
  }
  /// The new memory is a segment of its own, until free neighbours are merged.
  void grow(std::size_t bytes) {
    auto const change = [&] {
      std::uint64_t const before = segments().units();
      std::size_t const after = memory_.committed_after(grown_size(memory_.committed(), bytes));
      ledger_.cover(after);  // everything that can fail happens before the pool changes
      memory_.commit(after);
      if (segments().units() > before) add(before);
    };
    shared_.rewrite_after(change, [&] { return view(); });
  }
  /// Merges all free segments that are neighbours. O(free segments), by one thread.
  void compact() { exec::for_each(space_, 1, detail::merge_segments<view_type>{view()}); }

  /// The bins are the classes: page_bytes is the smallest block of a bin, and all segments in a bin are free.
  [[nodiscard]] statistics stats() const {
    statistics s;
    ledger_.report(s);
    list_pool_state const state = copy_state();
    s.granted = state.granted;
    s.peak = state.peak;
    s.committed = memory_.committed();
    s.reserved = memory_.capacity();
    s.overhead = lists_.bytes() + state_.bytes() + ledger_.bytes() + shared_.bytes();
    // Before the bins are added: free segments are not taken from the pool.
    detail::add_fragmentation(space_, ledger_, view(), memory_.data(), s, family.header_bytes);
    s.classes.resize(bins);
    for (free_list const& list : copy_lists())
      for (unsigned bin = 0; bin < bins; ++bin)
        s.classes[bin].pages = s.classes[bin].free += static_cast<std::size_t>(list.count[bin]);
    for (unsigned bin = 0; bin < bins; ++bin) s.classes[bin].page_bytes = bin_bytes(bin);
    return s;
  }
  /// O(pool).
  void check() const { check(copy_lists(), copy_state()); }

 protected:
  [[nodiscard]] std::vector<free_list> copy_lists() const {
    return exec::copy_out(space_, lists_.data(), lists_.size());
  }
  [[nodiscard]] list_pool_state copy_state() const { return exec::read(space_, state_.data()); }
  void check(std::vector<free_list> const& lists, list_pool_state const& state) const {
    detail::list_walk<Space> walk(space_, name, segments(), state);
    walk.read(static_cast<std::uint32_t>(lists.size()));
    walk.check_lists(lists);
    walk.check_state(state);
    if (ledger_.checked()) ensure(walk.used() == ledger_.live_offsets(), name, "live blocks are not the used segments");
    ledger_.check_guards(name);
  }

 private:
  [[nodiscard]] segments_ref segments() const { return {memory_.data(), memory_.committed(), &state_.data()->root}; }
  // Makes the memory from this unit to the end free.
  void add(std::uint64_t first) { exec::for_each(space_, 1, detail::add_segment<view_type>{view(), first}); }

  Space space_;
  exec::reservation<Space> memory_;
  exec::buffer<free_list, Space> lists_;
  exec::buffer<list_pool_state, Space> state_;
  ledger<Space> ledger_;
  shared_view<view_type, Space> shared_;
};

template <class Space>
using list_size = list_allocator<Space, one_free_list>;
template <class Space>
using list_mp = list_allocator<Space, free_list_per_multiprocessor>;

}  // namespace wyrm::alloc
