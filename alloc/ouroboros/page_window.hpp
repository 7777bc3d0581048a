// SPDX-License-Identifier: Apache-2.0
// Pages of one class that nobody has had yet: a run of chunks, handed out from its beginning by one atomic addition.
// One word: the first chunk (27 bits), the next page (21 bits, counted from that chunk on), the chunks (16 bits).
#pragma once

#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/config.hpp"
#include "../extent/extent.hpp"

namespace wyrm::alloc {

namespace detail {
struct page_range {
  std::uint64_t first;
  std::uint32_t count;
};
}  // namespace detail

class page_window {
 public:
  /// The most pages of a window: "next" runs past the end by no more than the lanes that ask at one time, 2^19.
  static constexpr std::uint32_t max_pages = std::uint32_t{1} << 20;
  [[nodiscard]] static WYRM_HD std::uint32_t max_chunks(std::uint32_t pages_a_chunk) {
    return max_pages / pages_a_chunk < extent_ref::at_once ? max_pages / pages_a_chunk : extent_ref::at_once;
  }

  /// Up to n pages: cut() them only after a look() of which something was left(), so that nobody asks twice of a window
  /// that it has seen used up.
  [[nodiscard]] WYRM_HD std::uint64_t look() { return word().load(exec::relaxed); }
  [[nodiscard]] WYRM_HD static std::uint32_t left(std::uint64_t word, std::uint32_t pages_a_chunk) {
    std::uint32_t const end = static_cast<std::uint32_t>(word & 0xffff) * pages_a_chunk;
    return next(word) < end ? end - next(word) : 0;
  }
  [[nodiscard]] WYRM_HD detail::page_range cut(std::uint32_t n, std::uint32_t pages_a_chunk) {
    std::uint64_t const before = word().fetch_add(std::uint64_t{n} << 16, exec::acquire);
    std::uint32_t const rest = left(before, pages_a_chunk);
    return {(before >> 37) * pages_a_chunk + next(before), rest < n ? rest : n};
  }
  /// A hint.
  [[nodiscard]] WYRM_HD std::uint32_t left(std::uint32_t pages_a_chunk) {
    return left(look(), pages_a_chunk);
  }

  /// Takes from its end the chunks that no page was handed out of. They are the range of chunks returned.
  [[nodiscard]] WYRM_HD chunk_range shorten(std::uint32_t pages_a_chunk) {
    std::uint64_t now = word().load(exec::acquire);
    while (left(now, pages_a_chunk) > 0) {
      std::uint32_t const used = (next(now) + pages_a_chunk - 1) / pages_a_chunk;
      std::uint32_t const chunks = static_cast<std::uint32_t>(now & 0xffff);
      if (used == chunks) break;
      if (word().compare_exchange_strong(now, now - (chunks - used), exec::acq_rel, exec::acquire))
        return {static_cast<std::uint32_t>(now >> 37) + used, chunks - used};
    }
    return {0, 0};
  }

  /// Replaces a window that is used up; the first `taken` pages of the new one are the caller's. Additions meanwhile
  /// change nothing that counts, so a store will do.
  WYRM_HD void replace(std::uint32_t first_chunk, std::uint32_t chunks, std::uint32_t taken) {
    word().store(std::uint64_t{first_chunk} << 37 | std::uint64_t{taken} << 16 | chunks, exec::release);
  }

 private:
  [[nodiscard]] WYRM_HD static std::uint32_t next(std::uint64_t word) {
    return static_cast<std::uint32_t>(word >> 16) & 0x1fffff;
  }
  WYRM_HD exec::atomic_ref<std::uint64_t> word() { return exec::atomic_ref<std::uint64_t>(word_); }

  std::uint64_t word_ = 0;
};

}  // namespace wyrm::alloc
