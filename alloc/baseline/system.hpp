// SPDX-License-Identifier: Apache-2.0
// The allocator of the system, as a baseline: CUDA's device malloc in a kernel, the C library's malloc on a host. A
// header of 16 bytes before each block has its size, for the statistics and the limit of the pool. In checked mode live
// blocks are in a table (live_table.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include "../../exec/atomic.hpp"
#include "../../exec/memory.hpp"
#include "../allocator.hpp"
#include "../ledger.hpp"
#include "../shared_view.hpp"
#include "live_table.hpp"

namespace wyrm::alloc {

struct system_malloc_state {
  std::uint64_t granted;
  std::uint64_t live;
  std::uint64_t peak;
};

/// For kernels. Thread-safe.
class system_malloc_ref {
 public:
  system_malloc_ref(system_malloc_state* state, std::uint64_t limit, ledger_ref const& ledger,
                    detail::live_table_ref const& blocks, bool guards)
      : state_(state), limit_(limit), ledger_(ledger), blocks_(blocks), guards_(guards) {}

  [[nodiscard]] WYRM_HD void* malloc(std::size_t bytes, std::size_t align = alignment) const {
    if (bytes == 0) return nullptr;
    // Requests beyond the limit are refused before they are added to `granted`; also where the size with guard, padding
    // and header overflows.
    std::size_t const padded = bytes > limit_ ? bytes : padded_request(bytes + (guards_ ? guard_bytes : 0), align);
    if (padded > limit_ || padded + sizeof(header) > limit_) {
      ledger_.count_failures(1);
      return nullptr;
    }
    std::uint64_t const wanted = std::uint64_t{padded} + sizeof(header);
    exec::atomic_ref<std::uint64_t> granted(state_->granted);
    std::uint64_t const now = granted.fetch_add(wanted, exec::relaxed) + wanted;
    auto* const start = now <= limit_ ? static_cast<std::byte*>(::malloc(wanted)) : nullptr;
    if (start == nullptr) {
      granted.fetch_sub(wanted, exec::relaxed);
      ledger_.count_failures(1);
      return nullptr;
    }
    exec::atomic_ref<std::uint64_t>(state_->peak).fetch_max(now, exec::relaxed);
    exec::atomic_ref<std::uint64_t>(state_->live).fetch_add(1, exec::relaxed);
    std::byte* const p = align_up(start + sizeof(header), align);
    *header_of(p) = {wanted, static_cast<std::uint64_t>(p - start)};
    if (blocks_.is_used()) record(p, bytes);
    return p;
  }
  WYRM_HD void free(void* p) const {
    if (p == nullptr || (blocks_.is_used() && !remove(p))) return;
    header const h = *header_of(p);
    exec::atomic_ref<std::uint64_t>(state_->granted).fetch_sub(h.bytes, exec::relaxed);
    exec::atomic_ref<std::uint64_t>(state_->live).fetch_sub(1, exec::relaxed);
    ::free(static_cast<std::byte*>(p) - h.before);
  }
  template <class Tile>
  [[nodiscard]] WYRM_HD void* allocate(Tile const&, std::size_t bytes, std::size_t align = alignment) const {
    return malloc(bytes, align);
  }
  template <class Tile>
  WYRM_HD void deallocate(Tile const&, void* p) const {
    free(p);
  }
  [[nodiscard]] WYRM_HD std::size_t block_bytes(void const* p) const {
    if (blocks_.is_used())
      if (std::size_t const asked = blocks_.bytes(p); asked == 0 || guards_) return asked;
    header const* const h = header_of(p);
    return h->bytes - h->before;
  }
  /// For check(): records the block of an entry of the table if its guard has been overwritten.
  WYRM_HD void check_guard(std::size_t entry) const {
    detail::live_block const b = blocks_.entry(entry);
    auto const* const p = reinterpret_cast<void const*>(b.address);
    bool const is_live = b.address != 0 && b.address % 2 == 0;
    if (!is_live || (b.bytes & detail::live_block::is_known) != 0 || ledger_ref::guard_is_intact(p, b.bytes)) return;
    ledger_.count_overflow(p, b.bytes);
    blocks_.mark(entry);
  }

 private:
  struct alignas(alignment) header {
    std::uint64_t bytes;   // of the whole block
    std::uint64_t before;  // of these, before the address that the program knows
  };
  WYRM_HD static header* header_of(void* p) { return static_cast<header*>(p) - 1; }
  WYRM_HD static header const* header_of(void const* p) { return static_cast<header const*>(p) - 1; }

