// SPDX-License-Identifier: Apache-2.0
// Results with a value for each vertex: which are the largest, and the text files that hold all of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "../algorithms/triangles.hpp"
#include "../graph/types.hpp"
#include "../loaders/output_file.hpp"
#include "loaded_graph.hpp"

namespace wyrm::apps {

template <class T>
struct vertex_value {
  graph::vertex_id vertex;
  T value;
};

/// The k largest values, or all if there are fewer, descending; the lowest id first among equals. O(n log k).
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

/// Of ranks.
struct rank_summary {
  double max = 0;
  std::size_t argmax = 0;  // the lowest id among equals
  double l2 = 0;
  double sum = 0;
  std::vector<vertex_value<double>> top;
};
[[nodiscard]] rank_summary summarize_ranks(std::vector<double> const& rank, std::size_t top);

struct triangles_summary {
  std::uint64_t total = 0;
  double ms = 0;  // of the total alone

  struct by_vertex {
    double average_clustering;
    double global_clustering;
    std::vector<vertex_value<std::uint64_t>> top;
  };
  std::optional<by_vertex> corners;  // where somebody wants them
};
[[nodiscard]] triangles_summary::by_vertex summarize_corners(algorithms::triangles_result const& r, std::size_t top);

/// Of each vertex, in the order of their ids; nothing where it was not computed.
struct vertex_values {
  std::optional<std::vector<double>> rank;
  std::optional<algorithms::triangles_result> triangles;
};

/// pagerank.txt and triangles.txt in the folder that --output names: a comment, then a line a vertex; numbers are the
/// shortest that read back as the same value.
class value_files {
 public:
  /// Makes sure that the files of what the options ask for can be written. Throws error(io). No folder: no files.
  explicit value_files(graph_options const& o);

  /// Throws error(io).
  void write(vertex_values const& values);
  /// What was written appears. Throws error(io).
  void commit();

 private:
  loaders::output_file ranks_;
  loaders::output_file triangles_;
};

}  // namespace wyrm::apps
