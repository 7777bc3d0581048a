// SPDX-License-Identifier: Apache-2.0
// Virtualized queues (Ouroboros, ICS 2020, section 5): the owner on the host of virtual_queues_ref.hpp, and the check.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../../exec/memory.hpp"
#include "../pool_table.hpp"
#include "../size_classes.hpp"
#include "virtual_queues_ref.hpp"

namespace wyrm::alloc {

template <class Space, template <class> class Links>
class virtual_queues {
 public:
  using links = Links<Space>;
  using ref_type = virtual_queues_ref<typename links::ref_type>;
  static constexpr char const* kind = links::kind;
  static constexpr std::size_t bytes_per_class = sizeof(detail::virtual_queue_state) + links::bytes_per_class;

  /// node_log2: a node has 2^node_log2 entries. of_chunks: the entries are chunks instead of pages, each queue can hold
  /// all chunks of the pool, and emptied nodes are reused by their queue.
  virtual_queues(Space const& space, extent<Space> const& memory, unsigned node_log2, bool of_chunks)
      : space_(space),
        base_(memory.base()),
        states_(space, detail::page_classes),
        read_(space),
        links_(space, of_chunks ? nodes_for(memory, node_log2) : 0) {
    size_.log2 = node_log2;
    while (!of_chunks && size_.wide_classes < detail::page_classes &&
           memory.capacity() / chunk_bytes << detail::index_log2(size_.wide_classes) >= 0xffffffff)
      ++size_.wide_classes;
  }

  [[nodiscard]] ref_type ref() const { return {base_, states_.data(), read_.data(), links_.ref(), size_}; }
  [[nodiscard]] std::size_t bytes() const { return states_.bytes() + read_.bytes() + links_.bytes(); }

  template <class Ends>
  void reset(std::uint32_t chunks, Ends const&) {
    std::vector<detail::virtual_queue_state> const fresh(detail::page_classes);
    exec::copy_in<detail::virtual_queue_state>(space_, states_.data(), fresh);
    read_.cover(chunks);
    links_.reset(size_, chunks);
  }
  /// Allocates the tables for a pool of this number of chunks; may throw. The result is for grow().
  [[nodiscard]] int prepare(std::uint32_t chunks) {
    read_.cover(chunks);
    links_.cover(chunks);
    return 0;
  }
  template <class Ends>
  void grow(int, Ends const&) {}

  /// The entries of the queue of class c, from the front; throws error(corrupt) if one is missing.
  [[nodiscard]] std::vector<std::uint64_t> entries(unsigned c, queue_ends const& ends, char const* who,
                                                   std::string const& what) const {
    std::vector<std::uint64_t> all;
    if (ends.size() == 0) return all;
    auto const live = links_.nodes(size_, c, size_.node(c, ends.first()));
    for (std::uint32_t done = 0; done < ends.size();) {
      std::uint32_t const position = ends.first() + done;
      auto const found = live.find(size_.node(c, position));
      ensure(found != live.end(), who, what + "an entry is on a node that does not exist");
      std::uint32_t const from = position & (size_.entries(c) - 1);
      std::uint32_t const count = std::min(size_.entries(c) - from, ends.size() - done);
      if (size_.is_wide(c))
        append<std::uint64_t>(all, found->second, from, count);
      else
        append<std::uint32_t>(all, found->second, from, count);
      done += count;
    }
    for (std::uint64_t const index : all) ensure(index != ~std::uint64_t{0}, who, what + "an entry is missing");
    return all;
  }

  /// Throws error(corrupt) unless the queue chunks of the pool are exactly the nodes of the queues.
  template <class Ends>
  void check(char const* who, chunk_pool<Space> const& pool, Ends const& ends) const {
    std::vector<std::uint32_t> const uses = pool.uses();
    auto const all = static_cast<std::size_t>(std::count(uses.begin(), uses.end(), chunk_of_queue));
    std::size_t owned = 0;
    for (unsigned c = 0; c < detail::page_classes; ++c)
      for (auto const& [node, chunk] : links_.nodes(size_, c, size_.node(c, ends(c).first()))) {
        ensure(chunk < uses.size() && uses[chunk] == chunk_of_queue, who, "a node is not on a queue chunk");
        ++owned;
      }
    ensure(owned == all, who, std::to_string(all - owned) + " queue chunks belong to no queue");
  }

 private:
  // Enough for every chunk that a pool can have, and one more: see chunk_store_ref::nodes_for().
  [[nodiscard]] static std::uint32_t nodes_for(extent<Space> const& memory, unsigned node_log2) {
    return static_cast<std::uint32_t>((memory.capacity() / chunk_bytes >> node_log2) + 2);
  }
  template <class T>
  void append(std::vector<std::uint64_t>& all, std::uint32_t chunk, std::uint32_t from, std::uint32_t count) const {
    auto* const slots = reinterpret_cast<T*>(base_ + std::size_t{chunk} * chunk_bytes);
    for (T const entry : exec::copy_out(space_, slots + from, count)) all.push_back(std::uint64_t{entry} - 1);
  }

  Space space_;
  std::byte* base_;
  exec::buffer<detail::virtual_queue_state, Space> states_;
  pool_table<std::uint32_t, Space> read_;
  links links_;
  detail::node_size size_;
};

}  // namespace wyrm::alloc
