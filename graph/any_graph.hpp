// SPDX-License-Identifier: Apache-2.0
// A dynamic graph whose space, allocator and type of values are chosen at run time, for programs and language bindings.
// The members are those of dynamic_graph and are documented there. The templates are compiled once, in the sources of
// graph/any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../alloc/allocator.hpp"
#include "../exec/device.hpp"
#include "batch/columns.hpp"
#include "maintained_result.hpp"
#include "numbers.hpp"
#include "options.hpp"
#include "pending_update.hpp"
#include "snapshot.hpp"
#include "types.hpp"
#include "update_report.hpp"
#include "view.hpp"

namespace wyrm::graph {

class any_graph {
 public:
  /// Creates a graph without edges, with values of the type options::values, or without values. Throws
  /// error(bad_argument) for an allocator that is unknown or not part of this build. insert(), apply() and build()
  /// throw error(bad_argument) for values of another type, or none.
  any_graph(exec::any_space const& space, std::string_view allocator, std::size_t vertices, options const& o = {});
  ~any_graph();
  /// The names of the allocators that graphs can use: all (alloc/registry.hpp), unless the library was built with
  /// WYRM_GRAPH_ALLOCATORS=few.
  [[nodiscard]] static std::vector<std::string> allocators();
  /// A moved-from graph can be assigned to and destroyed; all other operations throw error(bad_argument).
  any_graph(any_graph&&) noexcept;
  any_graph& operator=(any_graph&&) noexcept;

  [[nodiscard]] vertex_id vertices() const;
  [[nodiscard]] vertex_id present_vertices() const;
  [[nodiscard]] std::uint64_t edges() const;
  [[nodiscard]] std::uint64_t arcs() const;
  [[nodiscard]] options const& settings() const;
  [[nodiscard]] exec::any_space const& space() const { return space_; }
  [[nodiscard]] graph_view view() const;

  update_report insert(std::span<edge const> batch, host_numbers const& values = {});
  update_report insert(resident_edges batch, resident_numbers values = {});
  update_report insert(edge_columns const& batch, host_numbers const& values = {});
  update_report insert(resident_columns const& batch, resident_numbers values = {});
  update_report insert(host_numbered_edges const& batch);
  update_report insert(resident_numbered_edges batch);
  update_report erase(std::span<edge const> batch);
  update_report erase(resident_edges batch);
  update_report erase(edge_columns const& batch);
  update_report erase(resident_columns const& batch);
  update_report apply(std::span<edge const> batch, std::span<operation const> operations,
                      host_numbers const& values = {});
  update_report apply(resident_edges batch, operation const* operations, resident_numbers values = {});
  update_report apply(edge_columns const& batch, std::span<operation const> operations,
                      host_numbers const& values = {});
  update_report apply(resident_columns const& batch, operation const* operations, resident_numbers values = {});
  update_report apply(host_numbered_edges const& batch, std::span<operation const> operations);
  update_report apply(resident_numbered_edges batch, operation const* operations);
  update_report insert(std::initializer_list<edge> batch);
  update_report erase(std::initializer_list<edge> batch);
  pending_update insert_async(std::span<edge const> batch, host_numbers const& values = {});
  pending_update insert_async(resident_edges batch, resident_numbers values = {});
  pending_update insert_async(edge_columns const& batch, host_numbers const& values = {});
  pending_update insert_async(resident_columns const& batch, resident_numbers values = {});
  pending_update insert_async(host_numbered_edges const& batch);
  pending_update insert_async(resident_numbered_edges batch);
  pending_update erase_async(std::span<edge const> batch);
  pending_update erase_async(resident_edges batch);
  pending_update erase_async(edge_columns const& batch);
  pending_update erase_async(resident_columns const& batch);
  pending_update apply_async(std::span<edge const> batch, std::span<operation const> operations,
                             host_numbers const& values = {});
  pending_update apply_async(resident_edges batch, operation const* operations, resident_numbers values = {});
  pending_update apply_async(edge_columns const& batch, std::span<operation const> operations,
                             host_numbers const& values = {});
  pending_update apply_async(resident_columns const& batch, operation const* operations, resident_numbers values = {});
  pending_update apply_async(host_numbered_edges const& batch, std::span<operation const> operations);
  pending_update apply_async(resident_numbered_edges batch, operation const* operations);
  std::vector<vertex_id> add_vertices(std::size_t n);
  removal_report remove_vertices(std::span<vertex_id const> batch);
  removal_report remove_vertices(std::initializer_list<vertex_id> batch);
  removal_report remove_vertices(resident_vertices batch);
  update_report build(csr_view const& rows, host_numbers const& values = {});
  update_report build(resident_csr rows, resident_numbers values = {});
  [[nodiscard]] graph::snapshot snapshot();
  /// The members `directed` and `values` of o are ignored.
  [[nodiscard]] any_graph as_undirected(options o) const;
  [[nodiscard]] any_graph as_undirected() const { return as_undirected(settings()); }
  void attach(maintained_result& result);
  void detach(maintained_result& result);
  void compact();
  void clear();
  static constexpr std::uint64_t never = ~std::uint64_t{0};
  void fail_allocations_from(std::uint64_t k);

  [[nodiscard]] csr to_csr() const;
  /// Value: the type of options::values.
  template <number Value>
  [[nodiscard]] std::vector<Value> values() const {
    check_type("the values of this graph", number_type_of<Value>);
    std::vector<Value> all(arcs());
    copy_values(all.data());
    return all;
  }
  [[nodiscard]] memory_report memory() const;
  [[nodiscard]] alloc::statistics pool() const;
  void check() const;

 private:
  struct face;
  any_graph(exec::any_space const& space, std::unique_ptr<face> graph);
  template <class Space, class Allocator, class Value>
  struct body;
  template <class Value>
  static std::unique_ptr<face> make(exec::any_space const& space, std::string_view allocator, std::size_t vertices,
                                    options const& o);
  [[nodiscard]] face& graph() const;
  void check_type(char const* what, number_type type) const;
  [[nodiscard]] void const* checked(host_numbers const& values, std::size_t n) const;
  [[nodiscard]] void const* checked(resident_numbers values, std::size_t n) const;
  [[nodiscard]] detail::batch_input checked(host_numbered_edges const& batch) const;
  [[nodiscard]] detail::batch_input checked(resident_numbered_edges batch) const;
  // Batches of edges or columns.
  template <class Batch, class Values>
  pending_update insert_any(Batch const& batch, Values const& values);
  template <class Batch, class Operations, class Values>
  pending_update apply_any(Batch const& batch, Operations const& operations, Values const& values);
  void copy_values(void* to) const;

  exec::any_space space_;
  std::unique_ptr<face> graph_;
};

/// Builds a graph with the vertices, the direction and the edges of an edge list, and with its weights if
/// options::values is double. Edges are inserted in batches of slice_for(edges), so scratch memory stays small compared
/// with the graph, and the list may be longer than the largest batch. Throws the errors of insert.
[[nodiscard]] any_graph build(exec::any_space const& space, std::string_view allocator, edge_list const& list,
                              options o = {});

}  // namespace wyrm::graph
