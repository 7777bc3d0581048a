// SPDX-License-Identifier: Apache-2.0
// The work on the device that keeps distances from a source, and a tree of shortest paths, up to date after a change of
// the graph. The method is that of Ramalingam and Reps (J. Algorithms 1996) with the tree of parents of Khanda et al.
// ("A Parallel Algorithm Template for Updating Single-Source Shortest Paths in Large-Scale Dynamic Networks", TPDS
// 2022):
//
// 1. A vertex whose arc from its parent is erased becomes a candidate. A candidate gets another parent if there is a
//    support: a tight arc (the distance of u plus the length is exactly the distance of v) from a vertex u that is
//    nearer to the source and has a parent. Otherwise the candidate is affected, and its children become candidates.
// 2. Affected vertices lose their distances, and pull new ones from their in-neighbours.
// 3. Inserted arcs are relaxed, and then the arcs of all vertices whose distances decrease, in rounds.
// 4. The vertices whose distances changed, which are listed, get parents: a vertex with a tight arc that is nearer; or,
//    if there is none, a vertex at the same distance that has a parent already. The second case occurs if the length of
//    an arc is zero, or so small that it is lost by rounding.
//
// The parents never form a cycle. All distances in such a cycle would be equal. A support is nearer, so no parent of
// step 1 is in the cycle. In step 4, a vertex gets a parent at the same distance once, after that parent got its own;
// so the cycle is not made of listed vertices only. It cannot pass from a vertex that is not listed to a listed parent
// at the same distance: the children of affected vertices are candidates, and a distance that decreased is less than
// those of the children that kept theirs.
//
// The distances are those of a full run, bit for bit: each is the length of a path, and no arc decreases one; see
// sssp.hpp. A vertex that is affected without need only costs time. Which vertices are affected, and which parents
// vertices get, may depend on the order of execution; distances do not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda/std/bit>

#include "../../exec/atomic.hpp"
#include "../../exec/bits.hpp"
#include "../../exec/tile.hpp"
#include "../../graph/graph_change.hpp"
#include "../../graph/types.hpp"
#include "../../graph/view.hpp"
#include "frontier.hpp"
#include "near_far.hpp"

namespace wyrm::algorithms::detail {

/// All arcs have the length 1; distances are numbers of arcs.
struct hop_lengths {
  using distance = std::uint32_t;
  static constexpr distance infinite = ~distance{0};
  static constexpr bool weighted = false;
  struct row {
    [[nodiscard]] WYRM_HD static bool is_valid(std::uint32_t) { return true; }
    [[nodiscard]] WYRM_HD static distance through(distance d, std::uint32_t) { return d == infinite ? d : d + 1; }
  };
  [[nodiscard]] WYRM_HD static row of(graph::packed_record const&) { return {}; }
};

/// Lengths are weights, see length_row; distances are bits of doubles.
struct weight_lengths {
  using distance = std::uint64_t;
  static constexpr distance infinite = infinite_bits;
  static constexpr bool weighted = true;
  struct row {
    length_row lengths;
    /// Whether the length of entry i is finite, and not negative.
    [[nodiscard]] WYRM_HD bool is_valid(std::uint32_t i) const {
      return lengths[i] >= 0 && lengths[i] <= 0x1.fffffffffffffp1023;
    }
    /// The distance by entry i from a vertex at distance d; infinite if its length is not valid.
    [[nodiscard]] WYRM_HD distance through(distance d, std::uint32_t i) const {
      double const length = lengths[i];
      return d != infinite && length >= 0 ? bits_of(distance_of(d) + length) : infinite;
    }
  };
  graph::number_type type;
  [[nodiscard]] WYRM_HD row of(graph::packed_record const& record) const { return {length_row(record, type)}; }
};

/// In device memory; the host reads it.
struct distance_state {
  std::uint32_t changed;  // items of the list of vertices that change
  std::uint32_t reached;  // vertices
  std::uint32_t cut;      // whether an arc is gone that ended a shortest path, where there is no tree
  std::uint32_t invalid;  // whether an arc has a length that is negative or not finite
};

/// The arcs of a change, in both directions if the graph is undirected. An arc that may get another length counts as
/// erased and inserted.
class changed_arcs {
 public:
  changed_arcs() = default;
  changed_arcs(graph::graph_change const& change, bool directed, bool with_values)
      : change_(change), directions_(directed ? 1 : 2), revalued_(with_values ? change.revalued_size : 0) {}
  [[nodiscard]] std::size_t size() const { return (change_.size + revalued_) * directions_; }
  [[nodiscard]] bool may_insert() const { return change_.may_insert() || revalued_ > 0; }
  [[nodiscard]] bool may_erase() const { return change_.may_erase() || revalued_ > 0; }
  [[nodiscard]] WYRM_HD bool inserts(std::size_t i) const {
    std::size_t const entry = i / directions_;
    return entry < change_.size ? change_.inserts(entry) : is_revalued(entry);
  }
  [[nodiscard]] WYRM_HD bool erases(std::size_t i) const {
    std::size_t const entry = i / directions_;
    return entry < change_.size ? change_.erases(entry) : is_revalued(entry);
  }
  [[nodiscard]] WYRM_HD graph::edge operator[](std::size_t i) const {
    graph::edge const e = edge_of(i / directions_);
    return i % directions_ == 0 ? e : graph::edge{e.target, e.source};
  }

