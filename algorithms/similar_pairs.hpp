// SPDX-License-Identifier: Apache-2.0
// All pairs of vertices whose similarity (similarity.hpp) is at least a bound. Such a pair has a common neighbour, so
// it is the two ends of a path of two arcs over that neighbour. These paths are listed, as keys of their ends, and
// sorted; the number of equal keys is the number of common neighbours. Paths are listed in batches, each of all paths
// from some vertices, so that the keys of all of them need not fit into memory. All batches are made twice: the pairs
// are first counted, and then written.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <vector>

#include "../exec/bulk.hpp"
#include "../exec/error.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "../graph/any_graph.hpp"
#include "../graph/query/list_arcs.hpp"
#include "../graph/query/rows.hpp"
#include "../graph/types.hpp"
#include "../graph/view.hpp"
#include "detail/requirements.hpp"
#include "similarity.hpp"

namespace wyrm::algorithms {

struct similar_pairs_options {
  similarity_measure measure = similarity_measure::jaccard;
  double bound = 0.5;                                // the least similarity; positive
  std::uint64_t max_pairs = std::uint64_t{1} << 28;  // more are refused
  /// The number of paths that are listed at once; more if more begin at one vertex, at most the number of arcs.
  std::uint64_t batch = std::uint64_t{1} << 24;
};

struct similar_pairs_result {
  std::vector<graph::edge> pairs;  // the smaller id first; ascending
  std::vector<double> scores;      // of each pair
};

namespace detail {

/// For each arc u -> w, the in-neighbours of w after u: the other ends of paths from u over w.
struct paths_over_arcs {
  using row = graph::detail::listed_rows::row;
  graph::graph_view g;
  graph::edge const* arcs;
  [[nodiscard]] WYRM_HD bool is_valid(std::size_t) const { return true; }
  [[nodiscard]] WYRM_HD row at(std::size_t i) const {
    graph::neighbour_list const all = g.in_neighbours(arcs[i].target);
    std::uint32_t const skipped = graph::lower_bound(all.data, all.size, arcs[i].source + 1);
    return {{all.data + skipped, all.size - skipped}, arcs[i].source};
  }
};

struct gather_row_ends {
  std::uint64_t const* offsets_of_rows;
  std::uint64_t const* offsets_of_arcs;
  std::uint64_t* paths_before;  // of each vertex
  WYRM_HD void operator()(std::size_t v) const { paths_before[v] = offsets_of_arcs[offsets_of_rows[v]]; }
};

/// Writes the keys of the paths with numbers from first to last - 1.
struct write_path {
  std::uint64_t first;
  std::uint64_t last;
  std::uint64_t* keys;
  WYRM_HD void operator()(paths_over_arcs::row const& row, std::uint64_t number, graph::vertex_id end) const {
    if (number >= first && number < last) keys[number - first] = std::uint64_t{row.source} << 32 | end;
  }
};

/// Marks the first of equal keys, if the similarity of the pair is large enough; or writes the pair.
struct judge_paths {
  graph::graph_view g;
  std::uint64_t const* keys;  // ascending
  std::size_t count;
  similarity_measure measure;
  double bound;
  std::uint32_t* marks;
  std::uint64_t const* before;  // prefix sums of marks; nullptr: mark
  graph::edge* pairs;
  double* scores;

