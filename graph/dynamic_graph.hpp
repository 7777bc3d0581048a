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
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../alloc/allocator.hpp"
#include "../exec/memory.hpp"
#include "attached_results.hpp"
#include "batch/columns.hpp"
#include "batch/refuse.hpp"
#include "batch/status.hpp"
#include "batch/upload.hpp"
#include "identity.hpp"
#include "inspect/check.hpp"
#include "inspect/export.hpp"
#include "layout/layout.hpp"
#include "options.hpp"
#include "pending_update.hpp"
#include "query/select.hpp"
#include "snapshot.hpp"
#include "table/pool_growth.hpp"
#include "table/vertex_table.hpp"
#include "types.hpp"
#include "update/vertices.hpp"
#include "update_report.hpp"
#include "view.hpp"

namespace wyrm::graph {

/// Value: the type of the values of edges, trivially copyable, of 4, 8 or 16 bytes; or no_value. Combine: a functor
/// that combines the value of an edge with that of an insertion of the same edge, `Value operator()(Value old, Value
/// added) const`, callable on the space; void: see options::combine.
template <class Space, class Allocator, class Value = no_value, class Combine = void>
class dynamic_graph {
  static_assert(alloc::device_allocator<Allocator>);
  static constexpr unsigned width = width_of<Value>;
  static_assert(width == 0 || width == 4 || width == 8 || width == 16, "a value has 4, 8 or 16 bytes");
  static_assert(std::is_trivially_copyable_v<Value>);
  static_assert(std::is_void_v<Combine> || width > 0);
  static constexpr bool has_values = width > 0;

 public:
  using value_type = Value;

  /// A graph without edges. Throws error(bad_argument) for more vertices than ids or options::max_vertices allow, or
  /// for a combiner that the type of the values does not have.
  dynamic_graph(Space const& space, std::size_t vertices, options const& o = {})
      : space_(space),
        options_(with_seed(o)),
        vertices_(checked_count(vertices, o.max_vertices)),
        allocator_(std::make_shared<Allocator>(space, pool_of(o.pool.pool_bytes))),
        chain_(std::make_shared<chain>(space, allocator_)),
        out_(space, vertices_, 0, width, options_),
        uploader_(space),
        hubs_(space),
        status_(space),
        link_(std::make_shared<link>(link{this})) {
    if (o.directed && o.in_neighbours) in_.emplace(space, vertices_, 1, width, options_);
    check_values();
    check_slack();
  }
  /// A pending update moves to the new graph. The moved-from graph has no vertices, edges and arcs, and an empty view;
  /// it can be assigned to and destroyed, and all other operations throw error(bad_argument).
  dynamic_graph(dynamic_graph&& other) noexcept
      : space_(other.space_),
        options_(other.options_),
        vertices_(std::exchange(other.vertices_, 0)),
        allocator_(std::move(other.allocator_)),
        chain_(std::move(other.chain_)),
        out_(std::move(other.out_)),
        in_(std::move(other.in_)),
        uploader_(std::move(other.uploader_)),
        hubs_(std::move(other.hubs_)),
        status_(std::move(other.status_)),
        link_(std::move(other.link_)),
        identity_(std::move(other.identity_)),
        absent_(std::move(other.absent_)),
        results_(std::move(other.results_)),
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

  /// The number of ids: vertices are numbered from 0 on. Some may be absent, see remove_vertices().
  [[nodiscard]] vertex_id vertices() const { return vertices_; }
  /// The number of vertices that are in the graph.
  [[nodiscard]] vertex_id present_vertices() const { return vertices_ - static_cast<vertex_id>(absent_.size()); }
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
    return {out_.records(),
            in,
            vertices_,
            arc_count_,
            options_.directed,
            identity_.id(),
            identity_.version(),
            width,
            static_cast<vertex_id>(absent_.size()),
            numbers(),
            identity_.vertex_version()};
  }

  /// Adds n vertices without neighbours, and returns their ids: first ids that remove_vertices() has freed, those of
  /// the last removal first and in ascending order, and then new ones from vertices() on. All or nothing: throws
  /// error(bad_argument) if there would be more vertices than ids or options::max_vertices allow, or results are
  /// attached; error(out_of_memory), and std::bad_alloc if the host has no memory for the ids. Invalidates views. O(n),
  /// amortised.
  std::vector<vertex_id> add_vertices(std::size_t n) {
    typename Space::guard const current(space_);
    require_idle();
    std::size_t const reused = std::min(n, absent_.size());
    std::size_t const limit = most_vertices(options_.max_vertices);
    if (n - reused > limit - vertices_)
      throw error(error_code::bad_argument,
                  std::to_string(n) + " vertices cannot be added: the graph has " + std::to_string(vertices_) +
                      " ids, of which " + std::to_string(absent_.size()) + " are free, and may have " +
                      std::to_string(limit) +
                      (options_.max_vertices > 0 ? ", its options::max_vertices; nothing was changed"
                                                 : "; nothing was changed"));
    auto const total = static_cast<vertex_id>(vertices_ + (n - reused));
    std::vector<vertex_id> ids(n);
    absent_.next(reused, ids.data());
    std::iota(ids.begin() + static_cast<std::ptrdiff_t>(reused), ids.end(), vertices_);
    if (n == 0) return ids;
    require_no_results("add_vertices");
    exec::buffer<vertex_id, Space> there(space_, reused);
    std::vector<exec::buffer<packed_record, Space>> room;
    room.reserve(2);
    for_tables([&](auto& t) { room.push_back(t.room_for(total)); });
    if (reused > 0) exec::copy_in<vertex_id>(space_, there.data(), std::span(ids).first(reused));
    // Nothing below fails for lack of memory.
    auto next = room.begin();
    for_tables([&](auto& t) {
      t.grow(total, std::move(*next++));
      exec::for_each(space_, reused, detail::mark_vertices{t.records(), there.data(), false});
    });
    space_.synchronize();  // the kernels read `there`
    vertices_ = total;
    absent_.pop(reused);
    identity_.change_vertices();
    return ids;
  }

