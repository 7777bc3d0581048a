// SPDX-License-Identifier: Apache-2.0
// The iteration of Gauss and Seidel for PageRank: a vertex adds up the newest contributions of its in-neighbours, also
// those of the same iteration. On many threads "the newest" depends on timing. Here it does not, so that each run gives
// the same result: vertices are divided into chunks of consecutive ids. A tile sets the vertices of a chunk one after
// another (32 at a time, if it has lanes). An iteration has four phases, which are launches; chunk c belongs to phase
// c % 4. A vertex reads the contributions
//   of the chunks of other phases, which do not change during this launch, and of its own chunk: the newest;
//   of the other chunks of its phase: those from before the iteration.
// Neighbours often have close ids, and are then in the same chunk or in chunks of different phases; of other arcs,
// three quarters connect different phases.
//
// After an iteration all ranks are multiplied by the same factor, so that their sum is 1 again. Without this, the error
// of the sum would only decrease to about d^2 of it per iteration. With it, an iteration is a step of the power method
// with the matrix M^-1 (N + c 1^T), where M - N is the splitting of I - d P that the order of vertices defines, and c
// are the probabilities of jumps; no entry is negative, and the rows of vertices with c > 0 are positive, so ranks
// converge for any graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda/std/bit>

#include "../../exec/load.hpp"
#include "../../exec/tile.hpp"
#include "../../graph/view.hpp"
#include "pull.hpp"
#include "rank_kernels.hpp"
#include "tile_sums.hpp"

namespace wyrm::algorithms::detail {

/// The order in which an iteration sets vertices.
struct sweep_order {
  static constexpr std::uint32_t chunk_size = 512;
  static constexpr std::uint32_t phases = 4;
  [[nodiscard]] static std::uint32_t chunks(std::size_t n) {
    return static_cast<std::uint32_t>((n + chunk_size - 1) / chunk_size);
  }
  /// The number of chunks of a phase, of `chunks` chunks in total.
  [[nodiscard]] static std::uint32_t chunks_of(std::uint32_t phase, std::uint32_t chunks) {
    return (chunks + phases - 1 - phase) / phases;
  }
};

/// The contributions that the vertices of a chunk read.
template <class Real>
struct sweep_contributions {
  Real const* newest;
  Real const* before;  // the iteration
  std::uint32_t chunk;
};
template <class Real>
[[nodiscard]] WYRM_HD Real contribution_of(sweep_contributions<Real> const& from, graph::vertex_id v, bool valid) {
  std::uint32_t const other = v / sweep_order::chunk_size ^ from.chunk;
  bool const changes_now = other != 0 && other % sweep_order::phases == 0;
  Real const* const values = changes_now ? from.before : from.newest;
  return valid ? values[v] : Real{0};
}

/// Sets the vertices of a chunk; one tile per chunk of a phase. Vectors: rank_vectors, in which contribution[0] are the
/// newest contributions and contribution[1] those from before the iteration, and `parts` receives the sum of the ranks
/// of each chunk.
template <class Vectors>
struct sweep_chunk {
  static constexpr std::size_t grain = 1;
  static constexpr std::uint32_t longest_of_lane = 32;  // entries of a row that a lane reads without the others
  Vectors x;
  std::uint32_t phase;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i) const {
    rank_state const state = *x.state;
    if (state.done != 0) return;
    auto const chunk = static_cast<std::uint32_t>(i * sweep_order::phases + phase);
    std::size_t const n = x.g.vertices();
    std::size_t const first = std::size_t{chunk} * sweep_order::chunk_size;
    std::size_t const end = first + sweep_order::chunk_size < n ? first + sweep_order::chunk_size : n;
    sweep_contributions<typename Vectors::real> const newest{x.contribution[0], x.contribution[1], chunk};
    typename Vectors::sums all;
    double ranks = 0;
    for (std::size_t at = first; at < end; at += Tile::size()) {
      bool const valid = at + t.rank() < end;
      auto const v = static_cast<graph::vertex_id>(valid ? at + t.rank() : first);
      graph::vertex_record const row = x.g.in_records()[v];
      auto const was = x.load(v, row, state, 0);
      bool const is_long = Tile::size() > 1 && valid && row.degree > longest_of_lane;
      if constexpr (Tile::size() == 1)
        if (at + rows_ahead < end) exec::prefetch(x.g.in_records()[at + rows_ahead].page());
      double sent = sum(t, newest, v, row, valid && !is_long ? row.degree : 0, 0, 1);
      for (std::uint32_t left = t.ballot(is_long); left != 0; left &= left - 1) {
        auto const lane = static_cast<unsigned>(cuda::std::countr_zero(left));
        auto const u = static_cast<graph::vertex_id>(at + lane);
        graph::vertex_record const of_u = x.g.in_records()[u];
        double const all_of_u = exec::sum(t, sum(t, newest, u, of_u, of_u.degree, t.rank(), Tile::size()));
        if (t.rank() == lane) sent = all_of_u;
      }
      t.sync();  // all lanes have read before one writes
      if (valid) ranks += x.set(v, was, sent, 0, all);
      t.sync();
    }
    double const change = exec::sum(t, all.change);
    double const lost = exec::sum(t, all.dangling);
    ranks = exec::sum(t, ranks);
    if (t.rank() != 0) return;
    x.changes[chunk] = change;
    x.danglings[chunk] = lost;
    x.parts[chunk] = ranks;
  }

 private:
  static constexpr std::size_t rows_ahead = 8;
  template <class Tile, class Contributions>
  [[nodiscard]] WYRM_HD double sum(Tile const& t, Contributions const& newest, graph::vertex_id v,
                                   graph::vertex_record const& row, std::uint32_t end, std::uint32_t lane,
                                   std::uint32_t lanes) const {
    return pull<double, Vectors::is_weighted>(t, newest, x.split.row(v), row.page, 0, end, lane, lanes);
  }
};

/// Adds up the sums of all chunks after an iteration.
template <class Vectors>
struct finish_sweep {
  Vectors x;
  std::uint32_t tiles;
  std::uint32_t chunks;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t tile) const {
    auto& state = *x.state;
    if (state.done != 0) return;
    double sums[] = {0, 0, 0};
    for (std::size_t i = tile * Tile::size() + t.rank(); i < chunks; i += std::size_t{tiles} * Tile::size()) {
      sums[0] += x.changes[i];
      sums[1] += x.danglings[i];
      sums[2] += x.parts[i];
    }
    if (!tile_sums<3>{x.parts + chunks, &state.arrived}.add_up(t, tile, tiles, sums) || t.rank() != 0) return;
    state.scale = 1 / sums[2];
    state.dangling = sums[1] * state.scale;
    state.change = sums[0];
    ++state.iterations;
    state.done = sums[0] < x.tolerance ? 1 : 0;
  }
};

/// One thread per vertex: scales the ranks, so that their sum is 1, and copies them for the next iteration. last: after
/// the last iteration, the end of which does not prevent this.
template <class Vectors>
struct scale_contributions {
  Vectors x;
  bool last;
  WYRM_HD void operator()(std::size_t v) const {
    if (x.state->done != 0 && !last) return;
    using real = typename Vectors::real;
    x.contribution[0][v] = static_cast<real>(static_cast<double>(x.contribution[0][v]) * x.state->scale);
    x.contribution[1][v] = x.contribution[0][v];
  }
};

}  // namespace wyrm::algorithms::detail
