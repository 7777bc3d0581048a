// SPDX-License-Identifier: Apache-2.0
// One update of a graph by a batch: enqueues all steps at once, waits for them, makes memory and repeats what failed,
// and keeps attached results up to date. After a failure of a step, later steps do nothing; the status then says what
// the host must do before it enqueues them again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../exec/error.hpp"
#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "batch/columns.hpp"
#include "batch/refuse.hpp"
#include "batch/status.hpp"
#include "graph_state.hpp"
#include "pending_update.hpp"
#include "table/pool_growth.hpp"
#include "types.hpp"
#include "update/check_weights.hpp"
#include "update/vertices.hpp"
#include "update_report.hpp"

namespace wyrm::graph::detail {

/// A reference to the state of a graph; made for each update. Combine: see dynamic_graph.
template <class Space, class Allocator, class Value, class Combine>
class update_engine {
 public:
  using state = graph_state<Space, Allocator, Value>;

  explicit update_engine(state& g) : g_(g) {}

  /// Enqueues an update. See dynamic_graph::insert_async().
  template <update_kind Op>
  pending_update update(batch_input batch) {
    if constexpr (Op == update_kind::erase) batch.all = operation::erase;
    // A CPU reads a batch where it is. (Values are copied, as they need not be aligned to their size there.)
    if constexpr (!exec::has_tiles<Space> && !has_values) batch.is_on_host = false;
    constexpr update_kind kind = has_values ? update_kind::mixed : Op;
    return enqueue<kind>(batch);
  }
  /// Erases edges, given in memory of the space, as a part of a change: attached results are not told, and the version
  /// stays. Returns the number of edges that were erased. Guarantee and errors: dynamic_graph::erase().
  std::uint64_t erase_for_change(resident_edges edges) {
    constexpr update_kind kind = has_values ? update_kind::mixed : update_kind::erase;
    if (edges.size == 0) return 0;
    batch_input const batch{.edges = edges.data, .size = edges.size, .all = operation::erase};
    launch<kind>(batch);
    return finish_graph<kind>(batch).erased;
  }
  /// Runs the steps of an update on some of the tables, on which begin() and count() were called. for_these(f) calls f
  /// for each of these tables; before_plan() enqueues what the plan needs.
  template <update_kind Op, class ForTables, class F>
  void start(ForTables const& for_these, F const& before_plan) {
    for_these([&](auto& table) { table.group(); });
    before_plan();
    for_these([&](auto& table) {
      if constexpr (Op == update_kind::mixed)
        table.template plan_entries<width>(combine(), g_.status.data());
      else
        table.template plan<Op>(g_.allocator->view(), g_.fails_from, g_.status.data());
    });
    check_weights(for_these);
    execute<Op>(for_these, false);
  }
  /// Repeats steps until the update is complete, or returns if edges are out of range. Returns nullptr, and undoes the
  /// update, if all pages should be rewritten before the batch is restarted; never without `how`.
  template <update_kind Op, class ForTables>
  update_status const* complete(ForTables const& for_these, typename state::restart const& how = {}) {
    pool_growth<Allocator> memory(*g_.allocator, g_.fails_from != state::never);
    for (bool may_stay = false;; execute<Op>(for_these, may_stay)) {
      update_status const& s = g_.status.wait();
      if (s.out_of_range > 0) return &s;
      if (s.has_large_group > 0) {
        g_.status.clear(&update_status::has_large_group);
        for_these([&](auto& table) {
          if constexpr (Op == update_kind::mixed)
            table.template plan_large_entries<width>(combine(), s, g_.status.data());
          else
            table.template plan_large_groups<Op>(s, g_.status.data());
        });
        check_weights(for_these);
      } else if (s.no_weights > 0) {
        g_.undo(for_these);
        return &s;
      } else if (s.failed_bytes > 0) {
        std::uint64_t const missing = s.failed_bytes;
        g_.status.clear_failures();
        try {
          if (g_.make_memory(memory, missing, how)) continue;
        } catch (error const& e) {
          if (e.code() == error_code::out_of_memory && !may_stay) {
            may_stay = true;
            continue;
          }
          g_.undo(for_these);
          throw;
        } catch (...) {
          g_.undo(for_these);
          throw;
        }
        g_.undo(for_these);
        return nullptr;
      } else {
        return &s;
      }
    }
  }

 private:
  static constexpr unsigned width = state::width;
  static constexpr bool has_values = state::has_values;

