// SPDX-License-Identifier: Apache-2.0
// Symmetric rows with integer weights. They are either the rows of an undirected graph, where all weights are 1, or are
// built: from any graph by adding up both directions of its arcs, or from rows of vertices with labels by adding up the
// weights between each pair of labels (row_builder.hpp).
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/bulk.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../../exec/tile.hpp"
#include "../../graph/view.hpp"
#include "frontier.hpp"
#include "orientation.hpp"

namespace wyrm::algorithms::detail {

/// The rows, for kernels.
struct weighted_rows {
  graph::graph_view g;
  graph::vertex_id const* targets;  // of all rows, if they are built
  std::uint32_t const* weights;     // of the targets; nullptr: all are 1
  std::uint32_t loop;               // how often the entry of a vertex in its own row counts

  /// entry: points to an entry of a row.
  [[nodiscard]] WYRM_HD std::uint32_t weight(graph::vertex_id const* entry) const {
    return weights == nullptr ? 1 : weights[entry - targets];
  }
};

/// One tile per item: the sum of the weights of a row.
struct add_up_rows {
  weighted_rows rows;
  std::uint64_t* degrees;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    graph::vertex_id const v = item->vertex;
    graph::neighbour_list const part = item->part_of(rows.g.neighbours(v));
    std::uint64_t all = 0;
    for (std::uint32_t i = t.rank(); i < part.size; i += Tile::size())
      all += std::uint64_t{rows.weight(part.data + i)} * (part[i] == v ? rows.loop : 1);
    all = exec::sum(t, all);
    if (t.rank() == 0) exec::atomic_ref<std::uint64_t>(degrees[v]).fetch_add(all, exec::relaxed);
  }
};

/// One tile per item: writes the keys of the entries of a row, in the order of a CSR; if vertices have no labels, also
/// the keys of the reversed arcs, after all others.
struct write_keys {
  weighted_rows rows;
  std::uint64_t const* offsets;
  graph::vertex_id const* labels;  // or nullptr
  unsigned id_bits;
  std::uint64_t* keys;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    graph::vertex_id const v = item->vertex;
    graph::neighbour_list const row = rows.g.neighbours(v);
    graph::neighbour_list const part = item->part_of(row);
    std::uint64_t const from = labels == nullptr ? v : labels[v];
    std::uint64_t* const out = keys + offsets[v] + (part.data - row.data);
    for (std::uint32_t i = t.rank(); i < part.size; i += Tile::size()) {
      std::uint64_t const to = labels == nullptr ? part[i] : labels[part[i]];
      out[i] = from << id_bits | to;
      if (labels == nullptr) out[rows.g.arcs() + i] = to << id_bits | from;
    }
  }
};

/// Finds where each row begins among the sorted keys, and writes its record.
struct cut_rows {
  std::uint64_t const* keys;
  std::uint32_t n;
  unsigned id_bits;
  graph::vertex_id vertices;
  std::uint64_t* offsets;
  graph::vertex_id* targets;
  graph::packed_record* records;
  WYRM_HD void operator()(std::size_t v) const {
    std::uint32_t const begin = first(v);
    if (v < vertices) {
      std::uint32_t const degree = first(v + 1) - begin;
      records[v] = graph::vertex_record{targets + begin, degree, degree};
    }
    offsets[v] = begin;
  }

 private:
  [[nodiscard]] WYRM_HD std::uint32_t first(std::size_t row) const {
    return graph::lower_bound(keys, n, std::uint64_t{row} << id_bits);
  }
};

struct write_targets {
  std::uint64_t const* keys;
  unsigned id_bits;
  graph::vertex_id* targets;
  WYRM_HD void operator()(std::size_t i) const {
    targets[i] = static_cast<graph::vertex_id>(keys[i] & ((std::uint64_t{1} << id_bits) - 1));
  }
};

/// Where an entry of built rows is among all entries: `to` in the row of `from`, which contains it.
[[nodiscard]] WYRM_HD inline std::size_t entry_position(graph::packed_record const* built,
                                                        graph::vertex_id const* targets, graph::vertex_id from,
                                                        graph::vertex_id to) {
  graph::vertex_record const row = built[from];
  return static_cast<std::size_t>(row.page - targets) + graph::lower_bound(row.page, row.degree, to);
}

/// One thread per key: how often it occurs among all `n`, of which those that are equal are adjacent.
struct count_keys {
  std::uint32_t const* begins;  // of each key
  std::size_t keys;
  std::uint32_t n;
  std::uint32_t* counts;
  WYRM_HD void operator()(std::size_t i) const { counts[i] = (i + 1 < keys ? begins[i + 1] : n) - begins[i]; }
};

/// One thread per vertex: a self-loop of an unweighted graph counts as often as `rows.loop` says, and was counted once.
struct add_loops {
  weighted_rows rows;
  graph::vertex_id const* labels;
  graph::packed_record const* built;
  graph::vertex_id const* targets;
  std::uint32_t* weights;
  WYRM_HD void operator()(std::size_t i) const {
    auto const v = static_cast<graph::vertex_id>(i);
    if (!graph::contains(rows.g.neighbours(v), v)) return;
    exec::atomic_ref<std::uint32_t>(weights[entry_position(built, targets, labels[v], labels[v])])
        .fetch_add(rows.loop - 1, exec::relaxed);
  }
};

