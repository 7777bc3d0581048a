// SPDX-License-Identifier: Apache-2.0
// The PageRank of a graph that changes, by residuals (Ohsaka, Maehara, Kawarabayashi, KDD 2015; Zhang, Lofgren, Goel,
// KDD 2016): what a vertex is short of its rank lies with it until it is worth passing on, and then goes out along its
// arcs. A batch makes residuals at the neighbours of the vertices whose degree it changes, and nowhere else.
//
// Ranks are kept without their scale: x = (1 - d)/n + d A x has no term that all vertices share, and x over its sum is
// the PageRank in which vertices without out-neighbours jump anywhere. So a change far away concerns nobody.
//
// Arcs have no weights here: that a vertex sends the same along all of its arcs is what residuals rest on. By weights
// rank anew, with pagerank().
//
// All values are integers, of a unit of about 2^-59: sums do not depend on the order of their terms, and each run gives
// the same ranks. A vertex has sent the same along all of its arcs, what that is in all is kept, so that
//
//   residual(v) = base - x(v) + sum over u -> v of sent(u)        sent(u) = d x(u) / degree(u), rounded
//
// holds exactly after any number of batches; an update takes back what the vertices that it changes have sent, and
// sends it again to the neighbours they have then.
//
// How much is left in all, the sum of the sizes of residuals, is kept as well: whoever adds to a residual learns what
// it was. With e left the ranks are within e / (1 - d) of the true ones in the L1 norm, and scaled within twice that
// over their sum. Nothing is passed on while this is at most d / (1 - d) times the tolerance, the bound of pagerank()
// as well: a small batch often needs nothing. Otherwise residuals above a limit go out until it is at most half as
// much; the limit is half even and half by degree (for what it costs to pass it on), and so low that with all below it
// enough has gone. Where a batch is felt everywhere a full run is less work, for pulling is faster than sending.
//
// Passing on a residual r sends at most d |r| + degree units in all; so limits of more than degree / (1 - d) make what
// is left smaller each time, and everything ends. They bound the tolerance: see the options.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

#include "../exec/atomic.hpp"
#include "../exec/error.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "../exec/tile.hpp"
#include "../graph/types.hpp"
#include "../graph/view.hpp"
#include "detail/frontier.hpp"
#include "follower.hpp"
#include "pagerank.hpp"

namespace wyrm::algorithms {

struct incremental_pagerank_options {
  double damping = 0.85;          // in [0, 0.99]
  double tolerance = 1e-9;        // > 0; what is less than about 10^-16 times the arcs is not reached
  unsigned max_iterations = 500;  // a batch; what is left then is done with the next one
  /// When residuals have gone out along more than this share of the arcs in a batch, all are ranked by a full run that
  /// starts with the ranks there are, which costs less then. Needs in-neighbours.
  double full_run = 0.1;
};

/// The ranks of a graph whose space is chosen at run time; see follow_pagerank.
class followed_pagerank : public follower {
 public:
  /// A rank for each vertex, of the sum 1. O(vertices).
  [[nodiscard]] virtual std::vector<double> rank() const = 0;
  /// Of the last batch, or the beginning: how often residuals went out; whether enough did for the tolerance; and how
  /// many went, in all.
  [[nodiscard]] virtual unsigned iterations() const = 0;
  [[nodiscard]] virtual bool converged() const = 0;
  [[nodiscard]] virtual std::uint64_t ranked() const = 0;
  /// The ranks are within so much of the true ones in the L1 norm.
  [[nodiscard]] virtual double error_bound() const = 0;
};

namespace detail {

/// On the device; the host reads it.
struct residual_state {
  static constexpr unsigned places = 64;  // a device serves one addition to a place at a time
  std::uint32_t sizes[3];                 // of the frontiers: this, the next, and one to be emptied, in turn
  std::uint32_t ends;                     // how many items a batch changes
  std::int64_t sum[places];               // of x
  std::int64_t left[places];              // the sum of the sizes of residuals; it changes where they are sent only
  struct {
    std::uint64_t iterations;
    std::uint64_t ranked[places];
    std::uint64_t work[places];  // those, and their arcs
    std::uint64_t given_up;
  } done;  // for a batch
};

/// What a vertex takes.
struct taken_residual {
  std::int64_t size;  // of its residual
  std::int64_t more;  // that it sends along each arc
};

[[nodiscard]] WYRM_HD inline std::int64_t size_of(std::int64_t residual) { return residual < 0 ? -residual : residual; }

struct rank_residuals {
  graph::graph_view g;
  std::int64_t* x;
  std::int64_t* residual;
  std::int64_t* sent;
  residual_state* state;
  double damping;
  double limit;         // of a residual, for a vertex,
  double limit_an_arc;  // and for each of its arcs
  double enough;        // what may be left

