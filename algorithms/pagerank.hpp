// SPDX-License-Identifier: Apache-2.0
// PageRank (Page, Brin, Motwani, Winograd 1999) by pull: each vertex adds up the contributions of its in-neighbours, so
// that no two tiles write to the same place. Rows are distributed by length; see detail/row_bins.hpp. An iteration has
// two launches: one pulls; the other adds up the changes of all ranks, and the ranks of dangling vertices (those
// without out-neighbours), in a fixed order. The host reads the result of several iterations at once. The same graph
// gives the same ranks, bit for bit, on each run in the same space.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "../graph/any_graph.hpp"
#include "../graph/view.hpp"
#include "detail/arc_weights.hpp"
#include "detail/gauss_seidel.hpp"
#include "detail/hubs_first.hpp"
#include "detail/rank_deltas.hpp"
#include "detail/rank_kernels.hpp"
#include "detail/row_bins.hpp"
#include "detail/tile_sums.hpp"
#include "detail/weights.hpp"

namespace wyrm::algorithms {

enum class precision : std::uint8_t { fp64, fp32 };
/// How an iteration computes ranks:
///   power         from those of the iteration before (power method)
///   chebyshev     as power; where that converges slowly, extrapolated from those of two iterations; for undirected
///                 graphs
///   gauss_seidel  also from ranks of the same iteration (detail/gauss_seidel.hpp)
enum class rank_iteration : std::uint8_t { power, chebyshev, gauss_seidel };

struct pagerank_options {
  double damping = 0.85;  // in [0, 1)
  /// An iteration that changes the ranks by less, in the L1 norm, is the last; > 0. A fixed number of iterations, as in
  /// Graphalytics (Iosup and others, VLDB 2016): std::numeric_limits<double>::min(), which ends a run before
  /// max_iterations only if an iteration changes no rank.
  double tolerance = 1e-9;
  unsigned max_iterations = 500;
  std::vector<double> start = {};     // warm start: a rank per vertex, scaled to sum 1 by the caller; empty: 1/n each
  std::vector<double> teleport = {};  // weights of the targets of jumps, one per vertex, not negative; empty: uniform
  bool dangling_teleports = false;    // whether dangling vertices jump by `teleport`; false: uniformly
  /// Whether the values of the graph, which are finite numbers and not negative, are weights of arcs: a vertex splits
  /// its rank among its arcs in proportion to their weights; a vertex with no positive weight is dangling.
  bool weighted = false;
  /// The type of ranks during the computation; sums always have 64 bits. With fp32, changes below about 1e-7 are noise.
  precision ranks = precision::fp64;
  /// A run on a GPU copies the arcs of a skewed graph with at least so many arcs, so that the contributions of hubs are
  /// read from shared memory (detail/hubs_first.hpp). This takes the time of two to ten iterations before the first,
  /// and 4 bytes per arc and about 100 per vertex more, if there is so much memory. Only without weights and
  /// `teleport`, not with rank_iteration::gauss_seidel, and not on a space with a memory manager. With
  /// rank_iteration::power, fp64, without a start, and with a tolerance above 2.3e-16, contributions then have 16 bits
  /// (detail/rank_deltas.hpp): the ranks converge as well, but those of a run that max_iterations ends are less
  /// precise.
  std::uint64_t hubs_first_from = std::uint64_t{1} << 22;
  /// The meaning of the tolerance and the repeatability of results are the same for all of them. chebyshev needs at
  /// most about the iterations of `power`, and where these are many, half of them. gauss_seidel is meant for directed
  /// graphs on a CPU: it needs fewer iterations if most vertices are connected, but has six launches per iteration, and
  /// does not divide the rows of hubs.
  rank_iteration iteration = rank_iteration::power;
};

/// A source, and its weight among the sources of one set.
struct weighted_source {
  graph::vertex_id vertex;
  double weight;  // not negative; weights are relative
};

struct pagerank_run {
  unsigned iterations = 0;
  bool converged = false;  // whether the tolerance was reached
  double change = 0;       // of the last iteration, in the L1 norm
};
struct pagerank_result : pagerank_run {
  std::vector<double> rank;  // of each vertex; 0 for an absent one; the sum is 1
};

namespace detail {

template <class Space>
void check(pagerank_options const& o, graph::graph_view const& g) {
  auto const refuse = [](std::string const& what) { throw error(error_code::bad_argument, "pagerank: " + what); };
  if (!(o.damping >= 0 && o.damping < 1) || !(o.tolerance > 0))
    refuse("damping must be in [0, 1) and the tolerance positive");
  if (o.iteration == rank_iteration::chebyshev && g.directed())
    refuse("the graph is directed, but rank_iteration::chebyshev is for undirected graphs; use power or gauss_seidel");
  if (!g.has_in_neighbours())
    refuse("the directed graph does not keep in-neighbours; make it with options::in_neighbours");
  if (o.weighted) weight_inspector<Space>::require_numbers(g, "pagerank");
  if (!o.start.empty() && o.start.size() != g.vertices()) refuse("the start vector must have one rank per vertex");
  if (o.teleport.empty()) return;
  if (o.teleport.size() != g.vertices()) refuse("the teleport vector must have one weight per vertex");
  double sum = 0;
  for (double const weight : o.teleport) {
    if (!(weight >= 0) || std::isinf(weight)) refuse("the weights of the teleport vector must not be negative");
    sum += weight;
  }
  if (!(sum > 0)) refuse("one weight of the teleport vector at least must be positive");
  if (std::isinf(sum)) refuse("the sum of the weights of the teleport vector must be finite");
}

}  // namespace detail

/// Computes PageRank for different graphs, or for one changing graph; ranks and scratch memory stay on the device.
/// About 43 bytes per vertex (float: 31); with weights additionally 4 bytes per arc and 30 per vertex. Not thread-safe.
template <class Space, class Real = double>
class pagerank_ranker {
 public:
  explicit pagerank_ranker(Space const& space)
      : space_(space),
        bins_(space),
        weights_(space),
        rank_(space),
        contributions_(space),
        deltas_(space),
        accounts_(space),
        teleport_(space),
        scratch_(space),
        state_(space, 1) {}

