// SPDX-License-Identifier: Apache-2.0
// Personalised PageRank on the CPU, and with tiles of fibers.
#include "../support/simt_space.hpp"
#include "personalised_pagerank_suite.hpp"

namespace wyrm::tests {

#if WYRM_TEST_HOST
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, personalised_pagerank_test, testing::Types<exec::host_space>);
#endif
#if WYRM_TEST_SIMT
INSTANTIATE_TYPED_TEST_SUITE_P(simt, personalised_pagerank_test, testing::Types<simt_space>);
#endif

TEST(personalised_pagerank, of_a_graph_whose_space_is_chosen_at_run_time) {
  graph::any_graph g(exec::make_space("cpu"), alloc::default_name, 3, {.directed = true});
  g.insert({{0, 1}});
  std::vector<graph::vertex_id> const sources{2, 1};
  auto const got = algorithms::personalised_pageranks(g, sources);
  using ranked = std::vector<algorithms::ranked_vertex>;
  EXPECT_EQ(got.top, (std::vector<ranked>{{{2, 1.0}}, {{1, 1.0}}}));
  std::vector<algorithms::weighted_source> const set{{2, 7.0}};
  EXPECT_EQ(algorithms::personalised_pagerank(g, set).rank[0], 0);
}

}  // namespace wyrm::tests
