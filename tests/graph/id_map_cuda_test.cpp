// SPDX-License-Identifier: Apache-2.0
// Id maps on a GPU.
#include "../../exec/cuda_space.hpp"
#include "id_map_suite.hpp"

namespace wyrm::tests {

using cuda_cases = testing::Types<id_case<exec::cuda_space, number_kind>, id_case<exec::cuda_space, string_kind>>;
INSTANTIATE_TYPED_TEST_SUITE_P(cuda, id_map_test, cuda_cases);

}  // namespace wyrm::tests
