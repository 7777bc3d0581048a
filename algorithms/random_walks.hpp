// SPDX-License-Identifier: Apache-2.0
// Random walks: uniform, weighted, second order (node2vec: Grover and Leskovec, KDD 2016), with restarts. One lane
// computes one walk. A path is stored in a list of pages from a device allocator, so its length need not be known in
// advance, and memory is used for the steps that are taken. When the pool is used up, walkers stop, the pool grows, and
// the walkers continue.
//
// Random numbers are a function of seed, walker, step and attempt, and all comparisons are of integers: the same
// options give the same walks in every space. A walker is identified by the position of its start in the list of all
// starts, not by the thread that computes it.
//
// An arc is drawn by a binary search in the prefix sums of the weights of a row. If p or q is not 1, a drawn arc is
// accepted with the probability bias / largest bias; otherwise another arc is drawn (Yang et al., KnightKing, SOSP
// 2019).
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../alloc/allocator.hpp"
#include "../alloc/ouroboros/ouroboros.hpp"
#include "../exec/atomic.hpp"
#include "../exec/bulk.hpp"
#include "../exec/error.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "../exec/philox.hpp"
#include "../exec/tile.hpp"
#include "../graph/any_graph.hpp"
#include "../graph/view.hpp"
#include "detail/walk_paths.hpp"
#include "detail/weights.hpp"

namespace wyrm::algorithms {

struct random_walk_options {
  std::uint64_t seed = 1;
  std::uint32_t steps = 80;      // at most; a walk also ends at a vertex without out-arcs
  double stop = 0;               // the probability that a walk ends before a step; in [0, 1)
  double restart = 0;            // the probability that a step returns to the start instead; in [0, 1]
  double p = 1;                  // node2vec: 1/p is the bias of a step to the previous vertex; in [0.01, 100]
  double q = 1;                  // 1/q is the bias of a step to no neighbour of the previous vertex; in [0.01, 100]
  std::uint32_t per_vertex = 1;  // walks from each start
  std::vector<graph::vertex_id> starts = {};  // empty: all vertices
  /// Whether the values of the graph, which are finite numbers and not negative, are weights of arcs; an arc of weight
  /// 0 is never drawn.
  bool weighted = false;
};

/// Walk i is vertices[offsets[i]] ... vertices[offsets[i + 1] - 1], and begins with its start. The walks of one start
/// are contiguous.
struct walk_paths {
  std::vector<std::uint64_t> offsets;
  std::vector<graph::vertex_id> vertices;
};

namespace detail {

/// The rules by which a step is drawn.
struct step_rules {
  graph::graph_view g;
  std::uint64_t const* offsets;  // of rows in `sums`
  std::uint64_t const* sums;     // prefix sums of the weights of all arcs; nullptr: all equal
  std::uint64_t seed;
  // Probabilities, in units of 2^-32. The last three are biases divided by the largest bias.
  std::uint64_t stop;
  std::uint64_t restart;
  std::uint64_t back;     // of a step to the previous vertex
  std::uint64_t near;     // of a step to a neighbour of the previous vertex
  std::uint64_t farther;  // of any other step
  bool second_order;

  [[nodiscard]] WYRM_HD exec::four_words draw(std::uint64_t walker, std::uint32_t step, std::uint32_t round) const {
    return exec::philox({{static_cast<std::uint32_t>(walker), static_cast<std::uint32_t>(walker >> 32), step, round}},
                        static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32));
  }
  /// Draws an arc of a row that is not empty, with a probability in proportion to its weight.
  [[nodiscard]] WYRM_HD graph::vertex_id arc(graph::vertex_id v, graph::neighbour_list const& row, std::uint32_t high,
                                             std::uint32_t low) const {
    if (sums == nullptr) return row[static_cast<std::uint32_t>(std::uint64_t{high} * row.size >> 32)];
    std::uint64_t const* const to = sums + offsets[v];
    std::uint64_t const r = to[0] + below(to[row.size] - to[0], high, low);
    return row[graph::lower_bound(to + 1, row.size, r + 1)];  // the first prefix sum that is greater than r
  }
  /// Whether the row has an arc that can be drawn.
  [[nodiscard]] WYRM_HD bool can_continue(graph::vertex_id v, graph::neighbour_list const& row) const {
    return row.size > 0 && (sums == nullptr || sums[offsets[v] + row.size] > sums[offsets[v]]);
  }
  [[nodiscard]] WYRM_HD std::uint64_t bias(graph::vertex_id before, graph::vertex_id next) const {
    if (next == before) return back;
    if (near == farther) return near;
    return graph::contains(g.neighbours(before), next) ? near : farther;
  }

