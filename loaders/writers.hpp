// SPDX-License-Identifier: Apache-2.0
// Writes graphs to files. A written file reads back as the same graph: a graph that the format cannot represent is
// refused. The exceptions are edge_list.first_id, ids and names, which only Wyrm's own files keep completely.
#pragma once

#include <filesystem>

#include "../graph/types.hpp"

namespace wyrm::loaders {

/// Writes a graph in the format of the file name: .mtx, .graph or .metis, .txt, .tsv, .edges or .edgelist, .wyrm. Files
/// are not compressed. The file appears complete or not at all (output_file says what links and pipes do). Weights and
/// times are written in the shortest form that reads back as the same number.
///
///   .mtx    pattern or real; general, or symmetric with the larger id as the row. No times
///   .graph  no directions, self-loops, times, or weights that are not positive
///   .txt    ids if they are consecutive or in ascending order, else vertex numbers from 0; a comment for undirected
///           graphs. No vertices without edges
///   .wyrm   everything (write_binary)
///
/// Throws wyrm::error: bad_argument when the format is not known or cannot represent the graph; io. Time: linear;
/// .graph sorts neighbours. Memory: a buffer; .graph also 16 bytes per arc and 16 per vertex.
void write(graph::edge_list const& list, std::filesystem::path const& path);

/// Throws wyrm::error (bad_argument) when write() has no format for this file name: a test before the work.
void refuse_unwritten_format(std::filesystem::path const& path);

}  // namespace wyrm::loaders
