// SPDX-License-Identifier: Apache-2.0
// Clustering on the CPU, and with tiles of fibers.
#include "../support/simt_space.hpp"
#include "clustering_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cpu, clustering_test, testing::Types<exec::host_space>);
INSTANTIATE_TYPED_TEST_SUITE_P(simt, clustering_test, testing::Types<simt_space>);

}  // namespace wyrm::tests
