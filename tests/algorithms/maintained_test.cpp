// SPDX-License-Identifier: Apache-2.0
// Maintained results on the CPU, and with tiles of fibers.
#include "../../alloc/registry.hpp"
#include "../../graph/any_graph.hpp"
#include "../support/simt_space.hpp"
#include "maintained_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cpu, maintained_test, testing::Types<exec::host_space>);
INSTANTIATE_TYPED_TEST_SUITE_P(simt, maintained_test, testing::Types<simt_space>);

// Each counter holds any part of the sum, modulo 2^64.
TEST(residual_state, adds_counters_exactly) {
  using state = algorithms::detail::residual_state;
  constexpr auto high = std::uint64_t{1} << 63;
  auto const total = [](std::initializer_list<std::uint64_t> values) {
    state s{};
    for (std::size_t i = 0; std::uint64_t const value : values)
      s.residual_norm[7 * i++] = static_cast<std::int64_t>(value);
    return state::total(s.residual_norm);
  };
  EXPECT_EQ(total({}), 0);
  EXPECT_EQ(total({3, 0 - std::uint64_t{5}}), -2);
  EXPECT_EQ(total({high / 2 + 5, 0 - high / 2}), 5);  // a sum of doubles would round this away
  EXPECT_EQ(total({high / 2 + 1, 1, 1, 0 - high / 2 - 10}), -7);
  EXPECT_EQ(total({high + 5, 0 - high / 2, 0 - high / 2}), 5);  // a counter that wrapped around
  state s{};
  s.done.work[0] = s.done.work[63] = high / 2 + high / 4;  // unsigned
  EXPECT_EQ(state::total(s.done.work), 1.5 * 0x1p63);
}

TEST(maintained, of_a_graph_whose_space_is_chosen_at_run_time) {
  graph::any_graph first(exec::make_space("cpu"), alloc::default_name, 6);
  graph::any_graph other(exec::make_space("cpu"), alloc::default_name, 6);
  EXPECT_NE(first.view().graph_id(), other.view().graph_id());
  auto const ranks = algorithms::maintain_pagerank(first);
  auto const triangles = algorithms::maintain_triangles(first);
  graph::any_graph g(std::move(first));
  std::vector<graph::edge> const batch{{0, 1}, {1, 2}, {2, 0}};
  algorithms::insert(g, batch, *ranks, *triangles);
  EXPECT_EQ(triangles->total(), 1u);
  EXPECT_THROW(algorithms::insert(other, batch, *triangles, *ranks), error);
  g.erase(batch);
  EXPECT_THROW(algorithms::insert(g, batch, *ranks, *triangles), error);
  EXPECT_EQ(g.edges(), 0u);
  EXPECT_EQ(other.edges(), 0u);
}

}  // namespace wyrm::tests
