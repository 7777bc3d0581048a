// SPDX-License-Identifier: Apache-2.0
// The dynamic graph container: a graph in memory of a space, which batches of edges change. Each vertex stores its
// neighbours in one contiguous, sorted page from a device memory allocator. Not thread-safe: only one host thread at a
// time may use a graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "../exec/error.hpp"
#include "../exec/memory.hpp"
#include "batch/columns.hpp"
#include "batch/input.hpp"
#include "csr_build.hpp"
#include "graph_state.hpp"
#include "inspect/export.hpp"
#include "maintained_result.hpp"
#include "options.hpp"
#include "pending_update.hpp"
#include "query/list_arcs.hpp"
#include "query/select.hpp"
#include "snapshot.hpp"
#include "types.hpp"
#include "update_engine.hpp"
#include "update_report.hpp"
#include "vertex_changes.hpp"
#include "view.hpp"

namespace wyrm::graph {

class any_graph;

/// Value: the type of the values of edges, trivially copyable, of 4, 8 or 16 bytes; or no_value. Combine: a functor
/// that combines the value of an edge with that of an insertion of the same edge, `Value operator()(Value old, Value
/// added) const`, callable on the space; void: options::combine selects the combination.
template <class Space, class Allocator, class Value = no_value, class Combine = void>
class dynamic_graph {
  static constexpr unsigned width = width_of<Value>;
  static_assert(std::is_void_v<Combine> || width > 0);
  static constexpr bool has_values = width > 0;

 public:
  using value_type = Value;

  /// Creates a graph without edges. Throws error(bad_argument) for more vertices than ids or options::max_vertices
  /// allow, or if options::combine is not available for the type of the values.
  dynamic_graph(Space const& space, std::size_t vertices, options const& o = {})
      : state_(space, vertices, o, !std::is_void_v<Combine>) {}
  /// A pending update moves to the new graph. The moved-from graph has no vertices, edges and arcs, and an empty view;
  /// it can be assigned to and destroyed, and all other operations throw error(bad_argument).
  dynamic_graph(dynamic_graph&& other) noexcept = default;
  dynamic_graph& operator=(dynamic_graph&& other) noexcept = default;

  /// The number of vertex ids, which are 0 to vertices() - 1. Some of these vertices may be absent, see
  /// remove_vertices().
  [[nodiscard]] vertex_id vertices() const { return state_.vertices; }
  /// The number of vertices that are in the graph.
  [[nodiscard]] vertex_id present_vertices() const {
    return state_.vertices - static_cast<vertex_id>(state_.absent.size());
  }
  [[nodiscard]] std::uint64_t edges() const { return state_.edge_count; }
  [[nodiscard]] std::uint64_t arcs() const { return state_.arc_count; }
  [[nodiscard]] options const& settings() const { return state_.settings; }
  [[nodiscard]] Space const& space() const { return state_.space; }
  [[nodiscard]] Allocator const& allocator() const {
    if (!state_.link) state_.require_idle();
    return *state_.allocator;
  }

  /// The view for algorithms; valid until the next change.
  [[nodiscard]] graph_view view() const { return state_.view(); }

  /// Adds n vertices without neighbours, and returns their ids: first ids that remove_vertices() has freed, those of
  /// the last removal first and in ascending order, and then new ones from vertices() on. All or nothing: throws
  /// error(bad_argument) if there would be more vertices than ids or options::max_vertices allow; error(out_of_memory),
  /// and std::bad_alloc if the host has no memory for the ids. Invalidates views. O(n), amortised.
  std::vector<vertex_id> add_vertices(std::size_t n) { return vertex_changes(state_).add_vertices(n); }

  /// Removes vertices and all their edges. The vertices are then absent: queries and algorithms find no neighbours
  /// there, inserting an edge of such a vertex throws error(bad_argument), and add_vertices() reuses the ids. All or
  /// nothing, as erase(). Throws error(bad_argument) for ids out of range. O(k log k + edges of the vertices) for k
  /// vertices; O(vertices + arcs log k) for a directed graph without in-neighbours. The edges of one call are one
  /// batch, which has fewer than 2^32 arcs, and in which an edge between two of the vertices counts twice.
  removal_report remove_vertices(std::span<vertex_id const> batch) {
    return vertex_changes(state_).remove_vertices(batch);
  }
  removal_report remove_vertices(std::initializer_list<vertex_id> batch) {
    return remove_vertices(std::span(batch.begin(), batch.size()));
  }
  /// The same for ids in memory of the graph's space. The ids are copied to the host.
  removal_report remove_vertices(resident_vertices batch) {
    typename Space::guard const current(state_.space);
    state_.require_idle();
    return remove_vertices(std::span<vertex_id const>(exec::copy_out(state_.space, batch.data, batch.size)));
  }

