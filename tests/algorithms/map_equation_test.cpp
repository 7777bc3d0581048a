// SPDX-License-Identifier: Apache-2.0
// Clustering of directed graphs under the map equation: on the CPU, and with tiles of fibers.
#include <filesystem>

#include "../../loaders/loaders.hpp"
#include "../support/simt_space.hpp"
#include "../support/truth.hpp"
#include "map_equation_suite.hpp"

namespace wyrm::tests {

#if WYRM_TEST_HOST
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, map_equation_test, testing::Types<exec::host_space>);

// The codelength is that of Infomap 2.16.0 (--directed --two-level --seed 1).
TEST(map_equation, real_directed_graph) {
  auto const file = data_folder() / "email-Eu-core.txt";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "email-Eu-core.txt is not in " << data_folder();
  auto const list = loaders::load(file);
  graph::any_graph g(exec::make_space("cpu"), alloc::default_name, list.vertices,
                     {.directed = true, .self_loops = true});
  g.insert(list.edges);
  auto const r = algorithms::clustering(g, {.objective = algorithms::clustering_objective::map_equation});
  EXPECT_LE(r.codelength, 1.01 * 8.181367);
  EXPECT_GE(r.codelength, 0.98 * 8.181367);
}
#endif
#if WYRM_TEST_SIMT
INSTANTIATE_TYPED_TEST_SUITE_P(simt, map_equation_test, testing::Types<simt_space>);
#endif

}  // namespace wyrm::tests
