// SPDX-License-Identifier: Apache-2.0
// Builds the pages of all vertices, in the order of the vertices, from a CSR, or from the graph itself for a new
// layout. Pages are carved for all rows at once (carved_rows.hpp) if the allocator can do that; otherwise a lane
// allocates the page of a vertex. A tile copies the rows of as many vertices as it has lanes, and several tiles copy
// the row of a hub (row_copier.hpp). There is no sort; a malformed CSR is detected during the copy.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../../exec/tile.hpp"
#include "../batch/group.hpp"
#include "../batch/status.hpp"
#include "../table/page_size.hpp"
#include "../table/pool_growth.hpp"
#include "../update/hubs.hpp"
#include "../update/values.hpp"
#include "../view.hpp"
#include "carved_rows.hpp"
#include "row_copier.hpp"

namespace wyrm::graph::detail {

/// One lane per vertex, from `first` on: allocates a page for each vertex that has neighbours and no page. Adds the
/// bytes of failed allocations to the status, and records rows with malformed offsets there (out_of_range, and
/// has_large_group).
template <class Rows, class AllocatorRef>
struct allocate_rows {
  static constexpr unsigned resident_blocks = exec::resident_blocks_of<AllocatorRef>();
  static constexpr std::size_t grain = exec::one_thread;
  AllocatorRef allocator;
  Rows rows;
  packed_record* records;
  hub_list listed_hubs;
  update_status* status;
  vertex_id vertices;
  std::size_t first;
  bool again;                // some vertices have pages
  bool lists_hubs;           // false if hubs are listed already
  std::uint64_t fails_from;  // for tests: allocations fail for vertices from here on
  layout_sizes sizes;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t index, bool valid) const {
    std::size_t const v = first + index;
    auto const its = rows.extent_of(valid ? v : vertices - 1);
    bool const is_row = valid && rows.is_row(its, v, vertices);
    std::uint32_t const degree = is_row && !(again && records[v].page() != nullptr) ? its.degree() : 0;
    bool const has = allocate_page(t, allocator, *status, v < fails_from, degree, sizes, records, v);
    if (lists_hubs) listed_hubs.add(t, *status, v, has ? degree : 0);
    std::uint32_t const bad = t.ballot(valid && !is_row);
    if (t.rank() == 0 && bad != 0) record_malformed_rows(*status, v, bad);
  }
};

/// One lane per vertex, from `first` on: copies its row, unless it is a hub.
template <class Rows>
struct copy_into_pages {
  row_copier<Rows> copier;
  packed_record const* records;
  std::size_t first;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    if ((copier.status->failed_bytes | copier.status->has_large_group) != 0) return;
    vertex_record const r = valid ? vertex_record(records[first + i]) : vertex_record{nullptr, 0, 0};
    bool const copies = r.degree > 0 && r.degree <= hub_degree;
    copier.copy_rows(t, static_cast<vertex_id>(first + i - t.rank()),
                     {copies ? copier.rows.row(copier.rows.extent_of(first + i)) : nullptr, r.page,
                      copies ? r.degree : 0, r.capacity});
  }
};

/// One tile for several consecutive parts of hubs: copies them.
template <class Rows>
struct copy_hubs {
  row_copier<Rows> copier;
  packed_record const* records;
  csr_hub const* listed_hubs;
  std::size_t tiles;  // number of launched tiles

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i) const {
    update_status const& status = *copier.status;
    std::uint32_t const parts = status.hub_parts(0);
    std::uint32_t const hubs = status.hub_count(0);
    if ((status.failed_bytes | status.has_large_group) != 0) return;
    auto const each = static_cast<std::uint32_t>((parts + tiles - 1) / tiles);
    std::uint32_t part = static_cast<std::uint32_t>(i) * each;
    if (part >= parts) return;
    std::uint32_t const last = parts - part < each ? parts : part + each;
    for (std::uint32_t hub = hub_of_part(listed_hubs, hubs, part); part < last; ++hub) {
      auto const [v, first_part] = listed_hubs[hub];
      std::uint32_t const next = hub + 1 < hubs ? listed_hubs[hub + 1].first_part : parts;
      std::uint32_t const end_part = next < last ? next : last;
      vertex_record const r = records[v];
      std::uint64_t const end = std::uint64_t{end_part - first_part} * hub_part;
      copier.copy_part(t, v,
                       {copier.rows.row(copier.rows.extent_of(v)), r.page,
                        end < r.degree ? static_cast<std::uint32_t>(end) : r.degree, r.capacity},
                       (part - first_part) * hub_part);
      part = end_part;
    }
  }
};

