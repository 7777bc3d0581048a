// SPDX-License-Identifier: Apache-2.0
// The plan of a batch on a CPU. A thread that has loaded the page of a vertex into its cache makes small changes
// immediately, instead of planning them and loading the page again later.
// Most lists of neighbours fit into a register of a CPU with AVX-512; the targets for other lists are sorted.
//  - Insertions are undone if an allocation for another vertex fails, so a page that an insertion replaces is freed
//    only after the batch.
//  - Erasures need no memory, because a vertex can stay in a page that is too large, so a page that an erasure replaces
//    is freed in this step, after its list has been copied.
//  - A page that a snapshot references is never changed here. Erasures need memory to replace such pages, so no erasure
//    is executed here while there is a snapshot.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "../../exec/atomic.hpp"
#include "../batch/group.hpp"
#include "../batch/status.hpp"
#include "../table/page_size.hpp"
#include "../view.hpp"
#include "page_edit.hpp"
#include "plan.hpp"
#include "sorted_values.hpp"

namespace wyrm::graph::detail {

// The number of source groups that a CPU thread processes at a time.
inline constexpr std::uint32_t groups_per_thread = 256;
// A longer list is changed by several threads in a later step (see hubs.hpp), and a batch with a source group of more
// arcs is planned by plan_large_groups.
inline constexpr std::uint32_t long_on_host = 1u << 14;

/// One CPU thread for groups_per_thread source groups: executes small changes, plans the other groups, lists groups
/// whose page must be allocated or freed, and sums the changes. Pages are replaced many at a time: an atomic operation
/// of the allocator waits until all earlier writes have reached the cache, and new pages are seldom there.
template <update_kind Op, class AllocatorRef>
struct plan_on_host {
  static constexpr std::size_t grain = 4;
  plan_groups<Op, false, false> step;
  AllocatorRef allocator;
  std::uint64_t fails_from;  // see allocate_pages

  template <class Tile>
  void operator()(Tile const& t, std::size_t group) const {
    if (step.status->is_refused()) return;
    std::uint32_t const groups = step.status->groups(step.which);
    std::uint32_t const first = static_cast<std::uint32_t>(group) * groups_per_thread;
    progress of;
    std::uint32_t const end = groups < first + groups_per_thread ? groups : first + groups_per_thread;
    // Prefetches records and pages of later groups, because no other threads hide the latency. (GCC removes calls of a
    // function that only prefetches. Groups of other threads are not prefetched, because these threads may change their
    // records.) A record may extend over two cache lines.
    std::uint32_t next_record = first;
    std::uint32_t next_page = first;
    for (std::uint32_t s = first; s < end; ++s) {
      for (; next_record < end && next_record <= s + 2 * ahead; ++next_record) {
        auto const* const record = reinterpret_cast<char const*>(step.records + step.batch.groups[next_record].source);
        __builtin_prefetch(record, 1);
        __builtin_prefetch(record + sizeof(packed_record) - 1, 1);
      }
      for (; next_page < end && next_page <= s + ahead; ++next_page) {
        vertex_record const r = step.records[step.batch.groups[next_page].source];
        for (std::uint32_t k = 0; k < r.degree && k < 128; k += 16) __builtin_prefetch(r.page + k, 1);
      }
      change(s, of);
      if (of.moves == moves_at_once) replace_pages(t, of);
    }
    replace_pages(t, of);
    // The second table has the same edges.
    if (step.which == 0) step.status->sum_up(t, of.sums.arcs, of.sums.edges, of.sums.distinct);
    if (of.listed == 0) return;
    exec::atomic_ref<std::uint64_t> const list(step.status->lists[step.which]);
    std::uint64_t const at = list.fetch_add(std::uint64_t{of.listed} << 32 | of.waiting, exec::relaxed) >> 32;
    for (std::uint32_t k = 0; k < of.listed; ++k) step.lists.reallocations[at + k] = of.reallocations[k];
  }

 private:
  static constexpr std::uint32_t ahead = 16;
  static constexpr std::uint32_t at_once = 64;  // arcs that are looked up before the next ones
  static constexpr std::uint32_t moves_at_once = 64;

  // A vertex whose page is replaced.
  struct move {
    vertex_record from;
    vertex_id* page;  // the new one; after replace_page() the one to free
    std::uint32_t capacity;
    std::uint32_t group;
    group_plan plan;
    bool is_few;                 // then the new list is
    vertex_id list[few_values];  // here; otherwise its changes are in the batch
  };
  // Of a thread.
  struct progress {
    std::uint32_t listed = 0;
    std::uint32_t waiting = 0;  // groups that are changed in later steps; counted in place of heavy changes
    std::uint32_t moves = 0;
    update_status::sums sums{};
    std::uint32_t reallocations[groups_per_thread];
    move move_of[moves_at_once];
  };

