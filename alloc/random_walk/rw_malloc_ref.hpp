// SPDX-License-Identifier: Apache-2.0
// RW_malloc ("Dynamic Buffer Management in Massively Parallel Systems: The Power of Randomness", ACM TOPC 12(1), 2025,
// section 4.3 and Algorithm 6): memory in units of 16 bytes, with a bitmap of one bit per unit. A tile probes a random
// region of the bitmap: it finds the longest run of free units in the region, across the borders of words. From the
// front of this run it claims the units for as many of its lanes as possible, in the order of lanes, by one atomic
// operation per word.
//
// Departures from the paper: there the lanes of a warp read 32 words from a random one on, one each, and lanes take the
// first runs that are long enough, one lane after the other. Here the words are those of a region, 32 words from a
// multiple of 32 on, and one run, the longest, serves several lanes.
//
// Beyond the paper:
//  - The units are in spans (spans.hpp) of one chunk each; four spans are a region. So memory comes from alloc/extent
//    and returns to it. A run of units may cross from one chunk to the next if the two are also adjacent in memory.
//  - If its requests are small, a tile of 16 lanes or fewer probes only a part of a region, so that a single thread
//    does not read 32 words. After a tile has lost units to another tile, it does the same for the rest of the search,
//    because tiles that read the same words select the same run. A single thread takes the first run that is long
//    enough, and does not search the longest; for whole words of the bitmap, if it can, the first whole words.
//  - Requests for more than a region go to the extent. Requests for more than a chunk also go there, if no region has a
//    run of this length.
//  - A second bitmap marks the last unit of every block. So blocks have no headers, and free() needs no size.
//
// Why no unit is allocated twice: as in used_pages.hpp, the OR that sets bits returns which of them were clear. A tile
// that did not get all units of its run clears those that it got. After it has claimed the units, the tile checks again
// that their chunks are adjacent; from then on these chunks cannot move.
//
// Progress: tiles wait for locks as in random_walk.hpp. Why every request ends: two tiles that claim the same units can
// both fail, each because the other has some of them, until both clear theirs. Without further rules they could repeat
// this forever. Therefore a tile that has lost more races than are likely by chance (max_lost_races) claims units only
// with the lock of the pool. It waits for this lock, and then tries until its requests are satisfied, or no run fits.
// While it holds the lock, other tiles can still win races against it. But each of them does so a bounded number of
// times for each of its requests; if the request is not satisfied by then, it also waits for the lock. The number of
// requests is finite. So, if no request is satisfied before, at some time only the holder of the lock claims units.
// Then it loses no race: its next probe claims a run that fits, or finds that none fits, and the lock goes to the next
// tile. So after a finite time some request is always satisfied or refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda/std/bit>

#include "../../exec/config.hpp"
#include "../../exec/tile.hpp"
#include "../allocator.hpp"
#include "../extent/extent.hpp"
#include "../sequence_lock.hpp"
#include "span_memory.hpp"
#include "spans.hpp"
#include "unit_runs.hpp"
#include "walk.hpp"

namespace wyrm::alloc {

class rw_malloc_ref : detail::unit_runs {
 public:
  static constexpr unsigned resident_blocks = 4;  // see exec::resident_blocks_of
  using detail::unit_runs::parts;

  explicit rw_malloc_ref(parts const& p) : unit_runs(p) {}

  /// Collective; one request per lane, 0 bytes = none.
  template <class Tile>
  [[nodiscard]] WYRM_HD void* allocate(Tile const& t, std::size_t bytes, std::size_t align = alignment) const {
    std::size_t const wanted = padded_request(parts_.ledger.with_guard(bytes), align);
    bool const is_small = wanted > 0 && wanted <= detail::region_units * alignment;
    std::uint32_t const units = is_small ? units_for(wanted) : 0;
    void* result = nullptr;
    bool asks = is_small;
    if (t.any(asks)) {
      std::uint32_t n = spans().recent_count();  // loaded early to hide its latency
      walk w = next_walk(t, parts_.seed, parts_.calls);
      if (n = t.shfl(n, 0); n > 0) (void)search(t, w, n, probes_before_growth, units, asks, result);
    }
    if (t.any(wanted > 0 && result == nullptr)) result = serve(t, wanted, result);
    if (bytes > 0 && result == nullptr) parts_.ledger.count_failures(1);
    if (align > alignment && result != nullptr) result = trim(result, parts_.ledger.with_guard(bytes), units, align);
    parts_.ledger.record_allocation(result, bytes);
    return result;
  }

