// SPDX-License-Identifier: Apache-2.0
// The kinds of rows by length, and the hash tables in which hubs add up the weights of their arcs to each neighbouring
// community (move_round.hpp) on a device: several tiles process a hub, so its table is in memory of the space, and not
// of a tile. If a memory manager has no room for all of them, there are tables for a window of vertices at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../exec/atomic.hpp"
#include "../../exec/bulk.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../../exec/tile.hpp"
#include "../../graph/types.hpp"
#include "../../graph/view.hpp"
#include "frontier.hpp"
#include "vote_table.hpp"

namespace wyrm::algorithms::detail {

/// Rows by length: which lanes process them.
enum class row_kind : std::uint8_t { empty, small, medium, hub };
/// The longest row of 8 lanes; longer ones have 32, and those with several parts are hubs. See has_wide_tiles() in
/// modularity_moves.hpp.
inline constexpr std::uint32_t longest_small_row = 32;

[[nodiscard]] WYRM_HD inline row_kind kind_of_row(std::uint32_t degree, std::uint32_t longest_small) {
  if (degree == 0) return row_kind::empty;
  if (degree <= longest_small) return row_kind::small;
  return degree <= frontier_item::part_size ? row_kind::medium : row_kind::hub;
}

/// The items of each kind of row, and the slots of the tables of hubs.
struct row_counts {
  std::uint64_t slots;
  std::uint32_t longest;  // table, in slots
  std::uint32_t small;
  std::uint32_t medium;
  std::uint32_t hub;
};

/// A loop of a fixed number of tiles over all vertices.
struct count_rows {
  graph::graph_view g;
  std::size_t tiles;
  row_counts* counts;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t tile) const {
    row_counts mine{};
    for (std::size_t v = tile * Tile::size() + t.rank(); v < g.vertices(); v += tiles * Tile::size()) {
      std::uint32_t const degree = g.degree(static_cast<graph::vertex_id>(v));
      switch (kind_of_row(degree, longest_small_row)) {
        case row_kind::empty: break;
        case row_kind::small: ++mine.small; break;
        case row_kind::medium: ++mine.medium; break;
        case row_kind::hub: {
          std::uint32_t const slots = vote_table<std::uint32_t>::slots_for(degree);
          mine.hub += frontier_item::parts(degree);
          mine.slots += slots;
          mine.longest = slots > mine.longest ? slots : mine.longest;
          break;
        }
      }
    }
    add(t, counts->small, mine.small);
    add(t, counts->medium, mine.medium);
    if (!t.any(mine.hub > 0)) return;
    add(t, counts->hub, mine.hub);
    add(t, counts->slots, mine.slots);
    std::uint32_t const longest = exec::max(t, mine.longest);
    if (t.rank() == 0) exec::atomic_ref<std::uint32_t>(counts->longest).fetch_max(longest, exec::relaxed);
  }

 private:
  template <class Tile, class T>
  WYRM_HD static void add(Tile const& t, T& to, T mine) {
    T const all = exec::sum(t, mine);
    if (t.rank() == 0 && all > 0) exec::atomic_ref<T>(to).fetch_add(all, exec::relaxed);
  }
};

/// The vertices [first, last), whose tables are in memory, from `begin` on in the order of all tables.
struct table_window {
  graph::vertex_id first;
  graph::vertex_id last;
  std::uint64_t begin;
};

/// The tables of a window of hubs, and the best move of each part of a hub, for kernels.
struct hub_tables_view {
  std::uint64_t const* begins;  // of the table of each vertex, in the order of all tables
  graph::vertex_id* label;
  std::uint32_t* weight;
  table_window window;
  candidate<std::uint64_t>* best;  // of each item in the list of hubs; votes are gains

  [[nodiscard]] WYRM_HD bool has(graph::vertex_id v) const { return v >= window.first && v < window.last; }
  [[nodiscard]] WYRM_HD vote_table<std::uint32_t> of(graph::vertex_id v) const {
    std::uint64_t const begin = begins[v] - window.begin;
    return {label + begin, weight + begin, static_cast<std::uint32_t>(begins[v + 1] - begins[v])};
  }
};

struct find_slots {
  graph::graph_view g;
  std::uint32_t* slots;
  WYRM_HD void operator()(std::size_t i) const {
    std::uint32_t const degree = g.degree(static_cast<graph::vertex_id>(i));
    slots[i] = degree > frontier_item::part_size ? vote_table<std::uint32_t>::slots_for(degree) : 0;
  }
};

/// One thread per window: the tables that begin in the next `slots` slots.
struct cut_tables {
  std::uint64_t const* begins;
  graph::vertex_id n;
  std::uint64_t slots;
  table_window* windows;
  WYRM_HD void operator()(std::size_t k) const {
    graph::vertex_id const first = graph::lower_bound(begins, n, k * slots);
    windows[k] = {first, graph::lower_bound(begins, n, (k + 1) * slots), begins[first]};
  }
};

/// Owns the tables of hubs: 12 bytes per arc of a hub, and 12 per vertex if there are hubs. Tables are accessed at
/// random, so they are on the device; a memory manager must have room for the longest one, twice. reserve() requests 12
/// bytes for each arc, as all may be those of hubs.
template <class Space>
class hub_tables {
 public:
  explicit hub_tables(Space const& space)
      : space_(space),
        bulk_(space),
        slots_(space),
        begins_(space),
        label_(space),
        weight_(space),
        best_(space),
        cuts_(space),
        counts_(space, 1) {}

