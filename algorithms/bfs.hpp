// SPDX-License-Identifier: Apache-2.0
// Breadth-first search: the distance of each vertex, in arcs, from the nearest of some sources (Moore 1959). All
// vertices at one distance form a frontier. A small frontier is expanded along out-arcs (push); a vertex with many
// neighbours is split among several tiles. Threads claim a vertex by setting its bit in a bitmap. All threads that try
// to claim the same vertex do so in the same round, and so would assign the same distance; the result does not depend
// on the order. Where the frontier has a large part of the arcs, the vertices that are left look for it among their
// in-neighbours instead (detail/pull_frontier.hpp). On request they find their parents as well, and the final distances
// give those of the other vertices (detail/parents.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cuda/std/bit>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../exec/atomic.hpp"
#include "../exec/error.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "../exec/tile.hpp"
#include "../graph/any_graph.hpp"
#include "../graph/types.hpp"
#include "../graph/view.hpp"
#include "detail/frontier.hpp"
#include "detail/parents.hpp"
#include "detail/pull_frontier.hpp"
#include "detail/rounds.hpp"

namespace wyrm::algorithms {

struct bfs_result {
  static constexpr std::uint32_t unreached = ~std::uint32_t{0};
  std::vector<std::uint32_t> distance;  // of each vertex: arcs from the nearest source, or unreached
  std::uint32_t rounds = 0;             // that visited a vertex: one more than the greatest distance; 0 without sources
  std::size_t reached = 0;              // vertices, sources included
  // With bfs_options::parents: the smallest in-neighbour of each vertex that is one arc nearer to a source; the vertex
  // itself for a source, or unreached. Otherwise empty.
  std::vector<graph::vertex_id> parent;
};

namespace detail {

struct search_totals {
  std::uint64_t degrees;  // of a frontier
  std::uint32_t found;    // by a round of pulls
  std::uint32_t reached;
  std::uint32_t rounds;  // of visit_frontier, up to the last that visited a vertex, and all before these
};

/// One lane per source; sources may repeat.
struct begin_search {
  graph::graph_view g;
  graph::vertex_id const* sources;
  frontier to;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    to.add(t, g, valid ? sources[i] : 0, valid);
  }
};

/// One tile per item of the frontier at a distance.
struct visit_frontier {
  graph::graph_view g;
  std::uint32_t* distances;
  std::uint32_t distance;
  frontier now;
  frontier next;
  search_totals* totals;

  WYRM_HD void set_number(std::uint32_t number) { distance = number; }
  [[nodiscard]] WYRM_HD graph::packed_record const* rows() const { return g.out_records(); }
  WYRM_HD void start() const {
    if (*now.size > 0) totals->rounds = distance + 1;
  }
  template <class Tile>
  WYRM_HD frontier_end<Tile> begin(Tile const&) const {
    return {g, next};
  }
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const& item, frontier_end<Tile>& found) const {
    if (t.rank() == 0 && item.part == 0) distances[item.vertex] = distance;
    graph::neighbour_list const part = item.part_of(g.neighbours(item.vertex));
    for_some_neighbours(t, g, part, 0, [&]<unsigned N>(some_neighbours<N> const& some) {
      bool may_be_new[N];
      for (unsigned k = 0; k < N; ++k)
        may_be_new[k] = some.has[k] && (exec::load_recent(next.marks[some.v[k] / 32]) >> some.v[k] % 32 & 1) == 0;
      found.add(t, some.v, may_be_new);
    });
  }
};

/// One lane per word of the marks.
struct count_reached {
  std::uint32_t const* marks;
  std::uint32_t* reached;
  template <class Tile>
  WYRM_HD tile_sum<std::uint32_t> begin(Tile const&) const {
    return tile_sum<std::uint32_t>(reached);
  }
  template <class Tile>
  WYRM_HD void operator()(Tile const&, std::size_t w, bool valid, tile_sum<std::uint32_t>& all) const {
    if (valid) all.add(static_cast<std::uint32_t>(cuda::std::popcount(marks[w])));
  }
};

}  // namespace detail

struct bfs_options {
  /// Whether large frontiers are looked for from the other side. Only where the graph has in-neighbours.
  bool pull = true;
  /// Whether to find a tree of shortest paths, too. One more pass over the arcs.
  bool parents = false;
};

