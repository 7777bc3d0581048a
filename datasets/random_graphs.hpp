// SPDX-License-Identifier: Apache-2.0
// Random graphs of few parameters: Erdos-Renyi, preferential attachment, and given degrees. All are undirected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../exec/config.hpp"
#include "../exec/device.hpp"
#include "../graph/types.hpp"
#include "random.hpp"
#include "skips.hpp"

namespace wyrm::datasets {

/// G(n, p): the edges from a vertex to larger ones, for kernels (rows.hpp).
struct gnp_row {
  std::uint64_t vertices;
  bernoulli_skips skips;
  random_at random;

  template <class Emit>
  WYRM_HD void operator()(std::size_t u, Emit& emit) const {
    std::uint32_t draw = 0;
    auto const success = [&](std::uint64_t v) {
      emit(static_cast<graph::vertex_id>(u), static_cast<graph::vertex_id>(v));
    };
    skips(u + 1, vertices, random, u, draw, success);
  }
};
[[nodiscard]] inline gnp_row gnp_rows(std::size_t vertices, double probability, std::uint64_t seed) {
  return {vertices, bernoulli_skips(probability), random_at(seed, 5)};
}

/// G(n, p) of Gilbert (Ann. Math. Statist. 30, 1959): each pair is an edge with the probability, which is 0 or from
/// least_probability to 1. O(n + edges). Throws error: bad_argument, out_of_memory.
[[nodiscard]] graph::edge_list gnp(std::size_t vertices, double probability, std::uint64_t seed,
                                   exec::any_space const& space = exec::host_space());

/// G(n, m) of Erdos and Renyi (Publ. Math. Debrecen 6, 1959): m different pairs, each set of pairs with the same
/// probability; in ascending order. O(m log m) expected. Throws error: bad_argument for more edges than pairs;
/// out_of_memory.
[[nodiscard]] graph::edge_list gnm(std::size_t vertices, std::uint64_t edges, std::uint64_t seed);

/// Preferential attachment (Barabasi, Albert, Science 286, 1999), as Batagelj and Brandes compute it: `degree` + 1
/// vertices are joined to each other; each further vertex is joined to `degree` different earlier ones, with
/// probabilities proportional to their degrees. Has n degree - degree (degree + 1) / 2 edges. O(edges degree) expected.
/// Throws error: bad_argument unless 1 <= degree < n; out_of_memory.
[[nodiscard]] graph::edge_list preferential_attachment(std::size_t vertices, std::size_t degree, std::uint64_t seed);

/// The degrees of `vertices` vertices, drawn from a power law; if their sum is odd, one of them is larger by one.
/// Throws error(bad_argument) for a range without numbers.
[[nodiscard]] std::vector<std::uint32_t> power_law_degrees(std::size_t vertices, std::uint32_t least,
                                                           std::uint32_t most, double exponent, std::uint64_t seed);

/// Reads one degree a line; lines that begin with # are ignored. Throws error: io, bad_input.
[[nodiscard]] std::vector<std::uint32_t> read_degrees(std::string const& path);

/// A graph with these degrees, of which a self-loop takes two: simple (simple_graph says how), or with the self-loops
/// and duplicates that random joins of stubs give. Throws error: bad_argument, out_of_memory. O(edges) expected; in
/// dense simple graphs up to 1000 times as much.
[[nodiscard]] graph::edge_list configuration_model(std::vector<std::uint32_t> const& degrees, bool simple,
                                                   std::uint64_t seed);

}  // namespace wyrm::datasets
