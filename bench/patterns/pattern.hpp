// SPDX-License-Identifier: Apache-2.0
// What the patterns of access have in common: sizes, inputs, launches, and a workload, which is a pattern with its
// arrays. The patterns are the applications of "AlignMalloc: Warp-Aware Memory Rearrangement Aligned With UVM
// Prefetching for Large-Scale GPU Dynamic Allocations" (TPDS 2025, section VII-I, Fig. 16). The paper names the
// applications, the class of access of each, and 16 K threads; sizes and parameters of each are choices of this
// benchmark. All arithmetic is on integers modulo 2^32, so that results are exact, and independent of the order of
// additions. There is as little of it as the application permits: memory decides the time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../../exec/config.hpp"
#include "../../exec/error.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../../exec/philox.hpp"
#include "array.hpp"

namespace wyrm::bench {

/// An element of all arrays.
using word = std::uint32_t;

/// The size of a pattern. Each thread has `words` words, divided among the arrays of the pattern.
struct extent {
  std::uint64_t threads;
  std::uint64_t words;

  /// For about `bytes` bytes in all: rounded down to a multiple of `unit` bytes per thread, at least one. 64 KiB suits
  /// every pattern.
  [[nodiscard]] static extent of_bytes(std::uint64_t threads, std::uint64_t bytes, std::uint64_t unit = 64 << 10) {
    std::uint64_t const units = bytes / threads / unit;
    return {threads, (units == 0 ? 1 : units) * unit / sizeof(word)};
  }
  [[nodiscard]] std::uint64_t bytes() const { return threads * words * sizeof(word); }
};

/// The number of threads of the paper.
inline constexpr std::uint64_t paper_threads = 16 * 1024;

/// A random word that is a function of a stream and an index.
[[nodiscard]] WYRM_HD inline word drawn(std::uint32_t stream, std::uint64_t i) {
  return exec::philox({{static_cast<word>(i), static_cast<word>(i >> 32), stream, 0}}, 1, 0).x[0];
}
/// A random number below n, which is at most 2^32: the upper bits of the product of n and 64 random bits.
[[nodiscard]] WYRM_HD inline std::uint64_t drawn_below(std::uint64_t n, std::uint32_t stream, std::uint64_t i) {
  exec::four_words const bits = exec::philox({{static_cast<word>(i), static_cast<word>(i >> 32), stream, 1}}, 1, 0);
  return (bits.x[0] * n + (bits.x[1] * n >> 32)) >> 32;
}

inline constexpr unsigned max_arrays = 4;
/// 64-bit words of plain memory for the small tables of a pattern, which all threads share.
inline constexpr std::size_t scratch_words = 512;

/// The memory of a pattern, for kernels.
template <class Array>
struct pattern_memory {
  Array arrays[max_arrays];
  std::uint64_t* scratch;  // scratch_words; zeros after fill()
  std::uint64_t* sums;     // one per thread; zeros after fill()
  /// The scratch as words.
  [[nodiscard]] WYRM_HD word* table() const { return reinterpret_cast<word*>(scratch); }
};

/// A pattern is a trivially copyable struct with its extent and:
///   name, access       for reports: the application, and the class of access that the paper names
///   arrays, share(a)   the number of arrays, and the share of each in the memory, in 64ths
///   result             the array with the result, or no_array where the kernels write all of it to `sums`
///   initial(a, i)      the value of element i of array a before a run
///   run(space, memory) enqueues the kernels, with `extent::threads` threads each; thread t loops over its own part
inline constexpr unsigned no_array = ~0u;

/// The number of elements of an array that belong to each thread.
template <class Pattern>
[[nodiscard]] WYRM_HD std::uint64_t own_words(Pattern const& p, unsigned array) {
  return p.size.words / 64 * Pattern::share(array);
}

namespace detail {
template <class F>
struct thread_each {
  static constexpr std::size_t grain = 1;  // an item is a whole part
  F f;
  template <class Tile>
  WYRM_HD void operator()(Tile const&, std::size_t t, bool valid) const {
    if (valid) f(t);
  }
};
}  // namespace detail

/// Calls f(t) for each thread t.
template <class Space, class F>
void for_each_thread(Space const& space, std::uint64_t threads, F const& f) {
  exec::for_each_lane<32>(space, threads, detail::thread_each<F>{f});
}

namespace detail {
template <class Pattern, class Array>
struct fill_arrays {
  Pattern p;
  pattern_memory<Array> m;
  WYRM_HD void operator()(std::uint64_t t) const {
    m.sums[t] = 0;
    for (std::uint64_t i = t; i < scratch_words; i += p.size.threads) m.scratch[i] = 0;
    for (unsigned a = 0; a < Pattern::arrays; ++a) {
      std::uint64_t const n = own_words(p, a);
      for (std::uint64_t i = t * n; i < (t + 1) * n; ++i) m.arrays[a][i] = p.initial(a, i);
    }
  }
};
/// Weights make the sum depend on the positions of the values.
template <class Pattern, class Array>
struct sum_results {
  Pattern p;
  pattern_memory<Array> m;
  std::uint64_t* results;
  WYRM_HD void operator()(std::uint64_t t) const {
    std::uint64_t sum = m.sums[t];
    if constexpr (Pattern::result != no_array) {
      std::uint64_t const n = own_words(p, Pattern::result);
      for (std::uint64_t i = t * n; i < (t + 1) * n; ++i) sum += m.arrays[Pattern::result][i] * (2 * i + 1);
    }
    results[t] = sum;
  }
};
}  // namespace detail

/// A pattern with its arrays. `Arrays` makes them, see arrays.hpp. Members that launch kernels do not wait.
template <class Pattern, class Arrays>
class workload {
 public:
  using space_type = typename Arrays::space_type;
  using array_type = typename Arrays::array_type;

  /// Throws error(out_of_memory), and error(bad_argument) where the pattern cannot have this size.
  workload(Pattern const& p, Arrays& arrays)
      : space_(arrays.space()),
        p_(p),
        scratch_(space_, scratch_words),
        sums_(space_, p.size.threads),
        results_(space_, p.size.threads),
        memory_{} {
    for (unsigned a = 0; a < Pattern::arrays; ++a) memory_.arrays[a] = arrays.make(p.size.threads, own_words(p, a));
    memory_.scratch = scratch_.data();
    memory_.sums = sums_.data();
  }

  /// Writes the initial values, which each run needs.
  void fill() const { for_each_thread(space_, p_.size.threads, detail::fill_arrays<Pattern, array_type>{p_, memory_}); }
  void run() const { p_.run(space_, memory_); }
  /// The result of a run as one number per thread: what the kernels have added to `sums`, and the sum over the part of
  /// the thread in the array with the result of x[i] * (2 i + 1). Waits.
  [[nodiscard]] std::vector<std::uint64_t> result() const {
    for_each_thread(space_, p_.size.threads, detail::sum_results<Pattern, array_type>{p_, memory_, results_.data()});
    return exec::copy_out(space_, results_.data(), p_.size.threads);
  }
  [[nodiscard]] pattern_memory<array_type> const& memory() const { return memory_; }

 private:
  space_type space_;
  Pattern p_;
  exec::buffer<std::uint64_t, space_type> scratch_;
  exec::buffer<std::uint64_t, space_type> sums_;
  exec::buffer<std::uint64_t, space_type> results_;
  pattern_memory<array_type> memory_;
};

}  // namespace wyrm::bench
