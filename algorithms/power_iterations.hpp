// SPDX-License-Identifier: Apache-2.0
// Centralities that are found by repeated multiplication with the matrix A of arcs, A[u][v] = the weight of u -> v:
// - hubs and authorities (HITS: Kleinberg, J. ACM 1999): a = A^T h and h = A a, each scaled to the sum 1;
// - Katz centrality (Katz, Psychometrika 1953): x = alpha A^T x + beta, as the series of beta (alpha A^T)^k 1. Terms
//   are summed, so that the size of the remaining terms is known without cancellation;
// - eigenvector centrality (Bonacich 1972): the eigenvector of A^T for its greatest eigenvalue, of L2 norm 1. The
//   iteration multiplies by A^T + I, whose eigenvectors are the same: with A^T, a bipartite graph would not converge.
// All pull: HITS along both directions, the others along in-neighbours. See detail/power_steps.hpp for the launches.
// The iterations of HITS multiply by the symmetric matrix A A^T, and those of eigenvector centrality by A, which is
// symmetric if the graph is undirected. There most iterations are those of the locally optimal power method
// (detail/optimal_steps.hpp), which needs far fewer; the last ones, which decide that the tolerance is reached, are
// always those of the power method.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "../exec/error.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "../graph/any_graph.hpp"
#include "../graph/view.hpp"
#include "detail/optimal_steps.hpp"
#include "detail/power_steps.hpp"
#include "detail/requirements.hpp"
#include "detail/row_bins.hpp"
#include "detail/tile_sums.hpp"
#include "detail/weights.hpp"

namespace wyrm::algorithms {

struct power_options {
  /// An iteration that changes the values by less, in the L1 norm and relative to their sum, is the last; > 0.
  double tolerance = 1e-9;
  unsigned max_iterations = 1000;
  bool weighted = false;  // whether the values of the graph, finite and not negative, are weights of arcs
};

struct katz_options : power_options {
  double alpha = 0.1;      // >= 0, and below 1 / the greatest eigenvalue of the graph
  double beta = 1;         // the value of a vertex without in-neighbours, before normalisation; > 0
  bool normalised = true;  // whether the values are scaled to the L2 norm 1
};

struct power_run {
  unsigned iterations = 0;  // of both methods
  bool converged = false;   // whether the tolerance was reached
  double change = 0;        // of the last iteration, in the L1 norm and relative to the sum of the values
};
struct hits_result : power_run {
  std::vector<double> hubs;         // of each vertex; 0 for an absent one; the sum is 1, or 0 without positive weights
  std::vector<double> authorities;  // the same
};
struct centrality_result : power_run {
  std::vector<double> value;  // of each vertex; 0 for an absent one
};

/// Computes centralities of different graphs, or of one changing graph; values and scratch stay on the device: about 50
/// bytes per vertex, for directed graphs 70; and 28 more after hits(), or eigenvector() of an undirected graph. A run
/// that throws leaves no values. Not thread-safe.
template <class Space>
class power_iterator {
 public:
  explicit power_iterator(Space const& space)
      : space_(space),
        bulk_(space),
        inspector_(space),
        in_(space),
        out_(space),
        values_(space),
        scratch_(space),
        optimal_(space),
        residual_(space),
        state_(space, 1),
        optimum_(space, 1) {}

  /// Cost and errors: as the function hits().
  power_run hits(graph::graph_view const& g, power_options const& o) {
    matrices both = prepare(g, o, "hits", true);
    both.in.norm = power_norm::squares;
    both.in.state = both.out.state = &optimum_.data()->power;
    unsigned const before = approach(g, o, power_norm::products, 0, [&](float const* from, double* to) {
      multiply_both(both, from, to, detail::choose_combination{optimum_.data(), true});
    });
    both.in.norm = power_norm::products;
    both.in.state = both.out.state = state_.data();
    power_run const run = iterate(o, before, [&](unsigned from) {
      multiply_both(both, vector(from), vector(1 - from), store_norm(1, power_norm::products));
      return detail::normalised_product{vector(1 - from), vector(from), 1};
    });
    for (double* const values : {vector(result_), vector(2)}) {
      exec::for_each(space_, n_, detail::keep_positive{values});
      double const sum = bulk_.sum(values, n_);
      exec::for_each(space_, n_, detail::scale_values{sum > 0 ? 1 / sum : 0, values});
    }
    return run;
  }

