// SPDX-License-Identifier: Apache-2.0
// The units of rw_malloc_ref: a bitmap of the used units, and one of the last units of blocks. Finds runs of free units
// in a region, or in a part of one, claims them, and frees them. See rw_malloc_ref.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda/std/bit>
#include <type_traits>

#include "../../exec/atomic.hpp"
#include "../../exec/config.hpp"
#include "../../exec/tile.hpp"
#include "../allocator.hpp"
#include "../extent/extent.hpp"
#include "../free_runs.hpp"
#include "span_memory.hpp"
#include "spans.hpp"
#include "used_pages.hpp"

namespace wyrm::alloc::detail {

inline constexpr unsigned units_log2 = 9;
inline constexpr std::uint32_t units_per_chunk = 1u << units_log2;
inline constexpr std::uint32_t region_words = 32;
inline constexpr std::uint32_t region_units = region_words * 64;
inline constexpr std::uint32_t region_chunks = region_units / units_per_chunk;
inline constexpr std::uint32_t words_per_chunk = units_per_chunk / 64;
static_assert(words_per_chunk < 32);  // first_words() has a bit for each of them
static_assert(units_per_chunk * alignment == chunk_bytes);

/// Trivially copyable. The base of rw_malloc_ref.
class unit_runs {
 protected:
  using used_units = used_bits_ref<std::uint64_t, false>;
  using parts = span_parts<std::uint64_t>;

  explicit unit_runs(parts const& p) : parts_(p) {}

  WYRM_HD static std::uint32_t units_for(std::size_t bytes) {
    return static_cast<std::uint32_t>((bytes + alignment - 1) / alignment);
  }
  [[nodiscard]] WYRM_HD used_units used() const { return {parts_.used, nullptr, 0}; }
  [[nodiscard]] WYRM_HD spans_ref<used_units> spans() const {
    return {parts_.memory, *parts_.states, {0, 1, units_log2, 1, parts_.table, parts_.owners}, used()};
  }
  [[nodiscard]] WYRM_HD exec::atomic_ref<std::uint64_t> ends(std::uint64_t word) const {
    return exec::atomic_ref<std::uint64_t>(parts_.marks[word]);
  }
  // Whether the memory of this word follows that of the previous word.
  [[nodiscard]] WYRM_HD bool are_neighbours(std::uint64_t word) const {
    if (word % words_per_chunk != 0) return true;
    auto const span = static_cast<std::uint32_t>(word / words_per_chunk);
    std::uint32_t const chunk = spans().chunk(span);
    std::uint32_t const before = spans().chunk(span - 1);  // the two loads overlap
    return chunk != no_span && before + 1 == chunk;
  }
  // The bits of word w of a region that are among the `n` units from unit `first` of the region on.
  WYRM_HD static std::uint64_t units_in(std::uint32_t w, std::uint32_t first, std::uint32_t n) {
    std::uint32_t const begin = w * 64;
    std::uint32_t const low = first > begin ? first - begin : 0;
    std::uint32_t const high = first + n < begin + 64 ? first + n : begin + 64;
    if (low >= 64 || high <= begin + low) return 0;
    return (~std::uint64_t{0} >> (64 - (high - begin - low))) << low;
  }

  // The words that a tile probes: those of a region, or of an aligned part of one.
  struct range {
    std::uint64_t first;
    std::uint32_t words;
  };
  // Free units of a range; `units` is 0 if none were found.
  struct run {
    std::uint32_t at;
    std::uint32_t units;
  };
  // How many words of a range are before `end`.
  WYRM_HD static std::uint32_t existing(range const& all, std::uint64_t end) {
    std::uint64_t const behind = all.first + all.words;
    return static_cast<std::uint32_t>((behind < end ? behind : all.first < end ? end : all.first) - all.first);
  }
  WYRM_HD static range whole(std::uint32_t region) { return {std::uint64_t{region} * region_words, region_words}; }
  WYRM_HD static std::uint32_t regions(std::uint32_t spans) { return (spans + region_chunks - 1) / region_chunks; }

