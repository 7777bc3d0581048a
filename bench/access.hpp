// SPDX-License-Identifier: Apache-2.0
// The graph clustering test of "AlignMalloc: Warp-Aware Memory Rearrangement Aligned With UVM Prefetching for
// Large-Scale GPU Dynamic Allocations" (TPDS 2025, sections III-A and VII-H): threads allocate lists of edges on the
// device, and then perform random walks on the graph. The speed of the walks depends on the memory layout that the
// allocator produces.
//
// From the paper: 1,000 threads with one list each; at scale 1 there are 16 K nodes and 128 edges per list; a step
// reads a list of the graph; the number of accesses is equal for all scales; threads make about 50 accesses (according
// to the related test in III-B).
//
// The paper does not specify the following, for which this test makes these choices:
//   - the list of a node, as there are more nodes than lists: the list of thread (node mod 1,000);
//   - the number of nodes at larger scales: it grows like the number of edges;
//   - the targets of edges: uniform over all nodes;
//   - the size of an edge: 64 bytes, all of which an access reads;
//   - the form of a list, one block ("follows the address allocated to the thread before") or linked ("linked lists"):
//     `whole` has one request per thread; `linked` has one request per edge, in the order of the list, and each edge
//     has the address of the next one;
//   - how a step selects its edge: it draws a position in the list; in a linked list it follows that number of links.
//     Each of these is an access, so the number of accesses grows with the scale;
//   - the start nodes of walks: random.
// In the paper lists are in unified memory. Here a case says in which kind of memory they are, and to_host() moves them
// there, so that walks contain the cost of page faults.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../alloc/allocator.hpp"
#include "../exec/atomic.hpp"
#include "../exec/config.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "../exec/philox.hpp"

namespace wyrm::bench {

struct alignas(16) edge_record {
  static constexpr std::uint32_t words = 13;
  edge_record* next;  // in a linked list
  std::uint32_t target;
  std::uint32_t word[words];
};
static_assert(sizeof(edge_record) == 64);

/// The graph and the walks on it. They need no memory, because edges and draws are functions of these fields.
struct access_case {
  bool linked = false;
  std::uint32_t lists = 1000;  // one per thread
  std::uint32_t edges = 128;   // per list
  std::uint32_t nodes = 16 * 1024;
  std::uint32_t steps = 50;  // per walk

  [[nodiscard]] static access_case of_scale(std::uint32_t scale, bool linked) {
    return {.linked = linked, .edges = 128 * scale, .nodes = 16 * 1024 * scale};
  }
  [[nodiscard]] std::size_t bytes() const { return std::size_t{lists} * edges * sizeof(edge_record); }

  [[nodiscard]] WYRM_HD edge_record edge(std::uint32_t list, std::uint32_t i) const {
    exec::four_words const drawn = exec::philox({{list, i, 0, 0}}, 1, 0);
    edge_record e{nullptr, drawn.x[0] % nodes, {}};
    for (std::uint32_t k = 0; k < edge_record::words; ++k) e.word[k] = drawn.x[1] + k * drawn.x[2];
    return e;
  }
  [[nodiscard]] WYRM_HD std::uint32_t start(std::uint32_t seed, std::uint32_t walker) const {
    return exec::philox({{walker, steps, seed, 1}}, 1, 0).x[0] % nodes;
  }
  /// The index in its list of the edge that a step reads.
  [[nodiscard]] WYRM_HD std::uint32_t place(std::uint32_t seed, std::uint32_t walker, std::uint32_t step) const {
    return exec::philox({{walker, step, seed, 1}}, 1, 0).x[0] % edges;
  }
};

/// The sum that a step computes from an edge.
[[nodiscard]] WYRM_HD inline std::uint64_t sum_of(edge_record const& e) {
  std::uint64_t sum = e.target;
  for (std::uint32_t const word : e.word) sum += word;
  return sum;
}

/// The expected results of the walks, computed on the host without lists.
struct expected_walks {
  std::vector<std::uint64_t> sums;  // one per walker
  std::uint64_t accesses = 0;       // edges that are read, including the links followed in linked lists
};
[[nodiscard]] inline expected_walks expect_walks(access_case const& c, std::uint32_t seed) {
  expected_walks r{std::vector<std::uint64_t>(c.lists), 0};
  for (std::uint32_t w = 0; w < c.lists; ++w) {
    std::uint32_t node = c.start(seed, w);
    for (std::uint32_t step = 0; step < c.steps; ++step) {
      std::uint32_t const place = c.place(seed, w, step);
      edge_record const e = c.edge(node % c.lists, place);
      r.sums[w] += sum_of(e);
      r.accesses += 1 + (c.linked ? place : 0);
      node = e.target;
    }
  }
  return r;
}

namespace detail {

/// One lane per list. A list ends where a request fails.
template <class Ref>
struct allocate_lists {
  static constexpr unsigned resident_blocks = exec::resident_blocks_of<Ref>();
  Ref ref;
  access_case c;
  edge_record** heads;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    std::uint32_t const requests = c.linked ? c.edges : 1;
    std::size_t const bytes = sizeof(edge_record) * (c.linked ? 1 : c.edges);
    edge_record* last = nullptr;
    for (std::uint32_t k = 0; k < requests; ++k) {
      bool const requests_block = valid && (k == 0 || last != nullptr);
      auto* const fresh = static_cast<edge_record*>(ref.allocate(t, requests_block ? bytes : 0));
      if (!requests_block) continue;
      (k == 0 ? heads[i] : last->next) = fresh;
      last = fresh;
    }
    if (last != nullptr) last->next = nullptr;
  }
};

template <class Ref>
struct free_lists {
  static constexpr unsigned resident_blocks = exec::resident_blocks_of<Ref>();
  Ref ref;
  access_case c;
  edge_record* const* heads;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    edge_record* at = valid ? heads[i] : nullptr;
    for (std::uint32_t k = 0; k < (c.linked ? c.edges : 1); ++k) {
      edge_record* const next = c.linked && at != nullptr ? at->next : nullptr;
      ref.deallocate(t, at);
      at = next;
    }
  }
};

