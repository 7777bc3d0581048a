// SPDX-License-Identifier: Apache-2.0
// A maintained result that is a copy of the arcs, values and vertices of its graph on the host, and changes only by
// what changes of the graph say. It also checks that these say nothing that is not so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../../exec/memory.hpp"
#include "../../graph/inspect/export.hpp"
#include "../../graph/maintained_result.hpp"
#include "../../graph/types.hpp"

namespace wyrm::tests {

template <class Space, class Value>
class arc_copy final : public graph::maintained_result {
  static constexpr bool has_values = !std::is_same_v<Value, graph::no_value>;

 public:
  arc_copy(Space const& space, graph::graph_view const& g) : maintained_result("arc_copy", g), space_(space) {
    read(g);
  }

  [[nodiscard]] graph::csr to_csr(graph::vertex_id vertices) const {
    graph::csr rows{std::vector<std::uint64_t>(vertices + std::size_t{1}), {}};
    for (auto const& [a, value] : arcs_) {
      ++rows.offsets[a.first + std::size_t{1}];
      rows.targets.push_back(a.second);
    }
    for (std::size_t v = 0; v < vertices; ++v) rows.offsets[v + 1] += rows.offsets[v];
    return rows;
  }
  /// The values of all arcs, in the order of to_csr().
  [[nodiscard]] std::vector<Value> values() const {
    std::vector<Value> all;
    for (auto const& [a, value] : arcs_) all.push_back(value);
    return all;
  }
  [[nodiscard]] bool needs_values() const override { return has_values; }
  /// The first wrong statement of a change, or an empty string.
  [[nodiscard]] std::string const& wrong() const { return wrong_; }

 private:
  using arc = std::pair<graph::vertex_id, graph::vertex_id>;

  void on_before(graph::graph_view const& g, graph::graph_change const& change) override {
    inserted_.clear();
    erased_.clear();
    revalued_.clear();
    replaces_all_ = change.replaces_all;
    max_arcs_ = change.max_arcs;
    vertices_ = change.vertices;
    added_ = list(change.added, change.added_size);
    removed_ = list(change.removed, change.removed_size);
    if (vertices_ < g.vertices() && !replaces_all_) wrong_ = "there are fewer ids after the change";
    for (graph::vertex_id const v : added_)
      if (v >= vertices_ || present_.contains(v)) wrong_ = "a vertex is added that is in the graph";
    for (graph::vertex_id const v : removed_)
      if (!present_.contains(v)) wrong_ = "a vertex is removed that is not in the graph";
    if (!replaces_all_ && max_arcs_ < g.arcs()) wrong_ = "max_arcs is less than the arcs before the change";
    if (!has_values && change.revalued_size > 0) wrong_ = "values change in a graph without values";
    if (change.revalued_size > 0)
      for (graph::edge const& e : exec::copy_out(space_, change.revalued, change.revalued_size)) {
        if (e == graph::graph_change::no_edge()) continue;
        revalue({e.source, e.target});
        if (!g.directed()) revalue({e.target, e.source});
      }
    if (change.size == 0) return;
    auto const edges = exec::copy_out(space_, change.edges, change.size);
    std::vector<graph::operation> what(change.size, change.all);
    if (change.operations != nullptr) what = exec::copy_out(space_, change.operations, change.size);
    for (std::size_t i = 0; i < change.size; ++i) {
      if (edges[i] == graph::graph_change::no_edge()) continue;
      bool const inserts = what[i] == graph::operation::insert;
      if (!(inserts ? change.may_insert() : change.may_erase())) wrong_ = "there is an entry that may not be there";
      add({edges[i].source, edges[i].target}, inserts);
      if (!g.directed()) add({edges[i].target, edges[i].source}, inserts);
    }
  }
  void on_after(graph::graph_view const& g) override {
    auto const now = arcs_in(g);
    for (arc const& a : erased_) {
      if (revalued_.contains(a)) wrong_ = "an edge disappears, and gets another value";
      arcs_.erase(a);
    }
    auto const update = [&](arc const& a) {
      if (auto const at = now.find(a); at != now.end()) arcs_[a] = at->second;
    };
    for (arc const& a : inserted_) update(a);
    for (arc const& a : revalued_) update(a);
    for (graph::vertex_id const v : removed_) present_.erase(v);
    present_.insert(added_.begin(), added_.end());
    if (replaces_all_) read(g);
    if (g.vertices() != vertices_ || present_ != present_in(g)) wrong_ = "the vertices of the change are wrong";
    if (g.arcs() > max_arcs_) wrong_ = "max_arcs is less than the arcs after the change";
  }
  void on_undo(graph::graph_view const&) override {}

  void add(arc const& a, bool inserts) {
    (inserts ? inserted_ : erased_).insert(a);
    if (arcs_.contains(a) == inserts) wrong_ = "an entry without effect is in the change";
  }
  void revalue(arc const& a) {
    revalued_.insert(a);
    if (!arcs_.contains(a)) wrong_ = "an edge that is not in the graph gets another value";
  }
  std::set<graph::vertex_id> list(graph::vertex_id const* vertices, std::size_t n) {
    if (n == 0) return {};
    auto const all = exec::copy_out(space_, vertices, n);
    std::set<graph::vertex_id> unique(all.begin(), all.end());
    if (unique.size() != n) wrong_ = "a vertex is listed twice";
    return unique;
  }
  std::set<graph::vertex_id> present_in(graph::graph_view const& g) const {
    std::set<graph::vertex_id> present;
    auto const records = exec::copy_out(space_, g.out_records(), g.vertices());
    for (graph::vertex_id v = 0; v < g.vertices(); ++v)
      if (!records[v].is_absent()) present.insert(v);
    return present;
  }
  void read(graph::graph_view const& g) {
    present_ = present_in(g);
    arcs_ = arcs_in(g);
  }
  [[nodiscard]] std::map<arc, Value> arcs_in(graph::graph_view const& g) const {
    graph::csr const rows = graph::detail::export_csr(space_, g.out_records(), g.vertices());
    std::vector<Value> values(rows.targets.size());
    if constexpr (has_values)
      values = graph::detail::export_all_values<Value>(space_, g.out_records(), g.vertices(), g.arcs());
    std::map<arc, Value> arcs;
    for (graph::vertex_id u = 0; u < g.vertices(); ++u)
      for (std::uint64_t i = rows.offsets[u]; i < rows.offsets[u + std::size_t{1}]; ++i)
        arcs.insert({{u, rows.targets[i]}, values[i]});
    return arcs;
  }

  Space space_;
  std::map<arc, Value> arcs_;
  std::set<graph::vertex_id> present_;
  std::set<arc> inserted_;  // by the change that is being made
  std::set<arc> erased_;
  std::set<arc> revalued_;
  std::set<graph::vertex_id> added_;
  std::set<graph::vertex_id> removed_;
  graph::vertex_id vertices_ = 0;
  std::uint64_t max_arcs_ = 0;
  bool replaces_all_ = false;
  std::string wrong_;
};

}  // namespace wyrm::tests
