// SPDX-License-Identifier: Apache-2.0
// The launches: for_each, for_each_tile, the same with a table or with memory for each tile, for_each_block, and
// for_team; and the adapter for_each_lane. Work is a functor (it cannot be a lambda under nvcc), which is called once
// for each index, in any order and concurrently.
// Launches are asynchronous where the space is asynchronous. Launches and copies on the same space execute in the order
// of their calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "config.hpp"
#include "error.hpp"

namespace wyrm::exec {

/// Whether tiles of a space have several lanes, as on a device. Otherwise each thread is a tile of one lane.
template <class Space>
inline constexpr bool has_tiles = Space::template tile_size<32> > 1;

/// Calls f(i) for each i in [0, n), by one thread each.
template <class Space, class F>
void for_each(Space const& space, std::size_t n, F const& f) {
  if (n > 0) space.run(n, f);
}

/// Calls f(tile, i) for each i in [0, n), by all lanes of a tile of W lanes (one lane on a host).
template <unsigned W, class Space, class F>
void for_each_tile(Space const& space, std::size_t n, F const& f) {
  static_assert(W >= 1 && W <= 32 && (W & (W - 1)) == 0, "a tile has 1, 2, 4, 8, 16 or 32 lanes");
  if (n > 0) space.run_tiles(std::integral_constant<unsigned, W>{}, n, f);
}

namespace detail {
template <class F>
struct one_item_per_lane {
  static constexpr unsigned resident_blocks = resident_blocks_of<F>();
  static constexpr std::size_t grain = grain_of<F>();
  std::size_t n;
  F f;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t group) const {
    std::size_t const i = group * Tile::size() + t.rank();
    f(t, i, i < n);
  }
};
}  // namespace detail

/// Calls f(tile, i, valid) with one index per lane, so that the lanes of a tile can process their items cooperatively.
/// All lanes of a tile make the call; lanes beyond the end have valid == false.
template <unsigned W, class Space, class F>
void for_each_lane(Space const& space, std::size_t n, F const& f) {
  constexpr unsigned lanes = Space::template tile_size<W>;
  for_each_tile<W>(space, (n + lanes - 1) / lanes, detail::one_item_per_lane<F>{n, f});
}

/// The number of values of type T that for_each_tile_with_table() can share; 0 on a space whose tiles share no memory.
template <class T, class Space>
[[nodiscard]] std::size_t table_capacity(Space const& space) {
  if constexpr (requires { space.table_bytes(); })
    return space.table_bytes() / sizeof(T);
  else
    return 0;
}

namespace detail {
template <class T, class F>
struct with_table {
  static constexpr std::size_t grain = grain_of<F>();
  T const* values;
  F f;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i) const {
    f(t, i, values);
  }
};
}  // namespace detail

/// Calls f(tile, i, table) for each i in [0, n), by all lanes of a tile of W lanes. `table` points to values[0 ...
/// count); on a device to a copy in the shared memory of a block, which serves random loads several times as fast as
/// the L2 cache. There count is at most table_capacity(). Use it for work that is much larger than these copies; each
/// multiprocessor makes one. Throws error(bad_argument) unless `values` is aligned to 16 bytes.
template <unsigned W, class Space, class T, class F>
void for_each_tile_with_table(Space const& space, std::size_t n, T const* values, std::size_t count, F const& f) {
  if (reinterpret_cast<std::uintptr_t>(values) % 16 != 0)
    throw error(error_code::bad_argument,
                "for_each_tile_with_table: the values are not aligned to 16 bytes, which a "
                "device reads at a time; make their address a multiple of 16");
  if (n == 0) return;
  if constexpr (requires { space.run_tiles_with_table(std::integral_constant<unsigned, W>{}, n, values, count, f); })
    space.run_tiles_with_table(std::integral_constant<unsigned, W>{}, n, values, count, f);
  else
    for_each_tile<W>(space, n, detail::with_table<T, F>{values, f});
}

namespace detail {
template <std::size_t Bytes, class F>
struct with_memory {
  static constexpr std::size_t grain = grain_of<F>();
  F f;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i) const {
    alignas(16) std::byte memory[Bytes];
    f(t, i, memory);
  }
};
}  // namespace detail

/// Calls f(tile, i, memory) for each i in [0, n), by all lanes of a tile of W lanes. `memory` points to Bytes bytes,
/// aligned to 16, which only these lanes use during the call; they are not initialised. On a device they are in the
/// shared memory of a block of 256 threads, which has at most 48 KiB.
template <unsigned W, std::size_t Bytes, class Space, class F>
void for_each_tile_with_memory(Space const& space, std::size_t n, F const& f) {
  static_assert(Bytes > 0 && Bytes % 16 == 0);
  if (n == 0) return;
  if constexpr (has_tiles<Space>)
    space.run_tiles_with_memory(std::integral_constant<unsigned, W>{}, std::integral_constant<std::size_t, Bytes>{}, n,
                                f);
  else
    for_each_tile<W>(space, n, detail::with_memory<Bytes, F>{f});
}

/// Calls f(block, i) for each i in [0, n), by all threads of a block, for work that is too long for one tile: 256
/// threads on a device, one on a host. A block has size(), rank() and sync() as a tile has them, but no collectives.
template <class Space, class F>
void for_each_block(Space const& space, std::size_t n, F const& f) {
  if (n > 0) space.run_blocks(n, f);
}

/// The number of tiles of W lanes in a team of the space; 0 on a device that is too small for teams.
template <unsigned W, class Space>
[[nodiscard]] std::size_t team_tiles(Space const& space) {
  return space.team_tiles(std::integral_constant<unsigned, W>{});
}

/// Calls f(tile, team) once for each tile of a team (team.hpp), by all lanes of a tile of W lanes. On a device the team
/// is one cluster of 8 thread blocks, or one block if the program is compiled for devices before compute capability
/// 9.0, too; a block has 1024 threads. So a step of a team is slower than a launch unless it is small, but sync() takes
/// less time than a launch. On a host it is one lane.
template <unsigned W, class Space, class F>
void for_team(Space const& space, F const& f) {
  space.run_team(std::integral_constant<unsigned, W>{}, f);
}

/// The number of registers per thread in the kernel of for_each_lane<W>(space, n, f), as `ptxas -v` reports it; 0 for a
/// space without kernels.
template <unsigned W, class F, class Space>
[[nodiscard]] int registers(Space const& space) {
  if constexpr (requires { space.template tile_registers<W, detail::one_item_per_lane<F>>(); })
    return space.template tile_registers<W, detail::one_item_per_lane<F>>();
  else
    return 0;
}

}  // namespace wyrm::exec
