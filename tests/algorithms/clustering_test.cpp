// SPDX-License-Identifier: Apache-2.0
// Clustering on the CPU, and with tiles of fibers.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "../../algorithms/detail/affinities.hpp"
#include "../../algorithms/detail/hub_tables.hpp"
#include "../support/protecting_manager.hpp"
#include "../support/simt_space.hpp"
#include "clustering_suite.hpp"

namespace wyrm::tests {

#if WYRM_TEST_HOST
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, clustering_test, testing::Types<exec::host_space>);
#endif
#if WYRM_TEST_SIMT
INSTANTIATE_TYPED_TEST_SUITE_P(simt, clustering_test, testing::Types<simt_space>);
#endif

#if WYRM_TEST_SIMT
class after_failures : public clustering_test<simt_space> {};
// Whichever request of a larger graph fails, a smaller one can be clustered afterwards.
TEST_F(after_failures, smaller_graphs_can_be_clustered) {
  auto const small = make(64, skewed(6, 200));
  auto const large = make(128, skewed(7, 900));
  auto const want = run(small).label;
  bool has_failed = true;
  for (std::size_t k = 0; has_failed; ++k) {
    SCOPED_TRACE(k);
    algorithms::clusterer<simt_space> c(small.space(), small_pool());
    c.run(small.view());
    try {
      exec::injected_failure const one(k);
      c.run(large.view());
      has_failed = false;
    } catch (error const& failed) {
      EXPECT_EQ(failed.code(), error_code::out_of_memory);
    }
    c.run(small.view());
    EXPECT_EQ(c.result().label, want);
  }
}

