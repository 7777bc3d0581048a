// SPDX-License-Identifier: Apache-2.0
// Betweenness on the CPU, and with tiles of fibers; and of a real graph.
#include <vector>

#include "../../loaders/loaders.hpp"
#include "../support/simt_space.hpp"
#include "../support/truth.hpp"
#include "betweenness_suite.hpp"

namespace wyrm::tests {

#if WYRM_TEST_HOST
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, betweenness_test, testing::Types<exec::host_space>);
#endif
#if WYRM_TEST_SIMT
INSTANTIATE_TYPED_TEST_SUITE_P(simt, betweenness_test, testing::Types<simt_space>);
#endif

// The karate club of Zachary (1977): values of NetworkX 3.6.
TEST(betweenness, of_the_karate_club) {
  graph::any_graph const g =
      graph::build(exec::make_space("cpu"), alloc::default_name, loaders::load(data_folder() / "karate.graph"));
  auto const score = algorithms::betweenness(g).score;
  ASSERT_EQ(score.size(), 34u);
  EXPECT_NEAR(score[0], 231.0714285714286, 1e-10);
  EXPECT_NEAR(score[1], 28.478571428571424, 1e-10);
  EXPECT_NEAR(score[2], 75.85079365079366, 1e-10);
  EXPECT_NEAR(score[31], 73.00952380952378, 1e-10);
  EXPECT_NEAR(score[32], 76.69047619047619, 1e-10);
  EXPECT_NEAR(score[33], 160.5515873015873, 1e-10);
  auto const scaled = algorithms::betweenness(g, {.scale = algorithms::betweenness_scale::pairs}).score;
  EXPECT_NEAR(scaled[33], 0.30407497594996, 1e-12);
  std::vector<graph::vertex_id> const source{11};
  EXPECT_EQ(algorithms::betweenness(g, source, {.both_directions = true}).score[0], 32);  // all paths from a leaf
}

}  // namespace wyrm::tests
