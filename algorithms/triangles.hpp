// SPDX-License-Identifier: Apache-2.0
// Triangle counting by intersection of sorted neighbour lists: each triangle u < v < w is found once, at its arc (u,
// v), as a common neighbour beyond v. A tile takes a vertex u; for each v its lanes look the members of the shorter
// list up in the longer one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../exec/atomic.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "../exec/tile.hpp"
#include "../graph/any_graph.hpp"
#include "../graph/view.hpp"

namespace wyrm::algorithms {

struct triangles_options {
  bool per_vertex = false;  // also count the triangles that each vertex is a corner of
};

struct triangles_result {
  std::uint64_t total = 0;
  std::vector<std::uint64_t> per_vertex;  // empty unless asked for
};

namespace detail {

struct count_triangles {
  graph::graph_view g;
  std::uint64_t* total;
  std::uint64_t* per_vertex;  // or nullptr

  // The members of a list that are greater than v.
  WYRM_HD static graph::neighbour_list beyond(graph::neighbour_list list, graph::vertex_id v) {
    std::uint32_t const first = graph::lower_bound(list.data, list.size, v + 1);
    return {list.data + first, list.size - first};
  }

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t index) const {
    auto const u = static_cast<graph::vertex_id>(index);
    graph::neighbour_list const targets = beyond(g.neighbours(u), u);
    std::uint64_t found = 0;
    for (std::uint32_t k = 0; k + 1 < targets.size; ++k) {
      graph::vertex_id const v = targets[k];
      graph::neighbour_list few{targets.data + k + 1, targets.size - k - 1};
      graph::neighbour_list many = beyond(g.neighbours(v), v);
      if (few.size > many.size) {
        graph::neighbour_list const swapped = few;
        few = many;
        many = swapped;
      }
      std::uint64_t here = 0;
      for (std::uint32_t i = t.rank(); i < few.size; i += Tile::size()) {
        graph::vertex_id const w = few[i];
        std::uint32_t const at = graph::lower_bound(many.data, many.size, w);
        if (at == many.size || many[at] != w) continue;
        ++here;
        if (per_vertex != nullptr) add(per_vertex[w], 1);
      }
      if (per_vertex != nullptr && here > 0) {
        add(per_vertex[u], here);
        add(per_vertex[v], here);
      }
      found += here;
    }
    found = exec::sum(t, found);
    if (t.rank() == 0 && found > 0) add(*total, found);
  }

  WYRM_HD static void add(std::uint64_t& counter, std::uint64_t n) {
    exec::atomic_ref<std::uint64_t>(counter).fetch_add(n, exec::relaxed);
  }
};

}  // namespace detail

/// O(sum over arcs (u, v) of min(d(u), d(v)) log max(d(u), d(v))). Self-loops make no triangle. Throws
/// error(bad_argument) for a directed graph.
template <class Space>
triangles_result triangles(Space const& space, graph::graph_view const& g, triangles_options const& o = {}) {
  if (g.directed())
    throw error(error_code::bad_argument, "triangles: the graph is directed; count those of its undirected form");
  std::size_t const n = g.vertices();
  exec::buffer<std::uint64_t, Space> total(space, 1);
  exec::buffer<std::uint64_t, Space> per_vertex(space, o.per_vertex ? n : 0);
  space.fill(total.data(), 0, total.bytes());
  space.fill(per_vertex.data(), 0, per_vertex.bytes());
  exec::for_each_tile<32>(space, n,
                          detail::count_triangles{g, total.data(), o.per_vertex ? per_vertex.data() : nullptr});
  triangles_result result;
  result.total = exec::read(space, total.data());
  if (o.per_vertex) result.per_vertex = exec::copy_out(space, per_vertex.data(), n);
  return result;
}

triangles_result triangles(graph::any_graph const& g, triangles_options const& o = {});

}  // namespace wyrm::algorithms
