// SPDX-License-Identifier: Apache-2.0
// The construction of a graph from a CSR: pages are allocated and filled in the order of the vertices, without plans.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "../exec/error.hpp"
#include "batch/status.hpp"
#include "graph_state.hpp"
#include "inspect/check.hpp"
#include "layout/layout.hpp"
#include "table/pool_growth.hpp"
#include "types.hpp"
#include "update/check_weights.hpp"
#include "update_engine.hpp"
#include "update_report.hpp"

namespace wyrm::graph::detail {

/// A reference to the state of a graph. Combine: see dynamic_graph.
template <class Space, class Allocator, class Value, class Combine>
class csr_build {
 public:
  using state = graph_state<Space, Allocator, Value>;

  explicit csr_build(state& g) : g_(g) {}

  /// See dynamic_graph::build(). Csr: csr_view or resident_csr.
  template <class Csr>
  update_report run(Csr const& rows, Value const* values) {
    typename Space::guard const current(g_.space);
    g_.require_idle();
    if (g_.arc_count > 0)
      throw error(error_code::bad_argument, "a CSR is for a graph without edges, and this one has " +
                                                std::to_string(g_.edge_count) + "; clear() it, or insert edges");
    if (g_.absent.size() > 0)
      throw error(error_code::bad_argument, "a CSR is for a graph with all its vertices, and " +
                                                std::to_string(g_.absent.size()) +
                                                " were removed from this one; add_vertices(), or insert edges");
    check_sizes(rows);
    if (g_.vertices == 0) return {};
    g_.collect();
    csr_rows const there = g_.uploader.room_for(rows);
    g_.results.before_replacement(g_.view(), there.arcs);
    g_.or_undo([&] { build_tables(rows, there, values); });
    g_.results.after(g_.view());
    update_report r;
    r.requested = r.inserted = g_.edge_count;
    return r;
  }

 private:
  static constexpr unsigned width = state::width;
  static constexpr bool has_values = state::has_values;

