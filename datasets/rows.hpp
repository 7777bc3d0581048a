// SPDX-License-Identifier: Apache-2.0
// Edges of a graph whose rows are independent: each row is a function of the parameters, so that threads compute rows
// in any order. Each row is computed twice: to count its edges, and to write them behind those of the rows before.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../exec/bulk.hpp"
#include "../exec/config.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "../graph/types.hpp"

namespace wyrm::datasets {

namespace detail {

struct edge_counter {
  std::uint32_t edges = 0;
  WYRM_HD void operator()(graph::vertex_id, graph::vertex_id) { ++edges; }
};
struct edge_writer {
  graph::edge* at;
  WYRM_HD void operator()(graph::vertex_id source, graph::vertex_id target) { *at++ = {source, target}; }
};

template <class Row>
struct count_row {
  Row row;
  std::uint32_t* counts;
  WYRM_HD void operator()(std::size_t i) const {
    edge_counter counter;
    row(i, counter);
    counts[i] = counter.edges;
  }
};
template <class Row>
struct write_row {
  Row row;
  std::uint64_t const* offsets;
  graph::edge* edges;
  WYRM_HD void operator()(std::size_t i) const {
    edge_writer writer{edges + offsets[i]};
    row(i, writer);
  }
};
template <class Edge>
struct write_edge {
  Edge edge;
  graph::edge* edges;
  WYRM_HD void operator()(std::size_t i) const { edges[i] = edge(i); }
};

}  // namespace detail

/// Writes the edges of rows 0 ... rows-1, in this order. row(i, emit) calls emit(source, target) for each edge of a
/// row, and is a functor for kernels. place(n) returns an array of n edges in memory of the space. O(edges) work, and
/// 12 bytes of scratch for each row. Throws error(out_of_memory), and what place() throws.
template <class Space, class Row, class Place>
void edges_by_row(Space const& space, std::size_t rows, Row const& row, Place const& place) {
  typename Space::guard const current(space);
  exec::buffer<std::uint32_t, Space> const counts(space, rows);
  exec::buffer<std::uint64_t, Space> const offsets(space, rows + 1);
  exec::for_each(space, rows, detail::count_row<Row>{row, counts.data()});
  typename Space::bulk bulk(space);
  bulk.inclusive_sum(counts.data(), offsets.data(), rows);
  graph::edge* const edges = place(exec::read(space, offsets.data() + rows));
  exec::for_each(space, rows, detail::write_row<Row>{row, offsets.data(), edges});
  space.synchronize();
}

/// Writes edge(i) for each i in [0, n) to an array in memory of the space.
template <class Space, class Edge>
void edges_by_index(Space const& space, std::size_t n, Edge const& edge, graph::edge* edges) {
  typename Space::guard const current(space);
  exec::for_each(space, n, detail::write_edge<Edge>{edge, edges});
  space.synchronize();
}

}  // namespace wyrm::datasets
