// SPDX-License-Identifier: Apache-2.0
// The graph of labels on a host: the same rows as those of row_builder, which sorts all arcs. A core adds up the arcs
// of the vertices with a label in a table of all labels, and sorts only the labels that it finds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/bulk.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../../graph/types.hpp"
#include "../../graph/update/sorted_values.hpp"
#include "../../graph/view.hpp"
#include "thread_tables.hpp"
#include "weighted_rows.hpp"

namespace wyrm::algorithms::detail {

/// Counts the vertices that have arcs, and their arcs.
struct count_labelled {
  graph::graph_view g;
  graph::vertex_id const* label;
  std::uint32_t* members;  // of each label
  std::uint32_t* arcs;
  WYRM_HD void operator()(std::size_t i) const {
    auto const v = static_cast<graph::vertex_id>(i);
    std::uint32_t const degree = g.degree(v);
    if (degree == 0) return;
    exec::atomic_ref<std::uint32_t>(members[label[v]]).fetch_add(1, exec::relaxed);
    exec::atomic_ref<std::uint32_t>(arcs[label[v]]).fetch_add(degree, exec::relaxed);
  }
};

/// Lists these vertices by label, in any order. Counts down `members`.
struct list_labelled {
  graph::graph_view g;
  graph::vertex_id const* label;
  std::uint64_t const* offsets;
  std::uint32_t* members;
  graph::vertex_id* list;
  WYRM_HD void operator()(std::size_t i) const {
    auto const v = static_cast<graph::vertex_id>(i);
    if (g.degree(v) == 0) return;
    list[offsets[label[v]] + exec::atomic_ref<std::uint32_t>(members[label[v]]).fetch_sub(1, exec::relaxed) - 1] = v;
  }
};

/// A thread per block of labels: writes their rows. So the label with most arcs takes the time of one thread. Weights
/// are 0 or more, and have a sum of less than 2^32.
struct write_coarse_rows {
  static constexpr std::size_t grain = 1;
  weighted_rows from;
  graph::vertex_id const* label;
  std::uint64_t const* member_offsets;
  graph::vertex_id const* members;
  thread_tables_view<std::uint32_t> tables;  // of an entry per label
  graph::vertex_id n;                        // labels
  graph::vertex_id block;                    // labels of a thread
  std::uint64_t const* offsets;              // of rows, with room for all arcs of the members
  graph::vertex_id* targets;
  std::uint32_t* weights;
  graph::packed_record* records;
  std::uint64_t* arcs;  // of all rows

  template <class Tile>
  void operator()(Tile const& t, std::size_t number) const {
    unsigned const index = tables.acquire(t);
    auto const begin = static_cast<graph::vertex_id>(number * block);
    std::uint64_t written = 0;
    for (graph::vertex_id c = begin; c < n && c - begin < block; ++c) written += write(c, tables.table(index));
    tables.release(index);
    exec::atomic_ref<std::uint64_t>(*arcs).fetch_add(written, exec::relaxed);
  }

 private:
  std::uint32_t write(graph::vertex_id c, std::uint32_t* sums) const {
    graph::vertex_id* const row = targets + offsets[c];
    std::uint32_t* const row_weights = weights + offsets[c];
    std::uint32_t const found = gather(c, {sums, row});
    graph::vertex_id const* const sorted = graph::detail::sort_values(row, row_weights, found);
    if (sorted != row) std::copy_n(sorted, found, row);
    auto const size = static_cast<std::uint32_t>(std::unique(row, row + found) - row);
    for (std::uint32_t i = 0; i < size; ++i) {
      row_weights[i] = sums[row[i]];
      sums[row[i]] = 0;
    }
    records[c] = graph::vertex_record{row, size, size};
    return size;
  }
  // Adds up the weights of the arcs of c by label. Returns the number of labels found, of which some may be repeated.
  std::uint32_t gather(graph::vertex_id c, label_sums<std::uint32_t> to) const {
    for (std::uint64_t m = member_offsets[c]; m < member_offsets[c + 1]; ++m) {
      graph::vertex_id const v = members[m];
      graph::neighbour_list const all = from.g.neighbours(v);
      for (std::uint32_t i = 0; i < all.size; ++i)
        to.add(label[all[i]], from.weight(all.data + i) * (all[i] == v ? from.loop : 1));
    }
    return to.size;
  }
};

/// Owns scratch memory: 20 bytes per vertex, and 4 per vertex for each thread.
template <class Space>
class host_coarsening {
 public:
  explicit host_coarsening(Space const& space)
      : space_(space),
        bulk_(space),
        counts_(space),
        arcs_(space),
        offsets_(space),
        members_(space),
        written_(space, 1),
        tables_(space) {}

  void reserve(std::size_t vertices, std::uint64_t arcs) {
    bulk_.reserve(vertices);
    counts_.reserve(vertices);
    arcs_.reserve(vertices);
    offsets_.reserve(vertices + 1);
    members_.reserve(vertices);
    tables_.reserve(vertices, most_table_bytes(vertices, arcs));
  }
  /// See row_builder::coarsen(). Rows have gaps between them.
  void run(weighted_rows const& from, graph::vertex_id const* label, graph::vertex_id n, built_rows<Space>& to) {
    std::size_t const vertices = from.g.vertices();
    reserve(vertices, from.g.arcs());
    space_.fill(counts_.data(), 0, n * sizeof(std::uint32_t));
    space_.fill(arcs_.data(), 0, n * sizeof(std::uint32_t));
    space_.fill(written_.data(), 0, sizeof(std::uint64_t));
    exec::for_each(space_, vertices, count_labelled{from.g, label, counts_.data(), arcs_.data()});
    typename built_rows<Space>::parts const rows = to.begin(n, from.g.arcs());
    bulk_.inclusive_sum(counts_.data(), offsets_.data(), n);
    bulk_.inclusive_sum(arcs_.data(), rows.offsets, n);
    exec::for_each(space_, vertices, list_labelled{from.g, label, offsets_.data(), counts_.data(), members_.data()});
    std::size_t const block = std::clamp<std::size_t>(n / (16 * std::size_t{space_.threads()}), 1, 64);
    exec::for_each_tile<1>(space_, (n + block - 1) / block,
                           write_coarse_rows{from, label, offsets_.data(), members_.data(), tables_.cleared(), n,
                                             static_cast<graph::vertex_id>(block), rows.offsets, rows.targets,
                                             rows.weights, rows.records, written_.data()});
    to.set_arcs(exec::read(space_, written_.data()));
  }

 private:
  Space space_;
  typename Space::bulk bulk_;
  exec::buffer<std::uint32_t, Space> counts_;
  exec::buffer<std::uint32_t, Space> arcs_;
  exec::buffer<std::uint64_t, Space> offsets_;
  exec::buffer<graph::vertex_id, Space> members_;
  exec::buffer<std::uint64_t, Space> written_;
  thread_tables<std::uint32_t, Space> tables_;
};

}  // namespace wyrm::algorithms::detail
