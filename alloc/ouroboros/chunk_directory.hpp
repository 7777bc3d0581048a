// SPDX-License-Identifier: Apache-2.0
// The virtualized array-hierarchy queue, VA (Ouroboros, ICS 2020, section 5.1): an array of 1024 entries a class says
// on which chunk a node lies; node n has entry n mod 1024. An entry holds the chunk and how often the array has gone
// around, so that a node that is about to come is not taken for the one before it, and nodes that share an entry come
// in turn. 4 KiB a class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "virtual_queues.hpp"

namespace wyrm::alloc {

namespace detail {
inline constexpr std::uint32_t directory_size = 1024;
struct directory_state {
  std::uint32_t entries[directory_size];  // see directory_entry
  std::uint32_t nodes;                    // there are at most as many as entries
};
/// 4 bits of the round, 28 bits of chunk + 1, or 0: to come.
struct directory_entry {
  static constexpr WYRM_HD std::uint32_t round(std::uint32_t node) { return node / directory_size & 15; }
  static constexpr WYRM_HD std::uint32_t to_come(std::uint32_t node) { return round(node) << 28; }
  static constexpr WYRM_HD std::uint32_t of(std::uint32_t node, std::uint32_t chunk) {
    return to_come(node) | (chunk + 1);
  }
  static constexpr WYRM_HD bool has_chunk(std::uint32_t entry) { return (entry & 0xfffffff) != 0; }
  static constexpr WYRM_HD std::uint32_t chunk(std::uint32_t entry) { return (entry & 0xfffffff) - 1; }
};
}  // namespace detail

class chunk_directory_ref {
 public:
  explicit chunk_directory_ref(detail::directory_state* states) : states_(states) {}

  [[nodiscard]] WYRM_HD static std::uint32_t most(detail::node_size const&, unsigned) {
    return detail::directory_size;
  }
  /// Whether there is an entry for another node of class c; then it is counted.
  [[nodiscard]] WYRM_HD bool admit(detail::node_size const&, unsigned c) const {
    if (nodes(c).fetch_add(1, exec::relaxed) < detail::directory_size) return true;
    dismiss(c, 1);
    return false;
  }
  [[nodiscard]] WYRM_HD bool is_full(detail::node_size const&, unsigned c) const {
    return nodes(c).load(exec::relaxed) >= detail::directory_size;
  }
  WYRM_HD void dismiss(unsigned c, std::uint32_t count) const { nodes(c).fetch_sub(count, exec::relaxed); }

  /// False, and it must be tried again, while somebody still reads a node that came a whole round earlier. Every entry
  /// of that one has a reader: the node that we have again lay behind it, and was read to its end.
  [[nodiscard]] WYRM_HD bool try_publish(detail::node_size const&, unsigned c, std::uint32_t node,
                                         std::uint32_t chunk) const {
    if (entry(c, node).load(exec::acquire) != detail::directory_entry::to_come(node)) return false;
    entry(c, node).store(detail::directory_entry::of(node, chunk), exec::release);
    return true;
  }

  /// The chunk of a node, or no_chunk if it has not come.
  [[nodiscard]] WYRM_HD std::uint32_t look_to_read(detail::node_size const&, unsigned c, std::uint32_t node) const {
    std::uint32_t const found = entry(c, node).load(exec::acquire);
    bool const has_come =
        found >> 28 == detail::directory_entry::round(node) && detail::directory_entry::has_chunk(found);
    return has_come ? detail::directory_entry::chunk(found) : detail::no_chunk;
  }
  [[nodiscard]] WYRM_HD std::uint32_t look_to_write(detail::node_size const& size, unsigned c,
                                                    std::uint32_t node) const {
    return look_to_read(size, c, node);
  }

  /// All entries of the node have been read: calls give(chunks, n) with its chunk.
  template <class Give>
  WYRM_HD void emptied(detail::node_size const&, std::uint32_t const*, unsigned c, std::uint32_t node,
                       std::uint32_t chunk, Give const& give) const {
    entry(c, node).store(detail::directory_entry::to_come(node + detail::directory_size), exec::release);
    give(&chunk, 1);
  }

 private:
  [[nodiscard]] WYRM_HD exec::atomic_ref<std::uint32_t> nodes(unsigned c) const {
    return exec::atomic_ref<std::uint32_t>(states_[c].nodes);
  }
  [[nodiscard]] WYRM_HD exec::atomic_ref<std::uint32_t> entry(unsigned c, std::uint32_t node) const {
    return exec::atomic_ref<std::uint32_t>(states_[c].entries[node % detail::directory_size]);
  }

  detail::directory_state* states_;
};

template <class Space>
class chunk_directory {
 public:
  using ref_type = chunk_directory_ref;
  static constexpr char const* kind = "va";
  static constexpr std::size_t bytes_a_class = sizeof(detail::directory_state);

  explicit chunk_directory(Space const& space) : space_(space), states_(space, detail::page_classes) {}

  [[nodiscard]] ref_type ref() const { return ref_type(states_.data()); }
  [[nodiscard]] std::size_t bytes() const { return states_.bytes(); }
  void cover(std::uint32_t) {}
  void reset(detail::node_size const&, std::uint32_t) { space_.fill(states_.data(), 0, states_.bytes()); }

  /// The nodes that class c has, and their chunks; `front` is the node of the next entry to be read.
  [[nodiscard]] std::map<std::uint32_t, std::uint32_t> nodes(detail::node_size const& size, unsigned c,
                                                             std::uint32_t front) const {
    std::map<std::uint32_t, std::uint32_t> all;
    detail::directory_state const state = exec::read(space_, states_.data() + c);
    for (std::uint32_t i = 0; i < detail::directory_size; ++i)
      if (detail::directory_entry::has_chunk(state.entries[i]))
        all[(front + (i - front) % detail::directory_size) & size.last_node(c)] =
            detail::directory_entry::chunk(state.entries[i]);
    return all;
  }

 private:
  Space space_;
  exec::buffer<detail::directory_state, Space> states_;
};

}  // namespace wyrm::alloc