  /// Requests all memory that run() without weights and jumps needs for this many vertices and arcs. rank() has n
  /// values then, which are not initialised if it had to grow. Throws error(out_of_memory).
  void reserve(std::size_t n, std::uint64_t arcs) {
    bins_.reserve(n, arcs, limits);
    ranks_ = 0;
    rank_.reserve(n);
    ranks_ = n;
    contributions_.reserve(2 * aligned(n));
    std::uint64_t const parts = std::max<std::uint64_t>(limits.max_parts(arcs), detail::sweep_order::chunks(n));
    scratch_.reserve(scratch_size(n, limits.max_items(n, arcs), parts));
  }

  /// warm: starts with the values of rank(), of sum 1, instead of options::start. The option `ranks` is ignored. Cost
  /// and errors: as pagerank(); also error(bad_argument) if a warm start finds fewer ranks than vertices.
  pagerank_run run(graph::graph_view const& g, pagerank_options const& o, bool warm = false) {
    detail::check<Space>(o, g);
    std::size_t const n = g.vertices();
    if (warm && ranks_ < n)
      throw error(error_code::bad_argument,
                  "pagerank: a warm start needs " + std::to_string(n) + " ranks; there are " + std::to_string(ranks_));
    ranks_ = 0;
    dangling_ = 0;
    if (g.present_vertices() == 0) {
      rank_.reserve(n);
      space_.fill(rank_.data(), 0, n * sizeof(Real));
      ranks_ = n;
      return {0, true, 0};
    }
    // Requests for memory fail before rank() changes.
    for (bool may_copy = may_order_hubs(g, o);; may_copy = false) {
      try {
        bool const by_deltas = may_send_deltas(o, warm);
        if (may_copy && copy_hubs_first(g, by_deltas))
          return by_deltas ? pull_deltas(hubs_->view(), o) : iterate_evenly(hubs_->view(), o, warm, hubs_->hubs());
        return run_in_place(g, o, warm);
      } catch (error const& e) {
        if (e.code() != error_code::out_of_memory || !hubs_) throw;
        release_copy();
      }
    }
  }

