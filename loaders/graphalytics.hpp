// SPDX-License-Identifier: Apache-2.0
// Reads graphs of LDBC Graphalytics: vertices in `NAME.v`, edges in `NAME.e`, and whether these have directions in
// `NAME.properties`. After "The LDBC Graphalytics Benchmark" (arXiv:2011.15028), section 2.2.3.
#pragma once

#include "../graph/types.hpp"
#include "detail/source.hpp"

namespace wyrm::loaders::detail {

/// Parses the vertices, an id below 2^64 a line, and the edges, lines `source target` or `source target weight`.
/// Vertices are numbered from 0 in ascending order of their ids, which edge_list.ids keeps. The list is directed,
/// unless the properties have a line `graph.NAME.directed = false`; order, repeats and self-loops stay as the file has
/// them.
///
/// Throws wyrm::error: bad_input with file and line when a file is malformed, a vertex stands twice, or an edge has an
/// end that is no vertex; out_of_memory. Memory: 28 bytes an edge while parsing, 24 a vertex. Time: linear, on all
/// cores. Safe to call from several threads.
[[nodiscard]] graph::edge_list parse_graphalytics(source const& vertices, source const& edges,
                                                  std::string_view properties);

}  // namespace wyrm::loaders::detail
