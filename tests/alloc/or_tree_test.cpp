// SPDX-License-Identifier: Apache-2.0
// The OR-tree compared with a bitmap that is searched unit by unit, after random changes of runs of all lengths.
#include "../../alloc/extent/or_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "../support/seed.hpp"
#include "../support/spaces.hpp"

namespace wyrm::tests {

class or_tree_model {
 public:
  explicit or_tree_model(std::uint32_t units) : free_(units) {}

  void set(std::uint32_t first, std::uint32_t count, bool free) { std::fill_n(free_.begin() + first, count, free); }
  [[nodiscard]] bool empty() const { return std::find(free_.begin(), free_.end(), true) == free_.end(); }
  [[nodiscard]] std::uint32_t next_free(std::uint32_t from) const { return next(from, true, alloc::or_tree::none); }
  [[nodiscard]] std::uint32_t next_used(std::uint32_t from, std::uint32_t limit) const {
    return std::min(next(from, false, limit), limit);
  }
  [[nodiscard]] std::uint32_t free_at_end() const {
    auto const used = std::find(free_.rbegin(), free_.rend(), false);
    return static_cast<std::uint32_t>(used - free_.rbegin());
  }
  [[nodiscard]] std::uint32_t find(std::uint32_t count) const {
    std::uint32_t run = 0;
    for (std::uint32_t i = 0; i < free_.size(); ++i) {
      run = free_[i] ? run + 1 : 0;
      if (run == count) return i + 1 - count;
    }
    return alloc::or_tree::none;
  }

