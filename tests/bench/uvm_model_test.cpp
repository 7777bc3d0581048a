// SPDX-License-Identifier: Apache-2.0
// The model of UVM: its prefetcher compared with a tree of counters, the theorems of the AlignMalloc paper (TPDS 2025,
// section V-B), eviction, and replay. uvm_statements_test.cpp has what the paper states about its experiments.
#include "../../bench/uvm_model.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <random>
#include <set>
#include <stdexcept>
#include <vector>

#include "../../bench/uvm_traces.hpp"
#include "../support/seed.hpp"

namespace wyrm::tests {

using namespace bench::uvm;

/// A full binary tree of 63 nodes as the paper describes it: node 1 is the root, nodes 2n and 2n + 1 are the children
/// of n, and nodes 32 to 63 are the blocks.
class tree_of_counters {
 public:
  explicit tree_of_counters(unsigned threshold) : threshold_(threshold) {}

  void fault(unsigned block) {
    if (resident_[32 + block] != 0) return;
    add(32 + block);
    for (unsigned node = (32 + block) / 2; node > 0; node /= 2)
      if (resident_[node] * 100 > leaves(node) * threshold_) fill(node);
  }
  [[nodiscard]] double capacity(unsigned node) const {
    return static_cast<double>(resident_[node]) / static_cast<double>(leaves(node));
  }
  [[nodiscard]] std::uint32_t mask() const {
    std::uint32_t all = 0;
    for (unsigned block = 0; block < 32; ++block) all |= resident_[32 + block] << block;
    return all;
  }
  static unsigned leaves(unsigned node) { return 64 >> std::bit_width(node); }

