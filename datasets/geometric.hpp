// SPDX-License-Identifier: Apache-2.0
// Random geometric graphs: points in the unit square or cube, and an edge between any two that are closer than a
// radius. Coordinates and radius are integers, so that all machines agree on every edge. Points are sorted by the cells
// of a grid; a cell is at least as wide as the radius, so a point is compared with those of its own and of adjacent
// cells.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../exec/config.hpp"
#include "../exec/device.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "../graph/types.hpp"
#include "random.hpp"
#include "rows.hpp"

namespace wyrm::datasets {

struct geometric_options {
  std::size_t vertices = std::size_t{1} << 15;
  unsigned dimensions = 2;  // 2 or 3
  /// In (0, 1]. 0: the radius for mean_degree, or without that 0.55 (ln n / n)^(1/dimensions), with which a graph of
  /// two dimensions is almost certainly connected (Holtgrewe, Sanders, Schulz, IPDPS 2010; KaGen: Funke et al., JPDC
  /// 131, 2019).
  double radius = 0;
  double mean_degree = 0;  // of points far from the border; 0: not given
  std::uint64_t seed = 1;
};

namespace detail {

/// A point; coordinates are multiples of 2^-31.
struct point {
  std::uint32_t at[3];
};

/// The grid and the points.
struct geometric_shape {
  std::uint32_t dimensions;
  std::uint32_t cells;  // for each dimension
  std::uint64_t radius;
  random_at random;

  [[nodiscard]] WYRM_HD point point_of(std::uint64_t i) const {
    std::uint64_t const xy = random.bits(i, 0);
    std::uint64_t const z = dimensions == 3 ? random.bits(i, 1) : 0;
    return {{static_cast<std::uint32_t>(xy) >> 1, static_cast<std::uint32_t>(xy >> 33),
             static_cast<std::uint32_t>(z) >> 1}};
  }
  [[nodiscard]] WYRM_HD std::uint32_t cell(std::uint32_t at) const {
    return static_cast<std::uint32_t>(std::uint64_t{at} * cells >> 31);
  }
  // Cells are numbered along x, then y, then z.
  [[nodiscard]] WYRM_HD std::uint64_t cell_of(point const& p) const {
    return (std::uint64_t{cell(p.at[2])} * cells + cell(p.at[1])) * cells + cell(p.at[0]);
  }
};

struct cell_keys {
  geometric_shape shape;
  std::uint64_t* keys;
  WYRM_HD void operator()(std::size_t i) const { keys[i] = shape.cell_of(shape.point_of(i)) << 32 | i; }
};
struct sorted_points {
  geometric_shape shape;
  std::uint64_t const* keys;
  point* points;
  WYRM_HD void operator()(std::size_t i) const { points[i] = shape.point_of(keys[i] & 0xffffffff); }
};

/// The edges of a point to later points.
struct geometric_row {
  geometric_shape shape;
  std::uint64_t const* keys;  // ascending: cell, number of the point
  point const* points;        // in this order
  std::size_t n;

  /// The first point in cell `cell` or behind it.
  [[nodiscard]] WYRM_HD std::size_t first_of(std::uint64_t cell) const {
    std::size_t low = 0;
    std::size_t high = n;
    while (low < high) {
      std::size_t const middle = low + (high - low) / 2;
      if (keys[middle] >> 32 < cell)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
  [[nodiscard]] WYRM_HD bool near(point const& a, point const& b) const {
    std::uint64_t square = 0;
    for (unsigned d = 0; d < 3; ++d) {
      std::uint64_t const difference = a.at[d] < b.at[d] ? b.at[d] - a.at[d] : a.at[d] - b.at[d];
      square += difference * difference;
    }
    return square < shape.radius * shape.radius;
  }
  template <class Emit>
  WYRM_HD void compare(std::size_t i, std::size_t first, std::size_t last, Emit& emit) const {
    for (std::size_t j = first; j < last; ++j)
      if (near(points[i], points[j])) emit(static_cast<graph::vertex_id>(i), static_cast<graph::vertex_id>(j));
  }
  template <class Emit>
  WYRM_HD void operator()(std::size_t i, Emit& emit) const {
    auto const side = static_cast<std::int64_t>(shape.cells);
    auto const x = static_cast<std::int64_t>(shape.cell(points[i].at[0]));
    auto const y = static_cast<std::int64_t>(shape.cell(points[i].at[1]));
    auto const z = static_cast<std::int64_t>(shape.cell(points[i].at[2]));
    std::int64_t const left = x > 0 ? x - 1 : 0;
    std::int64_t const right = x + 1 < side ? x + 1 : x;
    // Of a row of cells, three are adjacent in memory. Rows before the point's own one belong to earlier points.
    for (std::int64_t dz = 0; dz <= (shape.dimensions == 3 ? 1 : 0); ++dz)
      for (std::int64_t dy = dz == 0 ? 0 : -1; dy <= 1; ++dy) {
        if (y + dy < 0 || y + dy >= side || z + dz >= side) continue;
        auto const row = static_cast<std::uint64_t>(((z + dz) * side + y + dy) * side);
        bool const own = dz == 0 && dy == 0;
        compare(i, own ? i + 1 : first_of(row + static_cast<std::uint64_t>(left)),
                first_of(row + static_cast<std::uint64_t>(right) + 1), emit);
      }
  }
};

/// Throws error(bad_argument) for options that are out of range.
[[nodiscard]] geometric_shape shape_of(geometric_options const& o);

}  // namespace detail

/// Writes the edges to an array from place(n), in memory of the space; see edges_by_row. No self-loops and no
/// duplicates: sources are less than targets. Points are numbered by cells, in rows. Throws error: bad_argument,
/// out_of_memory. O(n log n + edges) expected; 40 bytes of scratch for each vertex.
template <class Space, class Place>
void geometric(Space const& space, geometric_options const& o, Place const& place) {
  detail::geometric_shape const shape = detail::shape_of(o);
  typename Space::guard const current(space);
  std::size_t const n = o.vertices;
  exec::buffer<std::uint64_t, Space> const keys(space, n);
  exec::buffer<detail::point, Space> const points(space, n);
  exec::buffer<std::uint64_t, Space> const spare(space, n);
  exec::for_each(space, n, detail::cell_keys{shape, keys.data()});
  typename Space::bulk bulk(space);
  std::uint64_t const* const sorted = bulk.sort(keys.data(), spare.data(), n, 64);
  exec::for_each(space, n, detail::sorted_points{shape, sorted, points.data()});
  edges_by_row(space, n, detail::geometric_row{shape, sorted, points.data(), n}, place);
}

/// The undirected graph.
[[nodiscard]] graph::edge_list geometric(geometric_options const& o, exec::any_space const& space = exec::host_space());

}  // namespace wyrm::datasets
