// SPDX-License-Identifier: Apache-2.0
// Pages for all vertices at once, in the order of the vertices: for a CSR that becomes a graph, and for a graph that is
// compacted. A lane a vertex allocates, the lanes of a tile copy their rows together, and many tiles that of a hub.
// Nothing is sorted; a CSR that is not what it should be is found while it is copied.
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

/// Whether the i-th of a row may be what it is.
[[nodiscard]] WYRM_HD inline bool is_neighbour(vertex_id const* row, std::uint32_t i, vertex_id target, std::size_t v,
                                               vertex_id vertices, bool self_loops_allowed) {
  return target < vertices && (i == 0 || row[i - 1] < target) && (self_loops_allowed || target != v);
}

/// A vertex whose row many tiles copy.
struct wide_row {
  vertex_id vertex;
  std::uint32_t first_part;
};

/// A lane a vertex, from `first` on: gives each that has neighbours and no page one of the right size, and the lanes of
/// a tile copy their rows together, except those of hubs. The bytes that could not be had go to the status; so does the
/// number of rows that are wrong (out_of_range), and that there are some that nobody must read (skewed).
template <class Rows, class AllocatorRef>
struct lay_rows {
  static constexpr unsigned resident_blocks = exec::resident_blocks_of<AllocatorRef>();
  AllocatorRef allocator;
  Rows rows;
  vertex_record* records;
  wide_row* wide;
  std::size_t wide_room;
  update_status* status;
  unsigned which;
  vertex_id vertices;
  bool self_loops_allowed;
  std::size_t first;
  bool again;                // some have pages by now
  std::uint64_t fails_from;  // for tests: vertices from here on get none

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t index, bool valid) const {
    std::size_t const v = first + index;
    bool const is_row = valid && rows.is_row(v, vertices);
    std::uint32_t const degree = is_row && !(again && records[v].page != nullptr) ? rows.degree(v) : 0;
    std::uint32_t const capacity = capacity_for(degree);
    std::size_t const wanted = page_bytes(capacity);
    auto* const page = static_cast<vertex_id*>(allocator.allocate(t, v < fails_from ? wanted : 0));
    bool wrong = valid && !is_row;
    if (wrong) exec::atomic_ref<std::uint64_t>(status->skewed).store(1, exec::relaxed);
    if (page != nullptr) {
      records[v] = {page, degree, capacity};
      if (degree > hub_degree) note_wide(v, degree);
    }
    std::uint64_t const failed = exec::sum(t, std::uint64_t{page == nullptr ? wanted : 0});
    if (t.rank() == 0 && failed > 0) add(status->failed_bytes, failed);
    bool const copies = page != nullptr && degree <= hub_degree;
    wrong = copy(t, v, page, copies ? degree : 0) || wrong;
    std::uint32_t const bad = t.ballot(wrong);
    if (t.rank() != 0 || bad == 0) return;
    add(status->out_of_range, static_cast<unsigned>(cuda::std::popcount(bad)));
    exec::atomic_ref<std::uint64_t>(status->first_out_of_range).fetch_max(~(v + exec::first_lane(bad)), exec::relaxed);
  }

 private:
  WYRM_HD void note_wide(std::size_t v, std::uint32_t degree) const {
    std::uint32_t const parts = (degree + hub_part - 1) / hub_part;
    std::uint64_t const at =
        exec::atomic_ref<std::uint64_t>(status->hubs[which]).fetch_add(std::uint64_t{1} << 32 | parts, exec::relaxed);
    // A CSR whose rows overlap may have more; it is refused.
    if (at >> 32 < wide_room) wide[at >> 32] = {static_cast<vertex_id>(v), static_cast<std::uint32_t>(at)};
  }

  // The lanes' rows one behind the other, so many neighbours at a time as there are lanes; collective. Whether the
  // lane's own row is wrong.
  template <class Tile>
  WYRM_HD bool copy(Tile const& t, std::size_t v, vertex_id* page, std::uint32_t n) const {
    vertex_id const* const row = n > 0 ? rows.row(v) : nullptr;
    std::uint32_t const begin = exec::sum_below(t, n);
    std::uint32_t const end = t.shfl(begin + n, Tile::size() - 1);
    std::uint32_t wrong = 0;  // lanes
    for (std::uint32_t base = 0; base < end; base += Tile::size()) {
      std::uint32_t const k = base + t.rank();
      unsigned lane = 0;  // the last one whose row begins at or before k; empty rows begin where the next one does
      for (unsigned step = Tile::size() / 2; step > 0; step /= 2)
        if (t.shfl(begin, lane + step) <= k) lane += step;
      std::uint32_t const i = k - t.shfl(begin, lane);
      vertex_id const* const from = t.shfl(row, lane);
      vertex_id* const to = t.shfl(page, lane);
      bool const valid = k < end;
      vertex_id const target = valid ? from[i] : 0;
      if (valid) to[i] = target;
      if constexpr (!Rows::trusted) {
        std::size_t const source = v - t.rank() + lane;
        bool const bad = valid && !is_right(from, i, target, source);
        wrong |= t.ballot(bad) != 0 ? lanes_of(t, bad, lane) : 0;
        if (valid && target == source) add(status->part[source % update_status::places].self_loops, 1);
      }
    }
    return (wrong >> t.rank() & 1) != 0;
  }
  template <class Tile>
  WYRM_HD static std::uint32_t lanes_of(Tile const& t, bool bad, unsigned lane) {
    std::uint32_t all = 0;
    for (unsigned other = 0; other < Tile::size(); ++other) {
      bool const is_bad = t.shfl(std::uint32_t{bad}, other) != 0;
      unsigned const whose = t.shfl(lane, other);
      if (is_bad) all |= 1u << whose;
    }
    return all;
  }
  [[nodiscard]] WYRM_HD bool is_right(vertex_id const* row, std::uint32_t i, vertex_id target, std::size_t v) const {
    return is_neighbour(row, i, target, v, vertices, self_loops_allowed);
  }
};

