// SPDX-License-Identifier: Apache-2.0
// The pool itself: memory in units of 64 KiB under an OR-tree. Families take their chunks from it, by one atomic add,
// and requests beyond a family's largest class are served here as runs of units.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../../exec/atomic.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../../exec/tile.hpp"
#include "../allocator.hpp"
#include "../sequence_lock.hpp"
#include "or_tree.hpp"

namespace wyrm::alloc {

inline constexpr std::size_t unit_bytes = std::size_t{64} << 10;
inline constexpr std::size_t chunk_bytes = std::size_t{8} << 10;
inline constexpr std::uint32_t unit_chunks = unit_bytes / chunk_bytes;

struct chunk_range {
  std::uint32_t first;
  std::uint32_t count;
};

/// What changes on the device.
struct extent_state {
  // Chunks are handed out of a window of units that the tree no longer holds: the next chunk in the upper half, the end
  // in the lower, both in chunks. When used up, "next" may run past the end, by at most what is asked at one time.
  std::uint64_t window;
  std::uint64_t lock;  // guards the tree, the lengths, and every change of the window but taking chunks
  std::uint32_t used_units;
  std::uint32_t peak_units;  // most units in extents or in windows so far
};

class extent_ref {
 public:
  extent_ref(std::byte* base, std::uint32_t units, extent_state* state, or_tree const& tree, std::uint32_t* lengths)
      : base_(base), units_(units), state_(state), tree_(tree), lengths_(lengths) {}

  [[nodiscard]] WYRM_HD std::byte* base() const { return base_; }
  [[nodiscard]] WYRM_HD bool contains(void const* p) const {
    return p >= base_ && p < base_ + std::size_t{units_} * unit_bytes;
  }

  /// One thread takes up to `count` neighbouring chunks; fewer, also 0, near the end of memory. Ask again until 0:
  /// then there was a moment during the call when no chunk was left.
  /// One atomic addition, unless the window is used up: then the next free run becomes the window, under the lock.
  [[nodiscard]] WYRM_HD chunk_range take_chunks(std::uint32_t count) const {
    exec::atomic_ref<std::uint64_t> window(state_->window);
    for (;;) {
      // Looking first keeps "next" from running away while everybody finds the pool used up.
      if (left(window.load(exec::acquire)) > 0) {
        std::uint64_t const before = window.fetch_add(std::uint64_t{count} << 32, exec::acq_rel);
        std::uint32_t const rest = left(before);
        if (rest > 0) return {next(before), rest < count ? rest : count};
      }
      // Units move between window and tree, but only under the lock.
      sequence_lock::outcome const outcome = lock().take_or_wait();
      if (outcome == sequence_lock::outcome::nothing_left) return {0, 0};
      if (outcome == sequence_lock::outcome::again) continue;
      if (left(window.load(exec::acquire)) == 0 && !refill()) {
        lock().unlock_with_nothing_left();
        return {0, 0};
      }
      lock().unlock();
    }
  }

  /// Whether there seems to be no chunk left; a hint.
  [[nodiscard]] WYRM_HD bool looks_used_up() const {
    return left(exec::atomic_ref<std::uint64_t>(state_->window).load(exec::relaxed)) == 0 && tree_.empty();
  }

  /// One thread takes units for so many bytes, or gets nullptr.
  [[nodiscard]] WYRM_HD void* allocate(std::size_t bytes) const {
    if (bytes > std::size_t{units_} * unit_bytes) return nullptr;
    auto const count = static_cast<std::uint32_t>((bytes + unit_bytes - 1) / unit_bytes);
    lock().lock();
    std::uint32_t first = tree_.find(count);
    if (first == or_tree::none) {
      retire();
      first = tree_.find(count);
    }
    if (first != or_tree::none) {
      tree_.set_used(first, count);
      lengths_[first] = count;
      add_used(count);
    }
    lock().unlock();
    return first == or_tree::none ? nullptr : base_ + std::size_t{first} * unit_bytes;
  }

  /// Gives back what allocate returned. False, and nothing happens, if no such run begins at p.
  [[nodiscard]] WYRM_HD bool free(void const* p) const {
    auto const offset = static_cast<std::size_t>(static_cast<std::byte const*>(p) - base_);
    if (offset % unit_bytes != 0) return false;
    auto const first = static_cast<std::uint32_t>(offset / unit_bytes);
    lock().lock();
    std::uint32_t const count = lengths_[first];
    if (count > 0) {
      lengths_[first] = 0;
      tree_.set_free(first, count);
      state_->used_units -= count;
    }
    lock().unlock();
    return count > 0;
  }

