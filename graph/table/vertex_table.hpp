// SPDX-License-Identifier: Apache-2.0
// One direction of a graph: the vertex table with its scratch memory, and the host side of the steps of an update
// (graph/batch, graph/update). Steps are enqueued asynchronously. A directed graph with in-neighbours has two tables;
// an update allocates pages for both tables before it merges either.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../batch/batch.hpp"
#include "../batch/status.hpp"
#include "../options.hpp"
#include "../update/allocate.hpp"
#include "../update/check_weights.hpp"
#include "../update/hubs.hpp"
#include "../update/merge.hpp"
#include "../update/merge_entries.hpp"
#include "../update/plan.hpp"
#include "../update/plan_entries.hpp"
#include "../update/plan_large_entries.hpp"
#include "../update/plan_large_groups.hpp"
#include "../update/plan_on_host.hpp"
#include "../update/release.hpp"
#include "../view.hpp"
#include "record_memory.hpp"

namespace wyrm::graph {

template <class Space>
class vertex_table {
 public:
  /// number: 0, or 1 for the table of in-neighbours. width: bytes of a value. o: see max_vertices and hash_seed.
  vertex_table(Space const& space, vertex_id vertices, unsigned number, unsigned width, options const& o)
      : space_(space),
        vertices_(vertices),
        number_(number),
        value_width_(width),
        seed_(o.hash_seed),
        records_(space, vertices, o.max_vertices),
        batch_(space, o.hash_seed),
        large_groups_(space),
        large_entries_(space),
        lists_(space),
        plans_(space),
        mixed_plans_(space),
        hubs_(space) {
    clear();
  }

  [[nodiscard]] packed_record const* records() const { return records_.data(); }
  [[nodiscard]] packed_record* records() { return records_.data(); }
  /// Sets the records of the newest snapshot, for all steps from now on. See is_shared.
  void set_newest(snapshot_records newest) { newest_ = newest; }
  /// Replaces the records by records of the same number of vertices.
  void replace(exec::buffer<packed_record, Space>&& records) { records_.replace(std::move(records), vertices_); }
  /// Allocates memory for a table of this number of vertices, for grow(). Throws error(out_of_memory), and changes
  /// nothing.
  [[nodiscard]] exec::buffer<packed_record, Space> room_for(vertex_id vertices) { return records_.room_for(vertices); }
  /// Adds vertices without neighbours, up to the number for which `room` was made. Allocates no memory.
  void grow(vertex_id vertices, exec::buffer<packed_record, Space>&& room) {
    records_.grow(vertices_, vertices, std::move(room));
    vertices_ = vertices;
  }
  /// A table without vertices, for replace_scratch().
  [[nodiscard]] vertex_table empty_table() const {
    options o;
    o.hash_seed = seed_;
    return vertex_table(space_, 0, number_, value_width_, o);
  }
  /// Replaces the scratch by that of an empty table, and frees the old one.
  void replace_scratch(vertex_table&& fresh) noexcept {
    fresh.vertices_ = vertices_;
    fresh.newest_ = newest_;
    fresh.records_ = std::move(records_);
    *this = std::move(fresh);
  }
  [[nodiscard]] std::size_t table_bytes() const { return records_.bytes(); }
  [[nodiscard]] std::size_t scratch_bytes() const {
    return batch_.bytes() + large_groups_.bytes() + large_entries_.bytes() + lists_.bytes() + plans_.bytes() +
           mixed_plans_.bytes() + hubs_.bytes();
  }

