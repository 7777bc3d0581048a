// SPDX-License-Identifier: Apache-2.0
// Updates a maintained result that was not attached while its graph changed, from a snapshot of the version that the
// result belongs to. The difference of the two states is applied as one change, whatever happened in between.
//
//   auto const then = g.snapshot();  // ranks.belongs_to(then.view())
//   g.detach(ranks);
//   ...                              // any changes
//   catch_up(g.space(), ranks, then.view(), g.view());
//   g.attach(ranks);
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../exec/atomic.hpp"
#include "../exec/error.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "batch/resolve.hpp"
#include "graph_change.hpp"
#include "maintained_result.hpp"
#include "query/difference.hpp"
#include "types.hpp"
#include "view.hpp"

namespace wyrm::graph {

namespace detail {

/// One thread per id of `to`, which has no fewer than `from`: lists the vertices that only one of both has, in no
/// particular order.
struct list_changed_vertices {
  graph_view from;
  graph_view to;
  vertex_id* added;
  vertex_id* removed;
  std::uint32_t* counts;  // of both lists
  WYRM_HD void operator()(std::size_t i) const {
    auto const v = static_cast<vertex_id>(i);
    bool const was = v < from.vertices() && from.is_present(v);
    bool const is = to.is_present(v);
    if (was == is) return;
    std::uint32_t const at = exec::atomic_ref<std::uint32_t>(counts[is ? 0 : 1]).fetch_add(1, exec::relaxed);
    (is ? added : removed)[at] = v;
  }
};

/// One thread per id: copies a record; ids from `vertices` on are absent.
struct extend_records {
  packed_record const* from;
  vertex_id vertices;
  packed_record* to;
  WYRM_HD void operator()(std::size_t v) const { to[v] = v < vertices ? from[v] : packed_record::absent(); }
};

/// The view `from` with all ids of `to`, which has no fewer; those that are new are absent.
template <class Space>
class extended_view {
 public:
  extended_view(Space const& space, graph_view const& from, graph_view const& to)
      : parts_(from.parts()), out_(space), in_(space) {
    if (to.vertices() == from.vertices()) return;
    parts_.vertices = to.vertices();
    parts_.absent += to.vertices() - from.vertices();
    parts_.out = extend(space, from.out_records(), from.vertices(), out_);
    if (!from.directed())
      parts_.in = parts_.out;
    else if (to.in_records() != nullptr)
      parts_.in = extend(space, from.in_records(), from.vertices(), in_);
  }
  [[nodiscard]] graph_view view() const { return graph_view(parts_); }

 private:
  using records = exec::buffer<packed_record, Space>;
  packed_record const* extend(Space const& space, packed_record const* from, vertex_id n, records& to) const {
    to.reserve(parts_.vertices);
    exec::for_each(space, parts_.vertices, extend_records{from, n, to.data()});
    return to.data();
  }

  view_parts parts_;
  records out_;
  records in_;
};

/// The arcs that differ; with_values: also those with another value. O(log degree) per arc of the rows that differ.
template <class Space>
resident_changes<no_value, Space> changed_arcs(Space const& space, graph_view const& from, graph_view const& to,
                                               bool with_values) {
  auto const differing = [&]<class Word>(Word) {
    auto const bare = [](graph_view const& g) {
      view_parts parts = g.parts();
      parts.value_bytes = width_of<Word>;
      return graph_view(parts);
    };
    auto found = difference<Word>(space, bare(from), bare(to));
    return resident_changes<no_value, Space>{std::move(found.edges), std::move(found.operations),
                                             exec::device_array<no_value, Space>(space, 0)};
  };
  switch (with_values ? from.value_bytes() : 0) {
    case 4: return differing(value_word<4>{});
    case 8: return differing(value_word<8>{});
    case 16: return differing(value_word<16>{});
    default: return differing(no_value{});
  }
}

}  // namespace detail

/// Updates a result of `from` to one of `to`: two views of one graph, of snapshots or of the graph as it is now, in
/// either order of time; vertices may have been added and removed in between. space: that of the graph. The cost is
/// that of difference(), of a sort of the arcs that differ, and of the update of the result for them; values of edges
/// are compared only if the result needs them. If `to` has fewer ids than `from`, the result is computed anew. Scratch:
/// that of difference(), about 50 bytes per arc that differs (100 per arc with another value), and, if vertices came or
/// went, 8 bytes per vertex, and 12 more per vertex and direction if there are more ids. Throws error(bad_argument) if
/// the result is attached or does not belong to `from`, if it works on another stream than the space, or if the views
/// are of different graphs; error(out_of_memory). The result is unchanged then; but it is outdated if it does not
/// accept a value of an edge, see maintained_result::after().
template <class Space>
void catch_up(Space const& space, maintained_result& result, graph_view const& from, graph_view const& to) {
  typename Space::guard const current(space);
  if (result.is_attached())
    throw error(error_code::bad_argument,
                "catch_up: the result is attached to its graph, which keeps it up to date; detach it first");
  result.require_up_to_date(from);
  result.require_stream(space.identity());
  graph_change change;
  if (to.vertices() < from.vertices() && to.graph_id() == from.graph_id()) {
    change.replaces_all = true;
    change.max_arcs = to.arcs();
    change.vertices = to.vertices();
    change.next_version = to.version();
    result.before(from, change);
    return result.after(to);
  }
  auto const changed = detail::changed_arcs(space, from, to, result.needs_values());
  detail::extended_view<Space> const extended(space, from, to);
  detail::change_resolver<Space> resolver(space);
  change = resolver.resolve(extended.view(), true,
                            {changed.edges.data(), changed.edges.size(), nullptr, changed.operations.data()}, false,
                            result.needs_values());
  change.max_arcs = std::max(from.arcs(), to.arcs());
  change.next_version = to.version();
  exec::buffer<vertex_id, Space> lists(space);
  if (from.vertices() != to.vertices() || from.parts().absent > 0 || to.parts().absent > 0) {
    std::size_t const n = to.vertices();
    lists.reserve(2 * n);
    exec::buffer<std::uint32_t, Space> counts(space, 2);
    space.fill(counts.data(), 0, counts.bytes());
    exec::for_each(space, n, detail::list_changed_vertices{from, to, lists.data(), lists.data() + n, counts.data()});
    change.added = lists.data();
    std::vector<std::uint32_t> const sizes = exec::copy_out(space, counts.data(), 2);
    change.added_size = sizes[0];
    change.removed = lists.data() + n;
    change.removed_size = sizes[1];
  }
  result.before(extended.view(), change);
  result.after(to);
}

}  // namespace wyrm::graph