 private:
  [[nodiscard]] WYRM_HD graph::edge edge_of(std::size_t entry) const {
    return entry < change_.size ? change_.edges[entry] : change_.revalued[entry - change_.size];
  }
  [[nodiscard]] WYRM_HD bool is_revalued(std::size_t entry) const { return edge_of(entry).source != graph::no_vertex; }

  graph::graph_change change_;
  unsigned directions_ = 1;
  std::size_t revalued_ = 0;
};

/// A part of a row, and the lengths of its arcs.
template <class Lengths>
struct row_part_with_lengths {
  graph::neighbour_list neighbours;
  std::uint32_t begin;  // the position of the part in the row
  typename Lengths::row lengths;

  [[nodiscard]] WYRM_HD std::uint32_t size() const { return neighbours.size; }
  [[nodiscard]] WYRM_HD graph::vertex_id operator[](std::uint32_t i) const { return neighbours[i]; }
  /// The distance by arc i of the part from a vertex at distance d.
  [[nodiscard]] WYRM_HD typename Lengths::distance through(typename Lengths::distance d, std::uint32_t i) const {
    return lengths.through(d, begin + i);
  }
};

/// Distances and parents, and the vertices that change. Trivially copyable, for kernels.
template <class Lengths>
struct distance_tree {
  using distance = typename Lengths::distance;
  static constexpr distance infinite = Lengths::infinite;

  graph::graph_view g;
  Lengths lengths;
  graph::vertex_id source;
  distance* distances;
  graph::vertex_id* parents;  // the source for the source, no_vertex for unreached vertices; nullptr: there is no tree
  frontier changed;           // each vertex once, in parts of its in-neighbours
  std::uint32_t most;         // if there are more items in `changed`, a full run follows, and kernels do nothing
  distance_state* state;

