// SPDX-License-Identifier: Apache-2.0
// Signatures on a GPU.
#include "../../../exec/cuda_space.hpp"
#include "signature_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cuda, signature_test, testing::Types<exec::cuda_space>);

}  // namespace wyrm::tests
