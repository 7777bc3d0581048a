// SPDX-License-Identifier: Apache-2.0
// Louvain and Leiden on the CPU, and with tiles of fibers.
#include "../../alloc/registry.hpp"
#include "../../graph/any_graph.hpp"
#include "../support/simt_space.hpp"
#include "modules_suite.hpp"

namespace wyrm::tests {

#if WYRM_TEST_HOST
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, modules_test, testing::Types<exec::host_space>);
#endif
#if WYRM_TEST_SIMT
INSTANTIATE_TYPED_TEST_SUITE_P(simt, modules_test, testing::Types<simt_space>);
#endif

TEST(modules, of_a_graph_whose_space_is_chosen_at_run_time) {
  using ids = std::vector<std::uint32_t>;
  graph::any_graph g(exec::make_space("cpu"), alloc::default_name, 7);
  g.insert(std::vector<graph::edge>{{1, 2}, {2, 3}, {3, 1}, {4, 5}, {5, 6}, {6, 4}, {3, 4}});
  EXPECT_EQ(algorithms::louvain(g).label, (ids{0, 1, 1, 1, 2, 2, 2}));
  EXPECT_EQ(algorithms::leiden(g).label, (ids{0, 1, 1, 1, 2, 2, 2}));
}

}  // namespace wyrm::tests
