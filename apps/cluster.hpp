// SPDX-License-Identifier: Apache-2.0
// `wyrm cluster`: clusters of a graph file, beside known classes where there are some.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "../algorithms/clustering.hpp"
#include "../loaders/output_file.hpp"
#include "degrees.hpp"
#include "load.hpp"

namespace wyrm::apps {

struct cluster_options {
  graph_file file;
  std::string device = "auto";
  bool weighted = false;  // by the weights in the file
  algorithms::clustering_options clustering;
  std::string labels;  // a file for them; empty: none
  std::string truth;   // a file with the class of each vertex; empty: none
  std::string report;  // empty: none
};

/// Of clusters with known classes.
struct agreement {
  std::uint64_t classes;
  double information;  // normalized mutual information
  double rand;         // adjusted Rand index
};

struct cluster_result {
  std::string device;
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;
  bool directed = false;
  algorithms::clustering_result clusters;
  degree_summary sizes;  // of clusters
  std::optional<agreement> truth;
  double load_ms = 0;
  double build_ms = 0;
  double ms = 0;  // of clustering, labels to the host included
};

/// Reads labels: a number a line for each vertex, in their order; a line that begins with # is a comment. Throws
/// error(bad_input) where that is not so, with the line, and error(io).
[[nodiscard]] std::vector<std::uint32_t> read_labels(std::string const& file, std::size_t vertices);

/// Throws what loading, building and clustering throw; error(bad_argument) for weights that the file has not; and what
/// read_labels throws.
[[nodiscard]] cluster_result cluster(cluster_options const& o);

/// With a comment that says what they are.
void write_labels(loaders::output_file& file, std::vector<std::uint32_t> const& labels);

}  // namespace wyrm::apps
