// SPDX-License-Identifier: Apache-2.0
// The memory of a pool on the device, in chunks of 8 KiB. Allocators take chunks by one atomic addition, and requests
// beyond an allocator's largest class are runs of chunks. A new pool is one window, and chunks are taken from its
// front; so setting up a new pool writes nothing to the chunks. Chunks that were freed are in an OR-tree. When the
// window is used up, the lowest free run of the tree becomes the next window.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/tile.hpp"
#include "../sequence_lock.hpp"
#include "or_tree.hpp"

namespace wyrm::alloc {

inline constexpr std::size_t chunk_bytes = std::size_t{8} << 10;

struct chunk_range {
  std::uint32_t first;
  std::uint32_t count;
};

/// The state on the device.
struct extent_state {
  // Chunks are taken from a window, a range of chunks that are not in the tree: the next chunk is in the upper half of
  // the word, the end in the lower half. When the window is used up, "next" may exceed the end, at most by the sum of
  // the requests that are in progress.
  std::uint64_t window;
  std::uint64_t lock;  // guards the tree, and all changes of the window except additions to "next"
  // The high-water mark: no chunk from here on was ever taken, except from the current window.
  std::uint32_t touched;
  // Neither the tree nor the window has a run of this many chunks; not_known: no such number is known.
  std::uint32_t unavailable_run;
  static constexpr std::uint32_t not_known = 0xffffffff;
  std::uint32_t padding[26];
  // A flag. 1: a request found too few chunks in the window. The flag is in another cache line than the window, because
  // all requests read it. It may be wrong for a while. If a request sets it too late, after a refill, a request that
  // reads it takes the lock and clears it. If the holder of the lock clears it too late, after the refilled window is
  // used up, each of the other requests adds to "next" once more, and sets the flag again.
  std::uint32_t used_up;
};

/// For kernels. Thread-safe, except for take_exclusive().
class extent_ref {
 public:
  extent_ref(std::byte* base, std::uint32_t chunks, extent_state* state, or_tree const& tree, std::uint32_t* lengths)
      : base_(base), chunks_(chunks), state_(state), tree_(tree), lengths_(lengths) {}

  [[nodiscard]] WYRM_HD std::byte* base() const { return base_; }
  [[nodiscard]] WYRM_HD std::uint32_t chunks() const { return chunks_; }
  [[nodiscard]] WYRM_HD bool contains(void const* p) const {
    return p >= base_ && p < base_ + std::size_t{chunks_} * chunk_bytes;
  }

  /// Takes up to `count` adjacent chunks; count must be at most `at_once`; per thread. It may take fewer near the end
  /// of a free range. It takes none only if count is 0, or if there was a moment during the call when no chunk was
  /// left. One atomic addition, unless the window is used up: then the lowest free run of the tree becomes the window,
  /// under the lock.
  [[nodiscard]] WYRM_HD chunk_range take_chunks(std::uint32_t count) const {
    chunk_range const range = try_take_chunks(count);
    return range.count > 0 || count == 0 ? range : refill_and_take(count);
  }

  /// The same from the window only; never waits.
  [[nodiscard]] WYRM_HD chunk_range try_take_chunks(std::uint32_t count) const {
    return count > 0 && !seems_used_up() ? take_from_window(count) : chunk_range{0, 0};
  }
  /// The same in two steps: take_from_window() must only be called after seems_used_up() has returned false. That keeps
  /// "next" from growing without bound while the pool is used up.
  [[nodiscard]] WYRM_HD bool seems_used_up() const { return used_up().load(exec::relaxed) != 0; }
  [[nodiscard]] WYRM_HD chunk_range take_from_window(std::uint32_t count) const {
    std::uint64_t const before = window().fetch_add(std::uint64_t{count} << 32, exec::acquire);
    std::uint32_t const rest = left(before);
    if (rest < count && !seems_used_up()) used_up().store(1, exec::relaxed);
    return {next(before), rest < count ? rest : count};
  }

  /// Takes up to `count` adjacent runs of `each` chunks; per thread. The `count` of the result is the number of runs.
  /// It is 0 only if `count` is 0, or if there was a moment during the call without such a run. One atomic addition
  /// while the window has enough chunks, then a search under the lock.
  [[nodiscard]] WYRM_HD chunk_range take_runs(std::uint32_t count, std::uint32_t each) const {
    if (chunk_range const runs = try_take_runs(count, each); runs.count > 0) return runs;
    if (count == 0 || (each >= unavailable_run().load(exec::acquire) && left() < each)) return {0, 0};
    sequence_lock lock(state_->lock);
    lock.lock();
    std::uint32_t first = tree_.find(each);
    std::uint32_t runs = 1;
    if (first == or_tree::none)
      first = cut_run(each);
    else if (count > 1)
      runs = (tree_.next_used(first, count < (chunks_ - first) / each ? first + count * each : chunks_) - first) / each;
    if (first == or_tree::none && return_window()) first = tree_.find(each);
    if (first == or_tree::none) {
      runs = 0;
      if (each < unavailable_run().load(exec::relaxed)) unavailable_run().store(each, exec::release);
    } else {
      tree_.set_used(first, runs * each);  // no change for a run from the window
      touch(first + runs * each);
    }
    lock.unlock();
    return {first, runs};
  }

