// SPDX-License-Identifier: Apache-2.0
// Tests real graphs: every file of the data folder must load with the numbers of vertices, edges and arcs that other
// libraries report, and compressed files as the same graph.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../../loaders/detail/recognise.hpp"
#include "../../loaders/loaders.hpp"
#include "../support/spaces.hpp"
#include "../support/truth.hpp"
#include "files.hpp"
#include "packing.hpp"

namespace wyrm::tests {
namespace {

/// The number of different edges without self-loops; with `undirected`, (u, v) and (v, u) are the same edge.
std::size_t count_simple(std::vector<graph::edge> edges, bool undirected) {
  std::erase_if(edges, [](auto const& e) { return e.source == e.target; });
  if (undirected) {
    for (auto& e : edges) e = {std::min(e.source, e.target), std::max(e.source, e.target)};
  }
  std::sort(edges.begin(), edges.end());
  return static_cast<std::size_t>(std::unique(edges.begin(), edges.end()) - edges.begin());
}

bool is_graph_file(std::filesystem::path const& path) {
  auto const name = path.filename().string();
  if (name.find(".labels.") != std::string::npos || path.extension() == ".tsv") return false;
  return loaders::detail::format_of_name(name).has_value();
}

void expect_truth(graph::edge_list const& list, truth_row const& row) {
  EXPECT_EQ(list.directed, row.directed);
  EXPECT_EQ(list.vertices, row.vertices);
  EXPECT_TRUE(list.weights.empty() || list.weights.size() == list.edges.size());
  EXPECT_EQ(count_simple(list.edges, true), row.undirected_edges);
  EXPECT_EQ(row.directed ? count_simple(list.edges, false) : 2 * count_simple(list.edges, true), row.arcs_simple);
  std::set<graph::vertex_id> loops;
  for (auto const& [source, target] : list.edges)
    if (source == target) loops.insert(source);
  EXPECT_EQ(loops.size(), row.self_loops);
}

TEST(real_graphs, agree_with_reference_values) {
  auto const folder = data_folder();
  auto const rows = read_truth(folder);
  std::size_t compared = 0;
  for (auto const& entry : std::filesystem::directory_iterator(folder)) {
    if (!is_graph_file(entry.path())) continue;
    SCOPED_TRACE(entry.path());
    auto const list = loaders::load(entry.path());
    EXPECT_FALSE(list.edges.empty());
    auto const name = entry.path().filename().string();
    auto const row = std::find_if(rows.begin(), rows.end(), [&](auto const& r) { return r.file == name; });
    if (row == rows.end()) continue;  // the file loads, and there is no reference value
    expect_truth(list, *row);
    ++compared;
  }
  EXPECT_GT(compared, 0U) << "no graph of TRUTH.tsv is in " << folder;
}

TEST(real_graphs, are_the_same_when_compressed) {
  auto const data = data_folder();
  temporary_folder const folder;
  for (auto const& entry : std::filesystem::directory_iterator(data)) {
    if (!is_graph_file(entry.path())) continue;
    SCOPED_TRACE(entry.path());
    auto const plain = loaders::load(entry.path());
    auto const name = entry.path().filename().string();
    auto const content = read_file(entry.path());
    std::vector<std::pair<char const*, std::string>> forms{{"zstd", name + ".zst"}};
    if (content.size() < scaled(2000000)) {  // the other compressions are slow
      forms.insert(forms.end(), {{"gzip", name + ".gz"}, {"bzip2", name + ".bz2"}, {"xz", name + ".xz"}});
      forms.emplace_back("gzip", name + ".tar.gz");
    }
    for (auto const& [filter, packed] : forms) {
      pack(folder / packed, filter, packed.ends_with(".tar.gz"), {{name, content}});
      auto const list = loaders::load(folder / packed);
      EXPECT_EQ(list.vertices, plain.vertices);
      EXPECT_EQ(list.directed, plain.directed);
      EXPECT_EQ(list.edges, plain.edges);
      EXPECT_EQ(list.weights, plain.weights);
      EXPECT_EQ(list.times, plain.times);
      EXPECT_EQ(list.ids, plain.ids);
      std::filesystem::remove(folder / packed);
    }
  }
}

}  // namespace
}  // namespace wyrm::tests
