// SPDX-License-Identifier: Apache-2.0
// Queues of chunks with free pages (Ouroboros, ICS 2020, section 4.2): the owner on the host of chunk_store_ref.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "../../exec/memory.hpp"
#include "../pool_table.hpp"
#include "chunk_check.hpp"
#include "chunk_pool.hpp"
#include "chunk_store_ref.hpp"
#include "ring_memory.hpp"

namespace wyrm::alloc {

template <class Space, detail::queues Queues>
class chunk_store {
 public:
  using ref_type = chunk_store_ref<typename Queues::ref_type>;
  static constexpr char const* queue_kind = Queues::kind;
  static constexpr char kind = 'c';
  static constexpr std::size_t bytes_per_class = sizeof(detail::chunk_queue_state) + Queues::bytes_per_class;

  chunk_store(Space const& space, chunk_pool<Space> const& pool, unsigned node_log2)
      : space_(space),
        pool_(pool),
        states_(space, detail::page_classes),
        words_(space),
        masks_(space),
        hint_ends_(space, 1),
        hints_(space),
        queues_(space, pool.memory(), node_log2, true) {
    restart();
  }

  [[nodiscard]] ref_type ref() const {
    return {states_.data(), words_.data(), masks_.data(), hint_ends_.data(),
            hints_.ring(),  queues_.ref(), pool_.chunks()};
  }
  [[nodiscard]] std::size_t bytes() const {
    return states_.bytes() + words_.bytes() + masks_.bytes() + hint_ends_.bytes() + hints_.bytes() + queues_.bytes();
  }
  void reset(std::vector<detail::page_class_state<page_counts>> const&) {
    auto const before = exec::copy_out(space_, states_.data(), detail::page_classes);
    queues_.reset(pool_.chunks(), [&](unsigned c) -> queue_ends const& { return before[c].chunks; });
    hints_.reset(pool_.chunks(), false, exec::read(space_, hint_ends_.data()));
    restart();
    if (covered_ > 0) clear(0, pool_.memory().touched());
    cover(pool_.chunks());
  }
  /// Allocates the tables for a pool of this number of chunks, for grow(); may throw.
  [[nodiscard]] auto prepare(std::uint32_t chunks) {
    cover(chunks);
    return std::pair(hints_.longer(chunks), queues_.prepare(chunks));
  }
  template <class Prepared, class Ends>
  void grow(Prepared prepared, Ends const&) {
    queue_ends ends = exec::read(space_, hint_ends_.data());
    hints_.move_to(std::move(prepared.first), ends);
    exec::write(space_, hint_ends_.data(), ends);
    queues_.grow(std::move(prepared.second), [this](unsigned c) { return &states_.data()[c].chunks; });
  }

  void compact(chunk_pool_ref const&, detail::class_states<page_counts>) {}  // reclaim() returns the free chunks
  /// Pages that are in no queue: none here.
  [[nodiscard]] std::size_t spilled(unsigned) const { return 0; }

  /// Calls take(page, where) for each free page of class c; throws error(corrupt) if the state of the class is wrong.
  template <class Take>
  void check(char const* who, std::string const& what, unsigned c, detail::page_class_state<page_counts> const& state,
             std::vector<std::uint32_t> const& uses, Take const& take) const {
    detail::chunk_queue_state const queue = exec::read(space_, states_.data() + c);
    if (state.chunks == 0 && state.pages.size() == 0 && queue.chunks.size() == 0) return;
    detail::chunk_check const found{who, what, c, exec::copy_out(space_, words_.data(), uses.size()),
                                    exec::copy_out(space_, masks_.data(), uses.size() * detail::mask_words)};
    std::uint64_t const others = found.check(queue, queues_.entries(c, queue.chunks, who, what), uses, state, take);
    std::uint64_t const nodes = ref().nodes_for(c, state.chunks + others);
    ensure(queue.nodes >= nodes, who,
           what + "a queue of " + std::to_string(queue.nodes) + " nodes, which needs " + std::to_string(nodes));
  }
  /// Throws error(corrupt) unless the nodes of all queues, the hints, and the masks of chunks of no class are right.
  void check_queues(char const* who, std::vector<detail::page_class_state<page_counts>> const&) const {
    auto const states = exec::copy_out(space_, states_.data(), detail::page_classes);
    queues_.check(who, pool_, [&](unsigned c) -> queue_ends const& { return states[c].chunks; });
    detail::check_hints(who, exec::copy_out(space_, words_.data(), pool_.chunks()),
                        exec::copy_out(space_, masks_.data(), pool_.chunks() * detail::mask_words),
                        hints_.entries(exec::read(space_, hint_ends_.data()), who, "hints: "));
  }

 private:
  void restart() {
    std::vector<detail::chunk_queue_state> const fresh(detail::page_classes);
    exec::copy_in<detail::chunk_queue_state>(space_, states_.data(), fresh);
    exec::write(space_, hint_ends_.data(), queue_ends{});
  }
  void cover(std::uint32_t chunks) {
    masks_.cover(std::size_t{chunks} * detail::mask_words);
    words_.cover(chunks);
    if (chunks <= covered_) return;
    clear(covered_, chunks - covered_);
    covered_ = chunks;
  }
  void clear(std::size_t first, std::size_t chunks) {
    space_.fill(words_.data() + first, 0, chunks * sizeof(std::uint64_t));
    space_.fill(masks_.data() + first * detail::mask_words, 0, chunks * detail::mask_words * sizeof(std::uint64_t));
  }

  Space space_;
  chunk_pool<Space> const& pool_;
  exec::buffer<detail::chunk_queue_state, Space> states_;
  pool_table<std::uint64_t, Space> words_;
  pool_table<std::uint64_t, Space> masks_;
  exec::buffer<queue_ends, Space> hint_ends_;
  ring_memory<Space> hints_;
  Queues queues_;
  std::uint32_t covered_ = 0;  // chunks whose words and masks have been set to zero once
};

}  // namespace wyrm::alloc