  /// Inserts the edges of a batch (on the host) that are not in the graph. All or nothing: on any error the graph is
  /// unchanged. Throws error(bad_argument) for ids out of range, error(out_of_memory) when the pool cannot grow enough.
  /// O(m + sum of the degrees of changed vertices), expected and amortised, for m edges; plus a sort of the batch if
  /// very many edges have the same source. If the pool has too little memory, it grows by an eighth (under churn by a
  /// sixteenth); if many edges have changed, and it could hold the graph with a fifth to spare (under churn a
  /// sixteenth), all pages are instead rewritten into another pool.
  update_report insert(std::span<edge const> batch) requires(!has_values) { return insert_async(batch).get(); }
  /// The same for edges in memory of the graph's space.
  update_report insert(resident_edges batch) requires(!has_values) { return insert_async(batch).get(); }
  update_report insert(std::initializer_list<edge> batch) requires(!has_values) {
    return insert(std::span(batch.begin(), batch.size()));
  }
  /// With values, one per edge. An edge that is already in the graph gets the value of the last entry of this edge in
  /// the batch, or the combination of its old value with the values of all these entries, in the order of the batch
  /// (see options::combine). The cost is that of insert without values; with a combiner also O(k) in sequence for an
  /// edge that the batch names k times. Throws error(bad_argument) also if there are not as many values as edges.
  update_report insert(std::span<edge const> batch, std::span<Value const> values) requires has_values {
    return insert_async(batch, values).get();
  }
  /// values: also in memory of the graph's space, aligned to the size of a value.
  update_report insert(resident_edges batch, Value const* values) requires has_values {
    return insert_async(batch, values).get();
  }
  /// The same for an array of edges with their values.
  update_report insert(std::span<valued_edge<Value> const> batch) requires has_values {
    return insert_async(batch).get();
  }
  update_report insert(resident_valued_edges<Value> batch) requires has_values { return insert_async(batch).get(); }
  update_report insert(std::initializer_list<valued_edge<Value>> batch) requires has_values {
    return insert(std::span(batch.begin(), batch.size()));
  }

  /// Erases the edges of a batch that are in the graph. Guarantee and cost are those of insert. Needs only scratch
  /// memory, unless a snapshot exists.
  update_report erase(std::span<edge const> batch) { return erase_async(batch).get(); }
  update_report erase(resident_edges batch) { return erase_async(batch).get(); }
  update_report erase(std::initializer_list<edge> batch) { return erase(std::span(batch.begin(), batch.size())); }

  /// Erases all edges for which predicate(source, target) is true; with values, predicate(source, target, value). The
  /// predicate is called once for each arc of a directed graph, and once for each edge of an undirected one, with
  /// source <= target; concurrently and in any order, by one lane. It must be trivially copyable and callable on the
  /// space, and cannot be a lambda under nvcc. The result is that of erase() for these edges, with its guarantee.
  /// O(vertices + arcs). Scratch: 12 bytes per vertex, 1/6 byte per arc, 8 bytes per erased edge.
  template <class Predicate>
  update_report erase_if(Predicate const& predicate) {
    typename Space::guard const current(state_.space);
    using rows = std::conditional_t<has_values, detail::valued_rows<Value, detail::all_rows>, detail::all_rows>;
    detail::selected_rows<rows, Predicate> const selected{rows{{view()}}, predicate};
    auto const edges = detail::select_edges(state_.space, selected);
    return erase(resident_edges(edges.data(), edges.size()));
  }

