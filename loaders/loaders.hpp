// SPDX-License-Identifier: Apache-2.0
// Graphs from files, whatever their format: the one door that programs use. docs/formats.md has the formats, the
// headers of this folder what each parser accepts.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "../graph/types.hpp"
#include "options.hpp"
#include "progress.hpp"

namespace wyrm::loaders {

/// Loads a graph. The format is that of the name, in upper or lower case, without a .gz, .bz2, .xz or .zst behind it,
/// or that of the name inside an archive: METIS/DIMACS10 (.graph, .metis), Matrix Market (.mtx), DIMACS 9 (.gr), edge
/// lists (.txt, .tsv, .edges, .edgelist, out.*), GAP (.el, .wel), Graphalytics (.v or .e, whose files lie side by side,
/// not compressed), JSON node-link (.json), Wyrm's own (.wyrm). Names that say nothing, and those of edge lists, give
/// way to what the content begins with; options.format to nothing. Compression is known by content.
///
/// Throws wyrm::error: bad_argument when the format is not known or options contradict; bad_input, io and out_of_memory
/// as the formats have them. Ids count from 0, at most graph::max_vertices of them. Nothing is loaded by halves. Safe
/// to call from several threads.
[[nodiscard]] graph::edge_list load(std::filesystem::path const& path, options const& wanted = {},
                                    progress const& report = {});

/// The same for the content of a file, not compressed, in a known format other than Graphalytics; `name` is for
/// messages.
[[nodiscard]] graph::edge_list parse(std::string const& name, std::string_view text, file_format format,
                                     options const& wanted = {}, progress const& report = {});

}  // namespace wyrm::loaders
