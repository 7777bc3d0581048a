// SPDX-License-Identifier: Apache-2.0
// Tables of the threads of a host. An algorithm that looks up numbers by vertex or label, such as the marks of the
// neighbours of the vertex that it works on, is faster with a table of all vertices than with a hash table: a lookup
// has no branch that a core predicts badly. The tables take memory for each thread, so they are not for devices. If
// there are many threads, there are fewer tables, and some threads wait.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../../exec/tile.hpp"
#include "../../graph/types.hpp"

namespace wyrm::algorithms::detail {

/// Tables of zeros. A tile acquires a table, and has to write zeros over what it has written before it releases it.
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

/// The most bytes of the tables of one owner together, for the largest graph so far: about as many as hash tables of
/// all rows would take. With 8 bytes per vertex, this is enough for about 8 threads, and 1.5 more for each arc per
/// vertex.
[[nodiscard]] inline std::uint64_t most_table_bytes(std::size_t vertices, std::uint64_t arcs) {
  return 64 * std::uint64_t{vertices} + 12 * arcs;
}

/// A tile of one lane per table.
template <class T>
struct clear_table {
  static constexpr std::size_t grain = 1;
  thread_tables_view<T> tables;
  template <class Tile>
  WYRM_HD void operator()(Tile const&, std::size_t index) const {
    T* const table = tables.table(static_cast<unsigned>(index));
    for (std::size_t i = 0; i < tables.entries_each; ++i) table[i] = 0;
  }
};

/// Owns the tables, which stay zero from one use to the next.
template <class T, class Space>
class thread_tables {
 public:
  explicit thread_tables(Space const& space) : space_(space), entries_(space), in_use_(space) {}

  /// Requests memory for tables of at least n entries: one for each thread, or fewer if all together would have more
  /// than `most` bytes. A request for less than an earlier one changes nothing. Throws error(out_of_memory); there are
  /// no tables then.
  void reserve(std::size_t n, std::uint64_t most) {
    std::size_t const each = n <= entries_each_ ? entries_each_ : whole_lines(exec::grown_room(entries_each_, n));
    if (each == 0) return;
    auto const count = static_cast<unsigned>(std::clamp<std::uint64_t>(most / (each * sizeof(T)), 1, space_.threads()));
    if (each == entries_each_ && count <= count_) return;
    entries_each_ = 0;
    is_clear_ = false;
    in_use_.reserve(count);
    space_.fill(in_use_.data(), 0, in_use_.bytes());
    entries_.reserve(each * count);
    entries_each_ = each;
    count_ = count;
  }
  /// The tables, for kernels.
  thread_tables_view<T> cleared() {
    if (!is_clear_) exec::for_each_tile<1>(space_, count_, clear_table<T>{view()});
    is_clear_ = true;
    return view();
  }
  /// The same after cleared().
  [[nodiscard]] thread_tables_view<T> view() const { return {entries_.data(), entries_each_, in_use_.data(), count_}; }

 private:
  // No two tables are in one cache line.
  static std::size_t whole_lines(std::size_t n) {
    constexpr std::size_t of_line = 64 / sizeof(T);
    return (n + of_line - 1) / of_line * of_line;
  }

  Space space_;
  std::size_t entries_each_ = 0;
  unsigned count_ = 0;
  bool is_clear_ = false;
  exec::buffer<T, Space> entries_;
  exec::buffer<std::uint32_t, Space> in_use_;
};

/// Sums of numbers by label: a table of the sums of all labels, and a list of the labels that were found.
template <class T>
struct label_sums {
  T* sums;
  graph::vertex_id* found;
  std::uint32_t size = 0;

  /// A label whose numbers are 0 may be found more than once, at most as often as numbers are added. The list has room
  /// for one label more.
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
      f(found[i], sums[found[i]]);
      sums[found[i]] = 0;
    }
    size = 0;
  }
};

/// Tables of sums, each with a list of labels.
template <class T>
struct label_tables_view {
  thread_tables_view<T> sums;
  graph::vertex_id* found;

  /// A table that a tile holds until it calls flush().
  class held {
   public:
    WYRM_HD held(label_tables_view const& tables, unsigned index) : tables_(tables), index_(index) {}
    /// A copy for a loop: a compiler would load members of an object in memory again after each store.
    [[nodiscard]] WYRM_HD label_sums<T> empty_sums() const {
      return {tables_.sums.table(index_), tables_.found + index_ * tables_.sums.entries_each};
    }
    template <class Tile>
    WYRM_HD void flush(Tile const&) const {
      tables_.sums.release(index_);
    }

   private:
    label_tables_view tables_;
    unsigned index_;
  };
  template <class Tile>
  [[nodiscard]] WYRM_HD held acquire(Tile const& t) const {
    return {*this, sums.acquire(t)};
  }
};

/// Owns tables of sums, and lists.
template <class T, class Space>
class label_tables {
 public:
  explicit label_tables(Space const& space) : sums_(space), found_(space) {}

  /// Requests memory for n labels, in a graph with so many vertices and arcs, as thread_tables. A number is added to a
  /// table only if it is not 0, or at most n - 1 are added.
  void reserve(std::size_t n, std::uint64_t arcs) {
    sums_.reserve(n + 1, most_table_bytes(n, arcs) / (sizeof(T) + sizeof(graph::vertex_id)) * sizeof(T));
    thread_tables_view<T> const all = sums_.view();
    found_.reserve(all.entries_each * all.count);
  }
  /// The tables, for kernels.
  label_tables_view<T> cleared() { return {sums_.cleared(), found_.data()}; }
  /// The same after cleared().
  [[nodiscard]] label_tables_view<T> view() const { return {sums_.view(), found_.data()}; }

 private:
  thread_tables<T, Space> sums_;
  exec::buffer<graph::vertex_id, Space> found_;
};

}  // namespace wyrm::algorithms::detail
