// SPDX-License-Identifier: Apache-2.0
// Tests that updates are all or nothing: makes every allocation of an update fail, one after the other.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "../../exec/error.hpp"
#include "../../graph/dynamic_graph.hpp"
#include "../support/seed.hpp"
#include "model.hpp"

namespace wyrm::tests {

template <class Graph>
std::size_t granted(Graph const& g) {
  if constexpr (requires { g.pool(); })
    return g.pool().granted;
  else
    return g.allocator().stats().granted;
}

/// Requires an empty graph g. For every k, an insertion without memory from its k-th vertex on changes nothing, or
/// succeeds. Later batches work, and no page is lost if the allocator reclaims memory. An erasure needs no memory.
template <class Graph>
void expect_failures_change_nothing(Graph& g, bool reclaims) {
  graph::vertex_id const n = g.vertices();
  std::mt19937 random(seeded(23));
  graph_model model(n, g.settings().directed, g.settings().self_loops);
  auto const first = random_edges(random, n, 2 * n);
  g.insert(first);
  model.insert(first);
  for (unsigned round = 0; round < 2; ++round) {
    auto const batch = random_edges(random, n, 3 * n);
    graph::csr const before = g.to_csr();
    std::size_t const granted_before = granted(g);
    std::uint64_t failed = 0;
    for (bool done = false; !done; ++failed) {
      ASSERT_LE(failed, 2 * n) << "more than there are vertices";
      g.fail_allocations_from(failed);
      try {
        std::uint64_t const inserted = g.insert(batch).inserted;
        EXPECT_EQ(inserted, model.insert(batch).inserted);
        done = true;
      } catch (error const& e) {
        ASSERT_EQ(e.code(), error_code::out_of_memory) << e.what();
        ASSERT_NE(std::string(e.what()).find("nothing was changed"), std::string::npos) << e.what();
        ASSERT_EQ(g.to_csr(), before) << "failed from " << failed << " on";
        ASSERT_NO_THROW(g.check()) << "failed from " << failed << " on";
        if (reclaims) {
          ASSERT_EQ(granted(g), granted_before) << "failed from " << failed << " on";
        }
      }
    }
    EXPECT_GT(failed, n / 2);
    EXPECT_EQ(g.to_csr(), model.to_csr());
    g.fail_allocations_from(0);
    std::vector<graph::edge> const gone(batch.begin(), batch.begin() + 2 * n);
    EXPECT_EQ(g.erase(gone).erased, model.erase(gone).erased);
    EXPECT_EQ(g.to_csr(), model.to_csr());
    g.check();
    g.fail_allocations_from(Graph::never);
  }
  auto const last = random_edges(random, n, 4 * n);
  EXPECT_EQ(g.insert(last).inserted, model.insert(last).inserted);
  EXPECT_EQ(g.erase(first).erased, model.erase(first).erased);
  EXPECT_EQ(g.to_csr(), model.to_csr());
  g.check();
}

}  // namespace wyrm::tests
