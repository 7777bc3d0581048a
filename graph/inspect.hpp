// SPDX-License-Identifier: Apache-2.0
// Reading a whole graph: export to CSR, sums over the vertex table, and the device side of check().
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "../exec/atomic.hpp"
#include "../exec/bulk.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "../exec/tile.hpp"
#include "page_size.hpp"
#include "view.hpp"

namespace wyrm::graph::detail {

struct read_degrees {
  packed_record const* records;
  std::uint32_t* degrees;
  WYRM_HD void operator()(std::size_t v) const { degrees[v] = records[v].degree; }
};

struct copy_rows {
  packed_record const* records;
  std::uint64_t const* offsets;
  vertex_id* targets;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t v) const {
    vertex_record const r = records[v];
    for (std::uint32_t i = t.rank(); i < r.degree; i += Tile::size()) targets[offsets[v] + i] = r.page[i];
  }
};

/// O(vertices + arcs).
template <class Space>
csr export_csr(Space const& space, packed_record const* records, vertex_id vertices) {
  exec::buffer<std::uint32_t, Space> degrees(space, vertices);
  exec::buffer<std::uint64_t, Space> offsets(space, std::size_t{vertices} + 1);
  exec::for_each(space, vertices, read_degrees{records, degrees.data()});
  typename Space::bulk(space).inclusive_sum(degrees.data(), offsets.data(), vertices);
  csr result;
  result.offsets = exec::copy_out(space, offsets.data(), std::size_t{vertices} + 1);
  exec::buffer<vertex_id, Space> targets(space, result.offsets.back());
  exec::for_each_tile<8>(space, vertices, copy_rows{records, offsets.data(), targets.data()});
  result.targets = exec::copy_out(space, targets.data(), result.offsets.back());
  return result;
}

struct table_sums {
  std::uint64_t arcs;
  std::uint64_t capacity;
};

struct sum_records {
  packed_record const* records;
  table_sums* sums;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t v, bool valid) const {
    std::uint64_t const arcs = exec::sum(t, std::uint64_t{valid ? records[v].degree : 0});
    std::uint64_t const capacity = exec::sum(t, std::uint64_t{valid ? records[v].capacity() : 0});
    if (t.rank() != 0 || capacity == 0) return;
    exec::atomic_ref<std::uint64_t>(sums->arcs).fetch_add(arcs, exec::relaxed);
    exec::atomic_ref<std::uint64_t>(sums->capacity).fetch_add(capacity, exec::relaxed);
  }
};

template <class Space>
table_sums sum_table(Space const& space, packed_record const* records, vertex_id vertices) {
  exec::buffer<table_sums, Space> sums(space, 1);
  exec::write(space, sums.data(), table_sums{});
  exec::for_each_lane<32>(space, vertices, sum_records{records, sums.data()});
  return exec::read(space, sums.data());
}

/// How many vertices, or arcs, break a rule.
struct table_faults {
  std::uint64_t pages;       // no page though there are neighbours, or one though there are none, or too small
  std::uint64_t order;       // not ascending and unique
  std::uint64_t range;       // ids out of range
  std::uint64_t self_loops;  // no fault where they are kept
  std::uint64_t unmirrored;  // arcs without their partner in the other direction
};

struct check_records {
  packed_record const* records;
  packed_record const* partner;  // where the reverse of each arc must stand; nullptr: nowhere
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

/// Throws error(corrupt) that says what is broken. Returns how many self-loops there are. O(arcs log degree).
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
                                       " arcs without their partner");
}

}  // namespace wyrm::graph::detail
