// SPDX-License-Identifier: Apache-2.0
// `wyrm cluster`: finds clusters of a graph file, and compares them with known classes.
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
#include "placement.hpp"

namespace wyrm::apps {

struct cluster_options : placement {
  graph_file file;
  bool weighted = false;  // use the weights in the file
  algorithms::clustering_options clustering;
  std::string labels;  // output file for the labels; empty: none
  std::string truth;   // input file with the class of each vertex; empty: none
  std::string report;  // output file for the JSON report; empty: none
};

/// Agreement of clusters with known classes.
struct agreement {
  std::uint64_t classes;  // number of different classes
  double information;     // normalized mutual information
  double rand;            // adjusted Rand index
};

struct cluster_result {
  std::string device;
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;
  bool directed = false;
  vertex_ids ids;
  algorithms::clustering_result clusters;
  std::vector<std::uint64_t> levels;  // number of clusters of each level, from the finest; at least one level
  degree_summary sizes;               // of clusters of the finest level
  std::optional<agreement> truth;
  std::string generated_on;  // see generating_device()
  double load_ms = 0;
  double build_ms = 0;
  double ms = 0;  // time of clustering; the transfer of labels to the host is included
};

/// The names of the objectives: modularity, map-equation, cpm.
[[nodiscard]] std::vector<std::string> objectives();
[[nodiscard]] std::string name_of(algorithms::clustering_objective objective);
/// The objective with one of these names.
[[nodiscard]] algorithms::clustering_objective objective_of(std::string const& name);

/// Reads labels, in the order of vertices: a line for each vertex has its id and a number, and is in any place; a line
/// that begins with # is a comment, and empty lines are skipped. Throws error(bad_input), with the line, when the file
/// has another form; error(io).
[[nodiscard]] std::vector<std::uint32_t> read_labels(std::string const& file, vertex_ids const& ids);

/// Throws the errors of loading, building, clustering and read_labels; error(bad_argument) when `weighted` is set and
/// the file has no weights.
[[nodiscard]] cluster_result cluster(cluster_options const& o);

/// The file of --labels: a comment, then a line for each vertex, with its id and its label, or its labels at all
/// levels. Opened by the constructor; without a name, no file. Throws error(io).
class label_file {
 public:
  explicit label_file(cluster_options const& o) : file_("the labels", o.labels) {}
  void write(algorithms::clustering_result const& clusters, vertex_ids const& ids);
  /// Renames the written file to its name.
  void commit() { file_.commit(); }

 private:
  loaders::output_file file_;
};

}  // namespace wyrm::apps
