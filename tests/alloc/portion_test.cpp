// SPDX-License-Identifier: Apache-2.0
// The host's view of the memory of align-malloc against a model that has only a list of spaces: it searches the nodes
// of each VABlock's tree one by one, numbered as in a heap (the root is 1, the parent of n is n / 2).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "../../alloc/align/portion_space.hpp"
#include "../support/seed.hpp"
#include "../support/spaces.hpp"

namespace wyrm::tests {
namespace {

using alloc::portion_space;
using alloc::portion_tree;

constexpr std::uint32_t none = portion_space::none;
constexpr unsigned leaves = 32;
constexpr std::uint32_t leaf = 16;  // pages
constexpr std::uint32_t block = leaves * leaf;

// The leaves [begin, end) below a node.
struct range {
  unsigned begin;
  unsigned end;
};
range below(unsigned node) {
  unsigned last = node;
  while (node < leaves) {
    node = 2 * node;
    last = 2 * last + 1;
  }
  return {node - leaves, last + 1 - leaves};
}

TEST(portion_tree, the_leftmost_free_node) {
  std::mt19937 random(seeded(1));
  for (std::size_t round = 0; round < scaled(2000, 300); ++round) {
    portion_tree tree;
    alloc::claim_counts counts;
    std::vector<unsigned> claims(leaves);
    for (std::size_t k = random() % 8; k > 0; --k) {
      auto const first = static_cast<unsigned>(random() % leaves);
      auto const count = static_cast<unsigned>(1 + random() % std::min(leaves - first, 5u));
      bool const is_returned = random() % 4 == 0;
      for (unsigned const leaves_more : {count, 1u}) {
        tree.claim(portion_tree::mask(first, leaves_more));
        counts.add(first, leaves_more);
      }
      tree.release(counts.remove(first, 1));
      if (is_returned) tree.release(counts.remove(first, count));
      for (unsigned i = first; i < first + count; ++i) claims[i] += !is_returned;
    }
    unsigned highest = portion_tree::none;
    for (unsigned h = 0; h <= 5; ++h) {
      unsigned found = portion_tree::none;
      for (unsigned node = leaves >> h; node < 2 * (leaves >> h) && found == portion_tree::none; ++node) {
        range const r = below(node);
        if (std::all_of(claims.begin() + r.begin, claims.begin() + r.end, [](unsigned n) { return n == 0; }))
          found = r.begin;
      }
      ASSERT_EQ(tree.find(h), found) << "height " << h << ", round " << round;
      if (found != portion_tree::none) highest = h;
    }
    ASSERT_EQ(tree.highest(), highest);
    for (unsigned i = 0; i < leaves; ++i) ASSERT_EQ(tree.is_free(i), claims[i] == 0);
  }
}

TEST(portion_tree, a_warptree_claims_the_leaves_of_its_parent) {
  for (unsigned count = 1; count <= leaves; ++count) {
    unsigned node = leaves;  // the leftmost leaf; up to the lowest node with enough leaves
    while (below(node).end < count) node /= 2;
    EXPECT_EQ(portion_tree::claim_of(count), below(std::max(node / 2, 1u)).end) << count;
  }
}

// The first of `count` true elements in a row, or none.
std::uint32_t first_run(std::vector<bool> const& all, std::uint32_t count) {
  auto const at = std::search_n(all.begin(), all.end(), static_cast<std::ptrdiff_t>(count), true);
  return at == all.end() ? none : static_cast<std::uint32_t>(at - all.begin());
}

TEST(run_tree, the_first_run) {
  for (std::uint32_t const pages : {1u, 63u, 64u, 65u, 128u, 200u, 1000u, 4096u}) {
    SCOPED_TRACE(pages);
    std::mt19937 random(seeded(pages));
    alloc::run_tree runs(pages, [&](auto const& use) {
      use(pages / 2, 1);
      if (pages > 200) use(pages / 2 + 7, 100);
    });
    std::vector<bool> all(pages, true);
    all[pages / 2] = false;
    if (pages > 200) std::fill_n(all.begin() + pages / 2 + 7, 100, false);
    for (std::uint32_t page = 0; page < pages; ++page) ASSERT_EQ(runs.is_free(page), all[page]) << "page " << page;
    for (std::size_t round = 0; round < scaled(2000, 300); ++round) {
      // Most changes are small or make pages free, so that runs of all lengths come into being.
      auto const first = static_cast<std::uint32_t>(random() % pages);
      std::uint32_t const most = std::min<std::uint32_t>(pages - first, random() % 4 == 0 ? pages : 70);
      auto const count = static_cast<std::uint32_t>(1 + random() % most);
      bool const free = random() % 3 != 0;
      runs.set(first, count, free);
      std::fill_n(all.begin() + first, count, free);
      for (std::uint32_t const wanted :
           {1u, 2u, 63u, 64u, 65u, static_cast<std::uint32_t>(1 + random() % pages), pages})
        ASSERT_EQ(runs.find(wanted), first_run(all, wanted)) << wanted << " pages, round " << round;
      for (std::uint32_t const page : {first, first + count - 1, static_cast<std::uint32_t>(random() % pages)})
        ASSERT_EQ(runs.is_free(page), all[page]) << "page " << page << ", round " << round;
    }
  }
}

class model {
 public:
  model(std::uint32_t pages, bool pack) : pages_(pages), pack_(pack), real_(pages, pack) {}