  WYRM_HD void operator()(std::size_t i) const {
    if (before != nullptr && marks[i] == 0) return;
    double score = 0;
    auto const u = static_cast<graph::vertex_id>(keys[i] >> 32);
    auto const v = static_cast<graph::vertex_id>(keys[i]);
    if (i == 0 || keys[i - 1] != keys[i]) {
      std::uint32_t const most = g.degree(u);
      std::size_t const left = count - i;
      std::uint32_t const common =
          graph::lower_bound(keys + i, left < most ? static_cast<std::uint32_t>(left) : most, keys[i] + 1);
      score = similarity_of(measure, most, g.degree(v), common);
    }
    if (before == nullptr) {
      marks[i] = score >= bound ? 1 : 0;
      return;
    }
    pairs[before[i]] = {u, v};
    scores[before[i]] = score;
  }
};

}  // namespace detail

/// Finds the similar pairs of different graphs, or of one changing graph, and keeps the results in device memory, and
/// its scratch memory. Not thread-safe.
template <class Space>
class similar_pairs_finder {
 public:
  explicit similar_pairs_finder(Space const& space)
      : space_(space),
        bulk_(space),
        rows_(space),
        lengths_(space),
        offsets_(space),
        arcs_(space),
        ends_(space),
        keys_(space),
        spare_(space),
        marks_(space),
        before_(space),
        pairs_(space),
        scores_(space) {}

  /// Finds all pairs of different vertices whose similarity is at least the bound; returns their number. Of a directed
  /// graph, the out-neighbours count; the graph needs in-neighbours, too. Sorts the paths of two arcs, whose number P
  /// is at most the sum of the squares of all degrees: O(vertices + arcs + P), twice. Memory: 20 bytes per arc, 24 per
  /// vertex, 28 per path of a batch, 16 per pair. The host waits twice per batch. Throws error(bad_argument) for a
  /// bound that is not positive, a batch of 0, a directed graph without in-neighbours, and for more pairs than
  /// max_pairs, with their number; error(out_of_memory). There are no pairs after an exception.
  std::uint64_t run(graph::graph_view const& g, similar_pairs_options const& o = {}) {
    count_ = 0;
    check(g, o);
    if (g.arcs() == 0) return 0;
    std::vector<std::uint64_t> const before = number_paths(g);
    std::uint64_t found = 0;
    for_each_batch(g, o, before, [&](detail::judge_paths const&, std::uint64_t n) { found += n; });
    if (found > o.max_pairs) refuse(found, o);
    pairs_.reserve(found);
    scores_.reserve(found);
    std::uint64_t written = 0;
    if (found > 0)
      for_each_batch(g, o, before, [&](detail::judge_paths judge, std::uint64_t n) {
        judge.before = before_.data();
        judge.pairs = pairs_.data() + written;
        judge.scores = scores_.data() + written;
        exec::for_each(space_, judge.count, judge);
        written += n;
      });
    count_ = found;
    return found;
  }
  /// The pairs of the last run, and their similarities, in device memory: the smaller id first, ascending.
  [[nodiscard]] std::uint64_t size() const { return count_; }
  [[nodiscard]] graph::edge const* pairs() const { return pairs_.data(); }
  [[nodiscard]] double const* scores() const { return scores_.data(); }

