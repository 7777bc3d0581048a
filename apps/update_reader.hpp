// SPDX-License-Identifier: Apache-2.0
// Updates of a graph as text, from a file or from standard input as it comes. A line is an insertion, "+ u v" or
// "u v", or an erasure, "- u v", of vertices counted from 0; a line that begins with '#' or '%' is a comment; an empty
// line ends a batch.
#pragma once

#include <cstddef>
#include <fstream>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "../algorithms/maintained_result.hpp"
#include "../graph/types.hpp"

namespace wyrm::apps {

/// Updates of one kind that follow each other.
struct update_run {
  algorithms::change what;
  std::vector<graph::edge> edges;
};

class update_reader {
 public:
  /// Opens a file; "-" is standard input. Throws error(io).
  explicit update_reader(std::string const& path);

  [[nodiscard]] std::string const& name() const { return name_; }

  /// The next batch of a graph with so many vertices, of at most so many updates, in runs as long as they can be: done
  /// one after the other these leave what the updates would one by one. Empty at the end. Throws error(bad_input) when
  /// any of its lines is malformed, with the line; error(io).
  [[nodiscard]] std::vector<update_run> next(std::size_t most, graph::vertex_id vertices);

 private:
  void parse(std::string_view line, graph::vertex_id vertices, std::vector<update_run>& batch) const;
  [[nodiscard]] graph::vertex_id vertex(std::string_view word, graph::vertex_id vertices, bool first) const;
  [[noreturn]] void fail_to_read() const;
  [[noreturn]] void fail(std::string const& expected, std::string_view word) const;

  std::string name_;
  std::ifstream file_;
  std::istream& in_;
  std::size_t line_ = 0;
};

}  // namespace wyrm::apps
