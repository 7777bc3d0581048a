// SPDX-License-Identifier: Apache-2.0
#include "walk.hpp"

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <utility>
#include <vector>

#include "../exec/device.hpp"
#include "../graph/any_graph.hpp"
#include "../loaders/output_file.hpp"
#include "loaded_graph.hpp"

namespace wyrm::apps {

namespace {

// The weight of each arc of the graph; of an edge that the file has twice, the first.
std::vector<float> weights_of_arcs(graph::csr const& rows, graph::edge_list const& list) {
  std::vector<std::pair<std::uint64_t, double>> all;
  all.reserve(list.edges.size() * (list.directed ? 1 : 2));
  for (std::size_t i = 0; i < list.edges.size(); ++i) {
    auto const [u, v] = list.edges[i];
    all.push_back({std::uint64_t{u} << 32 | v, list.weights[i]});
    if (!list.directed) all.push_back({std::uint64_t{v} << 32 | u, list.weights[i]});
  }
  std::stable_sort(all.begin(), all.end(), [](auto const& a, auto const& b) { return a.first < b.first; });
  std::vector<float> weights;
  weights.reserve(rows.targets.size());
  auto at = all.begin();
  for (std::uint64_t u = 0; u + 1 < rows.offsets.size(); ++u)
    for (std::uint64_t i = rows.offsets[u]; i < rows.offsets[u + 1]; ++i) {
      at = std::lower_bound(at, all.end(), u << 32 | rows.targets[i],
                            [](auto const& pair, std::uint64_t key) { return pair.first < key; });
      weights.push_back(static_cast<float>(at->second));
    }
  return weights;
}

void write_walks(loaders::output_file& file, algorithms::walk_paths const& paths) {
  for (std::size_t w = 0; w + 1 < paths.offsets.size(); ++w)
    for (std::uint64_t i = paths.offsets[w]; i < paths.offsets[w + 1]; ++i) {
      file.write(std::uint64_t{paths.vertices[i]});
      file.write(i + 1 < paths.offsets[w + 1] ? " " : "\n");
    }
}

}  // namespace

void walk(walk_command const& c) {
  loaders::output_file file("the walks", c.walks);
  exec::any_space const space = exec::make_space(c.device);
  graph::edge_list const list = load_file(c.file);
  if (c.weighted && list.weights.empty())
    throw error(error_code::bad_argument, c.file.name + " has no weights to walk by; leave out --weighted");
  graph::any_graph const g = graph::build(space, alloc::default_name, list);
  algorithms::random_walk_options o = c.walk;
  if (c.weighted) o.weights = weights_of_arcs(g.to_csr(), list);
  algorithms::walk_paths paths;
  double const ms = timed([&] { paths = algorithms::random_walks(g, o); });
  auto const walks = paths.offsets.size() - 1;
  auto const steps = paths.vertices.size() - walks;
  std::cout << c.file.name << " on " << exec::describe(space) << '\n'
            << "  vertices               " << g.vertices() << '\n'
            << "  edges                  " << g.edges() << (list.directed ? " (directed)" : " (undirected)") << '\n'
            << "  walks                  " << walks << '\n'
            << "  steps                  " << steps << '\n'
            << "  milliseconds           " << ms << " (paths to the host included)\n";
  write_walks(file, paths);
  file.finish();
  file.commit();
}

}  // namespace wyrm::apps
