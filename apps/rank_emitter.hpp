// SPDX-License-Identifier: Apache-2.0
// The ranks that `wyrm stream` prints with a batch (--emit), under the ids that vertices have after it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "../datasets/stream.hpp"
#include "stream.hpp"

namespace wyrm::apps {

/// Keeps ids and the ranks that were printed last: the ids of the stream's reader are ahead of the graph. 8 bytes per
/// vertex besides the ids.
class rank_emitter {
 public:
  /// `ids`: of the graph as loaded.
  rank_emitter(emission what, std::size_t top, double tolerance, vertex_ids const& ids)
      : what_(what), top_(top), tolerance_(tolerance), ids_(ids) {}

  /// A batch is in the graph; `names` are the words of the vertices that it adds.
  void follow(datasets::timed_batch const& batch, std::vector<std::string> const& names);
  /// What is printed of these ranks, in which absent vertices have the rank 0. O(vertices), and O(vertices log top).
  [[nodiscard]] std::vector<emitted_rank> select(std::vector<double> const& rank);

 private:
  [[nodiscard]] emitted_rank entry(graph::vertex_id v, double rank) const;

  emission what_;
  std::size_t top_;
  double tolerance_;
  vertex_ids ids_;
  std::vector<double> printed_;        // by `changes`; 0: not, or as one that was removed
  std::vector<emitted_rank> removed_;  // vertices since then that had been printed
};

}  // namespace wyrm::apps
