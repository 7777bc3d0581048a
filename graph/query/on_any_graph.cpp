// SPDX-License-Identifier: Apache-2.0
// The queries for any_graph. Each calls the query of the same name for a space and a view.
#include "on_any_graph.hpp"

#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "../catch_up.hpp"
#include "filter.hpp"
#include "lookup.hpp"
#include "neighbours.hpp"
#include "sample_by_weight.hpp"
#include "select.hpp"
#include "values.hpp"

namespace wyrm::graph {

namespace {

struct is_below {
  double bound;
  WYRM_HD bool operator()(vertex_id, vertex_id, double value) const { return value < bound; }
};

/// query(scratch) on the space of the graph. The queries get scratch memory instead of the space, because then both
/// forms of a query use the same instance of its template.
template <class Query>
auto ask(any_view const& g, Query const& query) {
  return std::visit(
      [&](auto const& space) {
        query_scratch scratch(space);
        return query(scratch);
      },
      g.space());
}

/// Throws error(bad_argument) unless the values of the graph have this type.
void check_values(char const* query, any_view const& g, number_type type) {
  number_type const own = g.view().numbers();
  if (type == own) return;
  throw error(error_code::bad_argument,
              std::string(query) + ": the values of the query are of type " + name_of(type) +
                  ", but options::values of this graph is " + name_of(own) +
                  (own == number_type::none ? "; make the graph with values" : "; query values of this type"));
}

/// The values of a graph for kernels that only copy them: they are compiled for each size, not for each type.
template <number Value>
using stored = any_number<sizeof(Value)>;

template <number Value, class Space>
exec::device_array<Value, Space> values_of(query_scratch<Space>& scratch, graph_view const& g, resident_edges pairs,
                                           Value absent) {
  exec::device_array<Value, Space> found(scratch.space(), pairs.size);
  values<stored<Value>>(scratch, g, pairs, std::bit_cast<stored<Value>>(absent),
                        reinterpret_cast<stored<Value>*>(found.data()));
  return found;
}

/// The samples by weights of the type of the graph's values. Seeds: on the host, or in memory of the space.
template <class Space, class Seeds>
auto sample_by_values(query_scratch<Space>& scratch, graph_view const& g, Seeds const& seeds, sample_options const& o) {
  switch (g.numbers()) {
    case number_type::u32: return sample_neighbours_by_weight<std::uint32_t>(scratch, g, seeds, o);
    case number_type::f32: return sample_neighbours_by_weight<float>(scratch, g, seeds, o);
    case number_type::f64: return sample_neighbours_by_weight<double>(scratch, g, seeds, o);
    default:
      throw error(error_code::bad_argument,
                  std::string("sample_neighbours_by_weight: weights must be of type uint32, float or double, but "
                              "options::values of this graph is ") +
                      name_of(g.numbers()) + "; make the graph with values of one of these types");
  }
}

template <class Space>
any_lists any(resident_lists<Space>&& lists) {
  return {std::move(lists.offsets), std::move(lists.targets)};
}
template <class Value, class Space>
any_valued_lists<Value> any(resident_valued_lists<Value, Space>&& lists) {
  return {std::move(lists.offsets), std::move(lists.targets), std::move(lists.values)};
}
template <class Space>
std::vector<any_hop> any(std::vector<resident_hop<Space>>&& hops) {
  std::vector<any_hop> all;
  all.reserve(hops.size());
  for (auto& hop : hops) all.push_back({std::move(hop.offsets), std::move(hop.sources), std::move(hop.targets)});
  return all;
}
template <class T, class Space>
exec::any_array<T> any(exec::device_array<T, Space>&& array) {
  return std::move(array);
}

}  // namespace

void detail::check_entries(char const* query, char const* what, void const* entries, std::size_t n,
                           std::size_t alignment) {
  if (n == 0) return;
  if (entries == nullptr)
    throw error(error_code::bad_argument, std::string(query) + ": the pointer to the " + std::to_string(n) + " " +
                                              what + " is null; pass an array in memory of the space of the graph");
  if (reinterpret_cast<std::uintptr_t>(entries) % alignment != 0)
    throw error(error_code::bad_argument, std::string(query) + ": the " + what +
                                              " in memory of the space must be at a multiple of " +
                                              std::to_string(alignment) + " bytes");
}

std::vector<std::uint8_t> contains(any_view const& g, std::span<edge const> pairs) {
  return ask(g, [&](auto& scratch) { return contains(scratch, g.view(), pairs); });
}
exec::any_array<std::uint8_t> contains(any_view const& g, resident_edges pairs) {
  detail::checked_entries("contains", pairs);
  return ask(g, [&](auto& scratch) { return any(contains(scratch, g.view(), pairs)); });
}

template <number Value>
std::vector<Value> values(any_view const& g, std::span<edge const> pairs, std::type_identity_t<Value> absent) {
  check_values("values", g, number_type_of<Value>);
  return ask(g, [&](auto& scratch) {
    auto const entries = detail::upload(scratch.space(), pairs);
    return values_of<Value>(scratch, g.view(), resident_edges(entries.data(), pairs.size()), absent).to_host();
  });
}
template <number Value>
exec::any_array<Value> values(any_view const& g, resident_edges pairs, std::type_identity_t<Value> absent) {
  check_values("values", g, number_type_of<Value>);
  detail::checked_entries("values", pairs);
  return ask(g, [&](auto& scratch) { return any(values_of<Value>(scratch, g.view(), pairs, absent)); });
}

std::vector<std::uint32_t> degrees(any_view const& g, std::span<vertex_id const> vertices) {
  return ask(g, [&](auto& scratch) { return degrees(scratch, g.view(), vertices); });
}
exec::any_array<std::uint32_t> degrees(any_view const& g, resident_vertices vertices) {
  detail::checked_entries("degrees", vertices);
  return ask(g, [&](auto& scratch) { return any(degrees(scratch, g.view(), vertices)); });
}

csr neighbours(any_view const& g, std::span<vertex_id const> vertices) {
  return ask(g, [&](auto& scratch) { return neighbours(scratch, g.view(), vertices); });
}
any_lists neighbours(any_view const& g, resident_vertices vertices) {
  detail::checked_entries("neighbours", vertices);
  return ask(g, [&](auto& scratch) { return any(neighbours(scratch, g.view(), vertices)); });
}

template <number Value>
valued_csr<Value> valued_neighbours(any_view const& g, std::span<vertex_id const> vertices) {
  check_values("valued_neighbours", g, number_type_of<Value>);
  return ask(g, [&](auto& scratch) {
    auto const entries = detail::upload(scratch.space(), vertices);
    resident_vertices const there(entries.data(), vertices.size());
    return detail::list_valued_neighbours<Value, stored<Value>>(scratch, g.view(), there).to_host();
  });
}
template <number Value>
any_valued_lists<Value> valued_neighbours(any_view const& g, resident_vertices vertices) {
  check_values("valued_neighbours", g, number_type_of<Value>);
  detail::checked_entries("valued_neighbours", vertices);
  return ask(g, [&](auto& scratch) {
    return any(detail::list_valued_neighbours<Value, stored<Value>>(scratch, g.view(), vertices));
  });
}

std::vector<vertex_id> neighbours_at(any_view const& g, std::span<vertex_id const> vertices,
                                     std::span<std::uint32_t const> ks) {
  return ask(g, [&](auto& scratch) { return neighbours_at(scratch, g.view(), vertices, ks); });
}
exec::any_array<vertex_id> neighbours_at(any_view const& g, resident_vertices vertices, std::uint32_t const* ks) {
  detail::checked_entries("neighbours_at", vertices);
  detail::check_entries("neighbours_at", "numbers of neighbours", ks, vertices.size, alignof(std::uint32_t));
  return ask(g, [&](auto& scratch) { return any(neighbours_at(scratch, g.view(), vertices, ks)); });
}

std::vector<std::uint32_t> common_neighbours_count(any_view const& g, std::span<edge const> pairs) {
  return ask(g, [&](auto& scratch) { return common_neighbours_count(scratch, g.view(), pairs); });
}
exec::any_array<std::uint32_t> common_neighbours_count(any_view const& g, resident_edges pairs) {
  detail::checked_entries("common_neighbours_count", pairs);
  return ask(g, [&](auto& scratch) { return any(common_neighbours_count(scratch, g.view(), pairs)); });
}

csr common_neighbours(any_view const& g, std::span<edge const> pairs) {
  return ask(g, [&](auto& scratch) { return common_neighbours(scratch, g.view(), pairs); });
}
any_lists common_neighbours(any_view const& g, resident_edges pairs) {
  detail::checked_entries("common_neighbours", pairs);
  return ask(g, [&](auto& scratch) { return any(common_neighbours(scratch, g.view(), pairs)); });
}

std::vector<sampled_hop> sample_neighbours(any_view const& g, std::span<vertex_id const> seeds,
                                           sample_options const& o) {
  return ask(g, [&](auto& scratch) { return sample_neighbours(scratch, g.view(), seeds, o); });
}
std::vector<any_hop> sample_neighbours(any_view const& g, resident_vertices seeds, sample_options const& o) {
  detail::checked_entries("sample_neighbours", seeds);
  return ask(g, [&](auto& scratch) { return any(sample_neighbours(scratch, g.view(), seeds, o)); });
}

std::vector<sampled_hop> sample_neighbours_by_weight(any_view const& g, std::span<vertex_id const> seeds,
                                                     sample_options const& o) {
  return ask(g, [&](auto& scratch) { return sample_by_values(scratch, g.view(), seeds, o); });
}
std::vector<any_hop> sample_neighbours_by_weight(any_view const& g, resident_vertices seeds, sample_options const& o) {
  detail::checked_entries("sample_neighbours_by_weight", seeds);
  return ask(g, [&](auto& scratch) { return any(sample_by_values(scratch, g.view(), seeds, o)); });
}

template std::vector<std::uint32_t> values<std::uint32_t>(any_view const&, std::span<edge const>, std::uint32_t);
template exec::any_array<std::uint32_t> values<std::uint32_t>(any_view const&, resident_edges, std::uint32_t);
template valued_csr<std::uint32_t> valued_neighbours<std::uint32_t>(any_view const&, std::span<vertex_id const>);
template any_valued_lists<std::uint32_t> valued_neighbours<std::uint32_t>(any_view const&, resident_vertices);
template std::vector<std::int64_t> values<std::int64_t>(any_view const&, std::span<edge const>, std::int64_t);
template exec::any_array<std::int64_t> values<std::int64_t>(any_view const&, resident_edges, std::int64_t);
template valued_csr<std::int64_t> valued_neighbours<std::int64_t>(any_view const&, std::span<vertex_id const>);
template any_valued_lists<std::int64_t> valued_neighbours<std::int64_t>(any_view const&, resident_vertices);
template std::vector<float> values<float>(any_view const&, std::span<edge const>, float);
template exec::any_array<float> values<float>(any_view const&, resident_edges, float);
template valued_csr<float> valued_neighbours<float>(any_view const&, std::span<vertex_id const>);
template any_valued_lists<float> valued_neighbours<float>(any_view const&, resident_vertices);
template std::vector<double> values<double>(any_view const&, std::span<edge const>, double);
template exec::any_array<double> values<double>(any_view const&, resident_edges, double);
template valued_csr<double> valued_neighbours<double>(any_view const&, std::span<vertex_id const>);
template any_valued_lists<double> valued_neighbours<double>(any_view const&, resident_vertices);

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
