// SPDX-License-Identifier: Apache-2.0
// A frontier: a list of vertices to process, each once. Only the device knows its length. A vertex with many neighbours
// is listed in several parts, so that several tiles process it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/load.hpp"
#include "../../exec/tile.hpp"
#include "../../graph/types.hpp"
#include "../../graph/view.hpp"

namespace wyrm::algorithms::detail {

/// A vertex, and the number of a part of its neighbours. The parts of a vertex are contiguous in the list.
struct frontier_item {
  static constexpr std::uint32_t part_size = 256;  // neighbours; parts are larger if there would be more than max_parts
  static constexpr std::uint32_t max_parts = 1024;
  graph::vertex_id vertex;
  std::uint32_t part;

  /// The number of parts of a vertex with this degree; at least one.
  [[nodiscard]] WYRM_HD static std::uint32_t parts(std::uint32_t degree) {
    if (degree <= part_size) return 1;
    return degree < part_size * max_parts ? (degree + part_size - 1) / part_size : max_parts;
  }
  [[nodiscard]] WYRM_HD graph::neighbour_list part_of(graph::neighbour_list const& all) const {
    return part_of(all, parts(all.size));
  }
  /// The same of a list that is divided into n parts.
  [[nodiscard]] WYRM_HD graph::neighbour_list part_of(graph::neighbour_list const& all, std::uint32_t n) const {
    std::uint32_t const size = (all.size + n - 1) / n;
    std::uint32_t const begin = part * size < all.size ? part * size : all.size;
    return {all.data + begin, all.size - begin < size ? all.size - begin : size};
  }
};

struct frontier {
  std::uint32_t* marks;  // a bit per vertex: whether it is in the list
  frontier_item* items;
  std::uint32_t* size;

  /// The greatest number of items for this many vertices, with this many neighbours in total.
  [[nodiscard]] static std::size_t capacity(std::size_t vertices, std::uint64_t arcs) {
    return vertices + arcs / frontier_item::part_size;
  }
  /// Adds the vertex of each lane that has one, unless it is in the list; collective.
  template <class Tile>
  WYRM_HD void add(Tile const& t, graph::graph_view const& g, graph::vertex_id v, bool has) const {
    if (!t.any(has)) return;
    std::uint32_t const bit = 1u << v % 32;
    append(t, g, v, has && (exec::atomic_ref<std::uint32_t>(marks[v / 32]).fetch_or(bit, exec::relaxed) & bit) == 0);
  }
  /// Lists the vertex of each lane that has one, which is in no list; collective.
  template <class Tile>
  WYRM_HD void append(Tile const& t, graph::graph_view const& g, graph::vertex_id v, bool has) const {
    append(t, v, has ? frontier_item::parts(g.degree(v)) : 0);
  }
  /// The same for a vertex in this many parts; 0: no vertex.
  template <class Tile>
  WYRM_HD void append(Tile const& t, graph::vertex_id v, std::uint32_t parts) const {
    std::uint32_t const below = exec::sum_below(t, parts);
    std::uint32_t const all = t.shfl(below + parts, Tile::size() - 1);
    if (all == 0) return;
    std::uint32_t first = 0;
    if (t.rank() == 0) first = exec::atomic_ref<std::uint32_t>(*size).fetch_add(all, exec::relaxed);
    first = t.shfl(first, 0) + below;
    for (std::uint32_t p = 0; p < parts; ++p) items[first + p] = {v, p};
  }
  /// Clears the mark of v. One lane does so, for one part of v.
  WYRM_HD void clear_mark(graph::vertex_id v) const {
    exec::atomic_ref<std::uint32_t>(marks[v / 32]).fetch_and(~(1u << v % 32), exec::relaxed);
  }
};

/// A loop of a core, which is one of `tiles`, over its share of a list: consecutive items, so that it reads each cache
/// line once. The vertices of a list have no order, and so their records and rows are rarely in the caches of the core;
/// if f has a member rows(), the records that f reads, they are loaded ahead.
template <class F, class Work>
WYRM_HD void for_each_in_share(frontier_item const* items, std::size_t n, std::size_t tile, std::size_t tiles,
                               [[maybe_unused]] F const& f, Work const& work) {
  constexpr std::size_t record_ahead = 16;
  constexpr std::size_t row_ahead = 8;
  std::size_t const end = n * (tile + 1) / tiles;
  for (std::size_t i = n * tile / tiles; i < end; ++i) {
    if constexpr (requires { f.rows(); }) {
      if (i + record_ahead < end) exec::prefetch(f.rows() + items[i + record_ahead].vertex);
      if (i + row_ahead < end) {
        frontier_item const& later = items[i + row_ahead];
        exec::prefetch(f.rows()[later.vertex].page() + std::size_t{later.part} * frontier_item::part_size);
      }
    }
    work(i);
  }
}

/// A loop of a fixed number of tiles over a frontier: a tile per item for W < 32, or a lane per item for W = 32.
template <unsigned W, class F>
struct over_items {
  frontier_item const* items;
  std::uint32_t const* size;
  std::size_t tiles;
  F f;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t tile) const {
    std::size_t const n = *size;
    if constexpr (requires { f.start(); })
      if (tile == 0 && t.rank() == 0) f.start();
    if constexpr (Tile::size() == 1) {
      for_each_in_share(items, n, tile, tiles, f, [&](std::size_t i) { f(t, items + i); });
    } else if constexpr (W < 32) {
      for (std::size_t i = tile; i < n; i += tiles) f(t, items + i);
    } else {
      for (std::size_t i = tile * Tile::size(); i < n; i += tiles * Tile::size())
        f(t, i + t.rank() < n ? items + i + t.rank() : nullptr);
    }
  }
};

/// Calls f(tile, item) for all items of the frontier, with W < 32 lanes per item; or, for W = 32, with one lane per
/// item, and nullptr for lanes without an item. f must not add to this frontier. If f has a member start(), it is
/// called once, concurrently with f.
template <unsigned W, class Space, class F>
void for_each_item(Space const& space, frontier const& from, F const& f) {
  constexpr std::size_t lanes = Space::template tile_size<W>;
  std::size_t const tiles = space.lanes_for(from.size) / lanes + 1;
  exec::for_each_tile<W>(space, tiles, over_items<W, F>{from.items, from.size, tiles, f});
}

}  // namespace wyrm::algorithms::detail
