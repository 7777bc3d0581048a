// SPDX-License-Identifier: Apache-2.0
// A copy of the rows of in-neighbours of a graph, for passes that read a value of the source of each arc many times.
// The vertices have new ids: hubs, the vertices with the most out-neighbours, come first. Their values fit into a table
// in fast memory (exec::for_each_tile_with_table), and serve a large part of the arcs of a skewed graph: in R-MAT
// graphs 1 % of the vertices are the sources of 60 % of the arcs. Vertices without arcs, half of such a graph, come
// last.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cuda/std/bit>

#include "../../exec/atomic.hpp"
#include "../../exec/bulk.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../../exec/tile.hpp"
#include "../../graph/view.hpp"
#include "row_bins.hpp"
#include "weights.hpp"

namespace wyrm::algorithms::detail {

/// Out-degrees by size: 16 classes to a doubling.
struct degree_classes {
  static constexpr unsigned size = 32 * 16;
  std::uint32_t vertices[size];
  std::uint64_t arcs[size];

  [[nodiscard]] WYRM_HD static unsigned of(std::uint32_t degree) {
    unsigned const log2 = static_cast<unsigned>(31 - cuda::std::countl_zero(degree | 1));
    return log2 * 16 + static_cast<unsigned>((std::uint64_t{degree} << 4 >> log2) & 15);
  }
  /// The smallest degree of a class.
  [[nodiscard]] WYRM_HD static std::uint32_t least(unsigned c) {
    return static_cast<std::uint32_t>(((std::uint64_t{16 + c % 16} << c / 16) + 15) >> 4);
  }
};

/// One thread per vertex: counts those with at least `least` out-neighbours, by class.
struct count_classes {
  graph::packed_record const* out;
  std::uint32_t least;
  degree_classes* classes;
  WYRM_HD void operator()(std::size_t v) const {
    std::uint32_t const degree = out[v].degree;
    if (degree < least) return;
    unsigned const c = degree_classes::of(degree);
    exec::atomic_ref<std::uint32_t>(classes->vertices[c]).fetch_add(1, exec::relaxed);
    exec::atomic_ref<std::uint64_t>(classes->arcs[c]).fetch_add(degree, exec::relaxed);
  }
};

/// Marks of hubs and of vertices without arcs, whose sum counts both.
struct vertex_marks {
  static constexpr std::uint32_t isolated = 1;
  static constexpr std::uint32_t hub = std::uint32_t{1} << 31;
  [[nodiscard]] WYRM_HD static graph::vertex_id isolated_of(std::uint64_t sum) {
    return static_cast<graph::vertex_id>(sum & (hub - 1));
  }
  [[nodiscard]] WYRM_HD static graph::vertex_id hubs_of(std::uint64_t sum) {
    return static_cast<graph::vertex_id>(sum / hub);
  }
};

struct mark_vertices {
  graph::graph_view g;
  std::uint32_t least;  // out-degree of a hub, > 0
  std::uint32_t* marks;
  WYRM_HD void operator()(std::size_t v) const {
    std::uint32_t const degree = g.out_records()[v].degree;
    bool const is_isolated = degree == 0 && g.in_records()[v].degree == 0;
    marks[v] = degree >= least ? vertex_marks::hub : is_isolated ? vertex_marks::isolated : 0;
  }
};

/// One thread per vertex: numbers it. Among hubs, among vertices without arcs, and among the others, ids keep their
/// order.
struct number_vertices {
  graph::graph_view g;
  std::uint32_t const* marks;
  std::uint64_t const* before;  // sums of the marks of the vertices before; the last one is that of all
  std::uint32_t hubs;
  graph::vertex_id* new_ids;
  graph::vertex_id* old_ids;
  std::uint32_t* sizes;  // of rows, in the new order, rounded up to sectors of 32 bytes
  WYRM_HD void operator()(std::size_t v) const {
    auto const old_id = static_cast<graph::vertex_id>(v);
    graph::vertex_id const hubs_before = vertex_marks::hubs_of(before[v]);
    graph::vertex_id const isolated_before = vertex_marks::isolated_of(before[v]);
    graph::vertex_id id = hubs + old_id - hubs_before - isolated_before;
    if (marks[v] == vertex_marks::hub) id = hubs_before;
    if (marks[v] == vertex_marks::isolated)
      id = g.vertices() - vertex_marks::isolated_of(before[g.vertices()]) + isolated_before;
    new_ids[v] = id;
    old_ids[id] = old_id;
    sizes[id] = (g.in_records()[v].degree + 7) / 8 * 8;
  }
};

/// One thread per vertex: makes the records in the new order. Those of out-neighbours have no pages.
struct make_records {
  graph::graph_view g;
  graph::vertex_id const* new_ids;
  std::uint64_t const* row_begins;
  graph::vertex_id* arcs;
  graph::packed_record* in;
  graph::packed_record* out;  // nullptr for an undirected graph
  WYRM_HD void operator()(std::size_t v) const {
    auto const old_id = static_cast<graph::vertex_id>(v);
    graph::vertex_id const id = new_ids[v];
    std::uint32_t const degree = g.in_records()[v].degree;
    bool const absent = !g.is_present(old_id);
    graph::packed_record const row =
        absent ? graph::packed_record::absent()
               : graph::packed_record({degree > 0 ? arcs + row_begins[id] : nullptr, degree, degree});
    in[id] = row;
    if (out != nullptr) out[id] = absent ? row : graph::packed_record({nullptr, g.degree(old_id), 0});
  }
};

/// One tile per item of the bins of in-neighbours in the old order: copies the arcs, with new ids.
struct copy_arcs {
  row_bins_view bins;
  graph::vertex_id const* new_ids;
  std::uint64_t const* row_begins;
  graph::vertex_id* arcs;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t item) const {
    for_each_entry(t, bins, static_cast<std::uint32_t>(item), *this);
  }
  WYRM_HD void visit(graph::vertex_id v, graph::vertex_record const& row, std::uint32_t first, std::uint32_t end,
                     std::uint32_t step) const {
    graph::vertex_id* const to = arcs + row_begins[new_ids[v]];
    constexpr unsigned at_once = 4;
    std::uint32_t i = first;
    for (; i + (at_once - 1) * std::uint64_t{step} < end; i += at_once * step) {
      graph::vertex_id ids[at_once];
      for (unsigned k = 0; k < at_once; ++k) ids[k] = row.page[i + k * step];
      for (unsigned k = 0; k < at_once; ++k) ids[k] = new_ids[ids[k]];
      for (unsigned k = 0; k < at_once; ++k) to[i + k * step] = ids[k];
    }
    for (; i < end; i += step) to[i] = new_ids[row.page[i]];
  }
};

