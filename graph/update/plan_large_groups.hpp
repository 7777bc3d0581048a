// SPDX-License-Identifier: Apache-2.0
// The plan of a batch in which a source group is too large for one tile. It has the same result as plan_groups, but its
// steps distribute the work by arcs, not by groups: all arcs are sorted by group and target, each arc is looked up, and
// a prefix sum over the arcs that change the graph yields their positions.
#pragma once

#include <bit>
#include <cstdint>

#include "../../exec/bulk.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../batch/group.hpp"
#include "../batch/status.hpp"
#include "../view.hpp"
#include "plan.hpp"

namespace wyrm::graph::detail {

/// The arcs of a batch, sorted.
struct sorted_arcs {
  std::uint64_t const* keys;    // begin of the source group << id_bits | target
  std::uint32_t const* owners;  // for the first arc of a source group, the number of the group
  std::uint32_t* found;         // for each arc, its position in the page
  std::uint32_t* changes;       // for each arc, whether it changes the graph
  std::uint64_t const* before;  // for each arc, and for the end, the number of such arcs before it
  unsigned id_bits;

  [[nodiscard]] WYRM_HD std::uint32_t begin(std::size_t i) const {
    return static_cast<std::uint32_t>(keys[i] >> id_bits);
  }
  [[nodiscard]] WYRM_HD vertex_id target(std::size_t i) const {
    return static_cast<vertex_id>(keys[i] & ((std::uint64_t{1} << id_bits) - 1));
  }
  [[nodiscard]] WYRM_HD std::uint32_t changes_between(std::size_t first, std::size_t last) const {
    return static_cast<std::uint32_t>(before[last] - before[first]);
  }
};

/// One thread per edge: computes the keys of its arcs.
struct key_arcs {
  batch_view batch;
  std::uint64_t* keys;
  unsigned id_bits;
  WYRM_HD void operator()(std::size_t i) const {
    batch.for_arcs(i, [&](arc_place p, vertex_id target) {
      std::uint32_t const begin = batch.table.counts[p.slot];
      keys[begin + p.rank] = std::uint64_t{begin} << id_bits | target;
    });
  }
};

/// One thread per source group: computes the keys of its arcs, from targets that are grouped already.
struct key_groups {
  batch_view batch;
  std::uint64_t* keys;
  unsigned id_bits;
  WYRM_HD void operator()(std::size_t s) const {
    source_group const g = batch.groups[s];
    for (std::uint32_t i = g.begin; i < g.begin + g.size; ++i)
      keys[i] = std::uint64_t{g.begin} << id_bits | batch.targets[i];
  }
};

/// One thread per source group: writes its number for its first arc.
struct own_arcs {
  source_group const* groups;
  std::uint32_t* owners;
  WYRM_HD void operator()(std::size_t s) const { owners[groups[s].begin] = static_cast<std::uint32_t>(s); }
};

/// One lane per arc: looks it up in the page of its source.
template <update_kind Op>
struct find_arcs {
  sorted_arcs arcs;
  source_group const* groups;
  packed_record const* records;
  update_status* status;
  unsigned which;
  bool undirected;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    bool changes = false;
    bool counted = false;
    if (valid) {
      bool const repeated = i > 0 && arcs.keys[i - 1] == arcs.keys[i];
      vertex_id const source = groups[arcs.owners[arcs.begin(i)]].source;
      vertex_id const target = arcs.target(i);
      found_arc const found = find_arc<Op>(records[source], target);
      changes = !repeated && found.changes;
      counted = !repeated && (!undirected || source <= target);
      arcs.found[i] = found.at;
      arcs.changes[i] = changes;
    }
    if (which > 0) return;  // the second table has the same edges
    std::uint32_t const edges = t.ballot(changes && counted);
    std::uint32_t const distinct = t.ballot(counted);
    if (t.rank() == 0)
      status->sum_up(t, 0, static_cast<unsigned>(cuda::std::popcount(edges)),
                     static_cast<unsigned>(cuda::std::popcount(distinct)));
  }
};

