// SPDX-License-Identifier: Apache-2.0
// Core numbers by the threads of a host (PKC: Kabir and Madduri, "Parallel k-Core Decomposition on Multicore
// Platforms", IPDPSW 2017). For each k, the threads first collect the vertices with k remaining neighbours. A thread
// then removes such a vertex, and goes on with the neighbours that have k left by that, without waiting for other
// threads: most removals of a k take one round.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "../../exec/atomic.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../../graph/view.hpp"

namespace wyrm::algorithms::detail {

/// The end of a list to which several threads append.
class shared_list {
 public:
  shared_list(graph::vertex_id* items, std::uint32_t* size) : items_(items), size_(size) {}
  void append(graph::vertex_id const* from, std::uint32_t count) const {
    if (count == 0) return;
    std::copy_n(from, count, items_ + exec::atomic_ref<std::uint32_t>(*size_).fetch_add(count, exec::relaxed));
  }

 private:
  graph::vertex_id* items_;
  std::uint32_t* size_;
};

/// What a thread appends to a list, many items at a time.
class list_writer {
 public:
  explicit list_writer(shared_list const& to) : to_(to) {}
  list_writer(list_writer const&) = delete;
  ~list_writer() { to_.append(items_, size_); }
  void push(graph::vertex_id v) {
    if (size_ == std::size(items_)) {
      to_.append(items_, size_);
      size_ = 0;
    }
    items_[size_++] = v;
  }

 private:
  shared_list to_;
  graph::vertex_id items_[256];
  std::uint32_t size_ = 0;
};

// A page is prefetched so many vertices before it is read.
inline constexpr std::size_t peel_ahead = 8;

/// Splits a range of the vertices that remained before k: those with k neighbours are removed. The others have more,
/// or were removed before.
struct find_removable {
  static constexpr std::size_t grain = 1;
  static constexpr std::size_t range = 2048;
  graph::vertex_id const* items;  // nullptr: all vertices
  std::size_t count;
  std::uint32_t const* degrees;
  std::uint32_t k;
  shared_list removable;
  shared_list left;
  std::uint32_t* least;  // of the neighbours of the vertices in `left`
  template <class Tile>
  void operator()(Tile const&, std::size_t i) const {
    list_writer to_removable(removable);
    list_writer to_left(left);
    std::uint32_t least_here = ~std::uint32_t{0};
    for (std::size_t at = i * range; at < std::min((i + 1) * range, count); ++at) {
      graph::vertex_id const v = items != nullptr ? items[at] : static_cast<graph::vertex_id>(at);
      if (degrees[v] < k) continue;
      if (degrees[v] == k) {
        to_removable.push(v);
      } else {
        to_left.push(v);
        least_here = std::min(least_here, degrees[v]);
      }
    }
    exec::atomic_ref<std::uint32_t>(*least).fetch_min(least_here, exec::relaxed);
  }
};

/// Removes a range of vertices, and what has k neighbours left by that, as far as the thread has room to remember it.
struct peel_range {
  static constexpr std::size_t grain = 1;
  static constexpr std::size_t range = 64;
  graph::graph_view g;
  std::uint32_t* degrees;
  std::uint32_t* cores;
  std::uint32_t k;
  graph::vertex_id const* items;
  std::size_t count;
  shared_list next;
  template <class Tile>
  void operator()(Tile const&, std::size_t i) const {
    graph::vertex_id stack[512];
    std::uint32_t size = 0;
    list_writer rest(next);
    std::size_t const end = std::min((i + 1) * range, count);
    for (std::size_t at = i * range; at < end; ++at) {
      if (at + peel_ahead < end) __builtin_prefetch(g.neighbours(items[at + peel_ahead]).begin());
      stack[size++] = items[at];
      while (size > 0) {
        graph::vertex_id const v = stack[--size];
        cores[v] = k;
        for (graph::vertex_id const u : g.neighbours(v)) {
          exec::atomic_ref<std::uint32_t> const degree(degrees[u]);
          if (degree.load(exec::relaxed) <= k) continue;
          std::uint32_t const before = degree.fetch_sub(1, exec::relaxed);
          if (before == k + 1) {
            if (size < std::size(stack))
              stack[size++] = u;
            else
              rest.push(u);
          } else if (before <= k) {
            degree.fetch_add(1, exec::relaxed);  // others have removed the vertex meanwhile
          }
        }
      }
    }
  }
};

/// Writes the core numbers of an undirected graph. degrees: for each vertex, the number of its neighbours other than
/// itself; they are lost.
/// O(vertices + arcs), and each vertex is read for each k up to its own at most. Scratch: 12 bytes per vertex.
template <class Space>
void peel_on_host(Space const& space, graph::graph_view const& g, std::uint32_t* degrees, std::uint32_t* cores) {
  std::size_t const n = g.vertices();
  auto const in_ranges = [&]<class F>(std::size_t count, F const& f) {
    exec::for_each_tile<1>(space, (count + F::range - 1) / F::range, f);
  };
  exec::buffer<graph::vertex_id, Space> queue(space, n);
  exec::buffer<graph::vertex_id, Space> lists[2] = {exec::buffer<graph::vertex_id, Space>(space, n),
                                                    exec::buffer<graph::vertex_id, Space>(space, n)};
  graph::vertex_id const* items = nullptr;
  std::size_t count = n;
  std::uint32_t k = 0;
  for (unsigned round = 0; count > 0; ++round) {
    graph::vertex_id* const left = lists[round % 2].data();
    std::uint32_t queued = 0;
    std::uint32_t remaining = 0;
    std::uint32_t least = ~std::uint32_t{0};
    shared_list const removable(queue.data(), &queued);
    in_ranges(count, find_removable{items, count, degrees, k, removable, shared_list(left, &remaining), &least});
    for (std::uint32_t done = 0; done < queued;) {
      std::uint32_t const end = queued;
      in_ranges(end - done, peel_range{g, degrees, cores, k, queue.data() + done, end - done, removable});
      done = end;
    }
    items = left;
    count = remaining;
    k = queued > 0 ? k + 1 : least;
  }
}

}  // namespace wyrm::algorithms::detail