  template <update_kind Op>
  pending_update enqueue(batch_input const& batch) {
    typename Space::guard const current(g_.space);
    g_.require_idle();
    if (batch.size == 0) {
      before(batch);
      g_.results.after(g_.view());
      return pending_update([] { return update_report{}; });
    }
    g_.collect();
    // The function that finishes the update. It is constructed first, as this may throw.
    std::function<update_report()> finishing([link = g_.link, batch] {
      if (link->graph == nullptr)
        throw error(error_code::bad_argument, "the graph of this update was destroyed before get() was called");
      return update_engine(*link->graph).template finish<Op>(batch);
    });
    before(batch);
    g_.or_undo([&] { launch<Op>(batch); });
    g_.link->is_pending = true;
    return pending_update(std::move(finishing));
  }
  // Prepares attached results for a batch. The caller may free it after an error.
  void before(batch_input const& batch) {
    if (g_.results.empty()) return;
    try {
      bool const converts = batch.is_converted();
      batch_arrays there = batch.arrays();
      if (converts) {
        there = g_.uploader.template room_for<Value>(batch);
        g_.uploader.template convert<Value>(batch, g_.vertices, false, [](std::size_t, std::size_t) {});
        if (batch.is_on_host) g_.uploader.upload_rest(batch.arrays(), width);
      }
      g_.results.before(g_.view(), g_.settings.self_loops, there, batch.is_on_host && !converts);
    } catch (...) {
      g_.space.wait_for_all();
      throw;
    }
  }
  template <update_kind Op>
  void launch(batch_input const& batch) {
    constexpr bool has_entries = Op == update_kind::mixed;
    try {
      upload(batch, has_entries);
      start<Op>(g_.all_tables(), [&] {
        if (has_entries && batch.is_on_host) g_.uploader.upload_rest(batch.arrays(), width);
        if (Op != update_kind::erase && g_.absent.size() > 0)
          exec::for_each(g_.space, g_.there.size,
                         refuse_absent_vertices{g_.there, g_.out.records(), g_.vertices, g_.status.data()});
      });
    } catch (...) {
      g_.space.wait_for_all();  // for copies from the batch, as the caller may free it
      throw;
    }
  }
  // Uploads the edges, converts them if they are in another form, and counts them.
  void upload(batch_input const& batch, bool has_entries) {
    auto const count_slice = [&](std::size_t first, std::size_t n) { count(first, n); };
    std::size_t const slice = batch.is_on_host && !has_entries ? g_.uploader.slice_of(batch.size) : 0;
    if (batch.is_converted()) {
      begin(g_.uploader.template room_for<Value>(batch), slice, has_entries);
      g_.uploader.template convert<Value>(batch, g_.vertices, batch.is_on_host && !has_entries, count_slice);
    } else if (!batch.is_on_host) {
      begin(batch.arrays(), 0, has_entries);
      count(0, batch.size);
    } else {
      begin(g_.uploader.room_for(batch.arrays(), width), slice, has_entries);
      if (has_entries)
        g_.uploader.upload_edges(batch.arrays(), count_slice);
      else
        g_.uploader.upload({batch.edges, batch.size}, g_.vertices, count_slice);
    }
  }
  void count(std::size_t first, std::size_t n) {
    g_.for_tables([&](auto& table) { table.count(first, n); });
  }
  void begin(batch_arrays const& edges, std::size_t slice, bool has_entries) {
    g_.status.clear();
    g_.there = edges;
    orientation const forward = g_.settings.directed ? orientation::forward : orientation::both;
    g_.out.begin(edges, slice, has_entries, forward, g_.settings.self_loops, g_.arc_count, g_.status.data());
    if (g_.in)
      g_.in->begin(edges, slice, has_entries, orientation::reverse, g_.settings.self_loops, g_.arc_count,
                   g_.status.data());
  }
  // Finishes a pending update.
  template <update_kind Op>
  update_report finish(batch_input const& batch) {
    typename Space::guard const current(g_.space);
    update_report const done = g_.or_undo([&] { return finish_graph<Op>(batch); });
    g_.identity.change();
    g_.results.after(g_.view());
    return done;
  }
  template <update_kind Op>
  update_report finish_graph(batch_input const& batch) {
    g_.link->is_pending = false;  // also if this throws
    auto const all = g_.all_tables();
    std::size_t const size = batch.size;
    typename state::restart how{.bytes = most_bytes(size)};
    update_status const* s = complete<Op>(all, how);
    while (s == nullptr) {
      // If the batch then has no room, and the pool cannot grow, pages are written once more, with the least room.
      how = {.bytes = g_.next_layout.is_last ? state::never : how.bytes, .if_full = true};
      // If that fails, the pool must grow. The counters start again, so that not each update tries it.
      if (!g_.can_relayout(g_.next_layout)) g_.changes = g_.erased = 0;
      launch<Op>(batch);
      s = complete<Op>(all, how);
    }
    if (s->out_of_range > 0) refuse(batch, s->out_of_range);
    if (s->no_weights > 0) refuse_weights(batch);
    return report<Op>(size, *s);
  }
  // After a plan, if attached results need weights. In-neighbours have the same values.
  template <class ForTables>
  void check_weights([[maybe_unused]] ForTables const& for_these) {
    if constexpr (has_values)
      if (g_.results.needs_weights())
        for_these([&](auto& table) { table.template check_weights<width>(g_.numbers(), g_.status.data()); });
  }
  // may_stay: if an allocation fails, a vertex whose page has room for its neighbours stays in that page.
  template <update_kind Op, class ForTables>
  void execute(ForTables const& for_these, bool may_stay) {
    for_these(
        [&](auto& table) { table.allocate(g_.allocator->view(), Op, g_.fails_from, may_stay, g_.status.data()); });
    for_these([&](auto& table) {
      if constexpr (Op == update_kind::mixed)
        table.template merge_entries<width>(g_.status.data());
      else
        table.template merge<Op>(g_.status.data());
    });
    for_these([&](auto& table) { table.release(g_.allocator->view(), g_.status.data(), false); });
    g_.status.enqueue_read();
  }
  // The maximum bytes of pages that a batch of `edges` edges needs after a new layout.
  [[nodiscard]] std::uint64_t most_bytes(std::size_t edges) const {
    return (g_.settings.directed && !g_.in ? 2 : 4) * entry_bytes(width) * edges;
  }
  // Throws the error for a batch that would give an edge a value that is no weight. Names the first such entry if the
  // last entry of an edge decides; else values are combined with those of the graph, so any entry may be the reason.
  [[noreturn]] void refuse_weights(batch_input const& batch) const {
    std::string const rule = "; attached results need weights, finite and not negative; nothing was changed";
    if constexpr (has_values && std::is_void_v<Combine>)
      if (g_.settings.combine == combiner::latest) {
        host_copies const there(g_.space, !exec::has_tiles<Space>);
        auto const values = there.of(static_cast<value_word<width> const*>(g_.there.values), batch.size);
        host_copies const copies(g_.space, batch.is_on_host || !exec::has_tiles<Space>);
        std::vector<operation> operations(batch.size, batch.all);
        if (batch.operations != nullptr) operations = copies.of(batch.operations, batch.size).to_vector();
        with_entries<Value>(copies, batch, [&](auto const& source, auto const& target) {
          // The last entries with wrong values, without those that later ones replace.
          auto const edge_of = [&](std::size_t i) {
            auto const u = static_cast<std::uint64_t>(source(i));
            auto const v = static_cast<std::uint64_t>(target(i));
            return g_.settings.directed || u < v ? std::pair(u, v) : std::pair(v, u);
          };
          std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t> wrong;
          for (std::size_t i = 0; i < batch.size; ++i)
            if (operations[i] == operation::insert && !is_weight<width>(values[i], g_.numbers()))
              if (auto const e = edge_of(i); e.first != e.second || g_.settings.self_loops) wrong[e] = i;
          for (std::size_t i = 0; i < batch.size; ++i)
            if (auto const at = wrong.find(edge_of(i)); at != wrong.end() && at->second < i) wrong.erase(at);
          std::size_t first = batch.size;
          for (auto const& [e, i] : wrong) first = std::min(first, i);
          if (first < batch.size)
            throw refused_entry(first, "(" + id_text(source(first)) + ", " + id_text(target(first)) +
                                           "), whose value is no weight" + rule);
        });
      }
    throw error(error_code::bad_argument, "values of edges, combined with those of the batch, are no weights" + rule);
  }
  // Throws the error for the first entry of a batch that is refused; there are `count`.
  [[noreturn]] void refuse(batch_input const& batch, std::uint64_t count) const {
    host_copies const copies(g_.space, batch.is_on_host || !exec::has_tiles<Space>);
    refusal_rule rule{g_.vertices, {}, {}, batch.all};
    if (g_.absent.size() > 0) rule.records = exec::copy_out(g_.space, g_.out.records(), g_.vertices);
    if (batch.operations != nullptr) rule.operations = copies.of(batch.operations, batch.size).to_vector();
    with_entries<Value>(copies, batch,
                        [&](auto const& source, auto const& target) { refuse_first(rule, source, target, count); });
    throw error(error_code::corrupt, "an update was refused without a reason");
  }

