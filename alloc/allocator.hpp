// SPDX-License-Identifier: Apache-2.0
// What every device memory allocator of Wyrm offers: an owner on the host, and a small ref for kernels that is valid as
// long as the owner. Common to all: 16-byte alignment; any size from 1 byte to the whole pool; out of memory is
// nullptr, counted.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "../exec/config.hpp"
#include "../exec/error.hpp"
#include "../exec/tile.hpp"

namespace wyrm::alloc {

struct options {
  std::size_t pool_bytes = std::size_t{64} << 20;  // memory committed when the pool is made, rounded up
  std::size_t reserve_bytes = 0;  // addresses reserved, that is how far grow() can go; 0 = the machine's memory
  bool checked = WYRM_CHECKED;    // track every live allocation: finds double and foreign frees; slow
};

/// The most that a pool may have, and reserve: 1 TiB.
inline constexpr std::size_t pool_limit = std::size_t{1} << 40;

/// How many bytes of addresses a pool reserves. Throws error(out_of_memory) beyond pool_limit.
template <class Space>
[[nodiscard]] std::size_t addresses_for(Space const& space, options const& o) {
  std::size_t const wanted = o.reserve_bytes != 0 ? o.reserve_bytes : std::min(space.memory_total(), pool_limit);
  if (std::max(wanted, o.pool_bytes) > pool_limit)
    throw error(error_code::out_of_memory,
                "a pool may have at most 1 TiB; ask for less in pool_bytes and reserve_bytes");
  return std::max(wanted, o.pool_bytes);
}

/// The size of a pool that grows by `more` bytes; SIZE_MAX, which no pool can have, where the sum overflows.
[[nodiscard]] inline std::size_t grown_size(std::size_t bytes, std::size_t more) {
  return more <= ~std::size_t{0} - bytes ? bytes + more : ~std::size_t{0};
}

/// One size class.
struct class_statistics {
  std::size_t page_bytes = 0;
  std::size_t pages = 0;  // carved out of the pool for this class so far
  std::size_t free = 0;   // of those, not in use
};

/// All in bytes, except failures and bad_frees, which are counts since the last reset.
struct statistics {
  std::size_t asked = 0;      // sum of all requests since the last reset; only counted when checked
  std::size_t granted = 0;    // in use now, rounded up to what the family hands out
  std::size_t peak = 0;       // the most of the pool that was ever handed to a class or a large request
  std::size_t committed = 0;  // the pool
  std::size_t reserved = 0;   // how large it can become
  std::size_t overhead = 0;   // queues and tables beside the pool
  std::size_t failures = 0;   // requests answered with nullptr
  std::size_t bad_frees = 0;  // frees of what was not allocated; those of a double free only when checked
  std::vector<class_statistics> classes;
};

/// What a family cannot do says so here; the conformance suite asks.
struct traits {
  bool reclaims = true;         // freed memory is used again
  bool resets = true;           // reset() frees everything
  bool finds_bad_frees = true;  // in checked mode
  bool packs = true;            // blocks of one size fill the pool, however requests came together
};

/// For kernels, passed by value: refs and views. allocate and deallocate are collectives of a tile, with one request a
/// lane: 0 bytes, or nullptr, is none. malloc and free are the same for one thread on its own.
template <class R>
concept allocator_ref = std::is_trivially_copyable_v<R> &&
    requires(R const& ref, exec::scalar_tile const& t, std::size_t bytes, void* p) {
  { ref.allocate(t, bytes) } -> std::same_as<void*>;
  ref.deallocate(t, p);
  { ref.malloc(bytes) } -> std::same_as<void*>;
  ref.free(p);
};

/// deallocate for blocks of so many bytes as were asked for, which may save looking where they end.
template <class R>
concept sized_free_ref = allocator_ref<R> &&
    requires(R const& ref, exec::scalar_tile const& t, void* p, std::size_t bytes) {
  ref.deallocate(t, p, bytes);
};

/// Pages of one size: a few, and all others, lie one behind the other.
struct page_array {
  std::byte* few_pages;
  std::byte* others;
  std::uint32_t few;
  [[nodiscard]] WYRM_HD std::byte* at(std::size_t bytes, std::uint32_t k) const {
    auto const each = std::uint64_t{static_cast<std::uint32_t>(bytes)};
    return k < few ? few_pages + k * each : others + (k - few) * each;
  }
};

/// Some families hand out very many pages at once to who knows how many of each size are wanted: without a counter that
/// all want, and neighbours.
///  - carve(): for each lane `count` pages of a power of two of bytes, 16 to 2048, which is no other lane's; for all
///    lanes or for none. Collective, of one tile, while nobody else uses the pool. Returns how many bytes are missing
///    at the end of the pool: no size has another limit.
///  - claim(): page k of those, once for each, in any order, by one thread. It is allocated from then on, and may be
///    freed while others are still to be claimed.
template <class R>
concept carving_ref = allocator_ref<R> &&
    requires(R const& ref, exec::scalar_tile const& t, std::size_t bytes, std::uint32_t k, page_array& pages) {
  { ref.carve(t, bytes, k, pages) } -> std::same_as<std::uint64_t>;
  { ref.claim(pages, bytes, k) } -> std::same_as<void*>;
};

/// A ref as users of an allocator pass it to their kernels by value: few registers, and no stack frame.
template <class R>
concept small_ref = sizeof(R) <= 64 && allocator_ref<R>;

/// The owner. Its functions run on the host while no kernel uses the pool (they are ordered on the pool's space). What
/// changes the pool (reset, grow, compact) must not run beside a kernel on another stream either.
///  - ref() is for kernels of the allocator's user. It is small, and stays valid until the owner is destroyed: after
///    reset(), grow() and compact(), after a grow() that throws, and after the owner has been moved. A call through it
///    first loads parts of the view from memory of the device;
///  - view() is the state that a ref points to, by value, up to some hundred bytes: for kernels that take it as a
///    __grid_constant__ argument, as all launches of exec do, and saves those loads. It is valid until the next
///    reset(), grow() or compact(): make one for each launch;
///  - reset() frees everything and forgets the statistics;
///  - grow(bytes) commits so much more; or throws error(out_of_memory), and changes nothing;
///  - compact() makes memory that is free, but tied to one size, usable for every size; some of that, or all, a family
///    does by itself while it runs;
///  - stats(): see above;
///  - check() proves that no byte is lost or owned twice, or throws error(corrupt).
template <class A>
concept device_allocator = std::is_move_constructible_v<A> && small_ref<typename A::ref_type> &&
    allocator_ref<typename A::view_type> &&
    requires(A& a, A const& c, typename A::space_type const& space, options const& o, std::size_t bytes) {
  A(space, o);
  { c.ref() } -> std::same_as<typename A::ref_type>;
  { c.view() } -> std::same_as<typename A::view_type>;
  { c.stats() } -> std::same_as<statistics>;
  c.check();
  a.reset();
  a.grow(bytes);
  a.compact();
  { A::name } -> std::convertible_to<char const*>;
  { A::family } -> std::convertible_to<traits>;
};

/// For check(): error(corrupt) unless `holds`.
inline void ensure(bool holds, char const* who, std::string const& what) {
  if (!holds) throw error(error_code::corrupt, std::string(who) + ": " + what);
}

}  // namespace wyrm::alloc
