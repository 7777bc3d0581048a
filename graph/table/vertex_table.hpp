// SPDX-License-Identifier: Apache-2.0
// One direction of a graph: the vertex table and its scratch memory, and the host side of the steps of an update
// (graph/batch, graph/update). Each step is enqueued, not waited for. A directed graph that keeps in-neighbours has two
// tables; an update allocates pages for both before it merges either.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../batch/batch.hpp"
#include "../batch/status.hpp"
#include "../layout/carved_rows.hpp"
#include "../update/allocate.hpp"
#include "../update/hubs.hpp"
#include "../update/merge.hpp"
#include "../update/plan.hpp"
#include "../update/plan_on_threads.hpp"
#include "../update/plan_skewed.hpp"
#include "../update/release.hpp"
#include "../view.hpp"

namespace wyrm::graph {

template <class Space>
class vertex_table {
 public:
  /// number: 0, or 1 for the second table of a graph. seed: see options::hash_seed.
  vertex_table(Space const& space, vertex_id vertices, unsigned number, std::uint32_t seed)
      : space_(space),
        vertices_(vertices),
        number_(number),
        seed_(seed),
        records_(detail::table_for(space, vertices)),
        batch_(space, seed),
        skewed_(space),
        lists_(space),
        plans_(space),
        hubs_(space) {
    clear();
  }

  [[nodiscard]] packed_record const* records() const { return records_.data(); }
  [[nodiscard]] packed_record* records() { return records_.data(); }
  /// Takes these records instead of its own.
  void replace(exec::buffer<packed_record, Space>&& records) { records_ = std::move(records); }
  /// A table of no vertices, to give its scratch to this one.
  [[nodiscard]] vertex_table empty_table() const { return vertex_table(space_, 0, number_, seed_); }
  /// Takes the scratch of such a table instead of its own, which is released.
  void replace_scratch(vertex_table&& fresh) noexcept {
    fresh.vertices_ = vertices_;
    fresh.records_ = std::move(records_);
    *this = std::move(fresh);
  }
  [[nodiscard]] std::size_t table_bytes() const { return records_.bytes(); }
  [[nodiscard]] std::size_t scratch_bytes() const {
    return batch_.bytes() + skewed_.bytes() + lists_.bytes() + plans_.bytes() + hubs_.bytes();
  }

