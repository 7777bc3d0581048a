// SPDX-License-Identifier: Apache-2.0
// Where the chunks of Ouroboros come from, and where they go (ICS 2020, sections 3.1 and 3.2): a reuse queue of chunks
// that came back, then fresh ones from alloc/extent. A table says what each chunk is used for.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../extent/extent.hpp"
#include "../pool_table.hpp"
#include "../size_classes.hpp"
#include "index_ring.hpp"
#include "queue_ends.hpp"

namespace wyrm::alloc {

// What a chunk is used for: the class of its pages, or one of these.
/// In the pool, in the reuse queue, or part of a large request.
inline constexpr std::uint32_t chunk_unused = 0xffffffff;
/// Holds the entries of a virtualized queue.
inline constexpr std::uint32_t chunk_of_queue = 0xfffffffe;

namespace detail {
/// A chunk that is to become a node of a virtualized queue, and has its number there, but is not in it yet.
struct late_node {
  std::uint32_t number = 0;
  std::uint32_t chunk = 0;
  bool is_there = false;
};
}  // namespace detail

class chunk_pool_ref {
 public:
  chunk_pool_ref(extent_ref const& memory, queue_ends* ends, index_ring const& reusable, std::uint32_t* uses)
      : memory_(memory), ends_(ends), reusable_(reusable), uses_(uses) {}

  [[nodiscard]] WYRM_HD extent_ref const& memory() const { return memory_; }
  [[nodiscard]] WYRM_HD std::byte* address(std::uint64_t chunk) const { return memory_.base() + chunk * chunk_bytes; }

  /// One thread takes up to `count` neighbouring chunks; none if at some moment meanwhile there was none, or if none
  /// are asked for.
  [[nodiscard]] WYRM_HD chunk_range take(std::uint32_t count) const {
    for (unsigned attempt = 0; count > 0; ++attempt) {
      if (ends_->take_one()) return {static_cast<std::uint32_t>(reusable_.take(ends_->claim_front(1))), 1};
      chunk_range const range = memory_.take_chunks(count);
      if (range.count > 0 || ends_->is_empty()) return range;
      exec::pause(attempt);
    }
    return {0, 0};
  }
  /// The same without waiting: none also if there are chunks to be used again, or the window is used up.
  [[nodiscard]] WYRM_HD chunk_range try_take(std::uint32_t count) const { return try_take(count, look_at(true)); }
  /// The same in two steps; the first may be left out, and then there are none.
  struct look {
    std::int32_t reusable;
    bool used_up;
    [[nodiscard]] WYRM_HD bool has_some() const { return reusable <= 0 && !used_up; }
  };
  [[nodiscard]] WYRM_HD look look_at(bool wanted) const {
    if (!wanted) return {1, true};
    return {ends_->number(), memory_.seems_used_up()};
  }
  [[nodiscard]] WYRM_HD chunk_range try_take(std::uint32_t count, look const& seen) const {
    return count > 0 && seen.has_some() ? memory_.cut(count) : chunk_range{0, 0};
  }
  /// Runs of `each` chunks.
  [[nodiscard]] WYRM_HD chunk_range take_runs(std::uint32_t count, std::uint32_t each) const {
    if (each == 1) return take(count);
    for (;;) {
      chunk_range const range = memory_.take_runs(count, each);
      if (range.count > 0 || count == 0 || !gather()) return range;
    }
  }
  /// A request that no class serves.
  [[nodiscard]] WYRM_HD void* allocate(std::size_t bytes) const {
    for (;;) {
      void* const p = memory_.allocate(bytes);
      if (p != nullptr || !gather()) return p;
    }
  }
  /// Single chunks to be used again, as such or as nodes of a queue.
  WYRM_HD void give(std::uint32_t const* chunks, std::uint32_t count) const {
    for (std::uint32_t i = 0; i < count; ++i) mark(chunks[i], chunk_unused);
    std::uint32_t const first = ends_->claim_back(count);
    for (std::uint32_t i = 0; i < count; ++i) reusable_.put(first + i, chunks[i]);
  }
  /// A run of `each` chunks.
  WYRM_HD void give_run(std::uint32_t first, std::uint32_t each) const {
    give_runs(exec::scalar_tile{}, first, each, true);
  }
  /// The same for each lane that has one; collective.
  template <class Tile>
  WYRM_HD void give_runs(Tile const& t, std::uint32_t first, std::uint32_t each, bool has) const {
    if (has && each == 1) give(&first, 1);
    if (has && each > 1) mark(first, chunk_unused);
    if (each > 1) memory_.give_all(t, t.ballot(has), first, each);
    t.sync();
  }
  /// A hint.
  [[nodiscard]] WYRM_HD bool looks_used_up() const { return memory_.looks_used_up() && ends_->number() <= 0; }

