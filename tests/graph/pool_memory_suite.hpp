// SPDX-License-Identifier: Apache-2.0
// Graphs whose pages lie in memory of each kind: they agree with the model through every path that makes a pool or
// pages, and keep the kind.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <span>
#include <vector>

#include "../../exec/memory_kind.hpp"
#include "../support/seed.hpp"
#include "graph_case.hpp"

namespace wyrm::tests {

template <class Case>
class pool_memory : public space_test<typename Case::space> {
 protected:
  using graph_type = typename Case::graph_type;

  static graph_type make(std::size_t vertices, exec::memory_kind kind, bool in_neighbours = true) {
    graph::options o{.directed = true, .in_neighbours = in_neighbours};
    o.pool = {.pool_bytes = std::size_t{256} << 10, .reserve_bytes = std::size_t{64} << 20, .checked = true};
    o.pool.memory = kind;
    return graph_type(make_space<typename Case::space>(), vertices, o);
  }
  /// How many pools of the kind there have been; 0 for spaces that do not know.
  static int pools_made(exec::memory_kind kind) {
    if constexpr (requires { Case::space::reserved[kind]; })
      return Case::space::reserved[kind];
    else
      return 0;
  }
  /// Rewrites of all pages have been made in another pool of the kind. Not for spaces that do not know.
  static void expect_another_pool(exec::memory_kind kind, int before) {
    if constexpr (requires { Case::space::reserved[kind]; }) {
      EXPECT_GT(pools_made(kind), before);
    }
  }

  static void expect_equal_to(graph_model const& model, graph_type const& g) {
    graph::csr const rows = model.to_csr();
    ASSERT_EQ(g.to_csr(), rows);
    ASSERT_EQ(damage(g), "");
    if (g.settings().pool.memory == exec::memory_kind::device) return;
    // The host reads the pages where they are. It could not if they were in memory of a device.
    auto const records = exec::copy_out(g.space(), g.view().out_records(), g.vertices());
    for (graph::vertex_id v = 0; v < g.vertices(); ++v) {
      std::size_t const degree = rows.offsets[v + 1] - rows.offsets[v];
      ASSERT_EQ(records[v].degree, degree);
      std::multiset<graph::vertex_id> const page(records[v].page(), records[v].page() + degree);
      auto const begin = rows.targets.begin() + static_cast<std::ptrdiff_t>(rows.offsets[v]);
      ASSERT_EQ(page, std::multiset<graph::vertex_id>(begin, begin + static_cast<std::ptrdiff_t>(degree)));
    }
  }
};
TYPED_TEST_SUITE_P(pool_memory);

TYPED_TEST_P(pool_memory, updates_growth_and_compaction) {
  for (exec::memory_kind const kind : exec::memory_kinds) {
    SCOPED_TRACE(exec::to_string(kind));
    std::size_t const n = 3000;
    auto g = this->make(n, kind);
    graph_model model(n, true, false);
    std::mt19937 random(seeded(71));
    std::size_t const before = g.allocator().stats().committed;
    constexpr std::size_t large = 300'000;  // more than the first memory of a pool
    for (std::size_t const size : {std::size_t{100}, std::size_t{20'000}, scaled(large, 60'000), std::size_t{3000}}) {
      auto const batch = random_edges(random, n, size);
      expect_equal(g.insert(batch), model.insert(batch));
      this->expect_equal_to(model, g);
      auto const gone = std::span(batch).first(size / 10);
      expect_equal(g.erase(gone), model.erase(gone));
      this->expect_equal_to(model, g);
    }
    if (scaled(large, 60'000) == large) {
      EXPECT_GT(g.allocator().stats().committed, before) << "the pool did not grow";
    }
    int const pools = this->pools_made(kind);
    g.compact();
    this->expect_another_pool(kind, pools);
    this->expect_equal_to(model, g);
    auto const batch = random_edges(random, n, 5000);
    expect_equal(g.insert(batch), model.insert(batch));
    this->expect_equal_to(model, g);
    g.clear();
    model.clear();
    this->expect_equal_to(model, g);
    ASSERT_FALSE(this->HasFailure());
  }
}

// Most of the pool is free, but all chunks have a page in use: an update rewrites all pages in another pool.
TYPED_TEST_P(pool_memory, new_layout) {
  for (exec::memory_kind const kind : exec::memory_kinds) {
    SCOPED_TRACE(exec::to_string(kind));
    std::size_t const committed = this->make(1, kind, false).memory().pool_committed;
    std::size_t const n = committed / 16 / 10 * 7;
    graph_model model(n, true, false);
    model.insert(ring_edges(n, 0, 1, 4, n));
    auto g = this->make(n, kind, false);
    graph::csr const rows = model.to_csr();
    g.build(rows);
    auto const gone = ring_edges(n, 1, 1, 4, n);
    expect_equal(g.erase(gone), model.erase(gone));
    int const pools = this->pools_made(kind);
    auto const more = ring_edges(n, 0, 4, 14, n / 8);
    expect_equal(g.insert(more), model.insert(more));
    this->expect_another_pool(kind, pools);
    EXPECT_EQ(g.memory().pool_committed, committed);
    this->expect_equal_to(model, g);
  }
}

TYPED_TEST_P(pool_memory, build_and_snapshots) {
  for (exec::memory_kind const kind : exec::memory_kinds) {
    SCOPED_TRACE(exec::to_string(kind));
    std::size_t const n = 2000;
    graph_model model(n, true, false);
    std::mt19937 random(seeded(73));
    model.insert(random_edges(random, n, 30000));
    graph::csr const rows = model.to_csr();
    auto g = this->make(n, kind);
    g.build(rows);
    this->expect_equal_to(model, g);
    {
      graph::snapshot const taken = g.snapshot();
      auto const batch = random_edges(random, n, 3000);
      expect_equal(g.insert(batch), model.insert(batch));
      expect_equal(g.erase(batch), model.erase(batch));
      this->expect_equal_to(model, g);
      EXPECT_EQ(graph::detail::export_csr(g.space(), taken.view().out_records(), taken.view().vertices()), rows);
    }
    auto moved = std::move(g);
    moved.compact();
    this->expect_equal_to(model, moved);
  }
}

REGISTER_TYPED_TEST_SUITE_P(pool_memory, updates_growth_and_compaction, new_layout, build_and_snapshots);

}  // namespace wyrm::tests
