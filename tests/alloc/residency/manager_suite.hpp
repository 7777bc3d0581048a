// SPDX-License-Identifier: Apache-2.0
// Tests the residency manager on any space: contents against a model, and where blocks are.
#pragma once

#include "../../../alloc/residency/signature_check.hpp"
#include "../../../exec/atomic.hpp"
#include "../../../exec/memory.hpp"
#include "../../support/spaces.hpp"
#include "checked_lru.hpp"
#include "random_client.hpp"
#include "region_blocks.hpp"

namespace wyrm::tests {

template <class Space>
using residency_manager = space_test<Space>;
TYPED_TEST_SUITE_P(residency_manager);

/// Several clients, and a budget that shrinks and grows. `failures`: requests for memory fail.
template <class Space>
void operate_at_random(bool keep_host_copy, bool checked, bool failures, std::uint64_t seed, bool signs = false,
                       bool lazy = true) {
  Space const space = make_space<Space>();
  std::size_t const block = space.granularity();
  auto const budget = std::make_shared<elastic_budget>(8 * block);
  residency::options o = options_with(budget, block);
  o.keep_host_copy = keep_host_copy;
  o.checked = checked;
  o.lazy_transfers = lazy;
  o.pooled_host_bytes = 3 * block;
  if (signs) o.make_dirty_check = residency::by_signatures(make_space<Space>(2), block);
  std::mt19937_64 random(seeded(seed));
  {
    residency::manager<Space> m(space, o);
    std::vector<random_client<Space>> clients;
    clients.reserve(3);
    clients.emplace_back(m, residency::client_options{"low", 0, residency::unlimited}, random());
    clients.emplace_back(m, residency::client_options{"limited", 0, 3 * block}, random());
    clients.emplace_back(m, residency::client_options{"high", 1, residency::unlimited}, random());
    auto const operations = static_cast<std::size_t>(operations_or(static_cast<double>(scaled(3000, 300))));
    for (std::size_t i = 0; i < operations && !::testing::Test::HasFailure(); ++i) {
      if (random() % 50 == 0) {
        budget->set_limit(random() % 10 * block);
        space.synchronize();  // blocks of launches cannot go
        m.give_back();
        EXPECT_EQ(budget->wanted_back(), 0u);
      }
      clients[random() % 3].step(failures);
    }
    std::size_t failed = 0;
    for (auto& c : clients) {
      c.check();
      failed += c.failures();
    }
    EXPECT_EQ(failed > 0, failures);
    residency::statistics const s = m.counters();
    EXPECT_GT(s.moved_in_bytes, 0u);
    EXPECT_GT(s.dirty_evictions, 0u);
    if (keep_host_copy && lazy) {  // without lazy transfers, there are few copies
      EXPECT_GT(s.clean_evictions, 0u);
    }
    EXPECT_LE(s.resident_bytes, budget->taken());
    std::size_t const copies = keep_host_copy ? s.resident_bytes : 0;
    EXPECT_LE(s.host_bytes, s.staged_bytes + copies);
    EXPECT_GE(s.host_bytes, s.staged_bytes + (lazy ? copies : 0));
  }
  EXPECT_EQ(budget->taken(), 0u);
}
TYPED_TEST_P(residency_manager, random_operations) { operate_at_random<TypeParam>(true, false, false, 1); }
TYPED_TEST_P(residency_manager, random_operations_with_signatures) {
  operate_at_random<TypeParam>(true, false, false, 5, true);
  operate_at_random<TypeParam>(true, false, false, 9, true, false);
}
TYPED_TEST_P(residency_manager, random_operations_without_lazy_transfers) {
  operate_at_random<TypeParam>(true, true, false, 6, false, false);
  operate_at_random<TypeParam>(false, false, true, 7, false, false);
  operate_at_random<TypeParam>(true, false, true, 8, false, false);
}
TYPED_TEST_P(residency_manager, random_operations_without_host_copies) {
  operate_at_random<TypeParam>(false, true, false, 2);
}
TYPED_TEST_P(residency_manager, random_operations_that_fail) {
  operate_at_random<TypeParam>(true, false, true, 3);
  operate_at_random<TypeParam>(false, true, true, 4);
}

// What does not fit is read and written where it is.
TYPED_TEST_P(residency_manager, uses_more_than_the_budget) {
  TypeParam const space = make_space<TypeParam>();
  std::size_t const block = space.granularity();
  residency::manager<TypeParam> m(space, options_with(std::make_shared<elastic_budget>(3 * block), block));
  auto c = m.make_client({"one"});
  residency::region r = c.reserve(8 * block);
  EXPECT_EQ(m.counters().host_bytes, 0u);  // no memory before it is written
  write_blocks(r, block, 100);
  EXPECT_EQ(resident_blocks(r, block), 0u);
  std::byte* const before = r.data();
  for (std::uint64_t round = 1; round <= 2; ++round) {
    c.launch([&](TypeParam const& on) {
      EXPECT_EQ(resident_blocks(r, block), 3u);
      exec::for_each(on, 8 * block / 512, mix_words{reinterpret_cast<std::uint64_t*>(r.data()), round});
    });
    EXPECT_EQ(r.data(), before);
  }
  std::vector<std::uint64_t> const words = first_words<TypeParam>(r, block);
  for (std::uint64_t i = 0; i < 8; ++i) EXPECT_EQ(words[i], mixed(mixed(100 + i, 1), 2)) << i;
  residency::statistics const s = c.counters();
  EXPECT_EQ(s.resident_bytes, 3 * block);
  EXPECT_EQ(s.staged_bytes, 5 * block);
  EXPECT_EQ(s.moved_in_bytes, 3 * block);  // nothing moves to and fro
  EXPECT_EQ(s.launches, 2u);
}

/// A counter of two words of different sizes.
struct counter {
  std::uint64_t sum;
  std::uint32_t additions;
};
/// Item i adds to one of the counters, which all have the same distance. Every fourth item adds to one of few.
struct add_to_counters {
  std::byte* base;
  std::size_t distance;
  std::size_t counters;
  std::size_t often;  // one counter of each so many
  std::uint64_t key;
  [[nodiscard]] WYRM_HD std::size_t counter_of(std::size_t i) const {
    if (i % 4 == 0) return i / 4 * often % counters;
    return static_cast<std::size_t>((i * 0x9e3779b97f4a7c15U + key) >> 33) % counters;
  }
  WYRM_HD void operator()(std::size_t i) const {
    auto& c = *reinterpret_cast<counter*>(base + counter_of(i) * distance);
    exec::atomic_ref<std::uint64_t>(c.sum).fetch_add(i, exec::relaxed);
    exec::atomic_ref<std::uint32_t>(c.additions).fetch_add(1, exec::relaxed);
  }
};

// Device atomics work on blocks in device memory and in host memory, also of one launch, and after blocks have moved.
TYPED_TEST_P(residency_manager, atomics_on_both_memories) {
  TypeParam const space = make_space<TypeParam>();
  std::size_t const block = space.granularity();
  constexpr std::size_t of_block = 256;
  constexpr std::size_t all = 8 * of_block;
  std::size_t const additions = all * scaled(50, 5);
  residency::manager<TypeParam> m(space, options_with(std::make_shared<elastic_budget>(4 * block), block));
  auto c = m.make_client({"one"});
  residency::region r = c.reserve(8 * block);
  write_blocks(r, block, 0);
  std::vector<counter> expected(all);
  for (std::size_t i = 0; i < all; ++i) {
    std::size_t const in_block = i / of_block;
    expected[i] = {in_block, static_cast<std::uint32_t>(in_block)};
  }
  for (std::size_t const first : {0u, 4u, 2u}) {
    space.synchronize();  // so that no launch uses blocks, which can move then
    c.launch({{r, first * block, 4 * block}}, [](TypeParam const&) {});
    add_to_counters const add{r.data(), block / of_block, all, of_block, first};
    c.launch([&](TypeParam const& on) {
      for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(r.is_resident(i * block), i >= first && i < first + 4) << i;
      exec::for_each(on, additions, add);
    });
    for (std::size_t i = 0; i < additions; ++i) {
      counter& one = expected[add.counter_of(i)];
      one.sum += i;
      ++one.additions;
    }
  }
  for (std::size_t i = 0; i < all; ++i) {
    counter found{};
    r.read(i * (block / of_block), &found, sizeof(found));
    ASSERT_EQ(found.sum, expected[i].sum) << i;
    ASSERT_EQ(found.additions, expected[i].additions) << i;
  }
}

// While the budget has room, nothing goes through host memory.
TYPED_TEST_P(residency_manager, backs_new_blocks_by_free_device_memory) {
  TypeParam const space = make_space<TypeParam>();
  std::size_t const block = space.granularity();
  residency::options o = options_with(std::make_shared<elastic_budget>(5 * block), block);
  o.lazy_transfers = false;
  o.keep_host_copy = false;  // which is as much as what has moved in
  residency::manager<TypeParam> m(space, o);
  auto c = m.make_client({"one", 0, 4 * block});
  residency::region r = c.reserve(6 * block);
  write_blocks(r, block, 100);
  EXPECT_EQ(resident_blocks(r, block), 4u);  // its limit
  EXPECT_EQ(c.counters().host_bytes, 2 * block);
  EXPECT_EQ(c.counters().moved_in_bytes, 0u);
  write_blocks(r, block, 200);  // in place
  EXPECT_EQ(resident_blocks(r, block), 4u);
  c.launch([&](TypeParam const& on) {
    exec::for_each(on, 6 * block / 512, mix_words{reinterpret_cast<std::uint64_t*>(r.data()), 1});
  });
  std::vector<std::uint64_t> const words = first_words<TypeParam>(r, block);
  for (std::uint64_t i = 0; i < words.size(); ++i) EXPECT_EQ(words[i], mixed(200 + i, 1)) << i;
  // What the first client has evicted for the second one was never copied before.
  auto other = m.make_client({"other", 1});
  residency::region taken = other.reserve(5 * block);
  write_blocks(taken, block, 300);
  EXPECT_EQ(resident_blocks(taken, block), 1u);
  other.launch([](TypeParam const&) {});
  EXPECT_EQ(resident_blocks(taken, block), 5u);
  EXPECT_EQ(resident_blocks(r, block), 0u);
  for (std::uint64_t i = 0; i < words.size(); ++i)
    EXPECT_EQ(first_words<TypeParam>(r, block)[i], mixed(200 + i, 1)) << i;
}

TYPED_TEST_P(residency_manager, serves_as_memory_of_a_pool) {
  TypeParam const space = make_space<TypeParam>();
  std::size_t const block = 2 * space.granularity();
  residency::manager<TypeParam> m(space, options_with(std::make_shared<elastic_budget>(2 * block), block));
  auto c = m.make_client({"pool"});
  {
    TypeParam const bound = c.space();
    exec::reservation<TypeParam> pool(bound, 100 * block);
    EXPECT_EQ(m.counters().host_bytes, 0u);
    pool.commit(block / 2);  // half of a block
    EXPECT_EQ(m.counters().host_bytes, block);
    pool.commit(block);
    EXPECT_EQ(m.counters().host_bytes, block);
    auto* const words = reinterpret_cast<std::uint64_t*>(pool.data());
    bound.fill(words, 0, pool.committed());
    exec::for_each(bound, block / 512, mix_words{words, 9});
    EXPECT_EQ(c.counters().resident_bytes, block);
    pool.commit(3 * block);
    exec::for_each(bound, block / 512, mix_words{words, 9});
    EXPECT_EQ(c.counters().resident_bytes, 2 * block);
    EXPECT_EQ(c.counters().staged_bytes, block);
    EXPECT_EQ(exec::read(bound, words + stride_words), mixed(9, 9));
  }
  space.synchronize();  // blocks of a launch are freed when it is done, by the next call
  m.give_back();
  EXPECT_EQ(m.counters().resident_bytes + m.counters().staged_bytes, 0u);
}

REGISTER_TYPED_TEST_SUITE_P(residency_manager, random_operations, random_operations_with_signatures,
                            random_operations_without_lazy_transfers, backs_new_blocks_by_free_device_memory,
                            random_operations_without_host_copies, random_operations_that_fail,
                            uses_more_than_the_budget, atomics_on_both_memories, serves_as_memory_of_a_pool);

}  // namespace wyrm::tests
