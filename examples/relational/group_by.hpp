// SPDX-License-Identifier: Apache-2.0
// The group-by of "Dynamic Buffer Management in Massively Parallel Systems: The Power of Randomness" (ACM TOPC 12(1),
// 2025), section 6.2 and appendix C: the number of tuples of each key, and the sum of their values. Radix hashing from
// the most significant bits, 8 bits in each of up to four passes. A pass distributes the tuples of each bucket among
// 256 smaller buckets. A bucket is a list of pages: threads append tuples to its last page, and the thread that fills
// the page allocates the next one. The pages of the previous pass are freed. So no pass needs to know how many tuples a
// bucket will have, and nothing has the size of the domain of the keys: a histogram of 32-bit keys takes 17 GB.
//
// Departures from the paper:
//  - Lanes of a tile that append to the same list do so with one atomic addition.
//  - A bucket with many tuples to come has several lists (stripes), so threads wait less for the next page of a list.
//  - Each pass keeps a log of its pages. The next pass has a tile for each page, however skewed the keys are.
//  - A bucket that has become small is not divided further: a tile groups its tuples with a hash table. Random keys
//    become single tuples after three passes, and each would take a page.
//  - The last pass needs no lists: 256 sums for each bucket are left.
//  - Groups are written to pages, too (result_pages.hpp).
//
// The end of a list is one word: the address of the last page, and how many tuples have been claimed in it. A group of
// lanes adds their number to it. Those whose place is in the page write there. The group that goes beyond the last
// place allocates the next page, and stores a new word (release, which passes the page on to those who acquire the
// word by their addition). Until then others see more than a full page, and poll.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cuda/std/bit>
#include <string>
#include <utility>
#include <wyrm/exec/atomic.hpp>
#include <wyrm/exec/error.hpp>
#include <wyrm/exec/launch.hpp>
#include <wyrm/exec/memory.hpp>
#include <wyrm/exec/tile.hpp>

#include "result_pages.hpp"
#include "table.hpp"

namespace relational {

/// A result: a key, the number of its tuples, and the sum of their values.
struct alignas(16) group {
  std::uint32_t key;
  std::uint32_t count;
  std::uint64_t sum;
};

namespace detail {

constexpr unsigned digit_bits = 8;
constexpr std::uint32_t digits = 1u << digit_bits;
constexpr unsigned passes = 4;
constexpr std::uint32_t small_bucket = 1024;           // tuples that a tile groups at once
constexpr std::uint32_t few_stripes = 8;               // that a tile reads one after the other
constexpr std::uint32_t tuples_per_stripe = 1u << 16;  // of the bucket that is divided
constexpr std::uint32_t none = 0xffffffff;

/// Digit `pass` of a key, from the most significant one on.
[[nodiscard]] WYRM_HD inline std::uint32_t digit_of(std::uint32_t key, unsigned pass) {
  return key >> (32 - digit_bits * (pass + 1)) & (digits - 1);
}

/// The header of a page; its tuples follow.
struct alignas(16) tuple_page {
  tuple_page* previous;
  std::uint32_t before;  // tuples in the pages before this one
  [[nodiscard]] WYRM_HD tuple* tuples() { return reinterpret_cast<tuple*>(this + 1); }
};

/// The end of a list in 64 bits: the address of the last page, in units of 16 bytes, and the tuples claimed in it. A
/// list without pages has a full page at address 0.
struct list_end {
  static constexpr unsigned count_bits = 19;  // more than twice the lanes of a device, each of which may add one
  std::uint64_t word;
  [[nodiscard]] WYRM_HD static list_end of(tuple_page* page, std::uint32_t count) {
    return {reinterpret_cast<std::uintptr_t>(page) / 16 << count_bits | count};
  }
  [[nodiscard]] WYRM_HD tuple_page* page() const { return reinterpret_cast<tuple_page*>((word >> count_bits) * 16); }
  [[nodiscard]] WYRM_HD std::uint32_t count() const {
    return static_cast<std::uint32_t>(word & ((std::uint64_t{1} << count_bits) - 1));
  }
};

struct logged_page {
  tuple_page* page;
  std::uint32_t list;
};

/// A bucket that a pass divides: its list s for digit d is first_list + s * digits + d.
struct divided_bucket {
  std::uint32_t first_list;
  std::uint32_t stripes;
  std::uint32_t prefix;  // the digits that all of its keys have, the others 0
};

/// What a pass adds up.
struct pass_counters {
  std::uint32_t pages;    // in the log
  std::uint32_t buckets;  // that the next pass divides
  std::uint32_t lists;    // of these
};

/// The lists that a pass writes.
struct lists_ref {
  std::uint64_t* ends;        // list_end of each
  std::uint32_t* divided_as;  // the number of the bucket that the next pass makes of the list's bucket, or none
  logged_page* log;
  pass_counters* counters;
};

/// Appends tuples to lists.
template <class Ref>
struct list_writer {
  Ref pool;
  lists_ref lists;
  std::uint32_t page_bytes;
  std::uint32_t capacity;  // tuples per page
  std::uint64_t* lost;     // tuples for which there was no memory

