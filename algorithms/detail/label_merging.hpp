// SPDX-License-Identifier: Apache-2.0
// Merges labels as long as an objective improves: labels become the vertices of a smaller graph, in which they move,
// and so on (Blondel et al., J. Stat. Mech. 2008). Also names labels, counts them, and computes modularity and
// codelength.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../exec/bulk.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../../graph/view.hpp"
#include "labels.hpp"
#include "modularity_moves.hpp"
#include "objectives.hpp"
#include "row_builder.hpp"
#include "weighted_rows.hpp"

namespace wyrm::algorithms::detail {

/// Owns the moves, the smaller graphs and scratch memory. Labels are less than the number of vertices.
template <class Space>
class label_merging {
 public:
  using labels = exec::buffer<graph::vertex_id, Space>;

  explicit label_merging(Space const& space)
      : space_(space),
        bulk_(space),
        builder_(space),
        moves_(space),
        coarse_{built_rows<Space>(space), built_rows<Space>(space)},
        spare_{labels(space), labels(space)},
        first_(space),
        flag_(space),
        before_(space),
        inside_(space),
        sums_(space) {}

  /// Requests the memory per vertex of all functions for n vertices.
  void reserve(std::size_t n) {
    for (labels* l : {&spare_[0], &spare_[1], &first_}) l->reserve(n);
    flag_.reserve(n);
    before_.reserve(n + 1);
    inside_.reserve(n);
    sums_.reserve(n);
  }
  /// Also requests all memory for rows with this many entries.
  void reserve(std::size_t n, std::uint64_t entries) {
    reserve(n);
    bulk_.reserve(n);
    builder_.reserve(n, entries);
    moves_.reserve(n, entries);
    for (built_rows<Space>& rows : coarse_) rows.reserve(n, entries);
  }
  [[nodiscard]] row_builder<Space>& builder() { return builder_; }
  [[nodiscard]] modularity_moves<Space>& moves() { return moves_; }
  /// Smaller graphs, and labels of their vertices, of which two levels are in use at the same time.
  [[nodiscard]] built_rows<Space>& coarse(unsigned level) { return coarse_[level % 2]; }
  [[nodiscard]] labels& spare(unsigned level) { return spare_[level % 2]; }

