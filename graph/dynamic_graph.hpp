// SPDX-License-Identifier: Apache-2.0
// The container: a graph on a space that changes by batches of edges. Every vertex keeps its neighbours in one
// contiguous, sorted page; pages come from a device memory allocator. One thread of the host uses a graph at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "../alloc/allocator.hpp"
#include "../exec/memory.hpp"
#include "adjacency.hpp"
#include "inspect.hpp"
#include "layout.hpp"
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
        allocator_(std::make_unique<Allocator>(space, o.pool)),
        out_(space, vertices_, 0),
        edges_(space),
        offsets_(space),
        targets_(space),
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
  [[nodiscard]] Allocator const& allocator() const { return *allocator_; }

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

  /// Makes a graph without edges that of a CSR (on the host): of a directed graph its out-neighbours, of an undirected
  /// one both directions of each edge. Rows must ascend without repeats. Pages lie in the order of the vertices. All or
  /// nothing: throws error(bad_argument) for a CSR that is not so, or has other self-loops than the graph keeps, or if
  /// there are edges already; out_of_memory as insert does. O(vertices + arcs), and the logarithm of degrees to see
  /// that both directions are there.
  update_report build(csr const& rows) { return build_from(rows); }
  /// The same for a CSR in the memory of the graph's space.
  update_report build(resident_csr rows) { return build_from(rows); }

  /// Lays all pages out anew, in the order of the vertices and as small as they can be, in a pool of the size that this
  /// needs, and gives the old pool and all scratch back: after long churn, or a batch far larger than those to come.
  /// Both pools are there for a moment. Throws error(out_of_memory), and changes nothing, if that is too much. The view
  /// is another one afterwards. O(vertices + arcs).
  void compact() {
    std::array<exec::buffer<vertex_record, Space>, 2> records{exec::buffer<vertex_record, Space>(space_),
                                                              exec::buffer<vertex_record, Space>(space_)};
    space_.fill(status_.data(), 0, status_.bytes());
    exec::buffer<std::uint64_t, Space> bytes(space_, 1);
    space_.fill(bytes.data(), 0, sizeof(std::uint64_t));
    for_tables([&](auto& table) {
      exec::for_each_lane<32>(space_, vertices_, detail::sum_page_bytes{table.records(), bytes.data()});
    });
    alloc::options pool = options_.pool;
    pool.pool_bytes = exec::read(space_, bytes.data()) + (std::size_t{1} << 20);
    auto fresh = std::make_unique<Allocator>(space_, pool);
    try {
      unsigned number = 0;
      for_tables([&](auto& table) {
        exec::buffer<vertex_record, Space>& to = records[number];
        to.reserve(vertices_);
        space_.fill(to.data(), 0, to.bytes());
        detail::layout<Space, detail::table_rows> layout(space_, {table.records()}, vertices_, arc_count_, true,
                                                         to.data(), status_.data(), number++);
        for (;;) {
          layout.allocate(fresh->ref(), to.data(), fails_from_);
          layout.copy(0, vertices_);
          layout.copy_hubs();
          detail::update_status const& s = read_status();
          if (s.failed_bytes == 0) break;
          forget(&detail::update_status::failed_bytes);
          if (fails_from_ != never) throw error(error_code::out_of_memory, "allocations are made to fail");
          fresh->grow(s.failed_bytes + (std::size_t{1} << 20));
        }
      });
    } catch (error const& e) {
      if constexpr (!Allocator::family.resets)
        for (auto const& r : records)
          exec::for_each_lane<32>(space_, r.size(), detail::clear_records{fresh->ref(), r.data()});
      throw error(e.code(), std::string("no memory for a second pool; nothing was changed (") + e.what() + ")");
    }
    if constexpr (!Allocator::family.resets) for_tables([&](auto& table) { table.clear(allocator_->ref()); });
    unsigned number = 0;
    for_tables([&](auto& table) { table.replace(std::move(records[number++])); });
    allocator_ = std::move(fresh);
    forget_scratch();
  }

  /// Removes all edges.
  void clear() {
    out_.clear(allocator_->ref());
    if (in_) in_->clear(allocator_->ref());
    arc_count_ = edge_count_ = 0;
  }

  /// For tests: until it is called again, updates find no memory for the vertices from the k-th on that a batch
  /// concerns (of a directed graph with in-neighbours, sources and then targets; in no certain order), nor build() and
  /// compact() for those from vertex k on, and no pool can grow.
  static constexpr std::uint64_t never = ~std::uint64_t{0};
  void fail_allocations_from(std::uint64_t k) { fails_from_ = k; }

  [[nodiscard]] csr to_csr() const { return detail::export_csr(space_, out_.records(), vertices_); }

  [[nodiscard]] memory_report memory() const {
    memory_report m;
    alloc::statistics const pool = allocator_->stats();
    detail::table_sums sums = detail::sum_table(space_, out_.records(), vertices_);
    m.vertex_table = out_.table_bytes();
    m.scratch = out_.scratch_bytes() + edges_.bytes() + offsets_.bytes() + targets_.bytes() + status_.bytes();
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
    allocator_->check();
  }

 private:
  // Edges that travel to the device while those before them are counted.
  static constexpr std::size_t slice = std::size_t{1} << 20;

  static vertex_id checked_count(std::size_t vertices) {
    if (vertices > max_vertices)
      throw error(error_code::bad_argument, std::to_string(vertices) + " vertices are too many; ids have 32 bits, so " +
                                                std::to_string(max_vertices) + " is the most");
    return static_cast<vertex_id>(vertices);
  }

  template <detail::operation Op>
  update_report update(std::span<edge const> batch) {
    if (batch.empty()) return {};
    edges_.reserve(batch.size());
    resident_edges const edges(edges_.data(), batch.size());
    begin(edges);
    if (batch.size() < 2 * slice) {
      space_.enqueue_copy_in(edges_.data(), batch.data(), batch.size_bytes());
      for_tables([&](auto& table) { table.count(0, edges.size); });
      return finish<Op>(edges);
    }
    if (!upload_) upload_.emplace(space_);
    upload_->start();
    for (std::size_t first = 0; first < batch.size(); first += slice) {
      std::span<edge const> const part = batch.subspan(first, std::min(slice, batch.size() - first));
      upload_->enqueue(edges_.data() + first, part.data(), part.size_bytes());
      for_tables([&](auto& table) { table.count(first, part.size()); });
    }
    return finish<Op>(edges);
  }
  template <detail::operation Op>
  update_report update(resident_edges edges) {
    if (edges.size == 0) return {};
    begin(edges);
    for_tables([&](auto& table) { table.count(0, edges.size); });
    return finish<Op>(edges);
  }
  void begin(resident_edges edges) {
    space_.fill(status_.data(), 0, status_.bytes());
    orientation const forward = options_.directed ? orientation::forward : orientation::both;
    out_.begin(edges, forward, options_.self_loops, arc_count_, status_.data());
    if (in_) in_->begin(edges, orientation::reverse, options_.self_loops, arc_count_, status_.data());
  }

  // All steps are started at once, as if nothing could go wrong; where something does, the steps behind it do nothing,
  // and the status says what is to be done before they are started again.
  template <detail::operation Op>
  update_report finish(resident_edges batch) {
    return report<Op>(batch.size, settle<Op>(batch, [&](auto const& f) { for_tables(f); }));
  }
  // for_these(f) calls f for the tables that are concerned.
  template <detail::operation Op, class ForTables>
  detail::update_status const& settle(resident_edges batch, ForTables const& for_these) {
    for_these([&](auto& table) { table.template plan<Op>(status_.data()); });
    for (bool gathered = false;;) {
      for_these([&](auto& table) { table.template allocate<Op>(allocator_->ref(), fails_from_, status_.data()); });
      for_these([&](auto& table) { table.template merge<Op>(status_.data()); });
      for_these([&](auto& table) { table.release(allocator_->ref(), status_.data(), false); });
      detail::update_status const& s = read_status();
      if (s.out_of_range > 0) refuse(batch, s);
      if (s.skewed > 0) {
        forget(&detail::update_status::skewed);
        for_these([&](auto& table) { table.template plan_skewed<Op>(s, status_.data()); });
      } else if (s.failed_bytes > 0) {
        forget(&detail::update_status::failed_bytes);
        try {
          find_memory(s.failed_bytes, allocator_->stats().committed / 2, gathered);
        } catch (...) {
          for_these([&](auto& table) { table.release(allocator_->ref(), status_.data(), true); });
          throw;
        }
      } else {
        return s;
      }
    }
  }

  template <class F>
  void for_tables(F const& f) {
    f(out_);
    if (in_) f(*in_);
  }

  detail::update_status const& read_status() {
    space_.enqueue_copy_out(report_.data(), status_.data(), status_.bytes());
    space_.synchronize();
    return *report_.data();
  }
  void forget_scratch() {
    edges_ = exec::buffer<edge, Space>(space_);
    offsets_ = exec::buffer<std::uint64_t, Space>(space_);
    targets_ = exec::buffer<vertex_id, Space>(space_);
  }

  void forget(std::uint64_t detail::update_status::*what) {
    space_.fill(&(status_.data()->*what), 0, sizeof(std::uint64_t));
  }

  template <class Csr>
  update_report build_from(Csr const& rows) {
    if (arc_count_ > 0)
      throw error(error_code::bad_argument, "a CSR is for a graph without edges, and this one has " +
                                                std::to_string(edge_count_) + "; clear() it, or insert edges");
    std::uint64_t const arcs = check_sizes(rows);
    if (vertices_ == 0) return {};
    try {
      space_.fill(status_.data(), 0, status_.bytes());
      update_report const r = lay_out(rows, arcs);
      if (in_) insert_reverse(list(rows, arcs));
      return r;
    } catch (...) {
      clear();
      throw;
    }
  }
  [[nodiscard]] std::uint64_t check_sizes(resident_csr const& rows) const { return rows.arcs; }
  [[nodiscard]] std::uint64_t check_sizes(csr const& rows) const {
    if (rows.offsets.size() != std::size_t{vertices_} + 1 || rows.offsets.back() != rows.targets.size())
      throw error(error_code::bad_argument, "a CSR of " + std::to_string(rows.offsets.size()) + " offsets and " +
                                                std::to_string(rows.targets.size()) +
                                                " targets is none of a graph of " + std::to_string(vertices_) +
                                                " vertices, which has an offset more than vertices, the last of "
                                                "which is the number of targets");
    return rows.targets.size();
  }

  // All steps are started before anybody waits, and once more after the pool has grown.
  template <class Csr>
  update_report lay_out(Csr const& rows, std::uint64_t arcs) {
    detail::csr_rows const there = room_for(rows);
    detail::layout<Space, detail::csr_rows> layout(space_, there, vertices_, arcs, options_.self_loops, out_.records(),
                                                   status_.data(), 0);
    for (bool is_there = false, gathered = false;; is_there = true) {
      if (!is_there) bring_offsets(rows);
      layout.allocate(allocator_->ref(), out_.records(), fails_from_);
      if (is_there)
        layout.copy(0, vertices_);
      else
        bring_targets(rows, layout);
      layout.copy_hubs();
      detail::update_status const& s = read_status();
      if (s.out_of_range > 0)
        throw error(
            error_code::bad_argument,
            "row " + std::to_string(~s.first_out_of_range) + " of the CSR is wrong (" + std::to_string(s.out_of_range) +
                " such rows in all): offsets must ascend from 0 to the number "
                "of targets, and targets in each row, ids below " +
                std::to_string(vertices_) + (options_.self_loops ? "" : ", no self-loops") + "; nothing was changed");
      if (s.failed_bytes == 0) return report_build(arcs, s.total().self_loops);
      forget(&detail::update_status::failed_bytes);
      find_memory(s.failed_bytes, 0, gathered);
    }
  }
  update_report report_build(std::uint64_t arcs, std::uint64_t self_loops) {
    if (!options_.directed) {
      try {
        detail::check_table(space_, out_.records(), out_.records(), vertices_, options_.self_loops);
      } catch (error const& e) {
        throw error(error_code::bad_argument,
                    "the CSR of an undirected graph must have both directions of each edge; "
                    "nothing was changed (" +
                        std::string(e.what()) + ")");
      }
    }
    arc_count_ = arcs;
    edge_count_ = options_.directed ? arcs : (arcs + self_loops) / 2;
    update_report r;
    r.requested = r.inserted = edge_count_;
    return r;
  }

  // A CSR where it is, or where it will be.
  detail::csr_rows room_for(resident_csr const& rows) { return {rows.offsets, rows.targets, rows.arcs}; }
  detail::csr_rows room_for(csr const& rows) {
    offsets_.reserve(rows.offsets.size());
    targets_.reserve(rows.targets.size());
    return {offsets_.data(), targets_.data(), rows.targets.size()};
  }
  void bring_offsets(resident_csr const&) {}
  void bring_offsets(csr const& rows) {
    space_.enqueue_copy_in(offsets_.data(), rows.offsets.data(), rows.offsets.size() * sizeof(std::uint64_t));
  }
  // Rows are copied when they are there, while others are on their way.
  template <class Layout>
  void bring_targets(resident_csr const&, Layout& layout) {
    layout.copy(0, vertices_);
  }
  template <class Layout>
  void bring_targets(csr const& rows, Layout& layout) {
    if (!upload_) upload_.emplace(space_);
    upload_->start();
    std::size_t next = 0;  // the first row that is not there
    for (std::size_t first = 0; next < vertices_; first += 4 * slice) {
      std::size_t const n = std::min(4 * slice, rows.targets.size() - std::min(first, rows.targets.size()));
      if (n > 0) upload_->enqueue(targets_.data() + first, rows.targets.data() + first, n * sizeof(vertex_id));
      auto const row = rows.offsets.begin() + 1;
      // Whether offsets ascend is not known yet; where they do not, rows are refused all the same.
      auto const last = std::upper_bound(row + static_cast<std::ptrdiff_t>(next), rows.offsets.end(), first + n);
      std::size_t const end = first + n < rows.targets.size() ? static_cast<std::size_t>(last - row) : vertices_;
      if (end > next) layout.copy(next, end - next);
      next = std::max(next, end);
    }
  }

  // The arcs of a CSR that is there, as edges; and in-neighbours, of them.
  template <class Csr>
  resident_edges list(Csr const& rows, std::uint64_t arcs) {
    edges_.reserve(arcs);
    exec::for_each_tile<8>(space_, vertices_, detail::list_rows{room_for(rows), edges_.data()});
    return resident_edges(edges_.data(), arcs);
  }
  void insert_reverse(resident_edges edges) {
    if (edges.size == 0) return;
    space_.fill(status_.data(), 0, status_.bytes());
    in_->begin(edges, orientation::reverse, options_.self_loops, 0, status_.data());
    in_->count(0, edges.size);
    settle<detail::operation::insert>(edges, [&](auto const& f) { f(*in_); });
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

  // Lets the pool grow by what pages are missing, or by `at_least` if it can; where it cannot, gathers what is free,
  // once.
  void find_memory(std::uint64_t missing, std::size_t at_least, bool& gathered) {
    // A page of each class may need a fresh chunk, hence more than what was missing.
    std::size_t const needed = missing + missing / 4 + (std::size_t{1} << 20);
    std::size_t const generous = std::max(needed, at_least);
    try {
      grow(generous, needed);
    } catch (error const& e) {
      if (e.code() == error_code::out_of_memory && !gathered) {
        allocator_->compact();
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
        allocator_->grow(generous);
        return;
      } catch (error const& e) {
        if (e.code() != error_code::out_of_memory) throw;
      }
    }
    allocator_->grow(needed);
  }

  Space space_;
  options options_;
  vertex_id vertices_;
  std::unique_ptr<Allocator> allocator_;
  adjacency<Space> out_;
  std::optional<adjacency<Space>> in_;
  exec::buffer<edge, Space> edges_;
  exec::buffer<std::uint64_t, Space> offsets_;
  exec::buffer<vertex_id, Space> targets_;
  std::optional<typename Space::upload> upload_;
  exec::buffer<detail::update_status, Space> status_;
  exec::staging_buffer<detail::update_status, Space> report_;
  std::uint64_t arc_count_ = 0;
  std::uint64_t edge_count_ = 0;
  std::uint64_t fails_from_ = never;
};

}  // namespace wyrm::graph