  /// Most are so small that nobody needs to look at the degree.
  [[nodiscard]] WYRM_HD bool exceeds(std::int64_t r, graph::vertex_id v) const {
    auto const size = static_cast<double>(size_of(r));
    return size > limit && size > limit + limit_an_arc * g.degree(v);
  }
  [[nodiscard]] WYRM_HD std::int64_t share(graph::vertex_id v) const {
    std::uint32_t const degree = g.degree(v);
    if (degree == 0) return 0;
    double const exact = damping * static_cast<double>(x[v]) / degree;
    return static_cast<std::int64_t>(exact < 0 ? exact - 0.5 : exact + 0.5);
  }
  /// `by` along each arc of an item, which has `gone` less itself; calls f(v, exceeds) for the target of each lane, if
  /// it has one. Collective.
  template <class Tile, class F>
  WYRM_HD void push(Tile const& t, frontier_item item, std::int64_t by, std::int64_t gone, F const& f) const {
    std::int64_t more = t.rank() == 0 ? -gone : 0;
    graph::neighbour_list const part = item.part_of(g.neighbours(item.vertex));
    for (std::uint32_t i = 0; by != 0 && i < part.size; i += Tile::size()) {
      bool const has = i + t.rank() < part.size;
      graph::vertex_id const v = has ? part[i + t.rank()] : 0;
      std::int64_t const before =
          has ? exec::atomic_ref<std::int64_t>(residual[v]).fetch_add(by, exec::relaxed) : std::int64_t{0};
      if (has) more += size_of(before + by) - size_of(before);
      f(v, has && exceeds(before + by, v));
    }
    more = exec::sum(t, more);
    if (t.rank() == 0) add_to(state->left, more, exec::thread_number(t));
  }
  /// Whether no more has to be passed on, while nothing is sent; collective.
  template <class Tile>
  [[nodiscard]] WYRM_HD bool is_enough(Tile const& t) const {
    return static_cast<double>(exec::sum(t, left_in_places(t.rank(), Tile::size()))) <= enough;
  }
  /// In each `step`-th place.
  [[nodiscard]] WYRM_HD std::int64_t left_in_places(unsigned first, unsigned step) const {
    std::int64_t left = 0;
    for (unsigned p = first; p < residual_state::places; p += step) left += state->left[p];
    return left;
  }
  WYRM_HD static void add_to(std::int64_t (&places)[residual_state::places], std::int64_t by, std::uint64_t thread) {
    if (by != 0) exec::atomic_ref<std::int64_t>(places[thread % residual_state::places]).fetch_add(by, exec::relaxed);
  }
  WYRM_HD void count(std::uint64_t ranked, std::uint64_t work, std::int64_t added, std::uint64_t thread) const {
    if (work > 0)
      exec::atomic_ref<std::uint64_t>(state->done.work[thread % residual_state::places]).fetch_add(work, exec::relaxed);
    if (ranked > 0)
      exec::atomic_ref<std::uint64_t>(state->done.ranked[thread % residual_state::places])
          .fetch_add(ranked, exec::relaxed);
    add_to(state->sum, added, thread);
  }
};

/// Ranks of the sum 1.
struct scale_ranks {
  std::int64_t const* x;
  double scale;
  double* rank;
  WYRM_HD void operator()(std::size_t v) const { rank[v] = scale * static_cast<double>(x[v]); }
};

/// A lane a vertex: what it has sent when all it has is a start.
struct start_residuals {
  rank_residuals x;
  double const* start;  // nullptr: 0
  double scale;
  std::int64_t base;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    auto const v = static_cast<graph::vertex_id>(i);
    std::int64_t const own = valid && start != nullptr ? static_cast<std::int64_t>(start[i] * scale) : 0;
    if (valid) {
      x.x[v] = own;
      x.sent[v] = x.share(v);
      x.residual[v] = base - own;
    }
    std::int64_t const sum = exec::sum(t, own);
    if (t.rank() == 0) x.count(0, 0, sum, i / Tile::size());
  }
};

/// A tile an item of the bins of in-neighbours: what a vertex has been sent.
struct receive_all {
  rank_residuals x;
  row_bins_view bins;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t item) const {
    bins.dispatch(t, static_cast<std::uint32_t>(item), *this);
  }
  template <class Tile>
  WYRM_HD void lane(Tile const&, graph::vertex_id v, graph::vertex_record const& row, bool valid) const {
    if (valid) x.residual[v] += sum(row.page, 0, row.degree, 1);
  }
  template <class Tile>
  WYRM_HD void group(Tile const& t, graph::vertex_id v, graph::vertex_record const& row, bool valid) const {
    constexpr unsigned lanes = row_bins_view::lanes_of_group<Tile>();
    std::int64_t const all = group_sum(t, sum(row.page, t.rank() % lanes, row.degree, lanes));
    if (valid && t.rank() % lanes == 0) x.residual[v] += all;
  }
  template <class Tile>
  WYRM_HD void warp(Tile const& t, graph::vertex_id v, graph::vertex_record const& row) const {
    std::int64_t const all = exec::sum(t, sum(row.page, t.rank(), row.degree, Tile::size()));
    if (t.rank() == 0) x.residual[v] += all;
  }
  template <class Tile>
  WYRM_HD void part(Tile const& t, std::uint32_t number) const {
    row_part const p = bins.part(number);
    std::int64_t const all = exec::sum(t, sum(p.row.page, p.begin + t.rank(), p.end, Tile::size()));
    if (t.rank() == 0) exec::atomic_ref<std::int64_t>(x.residual[p.vertex]).fetch_add(all, exec::relaxed);
  }

