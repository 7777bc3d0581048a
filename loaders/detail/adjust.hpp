// SPDX-License-Identifier: Apache-2.0
// What options ask of a list after it was parsed.
#pragma once

#include "../../graph/types.hpp"
#include "../options.hpp"

namespace wyrm::loaders::detail {

/// Removes self-loops and repeats, changes the direction, draws weights, as wanted. Throws wyrm::error (bad_argument)
/// when the range of weights is none. Time: linear, but for removing repeats, which sorts.
void adjust(graph::edge_list& list, options const& wanted);

}  // namespace wyrm::loaders::detail
