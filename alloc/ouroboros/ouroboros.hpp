// SPDX-License-Identifier: Apache-2.0
// Ouroboros (Winter, Parger, Mlakar, Steinberger: "Ouroboros: Virtualized Queues for Dynamic Memory Management on
// GPUs", ICS 2020). Chunks of 8 KiB are split into pages of one of 27 sizes, 16 to 8192 bytes, and runs of chunks are
// pages of up to 1 MiB (the paper's multi-instance form). A queue per size manages freed pages. Variants:
// the queues are standard (s), virtualized by an array of chunks (va), or by a list of them (vl); their entries are
// pages (p), or chunks with free pages (c). Larger requests are served by alloc/extent.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "../allocator.hpp"
#include "../fragmentation.hpp"
#include "../ledger.hpp"
#include "../shared_view.hpp"
#include "../size_classes.hpp"
#include "chunk_pool.hpp"
#include "chunk_store.hpp"
#include "manager.hpp"
#include "node_directory.hpp"
#include "node_list.hpp"
#include "page_store.hpp"
#include "ring_queues.hpp"
#include "virtual_queues.hpp"

namespace wyrm::alloc {

template <class Manager>
class ouroboros_ref {
 public:
  ouroboros_ref(chunk_pool_ref const& pool, ledger_ref const& ledger, Manager const& manager)
      : pool_(pool), ledger_(ledger), manager_(manager) {}

  /// Collective; one request per lane, 0 = none.
  template <class Tile>
  [[nodiscard]] WYRM_HD void* allocate(Tile const& t, std::size_t bytes, std::size_t align = alignment) const {
    std::size_t const wanted = aligned_request(ledger_.with_guard(bytes), align);
    bool const is_paged = wanted > 0 && wanted <= detail::largest_page;
    unsigned const c = is_paged ? detail::class_for(wanted) : 0;
    std::uint64_t const page = manager_.allocate(t, c, is_paged);
    void* result = nullptr;
    if (page != detail::no_page) result = pool_.memory().base() + detail::page_offset(c, page);
    extent_ref::one_by_one(t, t.ballot(wanted > detail::largest_page),
                           [&] { result = manager_.allocate_large(wanted); });
    if (bytes > 0 && result == nullptr) ledger_.count_failures(1);
    ledger_.record_allocation(result, bytes);
    return result;
  }

  /// Collective; one pointer per lane, nullptr = none.
  template <class Tile>
  WYRM_HD void deallocate(Tile const& t, void* p) const {
    std::uint64_t page = 0;
    unsigned const c = class_of_live(p, page);
    manager_.deallocate(t, c, page, c < detail::page_classes);
    extent_ref::one_by_one(t, t.ballot(c == large), [&] {
      if (!pool_.memory().free(p)) ledger_.count_bad_free(p);
    });
  }

  template <class Tile>
  [[nodiscard]] WYRM_HD std::uint64_t carve(Tile const& t, std::size_t bytes, std::uint32_t count,
                                            page_array& pages) const {
    unsigned const c = count > 0 ? detail::class_for(bytes) : 0;
    detail::page_range in_window{0, 0, 0};
    detail::page_range in_chunks{0, 0, 0};
    std::uint32_t const missing = manager_.carve(t, c, count, in_window, in_chunks);
    pages = {pool_.address(in_window.chunk), pool_.address(in_chunks.chunk), in_window.first, in_window.count,
             detail::pages_per_chunk(c)};
    return std::uint64_t{missing} * chunk_bytes;
  }
  [[nodiscard]] WYRM_HD void* claim(page_array const& pages, std::size_t bytes, std::uint32_t k) const {
    std::byte* const p = pages.at(bytes, k);
    ledger_.record_carved(p, bytes);
    return p;
  }
  [[nodiscard]] WYRM_HD void* malloc(std::size_t bytes, std::size_t align = alignment) const {
    return malloc_together(*this, pool_.memory().base(), bytes, align);
  }
  WYRM_HD void free(void* p) const { free_together(*this, pool_.memory().base(), p); }
  /// Whether p is an address in the pool.
  [[nodiscard]] WYRM_HD bool contains(void const* p) const { return pool_.memory().contains(p); }
  [[nodiscard]] WYRM_HD std::size_t block_bytes(void const* p) const {
    return contains(p) ? ledger_.usable(p, granted_bytes(p)) : 0;
  }
  /// The bytes of the pool that the live block at p takes.
  [[nodiscard]] WYRM_HD std::size_t granted_bytes(void const* p) const {
    auto const offset = static_cast<std::uint64_t>(static_cast<std::byte const*>(p) - pool_.memory().base());
    std::uint32_t const use = pool_.use(offset / chunk_bytes);
    return use < detail::page_classes ? detail::page_bytes(use) : pool_.memory().run_bytes(p);
  }

