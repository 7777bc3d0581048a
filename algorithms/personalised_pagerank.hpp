// SPDX-License-Identifier: Apache-2.0
// Personalised PageRank (Page, Brin, Motwani, Winograd 1999; Haveliwala, WWW 2002): the ranks if all jumps go to given
// sources, and so do those of dangling vertices. For one set of sources with weights, pagerank() with other options
// computes it. For many sources with ranks of their own, a pass over the arcs serves a block of up to 32 of them.
//
// Ranks of a source s are the series of (1 - d) d^k P^k e_s, scaled to the sum 1, where P moves ranks along arcs, and
// loses those of dangling vertices; scaling is the same as returning what is lost to s. The sums of terms never grow,
// so what terms after the k-th would change is at most 2 d^(k + 1) in the L1 norm. The number of iterations follows
// from that: the host never waits, and no sum over vertices is needed but the last. The ranks of a source do not depend
// on the other sources of its block.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../exec/error.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "../graph/any_graph.hpp"
#include "../graph/view.hpp"
#include "detail/arc_weights.hpp"
#include "detail/rank_columns.hpp"
#include "detail/row_bins.hpp"
#include "pagerank.hpp"

namespace wyrm::algorithms {

struct personalised_options {
  double damping = 0.85;          // in [0, 1)
  double tolerance = 1e-9;        // bound of the error of the ranks of a source in the L1 norm, besides rounding; > 0
  unsigned max_iterations = 500;  // the error is greater if these are too few
  bool weighted = false;          // as pagerank_options::weighted
  std::size_t top = 10;           // how many vertices are returned for each source
  precision ranks = precision::fp64;  // the type of the matrix; sums always have 64 bits
};

struct ranked_vertex {
  graph::vertex_id vertex = 0;
  double rank = 0;
  friend bool operator==(ranked_vertex const&, ranked_vertex const&) = default;
};
struct personalised_run {
  unsigned iterations = 0;
  double error = 0;  // bound of the error in the L1 norm, besides rounding
};
struct personalised_result : personalised_run {
  /// For each source, the vertices of the greatest ranks, which are positive, in descending order; of equal ranks those
  /// of smaller ids come first.
  std::vector<std::vector<ranked_vertex>> top;
};

/// The ranks for one set of sources, as pagerank() with `teleport` and `dangling_teleports`, which are set here. A
/// source that is listed several times has the sum of the weights. Cost and errors: as pagerank(); also
/// error(bad_argument) for a source that is no vertex.
template <class Space>
pagerank_result personalised_pagerank(Space const& space, graph::graph_view const& g,
                                      std::span<weighted_source const> sources, pagerank_options o = {}) {
  o.teleport.assign(g.vertices(), 0.0);
  o.dangling_teleports = true;
  for (weighted_source const& s : sources) {
    if (s.vertex >= g.vertices() || !(s.weight >= 0))
      throw error(error_code::bad_argument, "personalised_pagerank: the source " + std::to_string(s.vertex) +
                                                " with the weight " + std::to_string(s.weight) +
                                                " must be a vertex of the graph, which has " +
                                                std::to_string(g.vertices()) + ", and the weight not negative");
    o.teleport[s.vertex] += s.weight;
  }
  return pagerank(space, g, o);
}

/// Computes ranks for many sources; ranks and scratch stay on the device. For each vertex 2 * width() values of type
/// Real and about 20 bytes, for top() 24 more and the scratch of a sort; for each 512 arcs into hubs width() doubles;
/// with weights additionally 4 bytes per arc and 30 per vertex. Not thread-safe.
template <class Space, class Real = double>
class personalised_ranker {
 public:
  static constexpr unsigned most_sources = 32;  // of one run

  explicit personalised_ranker(Space const& space)
      : space_(space),
        bulk_(space),
        bins_(space),
        weights_(space),
        matrix_(space),
        sums_(space),
        sources_(space, most_sources),
        keys_(space),
        vertices_(space) {}

  /// Prepares runs on a graph, which must not change before the last of them. O(vertices), with weights O(vertices +
  /// arcs). Errors: as personalised_pageranks().
  void prepare(graph::graph_view const& g, personalised_options const& o) {
    detail::check<Space>({.damping = o.damping, .tolerance = o.tolerance, .weighted = o.weighted}, g);
    width_ = 0;
    constexpr detail::bin_limits limits = detail::rank_columns<Real, detail::even_split, most_sources>::limits;
    if (o.weighted)
      split_ = weights_.prepare(g, bins_, limits, in_);
    else
      in_ = bins_.make(g.in_records(), g.vertices(), g.arcs(), limits);
    options_ = o;
  }

