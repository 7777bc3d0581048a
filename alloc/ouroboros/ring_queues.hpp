// SPDX-License-Identifier: Apache-2.0
// Standard queues (Ouroboros, ICS 2020, section 3.3): the slots of each class lie in memory of their own, beside the
// pool: as many as the class could have pages, but 2^21 at most.
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

namespace wyrm::alloc {

class ring_queues_ref {
 public:
  explicit ring_queues_ref(std::array<index_ring, detail::page_classes> const& rings) {
    for (unsigned c = 0; c < detail::page_classes; ++c) rings_[c] = rings[c];
  }

  /// The most slots a ring has. Such a ring takes no more entries when it is half full: lanes that have just seen room,
  /// and those that have taken entries and not read them yet, are fewer than the other half.
  static constexpr std::uint32_t most = std::uint32_t{1} << 21;
  static constexpr std::int32_t limit = most / 2;

  /// Whether there is room for n more entries in the queue of class c, asked by the lanes that lead; collective.
  template <class Tile>
  [[nodiscard]] WYRM_HD bool reserve(Tile const&, chunk_pool_ref const&, queue_ends& ends, bool leads, unsigned c,
                                     std::uint32_t) const {
    return leads && (rings_[c].size() < most || !ends.is_crowded(limit));
  }
  /// Positions for entries for which there is room.
  [[nodiscard]] WYRM_HD static std::uint32_t claim_back(queue_ends& ends, std::uint32_t n) {
    return ends.claim_back(n, limit);
  }
  /// Writes, or reads, the entry at a claimed position.
  WYRM_HD void put(unsigned c, std::uint32_t position, std::uint64_t index) const { rings_[c].put(position, index); }
  [[nodiscard]] WYRM_HD std::uint64_t take(unsigned c, std::uint32_t position, std::uint32_t&) const {
    return rings_[c].take(position);
  }
  /// The entry at a position between the ends, while nobody is at work.
  [[nodiscard]] WYRM_HD std::uint64_t peek(unsigned c, std::uint32_t position) const {
    return rings_[c].peek(position);
  }
  // The same without waiting; and without room where there is room for every chunk.
  [[nodiscard]] WYRM_HD bool try_room(unsigned, std::uint32_t) const { return true; }
  [[nodiscard]] WYRM_HD bool try_put(unsigned c, std::uint32_t position, std::uint64_t index) const {
    return rings_[c].try_put(position, index);
  }
  [[nodiscard]] WYRM_HD bool try_take(unsigned c, std::uint32_t position, std::uint64_t& index, std::uint32_t&) const {
    return rings_[c].try_take(position, index);
  }
  [[nodiscard]] WYRM_HD static std::uint32_t entries_a_node(unsigned) { return 0; }  // there are no nodes
  [[nodiscard]] WYRM_HD static std::uint32_t most_nodes(unsigned) { return 0; }
  template <class Tile>
  WYRM_HD void install(Tile const&, chunk_pool_ref const&, unsigned, unsigned, std::uint32_t) const {}
  WYRM_HD void keep_emptied(unsigned) const {}

  template <class Tile>
  WYRM_HD void finish_and_keep(Tile const&, unsigned, std::uint32_t, std::uint32_t, bool, detail::late_node&) const {}
  WYRM_HD void try_publish(unsigned, detail::late_node&) const {}

  /// Nothing to do once entries have been read; collective.
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
  static constexpr std::size_t bytes_a_class = 0;  // beside the slots

  /// of_chunks: the entries are chunks, not pages, and each chunk of the pool has room.
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

  /// ends(c): of class c until now.
  template <class Ends>
  void reset(std::uint32_t chunks, Ends const& ends) {
    for (unsigned c = 0; c < detail::page_classes; ++c) rings_[c].reset(slots_for(c, chunks), is_wide(c), ends(c));
  }
  /// What a pool of so many chunks needs, to be passed to grow(); may throw.
  [[nodiscard]] std::vector<ring_memory<Space>> prepare(std::uint32_t chunks) const {
    std::vector<ring_memory<Space>> longer;
    for (unsigned c = 0; c < detail::page_classes; ++c) longer.push_back(rings_[c].longer(slots_for(c, chunks)));
    return longer;
  }
  /// ends(c) is the queue_ends of class c on the device.
  template <class Ends>
  void grow(std::vector<ring_memory<Space>> longer, Ends const& ends) {
    for (unsigned c = 0; c < detail::page_classes; ++c) {
      queue_ends now = exec::read(space_, ends(c));
      rings_[c].move_to(std::move(longer[c]), now);
      exec::write(space_, ends(c), now);
    }
  }

  [[nodiscard]] std::vector<std::uint64_t> entries(unsigned c, queue_ends const& ends, char const* who,
                                                   std::string const& what) const {
    return rings_[c].entries(ends, who, what);
  }
  template <class Ends>
  void check(char const*, chunk_pool<Space> const&, Ends const&) const {}

 private:
  [[nodiscard]] std::size_t slots_for(unsigned c, std::uint32_t chunks) const {
    std::size_t const runs = std::max(chunks / detail::run_chunks(c), 1u);
    return of_chunks_ ? runs : std::min<std::size_t>(runs * detail::pages_a_chunk(c), ring_queues_ref::most);
  }
  [[nodiscard]] bool is_wide(unsigned c) const {
    return !of_chunks_ && capacity_ >> detail::number_log2(c) >= 0xffffffff;
  }

  Space space_;
  std::size_t capacity_;
  bool of_chunks_;
  std::vector<ring_memory<Space>> rings_;
};

}  // namespace wyrm::alloc
