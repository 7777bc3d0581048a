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
#include <utility>
#include <variant>
#include <vector>

#include "../dynamic_graph.hpp"
#include "allocators.hpp"
#include "face.hpp"

namespace wyrm::graph {

template <class Space, class Allocator, class Value>
struct any_graph::body final : face {
  static constexpr bool has_values = !std::is_same_v<Value, no_value>;
  using graph_type = dynamic_graph<Space, Allocator, Value>;
  using kind = detail::update_kind;
  explicit body(graph_type&& g) : graph(std::move(g)) {}
  [[nodiscard]] vertex_id vertices() const override { return graph.vertices(); }
  [[nodiscard]] vertex_id present_vertices() const override { return graph.present_vertices(); }
  [[nodiscard]] std::uint64_t edges() const override { return graph.edges(); }
  [[nodiscard]] std::uint64_t arcs() const override { return graph.arcs(); }
  [[nodiscard]] options const& settings() const override { return graph.settings(); }
  [[nodiscard]] graph_view view() const override { return graph.view(); }
  pending_update update_async(kind op, detail::batch_input const& batch) override {
    switch (op) {
      case kind::insert: return graph.template update<kind::insert>(batch);
      case kind::erase: return graph.template update<kind::erase>(batch);
      default: return graph.template update<kind::mixed>(batch);
    }
  }
  std::vector<vertex_id> add_vertices(std::size_t n) override { return graph.add_vertices(n); }
  removal_report remove_vertices(std::span<vertex_id const> batch) override { return graph.remove_vertices(batch); }
  removal_report remove_vertices(resident_vertices batch) override { return graph.remove_vertices(batch); }
  update_report build(csr_view const& rows, void const* values) override {
    if constexpr (has_values)
      return graph.build(rows, std::span(static_cast<Value const*>(values), rows.targets.size()));
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
  [[nodiscard]] std::unique_ptr<face> as_undirected(options const& o) const override {
    return std::make_unique<body>(graph.as_undirected(o));
  }
  void attach(maintained_result& result) override { graph.attach(result); }
  void detach(maintained_result& result) override { graph.detach(result); }
  void compact() override { graph.compact(); }
  void clear() override { graph.clear(); }
  void fail_allocations_from(std::uint64_t k) override { graph.fail_allocations_from(k); }
  [[nodiscard]] csr to_csr() const override { return graph.to_csr(); }
  [[nodiscard]] memory_report memory() const override { return graph.memory(); }
  [[nodiscard]] alloc::statistics pool() const override { return graph.allocator().stats(); }
  void check() const override { graph.check(); }

  graph_type graph;
};

template <class Value>
std::unique_ptr<any_graph::face> any_graph::make(exec::any_space const& space, std::string_view allocator,
                                                 std::size_t vertices, options const& o) {
  std::unique_ptr<face> made;
  std::visit(
      [&]<class Space>(Space const& s) {
        alloc::visit(detail::graph_allocators<Space>{}, allocator, [&]<class Allocator> {
          made =
              std::make_unique<body<Space, Allocator, Value>>(dynamic_graph<Space, Allocator, Value>(s, vertices, o));
        });
      },
      space);
  return made;
}

}  // namespace wyrm::graph
