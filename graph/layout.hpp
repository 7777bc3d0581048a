// SPDX-License-Identifier: Apache-2.0
// Pages for all vertices at once, in the order of the vertices: for a CSR that becomes a graph, and for a graph that is
// compacted. A lane a vertex allocates, a tile a vertex copies its row, and many tiles that of a hub. Nothing is
// sorted; a CSR that is not what it should be is found while it is copied.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "../exec/atomic.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "../exec/tile.hpp"
#include "batch.hpp"
#include "page_size.hpp"
#include "status.hpp"
#include "update.hpp"
#include "view.hpp"

namespace wyrm::graph::detail {

/// The rows of a CSR, which have to be checked.
struct csr_rows {
  std::uint64_t const* offsets;
  vertex_id const* targets;
  std::uint64_t arcs;
  static constexpr bool trusted = false;

  /// Whether row v lies within the targets, and is not longer than there are vertices; and the rows begin and end with
  /// the targets.
  [[nodiscard]] WYRM_HD bool is_row(std::size_t v, vertex_id vertices) const {
    std::uint64_t const begin = offsets[v];
    std::uint64_t const end = offsets[v + 1];
    return begin <= end && end <= arcs && end - begin <= vertices && (v > 0 || begin == 0) &&
           (v + 1 < vertices || end == arcs);
  }
  [[nodiscard]] WYRM_HD std::uint32_t degree(std::size_t v) const {
    return static_cast<std::uint32_t>(offsets[v + 1] - offsets[v]);
  }
  [[nodiscard]] WYRM_HD vertex_id const* row(std::size_t v) const { return targets + offsets[v]; }
};

/// The rows of a graph.
struct table_rows {
  vertex_record const* records;
  static constexpr bool trusted = true;

  [[nodiscard]] WYRM_HD static bool is_row(std::size_t, vertex_id) { return true; }
  [[nodiscard]] WYRM_HD std::uint32_t degree(std::size_t v) const { return records[v].degree; }
  [[nodiscard]] WYRM_HD vertex_id const* row(std::size_t v) const { return records[v].page; }
};

/// A vertex whose row many tiles copy.
struct wide_row {
  vertex_id vertex;
  std::uint32_t first_part;
};

/// A lane a vertex: gives each that has neighbours and no page one of the right size. The bytes that could not be had
/// go to the status, and so does the number of rows that are none (out_of_range, and skewed, so that nobody reads
/// them).
template <class Rows, class AllocatorRef>
struct allocate_rows {
  static constexpr unsigned resident_blocks = exec::resident_blocks_of<AllocatorRef>();
  AllocatorRef allocator;
  Rows rows;
  vertex_record* records;
  wide_row* wide;
  std::size_t wide_room;
  update_status* status;
  unsigned which;
  vertex_id vertices;
  std::uint64_t fails_from;  // for tests: vertices from here on get none

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t v, bool valid) const {
    bool const is_row = valid && rows.is_row(v, vertices);
    std::uint32_t const degree = is_row ? rows.degree(v) : 0;
    std::uint32_t const capacity = capacity_for(degree);
    bool const has_page = valid && records[v].page != nullptr;
    std::size_t const wanted = has_page ? 0 : page_bytes(capacity);
    auto* const page = static_cast<vertex_id*>(allocator.allocate(t, v < fails_from ? wanted : 0));
    if (valid && !has_page) records[v] = {page, page != nullptr ? degree : 0, page != nullptr ? capacity : 0};
    if (page != nullptr && degree > hub_degree) {
      std::uint32_t const parts = (degree + hub_part - 1) / hub_part;
      std::uint64_t const at =
          exec::atomic_ref<std::uint64_t>(status->hubs[which]).fetch_add(std::uint64_t{1} << 32 | parts, exec::relaxed);
      if (at >> 32 < wide_room) wide[at >> 32] = {static_cast<vertex_id>(v), static_cast<std::uint32_t>(at)};
    }
    std::uint64_t const failed = exec::sum(t, std::uint64_t{page == nullptr ? wanted : 0});
    std::uint32_t const bad = t.ballot(valid && !is_row);
    if (t.rank() != 0 || (failed | bad) == 0) return;
    add(status->failed_bytes, failed);
    if (bad == 0) return;
    exec::atomic_ref<std::uint64_t>(status->skewed).store(1, exec::relaxed);
    add(status->out_of_range, static_cast<unsigned>(cuda::std::popcount(bad)));
    exec::atomic_ref<std::uint64_t>(status->first_out_of_range).fetch_max(~(v + exec::first_lane(bad)), exec::relaxed);
  }
};

