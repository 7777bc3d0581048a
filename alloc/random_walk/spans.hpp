// SPDX-License-Identifier: Apache-2.0
// Pools of pages that grow and shrink while kernels run. A span is a chunk, or a run of chunks, that is split into
// pages of one size. A table lists the spans of a pool. Pages are numbered in the order of this table, so each word of
// the bitmap represents as many pages as it has bits, for any page size, and a search needs only the number of spans.
//
// Growth: any tile can append spans at the end of the table. It adds to the number of spans, writes the entry of the
// table, and then frees the pages of the span (release). The pages of an entry that was never written are marked as
// used. So a thread that claims a page (acquire) finds the entry of its span. The tile that appends a span allocates
// pages of it for its own lanes by not freeing them.
//
// Shrinking: a lane claims all pages of a span, in the same way as any thread claims a page. Then it owns the span,
// returns its chunks to the extent, and makes its entry a hole, whose pages stay used. Only the holder of the pool's
// lock fills holes with other spans. Searches run concurrently with growth and shrinking.
#pragma once

#include <cstdint>
#include <cuda/std/bit>

#include "../../exec/atomic.hpp"
#include "../../exec/tile.hpp"
#include "../extent/extent.hpp"
#include "../sequence_lock.hpp"
#include "used_pages.hpp"

namespace wyrm::alloc {

namespace detail {

inline constexpr std::uint32_t no_span = 0xffffffff;  // table entry: a hole; owner of a chunk: it is in no span
inline constexpr unsigned char never_written = 0xfe;  // all bytes of a table entry that was never written
inline constexpr unsigned char all_used = 0xff;       // all bytes of its words: its pages are used

/// The state of a pool on the device.
struct alignas(256) span_state {
  std::uint32_t count;      // spans in the table, including holes; can temporarily exceed the size of the table
  std::uint32_t holes;      // number of holes among them
  std::uint32_t next_hole;  // start of the next search for holes
  std::uint32_t next_free;  // start of the next search for completely free spans
  alignas(128) std::uint64_t lock;
};

/// The owner of a chunk: a span, by its pool and its index in the table; packed in one word.
struct span_owner {
  std::uint32_t index;
  unsigned pool;
  static constexpr unsigned pools = 32;
  WYRM_HD static span_owner of(std::uint32_t word) { return {word / pools, word % pools}; }
  [[nodiscard]] WYRM_HD std::uint32_t word() const { return index * pools + pool; }
};

}  // namespace detail

struct span_range {
  std::uint32_t first;
  std::uint32_t count;
};

/// The spans of a pool, and the positions of their entries. All pools use one table: a group of it has 64 entries for
/// each pool. So the table grows with the memory, for any division of the memory among the pools.
struct span_shape {
  unsigned pool;          // the number of this pool
  unsigned pools;         // pools that use the table
  unsigned pages_log2;    // pages per span
  std::uint32_t chunks;   // chunks per span
  std::uint32_t* table;   // the first chunk of each span
  std::uint32_t* owners;  // a span_owner per chunk; of a run of chunks, only its first one is set

  static constexpr std::uint32_t group = 64;
  /// The index of a span's entry in the table.
  [[nodiscard]] WYRM_HD static std::uint64_t place(std::uint32_t span, unsigned pool, unsigned pools) {
    return std::uint64_t{span / group} * (group * pools) + pool * group + span % group;
  }
  /// The number of entries of a table for this number of spans of each pool.
  [[nodiscard]] static std::size_t entries(std::uint32_t spans, unsigned pools) {
    return std::size_t{(spans + group - 1) / group} * group * pools;
  }
};

/// The spans of one pool, for kernels. Used: used_flags_ref or used_bits_ref; their number of pages is not used here.
/// Thread-safe.
template <class Used>
class spans_ref {
  using word = typename Used::word;

