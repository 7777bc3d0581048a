// SPDX-License-Identifier: Apache-2.0
// A bitmap of free pages that finds the first run of enough of them: a binary tree, of which each node knows the
// longest run of free pages below it, and how many are free at its two ends. A leaf has 512 pages, 64 bytes of the
// bitmap, so that the tree of a large pool stays in the cache of the host.
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
      : leaves_(std::bit_ceil((pages + leaf_pages - 1) / leaf_pages)),
        words_(std::size_t{leaves_} * leaf_words),
        nodes_(2 * std::size_t{leaves_}) {
    set_words(0, pages, true);
    used([this](std::uint32_t first, std::uint32_t count) { set_words(first, count, false); });
    for (std::uint32_t leaf = 0; leaf < leaves_; ++leaf) nodes_[leaves_ + leaf] = summary(leaf);
    for (std::uint32_t n = leaves_, half = leaf_pages; n > 1; n /= 2, half *= 2)
      (void)join_children(n / 2, n - 1, half);
  }

  [[nodiscard]] bool is_free(std::uint32_t page) const {
    return (words_[page / word_pages] >> page % word_pages & 1) != 0;
  }
  /// Makes pages free, or used. count: at least 1. O(count / 64 + log pages).
  void set(std::uint32_t first, std::uint32_t count, bool free) {
    set_words(first, count, free);
    std::uint32_t low = first / leaf_pages;
    std::uint32_t high = (first + count - 1) / leaf_pages;
    for (std::uint32_t leaf = low; leaf <= high; ++leaf)
      nodes_[leaves_ + leaf] = leaf > low && leaf < high ? node::all(leaf_pages, free) : summary(leaf);
    low = (low + leaves_) / 2;
    high = (high + leaves_) / 2;
    for (std::uint32_t half = leaf_pages; low > 0 && join_children(low, high, half); half *= 2) low /= 2, high /= 2;
  }
  /// The first page of the first run of so many free pages, or none. count: at least 1. O(log pages).
  [[nodiscard]] std::uint32_t find(std::uint32_t count) const {
    if (nodes_[1].longest < count) return none;
    std::uint32_t first = 0;  // page of the node
    std::uint32_t n = 1;
    for (std::uint32_t half = leaves_ * (leaf_pages / 2); n < leaves_; half /= 2) {
      node const& left = nodes_[2 * n];
      bool const is_right = left.longest < count;
      if (is_right && left.suffix + nodes_[2 * n + 1].prefix >= count) return first + half - left.suffix;
      if (is_right) first += half;
      n = 2 * n + is_right;
    }
    std::uint32_t before = 0;  // free pages before the word
    for (std::uint64_t const* word = &words_[first / word_pages];; ++word, first += word_pages) {
      auto const prefix = static_cast<std::uint32_t>(std::countr_one(*word));
      if (before + prefix >= count) return first - before;
      std::uint32_t const at = detail::first_run(*word, count);
      if (at < word_pages) return first + at;
      before = prefix == word_pages ? before + word_pages : static_cast<std::uint32_t>(std::countl_one(*word));
    }
  }

 private:
  static constexpr std::uint32_t word_pages = 64;
  static constexpr std::uint32_t leaf_words = 8;
  static constexpr std::uint32_t leaf_pages = leaf_words * word_pages;

  struct node {
    std::uint32_t prefix = 0;
    std::uint32_t suffix = 0;
    std::uint32_t longest = 0;

    [[nodiscard]] static node all(std::uint32_t pages, bool free) {
      std::uint32_t const n = free ? pages : 0;
      return {n, n, n};
    }
    // Of two neighbours of so many pages each.
    [[nodiscard]] static node joined(node const& left, node const& right, std::uint32_t pages) {
      return {left.prefix == pages ? pages + right.prefix : left.prefix,
              right.suffix == pages ? pages + left.suffix : right.suffix,
              std::max({left.longest, right.longest, left.suffix + right.prefix})};
    }
  };

  void set_words(std::uint32_t first, std::uint32_t count, bool free) {
    std::uint32_t const last = first + count - 1;
    std::uint32_t const low = first / word_pages;
    std::uint32_t const high = last / word_pages;
    auto const set = [&](std::uint32_t w, std::uint64_t mask) {
      words_[w] = free ? words_[w] | mask : words_[w] & ~mask;
    };
    std::uint64_t const from = ~std::uint64_t{0} << first % word_pages;
    std::uint64_t const to = ~std::uint64_t{0} >> (word_pages - 1 - last % word_pages);
    if (low == high) return set(low, from & to);
    set(low, from);
    set(high, to);
    std::fill(&words_[low] + 1, &words_[high], free ? ~std::uint64_t{0} : 0);
  }
  [[nodiscard]] node summary(std::uint32_t leaf) const {
    std::uint64_t const* const words = &words_[std::size_t{leaf} * leaf_words];
    detail::free_runs all = detail::runs_of(words[0]);
    for (std::uint32_t w = 1; w < leaf_words; ++w) all = detail::join(all, detail::runs_of(words[w]), true);
    return {all.prefix, all.suffix, all.longest};
  }
  // Computes the nodes from low to high, whose children have `half` pages each. False if none has changed.
  [[nodiscard]] bool join_children(std::uint32_t low, std::uint32_t high, std::uint32_t half) {
    bool some = false;
    for (std::uint32_t n = low; n <= high; ++n) {
      node const now = node::joined(nodes_[2 * n], nodes_[2 * n + 1], half);
      node& before = nodes_[n];
      if (now.prefix == before.prefix && now.suffix == before.suffix && now.longest == before.longest) continue;
      before = now;
      some = true;
    }
    return some;
  }

  std::uint32_t leaves_;
  std::vector<std::uint64_t> words_;
  std::vector<node> nodes_;  // as in a heap: the root is 1, the children of n are 2 n and 2 n + 1
};

}  // namespace wyrm::alloc
