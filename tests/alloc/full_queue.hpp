// SPDX-License-Identifier: Apache-2.0
// Queues that are as full as they can be: all chunks of a class are free and queued, and all tiles dequeue and enqueue
// them at the same time, round after round. Nodes have few entries, so that the last node is always nearly full.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "workload.hpp"

namespace wyrm::tests {

template <class A>
void fill_a_queue(typename A::space_type const& space, std::size_t blocks, int rounds) {
  for (unsigned const node_log2 : {3u, 5u}) {
    SCOPED_TRACE(std::to_string(1 << node_log2) + " entries a node");
    pool<A> p({.pool_bytes = 4 * blocks * 8192, .reserve_bytes = 4 * blocks * 8192, .checked = false}, space,
              node_log2);
    for (int round = 0; round < rounds; ++round) {
      auto const all = p.allocate(blocks, round % 3 == 2 ? 4096 : 8192);
      EXPECT_EQ(served(all), blocks);
      p.free(all);
      p.expect_sound();
    }
  }
}

}  // namespace wyrm::tests
