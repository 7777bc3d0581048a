// SPDX-License-Identifier: Apache-2.0
// Vertex numbers for 64-bit ids: the ids that occur become 0, 1, ... in ascending order. If ids are dense, they are
// marked in a bitmap, and a number is a count of set bits; otherwise the ids are sorted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../../exec/host_space.hpp"
#include "../../graph/types.hpp"

namespace wyrm::loaders::detail {

class numbering {
 public:
  /// ids: in any order, with duplicates. Throws wyrm::error (bad_input), with the name of the file, when there are more
  /// different ids than a graph can have vertices. Memory: at most 16 bytes per id. Uses all threads of the space.
  numbering(exec::host_space const& space, std::string const& file, std::span<std::uint64_t const> ids);
  /// The same for the ids of all sources and targets.
  numbering(exec::host_space const& space, std::string const& file, std::span<graph::edge const> edges);

  /// The number of different ids.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// The number of an id; no_vertex if the id does not occur.
  [[nodiscard]] graph::vertex_id find(std::uint64_t id) const noexcept;
  /// The ids in ascending order; empty when each id equals its number.
  [[nodiscard]] std::vector<std::uint64_t> ids() const;

 private:
  template <class F>
  void build(exec::host_space const& space, std::string const& file, std::size_t ids, F const& id);
  template <class F>
  void mark(exec::host_space const& space, std::size_t ids, F const& id);

  std::size_t size_ = 0;
  std::vector<std::uint64_t> bits_;       // bit i % 64 of word i / 64: whether id i occurs
  std::vector<std::uint64_t> ones_;       // for each word: the number of set bits in the words before it
  std::vector<std::uint64_t> ascending_;  // the different ids, if there is no bitmap
};

using graph::no_vertex;

}  // namespace wyrm::loaders::detail
