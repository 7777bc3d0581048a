// SPDX-License-Identifier: Apache-2.0
// The check of chunk_store.hpp: proves from copies on the host that masks, words, queues and hints agree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../allocator.hpp"
#include "chunk_word.hpp"
#include "class_state.hpp"

namespace wyrm::alloc::detail {

/// The chunks of one class. Throws error(corrupt), with `who` and `what` in its message.
struct chunk_check {
  char const* who;
  std::string const& what;
  unsigned c;
  std::vector<std::uint64_t> words;  // one chunk_word per chunk
  std::vector<std::uint64_t> masks;  // mask_words entries per chunk

  /// entries: of the queue of the class. uses: what each chunk is used for. Calls take(page, where) for each free page.
  /// Returns the number of entries that are chunks of other classes.
  template <class Take>
  std::uint64_t check(chunk_queue_state const& queue, std::vector<std::uint64_t> const& entries,
                      std::vector<std::uint32_t> const& uses, page_class_state<page_counts> const& state,
                      Take const& take) const {
    std::vector<bool> const queued = queued_chunks(entries, uses.size());
    std::size_t free = 0;
    std::int32_t stale = 0;
    std::uint64_t others = 0;
    for (std::size_t chunk = 0; chunk < uses.size(); ++chunk) {
      if (queued[chunk] != says_queued(words[chunk]))
        fail(chunk, queued[chunk] ? " is queued, but its word says that it is not"
                                  : " is not queued, but its word says that it is");
      bool const is_of_c = chunk_word::is_of(words[chunk], c);
      if (is_of_c && uses[chunk] != c) fail(chunk, " is used for something else");
      stale += queued[chunk] && !is_of_c;
      others += queued[chunk] && uses[chunk] != c;
      if (uses[chunk] == c) free += check_pages(chunk, queued[chunk], take);
    }
    ensure(free == state.pages.size(), who,
           what + std::to_string(free) + " pages are free, but " + std::to_string(state.pages.size()) + " are counted");
    ensure(stale == queue.stale, who,
           what + std::to_string(stale) + " entries are stale, but " + std::to_string(queue.stale) + " are counted");
    return others;
  }

 private:
  // Whether the chunk is in the queue of the class, perhaps as a stale entry.
  [[nodiscard]] bool says_queued(std::uint64_t word) const {
    return (word & chunk_word::queued(c)) != 0 && (c < split_classes || chunk_word::is_of(word, c));
  }
  void fail(std::size_t chunk, std::string const& why) const {
    ensure(false, who, what + "chunk " + std::to_string(chunk) + why);
  }
  [[nodiscard]] std::vector<bool> queued_chunks(std::vector<std::uint64_t> const& entries, std::size_t chunks) const {
    std::vector<bool> queued(chunks);
    for (std::uint64_t const chunk : entries) {
      ensure(chunk < chunks, who, what + "a queued chunk is not of the pool");
      if (queued[chunk]) fail(chunk, " is queued twice");
      queued[chunk] = true;
    }
    return queued;
  }
  // Of a chunk of the class. Returns the number of its free pages.
  template <class Take>
  std::size_t check_pages(std::size_t chunk, bool queued, Take const& take) const {
    std::uint32_t const pages = pages_per_chunk(c);
    std::size_t free = 0;
    for (std::uint32_t p = 0; p < pages; ++p) {
      if ((masks[chunk * mask_words + p / 64] >> p % 64 & 1) == 0) continue;
      take(page_in_chunk(c, chunk, p), "stored");
      ++free;
    }
    std::uint32_t const count = chunk_word::count(words[chunk]);
    if (count > 0 && !chunk_word::is_of(words[chunk], c)) fail(chunk, " has free pages, but is not of the class");
    if (free != count) fail(chunk, " has " + std::to_string(free) + " free pages, but counts " + std::to_string(count));
    if (free > 0 && !queued) fail(chunk, " has free pages, but is not queued");
    if (free == pages && pages > 1 && (words[chunk] & chunk_word::hinted) == 0) fail(chunk, " is free without a hint");
    return free;
  }
};

/// Of all classes: each hint is in the ring once, and a chunk of no class has no free page.
inline void check_hints(char const* who, std::vector<std::uint64_t> words, std::vector<std::uint64_t> const& masks,
                        std::vector<std::uint64_t> const& hints) {
  for (std::uint64_t const chunk : hints) {
    ensure(chunk < words.size() && (words[chunk] & chunk_word::hinted) != 0, who, "a hint is in the ring twice");
    words[chunk] &= ~chunk_word::hinted;
  }
  for (std::uint64_t const word : words) ensure((word & chunk_word::hinted) == 0, who, "a hint is lost");
  for (std::size_t i = 0; i < masks.size(); ++i)
    ensure(masks[i] == 0 || (words[i / mask_words] & chunk_word::owners) != 0, who,
           "chunk " + std::to_string(i / mask_words) + " has free pages, but no class");
}

}  // namespace wyrm::alloc::detail
