// SPDX-License-Identifier: Apache-2.0
// Reads graphs of the 9th DIMACS challenge, on shortest paths (`.gr`). Specification: the page "File formats" of the
// challenge (www.diag.uniroma1.it/challenge9/format.shtml).
#pragma once

#include "../graph/types.hpp"
#include "detail/source.hpp"

namespace wyrm::loaders::detail {

/// Parses a file in which the first letter is the type of a line: `c` and any text is a comment; `p sp vertices arcs`
/// is the problem line, once and before all arcs; `a source target weight` is an arc, with ids from 1 and an integer
/// weight that is exact in a double (magnitude at most 2^53).
///
/// The list is directed, and edge_list.first_id is 1. Order, duplicates and self-loops are kept.
///
/// Throws wyrm::error: bad_input with file and line when the file is malformed, also when the number of arcs differs
/// from that in the problem line; out_of_memory. Memory: the list; the counts are compared with the size of the file
/// before memory is allocated. Time: linear, on all cores. Thread-safe.
[[nodiscard]] graph::edge_list parse_dimacs(source const& in);

}  // namespace wyrm::loaders::detail
