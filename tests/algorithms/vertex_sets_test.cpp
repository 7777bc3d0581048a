// SPDX-License-Identifier: Apache-2.0
// Independent sets and colourings on the CPU, and with tiles of fibers; and those of real graphs.
#include "../../loaders/loaders.hpp"
#include "../support/simt_space.hpp"
#include "../support/truth.hpp"
#include "vertex_sets_suite.hpp"

namespace wyrm::tests {

#if WYRM_TEST_HOST
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, vertex_sets_test, testing::Types<exec::host_space>);
#endif
#if WYRM_TEST_SIMT
INSTANTIATE_TYPED_TEST_SUITE_P(simt, vertex_sets_test, testing::Types<simt_space>);
#endif

TEST(vertex_sets, of_real_graphs) {
  std::size_t graphs = 0;
  for (truth_row const& row : read_truth(data_folder())) {
    auto const file = data_folder() / row.file;
    if (row.directed || !std::filesystem::exists(file)) continue;
    SCOPED_TRACE(row.file);
    ++graphs;
    auto const g = graph::build(exec::make_space("cpu"), alloc::default_name, loaders::load(file));
    graph::csr const rows = g.to_csr();
    EXPECT_EQ(fault_of_independent_set(rows, algorithms::independent_set(g).member), "");
    auto const colours = algorithms::colouring(g);
    EXPECT_EQ(fault_of_colouring(rows, colours.colour), "");
    EXPECT_LE(colours.colours, row.max_degree_undirected + 1);
  }
  EXPECT_GT(graphs, 0u) << "no graph of TRUTH.tsv is in " << data_folder();
}

}  // namespace wyrm::tests
