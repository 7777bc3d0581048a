// SPDX-License-Identifier: Apache-2.0
// The members of a graph, and what keeps them consistent: the vertex tables, the pool, snapshots, attached results. The
// stages of a change work on it: update_engine.hpp, vertex_changes.hpp, csr_build.hpp. The public face is
// dynamic_graph.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../alloc/allocator.hpp"
#include "../exec/memory.hpp"
#include "attached_results.hpp"
#include "batch/status.hpp"
#include "batch/upload.hpp"
#include "identity.hpp"
#include "inspect/check.hpp"
#include "inspect/export.hpp"
#include "layout/layout.hpp"
#include "options.hpp"
#include "pending_update.hpp"
#include "snapshot.hpp"
#include "table/pool_growth.hpp"
#include "table/vertex_table.hpp"
#include "types.hpp"
#include "update/vertices.hpp"
#include "update_report.hpp"
#include "view.hpp"

namespace wyrm::graph::detail {

/// The members of one graph, for the functions that work on it. A move leaves a graph without vertices, edges and a
/// pool, of which link is nullptr.
template <class Space, class Allocator, class Value>
struct graph_state {
  static_assert(alloc::device_allocator<Allocator>);
  static constexpr unsigned width = width_of<Value>;
  static_assert(width == 0 || width == 4 || width == 8 || width == 16, "a value has 4, 8 or 16 bytes");
  static_assert(std::is_trivially_copyable_v<Value>);
  static constexpr bool has_values = width > 0;
  static constexpr std::uint64_t never = ~std::uint64_t{0};
  using chain = snapshot_chain<Space, Allocator>;
  using sources = typename chain::sources;
  using pending_link = update_link<graph_state>;

  /// has_functor: whether a functor of the user combines values. Throws error(bad_argument).
  graph_state(Space const& s, std::size_t count, options const& o, bool has_functor)
      : space(s),
        settings(with_seed(o)),
        vertices(checked_count(count, o.max_vertices)),
        allocator(std::make_shared<Allocator>(space, pool_of(o.pool.pool_bytes))),
        snapshots(std::make_shared<chain>(space, allocator)),
        out(space, vertices, 0, width, settings),
        uploader(space),
        hubs(space),
        status(space),
        link(std::make_shared<pending_link>(pending_link{this})) {
    if (o.directed && o.in_neighbours) in.emplace(space, vertices, 1, width, settings);
    check_values(has_functor);
    check_slack();
  }
  graph_state(graph_state&& other) noexcept
      : space(other.space),
        settings(other.settings),
        vertices(std::exchange(other.vertices, 0)),
        allocator(std::move(other.allocator)),
        snapshots(std::move(other.snapshots)),
        out(std::move(other.out)),
        in(std::move(other.in)),
        uploader(std::move(other.uploader)),
        hubs(std::move(other.hubs)),
        status(std::move(other.status)),
        link(std::move(other.link)),
        identity(std::move(other.identity)),
        absent(std::move(other.absent)),
        results(std::move(other.results)),
        arc_count(std::exchange(other.arc_count, 0)),
        edge_count(std::exchange(other.edge_count, 0)),
        changes(other.changes),
        erased(other.erased),
        least_arcs(other.least_arcs),
        churn_size(other.churn_size),
        fails_from(other.fails_from),
        build_slice(other.build_slice) {
    if (link) link->graph = this;
  }
  graph_state& operator=(graph_state&& other) noexcept {
    if (this == &other) return *this;
    std::destroy_at(this);
    return *std::construct_at(this, std::move(other));
  }
  ~graph_state() {
    if (!link) return;  // moved from
    link->graph = nullptr;
    if (link->is_pending) space.wait_for_all();  // waits for kernels and copies of the update
    // The destruction of a pool frees its pages. Memory of the system must be freed page by page.
    if constexpr (!Allocator::family.resets) {
      try {
        if (link->is_pending) release_planned();
        remove_all();
      } catch (...) {  // the device has failed, and its memory is lost
      }
    }
  }