  /// The same from the window only; none for more than `at_once` chunks. It may wait for the lock, to free chunks at
  /// the end of the window that are too few for a run.
  [[nodiscard]] WYRM_HD chunk_range try_take_runs(std::uint32_t count, std::uint32_t each) const {
    if (count > at_once / each || left() < each) return {0, 0};
    chunk_range const range = take_from_window(count * each);
    std::uint32_t const runs = range.count / each;
    if (range.count > runs * each) return_chunks(range.first + runs * each, range.count - runs * each);
    return {range.first, runs};
  }

  /// Takes a run of `count` chunks, at least 1; per thread, while no other thread uses the pool. It takes none if the
  /// pool has no such run; then the pool will have one after it has grown by `missing` chunks.
  [[nodiscard]] WYRM_HD chunk_range take_exclusive(std::uint32_t count, std::uint32_t& missing) const {
    missing = 0;
    std::uint32_t const first = cut_run(count);
    if (first != or_tree::none) return {first, count};
    if (chunk_range const run = take_runs(1, count); run.count > 0) return {run.first, count};
    (void)return_window();
    missing = count - tree_.free_at_end();
    return {or_tree::none, 0};
  }

  /// Returns chunks that were taken; per thread. Waits for the lock.
  WYRM_HD void return_chunks(std::uint32_t first, std::uint32_t count) const {
    sequence_lock lock(state_->lock);
    lock.lock();
    touch(first + count);
    set_free(first, count);
    lock.unlock();
  }

  /// The same for runs of equal length, one per lane of the mask `lanes`; collective.
  template <class Tile>
  WYRM_HD void return_runs(Tile const& t, std::uint32_t lanes, std::uint32_t first, std::uint32_t count) const {
    sequence_lock lock(state_->lock);
    if (t.rank() == 0) lock.lock();
    for (; lanes != 0; lanes &= lanes - 1) {
      std::uint32_t const next = t.shfl(first, exec::first_lane(lanes));
      if (t.rank() != 0) continue;
      touch(next + count);
      set_free(next, count);
    }
    if (t.rank() == 0) lock.unlock();
  }

  /// The number of chunks left in the window; a hint. In a new pool, these chunks were never used.
  [[nodiscard]] WYRM_HD std::uint32_t left() const { return left(window().load(exec::relaxed)); }
  /// Whether the window seems to have at least half of all chunks; a hint.
  [[nodiscard]] WYRM_HD bool window_is_large() const { return left() >= chunks_ / 2; }
  /// Whether the window seems to have less than a quarter of all chunks; a hint.
  [[nodiscard]] WYRM_HD bool window_is_small() const { return left() < chunks_ / 4; }
  /// Whether neither the window nor the tree seems to have a chunk; a hint.
  [[nodiscard]] WYRM_HD bool looks_used_up() const { return left() == 0 && tree_.empty(); }

  /// Allocates a run of chunks for so many bytes; per thread. nullptr if there is none.
  [[nodiscard]] WYRM_HD void* allocate(std::size_t bytes) const {
    if (bytes == 0 || bytes > std::size_t{chunks_} * chunk_bytes) return nullptr;
    auto const count = static_cast<std::uint32_t>((bytes + chunk_bytes - 1) / chunk_bytes);
    chunk_range const run = take_runs(1, count);
    return run.count == 0 ? nullptr : begin_run(run.first, count);
  }
  /// Makes chunks that take_runs() has returned a run, as allocate() does; per thread.
  [[nodiscard]] WYRM_HD void* begin_run(std::uint32_t first, std::uint32_t count) const {
    length(first).store(count, exec::relaxed);
    return base_ + std::size_t{first} * chunk_bytes;
  }

  /// Frees a run that allocate() returned; per thread. p must be in the pool, see contains(). Returns false, and
  /// changes nothing, if no such run begins at p.
  [[nodiscard]] WYRM_HD bool free(void const* p) const {
    auto const offset = static_cast<std::size_t>(static_cast<std::byte const*>(p) - base_);
    if (offset % chunk_bytes != 0) return false;
    auto const first = static_cast<std::uint32_t>(offset / chunk_bytes);
    if (length(first).load(exec::relaxed) == 0) return false;
    std::uint32_t const count = length(first).exchange(0, exec::relaxed);
    if (count > 0) return_chunks(first, count);
    return count > 0;
  }