 private:
  [[nodiscard]] WYRM_HD std::int64_t sum(graph::vertex_id const* row, std::uint32_t begin, std::uint32_t end,
                                         std::uint32_t step) const {
    std::int64_t all = 0;
    for (std::uint32_t i = begin; i < end; i += step) all += x.sent[row[i]];
    return all;
  }
};

/// A lane a vertex: what is left, and whose residual is to be passed on.
struct look_at_residuals {
  rank_residuals x;
  frontier to;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    auto const v = static_cast<graph::vertex_id>(i);
    std::int64_t const residual = valid ? x.residual[v] : 0;
    to.add(t, x.g, v, x.exceeds(residual, v));
    std::int64_t const left = exec::sum(t, size_of(residual));
    if (t.rank() == 0) rank_residuals::add_to(x.state->left, left, i / Tile::size());
  }
};

/// A lane an edge of a batch, before the update: vertices whose neighbours it will change.
struct find_ends {
  graph::graph_view g;
  graph::edge const* edges;
  bool insertion;
  frontier ends;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    graph::edge const e = valid ? edges[i] : graph::edge{0, 0};
    bool const changes = valid && e.source < g.vertices() && e.target < g.vertices() &&
                         graph::contains(g.neighbours(e.source), e.target) != insertion;
    ends.add(t, g, e.source, changes);
    ends.add(t, g, e.target, changes && !g.directed());
  }
};

