// SPDX-License-Identifier: Apache-2.0
// The tests of trussness and k-trusses, for any space.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "../../algorithms/truss.hpp"
#include "../support/refusal.hpp"
#include "../support/verify_local.hpp"
#include "local_fixture.hpp"

namespace wyrm::tests {

template <class Space>
class truss_test : public local_test<Space> {
 protected:
  using numbers = std::vector<std::uint32_t>;
  static auto trussness(graph::any_graph const& g) { return algorithms::trussness(truss_test::space_of(g), g.view()); }
  static std::vector<graph::edge> truss(graph::any_graph const& g, std::uint32_t k) {
    return algorithms::k_truss(truss_test::space_of(g), g.view(), k);
  }
  static void expect_verified(graph::any_graph const& g) {
    graph::csr const rows = g.to_csr();
    numbers const want = serial_trussness(rows);
    auto const got = trussness(g);
    ASSERT_EQ(got.trussness, want);
    ASSERT_EQ(got.largest, want.empty() ? 0 : *std::max_element(want.begin(), want.end()));
    for (std::uint32_t const k : numbers{2, 4, got.largest, got.largest + 1}) {
      std::vector<graph::edge> in_truss;
      for (graph::vertex_id u = 0; u < g.vertices(); ++u)
        for (auto i = rows.offsets[u]; i < rows.offsets[u + 1]; ++i)
          if (u < rows.targets[i] && want[i] >= k) in_truss.push_back({u, rows.targets[i]});
      EXPECT_EQ(truss(g, k), in_truss) << k;
    }
  }
};

TYPED_TEST_SUITE_P(truss_test);

TYPED_TEST_P(truss_test, known_graphs) {
  using numbers = typename TestFixture::numbers;
  using edges = typename TestFixture::edges;
  EXPECT_TRUE(this->trussness(this->make(0, {})).trussness.empty());
  EXPECT_TRUE(this->trussness(this->make(3, {})).trussness.empty());
  EXPECT_EQ(this->trussness(this->make(3, {})).largest, 0u);
  EXPECT_TRUE(this->truss(this->make(3, {}), 2).empty());
  auto const loop = this->trussness(this->make(2, {{1, 1}}, {.self_loops = true}));
  EXPECT_EQ(loop.trussness, numbers{0});
  EXPECT_EQ(loop.largest, 0u);
  // Two triangles with the common edge 1-2, a tail, and self-loops.
  auto const bow =
      this->make(6, {{0, 1}, {1, 2}, {2, 0}, {3, 1}, {3, 2}, {3, 4}, {1, 1}, {4, 4}}, {.self_loops = true});
  EXPECT_EQ(this->trussness(bow).trussness, (numbers{3, 3, 3, 0, 3, 3, 3, 3, 3, 3, 3, 2, 2, 0}));
  EXPECT_EQ(this->trussness(bow).largest, 3u);
  EXPECT_EQ(this->truss(bow, 3), (edges{{0, 1}, {0, 2}, {1, 2}, {1, 3}, {2, 3}}));
  EXPECT_EQ(this->truss(bow, 2), (edges{{0, 1}, {0, 2}, {1, 2}, {1, 3}, {2, 3}, {3, 4}}));
  EXPECT_TRUE(this->truss(bow, 4).empty());
  this->expect_contains(refusal([&] { this->trussness(this->make(3, {{0, 1}}, {.directed = true})); }), "directed");
}

// All edges of a clique of n vertices have trussness n. Cliques that share a vertex or an edge keep theirs.
TYPED_TEST_P(truss_test, cliques) {
  auto all = this->clique(0, 9);
  for (graph::edge const e : this->clique(8, 6)) all.push_back(e);   // shares the vertex 8
  for (graph::edge const e : this->clique(12, 4)) all.push_back(e);  // shares the edge 12-13
  std::sort(all.begin(), all.end(), [](graph::edge a, graph::edge b) {
    return a.source != b.source ? a.source < b.source : a.target < b.target;
  });
  all.erase(std::unique(all.begin(), all.end()), all.end());
  auto const g = this->make(20, all);
  EXPECT_EQ(this->trussness(g).largest, 9u);
  auto edges_of = [](auto edges) {
    for (graph::edge& e : edges) std::swap(e.source, e.target);
    std::sort(edges.begin(), edges.end(), [](graph::edge a, graph::edge b) {
      return a.source != b.source ? a.source < b.source : a.target < b.target;
    });
    return edges;
  };
  EXPECT_EQ(this->truss(g, 9), edges_of(this->clique(0, 9)));
  EXPECT_EQ(this->truss(g, 7), this->truss(g, 9));
  EXPECT_EQ(this->truss(g, 6).size(), 36u + 15u);
  EXPECT_EQ(this->truss(g, 4).size(), 36u + 15u + 5u);
  this->expect_verified(g);
}

TYPED_TEST_P(truss_test, agrees_with_the_verifier) {
  for (unsigned seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(seed);
    std::size_t const n = 30 + 25 * seed;
    auto g = this->make(n, this->random(seed, n, n * (3 + 2 * (seed % 3)), 2 * n), {.self_loops = seed > 2});
    this->expect_verified(g);
    g.erase(this->random(seed + 50, n, n, 10));
    g.remove_vertices({1, 5});
    this->expect_verified(g);
  }
}

// Three vertices with 600 common neighbours: the row of each edge between them is read in three parts.
TYPED_TEST_P(truss_test, hubs) {
  std::size_t const n = 603;
  auto all = this->clique(0, 3);
  for (graph::vertex_id v = 3; v < n; ++v)
    for (graph::vertex_id const hub : {0u, 1u, 2u}) all.push_back({hub, v});
  auto const g = this->make(n, all);
  auto const got = this->trussness(g);
  EXPECT_EQ(got.trussness, std::vector<std::uint32_t>(g.arcs(), 4));
  all.erase(all.begin());  // the edge 0-1
  this->expect_verified(this->make(n, all));
  // The edge 0-1 is in few triangles, which are in different parts of its rows.
  all = this->random(9, n, 2 * n, 0);
  for (graph::vertex_id v = 1; v < n; ++v)
    for (graph::vertex_id const hub : {0u, 1u})
      if (v % 2 == hub || v % 150 == 1) all.push_back({hub, v});
  this->expect_verified(this->make(n, all));
}

// Ids are names: another order of ids permutes the trussness. Other components and isolated vertices change nothing.
TYPED_TEST_P(truss_test, renamed_and_joined) {
  std::size_t const n = 120;
  auto some = this->random(7, n, 5 * n, n);
  for (graph::edge const e : this->clique(50, 7)) some.push_back(e);
  auto const simple = this->make(n, some).to_csr();
  std::vector<graph::vertex_id> names(2 * n + 5);
  std::iota(names.begin(), names.end(), graph::vertex_id{0});
  std::shuffle(names.begin(), names.end(), std::mt19937(seeded(8)));
  std::vector<graph::edge> once;
  std::vector<graph::edge> twice;
  for (graph::vertex_id u = 0; u < n; ++u)
    for (auto i = simple.offsets[u]; i < simple.offsets[u + 1]; ++i) {
      graph::vertex_id const v = simple.targets[i];
      if (u >= v) continue;
      once.push_back({u, v});
      twice.push_back({names[u], names[v]});
      twice.push_back({names[n + u], names[n + v]});
    }
  auto const small = this->make(n, once);
  auto const large = this->make(names.size(), twice);
  auto const want = this->trussness(small);
  auto const got = this->trussness(large);
  EXPECT_EQ(got.largest, want.largest);
  EXPECT_GE(want.largest, 7u);  // of the clique, or of more around it
  graph::csr const rows = large.to_csr();
  for (graph::vertex_id u = 0; u < n; ++u)
    for (auto i = simple.offsets[u]; i < simple.offsets[u + 1]; ++i)
      for (std::size_t const copy : {std::size_t{0}, n}) {
        graph::vertex_id const from = names[copy + u];
        auto const begin = rows.targets.begin() + static_cast<std::ptrdiff_t>(rows.offsets[from]);
        auto const end = rows.targets.begin() + static_cast<std::ptrdiff_t>(rows.offsets[from + 1]);
        auto const at = std::lower_bound(begin, end, names[copy + simple.targets[i]]) - rows.targets.begin();
        ASSERT_EQ(got.trussness[static_cast<std::size_t>(at)], want.trussness[i]);
      }
}

// One object for several graphs, also after a refusal.
TYPED_TEST_P(truss_test, an_object_serves_many_graphs) {
  auto const dense = this->make(12, this->clique(0, 12));
  auto const path = this->make(4, {{0, 1}, {1, 2}, {2, 3}});
  auto const directed = this->make(3, {{0, 1}}, {.directed = true});
  algorithms::truss_decomposer<TypeParam> decomposer(this->space_of(dense));
  EXPECT_TRUE(decomposer.truss(2).to_host().empty());
  EXPECT_EQ(decomposer.run(dense.view()), 12u);
  EXPECT_EQ(decomposer.truss(12).size(), 66u);
  EXPECT_THROW(decomposer.run(directed.view()), error);
  EXPECT_EQ(decomposer.truss(2).size(), 0u);
  EXPECT_EQ(decomposer.run(path.view()), 2u);
  EXPECT_EQ(decomposer.truss(2).size(), 3u);
  EXPECT_EQ(decomposer.run(dense.view()), 12u);
}

REGISTER_TYPED_TEST_SUITE_P(truss_test, known_graphs, cliques, agrees_with_the_verifier, hubs, renamed_and_joined,
                            an_object_serves_many_graphs);

}  // namespace wyrm::tests
