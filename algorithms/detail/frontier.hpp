// SPDX-License-Identifier: Apache-2.0
// A frontier: a list of vertices to process, each once. Only the device knows its length. A vertex with many neighbours
// is listed in several parts, so that several tiles process it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

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

/// How many neighbours a lane of a device processes together: it waits for their loads together. 1 on a CPU.
template <class Tile>
inline constexpr unsigned neighbours_at_once = Tile::size() == 1 ? 1 : 4;

struct frontier {
  std::uint32_t* marks;  // a bit per vertex: whether it is in the list
  frontier_item* items;
  std::uint32_t* size;
  std::uint32_t* has_parts = nullptr;  // if not null: becomes 1 if append() lists a vertex in several parts

  /// The greatest number of items for this many vertices, with this many neighbours in total.
  [[nodiscard]] static std::size_t capacity(std::size_t vertices, std::uint64_t arcs) {
    return vertices + arcs / frontier_item::part_size;
  }
  /// Adds the vertex of each lane that has one, unless it is in the list; collective.
  template <class Tile>
  WYRM_HD void add(Tile const& t, graph::graph_view const& g, graph::vertex_id v, bool has) const {
    graph::vertex_id const vertices[] = {v};
    bool const are_added[] = {has};
    add(t, g, vertices, are_added);
  }
  /// The same for up to N vertices of each lane. All are waited for together.
  template <class Tile, unsigned N>
  WYRM_HD void add(Tile const& t, graph::graph_view const& g, graph::vertex_id const (&v)[N],
                   bool const (&has)[N]) const {
    bool has_any = false;
    for (bool const h : has) has_any = has_any || h;
    if (!t.any(has_any)) return;
    std::uint32_t parts[N];
    bool is_new[N];
    // A device loads degrees while it sets marks: each takes longer than all other work.
    for (unsigned k = 0; k < N; ++k) parts[k] = has[k] && Tile::size() > 1 ? frontier_item::parts(g.degree(v[k])) : 0;
    for (unsigned k = 0; k < N; ++k) is_new[k] = has[k] && set_mark(v[k]);
    for (unsigned k = 0; k < N; ++k)
      parts[k] = !is_new[k] ? 0 : Tile::size() > 1 ? parts[k] : frontier_item::parts(g.degree(v[k]));
    append(t, v, parts);
  }
  /// Lists the vertex of each lane that has one, which is in no list; collective.
  template <class Tile>
  WYRM_HD void append(Tile const& t, graph::graph_view const& g, graph::vertex_id v, bool has) const {
    append(t, v, has ? frontier_item::parts(g.degree(v)) : 0);
  }
  /// The same for a vertex in this many parts; 0: no vertex.
  template <class Tile>
  WYRM_HD void append(Tile const& t, graph::vertex_id v, std::uint32_t parts) const {
    graph::vertex_id const vertices[] = {v};
    std::uint32_t const all_parts[] = {parts};
    append(t, vertices, all_parts);
  }
  /// The same for up to N vertices of each lane.
  template <class Tile, unsigned N>
  WYRM_HD void append(Tile const& t, graph::vertex_id const (&v)[N], std::uint32_t const (&parts)[N]) const {
    write(t, reserve(t, parts), v, parts);
  }
  /// append() in two steps, reserve() and write(), so that a tile can wait for the room in several lists together; both
  /// are collective.
  struct room {
    std::uint32_t first;  // of the tile, as lane 0 knows it
    std::uint32_t below;  // items of the lanes below
    std::uint32_t all;    // items of the tile
  };
  template <class Tile, unsigned N>
  [[nodiscard]] WYRM_HD room reserve(Tile const& t, std::uint32_t const (&parts)[N]) const {
    std::uint32_t mine = 0;
    for (std::uint32_t const p : parts) mine += p;
    std::uint32_t const below = exec::sum_below(t, mine);
    std::uint32_t const all = t.shfl(below + mine, Tile::size() - 1);
    std::uint32_t first = 0;
    if (t.rank() == 0 && all > 0) first = exec::atomic_ref<std::uint32_t>(*size).fetch_add(all, exec::relaxed);
    return {first, below, all};
  }
  template <class Tile, unsigned N>
  WYRM_HD void write(Tile const& t, room const& in, graph::vertex_id const (&v)[N],
                     std::uint32_t const (&parts)[N]) const {
    if (in.all == 0) return;
    frontier_item* at = items + t.shfl(in.first, 0) + in.below;
    for (unsigned k = 0; k < N; ++k) {
      for (std::uint32_t p = 0; p < parts[k]; ++p) *at++ = {v[k], p};
      note_parts(parts[k]);
    }
  }
  WYRM_HD void note_parts(std::uint32_t parts) const {
    if (parts > 1 && has_parts != nullptr) exec::atomic_ref<std::uint32_t>(*has_parts).store(1, exec::relaxed);
  }
  /// Appends the item of each lane that has one; collective.
  template <class Tile>
  WYRM_HD void append_item(Tile const& t, frontier_item const& item, bool has) const {
    std::uint32_t const who = t.ballot(has);
    if (who == 0) return;
    std::uint32_t first = 0;
    if (t.rank() == 0)
      first = exec::atomic_ref<std::uint32_t>(*size).fetch_add(static_cast<std::uint32_t>(cuda::std::popcount(who)),
                                                               exec::relaxed);
    first = t.shfl(first, 0);
    if (has) items[first + exec::rank_in(t, who)] = item;
  }
  /// Marks v; returns whether it was not marked. For kernels that clear no mark of this frontier: a mark that is set
  /// stays set, so a plain load, which costs a core less than a locked operation, is enough to see it.
  [[nodiscard]] WYRM_HD bool mark(graph::vertex_id v) const {
    return (exec::load_recent(marks[v / 32]) >> v % 32 & 1) == 0 && set_mark(v);
  }
  /// The same for other kernels.
  [[nodiscard]] WYRM_HD bool set_mark(graph::vertex_id v) const {
    std::uint32_t const bit = 1u << v % 32;
    return (exec::atomic_ref<std::uint32_t>(marks[v / 32]).fetch_or(bit, exec::relaxed) & bit) == 0;
  }
  /// Clears the mark of v. One lane does so, for one part of v.
  WYRM_HD void clear_mark(graph::vertex_id v) const {
    exec::atomic_ref<std::uint32_t>(marks[v / 32]).fetch_and(~(1u << v % 32), exec::relaxed);
  }
};

