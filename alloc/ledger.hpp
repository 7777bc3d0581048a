// SPDX-License-Identifier: Apache-2.0
// Bookkeeping of allocators: counters of failed requests and of errors of the program, both of which are rare. In
// checked mode there are also a bitmap of live blocks, with one bit per 16 bytes of the pool (a block sets the bit of
// its first byte), and the requested size of each block. With guards, a pattern of 16 bytes follows the requested
// bytes, and is compared when the block is freed.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cuda/std/bit>
#include <vector>

#include "../exec/atomic.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "allocator.hpp"
#include "pool_table.hpp"

namespace wyrm::alloc {

/// The bytes behind a block that are compared when it is freed.
inline constexpr std::size_t guard_bytes = 16;

struct ledger_counters {
  static constexpr std::uint32_t kept = 64;  // errors; later ones are only counted
  std::uint64_t failures;
  std::uint64_t bad_frees;
  std::uint64_t overflows;
  std::uint64_t asked;
  std::uint32_t recorded;  // errors; may exceed `kept`
  memory_error errors[kept];
};

/// For kernels. Thread-safe.
class ledger_ref {
 public:
  /// live, sizes: nullptr if not checked.
  ledger_ref(std::byte* base, ledger_counters* counters, std::uint64_t* live, std::uint64_t* sizes, bool guards)
      : base_(base), counters_(counters), live_(live), sizes_(sizes), guards_(guards) {}

  WYRM_HD void count_failures(std::uint64_t n) const { add(counters_->failures, n); }
  WYRM_HD void count_asked(std::uint64_t bytes) const { add(counters_->asked, bytes); }
  /// A free of p, where no live block begins.
  WYRM_HD void count_bad_free(void const* p) const { count_bad_free(p, 0); }
  /// The same, of the block of so many bytes that is free already; 0: no block is known.
  WYRM_NOINLINE WYRM_HD void count_bad_free(void const* p, std::uint64_t bytes) const {
    add(counters_->bad_frees, 1);
    record_error({bytes > 0 ? memory_error_kind::double_free : memory_error_kind::foreign_free, address(p), bytes});
  }

  /// A block of so many bytes whose guard has been overwritten.
  WYRM_NOINLINE WYRM_HD void count_overflow(void const* p, std::uint64_t bytes) const {
    add(counters_->overflows, 1);
    record_error({memory_error_kind::overflow, address(p), bytes});
  }
  WYRM_HD static void write_guard(void* p, std::size_t bytes) {
    for (std::size_t i = 0; i < guard_bytes; ++i) static_cast<std::byte*>(p)[bytes + i] = pattern;
  }
  [[nodiscard]] WYRM_HD static bool guard_is_intact(void const* p, std::size_t bytes) {
    bool intact = true;
    for (std::size_t i = 0; i < guard_bytes; ++i)
      intact = intact && static_cast<std::byte const*>(p)[bytes + i] == pattern;
    return intact;
  }

  /// The number of bytes to allocate for a request: with guards, more than requested.
  [[nodiscard]] WYRM_HD std::size_t with_guard(std::size_t bytes) const {
    return live_ != nullptr && guards_ && bytes > 0 && bytes <= ~std::size_t{0} - guard_bytes ? bytes + guard_bytes
                                                                                              : bytes;
  }
  /// In checked mode: records a block of with_guard(bytes) bytes; nullptr is none. Per thread.
  WYRM_HD void record_allocation(void* p, std::size_t bytes) const {
    if (live_ != nullptr && p != nullptr) record(p, bytes, guards_);
  }
  /// The same for a block without a guard.
  WYRM_HD void record_carved(void* p, std::size_t bytes) const {
    if (live_ != nullptr && p != nullptr) record(p, bytes, false);
  }

  /// In checked mode: records that the block at p, which is in the pool, is freed. Per thread. Returns false if no live
  /// block begins at p: then the bad free is recorded, and the caller must not free p. Returns true if not checked.
  [[nodiscard]] WYRM_HD bool record_free(void const* p) const { return live_ == nullptr || remove(p); }

