// SPDX-License-Identifier: Apache-2.0
// Pools that two threads of the host use at the same time, on the CPU and on lanes that are fibers.
#include "../support/simt_space.hpp"
#include "streams_suite.hpp"

namespace wyrm::tests {

#if WYRM_TEST_HOST
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, streams, shared_pools<exec::host_space>, by_name);
#endif
#if WYRM_TEST_SIMT
INSTANTIATE_TYPED_TEST_SUITE_P(simt, streams, shared_pools<simt_space>, by_name);
#endif

}  // namespace wyrm::tests
