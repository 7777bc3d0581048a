// SPDX-License-Identifier: Apache-2.0
// The alternative to a dynamic graph: the CSR is rebuilt for each batch. The batch is sorted, each of its arcs is
// looked up in its row, and rows and new arcs are merged into another CSR. Existing arcs are copied once and never
// sorted.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "../exec/bulk.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "../exec/tile.hpp"
#include "../graph/types.hpp"
#include "../graph/view.hpp"

namespace wyrm::bench {

/// The arcs of a batch as keys; their order is by source and then by target.
struct arc_keys {
  std::uint64_t const* keys;
  unsigned id_bits;
  [[nodiscard]] WYRM_HD std::uint64_t source(std::size_t i) const { return keys[i] >> id_bits; }
  [[nodiscard]] WYRM_HD graph::vertex_id target(std::size_t i) const {
    return static_cast<graph::vertex_id>(keys[i] & ((std::uint64_t{1} << id_bits) - 1));
  }
};

/// One thread per arc of the batch.
struct make_keys {
  graph::edge const* edges;
  std::uint64_t* keys;
  unsigned id_bits;
  WYRM_HD void operator()(std::size_t i) const {
    keys[i] = std::uint64_t{edges[i].source} << id_bits | edges[i].target;
  }
};

/// One thread per arc of the sorted batch: finds its position in its row, and whether it is new.
struct find_new_arcs {
  arc_keys batch;
  std::uint64_t const* offsets;
  graph::vertex_id const* targets;
  std::uint32_t* at;
  std::uint32_t* is_new;
  WYRM_HD void operator()(std::size_t i) const {
    std::uint64_t const v = batch.source(i);
    graph::vertex_id const* const row = targets + offsets[v];
    auto const degree = static_cast<std::uint32_t>(offsets[v + 1] - offsets[v]);
    std::uint32_t const k = graph::lower_bound(row, degree, batch.target(i));
    bool const repeated = i > 0 && batch.keys[i - 1] == batch.keys[i];
    at[i] = k;
    is_new[i] = !repeated && !(k < degree && row[k] == batch.target(i));
  }
};

/// One thread per arc: compacts the new arcs.
struct list_new_arcs {
  arc_keys batch;
  std::uint32_t const* at;
  std::uint64_t const* before;  // for each arc, the number of new arcs before it
  std::uint32_t* new_at;
  graph::vertex_id* new_targets;
  WYRM_HD void operator()(std::size_t i) const {
    if (before[i + 1] == before[i]) return;
    new_at[before[i]] = at[i];
    new_targets[before[i]] = batch.target(i);
  }
};

/// One thread per vertex, and one more: finds the first new arc whose source is this vertex or a later one.
struct find_first_new {
  arc_keys batch;
  std::uint32_t size;
  std::uint64_t const* before;
  std::uint32_t* first_new;
  WYRM_HD void operator()(std::size_t v) const {
    std::uint32_t const i = graph::lower_bound(batch.keys, size, std::uint64_t{v} << batch.id_bits);
    first_new[v] = static_cast<std::uint32_t>(before[i]);
  }
};

/// One tile per vertex.
struct merge_rows {
  std::uint64_t const* offsets;
  graph::vertex_id const* targets;
  std::uint32_t const* new_at;
  graph::vertex_id const* new_targets;
  std::uint32_t const* first_new;
  std::uint64_t vertices;
  std::uint64_t* to_offsets;
  graph::vertex_id* to_targets;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t v) const {
    std::uint64_t const begin = offsets[v];
    auto const degree = static_cast<std::uint32_t>(offsets[v + 1] - begin);
    std::uint32_t const first = first_new[v];
    std::uint32_t const added = first_new[v + 1] - first;
    std::uint64_t const to = begin + first;
    if (t.rank() == 0) to_offsets[v] = to;
    if (t.rank() == 0 && v + 1 == vertices) to_offsets[vertices] = to + degree + added;
    // The new position of old entry i is i plus the number of new arcs with a position of at most i.
    for (std::uint32_t i = t.rank(); i < degree; i += Tile::size())
      to_targets[to + i + graph::lower_bound(new_at + first, added, i + 1)] = targets[begin + i];
    for (std::uint32_t i = t.rank(); i < added; i += Tile::size())
      to_targets[to + new_at[first + i] + i] = new_targets[first + i];
  }
};

