// SPDX-License-Identifier: Apache-2.0
// The part of a graph that keeps attached results up to date. Without results it has no memory, and does nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "../exec/error.hpp"
#include "batch/resolve.hpp"
#include "graph_change.hpp"
#include "maintained_result.hpp"
#include "types.hpp"
#include "view.hpp"

namespace wyrm::graph::detail {

/// Movable: results follow the graph.
template <class Space>
class attached_results {
 public:
  void attach(Space const& space, graph_view const& g, maintained_result& result) {
    result.require_up_to_date(g);
    result.require_stream(space.identity());
    if (!parts_) parts_ = std::make_unique<parts>(space);
    parts_->list.add(result);
  }
  void detach(maintained_result& result) {
    if (!parts_ || !parts_->list.remove(result))
      throw error(error_code::bad_argument, "detach: the result is not attached to this graph; nothing was changed");
  }

  /// Before an update: g is the graph before it. If this throws, all results are unchanged.
  void before(graph_view const& g, bool keeps_self_loops, batch_arrays const& batch, bool is_on_host) {
    if (!empty()) parts_->list.before(g, resolve(g, keeps_self_loops, batch, is_on_host));
  }
  /// Before vertices are added, or removed with these edges of theirs; all arrays are in memory of the space.
  /// next_vertices: ids of the graph after that.
  void before_vertices(graph_view const& g, vertex_id next_vertices, resident_vertices added, resident_vertices removed,
                       resident_edges edges) {
    if (empty()) return;
    graph_change change = resolve(g, true, {edges.data, edges.size, nullptr, nullptr, operation::erase}, false);
    change.next_version = g.version() + 1;
    change.vertices = next_vertices;
    change.added = added.data;
    change.added_size = added.size;
    change.removed = removed.data;
    change.removed_size = removed.size;
    parts_->list.before(g, change);
  }
  /// Before clear() or build(), after which the graph has this many arcs.
  void before_replacement(graph_view const& g, std::uint64_t arcs) {
    if (empty()) return;
    graph_change change;
    change.replaces_all = true;
    change.max_arcs = arcs;
    change.next_version = g.version() + 1;
    change.vertices = g.vertices();
    parts_->list.before(g, change);
  }
  void after(graph_view const& g) {
    if (!empty()) parts_->list.after(g);
  }
  void undo(graph_view const& g) noexcept {
    if (!empty()) parts_->list.undo(g);
  }

  /// Whether a change may give edges only weights as values.
  [[nodiscard]] bool needs_weights() const { return !empty() && parts_->list.needs_weights(); }
  [[nodiscard]] bool empty() const { return !parts_ || parts_->list.empty(); }
  [[nodiscard]] std::size_t bytes() const { return parts_ && parts_->resolver ? parts_->resolver->bytes() : 0; }
  /// Frees all scratch memory. Not between before() and after() or undo().
  void free_scratch() {
    if (parts_) parts_->resolver.reset();
  }

 private:
  struct parts {
    explicit parts(Space const& s) : space(s) {}
    Space space;
    result_list list;
    std::optional<change_resolver<Space>> resolver;
  };
  [[nodiscard]] graph_change resolve(graph_view const& g, bool keeps_self_loops, batch_arrays const& batch,
                                     bool is_on_host) {
    if (!parts_->resolver) parts_->resolver.emplace(parts_->space);
    return parts_->resolver->resolve(g, keeps_self_loops, batch, is_on_host, parts_->list.needs_values());
  }

  std::unique_ptr<parts> parts_;
};

}  // namespace wyrm::graph::detail
