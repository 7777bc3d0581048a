// SPDX-License-Identifier: Apache-2.0
// Tiles: the groups of lanes that device code is written for. All lanes of a tile call a collective together; a lane
// that wants nothing passes "nothing". A lane waits only through backoff(), and only for another tile.
#pragma once

#include <concepts>
#include <cstdint>
#include <cuda/std/bit>

#include "config.hpp"

#include <nv/target>

#if WYRM_CUDACC
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#endif

namespace wyrm::exec {

/// What device code may ask of a tile. Lanes are numbered 0 ... size()-1; bit i of a ballot is lane i's predicate.
template <class T>
concept tile = requires(T const& t, bool predicate, std::uint64_t value, unsigned lane) {
  { T::size() } -> std::convertible_to<unsigned>;
  { t.rank() } -> std::convertible_to<unsigned>;
  { t.ballot(predicate) } -> std::same_as<std::uint32_t>;
  { t.any(predicate) } -> std::same_as<bool>;
  { t.all(predicate) } -> std::same_as<bool>;
  { t.shfl(value, lane) } -> std::same_as<std::uint64_t>;
  t.sync();
  t.backoff(lane);
};

/// A waiting host thread calls this: it yields, or does what `set_host_wait` asked for on this thread.
void host_wait();
/// Replaces what a waiting thread does (nullptr: yield again). For the test space, whose lanes are fibers.
void set_host_wait(void (*action)());

/// How many host threads had asked this before the calling one did.
unsigned host_thread_number();

/// One polling pause of one thread; `attempt` counts the polls so far and lengthens the pause, to 2 us at most.
WYRM_HD inline void pause([[maybe_unused]] unsigned attempt) {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (__nanosleep(64u << (attempt < 5 ? attempt : 5));), (host_wait();))
}

/// One lane on its own: the tile of the host, and of single threads on any space.
class scalar_tile {
 public:
  WYRM_HD static constexpr unsigned size() { return 1; }
  WYRM_HD static constexpr unsigned rank() { return 0; }
  WYRM_HD static std::uint32_t ballot(bool predicate) { return predicate ? 1u : 0u; }
  WYRM_HD static bool any(bool predicate) { return predicate; }
  WYRM_HD static bool all(bool predicate) { return predicate; }
  template <class T>
  WYRM_HD static T shfl(T value, unsigned /*lane*/) {
    return value;
  }
  WYRM_HD static void sync() {}
  WYRM_HD static void backoff(unsigned attempt) { pause(attempt); }
};
static_assert(tile<scalar_tile>);

#if WYRM_CUDACC
/// W neighbouring lanes of a warp; W is a power of two up to 32. In blocks of any shape whose number of threads is a
/// multiple of W: a warp is 32 threads in the order of x, then y, then z. IsLine: blocks of one dimension, as exec
/// launches them, where a compiler knows more of the rank.
template <unsigned W, bool IsLine = false>
class warp_tile {
 public:
  static constexpr bool is_line = IsLine;
  WYRM_HD static constexpr unsigned size() { return W; }
  WYRM_HD unsigned rank() const { NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return lane() % W;), (return 0;)) }
  WYRM_HD std::uint32_t ballot(bool predicate) const {
    NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return group().ballot(predicate);), (return predicate;))
  }
  WYRM_HD bool any(bool predicate) const {
    NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return group().any(predicate) != 0;), (return predicate;))
  }
  WYRM_HD bool all(bool predicate) const {
    NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return group().all(predicate) != 0;), (return predicate;))
  }
  template <class T>
  WYRM_HD T shfl(T value, unsigned lane) const {
    NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return group().shfl(value, lane);), (return value;))
  }
  [[nodiscard]] WYRM_HD std::uint32_t match(std::uint32_t key) const {
    NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return group().match_any(key);), (static_cast<void>(key); return 1u;))
  }
  [[nodiscard]] WYRM_HD std::uint32_t any_bits(std::uint32_t bits) const {
    NV_IF_ELSE_TARGET(NV_IS_DEVICE,
                      (return cooperative_groups::reduce(group(), bits, cooperative_groups::bit_or<std::uint32_t>());),
                      (return bits;))
  }
  /// Also orders the tile's memory accesses before it against those after it.
  WYRM_HD void sync() const { NV_IF_TARGET(NV_IS_DEVICE, (group().sync();)) }
  WYRM_HD static void backoff(unsigned attempt) { pause(attempt); }

 private:
  // Of the warp.
  __device__ static unsigned lane() {
    if constexpr (IsLine) {
      return threadIdx.x % 32;
    } else {
      unsigned id;
      asm("mov.u32 %0, %%laneid;" : "=r"(id));
      return id;
    }
  }
  __device__ static auto group() {
    return cooperative_groups::tiled_partition<W>(cooperative_groups::this_thread_block());
  }
};
static_assert(tile<warp_tile<32>>);
#endif

