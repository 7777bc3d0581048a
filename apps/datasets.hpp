// SPDX-License-Identifier: Apache-2.0
// `wyrm datasets` and `wyrm fetch`: the catalogue of public graphs, and their files.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace wyrm::apps {

struct datasets_command {
  std::string pattern = "*";  // of names, with * ? [...]; upper and lower case are equal
  std::string kind;           // empty: all
  std::string set;            // empty: all
  std::optional<std::uint64_t> max_edges;
  bool json = false;
};

/// Prints the graphs that the command selects, in the order of the catalogue: a table with a line for each, or an array
/// with an object for each, whose fields are those of the catalogue and `path`, the fetched file or null. Throws
/// error(bad_argument) for a kind or set that no graph has.
void list_datasets(datasets_command const& c, std::ostream& out);

struct fetch_command {
  std::vector<std::string> names;
  std::string folder;  // empty: cache_folder()
};

/// Downloads graphs with the program `curl`, one by one, and prints the path of each file. A file that exists is kept.
/// The file has its name only when it is complete, and its size and SHA-256 are those of the catalogue, where known;
/// FILE.part is what came so far, where the next call goes on.
///
/// Throws error: bad_argument for an unknown name; bad_input when the file is another than the catalogue says, or is
/// not compressed as its name says: it is removed; io when curl is missing or fails, or the file cannot be written, or
/// another process fetches it.
void fetch(fetch_command const& c, std::ostream& out);

void add_datasets(CLI::App& program, datasets_command& c);
void add_fetch(CLI::App& program, fetch_command& c);

}  // namespace wyrm::apps
