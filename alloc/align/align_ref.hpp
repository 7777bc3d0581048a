// SPDX-License-Identifier: Apache-2.0
// The device side of `align-malloc` (AlignMalloc, TPDS 2025, section VI-A). The requests of a tile are added up, and
// one lane requests a space of this many pages of 4 KiB from the host. While it waits, the lanes compute where in the
// space their blocks are. Then each lane records its block in a table of the device. The lane that frees the last block
// of a space returns the space to the host.
//
// Beyond the paper: if the host has no space for all lanes together, each lane sends its own request.
//
// Why no block is freed twice: a free removes the entry of the block from the table by an exchange, and only one thread
// gets the entry. Why no space is returned while a block is used: the space counts its live blocks. The count is set
// before any lane gets the address of its block, and each free that got an entry decrements it. A free is a release
// operation, and the last free acquires the writes of all others before it sends its message to the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda/std/bit>

#include "../../exec/atomic.hpp"
#include "../../exec/tile.hpp"
#include "../allocator.hpp"
#include "../ledger.hpp"
#include "interleaved_block.hpp"
#include "mailbox.hpp"

namespace wyrm::alloc {

inline constexpr std::size_t align_page_bytes = 4096;

/// The entry of a page in the table of the device: of the page at which a live block begins, the block's pages, and the
/// first page of its space; 0 for all other pages.
class align_entry {
 public:
  WYRM_HD explicit align_entry(std::uint64_t bits) : bits_(bits) {}
  WYRM_HD align_entry(std::uint32_t space, std::uint32_t pages) : bits_(std::uint64_t{pages} << 32 | space) {}
  [[nodiscard]] WYRM_HD std::uint64_t bits() const { return bits_; }
  [[nodiscard]] WYRM_HD std::uint32_t space() const { return static_cast<std::uint32_t>(bits_); }
  [[nodiscard]] WYRM_HD std::uint32_t pages() const { return static_cast<std::uint32_t>(bits_ >> 32); }

 private:
  std::uint64_t bits_;
};

/// For kernels. Thread-safe.
class align_ref {
 public:
  /// entries, live: one per page; live: of the page at which a space begins, its live blocks, else 0.
  align_ref(std::byte* base, std::uint32_t pages, std::uint64_t* entries, std::uint32_t* live, mailbox_ref const& host,
            ledger_ref const& ledger)
      : base_(base), pages_(pages), entries_(entries), live_(live), host_(host), ledger_(ledger) {}

  /// Collective; one request per lane, 0 bytes = none. Waits for the host.
  template <class Tile>
  [[nodiscard]] WYRM_HD void* allocate(Tile const& t, std::size_t bytes, std::size_t align = alignment) const {
    std::size_t const wanted = ledger_.with_guard(bytes);
    bool const is_possible = wanted <= std::size_t{pages_} * align_page_bytes && is_alignment(align);
    if (bytes > 0 && !is_possible) ledger_.count_failures(1);
    auto const mine = is_possible ? static_cast<std::uint32_t>((wanted + align_page_bytes - 1) / align_page_bytes) : 0;
    std::uint32_t const lanes = t.ballot(mine > 0);
    if (lanes == 0) return nullptr;
    auto const count = static_cast<std::uint32_t>(cuda::std::popcount(lanes));
    std::uint64_t const all = exec::sum(t, std::uint64_t{mine});
    std::uint32_t space = nowhere;
    std::uint32_t below = 0;
    bool asks_alone = count > 1;
    if (all <= pages_) {
      // Several tiles of one warp use ask(): see mailbox.hpp.
      bool const is_warp = t.size() == 32;
      auto const pages = static_cast<std::uint32_t>(all);
      mailbox_ref::ticket ticket{};
      if (is_warp && t.rank() == 0) ticket = host_.post(mail::kind::allocate, pages);
      below = exec::sum_below(t, mine);  // while the host works
      if (t.rank() == 0) {
        mail const answer = is_warp ? host_.wait(ticket) : host_.ask(mail::kind::allocate, pages);
        space = space_in(answer);
        if (space != nowhere) begin_space(space, count);
        asks_alone = asks_alone && answer.what() == mail::kind::refused;
      }
      space = t.shfl(space, 0);
      asks_alone = t.shfl(asks_alone ? 1u : 0u, 0) != 0;
    }
    if (space == nowhere && mine > 0) {
      below = 0;
      if (asks_alone) space = space_in(host_.ask(mail::kind::allocate, mine));
      if (space == nowhere)
        ledger_.count_failures(1);
      else
        begin_space(space, 1);
    }
    t.sync();  // one lane acquired the memory, and set the count, for all
    if (space == nowhere || mine == 0) return nullptr;
    entry(space + below).store(align_entry(space, mine).bits(), exec::relaxed);
    std::byte* const p = base_ + std::size_t{space + below} * align_page_bytes;
    ledger_.record_allocation(p, bytes);
    return p;
  }
  /// Collective; one pointer per lane, nullptr = none. Waits for the host where it frees the last block of a space.
  template <class Tile>
  WYRM_HD void deallocate(Tile const&, void* p) const {
    if (p != nullptr) free_block(p);
  }
  /// Memory for all lanes of a tile, arranged as interleaved_block.hpp says; the same handle for all lanes, without
  /// memory if it is used up. If the lanes' requests differ, the block has a page more, for the lane_table. To free the
  /// block after the last access (of a tile: after its sync()), one thread passes its data() to free(), or one lane of
  /// a tile to deallocate(). Collective. O(lanes).
  template <class Tile>
  [[nodiscard]] WYRM_HD interleaved_block allocate_interleaved(Tile const& t, std::size_t bytes,
                                                               lane_order order = lane_order::even_earlier) const {
    static_assert(arranged_unit == align_page_bytes && sizeof(lane_table) <= align_page_bytes);
    bool const is_possible = t.all(bytes <= std::size_t{pages_} * align_page_bytes);
    bool const is_equal = t.all(bytes == t.shfl(bytes, 0));
    std::uint64_t const pages = exec::sum(t, is_possible ? arranged_units(bytes) : std::uint64_t{pages_} + 1);
    if (pages == 0) return {};
    std::uint64_t address = 0;
    if (t.rank() == 0)
      address = reinterpret_cast<std::uintptr_t>(
          allocate(exec::scalar_tile{}, (pages + (is_equal ? 0 : 1)) * align_page_bytes));
    address = t.shfl(address, 0);
    t.sync();  // one lane acquired the memory for all
    if (address == 0) return {};
    auto* const base = reinterpret_cast<std::byte*>(address);
    if (is_equal) return {base, arrangement(bytes, t.size(), order)};
    auto* const table = reinterpret_cast<lane_table*>(base + pages * align_page_bytes);
    table->bytes[t.rank()] = bytes;
    t.sync();
    table->enter(t.rank(), t.size(), order);
    t.sync();
    return {base, arrangement(table, t.size(), order)};
  }
  [[nodiscard]] WYRM_HD void* malloc(std::size_t bytes, std::size_t align = alignment) const {
    return malloc_together(*this, base_, bytes, align);
  }
  WYRM_HD void free(void* p) const { deallocate(exec::scalar_tile{}, p); }