  /// Cost and errors: as the function katz().
  power_run katz(graph::graph_view const& g, katz_options const& o) {
    constexpr char const* who = "katz";
    if (!(o.alpha >= 0) || !std::isfinite(o.alpha) || !(o.beta > 0) || !std::isfinite(o.beta))
      refuse(who, "alpha must be finite and not negative, and beta finite and positive");
    detail::power_matrix matrix = prepare(g, o, who, false).in;
    matrix.factor = o.alpha;
    start(g, 1.0, vector(0), vector(2));  // the first term without beta, which is a factor of all terms
    power_run const run = iterate(o, 0, [&](unsigned from) {
      multiply(matrix, vector(from), vector(1 - from), store_norm(0, matrix.norm));
      return detail::term_of_series{vector(2), vector(1 - from), vector(from)};
    });
    if (last_.diverges != 0 || (!run.converged && last_.grows != 0))
      refuse(who, "the series " + std::string(last_.diverges != 0 ? "diverges" : "still grows") + " after " +
                      std::to_string(run.iterations) + " iterations with alpha = " + std::to_string(o.alpha) +
                      "; alpha must be below 1 / the greatest eigenvalue of the graph");
    if (o.normalised)
      normalise(vector(2), vector(0));
    else
      exec::for_each(space_, n_, detail::scale_values{o.beta, vector(2)});
    result_ = 2;
    return run;
  }

  /// Cost and errors: as the function eigenvector_centrality().
  power_run eigenvector(graph::graph_view const& g, power_options const& o) {
    constexpr double own = 1;
    bool const symmetric = !g.directed();
    detail::power_matrix matrix = prepare(g, o, "eigenvector_centrality", symmetric).in;
    unsigned before = 0;
    if (symmetric) {
      matrix.norm = power_norm::with_values;
      matrix.state = &optimum_.data()->power;
      before = approach(g, o, power_norm::squares, own, [&](float const* from, double* to) {
        multiply(matrix, from, to, detail::choose_combination{optimum_.data(), false});
      });
    } else {
      start(g, start_value(g, power_norm::squares), vector(0));
    }
    matrix.own = own;
    matrix.norm = power_norm::squares;
    matrix.state = state_.data();
    power_run const run = iterate(o, before, [&](unsigned from) {
      multiply(matrix, vector(from), vector(1 - from), store_norm(0, matrix.norm));
      return detail::normalised_product{vector(1 - from), vector(from), 0};
    });
    if (symmetric) {
      exec::for_each(space_, n_, detail::keep_positive{values()});
      normalise(values(), vector(2));
    }
    return run;
  }

  /// The values of the last run, in device memory, in the order of vertices; of hits(): the hubs.
  [[nodiscard]] double* values() const { return vector(result_); }
  /// The authorities of the last run, which was hits().
  [[nodiscard]] double* authorities() const { return vector(2); }

 private:
  using power_norm = detail::power_norm;
  static constexpr detail::bin_limits limits{32, 256, 1024, 1024};
  struct matrices {
    detail::power_matrix in;   // along in-neighbours
    detail::power_matrix out;  // along out-neighbours
  };

