// SPDX-License-Identifier: Apache-2.0
// Pages for all vertices at once, in the order of the vertices: for a CSR that becomes a graph, and for a graph that is
// compacted. A lane a vertex allocates; a tile copies the rows of as many vertices as it has lanes, and many tiles that
// of a hub. Nothing is sorted; a CSR that is not what it should be is found while it is copied.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "../exec/atomic.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "../exec/tile.hpp"
#include "in_place.hpp"
#include "page_size.hpp"
#include "pool_growth.hpp"
#include "segments.hpp"
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
  packed_record const* records;
  static constexpr bool trusted = true;

  [[nodiscard]] WYRM_HD static bool is_row(std::size_t, vertex_id) { return true; }
  [[nodiscard]] WYRM_HD std::uint32_t degree(std::size_t v) const { return records[v].degree; }
  [[nodiscard]] WYRM_HD vertex_id const* row(std::size_t v) const { return records[v].page(); }
};

/// A vertex whose row many tiles copy.
struct wide_row {
  vertex_id vertex;
  std::uint32_t first_part;
};

/// Rows of v and of vertices behind it that are wrong: bit k is row v + k, and one at least is set. One thread.
WYRM_HD inline void note_bad_rows(update_status& status, std::size_t v, std::uint32_t rows) {
  add(status.out_of_range, static_cast<unsigned>(cuda::std::popcount(rows)));
  exec::atomic_ref<std::uint64_t>(status.first_out_of_range).fetch_max(~(v + exec::first_lane(rows)), exec::relaxed);
}

/// A lane a vertex, from `first` on: gives each that has neighbours and no page one of the right size. The bytes that
/// could not be had go to the status; so does the number of rows that nobody must read (out_of_range, and skewed).
template <class Rows, class AllocatorRef>
struct allocate_rows {
  static constexpr unsigned resident_blocks = exec::resident_blocks_of<AllocatorRef>();
  static constexpr std::size_t grain = exec::one_thread;
  AllocatorRef allocator;
  Rows rows;
  packed_record* records;
  wide_row* wide;
  std::size_t wide_room;
  update_status* status;
  vertex_id vertices;
  std::size_t first;
  bool again;                // some have pages by now
  std::uint64_t fails_from;  // for tests: vertices from here on get none

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t index, bool valid) const {
    std::size_t const v = first + index;
    bool const is_row = valid && rows.is_row(v, vertices);
    std::uint32_t const degree = is_row && !(again && records[v].page() != nullptr) ? rows.degree(v) : 0;
    std::uint32_t const capacity = capacity_for(degree);
    std::size_t const wanted = page_bytes(capacity);
    bool const asks = v < fails_from && !status->is_exhausted(t);
    auto* const page = static_cast<vertex_id*>(allocator.allocate(t, asks ? wanted : 0));
    if (asks && wanted > 0 && page == nullptr) status->note_exhaustion();
    if (page != nullptr) {
      records[v] = vertex_record{page, degree, capacity};
      if (degree > hub_degree) note_wide(v, degree);
    }
    std::uint64_t const failed = exec::sum(t, std::uint64_t{page == nullptr ? wanted : 0});
    std::uint32_t const bad = t.ballot(valid && !is_row);
    if (t.rank() != 0) return;
    if (failed > 0) add(status->failed_bytes, failed);
    if (bad == 0) return;
    exec::atomic_ref<std::uint64_t>(status->skewed).store(1, exec::relaxed);
    note_bad_rows(*status, v, bad);
  }

 private:
  WYRM_HD void note_wide(std::size_t v, std::uint32_t degree) const {
    std::uint64_t const at = claim_parts(*status, 0, degree);
    // A CSR whose rows overlap may have more; it is refused.
    if (at >> 32 < wide_room) wide[at >> 32] = {static_cast<vertex_id>(v), static_cast<std::uint32_t>(at)};
  }
};

/// Rows into pages; those with neighbours that must not be there are counted in the status (out_of_range).
template <class Rows>
struct row_copier {
  vertex_id vertices;
  bool self_loops_allowed;
  update_status* status;

  struct job {
    vertex_id const* row = nullptr;
    vertex_id* page = nullptr;
    std::uint32_t end = 0;  // entries to copy
    vertex_id v = 0;
  };
  struct findings {
    std::uint32_t bad = 0;  // entries
    std::uint32_t loops = 0;
  };

