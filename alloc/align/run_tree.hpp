// SPDX-License-Identifier: Apache-2.0
// A bitmap of free pages that finds the first run of enough of them: a binary tree, of which each node knows the
// longest run of free pages below it, and how many are free at its two ends. A leaf is a word of 64 pages.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace wyrm::alloc {

/// For the host. Not thread-safe.
class run_tree {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  /// No page is free. pages: at least 1. O(pages).
  explicit run_tree(std::uint32_t pages)
      : leaves_(std::bit_ceil((std::size_t{pages} + word_pages - 1) / word_pages)),
        words_(leaves_),
        nodes_(2 * leaves_) {}

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
      nodes_[leaves_ + w] = summary(words_[w]);
    }
    low += leaves_;
    high += leaves_;
    for (std::uint32_t half = word_pages; low > 1; half *= 2) {
      low /= 2;
      high /= 2;
      for (std::size_t n = low; n <= high; ++n) nodes_[n] = joined(nodes_[2 * n], nodes_[2 * n + 1], half);
    }
  }
  /// The first page of the first run of so many free pages, or none. count: at least 1. O(log pages).
  [[nodiscard]] std::uint32_t find(std::uint32_t count) const {
    if (nodes_[1].longest < count) return none;
    std::uint32_t first = 0;  // page of the node
    auto half = static_cast<std::uint32_t>(leaves_ * word_pages / 2);
    std::size_t n = 1;
    for (; n < leaves_; half /= 2) {
      node const& left = nodes_[2 * n];
      if (left.longest < count && left.at_end + nodes_[2 * n + 1].at_begin >= count) return first + half - left.at_end;
      n = 2 * n + (left.longest < count);
      if (left.longest < count) first += half;
    }
    std::uint64_t begins = words_[n - leaves_];  // bit i: the pages i ... i + k - 1 are free
    for (std::uint32_t k = 1; k < count;) {
      std::uint32_t const more = std::min(k, count - k);
      begins &= begins >> more;
      k += more;
    }
    return first + static_cast<std::uint32_t>(std::countr_zero(begins));
  }

 private:
  static constexpr std::uint32_t word_pages = 64;

  struct node {
    std::uint32_t longest = 0;
    std::uint32_t at_begin = 0;
    std::uint32_t at_end = 0;
  };
  [[nodiscard]] static node summary(std::uint64_t word) {
    if (word == ~std::uint64_t{0}) return {word_pages, word_pages, word_pages};
    node n{0, static_cast<std::uint32_t>(std::countr_one(word)), static_cast<std::uint32_t>(std::countl_one(word))};
    for (; word != 0; word &= word >> 1) ++n.longest;
    return n;
  }
  // Of two neighbours of so many pages each.
  [[nodiscard]] static node joined(node const& left, node const& right, std::uint32_t pages) {
    return {std::max({left.longest, right.longest, left.at_end + right.at_begin}),
            left.at_begin == pages ? pages + right.at_begin : left.at_begin,
            right.at_end == pages ? pages + left.at_end : right.at_end};
  }

  std::size_t leaves_;
  std::vector<std::uint64_t> words_;
  std::vector<node> nodes_;  // as in a heap: the root is 1, the children of n are 2 n and 2 n + 1
};

}  // namespace wyrm::alloc