#if WYRM_CUDACC
namespace detail {
/// The number of the calling thread in its grid, of any shape. The sizes of a grid are constants for all threads, so
/// the test for one dimension costs less than to ask for the places in the other two.
template <class Tile>
__device__ std::uint64_t thread_in_grid() {
  bool is_line = blockDim.y == 1 && blockDim.z == 1 && gridDim.y == 1 && gridDim.z == 1;
  if constexpr (requires { Tile::is_line; }) is_line = is_line || Tile::is_line;
  if (is_line) return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  unsigned const thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  std::uint64_t const block = (std::uint64_t{blockIdx.z} * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  return block * (blockDim.x * blockDim.y * blockDim.z) + thread;
}
}  // namespace detail
#endif

/// A number that the calling lane has for itself among those that run at the same time, in grids and blocks of any
/// shape; the lanes of a warp have neighbouring numbers.
template <class Tile>
WYRM_HD std::uint64_t thread_number([[maybe_unused]] Tile const& t) {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return detail::thread_in_grid<Tile>();),
                    (return std::uint64_t{host_thread_number()} * 32 + t.rank();))
}

// What follows is written in terms of the collectives alone, and so runs on every tile.

/// The number of lanes below mine whose bit is set.
template <class Tile>
WYRM_HD unsigned rank_in(Tile const& t, std::uint32_t mask) {
  return static_cast<unsigned>(cuda::std::popcount(mask & ((1u << t.rank()) - 1u)));
}

/// The lowest lane in a mask that is not empty.
WYRM_HD inline unsigned first_lane(std::uint32_t mask) { return static_cast<unsigned>(cuda::std::countr_zero(mask)); }

/// The lanes that pass the same key as mine, me among them; collective.
template <class Tile>
WYRM_HD std::uint32_t match(Tile const& t, std::uint32_t key) {
  if constexpr (requires { t.match(key); }) {
    return t.match(key);
  } else {
    std::uint32_t mine = 0;
    for (std::uint32_t left = t.ballot(true); left != 0;) {
      std::uint32_t const wanted = t.shfl(key, first_lane(left));
      std::uint32_t const lanes = t.ballot(key == wanted);
      if (key == wanted) mine = lanes;
      left &= ~lanes;
    }
    return mine;
  }
}

/// The bits that any lane has set; collective.
template <class Tile>
WYRM_HD std::uint32_t any_bits(Tile const& t, std::uint32_t bits) {
  if constexpr (requires { t.any_bits(bits); }) {
    return t.any_bits(bits);
  } else {
    for (unsigned step = Tile::size() / 2; step > 0; step /= 2) bits |= t.shfl(bits, t.rank() ^ step);
    return bits;
  }
}

/// The sum over the lanes below mine; collective.
template <class Tile, class T>
WYRM_HD T sum_below(Tile const& t, T value) {
  T sum = value;
  for (unsigned step = 1; step < Tile::size(); step *= 2) {
    T const other = t.shfl(sum, t.rank() - step);
    if (t.rank() >= step) sum = static_cast<T>(sum + other);
  }
  return static_cast<T>(sum - value);
}

/// The sum over all lanes, in every lane; collective.
template <class Tile, class T>
WYRM_HD T sum(Tile const& t, T value) {
  for (unsigned step = Tile::size() / 2; step > 0; step /= 2)
    value = static_cast<T>(value + t.shfl(value, t.rank() ^ step));
  return value;
}

}  // namespace wyrm::exec
