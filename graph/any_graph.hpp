// SPDX-License-Identifier: Apache-2.0
// A dynamic graph whose space and allocator are chosen at run time, by name: what programs and bindings hold.
// Everything means what it means in dynamic_graph; the templates are compiled once, in any_graph.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "../alloc/allocator.hpp"
#include "../exec/device.hpp"
#include "options.hpp"
#include "pending_update.hpp"
#include "report.hpp"
#include "types.hpp"
#include "view.hpp"

namespace wyrm::graph {

class any_graph {
 public:
  /// A graph without edges. Throws error(bad_argument) for an unknown allocator.
  any_graph(exec::any_space const& space, std::string_view allocator, std::size_t vertices, options const& o = {});
  ~any_graph();
  /// What was moved from can be assigned to and destroyed; anything else throws error(bad_argument).
  any_graph(any_graph&&) noexcept;
  any_graph& operator=(any_graph&&) noexcept;

  [[nodiscard]] vertex_id vertices() const;
  [[nodiscard]] std::uint64_t edges() const;
  [[nodiscard]] std::uint64_t arcs() const;
  [[nodiscard]] options const& settings() const;
  [[nodiscard]] exec::any_space const& space() const { return space_; }
  [[nodiscard]] graph_view view() const;

  update_report insert(std::span<edge const> batch);
  update_report erase(std::span<edge const> batch);
  update_report insert(resident_edges batch);
  update_report erase(resident_edges batch);
  update_report insert(std::initializer_list<edge> batch);
  update_report erase(std::initializer_list<edge> batch);
  pending_update insert_async(std::span<edge const> batch);
  pending_update erase_async(std::span<edge const> batch);
  pending_update insert_async(resident_edges batch);
  pending_update erase_async(resident_edges batch);
  update_report build(csr_view const& rows);
  update_report build(resident_csr rows);
  void compact();
  void clear();
  static constexpr std::uint64_t never = ~std::uint64_t{0};
  void fail_allocations_from(std::uint64_t k);

  [[nodiscard]] csr to_csr() const;
  [[nodiscard]] memory_report memory() const;
  [[nodiscard]] alloc::statistics pool() const;
  void check() const;

 private:
  struct face;
  template <class Space, class Allocator>
  struct body;
  [[nodiscard]] face& graph() const;

  exec::any_space space_;
  std::unique_ptr<face> graph_;
};

/// The graph of an edge list: its vertices, its direction, its edges. Edges are inserted a quarter at a time, or a few
/// million, so that scratch memory stays small beside the graph; there may be more than a batch can have. Throws what
/// insert throws.
[[nodiscard]] any_graph build(exec::any_space const& space, std::string_view allocator, edge_list const& list,
                              options o = {});

}  // namespace wyrm::graph
