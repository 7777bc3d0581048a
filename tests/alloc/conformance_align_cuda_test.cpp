// SPDX-License-Identifier: Apache-2.0
// AlignMalloc on a GPU.
#include "blocks_suite.hpp"
#include "conformance.hpp"

#include "../../exec/cuda_space.hpp"

namespace wyrm::tests {

using on_cuda = types_of<alloc::align_family<exec::cuda_space>>;
INSTANTIATE_TYPED_TEST_SUITE_P(cuda, conformance, on_cuda, by_name);
INSTANTIATE_TYPED_TEST_SUITE_P(cuda, blocks_suite, on_cuda, by_name);

}  // namespace wyrm::tests