  /// Appends tuples 0 ... n - 1; collective. get(k, list) returns tuple k, and sets the list that it belongs to. A lane
  /// that has appended its tuple goes on with another one, while other lanes wait for a page.
  template <class Tile, class Get>
  WYRM_HD void append(Tile const& t, std::uint32_t n, Get const& get) const {
    tuple mine{};
    std::uint32_t list = none;  // of the lane's tuple, if it has one
    bool polls = false;
    std::uint32_t next = 0;
    for (unsigned attempt = 0;;) {
      std::uint32_t const idle = t.ballot(list == none);
      if (std::uint32_t const k = next + exec::rank_in(t, idle); list == none && k < n) mine = get(k, list);
      next += static_cast<std::uint32_t>(cuda::std::popcount(idle));
      if (!t.any(list != none)) return;
      bool const is_done = try_append(t, mine, list, polls);
      attempt = t.any(is_done) ? 0 : attempt + 1;
      if (attempt > 0) t.backoff(attempt - 1);
      if (is_done) list = none;
    }
  }

 private:
  // Appends the tuple in the lanes that have a list, as far as their lists have room, or the lane's group gets a new
  // page; collective. Returns whether the tuple of the lane is done with. `polls`: another tile is to add a page. If
  // one lane of a group polls, the group does: so a group adds to a full page only once, and the count does not
  // overflow.
  template <class Tile>
  [[nodiscard]] WYRM_HD bool try_append(Tile const& t, tuple const& mine, std::uint32_t list, bool& polls) const {
    std::uint32_t const same = exec::match(t, list);
    bool const group_polls = (t.ballot(polls) & same) != 0;
    unsigned const leader = exec::first_lane(same);
    std::uint32_t const rank = exec::rank_in(t, same);
    auto const size = static_cast<std::uint32_t>(cuda::std::popcount(same));
    bool const has = list != none;
    list_end end{0};
    if (has && rank == 0) {
      exec::atomic_ref<std::uint64_t> word(lists.ends[list]);
      if (group_polls) end.word = word.load(exec::relaxed);
      if (end.count() <= capacity) end.word = word.fetch_add(size, exec::acquire);
    }
    end.word = t.shfl(end.word, leader);
    std::uint32_t const at = end.count() + rank;
    bool const fits = has && at < capacity;
    if (fits) end.page()->tuples()[at] = mine;
    bool const crosses = has && end.count() <= capacity && end.count() + size > capacity;
    polls = has && end.count() > capacity;
    if (!t.any(crosses)) return fits;
    std::uint32_t const beyond = end.count() + size - capacity;  // tuples that the page has no room for
    auto* const page =
        static_cast<tuple_page*>(from_leader(t, next_page(t, crosses && rank == 0, list, end, beyond), leader));
    if (!crosses || fits) return fits;
    if (page == nullptr) exec::atomic_ref<std::uint64_t>(*lost).fetch_add(1, exec::relaxed);
    bool const is_written = page != nullptr && at - capacity < capacity;
    if (is_written) page->tuples()[at - capacity] = mine;
    return is_written || page == nullptr;
  }
  template <class Tile>
  [[nodiscard]] WYRM_HD static void* from_leader(Tile const& t, void* p, unsigned leader) {
    return reinterpret_cast<void*>(t.shfl(reinterpret_cast<std::uintptr_t>(p), leader));
  }

