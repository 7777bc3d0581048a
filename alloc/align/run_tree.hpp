// SPDX-License-Identifier: Apache-2.0
// A bitmap of free pages that finds the first run of enough of them: a binary tree, of which each node knows the
// longest run of free pages below it, and how many are free at its two ends. A leaf is a word of 64 pages.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../random_walk/free_runs.hpp"

namespace wyrm::alloc {

/// For the host. Not thread-safe.
class run_tree {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  /// No page is free. pages: at least 1. O(pages).
  explicit run_tree(std::uint32_t pages)
      : leaves_(std::bit_ceil((std::size_t{pages} + word_pages - 1) / word_pages)),
        words_(leaves_),
        nodes_(2 * leaves_, detail::runs_of(0)) {
    for (std::size_t n = leaves_; n-- > 1;) join_children(n);
  }

  [[nodiscard]] bool is_free(std::uint32_t page) const {
    return (words_[page / word_pages] >> page % word_pages & 1) != 0;
  }
  /// Makes pages free, or used. count: at least 1. O(count / 64 + log pages).
  void set(std::uint32_t first, std::uint32_t count, bool free) {
    std::size_t low = first / word_pages;
    std::size_t high = (std::size_t{first} + count - 1) / word_pages;
    for (std::size_t w = low; w <= high; ++w) {
      std::uint32_t const begin = w == low ? first % word_pages : 0;
      std::uint32_t const end = w == high ? (first + count - 1) % word_pages + 1 : word_pages;
      std::uint64_t const mask = (~std::uint64_t{0} >> (word_pages - (end - begin))) << begin;
      words_[w] = free ? words_[w] | mask : words_[w] & ~mask;
      nodes_[leaves_ + w] = detail::runs_of(words_[w]);
    }
    low += leaves_;
    high += leaves_;
    while (low > 1) {
      low /= 2;
      high /= 2;
      for (std::size_t n = low; n <= high; ++n) join_children(n);
    }
  }
  /// The first page of the first run of so many free pages, or none. count: at least 1. O(log pages).
  [[nodiscard]] std::uint32_t find(std::uint32_t count) const {
    if (nodes_[1].longest < count) return none;
    std::uint32_t first = 0;  // page of the node
    std::size_t n = 1;
    while (n < leaves_) {
      detail::free_runs const& left = nodes_[2 * n];
      bool const is_right = left.longest < count;
      if (is_right && left.suffix + nodes_[2 * n + 1].prefix >= count) return first + left.units - left.suffix;
      if (is_right) first += left.units;
      n = 2 * n + is_right;
    }
    return first + detail::first_run(words_[n - leaves_], count);
  }

 private:
  static constexpr std::uint32_t word_pages = 64;

  void join_children(std::size_t n) { nodes_[n] = detail::join(nodes_[2 * n], nodes_[2 * n + 1], true); }

  std::size_t leaves_;
  std::vector<std::uint64_t> words_;
  std::vector<detail::free_runs> nodes_;  // as in a heap: the root is 1, the children of n are 2 n and 2 n + 1
};

}  // namespace wyrm::alloc
