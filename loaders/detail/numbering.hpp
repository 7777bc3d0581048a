// SPDX-License-Identifier: Apache-2.0
// Numbers for ids of any size: those that occur become 0, 1, ... in ascending order. Ids that lie close are marked in a
// bit map, whose ones are counted; others are sorted.
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
  /// Takes the ids, with repeats, in any order. Throws wyrm::error (bad_input), with the file's name, when they are
  /// more than a graph can have vertices. Memory: at most 16 bytes an id. Works on all threads of the space.
  numbering(exec::host_space const& space, std::string const& file, std::span<std::uint64_t const> ids);

  /// How many different ids there are.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// The number of an id; graph::max_vertices if it is none.
  [[nodiscard]] graph::vertex_id find(std::uint64_t id) const noexcept;
  /// The ids in ascending order; empty when each is its own number.
  [[nodiscard]] std::vector<std::uint64_t> ids() const;

 private:
  void mark(exec::host_space const& space, std::span<std::uint64_t const> ids);

  std::size_t size_ = 0;
  std::vector<std::uint64_t> bits_;       // bit i % 64 of word i / 64: id i occurs
  std::vector<std::uint64_t> ones_;       // before each word
  std::vector<std::uint64_t> ascending_;  // where there is no bit map
};

inline constexpr graph::vertex_id no_vertex = static_cast<graph::vertex_id>(graph::max_vertices);

/// Edges whose ids (source, target, source, ...) are known to have numbers; no_vertex where one has none.
[[nodiscard]] std::vector<graph::edge> numbered(exec::host_space const& space, numbering const& numbers,
                                                std::span<std::uint64_t const> ids);

}  // namespace wyrm::loaders::detail
