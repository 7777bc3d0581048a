// SPDX-License-Identifier: Apache-2.0
// The bulk semaphore: cases with literal numbers, and its invariant (see the header) in every interleaving of a few
// actors, each operation being one atomic step.
#include "../../alloc/ouroboros/bulk_semaphore.hpp"
#include "../../alloc/ouroboros/page_window.hpp"
#include "../../alloc/ouroboros/queue_ends.hpp"
#include "../../alloc/sequence_lock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace wyrm::tests {

TEST(bulk_semaphore, designates_a_thread_when_pages_run_out) {
  alloc::bulk_semaphore s;
  EXPECT_EQ(s.value(), 0);
  EXPECT_EQ(s.demand(1, 4), 1u);  // the first of four awaited pages: this thread supplies a chunk
  EXPECT_EQ(s.value(), -1);
  EXPECT_EQ(s.demand(1, 4), 0u);
  EXPECT_EQ(s.demand(2, 4), 0u);
  EXPECT_EQ(s.value(), -4);
  EXPECT_EQ(s.demand(1, 4), 1u);  // the fifth needs a second chunk
  s.supply(4);
  EXPECT_EQ(s.value(), -1);
  s.supply(4);
  EXPECT_EQ(s.value(), 3);
  EXPECT_EQ(s.demand(3, 4), 0u);
  EXPECT_EQ(s.value(), 0);
}

TEST(bulk_semaphore, a_large_demand_designates_for_several_chunks) {
  alloc::bulk_semaphore s;
  EXPECT_EQ(s.demand(32, 1), 32u);
  s.supply(32);
  EXPECT_EQ(s.demand(32, 2), 16u);
  EXPECT_EQ(s.demand(1, 2), 1u);
  EXPECT_EQ(s.demand(1, 2), 0u);
  EXPECT_EQ(s.demand(3, 2), 2u);
  EXPECT_EQ(s.value(), -37);
}

TEST(bulk_semaphore, takes_available_pages_first) {
  alloc::bulk_semaphore s;
  s.supply(10);
  EXPECT_EQ(s.demand(10, 8), 0u);
  s.supply(10);
  EXPECT_EQ(s.demand(11, 8), 1u);
  EXPECT_EQ(s.value(), -1);
  s.supply(1);  // freed before the chunk is supplied, which will come nevertheless
  EXPECT_EQ(s.demand(1, 8), 1u);
  EXPECT_EQ(s.value(), -1);
}

TEST(bulk_semaphore, counts_beyond_32_bits) {
  alloc::bulk_semaphore s;
  for (int i = 0; i < 4; ++i) s.supply(0xffffffffu);
  EXPECT_EQ(s.value(), 4 * std::int64_t{0xffffffff});
  EXPECT_EQ(s.demand(0xffffffffu, 512), 0u);
  EXPECT_EQ(s.value(), 3 * std::int64_t{0xffffffff});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(s.demand(0xffffffffu, 512), 0u);
  EXPECT_EQ(s.demand(0xffffffffu, 512), 8388608u);
}

TEST(bulk_semaphore, takes_all_or_nothing) {
  alloc::bulk_semaphore s;
  EXPECT_FALSE(s.take(1));
  s.supply(3);
  EXPECT_TRUE(s.take(2));
  EXPECT_FALSE(s.take(2));
  EXPECT_EQ(s.value(), 1);
  EXPECT_TRUE(s.take(1));
  EXPECT_EQ(s.value(), 0);
}

