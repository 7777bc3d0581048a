// SPDX-License-Identifier: Apache-2.0
// The model with which graphs are compared: a std::map of neighbours and values per vertex, changed entry by entry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "../../exec/config.hpp"
#include "../../graph/types.hpp"
#include "../../graph/update_report.hpp"

namespace wyrm::tests {

/// Value: no_value for graphs without values.
template <class Value>
class basic_model {
 public:
  using combine_type = std::function<Value(Value old, Value added)>;

  /// combine: what an insertion of an edge in the graph does; nothing: its value is replaced.
  basic_model(std::size_t vertices, bool directed, bool self_loops, combine_type combine = {})
      : directed_(directed), self_loops_(self_loops), combine_(std::move(combine)), neighbours_(vertices) {}

  graph::update_report insert(std::span<graph::edge const> batch, std::span<Value const> values = {}) {
    return apply(batch, std::vector(batch.size(), graph::operation::insert), values);
  }
  graph::update_report erase(std::span<graph::edge const> batch) {
    return apply(batch, std::vector(batch.size(), graph::operation::erase), {});
  }
  /// values: one per entry, or none.
  graph::update_report apply(std::span<graph::edge const> batch, std::span<graph::operation const> operations,
                             std::span<Value const> values) {
    graph::update_report r{.requested = batch.size()};
    struct change {
      std::optional<Value> before;
      bool erased_last;
    };
    std::map<std::pair<graph::vertex_id, graph::vertex_id>, change> changes;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      auto const [u, v] = batch[i];
      if (u == v && !self_loops_) {
        ++r.self_loops;
        continue;
      }
      bool const erases = operations[i] == graph::operation::erase;
      auto const [at, is_first] = changes.try_emplace(directed_ || u < v ? std::pair{u, v} : std::pair{v, u});
      if (is_first)
        at->second.before = find(u, v);
      else
        ++r.duplicates;
      at->second.erased_last = erases;
      change_one(u, v, erases, values.empty() ? Value{} : values[i]);
      if (!directed_ && u != v) change_one(v, u, erases, values.empty() ? Value{} : values[i]);
    }
    for (auto const& [e, c] : changes) {
      if (c.erased_last)
        ++(c.before ? r.erased : r.missing);
      else if (!c.before)
        ++r.inserted;
      else
        ++(same(*c.before, *find(e.first, e.second)) ? r.unchanged : r.updated);
    }
    return r;
  }

  /// Removes vertices with their edges.
  graph::removal_report remove_vertices(std::span<graph::vertex_id const> batch) {
    graph::removal_report r{.requested = batch.size()};
    std::set<graph::vertex_id> const removed(batch.begin(), batch.end());
    std::vector<graph::edge> edges;
    for (graph::vertex_id u = 0; u < neighbours_.size(); ++u)
      for (auto const& [v, value] : neighbours_[u])
        if ((directed_ || u <= v) && (removed.contains(u) || removed.contains(v))) edges.push_back({u, v});
    for (auto const [u, v] : edges) {
      neighbours_[u].erase(v);
      if (!directed_) neighbours_[v].erase(u);
    }
    removals_.emplace_back();
    for (graph::vertex_id const v : removed)
      if (absent_.insert(v).second) removals_.back().push_back(v);
    r.removed = removals_.back().size();
    r.missing = removed.size() - r.removed;
    r.duplicates = batch.size() - removed.size();
    r.edges = edges.size();
    return r;
  }
  /// Adds n vertices; returns their ids.
  std::vector<graph::vertex_id> add_vertices(std::size_t n) {
    std::vector<graph::vertex_id> ids;
    for (; ids.size() < n && !removals_.empty(); removals_.pop_back()) {
      auto& last = removals_.back();
      while (ids.size() < n && !last.empty()) {
        ids.push_back(last.front());
        absent_.erase(last.front());
        last.erase(last.begin());
      }
      if (!last.empty()) break;
    }
    while (ids.size() < n) {
      ids.push_back(static_cast<graph::vertex_id>(neighbours_.size()));
      neighbours_.emplace_back();
    }
    return ids;
  }
  [[nodiscard]] std::set<graph::vertex_id> const& absent() const { return absent_; }
  [[nodiscard]] std::size_t vertices() const { return neighbours_.size(); }
  /// The edges for which predicate(source, target) is true; those of an undirected graph with source <= target.
  template <class Predicate>
  [[nodiscard]] std::vector<graph::edge> selected(Predicate const& predicate) const {
    std::vector<graph::edge> edges;
    for (graph::vertex_id u = 0; u < neighbours_.size(); ++u)
      for (auto const& [v, value] : neighbours_[u])
        if ((directed_ || u <= v) && predicate(u, v)) edges.push_back({u, v});
    return edges;
  }
  /// Removes all edges.
  void clear() {
    for (auto& row : neighbours_) row.clear();
  }