 private:
  /// A number in [0, n): the upper half of n times a 64-bit fraction.
  [[nodiscard]] WYRM_HD static std::uint64_t below(std::uint64_t n, std::uint32_t high, std::uint32_t low) {
    std::uint64_t const n_high = n >> 32;
    std::uint64_t const n_low = n & 0xffffffff;
    std::uint64_t const middle = n_low * high + (n_low * low >> 32);
    std::uint64_t const other = n_high * low + (middle & 0xffffffff);
    return n_high * high + (middle >> 32) + (other >> 32);
  }
};

/// One lane per walker: continues the walk until it ends, or waits for memory.
template <class Pool>
struct continue_walks {
  step_rules rules;
  Pool pool;
  graph::vertex_id const* starts;  // nullptr: all vertices
  std::uint32_t per_vertex;
  std::uint32_t longest;  // greatest number of vertices of a path
  walker* walkers;
  std::uint64_t* waiting;  // number of walkers that wait for memory

  [[nodiscard]] WYRM_HD graph::vertex_id start(std::size_t i) const {
    std::size_t const k = i / per_vertex;
    return starts != nullptr ? starts[k] : static_cast<graph::vertex_id>(k);
  }

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    walker w = valid ? walkers[i] : walker{nullptr, nullptr, 0, 1};
    graph::vertex_id now = 0;
    graph::vertex_id before = 0;
    if (w.ended == 0 && w.length > 0) {
      // A walk that continues has filled its last page.
      now = w.last->vertices[(w.length - 1) % path_page::capacity];
      before = w.last->vertices[(w.length - 2) % path_page::capacity];
    }
    bool waits = false;
    while (t.any(w.ended == 0 && !waits)) {
      bool const active = w.ended == 0 && !waits;
      graph::vertex_id next = 0;
      bool const steps = active && choose(w, i, before, now, next);
      if (active && !steps) w.ended = 1;
      bool const needs_page = steps && w.length % path_page::capacity == 0;
      if (t.any(needs_page)) {
        auto* const fresh = static_cast<path_page*>(pool.allocate(t, needs_page ? sizeof(path_page) : 0));
        waits = waits || (needs_page && fresh == nullptr);
        if (needs_page && fresh != nullptr) append(w, fresh);
      }
      if (!steps || waits) continue;
      w.last->vertices[w.length % path_page::capacity] = next;
      ++w.length;
      before = w.length > 1 ? now : next;
      now = next;
    }
    if (valid) walkers[i] = w;
    std::uint32_t const ballot = t.ballot(waits);
    if (ballot != 0 && t.rank() == 0)
      exec::atomic_ref<std::uint64_t>(*waiting).fetch_add(static_cast<std::uint64_t>(cuda::std::popcount(ballot)),
                                                          exec::relaxed);
  }

