// SPDX-License-Identifier: Apache-2.0
// Maintained distances on the CPU, and with tiles of fibers.
#include <cstdint>
#include <limits>
#include <vector>

#include "../support/simt_space.hpp"
#include "maintained_distances_suite.hpp"

namespace wyrm::tests {

#if WYRM_TEST_HOST
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, maintained_distances_test, testing::Types<exec::host_space>);
#endif
#if WYRM_TEST_SIMT
INSTANTIATE_TYPED_TEST_SUITE_P(simt, maintained_distances_test, testing::Types<simt_space>);
#endif

TEST(maintained_distances, of_a_graph_whose_space_is_chosen_at_run_time) {
  graph::any_graph g(exec::make_space("cpu"), alloc::default_name, 4, {.values = graph::number_type::u32});
  auto const hops = algorithms::maintain_bfs(g, {.source = 1, .full_run = 0});
  auto const lengths = algorithms::maintain_sssp(g, {.source = 1, .full_run = 1});
  auto const by_arcs = algorithms::maintain_sssp(g, {.source = 1, .weighted = false});
  g.attach(*hops);
  g.attach(*lengths);
  g.attach(*by_arcs);
  g.insert(std::vector<graph::edge>{{0, 1}, {1, 2}, {0, 2}}, graph::host_numbers(std::vector<std::uint32_t>{7, 1, 5}));
  constexpr double far = std::numeric_limits<double>::infinity();
  EXPECT_EQ(hops->distance(), (std::vector<std::uint32_t>{1, 0, 1, graph::no_vertex}));
  EXPECT_EQ(lengths->distance(), (std::vector<double>{6, 0, 1, far}));
  EXPECT_EQ(by_arcs->distance(), (std::vector<double>{1, 0, 1, far}));
  EXPECT_EQ(hops->full_runs(), 1u);
  EXPECT_EQ(lengths->full_runs(), 0u);
  EXPECT_EQ(hops->reached() + lengths->reached() + by_arcs->source(), 7u);
}

}  // namespace wyrm::tests
