// SPDX-License-Identifier: Apache-2.0
// Allocators for any size over pools that threads search at random ("Dynamic Buffer Management in Massively Parallel
// Systems: The Power of Randomness", ACM TOPC 12(1), 2025). There is a pool for each size class, with pages of 16 bytes
// to 1 MiB. A pool takes spans (spans.hpp) from alloc/extent, and returns them. Larger requests go to the extent. This
// goes beyond the paper, whose pools have a fixed number of pages of one size.
//
// When a pool grows ("unused memory" is the rest of the extent's window, which includes freed chunks if they have
// become the window):
//  - While the extent has memory, a search ends, and its tile takes more memory, when the number of probed used pages
//    shows that probably less than 1 page in 20 is free (section 3.2.3).
//  - While at least half of the memory is unused, a tile of CoRW takes more memory as soon as one step has found fewer
//    pages than the tile needs.
//  - If less than a quarter of the memory is unused, a full word counts as one used page. New pages are adjacent, and
//    so are pages that were freed at the same time: then some words are free and most are full, so the pages of one
//    word are not an independent sample.
//  - If the extent has no memory, a search gives up when probably less than 1 page in 1000 is free. Then the tile takes
//    the lock of the size class. The holder of the lock sweeps over all pages, returns completely free spans of other
//    size classes to the extent, and takes them for its own class. If no memory is left, this result is valid for all
//    tiles that wait for the lock.
//
// Progress: a tile that waits for the lock of a size class waits for its holder. The holder waits at most for the lock
// of the extent, whose holder waits for no thread. Searches and frees wait for no other thread.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../allocator.hpp"
#include "../extent/extent.hpp"
#include "../shared_view.hpp"
#include "power_classes.hpp"
#include "search.hpp"
#include "span_memory.hpp"
#include "spans.hpp"
#include "theory.hpp"
#include "used_pages.hpp"
#include "walk.hpp"

namespace wyrm::alloc {

namespace detail {

/// The positions of the words of all size classes. There is a group for each 64 spans. In a group a size class has the
/// words for the pages of 64 of its spans. So the array of words grows with the memory, for any division of the memory
/// among the size classes.
struct grouped_words {
  unsigned log2;         // words of this size class per group: 2 to the power of log2
  std::uint32_t offset;  // of the first of them in the group
  std::uint32_t stride;  // words of all size classes per group
  static constexpr unsigned spans = span_shape::group;
  /// Pages per span, summed over all size classes below c.
  static constexpr std::uint32_t pages_below(unsigned c) {
    std::uint32_t sum = 0;
    for (unsigned k = 0; k < c; ++k) sum += power::pages_per_chunk(k);
    return sum;
  }
  template <class Used>
  WYRM_HD static grouped_words of(unsigned c) {
    constexpr unsigned words_per_page = spans / Used::bits;  // words per group and page of a span
    constexpr std::uint32_t all = pages_below(power::page_classes);
    constexpr std::uint32_t smallest = power::pages_per_chunk(0);
    std::uint32_t const pages = power::pages_per_chunk(c);
    std::uint32_t const below =
        pages > 1 ? 2 * (smallest - pages) : 2 * smallest - 2 + (c - (power::chunk_log2 - power::smallest_page_log2));
    return {static_cast<unsigned>(cuda::std::countr_zero(pages * words_per_page)), below * words_per_page,
            all * words_per_page};
  }
  WYRM_HD std::uint64_t operator()(std::uint64_t p) const {
    return (p >> log2) * stride + offset + (p & ((std::uint64_t{1} << log2) - 1));
  }
};

/// Entries for the last page, and its size class, of each thread (CRW). Threads with equal numbers modulo this use the
/// same entry.
inline constexpr std::size_t last_pages = std::size_t{1} << 18;

}  // namespace detail

/// For kernels. UsedOf<Layout>: used_flags_ref or used_bits_ref. Thread-safe.
template <template <class> class UsedOf, page_search How>
class random_walk_ref {
 public:
  static constexpr unsigned resident_blocks = 4;  // see exec::resident_blocks_of
  using used_type = UsedOf<detail::grouped_words>;
  using word = typename used_type::word;
  using pool_ref = page_pool_ref<used_type, How>;
  static constexpr unsigned large = detail::power::page_classes;
  static constexpr unsigned no_class = detail::power::page_classes + 1;

