// SPDX-License-Identifier: Apache-2.0
// Votes for labels, and a hash table of them, with linear probing. Several lanes may vote at the same time. A table has
// 3/2 slots per voter, so it never fills up.
#pragma once

#include <cstdint>
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

  /// Adds votes for a label, which is not no_vertex. Shared: other threads use the table at the same time. Ends because
  /// there are more slots than labels, and a slot keeps its label.
  template <bool Shared>
  WYRM_HD void add(graph::vertex_id label, Votes more) const {
    auto at = static_cast<std::uint32_t>(std::uint64_t{label * 2654435769u} * slots >> 32);
    while (!claim<Shared>(at, label)) at = at + 1 < slots ? at + 1 : 0;
    if constexpr (Shared)
      exec::add_relaxed(votes[at], more);
    else
      votes[at] += more;
  }

  /// Adds the votes of another table, which no thread changes; collective. Other tiles may add votes at the same time.
  template <class Tile>
  WYRM_HD void add_all(Tile const& t, vote_table const& from) const {
    for (std::uint32_t i = t.rank(); i < from.slots; i += Tile::size())
      if (from.labels[i] != graph::no_vertex) add<true>(from.labels[i], from.votes[i]);
  }

  /// Counts the votes of row[begin ... end): vote(i, row[i]) is that of entry i, without a label if it has none.
  /// Returns the votes for `home`, in every lane, and adds all others to the table; collective. is_alone: no other tile
  /// uses the table at the same time.
  template <class Tile, class Row, class F>
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
          add<true>(one.label, one.votes);
        else
          add<false>(one.label, one.votes);
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
  template <bool Shared>
  [[nodiscard]] WYRM_HD bool claim(std::uint32_t at, graph::vertex_id label) const {
    if constexpr (Shared) {
      graph::vertex_id there = exec::atomic_ref<graph::vertex_id>(labels[at]).load(exec::relaxed);
      if (there == graph::no_vertex) there = exec::exchange_if_relaxed(labels[at], graph::no_vertex, label);
      return there == graph::no_vertex || there == label;
    } else {
      if (labels[at] == graph::no_vertex) labels[at] = label;
      return labels[at] == label;
    }
  }
};

}  // namespace wyrm::algorithms::detail