 private:
  void add(unsigned leaf) {
    for (unsigned node = leaf; node > 0; node /= 2) ++resident_[node];
  }
  void fill(unsigned node) {
    if (node >= 32) return resident_[node] == 0 ? add(node) : void();
    fill(2 * node);
    fill(2 * node + 1);
  }
  unsigned threshold_;
  std::array<unsigned, 64> resident_{};
};

/// Blocks first to last.
std::uint32_t blocks(unsigned first, unsigned last) {
  std::uint32_t all = 0;
  for (unsigned b = first; b <= last; ++b) all |= 1u << b;
  return all;
}

TEST(uvm_prefetch, examples_of_the_paper) {
  // Fig. 2: blocks 1 and 3 of a node of four are resident, and a fault in block 0 also fetches block 2.
  EXPECT_EQ(serve(0b1010, 0b0001, {}), 0b1111u);
  // Section III-C, Fig. 4(b): after blocks 0 and 1, a fault in block 2 also fetches block 3, and then one in block 4
  // fetches blocks 5 to 7.
  EXPECT_EQ(serve(0, 0b0011, {}), 0b0011u);
  EXPECT_EQ(serve(0b0011, 0b0100, {}), 0b1111u);
  EXPECT_EQ(serve(0b1111, 0b10000, {}), 0b11111111u);
}

// In the driver a node does not count the blocks that a prefetch of a node below it has just added. Here, a fault in
// block 2 also fetches block 3; with block 4 that makes five of eight blocks, which the driver does not see.
TEST(uvm_prefetch, cascades_in_the_paper_and_not_in_the_driver) {
  EXPECT_EQ(serve(0b10011, 0b00100, {}), 0b11111111u);
  EXPECT_EQ(serve(0b10011, 0b00100, {.cascade = false}), 0b11111u);
  EXPECT_EQ(serve(0b11111, 0b00100000, {.cascade = false}), 0b11111111u);
}

TEST(uvm_prefetch, is_a_tree_of_counters) {
  std::mt19937_64 random(seeded(403));
  for (unsigned const threshold : {0u, 25u, 50u, 51u, 75u, 99u, 100u})
    for (int round = 0; round < 200; ++round) {
      tree_of_counters tree(threshold);
      std::uint32_t resident = 0;
      while (resident != ~0u) {
        unsigned const block = random() % 32;
        tree.fault(block);
        if ((resident & 1u << block) == 0) resident = serve(resident, 1u << block, {.threshold = threshold});
        ASSERT_EQ(resident, tree.mask()) << "threshold " << threshold;
      }
    }
}

// Faults of a batch in the same VABlock count together: none of them is prefetched.
TEST(uvm_prefetch, batches_contain_what_single_faults_bring_in) {
  std::mt19937_64 random(seeded(404));
  for (int round = 0; round < 2000; ++round) {
    auto const faults = static_cast<std::uint32_t>(random() & random());
    tree_of_counters tree(50);
    for (unsigned block = 0; block < 32; ++block)
      if ((faults & 1u << block) != 0) tree.fault(block);
    EXPECT_EQ(serve(0, faults, {}), tree.mask());
  }
}

/// Calls f(before, after, fault) for each fault in many VABlocks that fill up in random order.
template <class F>
void for_each_random_fault(std::uint64_t seed, F const& f) {
  std::mt19937_64 random(seeded(seed));
  for (int round = 0; round < 500; ++round) {
    std::uint32_t resident = 0;
    while (resident != ~0u) {
      unsigned const block = random() % 32;
      if ((resident & 1u << block) != 0) continue;
      std::uint32_t const after = serve(resident, 1u << block, {});
      f(resident, after, block);
      resident = after;
    }
  }
}
/// Calls f(node, sibling, sibling of the parent) for each node of a VABlock but the root, with the blocks of each.
template <class F>
void for_each_node(F const& f) {
  for (unsigned level = 0; level < 5; ++level)
    for (unsigned leaf = 0; leaf < 32; leaf += 1u << level)
      f(blocks_of_node(leaf, level), blocks_of_node(leaf ^ 1u << level, level),
        level < 4 ? blocks_of_node(leaf ^ 2u << level, level + 1) : 0);
}
int count_of(std::uint32_t mask) { return std::popcount(mask); }

// Theorem 1: 0 <= U(t) <= 50 %, or U(t) = 100 %, for each node t that is not a leaf.
TEST(uvm_theorems, nodes_are_at_most_half_full_or_full) {
  for_each_random_fault(405, [](std::uint32_t, std::uint32_t after, unsigned) {
    for_each_node([&](std::uint32_t node, std::uint32_t, std::uint32_t) {
      if (count_of(node) == 1) return;
      EXPECT_TRUE(2 * count_of(after & node) <= count_of(node) || (after & node) == node);
    });
  });
}

// Theorem 2: a prefetch at t follows an update of a child of t, or of its sibling, which then fills the parent.
TEST(uvm_theorems, prefetches_come_from_below_or_from_the_sibling) {
  for_each_random_fault(406, [](std::uint32_t before, std::uint32_t after, unsigned fault) {
    for_each_node([&](std::uint32_t node, std::uint32_t sibling, std::uint32_t) {
      bool const from_below = (node & 1u << fault) != 0;
      if ((after & ~before & node) == 0 || from_below) return;
      EXPECT_EQ(after & (node | sibling), node | sibling);
    });
  });
}

// Theorem 3: if t is prefetched because of its sibling, the sibling is full, and t had at least one block. Where t had
// none, it is prefetched because of its parent's sibling or of a node farther up, for which the same holds.
TEST(uvm_theorems, prefetches_from_the_sibling_need_a_full_sibling_and_a_resident_block) {
  std::uint64_t because_of_sibling = 0;
  std::uint64_t because_of_others = 0;
  for_each_random_fault(407, [&](std::uint32_t before, std::uint32_t after, unsigned fault) {
    for_each_node([&](std::uint32_t node, std::uint32_t sibling, std::uint32_t aunt) {
      if ((after & ~before & node) == 0 || (sibling & 1u << fault) == 0) return;
      EXPECT_EQ(after & sibling, sibling);
      if ((before & node) != 0) {
        ++because_of_sibling;
      } else {
        EXPECT_NE(aunt, 0u);
        EXPECT_EQ(after & aunt, aunt);
        ++because_of_others;
      }
    });
  });
  EXPECT_GT(because_of_sibling, 1000u);
  EXPECT_GT(because_of_others, 100u);
}

struct warptree {
  std::uint64_t first;  // block
  unsigned blocks;
  [[nodiscard]] std::uint64_t vablock() const { return first / 32; }
  [[nodiscard]] std::uint32_t mask() const {
    return blocks_of_node(first % 32, static_cast<unsigned>(std::countr_zero(blocks)));
  }
  /// The tree of the parent, where there is one.
  [[nodiscard]] std::uint32_t parent_mask() const {
    return blocks == 32 ? mask() : blocks_of_node(first % 32, static_cast<unsigned>(std::countr_zero(blocks)) + 1);
  }
};
std::vector<warptree> random_warptrees(std::mt19937_64& random, unsigned count) {
  warptree_placement placement;
  std::vector<warptree> trees;
  for (unsigned n = 0; n < count; ++n) {
    auto const wanted = static_cast<unsigned>(1 + random() % (random() % 2 == 0 ? 4 : 32));
    trees.push_back({placement.place(wanted), std::bit_ceil(wanted)});
    EXPECT_LT(trees.back().vablock(), placement.vablocks());
  }
  return trees;
}

TEST(uvm_warptrees, parents_do_not_overlap) {
  std::mt19937_64 random(seeded(408));
  for (int round = 0; round < 50; ++round) {
    auto const trees = random_warptrees(random, 60);
    std::set<std::uint64_t> used;
    for (auto const& tree : trees) {
      EXPECT_EQ(tree.first % tree.blocks, 0u);
      for (unsigned b = 0; b < 32; ++b)
        if ((tree.parent_mask() & 1u << b) != 0) {
          EXPECT_TRUE(used.insert(tree.vablock() * 32 + b).second);
        }
    }
  }
}

// Eq. 3: a fault in a warptree never fetches a block outside of it, whatever is resident elsewhere.
void expect_independent_warptrees(options const& o) {
  std::mt19937_64 random(seeded(409));
  for (int round = 0; round < 50; ++round) {
    auto const trees = random_warptrees(random, 40);
    managed_memory memory(o);
    std::vector<std::uint32_t> expected(trees.size());  // resident blocks of the tree if it were alone
    for (int step = 0; step < 200; ++step) {
      std::vector<std::uint64_t> batch;
      for (int n = 0; n < 6; ++n) {
        std::size_t const t = random() % trees.size();
        batch.push_back((trees[t].first + random() % trees[t].blocks) * block_bytes);
      }
      for (std::size_t t = 0; t < trees.size(); ++t) {
        std::uint32_t faults = 0;
        for (std::uint64_t const a : batch)
          if (a / vablock_bytes == trees[t].vablock()) faults |= 1u << a / block_bytes % 32 & trees[t].mask();
        expected[t] = serve(expected[t], faults & ~expected[t], o);
      }
      memory.fault(batch);
    }
    std::vector<std::uint32_t> all(trees.back().vablock() + 40);
    for (std::size_t t = 0; t < trees.size(); ++t) {
      EXPECT_EQ(expected[t] & ~trees[t].mask(), 0u) << "a warptree has brought in its padding";
      all[trees[t].vablock()] |= expected[t];
    }
    for (std::size_t v = 0; v < all.size(); ++v) EXPECT_EQ(memory.resident(v), all[v]) << "VABlock " << v;
  }
}
TEST(uvm_warptrees, are_independent) {
  expect_independent_warptrees({});
  expect_independent_warptrees({.cascade = false});
}

// Without the padding, section V-B: the warp of blocks 0 to 3 has brought in all of them, and with a block of the next
// warp resident, that warp's blocks follow.
TEST(uvm_warptrees, without_padding_warps_disturb_each_other) {
  EXPECT_EQ(serve(0b00100011, 0b00000100, {}), 0b11111111u);
}

TEST(uvm_memory, threads_have_memory_of_their_own) {
  for (bool const intra : {false, true})
    for (bool const inter : {false, true})
      for (std::uint64_t const kib : {3u, 20u, 64u, 100u, 300u}) {
        thread_memory const memory({intra, inter}, 77, kib * 1024);
        EXPECT_EQ(memory.warps(), 3u);
        EXPECT_EQ(memory.lanes(2), 13u);
        std::set<std::uint64_t> pages;
        for (std::uint32_t t = 0; t < 77; ++t)
          for (std::uint64_t at = 0; at < kib * 1024; at += page_bytes) {
            EXPECT_LE(memory.address(t, at) + page_bytes, memory.bytes_spanned());
            EXPECT_TRUE(pages.insert(memory.address(t, at) / page_bytes).second);
          }
      }
  EXPECT_THROW(thread_memory({}, 1, 0), std::invalid_argument);
}

TEST(uvm_memory, warps_do_not_share_parents_with_inter_warp_rearrangement) {
  thread_memory const memory({true, true}, 256, 20 * 1024);  // 640 KiB a warp: warptrees of 16 blocks
  std::set<std::uint64_t> vablocks;
  for (std::uint32_t w = 0; w < 8; ++w) vablocks.insert(memory.address(w * 32, 0) / vablock_bytes);
  EXPECT_EQ(vablocks.size(), 8u);
}

TEST(uvm_model, options_out_of_range) {
  EXPECT_THROW(managed_memory({.threshold = 101}), std::invalid_argument);
  EXPECT_THROW(managed_memory({.batch = 0}), std::invalid_argument);
  EXPECT_THROW(managed_memory({.memory = vablock_bytes - 1}), std::invalid_argument);
}

TEST(uvm_model, counts_of_one_vablock) {
  managed_memory memory({});
  EXPECT_FALSE(memory.access(0));
  memory.fault(std::vector<std::uint64_t>{0, 1 * block_bytes, 1 * block_bytes + 4096, 2 * block_bytes});
  EXPECT_EQ(memory.resident(0), blocks(0, 3));
  for (std::uint64_t const block : {0u, 3u, 3u}) EXPECT_TRUE(memory.access(block * block_bytes + 77));
  EXPECT_FALSE(memory.access(4 * block_bytes));
  counts const& c = memory.counted();
  EXPECT_EQ(c.accesses, 3u);
  EXPECT_EQ(c.raised, 4u);
  EXPECT_EQ(c.served, 4u);
  EXPECT_EQ(c.batches, 1u);
  EXPECT_EQ(c.demanded, 3u);
  EXPECT_EQ(c.prefetched, 1u);
  EXPECT_EQ(c.prefetched_used, 1u);
  EXPECT_EQ(c.bytes_in(), 4 * block_bytes);
  EXPECT_EQ(c.prefetch_use(), 1.0);
}

// The VABlock whose last migration is the longest ago is evicted, and what was prefetched into it in vain stays unused.
TEST(uvm_model, evicts_the_least_recently_migrated) {
  managed_memory memory({.memory = 2 * vablock_bytes});
  auto const fault = [&](std::uint64_t block) { memory.fault(std::vector<std::uint64_t>{block * block_bytes}); };
  for (std::uint64_t const block : {0u, 1u, 2u, 32u, 4u}) fault(block);
  EXPECT_EQ(memory.resident(0), blocks(0, 7));
  EXPECT_TRUE(memory.access(32 * block_bytes));  // a hit does not make it young
  fault(64);
  EXPECT_EQ(memory.resident(0), blocks(0, 7));
  EXPECT_EQ(memory.resident(1), 0u);
  EXPECT_EQ(memory.resident(2), 1u);
  EXPECT_EQ(memory.counted().evictions, 1u);
  EXPECT_EQ(memory.counted().evicted, 1u);
  fault(33);
  EXPECT_EQ(memory.resident(0), 0u);
  EXPECT_EQ(memory.counted().bytes_out(), 9 * block_bytes);
  fault(0);
  EXPECT_EQ(memory.resident(0), 1u);
  EXPECT_EQ(memory.counted().prefetched, 4u);
  EXPECT_EQ(memory.counted().prefetch_use(), 0.0);
}

// A warp of three lanes, of which two access the same page, and a warp of one lane. A batch has one fault.
TEST(uvm_model, warps_wait_and_raise_their_faults_again) {
  std::vector<warp_trace> const warps{{3, {0, 100, 64 * block_bytes, 0, 0, 0}}, {1, {128 * block_bytes}}};
  managed_memory memory({.batch = 1});
  play(warps, memory);
  counts const& c = memory.counted();
  EXPECT_EQ(c.accesses, 7u);
  EXPECT_EQ(c.batches, 3u);
  EXPECT_EQ(c.served, 3u);
  EXPECT_EQ(c.raised, 3u + 2u + 1u);
  EXPECT_EQ(c.moved(), 3u);
}

// Each access is made once, whatever is evicted meanwhile.
TEST(uvm_model, plays_all_accesses_in_little_memory) {
  for (std::uint64_t const vablocks : {1u, 2u, 6u})
    for (std::size_t const batch : {1u, 5u, 256u}) {
      thread_memory const memory({}, 70, 200 * 1024);
      auto const trace = random_trace(memory, 20, lanes_access::independently, seeded(410));
      counts const c = count(trace, {.batch = batch, .memory = vablocks * vablock_bytes});
      EXPECT_EQ(c.accesses, 70u * 20);
      EXPECT_GT(c.evictions, 0u);
      EXPECT_LE(c.prefetched_used, c.prefetched);
      EXPECT_LE(c.evicted, c.moved());
    }
}

}  // namespace wyrm::tests
