// SPDX-License-Identifier: Apache-2.0
// Values of edges and batches of several operations on the CPU, and on simulated warps (simt_space).
#include "../../alloc/registry.hpp"
#include "../support/simt_space.hpp"
#include "edge_values_suite.hpp"

namespace wyrm::tests {

#if WYRM_TEST_HOST
using values_on_host = testing::Types<value_case<exec::host_space, alloc::ouroboros_va_p, graph::no_value>,
                                      value_case<exec::host_space, alloc::ouroboros_va_p, float>,
                                      value_case<exec::host_space, alloc::ouroboros_va_p, std::int64_t>,
                                      value_case<exec::host_space, alloc::rw_malloc, payment, add_payments>>;
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, graph_values, values_on_host);
#endif
#if WYRM_TEST_SIMT
using values_on_simt = testing::Types<value_case<simt_space, alloc::ouroboros_va_p, graph::no_value>,
                                      value_case<simt_space, alloc::ouroboros_va_p, std::uint32_t>,
                                      value_case<simt_space, alloc::ouroboros_va_p, small_value>,
                                      value_case<simt_space, alloc::ouroboros_va_p, payment, add_payments>>;
INSTANTIATE_TYPED_TEST_SUITE_P(simt, graph_values, values_on_simt);
#endif

TEST(graph_options, values_that_cannot_be_combined_are_refused) {
  using space = exec::host_space;
  using pairs = graph::dynamic_graph<space, alloc::ouroboros_va_p<space>, payment>;
  for (auto const how : {graph::combiner::min, graph::combiner::max, graph::combiner::sum})
    EXPECT_THROW(pairs(space(), 4, {.combine = how}), error);
  EXPECT_NO_THROW(pairs(space(), 4));
  using weights = graph::dynamic_graph<space, alloc::ouroboros_va_p<space>, double>;
  EXPECT_NO_THROW(weights(space(), 4, {.combine = graph::combiner::sum}));
  std::vector<double> values(3);
  auto* const odd = reinterpret_cast<double*>(reinterpret_cast<char*>(values.data()) + 4);
  weights g(space(), 4);
  graph::edge const e{0, 1};
  EXPECT_THROW(g.insert(graph::resident_edges(&e, 1), odd), error);
  graph::resident_edges const one(&e, 1);
  graph::operation const op = graph::operation::insert;
  EXPECT_THROW(g.insert(one, nullptr), error);
  EXPECT_THROW(g.apply(one, nullptr, values.data()), error);
  EXPECT_THROW(g.apply(one, &op, nullptr), error);
  EXPECT_EQ(g.arcs(), 0u);
  EXPECT_THROW(weights(space(), 4, {.combine = static_cast<graph::combiner>(9)}), error);
  using summed = graph::dynamic_graph<space, alloc::ouroboros_va_p<space>, payment, add_payments>;
  EXPECT_THROW(summed(space(), 4, {.combine = graph::combiner::max}), error);
}

}  // namespace wyrm::tests
