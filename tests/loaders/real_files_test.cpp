// SPDX-License-Identifier: Apache-2.0
// Real graphs: every METIS and Matrix Market file of the data folder must load, with the numbers of vertices, edges and
// arcs that other libraries find in it.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "../../loaders/loaders.hpp"
#include "../support/truth.hpp"

namespace wyrm::tests {
namespace {

/// How many different edges there are, self-loops left out, where `undirected` takes (u, v) and (v, u) for the same.
std::size_t count_simple(std::vector<graph::edge> edges, bool undirected) {
  std::erase_if(edges, [](auto const& e) { return e.source == e.target; });
  if (undirected) {
    for (auto& e : edges) e = {std::min(e.source, e.target), std::max(e.source, e.target)};
  }
  std::sort(edges.begin(), edges.end());
  return static_cast<std::size_t>(std::unique(edges.begin(), edges.end()) - edges.begin());
}

bool is_graph_file(std::filesystem::path const& path) {
  return path.extension() == ".graph" || path.extension() == ".mtx";
}

TEST(real_graphs, agree_with_reference_values) {
  auto const folder = data_folder();
  if (!folder) GTEST_SKIP() << "WYRM_DATA is not set: it names the folder of real graphs and their TRUTH.tsv";

  auto const rows = read_truth(*folder);
  std::size_t compared = 0;
  for (auto const& entry : std::filesystem::directory_iterator(*folder)) {
    if (!is_graph_file(entry.path())) continue;
    SCOPED_TRACE(entry.path());
    auto const list = loaders::load(entry.path());
    auto const name = entry.path().filename().string();
    auto const row = std::find_if(rows.begin(), rows.end(), [&](auto const& r) { return r.file == name; });
    if (row == rows.end()) continue;  // it loads, there is nothing to compare with
    EXPECT_EQ(list.directed, row->directed);
    EXPECT_EQ(list.vertices, row->vertices);
    EXPECT_TRUE(list.weights.empty() || list.weights.size() == list.edges.size());
    EXPECT_EQ(count_simple(list.edges, true), row->undirected_edges);
    EXPECT_EQ(list.directed ? count_simple(list.edges, false) : 2 * count_simple(list.edges, true), row->arcs_simple);
    ++compared;
  }
  EXPECT_GT(compared, 0U) << "no graph of TRUTH.tsv is in " << *folder;
}

}  // namespace
}  // namespace wyrm::tests