  /// A lane's share of the entries of two rows, from `begin` on, a multiple of 4: what it reads of both it asks for
  /// before it waits for any.
  WYRM_HD void copy(job const& a, job const& b, std::uint32_t begin, unsigned rank, unsigned lanes, findings& of_a,
                    findings& of_b) const {
    std::uint32_t const end = a.end > b.end ? a.end : b.end;
    for (std::uint32_t i = begin + page_block::size * rank; i < end; i += page_block::size * lanes) {
      loaded const from_a = load(a, i);
      loaded const from_b = load(b, i);
      put(a, i, from_a, of_a);
      put(b, i, from_b, of_b);
    }
  }
  /// What has been found in the rows of v and those behind it, by all lanes: bit k of `bad` is row v + k; collective.
  template <class Tile>
  WYRM_HD void note(Tile const& t, vertex_id v, std::uint32_t bad, std::uint32_t loops) const {
    if constexpr (Rows::trusted) return;
    loops = exec::sum(t, loops);
    if (t.rank() == 0 && loops > 0) add(status->mine(t).self_loops, loops);
    if (!t.any(bad != 0)) return;
    std::uint32_t rows = 0;
    for (unsigned k = 0; k < 32; ++k) rows |= t.any((bad >> k & 1) != 0) ? 1u << k : 0;
    if (t.rank() == 0) note_bad_rows(*status, v, rows);
  }
  [[nodiscard]] WYRM_HD bool is_bad(findings const& found) const {
    return found.bad > 0 || (found.loops > 0 && !self_loops_allowed);
  }

 private:
  struct loaded {
    page_block block{};
    vertex_id before = 0;
  };
  WYRM_HD static std::uint32_t entries(job const& j, std::uint32_t i) {
    return i >= j.end ? 0 : j.end - i < page_block::size ? j.end - i : page_block::size;
  }
  WYRM_HD static loaded load(job const& j, std::uint32_t i) {
    loaded l;
    std::uint32_t const n = entries(j, i);
    if (n == 0) return l;
    vertex_id const* const from = j.row + i;
    if constexpr (Rows::trusted) {  // a page
      l.block = *reinterpret_cast<page_block const*>(from);
    } else {
      if (i > 0) l.before = from[-1];
      for (std::uint32_t k = 0; k < page_block::size; ++k)
        if (k < n) l.block.value[k] = from[k];
    }
    return l;
  }
  // Targets that ascend, and of which the last is that of a vertex, are all those of vertices.
  WYRM_HD void put(job const& j, std::uint32_t i, loaded const& l, findings& found) const {
    std::uint32_t const n = entries(j, i);
    if (n == 0) return;
    blocks_of(j.page)[i / page_block::size] = l.block;
    if constexpr (!Rows::trusted) {
      vertex_id before = l.before;
      for (std::uint32_t k = 0; k < page_block::size; ++k) {
        vertex_id const target = l.block.value[k];
        found.bad += k < n && before >= target && (i > 0 || k > 0);
        found.loops += k < n && target == j.v;
        if (k < n) before = target;
      }
      found.bad += before >= vertices;
    }
  }
};

/// A lane a vertex, from `first` on: copies its row, unless it is a hub: short ones by a group of lanes each, so that
/// few stand idle, others by all lanes.
template <class Rows>
struct copy_into_pages {
  row_copier<Rows> copier;
  Rows rows;
  packed_record const* records;
  std::size_t first;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    using job = typename row_copier<Rows>::job;
    using findings = typename row_copier<Rows>::findings;
    constexpr unsigned lanes = Tile::size() < 8 ? Tile::size() : 8;
    constexpr unsigned groups = Tile::size() / lanes;
    constexpr std::uint32_t short_row = 2 * lanes * page_block::size;
    if ((copier.status->failed_bytes | copier.status->skewed) != 0) return;
    vertex_record const r = valid ? vertex_record(records[first + i]) : vertex_record{nullptr, 0, 0};
    bool const copies = r.degree > 0 && r.degree <= hub_degree;
    bool const is_short = r.degree <= short_row;
    vertex_id const* const row = copies ? rows.row(first + i) : nullptr;
    auto const first_v = static_cast<vertex_id>(first + i - t.rank());
    auto const job_of = [&](unsigned lane, std::uint32_t end) {
      return job{t.shfl(row, lane), t.shfl(r.page, lane), t.shfl(end, lane), first_v + lane};
    };
    std::uint32_t bad = 0;
    std::uint32_t loops = 0;
    auto const copy = [&](job const& a, job const& b, unsigned rank, unsigned together) {
      findings of_a;
      findings of_b;
      copier.copy(a, b, 0, rank, together, of_a, of_b);
      loops += of_a.loops + of_b.loops;
      if (copier.is_bad(of_a)) bad |= 1u << (a.v - first_v);
      if (copier.is_bad(of_b)) bad |= 1u << (b.v - first_v);
    };
    std::uint32_t const end = copies && is_short ? r.degree : 0;
    for (unsigned k = t.rank() / lanes; k < Tile::size(); k += 2 * groups) {
      if constexpr (groups < Tile::size())
        copy(job_of(k, end), job_of(k + groups, end), t.rank() % lanes, lanes);
      else
        copy(job_of(k, end), {}, 0, 1);
    }
    for (std::uint32_t left = t.ballot(copies && !is_short); left != 0; left &= left - 1)
      copy(job_of(exec::first_lane(left), r.degree), {}, t.rank(), Tile::size());
    copier.note(t, first_v, bad, loops);
  }
};

