// SPDX-License-Identifier: Apache-2.0
// Labels of vertices, in device memory: their names, and the modularity of a clustering.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/tile.hpp"
#include "../../graph/graph_change.hpp"
#include "../../graph/types.hpp"
#include "../../graph/view.hpp"
#include "frontier.hpp"
#include "objectives.hpp"
#include "weighted_rows.hpp"

namespace wyrm::algorithms::detail {

struct init_labels {
  graph::vertex_id* label;
  WYRM_HD void operator()(std::size_t v) const { label[v] = static_cast<graph::vertex_id>(v); }
};

struct number_from {
  graph::vertex_id* label;
  graph::vertex_id first;
  WYRM_HD void operator()(std::size_t i) const { label[i] = first + static_cast<graph::vertex_id>(i); }
};

/// The smallest vertex of each label; if `degree` is given, among vertices with a degree.
struct find_first {
  graph::vertex_id const* label;
  std::uint64_t const* degree;  // or nullptr
  graph::vertex_id* first;
  WYRM_HD void operator()(std::size_t v) const {
    auto const own = static_cast<graph::vertex_id>(v);
    graph::vertex_id& place = first[label[v]];
    if ((degree == nullptr || degree[v] > 0) && own < exec::load_recent(place))
      exec::atomic_ref<graph::vertex_id>(place).fetch_min(own, exec::relaxed);
  }
};

/// The largest vertex with a degree of each label.
struct find_last {
  graph::vertex_id const* label;
  std::uint64_t const* degree;
  graph::vertex_id* last;
  WYRM_HD void operator()(std::size_t v) const {
    auto const own = static_cast<graph::vertex_id>(v);
    graph::vertex_id& place = last[label[v]];
    if (degree[v] > 0 && own > exec::load_recent(place))
      exec::atomic_ref<graph::vertex_id>(place).fetch_max(own, exec::relaxed);
  }
};

/// Replaces each label by its first vertex, and the label of a vertex without a degree by the vertex itself.
struct relabel_by_first {
  graph::vertex_id* label;
  std::uint64_t const* degree;
  graph::vertex_id const* first;
  WYRM_HD void operator()(std::size_t v) const {
    label[v] = degree[v] > 0 ? first[label[v]] : static_cast<graph::vertex_id>(v);
  }
};

struct flag_first {
  graph::vertex_id const* label;
  graph::vertex_id const* first;
  std::uint32_t* flag;
  WYRM_HD void operator()(std::size_t v) const { flag[v] = first[label[v]] == v ? 1 : 0; }
};

/// Replaces each label by the number of labels with smaller first vertices.
struct number_labels {
  graph::vertex_id* label;
  graph::vertex_id const* first;
  std::uint64_t const* before;
  WYRM_HD void operator()(std::size_t v) const { label[v] = static_cast<graph::vertex_id>(before[first[label[v]]]); }
};

/// Replaces each label by the label of that label.
struct compose_labels {
  graph::vertex_id* label;
  graph::vertex_id const* of_label;
  WYRM_HD void operator()(std::size_t v) const { label[v] = of_label[label[v]]; }
};

/// One tile per item: the weight of the entries of a row that have the label of its vertex.
struct add_up_inside {
  weighted_rows rows;
  graph::vertex_id const* label;
  std::uint64_t* inside;  // of vertices
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    graph::vertex_id const v = item->vertex;
    graph::neighbour_list const part = item->part_of(rows.g.neighbours(v));
    std::uint64_t sum = 0;
    for (std::uint32_t i = t.rank(); i < part.size; i += Tile::size())
      if (label[part[i]] == label[v]) sum += std::uint64_t{rows.weight(part.data + i)} * (part[i] == v ? rows.loop : 1);
    sum = exec::sum(t, sum);
    if (t.rank() == 0 && sum > 0) exec::atomic_ref<std::uint64_t>(inside[v]).fetch_add(sum, exec::relaxed);
  }
};

/// The number of vertices with each label; nullptr: each vertex has a label of its own.
struct count_labels {
  graph::vertex_id const* label;
  std::uint64_t* count;
  WYRM_HD void operator()(std::size_t v) const {
    exec::atomic_ref<std::uint64_t>(count[label == nullptr ? v : label[v]]).fetch_add(1, exec::relaxed);
  }
};

/// The weight of the arcs that leave each label: degrees without the weight inside.
struct add_up_leaving {
  std::uint64_t const* degree;
  std::uint64_t const* inside;  // of vertices
  graph::vertex_id const* label;
  std::uint64_t* leaving;
  WYRM_HD void operator()(std::size_t v) const {
    if (degree[v] > inside[v])
      exec::atomic_ref<std::uint64_t>(leaving[label[v]]).fetch_add(degree[v] - inside[v], exec::relaxed);
  }
};

/// The terms of the codelength, modulo 2^64, that belong to label i and vertex i.
struct find_costs {
  code_terms terms;
  std::uint64_t const* mass;  // or nullptr: without the terms of vertices
  std::uint64_t const* volume;
  std::uint64_t const* leaving;
  std::uint64_t* cost;
  WYRM_HD void operator()(std::size_t i) const {
    cost[i] =
        static_cast<std::uint64_t>(terms.module(leaving[i], volume[i]) - (mass == nullptr ? 0 : terms.vertex(mass[i])));
  }
};

struct square {
  std::uint64_t const* values;
  std::uint64_t* squares;
  WYRM_HD void operator()(std::size_t i) const { squares[i] = values[i] * values[i]; }
};

/// One lane per edge, which may be graph_change::no_edge(): adds its ends to the frontier, if their rows are not empty.
struct list_endpoints {
  graph::graph_view g;
  graph::edge const* edges;
  frontier to;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    graph::edge const e = valid ? edges[i] : graph::graph_change::no_edge();
    bool const has = e.source != graph::no_vertex;
    to.add(t, g, e.source, has && g.degree(e.source) > 0);
    to.add(t, g, e.target, has && g.degree(e.target) > 0);
  }
};

/// One tile per item: adds a vertex and its neighbours to the frontier.
struct list_neighbours {
  graph::graph_view g;
  frontier to;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    to.add(t, g, item->vertex, t.rank() == 0 && item->part == 0);
    graph::neighbour_list const part = item->part_of(g.neighbours(item->vertex));
    for (std::uint32_t base = 0; base < part.size; base += Tile::size()) {
      std::uint32_t const i = base + t.rank();
      to.add(t, g, i < part.size ? part[i] : item->vertex, i < part.size);
    }
  }
};

}  // namespace wyrm::algorithms::detail
