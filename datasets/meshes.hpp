// SPDX-License-Identifier: Apache-2.0
// Graphs of regular and irregular meshes: grids and tori, duals of triangulations, nlpkkt, and graphs like road
// networks. Rows are functors for kernels (rows.hpp). No self-loops and no duplicates.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../exec/config.hpp"
#include "../exec/device.hpp"
#include "../graph/types.hpp"
#include "random.hpp"

namespace wyrm::datasets {

/// Vertex (z * y_size + y) * x_size + x is joined to the next one in each dimension, and around the border of a torus.
struct grid_row {
  std::uint64_t size[3];
  bool wraps;

  template <class Emit>
  WYRM_HD void operator()(std::size_t i, Emit& emit) const {
    std::uint64_t stride = 1;
    std::uint64_t rest = i;
    for (std::uint64_t const n : size) {
      std::uint64_t const at = rest % n;
      rest /= n;
      if (at + 1 < n)
        emit(static_cast<graph::vertex_id>(i), static_cast<graph::vertex_id>(i + stride));
      else if (wraps && n > 1)
        emit(static_cast<graph::vertex_id>(i), static_cast<graph::vertex_id>(i - at * stride));
      stride *= n;
    }
  }
};

struct grid_options {
  std::size_t x = 1000;
  std::size_t y = 1000;
  std::size_t z = 1;
  bool wraps = false;  // a torus; then no size is 2
};
/// A grid has (x-1)yz + x(y-1)z + xy(z-1) edges; a torus has one for each vertex and each dimension of a size above 1.
/// Throws error: bad_argument for a size of 0, or of 2 in a torus, and for too many vertices; out_of_memory. O(n).
[[nodiscard]] graph::edge_list grid(grid_options const& o, exec::any_space const& space = exec::host_space());

/// The dual of a triangulation: rows * columns squares, each cut into two triangles along a random diagonal. Triangles
/// are the vertices 2c and 2c + 1 of square c, and joined if they have a side in common. Degrees are 1 to 3.
struct dual_row {
  std::uint64_t rows;
  std::uint64_t columns;
  random_at random;

  // The diagonal of a square begins at its upper left or at its upper right corner.
  [[nodiscard]] WYRM_HD bool falls(std::uint64_t square) const { return (random.bits(square) & 1) != 0; }
  template <class Emit>
  WYRM_HD void operator()(std::size_t square, Emit& emit) const {
    auto const id = [](std::uint64_t v) { return static_cast<graph::vertex_id>(v); };
    emit(id(2 * square), id(2 * square + 1));
    // The first triangle has the left side, the second the right one; which has the upper side depends on the diagonal.
    if (square % columns + 1 < columns) emit(id(2 * square + 1), id(2 * (square + 1)));
    if (square / columns + 1 < rows) {
      std::uint64_t const below = square + columns;
      emit(id(2 * square + (falls(square) ? 0 : 1)), id(2 * below + (falls(below) ? 1 : 0)));
    }
  }
};

struct dual_options {
  std::size_t rows = 1000;
  std::size_t columns = 1000;
  std::uint64_t seed = 1;
};
/// Has 2rc vertices and 3rc - r - c edges. Throws error: bad_argument for a size of 0 and for too many vertices;
/// out_of_memory. O(n).
[[nodiscard]] graph::edge_list triangulation_dual(dual_options const& o,
                                                  exec::any_space const& space = exec::host_space());

/// The graph of the KKT system of an optimal control problem in a cube (nlpkkt of DIMACS10; Schenk, Waechter, Weiser,
/// SIAM J. Sci. Comput. 31(2), 2009): N^3 states, 6N^2 controls on the faces, N^3 multipliers. The multiplier of a cell
/// is joined to the variables, states or controls, of the cells within Chebyshev distance 1.
struct nlpkkt_row {
  std::uint64_t side;

  /// The variable of cell (x, y, z), each from 0 to side + 1: a state inside, a control on a face; no_vertex elsewhere.
  [[nodiscard]] WYRM_HD graph::vertex_id variable(std::uint64_t x, std::uint64_t y, std::uint64_t z) const {
    std::uint64_t const at[3] = {x, y, z};
    std::uint64_t inner[3] = {};
    unsigned faces = 0;
    unsigned face = 0;
    unsigned known = 0;
    for (unsigned d = 0; d < 3; ++d) {
      if (at[d] == 0 || at[d] == side + 1) {
        ++faces;
        face = 2 * d + (at[d] == 0 ? 0 : 1);
      } else {
        inner[known++] = at[d] - 1;
      }
    }
    if (faces > 1) return graph::no_vertex;
    if (faces == 0) return static_cast<graph::vertex_id>((inner[2] * side + inner[1]) * side + inner[0]);
    return static_cast<graph::vertex_id>(side * side * side + (face * side + inner[1]) * side + inner[0]);
  }
  template <class Emit>
  WYRM_HD void operator()(std::size_t i, Emit& emit) const {
    std::uint64_t const x = i % side;
    std::uint64_t const y = i / side % side;
    std::uint64_t const z = i / side / side;
    auto const multiplier = static_cast<graph::vertex_id>(side * side * side + 6 * side * side + i);
    for (std::uint64_t dz = 0; dz < 3; ++dz)
      for (std::uint64_t dy = 0; dy < 3; ++dy)
        for (std::uint64_t dx = 0; dx < 3; ++dx) {
          graph::vertex_id const v = variable(x + dx, y + dy, z + dz);
          if (v != graph::no_vertex) emit(v, multiplier);
        }
  }
};

/// Has 2N^3 + 6N^2 vertices and 27N^3 - 36N + 16 edges, for N >= 1. Throws error: bad_argument for N = 0 and for too
/// many vertices; out_of_memory. O(edges).
[[nodiscard]] graph::edge_list nlpkkt(std::size_t side, exec::any_space const& space = exec::host_space());

struct road_options {
  std::size_t rows = 150;
  std::size_t columns = 150;
  double crossings = 0.12;  // probability that a junction may have four streets
  double loops = 0.3;       // probability of a street that the spanning tree does not need
  double bends = 2.5;       // mean number of vertices of degree 2 on a street
  std::uint64_t seed = 1;
};
/// A connected planar graph with the degrees of a road network: most junctions have three streets, and some are dead
/// ends. Possible streets are the lines of a brick wall, and the remaining vertical lines of the grid with probability
/// `crossings`. Streets are a random spanning tree of these (the minimum one for random weights), and each further one
/// with probability `loops`. Each street has a geometrically distributed number of bends. Junctions have the first ids.
/// Throws error: bad_argument, out_of_memory. O(n log n).
[[nodiscard]] graph::edge_list road(road_options const& o);

}  // namespace wyrm::datasets
