// SPDX-License-Identifier: Apache-2.0
// What formats with an edge a line share (edge lists, GAP, Graphalytics): `source target [column [column]]`.
#pragma once

#include <cstdint>

#include "lines.hpp"

namespace wyrm::loaders::detail {

/// Which columns there are behind the two ids.
struct columns {
  bool weight = false;
  bool time = false;
};

/// Ids stand one behind the other: source, target, source, ...
using id_columns = edge_columns<std::uint64_t>;

/// Reads the edges from the reader on; ids in [least, most]. Every line has the columns of the first one, 2 to
/// `most_columns` of them. Throws bad_input, also when there is no edge.
[[nodiscard]] id_columns read_id_lines(text_reader& reader, std::string_view comment_marks, std::size_t most_columns,
                                       std::uint64_t least, std::uint64_t most);

}  // namespace wyrm::loaders::detail
