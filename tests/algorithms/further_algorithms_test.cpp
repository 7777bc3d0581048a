// SPDX-License-Identifier: Apache-2.0
// Components, BFS and core numbers on the CPU, and with tiles of fibers.
#include "../../alloc/registry.hpp"
#include "../../graph/any_graph.hpp"
#include "../support/simt_space.hpp"
#include "further_algorithms_suite.hpp"

namespace wyrm::tests {

#if WYRM_TEST_HOST
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, further_algorithms_test, testing::Types<exec::host_space>);
#endif
#if WYRM_TEST_SIMT
INSTANTIATE_TYPED_TEST_SUITE_P(simt, further_algorithms_test, testing::Types<simt_space>);
#endif

// The removal of one vertex allows that of more vertices than a thread of a CPU keeps to itself.
TEST(further_algorithms, core_numbers_of_a_dense_graph) {
  constexpr graph::vertex_id inner = 600;
  std::vector<graph::edge> edges;
  for (graph::vertex_id u = 0; u < inner; ++u) {
    for (graph::vertex_id v = 0; v < u; ++v) edges.push_back({u, v});
    edges.push_back({u, inner});
    edges.push_back({inner + 1, u});
  }
  edges.push_back({inner, inner + 2});
  std::vector<std::uint32_t> expected(inner + 3, inner);
  expected[inner + 2] = 1;
  graph::any_graph g(exec::make_space("cpu"), alloc::default_name, inner + 3);
  g.insert(edges);
  EXPECT_EQ(algorithms::core_numbers(g).core, expected);
}

TEST(further_algorithms, of_a_graph_whose_space_is_chosen_at_run_time) {
  using ids = std::vector<graph::vertex_id>;
  graph::any_graph g(exec::make_space("cpu"), alloc::default_name, 6);
  g.insert(std::vector<graph::edge>{{1, 2}, {2, 3}, {3, 1}, {3, 5}});
  EXPECT_EQ(algorithms::components(g).label, (ids{0, 1, 1, 1, 4, 1}));
  EXPECT_EQ(algorithms::bfs(g, ids{1}).distance, (std::vector<std::uint32_t>{~0u, 0, 1, 1, ~0u, 2}));
  EXPECT_EQ(algorithms::core_numbers(g).core, (std::vector<std::uint32_t>{0, 2, 2, 2, 0, 1}));
  auto const maintained = algorithms::maintain_components(g);
  g.attach(*maintained);
  g.insert(std::vector<graph::edge>{{0, 4}});
  g.erase(std::vector<graph::edge>{{3, 5}, {1, 2}});
  EXPECT_EQ(maintained->label(), (ids{0, 1, 1, 1, 0, 5}));
  EXPECT_EQ(maintained->count(), 3u);
  EXPECT_EQ(maintained->largest(), 3u);
}

}  // namespace wyrm::tests
