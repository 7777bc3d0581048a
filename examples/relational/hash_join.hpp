// SPDX-License-Identifier: Apache-2.0
// The hash join of "Dynamic Buffer Management in Massively Parallel Systems: The Power of Randomness" (ACM TOPC 12(1),
// 2025), section 6.1 and appendix B: all pairs of a tuple of R and a tuple of S that have the same key.
//  1. Both tables are partitioned by a radix of the hash values of their keys: histogram, prefix sum, scatter.
//  2. A tile builds a hash table of a partition of R.
//  3. It probes the table with the partition of S. The tile writes the pairs that it finds to its current result page,
//     and allocates other pages when that is full (result_pages.hpp).
// `two_pass_join` is the usual form without an allocator: it probes once to count the pairs, computes their places with
// a prefix sum, and probes again to write them. It shares all other code.
//
// Departures from the paper: a tile of 32 lanes processes a partition, not a block, so partitions are smaller. The hash
// tables are in device memory, a table per tile, which the L2 cache holds. A partition of R that is larger than a table
// is processed in parts. The lanes of a tile share a result page, where the paper has a page per thread.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cuda/std/bit>
#include <wyrm/exec/atomic.hpp>
#include <wyrm/exec/bulk.hpp>
#include <wyrm/exec/launch.hpp>
#include <wyrm/exec/memory.hpp>
#include <wyrm/exec/tile.hpp>

#include "result_pages.hpp"
#include "table.hpp"

namespace relational {

/// The values of two tuples with the same key.
struct alignas(8) joined {
  std::uint32_t r;
  std::uint32_t s;
};

namespace detail {

constexpr std::uint32_t table_tuples = 512;  // of R in a hash table
constexpr std::uint32_t table_chains = 512;
/// The heads of four chains, which are cleared with one store.
struct alignas(16) chain_heads {
  std::uint32_t of[4];
};

/// The partition of a key: the highest bits of its hash value. The lowest bits select the chain in a hash table.
struct radix {
  unsigned bits;
  [[nodiscard]] WYRM_HD std::uint32_t operator()(std::uint32_t key) const {
    return static_cast<std::uint32_t>(std::uint64_t{hash(key)} << bits >> 32);
  }
};

/// Counts the tuples of each partition. Lanes with the same partition make one addition, so one frequent key does not
/// serialise all threads.
struct count_tuples {
  tuple const* tuples;
  radix of;
  std::uint32_t* counts;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    std::uint32_t const p = valid ? of(tuples[i].key) : ~0u;
    std::uint32_t const same = exec::match(t, p);
    if (valid && exec::rank_in(t, same) == 0)
      exec::atomic_ref<std::uint32_t>(counts[p]).fetch_add(static_cast<std::uint32_t>(cuda::std::popcount(same)),
                                                           exec::relaxed);
  }
};
/// Moves each tuple to its partition. `counts` is counted down to 0.
struct scatter_tuples {
  tuple const* tuples;
  radix of;
  std::uint32_t* counts;
  std::uint64_t const* begin;
  tuple* to;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    tuple const mine = valid ? tuples[i] : tuple{};
    std::uint32_t const p = valid ? of(mine.key) : ~0u;
    std::uint32_t const same = exec::match(t, p);
    std::uint32_t left = 0;
    if (valid && exec::rank_in(t, same) == 0)
      left = exec::atomic_ref<std::uint32_t>(counts[p]).fetch_sub(static_cast<std::uint32_t>(cuda::std::popcount(same)),
                                                                  exec::relaxed);
    left = t.shfl(left, exec::first_lane(same));
    if (valid) to[begin[p] + left - 1 - exec::rank_in(t, same)] = mine;
  }
};

/// A partitioned table.
struct partitioned {
  tuple const* tuples;
  std::uint64_t const* begin;  // of each partition, and the end of the last
};