  /// Makes room for a batch; slice: see batch_view. `arcs`: how many the table has.
  void begin(resident_edges edges, std::size_t slice, orientation which, bool keep_self_loops, std::uint64_t arcs,
             detail::update_status* status) {
    batch_.begin(edges, slice, vertices_, which, keep_self_loops, status, number_);
    std::size_t const groups = batch_.max_groups();
    std::size_t const batch_arcs = arcs_of(which, edges.size);
    std::size_t const most_arcs = arcs + batch_arcs;
    // Wide tiles where source groups are long on average.
    std::size_t const per_vertex = batch_arcs / std::max(vertices_, vertex_id{1});
    width_ = per_vertex >= 10 ? 32 : per_vertex >= 4 ? 16 : 8;
    is_sparse_ = has_tiles && per_vertex < 2;
    long_groups_ = is_sparse_ ? batch_arcs / (detail::few + 1) : 0;
    ranked_arcs_ = is_sparse_ && batch_arcs >= worth_ranking ? batch_arcs : 0;
    has_lists_ = is_sparse_ || !has_tiles;
    if (has_lists_) lists_.reserve(2 * (ranked_arcs_ + most_parts()) + long_groups_ + 2 * groups);
    plans_.reserve(groups);
    hubs_.reserve(std::min<std::size_t>(groups, most_arcs / detail::hub_degree));
    hub_tiles_ = std::min<std::size_t>(2 * most_arcs / detail::hub_part, 4096);
  }
  /// Counts n edges of the batch from `first` on, which are there then.
  void count(std::size_t first, std::size_t n) { batch_.count(first, n); }
  /// Groups the batch by source.
  void group() {
    if (is_sparse_) {
      batch_.group(most<32>, lists().long_groups, lists().parts);
      return;
    }
    with_width([&]<unsigned W>() { batch_.group(most<W>, nullptr, nullptr); });
  }
  /// Finds out what the batch will change and which pages that needs; threads on their own change what they can at
  /// once, see plan_on_threads.hpp. All tables have to be grouped before any is planned: one may have a source group
  /// that is too large, and then all are planned another way. For the rest see allocate.
  template <detail::operation Op, class AllocatorRef>
  void plan([[maybe_unused]] AllocatorRef const& allocator, [[maybe_unused]] std::uint64_t fails_from,
            detail::update_status* status) {
    bool const undirected = batch_.view().which == orientation::both;
    detail::plan_groups<Op, false, false> const step{batch_.view(), records_.data(), plans_.data(), status,
                                                     number_,       undirected,      lists()};
    if constexpr (!has_tiles) {
      exec::for_each_tile<1>(space_, thread_blocks(batch_.max_groups()),
                             detail::plan_on_threads<Op, AllocatorRef>{step, allocator, fails_from});
    } else if (!is_sparse_) {
      with_width([&]<unsigned W>() { exec::for_each_tile<W>(space_, batch_.max_groups(), step); });
    } else if (ranked_arcs_ > 0) {
      plan_sparse<Op, true>(status, undirected);
    } else {
      plan_sparse<Op, false>(status, undirected);
    }
  }
  /// Plans the same batch once more when a source group was too large for that; `known`: what the status was then. It
  /// goes on as a batch that is not sparse.
  template <detail::operation Op>
  void plan_skewed(detail::update_status const& known, detail::update_status* status) {
    is_sparse_ = has_lists_ = false;
    skewed_.template make<Op>(batch_.view(), known.groups(number_), known.arcs(number_), records_.data(), vertices_,
                              plans_.data(), status, number_);
  }

  /// Allocates the pages that are planned and not there yet, but for source groups from `fails_from` on. may_stay: a
  /// vertex that gets none stays in its page if that has room.
  template <detail::operation Op, class AllocatorRef>
  void allocate(AllocatorRef const& allocator, std::uint64_t fails_from, bool may_stay, detail::update_status* status) {
    std::size_t const lanes = lanes_for(batch_.max_groups());
    exec::for_each_lane<32>(space_, lanes,
                            detail::allocate_pages<Op, AllocatorRef>{
                                allocator, batch_.view().groups, records_.data(), plans_.data(), hubs_.data(), status,
                                number_, fails_from, may_stay, lists().reallocations, lanes});
  }
  /// Carries the planned changes out, if all pages are there.
  template <detail::operation Op>
  void merge(detail::update_status const* status) {
    std::size_t const groups = batch_.max_groups();
    if constexpr (has_tiles)
      if (is_sparse_) {
        std::size_t const tiles = std::max({(groups + 31) / 32, lanes_for(groups) / 32, hub_tiles_});
        exec::for_each_tile<32>(
            space_, tiles,
            detail::merge_groups<Op, true>{batch_.view(), records_.data(), plans_.data(), hubs_.data(), status, number_,
                                           tiles, lists().heavy_changes});
        return;
      }
    bool const some_each = !has_tiles && has_lists_;
    std::size_t const tiles = std::max(some_each ? thread_blocks(groups) : groups, hub_tiles_);
    with_width([&]<unsigned W>() {
      exec::for_each_tile<W>(
          space_, tiles,
          detail::merge_groups<Op, false>{batch_.view(), records_.data(), plans_.data(), hubs_.data(), status, number_,
                                          tiles, some_each ? lists().reallocations : nullptr});
    });
  }
  /// Instead of merge, of an insertion: what was changed already is as before. To be followed by release.
  void undo(detail::update_status const* status) {
    if constexpr (!has_tiles)
      exec::for_each_tile<1>(space_, batch_.max_groups(),
                             detail::undo_changes{batch_.view(), records_.data(), plans_.data(), status, number_});
  }
  /// After merge: gives back the replaced pages, and sums up. With `undoes`, instead of merge: those allocated.
  template <class AllocatorRef>
  void release(AllocatorRef const& allocator, detail::update_status* status, bool undoes) {
    using work = detail::release_pages<AllocatorRef>;
    constexpr std::uint32_t a_lane = work::template a_lane<Space::template tile_size<32>>;
    std::size_t const lanes = lanes_for((batch_.max_groups() + a_lane - 1) / a_lane);
    exec::for_each_lane<32>(space_, lanes,
                            work{allocator, plans_.data(), status, number_, undoes, lists().reallocations, lanes});
  }

