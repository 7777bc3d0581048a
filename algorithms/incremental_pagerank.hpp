// SPDX-License-Identifier: Apache-2.0
// The PageRank of a graph that changes: after a batch only those vertices are ranked anew that a change reaches, from
// the ends of its edges outwards along out-arcs, as long as it is large enough to count (the dynamic frontier of Sahu,
// arXiv 2401.03256). Ranks are kept without their scale: x = (1 - d)/n + d A x has no term that all vertices share,
// and x over its sum is the PageRank in which vertices without out-neighbours jump anywhere. So a change far away
// concerns nobody.
//
// What a vertex has told its out-neighbours is kept, too: they are ranked anew when what it would tell them now differs
// by more than a quarter of the tolerance over n, in all. A neighbour that was ranked meanwhile knows a value that is
// twice as far from the newest at most; so what they do not know never adds up to more than half of the tolerance,
// however many batches come. Scaling may double that. So the distance to the true ranks, in the L1 norm, stays below
// d / (1 - d) times the tolerance, which is the bound of a full run as well.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "../exec/atomic.hpp"
#include "../exec/bulk.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "../exec/tile.hpp"
#include "../graph/report.hpp"
#include "../graph/types.hpp"
#include "../graph/view.hpp"
#include "pagerank.hpp"

namespace wyrm::algorithms {

struct incremental_pagerank_options {
  double damping = 0.85;          // in [0, 1)
  double tolerance = 1e-9;        // > 0
  unsigned max_iterations = 500;  // a batch; what is left then is done with the next one
};

namespace detail {

/// Vertices that are to be ranked, each once.
struct frontier {
  std::uint32_t* marks;  // a bit a vertex
  graph::vertex_id* list;
  std::uint32_t* size;

  /// A vertex for each lane that has one; collective.
  template <class Tile>
  WYRM_HD void add(Tile const& t, graph::vertex_id v, bool has) const {
    std::uint32_t const bit = 1u << v % 32;
    bool const is_new = has && (exec::atomic_ref<std::uint32_t>(marks[v / 32]).fetch_or(bit, exec::relaxed) & bit) == 0;
    std::uint32_t const added = t.ballot(is_new);
    if (added == 0) return;
    std::uint32_t first = 0;
    if (t.rank() == 0)
      first = exec::atomic_ref<std::uint32_t>(*size).fetch_add(static_cast<std::uint32_t>(cuda::std::popcount(added)),
                                                               exec::relaxed);
    first = t.shfl(first, 0);
    if (is_new) list[first + exec::rank_in(t, added)] = v;
  }
  WYRM_HD void forget(graph::vertex_id v) const {
    exec::atomic_ref<std::uint32_t>(marks[v / 32]).fetch_and(~(1u << v % 32), exec::relaxed);
  }
};

struct kept_ranks {
  graph::graph_view g;
  double* rank;   // without scale
  double* share;  // what a vertex sends along each arc
  double* told;   // its share when its out-neighbours were last added to a frontier
  double base;
  double damping;
  double least;  // what has to be told