  /// The view for algorithms; valid until the next change.
  [[nodiscard]] graph_view view() const {
    if (link) require_idle();
    return graph_view({.out = out.records(),
                       .in = in_records(),
                       .arcs = arc_count,
                       .vertices = vertices,
                       .absent = static_cast<vertex_id>(absent.size()),
                       .directed = settings.directed,
                       .value_bytes = width,
                       .numbers = numbers(),
                       .graph_id = identity.id(),
                       .version = identity.version()});
  }

  // The records of in-neighbours; nullptr if there are none.
  [[nodiscard]] packed_record const* in_records() const {
    return !settings.directed ? out.records() : in ? in->records() : nullptr;
  }
  [[nodiscard]] number_type numbers() const {
    if constexpr (is_any_number)
      return settings.values;
    else
      return number_type_of<Value>;
  }

  void require_idle() const {
    if (!link)
      throw error(error_code::bad_argument,
                  "this graph was moved from; assign another to it, or use the one that it was moved to");
    if (link->is_pending)
      throw error(error_code::bad_argument,
                  "an update of this graph is pending: call get() of what insert_async() or erase_async() returned, "
                  "and then go on");
  }

  [[nodiscard]] sources tables() const {
    sources all{{out.records(), vertices}};
    if (in) all.push_back({in->records(), vertices});
    return all;
  }

  template <class F>
  void for_tables(F const& f) {
    f(out);
    if (in) f(*in);
  }

  // One type for all updates, so that most steps are compiled once.
  [[nodiscard]] auto all_tables() {
    return [this](auto const& f) { this->for_tables(f); };
  }

  // Frees the pages of snapshots that have ended. Called before any change.
  void collect() {
    snapshots->collect(tables());
    out.set_newest(snapshots->newest(0));
    if (in) in->set_newest(snapshots->newest(1));
  }
  void remove_all() {
    if (!snapshots->empty()) {
      sources const all = tables();
      for (std::size_t k = 0; k < all.size(); ++k) snapshots->release_current(all[k], k);
    } else if constexpr (Allocator::family.resets) {
      allocator->reset();
    } else {
      for_tables([&](auto& table) { free_pages(space, table.records(), vertices, *allocator); });
    }
    for_tables([&](auto& table) {
      if (absent.size() == 0)
        table.clear();
      else
        exec::for_each(space, vertices, clear_row{table.records()});
    });
    if (arc_count > 0) identity.change();
    arc_count = edge_count = 0;
    changes = erased = least_arcs = churn_size = 0;
  }
  // Makes the vertices absent that are so in another graph with as many, in the same order of later use. They have no
  // edges here, and none is absent yet.
  template <class Other>
  void copy_absent(Other const& other) {
    if (other.absent.size() == 0) return;
    absent = other.absent;
    for_tables([&](auto& t) {
      exec::for_each(space, vertices, detail::copy_absent{other.out.records(), t.records()});
    });
    identity.change();
  }
  // Frees pages that an update has planned, and that belong to no vertex.
  template <class ForTables>
  void undo(ForTables const& for_these) {
    for_these([&](auto& table) {
      table.undo(status.data());
      table.release(allocator->view(), status.data(), true);
    });
  }
  // Runs a step of a change; if it fails, restores attached results.
  template <class F>
  auto or_undo(F const& step) {
    try {
      return step();
    } catch (...) {
      results.undo(view());
      throw;
    }
  }

  // The sizes of the pages of a new layout.
  [[nodiscard]] layout_sizes new_sizes() const {
    return {width, Allocator::family.powers_of_two, static_cast<std::uint32_t>(settings.slack * 256)};
  }
  // The bytes of all pages of these sizes.
  [[nodiscard]] std::uint64_t layout_bytes(layout_sizes const& sizes) {
    std::uint64_t bytes = 0;
    for_tables([&](auto const& t) { bytes += detail::layout_bytes(space, t.records(), vertices, sizes, status); });
    return bytes;
  }

  // How all pages are rewritten.
  struct new_layout {
    layout_sizes sizes;
    std::size_t pool_bytes;
    bool is_last;  // another one has no more room: without additional slack, in the largest pool
  };
  // When all pages may be rewritten before a batch is restarted.
  struct restart {
    std::uint64_t bytes = never;  // that the batch may need after that; never: it cannot be restarted
    bool if_full = false;         // only if the pool cannot grow
  };