/// How far a tile has come. Each lane has a tuple of S, the tuple of R in the same chain that it reads next (0: none),
/// and maybe a pair to be written.
template <class Out>
struct progress {
  Out out;
  std::size_t partition;
  std::uint64_t first;       // tuple of R in the hash table
  std::uint64_t unread = 0;  // the first tuple of S that no lane has taken
  bool has_tuples = true;    // false at the end of the last partition
  tuple mine{};
  std::uint32_t link = 0;
  bool has = false;
  joined pair{};
};

/// Builds a hash table for each partition of R and probes it with the partition of S, a tile for every k-th partition.
/// Output: what becomes of the pairs, a writer for each tile, which has the functions of result_writer. The hash table
/// of a tile is a chain for each hash value: `heads` has the number of its first tuple, `next` of the following one,
/// and 0 is the end. Lanes insert with an atomic exchange; all other accesses are ordered by the tile's sync().
template <class Output>
struct probe_partitions {
  static constexpr unsigned resident_blocks = Output::resident_blocks;
  static constexpr std::size_t grain = 1;
  partitioned r;
  partitioned s;
  std::uint32_t partitions;
  std::uint32_t tiles;
  chain_heads* heads;
  std::uint32_t* next;
  Output output;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t tile) const {
    progress<typename Output::writer> at{output.begin(t, tile), tile, r.begin[tile]};
    if (build_next(t, tile, at))
      for (at = probe(t, tile, at); at.has_tuples; at = probe(t, tile, at)) at.out.refill(t, at.has);
    output.end(t, tile, at.out);
  }

 private:
  [[nodiscard]] WYRM_HD std::uint32_t& head(std::size_t tile, std::uint32_t key) const {
    std::uint32_t const chain = hash(key) % table_chains;
    return heads[(tile * table_chains + chain) / 4].of[chain % 4];
  }

  // Probes until all tuples of the tile are joined, or the output needs pages. See result_writer for why it is not
  // inlined.
  template <class Tile, class Out>
  [[nodiscard]] WYRM_NOINLINE WYRM_HD progress<Out> probe(Tile const t, std::size_t tile, progress<Out> at) const {
    while (at.out.write(t, at.has, at.pair)) {
      while (at.has_tuples && !t.any(at.link != 0)) take_tuples(t, tile, at);
      if (!at.has_tuples) break;
      tuple const other = at.link != 0 ? r.tuples[at.first + at.link - 1] : tuple{};
      at.has = at.link != 0 && other.key == at.mine.key;
      at.pair = {other.value, at.mine.value};
      at.link = at.link != 0 ? next[tile * table_tuples + at.link - 1] : 0;
    }
    return at;
  }
  template <class Tile, class Out>
  WYRM_HD void take_tuples(Tile const& t, std::size_t tile, progress<Out>& at) const {
    while (at.unread >= s.begin[at.partition + 1]) {
      at.first += table_tuples;
      t.sync();
      if (!build_next(t, tile, at)) return;
    }
    std::uint64_t const j = at.unread + t.rank();
    bool const valid = j < s.begin[at.partition + 1];
    at.unread += t.size();
    at.mine = valid ? s.tuples[j] : tuple{};
    at.link = valid ? head(tile, at.mine.key) : 0;
  }
  // Builds a table of the tuples of R from at.first on, or of the next partition that has some. False if none has.
  template <class Tile, class Out>
  WYRM_HD bool build_next(Tile const& t, std::size_t tile, progress<Out>& at) const {
    while (at.first >= r.begin[at.partition + 1]) {
      at.partition += tiles;
      at.has_tuples = at.partition < partitions;
      if (!at.has_tuples) return false;
      at.first = r.begin[at.partition];
    }
    std::uint64_t const left = r.begin[at.partition + 1] - at.first;
    build(t, tile, at.first, static_cast<std::uint32_t>(left < table_tuples ? left : table_tuples));
    at.unread = s.begin[at.partition];
    return true;
  }
  template <class Tile>
  WYRM_HD void build(Tile const& t, std::size_t tile, std::uint64_t first, std::uint32_t n) const {
    for (std::uint32_t k = t.rank(); k < table_chains / 4; k += t.size()) heads[tile * table_chains / 4 + k] = {};
    t.sync();
    for (std::uint32_t i = t.rank(); i < n; i += t.size())
      next[tile * table_tuples + i] =
          exec::atomic_ref<std::uint32_t>(head(tile, r.tuples[first + i].key)).exchange(i + 1, exec::relaxed);
    t.sync();
  }
};

