// SPDX-License-Identifier: Apache-2.0
// RW_malloc ("Dynamic Buffer Management in Massively Parallel Systems: The Power of Randomness", ACM TOPC 12(1), 2025,
// section 4.3 and Algorithm 6): memory in units of 16 bytes, a bit each. A tile looks at a random region of the bitmap,
// finds the longest run of free units there, across the borders of words, and takes so much from its front as serves
// most of its lanes, in order, by one atomic operation a word.
//
// Beyond the paper. The units are those of spans (spans.hpp), one chunk each, four of which are a region: memory comes
// from alloc/extent and goes back to it. A run may cross from a chunk to the next if they are neighbours in memory too.
// Requests for more than a region, or more than a chunk where no region has so much, go to the extent. A second bitmap
// has the last unit of every block, so no block has a header, and who frees it need not know its size.
//
// Why no unit is handed out twice: as in used_pages.hpp the OR that sets bits says which were clear. Who did not get
// all that it wanted clears those that it got. That chunks are neighbours is looked at once more when their units are
// taken, as from then on they stay. Who waits for whom: as in random_walk.hpp.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../allocator.hpp"
#include "../extent/extent.hpp"
#include "../ledger.hpp"
#include "../pool_table.hpp"
#include "../sequence_lock.hpp"
#include "free_runs.hpp"
#include "spans.hpp"
#include "used_pages.hpp"
#include "walk.hpp"

namespace wyrm::alloc {

namespace detail {
inline constexpr unsigned units_log2 = 9;
inline constexpr std::uint32_t units_a_chunk = 1u << units_log2;
inline constexpr std::uint32_t region_words = 32;
inline constexpr std::uint32_t region_units = region_words * 64;
inline constexpr std::uint32_t region_chunks = region_units / units_a_chunk;
static_assert(units_a_chunk * alignment == chunk_bytes);
}  // namespace detail

class rw_malloc_ref {
  using used_units = used_bits_ref<std::uint64_t, false>;

 public:
  /// What the owner has for it.
  struct parts {
    extent_ref memory;
    ledger_ref ledger;
    detail::span_state* state;
    std::uint32_t* table;
    std::uint32_t* owners;
    std::uint64_t* used;
    std::uint64_t* ends;
    std::uint32_t* calls;
    std::uint64_t seed;
  };

  explicit rw_malloc_ref(parts const& p) : parts_(p) {}

  /// Collective; one request a lane, 0 = none.
  template <class Tile>
  [[nodiscard]] WYRM_HD void* allocate(Tile const& t, std::size_t bytes) const {
    bool const is_small = bytes > 0 && bytes <= detail::region_units * alignment;
    std::uint32_t const units = is_small ? units_for(bytes) : 0;
    void* result = nullptr;
    bool asks = is_small;
    walk w = next_walk(t, parts_.seed, parts_.calls);
    if (t.any(asks)) find(t, w, units, asks, result);
    // What is more than a chunk need not be in a region.
    for (std::uint32_t lanes = t.ballot(bytes > chunk_bytes && result == nullptr); lanes != 0; lanes &= lanes - 1) {
      unsigned const lane = exec::first_lane(lanes);
      void* const p = allocate_large(t, t.shfl(bytes, lane));
      if (t.rank() == lane) result = p;
    }
    asks = is_small && bytes > chunk_bytes && result == nullptr;
    sweep(t, w, units, asks, result);
    if (bytes > 0 && result == nullptr) parts_.ledger.count_failures(1);
    parts_.ledger.note_allocation(result, bytes);
    return result;
  }

  /// Collective; one pointer a lane, nullptr = none.
  template <class Tile>
  WYRM_HD void deallocate(Tile const& t, void* p) const {
    free_one(t, p, 0);
  }
  /// The same for blocks of so many bytes as were asked for, which saves looking where they end.
  template <class Tile>
  WYRM_HD void deallocate(Tile const& t, void* p, std::size_t bytes) const {
    free_one(t, p, bytes);
  }

  [[nodiscard]] WYRM_HD void* malloc(std::size_t bytes) const { return allocate(exec::scalar_tile{}, bytes); }
  WYRM_HD void free(void* p) const { deallocate(exec::scalar_tile{}, p); }

  /// Chunks that are wholly free go to the extent, some of them; collective. False if there are none.
  template <class Tile>
  WYRM_HD bool reclaim(Tile const& t) const {
    return spans().give_back(t);
  }

