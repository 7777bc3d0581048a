// SPDX-License-Identifier: Apache-2.0
// Reads updates of a graph as text, from a file or incrementally from standard input. A line is an insertion, "+ u v"
// or "u v", or an erasure, "- u v", with ids of vertices. A line that begins with '#' or '%' is a comment. An empty
// line ends a batch.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "../graph/types.hpp"
#include "line_input.hpp"
#include "vertex_ids.hpp"

namespace wyrm::apps {

/// Consecutive updates of the same kind.
struct update_run {
  graph::operation what;
  std::vector<graph::edge> edges;
};

class update_reader {
 public:
  /// Opens a file; "-" is standard input. Throws error(io).
  explicit update_reader(std::string const& path) : input_(path) {}

  [[nodiscard]] std::string const& name() const { return input_.name(); }

  /// Reads the next batch, of at most `most` updates, for a graph with these ids. The batch is divided into
  /// runs of maximum length: the runs, applied in order, have the same effect as the updates one by one. Empty at the
  /// end of the input, and if a signal comes before the batch is complete. Throws error(bad_input), with the line
  /// number, when a line of the batch is malformed; error(io).
  [[nodiscard]] std::vector<update_run> next(std::size_t most, vertex_ids const& ids);

 private:
  void parse(std::string_view line, vertex_ids const& ids, std::vector<update_run>& batch) const;
  [[nodiscard]] graph::vertex_id vertex(std::string_view word, vertex_ids const& ids, bool first) const;
  [[noreturn]] void fail(std::string const& expected, std::string_view word) const;

  line_input input_;
};

}  // namespace wyrm::apps
