// SPDX-License-Identifier: Apache-2.0
#include "library_module.hpp"

#include "../../exec/launch.hpp"
#include "library_lists.hpp"

namespace wyrm::tests {

void free_in_another_file(exec::cuda_space const& space, std::size_t n, list_node** heads, unsigned char** arrays,
                          std::uint32_t* wrong) {
  exec::for_each(space, n, free_lists{heads, arrays, wrong});
}

}  // namespace wyrm::tests
