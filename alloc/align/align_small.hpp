// SPDX-License-Identifier: Apache-2.0
// `align-malloc+small`: AlignMalloc for large blocks, and Ouroboros for small ones. A block of AlignMalloc has at least
// 4 KiB, which is too much for most vertices of a graph. So a request below 4 KiB goes to a pool of Ouroboros, all
// others to a pool of AlignMalloc; the address of a block determines the pool that frees it. Both pools are in memory
// of the same kind.
//
// The pools are two ranges of addresses, each with a part of the bytes. No request is served by the other pool, because
// small blocks of 4 KiB each would use up the memory for large ones. Instead kernels count the failed requests of each
// pool, and grow() enlarges the pool that ran out of memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "../../exec/atomic.hpp"
#include "../../exec/memory.hpp"
#include "../allocator.hpp"
#include "../ouroboros/ouroboros.hpp"
#include "../shared_view.hpp"
#include "align.hpp"

namespace wyrm::alloc {

/// Parameters of align_malloc_small.
struct align_small_parameters {
  double small = 0.5;        // the part of pool_bytes and of reserve_bytes for small blocks, above 0 and below 1
  align_parameters align{};  // of the pool for large blocks
};

namespace detail {

/// Requests that each pool has refused since the last grow() or reset().
struct refused_requests {
  std::uint64_t small;
  std::uint64_t large;
};

/// Joins the fragmentation of two pools that are not adjacent.
[[nodiscard]] inline fragmentation_statistics joined(fragmentation_statistics const& a,
                                                     fragmentation_statistics const& b) {
  fragmentation_statistics f;
  f.blocks = a.blocks + b.blocks;
  f.requested = a.requested + b.requested;
  f.free = a.free + b.free;
  f.largest_free = std::max(a.largest_free, b.largest_free);
  auto const mean = [](double x, std::size_t n, double y, std::size_t m) {
    return n + m == 0 ? 0.0 : (x * static_cast<double>(n) + y * static_cast<double>(m)) / static_cast<double>(n + m);
  };
  f.internal = mean(a.internal, a.blocks, b.internal, b.blocks);
  f.blowup = mean(a.blowup, a.requested, b.blowup, b.requested);
  if (f.free > 0) f.external = 1 - static_cast<double>(f.largest_free) / static_cast<double>(f.free);
  return f;
}

}  // namespace detail

/// For kernels. Thread-safe, but for carve().
template <class SmallView>
class align_small_ref {
 public:
  static constexpr unsigned resident_blocks = exec::resident_blocks_of<SmallView>();

  align_small_ref(SmallView const& small, align_ref const& large, detail::refused_requests* refused)
      : small_(small), large_(large), refused_(refused) {}

  /// Collective; one request per lane, 0 bytes = none. Waits for the host where a lane asks for 4 KiB or more.
  template <class Tile>
  [[nodiscard]] WYRM_HD void* allocate(Tile const& t, std::size_t bytes, std::size_t align = alignment) const {
    bool const is_small = bytes < align_page_bytes;
    void* const of_small = small_.allocate(t, is_small ? bytes : 0, align);
    void* const of_large = large_.allocate(t, is_small ? 0 : bytes, align);
    void* const p = is_small ? of_small : of_large;
    if (bytes > 0 && p == nullptr) count(is_small ? refused_->small : refused_->large);
    return p;
  }
  /// Collective; one pointer per lane, nullptr = none.
  template <class Tile>
  WYRM_HD void deallocate(Tile const& t, void* p) const {
    bool const is_small = small_.contains(p);
    small_.deallocate(t, is_small ? p : nullptr);
    large_.deallocate(t, is_small ? nullptr : p);
  }
  /// As carving_ref has it: pages of up to 2048 bytes are small.
  template <class Tile>
  [[nodiscard]] WYRM_HD std::uint64_t carve(Tile const& t, std::size_t bytes, std::uint32_t pages_of_lane,
                                            page_array& pages) const {
    std::uint64_t const missing = small_.carve(t, bytes, pages_of_lane, pages);
    if (missing > 0 && t.rank() == 0) count(refused_->small);
    return missing;
  }
  [[nodiscard]] WYRM_HD void* claim(page_array const& pages, std::size_t bytes, std::uint32_t k) const {
    return small_.claim(pages, bytes, k);
  }
  /// See align_ref::allocate_interleaved().
  template <class Tile>
  [[nodiscard]] WYRM_HD interleaved_block allocate_interleaved(Tile const& t, std::size_t bytes,
                                                               lane_order order = lane_order::even_earlier) const {
    interleaved_block const b = large_.allocate_interleaved(t, bytes, order);
    if (t.any(bytes > 0) && !b && t.rank() == 0) count(refused_->large);
    return b;
  }
  [[nodiscard]] WYRM_HD void* malloc(std::size_t bytes, std::size_t align = alignment) const {
    return malloc_together(*this, refused_, bytes, align);
  }
  WYRM_HD void free(void* p) const { free_together(*this, refused_, p); }
  [[nodiscard]] WYRM_HD std::size_t block_bytes(void const* p) const {
    return small_.contains(p) ? small_.block_bytes(p) : large_.block_bytes(p);
  }

 private:
  WYRM_HD static void count(std::uint64_t& requests) {
    exec::atomic_ref<std::uint64_t>(requests).fetch_add(1, exec::relaxed);
  }

  SmallView small_;
  align_ref large_;
  detail::refused_requests* refused_;
};

/// Owner of both pools. pool_bytes and reserve_bytes are divided between them as align_small_parameters::small says, in
/// whole steps of the space's memory: each pool has one step at least. The largest block is the part of large blocks.
template <class Space>
class align_malloc_small {
  using small_pool = ouroboros_va_p<Space>;
  using large_pool = align_malloc<Space>;

