// SPDX-License-Identifier: Apache-2.0
// The values of a graph as the weights of its arcs. The type of the values is known at run time: a kernel is compiled
// once, and all its lanes take the same branch. A weight is a value of any type as a double.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cuda/std/bit>
#include <sstream>
#include <string>

#include "../../exec/atomic.hpp"
#include "../../exec/bulk.hpp"
#include "../../exec/error.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../../exec/tile.hpp"
#include "../../graph/view.hpp"
#include "row_bins.hpp"
#include "weighted_rows.hpp"

namespace wyrm::algorithms::detail {

/// The values of one row.
struct value_row {
  void const* values;
  graph::number_type type;

  WYRM_HD value_row(graph::packed_record const& row, graph::number_type t)
      : values(row.page() + row.capacity()), type(t) {}

  /// The weight of entry i.
  [[nodiscard]] WYRM_HD double weight(std::uint32_t i) const {
    switch (type) {
      case graph::number_type::u32: return static_cast<double>(static_cast<std::uint32_t const*>(values)[i]);
      case graph::number_type::i64: return static_cast<double>(static_cast<std::int64_t const*>(values)[i]);
      case graph::number_type::f32: return static_cast<double>(static_cast<float const*>(values)[i]);
      case graph::number_type::f64: return static_cast<double const*>(values)[i];
      case graph::number_type::none: break;
    }
    return 0;
  }
  /// weight(i) for the host, where the row is in memory of a space.
  template <class Space>
  [[nodiscard]] double read(Space const& space, std::uint32_t i) const {
    switch (type) {
      case graph::number_type::u32:
        return static_cast<double>(exec::read(space, static_cast<std::uint32_t const*>(values) + i));
      case graph::number_type::i64:
        return static_cast<double>(exec::read(space, static_cast<std::int64_t const*>(values) + i));
      case graph::number_type::f32:
        return static_cast<double>(exec::read(space, static_cast<float const*>(values) + i));
      case graph::number_type::f64: return exec::read(space, static_cast<double const*>(values) + i);
      case graph::number_type::none: break;
    }
    return 0;
  }
};

/// Distributes the entries of the rows of an item of bins over lanes.
template <class F>
struct spread_entries {
  row_bins_view const& bins;
  F& f;

  template <class Tile>
  WYRM_HD void lane(Tile const&, graph::vertex_id v, graph::vertex_record const& row, bool valid) const {
    if (valid) f.visit(v, row, 0, row.degree, 1);
  }
  template <class Tile>
  WYRM_HD void group(Tile const& t, graph::vertex_id v, graph::vertex_record const& row, bool valid) const {
    constexpr unsigned lanes = row_bins_view::lanes_of_group<Tile>();
    if (valid) f.visit(v, row, t.rank() % lanes, row.degree, lanes);
  }
  template <class Tile>
  WYRM_HD void warp(Tile const& t, graph::vertex_id v, graph::vertex_record const& row) const {
    f.visit(v, row, t.rank(), row.degree, Tile::size());
  }
  template <class Tile>
  WYRM_HD void part(Tile const& t, std::uint32_t number) const {
    row_part const p = bins.part(number);
    f.visit(p.vertex, p.row, p.begin + t.rank(), p.end, Tile::size());
  }
};

/// Calls f.visit(v, row, first, end, step) in the lanes that have entries of the row of v: a lane has entry `first` and
/// every step-th after it, below `end`. visit() is not collective.
template <class Tile, class F>
WYRM_HD void for_each_entry(Tile const& t, row_bins_view const& bins, std::uint32_t item, F& f) {
  spread_entries<F> rows{bins, f};
  bins.dispatch(t, item, rows);
}

/// The maximum over all lanes; collective.
template <class Tile>
[[nodiscard]] WYRM_HD double maximum(Tile const& t, double value) {
  for (unsigned step = Tile::size() / 2; step > 0; step /= 2) {
    double const other = t.shfl(value, t.rank() ^ step);
    if (other > value) value = other;
  }
  return value;
}

struct weight_summary {
  static constexpr std::uint64_t none = ~std::uint64_t{0};
  std::uint64_t largest;  // the bits of the largest weight: they are in the order of doubles that are not negative
  std::uint64_t first_invalid;  // vertex << 32 | index in its row; or none
};

/// One tile per item of the bins of out-neighbours.
struct inspect_weights {
  row_bins_view bins;
  graph::packed_record const* records;
  graph::number_type type;
  weight_summary* found;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t item) const {
    inspection here{*this, 0, weight_summary::none};
    for_each_entry(t, bins, static_cast<std::uint32_t>(item), here);
    auto const largest = cuda::std::bit_cast<std::uint64_t>(maximum(t, here.largest));
    if (t.rank() == 0 && largest > exec::load_recent(found->largest))
      exec::atomic_ref<std::uint64_t>(found->largest).fetch_max(largest, exec::relaxed);
    if (here.first_invalid != weight_summary::none)
      exec::atomic_ref<std::uint64_t>(found->first_invalid).fetch_min(here.first_invalid, exec::relaxed);
  }

 private:
  struct inspection {
    inspect_weights const& of;
    double largest;
    std::uint64_t first_invalid;
    WYRM_HD void visit(graph::vertex_id v, graph::vertex_record const&, std::uint32_t first, std::uint32_t end,
                       std::uint32_t step) {
      value_row const row(of.records[v], of.type);
      for (std::uint32_t i = first; i < end; i += step) {
        std::uint64_t const entry = std::uint64_t{v} << 32 | i;
        double const w = row.weight(i);
        bool const is_valid = w >= 0 && w <= 0x1.fffffffffffffp1023;  // not negative, and finite
        if (!is_valid && entry < first_invalid) first_invalid = entry;
        if (w > largest) largest = w;
      }
    }
  };
};

