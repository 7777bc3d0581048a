// SPDX-License-Identifier: Apache-2.0
// The graph of labels on a device with a memory manager: the same rows as those of row_builder, which sorts the keys of
// all arcs, 16 bytes each. Here the rows of consecutive labels are built at a time, as many as fit into arrays on the
// device: their keys are sorted, weights are added there, and the finished rows are written once, in order, to memory
// of the host or the device. The row of a label with more arcs is added up in an array with an element per label.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "../../exec/atomic.hpp"
#include "../../exec/error.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../../exec/tile.hpp"
#include "../../graph/types.hpp"
#include "../../graph/view.hpp"
#include "frontier.hpp"
#include "weighted_rows.hpp"

namespace wyrm::algorithms::detail {

/// Counts the arcs of each label.
struct count_arcs_of_labels {
  graph::graph_view g;
  graph::vertex_id const* labels;
  std::uint32_t* arcs;
  WYRM_HD void operator()(std::size_t i) const {
    auto const v = static_cast<graph::vertex_id>(i);
    std::uint32_t const degree = g.degree(v);
    if (degree > 0) exec::atomic_ref<std::uint32_t>(arcs[labels[v]]).fetch_add(degree, exec::relaxed);
  }
};

/// Rows of vertices with a label from `first` to `last`, the end excluded.
struct labelled_rows {
  weighted_rows from;
  graph::vertex_id const* labels;
  graph::vertex_id first;
  graph::vertex_id last;

  [[nodiscard]] WYRM_HD bool has(graph::vertex_id label) const { return label >= first && label < last; }
  /// Calls add(label of the target, weight) for the entries of an item whose target has another label; returns the sum
  /// of the others, for the first lane.
  template <class Tile, class Add>
  [[nodiscard]] WYRM_HD std::uint32_t add_up(Tile const& t, frontier_item const* item, graph::vertex_id label,
                                             Add const& add) const {
    graph::vertex_id const v = item->vertex;
    graph::neighbour_list const part = item->part_of(from.g.neighbours(v));
    std::uint32_t inside = 0;
    for (std::uint32_t i = t.rank(); i < part.size; i += Tile::size()) {
      graph::vertex_id const to = labels[part[i]];
      std::uint32_t const w = from.weight(part.data + i) * (part[i] == v ? from.loop : 1);
      if (to == label)
        inside += w;
      else
        add(to, w);
    }
    return exec::sum(t, inside);
  }
};

/// One tile per item: writes the keys of its entries to the part of its label, in any order.
struct write_keys_of_labels {
  labelled_rows rows;
  std::uint64_t const* begins;  // of the keys of each label
  std::uint32_t* cursors;       // the number of keys of each label that are written
  std::uint64_t* keys;          // of the window
  unsigned id_bits;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    graph::vertex_id const label = rows.labels[item->vertex];
    if (!rows.has(label)) return;
    graph::neighbour_list const part = item->part_of(rows.from.g.neighbours(item->vertex));
    std::uint32_t at = 0;
    if (t.rank() == 0) at = exec::atomic_ref<std::uint32_t>(cursors[label]).fetch_add(part.size, exec::relaxed);
    std::uint64_t* const out = keys + (begins[label] - begins[rows.first]) + t.shfl(at, 0);
    for (std::uint32_t i = t.rank(); i < part.size; i += Tile::size())
      out[i] = std::uint64_t{label} << id_bits | rows.labels[part[i]];
  }
};

/// One tile per item: adds its weights to those of the distinct keys of the window.
struct add_weights_of_labels {
  labelled_rows rows;
  std::uint64_t const* keys;
  std::uint32_t n;
  unsigned id_bits;
  std::uint32_t* sums;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    graph::vertex_id const label = rows.labels[item->vertex];
    if (!rows.has(label)) return;
    auto const add = [&](graph::vertex_id to, std::uint32_t w) {
      std::uint32_t const at = graph::lower_bound(keys, n, std::uint64_t{label} << id_bits | to);
      exec::atomic_ref<std::uint32_t>(sums[at]).fetch_add(w, exec::relaxed);
    };
    std::uint32_t const inside = rows.add_up(t, item, label, add);
    if (t.rank() == 0 && inside > 0) add(label, inside);
  }
};