 private:
  WYRM_HD static void append(walker& w, path_page* fresh) {
    fresh->next = nullptr;
    if (w.last != nullptr) w.last->next = fresh;
    if (w.first == nullptr) w.first = fresh;
    w.last = fresh;
  }
  // Draws the next vertex of a walk; false if the walk ends. The result is the same if the step is repeated.
  [[nodiscard]] WYRM_HD bool choose(walker const& w, std::uint64_t i, graph::vertex_id before, graph::vertex_id now,
                                    graph::vertex_id& next) const {
    if (w.length == 0) {
      next = start(i);
      return true;
    }
    if (w.length == longest) return false;
    exec::four_words r = rules.draw(i, w.length, 0);
    if (r.x[0] < rules.stop) return false;
    if (r.x[1] < rules.restart) {
      next = start(i);
      return true;
    }
    graph::neighbour_list const row = rules.g.neighbours(now);
    if (!rules.can_continue(now, row)) return false;
    next = rules.arc(now, row, r.x[2], r.x[3]);
    if (!rules.second_order || w.length == 1 || row.size == 1) return true;
    for (std::uint32_t round = 1;; ++round) {
      r = rules.draw(i, w.length, round);
      if (r.x[0] < rules.bias(before, next)) return true;
      next = rules.arc(now, row, r.x[1], r.x[2]);
    }
  }
};

}  // namespace detail

/// Walks in different graphs, or in one changing graph; keeps its pool. Not thread-safe.
template <class Space, class Allocator = alloc::ouroboros_va_p<Space>>
class random_walker {
 public:
  explicit random_walker(Space const& space, alloc::options const& pool = {})
      : space_(space),
        pool_(space, alloc::without_guards(pool)),
        bulk_(space),
        starts_(space),
        lengths_(space),
        weights_(space),
        walkers_(space),
        offsets_(space),
        waiting_(space, 1) {}

  /// Computes walks; their paths stay on the device until the next call. Throws error(bad_argument) for options out of
  /// range or, if `weighted`, for a graph whose values are no numbers or a value that is negative or not finite; then
  /// the paths of the last call remain. Throws error(out_of_memory), also if the pool cannot grow enough; then there
  /// are no paths, or still those of the last call. O(steps), with weights O(vertices + arcs) and times the logarithm
  /// of a degree; 24 bytes per walker, 4.3 per step in pages of 128 bytes, and with weights 12 per arc and about 40 per
  /// vertex.
  void walk(graph::graph_view const& g, random_walk_options const& o) {
    check(g, o);
    if (o.weighted) weights_.make(g, "random walks");
    vertices_ = g.vertices();
    std::size_t const starts = o.starts.empty() ? vertices_ : o.starts.size();
    std::size_t const count = starts * o.per_vertex;
    count_ = 0;  // until all walks are complete
    pool_.reset();
    if (count == 0) return;
    detail::step_rules const rules = prepare(g, o);
    walkers_.reserve(count);
    space_.fill(walkers_.data(), 0, count * sizeof(detail::walker));
    std::uint32_t const longest = o.steps < ~0u ? o.steps + 1 : o.steps;
    for (;;) {
      space_.fill(waiting_.data(), 0, waiting_.bytes());
      exec::for_each_lane<32>(space_, count,
                              detail::continue_walks<typename Allocator::view_type>{
                                  rules, pool_.view(), o.starts.empty() ? nullptr : starts_.data(), o.per_vertex,
                                  longest, walkers_.data(), waiting_.data()});
      std::uint64_t const waiting = exec::read(space_, waiting_.data());
      if (waiting == 0) break;
      pool_.grow(std::max<std::size_t>(2 * waiting * sizeof(detail::path_page), pool_.stats().committed / 2));
    }
    count_ = count;
  }

  /// The paths of the last walk().
  [[nodiscard]] walk_paths paths() {
    std::uint64_t const all = compute_offsets(0);
    exec::buffer<graph::vertex_id, Space> vertices(space_, all);
    if (count_ > 0)
      exec::for_each(space_, count_, detail::copy_paths{walkers_.data(), offsets_.data(), vertices.data()});
    return {exec::copy_out(space_, offsets_.data(), count_ + 1), exec::copy_out(space_, vertices.data(), all)};
  }
  /// The number of visits of the walks from each start at each vertex, without the start of each walk itself; ascending
  /// by start and vertex. 16 bytes per step of scratch memory.
  [[nodiscard]] std::vector<co_visit> co_visits() {
    std::uint64_t const all = compute_offsets(1);
    if (all == 0) return {};
    auto const id_bits = std::max(1u, static_cast<unsigned>(std::bit_width(vertices_ - 1)));
    exec::buffer<std::uint64_t, Space> keys(space_, all);
    exec::buffer<std::uint64_t, Space> spare(space_, all);
    exec::for_each(space_, count_, detail::copy_visits{walkers_.data(), offsets_.data(), id_bits, keys.data()});
    std::uint64_t* const sorted = bulk_.sort(keys.data(), spare.data(), all, 2 * id_bits);
    std::uint64_t* const distinct = sorted == keys.data() ? spare.data() : keys.data();
    std::size_t const n = bulk_.unique(sorted, distinct, all);
    exec::buffer<co_visit, Space> visits(space_, n);
    exec::for_each(space_, n, detail::count_visits{sorted, all, distinct, id_bits, visits.data()});
    return exec::copy_out(space_, visits.data(), n);
  }
  /// Statistics of the pool of pages: the memory of the paths of the last walk().
  [[nodiscard]] alloc::statistics pool() const { return pool_.stats(); }

