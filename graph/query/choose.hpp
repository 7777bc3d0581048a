// SPDX-License-Identifier: Apache-2.0
// Policies that choose the samples of one vertex. Each policy is a functor that a tile calls for one vertex (by
// weights: see choose_by_weight.hpp). All random numbers are functions of the seed, the hop, the position of the vertex
// in its frontier and the number of the draw. The samples depend only on these numbers, so tiles of any size, on any
// space, choose the same samples.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/config.hpp"
#include "../../exec/philox.hpp"
#include "../../exec/tile.hpp"
#include "exponential.hpp"

namespace wyrm::graph::detail {

struct sample_draws {
  std::uint64_t seed;
  std::uint32_t hop;

  /// A uniform random number in [0, n); n > 0. Uses the multiplication of Lemire ("Fast random integer generation in an
  /// interval", ACM TOMACS 2019), and draws again if the product is among the 2^32 mod n lowest ones of an interval.
  [[nodiscard]] WYRM_HD std::uint32_t below(std::uint32_t n, std::uint64_t position, std::uint32_t draw) const {
    for (std::uint32_t attempt = 0;; ++attempt) {
      std::uint64_t const product = std::uint64_t{words(position, draw, attempt).x[0]} * n;
      auto const low = static_cast<std::uint32_t>(product);
      if (low >= n || low >= (0u - n) % n) return static_cast<std::uint32_t>(product >> 32);
    }
  }
  /// The same for numbers of 64 bits.
  [[nodiscard]] WYRM_HD std::uint64_t wide_below(std::uint64_t n, std::uint64_t position, std::uint32_t draw) const {
    for (std::uint32_t attempt = 0;; ++attempt) {
      std::uint64_t const x = bits(position, draw, attempt);
      std::uint64_t const low = x * n;
      if (low >= n || low >= (std::uint64_t{0} - n) % n) return multiply_high(x, n);
    }
  }
  /// 64 random bits.
  [[nodiscard]] WYRM_HD std::uint64_t bits(std::uint64_t position, std::uint32_t draw, std::uint32_t attempt) const {
    exec::four_words const w = words(position, draw, attempt);
    return std::uint64_t{w.x[0]} << 32 | w.x[1];
  }

 private:
  [[nodiscard]] WYRM_HD exec::four_words words(std::uint64_t position, std::uint32_t draw,
                                               std::uint32_t attempt) const {
    return exec::philox(
        {{static_cast<std::uint32_t>(position), static_cast<std::uint32_t>(position >> 32), draw, hop << 16 ^ attempt}},
        static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32));
  }
};

/// k independent draws from a row; none from an empty row.
struct choose_independently {
  static constexpr bool needs_set = false;
  [[nodiscard]] WYRM_HD static std::uint32_t count(std::uint32_t degree, std::uint32_t k) { return degree > 0 ? k : 0; }

  /// Calls emit(j, index in the row) for j = 0 ... count(degree, k) - 1, by one lane each; collective.
  template <class Tile, class Emit>
  WYRM_HD void operator()(Tile const& t, sample_draws const& draws, std::uint64_t position, std::uint32_t degree,
                          std::uint32_t k, std::uint32_t*, std::uint64_t, Emit const& emit) const {
    if (degree == 0) return;
    for (std::uint64_t i = t.rank(); i < k; i += Tile::size()) {  // k may be close to 2^32
      auto const j = static_cast<std::uint32_t>(i);
      emit(j, draws.below(degree, position, j));
    }
  }
};