/// Writes pairs to pages.
template <class Ref>
struct to_pages {
  static constexpr unsigned resident_blocks = 4;  // the loop, not the allocator, decides the speed
  Ref pool;
  result_lists_ref<joined> lists;
  using writer = result_writer<joined, Ref>;
  template <class Tile>
  [[nodiscard]] WYRM_HD writer begin(Tile const&, std::size_t tile) const {
    return {lists, pool, tile};
  }
  template <class Tile>
  WYRM_HD void end(Tile const& t, std::size_t, writer& out) const {
    out.finish(t);
  }
};
/// Counts the pairs of each tile.
struct to_counts {
  static constexpr unsigned resident_blocks = 4;
  std::uint32_t* counts;
  struct writer {
    std::uint32_t count = 0;
    template <class Tile>
    WYRM_HD bool write(Tile const&, bool& has, joined) {
      count += has;
      has = false;
      return true;
    }
    template <class Tile>
    WYRM_HD void refill(Tile const&, bool&) {}
  };
  template <class Tile>
  [[nodiscard]] WYRM_HD writer begin(Tile const&, std::size_t) const {
    return {};
  }
  template <class Tile>
  WYRM_HD void end(Tile const& t, std::size_t tile, writer const& out) const {
    std::uint32_t const all = exec::sum(t, out.count);
    if (t.rank() == 0) counts[tile] = all;
  }
};
/// Writes the pairs of each tile to their places in an array.
struct to_array {
  static constexpr unsigned resident_blocks = 4;
  std::uint64_t const* places;
  joined* pairs;
  struct writer {
    joined* at;
    template <class Tile>
    WYRM_HD bool write(Tile const& t, bool& has, joined pair) {
      std::uint32_t const lanes = t.ballot(has);
      if (has) at[exec::rank_in(t, lanes)] = pair;
      at += cuda::std::popcount(lanes);
      has = false;
      return true;
    }
    template <class Tile>
    WYRM_HD void refill(Tile const&, bool&) {}
  };
  template <class Tile>
  [[nodiscard]] WYRM_HD writer begin(Tile const&, std::size_t tile) const {
    return {pairs + places[tile]};
  }
  template <class Tile>
  WYRM_HD void end(Tile const&, std::size_t, writer const&) const {}
};

}  // namespace detail

/// The parts that both forms of the join have in common, and their memory, which is kept from call to call.
template <class Space>
class join_memory {
 public:
  /// The largest numbers of tuples of the tables, each below 2^32.
  join_memory(Space const& space, std::size_t most_r, std::size_t most_s)
      : space_(space),
        radix_{bits_for(most_r)},
        tiles_(tiles_for(space, partitions())),
        bulk_(space),
        counts_(space, partitions()),
        r_begin_(space, partitions() + 1),
        s_begin_(space, partitions() + 1),
        r_(space, most_r),
        s_(space, most_s),
        heads_(space, tiles_ * (detail::table_chains / 4)),
        next_(space, tiles_ * detail::table_tuples),
        pair_counts_(space, tiles_),
        pair_places_(space, tiles_ + 1) {
    bulk_.reserve(std::max(partitions(), tiles_));
  }

  /// The number of tiles that probe.
  [[nodiscard]] std::size_t tiles() const { return tiles_; }

