// SPDX-License-Identifier: Apache-2.0
// An allocator of the user, which a graph can use (own_allocator.cpp): one free list for each size class. It models
// the concept device_allocator of wyrm/alloc/allocator.hpp, on CUDA devices and on CPUs.
//
// The pool is divided into units of 64 bytes. A block has 2^c units, where c is its size class. A request takes the
// first blocks of the free list of its class. If the list is empty, new blocks come from the end of the used part of
// the pool. Blocks are never split or merged, so a freed block serves only requests of its class, until reset().
// compact() does nothing.
//
// A free list is a stack (Treiber, 1986). The head has the number of the first unit of the first block, and a tag.
// Every change increments the tag, so a compare-and-swap of the head fails if the list has changed since the head was
// read, even if the same block is first again. The link of a free block is not in the block but in a table, because a
// thread may read the link of a block that another thread has just removed and writes to. The table has one word of 4
// bytes for each unit, which takes 1/16 of the pool:
//
//   0                       no block begins here; or the block is free, and the last one of its list
//   up to first_live - 1    the block is free; the unit of the next free block, plus 1
//   from first_live on      the block is in use; its class, and the distance from its first unit (see `live_word`)
//
// Progress: no thread waits for another one. If a compare-and-swap fails, another thread has allocated or freed blocks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cuda/std/bit>
#include <string>
#include <vector>
#include <wyrm/alloc/allocator.hpp>
#include <wyrm/alloc/ledger.hpp>
#include <wyrm/alloc/shared_view.hpp>
#include <wyrm/exec/atomic.hpp>
#include <wyrm/exec/memory.hpp>
#include <wyrm/exec/tile.hpp>

namespace free_lists {

inline constexpr std::size_t unit_bytes = 64;
inline constexpr unsigned classes = 32;
inline constexpr std::uint32_t first_live = 0xfffff800;                     // of the words of the table
inline constexpr std::size_t largest_pool = unit_bytes * (first_live - 1);  // 256 GiB: links have 32 bits

/// One size class, in cache lines of its own, because different threads change different classes.
struct alignas(128) size_class {
  std::uint64_t head;   // lower half: the unit of the first free block plus 1, 0 for an empty list; upper half: the tag
  std::uint64_t made;   // blocks that were taken from the unused part of the pool
  std::uint64_t taken;  // blocks that were handed to requests
  std::uint64_t freed;  // blocks that were freed, each time
};
/// The state in memory of the device.
struct pool_state {
  size_class of[classes];
  std::uint64_t used;  // units that belong to blocks: the first ones of the pool
};

/// The state for kernels, by value. Thread-safe.
class pool_view {
 public:
  pool_view(std::byte* base, std::size_t bytes, std::uint32_t* table, pool_state* state,
            wyrm::alloc::ledger_ref const& ledger)
      : base_(base),
        units_(static_cast<std::uint32_t>(bytes / unit_bytes)),
        table_(table),
        state_(state),
        ledger_(ledger) {}

  /// Collective. The lanes that request the same class are served together by one of them, their leader.
  template <class Tile>
  [[nodiscard]] WYRM_HD void* allocate(Tile const& t, std::size_t bytes,
                                       std::size_t align = wyrm::alloc::alignment) const {
    std::size_t const wanted = size_of(ledger_.with_guard(bytes), align);
    unsigned const c = class_of(wanted);
    std::byte* p = nullptr;
    for (std::uint32_t left = t.ballot(c < classes); left != 0;) {
      unsigned const leader = wyrm::exec::first_lane(left);
      std::uint32_t const group = t.ballot(c == t.shfl(c, leader));
      std::uint32_t const n = static_cast<std::uint32_t>(cuda::std::popcount(group));
      blocks got{};
      if (t.rank() == leader) got = take(c, n);
      t.sync();  // what the leader has read of the free list happened before the accesses of the other lanes
      got = t.shfl(got, leader);
      unsigned const rank = wyrm::exec::rank_in(t, group);
      bool const is_served = (group >> t.rank() & 1) != 0 && rank < got.listed + got.fresh;
      std::uint32_t unit = 0;
      if (is_served)
        unit = rank < got.listed ? follow(got.first_listed, rank) : got.first_fresh + ((rank - got.listed) << c);
      t.sync();  // from here on lanes replace the links that the others have followed
      if (is_served) p = begin_block(unit, c, align);
      left &= ~group;
    }
    if (p == nullptr && wanted > 0) ledger_.count_failures(1);
    ledger_.record_allocation(p, bytes);
    return p;
  }