  WYRM_HD void mark(std::uint32_t chunk, std::uint32_t use) const {
    exec::atomic_ref<std::uint32_t>(uses_[chunk]).store(use, exec::relaxed);
  }
  /// The same for n neighbours, while nobody else uses the pool. Collective; all lanes pass the same.
  template <class Tile>
  WYRM_HD void mark_all(Tile const& t, std::uint32_t first, std::uint32_t n, std::uint32_t use) const {
    struct alignas(16) four_uses {
      std::uint32_t use[4];
    };
    std::uint32_t const end = first + n;
    std::uint32_t const begin_fours = (first + 3) / 4 < end / 4 ? (first + 3) / 4 : end / 4;
    std::uint32_t const end_fours = end / 4;
    for (std::uint32_t k = first + t.rank(); k < end && k < begin_fours * 4; k += Tile::size()) uses_[k] = use;
    for (std::uint32_t k = begin_fours + t.rank(); k < end_fours; k += Tile::size())
      reinterpret_cast<four_uses*>(uses_)[k] = {{use, use, use, use}};
    std::uint32_t const tail = end_fours * 4 > first ? end_fours * 4 : first;
    for (std::uint32_t k = tail + t.rank(); k < end; k += Tile::size()) uses_[k] = use;
  }
  [[nodiscard]] WYRM_HD std::uint32_t use(std::uint64_t chunk) const {
    return exec::atomic_ref<std::uint32_t>(uses_[chunk]).load(exec::relaxed);
  }

 private:
  // Single chunks go back to where neighbours become runs. False if there are none.
  [[nodiscard]] WYRM_HD bool gather() const {
    bool some = false;
    while (ends_->number() > 0) {
      if (!ends_->take_one()) continue;
      memory_.give(static_cast<std::uint32_t>(reusable_.take(ends_->claim_front(1))), 1);
      some = true;
    }
    return some;
  }

  extent_ref memory_;
  queue_ends* ends_;
  index_ring reusable_;
  std::uint32_t* uses_;
};

namespace detail {
/// Lays the entries of a ring out anew in a longer one, from its front.
template <class T>
struct move_entry {
  T const* from;
  std::uint32_t size;
  T* to;
  std::uint32_t front;
  WYRM_HD void operator()(std::size_t i) const { to[i] = from[(front + static_cast<std::uint32_t>(i)) & (size - 1)]; }
};
}  // namespace detail

/// Owns the slots of a ring, and makes it longer.
template <class Space>
class ring_memory {
 public:
  explicit ring_memory(Space const& space) : space_(space), slots_(space) {}

  /// At least so many slots, all empty, after entries between these ends. O(entries) if there were as many slots.
  void reset(std::size_t slots, bool wide, queue_ends const& ends) {
    wide_ = wide;
    slots = std::bit_ceil(slots);
    if (slots > size_) {
      slots_.reserve(slots * index_slots::entry_bytes(wide) / sizeof(std::uint32_t));
      size_ = static_cast<std::uint32_t>(slots);
      clear(0, size_);
    } else {
      std::uint32_t const first = ends.first() & (size_ - 1);
      std::uint32_t const rest = std::min(ends.size(), size_ - first);  // up to the end of the ring
      clear(first, rest);
      clear(0, ends.size() - rest);
    }
  }
  /// A longer one, to become this one's by move_to; may throw.
  [[nodiscard]] ring_memory longer(std::size_t slots) const {
    ring_memory other(space_);
    other.reset(std::max<std::size_t>(slots, size_), wide_, {});
    return other;
  }
  /// The entries between the ends go into `other`, which is as long or longer, and becomes this one.
  void move_to(ring_memory&& other, queue_ends& ends) {
    if (other.size_ > size_) {
      if (wide_)
        move<std::uint64_t>(other, ends);
      else
        move<std::uint32_t>(other, ends);
      ends.restart(ends.size());
      std::swap(slots_, other.slots_);
      size_ = other.size_;
    }
  }

  [[nodiscard]] index_ring ring() const { return {slots_.data(), size_, wide_}; }
  [[nodiscard]] std::uint32_t size() const { return size_; }
  [[nodiscard]] std::size_t bytes() const { return size_ * index_slots::entry_bytes(wide_); }

  /// The indices between the ends, from the front; throws error(corrupt) if there are others, or one is missing.
  [[nodiscard]] std::vector<std::uint64_t> entries(queue_ends const& ends, char const* who,
                                                   std::string const& what) const {
    return wide_ ? entries<std::uint64_t>(ends, who, what) : entries<std::uint32_t>(ends, who, what);
  }

