// SPDX-License-Identifier: Apache-2.0
// The allocator of the system, as a baseline: CUDA's device malloc in a kernel, the C library's malloc on a host. A
// header of 16 bytes before each allocation has its size, for the statistics and the limit of the pool. Bad frees are
// not detected.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "../../exec/atomic.hpp"
#include "../../exec/memory.hpp"
#include "../allocator.hpp"
#include "../ledger.hpp"
#include "../shared_view.hpp"

namespace wyrm::alloc {

struct system_malloc_state {
  std::uint64_t granted;
  std::uint64_t live;
  std::uint64_t peak;
};

/// For kernels. Thread-safe.
class system_malloc_ref {
 public:
  system_malloc_ref(system_malloc_state* state, std::uint64_t limit, ledger_ref const& ledger)
      : state_(state), limit_(limit), ledger_(ledger) {}

  [[nodiscard]] WYRM_HD void* malloc(std::size_t bytes) const {
    if (bytes == 0) return nullptr;
    // Requests beyond the limit are refused before they are added to `granted`; also where the size with the header
    // overflows.
    if (bytes > limit_ || bytes + sizeof(header) > limit_) {
      ledger_.count_failures(1);
      return nullptr;
    }
    std::uint64_t const wanted = std::uint64_t{bytes} + sizeof(header);
    exec::atomic_ref<std::uint64_t> granted(state_->granted);
    std::uint64_t const now = granted.fetch_add(wanted, exec::relaxed) + wanted;
    auto* const h = now <= limit_ ? static_cast<header*>(::malloc(wanted)) : nullptr;
    if (h == nullptr) {
      granted.fetch_sub(wanted, exec::relaxed);
      ledger_.count_failures(1);
      return nullptr;
    }
    exec::atomic_ref<std::uint64_t>(state_->peak).fetch_max(now, exec::relaxed);
    exec::atomic_ref<std::uint64_t>(state_->live).fetch_add(1, exec::relaxed);
    h->bytes = wanted;
    return h + 1;
  }
  WYRM_HD void free(void* p) const {
    if (p == nullptr) return;
    header* const h = static_cast<header*>(p) - 1;
    exec::atomic_ref<std::uint64_t>(state_->granted).fetch_sub(h->bytes, exec::relaxed);
    exec::atomic_ref<std::uint64_t>(state_->live).fetch_sub(1, exec::relaxed);
    ::free(h);
  }
  template <class Tile>
  [[nodiscard]] WYRM_HD void* allocate(Tile const&, std::size_t bytes) const {
    return malloc(bytes);
  }
  template <class Tile>
  WYRM_HD void deallocate(Tile const&, void* p) const {
    free(p);
  }

 private:
  struct alignas(alignment) header {
    std::uint64_t bytes;
  };
  system_malloc_state* state_;
  std::uint64_t limit_;
  ledger_ref ledger_;
};

/// Owner of the counters; the memory belongs to the system.
template <class Space>
class system_malloc {
 public:
  using space_type = Space;
  using view_type = system_malloc_ref;
  using ref_type = pool_ref<view_type>;
  static constexpr char const* name = "malloc";
  static constexpr traits family{.resets = false, .finds_bad_frees = false};

  /// On a GPU a process has one heap for device malloc, and its first use fixes the size. So the constructor requests
  /// more than pool_bytes, as far as reserve_bytes allows, and a program has to construct its largest pool first.
  system_malloc(Space const& space, options const& o)
      : space_(space),
        state_(space, 1),
        ledger_(space, nullptr, 0, false),
        limit_(std::max<std::size_t>(o.pool_bytes, 1)),
        reserved_(std::max(limit_, addresses_for(space, o))),
        shared_(space) {
    space_.fill(state_.data(), 0, state_.bytes());
    space_.prepare_malloc(std::min(reserved_, std::max(4 * limit_, std::size_t{1} << 30)));
    shared_.write(view());
  }

  [[nodiscard]] ref_type ref() const { return shared_.ref(); }
  [[nodiscard]] view_type view() const { return {state_.data(), limit_, ledger_.ref()}; }
  void reset() {
    throw error(error_code::bad_argument, "malloc: reset() cannot find the allocations; free each of them");
  }
  void grow(std::size_t bytes) {
    std::size_t const after = grown_size(limit_, bytes);
    if (after > reserved_)
      throw error(error_code::out_of_memory, "malloc: the limit cannot grow by " + std::to_string(bytes >> 10) +
                                                 " KiB; set a larger reserve_bytes");
    space_.prepare_malloc(after);
    limit_ = after;
    shared_.write(view());
  }
  void compact() {}
  [[nodiscard]] statistics stats() const {
    statistics s;
    ledger_.report(s);
    system_malloc_state const state = exec::read(space_, state_.data());
    s.granted = state.granted;
    s.peak = state.peak;
    s.committed = limit_;
    s.reserved = reserved_;
    s.overhead = state_.bytes() + ledger_.bytes() + shared_.bytes();
    return s;
  }
  void check() const {
    system_malloc_state const state = exec::read(space_, state_.data());
    ensure((state.granted == 0) == (state.live == 0), name, "bytes and allocations in use do not agree");
  }

 private:
  Space space_;
  exec::buffer<system_malloc_state, Space> state_;
  ledger<Space> ledger_;
  std::size_t limit_;
  std::size_t reserved_;
  shared_view<view_type, Space> shared_;
};

}  // namespace wyrm::alloc
