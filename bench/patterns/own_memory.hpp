// SPDX-License-Identifier: Apache-2.0
// Each thread reads words of its own memory: the access tests of AlignMalloc (TPDS 2025, sections VII-E and VII-F,
// Fig. 12 and 13). There, 1 K threads make 100 accesses each, in .5 KB to 2 MB per thread. In step, the lanes of a warp
// read the same offset of their own memory at a time; otherwise each lane draws its own offsets.
#pragma once

#include "pattern.hpp"

namespace wyrm::bench {

struct own_memory {
  static constexpr char const* name = "own_memory";
  static constexpr char const* access = "random in the memory of each thread";
  static constexpr unsigned arrays = 1;
  static constexpr unsigned result = no_array;  // the sum of what a thread reads
  WYRM_HD static constexpr unsigned share(unsigned) { return 64; }

  extent size;
  std::uint32_t accesses;  // per thread
  bool in_step;

  [[nodiscard]] WYRM_HD word initial(unsigned, std::uint64_t i) const { return drawn(0, i); }
  /// The offset, in words, of an access.
  [[nodiscard]] WYRM_HD std::uint64_t offset(std::uint64_t thread, std::uint32_t access) const {
    std::uint64_t const who = in_step ? thread / alloc::warp_lanes : thread;
    return drawn_below(size.words, 1, who * accesses + access);
  }

  template <class Space, class Array>
  void run(Space const& space, pattern_memory<Array> const& m) const;
};

namespace detail {
template <class Array>
struct read_own_memory {
  own_memory p;
  pattern_memory<Array> m;
  WYRM_HD void operator()(std::uint64_t t) const {
    std::uint64_t sum = 0;
    for (std::uint32_t k = 0; k < p.accesses; ++k)
      sum += std::uint64_t{m.arrays[0][t * p.size.words + p.offset(t, k)]} * (2 * k + 1);
    m.sums[t] = sum;
  }
};
}  // namespace detail

template <class Space, class Array>
void own_memory::run(Space const& space, pattern_memory<Array> const& m) const {
  for_each_thread(space, size.threads, detail::read_own_memory<Array>{*this, m});
}

}  // namespace wyrm::bench
