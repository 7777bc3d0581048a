// SPDX-License-Identifier: Apache-2.0
// An orientation of the graph: each edge is kept once, in the row of the end with fewer neighbours, or of the smaller
// id if both have equally many. No row then has more than sqrt(2 edges) entries, so that hubs cost no more than other
// vertices (Chiba and Nishizeki, SIAM J. Comput. 1985; Latapy, Theor. Comput. Sci. 2008). The oriented rows are in
// scratch memory; the graph is not changed.
#pragma once

#include <cstddef>
#include <cstdint>

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

/// One tile per item of the bins: copies the entries of a row that belong to the orientation. Parts of hubs are only
/// counted in the first pass, and written in a second one.
struct orient_rows {
  std::uint32_t const* degrees;
  row_bins_view bins;
  std::uint64_t const* offsets;  // of rows in `targets`, which has room for all their entries
  graph::vertex_id* targets;
  graph::packed_record* oriented;
  std::uint32_t* kept;               // of each part: entries in the orientation
  std::uint64_t const* kept_before;  // prefix sums of kept; nullptr in the first pass

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t item) const {
    if (kept_before == nullptr)
      bins.dispatch(t, static_cast<std::uint32_t>(item), *this);
    else
      write_part(t, static_cast<std::uint32_t>(item));
  }

  template <class Tile>
  WYRM_HD void lane(Tile const&, graph::vertex_id u, graph::vertex_record const& r, bool valid) const {
    if (!valid) return;
    graph::vertex_id* const to = targets + offsets[u];
    std::uint32_t n = 0;
    for (std::uint32_t i = 0; i < r.degree; ++i)
      if (belongs(u, r.degree, r.page[i])) to[n++] = r.page[i];
    oriented[u] = graph::vertex_record{to, n, r.degree};
  }
  template <class Tile>
  WYRM_HD void group(Tile const& t, graph::vertex_id u, graph::vertex_record const& r, bool valid) const {
    constexpr unsigned lanes = row_bins_view::lanes_of_group<Tile>();
    std::uint32_t const group = (lanes < 32 ? (1u << lanes) - 1 : ~0u) << (t.rank() - t.rank() % lanes);
    graph::vertex_id* const to = valid ? targets + offsets[u] : nullptr;
    std::uint32_t n = 0;
    for (std::uint32_t base = 0; t.any(base < r.degree); base += lanes)
      n += keep(t, u, r, base + t.rank() % lanes, r.degree, group, to + n);
    if (valid && t.rank() % lanes == 0) oriented[u] = graph::vertex_record{to, n, r.degree};
  }
  template <class Tile>
  WYRM_HD void warp(Tile const& t, graph::vertex_id u, graph::vertex_record const& r) const {
    graph::vertex_id* const to = targets + offsets[u];
    std::uint32_t n = 0;
    for (std::uint32_t base = 0; base < r.degree; base += Tile::size())
      n += keep(t, u, r, base + t.rank(), r.degree, ~0u, to + n);
    if (t.rank() == 0) oriented[u] = graph::vertex_record{to, n, r.degree};
  }
  template <class Tile>
  WYRM_HD void part(Tile const& t, std::uint32_t number) const {
    row_part const p = bins.part(number);
    graph::vertex_record const r = p.row;
    std::uint32_t n = 0;
    for (std::uint32_t i = p.begin + t.rank(); i < p.end; i += Tile::size())
      n += belongs(p.vertex, r.degree, r.page[i]);
    n = exec::sum(t, n);
    if (t.rank() == 0) kept[number] = n;
  }

 private:
  [[nodiscard]] WYRM_HD bool belongs(graph::vertex_id u, std::uint32_t degree, graph::vertex_id v) const {
    std::uint32_t const other = degrees[v];
    return degree < other || (degree == other && u < v);
  }
  // Writes entry i of a row, one per lane of a group, behind the entries that lower lanes keep. Returns how many are
  // kept.
  template <class Tile>
  WYRM_HD std::uint32_t keep(Tile const& t, graph::vertex_id u, graph::vertex_record const& r, std::uint32_t i,
                             std::uint32_t end, std::uint32_t group, graph::vertex_id* to) const {
    graph::vertex_id const v = i < end ? r.page[i] : 0;
    bool const is_kept = i < end && belongs(u, r.degree, v);
    std::uint32_t const kept_here = t.ballot(is_kept) & group;
    if (is_kept) to[exec::rank_in(t, kept_here)] = v;
    return static_cast<std::uint32_t>(cuda::std::popcount(kept_here));
  }
  template <class Tile>
  WYRM_HD void write_part(Tile const& t, std::uint32_t number) const {
    row_part const p = bins.part(number);
    graph::vertex_record const r = p.row;
    std::uint32_t const first = number - p.begin / bins.part_size;
    graph::vertex_id* const row = targets + offsets[p.vertex];
    graph::vertex_id* to = row + (kept_before[number] - kept_before[first]);
    for (std::uint32_t base = p.begin; base < p.end; base += Tile::size())
      to += keep(t, p.vertex, r, base + t.rank(), p.end, ~0u, to);
    if (p.end == r.degree && t.rank() == 0)
      oriented[p.vertex] = graph::vertex_record{row, static_cast<std::uint32_t>(to - row), r.degree};
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
        offsets_(space),
        targets_(space, exec::use_rate::high),
        rows_(space),
        kept_(space),
        kept_before_(space) {}

  /// A row for each vertex of an undirected graph, ascending; bins: of the rows of the graph itself. O(vertices +
  /// arcs); 4 bytes per arc and 24 per vertex.
  graph::packed_record const* make(graph::graph_view const& g, row_bins_view const& bins) {
    std::size_t const n = g.vertices();
    reserve(n, g.arcs(), bins.parts);
    exec::for_each(space_, n, copy_degrees{g.out_records(), degrees_.data()});
    bulk_.inclusive_sum(degrees_.data(), offsets_.data(), n);
    orient_rows work{degrees_.data(), bins, offsets_.data(), targets_.data(), rows_.data(), kept_.data(), nullptr};
    exec::for_each_tile<32>(space_, bins.items(), work);
    if (bins.parts > 0) {
      bulk_.inclusive_sum(kept_.data(), kept_before_.data(), bins.parts);
      work.kept_before = kept_before_.data();
      exec::for_each_tile<32>(space_, bins.parts, work);
    }
    return rows_.data();
  }
  /// The entries of all rows of the last make(), in the order of a CSR with gaps.
  [[nodiscard]] graph::vertex_id const* targets() const { return targets_.data(); }
  /// Requests the memory of make() for bins with up to this many parts.
  void reserve(std::size_t n, std::uint64_t arcs, std::size_t parts) {
    degrees_.reserve(n);
    offsets_.reserve(n + 1);
    targets_.reserve(arcs);
    rows_.reserve(n);
    kept_.reserve(parts);
    kept_before_.reserve(parts + 1);
    bulk_.reserve(n > parts ? n : parts);
  }

 private:
  Space space_;
  typename Space::bulk bulk_;
  exec::buffer<std::uint32_t, Space> degrees_;
  exec::buffer<std::uint64_t, Space> offsets_;
  exec::sequential_buffer<graph::vertex_id, Space> targets_;
  exec::buffer<graph::packed_record, Space> rows_;
  exec::buffer<std::uint32_t, Space> kept_;
  exec::buffer<std::uint64_t, Space> kept_before_;
};

}  // namespace wyrm::algorithms::detail