/// Up to N neighbours of a lane, and their positions in their list. Behind its end, `has` is false.
template <unsigned N>
struct some_neighbours {
  graph::vertex_id v[N];
  std::uint32_t at[N];
  bool has[N];
};

/// Calls f(some) for all neighbours in a list, until the last lane has none left; collective. Lanes that have fewer get
/// the vertex `otherwise` in their place, so that f can load its data as well. A lane of a device has several
/// neighbours at once, so that it waits for their loads together, but one in a graph with few arcs per vertex.
template <class Tile, class F>
WYRM_HD void for_some_neighbours(Tile const& t, graph::graph_view const& g, graph::neighbour_list const& list,
                                 graph::vertex_id otherwise, F const& f) {
  auto const go = [&]<unsigned N>(some_neighbours<N> some) {
    for (std::uint32_t i = 0; i < list.size; i += N * Tile::size()) {
      for (unsigned k = 0; k < N; ++k) {
        some.at[k] = i + k * Tile::size() + t.rank();
        some.has[k] = some.at[k] < list.size;
        some.v[k] = some.has[k] ? list[some.at[k]] : otherwise;
      }
      f(some);
    }
  };
  constexpr unsigned n = neighbours_at_once<Tile>;
  if (n > 1 && g.arcs() >= std::uint64_t{n} * g.vertices())
    go(some_neighbours<n>());
  else
    go(some_neighbours<1>());
}

