// SPDX-License-Identifier: Apache-2.0
#include "../../datasets/generators.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "../support/seed.hpp"

namespace wyrm::tests {

// As ids are permuted, the distribution of edges over the quarters of the matrix cannot be observed, but the
// distribution of degrees can: the sum over all vertices of (fraction of arcs)^2 is (0.76^2 + 0.24^2)^scale, because
// sources are in the upper half with probability 0.76 at each level.
TEST(rmat, degrees_have_the_expected_skew) {
  unsigned const scale = 12;
  graph::edge_list const g = datasets::rmat(scale, 256, 3);
  EXPECT_EQ(g.vertices, 4096u);
  EXPECT_FALSE(g.directed);
  ASSERT_EQ(g.edges.size(), 256u * 4096);
  std::vector<double> out(g.vertices);
  std::vector<double> in(g.vertices);
  for (auto const& [u, v] : g.edges) {
    ASSERT_LT(u, g.vertices);
    ASSERT_LT(v, g.vertices);
    ++out[u];
    ++in[v];
  }
  double const expected = std::pow(0.76 * 0.76 + 0.24 * 0.24, scale);
  auto const m = static_cast<double>(g.edges.size());
  for (auto const& degrees : {out, in}) {
    double sum = 0;
    for (double const d : degrees) sum += d / m * (d / m);
    EXPECT_NEAR(sum, expected, 0.03 * expected);
    // The vertex with the largest fraction is in the upper half at each level.
    EXPECT_NEAR(*std::max_element(degrees.begin(), degrees.end()) / m, std::pow(0.76, scale),
                0.03 * std::pow(0.76, scale));
  }
}

TEST(rmat, is_a_function_of_the_seed) {
  EXPECT_EQ(datasets::rmat(8, 4, 1).edges, datasets::rmat(8, 4, 1).edges);
  EXPECT_NE(datasets::rmat(8, 4, 1).edges, datasets::rmat(8, 4, 2).edges);
  // Edge i + 1 of one seed is not edge i of the next.
  datasets::rmat_edges const one{16, 1};
  datasets::rmat_edges const two{16, 2};
  std::size_t equal = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) equal += one.bits(i + 1, 0) == two.bits(i, 0);
  EXPECT_EQ(equal, 0u);
  EXPECT_THROW((void)datasets::rmat(0, 1, 1), error);
  EXPECT_THROW((void)datasets::rmat(32, 1, 1), error);
}

// Ids are permuted, so all ids of a small graph occur.
TEST(rmat, every_vertex_can_occur) {
  for (unsigned const scale : {1u, 2u, 5u}) {
    std::set<graph::vertex_id> ids;
    for (auto const& [u, v] : datasets::rmat(scale, 20000, 5).edges) ids.insert({u, v});
    EXPECT_EQ(ids.size(), std::size_t{1} << scale);
  }
}

TEST(random_geometric, has_the_mean_degree_of_its_radius) {
  for (std::size_t const n : {std::size_t{1000}, std::size_t{1} << 15}) {
    graph::edge_list const g = datasets::random_geometric(n, 7);
    EXPECT_EQ(g.vertices, n);
    auto const nodes = static_cast<double>(n);
    // The mean degree is pi r^2 n, and smaller for points near the border.
    double const mean = 2 * static_cast<double>(g.edges.size()) / nodes;
    double const expected = 3.14159265 * 0.55 * 0.55 * std::log(nodes);
    EXPECT_GT(mean, 0.85 * expected);
    EXPECT_LT(mean, 1.02 * expected);
    std::set<graph::edge> distinct;
    for (auto const& [u, v] : g.edges) {
      ASSERT_LT(u, v);
      ASSERT_LT(v, n);
      distinct.insert({u, v});
    }
    EXPECT_EQ(distinct.size(), g.edges.size());
  }
  EXPECT_TRUE(datasets::random_geometric(1, 1).edges.empty());
  EXPECT_EQ(datasets::random_geometric(0, 1).vertices, 0u);
}

// The published graph of DIMACS10 with 2^15 vertices has 160,240 edges; another draw has nearly as many.
TEST(random_geometric, is_like_the_published_graph) {
  EXPECT_NEAR(static_cast<double>(datasets::random_geometric(std::size_t{1} << 15, 1).edges.size()), 160240, 3000);
}

// Two levels share the bits of a draw. With few levels each cell of the matrix has many edges; ids are permuted, so the
// sorted frequencies of all cells are compared with the sorted products of the parameters.
TEST(rmat, every_level_is_skewed) {
  for (unsigned const scale : {1u, 2u, 3u, 4u}) {
    auto const g = datasets::rmat(scale, 100'000 >> scale, seeded(9));
    std::vector<double> arcs(std::size_t{1} << 2 * scale);
    for (auto const& [u, v] : g.edges) ++arcs[std::size_t{u} << scale | v];
    std::sort(arcs.rbegin(), arcs.rend());
    // The probabilities of all cells: products of one factor for each level.
    std::vector<double> want{1};
    for (unsigned level = 0; level < scale; ++level) {
      std::vector<double> finer;
      for (double const p : want)
        for (double const factor : {0.57, 0.19, 0.19, 0.05}) finer.push_back(p * factor);
      want = finer;
    }
    std::sort(want.rbegin(), want.rend());
    auto const m = static_cast<double>(g.edges.size());
    for (std::size_t i = 0; i < want.size(); ++i)
      EXPECT_NEAR(arcs[i] / m, want[i], 6 * std::sqrt(want[i] / m)) << scale << " levels, cell " << i;
  }
}

}  // namespace wyrm::tests
