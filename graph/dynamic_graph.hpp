// SPDX-License-Identifier: Apache-2.0
// The container: a graph on a space that changes by batches of edges. Every vertex keeps its neighbours in one
// contiguous, sorted page; pages come from a device memory allocator. One thread of the host uses a graph at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "../alloc/allocator.hpp"
#include "../exec/memory.hpp"
#include "adjacency.hpp"
#include "inspect.hpp"
#include "report.hpp"
#include "types.hpp"
#include "view.hpp"

namespace wyrm::graph {

struct options {
  bool directed = false;      // false: each edge is stored in both directions
  bool in_neighbours = true;  // directed graphs: keep them too (PageRank pulls along them)
  bool self_loops = false;    // false: they are dropped, and counted in the report
  alloc::options pool = {};   // the allocator's; the pool grows as needed, up to reserve_bytes
};

template <class Space, class Allocator>
class dynamic_graph {
  static_assert(alloc::device_allocator<Allocator>);

 public:
  /// A graph without edges. Throws error(bad_argument) for more than max_vertices.
  dynamic_graph(Space const& space, std::size_t vertices, options const& o = {})
      : space_(space),
        options_(o),
        vertices_(checked_count(vertices)),
        allocator_(space, o.pool),
        out_(space, vertices_, 0),
        edges_(space),
        status_(space, 1),
        report_(space, 1) {
    if (o.directed && o.in_neighbours) in_.emplace(space, vertices_, 1);
  }
  dynamic_graph(dynamic_graph&&) = default;
  ~dynamic_graph() {
    // A pool takes its pages with it; memory of the system has to be given back page by page.
    if constexpr (!Allocator::family.resets) {
      if (out_.records() == nullptr) return;  // moved from
      try {
        clear();
      } catch (error const&) {  // the device is lost, and its memory with it
      }
    }
  }

  [[nodiscard]] vertex_id vertices() const { return vertices_; }
  [[nodiscard]] std::uint64_t edges() const { return edge_count_; }
  [[nodiscard]] std::uint64_t arcs() const { return arc_count_; }
  [[nodiscard]] options const& settings() const { return options_; }
  [[nodiscard]] Space const& space() const { return space_; }
  [[nodiscard]] Allocator const& allocator() const { return allocator_; }

  /// For algorithms; valid until the next change.
  [[nodiscard]] graph_view view() const {
    vertex_record const* const in = !options_.directed ? out_.records() : in_ ? in_->records() : nullptr;
    return {out_.records(), in, vertices_, arc_count_, options_.directed};
  }

  /// Inserts the edges of a batch (on the host) that are not there yet. All or nothing: on any error the graph is as
  /// before. Throws error(bad_argument) for ids out of range, error(out_of_memory) when the pool may not grow enough.
  /// O(m log m + the degrees of the vertices concerned) for m edges.
  update_report insert(std::span<edge const> batch) { return update<detail::operation::insert>(batch); }
  /// The same for edges that lie in the memory of the graph's space.
  update_report insert(resident_edges batch) { return update<detail::operation::insert>(batch); }

  /// Erases the edges of a batch that are there. The same guarantee and cost; needs no memory beyond scratch.
  update_report erase(std::span<edge const> batch) { return update<detail::operation::erase>(batch); }
  update_report erase(resident_edges batch) { return update<detail::operation::erase>(batch); }

  /// Removes all edges.
  void clear() {
    out_.clear(allocator_.ref());
    if (in_) in_->clear(allocator_.ref());
    arc_count_ = edge_count_ = 0;
  }

  /// For tests: until it is called again, updates find no memory for the vertices from the k-th on that a batch
  /// concerns (of a directed graph with in-neighbours, sources and then targets), and the pool cannot grow.
  static constexpr std::uint64_t never = ~std::uint64_t{0};
  void fail_allocations_from(std::uint64_t k) { fails_from_ = k; }

  [[nodiscard]] csr to_csr() const { return detail::export_csr(space_, out_.records(), vertices_); }

  [[nodiscard]] memory_report memory() const {
    memory_report m;
    alloc::statistics const pool = allocator_.stats();
    detail::table_sums sums = detail::sum_table(space_, out_.records(), vertices_);
    m.vertex_table = out_.table_bytes();
    m.scratch = out_.scratch_bytes() + edges_.bytes() + status_.bytes();
    if (in_) {
      detail::table_sums const in = detail::sum_table(space_, in_->records(), vertices_);
      sums.arcs += in.arcs;
      sums.capacity += in.capacity;
      m.vertex_table += in_->table_bytes();
      m.scratch += in_->scratch_bytes();
    }
    m.neighbours = sums.arcs * sizeof(vertex_id);
    m.slack = (sums.capacity - sums.arcs) * sizeof(vertex_id);
    m.pool_committed = pool.committed;
    m.pool_free = pool.committed - m.neighbours - m.slack;
    m.pool_reserved = pool.reserved;
    m.allocator_overhead = pool.overhead;
    return m;
  }

  /// Proves the invariants of the graph and of its allocator; throws error(corrupt) otherwise. For tests and doubts.
  void check() const {
    bool const mirrored = !options_.directed;
    vertex_record const* const in = mirrored ? out_.records() : in_ ? in_->records() : nullptr;
    detail::check_table(space_, out_.records(), in, vertices_, options_.self_loops);
    if (in_) detail::check_table(space_, in_->records(), out_.records(), vertices_, options_.self_loops);
    std::uint64_t const arcs = detail::sum_table(space_, out_.records(), vertices_).arcs;
    if (arcs != arc_count_)
      throw error(error_code::corrupt,
                  "the graph holds " + std::to_string(arcs) + " arcs but counted " + std::to_string(arc_count_));
    allocator_.check();
  }