  /// The bytes that the owner of the live block at p, which lies in the pool, may use if the allocator has granted so
  /// many: all of them, or with guards those requested. In checked mode 0 if no live block begins at p.
  [[nodiscard]] WYRM_HD std::size_t usable(void const* p, std::size_t granted) const {
    if (live_ == nullptr) return granted;
    auto const offset = static_cast<std::size_t>(static_cast<std::byte const*>(p) - base_);
    bool const is_live = offset % alignment == 0 &&
                         (exec::atomic_ref<std::uint64_t>(live_[granule(p) / 64]).load(exec::relaxed) & bit(p)) != 0;
    return !is_live ? 0 : guards_ ? sizes_[offset / alignment] & size_bits : granted;
  }

  /// The requested bytes of the live block at p; in checked mode.
  [[nodiscard]] WYRM_HD std::size_t asked_bytes(void const* p) const { return sizes_[granule(p)] & size_bits; }

  /// Records the live blocks among those that begin in 64 granules, from number 64 * word on, whose guard has been
  /// overwritten, unless this is known; while no other thread uses the pool.
  WYRM_HD void find_overflows(std::size_t word) const {
    for (std::uint64_t rest = live_[word]; rest != 0; rest &= rest - 1) {
      std::size_t const g = word * 64 + static_cast<std::size_t>(cuda::std::countr_zero(rest));
      check_guard(base_ + g * alignment, sizes_[g]);
    }
  }

 private:
  static constexpr std::uint64_t has_guard = std::uint64_t{1} << 63;  // of a size: an intact guard is behind the block
  static constexpr std::uint64_t size_bits = has_guard - 1;
  static constexpr std::byte pattern{0xb7};

  WYRM_HD static void add(std::uint64_t& counter, std::uint64_t n) {
    exec::atomic_ref<std::uint64_t>(counter).fetch_add(n, exec::relaxed);
  }
  WYRM_HD static std::uint64_t address(void const* p) { return reinterpret_cast<std::uintptr_t>(p); }
  WYRM_HD std::size_t granule(void const* p) const {
    return static_cast<std::size_t>(static_cast<std::byte const*>(p) - base_) / alignment;
  }
  WYRM_HD std::uint64_t bit(void const* p) const { return std::uint64_t{1} << (granule(p) % 64); }

  WYRM_HD void record_error(memory_error const& e) const {
    std::uint32_t const k = exec::atomic_ref<std::uint32_t>(counters_->recorded).fetch_add(1, exec::relaxed);
    if (k < ledger_counters::kept)
      counters_->errors[k] = e;
    else  // so that the counter cannot overflow
      exec::atomic_ref<std::uint32_t>(counters_->recorded).fetch_sub(1, exec::relaxed);
  }
  WYRM_NOINLINE WYRM_HD void record(void* p, std::size_t bytes, bool guarded) const {
    count_asked(bytes);
    if (guarded) write_guard(p, bytes);
    exec::atomic_ref<std::uint64_t>(sizes_[granule(p)]).store(bytes | (guarded ? has_guard : 0), exec::relaxed);
    exec::atomic_ref<std::uint64_t>(live_[granule(p) / 64]).fetch_or(bit(p), exec::relaxed);
  }
  WYRM_NOINLINE WYRM_HD bool remove(void const* p) const {
    std::uint64_t const before =
        exec::atomic_ref<std::uint64_t>(live_[granule(p) / 64]).fetch_and(~bit(p), exec::relaxed);
    // Another thread may record a new block here at the same time as a double free reads the size.
    exec::atomic_ref<std::uint64_t> size(sizes_[granule(p)]);
    if ((before & bit(p)) != 0)
      check_guard(static_cast<std::byte const*>(p), size.load(exec::relaxed));
    else
      count_bad_free(p, size.load(exec::relaxed) & size_bits);
    return (before & bit(p)) != 0;
  }
  WYRM_HD void check_guard(std::byte const* p, std::uint64_t size) const {
    if ((size & has_guard) == 0) return;
    std::uint64_t const bytes = size & size_bits;
    if (guard_is_intact(p, bytes)) return;
    exec::atomic_ref<std::uint64_t>(sizes_[granule(p)]).store(bytes, exec::relaxed);  // known from now on
    count_overflow(p, bytes);
  }