 public:
  WYRM_HD spans_ref(extent_ref const& memory, detail::span_state& state, span_shape const& shape, Used const& used)
      : memory_(memory), state_(state), shape_(shape), used_(used) {}

  /// The number of spans of the pool, including holes; the same value for all lanes; collective.
  template <class Tile>
  [[nodiscard]] WYRM_HD std::uint32_t count(Tile const& t) const {
    std::uint32_t const n = atomic(state_.count).load(exec::relaxed);
    return t.shfl(n < memory_.chunks() ? n : memory_.chunks(), 0);
  }
  /// The same per thread; may be an earlier value.
  [[nodiscard]] WYRM_HD std::uint32_t recent_count() const {
    std::uint32_t const n = exec::load_recent(state_.count);
    return n < memory_.chunks() ? n : memory_.chunks();
  }
  [[nodiscard]] WYRM_HD std::uint32_t pages() const { return 1u << shape_.pages_log2; }
  /// The first chunk of a span, which is not a hole.
  [[nodiscard]] WYRM_HD std::uint32_t chunk(std::uint32_t span) const { return entry(span).load(exec::relaxed); }

  /// Adds up to `wanted` spans to the pool, none if there is no memory; collective. Lanes with `asks` get the first
  /// pages of them, and `asks` becomes false in these lanes; the other pages become free. fills_holes: only for the
  /// holder of the pool's lock. While the pool has holes, other tiles get no spans, and the holder gets at most as many
  /// as a tile has lanes. Returns the first added span, and the number of added spans; if they fill holes, they need
  /// not be adjacent.
  template <class Tile>
  WYRM_NOINLINE WYRM_HD span_range append(Tile const t, std::uint32_t wanted, bool fills_holes, bool& asks,
                                          std::uint64_t& page) const {
    for (;;) {
      bool const has_holes = t.shfl(atomic(state_.holes).load(exec::acquire), 0) > 0;
      if (has_holes && !fills_holes) return {0, 0};
      bool is_full = false;
      span_range const got =
          has_holes ? fill_holes(t, wanted, asks, page, is_full) : extend(t, wanted, asks, page, is_full);
      if (!is_full || !fills_holes) return got;
    }
  }
  /// The number of spans to append for a request of this number of pages. It is more than the request needs, because
  /// other tiles will also need pages: a fraction of the spans of the pool, bounded by a fraction of the memory that
  /// was never used.
  [[nodiscard]] WYRM_HD std::uint32_t spans_to_append(std::uint32_t pages) const {
    std::uint32_t const wanted = (pages + this->pages() - 1) >> shape_.pages_log2;
    std::uint32_t const before = atomic(state_.count).load(exec::relaxed);
    std::uint32_t n = memory_.chunks() / 256 / shape_.chunks;
    if (n < before / 4) n = before / 4;
    auto const most = static_cast<std::uint32_t>((std::uint64_t{max_words} * Used::bits) >> shape_.pages_log2);
    if (n > most) n = most;
    std::uint32_t const left = memory_.left() / 8 / shape_.chunks;
    if (n > left) n = left;
    return n < wanted ? wanted : n;
  }

  /// Searches and grows the pool alternately, until all lanes of the tile have pages or there is no memory; collective.
  /// search(n, grows) searches n spans, longer if the pool cannot grow, and returns false when no lane lacks a page.
  /// grow() is called while the tile holds the pool's lock. It returns false if no memory is left; then all tiles that
  /// wait for the lock get this result.
  template <class Tile, class Search, class Grow>
  WYRM_HD void search_and_grow(Tile const& t, Search const& search, Grow const& grow) const {
    sequence_lock lock(state_.lock);
    for (unsigned attempt = 0;; ++attempt) {
      std::uint32_t const n = count(t);
      if (!search(n, !t.shfl(memory_.looks_used_up(), 0))) return;
      sequence_lock::outcome turn = sequence_lock::outcome::wait;
      if (t.rank() == 0) turn = lock.try_take();
      turn = t.shfl(turn, 0);
      if (turn == sequence_lock::outcome::exhausted) return;
      if (turn == sequence_lock::outcome::wait) {
        t.backoff(attempt);
        continue;
      }
      bool const some = count(t) != n || grow();
      t.sync();
      if (t.rank() == 0) {
        if (some)
          lock.unlock();
        else
          lock.unlock_exhausted();
      }
      if (!some) return;
    }
  }