/// The figures of bfs_result.
struct bfs_run {
  std::uint32_t rounds = 0;
  std::size_t reached = 0;
};

/// Searches different graphs, or one changing graph; distances and scratch memory stay on the device: about 20 bytes
/// per vertex and 1/16 byte per arc, and 22 bytes per vertex more for parents. Not thread-safe.
template <class Space>
class bfs_searcher {
 public:
  explicit bfs_searcher(Space const& space)
      : space_(space),
        rounds_(space),
        begin_(space),
        distances_(space),
        bits_{bitmap(space), bitmap(space)},
        totals_(space, 1) {}

  /// Distances from one or several sources; sources may repeat. A vertex that is absent is not reached, except that a
  /// source is at distance 0 in any case. O(vertices + arcs of reached vertices), with one launch for each distance
  /// of many vertices, or for several of few. Throws error(bad_argument) for a source out of range, and
  /// error(out_of_memory).
  bfs_run run(graph::graph_view const& g, std::span<graph::vertex_id const> sources, bfs_options const& o = {}) {
    std::size_t const n = g.vertices();
    for (graph::vertex_id const v : sources)
      if (v >= n)
        throw error(error_code::bad_argument, "bfs: the source " + std::to_string(v) +
                                                  " is not in the graph, which has " + std::to_string(n) +
                                                  " vertices; they are numbered from 0");
    distances_.reserve(n);
    if (o.parents && !parents_) parents_.emplace(space_);
    if (n > 0) space_.fill(distances_.data(), 0xff, n * sizeof(std::uint32_t));
    begin_.reserve(sources.size());
    if (!sources.empty()) exec::copy_in<graph::vertex_id>(space_, begin_.data(), sources);
    if (o.parents) parents_->begin(n, begin_.data(), sources.size());
    if (sources.empty()) return {};
    space_.fill(totals_.data(), 0, totals_.bytes());
    pulled_ = {};
    rounds_.begin(g);
    exec::for_each_lane<32>(space_, sources.size(), detail::begin_search{g, begin_.data(), rounds_.now()});
    search(g, o.pull && g.has_in_neighbours(), o.parents ? parents_->data() : nullptr);
    if (o.parents) parents_->finish(g, distances_.data(), pulled_);
    detail::search_totals const all = totals([&](detail::search_totals* totals) {
      detail::for_each_index(space_, detail::pull_frontier::words(n),
                             detail::count_reached{rounds_.now().marks, &totals->reached});
    });
    return {std::max(pulled_.end, all.rounds), all.reached};
  }
  /// Requests all memory for run() with one source and these options, on graphs with up to n vertices and this many
  /// arcs. What the last run found is lost. Throws error(out_of_memory).
  void reserve(std::size_t n, std::uint64_t arcs, bool has_in_neighbours, bfs_options const& o) {
    distances_.reserve(n);
    begin_.reserve(1);
    rounds_.reserve(n, arcs);
    if (o.pull && has_in_neighbours)
      for (bitmap& bits : bits_) bits.reserve(detail::pull_frontier::words(n));
    if (!o.parents) return;
    if (!parents_) parents_.emplace(space_);
    parents_->reserve(n, arcs, has_in_neighbours);
  }
  /// Of each vertex of the graph of the last run, in device memory: arcs from the nearest source, or unreached.
  [[nodiscard]] std::uint32_t const* distance() const { return distances_.data(); }
  /// The same for bfs_result::parent; of the last run with parents, nullptr before it.
  [[nodiscard]] graph::vertex_id const* parent() const { return parents_ ? parents_->data() : nullptr; }

 private:
  using bitmap = exec::buffer<std::uint32_t, Space>;
  // As in the paper: a frontier is large if it has more than 1/14 of the arcs that are left, until it has less than
  // 1/24 of the vertices.
  static constexpr std::uint64_t arcs_left_of_large = 14;
  static constexpr std::size_t vertices_of_large = 24;
  static constexpr std::size_t vertices_of_small = 256;  // a frontier with a smaller part is not measured

