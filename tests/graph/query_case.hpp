// SPDX-License-Identifier: Apache-2.0
// What the suites of queries have in common: graphs of several shapes with a serial model, and entries in memory of a
// space.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "../../datasets/generators.hpp"
#include "../../exec/memory.hpp"
#include "../../graph/queries.hpp"
#include "../support/graph_on.hpp"
#include "../support/seed.hpp"
#include "../support/spaces.hpp"
#include "model.hpp"

namespace wyrm::tests {

/// A graph as a list of edges, and as a set of neighbours for each vertex.
struct query_case {
  std::string name;
  std::size_t vertices;
  bool directed;
  std::vector<graph::edge> edges;
  std::vector<std::set<graph::vertex_id>> rows{};
  std::vector<std::set<graph::vertex_id>> in_rows{};

  query_case(std::string const& called, std::size_t n, bool is_directed, std::vector<graph::edge> const& list)
      : name(called), vertices(n), directed(is_directed), edges(list), rows(n), in_rows(n) {
    for (auto const& [u, v] : edges) {
      rows[u].insert(v);
      in_rows[v].insert(u);
      if (directed) continue;
      rows[v].insert(u);
      in_rows[u].insert(v);
    }
  }
  [[nodiscard]] static std::vector<graph::vertex_id> common(std::set<graph::vertex_id> const& a,
                                                            std::set<graph::vertex_id> const& b) {
    std::vector<graph::vertex_id> both;
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
    return both;
  }
};

template <class Space>
class query_fixture : public space_fixture<Space> {
 protected:
  using ids = std::vector<graph::vertex_id>;

  /// Fibers are slow.
  static constexpr bool is_slow = std::string_view(Space::name) == "simt";

  template <class On = Space>
  static graph_on<On> make(On const& space, query_case const& c) {
    graph::options o{.directed = c.directed, .self_loops = true};
    o.pool = {.pool_bytes = std::size_t{1} << 20, .reserve_bytes = std::size_t{1} << 28};
    graph_on<On> g(space, c.vertices, o);
    g.insert(c.edges);
    return g;
  }

  static query_case star(graph::vertex_id neighbours) {
    graph::vertex_id const hub = 17;
    std::vector<graph::edge> edges{{1, 2}, {3, 3}};
    for (graph::vertex_id v = 0; v < neighbours + 100; ++v)
      if (v % 50 != hub) edges.push_back({v, hub});
    return {"star", neighbours + 200, false, edges};
  }
  static std::vector<query_case> cases() {
    std::mt19937 random(seeded(3));
    unsigned const scale = is_slow ? 6 : 10;
    datasets::rmat_edges const edge{scale, 7};
    std::vector<graph::edge> rmat;
    for (std::uint64_t i = 0; i < std::uint64_t{8} << scale; ++i) rmat.push_back(edge(i));
    std::size_t const n = is_slow ? 100 : 1000;
    return {{"no edges", 9, false, {}},
            {"isolated vertices", 3000, false, {{0, 2999}, {1500, 1501}, {1501, 2999}}},
            star(5000),
            {"R-MAT", std::size_t{1} << scale, false, rmat},
            {"directed", n, true, random_edges(random, n, 4 * n)}};
  }

  /// Vertices that repeat, among them those with the most neighbours.
  static ids some_vertices(query_case const& c) {
    std::mt19937 random(seeded(4));
    ids list{static_cast<graph::vertex_id>(c.vertices - 1), 0};
    std::size_t const least = c.vertices > 17 ? 17 : 0;
    list.insert(list.end(), 2, static_cast<graph::vertex_id>(least));
    for (int i = 0; i < 60; ++i) list.push_back(static_cast<graph::vertex_id>(random() % c.vertices));
    return list;
  }
  /// Edges of the graph in both directions, other pairs, pairs (v, v), and repeated ones.
  static std::vector<graph::edge> some_pairs(query_case const& c) {
    std::mt19937 random(seeded(5));
    std::vector<graph::edge> pairs;
    for (int i = 0; i < 40; ++i) {
      auto const draw = [&] { return static_cast<graph::vertex_id>(random() % c.vertices); };
      pairs.push_back({draw(), draw()});
      pairs.push_back({draw(), static_cast<graph::vertex_id>(std::min<std::size_t>(17, c.vertices - 1))});
      graph::vertex_id const v = draw();
      pairs.push_back({v, v});
      if (c.edges.empty()) continue;
      graph::edge const e = c.edges[random() % c.edges.size()];
      pairs.insert(pairs.end(), {e, {e.target, e.source}, e});
    }
    return pairs;
  }

  template <class T>
  [[nodiscard]] exec::buffer<T, Space> resident(std::vector<T> const& entries) const {
    exec::buffer<T, Space> copy(this->space(), entries.size());
    exec::copy_in<T>(this->space(), copy.data(), entries);
    return copy;
  }
  static graph::resident_vertices vertices_in(exec::buffer<graph::vertex_id, Space> const& b) {
    return graph::resident_vertices(b.data(), b.size());
  }
  static graph::resident_edges pairs_in(exec::buffer<graph::edge, Space> const& b) {
    return graph::resident_edges(b.data(), b.size());
  }

  /// Checks that f() throws error(bad_argument) with a message that contains the text.
  template <class F>
  static void expect_refused(F const& f, std::string const& text) {
    try {
      f();
      ADD_FAILURE() << "no error; expected: " << text;
    } catch (error const& e) {
      EXPECT_EQ(e.code(), error_code::bad_argument);
      EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
    }
  }
};

}  // namespace wyrm::tests
