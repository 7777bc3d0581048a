// SPDX-License-Identifier: Apache-2.0
// The launches of power iterations. A step multiplies a vector by the matrix of arcs, which takes two launches: one
// computes the sum over each row, as detail/row_sums.hpp distributes rows; the other sets the rows of hubs, and adds up
// the norm of the product. An iteration ends with two more launches: one computes the next vector, and how much it
// differs from the last one, for blocks of 32 vertices; the other adds that up. Rows keep their order in the bins, and
// sums are added in that order, so the same graph gives the same bits on each run in the same space.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "../../exec/tile.hpp"
#include "../../graph/view.hpp"
#include "pull.hpp"
#include "row_bins.hpp"
#include "row_sums.hpp"
#include "tile_sums.hpp"
#include "weights.hpp"

namespace wyrm::algorithms::detail {

/// In device memory; the host reads it.
struct power_state {
  double norms[2];  // of the last product of each step of an iteration
  double change;    // relative to the sum of the values
  double term;      // the sum of the changes of the last iteration
  std::uint32_t iterations;
  std::uint32_t done;
  std::uint32_t grows;     // whether the last iteration changed no less than the one before
  std::uint32_t diverges;  // whether the series is known to diverge
  std::uint32_t arrived;   // for tile_sums
};

/// What is added up over all vertices.
enum class power_norm : std::uint8_t { products, squares, with_values };  // product[v] times 1, itself, or values[v]

/// What all products have in common: the matrix, the norm, and scratch.
struct power_matrix {
  row_bins_view bins;
  graph::packed_record const* records;
  graph::number_type type;  // none: all weights are 1
  double factor;
  double own;
  power_norm norm;
  double* norms;  // a sum per item
  double* parts;  // the sums of parts of hubs
  power_state* state;
};

/// product[v] = factor * (the sum of weight * values[u] over the row of v) + own * values[v]. Real: the type of values,
/// which are read at random, so that floats take less time.
template <class Real>
struct power_step : power_matrix {
  Real const* values;
  double* product;

  /// Stores the product at v; returns what it adds to the norm.
  [[nodiscard]] WYRM_HD double store(graph::vertex_id v, double sum) const {
    double const scale = type == graph::number_type::none ? factor : 1;  // weights are scaled before they are added
    double const value = static_cast<double>(values[v]);
    double const got = scale * sum + (own != 0 ? own * value : 0);
    product[v] = got;
    return got * (norm == power_norm::products ? 1 : norm == power_norm::squares ? got : value);
  }
};

/// One tile per item of the bins.
template <class Real>
struct multiply_rows {
  static constexpr unsigned resident_blocks = 4;  // the kernel waits for loads
  power_step<Real> step;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t item) const {
    if (step.state->done != 0) return;
    rows here{step, 0};
    sum_rows(t, step.bins, static_cast<std::uint32_t>(item), here);
    double const norm = exec::sum(t, here.norm);
    if (t.rank() == 0) step.norms[item] = norm;
  }

 private:
  struct nothing {};
  struct rows {
    power_step<Real> const& step;
    double norm;

    [[nodiscard]] WYRM_HD nothing load(graph::vertex_id, graph::vertex_record const&) const { return {}; }
    WYRM_HD void set(graph::vertex_id v, graph::vertex_record const&, nothing, double sum) {
      norm += step.store(v, sum);
    }
    WYRM_HD void set_part(std::uint32_t number, graph::vertex_id, double sum) const { step.parts[number] = sum; }
    template <class Tile>
    [[nodiscard]] WYRM_HD double sum(Tile const& t, graph::vertex_id v, graph::vertex_record const& row,
                                     std::uint32_t begin, std::uint32_t end, std::uint32_t lane,
                                     std::uint32_t lanes) const {
      if (step.type == graph::number_type::none)
        return pull<double, false>(t, step.values, nullptr, row.page, begin, end, lane, lanes);
      if (begin == end) return 0;
      value_row const weights(step.records[v], step.type);
      constexpr unsigned at_once = 4;  // loads that are issued before the first one returns
      double all = 0;
      for (std::uint32_t i = begin + lane; i < end; i += at_once * lanes) {
        double products[at_once];
        for (unsigned k = 0; k < at_once; ++k) {
          std::uint32_t const at = i + k * lanes;
          products[k] =
              at < end ? step.factor * weights.weight(at) * static_cast<double>(step.values[row.page[at]]) : 0;
        }
        all += (products[0] + products[1]) + (products[2] + products[3]);
      }
      return all;
    }
  };
};

/// Stores the L1 norm of a product without negative values, or the L2 norm.
struct store_norm {
  power_state* state;
  unsigned at;
  power_norm of;
  WYRM_HD void operator()(double sum) const { state->norms[at] = of == power_norm::squares ? std::sqrt(sum) : sum; }
};