  WYRM_NOINLINE WYRM_HD void record(void* p, std::size_t bytes) const {
    ledger_.count_asked(bytes);
    if (guards_) ledger_ref::write_guard(p, bytes);
    blocks_.insert(p, bytes);
  }
  WYRM_NOINLINE WYRM_HD bool remove(void const* p) const {
    std::uint64_t bytes = 0;
    bool const was_live = blocks_.remove(p, bytes);
    bool const is_known = (bytes & detail::live_block::is_known) != 0;
    bytes &= ~detail::live_block::is_known;
    if (!was_live)
      ledger_.count_bad_free(p, bytes);
    else if (guards_ && !is_known && !ledger_ref::guard_is_intact(p, bytes))
      ledger_.count_overflow(p, bytes);
    return was_live;
  }

  system_malloc_state* state_;
  std::uint64_t limit_;
  ledger_ref ledger_;
  detail::live_table_ref blocks_;
  bool guards_;
};

namespace detail {
struct check_guards_of_system_malloc {
  system_malloc_ref view;
  WYRM_HD void operator()(std::size_t entry) const { view.check_guard(entry); }
};
}  // namespace detail

/// Owner of the counters; the memory belongs to the system.
template <class Space>
class system_malloc {
 public:
  using space_type = Space;
  using view_type = system_malloc_ref;
  using ref_type = pool_ref<view_type>;
  static constexpr char const* name = "malloc";
  static constexpr traits family{.resets = false};

  /// On a GPU a process has one heap for device malloc, and its first use fixes the size. So the constructor requests
  /// more than pool_bytes, as far as reserve_bytes allows, and a program has to construct its largest pool first.
  /// Throws error(bad_argument) for memory of another kind than that of the device.
  system_malloc(Space const& space, options const& o)
      : space_(space),
        state_(space, 1),
        ledger_(space, nullptr, 0, {.checked = false}),
        blocks_(space),
        checked_(o.checked),
        guards_(o.checked && o.guards),
        limit_(std::max<std::size_t>(checked(o).pool_bytes, 1)),
        reserved_(std::max(limit_, addresses_for(space, o))),
        shared_(space) {
    space_.fill(state_.data(), 0, state_.bytes());
    space_.prepare_malloc(std::min(reserved_, std::max(4 * limit_, std::size_t{1} << 30)));
    cover();
    shared_.write(view());
  }

  [[nodiscard]] ref_type ref() const { return shared_.ref(); }
  [[nodiscard]] view_type view() const { return {state_.data(), limit_, ledger_.ref(), blocks_.ref(), guards_}; }
  void reset() {
    throw error(error_code::bad_argument, "malloc: reset() cannot find the allocations; free each of them");
  }
  void grow(std::size_t bytes) {
    std::size_t const after = grown_size(limit_, bytes);
    if (after > reserved_)
      throw error(error_code::out_of_memory, "malloc: the limit cannot grow by " + std::to_string(bytes >> 10) +
                                                 " KiB; set a larger reserve_bytes");
    space_.prepare_malloc(after);
    std::size_t const before = std::exchange(limit_, after);
    try {
      cover();
    } catch (...) {
      limit_ = before;
      throw;
    }
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
    s.overhead = state_.bytes() + ledger_.bytes() + blocks_.bytes() + shared_.bytes();
    return s;
  }
  void check() const {
    system_malloc_state const state = exec::read(space_, state_.data());
    ensure((state.granted == 0) == (state.live == 0), name, "bytes and allocations in use do not agree");
    if (!guards_) return;
    exec::for_each(space_, blocks_.size(), detail::check_guards_of_system_malloc{view()});
    ledger_.throw_if_overflows(name);
  }

 private:
  static options const& checked(options const& o) {
    if (o.memory != exec::memory_kind::device)
      throw error(error_code::bad_argument, std::string("malloc: the system has no ") + exec::to_string(o.memory) +
                                                " memory; use another allocator, or memory of the device");
    return o;
  }
  // A block has a header and at least 16 bytes.
  void cover() {
    if (checked_) blocks_.cover(limit_ / (2 * alignment));
  }

  Space space_;
  exec::buffer<system_malloc_state, Space> state_;
  ledger<Space> ledger_;
  detail::live_table<Space> blocks_;
  bool checked_;
  bool guards_;
  std::size_t limit_;
  std::size_t reserved_;
  shared_view<view_type, Space> shared_;
};

}  // namespace wyrm::alloc
