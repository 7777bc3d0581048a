// SPDX-License-Identifier: Apache-2.0
// Reads lists of edges as SNAP and KONECT give them, and plain ones (`.txt`, `.tsv`, `.edges`, `.edgelist`, `out.*`),
// and those of the GAP benchmark suite (`.el`, `.wel`). After the pages of SNAP (snap.stanford.edu/data), the KONECT
// handbook (J. Kunegis, "Handbook of Network Analysis", section "File formats") and GAP's README ("Graph loading").
#pragma once

#include "../graph/types.hpp"
#include "detail/source.hpp"

namespace wyrm::loaders::detail {

/// Parses lines `source target [weight [time]]`; with three columns options.third says what the third is. Lines that
/// begin with # or % are comments. Ids are any numbers below 2^64; options.vertex_base says how they become vertices.
///
/// The list is directed, unless a comment above the edges says otherwise: `% sym ...` (KONECT), `# Undirected graph`
/// (SNAP). Bipartite networks of KONECT (`% bip`) number their two sides alike and are refused. Order, repeats and
/// self-loops stay as the file has them.
///
/// Throws wyrm::error: bad_input with file and line when a line has other columns than the first one or other things
/// than numbers, there is no edge, or the ids are too many; out_of_memory. Memory: 28 bytes an edge and 8 each for
/// weight and time while parsing. Time: linear, on all cores, but for ids that are much larger than the edges are many,
/// which are sorted. Safe to call from several threads.
[[nodiscard]] graph::edge_list parse_edge_list(source const& in);

/// Parses lines `source target` or `source target weight`, without comments, with ids from 0 (or options.vertex_base).
/// The list is directed; otherwise as above.
[[nodiscard]] graph::edge_list parse_gap(source const& in);

}  // namespace wyrm::loaders::detail