  // Returns whether there was a space.
  bool allocate(std::uint32_t n) {
    std::uint32_t const apart = n > pages_ ? none : find_apart(n);
    std::uint32_t const expected = apart != none || n > pages_ || !pack_ ? apart : find_free(n);
    EXPECT_EQ(real_.allocate(n), expected) << n << " pages";
    if (expected == none) return false;
    spaces_[expected] = {n, apart == none};
    peak_ = std::max(peak_, used());
    return true;
  }
  void free_random(std::mt19937& random) {
    if (spaces_.empty()) return;
    auto const it = std::next(spaces_.begin(), static_cast<std::ptrdiff_t>(random() % spaces_.size()));
    EXPECT_FALSE(it->second.pages > 1 && real_.free(it->first + 1)) << "no space begins there";
    EXPECT_TRUE(real_.free(it->first));
    EXPECT_FALSE(real_.free(it->first));
    spaces_.erase(it);
  }
  void grow(std::uint32_t pages) {
    real_ = real_.grown(pages);
    pages_ = pages;
  }
  void verify() const {
    EXPECT_NO_THROW(real_.check());
    EXPECT_EQ(real_.used(), used());
    EXPECT_EQ(real_.peak(), peak_);
    EXPECT_FALSE(real_.length(0) == 0 && spaces_.contains(0));
    for (auto const& [first, s] : spaces_) EXPECT_EQ(real_.length(first), s.pages);
    // Eq. 3, for each two spaces that are apart.
    std::uint32_t end = 0;
    for (auto const& [first, s] : spaces_) {
      if (s.is_packed) continue;
      EXPECT_GE(first / leaf, end) << "the trees of the parents of two warptrees overlap";
      end = first / leaf + claim(s.pages);
    }
  }
  [[nodiscard]] bool empty() const { return spaces_.empty(); }
  [[nodiscard]] std::uint32_t pages() const { return pages_; }

