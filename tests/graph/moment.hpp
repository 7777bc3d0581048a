// SPDX-License-Identifier: Apache-2.0
// A snapshot with a copy of the model, which is taken at the same moment, and their comparison.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include "../../exec/error.hpp"
#include "../../graph/dynamic_graph.hpp"
#include "model.hpp"

namespace wyrm::tests {

template <class Value>
struct basic_moment {
  graph::snapshot taken;
  graph::csr rows;
  std::vector<Value> values;  // of the arcs of `rows`, if the graph has values
  std::size_t present;        // the number of vertices that are not absent
};

template <class Graph, class Value>
basic_moment<Value> moment_of(Graph& g, basic_model<Value> const& model) {
  return {g.snapshot(), model.to_csr(), model.values(), model.vertices() - model.absent().size()};
}

/// What is wrong with the snapshot: it differs from the model, or an invariant of its tables is violated. An empty
/// string if nothing is wrong.
template <class Space, class Value>
std::string unlike_its_moment(Space const& space, basic_moment<Value> const& m) {
  graph::graph_view const v = m.taken.view();
  graph::vertex_id const n = v.vertices();
  if (v.arcs() != m.rows.targets.size()) return "a snapshot has another number of arcs";
  if (v.present_vertices() != m.present) return "a snapshot has another number of vertices";
  if (graph::detail::export_csr(space, v.out_records(), n) != m.rows) return "a snapshot has changed";
  try {
    (void)graph::detail::check_table(space, v.out_records(), v.in_records(), n, true);
    if (v.directed() && v.in_records() != nullptr)
      (void)graph::detail::check_table(space, v.in_records(), v.out_records(), n, true);
    if constexpr (!std::is_same_v<Value, graph::no_value>)
      if (v.in_records() != nullptr)
        graph::detail::check_mirrored_values<sizeof(Value)>(space, v.out_records(), v.in_records(), n);
  } catch (error const& e) {
    return std::string("in a snapshot, ") + e.what();
  }
  if constexpr (!std::is_same_v<Value, graph::no_value>)
    if (!std::ranges::equal(graph::detail::export_all_values<Value>(space, v.out_records(), n, v.arcs()), m.values,
                            basic_model<Value>::same))
      return "the values of a snapshot have changed";
  return {};
}

}  // namespace wyrm::tests
