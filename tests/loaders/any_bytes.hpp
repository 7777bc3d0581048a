// SPDX-License-Identifier: Apache-2.0
// Loads arbitrary bytes as a file of a format, for fuzzers and for the replay of their corpus.
#pragma once

#include <cmath>
#include <cstring>
#include <string>
#include <string_view>

#include "../../exec/error.hpp"
#include "../../loaders/binary.hpp"
#include "../../loaders/detail/unpack.hpp"
#include "../../loaders/graphalytics.hpp"
#include "../../loaders/loaders.hpp"

namespace wyrm::tests {

/// The formats by the names of their fuzzers, and of their folders in tests/data/fuzz.
inline constexpr std::string_view fuzzed_formats[] = {"metis",      "matrix_market", "dimacs",    "edge_list",
                                                      "gap",        "graphalytics",  "node_link", "binary",
                                                      "serialized", "archive"};

/// The defect of an edge list; empty if it is valid.
[[nodiscard]] inline std::string defect_of(graph::edge_list const& list, bool finite_weights = true) {
  for (auto const& [source, target] : list.edges)
    if (source >= list.vertices || target >= list.vertices) return "an id is out of range";
  for (auto const* const column : {&list.weights, &list.times}) {
    if (!column->empty() && column->size() != list.edges.size()) return "a column has another length";
    for (double const value : *column)
      if (!std::isfinite(value) && (column == &list.times || finite_weights)) return "a value is not finite";
  }
  if (list.vertices > 0 && list.first_id + (list.vertices - 1) < list.first_id) return "an id is above 2^64 - 1";
  if (!list.ids.empty() && list.ids.size() != list.vertices) return "ids are not one per vertex";
  if (!list.names.empty() && list.names.size() != list.vertices) return "names are not one per vertex";
  return "";
}

/// Loads bytes as a file of a format. A binary file gets a correct checksum, because a fuzzer would not get past a
/// wrong one. The two files of Graphalytics are concatenated, with a line "=" between them.
[[nodiscard]] inline graph::edge_list load_bytes(std::string_view format, std::string_view bytes) {
  using loaders::file_format;
  loaders::options const settings{.threads = 1};
  loaders::progress const silent;
  if (format == "archive") {
    (void)loaders::detail::unpack("bytes", bytes, std::size_t{1} << 20);
    return {};
  }
  if (format == "graphalytics") {
    auto const border = bytes.find("=\n");
    auto const edges = border == std::string_view::npos ? std::string_view() : bytes.substr(border + 2);
    return loaders::detail::parse_graphalytics({"v", bytes.substr(0, border), settings, silent},
                                               {"e", edges, settings, silent}, bytes.substr(0, border));
  }
  std::string sealed(bytes);
  if (format == "binary" && bytes.size() >= 64) {
    auto const right = loaders::detail::binary_checksum({"bytes", bytes, settings, silent});
    std::memcpy(sealed.data() + loaders::detail::binary_checksum_at, &right, sizeof(right));
  }
  file_format const known[] = {file_format::metis,     file_format::matrix_market, file_format::dimacs,
                               file_format::edge_list, file_format::gap,           file_format::graphalytics,
                               file_format::node_link, file_format::binary,        file_format::serialized};
  std::size_t i = 0;
  while (fuzzed_formats[i] != format) ++i;
  return loaders::parse("bytes", sealed, known[i], settings);
}

/// Loads bytes; returns a description of a failure, or an empty string for a valid list or a correct error.
[[nodiscard]] inline std::string load_any_bytes(std::string_view format, std::string_view bytes) {
  try {
    return defect_of(load_bytes(format, bytes), format != "matrix_market" && format != "binary");
  } catch (error const& refused) {
    std::string const text = refused.what();
    if (refused.code() != error_code::bad_input) return "not bad_input: " + text;
    for (char const c : text)
      if (c < ' ' || c > '~') return "a message that is not plain text";
    return "";
  }
}

}  // namespace wyrm::tests
