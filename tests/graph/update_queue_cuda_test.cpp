// SPDX-License-Identifier: Apache-2.0
// Queues in front of graphs on a GPU, with values and without; their buffers are pinned.
#include "../../alloc/registry.hpp"
#include "../../exec/cuda_space.hpp"
#include "update_queue_suite.hpp"

namespace wyrm::tests {

struct gpu {
  static constexpr char const* name = "cuda";
  static bool is_available() { return available<exec::cuda_space>(); }
};
using queues_on_cuda = testing::Types<any_queue_case<gpu>, queue_case<exec::cuda_space, alloc::ouroboros_va_p, float>>;
INSTANTIATE_TYPED_TEST_SUITE_P(cuda, update_queues, queues_on_cuda);

}  // namespace wyrm::tests
