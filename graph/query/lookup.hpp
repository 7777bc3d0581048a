// SPDX-License-Identifier: Apache-2.0
// Queries with one result per entry that do not read whole rows: contains, degrees, neighbours_at. One kernel, one lane
// per entry. Lanes wait for memory nearly all of the time. A device hides this latency by running many lanes, so an
// entry is not split among lanes.
//
// Like all queries, they take entries on the host, and return results on the host; or they take entries in memory of
// the space, and write results there, in the order of the work of the space. Their first argument is a space, or a
// query_scratch. An entry with an id that is out of range throws error(bad_argument), which contains the first such
// entry. In this case nothing is returned, and an array of the caller has undefined contents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../../exec/device_array.hpp"
#include "../../exec/error.hpp"
#include "../../exec/launch.hpp"
#include "../types.hpp"
#include "../view.hpp"
#include "scratch.hpp"

namespace wyrm::graph {

namespace detail {

/// An edge of an undirected graph is in the rows of both ends; the shorter one is searched.
struct find_pairs {
  graph_view g;
  edge const* pairs;
  std::uint8_t* found;
  query_status* status;
  WYRM_HD void operator()(std::size_t i) const {
    edge const e = pairs[i];
    if (e.source >= g.vertices() || e.target >= g.vertices()) {
      status->refuse(i);
      return;
    }
    neighbour_list const row = g.neighbours(e.source);
    neighbour_list const other = g.directed() ? row : g.neighbours(e.target);
    bool const turned = other.size < row.size;
    found[i] = contains(turned ? other : row, turned ? e.source : e.target) ? 1 : 0;
  }
};

struct look_up_degrees {
  graph_view g;
  vertex_id const* vertices;
  std::uint32_t* found;
  query_status* status;
  WYRM_HD void operator()(std::size_t i) const {
    vertex_id const v = vertices[i];
    if (v < g.vertices())
      found[i] = g.degree(v);
    else
      status->refuse(i);
  }
};

struct look_up_neighbours {
  graph_view g;
  vertex_id const* vertices;
  std::uint32_t const* ks;
  vertex_id* found;
  query_status* status;
  WYRM_HD void operator()(std::size_t i) const {
    vertex_id const v = vertices[i];
    if (v >= g.vertices()) {
      status->refuse(i);
      return;
    }
    neighbour_list const row = g.neighbours(v);
    found[i] = ks[i] < row.size ? row[ks[i]] : no_vertex;
  }
};

/// Runs a kernel with one thread per entry, waits for it, and checks its status.
template <class Space, class Entry, class Kernel>
void look_up(query_scratch<Space>& scratch, char const* query, graph_view const& g, Entry const* entries, std::size_t n,
             Kernel kernel) {
  if (n == 0) return;
  typename Space::guard const current(scratch.space());
  kernel.status = scratch.begin();
  exec::for_each(scratch.space(), n, kernel);
  scratch.wait(query, g, entries);
}

}  // namespace detail

/// Whether the graph has the arc of each pair (source, target): 1 or 0. O(log degree) per pair, with the smaller degree
/// of both ends for an undirected graph. `found` is in memory of the space.
template <class On>
void contains(On&& on, graph_view const& g, resident_edges pairs, std::uint8_t* found) {
  auto&& scratch = detail::scratch_for(on);
  detail::look_up(scratch, "contains", g, pairs.data, pairs.size, detail::find_pairs{g, pairs.data, found, nullptr});
}
template <class On>
[[nodiscard]] auto contains(On&& on, graph_view const& g, resident_edges pairs) {
  auto&& scratch = detail::scratch_for(on);
  exec::device_array<std::uint8_t, detail::space_of<On>> found(scratch.space(), pairs.size);
  contains(scratch, g, pairs, found.data());
  return found;
}
template <class On>
[[nodiscard]] std::vector<std::uint8_t> contains(On&& on, graph_view const& g, std::span<edge const> pairs) {
  auto&& scratch = detail::scratch_for(on);
  auto const entries = detail::upload(scratch.space(), pairs);
  return contains(scratch, g, resident_edges(entries.data(), pairs.size())).to_host();
}

/// The number of neighbours of each vertex. O(1) per vertex. `found` is in memory of the space.
template <class On>
void degrees(On&& on, graph_view const& g, resident_vertices vertices, std::uint32_t* found) {
  auto&& scratch = detail::scratch_for(on);
  detail::look_up(scratch, "degrees", g, vertices.data, vertices.size,
                  detail::look_up_degrees{g, vertices.data, found, nullptr});
}
template <class On>
[[nodiscard]] auto degrees(On&& on, graph_view const& g, resident_vertices vertices) {
  auto&& scratch = detail::scratch_for(on);
  exec::device_array<std::uint32_t, detail::space_of<On>> found(scratch.space(), vertices.size);
  degrees(scratch, g, vertices, found.data());
  return found;
}
template <class On>
[[nodiscard]] std::vector<std::uint32_t> degrees(On&& on, graph_view const& g, std::span<vertex_id const> vertices) {
  auto&& scratch = detail::scratch_for(on);
  auto const entries = detail::upload(scratch.space(), vertices);
  return degrees(scratch, g, resident_vertices(entries.data(), vertices.size())).to_host();
}

/// The neighbour number ks[i] of vertices[i], in ascending order from 0; no_vertex if it has no more than ks[i]
/// neighbours. O(1) per vertex. `ks` has an element per vertex, and is, like `found`, in memory of the space.
template <class On>
void neighbours_at(On&& on, graph_view const& g, resident_vertices vertices, std::uint32_t const* ks,
                   vertex_id* found) {
  auto&& scratch = detail::scratch_for(on);
  detail::look_up(scratch, "neighbours_at", g, vertices.data, vertices.size,
                  detail::look_up_neighbours{g, vertices.data, ks, found, nullptr});
}
template <class On>
[[nodiscard]] auto neighbours_at(On&& on, graph_view const& g, resident_vertices vertices, std::uint32_t const* ks) {
  auto&& scratch = detail::scratch_for(on);
  exec::device_array<vertex_id, detail::space_of<On>> found(scratch.space(), vertices.size);
  neighbours_at(scratch, g, vertices, ks, found.data());
  return found;
}
/// Also throws error(bad_argument) for lists of different lengths.
template <class On>
[[nodiscard]] std::vector<vertex_id> neighbours_at(On&& on, graph_view const& g, std::span<vertex_id const> vertices,
                                                   std::span<std::uint32_t const> ks) {
  if (vertices.size() != ks.size())
    throw error(error_code::bad_argument, "neighbours_at: there are " + std::to_string(vertices.size()) +
                                              " vertices, but " + std::to_string(ks.size()) +
                                              " numbers of neighbours; give one for each vertex");
  auto&& scratch = detail::scratch_for(on);
  auto const entries = detail::upload(scratch.space(), vertices);
  auto const numbers = detail::upload(scratch.space(), ks);
  return neighbours_at(scratch, g, resident_vertices(entries.data(), vertices.size()), numbers.data()).to_host();
}

}  // namespace wyrm::graph
