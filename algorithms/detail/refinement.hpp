// SPDX-License-Identifier: Apache-2.0
// The refinement of Leiden (Traag, Waltman, van Eck, Scientific Reports 9, 2019), and the parts into which communities
// fall. Within each community, vertices begin as sets of one vertex. A vertex that is still a set by itself, and well
// connected with the rest of its community, joins the set of the community where modularity rises most, if that set is
// well connected with the rest, too. (The paper draws the set at random, with a parameter theta; this is theta -> 0.)
// Sets in which vertices join are targets of a round, and no vertex leaves them, so each set is connected.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../../exec/tile.hpp"
#include "../../graph/view.hpp"
#include "component_forest.hpp"
#include "frontier.hpp"
#include "label_merging.hpp"
#include "labels.hpp"
#include "modularity_moves.hpp"
#include "weighted_rows.hpp"

namespace wyrm::algorithms::detail {

/// One tile per item: the weight of the arcs of a vertex to other vertices with its label.
struct add_up_outward {
  weighted_rows rows;
  graph::vertex_id const* label;
  std::uint64_t* outward;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    graph::vertex_id const v = item->vertex;
    graph::neighbour_list const part = item->part_of(rows.g.neighbours(v));
    std::uint64_t sum = 0;
    for (std::uint32_t i = t.rank(); i < part.size; i += Tile::size())
      if (part[i] != v && label[part[i]] == label[v]) sum += rows.weight(part.data + i);
    sum = exec::sum(t, sum);
    if (t.rank() == 0 && sum > 0) exec::atomic_ref<std::uint64_t>(outward[v]).fetch_add(sum, exec::relaxed);
  }
};

/// One tile per item: hooks vertices with the same label.
struct hook_equal {
  graph::graph_view g;
  graph::vertex_id const* label;
  component_forest forest;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    graph::vertex_id const v = item->vertex;
    graph::neighbour_list const part = item->part_of(g.neighbours(v));
    for (std::uint32_t i = t.rank(); i < part.size; i += Tile::size())
      if (part[i] < v && label[part[i]] == label[v]) forest.unite(v, part[i]);
  }
};

/// Labels a vertex by the root of its tree, which differs from its label if the vertices of a label are not connected.
struct relabel_by_root {
  component_forest forest;
  graph::vertex_id* label;
  std::uint32_t* differs;
  WYRM_HD void operator()(std::size_t v) const {
    if (label[v] == forest.parent[v]) return;
    label[v] = forest.parent[v];
    exec::atomic_ref<std::uint32_t>(*differs).store(1, exec::relaxed);
  }
};

struct find_first_set {
  graph::vertex_id const* label;
  graph::vertex_id const* set;
  graph::vertex_id* first;  // of each label: its smallest set
  WYRM_HD void operator()(std::size_t v) const {
    graph::vertex_id& place = first[label[v]];
    if (set[v] < exec::load_recent(place)) exec::atomic_ref<graph::vertex_id>(place).fetch_min(set[v], exec::relaxed);
  }
};

/// Labels each set by the smallest set of its label.
struct label_sets {
  graph::vertex_id const* label;
  graph::vertex_id const* set;
  graph::vertex_id const* first;
  graph::vertex_id* label_of_set;
  std::uint32_t* differs;  // whether a label has several sets
  WYRM_HD void operator()(std::size_t v) const {
    graph::vertex_id const to = first[label[v]];
    exec::atomic_ref<graph::vertex_id>(label_of_set[set[v]]).store(to, exec::relaxed);
    if (to != set[v]) exec::atomic_ref<std::uint32_t>(*differs).store(1, exec::relaxed);
  }
};

/// Owns scratch memory: 24 bytes per vertex.
template <class Space>
class refinement {
 public:
  explicit refinement(Space const& space)
      : space_(space), outward_(space), volume_(space), first_(space), differs_(space, 1) {}
  void reserve(std::size_t n) {
    outward_.reserve(n);
    volume_.reserve(n);
    first_.reserve(n);
  }

  /// Divides communities into sets, which are numbered by the ids of a member. `moves` has been prepared for the rows.
  auto refine(modularity_moves<Space>& moves, weighted_rows const& rows, graph::vertex_id const* label,
              move_rules rules, graph::vertex_id* set) {
    std::size_t const n = rows.g.vertices();
    space_.fill(outward_.data(), 0, n * sizeof(std::uint64_t));
    space_.fill(volume_.data(), 0, n * sizeof(std::uint64_t));
    moves.now().fill(rows.g);
    for_each_item<8>(space_, moves.now().view(), add_up_outward{rows, label, outward_.data()});
    exec::for_each(space_, n, add_up_volumes{moves.degrees(), label, volume_.data()});
    exec::for_each(space_, n, init_labels{set});
    rules.within = label;
    rules.volume_within = volume_.data();
    rules.outward = outward_.data();
    return moves.run(rows, set, label_merging<Space>::max_rounds, rules);
  }
  /// Labels sets, which are numbered, by the smallest set of the same label. Returns whether a label has several sets.
  bool lift(graph::vertex_id const* label, graph::vertex_id const* set, std::size_t n, graph::vertex_id* label_of_set) {
    space_.fill(first_.data(), 0xff, n * sizeof(graph::vertex_id));
    space_.fill(differs_.data(), 0, differs_.bytes());
    exec::for_each(space_, n, find_first_set{label, set, first_.data()});
    exec::for_each(space_, n, label_sets{label, set, first_.data(), label_of_set, differs_.data()});
    return exec::read(space_, differs_.data()) != 0;
  }
  /// Divides labels, which are their first vertices, whose vertices are not connected with each other. Returns whether
  /// there are any. Uses the list of `moves`.
  bool split(modularity_moves<Space>& moves, weighted_rows const& rows, graph::vertex_id* label) {
    std::size_t const n = rows.g.vertices();
    component_forest const forest{first_.data()};
    space_.fill(differs_.data(), 0, differs_.bytes());
    exec::for_each(space_, n, init_labels{first_.data()});
    moves.now().fill(rows.g);
    for_each_item<8>(space_, moves.now().view(), hook_equal{rows.g, label, forest});
    exec::for_each(space_, n, flatten_components{forest});
    exec::for_each(space_, n, relabel_by_root{forest, label, differs_.data()});
    return exec::read(space_, differs_.data()) != 0;
  }

 private:
  Space space_;
  exec::large_buffer<std::uint64_t, Space> outward_;
  exec::large_buffer<std::uint64_t, Space> volume_;
  exec::large_buffer<graph::vertex_id, Space> first_;
  exec::buffer<std::uint32_t, Space> differs_;
};

}  // namespace wyrm::algorithms::detail
