// SPDX-License-Identifier: Apache-2.0
// Reads undirected graphs in the format of METIS and of the 10th DIMACS challenge (`.graph`): a header, then one line
// per vertex with its neighbours. Specification: the METIS 5.1 manual, section 4.1.1 ("Graph file").
#pragma once

#include "../graph/types.hpp"
#include "detail/source.hpp"

namespace wyrm::loaders::detail {

/// Parses a METIS file: `vertices edges [fmt [ncon]]`, then for each vertex a line
/// `[size] [ncon weights] neighbour [weight] neighbour [weight] ...`, with ids from 1. Lines that begin with % are
/// comments; an empty line is a vertex without neighbours. A line has at most 2^28 bytes, or 64 for each edge if that
/// is more.
///
/// The list is undirected, and edge_list.first_id is 1. It has each edge once, with source < target, in ascending
/// order. Edge weights (positive numbers, fmt xx1) are kept; sizes and weights of vertices are checked and dropped.
/// Parallel edges are kept.
///
/// Throws wyrm::error: bad_input with file and line when the file is malformed; also for a self-loop, a number of edges
/// other than that in the header, and an edge that its two vertices do not list equally often with equal weights;
/// out_of_memory. Memory: 8 bytes per vertex and 8 (16 with weights) per edge; the counts in the header are compared
/// with the size of the file before memory is allocated. Time: linear, except for sorting unsorted rows; lines are
/// parsed on all cores, edges are matched on one. Thread-safe.
[[nodiscard]] graph::edge_list parse_metis(source const& in);

}  // namespace wyrm::loaders::detail
