// SPDX-License-Identifier: Apache-2.0
// Reads graphs from JSON in node-link form (`.json`), which NetworkX (node_link_data) and D3 write. Specifications: the
// reference of NetworkX, "Reading and writing graphs: JSON", and RFC 8259.
#pragma once

#include "../graph/types.hpp"
#include "detail/source.hpp"

namespace wyrm::loaders::detail {

/// Parses a JSON object with these members; all others are ignored:
///
///   nodes           an array of objects. Either each has an `id`, all integers below 2^64 or all strings without NUL,
///                   kept in edge_list.ids or edge_list.names; or none has an `id`, and the ids are 0, 1, ... in order
///   links or edges  an array of objects with `source` and `target`, ids of nodes. Either all have a `weight`, a
///                   number, or none has
///   directed        true or false; false when absent
///
/// Vertices are numbered in the order of the nodes; edges keep the order of the links.
///
/// Throws wyrm::error: bad_input with file and line when the text is not JSON (with the reason of RapidJSON), or when a
/// rule above is violated; out_of_memory. Memory: the list and a table of ids; no tree is built. Time: linear, on one
/// core; the text is parsed twice, first for nodes, then for links. Thread-safe.
[[nodiscard]] graph::edge_list parse_node_link(source const& in);

}  // namespace wyrm::loaders::detail
