// SPDX-License-Identifier: Apache-2.0
// Serialized graphs of the GAP benchmark suite (S. Beamer, K. Asanovic, D. Patterson, arXiv:1508.03619): `.sg`, and
// `.wsg` with weights. The layout is that of `ReadSerializedGraph` and `WriteSerializedGraph` in src/reader.h and
// src/writer.h of the suite; docs/formats.md has it as a table.
#pragma once

#include <cstdint>
#include <filesystem>

#include "../graph/types.hpp"
#include "detail/source.hpp"

namespace wyrm::loaders {

/// Writes `.sg`, or `.wsg` if `weighted`. An undirected edge is in the rows of both its ends, a self-loop once; each
/// row is in ascending order of ids, and equal edges are in the order of the list. Returns the number of bytes. Throws
/// wyrm::error: bad_argument when the format cannot represent the list: more than 2^31 - 1 vertices, times, or weights
/// that are not whole numbers of 32 bits; io. Memory: one CSR (8 bytes per vertex, 4 or 8 per arc). Time: linear, and
/// sorting each row.
std::uint64_t write_serialized(graph::edge_list const& list, std::filesystem::path const& path, bool weighted);

namespace detail {

/// Throws wyrm::error (bad_argument) when no file of the suite can represent the list: see write_serialized.
void refuse_what_gap_lacks(graph::edge_list const& list, std::filesystem::path const& path, bool weighted);

/// Parses the content of a file, with weights or without: the size of the file says which. A directed graph with edges
/// must have its rows of in-neighbours too. The list has the arcs in the order of the rows; of an undirected edge the
/// one in the row of the smaller end.
///
/// Throws wyrm::error (bad_input), with the byte: the size does not belong to the numbers of vertices and arcs in the
/// header (checked before memory is allocated), offsets decrease, an id is out of range, the two directions of an
/// undirected graph differ, or in-neighbours are not the opposite of out-neighbours (of damaged files 2^-64 pass this
/// comparison of sums of hashes). Memory: the list. Time: linear.
[[nodiscard]] graph::edge_list parse_serialized(source const& in);

}  // namespace detail
}  // namespace wyrm::loaders