  [[nodiscard]] WYRM_HD bool is_given_up() const { return exec::load_recent(*changed.size) > most; }
  [[nodiscard]] WYRM_HD graph::vertex_id parent(graph::vertex_id v) const { return exec::load_recent(parents[v]); }
  [[nodiscard]] WYRM_HD distance at(graph::vertex_id v) const { return exec::load_recent(distances[v]); }
  /// Sets a parent of v, if it is `from`. Returns whether it was.
  [[nodiscard]] WYRM_HD bool replace_parent(graph::vertex_id v, graph::vertex_id from, graph::vertex_id to) const {
    return parent(v) == from &&
           exec::atomic_ref<graph::vertex_id>(parents[v]).compare_exchange_strong(from, to, exec::relaxed);
  }
  WYRM_HD void set_parent(graph::vertex_id v, graph::vertex_id to) const {
    exec::atomic_ref<graph::vertex_id>(parents[v]).store(to, exec::relaxed);
  }
  [[nodiscard]] WYRM_HD std::uint32_t in_degree(graph::vertex_id v) const {
    return parents != nullptr ? g.in_records()[v].degree : 0;
  }
  /// The parts of a candidate: its in-neighbours and its out-neighbours are divided by the same number.
  [[nodiscard]] WYRM_HD std::uint32_t parts_of_candidate(graph::vertex_id v) const {
    std::uint32_t const in = in_degree(v);
    std::uint32_t const out = g.degree(v);
    return frontier_item::parts(in > out ? in : out);
  }
  /// Lowers the distance of the vertex of each lane (to infinite: no vertex), and adds it to `next`, and to the list of
  /// changed vertices, if its distance is less then; it has no parent then. Collective.
  template <class Tile>
  WYRM_HD void lower(Tile const& t, graph::vertex_id v, distance to, frontier const& next) const {
    graph::vertex_id const vertices[] = {v};
    distance const distances_to[] = {to};
    lower(t, vertices, distances_to, next);
  }
  /// The same for N vertices of each lane. All are waited for together.
  template <class Tile, unsigned N>
  WYRM_HD void lower(Tile const& t, graph::vertex_id const (&v)[N], distance const (&to)[N],
                     frontier const& next) const {
    distance before[N];
    for (unsigned k = 0; k < N; ++k) before[k] = to[k] != infinite ? at(v[k]) : 0;
    for (unsigned k = 0; k < N; ++k)
      before[k] = to[k] < before[k] ? exec::atomic_ref<distance>(distances[v[k]]).fetch_min(to[k], exec::relaxed) : 0;
    bool is_less[N];
    bool has_any = false;
    std::uint32_t now_reached = 0;
    for (unsigned k = 0; k < N; ++k) {
      is_less[k] = to[k] < before[k];
      has_any = has_any || is_less[k];
      now_reached += is_less[k] && before[k] == infinite ? 1 : 0;
    }
    if (!t.any(has_any)) return;
    if (t.any(now_reached > 0)) {
      now_reached = exec::sum(t, now_reached);
      if (t.rank() == 0) exec::atomic_ref<std::uint32_t>(state->reached).fetch_add(now_reached, exec::relaxed);
    }
    std::uint32_t in_parts[N];
    std::uint32_t out_parts[N];
    for (unsigned k = 0; k < N; ++k) in_parts[k] = is_less[k] ? frontier_item::parts(in_degree(v[k])) : 0;
    for (unsigned k = 0; k < N; ++k) out_parts[k] = is_less[k] ? frontier_item::parts(g.degree(v[k])) : 0;
    bool is_changed[N];
    bool is_next[N];
    for (unsigned k = 0; k < N; ++k) is_changed[k] = is_less[k] && changed.set_mark(v[k]);
    for (unsigned k = 0; k < N; ++k) is_next[k] = is_less[k] && next.set_mark(v[k]);
    for (unsigned k = 0; k < N; ++k) {
      if (is_changed[k] && parents != nullptr) set_parent(v[k], graph::no_vertex);
      if (!is_changed[k]) in_parts[k] = 0;
      if (!is_next[k]) out_parts[k] = 0;
    }
    frontier::room const in_changed = changed.reserve(t, in_parts);
    frontier::room const in_next = next.reserve(t, out_parts);
    changed.write(t, in_changed, v, in_parts);
    next.write(t, in_next, v, out_parts);
  }
  /// The position of the arc in the row of its source, which contains it; 0 if no length depends on it.
  [[nodiscard]] WYRM_HD std::uint32_t position(graph::edge const& arc) const {
    if (!Lengths::weighted) return 0;
    graph::neighbour_list const row = g.neighbours(arc.source);
    return graph::lower_bound(row.data, row.size, arc.target);
  }
  /// The part of the out-neighbours, or of the in-neighbours, that belongs to an item; of a row in this many parts.
  [[nodiscard]] WYRM_HD row_part_with_lengths<Lengths> out_part(frontier_item const& item) const {
    graph::packed_record const& row = g.out_records()[item.vertex];
    return part_of(row, item, frontier_item::parts(row.degree));
  }
  [[nodiscard]] WYRM_HD row_part_with_lengths<Lengths> in_part(frontier_item const& item, std::uint32_t parts) const {
    return part_of(g.in_records()[item.vertex], item, parts);
  }
  [[nodiscard]] WYRM_HD row_part_with_lengths<Lengths> in_part(frontier_item const& item) const {
    return in_part(item, frontier_item::parts(g.in_records()[item.vertex].degree));
  }