  /// Collective; one pointer per lane, nullptr = none.
  template <class Tile>
  WYRM_HD void deallocate(Tile const& t, void* p) const {
    free_block(t, p, 0);
  }
  /// The same with the requested size of each block, so that its end need not be searched. If no block ends at this
  /// size, it is counted as a bad free.
  template <class Tile>
  WYRM_HD void deallocate(Tile const& t, void* p, std::size_t bytes) const {
    free_block(t, p, bytes);
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
    if (owner(p) == detail::no_span) return parts_.memory.run_bytes(p);
    std::uint64_t const unit = unit_of(p);
    return (end(unit) - unit + 1) * alignment;
  }

  /// Returns some completely free chunks to the extent; collective. False if there are none.
  template <class Tile>
  WYRM_HD bool reclaim(Tile const& t) const {
    return spans().release_free_spans(t);
  }

 private:
  static constexpr unsigned probes_before_growth = 2;    // probes that find nothing before the pool grows
  static constexpr unsigned probes_when_exhausted = 16;  // the same when the pool cannot grow
  // The approximate number of lost races after which a tile claims units only with the lock: see above.
  static constexpr unsigned max_lost_races = 64;
  static constexpr unsigned sweeps_without_lock = 8;

  enum class probe_result { served, no_fit, lost_race };

  // The number of words of a probe, a power of two: those of a region, or fewer if a tile of 16 lanes or fewer has
  // small requests, because a region would be many words per lane. It is at least words_needed(), because the rest of a
  // range is wasted if requests of one size fill it; and for several lanes more than they request, so that one run may
  // serve all; collective.
  template <class Tile>
  [[nodiscard]] WYRM_HD static std::uint32_t words_at_once(Tile const& t, std::uint32_t units, bool asks) {
    if (t.size() >= detail::region_words) return detail::region_words;
    std::uint32_t const all = t.size() > 1 ? exec::sum(t, asks ? units : 0) : 0;
    std::uint32_t const words =
        cuda::std::bit_floor(cuda::std::bit_ceil(t.size()) | words_needed(t, units, asks) | all / 32);
    return words < detail::region_words ? words : detail::region_words;
  }
  // At least four times the largest request; collective. Its highest bit is the number of words.
  template <class Tile>
  [[nodiscard]] WYRM_HD static std::uint32_t words_needed(Tile const& t, std::uint32_t units, bool asks) {
    std::uint32_t const needed = exec::any_bits(t, cuda::std::bit_ceil(asks ? units / 16 + 1 : 1u));
    return needed < detail::region_words ? needed : detail::region_words;
  }

