// SPDX-License-Identifier: Apache-2.0
// Two layers of a graph convolutional network ("GCN") on a random graph with 16 arcs per vertex and 8 features: each
// vertex adds the features of its neighbours to its own, and multiplies the sum with the weights of the layer; negative
// results become 0. Access: sparse and random; each arc reads 32 bytes at a random place.
#pragma once

#include "pattern.hpp"

namespace wyrm::bench {

struct graph_convolution {
  static constexpr char const* name = "graph_convolution";
  static constexpr char const* access = "sparse, random";
  static constexpr unsigned arrays = 3;  // rows of `degree` targets; features before and after a layer, in turn
  static constexpr unsigned degree = 16;
  static constexpr unsigned features = 8;
  static constexpr unsigned layers = 2;
  static constexpr unsigned result = 1 + layers % 2;
  WYRM_HD static constexpr unsigned share(unsigned a) { return a == 0 ? 32 : 16; }

  extent size;

  [[nodiscard]] WYRM_HD std::uint64_t vertices_per_thread() const { return size.words / (degree + 2 * features); }
  [[nodiscard]] WYRM_HD word initial(unsigned array, std::uint64_t i) const {
    if (array == 0) return static_cast<word>(drawn_below(vertices_per_thread() * size.threads, 0, i));
    return array == 1 ? drawn(1, i) % 256 : 0;
  }
  /// A weight of a layer, from -2 to 2.
  [[nodiscard]] WYRM_HD static constexpr word weight(unsigned layer, unsigned from, unsigned to) {
    return (layer * 2 + from * 3 + to * 7 + from * to) % 5 - 2;
  }

  template <class Space, class Array>
  void run(Space const& space, pattern_memory<Array> const& m) const;
};

namespace detail {
/// Thread t computes the features of its own vertices.
template <class Array>
struct convolve_graph {
  graph_convolution p;
  pattern_memory<Array> m;
  unsigned layer;
  WYRM_HD void operator()(std::uint64_t t) const {
    Array const in = m.arrays[1 + layer % 2];
    Array const out = m.arrays[2 - layer % 2];
    std::uint64_t const own = p.vertices_per_thread();
    for (std::uint64_t v = t * own; v < (t + 1) * own; ++v) {
      word sums[graph_convolution::features];
      for (unsigned f = 0; f < p.features; ++f) sums[f] = in[v * p.features + f];
      for (unsigned k = 0; k < p.degree; ++k) {
        std::uint64_t const neighbour = m.arrays[0][v * p.degree + k];
        for (unsigned f = 0; f < p.features; ++f) sums[f] += in[neighbour * p.features + f];
      }
      for (unsigned to = 0; to < p.features; ++to) {
        word sum = 0;
        for (unsigned from = 0; from < p.features; ++from) sum += sums[from] * p.weight(layer, from, to);
        out[v * p.features + to] = sum >> 31 == 0 ? sum : 0;
      }
    }
  }
};
}  // namespace detail

template <class Space, class Array>
void graph_convolution::run(Space const& space, pattern_memory<Array> const& m) const {
  for (unsigned layer = 0; layer < layers; ++layer)
    for_each_thread(space, size.threads, detail::convolve_graph<Array>{*this, m, layer});
}

}  // namespace wyrm::bench
