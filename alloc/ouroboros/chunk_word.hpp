// SPDX-License-Identifier: Apache-2.0
// The data of chunk_store.hpp on the device: the state of a queue of chunks, and the word of a chunk.
#pragma once

#include <cstdint>

#include "../../exec/config.hpp"
#include "../size_classes.hpp"
#include "queue_ends.hpp"

namespace wyrm::alloc::detail {

/// The state of the queue of a class on the device.
struct alignas(64) chunk_queue_state {
  queue_ends chunks;
  std::uint32_t nodes;
  std::int32_t stale;  // entries whose chunks have left the class
};

/// The state of a chunk, in one word.
struct chunk_word {
  static constexpr std::uint64_t counts = 0xffff;  // number of free pages
  static constexpr std::uint64_t owners = std::uint64_t{63}
                                          << 16;  // class + 1; 0: none, or none of its pages has been freed
  static constexpr std::uint64_t hinted = std::uint64_t{1} << 22;  // it is in the ring of hints
  static constexpr WYRM_HD std::uint64_t owner(unsigned c) { return std::uint64_t{c + 1} << 16; }
  /// In the queue of class c. Classes whose pages are chunks, or runs, have one bit in common: their queues have no
  /// stale entries, so a chunk is in the queue of its own class at most.
  static constexpr WYRM_HD std::uint64_t queued(unsigned c) {
    return std::uint64_t{1} << (24 + (c < split_classes ? c : split_classes));
  }
  static constexpr WYRM_HD std::uint32_t count(std::uint64_t word) { return static_cast<std::uint32_t>(word & counts); }
  static constexpr WYRM_HD bool is_of(std::uint64_t word, unsigned c) { return (word & owners) == owner(c); }
  static constexpr WYRM_HD bool is_in_queue_of(std::uint64_t word, unsigned c) {
    return is_of(word, c) && (word & queued(c)) != 0;
  }
};

static_assert(page_classes < 63 && 24 + split_classes < 64);

/// The number of words of the mask that says which pages of a chunk are free.
inline constexpr unsigned mask_words = pages_per_chunk(0) / 64;

}  // namespace wyrm::alloc::detail