 private:
  [[nodiscard]] WYRM_HD row_part_with_lengths<Lengths> part_of(graph::packed_record const& row,
                                                               frontier_item const& item, std::uint32_t parts) const {
    graph::neighbour_list const part = item.part_of({row.page(), row.degree}, parts);
    return {part, static_cast<std::uint32_t>(part.data - row.page()), lengths.of(row)};
  }
};

/// One thread per new vertex, from `first` on: it is not reached.
template <class Lengths>
struct begin_unreached {
  typename Lengths::distance* distances;
  graph::vertex_id* parents;  // or nullptr
  std::size_t first;
  WYRM_HD void operator()(std::size_t i) const {
    distances[first + i] = Lengths::infinite;
    if (parents != nullptr) parents[first + i] = graph::no_vertex;
  }
};

/// One thread per arc of a change, in the graph before it, without a tree: whether an arc is erased that ends a
/// shortest path.
template <class Lengths>
struct find_cut {
  distance_tree<Lengths> tree;
  changed_arcs arcs;
  WYRM_HD void operator()(std::size_t i) const {
    if (!arcs.erases(i)) return;
    graph::edge const arc = arcs[i];
    auto const there = tree.distances[arc.target];
    if (arc.target == tree.source || there == Lengths::infinite) return;
    auto const row = tree.lengths.of(tree.g.out_records()[arc.source]);
    if (row.through(tree.distances[arc.source], tree.position(arc)) == there)
      exec::atomic_ref<std::uint32_t>(tree.state->cut).store(1, exec::relaxed);
  }
};

/// One lane per arc of a change: a vertex whose arc from its parent is erased becomes a candidate.
template <class Lengths>
struct cut_parents {
  distance_tree<Lengths> tree;
  changed_arcs arcs;
  frontier candidates;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    graph::edge const arc = valid && arcs.erases(i) ? arcs[i] : graph::edge{tree.source, tree.source};
    bool const is_cut = arc.target != tree.source && tree.replace_parent(arc.target, arc.source, graph::no_vertex);
    if (t.any(is_cut)) candidates.append(t, arc.target, is_cut ? tree.parts_of_candidate(arc.target) : 0);
  }
};

/// The lanes of an item, if there are not few items; see over_items.
inline constexpr unsigned lanes_of_distances = 8;

/// The lanes of a tile that process the part of a row that belongs to an item.
template <class Tile>
class shared_item {
 public:
  static constexpr unsigned at_once = neighbours_at_once<Tile>;  // neighbours of a lane
  WYRM_HD shared_item(Tile const& t, frontier_item const* item)
      : lanes_(lanes_of_item<lanes_of_distances>(t, item)), lane_(t.rank() % lanes_) {}
  [[nodiscard]] WYRM_HD bool is_first() const { return lane_ == 0; }
  [[nodiscard]] WYRM_HD std::uint32_t step() const { return at_once * lanes_; }
  /// The position of neighbour k of this lane, where those of the item begin with `begin`.
  [[nodiscard]] WYRM_HD std::uint32_t position(std::uint32_t begin, unsigned k) const {
    return begin + k * lanes_ + lane_;
  }
  /// Whether a lane of the item has this; collective.
  [[nodiscard]] WYRM_HD bool any(Tile const& t, bool has) const {
    return (t.ballot(has) >> (t.rank() - lane_) & exec::bits_up_to<std::uint32_t>(lanes_ - 1)) != 0;
  }