 private:
  static constexpr unsigned looks_to_grow = 2;  // in vain, before more memory is taken
  static constexpr unsigned looks = 16;         // the same, when there is none

  enum class look_result { served, nothing, beaten };

  WYRM_HD static std::uint32_t units_for(std::size_t bytes) {
    return static_cast<std::uint32_t>((bytes + alignment - 1) / alignment);
  }
  [[nodiscard]] WYRM_HD used_units used() const { return {parts_.used, nullptr, 0}; }
  [[nodiscard]] WYRM_HD spans_ref<used_units> spans() const {
    return {parts_.memory, *parts_.state, {0, detail::units_log2, 1, parts_.table, 1, parts_.owners}, used()};
  }
  [[nodiscard]] WYRM_HD exec::atomic_ref<std::uint64_t> ends(std::uint64_t word) const {
    return exec::atomic_ref<std::uint64_t>(parts_.ends[word]);
  }
  // Whether the chunk of this word is the one behind that of the word before it.
  [[nodiscard]] WYRM_HD bool are_neighbours(std::uint64_t word) const {
    constexpr unsigned words = detail::units_a_chunk / 64;
    if (word % words != 0) return true;
    auto const span = static_cast<std::uint32_t>(word / words);
    std::uint32_t const chunk = spans().chunk(span);
    return chunk != detail::no_chunk_here && spans().chunk(span - 1) + 1 == chunk;
  }
  // Bits of a word that are among `n` units of a region, from `first` on; w counts words from the region's begin.
  WYRM_HD static std::uint64_t units_in(std::uint32_t w, std::uint32_t first, std::uint32_t n) {
    std::uint32_t const begin = w * 64;
    std::uint32_t const low = first > begin ? first - begin : 0;
    std::uint32_t const high = first + n < begin + 64 ? first + n : begin + 64;
    if (low >= 64 || high <= begin + low) return 0;
    return (~std::uint64_t{0} >> (64 - (high - begin - low))) << low;
  }

  // Blocks for the lanes that ask, in regions; collective. Lanes that want more than a chunk may get none.
  template <class Tile>
  WYRM_HD void find(Tile const& t, walk& w, std::uint32_t units, bool& asks, void*& result) const {
    spans_ref<used_units> const all = spans();
    sequence_lock lock(all.lock());
    for (unsigned attempt = 0;; ++attempt) {
      std::uint32_t const n = all.count(t);
      bool const grows = !t.shfl(parts_.memory.looks_used_up(), 0);
      unsigned const patience = grows ? looks_to_grow : looks;
      for (unsigned in_vain = 0; n > 0 && in_vain < patience && t.any(asks);) {
        ++w.steps;
        auto const region = static_cast<std::uint32_t>(t.shfl(w.draw(regions(n)), 0));
        in_vain += look(t, region, n, units, asks, result) == look_result::nothing;
      }
      // Lanes that fill chunks take them at once; the others see that they are not too many who take more.
      if (std::uint32_t const whole = wanted(t, units, asks) / detail::units_a_chunk; grows && whole > 0)
        (void)more(t, all, units, whole, false, asks, result);
      if (wanted(t, units, asks) == 0) return;
      sequence_lock::outcome turn = sequence_lock::outcome::wait;
      if (t.rank() == 0) turn = lock.try_take();
      turn = t.shfl(turn, 0);
      if (turn == sequence_lock::outcome::nothing_left) return;
      if (turn == sequence_lock::outcome::wait) {
        t.backoff(attempt);
        continue;
      }
      bool const some = all.count(t) != n || grow(t, all, w, units, asks, result);
      t.sync();
      if (t.rank() == 0) {
        if (some)
          lock.unlock();
        else
          lock.unlock_with_nothing_left();
      }
      if (!some || !t.any(asks)) return;
    }
  }
  WYRM_HD static std::uint32_t regions(std::uint32_t spans) {
    return (spans + detail::region_chunks - 1) / detail::region_chunks;
  }

  // Units for the lanes that want a chunk or less; collective.
  template <class Tile>
  [[nodiscard]] WYRM_HD static std::uint32_t wanted(Tile const& t, std::uint32_t units, bool asks) {
    return exec::sum(t, asks && units <= detail::units_a_chunk ? units : 0);
  }
  // Looks at new chunks, so many or fewer; collective. False if there are none.
  template <class Tile>
  [[nodiscard]] WYRM_HD bool more(Tile const& t, spans_ref<used_units> const& all, std::uint32_t units,
                                  std::uint32_t chunks, bool fills_holes, bool& asks, void*& result) const {
    bool nobody = false;
    std::uint64_t page = 0;
    auto const [first, count] = all.append(t, chunks, fills_holes, nobody, page);
    std::uint32_t const n = all.count(t);
    std::uint32_t const end = regions(first + count < n ? first + count : n);
    for (std::uint32_t region = first / detail::region_chunks; region < end && t.any(asks); ++region)
      while (look(t, region, n, units, asks, result) == look_result::served && t.any(asks)) continue;
    return count > 0;
  }

