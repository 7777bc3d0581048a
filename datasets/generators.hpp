// SPDX-License-Identifier: Apache-2.0
// Random graphs for measurements: R-MAT and random geometric graphs (families.hpp has more). Results are a function of
// the arguments, and equal on all machines.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../exec/config.hpp"
#include "../graph/types.hpp"

namespace wyrm::datasets {

/// Edge i of an R-MAT graph of 2^scale vertices (Chakrabarti, Zhan, Faloutsos, SDM 2004) with the parameters of
/// Graph500: a = 0.57, b = c = 0.19, d = 0.05. Ids are permuted, so that vertices of large degree have arbitrary ids.
/// An edge is a function of the arguments, so kernels can compute edges, too. Self-loops and duplicates occur.
struct rmat_edges {
  unsigned scale;  // 1 ... 31
  std::uint64_t seed;

  WYRM_HD graph::edge operator()(std::uint64_t i) const {
    std::uint32_t source = 0;
    std::uint32_t target = 0;
    std::uint64_t bits = 0;
    for (unsigned level = 0; level < scale; ++level) {
      bits = level % 2 == 0 ? this->bits(i, level) : bits >> 32;
      auto const draw = static_cast<std::uint32_t>(bits);
      bool const lower = draw >= threshold(0.57 + 0.19);                                    // c or d
      bool const right = lower ? draw >= threshold(0.57 + 0.38) : draw >= threshold(0.57);  // b or d
      source = source * 2 + lower;
      target = target * 2 + right;
    }
    return {permuted(source), permuted(target)};
  }

  /// 64 random bits of an edge, which are enough for two levels. The seed is hashed, because edge i + 1 of one seed
  /// would otherwise be edge i of the next.
  [[nodiscard]] WYRM_HD std::uint64_t bits(std::uint64_t i, unsigned level) const {
    return splitmix64(splitmix64(splitmix64(seed) + i) + level);
  }
  /// A permutation of the ids: multiplications by odd numbers and shifted xors are invertible.
  [[nodiscard]] WYRM_HD std::uint32_t permuted(std::uint32_t v) const {
    std::uint32_t const mask = static_cast<std::uint32_t>((std::uint64_t{1} << scale) - 1);
    v = (v * 0x9e3779b1u + static_cast<std::uint32_t>(seed)) & mask;
    v ^= v >> ((scale + 1) / 2);
    return (v * 0x85ebca6bu) & mask;
  }

 private:
  WYRM_HD static constexpr std::uint32_t threshold(double p) { return static_cast<std::uint32_t>(p * 4294967296.0); }
  // The output function of splitmix64, see random.hpp.
  WYRM_HD static std::uint64_t splitmix64(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }
};

/// An undirected R-MAT graph with 2^scale vertices and edge_factor * 2^scale edges of rmat_edges, with self-loops and
/// duplicates. Throws error: bad_argument for a scale that is not in 1 ... 31; out_of_memory. O(edges * scale).
[[nodiscard]] graph::edge_list rmat(unsigned scale, std::size_t edge_factor, std::uint64_t seed);

/// An undirected random geometric graph: n points in the unit square, with an edge between any two points that are
/// closer than 0.55 sqrt(ln n / n), as in the rgg graphs of DIMACS10 (Holtgrewe, Sanders, Schulz, IPDPS 2010). It is
/// almost certainly connected, with a mean degree of 0.95 ln n. geometric.hpp has it for other radii. O(n log n).
[[nodiscard]] graph::edge_list random_geometric(std::size_t vertices, std::uint64_t seed);

}  // namespace wyrm::datasets