  // Makes memory available by compaction or growth of the pool. Returns false if all pages should be rewritten instead,
  // as next_layout says: if so many edges have changed that a layout is cheap in comparison, and the pool could hold
  // the graph and the batch with a fifth to spare, or, under churn, a roomy layout; or if the pool could hold both, and
  // cannot grow.
  bool make_memory(pool_growth<Allocator>& memory, std::uint64_t missing, restart const& how) {
    bool const may_restart =
        how.bytes != never && Allocator::family.resets && fails_from == never && snapshots->empty();
    std::uint64_t const more = std::max(how.bytes, missing);
    bool const churns = erased > 0 && erased >= changes / 4 && arc_count / 3 * 2 <= least_arcs;
    std::uint64_t const many = (vertices + arc_count) / 16;
    bool const is_cheap = may_restart && !how.if_full && changes >= many;
    // Before a compaction, which takes about as long: after so many changes few chunks are free.
    if (is_cheap && churns && find_roomy_layout(more, churn_size > 0 && changes < 2 * many)) return false;
    if (memory.compact_if_free(missing)) return true;
    alloc::statistics const pool = allocator->stats();
    std::uint64_t const needs = may_restart ? layout_bytes(new_sizes()) + more : never;
    // The pool may be smaller than it has been, and may not be able to grow by the last few chunks again.
    std::size_t const most = settings.pool.reserve_bytes != 0 ? pool.reserved : pool.committed;
    if (is_cheap && needs <= pool.committed / 5 * 4) {
      next_layout = {new_sizes(), pool.committed, pool.committed == most};
      return false;
    }
    try {
      // A page of each size may need a new chunk, so the pool grows by more than the missing bytes. A graph that only
      // grows needs fewer steps if they are larger.
      if (churns)
        memory.find(missing, missing / 8 + (std::size_t{256} << 10), pool.committed / 16);
      else
        memory.find(missing, missing / 4 + (std::size_t{1} << 20), pool.committed / 8);
    } catch (error const& e) {
      if (e.code() != error_code::out_of_memory || needs > most) throw;
      next_layout = {new_sizes(), most, true};
      return false;
    }
    // In small steps: the pool may have grown for a batch that is much larger than others.
    if (churns && churn_size > 0 && changes < 2 * many)
      churn_size = std::max(churn_size, std::min(churn_size + 2, size_with(allocator->stats().committed)));
    least_arcs = arc_count;
    return true;
  }
  // Under churn, pages have room for an eighth more neighbours, so that most vertices do not move in the next updates,
  // and the pool gets the size that churn_size says; at least a little more if the last such layout was not
  // long ago. Sets next_layout if this leaves a sixteenth of the old pool free.
  bool find_roomy_layout(std::uint64_t more, bool again_soon) {
    layout_sizes const sizes = new_sizes().with_at_least(32);
    alloc::statistics const pool = allocator->stats();
    std::uint64_t const needs = layout_bytes(sizes) + more;
    if (needs > pool.committed / 16 * 15) return false;
    churn_size = std::max(churn_size, std::uint64_t{again_soon ? 27u : 26u});
    std::size_t const step = space.granularity();
    std::size_t const learned = pool_for(churn_size) / step * step;
    std::size_t const enough = std::max({settings.pool.pool_bytes, learned, needs / 15 * 16});
    next_layout = {sizes, std::min({pool.reserved, enough, pool.committed / 4 * 5}), false};
    return true;
  }
  // The bytes of vertex tables, and of a CSR with offsets of 8 bytes.
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> table_and_csr_bytes() {
    std::uint64_t tables = 0;
    std::uint64_t csr = 0;
    for_tables([&](auto const& t) {
      tables += t.table_bytes();
      csr += (vertices + std::uint64_t{1}) * sizeof(std::uint64_t) + arc_count * entry_bytes(width);
    });
    return {tables, csr};
  }
  // The size of the graph, in sixteenths of a CSR, with a pool of so many bytes; and the bytes of a pool for that size.
  [[nodiscard]] std::uint64_t size_with(std::size_t pool_bytes) {
    auto const [tables, csr] = table_and_csr_bytes();
    return (tables + pool_bytes) * 16 / csr + 1;
  }
  [[nodiscard]] std::size_t pool_for(std::uint64_t size) {
    auto const [tables, csr] = table_and_csr_bytes();
    return std::max(csr * size / 16, tables) - tables;
  }

