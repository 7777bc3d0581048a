// SPDX-License-Identifier: Apache-2.0
// Maintained results on the CPU, and on lanes that are fibers.
#include "../../alloc/registry.hpp"
#include "../../graph/any_graph.hpp"
#include "../support/simt_space.hpp"
#include "maintained_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cpu, maintained_test, testing::Types<exec::host_space>);
INSTANTIATE_TYPED_TEST_SUITE_P(simt, maintained_test, testing::Types<simt_space>);

TEST(maintained, of_a_graph_whose_space_is_chosen_at_run_time) {
  graph::any_graph first(exec::make_space("cpu"), alloc::default_name, 6);
  graph::any_graph other(exec::make_space("cpu"), alloc::default_name, 6);
  EXPECT_NE(first.view().graph_id(), other.view().graph_id());
  auto const ranks = algorithms::follow_pagerank(first);
  auto const triangles = algorithms::follow_triangles(first);
  graph::any_graph g(std::move(first));
  std::vector<graph::edge> const batch{{0, 1}, {1, 2}, {2, 0}};
  algorithms::insert(g, batch, *ranks, *triangles);
  EXPECT_EQ(triangles->total(), 1u);
  EXPECT_THROW(algorithms::insert(other, batch, *triangles, *ranks), error);
  g.erase(batch);
  EXPECT_THROW(algorithms::insert(g, batch, *ranks, *triangles), error);
  EXPECT_EQ(g.edges(), 0u);
  EXPECT_EQ(other.edges(), 0u);
}

}  // namespace wyrm::tests
