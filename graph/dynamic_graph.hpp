// SPDX-License-Identifier: Apache-2.0
// The container: a graph on a space that is changed by batches of edges. Every vertex has its neighbours in one
// contiguous, sorted page; pages come from a device memory allocator. Not thread-safe: one host thread at a time may
// use a graph.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../alloc/allocator.hpp"
#include "../exec/memory.hpp"
#include "batch/status.hpp"
#include "batch/upload.hpp"
#include "identity.hpp"
#include "inspect/check.hpp"
#include "inspect/export.hpp"
#include "layout/layout.hpp"
#include "options.hpp"
#include "pending_update.hpp"
#include "table/pool_growth.hpp"
#include "table/vertex_table.hpp"
#include "types.hpp"
#include "update_report.hpp"
#include "view.hpp"

namespace wyrm::graph {

template <class Space, class Allocator>
class dynamic_graph {
  static_assert(alloc::device_allocator<Allocator>);

 public:
  /// A graph without edges. Throws error(bad_argument) for more than max_vertices.
  dynamic_graph(Space const& space, std::size_t vertices, options const& o = {})
      : space_(space),
        options_(with_seed(o)),
        vertices_(checked_count(vertices)),
        allocator_(std::make_unique<Allocator>(space, pool_of(o.pool.pool_bytes))),
        out_(space, vertices_, 0, options_.hash_seed),
        uploader_(space),
        hubs_(space),
        status_(space),
        link_(std::make_shared<link>(link{this})) {
    if (o.directed && o.in_neighbours) in_.emplace(space, vertices_, 1, options_.hash_seed);
  }
  /// A pending update moves to the new graph. The moved-from graph has no vertices, edges and arcs, and an empty view;
  /// it can be assigned to and destroyed, and all other operations throw error(bad_argument).
  dynamic_graph(dynamic_graph&& other) noexcept
      : space_(other.space_),
        options_(other.options_),
        vertices_(std::exchange(other.vertices_, 0)),
        allocator_(std::move(other.allocator_)),
        out_(std::move(other.out_)),
        in_(std::move(other.in_)),
        uploader_(std::move(other.uploader_)),
        hubs_(std::move(other.hubs_)),
        status_(std::move(other.status_)),
        link_(std::move(other.link_)),
        identity_(std::move(other.identity_)),
        arc_count_(std::exchange(other.arc_count_, 0)),
        edge_count_(std::exchange(other.edge_count_, 0)),
        changes_(other.changes_),
        fails_from_(other.fails_from_),
        build_slice_(other.build_slice_) {
    if (link_) link_->graph = this;
  }
  dynamic_graph& operator=(dynamic_graph&& other) noexcept {
    if (this == &other) return *this;
    std::destroy_at(this);
    return *std::construct_at(this, std::move(other));
  }
  ~dynamic_graph() {
    if (!link_) return;  // moved from
    link_->graph = nullptr;
    if (link_->is_pending) space_.wait_for_all();  // waits for kernels and copies of the update
    // The destruction of a pool frees its pages. Memory of the system must be freed page by page.
    if constexpr (!Allocator::family.resets) {
      try {
        if (link_->is_pending) release_planned();
        remove_all();
      } catch (...) {  // the device has failed, and its memory is lost
      }
    }
  }

  [[nodiscard]] vertex_id vertices() const { return vertices_; }
  [[nodiscard]] std::uint64_t edges() const { return edge_count_; }
  [[nodiscard]] std::uint64_t arcs() const { return arc_count_; }
  [[nodiscard]] options const& settings() const { return options_; }
  [[nodiscard]] Space const& space() const { return space_; }
  [[nodiscard]] Allocator const& allocator() const {
    if (!link_) require_idle();
    return *allocator_;
  }

  /// The view for algorithms; valid until the next change.
  [[nodiscard]] graph_view view() const {
    if (link_) require_idle();
    packed_record const* const in = !options_.directed ? out_.records() : in_ ? in_->records() : nullptr;
    return {out_.records(), in, vertices_, arc_count_, options_.directed, identity_.id(), identity_.version()};
  }