/// One tile per item: adds the weights of its row to those of built rows. Weights within a label are added up first,
/// because most are.
struct add_weights {
  weighted_rows rows;
  std::uint64_t const* offsets;          // of `rows` in `integer_weights`
  std::uint32_t const* integer_weights;  // of each arc in CSR order, added in both directions; nullptr: rows.weight
  graph::vertex_id const* labels;        // or nullptr
  graph::packed_record const* built;
  graph::vertex_id const* targets;
  std::uint32_t* weights;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    graph::vertex_id const v = item->vertex;
    graph::neighbour_list const row = rows.g.neighbours(v);
    graph::neighbour_list const part = item->part_of(row);
    graph::vertex_id const from = labels == nullptr ? v : labels[v];
    std::uint32_t inside = 0;
    for (std::uint32_t i = t.rank(); i < part.size; i += Tile::size()) {
      graph::vertex_id const to = labels == nullptr ? part[i] : labels[part[i]];
      std::uint32_t const w =
          (integer_weights == nullptr
               ? rows.weight(part.data + i)
               : integer_weights[offsets[v] + static_cast<std::uint64_t>(part.data - row.data) + i]) *
          (part[i] == v ? rows.loop : 1);
      if (from == to) {
        // An edge of an undirected graph has two arcs, each of which is added in both directions; a self-loop has one.
        inside += integer_weights == nullptr || rows.g.directed() ? w : 2 * w;
        continue;
      }
      add(from, to, w);
      if (integer_weights != nullptr) add(to, from, w);
    }
    inside = exec::sum(t, inside);
    if (t.rank() == 0 && inside > 0) add(from, from, inside);
  }

 private:
  WYRM_HD void add(graph::vertex_id from, graph::vertex_id to, std::uint32_t w) const {
    exec::atomic_ref<std::uint32_t>(weights[entry_position(built, targets, from, to)]).fetch_add(w, exec::relaxed);
  }
};

/// One tile per item: writes the weight of each arc at the entry of its source in the built row of its target.
struct write_arcs {
  graph::graph_view g;
  std::uint64_t const* offsets;
  std::uint32_t const* integer_weights;  // of each arc in CSR order; nullptr: all are 1
  graph::packed_record const* built;
  graph::vertex_id const* targets;
  std::uint32_t* arcs;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    graph::vertex_id const v = item->vertex;
    graph::neighbour_list const row = g.neighbours(v);
    graph::neighbour_list const part = item->part_of(row);
    std::uint64_t const first = offsets[v] + static_cast<std::uint64_t>(part.data - row.data);
    for (std::uint32_t i = t.rank(); i < part.size; i += Tile::size()) {
      arcs[entry_position(built, targets, part[i], v)] = integer_weights == nullptr ? 1 : integer_weights[first + i];
    }
  }
};

/// Sets the weight of a vertex in its own row to 0.
struct clear_loop {
  graph::packed_record const* built;
  graph::vertex_id const* targets;
  std::uint32_t* weights;
  WYRM_HD void operator()(std::size_t i) const {
    auto const v = static_cast<graph::vertex_id>(i);
    graph::vertex_record const r = built[v];
    std::uint32_t const at = graph::lower_bound(r.page, r.degree, v);
    if (at < r.degree && r.page[at] == v) weights[(r.page - targets) + at] = 0;
  }
};

/// Adds all vertices with a non-empty row to the frontier.
struct list_rows {
  graph::graph_view g;
  frontier to;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    auto const v = static_cast<graph::vertex_id>(i);
    to.add(t, g, v, valid && g.degree(v) > 0);
  }
};

/// Owns a list of vertices.
template <class Space>
class vertex_list {
 public:
  explicit vertex_list(Space const& space) : space_(space), marks_(space), items_(space), size_(space, 1) {}

  void reserve(std::size_t vertices, std::uint64_t arcs) {
    items_.reserve(frontier::capacity(vertices, arcs));
    marks_.reserve((vertices + 31) / 32);
  }
  /// Makes room for the vertices of a graph, and empties the list.
  void clear(graph::graph_view const& g) {
    reserve(g.vertices(), g.arcs());
    space_.fill(marks_.data(), 0, marks_.bytes());
    reset_size();
  }
  /// Empties a list after all its marks have been cleared.
  void reset_size() { space_.fill(size_.data(), 0, size_.bytes()); }
  void fill(graph::graph_view const& g) {
    clear(g);
    exec::for_each_lane<32>(space_, g.vertices(), list_rows{g, view()});
  }
  [[nodiscard]] frontier view() const { return {marks_.data(), items_.data(), size_.data()}; }
  [[nodiscard]] std::uint32_t size() const { return exec::read(space_, size_.data()); }

 private:
  Space space_;
  exec::buffer<std::uint32_t, Space> marks_;
  exec::large_buffer<frontier_item, Space> items_;
  exec::buffer<std::uint32_t, Space> size_;
};

