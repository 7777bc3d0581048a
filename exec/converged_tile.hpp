// SPDX-License-Identifier: Apache-2.0
// The tile of the lanes of a warp that execute a call at the same time. `malloc` and `free` of single threads use it:
// the calls of several lanes are served by one operation, and no lane waits for a lane that is at another place in the
// code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <cuda/std/bit>
#include <type_traits>

#include "bits.hpp"
#include "tile.hpp"

namespace wyrm::exec {

/// The interface of a lane of a simulated warp to the lanes of its converged tile. All functions but size() and rank()
/// are collectives.
class host_lanes {
 public:
  [[nodiscard]] virtual unsigned size() const = 0;
  [[nodiscard]] virtual unsigned rank() const = 0;
  [[nodiscard]] virtual std::uint32_t ballot(bool predicate) = 0;
  /// Replaces the value, which has at most 16 bytes, by that of another lane.
  virtual void shuffle(void* value, std::size_t bytes, unsigned lane) = 0;
  virtual void sync() = 0;

 protected:
  ~host_lanes() = default;
};
/// The lanes that execute the call at the same time as the calling thread, with the same object; nullptr for a thread
/// without such lanes, as on a CPU.
host_lanes* gather_host_lanes(void const* object);
/// Sets the function that gather_host_lanes() calls on the calling thread; nullptr: it returns nullptr. For simt_space.
/// `place` is the address of the call in the program.
void set_host_lanes(host_lanes* (*gather)(void const* object, void const* place));

/// The lanes of a warp that execute gather() at the same time: any subset, in divergent code, in blocks of any shape.
/// They are numbered without gaps, in the order of their positions in the warp, so code for tiles works unchanged. On a
/// GPU its size is known only at run time; on a CPU it is a tile of one lane.
class converged_tile {
 public:
  /// The lanes that call this at the same time, with the same object. Other lanes may call it separately, as the
  /// compiler and the scheduler decide.
  [[nodiscard]] WYRM_HD __attribute__((always_inline)) static converged_tile gather(
      [[maybe_unused]] void const* object) {
    NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return converged_tile(lanes_that_name(object));),
                      (return converged_tile(reinterpret_cast<std::uintptr_t>(gather_host_lanes(object)));))
  }

  /// On a host: whether the tile has only this thread; then a scalar_tile does the same, faster.
  [[nodiscard]] WYRM_HD bool is_alone() const { return lanes_ == 0; }
  [[nodiscard]] WYRM_HD unsigned size() const {
    NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return static_cast<unsigned>(__popc(mask()));),
                      (return is_alone() ? 1 : host()->size();))
  }
  [[nodiscard]] WYRM_HD unsigned rank() const {
    NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return static_cast<unsigned>(__popc(mask() & lanes_below()));),
                      (return is_alone() ? 0 : host()->rank();))
  }
  [[nodiscard]] WYRM_HD std::uint32_t ballot(bool predicate) const {
    NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return or_of(mask(), predicate ? 1u << rank() : 0);),
                      (return is_alone() ? std::uint32_t{predicate} : host()->ballot(predicate);))
  }
  [[nodiscard]] WYRM_HD bool any(bool predicate) const {
    NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return __any_sync(mask(), predicate) != 0;), (return ballot(predicate) != 0;))
  }
  [[nodiscard]] WYRM_HD bool all(bool predicate) const {
    NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return __all_sync(mask(), predicate) != 0;), (return ballot(!predicate) == 0;))
  }
  /// lane < size().
  template <class T>
  [[nodiscard]] WYRM_HD T shfl(T value, unsigned lane) const {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 16);
    NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return from_lane(value, lane_of(lane));),
                      (if (!is_alone()) host()->shuffle(&value, sizeof(T), lane); return value;))
  }
  [[nodiscard]] WYRM_HD std::uint32_t match(std::uint32_t key) const {
    NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return ranks_of(__match_any_sync(mask(), key));),
                      (std::uint32_t same = 0; for (unsigned lane = 0; lane < size(); ++lane) same |=
                                               std::uint32_t{shfl(key, lane) == key} << lane;
                       return same;))
  }
  [[nodiscard]] WYRM_HD std::uint32_t any_bits(std::uint32_t bits) const {
    NV_IF_ELSE_TARGET(
        NV_IS_DEVICE, (return or_of(mask(), bits);),
        (std::uint32_t all = 0; for (unsigned lane = 0; lane < size(); ++lane) all |= shfl(bits, lane); return all;))
  }
  [[nodiscard]] WYRM_HD std::uint32_t max(std::uint32_t value) const {
    NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return max_of(mask(), value);),
                      (std::uint32_t most = 0; for (unsigned lane = 0; lane < size(); ++lane) {
                        std::uint32_t const other = shfl(value, lane);
                        if (other > most) most = other;
                      } return most;))
  }
  template <class T>
  [[nodiscard]] WYRM_HD T sum_below(T value) const {
    NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return sum_of_lower_lanes(value);),
                      (T sum{}; for (unsigned lane = 0; lane < size(); ++lane) {
                        T const other = shfl(value, lane);
                        if (lane < rank()) sum = static_cast<T>(sum + other);
                      } return sum;))
  }
  template <class T>
  [[nodiscard]] WYRM_HD T sum(T value) const {
    if constexpr (std::is_same_v<T, std::uint32_t>)
      NV_IF_TARGET(NV_PROVIDES_SM_80, (return __reduce_add_sync(mask(), value);))
    return shfl(static_cast<T>(sum_below(value) + value), size() - 1);
  }
  /// Also orders memory accesses of the tile before the call before those after it.
  WYRM_HD void sync() const {
    NV_IF_ELSE_TARGET(NV_IS_DEVICE, (__syncwarp(mask());), (if (!is_alone()) host()->sync();))
  }
  WYRM_HD static void backoff(unsigned attempt) { pause(attempt); }

 private:
  friend class positioned_tile;
  WYRM_HD explicit converged_tile(std::uintptr_t lanes) : lanes_(lanes) {}
  [[nodiscard]] host_lanes* host() const { return reinterpret_cast<host_lanes*>(lanes_); }

