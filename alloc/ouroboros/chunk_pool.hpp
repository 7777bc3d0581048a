// SPDX-License-Identifier: Apache-2.0
// The chunk pool of Ouroboros (ICS 2020, sections 3.1 and 3.2). Chunks are allocated from a reuse queue of freed
// chunks, then from alloc/extent. A table records the use of each chunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "../../exec/memory.hpp"
#include "../extent/extent.hpp"
#include "../pool_table.hpp"
#include "../size_classes.hpp"
#include "index_ring.hpp"
#include "queue_ends.hpp"
#include "ring_memory.hpp"

namespace wyrm::alloc {

// The use of a chunk: the class of its pages, or one of these values.
/// In the extent or in the reuse queue; in a window of a class, if none of its pages has been allocated; part of a
/// large allocation; or part of a page of several chunks, but not its first chunk, which has the class of the page.
inline constexpr std::uint32_t chunk_of_no_class = 0xffffffff;
/// Holds the entries of a virtualized queue.
inline constexpr std::uint32_t chunk_of_queue = 0xfffffffe;

class chunk_pool_ref {
 public:
  chunk_pool_ref(extent_ref const& memory, queue_ends* ends, index_ring const& reusable, std::uint32_t* uses)
      : memory_(memory), ends_(ends), reusable_(reusable), uses_(uses) {}

  [[nodiscard]] WYRM_HD extent_ref const& memory() const { return memory_; }
  [[nodiscard]] WYRM_HD std::byte* address(std::uint64_t chunk) const { return memory_.base() + chunk * chunk_bytes; }

  /// One thread allocates up to `count` adjacent chunks, or one chunk of the reuse queue. The result is empty only if
  /// count is 0, or if no chunk was free at some moment during the call.
  [[nodiscard]] WYRM_HD chunk_range take(std::uint32_t count) const {
    for (unsigned attempt = 0; count > 0; ++attempt) {
      if (ends_->take_one()) return {static_cast<std::uint32_t>(reusable_.read(ends_->claim_front(1))), 1};
      chunk_range const range = memory_.take_chunks(count);
      if (range.count > 0 || ends_->is_empty()) return range;
      exec::pause(attempt);
    }
    return {0, 0};
  }
  /// The same without waiting, from the window of the extent: none if the reuse queue has chunks, or the window is
  /// used up.
  [[nodiscard]] WYRM_HD chunk_range try_take(std::uint32_t count) const { return try_take(count, look_at(true)); }
  /// The same in two steps: look_at(), then try_take(). look_at(false) loads nothing, and try_take() returns no chunk.
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
    return count > 0 && seen.has_some() ? memory_.take_from_window(count) : chunk_range{0, 0};
  }
  /// Allocates up to `count` adjacent runs of `each` chunks; per thread. The `count` of the result is the number of
  /// runs.
  [[nodiscard]] WYRM_HD chunk_range take_runs(std::uint32_t count, std::uint32_t each) const {
    if (each == 1) return take(count);
    for (;;) {
      chunk_range const range = memory_.take_runs(count, each);
      if (range.count > 0 || count == 0 || !return_single_chunks()) return range;
    }
  }
  /// A run of `count` chunks, at least 1; per thread, while no other thread uses the pool. If there is none, there will
  /// be one after the pool has grown by `missing` chunks.
  [[nodiscard]] WYRM_HD chunk_range take_exclusive(std::uint32_t count, std::uint32_t& missing) const {
    chunk_range const range = memory_.take_exclusive(count, missing);
    return range.count > 0 ? range : take_exclusive_from_queue(count, missing);
  }
  /// A run for a request that is larger than the largest page; nullptr if there is none.
  [[nodiscard]] WYRM_HD void* allocate(std::size_t bytes) const {
    for (;;) {
      void* const p = memory_.allocate(bytes);
      if (p != nullptr || !return_single_chunks()) return p;
    }
  }
  /// Frees single chunks: they go into the reuse queue.
  WYRM_HD void free(std::uint32_t const* chunks, std::uint32_t count) const {
    for (std::uint32_t i = 0; i < count; ++i) set_use(chunks[i], chunk_of_no_class);
    std::uint32_t const first = ends_->claim_back(count);
    for (std::uint32_t i = 0; i < count; ++i) reusable_.write(first + i, chunks[i]);
  }
  /// Frees a run of `each` chunks.
  WYRM_HD void free_run(std::uint32_t first, std::uint32_t each) const {
    free_runs(exec::scalar_tile{}, first, each, true);
  }
  /// The same for each lane that has a run; `each` is the same in all lanes; collective.
  template <class Tile>
  WYRM_HD void free_runs(Tile const& t, std::uint32_t first, std::uint32_t each, bool has) const {
    if (has && each == 1) free(&first, 1);
    if (has && each > 1) set_use(first, chunk_of_no_class);
    if (each > 1) memory_.return_runs(t, t.ballot(has), first, each);
    t.sync();
  }
  /// Whether probably no chunk is free; a hint.
  [[nodiscard]] WYRM_HD bool looks_used_up() const { return memory_.looks_used_up() && ends_->number() <= 0; }

