// SPDX-License-Identifier: Apache-2.0
// The tests of dynamic_graph, for any space and allocator: against a model of std::set, and for every promise that the
// container makes. The files that include this say for which graphs.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "../../graph/dynamic_graph.hpp"
#include "../support/spaces.hpp"
#include "failures.hpp"
#include "model.hpp"

namespace wyrm::tests {

template <class S, template <class> class A>
struct graph_case {
  using space = S;
  using graph_type = graph::dynamic_graph<S, A<S>>;
  static constexpr bool reclaims = A<S>::family.reclaims;
};

template <class Case>
class dynamic_graph_test : public testing::Test {
 protected:
  using graph_type = typename Case::graph_type;
  using space_type = typename Case::space;

  void SetUp() override {
    if (!available<space_type>()) GTEST_SKIP() << "there is no device for the space '" << space_type::name << "'";
  }

  static constexpr std::size_t pool = std::size_t{1} << 20;
  graph_type make(std::size_t vertices, graph::options o = {}) {
    o.pool.checked = true;
    if (o.pool.pool_bytes == alloc::options{}.pool_bytes) o.pool.pool_bytes = pool;
    if (o.pool.reserve_bytes == 0) o.pool.reserve_bytes = std::size_t{1} << 30;
    return graph_type(make_space<space_type>(), vertices, o);
  }
  static graph::vertex_record const* in_records(graph_type const& g) { return g.view().in_records(); }
  static graph::vertex_id const* page_of(graph_type const& g, std::size_t v) {
    return exec::read(g.space(), g.view().out_records() + v).page;
  }
  static std::vector<graph::edge> edges_of(graph::csr const& c) {
    std::vector<graph::edge> edges;
    for (graph::vertex_id v = 0; v + 1 < c.offsets.size(); ++v)
      for (std::uint64_t i = c.offsets[v]; i < c.offsets[v + 1]; ++i) edges.push_back({v, c.targets[i]});
    return edges;
  }
};

TYPED_TEST_SUITE_P(dynamic_graph_test);

inline void expect_equal(graph::update_report const& got, graph::update_report const& want) {
  EXPECT_EQ(got.requested, want.requested);
  EXPECT_EQ(got.inserted, want.inserted);
  EXPECT_EQ(got.erased, want.erased);
  EXPECT_EQ(got.duplicates, want.duplicates);
  EXPECT_EQ(got.missing, want.missing);
  EXPECT_EQ(got.self_loops, want.self_loops);
}

template <class Graph>
std::string damage(Graph const& g) {
  try {
    g.check();
    return "";
  } catch (error const& e) {
    return e.what();
  }
}

// Random batches against the model; after each the report, now and then everything else.
template <class Graph>
void churn(Graph& g, std::size_t rounds, std::size_t vertices, std::size_t largest_batch, unsigned seed) {
  graph_model model(vertices, g.settings().directed, g.settings().self_loops);
  std::mt19937 random(seed);
  for (std::size_t round = 0; round < rounds; ++round) {
    auto const batch = random_edges(random, vertices, random() % (largest_batch + 1));
    // Long runs of growth and of decline, so that pages change class in both directions.
    bool const insert = random() % 8 < (round / 16 % 2 == 0 ? 6 : 2);
    expect_equal(insert ? g.insert(batch) : g.erase(batch), insert ? model.insert(batch) : model.erase(batch));
    if (round % 16 == 0 || round + 1 == rounds) {
      ASSERT_EQ(g.to_csr(), model.to_csr()) << "after round " << round << " of seed " << seed;
      ASSERT_EQ(damage(g), "") << "after round " << round << " of seed " << seed;
      EXPECT_EQ(g.arcs(), model.to_csr().targets.size());
    }
    if (testing::Test::HasFailure()) FAIL() << "in round " << round << " of seed " << seed;
  }
}

TYPED_TEST_P(dynamic_graph_test, agrees_with_the_model_undirected) {
  auto g = this->make(60);
  churn(g, scaled(2000), 60, 80, 1);
}

TYPED_TEST_P(dynamic_graph_test, agrees_with_the_model_directed) {
  auto g = this->make(60, {.directed = true});
  churn(g, scaled(2000), 60, 80, 2);
}

TYPED_TEST_P(dynamic_graph_test, agrees_with_the_model_with_self_loops) {
  auto undirected = this->make(20, {.self_loops = true});
  churn(undirected, scaled(500), 20, 60, 3);
  auto directed = this->make(20, {.directed = true, .in_neighbours = false, .self_loops = true});
  churn(directed, scaled(500), 20, 60, 4);
}

TYPED_TEST_P(dynamic_graph_test, agrees_with_the_model_large_batches) {
  auto g = this->make(3000);
  churn(g, scaled(60), 3000, 20000, 5);
}

TYPED_TEST_P(dynamic_graph_test, keeps_in_neighbours) {
  using graph::edge;
  auto g = this->make(4, {.directed = true});
  g.insert(std::vector<edge>{{0, 1}, {2, 1}, {3, 1}, {1, 0}});
  g.erase(std::vector<edge>{{2, 1}});
  auto const in = graph::detail::export_csr(g.space(), this->in_records(g), 4);
  EXPECT_EQ(in, (graph::csr{{0, 1, 3, 3, 3}, {1, 0, 3}}));
  EXPECT_EQ(g.edges(), 3u);
}

TYPED_TEST_P(dynamic_graph_test, empty_and_trivial) {
  using graph::edge;
  auto none = this->make(0);
  expect_equal(none.insert({}), {});
  EXPECT_EQ(none.to_csr(), (graph::csr{{0}, {}}));
  EXPECT_THROW(none.insert(std::vector<edge>{{0, 0}}), error);

  auto one = this->make(1);
  expect_equal(one.insert(std::vector<edge>{{0, 0}}), {.requested = 1, .self_loops = 1});
  EXPECT_EQ(one.to_csr(), (graph::csr{{0, 0}, {}}));

  auto two = this->make(2);
  expect_equal(two.insert(std::vector<edge>{{1, 0}}), {.requested = 1, .inserted = 1});
  EXPECT_EQ(two.to_csr(), (graph::csr{{0, 1, 2}, {1, 0}}));
  EXPECT_EQ(two.edges(), 1u);
  EXPECT_EQ(two.arcs(), 2u);
  two.clear();
  EXPECT_EQ(two.arcs(), 0u);
  EXPECT_EQ(two.to_csr(), (graph::csr{{0, 0, 0}, {}}));
  EXPECT_EQ(damage(two), "");
}

// A star whose centre has 100,000 neighbours, made and unmade in slices.
TYPED_TEST_P(dynamic_graph_test, a_hub) {
  std::size_t const leaves = scaled(100000);
  auto g = this->make(leaves + 1);
  std::vector<graph::edge> star(leaves);
  for (graph::vertex_id i = 0; i < leaves; ++i) star[i] = i % 2 ? graph::edge{0, i + 1} : graph::edge{i + 1, 0};
  std::shuffle(star.begin(), star.end(), std::mt19937(7));
  for (std::size_t part = 0; part < 4; ++part) {
    std::span const slice(star.begin() + static_cast<std::ptrdiff_t>(leaves * part / 4),
                          star.begin() + static_cast<std::ptrdiff_t>(leaves * (part + 1) / 4));
    expect_equal(g.insert(slice), {.requested = slice.size(), .inserted = slice.size()});
  }
  ASSERT_EQ(damage(g), "");
  graph::csr const c = g.to_csr();
  std::vector<graph::vertex_id> all(leaves);
  std::iota(all.begin(), all.end(), 1u);
  EXPECT_TRUE(std::equal(all.begin(), all.end(), c.targets.begin()));
  EXPECT_EQ(c.offsets[1], leaves);

  // All but every tenth leaf go; the page of the centre follows.
  std::vector<graph::edge> some;
  for (graph::vertex_id i = 1; i <= leaves; ++i)
    if (i % 10 != 0) some.push_back({i, 0});
  expect_equal(g.erase(some), {.requested = some.size(), .erased = some.size()});
  EXPECT_EQ(g.to_csr().offsets[1], leaves / 10);
  EXPECT_EQ(damage(g), "");
  EXPECT_LE(g.memory().slack, std::size_t{64} << 10 | leaves * 16);
  expect_equal(g.erase(star), {.requested = leaves, .erased = leaves / 10, .missing = leaves - leaves / 10});
  EXPECT_EQ(g.memory().neighbours + g.memory().slack, 0u);
  EXPECT_EQ(damage(g), "");
}

TYPED_TEST_P(dynamic_graph_test, insert_then_erase_restores_it) {
  std::size_t const n = 500;
  auto g = this->make(n);
  std::mt19937 random(11);
  auto const start = random_edges(random, n, 3000);
  g.insert(start);
  graph::csr const before = g.to_csr();
  auto const there = [&](graph::edge e) {
    auto const row = before.targets.begin();
    return std::binary_search(row + static_cast<std::ptrdiff_t>(before.offsets[e.source]),
                              row + static_cast<std::ptrdiff_t>(before.offsets[e.source + 1]), e.target);
  };
  for (int round = 0; round < 5; ++round) {
    auto const batch = random_edges(random, n, 5000);
    std::vector<graph::edge> fresh;
    std::copy_if(batch.begin(), batch.end(), std::back_inserter(fresh), [&](graph::edge e) { return !there(e); });
    g.insert(batch);
    EXPECT_NE(g.to_csr(), before);
    g.erase(fresh);
    ASSERT_EQ(g.to_csr(), before);
    ASSERT_EQ(damage(g), "");
  }
}

TYPED_TEST_P(dynamic_graph_test, an_id_out_of_range_changes_nothing) {
  using graph::edge;
  for (bool const directed : {false, true}) {
    auto g = this->make(10, {.directed = directed});
    g.insert(std::vector<edge>{{0, 1}, {2, 3}});
    graph::csr const before = g.to_csr();
    std::vector<edge> const bad{{4, 5}, {6, 7}, {3, 10}, {0xffffffff, 1}};
    for (int erase = 0; erase < 2; ++erase) {
      try {
        (void)(erase ? g.erase(bad) : g.insert(bad));
        FAIL() << "no error";
      } catch (error const& e) {
        EXPECT_EQ(e.code(), error_code::bad_argument);
        EXPECT_NE(std::string(e.what()).find("edge 2 of the batch is (3, 10)"), std::string::npos) << e.what();
      }
      EXPECT_EQ(g.to_csr(), before);
      EXPECT_EQ(damage(g), "");
    }
    expect_equal(g.insert(std::vector<edge>{{4, 5}}), {.requested = 1, .inserted = 1});
  }
}

// The pool may not grow enough: the batch fails as a whole, however far it got; afterwards the graph works on.
TYPED_TEST_P(dynamic_graph_test, out_of_memory_changes_nothing) {
  for (bool const directed : {false, true}) {
    std::size_t const n = 4000;
    graph::options o{.directed = directed};
    o.pool.pool_bytes = std::size_t{2} << 20;
    o.pool.reserve_bytes = std::size_t{4} << 20;
    auto g = this->make(n, o);
    std::mt19937 random(13);
    g.insert(random_edges(random, n, 5000));
    graph::csr const before = g.to_csr();
    std::size_t const used = g.memory().neighbours + g.memory().slack;
    auto const too_much = random_edges(random, n, 1000000);
    try {
      g.insert(too_much);
      FAIL() << "the batch fits";
    } catch (error const& e) {
      EXPECT_EQ(e.code(), error_code::out_of_memory);
      EXPECT_NE(std::string(e.what()).find("nothing was changed"), std::string::npos) << e.what();
    }
    ASSERT_EQ(g.to_csr(), before);
    ASSERT_EQ(damage(g), "");
    EXPECT_EQ(g.memory().neighbours + g.memory().slack, used);
    if (!TypeParam::reclaims) continue;  // what the failed batch took is gone, so that nothing fits any more
    auto const little = random_edges(random, n, 100);
    graph_model model(n, directed, false);
    model.insert(this->edges_of(before));
    expect_equal(g.insert(little), model.insert(little));
    ASSERT_EQ(g.to_csr(), model.to_csr());
  }
}

TYPED_TEST_P(dynamic_graph_test, every_allocation_may_fail) {
  for (bool const directed : {false, true}) {
    SCOPED_TRACE(directed ? "directed" : "undirected");
    auto g = this->make(30, {.directed = directed});
    expect_failures_change_nothing(g, TypeParam::reclaims);
  }
}

// Nothing leaks: what the pages hold is what the allocator says is in use, and it all comes back.
TYPED_TEST_P(dynamic_graph_test, memory_adds_up) {
  std::size_t const n = 1000;
  auto g = this->make(n);
  std::mt19937 random(17);
  for (int round = 0; round < 10; ++round) {
    g.insert(random_edges(random, n, 4000));
    g.erase(random_edges(random, n, 2000));
    graph::memory_report const m = g.memory();
    EXPECT_EQ(m.neighbours, g.arcs() * 4);
    EXPECT_EQ(m.neighbours + m.slack + m.pool_free, m.pool_committed);
    EXPECT_EQ(m.vertex_table, n * 16);
    EXPECT_LE(m.pool_committed, m.pool_reserved);
    if (TypeParam::reclaims) {
      EXPECT_GE(g.allocator().stats().granted, m.neighbours + m.slack);
    }
  }
  g.clear();
  EXPECT_EQ(g.arcs(), 0u);
  EXPECT_EQ(g.memory().neighbours + g.memory().slack, 0u);
  if (TypeParam::reclaims) {
    EXPECT_EQ(g.allocator().stats().granted, 0u);
  }
  EXPECT_EQ(g.allocator().stats().bad_frees, 0u);
}

// A vertex whose degree goes up and down around a page boundary keeps its page.
TYPED_TEST_P(dynamic_graph_test, pages_have_hysteresis) {
  using graph::edge;
  auto g = this->make(64, {.directed = true, .in_neighbours = false});
  std::vector<edge> row;
  for (graph::vertex_id i = 1; i <= 16; ++i) row.push_back({0, i});
  g.insert(row);
  auto const page = this->page_of(g, 0);
  std::vector<edge> const one{{0, 17}};
  g.insert(one);  // 17 neighbours: the next class
  auto const larger = this->page_of(g, 0);
  EXPECT_NE(larger, page);
  for (int i = 0; i < 5; ++i) {
    g.erase(one);
    EXPECT_EQ(this->page_of(g, 0), larger);
    g.insert(one);
    EXPECT_EQ(this->page_of(g, 0), larger);
  }
  row.resize(8);
  g.erase(row);  // 9 left of 32
  EXPECT_EQ(this->page_of(g, 0), larger);
  g.erase(one);  // 8 left of 32: a page for 8
  EXPECT_NE(this->page_of(g, 0), larger);
  EXPECT_EQ(g.memory().neighbours, 8u * 4);
  EXPECT_EQ(g.memory().slack, 0u);
}

REGISTER_TYPED_TEST_SUITE_P(dynamic_graph_test, agrees_with_the_model_undirected, agrees_with_the_model_directed,
                            agrees_with_the_model_with_self_loops, agrees_with_the_model_large_batches,
                            keeps_in_neighbours, empty_and_trivial, a_hub, insert_then_erase_restores_it,
                            an_id_out_of_range_changes_nothing, out_of_memory_changes_nothing,
                            every_allocation_may_fail, memory_adds_up, pages_have_hysteresis);

}  // namespace wyrm::tests
