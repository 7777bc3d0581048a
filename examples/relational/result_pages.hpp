// SPDX-License-Identifier: Apache-2.0
// Results whose number is not known before a kernel runs: each tile writes to pages that it allocates while it runs.
// The lanes of a tile share a page, so that they write neighbouring words; the results of a tile are a list of pages. A
// tile allocates a page for each of its lanes with one request, and fills these pages one after the other. Nothing is
// counted beforehand, and tiles share nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda/std/bit>
#include <string>
#include <wyrm/exec/atomic.hpp>
#include <wyrm/exec/error.hpp>
#include <wyrm/exec/launch.hpp>
#include <wyrm/exec/memory.hpp>
#include <wyrm/exec/tile.hpp>

namespace relational {

namespace exec = wyrm::exec;

/// The header of a page; its results follow.
template <class T>
struct alignas(16) result_page {
  result_page* previous;
  std::uint32_t count;
  [[nodiscard]] WYRM_HD T* results() { return reinterpret_cast<T*>(this + 1); }
};

/// The number of results in a page of so many bytes. Throws error(bad_argument) if there is no room for any.
template <class T>
[[nodiscard]] std::uint32_t results_per_page(std::size_t page_bytes) {
  if (page_bytes < sizeof(result_page<T>) + sizeof(T) || page_bytes > std::size_t{1} << 20)
    throw wyrm::error(wyrm::error_code::bad_argument, "pages of " + std::to_string(page_bytes) +
                                                          " bytes: expected at most 1 MiB, and room for a result");
  return static_cast<std::uint32_t>((page_bytes - sizeof(result_page<T>)) / sizeof(T));
}

/// For kernels: the lists of all tiles.
template <class T>
struct result_lists_ref {
  result_page<T>** last;  // the last page of each tile
  std::uint64_t* lost;    // results for which there was no memory
  std::uint32_t page_bytes;
  std::uint32_t capacity;  // results per page
};

/// The end of one tile's list, in registers, from where it goes on. Ref: a ref or a view of an allocator. All functions
/// are collectives.
///
/// An allocator needs many registers. The compiler would take them from a loop that calls it, so loops of which much
/// depends are functions of their own, not inlined: they call write(), and return to their caller when it needs pages.
template <class T, class Ref>
class result_writer {
 public:
  WYRM_HD result_writer(result_lists_ref<T> const& lists, Ref const& pool, std::size_t tile)
      : lists_(lists), pool_(pool), tile_(tile) {
    result_page<T>* const last = lists.last[tile];
    if (last == nullptr) return;
    at_ = last->results() + last->count;
    room_ = lists.capacity - last->count;
  }

  /// Appends the value in the lanes that have one, and clears `has` there. Returns false if there are not enough pages:
  /// some lanes still have their value then. Call refill(), and write() again.
  template <class Tile>
  WYRM_HD bool write(Tile const& t, bool& has, T const& value) {
    std::uint32_t const lanes = t.ballot(has);
    std::uint32_t left = static_cast<std::uint32_t>(cuda::std::popcount(lanes));
    std::uint32_t at = exec::rank_in(t, lanes);  // among the values that are left
    for (;;) {
      std::uint32_t const written = left < room_ ? left : room_;
      if (has && at < written) {
        at_[at] = value;
        has = false;
      }
      at -= written;
      at_ += written;
      room_ -= written;
      left -= written;
      if (left == 0) return true;
      if (spares_ == 0) return false;
      begin_page(t);
    }
  }
  /// Allocates a page for each lane, after write() has returned false. If there is no memory, the values of the lanes
  /// are lost: `has` is cleared.
  template <class Tile>
  WYRM_HD void refill(Tile const& t, bool& has) {
    if (lost_ == 0) {
      spare_ = static_cast<result_page<T>*>(pool_.allocate(t, lists_.page_bytes));
      spares_ = t.ballot(spare_ != nullptr);
    }
    if (spares_ != 0) return;
    lost_ += static_cast<std::uint32_t>(cuda::std::popcount(t.ballot(has)));
    has = false;
  }
  /// write() and refill().
  template <class Tile>
  WYRM_HD void add(Tile const& t, bool has, T const& value) {
    while (!write(t, has, value)) refill(t, has);
  }
  /// Ends the list, and frees the pages that were not needed.
  template <class Tile>
  WYRM_HD void finish(Tile const& t) {
    pool_.deallocate(t, (spares_ >> t.rank() & 1) != 0 ? spare_ : nullptr);
    if (t.rank() != 0) return;
    end_page();
    if (lost_ > 0) exec::atomic_ref<std::uint64_t>(*lists_.lost).fetch_add(lost_, exec::relaxed);
  }

