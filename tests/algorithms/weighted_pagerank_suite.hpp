// SPDX-License-Identifier: Apache-2.0
// PageRank with weights of arcs, for any space: published values, the serial verifier, and changes of weights that must
// not change ranks.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../../algorithms/pagerank.hpp"
#include "../graph/model.hpp"
#include "../support/refusal.hpp"
#include "../support/seed.hpp"
#include "../support/verify.hpp"
#include "graphs_fixture.hpp"
#include "weighted_graphs.hpp"

namespace wyrm::tests {

template <class Space>
class weighted_pagerank_test : public graphs_test<Space> {
 protected:
  using graph_type = typename graphs_test<Space>::graph_type;

  using options = algorithms::pagerank_options;
  using floats = std::vector<float>;

  template <class Graph>
  static auto pagerank(Graph const& g, options o = {}) {
    o.weighted = !std::is_same_v<typename Graph::value_type, graph::no_value>;
    return algorithms::pagerank(g.space(), g.view(), o);
  }
  /// From 2^-21 to 2^20; an eighth are 0.
  static floats random_weights(std::mt19937& random, std::size_t n) {
    floats weights(n);
    for (float& w : weights)
      if (random() % 8 != 0)
        w = std::ldexp(1 + static_cast<float>(random() % 1024) / 1024, static_cast<int>(random() % 41) - 21);
    return weights;
  }
  static floats random_weights(std::mt19937& random, graph_type const& g) {
    auto weights = random_weights(random, g.arcs());
    return g.settings().directed ? weights : symmetric(g.to_csr(), std::move(weights));
  }
  static void expect_near(std::vector<double> const& got, std::vector<double> const& want, double error) {
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t v = 0; v < want.size(); ++v) ASSERT_NEAR(got[v], want[v], error) << "vertex " << v;
  }
  /// Compares with the verifier. A damping of 1/2 needs few iterations.
  static void expect_ranks(Space const& space, graph::graph_view const& g, graph::csr const& rows,
                           floats const& weights) {
    auto const want = serial_pagerank(rows, 0.5, {}, false, weights);
    auto const got = algorithms::pagerank(space, g, {.damping = 0.5, .tolerance = 1e-12, .weighted = true});
    EXPECT_TRUE(got.converged);
    EXPECT_NEAR(std::accumulate(got.rank.begin(), got.rank.end(), 0.0), 1.0, 1e-12);
    expect_near(got.rank, want, 1e-11);
    auto const fp32 = algorithms::pagerank(
        space, g, {.damping = 0.5, .tolerance = 1e-6, .weighted = true, .ranks = algorithms::precision::fp32});
    EXPECT_TRUE(fp32.converged);
    expect_near(fp32.rank, want, 1e-6);
  }
  static std::string refusal_of(graph_type const& g, floats const& weights) {
    auto const valued = with_values(g, weights);
    return refusal([&] { (void)pagerank(valued); });
  }
};

TYPED_TEST_SUITE_P(weighted_pagerank_test);

// NetworkX 3.6.1:
//   g = nx.DiGraph(); g.add_nodes_from(range(n)); g.add_weighted_edges_from([(0, 1, 2), (0, 2, .5), ...])
//   nx.pagerank(g, tol=1e-15)
TYPED_TEST_P(weighted_pagerank_test, published_values) {
  // Vertex 3 has one arc, of weight 0, and 5 has none.
  auto const arcs = this->make(6, {{0, 1}, {0, 2}, {1, 2}, {1, 4}, {2, 0}, {2, 3}, {3, 4}, {4, 0}, {4, 3}}, true);
  std::vector<float> const of_arcs{2, 0.5f, 3, 0, 1, 0.25f, 0, 7, 1};
  this->expect_near(this->pagerank(with_values(arcs, of_arcs), {.tolerance = 1e-14}).rank,
                    {0.27920276136112, 0.235560907232481, 0.29339427008592, 0.100436002306638, 0.0457030295069207,
                     0.0457030295069207},
                    1e-13);
  // Both directions of 0-1, 0-2, 1-2 and 2-3, with different weights.
  auto const pairs = this->make(4, {{0, 1}, {1, 0}, {0, 2}, {2, 0}, {1, 2}, {2, 1}, {2, 3}, {3, 2}}, true);
  std::vector<float> const of_pairs{1, 0, 4, 2, 3, 0.5f, 1, 8};
  this->expect_near(this->pagerank(with_values(pairs, of_pairs), {.tolerance = 1e-14}).rank,
                    {0.358098685084341, 0.361203347058041, 0.204559038384912, 0.0761389294727055}, 1e-13);
  // nx.Graph(), with the weights 1, 0, 4 and 0.5 of these edges.
  auto const edges = this->make(4, {{0, 1}, {0, 2}, {1, 2}, {2, 3}});
  std::vector<float> const of_edges{1, 0, 1, 4, 0, 4, 0.5f, 0.5f};
  this->expect_near(this->pagerank(with_values(edges, of_edges), {.tolerance = 1e-14}).rank,
                    {0.109861103269155, 0.425653548642087, 0.390138896730845, 0.0743464513579131}, 1e-13);
}

