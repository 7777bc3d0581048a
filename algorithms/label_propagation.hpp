// SPDX-License-Identifier: Apache-2.0
// Communities by label propagation (Raghavan, Albert, Kumara, Phys. Rev. E 76, 2007), in the synchronous, deterministic
// form of LDBC Graphalytics (Iosup et al., VLDB 2016; CDLP): in each iteration every vertex takes the label that most
// of its neighbours had before the iteration, and the smallest of these labels if there are several.
//
// How votes are counted depends on the number of neighbours. A lane compares the labels of a few neighbours with each
// other. The lanes of a warp match the labels of up to as many neighbours as there are lanes. For longer rows a warp
// counts votes in a hash table of its own, which stays in the caches; lanes with the same label add their votes at
// once. A hub has a hash table in memory that all warps share that process its parts; each of them then looks for the
// best label in a part of that table. A core of a host counts votes in a table of all labels.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cuda/std/bit>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../exec/error.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "../exec/tile.hpp"
#include "../graph/any_graph.hpp"
#include "../graph/types.hpp"
#include "../graph/view.hpp"
#include "detail/labels.hpp"
#include "detail/row_bins.hpp"
#include "detail/thread_tables.hpp"
#include "detail/vote_table.hpp"
#include "detail/weights.hpp"

namespace wyrm::algorithms {

struct label_propagation_options {
  unsigned iterations = 10;
  /// Whether a vote counts as much as the value of its edge; otherwise each vote counts 1. Integers are added up
  /// exactly, of whatever type, if none is 2^32 or more; other values are rounded to about 2^-32 of the largest one.
  bool weighted = false;
};

namespace detail {

/// The neighbours of a vertex, as voters: its out-neighbours, and then, in a directed graph, its in-neighbours.
struct voters {
  graph::neighbour_list out;
  graph::neighbour_list in;
  [[nodiscard]] WYRM_HD graph::vertex_id operator[](std::uint32_t i) const {
    return i < out.size ? out[i] : in[i - out.size];
  }
};

/// The number of out-neighbours and in-neighbours of each vertex, as rows without pages.
struct add_degrees {
  graph::graph_view g;
  graph::packed_record* rows;
  WYRM_HD void operator()(std::size_t v) const {
    std::uint32_t const voters = g.out_records()[v].degree + g.in_records()[v].degree;
    rows[v] = graph::vertex_record{nullptr, voters, 0};
  }
};

/// The labels of voters, and where the elected ones go.
template <bool Weighted>
struct label_election {
  using votes_type = std::conditional_t<Weighted, std::uint64_t, std::uint32_t>;

  graph::graph_view g;
  graph::vertex_id const* label;
  graph::vertex_id* next;
  double scale;  // of weights, see votes_of_weight

  [[nodiscard]] WYRM_HD voters voters_of(graph::vertex_id v) const {
    return {g.neighbours(v), g.directed() ? g.in_neighbours(v) : graph::neighbour_list{nullptr, 0}};
  }
  [[nodiscard]] WYRM_HD votes_type votes(graph::vertex_id v, std::uint32_t out, std::uint32_t i) const {
    if constexpr (Weighted) {
      bool const is_out = i < out;
      value_row const row(is_out ? g.out_records()[v] : g.in_records()[v], g.numbers());
      return votes_of_weight(row.weight(is_out ? i : i - out), scale);
    } else {
      return 1;
    }
  }
  // A vertex without votes keeps its label.
  WYRM_HD void set(graph::vertex_id v, candidate<votes_type> const& best) const {
    next[v] = best.votes > 0 ? best.label : label[v];
  }
};

/// One lane per vertex of a host, if labels are less than the number of vertices.
template <bool Weighted>
struct take_votes_on_host {
  using votes_type = typename label_election<Weighted>::votes_type;
  using held_table = typename label_tables_view<votes_type>::held;
  static constexpr std::size_t indices_of_core = 64;
  label_election<Weighted> election;
  label_tables_view<votes_type> tables;

