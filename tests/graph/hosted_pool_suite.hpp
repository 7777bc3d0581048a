// SPDX-License-Identifier: Apache-2.0
// Graphs whose pages come from align-malloc+small: they agree with the model while both of its pools grow, in memory of
// each kind. A page of 4 KiB or more is in the pool of large blocks, all others are in that of small ones.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "../../alloc/align/align_small.hpp"
#include "../../exec/memory_kind.hpp"
#include "../support/seed.hpp"
#include "graph_case.hpp"

namespace wyrm::tests {

template <class Space>
class hosted_pool : public space_test<Space> {};
TYPED_TEST_SUITE_P(hosted_pool);

TYPED_TEST_P(hosted_pool, small_pages_and_hubs) {
  using graph_type = graph::dynamic_graph<TypeParam, alloc::align_malloc_small<TypeParam>>;
  for (exec::memory_kind const kind : exec::memory_kinds) {
    SCOPED_TRACE(exec::to_string(kind));
    std::size_t const n = 6000;
    graph::options o{.directed = true, .in_neighbours = false};
    o.pool = {.pool_bytes = std::size_t{256} << 10, .reserve_bytes = std::size_t{64} << 20, .checked = true};
    o.pool.memory = kind;
    graph_type g(make_space<TypeParam>(), n, o);
    graph_model model(n, true, false);
    std::mt19937 random(seeded(81));
    auto const expect_same = [&] {
      ASSERT_EQ(g.to_csr(), model.to_csr());
      ASSERT_EQ(damage(g), "");
    };
    std::size_t const before = g.allocator().stats().committed;
    for (std::size_t const size : {std::size_t{100}, scaled(100000, 40000), std::size_t{3000}}) {
      std::vector<graph::edge> batch = random_edges(random, n, size);
      for (graph::vertex_id v = 0; v < n; v += 1 + static_cast<graph::vertex_id>(size % 3))  // three hubs
        for (graph::vertex_id const hub : {7u, 100u, 4000u}) batch.push_back({hub, v});
      expect_equal(g.insert(batch), model.insert(batch));
      expect_same();
      batch.resize(size / 10);
      expect_equal(g.erase(batch), model.erase(batch));
      expect_same();
      if (this->HasFatalFailure()) return;
    }
    EXPECT_GT(g.allocator().stats().committed, before) << "the pools did not grow";
    // The pages of hubs begin at multiples of 4 KiB, and are not counted by the classes of small pages.
    alloc::statistics const s = g.allocator().stats();
    std::size_t small = 0;
    for (alloc::class_statistics const& c : s.classes) {
      small += (c.pages - c.free) * c.page_bytes;
      EXPECT_TRUE(c.page_bytes <= 4096 || c.pages == c.free) << c.page_bytes;
    }
    EXPECT_GE(s.granted - small, 3 * n * sizeof(graph::vertex_id));
    for (graph::vertex_id const hub : {7u, 100u, 4000u}) {
      graph::packed_record const r = exec::read(g.space(), g.view().out_records() + hub);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(r.page()) % alloc::align_page_bytes, 0u);
    }
    g.compact();
    expect_same();
    g.clear();
    EXPECT_EQ(g.edges(), 0u);
    EXPECT_EQ(damage(g), "");
    g.build(model.to_csr());
    expect_same();
    g.clear();
    EXPECT_EQ(damage(g), "");
  }
}

REGISTER_TYPED_TEST_SUITE_P(hosted_pool, small_pages_and_hubs);

}  // namespace wyrm::tests
