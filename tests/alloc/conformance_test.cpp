// SPDX-License-Identifier: Apache-2.0
// Every allocator on threads of the host and on warps of fibers.
#include "conformance.hpp"

#include "../support/simt_space.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cpu, conformance, all_allocators<exec::host_space>, by_name);
INSTANTIATE_TYPED_TEST_SUITE_P(simt, conformance, all_allocators<simt_space>, by_name);

}  // namespace wyrm::tests