  using parts = span_parts<word>;
  /// Used pages after which a search gives up: while the pool can grow, and when it cannot.
  struct search_limits {
    std::uint32_t before_growth;
    std::uint32_t when_exhausted;
  };

  /// last: the last pages of threads and their size classes (CRW only).
  random_walk_ref(parts const& p, search_limits const& limits, std::uint64_t* last)
      : parts_(p), limits_(limits), last_(last) {}

  /// Collective; one request per lane, 0 bytes = none.
  template <class Tile>
  [[nodiscard]] WYRM_HD void* allocate(Tile const& t, std::size_t bytes, std::size_t align = alignment) const {
    std::size_t const wanted = aligned_request(parts_.ledger.with_guard(bytes), align);
    bool const is_paged = wanted > 0 && wanted <= detail::power::largest_page;
    unsigned const c = is_paged ? detail::power::class_for(wanted) : 0;
    std::uint64_t page = pool_ref::no_page;
    if (t.any(is_paged)) page = find(t, c, is_paged);
    void* result = nullptr;
    if (page != pool_ref::no_page) result = address(c, page);
    for (std::uint32_t lanes = t.ballot(wanted > detail::power::largest_page); lanes != 0; lanes &= lanes - 1) {
      unsigned const lane = exec::first_lane(lanes);
      void* const p = allocate_large(t, t.shfl(wanted, lane));
      if (t.rank() == lane) result = p;
    }
    if (bytes > 0 && result == nullptr) parts_.ledger.count_failures(1);
    parts_.ledger.record_allocation(result, bytes);
    return result;
  }

  /// Collective; one pointer per lane, nullptr = none.
  template <class Tile>
  WYRM_HD void deallocate(Tile const& t, void* p) const {
    std::uint64_t page = 0;
    unsigned const c = class_of_live(p, page);
    if (c < detail::power::page_classes) used(c, 0).clear(page);
    extent_ref::one_by_one(t, t.ballot(c == large), [&] {
      if (!parts_.memory.free(p)) parts_.ledger.count_bad_free(p);
    });
  }

  [[nodiscard]] WYRM_HD void* malloc(std::size_t bytes, std::size_t align = alignment) const {
    return malloc_together(*this, parts_.memory.base(), bytes, align);
  }
  WYRM_HD void free(void* p) const { free_together(*this, parts_.memory.base(), p); }
  [[nodiscard]] WYRM_HD std::size_t block_bytes(void const* p) const {
    return parts_.memory.contains(p) ? parts_.ledger.usable(p, granted_bytes(p)) : 0;
  }
  /// The bytes of the pool that the live block at p takes.
  [[nodiscard]] WYRM_HD std::size_t granted_bytes(void const* p) const {
    auto const offset = static_cast<std::uint64_t>(static_cast<std::byte const*>(p) - parts_.memory.base());
    std::uint32_t const owner =
        exec::atomic_ref<std::uint32_t>(parts_.owners[offset / chunk_bytes]).load(exec::relaxed);
    return owner == detail::no_span ? parts_.memory.run_bytes(p)
                                    : detail::power::page_bytes(detail::span_owner::of(owner).pool);
  }

  /// Returns some completely free spans of a size class other than `but` to the extent; collective. False if there are
  /// none.
  template <class Tile>
  WYRM_NOINLINE WYRM_HD bool reclaim(Tile const t, unsigned but = no_class) const {
    for (unsigned c = 0; c < detail::power::page_classes; ++c)
      if (c != but && spans(c).release_free_spans(t)) return true;
    return false;
  }

