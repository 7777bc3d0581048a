// SPDX-License-Identifier: Apache-2.0
// Strong components on the CPU, and with tiles of fibers; and those of real graphs, with published sizes.
#include "../../loaders/loaders.hpp"
#include "../support/simt_space.hpp"
#include "../support/truth.hpp"
#include "strong_components_suite.hpp"

namespace wyrm::tests {

#if WYRM_TEST_HOST
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, strong_components_test, testing::Types<exec::host_space>);
#endif
#if WYRM_TEST_SIMT
INSTANTIATE_TYPED_TEST_SUITE_P(simt, strong_components_test, testing::Types<simt_space>);
#endif

TEST(strong_components, of_real_graphs) {
  struct published {
    char const* file;
    std::size_t largest;
  };
  std::size_t graphs = 0;
  // https://snap.stanford.edu/data: "Nodes in largest SCC".
  for (published const& row :
       {published{"wiki-Vote.txt", 1300}, {"p2p-Gnutella05.txt", 3234}, {"p2p-Gnutella31.txt", 14149}}) {
    auto const file = data_folder() / row.file;
    if (!std::filesystem::exists(file)) continue;
    SCOPED_TRACE(row.file);
    ++graphs;
    auto const list = loaders::load(file);
    ASSERT_TRUE(list.directed);
    auto const g = graph::build(exec::make_space("cpu"), alloc::default_name, list);
    auto const got = algorithms::strong_components(g);
    EXPECT_EQ(got.largest, row.largest);
    EXPECT_EQ(got.label, serial_strong_components(g.to_csr()));
  }
  if (graphs == 0) GTEST_SKIP() << "WYRM_DATA has none of the graphs";
}

}  // namespace wyrm::tests
