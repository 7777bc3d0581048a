// SPDX-License-Identifier: Apache-2.0
// Shortest paths from one source in a graph whose arcs have lengths that are not negative, by the near-far method
// (detail/near_far.hpp has the papers).
//
// The length of a path is the sum of the lengths of its arcs, added up from the source on in double precision, and the
// distance of a vertex is the minimum over all paths. Rounded addition is monotone: a <= b implies a + w <= b + w after
// rounding, and a + w >= a. So, first, a distance that is found is the length of some walk, and no less than that of
// the path that remains without the cycles of the walk. Second, when no arc lowers a distance any more, no distance is
// greater than the length of any path to its vertex, by induction along the path. Hence the result is that minimum, the
// same bit for bit in any order of relaxations, in every space.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../exec/error.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "../graph/any_graph.hpp"
#include "../graph/types.hpp"
#include "../graph/view.hpp"
#include "detail/near_far.hpp"
#include "detail/parents.hpp"
#include "detail/rounds.hpp"
#include "detail/row_bins.hpp"
#include "detail/sssp_parents.hpp"
#include "detail/weights.hpp"

namespace wyrm::algorithms {

struct sssp_options {
  /// Whether the values of the graph are the lengths of its arcs. They are converted to double. If not, or if the graph
  /// has no values, each arc has the length 1.
  bool weighted = true;
  /// Whether to find a tree of shortest paths, too.
  bool parents = false;
  /// By how much the limit of near distances rises at a time; 0: chosen, and adapted to the size of frontiers. It
  /// changes the time, and never the result.
  double delta = 0;
};

struct sssp_result {
  std::vector<double> distance;  // of each vertex from the source; infinity if it is unreached, or absent
  std::size_t reached = 0;       // vertices, the source included
  // With sssp_options::parents: the vertex before each vertex on a shortest path, or graph::no_vertex if it is
  // unreached; the source for the source. Of all vertices from which a shortest path comes, it is the smallest one that
  // is nearer to the source. Where all are at the same distance, it is the smallest of those with the fewest arcs
  // between them and a vertex that has a nearer parent. Following parents leads to the source. Otherwise empty.
  std::vector<graph::vertex_id> parent;
};

/// Finds shortest paths in different graphs, or one changing graph; distances and scratch memory stay on the device:
/// about 55 bytes per vertex and 1/16 byte per arc, 8 bytes per vertex more for parents. Not thread-safe.
template <class Space>
class sssp_searcher {
 public:
  explicit sssp_searcher(Space const& space)
      : space_(space),
        bins_(space),
        inspector_(space),
        rounds_(space, detail::visits::again),
        distances_(space),
        far_lists_{list(space), list(space)},
        far_marks_(space),
        state_(space, 1),
        sample_(space),
        counts_(space, 1),
        parents_(space),
        levels_(space) {}