  std::byte* base_;
  ledger_counters* counters_;
  std::uint64_t* live_;   // nullptr: not checked
  std::uint64_t* sizes_;  // per granule: the requested size of the last block that began there, and has_guard
  bool guards_;
};

namespace detail {
struct search_overflows {
  ledger_ref ledger;
  WYRM_HD void operator()(std::size_t word) const { ledger.find_overflows(word); }
};
}  // namespace detail

/// Owner of the counters, the bitmap and the sizes. In checked mode it has half the size of the pool. Its functions run
/// on the host while no kernel uses the pool.
template <class Space>
class ledger {
 public:
  ledger(Space const& space, std::byte* base, std::size_t reserved, options const& o)
      : space_(space),
        base_(base),
        checked_(o.checked),
        guards_(o.guards),
        counters_(space, 1),
        live_(space, o.checked ? reserved / (alignment * 8) : 0),
        sizes_(space) {
    space_.fill(counters_.data(), 0, sizeof(ledger_counters));
  }

  /// Extends the tables to a pool of so many bytes. Refs become invalid.
  void cover(std::size_t pool_bytes) {
    if (!checked_) return;
    std::size_t const before = live_.committed();
    live_.commit(pool_bytes / (alignment * 8));
    space_.fill(live_.data() + before, 0, live_.committed() - before);
    std::size_t const sizes_before = sizes_.bytes();
    sizes_.cover(pool_bytes / alignment);
    space_.fill(reinterpret_cast<std::byte*>(sizes_.data()) + sizes_before, 0, sizes_.bytes() - sizes_before);
  }
  void reset() {
    space_.fill(counters_.data(), 0, sizeof(ledger_counters));
    space_.fill(live_.data(), 0, live_.committed());
  }

  [[nodiscard]] bool checked() const { return checked_; }
  [[nodiscard]] ledger_ref ref() const {
    return {base_, counters_.data(), checked_ ? live_bits() : nullptr, sizes_.data(), guards_};
  }
  [[nodiscard]] std::size_t bytes() const { return sizeof(ledger_counters) + live_.committed() + sizes_.bytes(); }

  void report(statistics& s) const {
    ledger_counters const c = exec::read(space_, counters_.data());
    s.failures = c.failures;
    s.bad_frees = c.bad_frees;
    s.overflows = c.overflows;
    s.asked = c.asked;
    s.errors.assign(c.errors, c.errors + std::min(c.recorded, ledger_counters::kept));
  }

  /// Searches all live blocks for bytes that were written beyond their end. Throws error(corrupt) if it, or a free
  /// since the last reset, has found some. `who`: the allocator.
  void check_guards(char const* who) const {
    if (!checked_ || !guards_) return;
    exec::for_each(space_, live_.committed() / 8, detail::search_overflows{ref()});
    throw_if_overflows(who);
  }
  /// Throws error(corrupt) if overflows have been recorded.
  void throw_if_overflows(char const* who) const {
    statistics s;
    report(s);
    if (s.overflows == 0) return;
    for (memory_error const& e : s.errors)
      if (e.kind == memory_error_kind::overflow) ensure(false, who, to_string(e));
    ensure(false, who, std::to_string(s.overflows) + " blocks were written beyond their end");
  }

  /// The offsets of live blocks in the pool, ascending; empty when not checked.
  [[nodiscard]] std::vector<std::size_t> live_offsets() const {
    std::vector<std::size_t> offsets;
    std::vector<std::uint64_t> const words = exec::copy_out(space_, live_bits(), live_.committed() / 8);
    for (std::size_t w = 0; w < words.size(); ++w)
      for (std::uint64_t rest = words[w]; rest != 0; rest &= rest - 1)
        offsets.push_back((w * 64 + static_cast<std::size_t>(std::countr_zero(rest))) * alignment);
    return offsets;
  }

 private:
  [[nodiscard]] std::uint64_t* live_bits() const { return reinterpret_cast<std::uint64_t*>(live_.data()); }

  Space space_;
  std::byte* base_;
  bool checked_;
  bool guards_;
  exec::buffer<ledger_counters, Space> counters_;
  exec::reservation<Space> live_;
  pool_table<std::uint64_t, Space> sizes_;
};

}  // namespace wyrm::alloc
