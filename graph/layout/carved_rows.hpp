// SPDX-License-Identifier: Apache-2.0
// Allocates pages without values for all rows at once, if the allocator can carve arrays of pages: rows are counted by
// page size, one tile carves an array of pages of each size, and each row computes the index of its page in the array.
// So there is no atomic operation per page or per warp. Pages are in the order of the vertices, except for the order in
// which tiles count. Pages of hubs, which are few, are allocated individually.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda/std/bit>

#include "../../alloc/allocator.hpp"
#include "../../exec/atomic.hpp"
#include "../../exec/load.hpp"
#include "../../exec/memory.hpp"
#include "../../exec/tile.hpp"
#include "../batch/status.hpp"
#include "../table/page_size.hpp"
#include "../update/hubs.hpp"
#include "../view.hpp"
#include "row_copier.hpp"

namespace wyrm::graph::detail {

/// A hub of a CSR, whose row several tiles copy.
struct csr_hub {
  vertex_id vertex;
  std::uint32_t first_part;
};

/// The list of hubs; their number is in the status.
struct hub_list {
  csr_hub* rows;
  std::size_t room;

  /// Appends v of each lane whose degree is that of a hub. Collective.
  template <class Tile>
  WYRM_HD void add(Tile const& t, update_status& status, std::size_t v, std::uint32_t degree) const {
    bool const is_listed = degree > hub_degree;
    std::uint32_t const lanes = t.ballot(is_listed);
    if (lanes == 0) return;
    std::uint32_t const parts = is_listed ? (degree + hub_part - 1) / hub_part : 0;
    std::uint32_t const parts_below = exec::sum_below(t, parts);
    unsigned const last = Tile::size() - 1;
    auto const number = std::uint64_t{static_cast<unsigned>(cuda::std::popcount(lanes))};
    std::uint64_t at = 0;
    if (t.rank() == last)
      at = exec::atomic_ref<std::uint64_t>(status.hubs[0])
               .fetch_add(number << 32 | (parts_below + parts), exec::relaxed);
    at = t.shfl(at, last);
    std::uint64_t const mine = (at >> 32) + exec::rank_in(t, lanes);
    // A malformed CSR with overlapping rows may have more hubs than there is room for; it is refused.
    if (is_listed && mine < room)
      rows[mine] = {static_cast<vertex_id>(v), static_cast<std::uint32_t>(at) + parts_below};
  }
};

/// Records that some rows from v on have malformed offsets, so that no kernel reads them; see record_bad_rows(). Called
/// by one thread.
WYRM_HD inline void record_malformed_rows(update_status& status, std::size_t v, std::uint32_t rows) {
  exec::atomic_ref<std::uint64_t>(status.has_large_group).store(1, exec::relaxed);
  record_bad_rows(status, v, rows);
}

/// Allocates a page for `degree` neighbours of the vertex of each lane; degree 0: none.
/// `may` is false for allocations that fail in tests. Adds the bytes of failed allocations to the status. Collective;
/// returns whether the lane has its page.
template <class Tile, class AllocatorRef>
[[nodiscard]] WYRM_HD bool allocate_page(Tile const& t, AllocatorRef const& allocator, update_status& status, bool may,
                                         std::uint32_t degree, layout_sizes const& sizes, packed_record* records,
                                         std::size_t v) {
  std::uint32_t const capacity = sizes.capacity(degree);
  std::size_t const bytes = page_bytes(capacity, sizes.width);
  bool const requests = may && !status.is_exhausted(t);
  auto* const page = static_cast<vertex_id*>(allocator.allocate(t, requests ? bytes : 0));
  if (requests && bytes > 0 && page == nullptr) status.set_exhausted();
  if (page != nullptr) records[v] = vertex_record{page, degree, capacity};
  std::uint64_t const failed = exec::sum(t, std::uint64_t{page == nullptr ? bytes : 0});
  if (t.rank() == 0 && failed > 0) add(status.failed_bytes, failed);
  return page != nullptr;
}

/// The bytes of carved pages of a size class. Pages are carved for all vertices that are not hubs.
[[nodiscard]] WYRM_HD constexpr std::size_t carved_bytes(unsigned size) { return alloc::detail::page_bytes(size); }
static_assert(carved_bytes(carved_pages::sizes - 1) == page_bytes(capacity_for(hub_degree)));
/// The size class of the page for `degree` neighbours, at least 1 and at most hub_degree. The page has no slack if
/// slack would make it larger than the largest carved page.
[[nodiscard]] WYRM_HD inline unsigned carved_size(layout_sizes const& sizes, std::uint32_t degree) {
  unsigned const size = alloc::detail::class_for(page_bytes(sizes.with_slack(degree)));
  return size < carved_pages::sizes ? size : carved_pages::sizes - 1;
}

/// The lanes that have rows of each size class.
class lanes_by_size {
 public:
  /// size: the class of the lane's row; has: whether the lane has a row. Collective.
  template <class Tile>
  WYRM_HD lanes_by_size(Tile const& t, unsigned size, bool has) : has_(t.ballot(has)) {
    for (unsigned b = 0; b < bits; ++b) bit_[b] = t.ballot((size >> b & 1) != 0);
  }
  [[nodiscard]] WYRM_HD std::uint32_t of(unsigned size) const {
    std::uint32_t lanes = has_;
    for (unsigned b = 0; b < bits; ++b) lanes &= bit_[b] ^ ((size >> b & 1) - 1);
    return lanes;
  }