 private:
  static vertex_id checked_count(std::size_t vertices) {
    if (vertices > max_vertices)
      throw error(error_code::bad_argument, std::to_string(vertices) + " vertices are too many; ids have 32 bits, so " +
                                                std::to_string(max_vertices) + " is the most");
    return static_cast<vertex_id>(vertices);
  }

  template <detail::operation Op>
  update_report update(std::span<edge const> batch) {
    edges_.reserve(batch.size());
    space_.enqueue_copy_in(edges_.data(), batch.data(), batch.size_bytes());
    return update<Op>(resident_edges{edges_.data(), batch.size()});
  }

  // All steps are started at once, as if nothing could go wrong; where something does, the steps behind it do nothing,
  // and the status says what is to be done before they are started again.
  template <detail::operation Op>
  update_report update(resident_edges batch) {
    if (batch.size == 0) return {};
    space_.fill(status_.data(), 0, status_.bytes());
    orientation const forward = options_.directed ? orientation::forward : orientation::both;
    out_.template plan<Op>(batch, forward, options_.self_loops, arc_count_, status_.data());
    if (in_) in_->template plan<Op>(batch, orientation::reverse, options_.self_loops, arc_count_, status_.data());
    for (bool gathered = false;;) {
      detail::update_status const& s = carry_out<Op>();
      if (s.out_of_range > 0) refuse(batch, s);
      if (s.skewed > 0) {
        forget(&detail::update_status::skewed);
        out_.template plan_skewed<Op>(s, status_.data());
        if (in_) in_->template plan_skewed<Op>(s, status_.data());
      } else if (s.failed_bytes > 0) {
        forget(&detail::update_status::failed_bytes);
        try {
          find_memory(s.failed_bytes, gathered);
        } catch (...) {
          for_tables([&](auto& table) { table.release(allocator_.ref(), status_.data(), true); });
          throw;
        }
      } else {
        return report<Op>(batch.size, s);
      }
    }
  }

  template <class F>
  void for_tables(F const& f) {
    f(out_);
    if (in_) f(*in_);
  }

  // Starts the steps that follow the plan, and waits for what they say.
  template <detail::operation Op>
  detail::update_status const& carry_out() {
    for_tables([&](auto& table) { table.template allocate<Op>(allocator_.ref(), fails_from_, status_.data()); });
    for_tables([&](auto& table) { table.template merge<Op>(status_.data()); });
    for_tables([&](auto& table) { table.release(allocator_.ref(), status_.data(), false); });
    space_.enqueue_copy_out(report_.data(), status_.data(), status_.bytes());
    space_.synchronize();
    return *report_.data();
  }
  void forget(std::uint64_t detail::update_status::*what) {
    space_.fill(&(status_.data()->*what), 0, sizeof(std::uint64_t));
  }

  [[noreturn]] void refuse(resident_edges batch, detail::update_status const& s) const {
    std::uint64_t const first = ~s.first_out_of_range;
    edge const bad = exec::read(space_, batch.data + first);
    throw error(error_code::bad_argument,
                "edge " + std::to_string(first) + " of the batch is (" + std::to_string(bad.source) + ", " +
                    std::to_string(bad.target) + "), but the graph has only " + std::to_string(vertices_) +
                    " vertices (" + std::to_string(s.out_of_range) + " such edges in all); nothing was changed");
  }

  template <detail::operation Op>
  update_report report(std::size_t requested, detail::update_status const& s) {
    detail::update_status::sums const all = s.total();
    update_report r;
    r.requested = requested;
    r.self_loops = options_.self_loops ? 0 : all.self_loops;
    if (Op == detail::operation::insert) {
      arc_count_ += all.arcs;
      edge_count_ += all.edges;
      r.inserted = all.edges;
      r.duplicates = r.requested - r.inserted - r.self_loops;
    } else {
      arc_count_ -= all.arcs;
      edge_count_ -= all.edges;
      r.erased = all.edges;
      r.missing = all.distinct - all.edges;
      r.duplicates = r.requested - r.erased - r.missing - r.self_loops;
    }
    return r;
  }

  // Lets the pool grow by what pages are missing; where it cannot, gathers what is free, once.
  void find_memory(std::uint64_t missing, bool& gathered) {
    // A page of each class may need a fresh chunk, hence more than what was missing.
    std::size_t const needed = missing + missing / 4 + (std::size_t{1} << 20);
    std::size_t const generous = std::max(needed, allocator_.stats().committed / 2);
    try {
      grow(generous, needed);
    } catch (error const& e) {
      if (e.code() == error_code::out_of_memory && !gathered) {
        allocator_.compact();
        gathered = true;
        return;
      }
      throw error(e.code(), "the batch needs " + std::to_string(missing >> 10) +
                                " KiB more for neighbours; nothing was changed (" + e.what() + ")");
    }
  }

  void grow(std::size_t generous, std::size_t needed) {
    if (fails_from_ != never) throw error(error_code::out_of_memory, "allocations are made to fail");
    if (generous > needed) {
      try {
        allocator_.grow(generous);
        return;
      } catch (error const& e) {
        if (e.code() != error_code::out_of_memory) throw;
      }
    }
    allocator_.grow(needed);
  }

  Space space_;
  options options_;
  vertex_id vertices_;
  Allocator allocator_;
  adjacency<Space> out_;
  std::optional<adjacency<Space>> in_;
  exec::buffer<edge, Space> edges_;
  exec::buffer<detail::update_status, Space> status_;
  exec::staging_buffer<detail::update_status, Space> report_;
  std::uint64_t arc_count_ = 0;
  std::uint64_t edge_count_ = 0;
  std::uint64_t fails_from_ = never;
};

}  // namespace wyrm::graph
