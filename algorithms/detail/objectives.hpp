// SPDX-License-Identifier: Apache-2.0
// The objectives that moves of vertices improve (move_round.hpp), in integers, so that comparisons are exact and sums
// do not depend on the order of additions.
//
// Modularity (Newman and Girvan, 2004) and the constant Potts model (Traag, Van Dooren, Nesterov, Phys. Rev. E 84,
// 016114, 2011) are quadratic: links inside communities, minus a multiple of the squares of their masses, which are
// sums of degrees or numbers of vertices.
//
// The map equation (Rosvall and Bergstrom, PNAS 105, 2008; Rosvall, Axelsson, Bergstrom, Eur. Phys. J. Special Topics
// 178, 2009) is the mean length of the code word of a step of a random walk. Let T be the sum of all degrees d, E the
// weight of all arcs between modules, e and m the weight of arcs that leave a module and the sum of its degrees, and
// f(x) = x log2 x. A walk on an undirected graph visits a vertex in a fraction d / T of its steps, so the codelength
// times T is f(E) + sum over modules (f(e + m) - 2 f(e)) - sum over vertices f(d); the terms with log T cancel out.
//
// On a directed graph (arc_flows.hpp) the flows a and e into and out of a module may differ, and so may those into and
// out of a vertex, i and o. T is the sum of all flows, A the flow between modules, and m the sum of the i of a module.
// The codelength times T is f(A) + sum over modules (f(e + m) - f(e) - f(a)) - sum over vertices f(i). Rows are
// symmetric: they have the sums of the flows in both directions, so a + e is the weight of the entries that leave a
// module. And a - e is the sum of i - o over its vertices, because flows within the module cancel out.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/config.hpp"
#include "../../exec/tile.hpp"
#include "../../graph/query/exponential.hpp"
#include "../../graph/types.hpp"
#include "../../graph/view.hpp"
#include "frontier.hpp"
#include "weighted_rows.hpp"

namespace wyrm::algorithms::detail {

constexpr double flow_log_unit = 0x1p-20;

/// x log2 x for x < 2^33, in units of 2^-20. It differs from the exact value by at most x 2^-42 + 2^-20 (see
/// negative_log2). So a codelength is exact up to 2^-17 bits: the arguments of its terms have a sum of at most 6 T, and
/// it has at most 4 T terms. Moves compare the sums of these integers, which differ from one clustering to the other
/// by the same integer on each path of moves.
[[nodiscard]] WYRM_HD inline std::int64_t flow_log(std::uint64_t x) {
  constexpr std::uint64_t log2_of_2_34 = std::uint64_t{34} << 57;
  return static_cast<std::int64_t>(
      graph::detail::multiply_high(x << 27, log2_of_2_34 - graph::detail::negative_log2(x << 30)));
}

/// The flows into and out of a vertex of a directed graph, or their sums over a module, as one number, so that one
/// atomic operation adds to both. Each of them is less than 2^32.
[[nodiscard]] WYRM_HD inline std::uint64_t directed_visits(std::uint64_t in, std::uint64_t out) {
  return in << 32 | out;
}

/// The terms of the codelength; see above.
struct code_terms {
  bool directed = false;

  /// exits: weight of the entries that leave a module; volume: the sum of its degrees, or of directed_visits().
  [[nodiscard]] WYRM_HD std::int64_t module(std::uint64_t exits, std::uint64_t volume) const {
    if (!directed) return exits + volume == 0 ? 0 : flow_log(exits + volume) - 2 * flow_log(exits);
    std::uint64_t const enter = entering(exits, volume);
    return flow_log(exits - enter + (volume >> 32)) - flow_log(exits - enter) - flow_log(enter);
  }
  /// exits: the sum over all modules.
  [[nodiscard]] WYRM_HD std::int64_t index(std::uint64_t exits) const { return flow_log(directed ? exits / 2 : exits); }
  [[nodiscard]] WYRM_HD std::int64_t vertex(std::uint64_t mass) const { return flow_log(directed ? mass >> 32 : mass); }
  /// The cost of a module that is not divided, if it is a part of another one; without the term of its own exits.
  [[nodiscard]] WYRM_HD std::int64_t whole(std::uint64_t exits, std::uint64_t volume) const {
    return directed ? flow_log(exits - entering(exits, volume) + (volume >> 32)) : flow_log(exits + volume);
  }
  /// T, by which a cost is divided. total: the sum of all entries of the rows, which have the flow of an arc of a
  /// directed graph twice.
  [[nodiscard]] double steps(std::uint64_t total) const { return static_cast<double>(total) / (directed ? 2 : 1); }
  /// The flow into a module of a directed graph.
  [[nodiscard]] WYRM_HD static std::uint64_t entering(std::uint64_t exits, std::uint64_t volume) {
    return (exits + (volume >> 32) - (volume & 0xffffffffu)) / 2;
  }
};

/// Modularity or the constant Potts model. Gains are links * (difference of links) - chance * (mass of the vertex) *
/// (difference of masses).
struct quadratic_objective {
  std::uint64_t links = 0;
  std::uint64_t chance = 0;

