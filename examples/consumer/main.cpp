// SPDX-License-Identifier: Apache-2.0
// The library in twenty lines: a graph on the GPU, or on the CPU without one; a batch of insertions, one of erasures,
// an attached result and an algorithm.
#include <cstdio>
#include <vector>
#include <wyrm/algorithms/incremental_triangles.hpp>
#include <wyrm/algorithms/pagerank.hpp>
#include <wyrm/graph/any_graph.hpp>

int main() try {
  wyrm::graph::any_graph g(wyrm::exec::make_space("auto"), "ouroboros-s-p", 5);
  auto const triangles = wyrm::algorithms::maintain_triangles(g);
  g.attach(*triangles);  // follows all changes of the graph

  std::vector<wyrm::graph::edge> const batch{{0, 1}, {1, 2}, {2, 0}, {2, 3}, {3, 4}, {1, 0}};
  auto const report = g.insert(batch);
  std::printf("%zu edges inserted, %zu duplicates\n", std::size_t{report.inserted}, std::size_t{report.duplicates});
  g.erase({{3, 4}});

  auto const pagerank = wyrm::algorithms::pagerank(g);
  std::printf("%zu edges, %zu triangles, PageRank of vertex 2: %.4f\n", std::size_t{g.edges()},
              std::size_t{triangles->total()}, pagerank.rank[2]);
  return report.inserted == 5 && g.edges() == 4 && triangles->total() == 1 ? 0 : 1;
} catch (wyrm::error const& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