  template <class Tile>
  [[nodiscard]] WYRM_HD held_table begin(Tile const& t) const {
    return tables.acquire(t);
  }
  template <class Tile>
  WYRM_HD void operator()(Tile const&, std::size_t i, bool, held_table const& table) const {
    auto const v = static_cast<graph::vertex_id>(i);
    label_sums<votes_type> sums = table.empty_sums();
    voters const all = election.voters_of(v);
    graph::vertex_id const* const label = election.label;
    for (std::uint32_t k = 0; k < all.out.size + all.in.size; ++k)
      if (votes_type const votes = election.votes(v, all.out.size, k); votes > 0) sums.add(label[all[k]], votes);
    candidate<votes_type> best;
    sums.take_each([&](graph::vertex_id to, votes_type votes) { best.consider({votes, to}); });
    election.set(v, best);
  }
};

/// One tile for a sequence of items of the bins.
template <bool Weighted>
struct take_votes {
  using votes_type = typename label_election<Weighted>::votes_type;
  using table_type = vote_table<votes_type>;
  static constexpr std::size_t grain = 1;
  static constexpr unsigned resident_blocks = 4;
  /// The group bin has the rows that the lanes of a warp match.
  static constexpr bin_limits limits{8, 32, 512, 512};
  static constexpr std::uint32_t table_slots = table_type::slots_for(limits.warp);
  static constexpr std::uint32_t part_slots = table_type::slots_for(limits.part);

  label_election<Weighted> election;
  row_bins_view bins;
  table_type tables;      // of the tiles
  table_type hub_tables;  // of the parts of hubs
  std::size_t tiles;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t tile) const {
    // Long rows come first.
    for (std::size_t i = tile; i < items(); i += tiles) process(t, tile, static_cast<std::uint32_t>(items() - 1 - i));
  }
  [[nodiscard]] WYRM_HD std::size_t items() const {
    return std::size_t{bins.lane_items()} + bins.group_rows + bins.warp_rows + bins.parts;
  }
  /// The table of a hub, whose first part has this number.
  [[nodiscard]] WYRM_HD static table_type table_of(table_type const& hubs, std::uint32_t first_part,
                                                   std::uint32_t degree) {
    std::uint64_t const slots = std::uint64_t{(degree - 1) / limits.part + 1} * part_slots;
    return part_of(hubs, std::uint64_t{first_part} * part_slots,
                   slots < graph::no_vertex ? static_cast<std::uint32_t>(slots) : graph::no_vertex);
  }

 private:
  [[nodiscard]] WYRM_HD static table_type part_of(table_type const& all, std::uint64_t begin, std::uint32_t slots) {
    return {all.labels + begin, all.votes + begin, slots};
  }
  template <class Tile>
  WYRM_HD void process(Tile const& t, std::size_t tile, std::uint32_t item) const {
    if (item < bins.lane_items()) {
      for (std::uint32_t k = 0; k < 32; k += Tile::size()) {
        std::uint32_t const i = item * 32 + k + t.rank();
        if (i < bins.lane_rows) take_per_lane(bins.rows[i]);
      }
      return;
    }
    item -= bins.lane_items();
    if (item < bins.group_rows + bins.warp_rows)
      take_per_warp(t, bins.rows[bins.lane_rows + item], tile);
    else
      add_part(t, item - bins.group_rows - bins.warp_rows);
  }

  [[nodiscard]] WYRM_HD voters voters_of(graph::vertex_id v, graph::vertex_record const& row) const {
    return election.g.directed() ? election.voters_of(v) : voters{{row.page, row.degree}, {nullptr, 0}};
  }

  // The loops have constant bounds, so that a compiler keeps the arrays in registers.
  WYRM_HD void take_per_lane(binned_row const& row) const {
    voters const all = voters_of(row.vertex, row);
    graph::vertex_id labels[limits.lane];
    votes_type counts[limits.lane];
    for (std::uint32_t i = 0; i < limits.lane; ++i) {
      bool const has = i < row.degree;
      labels[i] = has ? election.label[all[i]] : graph::no_vertex;
      counts[i] = has ? election.votes(row.vertex, all.out.size, i) : 0;
    }
    candidate<votes_type> best;
    for (std::uint32_t i = 0; i < limits.lane; ++i) {
      votes_type sum = 0;
      for (std::uint32_t k = 0; k < limits.lane; ++k) sum += labels[k] == labels[i] ? counts[k] : 0;
      if (sum > 0) best.consider({sum, labels[i]});
    }
    election.set(row.vertex, best);
  }