/// One lane per list: writes its edges.
struct write_lists {
  access_case c;
  edge_record* const* heads;
  template <class Tile>
  WYRM_HD void operator()(Tile const&, std::size_t i, bool valid) const {
    if (!valid) return;
    edge_record* at = heads[i];
    for (std::uint32_t k = 0; k < c.edges && at != nullptr; ++k) {
      edge_record* const next = c.linked ? at->next : at + 1;
      *at = c.edge(static_cast<std::uint32_t>(i), k);
      if (c.linked) at->next = next;
      at = next;
    }
  }
};
/// One lane per list: counts the edges that are missing or different.
struct find_damaged_edges {
  access_case c;
  edge_record* const* heads;
  std::uint64_t* damaged;
  template <class Tile>
  WYRM_HD void operator()(Tile const&, std::size_t i, bool valid) const {
    if (!valid) return;
    std::uint64_t here = 0;
    edge_record const* at = heads[i];
    for (std::uint32_t k = 0; k < c.edges; ++k) {
      if (at == nullptr) {
        ++here;
        continue;
      }
      edge_record const expected = c.edge(static_cast<std::uint32_t>(i), k);
      bool same = at->target == expected.target;
      for (std::uint32_t w = 0; w < edge_record::words; ++w) same = same && at->word[w] == expected.word[w];
      here += same ? 0 : 1;
      at = c.linked ? at->next : at + 1;
    }
    if (here > 0) exec::atomic_ref<std::uint64_t>(*damaged).fetch_add(here, exec::relaxed);
  }
};

/// One lane per walk.
struct walk_lists {
  access_case c;
  edge_record* const* heads;
  std::uint32_t seed;
  std::uint64_t* sums;
  template <class Tile>
  WYRM_HD void operator()(Tile const&, std::size_t i, bool valid) const {
    if (!valid) return;
    auto const walker = static_cast<std::uint32_t>(i);
    std::uint32_t node = c.start(seed, walker);
    std::uint64_t sum = 0;
    for (std::uint32_t step = 0; step < c.steps; ++step) {
      std::uint32_t const place = c.place(seed, walker, step);
      edge_record const* at = heads[node % c.lists];
      if (!c.linked) at += place;
      for (std::uint32_t k = 0; c.linked && k < place; ++k) at = at->next;
      edge_record const e = *at;
      sum += sum_of(e);
      node = e.target;
    }
    sums[i] = sum;
  }
};

}  // namespace detail

/// Lists in memory of an allocator. Members that launch kernels do not wait; kernels execute in the order of the calls.
template <class Allocator>
class access_lists {
 public:
  using space_type = typename Allocator::space_type;
  using view_type = typename Allocator::view_type;

  access_lists(space_type const& space, access_case const& c, std::size_t pool_bytes,
               exec::memory_kind kind = exec::memory_kind::device)
      : space_(space),
        c_(c),
        pool_(space, {.pool_bytes = pool_bytes, .reserve_bytes = pool_bytes, .checked = false, .memory = kind}),
        heads_(space, c.lists),
        sums_(space, c.lists),
        damaged_(space, 1) {
    space_.fill(damaged_.data(), 0, damaged_.bytes());
  }

  void allocate() {
    exec::for_each_lane<32>(space_, c_.lists, detail::allocate_lists<view_type>{pool_.view(), c_, heads_.data()});
  }
  void free() {
    exec::for_each_lane<32>(space_, c_.lists, detail::free_lists<view_type>{pool_.view(), c_, heads_.data()});
  }
  void write() { exec::for_each_lane<32>(space_, c_.lists, detail::write_lists{c_, heads_.data()}); }
  void verify() {
    exec::for_each_lane<32>(space_, c_.lists, detail::find_damaged_edges{c_, heads_.data(), damaged_.data()});
  }
  /// The number of missing or different edges in all calls of verify().
  [[nodiscard]] std::uint64_t damaged() const { return exec::read(space_, damaged_.data()); }
  /// Moves the pages of all lists, which are whole and in managed memory, to the host.
  void to_host() const {
    for (edge_record* const list : exec::copy_out(space_, heads_.data(), c_.lists))
      space_.prefetch(list, std::size_t{c_.edges} * sizeof(edge_record), exec::memory_location::host);
  }
  /// All lists must be complete.
  void walk(std::uint32_t seed) {
    exec::for_each_lane<32>(space_, c_.lists, detail::walk_lists{c_, heads_.data(), seed, sums_.data()});
  }
  /// The sum of each walker.
  [[nodiscard]] std::vector<std::uint64_t> sums() const { return exec::copy_out(space_, sums_.data(), c_.lists); }
  [[nodiscard]] edge_record* head(std::size_t list) const { return exec::read(space_, heads_.data() + list); }
  [[nodiscard]] Allocator& pool() { return pool_; }

 private:
  space_type space_;
  access_case c_;
  Allocator pool_;
  exec::buffer<edge_record*, space_type> heads_;
  exec::buffer<std::uint64_t, space_type> sums_;
  exec::buffer<std::uint64_t, space_type> damaged_;
};

}  // namespace wyrm::bench