  // By the tile that has the lock. False if there is nothing left.
  template <class Tile>
  [[nodiscard]] WYRM_HD bool grow(Tile const& t, spans_ref<used_units> const& all, walk& w, std::uint32_t units,
                                  bool& asks, void*& result) const {
    if (more(t, all, units, t.shfl(all.batch(wanted(t, units, asks)), 0), true, asks, result)) return true;
    std::uint32_t const before = t.ballot(asks);
    sweep(t, w, units, asks, result);
    return t.ballot(asks) != before;
  }

  // Looks at all regions, until there was none where somebody else was faster; collective.
  template <class Tile>
  WYRM_HD void sweep(Tile const& t, walk& w, std::uint32_t units, bool& asks, void*& result) const {
    std::uint32_t const n = spans().count(t);
    for (unsigned attempt = 0; n > 0 && t.any(asks) && !sweep_once(t, w, n, units, asks, result); ++attempt)
      t.backoff(attempt);
  }
  // Once, at each region until nothing fits.
  template <class Tile>
  [[nodiscard]] WYRM_HD bool sweep_once(Tile const& t, walk& w, std::uint32_t n, std::uint32_t units, bool& asks,
                                        void*& result) const {
    std::uint32_t const all = regions(n);
    auto const start = static_cast<std::uint32_t>(t.shfl(w.draw(all), 0));
    bool sure = true;
    for (std::uint32_t k = 0; k < all && t.any(asks); ++k) {
      std::uint32_t const region = start + k < all ? start + k : start + k - all;
      look_result found = look_result::served;
      while (t.any(asks) && found == look_result::served) found = look(t, region, n, units, asks, result);
      sure = sure && found != look_result::beaten;
    }
    return sure || !t.any(asks);
  }

  // Takes from the longest run of a region what serves the first of those lanes for whom it is long enough; collective.
  template <class Tile>
  [[nodiscard]] WYRM_HD look_result look(Tile const& t, std::uint32_t region, std::uint32_t n, std::uint32_t units,
                                         bool& asks, void*& result) const {
    constexpr std::uint32_t words = detail::region_words / Tile::size();  // a lane
    std::uint32_t const mine = t.rank() * words;                          // the first
    std::uint64_t const first = std::uint64_t{region} * detail::region_words;
    std::uint64_t const end = std::uint64_t{n} * (detail::units_a_chunk / 64);
    detail::free_runs here;
    bool begins_behind = false;  // the chunk of the lane before
    for (std::uint32_t i = 0; i < words; ++i) {
      std::uint64_t const word = first + mine + i;
      std::uint64_t const free = word < end ? used().peek(word) : 0;
      bool const behind = mine + i > 0 && word < end && are_neighbours(word);
      if (i == 0) begins_behind = behind;
      here = i == 0 ? detail::runs_of(free) : detail::join(here, detail::runs_of(free), behind);
    }
    for (unsigned step = 1; step < Tile::size(); step *= 2) {
      unsigned const other = t.rank() + step < Tile::size() ? t.rank() + step : t.rank();
      std::uint64_t const packed = t.shfl(here.packed(), other);
      bool const behind = t.shfl(begins_behind, other);
      here = detail::join(here, detail::free_runs::unpacked(here.units, packed), behind);
    }
    here = detail::free_runs::unpacked(detail::region_units, t.shfl(here.packed(), 0));

    bool const fits = asks && units <= here.longest;
    std::uint32_t const before = exec::sum_below(t, fits ? units : 0);
    bool const served = fits && before + units <= here.longest;
    std::uint32_t const all = exec::sum(t, served ? units : 0);
    if (all == 0) return look_result::nothing;
    if (!take(t, first, mine, words, here.at, all)) return look_result::beaten;
    if (served) {
      std::uint64_t const unit = first * 64 + here.at + before;
      ends((unit + units - 1) / 64).fetch_or(bit(unit + units - 1), exec::relaxed);
      result = address(unit);
      asks = false;
    }
    return look_result::served;
  }
  // All of these units, or none; collective.
  template <class Tile>
  [[nodiscard]] WYRM_HD bool take(Tile const& t, std::uint64_t first, std::uint32_t mine, std::uint32_t words,
                                  std::uint32_t at, std::uint32_t n) const {
    bool all = true;
    std::uint32_t done = 0;
    std::uint64_t of_last = 0;
    for (; done < words && all; ++done) {
      std::uint64_t const wanted = units_in(mine + done, at, n);
      of_last = wanted != 0 ? used().take(first + mine + done, wanted) : 0;
      all = of_last == wanted;
    }
    t.sync();
    for (std::uint32_t i = 0; i < words && all; ++i)  // from here on these chunks stay where they are
      if (units_in(mine + i, at, n) != 0 && (mine + i) * 64 > at) all = are_neighbours(first + mine + i);
    if (t.all(all)) return true;
    for (std::uint32_t i = 0; i < done; ++i) {
      std::uint64_t const wanted = units_in(mine + i, at, n);
      used().put_all(first + mine + i, i + 1 < done ? wanted : of_last);
    }
    return false;
  }