 private:
  static void check(graph::graph_view const& g, similar_pairs_options const& o) {
    if (!(o.bound > 0) || o.batch == 0) {
      std::ostringstream what;
      what << "similar_pairs: the bound is " << o.bound << " and the batch " << o.batch
           << "; both must be greater than 0, as all pairs have a similarity of at least 0";
      throw error(error_code::bad_argument, what.str());
    }
    detail::require_in_neighbours(g, "similar_pairs");
  }
  [[noreturn]] static void refuse(std::uint64_t found, similar_pairs_options const& o) {
    std::ostringstream what;
    what << "similar_pairs: " << found << " pairs have a similarity of at least " << o.bound << ", but max_pairs is "
         << o.max_pairs << "; raise one of the two";
    throw error(error_code::bad_argument, what.str());
  }
  /// Lists the arcs, and numbers the paths. Returns the number of paths from the vertices before each vertex.
  [[nodiscard]] std::vector<std::uint64_t> number_paths(graph::graph_view const& g) {
    std::size_t const n = g.vertices();
    arcs_.reserve(g.arcs());
    ends_.reserve(n + 1);
    auto const all = graph::detail::number_all_entries(rows_, graph::detail::all_rows{g});
    graph::detail::for_each_entry(space_, all, graph::detail::write_arc<graph::no_value>{0, arcs_.data(), nullptr});
    lengths_.reserve(g.arcs());
    offsets_.reserve(g.arcs() + 1);
    detail::paths_over_arcs const paths{g, arcs_.data()};
    exec::for_each(space_, g.arcs(),
                   graph::detail::measure_rows<detail::paths_over_arcs>{paths, lengths_.data(), nullptr});
    bulk_.inclusive_sum(lengths_.data(), offsets_.data(), g.arcs());
    exec::for_each(space_, n + 1, detail::gather_row_ends{rows_.offsets.data(), offsets_.data(), ends_.data()});
    return exec::copy_out(space_, ends_.data(), n + 1);
  }
  /// Calls f(judge, number of pairs) for each batch, whose pairs are marked.
  template <class F>
  void for_each_batch(graph::graph_view const& g, similar_pairs_options const& o,
                      std::vector<std::uint64_t> const& before, F const& f) {
    graph::detail::numbered_rows<detail::paths_over_arcs> const all{
        {g, arcs_.data()}, offsets_.data(), g.arcs(), before.back()};
    auto const bits = 32 + static_cast<unsigned>(std::bit_width(g.vertices()));
    std::uint64_t const batch = std::min(o.batch, before.back());
    for (std::uint64_t first = 0; first < before.back();) {
      // The paths of as many vertices as the batch has room for, but of at least one vertex with paths.
      std::uint64_t const next = *std::upper_bound(before.begin(), before.end(), first);
      std::uint64_t const last = std::max(next, *(std::upper_bound(before.begin(), before.end(), first + batch) - 1));
      std::size_t const n = last - first;
      keys_.reserve(n);
      spare_.reserve(n);
      marks_.reserve(n);
      before_.reserve(n + 1);
      std::uint64_t const first_part = first / all.part_size;
      using visit = graph::detail::visit_parts<detail::paths_over_arcs, detail::write_path>;
      exec::for_each_tile<32>(space_, (last - 1) / all.part_size - first_part + 1,
                              visit{{all, {first, last, keys_.data()}}, first_part});
      std::uint64_t const* const sorted = bulk_.sort(keys_.data(), spare_.data(), n, bits);
      detail::judge_paths const judge{g, sorted, n, o.measure, o.bound, marks_.data(), nullptr, nullptr, nullptr};
      exec::for_each(space_, n, judge);
      bulk_.inclusive_sum(marks_.data(), before_.data(), n);
      f(judge, exec::read(space_, before_.data() + n));
      first = last;
    }
  }

  Space space_;
  typename Space::bulk bulk_;
  graph::query_scratch<Space> rows_;
  exec::large_buffer<std::uint32_t, Space> lengths_;  // for each arc: its number of paths
  exec::large_buffer<std::uint64_t, Space> offsets_;
  exec::large_buffer<graph::edge, Space> arcs_;
  exec::buffer<std::uint64_t, Space> ends_;
  exec::large_buffer<std::uint64_t, Space> keys_;
  exec::large_buffer<std::uint64_t, Space> spare_;
  exec::large_buffer<std::uint32_t, Space> marks_;
  exec::large_buffer<std::uint64_t, Space> before_;
  exec::large_buffer<graph::edge, Space> pairs_;
  exec::large_buffer<double, Space> scores_;
  std::uint64_t count_ = 0;
};

/// All pairs whose similarity is at least the bound, in host memory. Cost and errors: see similar_pairs_finder::run().
template <class Space>
similar_pairs_result similar_pairs(Space const& space, graph::graph_view const& g,
                                   similar_pairs_options const& o = {}) {
  similar_pairs_finder<Space> finder(space);
  std::uint64_t const n = finder.run(g, o);
  if (n == 0) return {};
  return {exec::copy_out(space, finder.pairs(), n), exec::copy_out(space, finder.scores(), n)};
}

similar_pairs_result similar_pairs(graph::any_graph const& g, similar_pairs_options const& o = {});

}  // namespace wyrm::algorithms