  /// Returns completely free spans to the extent, at most as many as a tile has lanes; collective. False if it found
  /// none: then each span was, at some moment of the call, not completely free.
  template <class Tile>
  WYRM_NOINLINE WYRM_HD bool release_free_spans(Tile const t) const {
    std::uint32_t const n = count(t);
    std::uint32_t const start = t.shfl(atomic(state_.next_free).load(exec::relaxed), 0);
    for (std::uint32_t k = 0; k < n; k += t.size()) {
      std::uint32_t const span = place(start, k + t.rank(), n);
      bool const ours = k + t.rank() < n && claim_all_pages(span);
      std::uint32_t const lanes = t.ballot(ours);
      if (lanes == 0) continue;
      std::uint32_t const first = ours ? entry(span).load(exec::relaxed) : 0;
      if (ours) {
        owner(first).store(detail::no_span, exec::relaxed);
        entry(span).store(detail::no_span, exec::release);
      }
      t.sync();
      if (t.rank() == 0) {
        atomic(state_.holes).fetch_add(static_cast<std::uint32_t>(cuda::std::popcount(lanes)), exec::release);
        atomic(state_.next_free).store(place(start, k, n), exec::relaxed);
      }
      t.sync();
      extent_ref::one_by_one(t, lanes, [&] { memory_.return_chunks(first, shape_.chunks); });
      return true;
    }
    return false;
  }

 private:
  // The maximum number of words that append() clears at a time, unless the request needs more: one tile clears them,
  // and all others may wait for it.
  static constexpr std::uint32_t max_words = Used::bits == 1 ? 65536 : 4096;

  WYRM_HD static exec::atomic_ref<std::uint32_t> atomic(std::uint32_t& n) { return exec::atomic_ref<std::uint32_t>(n); }
  [[nodiscard]] WYRM_HD exec::atomic_ref<std::uint32_t> entry(std::uint32_t span) const {
    return atomic(shape_.table[span_shape::place(span, shape_.pool, shape_.pools)]);
  }
  [[nodiscard]] WYRM_HD exec::atomic_ref<std::uint32_t> owner(std::uint32_t chunk) const {
    return atomic(shape_.owners[chunk]);
  }
  // The k-th of n indices from `start` on, modulo n.
  WYRM_HD static std::uint32_t place(std::uint32_t start, std::uint32_t k, std::uint32_t n) {
    return static_cast<std::uint32_t>((std::uint64_t{start} + k) % n);
  }
  // The bits of word w that are pages in [from, to).
  WYRM_HD static word pages_in(std::uint64_t w, std::uint64_t from, std::uint64_t to) {
    std::uint64_t const first = w * Used::bits;
    auto const low = static_cast<unsigned>(from > first ? from - first : 0);
    std::uint64_t const end = to - first < Used::bits ? to - first : Used::bits;
    constexpr unsigned width = 8 * sizeof(word);
    if (low >= end) return 0;
    return static_cast<word>((~word{0} >> (width - static_cast<unsigned>(end - low))) << low);
  }
  WYRM_HD void record(std::uint32_t span, std::uint32_t first) const {
    entry(span).store(first, exec::relaxed);
    owner(first).store(detail::span_owner{span, shape_.pool}.word(), exec::relaxed);
  }
  // Calls f(word, the span's pages in it) for the words of a span, until f returns false.
  template <class F>
  WYRM_HD void for_words(std::uint32_t span, F const& f) const {
    std::uint64_t const from = std::uint64_t{span} << shape_.pages_log2;
    std::uint64_t const to = from + pages();
    for (std::uint64_t w = from / Used::bits; w * Used::bits < to; ++w)
      if (!f(w, pages_in(w, from, to))) return;
  }
  // Takes the chunks for up to n spans from the extent; collective.
  template <class Tile>
  [[nodiscard]] WYRM_HD chunk_range carve(Tile const& t, std::uint32_t n) const {
    std::uint32_t const at_once = extent_ref::at_once / shape_.chunks;
    if (n > at_once) n = at_once;
    chunk_range got{0, 0};
    if (t.rank() == 0) got = shape_.chunks == 1 ? memory_.take_chunks(n) : memory_.take_runs(n, shape_.chunks);
    return {t.shfl(got.first, 0), t.shfl(got.count, 0)};
  }

