// SPDX-License-Identifier: Apache-2.0
// Graphs on a space that is bound to a client of a residency manager: together they exceed the budget, and what they
// contain and compute is that of a graph in plain memory.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "../../algorithms/pagerank.hpp"
#include "../../algorithms/triangles.hpp"
#include "../../alloc/ouroboros/ouroboros.hpp"
#include "../../alloc/residency/manager.hpp"
#include "../../graph/dynamic_graph.hpp"
#include "../support/seed.hpp"
#include "../support/spaces.hpp"

namespace wyrm::tests {

namespace residency = alloc::residency;

template <class Space>
class resident_graphs : public space_fixture<Space> {
 protected:
  using resident_graph = graph::dynamic_graph<Space, alloc::ouroboros_va_p<Space>>;
  using edges = std::set<std::pair<graph::vertex_id, graph::vertex_id>>;
  static constexpr graph::vertex_id vertices = 300;

  [[nodiscard]] std::size_t block() const { return this->space().granularity(); }
  [[nodiscard]] residency::options options_of(std::shared_ptr<residency::budget> budget) const {
    residency::options o;
    o.budget = std::move(budget);
    o.block_bytes = block();
    o.pooled_host_bytes = 0;
    o.checked = true;  // what touches a block outside of a launch ends the program
    return o;
  }
  // The pool has 2 MiB, and no more than 64.
  [[nodiscard]] static graph::options small() {
    graph::options o;
    o.pool.pool_bytes = std::size_t{2} << 20;
    o.pool.reserve_bytes = std::size_t{64} << 20;
    o.max_vertices = vertices;
    o.hash_seed = 1;
    return o;
  }
  [[nodiscard]] static std::vector<graph::edge> random_batch(std::mt19937_64& random, std::size_t n) {
    std::vector<graph::edge> batch(n);
    for (graph::edge& e : batch)
      e = {static_cast<graph::vertex_id>(random() % vertices), static_cast<graph::vertex_id>(random() % vertices)};
    return batch;
  }
  static void apply(edges& model, std::vector<graph::edge> const& batch, bool inserts) {
    for (graph::edge const& e : batch) {
      if (e.source == e.target) continue;
      for (auto const& arc : {std::pair(e.source, e.target), std::pair(e.target, e.source)})
        inserts ? (void)model.insert(arc) : (void)model.erase(arc);
    }
  }
  static void expect_equal(resident_graph const& g, edges const& model) {
    graph::csr const found = g.to_csr();
    ASSERT_EQ(found.targets.size(), model.size());
    auto expected = model.begin();
    for (graph::vertex_id v = 0; v < vertices; ++v)
      for (std::uint64_t i = found.offsets[v]; i < found.offsets[v + 1]; ++i, ++expected)
        ASSERT_EQ(*expected, std::pair(v, found.targets[i]));
  }
};
TYPED_TEST_SUITE_P(resident_graphs);

// Each of three clients has a graph of 2 MiB and more, and the budget is the arrays of all and few blocks.
TYPED_TEST_P(resident_graphs, equal_graphs_in_plain_memory) {
  using test = resident_graphs<TypeParam>;
  auto const budget = std::make_shared<residency::fixed_budget>((std::size_t{5} << 20) + 2 * this->block());
  {
    residency::manager<TypeParam> manager(this->space(), this->options_of(budget));
    struct owner {
      residency::client<TypeParam> client;
      std::optional<typename test::resident_graph> graph;
      typename test::edges model;
    };
    std::vector<owner> owners;
    std::vector<typename test::resident_graph> plain;
    for (int i = 0; i < 3; ++i) {
      owners.push_back({manager.make_client({"graph " + std::to_string(i)}), {}, {}});
      owners.back().graph.emplace(owners.back().client.space(), test::vertices, test::small());
      plain.emplace_back(this->space(), test::vertices, test::small());
    }
    std::mt19937_64 random(seeded(1));
    for (std::size_t round = 0; round < scaled(30, 6); ++round) {
      std::size_t const i = random() % owners.size();
      owner& o = owners[i];
      auto const batch = test::random_batch(random, 1 + random() % 2000);
      bool const inserts = random() % 3 > 0;
      graph::update_report const report = inserts ? o.graph->insert(batch) : o.graph->erase(batch);
      graph::update_report const expected = inserts ? plain[i].insert(batch) : plain[i].erase(batch);
      EXPECT_EQ(report.inserted, expected.inserted);
      EXPECT_EQ(report.erased, expected.erased);
      test::apply(o.model, batch, inserts);
      test::expect_equal(*o.graph, o.model);
      EXPECT_LE(budget->taken(), budget->limit());
      if (round % 5 == 4) {
        o.graph->check();
        EXPECT_EQ(algorithms::pagerank(o.client.space(), o.graph->view()).rank,
                  algorithms::pagerank(this->space(), plain[i].view()).rank);
        if (round % 10 == 9) o.graph->compact();
      }
    }
    residency::statistics const all = manager.counters();
    EXPECT_GT(all.clean_evictions + all.dirty_evictions, 0u);
    EXPECT_GT(all.reloaded_bytes, 0u);
  }
  EXPECT_EQ(budget->taken(), 0u);
}

// Blocks that do not fit are used in place; arrays that do not fit are refused, and nothing is changed.
TYPED_TEST_P(resident_graphs, work_with_little_memory) {
  using test = resident_graphs<TypeParam>;
  auto const budget = std::make_shared<residency::fixed_budget>(std::size_t{2} << 20);
  residency::manager<TypeParam> manager(this->space(), this->options_of(budget));
  auto client = manager.make_client({"graph"});
  typename test::resident_graph g(client.space(), test::vertices, test::small());
  typename test::edges model;
  std::mt19937_64 random(seeded(2));
  auto const batch = test::random_batch(random, 1000);
  g.insert(batch);
  test::apply(model, batch, true);
  test::expect_equal(g, model);
  EXPECT_GT(client.counters().staged_bytes, 0u);
  try {
    g.insert(test::random_batch(random, 1000000));
    FAIL() << "scratch of more than the budget was allocated";
  } catch (error const& e) {
    EXPECT_EQ(e.code(), error_code::out_of_memory);
    EXPECT_NE(std::string(e.what()).find("budget"), std::string::npos) << e.what();
  }
  test::expect_equal(g, model);
  g.erase(batch);
  EXPECT_EQ(g.edges(), 0u);
  g.check();
}

// The arrays of PageRank do not fit into the budget together with the list of rows, most of which is in host memory.
TYPED_TEST_P(resident_graphs, ranks_with_little_memory) {
  using test = resident_graphs<TypeParam>;
  std::size_t const n = 4 * this->block() / sizeof(algorithms::detail::binned_row) + 3;
  graph::options o = test::small();
  o.max_vertices = n;
  o.pool.checked = false;  // records of live blocks would be a MiB of arrays
  std::mt19937_64 random(seeded(3));
  std::vector<graph::edge> batch(1000);  // whose scratch is small beside the arrays of PageRank
  for (graph::edge& e : batch)
    e = {static_cast<graph::vertex_id>(random() % 60), static_cast<graph::vertex_id>(random() % n)};
  typename test::resident_graph plain(this->space(), n, o);
  plain.insert(batch);
  algorithms::pagerank_options const few{.max_iterations = 5};
  auto const expected = algorithms::pagerank(this->space(), plain.view(), few).rank;

  auto const budget = std::make_shared<residency::fixed_budget>(34 * n + (std::size_t{480} << 10));
  {
    residency::manager<TypeParam> manager(this->space(), this->options_of(budget));
    auto client = manager.make_client({"graph"});
    typename test::resident_graph g(client.space(), n, o);
    g.insert(batch);
    EXPECT_EQ(algorithms::pagerank(client.space(), g.view(), few).rank, expected);
    EXPECT_GT(client.counters().staged_bytes, 0u);
    g.check();
  }
  EXPECT_EQ(budget->taken(), 0u);
}

// The oriented rows do not fit into the budget, beside what else triangles need.
TYPED_TEST_P(resident_graphs, triangles_with_little_memory) {
  using test = resident_graphs<TypeParam>;
  std::size_t const entries = 5 * this->block() / sizeof(graph::vertex_id);
  auto const n = static_cast<graph::vertex_id>(2 * std::sqrt(static_cast<double>(entries)));
  graph::options o = test::small();
  o.max_vertices = n;
  o.pool.checked = false;
  std::mt19937_64 random(seeded(4));
  auto const vertex = [&] {  // small ids have more neighbours
    double const x = static_cast<double>(random() >> 11) * 0x1p-53;
    return static_cast<graph::vertex_id>(n * x * std::sqrt(x));
  };
  typename test::resident_graph plain(this->space(), n, o);
  std::vector<std::vector<graph::edge>> batches(160);
  for (auto& batch : batches) {
    for (std::size_t i = 0; i < entries / 128; ++i) batch.push_back({vertex(), vertex()});
    plain.insert(batch);
  }
  EXPECT_GT(plain.edges(), entries * 4 / 5);  // a range of four blocks and more
  auto const expected = algorithms::triangles(this->space(), plain.view(), {.per_vertex = true});
  residency::manager<TypeParam> manager(this->space(),
                                        this->options_of(std::make_shared<residency::fixed_budget>(6 * this->block())));
  auto client = manager.make_client({"graph"});
  typename test::resident_graph g(client.space(), n, o);
  for (auto const& batch : batches) g.insert(batch);
  auto const found = algorithms::triangles(client.space(), g.view(), {.per_vertex = true});
  EXPECT_EQ(found.total, expected.total);
  EXPECT_EQ(found.per_vertex, expected.per_vertex);
}

REGISTER_TYPED_TEST_SUITE_P(resident_graphs, equal_graphs_in_plain_memory, work_with_little_memory,
                            ranks_with_little_memory, triangles_with_little_memory);

}  // namespace wyrm::tests