  // The longest run of a range; collective. The lane reads this number of words from `mine` on.
  template <class Tile>
  [[nodiscard]] WYRM_NOINLINE WYRM_HD run longest_run(Tile const t, range const all_words, std::uint32_t mine,
                                                      std::uint32_t words, std::uint64_t end) const {
    constexpr std::uint32_t at_once = 2;  // words whose loads overlap
    free_runs here;
    bool begins_adjacent = false;  // the memory of the lane's first word follows that of the lane below
    auto const read = [&](std::uint32_t i, std::uint64_t& free, bool& adjacent) {
      std::uint64_t const word = all_words.first + i;
      bool const exists = i < all_words.words && word < end;
      free = exists ? used().read(word) : 0;
      adjacent = i > 0 && exists && are_neighbours(word);
    };
    if (words == 1) {
      std::uint64_t free = 0;
      read(mine, free, begins_adjacent);
      here = runs_of(free);
    }
    for (std::uint32_t i = 0; words > 1 && i < words; i += at_once) {
      std::uint64_t free[at_once];
      bool adjacent[at_once];
      for (std::uint32_t k = 0; k < at_once; ++k) read(i + k < words ? mine + i + k : ~0u, free[k], adjacent[k]);
      if (i == 0) begins_adjacent = adjacent[0];
      for (std::uint32_t k = 0; k < at_once && i + k < words; ++k)
        here = i + k == 0 ? runs_of(free[k]) : join(here, runs_of(free[k]), adjacent[k]);
    }
    // A run that crosses lanes begins in the last words of one lane, fills the words of the next ones, and may end in
    // the first words of another.
    std::uint32_t const adjacent = t.ballot(begins_adjacent);
    std::uint32_t const filled = adjacent & t.ballot(here.prefix == here.units);
    auto const follow = static_cast<unsigned>(cuda::std::countr_one(filled >> t.rank() >> 1));
    unsigned const next = t.rank() + 1 + follow;
    bool const ends_there = next < t.size() && (adjacent >> next & 1) != 0;
    std::uint32_t const prefix = t.shfl(here.prefix, ends_there ? next : t.rank());
    std::uint32_t const crossing = here.suffix + follow * here.units + (ends_there ? prefix : 0);
    bool const crosses = crossing > here.longest;
    std::uint32_t const units = crosses ? crossing : here.longest;
    std::uint32_t const at = mine * 64 + (crosses ? here.units - here.suffix : here.at);
    std::uint32_t const best = exec::max(t, units << 16 | (0xffff - at));
    return {0xffff - (best & 0xffff), best >> 16};
  }
  // The first run of this number of units in a range. It loads several words at the same time, and stops when it finds
  // the run.
  [[nodiscard]] WYRM_NOINLINE WYRM_HD run first_fit(range const all_words, std::uint64_t end,
                                                    std::uint32_t units) const {
    constexpr std::uint32_t at_once = 8;
    unit_runs const self = *this;  // in registers: the compiler reads members again after each load of a word
    std::uint64_t const first = all_words.first;
    std::uint32_t const words = existing(all_words, end);
    std::uint32_t before = 0;  // free units before the word
    for (std::uint32_t i = 0; i < words; i += at_once) {
      std::uint64_t free[at_once];
      for (std::uint32_t k = 0; k < at_once; ++k) free[k] = self.used().read(first + (i + k < words ? i + k : i));
      for (std::uint32_t k = 0; k < at_once && i + k < words; ++k) {
        if (before > 0 && !self.are_neighbours(first + i + k)) before = 0;
        if (free[k] == 0) {
          before = 0;
          continue;
        }
        auto const prefix = static_cast<std::uint32_t>(cuda::std::countr_one(free[k]));
        if (before + prefix >= units) return {(i + k) * 64 - before, units};
        if (prefix == 64) {
          before += 64;
          continue;
        }
        std::uint32_t const at = first_run(free[k], units);
        if (at < 64) return {(i + k) * 64 + at, units};
        before = static_cast<std::uint32_t>(cuda::std::countl_one(free[k]));
      }
    }
    return {0, 0};
  }
  // The same for more than 64 units, in fewer instructions per word: no word has such a run. The range consists of
  // whole chunks, as those for 64 units or more do: see rw_malloc_ref::words_needed().
  [[nodiscard]] WYRM_NOINLINE WYRM_HD run first_long(range const all_words, std::uint64_t end,
                                                     std::uint32_t units) const {
    used_units const bits = used();  // in a register, as in first_fit()
    std::uint32_t const words = existing(all_words, end);
    std::uint32_t before = 0;  // free units before the word
    for (std::uint32_t i = 0; i < words; i += words_per_chunk) {
      std::uint64_t const chunk = all_words.first + i;
      std::uint64_t taken[words_per_chunk];  // loaded together
      for (std::uint32_t k = 0; k < words_per_chunk; ++k) taken[k] = ~bits.read(chunk + k);
      if (before > 0 && !are_neighbours(chunk)) before = 0;
      for (std::uint32_t k = 0; k < words_per_chunk; ++k) {
        if (taken[k] == 0) {
          before += 64;
          if (before >= units) return {(i + k + 1) * 64 - before, units};
        } else if (~taken[k] == 0) {
          before = 0;
        } else {
          if (before + static_cast<std::uint32_t>(cuda::std::countr_zero(taken[k])) >= units)
            return {(i + k) * 64 - before, units};
          before = static_cast<std::uint32_t>(cuda::std::countl_zero(taken[k]));
        }
      }
    }
    return {0, 0};
  }
  // The first run of whole words, for a multiple of 64 units. The range consists of whole chunks, too.
  [[nodiscard]] WYRM_HD run first_words(range const& all_words, std::uint64_t end, std::uint32_t units) const {
    unit_runs const self = *this;  // in registers, as in first_fit()
    std::uint32_t const words = existing(all_words, end);
    std::uint32_t const wanted = units / 64;
    std::uint32_t before = 0;  // free words up to the chunk
    for (std::uint32_t i = 0; i < words; i += words_per_chunk) {
      std::uint64_t const chunk = all_words.first + i;
      std::uint64_t units_of[words_per_chunk];  // the free units, loaded together
      for (std::uint32_t k = 0; k < words_per_chunk; ++k) units_of[k] = self.used().read(chunk + k);
      std::uint32_t free = 0;  // a bit per word
      for (std::uint32_t k = 0; k < words_per_chunk; ++k) free |= std::uint32_t{~units_of[k] == 0} << k;
      if (before > 0 && !self.are_neighbours(chunk)) before = 0;
      auto const prefix = static_cast<std::uint32_t>(cuda::std::countr_one(free));
      if (before + prefix >= wanted) return {(i - before) * 64, units};
      before = prefix == words_per_chunk
                   ? before + prefix
                   : static_cast<std::uint32_t>(cuda::std::countl_one(free << (32 - words_per_chunk)));
      for (std::uint32_t k = 1; k < wanted && free != 0; k *= 2) free &= free >> (2 * k < wanted ? k : wanted - k);
      if (free != 0) return {(i + static_cast<std::uint32_t>(cuda::std::countr_zero(free))) * 64, units};
    }
    return {0, 0};
  }
  // Claims units [at, at + n) of a range, all or none; collective.
  template <class Tile>
  [[nodiscard]] WYRM_HD bool claim_units(Tile const& t, std::uint64_t first, std::uint32_t mine, std::uint32_t words,
                                         std::uint32_t at, std::uint32_t n) const {
    used_units const bits = used();  // in a register, as in first_fit()
    std::uint32_t const front = at / 64;
    std::uint32_t const back = (at + n - 1) / 64;
    std::uint32_t const begin = front > mine ? front : mine;  // the first of these words that the lane has
    std::uint32_t const end = back + 1 < mine + words ? back + 1 : mine + words;
    std::uint64_t const of_front = ~std::uint64_t{0} << at % 64;
    std::uint64_t const of_back = ~std::uint64_t{0} >> (63 - (at + n - 1) % 64);
    auto const wanted = [&](std::uint32_t word) {
      return (word == front ? of_front : ~std::uint64_t{0}) & (word == back ? of_back : ~std::uint64_t{0});
    };
    bool all = true;
    std::uint32_t next = begin;
    std::uint64_t of_last = 0;
    auto const claim_while_all = [&](auto const& units_of) {
      for (; next < end && all; ++next) {
        of_last = bits.claim(first + next, units_of(next));
        all = of_last == units_of(next);
      }
    };
    // One lane claims all words itself; whole words take fewer instructions.
    bool const are_whole = std::is_same_v<Tile, exec::scalar_tile> && (of_front & of_back) == ~std::uint64_t{0};
    if (are_whole)
      claim_while_all([](std::uint32_t) { return ~std::uint64_t{0}; });
    else
      claim_while_all(wanted);
    t.sync();
    // From here on these chunks cannot move. The run enters other chunks than that of its first word at their first
    // words.
    std::uint64_t const inner = first + (begin == front ? begin + 1 : begin);
    for (std::uint64_t word = (inner + words_per_chunk - 1) / words_per_chunk * words_per_chunk;
         word < first + end && all; word += words_per_chunk)
      all = are_neighbours(word);
    if (t.all(all)) return true;
    for (std::uint32_t word = begin; word < next; ++word)
      bits.clear_pages(first + word, word + 1 < next ? wanted(word) : of_last);
    return false;
  }

