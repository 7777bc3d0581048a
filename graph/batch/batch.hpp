// SPDX-License-Identifier: Apache-2.0
// The host side of grouping: the memory of a batch, and the launches of group.hpp or, on a CPU, group_on_host.hpp.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../types.hpp"
#include "group.hpp"
#include "group_on_host.hpp"
#include "status.hpp"

namespace wyrm::graph {

template <class Space>
class batch {
 public:
  /// seed: the seed of the hash table.
  batch(Space const& space, std::uint32_t seed)
      : space_(space),
        seed_(seed),
        keys_(space),
        counts_(space),
        places_(space),
        groups_(space),
        targets_(space),
        positions_(space),
        keys_of_arcs_(space),
        erased_(space),
        values_(space),
        buckets_(space) {}

  /// Allocates memory for a batch in memory of the space, which must not change until the end of the update. `table` is
  /// the number of the table in the status. slice, in_place: see batch_view. Throws error(bad_argument) for more than
  /// 2^32 arcs.
  void begin(detail::batch_arrays const& edges, std::size_t slice, vertex_id vertices, orientation which,
             bool keep_self_loops, std::uint32_t in_place, detail::update_status* status, unsigned table) {
    std::size_t const arcs = arcs_of(which, edges.size);
    if (arcs >= 0xffffffff)
      throw error(error_code::bad_argument,
                  "a batch of " + std::to_string(edges.size) + " edges is too large (2^32 arcs at most); split it");
    max_groups_ = std::min<std::size_t>(arcs, vertices);
    if constexpr (has_tiles) places_.reserve(arcs);
    groups_.reserve(max_groups_);
    targets_.reserve(arcs);
    positions_.reserve(arcs);
    table_ = make_table(arcs, vertices);
    view_ = {edges.edges,     edges.size,        which, table_,  places_.data(), groups_.data(),
             targets_.data(), positions_.data(), slice, in_place};
    count_ = {edges.edges, places_.data(), table_, status, vertices, which, keep_self_loops, 0};
    number_ = table;
    entries_ = {};
  }
  /// After begin(): allocates memory for the entries of an entry_batch with values of `width` bytes.
  void begin_entries(detail::batch_arrays const& edges, unsigned width) {
    std::size_t const arcs = arcs_of(view_.which, edges.size);
    keys_of_arcs_.reserve(2 * arcs);
    erased_.reserve(arcs);
    values_.reserve(arcs * width);
    entries_ = {view_, edges, keys_of_arcs_.data(), keys_of_arcs_.data() + arcs, erased_.data(), values_.data()};
  }
  /// Counts n edges from `first` on. All edges must be counted before group().
  void count(std::size_t first, std::size_t n) {
    if constexpr (!has_tiles) return;
    count_.first = first;
    exec::for_each_lane<32>(space_, n, count_);
  }
  /// Groups the batch. Source groups of more than `most` arcs set `has_large_group` in the status. If there are lists,
  /// groups of more than `few` arcs are listed, and the parts of groups that are longer than a tile.
  void group(std::uint32_t most, std::uint32_t* long_groups, detail::group_part* parts) {
    if constexpr (has_tiles) {
      exec::for_each_lane<32>(
          space_, detail::slot_table::lanes(table_.slots),
          detail::place_groups{table_, groups_.data(), count_.status, number_, most, long_groups, parts});
      if (has_entries()) {
        exec::for_each(space_, view_.size, detail::scatter_keys{entries_});
      } else {
        detail::scatter_targets const scatter{view_};
        exec::for_each(space_, scatter.threads(), scatter);
      }
    } else if (has_entries()) {
      buckets_.template group<detail::bucketed_entry>(count_, view_.size, groups_.data(), entries_.keys, number_, most);
    } else {
      buckets_.template group<detail::bucketed_arc>(count_, view_.size, groups_.data(), targets_.data(), number_, most);
    }
  }

  [[nodiscard]] detail::batch_view const& view() const { return view_; }
  [[nodiscard]] bool has_entries() const { return entries_.keys != nullptr; }
  [[nodiscard]] detail::entry_batch const& entries() const { return entries_; }
  /// An upper bound of the number of source groups.
  [[nodiscard]] std::size_t max_groups() const { return max_groups_; }
  [[nodiscard]] std::size_t bytes() const {
    return keys_.bytes() + counts_.bytes() + places_.bytes() + groups_.bytes() + targets_.bytes() + positions_.bytes() +
           keys_of_arcs_.bytes() + erased_.bytes() + values_.bytes() + buckets_.bytes();
  }

 private:
  static constexpr bool has_tiles = exec::has_tiles<Space>;
  static constexpr std::uint32_t slots_per_lane = detail::slot_table::slots_per_lane;

  detail::slot_table make_table(std::size_t arcs, vertex_id vertices) {
    std::size_t const hashed = std::bit_ceil(std::max<std::size_t>(2 * arcs, 64));
    bool const direct = vertices <= 4 * hashed;
    std::size_t const slots = direct ? vertices : hashed;
    std::size_t const there = has_tiles ? (slots + slots_per_lane - 1) / slots_per_lane * slots_per_lane : slots;
    counts_.reserve(there);
    if (!direct) keys_.reserve(has_tiles ? there : detail::keys_on_host(slots));
    if constexpr (has_tiles) {
      space_.fill(counts_.data(), 0, there * sizeof(std::uint32_t));
      if (!direct) space_.fill(keys_.data(), 0xff, slots * sizeof(vertex_id));
    }
    unsigned const shift = direct ? 0 : 32 - static_cast<unsigned>(std::countr_zero(slots));
    return {direct ? nullptr : keys_.data(), counts_.data(), static_cast<std::uint32_t>(slots), shift, seed_};
  }

  Space space_;
  std::uint32_t seed_;
  exec::buffer<vertex_id, Space> keys_;
  exec::buffer<std::uint32_t, Space> counts_;
  exec::buffer<detail::arc_place, Space> places_;
  exec::buffer<detail::source_group, Space> groups_;
  exec::buffer<vertex_id, Space> targets_;
  exec::buffer<std::uint32_t, Space> positions_;
  exec::buffer<std::uint64_t, Space> keys_of_arcs_;  // of an entry_batch, as erased_ and values_
  exec::buffer<std::uint32_t, Space> erased_;
  exec::buffer<std::byte, Space> values_;
  detail::bucket_grouping<Space> buckets_;
  detail::slot_table table_{};
  detail::batch_view view_{};
  detail::entry_batch entries_{};
  detail::count_arcs count_{};
  unsigned number_ = 0;
  std::size_t max_groups_ = 0;
};

}  // namespace wyrm::graph
