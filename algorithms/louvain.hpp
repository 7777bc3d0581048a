// SPDX-License-Identifier: Apache-2.0
// Louvain (Blondel, Guillaume, Lambiotte, Lefebvre, J. Stat. Mech. 2008): each vertex begins as a community, and moves
// to the neighbouring community where it raises modularity most. Then communities become the vertices of a smaller
// graph, and so on, until no move raises modularity. Vertices move in rounds, many at the same time
// (detail/modularity_moves.hpp). docs/clustering.md describes method and cost.
#pragma once

#include "../graph/any_graph.hpp"
#include "../graph/view.hpp"
#include "detail/module_finder.hpp"

namespace wyrm::algorithms {

using louvain_options = modularity_options;
using louvain_result = modularity_result;

/// Finds communities of different graphs, or of one changing graph; keeps its memory. Labels stay on the device until
/// result() is called. Not thread-safe.
template <class Space>
class louvain_finder : public detail::module_finder<Space> {
 public:
  explicit louvain_finder(Space const& space) : detail::module_finder<Space>(space, "Louvain") {}

  /// Each pass moves vertices, also from and to the communities of the pass before, and merges communities. With
  /// `exhaustive` no vertex can raise modularity by a move in the end. A vertex without edges, also an absent one, is a
  /// community. Labels are a function of graph, options and seed in every space. Throws error(bad_argument) for options
  /// out of range, for a graph of more than 2^31 arcs (2^30 if it is directed or `weighted`), and, if `weighted`, for a
  /// graph whose values are no numbers or a value that is negative or not finite; error(out_of_memory). O(arcs log
  /// vertices) per level. 28 to 44 bytes per arc and about 200 per vertex; for a directed graph or with weights up to
  /// three times as much per arc. On a host about 16 bytes per arc, and 12 per vertex for each thread, see
  /// detail::most_table_bytes(); for a directed graph or with weights up to 60 more per arc.
  void run(graph::graph_view const& g, louvain_options const& o = {}) {
    if (!this->begin(g, o)) return;
    auto const level = [&](graph::vertex_id) { this->keep_level(this->label_.data()); };
    auto const merge = [&] {
      auto const merged = this->merging_.merge(this->rows_, this->label_.data(), this->rules_, level);
      this->converged_ = this->converged_ && merged.converged;
    };
    this->run_passes(o.passes, merge, [&] { return this->settle() > 0; });
  }
};

/// The same for a single call.
template <class Space>
louvain_result louvain(Space const& space, graph::graph_view const& g, louvain_options const& o = {}) {
  louvain_finder<Space> finder(space);
  finder.run(g, o);
  return finder.result();
}

louvain_result louvain(graph::any_graph const& g, louvain_options const& o = {});

}  // namespace wyrm::algorithms
