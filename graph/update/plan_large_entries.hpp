// SPDX-License-Identifier: Apache-2.0
// The plan of an entry_batch in which a source group is too large for one tile. It has the same result as plan_entries,
// but its steps distribute the work by arcs, not by groups, like plan_large_groups: all arcs are sorted by group,
// target and entry; the last arc of each edge is looked up; prefix sums over the arcs with the same effect yield their
// numbers.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "../../exec/bulk.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../batch/group.hpp"
#include "../batch/status.hpp"
#include "../view.hpp"
#include "plan_entries.hpp"
#include "plan_large_groups.hpp"

namespace wyrm::graph::detail {

/// The arcs of an entry_batch, sorted.
struct sorted_entries {
  std::uint64_t* keys;     // begin of the source group << id_bits | target
  std::uint32_t* entries;  // for each arc, the number of its entry
  std::uint32_t* owners;   // for the first arc of a source group, the number of the group
  std::size_t arcs;
  unsigned id_bits;

  [[nodiscard]] WYRM_HD std::uint32_t begin(std::size_t i) const {
    return static_cast<std::uint32_t>(keys[i] >> id_bits);
  }
  /// The key of the arc in an entry_batch.
  [[nodiscard]] WYRM_HD std::uint64_t key(std::size_t i) const {
    return entry_batch::key(static_cast<vertex_id>(keys[i] & ((std::uint64_t{1} << id_bits) - 1)), entries[i]);
  }
  [[nodiscard]] WYRM_HD bool decides(std::size_t i) const { return i + 1 == arcs || keys[i + 1] != keys[i]; }
};

/// One thread per edge: writes its arcs in the order of the batch. Arcs that are dropped come last in the sort.
struct list_arcs {
  batch_view batch;
  sorted_entries to;
  WYRM_HD void operator()(std::size_t i) const {
    std::size_t const each = arcs_of(batch.which, 1);
    for (std::size_t k = 0; k < each; ++k) {
      arc_place const p = batch.places[each * i + k];
      edge const e = batch.edges[i];
      bool const forward = batch.which == orientation::forward || (batch.which == orientation::both && k == 0);
      to.keys[each * i + k] =
          p.slot == no_slot ? ~std::uint64_t{0}
                            : std::uint64_t{batch.table.counts[p.slot]} << to.id_bits | (forward ? e.target : e.source);
      to.entries[each * i + k] = static_cast<std::uint32_t>(i);
    }
  }
};

/// One thread per source group: writes its arcs, which a CPU has grouped in the order of the batch.
struct list_grouped_arcs {
  entry_batch batch;
  sorted_entries to;
  WYRM_HD void operator()(std::size_t s) const {
    source_group const g = batch.arcs.groups[s];
    for (std::uint32_t i = g.begin; i < g.begin + g.size; ++i) {
      to.keys[i] = std::uint64_t{g.begin} << to.id_bits | entry_batch::target(batch.keys[i]);
      to.entries[i] = static_cast<std::uint32_t>(batch.keys[i]);
    }
  }
};

/// The numbers of arcs with an effect: `before` has, for each arc and for the end, the number of such arcs before it.
struct effect_counts {
  std::uint32_t* is;
  std::uint64_t* before;
  [[nodiscard]] WYRM_HD std::uint32_t between(std::size_t first, std::size_t last) const {
    return static_cast<std::uint32_t>(before[last] - before[first]);
  }
};

template <unsigned Width, class Combine>
struct large_entry_step {
  sorted_entries arcs;
  entry_batch batch;
  Combine combine;
  packed_record const* records;
  snapshot_records newest;  // see is_shared
  update_status* status;
  unsigned which;
  effect_counts adds;
  effect_counts updates;
  effect_counts erases;

  using result = typename entry_effects<Width, Combine>::result;
  [[nodiscard]] WYRM_HD vertex_id source_of(std::size_t i) const {
    return batch.arcs.groups[arcs.owners[arcs.begin(i)]].source;
  }
  [[nodiscard]] WYRM_HD result effect_of(std::size_t i) const {
    return entry_effects<Width, Combine>{batch, combine}.of(
        records[source_of(i)], [&](std::size_t k) { return arcs.key(k); }, arcs.begin(i), i);
  }
};

/// One lane per arc: determines its effect.
template <unsigned Width, class Combine>
struct find_effects {
  large_entry_step<Width, Combine> all;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    effect what = effect::none;
    bool counted = false;
    if (valid) {
      if (all.arcs.decides(i)) {
        what = all.effect_of(i).what;
        counted = all.batch.arcs.which != orientation::both || all.source_of(i) <= entry_batch::target(all.arcs.key(i));
      }
      all.adds.is[i] = what == effect::adds;
      all.updates.is[i] = what == effect::updates;
      all.erases.is[i] = what == effect::erases;
    }
    if (all.which > 0) return;  // the second table has the same edges
    update_status::sums sums{};
    sums.edges = number(t.ballot(counted && what == effect::adds));
    sums.updated = number(t.ballot(counted && what == effect::updates));
    sums.erased = number(t.ballot(counted && what == effect::erases));
    sums.missing = number(t.ballot(counted && what == effect::misses));
    sums.distinct = number(t.ballot(counted));
    if (t.rank() == 0) all.status->sum_up(t, sums);
  }

