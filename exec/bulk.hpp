// SPDX-License-Identifier: Apache-2.0
// The bulk primitives: sort, unique, scan, reduce. Only their source files include Thrust and CUB, so other sources
// compile without these headers. An object keeps its scratch memory and reuses it. Use `Space::bulk`. Not thread-safe:
// one host thread at a time may use an object.
#pragma once

#include <cstddef>
#include <cstdint>

#include "config.hpp"
#include "host_space.hpp"
#include "memory.hpp"
#if WYRM_WITH_CUDA
#include "cuda_space.hpp"
#endif

namespace wyrm::exec {

// Both classes have the same interface; they have no common base class:
//   sort            sorts n keys by their lowest `bits` bits (on a host by all bits). `spare` is an array of n keys for
//                   intermediate results. Returns the array that contains the result: `keys` or `spare`
//   sort_pairs      the same for keys that have values: both arrays are permuted, and values of equal keys keep their
//                   order. `spare_values` is an array of n values. Returns the arrays that contain the result
//   unique          copies the first of each run of equal keys to `out`; returns the number of runs
//   run_begins      writes the position of the first key of each run to `out`; n < 2^32
//   inclusive_sum   out[0] = 0 and out[i + 1] = in[0] + ... + in[i]; out has n + 1 entries
//   sum             the sum of all values; the order of additions is fixed for a given n and space
//   reserve         allocates the scratch memory of all other operations except sort_pairs for up to n values, so that
//                   these allocate none

/// The result of sort_pairs().
struct sorted_pairs {
  std::uint64_t* keys;
  std::uint32_t* values;
};

class host_bulk {
 public:
  explicit host_bulk(host_space const& space) : space_(space) {}
  void reserve(std::size_t) {}
  [[nodiscard]] std::uint64_t* sort(std::uint64_t* keys, std::uint64_t* spare, std::size_t n, unsigned bits);
  [[nodiscard]] sorted_pairs sort_pairs(std::uint64_t* keys, std::uint64_t* spare, std::uint32_t* values,
                                        std::uint32_t* spare_values, std::size_t n, unsigned bits);
  [[nodiscard]] std::size_t unique(std::uint64_t const* in, std::uint64_t* out, std::size_t n);
  void run_begins(std::uint64_t const* in, std::uint32_t* out, std::size_t n);
  void inclusive_sum(std::uint32_t const* in, std::uint64_t* out, std::size_t n);
  [[nodiscard]] double sum(double const* values, std::size_t n);
  [[nodiscard]] std::uint64_t sum(std::uint64_t const* values, std::size_t n);
  [[nodiscard]] std::size_t bytes() const { return 0; }

 private:
  host_space space_;
};

#if WYRM_WITH_CUDA
class cuda_bulk {
 public:
  explicit cuda_bulk(cuda_space const& space) : space_(space), scratch_(space), result_(space, 1) {}
  void reserve(std::size_t n);
  [[nodiscard]] std::uint64_t* sort(std::uint64_t* keys, std::uint64_t* spare, std::size_t n, unsigned bits);
  [[nodiscard]] sorted_pairs sort_pairs(std::uint64_t* keys, std::uint64_t* spare, std::uint32_t* values,
                                        std::uint32_t* spare_values, std::size_t n, unsigned bits);
  [[nodiscard]] std::size_t unique(std::uint64_t const* in, std::uint64_t* out, std::size_t n);
  void run_begins(std::uint64_t const* in, std::uint32_t* out, std::size_t n);
  void inclusive_sum(std::uint32_t const* in, std::uint64_t* out, std::size_t n);
  [[nodiscard]] double sum(double const* values, std::size_t n);
  [[nodiscard]] std::uint64_t sum(std::uint64_t const* values, std::size_t n);
  [[nodiscard]] std::size_t bytes() const { return scratch_.bytes() + result_.bytes(); }

 private:
  // Queries the size of the scratch memory that the primitive needs, and then runs the primitive.
  template <class Primitive>
  void call(Primitive const& primitive);

  cuda_space space_;
  buffer<std::byte, cuda_space> scratch_;
  buffer<std::uint64_t, cuda_space> result_;
  std::size_t reserved_ = 0;  // number of values for which scratch_ suffices
};
#endif

}  // namespace wyrm::exec
