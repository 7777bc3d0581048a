// SPDX-License-Identifier: Apache-2.0
// Union-find by many threads at the same time (Jaiganesh and Burtscher, HPDC 2018): each vertex has a parent with a
// smaller id in the same component, or is a root.
#pragma once

#include <cstddef>

#include "../../exec/atomic.hpp"
#include "../../exec/config.hpp"
#include "../../graph/types.hpp"

namespace wyrm::algorithms::detail {

using graph::no_vertex;

/// A parent that is read may be out of date. It is then another vertex on the path to the root, or a former root; the
/// compare-and-swap in `unite` fails in the latter case. All operations are relaxed, because no other data are
/// published through these values.
struct component_forest {
  graph::vertex_id* parent;  // of each vertex: the vertex itself if it is a root, else a smaller one

  [[nodiscard]] WYRM_HD graph::vertex_id find(graph::vertex_id v) const {
    graph::vertex_id above = load(v);
    graph::vertex_id next = exec::load_recent(parent[above]);  // many threads read the root of a large component
    while (next != above) {
      store(v, next);
      v = above;
      above = next;
      next = load(above);
    }
    return above;
  }
  /// Hooks the root of one of the vertices under the root of the other. Returns the root that got a parent, or
  /// no_vertex if both were in one tree.
  WYRM_HD graph::vertex_id unite(graph::vertex_id u, graph::vertex_id v) const {
    u = find(u);
    v = find(v);
    while (u != v) {
      graph::vertex_id const low = u < v ? u : v;
      graph::vertex_id const high = u < v ? v : u;
      graph::vertex_id above = high;
      if (exec::atomic_ref<graph::vertex_id>(parent[high])
              .compare_exchange_strong(above, low, exec::relaxed, exec::relaxed))
        return high;
      u = find(above);
      v = low;
    }
    return no_vertex;
  }
  /// Sets the parent of v to its root, while no thread hooks. The thread writes parent[v] only: path shortening as in
  /// `find` could overwrite parents of other vertices, which other threads set, with older values. It writes each step,
  /// so that threads which flatten the same long path shorten it for each other.
  WYRM_HD void flatten(graph::vertex_id v) const {
    graph::vertex_id above = load(v);
    for (graph::vertex_id next = load(above); next != above; next = load(above)) {
      store(v, next);
      above = next;
    }
  }
  [[nodiscard]] WYRM_HD graph::vertex_id load(graph::vertex_id v) const {
    return exec::atomic_ref<graph::vertex_id>(parent[v]).load(exec::relaxed);
  }

 private:
  WYRM_HD void store(graph::vertex_id v, graph::vertex_id above) const {
    exec::atomic_ref<graph::vertex_id>(parent[v]).store(above, exec::relaxed);
  }
};

struct flatten_components {
  component_forest forest;
  WYRM_HD void operator()(std::size_t v) const { forest.flatten(static_cast<graph::vertex_id>(v)); }
};

}  // namespace wyrm::algorithms::detail
