// SPDX-License-Identifier: Apache-2.0
// The memory of an index ring, owned by the host: reset, growth, and a copy of the entries for check().
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../allocator.hpp"
#include "index_ring.hpp"
#include "queue_ends.hpp"

namespace wyrm::alloc {

namespace detail {
/// Copies the entries of a ring into a longer one, the first entry to slot 0.
template <class T>
struct move_entry {
  T const* from;
  std::uint32_t size;
  T* to;
  std::uint32_t front;
  WYRM_HD void operator()(std::size_t i) const { to[i] = from[(front + static_cast<std::uint32_t>(i)) & (size - 1)]; }
};
}  // namespace detail

/// Owns the slots of a ring, and enlarges it. For the host, while no kernel uses the ring.
template <class Space>
class ring_memory {
 public:
  explicit ring_memory(Space const& space) : space_(space), slots_(space) {}

  /// Makes the ring empty, with at least this length. `ends`: the ends of its current entries. O(entries) if the ring
  /// is long enough, else O(slots).
  void reset(std::size_t slots, bool wide, queue_ends const& ends) {
    wide_ = wide;
    slots = std::bit_ceil(slots);
    if (slots > size_) {
      slots_.reserve(slots * index_slots::entry_bytes(wide) / sizeof(std::uint32_t));
      size_ = static_cast<std::uint32_t>(slots);
      clear(0, size_);
    } else {
      std::uint32_t const first = ends.first() & (size_ - 1);
      std::uint32_t const rest = std::min(ends.size(), size_ - first);  // up to the end of the ring
      clear(first, rest);
      clear(0, ends.size() - rest);
    }
  }
  /// An empty ring of at least this number of slots, for move_to(); may throw.
  [[nodiscard]] ring_memory longer(std::size_t slots) const {
    ring_memory other(space_);
    other.reset(std::max<std::size_t>(slots, size_), wide_, {});
    return other;
  }
  /// Moves the entries into `other`, which is as long or longer and replaces this ring; `ends` change accordingly.
  void move_to(ring_memory&& other, queue_ends& ends) {
    if (other.size_ > size_) {
      if (wide_)
        move<std::uint64_t>(other, ends);
      else
        move<std::uint32_t>(other, ends);
      ends.restart(ends.size());
      std::swap(slots_, other.slots_);
      size_ = other.size_;
    }
  }

  [[nodiscard]] index_ring ring() const { return {slots_.data(), size_, wide_}; }
  [[nodiscard]] std::uint32_t size() const { return size_; }
  [[nodiscard]] std::size_t bytes() const { return size_ * index_slots::entry_bytes(wide_); }

  /// The entries from the front to the back; throws error(corrupt) if one is missing, or a slot outside is full.
  [[nodiscard]] std::vector<std::uint64_t> entries(queue_ends const& ends, char const* who,
                                                   std::string const& what) const {
    return wide_ ? entries<std::uint64_t>(ends, who, what) : entries<std::uint32_t>(ends, who, what);
  }

 private:
  void clear(std::uint32_t first, std::uint32_t count) {
    std::size_t const each = index_slots::entry_bytes(wide_);
    if (count > 0) space_.fill(reinterpret_cast<std::byte*>(slots_.data()) + first * each, 0, count * each);
  }
  template <class T>
  void move(ring_memory& other, queue_ends const& ends) const {
    exec::for_each(space_, ends.size(),
                   detail::move_entry<T>{reinterpret_cast<T const*>(slots_.data()), size_,
                                         reinterpret_cast<T*>(other.slots_.data()), ends.first()});
  }
  template <class T>
  [[nodiscard]] std::vector<std::uint64_t> entries(queue_ends const& ends, char const* who,
                                                   std::string const& what) const {
    std::vector<T> const slots = exec::copy_out(space_, reinterpret_cast<T*>(slots_.data()), size_);
    auto const full = static_cast<std::size_t>(std::count_if(slots.begin(), slots.end(), [](T e) { return e != 0; }));
    ensure(full == ends.size(), who,
           what + std::to_string(full) + " full slots for " + std::to_string(ends.size()) + " entries");
    std::vector<std::uint64_t> all;
    for (std::uint32_t i = 0; i < ends.size(); ++i) {
      T const entry = slots[(ends.first() + i) & (size_ - 1)];
      ensure(entry != 0, who, what + "an entry is missing");
      all.push_back(std::uint64_t{entry} - 1);
    }
    return all;
  }

  Space space_;
  exec::buffer<std::uint32_t, Space> slots_;
  std::uint32_t size_ = 0;
  bool wide_ = false;
};

}  // namespace wyrm::alloc