  template <class Tile>
  WYRM_HD void take_per_warp(Tile const& t, binned_row const& row, std::size_t tile) const {
    voters const all = voters_of(row.vertex, row);
    candidate<votes_type> best;
    if (row.degree <= Tile::size()) {
      bool const has = t.rank() < row.degree;
      graph::vertex_id const own = has ? election.label[all[t.rank()]] : graph::no_vertex;
      votes_type const sum =
          sum_of_same(t, exec::match(t, own), has ? election.votes(row.vertex, all.out.size, t.rank()) : 0);
      if (has && sum > 0) best = {sum, own};
      best = best_of(t, best);
    } else {
      table_type const table = part_of(tables, tile * table_slots, table_type::slots_for(row.degree));
      add_all<(Tile::size() > 1)>(t, row.vertex, all, 0, row.degree, table);
      t.sync();
      best = table.take(t, 0, table.slots);
      t.sync();
    }
    if (t.rank() == 0) election.set(row.vertex, best);
  }
  template <class Tile>
  WYRM_HD void add_part(Tile const& t, std::uint32_t number) const {
    row_part const p = bins.part(number);
    table_type const table = table_of(hub_tables, number - p.begin / limits.part, p.row.degree);
    add_all<true>(t, p.vertex, voters_of(p.vertex, p.row), p.begin, p.end, table);
  }

  // The sum of the votes of the lanes with the same label as this one.
  template <class Tile>
  [[nodiscard]] WYRM_HD votes_type sum_of_same(Tile const& t, std::uint32_t same, votes_type own) const {
    if constexpr (!Weighted) return static_cast<votes_type>(cuda::std::popcount(same));
    votes_type sum = 0;
    for (unsigned lane = 0; lane < Tile::size(); ++lane) {
      votes_type const other = t.shfl(own, lane);
      sum += (same >> lane & 1) != 0 ? other : 0;
    }
    return sum;
  }
  template <bool Shared, class Tile>
  WYRM_HD void add_all(Tile const& t, graph::vertex_id v, voters const& all, std::uint32_t begin, std::uint32_t end,
                       table_type const& table) const {
    for (std::uint32_t base = begin; base < end; base += Tile::size()) {
      std::uint32_t const i = base + t.rank();
      bool has = i < end;
      graph::vertex_id const own = has ? election.label[all[i]] : graph::no_vertex;
      votes_type sum = has ? election.votes(v, all.out.size, i) : 0;
      if constexpr (!Weighted && Tile::size() > 1) {
        std::uint32_t const same = exec::match(t, own);
        has = has && exec::first_lane(same) == t.rank();
        sum = static_cast<votes_type>(cuda::std::popcount(same));
      }
      if (has && sum > 0) table.template add<Shared ? table_users::tiles : table_users::thread>(own, sum);
    }
  }
};

/// One tile per part of a hub: the best label in a part of the table of the hub.
template <class Take>
struct take_from_hub_tables {
  Take from;
  candidate<typename Take::votes_type>* best;  // of each part
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t part) const {
    row_part const p = from.bins.part(static_cast<std::uint32_t>(part));
    std::uint32_t const number = p.begin / Take::limits.part;
    auto const table = Take::table_of(from.hub_tables, static_cast<std::uint32_t>(part) - number, p.row.degree);
    std::uint64_t const end = (std::uint64_t{number} + 1) * Take::part_slots;
    auto const found = table.take(t, static_cast<std::uint32_t>(end - Take::part_slots),
                                  end < table.slots ? static_cast<std::uint32_t>(end) : table.slots);
    if (t.rank() == 0) best[part] = found;
  }
};

/// One tile per hub.
template <class Take>
struct set_labels_of_hubs {
  Take from;
  candidate<typename Take::votes_type> const* best_of_parts;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t hub) const {
    row_bins_view const& bins = from.bins;
    hub_row const h = bins.hubs[hub];
    std::uint32_t const end = hub + 1 < bins.hub_rows ? bins.hubs[hub + 1].first_part : bins.parts;
    candidate<typename Take::votes_type> best;
    for (std::uint32_t p = h.first_part + t.rank(); p < end; p += Tile::size()) best.consider(best_of_parts[p]);
    best = best_of(t, best);
    if (t.rank() == 0) from.election.set(h.vertex, best);
  }
};

}  // namespace detail