TYPED_TEST_P(weighted_pagerank_test, agrees_with_the_verifier) {
  for (unsigned seed = 0; seed < 4; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seeded(seed));
    std::size_t const n = 50 + 60 * seed;
    bool const directed = seed % 2 == 1;
    bool const loops = seed >= 2;
    basic_model<float> model(n, directed, loops);
    auto g = with_values<float>(this->make(n, {}, directed, loops), {});
    auto const insert = [&](std::size_t count) {
      auto const edges = random_edges(random, n, count);
      auto const weights = this->random_weights(random, edges.size());
      g.insert(edges, weights);
      model.insert(edges, weights);
    };
    insert(n * (seed + 1));
    this->expect_ranks(g.space(), g.view(), model.to_csr(), model.values());
    auto const before = g.snapshot();
    auto const model_before = model;
    for (int round = 0; round < 3; ++round) {  // which replaces pages
      auto const gone = random_edges(random, n, n);
      g.erase(gone);
      model.erase(gone);
      insert(n);
    }
    this->expect_ranks(g.space(), g.view(), model.to_csr(), model.values());
    this->expect_ranks(g.space(), before.view(), model_before.to_csr(), model_before.values());
  }
}

// The values of edges change, and their neighbours do not.
TYPED_TEST_P(weighted_pagerank_test, follows_updates_of_values) {
  for (bool const directed : {false, true}) {
    std::mt19937 random(seeded(9));
    auto const plain = this->make(90, random_edges(random, 90, 500), directed);
    graph::csr const rows = plain.to_csr();
    auto const first = this->random_weights(random, plain);
    auto const second = this->random_weights(random, plain);
    auto g = with_values(plain, first);
    this->expect_ranks(g.space(), g.view(), rows, first);
    std::vector<graph::edge> edges;
    for (graph::vertex_id u = 0; u < 90; ++u)
      for (auto i = rows.offsets[u]; i < rows.offsets[u + 1]; ++i) edges.push_back({u, rows.targets[i]});
    EXPECT_GT(g.insert(edges, second).updated, 0u);
    this->expect_ranks(g.space(), g.view(), rows, second);
  }
}

TYPED_TEST_P(weighted_pagerank_test, ranks_of_the_reversed_view) {
  std::mt19937 random(seeded(10));
  std::vector<graph::edge> edges = random_edges(random, 120, 600);
  auto const g = this->make(120, edges, true);
  auto const weights = this->random_weights(random, g);
  for (graph::edge& e : edges) std::swap(e.source, e.target);
  auto const reversed = this->make(120, edges, true);
  graph::csr const from = g.to_csr();
  graph::csr const to = reversed.to_csr();
  std::vector<float> of_reversed;
  std::vector<std::uint64_t> next = from.offsets;  // arcs in ascending order of targets are found in order
  for (graph::vertex_id v = 0; v < 120; ++v)
    for (auto i = to.offsets[v]; i < to.offsets[v + 1]; ++i) of_reversed.push_back(weights[next[to.targets[i]]++]);
  auto const valued = with_values(g, weights);
  this->expect_ranks(valued.space(), valued.view().reversed(), to, of_reversed);
}

