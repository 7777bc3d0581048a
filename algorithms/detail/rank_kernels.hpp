// SPDX-License-Identifier: Apache-2.0
// The kernels of PageRank by pull; see pagerank.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../exec/tile.hpp"
#include "../../graph/types.hpp"
#include "../../graph/view.hpp"
#include "arc_weights.hpp"
#include "pull.hpp"
#include "row_bins.hpp"
#include "row_sums.hpp"
#include "tile_sums.hpp"

namespace wyrm::algorithms::detail {

/// In device memory; the host reads it.
struct rank_state {
  double change;           // of the last iteration
  double dangling;         // the sum of the ranks of dangling vertices
  double dangling_before;  // that of the iteration before, from which the ranks were computed
  double change_before;    // of the iteration before that
  double scale = 1;        // gauss_seidel: the factor that makes the sum of the ranks 1
  std::uint32_t iterations;
  std::uint32_t done;
  std::uint32_t arrived;  // tiles that have finished their sums
};

/// Split, for kernels that extrapolate by Chebyshev's iteration (Golub, Varga 1961): instead of the ranks J x(k) of the
/// power method, x(k+1) = w(k+1) (J x(k) - x(k-1)) + x(k-1). See detail/chebyshev.hpp for the factors w and the rate.
template <class Split>
struct extrapolated : Split {};
template <class Split>
inline constexpr bool extrapolates = false;
template <class Split>
inline constexpr bool extrapolates<extrapolated<Split>> = true;

/// The arguments of the kernels. Split: even_split or weighted_split, or one of them `extrapolated`.
template <class Real, class Split>
struct rank_vectors {
  using real = Real;
  using split_type = Split;
  static constexpr bool is_weighted = Split::weighted;
  graph::graph_view g;
  row_bins_view bins;               // of in-neighbours
  graph::vertex_id const* old_ids;  // of the vertices of g in the graph that the caller has; nullptr: the same
  std::uint32_t hubs;               // the first vertices of g, whose contributions are read from a table
  // What a vertex sends along an arc of weight 1, or its rank, if it sends nothing; one array is read, the other
  // written.
  Real* contribution[2];
  Real const* teleport;  // nullptr: uniform
  double* parts;         // the sums of parts of hubs; gauss_seidel: of the ranks of chunks
  double* changes;       // a sum per item
  double* danglings;     // a sum per item
  rank_state* state;
  double even;  // 1 / vertices that are in the graph
  double damping;
  double tolerance;
  bool dangling_teleports;
  Split split;
  double factor = 1;  // w(k+1) of `extrapolated`

  struct sums {
    double change = 0;
    double dangling = 0;
  };
  [[nodiscard]] WYRM_HD graph::vertex_id old_id(graph::vertex_id v) const {
    return old_ids == nullptr ? v : old_ids[v];
  }
  /// The data of a vertex that its new rank depends on, besides the contributions of in-neighbours.
  struct previous {
    double base;
    typename Split::total_type total;
    Real contribution;
    Real before;  // `extrapolated`: the contribution before that one
  };
  /// row: the row of in-neighbours of v.
  [[nodiscard]] WYRM_HD previous load(graph::vertex_id v, graph::vertex_record const& row, rank_state const& state,
                                      unsigned from) const {
    double const share = g.is_present(v) ? even : 0;
    double const jump = teleport != nullptr ? static_cast<double>(teleport[v]) : share;
    double const lost = state.dangling * (dangling_teleports ? jump : share);
    Real before = 0;
    if constexpr (extrapolates<Split>) before = contribution[1 - from][v];
    return {(1 - damping) * jump + damping * lost, split.total(g, v, row), contribution[from][v], before};
  }
  /// Returns the new rank.
  WYRM_HD double set(graph::vertex_id v, previous const& old, double sent, unsigned to, sums& all) const {
    double const fresh = old.base + damping * sent;
    double const was = rank(old.contribution, old.total);
    double extrapolated_rank = fresh;
    if constexpr (extrapolates<Split>) {
      double const before = rank(old.before, old.total);
      if (factor != 1) extrapolated_rank = factor * (fresh - before) + before;
    }
    double const now = rank(send(v, old.total, extrapolated_rank, to, all), old.total);
    double const difference = (extrapolates<Split> ? fresh : now) - was;
    all.change += difference < 0 ? -difference : difference;
    return now;
  }
  /// Adds what vertices that are in no bin contribute to the sums of an iteration; here there are none.
  WYRM_HD void add_isolated(rank_state const&, bool, sums&) const {}
  WYRM_HD Real send(graph::vertex_id v, typename Split::total_type total, double fresh, unsigned to, sums& all) const {
    auto const now = static_cast<Real>(total > 0 ? fresh / static_cast<double>(total) : fresh);
    contribution[to][v] = now;
    if (!(total > 0)) all.dangling += static_cast<double>(now);
    return now;
  }
  [[nodiscard]] WYRM_HD static double rank(Real contribution, typename Split::total_type total) {
    return total > 0 ? static_cast<double>(contribution) * static_cast<double>(total)
                     : static_cast<double>(contribution);
  }
};

/// One tile per item of the bins. Vectors: rank_vectors or rank_deltas.
template <class Vectors>
struct pull_ranks {
  static constexpr unsigned resident_blocks = 4;  // the kernel waits for loads; see exec::resident_blocks_of
  using vectors = Vectors;
  using real = typename Vectors::real;
  Vectors x;
  unsigned from;  // index of the array of contributions that is read

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t item) const {
    pull_from(t, item, static_cast<real const*>(x.contribution[from]));
  }
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t item, real const* table) const {
    pull_from(t, item, contributions_with_table<real>{x.contribution[from], table, x.hubs});
  }

 private:
  template <class Tile, class Contributions>
  WYRM_HD void pull_from(Tile const& t, std::size_t item, Contributions const& contributions) const {
    rank_state const state = *x.state;
    if (state.done != 0) return;
    rows<Contributions> here{x, contributions, from, state, {}};
    sum_rows(t, x.bins, static_cast<std::uint32_t>(item), here);
    double const change = exec::sum(t, here.all.change);
    double const dangling = exec::sum(t, here.all.dangling);
    if (t.rank() != 0) return;
    x.changes[item] = change;
    x.danglings[item] = dangling;
  }

  template <class Contributions>
  struct rows {
    vectors const& x;
    Contributions const& contributions;
    unsigned from;
    rank_state const& state;
    typename vectors::sums all;

    [[nodiscard]] WYRM_HD auto load(graph::vertex_id v, graph::vertex_record const& row) const {
      return x.load(v, row, state, from);
    }
    WYRM_HD void set(graph::vertex_id v, graph::vertex_record const&, typename vectors::previous const& was,
                     double sent) {
      (void)x.set(v, was, sent, 1 - from, all);
    }
    WYRM_HD void set_part(std::uint32_t number, graph::vertex_id, double sent) const { x.parts[number] = sent; }
    template <class Tile>
    [[nodiscard]] WYRM_HD double sum(Tile const& t, graph::vertex_id v, graph::vertex_record const& row,
                                     std::uint32_t begin, std::uint32_t end, std::uint32_t lane,
                                     std::uint32_t lanes) const {
      return pull<double, Vectors::is_weighted>(t, contributions, x.split.row(v), row.page, begin, end, lane, lanes);
    }
  };
};

