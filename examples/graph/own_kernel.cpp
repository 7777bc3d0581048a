// SPDX-License-Identifier: Apache-2.0
// A kernel of one's own on the view of a graph with weights: the sum of the weights at each vertex. The same source
// runs on a GPU and on a CPU; a tile has up to 8 lanes on the one, and a single lane on the other.
#include <cmath>
#include <cstdio>
#include <vector>
#include <wyrm/alloc/registry.hpp>
#include <wyrm/exec/device.hpp>
#include <wyrm/exec/tile.hpp>
#include <wyrm/graph/dynamic_graph.hpp>

namespace {

using wyrm::graph::vertex_id;

/// One tile per vertex: its lanes share the row.
struct sum_weights {
  wyrm::graph::graph_view g;
  double* sums;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t index) const {
    auto const v = static_cast<vertex_id>(index);
    float const* const weights = g.values<float>(v);
    double mine = 0;
    for (std::uint32_t i = t.rank(); i < g.degree(v); i += Tile::size()) mine += static_cast<double>(weights[i]);
    double const all = wyrm::exec::sum(t, mine);
    if (t.rank() == 0) sums[v] = all;
  }
};

template <class Space>
int run(Space const& space) {
  vertex_id const n = 1000;
  wyrm::graph::dynamic_graph<Space, wyrm::alloc::ouroboros_va_p<Space>, float> g(space, n);
  std::vector<wyrm::graph::valued_edge<float>> ring;
  for (vertex_id v = 0; v < n; ++v) ring.push_back({v, (v + 1) % n, 0.5f});
  g.insert(ring);
  g.insert({{0, 500, 2.0f}, {1, 0, 0.25f}});  // a new edge, and another weight for (0, 1)

  wyrm::exec::buffer<double, Space> sums(space, n);
  wyrm::exec::for_each_tile<8>(space, n, sum_weights{g.view(), sums.data()});
  std::vector<double> const found = wyrm::exec::copy_out(space, sums.data(), n);
  std::printf("%s: the weights at vertices 0, 1, 2 add up to %.2f, %.2f, %.2f\n", Space::name, found[0], found[1],
              found[2]);
  return found[0] == 2.75 && found[1] == 0.75 && found[2] == 1 ? 0 : 1;
}

}  // namespace

int main() try {
  return std::visit([](auto const& space) { return run(space); }, wyrm::exec::make_space("auto"));
} catch (wyrm::error const& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