// Rows of all bins: for a lane, a group, a warp, and hubs.
TYPED_TEST_P(weighted_pagerank_test, rows_of_all_lengths) {
  auto const n = static_cast<graph::vertex_id>(this->sized(9'000, 2'500));
  for (bool const directed : {false, true}) {
    std::mt19937 random(seeded(3));
    std::vector<graph::edge> edges = random_edges(random, n, 2 * n);
    for (graph::vertex_id v = 1; v < n; ++v) edges.insert(edges.end(), {{0, v}, {v, n / 2}});
    for (graph::vertex_id v = 4; v < 604; ++v) edges.insert(edges.end(), {{1, v}, {v, 2}});
    for (graph::vertex_id v = 4; v < 104; ++v) edges.insert(edges.end(), {{3, v}, {v, 4}});
    auto const plain = this->make(n, edges, directed);
    auto const weights = this->random_weights(random, plain);
    auto const g = with_values(plain, weights);
    this->expect_ranks(g.space(), g.view(), plain.to_csr(), weights);
  }
}

// Rows begin at multiples of 16 bytes in pages of a graph, but at any entry in arrays of the caller.
TYPED_TEST_P(weighted_pagerank_test, rows_that_begin_anywhere) {
  std::mt19937 random(seeded(4));
  std::size_t const n = 1300;
  auto edges = random_edges(random, n, 3 * n);  // vertex 0 is in the bin for warps
  for (graph::vertex_id v = 3; v < n; ++v) edges.push_back({2, v});
  auto const plain = this->make(n, edges);
  graph::csr const c = plain.to_csr();
  auto const weights = this->random_weights(random, plain);
  // Each row has room for a power of two of neighbours, the values behind it, and up to three entries before the next.
  std::vector<std::uint32_t> words;
  std::vector<std::pair<std::size_t, graph::vertex_record>> places;
  for (graph::vertex_id v = 0; v < n; ++v) {
    words.resize(words.size() + v % 4);
    auto const degree = static_cast<std::uint32_t>(c.offsets[v + 1] - c.offsets[v]);
    std::uint32_t const capacity = std::bit_ceil(degree);
    std::size_t const begin = words.size();
    places.push_back({begin, {nullptr, degree, capacity}});
    words.resize(begin + 2 * std::size_t{capacity});
    for (std::uint32_t i = 0; i < degree; ++i) {
      words[begin + i] = c.targets[c.offsets[v] + i];
      words[begin + capacity + i] = std::bit_cast<std::uint32_t>(weights[c.offsets[v] + i]);
    }
  }
  words.resize(words.size() + 4);  // rows are read four entries at a time
  auto const space = make_space<TypeParam>();
  exec::buffer<std::uint32_t, TypeParam> pages(space, words.size());
  exec::buffer<graph::packed_record, TypeParam> rows(space, n);
  std::vector<graph::packed_record> records;
  for (auto& [begin, row] : places) {
    row.page = pages.data() + begin;
    records.emplace_back(row);
  }
  exec::copy_in<std::uint32_t>(space, pages.data(), words);
  exec::copy_in<graph::packed_record>(space, rows.data(), records);
  graph::graph_view const g({.out = rows.data(),
                             .in = rows.data(),
                             .arcs = c.targets.size(),
                             .vertices = static_cast<graph::vertex_id>(n),
                             .value_bytes = sizeof(float),
                             .numbers = graph::number_type::f32});
  auto const got = algorithms::pagerank(space, g, {.damping = 0.5, .tolerance = 1e-12, .weighted = true});
  this->expect_near(got.rank, serial_pagerank(c, 0.5, {}, false, weights), 1e-11);
}

TYPED_TEST_P(weighted_pagerank_test, equal_weights_change_nothing) {
  for (bool const directed : {false, true}) {
    std::mt19937 random(seeded(5));
    auto const g = this->make(300, random_edges(random, 300, 900), directed);
    auto const want = this->pagerank(g, {.damping = 0.5, .tolerance = 1e-13}).rank;
    for (float const w : {0.3f, 1e38f, 1e-45f})
      this->expect_near(
          this->pagerank(with_values(g, std::vector<float>(g.arcs(), w)), {.damping = 0.5, .tolerance = 1e-13}).rank,
          want, 1e-13);
  }
}