/// A tile an item: what the vertex has sent along its arcs, once more or back again.
struct send_again {
  rank_residuals x;
  std::int64_t times;  // 1 or -1
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    x.push(t, *item, times * x.sent[item->vertex], 0, [](graph::vertex_id, bool) {});
  }
};

/// A lane an item, after the update: what the vertex sends now. Its items are others, as its degree may be.
struct renew_ends {
  rank_residuals x;
  frontier old;
  frontier fresh;  // with the same marks
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    bool const is_first = item != nullptr && item->part == 0;
    graph::vertex_id const v = is_first ? item->vertex : 0;
    if (is_first) {
      old.forget(v);
      x.sent[v] = x.share(v);
    }
    fresh.add(t, x.g, v, is_first);
  }
};

/// A lane an item: the vertex is done with.
struct release_ends {
  frontier ends;
  template <class Tile>
  WYRM_HD void operator()(Tile const&, frontier_item const* item) const {
    if (item != nullptr && item->part == 0) ends.forget(item->vertex);
  }
};

/// A lane an item of the frontier: its residual becomes rank; what it sends changes by so much.
struct take_residuals {
  rank_residuals x;
  frontier now;
  taken_residual* taken;  // an item
  std::uint32_t* spare;   // the size of the last frontier
  std::uint32_t most;     // items; with more of them the frontier is given up: nobody takes anything
  WYRM_HD void start() const {
    *spare = 0;
    if (*now.size == 0 || static_cast<double>(x.left_in_places(0, 1)) <= x.enough) return;
    if (*now.size <= most)
      ++x.state->done.iterations;
    else
      x.state->done.given_up = 1;
  }
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    bool const goes_on = *now.size <= most && !x.is_enough(t);
    std::int64_t r = 0;
    std::uint64_t work = 0;
    if (item != nullptr && item->part == 0) {
      graph::vertex_id const v = item->vertex;
      now.forget(v);
      std::int64_t more = 0;
      r = x.residual[v];
      if (goes_on && x.exceeds(r, v)) {
        work = std::uint64_t{1} + x.g.degree(v);
        x.residual[v] = 0;
        x.x[v] += r;
        std::int64_t const fresh = x.share(v);
        more = fresh - x.sent[v];
        x.sent[v] = fresh;
      } else {
        r = 0;
      }
      taken[item - now.items] = {size_of(r), more};
    }
    auto const ranked = static_cast<std::uint64_t>(cuda::std::popcount(t.ballot(r != 0)));
    std::int64_t const sum = exec::sum(t, r);
    work = exec::sum(t, work);
    if (t.rank() == 0) x.count(ranked, work, sum, exec::thread_number(t) / 32);
  }
};

/// A tile an item of the frontier.
struct push_residuals {
  rank_residuals x;
  frontier now;
  taken_residual const* taken;
  frontier next;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    taken_residual const own = taken[item - now.items - item->part];
    if (own.size == 0) return;
    x.push(t, *item, own.more, item->part == 0 ? own.size : 0,
           [&](graph::vertex_id v, bool exceeds) { next.add(t, x.g, v, exceeds); });
  }
};

}  // namespace detail