 private:
  unsigned lanes_;
  unsigned lane_;
};

/// Some lanes per item of the list of changed vertices, or of candidates in several parts: gives a vertex without a
/// parent one that is nearer. These lanes and those with the other parts of the vertex may find different ones, and all
/// but one are replaced.
template <class Lengths>
struct find_nearer_parent {
  static constexpr unsigned lanes_per_item = lanes_of_distances;
  distance_tree<Lengths> tree;
  bool of_candidates;  // which look for a support
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    bool const seeks = item != nullptr && (!of_candidates || tree.parts_of_candidate(item->vertex) > 1);
    (void)seek(t, shared_item<Tile>(t, item), item, seeks && !tree.is_given_up());
  }
  /// The same for lanes that seek a parent for their item, also a candidate in one part: whether the vertex has one
  /// then; collective.
  template <class Tile>
  [[nodiscard]] WYRM_HD bool seek(Tile const& t, shared_item<Tile> const& lanes, frontier_item const* item,
                                  bool seeks) const {
    graph::vertex_id const v = seeks ? item->vertex : 0;
    auto const distance = tree.distances[v];
    seeks = seeks && distance != Lengths::infinite;
    if (!t.any(seeks)) return false;
    frontier_item const own = seeks ? *item : frontier_item{0, 0};
    auto const part = of_candidates ? tree.in_part(own, tree.parts_of_candidate(v)) : tree.in_part(own);
    bool has_parent = false;
    for (std::uint32_t i = 0; t.any(seeks && i < part.size()); i += lanes.step()) {
      constexpr unsigned n = shared_item<Tile>::at_once;
      bool is_found = seeks && tree.parent(v) != graph::no_vertex;
      graph::vertex_id u[n];
      typename Lengths::distance there[n];
      for (unsigned k = 0; k < n; ++k)
        u[k] = seeks && lanes.position(i, k) < part.size() ? part[lanes.position(i, k)] : v;
      for (unsigned k = 0; k < n; ++k) there[k] = u[k] != v ? tree.distances[u[k]] : distance;
      bool is_support[n];
      for (unsigned k = 0; k < n; ++k)
        is_support[k] = !is_found && there[k] < distance && part.through(there[k], lanes.position(i, k)) == distance &&
                        (!of_candidates || tree.parent(u[k]) != graph::no_vertex);
      for (unsigned k = 0; k < n; ++k) {
        if (!is_support[k] || is_found) continue;
        tree.set_parent(v, u[k]);
        is_found = true;
      }
      if (!lanes.any(t, is_found)) continue;
      has_parent = has_parent || seeks;
      seeks = false;
    }
    return has_parent;
  }
};

