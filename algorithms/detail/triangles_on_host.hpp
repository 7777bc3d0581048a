// SPDX-License-Identifier: Apache-2.0
// Triangle counting by the threads of a host. A thread marks the neighbours of a vertex in a table of its own, and
// looks up the neighbours of these neighbours. A merge of two rows has a branch at each entry that a core predicts
// badly; these loops have no branch that depends on the entries, and the table of all vertices stays in the caches of
// the core. Rows are either oriented, or only the entries before the vertex itself are used.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../../exec/tile.hpp"
#include "../../graph/view.hpp"
#include "frontier.hpp"
#include "orientation.hpp"
#include "row_bins.hpp"
#include "thread_tables.hpp"

namespace wyrm::algorithms::detail {

/// Rows in which each triangle is found once: the first two corners have the third one in their rows.
struct triangle_rows {
  graph::packed_record const* rows;
  std::size_t n;
  std::uint64_t arcs;  // of the graph
  bool by_id;          // rows are not oriented: only entries before the vertex count

  /// Calls f(entry) for the entries of the row of v, and returns their number. A loop to the end takes less time than a
  /// search of the end in a row of few entries.
  template <class F>
  WYRM_HD std::uint32_t for_each_entry(graph::vertex_id v, F const& f) const {
    graph::vertex_record const r = rows[v];
    graph::vertex_id const end = by_id ? v : ~graph::vertex_id{0};  // no vertex has the largest id
    std::uint32_t i = 0;
    for (; i < r.degree && r.page[i] < end; ++i) f(r.page + i);
    return i;
  }
  /// The first entry that may be the second corner: by id the first vertex of a row has no neighbour before it in that
  /// row.
  [[nodiscard]] WYRM_HD std::uint32_t least_second() const { return by_id ? 1 : 0; }
};

/// The table that a core holds, and the triangles that it finds.
template <class T>
class triangle_search {
 public:
  template <class Tile>
  WYRM_HD triangle_search(Tile const& t, thread_tables_view<T> const& tables, std::uint64_t* total)
      : tables_(tables), index_(tables.acquire(t)), found_(total) {}
  [[nodiscard]] WYRM_HD T* table() const { return tables_.table(index_); }
  WYRM_HD void add(std::uint64_t triangles) { found_.add(triangles); }
  template <class Tile>
  WYRM_HD void flush(Tile const& t) {
    tables_.release(index_);
    found_.flush(t);
  }

 private:
  thread_tables_view<T> tables_;
  unsigned index_;
  tile_sum<std::uint64_t> found_;
};

/// One lane per vertex: counts triangles. Tables are bitmaps.
struct count_with_bitmaps {
  static constexpr std::size_t indices_of_core = 64;
  triangle_rows rows;
  thread_tables_view<std::uint64_t> tables;
  std::uint64_t* total;

  template <class Tile>
  [[nodiscard]] WYRM_HD triangle_search<std::uint64_t> begin(Tile const& t) const {
    return {t, tables, total};
  }
  template <class Tile>
  WYRM_HD void operator()(Tile const&, std::size_t u, bool, triangle_search<std::uint64_t>& search) const {
    search.add(triangles_at(static_cast<graph::vertex_id>(u), search.table()));
  }

 private:
  // The triangles of u and two vertices of its row.
  [[nodiscard]] WYRM_HD std::uint64_t triangles_at(graph::vertex_id u, std::uint64_t* bits) const {
    graph::vertex_id const* const row = rows.rows[u].page();
    std::uint32_t const size =
        rows.for_each_entry(u, [&](graph::vertex_id const* v) { bits[*v / 64] |= 1ull << (*v % 64); });
    std::uint64_t found = 0;
    for (std::uint32_t i = rows.least_second(); size > 1 && i < size; ++i) found += marked(row[i], bits);
    for (std::uint32_t i = 0; i < size; ++i) bits[row[i] / 64] = 0;
    return found;
  }
  [[nodiscard]] WYRM_HD std::uint64_t marked(graph::vertex_id v, std::uint64_t const* bits) const {
    std::uint64_t found = 0;
    rows.for_each_entry(v, [&](graph::vertex_id const* w) { found += bits[*w / 64] >> (*w % 64) & 1; });
    return found;
  }
};

/// The number of arcs between the ends of each entry of rows: `each`, or, if they differ, a number per entry.
struct arcs_of_entries {
  std::uint32_t each;
  graph::vertex_id const* first = nullptr;  // entry
  std::uint8_t const* numbers = nullptr;
  [[nodiscard]] WYRM_HD std::uint32_t of(graph::vertex_id const* entry) const { return numbers[entry - first]; }
};

/// One lane per vertex: adds to each corner of a triangle the arcs between the other two corners. Tables have two
/// entries per vertex, and two more.
struct count_corners {
  static constexpr std::size_t indices_of_core = 64;
  triangle_rows rows;
  thread_tables_view<std::uint32_t> tables;
  arcs_of_entries arcs;
  std::uint64_t* corners;  // of each vertex
  std::uint64_t* total;    // triangles

  template <class Tile>
  [[nodiscard]] WYRM_HD triangle_search<std::uint32_t> begin(Tile const& t) const {
    return {t, tables, total};
  }
  template <class Tile>
  WYRM_HD void operator()(Tile const&, std::size_t u, bool, triangle_search<std::uint32_t>& search) const {
    search.add(triangles_at(static_cast<graph::vertex_id>(u), search.table()));
  }

