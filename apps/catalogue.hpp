// SPDX-License-Identifier: Apache-2.0
// The catalogue of public graphs, datasets/catalogue.json, which is a part of the program. docs/datasets.md describes
// its fields.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wyrm::apps {

/// A graph of the catalogue. What is not known is nothing.
struct dataset {
  std::string name;
  std::vector<std::string> sets;  // the collections and papers that have it
  std::string kind;               // what the edges are: road, social, web, ...
  std::optional<bool> directed;
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;
  std::string counts;  // what `edges` counts: edges, arcs, entries or listed
  std::string url;
  std::optional<std::uint64_t> bytes;  // size of the file at the URL
  std::optional<std::string> sha256;   // of that file, 64 hexadecimal digits
  std::optional<std::string> licence;
  std::optional<std::uint64_t> triangles;
  std::optional<std::string> triangles_source;
  std::string source;                    // where vertices and edges are published
  std::optional<std::string> generator;  // the closest one, as the name of a graph: gen:...

  /// The name of the file: the last part of the URL.
  [[nodiscard]] std::string file() const { return url.substr(url.rfind('/') + 1); }
};

/// Parses a catalogue. Throws error(bad_input), with `name`, when a field is missing, unknown, of another type or out
/// of its range, or when two graphs have the same name or the same file.
[[nodiscard]] std::vector<dataset> parse_catalogue(std::string const& name, std::string_view text);

/// The catalogue of the program, or of the file that the environment variable WYRM_CATALOGUE names. Throws the errors
/// of reading and parsing that file.
[[nodiscard]] std::vector<dataset> const& catalogue();

/// Nothing for a name that is not in the catalogue.
[[nodiscard]] dataset const* find_dataset(std::string_view name);

/// The folder of fetched files: XDG_CACHE_HOME/wyrm, or HOME/.cache/wyrm. Throws error(bad_argument) without both.
[[nodiscard]] std::filesystem::path cache_folder();

/// The path of a graph on the command line: that of the fetched file if `name` is in the catalogue and no file has this
/// name; else `name`. Throws error(io) when the file is not fetched.
[[nodiscard]] std::string graph_path(std::string const& name);

/// What to do without the file of a graph: names a generator of similar graphs.
[[nodiscard]] std::string stand_in(dataset const& d);

}  // namespace wyrm::apps
