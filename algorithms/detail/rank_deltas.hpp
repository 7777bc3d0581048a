// SPDX-License-Identifier: Apache-2.0
// PageRank by pull of changes. In each iteration a vertex sends the difference between its contribution and the sum of
// what it has sent before, rounded to 16 bits; what rounding leaves out stays in its rank, and is a part of the next
// difference. So no rank is lost, and no rank moves between components. Each vertex keeps the sum of what it has
// received, which is the sum of what its in-neighbours have sent. The differences become small, and with them the
// errors of rounding: the ranks converge to those of the power method. But until then they are not the same: iteration
// k has an error of up to 2^-9 of the change by iteration k - 1. The values that are read at random take two bytes, so
// that twice as many hubs as floats fit into the table of a multiprocessor (hubs_first.hpp).
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

/// The data of a vertex, in one sector of the memory of a GPU: vertices of a bin are not adjacent.
struct alignas(16) rank_account {
  double received;       // the sum of what the vertex has received
  double sent;           // and of what it has sent along each arc; its rank, if it has no arc out
  double unsent;         // its rank less what it has sent along all arcs
  std::uint32_t degree;  // arcs out
  [[nodiscard]] WYRM_HD double rank() const { return degree > 0 ? sent * degree + unsent : sent; }
};

/// The arguments of pull_ranks and finish_iteration, as rank_vectors. Vertices without arcs, the last ones, are in no
/// bin: their ranks are equal, and known.
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
  rank_account* accounts;
  double* parts;
  double* changes;
  double* danglings;
  rank_state* state;
  double even;
  double damping;
  double tolerance;
  even_split split;

  struct sums {
    double change = 0;  // also what is not sent yet, so that it bounds the error as in the power method
    double dangling = 0;
  };
  struct previous {
    double base;
    rank_account account;
  };
  /// The part of a rank that does not come from arcs.
  [[nodiscard]] WYRM_HD double base(double dangling) const { return even * (1 - damping + damping * dangling); }
  /// v has arcs, so it is in the graph.
  [[nodiscard]] WYRM_HD previous load(graph::vertex_id v, graph::vertex_record const&, rank_state const& state,
                                      unsigned) const {
    return {base(state.dangling), accounts[v]};
  }
  WYRM_HD void set(graph::vertex_id v, previous const& old, double arrived, unsigned to, sums& all) const {
    rank_account now = old.account;
    now.received += arrived;
    double const fresh = old.base + damping * (now.received + now.unsent);
    send(v, now, fresh, to, all);
    all.change += absolute(fresh - old.account.rank());
  }
  /// Sets the account, but for what has been received.
  WYRM_HD void send(graph::vertex_id v, rank_account a, double fresh, unsigned to, sums& all) const {
    if (a.degree == 0) {
      a.sent = fresh;
      all.dangling += fresh;
    } else {
      short_float const delta = short_float::of(fresh / a.degree - a.sent);
      contribution[to][v] = delta;
      a.sent += static_cast<double>(delta);
      a.unsent = fresh - a.sent * a.degree;
      all.change += absolute(a.unsent);
    }
    accounts[v] = a;
  }
  WYRM_HD void add_isolated(rank_state const& state, bool first, sums& all) const {
    double const now = first ? even : base(state.dangling);
    double const was = first || state.iterations == 0 ? even : base(state.dangling_before);
    all.dangling += isolated * now;
    all.change += isolated * absolute(now - was);
  }

 private:
  [[nodiscard]] WYRM_HD static double absolute(double x) { return x < 0 ? -x : x; }
};

/// One tile per 32 vertices with arcs: sends the first ranks, which are even.
struct init_deltas {
  rank_deltas x;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t block) const {
    rank_deltas::sums all;
    for (unsigned k = 0; k < 32; k += Tile::size()) {
      std::size_t const i = block * 32 + k + t.rank();
      if (i >= x.connected) continue;
      auto const v = static_cast<graph::vertex_id>(i);
      x.send(v, {0, 0, 0, x.split.total(x.g, v, x.g.in_records()[v])}, x.even, 0, all);
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
  rank_deltas x;
  Real* rank;
  WYRM_HD void operator()(std::size_t i) const {
    auto const v = static_cast<graph::vertex_id>(i);
    double const isolated = x.g.is_present(v) ? x.base(x.state->dangling_before) : 0;
    rank[x.old_ids[v]] = static_cast<Real>(v < x.connected ? x.accounts[v].rank() : isolated);
  }
};

}  // namespace wyrm::algorithms::detail
