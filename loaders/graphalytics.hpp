// SPDX-License-Identifier: Apache-2.0
// Reads graphs of LDBC Graphalytics: vertices in `NAME.v`, edges in `NAME.e`, and in `NAME.properties` whether edges
// are directed. Specification: "The LDBC Graphalytics Benchmark" (arXiv:2011.15028), section 2.2.3.
#pragma once

#include "../graph/types.hpp"
#include "detail/source.hpp"

namespace wyrm::loaders::detail {

/// Parses the vertices (lines with one id below 2^64 each) and the edges (lines `source target` or `source target
/// weight`). Vertices are numbered from 0 in ascending order of their ids; edge_list.ids keeps the ids. The list is
/// directed, unless the properties have a line `graph.NAME.directed = false` (or with a colon, in any case of letters).
/// Order, duplicates and self-loops are kept.
///
/// Throws wyrm::error: bad_input with file and line when a file is malformed, a vertex occurs twice, or an end of an
/// edge is not a vertex; out_of_memory. Memory while parsing: 28 bytes per edge and 24 per vertex. Time: linear, on all
/// cores. Thread-safe.
[[nodiscard]] graph::edge_list parse_graphalytics(source const& vertices, source const& edges,
                                                  std::string_view properties);

}  // namespace wyrm::loaders::detail
