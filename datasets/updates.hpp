// SPDX-License-Identifier: Apache-2.0
// Update streams: batches of random edges, with the distributions that papers on dynamic graphs use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../graph/types.hpp"

namespace wyrm::datasets {

enum class update_kind : std::uint8_t {
  random,    // sources and targets uniform over all vertices
  pressure,  // sources uniform over 1,000 vertices with consecutive ids; each batch draws its own range
};

/// `count` edges without self-loops, possibly with duplicates. A function of the arguments, equal on all machines.
/// Throws error(bad_argument) for less than two vertices. O(count).
[[nodiscard]] std::vector<graph::edge> update_batch(update_kind kind, std::size_t vertices, std::size_t count,
                                                    std::uint64_t seed);

}  // namespace wyrm::datasets