 private:
  static constexpr unsigned bits = 5;
  static_assert(carved_pages::sizes <= 1u << bits);
  std::uint32_t has_;
  std::uint32_t bit_[bits];
};

/// For the 32 rows from v on (v is a multiple of 32): the number of the first page of each size class. Until the rows
/// have their pages, these numbers are stored in place of their records; table_for() ensures that there is room.
[[nodiscard]] WYRM_HD inline std::uint32_t* first_pages(packed_record* records, std::size_t v) {
  return reinterpret_cast<std::uint32_t*>(records + v);
}
/// The number of records in the table of this number of vertices.
[[nodiscard]] constexpr std::size_t table_size(vertex_id vertices) {
  constexpr std::size_t bytes = carved_pages::sizes * sizeof(std::uint32_t);
  constexpr std::size_t least = (bytes + sizeof(packed_record) - 1) / sizeof(packed_record);
  std::size_t const last = vertices / 32 * 32;
  return vertices - last < least ? last + least : vertices;
}
template <class Space>
[[nodiscard]] exec::buffer<packed_record, Space> table_for(Space const& space, vertex_id vertices) {
  return exec::buffer<packed_record, Space>(space, table_size(vertices));
}

/// One tile of 32 lanes for 32 * each rows: counts rows by size class, stores the first pages, and lists hubs. Records
/// rows with malformed offsets in the status, like allocate_rows. For tests, allocations fail for rows from
/// `fails_from` on.
template <class Rows>
struct count_rows {
  static constexpr unsigned each = 8;
  Rows rows;
  layout_sizes sizes;
  vertex_id vertices;
  std::uint64_t fails_from;
  packed_record* records;
  hub_list listed_hubs;
  carved_pages* carved;
  update_status* status;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i) const {
    static_assert(Tile::size() == 32);
    std::size_t const first = i * each * 32;
    // Loads of all rows are issued before the first one is used.
    typename Rows::extent its[each];
    for (unsigned k = 0; k < each; ++k) {
      std::size_t const v = first + k * 32 + t.rank();
      its[k] = rows.extent_of(v < vertices ? v : vertices - 1);
    }
    std::uint32_t degrees[each];
    bool is_special = false;
    for (unsigned k = 0; k < each; ++k) {
      std::size_t const v = first + k * 32 + t.rank();
      bool const is_row = rows.is_row(its[k], v, vertices);
      degrees[k] = ((v < vertices) & is_row) ? its[k].degree() : 0;
      is_special |= ((v < vertices) & !is_row) | (degrees[k] > hub_degree) | ((degrees[k] > 0) & (v >= fails_from));
    }
    if (t.any(is_special))
      for (unsigned k = 0; k < each; ++k) record_special(t, first + k * 32 + t.rank());
    // Lane s counts the rows of size class s.
    std::uint32_t counts[each];
    std::uint32_t all = 0;
    for (unsigned k = 0; k < each; ++k) {
      counts[k] = all;
      bool const has = degrees[k] > 0 && degrees[k] <= hub_degree;
      unsigned const size = has ? carved_size(sizes, degrees[k]) : 0;
      all += static_cast<std::uint32_t>(cuda::std::popcount(lanes_by_size(t, size, has).of(t.rank())));
    }
    if (t.rank() >= carved_pages::sizes) return;
    std::uint32_t before = 0;
    if (all > 0)
      before = static_cast<std::uint32_t>(
          exec::atomic_ref<std::uint64_t>(carved->rows[t.rank()].sum).fetch_add(all, exec::relaxed));
    for (unsigned k = 0; k < each && first + k * 32 < vertices; ++k)
      first_pages(records, first + k * 32)[t.rank()] = before + counts[k];
  }

