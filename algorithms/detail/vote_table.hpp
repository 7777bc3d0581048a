// SPDX-License-Identifier: Apache-2.0
// Votes for labels, and a hash table of them, with linear probing. Several lanes may vote at the same time. A table has
// 3/2 slots per voter, so it never fills up.
#pragma once

#include <cstdint>
#include <cuda/std/bit>
#include <type_traits>

#include "../../exec/atomic.hpp"
#include "../../exec/tile.hpp"
#include "../../graph/types.hpp"

namespace wyrm::algorithms::detail {

/// A label and its votes. No votes: no label.
template <class Votes>
struct candidate {
  Votes votes = 0;
  graph::vertex_id label = graph::no_vertex;

  /// Replaces this candidate by one that has more votes, or as many and a smaller label.
  WYRM_HD void consider(candidate const& other) {
    if (other.votes > votes || (other.votes == votes && other.label < label)) *this = other;
  }
};

/// The best candidate of all lanes, in every lane; collective.
template <class Tile, class Votes>
[[nodiscard]] WYRM_HD candidate<Votes> best_of(Tile const& t, candidate<Votes> mine) {
  for (unsigned step = Tile::size() / 2; step > 0; step /= 2) mine.consider(t.shfl(mine, t.rank() ^ step));
  return mine;
}

/// A weight as votes, in units of 2^-31 of `scale`, which is the greatest power of two that is at most the largest
/// weight. So the votes of integers are in exact proportion, of whatever type, if none is 2^32 or more; others are
/// rounded. At least 1 for a positive weight, and at most 2^32: the sum of the votes of a vertex fits into 64 bits.
[[nodiscard]] WYRM_HD inline std::uint64_t votes_of_weight(double w, double scale) {
  auto const votes = w > 0 ? static_cast<std::uint64_t>(w / scale * 2147483648.0 + 0.5) : 0;
  return w > 0 && votes == 0 ? 1 : votes;
}

/// Who uses a table at the same time: one thread, the lanes of a tile, in the memory of the tile
/// (exec::for_each_tile_with_memory), or several tiles.
enum class table_users : std::uint8_t { thread, tile, tiles };

template <class Votes>
struct vote_table {
  graph::vertex_id* labels;  // no_vertex: an empty slot, without votes
  Votes* votes;
  std::uint32_t slots;

  /// The number of slots for so many voters.
  [[nodiscard]] WYRM_HD static constexpr std::uint32_t slots_for(std::uint32_t voters) {
    std::uint64_t const slots = std::uint64_t{voters} + voters / 2 + 1;
    return slots < graph::no_vertex ? static_cast<std::uint32_t>(slots) : graph::no_vertex;
  }

  /// Adds votes for a label, which is not no_vertex. Ends because there are more slots than labels, and a slot keeps
  /// its label.
  template <table_users Users>
  WYRM_HD void add(graph::vertex_id label, Votes more) const {
    auto at = static_cast<std::uint32_t>(std::uint64_t{label * 2654435769u} * slots >> 32);
    while (!claim<Users>(at, label)) at = at + 1 < slots ? at + 1 : 0;
    if constexpr (Users == table_users::thread)
      votes[at] += more;
    else
      exec::add_relaxed(votes[at], more);
  }

  /// Moves all labels and votes to the first slots, in any order; returns their number; collective. Only clear() may
  /// follow.
  template <class Tile>
  WYRM_HD std::uint32_t pack(Tile const& t) const {
    std::uint32_t packed = 0;
    for (std::uint32_t base = 0; base < slots; base += Tile::size()) {
      std::uint32_t const i = base + t.rank();
      candidate<Votes> const one = i < slots ? candidate<Votes>{votes[i], labels[i]} : candidate<Votes>{};
      std::uint32_t const who = t.ballot(one.label != graph::no_vertex);
      t.sync();  // all lanes have read
      std::uint32_t const to = packed + exec::rank_in(t, who);
      if (one.label != graph::no_vertex) {
        labels[to] = one.label;
        votes[to] = one.votes;
      }
      packed += static_cast<std::uint32_t>(cuda::std::popcount(who));
    }
    t.sync();
    return packed;
  }

