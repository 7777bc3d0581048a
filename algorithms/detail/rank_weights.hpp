// SPDX-License-Identifier: Apache-2.0
// The weights of arcs for ranks of a changing graph, see incremental_pagerank: what a vertex sends along an arc is an
// integer that follows from what it sends in total, the weight of the arc and the sum of the weights of its row. So a
// vertex can revert exactly what it has sent along each arc, as long as the graph shows the old weights.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/tile.hpp"
#include "../../graph/view.hpp"
#include "frontier.hpp"
#include "weights.hpp"

namespace wyrm::algorithms::detail {

/// Whether a weight is a finite number and not negative.
[[nodiscard]] WYRM_HD inline bool is_weight(double w) { return w >= 0 && w <= 0x1.fffffffffffffp1023; }

[[nodiscard]] WYRM_HD inline std::int64_t rounded(double value) {
  return static_cast<std::int64_t>(value < 0 ? value - 0.5 : value + 0.5);
}

/// The sum of the weights of a row, or of a part of one. A sum that is too large for a double is that of the weights
/// times 2^-64, and stored with a negative sign.
struct weight_total {
  static constexpr double scale = 0x1p-64;
  [[nodiscard]] WYRM_HD static double scaled(double total) { return total < 0 ? -total : total * scale; }
  /// The part of an arc of weight w in what the row sends: w <= total, total not 0.
  [[nodiscard]] WYRM_HD static double share(double w, double total) {
    return total < 0 ? w * scale / -total : w / total;
  }
};

/// What a vertex that sends `all` sends along an arc of weight w. Invalid weights count as 0.
[[nodiscard]] WYRM_HD inline std::int64_t sent_along(std::int64_t all, double w, double total) {
  if (all == 0 || !is_weight(w) || w == 0) return 0;
  return rounded(static_cast<double>(all) * weight_total::share(w, total));
}

/// The sum of numbers that are not negative, with an error of few roundings, however many there are (Neumaier 1974).
struct accurate_sum {
  double sum = 0;
  double lost = 0;
  WYRM_HD void add(double value) {
    double const next = sum + value;
    lost += sum >= value ? (sum - next) + value : (value - next) + sum;
    sum = next;
  }
  [[nodiscard]] WYRM_HD double value() const { return sum + lost; }
};

/// One tile per item of a frontier: adds up the weights of a part of a row, in a fixed order.
struct add_up_part {
  graph::graph_view g;
  frontier_item const* items;
  double* parts;                 // weight_total of each item
  std::uint64_t* first_invalid;  // see weight_summary

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    graph::neighbour_list const all = g.neighbours(item->vertex);
    graph::neighbour_list const part = item->part_of(all);
    auto const begin = static_cast<std::uint32_t>(part.data - all.data);
    value_row const row(g.out_records()[item->vertex], g.numbers());
    double total = add_up(t, row, item->vertex, begin, begin + part.size, 1);
    if (!is_weight(total)) total = -add_up(t, row, item->vertex, begin, begin + part.size, weight_total::scale);
    if (t.rank() == 0) parts[item - items] = total;
  }

 private:
  template <class Tile>
  [[nodiscard]] WYRM_HD double add_up(Tile const& t, value_row const& row, graph::vertex_id v, std::uint32_t begin,
                                      std::uint32_t end, double factor) const {
    accurate_sum sum;
    for (std::uint32_t i = begin + t.rank(); i < end; i += Tile::size()) {
      double const w = row.weight(i);
      if (is_weight(w))
        sum.add(factor * w);
      else
        exec::atomic_ref<std::uint64_t>(*first_invalid).fetch_min(std::uint64_t{v} << 32 | i, exec::relaxed);
    }
    return exec::sum(t, sum.value());
  }
};

/// The total of n parts of a row.
[[nodiscard]] WYRM_HD inline double total_of_parts(double const* parts, std::uint32_t n) {
  accurate_sum sum;
  bool is_scaled = false;
  for (std::uint32_t p = 0; p < n; ++p) {
    is_scaled = is_scaled || parts[p] < 0;
    sum.add(parts[p]);
  }
  if (!is_scaled && is_weight(sum.value())) return sum.value();
  accurate_sum scaled;
  for (std::uint32_t p = 0; p < n; ++p) scaled.add(weight_total::scaled(parts[p]));
  return -scaled.value();
}

}  // namespace wyrm::algorithms::detail
