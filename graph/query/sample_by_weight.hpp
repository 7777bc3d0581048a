// SPDX-License-Identifier: Apache-2.0
// Samples of neighbours with probabilities proportional to the weights of their edges, which are the values of the
// graph. Hops are those of sample.hpp. A tile processes one vertex, and reads its whole row (choose_by_weight.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cuda/std/bit>
#include <span>
#include <type_traits>
#include <vector>

#include "../../exec/atomic.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/tile.hpp"
#include "../types.hpp"
#include "../view.hpp"
#include "choose_by_weight.hpp"
#include "sample.hpp"
#include "scratch.hpp"
#include "values.hpp"

namespace wyrm::graph {

namespace detail {

/// Writes the number of samples of each vertex of a frontier, and refuses ids that are out of range. One tile per
/// vertex; it reads weights until the number is known.
template <class Weight, class Policy>
struct count_weighted_samples {
  graph_view g;
  vertex_id const* frontier;
  std::uint32_t k;
  std::uint32_t* counts;
  query_status* status;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i) const {
    vertex_id const v = frontier[i];
    bool const valid = v < g.vertices();
    std::uint32_t const degree = valid ? g.degree(v) : 0;
    Weight const* const weights = degree > 0 ? g.values<Weight>(v) : nullptr;
    std::uint32_t positive = 0;
    for (std::uint64_t first = 0; first < degree && positive <= Policy::enough(k); first += Tile::size()) {
      std::uint64_t const at = first + t.rank();
      bool const counts_here = at < degree && weight_of(weights[at]) > 0;
      positive += static_cast<std::uint32_t>(cuda::std::popcount(t.ballot(counts_here)));
    }
    if (t.rank() != 0) return;
    if (!valid) status->refuse(i);
    counts[i] = Policy::count(positive, k);
    if (positive > k && exec::load_recent(status->all_fit) != 0)
      exec::atomic_ref<std::uint64_t>(status->all_fit).store(0, exec::relaxed);
  }
};

/// Each of `tiles` tiles has a table, and processes several vertices.
template <class Weight, class Policy>
struct sample_weighted_frontier {
  static constexpr std::size_t grain = 1;
  hop_work hop;
  std::size_t tiles;
  weight_table tables;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t tile) const {
    std::size_t const begin = tile * tables.size;
    weight_table const table{tables.keys == nullptr ? nullptr : tables.keys + begin,
                             tables.indices == nullptr ? nullptr : tables.indices + begin, tables.size};
    for (std::size_t i = tile; i < hop.size; i += tiles) {
      auto const count = static_cast<std::uint32_t>(hop.offsets[i + 1] - hop.offsets[i]);
      if (count == 0) continue;
      vertex_id const v = hop.frontier[i];
      Policy{}(t, hop.draws, i, hop.g.template values<Weight>(v), hop.g.degree(v), count, table, hop.writer(i));
    }
  }
};

template <class Weight, class Policy>
struct weighted_sampler {
  template <class Space>
  void count(Space const& space, graph_view const& g, resident_vertices frontier, std::uint32_t k,
             std::uint32_t* counts, query_status* status) const {
    exec::for_each_tile<32>(space, frontier.size,
                            count_weighted_samples<Weight, Policy>{g, frontier.data, k, counts, status});
  }
  template <class Space>
  void choose(query_scratch<Space>& scratch, hop_work const& hop, bool all_fit) const {
    Space const& space = scratch.space();
    sample_weighted_frontier<Weight, Policy> work{hop, hop.size, {nullptr, nullptr, 0}};
    if (!Policy::is_subset || !all_fit) {
      constexpr std::uint64_t most_entries = std::uint64_t{1} << 24;  // in total, unless one table needs more
      std::uint64_t const size = Policy::table_size(hop.k);
      std::size_t const most_tiles = std::max<std::size_t>(most_entries / size, 1);
      work.tiles = std::min({hop.size, most_tiles, 64 * space.multiprocessors()});
      scratch.keys.reserve(work.tiles * size);
      if (Policy::is_subset) scratch.tables.reserve(work.tiles * size);
      work.tables = {scratch.keys.data(), scratch.tables.data(), size};
    }
    exec::for_each_tile<32>(space, work.tiles, work);
  }
};

}  // namespace detail

/// Samples neighbours like sample_neighbours(), but by the weights of their edges. With `replace`, each draw selects a
/// neighbour with a probability proportional to its weight. Without `replace`, each further draw does the same among
/// the neighbours that are not drawn yet; the samples of a vertex are in ascending order. Neighbours of weight 0 are
/// never drawn; negative weights and NaN count as 0. A vertex has no samples if none of its weights is positive.
/// Without `replace`, it has all neighbours of positive weight if these are not more than the fan-out. Positive weights
/// below 2^-960 count as 2^-960, and weights above 2^960 as 2^960.
///
/// Weight: the type of the graph's values: float, double, or std::uint32_t. Also throws error(bad_argument) if its size
/// is not that of the values. The result is a function of the graph, the seeds and the options, the same in every
/// space.
///
/// O(degree) per vertex of a frontier, by one tile. Scratch: that of sample_neighbours(), but at most 192 MiB for
/// tables, or 12 bytes times four times the fan-out if that is more.
template <class Weight, class On>
[[nodiscard]] auto sample_neighbours_by_weight(On&& on, graph_view const& g, resident_vertices seeds,
                                               sample_options const& o) {
  static_assert(std::is_same_v<Weight, float> || std::is_same_v<Weight, double> ||
                std::is_same_v<Weight, std::uint32_t>);
  constexpr char const* query = "sample_neighbours_by_weight";
  detail::check_value_type<Weight>(query, g);
  auto&& scratch = detail::scratch_for(on);
  return detail::sample_hops<detail::weighted_sampler<Weight, detail::draw_subset_by_weight>,
                             detail::weighted_sampler<Weight, detail::draw_by_weight>>(scratch, query, g, seeds, o);
}
template <class Weight, class On>
[[nodiscard]] std::vector<sampled_hop> sample_neighbours_by_weight(On&& on, graph_view const& g,
                                                                   std::span<vertex_id const> seeds,
                                                                   sample_options const& o) {
  auto&& scratch = detail::scratch_for(on);
  auto const entries = detail::upload(scratch.space(), seeds);
  return detail::to_host(
      sample_neighbours_by_weight<Weight>(scratch, g, resident_vertices(entries.data(), seeds.size()), o));
}

}  // namespace wyrm::graph
