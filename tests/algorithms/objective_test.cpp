// SPDX-License-Identifier: Apache-2.0
// Objectives of clustering on the CPU, and with tiles of fibers.
#include "../support/simt_space.hpp"
#include "objective_suite.hpp"

namespace wyrm::tests {

#if WYRM_TEST_HOST
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, objective_test, testing::Types<exec::host_space>);
#endif
#if WYRM_TEST_SIMT
INSTANTIATE_TYPED_TEST_SUITE_P(simt, objective_test, testing::Types<simt_space>);
#endif

TEST(objective, maintained_by_any_graph) {
  graph::any_graph g(exec::make_space("cpu"), alloc::default_name, 8);
  g.insert(std::vector<graph::edge>{{0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 5}, {5, 3}});
  algorithms::clustering_options const o{.objective = algorithms::clustering_objective::map_equation};
  auto const maintained = algorithms::maintain_clustering(g, o);
  g.attach(*maintained);
  g.insert(std::vector<graph::edge>{{6, 7}});
  auto const r = maintained->result();
  EXPECT_EQ(r.label, (std::vector<std::uint32_t>{0, 0, 0, 1, 1, 1, 2, 2}));
  EXPECT_NEAR(maintained->codelength(),
              serial_codelength({{0, 1, 1}, {1, 2, 1}, {2, 0, 1}, {3, 4, 1}, {4, 5, 1}, {5, 3, 1}, {6, 7, 1}}, r.label),
              1e-5);
  EXPECT_EQ(maintained->quality(), -maintained->codelength());
  EXPECT_NEAR(algorithms::quality(g, r.label, 1).potts, 0, 1e-12);
}

}  // namespace wyrm::tests
