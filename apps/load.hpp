// SPDX-License-Identifier: Apache-2.0
// Graph files on the command line: the flags of the loaders, and loading with a progress bar.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "../exec/device.hpp"
#include "../loaders/loaders.hpp"
#include "vertex_ids.hpp"

namespace CLI {
class App;  // declared only, as its header takes seconds to compile
}

namespace wyrm::apps {

/// A graph file, the options for loading it, and how its vertices are named.
struct graph_file {
  std::string name;
  loaders::options settings;
  id_kind ids = id_kind::file;
};

/// Adds the name of a graph file.
void add_graph_name(CLI::App& command, char const* role, std::string& name, bool required);

/// Adds FILE, or another word for its role, --ids, and a flag for each field of loaders::options but `order`.
void add_graph_file(CLI::App& command, graph_file& file, bool required, char const* role = "FILE");

/// Adds --order.
void add_order(CLI::App& command, graph_file& file);
/// The word of --order.
[[nodiscard]] std::string_view name_of(graph::vertex_order order);

/// Loads the file with a progress bar, and prints warnings on standard error; or generates the graph of a name that
/// begins with "gen:", on the space. Throws the errors of loaders::load and of generated().
[[nodiscard]] graph::edge_list load_file(graph_file const& file, exec::any_space const& space = exec::host_space());

/// Reverses the edges, so that of equal ones the first in the file is the last in a batch, whose weight counts.
/// O(edges).
void reverse_edges(graph::edge_list& list);

/// Prepares a list for a graph that takes its weights as values: reverses the edges. `ids` are those of its vertices.
/// Throws error(bad_argument) when the file has no weights; error(bad_input) when a weight is negative or not finite,
/// which no algorithm accepts. O(edges).
void prepare_weights(graph_file const& file, graph::edge_list& list, vertex_ids const& ids);

// A check for whole numbers below 2^64 in decimal notation: CLI11 itself accepts -1 and 2^64 as huge numbers, and 010
// as 8.
[[nodiscard]] inline std::string decimal(std::string const& text) {
  bool const digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  if (!digits || (text.size() > 1 && text[0] == '0')) return "'" + text + "' is not a whole number";
  std::uint64_t value = 0;
  auto const fits = std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc();
  return fits ? "" : "'" + text + "' is too large; the largest number is 18446744073709551615";
}

// A check for names and numbers, which CLI11 takes for no name and for 0 where nothing is given.
[[nodiscard]] inline std::string not_empty(std::string const& text) { return text.empty() ? "the value is empty" : ""; }

}  // namespace wyrm::apps
