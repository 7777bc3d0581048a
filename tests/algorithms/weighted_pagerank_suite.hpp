// SPDX-License-Identifier: Apache-2.0
// PageRank with weights of arcs, for any space: published values, the serial verifier, and changes of weights that must
// not change ranks.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "../../algorithms/pagerank.hpp"
#include "../../bench/csr_rows.hpp"
#include "../graph/model.hpp"
#include "../support/seed.hpp"
#include "../support/verify.hpp"
#include "graphs_fixture.hpp"

namespace wyrm::tests {

template <class Space>
class weighted_pagerank_test : public graphs_test<Space> {
 protected:
  using graph_type = typename graphs_test<Space>::graph_type;
  using options = algorithms::pagerank_options;
  using floats = std::vector<float>;

  static auto pagerank(graph_type const& g, options const& o) { return algorithms::pagerank(g.space(), g.view(), o); }
  /// From 2^-21 to 2^20; an eighth are 0.
  static floats random_weights(std::mt19937& random, std::size_t n) {
    floats weights(n);
    for (float& w : weights)
      if (random() % 8 != 0)
        w = std::ldexp(1 + static_cast<float>(random() % 1024) / 1024, static_cast<int>(random() % 41) - 21);
    return weights;
  }
  static void expect_near(std::vector<double> const& got, std::vector<double> const& want, double error) {
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t v = 0; v < want.size(); ++v) ASSERT_NEAR(got[v], want[v], error) << "vertex " << v;
  }
  /// With random weights. A damping of 1/2 needs few iterations.
  static void expect_ranks(graph_type const& g, std::mt19937& random) {
    floats const weights = random_weights(random, g.arcs());
    auto const want = serial_pagerank(g.to_csr(), 0.5, {}, false, weights);
    auto const got = pagerank(g, {.damping = 0.5, .tolerance = 1e-12, .weights = weights});
    EXPECT_TRUE(got.converged);
    EXPECT_NEAR(std::accumulate(got.rank.begin(), got.rank.end(), 0.0), 1.0, 1e-12);
    expect_near(got.rank, want, 1e-11);
    auto const fp32 =
        pagerank(g, {.damping = 0.5, .tolerance = 1e-6, .weights = weights, .ranks = algorithms::precision::fp32});
    EXPECT_TRUE(fp32.converged);
    expect_near(fp32.rank, want, 1e-6);
  }
  /// Checks that weights are refused with `what` in the message.
  static void expect_refused(graph_type const& g, floats const& weights, std::string const& what) {
    try {
      (void)pagerank(g, {.weights = weights});
      ADD_FAILURE() << "weights were accepted: " << what;
    } catch (error const& e) {
      EXPECT_EQ(e.code(), error_code::bad_argument);
      EXPECT_NE(std::string(e.what()).find(what), std::string::npos) << e.what();
    }
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
  this->expect_near(this->pagerank(arcs, {.tolerance = 1e-14, .weights = of_arcs}).rank,
                    {0.27920276136112, 0.235560907232481, 0.29339427008592, 0.100436002306638, 0.0457030295069207,
                     0.0457030295069207},
                    1e-13);
  // Both directions of 0-1, 0-2, 1-2 and 2-3, with different weights.
  auto const edges = this->make(4, {{0, 1}, {0, 2}, {1, 2}, {2, 3}});
  std::vector<float> const of_edges{1, 0, 4, 2, 3, 0.5f, 1, 8};
  this->expect_near(this->pagerank(edges, {.tolerance = 1e-14, .weights = of_edges}).rank,
                    {0.358098685084341, 0.361203347058041, 0.204559038384912, 0.0761389294727055}, 1e-13);
}

TYPED_TEST_P(weighted_pagerank_test, agrees_with_the_verifier) {
  for (unsigned seed = 0; seed < 4; ++seed) {
    std::mt19937 random(seeded(seed));
    std::size_t const n = 50 + 60 * seed;
    auto g = this->make(n, random_edges(random, n, n * (seed + 1)), seed % 2 == 1, seed >= 2);
    this->expect_ranks(g, random);
    for (int round = 0; round < 3; ++round) {  // which replaces pages
      g.erase(random_edges(random, n, n));
      g.insert(random_edges(random, n, n));
    }
    this->expect_ranks(g, random);
  }
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
    this->expect_ranks(this->make(n, edges, directed), random);
  }
}

// Rows begin at multiples of 16 bytes in pages of a graph, but at any entry in a CSR.
TYPED_TEST_P(weighted_pagerank_test, rows_that_begin_anywhere) {
  std::mt19937 random(seeded(4));
  std::size_t const n = 1300;
  auto edges = random_edges(random, n, 3 * n);  // vertex 0 is in the bin for warps
  for (graph::vertex_id v = 3; v < n; ++v) edges.push_back({2, v});
  graph::csr const c = this->make(n, edges).to_csr();
  auto const space = make_space<TypeParam>();
  exec::buffer<std::uint64_t, TypeParam> offsets(space, n + 1);
  exec::buffer<graph::vertex_id, TypeParam> targets(space,
                                                    c.targets.size() + 4);  // rows are read four entries at a time
  exec::buffer<graph::packed_record, TypeParam> rows(space, n);
  exec::copy_in<std::uint64_t>(space, offsets.data(), c.offsets);
  exec::copy_in<graph::vertex_id>(space, targets.data(), c.targets);
  exec::for_each(space, n, bench::point_at_rows{offsets.data(), targets.data(), rows.data()});
  graph::graph_view const g(rows.data(), rows.data(), static_cast<graph::vertex_id>(n), c.targets.size(), false);
  auto const weights = this->random_weights(random, c.targets.size());
  auto const got = algorithms::pagerank(space, g, {.damping = 0.5, .tolerance = 1e-12, .weights = weights});
  this->expect_near(got.rank, serial_pagerank(c, 0.5, {}, false, weights), 1e-11);
}

