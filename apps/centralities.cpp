// SPDX-License-Identifier: Apache-2.0
#include "centralities.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "../algorithms/betweenness.hpp"
#include "../algorithms/pagerank.hpp"
#include "../algorithms/personalised_pagerank.hpp"
#include "../algorithms/power_iterations.hpp"
#include "algorithm_results.hpp"
#include "loaded_graph.hpp"
#include "vertex_values.hpp"

namespace wyrm::apps {

namespace {

constexpr char const* rank_head = "# id of the vertex, PageRank\n";

// Adds the figures that all power iterations have.
template <class Run>
void add_iterations(algorithm_result& result, Run const& run) {
  result.figures.push_back({"iterations", std::uint64_t{run.iterations}, "{} iterations"});
  result.figures.push_back({"converged", run.converged, " (not converged)"});
  result.figures.push_back({"change", run.change, ""});
}

algorithm_result result_of_ranks(algorithms::pagerank_result r, double ms, char const* title, std::size_t top) {
  algorithm_result result;
  result.ms = ms;
  rank_summary const s = summarize_ranks(r.rank, 0);
  if (s.argmax)
    result.figures = {{"max", s.max, "max {}"}, {"argmax", figure::vertex{*s.argmax}, " at vertex {}"}};
  else
    result.figures = {{"max", s.max, ""}, {"argmax", {}, "no vertices"}, {"argmax_id", {}, ""}};
  result.figures.push_back({"l2", s.l2, s.argmax ? "L2 {}" : ""});
  result.figures.push_back({"sum", s.sum, ""});
  add_iterations(result, r);
  result.top = rank_largest(title, "rank", r.rank, top);
  result.values = one_column(std::move(r.rank));
  return result;
}

algorithms::power_options power_options_of(algorithm_input const& in) {
  algorithms::power_options o;
  o.tolerance = in.tolerance;
  o.weighted = in.weighted;
  return o;
}

algorithm_result result_of_centrality(algorithms::centrality_result r, double ms, char const* title, std::size_t top) {
  algorithm_result result;
  result.ms = ms;
  for (auto const [v, value] : largest(r.value, 1))
    result.figures = {{"max", value, "max {}"}, {"argmax", figure::vertex{v}, " at vertex {}"}};
  add_iterations(result, r);
  result.top = rank_largest(title, "value", r.value, top);
  result.values = one_column(std::move(r.value));
  return result;
}

// 0.9 over the greatest out-degree, or sum of the weights of a row, which is a bound of the greatest eigenvalue: the
// terms of the series shrink by 0.9 at least.
double katz_alpha(algorithm_input const& in) {
  double most = 0;
  for (std::size_t v = 0; v + 1 < in.rows.offsets.size(); ++v) {
    auto const begin = in.rows.offsets[v];
    auto const end = in.rows.offsets[v + 1];
    auto const arc = [&](auto i) { return in.weights.begin() + static_cast<std::ptrdiff_t>(i); };
    most = std::max(most, in.weighted ? std::accumulate(arc(begin), arc(end), 0.0) : static_cast<double>(end - begin));
  }
  return most > 0 ? std::min(0.9 / most, std::numeric_limits<double>::max()) : 0;
}

// k different vertices of n, in the order in which they are drawn.
std::vector<graph::vertex_id> draw_vertices(std::size_t n, std::size_t k, std::uint64_t seed) {
  std::vector<graph::vertex_id> all(n);
  std::iota(all.begin(), all.end(), graph::vertex_id{0});
  std::mt19937_64 random(seed);
  for (std::size_t i = 0; i < k; ++i) std::swap(all[i], all[i + random() % (n - i)]);
  all.resize(k);
  return all;
}

}  // namespace

algorithm_result run_pagerank(algorithm_input const& in) {
  algorithms::pagerank_result r;
  double const ms =
      timed([&] { r = algorithms::pagerank(in.g, {.tolerance = in.tolerance, .weighted = in.weighted}); });
  algorithm_result result = result_of_ranks(std::move(r), ms, "largest ranks", in.top);
  result.values.head = rank_head;
  return result;
}

algorithm_result run_personalised_pagerank(algorithm_input const& in) {
  algorithms::pagerank_result r;
  double ms = 0;
  if (in.source) {
    algorithms::weighted_source const source{*in.source, 1};
    ms = timed([&] {
      r = algorithms::personalised_pagerank(in.g, std::span(&source, 1),
                                            {.tolerance = in.tolerance, .weighted = in.weighted});
    });
  } else {
    r.converged = true;  // there are no ranks
  }
  return result_of_ranks(std::move(r), ms, "largest personalised", in.top);
}

algorithm_result run_hits(algorithm_input const& in) {
  algorithms::hits_result r;
  algorithm_result result;
  result.ms = timed([&] { r = algorithms::hits(in.g, power_options_of(in)); });
  for (auto const& [name, values, shown] :
       {std::tuple{"hub", &r.hubs, "largest hub {}"}, {"authority", &r.authorities, "largest authority {}"}})
    for (auto const [v, value] : largest(*values, 1)) result.figures.push_back({name, figure::vertex{v}, shown});
  add_iterations(result, r);
  result.top = rank_largest("largest authorities", "authority", r.authorities, in.top);
  result.values = one_column(std::move(r.hubs));
  result.values.columns.push_back({std::move(r.authorities)});
  result.values.head = "# id of the vertex, hub, authority\n";
  return result;
}

algorithm_result run_eigenvector(algorithm_input const& in) {
  algorithms::centrality_result r;
  double const ms = timed([&] { r = algorithms::eigenvector_centrality(in.g, power_options_of(in)); });
  return result_of_centrality(std::move(r), ms, "largest eigenvector", in.top);
}

algorithm_result run_katz(algorithm_input const& in) {
  algorithms::katz_options o;
  static_cast<algorithms::power_options&>(o) = power_options_of(in);
  o.alpha = katz_alpha(in);
  algorithms::centrality_result r;
  double const ms = timed([&] { r = algorithms::katz(in.g, o); });
  algorithm_result result = result_of_centrality(std::move(r), ms, "largest Katz values", in.top);
  result.figures.push_back({"alpha", o.alpha, "alpha {}"});
  return result;
}

algorithm_result run_betweenness(algorithm_input const& in) {
  std::size_t const n = in.g.vertices();
  std::size_t const k = std::min(n, in.sources.value_or(n > exact_betweenness_vertices ? betweenness_sample : n));
  algorithms::betweenness_result r;
  algorithm_result result;
  if (k == n) {
    result.ms = timed([&] { r = algorithms::betweenness(in.g); });
  } else {
    auto const sources = draw_vertices(n, k, in.seed);
    result.ms = timed([&] { r = algorithms::betweenness(in.g, sources, {.extrapolate = true}); });
  }
  double greatest = 0;
  for (double const score : r.score) greatest = std::max(greatest, score);
  result.figures = {{"max", greatest, "max {}"},
                    {"sources", std::uint64_t{k}, k == n ? "from all {} vertices" : "from {} sources"}};
  result.top = rank_largest("most between others", "score", r.score, in.top);
  result.values = one_column(std::move(r.score));
  return result;
}

value_table rank_values(std::vector<double> rank) {
  value_table values = one_column(std::move(rank));
  values.head = rank_head;
  return values;
}

}  // namespace wyrm::apps
