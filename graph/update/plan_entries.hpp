// SPDX-License-Identifier: Apache-2.0
// The plan of a batch whose entries have values or operations (entry_batch). The last entry of each edge determines the
// result: it inserts the edge, changes its value, or erases it. The sort key of an arc is its target, followed by the
// number of its entry. So the entries of an edge are adjacent, in the order of the batch, and both directions of an
// undirected edge have the same result. Values are combined here, so the merge only stores them.
#pragma once

#include <cstdint>

#include "../../exec/tile.hpp"
#include "../batch/group.hpp"
#include "../batch/status.hpp"
#include "../table/page_size.hpp"
#include "../view.hpp"
#include "hubs.hpp"
#include "plan.hpp"
#include "values.hpp"

namespace wyrm::graph::detail {

/// The effect of the entries of one edge.
enum class effect : std::uint8_t { none, adds, updates, erases, misses };

/// Whether a change takes too much work for one lane.
[[nodiscard]] WYRM_HD inline bool is_heavy(std::uint32_t degree, mixed_plan const& plan) {
  constexpr std::uint32_t most = 32;
  return plan.changed + plan.erased + plan.updated > few || degree > most || degree_after(degree, plan) > most;
}

/// The capacity of the page to allocate for a vertex, whose page may be shared with a snapshot; `keep`: none. in_place:
/// see batch_view.
template <unsigned Width>
[[nodiscard]] WYRM_HD std::uint32_t capacity_to_allocate(vertex_record const& r, mixed_plan const& plan, bool shared,
                                                         std::uint32_t in_place) {
  std::uint32_t const degree = degree_after(r.degree, plan);
  bool const resizes = (plan.changed | plan.erased) != 0;
  if (!resizes && !(shared && plan.updated > 0)) return keep;
  if (!keeps_page(r.capacity, degree, Width)) return capacity_for(degree, Width);
  return capacity_with_room(r, degree, shared, in_place);
}

/// Determines and records the effect of entries.
template <unsigned Width, class Combine>
struct entry_effects {
  using word = value_word<Width>;
  entry_batch batch;
  Combine combine;

  struct result {
    effect what = effect::none;
    std::uint32_t at = 0;  // the position of the first neighbour that is not less than the target
    word value{};
  };

  /// The effect of entry i, the last entry of its edge. key(k): the key of entry k of the sorted group, whose first
  /// entry is `first`. O(log degree), and with a combiner O(entries of the edge) more.
  template <class Keys>
  [[nodiscard]] WYRM_HD result of(vertex_record const& r, Keys const& key, std::size_t first, std::size_t i) const {
    vertex_id const target = entry_batch::target(key(i));
    result out;
    out.at = lower_bound(r.page, r.degree, target);
    bool const there = out.at < r.degree && r.page[out.at] == target;
    if (!batch.inserts(key(i))) {
      out.what = there ? effect::erases : effect::misses;
      return out;
    }
    if constexpr (Width == 0) {
      out.what = there ? effect::none : effect::adds;
    } else {
      word const old = there ? values_of<Width>(r.page, r.capacity)[out.at] : word{};
      out.value = combine.is_latest() ? value(key(i)) : combined(key, first, i, there, old);
      out.what = !there ? effect::adds : out.value == old ? effect::none : effect::updates;
    }
    return out;
  }

 private:
  [[nodiscard]] WYRM_HD word value(std::uint64_t key) const {
    return static_cast<word const*>(batch.of.values)[static_cast<std::uint32_t>(key)];
  }
  // The result of the insertions since the last erasure, in the order of the batch.
  template <class Keys>
  [[nodiscard]] WYRM_HD word combined(Keys const& key, std::size_t first, std::size_t last, bool there,
                                      word old) const {
    vertex_id const target = entry_batch::target(key(last));
    std::size_t i = last;
    while (i > first && entry_batch::target(key(i - 1)) == target && batch.inserts(key(i - 1))) --i;
    bool const is_erased = i > first && entry_batch::target(key(i - 1)) == target;
    word sum = there && !is_erased ? combine(old, value(key(i))) : value(key(i));
    while (i < last) sum = combine(sum, value(key(++i)));
    return sum;
  }
};

/// Where the changes of a source group are recorded; see mixed_plan.
template <unsigned Width>
struct change_lists {
  vertex_id* added;
  std::uint32_t* positions;
  std::uint32_t* erased;
  value_word<Width>* values;
  std::uint32_t last;  // the last place of the group

  WYRM_HD change_lists(entry_batch const& batch, std::uint32_t begin, std::uint32_t size)
      : added(batch.arcs.targets + begin),
        positions(batch.arcs.positions + begin),
        erased(batch.erased + begin),
        values(Width > 0 ? static_cast<value_word<Width>*>(batch.values) + begin : nullptr),
        last(size - 1) {}

