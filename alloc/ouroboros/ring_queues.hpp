// SPDX-License-Identifier: Apache-2.0
// Standard queues (Ouroboros, ICS 2020, section 3.3). The queue of each class is a ring in its own memory, outside the
// pool. A queue of pages has a slot for each page that the class could have, but at most 2^21 slots. A queue of chunks
// has a slot for each chunk, or run of chunks, that the class could have.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "../size_classes.hpp"
#include "chunk_pool.hpp"
#include "index_ring.hpp"
#include "queue_ends.hpp"
#include "queue_node.hpp"
#include "ring_memory.hpp"

namespace wyrm::alloc {

class ring_queues_ref {
 public:
  explicit ring_queues_ref(std::array<index_ring, detail::page_classes> const& rings) {
    for (unsigned c = 0; c < detail::page_classes; ++c) rings_[c] = rings[c];
  }

  /// The maximum number of slots of a ring. A ring of this size accepts no more entries when it is half full. The other
  /// half of the slots is enough for the lanes that have seen room but not written yet, and for those that have claimed
  /// entries but not read them yet.
  static constexpr std::uint32_t max_slots = std::uint32_t{1} << 21;
  static constexpr std::int32_t limit = max_slots / 2;

  /// Whether the queue of class c has room for n more entries, for each leader of a group of lanes; collective.
  template <class Tile>
  [[nodiscard]] WYRM_HD bool reserve(Tile const&, chunk_pool_ref const&, queue_ends& ends, bool leads, unsigned c,
                                     std::uint32_t) const {
    return leads && (rings_[c].size() < max_slots || !ends.is_over_limit(limit));
  }
  /// Claims positions for n entries for which there is room; returns the first.
  [[nodiscard]] WYRM_HD static std::uint32_t claim_back(queue_ends& ends, std::uint32_t n) {
    return ends.claim_back(n, limit);
  }
  /// Writes or reads the entry at a claimed position.
  WYRM_HD void write(unsigned c, std::uint32_t position, std::uint64_t index) const {
    rings_[c].write(position, index);
  }
  [[nodiscard]] WYRM_HD std::uint64_t read(unsigned c, std::uint32_t position, std::uint32_t&) const {
    return rings_[c].read(position);
  }
  /// The entry at a position between the ends, while no other thread uses the queue.
  [[nodiscard]] WYRM_HD std::uint64_t peek(unsigned c, std::uint32_t position) const {
    return rings_[c].peek(position);
  }
  // The same without waiting. Queues of chunks always have room, as they have a slot for each chunk.
  [[nodiscard]] WYRM_HD bool try_reserve(unsigned, std::uint32_t) const { return true; }
  [[nodiscard]] WYRM_HD bool try_write(unsigned c, std::uint32_t position, std::uint64_t index) const {
    return rings_[c].try_write(position, index);
  }
  [[nodiscard]] WYRM_HD bool try_read(unsigned c, std::uint32_t position, std::uint64_t& index, std::uint32_t&) const {
    return rings_[c].try_read(position, index);
  }
  [[nodiscard]] WYRM_HD static std::uint32_t entries_per_node(unsigned) {
    return 0;
  }  // rings have no nodes, here and below
  [[nodiscard]] WYRM_HD static std::uint32_t max_nodes(unsigned) { return 0; }
  template <class Tile>
  WYRM_HD void install(Tile const&, chunk_pool_ref const&, unsigned, unsigned, std::uint32_t) const {}
  WYRM_HD void reuse_emptied(unsigned) const {}

  template <class Tile>
  WYRM_HD void finish_and_reuse(Tile const&, unsigned, std::uint32_t, std::uint32_t, bool,
                                detail::unpublished_node&) const {}
  WYRM_HD void try_publish(unsigned, detail::unpublished_node&) const {}

  /// Does nothing: rings have no nodes to free.
  template <class Tile>
  WYRM_HD void finish(Tile const&, chunk_pool_ref const&, unsigned, std::uint32_t, std::uint32_t, std::uint32_t,
                      std::uint32_t) const {}

 private:
  index_ring rings_[detail::page_classes];
};

template <class Space>
class ring_queues {
 public:
  using ref_type = ring_queues_ref;
  static constexpr char const* kind = "s";
  static constexpr std::size_t bytes_per_class = 0;  // without the slots

  /// of_chunks: the entries are chunks instead of pages, and each queue can hold all chunks of the pool.
  ring_queues(Space const& space, extent<Space> const& memory, unsigned /*node_log2*/, bool of_chunks)
      : space_(space), capacity_(memory.capacity()), of_chunks_(of_chunks) {
    for (unsigned c = 0; c < detail::page_classes; ++c) rings_.emplace_back(space);
  }

  [[nodiscard]] ring_queues_ref ref() const {
    std::array<index_ring, detail::page_classes> rings;
    for (unsigned c = 0; c < detail::page_classes; ++c) rings[c] = rings_[c].ring();
    return ring_queues_ref(rings);
  }
  [[nodiscard]] std::size_t bytes() const {
    std::size_t sum = 0;
    for (auto const& ring : rings_) sum += ring.bytes();
    return sum;
  }

  /// Empties all queues. ends(c) are the ends of the queue of class c before the call.
  template <class Ends>
  void reset(std::uint32_t chunks, Ends const& ends) {
    for (unsigned c = 0; c < detail::page_classes; ++c) rings_[c].reset(slots_for(c, chunks), is_wide(c), ends(c));
  }
  /// Allocates the rings for a pool of this number of chunks, for grow(); may throw.
  [[nodiscard]] std::vector<ring_memory<Space>> prepare(std::uint32_t chunks) const {
    std::vector<ring_memory<Space>> longer;
    for (unsigned c = 0; c < detail::page_classes; ++c) longer.push_back(rings_[c].longer(slots_for(c, chunks)));
    return longer;
  }
  /// Moves the entries into the longer rings. ends(c) points to the ends of the queue of class c, on the device.
  template <class Ends>
  void grow(std::vector<ring_memory<Space>> longer, Ends const& ends) {
    for (unsigned c = 0; c < detail::page_classes; ++c) {
      queue_ends now = exec::read(space_, ends(c));
      rings_[c].move_to(std::move(longer[c]), now);
      exec::write(space_, ends(c), now);
    }
  }

  /// The entries of the queue of class c, from the front; throws error(corrupt) if one is missing.
  [[nodiscard]] std::vector<std::uint64_t> entries(unsigned c, queue_ends const& ends, char const* who,
                                                   std::string const& what) const {
    return rings_[c].entries(ends, who, what);
  }
  template <class Ends>
  void check(char const*, chunk_pool<Space> const&, Ends const&) const {}

 private:
  [[nodiscard]] std::size_t slots_for(unsigned c, std::uint32_t chunks) const {
    std::size_t const runs = std::max(chunks / detail::run_chunks(c), 1u);
    return of_chunks_ ? runs : std::min<std::size_t>(runs * detail::pages_per_chunk(c), ring_queues_ref::max_slots);
  }
  [[nodiscard]] bool is_wide(unsigned c) const {
    return !of_chunks_ && capacity_ / chunk_bytes << detail::index_log2(c) >= 0xffffffff;
  }

  Space space_;
  std::size_t capacity_;
  bool of_chunks_;
  std::vector<ring_memory<Space>> rings_;
};

}  // namespace wyrm::alloc
