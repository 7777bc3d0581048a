// SPDX-License-Identifier: Apache-2.0
// Queries on an any_graph, its snapshots and its reversed view. All except filtered_degrees() are compiled once, in
// on_any_graph.cpp. The overload for a space and a view documents the result, the cost and the errors of each query.
//
// Each query has two forms. Entries on the host (std::span, std::vector) give results on the host. Entries in memory of
// the space of the graph (resident_vertices, resident_edges) give results there, in the order of the work of the space;
// to_host() copies them. These entries must be written by work before, in the same order. On a GPU they are in device
// memory or managed memory of its device.
//
// In addition to the errors of the other overloads, error(bad_argument) is thrown for entries in memory of the space
// whose pointer is null or not aligned, and for values of another type than options::values.
//
// Thread safety: several threads may make queries at the same time, on graphs that no thread changes, and on snapshots.
// Each query has its own scratch memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <variant>
#include <vector>

#include "../../exec/any_array.hpp"
#include "../../exec/device.hpp"
#include "../any_graph.hpp"
#include "../maintained_result.hpp"
#include "../numbers.hpp"
#include "../snapshot.hpp"
#include "../types.hpp"
#include "../update_report.hpp"
#include "../view.hpp"
#include "filter.hpp"
#include "sample.hpp"
#include "values.hpp"

namespace wyrm::graph {

/// What a query on an any_graph reads: a view, and the space that it runs on. An any_graph is converted to it. For a
/// snapshot s, pass {g.space(), s.view()}; for in-neighbours, {g.space(), g.view().reversed()}. Valid as long as the
/// view.
class any_view {
 public:
  any_view(any_graph const& g) : any_view(g.space(), g.view()) {}
  any_view(exec::any_space const& space, graph_view const& view) : space_(space), view_(view) {}
  [[nodiscard]] exec::any_space const& space() const { return space_; }
  [[nodiscard]] graph_view const& view() const { return view_; }

 private:
  exec::any_space space_;
  graph_view view_;
};

/// Lists of vertices in memory of the space of a graph; see resident_lists.
struct any_lists {
  exec::any_array<std::uint64_t> offsets;  // one more than lists
  exec::any_array<vertex_id> targets;
  [[nodiscard]] csr to_host() const { return {offsets.to_host(), targets.to_host()}; }
};

/// Neighbours and the values of their edges in memory of the space of a graph; see resident_valued_lists.
template <number Value>
struct any_valued_lists {
  exec::any_array<std::uint64_t> offsets;  // one more than lists
  exec::any_array<vertex_id> targets;
  exec::any_array<Value> values;
  [[nodiscard]] valued_csr<Value> to_host() const { return {offsets.to_host(), targets.to_host(), values.to_host()}; }
};

/// The samples of one hop in memory of the space of a graph; see sampled_hop.
struct any_hop {
  exec::any_array<std::uint64_t> offsets;
  exec::any_array<vertex_id> sources;
  exec::any_array<vertex_id> targets;
  [[nodiscard]] sampled_hop to_host() const { return {offsets.to_host(), sources.to_host(), targets.to_host()}; }
};

[[nodiscard]] std::vector<std::uint8_t> contains(any_view const& g, std::span<edge const> pairs);
[[nodiscard]] exec::any_array<std::uint8_t> contains(any_view const& g, resident_edges pairs);

/// Value: the type of options::values.
template <number Value>
[[nodiscard]] std::vector<Value> values(any_view const& g, std::span<edge const> pairs,
                                        std::type_identity_t<Value> absent);
template <number Value>
[[nodiscard]] exec::any_array<Value> values(any_view const& g, resident_edges pairs,
                                            std::type_identity_t<Value> absent);

[[nodiscard]] std::vector<std::uint32_t> degrees(any_view const& g, std::span<vertex_id const> vertices);
[[nodiscard]] exec::any_array<std::uint32_t> degrees(any_view const& g, resident_vertices vertices);

[[nodiscard]] csr neighbours(any_view const& g, std::span<vertex_id const> vertices);
[[nodiscard]] any_lists neighbours(any_view const& g, resident_vertices vertices);

/// Value: the type of options::values.
template <number Value>
[[nodiscard]] valued_csr<Value> valued_neighbours(any_view const& g, std::span<vertex_id const> vertices);
template <number Value>
[[nodiscard]] any_valued_lists<Value> valued_neighbours(any_view const& g, resident_vertices vertices);

[[nodiscard]] std::vector<vertex_id> neighbours_at(any_view const& g, std::span<vertex_id const> vertices,
                                                   std::span<std::uint32_t const> ks);
[[nodiscard]] exec::any_array<vertex_id> neighbours_at(any_view const& g, resident_vertices vertices,
                                                       std::uint32_t const* ks);

[[nodiscard]] std::vector<std::uint32_t> common_neighbours_count(any_view const& g, std::span<edge const> pairs);
[[nodiscard]] exec::any_array<std::uint32_t> common_neighbours_count(any_view const& g, resident_edges pairs);

[[nodiscard]] csr common_neighbours(any_view const& g, std::span<edge const> pairs);
[[nodiscard]] any_lists common_neighbours(any_view const& g, resident_edges pairs);

[[nodiscard]] std::vector<sampled_hop> sample_neighbours(any_view const& g, std::span<vertex_id const> seeds,
                                                         sample_options const& o);
[[nodiscard]] std::vector<any_hop> sample_neighbours(any_view const& g, resident_vertices seeds,
                                                     sample_options const& o);

/// The weights are the values of the graph. Throws error(bad_argument) unless options::values is uint32, float or
/// double.
[[nodiscard]] std::vector<sampled_hop> sample_neighbours_by_weight(any_view const& g, std::span<vertex_id const> seeds,
                                                                   sample_options const& o);
[[nodiscard]] std::vector<any_hop> sample_neighbours_by_weight(any_view const& g, resident_vertices seeds,
                                                               sample_options const& o);

namespace detail {

/// Throws error(bad_argument) if n entries of a query are at a null pointer, or at one that is not aligned.
void check_entries(char const* query, char const* what, void const* entries, std::size_t n, std::size_t alignment);
template <class Entries>
Entries const& checked_entries(char const* query, Entries const& entries) {
  check_entries(query, "entries", entries.data, entries.size, alignof(decltype(*entries.data)));
  return entries;
}

}  // namespace detail

/// Compiled for each predicate, where it is called. If the library was built for GPUs, this must be a source that nvcc
/// compiles.
template <class Predicate>
[[nodiscard]] std::vector<std::uint32_t> filtered_degrees(any_view const& g, std::span<vertex_id const> vertices,
                                                          Predicate const& predicate) {
  return std::visit([&](auto const& space) { return filtered_degrees(space, g.view(), vertices, predicate); },
                    g.space());
}
template <class Predicate>
[[nodiscard]] exec::any_array<std::uint32_t> filtered_degrees(any_view const& g, resident_vertices vertices,
                                                              Predicate const& predicate) {
  detail::checked_entries("filtered_degrees", vertices);
  return std::visit(
      [&](auto const& space) {
        return exec::any_array<std::uint32_t>(filtered_degrees(space, g.view(), vertices, predicate));
      },
      g.space());
}

/// Erases all edges whose value is below a bound; see dynamic_graph::erase_if. Throws error(bad_argument) unless the
/// graph has values of type double.
update_report erase_below(any_graph& g, double bound);

/// See catch_up.hpp: `since` is a snapshot of g at the version of the result.
void catch_up(any_graph const& g, maintained_result& result, snapshot const& since);

}  // namespace wyrm::graph