/// The vertices that a core adds to a list. Cores that take turns at the size of a list wait for each other, so a core
/// reserves room for many vertices at once.
struct found_vertices {
  static constexpr std::uint32_t capacity = 64;
  graph::vertex_id vertices[capacity];
  std::uint32_t size = 0;
  [[nodiscard]] WYRM_HD bool is_full() const { return size == capacity; }
};

/// The number of parts of a vertex whose out-neighbours are processed.
struct parts_of_row {
  WYRM_HD static void prefetch(graph::graph_view const& g, graph::vertex_id v) { exec::prefetch(g.out_records() + v); }
  [[nodiscard]] WYRM_HD static std::uint32_t of(graph::graph_view const& g, graph::vertex_id v) {
    return frontier_item::parts(g.degree(v));
  }
};

/// Adds vertices to a frontier in a kernel that clears no mark of it. A device lists each vertex in the call. A core
/// collects vertices and prefetches their records, because it needs their degrees to list them; flush() lists the rest.
template <class Tile, class Parts = parts_of_row>
class frontier_end {
 public:
  WYRM_HD frontier_end(graph::graph_view const& g, frontier const& to) : g_(g), to_(to) {}

  /// Like frontier::add().
  WYRM_HD void add(Tile const& t, graph::vertex_id v, bool has) {
    graph::vertex_id const vertices[] = {v};
    bool const are_added[] = {has};
    add(t, vertices, are_added);
  }
  template <unsigned N>
  WYRM_HD void add(Tile const& t, graph::vertex_id const (&v)[N], bool const (&has)[N]) {
    if constexpr (Tile::size() == 1)
      for (unsigned k = 0; k < N; ++k) append(t, v[k], has[k] && to_.mark(v[k]));
    else
      to_.add(t, g_, v, has);
  }
  /// Like frontier::append().
  WYRM_HD void append(Tile const& t, graph::vertex_id v, bool has) {
    graph::vertex_id const vertices[] = {v};
    bool const are_added[] = {has};
    append(t, vertices, are_added);
  }
  template <unsigned N>
  WYRM_HD void append(Tile const& t, graph::vertex_id const (&v)[N], bool const (&has)[N]) {
    if constexpr (Tile::size() == 1) {
      for (unsigned k = 0; k < N; ++k) {
        if (!has[k]) continue;
        Parts::prefetch(g_, v[k]);
        found_.vertices[found_.size++] = v[k];
        if (found_.is_full()) flush(t);
      }
    } else {
      std::uint32_t parts[N];
      for (unsigned k = 0; k < N; ++k) parts[k] = has[k] ? Parts::of(g_, v[k]) : 0;
      to_.append(t, v, parts);
    }
  }
  WYRM_HD void flush(Tile const&) {
    if constexpr (Tile::size() == 1) {
      if (found_.size == 0) return;
      std::uint32_t all = 0;
      for (std::uint32_t i = 0; i < found_.size; ++i) all += Parts::of(g_, found_.vertices[i]);
      frontier_item* at = to_.items + exec::atomic_ref<std::uint32_t>(*to_.size).fetch_add(all, exec::relaxed);
      for (std::uint32_t i = 0; i < found_.size; ++i) {
        std::uint32_t const parts = Parts::of(g_, found_.vertices[i]);
        for (std::uint32_t p = 0; p < parts; ++p) *at++ = {found_.vertices[i], p};
        to_.note_parts(parts);
      }
      found_.size = 0;
    }
  }

 private:
  struct nothing {};
  graph::graph_view const& g_;
  frontier const& to_;
  std::conditional_t<Tile::size() == 1, found_vertices, nothing> found_;
};

/// Sums up numbers, and adds the sum over the lanes to *to by one atomic operation.
template <class T>
class tile_sum {
 public:
  WYRM_HD explicit tile_sum(T* to) : to_(to) {}
  WYRM_HD void add(T value) { mine_ += value; }
  template <class Tile>
  WYRM_HD void flush(Tile const& t) {
    T const all = exec::sum(t, mine_);
    if (t.rank() == 0 && all > 0) exec::atomic_ref<T>(*to_).fetch_add(all, exec::relaxed);
  }

