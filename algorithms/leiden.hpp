// SPDX-License-Identifier: Apache-2.0
// Leiden (Traag, Waltman, van Eck, Scientific Reports 9, 5233, 2019): as Louvain, but the vertices of the smaller graph
// are well connected parts of communities (detail/refinement.hpp), which can still move to other communities. At the
// end each community is connected. docs/clustering.md describes method and cost.
#pragma once

#include <cstddef>

#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "../graph/any_graph.hpp"
#include "../graph/view.hpp"
#include "detail/labels.hpp"
#include "detail/module_finder.hpp"
#include "detail/refinement.hpp"
#include "detail/weighted_rows.hpp"

namespace wyrm::algorithms {

/// With keep_levels, the levels are the parts of communities, each of which is connected.
using leiden_options = modularity_options;
using leiden_result = modularity_result;

/// Finds communities of different graphs, or of one changing graph; keeps its memory. Labels stay on the device until
/// result() is called. Not thread-safe.
template <class Space>
class leiden_finder : public detail::module_finder<Space> {
 public:
  explicit leiden_finder(Space const& space)
      : detail::module_finder<Space>(space, "Leiden"),
        refinement_(space),
        part_(space),
        coarse_label_{labels(space), labels(space)} {}

  /// As louvain_finder::run(), with about 240 bytes per vertex. At the end each community is connected; with
  /// `exhaustive` no vertex can raise modularity by a move either.
  void run(graph::graph_view const& g, leiden_options const& o = {}) {
    if (!this->begin(g, o)) return;
    refinement_.reserve(this->vertices_);
    for (labels* l : {&part_, &coarse_label_[0], &coarse_label_[1]}) l->reserve(this->vertices_);
    this->run_passes(
        o.passes, [&] { merge(); }, [&] { return settle_connected(); });
  }

 private:
  using labels = exec::buffer<graph::vertex_id, Space>;
  static constexpr unsigned max_splits = 64;

  // Refines communities; their parts become the vertices of a smaller graph, in which they move, and so on until each
  // community is one part, and none of them moves.
  void merge() {
    auto& merging = this->merging_;
    detail::weighted_rows from = this->rows_;
    graph::vertex_id* label = this->label_.data();
    for (unsigned level = 0;; ++level) {
      std::size_t const n = from.g.vertices();
      graph::vertex_id* const set = merging.spare(level).data();
      auto const done = refinement_.refine(merging.moves(), from, label, this->rules_, set);
      this->converged_ = this->converged_ && done.ended;
      graph::vertex_id const sets = merging.number(set, n);
      graph::vertex_id* const label_of_set = coarse_label_[level % 2].data();
      bool const several = refinement_.lift(label, set, n, label_of_set);
      if (level == 0)
        this->space_.copy(part_.data(), set, n * sizeof(graph::vertex_id));
      else
        exec::for_each(this->space_, this->vertices_, detail::compose_labels{part_.data(), set});
      this->keep_level(part_.data());
      label = label_of_set;
      if (sets == n) break;
      merging.builder().coarsen(from, set, sets, merging.coarse(level));
      from = merging.coarse(level).view();
      if (this->move(from, label) == 0 && !several) break;
    }
    this->space_.copy(this->label_.data(), part_.data(), this->vertices_ * sizeof(graph::vertex_id));
    exec::for_each(this->space_, this->vertices_, detail::compose_labels{this->label_.data(), label});
  }
  // Vertices move, see settle(), and communities that are not connected are divided, which raises modularity. If moves
  // are exhaustive, in turn, until neither changes anything. Returns whether labels have changed.
  bool settle_connected() {
    bool changed = false;
    for (unsigned i = 0;; ++i) {
      changed = this->settle() > 0 || changed;
      this->merging_.relabel_by_first(this->label_.data(), this->vertices_);
      if (!refinement_.split(this->merging_.moves(), this->rows_, this->label_.data())) return changed;
      changed = true;
      if (!this->exhaustive_) return true;
      if (i == max_splits) {
        this->converged_ = false;
        return true;
      }
    }
  }

  detail::refinement<Space> refinement_;
  labels part_;  // of each vertex: its part at the current level
  labels coarse_label_[2];
};

/// The same for a single call.
template <class Space>
leiden_result leiden(Space const& space, graph::graph_view const& g, leiden_options const& o = {}) {
  leiden_finder<Space> finder(space);
  finder.run(g, o);
  return finder.result();
}

leiden_result leiden(graph::any_graph const& g, leiden_options const& o = {});

}  // namespace wyrm::algorithms
