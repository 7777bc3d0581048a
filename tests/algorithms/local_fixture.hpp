// SPDX-License-Identifier: Apache-2.0
// The base of the tests of algorithms on neighbourhoods: graphs of any shape, and the example graphs of LDBC
// Graphalytics with their published results (folder graphalytics of WYRM_DATA).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "../graph/model.hpp"
#include "../support/seed.hpp"
#include "any_graph_fixture.hpp"

namespace wyrm::tests {

/// An example of Graphalytics. Vertices are numbered in the order of their ids.
struct graphalytics_example {
  std::vector<graph::vertex_id> ids;
  std::vector<graph::edge> edges;
  std::vector<double> weights;
  std::vector<double> result;  // of each vertex

  /// The example `name`, "example-directed" or "example-undirected", with the results of an algorithm; no vertices
  /// where WYRM_DATA has none.
  static graphalytics_example read(std::string const& name, std::string const& algorithm) {
    char const* const folder = std::getenv("WYRM_DATA");
    graphalytics_example example;
    if (folder == nullptr) return example;
    std::string const path = (std::filesystem::path(folder) / "graphalytics" / name).string();
    std::ifstream vertices(path + ".v");
    for (graph::vertex_id v; vertices >> v;) example.ids.push_back(v);
    std::sort(example.ids.begin(), example.ids.end());
    std::ifstream edges(path + ".e");
    graph::edge e{};
    for (double weight; edges >> e.source >> e.target >> weight;) {
      example.edges.push_back({example.number(e.source), example.number(e.target)});
      example.weights.push_back(weight);
    }
    example.result.resize(example.ids.size());
    std::ifstream results(path + "-" + algorithm);
    graph::vertex_id v = 0;
    for (std::string value; results >> v >> value;)
      example.result[example.number(v)] = std::stod(value);  // or infinity
    return example;
  }
  [[nodiscard]] graph::vertex_id number(graph::vertex_id id) const {
    return static_cast<graph::vertex_id>(std::lower_bound(ids.begin(), ids.end(), id) - ids.begin());
  }
};

template <class Space>
class local_test : public any_graph_test<Space> {
 protected:
  using ids = std::vector<graph::vertex_id>;
  using edges = std::vector<graph::edge>;

  /// Random edges among n vertices, and some between 0, which is a hub, and others. An edge of an undirected graph
  /// occurs once.
  static edges random(unsigned seed, std::size_t n, std::size_t count, std::size_t of_hub) {
    std::mt19937 random(seeded(seed));
    edges all = random_edges(random, n, count);
    for (std::size_t i = 0; i < of_hub; ++i) {
      auto const v = static_cast<graph::vertex_id>(random() % n);
      all.push_back(i % 2 == 0 ? graph::edge{0, v} : graph::edge{v, 0});
    }
    return all;
  }
};

}  // namespace wyrm::tests
