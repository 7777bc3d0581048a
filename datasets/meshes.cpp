// SPDX-License-Identifier: Apache-2.0
#include "meshes.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "limits.hpp"
#include "placed_edges.hpp"
#include "skips.hpp"

namespace wyrm::datasets {
namespace {

[[noreturn]] void refuse(std::string const& why) { throw error(error_code::bad_argument, why); }

// The product of sizes; more than 2^32 counts as 2^32.
std::uint64_t product(std::initializer_list<std::uint64_t> sizes) {
  std::uint64_t all = 1;
  for (std::uint64_t const n : sizes) {
    if (n == 0) refuse("each size is at least 1");
    all = n >= std::uint64_t{1} << 32 ? n : all * n;
    all = std::min(all, std::uint64_t{1} << 32);
  }
  return all;
}

template <class Row>
graph::edge_list by_row(exec::any_space const& space, std::uint64_t vertices, std::uint64_t edges, std::uint64_t rows,
                        Row const& row) {
  require_vertices(vertices);
  graph::edge_list list;
  list.vertices = vertices;
  require_memory("the graph", static_cast<double>(edges) * sizeof(graph::edge) + static_cast<double>(rows) * 12);
  list.edges = placed_rows(space, rows, row);
  return list;
}

// The root of the tree of v; halves the path to it.
graph::vertex_id root_of(std::vector<graph::vertex_id>& parent, graph::vertex_id v) {
  while (parent[v] != v) v = parent[v] = parent[parent[v]];
  return v;
}

}  // namespace

graph::edge_list grid(grid_options const& o, exec::any_space const& space) {
  std::uint64_t const n = product({o.x, o.y, o.z});
  if (o.wraps && (o.x == 2 || o.y == 2 || o.z == 2))
    refuse("a torus has no size of 2, because its edges would be double");
  std::uint64_t const dimensions = std::uint64_t{o.x > 1} + std::uint64_t{o.y > 1} + std::uint64_t{o.z > 1};
  return by_row(space, n, dimensions * n, n, grid_row{{o.x, o.y, o.z}, o.wraps});
}

graph::edge_list triangulation_dual(dual_options const& o, exec::any_space const& space) {
  std::uint64_t const squares = product({o.rows, o.columns});
  return by_row(space, 2 * squares, 3 * squares, squares, dual_row{o.rows, o.columns, random_at(o.seed, 3)});
}

graph::edge_list nlpkkt(std::size_t side, exec::any_space const& space) {
  std::uint64_t const cells = product({side, side, side});
  std::uint64_t const faces = product({side, side});
  return by_row(space, 2 * cells + 6 * faces, 27 * cells, cells, nlpkkt_row{side});
}

graph::edge_list road(road_options const& o) {
  if (!(o.loops >= 0 && o.loops <= 1))
    refuse("the probability of a loop is from 0 to 1, not " + std::to_string(o.loops));
  if (!(o.crossings >= 0 && o.crossings <= 1))
    refuse("the probability of a crossing is from 0 to 1, not " + std::to_string(o.crossings));
  if (!(o.bends >= 0 && o.bends <= 1e6)) refuse("the mean number of bends is from 0 to 1e6");
  std::uint64_t const junctions = product({o.rows, o.columns});
  require_vertices(junctions);
  require_memory("the streets", static_cast<double>(junctions) * (o.bends * 16 + 80));
  graph::edge_list streets = grid({.x = o.columns, .y = o.rows}, exec::host_space(1));
  random_at const random(o.seed, 4);
  bernoulli_skips const crosses(o.crossings);
  std::erase_if(streets.edges, [&](graph::edge const& e) {
    bool const is_vertical = e.target != e.source + 1 || o.columns == 1;
    bool const is_brick = (e.source / o.columns + e.source % o.columns) % 2 == 0 || o.columns == 1;
    return is_vertical && !is_brick && crosses(random.bits(e.source, 3)) != 0;
  });
  bernoulli_skips const loops(o.loops);
  // Kruskal's algorithm with random weights; ties are broken by the number of the edge.
  std::vector<std::pair<std::uint64_t, std::size_t>> order(streets.edges.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = {random.bits(i, 0), i};
  std::sort(order.begin(), order.end());
  std::vector<graph::vertex_id> parent(junctions);
  for (std::size_t v = 0; v < junctions; ++v) parent[v] = static_cast<graph::vertex_id>(v);
  std::vector<bool> keeps(streets.edges.size());
  for (auto const& [weight, i] : order) {
    auto const [u, v] = streets.edges[i];
    graph::vertex_id const a = root_of(parent, u);
    graph::vertex_id const b = root_of(parent, v);
    keeps[i] = a != b || loops(random.bits(i, 1)) == 0;
    parent[a] = b;
  }
  bernoulli_skips const ends(1 / (1 + o.bends));  // of a street, behind a bend
  graph::edge_list list;
  list.vertices = junctions;
  for (std::size_t i = 0; i < keeps.size(); ++i) {
    if (!keeps[i]) continue;
    auto [u, v] = streets.edges[i];
    std::uint64_t const bends = o.bends > 0 ? ends(random.bits(i, 2)) : 0;
    require_vertices(list.vertices + bends);
    for (std::uint64_t bend = 0; bend < bends; ++bend) {
      auto const w = static_cast<graph::vertex_id>(list.vertices++);
      list.edges.push_back({u, w});
      u = w;
    }
    list.edges.push_back({u, v});
  }
  return list;
}

}  // namespace wyrm::datasets
