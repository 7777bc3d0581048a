// SPDX-License-Identifier: Apache-2.0
// Groups the arcs of a batch by source, without a sort: a table counts the arcs of each source, and the atomic addition
// to the count returns the rank of the arc in its source group. The order within a group is arbitrary, and duplicates
// are kept. The table is indexed by vertex if the graph has few vertices compared with the batch; otherwise it is a
// hash table, so that no work is proportional to the number of vertices: O(m) work and memory for m edges.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/tile.hpp"
#include "../types.hpp"
#include "status.hpp"

namespace wyrm::graph {

/// The arcs of an edge: its own direction, the reverse one, or both.
enum class orientation : std::uint8_t { forward, reverse, both };
/// The maximum number of arcs of this number of edges.
constexpr std::size_t arcs_of(orientation which, std::size_t edges) {
  return which == orientation::both ? 2 * edges : edges;
}

namespace detail {

/// The arcs of a batch that have the same source: `size` entries of the grouped arrays, from `begin` on.
struct source_group {
  vertex_id source;
  std::uint32_t begin;
  std::uint32_t size;
};

/// The position of an arc: the slot of its source, and its rank among the arcs of that source.
struct arc_place {
  std::uint32_t slot;
  std::uint32_t rank;
};

inline constexpr std::uint32_t no_slot = 0xffffffff;  // the slot of an arc that is dropped
inline constexpr std::uint32_t few = 4;               // arcs of a source group, or changes, that one lane processes

/// The number of arcs of each source; after place_groups, the beginning of each source group.
struct slot_table {
  vertex_id* keys;        // a key with all bits set: a free slot; nullptr: the slot of v is v
  std::uint32_t* counts;  // initially 0
  std::uint32_t slots;    // in a hash table a power of two, at least twice the number of arcs
  unsigned shift;         // of a hash table: 32 - log2(slots)
  std::uint32_t seed;     // of the hash function

  static constexpr std::uint32_t slots_per_lane = 4;  // in place_groups
  /// The number of lanes that place_groups needs.
  [[nodiscard]] static constexpr std::size_t lanes(std::uint32_t slots) {
    return (std::size_t{slots} + slots_per_lane - 1) / slots_per_lane;
  }
  /// The finaliser of MurmurHash3 (Appleby, 2011): each bit of the id, and of the seed, changes half of the bits on
  /// average. An attacker who does not know the seed cannot choose ids that collide.
  [[nodiscard]] WYRM_HD constexpr std::uint32_t hash(vertex_id v) const {
    std::uint32_t h = v ^ seed;
    h = (h ^ h >> 16) * 0x85ebca6bu;
    h = (h ^ h >> 13) * 0xc2b2ae35u;
    return h ^ h >> 16;
  }

  /// The slot of v; in a hash table the slot at which probing begins.
  [[nodiscard]] WYRM_HD std::uint32_t home(vertex_id v) const { return keys == nullptr ? v : hash(v) >> shift; }
  [[nodiscard]] WYRM_HD std::uint32_t find(vertex_id v) const {
    if (keys == nullptr) return v;
    constexpr vertex_id free = 0xffffffff;
    for (std::uint32_t slot = home(v);; slot = (slot + 1) & (slots - 1)) {
      exec::atomic_ref<vertex_id> const key(keys[slot]);
      vertex_id there = key.load(exec::relaxed);
      if (there == free) {
        if (key.compare_exchange_strong(there, v, exec::relaxed)) return slot;
      }
      if (there == v) return slot;
    }
  }
  [[nodiscard]] WYRM_HD vertex_id source(std::uint32_t slot) const {
    return keys == nullptr ? static_cast<vertex_id>(slot) : keys[slot];
  }
};

/// A part of a source group, which has at most as many arcs as a tile has lanes.
struct group_part {
  std::uint32_t source_group;
  std::uint32_t first;
};

/// A grouped batch, for kernels.
struct batch_view {
  edge const* edges;
  std::size_t size;
  orientation which;
  slot_table table;
  arc_place const* places;     // positions of the arcs: one per edge, or two
  source_group const* groups;  // their number is in the status
  vertex_id* targets;          // targets of the arcs, by source group; an update may overwrite them
  std::uint32_t* positions;    // scratch, one per arc
  std::size_t slice;           // not 0: each slice of this many edges, except the last, is sorted by source
  std::uint32_t in_place;      // the degree up to which a page that has room is changed in place (hubs.hpp)

