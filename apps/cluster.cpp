// SPDX-License-Identifier: Apache-2.0
#include "cluster.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <system_error>

#include "../algorithms/clustering_quality.hpp"
#include "../alloc/registry.hpp"
#include "../exec/device.hpp"
#include "../graph/any_graph.hpp"
#include "../loaders/quoted.hpp"
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

std::vector<std::uint32_t> read_labels(std::string const& file, std::size_t vertices) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw error(error_code::io, "cannot read the labels " + file + ": it cannot be opened");
  std::vector<std::uint32_t> labels;
  std::size_t number = 0;
  auto const refuse = [&](std::string const& what) {
    throw error(error_code::bad_input, file + ":" + std::to_string(number) + ": " + what);
  };
  std::string const advice =
      "the graph has " + std::to_string(vertices) + " vertices; write one label per line for each";
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.starts_with('#')) continue;
    std::uint32_t label = 0;
    auto const [end, failed] = std::from_chars(line.data(), line.data() + line.size(), label);
    if (failed != std::errc() || end != line.data() + line.size())
      refuse(loaders::quoted(line) + " is not a label: a whole number from 0 to 4294967295, and nothing else");
    if (labels.size() == vertices) refuse("this is one label too many: " + advice);
    labels.push_back(label);
  }
  if (in.bad()) throw error(error_code::io, "cannot read the labels " + file);
  if (labels.size() < vertices) refuse("the file ends after " + std::to_string(labels.size()) + " labels: " + advice);
  return labels;
}

cluster_result cluster(cluster_options const& o) {
  cluster_result r;
  exec::any_space const space = exec::make_space(o.device);
  r.device = exec::describe(space);
  graph::edge_list list;
  r.load_ms = timed([&] { list = load_file(o.file); });
  std::vector<std::uint32_t> classes;
  if (!o.truth.empty()) classes = read_labels(o.truth, list.vertices);
  graph::any_graph g(space, alloc::default_name, list.vertices, {.directed = list.directed});
  r.build_ms = timed([&] { g.insert(list.edges); });
  r.vertices = g.vertices();
  r.edges = g.edges();
  r.directed = list.directed;
  algorithms::clustering_options options = o.clustering;
  if (o.weighted) options.weights = weights_of_arcs(o.file, list, g.to_csr());
  r.ms = timed([&] { r.clusters = algorithms::clustering(g, options); });
  r.sizes = summarize_counts({r.clusters.sizes.begin(), r.clusters.sizes.end()});
  if (!o.truth.empty()) r.truth = compare(r.clusters.label, std::move(classes));
  return r;
}

void label_file::write(std::vector<std::uint32_t> const& labels) {
  file_.write("# cluster: one line per vertex, from vertex 0 on\n");
  for (std::uint32_t const l : labels) {
    file_.write(std::uint64_t{l});
    file_.write("\n");
  }
  file_.finish();
}

}  // namespace wyrm::apps
