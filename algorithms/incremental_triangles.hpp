// SPDX-License-Identifier: Apache-2.0
// The triangles of a changing graph. Only the edges of a change are processed: the triangles that have an erased edge
// are counted in the graph before the change, and those that have an inserted edge in the graph after it. No edge is
// erased and inserted by one change, so all other triangles are in both graphs, and this holds for mixed batches, too.
// A triangle with several such edges is counted at the least of them, so it counts once (Makkar, Bader, Green, HiPC
// 2017, use inclusion and exclusion instead).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "../exec/atomic.hpp"
#include "../exec/bulk.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "../exec/tile.hpp"
#include "../graph/maintained_result.hpp"
#include "../graph/types.hpp"
#include "../graph/update_report.hpp"
#include "../graph/view.hpp"
#include "detail/grow.hpp"
#include "triangles.hpp"

namespace wyrm::algorithms {

/// The triangles of an any_graph; see maintain_triangles.
class maintained_triangles : public graph::maintained_result {
 public:
  using graph::maintained_result::maintained_result;
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

/// The keys of the edges that a change inserts, or of those that it erases; none() for other entries and self-loops.
struct key_changes {
  edge_keys key;
  graph::graph_change change;
  bool inserted;
  std::uint64_t* keys;
  WYRM_HD void operator()(std::size_t i) const {
    auto const [u, v] = change.edges[i];
    bool const has = u != v && (inserted ? change.inserts(i) : change.erases(i));
    keys[i] = has ? key(u, v) : key.none();
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

/// The triangles of one changing undirected graph; see graph/maintained_result.hpp. A batch of m edges costs O(m log m
/// + sum over edges (u, v) that change of the smaller degree of both ends, times the logarithms of the greater degree
/// and of m).
template <class Space>
class incremental_triangles final : public maintained_triangles {
 public:
  /// Counts the triangles of the graph. Throws error(bad_argument) for a directed graph.
  incremental_triangles(Space const& space, graph::graph_view const& g, bool per_vertex = false)
      : maintained_triangles("incremental_triangles", g, space.identity()),
        space_(space),
        bulk_(space_),
        erased_(space_),
        inserted_(space_),
        spare_(space_),
        totals_(space_, detail::places_of_total),
        per_vertex_(per_vertex),
        vertices_(g.vertices()),
        corners_(space_, per_vertex ? vertices_ : 0) {
    triangle_counter<Space> counter(space_);
    count_all(g, counter);
  }
  template <class Graph>
  explicit incremental_triangles(Graph const& g, bool per_vertex = false)
      : incremental_triangles(g.space(), g.view(), per_vertex) {}

  [[nodiscard]] std::uint64_t total() const override { return total_; }
  [[nodiscard]] std::vector<std::uint64_t> per_vertex() const override {
    return exec::copy_out(space_, corners_.data(), per_vertex_ ? vertices_ : 0);
  }

 private:
  using key_buffer = exec::buffer<std::uint64_t, Space>;

  void on_before(graph::graph_view const& g, graph::graph_change const& change) override {
    counter_.reset();
    erased_count_ = inserted_count_ = 0;
    if (change.replaces_all) {
      counter_.emplace(space_);
      counter_->reserve(change.vertices, change.max_arcs, per_vertex_);
    }
    if (per_vertex_) detail::grow(space_, corners_, vertices_, change.vertices);
    graph::vertex_id const n = std::max(g.vertices(), change.vertices);
    if (n < 2) return;
    key_.id_bits = static_cast<unsigned>(std::bit_width(n - 1));
    if (change.may_insert()) inserted_count_ = find(change, true, inserted_);
    if (change.may_erase()) erased_count_ = find(change, false, erased_);
    count(g, erased_, erased_count_, true);
  }
  void on_after(graph::graph_view const& g) override {
    std::size_t const before = std::exchange(vertices_, g.vertices());
    if (per_vertex_ && before < vertices_)
      space_.fill(corners_.data() + before, 0, (vertices_ - before) * sizeof(std::uint64_t));
    if (counter_) count_all(g, *counter_);
    counter_.reset();
    count(g, inserted_, inserted_count_, false);
  }
  void on_undo(graph::graph_view const& g) override {
    counter_.reset();
    count(g, erased_, erased_count_, false);
  }

  void count_all(graph::graph_view const& g, triangle_counter<Space>& counter) {
    triangles_result const now = counter.count(g, {.per_vertex = per_vertex_});
    total_ = now.total;
    if (per_vertex_ && vertices_ > 0) exec::copy_in<std::uint64_t>(space_, corners_.data(), now.per_vertex);
  }
  // Writes the keys of the distinct edges that the change inserts, or erases, ascending. Returns their number.
  std::uint32_t find(graph::graph_change const& change, bool inserted, key_buffer& keys) {
    keys.reserve(change.size);
    spare_.reserve(change.size);
    exec::for_each(space_, change.size, detail::key_changes{key_, change, inserted, keys.data()});
    std::uint64_t* const sorted = bulk_.sort(keys.data(), spare_.data(), change.size, 2 * key_.id_bits);
    if (sorted == keys.data()) std::swap(keys, spare_);
    std::size_t const n = bulk_.unique(spare_.data(), keys.data(), change.size);
    bool const has_none = exec::read(space_, keys.data() + n - 1) == key_.none();
    return static_cast<std::uint32_t>(has_none ? n - 1 : n);
  }
  // Adds the triangles that have one of n edges of the graph, or subtracts them.
  void count(graph::graph_view const& g, key_buffer const& keys, std::uint32_t n, bool gone) {
    if (n == 0) return;
    space_.fill(totals_.data(), 0, totals_.bytes());
    exec::for_each_tile<32>(
        space_, n,
        detail::count_changes{g, key_, keys.data(), n, totals_.data(), per_vertex_ ? corners_.data() : nullptr, gone});
    std::array<std::uint64_t, detail::places_of_total> sums;
    space_.copy_out(sums.data(), totals_.data(), sizeof(sums));
    for (std::uint64_t const sum : sums) total_ += sum;
  }

  Space space_;
  typename Space::bulk bulk_;
  detail::edge_keys key_{1};
  key_buffer erased_;  // keys of the edges of the change that is being made
  key_buffer inserted_;
  key_buffer spare_;
  std::uint32_t erased_count_ = 0;
  std::uint32_t inserted_count_ = 0;
  std::optional<triangle_counter<Space>> counter_;  // while a change replaces all edges
  exec::buffer<std::uint64_t, Space> totals_;
  bool per_vertex_;
  std::size_t vertices_;
  exec::buffer<std::uint64_t, Space> corners_;
  std::uint64_t total_ = 0;
};

template <class Graph>
incremental_triangles(Graph const& g, bool per_vertex = false)
    -> incremental_triangles<std::decay_t<decltype(g.space())>>;

/// Maintains the triangles of an any_graph.
[[nodiscard]] std::unique_ptr<maintained_triangles> maintain_triangles(graph::any_graph const& g,
                                                                       bool per_vertex = false);

}  // namespace wyrm::algorithms