  /// Collective. The blocks of the same class are chained, and prepended to the list by one compare-and-swap.
  template <class Tile>
  WYRM_HD void deallocate(Tile const& t, void* p) const {
    std::uint32_t unit = 0;
    unsigned const c = end_block(static_cast<std::byte*>(p), unit);
    for (std::uint32_t left = t.ballot(c < classes); left != 0;) {
      std::uint32_t const group = t.ballot(c == t.shfl(c, wyrm::exec::first_lane(left)));
      std::uint32_t const higher = group & ~((2u << t.rank()) - 1);
      std::uint32_t const next = t.shfl(unit, higher != 0 ? wyrm::exec::first_lane(higher) : t.rank());
      std::uint32_t const first = t.shfl(unit, wyrm::exec::first_lane(group));
      bool const is_mine = (group >> t.rank() & 1) != 0;
      if (is_mine && higher != 0) word(unit).store(next + 1, wyrm::exec::relaxed);
      t.sync();  // the links, and the user's accesses to the blocks, happened before the compare-and-swap
      if (is_mine && higher == 0) push(c, first, unit, static_cast<std::uint32_t>(cuda::std::popcount(group)));
      left &= ~group;
    }
  }

  [[nodiscard]] WYRM_HD void* malloc(std::size_t bytes, std::size_t align = wyrm::alloc::alignment) const {
    return wyrm::alloc::malloc_together(*this, state_, bytes, align);
  }
  WYRM_HD void free(void* p) const { wyrm::alloc::free_together(*this, state_, p); }

  /// The usable bytes of the live block at p; 0 for an address outside the pool.
  [[nodiscard]] WYRM_HD std::size_t block_bytes(void const* p) const {
    std::uint32_t const at = unit_at(static_cast<std::byte const*>(p));
    std::uint32_t const w = at < units_ ? word(at).load(wyrm::exec::relaxed) : 0;
    return w < first_live ? 0 : ledger_.usable(p, (unit_bytes << class_in(w)) - distance_in(w) * unit_bytes);
  }

  // The words of blocks in use. A block with an alignment of more than a unit may begin behind its first unit.
  [[nodiscard]] WYRM_HD static std::uint32_t live_word(unsigned c, std::uint32_t distance) {
    return first_live + (c << 6 | distance);
  }
  [[nodiscard]] WYRM_HD static unsigned class_in(std::uint32_t live) { return (live - first_live) >> 6; }
  [[nodiscard]] WYRM_HD static std::uint32_t distance_in(std::uint32_t live) { return (live - first_live) & 63; }

 private:
  /// Blocks of one class: `listed` from its free list, which are still linked, and `fresh` adjacent ones.
  struct blocks {
    std::uint32_t first_listed;
    std::uint32_t listed;
    std::uint32_t first_fresh;
    std::uint32_t fresh;
  };

  [[nodiscard]] WYRM_HD static std::size_t size_of(std::size_t bytes, std::size_t align) {
    bool const fits = wyrm::alloc::is_alignment(align) && align <= unit_bytes;
    return fits ? bytes : wyrm::alloc::padded_request(bytes, align);
  }
  // `classes` for no request, and for one that the pool cannot serve.
  [[nodiscard]] WYRM_HD unsigned class_of(std::size_t bytes) const {
    if (bytes == 0 || bytes > units_ * unit_bytes) return classes;
    return static_cast<unsigned>(cuda::std::bit_width((bytes - 1) / unit_bytes));
  }

