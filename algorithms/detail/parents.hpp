// SPDX-License-Identifier: Apache-2.0
// Trees of shortest paths, made from distances that are final. The parent of a vertex is the smallest of its
// in-neighbours from which a shortest path comes, so a tree does not depend on the order in which distances were found.
// Either each vertex looks for its parent among its in-neighbours (pull), or each vertex offers itself to its
// out-neighbours, which keep the minimum (push).
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/load.hpp"
#include "../../exec/memory.hpp"
#include "../../graph/view.hpp"
#include "row_bins.hpp"
#include "weights.hpp"

namespace wyrm::algorithms::detail {

inline constexpr bin_limits limits_of_rows{32, 256, 1024, 1024};

/// Lowers the parent of v to u.
WYRM_HD inline void offer_parent(graph::vertex_id* parents, graph::vertex_id v, graph::vertex_id u) {
  if (u < exec::load_recent(parents[v])) exec::atomic_ref<graph::vertex_id>(parents[v]).fetch_min(u, exec::relaxed);
}

/// One thread per source, which is its own parent.
struct adopt_sources {
  graph::vertex_id const* sources;
  graph::vertex_id* parents;
  WYRM_HD void operator()(std::size_t i) const {  // sources may repeat
    exec::atomic_ref<graph::vertex_id>(parents[sources[i]]).store(sources[i], exec::relaxed);
  }
};

/// Distances at which all vertices have their parents.
struct distance_range {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  [[nodiscard]] WYRM_HD bool contains(std::uint32_t distance) const { return distance >= begin && distance < end; }
};

/// One tile per item of the bins of in-neighbours. Rows ascend, so a lane stops at its first hit, and does not begin if
/// the vertex has a parent that is smaller than all entries of the lane.
struct pull_parents {
  row_bins_view bins;
  std::uint32_t const* distances;  // in arcs
  distance_range known;
  graph::vertex_id* parents;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t item) const {
    for_each_entry(t, bins, static_cast<std::uint32_t>(item), *this);
  }
  WYRM_HD void visit(graph::vertex_id v, graph::vertex_record const& row, std::uint32_t first, std::uint32_t end,
                     std::uint32_t step) const {
    std::uint32_t const distance = distances[v];
    if (distance == 0 || distance == ~std::uint32_t{0} || known.contains(distance)) return;
    if (first >= end || exec::load_recent(parents[v]) < row.page[first]) return;
    for (std::uint32_t i = first; i < end; i += step)
      if (distances[row.page[i]] == distance - 1) return offer_parent(parents, v, row.page[i]);
  }
};

/// The same with one tile of a host per `of_core` vertices: a core that has one row at a time needs no bins, and no
/// other one writes its parents. It prefetches the rows of vertices that have no parent.
struct pull_parents_of_rows {
  static constexpr std::uint32_t of_core = 64;
  graph::packed_record const* rows;
  std::size_t n;
  pull_parents work;
  [[nodiscard]] std::size_t tiles() const { return (n + of_core - 1) / of_core; }
  template <class Tile>
  WYRM_HD void operator()(Tile const&, std::size_t tile) const {
    graph::vertex_id left[of_core];
    std::uint32_t size = 0;
    for (std::size_t v = tile * of_core; v < (tile + 1) * of_core && v < n; ++v) {
      left[size] = static_cast<graph::vertex_id>(v);
      size += work.parents[v] == graph::no_vertex ? 1 : 0;
    }
    for (std::uint32_t i = 0; i < size; ++i) exec::prefetch(rows[left[i]].page());
    for (std::uint32_t i = 0; i < size; ++i) work.visit(left[i], rows[left[i]], 0, rows[left[i]].degree, 1);
  }
};

/// One tile per item of the bins of out-neighbours. Arcs tells which arcs end a shortest path: arcs.from(u) is a row,
/// row.is_reached() whether there is a path to u at all, and row.leads_to(i, v) whether a shortest path to v may end
/// with entry i, which is v.
template <class Arcs>
struct push_parents {
  row_bins_view bins;
  Arcs arcs;
  graph::vertex_id* parents;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t item) const {
    for_each_entry(t, bins, static_cast<std::uint32_t>(item), *this);
  }
  WYRM_HD void visit(graph::vertex_id u, graph::vertex_record const& row, std::uint32_t first, std::uint32_t end,
                     std::uint32_t step) const {
    auto const from = arcs.from(u);
    if (!from.is_reached()) return;
    for (std::uint32_t i = first; i < end; i += step)
      if (from.leads_to(i, row.page[i])) offer_parent(parents, row.page[i], u);
  }
};

/// The arcs to vertices that are one arc farther away.
struct arcs_by_hops {
  struct row {
    std::uint32_t const* distances;
    std::uint32_t distance;
    [[nodiscard]] WYRM_HD bool is_reached() const { return distance != ~std::uint32_t{0}; }
    [[nodiscard]] WYRM_HD bool leads_to(std::uint32_t, graph::vertex_id v) const {
      return distances[v] == distance + 1;
    }
  };
  std::uint32_t const* distances;
  [[nodiscard]] WYRM_HD row from(graph::vertex_id u) const { return {distances, distances[u]}; }
};

/// Owns the parents of a search, and the bins of rows: 4 and about 18 bytes per vertex. A host makes
/// bins only of graphs without in-neighbours.
template <class Space>
class parent_finder {
 public:
  explicit parent_finder(Space const& space) : space_(space), bins_(space), parents_(space) {}

  /// Requests all memory of a search. Throws error(out_of_memory).
  void reserve(std::size_t n, std::uint64_t arcs, bool has_in_neighbours) {
    parents_.reserve(n);
    if (exec::has_tiles<Space> || !has_in_neighbours) bins_.reserve(n, arcs, limits_of_rows);
  }
  /// Before a search of a graph with n vertices: no vertex has a parent, but the sources, which are in memory of the
  /// space.
  void begin(std::size_t n, graph::vertex_id const* sources, std::size_t size) {
    parents_.reserve(n);
    if (n > 0) space_.fill(parents_.data(), 0xff, n * sizeof(graph::vertex_id));
    exec::for_each(space_, size, adopt_sources{sources, parents_.data()});
  }
  /// The tree of the search, which found these distances, and the parents of those that are `known`. O(vertices +
  /// arcs).
  void finish(graph::graph_view const& g, std::uint32_t const* distances, distance_range const& known) {
    std::size_t const n = g.vertices();
    pull_parents pull{{}, distances, known, parents_.data()};
    if (!g.has_in_neighbours()) {
      row_bins_view const out = bins_.make(g.out_records(), n, g.arcs(), limits_of_rows);
      exec::for_each_tile<32>(space_, out.items(), push_parents<arcs_by_hops>{out, {distances}, parents_.data()});
    } else if constexpr (exec::has_tiles<Space>) {
      pull.bins = bins_.make(g.in_records(), n, g.arcs(), limits_of_rows);
      exec::for_each_tile<32>(space_, pull.bins.items(), pull);
    } else {
      pull_parents_of_rows const work{g.in_records(), n, pull};
      exec::for_each_tile<32>(space_, work.tiles(), work);
    }
  }
  [[nodiscard]] graph::vertex_id* data() const { return parents_.data(); }

 private:
  Space space_;
  row_bins<Space> bins_;
  exec::buffer<graph::vertex_id, Space> parents_;
};

}  // namespace wyrm::algorithms::detail