/// The PageRank of one graph, which changes; see follower.hpp. Jumps go anywhere, and so do those of vertices without
/// out-neighbours. About 110 bytes a vertex and 0.2 an arc. In-neighbours are used where they are. A batch costs
/// O(degrees of the vertices whose neighbours it changes); if that leaves more than the tolerance allows also
/// O(vertices + degrees of those whose residual goes out, each time it does), or a full run.
template <class Space>
class incremental_pagerank final : public followed_pagerank {
 public:
  /// Ranks the graph as it is. Throws error(bad_argument) for options out of range.
  incremental_pagerank(Space const& space, graph::graph_view const& g, incremental_pagerank_options const& o = {})
      : space_(space),
        options_(o),
        vertices_(g.vertices()),
        values_(space, 3 * vertices_),
        marks_(space, 2 * words()),
        items_{list(space), list(space), list(space)},
        taken_(space),
        edges_(space),
        state_(space, 1),
        full_(space) {
    if (!(o.damping >= 0 && o.damping <= 0.99) || !(o.tolerance > 0))
      throw error(error_code::bad_argument,
                  "incremental_pagerank: damping must be in [0, 0.99] and the tolerance positive");
    // x changes by 2 in all, and on its way to there by 2 d / (1 - d) more at most.
    unit_ = std::ldexp(1.0, 63 - static_cast<int>(std::ceil(std::log2(4 / (1 - o.damping)))));
    converged_ = true;
    if (vertices_ == 0) return;
    space_.fill(marks_.data(), 0, marks_.bytes());
    space_.fill(state_.data(), 0, state_.bytes());
    reserve(g.arcs(), vertices_);
    rank_all(g, 0, o.max_iterations);
    finish(g, false, true);
  }
  template <class Graph>
  explicit incremental_pagerank(Graph const& g, incremental_pagerank_options const& o = {})
      : incremental_pagerank(g.space(), g.view(), o) {}

  [[nodiscard]] std::vector<double> rank() const override {
    std::vector<std::int64_t> const values = exec::copy_out(space_, values_.data(), vertices_);
    std::vector<double> all(values.begin(), values.end());
    double const sum = std::accumulate(all.begin(), all.end(), 0.0);
    for (double& r : all) r /= sum;
    return all;
  }
  [[nodiscard]] unsigned iterations() const override { return iterations_; }
  [[nodiscard]] bool converged() const override { return converged_; }
  [[nodiscard]] std::uint64_t ranked() const override { return ranked_; }
  [[nodiscard]] double error_bound() const override { return error_bound_; }

  void before(graph::graph_view const& g, change what, std::span<graph::edge const> batch) override {
    if (batch.empty() || vertices_ == 0) return;
    edges_.reserve(batch.size());
    reserve(g.arcs() + 2 * batch.size(), 2 * batch.size());
    exec::copy_in<graph::edge>(space_, edges_.data(), batch);
    exec::for_each_lane<32>(space_, batch.size(),
                            detail::find_ends{g, edges_.data(), what == change::insertion, ends()});
    over<8>(ends(), detail::send_again{residuals(g), -1});
  }
  void after(graph::graph_view const& g) override {
    if (vertices_ == 0) return;
    detail::frontier const fresh{ends().marks, frontier(1).items, frontier(1).size};
    detail::rank_residuals const x = residuals(g);
    over<32>(ends(), detail::renew_ends{x, ends(), fresh});
    over<8>(fresh, detail::send_again{x, 1});
    over<32>(fresh, detail::release_ends{fresh});
    clear(fresh);
    clear(ends());
    finish(g, g.has_in_neighbours(), false);
  }
  void undo(graph::graph_view const& g) override {
    if (vertices_ == 0) return;
    over<8>(ends(), detail::send_again{residuals(g), 1});
    over<32>(ends(), detail::release_ends{ends()});
    clear(ends());
  }

 private:
  using list = exec::buffer<detail::frontier_item, Space>;
  static constexpr unsigned of_ends = 2;  // among the lists