 private:
  [[nodiscard]] WYRM_HD used_type used(unsigned c, std::uint32_t spans) const {
    return {parts_.used, parts_.marks, std::uint64_t{spans} * detail::power::pages_per_chunk(c),
            detail::grouped_words::of<used_type>(c)};
  }
  [[nodiscard]] WYRM_HD spans_ref<used_type> spans(unsigned c) const {
    return {parts_.memory,
            parts_.states[c],
            {c, detail::power::page_classes, detail::power::pages_log2(c), detail::power::run_chunks(c), parts_.table,
             parts_.owners},
            used(c, 0)};
  }
  [[nodiscard]] WYRM_HD void* address(unsigned c, std::uint64_t page) const {
    unsigned const log2 = detail::power::pages_log2(c);
    std::uint64_t const chunk = spans(c).chunk(static_cast<std::uint32_t>(page >> log2));
    std::uint64_t const in_span = page & ((std::uint64_t{1} << log2) - 1);
    return parts_.memory.base() + (chunk << detail::power::chunk_log2) + (in_span << detail::power::page_log2(c));
  }

  // A page of class c for each lane with `asks`, or no_page; collective.
  template <class Tile>
  [[nodiscard]] WYRM_HD std::uint64_t find(Tile const& t, unsigned c, bool asks) const {
    std::uint64_t page = pool_ref::no_page;
    bool searches = asks;
    unsigned const first = t.shfl(c, exec::first_lane(t.ballot(asks)));
    if (!t.any(asks && c != first)) {
      std::uint32_t n = spans(first).recent_count();  // loaded early to hide its latency
      walk w = begin_walk(t, first);
      if (n = t.shfl(n, 0); n > 0) pool_ref(used(first, n), limits_.before_growth).search(t, w, searches, page, true);
    }
    if (t.any(searches)) page = serve_all(t, c, searches, page);
    store_last_page(t, c, page);
    return page;
  }

  // The same for lanes that need different classes, or found no page in the first search. Arguments are passed by value
  // so that they stay in registers.
  template <class Tile>
  [[nodiscard]] WYRM_NOINLINE WYRM_HD std::uint64_t serve_all(Tile const t, unsigned c, bool asks,
                                                              std::uint64_t page) const {
    walk w = begin_walk(t, c);
    unsigned const first = t.shfl(c, exec::first_lane(t.ballot(asks)));
    if (t.any(asks && c != first) && asks) {  // per thread at first
      std::uint32_t const n = spans(c).recent_count();
      // Longer than usual, because the lanes that find nothing are processed one size class after the other.
      if (n > 0) pool_ref(used(c, n), 2 * limits_.before_growth).search_per_thread(w, asks, page);
    }
    for (std::uint32_t left = t.ballot(asks); left != 0;) {
      unsigned const one = t.shfl(c, exec::first_lane(left));
      bool const mine = asks && c == one;
      page = serve(t, one, w, mine, page);
      left &= ~t.ballot(mine);
    }
    return page;
  }

  // The same for lanes that need the same class.
  template <class Tile>
  [[nodiscard]] WYRM_HD std::uint64_t serve(Tile const& t, unsigned c, walk& w, bool asks, std::uint64_t page) const {
    spans_ref<used_type> const all = spans(c);
    all.search_and_grow(
        t,
        [&](std::uint32_t n, bool grows) {
          // The number of used pages that count as one: those of a word while memory is scarce.
          std::uint32_t const pages = t.shfl(parts_.memory.window_is_small(), 0) ? used_type::bits : 1;
          pool_ref const pool(used(c, n), grows ? limits_.before_growth * pages : limits_.when_exhausted);
          if (n > 0) pool.search(t, w, asks, page, t.shfl(parts_.memory.window_is_large(), 0));
          // Lanes that fill whole spans take them without the lock. For other lanes, the lock prevents that too many
          // tiles take spans at the same time.
          if (std::uint32_t const whole = count_lanes(t.ballot(asks)) >> detail::power::pages_log2(c);
              grows && whole > 0)
            (void)all.append(t, whole, false, asks, page);
          return t.any(asks);
        },
        [&] { return grow(t, all, c, w, asks, page); });
    return page;
  }
  WYRM_HD static std::uint32_t count_lanes(std::uint32_t lanes) {
    return static_cast<std::uint32_t>(cuda::std::popcount(lanes));
  }
  // Only for the tile that holds the lock of the class. False if no memory is left.
  template <class Tile>
  [[nodiscard]] WYRM_NOINLINE WYRM_HD bool grow(Tile const t, spans_ref<used_type> const& all, unsigned c, walk& w,
                                                bool& asks, std::uint64_t& page) const {
    for (bool swept = false;;) {
      if (all.append(t, t.shfl(all.spans_to_append(count_lanes(t.ballot(asks))), 0), true, asks, page).count > 0)
        return true;
      std::uint32_t const n = all.count(t);
      std::uint32_t const before = t.ballot(asks);
      if (!swept && n > 0) page = pool_ref(used(c, n), 0).sweep(t, w, asks, page);
      asks = asks && page == pool_ref::no_page;
      swept = true;
      if (t.ballot(asks) != before) return true;
      if (!reclaim(t, c)) return false;
    }
  }