  /// Computes the ranks of up to most_sources sources, in the graph of prepare(): O((vertices + arcs) width()
  /// iterations). Throws error(bad_argument) for more sources, and for one that is not in the graph.
  personalised_run run(graph::graph_view const& g, std::span<graph::vertex_id const> sources) {
    if (sources.size() > most_sources)
      throw error(error_code::bad_argument, "personalised_ranker: " + std::to_string(sources.size()) +
                                                " sources; one run takes at most " + std::to_string(most_sources));
    check_sources(g, sources);
    if (sources.size() <= narrow)
      return options_.weighted ? iterate<narrow>(g, split_, sources)
                               : iterate<narrow>(g, detail::even_split{}, sources);
    return options_.weighted ? iterate<most_sources>(g, split_, sources)
                             : iterate<most_sources>(g, detail::even_split{}, sources);
  }

  /// The ranks of the last run, in device memory: [vertices][width()], a column per source; 0 for absent vertices.
  [[nodiscard]] Real* ranks() const { return ranks_; }
  /// 8 if the last run had up to 8 sources, else 32; further columns are 0.
  [[nodiscard]] unsigned width() const { return width_; }

  /// The first `count` vertices for a source of the last run, as in personalised_result. The ranks of a source are
  /// sorted on the device: O(vertices). Scratch: 24 bytes per vertex, and that of the sort.
  [[nodiscard]] std::vector<ranked_vertex> top(std::size_t source, std::size_t count) {
    std::size_t const n = vertices_of_run_;
    count = std::min(count, n);
    keys_.reserve(2 * n);
    vertices_.reserve(2 * n);
    exec::for_each(space_, n, detail::make_rank_keys<Real>{ranks_ + source, width_, keys_.data(), vertices_.data()});
    auto const sorted = bulk_.sort_pairs(keys_.data(), keys_.data() + n, vertices_.data(), vertices_.data() + n, n, 64);
    auto const keys = exec::copy_out(space_, sorted.keys, count);
    auto const vertices = exec::copy_out(space_, sorted.values, count);
    std::vector<ranked_vertex> first;
    for (std::size_t i = 0; i < count && ~keys[i] != 0; ++i)
      first.push_back({vertices[i], std::bit_cast<double>(~keys[i])});
    return first;
  }

  /// Throws error(bad_argument) for a source that is not in the graph.
  void check_sources(graph::graph_view const& g, std::span<graph::vertex_id const> sources) const {
    auto const refuse = [](graph::vertex_id v, std::string const& why) {
      throw error(error_code::bad_argument, "personalised_pageranks: the source " + std::to_string(v) + " " + why);
    };
    for (graph::vertex_id const v : sources)
      if (v >= g.vertices()) refuse(v, "is no vertex of the graph, which has " + std::to_string(g.vertices()));
    if (sources.empty() || g.present_vertices() == g.vertices()) return;
    auto const records = exec::copy_out(space_, g.out_records(), g.vertices());
    for (graph::vertex_id const v : sources)
      if (records[v].is_absent()) refuse(v, "was removed");
  }

 private:
  static constexpr unsigned narrow = 8;
  static constexpr std::size_t most_tiles = 1024;  // that add up the ranks of all sources