  template <update_kind Op>
  update_report report(std::size_t requested, update_status const& s) {
    update_status::sums const all = s.total();
    g_.changes += requested;
    update_report r;
    r.requested = requested;
    r.self_loops = g_.settings.self_loops ? 0 : all.self_loops;
    r.duplicates = r.requested - all.distinct - r.self_loops;
    g_.arc_count += Op == update_kind::erase ? 0 - all.arcs : all.arcs;
    g_.least_arcs = std::min(g_.least_arcs, g_.arc_count);
    if constexpr (Op == update_kind::insert) {
      r.inserted = all.edges;
      r.unchanged = all.distinct - all.edges;
    } else if constexpr (Op == update_kind::erase) {
      r.erased = all.edges;
      r.missing = all.distinct - all.edges;
    } else {
      r.inserted = all.edges;
      r.updated = all.updated;
      r.erased = all.erased;
      r.missing = all.missing;
      r.unchanged = all.distinct - r.inserted - r.updated - r.erased - r.missing;
    }
    g_.edge_count += r.inserted - r.erased;
    g_.erased += r.erased;
    return r;
  }
  [[nodiscard]] auto combine() const {
    if constexpr (std::is_void_v<Combine>)
      return standard_combiner<width>{g_.settings.combine, g_.numbers()};
    else
      return typed_combiner<Value, Combine>{};
  }

  state& g_;
};

}  // namespace wyrm::graph::detail
