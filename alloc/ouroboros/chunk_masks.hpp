// SPDX-License-Identifier: Apache-2.0
// The masks of chunks: which pages of a chunk are free (see chunk_store_ref.hpp).
#pragma once

#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/bits.hpp"
#include "../../exec/tile.hpp"
#include "../size_classes.hpp"
#include "chunk_word.hpp"

namespace wyrm::alloc::detail {

class chunk_masks {
 public:
  /// mask_words words per chunk; all zero for a chunk without a class.
  explicit chunk_masks(std::uint64_t* words) : words_(words) {}

  /// Release: the accesses of the page's user happen before those of its next user, who clears the bit.
  WYRM_HD void set_free(std::uint64_t chunk, std::uint32_t bit) const {
    word_of(chunk, bit / 64).fetch_or(std::uint64_t{1} << bit % 64, exec::release);
  }
  WYRM_HD void clear(std::uint64_t chunk, std::uint32_t pages) const {
    for (unsigned w = 0; w < (pages + 63) / 64; ++w) word_of(chunk, w).store(0, exec::relaxed);
  }

  /// The leader of each group has claimed `taken` pages of `chunk` for its group, which already has `had` pages. Finds
  /// the claimed pages in the mask, clears their bits, and sets `page` in the lanes with ranks from `had` on;
  /// collective. `taken` is 0 in lanes that are not leaders. `member`: the lane is in a group.
  /// The search always finds the pages: a thread that frees a page sets its bit before it counts the page. So there are
  /// at least as many set bits as pages that are counted, or claimed and not found yet. Another thread may clear a bit
  /// that a lane has seen, but then other bits are set. The search starts at bit `begin`; if all pages of the chunk
  /// were free, different callers start at different bits.
  template <class Tile>
  WYRM_HD void claim(Tile const& t, lane_group const& mine, unsigned c, std::uint64_t chunk, std::uint32_t pages,
                     std::uint32_t begin, std::uint32_t taken, std::uint32_t had, bool member,
                     std::uint64_t& page) const {
    std::uint64_t const from = t.shfl(chunk, mine.leader);
    std::uint32_t first = t.shfl(had, mine.leader);
    std::uint32_t left = taken;
    unsigned const words = (pages + 63) / 64;
    for (unsigned skip = begin % 64; t.any(left > 0); skip = 0) {
      std::uint64_t seen[mask_words];  // independent loads, so that their latencies overlap
      for (unsigned i = 0; i < mask_words; ++i)
        seen[i] = left > 0 && i < words ? word_of(chunk, (begin / 64 + i) % words).load(exec::relaxed) : 0;
      seen[0] &= ~std::uint64_t{0} << skip;
      for (unsigned i = 0; i < mask_words && t.any(left > 0); ++i) {
        unsigned const w = (begin / 64 + i) % words;
        std::uint64_t bits = exec::lowest_set(seen[i], left);
        // Acquire: the accesses of the last users of these pages happen before those of the new ones.
        if (bits != 0) bits &= word_of(chunk, w).fetch_and(~bits, exec::acquire);
        left -= static_cast<std::uint32_t>(cuda::std::popcount(bits));
        bits = t.shfl(bits, mine.leader);
        auto const found = static_cast<std::uint32_t>(cuda::std::popcount(bits));
        unsigned const word = t.shfl(w, mine.leader);
        if (member && mine.rank >= first && mine.rank - first < found)
          page = page_in_chunk(c, from, word * 64 + exec::find_kth_set(bits, mine.rank - first));
        first += found;
      }
    }
  }

 private:
  [[nodiscard]] WYRM_HD exec::atomic_ref<std::uint64_t> word_of(std::uint64_t chunk, unsigned word) const {
    return exec::atomic_ref<std::uint64_t>(words_[chunk * mask_words + word]);
  }

  std::uint64_t* words_;
};

}  // namespace wyrm::alloc::detail