  /// Calls f() in one lane of `lanes` after the other; collective. For what takes the lock: a lane that waited for
  /// another lane of its own tile would wait for ever.
  template <class Tile, class F>
  WYRM_HD static void one_by_one(Tile const& t, std::uint32_t lanes, F const& f) {
    for (; lanes != 0; lanes &= lanes - 1) {
      if (t.rank() == exec::first_lane(lanes)) f();
      t.sync();
    }
  }

 private:
  static constexpr std::uint32_t window_units = 4096;

  WYRM_HD static std::uint32_t next(std::uint64_t window) { return static_cast<std::uint32_t>(window >> 32); }
  WYRM_HD static std::uint32_t end(std::uint64_t window) { return static_cast<std::uint32_t>(window); }
  WYRM_HD static std::uint32_t left(std::uint64_t window) {
    return next(window) < end(window) ? end(window) - next(window) : 0;
  }

  [[nodiscard]] WYRM_HD sequence_lock lock() const { return sequence_lock(&state_->lock); }

  WYRM_HD void add_used(std::uint32_t units) const {
    state_->used_units += units;
    if (state_->used_units > state_->peak_units) state_->peak_units = state_->used_units;
  }

  // The lowest free run, if there is one, becomes the window. Nobody else replaces it while we hold the lock, and
  // additions to a used-up window change nothing that counts, so a plain store publishes it.
  WYRM_HD bool refill() const {
    std::uint32_t const first = tree_.next_free(0);
    if (first == or_tree::none) return false;
    std::uint32_t const longest = first + window_units < units_ ? first + window_units : units_;
    std::uint32_t const last = tree_.next_used(first, longest);
    exec::atomic_ref<std::uint64_t>(state_->window)
        .store(std::uint64_t{first * unit_chunks} << 32 | last * unit_chunks, exec::release);
    tree_.set_used(first, last - first);
    add_used(last - first);
    return true;
  }

  // The whole units that the window has left go back into the tree.
  WYRM_HD void retire() const {
    exec::atomic_ref<std::uint64_t> window(state_->window);
    std::uint64_t before = window.load(exec::acquire);
    for (;;) {
      std::uint32_t const cut = (next(before) + unit_chunks - 1) / unit_chunks * unit_chunks;
      if (left(before) == 0 || cut >= end(before)) return;
      if (window.compare_exchange_weak(before, (before >> 32 << 32) | cut, exec::acq_rel, exec::acquire)) {
        std::uint32_t const units = (end(before) - cut) / unit_chunks;
        tree_.set_free(cut / unit_chunks, units);
        state_->used_units -= units;
        return;
      }
    }
  }

  std::byte* base_;
  std::uint32_t units_;
  extent_state* state_;
  or_tree tree_;
  std::uint32_t* lengths_;  // units of the run that begins here; 0: none does
};

namespace detail {
struct free_units {
  or_tree tree;
  std::uint32_t first;
  std::uint32_t count;
  WYRM_HD void operator()(std::size_t) const {
    if (count > 0) tree.set_free(first, count);
  }
};
}  // namespace detail

/// Owns the memory. Grows in place; the pool's size is a multiple of unit_bytes.
template <class Space>
class extent {
 public:
  extent(Space const& space, options const& o)
      : space_(space),
        memory_(space, addresses(space, o)),
        state_(space, 1),
        tree_(space, or_tree::words(max_units())),
        lengths_(space, max_units()) {
    memory_.commit(std::max(o.pool_bytes, unit_bytes));
    units_ = static_cast<std::uint32_t>(memory_.committed() / unit_bytes);
    reset();
  }

  [[nodiscard]] extent_ref ref() const { return {memory_.data(), units_, state_.data(), tree(), lengths_.data()}; }
  [[nodiscard]] std::byte* base() const { return memory_.data(); }
  [[nodiscard]] std::size_t bytes() const { return std::size_t{units_} * unit_bytes; }
  [[nodiscard]] std::size_t capacity() const { return memory_.capacity(); }
  [[nodiscard]] std::uint32_t chunks() const { return units_ * unit_chunks; }
  /// How many there will be after grow(bytes).
  [[nodiscard]] std::uint32_t chunks_after(std::size_t bytes) const {
    return static_cast<std::uint32_t>(memory_.committed_after(memory_.committed() + bytes) / chunk_bytes);
  }
  [[nodiscard]] std::size_t overhead() const { return sizeof(extent_state) + tree_.bytes() + lengths_.bytes(); }
  [[nodiscard]] std::size_t peak() const {
    return std::size_t{exec::read(space_, state_.data()).peak_units} * unit_bytes;
  }

