// SPDX-License-Identifier: Apache-2.0
#include "any_graph.hpp"

#include <algorithm>
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
  virtual pending_update insert_async(std::span<edge const> batch) = 0;
  virtual pending_update erase_async(std::span<edge const> batch) = 0;
  virtual pending_update insert_async(resident_edges batch) = 0;
  virtual pending_update erase_async(resident_edges batch) = 0;
  virtual pending_update apply_async(std::span<edge const> batch, std::span<operation const> operations) = 0;
  virtual pending_update apply_async(resident_edges batch, operation const* operations) = 0;
  virtual std::vector<vertex_id> add_vertices(std::size_t n) = 0;
  virtual removal_report remove_vertices(std::span<vertex_id const> batch) = 0;
  virtual removal_report remove_vertices(resident_vertices batch) = 0;
  virtual pending_update insert_async(edge_columns const& batch) = 0;
  virtual pending_update insert_async(resident_columns const& batch) = 0;
  virtual pending_update erase_async(edge_columns const& batch) = 0;
  virtual pending_update erase_async(resident_columns const& batch) = 0;
  virtual pending_update apply_async(edge_columns const& batch, std::span<operation const> operations) = 0;
  virtual pending_update apply_async(resident_columns const& batch, operation const* operations) = 0;
  virtual update_report build(csr_view const& rows) = 0;
  virtual update_report build(resident_csr rows) = 0;
  virtual graph::snapshot snapshot() = 0;
  virtual void compact() = 0;
  virtual void clear() = 0;
  virtual void fail_allocations_from(std::uint64_t k) = 0;
  [[nodiscard]] virtual csr to_csr() const = 0;
  [[nodiscard]] virtual memory_report memory() const = 0;
  [[nodiscard]] virtual alloc::statistics pool() const = 0;
  virtual void check() const = 0;
};

template <class Space, class Allocator>
struct any_graph::body final : face {
  body(Space const& space, std::size_t n, options const& o) : graph(space, n, o) {}
  [[nodiscard]] vertex_id vertices() const override { return graph.vertices(); }
  [[nodiscard]] vertex_id present_vertices() const override { return graph.present_vertices(); }
  [[nodiscard]] std::uint64_t edges() const override { return graph.edges(); }
  [[nodiscard]] std::uint64_t arcs() const override { return graph.arcs(); }
  [[nodiscard]] options const& settings() const override { return graph.settings(); }
  [[nodiscard]] graph_view view() const override { return graph.view(); }
  pending_update insert_async(std::span<edge const> batch) override { return graph.insert_async(batch); }
  pending_update erase_async(std::span<edge const> batch) override { return graph.erase_async(batch); }
  pending_update insert_async(resident_edges batch) override { return graph.insert_async(batch); }
  pending_update erase_async(resident_edges batch) override { return graph.erase_async(batch); }
  pending_update apply_async(std::span<edge const> batch, std::span<operation const> operations) override {
    return graph.apply_async(batch, operations);
  }
  pending_update apply_async(resident_edges batch, operation const* operations) override {
    return graph.apply_async(batch, operations);
  }
  std::vector<vertex_id> add_vertices(std::size_t n) override { return graph.add_vertices(n); }
  removal_report remove_vertices(std::span<vertex_id const> batch) override { return graph.remove_vertices(batch); }
  removal_report remove_vertices(resident_vertices batch) override { return graph.remove_vertices(batch); }
  pending_update insert_async(edge_columns const& batch) override { return graph.insert_async(batch); }
  pending_update insert_async(resident_columns const& batch) override { return graph.insert_async(batch); }
  pending_update erase_async(edge_columns const& batch) override { return graph.erase_async(batch); }
  pending_update erase_async(resident_columns const& batch) override { return graph.erase_async(batch); }
  pending_update apply_async(edge_columns const& batch, std::span<operation const> operations) override {
    return graph.apply_async(batch, operations);
  }
  pending_update apply_async(resident_columns const& batch, operation const* operations) override {
    return graph.apply_async(batch, operations);
  }
  update_report build(csr_view const& rows) override { return graph.build(rows); }
  update_report build(resident_csr rows) override { return graph.build(rows); }
  wyrm::graph::snapshot snapshot() override { return graph.snapshot(); }
  void compact() override { graph.compact(); }
  void clear() override { graph.clear(); }
  void fail_allocations_from(std::uint64_t k) override { graph.fail_allocations_from(k); }
  [[nodiscard]] csr to_csr() const override { return graph.to_csr(); }
  [[nodiscard]] memory_report memory() const override { return graph.memory(); }
  [[nodiscard]] alloc::statistics pool() const override { return graph.allocator().stats(); }
  void check() const override { graph.check(); }

