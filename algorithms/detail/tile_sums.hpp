// SPDX-License-Identifier: Apache-2.0
// Sums over all tiles of a launch, in a fixed order, without another launch and without a wait.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/tile.hpp"

namespace wyrm::algorithms::detail {

/// Memory for Count sums over all tiles of a launch. The tile that finishes last adds up the sums of all tiles.
template <unsigned Count>
struct tile_sums {
  static constexpr std::size_t most = 1024;  // greatest number of tiles
  static constexpr std::size_t size = Count * most;

  double* totals;          // `size` numbers
  std::uint32_t* arrived;  // tiles that have finished their sums; 0 between launches

  /// The number of tiles for sums of `count` values, by tiles of `lanes` lanes, and at least `least` tiles, if there
  /// may be so many. Which tiles have values to add does not depend on the number of tiles.
  [[nodiscard]] static std::uint32_t tiles(std::size_t count, std::size_t lanes, std::size_t least = 1) {
    std::size_t const wanted = (count + lanes - 1) / lanes;
    std::size_t const enough = wanted > least ? wanted : least;
    return static_cast<std::uint32_t>(enough < most ? (enough > 0 ? enough : 1) : most);
  }

  /// Adds up sums[] over all lanes of all tiles of a launch, each of which calls this once; collective. Returns true in
  /// the tile that is last, and there all lanes have the totals in sums[].
  template <class Tile>
  [[nodiscard]] WYRM_HD bool add_up(Tile const& t, std::size_t tile, std::uint32_t tiles, double (&sums)[Count]) const {
    for (unsigned k = 0; k < Count; ++k) sums[k] = exec::sum(t, sums[k]);
    std::uint32_t before = 0;
    if (t.rank() == 0) {
      for (unsigned k = 0; k < Count; ++k) totals[k * most + tile] = sums[k];
      before = exec::atomic_ref<std::uint32_t>(*arrived).fetch_add(1, exec::acq_rel);
    }
    if (t.shfl(before, 0) + 1 < tiles) return false;
    t.sync();
    for (double& sum : sums) sum = 0;
    constexpr unsigned at_once = 4;  // loads of each sum that are issued before the first one returns
    for (std::size_t i = t.rank(); i < tiles; i += at_once * Tile::size()) {
      double loaded[at_once][Count];
      for (unsigned a = 0; a < at_once; ++a)
        for (unsigned k = 0; k < Count; ++k)
          loaded[a][k] = i + a * Tile::size() < tiles ? totals[k * most + i + a * Tile::size()] : 0;
      for (unsigned k = 0; k < Count; ++k)
        for (unsigned a = 0; a < at_once; ++a) sums[k] += loaded[a][k];
    }
    for (double& sum : sums) sum = exec::sum(t, sum);
    if (t.rank() == 0) *arrived = 0;
    return true;
  }
};

/// Calls add(value(i)) for each i in [0, n) that belongs to the calling lane, one of `lanes`, in the order of i.
/// value() is called for several i before the first add(), so that a device waits for all of their loads together.
template <class Tile, class Value, class Add>
WYRM_HD void add_in_order(Tile const&, std::size_t lane, std::size_t lanes, std::size_t n, Value const& value,
                          Add const& add) {
  constexpr unsigned at_once = Tile::size() > 1 ? 8 : 1;
  for (std::size_t i = lane; i < n; i += at_once * lanes) {
    decltype(value(i)) values[at_once] = {};
    for (unsigned k = 0; k < at_once; ++k)
      if (i + k * lanes < n) values[k] = value(i + k * lanes);
    for (unsigned k = 0; k < at_once; ++k)
      if (i + k * lanes < n) add(values[k]);
  }
}

}  // namespace wyrm::algorithms::detail
