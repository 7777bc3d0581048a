// SPDX-License-Identifier: Apache-2.0
// Arrays whose elements may lie in one piece, or in a block for each thread. A pattern of access is written once, and
// runs on any of them, so that the arrangement of the memory is all that differs. Element i of an array of n elements
// for t threads belongs to thread i / (n / t).
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>

#include "../../alloc/align/interleaved_block.hpp"
#include "../../exec/config.hpp"
#include "../../exec/error.hpp"

namespace wyrm::bench {

/// A handle for kernels: a[i] is element i, wherever it lies. Handles are copied by value, and own nothing.
template <class A>
concept array = std::is_trivially_copyable_v<A> && requires(A const& a, std::uint64_t i) {
  { a[i] } -> std::same_as<typename A::value_type&>;
};

/// Divides the index of an element by the number of elements per thread, which is an odd number times a power of two:
/// shifts and one multiplication.
class division {
 public:
  division() = default;
  /// Exact for all indices below threads * per_thread, at most 2^47. Throws error(bad_argument) where the odd factor of
  /// per_thread is too large: threads * odd^2 must be below 2^32.
  division(std::uint64_t threads, std::uint64_t per_thread) : per_thread_(per_thread) {
    std::uint64_t odd = per_thread;
    for (; odd > 1 && odd % 2 == 0; odd /= 2) ++shift_;
    if (threads == 0 || odd == 0 || odd >= 1u << 16 || threads >= (std::uint64_t{1} << 32) / (odd * odd))
      throw error(error_code::bad_argument, "an array of " + std::to_string(per_thread) + " elements for each of " +
                                                std::to_string(threads) +
                                                " threads: threads times the square of the odd factor of the elements "
                                                "per thread must be below 2^32; use a rounder size");
    reciprocal_ = ((std::uint64_t{1} << 32) + odd - 1) / odd;
  }
  [[nodiscard]] WYRM_HD std::uint64_t per_thread() const { return per_thread_; }
  /// i / per_thread().
  [[nodiscard]] WYRM_HD std::uint64_t thread_of(std::uint64_t i) const { return ((i >> shift_) * reciprocal_) >> 32; }

 private:
  std::uint64_t per_thread_ = 1;
  std::uint64_t reciprocal_ = std::uint64_t{1} << 32;  // 2^32 / odd, rounded up
  std::uint32_t shift_ = 0;
};

/// One piece of memory.
template <class T>
struct plain {
  using value_type = T;
  static constexpr char const* name = "plain";
  T* data;
  WYRM_HD T& operator[](std::uint64_t i) const { return data[i]; }
};
static_assert(array<plain<std::uint32_t>>);

/// A block for each thread, as an allocator gives them. `blocks` is a table with the block of each thread.
template <class T>
struct rows {
  using value_type = T;
  static constexpr char const* name = "rows";
  T* const* blocks;
  division parts;
  WYRM_HD T& operator[](std::uint64_t i) const {
    std::uint64_t const thread = parts.thread_of(i);
    return blocks[thread][i - thread * parts.per_thread()];
  }
};
static_assert(array<rows<std::uint32_t>>);

/// A block for each warp, in which the memory of its 32 threads is interleaved (alloc/align/arrangement.hpp). `warps`
/// is a table with the block of each warp.
template <class T>
struct interleaved {
  using value_type = T;
  static constexpr char const* name = "interleaved";
  alloc::interleaved_block const* warps;
  division parts;
  WYRM_HD T& operator[](std::uint64_t i) const {
    std::uint64_t const thread = parts.thread_of(i);
    return warps[thread / alloc::warp_lanes].template at<T>(static_cast<unsigned>(thread % alloc::warp_lanes),
                                                            i - thread * parts.per_thread());
  }
};
static_assert(array<interleaved<std::uint32_t>>);

}  // namespace wyrm::bench