 private:
  static constexpr unsigned large = detail::page_classes;
  static constexpr unsigned no_class = detail::page_classes + 1;

  // The class of the page at p, and its number. A pointer that cannot be a page or a run is counted and ignored.
  WYRM_HD unsigned class_of_live(void* p, std::uint64_t& page) const {
    if (p == nullptr) return no_class;
    auto const offset = static_cast<std::uint64_t>(static_cast<std::byte*>(p) - pool_.memory().base());
    unsigned c = no_class;
    if (pool_.memory().contains(p) && offset % alignment == 0) {
      std::uint32_t const use = pool_.use(offset / chunk_bytes);
      if (use == chunk_of_no_class) c = large;
      if (use < detail::page_classes) page = detail::page_at(use, offset);
      if (use < detail::page_classes && page != detail::no_page) c = use;
    }
    if (c == no_class) ledger_.count_bad_free(p);
    return c != no_class && ledger_.record_free(p) ? c : no_class;
  }

  chunk_pool_ref pool_;
  ledger_ref ledger_;
  Manager manager_;
};

template <class Manager>
class ouroboros {
  // For example "ouroboros-va-p".
  static constexpr std::array<char, 16> name_text = [] {
    std::array<char, 16> text{};
    std::size_t n = 0;
    for (std::string_view const part :
         {std::string_view("ouroboros-"), std::string_view(Manager::store_type::queue_kind), std::string_view("-")})
      for (char const letter : part) text[n++] = letter;
    text[n] = Manager::store_type::kind;
    return text;
  }();

 public:
  using space_type = typename Manager::space_type;
  using view_type = ouroboros_ref<typename Manager::ref_type>;
  using ref_type = pool_ref<view_type>;
  static constexpr char const* name = name_text.data();
  static constexpr traits family{};
  static constexpr std::size_t bytes_per_class = Manager::bytes_per_class;  // outside the pool; see manager.hpp

  /// node_log2: virtualized queues have 2^node_log2 entries on a chunk, 2 to 2048. Less than the default is for tests.
  ouroboros(space_type const& space, options const& o, unsigned node_log2 = 11)
      : space_(space),
        pool_(std::make_unique<chunk_pool<space_type>>(space, o)),
        ledger_(space, pool_->memory().base(), pool_->memory().capacity(), o),
        manager_(space, *pool_, checked_log2(node_log2)),
        shared_(space) {
    ledger_.cover(pool_->memory().bytes());
    ledger_.reset();
    manager_.reset();
    shared_.write(view());
  }
  [[nodiscard]] ref_type ref() const { return shared_.ref(); }
  [[nodiscard]] view_type view() const { return {pool_->ref(), ledger_.ref(), manager_.ref()}; }

  void reset() {
    manager_.reset();  // before the pool is reset, because it reads the number of used chunks from it
    pool_->reset();
    ledger_.reset();
  }

  /// Grows the pool by this number of bytes, or more. Entries of standard queues move into longer rings.
  void grow(std::size_t bytes) {
    auto const all = [&] {
      // All operations that can fail come before any change, except that tables may already have been replaced by
      // longer ones.
      std::uint32_t const chunks = pool_->memory().chunks_after(bytes);
      auto prepared = manager_.prepare(chunks);
      ledger_.cover(std::size_t{chunks} * chunk_bytes);
      pool_->grow(bytes);
      manager_.grow(std::move(prepared));
    };
    shared_.rewrite_after(all, [&] { return view(); });
  }

