// SPDX-License-Identifier: Apache-2.0
// Replacement policies: LRU-COST against a naive model, the other two against a list, and what all of them refuse.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "../../../alloc/residency/policies.hpp"
#include "../../../exec/error.hpp"
#include "../../support/seed.hpp"
#include "naive_lru_cost.hpp"

namespace wyrm::tests {

namespace {

/// Answers from a set of blocks, remembers what was asked, and fails on demand.
class listed_check final : public dirty_check {
 public:
  std::set<block_number> dirty;
  std::set<block_number> asked;
  std::size_t calls = 0;
  std::size_t calls_left = ~std::size_t{0};  // until one fails
  void check(std::span<block_number const> blocks, std::span<bool> results) override {
    if (calls_left-- == 0) throw error(error_code::device, "the device is lost");
    ++calls;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      EXPECT_TRUE(asked.insert(blocks[i]).second) << "block " << blocks[i] << " is compared twice";
      results[i] = dirty.contains(blocks[i]);
    }
  }
};

using blocks = std::vector<block_number>;

void load_all(policy& p, blocks const& which, object_number object) {
  for (block_number const b : which) p.loaded(b, object);
}
blocks sequence(block_number begin, block_number end) {
  blocks all;
  for (block_number b = begin; b < end; ++b) all.push_back(b);
  return all;
}
/// One launch that finishes.
void run(policy& p, blocks const& which, launch_number launch, bool writes = true, use_hint hint = use_hint::normal) {
  p.used(which, launch, writes, hint);
  p.finished(launch);
}
/// Evicts all blocks that can go. A block that was written has a minus.
std::vector<int> evict_all(policy& p, dirty_check& check) {
  std::vector<int> order;
  while (auto const v = p.next_victim(check)) {
    order.push_back(v->write_back ? -static_cast<int>(v->block) : static_cast<int>(v->block));
    p.removed(v->block);
  }
  return order;
}
error_code code_of(std::function<void()> const& f, std::string const& part) {
  try {
    f();
  } catch (error const& e) {
    EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
    return e.code();
  }
  ADD_FAILURE() << "nothing was thrown; expected: " << part;
  return error_code::corrupt;
}

/// Random events for LRU-COST and for the model; each victim, each comparison and each count must agree.
class random_events {
 public:
  random_events(lru_cost_options const& o, std::uint64_t seed) : policy_(o), model_(o), random_(seed) {}

  void run(int steps) {
    for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) step();
  }

 private:
  void step() {
    auto const b = static_cast<block_number>(draw(48));
    switch (draw(12)) {
      case 0:
      case 1:
      case 2:
        if (!model_.resident.contains(b)) load(b);
        break;
      case 3:
      case 4:
      case 5: use(); break;
      case 6:
      case 7: finish(); break;
      case 8:
        policy_.overwritten(b);
        model_.overwrite(b);
        break;
      case 9:
        if (!model_.resident.contains(b)) break;
        policy_.copied_out(b);
        model_.copy_out(b);
        break;
      case 10:
        if (draw(4) > 0 || !model_.resident.contains(b) || b == kept_) break;
        policy_.removed(b);
        model_.leave(b);
        break;
      default: evict();
    }
  }
  void load(block_number b) {
    auto const object = static_cast<object_number>(draw(20) == 0 ? draw(4) : b / 12);
    policy_.loaded(b, object);
    model_.load(b, object);
  }
  void use() {
    blocks which;
    for (block_number const b : model_.resident)
      if (draw(4) == 0) which.push_back(b);
    std::shuffle(which.begin(), which.end(), random_);
    bool const writes = draw(4) > 0;
    use_hint const hint = draw(3) > 0 ? use_hint::normal : draw(2) == 0 ? use_hint::once : use_hint::hot;
    if (draw(3) > 0) ++launch_;  // else more of the same launch
    policy_.used(which, launch_, writes, hint);
    model_.use(which, launch_, writes, hint);
    if (!writes) return;
    for (block_number const b : which)
      if (b < 12 || draw(3) == 0) model_.written.insert(b);  // one object is written as a whole
  }
  void finish() {
    auto const running = model_.running();
    if (running.empty()) return;
    launch_number const l = running[draw(running.size())];
    if (l == launch_) ++launch_;
    policy_.finished(l);
    model_.finish(l);
  }
  void evict() {
    listed_check check;
    check.dirty = model_.written;
    if (draw(4) == 0) {  // a comparison that fails costs nothing but the answers
      check.calls_left = draw(2);
      try {
        static_cast<void>(policy_.next_victim(check));
      } catch (error const&) {
      }
      check.calls_left = ~std::size_t{0};
    }
    auto const [expected, compared] = model_.choose();
    auto const found = policy_.next_victim(check);
    ASSERT_EQ(found.has_value(), expected.has_value());
    EXPECT_EQ(check.asked, compared);
    EXPECT_LE(check.calls, 2u);
    EXPECT_EQ(policy_.statistics().signatures, model_.counts.signatures);
    if (!found) return;
    EXPECT_EQ(found->block, expected->block);
    EXPECT_EQ(found->write_back, expected->write_back);
    EXPECT_TRUE(model_.resident.contains(found->block));
    EXPECT_FALSE(model_.in_use(found->block));
    EXPECT_TRUE(found->write_back || !model_.written.contains(found->block)) << "a write is lost";
    kept_ = found->block;
    if (draw(4) == 0) return;  // the manager asks again later
    policy_.removed(found->block);
    model_.evict(*found);
    EXPECT_EQ(policy_.statistics(), model_.counts);
  }
  std::uint64_t draw(std::uint64_t n) { return random_() % n; }

