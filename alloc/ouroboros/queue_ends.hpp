// SPDX-License-Identifier: Apache-2.0
// Both ends of an index queue (Ouroboros, ICS 2020, section 3.3), as numbers: how many entries there are, and who has
// which position. The back and the number of entries lie in one word, back * 2^NumberBits + number, and change together
// by one atomic addition, which returns both. The number is signed: below zero it says for how many pages lanes are
// looking that the queue did not have; they add what they asked in vain when they have found it elsewhere. So it is
// count less reserved of Algorithm 2 (expected is the business of who brings chunks), and no compare-and-swap is
// needed.
//
// Positions have 64 - NumberBits bits and go around. Of a queue (`queue_ends`) both halves have 32 bits: entries are at
// most 2^31, and fewer lanes than that run at a time, so that differences of positions, taken modulo 2^32, are exact.
// Where pages are counted that are in no queue (`page_counts`, of chunks with free pages), there may be 2^36 of them,
// 16 bytes each in a pool of 1 TiB: the number has 38 bits, and positions, which only say whether all that came has
// been claimed, have 26. (is_empty() could take a multiple of 2^26 pages for none; but it is asked where the number was
// zero or less, so that there are fewer pages than lanes at work, unless 2^26 come between two loads of one lane.)
#pragma once

#include <cstdint>
#include <type_traits>

#include "../../exec/atomic.hpp"
#include "../../exec/config.hpp"

namespace wyrm::alloc {

template <unsigned NumberBits>
class counted_ends {
  static constexpr unsigned position_bits = 64 - NumberBits;
  static constexpr std::uint32_t position_mask = ~std::uint32_t{0} >> (32 - position_bits);

 public:
  using number_type = std::conditional_t<NumberBits == 32, std::int32_t, std::int64_t>;
  /// Takes up to n entries: returns how many the caller may read, and owes claim_front() for. It must give_back() the
  /// rest once it does not look for them any more.
  [[nodiscard]] WYRM_HD std::uint32_t take(std::uint32_t n) {
    number_type const before = number(word().fetch_sub(n, exec::relaxed));
    if (before <= 0) return 0;
    return before < static_cast<std::int64_t>(n) ? static_cast<std::uint32_t>(before) : n;
  }
  /// The same for one entry, or none and nothing to give back.
  [[nodiscard]] WYRM_HD bool take_one() {
    if (number() <= 0) return false;
    if (take(1) == 1) return true;
    give_back(1);
    return false;
  }
  WYRM_HD void give_back(std::uint32_t n) { word().fetch_add(n, exec::relaxed); }

  /// The positions of n entries, from the one returned on, to be read; every one has a writer, which waits for nobody.
  [[nodiscard]] WYRM_HD std::uint32_t claim_front(std::uint32_t n) { return front().fetch_add(n, exec::relaxed); }
  /// Positions for n entries to be written. Readers may come before they are.
  [[nodiscard]] WYRM_HD std::uint32_t claim_back(std::uint32_t n) {
    return position(word().fetch_add((std::uint64_t{n} << NumberBits) + n, exec::relaxed));
  }

  /// The same where there should not be more than `limit` entries: who finds as many says so to all, also to himself.
  /// Up to as many more as threads run at a time may come until they look.
  [[nodiscard]] WYRM_HD std::uint32_t claim_back(std::uint32_t n, number_type limit) {
    std::uint64_t const before = word().fetch_add((std::uint64_t{n} << NumberBits) + n, exec::relaxed);
    if (number(before) >= limit) crowded().store(1, exec::relaxed);
    return position(before);
  }
  /// Looks at the number, which is where everybody adds, only if it once was too large.
  [[nodiscard]] WYRM_HD bool is_crowded(number_type limit) {
    return crowded().load(exec::relaxed) != 0 && number() >= limit;
  }

  /// Positions for entries that are not counted here.
  [[nodiscard]] WYRM_HD std::uint32_t claim_back_uncounted(std::uint32_t n) {
    return position(word().fetch_add(std::uint64_t{n} << NumberBits, exec::relaxed));
  }

  /// Entries less those that are asked for.
  [[nodiscard]] WYRM_HD number_type number() { return number(word().load(exec::relaxed)); }
  /// Whether there was a moment during the call when no entry was left that nobody had claimed.
  [[nodiscard]] WYRM_HD bool is_empty() {
    std::uint32_t const claimed = front().load(exec::acquire);
    return ((position(word().load(exec::relaxed)) ^ claimed) & position_mask) == 0;
  }

  /// Entries at about this time; none if more positions are claimed for reading than for writing.
  [[nodiscard]] WYRM_HD std::uint32_t length() requires(position_bits == 32) {
    std::int32_t const n =
        static_cast<std::int32_t>(position(word().load(exec::relaxed)) - front().load(exec::relaxed));
    return n > 0 ? static_cast<std::uint32_t>(n) : 0;
  }

  /// For the host.
  [[nodiscard]] std::uint32_t first() const { return front_; }
  /// While nobody is at work. (Where positions are short they cannot say how many there are; the number can.)
  [[nodiscard]] std::conditional_t<NumberBits == 32, std::uint32_t, std::uint64_t> size() const {
    if constexpr (position_bits == 32)
      return position(word_) - front_;
    else
      return static_cast<std::uint64_t>(number(word_));
  }
  void restart(std::uint32_t entries) requires(position_bits == 32) {
    word_ = (std::uint64_t{entries} << 32) + static_cast<std::uint64_t>(std::int64_t{number(word_)});
    front_ = 0;
    crowded_ = 0;
  }

 private:
  [[nodiscard]] WYRM_HD static number_type number(std::uint64_t word) {
    if constexpr (NumberBits == 32)
      return static_cast<std::int32_t>(static_cast<std::uint32_t>(word));
    else
      return static_cast<std::int64_t>(word << position_bits) >> position_bits;
  }
  [[nodiscard]] WYRM_HD static std::uint32_t position(std::uint64_t word) {
    return static_cast<std::uint32_t>((word - static_cast<std::uint64_t>(std::int64_t{number(word)})) >> NumberBits);
  }
  WYRM_HD exec::atomic_ref<std::uint64_t> word() { return exec::atomic_ref<std::uint64_t>(word_); }
  WYRM_HD exec::atomic_ref<std::uint32_t> crowded() { return exec::atomic_ref<std::uint32_t>(crowded_); }
  WYRM_HD exec::atomic_ref<std::uint32_t> front() { return exec::atomic_ref<std::uint32_t>(front_); }

  // 256 bytes apart: an H200 adds to either once a nanosecond, at the same time; closer, to both together.
  std::uint64_t word_ = 0;
  [[maybe_unused]] std::uint64_t apart_[31] = {};
  std::uint32_t front_ = 0;
  std::uint32_t crowded_ = 0;
};

using queue_ends = counted_ends<32>;
using page_counts = counted_ends<38>;

}  // namespace wyrm::alloc