 private:
  template <class Tile>
  WYRM_HD void begin_page(Tile const& t) {
    result_page<T>* const page = t.shfl(spare_, exec::first_lane(spares_));
    spares_ &= spares_ - 1;
    if (t.rank() == 0) {
      end_page();
      page->previous = lists_.last[tile_];
      lists_.last[tile_] = page;
    }
    at_ = page->results();
    room_ = lists_.capacity;
  }
  // One lane calls it.
  WYRM_HD void end_page() const {
    if (at_ != nullptr) lists_.last[tile_]->count = lists_.capacity - room_;
  }

  result_lists_ref<T> lists_;
  Ref pool_;
  std::size_t tile_;
  T* at_ = nullptr;           // where the next result belongs; null without a page
  std::uint32_t room_ = 0;    // results that the page has room for
  std::uint32_t spares_ = 0;  // the lanes whose page has not been used yet
  result_page<T>* spare_ = nullptr;
  std::uint32_t lost_ = 0;
};

namespace detail {
template <class T>
struct count_results {
  result_page<T>* const* last;
  std::uint32_t* counts;
  WYRM_HD void operator()(std::size_t i) const {
    std::uint32_t count = 0;
    for (result_page<T>* page = last[i]; page != nullptr; page = page->previous) count += page->count;
    counts[i] = count;
  }
};
/// A tile copies the results of each list.
template <class T>
struct gather_results {
  static constexpr std::size_t grain = 1;
  result_page<T>* const* last;
  std::uint64_t const* begin;
  T* to;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i) const {
    std::uint64_t at = begin[i];
    for (result_page<T>* page = last[i]; page != nullptr; page = page->previous) {
      for (std::uint32_t k = t.rank(); k < page->count; k += t.size()) to[at + k] = page->results()[k];
      at += page->count;
    }
  }
};
template <class T, class Ref>
struct free_results {
  static constexpr unsigned resident_blocks = exec::resident_blocks_of<Ref>();
  result_page<T>* const* last;
  Ref pool;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    for (result_page<T>* page = valid ? last[i] : nullptr; t.any(page != nullptr);) {
      result_page<T>* const previous = page != nullptr ? page->previous : nullptr;
      pool.deallocate(t, page);
      page = previous;
    }
  }
};
}  // namespace detail

/// Owns the heads of the lists. Their pages belong to a pool: free() them.
template <class T, class Space>
class result_lists {
 public:
  /// page_bytes: bytes per page.
  result_lists(Space const& space, std::size_t lists, std::size_t page_bytes)
      : space_(space),
        last_(space, lists),
        lost_(space, 1),
        page_bytes_(static_cast<std::uint32_t>(page_bytes)),
        capacity_(results_per_page<T>(page_bytes)) {
    clear();
  }

  [[nodiscard]] result_lists_ref<T> ref() const { return {last_.data(), lost_.data(), page_bytes_, capacity_}; }
  [[nodiscard]] std::size_t size() const { return last_.size(); }
  /// The number of results for which there was no memory; if it is not 0, the lists are incomplete.
  [[nodiscard]] std::uint64_t lost() const { return exec::read(space_, lost_.data()); }

  /// The number of results.
  [[nodiscard]] std::size_t count() const { return exec::read(space_, places().data() + size()); }
  /// All results in one array of the space, in no order.
  [[nodiscard]] exec::buffer<T, Space> gather() const {
    exec::buffer<std::uint64_t, Space> const begin = places();
    exec::buffer<T, Space> all(space_, exec::read(space_, begin.data() + size()));
    exec::for_each_tile<32>(space_, size(), detail::gather_results<T>{last_.data(), begin.data(), all.data()});
    space_.synchronize();
    return all;
  }
  /// Frees all pages, which are of this pool.
  template <class Allocator>
  void free(Allocator& pool) {
    using ref = typename Allocator::ref_type;
    exec::for_each_lane<32>(space_, size(), detail::free_results<T, ref>{last_.data(), pool.ref()});
    clear();
  }

 private:
  // Where the results of each list begin in an array of all, and their number at the end.
  [[nodiscard]] exec::buffer<std::uint64_t, Space> places() const {
    exec::buffer<std::uint32_t, Space> counts(space_, size());
    exec::buffer<std::uint64_t, Space> begin(space_, size() + 1);
    exec::for_each(space_, size(), detail::count_results<T>{last_.data(), counts.data()});
    typename Space::bulk(space_).inclusive_sum(counts.data(), begin.data(), size());
    return begin;
  }
  void clear() {
    space_.fill(last_.data(), 0, last_.bytes());
    space_.fill(lost_.data(), 0, lost_.bytes());
  }

  Space space_;
  exec::buffer<result_page<T>*, Space> last_;
  exec::buffer<std::uint64_t, Space> lost_;
  std::uint32_t page_bytes_;
  std::uint32_t capacity_;
};

}  // namespace relational
