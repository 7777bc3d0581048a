// SPDX-License-Identifier: Apache-2.0
// The tests of clustering by random walks, for any space: known graphs, numbers of labels, equal labels in all spaces,
// and changing graphs.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

#include "../../algorithms/clustering.hpp"
#include "../../algorithms/clustering_quality.hpp"
#include "../../algorithms/incremental_clustering.hpp"
#include "../../exec/injected_failure.hpp"
#include "../graph/model.hpp"
#include "../support/refusal.hpp"
#include "../support/seed.hpp"
#include "../support/verify.hpp"
#include "graphs_fixture.hpp"
#include "weighted_graphs.hpp"

namespace wyrm::tests {

template <class Space>
class clustering_test : public graphs_test<Space> {
 protected:
  using typename graphs_test<Space>::graph_type;
  using ids = std::vector<std::uint32_t>;
  using options = algorithms::clustering_options;
  using floats = std::vector<float>;

  static alloc::options small_pool() {
    return {.pool_bytes = std::size_t{1} << 16, .reserve_bytes = std::size_t{1} << 28, .checked = true};
  }
  template <class Graph>
  static algorithms::clustering_result run(Graph const& g, options o = {}) {
    o.weighted = !std::is_same_v<typename Graph::value_type, graph::no_value>;
    algorithms::clusterer<Space> c(g.space(), small_pool());
    c.run(g.view(), o);
    return c.result();
  }
  /// The same on a host with one thread; with weights, unless they are empty.
  static algorithms::clustering_result on_host(graph_type const& g, options o = {}, floats weights = {}) {
    o.weighted = !weights.empty();
    weights.resize(g.arcs());
    auto const same = with_values(exec::host_space(1), g, weights);
    return algorithms::clustering(exec::host_space(1), same.view(), o);
  }
  /// A weight per arc, drawn by draw(); the same for both arcs of an edge of an undirected graph.
  template <class Draw>
  static floats weights_of(graph_type const& g, Draw const& draw) {
    floats weights(g.arcs());
    for (float& w : weights) w = static_cast<float>(draw());
    return g.settings().directed ? weights : symmetric(g.to_csr(), std::move(weights));
  }
  /// Checks that label numbers, sizes and modularity fit the labels.
  static void expect_consistent(graph_type const& g, algorithms::clustering_result const& r,
                                std::vector<float> const& weights = {}) {
    ASSERT_EQ(r.label.size(), g.vertices());
    graphs_test<Space>::expect_numbered(r.label, r.count, r.sizes);
    EXPECT_NEAR(r.modularity, serial_modularity(g.to_csr(), weights, r.label, g.settings().directed), 1e-6);
  }
  /// A graph of planted groups of equal size, with this many edges; a fifth of them connect different groups.
  static std::vector<graph::edge> planted(std::uint32_t n, std::uint32_t groups, std::size_t edges) {
    std::mt19937 random(seeded(7));
    std::uint32_t const size = n / groups;
    std::vector<graph::edge> list;
    while (list.size() < edges) {
      auto const u = static_cast<graph::vertex_id>(random() % n);
      auto const inside = static_cast<graph::vertex_id>(u / size * size + random() % size);
      auto const outside = static_cast<graph::vertex_id>(random() % n);
      if (list.size() % 5 != 0)
        list.push_back({u, inside});
      else if (outside / size != u / size)
        list.push_back({u, outside});
    }
    return list;
  }
};

TYPED_TEST_SUITE_P(clustering_test);

TYPED_TEST_P(clustering_test, known_graphs) {
  using ids = typename TestFixture::ids;
  auto const none = this->run(this->make(0, {}));
  EXPECT_TRUE(none.label.empty());
  EXPECT_EQ(none.count, 0u);
  EXPECT_EQ(this->run(this->make(1, {})).label, ids{0});
  EXPECT_EQ(this->run(this->make(1, {{0, 0}}, false, true)).label, ids{0});
  auto const isolated = this->run(this->make(3, {}));
  EXPECT_EQ(isolated.label, (ids{0, 1, 2}));
  EXPECT_EQ(isolated.sizes, (ids{1, 1, 1}));
  EXPECT_EQ(isolated.modularity, 0);
  EXPECT_TRUE(isolated.converged);
  EXPECT_EQ(this->run(this->make(3, {{1, 2}})).label, (ids{0, 1, 1}));

  auto const one = this->run(this->make(20, this->clique(20)));
  EXPECT_EQ(one.label, ids(20, 0));
  EXPECT_NEAR(one.modularity, 0, 1e-12);
  // A triangle, an edge, isolated vertices, and a clique.
  auto const several = this->make(
      12, {{5, 3}, {3, 9}, {9, 5}, {8, 1}, {2, 4}, {4, 6}, {6, 2}, {2, 7}, {4, 7}, {6, 7}, {10, 2}, {10, 4}});
  auto const got = this->run(several);
  EXPECT_EQ(got.label, (ids{0, 1, 2, 3, 2, 3, 2, 2, 1, 3, 2, 4}));
  EXPECT_TRUE(got.converged);
  this->expect_consistent(several, got);
}

TYPED_TEST_P(clustering_test, cliques_in_a_ring) {
  auto const cliques = static_cast<graph::vertex_id>(8);
  auto const g = this->make(cliques * 5, this->ring_of_cliques(cliques));
  auto const r = this->run(g);
  this->expect_consistent(g, r);
  EXPECT_EQ(r.label, this->groups_of(cliques * 5, 5));
}

TYPED_TEST_P(clustering_test, planted_groups) {
  auto const groups = static_cast<std::uint32_t>(this->sized(50, 4));
  std::uint32_t const n = 200 * groups;
  auto const g = this->make(n, this->planted(n, groups, std::size_t{15} * n));
  auto const r = this->run(g);
  this->expect_consistent(g, r);
  EXPECT_GE(algorithms::normalized_mutual_information(r.label, this->groups_of(n, n / groups)), 0.98);
}

// From random labels, and from one label per vertex, where many vertices propose to enter the same community.
TYPED_TEST_P(clustering_test, each_round_raises_modularity) {
  auto const n = static_cast<graph::vertex_id>(this->sized(400, 60));
  std::vector<std::vector<graph::edge>> graphs{this->planted(n, 4, std::size_t{8} * n), this->clique(40), {}};
  for (graph::vertex_id v = 1; v < n; ++v) graphs.back().push_back({v % 3, v});  // three hubs
  std::mt19937 random(seeded(3));
  for (auto const& edges : graphs)
    for (std::uint32_t const labels : {0u, 2u, 7u}) {
      SCOPED_TRACE(labels);
      auto const g = this->make(n, edges, false, false, this->one_thread());
      std::vector<graph::vertex_id> start(n);
      for (graph::vertex_id v = 0; v < n; ++v)
        start[v] = labels == 0 ? v : static_cast<graph::vertex_id>(random() % labels);
      algorithms::detail::weighted_rows const rows{g.view(), nullptr, nullptr, 2};
      algorithms::detail::modularity_moves<TypeParam> moves(g.space());
      exec::buffer<graph::vertex_id, TypeParam> label(g.space(), n);
      double before = serial_modularity(g.to_csr(), {}, start);
      std::uint64_t moved = 0;
      bool ended = false;
      std::size_t const most = this->sized(200, 8);
      for (std::uint32_t rounds = 1; !ended && rounds < most; ++rounds) {
        exec::copy_in<graph::vertex_id>(g.space(), label.data(), start);
        moves.prepare(rows);
        auto const done = moves.run(rows, label.data(), rounds);
        double const now = serial_modularity(g.to_csr(), {}, exec::copy_out(g.space(), label.data(), n));
        if (done.count > moved)
          ASSERT_GT(now, before) << "round " << rounds;
        else
          ASSERT_DOUBLE_EQ(now, before) << "round " << rounds;
        before = now;
        moved = done.count;
        ended = done.ended;
      }
      EXPECT_TRUE(ended || most < 100);
    }
}

TYPED_TEST_P(clustering_test, labels_are_equal_in_all_spaces) {
  std::mt19937 random(seeded(5));
  for (unsigned trial = 0; trial < 4; ++trial) {
    SCOPED_TRACE(trial);
    std::size_t const n = 60 + 100 * trial;
    auto const g =
        this->make(n, random_edges(random, n, n * (trial % 2 + 1)), trial == 2, trial == 1, this->one_thread());
    typename TestFixture::options const o{.seed = trial, .length = 3 + trial, .walks = 7 + 10 * trial};
    std::vector<float> weights;
    if (trial >= 2) weights = this->weights_of(g, [&] { return static_cast<double>(random() % 1000) / 7; });
    auto const got = weights.empty() ? this->run(g, o) : this->run(with_values(g, weights), o);
    auto const want = this->on_host(g, o, weights);
    EXPECT_EQ(got.label, want.label);
    EXPECT_EQ(got.modularity, want.modularity);
    EXPECT_EQ(got.iterations, want.iterations);
    this->expect_consistent(g, got, weights);
  }
  auto const log2 = static_cast<unsigned>(this->sized(12, 8));
  auto const g = this->make(std::size_t{1} << log2, this->skewed(log2));  // the rows of hubs are divided into parts
  auto const got = this->run(g);
  EXPECT_EQ(got.label, this->on_host(g).label);
  EXPECT_EQ(got.label, this->run(g).label);
  this->expect_consistent(g, got);
}

TYPED_TEST_P(clustering_test, weights_make_clusters) {
  using ids = typename TestFixture::ids;
  // A clique of eight vertices. First edges inside its halves have ten times the weight, then edges between vertices of
  // equal parity.
  auto const g = this->make(8, this->clique(8));
  graph::csr const rows = g.to_csr();
  for (bool const halves : {true, false}) {
    std::vector<float> weights;
    auto const side = [&](graph::vertex_id v) { return halves ? v / 4 : v % 2; };
    for (graph::vertex_id u = 0; u < 8; ++u)
      for (std::uint64_t i = rows.offsets[u]; i < rows.offsets[u + 1]; ++i)
        weights.push_back(side(u) == side(rows.targets[i]) ? 10.0f : 1.0f);
    auto const r = this->run(with_values(g, weights));
    EXPECT_EQ(r.label, halves ? (ids{0, 0, 0, 0, 1, 1, 1, 1}) : (ids{0, 1, 0, 1, 0, 1, 0, 1}));
    this->expect_consistent(g, r, weights);
  }
  auto const nothing = this->run(with_values(g, std::vector<float>(56)));
  EXPECT_EQ(nothing.count, 8u);
  EXPECT_EQ(nothing.modularity, 0);
}

TYPED_TEST_P(clustering_test, directions_do_not_matter) {
  std::mt19937 random(seeded(6));
  std::size_t const n = 150;
  auto const edges = random_edges(random, n, 300);
  auto const arcs = this->make(n, edges, true);
  auto const r = this->run(arcs);
  EXPECT_EQ(r.label, this->run(this->make(n, edges)).label);
  this->expect_consistent(arcs, r);
  auto const weights = this->weights_of(arcs, [&] { return random() % 100; });
  this->expect_consistent(arcs, this->run(with_values(arcs, weights)), weights);
}

TYPED_TEST_P(clustering_test, invalid_options_are_refused) {
  auto const g = this->make(4, {{0, 1}, {1, 2}});
  EXPECT_THROW(this->run(g, {.length = 0}), error);
  EXPECT_THROW(this->run(g, {.walks = 0}), error);
  algorithms::clusterer<TypeParam> clusters(g.space(), this->small_pool());
  clusters.run(g.view());
  auto const before = clusters.result();
  auto const weighted = [&](auto const& of) { return refusal([&] { clusters.run(of.view(), {.weighted = true}); }); };
  for (float const w : {-1.0f, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()})
    this->expect_contains(weighted(with_values(g, std::vector<float>{1, 1, w, w})),
                          "clustering: the weight of the arc 1 -> 2 is");
  this->expect_contains(weighted(g), "clustering: the edges of the graph have no numbers as values");
  EXPECT_EQ(clusters.result().label, before.label);
  EXPECT_EQ(clusters.count(), before.count);
  EXPECT_EQ(clusters.modularity(), before.modularity);
  auto const valued = with_values(g, std::vector<float>(4, 1.0f));
  this->expect_contains(refusal([&] { algorithms::incremental_clustering(valued, {.weighted = true}); }),
                        "clustering: clusters are not maintained by weights");
  EXPECT_THROW(clusters.refresh(valued.view(), {.weighted = true}, nullptr, 0), error);
  auto const few = this->run(g, {.length = 1, .walks = 1, .iterations = 0});
  EXPECT_EQ(few.iterations, 0u);
  EXPECT_FALSE(few.converged);
  this->expect_consistent(g, few);
}

TYPED_TEST_P(clustering_test, maintained_batch_by_batch) {
  auto const groups = static_cast<std::uint32_t>(this->sized(20, 5));
  std::uint32_t const n = 40 * groups;
  auto edges = this->planted(n, groups, std::size_t{5} * n);
  auto g = this->make(n, edges, false, false, this->one_thread());
  algorithms::incremental_clustering maintained(g, {}, this->small_pool());
  g.attach(maintained);
  std::mt19937 random(seeded(9));
  std::size_t const rounds = this->sized(40, 4);
  for (std::size_t round = 0; round < rounds; ++round) {
    SCOPED_TRACE(round);
    // Some edges are erased and inserted again; others are inserted at random.
    std::shuffle(edges.begin(), edges.end(), random);
    std::vector<graph::edge> batch(edges.begin(), edges.begin() + static_cast<std::ptrdiff_t>(edges.size() / 50));
    if (round % 3 == 0)
      g.erase(batch);
    else
      g.insert(round % 3 == 1 ? batch : random_edges(random, n, n / 50));
    auto const got = maintained.result();
    EXPECT_EQ(got.count, maintained.count());
    EXPECT_EQ(got.modularity, maintained.modularity());
    ASSERT_NO_FATAL_FAILURE(this->expect_consistent(g, got));
    EXPECT_GE(got.modularity, 0.99 * this->run(g).modularity);
  }
}

TYPED_TEST_P(clustering_test, clusters_merge_and_split) {
  using ids = typename TestFixture::ids;
  graph::vertex_id const cliques = 12;
  auto const ring = this->ring_of_cliques(cliques);
  auto g = this->make(cliques * 5 + 2, ring, false, false, this->one_thread());
  algorithms::incremental_clustering maintained(g, {}, this->small_pool());
  g.attach(maintained);
  EXPECT_EQ(maintained.count(), cliques + 2);
  // The first clique loses all edges; the last two vertices get an edge.
  std::vector<graph::edge> first = this->clique(5);
  first.push_back({4, 5});
  first.push_back({0, cliques * 5 - 1});
  g.erase(first);
  g.insert(std::vector<graph::edge>{{cliques * 5, cliques * 5 + 1}});
  EXPECT_EQ(maintained.count(), cliques + 5);
  this->expect_consistent(g, maintained.result());
  g.insert(first);
  EXPECT_EQ(maintained.count(), cliques + 1);
  auto const before = maintained.result();
  EXPECT_THROW(g.insert(std::vector<graph::edge>{{0, 9}, {1, cliques * 5 + 2}}), error);
  EXPECT_EQ(maintained.result().label, before.label);
  g.insert({});
  EXPECT_EQ(maintained.result().label, before.label);
  // Erases all edges, and inserts them again.
  std::vector<graph::edge> all = ring;
  all.push_back({cliques * 5, cliques * 5 + 1});
  g.erase(all);
  EXPECT_EQ(maintained.count(), g.vertices());
  EXPECT_EQ(maintained.modularity(), 0);
  g.insert(all);
  EXPECT_EQ(maintained.result().label, before.label);
  auto none = this->make(0, {});
  algorithms::incremental_clustering of_none(none, {}, this->small_pool());
  none.attach(of_none);
  EXPECT_EQ(none.insert({}).inserted, 0u);
  EXPECT_EQ(of_none.result().label, ids{});
}

// Weights are made whole numbers: those of a clique stay above 0 beside one that is 10^12 times as large.
TYPED_TEST_P(clustering_test, small_weights_beside_a_large_one_make_clusters) {
  using ids = typename TestFixture::ids;
  auto edges = this->clique(5);
  for (graph::edge& e : edges) e = {e.source + 2, e.target + 2};
  edges.push_back({0, 7});
  for (bool const directed : {false, true}) {
    SCOPED_TRACE(directed ? "directed" : "undirected");
    auto const g = this->make(9, edges, directed);
    graph::csr const rows = g.to_csr();
    std::vector<float> weights;
    for (graph::vertex_id u = 0; u < 9; ++u)
      for (std::uint64_t i = rows.offsets[u]; i < rows.offsets[u + 1]; ++i)
        weights.push_back(u == 0 || rows.targets[i] == 0 ? 1e12f : 1.0f);
    auto const r = this->run(with_values(g, weights));
    EXPECT_EQ(r.label, (ids{0, 1, 2, 2, 2, 2, 2, 0, 3}));
    EXPECT_EQ(r.sizes, (ids{2, 1, 5, 1}));
    this->expect_consistent(g, r, weights);
  }
}

// A clusterer with the memory of earlier runs gives the same clusters as a new one.
TYPED_TEST_P(clustering_test, one_clusterer_for_several_graphs) {
  std::mt19937 random(seeded(11));
  auto const space = this->one_thread();
  algorithms::clusterer<TypeParam> clusters(space, this->small_pool());
  unsigned call = 0;
  std::size_t const last = this->sized(200, 50);
  for (std::size_t const n : {this->sized(120, 40), std::size_t{12}, std::size_t{0}, std::size_t{5}, last})
    for (bool const weighted : {true, false}) {
      bool const directed = ++call % 3 == 0;
      SCOPED_TRACE(call);
      auto edges = random_edges(random, n, n > 5 ? 2 * n : 0);
      for (graph::vertex_id v = 0; v < n && n > 5; v += 9) edges.push_back({v, v});
      auto const g = this->make(n, edges, directed, call % 4 != 1, space);
      typename TestFixture::options const o{.seed = seeded(call), .weighted = weighted};
      auto const weights = this->weights_of(g, [&] { return random() % 10; });
      auto const valued = with_values(g, weights);
      clusters.run(valued.view(), o);
      auto const got = clusters.result();
      auto const want = weighted ? this->run(valued, o) : this->run(g, o);
      EXPECT_EQ(got.label, want.label);
      EXPECT_EQ(got.modularity, want.modularity);
      EXPECT_EQ(got.iterations, want.iterations);
      EXPECT_EQ(got.converged, want.converged);
      EXPECT_EQ(clusters.count(), want.count);
      if (g.arcs() > 0) this->expect_consistent(g, got, weighted ? weights : std::vector<float>());
    }
  EXPECT_THROW(clusters.refresh(this->make(last + 1, {}).view(), {}, nullptr, 0), error);
  EXPECT_THROW(clusters.refresh(this->make(last - 1, {}).view(), {}, nullptr, 0), error);
}

// The number of rounds that voting needs is enough as a limit, and one less is not.
TYPED_TEST_P(clustering_test, rounds_of_voting_are_limited) {
  auto const g = this->make(160, this->planted(160, 4, 1200), false, false, this->one_thread());
  auto const all = this->run(g);
  ASSERT_TRUE(all.converged);
  ASSERT_GT(all.iterations, 1u);
  auto const enough = this->run(g, {.iterations = all.iterations});
  EXPECT_TRUE(enough.converged);
  EXPECT_EQ(enough.iterations, all.iterations);
  EXPECT_EQ(enough.label, all.label);
  algorithms::clusterer<TypeParam> clusters(g.space(), this->small_pool());
  for (std::uint32_t const limit : {1u, all.iterations - 1}) {
    clusters.run(g.view(), {.iterations = limit});
    auto const few = clusters.result();
    EXPECT_FALSE(few.converged);
    EXPECT_EQ(few.iterations, limit);
    this->expect_consistent(g, few);
  }
  clusters.run(g.view());
  EXPECT_TRUE(clusters.result().converged);
  EXPECT_EQ(clusters.result().iterations, all.iterations);
}

// After reserve() for a graph that has grown, a run requests no memory.
TYPED_TEST_P(clustering_test, reserved_memory_is_enough) {
  using objective = algorithms::clustering_objective;
  std::size_t const n = this->sized(200, 60);
  for (bool const directed : {false, true})
    for (objective const aim : {objective::modularity, objective::cpm, objective::map_equation}) {
      SCOPED_TRACE(testing::Message() << (directed ? "directed " : "undirected ") << static_cast<int>(aim));
      std::mt19937 random(seeded(13));
      auto g = this->make(n, random_edges(random, n, n), directed, true, this->one_thread());
      typename TestFixture::options const o{.walks = 4, .objective = aim};
      algorithms::clusterer<TypeParam> clusters(g.space(), this->small_pool());
      clusters.run(g.view(), o);
      g.insert(random_edges(random, n, 20 * n));
      clusters.reserve(g.view(), n, g.arcs(), o);
      {
        exec::injected_failure const none(0);
        clusters.run(g.view(), o, algorithms::clusterer<TypeParam>::memory::reserved);
      }
      EXPECT_EQ(clusters.result().label, this->run(g, o).label);
    }
}

// Each vertex elects a label as documented, from random affinities.
TYPED_TEST_P(clustering_test, votes_elect_labels) {
  using algorithms::detail::affinity;
  using algorithms::detail::affinity_list;
  using algorithms::detail::vote;
  auto const n = static_cast<graph::vertex_id>(this->sized(3000, 200));
  std::vector<graph::edge> ring;
  for (graph::vertex_id v = 0; v < n; ++v) ring.push_back({v, (v + 1) % n});
  auto const g = this->make(n, ring, false, false, this->one_thread());
  std::mt19937 random(seeded(14));
  for (std::uint32_t const number : {0u, 1u, 5u, 12u, 25u}) {
    SCOPED_TRACE(number);
    std::vector<std::uint64_t> degree(n);
    std::vector<std::uint64_t> volume(n);
    std::vector<graph::vertex_id> label(n);
    std::vector<affinity> drawn(std::size_t{affinity_list::capacity} * n);
    exec::buffer<affinity, TypeParam> pages(g.space(), drawn.size());
    std::vector<affinity_list> lists(n);
    std::uint64_t total = 0;
    for (graph::vertex_id v = 0; v < n; ++v) {
      label[v] = static_cast<graph::vertex_id>(random() % (v % 2 == 0 ? 3 : n));
      total += degree[v] = random() % 50;
      volume[label[v]] += degree[v];
      std::size_t const first = std::size_t{affinity_list::capacity} * v;
      lists[v] = {pages.data() + first, static_cast<std::uint32_t>(random() % (affinity_list::capacity + 1))};
      for (std::uint32_t i = 0; i < lists[v].size; ++i)
        drawn[first + i] = {static_cast<graph::vertex_id>(random() % 5 == 0 ? v : random() % n),
                            static_cast<std::uint32_t>(affinity_list::unit / lists[v].size / (1 + random() % 3))};
    }
    exec::copy_in<affinity>(g.space(), pages.data(), drawn);
    auto const on_device = [&](auto const& values) {
      using type = typename std::remove_cvref_t<decltype(values)>::value_type;
      exec::buffer<type, TypeParam> copy(g.space(), values.size());
      exec::copy_in<type>(g.space(), copy.data(), values);
      return copy;
    };
    auto const lists_there = on_device(lists);
    auto const degree_there = on_device(degree);
    auto const volume_there = on_device(volume);
    auto const label_there = on_device(label);
    exec::buffer<graph::vertex_id, TypeParam> next(g.space(), n);
    exec::buffer<std::uint32_t, TypeParam> wanting(g.space(), 1);
    g.space().fill(wanting.data(), 0, wanting.bytes());
    algorithms::detail::vertex_list<TypeParam> all(g.space());
    all.fill(g.view());
    algorithms::detail::for_each_item<32>(g.space(), all.view(),
                                          vote{lists_there.data(), degree_there.data(), volume_there.data(), total,
                                               label_there.data(), next.data(), number, wanting.data()});

    auto const found = exec::copy_out(g.space(), next.data(), n);
    std::uint32_t wanted = 0;
    for (graph::vertex_id v = 0; v < n; ++v) {
      std::map<graph::vertex_id, std::int64_t> votes;
      for (std::uint32_t i = 0; i < lists[v].size; ++i) {
        affinity const& a = drawn[std::size_t{affinity_list::capacity} * v + i];
        votes[label[a.vertex]] += a.weight;
      }
      auto const unit = static_cast<std::int64_t>(affinity_list::unit);
      auto const sum = static_cast<std::int64_t>(total);
      auto const by_chance = [&](std::uint64_t others) { return 4 * unit * static_cast<std::int64_t>(others); };
      graph::vertex_id winner = label[v];
      std::int64_t most =
          votes[winner] * sum - by_chance(volume[winner] - degree[v]) + unit * sum / vote::rounds * number;
      for (auto const& [other, count] : votes)
        if (std::int64_t const got = count * sum - by_chance(volume[other]); other != label[v] && got > most) {
          most = got;
          winner = other;
        }
      wanted += winner != label[v] ? 1u : 0u;
      bool const moves = (algorithms::detail::pair_hash(v, number) & 1) != 0;
      ASSERT_EQ(found[v], moves ? winner : label[v]) << "vertex " << v;
    }
    EXPECT_EQ(exec::read(g.space(), wanting.data()), wanted);
    EXPECT_GT(wanted, number < 5 ? n / 10 : 0);
  }
}

// Batches are counted together: when they have more than a quarter as many edges as the graph, a full run follows.
TYPED_TEST_P(clustering_test, many_small_batches_are_followed_by_a_full_run) {
  for (bool const directed : {false, true}) {
    SCOPED_TRACE(directed ? "directed" : "undirected");
    std::mt19937 random(seeded(12));
    std::size_t const n = this->sized(150, 40);
    auto g = this->make(n, random_edges(random, n, 3 * n), directed, false, this->one_thread());
    algorithms::incremental_clustering maintained(g, {}, this->small_pool());
    g.attach(maintained);
    std::size_t changed = 0;
    unsigned full = 0;
    unsigned small = 0;
    while (full < 2) {
      auto const batch = random_edges(random, n, n / 4);
      g.insert(batch);
      changed += batch.size();
      ++small;
      if (4 * changed <= g.edges()) continue;
      EXPECT_GT(small, 1u);
      auto const want = this->run(g);
      auto const got = maintained.result();
      EXPECT_EQ(got.label, want.label);
      EXPECT_EQ(got.modularity, want.modularity);
      EXPECT_EQ(got.iterations, want.iterations);
      changed = small = 0;
      ++full;
    }
  }
}

REGISTER_TYPED_TEST_SUITE_P(clustering_test, known_graphs, cliques_in_a_ring, planted_groups,
                            each_round_raises_modularity, labels_are_equal_in_all_spaces, weights_make_clusters,
                            directions_do_not_matter, invalid_options_are_refused, maintained_batch_by_batch,
                            clusters_merge_and_split, small_weights_beside_a_large_one_make_clusters,
                            one_clusterer_for_several_graphs, rounds_of_voting_are_limited, reserved_memory_is_enough,
                            votes_elect_labels, many_small_batches_are_followed_by_a_full_run);

}  // namespace wyrm::tests
