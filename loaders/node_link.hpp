// SPDX-License-Identifier: Apache-2.0
// Reads graphs from JSON in node-link form (`.json`), as NetworkX (node_link_data) and D3 write it. After NetworkX's
// reference, "Reading and writing graphs: JSON", and RFC 8259.
#pragma once

#include "../graph/types.hpp"
#include "detail/source.hpp"

namespace wyrm::loaders::detail {

/// Parses an object with `nodes`, an array of objects, and `links` or `edges`, an array of objects with `source` and
/// `target`; `directed` (false when absent) is the direction. Nodes have an `id` each, all integers below 2^64 or all
/// strings without NUL, which edge_list.ids or edge_list.names keep; or none has, and they are 0, 1, ... in their
/// order. All links have a `weight`, a number, or none has. Everything else is passed over.
///
/// Vertices are numbered as the nodes stand; links stay as they stand.
///
/// Throws wyrm::error: bad_input with file and line when the text is no JSON (RapidJSON's reason), or anything above
/// does not hold; out_of_memory. Memory: the list and a table of ids; the text is read twice, nodes before links, and
/// no tree is built. Time: linear, on one core. Safe to call from several threads.
[[nodiscard]] graph::edge_list parse_node_link(source const& in);

}  // namespace wyrm::loaders::detail
