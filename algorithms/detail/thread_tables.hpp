// SPDX-License-Identifier: Apache-2.0
// Tables of the threads of a host. An algorithm that looks up values by vertex, such as the marks of the neighbours of
// the vertex that it works on, is faster with a table of all vertices than with a hash table: a lookup has no branch
// that a core predicts badly. The table takes memory for each thread, so it is not for devices.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/memory.hpp"
#include "../../exec/tile.hpp"
#include "../../graph/types.hpp"

namespace wyrm::algorithms::detail {

/// Tables of zeros, one for each thread that may run at the same time. A tile acquires a table, and has to write zeros
/// over what it has written before it releases it.
template <class T>
struct thread_tables_view {
  T* entries;
  std::size_t entries_each;
  std::uint32_t* in_use;
  unsigned count;

  template <class Tile>
  [[nodiscard]] WYRM_HD unsigned acquire(Tile const& t) const {
    auto index = static_cast<unsigned>(exec::thread_number(t) / 32 % count);  // rarely in use by another thread
    for (unsigned attempt = 0; flag(index).exchange(1, exec::acquire) != 0; ++attempt) {
      index = (index + 1) % count;
      if (index == 0) t.backoff(attempt);
    }
    return index;
  }
  WYRM_HD void release(unsigned index) const { flag(index).store(0, exec::release); }
  [[nodiscard]] WYRM_HD T* table(unsigned index) const { return entries + index * entries_each; }

 private:
  [[nodiscard]] WYRM_HD exec::atomic_ref<std::uint32_t> flag(unsigned index) const {
    return exec::atomic_ref<std::uint32_t>(in_use[index]);
  }
};

/// Sums of numbers by label, in two halves of a table: the sums of all labels, and the labels that were found.
template <class T>
struct label_sums {
  T* sums;
  T* found;
  std::uint32_t size = 0;

  /// A label whose numbers are 0 may be found more than once, at most as often as numbers are added.
  WYRM_HD void add(graph::vertex_id label, T number) {
    found[size] = label;
    size += sums[label] == 0 ? 1 : 0;
    sums[label] += number;
  }
  [[nodiscard]] WYRM_HD T operator[](graph::vertex_id label) const { return sums[label]; }
  /// Calls f(label, sum) for all labels found, and clears the sums.
  template <class F>
  WYRM_HD void take_each(F const& f) {
    for (std::uint32_t i = 0; i < size; ++i) {
      auto const label = static_cast<graph::vertex_id>(found[i]);
      f(label, sums[label]);
      sums[label] = 0;
    }
    size = 0;
  }
};

/// A table that a tile holds; flush() releases it.
template <class T>
class held_table {
 public:
  template <class Tile>
  WYRM_HD held_table(Tile const& t, thread_tables_view<T> const& tables) : tables_(tables), index_(tables.acquire(t)) {}
  /// A copy for a loop: a compiler would load members of an object in memory again after each store.
  [[nodiscard]] WYRM_HD label_sums<T> sums() const {
    return {tables_.table(index_), tables_.table(index_) + tables_.entries_each / 2};
  }
  template <class Tile>
  WYRM_HD void flush(Tile const&) const {
    tables_.release(index_);
  }

 private:
  thread_tables_view<T> tables_;
  unsigned index_;
};

/// Owns the tables.
template <class T, class Space>
class thread_tables {
 public:
  explicit thread_tables(Space const& space) : space_(space), entries_(space), in_use_(space) {}

  /// Tables of n entries.
  thread_tables_view<T> make(std::size_t n) {
    reserve(n);
    entries_each_ = entries_for(n);
    space_.fill(entries_.data(), 0, entries_each_ * space_.threads() * sizeof(T));
    space_.fill(in_use_.data(), 0, space_.threads() * sizeof(std::uint32_t));
    return view();
  }
  /// Those of the last make().
  [[nodiscard]] thread_tables_view<T> view() const {
    return {entries_.data(), entries_each_, in_use_.data(), space_.threads()};
  }
  /// Requests the memory of make().
  void reserve(std::size_t n) {
    entries_.reserve(entries_for(n) * space_.threads());
    in_use_.reserve(space_.threads());
  }

 private:
  // No two tables are in one cache line.
  static std::size_t entries_for(std::size_t n) {
    constexpr std::size_t of_line = 64 / sizeof(T);
    return (n + of_line - 1) / of_line * of_line;
  }

  Space space_;
  std::size_t entries_each_ = 0;
  exec::buffer<T, Space> entries_;
  exec::buffer<std::uint32_t, Space> in_use_;
};

}  // namespace wyrm::algorithms::detail