// Positions wrap around at 2^32, without effect on the number of entries.
TEST(queue_ends, positions_wrap_around) {
  alloc::queue_ends ends;
  EXPECT_EQ(ends.claim_back_uncounted(0xfffffff0u), 0u);
  EXPECT_EQ(ends.claim_front(0xfffffff0u), 0u);
  EXPECT_TRUE(ends.is_empty());
  EXPECT_EQ(ends.number(), 0);
  EXPECT_EQ(ends.claim_back(10), 0xfffffff0u);
  EXPECT_EQ(ends.claim_back(20), 0xfffffffau);
  EXPECT_EQ(ends.claim_back(1), 14u);
  EXPECT_EQ(ends.number(), 31);
  EXPECT_EQ(ends.length(), 31u);
  EXPECT_EQ(ends.size(), 31u);
  EXPECT_EQ(ends.take(40), 31u);
  EXPECT_EQ(ends.number(), -9);
  EXPECT_EQ(ends.take(1), 0u);
  ends.uncount(10);
  EXPECT_EQ(ends.number(), 0);
  EXPECT_FALSE(ends.is_empty());
  EXPECT_EQ(ends.claim_front(31), 0xfffffff0u);
  EXPECT_TRUE(ends.is_empty());
  EXPECT_EQ(ends.claim_back(1), 15u);
  EXPECT_EQ(ends.number(), 1);
}

// As many pages as a pool of 1 TiB has, of 16 bytes.
TEST(page_counts, count_2_36_pages) {
  alloc::page_counts counts;
  std::uint64_t const all = std::uint64_t{1} << 36;
  for (std::uint64_t left = all; left > 0; left -= std::uint64_t{1} << 31) (void)counts.claim_back(1u << 31);
  EXPECT_EQ(static_cast<std::uint64_t>(counts.number()), all);
  EXPECT_EQ(counts.size(), all);
  EXPECT_EQ(counts.take(5), 5u);
  (void)counts.claim_front(5);
  EXPECT_FALSE(counts.is_empty());
  EXPECT_EQ(static_cast<std::uint64_t>(counts.number()), all - 5);
  EXPECT_EQ(counts.take(0xffffffffu), 0xffffffffu);
  (void)counts.claim_front(0xffffffffu);
  for (std::uint64_t left = all - 5 - 0xffffffffu; left > 0;) {
    auto const n = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, 0xffffffffu));
    EXPECT_EQ(counts.take(n), n);
    (void)counts.claim_front(n);
    left -= n;
  }
  EXPECT_EQ(counts.number(), 0);
  EXPECT_TRUE(counts.is_empty());
  EXPECT_EQ(counts.take(3), 0u);
  EXPECT_EQ(counts.number(), -3);
  counts.uncount(3);
  EXPECT_TRUE(counts.is_empty());
}

// A thread that arrives while the holder works may have freed what the holder did not find.
TEST(sequence_lock, a_finding_does_not_hold_for_later_threads) {
  using outcome = alloc::sequence_lock::outcome;
  std::uint64_t word = 0;
  alloc::sequence_lock holder(word);
  ASSERT_EQ(holder.try_take(), outcome::taken);
  alloc::sequence_lock late(word);
  alloc::sequence_lock other(word);
  EXPECT_EQ(late.try_take(), outcome::wait);
  EXPECT_EQ(other.try_take(), outcome::wait);
  holder.unlock_exhausted();
  EXPECT_EQ(late.try_take(), outcome::taken);
  EXPECT_EQ(other.try_take(), outcome::wait);
  late.unlock_exhausted();
  EXPECT_EQ(other.try_take(), outcome::exhausted);  // as `late` looked while `other` waited
  EXPECT_EQ(other.try_take(), outcome::taken);
  other.unlock();
}

