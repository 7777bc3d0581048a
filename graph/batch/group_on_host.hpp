// SPDX-License-Identifier: Apache-2.0
// Groups the arcs of a batch by source on a CPU. Atomic additions of several threads to one table would be slow there.
// Therefore arcs are first scattered to buckets by the first bits of their source or its hash. Then one thread
// processes each bucket: it counts the arcs by source, forms source groups, and writes the targets by source.
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
  std::uint32_t source;  // replaced by its slot in the bucket's part of the table
  vertex_id target;
  using grouped = vertex_id;

  bucketed_arc() = default;
  bucketed_arc(vertex_id s, vertex_id t, std::size_t) : source(s), target(t) {}
  [[nodiscard]] vertex_id group() const { return target; }
};
/// The same for an entry_batch; the key of the arc is grouped.
struct bucketed_entry {
  std::uint32_t source;
  vertex_id target;
  std::uint32_t entry;
  using grouped = std::uint64_t;

  bucketed_entry() = default;
  bucketed_entry(vertex_id s, vertex_id t, std::size_t e)
      : source(s), target(t), entry(static_cast<std::uint32_t>(e)) {}
  [[nodiscard]] std::uint64_t group() const { return entry_batch::key(target, entry); }
};

template <class Arc>
struct arc_buckets {
  count_arcs what;
  std::size_t size;     // number of edges
  Arc* arcs;            // sorted by bucket, and within a bucket by block
  std::uint32_t* next;  // at b * buckets + s, for block b and bucket s: number of arcs, then their position
  std::uint32_t buckets;
  unsigned shift;     // slot >> shift is the bucket
  std::size_t block;  // edges per block
  static constexpr std::uint32_t max_buckets = 256;

  [[nodiscard]] std::size_t blocks() const { return (size + block - 1) / block; }
  [[nodiscard]] std::uint32_t bucket_of(vertex_id v) const { return what.table.home(v) >> shift; }
  struct special_edges {
    unsigned loops;
    unsigned outside;
  };
  /// Calls f(source, target, number of the edge) for each arc of a block that is not dropped.
  template <class F>
  special_edges for_arcs(std::size_t b, F const& f) const {
    count_arcs const rule = what;  // a copy that no pointer of f aliases
    bool const forward = rule.which != orientation::reverse;
    bool const reverse = rule.which != orientation::forward;
    special_edges out{0, 0};
    for (std::size_t i = b * block, end = std::min(size, i + block); i < end; ++i) {
      edge const e = rule.edges[i];
      auto const [outside, loop, counts] = rule.look_at(e, true);
      out.outside += outside;
      out.loops += loop;
      if (!counts) continue;
      if (forward) f(e.source, e.target, i);
      if (reverse && !(forward && loop)) f(e.target, e.source, i);
    }
    return out;
  }
  /// The beginning of a bucket after scatter_to_buckets; for bucket `buckets` the end of the last one.
  [[nodiscard]] std::uint32_t begin(std::size_t bucket) const {
    return bucket == 0 ? 0 : next[(blocks() - 1) * buckets + bucket - 1];
  }
};

/// One thread per block: counts the arcs of each bucket.
template <class Arc>
struct count_buckets {
  static constexpr std::size_t grain = 1;
  arc_buckets<Arc> to;

  template <class Tile>
  void operator()(Tile const& t, std::size_t b) const {
    std::uint32_t counts[arc_buckets<Arc>::max_buckets] = {};
    arc_buckets<Arc> const local = to;  // a copy that no pointer aliases
    auto const out = local.for_arcs(b, [&](vertex_id v, vertex_id, std::size_t) { ++counts[local.bucket_of(v)]; });
    std::copy_n(counts, to.buckets, to.next + b * to.buckets);
    to.what.record_special_edges(t, out.loops, out.outside);
  }
};
/// One thread: computes the position of the arcs of each block and bucket, by prefix sums.
template <class Arc>
struct place_buckets {
  arc_buckets<Arc> to;
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
/// One thread per block: writes the arcs to their buckets.
template <class Arc>
struct scatter_to_buckets {
  static constexpr std::size_t grain = 1;
  arc_buckets<Arc> to;

