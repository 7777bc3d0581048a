// SPDX-License-Identifier: Apache-2.0
// More levels under the map equation (Rosvall and Bergstrom, PLoS ONE 6, e18209, 2011). The index of the modules is
// replaced by modules of modules: a module of the next level has a code book with a code word for each module in it,
// used when it is entered, and one for the exit. This is the map equation on the graph of modules without self-loops,
// where a module is visited when it is entered. So modules of modules are found by the same moves and merges, for as
// many levels as shorten the code.
//
// In a hierarchy the index of a module is cheaper, so smaller modules can pay. So the modules of the first level are
// divided where that shortens the code, with an index for each divided module. Then either the parts become a level
// below all others, or all levels above the parts are found again, whichever is shorter. This is repeated while the
// code gets shorter. A module that is the same at two levels has one code book, so branches may have different depths.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "../../exec/atomic.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../../graph/types.hpp"
#include "../../graph/view.hpp"
#include "exit_flows.hpp"
#include "label_merging.hpp"
#include "labels.hpp"
#include "move_round.hpp"
#include "objectives.hpp"
#include "weighted_rows.hpp"

namespace wyrm::algorithms::detail {

/// The flows into and out of a module of a directed graph, from the weight of its entries and the sums of the flows of
/// its vertices.
struct find_module_flows {
  std::uint64_t const* exits;
  std::uint64_t const* volume;
  std::uint64_t* flows;
  WYRM_HD void operator()(std::size_t m) const {
    std::uint64_t const enter = code_terms::entering(exits[m], volume[m]);
    flows[m] = directed_visits(enter, exits[m] - enter);
  }
};

/// The set of each label, whose vertices are all in this set.
struct lift_sets {
  graph::vertex_id const* label;
  graph::vertex_id const* set;
  graph::vertex_id* of_label;
  WYRM_HD void operator()(std::size_t v) const {
    exec::atomic_ref<graph::vertex_id>(of_label[label[v]]).store(set[v], exec::relaxed);
  }
};

/// Sums over a module and its parts.
struct division {
  std::uint64_t exits;  // of the module
  std::uint64_t volume;
  std::uint64_t book;      // exits of the module and of its parts
  std::uint64_t cost;      // of its parts
  graph::vertex_id first;  // its smallest vertex

  /// By how much the code gets shorter if the module is divided.
  [[nodiscard]] WYRM_HD std::int64_t gain(code_terms const& terms) const {
    return volume == 0 ? 0 : terms.whole(exits, volume) - terms.index(book) - static_cast<std::int64_t>(cost);
  }
};

/// Adds a part, whose label is one of its vertices, to its module.
struct add_up_parts {
  code_terms terms;
  std::uint64_t const* exits;   // of parts
  std::uint64_t const* volume;  // of parts
  graph::vertex_id const* module;
  division* divisions;
  WYRM_HD void operator()(std::size_t i) const {
    division& d = divisions[module[i]];
    if (volume[i] > 0) {
      exec::atomic_ref<std::uint64_t>(d.volume).fetch_add(volume[i], exec::relaxed);
      exec::atomic_ref<std::uint64_t>(d.book).fetch_add(exits[i], exec::relaxed);
      exec::atomic_ref<std::uint64_t>(d.cost).fetch_add(static_cast<std::uint64_t>(terms.module(exits[i], volume[i])),
                                                        exec::relaxed);
    }
    auto const own = static_cast<graph::vertex_id>(i);
    if (own < exec::load_recent(d.first)) exec::atomic_ref<graph::vertex_id>(d.first).fetch_min(own, exec::relaxed);
  }
};

/// Adds the exits of a module to its own index.
struct add_module_exits {
  std::uint64_t const* exits;
  division* divisions;
  WYRM_HD void operator()(std::size_t m) const {
    divisions[m].exits = exits[m];
    divisions[m].book += exits[m];
  }
};

struct init_divisions {
  division* divisions;
  WYRM_HD void operator()(std::size_t m) const { divisions[m] = {0, 0, 0, 0, graph::no_vertex}; }
};

/// Labels the vertices of a module by its smallest vertex, unless its parts have a shorter code.
struct join_parts {
  code_terms terms;
  division const* divisions;
  graph::vertex_id const* module;
  graph::vertex_id* label;
  WYRM_HD void operator()(std::size_t v) const {
    division const d = divisions[module[v]];
    if (d.gain(terms) <= 0) label[v] = d.first;
  }
};

/// By how much the code gets shorter if a module is divided; 0 if it does not.
struct find_division_gains {
  code_terms terms;
  division const* divisions;
  std::uint64_t* gains;
  WYRM_HD void operator()(std::size_t m) const {
    division const d = divisions[m];
    std::int64_t const gain = d.gain(terms);
    gains[m] = gain > 0 ? static_cast<std::uint64_t>(gain) : 0;
  }
};

/// The cost of the code book of a module with one module in it, which does not exist; else 0.
struct find_unused_books {
  code_terms terms;
  std::uint64_t const* exits;  // of modules, as `mass` and `upper`
  std::uint64_t const* mass;
  graph::vertex_id const* upper;
  std::uint64_t const* modules_in;  // of each upper module
  std::uint64_t* costs;
  WYRM_HD void operator()(std::size_t m) const {
    costs[m] = modules_in[upper[m]] == 1 ? static_cast<std::uint64_t>(terms.module(exits[m], mass[m])) : 0;
  }
};

/// Owns the graphs of modules, with up to 16 bytes per arc, and scratch memory: about 90 bytes per vertex.
template <class Space>
class module_hierarchy {
 public:
  using labels = exec::large_buffer<graph::vertex_id, Space>;
  struct result {
    std::vector<std::vector<std::uint32_t>> levels;  // labels of vertices, from the finest to the coarsest
    std::int64_t saved = 0;                          // of the code with two levels for the finest labels
    bool converged = true;
  };