  dynamic_graph<Space, Allocator> graph;
};

any_graph::any_graph(exec::any_space const& space, std::string_view allocator, std::size_t vertices, options const& o)
    : space_(space) {
  std::visit(
      [&]<class Space>(Space const& s) {
        alloc::visit<Space>(
            allocator, [&]<class Allocator> { graph_ = std::make_unique<body<Space, Allocator>>(s, vertices, o); });
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
update_report any_graph::insert(std::span<edge const> batch) { return insert_async(batch).get(); }
pending_update any_graph::insert_async(std::span<edge const> batch) { return graph().insert_async(batch); }
update_report any_graph::erase(std::span<edge const> batch) { return erase_async(batch).get(); }
pending_update any_graph::erase_async(std::span<edge const> batch) { return graph().erase_async(batch); }
update_report any_graph::insert(std::initializer_list<edge> batch) {
  return insert(std::span(batch.begin(), batch.size()));
}
update_report any_graph::erase(std::initializer_list<edge> batch) {
  return erase(std::span(batch.begin(), batch.size()));
}
update_report any_graph::insert(resident_edges batch) { return insert_async(batch).get(); }
pending_update any_graph::insert_async(resident_edges batch) { return graph().insert_async(batch); }
update_report any_graph::erase(resident_edges batch) { return erase_async(batch).get(); }
pending_update any_graph::erase_async(resident_edges batch) { return graph().erase_async(batch); }
update_report any_graph::apply(std::span<edge const> batch, std::span<operation const> operations) {
  return apply_async(batch, operations).get();
}
update_report any_graph::apply(resident_edges batch, operation const* operations) {
  return apply_async(batch, operations).get();
}
pending_update any_graph::apply_async(std::span<edge const> batch, std::span<operation const> operations) {
  return graph().apply_async(batch, operations);
}
pending_update any_graph::apply_async(resident_edges batch, operation const* operations) {
  return graph().apply_async(batch, operations);
}
std::vector<vertex_id> any_graph::add_vertices(std::size_t n) { return graph().add_vertices(n); }
removal_report any_graph::remove_vertices(std::span<vertex_id const> batch) { return graph().remove_vertices(batch); }
removal_report any_graph::remove_vertices(std::initializer_list<vertex_id> batch) {
  return remove_vertices(std::span(batch.begin(), batch.size()));
}
removal_report any_graph::remove_vertices(resident_vertices batch) { return graph().remove_vertices(batch); }
update_report any_graph::insert(edge_columns const& batch) { return insert_async(batch).get(); }
update_report any_graph::insert(resident_columns const& batch) { return insert_async(batch).get(); }
update_report any_graph::erase(edge_columns const& batch) { return erase_async(batch).get(); }
update_report any_graph::erase(resident_columns const& batch) { return erase_async(batch).get(); }
update_report any_graph::apply(edge_columns const& batch, std::span<operation const> operations) {
  return apply_async(batch, operations).get();
}
update_report any_graph::apply(resident_columns const& batch, operation const* operations) {
  return apply_async(batch, operations).get();
}
pending_update any_graph::insert_async(edge_columns const& batch) { return graph().insert_async(batch); }
pending_update any_graph::insert_async(resident_columns const& batch) { return graph().insert_async(batch); }
pending_update any_graph::erase_async(edge_columns const& batch) { return graph().erase_async(batch); }
pending_update any_graph::erase_async(resident_columns const& batch) { return graph().erase_async(batch); }
pending_update any_graph::apply_async(edge_columns const& batch, std::span<operation const> operations) {
  return graph().apply_async(batch, operations);
}
pending_update any_graph::apply_async(resident_columns const& batch, operation const* operations) {
  return graph().apply_async(batch, operations);
}
update_report any_graph::build(csr_view const& rows) { return graph().build(rows); }
update_report any_graph::build(resident_csr rows) { return graph().build(rows); }
graph::snapshot any_graph::snapshot() { return graph().snapshot(); }
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
  std::size_t const slice = slice_for(all.size());
  for (std::size_t first = 0; first < all.size(); first += slice)
    g.insert(all.subspan(first, std::min(slice, all.size() - first)));
  return g;
}

}  // namespace wyrm::graph
