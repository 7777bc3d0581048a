// SPDX-License-Identifier: Apache-2.0
// Changes of the vertices of a graph. A removal erases the edges of its vertices, and then marks these as absent.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "../exec/error.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "graph_state.hpp"
#include "types.hpp"
#include "update/vertices.hpp"
#include "update_engine.hpp"
#include "update_report.hpp"

namespace wyrm::graph::detail {

/// A reference to the state of a graph. Combine: see dynamic_graph.
template <class Space, class Allocator, class Value, class Combine>
class vertex_changes {
 public:
  using state = graph_state<Space, Allocator, Value>;

  explicit vertex_changes(state& g) : g_(g) {}

  /// See dynamic_graph::add_vertices() and remove_vertices().
  std::vector<vertex_id> add_vertices(std::size_t n) {
    typename Space::guard const current(g_.space);
    g_.require_idle();
    std::size_t const reused = std::min(n, g_.absent.size());
    std::size_t const limit = state::most_vertices(g_.settings.max_vertices);
    if (n - reused > limit - g_.vertices)
      throw error(error_code::bad_argument,
                  std::to_string(n) + " vertices cannot be added: the graph has " + std::to_string(g_.vertices) +
                      " ids, of which " + std::to_string(g_.absent.size()) + " are free, and may have " +
                      std::to_string(limit) +
                      (g_.settings.max_vertices > 0 ? ", its options::max_vertices; nothing was changed"
                                                    : "; nothing was changed"));
    auto const total = static_cast<vertex_id>(g_.vertices + (n - reused));
    std::vector<vertex_id> ids(n);
    g_.absent.next(reused, ids.data());
    std::iota(ids.begin() + static_cast<std::ptrdiff_t>(reused), ids.end(), g_.vertices);
    if (n == 0) return ids;
    // Attached results need the ids, too.
    std::size_t const uploaded = g_.results.empty() ? reused : n;
    exec::buffer<vertex_id, Space> there(g_.space, uploaded);
    std::vector<exec::buffer<packed_record, Space>> room;
    room.reserve(2);
    g_.for_tables([&](auto& t) { room.push_back(t.room_for(total)); });
    if (uploaded > 0) exec::copy_in<vertex_id>(g_.space, there.data(), std::span(ids).first(uploaded));
    g_.results.before_vertices(g_.view(), total, resident_vertices(there.data(), n), resident_vertices(nullptr, 0),
                               resident_edges(nullptr, 0));
    // Nothing below fails for lack of memory.
    auto next = room.begin();
    g_.for_tables([&](auto& t) {
      t.grow(total, std::move(*next++));
      exec::for_each(g_.space, reused, mark_vertices{t.records(), there.data(), false});
    });
    g_.vertices = total;
    g_.absent.pop(reused);
    finish();
    return ids;
  }
  removal_report remove_vertices(std::span<vertex_id const> batch) {
    typename Space::guard const current(g_.space);
    g_.require_idle();
    removal_report r;
    r.requested = batch.size();
    auto const outside = std::ranges::find_if(batch, [&](vertex_id v) { return v >= g_.vertices; });
    if (outside != batch.end())
      throw error(error_code::bad_argument, "entry " + std::to_string(outside - batch.begin()) +
                                                " of the batch is vertex " + std::to_string(*outside) +
                                                ", but the graph has only " + std::to_string(g_.vertices) +
                                                " vertices; nothing was changed");
    std::vector<vertex_id> ids(batch.begin(), batch.end());
    std::ranges::sort(ids);
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    r.duplicates = batch.size() - ids.size();
    if (ids.empty()) return r;
    exec::buffer<vertex_id, Space> there(g_.space, ids.size());
    exec::copy_in<vertex_id>(g_.space, there.data(), ids);
    if (g_.absent.size() > 0) {
      r.missing = drop_absent(ids, there);
      if (ids.empty()) return r;
    }
    g_.collect();
    g_.absent.reserve(ids.size());
    auto const edges = incident_edges(g_.space, g_.view(), there.data(), ids.size());
    resident_edges const gone(edges.data(), edges.size());
    g_.results.before_vertices(g_.view(), g_.vertices, resident_vertices(nullptr, 0),
                               resident_vertices(there.data(), ids.size()), gone);
    update_engine<Space, Allocator, Value, Combine> engine(g_);
    r.edges = g_.or_undo([&] { return engine.erase_for_change(gone); });
    g_.for_tables([&](auto& t) {
      exec::for_each(g_.space, ids.size(), mark_vertices{t.records(), there.data(), true});
    });
    g_.absent.push(ids);
    finish();
    r.removed = ids.size();
    return r;
  }

 private:
  // Removes absent vertices from a list, of which `there` is a copy in memory of the space; both stay ascending.
  // Returns their number.
  std::size_t drop_absent(std::vector<vertex_id>& ids, exec::buffer<vertex_id, Space> const& there) {
    auto const absent = absent_among(g_.space, g_.out.records(), there.data(), ids.size());
    std::size_t kept = 0;
    for (std::size_t i = 0; i < ids.size(); ++i)
      if (absent[i] == 0) ids[kept++] = ids[i];
    std::size_t const dropped = ids.size() - kept;
    ids.resize(kept);
    if (dropped > 0 && kept > 0) exec::copy_in<vertex_id>(g_.space, there.data(), ids);
    return dropped;
  }
  // The last step of a change: the arrays of the change are not needed after it.
  void finish() {
    g_.identity.change();
    g_.results.after(g_.view());
    g_.space.synchronize();
  }

  state& g_;
};

}  // namespace wyrm::graph::detail