  // Links a new page to each list whose leader calls this, with `claimed` tuples; collective. If there is no memory,
  // the list ends with its last page; once a tuple is lost, nobody allocates any more.
  template <class Tile>
  [[nodiscard]] WYRM_HD tuple_page* next_page(Tile const& t, bool leads, std::uint32_t list, list_end end,
                                              std::uint32_t claimed) const {
    bool const asks = leads && exec::atomic_ref<std::uint64_t>(*lost).load(exec::relaxed) == 0;
    auto* const page = static_cast<tuple_page*>(pool.allocate(t, asks ? page_bytes : 0));
    std::uint32_t const lanes = t.ballot(page != nullptr);
    std::uint32_t at = 0;
    if (t.rank() == 0 && lanes != 0)
      at = exec::atomic_ref<std::uint32_t>(lists.counters->pages)
               .fetch_add(static_cast<std::uint32_t>(cuda::std::popcount(lanes)), exec::relaxed);
    at = t.shfl(at, 0) + exec::rank_in(t, lanes);
    if (!leads) return nullptr;
    list_end after = list_end::of(end.page(), capacity);
    if (page != nullptr) {
      *page = {end.page(), end.page() != nullptr ? end.page()->before + capacity : 0};
      lists.log[at] = {page, list};
      after = list_end::of(page, claimed < capacity ? claimed : capacity);
    }
    exec::atomic_ref<std::uint64_t>(lists.ends[list]).store(after.word, exec::release);
    return page;
  }
};

struct clear_lists {
  lists_ref lists;
  std::uint32_t capacity;
  WYRM_HD void operator()(std::size_t i) const {
    lists.ends[i] = list_end::of(nullptr, capacity).word;
    lists.divided_as[i] = none;
  }
};

/// The first pass: divides the input, a tile for so many tuples in a row.
template <class Ref>
struct divide_input {
  static constexpr unsigned resident_blocks = exec::resident_blocks_of<Ref>();
  static constexpr std::size_t grain = 1;
  static constexpr std::uint32_t per_tile = 256;
  tuple const* tuples;
  std::size_t count;
  list_writer<Ref> writer;
  std::uint32_t stripes;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i) const {
    std::size_t const first = i * per_tile;
    auto const n = static_cast<std::uint32_t>(count - first < per_tile ? count - first : per_tile);
    std::uint32_t const list = static_cast<std::uint32_t>(i % stripes) * digits;
    writer.append(t, n, [&](std::uint32_t k, std::uint32_t& to) {
      tuple const mine = tuples[first + k];
      to = list + digit_of(mine.key, 0);
      return mine;
    });
  }
};

/// A page of the previous pass: what a tile reads.
struct page_to_read {
  tuple_page* page;  // nullptr: its bucket is not divided, and the page is free already
  std::uint32_t count;
  std::uint32_t bucket;
  WYRM_HD page_to_read(lists_ref const& lists, std::size_t i, std::uint32_t capacity)
      : page(lists.log[i].page), count(capacity), bucket(lists.divided_as[lists.log[i].list]) {
    list_end const end{lists.ends[lists.log[i].list]};
    if (end.page() == page && end.count() < capacity) count = end.count();
    if (bucket == none) page = nullptr;
  }
};

/// A pass between the first and the last: divides buckets, a tile for each page.
template <class Ref>
struct divide_pages {
  static constexpr unsigned resident_blocks = exec::resident_blocks_of<Ref>();
  static constexpr std::size_t grain = 1;
  lists_ref from;
  divided_bucket const* buckets;
  list_writer<Ref> writer;
  unsigned pass;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i) const {
    page_to_read const source(from, i, writer.capacity);
    if (source.page == nullptr) return;
    divided_bucket const bucket = buckets[source.bucket];
    std::uint32_t const list = bucket.first_list + static_cast<std::uint32_t>(i % bucket.stripes) * digits;
    writer.append(t, source.count, [&](std::uint32_t k, std::uint32_t& to) {
      tuple const mine = source.page->tuples()[k];
      to = list + digit_of(mine.key, pass);
      return mine;
    });
    t.sync();
    writer.pool.deallocate(t, t.rank() == 0 ? source.page : nullptr);
  }
};

