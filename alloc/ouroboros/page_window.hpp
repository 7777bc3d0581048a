// SPDX-License-Identifier: Apache-2.0
// The fresh pages of a class: a run of chunks whose pages are allocated for the first time, in order, by one atomic
// addition. One word: the first chunk (27 bits), the next page (21 bits, counted from that chunk), the number of chunks
// (16 bits).
#pragma once

#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/config.hpp"
#include "../extent/extent_ref.hpp"

namespace wyrm::alloc {

namespace detail {
/// `count` pages, from number `first` on, counted from the beginning of `chunk`: see nth_page().
struct page_range {
  std::uint32_t chunk;
  std::uint32_t first;
  std::uint32_t count;
};
}  // namespace detail

class page_window {
 public:
  /// The maximum number of pages of a window. "next" exceeds the end by at most the number of lanes that request pages
  /// at the same time, 2^19.
  static constexpr std::uint32_t max_pages = std::uint32_t{1} << 20;
  [[nodiscard]] static WYRM_HD std::uint32_t max_chunks(std::uint32_t pages_per_chunk) {
    return max_pages / pages_per_chunk < extent_ref::at_once ? max_pages / pages_per_chunk : extent_ref::at_once;
  }

  /// The word, for left(). Call take() only after a load() with pages left, so that no thread adds again to a window
  /// that it has seen exhausted.
  [[nodiscard]] WYRM_HD std::uint64_t load() { return word().load(exec::relaxed); }
  [[nodiscard]] WYRM_HD static std::uint32_t left(std::uint64_t word, std::uint32_t pages_per_chunk) {
    std::uint32_t const end = static_cast<std::uint32_t>(word & 0xffff) * pages_per_chunk;
    return next(word) < end ? end - next(word) : 0;
  }
  /// Takes up to n pages; none if the window is exhausted.
  [[nodiscard]] WYRM_HD detail::page_range take(std::uint32_t n, std::uint32_t pages_per_chunk) {
    std::uint64_t const before = word().fetch_add(std::uint64_t{n} << 16, exec::acquire);
    std::uint32_t const rest = left(before, pages_per_chunk);
    return {static_cast<std::uint32_t>(before >> 37), next(before), rest < n ? rest : n};
  }
  /// The number of pages left; a hint, because other threads may change it at any time.
  [[nodiscard]] WYRM_HD std::uint32_t left(std::uint32_t pages_per_chunk) { return left(load(), pages_per_chunk); }

  /// Removes from its end the chunks of which no page was allocated, and returns them.
  [[nodiscard]] WYRM_HD chunk_range truncate(std::uint32_t pages_per_chunk) {
    std::uint64_t now = word().load(exec::acquire);
    while (left(now, pages_per_chunk) > 0) {
      std::uint32_t const used = (next(now) + pages_per_chunk - 1) / pages_per_chunk;
      std::uint32_t const chunks = static_cast<std::uint32_t>(now & 0xffff);
      if (used == chunks) break;
      if (word().compare_exchange_strong(now, now - (chunks - used), exec::acq_rel, exec::acquire))
        return {static_cast<std::uint32_t>(now >> 37) + used, chunks - used};
    }
    return {0, 0};
  }

  /// Replaces an exhausted window; the first `taken` pages of the new one belong to the caller. A plain store is
  /// enough, because concurrent additions to an exhausted window have no effect on any result.
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