  /// Removes vertices and all their edges. Their ids are free then: queries and algorithms find no neighbours there, an
  /// insertion of an edge that names one throws error(bad_argument), and add_vertices() uses them again. All or
  /// nothing, as erase(). Throws error(bad_argument) for ids out of range. O(k log k + edges of the vertices) for k
  /// vertices; O(vertices + arcs log k) for a directed graph without in-neighbours. The edges of one call are one
  /// batch, which has fewer than 2^32 arcs, and in which an edge between two of the vertices counts twice.
  removal_report remove_vertices(std::span<vertex_id const> batch) {
    typename Space::guard const current(space_);
    require_idle();
    removal_report r;
    r.requested = batch.size();
    auto const outside = std::ranges::find_if(batch, [&](vertex_id v) { return v >= vertices_; });
    if (outside != batch.end())
      throw error(error_code::bad_argument, "entry " + std::to_string(outside - batch.begin()) +
                                                " of the batch is vertex " + std::to_string(*outside) +
                                                ", but the graph has only " + std::to_string(vertices_) +
                                                " vertices; nothing was changed");
    std::vector<vertex_id> ids(batch.begin(), batch.end());
    std::ranges::sort(ids);
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    r.duplicates = batch.size() - ids.size();
    if (absent_.size() > 0 && !ids.empty()) {
      auto const absent = detail::absent_among(space_, out_.records(), ids);
      std::size_t kept = 0;
      for (std::size_t i = 0; i < ids.size(); ++i)
        if (absent[i] == 0) ids[kept++] = ids[i];
      r.missing = ids.size() - kept;
      ids.resize(kept);
    }
    if (ids.empty()) return r;
    require_no_results("remove_vertices");
    absent_.reserve(ids.size());
    exec::buffer<vertex_id, Space> there(space_, ids.size());
    exec::copy_in<vertex_id>(space_, there.data(), ids);
    {
      auto const edges = detail::incident_edges(space_, view(), there.data(), ids.size());
      r.edges = erase(resident_edges(edges.data(), edges.size())).erased;
    }
    for_tables([&](auto& t) {
      exec::for_each(space_, ids.size(), detail::mark_vertices{t.records(), there.data(), true});
    });
    space_.synchronize();  // the kernels read `there`
    absent_.push(ids);
    identity_.change_vertices();
    r.removed = ids.size();
    return r;
  }
  removal_report remove_vertices(std::initializer_list<vertex_id> batch) {
    return remove_vertices(std::span(batch.begin(), batch.size()));
  }
  /// The same for ids in memory of the graph's space, which are copied to the host.
  removal_report remove_vertices(resident_vertices batch) {
    typename Space::guard const current(space_);
    require_idle();
    return remove_vertices(std::span<vertex_id const>(exec::copy_out(space_, batch.data, batch.size)));
  }

  /// Inserts the edges of a batch (on the host) that are not in the graph. All or nothing: on any error the graph is
  /// unchanged. Throws error(bad_argument) for ids out of range, error(out_of_memory) when the pool cannot grow enough.
  /// O(m + sum of the degrees of changed vertices), expected and amortised, for m edges; plus a sort of the batch if
  /// very many edges have the same source. If the pool has too little memory, it grows by an eighth, or all pages are
  /// rewritten in another pool, if the pool could hold the graph with a fifth to spare.
  update_report insert(std::span<edge const> batch) requires(!has_values) { return insert_async(batch).get(); }
  /// The same for edges in memory of the graph's space.
  update_report insert(resident_edges batch) requires(!has_values) { return insert_async(batch).get(); }
  update_report insert(std::initializer_list<edge> batch) requires(!has_values) {
    return insert(std::span(batch.begin(), batch.size()));
  }
  /// With values, one per edge: an edge that is in the graph gets the value of the last entry of the batch that names
  /// it, or the combination of its value and of those of all such entries, in the order of the batch (see
  /// options::combine). The cost is that of the other insert; with a combiner also O(k) in sequence for an edge that
  /// the batch names k times. Throws error(bad_argument) also if there are not as many values as edges.
  update_report insert(std::span<edge const> batch, std::span<Value const> values) requires has_values {
    return insert_async(batch, values).get();
  }
  /// values: in memory of the graph's space, too, at a multiple of their size.
  update_report insert(resident_edges batch, Value const* values) requires has_values {
    return insert_async(batch, values).get();
  }
  /// The same as an array of edges with their values.
  update_report insert(std::span<valued_edge<Value> const> batch) requires has_values {
    return insert_async(batch).get();
  }
  update_report insert(resident_valued_edges<Value> batch) requires has_values { return insert_async(batch).get(); }
  update_report insert(std::initializer_list<valued_edge<Value>> batch) requires has_values {
    return insert(std::span(batch.begin(), batch.size()));
  }

  /// Erases the edges of a batch that are in the graph. Same guarantee and cost; needs no memory other than scratch,
  /// unless a snapshot lives.
  update_report erase(std::span<edge const> batch) { return erase_async(batch).get(); }
  update_report erase(resident_edges batch) { return erase_async(batch).get(); }
  update_report erase(std::initializer_list<edge> batch) { return erase(std::span(batch.begin(), batch.size())); }

