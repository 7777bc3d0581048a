// SPDX-License-Identifier: Apache-2.0
// Builds symmetric rows. Keys (row, column) of all arcs are sorted; then weights are added at the position of their
// key, or, if all are 1, equal keys are counted, so the result does not depend on the order of additions. On a host,
// rows of labels are built without sorting all arcs (coarsen_on_host.hpp), and under a memory manager in windows
// (window_coarsening.hpp).
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "../../exec/bulk.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../../graph/view.hpp"
#include "coarsen_on_host.hpp"
#include "weighted_rows.hpp"
#include "window_coarsening.hpp"

namespace wyrm::algorithms::detail {

/// Builds rows; keeps its scratch memory: 16 bytes per arc, and twice as much for both directions. On a host, graphs of
/// labels take the memory of host_coarsening instead.
template <class Space>
class row_builder {
 public:
  explicit row_builder(Space const& space)
      : space_(space),
        bulk_(space),
        list_(space),
        offsets_(space),
        keys_(space),
        spare_(space),
        host_coarsening_(space),
        windows_(space) {}

  /// Requests the memory of coarsen() for rows with this many entries.
  void reserve(std::size_t vertices, std::uint64_t entries) {
    if constexpr (exec::has_tiles<Space>)
      reserve_keys(vertices, entries);
    else
      host_coarsening_.reserve(vertices, entries);
  }
  /// Requests the memory of symmetrise() for so many entries, two for each arc.
  void reserve_symmetrise(std::size_t vertices, std::uint64_t entries) { reserve_keys(vertices, entries); }
  /// Both directions of all arcs of a graph; all weights are 0.
  void symmetrise(graph::graph_view const& g, built_rows<Space>& to) {
    build(unweighted(g), nullptr, g.vertices(), 2 * g.arcs(), to);
  }
  /// After symmetrise(): the weight of an entry becomes the sum of the integer weights of its arcs, in both directions;
  /// a self-loop counts twice as much as another edge of its weight, once for each of its ends.
  void add_weights(graph::graph_view const& g, std::uint32_t const* integer_weights, built_rows<Space>& to) {
    to.add(unweighted(g), list_.view(), offsets_.data(), integer_weights, nullptr);
  }
  /// After symmetrise(): writes the weight of each arc, 1 without weights, to `arcs`, at the entry of its source in the
  /// row of its target.
  void write_arcs(graph::graph_view const& g, std::uint32_t const* integer_weights, built_rows<Space> const& rows,
                  std::uint32_t* arcs) {
    rows.write_arcs(g, list_.view(), offsets_.data(), integer_weights, arcs);
  }
  /// For tests: see window_coarsening.
  void set_window(std::uint64_t keys) { windows_.set_window(keys); }
  /// The graph of labels; labels are less than n.
  void coarsen(weighted_rows const& from, graph::vertex_id const* labels, graph::vertex_id n, built_rows<Space>& to) {
    if constexpr (exec::has_tiles<Space>) {
      if (windows_.is_used()) {
        list_.fill(from.g);
        if (windows_.run(from, labels, n, list_.view(), to)) return;
      }
      bool const is_weighted = from.weights != nullptr;
      build(from, labels, n, from.g.arcs(), to, !is_weighted);
      if (is_weighted)
        to.add(from, list_.view(), offsets_.data(), nullptr, labels);
      else if (from.loop > 1)
        to.add_loops(from, labels);
    } else {
      host_coarsening_.run(from, labels, n, to);
    }
  }

 private:
  [[nodiscard]] static weighted_rows unweighted(graph::graph_view const& g) { return {g, nullptr, nullptr, 2}; }
  void reserve_keys(std::size_t vertices, std::uint64_t entries) {
    bulk_.reserve(entries);
    list_.reserve(vertices, entries);
    offsets_.reserve(vertices);
    keys_.reserve(entries);
    spare_.reserve(entries);
  }
  void build(weighted_rows const& from, graph::vertex_id const* labels, graph::vertex_id n, std::uint64_t entries,
             built_rows<Space>& to, bool counts = false) {
    auto const id_bits = std::max(1u, static_cast<unsigned>(std::bit_width(n - 1)));
    reserve_keys(from.g.vertices(), entries);
    list_.fill(from.g);
    offsets_.find(from.g);
    for_each_item<8>(space_, list_.view(), write_keys{from, offsets_.data(), labels, id_bits, keys_.data()});
    std::uint64_t* const sorted = bulk_.sort(keys_.data(), spare_.data(), entries, 2 * id_bits);
    std::uint64_t* const distinct = sorted == keys_.data() ? spare_.data() : keys_.data();
    std::size_t const arcs = bulk_.unique(sorted, distinct, entries);
    to.build(n, distinct, arcs, id_bits, bulk_, counts ? sorted : nullptr, entries);
  }

  Space space_;
  typename Space::bulk bulk_;
  vertex_list<Space> list_;
  row_offsets<Space> offsets_;
  exec::large_buffer<std::uint64_t, Space> keys_;
  exec::large_buffer<std::uint64_t, Space> spare_;
  host_coarsening<Space> host_coarsening_;
  window_coarsening<Space> windows_;
};

}  // namespace wyrm::algorithms::detail