// The weights of each row times a factor of its own: ranks do not change, and are equal bit for bit if the factors are
// powers of two, however large.
TYPED_TEST_P(weighted_pagerank_test, weights_of_a_row_are_relative) {
  std::mt19937 random(seeded(6));
  auto const g = this->make(200, random_edges(random, 200, 900), true, true);
  graph::csr const c = g.to_csr();
  auto const weights = this->random_weights(random, g);
  auto const scaled_by = [&](auto const& factor) {
    auto scaled = weights;
    for (std::size_t v = 0; v < 200; ++v)
      for (auto i = c.offsets[v]; i < c.offsets[v + 1]; ++i) scaled[i] *= factor(v);
    return scaled;
  };
  for (auto const ranks : {algorithms::precision::fp64, algorithms::precision::fp32}) {
    double const tolerance = ranks == algorithms::precision::fp64 ? 1e-13 : 1e-6;
    auto const rank = [&](std::vector<float> const& w) {
      return this->pagerank(with_values(g, w), {.damping = 0.5, .tolerance = tolerance, .ranks = ranks}).rank;
    };
    auto const want = rank(weights);
    EXPECT_EQ(want, rank(weights));
    EXPECT_EQ(want, rank(scaled_by([](std::size_t v) { return std::ldexp(1.0f, v % 2 == 0 ? 100 : -90); })));
    this->expect_near(rank(scaled_by([](std::size_t v) { return 1.0f + static_cast<float>(v); })), want,
                      tolerance == 1e-6 ? 1e-6 : 1e-7);
  }
}

// An arc of weight 0 counts as missing, and a vertex that has only such arcs dangles.
TYPED_TEST_P(weighted_pagerank_test, arcs_of_weight_0) {
  for (bool const directed : {false, true}) {
    std::mt19937 random(seeded(7));
    std::size_t const n = 250;
    auto g = this->make(n, random_edges(random, n, 900), directed);
    graph::csr const c = g.to_csr();
    std::vector<float> weights;
    std::vector<graph::edge> gone;
    for (graph::vertex_id u = 0; u < n; ++u)
      for (auto i = c.offsets[u]; i < c.offsets[u + 1]; ++i) {
        graph::vertex_id const v = c.targets[i];
        bool const erased = directed ? u % 5 == 0 || (u + v) % 3 == 0 : u % 5 == 0 || v % 5 == 0 || (u + v) % 3 == 0;
        weights.push_back(erased ? 0 : 2);
        if (erased) gone.push_back({u, v});
      }
    std::vector<double> jumps(n, 1.0);
    jumps[7] = 40;
    typename TestFixture::options const o{
        .damping = 0.5, .tolerance = 1e-13, .teleport = jumps, .dangling_teleports = true};
    auto const got = this->pagerank(with_values(g, weights), o);
    g.erase(gone);
    auto const want = this->pagerank(g, o);
    this->expect_near(got.rank, want.rank, 1e-12);
  }
  auto const g = this->make(4, {{0, 1}, {1, 2}});
  EXPECT_EQ(this->pagerank(with_values(g, std::vector<float>(4))).rank, std::vector<double>(4, 0.25));
  EXPECT_EQ(this->pagerank(with_values(g, std::vector<float>{0, 0, -0.0f, -0.0f})).rank, std::vector<double>(4, 0.25));
}

