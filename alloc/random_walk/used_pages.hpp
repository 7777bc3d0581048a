// SPDX-License-Identifier: Apache-2.0
// The record of the used pages of a pool: a flag per page (RW), or a bitmap (all others). See "Dynamic Buffer
// Management in Massively Parallel Systems", ACM TOPC 2025, sections 3.2 and 3.3. Flags and bitmaps are both arrays of
// words, each for `bits` pages. A search accesses a word in three steps: lock_and_read(), claim(), unlock().
//
// Why no page is allocated twice, and none is lost:
//  - Flags: a thread sets a flag by an atomic exchange. Of all threads that exchange it, one finds it clear, and owns
//    the page. The owner clears the flag by a plain store. This store overwrites no other change: other threads only
//    exchange the flag with "used", which is already its value. The owner of all pages of a word of a bitmap may clear
//    it in the same way: other threads only set bits that are set.
//  - A bitmap without a LockMap: a thread sets bits by an atomic OR. The result shows which of them were clear; the
//    thread owns exactly these pages. The owner of a page clears its bit by an atomic AND. The OR acts as the lock.
//  - A bitmap with a LockMap (Algorithm 2, where the holder of the lock writes the word back by a store): a search sets
//    bits of a word only while it holds the lock of this word. The owner of a page may clear its bit at any time,
//    whether the word is locked or not. So one search at a time sets bits of a word, and a bit that this search has
//    read as clear is mostly still clear when it sets it. Both OR and AND are atomic, so a bit that is cleared
//    meanwhile stays clear. Unlocking is a release and locking an acquire for the changes of the word. No thread waits
//    for a lock: a search treats a word that another thread has locked as full. Sweeps take no locks, because searches
//    could keep a word locked forever. In a sweep the OR determines which thread owns a page, as without a LockMap.
// All accesses of the previous owner of a page happen before those of the next owner: clearing releases, setting
// acquires, and every change in between is a read-modify-write of the same word, or a store by the owner of all pages.
#pragma once

#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/config.hpp"

namespace wyrm::alloc {

/// The result of lock_and_read().
template <class Word>
struct seen_word {
  Word free = 0;                 // a set bit is a free page
  bool locked_by_us = false;     // the caller holds the lock, and must unlock() the word
  bool locked_by_other = false;  // another thread holds the lock; the word was not read
};

/// The position of word p of a pool: words are contiguous.
struct contiguous_words {
  WYRM_HD std::uint64_t operator()(std::uint64_t p) const { return p; }
};

/// A flag per page, each in a word of 4 bytes. The second argument of the constructor is the unused LockMap.
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
  /// The free pages of word p, without a lock; a hint, because they may change at any time.
  [[nodiscard]] WYRM_HD word read(std::uint64_t p) const { return at(p).load(exec::relaxed) == 0; }
  /// Sets pages of word p, which were read as free, to used. Returns those that this call has set: the caller owns
  /// them.
  [[nodiscard]] WYRM_HD word claim(std::uint64_t p, word) const { return at(p).exchange(1, exec::acquire) == 0; }
  WYRM_HD void unlock(std::uint64_t) const {}
  WYRM_HD void clear(std::uint64_t page) const { at(page).store(0, exec::release); }
  /// Frees pages of word p; the caller owns all of them.
  WYRM_HD void clear_pages(std::uint64_t p, word pages) const {
    if (pages != 0) clear(p);
  }
  /// The same, ordered by a release_fence() that the caller has executed before.
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

/// A bitmap in words of 32 or 64 bits, with or without a LockMap (which has a bit per word). The functions are those of
/// used_flags_ref.
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
  /// Only for the thread that holds the lock of the word.
  WYRM_HD void unlock(std::uint64_t p) const {
    if constexpr (Locks) lock(p).fetch_and(static_cast<Word>(~lock_bit(p)), exec::release);
  }
  WYRM_HD void clear(std::uint64_t page) const { clear_pages(page / bits, Word{1} << page % bits); }
  WYRM_HD void clear_pages(std::uint64_t p, Word pages) const {
    if (pages != 0) at(p).fetch_and(static_cast<Word>(~pages), exec::release);
  }
  WYRM_HD void clear_after_fence(std::uint64_t p, Word pages) const {
    if (pages == static_cast<Word>(~Word{0}))
      at(p).store(0, exec::after_fence);
    else if (pages != 0)
      at(p).fetch_and(static_cast<Word>(~pages), exec::after_fence);
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
  Word* lock_map_;  // a bit per word
  std::uint64_t words_;
  Layout place_;
};

}  // namespace wyrm::alloc
