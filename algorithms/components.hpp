// SPDX-License-Identifier: Apache-2.0
// Weakly connected components of a static or a changing graph, by concurrent union-find. Each vertex has a parent with
// a smaller id in the same component, or is a root. The roots of both ends of an edge are hooked, the greater under the
// smaller, by a compare-and-swap; a search for a root shortens its path (Jaiganesh and Burtscher, HPDC 2018). At the
// end the root of each tree is the smallest vertex of its component, in whatever order edges were hooked. No thread
// waits for another.
//
// The first entry of every row is hooked first, and the second one if the first is smaller than the vertex. This
// usually creates one large component. In an undirected graph the rows of its vertices can then be skipped: an edge
// that leaves the component is also in the row of its other end (Sutton, Ben-Nun, Barak, IPDPS 2018). An insertion
// hooks the edges of the batch only. After an erasure the components that lost an edge are recomputed.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "../exec/atomic.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "../exec/tile.hpp"
#include "../graph/any_graph.hpp"
#include "../graph/maintained_result.hpp"
#include "../graph/types.hpp"
#include "../graph/view.hpp"
#include "detail/component_forest.hpp"
#include "detail/frontier.hpp"
#include "detail/grow.hpp"

namespace wyrm::algorithms {

struct components_result {
  std::vector<graph::vertex_id> label;  // of each vertex: the smallest vertex of its component
  std::size_t count = 0;                // without absent vertices
  std::size_t largest = 0;              // vertices in the largest component
};

/// The components of an any_graph; see maintain_components.
class maintained_components : public graph::maintained_result {
 public:
  using graph::maintained_result::maintained_result;
  /// The smallest vertex of the component of each vertex. O(vertices).
  [[nodiscard]] virtual std::vector<graph::vertex_id> label() const = 0;
  [[nodiscard]] virtual std::size_t count() const = 0;
  /// The number of vertices of the largest component; 0 for a graph without vertices.
  [[nodiscard]] virtual std::size_t largest() const = 0;
};

namespace detail {

/// In device memory; the host reads it.
struct component_state {
  std::uint32_t count;
  std::uint32_t largest;
  std::uint32_t cut;     // edges that a batch erases
  std::uint32_t listed;  // items of vertices to hook again
};

/// How a vertex begins. Its parent is its smallest neighbour, if that is smaller than the vertex: this hooks one edge
/// of most vertices without an atomic operation (Jaiganesh and Burtscher). The next entry of the row is hooked then;
/// both are the vertex itself if there is none.
struct first_hooks {
  graph::vertex_id parent;
  graph::vertex_id next;

  WYRM_HD first_hooks(graph::neighbour_list const& row, graph::vertex_id v) {
    bool const has_parent = row.size > 0 && row[0] < v;
    std::uint32_t const at = has_parent ? 1 : 0;
    parent = has_parent ? row[0] : v;
    next = row.size > at ? row[at] : v;
  }
};

/// Begins with all vertices, without a list of them.
struct begin_all_components {
  graph::graph_view g;
  component_forest forest;
  WYRM_HD void operator()(std::size_t i) const {
    auto const v = static_cast<graph::vertex_id>(i);
    forest.parent[v] = first_hooks(g.neighbours(v), v).parent;
  }
};

/// One lane per vertex, in a flat forest: begins anew with each vertex of a component that is recomputed, and adds it
/// to the frontier if its row is not empty. Also writes the entry of its row to hook next, so that its row need not be
/// read again for that, or the vertex itself if there is none.
struct begin_components {
  graph::graph_view g;
  component_forest forest;
  std::uint32_t const* cut;  // a bit per vertex: set for roots of the components to recompute; nullptr: all components
  graph::vertex_id* next;
  frontier to;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    auto const v = static_cast<graph::vertex_id>(i);
    bool const begins = valid && (cut == nullptr || is_cut(forest.parent[v]));
    if (begins) {
      first_hooks const first(g.neighbours(v), v);
      forest.parent[v] = first.parent;
      next[v] = first.next;
    }
    to.add(t, g, v, begins && g.degree(v) > 0);
  }

