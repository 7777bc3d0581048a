// SPDX-License-Identifier: Apache-2.0
// Parses the next lines of a text of updates in parallel: those that are edges between vertices whose ids are numbers.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string_view>
#include <vector>

#include "../datasets/stream.hpp"
#include "../exec/host_space.hpp"
#include "../graph/types.hpp"
#include "vertex_ids.hpp"

namespace wyrm::apps {

/// An update of an edge between known vertices. Whether it may follow the lines before it is not known: its time may be
/// too early.
struct parsed_line {
  datasets::update update;
  bool is_edge = false;   // otherwise nothing else is set
  bool is_timed = false;  // whether the line has a time
};

/// Consecutive lines, each of which is an edge, in arrays; see parsed_line.
struct parsed_run {
  std::span<graph::edge const> edges;
  std::span<graph::operation const> operations;  // one per edge; empty if all are inserted
  std::span<double const> weights;               // one per edge, and `times` as well; empty if no line has a time
  std::span<double const> times;
};

class edge_parser {
 public:
  struct rules {
    bool needs_time = false;  // whether an edge without a time is no edge
    bool weighted = false;    // whether an edge with a weight that is_usable_weight() refuses is none
  };

  /// Text that is parsed at once, in bytes: little enough for caches, and enough for many threads. Parsed lines take 12
  /// to 29 bytes each, and arrays that grow up to twice as much: 16 MiB for edges, more only for many empty lines.
  static constexpr std::size_t most_bytes = std::size_t{1} << 20;

  /// `ids` must outlive the parser. Uses so many threads; 0: one per core.
  edge_parser(vertex_ids const& ids, rules r, unsigned threads) : ids_(ids), rules_(r), space_(threads) {}

  /// Replaces the parsed lines by those of a text, at most most_bytes, whose last byte ends a line. Throws
  /// std::bad_alloc, and has no lines then.
  void parse(std::string_view text);
  /// Whether there are no parsed lines.
  [[nodiscard]] bool empty() const { return piece_ == pieces_; }
  /// The first parsed line. Not if it is empty().
  [[nodiscard]] parsed_line front() const { return wave_[piece_].line(line_); }
  /// As many of the first lines, at most `most`, as are alike: edges that all have a time, or that all have none. They
  /// may be fewer than there are.
  [[nodiscard]] parsed_run front_run(std::size_t most) const;
  /// The number of bytes of the first n lines, with their ends: of one line, or of a part of front_run().
  [[nodiscard]] std::size_t bytes(std::size_t n) const;
  /// Removes the first n lines: one line, or a part of front_run().
  void pop(std::size_t n) {
    line_ += n;
    if (line_ < wave_[piece_].ends.size()) return;
    line_ = 0;
    ++piece_;
  }
  /// Whether a vertex was removed after the lines were parsed, so that the vertices of edges may be wrong.
  [[nodiscard]] bool is_outdated() const { return ids_.removals() != removals_; }

  /// Parses a line, without its end, on the calling thread.
  [[nodiscard]] parsed_line parse_line(std::string_view line) const;

 private:
  // A part of the text, and its lines in arrays. Without an erasure there are no operations, and without a time neither
  // weights nor times.
  struct piece {
    std::string_view text;
    std::vector<std::uint32_t> ends;  // of lines, in the text
    std::vector<graph::edge> edges;
    std::vector<graph::operation> operations;
    std::vector<double> weights;
    std::vector<double> times;
    std::size_t others = 0;  // lines that are no edges
    std::size_t timed = 0;   // edges with a time
    std::exception_ptr failure;

    void clear();
    void add(parsed_line const& line, std::size_t end);
    [[nodiscard]] bool is_edge(std::size_t i) const { return edges[i].source != graph::no_vertex; }
    [[nodiscard]] bool is_timed(std::size_t i) const { return !times.empty() && !std::isnan(times[i]); }
    [[nodiscard]] parsed_line line(std::size_t i) const;
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