  /// The usable bytes of the live block at p; 0 if no live block begins there. Per thread.
  [[nodiscard]] WYRM_HD std::size_t block_bytes(void const* p) const {
    return has_page(p) ? ledger_.usable(p, granted_bytes(p)) : 0;
  }
  /// The bytes of the pool that the live block at p takes.
  [[nodiscard]] WYRM_HD std::size_t granted_bytes(void const* p) const {
    return align_entry(entry(page_of(p)).load(exec::relaxed)).pages() * align_page_bytes;
  }

 private:
  static constexpr std::uint32_t nowhere = ~std::uint32_t{0};

  [[nodiscard]] WYRM_HD static std::uint32_t space_in(mail const& answer) {
    return answer.what() == mail::kind::space ? answer.value() : nowhere;
  }
  [[nodiscard]] WYRM_HD exec::atomic_ref<std::uint64_t> entry(std::uint32_t page) const {
    return exec::atomic_ref<std::uint64_t>(entries_[page]);
  }
  WYRM_HD void begin_space(std::uint32_t space, std::uint32_t blocks) const {
    exec::atomic_ref<std::uint32_t>(live_[space]).store(blocks, exec::relaxed);
  }
  // Whether p is the address of a page of the pool.
  [[nodiscard]] WYRM_HD bool has_page(void const* p) const {
    auto const* const at = static_cast<std::byte const*>(p);
    return at >= base_ && at < base_ + std::size_t{pages_} * align_page_bytes &&
           static_cast<std::size_t>(at - base_) % align_page_bytes == 0;
  }
  [[nodiscard]] WYRM_HD std::uint32_t page_of(void const* p) const {
    return static_cast<std::uint32_t>(static_cast<std::size_t>(static_cast<std::byte const*>(p) - base_) /
                                      align_page_bytes);
  }
  WYRM_NOINLINE WYRM_HD void free_block(void* p) const {
    if (!has_page(p)) return ledger_.count_bad_free(p);
    if (!ledger_.record_free(p)) return;
    align_entry const block(entry(page_of(p)).exchange(0, exec::relaxed));
    if (block.bits() == 0) return ledger_.count_bad_free(p);
    if (exec::atomic_ref<std::uint32_t>(live_[block.space()]).fetch_sub(1, exec::acq_rel) == 1)
      (void)host_.ask(mail::kind::free, block.space());
  }

  std::byte* base_;
  std::uint32_t pages_;
  std::uint64_t* entries_;
  std::uint32_t* live_;
  mailbox_ref host_;
  ledger_ref ledger_;
};

}  // namespace wyrm::alloc