  void change(std::uint32_t s, progress& of) const {
    source_group const g = step.batch.groups[s];
    vertex_record const r = step.records[g.source];
    bool const waits = Op == update_kind::erase ? !step.newest.none() : is_shared(step.newest, g.source, r.page);
    std::uint32_t const longest = Op == update_kind::insert ? r.degree + g.size : std::max(r.degree, g.size);
    if (waits || longest > few_values)
      change_many(s, g, r, waits, of);
    else
      change_few(s, g, r, of);
  }
  // Adds a plan that is complete.
  void add(std::uint32_t s, group_plan const& plan, progress& of) const {
    // With a snapshot, erasures are executed by the merge.
    bool const merges = Op == update_kind::erase && plan.capacity == keep && plan.changed > 0;
    of.reallocations[of.listed] = s;
    of.listed += is_capacity(plan.capacity) || plan.replaced != 0 || merges;
    of.waiting += is_capacity(plan.capacity) || merges;
    of.sums.arcs += plan.changed;
    of.sums.edges += plan.edges;
    of.sums.distinct += plan.distinct;
  }

  // Changes a list that fits into a register.
  void change_few(std::uint32_t s, source_group const& g, vertex_record const& r, progress& of) const {
    vertex_id* const targets = step.batch.targets + g.begin;
    move& m = of.move_of[of.moves];
    vertex_id* const to = Op == update_kind::insert && r.degree + g.size > r.capacity ? m.list : r.page;
    std::uint32_t const changes = Op == update_kind::insert ? insert_few(r.page, r.degree, targets, g.size, to)
                                                            : erase_few(r.page, r.degree, targets, g.size, to);
    group_plan plan = no_change();
    for (std::uint32_t k = 0; k < g.size; ++k) {
      vertex_id const target = targets[k];
      bool const changed = (changes >> k & 1) != 0;
      if (!step.undirected || g.source <= target) {
        plan.edges += changed;
        plan.distinct += changed || !is_repeated(targets, k);
      }
      if (!changed) continue;
      targets[k] = targets[plan.changed];  // arcs that change the graph move to the front of the group
      targets[plan.changed++] = target;
    }
    std::uint32_t const degree = degree_after<Op>(r.degree, plan.changed);
    if (!is_replaced(r, degree, plan.changed)) {
      if (to != r.page && plan.changed > 0) std::copy_n(to, degree, r.page);
      finish(s, g, {r.page, degree, r.capacity}, plan, of);
    } else {
      if (to != m.list) std::copy_n(to, degree, m.list);
      list_move(s, r, plan, degree, true, of);
    }
  }
  [[nodiscard]] static bool is_repeated(vertex_id const* targets, std::uint32_t k) {
    bool repeated = false;
    for (std::uint32_t i = 0; i < k; ++i) repeated |= targets[i] == targets[k];
    return repeated;
  }

  // Sorts the targets, and finds them in the list. Then changes the list, or plans that.
  void change_many(std::uint32_t s, source_group const& g, vertex_record const& r, bool waits, progress& of) const {
    vertex_id* const targets = step.batch.targets + g.begin;
    std::uint32_t* const positions = step.batch.positions + g.begin;
    vertex_id const* const sorted = sort_values(targets, positions, g.size);
    group_plan plan = no_change();
    std::uint32_t below = 0;
    vertex_id last = no_vertex;
    for (std::uint32_t first = 0; first < g.size; first += at_once) {
      std::uint32_t const n = std::min(g.size - first, at_once);
      vertex_id values[at_once];  // a copy, as targets or positions are overwritten
      std::uint32_t at[at_once];
      std::copy_n(sorted + first, n, values);
      find_lower_bounds(r.page + below, r.degree - below, values, n, at);
      for (std::uint32_t k = 0; k < n; ++k) {
        found_arc const found = found_at<Op>(r, values[k], below + at[k]);
        bool const counts = values[k] != last;
        bool const is_edge = counts && (!step.undirected || g.source <= values[k]);
        last = values[k];
        plan.distinct += is_edge;
        if (!counts || !found.changes) continue;
        plan.edges += is_edge;
        record_arc<Op>(step.batch, g.begin, plan.changed++, values[k], found.at);
      }
      below += at[n - 1];
    }
    std::uint32_t const degree = degree_after<Op>(r.degree, plan.changed);
    if (waits || std::max(r.degree, degree) > long_on_host) {
      wait(s, r, plan, of);
    } else if (is_replaced(r, degree, plan.changed)) {
      list_move(s, r, plan, degree, false, of);
    } else {
      if (plan.changed > 0) write_many(r.page, g, r, plan);
      finish(s, g, {r.page, degree, r.capacity}, plan, of);
    }
  }
  void write_many(vertex_id* page, source_group const& g, vertex_record const& r, group_plan const& plan) const {
    std::uint32_t const* const positions = step.batch.positions + g.begin;
    if constexpr (Op == update_kind::insert)
      insert_at(page, r.page, r.degree, step.batch.targets + g.begin, positions, plan.changed);
    else
      erase_at(page, r.page, r.degree, positions, plan.changed);
  }