class clusters_by_windows : public clustering_test<simt_space> {
 protected:
  /// A graph with four hubs, which several tiles process; that of vertex 0 has all vertices as neighbours.
  static std::vector<graph::edge> with_hubs() {
    std::vector<graph::edge> edges = skewed(10, 3000);
    for (graph::vertex_id v = 0; v < 1024; ++v) {
      edges.push_back({0, v});
      if (v < 600) edges.push_back({100, v});
      if (v > 500) edges.push_back({200, v});
      if (v % 2 == 0) edges.push_back({1023, v});
    }
    return edges;
  }
};
// If there is room for few of the hash tables of hubs, they propose moves window by window, with the same result; which
// is that of a host, where there are no such tables.
TEST_F(clusters_by_windows, are_those_of_the_whole) {
  auto const g = make(std::size_t{1} << 10, with_hubs());
  graph_on<exec::host_space> on_host(exec::host_space(), g.vertices());
  on_host.insert(with_hubs());
  for (options const& o : {options{}, options{.objective = algorithms::clustering_objective::map_equation, .levels = 3},
                           options{.objective = algorithms::clustering_objective::cpm, .resolution = 0.01}}) {
    auto const clusters = [&](std::size_t room) {
      protecting_manager manager;
      manager.limit_arrays(room);
      auto const space = make_space<simt_space>().managed_by(&manager);
      algorithms::detail::hub_tables<simt_space> tables(space);
      tables.prepare(g.view());
      tables.clear();
      EXPECT_EQ(tables.windows().size() > 1, room < 100000) << room;
      algorithms::clusterer<simt_space> c(space, small_pool());
      c.run(g.view(), o);
      return c.result();
    };
    auto const want = clusters(protecting_manager::no_limit);
    EXPECT_EQ(want.label, algorithms::clustering(exec::host_space(), on_host.view(), o).label);
    // With 60,000 bytes labels are merged in windows, too; with less room, there are too many for that.
    for (std::size_t const room : {std::size_t{1}, std::size_t{8000}, std::size_t{60000}, std::size_t{1} << 30}) {
      auto const found = clusters(room);
      EXPECT_EQ(found.label, want.label);
      EXPECT_EQ(found.quality, want.quality);
    }
  }
}
// Reserved tables for some rows are kept, also when there is more room. Windows of labels request memory, but need
// none: any of their requests may fail.
TEST_F(clusters_by_windows, need_no_memory_if_reserved) {
  for (bool const sparse : {false, true}) {
    auto const g = make(std::size_t{1} << 10, sparse ? skewed(5, 60) : with_hubs());
    auto const want = run(g).label;
    for (std::size_t const room_later : {std::size_t{1}, std::size_t{1} << 30})
      for (std::size_t k = 0; k < (room_later == 1 ? 1u : 9u); k += sparse ? 1 : 4) {
        SCOPED_TRACE(k);
        protecting_manager manager;
        manager.limit_arrays(1);
        algorithms::clusterer<simt_space> c(make_space<simt_space>().managed_by(&manager), small_pool());
        c.reserve(g.view(), g.vertices(), g.arcs());
        manager.limit_arrays(room_later);
        {
          exec::injected_failure const from(k);
          c.run(g.view(), {}, algorithms::clusterer<simt_space>::memory::reserved);
        }
        EXPECT_EQ(c.result().label, want);
      }
  }
}
// After a request has failed, the two arrays of tables may differ in length; a sanitizer finds writes beyond the end.
TEST_F(clusters_by_windows, have_tables_after_a_failed_request) {
  auto const stars = [&](graph::vertex_id hubs) {  // with 300 neighbours each: tables of 451 slots
    std::vector<graph::edge> edges;
    for (graph::vertex_id v = hubs; v < hubs * 301; ++v) edges.push_back({v % hubs, v});
    return make(hubs * std::size_t{301}, edges);
  };
  auto const few = stars(8);
  auto const some = stars(10);
  auto const many = stars(20);
  bool has_failed = true;
  for (std::size_t k = 0; has_failed; ++k) {
    SCOPED_TRACE(k);
    protecting_manager manager;
    algorithms::detail::hub_tables<simt_space> tables(make_space<simt_space>().managed_by(&manager));
    EXPECT_EQ(tables.prepare(few.view()).slots, 8 * 451u);
    try {
      exec::injected_failure const one(k);
      tables.prepare(many.view());
      has_failed = false;
    } catch (error const& failed) {
      EXPECT_EQ(failed.code(), error_code::out_of_memory);
    }
    manager.limit_arrays(std::size_t{4000} * 16);
    EXPECT_EQ(tables.prepare(some.view()).slots, 10 * 451u);
    tables.clear();
    graph::vertex_id next = 0;
    for (auto const& window : tables.windows()) {
      EXPECT_EQ(window.first, next);
      next = window.last;
    }
    EXPECT_EQ(next, some.vertices());
  }
}
#endif

// The visits that are counted, and the strongest: in descending order of counts, the first visited among equals.
TEST(visit_counts, keeps_the_strongest) {
  using algorithms::detail::visit_counts;
  for (std::uint32_t const different : {1u, 15u, 16u, 17u, 63u, 64u, 65u, 100u}) {
    SCOPED_TRACE(different);
    visit_counts visited;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> want;  // how often, and which vertex
    for (std::uint32_t round = 0; round < 5; ++round)
      for (std::uint32_t v = 0; v < different; ++v)
        if (v % 5 >= round) visited.add(1000 - v);
    // The last that have a place, and the first that has none, are visited most.
    for (std::uint32_t v = 62; v < std::min(65u, different); ++v)
      for (std::uint32_t i = 0; i < v; ++i) visited.add(1000 - v);
    for (std::uint32_t v = 0; v < std::min(different, visit_counts::capacity); ++v)
      want.emplace_back(v % 5 + 1 + (v >= 62 ? v : 0), 1000 - v);
    std::stable_sort(want.begin(), want.end(), [](auto const& a, auto const& b) { return a.first > b.first; });
    std::uint32_t const kept = visited.keep_strongest(16);
    ASSERT_EQ(kept, std::min(16u, different));
    for (std::uint32_t i = 0; i < kept; ++i) {
      EXPECT_EQ(visited[i].weight, want[i].first) << i;
      EXPECT_EQ(visited[i].vertex, want[i].second) << i;
    }
  }
}

}  // namespace wyrm::tests
