// SPDX-License-Identifier: Apache-2.0
// Reading while the graph changes: a thread with a stream of its own reads a snapshot, while this thread inserts and
// erases. Then the changes since the snapshot are asked for, as a batch.
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>
#include <wyrm/alloc/registry.hpp>
#include <wyrm/exec/device.hpp>
#include <wyrm/exec/tile.hpp>
#include <wyrm/graph/dynamic_graph.hpp>
#include <wyrm/graph/query/difference.hpp>

namespace {

using wyrm::graph::edge;
using wyrm::graph::vertex_id;

/// One lane per vertex: sums the ids of all neighbours.
struct sum_neighbours {
  wyrm::graph::graph_view g;
  std::uint64_t* sum;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t v, bool valid) const {
    std::uint64_t mine = 0;
    if (valid)
      for (vertex_id const u : g.neighbours(static_cast<vertex_id>(v))) mine += u;
    std::uint64_t const all = wyrm::exec::sum(t, mine);
    if (t.rank() == 0) wyrm::exec::atomic_ref<std::uint64_t>(*sum).fetch_add(all, wyrm::exec::relaxed);
  }
};

template <class Space>
std::uint64_t sum_of(Space const& space, wyrm::graph::graph_view const& g) {
  wyrm::exec::buffer<std::uint64_t, Space> sum(space, 1);
  wyrm::exec::write(space, sum.data(), std::uint64_t{0});
  wyrm::exec::for_each_lane<32>(space, g.vertices(), sum_neighbours{g, sum.data()});
  return wyrm::exec::read(space, sum.data());
}

template <class Space>
int run(Space const& space) {
  vertex_id const n = 10000;
  wyrm::graph::dynamic_graph<Space, wyrm::alloc::ouroboros_va_p<Space>> g(space, n);
  std::vector<edge> ring;
  for (vertex_id v = 0; v < n; ++v) ring.push_back({v, (v + 1) % n});
  g.insert(ring);

  wyrm::graph::snapshot const before = g.snapshot();
  std::uint64_t const expected = std::uint64_t{n} * (n - 1);  // each id is a neighbour twice
  unsigned wrong = 0;
  std::thread reader([&] {
    Space const own;  // another stream
    for (unsigned i = 0; i < 20; ++i) wrong += sum_of(own, before.view()) != expected;
  });
  for (vertex_id round = 0; round < 50; ++round) {
    std::vector<edge> batch;
    for (vertex_id v = 0; v < n; v += 7) batch.push_back({v, (v + 100 + round) % n});
    g.insert(batch);
    if (round % 2 == 1) g.erase(batch);
  }
  g.erase({{0, 1}});
  reader.join();

  auto const changes = wyrm::graph::difference(space, before.view(), g.view()).to_host();
  std::size_t erased = 0;
  for (auto const o : changes.operations) erased += o == wyrm::graph::operation::erase;
  std::printf("%s: %u wrong sums of 20; since the snapshot %zu edges are new, and %zu are gone\n", Space::name, wrong,
              changes.edges.size() - erased, erased);
  return wrong == 0 && erased == 1 && before.edges() == n && changes.edges.size() - erased == g.edges() - n + 1 ? 0 : 1;
}

}  // namespace

int main() try {
  return std::visit([](auto const& space) { return run(space); }, wyrm::exec::make_space("auto"));
} catch (wyrm::error const& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
