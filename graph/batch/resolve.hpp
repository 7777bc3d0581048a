// SPDX-License-Identifier: Apache-2.0
// Determines the changes of a batch: each entry is compared with the graph before the change. In a batch with
// operations, the last entry of each edge determines the result, so entries are first sorted by edge and time. The
// number of entries with an effect stays on the device; entries without effect are replaced by graph_change::no_edge().
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "../../exec/bulk.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../graph_change.hpp"
#include "../types.hpp"
#include "../view.hpp"
#include "group.hpp"

namespace wyrm::graph::detail {

/// Compares entries with the graph, and writes what they change.
struct entry_writer {
  graph_view g;
  bool keeps_self_loops;
  edge* changed;
  edge* revalued;  // nullptr: not asked for

  /// Entry i of the arrays. decides: whether the batch has no later entry of this edge.
  WYRM_HD void write(std::size_t i, edge e, operation what, bool decides) const {
    bool const is_valid =
        decides && e.source < g.vertices() && e.target < g.vertices() && (e.source != e.target || keeps_self_loops);
    bool const is_there = is_valid && contains(g.neighbours(e.source), e.target);
    bool const inserts = what == operation::insert;
    changed[i] = is_valid && is_there != inserts ? e : graph_change::no_edge();
    if (revalued != nullptr) revalued[i] = is_there && inserts ? e : graph_change::no_edge();
  }
};

/// The entries of a batch of one operation.
struct resolve_entries {
  entry_writer to;  // may write to `edges`
  edge const* edges;
  operation all;
  WYRM_HD void operator()(std::size_t i) const { to.write(i, edges[i], all, true); }
};

/// The keys by which entries are sorted: equal for entries of the same edge. Ids out of range are replaced by the last
/// vertex; the graph refuses such a batch.
struct key_entries {
  edge const* edges;
  vertex_id last;  // vertex of the graph
  unsigned id_bits;
  bool directed;
  std::uint64_t* keys;
  std::uint32_t* numbers;
  WYRM_HD void operator()(std::size_t i) const {
    vertex_id const u = edges[i].source < last ? edges[i].source : last;
    vertex_id const v = edges[i].target < last ? edges[i].target : last;
    bool const swap = !directed && v < u;
    keys[i] = std::uint64_t{swap ? v : u} << id_bits | (swap ? u : v);
    numbers[i] = static_cast<std::uint32_t>(i);
  }
};

/// The sorted entries of a batch with operations: the last one of each edge determines the result.
struct resolve_sorted_entries {
  entry_writer to;
  edge const* edges;
  operation const* operations;
  std::uint64_t const* keys;
  std::uint32_t const* numbers;
  std::size_t n;
  operation* to_operations;
  WYRM_HD void operator()(std::size_t i) const {
    std::uint32_t const entry = numbers[i];
    operation const what = operations[entry];
    bool const decides = i + 1 == n || keys[i + 1] != keys[i];
    to.write(i, edges[entry], what, decides);
    to_operations[i] = what;
  }
};

/// Resolves batches; reuses its memory. Not thread-safe.
template <class Space>
class change_resolver {
 public:
  explicit change_resolver(Space const& space)
      : space_(space),
        edges_(space),
        revalued_(space),
        operations_(space),
        batch_(space),
        batch_operations_(space),
        keys_(space),
        spare_(space),
        numbers_(space),
        spare_numbers_(space) {}

