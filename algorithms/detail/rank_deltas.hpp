// SPDX-License-Identifier: Apache-2.0
// PageRank by pull of changes. In each iteration a vertex sends the difference between its contribution and the sum of
// what it has sent before, rounded to 16 bits; what rounding leaves out is a part of the next difference. Each vertex
// keeps the sum of what it has received, which is the sum of what its in-neighbours have sent. So the ranks converge as
// those of the power method do, to the precision of the sums, while the values that are read at random take two bytes:
// twice as many hubs fit into the table of a multiprocessor (hubs_first.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda/std/bit>

#include "../../exec/config.hpp"
#include "../../graph/view.hpp"
#include "arc_weights.hpp"
#include "pull.hpp"
#include "rank_kernels.hpp"
#include "row_bins.hpp"

namespace wyrm::algorithms::detail {

/// The upper half of a float: its exponent, and 8 bits of precision ("bfloat16"). Rounds to nearest.
struct short_float {
  std::uint16_t bits;
  [[nodiscard]] WYRM_HD static short_float of(double value) {
    auto const all = cuda::std::bit_cast<std::uint32_t>(static_cast<float>(value));
    return {static_cast<std::uint16_t>((all + 0x7fff + (all >> 16 & 1)) >> 16)};
  }
  WYRM_HD explicit operator double() const {
    return static_cast<double>(cuda::std::bit_cast<float>(std::uint32_t{bits} << 16));
  }
};

[[nodiscard]] WYRM_HD inline short_float contribution_of(short_float const* all, graph::vertex_id v, bool valid) {
  return {valid ? all[v].bits : std::uint16_t{0}};
}
[[nodiscard]] WYRM_HD inline short_float contribution_of(contributions_with_table<short_float> const& from,
                                                         graph::vertex_id v, bool valid) {
  bool const in_table = v < from.count;
  std::uint16_t const near = valid && in_table ? from.table[v].bits : std::uint16_t{0};
  std::uint16_t const far = valid && !in_table ? from.all[v].bits : std::uint16_t{0};
  return {static_cast<std::uint16_t>(near | far)};
}

/// The arguments of pull_ranks and finish_iteration, as rank_vectors. Vertices without arcs, the last ones, are in no
/// bin: their ranks are equal, and known.
template <class Real>
struct rank_deltas {
  using real = short_float;
  using split_type = even_split;
  static constexpr bool is_weighted = false;
  graph::graph_view g;
  row_bins_view bins;
  graph::vertex_id const* old_ids;
  std::uint32_t hubs;
  std::uint32_t connected;       // vertices with arcs: the first ones of g
  std::uint32_t isolated;        // other vertices that are in the graph
  short_float* contribution[2];  // what a vertex sends in an iteration
  Real* received;                // the sum of what a vertex has received
  Real* sent;                    // and of what it has sent along each arc
  double* parts;
  double* changes;
  double* danglings;
  rank_state* state;
  double even;
  double damping;
  double tolerance;
  even_split split;

  struct sums {
    double change = 0;
    double dangling = 0;  // also what rounding has left out, so that the sum of the ranks stays 1
  };
  struct previous {
    double rank;
    double base;
    std::uint32_t degree;
    double received;
    double sent;
  };
  [[nodiscard]] WYRM_HD double share(graph::vertex_id v) const { return g.is_present(v) ? even : 0; }
  /// The part of a rank that does not come from in-neighbours.
  [[nodiscard]] WYRM_HD double base(double share, double dangling) const {
    return share * (1 - damping + damping * dangling);
  }
  [[nodiscard]] WYRM_HD previous load(graph::vertex_id v, graph::vertex_record const& row, rank_state const& state,
                                      unsigned) const {
    double const s = share(v);
    auto const all = static_cast<double>(received[v]);
    double const was = state.iterations == 0 ? s : base(s, state.dangling_before) + damping * all;
    return {was, base(s, state.dangling), split.total(g, v, row), all, static_cast<double>(sent[v])};
  }
  WYRM_HD void set(graph::vertex_id v, previous const& old, double arrived, unsigned to, sums& all) const {
    auto const all_received = static_cast<Real>(old.received + arrived);
    received[v] = all_received;
    double const fresh = old.base + damping * static_cast<double>(all_received);
    send(v, old.degree, fresh, old.sent, to, all);
    all.change += fresh < old.rank ? old.rank - fresh : fresh - old.rank;
  }
  WYRM_HD void send(graph::vertex_id v, std::uint32_t degree, double rank, double before, unsigned to,
                    sums& all) const {
    if (degree == 0) {
      all.dangling += rank;
      return;
    }
    short_float const delta = short_float::of(rank / degree - before);
    contribution[to][v] = delta;
    auto const all_sent = static_cast<Real>(before + static_cast<double>(delta));
    sent[v] = all_sent;
    all.dangling += rank - static_cast<double>(all_sent) * degree;
  }
  WYRM_HD void add_isolated(rank_state const& state, bool first, sums& all) const {
    double const now = first ? even : base(even, state.dangling);
    double const was = first || state.iterations == 0 ? even : base(even, state.dangling_before);
    all.dangling += isolated * now;
    all.change += isolated * (now < was ? was - now : now - was);
  }
};

/// One tile per 32 vertices with arcs: sends the first ranks, which are even.
template <class Real>
struct init_deltas {
  rank_deltas<Real> x;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t block) const {
    typename rank_deltas<Real>::sums all;
    for (unsigned k = 0; k < 32; k += Tile::size()) {
      std::size_t const i = block * 32 + k + t.rank();
      if (i >= x.connected) continue;
      auto const v = static_cast<graph::vertex_id>(i);
      x.received[v] = x.sent[v] = 0;
      x.send(v, x.split.total(x.g, v, x.g.in_records()[v]), x.share(v), 0, 0, all);
    }
    double const dangling = exec::sum(t, all.dangling);
    if (t.rank() != 0) return;
    x.changes[block] = 0;
    x.danglings[block] = dangling;
  }
};

/// One thread per vertex, after the last iteration, of which there was one at least.
template <class Real>
struct ranks_of_deltas {
  rank_deltas<Real> x;
  Real* rank;
  WYRM_HD void operator()(std::size_t i) const {
    auto const v = static_cast<graph::vertex_id>(i);
    double const received = v < x.connected ? static_cast<double>(x.received[v]) : 0;
    rank[x.old_ids[v]] = static_cast<Real>(x.base(x.share(v), x.state->dangling_before) + x.damping * received);
  }
};

}  // namespace wyrm::algorithms::detail
