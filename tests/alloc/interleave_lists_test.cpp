// SPDX-License-Identifier: Apache-2.0
// The list-based allocators in every interleaving of a few threads with a few preemptions: with one free list, and with
// two, from which threads take memory in turn.
#include "../support/interleave.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "../../alloc/lists/lists.hpp"
#include "../../exec/host_space.hpp"
#include "../support/spaces.hpp"

namespace wyrm::tests {
namespace {

using host = exec::host_space;
constexpr int pool_bytes = 64 << 10;

// The first request looks into list 0 first, the second one into list 1, and so on.
template <std::uint32_t Lists>
struct lists_in_turn {
  static constexpr char const* name = Lists == 1 ? "one list" : "two lists";
  static inline std::uint32_t requests = 0;
  template <class Space>
  static std::uint32_t count(Space const&) {
    return Lists;
  }
  static std::uint32_t current(std::uint32_t count) { return requests++ % count; }
};

// Blocks of these sizes are allocated, and those of `freed` are freed, before the threads begin. Then each thread
// performs one action: it requests so many bytes or, if negative, frees block -1, -2, ...
struct scenario {
  std::vector<int> blocks;
  std::vector<int> freed;
  std::vector<int> actions;
  std::size_t least;  // requests served
  std::size_t most;
};

template <std::uint32_t Lists>
class pool_under_test {
  using policy = lists_in_turn<Lists>;

 public:
  explicit pool_under_test(scenario const& s) : scenario_(s), answers_(s.actions.size()) {
    pool().reset();
    policy::requests = 0;
    for (int const bytes : s.blocks) {
      blocks_.push_back(allocate(bytes));
      if (blocks_.back() == nullptr) ADD_FAILURE() << "the scenario takes more than there is";
    }
    for (int const number : s.freed) free(number);
  }
  std::vector<std::function<void()>> threads() {
    std::vector<std::function<void()>> all;
    for (std::size_t i = 0; i < answers_.size(); ++i)
      all.emplace_back([this, i, action = scenario_.actions[i]] {
        if (action < 0)
          free(action);
        else
          answers_[i] = allocate(action);
      });
    return all;
  }
  void verify() const {
    EXPECT_NO_THROW(pool().check());
    std::size_t served = 0;
    for (std::size_t i = 0; i < answers_.size(); ++i) {
      served += answers_[i] != nullptr;
      for (std::size_t j = 0; j < answers_.size(); ++j)
        EXPECT_FALSE(i != j && answers_[i] != nullptr && answers_[j] >= answers_[i] &&
                     answers_[j] < answers_[i] + scenario_.actions[i]);
    }
    EXPECT_GE(served, scenario_.least);
    EXPECT_LE(served, scenario_.most);
    EXPECT_EQ(pool().stats().bad_frees, 0u);
  }

 private:
  static alloc::list_allocator<host, policy>& pool() {
    static alloc::list_allocator<host, policy> one(
        host(1), {.pool_bytes = pool_bytes, .reserve_bytes = pool_bytes, .checked = true, .guards = false});
    return one;
  }
  static std::byte* allocate(int bytes) {
    auto const n = static_cast<std::size_t>(bytes);
    auto* const p = static_cast<std::byte*>(pool().ref().malloc(n));
    if (p != nullptr) touch(p, n);
    return p;
  }
  void free(int number) {
    auto const k = static_cast<std::size_t>(-number - 1);
    touch(blocks_[k], static_cast<std::size_t>(scenario_.blocks[k]));
    pool().ref().free(blocks_[k]);
  }

  scenario scenario_;
  std::vector<std::byte*> blocks_;
  std::vector<std::byte*> answers_;
};

template <std::uint32_t Lists>
void explore_with(scenario const& s, unsigned preemptions) {
  std::string name = std::string(lists_in_turn<Lists>::name) + ":";
  for (int const action : s.actions) name += " " + std::to_string(action);
  SCOPED_TRACE(name + "; " + std::to_string(s.blocks.size()) + " blocks, " + std::to_string(s.freed.size()) + " freed");
  std::unique_ptr<pool_under_test<Lists>> p;
  std::size_t const n = interleavings(preemptions, scaled(60, 15))
                            .explore(
                                [&] {
                                  p = std::make_unique<pool_under_test<Lists>>(s);
                                  return p->threads();
                                },
                                [&] {
                                  p->verify();
                                  return !testing::Test::HasFailure();
                                });
  EXPECT_GT(n, 20u) << (n == 0 ? "a thread waits for ever" : "there are more interleavings");
}
void explore(scenario const& s, unsigned preemptions = 2) {
  explore_with<1>(s, preemptions);
  explore_with<2>(s, preemptions);
}

// With two lists, the second request moves half of the memory to list 1; so does one of these.
TEST(interleave_lists, there_is_room_for_all) {
  explore({{}, {}, {100, 5000, 100}, 3, 3});
  explore({{100}, {}, {100, 20000}, 2, 2}, 3);
  explore({{100, 100}, {}, {100, 100, 20000}, 3, 3});
}

// Blocks 1, 3 and 5 are of list 0, the others of list 1. With one list, they are neighbours.
TEST(interleave_lists, neighbours_are_freed) {
  std::vector<int> const six(6, 112);
  explore({six, {}, {-1, -2, -3}, 0, 0});
  explore({six, {}, {-1, -3, -5}, 0, 0});
  explore({six, {-3}, {-1, -2}, 0, 0}, 3);
  explore({six, {-2, -3}, {-1, 112, 112}, 2, 2});
  explore({six, {}, {-1, -3, 112}, 1, 1});
  explore({six, {-1, -2, -3, -4, -5}, {-6, pool_bytes}, 0, 1}, 3);
}

// The whole pool: a large block, one of 496 bytes, and four neighbours of 112 bytes, which have the size of the second
// one with their headers. With two lists, two of them are of list 0.
TEST(interleave_lists, memory_runs_out) {
  std::vector<int> const full{pool_bytes - 1024, 496, 112, 112, 112, 112};
  explore({full, {}, {112, 112, -3}, 0, 1});
  explore({full, {-3}, {112, 112}, 1, 1}, 3);
  explore({full, {-3, -5}, {112, 112, 112}, 2, 2});
  explore({full, {-3, -4, -5, -6}, {496, 112}, 1, 1}, 3);  // the neighbours are merged first
  explore({full, {-3, -4, -5, -6}, {496, 496, -2}, 1, 2});
  explore({full, {-3, -4, -5}, {496, -6}, 0, 1}, 3);  // if the last neighbour is free in time
  // With two lists: the successor of block 5 is block 4, of the other list, as block 6 is.
  explore({full, {-4}, {-5, -6}, 0, 0}, 3);
  explore({full, {-4}, {-5, 112, 112}, 1, 2});
  explore({full, {-2, -3, -4, -5, -6}, {240, 496, 240}, 2, 3});
}

}  // namespace
}  // namespace wyrm::tests
