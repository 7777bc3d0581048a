// SPDX-License-Identifier: Apache-2.0
// Delaunay triangulations of points in a square, as those of DIMACS10 (delaunay_n10 ... delaunay_n24), by divide and
// conquer (Guibas, Stolfi, ACM Trans. Graphics 4(2), 1985). Coordinates are integers below 2^31, so that both
// predicates are exact: an orientation needs 63 bits and a sign, an in-circle test 127.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../graph/types.hpp"

namespace wyrm::datasets {

/// Coordinates are below 2^31.
struct plane_point {
  std::uint32_t x;
  std::uint32_t y;
  friend bool operator==(plane_point const&, plane_point const&) = default;
};

/// A triangulation has 3n edges, each of two directions, which have 32-bit numbers.
inline constexpr std::size_t most_triangulated = 715'827'882;

/// The Delaunay triangulation of points, as an undirected graph: vertex i is point i. No point is inside the circle
/// through the corners of a triangle; of several triangulations with this property, which four points on a circle have,
/// one is chosen. It has 3n - 3 - h edges, where h points are on the border of the convex hull; n - 1 edges if all
/// points are on a line. Of equal points the first has edges, and the others are isolated. Edges ascend by source and
/// target, and sources are less than targets. Throws error: bad_argument for more than most_triangulated points, or a
/// coordinate that is not below 2^31; out_of_memory. O(n log n); 88 bytes of scratch for each point.
[[nodiscard]] graph::edge_list triangulation(std::vector<plane_point> const& points);

struct delaunay_options {
  std::size_t vertices = 65536;
  unsigned bits = 31;  // coordinates have so many bits, 1 to 31
  std::uint64_t seed = 1;
};

/// Different random points, in the order of a Z-order curve; of equal points one is drawn again. Throws error:
/// bad_argument for other numbers of bits, and for more points than most_triangulated, or than half of those that have
/// so many bits; out_of_memory. O(n log n).
[[nodiscard]] std::vector<plane_point> random_points(delaunay_options const& o);

/// The triangulation of random points. Connected. Throws the errors of both parts.
[[nodiscard]] graph::edge_list delaunay(delaunay_options const& o);

}  // namespace wyrm::datasets