// Sequence numbers wrap around in the lower half of the word, and leave the upper half alone.
TEST(sequence_lock, numbers_wrap_around) {
  using outcome = alloc::sequence_lock::outcome;
  std::uint64_t word = 0xfffffffe;
  alloc::sequence_lock first(word);
  ASSERT_EQ(first.try_take(), outcome::taken);
  EXPECT_EQ(word, 0xffffffffu);
  alloc::sequence_lock waiting(word);
  EXPECT_EQ(waiting.try_take(), outcome::wait);
  first.unlock();
  EXPECT_EQ(word, 0u);
  alloc::sequence_lock second(word);
  ASSERT_EQ(second.try_take(), outcome::taken);
  EXPECT_EQ(waiting.try_take(), outcome::wait);
  second.unlock_exhausted();
  EXPECT_EQ(word, std::uint64_t{1} << 32 | 2);
  EXPECT_EQ(waiting.try_take(), outcome::exhausted);
  ASSERT_EQ(second.try_take(), outcome::taken);
  second.unlock();  // it has found something
  EXPECT_EQ(word, 4u);
  word = 0xfffffffe;
  ASSERT_EQ(first.try_take(), outcome::taken);
  first.unlock_exhausted();
  EXPECT_EQ(word, std::uint64_t{0xffffffff} << 32);
}

// The limit counts from the claim that finds as many entries, and as long as there are as many.
TEST(queue_ends, a_limit_of_entries) {
  alloc::queue_ends ends;
  EXPECT_EQ(ends.claim_back(9, 10), 0u);
  EXPECT_EQ(ends.claim_back(1, 10), 9u);
  EXPECT_FALSE(ends.is_over_limit(10));  // no claim has found ten
  EXPECT_EQ(ends.claim_back(2, 10), 10u);
  EXPECT_EQ(ends.number(), 12);
  EXPECT_TRUE(ends.is_over_limit(10));
  EXPECT_EQ(ends.take(2), 2u);
  EXPECT_TRUE(ends.is_over_limit(10));
  EXPECT_EQ(ends.take(1), 1u);
  EXPECT_FALSE(ends.is_over_limit(10));
  EXPECT_EQ(ends.take(9), 9u);
  EXPECT_EQ(ends.take(1), 0u);
  ends.uncount(1);
  EXPECT_FALSE(ends.take_one());
  EXPECT_EQ(ends.number(), 0);
  EXPECT_EQ(ends.claim_front(12), 0u);
  EXPECT_EQ(ends.claim_back(1), 12u);
  EXPECT_TRUE(ends.take_one());
  EXPECT_EQ(ends.length(), 1u);
  EXPECT_EQ(ends.claim_front(3), 12u);
  EXPECT_EQ(ends.length(), 0u);  // more readers than entries
}

// Requests that were not served do not change the back, which is in the same word as the number.
TEST(queue_ends, back_while_the_number_is_below_zero) {
  alloc::queue_ends ends;
  for (std::uint32_t i = 0; i < 10; ++i) {
    EXPECT_EQ(ends.take(1000), 0u);
    EXPECT_EQ(ends.claim_back(3), 3 * i);
    EXPECT_EQ(ends.claim_front(3), 3 * i);
    EXPECT_TRUE(ends.is_empty());
  }
  ends.uncount(10 * 1000 - 30);
  EXPECT_EQ(ends.number(), 0);
}

TEST(page_window, hands_out_pages_up_to_its_end) {
  alloc::page_window w;
  EXPECT_EQ(w.take(5, 512).count, 0u);
  w.replace(0x7ffffff, 1, 0);  // the last chunk that there can be
  EXPECT_EQ(w.left(512), 512u);
  alloc::detail::page_range const first = w.take(500, 512);
  EXPECT_EQ(first.chunk, 0x7ffffffu);
  EXPECT_EQ(first.first, 0u);
  alloc::detail::page_range const last = w.take(32, 512);
  EXPECT_EQ(last.chunk, 0x7ffffffu);
  EXPECT_EQ(last.first, 500u);
  EXPECT_EQ(last.count, 12u);
  EXPECT_EQ(w.take(32, 512).count, 0u);
  for (std::uint32_t const pages : {2u, 7u, 16u, 85u, 512u}) {
    std::uint32_t const chunks = alloc::page_window::max_chunks(pages);
    EXPECT_LE(chunks * pages, alloc::page_window::max_pages);
    w.replace(3, chunks, 0);
    alloc::detail::page_range const one = w.take(1, pages);
    EXPECT_EQ(one.chunk, 3u);
    EXPECT_EQ(one.first, 0u);
    EXPECT_EQ(w.left(pages), chunks * pages - 1);
    EXPECT_EQ(w.take(chunks * pages, pages).count, chunks * pages - 1);
    EXPECT_EQ(w.take(1, pages).count, 0u);
  }
}

