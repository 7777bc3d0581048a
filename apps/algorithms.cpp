// SPDX-License-Identifier: Apache-2.0
#include "algorithms.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "../algorithms/bfs.hpp"
#include "../algorithms/clustering.hpp"
#include "../algorithms/clustering_coefficients.hpp"
#include "../algorithms/colouring.hpp"
#include "../algorithms/components.hpp"
#include "../algorithms/core_numbers.hpp"
#include "../algorithms/independent_set.hpp"
#include "../algorithms/label_propagation.hpp"
#include "../algorithms/leiden.hpp"
#include "../algorithms/louvain.hpp"
#include "../algorithms/spanning_forest.hpp"
#include "../algorithms/sssp.hpp"
#include "../algorithms/strong_components.hpp"
#include "../algorithms/triangles.hpp"
#include "../algorithms/truss.hpp"
#include "algorithm_results.hpp"
#include "centralities.hpp"
#include "loaded_graph.hpp"
#include "maintained_algorithms.hpp"

namespace wyrm::apps {

namespace {

algorithm_result with_time(algorithm_result result, double ms) {
  result.ms = ms;
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
  double const ms = timed([&] { r = algorithms::bfs(in.g, sources); });
  return with_time(result_of_distances(std::move(r.distance), r.reached), ms);
}

algorithm_result run_sssp(algorithm_input const& in) {
  algorithms::sssp_result r;
  double ms = 0;
  if (in.source) ms = timed([&] { r = algorithms::sssp(in.g, *in.source, {.weighted = in.weighted}); });
  return with_time(result_of_distances(std::move(r.distance), r.reached), ms);
}

algorithm_result run_label_propagation(algorithm_input const& in) {
  std::vector<graph::vertex_id> label;
  double const ms = timed([&] { label = algorithms::label_propagation(in.g, {.weighted = in.weighted}); });
  return with_time(result_of_labels(std::move(label)), ms);
}

algorithm_result run_clustering_coefficients(algorithm_input const& in) {
  algorithms::clustering_coefficients_result r;
  algorithm_result result;
  result.ms = timed([&] { r = algorithms::clustering_coefficients(in.g); });
  result.figures = {{"average", r.average, "average {}"}, {"global", r.global, "global {}"}};
  result.values = one_column(std::move(r.local));
  return result;
}

template <algorithms::modularity_result (*Run)(graph::any_graph const&, algorithms::modularity_options const&)>
algorithm_result run_modularity(algorithm_input const& in) {
  algorithms::modularity_result r;
  algorithm_result result;
  algorithms::modularity_options options;
  options.weighted = in.weighted;
  result.ms = timed([&] { r = Run(in.g, options); });
  result.figures = {{"count", std::uint64_t{r.count}, "{}"},
                    {"modularity", r.modularity, "modularity {}"},
                    {"passes", std::uint64_t{r.passes}, "{} passes"},
                    {"converged", r.converged, " (not converged)"}};
  result.values = one_column(std::move(r.label));
  return result;
}

algorithm_result run_spanning_forest(algorithm_input const& in) {
  algorithms::spanning_forest_result r;
  algorithm_result result;
  result.ms = timed([&] { r = algorithms::spanning_forest(in.g); });
  result.figures = {{"weight", r.weight, "weight {}"}, {"trees", std::uint64_t{r.trees}, "{} trees"}};
  result.values = one_column(std::move(r.weights));
  result.values.edges = std::move(r.edges);
  return result;
}

algorithm_result run_independent_set(algorithm_input const& in) {
  algorithms::independent_set_result r;
  algorithm_result result;
  result.ms = timed([&] { r = algorithms::independent_set(in.g); });
  result.figures = {{"size", std::uint64_t{r.size}, "{} vertices"}};
  result.values = one_column(std::vector<std::uint32_t>(r.member.begin(), r.member.end()));
  return result;
}

algorithm_result run_colouring(algorithm_input const& in) {
  algorithms::colouring_result r;
  algorithm_result result;
  result.ms = timed([&] { r = algorithms::colouring(in.g); });
  result.figures = {{"colours", std::uint64_t{r.colours}, "{}"}};
  result.values = one_column(std::move(r.colour));
  return result;
}

template <algorithms::components_result (*Run)(graph::any_graph const&)>
algorithm_result run_components(algorithm_input const& in) {
  algorithms::components_result r;
  double const ms = timed([&] { r = Run(in.g); });
  return with_time(result_of_components(std::move(r)), ms);
}

algorithm_result run_core_numbers(algorithm_input const& in) {
  algorithms::core_numbers_result r;
  double const ms = timed([&] { r = algorithms::core_numbers(in.g); });
  return with_time(result_of_core_numbers(std::move(r), in.top), ms);
}

algorithm_result run_truss(algorithm_input const& in) {
  algorithms::trussness_result r;
  algorithm_result result;
  result.ms = timed([&] { r = algorithms::trussness(in.g); });
  result.figures = {{"largest", std::uint64_t{r.largest}, "greatest {}"}};
  std::vector<graph::edge> edges;
  std::vector<std::uint32_t> of_edges;
  for (graph::vertex_id u = 0; u + std::size_t{1} < in.rows.offsets.size(); ++u)
    for (auto i = in.rows.offsets[u]; i < in.rows.offsets[u + 1]; ++i)
      if (graph::vertex_id const v = in.rows.targets[i]; u < v) {
        edges.push_back({u, v});
        of_edges.push_back(r.trussness[i]);
      }
  result.values = one_column(std::move(of_edges));
  result.values.edges = std::move(edges);
  return result;
}

algorithm_result run_clustering(algorithm_input const& in) {
  algorithms::clustering_result r;
  double const ms = timed([&] { r = algorithms::clustering(in.g, {.weighted = in.weighted}); });
  return with_time(result_of_clustering(std::move(r)), ms);
}

constexpr algorithm known_algorithms[] = {
    {.name = "pagerank",
     .title = "PageRank",
     .what = "the ranks",
     .help = "PageRank",
     .weights = true,
     .run = run_pagerank,
     .maintain = maintain_pagerank},
    {.name = "triangles",
     .title = "triangles",
     .what = "the triangles",
     .help = "triangles and local clustering coefficients",
     .undirected = true,
     .run = run_triangles,
     .maintain = maintain_triangles},
    {.name = "bfs",
     .title = "BFS",
     .what = "the distances",
     .help = "distances from the source, in edges",
     .source = true,
     .run = run_bfs,
     .maintain = maintain_bfs},
    {.name = "betweenness",
     .title = "betweenness",
     .what = "the scores",
     .help = "betweenness of vertices, from all vertices or from some (see --sources)",
     .run = run_betweenness},
    {.name = "clustering",
     .title = "clusters",
     .what = "the clusters",
     .help = "clusters by random walks",
     .weights = true,
     .run = run_clustering,
     .maintain = maintain_clustering},
    {.name = "colouring",
     .title = "colours",
     .what = "the colours",
     .help = "a greedy colouring",
     .undirected = true,
     .run = run_colouring},
    {.name = "components",
     .title = "components",
     .what = "the components",
     .help = "weakly connected components",
     .run = run_components<algorithms::components>,
     .maintain = maintain_components},
    {.name = "core-numbers",
     .title = "core numbers",
     .what = "the core numbers",
     .help = "core numbers",
     .undirected = true,
     .run = run_core_numbers,
     .maintain = maintain_core_numbers},
    {.name = "eigenvector",
     .title = "eigenvector",
     .what = "the centralities",
     .help = "eigenvector centrality",
     .weights = true,
     .run = run_eigenvector},
    {.name = "hits",
     .title = "HITS",
     .what = "the hubs and authorities",
     .help = "hubs and authorities: two values for each vertex",
     .weights = true,
     .run = run_hits},
    {.name = "independent-set",
     .title = "independent set",
     .what = "the members",
     .help = "a maximal independent set: 1 for members, 0 for others",
     .undirected = true,
     .run = run_independent_set},
    {.name = "katz",
     .title = "Katz",
     .what = "the centralities",
     .help = "Katz centrality, with alpha = 0.9 / greatest out-degree (or sum of the weights of a vertex)",
     .weights = true,
     .run = run_katz},
    {.name = "label-propagation",
     .title = "label propagation",
     .what = "the labels",
     .help = "communities by 10 rounds of label propagation",
     .weights = true,
     .run = run_label_propagation,
     .maintain = maintain_label_propagation},
    {.name = "lcc",
     .title = "local clustering",
     .what = "the local clustering coefficients",
     .help = "local clustering coefficients, also of directed graphs",
     .run = run_clustering_coefficients},
    {.name = "leiden",
     .title = "Leiden",
     .what = "the communities",
     .help = "connected communities by Leiden",
     .weights = true,
     .run = run_modularity<algorithms::leiden>},
    {.name = "louvain",
     .title = "Louvain",
     .what = "the communities",
     .help = "communities by Louvain",
     .weights = true,
     .run = run_modularity<algorithms::louvain>},
    {.name = "personalised-pagerank",
     .title = "personalised PageRank",
     .what = "the ranks",
     .help = "PageRank with all jumps to the source",
     .weights = true,
     .source = true,
     .run = run_personalised_pagerank},
    {.name = "scc",
     .title = "strong components",
     .what = "the strong components",
     .help = "strongly connected components",
     .run = run_components<algorithms::strong_components>},
    {.name = "spanning-forest",
     .title = "spanning forest",
     .what = "the forest",
     .help = "a spanning forest of least weight; its edges are the values",
     .undirected = true,
     .weights = true,
     .run = run_spanning_forest},
    {.name = "sssp",
     .title = "shortest paths",
     .what = "the lengths of paths",
     .help = "lengths of shortest paths from the source",
     .weights = true,
     .source = true,
     .run = run_sssp,
     .maintain = maintain_sssp},
    {.name = "truss",
     .title = "trussness",
     .what = "the trussness of edges",
     .help = "trussness: the greatest k whose k-truss contains an edge; the values are of edges",
     .undirected = true,
     .run = run_truss},
};

}  // namespace

std::span<algorithm const> all_algorithms() { return known_algorithms; }

value_table triangle_values(algorithms::triangles_result r) {
  value_table values = one_column(std::move(r.per_vertex));
  values.columns.push_back({std::move(r.local_clustering)});
  values.head = "# id of the vertex, triangles, local clustering coefficient\n";
  return values;
}

}  // namespace wyrm::apps