/// A tile a part of a hub.
template <class Rows>
struct copy_hubs {
  row_copier<Rows> copier;
  Rows rows;
  packed_record const* records;
  wide_row const* wide;
  std::size_t tiles;  // launched

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i) const {
    update_status const& status = *copier.status;
    if ((status.failed_bytes | status.skewed) != 0) return;
    for (std::size_t part = i; part < status.hub_parts(0); part += tiles) {
      auto const [v, first_part] = wide[hub_of_part(wide, status.hub_count(0), static_cast<std::uint32_t>(part))];
      vertex_record const r = records[v];
      std::uint32_t const begin = (static_cast<std::uint32_t>(part) - first_part) * hub_part;
      std::uint32_t const end = r.degree - begin < hub_part ? r.degree : begin + hub_part;
      typename row_copier<Rows>::findings found;
      copier.copy({rows.row(v), r.page, end, v}, {}, begin, t.rank(), Tile::size(), found, found);
      copier.note(t, v, copier.is_bad(found) ? 1 : 0, found.loops);
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
  packed_record const* records;
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
         packed_record* records, update_status* status)
      : space_(space),
        wide_(space, std::min<std::uint64_t>(vertices, arcs / hub_degree)),
        parts_(arcs / hub_part + wide_.size()),
        rows_(rows),
        records_(records),
        copier_{vertices, self_loops_allowed, status} {}

  /// Pages and rows of n vertices from `first` on. `again`: when some have pages already.
  template <class AllocatorRef>
  void lay(AllocatorRef const& allocator, std::size_t first, std::size_t n, bool again, std::uint64_t fails_from) {
    exec::for_each_lane<32>(
        space_, n,
        allocate_rows<Rows, AllocatorRef>{allocator, rows_, records_, wide_.data(), wide_.size(), copier_.status,
                                          copier_.vertices, first, again, fails_from});
    exec::for_each_lane<32>(space_, n, copy_into_pages<Rows>{copier_, rows_, records_, first});
  }
  /// The rows of hubs, when all have their pages.
  void lay_wide() {
    std::size_t const tiles = std::min<std::uint64_t>(parts_, 8192);
    exec::for_each_tile<32>(space_, tiles, copy_hubs<Rows>{copier_, rows_, records_, wide_.data(), tiles});
  }

 private:
  Space space_;
  exec::buffer<wide_row, Space> wide_;
  std::uint64_t parts_;
  Rows rows_;
  packed_record* records_;
  row_copier<Rows> copier_;
};

/// A lane a vertex: gives its page back.
template <class AllocatorRef>
struct release_rows {
  static constexpr unsigned resident_blocks = exec::resident_blocks_of<AllocatorRef>();
  AllocatorRef allocator;
  packed_record const* records;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t v, bool valid) const {
    allocator.deallocate(t, valid ? records[v].page() : nullptr);
  }
};

/// Gives all pages of these records back: memory of the system has to be, page by page.
template <class Space, class Allocator>
void give_back(Space const& space, packed_record const* records, vertex_id vertices, Allocator const& allocator) {
  exec::for_each_lane<32>(space, vertices, release_rows<typename Allocator::ref_type>{allocator.ref(), records});
}

/// The pages of a table once more, in the pool of another allocator, which grows as needed. Throws what its grow()
/// does; what it has allocated then is lost with it.
template <class Space, class Allocator>
exec::buffer<packed_record, Space> laid_out(Space const& space, packed_record const* records, vertex_id vertices,
                                            std::uint64_t arcs, Allocator& allocator, status_memory<Space>& status,
                                            std::uint64_t fails_from) {
  exec::buffer<packed_record, Space> to(space, vertices);
  space.fill(to.data(), 0, to.bytes());
  status.clear();
  layout<Space, table_rows> rows(space, {records}, vertices, arcs, true, to.data(), status.data());
  try {
    pool_growth<Allocator> memory(allocator, fails_from < vertices);
    for (bool again = false;; again = true) {
      rows.lay(allocator.ref(), 0, vertices, again, fails_from);
      rows.lay_wide();
      update_status const& s = status.read();
      if (s.failed_bytes == 0) return to;
      std::uint64_t const missing = s.failed_bytes;
      status.forget_failures();
      if (!memory.gather_if_free(missing)) memory.find(missing, std::size_t{256} << 10, 0);
    }
  } catch (...) {
    if constexpr (!Allocator::family.resets) give_back(space, to.data(), vertices, allocator);
    throw;
  }
}

/// The bytes of all pages of a table as they would be laid out now.
template <class Space>
std::uint64_t laid_out_bytes(Space const& space, packed_record const* records, vertex_id vertices) {
  exec::buffer<std::uint64_t, Space> bytes(space, 1);
  space.fill(bytes.data(), 0, sizeof(std::uint64_t));
  exec::for_each_lane<32>(space, vertices, sum_page_bytes{records, bytes.data()});
  return exec::read(space, bytes.data());
}

}  // namespace wyrm::graph::detail