  // Up to n blocks: first from the free list, then from the unused part of the pool.
  [[nodiscard]] WYRM_HD blocks take(unsigned c, std::uint32_t n) const {
    blocks got{};
    pop(c, n, got);
    carve(c, n - got.listed, got);
    if (got.listed + got.fresh > 0) add(state_->of[c].taken, got.listed + got.fresh);
    return got;
  }
  // Acquires what push() has released: the links, and the accesses of the previous owners of the blocks.
  WYRM_HD void pop(unsigned c, std::uint32_t n, blocks& got) const {
    wyrm::exec::atomic_ref<std::uint64_t> head(state_->of[c].head);
    std::uint64_t before = head.load(wyrm::exec::acquire);
    for (;;) {
      auto const first = static_cast<std::uint32_t>(before);
      std::uint32_t rest = first;
      std::uint32_t count = 0;
      for (; count < n && rest != 0 && rest < first_live; ++count) rest = word(rest - 1).load(wyrm::exec::relaxed);
      if (count == 0) return;
      if (rest >= first_live) {  // a block of the list has been allocated meanwhile
        before = head.load(wyrm::exec::acquire);
      } else if (head.compare_exchange_weak(before, changed(before, rest), wyrm::exec::acquire, wyrm::exec::acquire)) {
        got.first_listed = first - 1;
        got.listed = count;
        return;
      }
    }
  }
  WYRM_HD void push(unsigned c, std::uint32_t first, std::uint32_t last, std::uint32_t n) const {
    add(state_->of[c].freed, n);
    wyrm::exec::atomic_ref<std::uint64_t> head(state_->of[c].head);
    std::uint64_t before = head.load(wyrm::exec::relaxed);
    do word(last).store(static_cast<std::uint32_t>(before), wyrm::exec::relaxed);
    while (!head.compare_exchange_weak(before, changed(before, first + 1), wyrm::exec::release, wyrm::exec::relaxed));
  }
  [[nodiscard]] WYRM_HD static std::uint64_t changed(std::uint64_t head, std::uint32_t first) {
    return ((head >> 32) + 1) << 32 | first;
  }
  WYRM_HD void carve(unsigned c, std::uint32_t n, blocks& got) const {
    wyrm::exec::atomic_ref<std::uint64_t> used(state_->used);
    std::uint64_t before = used.load(wyrm::exec::relaxed);
    std::uint64_t count = 0;
    do {
      std::uint64_t const fit = (units_ - before) >> c;
      count = fit < n ? fit : n;
      if (count == 0) return;
    } while (!used.compare_exchange_weak(before, before + (count << c), wyrm::exec::relaxed, wyrm::exec::relaxed));
    got.first_fresh = static_cast<std::uint32_t>(before);
    got.fresh = static_cast<std::uint32_t>(count);
    add(state_->of[c].made, count);
  }
  [[nodiscard]] WYRM_HD std::uint32_t follow(std::uint32_t unit, unsigned links) const {
    for (; links > 0; --links) unit = word(unit).load(wyrm::exec::relaxed) - 1;
    return unit;
  }

