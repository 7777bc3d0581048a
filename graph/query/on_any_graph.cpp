// SPDX-License-Identifier: Apache-2.0
// The queries for any_graph.
#include "on_any_graph.hpp"

#include <string>
#include <variant>

#include "../catch_up.hpp"
#include "filter.hpp"
#include "lookup.hpp"
#include "neighbours.hpp"
#include "select.hpp"
#include "values.hpp"

namespace wyrm::graph {

namespace {

struct is_below {
  double bound;
  WYRM_HD bool operator()(vertex_id, vertex_id, double value) const { return value < bound; }
};

}  // namespace

std::vector<std::uint8_t> contains(any_graph const& g, std::span<edge const> pairs) {
  return std::visit([&](auto const& space) { return contains(space, g.view(), pairs); }, g.space());
}

std::vector<std::uint32_t> degrees(any_graph const& g, std::span<vertex_id const> vertices) {
  return std::visit([&](auto const& space) { return degrees(space, g.view(), vertices); }, g.space());
}

csr neighbours(any_graph const& g, std::span<vertex_id const> vertices) {
  return std::visit([&](auto const& space) { return neighbours(space, g.view(), vertices); }, g.space());
}

std::vector<vertex_id> neighbours_at(any_graph const& g, std::span<vertex_id const> vertices,
                                     std::span<std::uint32_t const> ks) {
  return std::visit([&](auto const& space) { return neighbours_at(space, g.view(), vertices, ks); }, g.space());
}

std::vector<std::uint32_t> common_neighbours_count(any_graph const& g, std::span<edge const> pairs) {
  return std::visit([&](auto const& space) { return common_neighbours_count(space, g.view(), pairs); }, g.space());
}

csr common_neighbours(any_graph const& g, std::span<edge const> pairs) {
  return std::visit([&](auto const& space) { return common_neighbours(space, g.view(), pairs); }, g.space());
}

std::vector<sampled_hop> sample_neighbours(any_graph const& g, std::span<vertex_id const> seeds,
                                           sample_options const& o) {
  return std::visit([&](auto const& space) { return sample_neighbours(space, g.view(), seeds, o); }, g.space());
}

update_report erase_below(any_graph& g, double bound) {
  if (g.settings().values != number_type::f64)
    throw error(error_code::bad_argument, std::string("erase_below: the values of the graph must be of type double; "
                                                      "options::values of this graph is ") +
                                              name_of(g.settings().values));
  return std::visit(
      [&]<class Space>(Space const& space) {
        typename Space::guard const current(space);
        using rows = detail::valued_rows<double, detail::all_rows>;
        detail::selected_rows<rows, is_below> const selected{rows{{g.view()}}, {bound}};
        auto const edges = detail::select_edges(space, selected);
        return g.erase(resident_edges(edges.data(), edges.size()));
      },
      g.space());
}

void catch_up(any_graph const& g, maintained_result& result, snapshot const& since) {
  std::visit([&](auto const& space) { catch_up(space, result, since.view(), g.view()); }, g.space());
}

}  // namespace wyrm::graph