  /// Applies insertions and erasures in the order of the batch, as one update with one report. The last entry of an
  /// edge decides whether it is in the graph. An insertion after an erasure of the same edge starts with a new value.
  /// `operations`, and `values` if the graph has values, have one entry per edge (the values of erasures are not read).
  /// Same guarantee, errors and cost as insert().
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
  /// The same for arrays of edges with their values.
  update_report apply(std::span<valued_edge<Value> const> batch,
                      std::span<operation const> operations) requires has_values {
    return apply_async(batch, operations).get();
  }
  update_report apply(resident_valued_edges<Value> batch, operation const* operations) requires has_values {
    return apply_async(batch, operations).get();
  }

  /// insert, erase and apply for columns of ids, which are edge_columns or resident_columns (batch/columns.hpp); `more`
  /// are the other arguments of the operation, see the asynchronous updates. One kernel converts the columns to edges
  /// in scratch of the graph: 8 bytes per edge, and the columns themselves if they come from the host of a GPU. An id
  /// that is negative or not below vertices() is refused, whatever its size.
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

  /// Asynchronous updates: they enqueue the update on the stream of the graph's space. The batch must not change until
  /// get() of the result has returned; get() throws the errors of the synchronous update. Until then all operations
  /// that read or change the graph throw error(bad_argument), except for vertices(), edges() and arcs(), which return
  /// the values before the update. Attached results are prepared by the call, and updated or restored by get().
  pending_update insert_async(std::span<edge const> batch) requires(!has_values) { return update<kind::insert>(batch); }
  pending_update insert_async(resident_edges batch) requires(!has_values) { return update<kind::insert>(batch); }
  pending_update insert_async(std::span<edge const> batch, std::span<Value const> values) requires has_values {
    return update<kind::insert>(batch, values);
  }
  pending_update insert_async(resident_edges batch, Value const* values) requires has_values {
    return update<kind::insert>(batch, values);
  }
  pending_update insert_async(std::span<valued_edge<Value> const> batch) requires has_values {
    return update<kind::insert>(batch);
  }
  pending_update insert_async(resident_valued_edges<Value> batch) requires has_values {
    return update<kind::insert>(batch);
  }
  pending_update erase_async(std::span<edge const> batch) { return update<kind::erase>(batch); }
  pending_update erase_async(resident_edges batch) { return update<kind::erase>(batch); }
  pending_update apply_async(std::span<edge const> batch, std::span<operation const> operations) requires(!has_values) {
    return update<kind::mixed>(batch, operations);
  }
  pending_update apply_async(std::span<edge const> batch, std::span<operation const> operations,
                             std::span<Value const> values) requires has_values {
    return update<kind::mixed>(batch, operations, values);
  }
  pending_update apply_async(resident_edges batch, operation const* operations) requires(!has_values) {
    return update<kind::mixed>(batch, operations);
  }
  pending_update apply_async(resident_edges batch, operation const* operations,
                             Value const* values) requires has_values {
    return update<kind::mixed>(batch, operations, values);
  }
  pending_update apply_async(std::span<valued_edge<Value> const> batch,
                             std::span<operation const> operations) requires has_values {
    return update<kind::mixed>(batch, operations);
  }
  pending_update apply_async(resident_valued_edges<Value> batch, operation const* operations) requires has_values {
    return update<kind::mixed>(batch, operations);
  }
  /// Columns::array<T>: std::span<T const> for edge_columns, T const* in memory of the space for resident_columns.
  template <detail::columns Columns>
  pending_update insert_async(Columns const& batch) requires(!has_values) {
    return update<kind::insert>(batch);
  }
  template <detail::columns Columns>
  pending_update insert_async(Columns const& batch,
                              typename Columns::template array<Value> values) requires has_values {
    return update<kind::insert>(batch, values);
  }
  template <detail::columns Columns>
  pending_update erase_async(Columns const& batch) {
    return update<kind::erase>(batch);
  }
  template <detail::columns Columns>
  pending_update apply_async(Columns const& batch,
                             typename Columns::template array<operation> operations) requires(!has_values) {
    return update<kind::mixed>(batch, operations);
  }
  template <detail::columns Columns>
  pending_update apply_async(Columns const& batch, typename Columns::template array<operation> operations,
                             typename Columns::template array<Value> values) requires has_values {
    return update<kind::mixed>(batch, operations, values);
  }

