// SPDX-License-Identifier: Apache-2.0
// The options that change an edge list after it is parsed.
#pragma once

#include "../../graph/types.hpp"
#include "../options.hpp"

namespace wyrm::loaders::detail {

/// Removes self-loops, changes the direction, removes duplicates, draws weights and renumbers vertices, in this order,
/// as the options say. Throws wyrm::error (bad_argument) when the range of weights or the order is invalid. Time:
/// linear, except for removing duplicates, which sorts, and for an order (graph::ordered_vertices).
void adjust(graph::edge_list& list, options const& settings);

}  // namespace wyrm::loaders::detail
