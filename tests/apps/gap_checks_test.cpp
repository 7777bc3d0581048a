// SPDX-License-Identifier: Apache-2.0
// Tests that the checks of `wyrm bench gap` accept right results and refuse wrong ones. Expected values are by hand.
#include "../../apps/gap_checks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace wyrm::tests {

namespace {

using namespace wyrm::apps;
using vertices = std::vector<graph::vertex_id>;
using numbers = std::vector<double>;

constexpr graph::vertex_id none = graph::no_vertex;

/// A triangle 0 1 2 with a tail 2 3, and the isolated vertex 4.
graph::csr const tail{{0, 2, 4, 7, 8, 8}, {1, 2, 0, 2, 0, 1, 3, 2}};
/// An arc from 0 to 1.
graph::csr const arc{{0, 1, 1}, {1}};

TEST(gap_checks, trees_of_shortest_paths) {
  EXPECT_TRUE(is_bfs_tree(tail, 0, {0, 0, 0, 2, none}));
  EXPECT_TRUE(is_bfs_tree(arc, 1, {none, 1}));
  EXPECT_FALSE(is_bfs_tree(tail, 0, {1, 0, 0, 2, none})) << "the source";
  EXPECT_FALSE(is_bfs_tree(tail, 0, {0, 0, 1, 2, none})) << "a longer path";
  EXPECT_FALSE(is_bfs_tree(tail, 0, {0, 0, 0, 1, none})) << "no edge";
  EXPECT_FALSE(is_bfs_tree(tail, 0, {0, 0, 0, none, none})) << "not reached";
  EXPECT_FALSE(is_bfs_tree(tail, 0, {0, 0, 0, 2, 0})) << "reached from nowhere";
  EXPECT_FALSE(is_bfs_tree(arc, 1, {1, 1})) << "against the arc";
  EXPECT_FALSE(is_bfs_tree(tail, 0, {0, 0, 0, 2}));
}

TEST(gap_checks, distances) {
  numbers const weights{1, 5, 1, 2, 5, 2, 0.5, 0.5};
  double const far = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(are_distances(tail, weights, 0, {0, 1, 3, 3.5, far}));
  for (numbers const& wrong : {numbers{0, 1, 5, 3.5, far}, numbers{0, 1, 3, 3.4, far}, numbers{0, 1, 3, 3.5, 9},
                               numbers{0, 1, 3, far, far}, numbers{0, 1, 3, 3.5}})
    EXPECT_FALSE(are_distances(tail, weights, 0, wrong));
}

TEST(gap_checks, ranks) {
  EXPECT_TRUE(are_ranks({{0, 1, 2}, {1, 0}}, {0.5, 0.5}, 1e-9));
  EXPECT_FALSE(are_ranks({{0, 1, 2}, {1, 0}}, {0.6, 0.4}, 1e-2));
  // r0 = 0.075 + 0.425 r1, and r0 + r1 = 1.
  EXPECT_TRUE(are_ranks(arc, {0.5 / 1.425, 0.925 / 1.425}, 1e-9));
  EXPECT_FALSE(are_ranks(arc, {0.075, 0.13875}, 1e-2)) << "the rank of vertex 1 is dropped";
  EXPECT_FALSE(are_ranks(arc, {std::nan(""), 0.5}, 1e-2));
  EXPECT_FALSE(are_ranks(arc, {1}, 10));
}

TEST(gap_checks, components) {
  EXPECT_TRUE(are_components(tail, {3, 3, 3, 3, 4}));
  EXPECT_TRUE(are_components(arc, {1, 1})) << "directions are ignored";
  EXPECT_FALSE(are_components(tail, {3, 3, 3, 2, 4})) << "divided";
  EXPECT_FALSE(are_components(tail, {3, 3, 3, 3, 3})) << "joined";
  EXPECT_FALSE(are_components(tail, {3, 3, 3, 3}));
}

TEST(gap_checks, betweenness) {
  EXPECT_TRUE(are_betweenness_scores(tail, vertices{0, 1, 2, 3, 4}, {0, 0, 4, 0, 0}));
  EXPECT_TRUE(are_betweenness_scores(tail, vertices{0, 0}, {0, 0, 2, 0, 0})) << "a source counts each time";
  for (numbers const& wrong : {numbers{0, 0, 2, 0, 0}, numbers{0, 1, 4, 0, 0}, numbers{0, 0, 4.0001, 0, 0},
                               numbers{0, 0, std::nan(""), 0, 0}, numbers{0, 0, 4, 0}})
    EXPECT_FALSE(are_betweenness_scores(tail, vertices{0, 1, 2, 3, 4}, wrong));
}

TEST(gap_checks, triangles) {
  EXPECT_EQ(count_triangles(tail), 1u);
  EXPECT_EQ(count_triangles({{0, 3, 6, 9, 12}, {1, 2, 3, 0, 2, 3, 0, 1, 3, 0, 1, 2}}), 4u) << "a clique";
  EXPECT_EQ(count_triangles({{0}, {}}), 0u);
}

}  // namespace

}  // namespace wyrm::tests
