// SPDX-License-Identifier: Apache-2.0
// The affinities of a vertex: the vertices that short walks from it visit, and how often. As in Markov clustering (van
// Dongen, 2000), large values are amplified (counts are squared), and small ones are dropped; but each vertex is
// processed separately, by walks instead of matrix products. The affinities of a vertex are in a page from a device
// allocator. Then vertices take the labels that their affinities vote for.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/philox.hpp"
#include "../../exec/tile.hpp"
#include "../../graph/view.hpp"
#include "../random_walks.hpp"
#include "frontier.hpp"
#include "modularity_moves.hpp"

namespace wyrm::algorithms::detail {

struct affinity {
  graph::vertex_id vertex;
  std::uint32_t weight;
};

struct affinity_list {
  static constexpr std::uint32_t capacity = 16;  // greatest number of affinities of a vertex
  static constexpr std::uint32_t missing = ~0u;
  static constexpr std::uint64_t unit = 1u << 16;  // the sum of all weights of a list, up to rounding
  affinity* page;
  std::uint32_t size;  // missing: the list has yet to be computed
};

/// Makes lists that could not be allocated empty.
struct empty_missing_lists {
  affinity_list* lists;
  WYRM_HD void operator()(std::size_t v) const {
    if (lists[v].size == affinity_list::missing) lists[v] = {nullptr, 0};
  }
};

/// Counts the visits of the walks from one vertex, at up to `capacity` different vertices.
class visit_counts {
 public:
  static constexpr std::uint32_t capacity = 64;

  WYRM_HD void add(graph::vertex_id v) {
    std::uint32_t i = 0;
    while (i < size_ && visited_[i].vertex != v) ++i;
    if (i == capacity) return;
    if (i == size_) visited_[size_++] = {v, 0};
    ++visited_[i].weight;
  }
  /// Sorts the `most` strongest vertices to the front, the first visited among equals; returns how many there are.
  WYRM_HD std::uint32_t keep_strongest(std::uint32_t most) {
    std::uint32_t const n = size_ < most ? size_ : most;
    for (std::uint32_t k = 0; k < n; ++k) {
      std::uint32_t best = k;
      for (std::uint32_t i = k + 1; i < size_; ++i)
        if (visited_[i].weight > visited_[best].weight) best = i;
      affinity const a = visited_[best];
      for (std::uint32_t i = best; i > k; --i) visited_[i] = visited_[i - 1];
      visited_[k] = a;
    }
    return n;
  }
  [[nodiscard]] WYRM_HD affinity operator[](std::uint32_t i) const { return visited_[i]; }

 private:
  std::uint32_t size_ = 0;
  affinity visited_[capacity];
};

/// One lane per item; computes missing lists.
template <class Pool>
struct find_affinities {
  step_rules rules;
  Pool pool;
  std::uint32_t walks;
  std::uint32_t length;
  affinity_list* lists;
  std::uint32_t* waiting;  // number of vertices that wait for memory

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    graph::vertex_id const v = item != nullptr ? item->vertex : 0;
    bool const wants = item != nullptr && item->part == 0 && lists[v].size == affinity_list::missing;
    visit_counts visited;
    std::uint32_t n = 0;
    if (wants) {
      for (std::uint32_t w = 0; w < walks; ++w) walk(v, w, visited);
      n = visited.keep_strongest(affinity_list::capacity);
    }
    auto* const page = static_cast<affinity*>(pool.allocate(t, n * sizeof(affinity)));
    bool const waits = n > 0 && page == nullptr;
    if (wants && !waits) lists[v] = {page, write(visited, n, page)};
    std::uint32_t const ballot = t.ballot(waits);
    if (ballot != 0 && t.rank() == 0)
      exec::atomic_ref<std::uint32_t>(*waiting).fetch_add(static_cast<std::uint32_t>(cuda::std::popcount(ballot)),
                                                          exec::relaxed);
  }

 private:
  WYRM_HD void walk(graph::vertex_id start, std::uint32_t w, visit_counts& visited) const {
    std::uint64_t const walker = std::uint64_t{start} * walks + w;
    graph::vertex_id now = start;
    for (std::uint32_t step = 1; step <= length; ++step) {
      graph::neighbour_list const row = rules.g.neighbours(now);
      if (!rules.can_continue(now, row)) return;
      exec::four_words const x = rules.draw(walker, step, 0);
      now = rules.arc(now, row, x.x[0], x.x[1]);
      if (now != start) visited.add(now);
    }
  }
  [[nodiscard]] WYRM_HD static std::uint64_t inflated(std::uint32_t count) {
    std::uint64_t const c = count < 0xffff ? count : 0xffff;
    return c * c;
  }
  // Scales weights to the sum affinity_list::unit.
  WYRM_HD static std::uint32_t write(visit_counts const& visited, std::uint32_t n, affinity* page) {
    std::uint64_t all = 0;
    for (std::uint32_t i = 0; i < n; ++i) all += inflated(visited[i].weight);
    for (std::uint32_t i = 0; i < n; ++i)
      page[i] = {visited[i].vertex,
                 static_cast<std::uint32_t>(inflated(visited[i].weight) * affinity_list::unit / all)};
    return n;
  }
};

