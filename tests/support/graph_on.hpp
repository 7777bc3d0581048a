// SPDX-License-Identifier: Apache-2.0
// A graph for tests of what reads graphs, such as algorithms and queries: an any_graph, so that they compile for each
// space what they test, and no graphs.
#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

#include "../../alloc/registry.hpp"
#include "../../exec/device.hpp"
#include "../../exec/host_space.hpp"
#include "../../graph/any_graph.hpp"
#include "../../graph/types.hpp"

namespace wyrm::tests {

/// Whether graphs can be on a space of this type.
template <class Space>
inline constexpr bool is_space_of_graphs = std::is_same_v<Space, exec::host_space> || requires {
  Space::device_count();
};

/// The space of a graph for algorithms on `space`. A graph of a host also serves tiles of fibers.
template <class Space>
[[nodiscard]] exec::any_space space_of_graph(Space const& space) {
  if constexpr (is_space_of_graphs<Space>)
    return space;
  else
    return exec::host_space(1).managed_by(space.manager());
}

/// A graph with values of the type Value, or none, and the space on which algorithms read it.
template <class Space, class Value = graph::no_value>
class graph_on : public graph::any_graph {
 public:
  using value_type = Value;

  graph_on(Space const& space, std::size_t vertices, graph::options const& o = {})
      : any_graph(space_of_graph(space), alloc::default_name, vertices, typed(o)), space_(space) {}
  [[nodiscard]] Space const& space() const { return space_; }
  [[nodiscard]] std::vector<Value> values() const requires graph::number<Value> { return any_graph::values<Value>(); }

 private:
  static graph::options typed(graph::options o) {
    o.values = graph::number_type_of<Value>;
    return o;
  }

  Space space_;
};

}  // namespace wyrm::tests
