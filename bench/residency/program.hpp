// SPDX-License-Identifier: Apache-2.0
// What the programs have in common. They have the access patterns of the benchmarks of "GDM: Device Memory Management
// for GPGPU Computing" (SIGMETRICS 2014, section 6.1, Table 1): which data sets a program has, their share of its
// memory, and which kernels and transfers read and write them. The paper gives the names and the sum of the sizes;
// backprop, hotspot, nn and srad follow the transfers of the Rodinia benchmarks of these names. What the paper does not
// say (numbers of iterations, layouts) is a choice of this benchmark, named in each header. Arithmetic is on integers
// modulo 2^32, so that results are exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../../exec/atomic.hpp"
#include "../../exec/config.hpp"
#include "../../exec/launch.hpp"
#include "memory.hpp"

namespace wyrm::bench::gdm {

/// A program has:
///   name                   as in Table 1
///   P(bytes)               makes its input in host memory, for about so many bytes of device memory
///   run(memory)            transfers, launches, and transfers the result to the host; may be called again
///   checksum()             of the result of the last run
///   expected()             the checksum that a serial program of the host computes from the same input

/// A pseudorandom word that is a function of a stream and an index.
[[nodiscard]] WYRM_HD inline word drawn(word stream, std::uint64_t i) {
  std::uint64_t x = i * 0x9e3779b97f4a7c15ull + stream * 0xd1b54a32d192ed03ull;
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93ull;
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93ull;
  return static_cast<word>(x >> 32);
}

/// n words that drawn() gives, each below `limit`; 0: all words.
[[nodiscard]] inline std::vector<word> drawn_words(word stream, std::size_t n, word limit = 0) {
  std::vector<word> words(n);
  for (std::size_t i = 0; i < n; ++i) words[i] = limit == 0 ? drawn(stream, i) : drawn(stream, i) % limit;
  return words;
}

/// Depends on the position of each word.
[[nodiscard]] inline std::uint64_t checksum_of(std::span<word const> words, std::uint64_t sum = 0) {
  for (std::size_t i = 0; i < words.size(); ++i) sum += words[i] * (2 * std::uint64_t{i} + 1);
  return sum;
}

/// The threads of a kernel in which each thread visits many items, and adds to a sum of all threads at its end: items
/// t, t + threads, ...
[[nodiscard]] inline std::size_t summing_threads(std::size_t items) { return items < (1u << 17) ? items : 1u << 17; }

WYRM_HD inline void add_to(std::uint64_t& sum, std::uint64_t value) {
  exec::atomic_ref<std::uint64_t>(sum).fetch_add(value, exec::relaxed);
}
/// Sums are pairs of words.
[[nodiscard]] inline std::uint64_t* as_sums(word* words) { return reinterpret_cast<std::uint64_t*>(words); }
[[nodiscard]] inline std::vector<std::uint64_t> read_sums(held_array const& a, std::size_t n) {
  std::vector<std::uint64_t> sums(n);
  a.read({reinterpret_cast<word*>(sums.data()), 2 * n});
  return sums;
}

/// A program of any kind on a space.
template <class Space>
class any_program {
 public:
  virtual ~any_program() = default;
  virtual void run(device_memory<Space>& memory) = 0;
  [[nodiscard]] virtual std::uint64_t checksum() const = 0;
  [[nodiscard]] virtual std::uint64_t expected() const = 0;
};
template <class Space, class Program>
class program_on final : public any_program<Space> {
 public:
  explicit program_on(std::size_t bytes) : program_(bytes) {}
  void run(device_memory<Space>& memory) override { program_.run(memory); }
  [[nodiscard]] std::uint64_t checksum() const override { return program_.checksum(); }
  [[nodiscard]] std::uint64_t expected() const override { return program_.expected(); }

 private:
  Program program_;
};

}  // namespace wyrm::bench::gdm