  explicit module_hierarchy(Space const& space)
      : space_(space),
        bulk_(space),
        modules_{built_rows<Space>(space), built_rows<Space>(space)},
        flows_{exec::large_buffer<std::uint64_t, Space>(space), exec::large_buffer<std::uint64_t, Space>(space)},
        upper_{labels(space), labels(space)},
        composed_(space),
        parts_(space),
        set_of_label_(space),
        exits_(space),
        divisions_(space) {}

  /// Finds at most `most` levels: the modules of a clustering or parts of them, and levels above. Replaces the labels
  /// of the clustering, which are numbered, by those of the finest level. rules: of the map equation, with the masses
  /// of vertices if it is directed. count: of labels.
  result find(label_merging<Space>& merging, weighted_rows const& rows, graph::vertex_id* label, graph::vertex_id count,
              move_rules const& rules, std::uint32_t most) {
    std::size_t const n = rows.g.vertices();
    for (labels* l : {&upper_[0], &upper_[1], &composed_, &parts_, &set_of_label_}) l->reserve(n);
    for (auto* values : {&flows_[0], &flows_[1], &exits_}) values->reserve(n);
    divisions_.reserve(n);
    converged_ = true;
    hierarchy best = build(merging, rows, label, count, rules, most);
    for (unsigned pass = 0;; ++pass) {
      division_result const parts = divide(merging, rows, label, rules);
      if (parts.count == count) break;
      if (pass == max_passes) {
        converged_ = false;
        break;
      }
      hierarchy next = build(merging, rows, parts_.data(), parts.count, rules, most);
      if (best.levels.size() < most && best.cost - parts.gain < next.cost) {
        next.levels.resize(1);
        next.levels.insert(next.levels.end(), best.levels.begin(), best.levels.end());
        next.cost = best.cost - parts.gain;
      }
      if (next.cost >= best.cost) break;
      best = std::move(next);
      count = parts.count;
      space_.copy(label, parts_.data(), n * sizeof(graph::vertex_id));
    }
    return {std::move(best.levels), best.flat - best.cost, converged_};
  }

 private:
  static constexpr unsigned max_passes = 16;

  struct hierarchy {
    std::vector<std::vector<std::uint32_t>> levels;
    std::int64_t flat;  // cost of all books with two levels
    std::int64_t cost;
  };