  /// Records an effect: `a`, `u` and `e` are its number among the effects that add, update and erase.
  template <class Result>
  WYRM_HD void record(Result const& found, vertex_id target, std::uint32_t a, std::uint32_t u, std::uint32_t e) const {
    if (found.what == effect::adds) {
      added[a] = target;
      positions[a] = found.at + a - e;
      if constexpr (Width > 0) values[a] = found.value;
    } else if (found.what == effect::updates) {
      positions[last - u] = found.at + a - e;
      if constexpr (Width > 0) values[last - u] = found.value;
    } else if (found.what == effect::erases) {
      erased[e] = found.at;
    }
  }
};

/// Plans source groups, like plan_groups. Sparse: also fills the lists, and the sums that release_pages computes
/// otherwise.
template <unsigned Width, class Combine, bool Sparse>
struct plan_entries {
  entry_batch batch;
  packed_record const* records;
  mixed_plan* plans;
  update_status* status;
  unsigned which;
  bool undirected;
  Combine combine;
  group_lists lists;
  snapshot_records newest;  // see is_shared

  /// One tile per source group.
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t s) const {
    if (s < status->groups(which) && !status->is_refused()) plan(t, s, false);
  }

  /// is_ranked: the sorted keys are in batch.spare, see rank_keys.
  template <class Tile>
  WYRM_HD void plan(Tile const& t, std::size_t s, bool is_ranked) const {
    source_group const g = batch.arcs.groups[s];
    vertex_record const r = records[g.source];
    std::uint64_t* const spare = batch.spare + g.begin;
    std::uint64_t const* const sorted = is_ranked ? spare : sort(t, batch.keys + g.begin, spare, g.size);
    t.sync();
    mixed_plan plan{};
    change_lists<Width> const to(batch, g.begin, g.size);
    entry_effects<Width, Combine> const effects{batch, combine};
    for (std::uint32_t base = 0; base < g.size; base += Tile::size()) {
      std::uint32_t const i = base + t.rank();
      std::uint64_t const key = i < g.size ? sorted[i] : 0;
      vertex_id const target = entry_batch::target(key);
      bool const decides = i < g.size && (i + 1 == g.size || entry_batch::target(sorted[i + 1]) != target);
      typename entry_effects<Width, Combine>::result found{};
      if (decides)
        found = effects.of(
            r, [&](std::size_t k) { return sorted[k]; }, 0, i);
      std::uint32_t const adds = t.ballot(found.what == effect::adds);
      std::uint32_t const updates = t.ballot(found.what == effect::updates);
      std::uint32_t const erases = t.ballot(found.what == effect::erases);
      std::uint32_t const misses = t.ballot(found.what == effect::misses);
      std::uint32_t const counted = t.ballot(decides && (!undirected || g.source <= target));
      to.record(found, target, plan.changed + exec::rank_in(t, adds), plan.updated + exec::rank_in(t, updates),
                plan.erased + exec::rank_in(t, erases));
      plan.changed += number(adds);
      plan.updated += number(updates);
      plan.erased += number(erases);
      plan.edges += number(adds & counted);
      plan.updated_edges += number(updates & counted);
      plan.erased_edges += number(erases & counted);
      plan.missing += number(misses & counted);
      plan.distinct += number(counted);
    }
    plan.capacity = capacity_to_allocate<Width>(r, plan, is_shared(newest, g.source, r.page), batch.arcs.in_place);
    if constexpr (Sparse) {
      list(t, s, r, plan, t.rank() == 0);
      if (t.rank() == 0) sum_up(t, plan);
    }
    if (t.rank() == 0) plans[s] = plan;
  }

  /// The plan of a group of at most `few` arcs, by one lane.
  [[nodiscard]] WYRM_HD mixed_plan plan_short(source_group const& g, vertex_record const& r) const {
    std::uint64_t keys[few];
    for (std::uint32_t k = 0; k < few; ++k) keys[k] = k < g.size ? batch.keys[g.begin + k] : ~std::uint64_t{0};
    sort_few(keys);
    mixed_plan plan{};
    change_lists<Width> const to(batch, g.begin, g.size);
    entry_effects<Width, Combine> const effects{batch, combine};
    for (std::uint32_t k = 0; k < few; ++k) {
      vertex_id const target = entry_batch::target(keys[k]);
      bool const decides = k < g.size && (k + 1 == g.size || entry_batch::target(keys[(k + 1) % few]) != target);
      if (!decides) continue;
      auto const found = effects.of(
          r, [&](std::size_t i) { return keys[i]; }, 0, k);
      to.record(found, target, plan.changed, plan.updated, plan.erased);
      bool const counted = !undirected || g.source <= target;
      plan.changed += found.what == effect::adds;
      plan.updated += found.what == effect::updates;
      plan.erased += found.what == effect::erases;
      plan.edges += found.what == effect::adds && counted;
      plan.updated_edges += found.what == effect::updates && counted;
      plan.erased_edges += found.what == effect::erases && counted;
      plan.missing += found.what == effect::misses && counted;
      plan.distinct += counted;
    }
    plan.capacity = capacity_to_allocate<Width>(r, plan, is_shared(newest, g.source, r.page), batch.arcs.in_place);
    return plan;
  }
  /// Appends the planned source group of each valid lane to the lists to which it belongs. Collective.
  template <class Tile>
  WYRM_HD void list(Tile const& t, std::size_t s, vertex_record const& r, mixed_plan& plan, bool valid) const {
    plan.is_heavy = valid && plan.changes() && is_heavy(r.degree, plan);
    append(t, lists, *status, which, s, valid && plan.capacity != keep, plan.is_heavy != 0);
  }
  /// Adds a plan to the sums; called by one lane.
  template <class Tile>
  WYRM_HD void sum_up(Tile const& t, mixed_plan const& plan) const {
    if (which > 0) return;  // the second table has the same edges
    update_status::sums all{};
    plan.add_to(all);
    status->sum_up(t, all);
  }

