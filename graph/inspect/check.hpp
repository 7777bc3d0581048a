// SPDX-License-Identifier: Apache-2.0
// The device side of dynamic_graph::check(): each page belongs to one vertex and has a valid size; neighbours ascend,
// are in range, and have the reverse arc in the other direction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda/std/bit>
#include <string>
#include <utility>

#include "../../exec/atomic.hpp"
#include "../../exec/bulk.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../../exec/tile.hpp"
#include "../table/page_size.hpp"
#include "../table/record.hpp"
#include "../update/values.hpp"
#include "../view.hpp"

namespace wyrm::graph::detail {

/// The numbers of vertices, or of arcs, that violate a rule.
struct table_faults {
  std::uint64_t pages;       // neighbours without page, a page without neighbours, or a page that is too small
  std::uint64_t order;       // neighbours that do not ascend
  std::uint64_t range;       // ids out of range
  std::uint64_t self_loops;  // no fault if the graph keeps self-loops
  std::uint64_t unmirrored;  // arcs without reverse arc
};

struct check_records {
  packed_record const* records;
  packed_record const* partner;  // the table of the reverse arcs; nullptr: none
  table_faults* faults;
  vertex_id vertices;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t index) const {
    auto const v = static_cast<vertex_id>(index);
    vertex_record const r = records[v];
    bool const page_good =
        (r.page == nullptr) == (r.degree == 0) && (r.page == nullptr) == (r.capacity == 0) && r.degree <= r.capacity;
    if (!page_good) {
      if (t.rank() == 0) add(faults->pages);
      return;
    }
    for (std::uint32_t i = t.rank(); i < r.degree; i += Tile::size()) {
      vertex_id const u = r.page[i];
      if (i > 0 && r.page[i - 1] >= u) add(faults->order);
      if (u >= vertices) {
        add(faults->range);
        continue;
      }
      if (u == v) add(faults->self_loops);
      if (partner == nullptr) continue;
      vertex_record const p = partner[u];
      std::uint32_t const at = lower_bound(p.page, p.degree, v);
      if (at == p.degree || p.page[at] != v) add(faults->unmirrored);
    }
  }

  WYRM_HD static void add(std::uint64_t& counter) {
    exec::atomic_ref<std::uint64_t>(counter).fetch_add(1, exec::relaxed);
  }
};

/// Throws error(corrupt) with the numbers of faults. Returns the number of self-loops. O(arcs log degree).
template <class Space>
std::uint64_t check_table(Space const& space, packed_record const* records, packed_record const* partner,
                          vertex_id vertices, bool self_loops_allowed) {
  exec::buffer<table_faults, Space> faults(space, 1);
  exec::write(space, faults.data(), table_faults{});
  exec::for_each_tile<8>(space, vertices, check_records{records, partner, faults.data(), vertices});
  table_faults f = exec::read(space, faults.data());
  std::uint64_t const kept = self_loops_allowed ? std::exchange(f.self_loops, 0) : 0;
  if (f.pages + f.order + f.range + f.self_loops + f.unmirrored == 0) return kept;
  throw error(error_code::corrupt, "the graph is damaged: " + std::to_string(f.pages) +
                                       " vertices with a wrong page, " + std::to_string(f.order) +
                                       " neighbours out of order, " + std::to_string(f.range) + " out of range, " +
                                       std::to_string(f.self_loops) + " self-loops, " + std::to_string(f.unmirrored) +
                                       " arcs without their reverse");
}

/// One tile per vertex: counts the arcs whose value is not that of the reverse arc in `partner`, which must be there.
template <unsigned Width>
struct check_values {
  packed_record const* records;
  packed_record const* partner;
  std::uint64_t* wrong;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t v) const {
    vertex_record const r = records[v];
    for (std::uint32_t i = t.rank(); i < r.degree; i += Tile::size()) {
      vertex_record const p = partner[r.page[i]];
      std::uint32_t const at = lower_bound(p.page, p.degree, static_cast<vertex_id>(v));
      if (!(values_of<Width>(r.page, r.capacity)[i] == values_of<Width>(p.page, p.capacity)[at]))
        exec::atomic_ref<std::uint64_t>(*wrong).fetch_add(1, exec::relaxed);
    }
  }
};
/// Throws error(corrupt) if arcs and their reverse have different values.
template <unsigned Width, class Space>
void check_mirrored_values(Space const& space, packed_record const* records, packed_record const* partner,
                           vertex_id vertices) {
  exec::buffer<std::uint64_t, Space> wrong(space, 1);
  exec::write(space, wrong.data(), std::uint64_t{0});
  exec::for_each_tile<8>(space, vertices, check_values<Width>{records, partner, wrong.data()});
  if (std::uint64_t const n = exec::read(space, wrong.data()); n > 0)
    throw error(error_code::corrupt,
                "the graph is damaged: " + std::to_string(n) + " arcs do not have the value of their reverse");
}

