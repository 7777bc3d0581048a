// SPDX-License-Identifier: Apache-2.0
// Queries on the CPU, on simulated warps (simt_space), and on any_graph.
#include "../support/simt_space.hpp"
#include "query_suite.hpp"
#include "sample_suite.hpp"

namespace wyrm::tests {

#if WYRM_TEST_HOST
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, query_test, testing::Types<exec::host_space>);
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, sample_test, testing::Types<exec::host_space>);
#endif
#if WYRM_TEST_SIMT
INSTANTIATE_TYPED_TEST_SUITE_P(simt, query_test, testing::Types<simt_space>);
INSTANTIATE_TYPED_TEST_SUITE_P(simt, sample_test, testing::Types<simt_space>);
#endif

TEST(queries_of_any_graph, are_those_of_the_view) {
  graph::any_graph g(exec::make_space("cpu"), "ouroboros-s-p", 6);
  g.insert({{0, 1}, {0, 2}, {0, 3}, {1, 2}, {3, 4}});
  std::vector<graph::vertex_id> const vertices{0, 5, 3};
  std::vector<graph::edge> const pairs{{0, 1}, {1, 0}, {1, 3}, {5, 5}};
  EXPECT_EQ(graph::contains(g, pairs), (std::vector<std::uint8_t>{1, 1, 0, 0}));
  EXPECT_EQ(graph::degrees(g, vertices), (std::vector<std::uint32_t>{3, 0, 2}));
  EXPECT_EQ(graph::neighbours(g, vertices), (graph::csr{{0, 3, 3, 5}, {1, 2, 3, 0, 4}}));
  EXPECT_EQ(graph::neighbours_at(g, vertices, std::vector<std::uint32_t>{2, 0, 1}),
            (std::vector<graph::vertex_id>{3, graph::no_vertex, 4}));
  EXPECT_EQ(graph::common_neighbours_count(g, pairs), (std::vector<std::uint32_t>{1, 1, 1, 0}));
  EXPECT_EQ(graph::common_neighbours(g, pairs), (graph::csr{{0, 1, 2, 3, 3}, {2, 2, 0}}));
  auto const hops = graph::sample_neighbours(g, vertices, {.fan_out = {5, 1}});
  ASSERT_EQ(hops.size(), 2u);
  EXPECT_EQ(hops[0].targets, (std::vector<graph::vertex_id>{1, 2, 3, 0, 4}));
  EXPECT_EQ(hops[1].sources, hops[0].targets);
}

}  // namespace wyrm::tests