TEST(page_window, sizes) {
  EXPECT_EQ(alloc::page_window::max_chunks(2), 4096u);
  EXPECT_EQ(alloc::page_window::max_chunks(256), 4096u);
  EXPECT_EQ(alloc::page_window::max_chunks(512), 2048u);
}

TEST(page_window, truncation_at_borders_of_chunks) {
  struct {
    std::uint32_t taken;
    std::uint32_t first;
    std::uint32_t count;
  } const cases[] = {{0, 100, 10},  {1, 101, 9}, {16, 101, 9}, {17, 102, 8}, {143, 109, 1},
                     {144, 109, 1}, {145, 0, 0}, {159, 0, 0},  {160, 0, 0},  {200, 0, 0}};
  for (auto const& [taken, first, count] : cases) {
    SCOPED_TRACE(taken);
    alloc::page_window w;
    w.replace(100, 10, taken);
    alloc::chunk_range const rest = w.truncate(16);
    EXPECT_EQ(rest.first, first);
    EXPECT_EQ(rest.count, count);
    EXPECT_EQ(w.left(16), taken < 160 ? 160 - 16 * count - taken : 0);
  }
}

TEST(page_window, truncation_returns_the_untouched_chunks) {
  alloc::page_window w;
  EXPECT_EQ(w.truncate(16).count, 0u);
  w.replace(100, 10, 33);  // two chunks and a page
  EXPECT_EQ(w.left(16), 127u);
  alloc::chunk_range const rest = w.truncate(16);
  EXPECT_EQ(rest.first, 103u);
  EXPECT_EQ(rest.count, 7u);
  EXPECT_EQ(w.truncate(16).count, 0u);
  alloc::detail::page_range const five = w.take(5, 16);
  EXPECT_EQ(five.chunk, 100u);
  EXPECT_EQ(five.first, 33u);
  EXPECT_EQ(w.take(32, 16).count, 10u);
  EXPECT_EQ(w.truncate(16).count, 0u);
  EXPECT_EQ(w.left(16), 0u);
}

// An actor demands `pages`, supplies the chunks that it is designated for, one step each, and then frees `freed` of its
// pages, one step each. It does this `times` times.
struct script {
  std::uint32_t pages;
  std::uint32_t freed;
  unsigned times;
};

class explorer {
 public:
  explorer(std::vector<script> scripts, std::uint32_t initial, std::uint32_t pages_per_chunk)
      : scripts_(std::move(scripts)), pages_a_chunk_(pages_per_chunk) {
    state start{{}, std::vector<actor>(scripts_.size())};
    for (std::size_t i = 0; i < scripts_.size(); ++i) {
      start.actors[i].rounds = scripts_[i].times;
      frees_ = frees_ || scripts_[i].freed > 0;
    }
    if (initial > 0) start.semaphore.supply(initial);
    explore(start);
  }
  [[nodiscard]] std::size_t states() const { return seen_.size(); }
  [[nodiscard]] std::size_t ends() const { return ends_; }

 private:
  struct actor {
    unsigned rounds = 0;
    std::uint32_t chunks = 0;  // designated, and not yet supplied
    std::uint32_t freeing = 0;
  };
  struct state {
    alloc::bulk_semaphore semaphore;
    std::vector<actor> actors;
  };

