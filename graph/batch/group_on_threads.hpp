// SPDX-License-Identifier: Apache-2.0
// Groups the arcs of a batch by source on a CPU, where threads that count in one table would wait for each other's
// additions: the arcs are scattered to buckets by the first bits of their vertex or hash, and then each bucket is one
// thread's. That thread counts the arcs of the bucket, forms source groups of them, and writes the targets by source.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "../../exec/atomic.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../types.hpp"
#include "group.hpp"
#include "status.hpp"

namespace wyrm::graph::detail {

struct bucketed_arc {
  std::uint32_t source;  // and then its slot in the bucket's part of the table
  vertex_id target;
};

struct arc_buckets {
  count_arcs what;
  std::size_t size;     // edges
  bucketed_arc* arcs;   // by bucket, of each bucket by block
  std::uint32_t* next;  // of block b and bucket s at b * buckets + s: how many arcs, then where they go
  std::uint32_t buckets;
  unsigned shift;                             // of a slot: its bucket
  static constexpr std::size_t block = 8192;  // edges
  static constexpr std::uint32_t max_buckets = 256;

  [[nodiscard]] std::size_t blocks() const { return (size + block - 1) / block; }
  [[nodiscard]] std::uint32_t bucket_of(vertex_id v) const { return what.table.home(v) >> shift; }
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
  /// Where the arcs of a bucket begin, when they have been written down; of the one behind the last: where they end.
  [[nodiscard]] std::uint32_t begin(std::size_t bucket) const {
    return bucket == 0 ? 0 : next[(blocks() - 1) * buckets + bucket - 1];
  }
};

/// A thread a block: how many arcs go to each bucket.
struct count_buckets {
  static constexpr std::size_t grain = 1;
  arc_buckets to;

  template <class Tile>
  void operator()(Tile const& t, std::size_t b) const {
    std::uint32_t counts[arc_buckets::max_buckets] = {};
    auto const out = to.for_arcs(b, [&](vertex_id v, vertex_id) { ++counts[to.bucket_of(v)]; });
    std::copy_n(counts, to.buckets, to.next + b * to.buckets);
    to.what.note(t, out.loops, out.outside);
  }
};
/// One thread: where the arcs of each block and bucket begin.
struct place_buckets {
  arc_buckets to;
  void operator()(std::size_t) const {
    std::uint32_t sum = 0;
    for (std::uint32_t bucket = 0; bucket < to.buckets; ++bucket)
      for (std::size_t b = 0; b < to.blocks(); ++b) {
        std::uint32_t& next = to.next[b * to.buckets + bucket];
        std::uint32_t const n = next;
        next = sum;
        sum += n;
      }
  }
};
/// A thread a block: writes the arcs down, by bucket.
struct scatter_to_buckets {
  static constexpr std::size_t grain = 1;
  arc_buckets to;

  template <class Tile>
  void operator()(Tile const&, std::size_t b) const {
    std::uint32_t next[arc_buckets::max_buckets];
    std::copy_n(to.next + b * to.buckets, to.buckets, next);
    to.for_arcs(b, [&](vertex_id v, vertex_id target) { to.arcs[next[to.bucket_of(v)]++] = {v, target}; });
    std::copy_n(next, to.buckets, to.next + b * to.buckets);
  }
};
/// How many slots tables have for threads on their own: of a hash table each bucket has up to four times as many as it
/// has arcs, and the table has `slots` for half as many arcs.
[[nodiscard]] constexpr std::size_t slots_on_threads(std::size_t slots, bool direct) {
  return direct ? slots : 2 * slots;
}

/// A thread a bucket: counts its arcs by source, makes source groups of them, and writes the targets down.
struct group_bucket {
  static constexpr std::size_t grain = 1;
  arc_buckets from;
  source_group* groups;
  vertex_id* targets;
  unsigned which;      // of the two tables of a graph
  std::uint32_t most;  // arcs of a source group that is not too large

  template <class Tile>
  void operator()(Tile const&, std::size_t bucket) const {
    bucketed_arc* const arc = from.arcs + from.begin(bucket);
    std::uint32_t const arcs = from.begin(bucket + 1) - from.begin(bucket);
    if (arcs == 0) return;
    auto const [keys, counts, slots, first] = part_of(bucket, arcs);
    std::uint32_t n = 0;
    for (std::uint32_t i = 0; i < arcs; ++i) {
      arc[i].source = keys == nullptr ? arc[i].source - first : find(keys, slots, arc[i].source);
      n += counts[arc[i].source]++ == 0;
    }
    place(keys, counts, slots, first, n, arcs);
    for (std::uint32_t i = 0; i < arcs; ++i) targets[counts[arc[i].source]++] = arc[i].target;
  }