 private:
  struct space {
    std::uint32_t pages;
    bool is_packed;
  };
  // Leaves of whole VABlocks, and below the parent of the warptree of the rest.
  static std::uint32_t claim(std::uint32_t n) {
    std::uint32_t const whole = (n - 1) / block;
    unsigned node = leaves;
    while (below(node).end * leaf < n - whole * block) node /= 2;
    return whole * leaves + below(std::max(node / 2, 1u)).end;
  }
  [[nodiscard]] std::uint32_t used() const {
    std::uint32_t all = 0;
    for (auto const& [first, s] : spaces_) all += s.pages;
    return all;
  }
  // By leaf; leaves beyond the pool are claimed.
  [[nodiscard]] std::vector<bool> claimed() const {
    std::vector<bool> all((pages_ + block - 1) / block * leaves);
    std::fill(all.begin() + pages_ / leaf, all.end(), true);
    for (auto const& [first, s] : spaces_) {
      std::uint32_t const begin = first / leaf;
      std::uint32_t const end = s.is_packed ? (first + s.pages + leaf - 1) / leaf : begin + claim(s.pages);
      std::fill(all.begin() + begin, all.begin() + end, true);
    }
    return all;
  }
  [[nodiscard]] std::uint32_t find_apart(std::uint32_t n) const {
    std::vector<bool> const all = claimed();
    auto const is_free = [&](std::uint32_t begin, std::uint32_t end) {
      return end <= all.size() && std::find(all.begin() + begin, all.begin() + end, true) == all.begin() + end;
    };
    auto const blocks = static_cast<std::uint32_t>(all.size()) / leaves;
    std::uint32_t const count = (n + block - 1) / block;
    if (count == 1 && claim(n) < leaves)
      for (std::uint32_t b = 0; b < blocks; ++b) {
        if (is_free(b * leaves, (b + 1) * leaves)) continue;  // whole ones come last
        for (unsigned node = leaves / claim(n); node < 2 * (leaves / claim(n)); ++node)
          if (is_free(b * leaves + below(node).begin, b * leaves + below(node).end))
            return b * block + below(node).begin * leaf;
      }
    for (std::uint32_t b = 0; b < blocks; ++b)
      if (is_free(b * leaves, (b + count) * leaves)) return b * block;
    return none;
  }
  // The first run of free pages.
  [[nodiscard]] std::uint32_t find_free(std::uint32_t n) const {
    std::uint32_t begin = 0;
    for (auto const& [first, s] : spaces_) {
      if (first - begin >= n) return begin;
      begin = first + s.pages;
    }
    return pages_ - begin >= n ? begin : none;
  }

  std::uint32_t pages_;
  bool pack_;
  portion_space real_;
  std::map<std::uint32_t, space> spaces_;
  std::uint32_t peak_ = 0;
};

std::uint32_t random_pages(std::mt19937& random) {
  std::uint32_t const most[] = {leaf, 4 * leaf, block, 3 * block};
  return static_cast<std::uint32_t>(1 + random() % most[random() % 4]);
}

TEST(portion_space, agrees_with_the_model) {
  for (bool const pack : {false, true})
    for (std::uint32_t const pages : {leaf, 5 * leaf, block, 3 * block + 7 * leaf, 9 * block}) {
      SCOPED_TRACE(std::to_string(pages) + (pack ? " pages, packed" : " pages, apart"));
      std::mt19937 random(seeded(pages));
      model m(pages, pack);
      for (std::size_t step = 0; step < scaled(1500, 300); ++step) {
        bool const fills = step / 100 % 2 == 0;
        if (random() % 10 < (fills ? 7u : 3u))
          m.allocate(random_pages(random));
        else
          m.free_random(random);
        if (step % 16 == 0) m.verify();
        if (step == 700) m.grow(pages + 2 * block + leaf);
        if (HasFailure()) return;
      }
      while (!m.empty()) m.free_random(random);
      m.verify();
      // VABlocks are whole again: spaces of one VABlock each fill the pool.
      for (std::uint32_t b = 0; b < m.pages() / block; ++b) EXPECT_TRUE(m.allocate(block));
      m.verify();
    }
}

TEST(portion_space, is_filled_by_packing) {
  model m(2 * block, true);
  for (std::uint32_t page = 0; page < 2 * block; ++page) ASSERT_TRUE(m.allocate(1));
  EXPECT_FALSE(m.allocate(1));
  m.verify();
  model apart(2 * block, false);
  for (std::uint32_t tree = 0; tree < 2 * leaves / 2; ++tree) ASSERT_TRUE(apart.allocate(1));
  EXPECT_FALSE(apart.allocate(1));
  apart.verify();
}

TEST(portion_space, serves_the_whole_pool) {
  for (std::uint32_t const pages : {leaf, 3 * leaf, block, block + leaf, 5 * block}) {
    model m(pages, true);
    EXPECT_FALSE(m.allocate(pages + 1));
    EXPECT_TRUE(m.allocate(pages)) << pages;
    EXPECT_FALSE(m.allocate(1));
    m.verify();
  }
}

}  // namespace
}  // namespace wyrm::tests