  template <class Tile>
  void operator()(Tile const&, std::size_t b) const {
    std::uint32_t next[arc_buckets<Arc>::max_buckets];
    std::copy_n(to.next + b * to.buckets, to.buckets, next);
    arc_buckets<Arc> const local = to;
    local.for_arcs(b, [&](vertex_id v, vertex_id target, std::size_t i) {
      local.arcs[next[local.bucket_of(v)]++] = Arc(v, target, i);
    });
    std::copy_n(next, to.buckets, to.next + b * to.buckets);
  }
};
/// Instead of these three steps if there is one bucket: one thread writes all arcs to it.
template <class Arc>
struct fill_bucket {
  arc_buckets<Arc> to;
  void operator()(std::size_t) const {
    arc_buckets<Arc> const local = to;
    std::uint32_t n = 0;
    for (std::size_t b = 0; b < local.blocks(); ++b) {
      auto const out =
          local.for_arcs(b, [&](vertex_id v, vertex_id target, std::size_t i) { local.arcs[n++] = Arc(v, target, i); });
      to.what.record_special_edges(exec::scalar_tile{}, out.loops, out.outside);
    }
    to.next[to.blocks() - 1] = n;
  }
};

/// The number of words of the keys of a hash table on a CPU; slots: at least twice the number of arcs. Each bucket has
/// up to four slots of two words per arc. (It also has two counts per arc.)
[[nodiscard]] constexpr std::size_t keys_on_host(std::size_t slots) { return 4 * slots; }

/// One thread per bucket: counts its arcs by source, forms source groups, and writes their targets or keys, in the
/// order of the batch.
template <class Arc>
struct group_bucket {
  static constexpr std::size_t grain = 1;
  arc_buckets<Arc> from;
  source_group* groups;
  typename Arc::grouped* grouped;  // targets, or keys
  unsigned which;                  // the number of the table
  std::uint32_t most;              // maximum size of a source group that is not too large

  template <class Tile>
  void operator()(Tile const&, std::size_t bucket) const {
    std::uint32_t const arcs = from.begin(bucket + 1) - from.begin(bucket);
    if (arcs == 0) return;
    Arc* const arc = from.arcs + from.begin(bucket);
    std::uint32_t* const begins =
        from.what.table.keys == nullptr ? by_vertex(bucket, arc, arcs) : by_hash(bucket, arc, arcs);
    for (std::uint32_t i = 0; i < arcs; ++i) grouped[begins[arc[i].source]++] = arc[i].group();
  }

 private:
  // Both replace the sources of arcs by indices of the result: the begin of the source group.

  // The table has a count for each vertex of the bucket. Groups are in the order of vertices.
  std::uint32_t* by_vertex(std::size_t bucket, Arc* arc, std::uint32_t arcs) const {
    auto const first = static_cast<vertex_id>(bucket << from.shift);
    std::uint32_t const vertices = std::min(from.what.table.slots - first, std::uint32_t{1} << from.shift);
    std::uint32_t* const counts = from.what.table.counts + first;
    std::fill_n(counts, vertices, 0u);
    std::uint32_t n = 0;
    for (std::uint32_t i = 0; i < arcs; ++i) {
      arc[i].source -= first;
      n += counts[arc[i].source]++ == 0;
    }
    auto [to, begin] = claim(n, arcs);
    source_group* const end = to + n;
    bool skewed = false;
    source_group none;
    for (std::uint32_t v = 0; v < vertices; ++v) {  // without a branch, as the vertices with arcs are unpredictable
      std::uint32_t const count = counts[v];
      *(to < end ? to : &none) = {first + v, begin, count};
      counts[v] = begin;
      begin += count;
      to += count > 0;
      skewed |= count > most;
    }
    if (skewed) report_large_group();
    return counts;
  }