/// Owns built rows.
template <class Space>
class built_rows {
 public:
  explicit built_rows(Space const& space)
      : space_(space), offsets_(space), targets_(space), weights_(space), records_(space) {}

  [[nodiscard]] weighted_rows view(bool weighted = true) const {
    return {graph::graph_view({.out = records_.data(), .in = records_.data(), .arcs = arcs_, .vertices = vertices_}),
            targets_.data(), weighted ? weights_.data() : nullptr, weighted ? 1u : 2u};
  }
  [[nodiscard]] std::uint64_t const* offsets() const { return offsets_.data(); }
  /// For a kernel that writes rows of n vertices: memory with room for `most` arcs. Call set_arcs() afterwards. Such
  /// rows may have gaps between them, so only records and `targets` tell which weight belongs to an entry.
  struct parts {
    std::uint64_t* offsets;
    graph::vertex_id* targets;
    std::uint32_t* weights;
    graph::packed_record* records;
  };
  parts begin(graph::vertex_id n, std::uint64_t most) {
    vertices_ = n;
    reserve(n, most);
    return {offsets_.data(), targets_.data(), weights_.data(), records_.data()};
  }
  void set_arcs(std::uint64_t arcs) { arcs_ = arcs; }
  void reserve(std::size_t vertices, std::uint64_t arcs) {
    offsets_.reserve(vertices + 1);
    records_.reserve(vertices);
    targets_.reserve(arcs);
    weights_.reserve(arcs);
  }

  /// Builds rows of n vertices from distinct keys in ascending order; all weights are 0, or how often each key occurs
  /// in `sorted`, which has `all` keys.
  template <class Bulk>
  void build(graph::vertex_id n, std::uint64_t const* keys, std::size_t arcs, unsigned id_bits, Bulk& bulk,
             std::uint64_t const* sorted, std::size_t all) {
    vertices_ = n;
    arcs_ = arcs;
    reserve(n, arcs);
    if (sorted == nullptr) {
      space_.fill(weights_.data(), 0, arcs * sizeof(std::uint32_t));
    } else {
      bulk.run_begins(sorted, targets_.data(), all);
      exec::for_each(space_, arcs, count_keys{targets_.data(), arcs, static_cast<std::uint32_t>(all), weights_.data()});
    }
    exec::for_each(space_, n + std::size_t{1},
                   cut_rows{keys, static_cast<std::uint32_t>(arcs), id_bits, n, offsets_.data(), targets_.data(),
                            records_.data()});
    exec::for_each(space_, arcs, write_targets{keys, id_bits, targets_.data()});
  }
  /// Adds the weights of the listed rows.
  void add(weighted_rows const& from, frontier const& all, std::uint64_t const* offsets,
           std::uint32_t const* integer_weights, graph::vertex_id const* labels) {
    for_each_item<8>(
        space_, all,
        add_weights{from, offsets, integer_weights, labels, records_.data(), targets_.data(), weights_.data()});
  }
  void add_loops(weighted_rows const& from, graph::vertex_id const* labels) {
    exec::for_each(space_, from.g.vertices(),
                   detail::add_loops{from, labels, records_.data(), targets_.data(), weights_.data()});
  }
  /// Sets the weights of self-loops to 0.
  void drop_loops() {
    exec::for_each(space_, vertices_, clear_loop{records_.data(), targets_.data(), weights_.data()});
  }
  /// See row_builder::write_arcs().
  void write_arcs(graph::graph_view const& g, frontier const& all, std::uint64_t const* offsets,
                  std::uint32_t const* integer_weights, std::uint32_t* arcs) const {
    for_each_item<8>(space_, all,
                     detail::write_arcs{g, offsets, integer_weights, records_.data(), targets_.data(), arcs});
  }

 private:
  Space space_;
  graph::vertex_id vertices_ = 0;
  std::uint64_t arcs_ = 0;
  exec::large_buffer<std::uint64_t, Space> offsets_;
  exec::large_buffer<graph::vertex_id, Space> targets_;
  exec::large_buffer<std::uint32_t, Space> weights_;
  exec::large_buffer<graph::packed_record, Space> records_;
};

/// The offsets of the rows of a graph in its CSR.
template <class Space>
class row_offsets {
 public:
  explicit row_offsets(Space const& space) : space_(space), bulk_(space), degrees_(space), offsets_(space) {}
  void reserve(std::size_t vertices) {
    bulk_.reserve(vertices);
    degrees_.reserve(vertices);
    offsets_.reserve(vertices + 1);
  }
  void find(graph::graph_view const& g) {
    reserve(g.vertices());
    exec::for_each(space_, g.vertices(), copy_degrees{g.out_records(), degrees_.data()});
    bulk_.inclusive_sum(degrees_.data(), offsets_.data(), g.vertices());
  }
  [[nodiscard]] std::uint64_t const* data() const { return offsets_.data(); }

 private:
  Space space_;
  typename Space::bulk bulk_;
  exec::large_buffer<std::uint32_t, Space> degrees_;
  exec::large_buffer<std::uint64_t, Space> offsets_;
};

}  // namespace wyrm::algorithms::detail
