// SPDX-License-Identifier: Apache-2.0
// Reads undirected graphs in the format of METIS and of the 10th DIMACS challenge (`.graph`): a header, then one line
// a vertex with its neighbours. After the METIS 5.1 manual, section 4.1.1 ("Graph file").
#pragma once

#include "../graph/types.hpp"
#include "detail/source.hpp"

namespace wyrm::loaders::detail {

/// Parses a METIS file: `vertices edges [fmt [ncon]]`, then for each vertex a line
/// `[size] [ncon weights] neighbour [weight] neighbour [weight] ...`, with ids from 1. Lines that begin with % are
/// comments; an empty line is a vertex without neighbours.
///
/// The list is undirected, with ids from 0 and each edge once, source < target, ascending. Edge weights (positive
/// numbers, fmt xx1) are kept; sizes and weights of vertices are checked and dropped. Repeated edges are kept as often
/// as the file has them.
///
/// Throws wyrm::error: bad_input with file and line when the file is malformed, which includes a self-loop, a number
/// of edges other than the header's, and an edge that its two vertices do not list equally often and with equal
/// weights; out_of_memory. Memory: 8 bytes a vertex and 8 (16 with weights) an edge; counts in a header are held
/// against the file's size before anything is allocated. Time: linear, but for sorting rows that are unsorted; lines
/// are read on all cores, edges matched on one. Safe to call from several threads.
[[nodiscard]] graph::edge_list parse_metis(source const& in);

}  // namespace wyrm::loaders::detail