  /// Inserts the edges of a batch (on the host) that are not in the graph. All or nothing: on any error the graph is
  /// unchanged. Throws error(bad_argument) for ids out of range, error(out_of_memory) when the pool cannot grow enough.
  /// O(m + sum of the degrees of changed vertices), expected and amortised, for m edges; plus a sort of the batch if
  /// very many edges have the same source. If the pool has too little memory, it grows by an eighth, or all pages are
  /// rewritten in another pool, if the pool could hold the graph with a fifth to spare.
  update_report insert(std::span<edge const> batch) { return insert_async(batch).get(); }
  /// The same for edges in memory of the graph's space.
  update_report insert(resident_edges batch) { return insert_async(batch).get(); }
  update_report insert(std::initializer_list<edge> batch) { return insert(std::span(batch.begin(), batch.size())); }

  /// Erases the edges of a batch that are in the graph. Same guarantee and cost; needs no memory other than scratch.
  update_report erase(std::span<edge const> batch) { return erase_async(batch).get(); }
  update_report erase(resident_edges batch) { return erase_async(batch).get(); }
  update_report erase(std::initializer_list<edge> batch) { return erase(std::span(batch.begin(), batch.size())); }

  /// Asynchronous insert and erase: enqueue the update on the stream of the graph's space. The batch must not change
  /// until get() of the result has returned, which throws the errors of insert() and erase(). Until then all operations
  /// that read or change the graph throw error(bad_argument), except for vertices(), edges() and arcs(), which return
  /// the values before the update.
  pending_update insert_async(std::span<edge const> batch) { return update<detail::operation::insert>(batch); }
  pending_update insert_async(resident_edges batch) { return update<detail::operation::insert>(batch); }
  pending_update erase_async(std::span<edge const> batch) { return update<detail::operation::erase>(batch); }
  pending_update erase_async(resident_edges batch) { return update<detail::operation::erase>(batch); }

  /// Builds a graph without edges from a CSR (on the host), which has the out-neighbours of a directed graph, or both
  /// directions of each edge of an undirected graph. Rows must ascend without duplicates. Pages are in the order of the
  /// vertices. All or nothing: throws error(bad_argument) for a malformed CSR, for self-loops that the graph does not
  /// keep, and if the graph has edges; out_of_memory like insert. O(vertices + arcs); for an undirected graph O(arcs
  /// log degree), to check that both directions are present.
  update_report build(csr_view const& rows) { return build_from(rows); }
  /// The same for a CSR in memory of the graph's space.
  update_report build(resident_csr rows) { return build_from(rows); }

  /// Rewrites all pages, in the order of the vertices and with minimum sizes, in a new pool of the necessary
  /// size, and frees the old pool and all scratch. Useful after many updates, or after a batch that was much larger
  /// than later ones. Both pools exist temporarily; throws error(out_of_memory), and changes nothing, if memory does
  /// not suffice for both. Invalidates views. O(vertices + arcs).
  void compact() {
    typename Space::guard const current(space_);
    require_idle();
    // All operations that may fail come before the first change.
    std::vector<vertex_table<Space>> scratch;
    for_tables([&](auto const& t) { scratch.push_back(t.empty_table()); });
    detail::uploader<Space> uploader(space_);
    relayout(layout_bytes() + (std::size_t{1} << 20));
    auto next = scratch.begin();
    for_tables([&](auto& t) { t.replace_scratch(std::move(*next++)); });
    uploader_ = std::move(uploader);
    hubs_ = exec::buffer<detail::csr_hub, Space>(space_);
  }

  /// Removes all edges.
  void clear() {
    typename Space::guard const current(space_);
    require_idle();
    remove_all();
  }

  /// For tests: until the next call, allocations of updates fail for the vertices from the k-th on that a batch changes
  /// (with in-neighbours: sources, then targets; the order is unspecified), allocations of build() and compact() fail
  /// for vertices from k on, and no pool can grow.
  static constexpr std::uint64_t never = ~std::uint64_t{0};
  void fail_allocations_from(std::uint64_t k) { fails_from_ = k; }
  /// For tests: the number of arcs that build() inserts at a time into the table of in-neighbours; 0: slice_for().
  void build_in_slices_of(std::size_t arcs) { build_slice_ = arcs; }

  [[nodiscard]] csr to_csr() const {
    typename Space::guard const current(space_);
    require_idle();
    return detail::export_csr(space_, out_.records(), vertices_);
  }

