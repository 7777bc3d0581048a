// SPDX-License-Identifier: Apache-2.0
// Words of the blocks of a region, and where the blocks are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../../alloc/residency/region.hpp"

namespace wyrm::tests {

namespace residency = alloc::residency;

/// Words of a region, one for each block.
template <class Space>
[[nodiscard]] std::vector<std::uint64_t> first_words(residency::region const& r, std::size_t block) {
  std::vector<std::uint64_t> words(r.bytes() / block);
  for (std::size_t i = 0; i < words.size(); ++i) r.read(i * block, &words[i], sizeof(words[i]));
  return words;
}

/// Fills block i with the word `first + i`.
inline void write_blocks(residency::region& r, std::size_t block, std::uint64_t first) {
  for (std::size_t i = 0; i < r.bytes() / block; ++i) {
    std::vector<std::uint64_t> const words(block / 8, first + i);
    r.write(i * block, words.data(), block);
  }
}

[[nodiscard]] inline std::size_t resident_blocks(residency::region const& r, std::size_t block) {
  std::size_t n = 0;
  for (std::size_t i = 0; i < r.bytes(); i += block) n += r.is_resident(i);
  return n;
}

}  // namespace wyrm::tests
