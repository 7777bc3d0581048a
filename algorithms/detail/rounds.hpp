// SPDX-License-Identifier: Apache-2.0
// Work that goes over a graph in rounds: a frontier is worked on, what that finds is the next one, until there is none.
// Rounds are started several at a time, before the host looks whether anything was left; those behind the end find
// nothing to do. Each vertex is in one frontier in all.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "../../exec/memory.hpp"
#include "../../graph/view.hpp"
#include "frontier.hpp"

namespace wyrm::algorithms::detail {

template <class Work>
struct work_of_round {
  Work work;
  std::uint32_t* spare;  // the size of the last frontier
  WYRM_HD void start() const { *spare = 0; }
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item) const {
    work(t, *item);
  }
};

/// Owns the frontiers: 16 bytes a vertex, and 1/16 an arc.
template <class Space>
class rounds {
 public:
  rounds(Space const& space, graph::graph_view const& g)
      : space_(space),
        marks_(space, (std::size_t{g.vertices()} + 31) / 32),
        items_{list(space, frontier::capacity(g.vertices(), g.arcs())),
               list(space, frontier::capacity(g.vertices(), g.arcs()))},
        sizes_(space, 3) {
    space_.fill(marks_.data(), 0, marks_.bytes());
    space_.fill(sizes_.data(), 0, sizes_.bytes());
  }

  /// The frontier that the next round works on; next(): what it adds to.
  [[nodiscard]] frontier now() const { return ahead(0); }
  [[nodiscard]] frontier next() const { return ahead(1); }

  /// Calls work(number, next)(tile, item), with 8 lanes an item, for all items of a frontier, round by round; number
  /// counts the rounds from 0.
  template <class Work>
  void run(Work const& work) {
    unsigned at_once = 4;
    for (std::uint32_t number = 0;;) {
      for (unsigned i = 0; i < at_once; ++i, ++turn_) {
        auto const here = work(number++, next());
        for_each_item<8>(space_, now(), work_of_round<decltype(here)>{here, size(2)});
      }
      if (exec::read(space_, size(0)) == 0) return;
      at_once = std::min(2 * at_once, 16u);
    }
  }

 private:
  using list = exec::buffer<frontier_item, Space>;
  [[nodiscard]] frontier ahead(unsigned k) const { return {marks_.data(), items_[(turn_ + k) % 2].data(), size(k)}; }
  [[nodiscard]] std::uint32_t* size(unsigned k) const { return sizes_.data() + (turn_ + k) % 3; }

  Space space_;
  exec::buffer<std::uint32_t, Space> marks_;
  list items_[2];
  exec::buffer<std::uint32_t, Space> sizes_;  // of the frontiers: this, the next, and one to be emptied, in turn
  unsigned turn_ = 0;                         // rounds until now
};

}  // namespace wyrm::algorithms::detail
