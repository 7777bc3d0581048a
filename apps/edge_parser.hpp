// SPDX-License-Identifier: Apache-2.0
// Parses the next lines of a text of updates in parallel: those that are edges between vertices whose ids are numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string_view>
#include <vector>

#include "../datasets/stream.hpp"
#include "../exec/host_space.hpp"
#include "vertex_ids.hpp"

namespace wyrm::apps {

/// An update of an edge between known vertices. Whether it may follow the lines before it is not known: its time may be
/// too early.
struct parsed_line {
  datasets::update update;
  bool is_edge = false;     // otherwise only `bytes` is set
  bool is_timed = false;    // whether the line has a time
  std::uint32_t bytes = 0;  // with the end of the line
};

class edge_parser {
 public:
  struct rules {
    bool needs_time = false;  // whether an edge without a time is no edge
    bool weighted = false;    // whether an edge with a weight that is_usable_weight() refuses is none
  };

  /// Text that is parsed at once, in bytes: little enough for caches, and enough for many threads. A parsed line takes
  /// 40 bytes, so they take at most 10 MiB.
  static constexpr std::size_t most_bytes = std::size_t{1} << 18;

  /// `ids` must outlive the parser. Uses so many threads; 0: one per core.
  edge_parser(vertex_ids const& ids, rules r, unsigned threads) : ids_(ids), rules_(r), space_(threads) {}

  /// Replaces the parsed lines by those of a text, at most most_bytes, whose last byte ends a line. Throws
  /// std::bad_alloc, and has no lines then.
  void parse(std::string_view text);
  /// The first parsed line; null if there is none.
  [[nodiscard]] parsed_line const* front() const { return piece_ < pieces_ ? &wave_[piece_].lines[line_] : nullptr; }
  /// Removes the first parsed line.
  void pop() {
    if (++line_ < wave_[piece_].lines.size()) return;
    line_ = 0;
    ++piece_;
  }
  /// Whether a vertex was removed after the lines were parsed, so that the vertices of edges may be wrong.
  [[nodiscard]] bool is_outdated() const { return ids_.removals() != removals_; }

  /// Parses a line, without its end, on the calling thread. `bytes` is not set.
  [[nodiscard]] parsed_line parse_line(std::string_view line) const;

 private:
  struct piece {
    std::string_view text;
    std::vector<parsed_line> lines;
    std::exception_ptr failure;
  };
  struct parse_piece;

  vertex_ids const& ids_;
  rules rules_;
  exec::host_space space_;
  std::vector<piece> wave_;  // of which the first pieces_ have lines
  std::size_t pieces_ = 0;
  std::size_t piece_ = 0;  // of the first parsed line,
  std::size_t line_ = 0;   // and its place there
  std::uint64_t removals_ = 0;
};

}  // namespace wyrm::apps
