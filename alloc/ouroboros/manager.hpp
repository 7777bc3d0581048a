// SPDX-License-Identifier: Apache-2.0
// The manager of Ouroboros: the owner on the host of manager_ref.hpp, statistics and checks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../allocator.hpp"
#include "chunk_pool.hpp"
#include "manager_ref.hpp"

namespace wyrm::alloc {

namespace detail {
/// Returns all free chunks that the device can find to the pool.
template <class Manager>
struct reclaim_all {
  Manager manager;
  WYRM_HD void operator()(std::size_t) const {
    while (manager.reclaim(exec::scalar_tile{})) continue;
  }
};
}  // namespace detail

/// Owns the states of the classes and the store.
template <class Space, detail::store Store>
class manager {
  using class_state = detail::page_class_state<typename Store::ref_type::ends_type>;
  using class_states = detail::class_states<typename Store::ref_type::ends_type>;

 public:
  using ref_type = manager_ref<typename Store::ref_type>;
  using space_type = Space;
  using store_type = Store;
  /// Independent of the pool size. Slots of standard queues, and tables with an entry per chunk, are not included.
  static constexpr std::size_t bytes_per_class = sizeof(class_state) + Store::bytes_per_class;

  manager(Space const& space, chunk_pool<Space> const& pool, unsigned node_log2)
      : space_(space), pool_(pool), states_(space, detail::page_classes), store_(space, pool, node_log2) {
    restart();
  }

  [[nodiscard]] ref_type ref() const { return {pool_.ref(), on_device(), store_.ref()}; }
  [[nodiscard]] std::size_t bytes() const { return states_.bytes() + store_.bytes(); }

  void reset() {
    store_.reset(states());
    restart();
  }
  /// Allocates the tables for a pool of this number of chunks; may throw. The result is for grow(), after the pool has
  /// grown.
  [[nodiscard]] auto prepare(std::uint32_t chunks) { return store_.prepare(chunks); }
  template <class Prepared>
  void grow(Prepared prepared) {
    store_.grow(std::move(prepared), [this](unsigned c) { return &on_device()[c].pages; });
  }

  /// Returns free chunks to the pool, for any class; while no kernel uses the pool.
  void compact() {
    store_.compact(pool_.ref(), on_device());
    exec::for_each(space_, 1024, detail::reclaim_all<ref_type>{ref()});
  }

  void report(statistics& s) const {
    for (unsigned c = 0; c < detail::page_classes; ++c) {
      class_state state = exec::read(space_, &on_device()[c]);
      s.classes.push_back({detail::page_bytes(c), state.chunks * detail::pages_per_chunk(c),
                           state.pages.size() + store_.spilled(c) + state.fresh.left(detail::pages_per_chunk(c))});
    }
  }

  /// Adds to `uses` the chunks of windows, none of whose pages was allocated.
  void add_windows(std::vector<std::uint32_t>& uses) const {
    std::vector<class_state> states = this->states();
    for (unsigned c = 0; detail::pages_per_chunk(c) > 1; ++c) {
      chunk_range const rest = states[c].fresh.truncate(detail::pages_per_chunk(c));
      for (std::uint32_t k = 0; k < rest.count; ++k) uses.at(rest.first + k) = c;
    }
  }

  /// Removes the free pages from `used` (one entry for each 16 bytes of the pool; true where a page of a chunk of a
  /// class begins). Throws error(corrupt) unless each of them was in it and belongs to its class, and all counts are
  /// right.
  void check(char const* who, std::vector<std::uint32_t> const& uses, std::vector<bool>& used) const {
    std::vector<class_state> states = this->states();
    for (unsigned c = 0; c < detail::page_classes; ++c) {
      class_state& state = states[c];
      std::string const what = "class of " + std::to_string(detail::page_bytes(c)) + " bytes: ";
      std::uint32_t const pages = detail::pages_per_chunk(c);
      auto const chunks = static_cast<std::size_t>(std::count(uses.begin(), uses.end(), c));
      ensure(chunks == state.chunks, who,
             what + std::to_string(chunks) + " chunks, but " + std::to_string(state.chunks) + " counted");
      ensure(state.lock % 2 == 0, who, what + "the lock is held although no kernel runs");
      ensure(state.pages.number() >= 0 && static_cast<std::uint64_t>(state.pages.number()) == state.pages.size(), who,
             what + std::to_string(state.pages.size()) + " pages stored, but " + std::to_string(state.pages.number()) +
                 " counted");
      auto const take = [&](std::uint64_t page, char const* where) {
        std::size_t const chunk = detail::chunk_of_page(c, page);
        if (chunk >= uses.size() || uses[chunk] != c)
          ensure(false, who, what + "a page that is " + where + " is not of this class");
        std::size_t const first = detail::page_offset(c, page) / detail::page_unit;
        if (!used[first]) ensure(false, who, what + "page " + std::to_string(page) + " is free twice");
        used[first] = false;
      };
      store_.check(who, what, c, state, uses, take);
      detail::page_range const fresh = state.fresh.take(page_window::max_pages, pages);
      for (std::uint32_t i = 0; i < fresh.count; ++i) take(detail::nth_page(c, fresh.chunk, fresh.first + i), "fresh");
    }
    store_.check_queues(who, states);
  }

 private:
  [[nodiscard]] class_states on_device() const { return class_states{states_.data()}; }
  // A copy, in the order of classes.
  [[nodiscard]] std::vector<class_state> states() const {
    auto const slots = exec::copy_out(space_, states_.data(), detail::page_classes);
    std::vector<class_state> all;
    for (unsigned c = 0; c < detail::page_classes; ++c) all.push_back(slots[class_states::slot(c)]);
    return all;
  }
  void restart() {
    std::vector<class_state> const initial(detail::page_classes);
    exec::copy_in<class_state>(space_, states_.data(), initial);
  }

  Space space_;
  chunk_pool<Space> const& pool_;
  exec::buffer<class_state, Space> states_;
  Store store_;
};

}  // namespace wyrm::alloc