  /// Distances from a source, which is at distance 0 also if it is absent; returns how many vertices are reached, the
  /// source included. A vertex whose distance exceeds the largest double counts as unreached. O(vertices + arcs) to
  /// check the weights, and O(arcs) times the number of rounds that change a vertex at worst; in practice arcs are
  /// relaxed a few times. The host waits once for several rounds. Throws error(bad_argument) for a source out of range,
  /// a delta that is negative or no number, values that are no numbers, and weights that are negative or not finite;
  /// error(out_of_memory).
  std::size_t run(graph::graph_view const& g, graph::vertex_id source, sssp_options const& o = {}) {
    std::size_t const n = g.vertices();
    if (source >= n)
      throw error(error_code::bad_argument, "sssp: the source " + std::to_string(source) +
                                                " is not in the graph, which has " + std::to_string(n) +
                                                " vertices; they are numbered from 0");
    if (!(o.delta >= 0))
      throw error(error_code::bad_argument, "sssp: delta is " + std::to_string(o.delta) +
                                                "; it must be positive, or 0 to let the search choose it");
    graph::number_type const type = o.weighted && g.value_bytes() > 0 ? g.numbers() : graph::number_type::none;
    if (o.weighted && g.value_bytes() > 0) inspector_.require_numbers(g, "sssp");
    // All unsigned numbers are valid, so they are not inspected.
    bool const inspects = type != graph::number_type::none && type != graph::number_type::u32;
    detail::row_bins_view out{};
    if (inspects || o.parents) out = bins_.make(g.out_records(), n, g.arcs(), detail::limits_of_rows);
    double const longest = inspects ? inspector_.largest(g, out, "sssp") : 1;

    reserve_vertices(n, o.parents);
    exec::for_each(space_, n, detail::begin_distances{distances_.data(), source});
    search(g, type, source, o.delta, longest);
    if (!o.parents) return count(n, nullptr).reached;
    exec::for_each(space_, n, detail::begin_parents_at{source, parents_.data()});
    detail::arcs_by_length const arcs{g.out_records(), type, distances_.data()};
    exec::for_each_tile<32>(space_, out.items(),
                            detail::push_parents<detail::arcs_by_length>{out, arcs, parents_.data()});
    detail::reached_counts const found = count(n, parents_.data());
    if (found.orphans > 0) adopt(g, type);
    return found.reached;
  }
  /// Requests all memory for run() with these options, on graphs with up to n vertices and this many arcs. What the
  /// last run found is lost. Throws error(out_of_memory).
  void reserve(std::size_t n, std::uint64_t arcs, sssp_options const& o) {
    bins_.reserve(n, arcs, detail::limits_of_rows);
    sample_.reserve(detail::sample_lengths::size);
    rounds_.reserve(n, arcs);
    reserve_vertices(n, o.parents);
  }
  /// Of each vertex of the graph of the last run, in device memory; see sssp_result.
  [[nodiscard]] double const* distance() const { return reinterpret_cast<double const*>(distances_.data()); }
  /// The bits of the same.
  [[nodiscard]] std::uint64_t const* distance_bits() const { return distances_.data(); }
  /// The same for sssp_result::parent; of the last run with parents.
  [[nodiscard]] graph::vertex_id const* parent() const { return parents_.data(); }

 private:
  using list = exec::buffer<graph::vertex_id, Space>;
  static constexpr unsigned rounds_of_split = 4;
  static constexpr unsigned most_splits = 8;  // before the host reads whether there is more to do
  // On a device with 8 lanes per item: 16384 items are enough for half of the lanes of a large GPU. A round of a CPU
  // that has few items is as good as one with many, so delta stays small, unless splits cost more than rounds, or
  // lengths are so different that hardly any vertex is near.
  static constexpr detail::delta_rules rules = exec::has_tiles<Space>
                                                   ? detail::delta_rules{.few = 16384, .many = 8 * 16384}
                                                   : detail::delta_rules{.few = 2, .split_per_item = 8};
  // The first delta is that of the paper on a device, and half of it on a CPU.
  static constexpr double arcs_of_delta = exec::has_tiles<Space> ? 8 : 4;