  /// The moves of one vertex.
  struct leaving {
    std::uint64_t const* volume;
    std::int64_t links;
    std::int64_t chance;  // times its mass
    std::int64_t own;     // links to its own community
    std::int64_t left;    // mass of the others in it
    /// What the gain depends on of a community. It is loaded separately, so that loads of several overlap.
    struct community {
      std::uint64_t volume;
    };
    [[nodiscard]] WYRM_HD community look(graph::vertex_id to) const { return {volume[to]}; }
    [[nodiscard]] WYRM_HD std::int64_t gain(community const& there, std::uint32_t weight) const {
      return (static_cast<std::int64_t>(weight) - own) * links -
             chance * (static_cast<std::int64_t>(there.volume) - left);
    }
    [[nodiscard]] WYRM_HD std::int64_t gain(graph::vertex_id to, std::uint32_t weight) const {
      return gain(look(to), weight);
    }
  };
  /// What the moves of v depend on, except for its links. It is loaded before these are known.
  struct home {
    std::uint64_t mass;
    std::uint64_t volume;
  };
  template <class Round>
  [[nodiscard]] WYRM_HD home look_home(Round const& r, graph::vertex_id v) const {
    return {r.mass[v], r.volume[r.label[v]]};
  }
  /// own_links: weight of the arcs of the vertex to its own community.
  template <class Round>
  [[nodiscard]] WYRM_HD leaving from(Round const& r, home const& at, std::uint32_t own_links) const {
    auto const mass = static_cast<std::int64_t>(at.mass);
    return {r.volume, static_cast<std::int64_t>(links), static_cast<std::int64_t>(chance) * mass, own_links,
            static_cast<std::int64_t>(at.volume) - mass};
  }
  /// By how much the joint gain of a move can fall short because of other vertices with the mass `others`, which leave
  /// the same community or enter the same one.
  template <class Round>
  [[nodiscard]] WYRM_HD std::uint64_t charge(Round const& r, graph::vertex_id v, std::uint64_t others) const {
    return r.mass[v] * others * chance;
  }
};

/// `resolution` times the squares of masses are subtracted, divided by `base`: the sum of all degrees for modularity,
/// the weight of an edge for the constant Potts model. The ratio of `links` and `chance` is base / resolution. Both are
/// as large as 64 bits of gains permit, because `links` is rounded. total: sum of all degrees; mass: sum of all masses;
/// both at most 2^31. Returns chance = 0 if the resolution is less than least_resolution().
[[nodiscard]] inline quadratic_objective make_quadratic(double base, double resolution, double total, double mass) {
  if (resolution == 1 && base == total && mass == total) return {static_cast<std::uint64_t>(total), 1};
  double const most = std::fmin(0x1p62 / mass / mass, 0x1p62 / total / base * resolution);
  if (most < 1) return {};
  double const enough = 0x1p30 * std::fmax(1.0, resolution / base);
  std::uint64_t const chance = std::bit_floor(static_cast<std::uint64_t>(std::fmin(most, enough)));
  return {static_cast<std::uint64_t>(base * static_cast<double>(chance) / resolution + 0.5), chance};
}
[[nodiscard]] inline double least_resolution(double base, double total) { return total * base / 0x1p62; }

/// The map equation.
struct map_objective {
  std::uint64_t const* outside = nullptr;  // of each vertex: weight of its arcs to others
  std::uint64_t* exits = nullptr;          // of each module: weight of its arcs to others
  std::uint64_t all_exits = 0;
  code_terms terms{};
  graph::vertex_id const* within = nullptr;  // see move_rules
  std::uint64_t* books = nullptr;            // of each set: its own exits, and those of its modules

  /// The exits in the index that has the module of v.
  [[nodiscard]] WYRM_HD std::uint64_t book(graph::vertex_id v) const {
    return within == nullptr ? all_exits : books[within[v]];
  }

  struct leaving {
    code_terms terms;
    std::uint64_t const* volume;
    std::uint64_t const* exits;
    std::uint64_t mass;
    std::uint64_t outside;
    std::uint64_t all_exits;  // in the index, plus twice the links to its own module
    std::int64_t saved;       // by leaving, and by the term of all exits
    struct community {
      std::uint64_t exits;
      std::uint64_t volume;
    };
    [[nodiscard]] WYRM_HD community look(graph::vertex_id to) const { return {exits[to], volume[to]}; }
    [[nodiscard]] WYRM_HD std::int64_t gain(community const& there, std::uint32_t weight) const {
      std::uint64_t const links = 2 * std::uint64_t{weight};
      return saved + terms.module(there.exits, there.volume) -
             terms.module(there.exits + outside - links, there.volume + mass) - terms.index(all_exits - links);
    }
    [[nodiscard]] WYRM_HD std::int64_t gain(graph::vertex_id to, std::uint32_t weight) const {
      return gain(look(to), weight);
    }
  };
  struct home {
    std::uint64_t mass;
    std::uint64_t volume;
    std::uint64_t exits;
    std::uint64_t outside;
    std::uint64_t book;
  };
  template <class Round>
  [[nodiscard]] WYRM_HD home look_home(Round const& r, graph::vertex_id v) const {
    graph::vertex_id const own = r.label[v];
    return {r.mass[v], r.volume[own], exits[own], outside[v], book(v)};
  }
  template <class Round>
  [[nodiscard]] WYRM_HD leaving from(Round const& r, home const& at, std::uint32_t own_links) const {
    std::uint64_t const links = 2 * std::uint64_t{own_links};
    std::int64_t const left = terms.module(at.exits + links - at.outside, at.volume - at.mass);
    return {terms,
            r.volume,
            exits,
            at.mass,
            at.outside,
            at.book + links,
            terms.module(at.exits, at.volume) - left + terms.index(at.book)};
  }
  template <class Round>
  [[nodiscard]] WYRM_HD std::uint64_t charge(Round const&, graph::vertex_id, std::uint64_t) const {
    return 0;
  }
};

}  // namespace wyrm::algorithms::detail