  /// Allocates scratch for a batch in memory of the space. slice: see batch_view; has_entries: whether the batch is an
  /// entry_batch; arcs: the number of arcs in the table.
  void begin(detail::batch_arrays const& edges, std::size_t slice, bool has_entries, orientation which,
             bool keep_self_loops, std::uint64_t arcs, detail::update_status* status) {
    std::size_t const batch_arcs = arcs_of(which, edges.size);
    std::uint32_t const in_place =
        has_tiles ? detail::longest_in_place(batch_arcs, vertices_, arcs) : detail::hub_degree;
    batch_.begin(edges, slice, vertices_, which, keep_self_loops, in_place, status, number_);
    if (has_entries) batch_.begin_entries(edges, value_width_);
    std::size_t const groups = batch_.max_groups();
    std::size_t const most_arcs = arcs + batch_arcs;
    // Wide tiles if source groups are long on average.
    std::size_t const per_vertex = batch_arcs / std::max(vertices_, vertex_id{1});
    width_ = per_vertex >= 10 ? 32 : per_vertex >= 4 ? 16 : 8;
    is_sparse_ = has_tiles && per_vertex < 2;
    long_groups_ = is_sparse_ ? batch_arcs / (detail::few + 1) : 0;
    ranked_arcs_ = is_sparse_ && batch_arcs >= worth_ranking ? batch_arcs : 0;
    has_lists_ = is_sparse_ || (!has_tiles && !has_entries);
    if (has_lists_) lists_.reserve(2 * (ranked_arcs_ + most_parts()) + long_groups_ + 2 * groups);
    if (has_entries)
      mixed_plans_.reserve(groups);
    else
      plans_.reserve(groups);
    hubs_.reserve(std::min<std::size_t>(groups, most_arcs / detail::hub_degree));
    hub_tiles_ = std::min<std::size_t>(2 * most_arcs / detail::hub_part, 4096);
  }
  /// Counts n edges of the batch from `first` on, which must be uploaded before.
  void count(std::size_t first, std::size_t n) { batch_.count(first, n); }
  /// Groups the batch by source.
  void group() {
    if (is_sparse_) {
      batch_.group(most<32>, lists().long_groups, lists().parts);
      return;
    }
    with_width([&]<unsigned W>() {
      bool const is_planned_on_host = !has_tiles && !batch_.has_entries();
      batch_.group(is_planned_on_host ? detail::long_on_host : most<W>, nullptr, nullptr);
    });
  }
  /// Plans the changes of the batch and the pages that they need. On a CPU, threads make small changes immediately, see
  /// plan_on_host.hpp. All tables must be grouped before any table is planned: if a source group of one table is too
  /// large, all tables are planned by plan_large_groups(). fails_from: see allocate().
  template <detail::update_kind Op, class AllocatorRef>
  void plan([[maybe_unused]] AllocatorRef const& allocator, [[maybe_unused]] std::uint64_t fails_from,
            detail::update_status* status) {
    bool const undirected = batch_.view().which == orientation::both;
    detail::plan_groups<Op, false, false> const step{batch_.view(), records_.data(), plans_.data(), status,
                                                     number_,       undirected,      lists(),       newest_};
    if constexpr (!has_tiles) {
      exec::for_each_tile<1>(space_, thread_blocks(batch_.max_groups()),
                             detail::plan_on_host<Op, AllocatorRef>{step, allocator, fails_from});
    } else if (!is_sparse_) {
      with_width([&]<unsigned W>() { exec::for_each_tile<W>(space_, batch_.max_groups(), step); });
    } else if (ranked_arcs_ > 0) {
      plan_sparse<Op, true>(status, undirected);
    } else {
      plan_sparse<Op, false>(status, undirected);
    }
  }
  /// The same for an entry_batch. No change is made immediately.
  template <unsigned Width, class Combine>
  void plan_entries(Combine const& combine, detail::update_status* status) {
    bool const undirected = batch_.view().which == orientation::both;
    if constexpr (has_tiles)
      if (is_sparse_) {
        std::size_t const parts = std::min<std::size_t>(most_parts(), 4096);
        bool const is_ranked = ranked_arcs_ > 0;
        if (is_ranked)
          exec::for_each_tile<32>(space_, parts,
                                  detail::rank_keys{batch_.entries(), status, number_, lists().parts, parts});
        std::size_t const long_tiles = std::min<std::size_t>(long_groups_, 4096);
        exec::for_each_tile<32>(
            space_, long_tiles + (batch_.max_groups() + 31) / 32,
            detail::plan_sparse_entries<Width, Combine>{{batch_.entries(), records_.data(), mixed_plans_.data(), status,
                                                         number_, undirected, combine, lists(), newest_},
                                                        long_tiles,
                                                        is_ranked});
        return;
      }
    detail::plan_entries<Width, Combine, false> const step{
        batch_.entries(), records_.data(), mixed_plans_.data(), status, number_, undirected, combine, {}, newest_};
    with_width([&]<unsigned W>() { exec::for_each_tile<W>(space_, batch_.max_groups(), step); });
  }
  /// Plans the batch if a source group was too large for plan(); `known`: the status after that. Later steps process
  /// the batch as one that is not sparse.
  template <detail::update_kind Op>
  void plan_large_groups(detail::update_status const& known, detail::update_status* status) {
    is_sparse_ = has_lists_ = false;
    large_groups_.template make<Op>(batch_.view(), known.groups(number_), known.arcs(number_), records_.data(), newest_,
                                    vertices_, plans_.data(), status, number_);
  }
  template <unsigned Width, class Combine>
  void plan_large_entries(Combine const& combine, detail::update_status const& known, detail::update_status* status) {
    is_sparse_ = has_lists_ = false;
    large_entries_.template make<Width>(batch_.entries(), combine, known.groups(number_), known.arcs(number_),
                                        records_.data(), newest_, vertices_, mixed_plans_.data(), status, number_);
  }