  /// The share of a vertex anew; adds its out-neighbours if they have to be told. Collective.
  template <class Tile>
  WYRM_HD void send(Tile const& t, graph::vertex_id v, double value, frontier const& next) const {
    graph::neighbour_list const to = g.neighbours(v);
    double const fresh = to.size > 0 ? value / to.size : 0.0;
    // Other tiles may have the same vertex: one lane looks for all.
    double before = 0;
    if (t.rank() == 0) before = exec::atomic_ref<double>(told[v]).load(exec::relaxed);
    before = t.shfl(before, 0);
    double const difference = fresh < before ? before - fresh : fresh - before;
    if (t.rank() == 0) exec::atomic_ref<double>(share[v]).store(fresh, exec::relaxed);
    if (!(difference * to.size > least)) return;
    if (t.rank() == 0) exec::atomic_ref<double>(told[v]).store(fresh, exec::relaxed);
    for (std::uint32_t i = 0; i < to.size; i += Tile::size()) {
      bool const has = i + t.rank() < to.size;
      next.add(t, has ? to[i + t.rank()] : 0, has);
    }
  }
};

/// What the ranks of a full run are without scale; and first what vertices without out-neighbours have of them.
struct take_ranks {
  kept_ranks x;
  double* dangling;
  double scale;  // 0: the first time
  WYRM_HD void operator()(std::size_t i) const {
    auto const v = static_cast<graph::vertex_id>(i);
    std::uint32_t const degree = x.g.degree(v);
    if (scale == 0) {
      dangling[i] = degree > 0 ? 0.0 : x.rank[i];
      return;
    }
    x.rank[i] *= scale;
    x.share[i] = x.told[i] = degree > 0 ? x.rank[i] / degree : 0.0;
  }
};

/// A tile an edge of a batch, after the update: its ends send something else now, and receive from others.
struct rank_ends {
  kept_ranks x;
  graph::edge const* edges;
  frontier next;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i) const {
    graph::edge const e = edges[i];
    next.add(t, e.target, t.rank() == 0);
    next.add(t, e.source, t.rank() == 0);
    x.send(t, e.source, x.rank[e.source], next);
    if (e.target != e.source) x.send(t, e.target, x.rank[e.target], next);
  }
};

/// A tile a vertex of the frontier: its rank, from what it is sent.
struct rank_frontier {
  kept_ranks x;
  frontier now;
  double* fresh;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i) const {
    graph::vertex_id const v = now.list[i];
    graph::neighbour_list const from = x.g.in_neighbours(v);
    double sum = 0;
    for (std::uint32_t k = t.rank(); k < from.size; k += Tile::size()) sum += x.share[from[k]];
    sum = exec::sum(t, sum);
    if (t.rank() != 0) return;
    fresh[i] = x.base + x.damping * sum;
    now.forget(v);
  }
};

/// A tile a vertex of the frontier, when all are ranked.
struct send_frontier {
  kept_ranks x;
  frontier now;
  double const* fresh;
  frontier next;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i) const {
    graph::vertex_id const v = now.list[i];
    if (t.rank() == 0) x.rank[v] = fresh[i];
    x.send(t, v, fresh[i], next);
  }
};

}  // namespace detail

/// The PageRank of one graph, which changes through this object. Jumps go anywhere, and so do those of vertices without
/// out-neighbours. About 40 bytes of memory a vertex. Not thread-safe.
template <class Space>
class incremental_pagerank {
 public:
  /// Ranks the graph as it is. Throws as pagerank() does.
  template <class Graph>
  explicit incremental_pagerank(Graph const& g, incremental_pagerank_options const& o = {})
      : space_(g.space()),
        options_(o),
        vertices_(g.vertices()),
        rank_(space_, vertices_),
        share_(space_, vertices_),
        told_(space_, vertices_),
        fresh_(space_, vertices_),
        edges_(space_),
        marks_(space_, (vertices_ + 31) / 32),
        lists_(space_, 2 * vertices_),
        sizes_(space_, 2) {
    pagerank_result const now = pagerank(
        space_, g.view(), {.damping = o.damping, .tolerance = o.tolerance, .max_iterations = o.max_iterations});
    iterations_ = now.iterations;
    converged_ = now.converged;
    if (vertices_ == 0) return;
    exec::copy_in<double>(space_, rank_.data(), now.rank);
    space_.fill(marks_.data(), 0, marks_.bytes());
    space_.fill(sizes_.data(), 0, sizes_.bytes());
    detail::take_ranks work{ranks(g.view()), fresh_.data(), 0};
    exec::for_each(space_, vertices_, work);
    typename Space::bulk bulk(space_);
    work.scale = scale_ = (1 - o.damping) / (1 - o.damping + o.damping * bulk.sum(fresh_.data(), vertices_));
    exec::for_each(space_, vertices_, work);
  }

