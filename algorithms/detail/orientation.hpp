// SPDX-License-Identifier: Apache-2.0
// An orientation of the graph: each edge is kept once, in the row of the end with fewer neighbours, or of the smaller
// id if both have equally many. No row then has more than sqrt(2 edges) entries, so that hubs cost no more than other
// vertices (Chiba and Nishizeki, SIAM J. Comput. 1985; Latapy, Theor. Comput. Sci. 2008). The oriented rows are in
// scratch memory; the graph is not changed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../../exec/tile.hpp"
#include "../../graph/view.hpp"
#include "row_bins.hpp"

namespace wyrm::algorithms::detail {

struct copy_degrees {
  graph::packed_record const* rows;
  std::uint32_t* degrees;
  WYRM_HD void operator()(std::size_t v) const { degrees[v] = rows[v].degree; }
};

/// Which entries of a row belong to the orientation.
struct orientation_by_degree {
  std::uint32_t const* degrees;
  [[nodiscard]] WYRM_HD bool belongs(graph::vertex_id u, std::uint32_t degree, graph::vertex_id v) const {
    std::uint32_t const other = degrees[v];
    return degree < other || (degree == other && u < v);
  }
  /// How many entries of [begin, end) of a row a lane finds that reads each `step`-th of them, from begin + rank on.
  [[nodiscard]] WYRM_HD std::uint32_t count(graph::vertex_id u, graph::vertex_record const& r, std::uint32_t begin,
                                            std::uint32_t end, std::uint32_t rank, std::uint32_t step) const {
    std::uint32_t n = 0;
    for (std::uint32_t i = begin + rank; i < end; i += step) n += belongs(u, r.degree, r.page[i]) ? 1u : 0u;
    return n;
  }
};

/// One tile per item of the bins: counts the entries that belong to the orientation, of each row, and of each part.
struct count_oriented {
  orientation_by_degree by;
  row_bins_view bins;
  std::uint32_t* of_rows;  // 0 for hubs
  std::uint32_t* of_parts;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t item) const {
    bins.dispatch(t, static_cast<std::uint32_t>(item), *this);
  }
  template <class Tile>
  WYRM_HD void lane(Tile const&, graph::vertex_id u, graph::vertex_record const& r, bool valid) const {
    if (valid) of_rows[u] = by.count(u, r, 0, r.degree, 0, 1);
  }
  template <class Tile>
  WYRM_HD void group(Tile const& t, graph::vertex_id u, graph::vertex_record const& r, bool valid) const {
    constexpr unsigned lanes = row_bins_view::lanes_of_group<Tile>();
    std::uint32_t const n = group_sum(t, by.count(u, r, 0, valid ? r.degree : 0, t.rank() % lanes, lanes));
    if (valid && t.rank() % lanes == 0) of_rows[u] = n;
  }
  template <class Tile>
  WYRM_HD void warp(Tile const& t, graph::vertex_id u, graph::vertex_record const& r) const {
    std::uint32_t const n = exec::sum(t, by.count(u, r, 0, r.degree, t.rank(), Tile::size()));
    if (t.rank() == 0) of_rows[u] = n;
  }
  template <class Tile>
  WYRM_HD void part(Tile const& t, std::uint32_t number) const {
    row_part const p = bins.part(number);
    std::uint32_t const n = exec::sum(t, by.count(p.vertex, p.row, p.begin, p.end, t.rank(), Tile::size()));
    if (t.rank() != 0) return;
    of_parts[number] = n;
    exec::atomic_ref<std::uint32_t>(of_rows[p.vertex]).fetch_add(n, exec::relaxed);
  }
};

