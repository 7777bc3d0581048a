// SPDX-License-Identifier: Apache-2.0
// Tiles: groups of lanes. Device code is written for a tile. All lanes of a tile call a collective at the same place; a
// lane without work passes a neutral argument. A lane waits only in backoff(), and only for another tile.
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

/// The operations of a tile, of at most 32 lanes. A tile whose size may not be a power of two has its own any_bits,
/// max, sum and sum_below. Lanes are numbered 0 ... size()-1; bit i of a ballot is the predicate of lane i.
template <class T>
concept tile = requires(T const& t, bool predicate, std::uint64_t value, unsigned lane) {
  { t.size() } -> std::convertible_to<unsigned>;
  { t.rank() } -> std::convertible_to<unsigned>;
  { t.ballot(predicate) } -> std::same_as<std::uint32_t>;
  { t.any(predicate) } -> std::same_as<bool>;
  { t.all(predicate) } -> std::same_as<bool>;
  { t.shfl(value, lane) } -> std::same_as<std::uint64_t>;
  t.sync();
  t.backoff(lane);
};

/// Called by a host thread that waits: yields, or calls the action that `set_host_wait` has set for this thread.
void host_wait();
/// Sets the action of host_wait() for the calling thread; nullptr: yield. For simt_space, in which lanes are fibers.
void set_host_wait(void (*action)());

/// Called by a host thread that waits for another one, `attempt` times so far: returns immediately the first 200 times,
/// then sleeps for 50 us; or calls the action of host_wait(), if one is set. On a busy machine a thread that yields
/// runs again only after all other threads; a thread that sleeps runs soon after it wakes.
void host_sleep(unsigned attempt);

/// A number of the calling host thread: the number of threads that called this function before its own first call.
unsigned host_thread_number();

/// Pauses one thread between two polls. The pause doubles with each `attempt` (number of polls so far), up to 2 us.
WYRM_HD inline void pause([[maybe_unused]] unsigned attempt) {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (__nanosleep(64u << (attempt < 5 ? attempt : 5));), (host_wait();))
}

/// A tile of one lane: for the host, and for single threads on any space.
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
/// W consecutive lanes of a warp; W is a power of two up to 32. Blocks may have any shape, and a number of threads that
/// is a multiple of W: a warp is 32 threads in the order of x, then y, then z. IsLine says that blocks have one
/// dimension, as in the launches of exec, which lets the compiler compute the rank from threadIdx.x.
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
  /// Also orders memory accesses of the tile before the call before those after it.
  WYRM_HD void sync() const { NV_IF_TARGET(NV_IS_DEVICE, (group().sync();)) }
  WYRM_HD static void backoff(unsigned attempt) { pause(attempt); }

 private:
  // The lane of the thread in its warp.
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
/// The index of the calling thread in its grid, of any shape. The dimensions of a grid are uniform over all threads, so
/// a test for one dimension is cheaper than to compute the position in the other two.
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

/// A number of the calling lane that is unique among all concurrent lanes, in grids and blocks of any shape. The lanes
/// of a warp have consecutive numbers.
template <class Tile>
WYRM_HD std::uint64_t thread_number([[maybe_unused]] Tile const& t) {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return detail::thread_in_grid<Tile>();),
                    (return std::uint64_t{host_thread_number()} * 32 + t.rank();))
}

/// A number of the multiprocessor that the calling thread is on, which may change while the thread runs; on a host of
/// the thread itself.
WYRM_HD inline unsigned multiprocessor_number() {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE,
                    (unsigned id; asm volatile("mov.u32 %0, %%smid;"
                                               : "=r"(id));
                     return id;),
                    (return host_thread_number();))
}

/// A number of the calling warp among those that are on its multiprocessor; 0 on a host.
WYRM_HD inline unsigned warp_on_multiprocessor() {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE,
                    (unsigned id; asm volatile("mov.u32 %0, %%warpid;"
                                               : "=r"(id));
                     return id;),
                    (return 0;))
}

// The following functions use collectives only, and so run on every tile.

/// The number of set bits in `mask` below the rank of the calling lane.
template <class Tile>
WYRM_HD unsigned rank_in(Tile const& t, std::uint32_t mask) {
  return static_cast<unsigned>(cuda::std::popcount(mask & ((1u << t.rank()) - 1u)));
}

/// The lowest lane in a non-empty mask.
WYRM_HD inline unsigned first_lane(std::uint32_t mask) { return static_cast<unsigned>(cuda::std::countr_zero(mask)); }

/// The highest lane in a non-empty mask.
WYRM_HD inline unsigned last_lane(std::uint32_t mask) {
  return 31 - static_cast<unsigned>(cuda::std::countl_zero(mask));
}

/// The mask of all lanes that pass the same key as the calling lane, itself included; collective.
template <class Tile>
WYRM_HD std::uint32_t match(Tile const& t, std::uint32_t key) {
  if constexpr (requires { t.match(key); }) {
    return t.match(key);
  } else {
    std::uint32_t mine = 0;
    for (std::uint32_t left = t.ballot(true); left != 0;) {
      std::uint32_t const other_key = t.shfl(key, first_lane(left));
      std::uint32_t const lanes = t.ballot(key == other_key);
      if (key == other_key) mine = lanes;
      left &= ~lanes;
    }
    return mine;
  }
}

/// The bitwise or over all lanes; collective.
template <class Tile>
WYRM_HD std::uint32_t any_bits(Tile const& t, std::uint32_t bits) {
  if constexpr (requires { t.any_bits(bits); }) {
    return t.any_bits(bits);
  } else {
    for (unsigned step = t.size() / 2; step > 0; step /= 2) bits |= t.shfl(bits, t.rank() ^ step);
    return bits;
  }
}

/// The exclusive prefix sum: the sum over all lanes of lower rank; collective.
template <class Tile, class T>
WYRM_HD T sum_below(Tile const& t, T value) {
  if constexpr (requires { t.sum_below(value); }) {
    return t.sum_below(value);
  } else {
    T sum = value;
    for (unsigned step = 1; step < t.size(); step *= 2) {
      T const other = t.shfl(sum, t.rank() - step);
      if (t.rank() >= step) sum = static_cast<T>(sum + other);
    }
    return static_cast<T>(sum - value);
  }
}

/// The sum over all lanes, returned to every lane; collective.
template <class Tile, class T>
WYRM_HD T sum(Tile const& t, T value) {
  if constexpr (requires { t.sum(value); }) {
    return t.sum(value);
  } else {
    for (unsigned step = t.size() / 2; step > 0; step /= 2)
      value = static_cast<T>(value + t.shfl(value, t.rank() ^ step));
    return value;
  }
}

/// The maximum over all lanes, returned to every lane; collective.
template <class Tile>
WYRM_HD std::uint32_t max(Tile const& t, std::uint32_t value) {
  if constexpr (requires { t.max(value); }) {
    return t.max(value);
  } else {
    for (unsigned step = t.size() / 2; step > 0; step /= 2) {
      std::uint32_t const other = t.shfl(value, t.rank() ^ step);
      if (other > value) value = other;
    }
    return value;
  }
}

}  // namespace wyrm::exec
