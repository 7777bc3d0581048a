// SPDX-License-Identifier: Apache-2.0
// Random numbers without a state in memory (exec/philox.hpp): a function of a seed, the thread, and how often it has
// drawn. So runs repeat. Seven rounds are a tenth of the time of a kernel faster than the usual ten.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/philox.hpp"
#include "../../exec/tile.hpp"

namespace wyrm::alloc {

/// One thread's way through a pool. It belongs to the thread, which keeps it from call to call.
class walk {
 public:
  static constexpr std::uint64_t no_page = ~std::uint64_t{0};

  /// drawn: from which block of four numbers on.
  WYRM_HD walk(std::uint64_t seed, std::uint64_t thread, std::uint64_t drawn = 0)
      : seed_(seed), thread_(thread), drawn_(drawn) {}

  /// Evenly distributed in [0, n), n at most 2^32; what is uneven is less than n / 2^32.
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

  std::uint64_t steps = 0;            // looks at a page, or at a word of pages, so far
  std::uint64_t last_page = no_page;  // the page that CRW got last

 private:
  std::uint64_t seed_;
  std::uint64_t thread_;
  std::uint64_t drawn_;  // blocks of four
  exec::four_words next_{};
  unsigned left_ = 0;
};

/// How often tiles have called, for walks that begin with each call: so many counters; who shares one may draw the
/// same.
inline constexpr std::size_t call_counters = std::size_t{1} << 14;

/// A walk for each lane, that draws other numbers than its thread did before; collective.
template <class Tile>
[[nodiscard]] WYRM_HD walk next_walk(Tile const& t, std::uint64_t seed, std::uint32_t* calls) {
  std::uint64_t const thread = exec::thread_number(t);
  exec::atomic_ref<std::uint32_t> mine(calls[thread / 32 % call_counters]);
  std::uint32_t const before = mine.load(exec::relaxed);
  t.sync();
  if (t.rank() == 0) mine.store(before + 1, exec::relaxed);
  return {seed, thread, std::uint64_t{before} << 16};
}

}  // namespace wyrm::alloc