/// The values of the rows of a CSR.
template <unsigned Width>
struct csr_values {
  std::uint64_t const* offsets;
  value_word<Width> const* values;
  [[nodiscard]] WYRM_HD value_word<Width> const* operator()(std::size_t v) const { return values + offsets[v]; }
};
/// The values of the rows of a graph.
template <unsigned Width>
struct table_values {
  packed_record const* records;
  [[nodiscard]] WYRM_HD value_word<Width> const* operator()(std::size_t v) const {
    return values_of<Width>(records[v].page(), records[v].capacity());
  }
};
/// One tile per vertex: copies its values, unless it is a hub.
template <unsigned Width, class ValuesAt>
struct copy_row_values {
  ValuesAt from;
  packed_record const* records;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t v) const {
    vertex_record const r = records[v];
    if (r.degree == 0 || r.degree > hub_degree) return;
    value_word<Width> const* const values = from(v);
    value_word<Width>* const to = values_of<Width>(r.page, r.capacity);
    for (std::uint32_t i = t.rank(); i < r.degree; i += Tile::size()) to[i] = values[i];
  }
};
/// One tile for several parts of hubs: copies their values.
template <unsigned Width, class ValuesAt>
struct copy_hub_values {
  ValuesAt from;
  packed_record const* records;
  csr_hub const* listed_hubs;
  update_status const* status;
  std::size_t tiles;  // number of launched tiles
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t tile) const {
    for (std::size_t part = tile; part < status->hub_parts(0); part += tiles) {
      csr_hub const hub = listed_hubs[hub_of_part(listed_hubs, status->hub_count(0), static_cast<std::uint32_t>(part))];
      vertex_record const r = records[hub.vertex];
      value_word<Width> const* const values = from(hub.vertex);
      value_word<Width>* const to = values_of<Width>(r.page, r.capacity);
      std::uint32_t const first = (static_cast<std::uint32_t>(part) - hub.first_part) * hub_part;
      std::uint32_t const last = r.degree - first < hub_part ? r.degree : first + hub_part;
      for (std::uint32_t i = first + t.rank(); i < last; i += Tile::size()) to[i] = values[i];
    }
  }
};

/// One tile per vertex: writes the arcs of a CSR from `first` to `last` as edges.
struct rows_to_edges {
  csr_rows rows;
  edge* edges;
  std::uint64_t first;
  std::uint64_t last;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t v) const {
    std::uint64_t const begin = rows.offsets[v] > first ? rows.offsets[v] : first;
    std::uint64_t const end = rows.offsets[v + 1] < last ? rows.offsets[v + 1] : last;
    for (std::uint64_t i = begin + t.rank(); i < end; i += Tile::size())
      edges[i - first] = {static_cast<vertex_id>(v), rows.targets[i]};
  }
};

/// One tile for several vertices: sums the bytes of the pages of a new layout. (On a CPU, an atomic addition per vertex
/// would take most of the time.)
struct sum_page_bytes {
  static constexpr std::size_t each = 256;
  packed_record const* records;
  std::size_t vertices;
  std::uint64_t* sum;
  layout_sizes sizes;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i) const {
    std::size_t const end = (i + 1) * each < vertices ? (i + 1) * each : vertices;
    std::uint64_t bytes = 0;
    for (std::size_t v = i * each + t.rank(); v < end; v += Tile::size())
      bytes += page_bytes(sizes.capacity(records[v].degree), sizes.width);
    bytes = exec::sum(t, bytes);
    if (t.rank() == 0 && bytes > 0) add(*sum, bytes);
  }
};