/// A tile a vertex, from `first` on: copies its row, unless it is a hub; or a tile a part of a hub. The number of
/// neighbours that must not be where they are goes to the status (out_of_range).
template <class Rows>
struct lay_rows {
  Rows rows;
  vertex_record const* records;
  wide_row const* wide;
  update_status* status;
  unsigned which;
  vertex_id vertices;
  bool self_loops_allowed;
  std::size_t first;
  bool parts;         // of hubs, not rows
  std::size_t tiles;  // launched

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i) const {
    if ((status->failed_bytes | status->skewed) != 0) return;
    if (!parts) {
      std::size_t const v = first + i;
      std::uint32_t const degree = records[v].degree;
      if (degree <= hub_degree) copy(t, v, records[v].page, 0, degree);
      return;
    }
    for (std::size_t part = i; part < status->hub_parts(which); part += tiles) {
      auto const [v, first_part] = wide[hub_of_part(wide, status->hub_count(which), static_cast<std::uint32_t>(part))];
      std::uint32_t const degree = records[v].degree;
      std::uint32_t const begin = (static_cast<std::uint32_t>(part) - first_part) * hub_part;
      copy(t, v, records[v].page, begin, degree - begin < hub_part ? degree : begin + hub_part);
    }
  }

 private:
  template <class Tile>
  WYRM_HD void copy(Tile const& t, std::size_t v, vertex_id* page, std::uint32_t begin, std::uint32_t end) const {
    if (begin == end) return;
    vertex_id const* const row = rows.row(v);
    bool good = true;
    std::uint32_t loops = 0;
    for (std::uint32_t i = begin + t.rank(); i < end; i += Tile::size()) {
      vertex_id const target = row[i];
      page[i] = target;
      if constexpr (!Rows::trusted) {
        good = good && target < vertices && (i == 0 || row[i - 1] < target) && (self_loops_allowed || target != v);
        loops += target == v;
      }
    }
    if constexpr (!Rows::trusted) {
      if (t.any(!good) && t.rank() == 0) {
        add(status->out_of_range, 1);
        exec::atomic_ref<std::uint64_t>(status->first_out_of_range).fetch_max(~std::uint64_t{v}, exec::relaxed);
      }
      if (loops > 0) add(status->part[v % update_status::places].self_loops, loops);
    }
  }
};

/// A tile a vertex: the arcs of a CSR as edges.
struct list_rows {
  csr_rows rows;
  edge* edges;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t v) const {
    for (std::uint64_t i = rows.offsets[v] + t.rank(); i < rows.offsets[v + 1]; i += Tile::size())
      edges[i] = {static_cast<vertex_id>(v), rows.targets[i]};
  }
};

/// A lane a vertex: the bytes of pages as they would be laid out now.
struct sum_page_bytes {
  vertex_record const* records;
  std::uint64_t* sum;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t v, bool valid) const {
    std::uint64_t const bytes = exec::sum(t, std::uint64_t{valid ? page_bytes(capacity_for(records[v].degree)) : 0});
    if (t.rank() == 0 && bytes > 0) add(*sum, bytes);
  }
};

