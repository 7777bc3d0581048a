// SPDX-License-Identifier: Apache-2.0
// Several producers: threads push batches into a queue, and this thread applies what has arrived to a graph, on the GPU
// if there is one. Each producer later erases its first edge, so the order of its batches matters.
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <thread>
#include <vector>
#include <wyrm/exec/device.hpp>
#include <wyrm/graph/any_graph.hpp>
#include <wyrm/graph/update_queue.hpp>

namespace {

using wyrm::graph::edge;
using wyrm::graph::operation;
using wyrm::graph::vertex_id;

constexpr vertex_id vertices = 100000;
constexpr vertex_id producers = 4;

/// Inserts every fourth edge of a ring, in batches of 100 edges, and erases the first one.
void produce(wyrm::graph::update_queue<>& queue, vertex_id first) {
  std::vector<operation> const insertions(100, operation::insert);
  std::vector<edge> batch;
  for (vertex_id v = first; v < vertices; v += producers) {
    batch.push_back({v, (v + 1) % vertices});
    if (batch.size() < insertions.size()) continue;
    queue.push(batch, insertions);  // waits while the queue is full
    batch.clear();
  }
  queue.push(std::vector<edge>{{first, first + 1}}, std::vector{operation::erase});
}

}  // namespace

int main() try {
  auto const space = wyrm::exec::make_space("auto");
  wyrm::graph::any_graph g(space, "ouroboros-s-p", vertices);
  wyrm::graph::update_queue queue(g, 10000);

  std::vector<std::thread> threads;
  std::atomic<vertex_id> active = producers;
  for (vertex_id p = 0; p < producers; ++p)
    threads.emplace_back([&, p] {
      produce(queue, p);
      if (--active == 0) queue.close();
    });

  std::size_t updates = 0;
  while (queue.wait()) {
    queue.apply_to(g);
    ++updates;
  }
  for (std::thread& t : threads) t.join();

  std::size_t const batches = vertices / 100 + producers;
  std::printf("%s: %zu batches in %zu updates, %llu edges\n", wyrm::exec::describe(space).c_str(), batches, updates,
              static_cast<unsigned long long>(g.edges()));
  return g.edges() == vertices - producers && updates <= batches ? 0 : 1;
} catch (wyrm::error const& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
