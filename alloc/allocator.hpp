// SPDX-License-Identifier: Apache-2.0
// The concepts that all device memory allocators of Wyrm model: an owner on the host, and a small ref for kernels that
// is valid as long as the owner. All allocators have 16-byte alignment, and serve any size from 1 byte to the whole
// pool. If memory runs out, a request returns nullptr, and is counted.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cuda/std/bit>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "../exec/config.hpp"
#include "../exec/converged_tile.hpp"
#include "../exec/error.hpp"
#include "../exec/memory.hpp"
#include "../exec/tile.hpp"

namespace wyrm::alloc {

/// Options of all allocators.
struct options {
  std::size_t pool_bytes = std::size_t{64} << 20;  // bytes committed at construction, rounded up
  std::size_t reserve_bytes = 0;  // bytes of addresses reserved, the limit of grow(); 0 = memory_limit(memory)
  bool checked = WYRM_CHECKED;    // record every live block, to detect double and foreign frees; slow
  bool guards = true;             // where checked: 16 bytes more per request, to detect writes beyond its end
  exec::memory_kind memory = exec::memory_kind::device;  // of the pool; tables beside it are in memory of the device
};

/// The same options without guards, for a pool whose owner fills whole blocks and counts the bytes that they take.
[[nodiscard]] inline options without_guards(options o) {
  o.guards = false;
  return o;
}

/// The largest size and reserve of a pool: 1 TiB.
inline constexpr std::size_t pool_limit = std::size_t{1} << 40;

/// The bytes of addresses that a pool requests. Throws error(out_of_memory) beyond pool_limit.
template <class Space>
[[nodiscard]] std::size_t addresses_for(Space const& space, options const& o) {
  std::size_t const wanted =
      o.reserve_bytes != 0 ? o.reserve_bytes : std::min(space.memory_limit(o.memory), pool_limit);
  if (std::max(wanted, o.pool_bytes) > pool_limit)
    throw error(error_code::out_of_memory, "a pool may have at most 1 TiB; use smaller pool_bytes and reserve_bytes");
  return std::max(wanted, o.pool_bytes);
}

/// Reserves the addresses of a pool. If reserve_bytes is 0 and the space refuses them, it reserves fewer, at least
/// pool_bytes. Throws error(out_of_memory).
template <class Space>
[[nodiscard]] exec::reservation<Space> reserve_pool(Space const& space, options const& o) {
  std::size_t const most = addresses_for(space, o);
  return exec::reservation<Space>::between(space, o.reserve_bytes != 0 ? most : o.pool_bytes, most, o.memory);
}

/// The size of a pool that grows by `more` bytes; SIZE_MAX, which no pool can have, where the sum overflows.
[[nodiscard]] inline std::size_t grown_size(std::size_t bytes, std::size_t more) {
  return more <= ~std::size_t{0} - bytes ? bytes + more : ~std::size_t{0};
}

/// Statistics of one size class.
struct class_statistics {
  std::size_t page_bytes = 0;
  std::size_t pages = 0;  // carved from the pool for this class
  std::size_t free = 0;   // of these, not in use
};

/// An error of a program in the use of a block.
enum class memory_error_kind : std::uint32_t {
  foreign_free,  // of an address at which no block begins
  double_free,   // of a block that is free already; in checked mode
  overflow,      // bytes behind the end of a block have been written; in checked mode with guards
};
struct memory_error {
  memory_error_kind kind;
  std::uint64_t address;
  std::uint64_t bytes;  // the requested size of the block; 0 if not known
};
/// "overflow of the block of 40 bytes at 0x7f0012345680".
[[nodiscard]] inline std::string to_string(memory_error const& e) {
  char address[24];
  std::snprintf(address, sizeof(address), "0x%llx", static_cast<unsigned long long>(e.address));
  std::string const block = e.bytes > 0 ? "the block of " + std::to_string(e.bytes) + " bytes at " : "a block at ";
  switch (e.kind) {
    case memory_error_kind::foreign_free: return std::string("free of ") + address + ", where no block begins";
    case memory_error_kind::double_free: return "second free of " + block + address;
    case memory_error_kind::overflow: return "bytes written beyond the end of " + block + address;
  }
  return "unknown error";
}

/// Fragmentation (ScatterAlloc, InPar 2012, section 3), from the live blocks; in checked mode.
struct fragmentation_statistics {
  std::size_t blocks = 0;        // live
  std::size_t requested = 0;     // bytes, by them
  double internal = 0;           // Eq. 1: the mean over live blocks of (granted - requested) / granted
  double external = 0;           // Eq. 2: 1 - largest_free / free
  std::size_t free = 0;          // bytes that are in no live block; also those that only one size class can use
  std::size_t largest_free = 0;  // of these, adjacent
  double blowup = 0;             // bytes that size classes and large blocks have taken, divided by those requested
};

/// All in bytes, except failures, bad_frees and overflows, which are counts since the last reset.
struct statistics {
  std::size_t asked = 0;      // sum of the sizes of all requests since the last reset; only counted in checked mode
  std::size_t granted = 0;    // in use, rounded up to the sizes that the allocator has
  std::size_t peak = 0;       // the most of the pool that size classes and large requests have taken
  std::size_t committed = 0;  // the size of the pool
  std::size_t reserved = 0;   // the size that the pool can grow to
  std::size_t overhead = 0;   // queues and tables beside the pool
  std::size_t failures = 0;   // requests that returned nullptr
  std::size_t bad_frees = 0;  // frees of pointers that were not allocated; double frees only in checked mode
  std::size_t overflows = 0;  // blocks that were written beyond their end; found when they are freed, and by check()
  std::vector<memory_error> errors;  // the first bad frees and overflows since the last reset, 64 at most
  std::vector<class_statistics> classes;
  std::optional<fragmentation_statistics> fragmentation;  // in checked mode, unless memory is scarce
};

/// What an allocator can do. The conformance suite depends on it.
struct traits {
  bool reclaims = true;          // freed memory is used again
  bool resets = true;            // reset() frees everything
  bool packs = true;             // blocks of one size fill the pool, whatever the order of the requests
  std::size_t header_bytes = 0;  // before each block but the first, in the pool; `granted` counts them, too
  bool powers_of_two = false;    // requests up to 1 MiB are rounded up to powers of two
  std::size_t unit_bytes = 16;   // requests are rounded up to multiples of it at least
  double share = 1;              // of the pool: what blocks of one size, or one block, can have; < 1: it has two ranges
  bool fixed_sizes = true;       // requests of one size always get blocks of one size
};

/// The alignment of every block, and the largest alignment that can be requested.
inline constexpr std::size_t alignment = 16;
inline constexpr std::size_t largest_alignment = 4096;
/// Whether an alignment can be requested: a power of two up to largest_alignment.
[[nodiscard]] WYRM_HD constexpr bool is_alignment(std::size_t align) {
  return align > 0 && align <= largest_alignment && (align & (align - 1)) == 0;
}

/// Refs and views, which kernels take by value. allocate and deallocate are collectives of a tile with one request per
/// lane; 0 bytes, or nullptr, is no request. `align`: a power of two up to largest_alignment; another one is refused.
/// malloc and free are for single threads: the lanes of a warp that call them at the same time are served as one tile
/// (exec::converged_tile). All are thread-safe.
template <class R>
concept allocator_ref = std::is_trivially_copyable_v<R> &&
    requires(R const& ref, exec::scalar_tile const& t, std::size_t bytes, std::size_t align, void* p) {
  { ref.allocate(t, bytes) } -> std::same_as<void*>;
  { ref.allocate(t, bytes, align) } -> std::same_as<void*>;
  ref.deallocate(t, p);
  { ref.malloc(bytes) } -> std::same_as<void*>;
  { ref.malloc(bytes, align) } -> std::same_as<void*>;
  ref.free(p);
};

/// A ref that can return the size of a block: block_bytes(p) is the number of bytes that the owner of the live block at
/// p may use, at least as many as were requested; 0 for an address outside the pool. Per thread.
template <class R>
concept measuring_ref = allocator_ref<R> && requires(R const& ref, void const* p) {
  { ref.block_bytes(p) } -> std::same_as<std::size_t>;
};

/// The size to request instead of `bytes` from an allocator that aligns blocks of a power of two to their size, and
/// blocks of more than 4096 bytes to 4096: a power of two of at least the alignment. An alignment that is not valid
/// becomes a request that no pool can serve.
[[nodiscard]] WYRM_HD inline std::size_t aligned_request(std::size_t bytes, std::size_t align) {
  if (bytes == 0) return 0;
  if (!is_alignment(align)) return ~std::size_t{0};
  if (align <= alignment || bytes > largest_alignment) return bytes;
  return cuda::std::bit_ceil(bytes < align ? align : bytes);
}

/// A ref with a deallocate that also takes the requested size of the block, which can save the search for its end.
template <class R>
concept sized_free_ref = allocator_ref<R> &&
    requires(R const& ref, exec::scalar_tile const& t, void* p, std::size_t bytes) {
  ref.deallocate(t, p, bytes);
};

/// Pages of one size in two arrays: `few` pages in the first one, starting at its page `begin`, and all others in the
/// second one. Each piece of 8 KiB of an array has `per_piece` pages, and possibly an unused rest; or the pages are
/// contiguous (without_pieces).
struct page_array {
  static constexpr std::uint32_t without_pieces = 0xffffffff;
  std::byte* first;
  std::byte* second;
  std::uint32_t begin;
  std::uint32_t few;
  std::uint32_t per_piece;
  [[nodiscard]] WYRM_HD std::byte* at(std::size_t bytes, std::uint32_t k) const {
    std::uint32_t const n = k < few ? begin + k : k - few;
    std::uint32_t const pieces = n / per_piece;
    std::uint64_t const in_piece = std::uint64_t{n - pieces * per_piece} * static_cast<std::uint32_t>(bytes);
    return (k < few ? first : second) + ((std::uint64_t{pieces} << 13) + in_piece);
  }
};

/// Some allocators can carve pages: allocate many pages at once for a caller that knows the number of pages of each
/// size. Carved pages of one size are adjacent, and need no atomic counter.
///  - carve(): `count` pages per lane, of `bytes` bytes each: a page size of Ouroboros (size_classes.hpp), 16 to 2048,
///    that no other lane requests. It serves all lanes or none. Collective, of one tile, while no other thread uses the
///    pool. Returns how many bytes are missing at the end of the pool; 0 if all lanes are served. No size has another
///    limit.
///  - claim(): page k of the array, once for each k, in any order; per thread. The page is allocated from then on, and
///    may be freed while other pages are not claimed yet.
template <class R>
concept carving_ref = allocator_ref<R> &&
    requires(R const& ref, exec::scalar_tile const& t, std::size_t bytes, std::uint32_t k, page_array& pages) {
  { ref.carve(t, bytes, k, pages) } -> std::same_as<std::uint64_t>;
  { ref.claim(pages, bytes, k) } -> std::same_as<void*>;
};

/// A ref that users pass to kernels by value. It needs few registers and no stack frame.
template <class R>
concept small_ref = sizeof(R) <= 64 && allocator_ref<R>;

/// The size to request from an allocator whose blocks begin at any multiple of 16, so that the block has room for an
/// aligned one.
[[nodiscard]] WYRM_HD inline std::size_t padded_request(std::size_t bytes, std::size_t align) {
  if (bytes == 0) return 0;
  if (!is_alignment(align)) return ~std::size_t{0};
  if (align <= alignment) return bytes;
  return bytes < ~std::size_t{0} - align ? bytes + align - alignment : ~std::size_t{0};
}
/// The first address from p on that is a multiple of `align`.
[[nodiscard]] WYRM_HD inline std::byte* align_up(std::byte* p, std::size_t align) {
  return align <= alignment ? p : p + ((~reinterpret_cast<std::uintptr_t>(p) + 1) & (align - 1));
}

// Without collectives. A function of its own, because registers of the other case would be saved in memory otherwise.
template <class Ref>
[[nodiscard]] WYRM_NOINLINE WYRM_HD void* malloc_alone(Ref const& ref, std::size_t bytes, std::size_t align) {
  return ref.allocate(exec::scalar_tile{}, bytes, align);
}
/// The implementation of malloc and free of a ref: the lanes that call them at the same time, for the same pool, are
/// served as one tile. `pool`: any address that identifies it.
template <class Ref>
[[nodiscard]] WYRM_HD void* malloc_together(Ref const& ref, void const* pool, std::size_t bytes,
                                            std::size_t align = alignment) {
  exec::converged_tile const t = exec::converged_tile::gather(pool);
  if (t.size() == 1) return malloc_alone(ref, bytes, align);
  void* const p = ref.allocate(t, bytes, align);
  t.sync();  // one lane may have acquired the memory for another
  return p;
}
template <class Ref>
WYRM_HD void free_together(Ref const& ref, void const* pool, void* p) {
  exec::converged_tile const t = exec::converged_tile::gather(pool);
  NV_IF_TARGET(NV_IS_HOST, (if (t.is_alone()) return ref.deallocate(exec::scalar_tile{}, p);))
  t.sync();  // one lane may release the memory of another
  ref.deallocate(t, p);
}

/// The owner. Its functions run on the host while no kernel uses the pool; they are ordered on the pool's space. No
/// kernel on another stream may use the pool while reset, grow or compact changes it.
///  - ref() is for user kernels. It is small, and valid until the owner is destroyed: also after reset(), grow() and
///    compact(), after a grow() that throws, and after the owner has been moved. A call through a ref first loads parts
///    of the view from device memory.
///  - view() is the state that a ref points to, by value, up to several hundred bytes. It is for kernels that take it
///    as a __grid_constant__ argument, as all launches of exec do, and saves these loads. It is valid until the next
///    reset(), grow() or compact(): make one for each launch.
///  - reset() frees everything and resets the statistics.
///  - grow(bytes) commits this many additional bytes. If it throws error(out_of_memory), nothing has changed.
///  - compact() makes free memory that belongs to one size class usable for every size. Some allocators also do this,
///    completely or in part, while kernels run.
///  - stats(): see statistics.
///  - check() throws error(corrupt) if a byte is lost or has two owners.
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

/// An allocator whose requests a host thread serves while kernels run. It serves from its construction on, except
/// between stop() and start(): then requests return nullptr, and frees take effect later. Both may be called while
/// kernels use the pool. No kernel waits forever for a host that does not answer.
template <class A>
concept hosted_allocator = device_allocator<A> && requires(A& a, A const& c) {
  a.start();
  a.stop();
  { c.is_serving() } -> std::same_as<bool>;
};

/// For check(): throws error(corrupt) unless `holds`.
inline void ensure(bool holds, char const* where, std::string const& what) {
  if (!holds) throw error(error_code::corrupt, std::string(where) + ": " + what);
}

}  // namespace wyrm::alloc