/// A CSR that is rebuilt for each batch of arcs. It keeps the memory for both versions and for a batch.
template <class Space>
class rebuilt_csr {
 public:
  rebuilt_csr(Space const& space, graph::csr const& c, std::size_t largest_batch)
      : space_(space),
        bulk_(space),
        vertices_(c.offsets.size() - 1),
        id_bits_(static_cast<unsigned>(std::bit_width(vertices_))),
        edges_(space, largest_batch),
        keys_(space, largest_batch),
        spare_(space, largest_batch),
        at_(space, largest_batch),
        is_new_(space, largest_batch),
        before_(space, largest_batch + 1),
        new_at_(space, largest_batch),
        new_targets_(space, largest_batch),
        first_new_(space, vertices_ + 1),
        offsets_(space, vertices_ + 1),
        targets_(space, c.targets.size()),
        to_offsets_(space, vertices_ + 1),
        to_targets_(space, c.targets.size() + largest_batch) {
    exec::copy_in<std::uint64_t>(space, offsets_.data(), c.offsets);
    exec::copy_in<graph::vertex_id>(space, targets_.data(), c.targets);
  }
  /// Memory for a batch that is uploaded from the host.
  [[nodiscard]] graph::edge* edges() { return edges_.data(); }
  /// Builds a second CSR from the first one and a batch in memory of the space. The first CSR stays unchanged.
  void insert(graph::edge const* edges, std::size_t size) {
    exec::for_each(space_, size, make_keys{edges, keys_.data(), id_bits_});
    arc_keys const batch{bulk_.sort(keys_.data(), spare_.data(), size, 2 * id_bits_), id_bits_};
    exec::for_each(space_, size, find_new_arcs{batch, offsets_.data(), targets_.data(), at_.data(), is_new_.data()});
    bulk_.inclusive_sum(is_new_.data(), before_.data(), size);
    exec::for_each(space_, size, list_new_arcs{batch, at_.data(), before_.data(), new_at_.data(), new_targets_.data()});
    exec::for_each(space_, vertices_ + 1,
                   find_first_new{batch, static_cast<std::uint32_t>(size), before_.data(), first_new_.data()});
    exec::for_each_tile<8>(space_, vertices_,
                           merge_rows{offsets_.data(), targets_.data(), new_at_.data(), new_targets_.data(),
                                      first_new_.data(), vertices_, to_offsets_.data(), to_targets_.data()});
  }
  /// The result of the last insert().
  [[nodiscard]] graph::csr result() const {
    graph::csr c;
    c.offsets = exec::copy_out(space_, to_offsets_.data(), vertices_ + 1);
    c.targets = exec::copy_out(space_, to_targets_.data(), c.offsets.back());
    return c;
  }

 private:
  Space space_;
  typename Space::bulk bulk_;
  std::uint64_t vertices_;
  unsigned id_bits_;
  exec::buffer<graph::edge, Space> edges_;
  exec::buffer<std::uint64_t, Space> keys_;
  exec::buffer<std::uint64_t, Space> spare_;
  exec::buffer<std::uint32_t, Space> at_;
  exec::buffer<std::uint32_t, Space> is_new_;
  exec::buffer<std::uint64_t, Space> before_;
  exec::buffer<std::uint32_t, Space> new_at_;
  exec::buffer<graph::vertex_id, Space> new_targets_;
  exec::buffer<std::uint32_t, Space> first_new_;
  exec::buffer<std::uint64_t, Space> offsets_;
  exec::buffer<graph::vertex_id, Space> targets_;
  exec::buffer<std::uint64_t, Space> to_offsets_;
  exec::buffer<graph::vertex_id, Space> to_targets_;
};

}  // namespace wyrm::bench
