// SPDX-License-Identifier: Apache-2.0
// A graph whose pages come from an allocator of the user (free_lists.hpp). Each batch inserts
// edges at other vertices, and the edges of an earlier batch are erased, so lists grow and shrink while the number of
// edges stays about the same. The graph is compared with a model. The pool, which is much smaller than all pages that
// the graph allocates, must not grow: freed pages are used again.
#include <cstddef>
#include <cstdio>
#include <random>
#include <set>
#include <utility>
#include <vector>
#include <wyrm/exec/device.hpp>
#include <wyrm/graph/dynamic_graph.hpp>

#include "free_lists.hpp"

namespace {

using wyrm::graph::edge;
using wyrm::graph::vertex_id;
using model = std::set<std::pair<vertex_id, vertex_id>>;  // each edge once, the smaller id first

static_assert(wyrm::alloc::device_allocator<free_lists::pool<wyrm::exec::host_space>>);

constexpr vertex_id vertices = 5000;
constexpr vertex_id rounds = 100;

/// Edges between 1000 vertices from `first` on, half of them at one of ten hubs.
std::vector<edge> random_edges(std::size_t n, vertex_id first, std::mt19937& random) {
  std::vector<edge> edges;
  while (edges.size() < n) {
    auto const u = static_cast<vertex_id>(edges.size() % 2 == 0 ? random() % 10 : random() % 1000);
    auto const v = static_cast<vertex_id>(random() % 1000);
    if (u != v) edges.push_back({(first + u) % vertices, (first + v) % vertices});
  }
  return edges;
}

template <class Graph>
bool agrees(Graph const& g, model const& expected) {
  auto const rows = g.to_csr();
  std::size_t arcs = 0;
  for (vertex_id u = 0; u < vertices; ++u)
    for (auto i = rows.offsets[u]; i < rows.offsets[u + 1]; ++i, ++arcs)
      if (!expected.contains(std::minmax(u, rows.targets[i]))) return false;
  return arcs == 2 * expected.size() && g.edges() == expected.size();
}

template <class Space>
int run(Space const& space) {
  using allocator = free_lists::pool<Space>;
  wyrm::graph::dynamic_graph<Space, allocator> g(space, vertices, {.pool = {.pool_bytes = std::size_t{2} << 20}});
  std::size_t const committed = g.allocator().stats().committed;
  model expected;
  std::mt19937 random(1);
  std::vector<std::vector<edge>> batches;
  for (vertex_id round = 0; round < rounds; ++round) {
    batches.push_back(random_edges(10000, round * 300 % vertices, random));
    g.insert(batches.back());
    for (edge const& e : batches.back()) expected.insert(std::minmax(e.source, e.target));
    if (round >= 5) {  // the edges of an earlier batch are erased
      g.erase(batches[round - 5]);
      for (edge const& e : batches[round - 5]) expected.erase(std::minmax(e.source, e.target));
    }
    if (round % 20 != 19) continue;
    g.check();  // also calls check() of the allocator
    auto const s = g.allocator().stats();
    std::printf("round %u: %zu edges; %zu KiB of pages, at most %zu KiB of the pool of %zu KiB used\n", round + 1,
                std::size_t{g.edges()}, s.granted >> 10, s.peak >> 10, s.committed >> 10);
    if (!agrees(g, expected)) return 1;
  }

  auto const pages = g.allocator().reuse_of_blocks();
  std::printf("%s: %zu KiB of pages were allocated, of which %zu KiB had been freed before\n", Space::name,
              pages.granted >> 10, pages.reused >> 10);
  // If freed pages were lost, the graph would have needed a larger pool, or a new one.
  if (g.allocator().stats().committed != committed || pages.granted < 4 * committed) return 1;

  std::vector<edge> rest;
  for (auto const& [u, v] : expected) rest.push_back({u, v});
  g.erase(rest);
  g.check();
  return g.edges() == 0 && g.allocator().stats().granted == 0 && g.allocator().stats().bad_frees == 0 ? 0 : 1;
}

}  // namespace

int main() try {
  return std::visit([](auto const& space) { return run(space); }, wyrm::exec::make_space("auto"));
} catch (wyrm::error const& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