  [[nodiscard]] WYRM_HD std::byte* begin_block(std::uint32_t unit, unsigned c, std::size_t align) const {
    std::byte* const p = wyrm::alloc::align_up(base_ + unit * unit_bytes, align);
    std::uint32_t const at = unit_at(p);
    if (at != unit) word(unit).store(0, wyrm::exec::relaxed);
    word(at).store(live_word(c, at - unit), wyrm::exec::relaxed);
    return p;
  }
  // The class and the first unit of the block at p, which is not in use from then on; `classes` for nullptr, and for an
  // address at which no block in use begins. Of several frees of the same block one changes the word.
  [[nodiscard]] WYRM_HD unsigned end_block(std::byte* p, std::uint32_t& unit) const {
    if (p == nullptr) return classes;
    std::uint32_t const at = unit_at(p);
    if (at >= units_) {
      ledger_.count_bad_free(p);
      return classes;
    }
    if (!ledger_.record_free(p)) return classes;  // in checked mode; it has counted the error
    std::uint32_t live = word(at).load(wyrm::exec::relaxed);
    if (live < first_live || !word(at).compare_exchange_strong(live, 0, wyrm::exec::relaxed, wyrm::exec::relaxed)) {
      ledger_.count_bad_free(p);
      return classes;
    }
    unit = at - distance_in(live);
    return class_in(live);
  }
  // units_ for an address at which no unit of the pool begins.
  [[nodiscard]] WYRM_HD std::uint32_t unit_at(std::byte const* p) const {
    if (p < base_ || p >= base_ + units_ * unit_bytes) return units_;
    auto const offset = static_cast<std::size_t>(p - base_);
    return offset % unit_bytes != 0 ? units_ : static_cast<std::uint32_t>(offset / unit_bytes);
  }

  [[nodiscard]] WYRM_HD wyrm::exec::atomic_ref<std::uint32_t> word(std::uint32_t unit) const {
    return wyrm::exec::atomic_ref<std::uint32_t>(table_[unit]);
  }
  WYRM_HD static void add(std::uint64_t& counter, std::uint64_t n) {
    wyrm::exec::atomic_ref<std::uint64_t>(counter).fetch_add(n, wyrm::exec::relaxed);
  }

  std::byte* base_;
  std::uint32_t units_;
  std::uint32_t* table_;
  pool_state* state_;
  wyrm::alloc::ledger_ref ledger_;
};

/// The owner of the pool, its table and its state. Its functions run on the host while no kernel uses the pool.
template <class Space>
class pool {
 public:
  using space_type = Space;
  using view_type = pool_view;
  using ref_type = wyrm::alloc::pool_ref<view_type>;  // a pointer to a view in memory of the device
  static constexpr char const* name = "free-lists";
  static constexpr wyrm::alloc::traits family{.powers_of_two = true, .unit_bytes = free_lists::unit_bytes};

  /// Throws error(out_of_memory).
  pool(Space const& space, wyrm::alloc::options const& o)
      : space_(space),
        memory_(wyrm::alloc::reserve_pool(space, o)),
        table_(space, std::min(memory_.capacity(), largest_pool) / unit_bytes * sizeof(std::uint32_t)),
        state_(space, 1),
        ledger_(space, memory_.data(), memory_.capacity(), o),
        shared_(space) {
    enlarge(std::max<std::size_t>(o.pool_bytes, 1));
    reset();
    shared_.write(view());
  }

  [[nodiscard]] ref_type ref() const { return shared_.ref(); }
  [[nodiscard]] view_type view() const {
    return {memory_.data(), memory_.committed(), words(), state_.data(), ledger_.ref()};
  }
  void reset() {
    space_.fill(state_.data(), 0, state_.bytes());
    space_.fill(table_.data(), 0, table_.committed());
    ledger_.reset();
  }
  void grow(std::size_t bytes) {
    std::size_t const wanted = wyrm::alloc::grown_size(memory_.committed(), bytes);
    shared_.rewrite_after([&] { enlarge(wanted); }, [&] { return view(); });
  }
  void compact() {}