/// One thread per vertex: writes a key of its page, the address followed by the capacity as in packed_record.
struct list_pages {
  packed_record const* records;
  std::uint64_t* keys;
  WYRM_HD void operator()(std::size_t v) const {
    auto const capacity = cuda::std::bit_cast<std::uint32_t>(static_cast<float>(records[v].capacity()));
    keys[v] = reinterpret_cast<std::uintptr_t>(records[v].page()) << 16 | capacity >> 16;
  }
};

struct page_sums {
  std::uint64_t bytes;
  std::uint64_t rounded;   // to the size classes of allocators
  std::uint64_t overlaps;  // number of pages in which the next page begins
};

/// One lane per page, in the order of addresses.
struct sum_pages {
  std::uint64_t const* keys;
  std::size_t count;
  page_sums* sums;
  unsigned width;      // bytes of a value
  bool powers_of_two;  // see rounded_page_bytes()

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    std::uint64_t const own = valid ? bytes(keys[i]) : 0;
    bool const overlaps = own > 0 && i + 1 < count && (keys[i] >> 16) + own > keys[i + 1] >> 16;
    std::uint64_t const all_bytes = exec::sum(t, own);
    std::uint64_t const all_rounded = exec::sum(t, std::uint64_t{rounded_page_bytes(own, powers_of_two)});
    std::uint64_t const all_overlaps = exec::sum(t, std::uint64_t{overlaps});
    if (t.rank() != 0) return;
    if (all_bytes > 0) exec::atomic_ref<std::uint64_t>(sums->bytes).fetch_add(all_bytes, exec::relaxed);
    if (all_rounded > 0) exec::atomic_ref<std::uint64_t>(sums->rounded).fetch_add(all_rounded, exec::relaxed);
    if (all_overlaps > 0) exec::atomic_ref<std::uint64_t>(sums->overlaps).fetch_add(all_overlaps, exec::relaxed);
  }

 private:
  [[nodiscard]] WYRM_HD std::uint64_t bytes(std::uint64_t key) const {
    auto const capacity = cuda::std::bit_cast<float>(static_cast<std::uint32_t>(key & 0xffff) << 16);
    return static_cast<std::uint64_t>(capacity) * entry_bytes(width);
  }
};

/// Throws error(corrupt) if pages of the tables overlap, or have more bytes than the allocator has granted; or fewer,
/// if the allocator counts only pages, which it rounds as in rounded_page_bytes(). in: nullptr without a second table;
/// width: bytes of a value; elsewhere: the bytes of other pages, of snapshots. Does not read pages. O(vertices log
/// vertices).
template <class Space>
void check_pages(Space const& space, packed_record const* out, packed_record const* in, vertex_id vertices,
                 unsigned width, std::uint64_t granted, page_sums const& elsewhere, bool counts_only_pages,
                 bool powers_of_two) {
  std::size_t const count = std::size_t{vertices} * (in == nullptr ? 1 : 2);
  exec::buffer<std::uint64_t, Space> keys(space, count);
  exec::buffer<std::uint64_t, Space> spare(space, count);
  exec::for_each(space, vertices, list_pages{out, keys.data()});
  if (in != nullptr) exec::for_each(space, vertices, list_pages{in, keys.data() + vertices});
  exec::buffer<page_sums, Space> sums(space, 1);
  exec::write(space, sums.data(), page_sums{});
  typename Space::bulk bulk(space);
  std::uint64_t const* const sorted = bulk.sort(keys.data(), spare.data(), count, 64);
  exec::for_each_lane<32>(space, count, sum_pages{sorted, count, sums.data(), width, powers_of_two});
  page_sums s = exec::read(space, sums.data());
  s.bytes += elsewhere.bytes;
  s.rounded += elsewhere.rounded;
  if (s.overlaps > 0)
    throw error(error_code::corrupt,
                "the graph is damaged: " + std::to_string(s.overlaps) + " pages reach into another one");
  if (s.bytes > granted)
    throw error(error_code::corrupt, "the graph is damaged: its pages have " + std::to_string(s.bytes) +
                                         " bytes, more than the " + std::to_string(granted) + " that the pool granted");
  if (counts_only_pages && s.rounded < granted)
    throw error(error_code::corrupt,
                "the graph is damaged: " + std::to_string(granted - s.rounded) + " bytes of the pool are lost");
}

}  // namespace wyrm::graph::detail