  // Probes regions, or parts of regions, until all lanes with `asks` have a block, probes of max_failures regions found
  // nothing, or the tile has lost max_lost_races races; collective. A part of fewer than four words counts as four.
  // Returns the number of lost races.
  template <class Tile>
  WYRM_HD unsigned search(Tile const& t, walk& w, std::uint32_t n, unsigned max_failures, std::uint32_t units,
                          bool& asks, void*& result) const {
    constexpr unsigned failure = 256;  // added per failure and word; the rest counts lost races, in the same register
    static_assert(max_lost_races < failure);
    constexpr unsigned fewest_log2 = 2;  // a failure counts at least 2^this words, which limits probes of few words
    constexpr auto region_log2 = static_cast<unsigned>(cuda::std::countr_zero(detail::region_words));
    auto log2 = static_cast<unsigned>(cuda::std::countr_zero(words_at_once(t, units, asks)));
    unsigned both = 0;
    while (both < max_failures * failure * detail::region_words && both % failure < max_lost_races && t.any(asks)) {
      ++w.steps;
      std::uint64_t const part = t.shfl(w.draw(std::uint64_t{regions(n)} << (region_log2 - log2)), 0);
      probe_result const found = probe(t, {part << log2, 1u << log2}, n, units, asks, result);
      if (found == probe_result::no_fit) both += failure << (log2 > fewest_log2 ? log2 : fewest_log2);
      if (found == probe_result::lost_race) {
        ++both;
        // Tiles that read the same words select the same run, and all except one of them lose. So the tile reads fewer
        // words, but as many as it fills.
        if (log2 > 0 && words_needed(t, units, asks) >> log2 == 0 &&
            exec::sum(t, asks ? units : 0) / 64 >> (log2 - 1) == 0)
          --log2;
      }
    }
    return both % failure;
  }
  // Allocates blocks for the lanes that have none yet: from regions; for requests for more than a chunk, if regions
  // have no such run, from the extent; collective. Arguments are passed by value so that they stay in registers.
  template <class Tile>
  [[nodiscard]] WYRM_NOINLINE WYRM_HD void* serve(Tile const t, std::size_t bytes, void* result) const {
    bool const is_small = bytes > 0 && bytes <= detail::region_units * alignment;
    std::uint32_t const units = is_small ? units_for(bytes) : 0;
    bool asks = is_small && result == nullptr;
    walk w = next_walk(t, parts_.seed, parts_.calls);
    spans_ref<used_units> const all = spans();
    unsigned lost_races = 0;
    if (t.any(asks))
      all.search_and_grow(
          t,
          [&](std::uint32_t n, bool grows) {
            if (n > 0 && lost_races < max_lost_races)
              lost_races += search(t, w, n, grows ? probes_before_growth : probes_when_exhausted, units, asks, result);
            // Lanes that fill whole chunks take them without the lock. For other lanes, the lock prevents that too many
            // tiles take chunks at the same time.
            if (std::uint32_t const whole = wanted(t, units, asks) / detail::units_per_chunk; grows && whole > 0)
              (void)append_and_serve(t, all, units, whole, false, asks, result);
            return wanted(t, units, asks) > 0;
          },
          [&] { return grow(t, all, w, lost_races >= max_lost_races, units, asks, result); });
    // A tile that needs the lock sweeps before chunks return to the extent: a block of more than a chunk may fit in
    // them.
    asks = is_small && bytes > chunk_bytes && result == nullptr;
    if (lost_races >= max_lost_races && t.any(asks)) sweep_with_lock(t, w, units, asks, result);
    for (std::uint32_t lanes = t.ballot(bytes > chunk_bytes && result == nullptr); lanes != 0; lanes &= lanes - 1) {
      unsigned const lane = exec::first_lane(lanes);
      void* const p = allocate_run(t, parts_.memory, t.shfl(bytes, lane), [&] { return reclaim(t); });
      if (t.rank() == lane) result = p;
    }
    asks = is_small && bytes > chunk_bytes && result == nullptr;
    if (!sweep(t, w, sweeps_without_lock, units, asks, result)) sweep_with_lock(t, w, units, asks, result);
    return result;
  }
  // The sum of units for the lanes that need a chunk or less; collective.
  template <class Tile>
  [[nodiscard]] WYRM_HD static std::uint32_t wanted(Tile const& t, std::uint32_t units, bool asks) {
    return exec::sum(t, asks && units <= detail::units_per_chunk ? units : 0);
  }
  // Appends up to this number of chunks, in full regions, so that the chunks of a region are adjacent, and allocates
  // blocks for lanes from them; collective. False if there are none.
  template <class Tile>
  [[nodiscard]] WYRM_NOINLINE WYRM_HD bool append_and_serve(Tile const t, spans_ref<used_units> const& all,
                                                            std::uint32_t units, std::uint32_t chunks, bool fills_holes,
                                                            bool& asks, void*& result) const {
    bool no_request = false;
    std::uint64_t page = 0;
    std::uint32_t const in_full = (chunks + detail::region_chunks - 1) / detail::region_chunks * detail::region_chunks;
    auto const [first, count] = all.append(t, in_full, fills_holes, no_request, page);
    std::uint32_t const n = all.count(t);
    std::uint32_t const end = regions(first + count < n ? first + count : n);
    for (std::uint32_t region = first / detail::region_chunks; region < end && t.any(asks); ++region)
      while (probe(t, whole(region), n, units, asks, result) == probe_result::served && t.any(asks)) continue;
    return count > 0;
  }