 private:
  [[nodiscard]] WYRM_HD bool is_cut(graph::vertex_id root) const { return (cut[root / 32] >> root % 32 & 1) != 0; }
};

/// One lane per item: hooks the entry that begin_components has written.
struct hook_next {
  graph::vertex_id const* next;
  component_forest forest;
  template <class Tile>
  WYRM_HD void operator()(Tile const&, frontier_item const* item) const {
    if (item != nullptr && item->part == 0) forest.unite(item->vertex, next[item->vertex]);
  }
};

/// One thread per vertex: the same after begin_all_components, from its row.
struct hook_next_of_row {
  graph::graph_view g;
  component_forest forest;
  WYRM_HD void operator()(std::size_t i) const {
    auto const v = static_cast<graph::vertex_id>(i);
    forest.unite(v, first_hooks(g.neighbours(v), v).next);
  }
};

/// One tile per item: hooks all entries. Skips vertices with a root in a flat forest that is `skipped`.
struct hook_rest {
  graph::graph_view g;
  component_forest forest;
  graph::vertex_id skipped;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    if (forest.load(item->vertex) == skipped) return;
    graph::neighbour_list const row = g.neighbours(item->vertex);
    // All are hooked.
    if (row.size == 1 || (row.size == 2 && row[0] < item->vertex)) return;
    graph::neighbour_list const part = item->part_of(row);
    for (std::uint32_t i = t.rank(); i < part.size; i += Tile::size()) forest.unite(item->vertex, part[i]);
  }
};

/// One tile of a host per vertex: calls f for all items that a list of all rows would have. A host needs no list to
/// distribute the work, and each entry of it would cost two atomic operations.
template <class F>
struct items_of_rows {
  graph::graph_view g;
  F f;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i) const {
    auto const v = static_cast<graph::vertex_id>(i);
    std::uint32_t const parts = g.degree(v) > 0 ? frontier_item::parts(g.degree(v)) : 0;
    for (std::uint32_t part = 0; part < parts; ++part) {
      frontier_item const item{v, part};
      f(t, &item);
    }
  }
};

/// Reads the labels of equally spaced vertices of a flat forest.
struct sample_components {
  static constexpr std::size_t size = 1024;
  component_forest forest;
  std::size_t vertices;
  graph::vertex_id* sample;
  WYRM_HD void operator()(std::size_t i) const { sample[i] = forest.parent[i * vertices / size]; }
};

/// One tile per block of vertices of a flat forest. Each lane counts runs of equal labels, so that it needs one atomic
/// addition per run.
struct count_sizes {
  static constexpr std::size_t block = 1024;
  component_forest forest;
  std::size_t vertices;
  std::uint32_t* sizes;  // of components, at their roots
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t b) const {
    std::size_t const end = (b + 1) * block < vertices ? (b + 1) * block : vertices;
    graph::vertex_id root = no_vertex;
    std::uint32_t run = 0;
    for (std::size_t v = b * block + t.rank(); v < end; v += Tile::size()) {
      if (forest.parent[v] != root) {
        add(root, run);
        root = forest.parent[v];
        run = 0;
      }
      ++run;
    }
    add(root, run);
  }

 private:
  WYRM_HD void add(graph::vertex_id root, std::uint32_t run) const {
    if (run > 0) exec::atomic_ref<std::uint32_t>(sizes[root]).fetch_add(run, exec::relaxed);
  }
};

/// One tile per block of vertices: counts roots, and finds the greatest size.
struct count_roots {
  component_forest forest;
  std::size_t vertices;
  std::uint32_t const* sizes;
  component_state* state;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t b) const {
    constexpr std::size_t block = count_sizes::block;
    std::size_t const end = (b + 1) * block < vertices ? (b + 1) * block : vertices;
    std::uint32_t roots = 0;
    std::uint32_t largest = 0;
    for (std::size_t v = b * block + t.rank(); v < end; v += Tile::size()) {
      if (forest.parent[v] != v) continue;
      ++roots;
      largest = sizes[v] > largest ? sizes[v] : largest;
    }
    roots = exec::sum(t, roots);
    if (t.rank() == 0 && roots > 0) exec::atomic_ref<std::uint32_t>(state->count).fetch_add(roots, exec::relaxed);
    if (largest > exec::load_recent(state->largest))
      exec::atomic_ref<std::uint32_t>(state->largest).fetch_max(largest, exec::relaxed);
  }
};

