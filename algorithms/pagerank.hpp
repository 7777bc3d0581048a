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
#include <numeric>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "../exec/tile.hpp"
#include "../graph/any_graph.hpp"
#include "../graph/view.hpp"
#include "detail/arc_weights.hpp"
#include "detail/gauss_seidel.hpp"
#include "detail/hubs_first.hpp"
#include "detail/pull.hpp"
#include "detail/row_bins.hpp"
#include "detail/row_sums.hpp"
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
  /// and 4 bytes per arc and about 70 per vertex more, if there is so much memory. Only without weights and `teleport`,
  /// and not with rank_iteration::gauss_seidel.
  std::uint64_t hubs_first_from = std::uint64_t{1} << 22;
  /// The tolerance, the memory and the repeatability of results are the same for all of them. chebyshev needs at most
  /// about the iterations of `power`, and where these are many, half of them. gauss_seidel is meant for directed graphs
  /// on a CPU: it needs fewer iterations if most vertices are connected, but has six launches per iteration, and does
  /// not divide the rows of hubs.
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

/// In device memory; the host reads it.
struct rank_state {
  double change;         // of the last iteration
  double dangling;       // the sum of the ranks of dangling vertices
  double change_before;  // of the iteration before that
  double scale = 1;      // gauss_seidel: the factor that makes the sum of the ranks 1
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
  [[nodiscard]] WYRM_HD previous load(graph::vertex_id v, graph::vertex_record const& row, double dangling,
                                      unsigned from) const {
    double const share = g.is_present(v) ? even : 0;
    double const jump = teleport != nullptr ? static_cast<double>(teleport[v]) : share;
    double const lost = dangling * (dangling_teleports ? jump : share);
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

/// One tile per item of the bins.
template <class Real, class Split>
struct pull_ranks {
  static constexpr unsigned resident_blocks = 4;  // the kernel waits for loads; see exec::resident_blocks_of
  using vectors = rank_vectors<Real, Split>;
  vectors x;
  unsigned from;  // index of the array of contributions that is read

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t item) const {
    pull_from(t, item, static_cast<Real const*>(x.contribution[from]));
  }
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t item, Real const* table) const {
    pull_from(t, item, contributions_with_table<Real>{x.contribution[from], table, x.hubs});
  }

 private:
  template <class Tile, class Contributions>
  WYRM_HD void pull_from(Tile const& t, std::size_t item, Contributions const& contributions) const {
    rank_state const state = *x.state;
    if (state.done != 0) return;
    rows<Contributions> here{x, contributions, from, state.dangling, {}};
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
    double dangling;
    typename vectors::sums all;

    [[nodiscard]] WYRM_HD auto load(graph::vertex_id v, graph::vertex_record const& row) const {
      return x.load(v, row, dangling, from);
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
      return pull<double, Split::weighted>(t, contributions, x.split.row(v), row.page, begin, end, lane, lanes);
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
template <class Real, class Split>
struct finish_iteration {
  using vectors = rank_vectors<Real, Split>;
  vectors x;
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
    if (!first) set_hubs(t, static_cast<std::uint32_t>(tile), state.dangling, all);
    for (std::size_t i = tile * Tile::size() + t.rank(); i < sums; i += std::size_t{tiles} * Tile::size()) {
      all.change += x.changes[i];
      all.dangling += x.danglings[i];
    }
    double both[] = {all.change, all.dangling};
    if (!tile_sums<2>{totals, &state.arrived}.add_up(t, tile, tiles, both) || t.rank() != 0) return;
    state.done = !first && both[0] < x.tolerance ? 1 : 0;
    // The result of `extrapolated` are the ranks that this iteration has read: it has computed their change.
    if (!extrapolates<Split> || state.done == 0) state.dangling = both[1];
    if (first) return;
    state.change_before = state.change;
    state.change = both[0];
    ++state.iterations;
  }

 private:
  template <class Tile>
  WYRM_HD void set_hubs(Tile const& t, std::uint32_t tile, double dangling, typename vectors::sums& all) const {
    row_bins_view const& b = x.bins;
    for (std::uint32_t h = tile; h < b.hub_rows; h += tiles) {
      double const sent = b.sum_of_parts(t, h, x.parts);
      if (t.rank() != 0) continue;
      binned_row const row = b.hub(h);
      (void)x.set(row.vertex, x.load(row.vertex, row, dangling, from), sent, 1 - from, all);
    }
  }
};

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
    if (o.weighted) return iterate(g, weights_.prepare(g, bins_, limits, last_bins_), o, warm);
    if (o.iteration == rank_iteration::gauss_seidel) return sweep(g, detail::even_split{}, o, warm);
    if (may_order_hubs(g, o)) {
      try {
        if (!hubs_) hubs_.emplace(space_);
        if (hubs_->prepare(g, exec::table_capacity<Real>(space_), part_that_pays, limits)) {
          graph::graph_view const ordered = hubs_->view();
          last_bins_ = bins_.make(ordered.in_records(), n, g.arcs(), limits);
          return iterate(ordered, detail::even_split{}, o, warm, hubs_->hubs());
        }
      } catch (error const& e) {  // from a request for memory, all of which precede the first change of rank()
        if (e.code() != error_code::out_of_memory) throw;
        hubs_.reset();
      }
    }
    last_bins_ = bins_.make(g.in_records(), n, g.arcs(), limits);
    return iterate(g, detail::even_split{}, o, warm);
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
    auto const finish = [&](std::uint32_t count, unsigned from, bool first) {
      std::uint32_t const tiles = detail::tile_sums<2>::tiles(count, Space::template tile_size<32>, bins.hub_rows);
      exec::for_each_tile<32>(
          space_, tiles, detail::finish_iteration<Real, Split>{x, tiles, count, from, first, x.parts + bins.parts});
    };
    std::uint32_t const blocks = enqueue_start(x);
    finish(blocks, 0, true);

    detail::rank_state const now = run_iterations(o, [&](unsigned number, detail::rank_state const& seen) {
      if (detail::extrapolates<Split> && (x.factor != 1 || extrapolation_pays(o, seen)))
        x.factor = 1 / (1 - o.damping * o.damping * (x.factor == 1 ? 0.5 : x.factor / 4));
      pull(bins.items(), detail::pull_ranks<Real, Split>{x, number % 2});
      finish(bins.items() - bins.parts, number % 2, false);
    });
    if (detail::extrapolates<Split> && now.done != 0) std::swap(x.contribution[0], x.contribution[1]);
    exec::for_each(space_, g.vertices(), detail::copy_ranks<Real, Split>{x, now.iterations % 2, rank_.data()});
    return finished(now, g);
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
                            detail::finish_iteration<Real, Split>{x, tiles, blocks, 0, true, x.parts + chunks});
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
  template <class Split>
  void pull(std::size_t items, detail::pull_ranks<Real, Split> const& work) const {
    if constexpr (!Split::weighted)
      if (work.x.hubs > 0)
        return exec::for_each_tile_with_table<32, Space, Real>(space_, items, work.x.contribution[work.from],
                                                               work.x.hubs, work);
    exec::for_each_tile<32>(space_, items, work);
  }
  // Whether a copy with hubs first would pay, if the graph is skewed.
  [[nodiscard]] bool may_order_hubs(graph::graph_view const& g, pagerank_options const& o) const {
    std::size_t const most = exec::table_capacity<Real>(space_);
    return g.arcs() >= o.hubs_first_from && g.vertices() > most && most > 0 && o.teleport.empty() &&
           o.max_iterations >= iterations_that_pay;
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