  lru_cost policy_;
  naive_lru_cost model_;
  std::mt19937_64 random_;
  launch_number launch_ = 1;
  block_number kept_ = ~block_number{0};  // the last victim
};

}  // namespace

TEST(lru_cost, agrees_with_the_paper) {
  std::uint64_t seed = 1;
  for (double const factor : {0.1, 0.2, 0.5, 1.0})
    for (unsigned heuristics = 0; heuristics < 8; ++heuristics) {
      lru_cost_options const o{.selection_factor = factor,
                               .uniformity = (heuristics & 1) != 0,
                               .overwrite_elimination = (heuristics & 2) != 0,
                               .double_transfer_avoidance = (heuristics & 4) != 0};
      SCOPED_TRACE("factor " + std::to_string(factor) + ", heuristics " + std::to_string(heuristics));
      random_events(o, seeded(seed++)).run(4000);
    }
}

TEST(lru_cost, evicts_clean_blocks_of_the_lowest_part_first) {
  lru_cost p({.selection_factor = 0.5, .uniformity = false});
  load_all(p, sequence(0, 8), 0);
  run(p, sequence(0, 8), 1);
  listed_check check;
  check.dirty = {0, 2, 5};
  // The section has 0 to 3, then half of the others, and at the end the last two, one by one.
  EXPECT_EQ(evict_all(p, check), (std::vector<int>{1, 3, 0, -2, 4, -5, 6, 7}));
  policy_statistics const s = p.statistics();
  EXPECT_EQ(s.evictions_dirty, 3u);
  EXPECT_EQ(s.evictions_clean, 5u);
  EXPECT_EQ(s.signatures, 8u);
}

TEST(lru_cost, assumes_that_objects_are_uniformly_dirty) {
  for (bool const uniformity : {false, true}) {
    lru_cost p({.selection_factor = 1, .uniformity = uniformity});
    load_all(p, sequence(10, 19), 5);
    load_all(p, sequence(20, 29), 6);
    run(p, sequence(10, 19), 1);
    run(p, sequence(20, 29), 2);
    listed_check check;
    auto const dirty = sequence(10, 19);
    check.dirty.insert(dirty.begin(), dirty.end());
    check.dirty.insert({20, 28});  // but not 24, in the middle
    ASSERT_EQ(p.next_victim(check)->block, 21u);
    EXPECT_EQ(p.statistics().signatures, uniformity ? 12u : 18u);
    EXPECT_EQ(p.statistics().saved_by_uniformity, uniformity ? 6u : 0u);
    for (block_number const b : {10u, 14u, 18u}) EXPECT_TRUE(check.asked.contains(b));
    auto const order = evict_all(p, check);
    EXPECT_EQ(std::count_if(order.begin(), order.end(), [](int b) { return b < 0; }), 11);
  }
}

TEST(lru_cost, keeps_blocks_that_will_be_overwritten) {
  lru_cost p({.selection_factor = 1});
  load_all(p, {1, 2, 3}, 0);
  p.overwritten(1);
  p.loaded(1, 0);
  run(p, {1, 2, 3}, 1);
  listed_check check;
  check.dirty = {1, 2, 3};
  EXPECT_EQ(p.next_victim(check)->block, 2u);
  EXPECT_FALSE(check.asked.contains(1));
  p.overwritten(1);
  EXPECT_EQ(p.statistics().saved_by_overwrite, 1u);
  p.loaded(1, 0);
  EXPECT_EQ(evict_all(p, check), (std::vector<int>{-2, -3, 1}));

  p.loaded(1, 0);  // an expectation that fails is given up
  load_all(p, {4, 5}, 0);
  run(p, {1, 4, 5}, 2);
  check.asked.clear();
  check.dirty = {1, 4, 5};
  EXPECT_EQ(evict_all(p, check), (std::vector<int>{-4, -5, -1}));
  EXPECT_EQ(p.statistics().mispredicted_overwrites, 1u);
}

TEST(lru_cost, keeps_blocks_that_will_be_copied_out) {
  lru_cost p({.selection_factor = 1});
  load_all(p, {1, 2, 3}, 0);
  run(p, {1, 2, 3}, 1);
  p.copied_out(1);
  run(p, {1, 2, 3}, 2);
  listed_check check;
  check.dirty = {1, 2, 3};
  EXPECT_EQ(p.next_victim(check)->block, 2u);
  EXPECT_FALSE(check.asked.contains(1));
  p.copied_out(1);
  EXPECT_EQ(p.statistics().saved_by_copy, 1u);
  EXPECT_EQ(evict_all(p, check), (std::vector<int>{1, -2, -3}));
}

