// SPDX-License-Identifier: Apache-2.0
// Queues in front of graphs on the CPU, with values and without.
#include "../../alloc/registry.hpp"
#include "update_queue_suite.hpp"

namespace wyrm::tests {

struct cpu {
  static constexpr char const* name = "cpu";
  static bool is_available() { return true; }
};
using on_host = testing::Types<any_queue_case<cpu>, queue_case<exec::host_space, alloc::ouroboros_va_p, float>>;
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, update_queues, on_host);

}  // namespace wyrm::tests