/// One tile per share of the sums: sets the products of hubs, adds up the norm, and calls after(sum).
template <class Real, class After>
struct finish_product {
  power_step<Real> step;
  std::uint32_t tiles;
  double* totals;
  After after;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t tile) const {
    power_state& state = *step.state;
    if (state.done != 0) return;
    row_bins_view const& b = step.bins;
    double norm[] = {0};
    for (auto h = static_cast<std::uint32_t>(tile); h < b.hub_rows; h += tiles) {
      double const sum = b.sum_of_parts(t, h, step.parts);
      if (t.rank() == 0) norm[0] += step.store(b.hub(h).vertex, sum);
    }
    std::size_t const items = b.items() - b.parts;  // the parts come last
    for (std::size_t i = tile * Tile::size() + t.rank(); i < items; i += std::size_t{tiles} * Tile::size())
      norm[0] += step.norms[i];
    if (tile_sums<1>{totals, &state.arrived}.add_up(t, tile, tiles, norm) && t.rank() == 0) after(norm[0]);
  }
};

/// What an iteration does to a value, or the sum of that over several values.
struct power_effect {
  double change;
  double value;
  double shrinking;  // the number of values that prevent the proof that a series diverges
};

/// How the next vector follows from the product: it is the product, scaled to the norm 1.
struct normalised_product {
  double* product;       // becomes the next vector
  double const* values;  // the last vector
  unsigned norm_at;
  [[nodiscard]] WYRM_HD power_effect apply(std::size_t v, power_state const& state) const {
    double const norm = state.norms[norm_at];
    double const next = norm > 0 ? product[v] / norm : 0;
    product[v] = next;
    return {std::abs(next - values[v]), next, 1};
  }
};

/// The product is the next term of a series of vectors without negative values; `values` is the term before it.
struct term_of_series {
  double* sum;  // of the terms so far
  double const* product;
  double const* values;
  [[nodiscard]] WYRM_HD power_effect apply(std::size_t v, power_state const&) const {
    double const term = product[v];
    double const all = sum[v] + term;
    sum[v] = all;
    return {term, all, term < values[v] ? 1.0 : 0.0};
  }
};

/// One tile per 32 vertices.
template <class Next>
struct advance_vector {
  Next next;
  std::size_t n;
  std::size_t blocks;
  double* sums;  // [3][blocks]
  power_state const* state;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t block) const {
    if (state->done != 0) return;
    power_effect all{0, 0, 0};
    for (unsigned k = 0; k < 32; k += Tile::size()) {
      std::size_t const v = block * 32 + k + t.rank();
      if (v >= n) continue;
      power_effect const one = next.apply(v, *state);
      all.change += one.change;
      all.value += one.value;
      all.shrinking += one.shrinking;
    }
    all = {exec::sum(t, all.change), exec::sum(t, all.value), exec::sum(t, all.shrinking)};
    if (t.rank() != 0) return;
    sums[block] = all.change;
    sums[blocks + block] = all.value;
    sums[2 * blocks + block] = all.shrinking;
  }
};

/// Adds up the sums of blocks, and decides whether the iteration is the last one.
struct finish_power_iteration {
  double const* sums;  // [3][blocks]
  std::size_t blocks;
  std::uint32_t tiles;
  double tolerance;
  double* totals;
  power_state* of;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t tile) const {
    power_state& state = *of;
    if (state.done != 0) return;
    double all[] = {0, 0, 0};
    for (std::size_t i = tile * Tile::size() + t.rank(); i < blocks; i += std::size_t{tiles} * Tile::size())
      for (unsigned k = 0; k < 3; ++k) all[k] += sums[k * blocks + i];
    if (!tile_sums<3>{totals, &state.arrived}.add_up(t, tile, tiles, all) || t.rank() != 0) return;
    double const change = all[1] > 0 ? all[0] / all[1] : 0;
    state.change = change;
    state.grows = all[0] >= state.term ? 1 : 0;
    state.term = all[0];
    ++state.iterations;
    bool const converged = change < tolerance;
    // A matrix without negative entries that shrinks no entry of a vector has an eigenvalue of 1 or more (Collatz
    // 1942).
    bool const is_finite = all[1] <= 0x1.fffffffffffffp1023;
    state.diverges = !is_finite || (all[0] > 0 && all[2] == 0) ? 1 : 0;
    state.done = converged || state.diverges != 0 ? 1 : 0;
  }
};

/// One thread per vertex.
template <class Real>
struct start_vector {
  graph::graph_view g;
  Real value;
  Real* values;
  Real* copy;  // or nullptr
  WYRM_HD void operator()(std::size_t v) const {
    Real const mine = g.is_present(static_cast<graph::vertex_id>(v)) ? value : 0;
    values[v] = mine;
    if (copy != nullptr) copy[v] = mine;
  }
};

/// One thread per vertex.
struct scale_values {
  double factor;
  double* values;
  WYRM_HD void operator()(std::size_t v) const { values[v] *= factor; }
};

/// One thread per vertex.
struct square_values {
  double const* values;
  double* squares;
  WYRM_HD void operator()(std::size_t v) const { squares[v] = values[v] * values[v]; }
};

}  // namespace wyrm::algorithms::detail
