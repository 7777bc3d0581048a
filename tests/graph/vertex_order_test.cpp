// SPDX-License-Identifier: Apache-2.0
// Orders of the vertices of an edge list: literal results, a serial model, properties, and what renumbering keeps.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../../exec/error.hpp"
#include "../../exec/host_space.hpp"
#include "../../graph/ids/vertex_order.hpp"
#include "../support/refusal.hpp"
#include "../support/seed.hpp"

namespace wyrm::tests {
namespace {

using graph::edge;
using graph::edge_list;
using graph::vertex_id;
using graph::vertex_order;
using vertices = std::vector<vertex_id>;
using edges = std::vector<edge>;

edge_list list_of(std::size_t n, edges const& e, bool directed = false) {
  edge_list list;
  list.vertices = n;
  list.directed = directed;
  list.edges = e;
  return list;
}

vertices ordered(std::size_t n, edges const& e, vertex_order order, bool directed = false) {
  return graph::ordered_vertices(list_of(n, e, directed), order);
}

// A graph of several components with hubs, repeated edges, self-loops and isolated vertices.
edge_list random_list(std::size_t n, std::size_t m, std::mt19937_64& random) {
  edge_list list = list_of(n, {}, random() % 2 == 0);
  std::size_t const parts = 1 + random() % 4;
  for (std::size_t i = 0; i < m; ++i) {
    auto const source = random() % n;
    std::size_t target = random() % n;
    if (random() % 4 == 0) target = target % 3;
    target = (target / parts * parts + source % parts) % n;  // most edges stay in a part
    list.edges.push_back({static_cast<vertex_id>(source), static_cast<vertex_id>(target)});
    if (random() % 8 == 0) list.edges.push_back(list.edges.back());
  }
  return list;
}

// The definition, serially: sets of neighbours, and lists of the vertices by distance.
class model {
 public:
  explicit model(edge_list const& list) : neighbours_(list.vertices), degree_(list.vertices) {
    for (auto const& [source, target] : list.edges) {
      ++degree_[source], ++degree_[target];
      neighbours_[source].insert(target);
      neighbours_[target].insert(source);
    }
  }
  [[nodiscard]] vertices by_degree() const {
    vertices order(degree_.size());
    std::iota(order.begin(), order.end(), vertex_id{0});
    std::sort(order.begin(), order.end(),
              [&](vertex_id a, vertex_id b) { return degree_[a] != degree_[b] ? degree_[a] > degree_[b] : a < b; });
    return order;
  }
  [[nodiscard]] vertices by_locality() const {
    std::vector<bool> done(degree_.size());
    vertices order;
    for (vertex_id first = 0; first < degree_.size(); ++first) {
      if (done[first]) continue;
      vertices const component = visited(first);
      auto const far = distances(least(component));
      std::size_t farthest = 0;
      for (vertex_id const v : component) farthest = std::max(farthest, far[v]);
      vertices ends;
      for (vertex_id const v : component)
        if (far[v] == farthest) ends.push_back(v);
      for (vertex_id const v : visited(least(ends))) {
        done[v] = true;
        order.push_back(v);
      }
    }
    return order;
  }