 private:
  WYRM_HD static std::uint64_t number(std::uint32_t lanes) {
    return static_cast<std::uint64_t>(cuda::std::popcount(lanes));
  }
};

/// One thread per arc: records its effect.
template <unsigned Width, class Combine>
struct record_effects {
  large_entry_step<Width, Combine> all;
  WYRM_HD void operator()(std::size_t i) const {
    if ((all.adds.is[i] | all.updates.is[i] | all.erases.is[i]) == 0) return;
    std::uint32_t const begin = all.arcs.begin(i);
    std::uint32_t const size = all.batch.arcs.groups[all.arcs.owners[begin]].size;
    change_lists<Width>(all.batch, begin, size)
        .record(all.effect_of(i), entry_batch::target(all.arcs.key(i)), all.adds.between(begin, i),
                all.updates.between(begin, i), all.erases.between(begin, i));
  }
};

/// One thread per source group: writes its plan.
template <unsigned Width, class Combine>
struct plan_sorted_entries {
  large_entry_step<Width, Combine> all;
  mixed_plan* plans;
  WYRM_HD void operator()(std::size_t s) const {
    source_group const g = all.batch.arcs.groups[s];
    std::size_t const end = std::size_t{g.begin} + g.size;
    mixed_plan plan{};  // without sums, which find_effects has already added to the status
    plan.changed = all.adds.between(g.begin, end);
    plan.updated = all.updates.between(g.begin, end);
    plan.erased = all.erases.between(g.begin, end);
    vertex_record const r = all.records[g.source];
    plan.capacity =
        capacity_to_allocate<Width>(r, plan, is_shared(all.newest, g.source, r.page), all.batch.arcs.in_place);
    plans[s] = plan;
  }
};

template <class Space>
class large_entry_plan {
 public:
  explicit large_entry_plan(Space const& space)
      : space_(space), bulk_(space), keys_(space), entries_(space), owners_(space), effects_(space), before_(space) {}

  /// Plans a batch of `groups` source groups and `arcs` arcs, with the result of plan_entries.
  template <unsigned Width, class Combine>
  void make(entry_batch const& batch, Combine const& combine, std::uint32_t groups, std::uint32_t arcs,
            packed_record const* records, snapshot_records newest, vertex_id vertices, mixed_plan* plans,
            update_status* status, unsigned which) {
    if (arcs == 0) return;
    std::size_t const listed = exec::has_tiles<Space> ? arcs_of(batch.arcs.which, batch.arcs.size) : arcs;
    std::size_t const sums = std::size_t{arcs} + 1;
    keys_.reserve(2 * listed);
    entries_.reserve(2 * listed);
    owners_.reserve(arcs);
    effects_.reserve(3 * std::size_t{arcs});
    before_.reserve(3 * sums);
    auto const id_bits = static_cast<unsigned>(std::bit_width(vertices));
    sorted_entries sorted{keys_.data(), entries_.data(), owners_.data(), arcs, id_bits};
    if constexpr (exec::has_tiles<Space>)
      exec::for_each(space_, batch.arcs.size, list_arcs{batch.arcs, sorted});
    else
      exec::for_each(space_, groups, list_grouped_arcs{batch, sorted});
    exec::for_each(space_, groups, own_arcs{batch.arcs.groups, owners_.data()});
    // One bit more than the keys of arcs have, so that the keys of dropped arcs are greater.
    unsigned const bits = id_bits + static_cast<unsigned>(std::bit_width(arcs)) + 1;
    exec::sorted_pairs const pairs = bulk_.sort_pairs(keys_.data(), keys_.data() + listed, entries_.data(),
                                                      entries_.data() + listed, listed, bits < 64 ? bits : 64);
    sorted.keys = pairs.keys;
    sorted.entries = pairs.values;
    std::uint32_t* const is = effects_.data();
    std::uint64_t* const before = before_.data();
    large_entry_step<Width, Combine> const step{sorted,
                                                batch,
                                                combine,
                                                records,
                                                newest,
                                                status,
                                                which,
                                                {is, before},
                                                {is + arcs, before + sums},
                                                {is + 2 * std::size_t{arcs}, before + 2 * sums}};
    exec::for_each_lane<32>(space_, arcs, find_effects<Width, Combine>{step});
    bulk_.inclusive_sum(step.adds.is, step.adds.before, arcs);
    bulk_.inclusive_sum(step.updates.is, step.updates.before, arcs);
    bulk_.inclusive_sum(step.erases.is, step.erases.before, arcs);
    exec::for_each(space_, arcs, record_effects<Width, Combine>{step});
    exec::for_each(space_, groups, plan_sorted_entries<Width, Combine>{step, plans});
  }

  [[nodiscard]] std::size_t bytes() const {
    return bulk_.bytes() + keys_.bytes() + entries_.bytes() + owners_.bytes() + effects_.bytes() + before_.bytes();
  }

 private:
  Space space_;
  typename Space::bulk bulk_;
  exec::buffer<std::uint64_t, Space> keys_;
  exec::buffer<std::uint32_t, Space> entries_;
  exec::buffer<std::uint32_t, Space> owners_;
  exec::buffer<std::uint32_t, Space> effects_;
  exec::buffer<std::uint64_t, Space> before_;
};

}  // namespace wyrm::graph::detail