/// One thread per label of a window: writes its record.
struct write_records_of_window {
  std::uint64_t const* keys;  // distinct, ascending
  std::uint32_t n;
  unsigned id_bits;
  graph::vertex_id first;
  std::uint64_t base;  // the entries of all windows before
  std::uint64_t* offsets;
  graph::vertex_id* targets;
  graph::packed_record* records;
  WYRM_HD void operator()(std::size_t i) const {
    std::size_t const label = first + i;
    std::uint32_t const begin = graph::lower_bound(keys, n, std::uint64_t{label} << id_bits);
    std::uint32_t const degree = graph::lower_bound(keys, n, std::uint64_t{label + 1} << id_bits) - begin;
    offsets[label] = base + begin;
    records[label] = graph::vertex_record{targets + base + begin, degree, degree};
  }
};

/// One thread per distinct key of a window: writes its entry.
struct write_entries_of_window {
  std::uint64_t const* keys;
  std::uint32_t const* sums;
  unsigned id_bits;
  graph::vertex_id* targets;
  std::uint32_t* weights;
  WYRM_HD void operator()(std::size_t i) const {
    targets[i] = static_cast<graph::vertex_id>(keys[i] & ((std::uint64_t{1} << id_bits) - 1));
    weights[i] = sums[i];
  }
};

/// One tile per item: adds its weights to those of all labels, and marks the labels of its neighbours.
struct add_weights_to_all_labels {
  labelled_rows rows;
  std::uint32_t* sums;
  std::uint32_t* marks;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    graph::vertex_id const label = rows.labels[item->vertex];
    if (!rows.has(label)) return;
    auto const add = [&](graph::vertex_id to, std::uint32_t w) {
      exec::atomic_ref<std::uint32_t>(sums[to]).fetch_add(w, exec::relaxed);
      exec::atomic_ref<std::uint32_t>(marks[to]).store(1, exec::relaxed);
    };
    graph::neighbour_list const part = item->part_of(rows.from.g.neighbours(item->vertex));
    bool has_own = false;
    for (std::uint32_t i = t.rank(); i < part.size; i += Tile::size()) has_own |= rows.labels[part[i]] == label;
    has_own = t.any(has_own);
    std::uint32_t const inside = rows.add_up(t, item, label, add);
    if (t.rank() == 0 && has_own) add(label, inside);
  }
};

/// One thread per label: writes the entry of the row of `label`, if there is one.
struct write_row_of_label {
  std::uint32_t const* sums;
  std::uint32_t const* marks;
  std::uint64_t const* before;  // the marks before each label, and all
  graph::vertex_id n;
  graph::vertex_id label;
  std::uint64_t base;
  std::uint64_t* offsets;
  graph::vertex_id* targets;
  std::uint32_t* weights;
  graph::packed_record* records;
  WYRM_HD void operator()(std::size_t i) const {
    if (i == 0) {
      auto const degree = static_cast<std::uint32_t>(before[n]);
      offsets[label] = base;
      records[label] = graph::vertex_record{targets + base, degree, degree};
    }
    if (marks[i] == 0) return;
    targets[base + before[i]] = static_cast<graph::vertex_id>(i);
    weights[base + before[i]] = sums[i];
  }
};

struct set_number {
  std::uint64_t* to;
  std::uint64_t number;
  WYRM_HD void operator()(std::size_t) const { *to = number; }
};

/// Owns scratch memory during a run only. 20 bytes per arc of a window, and 12 per label.
template <class Space>
class window_coarsening {
 public:
  explicit window_coarsening(Space const& space) : space_(space) {}

  /// For tests: the most keys of a window; 0: as many as the memory manager has room for.
  void set_window(std::uint64_t keys) { window_ = keys; }
  [[nodiscard]] bool is_used() const { return window_ > 0 || space_.manager() != nullptr; }

  /// See row_builder::coarsen(). items: all rows of `from`. Returns false if there is no room; `to` is undefined then.
  bool run(weighted_rows const& from, graph::vertex_id const* labels, graph::vertex_id n, frontier const& items,
           built_rows<Space>& to) {
    std::uint64_t const arcs = from.g.arcs();
    std::uint64_t window = window_;
    if (window == 0) {
      std::uint64_t const most = space_.manager()->room_for_arrays() / 2 / bytes_per_key;
      // Each window reads the list of all rows.
      if (most <= n || most * most_windows < arcs) return false;
      window = most;
    }
    window = std::min(window, arcs);
    if (arcs == 0) return false;
    std::uint64_t const room = std::max<std::uint64_t>(window, n + std::uint64_t{1});
    try {
      scratch s(space_, room, n);
      build(from, labels, n, items, s, window, to);
      return true;
    } catch (error const& e) {
      if (e.code() != error_code::out_of_memory) throw;
    } catch (std::bad_alloc const&) {
    }
    return false;
  }

