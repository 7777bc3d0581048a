// SPDX-License-Identifier: Apache-2.0
// The two ends of an index queue (Ouroboros, ICS 2020, section 3.3). They count the entries, and assign positions to
// the threads that read and write. The back and the number of entries are in one word, back * 2^NumberBits + number,
// and one atomic addition changes and returns both. The number is signed. A negative number counts the entries that
// lanes have requested and the queue does not have; a lane that gets no entry cancels its request with uncount(). In
// terms of Algorithm 2 the number is count - reserved; the field `expected` is not needed here, because other code
// supplies chunks. No compare-and-swap is needed.
//
// Positions have 64 - NumberBits bits and wrap around. In a queue (`queue_ends`) both halves have 32 bits: there are at
// most 2^31 entries, and fewer lanes than that run at a time, so that differences of positions modulo 2^32 are exact.
// `page_counts` counts the free pages of chunks, which are in no queue. There may be 2^36 of them, 16 bytes each in a
// pool of 1 TiB: the number has 38 bits. Positions have 26 bits; they only show whether all free pages have been
// claimed. (is_empty() could mistake a multiple of 2^26 pages for none. But it is called only if the number was zero or
// less, so there are fewer pages than running lanes, unless 2^26 pages are freed between two loads of one lane.)
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
  /// Requests n entries. Returns how many of them the caller gets; it must claim_front() positions for these, and
  /// uncount() the others when it no longer needs them.
  [[nodiscard]] WYRM_HD std::uint32_t take(std::uint32_t n) {
    number_type const before = number(word().fetch_sub(n, exec::relaxed));
    if (before <= 0) return 0;
    return before < static_cast<std::int64_t>(n) ? static_cast<std::uint32_t>(before) : n;
  }
  /// The same for one entry; if there is none, nothing is left to uncount.
  [[nodiscard]] WYRM_HD bool take_one() {
    if (number() <= 0) return false;
    if (take(1) == 1) return true;
    uncount(1);
    return false;
  }
  /// Cancels a request for n entries.
  WYRM_HD void uncount(std::uint32_t n) { word().fetch_add(n, exec::relaxed); }

  /// Claims n positions to read, and returns the first. If take() has granted n entries, each position has a writer.
  [[nodiscard]] WYRM_HD std::uint32_t claim_front(std::uint32_t n) { return front().fetch_add(n, exec::relaxed); }
  /// Counts n entries and claims the positions to write them to; returns the first. Readers may claim these positions
  /// before they are written.
  [[nodiscard]] WYRM_HD std::uint32_t claim_back(std::uint32_t n) {
    return position(word().fetch_add((std::uint64_t{n} << NumberBits) + n, exec::relaxed));
  }

  /// The same for a queue that should have at most `limit` entries: a thread that finds this number of entries sets a
  /// flag that all threads read, see is_over_limit(). Until they read it, the number of entries may exceed the limit by
  /// the number of running threads.
  [[nodiscard]] WYRM_HD std::uint32_t claim_back(std::uint32_t n, number_type limit) {
    std::uint64_t const before = word().fetch_add((std::uint64_t{n} << NumberBits) + n, exec::relaxed);
    if (number(before) >= limit) over_limit().store(1, exec::relaxed);
    return position(before);
  }
  /// Reads the number, a word that all threads add to, only if it has been over the limit before.
  [[nodiscard]] WYRM_HD bool is_over_limit(number_type limit) {
    return over_limit().load(exec::relaxed) != 0 && number() >= limit;
  }

  /// Positions for entries that are counted elsewhere.
  [[nodiscard]] WYRM_HD std::uint32_t claim_back_uncounted(std::uint32_t n) {
    return position(word().fetch_add(std::uint64_t{n} << NumberBits, exec::relaxed));
  }

  /// The number of entries minus the number of requests.
  [[nodiscard]] WYRM_HD number_type number() { return number(word().load(exec::relaxed)); }
  /// Whether at some moment of the call all entries were claimed for reading.
  [[nodiscard]] WYRM_HD bool is_empty() {
    std::uint32_t const claimed = front().load(exec::acquire);
    return ((position(word().load(exec::relaxed)) ^ claimed) & position_mask) == 0;
  }

  /// The approximate number of entries; 0 if more positions are claimed for reading than for writing.
  [[nodiscard]] WYRM_HD std::uint32_t length() requires(position_bits == 32) {
    std::int32_t const n =
        static_cast<std::int32_t>(position(word().load(exec::relaxed)) - front().load(exec::relaxed));
    return n > 0 ? static_cast<std::uint32_t>(n) : 0;
  }

  /// The position of the first entry; for the host.
  [[nodiscard]] std::uint32_t first() const { return front_; }
  /// The number of entries, while no thread uses the queue. (From the number, because 26-bit positions are too small to
  /// count all entries.)
  [[nodiscard]] std::conditional_t<NumberBits == 32, std::uint32_t, std::uint64_t> size() const {
    if constexpr (position_bits == 32)
      return position(word_) - front_;
    else
      return static_cast<std::uint64_t>(number(word_));
  }
  void restart(std::uint32_t entries) requires(position_bits == 32) {
    word_ = (std::uint64_t{entries} << 32) + static_cast<std::uint64_t>(std::int64_t{number(word_)});
    front_ = 0;
    over_limit_ = 0;
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
  WYRM_HD exec::atomic_ref<std::uint32_t> over_limit() { return exec::atomic_ref<std::uint32_t>(over_limit_); }
  WYRM_HD exec::atomic_ref<std::uint32_t> front() { return exec::atomic_ref<std::uint32_t>(front_); }

  // The two words lie 256 bytes apart: an H200 adds to each about once a nanosecond, at the same time. Closer than
  // that, it adds to only one of them at a time.
  std::uint64_t word_ = 0;
  [[maybe_unused]] std::uint64_t apart_[31] = {};
  std::uint32_t front_ = 0;
  std::uint32_t over_limit_ = 0;
};

using queue_ends = counted_ends<32>;
using page_counts = counted_ends<38>;

}  // namespace wyrm::alloc