  /// Calls f(place, target) for each arc of edge i that is not dropped.
  template <class F>
  WYRM_HD void for_arcs(std::size_t i, F const& f) const {
    edge const e = edges[i];
    if (which == orientation::both) {
      if (arc_place const p = places[2 * i]; p.slot != no_slot) f(p, e.target);
      if (arc_place const p = places[2 * i + 1]; p.slot != no_slot) f(p, e.source);
    } else if (arc_place const p = places[i]; p.slot != no_slot) {
      f(p, which == orientation::forward ? e.target : e.source);
    }
  }
};

/// The operation of the entries of a batch; `mixed`: each entry has its own operation or value.
enum class update_kind : std::uint8_t { insert, erase, mixed };

/// The arrays of a batch, on the host or in memory of a space.
struct batch_arrays {
  edge const* edges;
  std::size_t size;
  void const* values = nullptr;           // one per edge; nullptr: none
  operation const* operations = nullptr;  // one per edge; nullptr: all are `all`
  operation all = operation::insert;
};

/// A grouped batch whose entries have values or operations. The last entry of an edge determines the result, so each
/// arc has the number of its entry.
struct entry_batch {
  batch_view arcs;
  batch_arrays of;
  std::uint64_t* keys;    // of the arcs, by source group: target << 32 | number of the entry
  std::uint64_t* spare;   // as large as the keys, for a sort
  std::uint32_t* erased;  // positions of erased neighbours, by source group
  void* values;           // values that are written to pages, by source group

  [[nodiscard]] WYRM_HD bool inserts(std::uint64_t key) const {
    return (of.operations == nullptr ? of.all : of.operations[static_cast<std::uint32_t>(key)]) == operation::insert;
  }
  [[nodiscard]] WYRM_HD static vertex_id target(std::uint64_t key) { return static_cast<vertex_id>(key >> 32); }
  [[nodiscard]] WYRM_HD static std::uint64_t key(vertex_id target, std::size_t entry) {
    return std::uint64_t{target} << 32 | entry;
  }
};

/// One lane per edge, from `first` on: counts its arcs by source. Edges out of range are counted in the status, which
/// ends the update.
struct count_arcs {
  edge const* edges;
  arc_place* places;
  slot_table table;
  update_status* status;
  vertex_id vertices;
  orientation which;
  bool keep_self_loops;
  std::size_t first;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t index, bool valid) const {
    std::size_t const i = first + index;
    edge const e = valid ? edges[i] : edge{0, 1};
    auto const [outside, loop, counts] = look_at(e, valid);
    if (which == orientation::both) {
      arc_place const there = count(t, e.source, counts);
      arc_place const back = count(t, e.target, counts && !loop);
      if (valid) places[2 * i] = there;
      if (valid) places[2 * i + 1] = back;
    } else {
      arc_place const there = count(t, which == orientation::forward ? e.source : e.target, counts);
      if (valid) places[i] = there;
    }
    std::uint32_t const loops = t.ballot(loop);
    std::uint32_t const bad = t.ballot(outside);
    if (t.rank() == 0 && (loops | bad) != 0)
      record_special_edges(t, static_cast<unsigned>(cuda::std::popcount(loops)),
                           static_cast<unsigned>(cuda::std::popcount(bad)));
  }
  struct edge_kind {
    bool outside;
    bool loop;
    bool counts;
  };
  [[nodiscard]] WYRM_HD edge_kind look_at(edge e, bool valid) const {
    bool const outside = valid && (e.source >= vertices || e.target >= vertices);
    bool const loop = valid && !outside && e.source == e.target;
    return {outside, loop, valid && !outside && (keep_self_loops || !loop)};
  }
  template <class Tile>
  WYRM_HD void record_special_edges(Tile const& t, unsigned loops, unsigned outside) const {
    if (which == orientation::reverse) return;  // the second table of a graph has the same edges
    if (loops > 0) add(status->mine(t).self_loops, loops);
    if (outside > 0) add(status->out_of_range, outside);
  }