  template <class Tile>
  [[nodiscard]] WYRM_HD void* allocate_large(Tile const& t, std::size_t bytes) const {
    if (bytes > std::size_t{parts_.memory.chunks()} * chunk_bytes) return nullptr;
    for (;;) {
      void* p = nullptr;
      if (t.rank() == 0) p = parts_.memory.allocate(bytes);
      p = t.shfl(p, 0);
      if (p != nullptr || !reclaim(t)) return p;
    }
  }

  // bytes: 0 if not known.
  template <class Tile>
  WYRM_HD void free_one(Tile const& t, void* p, std::size_t bytes) const {
    std::uint64_t unit = 0;
    bool is_large = false;
    if (is_live(p, unit, is_large) && !is_large) free_units(unit, bytes > 0 ? unit + units_for(bytes) - 1 : end(unit));
    extent_ref::one_by_one(t, t.ballot(is_large), [&] {
      if (!parts_.memory.free(p)) parts_.ledger.count_bad_free();
    });
  }
  // Whether something may begin at p. A pointer where nothing can is counted and left alone.
  WYRM_HD bool is_live(void* p, std::uint64_t& unit, bool& is_large) const {
    if (p == nullptr) return false;
    auto const offset = static_cast<std::uint64_t>(static_cast<std::byte*>(p) - parts_.memory.base());
    if (!parts_.memory.contains(p) || offset % alignment != 0) {
      parts_.ledger.count_bad_free();
      return false;
    }
    std::uint32_t const owner =
        exec::atomic_ref<std::uint32_t>(parts_.owners[offset / chunk_bytes]).load(exec::relaxed);
    unit =
        std::uint64_t{detail::span_owner::of(owner).index} * detail::units_a_chunk + offset % chunk_bytes / alignment;
    bool const is_live = parts_.ledger.note_free(p);
    is_large = is_live && owner == detail::no_chunk_here;
    return is_live;
  }
  // The last unit of the block that begins here; or one of another region if there is none.
  [[nodiscard]] WYRM_HD std::uint64_t end(std::uint64_t unit) const {
    std::uint64_t word = unit / 64;
    std::uint64_t found = ends(word).load(exec::relaxed) & ~std::uint64_t{0} << unit % 64;
    while (found == 0 && ++word % detail::region_words != 0) found = ends(word).load(exec::relaxed);
    return word * 64 + (found != 0 ? static_cast<unsigned>(cuda::std::countr_zero(found)) : 0);
  }
  WYRM_HD void free_units(std::uint64_t unit, std::uint64_t last) const {
    bool const one_region = last / detail::region_units == unit / detail::region_units;
    if (!one_region || (ends(last / 64).fetch_and(~bit(last), exec::relaxed) & bit(last)) == 0)
      return parts_.ledger.count_bad_free();
    std::uint64_t const region = unit / detail::region_units * detail::region_words;
    auto const first = static_cast<std::uint32_t>(unit % detail::region_units);
    auto const n = static_cast<std::uint32_t>(last - unit + 1);
    for (std::uint64_t word = unit / 64; word <= last / 64; ++word)
      used().put_all(word, units_in(static_cast<std::uint32_t>(word - region), first, n));
  }