 private:
  static void check(graph::graph_view const& g, random_walk_options const& o) {
    auto const refuse = [](std::string const& what) { throw error(error_code::bad_argument, "random walks: " + what); };
    if (!(o.stop >= 0 && o.stop < 1)) refuse("the probability to stop must be in [0, 1)");
    if (!(o.restart >= 0 && o.restart <= 1)) refuse("the probability to restart must be in [0, 1]");
    if (!(o.p >= 0.01 && o.p <= 100) || !(o.q >= 0.01 && o.q <= 100)) refuse("p and q must be from 0.01 to 100");
    if (o.steps == ~0u && o.stop == 0) refuse("walks would not end; set a number of steps, or a probability to stop");
    for (graph::vertex_id const v : o.starts)
      if (v >= g.vertices())
        refuse("start " + std::to_string(v) + " is no vertex; there are " + std::to_string(g.vertices()));
  }
  static std::uint64_t fixed_point(double probability) {
    return static_cast<std::uint64_t>(std::llround(probability * 4294967296.0));
  }
  detail::step_rules prepare(graph::graph_view const& g, random_walk_options const& o) {
    starts_.reserve(o.starts.size());
    exec::copy_in<graph::vertex_id>(space_, starts_.data(), o.starts);
    double const largest = std::max({1 / o.p, 1.0, 1 / o.q});
    return {g,
            weights_.offsets(),
            o.weighted ? weights_.sums() : nullptr,
            o.seed,
            fixed_point(o.stop),
            fixed_point(o.restart),
            fixed_point(1 / o.p / largest),
            fixed_point(1 / largest),
            fixed_point(1 / o.q / largest),
            o.p != 1 || o.q != 1};
  }
  // Computes where each path begins in the array of all paths, and returns the length of this array.
  std::uint64_t compute_offsets(std::uint32_t skipped) {
    offsets_.reserve(count_ + 1);
    lengths_.reserve(count_);
    if (count_ == 0) {
      exec::write(space_, offsets_.data(), std::uint64_t{0});
      return 0;
    }
    exec::for_each(space_, count_, detail::copy_lengths{walkers_.data(), lengths_.data(), skipped});
    bulk_.inclusive_sum(lengths_.data(), offsets_.data(), count_);
    return exec::read(space_, offsets_.data() + count_);
  }

  Space space_;
  Allocator pool_;
  typename Space::bulk bulk_;
  exec::buffer<graph::vertex_id, Space> starts_;
  exec::buffer<std::uint32_t, Space> lengths_;
  detail::integer_weights<Space> weights_;
  exec::buffer<detail::walker, Space> walkers_;
  exec::buffer<std::uint64_t, Space> offsets_;
  exec::buffer<std::uint64_t, Space> waiting_;
  std::size_t vertices_ = 0;
  std::size_t count_ = 0;
};

/// The same for a single call.
template <class Space>
walk_paths random_walks(Space const& space, graph::graph_view const& g, random_walk_options const& o = {}) {
  random_walker<Space> walker(space);
  walker.walk(g, o);
  return walker.paths();
}

walk_paths random_walks(graph::any_graph const& g, random_walk_options const& o = {});

}  // namespace wyrm::algorithms
