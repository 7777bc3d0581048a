// SPDX-License-Identifier: Apache-2.0
// The programs of residency_bench on a GPU.
#include "../../exec/cuda_space.hpp"
#include "residency_bench_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cuda, residency_programs, testing::Types<exec::cuda_space>);

}  // namespace wyrm::tests