  [[nodiscard]] static std::size_t words(std::size_t n) { return (n + 31) / 32; }
  void reserve_vertices(std::size_t n, bool parents) {
    distances_.reserve(n);
    for (list& far : far_lists_) far.reserve(n);
    far_marks_.reserve(words(n));
    if (!parents) return;
    parents_.reserve(n);
    levels_.reserve(n);
  }
  void search(graph::graph_view const& g, graph::number_type type, graph::vertex_id source, double delta,
              double longest) {
    space_.fill(far_marks_.data(), 0, words(g.vertices()) * sizeof(std::uint32_t));
    rounds_.begin(g);
    double const first = delta > 0 ? delta : choose_delta(g, type, longest);
    std::uint64_t const limit = std::max<std::uint64_t>(1, detail::bits_of(first));
    exec::write(space_, state_.data(), {limit, 0, detail::infinite_bits, first, 0, 0, 0, 0, 0});
    detail::far_pile const far{{far_lists_[0].data(), far_lists_[1].data()}, far_marks_.data(), state_.data()};
    exec::for_each_lane<32>(space_, 1, detail::begin_at{g, source, rounds_.now()});
    detail::delta_rules const changes = delta > 0 ? detail::delta_rules{} : rules;
    detail::relax_arcs const relax{g, type, distances_.data(), {}, {}, far};
    for (unsigned splits = 1;;) {
      auto const seen = rounds_.do_small(detail::relax_near{relax, changes}, 0, detail::small_frontier(space_));
      if (seen.items == 0 && exec::read(space_, state_.data()).far_size == 0) return;
      if (seen.rounds > 0) splits = 1;  // the next frontiers may be small, too
      for (unsigned s = 0; s < splits; ++s) {
        if (seen.items > 0 || s > 0) rounds_.enqueue(relax, 0, rounds_of_split);
        exec::for_each(space_, 1, detail::plan_split{state_.data(), rounds_.now().size, changes});
        std::size_t const tiles = space_.lanes_for(&state_.data()->to_split) / Space::template tile_size<32> + 1;
        exec::for_each_tile<32>(space_, tiles, detail::split_far{g, distances_.data(), far, rounds_.now(), tiles});
      }
      splits = std::min(2 * splits, most_splits);
    }
  }
  /// As in the paper: the more arcs a vertex has, the smaller.
  [[nodiscard]] double choose_delta(graph::graph_view const& g, graph::number_type type, double longest) {
    double mean = longest;
    if (type != graph::number_type::none) {
      sample_.reserve(detail::sample_lengths::size);
      exec::for_each(space_, detail::sample_lengths::size, detail::sample_lengths{g, type, sample_.data()});
      std::array<double, detail::sample_lengths::size> lengths;
      space_.copy_out(lengths.data(), sample_.data(), sizeof(lengths));
      double sum = 0;
      double samples = 0;
      for (double const length : lengths)
        if (length >= 0) {
          sum += length / detail::sample_lengths::size;  // in parts, as a sum could be infinite
          ++samples;
        }
      // A delta of zero would never grow, so `longest` stays where all lengths of the sample are zero.
      if (sum > 0) mean = sum * (detail::sample_lengths::size / samples);
    }
    double const degree = static_cast<double>(g.arcs()) / g.vertices();
    return mean * std::min(arcs_of_delta / std::max(degree, 1.0), 1.0);
  }
  [[nodiscard]] detail::reached_counts count(std::size_t n, graph::vertex_id const* parents) {
    space_.fill(counts_.data(), 0, counts_.bytes());
    detail::for_each_index(space_, n, detail::count_finite{distances_.data(), parents, counts_.data()});
    return exec::read(space_, counts_.data());
  }
  void adopt(graph::graph_view const& g, graph::number_type type) {
    rounds_.clear();
    exec::for_each_lane<32>(space_, g.vertices(),
                            detail::begin_levels{g, parents_.data(), levels_.data(), rounds_.now()});
    rounds_.run(detail::adopt_orphans{g, type, distances_.data(), parents_.data(), levels_.data(), 0, {}, {}});
  }

  Space space_;
  detail::row_bins<Space> bins_;
  detail::weight_inspector<Space> inspector_;
  detail::rounds<Space> rounds_;
  exec::buffer<std::uint64_t, Space> distances_;  // as bits
  list far_lists_[2];
  exec::buffer<std::uint32_t, Space> far_marks_;
  exec::buffer<detail::near_far_state, Space> state_;
  exec::buffer<double, Space> sample_;
  exec::buffer<detail::reached_counts, Space> counts_;
  exec::buffer<graph::vertex_id, Space> parents_;
  exec::buffer<std::uint32_t, Space> levels_;
};

/// The same, with all distances in host memory.
template <class Space>
sssp_result sssp(Space const& space, graph::graph_view const& g, graph::vertex_id source, sssp_options const& o = {}) {
  sssp_searcher<Space> searcher(space);
  sssp_result result;
  result.reached = searcher.run(g, source, o);
  result.distance = exec::copy_out(space, searcher.distance(), g.vertices());
  if (o.parents) result.parent = exec::copy_out(space, searcher.parent(), g.vertices());
  return result;
}

sssp_result sssp(graph::any_graph const& g, graph::vertex_id source, sssp_options const& o = {});

}  // namespace wyrm::algorithms
