// SPDX-License-Identifier: Apache-2.0
#include "any_graph.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "any/allocators.hpp"
#include "any/face.hpp"
#include "batch/input.hpp"

namespace wyrm::graph {

std::vector<std::string> any_graph::allocators() {
  return alloc::names_of(detail::graph_allocators<exec::host_space>{});
}

any_graph::any_graph(exec::any_space const& space, std::string_view allocator, std::size_t vertices, options const& o)
    : space_(space) {
  auto const has = [&](std::vector<std::string> const& names) { return std::ranges::count(names, allocator) > 0; };
  if (has(alloc::names()) && !has(allocators()))
    throw error(error_code::bad_argument,
                "this build of Wyrm has no graphs with allocator '" + std::string(allocator) +
                    "'; build it with -DWYRM_GRAPH_ALLOCATORS=all, or use one of any_graph::allocators()");
  switch (width_of_numbers(o.values)) {
    case 0: graph_ = make<no_value>(space, allocator, vertices, o); break;
    case 4: graph_ = make<any_number<4>>(space, allocator, vertices, o); break;
    default: graph_ = make<any_number<8>>(space, allocator, vertices, o);
  }
}
any_graph::any_graph(exec::any_space const& space, std::unique_ptr<face> graph)
    : space_(space), graph_(std::move(graph)) {}
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
  if (values.type() != number_type::none) detail::check_length("values", values.size(), n);
  return values.data();
}
void const* any_graph::checked(resident_numbers values, std::size_t n) const {
  check_type("the values of the batch", values.type());
  if (values.type() != number_type::none)
    detail::check_resident("values", values.data(), width_of_numbers(values.type()), n);
  return values.data();
}
detail::batch_input any_graph::checked(host_numbered_edges const& batch) const {
  check_type("the values of the batch", batch.type());
  return {.structs = batch.data(), .size = batch.size(), .is_on_host = true};
}
detail::batch_input any_graph::checked(resident_numbered_edges batch) const {
  check_type("the values of the batch", batch.type());
  return {.structs = detail::not_null("edges", batch.data(), batch.size()), .size = batch.size()};
}
void any_graph::copy_values(void* to) const { graph().copy_values(to); }

template <class Batch, class Values>
pending_update any_graph::insert_any(Batch const& batch, Values const& values) {
  detail::batch_input all = detail::input(batch);
  all.values = checked(values, all.size);
  return graph().update_async(detail::update_kind::insert, all);
}
template <class Batch, class Operations, class Values>
pending_update any_graph::apply_any(Batch const& batch, Operations const& operations, Values const& values) {
  detail::batch_input all = detail::input(batch, operations);
  all.values = checked(values, all.size);
  return graph().update_async(detail::update_kind::mixed, all);
}

update_report any_graph::insert(std::span<edge const> batch, host_numbers const& values) {
  return insert_async(batch, values).get();
}
pending_update any_graph::insert_async(std::span<edge const> batch, host_numbers const& values) {
  return insert_any(batch, values);
}
update_report any_graph::erase(std::span<edge const> batch) { return erase_async(batch).get(); }
pending_update any_graph::erase_async(std::span<edge const> batch) {
  return graph().update_async(detail::update_kind::erase, detail::input(batch));
}
update_report any_graph::apply(std::span<edge const> batch, std::span<operation const> operations,
                               host_numbers const& values) {
  return apply_async(batch, operations, values).get();
}
pending_update any_graph::apply_async(std::span<edge const> batch, std::span<operation const> operations,
                                      host_numbers const& values) {
  return apply_any(batch, operations, values);
}
update_report any_graph::insert(resident_edges batch, resident_numbers values) {
  return insert_async(batch, values).get();
}
pending_update any_graph::insert_async(resident_edges batch, resident_numbers values) {
  return insert_any(batch, values);
}
update_report any_graph::erase(resident_edges batch) { return erase_async(batch).get(); }
pending_update any_graph::erase_async(resident_edges batch) {
  return graph().update_async(detail::update_kind::erase, detail::input(batch));
}
update_report any_graph::apply(resident_edges batch, operation const* operations, resident_numbers values) {
  return apply_async(batch, operations, values).get();
}
pending_update any_graph::apply_async(resident_edges batch, operation const* operations, resident_numbers values) {
  return apply_any(batch, operations, values);
}
update_report any_graph::insert(edge_columns const& batch, host_numbers const& values) {
  return insert_async(batch, values).get();
}
pending_update any_graph::insert_async(edge_columns const& batch, host_numbers const& values) {
  return insert_any(batch, values);
}
update_report any_graph::erase(edge_columns const& batch) { return erase_async(batch).get(); }
pending_update any_graph::erase_async(edge_columns const& batch) {
  return graph().update_async(detail::update_kind::erase, detail::input(batch));
}
update_report any_graph::apply(edge_columns const& batch, std::span<operation const> operations,
                               host_numbers const& values) {
  return apply_async(batch, operations, values).get();
}
pending_update any_graph::apply_async(edge_columns const& batch, std::span<operation const> operations,
                                      host_numbers const& values) {
  return apply_any(batch, operations, values);
}
update_report any_graph::insert(resident_columns const& batch, resident_numbers values) {
  return insert_async(batch, values).get();
}
pending_update any_graph::insert_async(resident_columns const& batch, resident_numbers values) {
  return insert_any(batch, values);
}
update_report any_graph::erase(resident_columns const& batch) { return erase_async(batch).get(); }
pending_update any_graph::erase_async(resident_columns const& batch) {
  return graph().update_async(detail::update_kind::erase, detail::input(batch));
}
update_report any_graph::apply(resident_columns const& batch, operation const* operations, resident_numbers values) {
  return apply_async(batch, operations, values).get();
}
pending_update any_graph::apply_async(resident_columns const& batch, operation const* operations,
                                      resident_numbers values) {
  return apply_any(batch, operations, values);
}
update_report any_graph::insert(host_numbered_edges const& batch) { return insert_async(batch).get(); }
pending_update any_graph::insert_async(host_numbered_edges const& batch) {
  return graph().update_async(detail::update_kind::insert, checked(batch));
}
update_report any_graph::apply(host_numbered_edges const& batch, std::span<operation const> operations) {
  return apply_async(batch, operations).get();
}
pending_update any_graph::apply_async(host_numbered_edges const& batch, std::span<operation const> operations) {
  return graph().update_async(detail::update_kind::mixed, detail::input(checked(batch), operations));
}
update_report any_graph::insert(resident_numbered_edges batch) { return insert_async(batch).get(); }
pending_update any_graph::insert_async(resident_numbered_edges batch) {
  return graph().update_async(detail::update_kind::insert, checked(batch));
}
update_report any_graph::apply(resident_numbered_edges batch, operation const* operations) {
  return apply_async(batch, operations).get();
}
pending_update any_graph::apply_async(resident_numbered_edges batch, operation const* operations) {
  return graph().update_async(detail::update_kind::mixed, detail::input(checked(batch), operations));
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
  return graph().build(rows, checked(values, rows.arcs));
}
graph::snapshot any_graph::snapshot() { return graph().snapshot(); }
any_graph any_graph::as_undirected(options o) const {
  o.values = settings().values;
  return {space_, graph().as_undirected(o)};
}
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
