// SPDX-License-Identifier: Apache-2.0
// Reads lines `source target [column [column]]`, the common form of edge lists, GAP and Graphalytics.
#pragma once

#include <cstdint>

#include "parallel_lines.hpp"

namespace wyrm::loaders::detail {

/// Which columns follow the two ids.
struct columns {
  bool weight = false;
  bool time = false;
};

/// `edges` has the ids in the order source, target, source, ...
using id_columns = edge_columns<std::uint64_t>;

/// Reads edges from the position of the reader to the end of the file; ids are in [least, most]. Every line must have
/// the same columns as the first line, 2 to `most_columns`. Throws bad_input, also when there is no edge.
[[nodiscard]] id_columns read_edge_lines(text_reader& reader, std::string_view comment_marks, std::size_t most_columns,
                                         std::uint64_t least, std::uint64_t most);

}  // namespace wyrm::loaders::detail