  /// Counts the votes of row[begin ... end): vote(i, row[i]) is that of entry i, without a label if it has none.
  /// Returns the votes for `home`, in every lane, and adds all others to the table; collective. is_alone, for tiles of
  /// one lane: no other tile uses the table at the same time.
  template <table_users Users = table_users::tiles, class Tile, class Row, class F>
  [[nodiscard]] WYRM_HD Votes gather(Tile const& t, Row const& row, std::uint32_t begin, std::uint32_t end,
                                     graph::vertex_id home, bool is_alone, F const& vote) const {
    constexpr std::uint32_t at_once = Tile::size() > 1 ? 4 : 1;  // entries whose loads overlap
    Votes own = 0;
    for (std::uint32_t i = begin + t.rank(); i < end; i += at_once * Tile::size()) {
      graph::vertex_id entry[at_once];
      candidate<Votes> some[at_once];
      for (std::uint32_t k = 0; k < at_once; ++k) {
        std::uint32_t const at = i + k * Tile::size();
        entry[k] = row[at < end ? at : i];
      }
      for (std::uint32_t k = 0; k < at_once; ++k) {
        std::uint32_t const at = i + k * Tile::size();
        some[k] = vote(at < end ? at : i, entry[k]);
        if (at >= end) some[k].label = graph::no_vertex;
      }
      for (candidate<Votes> const& one : some) {
        if (one.label == graph::no_vertex) continue;
        if (one.label == home)
          own += one.votes;
        else if (Tile::size() > 1 || !is_alone)
          add<Users>(one.label, one.votes);
        else
          add<table_users::thread>(one.label, one.votes);
      }
    }
    return exec::sum(t, own);
  }

  /// Empties the table; collective.
  template <class Tile>
  WYRM_HD void clear(Tile const& t) const {
    for (std::uint32_t i = t.rank(); i < slots; i += Tile::size()) {
      labels[i] = graph::no_vertex;
      votes[i] = 0;
    }
  }

  /// The best candidate among the slots from `begin` to `end`, which are emptied; collective. All votes have been added
  /// before, by this tile before its last sync(), or by an earlier kernel.
  template <class Tile>
  [[nodiscard]] WYRM_HD candidate<Votes> take(Tile const& t, std::uint32_t begin, std::uint32_t end) const {
    candidate<Votes> best;
    for (std::uint32_t i = begin + t.rank(); i < end; i += Tile::size()) {
      graph::vertex_id const label = exec::atomic_ref<graph::vertex_id>(labels[i]).load(exec::relaxed);
      if (label == graph::no_vertex) continue;
      best.consider({exec::atomic_ref<Votes>(votes[i]).load(exec::relaxed), label});
      labels[i] = graph::no_vertex;
      votes[i] = 0;
    }
    return best_of(t, best);
  }

 private:
  // Whether slot `at` has this label, which an empty slot gets.
  template <table_users Users>
  [[nodiscard]] WYRM_HD bool claim(std::uint32_t at, graph::vertex_id label) const {
    graph::vertex_id there = graph::no_vertex;
    if constexpr (Users == table_users::thread) {
      there = labels[at];
      if (there == graph::no_vertex) labels[at] = label;
    } else {  // in the memory of a tile, the exchange takes no longer than a load
      if constexpr (Users == table_users::tiles)
        there = exec::atomic_ref<graph::vertex_id>(labels[at]).load(exec::relaxed);
      if (there == graph::no_vertex) there = exec::exchange_if_relaxed(labels[at], graph::no_vertex, label);
    }
    return there == graph::no_vertex || there == label;
  }
};

}  // namespace wyrm::algorithms::detail
