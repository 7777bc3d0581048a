// SPDX-License-Identifier: Apache-2.0
// Results with a value for each vertex or edge: the largest values, and text files of all values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "../algorithms/triangles.hpp"
#include "../graph/types.hpp"
#include "../loaders/output_file.hpp"
#include "algorithms.hpp"
#include "loaded_graph.hpp"

namespace wyrm::apps {

template <class T>
struct vertex_value {
  graph::vertex_id vertex;
  T value;
};

/// The k largest values, or all if there are fewer, in descending order; equal values in ascending order of vertices.
/// O(n log k).
template <class T>
[[nodiscard]] std::vector<vertex_value<T>> largest(std::vector<T> const& values, std::size_t k) {
  std::vector<graph::vertex_id> ids(k > 0 ? values.size() : 0);
  std::iota(ids.begin(), ids.end(), graph::vertex_id{0});
  auto const end = ids.begin() + static_cast<std::ptrdiff_t>(std::min(k, ids.size()));
  std::partial_sort(ids.begin(), end, ids.end(), [&](graph::vertex_id a, graph::vertex_id b) {
    return values[a] != values[b] ? values[a] > values[b] : a < b;
  });
  std::vector<vertex_value<T>> top;
  for (auto id = ids.begin(); id != end; ++id) top.push_back({*id, values[*id]});
  return top;
}

/// Summary of ranks.
struct rank_summary {
  double max = 0;
  std::optional<graph::vertex_id> argmax;  // of equal ranks the lowest vertex; nothing without vertices
  double l2 = 0;
  double sum = 0;
  std::vector<vertex_value<double>> top;
};
[[nodiscard]] rank_summary summarize_ranks(std::vector<double> const& rank, std::size_t top);

struct triangles_summary {
  std::uint64_t total = 0;
  double ms = 0;  // time of the total only

  struct by_vertex {
    double average_clustering;
    double global_clustering;
    std::vector<vertex_value<std::uint64_t>> top;
  };
  std::optional<by_vertex> vertices;  // if requested
};
[[nodiscard]] triangles_summary::by_vertex summarize_triangles(algorithms::triangles_result const& r, std::size_t top);

/// The values of an algorithm.
struct named_values {
  std::string algorithm;
  value_table table;
};

/// The files ALGORITHM.txt in the folder of --output: for each vertex, or for each edge of the result, a line with its
/// id (ids) and its values. Numbers are written in the shortest form that reads back as the same number; infinity is
/// written as Infinity.
class value_files {
 public:
  /// Opens the files of the selected algorithms; without a folder, no files. Throws error(io).
  explicit value_files(graph_options const& o);

  /// The path of the file for the values of an algorithm; empty without a folder. Throws error(io) when there is no
  /// such folder.
  [[nodiscard]] static std::string path_of(graph_options const& o, std::string const& algorithm);

  /// Throws error(io).
  void write(std::vector<named_values> const& values, vertex_ids const& ids);
  /// Renames the written files to their names. Throws error(io).
  void commit();

 private:
  std::map<std::string, loaders::output_file> files_;  // by algorithm
};

/// Writes the values of a result, for with_files().
inline constexpr auto write_values = [](value_files& files, auto const& result) {
  files.write(result.values, result.loaded.ids);
};

}  // namespace wyrm::apps