/// One thread per arc: records it if it changes the graph.
template <update_kind Op>
struct record_arcs {
  sorted_arcs arcs;
  batch_view batch;
  WYRM_HD void operator()(std::size_t i) const {
    if (arcs.changes[i] == 0) return;
    std::uint32_t const begin = arcs.begin(i);
    record_arc<Op>(batch, begin, arcs.changes_between(begin, i), arcs.target(i), arcs.found[i]);
  }
};

/// One thread per source group: writes its plan.
template <update_kind Op>
struct plan_sorted {
  sorted_arcs arcs;
  source_group const* groups;
  packed_record const* records;
  snapshot_records newest;
  group_plan* plans;
  std::uint32_t in_place;  // see batch_view
  WYRM_HD void operator()(std::size_t s) const {
    source_group const g = groups[s];
    std::uint32_t const changed = arcs.changes_between(g.begin, std::size_t{g.begin} + g.size);
    vertex_record const r = records[g.source];
    bool const shared = is_shared(newest, g.source, r.page);
    plans[s] = {{nullptr, capacity_to_allocate<Op>(r, changed, shared, in_place), changed}, 0, 0, 0, 0};
  }
};

template <class Space>
class large_group_plan {
 public:
  explicit large_group_plan(Space const& space)
      : space_(space), bulk_(space), keys_(space), spare_(space), owners_(space), before_(space) {}

  /// Plans a batch of `groups` source groups and `arcs` arcs, with the result of plan_groups.
  template <update_kind Op>
  void make(batch_view const& batch, std::uint32_t groups, std::uint32_t arcs, packed_record const* records,
            snapshot_records newest, vertex_id vertices, group_plan* plans, update_status* status, unsigned which) {
    if (arcs == 0) return;
    keys_.reserve(arcs);
    spare_.reserve(arcs);
    owners_.reserve(arcs);
    before_.reserve(std::size_t{arcs} + 1);
    auto const id_bits = static_cast<unsigned>(std::bit_width(vertices));
    if constexpr (exec::has_tiles<Space>)
      exec::for_each(space_, batch.size, key_arcs{batch, keys_.data(), id_bits});
    else
      exec::for_each(space_, groups, key_groups{batch, keys_.data(), id_bits});
    exec::for_each(space_, groups, own_arcs{batch.groups, owners_.data()});
    auto const bits = id_bits + static_cast<unsigned>(std::bit_width(arcs));
    std::uint64_t const* const keys = bulk_.sort(keys_.data(), spare_.data(), arcs, bits);
    auto* const left = reinterpret_cast<std::uint32_t*>(keys == keys_.data() ? spare_.data() : keys_.data());
    sorted_arcs const sorted{keys, owners_.data(), left, left + arcs, before_.data(), id_bits};
    exec::for_each_lane<32>(
        space_, arcs, find_arcs<Op>{sorted, batch.groups, records, status, which, batch.which == orientation::both});
    bulk_.inclusive_sum(sorted.changes, before_.data(), arcs);
    exec::for_each(space_, arcs, record_arcs<Op>{sorted, batch});
    exec::for_each(space_, groups, plan_sorted<Op>{sorted, batch.groups, records, newest, plans, batch.in_place});
  }

  [[nodiscard]] std::size_t bytes() const {
    return bulk_.bytes() + keys_.bytes() + spare_.bytes() + owners_.bytes() + before_.bytes();
  }

 private:
  Space space_;
  typename Space::bulk bulk_;
  exec::buffer<std::uint64_t, Space> keys_;
  exec::buffer<std::uint64_t, Space> spare_;
  exec::buffer<std::uint32_t, Space> owners_;
  exec::buffer<std::uint64_t, Space> before_;
};

}  // namespace wyrm::graph::detail
