// SPDX-License-Identifier: Apache-2.0
// Louvain and Leiden on a GPU.
#include <type_traits>
#include <utility>
#include <vector>

#include "../../exec/cuda_space.hpp"
#include "../support/graph_on.hpp"
#include "modules_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cuda, modules_test, testing::Types<exec::cuda_space>);

class modules_of_hubs : public modules_test<exec::cuda_space> {};

// A hub with so many neighbours that its parts are longer than usual, and other hubs: the labels are those of a CPU.
TEST_F(modules_of_hubs, are_those_of_a_cpu) {
  constexpr graph::vertex_id n = 600'000;
  std::vector<graph::edge> edges;
  for (graph::vertex_id v = 1; v < n; ++v) {
    edges.push_back({0, v});
    if (v % 3 != 0 && v + 1 < n) edges.push_back({v, v + 1});
    edges.push_back({v % 700, v});
  }
  auto const labels = [&](auto const& space) {
    graph_on<std::decay_t<decltype(space)>> g(space, n);
    g.insert(edges);
    return std::pair(algorithms::louvain(space, g.view()).label, algorithms::leiden(space, g.view()).label);
  };
  EXPECT_EQ(labels(exec::cuda_space(0)), labels(exec::host_space()));
}

}  // namespace wyrm::tests