/// Checks the weights of graphs. `who` begins the messages of errors.
template <class Space>
class weight_inspector {
 public:
  explicit weight_inspector(Space const& space) : space_(space), found_(space, 1) {}

  /// Throws error(bad_argument) if the values of the graph are not numbers.
  static void require_numbers(graph::graph_view const& g, std::string const& who) {
    if (g.numbers() == graph::number_type::none)
      throw error(error_code::bad_argument,
                  who +
                      ": the edges of the graph have no numbers as values, which would be their weights; make the "
                      "graph with values of type uint32_t, int64_t, float or double, or leave the option weighted "
                      "out");
  }
  /// The largest weight; 0 without arcs. Throws error(bad_argument), with the first arc in the order of to_csr(), if a
  /// weight is negative or not finite. out: the bins of the rows of out-neighbours. O(arcs).
  double largest(graph::graph_view const& g, row_bins_view const& out, std::string const& who) {
    exec::write(space_, found_.data(), weight_summary{0, weight_summary::none});
    exec::for_each_tile<32>(space_, out.items(), inspect_weights{out, g.out_records(), g.numbers(), found_.data()});
    weight_summary const found = exec::read(space_, found_.data());
    require_valid(space_, g, found.first_invalid, who);
    return std::bit_cast<double>(found.largest);
  }
  /// Throws error(bad_argument) unless `first_invalid` is none.
  static void require_valid(Space const& space, graph::graph_view const& g, std::uint64_t first_invalid,
                            std::string const& who) {
    if (first_invalid != weight_summary::none)
      refuse(space, g, static_cast<graph::vertex_id>(first_invalid >> 32), static_cast<std::uint32_t>(first_invalid),
             who);
  }

 private:
  [[noreturn]] static void refuse(Space const& space, graph::graph_view const& g, graph::vertex_id u, std::uint32_t i,
                                  std::string const& who) {
    graph::packed_record const row = exec::read(space, g.out_records() + u);
    std::ostringstream what;
    what << who << ": the weight of the arc " << u << " -> " << exec::read(space, row.page() + i) << " is "
         << value_row(row, g.numbers()).read(space, i) << "; weights must be finite, and not negative";
    throw error(error_code::bad_argument, what.str());
  }

  Space space_;
  exec::buffer<weight_summary, Space> found_;
};

/// A weight as an integer: 2^31 for the largest weight, and at least 1 for a positive one.
[[nodiscard]] WYRM_HD inline std::uint32_t integer_weight(double w, double largest) {
  auto const scaled = w > 0 ? static_cast<std::uint32_t>(w / largest * 2147483648.0 + 0.5) : 0u;
  return w > 0 && scaled == 0 ? 1 : scaled;
}

/// One tile per item of the bins of out-neighbours: writes weights as integers.
struct write_integers {
  row_bins_view bins;
  graph::packed_record const* records;
  graph::number_type type;
  std::uint64_t const* offsets;
  double largest;
  std::uint32_t* integers;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t item) const {
    for_each_entry(t, bins, static_cast<std::uint32_t>(item), *this);
  }
  WYRM_HD void visit(graph::vertex_id v, graph::vertex_record const&, std::uint32_t first, std::uint32_t end,
                     std::uint32_t step) const {
    value_row const row(records[v], type);
    std::uint32_t* const to = integers + offsets[v];
    for (std::uint32_t i = first; i < end; i += step) to[i] = integer_weight(row.weight(i), largest);
  }
};

/// Owns the weights of a graph as integers in the order of a CSR, and their prefix sums: sums are exact, and the same
/// in every space. Keeps its memory: 12 bytes per arc and about 40 per vertex.
template <class Space>
class integer_weights {
 public:
  explicit integer_weights(Space const& space)
      : space_(space), bulk_(space), inspector_(space), bins_(space), offsets_(space), integers_(space), sums_(space) {}

  /// The largest weight becomes 2^31, and a positive one at least 1. Throws error(bad_argument) unless the values of
  /// the graph are numbers, finite and not negative. O(vertices + arcs).
  void make(graph::graph_view const& g, std::string const& who) {
    inspector_.require_numbers(g, who);
    std::size_t const n = g.vertices();
    row_bins_view const out = bins_.make(g.out_records(), n, g.arcs(), {32, 256, 1024, 1024});
    largest_ = inspector_.largest(g, out, who);
    offsets_.find(g);
    integers_.reserve(g.arcs());
    sums_.reserve(g.arcs() + 1);
    exec::for_each_tile<32>(
        space_, out.items(),
        write_integers{out, g.out_records(), g.numbers(), offsets_.data(), largest_, integers_.data()});
    bulk_.inclusive_sum(integers_.data(), sums_.data(), g.arcs());
  }
  /// The largest weight.
  [[nodiscard]] double largest() const { return largest_; }
  /// The offsets of rows in the other arrays.
  [[nodiscard]] std::uint64_t const* offsets() const { return offsets_.data(); }
  [[nodiscard]] std::uint32_t* data() const { return integers_.data(); }
  /// sums()[i]: the sum of the first i integers, as make() has written them.
  [[nodiscard]] std::uint64_t const* sums() const { return sums_.data(); }

 private:
  Space space_;
  typename Space::bulk bulk_;
  weight_inspector<Space> inspector_;
  row_bins<Space> bins_;
  row_offsets<Space> offsets_;
  exec::large_buffer<std::uint32_t, Space> integers_;
  exec::large_buffer<std::uint64_t, Space> sums_;
  double largest_ = 0;
};

}  // namespace wyrm::algorithms::detail
