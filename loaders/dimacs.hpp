// SPDX-License-Identifier: Apache-2.0
// Reads graphs of the 9th DIMACS challenge, on shortest paths (`.gr`). After the challenge's page "File formats"
// (www.diag.uniroma1.it/challenge9/format.shtml).
#pragma once

#include "../graph/types.hpp"
#include "detail/source.hpp"

namespace wyrm::loaders::detail {

/// Parses lines of one letter each: `c` and any text, a comment; `p sp vertices arcs`, once and before all arcs;
/// `a source target weight`, an arc, with ids from 1 and an integer weight that is exact in a double (at most 2^53).
///
/// The list is directed, with ids from 0; order, repeats and self-loops stay as the file has them.
///
/// Throws wyrm::error: bad_input with file and line when the file is malformed, which includes a number of arcs other
/// than the problem line's; out_of_memory. Memory: the list; the counts are held against the file's size before
/// anything is allocated. Time: linear, on all cores. Safe to call from several threads.
[[nodiscard]] graph::edge_list parse_dimacs(source const& in);

}  // namespace wyrm::loaders::detail