 private:
  T* to_;
  T mine_ = 0;
};

/// Passes to `calls` a function that calls f(t, args...). If f has a member begin(t), the object that it returns is the
/// last argument of these calls of f, and its flush(t) is called after them. So a core, whose calls are many,
/// accumulates results in the object, and writes to shared memory rarely.
template <class Tile, class F, class Calls>
WYRM_HD void with_own(Tile const& t, F const& f, Calls const& calls) {
  if constexpr (requires { f.begin(t); }) {
    auto own = f.begin(t);
    calls([&](auto const&... args) { f(t, args..., own); });
    own.flush(t);
  } else {
    calls([&](auto const&... args) { f(t, args...); });
  }
}

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
        // An integer, as the row may be shorter than the part, which may be that of another row of the vertex.
        auto const page = reinterpret_cast<std::uintptr_t>(f.rows()[later.vertex].page());
        exec::prefetch(reinterpret_cast<graph::vertex_id const*>(
            page + std::size_t{later.part} * frontier_item::part_size * sizeof(graph::vertex_id)));
      }
    }
    work(i);
  }
}

/// A loop of a fixed number of tiles over a frontier, with so many lanes per item: a tile for each, if it has no more
/// lanes; otherwise several items at once, and nullptr for lanes without an item. Where Lanes > 1, few items have more
/// lanes each, a power of two: as many as leave half of all lanes to spare.
template <unsigned Lanes, class F>
struct over_items {
  static constexpr unsigned resident_blocks = exec::resident_blocks_of<F>();
  frontier_item const* items;
  std::uint32_t const* size;
  std::size_t tiles;
  F f;
  template <class Tile, class... Memory>
  WYRM_HD void operator()(Tile const& t, std::size_t tile, Memory... memory) const {
    std::size_t const n = *size;
    if constexpr (requires { f.start(); })
      if (tile == 0 && t.rank() == 0) f.start();
    if constexpr (Tile::size() == 1) {
      with_own(t, f, [&](auto const& call) {
        for_each_in_share(items, n, tile, tiles, f, [&](std::size_t i) { call(items + i); });
      });
    } else if constexpr (Lanes >= Tile::size()) {
      for (std::size_t i = tile; i < n; i += tiles) {
        with_own(t, f, [&](auto const& call) { call(items + i, memory...); });
        if constexpr (sizeof...(Memory) > 0) t.sync();
      }
    } else {
      unsigned lanes = Lanes;
      if constexpr (Lanes > 1)
        while (lanes < Tile::size() && 4 * lanes * n <= Tile::size() * tiles) lanes *= 2;
      std::size_t const at_once = Tile::size() / lanes;
      for (std::size_t i = tile * at_once; i < n; i += tiles * at_once) {
        std::size_t const mine = i + t.rank() / lanes;
        with_own(t, f, [&](auto const& call) { call(mine < n ? items + mine : nullptr); });
      }
    }
  }
};

/// The lanes of an item, if each item of a tile has the same number of consecutive lanes: a power of two, `least` or
/// more, or all lanes; collective.
template <unsigned least, class Tile>
[[nodiscard]] WYRM_HD unsigned lanes_of_item(Tile const& t, frontier_item const* item) {
  unsigned lanes = Tile::size();
  auto const number = reinterpret_cast<std::uintptr_t>(item);
  while (lanes > least && !t.all(number == t.shfl(number, t.rank() / lanes * lanes))) lanes /= 2;
  return lanes;
}

/// Calls f(tile, item) for all items of the frontier, with W < 32 lanes per item; or, for W = 32, with one lane per
/// item, and nullptr for lanes without an item. f must not add to this frontier. If f has a member start(), it is
/// called once, concurrently with f, so it writes nothing that f or the list uses. For a member begin() see with_own().
template <unsigned W, class Space, class F>
void for_each_item(Space const& space, frontier const& from, F const& f) {
  constexpr std::size_t lanes = Space::template tile_size<W>;
  std::size_t const tiles = space.lanes_for(from.size) / lanes + 1;
  exec::for_each_tile<W>(space, tiles, over_items<(W < 32 ? W : 1), F>{from.items, from.size, tiles, f});
}