  void explore(state s) {
    if (::testing::Test::HasFailure()) return;
    std::int64_t const number = s.semaphore.value();
    std::vector<std::int64_t> key{number};
    std::int64_t on_the_way = 0;
    bool ended = true;
    for (actor const& a : s.actors) {
      key.insert(key.end(), {a.rounds, a.chunks, a.freeing});
      on_the_way += std::int64_t{a.chunks} * pages_a_chunk_;
      ended = ended && a.rounds == 0 && a.chunks == 0 && a.freeing == 0;
    }
    if (!seen_.insert(key).second) return;
    check(number, on_the_way);
    if (ended) {
      ++ends_;
      EXPECT_GE(number, 0) << "an actor waits for a page that no actor supplies";
    }
    for (std::size_t i = 0; i < s.actors.size(); ++i) {
      state next = s;
      if (step(next, i)) explore(next);
    }
  }

  void check(std::int64_t number, std::int64_t on_the_way) const {
    std::int64_t const awaited = number < 0 ? -number : 0;
    std::int64_t needed = 0;  // whole chunks, by counting
    while (needed < awaited) needed += pages_a_chunk_;
    EXPECT_GE(on_the_way, needed) << "awaited: " << awaited;
    // Without freed pages no chunk too many is supplied.
    EXPECT_TRUE(frees_ || on_the_way == needed) << "awaited: " << awaited << ", on the way: " << on_the_way;
  }

  bool step(state& s, std::size_t i) const {
    actor& a = s.actors[i];
    if (a.chunks > 0) {
      --a.chunks;
      s.semaphore.supply(pages_a_chunk_);
    } else if (a.freeing > 0) {
      --a.freeing;
      s.semaphore.supply(1);
    } else if (a.rounds > 0) {
      --a.rounds;
      a.chunks = s.semaphore.demand(scripts_[i].pages, pages_a_chunk_);
      a.freeing = scripts_[i].freed;
    } else {
      return false;
    }
    return true;
  }

  std::vector<script> scripts_;
  std::uint32_t pages_a_chunk_;
  bool frees_ = false;
  std::set<std::vector<std::int64_t>> seen_;
  std::size_t ends_ = 0;
};

// The semaphore does not assume that a page is freed only by the actor that got it: pages may be freed at any time
// after the demand.
TEST(bulk_semaphore, invariant_in_all_interleavings) {
  std::size_t states = 0;
  for (std::uint32_t const pages_per_chunk : {1u, 2u, 3u, 4u, 8u})
    for (std::uint32_t const initial : {0u, 1u, 5u})
      for (std::uint32_t a = 1; a <= 5; ++a)
        for (std::uint32_t b = a; b <= 5; ++b)
          for (std::uint32_t const c : {1u, 4u, 9u})
            for (bool const frees : {false, true}) {
              SCOPED_TRACE("demands " + std::to_string(a) + ", " + std::to_string(b) + ", " + std::to_string(c) +
                           "; initial " + std::to_string(initial) + "; pages a chunk " +
                           std::to_string(pages_per_chunk) + (frees ? "; with frees" : ""));
              explorer const e({{a, frees ? a : 0, 2}, {b, frees ? 1u : 0, 2}, {c, 0, 1}}, initial, pages_per_chunk);
              EXPECT_GE(e.ends(), 1u);
              states += e.states();
              if (HasFailure()) return;
            }
  EXPECT_GT(states, 100000u);
}

TEST(bulk_semaphore, invariant_with_four_actors) {
  for (std::uint32_t const pages_per_chunk : {2u, 3u, 5u})
    for (bool const frees : {false, true}) {
      explorer const e({{1, frees ? 1u : 0, 2}, {2, frees ? 2u : 0, 2}, {3, 0, 1}, {7, frees ? 2u : 0, 1}}, 1,
                       pages_per_chunk);
      EXPECT_GE(e.ends(), 1u);
      EXPECT_GT(e.states(), 200u);
      if (HasFailure()) return;
    }
}

}  // namespace wyrm::tests