/// Some lanes per item of the candidates: one that finds no parent is affected, and its children become candidates. A
/// support may lose its parent at the same time; then it is a candidate of the next round, and this vertex its child.
template <class Lengths>
struct spread_candidates {
  static constexpr unsigned lanes_per_item = lanes_of_distances;
  distance_tree<Lengths> tree;
  frontier next;
  [[nodiscard]] WYRM_HD find_nearer_parent<Lengths> before_parts(frontier const&) const { return {tree, true}; }
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    shared_item<Tile> const lanes(t, item);
    graph::vertex_id const v = item != nullptr ? item->vertex : 0;
    // Only these lanes change the parent of a vertex in one part; that of a vertex in several parts does not change in
    // this step.
    bool is_affected = item != nullptr && !tree.is_given_up() && tree.parent(v) == graph::no_vertex;
    bool const seeks = is_affected && tree.parts_of_candidate(v) == 1;
    if (find_nearer_parent<Lengths>{tree, true}.seek(t, lanes, item, seeks)) is_affected = false;
    if (!t.any(is_affected)) return;
    graph::neighbour_list part{};
    if (is_affected) part = item->part_of(tree.g.neighbours(v), tree.parts_of_candidate(v));
    // The result is needed after the loop only, so no lane waits for it here.
    bool const is_new = is_affected && lanes.is_first() && item->part == 0 && tree.changed.set_mark(v);
    for (std::uint32_t i = 0; t.any(i < part.size); i += lanes.step()) {
      constexpr unsigned n = shared_item<Tile>::at_once;
      graph::vertex_id w[n];
      std::uint32_t parts[n];
      bool is_child[n];
      bool has_any = false;
      for (unsigned k = 0; k < n; ++k) {
        is_child[k] = lanes.position(i, k) < part.size;
        w[k] = is_child[k] ? part[lanes.position(i, k)] : v;
      }
      for (unsigned k = 0; k < n; ++k) is_child[k] = is_child[k] && tree.parent(w[k]) == v;
      for (unsigned k = 0; k < n; ++k) {
        if (is_child[k]) tree.set_parent(w[k], graph::no_vertex);
        has_any = has_any || is_child[k];
      }
      if (!t.any(has_any)) continue;
      for (unsigned k = 0; k < n; ++k) parts[k] = is_child[k] ? tree.parts_of_candidate(w[k]) : 0;
      next.append(t, w, parts);
    }
    tree.changed.append(t, v, is_new ? frontier_item::parts(tree.in_degree(v)) : 0);
  }
};

/// One lane per item of the list of changed vertices, which are the affected ones: they are not reached.
template <class Lengths>
struct forget_distances {
  distance_tree<Lengths> tree;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    bool const has = item != nullptr && item->part == 0;
    if (has) tree.distances[item->vertex] = Lengths::infinite;
    auto const n = static_cast<std::uint32_t>(cuda::std::popcount(t.ballot(has)));
    if (t.rank() == 0 && n > 0) exec::atomic_ref<std::uint32_t>(tree.state->reached).fetch_sub(n, exec::relaxed);
  }
};

/// One tile per item of the list of changed vertices, which are the affected ones: they get distances from their
/// in-neighbours. A distance of an in-neighbour that is affected, too, may be used as soon as it is written.
template <class Lengths>
struct pull_distances {
  distance_tree<Lengths> tree;
  frontier next;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    if (tree.is_given_up()) return;
    auto const part = tree.in_part(*item);
    auto least = Lengths::infinite;
    constexpr unsigned n = neighbours_at_once<Tile>;
    for (std::uint32_t i = t.rank(); i < part.size(); i += n * Tile::size()) {
      graph::vertex_id u[n];
      typename Lengths::distance there[n];
      for (unsigned k = 0; k < n; ++k) u[k] = part[i + k * Tile::size() < part.size() ? i + k * Tile::size() : i];
      for (unsigned k = 0; k < n; ++k) there[k] = tree.at(u[k]);
      for (unsigned k = 0; k < n && i + k * Tile::size() < part.size(); ++k) {
        auto const through = part.through(there[k], i + k * Tile::size());
        least = through < least ? through : least;
      }
    }
    for (unsigned step = Tile::size() / 2; step > 0; step /= 2) {
      auto const other = t.shfl(least, t.rank() ^ step);
      least = other < least ? other : least;
    }
    tree.lower(t, item->vertex, t.rank() == 0 ? least : Lengths::infinite, next);
  }
};