 private:
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  [[nodiscard]] bool precedes(vertex_id a, vertex_id b) const {
    return std::pair(degree_[a], a) < std::pair(degree_[b], b);
  }
  [[nodiscard]] vertex_id least(vertices const& of) const {
    return *std::min_element(of.begin(), of.end(), [&](vertex_id a, vertex_id b) { return precedes(a, b); });
  }
  // The component of `first` in the order of Cuthill and McKee.
  [[nodiscard]] vertices visited(vertex_id first) const {
    std::vector<bool> seen(degree_.size());
    vertices order{first};
    seen[first] = true;
    for (std::size_t i = 0; i < order.size(); ++i) {
      vertices next;
      for (vertex_id const w : neighbours_[order[i]])
        if (!seen[w]) next.push_back(w), seen[w] = true;
      std::sort(next.begin(), next.end(), [&](vertex_id a, vertex_id b) { return precedes(a, b); });
      order.insert(order.end(), next.begin(), next.end());
    }
    return order;
  }
  [[nodiscard]] std::vector<std::size_t> distances(vertex_id first) const {
    std::vector<std::size_t> distance(degree_.size(), none);
    distance[first] = 0;
    for (bool changes = true; changes;) {
      changes = false;
      for (vertex_id v = 0; v < distance.size(); ++v)
        for (vertex_id const w : neighbours_[v])
          if (distance[v] != none && distance[w] > distance[v] + 1) distance[w] = distance[v] + 1, changes = true;
    }
    return distance;
  }
  std::vector<std::set<vertex_id>> neighbours_;
  std::vector<std::size_t> degree_;
};

vertices shuffled(std::size_t n, std::uint64_t seed) {
  vertices order(n);
  std::iota(order.begin(), order.end(), vertex_id{0});
  std::mt19937_64 random(seeded(seed));
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

TEST(vertex_order, as_given_is_ascending) {
  EXPECT_EQ(ordered(4, {{3, 2}, {3, 1}}, vertex_order::as_given), (vertices{0, 1, 2, 3}));
}

TEST(vertex_order, by_degree_counts_all_ends_and_is_stable) {
  // The degrees are 3 (a repeated arc), 3, 4 (a self-loop) and 0.
  for (bool const directed : {false, true})
    EXPECT_EQ(ordered(4, {{2, 0}, {2, 1}, {2, 2}, {1, 0}, {1, 0}}, vertex_order::by_degree, directed),
              (vertices{2, 0, 1, 3}));
  EXPECT_EQ(ordered(3, {}, vertex_order::by_degree), (vertices{0, 1, 2}));
}

TEST(vertex_order, by_locality_walks_a_path_from_its_end) {
  // 3 - 0 - 4 - 1 - 2; of the two ends, 3 is farthest from 2.
  for (bool const directed : {false, true})
    EXPECT_EQ(ordered(5, {{3, 0}, {0, 4}, {4, 1}, {1, 2}}, vertex_order::by_locality, directed),
              (vertices{3, 0, 4, 1, 2}));
}

TEST(vertex_order, by_locality_takes_components_in_the_order_of_their_first_vertices) {
  // 0, and 1 - 5 - 3, and 2 - 4.
  EXPECT_EQ(ordered(6, {{4, 2}, {1, 5}, {5, 3}}, vertex_order::by_locality), (vertices{0, 3, 5, 1, 4, 2}));
}

TEST(vertex_order, by_locality_takes_neighbours_of_small_degree_first) {
  // A tree: 0 - 1; 1 - 2, 3, 4; 3 - 5, 6; 4 - 7. It begins at 5, which is as far from 0 as 6 and 7.
  edges const tree{{0, 1}, {1, 2}, {1, 3}, {1, 4}, {3, 5}, {3, 6}, {4, 7}};
  EXPECT_EQ(ordered(8, tree, vertex_order::by_locality), (vertices{5, 3, 6, 1, 0, 2, 4, 7}));
  edges repeated = tree;
  repeated.insert(repeated.end(), tree.begin(), tree.end());
  EXPECT_EQ(ordered(8, repeated, vertex_order::by_locality), (vertices{5, 3, 6, 1, 0, 2, 4, 7}));
}

TEST(vertex_order, of_no_vertices_is_empty) {
  for (auto const order : {vertex_order::as_given, vertex_order::by_degree, vertex_order::by_locality}) {
    edge_list list;
    EXPECT_EQ(graph::ordered_vertices(list, order), vertices());
    graph::renumber(list, {});
    EXPECT_TRUE(list.ids.empty());
  }
}

TEST(vertex_order, equals_a_serial_model_with_any_number_of_threads) {
  std::mt19937_64 random(seeded(1));
  for (std::size_t round = 0; round < 60; ++round) {
    std::size_t const n = 1 + random() % 300;
    edge_list const list = random_list(n, random() % (3 * n), random);
    model const want(list);
    for (unsigned const threads : {1U, 2U, 5U}) {
      exec::host_space const space(threads);
      ASSERT_EQ(graph::ordered_vertices(list, vertex_order::by_degree, space), want.by_degree()) << round;
      ASSERT_EQ(graph::ordered_vertices(list, vertex_order::by_locality, space), want.by_locality()) << round;
    }
  }
}

// Enough edges for several threads, and a hub whose row one of them sorts.
TEST(vertex_order, of_a_large_graph_does_not_depend_on_threads) {
  std::mt19937_64 random(seeded(2));
  edge_list list = random_list(20'000, 80'000, random);
  for (vertex_id v = 0; v < list.vertices; v += 2) list.edges.push_back({7, v});
  model const want(list);
  for (unsigned const threads : {1U, 4U}) {
    exec::host_space const space(threads);
    EXPECT_EQ(graph::ordered_vertices(list, vertex_order::by_degree, space), want.by_degree());
    EXPECT_EQ(graph::ordered_vertices(list, vertex_order::by_locality, space),
              graph::ordered_vertices(list, vertex_order::by_locality, exec::host_space(1)));
  }
}

TEST(vertex_order, by_locality_gives_neighbours_near_numbers) {
  // A grid with shuffled ids: a level of its breadth-first search has at most 20 vertices.
  constexpr vertex_id width = 20;
  constexpr vertex_id height = 50;
  vertices const id = shuffled(std::size_t{width} * height, 3);
  edge_list list = list_of(id.size(), {});
  for (vertex_id y = 0; y < height; ++y)
    for (vertex_id x = 0; x < width; ++x) {
      vertex_id const v = y * width + x;
      if (x + 1 < width) list.edges.push_back({id[v], id[v + 1]});
      if (y + 1 < height) list.edges.push_back({id[v + width], id[v]});
    }
  auto const bandwidth = [&] {
    vertex_id most = 0;
    for (auto const& [a, b] : list.edges) most = std::max(most, std::max(a, b) - std::min(a, b));
    return most;
  };
  EXPECT_GT(bandwidth(), 5 * width);
  graph::renumber(list, graph::ordered_vertices(list, vertex_order::by_locality));
  EXPECT_LE(bandwidth(), width + 1);
}

TEST(vertex_order, refuses_what_is_no_order_and_edges_between_other_vertices) {
  edge_list const list = list_of(2, {{0, 1}});
  EXPECT_EQ(refusal([&] { (void)graph::ordered_vertices(list, static_cast<vertex_order>(3)); }),
            "there is no vertex order 3: use as_given, by_degree or by_locality");
  edge_list const wrong = list_of(2, {{0, 1}, {1, 2}, {5, 0}});
  for (auto const order : {vertex_order::as_given, vertex_order::by_degree, vertex_order::by_locality})
    EXPECT_EQ(refusal([&] { (void)graph::ordered_vertices(wrong, order); }),
              "edge 1 of the list, 1 -> 2, is not between its 2 vertices, which count from 0: raise "
              "edge_list::vertices or correct it");
  edge_list const large = list_of(graph::max_vertices + 1, {});
  EXPECT_EQ(refusal([&] { (void)graph::ordered_vertices(large, vertex_order::by_locality); }),
            "the list has 4294967296 vertices: a graph has at most 4294967295");
}

edge_list weighted_list() {
  edge_list list = list_of(3, {{0, 1}, {2, 2}, {1, 2}, {0, 1}}, true);
  list.weights = {1, 2, 3, 4};
  list.times = {8, 7, 6, 5};
  return list;
}

TEST(renumber, moves_vertices_and_their_ids_and_keeps_the_positions_of_edges) {
  edge_list list = weighted_list();
  list.first_id = 10;
  vertices const order{2, 0, 1};
  graph::renumber(list, order);
  EXPECT_EQ(list.edges, (edges{{1, 2}, {0, 0}, {2, 0}, {1, 2}}));
  EXPECT_EQ(list.ids, (std::vector<std::uint64_t>{12, 10, 11}));
  EXPECT_EQ(list.first_id, 0U);
  EXPECT_EQ(list.weights, weighted_list().weights);
  EXPECT_EQ(list.times, weighted_list().times);
  EXPECT_TRUE(list.directed);
  EXPECT_EQ(list.vertices, 3U);
  graph::renumber(list, order);
  EXPECT_EQ(list.ids, (std::vector<std::uint64_t>{11, 12, 10})) << "of ids that the list has";
}

TEST(renumber, moves_names) {
  edge_list list = weighted_list();
  list.names = {"a", "b", "a name that is not stored in the object itself"};
  graph::renumber(list, vertices{2, 0, 1});
  EXPECT_EQ(list.names, (std::vector<std::string>{"a name that is not stored in the object itself", "a", "b"}));
  EXPECT_TRUE(list.ids.empty());
}

TEST(renumber, by_the_same_order_changes_nothing) {
  edge_list list = weighted_list();
  list.first_id = 10;
  graph::renumber(list, vertices{0, 1, 2});
  EXPECT_EQ(list.edges, weighted_list().edges);
  EXPECT_TRUE(list.ids.empty());
  EXPECT_EQ(list.first_id, 10U);
}

TEST(renumber, can_be_undone) {
  std::mt19937_64 random(seeded(4));
  edge_list list = random_list(1000, 5000, random);
  edges const before = list.edges;
  vertices const order = shuffled(list.vertices, 5);
  graph::renumber(list, order, exec::host_space(3));
  EXPECT_NE(list.edges, before);
  vertices back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) back[order[i]] = static_cast<vertex_id>(i);
  graph::renumber(list, back, exec::host_space(3));
  EXPECT_EQ(list.edges, before);
  EXPECT_TRUE(std::is_sorted(list.ids.begin(), list.ids.end()));
}

TEST(renumber, refuses_what_is_no_permutation_without_a_change) {
  edge_list list = weighted_list();
  auto const message = [&](vertices const& order) { return refusal([&] { graph::renumber(list, order); }); };
  EXPECT_EQ(message({0, 1}), "the order has 2 vertices, and the list 3: list each vertex once");
  EXPECT_EQ(message({2, 1, 2}), "entry 2 of the order, 2, repeats: list each vertex from 0 to 2 once");
  EXPECT_EQ(message({0, 3, 1}), "entry 1 of the order, 3, is no vertex of the list: list each vertex from 0 to 2 once");
  EXPECT_EQ(list.edges, weighted_list().edges);
  EXPECT_TRUE(list.ids.empty());
  list.edges.push_back({3, 0});
  EXPECT_NE(message({2, 0, 1}).find("edge 4 of the list, 3 -> 0, "), std::string::npos);
  EXPECT_EQ(list.edges.front(), (edge{0, 1}));
}

TEST(renumber, refuses_ids_and_names_that_are_not_one_per_vertex) {
  edge_list list = weighted_list();
  list.ids = {10, 11};
  auto const message = [&] { return refusal([&] { graph::renumber(list, vertices{2, 0, 1}); }); };
  EXPECT_EQ(message(), "the list has 3 vertices, but 2 ids or names: give it one for each vertex, or none");
  list.ids.clear();
  list.names = {"a", "b", "c", "d"};
  EXPECT_EQ(message(), "the list has 3 vertices, but 4 ids or names: give it one for each vertex, or none");
  EXPECT_EQ(list.edges, weighted_list().edges);
}

}  // namespace
}  // namespace wyrm::tests