  /// After the plan of an entry_batch: counts planned values that are no weights in the status, so that later steps
  /// change nothing.
  template <unsigned Width>
  void check_weights(number_type type, detail::update_status* status) {
    exec::for_each_tile<8>(
        space_, batch_.max_groups(),
        detail::check_planned_weights<Width>{batch_.entries(), mixed_plans_.data(), status, number_, type});
  }

  /// Allocates the planned pages that are not allocated; allocations fail for source groups from `fails_from` on
  /// (tests). may_stay: after a failure, a vertex stays in its page if that has room.
  template <class AllocatorRef>
  void allocate(AllocatorRef const& allocator, detail::update_kind kind, std::uint64_t fails_from, bool may_stay,
                detail::update_status* status) {
    if (is_done(status)) return;
    std::size_t const lanes = lanes_for(batch_.max_groups());
    exec::for_each_lane<32>(space_, lanes,
                            detail::allocate_pages<AllocatorRef>{
                                allocator, batch_.view().groups, records_.data(), plans(kind), hubs_.data(), status,
                                number_, fails_from, may_stay, lists().reallocations, lanes, value_width_, newest_});
  }
  /// Executes the planned changes, if all pages are allocated.
  template <detail::update_kind Op>
  void merge(detail::update_status const* status) {
    if (is_done(status)) return;
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
    std::size_t const some = some_each ? thread_blocks(groups) : groups;
    merge_all(some, detail::merge_groups<Op, false>{batch_.view(), records_.data(), plans_.data(), hubs_.data(), status,
                                                    number_, 0, some_each ? lists().reallocations : nullptr});
  }
  template <unsigned Width>
  void merge_entries(detail::update_status const* status) {
    std::size_t const groups = batch_.max_groups();
    if constexpr (has_tiles)
      if (is_sparse_) {
        std::size_t const tiles = std::max({(groups + 31) / 32, lanes_for(groups) / 32, hub_tiles_});
        exec::for_each_tile<32>(
            space_, tiles,
            detail::merge_entries<Width, true>{batch_.entries(), records_.data(), mixed_plans_.data(), hubs_.data(),
                                               status, number_, tiles, lists().heavy_changes});
        return;
      }
    merge_all(groups, detail::merge_entries<Width, false>{batch_.entries(), records_.data(), mixed_plans_.data(),
                                                          hubs_.data(), status, number_, 0, nullptr});
  }
  /// Instead of merge, for an insertion that failed: reverts changes that plan() made. release() must follow.
  void undo(detail::update_status const* status) {
    if constexpr (!has_tiles)
      if (!batch_.has_entries())
        exec::for_each_tile<1>(space_, batch_.max_groups(),
                               detail::undo_changes{batch_.view(), records_.data(), plans_.data(), status, number_});
  }
  /// After merge: frees the replaced pages, and sums the changes. With `undoes`, instead of merge: frees allocated
  /// pages.
  template <class AllocatorRef>
  void release(AllocatorRef const& allocator, detail::update_status* status, bool undoes) {
    // The steps from here on do not distinguish insertions from erasures.
    auto const kind = batch_.has_entries() ? detail::update_kind::mixed : detail::update_kind::insert;
    using work = detail::release_pages<AllocatorRef>;
    constexpr std::uint32_t groups_per_lane = work::template groups_per_lane<Space::template tile_size<32>>;
    std::size_t const lanes = lanes_for((batch_.max_groups() + groups_per_lane - 1) / groups_per_lane);
    exec::for_each_lane<32>(space_, lanes,
                            work{allocator, batch_.view().groups, plans(kind), status, number_, undoes,
                                 lists().reallocations, lanes, newest_});
  }