/// One lane per arc of a change: relaxes an inserted arc.
template <class Lengths>
struct relax_inserted {
  distance_tree<Lengths> tree;
  changed_arcs arcs;
  frontier next;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    bool const has = valid && arcs.inserts(i) && !tree.is_given_up();
    graph::edge const arc = has ? arcs[i] : graph::edge{0, 0};
    auto through = Lengths::infinite;
    if (has) {
      auto const lengths = tree.lengths.of(tree.g.out_records()[arc.source]);
      std::uint32_t const at = tree.position(arc);
      through = lengths.through(tree.at(arc.source), at);
      if (!lengths.is_valid(at)) exec::atomic_ref<std::uint32_t>(tree.state->invalid).store(1, exec::relaxed);
    }
    tree.lower(t, arc.target, through, next);
  }
};

/// Some lanes per item of a frontier of vertices whose distances have decreased: relaxes their arcs.
template <class Lengths>
struct relax_lowered {
  static constexpr unsigned lanes_per_item = lanes_of_distances;
  distance_tree<Lengths> tree;
  frontier now;
  frontier next;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    shared_item<Tile> const lanes(t, item);
    if (item != nullptr && lanes.is_first() && item->part == 0) now.clear_mark(item->vertex);
    frontier_item const own = item != nullptr ? *item : frontier_item{0, 0};
    auto const distance = tree.at(own.vertex);
    auto const part = tree.out_part(own);
    std::uint32_t const size = item != nullptr && !tree.is_given_up() ? part.size() : 0;
    for (std::uint32_t i = 0; t.any(i < size); i += lanes.step()) {
      constexpr unsigned n = shared_item<Tile>::at_once;
      graph::vertex_id v[n];
      typename Lengths::distance to[n];
      for (unsigned k = 0; k < n; ++k) {
        bool const has = lanes.position(i, k) < size;
        v[k] = has ? part[lanes.position(i, k)] : own.vertex;
        to[k] = has ? part.through(distance, lanes.position(i, k)) : Lengths::infinite;
      }
      tree.lower(t, v, to, next);
    }
  }
};

/// One tile per item of the list of changed vertices: a reached vertex without a parent gets one at the same distance,
/// and is the first to offer itself to others.
template <class Lengths>
struct find_equal_parent {
  distance_tree<Lengths> tree;
  frontier next;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    if (tree.is_given_up()) return;
    graph::vertex_id const v = item->vertex;
    auto const distance = tree.distances[v];
    if (distance == Lengths::infinite || t.any(tree.parent(v) != graph::no_vertex)) return;
    auto const part = tree.in_part(*item);
    for (std::uint32_t i = 0; i < part.size(); i += Tile::size()) {
      bool const has = i + t.rank() < part.size();
      graph::vertex_id const u = has ? part[i + t.rank()] : v;
      bool const is_found = has && tree.distances[u] == distance && tree.parent(u) != graph::no_vertex &&
                            part.through(distance, i + t.rank()) == distance &&
                            tree.replace_parent(v, graph::no_vertex, u);
      if (!t.any(is_found)) continue;
      next.append(t, tree.g, v, is_found);
      return;
    }
  }
};

/// One tile per item of a frontier of vertices that got a parent at the same distance: they become the parents of
/// those at the same distance that have none.
template <class Lengths>
struct offer_equal_parent {
  distance_tree<Lengths> tree;
  frontier next;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const& item) const {
    auto const distance = tree.distances[item.vertex];
    auto const part = tree.out_part(item);
    for (std::uint32_t i = 0; i < part.size(); i += Tile::size()) {
      bool const has = i + t.rank() < part.size();
      graph::vertex_id const w = has ? part[i + t.rank()] : item.vertex;
      bool const adopts = has && tree.distances[w] == distance && part.through(distance, i + t.rank()) == distance &&
                          tree.replace_parent(w, graph::no_vertex, item.vertex);
      if (t.any(adopts)) next.append(t, tree.g, w, adopts);
    }
  }
};

/// One lane per item: clears the marks of a list.
struct clear_marks {
  frontier list;
  template <class Tile>
  WYRM_HD void operator()(Tile const&, frontier_item const* item) const {
    if (item != nullptr && item->part == 0) list.clear_mark(item->vertex);
  }
};

}  // namespace wyrm::algorithms::detail