  // Rewrites all pages, in a pool of at least pool_bytes. Changes nothing if it throws.
  void relayout(new_layout const& to) {
    alloc::options pool = pool_of(to.pool_bytes);
    // Beside the old pool there may be less managed memory left than the graph has.
    if (pool.memory == exec::memory_kind::managed && pool.reserve_bytes == 0)
      pool.reserve_bytes = std::max(to.pool_bytes, allocator->stats().reserved);
    std::shared_ptr<Allocator> fresh;
    std::shared_ptr<chain> next_chain;
    std::vector<exec::buffer<packed_record, Space>> records;
    records.reserve(2);
    try {
      fresh = std::make_shared<Allocator>(space, pool);
      next_chain = std::make_shared<chain>(space, fresh);
      for_tables([&](auto const& t) {
        records.push_back(
            rebuilt_table<width>(space, t.records(), vertices, arc_count, to.sizes, *fresh, status, fails_from));
        if (absent.size() > 0) exec::for_each(space, vertices, detail::copy_absent{t.records(), records.back().data()});
      });
    } catch (error const& e) {
      if constexpr (!Allocator::family.resets)
        for (auto const& r : records) free_pages(space, r.data(), vertices, *fresh);
      throw error(e.code(),
                  std::string("there is no memory for a second pool; nothing was changed (") + e.what() + ")");
    }
    if constexpr (!Allocator::family.resets)
      for_tables([&](auto const& t) { free_pages(space, t.records(), vertices, *allocator); });
    auto next = records.begin();
    for_tables([&](auto& t) { t.replace(std::move(*next++)); });
    allocator = std::move(fresh);
    snapshots = std::move(next_chain);
    changes = erased = 0;
    least_arcs = arc_count;
  }

  // The same, or in a pool of the size of the present one, if beside this there is no memory for a larger one. Returns
  // false, and changes nothing, if there is no memory for either.
  [[nodiscard]] bool can_relayout(new_layout to) {
    std::size_t const committed = allocator->stats().committed;
    for (;;) {
      try {
        relayout(to);
        return true;
      } catch (error const& e) {
        if (e.code() != error_code::out_of_memory) throw;
        if (to.pool_bytes <= committed) return false;
        to.pool_bytes = committed;
      }
    }
  }

  [[nodiscard]] memory_report memory() const {
    typename Space::guard const current(space);
    require_idle();
    memory_report m;
    alloc::statistics const pool = allocator->stats();
    table_sums sums = sum_table(space, out.records(), vertices);
    m.vertex_table = out.table_bytes();
    m.scratch = out.scratch_bytes() + uploader.bytes() + hubs.bytes() + status.bytes() + results.bytes();
    if (in) {
      table_sums const more = sum_table(space, in->records(), vertices);
      sums.arcs += more.arcs;
      sums.capacity += more.capacity;
      m.vertex_table += in->table_bytes();
      m.scratch += in->scratch_bytes();
    }
    m.neighbours = sums.arcs * entry_bytes(width);
    m.slack = (sums.capacity - sums.arcs) * entry_bytes(width);
    m.snapshot_tables = snapshots->table_bytes();
    m.snapshot_pages = snapshots->pages_of_snapshots(tables(), width).bytes;
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
    typename Space::guard const current(space);
    require_idle();
    page_bytes_sum const of_snapshots = snapshots->pages_of_snapshots(tables(), width);
    // This check comes first, because the others read pages.
    constexpr alloc::traits family = Allocator::family;
    constexpr bool counts_only_pages = family.reclaims && family.resets && family.header_bytes == 0 &&
                                       family.unit_bytes <= alloc::alignment && family.share >= 1 && family.fixed_sizes;
    check_pages(space, out.records(), in ? in->records() : nullptr, vertices, width, allocator->stats().granted,
                {of_snapshots.bytes, of_snapshots.rounded, 0}, counts_only_pages, family.powers_of_two);
    std::uint64_t const loops = check_table(space, out.records(), in_records(), vertices, settings.self_loops);
    if (in) (void)check_table(space, in->records(), out.records(), vertices, settings.self_loops);
    for (auto const& t : tables()) check_absent(space, t.records, vertices, absent);
    if constexpr (has_values)
      if (in_records() != nullptr) check_mirrored_values<width>(space, out.records(), in_records(), vertices);
    std::uint64_t const arcs = sum_table(space, out.records(), vertices).arcs;
    if (arcs != arc_count)
      throw error(error_code::corrupt,
                  "the graph has " + std::to_string(arcs) + " arcs but counted " + std::to_string(arc_count));
    std::uint64_t const edges = settings.directed ? arcs : (arcs + loops) / 2;
    if (edges != edge_count)
      throw error(error_code::corrupt,
                  "the graph has " + std::to_string(edges) + " edges but counted " + std::to_string(edge_count));
    allocator->check();
  }