  [[nodiscard]] std::size_t words() const { return (vertices_ + 31) / 32; }
  /// This (0), and the next (1).
  [[nodiscard]] detail::frontier frontier(unsigned later) const {
    return {marks_.data(), items_[(turn_ + later) % 2].data(), size(later)};
  }
  [[nodiscard]] std::uint32_t* size(unsigned later) const { return state_.data()->sizes + (turn_ + later) % 3; }
  [[nodiscard]] detail::frontier ends() const {
    return {marks_.data() + words(), items_[of_ends].data(), &state_.data()->ends};
  }
  void clear(detail::frontier const& f) const { space_.fill(f.size, 0, sizeof(*f.size)); }
  template <unsigned W, class F>
  void over(detail::frontier const& f, F const& work) const {
    detail::for_each_item<W>(space_, f, work);
  }
  [[nodiscard]] detail::rank_residuals residuals(graph::graph_view const& g) const {
    double const enough = most_left() / 2;
    double const least = 1 / (1 - options_.damping);
    std::int64_t* const x = values_.data();
    return {g,
            x,
            x + vertices_,
            x + 2 * vertices_,
            state_.data(),
            options_.damping,
            std::max(enough / 2 / static_cast<double>(vertices_), least),
            std::max(enough / 2 / arcs_, least),
            all_above_ ? -1 : enough};
  }
  /// For the tolerance, in units.
  [[nodiscard]] double most_left() const { return options_.damping * options_.tolerance * sum_ / 2; }
  void reserve(std::uint64_t arcs, std::size_t changed) {
    items_[of_ends].reserve(detail::frontier::room(std::min(vertices_, changed), arcs));
    if (taken_.size() >= detail::frontier::room(vertices_, arcs)) return;
    std::size_t const room = detail::frontier::room(vertices_, arcs + arcs / 4);
    for (unsigned i = 0; i < 2; ++i) items_[i].reserve(room);
    taken_.reserve(room);
  }

  // By a full run, from the ranks there are or from none; where that cannot be had, residuals begin with everything.
  void rank_all(graph::graph_view const& g, double sum, unsigned max_iterations) {
    double const d = options_.damping;
    double scale = 1;
    if (g.has_in_neighbours()) {
      if (sum > 0) exec::for_each(space_, vertices_, detail::scale_ranks{values_.data(), 1 / sum, full_.rank()});
      pagerank_run const run =
          full_.run(g, {.damping = d, .tolerance = options_.tolerance / 4, .max_iterations = max_iterations}, sum > 0);
      full_iterations_ = run.iterations;
      scale = (1 - d) / (1 - d + d * full_.dangling());
    }
    auto const base = static_cast<std::int64_t>((1 - d) / static_cast<double>(vertices_) * unit_);
    space_.fill(state_.data()->sum, 0, sizeof(detail::residual_state::sum));
    detail::rank_residuals const x = residuals(g);
    exec::for_each_lane<32>(
        space_, vertices_,
        detail::start_residuals{x, g.has_in_neighbours() ? full_.rank() : nullptr, scale * unit_, base});
    if (g.has_in_neighbours())
      exec::for_each_tile<32>(space_, full_.bins().items(), detail::receive_all{x, full_.bins()});
    set_limits(g, scale * unit_ * (g.has_in_neighbours() ? 1 : 1 - d));
    list_all(g);
  }
  // Finds out what is left, and begins a frontier with all whose residual is to be passed on.
  void list_all(graph::graph_view const& g) {
    space_.fill(marks_.data(), 0, words() * sizeof(std::uint32_t));
    space_.fill(state_.data()->left, 0, sizeof(detail::residual_state::left));
    clear(frontier(0));
    exec::for_each_lane<32>(space_, vertices_, detail::look_at_residuals{residuals(g), frontier(0)});
  }
  // They follow the number of arcs and the sum in steps, so that they rarely change.
  void set_limits(graph::graph_view const& g, double sum) {
    arcs_ = 1.5 * static_cast<double>(std::max<std::uint64_t>(g.arcs(), 1));
    sum_ = std::max(sum, (1 - options_.damping) * unit_) / 1.5;
  }

