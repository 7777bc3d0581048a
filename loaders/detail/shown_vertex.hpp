// SPDX-License-Identifier: Apache-2.0
// The name of a vertex in messages.
#pragma once

#include <string>

#include "../../graph/types.hpp"
#include "../quoted.hpp"

namespace wyrm::loaders::detail {

/// The name or the id of a vertex in the file of the list.
[[nodiscard]] inline std::string shown_vertex(graph::edge_list const& list, graph::vertex_id v) {
  if (!list.names.empty()) return loaders::quoted(list.names[v]);
  return std::to_string(list.ids.empty() ? list.first_id + v : list.ids[v]);
}

}  // namespace wyrm::loaders::detail
