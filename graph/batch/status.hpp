// SPDX-License-Identifier: Apache-2.0
// The status of an update: counters on the device. The kernels of the update read and write them, and the host reads
// them once at the end, so the host does not wait between the steps.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../alloc/allocator.hpp"
#include "../../exec/atomic.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../../exec/tile.hpp"

namespace wyrm::graph::detail {

WYRM_HD inline void add(std::uint64_t& counter, std::uint64_t n) {
  exec::atomic_ref<std::uint64_t>(counter).fetch_add(n, exec::relaxed);
}

/// All members are zero at the beginning of an update.
struct update_status {
  /// Sums are distributed over several places, because a device serialises atomic additions to the same place.
  struct alignas(64) sums {
    std::uint64_t arcs;        // arcs that are inserted or erased; of an entry_batch, the difference, modulo 2^64
    std::uint64_t edges;       // edges that are inserted or erased; of an entry_batch, inserted
    std::uint64_t distinct;    // edges of the batch without duplicates
    std::uint64_t self_loops;  // self-loops in the batch
    std::uint64_t erased;      // of an entry_batch: edges that are erased,
    std::uint64_t updated;     // that get another value,
    std::uint64_t missing;     // that are to be erased but not in the graph
  };
  static constexpr unsigned places = 16;
  sums part[places];

  /// Not 0: an allocation has failed, and threads make no further ones. Copies of one flag, because all threads read
  /// it.
  struct alignas(64) flag {
    std::uint64_t is_set;
  };
  flag exhausted[places];

  /// The place for the sums of a warp, or of a host thread.
  template <class Tile>
  [[nodiscard]] WYRM_HD sums& mine(Tile const& t) {
    return part[exec::thread_number(t) / 32 % places];
  }
  /// Adds to the sums; called by one lane.
  template <class Tile>
  WYRM_HD void sum_up(Tile const& t, std::uint64_t arcs, std::uint64_t edges, std::uint64_t distinct) {
    sums& all = mine(t);
    if (arcs != 0) add(all.arcs, arcs);
    if (edges > 0) add(all.edges, edges);
    if (distinct > 0) add(all.distinct, distinct);
  }
  template <class Tile>
  WYRM_HD void sum_up(Tile const& t, sums const& some) {
    sum_up(t, some.arcs, some.edges, some.distinct);
    sums& all = mine(t);
    if (some.erased > 0) add(all.erased, some.erased);
    if (some.updated > 0) add(all.updated, some.updated);
    if (some.missing > 0) add(all.missing, some.missing);
  }
  /// Whether an allocation has failed. Further ones are skipped, because a failing allocation is slow.
  template <class Tile>
  [[nodiscard]] WYRM_HD bool is_exhausted(Tile const& t) {
    return exec::atomic_ref<std::uint64_t>(exhausted[exec::thread_number(t) / 32 % places].is_set)
               .load(exec::relaxed) != 0;
  }
  WYRM_HD void set_exhausted() {
    for (flag& f : exhausted) exec::atomic_ref<std::uint64_t>(f.is_set).store(1, exec::relaxed);
  }

  std::uint64_t batches[2];          // for each table: source groups << 32 | arcs
  std::uint64_t long_groups[2];      // for each table, see group_lists
  std::uint64_t group_parts[2];      // for each table, see group_lists
  std::uint64_t lists[2];            // for each table: reallocations << 32 | heavy changes, see group_lists
  std::uint64_t hubs[2];             // for each table: hubs << 32 | parts of hubs
  std::uint64_t out_of_range;        // number of edges out of range, or of malformed rows of a CSR
  std::uint64_t first_out_of_range;  // complement of the number of the first such row: the maximum is the first
  std::uint64_t has_large_group;  // not 0: a source group is too large for one tile, or offsets of a CSR are malformed
  std::uint64_t failed_bytes;     // bytes of failed page allocations
  std::uint64_t no_weights;       // planned values that are no weights, if attached results need weights

