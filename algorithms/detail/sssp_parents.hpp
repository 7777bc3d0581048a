// SPDX-License-Identifier: Apache-2.0
// The tree of shortest paths with lengths. An arc u -> v is tight if the distance of u plus the length of the arc is
// exactly the distance of v. The parent of v is the smallest u of a tight arc that is nearer than v. A vertex that has
// no such arc is reached by arcs that add nothing, of length zero or so short that they are rounded away, from vertices
// at the same distance, which could be each other's parents in a cycle. Those vertices get parents in rounds, like a
// breadth-first search among vertices at the same distance that begins at all vertices with a parent: the level of a
// vertex is one more than that of its parent, the smallest possible. Along a path of parents the pairs of distance and
// level decrease, so there is no cycle.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/tile.hpp"
#include "../../graph/view.hpp"
#include "frontier.hpp"
#include "near_far.hpp"
#include "parents.hpp"

namespace wyrm::algorithms::detail {

/// The tight arcs from nearer vertices.
struct arcs_by_length {
  struct row {
    length_row lengths;
    std::uint64_t const* distances;
    std::uint64_t distance;
    [[nodiscard]] WYRM_HD bool is_reached() const { return distance != infinite_bits; }
    [[nodiscard]] WYRM_HD bool leads_to(std::uint32_t i, graph::vertex_id v) const {
      std::uint64_t const there = distances[v];
      return distance < there && there != infinite_bits && bits_of(distance_of(distance) + lengths[i]) == there;
    }
  };
  graph::packed_record const* records;
  graph::number_type type;
  std::uint64_t const* distances;
  [[nodiscard]] WYRM_HD row from(graph::vertex_id u) const {
    return {length_row(records[u], type), distances, distances[u]};
  }
};

/// One thread per vertex: the source is its own parent, the others have none yet.
struct begin_parents_at {
  graph::vertex_id source;
  graph::vertex_id* parents;
  WYRM_HD void operator()(std::size_t v) const { parents[v] = v == source ? source : graph::no_vertex; }
};

struct reached_counts {
  std::uint32_t reached;
  std::uint32_t orphans;  // reached, without a parent
};

/// One lane per vertex. parents: nullptr: without parents.
struct count_finite {
  std::uint64_t const* distances;
  graph::vertex_id const* parents;
  reached_counts* counts;
  /// What a tile counts; lane 0 adds it.
  struct found {
    reached_counts* counts;
    std::uint32_t reached = 0;
    std::uint32_t orphans = 0;
    template <class Tile>
    WYRM_HD void flush(Tile const& t) {
      if (t.rank() != 0) return;
      if (reached > 0) exec::atomic_ref<std::uint32_t>(counts->reached).fetch_add(reached, exec::relaxed);
      if (orphans > 0) exec::atomic_ref<std::uint32_t>(counts->orphans).fetch_add(orphans, exec::relaxed);
    }
  };
  template <class Tile>
  WYRM_HD found begin(Tile const&) const {
    return {counts};
  }
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t v, bool valid, found& all) const {
    bool const reached = valid && distances[v] != infinite_bits;
    bool const orphan = reached && parents != nullptr && parents[v] == graph::no_vertex;
    all.reached += static_cast<std::uint32_t>(cuda::std::popcount(t.ballot(reached)));
    all.orphans += static_cast<std::uint32_t>(cuda::std::popcount(t.ballot(orphan)));
  }
};

/// One lane per vertex: those with a parent are at level 0, and the first frontier.
struct begin_levels {
  graph::graph_view g;
  graph::vertex_id const* parents;
  std::uint32_t* levels;
  frontier to;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t v, bool valid) const {
    bool const has = valid && parents[v] != graph::no_vertex;
    if (valid) levels[v] = has ? 0 : ~std::uint32_t{0};
    to.append(t, g, static_cast<graph::vertex_id>(v), has);
  }
};

/// One tile per item of the frontier at a level. Several tiles may give a level to one vertex, the same one, and the
/// smallest of them becomes the parent.
struct adopt_orphans {
  graph::graph_view g;
  graph::number_type type;
  std::uint64_t const* distances;
  graph::vertex_id* parents;
  std::uint32_t* levels;
  std::uint32_t level;
  frontier now;
  frontier next;
  WYRM_HD void set_number(std::uint32_t number) { level = number; }
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const& item) const {
    if (t.rank() == 0 && item.part == 0) now.clear_mark(item.vertex);
    graph::packed_record const& record = g.out_records()[item.vertex];
    graph::neighbour_list const all{record.page(), record.degree};
    graph::neighbour_list const part = item.part_of(all);
    length_row const lengths(record, type);
    std::uint64_t const distance = distances[item.vertex];
    auto const begin = static_cast<std::uint32_t>(part.data - all.data);
    for (std::uint32_t i = 0; i < part.size; i += Tile::size()) {
      std::uint32_t const at = i + t.rank();
      graph::vertex_id const v = at < part.size ? part[at] : item.vertex;
      bool const adopts = distances[v] == distance && exec::load_recent(levels[v]) > level &&
                          bits_of(distance_of(distance) + lengths[begin + at]) == distance;
      if (adopts) {
        exec::atomic_ref<std::uint32_t>(levels[v]).store(level + 1, exec::relaxed);
        offer_parent(parents, v, item.vertex);
      }
      next.add(t, g, v, adopts);
    }
  }
};

}  // namespace wyrm::algorithms::detail