 private:
  [[nodiscard]] std::uint32_t next(std::uint32_t from, bool free, std::uint32_t otherwise) const {
    for (std::uint32_t i = from; i < free_.size(); ++i)
      if (free_[i] == free) return i;
    return otherwise;
  }
  std::vector<bool> free_;
};

class or_tree : public ::testing::TestWithParam<std::uint32_t> {
 protected:
  std::uint32_t units_ = GetParam();
  std::vector<std::uint64_t> words_ = std::vector<std::uint64_t>(alloc::or_tree::words(units_));
  alloc::or_tree tree_{words_.data(), units_};
  or_tree_model model_{units_};
};

TEST_P(or_tree, a_new_tree_has_nothing_free) {
  EXPECT_EQ(tree_.units(), units_);
  EXPECT_TRUE(tree_.empty());
  EXPECT_EQ(tree_.next_free(0), alloc::or_tree::none);
  EXPECT_EQ(tree_.next_free(units_ - 1), alloc::or_tree::none);
  EXPECT_EQ(tree_.next_free(units_), alloc::or_tree::none);
  EXPECT_EQ(tree_.next_used(0, units_), 0u);
  EXPECT_EQ(tree_.find(1), alloc::or_tree::none);
}

TEST_P(or_tree, all_units_as_one_run) {
  tree_.set_free(0, units_);
  EXPECT_FALSE(tree_.empty());
  EXPECT_EQ(tree_.next_free(0), 0u);
  EXPECT_EQ(tree_.next_free(units_ - 1), units_ - 1);
  EXPECT_EQ(tree_.next_free(units_), alloc::or_tree::none);
  EXPECT_EQ(tree_.next_used(0, units_), units_);
  EXPECT_EQ(tree_.find(units_), 0u);
  EXPECT_EQ(tree_.free_at_end(), units_);
  EXPECT_EQ(tree_.find(units_ + 1), alloc::or_tree::none);
  tree_.set_used(0, units_);
  EXPECT_TRUE(tree_.empty());
  words_.resize(words_.size() - (alloc::or_tree::lengths + 1) / 2);
  EXPECT_EQ(words_, std::vector<std::uint64_t>(words_.size()));  // no bit is left set on any level
}

TEST_P(or_tree, single_units_at_the_borders_of_nodes) {
  for (std::uint32_t const at : {0u, 62u, 63u, 64u, 4095u, 4096u, 262143u, 262144u, units_ - 1}) {
    if (at >= units_) continue;
    SCOPED_TRACE("unit " + std::to_string(at));
    tree_.set_free(at, 1);
    EXPECT_FALSE(tree_.empty());
    EXPECT_EQ(tree_.next_free(0), at);
    EXPECT_EQ(tree_.next_free(at), at);
    EXPECT_EQ(tree_.next_free(at + 1), alloc::or_tree::none);
    EXPECT_EQ(tree_.next_used(at, units_), at + 1);
    EXPECT_EQ(tree_.find(1), at);
    EXPECT_EQ(tree_.find(2), alloc::or_tree::none);
    tree_.set_used(at, 1);
    EXPECT_TRUE(tree_.empty());
  }
}

TEST_P(or_tree, random_changes) {
  std::mt19937_64 random(seeded(units_));
  auto const below = [&](std::uint64_t n) { return static_cast<std::uint32_t>(random() % n); };
  // Lengths of all magnitudes; long runs are so rare that free and used units remain.
  auto const length = [&](std::uint32_t most) {
    return 1 + below(1 + (static_cast<std::uint64_t>(most - 1) >> below(20)));
  };
  // The model is slow: fewer steps for the large trees.
  std::size_t const steps = scaled(std::min<std::size_t>(20000, 200000000 / units_), 50);
  for (std::size_t step = 0; step < steps; ++step) {
    std::uint32_t const first = below(units_);
    std::uint32_t const count = length(units_ - first);
    bool const free = random() % 2 == 0;
    free ? tree_.set_free(first, count) : tree_.set_used(first, count);
    model_.set(first, count, free);

    ASSERT_EQ(tree_.empty(), model_.empty());
    ASSERT_EQ(tree_.free_at_end(), model_.free_at_end()) << "step " << step;
    for (std::uint32_t const from : {0u, below(units_), first, first + count - 1, first + count, units_ - 1})
      ASSERT_EQ(tree_.next_free(from), model_.next_free(from)) << "from " << from << ", step " << step;
    std::uint32_t const from = below(units_);
    std::uint32_t const limit = from + below(units_ - from + 1);
    ASSERT_EQ(tree_.next_used(from, limit), model_.next_used(from, limit)) << from << " to " << limit;
    ASSERT_EQ(tree_.next_used(first, units_), model_.next_used(first, units_));
    ASSERT_EQ(tree_.next_used<8>(from, limit), model_.next_used(from, limit)) << "as on a device";
    std::uint32_t const wanted = length(units_);
    ASSERT_EQ(tree_.find(wanted), model_.find(wanted)) << wanted << " units, step " << step;
  }
}

// Copied to the words of a larger tree, the tree is the same, and the new units are used until they are set free.
TEST_P(or_tree, grows) {
  for (std::uint32_t const more : {units_, units_ + 1, units_ + 64, 2 * units_ + 5000}) {
    SCOPED_TRACE(more);
    std::vector<std::uint64_t> longer(alloc::or_tree::words(more));
    alloc::or_tree const larger(longer.data(), more);
    or_tree_model model(more);
    tree_.set_used(0, units_);
    for (std::uint32_t first = 0; first < units_; first += 7 + first / 3) {
      std::uint32_t const count = std::min(1 + first % 5, units_ - first);
      tree_.set_free(first, count);
      model.set(first, count, true);
    }
    (void)tree_.find(6);
    alloc::or_tree::for_each_part(units_, more, [&](std::size_t from, std::size_t to, std::size_t words) {
      std::copy_n(words_.begin() + static_cast<std::ptrdiff_t>(from), words,
                  longer.begin() + static_cast<std::ptrdiff_t>(to));
    });
    auto const expect_same = [&] {
      for (std::uint32_t const count : {1u, 2u, 3u, 5u, 6u, 64u})
        EXPECT_EQ(larger.find(count), model.find(count)) << count;
      EXPECT_EQ(larger.next_free(units_), model.next_free(units_));
    };
    expect_same();
    if (more == units_) continue;
    larger.set_free(units_, more - units_);
    model.set(units_, more - units_, true);
    expect_same();
  }
}

INSTANTIATE_TEST_SUITE_P(units, or_tree, ::testing::Values(1u, 63u, 64u, 65u, 4096u, 5000u, 300000u),
                         ::testing::PrintToStringParamName());

}  // namespace wyrm::tests
