// SPDX-License-Identifier: Apache-2.0
// Searches in a B+ tree ("B+T") of 16 keys per node. Access: region moving; all threads search random keys of one
// region of the keys, and then of the next one. Inner nodes are read more often the nearer they are to the root.
#pragma once

#include "pattern.hpp"

namespace wyrm::bench {

struct b_plus_tree {
  static constexpr char const* name = "b_plus_tree";
  static constexpr char const* access = "region moving";
  static constexpr unsigned arrays = 1;  // nodes: leaves in the order of their keys, then each level above; root last
  static constexpr unsigned result = no_array;  // the sum of the values that a thread finds
  static constexpr unsigned fan_out = 16;
  static constexpr unsigned node_words = 2 * fan_out;  // keys, then values (leaf), or children (inner node)
  static constexpr unsigned regions = 8;
  static constexpr word no_key = ~word{0};
  static constexpr unsigned max_levels = 8;
  WYRM_HD static constexpr unsigned share(unsigned) { return 64; }

  extent size;
  std::uint64_t leaves;
  unsigned levels;
  std::uint64_t begin[max_levels + 1];  // the first node of each level; leaves are level 0

  /// Throws error(bad_argument) if the keys do not fit a word: 26 GiB of memory or more.
  explicit b_plus_tree(extent const& e) : size(e), leaves(e.threads * e.words / node_words / fan_out * (fan_out - 1)) {
    leaves -= max_levels + 2;  // a level has at most one node that is not full
    if (leaves * fan_out / 4 * 5 >= no_key)
      throw error(error_code::bad_argument, "a B+ tree in " + std::to_string(e.bytes()) +
                                                " bytes has more keys than there are numbers of 32 bits; use less than "
                                                "26 GiB");
    std::uint64_t nodes = leaves;
    begin[0] = 0;
    for (levels = 1; nodes > 1; ++levels) {
      begin[levels] = begin[levels - 1] + nodes;
      nodes = (nodes + fan_out - 1) / fan_out;
    }
    begin[levels] = begin[levels - 1] + 1;
  }

  [[nodiscard]] WYRM_HD std::uint64_t entries() const { return leaves * fan_out; }
  [[nodiscard]] WYRM_HD std::uint64_t root() const { return begin[levels] - 1; }
  /// The key of an entry: each fifth number is missing.
  [[nodiscard]] WYRM_HD static word key(std::uint64_t entry) { return static_cast<word>(entry + entry / 4); }
  [[nodiscard]] WYRM_HD static word value(std::uint64_t entry) { return drawn(0, entry); }

  [[nodiscard]] WYRM_HD word initial(unsigned, std::uint64_t i) const {
    std::uint64_t const node = i / node_words;
    auto const slot = static_cast<unsigned>(i % fan_out);
    bool const is_key = i % node_words < fan_out;
    if (node < leaves) return is_key ? key(node * fan_out + slot) : value(node * fan_out + slot);
    if (node > root()) return 0;
    unsigned level = 1;
    while (node >= begin[level + 1]) ++level;
    std::uint64_t const child = (node - begin[level]) * fan_out + slot;  // in its level
    if (begin[level - 1] + child >= begin[level]) return no_key;
    if (!is_key) return static_cast<word>(begin[level - 1] + child);
    std::uint64_t leaf = child;
    for (unsigned below = level - 1; below > 0; --below) leaf *= fan_out;
    return key(leaf * fan_out);
  }

  [[nodiscard]] WYRM_HD std::uint64_t searches_per_thread() const { return size.words / node_words / 2; }
  /// The key of a search; it may be missing.
  [[nodiscard]] WYRM_HD word sought(std::uint64_t thread, std::uint64_t search) const {
    std::uint64_t const keys = key(entries());
    std::uint64_t const region = search * regions / searches_per_thread();
    return static_cast<word>(keys / regions * region +
                             drawn_below(keys / regions, 1, thread * searches_per_thread() + search));
  }

  template <class Space, class Array>
  void run(Space const& space, pattern_memory<Array> const& m) const;
};

namespace detail {
/// Thread t makes its own searches, one after the other, from the root down.
template <class Array>
struct search_keys {
  b_plus_tree p;
  pattern_memory<Array> m;
  WYRM_HD void operator()(std::uint64_t t) const {
    std::uint64_t sum = 0;
    for (std::uint64_t s = 0; s < p.searches_per_thread(); ++s) {
      word const key = p.sought(t, s);
      std::uint64_t node = p.root();
      while (node >= p.leaves) node = node_word(node, p.fan_out + last_not_above(node, key));
      unsigned const slot = last_not_above(node, key);
      if (node_word(node, slot) == key) sum += node_word(node, p.fan_out + slot);
    }
    m.sums[t] = sum;
  }
  WYRM_HD word node_word(std::uint64_t node, unsigned i) const { return m.arrays[0][node * p.node_words + i]; }
  /// The last key of a node that is not above `key`, by bisection; 0 if there is none.
  WYRM_HD unsigned last_not_above(std::uint64_t node, word key) const {
    unsigned slot = 0;
    for (unsigned step = p.fan_out / 2; step > 0; step /= 2)
      if (node_word(node, slot + step) <= key) slot += step;
    return slot;
  }
};
}  // namespace detail

template <class Space, class Array>
void b_plus_tree::run(Space const& space, pattern_memory<Array> const& m) const {
  for_each_thread(space, size.threads, detail::search_keys<Array>{*this, m});
}

}  // namespace wyrm::bench