TEST(lru_cost, compares_nothing_that_was_only_read) {
  lru_cost p({.selection_factor = 1});
  load_all(p, {1, 2}, 0);
  run(p, {1, 2}, 1, false);
  listed_check check;
  EXPECT_EQ(evict_all(p, check), (std::vector<int>{1, 2}));
  EXPECT_EQ(check.calls, 0u);
}

TEST(policies, order_by_hints) {
  for (char const* const name : policy_names) {
    policy_options o;
    o.for_lru_cost.selection_factor = 0.01;  // one block at a time: plain LRU
    auto const p = make_policy(name, o);
    load_all(*p, sequence(1, 7), 0);
    run(*p, {1}, 1, false, use_hint::hot);
    run(*p, {2, 3}, 2, false);
    run(*p, {6}, 3, false, use_hint::once);
    run(*p, {5}, 4, false, use_hint::once);
    run(*p, {4}, 5, false);
    listed_check check;
    if (std::string(name) == "gdm-base")
      EXPECT_EQ(evict_all(*p, check), (std::vector<int>{-1, -2, -3, -6, -5, -4}));
    else
      EXPECT_EQ(evict_all(*p, check), (std::vector<int>{6, 5, 2, 3, 4, 1})) << name;
  }
}

TEST(policies, evict_nothing_that_a_launch_uses) {
  for (char const* const name : policy_names) {
    auto const p = make_policy(name);
    load_all(*p, {1, 2, 3}, 0);
    blocks const first{1, 2};
    blocks const second{2, 3};
    p->used(first, 1, true);
    p->used(second, 2, true);
    listed_check check;
    EXPECT_FALSE(p->next_victim(check)) << name;
    p->finished(2);
    EXPECT_EQ(p->next_victim(check)->block, 3u) << name;
    p->finished(1);
    check.asked.clear();
    EXPECT_EQ(p->next_victim(check)->block, std::string(name) == "lru-cost" ? 3u : 1u) << name;
    p->finished(99);  // was not announced
  }
}

TEST(policies, forget_the_launches_of_a_block_that_left) {
  for (char const* const name : policy_names) {
    auto const p = make_policy(name);
    load_all(*p, {1, 2}, 0);
    blocks const both{1, 2};
    p->used(both, 1, true);
    p->removed(1);
    p->removed(1);  // does nothing
    p->loaded(1, 0);
    listed_check check;
    EXPECT_EQ(p->next_victim(check)->block, 1u) << name;
    p->finished(1);
    p->removed(1);
    EXPECT_EQ(p->next_victim(check)->block, 2u) << name;
  }
}

TEST(policies, lru_writes_back_what_is_dirty) {
  lru p;
  load_all(p, {1, 2, 3, 4}, 0);
  run(p, {1, 2}, 1);
  run(p, {3}, 2, false);
  run(p, {4}, 3);
  p.copied_out(4);
  listed_check check;
  check.dirty = {2, 4};
  EXPECT_EQ(evict_all(p, check), (std::vector<int>{1, -2, 3, 4}));
  EXPECT_EQ(check.asked, (std::set<block_number>{1, 2}));
  EXPECT_EQ(p.statistics(), (policy_statistics{.evictions_clean = 3, .evictions_dirty = 1, .signatures = 2}));

  lru always({.writes = write_back::always});
  always.loaded(1, 0);
  EXPECT_TRUE(always.next_victim(check)->write_back);
}

TEST(policies, refuse_what_a_manager_never_says) {
  for (char const* const name : policy_names) {
    auto const p = make_policy(name);
    load_all(*p, {1, 2}, 0);
    run(*p, {1, 2}, 5, false);
    EXPECT_EQ(code_of([&] { p->loaded(1, 0); }, "block 1 "), error_code::bad_argument);
    EXPECT_EQ(code_of([&] { run(*p, {1, 3}, 6); }, "block 3,"), error_code::bad_argument);
    EXPECT_EQ(code_of([&] { run(*p, {1}, 4); }, "launch 4 "), error_code::bad_argument);
    EXPECT_EQ(code_of([&] { p->copied_out(7); }, "block 7,"), error_code::bad_argument);
    listed_check check;
    auto const order = evict_all(*p, check);
    EXPECT_EQ(order, std::string(name) == "gdm-base" ? std::vector({-1, -2}) : std::vector({1, 2})) << name;
    EXPECT_EQ(check.calls, 0u) << name << ": a refused launch counts as one that writes";
  }
}

TEST(policies, are_made_by_name) {
  EXPECT_EQ(code_of([] { static_cast<void>(make_policy("fifo")); }, "lru-cost, lru, gdm-base"),
            error_code::bad_argument);
  for (double const bad : {0.0, -1.0, 1.5, std::numeric_limits<double>::quiet_NaN()}) {
    policy_options o;
    o.for_lru_cost.selection_factor = bad;
    EXPECT_EQ(code_of([&] { static_cast<void>(make_policy("lru-cost", o)); }, "selection factor"),
              error_code::bad_argument);
  }
}

}  // namespace wyrm::tests