/// The host side, for one table.
template <class Space, class Rows>
class layout {
 public:
  /// arcs: in all rows. The records are all empty.
  layout(Space const& space, Rows const& rows, vertex_id vertices, std::uint64_t arcs, bool self_loops_allowed,
         vertex_record* records, update_status* status, unsigned which)
      : space_(space),
        rows_(rows),
        wide_(space, std::min<std::uint64_t>(vertices, arcs / hub_degree)),
        parts_(arcs / hub_part + wide_.size()),
        mean_(vertices > 0 ? arcs / vertices : 0),
        step_{rows, records, wide_.data(), status, which, vertices, self_loops_allowed, 0, false, 0} {}

  /// Pages for vertices that have none yet.
  template <class AllocatorRef>
  void allocate(AllocatorRef const& allocator, vertex_record* records, std::uint64_t fails_from) {
    exec::for_each_lane<32>(space_, step_.vertices,
                            allocate_rows<Rows, AllocatorRef>{allocator, rows_, records, wide_.data(), wide_.size(),
                                                              step_.status, step_.which, step_.vertices, fails_from});
  }
  /// Rows of n vertices from `first` on, but for those of hubs.
  void copy(std::size_t first, std::size_t n) {
    step_.first = first;
    step_.parts = false;
    launch(n);
  }
  void copy_hubs() {
    step_.parts = true;
    step_.tiles = std::min<std::uint64_t>(parts_, 8192);
    launch(step_.tiles);
  }

 private:
  void launch(std::size_t tiles) {
    if (mean_ >= 24)
      exec::for_each_tile<32>(space_, tiles, step_);
    else
      exec::for_each_tile<8>(space_, tiles, step_);
  }

  Space space_;
  Rows rows_;
  exec::buffer<wide_row, Space> wide_;
  std::uint64_t parts_;
  std::uint64_t mean_;
  lay_rows<Rows> step_;
};

/// Gives all pages of these records back: memory of the system has to be, page by page.
template <class Space, class Allocator>
void give_back(Space const& space, exec::buffer<vertex_record, Space> const& records, Allocator const& allocator) {
  exec::for_each_lane<32>(space, records.size(),
                          clear_records<typename Allocator::ref_type>{allocator.ref(), records.data()});
}

/// The pages of a table once more, in the pool of another allocator, which grows as needed. Throws what its grow()
/// does; what it has allocated then is lost with it.
template <class Space, class Allocator>
exec::buffer<vertex_record, Space> laid_out(Space const& space, vertex_record const* records, vertex_id vertices,
                                            std::uint64_t arcs, Allocator& allocator, status_memory<Space>& status,
                                            std::uint64_t fails_from) {
  exec::buffer<vertex_record, Space> to(space, vertices);
  space.fill(to.data(), 0, to.bytes());
  status.clear();
  layout<Space, table_rows> rows(space, {records}, vertices, arcs, true, to.data(), status.data(), 0);
  try {
    for (;;) {
      rows.allocate(allocator.ref(), to.data(), fails_from);
      rows.copy(0, vertices);
      rows.copy_hubs();
      update_status const& s = status.read();
      if (s.failed_bytes == 0) return to;
      status.clear(&update_status::failed_bytes);
      if (fails_from < vertices) throw error(error_code::out_of_memory, "allocations are made to fail");
      allocator.grow(s.failed_bytes + (std::size_t{1} << 20));
    }
  } catch (...) {
    if constexpr (!Allocator::family.resets) give_back(space, to, allocator);
    throw;
  }
}

/// The bytes of all pages of a table as they would be laid out now.
template <class Space>
std::uint64_t laid_out_bytes(Space const& space, vertex_record const* records, vertex_id vertices) {
  exec::buffer<std::uint64_t, Space> bytes(space, 1);
  space.fill(bytes.data(), 0, sizeof(std::uint64_t));
  exec::for_each_lane<32>(space, vertices, sum_page_bytes{records, bytes.data()});
  return exec::read(space, bytes.data());
}

}  // namespace wyrm::graph::detail