  /// Numbers labels in the order of their first vertices. Returns the number of labels.
  graph::vertex_id number(graph::vertex_id* label, std::size_t n) {
    find_first_vertices(label, nullptr, n);
    exec::for_each(space_, n, flag_first{label, first_.data(), flag_.data()});
    bulk_.inclusive_sum(flag_.data(), before_.data(), n);
    exec::for_each(space_, n, number_labels{label, first_.data(), before_.data()});
    return static_cast<graph::vertex_id>(exec::read(space_, before_.data() + n));
  }
  /// Vertices without edges get labels of their own, and each other label becomes the id of its first vertex.
  /// moves().prepare() has computed degrees.
  void relabel_by_first(graph::vertex_id* label, std::size_t n) {
    find_first_vertices(label, moves_.degrees(), n);
    exec::for_each(space_, n, detail::relabel_by_first{label, moves_.degrees(), first_.data()});
  }
  /// The same with the id of its last vertex.
  void relabel_by_last(graph::vertex_id* label, std::size_t n) {
    space_.fill(first_.data(), 0, n * sizeof(graph::vertex_id));
    exec::for_each(space_, n, find_last{label, moves_.degrees(), first_.data()});
    exec::for_each(space_, n, detail::relabel_by_first{label, moves_.degrees(), first_.data()});
  }
  struct result {
    bool merged;     // whether labels were merged
    bool converged;  // all moves ended before their limits
  };
  /// Labels become the vertices of a smaller graph, which is clustered the same way, and so on. Calls
  /// each_level(count) for each such graph, with the number of labels that are its vertices; labels are numbered then.
  template <class EachLevel>
  result merge(weighted_rows const& rows, graph::vertex_id* all, move_rules const& rules, EachLevel const& each_level) {
    weighted_rows from = rows;
    graph::vertex_id* label = all;
    bool converged = true;
    for (unsigned level = 0;; ++level) {
      graph::vertex_id const n = number(label, from.g.vertices());
      if (level > 0) exec::for_each(space_, rows.g.vertices(), compose_labels{all, label});
      each_level(n);
      builder_.coarsen(from, label, n, coarse(level));
      from = coarse(level).view();
      label = spare(level).data();
      exec::for_each(space_, n, init_labels{label});
      moves_.prepare(from);
      auto const done = moves_.run(from, label, max_rounds, rules);
      converged = converged && done.ended;
      if (done.count == 0) return {level > 0, converged};
    }
  }
  /// The number of vertices with each label; nullptr: each vertex has a label of its own. Valid until the next call of
  /// count(), sum(), pairs() or evaluate().
  std::uint64_t const* count(graph::vertex_id const* label, std::size_t n) {
    space_.fill(sums_.data(), 0, n * sizeof(std::uint64_t));
    exec::for_each(space_, n, count_labels{label, sums_.data()});
    return sums_.data();
  }
  /// The sums of the masses of the vertices with each label. Valid as long as those of count().
  std::uint64_t const* sum(std::uint64_t const* mass, graph::vertex_id const* label, std::size_t n) {
    space_.fill(sums_.data(), 0, n * sizeof(std::uint64_t));
    exec::for_each(space_, n, add_up_volumes{mass, label, sums_.data()});
    return sums_.data();
  }
  /// The sum over all labels of the pairs of vertices with this label.
  double pairs(graph::vertex_id const* label, std::size_t n) {
    (void)count(label, n);
    exec::for_each(space_, n, square{sums_.data(), sums_.data()});
    return (static_cast<double>(bulk_.sum(sums_.data(), n)) - static_cast<double>(n)) / 2;
  }
  struct worth {
    double inside;      // weight of the arcs inside communities
    double links;       // the same as a fraction of all arcs
    double by_chance;   // the fraction that is expected in a random graph
    double codelength;  // of the map equation, in bits per step; 0 if not requested
    [[nodiscard]] double modularity(double resolution) const { return links - resolution * by_chance; }
  };
  /// code: nullptr, or rules with the terms of the codelength, and, if they are directed, with masses.
  worth evaluate(weighted_rows const& rows, graph::vertex_id const* label, move_rules const* code) {
    std::size_t const n = rows.g.vertices();
    std::uint64_t const total = moves_.prepare(rows);
    auto const all = static_cast<double>(total);
    std::uint64_t const inside = add_up_inner_weights(rows, label);
    std::uint64_t* const volume = moves_.compute_volumes(label, n);
    exec::for_each(space_, n, square{volume, sums_.data()});
    worth found{static_cast<double>(inside), static_cast<double>(inside) / all,
                static_cast<double>(bulk_.sum(sums_.data(), n)) / all / all, 0};
    if (code == nullptr) return found;
    bool const directed = code->terms.directed;
    if (directed) (void)moves_.compute_volumes(code->mass, label, n);
    std::uint64_t const* const mass = directed ? code->mass : moves_.degrees();
    std::int64_t const bits = sum_of_costs(code->terms, mass, label, volume, n, total - inside);
    found.codelength = static_cast<double>(bits) / code->terms.steps(total) * flow_log_unit;
    return found;
  }
  /// The terms of modules and of the index in a codelength, times the number of steps, in units of flow_log_unit.
  std::int64_t cost_of_books(weighted_rows const& rows, graph::vertex_id const* label, move_rules const& code) {
    std::size_t const n = rows.g.vertices();
    std::uint64_t const total = moves_.prepare(rows);
    std::uint64_t const inside = add_up_inner_weights(rows, label);
    std::uint64_t const* const mass = code.terms.directed ? code.mass : moves_.degrees();
    return sum_of_costs(code.terms, nullptr, label, moves_.compute_volumes(mass, label, n), n, total - inside);
  }

  static constexpr std::uint32_t max_rounds = 1000;

 private:
  // Sets inside_ to the weight of the arcs of each vertex inside its community; returns the sum.
  std::uint64_t add_up_inner_weights(weighted_rows const& rows, graph::vertex_id const* label) {
    std::size_t const n = rows.g.vertices();
    space_.fill(inside_.data(), 0, n * sizeof(std::uint64_t));
    for_each_item<8>(space_, moves_.now().view(), add_up_inside{rows, label, inside_.data()});
    return bulk_.sum(inside_.data(), n);
  }
  // All terms of the codelength, after add_up_inner_weights(). mass: nullptr: without the terms of vertices.
  std::int64_t sum_of_costs(code_terms const& terms, std::uint64_t const* mass, graph::vertex_id const* label,
                            std::uint64_t const* volume, std::size_t n, std::uint64_t exits) {
    space_.fill(sums_.data(), 0, n * sizeof(std::uint64_t));
    exec::for_each(space_, n, add_up_leaving{moves_.degrees(), inside_.data(), label, sums_.data()});
    exec::for_each(space_, n, find_costs{terms, mass, volume, sums_.data(), inside_.data()});
    return static_cast<std::int64_t>(bulk_.sum(inside_.data(), n)) + terms.index(exits);
  }
  void find_first_vertices(graph::vertex_id const* label, std::uint64_t const* degree, std::size_t n) {
    space_.fill(first_.data(), 0xff, n * sizeof(graph::vertex_id));
    exec::for_each(space_, n, find_first{label, degree, first_.data()});
  }

  Space space_;
  typename Space::bulk bulk_;
  row_builder<Space> builder_;
  modularity_moves<Space> moves_;
  built_rows<Space> coarse_[2];
  labels spare_[2];
  labels first_;
  exec::large_buffer<std::uint32_t, Space> flag_;
  exec::large_buffer<std::uint64_t, Space> before_;
  exec::large_buffer<std::uint64_t, Space> inside_;
  exec::large_buffer<std::uint64_t, Space> sums_;  // of labels
};

}  // namespace wyrm::algorithms::detail
