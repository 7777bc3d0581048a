// SPDX-License-Identifier: Apache-2.0
// Reference values of real graphs for tests: TRUTH.tsv in the folder of the graphs. Small graphs are in
// tests/data/graphs; the environment variable WYRM_DATA names another folder, of more graphs. Tests that need those are
// skipped without it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

namespace wyrm::tests {

/// One graph: the name of its file, and values from SciPy and igraph. "Simple" means without self-loops and repeats.
/// The undirected columns and the triangles are those of the graph without directions; PageRank (damping 0.85, dangling
/// ranks distributed uniformly) follows the arcs of a directed graph.
struct truth_row {
  std::string file;
  bool directed = false;
  std::size_t vertices = 0;
  std::uint64_t arcs_simple = 0;  // an undirected edge counts twice
  std::uint64_t self_loops = 0;
  std::uint64_t undirected_edges = 0;
  std::uint64_t max_degree_undirected = 0;
  std::uint64_t triangles = 0;
  std::size_t weak_components = 0;
  double pagerank_max = 0;
  std::size_t pagerank_argmax = 0;  // a vertex with the rank pagerank_max; vertices are numbered from 0
  double pagerank_l2 = 0;
};

/// The folder that WYRM_DATA names; that of the small graphs if the variable is unset or empty.
[[nodiscard]] inline std::filesystem::path data_folder() {
  auto const* const name = std::getenv("WYRM_DATA");
  return name == nullptr || *name == '\0' ? std::filesystem::path(WYRM_TEST_DATA) / "graphs"
                                          : std::filesystem::path(name);
}

/// The rows of TRUTH.tsv in the folder, in the same order, whether or not the graphs exist. Columns are found by the
/// names in the first line; columns that truth_row does not have are ignored. Throws std::runtime_error if the table or
/// a column is missing, or a row is malformed.
[[nodiscard]] inline std::vector<truth_row> read_truth(std::filesystem::path const& folder) {
  auto const path = folder / "TRUTH.tsv";
  std::ifstream table(path);
  if (!table) throw std::runtime_error(path.string() + ": cannot be opened");

  auto const split = [](std::string const& line) {
    std::vector<std::string> cells;
    std::istringstream stream(line);
    for (std::string cell; std::getline(stream, cell, '\t');) cells.push_back(cell);
    if (!cells.empty() && !cells.back().empty() && cells.back().back() == '\r') cells.back().pop_back();
    return cells;
  };

  std::string line;
  std::getline(table, line);
  std::unordered_map<std::string, std::size_t> column;
  for (auto const& name : split(line)) column.emplace(name, column.size());

  std::vector<truth_row> rows;
  while (std::getline(table, line)) {
    if (line.empty()) continue;
    auto const cells = split(line);
    auto const cell = [&](char const* name) -> std::string const& {
      auto const found = column.find(name);
      if (found == column.end() || found->second >= cells.size()) {
        throw std::runtime_error(path.string() + ": no column " + name + " in \"" + line + '"');
      }
      return cells[found->second];
    };
    auto const count = [&](char const* name) { return std::stoull(cell(name)); };
    truth_row row;
    row.file = cell("file");
    row.directed = cell("directed") == "yes";
    row.vertices = count("vertices");
    row.arcs_simple = count("arcs_simple");
    row.self_loops = count("self_loops");
    row.undirected_edges = count("undirected_edges");
    row.max_degree_undirected = count("max_degree_undirected");
    row.triangles = count("triangles");
    row.weak_components = count("weak_components");
    row.pagerank_max = std::stod(cell("pagerank_d085_max"));
    row.pagerank_argmax = count("pagerank_argmax0");
    row.pagerank_l2 = std::stod(cell("pagerank_l2"));
    rows.push_back(row);
  }
  return rows;
}

}  // namespace wyrm::tests