  /// Records the use of a chunk.
  WYRM_HD void set_use(std::uint32_t chunk, std::uint32_t use) const {
    exec::atomic_ref<std::uint32_t>(uses_[chunk]).store(use, exec::relaxed);
  }
  /// The same for n adjacent chunks, while no other thread uses the pool. Collective; all lanes pass the same
  /// arguments.
  template <class Tile>
  WYRM_HD void set_uses(Tile const& t, std::uint32_t first, std::uint32_t n, std::uint32_t use) const {
    struct alignas(16) four_uses {
      std::uint32_t use[4];
    };
    std::uint32_t const end = first + n;
    std::uint32_t const begin_fours = (first + 3) / 4 < end / 4 ? (first + 3) / 4 : end / 4;
    std::uint32_t const end_fours = end / 4;
    for (std::uint32_t k = first + t.rank(); k < end && k < begin_fours * 4; k += t.size()) uses_[k] = use;
    for (std::uint32_t k = begin_fours + t.rank(); k < end_fours; k += t.size())
      reinterpret_cast<four_uses*>(uses_)[k] = {{use, use, use, use}};
    std::uint32_t const tail = end_fours * 4 > first ? end_fours * 4 : first;
    for (std::uint32_t k = tail + t.rank(); k < end; k += t.size()) uses_[k] = use;
  }
  [[nodiscard]] WYRM_HD std::uint32_t use(std::uint64_t chunk) const {
    return exec::atomic_ref<std::uint32_t>(uses_[chunk]).load(exec::relaxed);
  }

 private:
  // Returns the chunks of the reuse queue to the extent, where neighbours merge into runs. False if the queue was
  // empty.
  [[nodiscard]] WYRM_HD bool return_single_chunks() const {
    bool some = false;
    while (ends_->number() > 0) {
      if (!ends_->take_one()) continue;
      memory_.return_chunks(static_cast<std::uint32_t>(reusable_.read(ends_->claim_front(1))), 1);
      some = true;
    }
    return some;
  }
  // The rare path of take_exclusive(), in a function of its own to keep carving short.
  [[nodiscard]] WYRM_NOINLINE WYRM_HD chunk_range take_exclusive_from_queue(std::uint32_t count,
                                                                            std::uint32_t& missing) const {
    while (return_single_chunks()) {
      chunk_range const range = memory_.take_exclusive(count, missing);
      if (range.count > 0) return range;
    }
    return {0, 0};
  }

  extent_ref memory_;
  queue_ends* ends_;
  index_ring reusable_;
  std::uint32_t* uses_;
};

/// Owns the memory of the chunks, the reuse queue and the table of uses.
template <class Space>
class chunk_pool {
 public:
  chunk_pool(Space const& space, options const& o)
      : space_(space), memory_(space, o), ends_(space, 1), reusable_(space), uses_(space) {
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
  /// If it throws, the chunks are as they were; but tables may have been replaced, so earlier refs are invalid.
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

  /// The use of each chunk, one entry per chunk.
  [[nodiscard]] std::vector<std::uint32_t> uses() const { return exec::copy_out(space_, uses_.data(), chunks()); }

  /// Throws error(corrupt) unless each chunk is in exactly one place: in use, in the reuse queue, or in the extent.
  /// `uses`: the result of uses(), with the unused chunks of windows entered under their classes.
  void check(char const* who, std::vector<std::uint32_t> const& uses) const {
    std::vector<bool> taken(uses.size());
    for (std::size_t chunk = 0; chunk < uses.size(); ++chunk) {
      if (uses[chunk] == chunk_of_no_class) continue;
      std::size_t const end = chunk + (uses[chunk] < detail::page_classes ? detail::run_chunks(uses[chunk]) : 1);
      ensure(end <= uses.size(), who, "a page goes beyond the pool");
      for (std::size_t part = chunk; part < end; ++part) {
        ensure(!taken[part], who, "chunk " + std::to_string(part) + " belongs to two pages");
        taken[part] = true;
      }
    }
    queue_ends const ends = exec::read(space_, ends_.data());
    for (std::uint64_t const chunk : reusable_.entries(ends, who, "reuse queue: ")) {
      ensure(chunk < uses.size() && !taken[chunk], who,
             "chunk " + std::to_string(chunk) + " is in the reuse queue and in use");
      taken[chunk] = true;
    }
    memory_.check(taken);
  }

 private:
  // Marks the chunks from `first` on as unused.
  void start(std::uint32_t first) {
    uses_.cover(chunks());
    fill(first, chunks() - first);
  }
  void fill(std::uint32_t first, std::uint32_t count) {
    static_assert(chunk_of_no_class == 0xffffffff);
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
