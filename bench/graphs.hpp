// SPDX-License-Identifier: Apache-2.0
// The graphs of the benchmarks, generated or loaded once: generated graphs, and those in the folder of the environment
// variable WYRM_DATA; and graphs with planted communities. NAME-by-degree is the graph NAME whose vertices are in the
// order of falling degree.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "../datasets/communities.hpp"
#include "../datasets/generators.hpp"
#include "../graph/ids/vertex_order.hpp"
#include "../graph/types.hpp"
#include "../loaders/loaders.hpp"

namespace wyrm::bench {

using source = std::function<graph::edge_list()>;

inline std::map<std::string, source> const& sources() {
  static std::map<std::string, source> const all = [] {
    std::map<std::string, source> m;
    m["rgg-20"] = [] { return datasets::random_geometric(std::size_t{1} << 20, 1); };
    m["rmat-18"] = [] { return datasets::rmat(18, 16, 1); };
    m["rmat-20"] = [] { return datasets::rmat(20, 16, 1); };
    m["rmat-22"] = [] { return datasets::rmat(22, 16, 1); };
    if (char const* const folder = std::getenv("WYRM_DATA"))
      for (char const* const name : {"luxembourg_osm", "coAuthorsDBLP"}) {
        std::filesystem::path const file = std::filesystem::path(folder) / (name + std::string(".mtx"));
        if (std::filesystem::exists(file)) m[name] = [file] { return loaders::load(file); };
      }
    return m;
  }();
  return all;
}

/// LFR graphs of 100,000 vertices, by mixing.
inline std::map<std::string, source> const& planted() {
  static std::map<std::string, source> const all = [] {
    std::map<std::string, source> m;
    for (char const* const mixing : {"0.1", "0.3", "0.5"})
      m[std::string("lfr-") + mixing] = [mixing] {
        return datasets::lfr({.vertices = 100'000, .mixing = std::stod(mixing)}).list;
      };
    return m;
  }();
  return all;
}

/// Throws error(bad_argument) if there is no such graph.
inline graph::edge_list make_graph(std::string const& name) {
  std::string const by_degree = "-by-degree";
  if (name.ends_with(by_degree)) {
    graph::edge_list list = make_graph(name.substr(0, name.size() - by_degree.size()));
    graph::renumber(list, graph::ordered_vertices(list, graph::vertex_order::by_degree));
    return list;
  }
  for (auto const* const all : {&sources(), &planted()})
    if (auto const at = all->find(name); at != all->end()) return at->second();
  throw error(error_code::bad_argument, "there is no graph '" + name + "'");
}

// All arcs of the graph; computed once.
inline graph::edge_list const& arcs_of(std::string const& name) {
  static std::map<std::string, graph::edge_list> made;
  auto [at, is_new] = made.try_emplace(name);
  if (is_new) {
    at->second = make_graph(name);
    std::vector<graph::edge>& edges = at->second.edges;
    edges.reserve(2 * edges.size());
    for (std::size_t i = 0, n = edges.size(); i < n; ++i) edges.push_back({edges[i].target, edges[i].source});
    at->second.directed = true;
  }
  return at->second;
}

inline graph::csr const& rows_of(std::string const& name) {
  static std::map<std::string, graph::csr> made;
  auto [at, is_new] = made.try_emplace(name);
  if (is_new) {
    graph::edge_list const& list = arcs_of(name);
    std::vector<graph::edge> arcs = list.edges;
    std::erase_if(arcs, [](graph::edge e) { return e.source == e.target; });
    std::sort(arcs.begin(), arcs.end());
    arcs.erase(std::unique(arcs.begin(), arcs.end()), arcs.end());
    graph::csr& c = at->second;
    c.offsets.resize(list.vertices + 1);
    for (auto const& [u, v] : arcs) {
      ++c.offsets[u + 1];
      c.targets.push_back(v);
    }
    std::partial_sum(c.offsets.begin(), c.offsets.end(), c.offsets.begin());
  }
  return at->second;
}

}  // namespace wyrm::bench
