// SPDX-License-Identifier: Apache-2.0
// The plan of a batch on a CPU. A thread that has loaded the page of a vertex into its cache makes small changes
// immediately, instead of planning them and loading the page again later.
//  - Insertions are undone if an allocation for another vertex fails, so a page that an insertion replaces is freed
//    only after the batch.
//  - Erasures need no memory, because a vertex can stay in a page that is too large, so a page that an erasure replaces
//    is freed immediately.
//  - A page that a snapshot references is never changed here. Erasures need memory to replace such pages, so no erasure
//    is executed here while there is a snapshot.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../batch/group.hpp"
#include "../batch/status.hpp"
#include "../table/page_size.hpp"
#include "../view.hpp"
#include "page_edit.hpp"
#include "plan.hpp"
#include "sorted_values.hpp"

namespace wyrm::graph::detail {

inline constexpr std::uint32_t groups_per_thread = 64;  // number of source groups that a CPU thread processes at a time

/// One CPU thread for groups_per_thread source groups: executes small changes, plans the other groups, lists groups
/// whose page must be allocated or freed, and sums the changes.
template <update_kind Op, class AllocatorRef>
struct plan_on_host {
  static constexpr std::size_t grain = 8;
  plan_groups<Op, false, false> step;
  AllocatorRef allocator;
  std::uint64_t fails_from;  // see allocate_pages

  template <class Tile>
  void operator()(Tile const& t, std::size_t group) const {
    if (step.status->is_refused()) return;
    std::uint32_t const groups = step.status->groups(step.which);
    std::uint32_t const first = static_cast<std::uint32_t>(group) * groups_per_thread;
    std::uint32_t reallocations[groups_per_thread];
    std::uint32_t n = 0;
    update_status::sums sums{};
    std::uint32_t const end = groups < first + groups_per_thread ? groups : first + groups_per_thread;
    // Prefetches records, and pages of later groups, because no other threads hide the latency. (GCC removes calls of a
    // function that only prefetches. Groups of other threads are not prefetched, because these threads may change their
    // records.) Groups of a hash table are in random order; others are in the order of the records, which the CPU
    // prefetches by itself. A record may extend over two cache lines.
    for (std::uint32_t s = first; step.batch.table.keys != nullptr && s < end; ++s) {
      auto const* const record = reinterpret_cast<char const*>(step.records + step.batch.groups[s].source);
      __builtin_prefetch(record, 1);
      __builtin_prefetch(record + sizeof(packed_record) - 1, 1);
    }
    for (std::uint32_t next = first, s = first; s < end; ++s) {
      for (; next < end && next <= s + ahead; ++next) {
        vertex_record const r = step.records[step.batch.groups[next].source];
        for (std::uint32_t k = 0; k < r.degree && k < 128; k += 16) __builtin_prefetch(r.page + k, 1);
      }
      group_plan const plan = change(t, s);
      reallocations[n] = s;
      // With a snapshot, erasures are executed by the merge.
      bool const merges = Op == update_kind::erase && plan.capacity == keep && plan.changed > 0;
      n += is_capacity(plan.capacity) || plan.replaced != 0 || merges;
      sums.arcs += plan.changed;
      sums.edges += plan.edges;
      sums.distinct += plan.distinct;
    }
    // The second table has the same edges.
    if (step.which == 0) step.status->sum_up(t, sums.arcs, sums.edges, sums.distinct);
    if (n == 0) return;
    exec::atomic_ref<std::uint64_t> const list(step.status->lists[step.which]);
    std::uint64_t const at = list.fetch_add(std::uint64_t{n} << 32, exec::relaxed) >> 32;
    for (std::uint32_t k = 0; k < n; ++k) step.lists.reallocations[at + k] = reallocations[k];
  }

 private:
  static constexpr std::uint32_t ahead = 16;
  static constexpr std::uint32_t some = 8;  // maximum number of arcs that are processed without a sort

