// SPDX-License-Identifier: Apache-2.0
// The memory of a pool, in chunks of 8 KiB: what the host owns of extent_ref.hpp, growth, reset and the check.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../allocator.hpp"
#include "../pool_table.hpp"
#include "extent_ref.hpp"

namespace wyrm::alloc {

namespace detail {
struct free_chunks {
  or_tree tree;
  std::uint32_t first;
  std::uint32_t count;
  WYRM_HD void operator()(std::size_t) const { tree.set_free(first, count); }
};
}  // namespace detail

/// Owner of the memory. The size is a multiple of chunk_bytes, and grows in place. The functions run on the host while
/// no kernel uses the pool.
template <class Space>
class extent {
  static_assert(std::size_t{or_tree::max_units} * chunk_bytes >= pool_limit);

 public:
  extent(Space const& space, options const& o)
      : space_(space), memory_(reserve_pool(space, o)), state_(space, 1), tree_(space), lengths_(space) {
    memory_.commit(std::max(o.pool_bytes, chunk_bytes));
    chunks_ = chunks_after(0);
    tree_.reserve(or_tree::words(chunks_));
    lengths_.cover(chunks_);
    space_.fill(lengths_.data(), 0, lengths_.bytes());
    restart();
  }

  [[nodiscard]] extent_ref ref() const { return {memory_.data(), chunks_, state_.data(), tree(), lengths_.data()}; }
  [[nodiscard]] std::byte* base() const { return memory_.data(); }
  [[nodiscard]] std::size_t bytes() const { return std::size_t{chunks_} * chunk_bytes; }
  [[nodiscard]] std::size_t capacity() const { return memory_.capacity(); }
  [[nodiscard]] std::uint32_t chunks() const { return chunks_; }
  /// The number of chunks after grow(bytes).
  [[nodiscard]] std::uint32_t chunks_after(std::size_t bytes) const {
    return static_cast<std::uint32_t>(memory_.committed_after(grown_size(memory_.committed(), bytes)) / chunk_bytes);
  }
  [[nodiscard]] std::size_t overhead() const { return sizeof(extent_state) + tree_.bytes() + lengths_.bytes(); }
  /// Bytes from the begin of the pool to the end of the last chunk that was ever taken.
  [[nodiscard]] std::size_t peak() const { return std::size_t{touched()} * chunk_bytes; }
  [[nodiscard]] std::uint32_t touched() const {
    extent_state const state = exec::read(space_, state_.data());
    return std::max(state.touched, std::min(next(state), end(state)));
  }

  void grow(std::size_t bytes) {
    std::uint32_t const before = chunks_;
    std::uint32_t const after = chunks_after(bytes);
    lengths_.cover(after);
    exec::buffer<std::uint64_t, Space> longer(space_, or_tree::words(after));
    memory_.commit(grown_size(memory_.committed(), bytes));
    space_.fill(lengths_.data() + before, 0, (after - before) * sizeof(std::uint32_t));
    space_.fill(longer.data(), 0, longer.bytes());
    or_tree::for_each_part(before, after, [&](std::size_t from, std::size_t to, std::size_t words) {
      space_.copy(longer.data() + to, tree_.data() + from, words * sizeof(std::uint64_t));
    });
    std::swap(tree_, longer);
    chunks_ = after;
    extent_state state = exec::read(space_, state_.data());
    state.unavailable_run = extent_state::not_known;
    bool const is_used_up = next(state) >= end(state);
    // The new chunks lengthen the window if it ends where they begin. They become the window only if all chunks before
    // them have been taken, because touched() counts the chunks before the window as taken.
    if (end(state) == before || (is_used_up && touched() == before)) {
      state.touched = touched();
      std::uint32_t const first = is_used_up ? before : next(state);
      state.window = std::uint64_t{first} << 32 | chunks_;
      state.used_up = 0;
    } else if (chunks_ > before) {
      exec::for_each(space_, 1, detail::free_chunks{tree(), before, chunks_ - before});
    }
    exec::write(space_, state_.data(), state);
  }

  /// Frees everything. O(memory that was used).
  void reset() {
    space_.fill(lengths_.data(), 0, touched() * sizeof(std::uint32_t));
    restart();
  }

  /// Bytes in runs that allocate() returned and that are not freed.
  [[nodiscard]] std::size_t allocated() const {
    std::size_t chunks = 0;
    for (std::uint32_t length : lengths()) chunks += length;
    return chunks * chunk_bytes;
  }

  /// The number of these runs.
  [[nodiscard]] std::size_t runs() const {
    std::vector<std::uint32_t> const all = lengths();
    return all.size() - static_cast<std::size_t>(std::count(all.begin(), all.end(), 0u));
  }

  /// Checks that every chunk is in exactly one of: the tree, the window, a run, or `carved` (one entry per chunk; true
  /// if the allocator has taken the chunk). Throws error(corrupt). O(chunks).
  void check(std::vector<bool> const& carved) const {
    extent_state const state = exec::read(space_, state_.data());
    std::vector<std::uint64_t> words = exec::copy_out(space_, tree_.data(), tree_.size());
    or_tree const tree(words.data(), chunks_);
    std::vector<std::uint32_t> const lengths = this->lengths();
    ensure(state.lock % 2 == 0, "extent", "the lock is held although no kernel runs");
    std::uint32_t run_end = 0;
    for (std::uint32_t chunk = 0; chunk < chunks_; ++chunk) {
      auto const fail = [chunk](std::string const& what) {
        ensure(false, "extent", "chunk " + std::to_string(chunk) + what);
      };
      if (lengths[chunk] > 0 && run_end > chunk) fail(" begins a run inside another");
      if (lengths[chunk] > 0) run_end = chunk + lengths[chunk];
      bool const is_free = tree.next_used(chunk, chunk + 1) != chunk;
      if (is_free && tree.next_free(chunk) != chunk) fail(" is free but the OR-tree misses it");
      int const owners = (chunk < run_end) + is_free + (chunk >= next(state) && chunk < end(state)) + carved[chunk];
      if (owners != 1) fail(" has " + std::to_string(owners) + " owners");
    }
    ensure(run_end <= chunks_, "extent", "a run goes beyond the pool");
    ensure(tree.next_free(chunks_) == or_tree::none, "extent", "chunks beyond the pool are free");
  }

 private:
  [[nodiscard]] static std::uint32_t next(extent_state const& s) { return static_cast<std::uint32_t>(s.window >> 32); }
  [[nodiscard]] static std::uint32_t end(extent_state const& s) { return static_cast<std::uint32_t>(s.window); }

  // Makes all chunks one window.
  void restart() {
    exec::write(space_, state_.data(), extent_state{chunks_, 0, 0, extent_state::not_known, {}, 0});
    space_.fill(tree_.data(), 0, tree_.bytes());
  }
  [[nodiscard]] std::vector<std::uint32_t> lengths() const { return exec::copy_out(space_, lengths_.data(), chunks_); }
  [[nodiscard]] or_tree tree() const { return {tree_.data(), chunks_}; }

  Space space_;
  exec::reservation<Space> memory_;
  exec::buffer<extent_state, Space> state_;
  exec::buffer<std::uint64_t, Space> tree_;  // over chunks_
  pool_table<std::uint32_t, Space> lengths_;
  std::uint32_t chunks_ = 0;
};

}  // namespace wyrm::alloc