#if WYRM_CUDACC
  // ptxas (CUDA 13.0) assumes that __activemask() returns the same value in all lanes that execute a collective. This
  // is wrong if lanes of another tile, which gathered earlier, reach the same instruction: the generated code would
  // then mix the tiles. The result already contains the bit of the calling lane. Setting this bit again makes ptxas
  // treat the masks as different, so it keeps the tiles apart.
  __device__ static std::uint32_t lanes_that_name(void const* object) {
    std::uint32_t self;
    asm("mov.u32 %0, %%lanemask_eq;" : "=r"(self));
    std::uint32_t const together = __activemask() | self;
    auto const key = reinterpret_cast<unsigned long long>(object);
    int all_same = 0;
    (void)__match_all_sync(together, key, &all_same);
    return all_same != 0 ? together : __match_any_sync(together, key);
  }
  // The positions of lanes in the warp, in this tile and below the calling lane.
  [[nodiscard]] __device__ std::uint32_t mask() const { return static_cast<std::uint32_t>(lanes_); }
  __device__ static std::uint32_t lanes_below() {
    std::uint32_t below;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
    return below;
  }
  // Whether ranks equal positions in the warp: the tile consists of the lowest lanes of the warp, or of all lanes.
  [[nodiscard]] __device__ bool is_dense() const { return (mask() & (mask() + 1)) == 0; }
  [[nodiscard]] __device__ unsigned lane_of(unsigned rank) const {
    if (rank == 0) return first_lane(mask());
    return is_dense() ? rank : find_kth_set(mask(), rank);
  }
  // Converts positions in the warp to ranks. Does not use a collective, because lanes that pass different masks would
  // execute it one after another.
  [[nodiscard]] __device__ std::uint32_t ranks_of(std::uint32_t lanes) const {
    if (is_dense()) return lanes;
    if (lanes == mask()) return bits_up_to<std::uint32_t>(size() - 1);
    std::uint32_t ranks = 0;
    for (std::uint32_t left = lanes; left != 0; left &= left - 1)
      ranks |= 1u << __popc(mask() & ((left & (~left + 1)) - 1));
    return ranks;
  }
  __device__ static std::uint32_t or_of(std::uint32_t lanes, std::uint32_t bits) {
    NV_IF_ELSE_TARGET(NV_PROVIDES_SM_80, (return __reduce_or_sync(lanes, bits);),
                      (std::uint32_t all = 0; for (std::uint32_t left = lanes; left != 0; left &= left - 1) all |=
                                              __shfl_sync(lanes, bits, static_cast<int>(first_lane(left)));
                       return all;))
  }
  __device__ static std::uint32_t max_of(std::uint32_t lanes, std::uint32_t value) {
    NV_IF_ELSE_TARGET(NV_PROVIDES_SM_80, (return __reduce_max_sync(lanes, value);),
                      (std::uint32_t most = 0; for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
                        std::uint32_t const other = __shfl_sync(lanes, value, static_cast<int>(first_lane(left)));
                        if (other > most) most = other;
                      } return most;))
  }
  template <class T>
  [[nodiscard]] __device__ T from_lane(T value, unsigned lane) const {
    constexpr std::size_t words = (sizeof(T) + 3) / 4;
    std::uint32_t parts[words] = {};
    std::memcpy(parts, &value, sizeof(T));
    for (std::uint32_t& part : parts) part = __shfl_sync(mask(), part, static_cast<int>(lane));
    std::memcpy(&value, parts, sizeof(T));
    return value;
  }
  // Pointer jumping: each lane adds the sum of the lane to which it points, and then points to where that lane points.
  // The distance doubles in each step.
  template <class T>
  [[nodiscard]] __device__ T sum_of_lower_lanes(T value) const {
    if (is_dense()) return sum_of_lower_neighbours(value);
    std::uint32_t const below = mask() & lanes_below();
    unsigned const self = static_cast<unsigned>(__popc(lanes_below()));
    unsigned before = below != 0 ? 31 - static_cast<unsigned>(__clz(static_cast<int>(below))) : self;
    T sum = value;
    for (unsigned distance = 1; distance < size(); distance *= 2) {
      T const other = from_lane(sum, before);
      unsigned const next = from_lane(before, before);
      if (before != self) sum = static_cast<T>(sum + other);
      before = next == before ? self : next;
    }
    return static_cast<T>(sum - value);
  }
  template <class T>
  [[nodiscard]] __device__ T sum_of_lower_neighbours(T value) const {
    unsigned const self = static_cast<unsigned>(__popc(lanes_below()));
    T sum = value;
    for (unsigned distance = 1; distance < 32; distance *= 2) {
      bool const has = self >= distance;
      T const other = from_lane(sum, has ? self - distance : self);
      if (has) sum = static_cast<T>(sum + other);
    }
    return static_cast<T>(sum - value);
  }