 private:
  WYRM_HD static void add(std::uint64_t& counter, std::uint64_t n) {
    if (n > 0) exec::atomic_ref<std::uint64_t>(counter).fetch_add(n, exec::relaxed);
  }
  // Counts the triangles of u and two vertices of its row. What these vertices get is added up by their positions in
  // the row, from 1; position 0 is that of all other vertices.
  [[nodiscard]] WYRM_HD std::uint64_t triangles_at(graph::vertex_id u, std::uint32_t* position) const {
    std::uint32_t* const sums = position + tables.entries_each / 2;
    graph::vertex_id const* const row = rows.rows[u].page();
    std::uint32_t last = 0;
    std::uint32_t const size = rows.for_each_entry(u, [&](graph::vertex_id const* v) { position[*v] = ++last; });
    std::uint64_t found = 0;
    std::uint64_t of_u = 0;
    for (std::uint32_t i = rows.least_second(); size > 1 && i < size; ++i) {
      std::uint32_t thirds = 0;
      if (arcs.numbers == nullptr) {
        thirds = add_each(row[i], position, sums);
        sums[i + 1] += thirds * arcs.each;
        of_u += std::uint64_t{thirds} * arcs.each;
      } else {
        std::uint32_t const of_third = arcs.of(row + i);
        rows.for_each_entry(row[i], [&](graph::vertex_id const* w) {
          std::uint32_t const at = position[*w];
          if (at == 0) return;
          sums[at] += of_third;
          sums[i + 1] += arcs.of(row + at - 1);
          of_u += arcs.of(w);
          ++thirds;
        });
      }
      found += thirds;
    }
    for (std::uint32_t i = 0; i < size; ++i) {
      position[row[i]] = 0;
      add(corners[row[i]], sums[i + 1]);
      sums[i + 1] = 0;
    }
    sums[0] = 0;
    add(corners[u], of_u);
    return found;
  }
  // Adds arcs.each at the position of each entry of the row of v, and returns the number of those that have one.
  [[nodiscard]] WYRM_HD std::uint32_t add_each(graph::vertex_id v, std::uint32_t const* position,
                                               std::uint32_t* sums) const {
    std::uint32_t thirds = 0;
    rows.for_each_entry(v, [&](graph::vertex_id const* w) {
      std::uint32_t const at = position[*w];
      sums[at] += arcs.each;
      thirds += at != 0 ? 1 : 0;
    });
    return thirds;
  }
};

/// One lane per vertex: adds up the squares of degrees.
struct square_degrees {
  graph::packed_record const* rows;
  std::uint64_t* sum;
  template <class Tile>
  [[nodiscard]] WYRM_HD tile_sum<std::uint64_t> begin(Tile const&) const {
    return tile_sum<std::uint64_t>(sum);
  }
  template <class Tile>
  WYRM_HD void operator()(Tile const&, std::size_t v, bool, tile_sum<std::uint64_t>& squares) const {
    std::uint64_t const degree = rows[v].degree;
    squares.add(degree * degree);
  }
};

/// Owns the tables.
template <class Space>
class triangles_on_host {
 public:
  explicit triangles_on_host(Space const& space) : space_(space), marks_(space), positions_(space), sum_(space, 1) {}

  void reserve(std::size_t n, std::uint64_t arcs, bool per_vertex) {
    if (per_vertex)
      positions_.reserve(2 * n + 2, most_table_bytes(n, arcs));
    else
      marks_.reserve((n + 63) / 64, most_table_bytes(n, arcs));
  }
  /// The rows of an undirected graph with at least one vertex. With an orientation by id at most d^2 / 4 entries are
  /// read in total for a row of d entries. An orientation by degree costs as much as a few reads per arc; it pays for
  /// graphs where an orientation by id could need more than 32 reads per arc.
  triangle_rows rows_of(graph::graph_view const& g, orientation<Space>& by_degree, row_bins<Space>& bins,
                        bin_limits const& limits) {
    triangle_rows const by_id{g.out_records(), g.vertices(), g.arcs(), true};
    if (run(by_id.n, square_degrees{by_id.rows, sum_.data()}) <= 128 * g.arcs()) return by_id;
    return {by_degree.make(g, bins.make(by_id.rows, by_id.n, g.arcs(), limits)), by_id.n, g.arcs(), false};
  }
  /// Returns the number of triangles.
  std::uint64_t count(triangle_rows const& rows) {
    reserve(rows.n, rows.arcs, false);
    return run(rows.n, count_with_bitmaps{rows, marks_.cleared(), sum_.data()});
  }
  /// The same; also adds to each corner of a triangle the arcs between the other two corners.
  std::uint64_t count_per_vertex(triangle_rows const& rows, arcs_of_entries const& arcs, std::uint64_t* corners) {
    reserve(rows.n, rows.arcs, true);
    return run(rows.n, count_corners{rows, positions_.cleared(), arcs, corners, sum_.data()});
  }

 private:
  // The sum of what f, which adds to sum_, finds at each of n vertices.
  template <class F>
  [[nodiscard]] std::uint64_t run(std::size_t n, F const& f) {
    space_.fill(sum_.data(), 0, sum_.bytes());
    for_each_index(space_, n, f);
    return exec::read(space_, sum_.data());
  }

  Space space_;
  thread_tables<std::uint64_t, Space> marks_;
  thread_tables<std::uint32_t, Space> positions_;
  exec::buffer<std::uint64_t, Space> sum_;
};

}  // namespace wyrm::algorithms::detail