/// The last pass: adds up the tuples of each key, a tile for each page.
template <class Ref>
struct add_pages {
  static constexpr unsigned resident_blocks = exec::resident_blocks_of<Ref>();
  static constexpr std::size_t grain = 1;
  lists_ref from;
  std::uint32_t capacity;
  Ref pool;
  group* groups;  // one for each digit of each bucket
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i) const {
    page_to_read const source(from, i, capacity);
    if (source.page == nullptr) return;
    for (std::uint32_t k = 0; k < source.count; k += t.size()) {
      bool const valid = k + t.rank() < source.count;
      tuple const mine = valid ? source.page->tuples()[k + t.rank()] : tuple{};
      group& to = groups[std::size_t{source.bucket} * digits + digit_of(mine.key, passes - 1)];
      std::uint32_t const first_key = t.shfl(mine.key, 0);
      if (!t.any(valid && mine.key != first_key)) {
        auto const count = static_cast<std::uint32_t>(cuda::std::popcount(t.ballot(valid)));
        add(t.rank() == 0, to, count, exec::sum(t, std::uint64_t{valid ? mine.value : 0}));
      } else {
        add(valid, to, 1, mine.value);
      }
    }
    t.sync();
    pool.deallocate(t, t.rank() == 0 ? source.page : nullptr);
  }

 private:
  WYRM_HD static void add(bool has, group& to, std::uint32_t count, std::uint64_t sum) {
    if (!has) return;
    exec::atomic_ref<std::uint32_t>(to.count).fetch_add(count, exec::relaxed);
    exec::atomic_ref<std::uint64_t>(to.sum).fetch_add(sum, exec::relaxed);
  }
};

/// Ends the last pass: writes the groups that have tuples to pages.
template <class Ref>
struct write_groups {
  static constexpr unsigned resident_blocks = exec::resident_blocks_of<Ref>();
  Ref pool;
  result_lists_ref<group> results;
  divided_bucket const* buckets;
  group const* groups;
  std::size_t count;
  std::size_t tiles;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t tile) const {
    result_writer<group, Ref> out(results, pool, tile);
    for (std::size_t first = tile * t.size(); first < count; first += tiles * t.size()) {
      std::size_t const i = first + t.rank();
      group mine = i < count ? groups[i] : group{};
      if (i < count) mine.key = buckets[i / digits].prefix | static_cast<std::uint32_t>(i % digits);
      out.add(t, mine.count != 0, mine);
    }
    out.finish(t);
  }
};

