// SPDX-License-Identifier: Apache-2.0
// The random numbers of a random walk. They have no state in memory (exec/philox.hpp): a number is a function of the
// seed, the thread, and the number of earlier draws of the thread. So runs are reproducible. Philox has seven rounds
// here instead of the usual ten, which saves a tenth of the time of a kernel.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/philox.hpp"
#include "../../exec/tile.hpp"

namespace wyrm::alloc {

/// The random walk of one thread through a pool. The thread keeps it from call to call.
class walk {
 public:
  static constexpr std::uint64_t no_page = ~std::uint64_t{0};

  /// drawn: the block of four numbers to begin with.
  WYRM_HD walk(std::uint64_t seed, std::uint64_t thread, std::uint64_t drawn = 0)
      : seed_(seed), thread_(thread), drawn_(drawn) {}

  /// A random number in [0, n), n at most 2^32. The relative error of its distribution is less than n / 2^32.
  [[nodiscard]] WYRM_HD std::uint64_t draw(std::uint64_t n) {
    if (left_ == 0) {
      next_ = exec::philox({{static_cast<std::uint32_t>(thread_), static_cast<std::uint32_t>(thread_ >> 32),
                             static_cast<std::uint32_t>(drawn_), static_cast<std::uint32_t>(drawn_ >> 32)}},
                           static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32));
      ++drawn_;
      left_ = 4;
    }
    std::uint32_t const r = next_.x[0];
    next_ = {{next_.x[1], next_.x[2], next_.x[3], 0}};
    --left_;
    return r * n >> 32;
  }

  std::uint64_t steps = 0;            // pages (RW) or words probed so far
  std::uint64_t last_page = no_page;  // the page that the thread allocated last (CRW)

 private:
  std::uint64_t seed_;
  std::uint64_t thread_;
  std::uint64_t drawn_;  // blocks of four numbers drawn so far
  exec::four_words next_{};
  unsigned left_ = 0;
};

/// An allocator begins a walk with each call, and counts the calls of tiles in this number of counters. Updates of a
/// counter that several warps use can get lost; then a thread may draw the same numbers again.
inline constexpr std::size_t call_counters = std::size_t{1} << 14;

/// A walk for each lane, which draws other numbers than the walks of earlier calls of this thread; collective.
template <class Tile>
[[nodiscard]] WYRM_HD walk next_walk(Tile const& t, std::uint64_t seed, std::uint32_t* calls) {
  std::uint64_t const thread = exec::thread_number(t);
  exec::atomic_ref<std::uint32_t> mine(calls[thread / 32 % call_counters]);
  std::uint32_t const before = mine.load(exec::relaxed);
  t.sync();
  mine.store(before + 1, exec::relaxed);  // by each lane: lanes that gathered may have different counters
  return {seed, thread, std::uint64_t{before} << 16};
}

}  // namespace wyrm::alloc