 private:
  struct part {
    vertex_id* keys;
    std::uint32_t* counts;
    std::uint32_t slots;
    vertex_id first;  // vertex, unless it is a hash table
  };
  [[nodiscard]] part part_of(std::size_t bucket, std::uint32_t arcs) const {
    slot_table const& table = from.what.table;
    part mine{nullptr, table.counts, 0, 0};
    if (table.keys == nullptr) {
      mine.first = static_cast<vertex_id>(bucket << from.shift);
      mine.counts += mine.first;
      mine.slots = std::min(table.slots - mine.first, std::uint32_t{1} << from.shift);
    } else {
      std::size_t const begin = std::size_t{4} * from.begin(bucket);
      mine.keys = table.keys + begin;
      mine.counts += begin;
      mine.slots = std::bit_ceil(2 * arcs);
      std::fill_n(mine.keys, mine.slots, free_slot);
    }
    std::fill_n(mine.counts, mine.slots, 0u);
    return mine;
  }
  // The first bits of their hashes all sources of a bucket have in common.
  [[nodiscard]] std::uint32_t find(vertex_id* keys, std::uint32_t slots, vertex_id v) const {
    unsigned const in_common = 32 - from.what.table.shift - from.shift;
    std::uint32_t slot =
        (from.what.table.hash(v) << in_common) >> (32 - static_cast<unsigned>(std::countr_zero(slots)));
    while (keys[slot] != v && keys[slot] != free_slot) slot = (slot + 1) & (slots - 1);
    keys[slot] = v;
    return slot;
  }
  // Makes source groups of the n slots that are in use; their counts become places.
  void place(vertex_id const* keys, std::uint32_t* counts, std::uint32_t slots, vertex_id first, std::uint32_t n,
             std::uint32_t arcs) const {
    update_status& status = *from.what.status;
    std::uint64_t const before =
        exec::atomic_ref<std::uint64_t>(status.batches[which]).fetch_add(std::uint64_t{n} << 32 | arcs, exec::relaxed);
    source_group* to = groups + (before >> 32);
    source_group const* const end = to + n;
    auto begin = static_cast<std::uint32_t>(before);
    bool skewed = false;
    source_group none;
    for (std::uint32_t slot = 0; slot < slots; ++slot) {  // which are in use is hard to predict
      std::uint32_t const count = counts[slot];
      *(to < end ? to : &none) = {keys == nullptr ? first + slot : keys[slot], begin, count};
      counts[slot] = begin;
      begin += count;
      to += count > 0;
      skewed |= count > most;
    }
    if (skewed) exec::atomic_ref<std::uint64_t>(status.skewed).store(1, exec::relaxed);
  }
  static constexpr vertex_id free_slot = 0xffffffff;  // no vertex has this id
};

/// The host side.
template <class Space>
class bucket_grouping {
 public:
  explicit bucket_grouping(Space const& space) : space_(space), arcs_(space), next_(space) {}

  /// What count_arcs, place_groups and scatter_targets do, of so many edges.
  void group(count_arcs const& what, std::size_t edges, source_group* groups, vertex_id* targets, unsigned which,
             std::uint32_t most) {
    std::size_t const most_arcs = arcs_of(what.which, edges);
    unsigned const slot_bits = static_cast<unsigned>(std::bit_width(std::max(what.table.slots, 1u) - 1));
    // So few arcs that a bucket stays in a cache, and so many that it is worth the trouble.
    unsigned const bucket_bits = std::min({static_cast<unsigned>(std::bit_width(most_arcs / 4096)), slot_bits,
                                           static_cast<unsigned>(std::bit_width(arc_buckets::max_buckets - 1))});
    unsigned const shift = slot_bits - bucket_bits;
    std::uint32_t const buckets = ((std::max(what.table.slots, 1u) - 1) >> shift) + 1;
    arcs_.reserve(most_arcs);
    arc_buckets to{what, edges, arcs_.data(), nullptr, buckets, shift};
    next_.reserve(to.blocks() * buckets);
    to.next = next_.data();
    exec::for_each_tile<1>(space_, to.blocks(), count_buckets{to});
    exec::for_each(space_, 1, place_buckets{to});
    exec::for_each_tile<1>(space_, to.blocks(), scatter_to_buckets{to});
    exec::for_each_tile<1>(space_, buckets, group_bucket{to, groups, targets, which, most});
  }

  [[nodiscard]] std::size_t bytes() const { return arcs_.bytes() + next_.bytes(); }

 private:
  Space space_;
  exec::buffer<bucketed_arc, Space> arcs_;
  exec::buffer<std::uint32_t, Space> next_;
};

}  // namespace wyrm::graph::detail