/// Ends another pass. A tile for every k-th bucket that the pass has written: it groups the tuples of a small bucket,
/// and frees their pages; a larger one it leaves to the next pass.
template <class Ref>
struct finish_buckets {
  static constexpr unsigned resident_blocks = exec::resident_blocks_of<Ref>();
  static constexpr std::size_t grain = 1;
  Ref pool;
  result_lists_ref<group> results;
  lists_ref lists;
  divided_bucket const* parents;
  std::uint32_t count;  // buckets
  std::uint32_t tiles;
  unsigned pass;
  std::uint32_t capacity;
  divided_bucket* next;  // the buckets of the next pass
  group* groups;         // small_bucket for each tile
  std::uint32_t* slots;  // 2 * small_bucket for each tile

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t tile) const {
    result_writer<group, Ref> out(results, pool, tile);
    for (std::size_t b = tile; b < count; b += tiles) {
      divided_bucket const parent = parents[b / digits];
      auto const digit = static_cast<std::uint32_t>(b % digits);
      std::uint32_t const first = parent.first_list + digit;
      std::uint32_t mine = 0;
      for (std::uint32_t s = t.rank(); s < parent.stripes; s += t.size()) mine += size(first + s * digits);
      std::uint32_t const all = exec::sum(t, mine);
      if (all > small_bucket || (all > 0 && parent.stripes > few_stripes))
        divide(t, parent, first, parent.prefix | digit << (32 - digit_bits * (pass + 1)), all);
      else if (all > 0)
        group_tuples(t, tile, parent, first, all, out);
    }
    out.finish(t);
  }

 private:
  [[nodiscard]] WYRM_HD std::uint32_t tuples_in(list_end end) const {
    return end.count() < capacity ? end.count() : capacity;
  }
  [[nodiscard]] WYRM_HD std::uint32_t size(std::uint32_t list) const {
    list_end const end{lists.ends[list]};
    return end.page() != nullptr ? end.page()->before + tuples_in(end) : 0;
  }

  template <class Tile>
  WYRM_HD void divide(Tile const& t, divided_bucket const& parent, std::uint32_t first, std::uint32_t prefix,
                      std::uint32_t tuples) const {
    std::uint32_t number = 0;
    if (t.rank() == 0) {
      std::uint32_t const stripes = 1 + tuples / tuples_per_stripe;
      number = exec::atomic_ref<std::uint32_t>(lists.counters->buckets).fetch_add(1, exec::relaxed);
      std::uint32_t const list =
          exec::atomic_ref<std::uint32_t>(lists.counters->lists).fetch_add(stripes * digits, exec::relaxed);
      next[number] = {list, stripes, prefix};
    }
    number = t.shfl(number, 0);
    for (std::uint32_t s = t.rank(); s < parent.stripes; s += t.size()) lists.divided_as[first + s * digits] = number;
  }

  // Copies the tuples to the tile's array as groups of one tuple, and frees the pages. In the hash table the first
  // tuple of a key becomes its group; the others are added to it.
  template <class Tile>
  WYRM_HD void group_tuples(Tile const& t, std::size_t tile, divided_bucket const& parent, std::uint32_t first,
                            std::uint32_t all, result_writer<group, Ref>& out) const {
    group* const own = groups + tile * small_bucket;
    std::uint32_t* const table = slots + tile * (2 * small_bucket);
    std::uint32_t last_slot = 31;
    while (last_slot < all + all / 2) last_slot = 2 * last_slot + 1;
    for (std::uint32_t k = t.rank(); k <= last_slot; k += t.size()) table[k] = 0;
    std::uint32_t at = 0;
    for (std::uint32_t s = 0; s < parent.stripes; ++s) {
      list_end const end{lists.ends[first + s * digits]};
      at = copy_list(t, end.page(), tuples_in(end), own, at);
    }
    t.sync();
    for (std::uint32_t i = t.rank(); i < all; i += t.size()) add_to_group(own, table, last_slot, i);
    t.sync();
    for (std::uint32_t k = 0; k < all; k += t.size()) {
      group const one = k + t.rank() < all ? own[k + t.rank()] : group{};
      out.add(t, one.count != 0, one);
    }
    t.sync();
  }
  template <class Tile>
  [[nodiscard]] WYRM_HD std::uint32_t copy_list(Tile const& t, tuple_page* page, std::uint32_t n, group* own,
                                                std::uint32_t at) const {
    tuple_page* read = nullptr;  // by this lane's count: freed with those of the other lanes
    for (std::uint32_t k = 1; page != nullptr; ++k) {
      tuple_page* const previous = page->previous;
      for (std::uint32_t i = t.rank(); i < n; i += t.size()) {
        tuple const mine = page->tuples()[i];
        own[at + i] = {mine.key, 1, mine.value};
      }
      at += n;
      n = capacity;
      if (t.rank() == k % t.size()) read = page;
      page = previous;
      if (k % t.size() != 0 && page != nullptr) continue;
      t.sync();
      pool.deallocate(t, read);
      read = nullptr;
    }
    return at;
  }
  WYRM_HD void add_to_group(group* own, std::uint32_t* table, std::uint32_t last_slot, std::uint32_t i) const {
    std::uint32_t const key = own[i].key;
    for (std::uint32_t slot = hash(key) & last_slot;; slot = (slot + 1) & last_slot) {
      std::uint32_t holder = 0;
      if (exec::atomic_ref<std::uint32_t>(table[slot]).compare_exchange_strong(holder, i + 1, exec::relaxed)) return;
      group& to = own[holder - 1];
      if (to.key != key) continue;
      exec::atomic_ref<std::uint32_t>(to.count).fetch_add(1, exec::relaxed);
      exec::atomic_ref<std::uint64_t>(to.sum).fetch_add(own[i].sum, exec::relaxed);
      own[i].count = 0;
      return;
    }
  }
};

}  // namespace detail

