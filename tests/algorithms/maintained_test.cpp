// SPDX-License-Identifier: Apache-2.0
// Maintained results on the CPU, and with tiles of fibers.
#include "../../algorithms/clustering.hpp"
#include "../../algorithms/clustering_quality.hpp"
#include "../../algorithms/edge_support.hpp"
#include "../../algorithms/random_walks.hpp"
#include "../../algorithms/triangles.hpp"
#include "../../alloc/registry.hpp"
#include "../../graph/any_graph.hpp"
#include "../support/simt_space.hpp"
#include "maintained_suite.hpp"

namespace wyrm::tests {

#if WYRM_TEST_HOST
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, maintained_test, testing::Types<exec::host_space>);
#endif
#if WYRM_TEST_SIMT
INSTANTIATE_TYPED_TEST_SUITE_P(simt, maintained_test, testing::Types<simt_space>);
#endif

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
  first.attach(*ranks);
  first.attach(*triangles);
  graph::any_graph g(std::move(first));
  std::vector<graph::edge> const batch{{0, 1}, {1, 2}, {2, 0}};
  g.insert(batch);
  EXPECT_EQ(triangles->total(), 1u);
  EXPECT_EQ(ranks->rank(), algorithms::maintain_pagerank(g)->rank());
  EXPECT_THROW(other.attach(*triangles), error);
  g.detach(*ranks);
  g.erase(batch);
  EXPECT_EQ(triangles->total(), 0u);
  EXPECT_THROW(g.attach(*ranks), error);
  EXPECT_THROW(g.detach(*ranks), error);
  EXPECT_EQ(g.edges(), 0u);
}

// Each function of an any_graph passes its options on.
TEST(maintained, of_a_graph_whose_space_is_chosen_at_run_time_with_options) {
  graph::any_graph g(exec::make_space("cpu"), alloc::default_name, 6, {.directed = false});
  g.insert(std::vector<graph::edge>{{0, 1}, {1, 2}, {2, 0}, {2, 3}, {3, 4}});
  auto const ranks = algorithms::maintain_pagerank(g, {.damping = 0.5, .tolerance = 1e-12, .max_iterations = 300});
  auto const want = serial_pagerank(g.to_csr(), 0.5);
  auto const recomputed = algorithms::pagerank(g, {.damping = 0.5, .tolerance = 1e-14});
  for (std::size_t v = 0; v < 6; ++v) {
    EXPECT_NEAR(ranks->rank()[v], want[v], 1e-11);
    EXPECT_NEAR(recomputed.rank[v], want[v], 1e-13);
  }
  EXPECT_EQ(algorithms::maintain_triangles(g, true)->per_vertex(), (std::vector<std::uint64_t>{1, 1, 1, 0, 0, 0}));
  EXPECT_TRUE(algorithms::maintain_triangles(g)->per_vertex().empty());
  EXPECT_TRUE(algorithms::triangles(g).per_vertex.empty());
  EXPECT_EQ(algorithms::triangles(g, {.clustering = true}).local_clustering,
            (std::vector<double>{1, 1, 1.0 / 3, 0, 0, 0}));
  EXPECT_EQ(algorithms::clustering(g, {.iterations = 0}).iterations, 0u);
  EXPECT_EQ(algorithms::maintain_clustering(g, {.iterations = 0})->result().iterations, 0u);
  EXPECT_EQ(algorithms::random_walks(g, {.steps = 2, .starts = {5, 0}}).offsets, (std::vector<std::uint64_t>{0, 1, 4}));
  EXPECT_EQ(algorithms::quality(g, {0, 0, 0, 1, 1, 2}).conductance, (std::vector<double>{1.0 / 3, 1.0 / 3, 0}));
  EXPECT_EQ(algorithms::edge_support(g), (std::vector<std::uint32_t>{1, 1, 1, 1, 1, 1, 0, 0, 0, 0}));
}

}  // namespace wyrm::tests
