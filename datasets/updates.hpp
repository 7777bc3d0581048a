// SPDX-License-Identifier: Apache-2.0
// Update streams: batches of random edges, with the distributions that papers on dynamic graphs use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "../graph/types.hpp"
#include "random.hpp"
#include "stream.hpp"

namespace wyrm::datasets {

enum class update_kind : std::uint8_t {
  random,    // sources and targets uniform over all vertices
  pressure,  // sources uniform over 1,000 vertices with consecutive ids; each batch draws its own range
};

/// `count` edges without self-loops, possibly with duplicates. A function of the arguments, equal on all machines.
/// Throws error(bad_argument) for less than two vertices. O(count), on all cores.
[[nodiscard]] std::vector<graph::edge> update_batch(update_kind kind, std::size_t vertices, std::size_t count,
                                                    std::uint64_t seed);
/// The same into a vector, whose memory is used again.
void update_batch(update_kind kind, std::size_t vertices, std::size_t count, std::uint64_t seed,
                  std::vector<graph::edge>& to);

enum class stream_kind : std::uint8_t {
  random,        // as update_kind, in each batch
  pressure,      // the same
  preferential,  // sources uniform over all vertices, targets with probabilities proportional to their degrees
  mix,           // batches of these three kinds in turn
};

struct generated_options {
  stream_kind kind = stream_kind::random;
  std::size_t batches = 10;
  std::size_t batch = 100'000;  // updates of a batch, at least 1
  double erase = 0;             // probability, 0 to 1, that an update erases an edge that the stream has inserted
  std::uint64_t seed = 1;

  /// From a description such as "mix,batches=100,batch=1000,erase=0.3,seed=7". Throws error(bad_argument).
  [[nodiscard]] static generated_options from(std::string_view words);
};

/// A stream of random updates without self-loops; a batch ends with end_batch, and the time of its updates is its
/// number, from 0. Degrees count the edges of the graph at the begin and all insertions. A function of the arguments,
/// equal on all machines. Memory: a batch; 4 bytes per arc of the graph and per end of an insertion (preferential,
/// mix); 8 bytes per edge that is inserted and not erased (erase).
class generated_updates : public update_source {
 public:
  /// `arcs`: the targets of all arcs of the graph at the begin; not read for other kinds than preferential and mix.
  /// Throws error(bad_argument) for less than two vertices, and for options out of their ranges.
  generated_updates(generated_options const& o, std::size_t vertices, std::span<graph::vertex_id const> arcs);
  bool next(update& to) override;
  void take_edges(timed_batch& to, std::size_t most, bool keep_weights) override;

 private:
  [[nodiscard]] bool prefers() const;  // whether the current batch is preferential
  void prepare();
  update draw();

  generated_options options_;
  std::uint32_t vertices_;
  random_numbers random_;
  std::vector<graph::vertex_id> ends_;  // a vertex occurs as often as its degree
  std::vector<graph::edge> inserted_;   // and not erased
  std::vector<graph::edge> edges_;      // of the current batch, unless they depend on degrees or were moved away
  std::size_t batch_ = 0;               // number of the current batch
  std::size_t at_ = 0;                  // updates of it that were returned
};

}  // namespace wyrm::datasets