  // Appends spans at the end of the table. is_full: the table has no entry left for them.
  template <class Tile>
  [[nodiscard]] WYRM_HD span_range extend(Tile const& t, std::uint32_t wanted, bool& asks, std::uint64_t& page,
                                          bool& is_full) const {
    chunk_range got = carve(t, wanted);
    if (got.count == 0) return {0, 0};
    std::uint32_t first = 0;
    if (t.rank() == 0) {
      first = atomic(state_.count).fetch_add(got.count, exec::relaxed);
      // The table has an entry for every chunk. If no entry is left for a chunk that this tile has taken, another entry
      // is a hole. The tile that returned the chunk of that entry has counted the hole before it returned the chunk.
      std::uint32_t const room = first < memory_.chunks() ? memory_.chunks() - first : 0;
      if (room < got.count) {
        std::uint32_t const more = got.count - room;
        memory_.return_chunks(got.first + room * shape_.chunks, more * shape_.chunks);
        atomic(state_.count).fetch_sub(more, exec::relaxed);
        got.count = room;
      }
    }
    first = t.shfl(first, 0);
    got.count = t.shfl(got.count, 0);
    is_full = got.count == 0;
    spans_ref const self = *this;  // in registers: the compiler reads members again after each store
    for (std::uint32_t k = t.rank(); k < got.count; k += t.size())
      self.record(first + k, got.first + k * self.shape_.chunks);
    t.sync();
    std::uint64_t const from = std::uint64_t{first} << shape_.pages_log2;
    std::uint64_t const to = from + (std::uint64_t{got.count} << shape_.pages_log2);
    keep_and_free(t, from, to, asks, page);
    return {first, got.count};
  }
  // Gives the first of the used pages [from, to) to lanes with `asks`, and frees the others. Collective.
  template <class Tile>
  WYRM_HD void keep_and_free(Tile const& t, std::uint64_t from, std::uint64_t to, bool& asks,
                             std::uint64_t& page) const {
    std::uint64_t const rest = keep_first_pages(t, from, to, asks, page);
    exec::release_fence();
    Used const used = used_;                       // in registers
    std::uint64_t const behind = to / Used::bits;  // words in the middle are cleared as a whole, which is faster
    for (std::uint64_t w = rest / Used::bits + 1 + t.rank(); w < behind; w += t.size())
      used.clear_after_fence(w, static_cast<word>(~word{0}));
    if (t.rank() == 0) used.clear_after_fence(rest / Used::bits, pages_in(rest / Used::bits, rest, to));
    if (t.rank() == 0 && to % Used::bits != 0 && behind > rest / Used::bits)
      used.clear_after_fence(behind, pages_in(behind, rest, to));
  }
  // Gives the first pages of [from, to) to lanes with `asks`, and returns the first remaining page; collective.
  template <class Tile>
  WYRM_HD static std::uint64_t keep_first_pages(Tile const& t, std::uint64_t from, std::uint64_t to, bool& asks,
                                                std::uint64_t& page) {
    std::uint32_t const askers = t.ballot(asks);
    std::uint64_t const mine = from + exec::rank_in(t, askers);
    if (asks && mine < to) {
      page = mine;
      asks = false;
    }
    std::uint64_t const rest = from + static_cast<unsigned>(cuda::std::popcount(askers));
    return rest < to ? rest : to;
  }

