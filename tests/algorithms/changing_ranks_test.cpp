// SPDX-License-Identifier: Apache-2.0
// Maintained PageRank with weights or sources on the CPU, with tiles of fibers, and for an any_graph.
#include "changing_ranks_suite.hpp"

#include "../../graph/maintained_result.hpp"
#include "../support/simt_space.hpp"

namespace wyrm::tests {

#if WYRM_TEST_HOST
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, changing_ranks_test, testing::Types<exec::host_space>);
#endif
#if WYRM_TEST_SIMT
INSTANTIATE_TYPED_TEST_SUITE_P(simt, changing_ranks_test, testing::Types<simt_space>);
#endif

TEST(changing_ranks, of_any_graph) {
  graph::any_graph g(exec::make_space("cpu"), alloc::default_name, 4,
                     {.directed = true, .values = graph::number_type::f64});
  std::vector<graph::edge> const fork{{0, 1}, {0, 2}};
  g.insert(fork, std::span<double const>(std::vector<double>{1, 3}));
  auto const ranks = algorithms::maintain_pagerank(
      g, {.damping = 0.5, .tolerance = 1e-12, .weighted = true, .sources = {{0, 1}, {3, 3}}});
  auto const expect = [&](std::vector<double> const& want) {
    for (std::size_t v = 0; v < want.size(); ++v) EXPECT_NEAR(ranks->rank()[v], want[v], 1e-11) << v;
  };
  g.attach(*ranks);
  expect({2.0 / 9, 1.0 / 36, 1.0 / 12, 2.0 / 3});
  g.insert(fork, std::span<double const>(std::vector<double>{7, 7}));
  expect({2.0 / 9, 1.0 / 18, 1.0 / 18, 2.0 / 3});
}

/// Records which edges a change revalues.
class revalued_edges final : public graph::maintained_result {
 public:
  revalued_edges(graph::graph_view const& g, bool needs_values) : maintained_result("test", g), needs_(needs_values) {}
  [[nodiscard]] bool needs_values() const override { return needs_; }
  std::vector<graph::edge> listed;
  std::size_t size = 0;

 private:
  void on_before(graph::graph_view const&, graph::graph_change const& change) override {
    size = change.revalued_size;
    listed.assign(change.revalued, change.revalued + size);
    std::erase(listed, graph::graph_change::no_edge());
  }
  void on_after(graph::graph_view const&) override {}
  void on_undo(graph::graph_view const&) override {}

  bool needs_;
};

// Only a result that needs values makes the graph list edges that may get another one.
TEST(changing_ranks, are_told_which_values_change) {
  graph_on<exec::host_space, float> g(exec::host_space(1), 5, {.directed = true});
  using edges = std::vector<graph::edge>;
  auto const insert = [&](edges const& batch) {
    g.insert(batch, std::span<float const>(std::vector(batch.size(), 7.f)));
  };
  insert({{0, 1}, {1, 2}});
  revalued_edges indifferent(g.view(), false);
  g.attach(indifferent);
  insert({{0, 1}});
  EXPECT_EQ(indifferent.size, 0u);
  revalued_edges informed(g.view(), true);
  g.attach(informed);
  insert({{0, 1}, {0, 3}, {0, 1}, {3, 3}});
  EXPECT_EQ(informed.listed, (edges{{0, 1}, {0, 1}}));
  std::vector<graph::operation> const what{graph::operation::erase, graph::operation::insert, graph::operation::insert,
                                           graph::operation::erase, graph::operation::insert};
  g.apply(edges{{1, 2}, {1, 2}, {0, 1}, {0, 1}, {4, 0}}, what, std::span<float const>(std::vector(5, 9.f)));
  EXPECT_EQ(informed.listed, (edges{{1, 2}}));  // erased and inserted again; (0, 1) is gone
  g.erase(edges{{1, 2}});
  EXPECT_EQ(informed.size, 0u);
}

// Sums of weights do not depend on the number of threads.
TEST(changing_ranks, are_the_same_on_any_number_of_threads) {
  std::vector<std::vector<double>> all;
  for (unsigned const threads : {1u, 3u}) {
    graph_on<exec::host_space, float> g(exec::host_space(threads), 3000, {.directed = true});
    std::mt19937 random(seeded(70));
    auto const edges = random_edges(random, 3000, 20'000);
    std::vector<float> weights;
    for (std::size_t i = 0; i < edges.size(); ++i) weights.push_back(1.0f / static_cast<float>(1 + random() % 99));
    g.insert(edges, std::span<float const>(weights));
    algorithms::incremental_pagerank ranks(g.space(), g.view(), {.weighted = true, .sources = {{1, 1}, {2, 3}}});
    g.attach(ranks);
    std::shuffle(weights.begin(), weights.end(), random);
    g.insert(edges, std::span<float const>(weights));
    all.push_back(ranks.rank());
  }
  EXPECT_EQ(all[0], all[1]);
}

}  // namespace wyrm::tests
