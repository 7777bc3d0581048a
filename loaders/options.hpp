// SPDX-License-Identifier: Apache-2.0
// The options of all loaders. The program has a flag for each field.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "../graph/ids/vertex_order.hpp"

namespace wyrm::loaders {

enum class file_format {
  metis,
  matrix_market,
  dimacs,
  edge_list,
  gap,
  graphalytics,
  node_link,
  binary,
  serialized  // of the GAP benchmark suite, with weights or without
};

/// The meaning of the third of three columns of an edge list. Of four columns the third is the weight, the fourth the
/// time.
enum class third_column { weight, time };

/// The names of columns in the first line of an edge list. Columns with an empty name are not read.
struct column_names {
  std::string source;
  std::string target;
  std::string weight = {};
  std::string time = {};
};

/// Weights drawn uniformly from [least, most]. The weight of an edge is a function of the set of its two ends and of
/// the seed, and does not depend on the position of the edge in the file.
struct weight_range {
  double least = 0;
  double most = 1;
  std::uint64_t seed = 1;
};

/// The fields take effect in the order of their declarations.
struct options {
  std::optional<file_format> format = {};  // nothing: determined by name and content of the file
  std::optional<third_column> third = {};  // edge lists only; nothing: the weight
  /// Edge lists only: the columns to read, by their names in the first line. Nothing: names that are known, or the
  /// order of the columns where the first line has numbers (parse_edge_list).
  std::optional<column_names> columns = {};
  /// Edge lists: the vertex is the id less this, which edge_list.first_id keeps, and all vertices up to the largest id
  /// exist. Nothing: the ids that occur are numbered from 0 in ascending order, and edge_list.ids keeps them. GAP:
  /// nothing means 0.
  std::optional<std::uint64_t> vertex_base = {};
  /// The maximum number of bytes to which a compressed file or an archive with all its files may unpack; 0: half of the
  /// memory that the process may use.
  std::size_t unpacked_limit = 0;
  /// The maximum number of vertices; 0: 2^24, or 64 for each byte of the file (unpacked) if that is more. A few bytes
  /// can promise vertices for which a graph needs tens of gigabytes.
  std::size_t max_vertices = 0;
  /// Writes the parsed list to FILE.wyrm, and loads that file instead as long as size, times and inode of FILE and the
  /// fields above are the same. The graph is also loaded if the cache cannot be written, or another file has its name.
  bool cache = false;
  std::filesystem::path cache_dir = {};  // the folder of the cache; empty: that of FILE

  bool remove_self_loops = false;
  /// Nothing: as in the file. False: every arc becomes an edge. True: every edge becomes two arcs, a self-loop one arc.
  std::optional<bool> directed = {};
  /// Keeps the first of equal arcs, or of equal edges in either direction, and sorts the list in ascending order.
  bool remove_duplicates = false;
  std::optional<weight_range> random_weights = {};  // nothing: the weights of the file
  /// The order of the vertices: the numbers of vertices change, and edge_list.ids or names keep those of the file.
  graph::vertex_order order = graph::vertex_order::as_given;

  /// Maps a file into memory instead of reading it, which saves memory of the size of the file. If another process cuts
  /// a mapped file while it is loaded, the signal SIGBUS ends this process. Pipes and compressed files are read.
  bool map = false;
  unsigned threads = 0;  // number of threads that parse; 0: one per core
};

}  // namespace wyrm::loaders
