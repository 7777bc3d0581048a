// SPDX-License-Identifier: Apache-2.0
// The bulk primitives: sort, unique, scan, reduce. The only door to Thrust and CUB, compiled once for each
// space, so that nothing else waits for those headers. Scratch memory is kept and reused. Use `Space::bulk`; one
// object serves one thread of the host at a time.
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

// The interface stands twice, word for word, because the spaces share no base class:
//   sort            orders n keys by their lowest `bits` bits (a host by all of them); `spare` has room for n more; the
//                   result is in one of the two arrays, and its address is returned
//   unique          copies the first of each run of equal keys; returns how many
//   inclusive_sum   out[0] = 0 and out[i + 1] = in[0] + ... + in[i]; out has n + 1 entries
//   sum             adds all values; the order of additions is fixed for a given n and space
//   reserve         requests the scratch that all of these need for up to n values; they request none then

class host_bulk {
 public:
  explicit host_bulk(host_space const& space) : space_(space) {}
  void reserve(std::size_t) {}
  [[nodiscard]] std::uint64_t* sort(std::uint64_t* keys, std::uint64_t* spare, std::size_t n, unsigned bits);
  [[nodiscard]] std::size_t unique(std::uint64_t const* in, std::uint64_t* out, std::size_t n);
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
  [[nodiscard]] std::size_t unique(std::uint64_t const* in, std::uint64_t* out, std::size_t n);
  void inclusive_sum(std::uint32_t const* in, std::uint64_t* out, std::size_t n);
  [[nodiscard]] double sum(double const* values, std::size_t n);
  [[nodiscard]] std::uint64_t sum(std::uint64_t const* values, std::size_t n);
  [[nodiscard]] std::size_t bytes() const { return scratch_.bytes() + result_.bytes(); }

 private:
  // Asks the primitive how much scratch it needs, then runs it.
  template <class Primitive>
  void call(Primitive const& primitive);

  cuda_space space_;
  buffer<std::byte, cuda_space> scratch_;
  buffer<std::uint64_t, cuda_space> result_;
  std::size_t reserved_ = 0;  // values that scratch is enough for
};
#endif

}  // namespace wyrm::exec