  // Finds levels above labels, which are numbered.
  hierarchy build(label_merging<Space>& merging, weighted_rows const& rows, graph::vertex_id const* label,
                  graph::vertex_id count, move_rules rules, std::uint32_t most) {
    std::size_t const vertices = rows.g.vertices();
    std::int64_t const flat = merging.cost_of_books(rows, label, rules);
    hierarchy found{{exec::copy_out(space_, label, vertices)}, flat, flat};
    space_.copy(composed_.data(), label, vertices * sizeof(graph::vertex_id));
    weighted_rows from = rows;
    graph::vertex_id const* of = label;
    for (unsigned level = 0; found.levels.size() < most; ++level) {
      std::size_t const n = from.g.vertices();
      built_rows<Space>& modules = modules_[level % 2];
      merging.builder().coarsen(from, of, count, modules);
      modules.drop_loops();
      weighted_rows const next = modules.view();
      std::uint64_t const exits = merging.moves().prepare(next);
      if (rules.terms.directed) {
        std::uint64_t* const flows = flows_[level % 2].data();
        std::uint64_t const* const volume = merging.sum(rules.mass, of, n);
        exec::for_each(space_, count, find_module_flows{merging.moves().degrees(), volume, flows});
        rules.mass = flows;
      }
      graph::vertex_id* const upper = upper_[level % 2].data();
      exec::for_each(space_, count, init_labels{upper});
      settle(merging, next, upper, rules, nullptr);
      graph::vertex_id const left = merging.number(upper, count);
      std::int64_t const saved = rules.terms.index(exits) - merging.cost_of_books(next, upper, rules) +
                                 cost_of_unused_books(merging, upper, count, rules);
      if (left == count || saved <= 0) break;
      found.cost -= saved;
      exec::for_each(space_, vertices, compose_labels{composed_.data(), upper});
      found.levels.push_back(exec::copy_out(space_, composed_.data(), vertices));
      from = next;
      of = upper;
      count = left;
    }
    return found;
  }
  struct division_result {
    graph::vertex_id count;  // of parts
    std::int64_t gain;       // of a level of parts below the modules
  };
  // Sets parts_ to labels of parts of modules, numbered.
  division_result divide(label_merging<Space>& merging, weighted_rows const& rows, graph::vertex_id const* module,
                         move_rules rules) {
    std::size_t const n = rows.g.vertices();
    graph::vertex_id* const part = parts_.data();
    exec::for_each(space_, n, init_labels{part});
    settle(merging, rows, part, rules, module);
    modularity_moves<Space>& moves = merging.moves();
    moves.prepare(rows);
    merging.relabel_by_first(part, n);
    std::uint64_t const* const mass = rules.terms.directed ? rules.mass : moves.degrees();
    exec::for_each(space_, n, init_divisions{divisions_.data()});
    add_up(moves, rows, part);
    exec::for_each(
        space_, n,
        add_up_parts{rules.terms, exits_.data(), moves.compute_volumes(mass, part, n), module, divisions_.data()});
    add_up(moves, rows, module);
    exec::for_each(space_, n, add_module_exits{exits_.data(), divisions_.data()});
    exec::for_each(space_, n, join_parts{rules.terms, divisions_.data(), module, part});
    exec::for_each(space_, n, find_division_gains{rules.terms, divisions_.data(), exits_.data()});
    return {merging.number(part, n), static_cast<std::int64_t>(bulk_.sum(exits_.data(), n))};
  }
  // After cost_of_books(): the cost of books of upper modules that have one module in them.
  std::int64_t cost_of_unused_books(label_merging<Space>& merging, graph::vertex_id const* upper, std::size_t count,
                                    move_rules const& rules) {
    std::uint64_t const* const degrees = merging.moves().degrees();
    exec::for_each(space_, count,
                   find_unused_books{rules.terms, degrees, rules.terms.directed ? rules.mass : degrees, upper,
                                     merging.count(upper, count), exits_.data()});
    return static_cast<std::int64_t>(bulk_.sum(exits_.data(), count));
  }
  // Sets exits_ to the exits of labels.
  void add_up(modularity_moves<Space>& moves, weighted_rows const& rows, graph::vertex_id const* label) {
    space_.fill(exits_.data(), 0, rows.g.vertices() * sizeof(std::uint64_t));
    for_each_item<8>(space_, moves.now().view(), add_up_exits{rows, label, exits_.data()});
  }
  // Vertices move and labels are merged in turn, within sets of vertices if they are given, until neither changes
  // anything.
  void settle(label_merging<Space>& merging, weighted_rows const& rows, graph::vertex_id* label, move_rules rules,
              graph::vertex_id const* set) {
    std::size_t const n = rows.g.vertices();
    std::uint64_t const* const mass = rules.mass;
    for (unsigned pass = 0; pass < max_passes; ++pass) {
      rules.mass = mass;
      rules.within = set;
      merging.moves().prepare(rows);
      merging.relabel_by_first(label, n);
      auto const moved = merging.moves().run(rows, label, label_merging<Space>::max_rounds, rules);
      converged_ = converged_ && moved.ended;
      if (moved.count == 0 && pass > 0) return;
      auto const done = merging.merge(rows, label, rules, [&](graph::vertex_id) {
        if (mass != nullptr) rules.mass = merging.sum(mass, label, n);
        if (set == nullptr) return;
        exec::for_each(space_, n, lift_sets{label, set, set_of_label_.data()});
        rules.within = set_of_label_.data();
      });
      converged_ = converged_ && done.converged;
      if (!done.merged) return;
    }
    converged_ = false;
  }

  Space space_;
  typename Space::bulk bulk_;
  built_rows<Space> modules_[2];
  exec::large_buffer<std::uint64_t, Space> flows_[2];
  labels upper_[2];
  labels composed_;
  labels parts_;
  labels set_of_label_;
  exec::large_buffer<std::uint64_t, Space> exits_;
  exec::large_buffer<division, Space> divisions_;
  bool converged_ = true;
};

}  // namespace wyrm::algorithms::detail
