// SPDX-License-Identifier: Apache-2.0
// What can be asked of a loader, whatever the format. The program has a flag for each field.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace wyrm::loaders {

enum class file_format { metis, matrix_market, dimacs, edge_list, gap, graphalytics, node_link, binary };

/// What the third of three columns of an edge list is; of four columns it is the weight, and the fourth the time.
enum class third_column { weight, time };

/// Weights drawn evenly from [least, most]. The weight of an edge is a function of its two ends, in either order, and
/// of the seed: it does not depend on where in the file the edge stands.
struct weight_range {
  double least = 0;
  double most = 1;
  std::uint64_t seed = 1;
};

/// Fields act in the order in which they stand here.
struct options {
  std::optional<file_format> format = {};  // nothing: the file's name and content say it
  third_column third = third_column::weight;
  /// Edge lists: the vertex is the id less this, and all vertices up to the largest id exist. Nothing: the ids that
  /// occur are numbered from 0 in ascending order, and edge_list.ids keeps them.
  std::optional<std::uint64_t> vertex_base = {};
  /// Most bytes that a compressed file may unpack to; 0: half of the machine's memory.
  std::size_t unpacked_limit = 0;
  /// Keeps the parsed file beside it, as FILE.wyrm, and takes that instead as long as size and time of FILE, and the
  /// fields above, stay the same.
  bool cache = false;

  bool remove_self_loops = false;
  /// Nothing: as the file says. False: every arc becomes an edge. True: every edge becomes two arcs, a self-loop one.
  std::optional<bool> directed = {};
  /// Of equal arcs, or of equal edges in either direction, the first stays; the list is then ascending.
  bool remove_duplicates = false;
  std::optional<weight_range> random_weights = {};  // nothing: those of the file

  unsigned threads = 0;  // that parse; 0: one a core
};

}  // namespace wyrm::loaders
