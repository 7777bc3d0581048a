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
  for (std::size_t const room : {79u, 80u, 200u, 999u, 1000u, 5000u, ~0u}) {
    protecting_manager manager;
    manager.limit_arrays(room * sizeof(graph::vertex_id));
    simt_space const space = make_space<simt_space>().managed_by(&manager);
    std::vector<std::uint64_t> offsets{0};
    while (offsets.back() < 980) offsets.push_back(offsets.back() + random() % 3 * (random() % 11));
    offsets.push_back(1000);
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
          EXPECT_LE(manager.allocated(), room * sizeof(graph::vertex_id) + 100 * sizeof(from));
        });
    EXPECT_EQ(has_windows, room >= 80);
    EXPECT_EQ(std::count(is_covered.begin(), is_covered.end(), true), has_windows ? 1000 : 0);
    std::set<graph::vertex_id> sources;
    for (auto const& [from, to] : pairs) sources.insert(from);
    EXPECT_EQ(pairs.size(), sources.size() * sources.size());
    EXPECT_EQ(sources.size() > 1, has_windows && room < 1000) << room;
    EXPECT_EQ(manager.allocated(), 0u);
  }
}

class triangles_in_windows : public algorithms_test<simt_space> {};
TEST_F(triangles_in_windows, are_those_of_the_whole) {
  constexpr unsigned log2 = 13;
  auto const g = make(std::size_t{1} << log2, skewed(log2, 100'000));
  EXPECT_GE(g.edges(), 65536u);  // so that the oriented rows are in a range
  auto const want = serial_triangles(g.to_csr());
  protecting_manager manager;
  algorithms::triangle_counter<simt_space> counter(make_space<simt_space>().managed_by(&manager));
  for (std::size_t const entries : {100'000u, 30'000u, 100u}) {
    manager.limit_arrays(entries * sizeof(graph::vertex_id));
    EXPECT_EQ(counter.count(g.view(), {.per_vertex = true}).per_vertex, want) << entries;
  }
}
}  // namespace
#endif

}  // namespace wyrm::tests