  /// Erases all edges for which predicate(source, target) is true; with values, predicate(source, target, value). The
  /// predicate is called once for each arc of a directed graph, and once for each edge of an undirected one, with
  /// source
  /// <= target; concurrently and in any order, by one lane. It is trivially copyable, may run on the device, and is
  /// never a lambda under nvcc. The result is that of erase() for these edges, with its guarantee. O(vertices + arcs).
  /// Scratch: 12 bytes per vertex, 1/6 byte per arc, 8 bytes per erased edge.
  template <class Predicate>
  update_report erase_if(Predicate const& predicate) {
    typename Space::guard const current(space_);
    using rows = std::conditional_t<has_values, detail::valued_rows<Value, detail::all_rows>, detail::all_rows>;
    detail::selected_rows<rows, Predicate> const selected{rows{{view()}}, predicate};
    auto const edges = detail::select_edges(space_, selected);
    return erase(resident_edges(edges.data(), edges.size()));
  }

  /// Applies insertions and erasures in the order of the batch, as one update with one report: of the entries of one
  /// edge the last one decides. An insertion after an erasure of the same edge begins with a new value. `operations`,
  /// and `values` if the graph has values, have one entry per edge (the values of erasures are not read). Same
  /// guarantee, errors and cost as insert().
  update_report apply(std::span<edge const> batch, std::span<operation const> operations) requires(!has_values) {
    return apply_async(batch, operations).get();
  }
  update_report apply(std::span<edge const> batch, std::span<operation const> operations,
                      std::span<Value const> values) requires has_values {
    return apply_async(batch, operations, values).get();
  }
  /// All arrays are in memory of the graph's space.
  update_report apply(resident_edges batch, operation const* operations) requires(!has_values) {
    return apply_async(batch, operations).get();
  }
  update_report apply(resident_edges batch, operation const* operations, Value const* values) requires has_values {
    return apply_async(batch, operations, values).get();
  }

  /// insert, erase and apply for columns of ids, which are edge_columns or resident_columns (batch/columns.hpp); `more`
  /// is what the operation takes besides the edges, see the asynchronous updates. One kernel converts the columns to
  /// edges in scratch of the graph: 8 bytes per edge, and the columns themselves if they come from the host of a GPU.
  /// An id that is negative or not below vertices() is refused, whatever its size.
  template <detail::columns Columns, class... More>
  update_report insert(Columns const& batch, More const&... more) {
    return insert_async(batch, more...).get();
  }
  template <detail::columns Columns>
  update_report erase(Columns const& batch) {
    return erase_async(batch).get();
  }
  template <detail::columns Columns, class... More>
  update_report apply(Columns const& batch, More const&... more) {
    return apply_async(batch, more...).get();
  }

  /// Asynchronous updates: enqueue the update on the stream of the graph's space. The batch must not change until get()
  /// of the result has returned, which throws the errors of the synchronous update. Until then all operations that read
  /// or change the graph throw error(bad_argument), except for vertices(), edges() and arcs(), which return the values
  /// before the update. Attached results are prepared by the call, and updated or restored by get().
  pending_update insert_async(std::span<edge const> batch) requires(!has_values) {
    return update<detail::update_kind::insert>(input(batch));
  }
  pending_update insert_async(resident_edges batch) requires(!has_values) {
    return update<detail::update_kind::insert>(input(batch));
  }
  pending_update insert_async(std::span<edge const> batch, std::span<Value const> values) requires has_values {
    return update<detail::update_kind::insert>(input(batch, values));
  }
  pending_update insert_async(resident_edges batch, Value const* values) requires has_values {
    return update<detail::update_kind::insert>(input(batch, values));
  }
  pending_update insert_async(std::span<valued_edge<Value> const> batch) requires has_values {
    return update<detail::update_kind::insert>({.structs = batch.data(), .size = batch.size(), .is_on_host = true});
  }
  pending_update insert_async(resident_valued_edges<Value> batch) requires has_values {
    return update<detail::update_kind::insert>({.structs = batch.data, .size = batch.size});
  }
  pending_update erase_async(std::span<edge const> batch) { return update<detail::update_kind::erase>(input(batch)); }
  pending_update erase_async(resident_edges batch) { return update<detail::update_kind::erase>(input(batch)); }
  pending_update apply_async(std::span<edge const> batch, std::span<operation const> operations) requires(!has_values) {
    return update<detail::update_kind::mixed>(input(batch), operations);
  }
  pending_update apply_async(std::span<edge const> batch, std::span<operation const> operations,
                             std::span<Value const> values) requires has_values {
    return update<detail::update_kind::mixed>(input(batch, values), operations);
  }
  pending_update apply_async(resident_edges batch, operation const* operations) requires(!has_values) {
    return update<detail::update_kind::mixed>(input(batch), operations);
  }
  pending_update apply_async(resident_edges batch, operation const* operations,
                             Value const* values) requires has_values {
    return update<detail::update_kind::mixed>(input(batch, values), operations);
  }
  /// Columns::array<T>: std::span<T const> for edge_columns, T const* in memory of the space for resident_columns.
  template <detail::columns Columns>
  pending_update insert_async(Columns const& batch) requires(!has_values) {
    return update<detail::update_kind::insert>(input(batch));
  }
  template <detail::columns Columns>
  pending_update insert_async(Columns const& batch,
                              typename Columns::template array<Value> values) requires has_values {
    return update<detail::update_kind::insert>(input(batch, values));
  }
  template <detail::columns Columns>
  pending_update erase_async(Columns const& batch) {
    return update<detail::update_kind::erase>(input(batch));
  }
  template <detail::columns Columns>
  pending_update apply_async(Columns const& batch,
                             typename Columns::template array<operation> operations) requires(!has_values) {
    return update<detail::update_kind::mixed>(input(batch), operations);
  }
  template <detail::columns Columns>
  pending_update apply_async(Columns const& batch, typename Columns::template array<operation> operations,
                             typename Columns::template array<Value> values) requires has_values {
    return update<detail::update_kind::mixed>(input(batch, values), operations);
  }