/// One tile per item of the bins: copies the entries of a row, or of a part, that belong to the orientation.
struct orient_rows {
  orientation_by_degree by;
  row_bins_view bins;
  std::uint64_t const* offsets;  // of rows in `targets`
  graph::vertex_id* targets;
  graph::packed_record* oriented;
  std::uint64_t const* kept_before;  // prefix sums of the entries of parts

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t item) const {
    bins.dispatch(t, static_cast<std::uint32_t>(item), *this);
  }

  template <class Tile>
  WYRM_HD void lane(Tile const&, graph::vertex_id u, graph::vertex_record const& r, bool valid) const {
    if (!valid) return;
    graph::vertex_id* const to = targets + offsets[u];
    std::uint32_t n = 0;
    for (std::uint32_t i = 0; i < r.degree; ++i)
      if (by.belongs(u, r.degree, r.page[i])) to[n++] = r.page[i];
    oriented[u] = graph::vertex_record{to, n, n};
  }
  template <class Tile>
  WYRM_HD void group(Tile const& t, graph::vertex_id u, graph::vertex_record const& r, bool valid) const {
    constexpr unsigned lanes = row_bins_view::lanes_of_group<Tile>();
    std::uint32_t const group = (lanes < 32 ? (1u << lanes) - 1 : ~0u) << (t.rank() - t.rank() % lanes);
    graph::vertex_id* const to = valid ? targets + offsets[u] : nullptr;
    std::uint32_t n = 0;
    for (std::uint32_t base = 0; t.any(base < r.degree); base += lanes)
      n += keep(t, u, r, base + t.rank() % lanes, r.degree, group, to + n);
    if (valid && t.rank() % lanes == 0) oriented[u] = graph::vertex_record{to, n, n};
  }
  template <class Tile>
  WYRM_HD void warp(Tile const& t, graph::vertex_id u, graph::vertex_record const& r) const {
    graph::vertex_id* const to = targets + offsets[u];
    std::uint32_t n = 0;
    for (std::uint32_t base = 0; base < r.degree; base += Tile::size())
      n += keep(t, u, r, base + t.rank(), r.degree, ~0u, to + n);
    if (t.rank() == 0) oriented[u] = graph::vertex_record{to, n, n};
  }
  template <class Tile>
  WYRM_HD void part(Tile const& t, std::uint32_t number) const {
    row_part const p = bins.part(number);
    graph::vertex_record const r = p.row;
    std::uint32_t const first = number - p.begin / bins.part_size;
    graph::vertex_id* const row = targets + offsets[p.vertex];
    graph::vertex_id* to = row + (kept_before[number] - kept_before[first]);
    for (std::uint32_t base = p.begin; base < p.end; base += Tile::size())
      to += keep(t, p.vertex, r, base + t.rank(), p.end, ~0u, to);
    auto const n = static_cast<std::uint32_t>(to - row);
    if (p.end == r.degree && t.rank() == 0) oriented[p.vertex] = graph::vertex_record{row, n, n};
  }

 private:
  // Writes entry i of a row, one per lane of a group, behind the entries that lower lanes keep. Returns how many are
  // kept.
  template <class Tile>
  WYRM_HD std::uint32_t keep(Tile const& t, graph::vertex_id u, graph::vertex_record const& r, std::uint32_t i,
                             std::uint32_t end, std::uint32_t group, graph::vertex_id* to) const {
    graph::vertex_id const v = i < end ? r.page[i] : 0;
    bool const is_kept = i < end && by.belongs(u, r.degree, v);
    std::uint32_t const kept_here = t.ballot(is_kept) & group;
    if (is_kept) to[exec::rank_in(t, kept_here)] = v;
    return static_cast<std::uint32_t>(cuda::std::popcount(kept_here));
  }
};

/// Owns the oriented rows.
template <class Space>
class orientation {
 public:
  explicit orientation(Space const& space)
      : space_(space),
        bulk_(space),
        degrees_(space),
        kept_(space),
        offsets_(space),
        targets_(space, exec::use_rate::high),
        rows_(space, exec::use_rate::high),
        kept_of_parts_(space),
        kept_before_(space) {}

  /// A row for each vertex of an undirected graph, ascending; bins: of the rows of the graph itself. Reads the graph
  /// twice, so that the rows are without gaps. O(vertices + arcs); 4 bytes per edge and 32 per vertex.
  graph::packed_record const* make(graph::graph_view const& g, row_bins_view const& bins) {
    std::size_t const n = g.vertices();
    reserve(n, g.arcs(), bins.parts);
    exec::for_each(space_, n, copy_degrees{g.out_records(), degrees_.data()});
    orientation_by_degree const by{degrees_.data()};
    if (bins.parts > 0) space_.fill(kept_.data(), 0, n * sizeof(std::uint32_t));
    exec::for_each_tile<32>(space_, bins.items(), count_oriented{by, bins, kept_.data(), kept_of_parts_.data()});
    bulk_.inclusive_sum(kept_.data(), offsets_.data(), n);
    if (bins.parts > 0) bulk_.inclusive_sum(kept_of_parts_.data(), kept_before_.data(), bins.parts);
    exec::for_each_tile<32>(space_, bins.items(),
                            orient_rows{by, bins, offsets_.data(), targets_.data(), rows_.data(), kept_before_.data()});
    return rows_.data();
  }
  /// The entries of all rows of the last make(), in the order of a CSR, and its offsets.
  [[nodiscard]] graph::vertex_id const* targets() const { return targets_.data(); }
  [[nodiscard]] std::uint64_t const* offsets() const { return offsets_.data(); }
  /// Whether the memory manager of the space has some of the n rows, with so many entries, in host memory now.
  [[nodiscard]] bool is_in_host_memory(std::size_t n, std::uint64_t entries) const {
    return targets_.is_in_host_memory(entries) || rows_.is_in_host_memory(n);
  }
  /// Frees what only make() needs: 8 bytes per vertex.
  void release_scratch() {
    degrees_ = exec::buffer<std::uint32_t, Space>(space_);
    kept_ = exec::buffer<std::uint32_t, Space>(space_);
  }
  /// Requests the memory of make() for bins with up to this many parts.
  void reserve(std::size_t n, std::uint64_t arcs, std::size_t parts) {
    degrees_.reserve(n);
    kept_.reserve(n);
    offsets_.reserve(n + 1);
    targets_.reserve(arcs / 2);
    rows_.reserve(n);
    kept_of_parts_.reserve(parts);
    kept_before_.reserve(parts + 1);
    bulk_.reserve(n > parts ? n : parts);
  }

 private:
  Space space_;
  typename Space::bulk bulk_;
  exec::buffer<std::uint32_t, Space> degrees_;
  exec::buffer<std::uint32_t, Space> kept_;  // entries of each row
  exec::buffer<std::uint64_t, Space> offsets_;
  exec::large_buffer<graph::vertex_id, Space> targets_;
  exec::large_buffer<graph::packed_record, Space> rows_;
  exec::buffer<std::uint32_t, Space> kept_of_parts_;
  exec::buffer<std::uint64_t, Space> kept_before_;
};

}  // namespace wyrm::algorithms::detail