  // The hash table numbers the sources. Groups are in the order of first arcs.
  std::uint32_t* by_hash(std::size_t bucket, Arc* arc, std::uint32_t arcs) const {
    slot_table const table = from.what.table;
    numbered* const slot = reinterpret_cast<numbered*>(table.keys) + std::size_t{4} * from.begin(bucket);
    std::uint32_t* const counts = table.counts + std::size_t{2} * from.begin(bucket);
    vertex_id* const sources = counts + arcs;
    std::uint32_t const slots = std::bit_ceil(2 * arcs);
    std::fill_n(slot, slots, numbered{free_slot, 0});
    // The hashes of all sources of a bucket have the same first bits, so the following bits select the slot.
    unsigned const in_common = 32 - table.shift - from.shift;
    unsigned const dropped = 32 - static_cast<unsigned>(std::countr_zero(slots));
    std::uint32_t n = 0;
    for (std::uint32_t i = 0; i < arcs; ++i) {
      vertex_id const v = arc[i].source;
      std::uint32_t at = (table.hash(v) << in_common) >> dropped;
      while (slot[at].key != v && slot[at].key != free_slot) at = (at + 1) & (slots - 1);
      bool const is_new = slot[at].key == free_slot;
      std::uint32_t const number = is_new ? n : slot[at].number;
      slot[at] = {v, number};
      counts[number] = is_new ? 1 : counts[number] + 1;
      sources[number] = v;
      arc[i].source = number;
      n += is_new;
    }
    auto [to, begin] = claim(n, arcs);
    bool skewed = false;
    for (std::uint32_t k = 0; k < n; ++k) {
      std::uint32_t const count = counts[k];
      to[k] = {sources[k], begin, count};
      counts[k] = begin;
      begin += count;
      skewed |= count > most;
    }
    if (skewed) report_large_group();
    return counts;
  }
  struct numbered {
    vertex_id key;
    std::uint32_t number;
  };
  static constexpr vertex_id free_slot = 0xffffffff;  // no vertex has this id

  struct place {
    source_group* to;
    std::uint32_t begin;
  };
  // Room for n source groups and their arcs.
  [[nodiscard]] place claim(std::uint32_t n, std::uint32_t arcs) const {
    std::uint64_t const before = exec::atomic_ref<std::uint64_t>(from.what.status->batches[which])
                                     .fetch_add(std::uint64_t{n} << 32 | arcs, exec::relaxed);
    return {groups + (before >> 32), static_cast<std::uint32_t>(before)};
  }
  void report_large_group() const {
    exec::atomic_ref<std::uint64_t>(from.what.status->has_large_group).store(1, exec::relaxed);
  }
};

/// The host side: memory and launches.
template <class Space>
class bucket_grouping {
 public:
  explicit bucket_grouping(Space const& space) : space_(space), arcs_(space), next_(space) {}

  /// Has the same result as count_arcs, place_groups and scatter_targets (Arc: bucketed_arc) or scatter_keys
  /// (bucketed_entry), for a batch of `edges` edges.
  template <class Arc>
  void group(count_arcs const& what, std::size_t edges, source_group* groups, typename Arc::grouped* grouped,
             unsigned which, std::uint32_t most) {
    std::size_t const most_arcs = arcs_of(what.which, edges);
    unsigned const slot_bits = static_cast<unsigned>(std::bit_width(std::max(what.table.slots, 1u) - 1));
    // Buckets of about 2048 arcs, which fit into a cache and are large enough to amortise the cost of a bucket.
    unsigned const bucket_bits = std::min({static_cast<unsigned>(std::bit_width(most_arcs / 2048)), slot_bits,
                                           static_cast<unsigned>(std::bit_width(arc_buckets<Arc>::max_buckets - 1))});
    unsigned const shift = slot_bits - bucket_bits;
    std::uint32_t const buckets = ((std::max(what.table.slots, 1u) - 1) >> shift) + 1;
    arcs_.reserve(most_arcs * (sizeof(Arc) / sizeof(std::uint32_t)));
    std::size_t const block = std::clamp<std::size_t>(edges / 16, 2048, 8192);
    arc_buckets<Arc> to{what, edges, reinterpret_cast<Arc*>(arcs_.data()), nullptr, buckets, shift, block};
    next_.reserve(to.blocks() * buckets);
    to.next = next_.data();
    if (buckets == 1) {
      exec::for_each(space_, 1, fill_bucket<Arc>{to});
    } else {
      exec::for_each_tile<1>(space_, to.blocks(), count_buckets<Arc>{to});
      exec::for_each(space_, 1, place_buckets<Arc>{to});
      exec::for_each_tile<1>(space_, to.blocks(), scatter_to_buckets<Arc>{to});
    }
    exec::for_each_tile<1>(space_, buckets, group_bucket<Arc>{to, groups, grouped, which, most});
  }

  [[nodiscard]] std::size_t bytes() const { return arcs_.bytes() + next_.bytes(); }

 private:
  Space space_;
  exec::buffer<std::uint32_t, Space> arcs_;
  exec::buffer<std::uint32_t, Space> next_;
};

}  // namespace wyrm::graph::detail
