// SPDX-License-Identifier: Apache-2.0
// PageRank (Page, Brin, Motwani, Winograd 1999) by pull: every vertex adds up what its in-neighbours send, so that no
// two tiles write one place and the result does not depend on their order. The mass of vertices without out-neighbours
// is spread over all vertices evenly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../exec/bulk.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "../exec/tile.hpp"
#include "../graph/any_graph.hpp"
#include "../graph/view.hpp"

namespace wyrm::algorithms {

struct pagerank_options {
  double damping = 0.85;    // in [0, 1)
  double tolerance = 1e-9;  // stop when an iteration changes the ranks by less, in the L1 norm; > 0
  unsigned max_iterations = 500;
  std::vector<double> start = {};  // warm start: a rank per vertex, scaled to sum 1 by the caller; empty = 1/n each
};

struct pagerank_result {
  std::vector<double> rank;  // sums to 1
  unsigned iterations = 0;
  bool converged = false;  // the tolerance was reached
  double change = 0;       // L1 norm of the last iteration's change
};

namespace detail {

struct share_rank {
  graph::graph_view g;
  double const* rank;
  double* share;     // what a vertex sends along each arc
  double* dangling;  // its rank, if it has no arc
  WYRM_HD void operator()(std::size_t v) const {
    std::uint32_t const degree = g.degree(static_cast<graph::vertex_id>(v));
    share[v] = degree > 0 ? rank[v] / degree : 0.0;
    dangling[v] = degree > 0 ? 0.0 : rank[v];
  }
};

struct pull_rank {
  graph::graph_view g;
  double const* share;
  double* rank;
  double* change;
  double base;
  double damping;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t v) const {
    graph::neighbour_list const sources = g.in_neighbours(static_cast<graph::vertex_id>(v));
    double part = 0;
    for (std::uint32_t i = t.rank(); i < sources.size; i += Tile::size()) part += share[sources[i]];
    double const fresh = base + damping * exec::sum(t, part);
    if (t.rank() != 0) return;
    double const difference = fresh - rank[v];
    change[v] = difference < 0 ? -difference : difference;
    rank[v] = fresh;
  }
};

}  // namespace detail

/// O((vertices + arcs) iterations). Throws error(bad_argument) for options out of range, or a directed graph that does
/// not keep in-neighbours. A graph without vertices has an empty result that converged.
template <class Space>
pagerank_result pagerank(Space const& space, graph::graph_view const& g, pagerank_options const& o = {}) {
  std::size_t const n = g.vertices();
  if (!(o.damping >= 0 && o.damping < 1) || !(o.tolerance > 0))
    throw error(error_code::bad_argument, "pagerank: damping must be in [0, 1) and the tolerance positive");
  if (!g.has_in_neighbours())
    throw error(error_code::bad_argument,
                "pagerank: the directed graph does not keep in-neighbours; make it with options::in_neighbours");
  if (!o.start.empty() && o.start.size() != n)
    throw error(error_code::bad_argument, "pagerank: the start vector must have one rank per vertex");
  pagerank_result result;
  if (n == 0) {
    result.converged = true;
    return result;
  }
  exec::buffer<double, Space> rank(space, n);
  exec::buffer<double, Space> share(space, n);
  exec::buffer<double, Space> scratch(space, n);  // dangling mass, then changes
  typename Space::bulk bulk(space);
  std::vector<double> const even(o.start.empty() ? n : 0, 1.0 / static_cast<double>(n));
  exec::copy_in<double>(space, rank.data(), o.start.empty() ? even : o.start);

  while (result.iterations < o.max_iterations && !result.converged) {
    exec::for_each(space, n, detail::share_rank{g, rank.data(), share.data(), scratch.data()});
    double const dangling = bulk.sum(scratch.data(), n);
    double const base = (1 - o.damping + o.damping * dangling) / static_cast<double>(n);
    exec::for_each_tile<8>(space, n, detail::pull_rank{g, share.data(), rank.data(), scratch.data(), base, o.damping});
    result.change = bulk.sum(scratch.data(), n);
    ++result.iterations;
    result.converged = result.change < o.tolerance;
  }
  result.rank = exec::copy_out(space, rank.data(), n);
  return result;
}

pagerank_result pagerank(graph::any_graph const& g, pagerank_options const& o = {});

}  // namespace wyrm::algorithms
