// SPDX-License-Identifier: Apache-2.0
// Results that follow a graph through its updates: any number of them at one graph.
//
//   incremental_pagerank ranks(g);
//   incremental_triangles triangles(g);
//   algorithms::insert(g, batch, ranks, triangles);   // g.insert(batch), and both are up to date
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "../graph/report.hpp"
#include "../graph/types.hpp"
#include "../graph/view.hpp"

namespace wyrm::algorithms {

enum class change : std::uint8_t { insertion, erasure };

/// Is told of each batch twice, before and after it changes the graph. Not thread-safe.
class follower {
 public:
  virtual ~follower() = default;

  /// The graph is about to take a batch, or to lose it; ids may still turn out to be out of range. Gets all memory
  /// that after() needs. Throws error(out_of_memory), and is as before then.
  virtual void before(graph::graph_view const& g, change what, std::span<graph::edge const> batch) = 0;
  /// The batch has happened.
  virtual void after(graph::graph_view const& g) = 0;
  /// The batch has been refused: the graph is as it was, and so is this.
  virtual void undo(graph::graph_view const& g) = 0;

 protected:
  follower() = default;
  follower(follower const&) = default;
  follower(follower&&) = default;
  follower& operator=(follower const&) = default;
  follower& operator=(follower&&) = default;
};

/// Inserts the edges into the graph, or erases them, as the graph itself does, and brings all followers up to date. On
/// any error all are as before. Each follower says what that costs.
template <class Graph>
graph::update_report update(Graph& g, change what, std::span<graph::edge const> batch,
                            std::span<follower* const> followers) {
  std::size_t told = 0;
  graph::update_report report;
  try {
    for (; told < followers.size(); ++told) followers[told]->before(g.view(), what, batch);
    report = what == change::insertion ? g.insert(batch) : g.erase(batch);
  } catch (...) {
    while (told > 0) followers[--told]->undo(g.view());
    throw;
  }
  for (follower* const f : followers) f->after(g.view());
  return report;
}
template <class Graph, class... Followers>
graph::update_report insert(Graph& g, std::span<graph::edge const> batch, Followers&... followers) {
  std::array<follower*, sizeof...(Followers)> const all{&followers...};
  return update(g, change::insertion, batch, all);
}
template <class Graph, class... Followers>
graph::update_report erase(Graph& g, std::span<graph::edge const> batch, Followers&... followers) {
  std::array<follower*, sizeof...(Followers)> const all{&followers...};
  return update(g, change::erasure, batch, all);
}

}  // namespace wyrm::algorithms
