// SPDX-License-Identifier: Apache-2.0
// A space that simulates the lanes of warps on a CPU: each lane is a fiber. Lanes switch at every collective and at
// every polling pause, in an order that depends on a seed. Several warps are resident on each of several threads, so
// their operations interleave. The program ends with a message if not all lanes of a tile call the same collective,
// which is undefined behaviour on a GPU.
//
// Lanes that call exec::converged_tile::gather() at the same place become a tile: some or all of those that have come
// there, as chance has it. A lane gives others some turns to come there, and then goes on without them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "../../exec/converged_tile.hpp"
#include "../../exec/host_space.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/team.hpp"
#include "../../exec/tile.hpp"

namespace wyrm::tests {

enum class collective : std::uint8_t { none, ballot, any, all, shfl, sync };

/// Lanes of a warp that call collectives together: their arguments in the current collective.
class lockstep_group {
 public:
  static constexpr std::size_t slot_bytes = 16;

  /// Passes a value to a collective, and waits until all lanes have called it. After that, until the next collective of
  /// the lane, `slot` returns the values of all lanes, and `mask` the ballot of a vote.
  template <class T>
  void meet(unsigned rank, collective what, T const& value) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= slot_bytes);
    std::memcpy(slots_[(phase_ + 1) & 1][rank], &value, sizeof(T));
    meet(what);
  }
  void meet(collective what);
  [[nodiscard]] void const* slot(unsigned rank) const { return slots_[phase_ & 1][rank]; }
  [[nodiscard]] std::uint32_t mask() const { return mask_[phase_ & 1]; }

 private:
  friend class multiprocessor;
  unsigned phase_ = 0;  // number of collectives so far; slots alternate, as a lane may be one collective ahead
  std::uint32_t mask_[2] = {};
  alignas(16) unsigned char slots_[2][32][slot_bytes] = {};
  unsigned arrived_ = 0;
  unsigned size_ = 0;
  std::size_t lanes_[32] = {};  // of the multiprocessor
  bool left_ = false;           // a lane has left the group
  collective what_ = collective::none;
};

/// A resident tile: the group of all its lanes.
struct lockstep_warp {
  lockstep_group all;
  unsigned finished = 0;
  std::size_t index = 0;
};

template <unsigned W>
class lockstep_tile {
 public:
  lockstep_tile(lockstep_warp& warp, unsigned rank) : warp_(&warp), rank_(rank) {}
  static constexpr unsigned size() { return W; }
  [[nodiscard]] unsigned rank() const { return rank_; }
  [[nodiscard]] std::uint32_t ballot(bool predicate) const { return vote(collective::ballot, predicate); }
  [[nodiscard]] bool any(bool predicate) const { return vote(collective::any, predicate) != 0; }
  [[nodiscard]] bool all(bool predicate) const { return vote(collective::all, predicate) == (0xffffffffu >> (32 - W)); }
  template <class T>
  [[nodiscard]] T shfl(T value, unsigned lane) const {
    warp_->all.meet(rank_, collective::shfl, value);
    std::memcpy(&value, warp_->all.slot(lane % W), sizeof(T));
    return value;
  }
  [[nodiscard]] std::uint32_t match(std::uint32_t key) const {
    warp_->all.meet(rank_, collective::shfl, key);
    std::uint32_t same = 0;
    for (unsigned lane = 0; lane < W; ++lane) {
      std::uint32_t other;
      std::memcpy(&other, warp_->all.slot(lane), sizeof(other));
      same |= std::uint32_t{other == key} << lane;
    }
    return same;
  }
  void sync() const { warp_->all.meet(collective::sync); }
  static void backoff(unsigned attempt) { exec::pause(attempt); }

 private:
  [[nodiscard]] std::uint32_t vote(collective what, bool predicate) const {
    warp_->all.meet(rank_, what, predicate);
    return warp_->all.mask();
  }
  lockstep_warp* warp_;
  unsigned rank_;
};
static_assert(exec::tile<lockstep_tile<32>>);

/// A block of one tile. It has no collectives.
class lockstep_block {
 public:
  explicit lockstep_block(lockstep_tile<32> const& tile) : tile_(tile) {}
  static constexpr unsigned size() { return 32; }
  [[nodiscard]] unsigned rank() const { return tile_.rank(); }
  void sync() const { tile_.sync(); }

 private:
  lockstep_tile<32> tile_;
};

/// Where the tiles of a launch wait for each other.
class lockstep_barrier {
 public:
  explicit lockstep_barrier(unsigned tiles) : tiles_(tiles) {}
  [[nodiscard]] unsigned tiles() const { return tiles_; }
  /// Called by one lane of each tile.
  void wait();

 private:
  unsigned tiles_;
  std::atomic<unsigned> arrived_{0};
  std::atomic<unsigned> passed_{0};  // times that all tiles have arrived
};

/// The barriers of a team: of all tiles, and of a part of them.
struct lockstep_barriers {
  explicit lockstep_barriers(unsigned tiles) : all(tiles), part(tiles > 1 ? tiles / 2 : 1) {}
  lockstep_barrier all;
  lockstep_barrier part;
};

/// A team of the tiles below the number of tiles of a barrier.
template <unsigned W>
class lockstep_part {
 public:
  lockstep_part(lockstep_tile<W> const& tile, unsigned rank, lockstep_barrier& barrier)
      : tile_(tile), rank_(rank), barrier_(&barrier) {}
  [[nodiscard]] unsigned rank() const { return rank_; }
  [[nodiscard]] unsigned tiles() const { return barrier_->tiles(); }
  void sync() const {
    tile_.sync();
    if (tile_.rank() == 0) barrier_->wait();
    tile_.sync();
  }

