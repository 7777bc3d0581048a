// SPDX-License-Identifier: Apache-2.0
// The status of an update: counters on the device that its kernels read and write, and that the host reads once, at the
// end. So the host does not wait between the steps of an update.
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

/// All zero when an update begins.
struct update_status {
  /// Sums are spread over several places, as a device serves one addition to a place at a time.
  struct alignas(64) sums {
    std::uint64_t arcs;        // that change the graph
    std::uint64_t edges;       // of these, the ones that count as edges (undirected: one of the two directions)
    std::uint64_t distinct;    // edges of the batch without repeats
    std::uint64_t self_loops;  // in the batch
  };
  static constexpr unsigned places = 16;
  sums part[places];

  /// Not 0: an allocation found no memory, and nobody asks any more. All the same; many places, as everybody looks.
  struct alignas(64) flag {
    std::uint64_t is_set;
  };
  flag exhausted[places];

  /// Where a warp, or a thread of a host, adds to the sums.
  template <class Tile>
  [[nodiscard]] WYRM_HD sums& mine(Tile const& t) {
    return part[exec::thread_number(t) / 32 % places];
  }
  /// By one lane.
  template <class Tile>
  WYRM_HD void sum_up(Tile const& t, std::uint64_t arcs, std::uint64_t edges, std::uint64_t distinct) {
    sums& all = mine(t);
    if (arcs > 0) add(all.arcs, arcs);
    if (edges > 0) add(all.edges, edges);
    if (distinct > 0) add(all.distinct, distinct);
  }
  /// An allocator that has no memory takes long to be sure of that: once is enough for all.
  template <class Tile>
  [[nodiscard]] WYRM_HD bool is_exhausted(Tile const& t) {
    return exec::atomic_ref<std::uint64_t>(exhausted[exec::thread_number(t) / 32 % places].is_set)
               .load(exec::relaxed) != 0;
  }
  WYRM_HD void set_exhausted() {
    for (flag& f : exhausted) exec::atomic_ref<std::uint64_t>(f.is_set).store(1, exec::relaxed);
  }

  std::uint64_t batches[2];          // of each table: source groups << 32 | arcs
  std::uint64_t long_groups[2];      // of each table: see group_lists,
  std::uint64_t group_parts[2];      // and these
  std::uint64_t lists[2];            // of each table: reallocations << 32 | heavy changes, see group_lists
  std::uint64_t hubs[2];             // of each table: hubs << 32 | parts of hubs
  std::uint64_t out_of_range;        // edges; or rows of a CSR that are wrong
  std::uint64_t first_out_of_range;  // such row: the complement of its number, so that the largest is the first
  std::uint64_t skewed;        // not 0: there is a source group that is too large for one tile, or a row that is none
  std::uint64_t failed_bytes;  // of pages that could not be had

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
  /// Whether the batch cannot be planned as it is.
  [[nodiscard]] WYRM_HD bool is_refused() const { return (out_of_range | skewed) != 0; }
  /// Whether what is planned must not be carried out, or not yet.
  [[nodiscard]] WYRM_HD bool stops() const { return (out_of_range | skewed | failed_bytes) != 0; }

  [[nodiscard]] sums total() const {
    sums all{};
    for (sums const& s : part) {
      all.arcs += s.arcs;
      all.edges += s.edges;
      all.distinct += s.distinct;
      all.self_loops += s.self_loops;
    }
    return all;
  }
};

/// What the kernels that carve pages tell each other (carved_rows.hpp), by size. All zero when a layout begins.
struct carved_pages {
  static constexpr unsigned sizes = 8;
  // A device serves one addition to a block of 256 bytes at a time.
  struct alignas(256) counter {
    std::uint64_t sum;
  };
  counter rows[sizes];
  counter hub_bytes;
  counter refused;  // bytes, for tests
  alloc::page_array pages[sizes];
  enum : std::uint32_t { not_there, there, used } state;
};

/// A thread a word.
struct copy_words {
  std::uint64_t const* from;
  std::uint64_t* to;
  WYRM_HD void operator()(std::size_t i) const { to[i] = from[i]; }
};

/// The status in the memory of a space, and what of it the host has seen.
template <class Space>
class status_memory {
 public:
  explicit status_memory(Space const& space) : space_(space), there_(space, 1), seen_(space, 1) {}

  [[nodiscard]] update_status* data() { return &there_.data()->status; }
  [[nodiscard]] carved_pages* carved() { return &there_.data()->carved; }
  [[nodiscard]] std::size_t bytes() const { return there_.bytes(); }
  /// Before an update.
  void clear() { space_.fill(data(), 0, sizeof(update_status)); }
  /// Before a layout.
  void clear_all() { space_.fill(there_.data(), 0, there_.bytes()); }
  void clear(std::uint64_t update_status::*what) { space_.fill(&(data()->*what), 0, sizeof(std::uint64_t)); }
  /// Before what could not be had is asked for once more.
  void clear_failures() {
    clear(&update_status::failed_bytes);
    space_.fill(data()->exhausted, 0, sizeof(data()->exhausted));
  }
  void clear_sums() { space_.fill(data()->part, 0, sizeof(data()->part)); }
  /// What the status is when the work so far is done; wait() has it then. The device writes it into memory of the host
  /// itself, sooner than a copy would begin.
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