  /// Empties all vertices, whose pages are somebody else's matter.
  void clear() { space_.fill(records_.data(), 0, records_.bytes()); }

 private:
  static constexpr bool has_tiles = exec::has_tiles<Space>;

  // Arcs of a batch for which one more launch pays, so that several tiles share what is long.
  static constexpr std::size_t worth_ranking = 4096;

  // Arcs of one vertex that a tile sorts; a thread on its own does so for some more.
  template <unsigned W>
  static constexpr std::uint32_t most = Space::template tile_size<W> == 1 ? 1024 : 32 * W;

  /// Of so many source groups: as many as a thread on its own takes at a time.
  [[nodiscard]] static std::size_t thread_blocks(std::size_t groups) {
    return (groups + detail::groups_per_thread - 1) / detail::groups_per_thread;
  }
  [[nodiscard]] detail::group_lists lists() {
    if (!has_lists_) return {};
    auto* const ranked = reinterpret_cast<detail::ranked_arc*>(lists_.data());
    auto* const parts = reinterpret_cast<detail::group_part*>(ranked + ranked_arcs_);
    auto* const long_groups = reinterpret_cast<std::uint32_t*>(parts + most_parts());
    std::uint32_t* const reallocations = long_groups + long_groups_;
    return {long_groups, ranked_arcs_ > 0 ? parts : nullptr, ranked, reallocations,
            reallocations + batch_.max_groups()};
  }
  template <detail::operation Op, bool Ranked>
  void plan_sparse(detail::update_status* status, bool undirected) {
    if constexpr (Ranked) {
      std::size_t const tiles = std::min<std::size_t>(most_parts(), 4096);
      exec::for_each_tile<32>(space_, tiles,
                              detail::rank_arcs<Op>{batch_.view(), records_.data(), status, number_, lists(), tiles});
    }
    std::size_t const long_tiles = std::min<std::size_t>(long_groups_, 4096);
    exec::for_each_tile<32>(
        space_, long_tiles + (batch_.max_groups() + 31) / 32,
        detail::plan_sparse_groups<Op, Ranked>{
            {batch_.view(), records_.data(), plans_.data(), status, number_, undirected, lists()}, long_tiles});
  }
  /// Of source groups that are longer than a tile: a part has half as many arcs as lanes at the least.
  [[nodiscard]] std::size_t most_parts() const { return 2 * ranked_arcs_ / Space::template tile_size<32>; }
  /// How many lanes serve n source groups at the most, or those on a list, whose length only the device knows.
  [[nodiscard]] std::size_t lanes_for(std::size_t n) const {
    if (has_lists_ && !has_tiles) return 1;  // see exec::one_thread
    if (has_lists_) n = std::min(n, space_.lanes_for(nullptr));
    return (n + 31) / 32 * 32;
  }

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
  std::uint32_t seed_;
  unsigned width_ = 8;           // of a tile
  bool is_sparse_ = false;       // the batch: see plan.hpp
  bool has_lists_ = false;       // of reallocations, at least
  std::size_t long_groups_ = 0;  // at the most
  std::size_t ranked_arcs_ = 0;  // at the most
  std::size_t hub_tiles_ = 0;    // that should be there for hubs
  exec::buffer<packed_record, Space> records_;
  batch<Space> batch_;
  detail::skewed_plan<Space> skewed_;
  exec::buffer<std::uint32_t, Space> lists_;
  exec::buffer<detail::group_plan, Space> plans_;
  exec::buffer<detail::hub, Space> hubs_;
};

}  // namespace wyrm::graph
