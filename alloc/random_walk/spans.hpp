// SPDX-License-Identifier: Apache-2.0
// Pools of pages that grow and shrink while kernels run: a span is a chunk, or a run of chunks, that is split into
// pages of one size, and a table has the spans of a pool one behind the other. Pages are numbered through the table, so
// what says which are used has full words whatever the size of pages, and searches need no more than the number of
// spans.
//
// A pool grows at the end of its table, by anybody: an addition to the number of spans, then the chunk's entry, and
// only then are pages freed (release), which are used in the table from the beginning; so who takes a page finds its
// entry (acquire). Who grows the pool keeps pages for itself by not freeing them. A pool shrinks as well: who takes all
// pages of a span, as anybody takes pages, has it to itself, and makes a hole of it, whose pages stay used. Holes are
// filled by who holds the lock of the pool; searches go on beside all that.
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

inline constexpr std::uint32_t no_span = 0xffffffff;  // a hole in a table of spans; a chunk that is of no span
inline constexpr unsigned char never_written = 0xfe;  // in all bytes of an entry: there never was a span
inline constexpr unsigned char all_used = 0xff;       // the same, in what says which pages are used

/// What changes on the device, a pool.
struct alignas(256) span_state {
  std::uint32_t count;      // entries of the table, written or not; for a moment more than there is room for
  std::uint32_t holes;      // of these
  std::uint32_t next_hole;  // where to look for them
  std::uint32_t next_free;  // where to look for spans that are wholly free
  alignas(128) std::uint64_t lock;
};

/// A chunk's owner: the pool, and where in its table.
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

/// What the spans of a pool are. Pools share a table, in which each 64 spans of each of them make a group, so that it
/// grows with the memory whatever they will have.
struct span_shape {
  unsigned pool;          // its number, of those that share the tables
  unsigned pools;         // how many share them
  unsigned pages_log2;    // pages a span
  std::uint32_t chunks;   // chunks a span
  std::uint32_t* table;   // the first chunk of a span
  std::uint32_t* owners;  // an entry a chunk; of a run, only of its first

  static constexpr std::uint32_t group = 64;
  /// Where the entry of a span is.
  [[nodiscard]] WYRM_HD static std::uint64_t place(std::uint32_t span, unsigned pool, unsigned pools) {
    return std::uint64_t{span / group} * (group * pools) + pool * group + span % group;
  }
  /// How many, for so many spans of each pool.
  [[nodiscard]] static std::size_t entries(std::uint32_t spans, unsigned pools) {
    return std::size_t{(spans + group - 1) / group} * group * pools;
  }
};

/// For kernels. Used: used_flags_ref or used_bits_ref, for the pages of `capacity` spans.
template <class Used>
class spans_ref {
  using word = typename Used::word;

 public:
  WYRM_HD spans_ref(extent_ref const& memory, detail::span_state& state, span_shape const& shape, Used const& used)
      : memory_(memory), state_(state), shape_(shape), used_(used) {}

  /// The same for all lanes; collective.
  template <class Tile>
  [[nodiscard]] WYRM_HD std::uint32_t count(Tile const& t) const {
    std::uint32_t const n = atomic(state_.count).load(exec::relaxed);
    return t.shfl(n < memory_.chunks() ? n : memory_.chunks(), 0);
  }
  /// The same for a lane, or what it was a while ago.
  [[nodiscard]] WYRM_HD std::uint32_t recent_count() const {
    std::uint32_t const n = exec::load_recent(state_.count);
    return n < memory_.chunks() ? n : memory_.chunks();
  }
  [[nodiscard]] WYRM_HD std::uint32_t pages() const { return 1u << shape_.pages_log2; }
  /// The first chunk of a span that has one.
  [[nodiscard]] WYRM_HD std::uint32_t chunk(std::uint32_t span) const { return entry(span).load(exec::relaxed); }

