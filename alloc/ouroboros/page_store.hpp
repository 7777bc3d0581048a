// SPDX-License-Identifier: Apache-2.0
// Queues of free pages (Ouroboros, ICS 2020, section 4.1): the owner on the host of page_store_ref.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../allocator.hpp"
#include "page_store_ref.hpp"
#include "return_chunks.hpp"

namespace wyrm::alloc {

template <class Space, detail::queues Queues>
class page_store {
 public:
  using ref_type = page_store_ref<typename Queues::ref_type>;
  static constexpr char const* queue_kind = Queues::kind;
  static constexpr char kind = 'p';
  static constexpr std::size_t bytes_per_class = sizeof(detail::spilled_pages) + Queues::bytes_per_class;

  page_store(Space const& space, chunk_pool<Space> const& pool, unsigned node_log2)
      : space_(space),
        pool_(pool),
        spilled_(space, detail::page_classes),
        queues_(space, pool.memory(), node_log2, false) {}

  [[nodiscard]] ref_type ref() const {
    return {detail::spilled_pages_ref(pool_.memory().base(), spilled_.data()), queues_.ref()};
  }
  [[nodiscard]] std::size_t bytes() const { return spilled_.bytes() + queues_.bytes(); }
  /// Empties the store. states: the states of the classes before the call.
  void reset(std::vector<detail::page_class_state<queue_ends>> const& states) {
    space_.fill(spilled_.data(), 0, spilled_.bytes());
    queues_.reset(pool_.chunks(), [&](unsigned c) -> queue_ends const& { return states[c].pages; });
  }
  /// Allocates the tables for a pool of this number of chunks, for grow(); may throw.
  [[nodiscard]] auto prepare(std::uint32_t chunks) { return queues_.prepare(chunks); }
  template <class Prepared, class Ends>
  void grow(Prepared prepared, Ends const& ends) {
    queues_.grow(std::move(prepared), ends);
  }

  /// Returns chunks all of whose pages are free to the pool, while no kernel uses it.
  void compact(chunk_pool_ref const& pool, detail::class_states<queue_ends> states) {
    exec::buffer<std::uint32_t, Space> free(space_, pool_.chunks());
    // reclaim() returns pages that are chunks.
    for (unsigned c = 0; detail::pages_per_chunk(c) > 1; ++c) compact(pool, states, c, free);
  }

  /// Pages of class c that are in no queue.
  [[nodiscard]] std::size_t spilled(unsigned c) const { return exec::read(space_, spilled_.data() + c).count; }

  /// Calls take(page, where) for each free page of class c; throws error(corrupt) if the state of the class is wrong.
  template <class Take>
  void check(char const* who, std::string const& what, unsigned c, detail::page_class_state<queue_ends> const& state,
             std::vector<std::uint32_t> const&, Take const& take) const {
    for (std::uint64_t const page : queues_.entries(c, state.pages, who, what)) take(page, "queued");
    detail::spilled_pages const list = exec::read(space_, spilled_.data() + c);
    bool const none =
        std::all_of(std::begin(list.lists), std::end(list.lists), [](std::uint64_t first) { return first == 0; });
    if (none && list.count == 0) return;
    exec::buffer<detail::spilled_pages, Space> copy(space_, 1);
    exec::buffer<std::uint64_t, Space> pages(space_, list.count);
    exec::buffer<std::uint64_t, Space> count(space_, 1);
    exec::write(space_, copy.data(), list);
    exec::write(space_, count.data(), std::uint64_t{0});
    // Each thread visits all lists, and takes batches until there is none.
    exec::for_each(space_, std::min<std::size_t>(max_threads, list.count + 1),
                   detail::list_spilled{ref().spilled(), c, copy.data(), pages.data(), list.count, count.data()});
    std::uint64_t const found = exec::read(space_, count.data());
    ensure(found == list.count, who,
           what + std::to_string(found) + " spilled pages, but " + std::to_string(list.count) + " counted");
    for (std::uint64_t const page : exec::copy_out(space_, pages.data(), found)) take(page, "spilled");
  }
  /// Throws error(corrupt) unless the nodes of the queues are right.
  void check_queues(char const* who, std::vector<detail::page_class_state<queue_ends>> const& states) const {
    queues_.check(who, pool_, [&](unsigned c) -> queue_ends const& { return states[c].pages; });
  }

 private:
  static constexpr std::size_t max_threads = 1024;  // for the traversal of spilled pages

  void compact(chunk_pool_ref const& pool, detail::class_states<queue_ends> states, unsigned c,
               exec::buffer<std::uint32_t, Space>& free) {
    detail::page_class_state<queue_ends> const state = exec::read(space_, &states[c]);
    detail::spilled_pages list = exec::read(space_, spilled_.data() + c);
    if (state.pages.size() + list.count < detail::pages_per_chunk(c)) return;
    space_.fill(free.data(), 0, free.bytes());
    exec::buffer<detail::spilled_pages, Space> old(space_, 1);
    detail::compaction<ref_type> const job{ref(), pool, states, c, state.pages.first(), free.data(), old.data()};
    std::size_t const some = list.count > 0 ? max_threads : 0;

    exec::write(space_, old.data(), list);
    exec::for_each(space_, state.pages.size(), detail::count_queued<ref_type>{job});
    exec::for_each(space_, some, detail::count_spilled<ref_type>{job});
    exec::write(space_, old.data(), list);
    exec::write(space_, spilled_.data() + c, detail::spilled_pages{});
    exec::for_each_lane<32>(space_, state.pages.size(), detail::requeue_queued<ref_type>{job});
    exec::for_each_tile<32>(space_, some, detail::requeue_spilled<ref_type>{job});
    exec::for_each(space_, pool_.chunks(), detail::return_chunks<ref_type>{job});
  }

  Space space_;
  chunk_pool<Space> const& pool_;
  exec::buffer<detail::spilled_pages, Space> spilled_;
  Queues queues_;
};

}  // namespace wyrm::alloc