/// Owns the copy of one graph at a time, and keeps its memory: 4 bytes per arc and about 70 per vertex.
template <class Space>
class hubs_first {
 public:
  explicit hubs_first(Space const& space)
      : space_(space),
        bulk_(space),
        bins_(space),
        classes_(space, 1),
        marks_(space),
        sizes_(space),
        sums_(space),
        new_ids_(space),
        old_ids_(space),
        in_(space),
        out_(space),
        arcs_(space) {}

  /// Copies the rows of g so that at most `most` hubs come first, if these are the sources of at least this part of the
  /// arcs; returns whether it did. Throws error(out_of_memory). O(vertices + arcs).
  bool prepare(graph::graph_view const& g, std::size_t most, double part, bin_limits const& limits) {
    std::size_t const n = g.vertices();
    hubs_ = 0;
    if (n >= vertex_marks::hub) return false;
    std::uint32_t const least = choose(g, most, part);
    if (hubs_ == 0) return false;
    marks_.reserve(n);
    sums_.reserve(n + 1);
    new_ids_.reserve(n);
    old_ids_.reserve(n);
    in_.reserve(n);
    if (g.directed()) out_.reserve(n);
    exec::for_each(space_, n, mark_vertices{g, least, marks_.data()});
    bulk_.inclusive_sum(marks_.data(), sums_.data(), n);
    isolated_ = vertex_marks::isolated_of(exec::read(space_, sums_.data() + n));
    sizes_.reserve(n);
    exec::for_each(
        space_, n,
        number_vertices{g, marks_.data(), sums_.data(), hubs_, new_ids_.data(), old_ids_.data(), sizes_.data()});
    bulk_.inclusive_sum(sizes_.data(), sums_.data(), n);
    arcs_.reserve(exec::read(space_, sums_.data() + n));
    graph::packed_record* const out = g.directed() ? out_.data() : nullptr;
    exec::for_each(space_, n, make_records{g, new_ids_.data(), sums_.data(), arcs_.data(), in_.data(), out});
    row_bins_view const rows = bins_.make(g.in_records(), n, g.arcs(), limits);
    exec::for_each_tile<32>(space_, rows.items(), copy_arcs{rows, new_ids_.data(), sums_.data(), arcs_.data()});
    parts_ = g.parts();
    parts_.in = in_.data();
    parts_.out = g.directed() ? out : in_.data();
    parts_.value_bytes = 0;
    parts_.numbers = graph::number_type::none;
    parts_.graph_id = parts_.version = 0;
    return true;
  }
  /// The graph in the new order, of which only the degrees of out-neighbours exist; without identity.
  [[nodiscard]] graph::graph_view view() const { return graph::graph_view(parts_); }
  [[nodiscard]] std::uint32_t hubs() const { return hubs_; }
  /// The number of vertices without arcs, and of absent ones: the last ones.
  [[nodiscard]] std::uint32_t isolated() const { return isolated_; }
  /// By new id, in device memory.
  [[nodiscard]] graph::vertex_id const* old_ids() const { return old_ids_.data(); }