  [[nodiscard]] WYRM_HD void* address(std::uint64_t unit) const {
    std::uint64_t const chunk = spans().chunk(static_cast<std::uint32_t>(unit / detail::units_a_chunk));
    return parts_.memory.base() + chunk * chunk_bytes + unit % detail::units_a_chunk * alignment;
  }
  WYRM_HD static std::uint64_t bit(std::uint64_t unit) { return std::uint64_t{1} << unit % 64; }

  parts parts_;
};

namespace detail {
struct give_back_chunks {
  rw_malloc_ref ref;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t) const {
    while (ref.reclaim(t)) continue;
  }
};
}  // namespace detail

/// Owns the memory, and the bitmaps: 1 / 64 of the pool, and 8 bytes a chunk for the tables.
template <class Space>
class rw_malloc {
 public:
  using space_type = Space;
  using ref_type = rw_malloc_ref;
  static constexpr char const* name = "rw-malloc";
  static constexpr traits family{.packs = false};

  rw_malloc(Space const& space, options const& o)
      : space_(space),
        memory_(space, o),
        ledger_(space, memory_.base(), memory_.capacity(), o.checked),
        state_(space, 1),
        table_(space, memory_.capacity() / chunk_bytes),
        owners_(space, memory_.capacity() / chunk_bytes),
        used_(space, memory_.capacity() / chunk_bytes * words_a_chunk),
        ends_(space, memory_.capacity() / chunk_bytes * words_a_chunk),
        calls_(space, call_counters) {
    cover(memory_.chunks());
    start(0);
    ledger_.cover(memory_.bytes());
    ledger_.reset();
    restart();
  }

  [[nodiscard]] ref_type ref() const {
    return ref_type({memory_.ref(), ledger_.ref(), state_.data(), table_.data(), owners_.data(), used_.data(),
                     ends_.data(), calls_.data(), 1});
  }

  /// O(what was used).
  void reset() {
    std::uint32_t const spans = exec::read(space_, state_.data()).count;
    clear(0, spans);
    space_.fill(owners_.data(), 0xff, memory_.touched() * sizeof(std::uint32_t));
    memory_.reset();
    ledger_.reset();
    restart();
  }
  void grow(std::size_t bytes) {
    std::uint32_t const before = memory_.chunks();
    std::uint32_t const after = memory_.chunks_after(bytes);
    cover(after);  // all that can fail comes before anything changes
    ledger_.cover(std::size_t{after} * chunk_bytes);
    memory_.grow(bytes);
    start(before);
  }
  void compact() { exec::for_each_tile<32>(space_, 1, detail::give_back_chunks{ref()}); }

  [[nodiscard]] statistics stats() const {
    statistics s;
    ledger_.report(s);
    s.committed = memory_.bytes();
    s.reserved = memory_.capacity();
    s.peak = memory_.peak();
    s.overhead = memory_.overhead() + ledger_.bytes() + state_.bytes() + table_.bytes() + owners_.bytes() +
                 used_.bytes() + ends_.bytes() + calls_.bytes();
    detail::span_state const state = exec::read(space_, state_.data());
    std::size_t free = 0;
    for (std::uint64_t const word : exec::copy_out(space_, used_.data(), std::size_t{state.count} * words_a_chunk))
      free += static_cast<std::size_t>(std::popcount(~word));
    std::size_t const units = std::size_t{state.count - state.holes} * detail::units_a_chunk;
    s.classes.push_back({alignment, units, free});
    s.granted = memory_.allocated() + (units - free) * alignment;
    return s;
  }

