// SPDX-License-Identifier: Apache-2.0
// The graphs that an any_graph can hold: those with values of one width. Each width is a source of its own
// (no_values.cpp, numbers_of_4_bytes.cpp, numbers_of_8_bytes.cpp), so that they are compiled side by side. Not for
// users.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "../dynamic_graph.hpp"
#include "allocators.hpp"
#include "face.hpp"

namespace wyrm::graph {

template <class Space, class Allocator, class Value>
struct any_graph::body final : face {
  static constexpr bool has_values = !std::is_same_v<Value, no_value>;
  body(Space const& space, std::size_t n, options const& o) : graph(space, n, o) {}
  [[nodiscard]] vertex_id vertices() const override { return graph.vertices(); }
  [[nodiscard]] vertex_id present_vertices() const override { return graph.present_vertices(); }
  [[nodiscard]] std::uint64_t edges() const override { return graph.edges(); }
  [[nodiscard]] std::uint64_t arcs() const override { return graph.arcs(); }
  [[nodiscard]] options const& settings() const override { return graph.settings(); }
  [[nodiscard]] graph_view view() const override { return graph.view(); }
  pending_update insert_async(std::span<edge const> batch, void const* values) override {
    return inserted(batch, values);
  }
  pending_update insert_async(resident_edges batch, void const* values) override { return inserted(batch, values); }
  pending_update insert_async(edge_columns const& batch, void const* values) override {
    return inserted(batch, values);
  }
  pending_update insert_async(resident_columns const& batch, void const* values) override {
    return inserted(batch, values);
  }
  pending_update erase_async(std::span<edge const> batch) override { return graph.erase_async(batch); }
  pending_update erase_async(resident_edges batch) override { return graph.erase_async(batch); }
  pending_update erase_async(edge_columns const& batch) override { return graph.erase_async(batch); }
  pending_update erase_async(resident_columns const& batch) override { return graph.erase_async(batch); }
  pending_update apply_async(std::span<edge const> batch, std::span<operation const> operations,
                             void const* values) override {
    return applied(batch, operations, values);
  }
  pending_update apply_async(resident_edges batch, operation const* operations, void const* values) override {
    return applied(batch, operations, values);
  }
  pending_update apply_async(edge_columns const& batch, std::span<operation const> operations,
                             void const* values) override {
    return applied(batch, operations, values);
  }
  pending_update apply_async(resident_columns const& batch, operation const* operations, void const* values) override {
    return applied(batch, operations, values);
  }
  std::vector<vertex_id> add_vertices(std::size_t n) override { return graph.add_vertices(n); }
  removal_report remove_vertices(std::span<vertex_id const> batch) override { return graph.remove_vertices(batch); }
  removal_report remove_vertices(resident_vertices batch) override { return graph.remove_vertices(batch); }
  update_report build(csr_view const& rows, void const* values) override {
    if constexpr (has_values)
      return graph.build(rows, typed(rows.targets, values));
    else
      return graph.build(rows);
  }
  update_report build(resident_csr rows, void const* values) override {
    if constexpr (has_values)
      return graph.build(rows, static_cast<Value const*>(values));
    else
      return graph.build(rows);
  }
  void copy_values([[maybe_unused]] void* to) const override {
    if constexpr (has_values) {
      auto const all = graph.values();
      if (!all.empty()) std::memcpy(to, all.data(), all.size() * sizeof(Value));
    }
  }
  wyrm::graph::snapshot snapshot() override { return graph.snapshot(); }
  void attach(maintained_result& result) override { graph.attach(result); }
  void detach(maintained_result& result) override { graph.detach(result); }
  void compact() override { graph.compact(); }
  void clear() override { graph.clear(); }
  void fail_allocations_from(std::uint64_t k) override { graph.fail_allocations_from(k); }
  [[nodiscard]] csr to_csr() const override { return graph.to_csr(); }
  [[nodiscard]] memory_report memory() const override { return graph.memory(); }
  [[nodiscard]] alloc::statistics pool() const override { return graph.allocator().stats(); }
  void check() const override { graph.check(); }

  // The values of a batch, on the host or in memory of the space.
  template <class Batch>
  static auto typed(Batch const& batch, void const* values) {
    if constexpr (requires { batch.size(); } && !std::is_same_v<Batch, resident_columns>)
      return std::span(static_cast<Value const*>(values), batch.size());
    else
      return static_cast<Value const*>(values);
  }
  template <class Batch>
  pending_update inserted(Batch const& batch, void const* values) {
    if constexpr (has_values)
      return graph.insert_async(batch, typed(batch, values));
    else
      return graph.insert_async(batch);
  }
  template <class Batch, class Operations>
  pending_update applied(Batch const& batch, Operations operations, void const* values) {
    if constexpr (has_values)
      return graph.apply_async(batch, operations, typed(batch, values));
    else
      return graph.apply_async(batch, operations);
  }

  dynamic_graph<Space, Allocator, Value> graph;
};

template <class Value>
std::unique_ptr<any_graph::face> any_graph::make(exec::any_space const& space, std::string_view allocator,
                                                 std::size_t vertices, options const& o) {
  std::unique_ptr<face> made;
  std::visit(
      [&]<class Space>(Space const& s) {
        alloc::visit(detail::graph_allocators<Space>{}, allocator,
                     [&]<class Allocator> { made = std::make_unique<body<Space, Allocator, Value>>(s, vertices, o); });
      },
      space);
  return made;
}

}  // namespace wyrm::graph