/// A tile a part of a hub.
template <class Rows>
struct lay_hubs {
  Rows rows;
  vertex_record const* records;
  wide_row const* wide;
  update_status* status;
  unsigned which;
  vertex_id vertices;
  bool self_loops_allowed;
  std::size_t tiles;  // launched

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t tile) const {
    if ((status->failed_bytes | status->skewed) != 0) return;
    for (std::size_t part = tile; part < status->hub_parts(which); part += tiles) {
      auto const [v, first_part] = wide[hub_of_part(wide, status->hub_count(which), static_cast<std::uint32_t>(part))];
      vertex_record const r = records[v];
      std::uint32_t const begin = (static_cast<std::uint32_t>(part) - first_part) * hub_part;
      std::uint32_t const end = r.degree - begin < hub_part ? r.degree : begin + hub_part;
      vertex_id const* const row = rows.row(v);
      bool good = true;
      for (std::uint32_t i = begin + t.rank(); i < end; i += Tile::size()) {
        vertex_id const target = row[i];
        r.page[i] = target;
        if constexpr (!Rows::trusted) {
          good = good && is_neighbour(row, i, target, v, vertices, self_loops_allowed);
          if (target == v) add(status->part[v % update_status::places].self_loops, 1);
        }
      }
      if (Rows::trusted || !t.any(!good) || t.rank() != 0) continue;
      add(status->out_of_range, 1);
      exec::atomic_ref<std::uint64_t>(status->first_out_of_range).fetch_max(~std::uint64_t{v}, exec::relaxed);
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
         vertex_record* records, update_status* status)
      : space_(space),
        rows_(rows),
        vertices_(vertices),
        self_loops_allowed_(self_loops_allowed),
        records_(records),
        status_(status),
        wide_(space, std::min<std::uint64_t>(vertices, arcs / hub_degree)),
        parts_(arcs / hub_part + wide_.size()) {}

  /// Pages and rows of n vertices from `first` on. `again`: when some have them already.
  template <class AllocatorRef>
  void lay(AllocatorRef const& allocator, std::size_t first, std::size_t n, bool again, std::uint64_t fails_from) {
    exec::for_each_lane<32>(
        space_, n,
        lay_rows<Rows, AllocatorRef>{allocator, rows_, records_, wide_.data(), wide_.size(), status_, 0, vertices_,
                                     self_loops_allowed_, first, again, fails_from});
  }
  /// The rows of hubs, when all have their pages.
  void lay_wide() {
    std::size_t const tiles = std::min<std::uint64_t>(parts_, 8192);
    exec::for_each_tile<32>(
        space_, tiles,
        lay_hubs<Rows>{rows_, records_, wide_.data(), status_, 0, vertices_, self_loops_allowed_, tiles});
  }

 private:
  Space space_;
  Rows rows_;
  vertex_id vertices_;
  bool self_loops_allowed_;
  vertex_record* records_;
  update_status* status_;
  exec::buffer<wide_row, Space> wide_;
  std::uint64_t parts_;
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
  layout<Space, table_rows> rows(space, {records}, vertices, arcs, true, to.data(), status.data());
  try {
    for (bool again = false;; again = true) {
      rows.lay(allocator.ref(), 0, vertices, again, fails_from);
      rows.lay_wide();
      update_status const& s = status.read();
      if (s.failed_bytes == 0) return to;
      status.clear(&update_status::failed_bytes);
      if (fails_from < vertices) throw error(error_code::out_of_memory, "allocations are made to fail");
      allocator.grow(s.failed_bytes + s.failed_bytes / 32 + (std::size_t{256} << 10));
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