  /// Each chunk has one owner, which knows it; holes are counted and have no free unit; every block ends at a unit that
  /// is said to be a last one, and nowhere else; nobody is at work; in checked mode each of them is live. O(pool).
  void check() const {
    detail::span_state const state = exec::read(space_, state_.data());
    std::vector<std::uint32_t> const table = exec::copy_out(space_, table_.data(), state.count);
    std::vector<std::uint32_t> const owners = exec::copy_out(space_, owners_.data(), memory_.chunks());
    std::vector<std::uint64_t> const used = exec::copy_out(space_, used_.data(), table.size() * words_a_chunk);
    std::vector<std::uint64_t> const ends = exec::copy_out(space_, ends_.data(), table.size() * words_a_chunk);
    ensure(state.lock % 2 == 0, name, "the lock is held although nobody is at work");
    std::vector<bool> carved(memory_.chunks());
    std::size_t holes = 0;
    for (std::uint32_t span = 0; span < table.size(); ++span) {
      std::uint32_t const chunk = table[span];
      holes += chunk == detail::no_chunk_here;
      if (chunk == detail::no_chunk_here) continue;
      ensure(chunk < carved.size() && !carved[chunk], name, "a chunk belongs to two spans");
      ensure(owners[chunk] == detail::span_owner{span, 0}.word(), name,
             "chunk " + std::to_string(chunk) + " does not know its span");
      carved[chunk] = true;
    }
    ensure(holes == state.holes, name, std::to_string(holes) + " holes, " + std::to_string(state.holes) + " counted");
    std::size_t const known =
        owners.size() - static_cast<std::size_t>(std::count(owners.begin(), owners.end(), detail::no_chunk_here));
    ensure(known == table.size() - holes, name, "chunks have owners that do not have them");
    memory_.check(carved);

    auto const is_set = [](std::vector<std::uint64_t> const& bits, std::size_t unit) {
      return (bits[unit / 64] >> unit % 64 & 1) != 0;
    };
    std::vector<std::size_t> blocks;  // where they begin, in the pool
    bool inside = false;
    for (std::size_t unit = 0; unit < used.size() * 64; ++unit) {
      std::uint32_t const chunk = table[unit / detail::units_a_chunk];
      bool const is_used = is_set(used, unit);
      std::string const what = "unit " + std::to_string(unit);
      if (chunk == detail::no_chunk_here) {
        if (!is_used || is_set(ends, unit) || inside) ensure(false, name, what + " of a hole is not just used");
        continue;
      }
      bool const crosses = inside && unit % detail::units_a_chunk == 0;
      if (crosses && (unit % detail::region_units == 0 || table[unit / detail::units_a_chunk - 1] + 1 != chunk))
        ensure(false, name, what + ": a block goes on where its chunk does not");
      if (!is_used && (inside || is_set(ends, unit))) ensure(false, name, what + " is free in a block");
      if (is_used && !inside) blocks.push_back(chunk * chunk_bytes + unit % detail::units_a_chunk * alignment);
      inside = is_used && !is_set(ends, unit);
    }
    ensure(!inside, name, "the last block does not end");
    if (ledger_.checked()) check_live(owners, std::move(blocks));
  }

 private:
  static constexpr std::size_t words_a_chunk = detail::units_a_chunk / 64;

  void check_live(std::vector<std::uint32_t> const& owners, std::vector<std::size_t> blocks) const {
    std::vector<std::size_t> live;
    std::size_t runs = 0;
    for (std::size_t const offset : ledger_.live_offsets()) {
      if (owners[offset / chunk_bytes] == detail::no_chunk_here)
        ++runs;  // whose chunks the extent has checked
      else
        live.push_back(offset);
    }
    std::sort(blocks.begin(), blocks.end());
    ensure(live == blocks, name, "the blocks in use are not those that are live");
    ensure(runs == memory_.runs(), name, "a run of chunks is lost");
  }
  void cover(std::uint32_t chunks) {
    table_.cover(chunks);
    owners_.cover(chunks);
    used_.cover(std::size_t{chunks} * words_a_chunk);
    ends_.cover(std::size_t{chunks} * words_a_chunk);
  }
  // Chunks that are new, from here on.
  void start(std::uint32_t first) {
    std::size_t const n = memory_.chunks() - first;
    static_assert(detail::no_chunk_here == 0xffffffff);
    space_.fill(owners_.data() + first, 0xff, n * sizeof(std::uint32_t));
    clear(first, memory_.chunks());
  }
  // There are no spans from one to another.
  void clear(std::uint32_t from, std::uint32_t to) {
    std::size_t const n = to - from;
    std::size_t const bytes = n * words_a_chunk * sizeof(std::uint64_t);
    if (n == 0) return;
    space_.fill(table_.data() + from, detail::not_yet, n * sizeof(std::uint32_t));
    space_.fill(used_.data() + from * words_a_chunk, detail::all_used, bytes);
    space_.fill(ends_.data() + from * words_a_chunk, 0, bytes);
  }
  void restart() {
    space_.fill(state_.data(), 0, state_.bytes());
    space_.fill(calls_.data(), 0, calls_.bytes());
  }

  Space space_;
  extent<Space> memory_;
  ledger<Space> ledger_;
  exec::buffer<detail::span_state, Space> state_;
  pool_table<std::uint32_t, Space> table_;
  pool_table<std::uint32_t, Space> owners_;
  pool_table<std::uint64_t, Space> used_;
  pool_table<std::uint64_t, Space> ends_;
  exec::buffer<std::uint32_t, Space> calls_;
};

}  // namespace wyrm::alloc