/// A round of voting, with one lane per item. The affinities of a vertex vote for labels; the votes that a label would
/// get by chance are subtracted. The vertex takes the label with most votes if it prefers that to its own label. The
/// advantage that this requires grows from round to round, so that voting ends. Only half of the vertices may change
/// their label in a round, so that two vertices do not exchange their labels in every round.
struct vote {
  static constexpr std::uint32_t rounds = 32;  // until the required advantage is too large for any vertex
  static constexpr std::uint64_t chance = 4;   // factor of the fraction of all degrees that a label has

  affinity_list const* lists;
  std::uint64_t const* degree;
  std::uint64_t const* volume;  // sums of degrees of labels; like `label`, from before the round
  std::uint64_t total;          // of all degrees; at most 2^31
  graph::vertex_id const* label;
  graph::vertex_id* next;
  std::uint32_t number;
  std::uint32_t* wanting;  // number of vertices that prefer another label

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    bool wants = false;
    if (item != nullptr && item->part == 0) {
      graph::vertex_id const v = item->vertex;
      graph::vertex_id const winner = elected<Tile::size() == 1>(v);
      wants = winner != label[v];
      next[v] = (pair_hash(v, number) & 1) != 0 ? winner : label[v];
    }
    auto const n = static_cast<std::uint32_t>(cuda::std::popcount(t.ballot(wants)));
    if (t.rank() == 0 && n > 0) exec::atomic_ref<std::uint32_t>(*wanting).fetch_add(n, exec::relaxed);
  }

 private:
  // The labels and weights of the affinities of a vertex. A core reads all places, in vectors; those that are not used
  // have no weight.
  template <bool AllPlaces>
  struct ballots {
    graph::vertex_id labels[affinity_list::capacity];
    std::uint32_t weights[affinity_list::capacity];
    std::uint32_t size;  // a constant for a core
    WYRM_HD ballots(affinity_list const& list, graph::vertex_id const* label)
        : size(AllPlaces ? affinity_list::capacity : list.size) {
      for (std::uint32_t i = 0; i < size; ++i) {
        bool const is_used = !AllPlaces || i < list.size;
        labels[i] = is_used ? label[list.page[i].vertex] : graph::no_vertex;
        weights[i] = is_used ? list.page[i].weight : 0;
      }
    }
    [[nodiscard]] WYRM_HD std::uint32_t votes_for(graph::vertex_id wanted) const {
      std::uint32_t votes = 0;
      for (std::uint32_t i = 0; i < (AllPlaces ? affinity_list::capacity : size); ++i)
        votes += labels[i] == wanted ? weights[i] : 0;
      return votes;
    }
  };
  template <bool AllPlaces>
  [[nodiscard]] WYRM_HD graph::vertex_id elected(graph::vertex_id v) const {
    affinity_list const list = lists[v];
    ballots<AllPlaces> const cast(list, label);
    graph::vertex_id const own = label[v];
    graph::vertex_id winner = own;
    std::uint32_t const for_own = cast.votes_for(own);
    std::int64_t most = score(for_own, volume[own] - degree[v]);
    most += static_cast<std::int64_t>(affinity_list::unit * total / rounds * number);
    // All other votes for one label would not be enough.
    if (static_cast<std::int64_t>((affinity_list::unit - for_own) * total) <= most) return own;
    for (std::uint32_t i = 0; i < list.size; ++i) {
      graph::vertex_id const other = cast.labels[i];
      if (other == own) continue;
      std::int64_t const got = score(cast.votes_for(other), volume[other]);
      if (got < most || (got == most && (winner == own || winner < other))) continue;
      most = got;
      winner = other;
    }
    return winner;
  }
  [[nodiscard]] WYRM_HD std::int64_t score(std::uint32_t votes, std::uint64_t others) const {
    return static_cast<std::int64_t>(votes * total) - static_cast<std::int64_t>(affinity_list::unit * chance * others);
  }
};

/// One lane per item: updates volumes after changes of labels.
struct count_votes {
  std::uint64_t const* degree;
  graph::vertex_id const* label;
  graph::vertex_id const* next;
  std::uint64_t* volume;
  template <class Tile>
  WYRM_HD void operator()(Tile const&, frontier_item const* item) const {
    if (item == nullptr || item->part != 0) return;
    graph::vertex_id const v = item->vertex;
    if (label[v] == next[v]) return;
    exec::atomic_ref<std::uint64_t>(volume[label[v]]).fetch_sub(degree[v], exec::relaxed);
    exec::atomic_ref<std::uint64_t>(volume[next[v]]).fetch_add(degree[v], exec::relaxed);
  }
};

}  // namespace wyrm::algorithms::detail
