// SPDX-License-Identifier: Apache-2.0
// Graphs with pages of each kind of memory, on simulated warps, and on a space of the CPU that knows of which kind each
// address range is.
#include "pool_memory_suite.hpp"

#include <map>

#include "../../alloc/registry.hpp"
#include "../support/simt_space.hpp"

namespace wyrm::tests {

// Pools of a graph are the address ranges that it reserves.
class recording_space : public exec::host_space {
 public:
  using exec::host_space::host_space;
  static inline std::map<exec::memory_kind, int> reserved = {};
  [[nodiscard]] void* reserve(std::size_t bytes, exec::memory_kind kind = exec::memory_kind::device,
                              exec::use_rate rate = exec::use_rate::normal) const {
    ++reserved[kind];
    return exec::host_space::reserve(bytes, kind, rate);
  }
  [[nodiscard]] void* allocate(std::size_t bytes, exec::memory_kind kind = exec::memory_kind::device) const {
    EXPECT_EQ(kind, exec::memory_kind::device) << "tables and scratch are in memory of the device";
    return exec::host_space::allocate(bytes, kind);
  }
};

using on_cpu =
    testing::Types<graph_case<recording_space, alloc::ouroboros_s_p>, graph_case<simt_space, alloc::ouroboros_s_p>>;
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, pool_memory, on_cpu);

}  // namespace wyrm::tests