 private:
  WYRM_HD static std::uint32_t number(std::uint32_t lanes) {
    return static_cast<std::uint32_t>(cuda::std::popcount(lanes));
  }
};

/// One tile per part of a long source group of a sparse batch: ranks the keys of the part among all keys of the group.
/// So several tiles share the sort of one group.
struct rank_keys {
  entry_batch batch;
  update_status const* status;
  unsigned which;
  group_part const* parts;
  std::size_t tiles;  // number of launched tiles

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t tile) const {
    if (status->is_refused()) return;
    for (std::size_t p = tile; p < status->group_parts[which]; p += tiles) rank(t, parts[p]);
  }

 private:
  template <class Tile>
  WYRM_HD void rank(Tile const& t, group_part const& part) const {
    source_group const g = batch.arcs.groups[part.source_group];
    std::uint64_t const* const keys = batch.keys + g.begin;
    std::uint32_t const i = part.first + t.rank();
    std::uint64_t const key = i < g.size ? keys[i] : 0;
    std::uint32_t before = 0;
    for (std::uint32_t base = 0; base < g.size; base += Tile::size()) {
      std::uint32_t const block = base + t.rank();
      std::uint64_t const mine = block < g.size ? keys[block] : ~std::uint64_t{0};
      for (std::uint32_t lane = 0; lane < Tile::size(); ++lane) before += t.shfl(mine, lane) < key;
    }
    if (i < g.size) batch.spare[g.begin + before] = key;
  }
};

/// Plans a sparse batch: the first long_tiles tiles plan the long source groups; each further tile processes as many
/// source groups as it has lanes, and each lane plans a short one. is_ranked: rank_keys has ranked the groups that are
/// longer than a tile.
template <unsigned Width, class Combine>
struct plan_sparse_entries {
  static constexpr unsigned resident_blocks = 4;
  plan_entries<Width, Combine, true> step;
  std::size_t long_tiles;
  bool is_ranked;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i) const {
    if (step.status->is_refused()) return;
    if (i < long_tiles) {
      for (std::size_t k = i; k < step.status->long_groups[step.which]; k += long_tiles) {
        std::uint32_t const s = step.lists.long_groups[k];
        step.plan(t, s, is_ranked && step.batch.arcs.groups[s].size > Tile::size());
      }
    } else if (std::size_t const first = (i - long_tiles) * Tile::size(); first < step.status->groups(step.which)) {
      plan_short_groups(t, first + t.rank());
    }
  }

 private:
  template <class Tile>
  WYRM_HD void plan_short_groups(Tile const& t, std::size_t s) const {
    bool const valid = s < step.status->groups(step.which);
    source_group const g = valid ? step.batch.arcs.groups[s] : source_group{0, 0, 0};
    bool const is_short = valid && g.size <= few;
    vertex_record const r = is_short ? vertex_record(step.records[g.source]) : vertex_record{};
    mixed_plan plan{};
    plan.capacity = keep;
    if (is_short) plan = step.plan_short(g, r);
    step.list(t, s, r, plan, is_short);
    if (is_short) step.plans[s] = plan;
    mixed_plan sum{};
    sum.changed = exec::sum(t, plan.changed);
    sum.edges = exec::sum(t, plan.edges);
    sum.distinct = exec::sum(t, plan.distinct);
    if (t.any((plan.erased | plan.updated | plan.missing) != 0)) {
      sum.erased = exec::sum(t, plan.erased);
      sum.erased_edges = exec::sum(t, plan.erased_edges);
      sum.updated_edges = exec::sum(t, plan.updated_edges);
      sum.missing = exec::sum(t, plan.missing);
    }
    if (t.rank() == 0) step.sum_up(t, sum);
  }
};

}  // namespace wyrm::graph::detail
