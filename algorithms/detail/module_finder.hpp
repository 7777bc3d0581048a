// SPDX-License-Identifier: Apache-2.0
// What Louvain and Leiden have in common: options and results, the graph as rows, gains with a resolution, and moves of
// single vertices until none gains.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../../graph/view.hpp"
#include "label_merging.hpp"
#include "labels.hpp"
#include "modularity_moves.hpp"
#include "symmetric_graph.hpp"
#include "weighted_rows.hpp"

namespace wyrm::algorithms {

/// Of louvain() and leiden().
struct modularity_options {
  std::uint64_t seed = 1;    // which moves are made first
  double resolution = 1;     // factor of the edges by chance; larger: more and smaller communities
  bool weighted = false;     // the values of the graph are weights, finite and not negative; both directions add up
  std::uint32_t passes = 2;  // from the moves of vertices to the last level; at least 1; ends when nothing changes
  bool keep_levels = false;  // whether the result has `levels`
  /// Whether vertices move at the end of each pass until none can gain; if not, until few do, which takes much less
  /// time.
  bool exhaustive = false;
};

struct modularity_result {
  std::vector<std::uint32_t> label;  // of each vertex: 0 ... count - 1, in the order of first vertices
  std::uint32_t count = 0;
  std::vector<std::uint32_t> sizes;  // of each label: number of vertices
  double modularity = 0;             // with the resolution; 0 without edges
  std::uint32_t passes = 0;          // that changed labels
  bool converged = true;             // false if a limit of rounds ended the moves
  /// The hierarchy of the first pass, if it is kept: labels of vertices at each level, numbered as `label`. Vertices
  /// with the same label at a level have the same one at the next. The last level differs from `label` where later
  /// moves changed labels.
  std::vector<std::vector<std::uint32_t>> levels;
};

namespace detail {

/// Owns the labels, which stay on the device until result() is called.
template <class Space>
class module_finder {
 public:
  /// The result of the last run(). O(vertices).
  [[nodiscard]] modularity_result result() const {
    modularity_result r{exec::copy_out(space_, label_.data(), vertices_),
                        count_,
                        std::vector<std::uint32_t>(count_),
                        modularity_,
                        passes_,
                        converged_,
                        levels_};
    for (std::uint32_t const l : r.label) ++r.sizes[l];
    return r;
  }
  /// The labels, in memory of the space.
  [[nodiscard]] graph::vertex_id const* label() const { return label_.data(); }
  [[nodiscard]] std::uint32_t count() const { return count_; }
  [[nodiscard]] double modularity() const { return modularity_; }

 protected:
  module_finder(Space const& space, std::string const& who)
      : space_(space), merging_(space), symmetric_(space, who), label_(space) {}

  /// Checks options and graph, and makes each vertex a community. Sets rows_ and rules_; returns false if there are no
  /// edges, or all have the weight 0. Throws as symmetric_graph, and for options out of range; labels are unchanged
  /// then, or, if there is no memory for them, empty.
  bool begin(graph::graph_view const& g, modularity_options const& o) {
    symmetric_.check_resolution(o.resolution);
    if (o.passes == 0) symmetric_.refuse("passes must be at least 1");
    symmetric_.inspect(g, o.weighted);
    weighted_rows const rows = symmetric_.make(g, o.weighted, merging_.builder());
    std::uint64_t total = 0;
    if (rows.g.arcs() > 0) {
      total = merging_.moves().prepare(rows);
      symmetric_.check_total(total);
      rules_.quadratic = symmetric_.quadratic(static_cast<double>(total), o.resolution, total, total);
      rules_.seed = static_cast<std::uint32_t>(o.seed * 0x9e3779b97f4a7c15u >> 32);
    }
    rules_.window = 8;  // less than in other uses of moves: later levels and passes also improve the communities
    rules_.few = 16;
    merging_.reserve(g.vertices());
    vertices_ = 0;
    count_ = 0;
    modularity_ = 0;
    passes_ = 0;
    converged_ = true;
    levels_.clear();
    label_.reserve(g.vertices());
    rows_ = rows;
    resolution_ = o.resolution;
    keeps_levels_ = o.keep_levels;
    exhaustive_ = o.exhaustive;
    vertices_ = g.vertices();
    count_ = static_cast<std::uint32_t>(vertices_);
    exec::for_each(space_, vertices_, init_labels{label_.data()});
    return total > 0;
  }
  /// Vertices move until few gain. Returns the number of moves.
  std::uint64_t move(weighted_rows const& rows, graph::vertex_id* label) {
    merging_.moves().prepare(rows);
    return run(rows, label, rules_);
  }
  /// Vertices move until few gain; or, if the options say so, until none does, also by leaving for a community of its
  /// own. The label of such a community is the id of the vertex, which is impossible while another community has that
  /// label. So turns alternate between two labels of each community, the ids of its first and of its last member.
  /// Returns the number of moves.
  std::uint64_t settle() {
    move_rules rules = rules_;
    if (!exhaustive_) {
      merging_.moves().prepare(rows_);
      merging_.relabel_by_first(label_.data(), vertices_);
      return run(rows_, label_.data(), rules);
    }
    rules.exhaustive = true;
    std::uint64_t all = 0;
    for (unsigned turn = 0, still = 0; still < 2 && turn < max_turns; ++turn) {
      merging_.moves().prepare(rows_);
      if (turn % 2 == 0)
        merging_.relabel_by_first(label_.data(), vertices_);
      else
        merging_.relabel_by_last(label_.data(), vertices_);
      std::uint64_t const moved = run(rows_, label_.data(), rules);
      still = moved == 0 ? still + 1 : 0;
      all += moved;
      if (turn + 1 == max_turns && still < 2) converged_ = false;
    }
    return all;
  }
  /// Passes, until nothing changes: vertices move; merge() merges communities; settle() returns whether labels have
  /// changed since.
  template <class Merge, class Settle>
  void run_passes(std::uint32_t most, Merge const& merge, Settle const& settle) {
    move(rows_, label_.data());
    bool goes_on = true;
    while (goes_on) {
      merge();
      ++passes_;
      goes_on = settle() && passes_ < most;
    }
    finish();
  }
  /// Labels that are numbered become a level of the result.
  void keep_level(graph::vertex_id const* label) {
    if (keeps_levels_ && passes_ == 0) levels_.push_back(exec::copy_out(space_, label, vertices_));
  }
  /// Gives labels their final numbers, and computes modularity.
  void finish() {
    count_ = merging_.number(label_.data(), vertices_);
    modularity_ = merging_.evaluate(rows_, label_.data(), nullptr).modularity(resolution_);
  }

  Space space_;
  label_merging<Space> merging_;
  symmetric_graph<Space> symmetric_;
  exec::large_buffer<graph::vertex_id, Space> label_;
  weighted_rows rows_{graph::graph_view(graph::view_parts{}), nullptr, nullptr, 2};
  move_rules rules_;
  std::size_t vertices_ = 0;
  std::uint32_t passes_ = 0;
  bool converged_ = true;
  bool exhaustive_ = false;

 private:
  static constexpr unsigned max_turns = 64;

  std::uint64_t run(weighted_rows const& rows, graph::vertex_id* label, move_rules const& rules) {
    auto const done = merging_.moves().run(rows, label, label_merging<Space>::max_rounds, rules);
    converged_ = converged_ && done.ended;
    return done.count;
  }

  double resolution_ = 1;
  bool keeps_levels_ = false;
  std::uint32_t count_ = 0;
  double modularity_ = 0;
  std::vector<std::vector<std::uint32_t>> levels_;
};

}  // namespace detail

}  // namespace wyrm::algorithms
