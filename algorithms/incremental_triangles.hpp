// SPDX-License-Identifier: Apache-2.0
// The triangles of a changing graph. Only the edges of a batch are processed: the triangles that they complete are
// counted after an insertion, and the triangles that they break up before an erasure, in the graph that contains these
// edges. A triangle with several edges of the batch is counted at the least of them, so it counts once (Makkar, Bader,
// Green, HiPC 2017, use inclusion and exclusion instead).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "../exec/atomic.hpp"
#include "../exec/bulk.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "../exec/tile.hpp"
#include "../graph/types.hpp"
#include "../graph/update_report.hpp"
#include "../graph/view.hpp"
#include "maintained_result.hpp"
#include "triangles.hpp"

namespace wyrm::algorithms {

/// The triangles of an any_graph; see maintain_triangles.
class maintained_triangles : public maintained_result {
 public:
  using maintained_result::maintained_result;
  [[nodiscard]] virtual std::uint64_t total() const = 0;
  /// The number of triangles of each vertex; empty unless requested.
  [[nodiscard]] virtual std::vector<std::uint64_t> per_vertex() const = 0;
};

namespace detail {

/// Edges as integers, with the smaller id in the upper bits.
struct edge_keys {
  unsigned id_bits;
  [[nodiscard]] WYRM_HD std::uint64_t operator()(graph::vertex_id u, graph::vertex_id v) const {
    return u < v ? std::uint64_t{u} << id_bits | v : std::uint64_t{v} << id_bits | u;
  }
  /// Stands for "no edge"; greater than the keys of all edges, because it would be the key of a self-loop.
  [[nodiscard]] WYRM_HD std::uint64_t none() const { return ~std::uint64_t{0} >> (64 - 2 * id_bits); }
  [[nodiscard]] WYRM_HD graph::vertex_id first(std::uint64_t key) const {
    return static_cast<graph::vertex_id>(key >> id_bits);
  }
  [[nodiscard]] WYRM_HD graph::vertex_id second(std::uint64_t key) const {
    return static_cast<graph::vertex_id>(key & ((std::uint64_t{1} << id_bits) - 1));
  }
};

/// The keys of the edges that are in the graph, or that are not, depending on `present`; none() for all other edges,
/// for self-loops, and for ids out of range.
struct key_changes {
  graph::graph_view g;
  edge_keys key;
  graph::edge const* edges;
  bool present;
  std::uint64_t* keys;
  WYRM_HD void operator()(std::size_t i) const {
    auto const [u, v] = edges[i];
    keys[i] = key.none();
    if (u == v || u >= g.vertices() || v >= g.vertices()) return;
    graph::neighbour_list const row = g.degree(u) < g.degree(v) ? g.neighbours(u) : g.neighbours(v);
    graph::vertex_id const other = g.degree(u) < g.degree(v) ? v : u;
    if (graph::contains(row, other) == present) keys[i] = key(u, v);
  }
};

/// One tile per edge that changes: counts the triangles in which it is the least edge that changes.
struct count_changes {
  graph::graph_view g;  // contains all edges that change
  edge_keys key;
  std::uint64_t const* keys;  // ascending
  std::uint32_t n;
  std::uint64_t* totals;
  std::uint64_t* per_vertex;  // or nullptr
  bool gone;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i) const {
    std::uint64_t const own = keys[i];
    graph::vertex_id const u = key.first(own);
    graph::vertex_id const v = key.second(own);
    bool const swapped = g.degree(u) > g.degree(v);
    graph::neighbour_list const few = g.neighbours(swapped ? v : u);
    graph::neighbour_list const many = g.neighbours(swapped ? u : v);
    std::uint64_t found = 0;
    for (std::uint32_t k = t.rank(); k < few.size; k += Tile::size()) {
      graph::vertex_id const w = few[k];
      if (w == u || w == v) continue;  // a self-loop
      if (!graph::contains(many, w) || changes_before(key(u, w), own) || changes_before(key(v, w), own)) continue;
      ++found;
      if (per_vertex != nullptr) change(per_vertex[w], 1);
    }
    found = exec::sum(t, found);
    if (t.rank() != 0 || found == 0) return;
    change(totals[exec::thread_number(t) / 32 % places_of_total], found);
    if (per_vertex == nullptr) return;
    change(per_vertex[u], found);
    change(per_vertex[v], found);
  }

 private:
  [[nodiscard]] WYRM_HD bool changes_before(std::uint64_t other, std::uint64_t own) const {
    if (other >= own) return false;
    // The search ends in the array: the key `own` is not less.
    return keys[graph::lower_bound(keys, n, other)] == other;
  }
  WYRM_HD void change(std::uint64_t& counter, std::uint64_t by) const {
    exec::atomic_ref<std::uint64_t>(counter).fetch_add(gone ? 0 - by : by, exec::relaxed);
  }
};

}  // namespace detail