  /// The ranks of the last run, in device memory, in the order of vertices.
  [[nodiscard]] Real* rank() const { return rank_.data(); }
  /// The sum of the ranks of dangling vertices.
  [[nodiscard]] double dangling() const { return dangling_; }
  /// The bins of in-neighbours of the last run, which did not copy arcs (hubs_first_from) and had another option
  /// than rank_iteration::gauss_seidel; valid as long as the graph does not change.
  [[nodiscard]] detail::row_bins_view const& bins() const { return last_bins_; }

 private:
  static constexpr detail::bin_limits limits{32, 256, 1024, 1024};
  // The number of sums: of items, or of blocks of vertices before the first iteration.
  [[nodiscard]] static std::size_t sums_of(std::size_t n, std::size_t items) { return std::max(items, (n + 31) / 32); }
  [[nodiscard]] static std::size_t scratch_size(std::size_t n, std::size_t items, std::size_t parts) {
    return 2 * sums_of(n, items) + parts + detail::tile_sums<3>::size;
  }
  // The distance of the arrays of contributions: both begin at a multiple of 16 bytes.
  [[nodiscard]] static std::size_t aligned(std::size_t n) { return (n + 3) / 4 * 4; }
  pagerank_run run_in_place(graph::graph_view const& g, pagerank_options const& o, bool warm) {
    if (o.weighted) return iterate(g, weights_.prepare(g, bins_, limits, last_bins_), o, warm);
    if (o.iteration == rank_iteration::gauss_seidel) return sweep(g, detail::even_split{}, o, warm);
    return iterate_evenly(g, o, warm, 0);
  }
  pagerank_run iterate_evenly(graph::graph_view const& g, pagerank_options const& o, bool warm, std::uint32_t hubs) {
    last_bins_ = bins_.make(g.in_records(), g.vertices(), g.arcs(), limits);
    return iterate(g, detail::even_split{}, o, warm, hubs);
  }
  // Returns false if the graph is not skewed.
  bool copy_hubs_first(graph::graph_view const& g, bool by_deltas) {
    if (!hubs_) hubs_.emplace(space_);
    std::size_t const most =
        by_deltas ? exec::table_capacity<detail::short_float>(space_) : exec::table_capacity<Real>(space_);
    return hubs_->prepare(g, most, part_that_pays, limits);
  }
  void release_copy() {
    hubs_.reset();
    deltas_ = exec::buffer<detail::short_float, Space>(space_);
    accounts_ = exec::buffer<detail::rank_account, Space>(space_);
  }
  template <class Split>
  pagerank_run iterate(graph::graph_view const& g, Split const& split, pagerank_options const& o, bool warm,
                       std::uint32_t hubs = 0) {
    if (o.iteration == rank_iteration::gauss_seidel) return sweep(g, split, o, warm);
    if (o.iteration == rank_iteration::chebyshev) return pull_all(g, detail::extrapolated<Split>{split}, o, warm, hubs);
    return pull_all(g, split, o, warm, hubs);
  }
  template <class Split>
  pagerank_run pull_all(graph::graph_view const& g, Split const& split, pagerank_options const& o, bool warm,
                        std::uint32_t hubs) {
    detail::row_bins_view const& bins = last_bins_;
    detail::rank_vectors<Real, Split> x = prepare(g, split, o, warm, bins, bins.parts, hubs);
    finish(x, enqueue_start(x), 0, true);
    detail::rank_state const now = run_iterations(o, [&](unsigned number, detail::rank_state const& seen) {
      if (detail::extrapolates<Split> && (x.factor != 1 || extrapolation_pays(o, seen)))
        x.factor = 1 / (1 - o.damping * o.damping * (x.factor == 1 ? 0.5 : x.factor / 4));
      pull(bins.items(), detail::pull_ranks<detail::rank_vectors<Real, Split>>{x, number % 2});
      finish(x, bins.items() - bins.parts, number % 2, false);
    });
    if (detail::extrapolates<Split> && now.done != 0) std::swap(x.contribution[0], x.contribution[1]);
    exec::for_each(space_, g.vertices(), detail::copy_ranks<Real, Split>{x, now.iterations % 2, rank_.data()});
    return finished(now, g);
  }
  /// The same for a graph with hubs first and an even start, by pull of changes.
  pagerank_run pull_deltas(graph::graph_view const& g, pagerank_options const& o) {
    std::size_t const n = g.vertices();
    std::size_t const connected = n - hubs_->isolated();
    last_bins_ = bins_.make(g.in_records(), connected, g.arcs(), limits);
    std::size_t const distance = (n + 7) / 8 * 8;  // of the arrays of deltas, which are read 16 bytes at a time
    std::size_t const sums = sums_of(connected, last_bins_.items());
    rank_.reserve(n);
    deltas_.reserve(2 * distance);
    accounts_.reserve(n);
    scratch_.reserve(scratch_size(connected, last_bins_.items(), last_bins_.parts));
    exec::write(space_, state_.data(), detail::rank_state{});
    double* const changes = scratch_.data();
    detail::rank_deltas const x{g,
                                last_bins_,
                                hubs_->old_ids(),
                                hubs_->hubs(),
                                static_cast<std::uint32_t>(connected),
                                g.present_vertices() - static_cast<std::uint32_t>(connected),
                                {deltas_.data(), deltas_.data() + distance},
                                accounts_.data(),
                                changes + 2 * sums,
                                changes,
                                changes + sums,
                                state_.data(),
                                1.0 / static_cast<double>(g.present_vertices()),
                                o.damping,
                                o.tolerance,
                                {}};
    auto const blocks = static_cast<std::uint32_t>((connected + 31) / 32);
    exec::for_each_tile<32>(space_, blocks, detail::init_deltas{x});
    finish(x, blocks, 0, true);
    detail::rank_state const now = run_iterations(o, [&](unsigned number, detail::rank_state const&) {
      pull(last_bins_.items(), detail::pull_ranks<detail::rank_deltas>{x, number % 2});
      finish(x, last_bins_.items() - last_bins_.parts, number % 2, false);
    });
    exec::for_each(space_, n, detail::ranks_of_deltas<Real>{x, rank_.data()});
    return finished(now, g);
  }
  /// Ends an iteration, or the start, with so many sums.
  template <class Vectors>
  void finish(Vectors const& x, std::uint32_t count, unsigned from, bool first) const {
    std::uint32_t const tiles = detail::tile_sums<2>::tiles(count, Space::template tile_size<32>, x.bins.hub_rows);
    exec::for_each_tile<32>(space_, tiles,
                            detail::finish_iteration<Vectors>{x, tiles, count, from, first, x.parts + x.bins.parts});
  }
  /// The same, with rank_iteration::gauss_seidel.
  template <class Split>
  pagerank_run sweep(graph::graph_view const& g, Split const& split, pagerank_options const& o, bool warm) {
    using vectors = detail::rank_vectors<Real, Split>;
    std::size_t const n = g.vertices();
    std::uint32_t const chunks = detail::sweep_order::chunks(n);
    last_bins_ = {};
    vectors const x = prepare(g, split, o, warm, last_bins_, chunks);
    std::uint32_t const blocks = enqueue_start(x);
    std::uint32_t const tiles = detail::tile_sums<2>::tiles(blocks, Space::template tile_size<32>);
    exec::for_each_tile<32>(space_, tiles,
                            detail::finish_iteration<vectors>{x, tiles, blocks, 0, true, x.parts + chunks});
    detail::rank_state const now = run_iterations(o, [&](unsigned, detail::rank_state const&) {
      exec::for_each(space_, n, detail::scale_contributions<vectors>{x, false});
      for (unsigned phase = 0; phase < detail::sweep_order::phases; ++phase)
        exec::for_each_tile<32>(space_, detail::sweep_order::chunks_of(phase, chunks),
                                detail::sweep_chunk<vectors>{x, phase});
      std::uint32_t const few = detail::tile_sums<3>::tiles(chunks, Space::template tile_size<32>);
      exec::for_each_tile<32>(space_, few, detail::finish_sweep<vectors>{x, few, chunks});
    });
    exec::for_each(space_, n, detail::scale_contributions<vectors>{x, true});
    exec::for_each(space_, n, detail::copy_ranks<Real, Split>{x, 0, rank_.data()});
    return finished(now, g);
  }
  /// Enqueues the first contributions; returns the number of their sums.
  template <class Split>
  std::uint32_t enqueue_start(detail::rank_vectors<Real, Split> const& x) const {
    auto const blocks = static_cast<std::uint32_t>((std::size_t{x.g.vertices()} + 31) / 32);
    exec::for_each_tile<32>(space_, blocks, detail::init_contributions<Real, Split>{x, rank_.data()});
    return blocks;
  }
  /// Whether the power method, which comes first, reduces the change by less per iteration than Chebyshev's iteration.
  [[nodiscard]] static bool extrapolation_pays(pagerank_options const& o, detail::rank_state const& seen) {
    constexpr unsigned plain_iterations = 4;
    return seen.iterations >= plain_iterations &&
           seen.change > o.damping / (1 + std::sqrt(1 - o.damping * o.damping)) * seen.change_before;
  }
  /// Calls enqueue(number, seen) for each iteration until one changes the ranks by less than the tolerance. seen: the
  /// state that the host has read last.
  template <class Enqueue>
  detail::rank_state run_iterations(pagerank_options const& o, Enqueue const& enqueue) {
    // Iterations that are enqueued before the host reads the state. Those after the last one do nothing.
    constexpr unsigned at_once = exec::has_tiles<Space> ? 8 : 1;
    detail::rank_state now{};
    unsigned started = 0;
    do {
      for (unsigned const end = std::min(o.max_iterations, started + at_once); started < end; ++started)
        enqueue(started, now);
      now = exec::read(space_, state_.data());
    } while (started < o.max_iterations && now.done == 0);
    return now;
  }
  pagerank_run finished(detail::rank_state const& now, graph::graph_view const& g) {
    dangling_ = now.dangling;
    ranks_ = g.vertices();
    return {now.iterations, now.done != 0, now.change};
  }
  template <class Vectors>
  void pull(std::size_t items, detail::pull_ranks<Vectors> const& work) const {
    if constexpr (!Vectors::is_weighted)
      if (work.x.hubs > 0)
        return exec::for_each_tile_with_table<32, Space, typename Vectors::real>(
            space_, items, work.x.contribution[work.from], work.x.hubs, work);
    exec::for_each_tile<32>(space_, items, work);
  }
  // Whether a copy with hubs first would pay, if the graph is skewed.
  [[nodiscard]] bool may_order_hubs(graph::graph_view const& g, pagerank_options const& o) const {
    std::size_t const most = exec::table_capacity<Real>(space_);  // with fewer vertices all are hubs
    return !o.weighted && o.iteration != rank_iteration::gauss_seidel && space_.manager() == nullptr &&
           g.arcs() >= o.hubs_first_from && g.vertices() > most && most > 0 && o.teleport.empty() &&
           o.max_iterations >= iterations_that_pay;
  }
  // Whether rounding pays: not for floats, of which a table has enough; not from a start that may be near the result;
  // and not where the user asks for the ranks of a certain iteration.
  [[nodiscard]] static bool may_send_deltas(pagerank_options const& o, bool warm) {
    return sizeof(Real) == 8 && o.iteration == rank_iteration::power && o.start.empty() && !warm &&
           o.tolerance > std::numeric_limits<double>::epsilon();
  }
  static constexpr unsigned iterations_that_pay = 8;
  static constexpr double part_that_pays = 0.25;