 private:
  // Returns the smallest out-degree of a hub, and sets hubs_; 0 if they are too few.
  std::uint32_t choose(graph::graph_view const& g, std::size_t most, double part) {
    std::size_t const n = g.vertices();
    space_.fill(classes_.data(), 0, sizeof(degree_classes));
    auto const least = static_cast<std::uint32_t>(2 * (g.arcs() / n) + 1);  // others are no hubs
    exec::for_each(space_, n, count_classes{g.out_records(), least, classes_.data()});
    degree_classes const classes = exec::read(space_, classes_.data());
    std::uint64_t arcs = 0;
    std::size_t hubs = 0;
    unsigned c = degree_classes::size;
    for (; c > 0 && hubs + classes.vertices[c - 1] <= most; --c) {
      hubs += classes.vertices[c - 1];
      arcs += classes.arcs[c - 1];
    }
    if (static_cast<double>(arcs) < part * static_cast<double>(g.arcs())) return 0;
    hubs_ = static_cast<std::uint32_t>(hubs);
    return std::max(least, degree_classes::least(c));
  }

  Space space_;
  typename Space::bulk bulk_;
  row_bins<Space> bins_;
  exec::buffer<degree_classes, Space> classes_;
  exec::buffer<std::uint32_t, Space> marks_;
  exec::buffer<std::uint32_t, Space> sizes_;
  exec::buffer<std::uint64_t, Space> sums_;  // of marks, and then of sizes
  exec::buffer<graph::vertex_id, Space> new_ids_;
  exec::buffer<graph::vertex_id, Space> old_ids_;
  exec::buffer<graph::packed_record, Space> in_;
  exec::buffer<graph::packed_record, Space> out_;
  exec::buffer<graph::vertex_id, Space> arcs_;
  graph::view_parts parts_;
  std::uint32_t hubs_ = 0;
  std::uint32_t isolated_ = 0;
};

}  // namespace wyrm::algorithms::detail