  /// Requests the memory for any graph with n vertices and this many arcs.
  void reserve(std::size_t n, std::uint64_t arcs) {
    std::uint64_t const hubs = arcs / (frontier_item::part_size + 1);
    if (hubs == 0) return;
    auto const longest =
        vote_table<std::uint32_t>::slots_for(static_cast<std::uint32_t>(std::min<std::uint64_t>(n, arcs)));
    reserve(n, arcs + arcs / 2 + hubs, longest, arcs / frontier_item::part_size + hubs);
  }
  /// Counts the rows of a graph by kind, and makes tables for its hubs.
  row_counts const& prepare(graph::graph_view const& g) {
    std::size_t const n = g.vertices();
    vertices_ = static_cast<graph::vertex_id>(n);
    space_.fill(counts_.data(), 0, counts_.bytes());
    constexpr std::size_t lanes = Space::template tile_size<32>;
    std::size_t const most = space_.lanes_for(&counts_.data()->small) / lanes + 1;
    std::size_t const tiles = std::min(most, (n + lanes - 1) / lanes);
    exec::for_each_tile<32>(space_, tiles, count_rows{g, tiles, counts_.data()});
    found_ = exec::read(space_, counts_.data());
    if (found_.hub > 0) {
      reserve(n, found_.slots, found_.longest, found_.hub);
      exec::for_each(space_, n, find_slots{g, slots_.data()});
      bulk_.inclusive_sum(slots_.data(), begins_.data(), n);
    }
    return found_;
  }
  /// After prepare(): empties the tables, and cuts windows.
  void clear() {
    windows_.clear();
    if (found_.hub == 0) return;
    std::uint64_t const size = room();
    std::uint64_t const used = std::min(found_.slots, size);
    space_.fill(label_.data(), 0xff, used * sizeof(graph::vertex_id));
    space_.fill(weight_.data(), 0, used * sizeof(std::uint32_t));
    if (found_.slots <= size) {
      windows_.push_back({0, vertices_, 0});
      return;
    }
    std::size_t const count = windows_for(found_.slots, size, found_.longest);
    exec::for_each(space_, count,
                   cut_tables{begins_.data(), vertices_, step_of_windows(size, found_.longest), cuts_.data()});
    windows_ = exec::copy_out(space_, cuts_.data(), count);
  }
  /// After clear(): as many tables at a time as fit; none without hubs.
  [[nodiscard]] std::vector<table_window> const& windows() const { return windows_; }
  [[nodiscard]] candidate<std::uint64_t> const* best() const { return best_.data(); }
  [[nodiscard]] hub_tables_view view(table_window const& window) const {
    return {begins_.data(), label_.data(), weight_.data(), window, best_.data()};
  }

 private:
  void reserve(std::size_t n, std::uint64_t slots, std::uint32_t longest, std::uint64_t items) {
    bulk_.reserve(n);
    best_.reserve(items);
    slots_.reserve(n);
    begins_.reserve(n + 1);
    std::uint64_t size = slots;
    if (space_.manager() != nullptr) {
      // Tables that were made for as many slots are kept.
      constexpr std::size_t bytes = sizeof(graph::vertex_id) + sizeof(std::uint32_t);
      std::uint64_t const least = std::min<std::uint64_t>(slots, 2 * std::uint64_t{longest});
      size = room();
      if (size < least || slots > made_for_)
        size = std::max(least, std::min<std::uint64_t>(slots, space_.manager()->room_for_arrays() / 2 / bytes));
      if (size < slots) cuts_.reserve(windows_for(slots, size, longest));
    }
    label_.reserve(size);
    weight_.reserve(size);
    made_for_ = std::max(made_for_, slots);
  }
  // They differ after a request that failed.
  [[nodiscard]] std::uint64_t room() const { return std::min(label_.size(), weight_.size()); }
  // Slots from one window to the next, as a table that begins in a window may end after it.
  [[nodiscard]] static std::uint64_t step_of_windows(std::uint64_t size, std::uint32_t longest) {
    return size - longest;
  }
  [[nodiscard]] static std::size_t windows_for(std::uint64_t all, std::uint64_t size, std::uint32_t longest) {
    return (all - 1) / step_of_windows(size, longest) + 1;
  }

  Space space_;
  typename Space::bulk bulk_;
  exec::large_buffer<std::uint32_t, Space> slots_;
  exec::large_buffer<std::uint64_t, Space> begins_;
  exec::buffer<graph::vertex_id, Space> label_;
  exec::buffer<std::uint32_t, Space> weight_;
  exec::large_buffer<candidate<std::uint64_t>, Space> best_;
  exec::buffer<table_window, Space> cuts_;
  exec::buffer<row_counts, Space> counts_;
  row_counts found_{};
  std::uint64_t made_for_ = 0;  // slots for which there have been tables
  graph::vertex_id vertices_ = 0;
  std::vector<table_window> windows_;
};

}  // namespace wyrm::algorithms::detail
