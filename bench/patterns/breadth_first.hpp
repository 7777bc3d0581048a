// SPDX-License-Identifier: Apache-2.0
// Breadth-first search ("BFS") from vertex 0 of a random graph with 7 arcs per vertex. Access: most repetitive; each
// level reads the distances of all vertices, the rows of those that it has reached, and distances at random places.
#pragma once

#include "../../exec/atomic.hpp"
#include "pattern.hpp"

namespace wyrm::bench {

struct breadth_first {
  static constexpr char const* name = "breadth_first";
  static constexpr char const* access = "most repetitive";
  static constexpr unsigned arrays = 2;  // rows of `degree` targets; a distance per vertex
  static constexpr unsigned result = 1;
  static constexpr unsigned degree = 7;
  static constexpr word unreached = ~word{0};
  WYRM_HD static constexpr unsigned share(unsigned a) { return a == 0 ? 56 : 8; }

  extent size;

  [[nodiscard]] WYRM_HD std::uint64_t vertices_per_thread() const { return size.words / (degree + 1); }
  [[nodiscard]] WYRM_HD std::uint64_t vertices() const { return vertices_per_thread() * size.threads; }
  [[nodiscard]] WYRM_HD word initial(unsigned array, std::uint64_t i) const {
    if (array == 0) return static_cast<word>(drawn_below(vertices(), 0, i));
    return i == 0 ? 0 : unreached;
  }

  template <class Space, class Array>
  void run(Space const& space, pattern_memory<Array> const& m) const;
};

namespace detail {
/// Thread t visits the neighbours of its own vertices with distance `level`. Several threads may reach a vertex; all of
/// them write the same distance.
template <class Array>
struct visit_level {
  breadth_first p;
  pattern_memory<Array> m;
  word level;
  WYRM_HD void operator()(std::uint64_t t) const {
    std::uint64_t const own = p.vertices_per_thread();
    bool found = false;
    for (std::uint64_t v = t * own; v < (t + 1) * own; ++v) {
      if (distance(v).load(exec::relaxed) != level) continue;
      for (unsigned k = 0; k < p.degree; ++k) {
        auto const neighbour = distance(m.arrays[0][v * p.degree + k]);
        if (neighbour.load(exec::relaxed) != p.unreached) continue;
        neighbour.store(level + 1, exec::relaxed);
        found = true;
      }
    }
    if (found) exec::atomic_ref<std::uint64_t>(*m.scratch).store(level + 1, exec::relaxed);
  }
  WYRM_HD exec::atomic_ref<word> distance(std::uint64_t v) const { return exec::atomic_ref<word>(m.arrays[1][v]); }
};
}  // namespace detail

/// Waits for each level: the host reads whether there is another one.
template <class Space, class Array>
void breadth_first::run(Space const& space, pattern_memory<Array> const& m) const {
  word level = 0;
  do {
    for_each_thread(space, size.threads, detail::visit_level<Array>{*this, m, level});
  } while (exec::read(space, m.scratch) == ++level);
}

}  // namespace wyrm::bench