  // parents: receives those that pulls find; or nullptr.
  void search(graph::graph_view const& g, bool may_pull, graph::vertex_id* parents) {
    std::size_t const n = g.vertices();
    detail::visit_frontier const visit{g, distances_.data(), 0, {}, {}, totals_.data()};
    std::uint32_t const small = detail::small_frontier(space_);
    auto const limit =
        static_cast<std::uint32_t>(may_pull ? std::min<std::size_t>(small, n / vertices_of_small) : small);
    std::uint64_t arcs_left = g.arcs();
    std::uint32_t distance = 0;
    std::uint32_t before = 0;
    unsigned at_once = 1;
    for (;;) {
      auto const seen = rounds_.do_small(visit, distance, before <= 8 * std::uint64_t{limit} ? limit : 0);
      std::uint32_t const items = seen.items;
      distance += seen.rounds;
      if (items == 0) return;
      if (may_pull && items > n / vertices_of_small) {
        std::uint64_t const arcs =
            totals([&](detail::search_totals* totals) {
              detail::for_each_item<32>(space_, rounds_.now(), detail::sum_degrees{g, &totals->degrees});
            }).degrees;
        if (arcs > arcs_left / arcs_left_of_large && !pull(g, items, distance, parents)) return;
        arcs_left -= std::min(arcs_left, arcs);
      }
      // Several rounds before the next look, unless frontiers grow fast: the next ones may be large.
      at_once = may_pull && items > 2 * std::uint64_t{before} ? 1 : std::min(2 * at_once, 16u);
      before = items;
      distance = rounds_.enqueue(visit, distance, at_once);
    }
  }
  /// Pulls until the frontier, which has so many items of this distance, is small. Returns whether there is one, as a
  /// list.
  [[nodiscard]] bool pull(graph::graph_view const& g, std::uint32_t items, std::uint32_t& distance,
                          graph::vertex_id* parents) {
    std::size_t const n = g.vertices();
    std::size_t const words = detail::pull_frontier::words(n);
    for (bitmap& bits : bits_) bits.reserve(words);
    space_.fill(bits_[0].data(), 0, words * sizeof(std::uint32_t));
    detail::for_each_item<32>(space_, rounds_.now(), detail::set_bits{bits_[0].data(), distances_.data(), distance});
    std::uint32_t* const marks = rounds_.now().marks;
    pulled_.begin = distance + 1;
    for (std::uint32_t found = items;;) {
      std::uint32_t const before = found;
      ++distance;
      pulled_.end = distance;
      found = totals([&](detail::search_totals* totals) {
                exec::for_each_tile<32>(space_, detail::pull_frontier::tiles(n),
                                        detail::pull_frontier{g, marks, bits_[0].data(), bits_[1].data(),
                                                              distances_.data(), distance, &totals->found, parents});
              }).found;
      if (found == 0) return false;
      std::swap(bits_[0], bits_[1]);
      if (found < n / vertices_of_large && found < before) break;
    }
    pulled_.end = distance + 1;
    rounds_.clear();
    detail::for_each_index(space_, n, detail::list_bits{g, bits_[0].data(), rounds_.now()});
    return true;
  }
  /// Calls f(totals), which enqueues work that counts from 0, and waits for the result. The rounds stay.
  template <class F>
  [[nodiscard]] detail::search_totals totals(F const& f) {
    space_.fill(totals_.data(), 0, offsetof(detail::search_totals, rounds));
    f(totals_.data());
    return exec::read(space_, totals_.data());
  }

  Space space_;
  detail::rounds<Space> rounds_;
  exec::buffer<graph::vertex_id, Space> begin_;
  exec::buffer<std::uint32_t, Space> distances_;
  bitmap bits_[2];
  exec::buffer<detail::search_totals, Space> totals_;
  detail::distance_range pulled_;  // distances that the last pulls found
  std::optional<detail::parent_finder<Space>> parents_;
};

/// The same, with all distances in host memory.
template <class Space>
bfs_result bfs(Space const& space, graph::graph_view const& g, std::span<graph::vertex_id const> sources,
               bfs_options const& o = {}) {
  bfs_searcher<Space> searcher(space);
  bfs_run const run = searcher.run(g, sources, o);
  bfs_result result{exec::copy_out(space, searcher.distance(), g.vertices()), run.rounds, run.reached, {}};
  if (o.parents) result.parent = exec::copy_out(space, searcher.parent(), g.vertices());
  return result;
}

bfs_result bfs(graph::any_graph const& g, std::span<graph::vertex_id const> sources, bfs_options const& o = {});

}  // namespace wyrm::algorithms
