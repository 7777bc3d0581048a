// SPDX-License-Identifier: Apache-2.0
// The tests of communities that are maintained by label propagation, for any space: known graphs with literal results,
// and sequences of random changes, after each of which the labels are checked by their definition.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "../../algorithms/incremental_label_propagation.hpp"
#include "../../graph/catch_up.hpp"
#include "../../graph/snapshot.hpp"
#include "../graph/model.hpp"
#include "../support/refusal.hpp"
#include "../support/seed.hpp"
#include "../support/verify_structure.hpp"
#include "graphs_fixture.hpp"

namespace wyrm::tests {

template <class Space>
class incremental_labels_test : public graphs_test<Space> {
 protected:
  using graph_type = typename graphs_test<Space>::graph_type;
  using result_type = algorithms::incremental_label_propagation<Space>;
  using edges = std::vector<graph::edge>;
  using ids = std::vector<graph::vertex_id>;

  graph_type graph_of(std::size_t n, edges const& list, bool directed = false, bool loops = false) {
    return this->make(n, list, directed, loops, this->one_thread());
  }
  static result_type attached(graph_type& g, std::uint32_t max_rounds = 1000) {
    result_type result(g.space(), g.view(), {.max_rounds = max_rounds});
    g.attach(result);
    return result;
  }
  static void expect_right(graph_type const& g, result_type const& labels) {
    ASSERT_EQ(fault_of_labels(g.to_csr(), g.settings().directed, labels.label()), "");
    ASSERT_TRUE(labels.converged());
    ASSERT_TRUE(labels.belongs_to(g.view()));
  }
  /// Two cliques, 0 to k - 1 and k to 2 k - 1.
  static edges two_cliques(graph::vertex_id k) {
    edges all = edge_lists::clique(k);
    for (graph::edge const& e : edge_lists::clique(k, k)) all.push_back(e);
    return all;
  }
};

TYPED_TEST_SUITE_P(incremental_labels_test);

// A clique has one label, because a vertex of it with another one would see the other vertices outnumber its own.
TYPED_TEST_P(incremental_labels_test, of_known_changes) {
  for (bool const directed : {false, true}) {
    auto g = this->graph_of(14, this->two_cliques(6), directed);
    auto const labels = this->attached(g);
    auto const first = labels.label();
    for (graph::vertex_id v = 0; v < 12; ++v) EXPECT_EQ(first[v], first[v / 6 * 6]) << v;
    EXPECT_LT(first[0], 6u);
    EXPECT_GE(first[6], 6u);
    EXPECT_EQ(first[12], 12u);
    EXPECT_TRUE(labels.converged());
    auto const with = [&](graph::vertex_id label) {
      auto all = first;
      all[12] = label;
      return all;
    };
    g.insert({{12, 0}, {1, 12}, {12, 2}, {3, 12}, {12, 6}});
    EXPECT_EQ(labels.label(), with(first[0]));
    EXPECT_GE(labels.rounds(), 1u);
    g.erase({{12, 0}, {1, 12}});  // the label that the vertex has is as frequent as before
    EXPECT_EQ(labels.label(), with(first[0]));
    g.insert({{7, 12}});  // both are: it keeps its label
    EXPECT_EQ(labels.label(), with(first[0]));
    g.apply(std::vector<graph::edge>{{12, 2}, {12, 8}},
            std::vector<graph::operation>{graph::operation::erase, graph::operation::insert});
    EXPECT_EQ(labels.label(), with(first[6]));
    g.remove_vertices({12});
    EXPECT_EQ(labels.label(), first);
    EXPECT_EQ(g.add_vertices(2), (typename TestFixture::ids{12, 14}));
    EXPECT_EQ(labels.label()[14], 14u);
    g.clear();
    for (graph::vertex_id v = 0; v < 15; ++v) EXPECT_EQ(labels.label()[v], v);
    EXPECT_EQ(labels.rounds(), 0u);
  }
}

// Two vertices that want each other's label, and those of a complete bipartite graph.
TYPED_TEST_P(incremental_labels_test, do_not_oscillate) {
  auto pair = this->graph_of(2, {{0, 1}});
  auto const of_pair = this->attached(pair);
  EXPECT_TRUE(of_pair.converged());
  EXPECT_EQ(of_pair.label()[0], of_pair.label()[1]);

  std::vector<graph::edge> bipartite;
  for (graph::vertex_id u = 0; u < 20; ++u)
    for (graph::vertex_id v = 20; v < 40; ++v) bipartite.push_back({u, v});
  auto g = this->graph_of(40, bipartite);
  auto const labels = this->attached(g);
  EXPECT_TRUE(labels.converged());
  ASSERT_NO_FATAL_FAILURE(this->expect_right(g, labels));
}

TYPED_TEST_P(incremental_labels_test, of_random_changes) {
  std::size_t const steps = this->sized(150, 25);
  for (unsigned kind = 0; kind < 4; ++kind) {
    bool const directed = kind % 2 == 1;
    bool const loops = kind / 2 == 1;
    SCOPED_TRACE("kind " + std::to_string(kind));
    std::mt19937 random(seeded(21 + kind));
    std::size_t const n = this->sized(100, 50);
    graph_model model(n, directed, loops);
    auto g = this->graph_of(n, {}, directed, loops);
    auto const labels = this->attached(g);
    for (std::size_t step = 0; step < steps; ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      auto batch = random_edges(random, model.vertices(), 1 + random() % (random() % 8 == 0 ? 2 * n : 10));
      std::erase_if(batch, [&](graph::edge const& e) {
        return model.absent().contains(e.source) || model.absent().contains(e.target);
      });
      std::vector<graph::operation> what(batch.size());
      for (auto& one : what) one = random() % 3 != 0 ? graph::operation::insert : graph::operation::erase;
      std::vector<graph::vertex_id> const gone{static_cast<graph::vertex_id>(random() % model.vertices())};
      switch (random() % 12) {
        case 0: g.remove_vertices(gone), model.remove_vertices(gone); break;
        case 1: ASSERT_EQ(g.add_vertices(2), model.add_vertices(2)); break;
        case 2: g.insert(batch), model.insert(batch); break;
        case 3: g.erase(batch), model.erase(batch); break;
        case 4:
          if (random() % 3 == 0) g.clear(), model.clear();
          break;
        default: g.apply(batch, what), model.apply(batch, what, {});
      }
      ASSERT_EQ(g.to_csr(), model.to_csr());
      ASSERT_NO_FATAL_FAILURE(this->expect_right(g, labels));
    }
  }
}

// Rows of several parts, also of vertices that only have in-neighbours.
TYPED_TEST_P(incremental_labels_test, of_hubs) {
  for (bool const directed : {false, true}) {
    auto const all = this->skewed(9);
    auto g = this->make(512, all, directed);
    auto const labels = this->attached(g);
    ASSERT_NO_FATAL_FAILURE(this->expect_right(g, labels));
    std::mt19937 random(seeded(25));
    for (unsigned step = 0; step < 4; ++step) {
      auto batch = random_edges(random, 512, 200);
      for (graph::edge& e : batch) std::swap(e.source, e.target);
      std::vector<graph::operation> what(batch.size(), graph::operation::insert);
      for (unsigned i = 0; i < 200; ++i) {
        batch.push_back(all[random() % all.size()]);
        what.push_back(graph::operation::erase);
      }
      g.apply(batch, what);
      ASSERT_NO_FATAL_FAILURE(this->expect_right(g, labels));
    }
  }
  // A hub takes the label of the larger of two cliques, whose vertices are half of its neighbours.
  graph::vertex_id const k = 150;
  auto list = this->two_cliques(k);
  for (graph::vertex_id v = 0; v < 2 * k - 20; ++v) list.push_back({2 * k, v});
  auto g = this->graph_of(2 * k + std::size_t{1}, list);
  auto const labels = this->attached(g);
  EXPECT_EQ(labels.label()[2 * k], labels.label()[0]);
  EXPECT_NE(labels.label()[2 * k], labels.label()[k]);
  std::vector<graph::edge> gone;
  for (graph::vertex_id v = 0; v < 30; ++v) gone.push_back({2 * k, v});
  g.erase(gone);
  EXPECT_EQ(labels.label()[2 * k], labels.label()[k]);
}

// Labels are the same in each space, with vertices without edges, and where another part of the graph changes.
TYPED_TEST_P(incremental_labels_test, are_reproducible) {
  graph::vertex_id const n = 80;
  std::mt19937 random(seeded(26));
  auto const list = random_edges(random, n, 200);
  auto g = this->graph_of(n, list);
  auto larger = this->graph_of(2 * n, list);
  auto const labels = this->attached(g);
  auto const of_larger = this->attached(larger);
  for (unsigned step = 0; step < 5; ++step) {
    auto batch = random_edges(random, n, 20);
    g.insert(batch);
    larger.insert(batch);
    for (graph::edge& e : batch) e = {e.source + n, e.target + n};
    larger.insert(batch);
    larger.erase(batch);
    auto const got = of_larger.label();
    ASSERT_EQ(labels.label(), std::vector<graph::vertex_id>(got.begin(), got.begin() + n));
    for (graph::vertex_id v = n; v < 2 * n; ++v) ASSERT_EQ(got[v], v);
  }
  exec::any_space const cpu = exec::make_space("cpu");
  graph::any_graph on_cpu(cpu, alloc::default_name, n, {.directed = false});
  on_cpu.build(g.to_csr());
  algorithms::incremental_label_propagation const again(g.space(), g.view());
  algorithms::incremental_label_propagation const of_cpu(std::get<exec::host_space>(cpu), on_cpu.view());
  EXPECT_EQ(again.label(), of_cpu.label());
  EXPECT_EQ(again.rounds(), of_cpu.rounds());
}

// Few rounds per change: what is left is done after the next ones, whatever they change.
TYPED_TEST_P(incremental_labels_test, of_few_rounds) {
  std::mt19937 random(seeded(27));
  std::size_t const n = 100;
  auto g = this->graph_of(n, random_edges(random, n, 300));
  auto const labels = this->attached(g, 1);
  EXPECT_FALSE(labels.converged());
  EXPECT_EQ(labels.rounds(), 1u);
  g.insert(random_edges(random, n, 600));  // rows get longer
  (void)g.add_vertices(2 * n);
  g.remove_vertices({1, 2, 3});
  unsigned changes = 0;
  for (; !labels.converged() && changes < 500; ++changes) g.insert({});
  EXPECT_GT(changes, 0u);
  ASSERT_NO_FATAL_FAILURE(this->expect_right(g, labels));
  g.insert({});
  EXPECT_EQ(labels.rounds(), 0u);
}

TYPED_TEST_P(incremental_labels_test, catch_up_and_move) {
  std::mt19937 random(seeded(29));
  std::size_t const n = 80;
  auto g = this->graph_of(n, random_edges(random, n, 200));
  auto labels = this->attached(g);
  auto const then = g.snapshot();
  g.detach(labels);
  g.insert(random_edges(random, n, 100));
  g.remove_vertices({3, 4});
  (void)g.add_vertices(5);
  graph::catch_up(g.space(), labels, then.view(), g.view());
  this->expect_right(g, labels);
  auto moved = std::move(labels);
  g.attach(moved);
  g.insert(random_edges(random, n, 10));
  this->expect_right(g, moved);
  g.detach(moved);
  graph::catch_up(g.space(), moved, g.view(), then.view());
  EXPECT_EQ(moved.label().size(), n);
}

// Vertices that were still to vote are forgotten when the graph has no ids.
TYPED_TEST_P(incremental_labels_test, catch_up_to_a_moment_without_vertices) {
  std::mt19937 random(seeded(30));
  auto g = this->graph_of(0, {});
  auto const none = g.snapshot();
  (void)g.add_vertices(3);
  g.insert({{0, 1}});
  auto const few = g.snapshot();
  (void)g.add_vertices(97);
  g.insert(random_edges(random, 100, 300));
  typename TestFixture::result_type labels(g.space(), g.view(), {.max_rounds = 1});
  ASSERT_FALSE(labels.converged());
  graph::catch_up(g.space(), labels, g.view(), none.view());
  EXPECT_TRUE(labels.label().empty());
  EXPECT_TRUE(labels.converged());
  graph::catch_up(g.space(), labels, none.view(), few.view());
  EXPECT_EQ(labels.label(), (typename TestFixture::ids{0, 0, 2}));
}

TYPED_TEST_P(incremental_labels_test, of_bad_arguments_and_empty_graphs) {
  using labels_type = typename TestFixture::result_type;
  TypeParam const space = this->one_thread();
  typename TestFixture::graph_type const out_only(space, 3, {.directed = true, .in_neighbours = false});
  EXPECT_NE(refusal([&] { labels_type const l(out_only.space(), out_only.view()); }).find("in-neighbours"),
            std::string::npos);
  // A graph without ids does not tell before it has some.
  typename TestFixture::graph_type out_only_later(space, 0, {.directed = true, .in_neighbours = false});
  labels_type refused(out_only_later.space(), out_only_later.view());
  out_only_later.attach(refused);
  (void)out_only_later.add_vertices(4);
  EXPECT_NE(refusal([&] { out_only_later.insert({{0, 1}, {1, 2}}); }).find("in-neighbours"), std::string::npos);
  EXPECT_EQ(out_only_later.view().arcs(), 0u);
  auto g = this->graph_of(0, {});
  EXPECT_NE(refusal([&] { labels_type const l(g.space(), g.view(), {.max_rounds = 0}); }).find("max_rounds"),
            std::string::npos);
  auto const labels = this->attached(g);
  EXPECT_TRUE(labels.label().empty());
  EXPECT_TRUE(labels.converged());
  (void)g.add_vertices(4);
  EXPECT_EQ(labels.label(), (typename TestFixture::ids{0, 1, 2, 3}));
  g.insert({{0, 1}, {1, 2}, {2, 0}});
  ASSERT_NO_FATAL_FAILURE(this->expect_right(g, labels));
  EXPECT_EQ(labels.label()[3], 3u);
}

REGISTER_TYPED_TEST_SUITE_P(incremental_labels_test, of_known_changes, do_not_oscillate, of_random_changes, of_hubs,
                            are_reproducible, of_few_rounds, catch_up_and_move, catch_up_to_a_moment_without_vertices,
                            of_bad_arguments_and_empty_graphs);

}  // namespace wyrm::tests
