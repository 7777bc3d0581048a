// SPDX-License-Identifier: Apache-2.0
#include "vertex_values.hpp"

#include <cmath>
#include <filesystem>
#include <system_error>

#include "../exec/error.hpp"

namespace wyrm::apps {

rank_summary summarize_ranks(std::vector<double> const& rank, std::size_t top) {
  rank_summary s;
  auto const max = std::max_element(rank.begin(), rank.end());
  if (max != rank.end()) {
    s.max = *max;
    s.argmax = static_cast<std::size_t>(max - rank.begin());
  }
  s.l2 = std::sqrt(std::inner_product(rank.begin(), rank.end(), rank.begin(), 0.0));
  s.sum = std::accumulate(rank.begin(), rank.end(), 0.0);
  s.top = largest(rank, top);
  return s;
}

triangles_summary::by_vertex summarize_triangles(algorithms::triangles_result const& r, std::size_t top) {
  return {r.average_clustering, r.global_clustering, largest(r.per_vertex, top)};
}

std::string value_files::path_of(graph_options const& o, char const* algorithm) {
  if (o.output.empty() || !o.asks_for(algorithm)) return {};
  std::error_code failed;
  if (!std::filesystem::is_directory(o.output, failed))
    throw error(error_code::io,
                "cannot write to the folder " + o.output + ": there is no such folder; create it first");
  return (std::filesystem::path(o.output) / (std::string(algorithm) + ".txt")).string();
}

value_files::value_files(graph_options const& o)
    : ranks_("the ranks", path_of(o, "pagerank")), triangles_("the triangles", path_of(o, "triangles")) {}

void value_files::write(vertex_values const& values, vertex_ids const& ids) {
  if (values.rank) {
    ranks_.write("# id of the vertex, PageRank\n");
    for (graph::vertex_id v = 0; v < values.rank->size(); ++v) {
      ranks_.write(ids.text(v));
      ranks_.write(" ");
      ranks_.write((*values.rank)[v]);
      ranks_.write("\n");
    }
    ranks_.finish();
  }
  if (values.triangles) {
    triangles_.write("# id of the vertex, triangles, local clustering coefficient\n");
    for (graph::vertex_id v = 0; v < values.triangles->per_vertex.size(); ++v) {
      triangles_.write(ids.text(v));
      triangles_.write(" ");
      triangles_.write(values.triangles->per_vertex[v]);
      triangles_.write(" ");
      triangles_.write(values.triangles->local_clustering[v]);
      triangles_.write("\n");
    }
    triangles_.finish();
  }
}

void value_files::commit() {
  ranks_.commit();
  triangles_.commit();
}

}  // namespace wyrm::apps
