// SPDX-License-Identifier: Apache-2.0
// Stochastic Kronecker graphs (Leskovec, Chakrabarti, Kleinberg, Faloutsos, Ghahramani, JMLR 11, 2010), of which R-MAT
// graphs (Chakrabarti, Zhan, Faloutsos, SDM 2004) are the case of an initiator matrix with two rows. An edge is drawn
// by choosing a cell of the matrix at each level, and is a function of its number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../exec/config.hpp"
#include "../exec/device.hpp"
#include "../graph/types.hpp"
#include "generators.hpp"

namespace wyrm::datasets {

struct kronecker_options {
  std::vector<double> matrix = {0.57, 0.19, 0.19, 0.05};  // rows of 2 to 4 cells, not negative, sum 1 within 1e-6
  unsigned levels = 20;                                   // the graph has rows^levels vertices, at most 2^31
  double edge_factor = 16;                                // edges for each vertex
  /// At each level of a matrix (a b; c d) a number m is drawn uniformly from [-noise, noise]; the matrix of the level
  /// is (a - 2ma/(a+d), b + m; c + m, d - 2md/(a+d)), which removes the oscillations of the degree distribution
  /// (Seshadhri, Pinar, Kolda, J. ACM 60(2), 2013). At most min((a + d) / 2, b, c); 0 for larger matrices.
  double noise = 0;
  bool permutes = false;  // ids are permuted as in rmat_edges; of 2 rows only
  std::uint64_t seed = 1;
};

/// Edge i, for kernels. With the default matrix and permuted ids it is that of rmat_edges.
struct kronecker_edges {
  static constexpr unsigned most_levels = 31;
  static constexpr unsigned most_cells = 16;

  rmat_edges base;
  std::uint32_t rows;
  std::uint32_t last;  // the last cell whose probability is not 0
  bool permutes;
  std::uint32_t sums[most_levels][most_cells - 1];  // probabilities of the cells up to this one, times 2^32

  WYRM_HD graph::edge operator()(std::uint64_t i) const {
    std::uint32_t source = 0;
    std::uint32_t target = 0;
    std::uint64_t bits = 0;
    for (unsigned level = 0; level < base.scale; ++level) {
      bits = level % 2 == 0 ? base.bits(i, level) : bits >> 32;
      auto const draw = static_cast<std::uint32_t>(bits);
      unsigned cell = 0;
      for (unsigned c = 0; c + 1 < rows * rows; ++c) cell += draw >= sums[level][c];
      if (cell > last) cell = last;  // the sums are rounded
      source = source * rows + cell / rows;
      target = target * rows + cell % rows;
    }
    if (!permutes) return {source, target};
    return {base.permuted(source), base.permuted(target)};
  }
};

/// Throws error(bad_argument) for options that are out of range.
[[nodiscard]] kronecker_edges edges_of(kronecker_options const& o);

/// An undirected graph, with self-loops and duplicates. Throws error: bad_argument, out_of_memory. O(edges * levels).
[[nodiscard]] graph::edge_list kronecker(kronecker_options const& o, exec::any_space const& space = exec::host_space());

}  // namespace wyrm::datasets
