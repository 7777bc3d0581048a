// SPDX-License-Identifier: Apache-2.0
// A stream of payments: the value of an edge is the sum of all payments from one account to another. Batches have
// payments and closed relations in the order of time. After each batch, relations of small sums are erased. The graph
// is compared with a std::map. At the end the sums are the weights of PageRank.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <numeric>
#include <random>
#include <vector>
#include <wyrm/algorithms/pagerank.hpp>
#include <wyrm/alloc/ouroboros/ouroboros.hpp>
#include <wyrm/exec/host_space.hpp>
#include <wyrm/graph/dynamic_graph.hpp>
#include <wyrm/graph/queries.hpp>

using wyrm::graph::edge;
using wyrm::graph::operation;
using wyrm::graph::vertex_id;
using space = wyrm::exec::host_space;
using payments = wyrm::graph::dynamic_graph<space, wyrm::alloc::ouroboros_s_p<space>, float>;

/// True for edges of small sums. Compiled by nvcc, this would be a __host__ __device__ function.
struct is_below {
  float limit;
  bool operator()(vertex_id, vertex_id, float sum) const { return sum < limit; }
};

int main() try {
  constexpr vertex_id accounts = 2000;
  constexpr float small = 2;
  space const here;
  payments g(here, accounts, {.directed = true, .combine = wyrm::graph::combiner::sum});
  std::map<edge, float> model;
  std::mt19937 random(1);

  for (int batch = 0; batch < 5; ++batch) {
    std::vector<edge> edges;
    std::vector<operation> operations;
    std::vector<float> amounts;
    for (int i = 0; i < 20'000; ++i) {
      // Few accounts make most payments. Amounts are multiples of 1/4, whose sums are exact.
      vertex_id const from = random() % 4 == 0 ? random() % accounts : random() % 50;
      edge const e{from, static_cast<vertex_id>(random() % 400 + from) % accounts};
      bool const closes = random() % 20 == 0;
      float const amount = closes ? 0 : 0.25f * static_cast<float>(random() % 16 + 1);
      if (e.source == e.target) continue;
      edges.push_back(e);
      operations.push_back(closes ? operation::erase : operation::insert);
      amounts.push_back(amount);
      if (closes)
        model.erase(e);
      else
        model[e] += amount;
    }
    wyrm::graph::update_report const applied = g.apply(edges, operations, amounts);
    wyrm::graph::update_report const erased = g.erase_if(is_below{small});
    std::erase_if(model, [](auto const& entry) { return entry.second < small; });
    std::printf("batch %d: %zu relations opened, %zu updated, %zu closed, %zu erased as small; %zu remain\n", batch,
                std::size_t{applied.inserted}, std::size_t{applied.updated}, std::size_t{applied.erased},
                std::size_t{erased.erased}, std::size_t{g.edges()});

    // The sums of all pairs of this batch; -1 for a relation that is closed, or was small.
    std::vector<float> const sums = wyrm::graph::values<float>(here, g.view(), edges, -1);
    for (std::size_t i = 0; i < edges.size(); ++i) {
      auto const at = model.find(edges[i]);
      if (sums[i] != (at == model.end() ? -1 : at->second)) return 1;
    }
    if (g.edges() != model.size()) return 1;
  }

  // Whom account 0 pays, with probabilities proportional to the sums.
  std::vector<vertex_id> const seeds{0};
  auto const hops = wyrm::graph::sample_neighbours_by_weight<float>(here, g.view(), seeds, {.fan_out = {5}});
  for (vertex_id const to : hops[0].targets) {
    auto const at = model.find({0, to});
    if (at == model.end()) return 1;
    std::printf("account 0 pays account %u: %.2f\n", unsigned{to}, static_cast<double>(at->second));
  }

  // Where money arrives if each account passes on what it receives in proportion to the sums.
  auto const ranks = wyrm::algorithms::pagerank(here, g.view(), {.weighted = true}).rank;
  auto const most = std::max_element(ranks.begin(), ranks.end());
  if (std::abs(std::accumulate(ranks.begin(), ranks.end(), 0.0) - 1) > 1e-9) return 1;
  std::printf("account %zu has the largest rank: %.4f\n", static_cast<std::size_t>(most - ranks.begin()), *most);
} catch (wyrm::error const& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