  [[noreturn]] static void refuse(std::string const& who, std::string const& what) {
    throw error(error_code::bad_argument, who + ": " + what);
  }
  /// Of present vertices in the first vector, whose norm is 1.
  [[nodiscard]] static double start_value(graph::graph_view const& g, power_norm norm) {
    double const present = std::max(1.0, static_cast<double>(g.present_vertices()));
    return 1 / (norm == power_norm::squares ? std::sqrt(present) : present);
  }
  [[nodiscard]] double* vector(unsigned i) const { return values_.data() + i * n_; }
  [[nodiscard]] std::size_t blocks() const { return (n_ + 31) / 32; }

  /// Checks arguments, requests memory, and returns the matrices, whose weights are scaled so that the greatest is 1.
  /// symmetric: whether approach() follows.
  matrices prepare(graph::graph_view const& g, power_options const& o, std::string const& who, bool symmetric) {
    if (!(o.tolerance > 0) || o.max_iterations == 0)
      refuse(who, "the tolerance and the greatest number of iterations must be positive");
    detail::require_in_neighbours(g, who);
    if (o.weighted) inspector_.require_numbers(g, who);
    std::size_t const n = g.vertices();
    n_ = 0;
    detail::row_bins_view const out = out_.make(g.out_records(), n, g.arcs(), limits);
    double const largest = o.weighted ? inspector_.largest(g, out, who) : 1;
    detail::row_bins_view const in = g.directed() ? in_.make(g.in_records(), n, g.arcs(), limits) : out;
    std::size_t const items = std::max(in.items(), out.items());
    std::size_t const parts = std::max(in.parts, out.parts);
    std::size_t const of_blocks = 3 * ((n + 31) / 32);
    values_.reserve(3 * n);
    scratch_.reserve(items + parts + of_blocks + totals_size);
    if (symmetric) {
      optimal_.reserve(3 * n);
      residual_.reserve(n);
    }
    n_ = n;
    result_ = 0;
    double* const norms = scratch_.data();
    block_sums_ = norms + items + parts;
    totals_ = block_sums_ + of_blocks;
    double const factor = largest > 0 ? std::min(1 / largest, std::numeric_limits<double>::max()) : 0;
    detail::power_matrix const matrix{.bins = in,
                                      .records = g.in_records(),
                                      .type = o.weighted ? g.numbers() : graph::number_type::none,
                                      .factor = factor,
                                      .own = 0,
                                      .norm = power_norm::products,
                                      .norms = norms,
                                      .parts = norms + items,
                                      .state = state_.data()};
    matrices both{matrix, matrix};
    both.out.bins = out;
    both.out.records = g.out_records();
    return both;
  }
  /// Begins with a value of all present vertices, which `values` receives, and `copy` if it is not nullptr.
  template <class Real>
  void start(graph::graph_view const& g, Real value, Real* values, Real* copy = nullptr) {
    exec::for_each(space_, n_, detail::start_vector<Real>{g, value, values, copy});
    detail::power_state initial{};
    initial.term = static_cast<double>(value) * static_cast<double>(g.present_vertices());
    exec::write(space_, state_.data(), initial);
  }
  /// Scales values to the L2 norm 1.
  void normalise(double* values, double* squares_of_values) {
    exec::for_each(space_, n_, detail::square_values{values, squares_of_values});
    double const squares = bulk_.sum(squares_of_values, n_);
    exec::for_each(space_, n_, detail::scale_values{squares > 0 ? 1 / std::sqrt(squares) : 0, values});
  }
  [[nodiscard]] detail::store_norm store_norm(unsigned at, power_norm of) const { return {state_.data(), at, of}; }
  /// Enqueues the product of a matrix and `from`, and a call of after() with its norm.
  template <class Real, class After>
  void multiply(detail::power_matrix const& by, Real const* from, double* to, After const& after) const {
    detail::power_step<Real> const step{by, from, to};
    exec::for_each_tile<32>(space_, step.bins.items(), detail::multiply_rows<Real>{step});
    std::uint32_t const tiles =
        detail::tile_sums<1>::tiles(step.bins.items(), Space::template tile_size<32>, step.bins.hub_rows);
    exec::for_each_tile<32>(space_, tiles, detail::finish_product<Real, After>{step, tiles, totals_, after});
  }
  /// Both products of HITS: to = A A^T from. The norm of the first one is stored.
  template <class Real, class After>
  void multiply_both(matrices const& both, Real const* from, double* to, After const& after) const {
    multiply(both.in, from, vector(2), detail::store_norm{both.in.state, 0, both.in.norm});
    multiply(both.out, vector(2), to, after);
  }
  /// Computes the vector of values before the iterations of the power method, for a symmetric matrix M, by the locally
  /// optimal method; returns the number of its iterations. product(from, to): enqueues to = M from, and
  /// detail::choose_combination.
  template <class Product>
  unsigned approach(graph::graph_view const& g, power_options const& o, power_norm norm, double own,
                    Product const& product) {
    constexpr double least_tolerance = 1e-12;  // M x is a sum of earlier products, which limits its precision
    double const first = start_value(g, norm);
    if (n_ == 0 || o.max_iterations <= 2) {
      start(g, first, vector(0));
      return 0;
    }
    detail::optimal_vectors const of{
        vector(0), vector(1), residual_.data(), optimal_.data(), optimal_.data() + n_, optimal_.data() + 2 * n_};
    space_.fill(of.x, 0, 2 * n_ * sizeof(double));
    space_.fill(of.p, 0, 2 * n_ * sizeof(double));
    auto const value = static_cast<float>(first);
    start(g, value, of.r);
    detail::optimal_state state{};
    state.rr = static_cast<double>(value) * static_cast<double>(value) * static_cast<double>(g.present_vertices());
    state.least_change = std::numeric_limits<double>::max();
    exec::write(space_, optimum_.data(), state);
    std::uint32_t const tiles = detail::tile_sums<detail::optimal_state::sums>::tiles(n_, 256);
    double const tolerance = std::max(o.tolerance / 2, least_tolerance);  // a norm may double the change of a step
    detail::combine_vectors const combine{of, n_, tiles, own, tolerance, totals_, optimum_.data()};
    state = repeated(
        o.max_iterations - 1, at_once,
        [&](unsigned) {
          product(of.r, of.mr);
          exec::for_each_tile<32>(space_, tiles, combine);
        },
        optimum_.data(), [](detail::optimal_state const& s) { return s.power.done != 0; });
    double const length = norm == power_norm::squares ? std::copysign(std::sqrt(state.xx), state.sum) : state.sum;
    if (std::isfinite(1 / length))
      exec::for_each(space_, n_, detail::scale_values{1 / length, of.x});
    else
      start(g, first, vector(0));
    return state.power.iterations;
  }
  /// step(from): enqueues the products of an iteration, which reads vector(from), and returns how it ends. `before`:
  /// iterations that have been done.
  template <class Step>
  power_run iterate(power_options const& o, unsigned before, Step const& step) {
    std::uint32_t const tiles = sums::tiles(blocks(), Space::template tile_size<32>);
    last_ = repeated(
        o.max_iterations - before, before > 0 ? 2 : at_once,
        [&](unsigned number) {
          auto const next = step(number % 2);
          exec::for_each_tile<32>(
              space_, blocks(),
              detail::advance_vector<decltype(step(0))>{next, n_, blocks(), block_sums_, state_.data()});
          exec::for_each_tile<32>(
              space_, tiles,
              detail::finish_power_iteration{block_sums_, blocks(), tiles, o.tolerance, totals_, state_.data()});
        },
        state_.data(), [](detail::power_state const& s) { return s.done != 0; });
    result_ = last_.iterations % 2;
    return {before + last_.iterations, last_.done != 0 && last_.diverges == 0, last_.change};
  }
  /// Enqueues work(0), work(1), ..., `first` calls and then at_once calls before it reads the state again; until
  /// is_done(state), or `most` calls. Returns the state.
  template <class State, class Work, class Done>
  [[nodiscard]] State repeated(unsigned most, unsigned first, Work const& work, State const* state,
                               Done const& is_done) const {
    unsigned started = 0;
    for (unsigned size = first;; size = at_once) {
      for (unsigned const end = started + std::min(size, most - started); started < end; ++started) work(started);
      State const now = exec::read(space_, state);
      if (started == most || is_done(now)) return now;
    }
  }

