// SPDX-License-Identifier: Apache-2.0
// Bookkeeping of allocators: counters of failed requests and bad frees, which are both rare, and in checked mode a
// bitmap of live allocations, with one bit per 16 bytes of the pool; the bit where an allocation begins is set.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../exec/atomic.hpp"
#include "../exec/memory.hpp"
#include "allocator.hpp"

namespace wyrm::alloc {

inline constexpr std::size_t alignment = 16;

struct ledger_counters {
  std::uint64_t failures;
  std::uint64_t bad_frees;
  std::uint64_t asked;
};

/// For kernels. Thread-safe.
class ledger_ref {
 public:
  ledger_ref(std::byte* base, ledger_counters* counters, std::uint64_t* live)
      : base_(base), counters_(counters), live_(live) {}

  WYRM_HD void count_failures(std::uint64_t n) const { add(counters_->failures, n); }
  WYRM_HD void count_bad_free() const { add(counters_->bad_frees, 1); }

  /// In checked mode: records an allocation; nullptr is none. Per thread.
  WYRM_HD void record_allocation(void const* p, std::size_t bytes) const {
    if (live_ == nullptr || p == nullptr) return;
    add(counters_->asked, bytes);
    exec::atomic_ref<std::uint64_t>(live_[granule(p) / 64]).fetch_or(bit(p), exec::relaxed);
  }

  /// In checked mode: records that the allocation at p, which lies in the pool, is freed. Per thread. False if no live
  /// allocation begins at p: then the bad free is counted, and the caller must not free p. True if not checked.
  [[nodiscard]] WYRM_HD bool record_free(void const* p) const {
    if (live_ == nullptr) return true;
    std::uint64_t const before =
        exec::atomic_ref<std::uint64_t>(live_[granule(p) / 64]).fetch_and(~bit(p), exec::relaxed);
    if ((before & bit(p)) != 0) return true;
    count_bad_free();
    return false;
  }

 private:
  WYRM_HD static void add(std::uint64_t& counter, std::uint64_t n) {
    exec::atomic_ref<std::uint64_t>(counter).fetch_add(n, exec::relaxed);
  }
  WYRM_HD std::size_t granule(void const* p) const {
    return static_cast<std::size_t>(static_cast<std::byte const*>(p) - base_) / alignment;
  }
  WYRM_HD std::uint64_t bit(void const* p) const { return std::uint64_t{1} << (granule(p) % 64); }

  std::byte* base_;
  ledger_counters* counters_;
  std::uint64_t* live_;  // nullptr: not checked
};

/// Owner of the counters and of the bitmap. Its functions run on the host while no kernel uses the pool.
template <class Space>
class ledger {
 public:
  ledger(Space const& space, std::byte* base, std::size_t reserved, bool checked)
      : space_(space),
        base_(base),
        checked_(checked),
        counters_(space, 1),
        live_(space, checked ? reserved / (alignment * 8) : 0) {
    space_.fill(counters_.data(), 0, sizeof(ledger_counters));
  }

  /// Extends the bitmap to a pool of so many bytes.
  void cover(std::size_t pool_bytes) {
    std::size_t const before = live_.committed();
    if (!checked_) return;
    live_.commit(pool_bytes / (alignment * 8));
    space_.fill(live_.data() + before, 0, live_.committed() - before);
  }
  void reset() {
    space_.fill(counters_.data(), 0, sizeof(ledger_counters));
    space_.fill(live_.data(), 0, live_.committed());
  }

  [[nodiscard]] bool checked() const { return checked_; }
  [[nodiscard]] ledger_ref ref() const { return {base_, counters_.data(), checked_ ? live_bits() : nullptr}; }
  [[nodiscard]] std::size_t bytes() const { return sizeof(ledger_counters) + live_.committed(); }

  void report(statistics& s) const {
    ledger_counters const c = exec::read(space_, counters_.data());
    s.failures = c.failures;
    s.bad_frees = c.bad_frees;
    s.asked = c.asked;
  }

  /// The offsets of live allocations in the pool, ascending; empty when not checked.
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
  exec::buffer<ledger_counters, Space> counters_;
  exec::reservation<Space> live_;
};

}  // namespace wyrm::alloc
