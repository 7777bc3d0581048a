// SPDX-License-Identifier: Apache-2.0
// The minimum spanning forest by the threads of a host. Each thread finds the forest of a part of the edges, by
// Filter-Kruskal (Osipov, Sanders, Singler, ALENEX 2009): before it sorts the larger half of the edges, it drops those
// within a tree of the smaller half. An edge that it drops closes a cycle with smaller edges, and so does in the whole
// graph. One thread then takes from what all have kept, in ascending order, the edges that join two trees.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "../../exec/launch.hpp"
#include "../../graph/types.hpp"
#include "component_forest.hpp"
#include "forest_edges.hpp"

namespace wyrm::algorithms::detail {

struct is_less {
  [[nodiscard]] bool operator()(forest_edge const& a, forest_edge const& b) const {
    return a.weight < b.weight || (a.weight == b.weight && a.key() < b.key());
  }
};

/// Joins the trees at both ends of an edge. Returns whether they were different.
[[nodiscard]] inline bool joins(component_forest const& forest, forest_edge const& e) {
  return forest.unite(e.low, e.high) != no_vertex;
}

/// One item per thread: moves what it keeps of its part of the edges to the front of the part, in ascending order.
struct keep_forest_edges {
  static constexpr std::size_t grain = 1;
  std::size_t vertices;
  forest_edge* const* parts;  // one more than there are threads
  bool are_sorted;
  graph::vertex_id* parents;  // `vertices` per thread
  forest_edge** ends;         // of what is kept
  void operator()(std::size_t i) const {
    component_forest const forest{parents + i * vertices};
    std::iota(forest.parent, forest.parent + vertices, graph::vertex_id{0});
    ends[i] = keep(forest, parts[i], parts[i + 1], parts[i]);
  }

 private:
  // Moves what it keeps of [first, last) to `end`, at `first` or before it. Returns the new end.
  forest_edge* keep(component_forest const& forest, forest_edge* first, forest_edge* last, forest_edge* end) const {
    // Fewer edges are sorted in less time than it takes to drop some.
    if (auto const few = static_cast<std::ptrdiff_t>(vertices / 2 + 64); !are_sorted && last - first > few) {
      forest_edge* const middle = first + (last - first) / 2;
      std::nth_element(first, middle, last, is_less());
      end = keep(forest, first, middle, end);
      last =
          std::remove_if(middle, last, [&](forest_edge const& e) { return forest.find(e.low) == forest.find(e.high); });
      return keep(forest, middle, last, end);
    }
    if (!are_sorted) std::sort(first, last, is_less());
    for (; first < last; ++first)
      if (joins(forest, *first)) *end++ = *first;
    return end;
  }
};

/// Finds the edges of the forest, writes their keys to `chosen`, and returns their number. Changes the order of the
/// edges. are_sorted: the edges are in ascending order, and the keys are so, too. parents: n per thread.
template <class Space>
std::size_t forest_on_host(Space const& space, std::size_t threads, std::size_t n, forest_edge* edges,
                           std::size_t count, bool are_sorted, graph::vertex_id* parents, std::uint64_t* chosen) {
  std::vector<forest_edge*> parts(threads + 1);
  std::vector<forest_edge*> ends(threads);
  for (std::size_t i = 0; i <= threads; ++i) parts[i] = edges + count / threads * i;
  parts[threads] = edges + count;
  exec::for_each(space, threads, keep_forest_edges{n, parts.data(), are_sorted, parents, ends.data()});
  space.synchronize();
  component_forest const forest{parents};
  std::iota(parents, parents + n, graph::vertex_id{0});
  std::uint64_t* end = chosen;
  for (;;) {
    std::size_t least = threads;  // the part with the least edge that is left
    for (std::size_t i = 0; i < threads; ++i)
      if (parts[i] < ends[i] && (least == threads || is_less()(*parts[i], *parts[least]))) least = i;
    if (least == threads) return static_cast<std::size_t>(end - chosen);
    forest_edge const& e = *parts[least]++;
    if (threads == 1 || joins(forest, e)) *end++ = e.key();
  }
}

}  // namespace wyrm::algorithms::detail