// One ranker for graphs of different sizes, with weights and without.
TYPED_TEST_P(weighted_pagerank_test, one_ranker_for_several_graphs) {
  auto const space = make_space<TypeParam>();
  algorithms::pagerank_ranker<TypeParam> ranker(space);
  std::mt19937 random(seeded(8));
  for (std::size_t const n : std::vector<std::size_t>{40, 400, 3, 100}) {
    auto const g = this->make(n, random_edges(random, n, 3 * n), n == 400, false, space);
    for (bool const weighted : {true, false}) {
      auto const weights = weighted ? this->random_weights(random, g) : std::vector<float>();
      auto const valued = with_values(g, weighted ? weights : std::vector<float>(g.arcs(), -1.0f));
      EXPECT_TRUE(ranker.run(valued.view(), {.damping = 0.5, .tolerance = 1e-13, .weighted = weighted}).converged);
      auto const want = serial_pagerank(g.to_csr(), 0.5, {}, false, weights);
      this->expect_near(exec::copy_out(g.space(), ranker.rank(), n), want, 1e-12);
      double dangling = 0;
      graph::csr const c = g.to_csr();
      for (std::size_t v = 0; v < n; ++v) {
        bool sends = false;
        for (auto i = c.offsets[v]; i < c.offsets[v + 1]; ++i) sends = sends || !weighted || weights[i] > 0;
        dangling += sends ? 0 : want[v];
      }
      EXPECT_NEAR(ranker.dangling(), dangling, 1e-12);
    }
  }
}

TYPED_TEST_P(weighted_pagerank_test, invalid_weights_are_refused) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  auto const g = this->make(5, {{1, 3}, {3, 4}, {0, 3}}, true);
  this->expect_contains(this->refusal_of(g, {1, 1, -0.5f}),
                        "pagerank: the weight of the arc 3 -> 4 is -0.5; weights must be finite, and not negative");
  this->expect_contains(this->refusal_of(g, {1, 1, -1e-10f}), "3 -> 4 is -1e-10;");
  this->expect_contains(this->refusal_of(g, {1, nan, 1}), "1 -> 3 is");
  this->expect_contains(this->refusal_of(g, {inf, 1, 1}), "0 -> 3 is inf");
  this->expect_contains(this->refusal_of(g, {1, -inf, nan}), "1 -> 3 is -inf");
  EXPECT_EQ(this->refusal_of(g, {0, -0.0f, 1}), "");
  // The first arc in the order of the CSR, among many in a row of several parts.
  std::vector<graph::edge> rays;
  for (graph::vertex_id v = 1; v < 2500; ++v) rays.push_back({0, v});
  auto const star = this->make(2500, rays, true);
  std::vector<float> weights(star.arcs(), 1);
  for (std::size_t i = 1700; i < weights.size(); ++i) weights[i] = -static_cast<float>(i);
  this->expect_contains(this->refusal_of(star, weights), "0 -> 1701 is -1700;");
  this->expect_contains(refusal([&] { (void)algorithms::pagerank(g.space(), g.view(), {.weighted = true}); }),
                        "no numbers as values");
  auto const one_way = [&](auto const& settings) {
    graph_on<TypeParam, float> const directed(make_space<TypeParam>(), 3, settings);
    return refusal([&] { (void)this->pagerank(directed); });
  };
  this->expect_contains(one_way(graph::options{.directed = true, .in_neighbours = false}),
                        "does not keep in-neighbours");
  EXPECT_EQ(one_way(graph::options{.directed = true}), "");
  graph_on<TypeParam, float> const none(make_space<TypeParam>(), 0);
  EXPECT_TRUE(this->pagerank(none).converged);
}

// A ranker that has refused weights still has the ranks of the last run.
TYPED_TEST_P(weighted_pagerank_test, ranks_survive_invalid_weights) {
  auto const g = this->make(5, {{1, 3}, {3, 4}, {0, 3}});
  algorithms::pagerank_ranker<TypeParam> ranker(g.space());
  (void)ranker.run(g.view(), {});
  auto const before = exec::copy_out(g.space(), ranker.rank(), 5);
  auto const invalid = with_values(g, std::vector<float>(6, -1.0f));
  EXPECT_THROW((void)ranker.run(invalid.view(), {.weighted = true}), error);
  EXPECT_EQ(exec::copy_out(g.space(), ranker.rank(), 5), before);
}

REGISTER_TYPED_TEST_SUITE_P(weighted_pagerank_test, published_values, agrees_with_the_verifier,
                            follows_updates_of_values, ranks_of_the_reversed_view, rows_of_all_lengths,
                            rows_that_begin_anywhere, equal_weights_change_nothing, weights_of_a_row_are_relative,
                            arcs_of_weight_0, one_ranker_for_several_graphs, invalid_weights_are_refused,
                            ranks_survive_invalid_weights);

}  // namespace wyrm::tests