  void compact() { manager_.compact(); }

  [[nodiscard]] statistics stats() const {
    statistics s;
    ledger_.report(s);
    s.committed = pool_->memory().bytes();
    s.reserved = pool_->memory().capacity();
    s.peak = pool_->memory().peak();
    s.overhead = pool_->overhead() + ledger_.bytes() + manager_.bytes() + shared_.bytes();
    s.granted = pool_->memory().allocated();
    manager_.report(s);
    for (class_statistics const& k : s.classes) s.granted += (k.pages - k.free) * k.page_bytes;
    detail::add_fragmentation(space_, ledger_, view(), pool_->memory().base(), s);
    return s;
  }

  /// Throws error(corrupt) unless each chunk has one owner, each free page is free in one place and belongs to a chunk
  /// of its class, and, in checked mode, exactly the other pages are live. O(pool).
  void check() const {
    std::vector<std::uint32_t> uses = pool_->uses();
    manager_.add_windows(uses);
    pool_->check(name, uses);
    std::vector<bool> used(pool_->memory().bytes() / alignment);  // the first 16 bytes of each page that is not free
    for (std::size_t chunk = 0; chunk < uses.size(); ++chunk)
      for (std::uint32_t i = 0; uses[chunk] < detail::page_classes && i < detail::pages_per_chunk(uses[chunk]); ++i)
        used[detail::page_offset(uses[chunk], detail::page_in_chunk(uses[chunk], chunk, i)) / alignment] = true;
    manager_.check(name, uses, used);
    ledger_.check_guards(name);
    if (ledger_.checked()) check_live(uses, used);
  }

 private:
  static unsigned checked_log2(unsigned node_log2) {
    if (node_log2 < 1 || node_log2 > 11)
      throw error(error_code::bad_argument, std::string(name) + ": a queue chunk of 2^" + std::to_string(node_log2) +
                                                " entries; it has 2 to 2048 (node_log2 1 to 11)");
    return node_log2;
  }
  void check_live(std::vector<std::uint32_t> const& uses, std::vector<bool>& used) const {
    std::size_t runs = 0;
    for (std::size_t const offset : ledger_.live_offsets()) {
      if (uses[offset / chunk_bytes] == chunk_of_no_class) {
        ++runs;  // the extent has checked its chunks
        continue;
      }
      ensure(used[offset / alignment], name, "the live page at offset " + std::to_string(offset) + " is also free");
      used[offset / alignment] = false;
    }
    std::size_t const lost = static_cast<std::size_t>(std::count(used.begin(), used.end(), true));
    ensure(lost == 0, name, std::to_string(lost) + " pages are neither live nor free");
    ensure(runs == pool_->memory().runs(), name, "a run of chunks is lost");
  }

  space_type space_;
  std::unique_ptr<chunk_pool<space_type>> pool_;  // its address does not change when the owner is moved
  ledger<space_type> ledger_;
  Manager manager_;
  shared_view<view_type, space_type> shared_;
};

template <class Space>
using ouroboros_s_c = ouroboros<manager<Space, chunk_store<Space, ring_queues<Space>>>>;
template <class Space>
using ouroboros_va_c = ouroboros<manager<Space, chunk_store<Space, virtual_queues<Space, node_directory>>>>;
template <class Space>
using ouroboros_vl_c = ouroboros<manager<Space, chunk_store<Space, virtual_queues<Space, node_list>>>>;
template <class Space>
using ouroboros_s_p = ouroboros<manager<Space, page_store<Space, ring_queues<Space>>>>;
template <class Space>
using ouroboros_va_p = ouroboros<manager<Space, page_store<Space, virtual_queues<Space, node_directory>>>>;
template <class Space>
using ouroboros_vl_p = ouroboros<manager<Space, page_store<Space, virtual_queues<Space, node_list>>>>;

}  // namespace wyrm::alloc
