// SPDX-License-Identifier: Apache-2.0
// Random graphs with known communities: planted partitions, and the benchmark of Lancichinetti, Fortunato and Radicchi
// (LFR). Both are undirected and simple.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../exec/config.hpp"
#include "../exec/device.hpp"
#include "../graph/types.hpp"
#include "random.hpp"
#include "skips.hpp"

namespace wyrm::datasets {

struct labelled_graph {
  graph::edge_list list;
  std::vector<std::uint32_t> labels;  // the community of each vertex; empty where the family has none
};

/// The edges of a planted partition from a vertex to larger ones, for kernels (rows.hpp). Group g has the vertices from
/// ceil(g n / groups) on.
struct planted_row {
  std::uint64_t vertices;
  std::uint64_t groups;
  bernoulli_skips inside;
  bernoulli_skips outside;
  random_at random;

  [[nodiscard]] WYRM_HD std::uint64_t group(std::uint64_t v) const { return v * groups / vertices; }
  [[nodiscard]] WYRM_HD std::uint64_t first(std::uint64_t g) const { return (g * vertices + groups - 1) / groups; }
  template <class Emit>
  WYRM_HD void operator()(std::size_t u, Emit& emit) const {
    std::uint32_t draw = 0;
    auto const success = [&](std::uint64_t v) {
      emit(static_cast<graph::vertex_id>(u), static_cast<graph::vertex_id>(v));
    };
    std::uint64_t const next = first(group(u) + 1);
    inside(u + 1, next, random, u, draw, success);
    outside(next, vertices, random, u, draw, success);
  }
};

struct planted_options {
  std::size_t vertices = 10000;
  std::size_t groups = 100;
  double inside = 0.1;     // probability of an edge within a group; 0, or least_probability to 1
  double outside = 0.001;  // and between groups
  std::uint64_t seed = 1;
};
/// A planted partition (Condon, Karp, Random Structures & Algorithms 18, 2001): groups of equal size, or sizes that
/// differ by one. O(n + edges). Throws error: bad_argument, out_of_memory.
[[nodiscard]] labelled_graph planted_partition(planted_options const& o,
                                               exec::any_space const& space = exec::host_space());

struct lfr_options {
  std::size_t vertices = 10000;
  double mixing = 0.3;      // mean fraction of the neighbours of a vertex outside its community, 0 to 1
  double mean_degree = 15;  // at least 1
  std::uint32_t most_degree = 50;
  double degree_exponent = 2;     // of the power law of degrees
  std::uint32_t least_size = 20;  // of communities
  std::uint32_t most_size = 100;
  double size_exponent = 1;  // of the power law of sizes
  std::uint64_t seed = 1;
};
/// The LFR benchmark (Lancichinetti, Fortunato, Radicchi, Phys. Rev. E 78, 046110, 2008). Degrees and sizes have power
/// laws. A vertex has (1 - mixing) of its neighbours in its community, rounded to one of the two next integers at
/// random so that the mean is met. Edges inside and between communities are joined at random; the few that cannot be
/// placed are left out. Throws error: bad_argument for options that exclude each other, such as a community that is
/// smaller than the neighbours that a vertex needs in it; out_of_memory. O(n + edges) expected.
[[nodiscard]] labelled_graph lfr(lfr_options const& o);

}  // namespace wyrm::datasets