  void grow(std::size_t bytes) {
    std::uint32_t const before = units_;
    memory_.commit(memory_.committed() + bytes);
    units_ = static_cast<std::uint32_t>(memory_.committed() / unit_bytes);
    exec::for_each(space_, 1, detail::free_units{tree(), before, units_ - before});
  }

  void reset() {
    space_.fill(state_.data(), 0, sizeof(extent_state));
    space_.fill(tree_.data(), 0, tree_.bytes());
    space_.fill(lengths_.data(), 0, lengths_.bytes());
    exec::for_each(space_, 1, detail::free_units{tree(), 0, units_});
  }

  /// Bytes in runs that allocate() handed out.
  [[nodiscard]] std::size_t allocated() const {
    std::size_t units = 0;
    for (std::uint32_t length : exec::copy_out(space_, lengths_.data(), units_)) units += length;
    return units * unit_bytes;
  }

  /// How many runs these are.
  [[nodiscard]] std::size_t runs() const {
    std::vector<std::uint32_t> const lengths = exec::copy_out(space_, lengths_.data(), units_);
    return lengths.size() - static_cast<std::size_t>(std::count(lengths.begin(), lengths.end(), 0u));
  }

  /// Every chunk is in exactly one of: the tree, the window, a run, or `carved` (one entry a chunk, true if the family
  /// took it and has it). O(units).
  void check(std::vector<bool> const& carved) const {
    extent_state const state = exec::read(space_, state_.data());
    auto const next = static_cast<std::uint32_t>(state.window >> 32);
    auto const end = static_cast<std::uint32_t>(state.window);
    std::vector<std::uint64_t> words = exec::copy_out(space_, tree_.data(), tree_.size());
    or_tree const tree(words.data(), max_units());
    std::vector<std::uint32_t> const lengths = exec::copy_out(space_, lengths_.data(), units_);
    ensure(state.lock % 2 == 0, "extent", "the lock is held although nobody is at work");
    std::uint32_t run_end = 0;
    for (std::uint32_t unit = 0; unit < units_; ++unit) {
      std::string const where = "unit " + std::to_string(unit);
      ensure(lengths[unit] == 0 || run_end <= unit, "extent", where + " begins a run inside another");
      if (lengths[unit] > 0) run_end = unit + lengths[unit];
      bool const is_free = tree.next_used(unit, unit + 1) != unit;
      ensure(!is_free || tree.next_free(unit) == unit, "extent", where + " is free but the OR-tree misses it");
      for (std::uint32_t c = unit * unit_chunks; c < (unit + 1) * unit_chunks; ++c) {
        int const owners = (unit < run_end) + is_free + (c >= next && c < end) + carved[c];
        ensure(owners == 1, "extent", "chunk " + std::to_string(c) + " has " + std::to_string(owners) + " owners");
      }
    }
    ensure(run_end <= units_, "extent", "a run goes beyond the pool");
    ensure(tree.next_free(units_) == or_tree::none, "extent", "units beyond the pool are free");
  }

 private:
  [[nodiscard]] static std::size_t addresses(Space const& space, options const& o) {
    constexpr std::size_t limit = std::size_t{or_tree::max_units} * unit_bytes;
    static_assert(limit == std::size_t{1} << 40);
    std::size_t const wanted = o.reserve_bytes != 0 ? o.reserve_bytes : std::min(space.memory_total(), limit);
    if (std::max(wanted, o.pool_bytes) > limit)
      throw error(error_code::bad_argument,
                  "a pool may have at most 1 TiB; ask for less in pool_bytes and reserve_bytes");
    return std::max(wanted, o.pool_bytes);
  }
  [[nodiscard]] std::uint32_t max_units() const {
    return static_cast<std::uint32_t>((memory_.capacity() + unit_bytes - 1) / unit_bytes);
  }
  [[nodiscard]] or_tree tree() const { return {tree_.data(), max_units()}; }

  Space space_;
  exec::reservation<Space> memory_;
  exec::buffer<extent_state, Space> state_;
  exec::buffer<std::uint64_t, Space> tree_;
  exec::buffer<std::uint32_t, Space> lengths_;
  std::uint32_t units_ = 0;
};

}  // namespace wyrm::alloc
