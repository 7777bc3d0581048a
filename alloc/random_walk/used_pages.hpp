// SPDX-License-Identifier: Apache-2.0
// Which pages of a pool are used: a flag a page (RW), or a bit a page (all others; "Dynamic Buffer Management in
// Massively Parallel Systems", ACM TOPC 2025, sections 3.2 and 3.3). Both are words of `bits` pages each, looked at and
// taken in the same three steps: look(), take(), leave().
//
// Why no page is handed out twice, and none is lost:
//  - A flag is set by exchange: of all who set it, one finds it clear. It is cleared by the one who has the page, with
//    a plain store, which nobody's store can cross: others only exchange it with "used", which it is already.
//  - Without a LockMap, bits are set by an atomic OR, whose result says which of them were clear: these are ours, and
//    no one else's. Bits are cleared by an atomic AND by who has the page. The OR is the lock.
//  - With a LockMap (Algorithm 2, but there who has the lock just writes the word), who searches sets bits of a word
//    only with its lock; everybody who has one of its pages may clear that bit at any time, locked or not. So of those
//    who search only one sets bits, and what it saw clear is mostly clear until it sets it; as both OR and AND are
//    atomic a bit that is cleared meanwhile stays so.
//    The lock passes on what was set (release, acquire). Nobody waits for a lock: a word that is locked has nothing for
//    us. Sweeps go without, as searches would keep them from one word or another for ever: then the OR says whose a
//    page is, as it does without a LockMap.
// What the last user of a page did is ordered before what the next one does: clearing releases, setting acquires, and
// every change between them is a read-modify-write of the same word.
#pragma once

#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/config.hpp"

namespace wyrm::alloc {

/// What one look found.
template <class Word>
struct seen_word {
  Word free = 0;                 // one bit a page
  bool locked_by_us = false;     // whether the word is locked, by us
  bool locked_by_other = false;  // by somebody else, so that we have not seen it
};

/// Where word p of a pool lies: the words one behind the other.
struct contiguous_words {
  WYRM_HD std::uint64_t operator()(std::uint64_t p) const { return p; }
};

/// A flag a page, in a word of its own.
template <class Layout = contiguous_words>
class used_flags_ref {
 public:
  using word = std::uint32_t;
  static constexpr unsigned bits = 1;
  static constexpr bool locks = false;

  WYRM_HD used_flags_ref(word* flags, word*, std::uint64_t pages, Layout const& place = {})
      : flags_(flags), pages_(pages), place_(place) {}

  [[nodiscard]] WYRM_HD std::uint64_t words() const { return pages_; }
  [[nodiscard]] WYRM_HD seen_word<word> lock_and_read(std::uint64_t p) const { return {read(p)}; }
  /// Without taking a lock.
  [[nodiscard]] WYRM_HD word read(std::uint64_t p) const { return at(p).load(exec::relaxed) == 0; }
  /// Takes pages that were seen free; which of them we have got.
  [[nodiscard]] WYRM_HD word claim(std::uint64_t p, word) const { return at(p).exchange(1, exec::acquire) == 0; }
  WYRM_HD void unlock(std::uint64_t) const {}
  WYRM_HD void clear(std::uint64_t page) const { at(page).store(0, exec::release); }
  /// Several pages of a word, by who has them.
  WYRM_HD void clear_pages(std::uint64_t p, word pages) const {
    if (pages != 0) clear(p);
  }
  /// The same after a release_fence().
  WYRM_HD void clear_after_fence(std::uint64_t p, word pages) const {
    if (pages != 0) at(p).store(0, exec::after_fence);
  }

 private:
  [[nodiscard]] WYRM_HD exec::atomic_ref<word> at(std::uint64_t p) const {
    return exec::atomic_ref<word>(flags_[place_(p)]);
  }

  word* flags_;
  std::uint64_t pages_;
  Layout place_;
};

/// A bit a page, in words of 32 or 64 bits, with or without a LockMap.
template <class Word, bool Locks, class Layout = contiguous_words>
class used_bits_ref {
 public:
  using word = Word;
  static constexpr unsigned bits = 8 * sizeof(Word);
  static constexpr bool locks = Locks;

  WYRM_HD used_bits_ref(Word* map, Word* lock_map, std::uint64_t pages, Layout const& place = {})
      : map_(map), lock_map_(lock_map), words_((pages + bits - 1) / bits), place_(place) {}

  [[nodiscard]] WYRM_HD std::uint64_t words() const { return words_; }
  [[nodiscard]] WYRM_HD seen_word<Word> lock_and_read(std::uint64_t p) const {
    if constexpr (Locks) {
      if ((lock(p).fetch_or(lock_bit(p), exec::acquire) & lock_bit(p)) != 0) return {0, false, true};
    }
    return {read(p), Locks, false};
  }
  [[nodiscard]] WYRM_HD Word read(std::uint64_t p) const { return static_cast<Word>(~at(p).load(exec::relaxed)); }
  [[nodiscard]] WYRM_HD Word claim(std::uint64_t p, Word wanted) const {
    return static_cast<Word>(wanted & ~at(p).fetch_or(wanted, exec::acquire));
  }
  /// By who holds the lock.
  WYRM_HD void unlock(std::uint64_t p) const {
    if constexpr (Locks) lock(p).fetch_and(static_cast<Word>(~lock_bit(p)), exec::release);
  }
  WYRM_HD void clear(std::uint64_t page) const { clear_pages(page / bits, Word{1} << page % bits); }
  WYRM_HD void clear_pages(std::uint64_t p, Word pages) const {
    if (pages != 0) at(p).fetch_and(static_cast<Word>(~pages), exec::release);
  }
  /// The same after a release_fence().
  WYRM_HD void clear_after_fence(std::uint64_t p, Word pages) const {
    if (pages != 0) at(p).fetch_and(static_cast<Word>(~pages), exec::after_fence);
  }

 private:
  [[nodiscard]] WYRM_HD exec::atomic_ref<Word> at(std::uint64_t p) const {
    return exec::atomic_ref<Word>(map_[place_(p)]);
  }
  [[nodiscard]] WYRM_HD exec::atomic_ref<Word> lock(std::uint64_t p) const {
    return exec::atomic_ref<Word>(lock_map_[place_(p) / bits]);
  }
  [[nodiscard]] WYRM_HD Word lock_bit(std::uint64_t p) const { return Word{1} << place_(p) % bits; }

  Word* map_;
  Word* lock_map_;  // a bit a word
  std::uint64_t words_;
  Layout place_;
};

}  // namespace wyrm::alloc
