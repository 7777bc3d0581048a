// SPDX-License-Identifier: Apache-2.0
// Reads a whole vertex table: export to a CSR, and the sums of degrees and capacities.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../exec/atomic.hpp"
#include "../../exec/bulk.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../../exec/tile.hpp"
#include "../table/record.hpp"
#include "../types.hpp"
#include "../update/values.hpp"
#include "../view.hpp"

namespace wyrm::graph::detail {

struct read_degrees {
  packed_record const* records;
  std::uint32_t* degrees;
  WYRM_HD void operator()(std::size_t v) const { degrees[v] = records[v].degree; }
};

struct export_rows {
  packed_record const* records;
  std::uint64_t const* offsets;
  vertex_id* targets;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t v) const {
    vertex_record const r = records[v];
    for (std::uint32_t i = t.rank(); i < r.degree; i += Tile::size()) targets[offsets[v] + i] = r.page[i];
  }
};

/// The offsets of the rows of a table in a CSR.
template <class Space>
exec::buffer<std::uint64_t, Space> offsets_of(Space const& space, packed_record const* records, vertex_id vertices) {
  exec::buffer<std::uint32_t, Space> degrees(space, vertices);
  exec::buffer<std::uint64_t, Space> offsets(space, std::size_t{vertices} + 1);
  exec::for_each(space, vertices, read_degrees{records, degrees.data()});
  typename Space::bulk(space).inclusive_sum(degrees.data(), offsets.data(), vertices);
  return offsets;
}

/// Exports the rows of a table to a CSR on the host. O(vertices + arcs).
template <class Space>
csr export_csr(Space const& space, packed_record const* records, vertex_id vertices) {
  exec::buffer<std::uint64_t, Space> const offsets = offsets_of(space, records, vertices);
  csr result;
  result.offsets = exec::copy_out(space, offsets.data(), std::size_t{vertices} + 1);
  exec::buffer<vertex_id, Space> targets(space, result.offsets.back());
  exec::for_each_tile<8>(space, vertices, export_rows{records, offsets.data(), targets.data()});
  result.targets = exec::copy_out(space, targets.data(), result.offsets.back());
  return result;
}

/// One tile per vertex: writes its values at its offset.
template <unsigned Width>
struct export_values {
  packed_record const* records;
  std::uint64_t const* offsets;
  value_word<Width>* values;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t v) const {
    vertex_record const r = records[v];
    value_word<Width> const* const from = values_of<Width>(r.page, r.capacity);
    for (std::uint32_t i = t.rank(); i < r.degree; i += Tile::size()) values[offsets[v] + i] = from[i];
  }
};

/// Exports the values of a table, in the order of export_csr(). O(vertices + arcs).
template <class Value, class Space>
std::vector<Value> export_all_values(Space const& space, packed_record const* records, vertex_id vertices,
                                     std::uint64_t arcs) {
  constexpr unsigned width = width_of<Value>;
  exec::buffer<std::uint64_t, Space> const offsets = offsets_of(space, records, vertices);
  exec::buffer<value_word<width>, Space> values(space, arcs);
  exec::for_each_tile<8>(space, vertices, export_values<width>{records, offsets.data(), values.data()});
  std::vector<Value> result(arcs);
  space.copy_out(result.data(), values.data(), arcs * width);
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

}  // namespace wyrm::graph::detail