/// The group-by and its memory, which is kept from call to call.
template <class Space>
class grouping {
 public:
  /// most: the largest number of tuples, below 2^31. page_bytes: bytes per page of tuples and of results.
  grouping(Space const& space, std::size_t most, std::size_t page_bytes = 512)
      : space_(space),
        page_bytes_(static_cast<std::uint32_t>(page_bytes)),
        capacity_(tuples_per_page(page_bytes)),
        tiles_(tiles_for(space, most_tiles)),
        from_(space, most, capacity_),
        to_(space, most, capacity_),
        buckets_(space, most_buckets(most)),
        next_buckets_(space, most_buckets(most)),
        counters_(space, 1),
        lost_(space, 1),
        groups_(space, tiles_ * detail::small_bucket),
        slots_(space, tiles_ * (2 * detail::small_bucket)),
        sums_(space) {}

  /// The number of tiles that write results.
  [[nodiscard]] std::size_t tiles() const { return tiles_; }

  /// Groups n tuples, an array of the space, and writes the groups to pages of the pool. `results` has a list for each
  /// of tiles() tiles. Returns the number of tuples that are in no group because there was no memory for them;
  /// results.lost() is the number of groups for which there was none. In any case the pages of tuples are freed.
  template <class Allocator>
  std::uint64_t run(tuple const* tuples, std::size_t n, Allocator& pool, result_lists<group, Space>& results) {
    using ref = typename Allocator::ref_type;
    constexpr std::size_t per_tile = detail::divide_input<ref>::per_tile;
    space_.fill(lost_.data(), 0, lost_.bytes());
    auto const stripes = static_cast<std::uint32_t>(1 + n / detail::tuples_per_stripe);
    exec::write(space_, buckets_.data(), detail::divided_bucket{0, stripes, 0});
    detail::pass_counters input{0, n > 0 ? 1u : 0u, stripes * detail::digits};
    for (unsigned pass = 0; pass < detail::passes && input.buckets > 0; ++pass) {
      detail::lists_ref const from = from_.ref(counters_.data());
      if (pass + 1 == detail::passes) {
        add_up(from, input, pool, results);
        break;
      }
      detail::lists_ref const lists = to_.ref(counters_.data());
      space_.fill(counters_.data(), 0, counters_.bytes());
      exec::for_each(space_, input.lists, detail::clear_lists{lists, capacity_});
      detail::list_writer<ref> const writer{pool.ref(), lists, page_bytes_, capacity_, lost_.data()};
      if (pass == 0)
        exec::for_each_tile<32>(space_, (n + per_tile - 1) / per_tile,
                                detail::divide_input<ref>{tuples, n, writer, stripes});
      else
        exec::for_each_tile<32>(space_, input.pages, detail::divide_pages<ref>{from, buckets_.data(), writer, pass});
      exec::for_each_tile<32>(
          space_, tiles_,
          detail::finish_buckets<ref>{pool.ref(), results.ref(), lists, buckets_.data(), input.buckets * detail::digits,
                                      static_cast<std::uint32_t>(tiles_), pass, capacity_, next_buckets_.data(),
                                      groups_.data(), slots_.data()});
      input = exec::read(space_, counters_.data());
      std::swap(from_, to_);
      std::swap(buckets_, next_buckets_);
    }
    return exec::read(space_, lost_.data());
  }