 private:
  lockstep_tile<W> tile_;
  unsigned rank_;
  lockstep_barrier* barrier_;
};

/// The team of as many tiles as can be resident.
template <unsigned W>
class lockstep_team : public lockstep_part<W> {
 public:
  lockstep_team(lockstep_tile<W> const& tile, unsigned rank, lockstep_barriers& barriers)
      : lockstep_part<W>(tile, rank, barriers.all), part_(tile, rank, barriers.part) {}
  [[nodiscard]] bool in_part() const { return part_.rank() < part_.tiles(); }
  [[nodiscard]] lockstep_part<W> const& part() const { return part_; }
  [[nodiscard]] unsigned tiles_of_part() const { return part_.tiles(); }

 private:
  lockstep_part<W> part_;
};
static_assert(exec::team<lockstep_team<32>>);

class simt_machine;

class simt_space : public exec::host_space {
 public:
  static constexpr char const* name = "simt";
  template <unsigned W>
  static constexpr unsigned tile_size = W;

  /// threads: number of threads, with `resident` warps each.
  explicit simt_space(std::uint64_t seed = 1, unsigned threads = 2, unsigned resident = 3);
  [[nodiscard]] simt_space managed_by(exec::memory_manager* manager) const {
    simt_space bound = *this;
    static_cast<exec::host_space&>(bound) = exec::host_space::managed_by(manager);
    return bound;
  }

  /// Makes the order of lanes from here on that of a new space with this seed, and with as many threads and warps. With
  /// one thread, this order is the same each time. Cheaper than a new space. No kernel may be running.
  void reseed(std::uint64_t seed) const;

  [[nodiscard]] static std::size_t lanes_for(std::uint32_t const*) { return 64; }
  /// The size of a small table, as if tiles shared memory.
  [[nodiscard]] static std::size_t table_bytes() { return 256; }

  template <class F>
  void run(std::size_t n, F const& f) const {
    struct guarded {
      F const& f;
      std::size_t n;
    } const work{f, n};
    launch(32, (n + 31) / 32, &work, [](void const* w, lockstep_warp&, unsigned rank, std::size_t group) {
      auto const& g = *static_cast<guarded const*>(w);
      if (group * 32 + rank < g.n) g.f(group * 32 + rank);
    });
  }
  template <unsigned W, class F>
  void run_tiles(std::integral_constant<unsigned, W>, std::size_t n, F const& f) const {
    launch(W, n, &f, [](void const* work, lockstep_warp& warp, unsigned rank, std::size_t i) {
      (*static_cast<F const*>(work))(lockstep_tile<W>(warp, rank), i);
    });
  }
  /// f gets a copy of the values, as on a device.
  template <unsigned W, class T, class F>
  void run_tiles_with_table(std::integral_constant<unsigned, W> width, std::size_t n, T const* values,
                            std::size_t count, F const& f) const {
    if (count * sizeof(T) > table_bytes()) throw std::logic_error("the table is larger than the memory of a block");
    std::vector<T> const table(values, values + count);
    run_tiles(width, n, exec::detail::with_table<T, F>{table.data(), f});
  }

  template <unsigned W, std::size_t Bytes, class F>
  void run_tiles_with_memory(std::integral_constant<unsigned, W>, std::integral_constant<std::size_t, Bytes>,
                             std::size_t n, F const& f) const {
    struct alignas(16) tile_memory {
      std::byte bytes[Bytes];
    };
    std::vector<tile_memory> all(n);
    std::memset(all.data(), 0xa5, n * sizeof(tile_memory));
    struct with_all {
      F const& f;
      tile_memory* all;
    } const work{f, all.data()};
    launch(W, n, &work, [](void const* w, lockstep_warp& warp, unsigned rank, std::size_t i) {
      auto const& with = *static_cast<with_all const*>(w);
      with.f(lockstep_tile<W>(warp, rank), i, with.all[i].bytes);
    });
  }

  template <class F>
  void run_blocks(std::size_t n, F const& f) const {
    launch(32, n, &f, [](void const* work, lockstep_warp& warp, unsigned rank, std::size_t i) {
      (*static_cast<F const*>(work))(lockstep_block(lockstep_tile<32>(warp, rank)), i);
    });
  }

  template <unsigned W>
  [[nodiscard]] std::size_t team_tiles(std::integral_constant<unsigned, W>) const {
    return resident_tiles();
  }
  template <unsigned W, class F>
  void run_team(std::integral_constant<unsigned, W>, F const& f) const {
    struct shared {
      F const& f;
      mutable lockstep_barriers barriers;
    };
    shared const team{f, lockstep_barriers(static_cast<unsigned>(resident_tiles()))};
    launch(W, resident_tiles(), &team, [](void const* work, lockstep_warp& warp, unsigned rank, std::size_t i) {
      auto const& all = *static_cast<shared const*>(work);
      lockstep_tile<W> const tile(warp, rank);
      all.f(tile, lockstep_team<W>(tile, static_cast<unsigned>(i), all.barriers));
    });
  }

 private:
  friend class multiprocessor;
  friend class simt_machine;
  /// The number of tiles that run at the same time.
  [[nodiscard]] std::size_t resident_tiles() const;
  using lane_function = void (*)(void const* work, lockstep_warp& warp, unsigned rank, std::size_t index);
  void launch(unsigned lanes, std::size_t n, void const* work, lane_function f) const;

  std::shared_ptr<simt_machine> machine_;
};

}  // namespace wyrm::tests
