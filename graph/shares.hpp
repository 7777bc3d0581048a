// SPDX-License-Identifier: Apache-2.0
// How threads on their own bring the arcs of a batch together by source, see segments.hpp: the table of counts is dealt
// out in shares, the arcs are laid out by the share that their source is of, and then each share is one thread's, in
// whose cache it stays and which adds to nobody else's counts. Where there are tiles, all lanes add to one table.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "../exec/launch.hpp"
#include "../exec/memory.hpp"
#include "segments.hpp"
#include "status.hpp"
#include "types.hpp"

namespace wyrm::graph::detail {

/// Where the source of an arc has its count, and the target.
struct shared_arc {
  std::uint32_t slot;
  vertex_id target;
};

struct arc_shares {
  count_arcs what;
  std::size_t size;     // edges
  shared_arc* arcs;     // by share, of each share by block
  std::uint32_t* next;  // of block b and share s at b * shares + s: how many arcs, then where they go
  std::uint32_t shares;
  unsigned shift;                             // of a slot: its share
  static constexpr std::size_t block = 8192;  // edges
  static constexpr std::uint32_t most_shares = 256;

  [[nodiscard]] std::size_t blocks() const { return (size + block - 1) / block; }
  [[nodiscard]] std::uint32_t share_of(vertex_id v) const { return what.table.home(v) >> shift; }
  struct special_edges {
    unsigned loops;
    unsigned outside;
  };
  /// Calls f(source, target) for each arc of a block that counts.
  template <class F>
  special_edges for_arcs(std::size_t b, F const& f) const {
    special_edges out{0, 0};
    for (std::size_t i = b * block, end = std::min(size, i + block); i < end; ++i) {
      edge const e = what.edges[i];
      auto const [outside, loop, counts] = what.look_at(e, true);
      out.outside += outside;
      out.loops += loop;
      if (!counts) continue;
      if (what.which != orientation::reverse) f(e.source, e.target);
      if (what.which == orientation::reverse || (what.which == orientation::both && !loop)) f(e.target, e.source);
    }
    return out;
  }
  /// Calls f(arc) for each arc of a share, when they have been written down.
  template <class F>
  void for_share(std::size_t share, F const& f) const {
    std::uint32_t const* const ends = next + (blocks() - 1) * shares;
    std::uint32_t const begin = share == 0 ? 0 : ends[share - 1], end = ends[share];
    for (std::uint32_t i = begin; i < end; ++i) f(arcs[i]);
  }
};

/// A thread a block: how many arcs go to each share.
struct count_shares {
  static constexpr std::size_t grain = 1;
  arc_shares to;

  template <class Tile>
  void operator()(Tile const& t, std::size_t b) const {
    std::uint32_t counts[arc_shares::most_shares] = {};
    auto const out = to.for_arcs(b, [&](vertex_id v, vertex_id) { ++counts[to.share_of(v)]; });
    std::copy_n(counts, to.shares, to.next + b * to.shares);
    to.what.note(t, out.loops, out.outside);
  }
};
/// One thread: where the arcs of each block and share begin.
struct place_shares {
  arc_shares to;
  void operator()(std::size_t) const {
    std::uint32_t sum = 0;
    for (std::uint32_t share = 0; share < to.shares; ++share)
      for (std::size_t b = 0; b < to.blocks(); ++b) {
        std::uint32_t& next = to.next[b * to.shares + share];
        std::uint32_t const n = next;
        next = sum;
        sum += n;
      }
  }
};
/// A thread a block: writes the arcs down, by share.
struct move_to_shares {
  static constexpr std::size_t grain = 1;
  arc_shares to;

  template <class Tile>
  void operator()(Tile const&, std::size_t b) const {
    std::uint32_t next[arc_shares::most_shares];
    std::copy_n(to.next + b * to.shares, to.shares, next);
    to.for_arcs(b, [&](vertex_id v, vertex_id target) {
      to.arcs[next[to.share_of(v)]++] = {to.what.table.find(v), target};
    });
    std::copy_n(next, to.shares, to.next + b * to.shares);
  }
};
/// A thread a share.
struct count_share {
  static constexpr std::size_t grain = 1;
  arc_shares from;

  template <class Tile>
  void operator()(Tile const&, std::size_t share) const {
    from.for_share(share, [&](shared_arc a) { ++from.what.table.counts[a.slot]; });
  }
};
/// The same, when the counts have become the places of segments.
struct scatter_share {
  static constexpr std::size_t grain = 1;
  arc_shares from;
  vertex_id* targets;

  template <class Tile>
  void operator()(Tile const&, std::size_t share) const {
    from.for_share(share, [&](shared_arc a) { targets[from.what.table.counts[a.slot]++] = a.target; });
  }
};

/// The host side.
template <class Space>
class share_grouping {
 public:
  explicit share_grouping(Space const& space) : space_(space), arcs_(space), next_(space) {}

  /// most_arcs: of so many edges.
  void count(count_arcs const& what, std::size_t edges, std::size_t most_arcs) {
    unsigned const slot_bits = static_cast<unsigned>(std::bit_width(std::max(what.table.slots, 1u) - 1));
    // So few arcs that a share stays in a cache, and so many that it is worth the trouble.
    unsigned const share_bits = std::min({static_cast<unsigned>(std::bit_width(most_arcs / 4096)), slot_bits,
                                          static_cast<unsigned>(std::bit_width(arc_shares::most_shares - 1))});
    unsigned const shift = slot_bits - share_bits;
    std::uint32_t const shares = ((std::max(what.table.slots, 1u) - 1) >> shift) + 1;
    arcs_.reserve(most_arcs);
    shares_ = {what, edges, arcs_.data(), nullptr, shares, shift};
    next_.reserve(shares_.blocks() * shares);
    shares_.next = next_.data();
    exec::for_each_tile<1>(space_, shares_.blocks(), count_shares{shares_});
    exec::for_each(space_, 1, place_shares{shares_});
    exec::for_each_tile<1>(space_, shares_.blocks(), move_to_shares{shares_});
    exec::for_each_tile<1>(space_, shares, count_share{shares_});
  }
  /// When the table says where segments begin.
  void scatter(vertex_id* targets) { exec::for_each_tile<1>(space_, shares_.shares, scatter_share{shares_, targets}); }

  [[nodiscard]] std::size_t bytes() const { return arcs_.bytes() + next_.bytes(); }

 private:
  Space space_;
  exec::buffer<shared_arc, Space> arcs_;
  exec::buffer<std::uint32_t, Space> next_;
  arc_shares shares_{};
};

}  // namespace wyrm::graph::detail
