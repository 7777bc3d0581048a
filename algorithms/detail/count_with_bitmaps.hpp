// SPDX-License-Identifier: Apache-2.0
// Triangle counting by the threads of a host. A thread marks the neighbours of a vertex in a bitmap of its own, and
// counts the marked ones among the neighbours of these neighbours. A merge of two rows has a branch at each entry that
// a core predicts badly; this loop has no branch that depends on the entries, and the bitmap of all vertices stays in
// the caches of the core. Rows are either oriented, or only the entries before the vertex itself are used.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/memory.hpp"
#include "../../exec/tile.hpp"
#include "../../graph/view.hpp"

namespace wyrm::algorithms::detail {

/// Empty bitmaps of all vertices, one for each thread that may run at the same time. A tile acquires a bitmap, and has
/// to clear it before it releases it.
struct bitmap_pool_view {
  std::uint64_t* words;
  std::size_t words_each;
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
  [[nodiscard]] WYRM_HD std::uint64_t* bits(unsigned index) const { return words + index * words_each; }

 private:
  [[nodiscard]] WYRM_HD exec::atomic_ref<std::uint32_t> flag(unsigned index) const {
    return exec::atomic_ref<std::uint32_t>(in_use[index]);
  }
};

/// Owns the bitmaps.
template <class Space>
class bitmap_pool {
 public:
  explicit bitmap_pool(Space const& space) : space_(space), words_(space), in_use_(space) {}

  /// Bitmaps for n vertices: n / 8 bytes per thread.
  bitmap_pool_view make(std::size_t n) {
    reserve(n);
    std::size_t const words = words_for(n);
    unsigned const count = space_.threads();
    space_.fill(words_.data(), 0, words * count * sizeof(std::uint64_t));
    space_.fill(in_use_.data(), 0, count * sizeof(std::uint32_t));
    return {words_.data(), words, in_use_.data(), count};
  }
  /// Requests the memory of make().
  void reserve(std::size_t n) {
    words_.reserve(words_for(n) * space_.threads());
    in_use_.reserve(space_.threads());
  }

 private:
  // No two bitmaps are in one cache line.
  static std::size_t words_for(std::size_t n) { return (n + 511) / 512 * 8; }

  Space space_;
  exec::buffer<std::uint64_t, Space> words_;
  exec::buffer<std::uint32_t, Space> in_use_;
};

/// A tile of one lane per block of vertices.
struct count_with_bitmaps {
  static constexpr std::size_t block = 64;
  graph::packed_record const* rows;
  std::size_t n;
  bool by_id;  // rows are not oriented: only entries before the vertex count
  bitmap_pool_view bitmaps;
  std::uint64_t* total;
  std::uint64_t* per_vertex;  // or nullptr

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t number) const {
    unsigned const index = bitmaps.acquire(t);
    std::uint64_t found = 0;
    std::size_t const end = number * block + block < n ? number * block + block : n;
    for (std::size_t u = number * block; u < end; ++u)
      found += triangles_at(static_cast<graph::vertex_id>(u), bitmaps.bits(index));
    bitmaps.release(index);
    if (found > 0) add(*total, found);
  }

 private:
  WYRM_HD static void add(std::uint64_t& counter, std::uint64_t n) {
    exec::atomic_ref<std::uint64_t>(counter).fetch_add(n, exec::relaxed);
  }
  [[nodiscard]] WYRM_HD static std::uint64_t is_marked(std::uint64_t const* bits, graph::vertex_id v) {
    return bits[v / 64] >> (v % 64) & 1;
  }
  // The end of the ids that count in the row of v; no vertex has the largest id.
  [[nodiscard]] WYRM_HD graph::vertex_id end_of(graph::vertex_id v) const { return by_id ? v : ~graph::vertex_id{0}; }

  // The triangles of u and two vertices of its row. By id the first vertex of the row has no neighbour before it in
  // that row.
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
  // The number of marked vertices in the row of v.
  [[nodiscard]] WYRM_HD std::uint64_t marked(graph::vertex_id v, std::uint64_t const* bits) const {
    graph::vertex_record const r = rows[v];
    graph::vertex_id const end = end_of(v);
    std::uint64_t found = 0;
    for (std::uint32_t i = 0; i < r.degree && r.page[i] < end; ++i) found += is_marked(bits, r.page[i]);
    return found;
  }
  // The same; also counts the triangle at each marked vertex, and at v.
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

/// A tile of one lane per block of vertices: adds up the squares of degrees.
struct square_degrees {
  graph::packed_record const* rows;
  std::size_t n;
  std::uint64_t* sum;
  template <class Tile>
  WYRM_HD void operator()(Tile const&, std::size_t number) const {
    std::uint64_t here = 0;
    for (std::size_t v = number * count_with_bitmaps::block; v < n && v < (number + 1) * count_with_bitmaps::block; ++v)
      here += std::uint64_t{rows[v].degree} * rows[v].degree;
    exec::atomic_ref<std::uint64_t>(*sum).fetch_add(here, exec::relaxed);
  }
};

}  // namespace wyrm::algorithms::detail