  /// Adds the edges of a CSR (on the host) to a graph that has no edges and no absent vertices. The CSR contains the
  /// out-neighbours of a directed graph, or both directions of each edge of an undirected graph. Rows must be in
  /// ascending order without duplicates. The pages are in the order of the vertices. All or nothing: throws
  /// error(bad_argument) for a malformed CSR, for self-loops that the graph does not keep, and if the graph has edges;
  /// out_of_memory like insert. O(vertices + arcs); for an undirected graph O(arcs log degree), to check that both
  /// directions are present.
  update_report build(csr_view const& rows) requires(!has_values) { return csr_build(state_).run(rows, nullptr); }
  /// The same for a CSR in memory of the graph's space.
  update_report build(resident_csr rows) requires(!has_values) { return csr_build(state_).run(rows, nullptr); }
  /// With values, one per target. For an undirected graph both directions of an edge must have the same value.
  update_report build(csr_view const& rows, std::span<Value const> values) requires has_values {
    detail::check_length("values", values.size(), rows.targets.size());
    return csr_build(state_).run(rows, values.data());
  }
  update_report build(resident_csr rows, Value const* values) requires has_values {
    return csr_build(state_).run(rows, detail::checked("values", values, rows.arcs));
  }

  /// Returns the current state of the graph, which can be read while updates continue; see snapshot. O(vertices):
  /// copies the vertex table, 12 bytes per vertex and direction. While a snapshot exists, updates replace the pages
  /// that it uses instead of changing them: the first update of such a page copies it; erasures may need memory; and
  /// pages are not rewritten into another pool. Throws error(out_of_memory), and error(bad_argument) while an update is
  /// pending.
  [[nodiscard]] graph::snapshot snapshot() {
    typename Space::guard const current(state_.space);
    state_.require_idle();
    state_.collect();
    view_parts then = view().parts();
    then.out = then.in = nullptr;
    std::shared_ptr<void const> owner = state_.snapshots->take(state_.tables(), &then.out, &then.in);
    if (!then.directed) then.in = then.out;
    return graph::snapshot(std::move(owner), graph_view(then), state_.edge_count);
  }

  /// Creates the undirected graph that has an edge {u, v} if this directed graph has u -> v or v -> u, with the same
  /// vertices, on the same space. It is computed on the device; this graph does not change. If both arcs exist, the
  /// values are combined as if the arc from the smaller id were inserted first: with combiner::latest the edge has the
  /// value of the arc from the larger id. o: the options of the new graph, of which `directed` is ignored. Throws
  /// error(bad_argument) if this graph is undirected; error(out_of_memory). O(vertices + arcs log degree), expected.
  [[nodiscard]] dynamic_graph as_undirected(options o) const {
    typename Space::guard const current(state_.space);
    state_.require_idle();
    if (!state_.settings.directed)
      throw error(error_code::bad_argument, "as_undirected: the graph is undirected already");
    o.directed = false;
    dynamic_graph made(state_.space, state_.vertices, o);
    detail::for_each_slice_of_arcs<Value>(state_.space, view(), slice_for(state_.arc_count),
                                          [&](resident_edges edges, [[maybe_unused]] Value const* values) {
                                            if constexpr (has_values)
                                              made.insert(edges, values);
                                            else
                                              made.insert(edges);
                                          });
    made.state_.copy_absent(state_);
    return made;
  }
  /// The same with the options of this graph.
  [[nodiscard]] dynamic_graph as_undirected() const { return as_undirected(state_.settings); }

  /// Attaches a maintained result: from then on every change of this graph updates the graph and all attached results,
  /// or nothing; with an empty batch, results that stopped early continue. See maintained_result for what happens when
  /// a graph or a result is moved or destroyed. An error of the device after the change of the graph is thrown, and may
  /// leave a result outdated; then changes are refused until this result is detached. Throws error(bad_argument) if the
  /// result is not up to date for this graph, works on another stream, or is attached, and while an update is pending.
  void attach(maintained_result& result) { state_.results.attach(state_.space, view(), result); }
  /// Detaches a result, which keeps its values. Throws error(bad_argument) if it is not attached to this graph, and
  /// while an update is pending.
  void detach(maintained_result& result) {
    state_.require_idle();
    state_.results.detach(result);
  }