/// Labels the vertices of different graphs, or of one changing graph. Labels and scratch memory stay on the device:
/// about 30 bytes per vertex (directed: 42), 12 bytes per neighbour of a vertex with more than 512 neighbours, and 6 KB
/// per warp that runs at the same time; with weights half as much more per neighbour and warp. On a host, if labels are
/// less than the number of vertices, 8 bytes per vertex, and 8 for each thread, with weights 12. Not thread-safe.
template <class Space>
class label_propagator {
 public:
  explicit label_propagator(Space const& space)
      : space_(space),
        inspector_(space),
        bins_(space),
        rows_(space),
        labels_{list(space), list(space)},
        count_(space),
        weigh_(space) {}

  /// Labels in the beginning: `initial`, or, if that is empty, the numbers of the vertices. O(vertices + arcs) per
  /// iteration, with one launch, or three if there are hubs; the host does not wait. A self-loop votes for the vertex's
  /// own label, twice in a directed graph. A vertex without neighbours, or that is not in the graph, keeps its first
  /// label. Throws error(bad_argument) for a directed graph without in-neighbours; for initial labels of a wrong
  /// number, or that are graph::no_vertex; with weights, if the values of the graph are not numbers, or are negative or
  /// not finite.
  void run(graph::graph_view const& g, label_propagation_options const& o = {},
           std::span<graph::vertex_id const> initial = {}) {
    std::size_t const n = g.vertices();
    check(g, initial);
    if (o.weighted) inspector_.require_numbers(g, name);
    if (n == 0) return;
    double const scale = o.weighted ? scale_of_weights(g) : 1;
    for (list& labels : labels_) labels.reserve(n);
    if (initial.empty())
      exec::for_each(space_, n, detail::init_labels{labels_[0].data()});
    else
      exec::copy_in<graph::vertex_id>(space_, labels_[0].data(), initial);
    bool const in_tables = fit_tables(initial, n);
    if (o.weighted)
      iterate<true>(g, o.iterations, scale, weigh_, in_tables);
    else
      iterate<false>(g, o.iterations, scale, count_, in_tables);
  }
  /// The labels of the vertices of the graph of the last run, in device memory.
  [[nodiscard]] graph::vertex_id const* label() const { return labels_[0].data(); }

 private:
  using list = exec::buffer<graph::vertex_id, Space>;
  static constexpr char const* name = "label_propagation";
  template <bool Weighted>
  struct tables {
    using votes_type = typename detail::take_votes<Weighted>::votes_type;
    using of_threads = detail::label_tables<votes_type, Space>;
    explicit tables(Space const& space)
        : labels(space, exec::use_rate::high), votes(space, exec::use_rate::high), best(space), on_host(space) {}
    exec::large_buffer<graph::vertex_id, Space> labels;
    exec::large_buffer<votes_type, Space> votes;
    exec::large_buffer<detail::candidate<votes_type>, Space> best;  // of each part of a hub
    of_threads on_host;
  };

  static void check(graph::graph_view const& g, std::span<graph::vertex_id const> initial) {
    auto const refuse = [](std::string const& what) {
      throw error(error_code::bad_argument, std::string(name) + ": " + what);
    };
    if (g.directed() && !g.has_in_neighbours())
      refuse("the graph is directed and has no in-neighbours; make it with them");
    if (initial.empty()) return;
    if (initial.size() != g.vertices())
      refuse("there are " + std::to_string(initial.size()) + " initial labels for " + std::to_string(g.vertices()) +
             " vertices; pass one for each, or none");
    auto const reserved = std::find(initial.begin(), initial.end(), graph::no_vertex);
    if (reserved != initial.end())
      refuse("the initial label of vertex " + std::to_string(reserved - initial.begin()) + " is " +
             std::to_string(graph::no_vertex) + ", which is reserved; use smaller labels");
  }
  /// Whether first labels are numbers of vertices, as the tables of a host require.
  [[nodiscard]] static bool fit_tables(std::span<graph::vertex_id const> initial, std::size_t n) {
    if constexpr (exec::has_tiles<Space>)
      return false;
    else
      return std::all_of(initial.begin(), initial.end(), [&](graph::vertex_id label) { return label < n; });
  }
  [[nodiscard]] double scale_of_weights(graph::graph_view const& g) {
    constexpr detail::bin_limits limits = detail::take_votes<true>::limits;
    double const largest = inspector_.largest(g, bins_.make(g.out_records(), g.vertices(), g.arcs(), limits), name);
    return largest > 0 ? std::ldexp(1.0, std::ilogb(largest)) : 1;
  }