  // Fills holes with spans, at most as many as a tile has lanes. Only for the holder of the pool's lock.
  template <class Tile>
  [[nodiscard]] WYRM_HD span_range fill_holes(Tile const& t, std::uint32_t wanted, bool& asks, std::uint64_t& page,
                                              bool& is_full) const {
    std::uint32_t const n = count(t);
    std::uint32_t const start = t.shfl(state_.next_hole, 0);
    std::uint32_t k = 0;
    std::uint32_t lanes = 0;
    for (; k < n && lanes == 0; k += t.size())
      lanes = t.ballot(k + t.rank() < n && entry(place(start, k + t.rank(), n)).load(exec::acquire) == detail::no_span);
    if (lanes == 0) return extend(t, wanted, asks, page, is_full);
    std::uint32_t const span = place(start, k - t.size() + t.rank(), n);
    auto const found = static_cast<std::uint32_t>(cuda::std::popcount(lanes));
    chunk_range const got = carve(t, wanted < found ? wanted : found);
    unsigned const mine = (lanes >> t.rank() & 1) != 0 ? exec::rank_in(t, lanes) : t.size();
    if (mine < got.count) record(span, got.first + mine * shape_.chunks);
    t.sync();
    std::uint32_t const first = t.shfl(span, exec::first_lane(lanes));
    for (std::uint32_t i = 0; i < got.count; ++i, lanes &= lanes - 1) {
      std::uint64_t const from = std::uint64_t{t.shfl(span, exec::first_lane(lanes))} << shape_.pages_log2;
      std::uint64_t const to = from + pages();
      keep_and_free(t, from, to, asks, page);
    }
    if (t.rank() == 0 && got.count > 0) {
      state_.next_hole = place(start, k - t.size(), n);
      atomic(state_.holes).fetch_sub(got.count, exec::relaxed);
    }
    return {first, got.count};
  }

  // Claims all pages of a span if they are free, else none; per thread. The pages of a hole are used.
  [[nodiscard]] WYRM_HD bool claim_all_pages(std::uint32_t span) const {
    bool free = true;
    for_words(span, [&](std::uint64_t w, word pages) { return free = (used_.read(w) & pages) == pages; });
    if (!free) return false;
    std::uint64_t claimed_words = 0;  // words that were claimed completely
    word of_last = 0;
    for_words(span, [&](std::uint64_t w, word pages) {
      of_last = used_.claim(w, pages);
      claimed_words += of_last == pages;
      return free = of_last == pages;
    });
    if (free) return true;
    for_words(span, [&](std::uint64_t w, word pages) {
      used_.clear_pages(w, claimed_words > 0 ? pages : of_last);
      return claimed_words-- > 0;
    });
    return false;
  }

  extent_ref memory_;
  detail::span_state& state_;
  span_shape shape_;
  Used used_;
};

/// Allocates a run of chunks from the extent, one request for the whole tile; collective. reclaim() returns free spans
/// to the extent, and is false if there are none.
template <class Tile, class Reclaim>
[[nodiscard]] WYRM_HD void* allocate_run(Tile const& t, extent_ref const& memory, std::size_t bytes,
                                         Reclaim const& reclaim) {
  if (bytes > std::size_t{memory.chunks()} * chunk_bytes) return nullptr;
  for (;;) {
    void* p = nullptr;
    if (t.rank() == 0) p = memory.allocate(bytes);
    p = t.shfl(p, 0);
    if (p != nullptr || !reclaim()) return p;
  }
}

}  // namespace wyrm::alloc
