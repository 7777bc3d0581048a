// SPDX-License-Identifier: Apache-2.0
// The flow of a random walk along the arcs of a directed graph, for the map equation: ranks by PageRank with unrecorded
// teleportation to links (Lambiotte and Rosvall, Phys. Rev. E 85, 056107, 2012), as Infomap computes them by default. A
// walker follows an outgoing arc, in proportion to its weight, with the probability .85. Else, and always from a
// vertex without outgoing arcs, it jumps to a vertex in proportion to the weight of its outgoing arcs. As all jumps
// have the same distribution, those from vertices without outgoing arcs only multiply all ranks by the same factor, and
// are left out. Jumps take no code word: the flow of an arc is the rank of its source times its part of the weight of
// the source, and all flows are scaled to a fixed sum. The visits of a vertex are the flows of its incoming arcs.
//
// Ranks are integers with a sum of at most 2^60. The products of ranks and weights, which take multiplications and
// divisions that IEEE 754 determines, are rounded to integers before they are added up. So all flows are the same in
// every space.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "../../exec/atomic.hpp"
#include "../../exec/bulk.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../../exec/tile.hpp"
#include "../../graph/types.hpp"
#include "../../graph/view.hpp"
#include "frontier.hpp"
#include "objectives.hpp"
#include "row_builder.hpp"
#include "weighted_rows.hpp"
#include "weights.hpp"

namespace wyrm::algorithms::detail {

/// Sums over all vertices after a step of PageRank.
struct rank_sums {
  std::uint64_t change;  // of ranks
  std::uint64_t sent;    // ranks of vertices with outgoing weight
};

/// The state of PageRank.
struct walk_ranks {
  static constexpr std::uint64_t whole = std::uint64_t{1} << 60;
  static constexpr double damping = 0.85;

  weighted_rows rows;             // `weights`: of the arc from the target of an entry to the vertex of the row, or 0
  std::uint64_t const* strength;  // of each vertex: the weight of its outgoing arcs
  double total;                   // the sum of all strengths
  std::uint64_t* rank;
  std::uint64_t* next;
  double* rate;  // of each vertex: what it sends along an arc of weight 1
  rank_sums* sums;

  /// x >= 0 without its fraction.
  [[nodiscard]] WYRM_HD static std::uint64_t whole_part(double x) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(x));
  }
  /// What a vertex sends if its rank is multiplied by `scale`.
  [[nodiscard]] WYRM_HD double rate_of(std::size_t v, double scale) const {
    return strength[v] == 0 ? 0 : static_cast<double>(rank[v]) * scale / static_cast<double>(strength[v]);
  }
};

/// The weight of all outgoing arcs of a vertex.
struct find_strengths {
  graph::graph_view g;
  std::uint64_t const* offsets;  // in `sums`
  std::uint64_t const* sums;     // prefix sums of integer weights; nullptr: all weights are 1
  std::uint64_t* strength;
  WYRM_HD void operator()(std::size_t v) const {
    strength[v] =
        sums == nullptr ? g.degree(static_cast<graph::vertex_id>(v)) : sums[offsets[v + 1]] - sums[offsets[v]];
  }
};

/// The ranks before the first step: those after a jump.
struct init_walk_ranks {
  walk_ranks r;
  WYRM_HD void operator()(std::size_t v) const {
    r.rank[v] = r.whole_part(static_cast<double>(r.whole) / r.total * static_cast<double>(r.strength[v]));
  }
};

/// The part of the next rank that comes from jumps.
struct begin_rank_step {
  walk_ranks r;
  WYRM_HD void operator()(std::size_t v) const {
    r.rate[v] = r.rate_of(v, r.damping);
    std::uint64_t const jumps = r.whole - r.whole_part(r.damping * static_cast<double>(r.whole));
    r.next[v] = r.whole_part(static_cast<double>(jumps) / r.total * static_cast<double>(r.strength[v]));
  }
};

/// One tile per item: adds what arrives along incoming arcs.
struct pull_walk_ranks {
  walk_ranks r;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    graph::neighbour_list const part = item->part_of(r.rows.g.neighbours(item->vertex));
    std::uint64_t sum = 0;
    for (std::uint32_t i = t.rank(); i < part.size; i += Tile::size()) {
      std::uint32_t const w = r.rows.weight(part.data + i);
      if (w > 0) sum += r.whole_part(static_cast<double>(w) * r.rate[part[i]]);
    }
    sum = exec::sum(t, sum);
    if (t.rank() == 0 && sum > 0) exec::atomic_ref<std::uint64_t>(r.next[item->vertex]).fetch_add(sum, exec::relaxed);
  }
};