  void check_absent(graph::graph_view const& g, std::vector<double> const& teleport) const {
    if (teleport.empty() || g.present_vertices() == g.vertices()) return;
    auto const records = exec::copy_out(space_, g.out_records(), g.vertices());
    for (std::size_t v = 0; v < records.size(); ++v)
      if (records[v].is_absent() && teleport[v] > 0)
        throw error(error_code::bad_argument, "pagerank: vertex " + std::to_string(v) +
                                                  " was removed, so its weight in the teleport vector must be 0");
  }
  void upload(Real* to, std::vector<double> const& values, double by) const {
    std::vector<Real> scaled(values.size());
    for (std::size_t v = 0; v < values.size(); ++v) scaled[v] = static_cast<Real>(values[v] / by);
    exec::copy_in<Real>(space_, to, scaled);
  }
  template <class Split>
  detail::rank_vectors<Real, Split> prepare(graph::graph_view const& g, Split const& split, pagerank_options const& o,
                                            bool warm, detail::row_bins_view const& bins, std::size_t parts,
                                            std::uint32_t hubs = 0) {
    std::size_t const n = g.vertices();
    double const even = 1.0 / static_cast<double>(g.present_vertices());
    std::size_t const sums = sums_of(n, bins.items());
    rank_.reserve(n);
    contributions_.reserve(2 * aligned(n));
    teleport_.reserve(o.teleport.size());
    check_absent(g, o.teleport);
    scratch_.reserve(scratch_size(n, bins.items(), parts));
    if (!o.start.empty() && !warm)
      upload(rank_.data(), o.start, 1);
    else if (!warm)
      exec::for_each(
          space_, n,
          detail::set_ranks<Real>{g, hubs > 0 ? hubs_->old_ids() : nullptr, rank_.data(), static_cast<Real>(even)});
    upload(teleport_.data(), o.teleport, std::accumulate(o.teleport.begin(), o.teleport.end(), 0.0));
    exec::write(space_, state_.data(), detail::rank_state{});
    double* const changes = scratch_.data();
    return {g,
            bins,
            hubs > 0 ? hubs_->old_ids() : nullptr,
            hubs,
            {contributions_.data(), contributions_.data() + aligned(n)},
            o.teleport.empty() ? nullptr : teleport_.data(),
            changes + 2 * sums,
            changes,
            changes + sums,
            state_.data(),
            even,
            o.damping,
            o.tolerance,
            o.dangling_teleports,
            split};
  }