  /// Clears the records of all vertices, without freeing pages. All vertices are in the graph then.
  void clear() { space_.fill(records_.data(), 0, records_.bytes()); }

 private:
  static constexpr bool has_tiles = exec::has_tiles<Space>;

  // Merges a batch that is not sparse, with `tiles` tiles for source groups. Sets step.tiles.
  template <class Merge>
  void merge_all(std::size_t tiles, Merge step) {
    bool const in_place = batch_.view().in_place > detail::hub_degree;
    step.tiles = in_place ? tiles : std::max(tiles, hub_tiles_);
    with_width([&]<unsigned W>() { exec::for_each_tile<W>(space_, step.tiles, step); });
    if constexpr (has_tiles) {
      step.tiles = hub_tiles_;
      if (in_place) exec::for_each_block(space_, hub_tiles_, detail::merge_hubs<Merge>{step});
    }
  }

  // From this number of arcs on, it is faster to let several tiles rank a long source group in an additional launch.
  static constexpr std::size_t worth_ranking = 4096;

  // Maximum size of a source group that a tile sorts; larger for a CPU thread.
  template <unsigned W>
  static constexpr std::uint32_t most = Space::template tile_size<W> == 1 ? 1024 : 32 * W;

  /// The number of blocks of source groups that CPU threads process.
  [[nodiscard]] static std::size_t thread_blocks(std::size_t groups) {
    return (groups + detail::groups_per_thread - 1) / detail::groups_per_thread;
  }
  // Whether plan_on_host has executed all changes.
  [[nodiscard]] bool is_done([[maybe_unused]] detail::update_status const* status) const {
    if constexpr (has_tiles) return false;
    return has_lists_ && status->heavy_changes(number_) == 0;
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
  [[nodiscard]] detail::plan_list plans(detail::update_kind kind) const {
    if (kind == detail::update_kind::mixed) return detail::plan_list(mixed_plans_.data());
    return {plans_.data(), kind};
  }
  template <detail::update_kind Op, bool Ranked>
  void plan_sparse(detail::update_status* status, bool undirected) {
    if constexpr (Ranked) {
      std::size_t const tiles = std::min<std::size_t>(most_parts(), 4096);
      exec::for_each_tile<32>(space_, tiles,
                              detail::rank_arcs<Op>{batch_.view(), records_.data(), status, number_, lists(), tiles});
    }
    std::size_t const long_tiles = std::min<std::size_t>(long_groups_, 4096);
    exec::for_each_tile<32>(space_, long_tiles + (batch_.max_groups() + 31) / 32,
                            detail::plan_sparse_groups<Op, Ranked>{{batch_.view(), records_.data(), plans_.data(),
                                                                    status, number_, undirected, lists(), newest_},
                                                                   long_tiles});
  }
  /// Maximum number of parts of source groups that are longer than a tile: parts have at least tile_size / 2 arcs on
  /// average.
  [[nodiscard]] std::size_t most_parts() const { return 2 * ranked_arcs_ / Space::template tile_size<32>; }
  /// The number of lanes for at most n source groups, or for those on a list, whose length is in device memory.
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
  unsigned value_width_;  // bytes of a value
  std::uint32_t seed_;
  unsigned width_ = 8;           // lanes per tile
  bool is_sparse_ = false;       // whether the batch is sparse, see plan.hpp
  bool has_lists_ = false;       // whether there is a list of reallocations
  std::size_t long_groups_ = 0;  // maximum number
  std::size_t ranked_arcs_ = 0;  // maximum number
  std::size_t hub_tiles_ = 0;    // number of tiles that hubs need
  detail::record_memory<Space> records_;
  snapshot_records newest_;
  batch<Space> batch_;
  detail::large_group_plan<Space> large_groups_;
  detail::large_entry_plan<Space> large_entries_;
  exec::buffer<std::uint32_t, Space> lists_;
  exec::buffer<detail::group_plan, Space> plans_;
  exec::buffer<detail::mixed_plan, Space> mixed_plans_;  // of an entry_batch
  exec::buffer<detail::hub, Space> hubs_;
};

}  // namespace wyrm::graph