/// `tiles` tiles.
struct add_up_ranks {
  walk_ranks r;
  std::size_t tiles;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t tile) const {
    rank_sums all{0, 0};
    for (std::size_t v = tile * Tile::size() + t.rank(); v < r.rows.g.vertices(); v += tiles * Tile::size()) {
      all.change += r.next[v] > r.rank[v] ? r.next[v] - r.rank[v] : r.rank[v] - r.next[v];
      if (r.strength[v] > 0) all.sent += r.next[v];
    }
    all = {exec::sum(t, all.change), exec::sum(t, all.sent)};
    if (t.rank() != 0) return;
    exec::atomic_ref<std::uint64_t>(r.sums->change).fetch_add(all.change, exec::relaxed);
    exec::atomic_ref<std::uint64_t>(r.sums->sent).fetch_add(all.sent, exec::relaxed);
  }
};

struct set_rates {
  walk_ranks r;
  double scale;
  WYRM_HD void operator()(std::size_t v) const { r.rate[v] = r.rate_of(v, scale); }
};

/// One tile per item: replaces the weights of arcs by their flows, of which a positive one is at least 1, and adds up
/// the flow into each vertex.
struct set_arc_flows {
  walk_ranks r;
  std::uint32_t* arcs;   // the weights of r.rows
  std::uint64_t* visit;  // see directed_visits
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    graph::neighbour_list const part = item->part_of(r.rows.g.neighbours(item->vertex));
    std::uint64_t sum = 0;
    for (std::uint32_t i = t.rank(); i < part.size; i += Tile::size()) {
      std::uint32_t& arc = arcs[part.data + i - r.rows.targets];
      if (arc == 0) continue;
      std::uint64_t const twice = r.whole_part(2.0 * static_cast<double>(arc) * r.rate[part[i]]);
      arc = twice < 2 ? 1 : static_cast<std::uint32_t>((twice + 1) / 2);
      sum += arc;
    }
    sum = exec::sum(t, sum);
    if (t.rank() == 0 && sum > 0)
      exec::atomic_ref<std::uint64_t>(visit[item->vertex]).fetch_add(directed_visits(sum, 0), exec::relaxed);
  }
};

/// One tile per item: adds up both directions of each pair of vertices, and the flow out of each vertex.
struct join_arc_flows {
  weighted_rows rows;  // `weights`: the flows of arcs
  std::uint32_t* flows;
  std::uint64_t* visit;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    graph::vertex_id const v = item->vertex;
    graph::neighbour_list const part = item->part_of(rows.g.neighbours(v));
    std::uint64_t sum = 0;
    for (std::uint32_t i = t.rank(); i < part.size; i += Tile::size()) {
      graph::neighbour_list const row = rows.g.neighbours(part[i]);
      std::uint32_t const out = rows.weight(row.data + graph::lower_bound(row.data, row.size, v));
      flows[part.data + i - rows.targets] = rows.weight(part.data + i) + out;
      sum += out;
    }
    sum = exec::sum(t, sum);
    if (t.rank() == 0 && sum > 0)
      exec::atomic_ref<std::uint64_t>(visit[v]).fetch_add(directed_visits(0, sum), exec::relaxed);
  }
};

/// Owns flows: 8 bytes per entry of symmetric rows, and 48 per vertex.
template <class Space>
class arc_flows {
 public:
  /// The sum of the flows of all arcs, if none is rounded up to 1.
  static constexpr double total = 0x1p29;

  explicit arc_flows(Space const& space)
      : space_(space),
        bulk_(space),
        list_(space),
        arcs_(space),
        flows_(space),
        strength_(space),
        rank_(space),
        next_(space),
        visits_(space),
        rate_(space),
        sums_(space, 1) {}