/// One tile per 32 vertices: computes their contributions before the first iteration.
template <class Real, class Split>
struct init_contributions {
  using vectors = rank_vectors<Real, Split>;
  vectors x;
  Real const* rank;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t block) const {
    typename vectors::sums all;
    for (unsigned k = 0; k < 32; k += Tile::size()) {
      std::size_t const v = block * 32 + k + t.rank();
      if (v >= x.g.vertices()) continue;
      auto const vertex = static_cast<graph::vertex_id>(v);
      x.send(vertex, x.split.total(x.g, vertex, x.g.in_records()[v]), static_cast<double>(rank[x.old_id(vertex)]), 0,
             all);
    }
    double const dangling = exec::sum(t, all.dangling);
    if (t.rank() != 0) return;
    x.changes[block] = 0;
    x.danglings[block] = dangling;
  }
};

/// One thread per vertex, after the last iteration.
template <class Real, class Split>
struct copy_ranks {
  rank_vectors<Real, Split> x;
  unsigned from;
  Real* rank;
  WYRM_HD void operator()(std::size_t i) const {
    auto const v = static_cast<graph::vertex_id>(i);
    rank[x.old_id(v)] = static_cast<Real>(x.rank(x.contribution[from][v], x.split.total(x.g, v, x.g.in_records()[v])));
  }
};

/// Sets the ranks of hubs, and computes the sums of an iteration; before the first iteration, only the sums.
template <class Vectors>
struct finish_iteration {
  using vectors = Vectors;
  Vectors x;
  std::uint32_t tiles;
  std::uint32_t sums;  // number of sums: of items, or of blocks of vertices
  unsigned from;
  bool first;
  double* totals;  // for tile_sums

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t tile) const {
    rank_state& state = *x.state;
    if (state.done != 0) return;
    typename vectors::sums all;
    if (!first) set_hubs(t, static_cast<std::uint32_t>(tile), state, all);
    for (std::size_t i = tile * Tile::size() + t.rank(); i < sums; i += std::size_t{tiles} * Tile::size()) {
      all.change += x.changes[i];
      all.dangling += x.danglings[i];
    }
    if (tile == 0 && t.rank() == 0) x.add_isolated(state, first, all);
    double both[] = {all.change, all.dangling};
    if (!tile_sums<2>{totals, &state.arrived}.add_up(t, tile, tiles, both) || t.rank() != 0) return;
    state.done = !first && both[0] < x.tolerance ? 1 : 0;
    // The result of `extrapolated` are the ranks that this iteration has read: it has computed their change.
    if (!extrapolates<typename Vectors::split_type> || state.done == 0) {
      state.dangling_before = state.dangling;
      state.dangling = both[1];
    }
    if (first) return;
    state.change_before = state.change;
    state.change = both[0];
    ++state.iterations;
  }

 private:
  template <class Tile>
  WYRM_HD void set_hubs(Tile const& t, std::uint32_t tile, rank_state const& state, typename vectors::sums& all) const {
    row_bins_view const& b = x.bins;
    for (std::uint32_t h = tile; h < b.hub_rows; h += tiles) {
      double const sent = b.sum_of_parts(t, h, x.parts);
      if (t.rank() != 0) continue;
      binned_row const row = b.hub(h);
      (void)x.set(row.vertex, x.load(row.vertex, row, state, from), sent, 1 - from, all);
    }
  }
};

template <class Real>
struct set_ranks {
  graph::graph_view g;
  graph::vertex_id const* old_ids;  // see rank_vectors
  Real* rank;
  Real value;
  WYRM_HD void operator()(std::size_t v) const {
    rank[old_ids == nullptr ? v : old_ids[v]] = g.is_present(static_cast<graph::vertex_id>(v)) ? value : 0;
  }
};

}  // namespace wyrm::algorithms::detail
