// SPDX-License-Identifier: Apache-2.0
// A second source file of library_cuda_test, whose kernels use the global pool, too.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../exec/cuda_space.hpp"

namespace wyrm::tests {

struct list_node;
/// free_lists, launched by the other file.
void free_in_another_file(exec::cuda_space const& space, std::size_t n, list_node** heads, unsigned char** arrays,
                          std::uint32_t* wrong);

}  // namespace wyrm::tests
