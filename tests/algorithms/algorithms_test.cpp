// SPDX-License-Identifier: Apache-2.0
// PageRank, triangles and related algorithms on the CPU, and with tiles of fibers.
#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "../support/protecting_manager.hpp"
#include "../support/simt_space.hpp"
#include "algorithms_suite.hpp"
#include "boundaries_suite.hpp"

namespace wyrm::tests {

#if WYRM_TEST_HOST
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, algorithms_test, testing::Types<exec::host_space>);
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, boundaries_test, testing::Types<exec::host_space>);
#endif
#if WYRM_TEST_SIMT
INSTANTIATE_TYPED_TEST_SUITE_P(simt, algorithms_test, testing::Types<simt_space>);
INSTANTIATE_TYPED_TEST_SUITE_P(simt, boundaries_test, testing::Types<simt_space>);
#endif

#if WYRM_TEST_SIMT
namespace {
// Each pair of windows comes once, after its source began; the copies are what they copy, and have room.
TEST(row_windows, are_all_rows_in_pairs) {
  std::mt19937 random(seeded(1));
  for (std::size_t const room : {159u, 160u, 344u, 1999u, 2000u, 5000u, ~0u}) {
    protecting_manager manager;
    manager.limit_arrays(room * sizeof(graph::vertex_id));
    simt_space const space = make_space<simt_space>().managed_by(&manager);
    std::vector<std::uint64_t> offsets{0};
    while (offsets.back() < 960) offsets.push_back(offsets.back() + random() % 3 * (random() % 11));
    offsets.insert(offsets.end(), {980, 1000});  // with 66 entries to a window, none begin in the last one
    offsets.insert(offsets.end(), random() % 3, 1000);
    std::vector<graph::vertex_id> entries(1000);
    std::iota(entries.begin(), entries.end(), 0u);
    auto const n = static_cast<graph::vertex_id>(offsets.size() - 1);
    std::set<std::pair<graph::vertex_id, graph::vertex_id>> pairs;
    std::vector<bool> is_covered(1000);
    graph::vertex_id source = n;
    bool const has_windows = algorithms::detail::for_each_pair_of_windows(
        space, algorithms::detail::rows_in_order{offsets.data(), entries.data(), n, 1000, 20},
        [&](algorithms::detail::row_window const& w) {
          source = w.first;
          for (std::uint64_t i = w.first_entry; i < w.last_entry; ++i) {
            EXPECT_FALSE(is_covered[i]);
            is_covered[i] = true;
          }
        },
        [&](algorithms::detail::row_window const& from, algorithms::detail::row_window const& to) {
          EXPECT_EQ(from.first, source);
          EXPECT_TRUE(pairs.emplace(from.first, to.first).second);
          for (auto const& w : {from, to}) {
            EXPECT_EQ(w.first_entry, offsets[w.first]);
            EXPECT_EQ(w.last_entry, offsets[w.last]);
            EXPECT_TRUE(std::equal(w.entries, w.entries + (w.last_entry - w.first_entry), &entries[w.first_entry]));
          }
          EXPECT_LE(manager.allocated(), room * sizeof(graph::vertex_id) / 2);
        });
    EXPECT_EQ(has_windows, room >= 160);
    EXPECT_EQ(std::count(is_covered.begin(), is_covered.end(), true), has_windows ? 1000 : 0);
    std::set<graph::vertex_id> sources;
    for (auto const& [from, to] : pairs) sources.insert(from);
    EXPECT_EQ(pairs.size(), sources.size() * sources.size());
    EXPECT_EQ(sources.size() > 1, has_windows && room < 2000) << room;
    EXPECT_EQ(manager.allocated(), 0u);
  }
}

class triangles_in_windows : public algorithms_test<simt_space> {};
TEST_F(triangles_in_windows, are_those_of_the_whole) {
  constexpr unsigned log2 = 13;
  auto const g = make(std::size_t{1} << log2, skewed(log2, 100'000));
  EXPECT_GE(g.edges(), 65536u);  // so that the oriented rows are in a range
  auto const want = serial_triangles(g.to_csr());
  auto const total = std::accumulate(want.begin(), want.end(), std::uint64_t{0}) / 3;
  protecting_manager manager;
  algorithms::triangle_counter<simt_space> counter(make_space<simt_space>().managed_by(&manager));
  EXPECT_EQ(counter.count(g.view()).total, total);
  auto const found = [&](std::size_t room, std::size_t refused_from = protecting_manager::no_limit) {
    manager.limit_arrays(room * sizeof(graph::vertex_id), refused_from);
    std::size_t const before = manager.requests();
    auto const now = counter.count(g.view(), {.per_vertex = room > 100'000});
    EXPECT_EQ(now.total, total);
    EXPECT_EQ(now.per_vertex, room > 100'000 ? want : std::vector<std::uint64_t>());
    return manager.requests() - before;
  };
  EXPECT_EQ(found(100), 0u);         // no windows
  EXPECT_EQ(found(60'000), 2u + 3);  // what the count before has freed; two windows, and where they begin
  // Smaller windows follow one that is refused; triangles of vertices need an array.
  EXPECT_EQ(found(400'000, manager.allocated() + (std::size_t{300} << 10)), 2u + 1 + 1 + 3);
}
}  // namespace
#endif

}  // namespace wyrm::tests
