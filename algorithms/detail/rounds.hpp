// SPDX-License-Identifier: Apache-2.0
// Algorithms that work in rounds: a round processes a frontier and fills the next one, until a frontier is empty. The
// host enqueues several rounds before it reads whether the last frontier is empty; rounds after the last non-empty
// frontier do nothing. Each vertex is in at most one frontier, over all calls of run(); or in any number of them, but
// in each at most once.
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
  std::uint32_t* spare;  // size of the previous frontier; reset, because the next round counts there
  WYRM_HD void start() const {
    *spare = 0;
    if constexpr (requires { work.start(); }) work.start();
  }
  WYRM_HD graph::packed_record const* rows() const requires requires(Work const& w) { w.rows(); }
  { return work.rows(); }
  template <class Tile>
  WYRM_HD auto begin(Tile const& t) const requires requires(Work const& w) {
    w.begin(t);
  }
  { return work.begin(t); }
  template <class Tile, class... Own>
  WYRM_HD void operator()(Tile const& t, frontier_item const* item, Own&... own) const {
    work(t, *item, own...);
  }
};

/// How often a vertex can be in a frontier. `again`: the frontiers have marks of their own in turn, and the work clears
/// the mark of each vertex of now() that it processes; other tiles may be adding the vertex to next() meanwhile.
enum class visits : std::uint8_t { once, again };

/// Owns the frontiers: 16 bytes per vertex, and 1/16 byte per arc.
template <class Space>
class rounds {
 public:
  explicit rounds(Space const& space, visits how_often = visits::once)
      : space_(space), how_often_(how_often), marks_(space), items_{list(space), list(space)}, sizes_(space, 3) {}

  /// Requests the memory for graphs with at most so many vertices and arcs. If all marks are clear, they stay so.
  /// Throws error(out_of_memory).
  void reserve(std::size_t vertices, std::uint64_t arcs) {
    words_ = (vertices + 31) / 32;
    if (marks_.size() < words()) {
      marks_.reserve(words());
      space_.fill(marks_.data(), 0, marks_.bytes());
    }
    for (list& items : items_) items.reserve(frontier::capacity(vertices, arcs));
  }
  /// Empties the frontiers, for a graph. Throws error(out_of_memory).
  void begin(graph::graph_view const& g) { begin(g.vertices(), g.arcs()); }
  /// The same for graphs with at most so many vertices and arcs.
  void begin(std::size_t vertices, std::uint64_t arcs) {
    reserve(vertices, arcs);
    space_.fill(marks_.data(), 0, words() * sizeof(std::uint32_t));
    clear();
  }
  /// Empties the frontiers; the marks stay.
  void clear() { space_.fill(sizes_.data(), 0, sizes_.bytes()); }

  /// now(): the frontier that the next round processes; next(): the frontier that it fills.
  [[nodiscard]] frontier now() const { return ahead(0); }
  [[nodiscard]] frontier next() const { return ahead(1); }
  /// The number of items of now(). Waits.
  [[nodiscard]] std::uint32_t left() const { return exec::read(space_, size(0)); }

  /// Launches f(tile, item) for all items of now(), with 8 lanes per item, which fills next(): a round.
  template <class F>
  void enqueue(F const& f) {
    for_each_item<8>(space_, now(), work_of_round<F>{f, size(2)});
    ++turn_;
  }

  /// For each round, calls f = work(number, next) on the host, and launches f(tile, item) for all items of the
  /// frontier, with 8 lanes per item. `number` counts the rounds of this call from 0; `next` is the frontier to fill.
  template <class Work>
  void run(Work const& work) {
    unsigned at_once = 4;
    for (std::uint32_t number = 0;;) {
      for (unsigned i = 0; i < at_once; ++i) enqueue(work(number++, next()));
      if (left() == 0) return;
      at_once = std::min(2 * at_once, 16u);
    }
  }

 private:
  using list = exec::buffer<frontier_item, Space>;
  [[nodiscard]] std::size_t words() const { return how_often_ == visits::once ? words_ : 2 * words_; }
  [[nodiscard]] frontier ahead(unsigned k) const {
    unsigned const which = (turn_ + k) % 2;
    std::uint32_t* const marks = marks_.data() + (how_often_ == visits::once ? 0 : which * words_);
    return {marks, items_[which].data(), size(k)};
  }
  [[nodiscard]] std::uint32_t* size(unsigned k) const { return sizes_.data() + (turn_ + k) % 3; }

  Space space_;
  visits how_often_;
  std::size_t words_ = 0;  // of the marks of one frontier
  exec::buffer<std::uint32_t, Space> marks_;
  list items_[2];
  exec::buffer<std::uint32_t, Space> sizes_;  // of the current frontier, the next one, and the one to reset, in turn
  unsigned turn_ = 0;                         // rounds so far
};

}  // namespace wyrm::algorithms::detail
