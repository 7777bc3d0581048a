// SPDX-License-Identifier: Apache-2.0
// A bitmap of free pages that finds the first run of enough of them: a binary tree, of which each node knows the
// longest run of free pages below it, and how many are free at its two ends. A leaf is a word of 64 pages. Below a node
// whose pages are all free, or all used, nothing is stored, so that a change of many pages takes no longer than one of
// few.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../free_runs.hpp"

namespace wyrm::alloc {

/// For the host. Not thread-safe.
class run_tree {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  /// All pages are free except for those for which `used(f)` calls f(first, count). pages: at least 1, at most 2^31.
  /// O(pages).
  template <class F>
  run_tree(std::uint32_t pages, F const& used)
      : leaves_(std::bit_ceil((pages + word_pages - 1) / word_pages)), words_(leaves_), nodes_(2 * leaves_) {
    set_words(0, pages, true);
    used([this](std::uint32_t first, std::uint32_t count) { set_words(first, count, false); });
    for (std::size_t w = 0; w < leaves_; ++w) nodes_[leaves_ + w] = detail::runs_of(words_[w]);
    for (std::size_t n = leaves_; n-- > 1;) join_children(n);
  }

  /// O(log pages).
  [[nodiscard]] bool is_free(std::uint32_t page) const {
    std::size_t n = 1;
    std::uint32_t first = 0;  // page of the node
    while (!is_uniform(nodes_[n])) {
      if (n >= leaves_) return (words_[n - leaves_] >> (page - first) & 1) != 0;
      std::uint32_t const half = nodes_[n].units / 2;
      bool const is_right = page - first >= half;
      if (is_right) first += half;
      n = 2 * n + is_right;
    }
    return nodes_[n].longest > 0;
  }
  /// Makes pages free, or used. count: at least 1. O(log pages).
  void set(std::uint32_t first, std::uint32_t count, bool free) { change(1, 0, first, first + count, free); }
  /// The first page of the first run of so many free pages, or none. count: at least 1. O(log pages).
  [[nodiscard]] std::uint32_t find(std::uint32_t count) const {
    if (nodes_[1].longest < count) return none;
    std::uint32_t first = 0;
    std::size_t n = 1;
    while (!is_uniform(nodes_[n])) {
      if (n >= leaves_) return first + detail::first_run(words_[n - leaves_], count);
      detail::free_runs const& left = nodes_[2 * n];
      bool const is_right = left.longest < count;
      if (is_right && left.suffix + nodes_[2 * n + 1].prefix >= count) return first + left.units - left.suffix;
      if (is_right) first += left.units;
      n = 2 * n + is_right;
    }
    return first;
  }

 private:
  static constexpr std::uint32_t word_pages = 64;

  [[nodiscard]] static detail::free_runs all(std::uint32_t pages, bool free) {
    std::uint32_t const n = free ? pages : 0;
    return {pages, n, n, n, 0};
  }
  [[nodiscard]] static bool is_uniform(detail::free_runs const& node) {
    return node.longest == 0 || node.longest == node.units;
  }
  void join_children(std::size_t n) { nodes_[n] = detail::join(nodes_[2 * n], nodes_[2 * n + 1], true); }
  void set_words(std::uint32_t first, std::uint32_t count, bool free) {
    std::uint32_t const end = first + count;
    for (std::uint32_t at = first; at < end; at = (at | (word_pages - 1)) + 1) {
      std::uint32_t const here = std::min(end - at, word_pages - at % word_pages);
      std::uint64_t const mask = ~std::uint64_t{0} >> (word_pages - here) << at % word_pages;
      std::uint64_t& word = words_[at / word_pages];
      word = free ? word | mask : word & ~mask;
    }
  }
  // Stores what is below a node whose pages are all free, or all used.
  void spread(std::size_t n) {
    if (!is_uniform(nodes_[n])) return;
    bool const free = nodes_[n].longest > 0;
    if (n < leaves_)
      nodes_[2 * n] = nodes_[2 * n + 1] = all(nodes_[n].units / 2, free);
    else
      words_[n - leaves_] = free ? ~std::uint64_t{0} : 0;
  }
  // Changes those of the pages [begin, end) that are below node n, which begins at page `at`.
  void change(std::size_t n, std::uint32_t at, std::uint32_t begin, std::uint32_t end, bool free) {
    std::uint32_t const pages = nodes_[n].units;
    if (begin <= at && end - at >= pages) {
      nodes_[n] = all(pages, free);
      return;
    }
    spread(n);
    if (n >= leaves_) {
      std::uint32_t const first = std::max(begin, at);
      set_words(first, std::min(end, at + pages) - first, free);
      nodes_[n] = detail::runs_of(words_[n - leaves_]);
      return;
    }
    std::uint32_t const half = pages / 2;
    if (begin < at + half) change(2 * n, at, begin, end, free);
    if (end > at + half) change(2 * n + 1, at + half, begin, end, free);
    join_children(n);
  }

  std::uint32_t leaves_;
  std::vector<std::uint64_t> words_;
  std::vector<detail::free_runs> nodes_;  // as in a heap: the root is 1, the children of n are 2 n and 2 n + 1
};

}  // namespace wyrm::alloc
