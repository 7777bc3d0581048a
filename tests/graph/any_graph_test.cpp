// SPDX-License-Identifier: Apache-2.0
// Tests graphs with every allocator of the registry: edges of vertices with few and with thousands of neighbours are
// inserted and erased, on the host and on the first GPU, if there is one, and the graph is compared with the model.
#include "../../graph/any_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "../../alloc/registry.hpp"
#include "../support/seed.hpp"
#include "../support/spaces.hpp"
#include "failures.hpp"
#include "model.hpp"

namespace wyrm::tests {

namespace {

constexpr graph::vertex_id vertices = 5000;

// Vertex 1 is the source of a third of the edges.
std::vector<graph::edge> random_edges(std::size_t n, std::mt19937_64& random) {
  std::vector<graph::edge> edges;
  for (std::size_t i = 0; i < n; ++i) {
    auto const u = static_cast<graph::vertex_id>(i % 3 == 0 ? 1 : random() % vertices);
    edges.push_back({u, static_cast<graph::vertex_id>(random() % vertices)});
  }
  return edges;
}

void agrees_with_the_model(exec::any_space const& space, std::string const& allocator) {
  SCOPED_TRACE(allocator);
  graph::any_graph g(space, allocator, vertices);
  graph_model model(vertices, g.settings().directed, g.settings().self_loops);
  std::mt19937_64 random(seeded(1));
  std::vector<graph::edge> all;
  for (unsigned round = 0; round < 4; ++round) {
    std::vector<graph::edge> const more = random_edges(scaled(20000, 2000), random);
    EXPECT_EQ(g.insert(more).inserted, model.insert(more).inserted);
    all.insert(all.end(), more.begin(), more.end());
    std::shuffle(all.begin(), all.end(), random);
    std::vector<graph::edge> const gone(all.end() - static_cast<std::ptrdiff_t>(all.size() / 3), all.end());
    all.resize(all.size() - gone.size());
    EXPECT_EQ(g.erase(gone).erased, model.erase(gone).erased);
    g.check();
    EXPECT_EQ(g.to_csr(), model.to_csr());
  }
  g.clear();
  g.check();
  EXPECT_EQ(g.edges(), 0u);
}

void survives_failures(exec::any_space const& space, std::string const& allocator) {
  SCOPED_TRACE(allocator);
  bool reclaims = false;
  alloc::visit<exec::host_space>(allocator, [&]<class A> { reclaims = A::family.reclaims; });
  for (bool const directed : {false, true}) {
    graph::any_graph g(space, allocator, static_cast<graph::vertex_id>(scaled(30, 20)), {.directed = directed});
    expect_failures_change_nothing(g, reclaims);
  }
}

template <class Test>
void on_all(Test const& test) {
  for (std::string const& allocator : alloc::names()) {
    test(exec::make_space("cpu"), allocator);
#if WYRM_WITH_CUDA
    if (exec::cuda_space::device_count() > 0) test(exec::make_space("cuda"), allocator);
#endif
  }
}

}  // namespace

TEST(any_graph, every_allocator_works) { on_all(agrees_with_the_model); }
TEST(any_graph, every_allocation_may_fail) { on_all(survives_failures); }

TEST(any_graph, is_moved_and_assigned) {
  graph::any_graph a(exec::make_space("cpu"), "ouroboros-s-p", 5);
  EXPECT_EQ(a.insert({{0, 1}, {1, 2}}).inserted, 2u);
  EXPECT_EQ(a.insert({{2, 3}}).inserted, 1u);
  EXPECT_EQ(a.erase({{2, 3}, {0, 4}}).erased, 1u);
  graph::any_graph b(std::move(a));
  // NOLINTBEGIN(bugprone-use-after-move)
  EXPECT_THROW((void)a.edges(), error);
  EXPECT_THROW((void)a.view(), error);
  EXPECT_THROW((void)a.insert({{0, 1}}), error);
  a = graph::any_graph(exec::make_space("cpu"), "bump", 3);
  EXPECT_EQ(a.vertices(), 3u);
  a = std::move(b);
  EXPECT_EQ(a.edges(), 2u);
  EXPECT_THROW((void)b.to_csr(), error);
  // NOLINTEND(bugprone-use-after-move)
  a.check();
}

// A list with more edges than a slice.
TEST(any_graph, is_built_from_a_list_in_slices) {
  graph::edge_list list;
  list.vertices = 3000;
  std::mt19937_64 random(seeded(2));
  std::size_t const n = graph::slice_for(0) + 1000;
  for (std::size_t i = 0; i < n; ++i)
    list.edges.push_back({static_cast<graph::vertex_id>(i % 2999), static_cast<graph::vertex_id>(2999)});
  list.edges.back() = {1, 2};
  graph::any_graph const g = graph::build(exec::make_space("cpu"), "ouroboros-s-p", list);
  EXPECT_EQ(g.edges(), 3000u);
  g.check();
}

}  // namespace wyrm::tests
