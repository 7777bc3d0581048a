// SPDX-License-Identifier: Apache-2.0
// AlignMalloc on threads of the host and on warps of fibers.
#include "blocks_suite.hpp"
#include "conformance.hpp"

#include "../support/simt_space.hpp"

namespace wyrm::tests {

#if WYRM_TEST_HOST
using on_cpu = types_of<alloc::align_family<exec::host_space>>;
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, conformance, on_cpu, by_name);
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, blocks_suite, on_cpu, by_name);
#endif
#if WYRM_TEST_SIMT
using on_simt = types_of<alloc::align_family<simt_space>>;
INSTANTIATE_TYPED_TEST_SUITE_P(simt, conformance, on_simt, by_name);
INSTANTIATE_TYPED_TEST_SUITE_P(simt, blocks_suite, on_simt, by_name);
#endif

}  // namespace wyrm::tests
