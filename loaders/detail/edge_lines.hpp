// SPDX-License-Identifier: Apache-2.0
// Reads lines `source target [column [column]]`, the common form of edge lists, GAP and Graphalytics.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "numbering.hpp"
#include "parallel_lines.hpp"

namespace wyrm::loaders::detail {

/// Which columns follow the two ids.
struct columns {
  bool weight = false;
  bool time = false;
};

/// The edges of a piece of a file: ids in the order source, target, source, ...
struct id_piece : edge_columns<std::uint64_t> {
  std::uint64_t largest = 0;
  void clear() noexcept {
    edge_columns::clear();
    largest = 0;
  }
  void add(std::uint64_t source, std::uint64_t target) {
    edges.push_back(source);
    edges.push_back(target);
    largest = std::max({largest, source, target});
  }
};

/// The edges of a file with their ids. As long as ids have 32 bits, an edge takes 8 bytes, and its memory becomes that
/// of the numbered edge.
class id_columns {
 public:
  /// Reserves memory for the estimated number of edges, because growing arrays copies them. The estimate assumes that
  /// lines are on average as long as the first ones after `from`.
  void reserve(columns has, source const& in, char const* from);
  void append(id_piece const& piece);

  [[nodiscard]] std::uint64_t largest() const noexcept { return largest_; }
  [[nodiscard]] numbering numbered(exec::host_space const& space, std::string const& file) const;
  /// The edges with the numbers of their ends; no_vertex for an id without a number. The ids are gone.
  [[nodiscard]] std::vector<graph::edge> take_edges(exec::host_space const& space, numbering const& numbers);
  /// The edges, with `base` subtracted from all ids. The ids are gone.
  [[nodiscard]] std::vector<graph::edge> take_edges(exec::host_space const& space, std::uint64_t base);

  std::vector<double> weights;
  std::vector<double> times;

 private:
  template <class F>
  [[nodiscard]] std::vector<graph::edge> take(exec::host_space const& space, F const& vertex);

  std::vector<graph::edge> narrow_;  // while all ids have 32 bits
  std::vector<std::uint64_t> wide_;  // source, target, source, ...; else
  std::uint64_t largest_ = 0;
};

/// Reads edges from the position of the reader to the end of the file; ids are in [least, most]. Every line must have
/// the same columns as the first line, 2 to `most_columns`. Throws bad_input, also when there is no edge.
[[nodiscard]] id_columns read_edge_lines(text_reader& reader, std::string_view comment_marks, std::size_t most_columns,
                                         std::uint64_t least, std::uint64_t most);

}  // namespace wyrm::loaders::detail
