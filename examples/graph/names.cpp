// SPDX-License-Identifier: Apache-2.0
// Vertices with names: batches of edges between people stream into a graph, which adds a vertex for each new name. Then
// the people with the most friends are asked for by name, one of them leaves, and another one gets the vertex. The
// graph is compared with a std::map.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>
#include <wyrm/alloc/registry.hpp>
#include <wyrm/exec/device.hpp>
#include <wyrm/graph/dynamic_graph.hpp>
#include <wyrm/graph/ids/id_map.hpp>
#include <wyrm/graph/queries.hpp>

namespace {

using wyrm::graph::vertex_id;
using friends = std::map<std::string, std::set<std::string>>;

/// Whether each name of the map has as many neighbours as the model says; prints the three names with the most.
template <class Map, class Graph>
bool agrees(Map const& names, Graph const& g, friends const& model) {
  std::vector<std::string> people;
  for (auto const& entry : model) people.push_back(entry.first);
  std::vector<vertex_id> const ids = names.find(people);
  if (std::find(ids.begin(), ids.end(), wyrm::graph::no_vertex) != ids.end()) return false;
  std::vector<std::uint32_t> const degrees = wyrm::graph::degrees(g.space(), g.view(), ids);
  for (std::size_t i = 0; i < people.size(); ++i)
    if (degrees[i] != model.at(people[i]).size()) return false;

  std::vector<vertex_id> vertices(g.vertices());
  std::iota(vertices.begin(), vertices.end(), vertex_id{0});
  std::vector<std::uint32_t> const all = wyrm::graph::degrees(g.space(), g.view(), vertices);
  std::partial_sort(vertices.begin(), vertices.begin() + 3, vertices.end(),
                    [&](vertex_id a, vertex_id b) { return all[a] != all[b] ? all[a] > all[b] : a < b; });
  vertices.resize(3);
  std::vector<std::string> const first = names.keys(vertices);
  for (std::size_t i = 0; i < 3; ++i) std::printf("  %s has %u friends\n", first[i].c_str(), all[vertices[i]]);
  return true;
}

template <class Space>
int run(Space const& space) {
  wyrm::graph::dynamic_graph<Space, wyrm::alloc::ouroboros_va_p<Space>> g(space, 0);
  auto const new_vertices = [&](std::size_t n) { return g.add_vertices(n); };
  wyrm::graph::string_id_map<Space> names(space);
  friends model;
  std::mt19937 random(1);
  for (int batch = 1; batch <= 4; ++batch) {
    std::vector<std::string> from;
    std::vector<std::string> to;
    for (int i = 0; i < 5000; ++i) {
      // Few people have most friends.
      std::string const a = "person " + std::to_string(random() % 100 * (random() % 10));
      std::string const b = "person " + std::to_string(random() % 500 * static_cast<unsigned>(batch));
      if (a == b) continue;
      from.push_back(a);
      to.push_back(b);
      model[a].insert(b);
      model[b].insert(a);
    }
    auto const edges = names.insert_edges(from, to, new_vertices);
    g.insert(wyrm::graph::resident_edges(edges.data(), edges.size()));
    std::printf("batch %d: %zu people, %zu friendships\n", batch, names.size(), std::size_t{g.edges()});
    if (names.size() != model.size() || !agrees(names, g, model)) return 1;
  }

  // "person 0" leaves, and the id of the vertex is free for somebody else.
  std::vector<std::string> const leaving{"person 0"};
  std::vector<vertex_id> const freed = names.erase(leaving).ids;
  if (freed.size() != 1) return 1;
  g.remove_vertices(freed);
  for (std::string const& other : model.at("person 0")) model.at(other).erase("person 0");
  model.erase("person 0");

  std::vector<std::string> const coming{"Ada", "person 1"};
  std::vector<vertex_id> const ids = names.insert(coming, new_vertices);
  g.insert({{ids[0], ids[1]}});
  model["Ada"].insert("person 1");
  model["person 1"].insert("Ada");
  std::printf("Ada is vertex %u now\n", ids[0]);
  return ids[0] == freed[0] && agrees(names, g, model) ? 0 : 1;
}

}  // namespace

int main() try {
  return std::visit([](auto const& space) { return run(space); }, wyrm::exec::make_space("auto"));
} catch (wyrm::error const& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