  /// The change that a batch makes; valid until the next call. The batch is on the host or in memory of the space. g:
  /// the graph before the change. needs_values: whether edges are listed that may get another value. Enqueues all work:
  /// the batch must not be freed before the stream has completed it. O(m log degree) for m entries; with operations
  /// O(m log m) more. Throws error(out_of_memory).
  [[nodiscard]] graph_change resolve(graph_view const& g, bool keeps_self_loops, batch_arrays const& batch,
                                     bool is_on_host, bool needs_values) {
    graph_change change;
    change.size = batch.size;
    change.all = batch.all;
    change.vertices = g.vertices();
    change.next_version = g.version() + (batch.size > 0 ? 1 : 0);
    bool const inserts = batch.operations != nullptr || batch.all == operation::insert;
    change.max_arcs = g.arcs() + (inserts ? batch.size * (g.directed() ? 1 : 2) : 0);
    if (batch.size == 0) return change;
    edges_.reserve(batch.size);
    change.edges = edges_.data();
    if (needs_values && inserts && g.value_bytes() > 0) {
      revalued_.reserve(batch.size);
      change.revalued = revalued_.data();
      change.revalued_size = batch.size;
    }
    entry_writer const to{g, keeps_self_loops, edges_.data(), change.revalued_size > 0 ? revalued_.data() : nullptr};
    if (batch.operations == nullptr) {
      if (is_on_host) space_.enqueue_copy_in(edges_.data(), batch.edges, batch.size * sizeof(edge));
      exec::for_each(space_, batch.size, resolve_entries{to, is_on_host ? edges_.data() : batch.edges, batch.all});
      return change;
    }
    operations_.reserve(batch.size);
    change.operations = operations_.data();
    auto const [edges, operations] = is_on_host ? upload(batch) : std::pair(batch.edges, batch.operations);
    sort_and_resolve(to, edges, operations, batch.size);
    return change;
  }

  [[nodiscard]] std::size_t bytes() const {
    return edges_.bytes() + revalued_.bytes() + operations_.bytes() + batch_.bytes() + batch_operations_.bytes() +
           keys_.bytes() + spare_.bytes() + numbers_.bytes() + spare_numbers_.bytes() + (bulk_ ? bulk_->bytes() : 0);
  }

 private:
  [[nodiscard]] std::pair<edge const*, operation const*> upload(batch_arrays const& batch) {
    batch_.reserve(batch.size);
    batch_operations_.reserve(batch.size);
    space_.enqueue_copy_in(batch_.data(), batch.edges, batch.size * sizeof(edge));
    space_.enqueue_copy_in(batch_operations_.data(), batch.operations, batch.size * sizeof(operation));
    return {batch_.data(), batch_operations_.data()};
  }
  void sort_and_resolve(entry_writer const& to, edge const* edges, operation const* operations, std::size_t n) {
    if (!bulk_) bulk_.emplace(space_);
    keys_.reserve(n);
    spare_.reserve(n);
    numbers_.reserve(n);
    spare_numbers_.reserve(n);
    vertex_id const last = to.g.vertices() > 0 ? to.g.vertices() - 1 : 0;
    auto const id_bits = static_cast<unsigned>(std::bit_width(last | 1));
    exec::for_each(space_, n, key_entries{edges, last, id_bits, to.g.directed(), keys_.data(), numbers_.data()});
    exec::sorted_pairs const sorted =
        bulk_->sort_pairs(keys_.data(), spare_.data(), numbers_.data(), spare_numbers_.data(), n, 2 * id_bits);
    exec::for_each(space_, n,
                   resolve_sorted_entries{to, edges, operations, sorted.keys, sorted.values, n, operations_.data()});
  }

  Space space_;
  std::optional<typename Space::bulk> bulk_;
  exec::buffer<edge, Space> edges_;            // of the change
  exec::buffer<edge, Space> revalued_;         // of the change
  exec::buffer<operation, Space> operations_;  // of the change
  exec::buffer<edge, Space> batch_;            // an uploaded batch with operations
  exec::buffer<operation, Space> batch_operations_;
  exec::buffer<std::uint64_t, Space> keys_;
  exec::buffer<std::uint64_t, Space> spare_;
  exec::buffer<std::uint32_t, Space> numbers_;
  exec::buffer<std::uint32_t, Space> spare_numbers_;
};

}  // namespace wyrm::graph::detail