  // A request that is too large for all classes; collective, one request for the whole tile.
  template <class Tile>
  [[nodiscard]] WYRM_NOINLINE WYRM_HD void* allocate_large(Tile const t, std::size_t bytes) const {
    return allocate_run(t, parts_.memory, bytes, [&] { return reclaim(t); });
  }

  // The class of the page at p, and its number; `large` for a run of chunks. Counts a bad free, and returns no_class,
  // if there is neither.
  WYRM_HD unsigned class_of_live(void* p, std::uint64_t& page) const {
    if (p == nullptr) return no_class;
    auto const offset = static_cast<std::uint64_t>(static_cast<std::byte*>(p) - parts_.memory.base());
    unsigned c = no_class;
    if (parts_.memory.contains(p) && offset % alignment == 0) {
      std::uint32_t const word =
          exec::atomic_ref<std::uint32_t>(parts_.owners[offset / chunk_bytes]).load(exec::relaxed);
      auto const [index, pool] = detail::span_owner::of(word);
      std::uint64_t const in_span = offset % chunk_bytes;
      if (word == detail::no_span) {
        c = large;
      } else if ((in_span & (detail::power::page_bytes(pool) - 1)) == 0) {
        c = pool;
        page = (std::uint64_t{index} << detail::power::pages_log2(pool)) + (in_span >> detail::power::page_log2(pool));
      }
    }
    if (c == no_class) parts_.ledger.count_bad_free(p);
    return c != no_class && parts_.ledger.record_free(p) ? c : no_class;
  }

  // A walk; for CRW with the thread's last page, if that has class c.
  template <class Tile>
  [[nodiscard]] WYRM_HD walk begin_walk(Tile const& t, [[maybe_unused]] unsigned c) const {
    walk w = next_walk(t, parts_.seed, parts_.calls);
    if constexpr (How == page_search::clustered) {
      std::uint64_t const last =
          exec::atomic_ref<std::uint64_t>(last_[exec::thread_number(t) % detail::last_pages]).load(exec::relaxed);
      if (last % detail::span_owner::pools == c) w.last_page = last / detail::span_owner::pools;
    }
    return w;
  }
  template <class Tile>
  WYRM_HD void store_last_page([[maybe_unused]] Tile const& t, [[maybe_unused]] unsigned c,
                               [[maybe_unused]] std::uint64_t page) const {
    if constexpr (How == page_search::clustered) {
      if (page == pool_ref::no_page) return;
      exec::atomic_ref<std::uint64_t>(last_[exec::thread_number(t) % detail::last_pages])
          .store(page * detail::span_owner::pools + c, exec::relaxed);
    }
  }