  static constexpr unsigned at_once = 8;
  using sums = detail::tile_sums<3>;
  static constexpr std::size_t totals_size = detail::tile_sums<detail::optimal_state::sums>::size;
  Space space_;
  typename Space::bulk bulk_;
  detail::weight_inspector<Space> inspector_;
  detail::row_bins<Space> in_;
  detail::row_bins<Space> out_;
  exec::buffer<double, Space> values_;   // three vectors
  exec::buffer<double, Space> scratch_;  // sums of items, sums of parts of hubs, sums of blocks, totals
  exec::buffer<double, Space> optimal_;  // three vectors of approach()
  exec::buffer<float, Space> residual_;  // of approach()
  exec::buffer<detail::power_state, Space> state_;
  exec::buffer<detail::optimal_state, Space> optimum_;
  detail::power_state last_{};
  double* block_sums_ = nullptr;
  double* totals_ = nullptr;
  std::size_t n_ = 0;
  unsigned result_ = 0;  // the vector with the values of the last run
};

/// Hubs and authorities. As the leading singular vectors of the matrix of arcs, they depend on the graph only if the
/// greatest singular value is simple; otherwise they are those that the iteration finds from equal values. In an
/// undirected graph both are the same in the limit. Weights are relative. O((vertices + arcs) iterations); the host
/// waits after every eighth iteration. Memory: as power_iterator. Throws error(bad_argument) for options out of range,
/// a directed graph without in-neighbours, or, if `weighted`, a graph whose values are no numbers or a value that is
/// negative or not finite. Thread-safe for different streams, as all functions on views.
template <class Space>
hits_result hits(Space const& space, graph::graph_view const& g, power_options const& o = {}) {
  power_iterator<Space> iterator(space);
  power_run const run = iterator.hits(g, o);
  return {run, exec::copy_out(space, iterator.values(), g.vertices()),
          exec::copy_out(space, iterator.authorities(), g.vertices())};
}

/// Katz centrality: walks into a vertex, of which those of k arcs count beta alpha^k times the product of their
/// weights. Cost as hits(). Errors as hits(); also error(bad_argument) if the series diverges, because alpha is not
/// below 1 / the greatest eigenvalue. That is known as soon as no term of the series shrinks, or a sum overflows; if
/// only a part of the graph has such an eigenvalue, after max_iterations at the latest.
template <class Space>
centrality_result katz(Space const& space, graph::graph_view const& g, katz_options const& o = {}) {
  power_iterator<Space> iterator(space);
  power_run const run = iterator.katz(g, o);
  return {run, exec::copy_out(space, iterator.values(), g.vertices())};
}

/// Eigenvector centrality: the value of a vertex is proportional to the sum of the values of its in-neighbours, times
/// weights; the L2 norm is 1. Weights are relative. Meant for (strongly) connected graphs. Of others it is the
/// eigenvector that the iteration finds from equal values; without cycles there is none but 0, and convergence is slow:
/// see katz(). Cost and errors as hits().
template <class Space>
centrality_result eigenvector_centrality(Space const& space, graph::graph_view const& g, power_options const& o = {}) {
  power_iterator<Space> iterator(space);
  power_run const run = iterator.eigenvector(g, o);
  return {run, exec::copy_out(space, iterator.values(), g.vertices())};
}

hits_result hits(graph::any_graph const& g, power_options const& o = {});
centrality_result katz(graph::any_graph const& g, katz_options const& o = {});
centrality_result eigenvector_centrality(graph::any_graph const& g, power_options const& o = {});

}  // namespace wyrm::algorithms
