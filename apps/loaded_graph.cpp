// SPDX-License-Identifier: Apache-2.0
#include "loaded_graph.hpp"

#include <algorithm>
#include <utility>

#include "../exec/device.hpp"
#include "../loaders/quoted.hpp"
#include "generate.hpp"
#include "insertion.hpp"

namespace wyrm::apps {

bool graph_options::names(std::string_view name) const {
  return algorithms && std::find(algorithms->begin(), algorithms->end(), name) != algorithms->end();
}

bool graph_options::asks_for(std::string_view name) const {
  if (!algorithms) return name == "pagerank" || name == "triangles";
  return names("all") || names(name);
}

std::vector<algorithm const*> graph_options::selected() const {
  std::vector<algorithm const*> found;
  for (algorithm const& a : all_algorithms())
    if (asks_for(a.name)) found.push_back(&a);
  return found;
}

loaded_graph load_graph(graph_options const& o) {
  graph_summary s;
  auto bound = o.bound();
  exec::any_space const space = o.space(bound.get());
  s.device = exec::describe(space);
  s.generated_on = generating_device(o.file, o.generating_space(space));
  graph::edge_list list;
  s.load_ms = timed([&] { list = load_file(o.file, o.generating_space(space)); });
  for (algorithm const* const a : o.selected())
    if (list.directed && a->undirected && o.names(a->name))
      throw error(error_code::bad_argument,
                  "the algorithm " + std::string(a->name) +
                      " is for undirected graphs, and this one is directed; add --undirected");

  if (o.weighted && o.weights_may_lack && list.weights.empty()) list.weights.assign(list.edges.size(), 1);
  if (o.no_edges) {
    list.edges.clear();
    list.weights.clear();
  }
  s.ids = vertex_ids(list, o.file.ids);
  if (o.weighted && !list.edges.empty()) prepare_weights(o.file, list, s.ids);
  graph::options settings = o.settings(list.directed, o.weighted);
  settings.combine = o.combine;
  graph::any_graph g(space, o.allocator, list.vertices, settings);
  auto const weights_of_edges = o.weighted ? graph::host_numbers(list.weights) : graph::host_numbers();
  s.build_ms = timed([&] { s.build = insert_all(g, list.edges, weights_of_edges, bound.get()); });
  if (o.check) g.check();
  s.directed = list.directed;
  s.vertices = g.vertices();
  s.edges = g.edges();
  s.arcs = g.arcs();
  s.memory = g.memory();
  graph::csr rows = g.to_csr();
  s.degrees = summarize_degrees(rows);
  std::vector<double> weights;
  if (o.weighted) weights = g.values<double>();
  return {std::move(bound), std::move(g), std::move(rows), std::move(s), std::move(weights)};
}

std::optional<graph::vertex_id> find_source(graph_options const& o, graph::csr const& rows, vertex_ids const& ids) {
  auto const selected = o.selected();
  bool const used = std::any_of(selected.begin(), selected.end(), [](algorithm const* a) { return a->source; });
  if (!o.source.empty()) {
    if (!used)
      throw error(error_code::bad_argument, "--source: no selected algorithm begins at a vertex; leave it out");
    auto const given = ids.find(o.source);
    if (!given)
      throw error(error_code::bad_argument,
                  "--source: expected a vertex (" + ids.range() + "), found " + loaders::quoted(o.source));
    return given;
  }
  std::size_t const n = rows.offsets.size() - 1;
  if (!used || n == 0) return std::nullopt;
  graph::vertex_id best = ids.by_rank(0);
  auto const degree = [&](std::size_t v) { return rows.offsets[v + 1] - rows.offsets[v]; };
  for (std::size_t i = 1; i < n; ++i)
    if (graph::vertex_id const v = ids.by_rank(i); degree(v) > degree(best)) best = v;
  return best;
}

}  // namespace wyrm::apps