 private:
  // Processes rows that are malformed, hubs, or failing in tests; these are rare. Collective.
  template <class Tile>
  WYRM_NOINLINE WYRM_HD void record_special(Tile const t, std::size_t v) const {
    auto const its = rows.extent_of(v < vertices ? v : vertices - 1);
    bool const is_row = rows.is_row(its, v, vertices);
    std::uint32_t const degree = ((v < vertices) & is_row) ? its.degree() : 0;
    std::uint32_t const bad = t.ballot((v < vertices) & !is_row);
    if (t.rank() == 0 && bad != 0) record_malformed_rows(*status, v, bad);
    listed_hubs.add(t, *status, v, degree);
    std::uint64_t const bytes = page_bytes(sizes.capacity(degree));
    std::uint64_t const hubs = exec::sum(t, std::uint64_t{degree > hub_degree ? bytes : 0});
    if (t.rank() == 0 && hubs > 0) add(carved->hub_bytes.sum, hubs);
    if (degree > 0 && v >= fails_from) add(carved->failed.sum, bytes);
  }
};

/// One tile: carves the counted pages, unless they are carved already. Adds the bytes of missing pages to the status.
template <class AllocatorRef>
struct carve_pages {
  AllocatorRef allocator;
  carved_pages* carved;
  update_status* status;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t) const {
    unsigned const s = t.rank();
    bool const is_there = carved->state != carved_pages::not_there;
    std::uint64_t missing = carved->failed.sum;
    auto const count = s < carved_pages::sizes ? static_cast<std::uint32_t>(carved->rows[s].sum) : 0;
    if (status->has_large_group != 0) return;
    if (!is_there && missing == 0) {
      alloc::page_array pages{};
      missing = allocator.carve(t, carved_bytes(s), count, pages);
      if (missing == 0 && s < carved_pages::sizes) carved->pages[s] = pages;
    }
    t.sync();
    if (s != 0) return;
    if (missing > 0)
      add(status->failed_bytes, missing + carved->hub_bytes.sum);
    else
      carved->state = is_there ? carved_pages::used : carved_pages::there;
  }
};

/// One lane per row, except for hubs: computes the page of the row; all lanes of a tile copy the rows.
template <class Rows, class AllocatorRef>
struct fill_pages {
  AllocatorRef allocator;
  row_copier<Rows> copier;
  layout_sizes sizes;
  carved_pages const* carved;
  packed_record* records;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t v, bool valid) const {
    static_assert(Tile::size() == 32);
    // All loads are issued before the first one is used.
    std::uint64_t const malformed = copier.status->has_large_group;
    auto const state = carved->state;
    std::uint32_t const first = t.rank() < carved_pages::sizes ? first_pages(records, v - t.rank())[t.rank()] : 0;
    typename Rows::extent const its = valid ? copier.rows.extent_of(v) : typename Rows::extent{};
    if (malformed != 0 || state != carved_pages::there) return;
    std::uint32_t const degree = its.degree() <= hub_degree ? its.degree() : 0;
    vertex_id const* const row = degree > 0 ? copier.rows.row(its) : nullptr;
    if (row != nullptr) exec::prefetch(row);
    unsigned const size = degree > 0 ? carved_size(sizes, degree) : carved_pages::sizes;
    std::uint32_t const same = exec::match(t, size);
    std::uint32_t const k = t.shfl(first, size) + exec::rank_in(t, same);
    vertex_id* page = nullptr;
    if (degree > 0) page = static_cast<vertex_id*>(allocator.claim(carved->pages[size], carved_bytes(size), k));
    auto const capacity = static_cast<std::uint32_t>(degree > 0 ? carved_bytes(size) / entry_bytes(0) : 0);
    if (valid) records[v] = vertex_record{page, degree, capacity};
    copier.copy_rows(t, static_cast<vertex_id>(v - t.rank()), {row, page, degree, capacity});
  }
};

/// One thread per vertex: clears its record, unless pages are carved.
struct clear_first_pages {
  carved_pages const* carved;
  packed_record* records;
  WYRM_HD void operator()(std::size_t v) const {
    if (carved->state == carved_pages::not_there) records[v] = vertex_record{nullptr, 0, 0};
  }
};

/// One lane per hub: allocates its page, unless it has one.
template <class Rows, class AllocatorRef>
struct allocate_hubs {
  static constexpr unsigned resident_blocks = exec::resident_blocks_of<AllocatorRef>();
  AllocatorRef allocator;
  Rows rows;
  layout_sizes sizes;
  packed_record* records;
  csr_hub const* listed_hubs;
  carved_pages const* carved;
  update_status* status;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    std::uint32_t const hubs = status->hub_count(0);
    auto const state = carved->state;
    if (status->has_large_group != 0 || state == carved_pages::not_there) return;
    valid = valid && i < hubs;
    if (!t.any(valid)) return;
    vertex_id const v = valid ? listed_hubs[i].vertex : 0;
    std::uint32_t const degree = valid && records[v].page() == nullptr ? rows.extent_of(v).degree() : 0;
    (void)allocate_page(t, allocator, *status, true, degree, sizes, records, v);
  }
};

}  // namespace wyrm::graph::detail
