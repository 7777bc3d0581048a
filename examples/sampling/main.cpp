// SPDX-License-Identifier: Apache-2.0
// Sampling for a neural network: edges arrive in batches, and after each batch the mini-batch of the next training step
// is sampled from the graph as it is then, without a rebuild: 15 neighbours of each seed, and 10 of each of these.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <span>
#include <vector>
#include <wyrm/datasets/generators.hpp>
#include <wyrm/graph/queries.hpp>

int main() try {
  wyrm::graph::edge_list const list = wyrm::datasets::rmat(14, 16, 1);
  std::span<wyrm::graph::edge const> const edges = list.edges;
  std::size_t const batch = edges.size() / 4;
  std::vector<wyrm::graph::vertex_id> seeds(100);
  std::iota(seeds.begin(), seeds.end(), 0u);

  wyrm::graph::any_graph g(wyrm::exec::make_space("auto"), "ouroboros-s-p", list.vertices);
  for (std::size_t step = 0; step < 4; ++step) {
    g.insert(edges.subspan(step * batch, batch));
    auto const hops = wyrm::graph::sample_neighbours(g, seeds, {.fan_out = {15, 10}, .seed = step});
    std::printf("%zu edges; %zu seeds, %zu neighbours, %zu of their neighbours\n", std::size_t{g.edges()}, seeds.size(),
                hops[0].targets.size(), hops[1].targets.size());

    // Each seed has min(15, degree) samples, all of which are its neighbours.
    std::vector<std::uint32_t> const degrees = wyrm::graph::degrees(g, seeds);
    std::vector<wyrm::graph::edge> samples;
    for (std::size_t i = 0; i < seeds.size(); ++i) {
      if (hops[0].offsets[i + 1] - hops[0].offsets[i] != std::min(15u, degrees[i])) return 1;
      for (std::uint64_t j = hops[0].offsets[i]; j < hops[0].offsets[i + 1]; ++j)
        samples.push_back({seeds[i], hops[0].targets[j]});
    }
    std::vector<std::uint8_t> const found = wyrm::graph::contains(g, samples);
    if (std::count(found.begin(), found.end(), 1) != static_cast<std::ptrdiff_t>(samples.size())) return 1;
  }
} catch (wyrm::error const& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