  [[nodiscard]] memory_report memory() const {
    typename Space::guard const current(space_);
    require_idle();
    memory_report m;
    alloc::statistics const pool = allocator_->stats();
    detail::table_sums sums = detail::sum_table(space_, out_.records(), vertices_);
    m.vertex_table = out_.table_bytes();
    m.scratch = out_.scratch_bytes() + uploader_.bytes() + hubs_.bytes() + status_.bytes();
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

  /// Checks the invariants of the graph and of its allocator, and that each page belongs to one vertex; throws
  /// error(corrupt) for a violation. For tests and debugging. O(vertices log vertices + arcs log degree), and 32 bytes
  /// of scratch per vertex.
  void check() const {
    typename Space::guard const current(space_);
    require_idle();
    bool const mirrored = !options_.directed;
    packed_record const* const in = mirrored ? out_.records() : in_ ? in_->records() : nullptr;
    // This check comes first, because the others read pages.
    constexpr alloc::traits family = Allocator::family;
    constexpr bool counts_only_pages = family.reclaims && family.resets && family.header_bytes == 0;
    detail::check_pages(space_, out_.records(), in_ ? in : nullptr, vertices_, allocator_->stats().granted,
                        counts_only_pages);
    std::uint64_t const loops = detail::check_table(space_, out_.records(), in, vertices_, options_.self_loops);
    if (in_) (void)detail::check_table(space_, in_->records(), out_.records(), vertices_, options_.self_loops);
    std::uint64_t const arcs = detail::sum_table(space_, out_.records(), vertices_).arcs;
    if (arcs != arc_count_)
      throw error(error_code::corrupt,
                  "the graph has " + std::to_string(arcs) + " arcs but counted " + std::to_string(arc_count_));
    std::uint64_t const edges = options_.directed ? arcs : (arcs + loops) / 2;
    if (edges != edge_count_)
      throw error(error_code::corrupt,
                  "the graph has " + std::to_string(edges) + " edges but counted " + std::to_string(edge_count_));
    allocator_->check();
  }

 private:
  static vertex_id checked_count(std::size_t vertices) {
    if (vertices > max_vertices)
      throw error(error_code::bad_argument, std::to_string(vertices) + " vertices are too many; ids have 32 bits, so " +
                                                std::to_string(max_vertices) + " is the most");
    return static_cast<vertex_id>(vertices);
  }

  static options with_seed(options o) {
    while (o.hash_seed == 0) o.hash_seed = std::random_device()();
    return o;
  }
  void require_idle() const {
    if (!link_)
      throw error(error_code::bad_argument,
                  "this graph was moved from; assign another to it, or use the one that it was moved to");
    if (link_->is_pending)
      throw error(error_code::bad_argument,
                  "an update of this graph is pending: call get() of what insert_async() or erase_async() returned, "
                  "and then go on");
  }
  // Frees the pages of a pending update that failed; they belong to no vertex.
  void release_planned() {
    if (status_.wait().failed_bytes == 0) return;
    undo([this](auto const& f) { this->for_tables(f); });
  }
  template <class ForTables>
  void undo(ForTables const& for_these) {
    for_these([&](auto& table) {
      table.undo(status_.data());
      table.release(allocator_->view(), status_.data(), true);
    });
  }
  void remove_all() {
    if constexpr (Allocator::family.resets)
      allocator_->reset();
    else
      for_tables([&](auto& table) { detail::free_pages(space_, table.records(), vertices_, *allocator_); });
    for_tables([&](auto& table) { table.clear(); });
    if (arc_count_ > 0) identity_.change();
    arc_count_ = edge_count_ = 0;
  }

  template <class F>
  void for_tables(F const& f) {
    f(out_);
    if (in_) f(*in_);
  }

  // All steps of an update are enqueued at once. After a failure of a step, later steps do nothing; the status then
  // says what the host must do before it enqueues them again.
  template <detail::operation Op, class Batch>
  pending_update update(Batch const& batch) {
    typename Space::guard const current(space_);
    require_idle();
    if (size_of(batch) == 0) return pending_update([] { return update_report{}; });
    // The function that finishes the update. It is constructed first, as this may throw.
    std::function<update_report()> finishing([link = link_, batch] {
      if (link->graph == nullptr)
        throw error(error_code::bad_argument, "the graph of this update was destroyed before get() was called");
      return link->graph->template finish<Op>(batch);
    });
    launch<Op>(batch);
    link_->is_pending = true;
    return pending_update(std::move(finishing));
  }
  static std::size_t size_of(std::span<edge const> batch) { return batch.size(); }
  static std::size_t size_of(resident_edges batch) { return batch.size; }
  template <detail::operation Op, class Batch>
  void launch(Batch const& batch) {
    try {
      count(batch);
      start<Op>([this](auto const& f) { this->for_tables(f); });
    } catch (...) {
      space_.wait_for_all();  // for copies from the batch, as the caller may free it
      throw;
    }
  }
  void count(std::span<edge const> batch) {
    begin(uploader_.room_for(batch.size()), uploader_.slice_of(batch.size()));
    uploader_.upload(batch, vertices_, [&](std::size_t first, std::size_t n) {
      for_tables([&](auto& table) { table.count(first, n); });
    });
  }
  void count(resident_edges batch) {
    begin(batch, 0);
    for_tables([&](auto& table) { table.count(0, batch.size); });
  }
  void begin(resident_edges edges, std::size_t slice) {
    status_.clear();
    orientation const forward = options_.directed ? orientation::forward : orientation::both;
    out_.begin(edges, slice, forward, options_.self_loops, arc_count_, status_.data());
    if (in_) in_->begin(edges, slice, orientation::reverse, options_.self_loops, arc_count_, status_.data());
  }
  // Finishes a pending update.
  template <detail::operation Op, class Batch>
  update_report finish(Batch const& batch) {
    typename Space::guard const current(space_);
    link_->is_pending = false;  // also if this throws
    auto const all = [this](auto const& f) { this->for_tables(f); };
    std::size_t const size = size_of(batch);
    detail::update_status const* s = complete<Op>(all, most_bytes(size));
    if (s == nullptr) {
      try {
        relayout(allocator_->stats().committed);
      } catch (error const& e) {  // then the pool must grow
        if (e.code() != error_code::out_of_memory) throw;
      }
      launch<Op>(batch);
      s = complete<Op>(all, cannot_restart);
    }
    if (s->out_of_range > 0) refuse(batch, s->out_of_range);
    return report<Op>(size, *s);
  }
  // for_these(f) calls f for each table that the update changes.
  template <detail::operation Op, class ForTables>
  void start(ForTables const& for_these) {
    for_these([&](auto& table) { table.group(); });
    for_these([&](auto& table) { table.template plan<Op>(allocator_->view(), fails_from_, status_.data()); });
    execute<Op>(for_these, false);
  }
  // may_stay: if an allocation fails, a vertex whose page has room for its neighbours stays in that page.
  template <detail::operation Op, class ForTables>
  void execute(ForTables const& for_these, bool may_stay) {
    for_these(
        [&](auto& table) { table.template allocate<Op>(allocator_->view(), fails_from_, may_stay, status_.data()); });
    for_these([&](auto& table) { table.template merge<Op>(status_.data()); });
    for_these([&](auto& table) { table.release(allocator_->view(), status_.data(), false); });
    status_.enqueue_read();
  }
  // Repeats steps until the update is complete, or returns if edges are out of range. Returns nullptr, and undoes the
  // update, if all pages should be rewritten before the batch is restarted. batch_bytes: the memory that the batch
  // may need after that; `cannot_restart`: never returns nullptr.
  static constexpr std::uint64_t cannot_restart = ~std::uint64_t{0};
  template <detail::operation Op, class ForTables>
  detail::update_status const* complete(ForTables const& for_these, std::uint64_t batch_bytes) {
    detail::pool_growth<Allocator> memory(*allocator_, fails_from_ != never);
    for (bool may_stay = false;; execute<Op>(for_these, may_stay)) {
      detail::update_status const& s = status_.wait();
      if (s.out_of_range > 0) return &s;
      if (s.has_large_group > 0) {
        status_.clear(&detail::update_status::has_large_group);
        for_these([&](auto& table) { table.template plan_large_groups<Op>(s, status_.data()); });
      } else if (s.failed_bytes > 0) {
        std::uint64_t const missing = s.failed_bytes;
        status_.clear_failures();
        try {
          if (make_memory(memory, missing, batch_bytes)) continue;
        } catch (error const& e) {
          if (e.code() == error_code::out_of_memory && !may_stay) {
            may_stay = true;
            continue;
          }
          undo(for_these);
          throw;
        } catch (...) {
          undo(for_these);
          throw;
        }
        undo(for_these);
        return nullptr;
      } else {
        return &s;
      }
    }
  }
  // Makes memory available by compaction or growth of the pool. Returns false if all pages should be rewritten
  // instead: if the pool could hold the graph and the batch with a fifth to spare, and so many edges have changed that
  // a layout is cheap in comparison; or if the pool could hold both, and cannot grow.
  bool make_memory(detail::pool_growth<Allocator>& memory, std::uint64_t missing, std::uint64_t batch_bytes) {
    if (memory.compact_if_free(missing)) return true;
    bool const may_relayout = batch_bytes != cannot_restart && Allocator::family.resets && fails_from_ == never;
    std::uint64_t const needs = may_relayout ? layout_bytes() + std::max(batch_bytes, missing) : cannot_restart;
    std::size_t const committed = allocator_->stats().committed;
    if (needs <= committed / 5 * 4 && changes_ >= (vertices_ + arc_count_) / 16) return false;
    try {
      // A page of each size may need a new chunk, so the pool grows by more than the missing bytes.
      memory.find(missing, missing / 4 + (std::size_t{1} << 20), committed / 8);
    } catch (error const& e) {
      if (e.code() != error_code::out_of_memory || needs > committed) throw;
      return false;
    }
    return true;
  }
  // The maximum bytes of pages that a batch of `edges` edges needs after a new layout.
  [[nodiscard]] std::uint64_t most_bytes(std::size_t edges) const {
    return (options_.directed && !in_ ? 2 : 4) * sizeof(vertex_id) * edges;
  }
  [[nodiscard]] std::uint64_t layout_bytes() {
    std::uint64_t bytes = 0;
    for_tables([&](auto const& t) { bytes += detail::layout_bytes(space_, t.records(), vertices_); });
    return bytes;
  }
  // The options of a pool. It has no guards, since rows fill their pages, which are powers of two.
  [[nodiscard]] alloc::options pool_of(std::size_t pool_bytes) const {
    alloc::options pool = alloc::without_guards(options_.pool);
    pool.pool_bytes = pool_bytes;
    return pool;
  }
  // Rewrites all pages, in a pool of at least this size. Changes nothing if it throws.
  void relayout(std::size_t pool_bytes) {
    alloc::options const pool = pool_of(pool_bytes);
    std::unique_ptr<Allocator> fresh;
    std::vector<exec::buffer<packed_record, Space>> records;
    records.reserve(2);
    try {
      fresh = std::make_unique<Allocator>(space_, pool);
      for_tables([&](auto const& t) {
        records.push_back(
            detail::rebuilt_table(space_, t.records(), vertices_, arc_count_, *fresh, status_, fails_from_));
      });
    } catch (error const& e) {
      if constexpr (!Allocator::family.resets)
        for (auto const& r : records) detail::free_pages(space_, r.data(), vertices_, *fresh);
      throw error(e.code(),
                  std::string("there is no memory for a second pool; nothing was changed (") + e.what() + ")");
    }
    if constexpr (!Allocator::family.resets)
      for_tables([&](auto const& t) { detail::free_pages(space_, t.records(), vertices_, *allocator_); });
    auto next = records.begin();
    for_tables([&](auto& t) { t.replace(std::move(*next++)); });
    allocator_ = std::move(fresh);
    changes_ = 0;
  }

  [[noreturn]] void refuse(resident_edges batch, std::uint64_t count) const {
    refuse(std::span<edge const>(exec::copy_out(space_, batch.data, batch.size)), count);
  }
  [[noreturn]] void refuse(std::span<edge const> batch, std::uint64_t count) const {
    auto const bad = std::find_if(batch.begin(), batch.end(),
                                  [&](edge e) { return e.source >= vertices_ || e.target >= vertices_; });
    throw error(error_code::bad_argument, "edge " + std::to_string(bad - batch.begin()) + " of the batch is (" +
                                              std::to_string(bad->source) + ", " + std::to_string(bad->target) +
                                              "), but the graph has only " + std::to_string(vertices_) + " vertices (" +
                                              std::to_string(count) + " such edges in all); nothing was changed");
  }

  template <detail::operation Op>
  update_report report(std::size_t requested, detail::update_status const& s) {
    detail::update_status::sums const all = s.total();
    changes_ += requested;
    identity_.change();
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

  template <class Csr>
  update_report build_from(Csr const& rows) {
    typename Space::guard const current(space_);
    require_idle();
    if (arc_count_ > 0)
      throw error(error_code::bad_argument, "a CSR is for a graph without edges, and this one has " +
                                                std::to_string(edge_count_) + "; clear() it, or insert edges");
    check_sizes(rows);
    if (vertices_ == 0) return {};
    detail::csr_rows const there = uploader_.room_for(rows);
    try {
      std::uint64_t const self_loops = build_layout(rows, there);
      if (!options_.directed) check_mirrored();
      if (in_) insert_reverse(there);
      arc_count_ = there.arcs;
      edge_count_ = options_.directed ? there.arcs : (there.arcs + self_loops) / 2;
    } catch (...) {
      space_.wait_for_all();  // for copies from the CSR, as the caller may free it
      remove_all();
      throw;
    }
    identity_.change();
    update_report r;
    r.requested = r.inserted = edge_count_;
    return r;
  }
  void check_sizes(resident_csr const&) const {}
  void check_sizes(csr_view const& rows) const {
    if (rows.offsets.size() != std::size_t{vertices_} + 1 || rows.offsets.back() != rows.targets.size())
      throw error(error_code::bad_argument, "a CSR of " + std::to_string(rows.offsets.size()) + " offsets and " +
                                                std::to_string(rows.targets.size()) +
                                                " targets does not fit a graph of " + std::to_string(vertices_) +
                                                " vertices: it must have one offset more than vertices, and the last "
                                                "offset must be the number of targets");
  }
  // Enqueues all steps before it waits, and enqueues them again after the pool has grown. Returns the number of
  // self-loops.
  template <class Csr>
  std::uint64_t build_layout(Csr const& rows, detail::csr_rows const& there) {
    status_.clear_all();
    detail::layout<Space, detail::csr_rows> layout(space_, there, vertices_, there.arcs, options_.self_loops,
                                                   out_.records(), hubs_, status_);
    uploader_.upload(rows, vertices_, [&](std::size_t first, std::size_t n) {
      layout.build(allocator_->view(), first, n, false, fails_from_);
    });
    for (detail::pool_growth<Allocator> memory(*allocator_, fails_from_ != never);;) {
      layout.build_hubs();
      detail::update_status const& s = status_.read();
      if (s.out_of_range > 0)
        throw error(
            error_code::bad_argument,
            "row " + std::to_string(~s.first_out_of_range) + " of the CSR is wrong (" + std::to_string(s.out_of_range) +
                " such rows in all): offsets must ascend from 0 to the number of targets, and targets in each "
                "row, ids below " +
                std::to_string(vertices_) + (options_.self_loops ? "" : ", no self-loops") + "; nothing was changed");
      if (s.failed_bytes == 0) return s.total().self_loops;
      std::uint64_t const missing = s.failed_bytes;
      status_.clear_failures();
      if (!memory.compact_if_free(missing)) memory.find(missing, std::size_t{256} << 10, 0);
      layout.build(allocator_->view(), 0, vertices_, true, fails_from_);
    }
  }
  void check_mirrored() const {
    try {
      (void)detail::check_table(space_, out_.records(), out_.records(), vertices_, options_.self_loops);
    } catch (error const& e) {
      if (e.code() != error_code::corrupt) throw;
      throw error(error_code::bad_argument,
                  "the CSR of an undirected graph must have both directions of each edge; "
                  "nothing was changed (" +
                      std::string(e.what()) + ")");
    }
  }
  // Inserts in-neighbours in batches. Arcs are in the order of sources, so neighbour lists grow at their ends.
  void insert_reverse(detail::csr_rows const& rows) {
    std::size_t const slice = build_slice_ > 0 ? build_slice_ : slice_for(rows.arcs);
    auto const only_in = [&](auto const& f) { f(*in_); };
    for (std::uint64_t first = 0; first < rows.arcs; first += slice) {
      resident_edges const edges =
          uploader_.list(rows, vertices_, first, std::min<std::uint64_t>(slice, rows.arcs - first));
      status_.clear();
      in_->begin(edges, 0, orientation::reverse, options_.self_loops, first, status_.data());
      in_->count(0, edges.size);
      start<detail::operation::insert>(only_in);
      complete<detail::operation::insert>(only_in, cannot_restart);
    }
  }

  using link = detail::update_link<dynamic_graph>;
  Space space_;
  options options_;
  vertex_id vertices_;
  std::unique_ptr<Allocator> allocator_;
  vertex_table<Space> out_;
  std::optional<vertex_table<Space>> in_;
  detail::uploader<Space> uploader_;
  exec::buffer<detail::csr_hub, Space> hubs_;  // the hubs of a CSR
  detail::status_memory<Space> status_;
  std::shared_ptr<link> link_;  // nullptr: moved from
  identity identity_;
  std::uint64_t arc_count_ = 0;
  std::uint64_t edge_count_ = 0;
  std::uint64_t changes_ = 0;  // requested edges since the last layout
  std::uint64_t fails_from_ = never;
  std::size_t build_slice_ = 0;
};

}  // namespace wyrm::graph
