// SPDX-License-Identifier: Apache-2.0
// Betweenness: how many of the shortest paths between other vertices pass through a vertex (Freeman 1977). The score of
// v is the sum, over all pairs of a source s and a target t that are not v, of the fraction of the shortest paths from
// s to t, in arcs, that contain v. Brandes ("A Faster Algorithm for Betweenness Centrality", J. Math. Sociology 2001):
// from each source, a breadth-first search counts the paths to each vertex, and then, from the last level back, each
// vertex gets the dependency of the source on it, a sum over its neighbours at the next level.
//
// Both passes pull: the tile of a vertex adds up the values of its neighbours, in the order of its row, without atomic
// additions. So scores are the same on each run, bit for bit within a space.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../exec/atomic.hpp"
#include "../exec/error.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "../graph/any_graph.hpp"
#include "../graph/types.hpp"
#include "../graph/view.hpp"
#include "detail/frontier.hpp"
#include "detail/levels.hpp"
#include "detail/requirements.hpp"
#include "detail/weights.hpp"

namespace wyrm::algorithms {

enum class betweenness_scale : std::uint8_t {
  none,     // sums of fractions
  pairs,    // divided by the number of ordered pairs of other vertices, (n - 1)(n - 2) of n present vertices
  largest,  // divided by the greatest score, as the GAP benchmark suite does
};

struct betweenness_options {
  betweenness_scale scale = betweenness_scale::none;
  /// Undirected graphs: whether the pairs (s, t) and (t, s) count as two, where `scale` is none.
  bool both_directions = false;
  /// Whether scores of k given sources are multiplied by n / k, as an estimate of those of all n present vertices.
  bool extrapolate = false;
};

struct betweenness_result {
  std::vector<double> score;  // of each vertex; 0 for absent ones
};

namespace detail {

/// One lane per vertex: finds the greatest score, as bits.
struct find_largest_score {
  double const* scores;
  std::uint64_t* largest;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t v, bool valid) const {
    auto const all = cuda::std::bit_cast<std::uint64_t>(maximum(t, valid ? scores[v] : 0));
    if (t.rank() == 0 && all > exec::load_recent(*largest))
      exec::atomic_ref<std::uint64_t>(*largest).fetch_max(all, exec::relaxed);
  }
};

struct divide_scores {
  double* scores;
  double by;
  WYRM_HD void operator()(std::size_t v) const { scores[v] /= by; }
};

}  // namespace detail

/// Scores vertices of different graphs, or of one changing graph; scores and scratch memory stay on the device: about
/// 56 bytes per vertex and 1/6 byte per arc. Not thread-safe.
template <class Space>
class betweenness_scorer {
 public:
  explicit betweenness_scorer(Space const& space)
      : space_(space),
        items_(space),
        sums_(space),
        arrived_(space),
        begins_(space),
        counts_(space),
        depths_(space),
        paths_(space),
        coefficients_(space),
        scores_(space),
        overflow_(space, 1),
        largest_(space, 1) {}

  /// Scores by the paths from all vertices, or from some; a source that is listed repeatedly counts each time, and one
  /// that is absent has no paths. O(vertices + arcs) and two launches per level for each source; the host waits after
  /// 4, 8, and then each 16 levels of the first pass. Throws error(bad_argument) for a source out of range, for a
  /// directed graph without in-neighbours, and if a vertex has more shortest paths than the largest double, 1.8 *
  /// 10^308; error(out_of_memory).
  void run(graph::graph_view const& g, betweenness_options const& o = {}) {
    begin(g);
    for (graph::vertex_id v = 0; v < g.vertices(); ++v) add(g, v);
    finish(g, g.present_vertices(), o);
  }
  void run(graph::graph_view const& g, std::span<graph::vertex_id const> sources, betweenness_options const& o = {}) {
    for (graph::vertex_id const v : sources)
      if (v >= g.vertices())
        throw error(error_code::bad_argument, "betweenness: the source " + std::to_string(v) +
                                                  " is not in the graph, which has " + std::to_string(g.vertices()) +
                                                  " vertices; they are numbered from 0");
    begin(g);
    for (graph::vertex_id const v : sources) add(g, v);
    finish(g, sources.size(), o);
  }
  /// Of each vertex of the graph of the last run, in device memory.
  [[nodiscard]] double const* score() const { return scores_.data(); }

 private:
  static constexpr unsigned most_at_once = 16;  // levels before the host waits

