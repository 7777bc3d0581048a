// SPDX-License-Identifier: Apache-2.0
// Update streams: batches of random edges, as the papers on dynamic graphs draw them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../graph/types.hpp"

namespace wyrm::datasets {

enum class update_kind : std::uint8_t {
  random,    // sources and targets uniform over all vertices
  pressure,  // sources from one range of 1,000 neighbouring vertices, drawn anew for each batch
};

/// `count` edges without self-loops, possibly repeated; the same for the same arguments on every machine.
/// Throws error(bad_argument) for less than two vertices. O(count).
[[nodiscard]] std::vector<graph::edge> update_batch(update_kind kind, std::size_t vertices, std::size_t count,
                                                    std::uint64_t seed);

}  // namespace wyrm::datasets