 private:
  void clear(std::uint32_t first, std::uint32_t count) {
    std::size_t const each = index_slots::entry_bytes(wide_);
    if (count > 0) space_.fill(reinterpret_cast<std::byte*>(slots_.data()) + first * each, 0, count * each);
  }
  template <class T>
  void move(ring_memory& other, queue_ends const& ends) const {
    exec::for_each(space_, ends.size(),
                   detail::move_entry<T>{reinterpret_cast<T const*>(slots_.data()), size_,
                                         reinterpret_cast<T*>(other.slots_.data()), ends.first()});
  }
  template <class T>
  [[nodiscard]] std::vector<std::uint64_t> entries(queue_ends const& ends, char const* who,
                                                   std::string const& what) const {
    std::vector<T> const slots = exec::copy_out(space_, reinterpret_cast<T*>(slots_.data()), size_);
    auto const full = static_cast<std::size_t>(std::count_if(slots.begin(), slots.end(), [](T e) { return e != 0; }));
    ensure(full == ends.size(), who,
           what + std::to_string(full) + " full slots for " + std::to_string(ends.size()) + " entries");
    std::vector<std::uint64_t> all;
    for (std::uint32_t i = 0; i < ends.size(); ++i) {
      T const entry = slots[(ends.first() + i) & (size_ - 1)];
      ensure(entry != 0, who, what + "an entry is missing");
      all.push_back(std::uint64_t{entry} - 1);
    }
    return all;
  }

  Space space_;
  exec::buffer<std::uint32_t, Space> slots_;
  std::uint32_t size_ = 0;
  bool wide_ = false;
};

/// Owns the chunks.
template <class Space>
class chunk_pool {
 public:
  chunk_pool(Space const& space, options const& o)
      : space_(space),
        memory_(space, o),
        ends_(space, 1),
        reusable_(space),
        uses_(space) {
    start(0);
    restart({});
  }

  [[nodiscard]] chunk_pool_ref ref() const { return {memory_.ref(), ends_.data(), reusable_.ring(), uses_.data()}; }
  [[nodiscard]] extent<Space> const& memory() const { return memory_; }
  [[nodiscard]] std::uint32_t chunks() const { return memory_.chunks(); }
  [[nodiscard]] std::size_t overhead() const {
    return memory_.overhead() + ends_.bytes() + reusable_.bytes() + uses_.bytes();
  }

  void reset() {
    fill(0, memory_.touched());
    memory_.reset();
    restart(exec::read(space_, ends_.data()));
  }
  /// Strong guarantee.
  void grow(std::size_t bytes) {
    std::uint32_t const before = chunks();
    std::uint32_t const after = memory_.chunks_after(bytes);
    ring_memory<Space> longer = reusable_.longer(after);
    uses_.cover(after);
    memory_.grow(bytes);
    start(before);
    queue_ends ends = exec::read(space_, ends_.data());
    reusable_.move_to(std::move(longer), ends);
    exec::write(space_, ends_.data(), ends);
  }

  /// What each chunk is used for.
  [[nodiscard]] std::vector<std::uint32_t> uses() const { return exec::copy_out(space_, uses_.data(), chunks()); }

  /// Each chunk is in exactly one place: used, in the reuse queue, or the extent's.
  void check(char const* who, std::vector<std::uint32_t> const& uses) const {
    std::vector<bool> taken(uses.size());
    for (std::size_t chunk = 0; chunk < uses.size(); ++chunk) {
      if (uses[chunk] == chunk_unused) continue;
      std::size_t const end = chunk + (uses[chunk] < detail::page_classes ? detail::run_chunks(uses[chunk]) : 1);
      ensure(end <= uses.size(), who, "a page goes beyond the pool");
      for (std::size_t part = chunk; part < end; ++part) {
        ensure(!taken[part], who, "chunk " + std::to_string(part) + " belongs to two pages");
        taken[part] = true;
      }
    }
    queue_ends const ends = exec::read(space_, ends_.data());
    for (std::uint64_t const chunk : reusable_.entries(ends, who, "chunks for reuse: ")) {
      ensure(chunk < uses.size() && !taken[chunk], who, "chunk " + std::to_string(chunk) + " is for reuse and in use");
      taken[chunk] = true;
    }
    memory_.check(taken);
  }

 private:
  // Chunks that are new, from here on.
  void start(std::uint32_t first) {
    uses_.cover(chunks());
    fill(first, chunks() - first);
  }
  void fill(std::uint32_t first, std::uint32_t count) {
    static_assert(chunk_unused == 0xffffffff);
    space_.fill(uses_.data() + first, 0xff, count * sizeof(std::uint32_t));
  }
  void restart(queue_ends const& before) {
    reusable_.reset(chunks(), false, before);
    exec::write(space_, ends_.data(), queue_ends{});
  }

  Space space_;
  extent<Space> memory_;
  exec::buffer<queue_ends, Space> ends_;
  ring_memory<Space> reusable_;
  pool_table<std::uint32_t, Space> uses_;
};

}  // namespace wyrm::alloc