  /// Inserts the edges into the graph, or erases them, as the graph itself does, and ranks what that reaches. On any
  /// error of the graph both are as before. Beside the update O(degrees of the vertices that are ranked, each time
  /// they are); edges that change nothing cost a look.
  template <class Graph>
  graph::update_report insert(Graph& g, std::span<graph::edge const> batch) {
    graph::update_report const report = g.insert(batch);
    follow(g.view(), batch);
    return report;
  }
  template <class Graph>
  graph::update_report erase(Graph& g, std::span<graph::edge const> batch) {
    graph::update_report const report = g.erase(batch);
    follow(g.view(), batch);
    return report;
  }

  /// A rank for each vertex, of the sum 1. O(vertices).
  [[nodiscard]] std::vector<double> rank() const {
    std::vector<double> all = exec::copy_out(space_, rank_.data(), vertices_);
    double const sum = std::accumulate(all.begin(), all.end(), 0.0);
    for (double& r : all) r /= sum;
    return all;
  }
  /// Of the last batch, or the full run before the first: how often ranks went out; whether nothing was left to tell;
  /// and how many vertices were ranked, each time counted.
  [[nodiscard]] unsigned iterations() const { return iterations_; }
  [[nodiscard]] bool converged() const { return converged_; }
  [[nodiscard]] std::uint64_t ranked() const { return ranked_; }

 private:
  [[nodiscard]] detail::kept_ranks ranks(graph::graph_view const& g) const {
    auto const n = static_cast<double>(vertices_);
    return {g,
            rank_.data(),
            share_.data(),
            told_.data(),
            (1 - options_.damping) / n,
            options_.damping,
            options_.tolerance * scale_ / (4 * n)};
  }
  [[nodiscard]] detail::frontier frontier(unsigned which) const {
    return {marks_.data(), lists_.data() + which * vertices_, sizes_.data() + which};
  }
  void follow(graph::graph_view const& g, std::span<graph::edge const> batch) {
    iterations_ = 0;
    ranked_ = 0;
    converged_ = true;
    if (batch.empty()) return;
    edges_.reserve(batch.size());
    exec::copy_in<graph::edge>(space_, edges_.data(), batch);
    detail::kept_ranks const x = ranks(g);
    exec::for_each_tile<32>(space_, batch.size(), detail::rank_ends{x, edges_.data(), frontier(now_)});
    // What the last batch has left when it came to the limit of iterations is still in the frontier.
    for (;;) {
      std::uint32_t const size = exec::read(space_, sizes_.data() + now_);
      converged_ = size == 0;
      if (converged_ || iterations_ == options_.max_iterations) return;
      detail::frontier const next = frontier(1 - now_);
      space_.fill(next.size, 0, sizeof(std::uint32_t));
      exec::for_each_tile<32>(space_, size, detail::rank_frontier{x, frontier(now_), fresh_.data()});
      exec::for_each_tile<32>(space_, size, detail::send_frontier{x, frontier(now_), fresh_.data(), next});
      now_ = 1 - now_;
      ranked_ += size;
      ++iterations_;
    }
  }

  Space space_;
  incremental_pagerank_options options_;
  std::size_t vertices_;
  exec::buffer<double, Space> rank_;
  exec::buffer<double, Space> share_;
  exec::buffer<double, Space> told_;
  exec::buffer<double, Space> fresh_;
  exec::buffer<graph::edge, Space> edges_;
  exec::buffer<std::uint32_t, Space> marks_;
  exec::buffer<graph::vertex_id, Space> lists_;
  exec::buffer<std::uint32_t, Space> sizes_;
  double scale_ = 1;  // the sum of the ranks that are kept, about
  unsigned now_ = 0;  // which of the lists is the frontier
  unsigned iterations_ = 0;
  bool converged_ = false;
  std::uint64_t ranked_ = 0;
};

template <class Graph>
explicit incremental_pagerank(Graph const& g, incremental_pagerank_options const& o = {})
    -> incremental_pagerank<std::decay_t<decltype(g.space())>>;

}  // namespace wyrm::algorithms
