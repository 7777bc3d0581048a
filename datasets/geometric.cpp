// SPDX-License-Identifier: Apache-2.0
#include "geometric.hpp"

#include <cmath>
#include <string>

#include "limits.hpp"
#include "placed_edges.hpp"
#include "powers.hpp"

namespace wyrm::datasets {
namespace {

constexpr double one = 2147483648.0;  // 2^31, the side of the square
constexpr double pi = 3.14159265358979323846;

// The largest r with (r / 2^31)^dimensions <= volume, by bisection: std::cbrt is not the same everywhere.
std::uint64_t root(double volume, unsigned dimensions) {
  std::uint64_t low = 0;
  std::uint64_t high = std::uint64_t{1} << 31;
  while (low < high) {
    std::uint64_t const middle = (low + high + 1) / 2;
    double const side = static_cast<double>(middle) / one;
    double const power = dimensions == 2 ? side * side : side * side * side;
    if (power <= volume)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

// The probability that two random points of the unit square or cube are nearer than r <= 1.
double near_share(double r, unsigned dimensions) {
  if (dimensions == 2) return r * r * (pi + r * (-8.0 / 3 + r / 2));
  return r * r * r * (4 * pi / 3 + r * (-1.5 * pi + r * (1.6 - r / 6)));
}

}  // namespace

namespace detail {

geometric_shape shape_of(geometric_options const& o) {
  auto const refuse = [](std::string const& why) { throw error(error_code::bad_argument, why); };
  require_vertices(o.vertices);
  if (o.dimensions != 2 && o.dimensions != 3)
    refuse("a random geometric graph has 2 or 3 dimensions, not " + std::to_string(o.dimensions));
  if (!(o.radius >= 0 && o.radius <= 1)) refuse("the radius is from 0 to 1, not " + std::to_string(o.radius));
  if (!(o.mean_degree >= 0)) refuse("the mean degree is not negative, and not " + std::to_string(o.mean_degree));
  if (o.radius > 0 && o.mean_degree > 0) refuse("give a radius or a mean degree, not both");
  auto const n = static_cast<double>(std::max<std::size_t>(o.vertices, 2));
  double const ball = o.dimensions == 2 ? pi : 4 * pi / 3;
  std::uint64_t radius = 0;
  if (o.radius > 0) {
    radius = static_cast<std::uint64_t>(o.radius * one);
  } else if (o.mean_degree > 0) {
    if (o.mean_degree > n) refuse("the mean degree is below the number of vertices");
    radius = root(o.mean_degree / (ball * n), o.dimensions);
  } else {
    double const unit = static_cast<double>(root(natural_log(static_cast<std::uint64_t>(n)) / n, o.dimensions));
    radius = static_cast<std::uint64_t>(0.55 * unit);
  }
  // No more cells than points, each at least as wide as the radius.
  std::uint64_t cells = radius == 0 ? ~0u : (std::uint64_t{1} << 31) / radius;
  auto const sides = [&](std::uint64_t c) { return o.dimensions == 2 ? c * c : c * c * c; };
  std::uint64_t most = 1;
  while (sides(most + 1) <= o.vertices) ++most;
  cells = std::max<std::uint64_t>(1, std::min(cells, most));
  return {o.dimensions, static_cast<std::uint32_t>(cells), radius, random_at(o.seed, 2)};
}

}  // namespace detail

graph::edge_list geometric(geometric_options const& o, exec::any_space const& space) {
  detail::geometric_shape const shape = detail::shape_of(o);
  auto const n = static_cast<double>(o.vertices);
  double const edges = n * n / 2 * near_share(static_cast<double>(shape.radius) / one, o.dimensions);
  require_memory("the graph", n * 40 + edges * sizeof(graph::edge));
  graph::edge_list list;
  list.vertices = o.vertices;
  if (o.vertices > 1) list.edges = placed_points(space, o);
  return list;
}

}  // namespace wyrm::datasets