/// Counts the components of a flat forest in memory of the space, and the vertices of the largest one; adds to
/// state->count and state->largest, which are 0 before. sizes: n numbers; receives the sizes of components.
template <class Space>
void count_components(Space const& space, component_forest const& forest, std::size_t n, std::uint32_t* sizes,
                      component_state* state) {
  std::size_t const blocks = (n + count_sizes::block - 1) / count_sizes::block;
  space.fill(sizes, 0, n * sizeof(std::uint32_t));
  exec::for_each_tile<32>(space, blocks, count_sizes{forest, n, sizes});
  exec::for_each_tile<32>(space, blocks, count_roots{forest, n, sizes, state});
}

/// One lane per entry of a change: hooks an inserted edge, and stores the root that got a parent.
struct hook_edges {
  component_forest forest;
  graph::graph_change change;
  graph::vertex_id* hooked;
  component_state* state;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    bool const inserts = valid && change.inserts(i);
    graph::vertex_id const root = inserts ? forest.unite(change.edges[i].source, change.edges[i].target) : no_vertex;
    if (valid) hooked[i] = root;
    auto const n = static_cast<std::uint32_t>(cuda::std::popcount(t.ballot(root != no_vertex)));
    if (t.rank() == 0 && n > 0) exec::atomic_ref<std::uint32_t>(state->count).fetch_sub(n, exec::relaxed);
  }
};

/// Adds the size of each root that got a parent to the size of its new root. The last sum at a root is the size of its
/// component.
struct move_sizes {
  component_forest forest;
  graph::vertex_id const* hooked;
  std::uint32_t* sizes;
  component_state* state;
  WYRM_HD void operator()(std::size_t i) const {
    if (hooked[i] == no_vertex) return;
    std::uint32_t const own = sizes[hooked[i]];
    std::uint32_t const all =
        own + exec::atomic_ref<std::uint32_t>(sizes[forest.find(hooked[i])]).fetch_add(own, exec::relaxed);
    if (all > exec::load_recent(state->largest))
      exec::atomic_ref<std::uint32_t>(state->largest).fetch_max(all, exec::relaxed);
  }
};

/// One lane per new vertex, from `first` on: a component of its own.
struct add_singletons {
  component_forest forest;
  graph::vertex_id first;
  std::uint32_t* sizes;
  component_state* state;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    graph::vertex_id const v = first + static_cast<graph::vertex_id>(i);
    if (valid) {
      forest.parent[v] = v;
      sizes[v] = 1;
    }
    auto const n = static_cast<std::uint32_t>(cuda::std::popcount(t.ballot(valid)));
    if (t.rank() == 0 && n > 0) exec::atomic_ref<std::uint32_t>(state->count).fetch_add(n, exec::relaxed);
    if (i == 0) exec::atomic_ref<std::uint32_t>(state->largest).fetch_max(1u, exec::relaxed);
  }
};

/// One lane per entry of a change, before it: the root of an edge that is erased and no self-loop.
struct find_cuts {
  component_forest forest;
  graph::graph_change change;
  graph::vertex_id* roots;
  component_state* state;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    bool const erased = valid && change.erases(i) && change.edges[i].source != change.edges[i].target;
    if (valid) roots[i] = erased ? forest.find(change.edges[i].source) : no_vertex;
    auto const n = static_cast<std::uint32_t>(cuda::std::popcount(t.ballot(erased)));
    if (t.rank() == 0 && n > 0) exec::atomic_ref<std::uint32_t>(state->cut).fetch_add(n, exec::relaxed);
  }
};

struct mark_cuts {
  graph::vertex_id const* roots;
  std::uint32_t* cut;
  WYRM_HD void operator()(std::size_t i) const {
    graph::vertex_id const root = roots[i];
    if (root != no_vertex) exec::atomic_ref<std::uint32_t>(cut[root / 32]).fetch_or(1u << root % 32, exec::relaxed);
  }
};

}  // namespace detail

