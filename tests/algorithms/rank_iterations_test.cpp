// SPDX-License-Identifier: Apache-2.0
// PageRank by other iterations than the power method on the CPU, and with tiles of fibers.
#include <random>
#include <vector>

#include "../support/simt_space.hpp"
#include "rank_iterations_suite.hpp"

namespace wyrm::tests {

#if WYRM_TEST_HOST
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, rank_iterations_test, testing::Types<exec::host_space>);

TEST(rank_iterations, ranks_are_the_same_for_every_number_of_threads) {
  graph::vertex_id const n = 20001;
  std::mt19937 random(seeded(1));
  std::vector<graph::edge> edges(5 * n);
  for (graph::edge& e : edges)
    e = {static_cast<graph::vertex_id>(random() % n), static_cast<graph::vertex_id>(random() % n)};
  graph::any_graph g(exec::make_space("cpu"), alloc::default_name, n, {});
  g.insert(edges);
  algorithms::pagerank_options const o{.iteration = algorithms::rank_iteration::gauss_seidel};
  auto const want = algorithms::pagerank(exec::host_space(1), g.view(), o).rank;
  for (unsigned const threads : {2u, 3u, 8u})
    EXPECT_EQ(algorithms::pagerank(exec::host_space(threads), g.view(), o).rank, want) << threads << " threads";
  EXPECT_EQ(algorithms::pagerank(g, o).rank, want);
}
#endif
#if WYRM_TEST_SIMT
INSTANTIATE_TYPED_TEST_SUITE_P(simt, rank_iterations_test, testing::Types<simt_space>);
#endif

}  // namespace wyrm::tests