  // Passes on what has to be, until enough is, or all that is above the limits; or ranks all vertices, when that is
  // less work.
  void finish(graph::graph_view const& g, bool may_rank_all, bool all_above) {
    all_above_ = all_above;
    double const most_work = options_.full_run * static_cast<double>(vertices_ + g.arcs());
    unsigned at_once = 4;  // iterations that are started before the host looks
    bool is_listed = false;
    bool is_ranked = false;  // by a full run, which has done enough
    space_.fill(&state_.data()->done, 0, sizeof(detail::residual_state::done));
    detail::residual_state state = exec::read(space_, state_.data());
    auto const time = [&] {
      return options_.max_iterations - full_iterations_ - static_cast<unsigned>(state.done.iterations);
    };
    for (;; state = exec::read(space_, state_.data())) {
      auto const arcs = static_cast<double>(std::max<std::uint64_t>(g.arcs(), 1));
      if (arcs > arcs_ || arcs < arcs_ / 4 || sum(state) < sum_) {
        set_limits(g, sum(state));
        is_listed = false;
      }
      bool const is_given_up = may_rank_all && state.done.given_up != 0;
      bool const is_under_way = all_above || (is_listed && !is_ranked);
      converged_ = all(state.left) <= (is_under_way ? residuals(g).enough : most_left()) ||
                   (is_listed && !is_given_up && state.sizes[turn_ % 3] == 0);  // what is left is below the limits
      if (converged_ || time() == 0) break;
      if (is_given_up || (may_rank_all && all(state.done.work) > most_work)) {
        rank_all(g, sum(state), time());
        may_rank_all = false;
        is_ranked = true;
        is_listed = true;
        continue;
      }
      if (!is_listed) list_all(g);
      is_ranked = false;
      is_listed = true;
      spread(g, std::min(at_once, time()), may_rank_all);
      at_once = std::min(2 * at_once, 16u);
    }
    iterations_ = options_.max_iterations - time();
    ranked_ = static_cast<std::uint64_t>(all(state.done.ranked)) + std::uint64_t{full_iterations_} * vertices_;
    full_iterations_ = 0;
    double const rounded = static_cast<double>(g.arcs()) / 2;  // where residuals were made
    error_bound_ = 2 * (all(state.left) + rounded) / (1 - options_.damping) / sum(state);
  }
  static double sum(detail::residual_state const& s) { return all(s.sum); }
  template <class T>
  static double all(T const (&counts)[detail::residual_state::places]) {
    return std::accumulate(counts, std::end(counts), 0.0);
  }
  void spread(graph::graph_view const& g, unsigned iterations, bool may_rank_all) {
    double const many = options_.full_run * static_cast<double>(vertices_);
    std::uint32_t const most = may_rank_all && many < 4e9 ? static_cast<std::uint32_t>(many) : ~0u;
    detail::rank_residuals const x = residuals(g);
    for (unsigned i = 0; i < iterations; ++i, ++turn_) {
      detail::frontier const now = frontier(0);
      over<32>(now, detail::take_residuals{x, now, taken_.data(), size(2), most});
      over<8>(now, detail::push_residuals{x, now, taken_.data(), frontier(1)});
    }
  }

  Space space_;
  incremental_pagerank_options options_;
  std::size_t vertices_;
  exec::buffer<std::int64_t, Space> values_;  // x, residuals, sent
  exec::buffer<std::uint32_t, Space> marks_;  // of the frontiers, and of ends
  list items_[3];
  exec::buffer<detail::taken_residual, Space> taken_;
  exec::buffer<graph::edge, Space> edges_;
  exec::buffer<detail::residual_state, Space> state_;
  pagerank_ranker<Space> full_;
  double unit_ = 1;
  double arcs_ = 0;    // what the limits are made for: not fewer arcs,
  double sum_ = 1;     // and not a smaller sum
  unsigned turn_ = 0;  // iterations until now
  unsigned iterations_ = 0;
  unsigned full_iterations_ = 0;  // of the batch that is under way
  bool converged_ = false;
  std::uint64_t ranked_ = 0;
  double error_bound_ = 0;
  // Whatever is left, all that exceeds the limits goes out: at first, so that changes stay local.
  bool all_above_ = true;
};

template <class Graph>
explicit incremental_pagerank(Graph const& g, incremental_pagerank_options const& o = {})
    -> incremental_pagerank<std::decay_t<decltype(g.space())>>;

/// The same for a graph whose space is chosen at run time.
[[nodiscard]] std::unique_ptr<followed_pagerank> follow_pagerank(graph::any_graph const& g,
                                                                 incremental_pagerank_options const& o = {});

}  // namespace wyrm::algorithms