/// The host side of a layout, for one table.
template <class Space, class Rows>
class layout {
 public:
  /// arcs: the number of arcs in all rows. Records must be empty, and the status clear; `listed_hubs` is scratch.
  /// may_carve: false if records must also be valid after a failure.
  layout(Space const& space, Rows const& rows, vertex_id vertices, std::uint64_t arcs, bool self_loops_allowed,
         layout_sizes const& sizes, bool may_carve, packed_record* records, exec::buffer<csr_hub, Space>& listed_hubs,
         status_memory<Space>& status)
      : space_(space),
        listed_hubs_{nullptr, std::min<std::uint64_t>(vertices, arcs / hub_degree)},
        parts_(arcs / hub_part + listed_hubs_.room),
        sizes_(sizes),
        may_carve_(may_carve && sizes.width == 0 && !sizes.powers_of_two),
        records_(records),
        status_(status),
        carved_(status.carved()),
        copier_{rows, vertices, self_loops_allowed, status.data()} {
    listed_hubs.reserve(listed_hubs_.room);
    listed_hubs_.rows = listed_hubs.data();
  }

  /// Enqueues allocation and copies for n vertices from `first` on. Called for consecutive ranges, or for all vertices;
  /// after a failure for all vertices with `again`, when some have pages.
  template <class AllocatorRef>
  void build(AllocatorRef const& allocator, std::size_t first, std::size_t n, bool again, std::uint64_t fails_from) {
    if constexpr (exec::has_tiles<Space> && alloc::carving_ref<AllocatorRef>) {
      if (!again && n == copier_.vertices && may_carve_) count(fails_from);
      if (carvings_ > 0) {
        --carvings_;
        return carve(allocator);
      }
      if (is_counted_) exec::for_each(space_, n, clear_first_pages{carved_, records_});
    }
    // All rows are copied and counted again. (Rows with carved pages are copied once.)
    if (again) status_.clear_sums();
    exec::for_each_lane<32>(
        space_, n,
        allocate_rows<Rows, AllocatorRef>{allocator, copier_.rows, records_, listed_hubs_, copier_.status,
                                          copier_.vertices, first, again, !is_counted_, fails_from, sizes_});
    exec::for_each_lane<32>(space_, n, copy_into_pages<Rows>{copier_, records_, first});
  }
  /// Enqueues the copies of hubs, which do nothing unless all hubs have pages.
  void build_hubs() {
    std::size_t const tiles = std::min<std::uint64_t>(parts_, 8192);
    exec::for_each_tile<32>(space_, tiles, copy_hubs<Rows>{copier_, records_, listed_hubs_.rows, tiles});
  }
  /// Enqueues the copies of values, after all rows are copied. values_at(v): the values of row v, in memory of the
  /// space.
  template <unsigned Width, class ValuesAt>
  void copy_values(ValuesAt const& values_at) {
    exec::for_each_tile<8>(space_, copier_.vertices, copy_row_values<Width, ValuesAt>{values_at, records_});
    std::size_t const tiles = std::min<std::uint64_t>(parts_, 8192);
    exec::for_each_tile<32>(
        space_, tiles, copy_hub_values<Width, ValuesAt>{values_at, records_, listed_hubs_.rows, copier_.status, tiles});
  }

 private:
  // Carving needs contiguous memory. After this number of failures, although the pool has grown, pages are allocated
  // individually.
  static constexpr unsigned tries = 2;

  void count(std::uint64_t fails_from) {
    using work = count_rows<Rows>;
    constexpr std::size_t rows = 32 * work::each;
    exec::for_each_tile<32>(
        space_, (std::size_t{copier_.vertices} + rows - 1) / rows,
        work{copier_.rows, sizes_, copier_.vertices, fails_from, records_, listed_hubs_, carved_, copier_.status});
    is_counted_ = true;
    carvings_ = tries;
  }
  template <class AllocatorRef>
  void carve(AllocatorRef const& allocator) {
    exec::for_each_tile<32>(space_, 1, carve_pages<AllocatorRef>{allocator, carved_, copier_.status});
    exec::for_each_lane<32>(space_, copier_.vertices,
                            fill_pages<Rows, AllocatorRef>{allocator, copier_, sizes_, carved_, records_});
    exec::for_each_lane<32>(space_, listed_hubs_.room,
                            allocate_hubs<Rows, AllocatorRef>{allocator, copier_.rows, sizes_, records_,
                                                              listed_hubs_.rows, carved_, copier_.status});
  }