  /// So many spans more, or fewer, or none if there is no memory; collective. Their first pages are for lanes that ask,
  /// who then do not ask any more; the others are free. Only who holds the lock may fill holes; if there are some
  /// nobody else gets spans, and it no more than a tile has lanes. How many spans there are more, and the first; where
  /// they fill holes the others may be anywhere.
  template <class Tile>
  WYRM_NOINLINE WYRM_HD span_range append(Tile const& t, std::uint32_t wanted, bool fills_holes, bool& asks,
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
  /// How many spans to take for so many pages, when others will want some: a part of what the pool has already, and of
  /// what is left.
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

  /// Searches, and makes the pool larger, until a tile wants no more or there is no memory; collective. search(n,
  /// grows) looks through n spans, longer if the pool cannot grow, and is false when nobody asks any more; grow() is
  /// called by who holds the lock, and false if there is nothing left: that holds for all who wait.
  template <class Tile, class Search, class Grow>
  WYRM_HD void search_and_grow(Tile const& t, Search const& search, Grow const& grow) const {
    sequence_lock lock(state_.lock);
    for (unsigned attempt = 0;; ++attempt) {
      std::uint32_t const n = count(t);
      if (!search(n, !t.shfl(memory_.looks_used_up(), 0))) return;
      sequence_lock::outcome turn = sequence_lock::outcome::wait;
      if (t.rank() == 0) turn = lock.try_take();
      turn = t.shfl(turn, 0);
      if (turn == sequence_lock::outcome::nothing_left) return;
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
          lock.unlock_with_nothing_left();
      }
      if (!some) return;
    }
  }

  /// Spans that are wholly free go back to the extent, as many as a tile has lanes, or fewer; collective. False if
  /// there was a moment for each when it was not free.
  template <class Tile>
  WYRM_NOINLINE WYRM_HD bool release_free_spans(Tile const& t) const {
    std::uint32_t const n = count(t);
    std::uint32_t const start = t.shfl(atomic(state_.next_free).load(exec::relaxed), 0);
    for (std::uint32_t k = 0; k < n; k += Tile::size()) {
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
      extent_ref::one_by_one(t, lanes, [&] { memory_.give(first, shape_.chunks); });
      return true;
    }
    return false;
  }

 private:
  // That are freed at a time, unless more are wanted: by one tile, for whom all others may wait.
  static constexpr std::uint32_t max_words = Used::bits == 1 ? 65536 : 4096;

  WYRM_HD static exec::atomic_ref<std::uint32_t> atomic(std::uint32_t& n) { return exec::atomic_ref<std::uint32_t>(n); }
  [[nodiscard]] WYRM_HD exec::atomic_ref<std::uint32_t> entry(std::uint32_t span) const {
    return atomic(shape_.table[span_shape::place(span, shape_.pool, shape_.pools)]);
  }
  [[nodiscard]] WYRM_HD exec::atomic_ref<std::uint32_t> owner(std::uint32_t chunk) const {
    return atomic(shape_.owners[chunk]);
  }
  // The k-th of n places, from `start` on, around.
  WYRM_HD static std::uint32_t place(std::uint32_t start, std::uint32_t k, std::uint32_t n) {
    return static_cast<std::uint32_t>((std::uint64_t{start} + k) % n);
  }
  // The pages of word w that are among these.
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
  // Calls f(word, pages of it) for the words of a span.
  template <class F>
  WYRM_HD void for_words(std::uint32_t span, F const& f) const {
    std::uint64_t const from = std::uint64_t{span} << shape_.pages_log2;
    std::uint64_t const to = from + pages();
    for (std::uint64_t w = from / Used::bits; w * Used::bits < to; ++w)
      if (!f(w, pages_in(w, from, to))) return;
  }
  // So many spans from the extent, or fewer; collective.
  template <class Tile>
  [[nodiscard]] WYRM_HD chunk_range carve(Tile const& t, std::uint32_t n) const {
    std::uint32_t const at_once = extent_ref::at_once / shape_.chunks;
    if (n > at_once) n = at_once;
    chunk_range got{0, 0};
    if (t.rank() == 0) got = shape_.chunks == 1 ? memory_.take_chunks(n) : memory_.take_runs(n, shape_.chunks);
    return {t.shfl(got.first, 0), t.shfl(got.count, 0)};
  }