  [[nodiscard]] WYRM_HD std::uint32_t groups(unsigned table) const {
    return static_cast<std::uint32_t>(batches[table] >> 32);
  }
  [[nodiscard]] WYRM_HD std::uint32_t arcs(unsigned table) const { return static_cast<std::uint32_t>(batches[table]); }
  [[nodiscard]] WYRM_HD std::uint32_t reallocations(unsigned table) const {
    return static_cast<std::uint32_t>(lists[table] >> 32);
  }
  [[nodiscard]] WYRM_HD std::uint32_t heavy_changes(unsigned table) const {
    return static_cast<std::uint32_t>(lists[table]);
  }
  [[nodiscard]] WYRM_HD std::uint32_t hub_count(unsigned table) const {
    return static_cast<std::uint32_t>(hubs[table] >> 32);
  }
  [[nodiscard]] WYRM_HD std::uint32_t hub_parts(unsigned table) const {
    return static_cast<std::uint32_t>(hubs[table]);
  }
  /// Whether the batch cannot be planned: it is malformed, or needs plan_large_groups.
  [[nodiscard]] WYRM_HD bool is_refused() const { return (out_of_range | has_large_group) != 0; }
  /// Whether the plan must not be executed, or not yet.
  [[nodiscard]] WYRM_HD bool stops() const { return (out_of_range | has_large_group | failed_bytes | no_weights) != 0; }

  [[nodiscard]] sums total() const {
    sums all{};
    for (sums const& s : part) {
      all.arcs += s.arcs;
      all.edges += s.edges;
      all.distinct += s.distinct;
      all.self_loops += s.self_loops;
      all.erased += s.erased;
      all.updated += s.updated;
      all.missing += s.missing;
    }
    return all;
  }
};

/// The common state of the kernels that carve pages (carved_rows.hpp), by page size. All zero at the beginning of a
/// layout.
struct carved_pages {
  static constexpr unsigned sizes = 24;  // size classes up to the page of the largest vertex that is no hub
  // A device serialises atomic additions to the same 256 bytes.
  struct alignas(256) counter {
    std::uint64_t sum;
  };
  counter rows[sizes];
  counter hub_bytes;
  counter failed;  // bytes of pages that fail, for tests
  alloc::page_array pages[sizes];
  enum : std::uint32_t { not_there, there, used } state;
};

/// One thread per word: copies it.
struct copy_words {
  std::uint64_t const* from;
  std::uint64_t* to;
  WYRM_HD void operator()(std::size_t i) const { to[i] = from[i]; }
};

/// The status in memory of a space, and the copy that the host reads.
template <class Space>
class status_memory {
 public:
  explicit status_memory(Space const& space) : space_(space), there_(space, 1), seen_(space, 1) {}

  [[nodiscard]] update_status* data() { return &there_.data()->status; }
  [[nodiscard]] carved_pages* carved() { return &there_.data()->carved; }
  [[nodiscard]] std::size_t bytes() const { return there_.bytes(); }
  /// Called before an update.
  void clear() { space_.fill(data(), 0, sizeof(update_status)); }
  /// Called before a layout.
  void clear_all() { space_.fill(there_.data(), 0, there_.bytes()); }
  void clear(std::uint64_t update_status::*what) { space_.fill(&(data()->*what), 0, sizeof(std::uint64_t)); }
  /// Called before failed allocations are repeated.
  void clear_failures() {
    clear(&update_status::failed_bytes);
    space_.fill(data()->exhausted, 0, sizeof(data()->exhausted));
  }
  void clear_sums() { space_.fill(data()->part, 0, sizeof(data()->part)); }
  /// Enqueues a read of the status after all work so far; wait() returns it. A kernel writes the status to host memory,
  /// which takes less time than the start of a copy.
  void enqueue_read() {
    exec::for_each(
        space_, sizeof(update_status) / sizeof(std::uint64_t),
        copy_words{reinterpret_cast<std::uint64_t const*>(data()), reinterpret_cast<std::uint64_t*>(seen_.data())});
  }
  [[nodiscard]] update_status const& wait() {
    space_.synchronize();
    return *seen_.data();
  }
  [[nodiscard]] update_status const& read() {
    enqueue_read();
    return wait();
  }

 private:
  struct all_there {
    update_status status;
    carved_pages carved;
  };
  Space space_;
  exec::buffer<all_there, Space> there_;
  exec::staging_buffer<update_status, Space> seen_;
};

}  // namespace wyrm::graph::detail
