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
    require_no_results("add_vertices");
    exec::buffer<vertex_id, Space> there(g_.space, reused);
    std::vector<exec::buffer<packed_record, Space>> room;
    room.reserve(2);
    g_.for_tables([&](auto& t) { room.push_back(t.room_for(total)); });
    if (reused > 0) exec::copy_in<vertex_id>(g_.space, there.data(), std::span(ids).first(reused));
    // Nothing below fails for lack of memory.
    auto next = room.begin();
    g_.for_tables([&](auto& t) {
      t.grow(total, std::move(*next++));
      exec::for_each(g_.space, reused, mark_vertices{t.records(), there.data(), false});
    });
    g_.space.synchronize();  // the kernels read `there`
    g_.vertices = total;
    g_.absent.pop(reused);
    g_.identity.change_vertices();
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
    if (g_.absent.size() > 0 && !ids.empty()) {
      auto const absent = absent_among(g_.space, g_.out.records(), ids);
      std::size_t kept = 0;
      for (std::size_t i = 0; i < ids.size(); ++i)
        if (absent[i] == 0) ids[kept++] = ids[i];
      r.missing = ids.size() - kept;
      ids.resize(kept);
    }
    if (ids.empty()) return r;
    require_no_results("remove_vertices");
    g_.absent.reserve(ids.size());
    exec::buffer<vertex_id, Space> there(g_.space, ids.size());
    exec::copy_in<vertex_id>(g_.space, there.data(), ids);
    {
      auto const edges = incident_edges(g_.space, g_.view(), there.data(), ids.size());
      update_engine<Space, Allocator, Value, Combine> engine(g_);
      r.edges = engine.template update<update_kind::erase>({.edges = edges.data(), .size = edges.size()}).get().erased;
    }
    g_.for_tables([&](auto& t) {
      exec::for_each(g_.space, ids.size(), mark_vertices{t.records(), there.data(), true});
    });
    g_.space.synchronize();  // the kernels read `there`
    g_.absent.push(ids);
    g_.identity.change_vertices();
    r.removed = ids.size();
    return r;
  }

 private:
  void require_no_results(char const* operation) const {
    if (!g_.results.empty())
      throw error(error_code::bad_argument,
                  std::string(operation) +
                      ": attached results are for the vertices that the graph has now; detach them, "
                      "and construct them again afterwards; nothing was changed");
  }

  state& g_;
};

}  // namespace wyrm::graph::detail
