// SPDX-License-Identifier: Apache-2.0
// Windows of rows that lie in one array, of which a memory manager has a part in host memory. An algorithm that reads
// such rows many times, and at random, copies a window, that is the rows of consecutive vertices, to device memory. If
// all rows do not fit there, it has two windows at a time, for the rows of both ends of an arc, and goes through all
// pairs: k windows are copied k * k times, over the bus, and in order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../exec/error.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../../graph/view.hpp"

namespace wyrm::algorithms::detail {

/// The rows of the vertices [first, last), for kernels.
struct row_window {
  graph::vertex_id first;
  graph::vertex_id last;
  std::uint64_t first_entry;  // of all rows
  std::uint64_t last_entry;
  graph::vertex_id const* entries;  // the copy
};

struct cut_windows {
  std::uint64_t const* offsets;
  graph::vertex_id n;
  std::uint64_t entries;
  row_window* windows;
  WYRM_HD void operator()(std::size_t k) const {
    graph::vertex_id const first = vertex_at(k * entries);
    graph::vertex_id const last = vertex_at((k + 1) * entries);
    windows[k] = {first, last, offsets[first], offsets[last], nullptr};
  }

 private:
  // The first vertex whose row begins at or after an entry; n if there is none.
  [[nodiscard]] WYRM_HD graph::vertex_id vertex_at(std::uint64_t entry) const {
    return graph::lower_bound(offsets, n, entry);
  }
};

struct copy_entries {
  graph::vertex_id const* from;
  graph::vertex_id* to;
  WYRM_HD void operator()(std::size_t i) const { to[i] = from[i]; }
};

/// Rows without gaps, as a CSR has them. longest: no row has more entries, or windows would overflow.
struct rows_in_order {
  std::uint64_t const* offsets;
  graph::vertex_id const* entries;
  graph::vertex_id n;
  std::uint64_t size;  // entries of all rows
  std::uint64_t longest;
};

/// Each window has the rows that begin in the next `entries` entries.
template <class Space>
std::vector<row_window> cut_into_windows(Space const& space, rows_in_order const& rows, std::uint64_t entries) {
  std::size_t const count = (rows.size - 1) / entries + 1;
  exec::buffer<row_window, Space> cuts(space, count);
  exec::for_each(space, count, cut_windows{rows.offsets, rows.n, entries, cuts.data()});
  std::vector<row_window> windows = exec::copy_out(space, cuts.data(), count);
  windows.back().last = rows.n;
  windows.back().last_entry = rows.size;
  return windows;
}

/// Calls f(source, target), two windows, for all pairs of windows; begin(source) before all pairs of a source. Returns
/// false, and has called nothing, if there is no room for windows. The copies are freed before it returns.
template <class Space, class Begin, class F>
bool for_each_pair_of_windows(Space const& space, rows_in_order const& rows, Begin const& begin, F const& f) {
  if (rows.size == 0) return false;
  exec::buffer<graph::vertex_id, Space> source(space);
  exec::buffer<graph::vertex_id, Space> target(space);
  // Half of it: arrays cannot be evicted, so others would have no memory while windows exist.
  std::uint64_t room = std::min(rows.size, space.manager()->room_for_arrays() / 2 / sizeof(graph::vertex_id));
  std::vector<row_window> windows;
  for (;; room /= 2) {
    bool const all_fit = rows.size == room;
    if (!all_fit && room / 2 < 2 * rows.longest) return false;
    std::uint64_t const size = all_fit ? rows.size : room / 2;
    try {
      source.reserve(size);
      target.reserve(all_fit ? 0 : size);
      windows = cut_into_windows(space, rows, all_fit ? size : size - rows.longest);
      break;
    } catch (error const& failed) {
      if (failed.code() != error_code::out_of_memory) throw;
    }
    source = exec::buffer<graph::vertex_id, Space>(space);
    target = exec::buffer<graph::vertex_id, Space>(space);
  }
  auto const load = [&](row_window w, exec::buffer<graph::vertex_id, Space>& to) {
    exec::for_each(space, w.last_entry - w.first_entry, copy_entries{rows.entries + w.first_entry, to.data()});
    w.entries = to.data();
    return w;
  };
  for (row_window const& first : windows) {
    if (first.first_entry == first.last_entry) continue;
    row_window const from = load(first, source);
    begin(from);
    f(from, from);
    for (row_window const& second : windows)
      if (&second != &first && second.first_entry < second.last_entry) f(from, load(second, target));
  }
  return true;
}

}  // namespace wyrm::algorithms::detail
