// SPDX-License-Identifier: Apache-2.0
// Writes graphs to files. A written file reads back as the same graph: a graph that the format cannot represent is
// refused. The exceptions are edge_list.first_id, ids and names, which only Wyrm's own files keep completely.
#pragma once

#include <cstdint>
#include <filesystem>

#include "../graph/types.hpp"

namespace wyrm::loaders {

/// The extensions that write() knows, for messages.
inline constexpr char const* written_formats =
    ".mtx, .graph, .metis, .txt, .tsv, .edges, .edgelist, .el, .wel, .sg, .wsg and .wyrm, each also with .gz, .bz2, "
    ".xz "
    "or .zst";

/// Writes a graph in the format of the file name: .mtx, .graph or .metis, .txt, .tsv, .edges or .edgelist, .el, .wel,
/// .sg, .wsg, .wyrm, in upper or lower case; compressed if .gz, .bz2, .xz or .zst follows. The file is written
/// completely or not at all (for links and pipes see output_file). Weights and times are written in the shortest form
/// that reads back as the same number. Returns the number of bytes, before compression.
///
///   .mtx    pattern or real; general, or symmetric with the larger id as the row. No times
///   .graph  no directions, self-loops, times, or weights that are not positive
///   .txt    ids if they are consecutive or in ascending order, else vertex numbers from 0; a comment for undirected
///           graphs. No vertices without edges
///   .el     directed graphs without weights and times, whose last vertex has an edge; vertex numbers from 0
///   .wel    the same with weights, whole numbers of 32 bits
///   .sg     graphs without weights and times (write_serialized); vertex numbers from 0
///   .wsg    graphs with weights, whole numbers of 32 bits
///   .wyrm   everything (write_binary)
///
/// Weights that are not finite are kept by .mtx and .wyrm.
///
/// Throws wyrm::error: bad_argument when the format is not known or cannot represent the graph; io. Time: linear;
/// .graph, .sg and .wsg sort neighbours. Memory: a buffer; .graph also 4 bytes per arc (with weights 16) and 16 per
/// vertex, .sg 4 per arc (.wsg 8) and 8 per vertex.
std::uint64_t write(graph::edge_list const& list, std::filesystem::path const& path);

/// The number that write() gives to the first vertex of a graph without ids. Throws as refuse_unwritable().
[[nodiscard]] std::uint64_t first_written_id(std::filesystem::path const& path);

/// A test before the work. Throws wyrm::error: bad_argument when write() has no format for this file name; io when its
/// folder does not exist.
void refuse_unwritable(std::filesystem::path const& path);

}  // namespace wyrm::loaders