/// The components of one changing graph; see graph/maintained_result.hpp. Directions of arcs are ignored. About 17
/// bytes per vertex and 1/32 byte per arc. An insertion of m edges costs O(m) and the paths to their roots, independent
/// of the size of the graph. An erasure that removes at least one edge costs passes over all vertices, and the rows of
/// the components that lost an edge; where one component contains nearly all vertices, this is about the cost of a full
/// run.
template <class Space>
class incremental_components final : public maintained_components {
 public:
  /// Computes the components of the graph. O(vertices + arcs), and the paths to roots.
  incremental_components(Space const& space, graph::graph_view const& g)
      : maintained_components("incremental_components", g, space.identity()),
        space_(space),
        vertices_(g.vertices()),
        absent_(g.vertices() - g.present_vertices()),
        parent_(space_, vertices_),
        sizes_(space_, vertices_),
        marks_(space_, 2 * words(vertices_)),
        items_(space_),
        roots_(space_),
        sample_(space_, detail::sample_components::size),
        state_(space_, 1) {
    space_.fill(state_.data(), 0, state_.bytes());
    if (vertices_ == 0) return;
    reserve(vertices_, g.arcs(), true);
    make(g, nullptr);
  }
  template <class Graph>
  explicit incremental_components(Graph const& g) : incremental_components(g.space(), g.view()) {}

  [[nodiscard]] std::vector<graph::vertex_id> label() const override {
    flatten();
    return exec::copy_out(space_, parent_.data(), vertices_);
  }
  [[nodiscard]] std::size_t count() const override { return vertices_ == 0 ? 0 : state().count - absent_; }
  [[nodiscard]] std::size_t largest() const override { return absent_ == vertices_ ? 0 : state().largest; }

 private:
  void on_before(graph::graph_view const&, graph::graph_change const& change) override {
    std::size_t const n = std::max<std::size_t>(vertices_, change.vertices);
    anew_ = change.replaces_all || vertices_ == 0;
    change_ = change;
    if (n == 0) return;
    roots_.reserve(change.size);
    if (anew_ || change.may_erase()) reserve(n, change.max_arcs, anew_);
    detail::grow(space_, parent_, vertices_, n);
    detail::grow(space_, sizes_, vertices_, n);
    marks_.reserve(2 * words(n));
    if (!change.may_erase()) return;
    space_.fill(&state_.data()->cut, 0, sizeof(detail::component_state::cut));
    exec::for_each_lane<32>(space_, change.size, detail::find_cuts{forest(), change, roots_.data(), state_.data()});
  }
  // The components that lost an edge are recomputed in the graph after the change. An inserted edge that links such a
  // component and another one may be in a row that is not read then, so all inserted edges are hooked in any case.
  void on_after(graph::graph_view const& g) override {
    std::size_t const before = std::exchange(vertices_, g.vertices());
    absent_ = g.vertices() - g.present_vertices();
    if (vertices_ == 0) return;
    if (anew_) return make(g, nullptr);
    if (before < vertices_)
      exec::for_each_lane<32>(
          space_, vertices_ - before,
          detail::add_singletons{forest(), static_cast<graph::vertex_id>(before), sizes_.data(), state_.data()});
    if (change_.may_erase() && state().cut > 0) {
      std::uint32_t* const cut = marks_.data() + words(vertices_);
      space_.fill(cut, 0, words(vertices_) * sizeof(std::uint32_t));
      exec::for_each(space_, change_.size, detail::mark_cuts{roots_.data(), cut});
      flatten();
      make(g, cut);
    }
    if (!change_.may_insert()) return;
    exec::for_each_lane<32>(space_, change_.size, detail::hook_edges{forest(), change_, roots_.data(), state_.data()});
    exec::for_each(space_, change_.size, detail::move_sizes{forest(), roots_.data(), sizes_.data(), state_.data()});
  }
  void on_undo(graph::graph_view const&) override {}