 private:
  static constexpr std::size_t most_tiles = std::size_t{1} << 16;  // more would not have work in most passes

  // The last pass.
  template <class Allocator>
  void add_up(detail::lists_ref const& from, detail::pass_counters const& input, Allocator& pool,
              result_lists<group, Space>& results) {
    using ref = typename Allocator::ref_type;
    std::size_t const count = std::size_t{input.buckets} * detail::digits;
    sums_.reserve(count);
    space_.fill(sums_.data(), 0, count * sizeof(group));
    exec::for_each_tile<32>(space_, input.pages, detail::add_pages<ref>{from, capacity_, pool.ref(), sums_.data()});
    exec::for_each_tile<32>(
        space_, tiles_,
        detail::write_groups<ref>{pool.ref(), results.ref(), buckets_.data(), sums_.data(), count, tiles_});
  }

  static std::uint32_t tuples_per_page(std::size_t page_bytes) {
    if (page_bytes < sizeof(detail::tuple_page) + sizeof(tuple) || page_bytes > std::size_t{1} << 20)
      throw wyrm::error(wyrm::error_code::bad_argument, "pages of " + std::to_string(page_bytes) +
                                                            " bytes: expected at most 1 MiB, and room for a tuple");
    return static_cast<std::uint32_t>((page_bytes - sizeof(detail::tuple_page)) / sizeof(tuple));
  }
  // Bounds of what a pass leaves to the next: buckets that are too large, or have too many stripes; their lists; pages,
  // of which all but the last of each list are full.
  static std::size_t most_buckets(std::size_t tuples) {
    std::size_t const striped = tuples / (detail::few_stripes * std::size_t{detail::tuples_per_stripe});
    return tuples / detail::small_bucket + (striped + 1) * detail::digits;
  }
  static std::size_t most_lists(std::size_t tuples) {
    return (most_buckets(tuples) + tuples / detail::tuples_per_stripe) * detail::digits;
  }

  /// The lists that a pass writes, and the next one reads.
  struct lists {
    exec::buffer<std::uint64_t, Space> ends;
    exec::buffer<std::uint32_t, Space> divided_as;
    exec::buffer<detail::logged_page, Space> log;
    lists(Space const& space, std::size_t tuples, std::uint32_t capacity)
        : ends(space, most_lists(tuples)),
          divided_as(space, most_lists(tuples)),
          log(space, most_lists(tuples) + tuples / capacity) {}
    [[nodiscard]] detail::lists_ref ref(detail::pass_counters* counters) const {
      return {ends.data(), divided_as.data(), log.data(), counters};
    }
  };

  Space space_;
  std::uint32_t page_bytes_;
  std::uint32_t capacity_;
  std::size_t tiles_;
  lists from_;
  lists to_;
  exec::buffer<detail::divided_bucket, Space> buckets_;  // that the next pass divides
  exec::buffer<detail::divided_bucket, Space> next_buckets_;
  exec::buffer<detail::pass_counters, Space> counters_;
  exec::buffer<std::uint64_t, Space> lost_;
  exec::buffer<group, Space> groups_;
  exec::buffer<std::uint32_t, Space> slots_;
  exec::buffer<group, Space> sums_;
};

}  // namespace relational
