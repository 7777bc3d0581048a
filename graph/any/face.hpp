// SPDX-License-Identifier: Apache-2.0
// The operations of an any_graph, whatever its space, allocator and type of values are. Not for users.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "../any_graph.hpp"

namespace wyrm::graph {

struct any_graph::face {
  virtual ~face() = default;
  [[nodiscard]] virtual vertex_id vertices() const = 0;
  [[nodiscard]] virtual vertex_id present_vertices() const = 0;
  [[nodiscard]] virtual std::uint64_t edges() const = 0;
  [[nodiscard]] virtual std::uint64_t arcs() const = 0;
  [[nodiscard]] virtual options const& settings() const = 0;
  [[nodiscard]] virtual graph_view view() const = 0;
  // values of a batch or a CSR: of the type of the graph; nullptr: none.
  virtual pending_update update_async(detail::update_kind kind, detail::batch_input const& batch) = 0;
  virtual std::vector<vertex_id> add_vertices(std::size_t n) = 0;
  virtual removal_report remove_vertices(std::span<vertex_id const> batch) = 0;
  virtual removal_report remove_vertices(resident_vertices batch) = 0;
  virtual update_report build(csr_view const& rows, void const* values) = 0;
  virtual update_report build(resident_csr rows, void const* values) = 0;
  virtual graph::snapshot snapshot() = 0;
  [[nodiscard]] virtual std::unique_ptr<face> as_undirected(options const& o) const = 0;
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

}  // namespace wyrm::graph