/// The same with Lanes < 32 lanes per item, and 32 lanes per call f(tile, item): `item` is nullptr for lanes without
/// one.
template <unsigned Lanes, class Space, class F>
void for_each_item_in_groups(Space const& space, frontier const& from, F const& f) {
  constexpr std::size_t lanes = Space::template tile_size<32>;
  std::size_t const tiles = space.lanes_for(from.size) / lanes + 1;
  exec::for_each_tile<32>(space, tiles, over_items<Lanes, F>{from.items, from.size, tiles, f});
}

/// The same with 32 lanes per item: for frontiers of few items, which have lanes for all. The longest item takes the
/// time then.
template <class Space, class F>
void for_each_item_wide(Space const& space, frontier const& from, F const& f) {
  constexpr std::size_t lanes = Space::template tile_size<32>;
  std::size_t const tiles = space.lanes_for(from.size) / lanes + 1;
  exec::for_each_tile<32>(space, tiles, over_items<32, F>{from.items, from.size, tiles, f});
}

/// Calls f(tile, item, memory) with W lanes per item, of a space with tiles, and memory of the tile; see
/// exec::for_each_tile_with_memory().
template <unsigned W, std::size_t Bytes, class Space, class F>
void for_each_item_with_memory(Space const& space, frontier const& from, F const& f) {
  static_assert(exec::has_tiles<Space>);
  std::size_t const tiles = space.lanes_for(from.size) / W + 1;
  exec::for_each_tile_with_memory<W, Bytes>(space, tiles, over_items<W, F>{from.items, from.size, tiles, f});
}

/// A team has fewer lanes than a device, but a launch takes the time of two rounds; and the part of a team has fewer
/// lanes, but waits for less time between rounds.
inline constexpr std::uint32_t small_items_of_tile = 2;

/// The most rounds of one launch of a team. Systems with a display end a kernel that takes a few seconds; so many small
/// rounds take about 30 ms, and less than a second if all items have 256 neighbours.
inline constexpr std::uint32_t most_small_rounds = 1u << 14;

/// The most items of a frontier that a team of the space, with 8 lanes per item, processes about as fast as a launch
/// does; 0 on a space without tiles.
template <class Space>
[[nodiscard]] std::uint32_t small_frontier(Space const& space) {
  if constexpr (exec::has_tiles<Space>)
    return static_cast<std::uint32_t>(small_items_of_tile * exec::team_tiles<8>(space));
  else
    return 0;
}

/// See for_each_index().
template <class F>
struct over_indices {
  static constexpr std::size_t of_core = [] {  // consecutive indices
    if constexpr (requires { F::indices_of_core; })
      return F::indices_of_core;
    else
      return std::size_t{1024};
  }();
  static constexpr std::size_t grain = 1;
  std::size_t n;
  F f;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t tile) const {
    with_own(t, f, [&](auto const& call) {
      if constexpr (Tile::size() == 1) {
        for (std::size_t i = tile * of_core; i < (tile + 1) * of_core && i < n; ++i) call(i, true);
      } else {
        std::size_t const i = tile * Tile::size() + t.rank();
        call(i, i < n);
      }
    });
  }
};

/// Like exec::for_each_lane<32>, for an f with a member begin(), see with_own(). A core calls begin() once for
/// F::indices_of_core indices, if there is such a member.
template <class Space, class F>
void for_each_index(Space const& space, std::size_t n, F const& f) {
  constexpr std::size_t of_tile = exec::has_tiles<Space> ? Space::template tile_size<32> : over_indices<F>::of_core;
  exec::for_each_tile<32>(space, (n + of_tile - 1) / of_tile, over_indices<F>{n, f});
}

}  // namespace wyrm::algorithms::detail
