// SPDX-License-Identifier: Apache-2.0
// The tests of maintained PageRank with weights, and of its personalised form, for any space: known values, and the
// serial verifier after batches that change values, edges and vertices.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../../algorithms/incremental_pagerank.hpp"
#include "../../datasets/generators.hpp"
#include "../../exec/injected_failure.hpp"
#include "../../exec/launch.hpp"
#include "../../graph/catch_up.hpp"
#include "../../graph/inspect/export.hpp"
#include "../graph/model.hpp"
#include "../support/graph_on.hpp"
#include "../support/refusal.hpp"
#include "../support/seed.hpp"
#include "../support/verify.hpp"
#include "graphs_fixture.hpp"
#include "weighted_graphs.hpp"

namespace wyrm::tests {

template <class Space>
class changing_ranks_test : public graphs_test<Space> {
 protected:
  using options = algorithms::incremental_pagerank_options;
  using sources = std::vector<algorithms::weighted_source>;
  using ids = std::vector<graph::vertex_id>;
  using doubles = std::vector<double>;
  using edges = std::vector<graph::edge>;
  template <class Value>
  using graph_of = graph_on<Space, Value>;

  template <class Value>
  static graph_of<Value> empty_graph(std::size_t n, graph::options o) {
    o.pool = {.pool_bytes = std::size_t{1} << 20, .reserve_bytes = std::size_t{1} << 28, .checked = true};
    return graph_of<Value>(graphs_test<Space>::one_thread(), n, o);
  }
  template <class Value>
  static std::vector<Value> random_values(std::mt19937& random, std::size_t n) {
    std::vector<Value> values(n);
    for (Value& v : values) v = static_cast<Value>(random() % 6 == 0 ? 0 : random() % 40);
    return values;
  }
  template <class Value>
  static void insert(graph_of<Value>& g, edges const& batch, std::vector<Value> const& values) {
    g.insert(std::span<graph::edge const>(batch), std::span<Value const>(values));
  }
  /// Compares with the verifier for the graph that a view shows.
  template <class Value>
  static void expect_right(algorithms::incremental_pagerank<Space> const& ranks, graph_of<Value> const& g,
                           graph::graph_view const& view, options const& o, ids const& gone = {}) {
    std::size_t const n = view.vertices();
    auto const records = exec::copy_out(g.space(), view.out_records(), n);
    doubles jumps(n);
    double all = 0;
    for (std::size_t v = 0; v < n; ++v)
      if (o.sources.empty() && !records[v].is_absent()) all += jumps[v] = 1;
    for (auto const& [v, weight] : o.sources)
      if (std::ranges::find(gone, v) == gone.end()) {
        jumps[v] += weight;
        all += weight;
      }
    for (double& j : jumps) j /= all;
    std::vector<float> weights;
    if (o.weighted)
      for (Value const v :
           graph::detail::export_all_values<Value>(g.space(), view.out_records(), view.vertices(), view.arcs()))
        weights.push_back(static_cast<float>(v));
    auto const rows = graph::detail::export_csr(g.space(), view.out_records(), view.vertices());
    // The verifier takes no weights for weights of 1.
    auto const want = serial_pagerank(rows, o.damping, jumps, true, weights);
    auto const got = ranks.rank();
    ASSERT_EQ(got.size(), n);
    double distance = 0;
    for (std::size_t v = 0; v < n; ++v) distance += std::abs(got[v] - want[v]);
    EXPECT_TRUE(ranks.converged());
    EXPECT_LE(distance, ranks.error_bound() + 10 * serial_pagerank_error(o.damping));
    EXPECT_LE(ranks.error_bound(), o.damping / (1 - o.damping) * o.tolerance + 1e-14);
  }
  /// Random batches of each kind.
  template <class Value>
  static void follow(graph::options const& settings, options const& o, std::uint64_t seed) {
    std::mt19937 random(seeded(seed));
    std::size_t const n = changing_ranks_test::sized(150, 40);
    auto g = empty_graph<Value>(n, settings);
    auto const first = random_edges(random, n, 3 * n);
    insert(g, first, random_values<Value>(random, first.size()));
    algorithms::incremental_pagerank<Space> ranks(g.space(), g.view(), o);
    expect_right(ranks, g, g.view(), o);
    g.attach(ranks);
    std::size_t const rounds = changing_ranks_test::sized(24, 12);
    for (std::size_t round = 0; round < rounds; ++round) {
      SCOPED_TRACE(round);
      auto batch = random_edges(random, n, round % 3 == 0 ? 3 : 40);
      if (round % 2 == 0)  // values of edges that are there
        for (graph::edge& e : batch)
          if (random() % 4 != 0) e = first[random() % first.size()];
      auto const values = random_values<Value>(random, batch.size());
      std::vector<graph::operation> what(batch.size(), graph::operation::insert);
      for (graph::operation& w : what)
        if (random() % 3 == 0) w = graph::operation::erase;
      if (round % 6 == 5)
        g.erase(batch);
      else if (round % 3 == 1)
        g.apply(std::span<graph::edge const>(batch), what, std::span<Value const>(values));
      else
        insert(g, batch, values);
      if (round % 4 == 3) expect_right(ranks, g, g.view(), o);
      if (testing::Test::HasFailure()) return;
    }
  }
};

TYPED_TEST_SUITE_P(changing_ranks_test);

// The values of NetworkX 3.6.1 are those of weighted_pagerank_test, published_values; the others are fractions.
TYPED_TEST_P(changing_ranks_test, known_ranks) {
  using values = std::vector<float>;
  graph::options const directed{.directed = true};
  auto arcs = this->template empty_graph<float>(6, directed);
  std::vector<graph::edge> const list{{0, 1}, {0, 2}, {1, 2}, {1, 4}, {2, 0}, {2, 3}, {3, 4}, {4, 0}, {4, 3}};
  this->insert(arcs, list, values{1, 0, 8, 1, 0, 1, 9, 7, 7});
  algorithms::incremental_pagerank published(arcs.space(), arcs.view(), {.tolerance = 1e-12, .weighted = true});
  arcs.attach(published);
  this->insert(arcs, list, values{2, 0.5f, 3, 0, 1, 0.25f, 0, 7, 1});
  std::vector<double> const want{0.27920276136112,  0.235560907232481,  0.29339427008592,
                                 0.100436002306638, 0.0457030295069207, 0.0457030295069207};
  for (std::size_t v = 0; v < want.size(); ++v) EXPECT_NEAR(published.rank()[v], want[v], 1e-11) << v;

  auto fork = this->template empty_graph<float>(4, directed);
  this->insert(fork, {{0, 1}, {0, 2}}, values{1, 3});
  algorithms::incremental_pagerank ranks(fork.space(), fork.view(),
                                         {.damping = 0.5, .tolerance = 1e-12, .weighted = true, .sources = {{0, 5}}});
  fork.attach(ranks);
  auto const expect = [&](std::vector<double> const& all) {
    for (std::size_t v = 0; v < all.size(); ++v) EXPECT_NEAR(ranks.rank()[v], all[v], 1e-11) << v;
  };
  expect({2.0 / 3, 1.0 / 12, 1.0 / 4, 0});
  this->insert(fork, {{0, 1}}, values{3});
  expect({2.0 / 3, 1.0 / 6, 1.0 / 6, 0});
  this->insert(fork, {{0, 1}}, values{0});
  expect({2.0 / 3, 0, 1.0 / 3, 0});
  this->insert(fork, {{0, 2}}, values{0});  // 0 is dangling, and jumps to itself
  expect({1, 0, 0, 0});
  this->insert(fork, {{0, 3}}, values{1e-30f});
  expect({2.0 / 3, 0, 0, 1.0 / 3});
  fork.erase(std::vector<graph::edge>{{0, 3}});
  expect({1, 0, 0, 0});
}

TYPED_TEST_P(changing_ranks_test, weighted_ranks_follow_all_types_of_values) {
  typename TestFixture::options const o{.damping = 0.5, .tolerance = 1e-9, .weighted = true};
  this->template follow<std::uint32_t>({.directed = true}, o, 1);
  this->template follow<std::int64_t>({.self_loops = true}, o, 2);
  this->template follow<float>({.directed = true, .in_neighbours = false}, o, 3);
  this->template follow<double>({.directed = true, .self_loops = true}, o, 4);
  this->template follow<double>({.combine = graph::combiner::sum}, o, 5);
}

// full_run: pushes only, or all vertices at once.
TYPED_TEST_P(changing_ranks_test, ranks_follow_all_options) {
  using options = typename TestFixture::options;
  typename TestFixture::sources const some{{3, 1}, {0, 2.5}, {7, 0}, {3, 0.5}, {11, 1e-3}};
  for (double const full_run : {0.0, 0.05, 1e9}) {
    SCOPED_TRACE(full_run);
    options const weighted{.tolerance = 1e-7, .full_run = full_run, .weighted = true};
    this->template follow<float>({}, weighted, 10);
    options const sources{.damping = 0.5, .tolerance = 1e-10, .full_run = full_run, .sources = some};
    this->template follow<float>({.directed = true}, sources, 11);
    options const both{.damping = 0.6, .tolerance = 1e-9, .full_run = full_run, .weighted = true, .sources = some};
    this->template follow<double>({.directed = true}, both, 12);
    this->template follow<double>({}, both, 13);
  }
}

// Rows of several parts, whose totals are sums of sums.
TYPED_TEST_P(changing_ranks_test, weights_of_hubs_change) {
  using options = typename TestFixture::options;
  std::size_t const n = this->sized(12'000, 900);
  for (bool const directed : {false, true}) {
    auto g = this->template empty_graph<float>(n, {.directed = directed});
    std::mt19937 random(seeded(20));
    std::vector<graph::edge> star;
    for (graph::vertex_id v = 1; v < n; ++v) star.push_back({0, v});
    for (graph::vertex_id v = 1; v < n; ++v) star.push_back({v, 0});
    this->insert(g, star, this->template random_values<float>(random, star.size()));
    // Only pushes: a full run would hide their errors.
    options const o{.damping = 0.5, .tolerance = 1e-9, .full_run = 1e9, .weighted = true};
    algorithms::incremental_pagerank ranks(g.space(), g.view(), o);
    g.attach(ranks);
    for (unsigned round = 0; round < 3; ++round) {
      this->insert(g, {star[1 + round], star[n + round]}, {1000.f, 3.f});
      ASSERT_NO_FATAL_FAILURE(this->expect_right(ranks, g, g.view(), o));
    }
  }
}

TYPED_TEST_P(changing_ranks_test, small_changes_of_values_cost_little) {
  auto const n = static_cast<graph::vertex_id>(this->sized(20'000, 2'000));
  auto g = this->template empty_graph<double>(n, {});
  std::vector<graph::edge> ring;
  for (graph::vertex_id v = 0; v < n; ++v) ring.push_back({v, (v + 1) % n});
  this->insert(g, ring, std::vector<double>(n, 2.0));
  // A change of one value moves about a rank, 1/n.
  algorithms::incremental_pagerank ranks(g.space(), g.view(),
                                         {.tolerance = 0.01 / n, .full_run = 1e9, .weighted = true});
  g.attach(ranks);
  this->insert(g, {{7, 8}}, {2.0});  // which it has
  EXPECT_EQ(ranks.ranked(), 0u);
  this->insert(g, {{7, 8}}, {4.0});
  EXPECT_GT(ranks.ranked(), 10u);
  EXPECT_LT(ranks.ranked(), 1'000u);
  EXPECT_LT(ranks.rank()[6], 1.0 / n);
  EXPECT_GT(ranks.rank()[8], 1.0 / n);
  EXPECT_TRUE(ranks.converged());
}

// In a random graph everything is near: with the least limits, small residuals of most vertices would be pushed.
TYPED_TEST_P(changing_ranks_test, small_changes_of_large_graphs_are_pushed_nearby) {
  std::size_t const n = 30'000;
  std::mt19937 random(71);  // a fixed graph, as the number of pushes depends on it
  auto g = this->template empty_graph<float>(n, {});
  auto const edges = random_edges(random, n, 3 * n);
  this->insert(g, edges, std::vector<float>(edges.size(), 1.0f));
  typename TestFixture::options const o{.tolerance = 3.0 / n, .full_run = 1e9, .weighted = true};
  algorithms::incremental_pagerank ranks(g.space(), g.view(), o);
  g.attach(ranks);
  std::uint64_t pushed = 0;
  for (unsigned i = 0; i < 5; ++i) {
    this->insert(g, {edges[1'000 * i]}, {5.0f});
    pushed += ranks.ranked();
  }
  EXPECT_GT(pushed, 5u);
  EXPECT_LT(pushed, 40'000u);  // more than 60,000 with the least limits
  ASSERT_NO_FATAL_FAILURE(this->expect_right(ranks, g, g.view(), o));
  g.erase(std::vector<graph::edge>(edges.begin(), edges.begin() + 100));
  ASSERT_NO_FATAL_FAILURE(this->expect_right(ranks, g, g.view(), o));
}

// An edge comes and goes in a graph with hubs, and changes most ranks by little: corrections of few steps are enough,
// and do not compute the ranks anew, which takes 60.
TYPED_TEST_P(changing_ranks_test, small_corrections_keep_the_ranks) {
  graph::vertex_id const n = 1 << 12;
  datasets::rmat_edges const edge{12, 5};
  std::vector<graph::edge> edges;
  for (std::uint64_t i = 0; i < 16 * n; ++i) edges.push_back(edge(i));
  auto g = this->template empty_graph<float>(n, {});
  this->insert(g, edges, std::vector<float>(edges.size(), 1.0f));
  typename TestFixture::options const o{.tolerance = 8.14e-5};
  algorithms::incremental_pagerank ranks(g.space(), g.view(), o);
  g.attach(ranks);
  std::mt19937 random(36);
  graph::vertex_id const from = random() % n;
  std::vector<graph::edge> const one{{from, static_cast<graph::vertex_id>(random() % n)}};
  for (unsigned i = 0; i < 8; ++i) {
    if (i % 2 == 0)
      this->insert(g, one, {1.0f});
    else
      g.erase(one);
    EXPECT_LE(ranks.iterations(), 12u) << i;
  }
  ASSERT_NO_FATAL_FAILURE(this->expect_right(ranks, g, g.view(), o));
}

// A round of few pushes takes as long on a device as one of many: there are few rounds before all ranks are corrected.
TYPED_TEST_P(changing_ranks_test, many_rounds_of_few_pushes_are_given_up) {
  graph::vertex_id const n = 20'000;
  auto g = this->template empty_graph<float>(n, {});
  std::vector<graph::edge> ring;
  for (graph::vertex_id v = 0; v < n; ++v) ring.push_back({v, (v + 1) % n});
  this->insert(g, ring, std::vector<float>(n, 2.0f));
  typename TestFixture::options const o{.tolerance = 0.01 / n, .full_run = 0.02, .weighted = true};
  algorithms::incremental_pagerank ranks(g.space(), g.view(), o);
  g.attach(ranks);
  this->insert(g, {{7, 8}}, {4.0f});
  EXPECT_EQ(ranks.ranked() >= n, exec::has_tiles<TypeParam>) << ranks.ranked();
  ASSERT_NO_FATAL_FAILURE(this->expect_right(ranks, g, g.view(), o));
}

// The bound of the error of an undirected graph relies on it.
TYPED_TEST_P(changing_ranks_test, vertices_that_send_nothing_have_their_base) {
  for (bool const weighted : {false, true}) {
    SCOPED_TRACE(weighted);
    auto g = this->template empty_graph<float>(this->sized(60, 20), {});
    this->insert(g, {{0, 1}, {1, 2}, {2, 0}, {2, 3}}, {1.f, 1.f, 1.f, 2.f});
    typename TestFixture::options const o{.tolerance = 1, .full_run = 1e9, .weighted = weighted};
    algorithms::incremental_pagerank ranks(g.space(), g.view(), o);
    g.attach(ranks);
    EXPECT_GT(ranks.rank()[3], ranks.rank()[5]);
    if (weighted)
      this->insert(g, {{2, 3}}, {0.f});
    else
      g.erase(std::vector<graph::edge>{{2, 3}});
    EXPECT_EQ(ranks.ranked(), 0u);  // the tolerance requires no push
    EXPECT_EQ(ranks.rank()[3], ranks.rank()[5]);
    ASSERT_NO_FATAL_FAILURE(this->expect_right(ranks, g, g.view(), o));
    // The sum of unscaled ranks grows with each of these.
    for (graph::vertex_id v = 4; v + 1 < g.vertices(); v += 2) {
      this->insert(g, {{v, v + 1}}, {1.f});
      ASSERT_NO_FATAL_FAILURE(this->expect_right(ranks, g, g.view(), o));
    }
  }
}

// A refused batch, and one without memory, leave the ranks as they are, bit for bit, and later ones find them so.
TYPED_TEST_P(changing_ranks_test, changes_are_made_or_undone) {
  using options = typename TestFixture::options;
  auto const n = static_cast<graph::vertex_id>(this->sized(200, 60));
  options const o{.damping = 0.5, .tolerance = 1e-10, .weighted = true, .sources = {{1, 1}, {2, 2}}};
  std::mt19937 random(seeded(30));
  auto g = this->template empty_graph<double>(n, {.directed = true});
  auto const first = random_edges(random, n, 4 * n);
  this->insert(g, first, this->template random_values<double>(random, first.size()));
  algorithms::incremental_pagerank ranks(g.space(), g.view(), o);
  g.attach(ranks);
  for (unsigned round = 0; round < 3; ++round) {
    auto const before = ranks.rank();
    auto batch = random_edges(random, n, 80);
    std::copy_n(first.begin(), 40, batch.begin());
    auto const values = this->template random_values<double>(random, batch.size());
    auto bad = batch;
    bad.back().target = n;
    EXPECT_THROW(this->insert(g, bad, values), error);
    EXPECT_EQ(ranks.rank(), before);
    std::uint64_t const stride = std::string_view(TypeParam::name) == "simt" ? 5 : 1;
    for (std::uint64_t served = 0, done = 0; done == 0; served += stride) {
      ASSERT_LT(served, 400u);
      try {
        exec::injected_failure const failure(served);
        this->insert(g, batch, values);
        done = 1;
      } catch (error const& e) {
        ASSERT_EQ(e.code(), error_code::out_of_memory) << e.what();
        ASSERT_EQ(ranks.rank(), before);
        ASSERT_TRUE(ranks.belongs_to(g.view()));
      }
    }
    ASSERT_NO_FATAL_FAILURE(this->expect_right(ranks, g, g.view(), o));
  }
}

TYPED_TEST_P(changing_ranks_test, weighted_ranks_catch_up) {
  using options = typename TestFixture::options;
  auto const n = static_cast<graph::vertex_id>(this->sized(150, 50));
  options const o{.damping = 0.5, .tolerance = 1e-10, .weighted = true};
  std::mt19937 random(seeded(40));
  for (bool const directed : {false, true}) {
    auto g = this->template empty_graph<float>(n, {.directed = directed});
    auto const first = random_edges(random, n, 4 * n);
    this->insert(g, first, this->template random_values<float>(random, first.size()));
    algorithms::incremental_pagerank ranks(g.space(), g.view(), o);
    auto const then = g.snapshot();
    std::vector<graph::edge> const some(first.begin(), first.begin() + 30);
    this->insert(g, some, this->template random_values<float>(random, some.size()));  // values only
    graph::catch_up(g.space(), ranks, then.view(), g.view());
    ASSERT_NO_FATAL_FAILURE(this->expect_right(ranks, g, g.view(), o));
    auto const later = g.snapshot();
    (void)g.add_vertices(5);
    g.erase(random_edges(random, n, 60));
    this->insert(g, some, this->template random_values<float>(random, some.size()));
    graph::catch_up(g.space(), ranks, later.view(), g.view());
    ASSERT_NO_FATAL_FAILURE(this->expect_right(ranks, g, g.view(), o));
    graph::catch_up(g.space(), ranks, g.view(), then.view());  // back to a moment with fewer ids
    ASSERT_NO_FATAL_FAILURE(this->expect_right(ranks, g, then.view(), o));
    graph::catch_up(g.space(), ranks, then.view(), later.view());
    ASSERT_NO_FATAL_FAILURE(this->expect_right(ranks, g, later.view(), o));
  }
}

// Pushes end when the error is small enough, and leave vertices in a frontier.
TYPED_TEST_P(changing_ranks_test, ids_become_few_and_many_again) {
  typename TestFixture::options const o{.tolerance = 1e-6};
  std::mt19937 random(seeded(41));
  for (int repeat = 0; repeat < 20; ++repeat) {
    auto g = this->template empty_graph<float>(100, {.directed = true, .in_neighbours = false});
    auto const change = [&](std::size_t vertices, std::size_t size) {
      auto const batch = random_edges(random, static_cast<graph::vertex_id>(vertices), size);
      this->insert(g, batch, this->template random_values<float>(random, batch.size()));
    };
    change(100, 300);
    algorithms::incremental_pagerank ranks(g.space(), g.view(), o);
    auto const few = g.snapshot();
    g.attach(ranks);
    (void)g.add_vertices(900);
    change(1000, 3000);
    for (int i = 0; i < 3; ++i) change(1000, 30);
    g.detach(ranks);
    graph::catch_up(g.space(), ranks, g.view(), few.view());
    graph::catch_up(g.space(), ranks, few.view(), g.view());
    g.attach(ranks);
    for (int i = 0; i < 3; ++i) {
      change(1000, 20);
      ASSERT_NO_FATAL_FAILURE(this->expect_right(ranks, g, g.view(), o));
    }
    g.detach(ranks);
  }
}

TYPED_TEST_P(changing_ranks_test, a_graph_without_ids) {
  for (bool const weighted : {false, true}) {
    auto g = this->template empty_graph<float>(0, {.directed = true});
    auto const none = g.snapshot();
    algorithms::incremental_pagerank ranks(g.space(), g.view(), {.weighted = weighted});
    g.remove_vertices(g.add_vertices(3));
    graph::catch_up(g.space(), ranks, none.view(), g.view());  // no vertex is added
    EXPECT_EQ(ranks.rank(), std::vector<double>(3));
    EXPECT_TRUE(ranks.converged());
    (void)g.add_vertices(3);
    auto const some = g.snapshot();
    algorithms::incremental_pagerank of_source(g.space(), g.view(), {.weighted = weighted, .sources = {{0, 1}}});
    EXPECT_EQ(of_source.rank(), (std::vector<double>{1, 0, 0}));
    graph::catch_up(g.space(), of_source, some.view(), none.view());
    EXPECT_EQ(of_source.error_bound(), 0);
    graph::catch_up(g.space(), of_source, none.view(), some.view());  // the source has left for good
    EXPECT_EQ(of_source.rank(), std::vector<double>(3));
    g.attach(of_source);
    g.clear();
    EXPECT_EQ(of_source.rank(), std::vector<double>(3));
  }
}

// The bases of the sources are rounded.
TYPED_TEST_P(changing_ranks_test, without_damping_ranks_are_within_their_bound) {
  auto const n = static_cast<graph::vertex_id>(this->sized(200000, 2000));
  auto const g = this->template empty_graph<float>(n, {.directed = true});
  typename TestFixture::options o{.damping = 0};
  long double sum = 0;
  for (graph::vertex_id v = 0; v < n; ++v) {
    o.sources.push_back({v, 1 / (1 + v % 977 + v % 13 * 0.37)});
    sum += o.sources.back().weight;
  }
  algorithms::incremental_pagerank const ranks(g.space(), g.view(), o);
  auto const got = ranks.rank();
  long double distance = 0;
  for (graph::vertex_id v = 0; v < n; ++v) distance += std::abs(got[v] - o.sources[v].weight / sum);
  EXPECT_LE(distance, ranks.error_bound());
  EXPECT_TRUE(ranks.converged());
}

TYPED_TEST_P(changing_ranks_test, sources_leave_with_their_vertices) {
  using options = typename TestFixture::options;
  using ids = typename TestFixture::ids;
  auto const n = static_cast<graph::vertex_id>(this->sized(150, 50));
  std::mt19937 random(seeded(50));
  for (bool const weighted : {false, true}) {
    options const o{.damping = 0.5, .tolerance = 1e-10, .weighted = weighted, .sources = {{1, 1}, {20, 2}, {30, 3}}};
    auto g = this->template empty_graph<float>(n, {.directed = true});
    auto const first = random_edges(random, n, 4 * n);
    this->insert(g, first, this->template random_values<float>(random, first.size()));
    algorithms::incremental_pagerank ranks(g.space(), g.view(), o);
    g.attach(ranks);
    auto const check = [&](ids const& gone) { this->expect_right(ranks, g, g.view(), o, gone); };
    g.remove_vertices(ids{5, 6});
    ASSERT_NO_FATAL_FAILURE(check({}));
    auto const before = ranks.rank();
    EXPECT_EQ(g.add_vertices(4), (ids{5, 6, n, n + 1}));
    auto after = ranks.rank();  // isolated vertices change nothing, and have no rank
    ASSERT_EQ(after.size(), n + 2u);
    EXPECT_EQ(std::vector<double>(after.begin(), after.end() - 2), before);
    EXPECT_EQ(after[n] + after[n + 1], 0);
    this->insert(g, {{1, n}, {n, 20}, {0, n + 1}}, {5.f, 1.f, 9.f});
    ASSERT_NO_FATAL_FAILURE(check({}));
    g.remove_vertices(ids{20, 7});
    ASSERT_NO_FATAL_FAILURE(check({20}));
    (void)g.add_vertices(2);  // 20 is a vertex again, but no source
    this->insert(g, {{1, 20}, {20, 30}}, {1.f, 1.f});
    ASSERT_NO_FATAL_FAILURE(check({20}));
    g.clear();
    ASSERT_NO_FATAL_FAILURE(check({20}));
    EXPECT_NEAR(ranks.rank()[30], 0.75, 1e-12);
    g.remove_vertices(ids{1, 30});
    EXPECT_EQ(ranks.rank(), std::vector<double>(n + 2));
    EXPECT_TRUE(ranks.converged());
    (void)g.add_vertices(2);
    this->insert(g, {{1, 2}, {30, 2}}, {1.f, 1.f});
    EXPECT_EQ(ranks.rank(), std::vector<double>(n + 2));
    EXPECT_EQ(ranks.error_bound(), 0);
  }
}

// Along a path whose weights grow, each step of Chebyshev's iteration increases the sum of all values: the first
// attempt would exceed 64 bits.
TYPED_TEST_P(changing_ranks_test, weights_may_grow_along_a_path) {
  for (double const d : {0.85, 0.95, 0.99})
    for (unsigned const bits : {1u, 3u, 5u}) {
      SCOPED_TRACE(std::to_string(d) + ", " + std::to_string(bits));
      unsigned const n = bits == 5 ? 25 : 40;
      auto const weight = [&](unsigned i) { return std::ldexp(1.0, static_cast<int>(bits * i) - 58); };
      std::vector<graph::edge> path;
      std::vector<double> weights;
      for (graph::vertex_id v = 0; v + 1 < n; ++v) {
        path.push_back({v, v + 1});
        weights.push_back(weight(v));
      }
      std::vector<double> want(n);
      want[0] = 1;
      for (unsigned k = 0; k < 5'000; ++k) {
        std::vector<double> next(n);
        next[0] = 1 - d;
        for (unsigned v = 0; v < n; ++v) {
          double const before = v > 0 ? weight(v - 1) : 0;
          double const behind = v + 1 < n ? weight(v) : 0;
          if (before > 0) next[v - 1] += d * want[v] * before / (before + behind);
          if (behind > 0) next[v + 1] += d * want[v] * behind / (before + behind);
        }
        want = next;
      }
      auto g = this->template empty_graph<double>(n, {});
      this->insert(g, path, weights);
      algorithms::incremental_pagerank ranks(
          g.space(), g.view(),
          {.damping = d, .tolerance = 1e-6, .max_iterations = 2'000, .weighted = true, .sources = {{0, 1}}});
      auto const got = ranks.rank();
      double distance = 0;
      for (unsigned v = 0; v < n; ++v) distance += std::abs(got[v] - want[v]);
      EXPECT_TRUE(ranks.converged());
      EXPECT_LE(distance, ranks.error_bound() + 1e-13);
      EXPECT_LE(ranks.error_bound(), d / (1 - d) * 1e-6 + 1e-14);
    }
}

// Weights of any size are as good as weights near 1, also where their sum is no number.
TYPED_TEST_P(changing_ranks_test, weights_may_be_tiny_or_huge) {
  auto const n = static_cast<graph::vertex_id>(this->sized(1'000, 300));
  std::mt19937 random(seeded(60));
  std::vector<graph::edge> star;
  for (graph::vertex_id v = 1; v < n; ++v) star.push_back({0, v});
  for (graph::vertex_id v = 1; v < n; ++v) star.push_back({v, (v * 7 + 1) % n});
  auto const values = this->template random_values<double>(random, star.size());
  double error_bound = 0;
  auto const scaled_by = [&](double factor, bool is_directed) {
    auto g = this->template empty_graph<double>(n, {.directed = is_directed});
    this->insert(g, star, std::vector<double>(star.size(), 1.0));
    algorithms::incremental_pagerank ranks(g.space(), g.view(), {.tolerance = 1e-10, .weighted = true});
    g.attach(ranks);
    auto by = values;
    for (double& v : by) v *= factor;
    this->insert(g, star, by);
    EXPECT_TRUE(ranks.converged());
    error_bound = ranks.error_bound();
    return ranks.rank();
  };
  auto const want = scaled_by(1, true);
  auto const undirected = scaled_by(1, false);
  double const bound = error_bound;
  for (double const factor : {0x1p-1070, 0x1p-500, 0x1p1000, 0x1p1018}) {
    EXPECT_EQ(scaled_by(factor, true), want) << factor;  // a power of two rounds nothing
    auto const got = scaled_by(factor, false);           // found by other steps
    double distance = 0;
    for (std::size_t v = 0; v < got.size(); ++v) distance += std::abs(got[v] - undirected[v]);
    EXPECT_LE(distance, bound + error_bound) << factor;
  }
}

TYPED_TEST_P(changing_ranks_test, arguments_are_refused) {
  using options = typename TestFixture::options;
  auto g = this->template empty_graph<double>(5, {.directed = true});
  this->insert(g, {{0, 1}, {3, 4}}, {1.0, 2.0});
  g.remove_vertices(std::vector<graph::vertex_id>{2});
  auto const told = [&](options const& o) {
    return refusal([&] { algorithms::incremental_pagerank(g.space(), g.view(), o); });
  };
  double const infinity = std::numeric_limits<double>::infinity();
  for (double const full_run : {-0.1, std::nan("")})
    this->expect_contains(told({.full_run = full_run}), "full_run at least 0");
  this->expect_contains(told({.sources = {{0, 1}, {5, 1}}}), "the source 5 with the weight 1.000000 is no vertex");
  this->expect_contains(told({.sources = {{0, 1}, {2, 1}, {4, 1}}}),
                        "the source 2 with the weight 1.000000 was removed");
  this->expect_contains(told({.sources = {{0, -1}}}), "must have a finite weight that is not negative");
  this->expect_contains(told({.sources = {{0, std::nan("")}}}), "must have a finite weight");
  this->expect_contains(told({.sources = {{0, infinity}}}), "must have a finite weight");
  this->expect_contains(told({.sources = {{0, 0}, {1, 0}}}), "must be positive");
  this->expect_contains(told({.sources = {{0, 1.5e308}, {1, 1.5e308}}}), "must be positive and finite");
  auto const plain = this->make(5, {{0, 1}});
  this->expect_contains(
      refusal([&] { algorithms::incremental_pagerank(plain.space(), plain.view(), options{.weighted = true}); }),
      "no numbers as values");

  algorithms::incremental_pagerank ranks(g.space(), g.view(), options{.weighted = true});
  g.attach(ranks);
  for (double const bad : {-1.0, infinity, std::nan("")}) {
    auto const what = refusal([&] { this->insert(g, {{0, 1}, {3, 4}, {3, 1}}, {1.0, 5.0, bad}); });
    this->expect_contains(what, "edge 2 of the batch is (3, 1), whose value is no weight");
    EXPECT_EQ(g.arcs(), 2u);
    EXPECT_TRUE(ranks.belongs_to(g.view()));
  }
  g.detach(ranks);
  this->insert(g, {{3, 1}}, {-1.0});
  this->expect_contains(told({.weighted = true}), "the weight of the arc 3 -> 1 is -1");
}

REGISTER_TYPED_TEST_SUITE_P(changing_ranks_test, known_ranks, a_graph_without_ids, ids_become_few_and_many_again,
                            without_damping_ranks_are_within_their_bound, weighted_ranks_follow_all_types_of_values,
                            ranks_follow_all_options, weights_of_hubs_change, small_changes_of_values_cost_little,
                            small_changes_of_large_graphs_are_pushed_nearby, small_corrections_keep_the_ranks,
                            many_rounds_of_few_pushes_are_given_up, vertices_that_send_nothing_have_their_base,
                            changes_are_made_or_undone, weighted_ranks_catch_up, sources_leave_with_their_vertices,
                            weights_may_grow_along_a_path, weights_may_be_tiny_or_huge, arguments_are_refused);

}  // namespace wyrm::tests