  [[nodiscard]] wyrm::alloc::statistics stats() const {
    pool_state const state = wyrm::exec::read(space_, state_.data());
    wyrm::alloc::statistics s;
    ledger_.report(s);  // failures and errors
    s.peak = state.used * unit_bytes;
    s.committed = memory_.committed();
    s.reserved = std::min(memory_.capacity(), largest_pool);
    s.overhead = table_.committed() + state_.bytes() + ledger_.bytes() + shared_.bytes();
    for (unsigned c = 0; c < classes; ++c) {
      size_class const& k = state.of[c];
      std::size_t const bytes = unit_bytes << c;
      s.granted += (k.taken - k.freed) * bytes;
      if (k.made > 0) s.classes.push_back({bytes, k.made, k.made - (k.taken - k.freed)});
    }
    return s;
  }
  /// The bytes of all blocks that requests have received since the last reset(), and of these the bytes of blocks that
  /// had been freed before.
  struct reuse {
    std::size_t granted = 0;
    std::size_t reused = 0;
  };
  [[nodiscard]] reuse reuse_of_blocks() const {
    pool_state const state = wyrm::exec::read(space_, state_.data());
    reuse sum;
    for (unsigned c = 0; c < classes; ++c) {
      sum.granted += state.of[c].taken * (unit_bytes << c);
      sum.reused += (state.of[c].taken - state.of[c].made) * (unit_bytes << c);
    }
    return sum;
  }

  /// Throws error(corrupt) unless each used unit belongs to one block that is either free or in use. O(pool).
  void check() const {
    using wyrm::alloc::ensure;
    pool_state const state = wyrm::exec::read(space_, state_.data());
    std::vector<std::uint32_t> const table = wyrm::exec::copy_out(space_, words(), state.used);
    std::vector<unsigned> begins(state.used, classes);  // for each unit: the class of the block that begins there
    std::vector<std::uint64_t> live(classes);
    for (std::size_t u = 0; u < table.size(); ++u) {
      if (table[u] < first_live) continue;
      unsigned const c = view_type::class_in(table[u]);
      std::uint32_t const distance = view_type::distance_in(table[u]);
      ensure(distance <= u && begins[u - distance] == classes, name, "two blocks begin at the same place");
      begins[u - distance] = c;
      ++live[c];
    }
    for (unsigned c = 0; c < classes; ++c) {
      size_class const& k = state.of[c];
      std::uint64_t free = 0;
      for (auto next = static_cast<std::uint32_t>(k.head); next != 0; next = table[next - 1], ++free) {
        ensure(next <= table.size() && begins[next - 1] == classes, name, "a free block is in use, or in two lists");
        begins[next - 1] = c;
      }
      ensure(live[c] == k.taken - k.freed && live[c] + free == k.made, name,
             "blocks of " + std::to_string(unit_bytes << c) + " bytes are lost");
    }
    std::size_t u = 0;
    while (u < begins.size() && begins[u] < classes) {
      std::size_t const end = u + (std::size_t{1} << begins[u]);
      ensure(end <= begins.size() && std::all_of(begins.begin() + static_cast<std::ptrdiff_t>(u) + 1,
                                                 begins.begin() + static_cast<std::ptrdiff_t>(end),
                                                 [](unsigned c) { return c == classes; }),
             name, "two blocks overlap");
      u = end;
    }
    ensure(u == begins.size(), name, "a part of the pool belongs to no block");
    ledger_.check_guards(name);
  }

 private:
  // Everything that can fail happens before the pool changes. New words of the table are 0.
  void enlarge(std::size_t bytes) {
    std::size_t const after = memory_.committed_after(bytes);
    if (after > largest_pool)
      throw wyrm::error(wyrm::error_code::out_of_memory, "free-lists: a pool may have at most 256 GiB");
    ledger_.cover(after);
    std::size_t const before = table_.committed();
    table_.commit(after / unit_bytes * sizeof(std::uint32_t));
    space_.fill(table_.data() + before, 0, table_.committed() - before);
    memory_.commit(after);
  }
  [[nodiscard]] std::uint32_t* words() const { return reinterpret_cast<std::uint32_t*>(table_.data()); }

  Space space_;
  wyrm::exec::reservation<Space> memory_;
  wyrm::exec::reservation<Space> table_;
  wyrm::exec::buffer<pool_state, Space> state_;
  wyrm::alloc::ledger<Space> ledger_;
  wyrm::alloc::shared_view<view_type, Space> shared_;
};

}  // namespace free_lists