  template <class Tile>
  group_plan change(Tile const& t, std::uint32_t s) const {
    source_group const g = step.batch.groups[s];
    vertex_record const r = step.records[g.source];
    bool const waits = Op == update_kind::erase ? !step.newest.none() : is_shared(step.newest, g.source, r.page);
    if (waits || g.size > some || r.degree + g.size > hub_degree) return step.plan(t, s);
    if constexpr (Op == update_kind::insert)
      return insert(t, s, g, r);
    else
      return erase(t, s, g, r);
  }
  template <class Tile>
  group_plan insert(Tile const& t, std::uint32_t s, source_group const& g, vertex_record r) const {
    group_plan& plan = step.plans[s];
    std::uint32_t replaced = 0;
    vertex_id* old = nullptr;
    if (r.degree + g.size > r.capacity)
      if (std::uint32_t const degree = r.degree + new_targets(g, r); degree > r.capacity) {
        vertex_id* const page = allocate(t, s, capacity_for(degree));
        if (page == nullptr) return step.plan(t, s);
        copy_per_thread(r.page, page, r.degree);
        old = r.page;
        replaced = r.capacity + 1;
        r = {page, r.degree, capacity_for(degree)};
      }
    group_plan const made = change_page(g, r);
    plan.page = old;
    plan.capacity = done;
    plan.changed = made.changed;
    plan.replaced = replaced;
    return {{old, done, made.changed}, made.edges, made.distinct, 0, replaced};
  }
  template <class Tile>
  group_plan erase(Tile const& t, std::uint32_t s, source_group const& g, vertex_record const& r) const {
    group_plan const made = change_page(g, r);
    std::uint32_t const degree = r.degree - made.changed;
    if (made.changed == 0 || keeps_page(r.capacity, degree)) return made;
    std::uint32_t const capacity = capacity_for(degree);
    vertex_id* const page = capacity > 0 ? allocate(t, s, capacity) : nullptr;
    if (capacity > 0 && page == nullptr) return made;
    copy_per_thread(r.page, page, degree);
    step.records[g.source] = vertex_record{page, degree, capacity};
    allocator.deallocate(t, r.page);
    return made;
  }
  // Changes a page arc by arc; the page has room for all new arcs. Moves arcs that change the graph to the front of the
  // group.
  group_plan change_page(source_group const& g, vertex_record const& r) const {
    vertex_id* const targets = step.batch.targets + g.begin;
    group_plan plan{{nullptr, done, 0}, 0, 0, 0, 0};
    for (std::uint32_t k = 0; k < g.size; ++k) {
      vertex_id const target = targets[k];
      bool const counted = !step.undirected || g.source <= target;
      std::uint32_t const degree = degree_after<Op>(r.degree, plan.changed);
      bool const changes =
          Op == update_kind::insert ? insert_value(r.page, degree, target) : erase_value(r.page, degree, target);
      if (changes) {
        targets[k] = targets[plan.changed];
        targets[plan.changed++] = target;
        plan.edges += counted;
        plan.distinct += counted;
      } else if (counted) {
        plan.distinct += !is_repeated(targets, k);
      }
    }
    if (plan.changed > 0)
      step.records[g.source] = vertex_record{r.page, degree_after<Op>(r.degree, plan.changed), r.capacity};
    return plan;
  }
  [[nodiscard]] static bool is_repeated(vertex_id const* targets, std::uint32_t k) {
    bool repeated = false;
    for (std::uint32_t i = 0; i < k; ++i) repeated |= targets[i] == targets[k];
    return repeated;
  }
  [[nodiscard]] std::uint32_t new_targets(source_group const& g, vertex_record const& r) const {
    vertex_id const* const targets = step.batch.targets + g.begin;
    std::uint32_t n = 0;
    for (std::uint32_t k = 0; k < g.size; ++k)
      n += !is_repeated(targets, k) && !contains({r.page, r.degree}, targets[k]);
    return n;
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
      for (std::uint32_t k = 0; k < plan.changed; ++k) erase_value(r.page, r.degree--, batch.targets[g.begin + k]);
    }
    records[g.source] = r;
    plan.capacity = keep;
  }
};

}  // namespace wyrm::graph::detail
