// SPDX-License-Identifier: Apache-2.0
// One direction of a graph: the vertex table, and the host side of the four steps of an update (see update.hpp). A
// directed graph that keeps in-neighbours has two of these; an update then allocates for both before it merges either.
#pragma once

#include <cstdint>
#include <span>

#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "batch.hpp"
#include "update.hpp"
#include "view.hpp"

namespace wyrm::graph {

template <class Space>
class adjacency {
 public:
  adjacency(Space const& space, vertex_id vertices)
      : space_(space), vertices_(vertices), records_(space, vertices), batch_(space), plans_(space), totals_(space, 1) {
    space_.fill(records_.data(), 0, records_.bytes());
  }

  [[nodiscard]] vertex_record const* records() const { return records_.data(); }
  [[nodiscard]] std::size_t table_bytes() const { return records_.bytes(); }
  [[nodiscard]] std::size_t scratch_bytes() const { return batch_.bytes() + plans_.bytes() + totals_.bytes(); }
  [[nodiscard]] std::uint32_t segments() const { return batch_.view().segments; }
  [[nodiscard]] std::uint64_t self_loops() const { return batch_.self_loops(); }

  /// Finds out what the batch will change and which pages that needs; changes nothing.
  template <detail::operation Op>
  detail::update_totals plan(std::span<edge const> edges, orientation which, bool keep_self_loops) {
    batch_.prepare(edges, vertices_, which, keep_self_loops);
    batch_view const& b = batch_.view();
    plans_.reserve(b.segments);
    exec::write(space_, totals_.data(), detail::update_totals{});
    exec::for_each_tile<8>(space_, b.segments,
                           detail::plan_segments<Op>{b, records_.data(), plans_.data(), which == orientation::both});
    exec::for_each_lane<32>(space_, b.segments, detail::sum_plans{plans_.data(), totals_.data()});
    return exec::read(space_, totals_.data());
  }

  /// Allocates the pages that are planned and not there yet, but for segments from `fails_from` on. Returns the bytes
  /// of those that could not be had: 0 = done.
  template <class AllocatorRef>
  [[nodiscard]] std::uint64_t allocate(AllocatorRef const& allocator, std::uint64_t fails_from) {
    exec::write(space_, totals_.data(), detail::update_totals{});
    exec::for_each_lane<32>(space_, batch_.view().segments,
                            detail::allocate_pages<AllocatorRef>{allocator, plans_.data(), totals_.data(), fails_from});
    return exec::read(space_, totals_.data()).failed_bytes;
  }

  /// Carries the planned changes out.
  template <detail::operation Op>
  void merge() {
    exec::for_each_tile<8>(space_, batch_.view().segments,
                           detail::merge_segments<Op>{batch_.view(), records_.data(), plans_.data()});
  }

  /// After merge: gives back the replaced pages. Instead of merge: gives back those allocated.
  template <class AllocatorRef>
  void release(AllocatorRef const& allocator) {
    exec::for_each_lane<32>(space_, batch_.view().segments,
                            detail::release_pages<AllocatorRef>{allocator, plans_.data()});
  }

  /// Gives back every page.
  template <class AllocatorRef>
  void clear(AllocatorRef const& allocator) {
    exec::for_each_lane<32>(space_, vertices_, detail::clear_records<AllocatorRef>{allocator, records_.data()});
  }

 private:
  Space space_;
  vertex_id vertices_;
  exec::buffer<vertex_record, Space> records_;
  batch<Space> batch_;
  exec::buffer<detail::segment_plan, Space> plans_;
  exec::buffer<detail::update_totals, Space> totals_;
};

}  // namespace wyrm::graph