/// A set of numbers for one tile: a hash table with linear probing, whose size is a power of two and at least twice the
/// number of elements.
class number_set {
 public:
  WYRM_HD number_set(std::uint32_t* slots, std::uint64_t size) : slots_(slots), mask_(size - 1) {}
  /// Collective.
  template <class Tile>
  WYRM_HD void clear(Tile const& t) const {
    for (std::uint64_t s = t.rank(); s <= mask_; s += Tile::size()) slots_[s] = empty;
    t.sync();
  }
  [[nodiscard]] WYRM_HD bool contains(std::uint32_t number) const {
    for (std::uint64_t s = first_slot(number);; s = (s + 1) & mask_) {
      std::uint32_t const found = exec::atomic_ref<std::uint32_t>(slots_[s]).load(exec::relaxed);
      if (found == number || found == empty) return found == number;
    }
  }
  /// Lanes may insert at the same time, but not the same number.
  WYRM_HD void insert(std::uint32_t number) const {
    for (std::uint64_t s = first_slot(number);; s = (s + 1) & mask_) {
      std::uint32_t expected = empty;
      if (exec::atomic_ref<std::uint32_t>(slots_[s]).compare_exchange_strong(expected, number, exec::relaxed,
                                                                             exec::relaxed))
        return;
    }
  }

 private:
  static constexpr std::uint32_t empty = ~std::uint32_t{0};  // no index of a neighbour
  [[nodiscard]] WYRM_HD std::uint64_t first_slot(std::uint32_t number) const {
    return (number * std::uint64_t{0x9e3779b97f4a7c15} >> 32) & mask_;
  }
  std::uint32_t* slots_;
  std::uint64_t mask_;
};

/// k distinct neighbours, all subsets of k equally likely; all of them in order if there are at most k. This is the
/// algorithm of Floyd (Bentley and Floyd, "A sample of brilliance", CACM 1987): draw j selects one of the first
/// d - k + j + 1 indices. If this index is already in the sample, the draw takes its substitute, index d - k + j, which
/// cannot be in the sample yet. The lanes of a tile make draws in parallel. An index is already in the sample if it
/// equals an earlier draw, or the substitute of an earlier draw that took its substitute; a few ballots resolve chains
/// of these. A set contains the draws of earlier rounds of the tile. O(k) draws and steps.
struct choose_subset {
  static constexpr bool needs_set = true;
  [[nodiscard]] WYRM_HD static std::uint32_t count(std::uint32_t degree, std::uint32_t k) {
    return degree < k ? degree : k;
  }

  /// slots: for a number_set of this size; unused if the tile has at least k lanes, or the row at most k entries.
  template <class Tile, class Emit>
  WYRM_HD void operator()(Tile const& t, sample_draws const& draws, std::uint64_t position, std::uint32_t degree,
                          std::uint32_t k, std::uint32_t* slots, std::uint64_t size, Emit const& emit) const {
    if (degree <= k) {
      for (std::uint32_t j = t.rank(); j < degree; j += Tile::size()) emit(j, j);
      return;
    }
    bool const one_round = k <= Tile::size();
    number_set const chosen(slots, size);
    if (!one_round) chosen.clear(t);
    std::uint32_t const common = degree - k;  // the substitute of draw j is common + j
    for (std::uint32_t begin = 0; begin < k; begin += Tile::size()) {
      std::uint32_t const j = begin + t.rank();
      bool const has = j < k;
      std::uint32_t const drawn = has ? draws.below(common + j + 1, position, j) : degree;
      bool repeats = has && begin > 0 && chosen.contains(drawn);
      std::uint32_t const equal = exec::match(t, drawn);
      repeats = repeats || exec::rank_in(t, equal) > 0;
      // Whether the draw equals the substitute of a lower lane, and of which lane.
      bool const depends = has && drawn >= common + begin && drawn < common + j;
      std::uint32_t const other = depends ? drawn - common - begin : 0;
      for (std::uint32_t before = 0;;) {
        std::uint32_t const all = t.ballot(repeats);
        if (all == before) break;
        before = all;
        repeats = repeats || (depends && (all >> other & 1) != 0);
      }
      std::uint32_t const index = repeats ? common + j : drawn;
      if (has) emit(j, index);
      if (one_round) return;
      if (has) chosen.insert(index);
      t.sync();
    }
  }
};

}  // namespace wyrm::graph::detail
