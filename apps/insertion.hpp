// SPDX-License-Identifier: Apache-2.0
// The edges of a file as one insertion, or as several where memory of the device is bounded: the scratch of an update
// takes more than 100 bytes per edge of a batch.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>

#include "../alloc/residency/bounded_space.hpp"
#include "../graph/any_graph.hpp"
#include "../graph/numbers.hpp"
#include "../graph/types.hpp"
#include "../graph/update_report.hpp"

namespace wyrm::apps {

/// Inserts edges into a graph without edges; the last of equal edges counts, or as the combiner of the graph says.
/// values: one for each edge, or none. bound: of the graph; nullptr: none. Returns the report of a single batch. Throws
/// the errors of any_graph::insert().
inline graph::update_report insert_all(graph::any_graph& g, std::span<graph::edge const> edges,
                                       graph::host_numbers const& values,
                                       alloc::residency::bounded_space const* bound) {
  constexpr std::size_t least = std::size_t{1} << 16;
  // An undirected edge is two arcs, and a batch has fewer than 2^32.
  constexpr std::size_t largest = std::size_t{1} << 30;
  std::size_t const most =
      bound == nullptr ? largest : std::clamp(std::bit_floor(bound->limit() / 2048), least, largest);
  bool const lacks_values = values.type() != graph::number_type::none && values.size() != edges.size();
  if (edges.size() <= most || lacks_values) return g.insert(edges, values);
  graph::update_report all;
  for (std::size_t first = 0; first < edges.size(); first += most) {
    std::size_t const n = std::min(most, edges.size() - first);
    graph::update_report const one = g.insert(edges.subspan(first, n), values.part(first, n));
    all.inserted += one.inserted;
    all.self_loops += one.self_loops;
  }
  all.requested = edges.size();
  all.duplicates = all.requested - all.inserted - all.self_loops;
  return all;
}

}  // namespace wyrm::apps