  // The most vertices; `limit`: see options::max_vertices.
  static constexpr std::size_t most_vertices(std::size_t limit) {
    // A page with values has no room for more neighbours, see capacity_for().
    constexpr std::size_t most = has_values ? 0xf0000000 : max_vertices;
    return limit > 0 ? std::min(limit, most) : most;
  }

  Space space;
  options settings;
  vertex_id vertices;  // ids
  std::shared_ptr<Allocator> allocator;
  std::shared_ptr<chain> snapshots;
  vertex_table<Space> out;
  std::optional<vertex_table<Space>> in;
  detail::uploader<Space> uploader;
  exec::buffer<csr_hub, Space> hubs;  // the hubs of a CSR
  status_memory<Space> status;
  std::shared_ptr<pending_link> link;  // nullptr: moved from
  graph::identity identity;
  absent_ids absent;
  batch_arrays there{};  // the batch of the last update, in memory of the space
  attached_results<Space> results;
  std::uint64_t arc_count = 0;
  std::uint64_t edge_count = 0;
  std::uint64_t changes = 0;     // requested edges since the last layout
  std::uint64_t erased = 0;      // erased edges since then
  std::uint64_t least_arcs = 0;  // since then, or since the pool has grown
  // Sixteenths of a CSR that the graph may take after a roomy layout: more if the pool had to grow, or pages had to be
  // rewritten, soon after the previous one. 0: there has been none.
  std::uint64_t churn_size = 0;
  new_layout next_layout{};  // set by make_memory()
  std::uint64_t fails_from = never;
  std::size_t build_slice = 0;

 private:
  static constexpr bool is_any_number = std::is_same_v<Value, any_number<width>>;

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
    if (!(settings.slack >= 0 && settings.slack <= 1))
      throw error(error_code::bad_argument,
                  "options::slack is " + std::to_string(settings.slack) +
                      "; it is a part of a vertex's neighbours, from 0 (no room) to 1 (room for as many more)");
  }
  void check_values(bool has_functor) const {
    if (is_any_number && (settings.values > number_type::f64 || width_of_numbers(settings.values) != width))
      throw error(error_code::bad_argument,
                  "options::values must be a type of numbers of " + std::to_string(width) + " bytes");
    if (settings.combine > combiner::sum)
      throw error(error_code::bad_argument, "options::combine is none of latest, min, max and sum");
    if (settings.combine != combiner::latest && has_functor)
      throw error(
          error_code::bad_argument,
          "a graph with a functor that combines values takes no other combiner; leave options::combine as it is");
    if (settings.combine != combiner::latest && !has_functor && numbers() == number_type::none)
      throw error(error_code::bad_argument,
                  "values can be combined by min, max or sum only if their type is uint32_t, int64_t, float or double");
  }
  static options with_seed(options o) {
    while (o.hash_seed == 0) o.hash_seed = std::random_device()();
    return o;
  }
  // Frees the pages of a pending update that failed; they belong to no vertex.
  void release_planned() {
    if (status.wait().failed_bytes == 0) return;
    undo(all_tables());
  }
  // The options of a pool. It has no guards, since rows fill their pages, which are whole blocks.
  [[nodiscard]] alloc::options pool_of(std::size_t pool_bytes) const {
    alloc::options pool = alloc::without_guards(settings.pool);
    pool.pool_bytes = pool_bytes;
    return pool;
  }
};

}  // namespace wyrm::graph::detail