  parts parts_;
  search_limits limits_;
  std::uint64_t* last_;
};

namespace detail {
/// The Layout of span_memory with a pool for each size class. `marks`, the LockMap of other pools, is never read.
template <class Used>
struct pools_by_size {
  using word = typename Used::word;
  static constexpr unsigned bits = Used::bits;
  static constexpr unsigned pools = power::page_classes;
  static std::uint32_t pages(unsigned c) { return power::pages_per_chunk(c); }
  static std::uint32_t run(unsigned c) { return power::run_chunks(c); }
  static std::size_t page_bytes(unsigned c) { return detail::power::page_bytes(c); }
  static grouped_words place(unsigned c) { return grouped_words::of<Used>(c); }
  static std::size_t words(std::uint32_t chunks) {
    std::size_t const groups = (chunks + grouped_words::spans - 1) / grouped_words::spans;
    return groups * grouped_words::pages_below(power::page_classes) * grouped_words::spans / bits;
  }
  static std::size_t marks(std::uint32_t) { return 1; }
};
}  // namespace detail

/// Owner of RW, RW-BM, CoRW or CRW. Beside the pool it has a bitmap of 1 / 63 of the pool's size, or flags of half its
/// size (4 bytes for a page of 16 bytes, and so on for each size class), and tables of 72 bytes per chunk.
template <class Space, template <class> class UsedOf, page_search How>
class random_walk : public span_memory<Space, detail::pools_by_size<UsedOf<detail::grouped_words>>> {
  using base = span_memory<Space, detail::pools_by_size<UsedOf<detail::grouped_words>>>;
  using used_type = UsedOf<detail::grouped_words>;

 public:
  using view_type = random_walk_ref<UsedOf, How>;
  using ref_type = pool_ref<view_type>;
  static constexpr char const* name = used_type::bits == 1             ? "rw"
                                      : How == page_search::per_thread ? "rw-bm"
                                      : How == page_search::per_warp   ? "corw"
                                                                       : "crw";
  static constexpr traits family{.powers_of_two = true};

  random_walk(Space const& space, options const& o)
      : base(space, o, name), last_(space, How == page_search::clustered ? detail::last_pages : 1), shared_(space) {
    clear_last_pages();
    shared_.write(view());
  }

  [[nodiscard]] ref_type ref() const { return shared_.ref(); }
  [[nodiscard]] view_type view() const {
    return {base::parts(), {pages_to_give_up(0.05), pages_to_give_up(0.001)}, last_.data()};
  }

  void reset() {
    base::reset();
    clear_last_pages();
  }
  void grow(std::size_t bytes) {
    shared_.rewrite_after([&] { base::grow(bytes); }, [&] { return view(); });
  }
  void compact() { exec::for_each_tile<32>(base::space(), 1, detail::release_all_free_spans<view_type>{view()}); }

  [[nodiscard]] statistics stats() const {
    statistics s = base::stats(view());
    s.overhead += last_.bytes() + shared_.bytes();
    return s;
  }

  /// See check_spans. In checked mode it also checks that the used pages are exactly the live blocks. O(pool).
  void check() const {
    auto const all = base::copy();
    base::check_spans(all);
    std::vector<std::size_t> used;
    for (unsigned c = 0; c < detail::power::page_classes; ++c)
      for (std::uint64_t page = 0; page < std::uint64_t{all.states[c].count} * detail::power::pages_per_chunk(c);
           ++page) {
        std::uint32_t const chunk = all.chunk(c, static_cast<std::uint32_t>(page / detail::power::pages_per_chunk(c)));
        if (chunk != detail::no_span && all.is_used(c, page))
          used.push_back(chunk * chunk_bytes + page % detail::power::pages_per_chunk(c) * detail::power::page_bytes(c));
      }
    base::check_live(all, std::move(used));
  }

 private:
  static std::uint32_t pages_to_give_up(double fraction) {
    return static_cast<std::uint32_t>(std::ceil(theory::pages_until_given_up(fraction)));
  }
  void clear_last_pages() { base::space().fill(last_.data(), 0xff, last_.bytes()); }

  exec::buffer<std::uint64_t, Space> last_;
  shared_view<view_type, Space> shared_;
};

namespace detail {
template <class Layout>
using one_bit_per_page = used_bits_ref<std::uint64_t, false, Layout>;
}  // namespace detail

template <class Space>
using rw = random_walk<Space, used_flags_ref, page_search::per_thread>;
template <class Space>
using rw_bm = random_walk<Space, detail::one_bit_per_page, page_search::per_thread>;
template <class Space>
using corw = random_walk<Space, detail::one_bit_per_page, page_search::per_warp>;
template <class Space>
using crw = random_walk<Space, detail::one_bit_per_page, page_search::clustered>;

}  // namespace wyrm::alloc
