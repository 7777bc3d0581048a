// SPDX-License-Identifier: Apache-2.0
#include "cluster.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "../algorithms/clustering_quality.hpp"
#include "../alloc/registry.hpp"
#include "../exec/device.hpp"
#include "../graph/any_graph.hpp"
#include "../loaders/quoted.hpp"
#include "generate.hpp"
#include "insertion.hpp"
#include "line_input.hpp"
#include "loaded_graph.hpp"

namespace wyrm::apps {

namespace {

agreement compare(std::vector<std::uint32_t> const& labels, std::vector<std::uint32_t> classes) {
  agreement a{0, algorithms::normalized_mutual_information(labels, classes),
              algorithms::adjusted_rand_index(labels, classes)};
  std::sort(classes.begin(), classes.end());
  a.classes = static_cast<std::uint64_t>(std::unique(classes.begin(), classes.end()) - classes.begin());
  return a;
}

}  // namespace

std::vector<std::string> objectives() { return {"modularity", "map-equation", "cpm"}; }

std::string name_of(algorithms::clustering_objective objective) {
  return objectives()[static_cast<std::size_t>(objective)];
}

algorithms::clustering_objective objective_of(std::string const& name) {
  auto const all = objectives();
  return static_cast<algorithms::clustering_objective>(std::find(all.begin(), all.end(), name) - all.begin());
}

std::vector<std::uint32_t> read_labels(std::string const& file, vertex_ids const& ids) {
  line_input in(file);
  std::vector<std::uint32_t> labels(ids.size());
  std::vector<bool> labelled(ids.size());
  auto const refuse = [&](std::string const& what) {
    throw error(error_code::bad_input, file + ":" + std::to_string(std::max<std::size_t>(in.line(), 1)) + ": " + what +
                                           "; write a line 'id label' for each of the graph's " +
                                           std::to_string(ids.size()) + " vertices");
  };
  for (std::string_view rest; in.next(rest);) {
    std::string_view const id = take_word(rest);
    if (id.empty() || id.starts_with('#')) continue;
    std::string_view const word = take_word(rest);
    auto const vertex = ids.find(id);
    if (!vertex) refuse("expected a vertex (" + ids.range() + "), found " + loaders::quoted(id));
    if (labelled[*vertex]) refuse("vertex " + ids.text(*vertex) + " has two labels");
    labelled[*vertex] = true;
    auto const [end, failed] = std::from_chars(word.data(), word.data() + word.size(), labels[*vertex]);
    if (failed != std::errc() || end != word.data() + word.size())
      refuse(loaders::quoted(word) + " is not a label, a whole number from 0 to 4294967295");
    if (std::string_view const more = take_word(rest); !more.empty())
      refuse("expected the end of the line, found " + loaders::quoted(more));
  }
  auto const missing = std::find(labelled.begin(), labelled.end(), false);
  if (missing != labelled.end())
    refuse("the file ends without a label of vertex " +
           ids.text(static_cast<graph::vertex_id>(missing - labelled.begin())));
  return labels;
}

cluster_result cluster(cluster_options const& o) {
  cluster_result r;
  auto const bound = o.bound();
  exec::any_space const space = o.space(bound.get());
  r.device = exec::describe(space);
  r.generated_on = generating_device(o.file, o.generating_space(space));
  graph::edge_list list;
  r.load_ms = timed([&] { list = load_file(o.file, o.generating_space(space)); });
  r.ids = vertex_ids(list, o.file.ids);
  std::vector<std::uint32_t> classes;
  if (!o.truth.empty()) classes = read_labels(o.truth, r.ids);
  if (o.weighted) prepare_weights(o.file, list, r.ids);
  graph::any_graph g(space, alloc::default_name, list.vertices, o.settings(list.directed, o.weighted));
  auto const weights = o.weighted ? graph::host_numbers(list.weights) : graph::host_numbers();
  r.build_ms = timed([&] { (void)insert_all(g, list.edges, weights, bound.get()); });
  r.vertices = g.vertices();
  r.edges = g.edges();
  r.directed = list.directed;
  algorithms::clustering_options options = o.clustering;
  options.weighted = o.weighted;
  r.ms = timed([&] { r.clusters = algorithms::clustering(g, options); });
  r.sizes = summarize_counts({r.clusters.sizes.begin(), r.clusters.sizes.end()});
  for (std::vector<std::uint32_t> const& level : r.clusters.levels)
    r.levels.push_back(level.empty() ? 0 : std::uint64_t{*std::max_element(level.begin(), level.end())} + 1);
  if (r.levels.empty()) r.levels = {r.clusters.count};
  if (!o.truth.empty()) r.truth = compare(r.clusters.label, std::move(classes));
  return r;
}

void label_file::write(algorithms::clustering_result const& clusters, vertex_ids const& ids) {
  bool const has_levels = clusters.levels.size() > 1;
  file_.write(has_levels ? "# id of the vertex, cluster at each level\n" : "# id of the vertex, cluster\n");
  auto const write_label = [&](std::uint32_t label) {
    file_.write(" ");
    file_.write(std::uint64_t{label});
  };
  for (graph::vertex_id v = 0; v < clusters.label.size(); ++v) {
    file_.write(ids.text(v));
    write_label(clusters.label[v]);
    for (std::size_t l = 1; l < clusters.levels.size(); ++l) write_label(clusters.levels[l][v]);
    file_.write("\n");
  }
  file_.finish();
}

}  // namespace wyrm::apps