  /// The length of the run at p that allocate() returned, in bytes.
  [[nodiscard]] WYRM_HD std::size_t run_bytes(void const* p) const {
    auto const offset = static_cast<std::size_t>(static_cast<std::byte const*>(p) - base_);
    return length(static_cast<std::uint32_t>(offset / chunk_bytes)).load(exec::relaxed) * chunk_bytes;
  }

  /// Calls f() in each lane of the mask `lanes`, one lane after the other; collective. For functions that take the
  /// lock: a lane that waits for another lane of its own tile could wait forever.
  template <class Tile, class F>
  WYRM_HD static void one_by_one(Tile const& t, std::uint32_t lanes, F const& f) {
    for (; lanes != 0; lanes &= lanes - 1) {
      if (t.rank() == exec::first_lane(lanes)) f();
      t.sync();
    }
  }

  /// The most chunks that one request takes from the window without the lock. With it, 2^18 requests at the same time
  /// cannot make "next" overflow.
  static constexpr std::uint32_t at_once = 4096;

 private:
  static constexpr std::uint32_t refill_chunks = 32768;

  WYRM_HD static std::uint32_t next(std::uint64_t window) { return static_cast<std::uint32_t>(window >> 32); }
  WYRM_HD static std::uint32_t end(std::uint64_t window) { return static_cast<std::uint32_t>(window); }
  WYRM_HD static std::uint32_t left(std::uint64_t window) {
    return next(window) < end(window) ? end(window) - next(window) : 0;
  }

  [[nodiscard]] WYRM_HD exec::atomic_ref<std::uint64_t> window() const {
    return exec::atomic_ref<std::uint64_t>(state_->window);
  }
  [[nodiscard]] WYRM_HD exec::atomic_ref<std::uint32_t> used_up() const {
    return exec::atomic_ref<std::uint32_t>(state_->used_up);
  }
  [[nodiscard]] WYRM_HD exec::atomic_ref<std::uint32_t> unavailable_run() const {
    return exec::atomic_ref<std::uint32_t>(state_->unavailable_run);
  }
  [[nodiscard]] WYRM_HD exec::atomic_ref<std::uint32_t> length(std::uint32_t first) const {
    return exec::atomic_ref<std::uint32_t>(lengths_[first]);
  }

  [[nodiscard]] WYRM_HD chunk_range refill_and_take(std::uint32_t count) const {
    for (;;) {
      sequence_lock lock(state_->lock);
      if (!lock.take_unless_exhausted()) return {0, 0};
      // Chunks move between the window and the tree only under the lock, so none is missed here.
      if (left() == 0 && !refill()) {
        lock.unlock_exhausted();
        return {0, 0};
      }
      used_up().store(0, exec::relaxed);
      lock.unlock();
      chunk_range const range = try_take_chunks(count);
      if (range.count > 0) return range;
    }
  }

  // Takes a run of any length from the front of the window. Returns its first chunk, or none.
  [[nodiscard]] WYRM_HD std::uint32_t cut_run(std::uint32_t n) const {
    std::uint64_t before = window().load(exec::acquire);
    while (left(before) >= n)
      if (window().compare_exchange_weak(before, before + (std::uint64_t{n} << 32), exec::acq_rel, exec::acquire))
        return next(before);
    return or_tree::none;
  }

  // The functions below are for the thread that holds the lock.

  WYRM_HD void touch(std::uint32_t end) const {
    if (end > state_->touched) state_->touched = end;
  }
  WYRM_HD void set_free(std::uint32_t first, std::uint32_t count) const {
    tree_.set_free(first, count);
    unavailable_run().store(extent_state::not_known, exec::release);
  }

  // Replaces the window, which is used up, by the lowest free run of the tree; false if there is none. No other thread
  // replaces the window while this one holds the lock, and additions to a used-up window take no chunks. So a plain
  // store publishes the new window.
  [[nodiscard]] WYRM_HD bool refill() const {
    std::uint32_t const first = tree_.next_free(0);
    if (first == or_tree::none) return false;
    std::uint32_t const last =
        tree_.next_used(first, first + refill_chunks < chunks_ ? first + refill_chunks : chunks_);
    touch(end(window().load(exec::relaxed)));
    window().store(std::uint64_t{first} << 32 | last, exec::release);
    tree_.set_used(first, last - first);
    return true;
  }

  // Moves the chunks that are left in the window to the tree. False if there are none.
  [[nodiscard]] WYRM_HD bool return_window() const {
    std::uint64_t before = window().load(exec::acquire);
    do {
      if (left(before) == 0) return false;
    } while (!window().compare_exchange_weak(before, 0, exec::acq_rel, exec::acquire));
    touch(next(before));
    set_free(next(before), left(before));
    return true;
  }

  std::byte* base_;
  std::uint32_t chunks_;
  extent_state* state_;
  or_tree tree_;
  std::uint32_t* lengths_;  // per chunk: the length of the allocated run that begins there, or 0
};

}  // namespace wyrm::alloc