  template <unsigned Width, class Split>
  personalised_run iterate(graph::graph_view const& g, Split const& split, std::span<graph::vertex_id const> sources) {
    std::size_t const n = g.vertices();
    std::size_t const size = n * Width;
    width_ = 0;
    matrix_.reserve(2 * size);
    sums_.reserve(std::size_t{in_.parts + most_tiles + 1} * Width);
    std::array<graph::vertex_id, Width> columns;
    columns.fill(~graph::vertex_id{0});
    std::copy(sources.begin(), sources.end(), columns.begin());
    exec::copy_in<graph::vertex_id>(space_, sources_.data(), columns);
    double* const parts = sums_.data() + (most_tiles + 1) * Width;
    Real* const halves[] = {matrix_.data(), matrix_.data() + size};
    detail::rank_columns<Real, Split, Width> x{g,         in_,       split, sources_.data(),
                                               halves[1], halves[0], parts, options_.damping};
    space_.fill(halves[0], 0, size * sizeof(Real));
    exec::for_each(space_, Width, detail::start_columns<Real, Split, Width>{x});
    unsigned const iterations = iterations_of(options_);
    auto const turn = [&](unsigned i) {
      x.from = halves[i % 2];
      x.to = halves[1 - i % 2];
    };
    for (unsigned i = 0; i < iterations; ++i) {
      turn(i);
      exec::for_each_tile<Width>(space_, x.items(), detail::pull_columns<Real, Split, Width>{x});
      exec::for_each_tile<Width>(space_, in_.hub_rows, detail::finish_hub_columns<Real, Split, Width>{x});
    }
    turn(iterations);
    exec::for_each(space_, size, detail::find_ranks_of_columns<Real, Split, Width>{x});
    std::size_t const tiles = std::min(most_tiles, (n + 31) / 32);
    double* const sums = sums_.data() + most_tiles * Width;
    exec::for_each_tile<Width>(space_, tiles, detail::add_up_columns<Real, Width>{x.to, n, tiles, sums_.data()});
    exec::for_each_tile<Width>(space_, 1, detail::add_up_columns<double, Width>{sums_.data(), tiles, 1, sums});
    exec::for_each(space_, size, detail::scale_columns<Real, Width>{x.to, sums});
    ranks_ = x.to;
    vertices_of_run_ = n;
    width_ = Width;
    return {iterations, 2 * std::pow(options_.damping, iterations + 1.0)};
  }
  /// The least number with which the bound of the error is at most the tolerance.
  [[nodiscard]] static unsigned iterations_of(personalised_options const& o) {
    unsigned iterations = 0;
    for (double bound = 2 * o.damping; bound > o.tolerance && iterations < o.max_iterations; bound *= o.damping)
      ++iterations;
    return iterations;
  }

  Space space_;
  typename Space::bulk bulk_;
  detail::row_bins<Space> bins_;
  detail::row_bins_view in_{};
  detail::arc_weights<Space> weights_;
  detail::weighted_split split_{};
  personalised_options options_{};
  exec::buffer<Real, Space> matrix_;  // two matrices
  exec::buffer<double, Space> sums_;  // of tiles, of columns, of parts of hubs
  exec::buffer<graph::vertex_id, Space> sources_;
  exec::buffer<std::uint64_t, Space> keys_;
  exec::buffer<graph::vertex_id, Space> vertices_;
  Real* ranks_ = nullptr;
  std::size_t vertices_of_run_ = 0;
  unsigned width_ = 0;
};

/// The vertices of the greatest ranks for each source, each by itself, in blocks of 32 sources: O((vertices + arcs)
/// sources iterations); the host waits once per source. Memory: as personalised_ranker, of one block. Throws
/// error(bad_argument) for options out of range, a source that is not in the graph, a directed graph without
/// in-neighbours, or, if `weighted`, a graph whose values are no numbers or a value that is negative or not finite.
template <class Space>
personalised_result personalised_pageranks(Space const& space, graph::graph_view const& g,
                                           std::span<graph::vertex_id const> sources,
                                           personalised_options const& o = {}) {
  auto const ranked = [&]<class Ranker>(Ranker&& ranker) {
    personalised_result result;
    ranker.check_sources(g, sources);
    ranker.prepare(g, o);
    for (std::size_t begin = 0; begin < sources.size(); begin += Ranker::most_sources) {
      auto const block = sources.subspan(begin, std::min<std::size_t>(Ranker::most_sources, sources.size() - begin));
      static_cast<personalised_run&>(result) = ranker.run(g, block);
      for (std::size_t i = 0; i < block.size(); ++i) result.top.push_back(ranker.top(i, o.top));
    }
    return result;
  };
  return o.ranks == precision::fp32 ? ranked(personalised_ranker<Space, float>(space))
                                    : ranked(personalised_ranker<Space, double>(space));
}

pagerank_result personalised_pagerank(graph::any_graph const& g, std::span<weighted_source const> sources,
                                      pagerank_options const& o = {});
personalised_result personalised_pageranks(graph::any_graph const& g, std::span<graph::vertex_id const> sources,
                                           personalised_options const& o = {});

}  // namespace wyrm::algorithms