  // An insertion replaces no page that has room, not even one that is too large: it has changed that page already.
  [[nodiscard]] static bool is_replaced(vertex_record const& r, std::uint32_t degree, std::uint32_t changed) {
    return Op == update_kind::insert ? degree > r.capacity : changed > 0 && !keeps_page(r.capacity, degree);
  }
  // Leaves the change to later steps.
  void wait(std::uint32_t s, vertex_record const& r, group_plan& plan, progress& of) const {
    bool const shared = is_shared(step.newest, step.batch.groups[s].source, r.page);
    plan.capacity = capacity_to_allocate<Op>(r, plan.changed, shared, step.batch.in_place);
    record(s, plan);
    add(s, plan, of);
  }
  // After the list was written to the page of `now`.
  void finish(std::uint32_t s, source_group const& g, vertex_record const& now, group_plan& plan, progress& of) const {
    if (plan.changed > 0) {
      step.records[g.source] = now;
      plan.capacity = done;
    }
    if constexpr (Op == update_kind::insert) record(s, plan);  // for undo_changes
    add(s, plan, of);
  }
  void list_move(std::uint32_t s, vertex_record const& r, group_plan const& plan, std::uint32_t degree, bool is_few,
                 progress& of) const {
    move& m = of.move_of[of.moves++];
    m.from = r;
    m.capacity = capacity_for(degree);
    m.group = s;
    m.plan = plan;
    m.is_few = is_few;
  }

  template <class Tile>
  void replace_pages(Tile const& t, progress& of) const {
    std::uint32_t const moves = std::exchange(of.moves, 0);
    for (std::uint32_t k = 0; k < moves; ++k) {
      move& m = of.move_of[k];
      m.page = m.capacity > 0 ? allocate(t, m.group, m.capacity) : nullptr;
      for (std::uint32_t i = 0; m.page != nullptr && i < m.capacity && i < 128; i += 16)
        __builtin_prefetch(m.page + i, 1);
    }
    for (std::uint32_t k = 0; k < moves; ++k) replace_page(of.move_of[k], of);
    if constexpr (Op == update_kind::erase)
      for (std::uint32_t k = 0; k < moves; ++k) allocator.deallocate(t, of.move_of[k].page);
  }
  // Afterwards m.page is the page to free: the old one, if an erasure has replaced it.
  void replace_page(move& m, progress& of) const {
    source_group const g = step.batch.groups[m.group];
    vertex_record const r = m.from;
    bool const has_failed = m.page == nullptr && m.capacity > 0;
    if (Op == update_kind::insert && has_failed) {
      if (m.is_few)
        change_many(m.group, g, r, true, of);
      else
        wait(m.group, r, m.plan, of);
      return;
    }
    std::uint32_t const degree = degree_after<Op>(r.degree, m.plan.changed);
    vertex_record const now = has_failed ? vertex_record{r.page, degree, r.capacity}  // the old page has room
                                         : vertex_record{m.page, degree, m.capacity};
    if (m.is_few)
      std::copy_n(m.list, degree, now.page);
    else if (degree > 0)
      write_many(now.page, g, r, m.plan);
    if constexpr (Op == update_kind::insert) {
      m.plan.page = r.page;
      m.plan.replaced = r.capacity + 1;
    } else {
      m.page = has_failed ? nullptr : r.page;
    }
    finish(m.group, g, now, m.plan, of);
  }
  // The members that later steps read.
  void record(std::uint32_t s, group_plan const& plan) const {
    group_plan& to = step.plans[s];
    to.page = plan.page;
    to.capacity = plan.capacity;
    to.changed = plan.changed;
    to.replaced = plan.replaced;
  }
  template <class Tile>
  [[nodiscard]] vertex_id* allocate(Tile const& t, std::uint32_t s, std::uint32_t capacity) const {
    std::uint64_t const number = s + (step.which > 0 ? step.status->groups(0) : 0);
    if (number >= fails_from || step.status->is_exhausted(t)) return nullptr;
    auto* const page = static_cast<vertex_id*>(allocator.allocate(t, page_bytes(capacity)));
    if (page == nullptr) step.status->set_exhausted();
    return page;
  }
};

/// Reverts the insertions that were executed during the plan. A vertex whose page was replaced returns to its old page;
/// the new page is stored in the plan, to be freed.
struct undo_changes {
  batch_view batch;
  packed_record* records;
  group_plan* plans;
  update_status const* status;
  unsigned which;

  template <class Tile>
  void operator()(Tile const&, std::size_t s) const {
    if (s >= status->groups(which) || plans[s].capacity != done) return;
    group_plan& plan = plans[s];
    source_group const g = batch.groups[s];
    vertex_record r = records[g.source];
    if (plan.replaced != 0) {  // the old page is unchanged
      vertex_id* const page = r.page;
      r = {plan.page, r.degree - plan.changed, plan.replaced - 1};
      plan.page = page;
    } else {
      std::uint32_t* const positions = batch.positions + g.begin;
      vertex_id const* const sorted = sort_values(batch.targets + g.begin, positions, plan.changed);
      find_lower_bounds(r.page, r.degree, sorted, plan.changed, positions);
      erase_at(r.page, r.page, r.degree, positions, plan.changed);
      r.degree -= plan.changed;
    }
    records[g.source] = r;
    plan.capacity = keep;
  }
};

}  // namespace wyrm::graph::detail
