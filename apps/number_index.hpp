// SPDX-License-Identifier: Apache-2.0
// Finds the places of numbers in an array, which costs one or two cache misses each, where a binary search costs one a
// step.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "../graph/types.hpp"

namespace wyrm::apps {

/// Of numbers that ascend and are dense (one in 64 of their range, or more): a bitmap with the number of set bits
/// before each word, at most 16 bytes per number. Of others: an open-addressing hash table, 8 to 16 bytes per number.
class number_index {
 public:
  number_index() = default;
  /// At most graph::max_vertices numbers. Of equal ones the first is found. O(n), expected. Throws std::bad_alloc.
  explicit number_index(std::span<std::uint64_t const> numbers);

  /// Whether no number can be found, as none was given.
  [[nodiscard]] bool empty() const noexcept { return words_.empty() && slots_.empty(); }
  /// The place of a number in `numbers`, which the index was made of. O(1), expected. Thread-safe.
  [[nodiscard]] std::optional<graph::vertex_id> find(std::span<std::uint64_t const> numbers,
                                                     std::uint64_t number) const {
    return slots_.empty() ? find_bit(number) : find_slot(numbers, number);
  }

 private:
  static constexpr std::uint64_t bits_of_word = 64;
  struct word {
    std::uint64_t bits = 0;       // bit i: whether first_ + 64 * (its place) + i is there
    graph::vertex_id before = 0;  // number of bits in the words before
  };
  [[nodiscard]] std::optional<graph::vertex_id> find_bit(std::uint64_t number) const {
    std::uint64_t const at = number - first_;  // wraps around below first_
    if (at / bits_of_word >= words_.size()) return std::nullopt;
    word const& w = words_[at / bits_of_word];
    std::uint64_t const bit = std::uint64_t{1} << (at % bits_of_word);
    if ((w.bits & bit) == 0) return std::nullopt;
    return w.before + static_cast<graph::vertex_id>(std::popcount(w.bits & (bit - 1)));
  }
  [[nodiscard]] std::optional<graph::vertex_id> find_slot(std::span<std::uint64_t const> numbers,
                                                          std::uint64_t number) const;
  // The slot that has a number, or else an empty one.
  [[nodiscard]] std::size_t slot_of(std::span<std::uint64_t const> numbers, std::uint64_t number) const;
  void mark(std::span<std::uint64_t const> numbers);
  void hash(std::span<std::uint64_t const> numbers);

  std::uint64_t first_ = 0;
  std::uint64_t seed_ = 0;  // of the hash, random: nobody can choose ids that collide
  std::vector<word> words_;
  std::vector<graph::vertex_id> slots_;  // places, or no_vertex; a power of two, of which at most half are used
};

}  // namespace wyrm::apps
