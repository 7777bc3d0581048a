// SPDX-License-Identifier: Apache-2.0
#include "placed_edges.hpp"

#include <cstdint>
#include <variant>

#include "../exec/memory.hpp"
#include "limits.hpp"
#include "rows.hpp"

namespace wyrm::datasets {
namespace {

// The edges that make(space, place) writes to an array from place(n). A host needs no second array.
template <class Make>
std::vector<graph::edge> on_host(exec::host_space const& space, Make const& make) {
  std::vector<graph::edge> edges;
  make(space, [&](std::uint64_t n) { return room_for(edges, n); });
  return edges;
}
template <class Space, class Make>
std::vector<graph::edge> on_host(Space const& space, Make const& make) {
  typename Space::guard const current(space);
  std::uint64_t count = 0;
  exec::buffer<graph::edge, Space> made(space);
  make(space, [&](std::uint64_t n) {
    require_memory("the edges", static_cast<double>(n) * sizeof(graph::edge));
    made.reserve(n);
    count = n;
    return made.data();
  });
  std::vector<graph::edge> edges;
  if (count > 0) space.copy_out(room_for(edges, count), made.data(), count * sizeof(graph::edge));
  return edges;
}

}  // namespace

template <class Row>
std::vector<graph::edge> placed_rows(exec::any_space const& space, std::size_t rows, Row const& row) {
  auto const make = [&](auto const& s, auto const& place) { edges_by_row(s, rows, row, place); };
  return std::visit([&](auto const& s) { return on_host(s, make); }, space);
}
template std::vector<graph::edge> placed_rows(exec::any_space const&, std::size_t, grid_row const&);
template std::vector<graph::edge> placed_rows(exec::any_space const&, std::size_t, dual_row const&);
template std::vector<graph::edge> placed_rows(exec::any_space const&, std::size_t, nlpkkt_row const&);
template std::vector<graph::edge> placed_rows(exec::any_space const&, std::size_t, gnp_row const&);
template std::vector<graph::edge> placed_rows(exec::any_space const&, std::size_t, planted_row const&);

std::vector<graph::edge> placed_edges(exec::any_space const& space, std::size_t n, kronecker_edges const& edge) {
  auto const make = [&](auto const& s, auto const& place) { edges_by_index(s, n, edge, place(n)); };
  return std::visit([&](auto const& s) { return on_host(s, make); }, space);
}

std::vector<graph::edge> placed_points(exec::any_space const& space, geometric_options const& o) {
  auto const make = [&](auto const& s, auto const& place) { geometric(s, o, place); };
  return std::visit([&](auto const& s) { return on_host(s, make); }, space);
}

}  // namespace wyrm::datasets
