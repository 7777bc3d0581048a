// SPDX-License-Identifier: Apache-2.0
// One direction of a graph: the vertex table, and the host side of the steps of an update (see batch.hpp, plan.hpp and
// update.hpp), each of which is started, not waited for. A directed graph that keeps in-neighbours has two of these; an
// update then allocates for both before it merges either.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "batch.hpp"
#include "plan.hpp"
#include "skew.hpp"
#include "status.hpp"
#include "update.hpp"
#include "view.hpp"

namespace wyrm::graph {

template <class Space>
class adjacency {
 public:
  /// number: 0, or 1 for the second table of a graph.
  adjacency(Space const& space, vertex_id vertices, unsigned number)
      : space_(space),
        vertices_(vertices),
        number_(number),
        records_(space, vertices),
        batch_(space),
        skewed_(space),
        plans_(space),
        hubs_(space) {
    forget();
  }

  [[nodiscard]] vertex_record const* records() const { return records_.data(); }
  [[nodiscard]] vertex_record* records() { return records_.data(); }
  /// Takes these records instead of its own, and gives all scratch back.
  void replace(exec::buffer<vertex_record, Space>&& records) {
    adjacency fresh(space_, 0, number_);
    fresh.vertices_ = vertices_;
    fresh.records_ = std::move(records);
    *this = std::move(fresh);
  }
  [[nodiscard]] std::size_t table_bytes() const { return records_.bytes(); }
  [[nodiscard]] std::size_t scratch_bytes() const {
    return batch_.bytes() + skewed_.bytes() + plans_.bytes() + hubs_.bytes();
  }

  /// Makes room for a batch; slice: see batch_view. `arcs`: how many the table has.
  void begin(resident_edges edges, std::size_t slice, orientation which, bool keep_self_loops, std::uint64_t arcs,
             detail::update_status* status) {
    batch_.begin(edges, slice, vertices_, which, keep_self_loops, status, number_);
    // Wide tiles where segments are long on average.
    std::size_t const per_vertex =
        (which == orientation::both ? 2 : 1) * edges.size / std::max(vertices_, vertex_id{1});
    width_ = per_vertex >= 10 ? 32 : per_vertex >= 4 ? 16 : 8;
    std::size_t const segments = batch_.most_segments();
    std::size_t const most_arcs = arcs + 2 * edges.size;
    plans_.reserve(segments);
    hubs_.reserve(std::min<std::size_t>(segments, most_arcs / detail::hub_degree));
    merge_tiles_ = std::max<std::size_t>(segments, std::min<std::size_t>(2 * most_arcs / detail::hub_part, 4096));
  }
  /// Counts n edges of the batch from `first` on, which are there then.
  void count(std::size_t first, std::size_t n) { batch_.count(first, n); }
  /// Groups the batch by source, and finds out what it will change and which pages that needs; changes nothing.
  template <detail::operation Op>
  void plan(detail::update_status const* status) {
    with_width([&]<unsigned W>() {
      batch_.group(most<W>);
      exec::for_each_tile<W>(space_, batch_.most_segments(),
                             detail::plan_segments<Op>{batch_.view(), records_.data(), plans_.data(), status, number_,
                                                       batch_.view().which == orientation::both});
    });
  }
  /// Plans the same batch once more when a segment was too large for that; `known`: what the status was then.
  template <detail::operation Op>
  void plan_skewed(detail::update_status const& known, detail::update_status* status) {
    skewed_.template make<Op>(batch_.view(), known.segments(number_), known.arcs(number_), records_.data(), vertices_,
                              plans_.data(), status, number_);
  }

  /// Allocates the pages that are planned and not there yet, but for segments from `fails_from` on.
  template <detail::operation Op, class AllocatorRef>
  void allocate(AllocatorRef const& allocator, std::uint64_t fails_from, detail::update_status* status) {
    exec::for_each_lane<32>(
        space_, batch_.most_segments(),
        detail::allocate_pages<Op, AllocatorRef>{allocator, batch_.view().segments, records_.data(), plans_.data(),
                                                 hubs_.data(), status, number_, fails_from});
  }
  /// Carries the planned changes out, if all pages are there.
  template <detail::operation Op>
  void merge(detail::update_status const* status) {
    with_width([&]<unsigned W>() {
      exec::for_each_tile<W>(space_, merge_tiles_,
                             detail::merge_segments<Op>{batch_.view(), records_.data(), plans_.data(), hubs_.data(),
                                                        status, number_, merge_tiles_});
    });
  }
  /// After merge: gives back the replaced pages, and sums up. With `undoes`, instead of merge: those allocated.
  template <class AllocatorRef>
  void release(AllocatorRef const& allocator, detail::update_status* status, bool undoes) {
    using work = detail::release_pages<AllocatorRef>;
    constexpr std::uint32_t a_lane = work::template a_lane<Space::template tile_size<32>>;
    exec::for_each_lane<32>(space_, (batch_.most_segments() + a_lane - 1) / a_lane,
                            work{allocator, plans_.data(), status, number_, undoes});
  }

  /// Empties all vertices, whose pages are somebody else's matter.
  void forget() { space_.fill(records_.data(), 0, records_.bytes()); }

 private:
  // Arcs of one vertex that a tile sorts; a thread on its own does so for some more.
  template <unsigned W>
  static constexpr std::uint32_t most = Space::template tile_size<W> == 1 ? 1024 : 32 * W;

  template <class F>
  void with_width(F const& f) {
    if (width_ == 32)
      f.template operator()<32>();
    else if (width_ == 16)
      f.template operator()<16>();
    else
      f.template operator()<8>();
  }

  Space space_;
  vertex_id vertices_;
  unsigned number_;
  unsigned width_ = 8;           // of a tile
  std::size_t merge_tiles_ = 0;  // more than segments where there may be hubs
  exec::buffer<vertex_record, Space> records_;
  batch<Space> batch_;
  detail::skewed_plan<Space> skewed_;
  exec::buffer<detail::segment_plan, Space> plans_;
  exec::buffer<detail::hub, Space> hubs_;
};

}  // namespace wyrm::graph