  /// Partitions both tables, which are arrays of the space.
  void partition(tuple const* r, std::size_t r_count, tuple const* s, std::size_t s_count) {
    reorder(r, r_count, r_begin_, r_);
    reorder(s, s_count, s_begin_, s_);
  }
  /// Probes the partitioned tables.
  template <class Output>
  void probe(Output const& output) const {
    exec::for_each_tile<32>(space_, tiles_,
                            detail::probe_partitions<Output>{{r_.data(), r_begin_.data()},
                                                             {s_.data(), s_begin_.data()},
                                                             static_cast<std::uint32_t>(partitions()),
                                                             static_cast<std::uint32_t>(tiles_),
                                                             heads_.data(),
                                                             next_.data(),
                                                             output});
  }
  /// Probes them twice: counts the pairs of each tile, and writes them to an array, which becomes as large as needed.
  /// Returns their number.
  std::size_t probe_twice(exec::buffer<joined, Space>& pairs) {
    probe(detail::to_counts{pair_counts_.data()});
    bulk_.inclusive_sum(pair_counts_.data(), pair_places_.data(), tiles_);
    std::size_t const count = exec::read(space_, pair_places_.data() + tiles_);
    pairs.reserve(count);
    probe(detail::to_array{pair_places_.data(), pairs.data()});
    space_.synchronize();
    return count;
  }

 private:
  // 256 to 512 tuples per partition: a table is at least half full, and rarely too small.
  static unsigned bits_for(std::size_t tuples) {
    return static_cast<unsigned>(std::bit_width(tuples / (detail::table_tuples - detail::table_tuples / 8)));
  }
  [[nodiscard]] std::size_t partitions() const { return std::size_t{1} << radix_.bits; }

  void reorder(tuple const* from, std::size_t n, exec::buffer<std::uint64_t, Space>& begin,
               exec::buffer<tuple, Space>& to) {
    space_.fill(counts_.data(), 0, counts_.bytes());
    exec::for_each_lane<32>(space_, n, detail::count_tuples{from, radix_, counts_.data()});
    bulk_.inclusive_sum(counts_.data(), begin.data(), partitions());
    exec::for_each_lane<32>(space_, n, detail::scatter_tuples{from, radix_, counts_.data(), begin.data(), to.data()});
  }

  Space space_;
  detail::radix radix_;
  std::size_t tiles_;
  typename Space::bulk bulk_;
  exec::buffer<std::uint32_t, Space> counts_;
  exec::buffer<std::uint64_t, Space> r_begin_;
  exec::buffer<std::uint64_t, Space> s_begin_;
  exec::buffer<tuple, Space> r_;
  exec::buffer<tuple, Space> s_;
  exec::buffer<detail::chain_heads, Space> heads_;
  exec::buffer<std::uint32_t, Space> next_;
  exec::buffer<std::uint32_t, Space> pair_counts_;
  exec::buffer<std::uint64_t, Space> pair_places_;
};

/// Joins two tables, arrays of the space, and writes the pairs to pages of the pool. `results` has a list for each of
/// memory.tiles() tiles; results.lost() tells how many pairs there was no memory for.
template <class Space, class Allocator>
void hash_join(join_memory<Space>& memory, tuple const* r, std::size_t r_count, tuple const* s, std::size_t s_count,
               Allocator& pool, result_lists<joined, Space>& results) {
  memory.partition(r, r_count, s, s_count);
  memory.probe(detail::to_pages<typename Allocator::ref_type>{pool.ref(), results.ref()});
}

/// The same in two passes, without an allocator. Returns the number of pairs.
template <class Space>
std::size_t two_pass_join(join_memory<Space>& memory, tuple const* r, std::size_t r_count, tuple const* s,
                          std::size_t s_count, exec::buffer<joined, Space>& pairs) {
  memory.partition(r, r_count, s, s_count);
  return memory.probe_twice(pairs);
}

}  // namespace relational
