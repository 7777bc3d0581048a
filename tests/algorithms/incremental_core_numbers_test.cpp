// SPDX-License-Identifier: Apache-2.0
// Maintained core numbers on the CPU, and with tiles of fibers; those of a graph whose space is chosen at run time, and
// those of real graphs.
#include "../../datasets/updates.hpp"
#include "../support/real_graphs.hpp"
#include "../support/simt_space.hpp"
#include "incremental_core_numbers_suite.hpp"

namespace wyrm::tests {

#if WYRM_TEST_HOST
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, incremental_core_numbers_test, testing::Types<exec::host_space>);
#endif
#if WYRM_TEST_SIMT
INSTANTIATE_TYPED_TEST_SUITE_P(simt, incremental_core_numbers_test, testing::Types<simt_space>);
#endif

TEST(incremental_core_numbers, of_a_graph_whose_space_is_chosen_at_run_time) {
  graph::any_graph g(exec::make_space("cpu"), alloc::default_name, 5, {.directed = false});
  auto const never = algorithms::maintain_core_numbers(g, {.full_run = INFINITY});
  auto const always = algorithms::maintain_core_numbers(g, {.full_run = 0});
  g.attach(*never);
  g.attach(*always);
  g.insert({{0, 1}, {1, 2}, {2, 0}, {2, 3}});
  EXPECT_EQ(never->result().core, (std::vector<std::uint32_t>{2, 2, 2, 1, 0}));
  EXPECT_EQ(always->result().core, never->result().core);
  EXPECT_FALSE(never->recomputed());
  EXPECT_TRUE(always->recomputed());
}

TEST(incremental_core_numbers, of_real_graphs) {
  for_each_undirected_graph([](graph::any_graph g, truth_row const& row) {
    if (row.vertices > 30'000) return;
    auto const cores = algorithms::maintain_core_numbers(g);
    auto const before = cores->result().core;
    g.attach(*cores);
    for (std::size_t const size : {1u, 100u, 5000u}) {
      auto const batch = datasets::update_batch(datasets::update_kind::random, g.vertices(), size, 7);
      auto const rows = g.to_csr();
      g.insert(batch);
      EXPECT_EQ(cores->result().core, algorithms::core_numbers(g).core);
      std::vector<graph::edge> fresh = batch;
      std::erase_if(fresh, [&](graph::edge const& e) {
        auto const begin = rows.targets.begin() + static_cast<std::ptrdiff_t>(rows.offsets[e.source]);
        auto const end = rows.targets.begin() + static_cast<std::ptrdiff_t>(rows.offsets[e.source + 1]);
        return std::binary_search(begin, end, e.target);
      });
      g.erase(fresh);
      EXPECT_EQ(cores->result().core, before);
    }
  });
}

}  // namespace wyrm::tests