  template <bool Weighted>
  void iterate(graph::graph_view const& g, unsigned iterations, double scale, tables<Weighted>& scratch,
               [[maybe_unused]] bool in_tables) {
    if constexpr (!exec::has_tiles<Space>)
      if (in_tables) return iterate_on_host<Weighted>(g, iterations, scale, scratch.on_host);
    using take = detail::take_votes<Weighted>;
    std::size_t const n = g.vertices();
    graph::packed_record const* rows = g.out_records();
    if (g.directed()) {
      rows_.reserve(n);
      exec::for_each(space_, n, detail::add_degrees{g, rows_.data()});
      rows = rows_.data();
    }
    detail::row_bins_view const bins = bins_.make(rows, n, (g.directed() ? 2 : 1) * g.arcs(), take::limits);
    take work{{g, nullptr, nullptr, scale}, bins, {}, {}, 0};
    work.tiles = tiles_for(work.items());
    std::size_t const own = work.tiles * take::table_slots;
    std::size_t const slots = own + std::size_t{bins.parts} * take::part_slots;
    scratch.labels.reserve(slots);
    scratch.votes.reserve(slots);
    scratch.best.reserve(bins.parts);
    space_.fill(scratch.labels.data(), 0xff, slots * sizeof(graph::vertex_id));
    space_.fill(scratch.votes.data(), 0, slots * sizeof(typename take::votes_type));
    work.tables = {scratch.labels.data(), scratch.votes.data(), take::table_slots};
    work.hub_tables = {scratch.labels.data() + own, scratch.votes.data() + own, take::part_slots};
    for (unsigned i = 0; i < iterations; ++i) {
      work.election.label = labels_[0].data();
      work.election.next = labels_[1].data();
      exec::for_each_tile<32>(space_, work.tiles, work);
      exec::for_each_tile<32>(space_, bins.parts, detail::take_from_hub_tables<take>{work, scratch.best.data()});
      exec::for_each_tile<32>(space_, bins.hub_rows, detail::set_labels_of_hubs<take>{work, scratch.best.data()});
      std::swap(labels_[0], labels_[1]);
    }
  }
  template <bool Weighted>
  void iterate_on_host(graph::graph_view const& g, unsigned iterations, double scale,
                       typename tables<Weighted>::of_threads& sums) {
    using take = detail::take_votes_on_host<Weighted>;
    std::size_t const n = g.vertices();
    sums.reserve(n, g.arcs());
    auto const all = sums.cleared();
    for (unsigned i = 0; i < iterations; ++i) {
      detail::for_each_index(space_, n, take{{g, labels_[0].data(), labels_[1].data(), scale}, all});
      std::swap(labels_[0], labels_[1]);
    }
  }
  // As many tiles as can run at the same time; on a host some more than threads.
  [[nodiscard]] std::size_t tiles_for(std::size_t items) const {
    if constexpr (exec::has_tiles<Space>)
      return std::min(items, space_.lanes_for(nullptr) / Space::template tile_size<32>);
    else
      return std::min(items, std::size_t{16} * space_.threads());
  }

  Space space_;
  detail::weight_inspector<Space> inspector_;
  detail::row_bins<Space> bins_;
  exec::buffer<graph::packed_record, Space> rows_;  // of a directed graph
  list labels_[2];
  tables<false> count_;
  tables<true> weigh_;
};

/// The label of each vertex after label propagation. For the ids of a file to decide between labels with equally many
/// votes, initial labels must be in the order of these ids. See label_propagator.
template <class Space>
std::vector<graph::vertex_id> label_propagation(Space const& space, graph::graph_view const& g,
                                                label_propagation_options const& o = {},
                                                std::span<graph::vertex_id const> initial = {}) {
  label_propagator<Space> propagator(space);
  propagator.run(g, o, initial);
  return exec::copy_out(space, propagator.label(), g.vertices());
}

std::vector<graph::vertex_id> label_propagation(graph::any_graph const& g, label_propagation_options const& o = {},
                                                std::span<graph::vertex_id const> initial = {});

}  // namespace wyrm::algorithms