  void set_combiner(combine_type combine) { combine_ = std::move(combine); }

  [[nodiscard]] graph::csr to_csr() const {
    graph::csr c{{0}, {}};
    for (auto const& row : neighbours_) {
      for (auto const& [v, value] : row) c.targets.push_back(v);
      c.offsets.push_back(c.targets.size());
    }
    return c;
  }
  /// The values of all arcs, in the order of to_csr().
  [[nodiscard]] std::vector<Value> values() const {
    std::vector<Value> all;
    for (auto const& row : neighbours_)
      for (auto const& [v, value] : row) all.push_back(value);
    return all;
  }
  /// Whether two values have the same bytes.
  static bool same(Value const& a, Value const& b) {
    if constexpr (std::is_same_v<Value, graph::no_value>)
      return true;
    else
      return std::memcmp(&a, &b, sizeof(Value)) == 0;
  }

 private:
  [[nodiscard]] std::optional<Value> find(graph::vertex_id u, graph::vertex_id v) const {
    auto const at = neighbours_[u].find(v);
    return at == neighbours_[u].end() ? std::nullopt : std::optional<Value>(at->second);
  }
  void change_one(graph::vertex_id u, graph::vertex_id v, bool erases, Value const& value) {
    if (erases) {
      neighbours_[u].erase(v);
      return;
    }
    auto const [at, is_new] = neighbours_[u].try_emplace(v, value);
    if (!is_new) at->second = combine_ ? combine_(at->second, value) : value;
  }

  bool directed_;
  bool self_loops_;
  combine_type combine_;
  std::vector<std::map<graph::vertex_id, Value>> neighbours_;
  std::set<graph::vertex_id> absent_;
  std::vector<std::vector<graph::vertex_id>> removals_;  // of vertices that are absent, each ascending
};

using graph_model = basic_model<graph::no_value>;

/// A predicate of arcs, for graphs with values and without.
struct sum_leaves {
  graph::vertex_id divisor;
  graph::vertex_id rest;
  WYRM_HD bool operator()(graph::vertex_id u, graph::vertex_id v) const { return (u + 2 * v) % divisor == rest; }
  template <class Value>
  WYRM_HD bool operator()(graph::vertex_id u, graph::vertex_id v, Value const&) const {
    return (*this)(u, v);
  }
};

/// From each vertex v < `vertices` with v % 16 >= step: edges to v + first, ..., v + last - 1, modulo n. So with step 1
/// one vertex of 16 has none.
inline std::vector<graph::edge> ring_edges(std::size_t n, std::size_t step, std::size_t first, std::size_t last,
                                           std::size_t vertices) {
  std::vector<graph::edge> edges;
  for (std::size_t v = 0; v < vertices; ++v)
    for (std::size_t to = v + first; v % 16 >= step && to < v + last; ++to)
      edges.push_back({static_cast<graph::vertex_id>(v), static_cast<graph::vertex_id>(to % n)});
  return edges;
}

/// Random edges with self-loops, duplicates and a hub at vertex 0.
inline std::vector<graph::edge> random_edges(std::mt19937& random, std::size_t vertices, std::size_t count) {
  std::uniform_int_distribution<graph::vertex_id> vertex(0, static_cast<graph::vertex_id>(vertices - 1));
  std::vector<graph::edge> edges(count);
  for (graph::edge& e : edges) {
    e = {vertex(random), vertex(random)};
    switch (random() % 8) {
      case 0: e.target = e.source; break;                 // a self-loop
      case 1: e.source = 0; break;                        // the hub
      case 2: e = edges[random() % edges.size()]; break;  // a duplicate, or (0, 0)
      default: break;
    }
  }
  return edges;
}

}  // namespace wyrm::tests