  // The greatest number of levels, and those that are enqueued behind the last one.
  [[nodiscard]] static std::size_t levels_of(graph::graph_view const& g) {
    return g.vertices() + std::size_t{most_at_once} + 1;
  }
  void begin(graph::graph_view const& g) {
    detail::require_in_neighbours(g, "betweenness");
    std::size_t const n = g.vertices();
    std::size_t const items = detail::level_list::capacity(g);
    items_.reserve(items);
    sums_.reserve(items);
    arrived_.reserve(items);
    begins_.reserve(levels_of(g));
    counts_.reserve(levels_of(g));
    depths_.reserve(n);
    paths_.reserve(n);
    coefficients_.reserve(n);
    scores_.reserve(n);
    space_.fill(arrived_.data(), 0, arrived_.bytes());
    if (n > 0) space_.fill(scores_.data(), 0, n * sizeof(double));
    space_.fill(overflow_.data(), 0, overflow_.bytes());
  }
  // Adds the dependencies of a source.
  void add(graph::graph_view const& g, graph::vertex_id source) {
    detail::level_list const list{items_.data(), begins_.data(), counts_.data()};
    detail::betweenness_pass const pass{g,
                                        list,
                                        {sums_.data(), arrived_.data()},
                                        depths_.data(),
                                        paths_.data(),
                                        coefficients_.data(),
                                        scores_.data(),
                                        overflow_.data()};
    space_.fill(depths_.data(), 0xff, g.vertices() * sizeof(std::uint32_t));
    space_.fill(counts_.data(), 0, levels_of(g) * sizeof(std::uint32_t));
    exec::for_each_lane<32>(space_, 1, detail::begin_level{pass, source});
    std::uint32_t level = 0;
    for (unsigned at_once = 4;; at_once = std::min(2 * at_once, most_at_once)) {
      for (unsigned i = 0; i < at_once; ++i) enqueue(list, level++, detail::extend_paths{pass});
      auto const counts = exec::copy_out(space_, counts_.data() + (level - at_once), at_once + 1);
      auto const end = std::find(counts.begin(), counts.end(), 0u);
      if (end == counts.end()) continue;
      level -= static_cast<std::uint32_t>(counts.end() - end) - 1;
      break;
    }
    while (--level > 0) enqueue(list, level, detail::collect_dependencies{pass});
  }
  template <class F>
  void enqueue(detail::level_list const& list, std::uint32_t level, F const& f) {
    std::size_t const tiles = space_.lanes_for(list.counts + level) / Space::template tile_size<8> + 1;
    exec::for_each_tile<8>(space_, tiles, detail::over_level<F>{list, level, tiles, f});
  }
  void finish(graph::graph_view const& g, std::size_t sources, betweenness_options const& o) {
    if (exec::read(space_, overflow_.data()) != 0)
      throw error(
          error_code::bad_argument,
          "betweenness: a vertex has more shortest paths from a source than the largest double, 1.8 * 10^308, so "
          "fractions of them cannot be computed; leave out parts of the graph that are like large grids");
    auto const n = static_cast<double>(g.present_vertices());
    double by = 1;
    switch (o.scale) {
      case betweenness_scale::none: by = g.directed() || o.both_directions ? 1 : 2; break;
      case betweenness_scale::pairs: by = n > 2 ? (n - 1) * (n - 2) : 1; break;
      case betweenness_scale::largest: by = largest(g); break;
    }
    if (o.extrapolate && sources > 0 && o.scale != betweenness_scale::largest) by *= static_cast<double>(sources) / n;
    if (by > 0 && by != 1) exec::for_each(space_, g.vertices(), detail::divide_scores{scores_.data(), by});
  }
  [[nodiscard]] double largest(graph::graph_view const& g) {
    space_.fill(largest_.data(), 0, largest_.bytes());
    exec::for_each_lane<32>(space_, g.vertices(), detail::find_largest_score{scores_.data(), largest_.data()});
    return std::bit_cast<double>(exec::read(space_, largest_.data()));
  }

  Space space_;
  exec::buffer<detail::frontier_item, Space> items_;
  exec::buffer<double, Space> sums_;            // of items
  exec::buffer<std::uint32_t, Space> arrived_;  // parts of vertices, at their first items
  exec::buffer<std::uint32_t, Space> begins_;   // of levels
  exec::buffer<std::uint32_t, Space> counts_;   // of the items of levels
  exec::buffer<std::uint32_t, Space> depths_;
  exec::buffer<double, Space> paths_;
  exec::buffer<double, Space> coefficients_;
  exec::buffer<double, Space> scores_;
  exec::buffer<std::uint32_t, Space> overflow_;
  exec::buffer<std::uint64_t, Space> largest_;
};

/// The scores by the paths from all vertices, in host memory.
template <class Space>
betweenness_result betweenness(Space const& space, graph::graph_view const& g, betweenness_options const& o = {}) {
  betweenness_scorer<Space> scorer(space);
  scorer.run(g, o);
  return {exec::copy_out(space, scorer.score(), g.vertices())};
}
/// The same by the paths from some vertices.
template <class Space>
betweenness_result betweenness(Space const& space, graph::graph_view const& g,
                               std::span<graph::vertex_id const> sources, betweenness_options const& o = {}) {
  betweenness_scorer<Space> scorer(space);
  scorer.run(g, sources, o);
  return {exec::copy_out(space, scorer.score(), g.vertices())};
}

betweenness_result betweenness(graph::any_graph const& g, betweenness_options const& o = {});
betweenness_result betweenness(graph::any_graph const& g, std::span<graph::vertex_id const> sources,
                               betweenness_options const& o = {});

}  // namespace wyrm::algorithms