 public:
  using space_type = Space;
  using view_type = align_small_ref<typename small_pool::view_type>;
  using ref_type = pool_ref<view_type>;
  static constexpr char const* name = "align-malloc+small";
  static constexpr traits family{.share = 0.5};  // with default parameters

  /// Throws error(bad_argument) for impossible parameters.
  align_malloc_small(Space const& space, options const& o, align_small_parameters const& parameters = {})
      : space_(space),
        part_(checked_part(parameters.small)),
        limit_(o.reserve_bytes != 0 ? addresses_for(space, o) : reserve_pool(space, o).capacity()),
        small_(space, options_for(o, part_)),
        large_(space, options_for(o, 1 - part_), parameters.align),
        refused_(space, 1),
        shared_(space) {
    forget_refused();
    shared_.write(view());
  }

  [[nodiscard]] ref_type ref() const { return shared_.ref(); }
  [[nodiscard]] view_type view() const { return {small_.view(), large_.view(), refused_.data()}; }

  /// See align_malloc. Small requests are served while no thread of the host serves the pool, too.
  [[nodiscard]] bool is_serving() const { return large_.is_serving(); }
  void start() { large_.start(); }
  void stop() noexcept { large_.stop(); }
  [[nodiscard]] std::uint64_t unanswered() const { return large_.unanswered(); }

  void reset() {
    small_.reset();
    large_.reset();
    forget_refused();
  }
  /// The pool that has refused requests since the last growth grows. If both have, or none, each gets its part. A pool
  /// that cannot grow so far leaves the rest to the other.
  void grow(std::size_t bytes) {
    auto const both = [&] {
      std::size_t const of_small = growth_of_small(bytes);
      std::size_t const of_large = bytes - of_small;
      if (of_large > 0) large_.prepare(of_large);  // what can fail comes before any change
      if (of_small > 0) small_.grow(of_small);
      if (of_large > 0) large_.grow(of_large);
    };
    shared_.rewrite_after(both, [&] { return view(); });
    forget_refused();
  }
  void compact() {
    small_.compact();
    large_.compact();
  }

  /// The sums of both pools. `classes` are those of small blocks. The largest free block of the fragmentation is the
  /// larger one of the two pools.
  [[nodiscard]] statistics stats() const {
    statistics s = small_.stats();
    statistics const l = large_.stats();
    s.asked += l.asked;
    s.granted += l.granted;
    s.peak += l.peak;
    s.committed += l.committed;
    s.reserved += l.reserved;
    s.overhead += l.overhead + refused_.bytes() + shared_.bytes();
    s.failures += l.failures;
    s.bad_frees += l.bad_frees;
    s.overflows += l.overflows;
    s.errors.insert(s.errors.end(), l.errors.begin(), l.errors.end());
    s.errors.resize(std::min<std::size_t>(s.errors.size(), ledger_counters::kept));
    if (s.fragmentation && l.fragmentation)
      s.fragmentation = detail::joined(*s.fragmentation, *l.fragmentation);
    else
      s.fragmentation.reset();
    return s;
  }
  /// See ouroboros and align_malloc.
  void check() const {
    small_.check();
    large_.check();
  }

 private:
  [[nodiscard]] static double checked_part(double small) {
    if (!(small > 0 && small < 1))
      throw error(error_code::bad_argument, std::string(name) + ": the part of small blocks must be above 0 and " +
                                                "below 1, not " + std::to_string(small));
    return small;
  }
  // A part of so many bytes in whole steps, at least one.
  [[nodiscard]] std::size_t steps_for(std::size_t bytes, double part) const {
    std::size_t const step = space_.granularity();
    auto const wanted = static_cast<std::size_t>(static_cast<double>(bytes) * part);
    return std::max<std::size_t>((wanted + step - 1) / step, 1) * step;
  }
  [[nodiscard]] options options_for(options o, double part) const {
    o.pool_bytes = steps_for(o.pool_bytes, part);
    o.reserve_bytes = steps_for(limit_, part);
    return o;
  }
  void forget_refused() { exec::write(space_, refused_.data(), detail::refused_requests{0, 0}); }

  [[nodiscard]] std::size_t growth_of_small(std::size_t bytes) const {
    statistics const s = small_.stats();
    statistics const l = large_.stats();
    std::size_t const room_of_small = s.reserved - s.committed;
    std::size_t const room_of_large = l.reserved - l.committed;
    if (bytes > room_of_small + room_of_large)
      throw error(error_code::out_of_memory, std::string(name) + ": cannot grow by " + std::to_string(bytes >> 10) +
                                                 " KiB, but by " +
                                                 std::to_string((room_of_small + room_of_large) >> 10) +
                                                 " KiB at most; set a larger reserve_bytes when the pool is made");
    detail::refused_requests const refused = exec::read(space_, refused_.data());
    std::size_t of_small = std::min(steps_for(bytes, part_), bytes);
    if ((refused.small > 0) != (refused.large > 0)) of_small = refused.small > 0 ? bytes : 0;
    of_small = std::min(of_small, room_of_small);
    return bytes - of_small <= room_of_large ? of_small : bytes - room_of_large;
  }

  Space space_;
  double part_;        // of small blocks
  std::size_t limit_;  // of the size of both pools
  small_pool small_;
  large_pool large_;
  exec::buffer<detail::refused_requests, Space> refused_;
  shared_view<view_type, Space> shared_;
};

}  // namespace wyrm::alloc