 private:
  static constexpr std::size_t bytes_per_key = 20;
  static constexpr std::uint64_t most_windows = 64;
  struct scratch {
    scratch(Space const& space, std::size_t room, graph::vertex_id n)
        : keys(space, room),
          spare(space, room),
          sums(space, room),
          begins(space, n + std::size_t{1}),
          cursors(space, n),
          bulk(space) {
      bulk.reserve(room);
    }
    exec::buffer<std::uint64_t, Space> keys;
    exec::buffer<std::uint64_t, Space> spare;
    exec::buffer<std::uint32_t, Space> sums;
    exec::buffer<std::uint64_t, Space> begins;
    exec::buffer<std::uint32_t, Space> cursors;
    typename Space::bulk bulk;
  };

  void build(weighted_rows const& from, graph::vertex_id const* labels, graph::vertex_id n, frontier const& items,
             scratch& s, std::uint64_t window, built_rows<Space>& to) {
    auto const out = to.begin(n, from.g.arcs());
    space_.fill(s.cursors.data(), 0, s.cursors.bytes());
    exec::for_each(space_, from.g.vertices(), count_arcs_of_labels{from.g, labels, s.cursors.data()});
    s.bulk.inclusive_sum(s.cursors.data(), s.begins.data(), n);
    space_.fill(s.cursors.data(), 0, s.cursors.bytes());
    std::vector<std::uint64_t> const begins = exec::copy_out(space_, s.begins.data(), n + std::size_t{1});
    std::uint64_t base = 0;
    for (graph::vertex_id first = 0; first < n;) {
      auto const end = std::upper_bound(begins.begin() + first + 1, begins.end(), begins[first] + window);
      auto const last = std::max(first + 1, static_cast<graph::vertex_id>(end - begins.begin() - 1));
      labelled_rows const rows{from, labels, first, last};
      std::uint64_t const keys = begins[last] - begins[first];
      base += keys <= window ? add_window(rows, items, s, keys, base, out, n) : add_label(rows, items, s, base, out, n);
      first = last;
    }
    exec::for_each(space_, 1, set_number{out.offsets + n, base});
    to.set_arcs(base);
  }
  // Returns the number of entries.
  std::uint64_t add_window(labelled_rows const& rows, frontier const& items, scratch& s, std::uint64_t keys,
                           std::uint64_t base, typename built_rows<Space>::parts const& out, graph::vertex_id n) {
    auto const id_bits = std::max(1u, static_cast<unsigned>(std::bit_width(n - 1)));
    for_each_item<8>(space_, items,
                     write_keys_of_labels{rows, s.begins.data(), s.cursors.data(), s.keys.data(), id_bits});
    std::uint64_t const* const sorted = s.bulk.sort(s.keys.data(), s.spare.data(), keys, 2 * id_bits);
    std::uint64_t* const distinct = sorted == s.keys.data() ? s.spare.data() : s.keys.data();
    auto const entries = static_cast<std::uint32_t>(keys == 0 ? 0 : s.bulk.unique(sorted, distinct, keys));
    space_.fill(s.sums.data(), 0, entries * sizeof(std::uint32_t));
    for_each_item<8>(space_, items, add_weights_of_labels{rows, distinct, entries, id_bits, s.sums.data()});
    exec::for_each(
        space_, rows.last - rows.first,
        write_records_of_window{distinct, entries, id_bits, rows.first, base, out.offsets, out.targets, out.records});
    exec::for_each(space_, entries,
                   write_entries_of_window{distinct, s.sums.data(), id_bits, out.targets + base, out.weights + base});
    return entries;
  }
  std::uint64_t add_label(labelled_rows const& rows, frontier const& items, scratch& s, std::uint64_t base,
                          typename built_rows<Space>::parts const& out, graph::vertex_id n) {
    auto* const marks = reinterpret_cast<std::uint32_t*>(s.spare.data());
    space_.fill(s.sums.data(), 0, n * sizeof(std::uint32_t));
    space_.fill(marks, 0, n * sizeof(std::uint32_t));
    for_each_item<8>(space_, items, add_weights_to_all_labels{rows, s.sums.data(), marks});
    s.bulk.inclusive_sum(marks, s.keys.data(), n);
    exec::for_each(space_, n,
                   write_row_of_label{s.sums.data(), marks, s.keys.data(), n, rows.first, base, out.offsets,
                                      out.targets, out.weights, out.records});
    return exec::read(space_, s.keys.data() + n);
  }

  Space space_;
  std::uint64_t window_ = 0;
};

}  // namespace wyrm::algorithms::detail