/// The triangles of one changing undirected graph; see maintained_result.hpp. A batch of m edges costs O(m log m + sum
/// over edges (u, v) that change of the smaller degree of both ends, times the logarithms of the greater degree and of
/// m).
template <class Space>
class incremental_triangles final : public maintained_triangles {
 public:
  /// Counts the triangles of the graph. Throws error(bad_argument) for a directed graph.
  incremental_triangles(Space const& space, graph::graph_view const& g, bool per_vertex = false)
      : maintained_triangles("incremental_triangles", g),
        space_(space),
        bulk_(space_),
        edges_(space_),
        keys_(space_),
        spare_(space_),
        totals_(space_, detail::places_of_total),
        corners_(space_, per_vertex ? g.vertices() : 0) {
    triangles_result const now = triangles(space_, g, {.per_vertex = per_vertex});
    total_ = now.total;
    if (per_vertex) exec::copy_in<std::uint64_t>(space_, corners_.data(), now.per_vertex);
  }
  template <class Graph>
  explicit incremental_triangles(Graph const& g, bool per_vertex = false)
      : incremental_triangles(g.space(), g.view(), per_vertex) {}

  [[nodiscard]] std::uint64_t total() const override { return total_; }
  [[nodiscard]] std::vector<std::uint64_t> per_vertex() const override {
    return exec::copy_out(space_, corners_.data(), corners_.size());
  }

 private:
  void on_before(graph::graph_view const& g, change what, std::span<graph::edge const> batch) override {
    what_ = what;
    changes_ = find(g, batch);
    if (what == change::erasure) count(g, true);
  }
  void on_after(graph::graph_view const& g) override {
    if (what_ == change::insertion) count(g, false);
  }
  void on_undo(graph::graph_view const& g) override {
    if (what_ == change::erasure) count(g, false);
  }

  // Finds the distinct edges of a batch that will change the graph. Their keys are in keys_ then; returns their number.
  std::uint32_t find(graph::graph_view const& g, std::span<graph::edge const> batch) {
    if (batch.empty() || g.vertices() < 2) return 0;
    key_.id_bits = static_cast<unsigned>(std::bit_width(g.vertices() - 1));
    edges_.reserve(batch.size());
    keys_.reserve(batch.size());
    spare_.reserve(batch.size());
    exec::copy_in<graph::edge>(space_, edges_.data(), batch);
    exec::for_each(space_, batch.size(),
                   detail::key_changes{g, key_, edges_.data(), what_ == change::erasure, keys_.data()});
    std::uint64_t* const sorted = bulk_.sort(keys_.data(), spare_.data(), batch.size(), 2 * key_.id_bits);
    if (sorted == keys_.data()) std::swap(keys_, spare_);
    std::size_t const n = bulk_.unique(spare_.data(), keys_.data(), batch.size());
    bool const has_none = exec::read(space_, keys_.data() + n - 1) == key_.none();
    return static_cast<std::uint32_t>(has_none ? n - 1 : n);
  }
  void count(graph::graph_view const& g, bool gone) {
    if (changes_ == 0) return;
    space_.fill(totals_.data(), 0, totals_.bytes());
    exec::for_each_tile<32>(space_, changes_,
                            detail::count_changes{g, key_, keys_.data(), changes_, totals_.data(),
                                                  corners_.size() > 0 ? corners_.data() : nullptr, gone});
    std::array<std::uint64_t, detail::places_of_total> sums;
    space_.copy_out(sums.data(), totals_.data(), sizeof(sums));
    for (std::uint64_t const sum : sums) total_ += sum;
  }

  Space space_;
  typename Space::bulk bulk_;
  detail::edge_keys key_{1};
  exec::buffer<graph::edge, Space> edges_;
  exec::buffer<std::uint64_t, Space> keys_;
  exec::buffer<std::uint64_t, Space> spare_;
  exec::buffer<std::uint64_t, Space> totals_;
  exec::buffer<std::uint64_t, Space> corners_;
  std::uint64_t total_ = 0;
  std::uint32_t changes_ = 0;  // of the batch that is being applied
  change what_ = change::insertion;
};

template <class Graph>
incremental_triangles(Graph const& g, bool per_vertex = false)
    -> incremental_triangles<std::decay_t<decltype(g.space())>>;

/// Maintains the triangles of an any_graph.
[[nodiscard]] std::unique_ptr<maintained_triangles> maintain_triangles(graph::any_graph const& g,
                                                                       bool per_vertex = false);

}  // namespace wyrm::algorithms