  template <class Csr>
  void build_tables(Csr const& rows, csr_rows const& there, Value const* values) {
    try {
      value_word<width> const* const words = upload_values(rows, there, values);
      if constexpr (has_values)
        if (g_.results.needs_weights()) check_weights(words, there.arcs);
      std::uint64_t const self_loops = build_layout(rows, there, words);
      if (!g_.settings.directed) check_mirrored();
      if (g_.in) insert_reverse(there, words);
      g_.arc_count = there.arcs;
      g_.edge_count = g_.settings.directed ? there.arcs : (there.arcs + self_loops) / 2;
      g_.changes = g_.erased = g_.churn_size = 0;
      g_.least_arcs = g_.arc_count;
    } catch (...) {
      g_.space.wait_for_all();  // for copies from the CSR, as the caller may free it
      g_.remove_all();
      throw;
    }
    g_.identity.change();
  }
  [[nodiscard]] value_word<width> const* upload_values(csr_view const&, csr_rows const& rows, Value const* values) {
    if constexpr (!has_values) return nullptr;
    return static_cast<value_word<width> const*>(g_.uploader.upload_values(values, rows.arcs * width));
  }
  [[nodiscard]] value_word<width> const* upload_values(resident_csr const&, csr_rows const&,
                                                       Value const* values) const {
    return reinterpret_cast<value_word<width> const*>(values);
  }
  void check_weights(value_word<width> const* values, std::uint64_t n) {
    if (n == 0) return;
    exec::buffer<std::uint64_t, Space> count(g_.space, 1);
    g_.space.fill(count.data(), 0, count.bytes());
    exec::for_each_lane<32>(g_.space, n, count_no_weights<width>{values, g_.numbers(), count.data()});
    if (std::uint64_t const wrong = exec::read(g_.space, count.data()); wrong > 0)
      throw error(error_code::bad_argument, "values of the CSR are no weights (" + std::to_string(wrong) +
                                                " in all); attached results need weights, finite and not negative; "
                                                "nothing was changed");
  }
  void check_sizes(resident_csr const&) const {}
  void check_sizes(csr_view const& rows) const {
    if (rows.offsets.size() != std::size_t{g_.vertices} + 1 || rows.offsets.back() != rows.targets.size())
      throw error(error_code::bad_argument, "a CSR of " + std::to_string(rows.offsets.size()) + " offsets and " +
                                                std::to_string(rows.targets.size()) +
                                                " targets does not fit a graph of " + std::to_string(g_.vertices) +
                                                " vertices: it must have one offset more than vertices, and the last "
                                                "offset must be the number of targets");
  }
  // Enqueues all steps before it waits, and enqueues them again after the pool has grown. Returns the number of
  // self-loops.
  template <class Csr>
  std::uint64_t build_layout(Csr const& rows, csr_rows const& there, value_word<width> const* values) {
    g_.status.clear_all();
    layout<Space, csr_rows> layout(g_.space, there, g_.vertices, there.arcs, g_.settings.self_loops, g_.new_sizes(),
                                   g_.snapshots->empty(), g_.out.records(), g_.hubs, g_.status);
    g_.uploader.upload(rows, g_.vertices, [&](std::size_t first, std::size_t n) {
      layout.build(g_.allocator->view(), first, n, false, g_.fails_from);
    });
    for (pool_growth<Allocator> memory(*g_.allocator, g_.fails_from != state::never);;) {
      layout.build_hubs();
      update_status const& s = g_.status.read();
      if (s.out_of_range > 0)
        throw error(error_code::bad_argument,
                    "row " + std::to_string(~s.first_out_of_range) + " of the CSR is wrong (" +
                        std::to_string(s.out_of_range) +
                        " such rows in all): offsets must ascend from 0 to the number of targets, and targets in each "
                        "row, ids below " +
                        std::to_string(g_.vertices) + (g_.settings.self_loops ? "" : ", no self-loops") +
                        "; nothing was changed");
      if (s.failed_bytes == 0) {
        if constexpr (has_values) layout.template copy_values<width>(csr_values<width>{there.offsets, values});
        return s.total().self_loops;
      }
      std::uint64_t const missing = s.failed_bytes;
      g_.status.clear_failures();
      if (!memory.compact_if_free(missing)) memory.find(missing, std::size_t{256} << 10, 0);
      layout.build(g_.allocator->view(), 0, g_.vertices, true, g_.fails_from);
    }
  }
  void check_mirrored() const {
    try {
      (void)check_table(g_.space, g_.out.records(), g_.out.records(), g_.vertices, g_.settings.self_loops);
      if constexpr (has_values) check_mirrored_values<width>(g_.space, g_.out.records(), g_.out.records(), g_.vertices);
    } catch (error const& e) {
      if (e.code() != error_code::corrupt) throw;
      throw error(error_code::bad_argument,
                  "the CSR of an undirected graph must have both directions of each edge, with the same value; "
                  "nothing was changed (" +
                      std::string(e.what()) + ")");
    }
  }
  // Inserts in-neighbours in batches. Arcs are in the order of sources, so neighbour lists grow at their ends.
  void insert_reverse(csr_rows const& rows, value_word<width> const* values) {
    constexpr update_kind kind = has_values ? update_kind::mixed : update_kind::insert;
    std::size_t const slice = g_.build_slice > 0 ? g_.build_slice : slice_for(rows.arcs);
    update_engine<Space, Allocator, Value, Combine> engine(g_);
    auto const only_in = [&](auto const& f) { f(*g_.in); };
    for (std::uint64_t first = 0; first < rows.arcs; first += slice) {
      resident_edges const edges =
          g_.uploader.list(rows, g_.vertices, first, std::min<std::uint64_t>(slice, rows.arcs - first));
      g_.status.clear();
      g_.in->begin({edges.data, edges.size, has_values ? values + first : nullptr}, 0, has_values, orientation::reverse,
                   g_.settings.self_loops, first, g_.status.data());
      g_.in->count(0, edges.size);
      engine.template start<kind>(only_in, [] {});
      engine.template complete<kind>(only_in);
    }
  }

  state& g_;
};

}  // namespace wyrm::graph::detail