 private:
  // Lanes with the same source make one addition for all of them; collective.
  template <class Tile>
  [[nodiscard]] WYRM_HD arc_place count(Tile const& t, vertex_id source, bool counts) const {
    std::uint32_t const slot = counts ? table.find(source) : no_slot;
    std::uint32_t const same = exec::match(t, slot);
    unsigned const leader = exec::first_lane(same);
    std::uint32_t before = 0;
    if (counts && t.rank() == leader)
      before = exec::atomic_ref<std::uint32_t>(table.counts[slot])
                   .fetch_add(static_cast<std::uint32_t>(cuda::std::popcount(same)), exec::relaxed);
    return {slot, t.shfl(before, leader) + exec::rank_in(t, same)};
  }
};

/// One lane per slots_per_lane slots: creates a source group for each slot with arcs. Neighbouring slots get
/// neighbouring source groups.
struct place_groups {
  slot_table table;
  source_group* groups;
  update_status* status;
  unsigned which;              // the number of the table
  std::uint32_t most;          // maximum size of a source group that is not too large
  std::uint32_t* long_groups;  // list of groups of more than `few` arcs; nullptr: no list
  group_part* parts;           // list of the parts of groups that are longer than a tile; or nullptr

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t group, bool valid) const {
    constexpr std::uint64_t one = std::uint64_t{1} << 32;
    constexpr std::uint32_t slots = slot_table::slots_per_lane;
    auto const first = static_cast<std::uint32_t>(group * slots);
    std::uint32_t counts[slots];
    std::uint64_t mine = 0;
    bool skewed = false;
    for (std::uint32_t k = 0; k < slots; ++k) {
      counts[k] = valid ? table.counts[first + k] : 0;
      mine += (counts[k] > 0 ? one : 0) + counts[k];
      skewed |= counts[k] > most;
    }
    std::uint64_t const below = exec::sum_below(t, mine);
    std::uint64_t const all = t.shfl(below + mine, Tile::size() - 1);
    std::uint64_t next = 0;
    if (t.rank() == 0 && all > 0)
      next = exec::atomic_ref<std::uint64_t>(status->batches[which]).fetch_add(all, exec::relaxed);
    next = t.shfl(next, 0) + below;
    for (std::uint32_t k = 0; k < slots; ++k) {
      if (counts[k] == 0) continue;
      auto const begin = static_cast<std::uint32_t>(next);
      groups[next >> 32] = {table.source(first + k), begin, counts[k]};
      if (counts[k] > few && long_groups != nullptr) list(t, static_cast<std::uint32_t>(next >> 32), counts[k]);
      table.counts[first + k] = begin;
      next += one | counts[k];
    }
    if (t.any(skewed) && t.rank() == 0)
      exec::atomic_ref<std::uint64_t>(status->has_large_group).store(1, exec::relaxed);
  }

 private:
  template <class Tile>
  WYRM_HD void list(Tile const&, std::uint32_t s, std::uint32_t size) const {
    constexpr std::uint32_t width = Tile::size();
    long_groups[exec::atomic_ref<std::uint64_t>(status->long_groups[which]).fetch_add(1, exec::relaxed)] = s;
    if (parts == nullptr || size <= width || size > most) return;
    std::uint32_t const n = (size + width - 1) / width;
    std::uint64_t const at = exec::atomic_ref<std::uint64_t>(status->group_parts[which]).fetch_add(n, exec::relaxed);
    for (std::uint32_t i = 0; i < n; ++i) parts[at + i] = {s, i * width};
  }
};

/// One thread per edge: writes the targets of its arcs to their source groups. If edges are in sorted slices,
/// concurrent threads process the same part of each slice, so that they write to neighbouring addresses. The last part
/// of a slice may have fewer edges than threads.
struct scatter_targets {
  batch_view batch;
  static constexpr std::size_t part = 256;

  [[nodiscard]] std::size_t threads() const {
    return batch.slice == 0 ? batch.size : slices() * ((batch.slice + part - 1) / part) * part;
  }
  [[nodiscard]] WYRM_HD std::size_t slices() const { return (batch.size + batch.slice - 1) / batch.slice; }

  WYRM_HD void operator()(std::size_t thread) const {
    std::size_t i = thread;
    if (batch.slice != 0) {
      std::size_t const parts = thread / part;
      std::size_t const in_slice = parts / slices() * part + thread % part;
      i = parts % slices() * batch.slice + in_slice;
      if (in_slice >= batch.slice || i >= batch.size) return;
    }
    batch.for_arcs(i,
                   [&](arc_place p, vertex_id target) { batch.targets[batch.table.counts[p.slot] + p.rank] = target; });
  }
};

/// One thread per edge: writes the keys of its arcs to their source groups.
struct scatter_keys {
  entry_batch batch;
  WYRM_HD void operator()(std::size_t i) const {
    batch.arcs.for_arcs(i, [&](arc_place p, vertex_id target) {
      batch.keys[batch.arcs.table.counts[p.slot] + p.rank] = entry_batch::key(target, i);
    });
  }
};

}  // namespace detail

}  // namespace wyrm::graph
