// SPDX-License-Identifier: Apache-2.0
// Peeling of items: of vertices by the number of their neighbours, or of edges by the number of their triangles. For a
// number k, all items with at most k neighbours (triangles) are removed, which reduces the numbers of other items,
// until no item has so few; the next k is the least number of an item that remains. All items that can be removed at
// the same time form a frontier. Only items that remained after the previous k are read to find the next one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda/std/bit>
#include <type_traits>
#include <utility>

#include "../../exec/atomic.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../../exec/tile.hpp"
#include "frontier.hpp"
#include "rounds.hpp"

namespace wyrm::algorithms::detail {

/// In device memory; the host reads it.
struct peeling_state {
  std::uint32_t k;     // ~0 until it is found
  std::uint32_t left;  // items that are not removed at once
};

struct list_items {
  std::uint32_t* items;
  WYRM_HD void operator()(std::size_t i) const { items[i] = static_cast<std::uint32_t>(i); }
};

/// One lane per item: finds the next k.
template <class Peeling>
struct find_least {
  Peeling p;
  std::uint32_t const* items;
  peeling_state* state;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    std::uint32_t const item = valid ? items[i] : 0;
    std::uint32_t least = valid && !p.is_removed(item) ? p.left_of(item) : ~std::uint32_t{0};
    for (unsigned step = Tile::size() / 2; step > 0; step /= 2) {
      std::uint32_t const other = t.shfl(least, t.rank() ^ step);
      least = other < least ? other : least;
    }
    if (t.rank() == 0 && least < exec::load_recent(state->k))
      exec::atomic_ref<std::uint32_t>(state->k).fetch_min(least, exec::relaxed);
  }
};

/// One lane per item: adds it to the first frontier of k, or to the list of remaining items.
template <class Peeling>
struct begin_peeling {
  Peeling p;
  std::uint32_t const* items;
  peeling_state* state;
  std::uint32_t* left;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    std::uint32_t const item = valid ? items[i] : 0;
    bool const is_there = valid && !p.is_removed(item);
    bool const removed = is_there && p.left_of(item) <= state->k;
    p.remove(t, item, removed);
    std::uint32_t const remaining = t.ballot(is_there && !removed);
    std::uint32_t first = 0;
    if (t.rank() == 0 && remaining != 0)
      first = exec::atomic_ref<std::uint32_t>(state->left)
                  .fetch_add(static_cast<std::uint32_t>(cuda::std::popcount(remaining)), exec::relaxed);
    first = t.shfl(first, 0);
    if (is_there && !removed) left[first + exec::rank_in(t, remaining)] = item;
  }
};

/// Owns the lists of remaining items: 8 bytes per item. List: the class of these and of the rounds.
template <class Space, template <class, class> class List = exec::buffer>
class peeler {
 public:
  explicit peeler(Space const& space) : space_(space), items_(space), left_(space), state_(space, 1) {}

  /// Requests the memory of run() for at most n items. Throws error(out_of_memory).
  void reserve(std::size_t n) {
    items_.reserve(n);
    left_.reserve(n);
  }

  struct peeled {
    std::uint32_t greatest;  // k
    std::uint32_t rounds;
  };
  /// Peels the items 0 to n - 1, at least one. For each k, p = peeling(number) is called on the host, where `number` is
  /// that of the next round, with
  ///   p.is_removed(item)      whether the item has been added to a frontier
  ///   p.left_of(item)         the number of its neighbours (triangles) that remain
  ///   p.remove(t, item, has)  adds the item of each lane that has one to rounds.now(); collective
  /// Then rounds do `work`, whose member `state` is set here; see rounds. Numbers of rounds count on from each k to the
  /// next.
  template <class Peeling, class Work>
  peeled run(std::uint32_t n, rounds<Space, List>& rounds, Peeling const& peeling, Work work) {
    reserve(n);
    exec::for_each(space_, n, list_items{items_.data()});
    work.state = state_.data();
    peeled done{0, 0};
    for (peeling_state all{0, n}; all.left > 0;) {
      exec::write(space_, state_.data(), {.k = ~std::uint32_t{0}, .left = 0});
      auto const p = peeling(done.rounds);
      using type = std::remove_const_t<decltype(p)>;
      exec::for_each_lane<32>(space_, all.left, find_least<type>{p, items_.data(), state_.data()});
      exec::for_each_lane<32>(space_, all.left, begin_peeling<type>{p, items_.data(), state_.data(), left_.data()});
      done.rounds = rounds.run(work, done.rounds);
      std::swap(items_, left_);
      all = exec::read(space_, state_.data());
      if (all.k != ~std::uint32_t{0}) done.greatest = all.k;  // ~0: all that remained has been removed in the rounds
    }
    return done;
  }

 private:
  Space space_;
  List<std::uint32_t, Space> items_;
  List<std::uint32_t, Space> left_;
  exec::buffer<peeling_state, Space> state_;
};

}  // namespace wyrm::algorithms::detail
