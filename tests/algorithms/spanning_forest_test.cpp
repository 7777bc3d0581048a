// SPDX-License-Identifier: Apache-2.0
// Minimum spanning forests on the CPU, and with tiles of fibers; and those of real graphs.
#include "../../loaders/loaders.hpp"
#include "../support/simt_space.hpp"
#include "../support/truth.hpp"
#include "spanning_forest_suite.hpp"

namespace wyrm::tests {

#if WYRM_TEST_HOST
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, spanning_forest_test, testing::Types<exec::host_space>);
#endif
#if WYRM_TEST_SIMT
INSTANTIATE_TYPED_TEST_SUITE_P(simt, spanning_forest_test, testing::Types<simt_space>);
#endif

TEST(spanning_forest, of_real_graphs) {
  std::size_t graphs = 0;
  for (truth_row const& row : read_truth(data_folder())) {
    auto const file = data_folder() / row.file;
    if (row.directed || !std::filesystem::exists(file)) continue;
    SCOPED_TRACE(row.file);
    ++graphs;
    auto const g = graph::build(exec::make_space("cpu"), alloc::default_name, loaders::load(file));
    auto const got = algorithms::spanning_forest(g);
    EXPECT_EQ(got.trees, row.weak_components);
    EXPECT_EQ(got.edges, serial_spanning_forest(g.to_csr(), std::vector<double>()));
  }
  EXPECT_GT(graphs, 0u) << "no graph of TRUTH.tsv is in " << data_folder();
}

}  // namespace wyrm::tests
