// SPDX-License-Identifier: Apache-2.0
// The common parts of all queries: scratch memory, the status that kernels report to the host, and the check of ids.
// The kernel that reads the entries of a query also checks them. The host reads the status of the whole query at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

#include "../../exec/atomic.hpp"
#include "../../exec/bulk.hpp"
#include "../../exec/error.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../types.hpp"
#include "../view.hpp"

namespace wyrm::graph {

namespace detail {

/// All bits are 1 at the beginning of a query.
struct query_status {
  static constexpr std::uint64_t none = ~std::uint64_t{0};
  std::uint64_t first_invalid;  // the first entry with an id that is out of range, or none
  std::uint64_t total;          // the last of the offsets, see read_total
  std::uint64_t all_fit;        // 0: a vertex has more neighbours than are sampled

  WYRM_HD void refuse(std::uint64_t entry) {
    if (entry < exec::load_recent(first_invalid))
      exec::atomic_ref<std::uint64_t>(first_invalid).fetch_min(entry, exec::relaxed);
  }
};

/// Copies the last offset to the status, so that the host reads both at once.
struct read_total {
  std::uint64_t const* last;
  query_status* status;
  WYRM_HD void operator()(std::size_t) const { status->total = *last; }
};

}  // namespace detail

/// The scratch memory of queries. Passed to a query in place of a space, it keeps scratch memory between calls. Not
/// thread-safe: one host thread at a time may use an object.
template <class Space>
class query_scratch {
 public:
  using space_type = Space;
  explicit query_scratch(Space const& space)
      : bulk(space),
        lengths(space),
        offsets(space),
        parts(space),
        part_offsets(space),
        tables(space),
        keys(space),
        spare(space),
        space_(space),
        status_(space, 1) {}

  [[nodiscard]] Space const& space() const { return space_; }

  // The rest is for the implementation of queries.

  /// Resets the status for a new query, and returns it.
  detail::query_status* begin() {
    space_.fill(status_.data(), 0xff, status_.bytes());
    return status_.data();
  }
  /// Computes the offsets of rows with these lengths; `to` has n + 1 entries. wait() returns their total.
  void add_up(std::uint32_t const* lengths_of_rows, std::size_t n, std::uint64_t* to) {
    bulk.inclusive_sum(lengths_of_rows, to, n);
    exec::for_each(space_, 1, detail::read_total{to + n, status_.data()});
  }
  /// Waits for the kernels, and returns their status. Throws error(bad_argument) for an id that is out of range.
  template <class Entry>
  detail::query_status wait(char const* query, graph_view const& g, Entry const* entries) const {
    detail::query_status const s = exec::read(space_, status_.data());
    if (s.first_invalid == s.none) return s;
    std::string const number = std::to_string(s.first_invalid);
    std::string const n = std::to_string(g.vertices());
    throw error(error_code::bad_argument, std::string(query) + ": entry " + number + " is " +
                                              text(exec::read(space_, entries + s.first_invalid)) +
                                              ", but the graph has " + n + " vertices, numbered from 0");
  }

  typename Space::bulk bulk;
  exec::buffer<std::uint32_t, Space> lengths;       // of the rows of the query
  exec::buffer<std::uint64_t, Space> offsets;       // of the rows of the query
  exec::buffer<std::uint32_t, Space> parts;         // see filter.hpp
  exec::buffer<std::uint64_t, Space> part_offsets;  // see filter.hpp
  exec::buffer<std::uint32_t, Space> tables;        // marks of filter.hpp, or sets of choose.hpp
  exec::buffer<std::uint64_t, Space> keys;          // see sample.hpp
  exec::buffer<std::uint64_t, Space> spare;

 private:
  static std::string text(vertex_id v) { return "vertex " + std::to_string(v); }
  static std::string text(edge e) {
    return "the pair (" + std::to_string(e.source) + ", " + std::to_string(e.target) + ")";
  }

  Space space_;
  exec::buffer<detail::query_status, Space> status_;
};

namespace detail {

template <class Space>
query_scratch<Space> scratch_for(Space const& space) {
  return query_scratch<Space>(space);
}
template <class Space>
query_scratch<Space>& scratch_for(query_scratch<Space>& scratch) {
  return scratch;
}

/// The space of the first argument of a query: a space, or a query_scratch.
template <class On>
using space_of = typename std::remove_cvref_t<decltype(scratch_for(std::declval<On&>()))>::space_type;

/// A copy of the entries of a query in memory of the space.
template <class Space, class T>
exec::buffer<T, Space> upload(Space const& space, std::span<T const> entries) {
  exec::buffer<T, Space> copy(space, entries.size());
  if (!entries.empty()) exec::copy_in<T>(space, copy.data(), entries);
  return copy;
}

}  // namespace detail

}  // namespace wyrm::graph