  // The owner of the chunk that has p, and the number of its unit, for an address in the pool.
  [[nodiscard]] WYRM_HD std::uint64_t offset(void const* p) const {
    return static_cast<std::uint64_t>(static_cast<std::byte const*>(p) - parts_.memory.base());
  }
  [[nodiscard]] WYRM_HD std::uint32_t owner(void const* p) const {
    return exec::atomic_ref<std::uint32_t>(parts_.owners[offset(p) / chunk_bytes]).load(exec::relaxed);
  }
  [[nodiscard]] WYRM_HD std::uint64_t unit_of(void const* p) const {
    return std::uint64_t{span_owner::of(owner(p)).index} * units_per_chunk + offset(p) % chunk_bytes / alignment;
  }
  // The last unit of the block that begins here; a unit of another region if there is none.
  [[nodiscard]] WYRM_HD std::uint64_t end(std::uint64_t unit) const {
    std::uint64_t word = unit / 64;
    std::uint64_t found = ends(word).load(exec::relaxed) & ~std::uint64_t{0} << unit % 64;
    while (found == 0 && ++word % region_words != 0) found = ends(word).load(exec::relaxed);
    return word * 64 + (found != 0 ? static_cast<unsigned>(cuda::std::countr_zero(found)) : 0);
  }
  // Frees units [first, end) of a region; there may be none.
  WYRM_HD void clear_units(std::uint64_t first, std::uint64_t end) const {
    if (first == end) return;
    used_units const bits = used();
    std::uint64_t const region = first / region_units * region_words;
    auto const at = static_cast<std::uint32_t>(first % region_units);
    auto const n = static_cast<std::uint32_t>(end - first);
    bool const is_one = (end - 1) / 64 == first / 64;  // a release is cheaper than a fence
    if (is_one) return bits.clear_pages(first / 64, units_in(static_cast<std::uint32_t>(first / 64 - region), at, n));
    exec::release_fence();
    for (std::uint64_t word = first / 64; word * 64 < end; ++word)
      bits.clear_after_fence(word, units_in(static_cast<std::uint32_t>(word - region), at, n));
  }

  [[nodiscard]] WYRM_HD void* address(std::uint64_t unit) const {
    std::uint64_t const chunk = spans().chunk(static_cast<std::uint32_t>(unit / units_per_chunk));
    return parts_.memory.base() + chunk * chunk_bytes + unit % units_per_chunk * alignment;
  }
  WYRM_HD static std::uint64_t bit(std::uint64_t unit) { return std::uint64_t{1} << unit % 64; }

  parts parts_;
};

}  // namespace wyrm::alloc::detail
