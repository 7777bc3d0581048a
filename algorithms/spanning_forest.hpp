// SPDX-License-Identifier: Apache-2.0
// The minimum spanning forest of an undirected graph, by Boruvka's algorithm (1926; Nesetril, Milkova, Nesetrilova,
// Discrete Math. 2001): in each round every tree chooses its lightest edge to another tree, and all chosen edges join
// the forest. A round at least halves the number of trees that have such an edge. Edges are ordered by weight, smaller
// end and larger end, so no two are equal, and the forest is unique.
//
// A round has four launches over the list of edges that may still join trees, and over the vertices. The first drops
// edges within a tree, and finds the least weight of each tree; the second finds the first edge of that weight; the
// third hooks each tree under the one at the other end of its edge; the fourth finds the new root of each vertex, and
// shortens paths on the way. Of two trees that choose the same edge, the one with the smaller root stays a root: there
// are no other cycles, because edges are in a total order.
//
// A CPU with few threads uses Filter-Kruskal, see detail/forest_on_host.hpp.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <utility>
#include <vector>

#include "../exec/atomic.hpp"
#include "../exec/bulk.hpp"
#include "../exec/error.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "../exec/tile.hpp"
#include "../graph/any_graph.hpp"
#include "../graph/types.hpp"
#include "../graph/view.hpp"
#include "components.hpp"
#include "detail/forest_edges.hpp"
#include "detail/forest_on_host.hpp"
#include "detail/frontier.hpp"
#include "detail/requirements.hpp"
#include "detail/weighted_rows.hpp"
#include "detail/weights.hpp"

namespace wyrm::algorithms {

struct spanning_forest_result {
  std::vector<graph::edge> edges;  // of the forest, in ascending order, with source < target
  std::vector<double> weights;     // of these edges; values of type int64_t beyond 2^53 are rounded
  double weight = 0;               // the sum of the weights; between spaces it may differ by rounding
  std::size_t trees = 0;           // as many as components; absent vertices do not count
};

/// The figures of spanning_forest_result.
struct spanning_forest_run {
  std::size_t edges = 0;
  double weight = 0;
  std::size_t trees = 0;
};

/// Finds the forests of different graphs, or of one changing graph; forest and scratch memory stay on the device: about
/// 76 bytes per vertex and 16 per arc; on a CPU with up to 8 threads, 52 bytes per vertex, 4 per vertex and thread, and
/// 8 per arc. Not thread-safe.
template <class Space>
class spanning_forest_finder {
 public:
  explicit spanning_forest_finder(Space const& space)
      : space_(space),
        bulk_(space),
        rows_(space),
        begins_(space),
        larger_(space),
        candidates_{list(space), list(space)},
        roots_(space),
        hooks_(space),
        lightest_(space),
        first_(space),
        chosen_(space),
        spare_(space),
        edges_(space),
        weights_(space),
        state_(space, 1) {}

  /// The weights are the values of the graph, of type uint32_t, int64_t, float or double; 1 if edges have no values, or
  /// values of another type. Weights may be negative. Self-loops are ignored. O((vertices + arcs) log vertices): at
  /// most log2(vertices) + 1 rounds, each of which reads the edges that are left; the host synchronises once a round.
  /// Throws error(bad_argument) for a directed graph, and for a weight that is not finite, and error(out_of_memory).
  spanning_forest_run run(graph::graph_view const& g) {
    detail::require_undirected(g, "spanning_forest");
    std::size_t const n = g.vertices();
    if (n == 0) return {};
    std::uint64_t left = list_edges(g);
    if constexpr (!exec::has_tiles<Space>)
      if (space_.threads() <= most_threads) return run_on_host(g, left);
    reserve(n, left);
    exec::for_each(space_, n, detail::begin_trees{forest()});
    while (left > 0) {
      space_.fill(&state_.data()->kept, 0, sizeof(detail::forest_state::kept));
      detail::forest_edge* const kept = candidates_[1].data();
      exec::for_each_lane<32>(space_, left,
                              detail::find_lightest{candidates_[0].data(), forest(), kept, state_.data()});
      left = exec::read(space_, state_.data()).kept;
      exec::for_each(space_, left, detail::find_first_edges{kept, forest()});
      exec::for_each_lane<32>(space_, n, detail::hook_trees{forest(), chosen_.data(), state_.data()});
      exec::for_each(space_, n, detail::flatten_trees{forest()});
      std::swap(candidates_[0], candidates_[1]);
    }
    return write_sorted(g, exec::read(space_, state_.data()).chosen);
  }
  /// The edges of the forest of the last run, and their weights, in device memory.
  [[nodiscard]] graph::edge const* edges() const { return edges_.data(); }
  [[nodiscard]] double const* weights() const { return weights_.data(); }

 private:
  using list = exec::large_buffer<detail::forest_edge, Space>;
  // With two threads Filter-Kruskal takes 0.4 to 0.9 of the time of Boruvka's algorithm, but it has a serial part.
  static constexpr unsigned most_threads = 8;

