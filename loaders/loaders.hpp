// SPDX-License-Identifier: Apache-2.0
// Loads graph files of all formats: the interface for programs. docs/formats.md describes the formats; the header of
// each parser in this folder describes what the parser accepts.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>

#include "../graph/types.hpp"
#include "options.hpp"
#include "progress.hpp"

namespace wyrm::loaders {

/// Loads a graph. The file name determines the format, in upper or lower case: METIS/DIMACS10 (.graph, .metis), Matrix
/// Market (.mtx), DIMACS 9 (.gr), edge lists (.txt, .tsv, .csv, .edges, .edgelist, out.*), GAP (.el, .wel, .sg, .wsg),
/// Graphalytics (.v or .e; both files must be in one folder, not compressed), JSON node-link (.json), Wyrm's own
/// (.wyrm). An extension .gz, .bz2, .xz or .zst is ignored; for an archive, the name of the file inside it is used. For
/// unknown names and those of edge lists, the beginning of the content can determine another format. options.format
/// overrides both. Compression is detected from the content.
///
/// Weights and times are finite doubles: 0, or of size 4.9e-324 to 1.8e308; a file with other numbers is refused. Only
/// weights of Matrix Market and of Wyrm's own files may be infinite or NaN; code that uses weights must check them. A
/// file with more vertices than options.max_vertices, or with a line of more than 2^24 bytes (METIS: see its parser),
/// is also refused.
///
/// Throws wyrm::error: bad_argument if the format is not known, does not support an option that is set (third, columns,
/// vertex_base), or if options contradict each other; bad_input, io and out_of_memory as the parsers document. A cache
/// that cannot be written is a warning. The vertices are numbered from 0; there are at most graph::max_vertices.
/// Returns the complete graph or throws. Thread-safe.
[[nodiscard]] graph::edge_list load(std::filesystem::path const& path, options const& settings = {},
                                    progress const& report = {}, warning const& warn = {});

/// Parses `text`, the content of an uncompressed file of the given format, which is not Graphalytics. `name` is for
/// messages. Otherwise like load.
[[nodiscard]] graph::edge_list parse(std::string const& name, std::string_view text, file_format format,
                                     options const& settings = {}, progress const& report = {});

/// Applies the options of a file that change a graph (self-loops, directions, duplicates, random weights, order) to a
/// graph that does not come from a file. Throws wyrm::error (bad_argument) for more vertices than options.max_vertices,
/// unless that is 0, and for a range of weights or an order that is invalid.
[[nodiscard]] graph::edge_list adjusted(graph::edge_list list, options const& settings);

/// The number of vertices that a file of so many bytes may have unless options::max_vertices says otherwise.
[[nodiscard]] std::size_t vertex_limit(std::size_t bytes);

/// The paths of the three files of a Graphalytics graph (.v, .e, .properties), from the path of one of them.
[[nodiscard]] std::array<std::filesystem::path, 3> graphalytics_files(std::filesystem::path const& path);
/// The path of the cache of a graph file: FILE.wyrm, or in options.cache_dir a name that is unique to the path of FILE.
[[nodiscard]] std::filesystem::path cache_of(std::filesystem::path const& source, options const& settings);

}  // namespace wyrm::loaders
