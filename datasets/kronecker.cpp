// SPDX-License-Identifier: Apache-2.0
#include "kronecker.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "placed_edges.hpp"
#include "random.hpp"

namespace wyrm::datasets {
namespace {

[[noreturn]] void refuse(std::string const& why) { throw error(error_code::bad_argument, why); }

// The number of rows of the matrix.
std::uint32_t check(kronecker_options const& o) {
  std::uint32_t rows = 2;
  while (rows < 4 && rows * rows < o.matrix.size()) ++rows;
  if (rows * rows != o.matrix.size())
    refuse("an initiator matrix has 4, 9 or 16 cells, not " + std::to_string(o.matrix.size()));
  double sum = 0;
  for (double const p : o.matrix) {
    if (!(p >= 0 && p <= 1)) refuse("a cell of an initiator matrix is a probability from 0 to 1");
    sum += p;
  }
  if (!(sum > 1 - 1e-6 && sum < 1 + 1e-6))
    refuse("the cells of an initiator matrix have the sum 1, not " + std::to_string(sum));
  std::uint64_t vertices = 1;
  for (unsigned level = 0; level < o.levels && vertices <= std::uint64_t{1} << 31; ++level) vertices *= rows;
  if (o.levels < 1 || vertices > std::uint64_t{1} << 31)
    refuse("a Kronecker graph has at least one level and at most 2^31 vertices, not " + std::to_string(rows) + "^" +
           std::to_string(o.levels));
  if (rows != 2 && (o.noise != 0 || o.permutes)) refuse("noise and permuted ids need a matrix of 2 rows");
  auto const& m = o.matrix;
  if (o.noise != 0) {
    double const most = std::min({(m[0] + m[3]) / 2, m[1], m[2]});
    if (!(o.noise > 0 && o.noise <= most))
      refuse("the noise of this matrix is from 0 to " + std::to_string(most) + ", not " + std::to_string(o.noise));
  }
  return rows;
}

}  // namespace

kronecker_edges edges_of(kronecker_options const& o) {
  kronecker_edges edges;
  std::memset(&edges, 0, sizeof(edges));
  edges.rows = check(o);
  for (std::uint32_t c = 0; c < o.matrix.size(); ++c)
    if (o.matrix[c] > 0) edges.last = c;
  edges.base = {o.levels, o.seed};
  edges.permutes = o.permutes;
  random_at const random(o.seed, 1);
  for (unsigned level = 0; level < o.levels; ++level) {
    std::vector<double> cells = o.matrix;
    if (o.noise != 0) {
      double const unit = static_cast<double>(random.bits(level) >> 11) * 0x1p-52 - 1;  // exact
      double const m = unit * o.noise;
      double const shift = 2 * m / (cells[0] + cells[3]);
      double const a = shift * cells[0];
      double const d = shift * cells[3];
      cells = {cells[0] - a, cells[1] + m, cells[2] + m, cells[3] - d};
    }
    double sum = 0;
    for (std::size_t c = 0; c + 1 < cells.size(); ++c) {
      sum += cells[c];
      edges.sums[level][c] = static_cast<std::uint32_t>(std::min(std::max(sum, 0.0) * 4294967296.0, 4294967295.0));
    }
  }
  return edges;
}

graph::edge_list kronecker(kronecker_options const& o, exec::any_space const& space) {
  kronecker_edges const edges = edges_of(o);
  if (!(o.edge_factor >= 0 && o.edge_factor <= 1e9)) refuse("the number of edges for each vertex is from 0 to 1e9");
  graph::edge_list list;
  list.vertices = 1;
  for (unsigned level = 0; level < o.levels; ++level) list.vertices *= edges.rows;
  auto const n = static_cast<std::uint64_t>(o.edge_factor * static_cast<double>(list.vertices));
  list.edges = placed_edges(space, n, edges);
  return list;
}

}  // namespace wyrm::datasets