TYPED_TEST_P(weighted_pagerank_test, equal_weights_change_nothing) {
  for (bool const directed : {false, true}) {
    std::mt19937 random(seeded(5));
    auto const g = this->make(300, random_edges(random, 300, 900), directed);
    auto const want = this->pagerank(g, {.damping = 0.5, .tolerance = 1e-13}).rank;
    for (float const w : {0.3f, 1e38f, 1e-45f})
      this->expect_near(
          this->pagerank(g, {.damping = 0.5, .tolerance = 1e-13, .weights = std::vector<float>(g.arcs(), w)}).rank,
          want, 1e-13);
  }
}

// The weights of each row times a factor of its own: ranks do not change, and are equal bit for bit if the factors are
// powers of two, however large.
TYPED_TEST_P(weighted_pagerank_test, weights_of_a_row_are_relative) {
  std::mt19937 random(seeded(6));
  auto const g = this->make(200, random_edges(random, 200, 900), true, true);
  graph::csr const c = g.to_csr();
  auto weights = this->random_weights(random, g.arcs());
  auto const scaled_by = [&](auto const& factor) {
    auto scaled = weights;
    for (std::size_t v = 0; v < 200; ++v)
      for (auto i = c.offsets[v]; i < c.offsets[v + 1]; ++i) scaled[i] *= factor(v);
    return scaled;
  };
  for (auto const ranks : {algorithms::precision::fp64, algorithms::precision::fp32}) {
    double const tolerance = ranks == algorithms::precision::fp64 ? 1e-13 : 1e-6;
    auto const rank = [&](std::vector<float> const& w) {
      return this->pagerank(g, {.damping = 0.5, .tolerance = tolerance, .weights = w, .ranks = ranks}).rank;
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
    auto const got = this->pagerank(
        g, {.damping = 0.5, .tolerance = 1e-13, .teleport = jumps, .dangling_teleports = true, .weights = weights});
    g.erase(gone);
    auto const want =
        this->pagerank(g, {.damping = 0.5, .tolerance = 1e-13, .teleport = jumps, .dangling_teleports = true});
    this->expect_near(got.rank, want.rank, 1e-12);
  }
  auto const g = this->make(4, {{0, 1}, {1, 2}});
  EXPECT_EQ(this->pagerank(g, {.weights = std::vector<float>(4)}).rank, std::vector<double>(4, 0.25));
}

// One ranker for graphs of different sizes, with weights and without.
TYPED_TEST_P(weighted_pagerank_test, one_ranker_for_several_graphs) {
  auto const space = make_space<TypeParam>();
  algorithms::pagerank_ranker<TypeParam> ranker(space);
  std::mt19937 random(seeded(8));
  for (std::size_t const n : std::vector<std::size_t>{40, 400, 3, 100}) {
    auto const g = this->make(n, random_edges(random, n, 3 * n), n == 400, false, space);
    for (bool const weighted : {true, false}) {
      auto const weights = weighted ? this->random_weights(random, g.arcs()) : std::vector<float>();
      EXPECT_TRUE(ranker.run(g.view(), {.damping = 0.5, .tolerance = 1e-13, .weights = weights}).converged);
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
  auto const g = this->make(5, {{1, 3}, {3, 4}, {0, 3}}, true);
  this->expect_refused(g, {1, 2}, "2 weights for 3 arcs");
  this->expect_refused(g, {1, 2, 3, 4}, "4 weights for 3 arcs");
  this->expect_refused(g, {1, 1, -0.5f}, "weight 2, of the arc 3 -> 4, is -0.5");
  this->expect_refused(g, {1, 1, -1e-10f}, "is -1e-10;");
  this->expect_refused(g, {1, std::numeric_limits<float>::quiet_NaN(), 1}, "weight 1, of the arc 1 -> 3, is");
  this->expect_refused(g, {std::numeric_limits<float>::infinity(), 1, 1}, "weight 0, of the arc 0 -> 3, is inf");
  this->expect_refused(this->make(0, {}), {1}, "1 weights for 0 arcs");
  this->expect_refused(this->make(2, {}), {1}, "1 weights for 0 arcs");
  EXPECT_NO_THROW(this->pagerank(g, {.weights = {0, -0.0f, 1}}));
  typename TestFixture::graph_type one_way(make_space<TypeParam>(), 3, {.directed = true, .in_neighbours = false});
  one_way.insert(std::vector<graph::edge>{{0, 1}});
  this->expect_refused(one_way, {1}, "does not keep in-neighbours");
}

REGISTER_TYPED_TEST_SUITE_P(weighted_pagerank_test, published_values, agrees_with_the_verifier, rows_of_all_lengths,
                            rows_that_begin_anywhere, equal_weights_change_nothing, weights_of_a_row_are_relative,
                            arcs_of_weight_0, one_ranker_for_several_graphs, invalid_weights_are_refused);

}  // namespace wyrm::tests