  template <class Tile>
  [[nodiscard]] WYRM_HD span_range extend(Tile const& t, std::uint32_t wanted, bool& asks, std::uint64_t& page,
                                          bool& is_full) const {
    chunk_range got = carve(t, wanted);
    if (got.count == 0) return {0, 0};
    std::uint32_t first = 0;
    if (t.rank() == 0) {
      first = atomic(state_.count).fetch_add(got.count, exec::relaxed);
      // A table has an entry for every chunk: when it has no place for one that we got it has a hole, counted by who
      // gave that one back.
      std::uint32_t const room = first < memory_.chunks() ? memory_.chunks() - first : 0;
      if (room < got.count) {
        std::uint32_t const more = got.count - room;
        memory_.give(got.first + room * shape_.chunks, more * shape_.chunks);
        atomic(state_.count).fetch_sub(more, exec::relaxed);
        got.count = room;
      }
    }
    first = t.shfl(first, 0);
    got.count = t.shfl(got.count, 0);
    is_full = got.count == 0;
    for (std::uint32_t k = t.rank(); k < got.count; k += Tile::size()) record(first + k, got.first + k * shape_.chunks);
    t.sync();
    std::uint64_t const from = std::uint64_t{first} << shape_.pages_log2;
    std::uint64_t const to = from + (std::uint64_t{got.count} << shape_.pages_log2);
    keep_and_free(t, from, to, asks, page);
    return {first, got.count};
  }
  // The first of these pages go to the lanes that ask, the others are free; collective.
  template <class Tile>
  WYRM_HD void keep_and_free(Tile const& t, std::uint64_t from, std::uint64_t to, bool& asks,
                             std::uint64_t& page) const {
    std::uint64_t const rest = keep_first_pages(t, from, to, asks, page);
    exec::release_fence();
    for (std::uint64_t w = rest / Used::bits + t.rank(); w * Used::bits < to; w += Tile::size())
      used_.clear_after_fence(w, pages_in(w, rest, to));
  }
  // Where the others begin.
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

  // As many as a tile has lanes, at most.
  template <class Tile>
  [[nodiscard]] WYRM_HD span_range fill_holes(Tile const& t, std::uint32_t wanted, bool& asks, std::uint64_t& page,
                                              bool& is_full) const {
    std::uint32_t const n = count(t);
    std::uint32_t const start = t.shfl(state_.next_hole, 0);
    std::uint32_t k = 0;
    std::uint32_t lanes = 0;
    for (; k < n && lanes == 0; k += Tile::size())
      lanes = t.ballot(k + t.rank() < n && entry(place(start, k + t.rank(), n)).load(exec::acquire) == detail::no_span);
    if (lanes == 0) return extend(t, wanted, asks, page, is_full);
    std::uint32_t const span = place(start, k - Tile::size() + t.rank(), n);
    auto const found = static_cast<std::uint32_t>(cuda::std::popcount(lanes));
    chunk_range const got = carve(t, wanted < found ? wanted : found);
    unsigned const mine = (lanes >> t.rank() & 1) != 0 ? exec::rank_in(t, lanes) : Tile::size();
    if (mine < got.count) record(span, got.first + mine * shape_.chunks);
    t.sync();
    std::uint32_t const first = t.shfl(span, exec::first_lane(lanes));
    for (std::uint32_t i = 0; i < got.count; ++i, lanes &= lanes - 1) {
      std::uint64_t const from = std::uint64_t{t.shfl(span, exec::first_lane(lanes))} << shape_.pages_log2;
      std::uint64_t const to = from + pages();
      keep_and_free(t, from, to, asks, page);
    }
    if (t.rank() == 0 && got.count > 0) {
      state_.next_hole = place(start, k - Tile::size(), n);
      atomic(state_.holes).fetch_sub(got.count, exec::relaxed);
    }
    return {first, got.count};
  }

  // All pages of a span, if they are free; one lane. Those of a hole are not. Without locks, as in sweeps: that
  // somebody searches a word does not make its pages used.
  [[nodiscard]] WYRM_HD bool claim_all_pages(std::uint32_t span) const {
    bool free = true;
    for_words(span, [&](std::uint64_t w, word pages) { return free = (used_.read(w) & pages) == pages; });
    if (!free) return false;
    std::uint64_t had = 0;  // words
    word of_last = 0;
    for_words(span, [&](std::uint64_t w, word pages) {
      of_last = used_.claim(w, pages);
      had += of_last == pages;
      return free = of_last == pages;
    });
    if (free) return true;
    for_words(span, [&](std::uint64_t w, word pages) {
      used_.clear_pages(w, had > 0 ? pages : of_last);
      return had-- > 0;
    });
    return false;
  }

  extent_ref memory_;
  detail::span_state& state_;
  span_shape shape_;
  Used used_;
};

/// A run of chunks from the extent, the same request for all lanes; collective. reclaim() brings memory back to it from
/// spans, and is false if there is none.
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