#endif

  // On a GPU the positions of the lanes in their warp, on a host a host_lanes, or 0.
  std::uintptr_t lanes_;
};
static_assert(tile<converged_tile>);

/// The lanes of a converged_tile under other numbers, which are their positions in the warp on a GPU: in the same
/// order, but with gaps, and there may be no lane 0. For code that names only itself and lanes that it knows from
/// ballot() or match(). So no numbers are converted; that was a third of the instructions of some calls. It has no
/// size(), sum() and max(). On a host the numbers end at 31, so that lane 0 is missing.
class positioned_tile {
 public:
  WYRM_HD explicit positioned_tile(converged_tile const& t) : t_(t) {}

  [[nodiscard]] WYRM_HD unsigned rank() const {
    NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return static_cast<unsigned>(__popc(converged_tile::lanes_below()));),
                      (return t_.rank() + gap();))
  }
  [[nodiscard]] WYRM_HD std::uint32_t ballot(bool predicate) const {
    NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return __ballot_sync(t_.mask(), predicate);),
                      (return t_.ballot(predicate) << gap();))
  }
  [[nodiscard]] WYRM_HD bool any(bool predicate) const { return t_.any(predicate); }
  [[nodiscard]] WYRM_HD bool all(bool predicate) const { return t_.all(predicate); }
  template <class T>
  [[nodiscard]] WYRM_HD T shfl(T value, unsigned lane) const {
    NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return t_.from_lane(value, lane);), (return t_.shfl(value, lane - gap());))
  }
  [[nodiscard]] WYRM_HD std::uint32_t match(std::uint32_t key) const {
    NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return __match_any_sync(t_.mask(), key);), (return t_.match(key) << gap();))
  }
  [[nodiscard]] WYRM_HD std::uint32_t any_bits(std::uint32_t bits) const { return t_.any_bits(bits); }
  template <class T>
  [[nodiscard]] WYRM_HD T sum_below(T value) const {
    return t_.sum_below(value);
  }
  WYRM_HD void sync() const { t_.sync(); }

 private:
  [[nodiscard]] WYRM_HD unsigned gap() const { return 32 - t_.size(); }
  converged_tile t_;
};

/// The tile itself, or a positioned_tile, for code that can use either; see there.
template <class Tile>
[[nodiscard]] WYRM_HD Tile const& by_position(Tile const& t) {
  return t;
}
template <class Tile>
void by_position(Tile const&&) = delete;
[[nodiscard]] WYRM_HD inline positioned_tile by_position(converged_tile const& t) { return positioned_tile(t); }

}  // namespace wyrm::exec