  // Only for the tile that holds the lock. False if no memory is left. `searches`: the tile has lost too many races to
  // search without the lock, and searches now.
  template <class Tile>
  [[nodiscard]] WYRM_HD bool grow(Tile const& t, spans_ref<used_units> const& all, walk& w, bool searches,
                                  std::uint32_t units, bool& asks, void*& result) const {
    if (searches) {
      std::uint32_t const n = all.count(t);
      while (n > 0 && wanted(t, units, asks) > 0 &&
             search(t, w, n, probes_before_growth, units, asks, result) >= max_lost_races)
        continue;
      if (wanted(t, units, asks) == 0) return true;
    }
    if (append_and_serve(t, all, units, t.shfl(all.spans_to_append(wanted(t, units, asks)), 0), true, asks, result))
      return true;
    std::uint32_t const before = t.ballot(asks);
    (void)sweep(t, w, unlimited, units, asks, result);
    return t.ballot(asks) != before;
  }

  // Sweeps over all regions until a sweep has lost no race, or up to this number of times; `unlimited` only for the
  // tile that holds the lock. Collective. False if a region may still have units for a lane with `asks`.
  static constexpr unsigned unlimited = 0xffffffff;
  template <class Tile>
  WYRM_NOINLINE WYRM_HD bool sweep(Tile const t, walk& w, unsigned times, std::uint32_t units, bool& asks,
                                   void*& result) const {
    std::uint32_t const n = spans().count(t);
    for (unsigned attempt = 0; n > 0 && t.any(asks) && !sweep_once(t, w, n, units, asks, result); ++attempt) {
      if (attempt + 1 == times) return false;
      t.backoff(attempt);
    }
    return true;
  }
  // Takes the lock, and sweeps.
  template <class Tile>
  WYRM_NOINLINE WYRM_HD void sweep_with_lock(Tile const t, walk& w, std::uint32_t units, bool& asks,
                                             void*& result) const {
    sequence_lock lock(parts_.states->lock);
    if (t.rank() == 0) lock.lock();
    t.sync();
    (void)sweep(t, w, unlimited, units, asks, result);
    if (t.rank() == 0) lock.unlock();
    t.sync();
  }
  // One sweep; in each region it claims units until nothing fits. False if it has lost a race and a lane still lacks a
  // block.
  template <class Tile>
  [[nodiscard]] WYRM_HD bool sweep_once(Tile const& t, walk& w, std::uint32_t n, std::uint32_t units, bool& asks,
                                        void*& result) const {
    std::uint32_t const all = regions(n);
    auto const start = static_cast<std::uint32_t>(t.shfl(w.draw(all), 0));
    bool sure = true;
    for (std::uint32_t k = 0; k < all && t.any(asks); ++k) {
      std::uint32_t const region = start + k < all ? start + k : start + k - all;
      probe_result found = probe_result::served;
      while (t.any(asks) && found == probe_result::served)
        found = probe(t, whole(region), n, units, asks, result, false);
      sure = sure && found != probe_result::lost_race;
    }
    return sure || !t.any(asks);
  }