  Space space_;
  detail::row_bins<Space> bins_;
  detail::row_bins_view last_bins_{};
  detail::arc_weights<Space> weights_;
  std::optional<detail::hubs_first<Space>> hubs_;
  exec::buffer<Real, Space> rank_;
  exec::buffer<Real, Space> contributions_;
  exec::buffer<detail::short_float, Space> deltas_;  // of two iterations
  exec::buffer<detail::rank_account, Space> accounts_;
  exec::buffer<Real, Space> teleport_;
  exec::buffer<double, Space> scratch_;  // sums of items, sums of parts of hubs, totals
  exec::buffer<detail::rank_state, Space> state_;
  std::size_t ranks_ = 0;  // the number of ranks of the last run
  double dangling_ = 0;
};

/// O((vertices + arcs) iterations). Throws error(bad_argument) for options out of range, a directed graph without
/// in-neighbours, or, if `weighted`, a graph whose values are no numbers or a value that is negative or not finite. The
/// result of a graph without vertices is empty and has converged.
template <class Space>
pagerank_result pagerank(Space const& space, graph::graph_view const& g, pagerank_options const& o = {}) {
  auto const ranked = [&]<class Real>(pagerank_ranker<Space, Real>&& ranker) -> pagerank_result {
    pagerank_run const run = ranker.run(g, o);
    auto ranks = exec::copy_out(space, ranker.rank(), g.vertices());
    if constexpr (std::is_same_v<Real, double>)
      return {run, std::move(ranks)};
    else
      return {run, {ranks.begin(), ranks.end()}};
  };
  return o.ranks == precision::fp32 ? ranked(pagerank_ranker<Space, float>(space))
                                    : ranked(pagerank_ranker<Space, double>(space));
}

pagerank_result pagerank(graph::any_graph const& g, pagerank_options const& o = {});

}  // namespace wyrm::algorithms
