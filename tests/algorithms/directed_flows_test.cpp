// SPDX-License-Identifier: Apache-2.0
// Clustering of directed graphs under the map equation: on the CPU, and with tiles of fibers.
#include <filesystem>

#include "../../loaders/loaders.hpp"
#include "../support/simt_space.hpp"
#include "../support/truth.hpp"
#include "directed_flows_suite.hpp"

namespace wyrm::tests {

#if WYRM_TEST_HOST
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, directed_flows_test, testing::Types<exec::host_space>);

// The codelengths are those of Infomap 2.16.0 (--directed --two-level --seed 1).
TEST(directed_flows, real_graphs) {
  struct known {
    char const* file;
    double codelength;
  };
  unsigned graphs = 0;
  for (known const& k : {known{"email-Eu-core.txt", 8.181367}, known{"p2p-Gnutella05.txt", 10.261210}}) {
    if (!std::filesystem::exists(data_folder() / k.file)) continue;
    SCOPED_TRACE(k.file);
    ++graphs;
    auto const list = loaders::load(data_folder() / k.file);
    graph::any_graph g(exec::make_space("cpu"), alloc::default_name, list.vertices,
                       {.directed = true, .self_loops = true});
    g.insert(list.edges);
    auto const r = algorithms::clustering(g, {.objective = algorithms::clustering_objective::map_equation});
    EXPECT_LE(r.codelength, 1.01 * k.codelength);
    EXPECT_GE(r.codelength, 0.98 * k.codelength);
  }
  if (graphs == 0) GTEST_SKIP() << "the graphs are not in " << data_folder();
}
#endif
#if WYRM_TEST_SIMT
INSTANTIATE_TYPED_TEST_SUITE_P(simt, directed_flows_test, testing::Types<simt_space>);
#endif

}  // namespace wyrm::tests