  // Claims units from the front of the longest run of a range, for the lanes whose requests fit it, lowest lanes first,
  // until it is full; collective. A tile of one lane takes the first run that fits; for whole words, if it can, one of
  // whole words, since each word is an atomic operation. (Blocks of other sizes would leave gaps between them.) Where
  // hardly anything is free, that is not worth a look: prefers_words is false.
  template <class Tile>
  [[nodiscard]] WYRM_HD probe_result probe(Tile const& t, range const& all_words, std::uint32_t n, std::uint32_t units,
                                           bool& asks, void*& result, bool prefers_words = true) const {
    std::uint32_t const words = (all_words.words + t.size() - 1) / t.size();  // per lane
    std::uint32_t const mine = t.rank() * words;                              // the lane's first word
    std::uint64_t const first = all_words.first;
    std::uint64_t const end = std::uint64_t{n} * detail::words_per_chunk;
    run here{0, 0};
    if (t.size() != 1) {
      here = longest_run(t, all_words, mine, words, end);
    } else {
      if (prefers_words && units % 64 == 0) here = first_words(all_words, end, units);
      if (here.units == 0) here = units > 64 ? first_long(all_words, end, units) : first_fit(all_words, end, units);
    }
    rw_malloc_ref const self = *this;  // in registers, as in first_fit()

    bool const fits = asks && units <= here.units;
    std::uint32_t const before = exec::sum_below(t, fits ? units : 0);
    bool const served = fits && before + units <= here.units;
    std::uint32_t const all = exec::sum(t, served ? units : 0);
    if (all == 0) return probe_result::no_fit;
    if (!self.claim_units(t, first, mine, words, here.at, all)) return probe_result::lost_race;
    if (served) {
      std::uint64_t const unit = first * 64 + here.at + before;
      self.ends((unit + units - 1) / 64).fetch_or(bit(unit + units - 1), exec::relaxed);
      result = self.address(unit);
      asks = false;
    }
    return probe_result::served;
  }
  // bytes: the requested size; 0 if not known.
  template <class Tile>
  WYRM_HD void free_block(Tile const& t, void* p, std::size_t bytes) const {
    std::uint64_t unit = 0;
    bool is_large = false;
    if (is_live(p, unit, is_large) && !is_large)
      free_units(unit, bytes > 0 ? unit + units_for(parts_.ledger.with_guard(bytes)) - 1 : end(unit), p);
    extent_ref::one_by_one(t, t.ballot(is_large), [&] {
      if (!parts_.memory.free(p)) parts_.ledger.count_bad_free(p);
    });
  }
  // Whether a live block can begin at p; is_large: it is a run of the extent. If no block can begin at p, this is
  // counted as a bad free.
  WYRM_HD bool is_live(void* p, std::uint64_t& unit, bool& is_large) const {
    if (p == nullptr) return false;
    if (!parts_.memory.contains(p) || offset(p) % alignment != 0) {
      parts_.ledger.count_bad_free(p);
      return false;
    }
    bool const is_run = owner(p) == detail::no_span;
    unit = unit_of(p);
    bool const is_live = parts_.ledger.record_free(p);
    is_large = is_live && is_run;
    return is_live;
  }
  // Shortens the block of `units` units at p to `bytes` bytes from the first aligned address on. A run of the extent is
  // not changed.
  [[nodiscard]] WYRM_NOINLINE WYRM_HD void* trim(void* p, std::size_t bytes, std::uint32_t units,
                                                 std::size_t align) const {
    if (owner(p) == detail::no_span) return p;
    std::byte* const start = align_up(static_cast<std::byte*>(p), align);
    std::uint64_t const unit = unit_of(p);
    std::uint64_t const last = unit + units - 1;
    std::uint64_t const new_unit = unit + static_cast<std::uint64_t>(start - static_cast<std::byte*>(p)) / alignment;
    std::uint64_t const new_last = new_unit + units_for(bytes) - 1;
    if (new_last != last) {
      ends(new_last / 64).fetch_or(bit(new_last), exec::relaxed);
      ends(last / 64).fetch_and(~bit(last), exec::relaxed);
    }
    clear_units(unit, new_unit);
    clear_units(new_last + 1, last + 1);
    return start;
  }
  WYRM_HD void free_units(std::uint64_t unit, std::uint64_t last, void const* p) const {
    bool const one_region = last / detail::region_units == unit / detail::region_units;
    if (!one_region || (ends(last / 64).fetch_and(~bit(last), exec::relaxed) & bit(last)) == 0)
      return parts_.ledger.count_bad_free(p);
    clear_units(unit, last + 1);
  }
};

}  // namespace wyrm::alloc