  /// Builds a graph without edges and absent vertices from a CSR (on the host). It has the out-neighbours of a directed
  /// graph, or both directions of each edge of an undirected graph. Rows must ascend without duplicates. Pages are in
  /// the order of the vertices. All or nothing: throws error(bad_argument) for a malformed CSR, for self-loops that the
  /// graph does not keep, and if the graph has edges; out_of_memory like insert. O(vertices + arcs); for an undirected
  /// graph O(arcs log degree), to check that both directions are present.
  update_report build(csr_view const& rows) requires(!has_values) { return build_from(rows, nullptr); }
  /// The same for a CSR in memory of the graph's space.
  update_report build(resident_csr rows) requires(!has_values) { return build_from(rows, nullptr); }
  /// With values, one per target. For an undirected graph both directions of an edge must have the same value.
  update_report build(csr_view const& rows, std::span<Value const> values) requires has_values {
    check_length("values", values.size(), rows.targets.size());
    return build_from(rows, values.data());
  }
  update_report build(resident_csr rows, Value const* values) requires has_values {
    return build_from(rows, checked("values", values, rows.arcs));
  }

  /// The graph as it is now, to be read while updates go on; see snapshot. O(vertices): copies the vertex table, 12
  /// bytes per vertex and direction. While a snapshot lives, updates replace the pages that it has instead of changing
  /// them: an update of a vertex whose page it shares copies that page once; erasures may then need memory; and pages
  /// are not rewritten in another pool. Throws error(out_of_memory), and error(bad_argument) while an update is
  /// pending.
  [[nodiscard]] graph::snapshot snapshot() {
    typename Space::guard const current(space_);
    require_idle();
    collect();
    graph_view const now = view();
    packed_record const* out = nullptr;
    packed_record const* in = nullptr;
    std::shared_ptr<void const> owner = chain_->take(tables(), &out, &in);
    if (!options_.directed) in = out;
    graph_view const then(out, in, vertices_, arc_count_, options_.directed, now.graph_id(), now.version(), width,
                          now.vertices() - now.present_vertices(), numbers(), now.vertex_version());
    return graph::snapshot(std::move(owner), then, edge_count_);
  }

  /// Keeps a maintained result up to date: from now on every change of this graph updates the graph and all attached
  /// results, or nothing; an empty batch lets results go on that have stopped early. See maintained_result for what
  /// happens when a graph or a result is moved or destroyed. An error of the device after the change of the graph is
  /// thrown, and may leave a result outdated; changes are refused then until it is detached. Throws error(bad_argument)
  /// if the result is not up to date for this graph, or is attached, and while an update is pending.
  void attach(maintained_result& result) { results_.attach(space_, view(), result); }
  /// Ends that; the result keeps its values. Throws error(bad_argument) if it is not attached to this graph, and while
  /// an update is pending.
  void detach(maintained_result& result) {
    require_idle();
    results_.detach(result);
  }

  /// Rewrites all pages, in the order of the vertices and with minimum sizes, in a new pool of the necessary
  /// size, and frees the old pool and all scratch. Useful after many updates, or after a batch that was much larger
  /// than later ones. Both pools exist temporarily; throws error(out_of_memory), and changes nothing, if memory does
  /// not suffice for both, and error(bad_argument) while a snapshot lives. Invalidates views. O(vertices + arcs).
  void compact() {
    typename Space::guard const current(space_);
    require_idle();
    collect();
    if (!chain_->empty())
      throw error(error_code::bad_argument,
                  "a snapshot of this graph has pages of its pool, which compact() replaces; drop the snapshot first");
    // All operations that may fail come before the first change.
    std::vector<vertex_table<Space>> scratch;
    for_tables([&](auto const& t) { scratch.push_back(t.empty_table()); });
    detail::uploader<Space> uploader(space_);
    relayout(layout_bytes() + (std::size_t{1} << 20));
    auto next = scratch.begin();
    for_tables([&](auto& t) { t.replace_scratch(std::move(*next++)); });
    uploader_ = std::move(uploader);
    hubs_ = exec::buffer<detail::csr_hub, Space>(space_);
    chain_->free_spare();
    results_.free_scratch();
  }

