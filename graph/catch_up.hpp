// SPDX-License-Identifier: Apache-2.0
// Brings a maintained result up to date that was not attached while its graph changed, from a snapshot of the moment
// that the result belongs to. The difference of both moments is one change, whatever happened between them.
//
//   auto const then = g.snapshot();  // ranks.belongs_to(then.view())
//   g.detach(ranks);
//   ...                              // any changes
//   catch_up(g.space(), ranks, then.view(), g.view());
//   g.attach(ranks);
#pragma once

#include <algorithm>

#include "../exec/error.hpp"
#include "batch/resolve.hpp"
#include "graph_change.hpp"
#include "maintained_result.hpp"
#include "query/difference.hpp"
#include "types.hpp"
#include "view.hpp"

namespace wyrm::graph {

/// Updates a result of `from` to one of `to`: two views of one graph, of snapshots or of the graph as it is now, in
/// either order of time. space: that of the graph. The cost is that of difference(), of a sort of the arcs that differ,
/// and of the update of the result for them; the values of edges are not read. Throws error(bad_argument) if the result
/// is attached or does not belong to `from`, if the views are of different graphs, or if vertices were added or removed
/// in between; error(out_of_memory). The result is
/// unchanged then.
template <class Space>
void catch_up(Space const& space, maintained_result& result, graph_view const& from, graph_view const& to) {
  typename Space::guard const current(space);
  if (result.is_attached())
    throw error(error_code::bad_argument,
                "catch_up: the result is attached to its graph, which keeps it up to date; detach it first");
  result.require_up_to_date(from);
  if (from.graph_id() == to.graph_id() && from.vertex_version() != to.vertex_version())
    throw error(error_code::bad_argument,
                "catch_up: vertices were added or removed between the two moments; construct the result again from the "
                "graph; nothing was changed");
  auto const arcs_only = [](graph_view const& g) {
    return graph_view(g.out_records(), g.in_records(), g.vertices(), g.arcs(), g.directed(), g.graph_id(), g.version());
  };
  auto const changed = difference<no_value>(space, arcs_only(from), arcs_only(to));
  detail::change_resolver<Space> resolver(space);
  graph_change change = resolver.resolve(
      from, true, {changed.edges.data(), changed.edges.size(), nullptr, changed.operations.data()}, false);
  change.max_arcs = std::max(from.arcs(), to.arcs());
  change.next_version = to.version();
  result.before(from, change);
  result.after(to);
}

}  // namespace wyrm::graph
