// SPDX-License-Identifier: Apache-2.0
#include "generators.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "random.hpp"

namespace wyrm::datasets {

graph::edge_list rmat(unsigned scale, std::size_t edge_factor, std::uint64_t seed) {
  if (scale < 1 || scale > 31)
    throw error(error_code::bad_argument, "an R-MAT graph has 2^1 to 2^31 vertices, not 2^" + std::to_string(scale));
  graph::edge_list list;
  list.vertices = std::size_t{1} << scale;
  list.edges.resize(list.vertices * edge_factor);
  rmat_edges const edge{scale, seed};
  for (std::size_t i = 0; i < list.edges.size(); ++i) list.edges[i] = edge(i);
  return list;
}

graph::edge_list random_geometric(std::size_t vertices, std::uint64_t seed) {
  struct point {
    double x;
    double y;
  };
  graph::edge_list list;
  list.vertices = vertices;
  if (vertices < 2) return list;
  auto const n = static_cast<double>(vertices);
  double const radius = 0.55 * std::sqrt(std::log(n) / n);
  auto const cells = std::max<std::size_t>(
      1, static_cast<std::size_t>(1 / radius));  // per side; a cell is at least as wide as the radius
  auto const cell = [&](double at) {
    return std::min(cells - 1, static_cast<std::size_t>(at * static_cast<double>(cells)));
  };
  random_numbers random(seed);
  auto const unit = [&] { return static_cast<double>(random.next() >> 11) * 0x1p-53; };
  std::vector<point> points(vertices);
  for (point& p : points) {
    p.x = unit();
    p.y = unit();
  }
  std::sort(points.begin(), points.end(), [&](point const& a, point const& b) {
    if (cell(a.y) != cell(b.y)) return cell(a.y) < cell(b.y);
    return a.x != b.x ? a.x < b.x : a.y < b.y;
  });
  // Tests each point against the later points in its own row of cells, and against the near points in the next row.
  std::vector<std::size_t> row_begin(cells + 2, vertices);
  for (std::size_t i = vertices; i-- > 0;) row_begin[cell(points[i].y)] = i;
  for (std::size_t r = cells; r-- > 0;) row_begin[r] = std::min(row_begin[r], row_begin[r + 1]);
  auto const connect = [&](std::size_t i, std::size_t j) {
    double const dx = points[i].x - points[j].x;
    double const dy = points[i].y - points[j].y;
    if (dx * dx + dy * dy < radius * radius)
      list.edges.push_back({static_cast<graph::vertex_id>(i), static_cast<graph::vertex_id>(j)});
  };
  for (std::size_t r = 0; r < cells; ++r) {
    std::size_t near = row_begin[r + 1];
    for (std::size_t i = row_begin[r]; i < row_begin[r + 1]; ++i) {
      for (std::size_t j = i + 1; j < row_begin[r + 1] && points[j].x - points[i].x < radius; ++j) connect(i, j);
      while (near < row_begin[r + 2] && points[near].x <= points[i].x - radius) ++near;
      for (std::size_t j = near; j < row_begin[r + 2] && points[j].x - points[i].x < radius; ++j) connect(i, j);
    }
  }
  return list;
}

}  // namespace wyrm::datasets
