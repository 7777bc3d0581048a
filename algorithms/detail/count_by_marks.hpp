// SPDX-License-Identifier: Apache-2.0
// Triangles by the threads of a host: a thread marks the neighbours of a vertex in a bit map of its own, and counts the
// marks among the neighbours of these. Where two rows that are stepped through side by side make a core guess at each
// entry which of them goes on, nothing here depends on what was found; and the bits of a graph's vertices stay in the
// caches of the core. Which edges are looked at is up to the rows: oriented ones, or of all rows what is before the
// vertex itself.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/memory.hpp"
#include "../../exec/tile.hpp"
#include "../../graph/view.hpp"

namespace wyrm::algorithms::detail {

/// Empty sets of vertices, one for each thread that may run at once. A tile takes one, and gives it back empty.
struct mark_sets_view {
  std::uint64_t* words;
  std::size_t words_of_set;
  std::uint32_t* taken;
  unsigned sets;

  template <class Tile>
  [[nodiscard]] WYRM_HD unsigned take(Tile const& t) const {
    auto set = static_cast<unsigned>(exec::thread_number(t) / 32 % sets);  // mostly nobody else's
    for (unsigned attempt = 0; flag(set).exchange(1, exec::acquire) != 0; ++attempt) {
      set = (set + 1) % sets;
      if (set == 0) t.backoff(attempt);
    }
    return set;
  }
  WYRM_HD void release(unsigned set) const { flag(set).store(0, exec::release); }
  [[nodiscard]] WYRM_HD std::uint64_t* bits(unsigned set) const { return words + set * words_of_set; }

 private:
  [[nodiscard]] WYRM_HD exec::atomic_ref<std::uint32_t> flag(unsigned set) const {
    return exec::atomic_ref<std::uint32_t>(taken[set]);
  }
};

/// Owns them.
template <class Space>
class mark_sets {
 public:
  explicit mark_sets(Space const& space) : space_(space), words_(space), taken_(space) {}

  /// For n vertices; n / 8 bytes a thread.
  mark_sets_view make(std::size_t n) {
    std::size_t const words = (n + 511) / 512 * 8;  // no two in a cache line
    unsigned const sets = space_.threads();
    words_.reserve(words * sets);
    taken_.reserve(sets);
    space_.fill(words_.data(), 0, words * sets * sizeof(std::uint64_t));
    space_.fill(taken_.data(), 0, sets * sizeof(std::uint32_t));
    return {words_.data(), words, taken_.data(), sets};
  }

 private:
  Space space_;
  exec::buffer<std::uint64_t, Space> words_;
  exec::buffer<std::uint32_t, Space> taken_;
};

/// A tile of one lane a block of vertices.
struct count_by_marks {
  static constexpr std::size_t block = 64;
  graph::packed_record const* rows;
  std::size_t n;
  bool by_id;  // rows are not oriented: what lies before the vertex counts
  mark_sets_view marks;
  std::uint64_t* total;
  std::uint64_t* per_vertex;  // or nullptr

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t number) const {
    unsigned const set = marks.take(t);
    std::uint64_t found = 0;
    std::size_t const end = number * block + block < n ? number * block + block : n;
    for (std::size_t u = number * block; u < end; ++u)
      found += triangles_at(static_cast<graph::vertex_id>(u), marks.bits(set));
    marks.release(set);
    if (found > 0) add(*total, found);
  }

 private:
  WYRM_HD static void add(std::uint64_t& counter, std::uint64_t n) {
    exec::atomic_ref<std::uint64_t>(counter).fetch_add(n, exec::relaxed);
  }
  [[nodiscard]] WYRM_HD static std::uint64_t is_marked(std::uint64_t const* bits, graph::vertex_id v) {
    return bits[v / 64] >> (v % 64) & 1;
  }
  // No vertex has the largest id.
  [[nodiscard]] WYRM_HD graph::vertex_id end_of(graph::vertex_id v) const { return by_id ? v : ~graph::vertex_id{0}; }

  // The triangles of u and two others of its row. By id the first of these has nobody before it.
  [[nodiscard]] WYRM_HD std::uint64_t triangles_at(graph::vertex_id u, std::uint64_t* bits) const {
    graph::vertex_record const r = rows[u];
    std::uint32_t size = 0;
    for (; size < r.degree && r.page[size] < end_of(u); ++size) bits[r.page[size] / 64] |= 1ull << (r.page[size] % 64);
    std::uint64_t found = 0;
    for (std::uint32_t i = by_id ? 1 : 0; size > 1 && i < size; ++i)
      found += per_vertex == nullptr ? marked(r.page[i], bits) : add_marked_corners(r.page[i], bits);
    if (per_vertex != nullptr && found > 0) add(per_vertex[u], found);
    for (std::uint32_t i = 0; i < size; ++i) bits[r.page[i] / 64] = 0;
    return found;
  }
  // How many of the row of v are marked.
  [[nodiscard]] WYRM_HD std::uint64_t marked(graph::vertex_id v, std::uint64_t const* bits) const {
    graph::vertex_record const r = rows[v];
    graph::vertex_id const end = end_of(v);
    std::uint64_t found = 0;
    for (std::uint32_t i = 0; i < r.degree && r.page[i] < end; ++i) found += is_marked(bits, r.page[i]);
    return found;
  }
  // The same, and each of them is a corner, as v is.
  [[nodiscard]] WYRM_HD std::uint64_t add_marked_corners(graph::vertex_id v, std::uint64_t const* bits) const {
    graph::vertex_record const r = rows[v];
    std::uint64_t found = 0;
    for (std::uint32_t i = 0; i < r.degree && r.page[i] < end_of(v); ++i) {
      if (is_marked(bits, r.page[i]) == 0) continue;
      add(per_vertex[r.page[i]], 1);
      ++found;
    }
    if (found > 0) add(per_vertex[v], found);
    return found;
  }
};

/// A tile of one lane a block of vertices: adds up the squares of degrees.
struct square_degrees {
  graph::packed_record const* rows;
  std::size_t n;
  std::uint64_t* sum;
  template <class Tile>
  WYRM_HD void operator()(Tile const&, std::size_t number) const {
    std::uint64_t here = 0;
    for (std::size_t v = number * count_by_marks::block; v < n && v < (number + 1) * count_by_marks::block; ++v)
      here += std::uint64_t{rows[v].degree} * rows[v].degree;
    exec::atomic_ref<std::uint64_t>(*sum).fetch_add(here, exec::relaxed);
  }
};

}  // namespace wyrm::algorithms::detail
