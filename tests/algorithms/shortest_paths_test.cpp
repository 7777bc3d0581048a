// SPDX-License-Identifier: Apache-2.0
// Trees of BFS and shortest paths with lengths on the CPU, and with tiles of fibers; and the examples of LDBC
// Graphalytics.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "../support/simt_space.hpp"
#include "../support/truth.hpp"
#include "shortest_paths_suite.hpp"

namespace wyrm::tests {

#if WYRM_TEST_HOST
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, shortest_paths_test, testing::Types<exec::host_space>);
#endif
#if WYRM_TEST_SIMT
INSTANTIATE_TYPED_TEST_SUITE_P(simt, shortest_paths_test, testing::Types<simt_space>);
#endif

TEST(shortest_paths, of_a_graph_whose_space_is_chosen_at_run_time) {
  using ids = std::vector<graph::vertex_id>;
  graph::any_graph g(exec::make_space("cpu"), alloc::default_name, 4, {.values = graph::number_type::u32});
  g.insert(std::vector<graph::edge>{{0, 1}, {1, 2}, {0, 2}}, graph::host_numbers(std::vector<std::uint32_t>{1, 1, 5}));
  auto const got = algorithms::sssp(g, 0, {.parents = true});
  EXPECT_EQ(got.distance, (std::vector<double>{0, 1, 2, std::numeric_limits<double>::infinity()}));
  EXPECT_EQ(got.parent, (ids{0, 0, 1, graph::no_vertex}));
  EXPECT_EQ(algorithms::bfs(g, ids{2}, {.parents = true}).parent, (ids{2, 2, 2, graph::no_vertex}));
}

// The launches on tiles of all copies of a space.
class counting_space : public exec::host_space {
 public:
  [[nodiscard]] std::size_t launches() const { return *launches_; }
  template <unsigned W, class F>
  void run_tiles(std::integral_constant<unsigned, W> width, std::size_t n, F const& f) const {
    ++*launches_;
    exec::host_space::run_tiles(width, n, f);
  }

 private:
  std::shared_ptr<std::size_t> launches_ = std::make_shared<std::size_t>(0);
};

// The sample from which delta is chosen has only the loops of length zero, and no arc of the source.
TEST(shortest_paths, take_few_rounds_where_most_lengths_are_zero) {
  graph::vertex_id const n = 4096;
  std::vector<graph::edge> edges;
  std::vector<double> lengths;
  for (graph::vertex_id v = 0; v < n; v += 4) {
    edges.push_back({v, v});
    lengths.push_back(0);
    edges.push_back({1, v});
    lengths.push_back(v + 1);
  }
  graph::any_graph g(exec::make_space("cpu"), alloc::default_name, n,
                     {.directed = true, .self_loops = true, .values = graph::number_type::f64});
  g.insert(edges, graph::host_numbers(lengths));
  counting_space const space;
  auto const got = algorithms::sssp(space, g.view(), 1);
  EXPECT_EQ(got.reached, n / 4 + 1);
  for (graph::vertex_id v = 0; v < n; v += 4) ASSERT_EQ(got.distance[v], v + 1);
  EXPECT_LT(space.launches(), 200u);
}

// Graphs and reference output of LDBC Graphalytics: lines of ids, edges with weights, and a value per vertex.
TEST(shortest_paths, of_the_examples_of_graphalytics) {
  auto const folder = data_folder() / "graphalytics";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "there is no folder " << folder;
  for (bool const directed : {true, false}) {
    std::string const name = directed ? "example-directed" : "example-undirected";
    SCOPED_TRACE(name);
    std::map<std::uint64_t, graph::vertex_id> number;
    std::ifstream vertices(folder / (name + ".v"));
    for (std::uint64_t id = 0; vertices >> id;) number.emplace(id, static_cast<graph::vertex_id>(number.size()));
    ASSERT_GT(number.size(), 8u);
    std::vector<graph::edge> edges;
    std::vector<double> weights;
    std::ifstream lines(folder / (name + ".e"));
    double weight = 0;
    for (std::uint64_t from = 0, to = 0; lines >> from >> to >> weight;) {
      edges.push_back({number.at(from), number.at(to)});
      weights.push_back(weight);
    }
    graph::any_graph g(exec::make_space("cpu"), alloc::default_name, number.size(),
                       {.directed = directed, .values = graph::number_type::f64});
    g.insert(edges, graph::host_numbers(weights));

    // The source is the vertex at distance zero.
    auto const reference = [&](std::string const& algorithm) {
      std::ifstream table(folder / (name + "-" + algorithm));
      std::vector<std::string> values(number.size());
      std::string value;
      for (std::uint64_t id = 0; table >> id >> value;) values.at(number.at(id)) = value;
      return values;
    };
    auto const lengths = reference("SSSP");
    auto const hops = reference("BFS");
    graph::vertex_id source = 0;
    while (hops.at(source) != "0") ++source;
    auto const distance = algorithms::sssp(g, source).distance;
    auto const arcs = algorithms::bfs(g, std::vector<graph::vertex_id>{source}).distance;
    for (graph::vertex_id v = 0; v < g.vertices(); ++v) {
      if (hops[v] == "9223372036854775807")
        EXPECT_EQ(arcs[v], algorithms::bfs_result::unreached) << v;
      else
        EXPECT_EQ(std::to_string(arcs[v]), hops[v]) << v;
      if (lengths[v] == "Infinity")
        EXPECT_EQ(distance[v], std::numeric_limits<double>::infinity()) << v;
      else
        EXPECT_NEAR(distance[v], std::stod(lengths[v]), 1e-12) << v;
    }
  }
}

}  // namespace wyrm::tests