  /// Removes all edges. Vertices stay, and so do absent ones.
  void clear() {
    typename Space::guard const current(space_);
    require_idle();
    collect();
    if (arc_count_ == 0) return remove_all();
    results_.before_replacement(view(), 0);
    or_undo([&] { remove_all(); });
    results_.after(view());
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

  /// The values of all arcs, in the order of to_csr().
  [[nodiscard]] std::vector<Value> values() const requires has_values {
    typename Space::guard const current(space_);
    require_idle();
    return detail::export_all_values<Value>(space_, out_.records(), vertices_, arc_count_);
  }

  [[nodiscard]] memory_report memory() const {
    typename Space::guard const current(space_);
    require_idle();
    memory_report m;
    alloc::statistics const pool = allocator_->stats();
    detail::table_sums sums = detail::sum_table(space_, out_.records(), vertices_);
    m.vertex_table = out_.table_bytes();
    m.scratch = out_.scratch_bytes() + uploader_.bytes() + hubs_.bytes() + status_.bytes() + results_.bytes();
    if (in_) {
      detail::table_sums const in = detail::sum_table(space_, in_->records(), vertices_);
      sums.arcs += in.arcs;
      sums.capacity += in.capacity;
      m.vertex_table += in_->table_bytes();
      m.scratch += in_->scratch_bytes();
    }
    m.neighbours = sums.arcs * entry_bytes(width);
    m.slack = (sums.capacity - sums.arcs) * entry_bytes(width);
    m.snapshot_tables = chain_->table_bytes();
    m.snapshot_pages = chain_->pages_of_snapshots(tables(), width).bytes;
    m.pool_committed = pool.committed;
    m.pool_free = pool.committed - m.neighbours - m.slack - m.snapshot_pages;
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
    detail::page_bytes_sum const snapshots = chain_->pages_of_snapshots(tables(), width);
    // This check comes first, because the others read pages.
    constexpr alloc::traits family = Allocator::family;
    constexpr bool counts_only_pages =
        family.reclaims && family.resets && family.header_bytes == 0 && family.unit_bytes <= alloc::alignment;
    detail::check_pages(space_, out_.records(), in_ ? in : nullptr, vertices_, width, allocator_->stats().granted,
                        {snapshots.bytes, snapshots.rounded, 0}, counts_only_pages, family.powers_of_two);
    std::uint64_t const loops = detail::check_table(space_, out_.records(), in, vertices_, options_.self_loops);
    if (in_) (void)detail::check_table(space_, in_->records(), out_.records(), vertices_, options_.self_loops);
    for (auto const& t : tables()) detail::check_absent(space_, t.records, vertices_, absent_);
    if constexpr (has_values)
      if (in != nullptr) detail::check_mirrored_values<width>(space_, out_.records(), in, vertices_);
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
  // The most vertices; `limit`: see options::max_vertices.
  static constexpr std::size_t most_vertices(std::size_t limit) {
    // A page with values has no room for more neighbours, see capacity_for().
    constexpr std::size_t most = has_values ? 0xf0000000 : max_vertices;
    return limit > 0 ? std::min(limit, most) : most;
  }
  static vertex_id checked_count(std::size_t vertices, std::size_t limit) {
    std::size_t const most = most_vertices(0);
    if (std::max(vertices, limit) > most)
      throw error(error_code::bad_argument, std::to_string(std::max(vertices, limit)) +
                                                " vertices are too many; ids have 32 bits, so " + std::to_string(most) +
                                                " is the most");
    if (vertices > most_vertices(limit))
      throw error(error_code::bad_argument,
                  std::to_string(vertices) + " vertices are more than options::max_vertices, " + std::to_string(limit));
    return static_cast<vertex_id>(vertices);
  }
  void check_slack() const {
    if (!(options_.slack >= 0 && options_.slack <= 1))
      throw error(error_code::bad_argument,
                  "options::slack is " + std::to_string(options_.slack) +
                      "; it is a part of a vertex's neighbours, from 0 (no room) to 1 (room for as many more)");
  }
  static constexpr bool is_any_number = std::is_same_v<Value, any_number<width>>;
  [[nodiscard]] number_type numbers() const {
    if constexpr (is_any_number)
      return options_.values;
    else
      return number_type_of<Value>;
  }
  void check_values() const {
    if (is_any_number && (options_.values > number_type::f64 || width_of_numbers(options_.values) != width))
      throw error(error_code::bad_argument,
                  "options::values must be a type of numbers of " + std::to_string(width) + " bytes");
    if (options_.combine > combiner::sum)
      throw error(error_code::bad_argument, "options::combine is none of latest, min, max and sum");
    if (options_.combine != combiner::latest && !std::is_void_v<Combine>)
      throw error(
          error_code::bad_argument,
          "a graph with a functor that combines values takes no other combiner; leave options::combine as it is");
    if (options_.combine != combiner::latest && std::is_void_v<Combine> && numbers() == number_type::none)
      throw error(error_code::bad_argument,
                  "values can be combined by min, max or sum only if their type is uint32_t, int64_t, float or double");
  }
  static void check_length(char const* what, std::size_t got, std::size_t edges) {
    if (got != edges)
      throw error(error_code::bad_argument, "a batch of " + std::to_string(edges) + " edges needs as many " + what +
                                                ", not " + std::to_string(got));
  }
  // An array of n entries in memory of the space.
  template <class T>
  static T const* checked(char const* what, T const* entries, std::uint64_t n) {
    if (entries == nullptr && n > 0)
      throw error(error_code::bad_argument, std::string("there are no ") + what + ": the pointer is null");
    if (reinterpret_cast<std::uintptr_t>(entries) % sizeof(T) != 0)
      throw error(error_code::bad_argument, std::string(what) +
                                                " in memory of the space must be at a multiple of their "
                                                "size, " +
                                                std::to_string(sizeof(T)) + " bytes");
    return entries;
  }
  // An array of n entries on the host.
  template <class T>
  static T const* checked(char const* what, std::span<T const> entries, std::size_t n) {
    check_length(what, entries.size(), n);
    return entries.data();
  }
  static detail::batch_input input(std::span<edge const> batch) {
    return {.edges = batch.data(), .size = batch.size(), .is_on_host = true};
  }
  static detail::batch_input input(resident_edges batch) { return {.edges = batch.data, .size = batch.size}; }
  template <detail::columns Columns>
  static detail::batch_input input(Columns const& batch) {
    return {.columns = batch.ids(), .size = batch.size(), .is_on_host = Columns::is_on_host};
  }
  template <class Batch, class Values>
  static detail::batch_input input(Batch const& batch, Values const& values) {
    detail::batch_input all = input(batch);
    all.values = checked("values", values, all.size);
    return all;
  }
  [[nodiscard]] auto combine() const {
    if constexpr (std::is_void_v<Combine>)
      return detail::standard_combiner<width>{options_.combine, numbers()};
    else
      return detail::typed_combiner<Value, Combine>{};
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
    undo(all_tables());
  }
  template <class ForTables>
  void undo(ForTables const& for_these) {
    for_these([&](auto& table) {
      table.undo(status_.data());
      table.release(allocator_->view(), status_.data(), true);
    });
  }
  void remove_all() {
    if (!chain_->empty()) {
      sources const all = tables();
      for (std::size_t k = 0; k < all.size(); ++k) chain_->release_current(all[k], k);
    } else if constexpr (Allocator::family.resets) {
      allocator_->reset();
    } else {
      for_tables([&](auto& table) { detail::free_pages(space_, table.records(), vertices_, *allocator_); });
    }
    for_tables([&](auto& table) {
      if (absent_.size() == 0)
        table.clear();
      else
        exec::for_each(space_, vertices_, detail::clear_row{table.records()});
    });
    if (arc_count_ > 0) identity_.change();
    arc_count_ = edge_count_ = 0;
  }

  using chain = detail::snapshot_chain<Space, Allocator>;
  using sources = typename chain::sources;
  [[nodiscard]] sources tables() const {
    sources all{{out_.records(), vertices_}};
    if (in_) all.push_back({in_->records(), vertices_});
    return all;
  }
  // Frees the pages of snapshots that have ended. Called before any change.
  void collect() {
    chain_->collect(tables());
    out_.set_newest(chain_->newest(0));
    if (in_) in_->set_newest(chain_->newest(1));
  }

  template <class F>
  void for_tables(F const& f) {
    f(out_);
    if (in_) f(*in_);
  }
  // One type for all updates, so that most steps are compiled once.
  [[nodiscard]] auto all_tables() {
    return [this](auto const& f) { this->for_tables(f); };
  }

  // All steps of an update are enqueued at once. After a failure of a step, later steps do nothing; the status then
  // says what the host must do before it enqueues them again.
  template <detail::update_kind Op, class Operations>
  pending_update update(detail::batch_input batch, Operations const& operations) {
    batch.operations = checked("operations", operations, batch.size);
    return update<Op>(batch);
  }
  template <detail::update_kind Op>
  pending_update update(detail::batch_input batch) {
    if constexpr (Op == detail::update_kind::erase) batch.all = operation::erase;
    constexpr detail::update_kind kind = has_values ? detail::update_kind::mixed : Op;
    return enqueue<kind>(batch);
  }
  template <detail::update_kind Op>
  pending_update enqueue(detail::batch_input const& batch) {
    typename Space::guard const current(space_);
    require_idle();
    if (batch.size == 0) {
      before(batch);
      results_.after(view());
      return pending_update([] { return update_report{}; });
    }
    collect();
    // The function that finishes the update. It is constructed first, as this may throw.
    std::function<update_report()> finishing([link = link_, batch] {
      if (link->graph == nullptr)
        throw error(error_code::bad_argument, "the graph of this update was destroyed before get() was called");
      return link->graph->template finish<Op>(batch);
    });
    before(batch);
    or_undo([&] { launch<Op>(batch); });
    link_->is_pending = true;
    return pending_update(std::move(finishing));
  }
  // Prepares attached results for a batch. The caller may free it after an error.
  void before(detail::batch_input const& batch) {
    if (results_.empty()) return;
    try {
      bool const converts = batch.is_converted();
      detail::batch_arrays there = batch.arrays();
      if (converts) {
        there = uploader_.template room_for<Value>(batch);
        uploader_.template convert<Value>(batch, vertices_, false, [](std::size_t, std::size_t) {});
        if (batch.is_on_host) uploader_.upload_rest(batch.arrays(), width);
      }
      results_.before(view(), options_.self_loops, there, batch.is_on_host && !converts);
    } catch (...) {
      space_.wait_for_all();
      throw;
    }
  }
  // Runs a step of a change; if it fails, restores attached results.
  template <class F>
  auto or_undo(F const& step) {
    try {
      return step();
    } catch (...) {
      results_.undo(view());
      throw;
    }
  }
  void require_no_results(char const* operation) const {
    if (!results_.empty())
      throw error(error_code::bad_argument,
                  std::string(operation) +
                      ": attached results are for the vertices that the graph has now; detach them, "
                      "and construct them again afterwards; nothing was changed");
  }
  template <detail::update_kind Op>
  void launch(detail::batch_input const& batch) {
    constexpr bool has_entries = Op == detail::update_kind::mixed;
    try {
      upload(batch, has_entries);
      start<Op>(all_tables(), [&] {
        if (has_entries && batch.is_on_host) uploader_.upload_rest(batch.arrays(), width);
        if (Op != detail::update_kind::erase && absent_.size() > 0)
          exec::for_each(space_, there_.size,
                         detail::refuse_absent_vertices{there_, out_.records(), vertices_, status_.data()});
      });
    } catch (...) {
      space_.wait_for_all();  // for copies from the batch, as the caller may free it
      throw;
    }
  }
  // Uploads the edges, converts them if they are in another form, and counts them.
  void upload(detail::batch_input const& batch, bool has_entries) {
    auto const count_slice = [&](std::size_t first, std::size_t n) { count(first, n); };
    std::size_t const slice = batch.is_on_host && !has_entries ? uploader_.slice_of(batch.size) : 0;
    if (batch.is_converted()) {
      begin(uploader_.template room_for<Value>(batch), slice, has_entries);
      uploader_.template convert<Value>(batch, vertices_, batch.is_on_host && !has_entries, count_slice);
    } else if (!batch.is_on_host) {
      begin(batch.arrays(), 0, has_entries);
      count(0, batch.size);
    } else {
      begin(uploader_.room_for(batch.arrays(), width), slice, has_entries);
      if (has_entries)
        uploader_.upload_edges(batch.arrays(), count_slice);
      else
        uploader_.upload({batch.edges, batch.size}, vertices_, count_slice);
    }
  }
  void count(std::size_t first, std::size_t n) {
    for_tables([&](auto& table) { table.count(first, n); });
  }
  void begin(detail::batch_arrays const& edges, std::size_t slice, bool has_entries) {
    status_.clear();
    there_ = edges;
    orientation const forward = options_.directed ? orientation::forward : orientation::both;
    out_.begin(edges, slice, has_entries, forward, options_.self_loops, arc_count_, status_.data());
    if (in_)
      in_->begin(edges, slice, has_entries, orientation::reverse, options_.self_loops, arc_count_, status_.data());
  }
  // Finishes a pending update.
  template <detail::update_kind Op>
  update_report finish(detail::batch_input const& batch) {
    typename Space::guard const current(space_);
    update_report const done = or_undo([&] { return finish_graph<Op>(batch); });
    results_.after(view());
    return done;
  }
  template <detail::update_kind Op>
  update_report finish_graph(detail::batch_input const& batch) {
    link_->is_pending = false;  // also if this throws
    auto const all = all_tables();
    std::size_t const size = batch.size;
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
  // for_these(f) calls f for each table that the update changes; before_plan() enqueues what the plan needs.
  template <detail::update_kind Op, class ForTables, class F>
  void start(ForTables const& for_these, F const& before_plan) {
    for_these([&](auto& table) { table.group(); });
    before_plan();
    for_these([&](auto& table) {
      if constexpr (Op == detail::update_kind::mixed)
        table.template plan_entries<width>(combine(), status_.data());
      else
        table.template plan<Op>(allocator_->view(), fails_from_, status_.data());
    });
    execute<Op>(for_these, false);
  }
  // may_stay: if an allocation fails, a vertex whose page has room for its neighbours stays in that page.
  template <detail::update_kind Op, class ForTables>
  void execute(ForTables const& for_these, bool may_stay) {
    for_these([&](auto& table) { table.allocate(allocator_->view(), Op, fails_from_, may_stay, status_.data()); });
    for_these([&](auto& table) {
      if constexpr (Op == detail::update_kind::mixed)
        table.template merge_entries<width>(status_.data());
      else
        table.template merge<Op>(status_.data());
    });
    for_these([&](auto& table) { table.release(allocator_->view(), status_.data(), false); });
    status_.enqueue_read();
  }
  // Repeats steps until the update is complete, or returns if edges are out of range. Returns nullptr, and undoes the
  // update, if all pages should be rewritten before the batch is restarted. batch_bytes: the memory that the batch
  // may need after that; `cannot_restart`: never returns nullptr.
  static constexpr std::uint64_t cannot_restart = ~std::uint64_t{0};
  template <detail::update_kind Op, class ForTables>
  detail::update_status const* complete(ForTables const& for_these, std::uint64_t batch_bytes) {
    detail::pool_growth<Allocator> memory(*allocator_, fails_from_ != never);
    for (bool may_stay = false;; execute<Op>(for_these, may_stay)) {
      detail::update_status const& s = status_.wait();
      if (s.out_of_range > 0) return &s;
      if (s.has_large_group > 0) {
        status_.clear(&detail::update_status::has_large_group);
        for_these([&](auto& table) {
          if constexpr (Op == detail::update_kind::mixed)
            table.template plan_large_entries<width>(combine(), s, status_.data());
          else
            table.template plan_large_groups<Op>(s, status_.data());
        });
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
    bool const may_relayout =
        batch_bytes != cannot_restart && Allocator::family.resets && fails_from_ == never && chain_->empty();
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
    return (options_.directed && !in_ ? 2 : 4) * entry_bytes(width) * edges;
  }
  [[nodiscard]] std::uint64_t layout_bytes() {
    std::uint64_t bytes = 0;
    for_tables([&](auto const& t) { bytes += detail::layout_bytes(space_, t.records(), vertices_, new_sizes()); });
    return bytes;
  }
  // The sizes of the pages of a new layout.
  [[nodiscard]] layout_sizes new_sizes() const {
    return {width, Allocator::family.powers_of_two, static_cast<std::uint32_t>(options_.slack * 256)};
  }
  // The options of a pool. It has no guards, since rows fill their pages, which are whole blocks.
  [[nodiscard]] alloc::options pool_of(std::size_t pool_bytes) const {
    alloc::options pool = alloc::without_guards(options_.pool);
    pool.pool_bytes = pool_bytes;
    return pool;
  }
  // Rewrites all pages, in a pool of at least this size. Changes nothing if it throws.
  void relayout(std::size_t pool_bytes) {
    alloc::options const pool = pool_of(pool_bytes);
    std::shared_ptr<Allocator> fresh;
    std::shared_ptr<chain> next_chain;
    std::vector<exec::buffer<packed_record, Space>> records;
    records.reserve(2);
    try {
      fresh = std::make_shared<Allocator>(space_, pool);
      next_chain = std::make_shared<chain>(space_, fresh);
      for_tables([&](auto const& t) {
        records.push_back(detail::rebuilt_table<width>(space_, t.records(), vertices_, arc_count_, new_sizes(), *fresh,
                                                       status_, fails_from_));
        if (absent_.size() > 0)
          exec::for_each(space_, vertices_, detail::copy_absent{t.records(), records.back().data()});
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
    chain_ = std::move(next_chain);
    changes_ = 0;
  }

  // Throws the error for the first entry of a batch that is refused; there are `count`.
  [[noreturn]] void refuse(detail::batch_input const& batch, std::uint64_t count) const {
    detail::host_copies const copies(space_, batch.is_on_host);
    detail::refusal_rule rule{vertices_, {}, {}, batch.all};
    if (absent_.size() > 0) rule.records = exec::copy_out(space_, out_.records(), vertices_);
    if (batch.operations != nullptr) rule.operations = copies.of(batch.operations, batch.size).to_vector();
    detail::with_entries<Value>(copies, batch, [&](auto const& source, auto const& target) {
      detail::refuse_first(rule, source, target, count);
    });
    throw error(error_code::corrupt, "an update was refused without a reason");
  }

  template <detail::update_kind Op>
  update_report report(std::size_t requested, detail::update_status const& s) {
    detail::update_status::sums const all = s.total();
    changes_ += requested;
    identity_.change();
    update_report r;
    r.requested = requested;
    r.self_loops = options_.self_loops ? 0 : all.self_loops;
    r.duplicates = r.requested - all.distinct - r.self_loops;
    arc_count_ += Op == detail::update_kind::erase ? 0 - all.arcs : all.arcs;
    if constexpr (Op == detail::update_kind::insert) {
      r.inserted = all.edges;
      r.unchanged = all.distinct - all.edges;
    } else if constexpr (Op == detail::update_kind::erase) {
      r.erased = all.edges;
      r.missing = all.distinct - all.edges;
    } else {
      r.inserted = all.edges;
      r.updated = all.updated;
      r.erased = all.erased;
      r.missing = all.missing;
      r.unchanged = all.distinct - r.inserted - r.updated - r.erased - r.missing;
    }
    edge_count_ += r.inserted - r.erased;
    return r;
  }

  template <class Csr>
  update_report build_from(Csr const& rows, Value const* values) {
    typename Space::guard const current(space_);
    require_idle();
    if (arc_count_ > 0)
      throw error(error_code::bad_argument, "a CSR is for a graph without edges, and this one has " +
                                                std::to_string(edge_count_) + "; clear() it, or insert edges");
    if (absent_.size() > 0)
      throw error(error_code::bad_argument, "a CSR is for a graph with all its vertices, and " +
                                                std::to_string(absent_.size()) +
                                                " were removed from this one; add_vertices(), or insert edges");
    check_sizes(rows);
    if (vertices_ == 0) return {};
    collect();
    detail::csr_rows const there = uploader_.room_for(rows);
    results_.before_replacement(view(), there.arcs);
    or_undo([&] { build_tables(rows, there, values); });
    results_.after(view());
    update_report r;
    r.requested = r.inserted = edge_count_;
    return r;
  }
  template <class Csr>
  void build_tables(Csr const& rows, detail::csr_rows const& there, Value const* values) {
    try {
      detail::value_word<width> const* const words = upload_values(rows, there, values);
      std::uint64_t const self_loops = build_layout(rows, there, words);
      if (!options_.directed) check_mirrored();
      if (in_) insert_reverse(there, words);
      arc_count_ = there.arcs;
      edge_count_ = options_.directed ? there.arcs : (there.arcs + self_loops) / 2;
    } catch (...) {
      space_.wait_for_all();  // for copies from the CSR, as the caller may free it
      remove_all();
      throw;
    }
    identity_.change();
  }
  [[nodiscard]] detail::value_word<width> const* upload_values(csr_view const&, detail::csr_rows const& rows,
                                                               Value const* values) {
    if constexpr (!has_values) return nullptr;
    return static_cast<detail::value_word<width> const*>(uploader_.upload_values(values, rows.arcs * width));
  }
  [[nodiscard]] detail::value_word<width> const* upload_values(resident_csr const&, detail::csr_rows const&,
                                                               Value const* values) const {
    return reinterpret_cast<detail::value_word<width> const*>(values);
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
  std::uint64_t build_layout(Csr const& rows, detail::csr_rows const& there, detail::value_word<width> const* values) {
    status_.clear_all();
    detail::layout<Space, detail::csr_rows> layout(space_, there, vertices_, there.arcs, options_.self_loops,
                                                   new_sizes(), chain_->empty(), out_.records(), hubs_, status_);
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
      if (s.failed_bytes == 0) {
        if constexpr (has_values) layout.template copy_values<width>(detail::csr_values<width>{there.offsets, values});
        return s.total().self_loops;
      }
      std::uint64_t const missing = s.failed_bytes;
      status_.clear_failures();
      if (!memory.compact_if_free(missing)) memory.find(missing, std::size_t{256} << 10, 0);
      layout.build(allocator_->view(), 0, vertices_, true, fails_from_);
    }
  }
  void check_mirrored() const {
    try {
      (void)detail::check_table(space_, out_.records(), out_.records(), vertices_, options_.self_loops);
      if constexpr (has_values) detail::check_mirrored_values<width>(space_, out_.records(), out_.records(), vertices_);
    } catch (error const& e) {
      if (e.code() != error_code::corrupt) throw;
      throw error(error_code::bad_argument,
                  "the CSR of an undirected graph must have both directions of each edge, with the same value; "
                  "nothing was changed (" +
                      std::string(e.what()) + ")");
    }
  }
  // Inserts in-neighbours in batches. Arcs are in the order of sources, so neighbour lists grow at their ends.
  void insert_reverse(detail::csr_rows const& rows, detail::value_word<width> const* values) {
    constexpr detail::update_kind kind = has_values ? detail::update_kind::mixed : detail::update_kind::insert;
    std::size_t const slice = build_slice_ > 0 ? build_slice_ : slice_for(rows.arcs);
    auto const only_in = [&](auto const& f) { f(*in_); };
    for (std::uint64_t first = 0; first < rows.arcs; first += slice) {
      resident_edges const edges =
          uploader_.list(rows, vertices_, first, std::min<std::uint64_t>(slice, rows.arcs - first));
      status_.clear();
      in_->begin({edges.data, edges.size, has_values ? values + first : nullptr}, 0, has_values, orientation::reverse,
                 options_.self_loops, first, status_.data());
      in_->count(0, edges.size);
      start<kind>(only_in, [] {});
      complete<kind>(only_in, cannot_restart);
    }
  }

  using link = detail::update_link<dynamic_graph>;
  Space space_;
  options options_;
  vertex_id vertices_;
  std::shared_ptr<Allocator> allocator_;
  std::shared_ptr<chain> chain_;
  vertex_table<Space> out_;
  std::optional<vertex_table<Space>> in_;
  detail::uploader<Space> uploader_;
  exec::buffer<detail::csr_hub, Space> hubs_;  // the hubs of a CSR
  detail::status_memory<Space> status_;
  std::shared_ptr<link> link_;  // nullptr: moved from
  identity identity_;
  detail::absent_ids absent_;
  detail::batch_arrays there_{};  // the batch of the last update, in memory of the space
  detail::attached_results<Space> results_;
  std::uint64_t arc_count_ = 0;
  std::uint64_t edge_count_ = 0;
  std::uint64_t changes_ = 0;  // requested edges since the last layout
  std::uint64_t fails_from_ = never;
  std::size_t build_slice_ = 0;
};

}  // namespace wyrm::graph
