// SPDX-License-Identifier: Apache-2.0
// A bump pointer: the baseline that the other allocators are compared with. Only reset() frees memory. After the first
// request that does not fit, the pool counts as used up until reset() or grow().
//
// The pointer can exceed the end, but by a bounded amount. The request that crosses the end leaves the pointer there.
// Every later request subtracts what it has added. Once the pointer is at or beyond the end, it stays there, because
// the additions that moved it there began before the end, and are not undone. So at any time the pointer exceeds the
// end at most by the requests of one tile, and by those of the tiles that have not subtracted theirs yet.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "../../exec/launch.hpp"
#include "../allocator.hpp"
#include "../fragmentation.hpp"
#include "../ledger.hpp"
#include "../shared_view.hpp"

namespace wyrm::alloc {

/// For kernels. Thread-safe, but for carve().
class bump_ref {
 public:
  bump_ref(std::byte* base, std::size_t size, std::uint64_t* used, ledger_ref const& ledger)
      : base_(base), size_(size), used_(used), ledger_(ledger) {}

  /// Collective; one atomic addition per tile.
  template <class Tile>
  [[nodiscard]] WYRM_HD void* allocate(Tile const& t, std::size_t bytes, std::size_t align = alignment) const {
    std::size_t const wanted = padded_request(ledger_.with_guard(bytes), align);
    // Requests that are larger than the pool are left out, so that the sum cannot overflow.
    std::uint64_t const mine = wanted > size_ ? 0 : (std::uint64_t{wanted} + alignment - 1) / alignment * alignment;
    std::uint64_t before = 0;  // the sum of the requests of lower lanes
    std::uint64_t all = 0;
    for (unsigned lane = 0; lane < t.size(); ++lane) {
      if (lane == t.rank()) before = all;
      all += t.shfl(mine, lane);
    }
    if (wanted > size_) ledger_.count_failures(1);
    if (all == 0) return nullptr;
    std::uint64_t start = 0;
    if (t.rank() == 0) {
      exec::atomic_ref<std::uint64_t> used(*used_);
      start = used.fetch_add(all, exec::relaxed);
      if (start >= size_) used.fetch_sub(all, exec::relaxed);
    }
    start = t.shfl(start, 0) + before;
    if (mine == 0) return nullptr;
    if (start + mine > size_) {
      ledger_.count_failures(1);
      return nullptr;
    }
    std::byte* const p = align_up(base_ + start, align);
    ledger_.record_allocation(p, bytes);
    return p;
  }
  template <class Tile>
  WYRM_HD void deallocate(Tile const&, void* p) const {
    if (p == nullptr) return;
    if (p < base_ || p >= base_ + size_ ||
        static_cast<std::size_t>(static_cast<std::byte*>(p) - base_) % alignment != 0)
      ledger_.count_bad_free(p);
    else
      (void)ledger_.record_free(p);
  }
  template <class Tile>
  [[nodiscard]] WYRM_HD std::uint64_t carve(Tile const& t, std::size_t bytes, std::uint32_t count,
                                            page_array& pages) const {
    std::uint64_t const mine = std::uint64_t{count} * bytes;
    std::uint64_t const before = exec::sum_below(t, mine);
    std::uint64_t const all = t.shfl(before + mine, t.size() - 1);
    std::uint64_t const used = *used_ < size_ ? *used_ : size_;
    t.sync();
    if (all > size_ - used) return all - (size_ - used);
    if (t.rank() == 0) *used_ = used + all;
    pages = {nullptr, base_ + used + before, 0, 0, page_array::without_pieces};
    return 0;
  }
  [[nodiscard]] WYRM_HD void* claim(page_array const& pages, std::size_t bytes, std::uint32_t k) const {
    void* const p = pages.at(bytes, k);
    ledger_.record_carved(p, bytes);
    return p;
  }
  [[nodiscard]] WYRM_HD void* malloc(std::size_t bytes, std::size_t align = alignment) const {
    return malloc_together(*this, base_, bytes, align);
  }
  WYRM_HD void free(void* p) const { deallocate(exec::scalar_tile{}, p); }
  /// The bytes of the pool that the live block at p takes; in checked mode.
  [[nodiscard]] WYRM_HD std::size_t granted_bytes(void const* p) const {
    return (ledger_.with_guard(ledger_.asked_bytes(p)) + alignment - 1) / alignment * alignment;
  }

 private:
  std::byte* base_;
  std::uint64_t size_;
  std::uint64_t* used_;  // may exceed size_, see above
  ledger_ref ledger_;
};

/// Owner of the pool.
template <class Space>
class bump {
 public:
  using space_type = Space;
  using view_type = bump_ref;
  using ref_type = pool_ref<view_type>;
  static constexpr char const* name = "bump";
  static constexpr traits family{.reclaims = false};

  bump(Space const& space, options const& o)
      : space_(space),
        memory_(reserve_pool(space, o)),
        used_(space, 1),
        ledger_(space, memory_.data(), memory_.capacity(), o),
        shared_(space) {
    memory_.commit(std::max<std::size_t>(o.pool_bytes, 1));
    ledger_.cover(memory_.committed());
    reset();
    shared_.write(view());
  }

  [[nodiscard]] ref_type ref() const { return shared_.ref(); }
  [[nodiscard]] view_type view() const { return {memory_.data(), memory_.committed(), used_.data(), ledger_.ref()}; }
  void reset() {
    space_.fill(used_.data(), 0, used_.bytes());
    ledger_.reset();
  }
  void grow(std::size_t bytes) {
    auto const all = [&] {
      std::uint64_t const used = granted();
      std::size_t const after = memory_.committed_after(grown_size(memory_.committed(), bytes));
      ledger_.cover(after);  // everything that can fail happens before the pool changes
      memory_.commit(after);
      exec::write(space_, used_.data(), used);
    };
    shared_.rewrite_after(all, [&] { return view(); });
  }
  void compact() {}
  [[nodiscard]] statistics stats() const {
    statistics s;
    ledger_.report(s);
    s.granted = s.peak = granted();
    s.committed = memory_.committed();
    s.reserved = memory_.capacity();
    s.overhead = used_.bytes() + ledger_.bytes() + shared_.bytes();
    detail::add_fragmentation(space_, ledger_, view(), memory_.data(), s);
    return s;
  }
  void check() const {
    std::vector<std::size_t> const live = ledger_.live_offsets();
    ensure(live.empty() || live.back() < granted(), name, "a live allocation is beyond the pointer");
    ledger_.check_guards(name);
  }

 private:
  [[nodiscard]] std::uint64_t granted() const {
    return std::min<std::uint64_t>(exec::read(space_, used_.data()), memory_.committed());
  }

  Space space_;
  exec::reservation<Space> memory_;
  exec::buffer<std::uint64_t, Space> used_;
  ledger<Space> ledger_;
  shared_view<view_type, Space> shared_;
};

}  // namespace wyrm::alloc