  Space space_;
  hub_list listed_hubs_;
  std::uint64_t parts_;  // maximum number of parts of hubs
  layout_sizes sizes_;
  bool may_carve_;
  packed_record* records_;
  status_memory<Space>& status_;
  carved_pages* carved_;
  bool is_counted_ = false;
  unsigned carvings_ = 0;  // number of remaining attempts
  row_copier<Rows> copier_;
};

/// One lane per vertex: frees its page, unless the previous or the next table references it; see snapshot.
template <class AllocatorRef>
struct release_rows {
  static constexpr unsigned resident_blocks = exec::resident_blocks_of<AllocatorRef>();
  AllocatorRef allocator;
  packed_record const* records;
  snapshot_records before;
  snapshot_records after;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t v, bool valid) const {
    vertex_id* page = valid ? records[v].page() : nullptr;
    if (is_shared(before, v, page) || is_shared(after, v, page)) page = nullptr;
    allocator.deallocate(t, page);
  }
};

/// Frees all pages of these records. Needed for the system allocator, which has no pool.
template <class Space, class Allocator>
void free_pages(Space const& space, packed_record const* records, vertex_id vertices, Allocator const& allocator) {
  exec::for_each_lane<32>(space, vertices,
                          release_rows<typename Allocator::view_type>{allocator.view(), records, {}, {}});
}

/// Copies all pages of a table to the pool of another allocator, which grows as needed; returns the new records. Throws
/// the errors of grow(); pages that are already allocated are then freed with the pool, or here for the system
/// allocator.
template <unsigned Width, class Space, class Allocator>
exec::buffer<packed_record, Space> rebuilt_table(Space const& space, packed_record const* records, vertex_id vertices,
                                                 std::uint64_t arcs, layout_sizes const& sizes, Allocator& allocator,
                                                 status_memory<Space>& status, std::uint64_t fails_from) {
  exec::buffer<packed_record, Space> to = table_for(space, vertices);
  space.fill(to.data(), 0, to.bytes());
  status.clear_all();
  exec::buffer<csr_hub, Space> listed_hubs(space);
  layout<Space, table_rows> rows(space, {records}, vertices, arcs, true, sizes, true, to.data(), listed_hubs, status);
  try {
    pool_growth<Allocator> memory(allocator, fails_from < vertices);
    for (bool again = false;; again = true) {
      rows.build(allocator.view(), 0, vertices, again, fails_from);
      rows.build_hubs();
      update_status const& s = status.read();
      if (s.failed_bytes == 0) {
        if constexpr (Width > 0) {
          rows.template copy_values<Width>(table_values<Width>{records});
          space.synchronize();  // the caller frees the old pages
        }
        return to;
      }
      std::uint64_t const missing = s.failed_bytes;
      status.clear_failures();
      if (!memory.compact_if_free(missing)) memory.find(missing, std::size_t{256} << 10, 0);
    }
  } catch (...) {
    if constexpr (!Allocator::family.resets) free_pages(space, to.data(), vertices, allocator);
    throw;
  }
}

/// The bytes of all pages of a table in a new layout. Needs no memory: the sum is in a counter of the next layout.
template <class Space>
std::uint64_t layout_bytes(Space const& space, packed_record const* records, vertex_id vertices,
                           layout_sizes const& sizes, status_memory<Space>& status) {
  std::uint64_t* const sum = &status.carved()->hub_bytes.sum;
  space.fill(sum, 0, sizeof(std::uint64_t));
  std::size_t const tiles = (std::size_t{vertices} + sum_page_bytes::each - 1) / sum_page_bytes::each;
  exec::for_each_tile<32>(space, tiles, sum_page_bytes{records, vertices, sum, sizes});
  return exec::read(space, sum);
}

}  // namespace wyrm::graph::detail
