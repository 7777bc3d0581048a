// SPDX-License-Identifier: Apache-2.0
#include "algorithms.hpp"

#include <type_traits>
#include <utility>

#include "../algorithms/bfs.hpp"
#include "../algorithms/clustering.hpp"
#include "../algorithms/components.hpp"
#include "../algorithms/core_numbers.hpp"
#include "../algorithms/pagerank.hpp"
#include "../algorithms/triangles.hpp"
#include "loaded_graph.hpp"
#include "vertex_values.hpp"

namespace wyrm::apps {

namespace {

template <class T>
value_table one_column(std::vector<T> values, value_column::kind is = value_column::kind::number) {
  value_table table;
  table.columns.push_back({std::move(values), is});
  return table;
}

template <class T>
ranking rank_largest(char const* title, char const* name, std::vector<T> const& values, std::size_t k) {
  using number = std::conditional_t<std::is_same_v<T, double>, double, std::uint64_t>;
  ranking r{title, name, {}};
  for (auto const [v, value] : largest(values, k)) r.entries.push_back({v, number{value}});
  return r;
}

algorithm_result run_pagerank(algorithm_input const& in) {
  algorithms::pagerank_result r;
  algorithm_result result;
  result.ms = timed([&] { r = algorithms::pagerank(in.g, {.tolerance = in.tolerance, .weighted = in.weighted}); });
  rank_summary const s = summarize_ranks(r.rank, 0);
  result.figures = {{"max", s.max, "max {}"},
                    {"argmax", figure::vertex{static_cast<graph::vertex_id>(s.argmax)}, " at vertex {}"},
                    {"l2", s.l2, "L2 {}"},
                    {"sum", s.sum, ""},
                    {"iterations", std::uint64_t{r.iterations}, "{} iterations"},
                    {"converged", r.converged, " (not converged)"},
                    {"change", r.change, ""}};
  result.top = rank_largest("largest ranks", "rank", r.rank, in.top);
  result.values = rank_values(std::move(r.rank));
  return result;
}

// The time is that of the total only.
algorithm_result run_triangles(algorithm_input const& in) {
  algorithm_result result;
  algorithms::triangles_result r;
  result.ms = timed([&] { r = algorithms::triangles(in.g); });
  result.figures = {{"total", r.total, "{}"}};
  figure::any_value average;
  figure::any_value global;
  if (in.per_vertex) {
    r = algorithms::triangles(in.g, {.clustering = true});
    average = r.average_clustering;
    global = r.global_clustering;
  }
  result.details = "clustering";
  result.detail_figures = {{"average_clustering", average, "average {}"}, {"global_clustering", global, "global {}"}};
  result.top = rank_largest("most triangles", "triangles", r.per_vertex, in.top);
  result.values = triangle_values(std::move(r));
  return result;
}

algorithm_result run_bfs(algorithm_input const& in) {
  std::span<graph::vertex_id const> const sources =
      in.source ? std::span(&*in.source, 1) : std::span<graph::vertex_id const>();
  algorithms::bfs_result r;
  algorithm_result result;
  result.ms = timed([&] { r = algorithms::bfs(in.g, sources); });
  result.figures = {{"reached", std::uint64_t{r.reached}, "{} reached"},
                    {"depth", std::uint64_t{r.rounds == 0 ? 0 : r.rounds - 1}, "greatest distance {}"}};
  result.values = one_column(std::move(r.distance), value_column::kind::distance);
  return result;
}

algorithm_result run_components(algorithm_input const& in) {
  algorithms::components_result r;
  algorithm_result result;
  result.ms = timed([&] { r = algorithms::components(in.g); });
  result.figures = {{"count", std::uint64_t{r.count}, "{}"},
                    {"largest", std::uint64_t{r.largest}, "{} vertices in the largest"}};
  result.values = one_column(std::move(r.label), value_column::kind::vertex);
  return result;
}

algorithm_result run_core_numbers(algorithm_input const& in) {
  algorithms::core_numbers_result r;
  algorithm_result result;
  result.ms = timed([&] { r = algorithms::core_numbers(in.g); });
  result.figures = {{"degeneracy", std::uint64_t{r.degeneracy}, "greatest {}"}};
  result.top = rank_largest("greatest core numbers", "core", r.core, in.top);
  result.values = one_column(std::move(r.core));
  return result;
}

algorithm_result run_clustering(algorithm_input const& in) {
  algorithms::clustering_result r;
  algorithm_result result;
  result.ms = timed([&] { r = algorithms::clustering(in.g, {.weighted = in.weighted}); });
  result.figures = {{"count", std::uint64_t{r.count}, "{}"},
                    {"modularity", r.modularity, "modularity {}"},
                    {"iterations", std::uint64_t{r.iterations}, "{} rounds of voting"},
                    {"converged", r.converged, " (not converged)"}};
  result.values = one_column(std::move(r.label));
  return result;
}

constexpr algorithm known_algorithms[] = {
    {.name = "pagerank",
     .title = "PageRank",
     .what = "the ranks",
     .help = "PageRank",
     .weights = true,
     .run = run_pagerank},
    {.name = "triangles",
     .title = "triangles",
     .what = "the triangles",
     .help = "triangles and local clustering coefficients",
     .undirected = true,
     .run = run_triangles},
    {.name = "bfs",
     .title = "BFS",
     .what = "the distances",
     .help = "distances from the source, in edges",
     .source = true,
     .run = run_bfs},
    {.name = "clustering",
     .title = "clusters",
     .what = "the clusters",
     .help = "clusters by random walks",
     .weights = true,
     .run = run_clustering},
    {.name = "components",
     .title = "components",
     .what = "the components",
     .help = "weakly connected components",
     .run = run_components},
    {.name = "core-numbers",
     .title = "core numbers",
     .what = "the core numbers",
     .help = "core numbers",
     .undirected = true,
     .run = run_core_numbers},
};

}  // namespace

std::span<algorithm const> all_algorithms() { return known_algorithms; }

value_table rank_values(std::vector<double> rank) {
  value_table values = one_column(std::move(rank));
  values.head = "# id of the vertex, PageRank\n";
  return values;
}

value_table triangle_values(algorithms::triangles_result r) {
  value_table values = one_column(std::move(r.per_vertex));
  values.columns.push_back({std::move(r.local_clustering)});
  values.head = "# id of the vertex, triangles, local clustering coefficient\n";
  return values;
}

}  // namespace wyrm::apps