  [[nodiscard]] static std::size_t words(std::size_t vertices) { return (vertices + 31) / 32; }
  [[nodiscard]] detail::component_forest forest() const { return detail::component_forest{parent_.data()}; }
  [[nodiscard]] detail::component_state state() const { return exec::read(space_, state_.data()); }
  void flatten() const { exec::for_each(space_, vertices_, detail::flatten_components{forest()}); }
  // Whether rows are hooked without a list of them.
  [[nodiscard]] static bool is_unlisted(bool all) { return !exec::has_tiles<Space> && all; }
  void reserve(std::size_t n, std::uint64_t arcs, bool all) {
    if (!is_unlisted(all)) items_.reserve(detail::frontier::capacity(n, arcs));
  }
  // Calls f for all items of the rows of all vertices, or of those that are in the list.
  template <unsigned W, class F>
  void for_each_row(graph::graph_view const& g, detail::frontier const& listed, bool all, F const& f) const {
    if (is_unlisted(all))
      exec::for_each_tile<W>(space_, vertices_, detail::items_of_rows<F>{g, f});
    else
      detail::for_each_item<W>(space_, listed, f);
  }

  // Recomputes the components with a bit at their roots in `cut`, or all components if `cut` is nullptr, and counts all
  // components. The forest has to be flat.
  void make(graph::graph_view const& g, std::uint32_t const* cut) {
    bool const all = cut == nullptr;
    detail::frontier const listed{marks_.data(), items_.data(), &state_.data()->listed};
    space_.fill(state_.data(), 0, state_.bytes());
    if (is_unlisted(all)) {
      exec::for_each(space_, vertices_, detail::begin_all_components{g, forest()});
      exec::for_each(space_, vertices_, detail::hook_next_of_row{g, forest()});
    } else {
      space_.fill(marks_.data(), 0, words(vertices_) * sizeof(std::uint32_t));
      // Sizes are counted at the end.
      exec::for_each_lane<32>(space_, vertices_, detail::begin_components{g, forest(), cut, sizes_.data(), listed});
      detail::for_each_item<32>(space_, listed, detail::hook_next{sizes_.data(), forest()});
    }
    flatten();
    for_each_row<8>(g, listed, all, detail::hook_rest{g, forest(), g.directed() ? detail::no_vertex : most_frequent()});
    flatten();
    detail::count_components(space_, forest(), vertices_, sizes_.data(), state_.data());
  }
  // The most frequent label in a sample.
  [[nodiscard]] graph::vertex_id most_frequent() const {
    exec::for_each(space_, sample_.size(), detail::sample_components{forest(), vertices_, sample_.data()});
    std::array<graph::vertex_id, detail::sample_components::size> sample;
    space_.copy_out(sample.data(), sample_.data(), sizeof(sample));
    std::sort(sample.begin(), sample.end());
    std::pair<std::ptrdiff_t, graph::vertex_id> best{0, detail::no_vertex};
    for (auto first = sample.begin(); first != sample.end();) {
      auto const last = std::upper_bound(first, sample.end(), *first);
      best = std::max(best, {last - first, *first});
      first = last;
    }
    return best.second;
  }

  Space space_;
  std::size_t vertices_;
  std::size_t absent_;
  exec::buffer<graph::vertex_id, Space> parent_;
  exec::buffer<std::uint32_t, Space> sizes_;  // of components, at their roots
  exec::buffer<std::uint32_t, Space> marks_;  // of the list, and of roots of components that lose an edge
  exec::buffer<detail::frontier_item, Space> items_;
  exec::buffer<graph::vertex_id, Space> roots_;  // of each entry of a change
  exec::buffer<graph::vertex_id, Space> sample_;
  exec::buffer<detail::component_state, Space> state_;
  graph::graph_change change_;  // the one that is being made
  bool anew_ = false;           // whether all components are computed anew after it
};

template <class Graph>
explicit incremental_components(Graph const& g) -> incremental_components<std::decay_t<decltype(g.space())>>;

/// The components of a graph. O(vertices + arcs), and the paths to roots; scratch of about 17 bytes per vertex and 1/32
/// byte per arc.
template <class Space>
components_result components(Space const& space, graph::graph_view const& g) {
  incremental_components<Space> const all(space, g);
  return {all.label(), all.count(), all.largest()};
}

components_result components(graph::any_graph const& g);

/// Maintains the components of an any_graph.
[[nodiscard]] std::unique_ptr<maintained_components> maintain_components(graph::any_graph const& g);

}  // namespace wyrm::algorithms
