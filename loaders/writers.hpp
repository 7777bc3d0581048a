// SPDX-License-Identifier: Apache-2.0
// Graphs into files. What is written reads back as the same graph: nothing is dropped for want of a place in the
// format, but for what the vertices are called (edge_list.ids and names), which only Wyrm's own files keep whole.
#pragma once

#include <filesystem>

#include "../graph/types.hpp"

namespace wyrm::loaders {

/// Writes a graph in the format of the name: .mtx, .graph or .metis, .txt, .tsv, .edges or .edgelist, .wyrm. The file
/// appears whole or not at all. Weights and times are written in the shortest form that reads back as the same number.
///
///   .mtx    pattern or real; general, or symmetric with the larger id as the row. No times
///   .graph  no directions, self-loops, times, or weights that are not positive
///   .txt    the vertices' ids where they have some in ascending order, else their numbers; a comment says when edges
///   have
///           no direction. No vertices without edges
///   .wyrm   everything (write_binary)
///
/// Throws wyrm::error: bad_argument when the format is not known or cannot hold the graph; io. Time: linear, but for
/// .graph, which sorts neighbours. Memory: a buffer; .graph 4 (12 with weights) bytes an arc and 8 a vertex.
void write(graph::edge_list const& list, std::filesystem::path const& path);

}  // namespace wyrm::loaders