  [[nodiscard]] spanning_forest_run run_on_host(graph::graph_view const& g,
                                                std::size_t count) requires(!exec::has_tiles<Space>) {
    std::size_t const n = g.vertices();
    // A forest per thread takes no more memory than the edges.
    std::size_t const threads = std::min<std::size_t>(count / n + 1, space_.threads());
    bool const is_weighted = g.numbers() != graph::number_type::none;
    roots_.reserve(threads * n);
    chosen_.reserve(n);
    spare_.reserve(n);
    edges_.reserve(n);
    weights_.reserve(n);
    std::size_t const edges = detail::forest_on_host(space_, threads, n, candidates_[0].data(), count, !is_weighted,
                                                     roots_.data(), chosen_.data());
    return is_weighted ? write_sorted(g, edges) : write(g, chosen_.data(), edges);
  }

  // Lists the edges that are no loops, in the order of rows; returns their number.
  std::uint64_t list_edges(graph::graph_view const& g) {
    std::size_t const n = g.vertices();
    larger_.reserve(n);
    begins_.reserve(n + 1);
    exec::for_each(space_, n, detail::count_larger{g, larger_.data()});
    bulk_.inclusive_sum(larger_.data(), begins_.data(), n);
    std::uint64_t const edges = exec::read(space_, begins_.data() + n);
    candidates_[0].reserve(edges);
    rows_.fill(g);
    exec::write(space_, state_.data(), {});
    detail::for_each_item<8>(
        space_, rows_.view(),
        detail::list_forest_edges{g, larger_.data(), begins_.data(), candidates_[0].data(), state_.data()});
    if (std::uint64_t const first = exec::read(space_, state_.data()).first_invalid; first != detail::no_entry)
      refuse(g, static_cast<graph::vertex_id>(first >> 32), static_cast<std::uint32_t>(first));
    return edges;
  }
  void reserve(std::size_t n, std::size_t edges) {
    candidates_[1].reserve(edges);
    roots_.reserve(n);
    hooks_.reserve(n);
    lightest_.reserve(n);
    first_.reserve(n);
    chosen_.reserve(n);
    spare_.reserve(n);
    edges_.reserve(n);
    weights_.reserve(n);
  }
  [[nodiscard]] spanning_forest_run write_sorted(graph::graph_view const& g, std::size_t edges) {
    auto const bits = 32 + static_cast<unsigned>(std::bit_width(g.vertices()));
    return write(g, edges > 0 ? bulk_.sort(chosen_.data(), spare_.data(), edges, bits) : nullptr, edges);
  }
  [[nodiscard]] spanning_forest_run write(graph::graph_view const& g, std::uint64_t const* keys, std::size_t edges) {
    if (edges > 0) exec::for_each(space_, edges, detail::write_forest{g, keys, edges_.data(), weights_.data()});
    return {edges, edges > 0 ? bulk_.sum(weights_.data(), edges) : 0, g.present_vertices() - edges};
  }
  [[noreturn]] void refuse(graph::graph_view const& g, graph::vertex_id u, std::uint32_t i) const {
    graph::packed_record const row = exec::read(space_, g.out_records() + u);
    std::ostringstream what;
    what << "spanning_forest: the weight of the edge " << u << " - " << exec::read(space_, row.page() + i) << " is "
         << detail::value_row(row, g.numbers()).read(space_, i) << "; weights must be finite";
    throw error(error_code::bad_argument, what.str());
  }
  [[nodiscard]] detail::growing_forest forest() const {
    return {roots_.data(), {hooks_.data()}, lightest_.data(), first_.data()};
  }

  Space space_;
  typename Space::bulk bulk_;
  detail::vertex_list<Space> rows_;
  exec::buffer<std::uint64_t, Space> begins_;  // of the edges of each vertex in the first list
  exec::buffer<std::uint32_t, Space> larger_;  // of each vertex: the number of larger neighbours
  list candidates_[2];                         // the edges that may still join trees, and those of the next round
  exec::buffer<graph::vertex_id, Space> roots_;
  exec::buffer<graph::vertex_id, Space> hooks_;
  exec::buffer<std::uint64_t, Space> lightest_;
  exec::buffer<std::uint64_t, Space> first_;
  exec::buffer<std::uint64_t, Space> chosen_;
  exec::buffer<std::uint64_t, Space> spare_;
  exec::buffer<graph::edge, Space> edges_;
  exec::buffer<double, Space> weights_;
  exec::buffer<detail::forest_state, Space> state_;
};

/// The same, with the forest in host memory.
template <class Space>
spanning_forest_result spanning_forest(Space const& space, graph::graph_view const& g) {
  spanning_forest_finder<Space> finder(space);
  spanning_forest_run const run = finder.run(g);
  return {exec::copy_out(space, finder.edges(), run.edges), exec::copy_out(space, finder.weights(), run.edges),
          run.weight, run.trees};
}

spanning_forest_result spanning_forest(graph::any_graph const& g);

}  // namespace wyrm::algorithms