  void reserve(std::size_t n, std::uint64_t entries) {
    bulk_.reserve(n);
    list_.reserve(n, entries);
    for (auto* values : {&arcs_, &flows_}) values->reserve(entries);
    for (auto* values : {&strength_, &rank_, &next_, &visits_}) values->reserve(n);
    rate_.reserve(n);
  }
  /// Finds the flows of a directed graph, of which one arc at least has a positive weight. weights: nullptr: all are 1.
  /// `rows` are its symmetric rows, which `builder` has just built. O((vertices + arcs) steps), with at most
  /// max_steps steps.
  void find(graph::graph_view const& g, integer_weights<Space> const* weights, row_builder<Space>& builder,
            built_rows<Space> const& rows) {
    std::size_t const n = g.vertices();
    weighted_rows const all = rows.view();
    reserve(n, all.g.arcs());
    space_.fill(arcs_.data(), 0, all.g.arcs() * sizeof(std::uint32_t));
    builder.write_arcs(g, weights == nullptr ? nullptr : weights->data(), rows, arcs_.data());
    exec::for_each(space_, n,
                   find_strengths{g, weights == nullptr ? nullptr : weights->offsets(),
                                  weights == nullptr ? nullptr : weights->sums(), strength_.data()});
    rows_ = {all.g, all.targets, arcs_.data(), 1};
    list_.fill(all.g);
    walk_ranks r{rows_,        strength_.data(), static_cast<double>(bulk_.sum(strength_.data(), n)),
                 rank_.data(), next_.data(),     rate_.data(),
                 sums_.data()};
    std::uint64_t const sent = find_ranks(r, n);
    set_flows(r, n, total / static_cast<double>(sent));
  }
  /// Symmetric rows: the weight of an entry is the flow in both directions; a self-loop counts twice.
  [[nodiscard]] weighted_rows rows() const { return {rows_.g, rows_.targets, flows_.data(), 1}; }
  /// The flows into and out of each vertex; see directed_visits().
  [[nodiscard]] std::uint64_t const* visits() const { return visits_.data(); }

 private:
  static constexpr unsigned group = 8;                              // steps before the host reads the change
  static constexpr unsigned max_steps = 160;                        // .85^160 is about 2^-37
  static constexpr std::size_t tiles = 1024;                        // that add up changes
  static constexpr std::uint64_t enough = walk_ranks::whole >> 36;  // change of the last step

  // Returns the sum of the ranks of vertices with outgoing weight.
  std::uint64_t find_ranks(walk_ranks& r, std::size_t n) {
    exec::for_each(space_, n, init_walk_ranks{r});
    rank_sums last{};
    for (unsigned done = 0; done < max_steps; done += group) {
      for (unsigned i = 0; i < group; ++i) {
        if (i > 0) std::swap(r.rank, r.next);
        exec::for_each(space_, n, begin_rank_step{r});
        for_each_item<8>(space_, list_.view(), pull_walk_ranks{r});
      }
      space_.fill(sums_.data(), 0, sums_.bytes());
      std::size_t const sums = std::min(tiles, n);
      exec::for_each_tile<32>(space_, sums, add_up_ranks{r, sums});
      std::swap(r.rank, r.next);
      last = exec::read(space_, sums_.data());
      if (last.change <= enough) break;
    }
    return last.sent;
  }
  void set_flows(walk_ranks const& r, std::size_t n, double scale) {
    exec::for_each(space_, n, set_rates{r, scale});
    space_.fill(visits_.data(), 0, n * sizeof(std::uint64_t));
    for_each_item<8>(space_, list_.view(), set_arc_flows{r, arcs_.data(), visits_.data()});
    for_each_item<8>(space_, list_.view(), join_arc_flows{rows_, flows_.data(), visits_.data()});
  }

  Space space_;
  typename Space::bulk bulk_;
  vertex_list<Space> list_;
  exec::large_buffer<std::uint32_t, Space> arcs_;   // the flow from the target of an entry to the vertex of its row
  exec::large_buffer<std::uint32_t, Space> flows_;  // in both directions
  exec::large_buffer<std::uint64_t, Space> strength_;
  exec::large_buffer<std::uint64_t, Space> rank_;
  exec::large_buffer<std::uint64_t, Space> next_;
  exec::large_buffer<std::uint64_t, Space> visits_;
  exec::large_buffer<double, Space> rate_;
  exec::buffer<rank_sums, Space> sums_;
  weighted_rows rows_{graph::graph_view(graph::view_parts{}), nullptr, nullptr, 1};
};

}  // namespace wyrm::algorithms::detail
