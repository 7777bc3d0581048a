// SPDX-License-Identifier: Apache-2.0
// Values of one's own type, and a combiner of one's own: an edge of this graph has the number and the latest time of
// the calls between two people. Inserting an edge that is there adds to its value.
#include <cstdint>
#include <cstdio>
#include <vector>
#include <wyrm/alloc/registry.hpp>
#include <wyrm/exec/device.hpp>
#include <wyrm/graph/dynamic_graph.hpp>

namespace {

struct calls {  // 4, 8 or 16 bytes
  std::uint32_t number;
  std::uint32_t last_time;
};
struct add_calls {
  WYRM_HD calls operator()(calls const& old, calls const& added) const {
    return {old.number + added.number, old.last_time > added.last_time ? old.last_time : added.last_time};
  }
};

template <class Space>
int run(Space const& space) {
  using wyrm::graph::operation;
  wyrm::graph::dynamic_graph<Space, wyrm::alloc::ouroboros_va_p<Space>, calls, add_calls> g(space, 5);
  g.insert({{0, 1, {1, 900}}, {1, 0, {1, 905}}, {2, 3, {1, 910}}});
  // In the order of time: 2 and 3 are forgotten, and then they call again.
  std::vector<wyrm::graph::edge> const edges{{0, 1}, {2, 3}, {3, 2}, {4, 0}};
  std::vector<operation> const operations{operation::insert, operation::erase, operation::insert, operation::insert};
  std::vector<calls> const values{{1, 920}, {}, {1, 930}, {1, 940}};
  auto const report = g.apply(edges, operations, values);

  auto const rows = g.to_csr();
  std::vector<calls> const all = g.values();
  for (std::size_t v = 0; v < 5; ++v)
    for (auto i = rows.offsets[v]; i < rows.offsets[v + 1]; ++i)
      if (v < rows.targets[i])
        std::printf("%zu and %u: %u calls, the last one at %u\n", v, rows.targets[i], all[i].number, all[i].last_time);
  bool const right = all[0].number == 3 && all[0].last_time == 920 && all.back().number == 1 && report.inserted == 1 &&
                     report.updated == 2 && g.edges() == 3;
  return right ? 0 : 1;
}

}  // namespace

int main() try {
  return std::visit([](auto const& space) { return run(space); }, wyrm::exec::make_space("auto"));
} catch (wyrm::error const& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