  /// Rewrites all pages, in the order of the vertices and with minimum sizes, in a new pool of the necessary size, and
  /// frees the old pool and all scratch. If the allocator has pages of fixed sizes, those of a size are in the order of
  /// the vertices: on a GPU in groups of 256 vertices, which are in any order, and on a CPU in groups, one or more for
  /// each thread. Pages of more than 512 neighbours are in any order. Useful after many updates, or after a batch that
  /// was much larger than later ones. For a short time both pools exist; throws error(out_of_memory), and changes
  /// nothing, if there is not enough memory for both, and error(bad_argument) while a snapshot exists. Invalidates
  /// views. O(vertices + arcs).
  void compact() {
    typename Space::guard const current(state_.space);
    state_.require_idle();
    state_.collect();
    if (!state_.snapshots->empty())
      throw error(error_code::bad_argument,
                  "a snapshot of this graph has pages of its pool, which compact() replaces; drop the snapshot first");
    // All operations that may fail come before the first change.
    std::vector<vertex_table<Space>> scratch;
    state_.for_tables([&](auto const& t) { scratch.push_back(t.empty_table()); });
    detail::uploader<Space> uploader(state_.space);
    layout_sizes const sizes = state_.new_sizes();
    state_.relayout({sizes, state_.layout_bytes(sizes) + (std::size_t{1} << 20), true});
    auto next = scratch.begin();
    state_.for_tables([&](auto& t) { t.replace_scratch(std::move(*next++)); });
    state_.uploader = std::move(uploader);
    state_.hubs = exec::buffer<detail::csr_hub, Space>(state_.space);
    state_.snapshots->free_spare();
    state_.results.free_scratch();
  }

  /// Removes all edges. The vertices do not change: absent vertices stay absent.
  void clear() {
    typename Space::guard const current(state_.space);
    state_.require_idle();
    state_.collect();
    if (state_.arc_count == 0) return state_.remove_all();
    state_.results.before_replacement(view(), 0);
    state_.or_undo([&] { state_.remove_all(); });
    state_.results.after(view());
  }

  /// For tests: until the next call, allocations of updates fail for the vertices from the k-th on that a batch changes
  /// (with in-neighbours: sources, then targets; the order is unspecified), allocations of build() and compact() fail
  /// for vertices from k on, and no pool can grow.
  static constexpr std::uint64_t never = ~std::uint64_t{0};
  void fail_allocations_from(std::uint64_t k) { state_.fails_from = k; }
  /// For tests: the number of arcs that build() inserts at a time into the table of in-neighbours; 0: slice_for().
  void build_in_slices_of(std::size_t arcs) { state_.build_slice = arcs; }

  [[nodiscard]] csr to_csr() const {
    typename Space::guard const current(state_.space);
    state_.require_idle();
    return detail::export_csr(state_.space, state_.out.records(), state_.vertices);
  }

  /// The values of all arcs, in the order of to_csr().
  [[nodiscard]] std::vector<Value> values() const requires has_values {
    typename Space::guard const current(state_.space);
    state_.require_idle();
    return detail::export_all_values<Value>(state_.space, state_.out.records(), state_.vertices, state_.arc_count);
  }

  [[nodiscard]] memory_report memory() const { return state_.memory(); }

  /// Checks the invariants of the graph and of its allocator, and that each page belongs to one vertex; throws
  /// error(corrupt) for a violation. For tests and debugging. O(vertices log vertices + arcs log degree), and 32 bytes
  /// of scratch per vertex.
  void check() const { state_.check(); }

 private:
  friend any_graph;  // for update(), with a batch_input
  using kind = detail::update_kind;
  using vertex_changes = detail::vertex_changes<Space, Allocator, Value, Combine>;
  using csr_build = detail::csr_build<Space, Allocator, Value, Combine>;

  // Enqueues an update by a batch and its further arrays, see batch/input.hpp.
  template <kind Op, class... Arrays>
  pending_update update(Arrays const&... arrays) {
    detail::update_engine<Space, Allocator, Value, Combine> engine(state_);
    return engine.template update<Op>(detail::input(arrays...));
  }

  detail::graph_state<Space, Allocator, Value> state_;
};

}  // namespace wyrm::graph
