// SPDX-License-Identifier: Apache-2.0
// Reads edge lists of SNAP and KONECT, plain edge lists (`.txt`, `.tsv`, `.edges`, `.edgelist`, `out.*`), and those of
// the GAP benchmark suite (`.el`, `.wel`). Specifications: the pages of SNAP (snap.stanford.edu/data), the KONECT
// handbook (J. Kunegis, "Handbook of Network Analysis", section "File formats"), and the README of GAP ("Graph
// loading").
#pragma once

#include "../graph/types.hpp"
#include "detail/source.hpp"

namespace wyrm::loaders::detail {

/// Parses lines `source target [weight [time]]`; options.third determines the meaning of the third of three columns.
/// Lines that begin with # or % are comments. Ids are numbers below 2^64; options.vertex_base determines how they are
/// mapped to vertices.
///
/// The list is directed, unless a comment above the edges begins with `% sym ` (KONECT) or `# Undirected graph` (SNAP).
/// Bipartite networks of KONECT (`% bip`) are refused, because both sides use the same ids. Order, duplicates and
/// self-loops are kept.
///
/// Throws wyrm::error: bad_input with file and line when a line has other columns than the first one, or text that is
/// not a number, or when there is no edge, or too many ids; out_of_memory. Memory while parsing: 28 bytes per edge, and
/// 8 each for weight and time. Time: linear, on all cores; ids that are much larger than the number of edges are
/// sorted. Thread-safe.
[[nodiscard]] graph::edge_list parse_edge_list(source const& in);

/// Parses lines `source target` or `source target weight`, without comments, with ids from 0 (or options.vertex_base).
/// The list is directed. Errors, memory and time are those of parse_edge_list.
[[nodiscard]] graph::edge_list parse_gap(source const& in);

}  // namespace wyrm::loaders::detail
