// SPDX-License-Identifier: Apache-2.0
#include "any_graph.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include "../alloc/registry.hpp"
#include "dynamic_graph.hpp"

namespace wyrm::graph {

struct any_graph::face {
  virtual ~face() = default;
  [[nodiscard]] virtual vertex_id vertices() const = 0;
  [[nodiscard]] virtual vertex_id present_vertices() const = 0;
  [[nodiscard]] virtual std::uint64_t edges() const = 0;
  [[nodiscard]] virtual std::uint64_t arcs() const = 0;
  [[nodiscard]] virtual options const& settings() const = 0;
  [[nodiscard]] virtual graph_view view() const = 0;
  // values: one per edge, of the type of the graph; nullptr: none.
  virtual pending_update insert_async(std::span<edge const> batch, void const* values) = 0;
  virtual pending_update insert_async(resident_edges batch, void const* values) = 0;
  virtual pending_update insert_async(edge_columns const& batch, void const* values) = 0;
  virtual pending_update insert_async(resident_columns const& batch, void const* values) = 0;
  virtual pending_update erase_async(std::span<edge const> batch) = 0;
  virtual pending_update erase_async(resident_edges batch) = 0;
  virtual pending_update erase_async(edge_columns const& batch) = 0;
  virtual pending_update erase_async(resident_columns const& batch) = 0;
  virtual pending_update apply_async(std::span<edge const> batch, std::span<operation const> operations,
                                     void const* values) = 0;
  virtual pending_update apply_async(resident_edges batch, operation const* operations, void const* values) = 0;
  virtual pending_update apply_async(edge_columns const& batch, std::span<operation const> operations,
                                     void const* values) = 0;
  virtual pending_update apply_async(resident_columns const& batch, operation const* operations,
                                     void const* values) = 0;
  virtual std::vector<vertex_id> add_vertices(std::size_t n) = 0;
  virtual removal_report remove_vertices(std::span<vertex_id const> batch) = 0;
  virtual removal_report remove_vertices(resident_vertices batch) = 0;
  virtual update_report build(csr_view const& rows, void const* values) = 0;
  virtual update_report build(resident_csr rows, void const* values) = 0;
  virtual graph::snapshot snapshot() = 0;
  virtual void attach(maintained_result& result) = 0;
  virtual void detach(maintained_result& result) = 0;
  virtual void compact() = 0;
  virtual void clear() = 0;
  virtual void fail_allocations_from(std::uint64_t k) = 0;
  [[nodiscard]] virtual csr to_csr() const = 0;
  virtual void copy_values(void* to) const = 0;
  [[nodiscard]] virtual memory_report memory() const = 0;
  [[nodiscard]] virtual alloc::statistics pool() const = 0;
  virtual void check() const = 0;
};

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

any_graph::any_graph(exec::any_space const& space, std::string_view allocator, std::size_t vertices, options const& o)
    : space_(space) {
  std::visit(
      [&]<class Space>(Space const& s) {
        alloc::visit<Space>(allocator, [&]<class Allocator> {
          switch (width_of_numbers(o.values)) {
            case 0: graph_ = std::make_unique<body<Space, Allocator, no_value>>(s, vertices, o); break;
            case 4: graph_ = std::make_unique<body<Space, Allocator, any_number<4>>>(s, vertices, o); break;
            default: graph_ = std::make_unique<body<Space, Allocator, any_number<8>>>(s, vertices, o);
          }
        });
      },
      space);
}
any_graph::~any_graph() = default;
any_graph::any_graph(any_graph&&) noexcept = default;
any_graph& any_graph::operator=(any_graph&&) noexcept = default;

any_graph::face& any_graph::graph() const {
  if (!graph_)
    throw error(error_code::bad_argument,
                "this graph was moved from; assign another to it, or use the one that it was moved to");
  return *graph_;
}

vertex_id any_graph::vertices() const { return graph().vertices(); }
vertex_id any_graph::present_vertices() const { return graph().present_vertices(); }
std::uint64_t any_graph::edges() const { return graph().edges(); }
std::uint64_t any_graph::arcs() const { return graph().arcs(); }
options const& any_graph::settings() const { return graph().settings(); }
graph_view any_graph::view() const { return graph().view(); }
void any_graph::check_type(char const* what, number_type type) const {
  number_type const own = settings().values;
  if (type != own)
    throw error(error_code::bad_argument, std::string(what) + " are of type " + name_of(type) +
                                              ", but options::values of this graph is " + name_of(own));
}
void const* any_graph::checked(host_numbers const& values, std::size_t n) const {
  check_type("the values of the batch", values.type());
  if (values.size() != n && values.type() != number_type::none)
    throw error(error_code::bad_argument, "there are " + std::to_string(values.size()) + " values for " +
                                              std::to_string(n) + " edges; give one for each");
  return values.data();
}
void const* any_graph::checked(resident_numbers values) const {
  check_type("the values of the batch", values.type());
  return values.data();
}
void any_graph::copy_values(void* to) const { graph().copy_values(to); }

update_report any_graph::insert(std::span<edge const> batch, host_numbers const& values) {
  return insert_async(batch, values).get();
}
pending_update any_graph::insert_async(std::span<edge const> batch, host_numbers const& values) {
  return graph().insert_async(batch, checked(values, batch.size()));
}
update_report any_graph::erase(std::span<edge const> batch) { return erase_async(batch).get(); }
pending_update any_graph::erase_async(std::span<edge const> batch) { return graph().erase_async(batch); }
update_report any_graph::apply(std::span<edge const> batch, std::span<operation const> operations,
                               host_numbers const& values) {
  return apply_async(batch, operations, values).get();
}
pending_update any_graph::apply_async(std::span<edge const> batch, std::span<operation const> operations,
                                      host_numbers const& values) {
  return graph().apply_async(batch, operations, checked(values, batch.size()));
}
update_report any_graph::insert(resident_edges batch, resident_numbers values) {
  return insert_async(batch, values).get();
}
pending_update any_graph::insert_async(resident_edges batch, resident_numbers values) {
  return graph().insert_async(batch, checked(values));
}
update_report any_graph::erase(resident_edges batch) { return erase_async(batch).get(); }
pending_update any_graph::erase_async(resident_edges batch) { return graph().erase_async(batch); }
update_report any_graph::apply(resident_edges batch, operation const* operations, resident_numbers values) {
  return apply_async(batch, operations, values).get();
}
pending_update any_graph::apply_async(resident_edges batch, operation const* operations, resident_numbers values) {
  return graph().apply_async(batch, operations, checked(values));
}
update_report any_graph::insert(edge_columns const& batch, host_numbers const& values) {
  return insert_async(batch, values).get();
}
pending_update any_graph::insert_async(edge_columns const& batch, host_numbers const& values) {
  return graph().insert_async(batch, checked(values, batch.size()));
}
update_report any_graph::erase(edge_columns const& batch) { return erase_async(batch).get(); }
pending_update any_graph::erase_async(edge_columns const& batch) { return graph().erase_async(batch); }
update_report any_graph::apply(edge_columns const& batch, std::span<operation const> operations,
                               host_numbers const& values) {
  return apply_async(batch, operations, values).get();
}
pending_update any_graph::apply_async(edge_columns const& batch, std::span<operation const> operations,
                                      host_numbers const& values) {
  return graph().apply_async(batch, operations, checked(values, batch.size()));
}
update_report any_graph::insert(resident_columns const& batch, resident_numbers values) {
  return insert_async(batch, values).get();
}
pending_update any_graph::insert_async(resident_columns const& batch, resident_numbers values) {
  return graph().insert_async(batch, checked(values));
}
update_report any_graph::erase(resident_columns const& batch) { return erase_async(batch).get(); }
pending_update any_graph::erase_async(resident_columns const& batch) { return graph().erase_async(batch); }
update_report any_graph::apply(resident_columns const& batch, operation const* operations, resident_numbers values) {
  return apply_async(batch, operations, values).get();
}
pending_update any_graph::apply_async(resident_columns const& batch, operation const* operations,
                                      resident_numbers values) {
  return graph().apply_async(batch, operations, checked(values));
}
update_report any_graph::insert(std::initializer_list<edge> batch) {
  return insert(std::span(batch.begin(), batch.size()));
}
update_report any_graph::erase(std::initializer_list<edge> batch) {
  return erase(std::span(batch.begin(), batch.size()));
}
std::vector<vertex_id> any_graph::add_vertices(std::size_t n) { return graph().add_vertices(n); }
removal_report any_graph::remove_vertices(std::span<vertex_id const> batch) { return graph().remove_vertices(batch); }
removal_report any_graph::remove_vertices(std::initializer_list<vertex_id> batch) {
  return remove_vertices(std::span(batch.begin(), batch.size()));
}
removal_report any_graph::remove_vertices(resident_vertices batch) { return graph().remove_vertices(batch); }
update_report any_graph::build(csr_view const& rows, host_numbers const& values) {
  return graph().build(rows, checked(values, rows.targets.size()));
}
update_report any_graph::build(resident_csr rows, resident_numbers values) {
  return graph().build(rows, checked(values));
}
graph::snapshot any_graph::snapshot() { return graph().snapshot(); }
void any_graph::attach(maintained_result& result) { graph().attach(result); }
void any_graph::detach(maintained_result& result) { graph().detach(result); }
void any_graph::compact() { graph().compact(); }
void any_graph::clear() { graph().clear(); }
void any_graph::fail_allocations_from(std::uint64_t k) { graph().fail_allocations_from(k); }
csr any_graph::to_csr() const { return graph().to_csr(); }
memory_report any_graph::memory() const { return graph().memory(); }
alloc::statistics any_graph::pool() const { return graph().pool(); }
void any_graph::check() const { graph().check(); }

any_graph build(exec::any_space const& space, std::string_view allocator, edge_list const& list, options o) {
  o.directed = list.directed;
  any_graph g(space, allocator, list.vertices, o);
  std::span<edge const> const all = list.edges;
  std::span<double const> const weights = list.weights;
  if (o.values != number_type::none && weights.size() != all.size())
    throw error(error_code::bad_argument, "the edges have no weights, so the graph cannot have values");
  std::size_t const slice = slice_for(all.size());
  for (std::size_t first = 0; first < all.size(); first += slice) {
    std::size_t const n = std::min(slice, all.size() - first);
    g.insert(all.subspan(first, n),
             o.values == number_type::none ? host_numbers() : host_numbers(weights.subspan(first, n)));
  }
  return g;
}

}  // namespace wyrm::graph
