// SPDX-License-Identifier: Apache-2.0
// The neighbours of listed vertices as an array with offsets, and calls of a functor for these or for all edges. The
// work is distributed by entries, not by vertices (rows.hpp). Arguments, results and errors: see lookup.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "../../exec/device_array.hpp"
#include "../../exec/launch.hpp"
#include "../types.hpp"
#include "../view.hpp"
#include "rows.hpp"
#include "scratch.hpp"

namespace wyrm::graph {

/// Lists of vertices in memory of a space. List i is targets[offsets[i]] ... targets[offsets[i + 1] - 1]. On the host
/// the same is a `csr`, with a list per entry of the query.
template <class Space>
struct resident_lists {
  exec::device_array<std::uint64_t, Space> offsets;  // one more than lists
  exec::device_array<vertex_id, Space> targets;
  [[nodiscard]] csr to_host() const { return {offsets.to_host(), targets.to_host()}; }
};

namespace detail {

struct copy_entries {
  vertex_id* to;
  template <class Row>
  WYRM_HD void operator()(Row const&, std::uint64_t number, vertex_id entry) const {
    to[number] = entry;
  }
};

template <class F>
struct call_for_arcs {
  F f;
  WYRM_HD void operator()(listed_rows::row const& row, std::uint64_t, vertex_id target) const { f(row.source, target); }
};

/// An edge of an undirected graph is two arcs. Only the arc from the smaller id is used.
template <class F>
struct call_for_edges {
  F f;
  WYRM_HD void operator()(listed_rows::row const& row, std::uint64_t, vertex_id target) const {
    if (row.source <= target) f(row.source, target);
  }
};

}  // namespace detail

/// The neighbours of each vertex, ascending. O(1) per neighbour. Vertices may repeat. Scratch: 4 bytes per vertex.
template <class On>
[[nodiscard]] auto neighbours(On&& on, graph_view const& g, resident_vertices vertices) {
  using space_type = detail::space_of<On>;
  auto&& scratch = detail::scratch_for(on);
  space_type const& space = scratch.space();
  typename space_type::guard const current(space);
  exec::device_array<std::uint64_t, space_type> offsets(space, vertices.size + 1);
  auto const all = detail::number_entries(scratch, "neighbours", detail::listed_rows{g, vertices.data}, vertices.data,
                                          vertices.size, offsets.data());
  exec::device_array<vertex_id, space_type> targets(space, all.entries);
  detail::for_each_entry(space, all, detail::copy_entries{targets.data()});
  return resident_lists<space_type>{std::move(offsets), std::move(targets)};
}
template <class On>
[[nodiscard]] csr neighbours(On&& on, graph_view const& g, std::span<vertex_id const> vertices) {
  auto&& scratch = detail::scratch_for(on);
  auto const entries = detail::upload(scratch.space(), vertices);
  return neighbours(scratch, g, resident_vertices(entries.data(), vertices.size())).to_host();
}

/// Calls f(vertex, neighbour) for each neighbour of each vertex, concurrently and in any order, by one lane for each
/// pair. f is trivially copyable, may run on the device, and is never a lambda under nvcc. No call is made if an id is
/// out of range. Calls may not be complete when this function returns, unless the space is synchronous. Scratch: 12
/// bytes per vertex.
template <class On, class F>
void for_each_neighbour(On&& on, graph_view const& g, resident_vertices vertices, F const& f) {
  auto&& scratch = detail::scratch_for(on);
  typename detail::space_of<On>::guard const current(scratch.space());
  scratch.offsets.reserve(vertices.size + 1);
  auto const all = detail::number_entries(scratch, "for_each_neighbour", detail::listed_rows{g, vertices.data},
                                          vertices.data, vertices.size, scratch.offsets.data());
  detail::for_each_entry(scratch.space(), all, detail::call_for_arcs<F>{f});
}
template <class On, class F>
void for_each_neighbour(On&& on, graph_view const& g, std::span<vertex_id const> vertices, F const& f) {
  auto&& scratch = detail::scratch_for(on);
  auto const entries = detail::upload(scratch.space(), vertices);
  for_each_neighbour(scratch, g, resident_vertices(entries.data(), vertices.size()), f);
}

/// Calls f(source, target) for each edge: once for each arc of a directed graph, and once for each edge of an
/// undirected graph, with source <= target. Otherwise like for_each_neighbour. Does not wait for the device. Scratch:
/// 12 bytes per vertex of the graph.
template <class On, class F>
void for_each_edge(On&& on, graph_view const& g, F const& f) {
  auto&& scratch = detail::scratch_for(on);
  typename detail::space_of<On>::guard const current(scratch.space());
  if (g.vertices() == 0) return;
  auto const all = detail::number_all_entries(scratch, detail::all_rows{g});
  if (g.directed())
    detail::for_each_entry(scratch.space(), all, detail::call_for_arcs<F>{f});
  else
    detail::for_each_entry(scratch.space(), all, detail::call_for_edges<F>{f});
}

}  // namespace wyrm::graph
