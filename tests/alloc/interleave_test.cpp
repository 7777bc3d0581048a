// SPDX-License-Identifier: Apache-2.0
// The queues, the six variants of Ouroboros and the extent in every interleaving of a few threads with a few
// preemptions.
#include "../support/interleave.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "../../alloc/ouroboros/ouroboros.hpp"
#include "../../alloc/random_walk/page_pool.hpp"
#include "../../alloc/random_walk/random_walk.hpp"
#include "../../alloc/random_walk/rw_malloc.hpp"
#include "../../exec/host_space.hpp"
#include "../support/spaces.hpp"

namespace wyrm::tests {

namespace {

constexpr std::size_t unit_bytes = 8 * alloc::chunk_bytes;  // what host memory is committed by

using bodies = std::vector<std::function<void()>>;

// A ring with as many readers as writers, and up to twice as many of either as slots. Each reader waits for the entry
// at its position.
class ring {
 public:
  ring(std::uint32_t slots, unsigned pairs) : slots_(slots), pairs_(pairs) {}

  bodies threads() {
    bodies all;
    for (unsigned i = 0; i < pairs_; ++i) {
      all.emplace_back([this] {
        taken_.push_back(queue().read(ends_.claim_front(1)));
        if (taken_.back() < payload_.size()) touch(&payload_[taken_.back()], 1, data_use::read);
      });
      all.emplace_back([this, i] {
        touch(&payload_[i], 1);
        queue().write(ends_.claim_back(1), i);
      });
    }
    return all;
  }
  [[nodiscard]] bool sound() {
    std::sort(taken_.begin(), taken_.end());
    bool good = taken_.size() == pairs_ && ends_.size() == 0;
    for (unsigned i = 0; good && i < pairs_; ++i) good = taken_[i] == i;
    return good;
  }

 private:
  [[nodiscard]] alloc::index_ring queue() { return {slots_.data(), static_cast<std::uint32_t>(slots_.size()), false}; }

  alloc::queue_ends ends_;
  std::vector<std::uint32_t> slots_;
  unsigned pairs_;
  std::vector<std::uint64_t> taken_;    // one thread runs at a time
  std::array<std::byte, 4> payload_{};  // of entries
};

TEST(interleave, every_reader_of_a_ring_gets_an_entry) {
  std::size_t all = 0;
  for (std::uint32_t const slots : {1u, 2u})
    for (unsigned pairs = 1; pairs <= 2; ++pairs) {
      SCOPED_TRACE(std::to_string(slots) + " slots, " + std::to_string(pairs) + " pairs");
      std::unique_ptr<ring> r;
      std::size_t const n = interleavings(3, scaled(40, 15))
                                .explore(
                                    [&] {
                                      r = std::make_unique<ring>(slots, pairs);
                                      return r->threads();
                                    },
                                    [&] { return r->sound(); });
      EXPECT_GT(n, 0u) << "a thread waits for ever";
      EXPECT_TRUE(r->sound());
      all += n;
    }
  EXPECT_GT(all, 1000u);
}

// The ends of a queue of two entries: threads ask for some of them, and take back what they did not get.
TEST(interleave, entries_are_taken_once) {
  struct shared {
    alloc::queue_ends ends;
    std::uint32_t got = 0;
  };
  std::unique_ptr<shared> s;
  std::size_t const n = interleavings(3, 60).explore(
      [&] {
        s = std::make_unique<shared>();
        (void)s->ends.claim_back(2);
        bodies all;
        for (std::uint32_t const wanted : {3u, 1u})
          all.emplace_back([&, wanted] {
            std::uint32_t const taken = s->ends.take(wanted);
            if (taken > 0) (void)s->ends.claim_front(taken);
            s->ends.uncount(wanted - taken);
            s->got += taken;
          });
        all.emplace_back([&] { (void)s->ends.claim_back(1); });
        return all;
      },
      [&] { return s->ends.size() == 3 - s->got && s->ends.number() == static_cast<std::int32_t>(s->ends.size()); });
  EXPECT_GT(n, 100u);
  EXPECT_EQ(s->ends.size(), 3 - s->got);
  EXPECT_GE(s->got, 2u);
}

// A pool from which some pages were taken and some of those freed again. Then each thread performs one action: it
// requests so many bytes or, if negative, frees the page that was taken as number -1, -2, ...
struct scenario {
  std::size_t units;
  std::size_t taken;  // of `page` bytes each; the last `freed` of them are freed
  std::size_t freed;
  std::size_t page;
  std::vector<int> actions;
  std::size_t least;  // requests served
  std::size_t most;
};

template <class A>
class pool_under_test {
 public:
  // Queues have nodes of two entries, so that nodes are added and freed.
  explicit pool_under_test(scenario const& s) : scenario_(s), pool_(pool_of(s.units)), answers_(s.actions.size()) {
    pool_.reset();
    for (std::size_t i = 0; i < s.taken; ++i) {
      taken_.push_back(pool_.ref().malloc(s.page));
      if (taken_.back() == nullptr) ADD_FAILURE() << "the scenario takes more than there is";
    }
    for (std::size_t i = 0; i < s.freed; ++i) {
      pool_.ref().free(taken_.back());
      taken_.pop_back();
    }
  }
  bodies threads() {
    bodies all;
    for (std::size_t i = 0; i < scenario_.actions.size(); ++i)
      all.emplace_back([this, i] {
        if (int const action = scenario_.actions[i]; action < 0) {
          touch(taken_[static_cast<std::size_t>(-action - 1)], scenario_.page);
          pool_.ref().free(taken_[static_cast<std::size_t>(-action - 1)]);
        } else {
          answers_[i] = static_cast<std::byte*>(pool_.ref().malloc(static_cast<std::size_t>(action)));
          if (answers_[i] != nullptr) touch(answers_[i], static_cast<std::size_t>(action));
        }
      });
    return all;
  }
  // The pool is sound, blocks do not overlap, no page is lost, and as many requests were served as expected.
  void verify() const {
    EXPECT_NO_THROW(pool_.check());
    std::size_t served = 0;
    std::size_t live = 0;
    std::size_t gone = 0;
    for (std::size_t i = 0; i < answers_.size(); ++i) {
      if (scenario_.actions[i] < 0) ++gone;
      if (answers_[i] == nullptr) continue;
      ++served;
      live += std::bit_ceil(static_cast<std::size_t>(scenario_.actions[i]));
      for (std::size_t j = 0; j < answers_.size(); ++j)
        EXPECT_FALSE(i != j && answers_[j] >= answers_[i] && answers_[j] < answers_[i] + scenario_.actions[i]);
    }
    EXPECT_EQ(pool_.stats().granted, live + (taken_.size() - gone) * scenario_.page);
    EXPECT_GE(served, scenario_.least);
    EXPECT_LE(served, scenario_.most);
  }

 private:
  // Constructed once: thousands of interleavings use it.
  static A& pool_of(std::size_t units) {
    static std::map<std::size_t, A> pools;
    alloc::options const o{.pool_bytes = units * unit_bytes, .reserve_bytes = units * unit_bytes};
    if constexpr (std::is_constructible_v<A, exec::host_space, alloc::options, unsigned>)
      return pools.try_emplace(units, exec::host_space(1), o, 1).first->second;
    else
      return pools.try_emplace(units, exec::host_space(1), o).first->second;
  }

  scenario scenario_;
  A& pool_;
  std::vector<void*> taken_;
  std::vector<std::byte*> answers_;
};

template <class A>
void explore(scenario const& s, unsigned preemptions = 2) {
  std::string name = std::string(A::name) + ":";
  for (int const action : s.actions) name += " " + std::to_string(action);
  SCOPED_TRACE(name + "; " + std::to_string(s.taken) + " pages of " + std::to_string(s.page) + " bytes taken of " +
               std::to_string(s.units) + " units, " + std::to_string(s.freed) + " freed again");
  std::unique_ptr<pool_under_test<A>> p;
  std::size_t const n = interleavings(preemptions, scaled(60, 15))
                            .explore(
                                [&] {
                                  p = std::make_unique<pool_under_test<A>>(s);
                                  return p->threads();
                                },
                                [&] {
                                  p->verify();
                                  return !testing::Test::HasFailure();
                                });
  EXPECT_GT(n, 20u) << (n == 0 ? "a thread waits for ever" : "there are more interleavings");
}

template <class A>
class interleave_variant : public ::testing::Test {
 protected:
  // A virtualized queue takes chunks itself: then fewer requests are served, or none.
  static constexpr bool is_virtual = A::name[10] == 'v';
  static constexpr bool manages_chunks = std::string_view(A::name).ends_with('c');

  // Pages of 8 KiB in one unit, with the chunks that the queue takes.
  static std::size_t room() {
    A probe(exec::host_space(1), {.pool_bytes = 1, .reserve_bytes = 1}, 1);
    std::size_t n = 0;
    while (probe.ref().malloc(8192) != nullptr) ++n;
    return n;
  }
};
using space = exec::host_space;
using variants =
    ::testing::Types<alloc::ouroboros_s_p<space>, alloc::ouroboros_s_c<space>, alloc::ouroboros_va_p<space>,
                     alloc::ouroboros_va_c<space>, alloc::ouroboros_vl_p<space>, alloc::ouroboros_vl_c<space>>;
TYPED_TEST_SUITE(interleave_variant, variants, by_name);

TYPED_TEST(interleave_variant, there_is_room_for_all) {
  explore<TypeParam>({2, 0, 0, 0, {8192, 8192, 8192}, 3, 3});
  explore<TypeParam>({2, 0, 0, 0, {4096, 4096, 4096}, 3, 3});
  explore<TypeParam>({2, 0, 0, 0, {4096, 2048}, 2, 2}, 3);
}

TYPED_TEST(interleave_variant, pages_are_freed_and_taken) {
  explore<TypeParam>({2, 4, 2, 8192, {8192, -1, 8192}, 2, 2});
  explore<TypeParam>({2, 4, 2, 4096, {4096, -1, 4096}, 2, 2});
  explore<TypeParam>({2, 4, 1, 4096, {4096, -3, 4096}, 2, 2});  // all of one chunk
  explore<TypeParam>({2, 6, 3, 4096, {-1, -2, 4096}, 1, 1});
  explore<TypeParam>({2, 6, 5, 4096, {4096, 4096, 4096}, 3, 3});
}

// One unit, which has eight chunks; the test takes those that the queue leaves.
TYPED_TEST(interleave_variant, memory_runs_out) {
  std::size_t const room = this->room();
  EXPECT_TRUE(this->is_virtual ? room >= 3 : room == 8) << room;
  explore<TypeParam>({1, room - 1, 0, 8192, {8192, 8192}, 1, 1});
  explore<TypeParam>({1, room, 0, 8192, {-1, 8192, 8192}, 0, 1});
  explore<TypeParam>({1, room, 0, 8192, {-1, -2, 8192}, 0, 1});
  explore<TypeParam>({1, room, 1, 8192, {-1, 8192}, 1, 1});
  explore<TypeParam>({1, room, 2, 8192, {8192, 8192, 8192}, 2, 2});
  explore<TypeParam>({1, 2 * room, 2, 4096, {-1, 4096, 4096}, 2, 2});
}

// A chunk all of whose pages are free is needed by another class, while threads allocate and free pages of its own
// class.
TYPED_TEST(interleave_variant, a_free_chunk_changes_its_class) {
  std::size_t const room = this->room();
  // A virtualized queue of the other class may take the last chunk.
  std::size_t const least = this->is_virtual ? 0 : 1;
  explore<TypeParam>({1, 2 * room, 2, 4096, {2048, 4096}, least, 1});
  explore<TypeParam>({1, 2 * room, 2, 4096, {2048, -1, 4096}, least, 2});
  explore<TypeParam>({1, 2 * room, 3, 4096, {2048, 3 - static_cast<int>(2 * room), 4096}, least, 3});
  explore<TypeParam>({1, 4 * room, 4, 2048, {4096, 2048, 8192}, least, 2});
  explore<TypeParam>({1, 4 * room, 3, 2048, {4096, 3 - static_cast<int>(4 * room), 2048}, least, 2});
}

TYPED_TEST(interleave_variant, runs_of_units_and_chunks) {
  explore<TypeParam>({2, 1, 0, 8192, {65536, 8192}, 2, 2});
  // A virtualized queue of chunks needs one of the eight.
  explore<TypeParam>({1, 0, 0, 8192, {65536, 8192}, this->is_virtual && this->manages_chunks ? 0u : 1u, 1});
}

// A request for no chunks returns nothing, and returns.
TEST(interleave, a_request_for_no_chunks_ends) {
  alloc::options const o{.pool_bytes = unit_bytes, .reserve_bytes = unit_bytes};
  alloc::extent<space> memory(space(1), o);
  alloc::chunk_pool<space> chunks(space(1), o);
  std::uint32_t const freed = chunks.ref().take(1).first;
  chunks.ref().free(&freed, 1);  // into the reuse queue
  std::uint32_t got = 0;
  bool is_run = false;
  auto const ends = [&](std::function<void()> const& request) {
    return interleavings(0, 0).explore([&] { return bodies{request}; }, [] { return true; }) == 1;
  };
  EXPECT_TRUE(ends([&] { got = memory.ref().take_chunks(0).count; }));
  EXPECT_EQ(got, 0u);
  EXPECT_TRUE(ends([&] { got = memory.ref().take_runs(0, 2).count; }));
  EXPECT_EQ(got, 0u);
  EXPECT_TRUE(ends([&] { got = chunks.ref().take(0).count; }));
  EXPECT_EQ(got, 0u);
  EXPECT_TRUE(ends([&] { got = chunks.ref().take_runs(0, 2).count; }));
  EXPECT_EQ(got, 0u);
  // The same when the window is used up and free chunks are in the tree.
  alloc::chunk_range const all = memory.ref().take_chunks(8);
  EXPECT_EQ(all.count, 8u);
  memory.ref().return_chunks(all.first, 4);
  EXPECT_TRUE(ends([&] { got = memory.ref().take_chunks(0).count; }));
  EXPECT_EQ(got, 0u);
  EXPECT_TRUE(ends([&] { got = memory.ref().take_runs(0, 2).count; }));
  EXPECT_EQ(got, 0u);
  EXPECT_TRUE(ends([&] { is_run = memory.ref().allocate(0) != nullptr; }));
  EXPECT_FALSE(is_run);
}

// The greatest number of polls, of all threads, in any interleaving of a scenario.
template <class Store>
unsigned most_polls(scenario const& s) {
  interleavings all(2, scaled(40, 8));
  std::unique_ptr<pool_under_test<Store>> p;
  unsigned most = 0;
  std::size_t const n = all.explore(
      [&] {
        p = std::make_unique<pool_under_test<Store>>(s);
        return p->threads();
      },
      [&] {
        p->verify();
        most = std::max(most, all.pauses());
        return !testing::Test::HasFailure();
      });
  EXPECT_GT(n, 20u);
  return most;
}

// Pages are freed into a queue without room, while the pool is used up and has no chunk for a node: the threads stop
// waiting soon, and spill the pages.
TYPED_TEST(interleave_variant, frees_into_a_used_up_pool_do_not_poll) {
  EXPECT_LE(most_polls<TypeParam>({1, this->room() * 2, 0, 4096, {-1, -2, -3}, 0, 0}), 4u)
      << "polls of three threads that free a page each";
}
// The same for requests that cannot be served.
TYPED_TEST(interleave_variant, requests_to_a_used_up_pool_poll_little) {
  EXPECT_LE(most_polls<TypeParam>({1, this->room() * 2, 0, 4096, {4096, 4096, 8192}, 0, 0}), 6u)
      << "polls of three threads that request a page each";
}

// A pool of random walks that is one word: each thread gets a page, keeps it for a step, and frees it.
template <class Pool>
class one_word {
 public:
  explicit one_word(std::uint64_t pages) : pool_(exec::host_space(1), pages, 0.9), owners_(pages, 0) {}

  bodies threads(unsigned n) {
    bodies all;
    for (unsigned i = 0; i < n; ++i) all.emplace_back([this, i] { use_a_page(i + 1); });
    return all;
  }
  // No page had two owners, all are free again, and at least so many threads got one.
  [[nodiscard]] bool sound(unsigned least) const {
    std::vector<bool> const used = pool_.used();
    return !shared_ && served_ >= least && std::count(used.begin(), used.end(), true) == 0;
  }

 private:
  void use_a_page(unsigned who) {
    alloc::walk w(1, who);
    std::uint64_t const page = pool_.ref().allocate(exec::scalar_tile{}, w, true);
    if (page == Pool::ref_type::no_page) return;
    ++served_;
    shared_ = shared_ || owners_[page] != 0;
    owners_[page] = who;
    touch(&owners_[page], sizeof(owners_[page]));
    step();
    shared_ = shared_ || owners_[page] != who;
    owners_[page] = 0;
    touch(&owners_[page], sizeof(owners_[page]));
    pool_.ref().free(page);
  }

  Pool pool_;
  std::vector<unsigned> owners_;
  unsigned served_ = 0;
  bool shared_ = false;
};

template <class Pool>
class interleave_random_walk : public ::testing::Test {};
using random_walk_pools =
    ::testing::Types<alloc::rw_pages<space>, alloc::rw_bm_pages<space, std::uint32_t, true>,
                     alloc::rw_bm_pages<space, std::uint64_t, false>, alloc::corw_pages<space, std::uint64_t, true>,
                     alloc::corw_pages<space, std::uint32_t, false>, alloc::crw_pages<space, std::uint32_t, true>>;
TYPED_TEST_SUITE(interleave_random_walk, random_walk_pools);

TYPED_TEST(interleave_random_walk, no_page_has_two_owners) {
  for (std::uint64_t const pages : {1u, 2u, 3u})
    for (unsigned const threads : {2u, 3u}) {
      SCOPED_TRACE(std::to_string(pages) + " pages, " + std::to_string(threads) + " threads");
      // As many threads as pages are always served; of more, as many as there are pages.
      unsigned const least = pages < threads ? static_cast<unsigned>(pages) : threads;
      std::unique_ptr<one_word<TypeParam>> pool;
      std::size_t const n = interleavings(threads == 2 ? 4 : 3, scaled(40, 15))
                                .explore(
                                    [&] {
                                      pool = std::make_unique<one_word<TypeParam>>(pages);
                                      return pool->threads(threads);
                                    },
                                    [&] { return pool->sound(least); });
      EXPECT_GT(n, 20u) << "a thread waits for ever";
      EXPECT_TRUE(pool->sound(least));
    }
}

// The allocators over such pools. They take chunks from the extent, and from each other when the extent has none left.
template <class A>
class interleave_random_walk_allocator : public ::testing::Test {};
using random_walk_allocators = ::testing::Types<alloc::rw_bm<space>, alloc::corw<space>, alloc::rw_malloc<space>>;
TYPED_TEST_SUITE(interleave_random_walk_allocator, random_walk_allocators, by_name);

TYPED_TEST(interleave_random_walk_allocator, memory_is_taken_and_freed) {
  // RW_malloc takes a block word by word. A thread that finds another one at work may take a block across two chunks,
  // and then no two whole chunks are left. It has many steps: fewer preemptions.
  bool const by_words = std::is_same_v<TypeParam, alloc::rw_malloc<space>>;
  unsigned const preemptions = by_words ? 1 : 2;
  explore<TypeParam>({2, 0, 0, 0, {8192, 8192, 8192}, 3, 3}, preemptions);
  explore<TypeParam>({2, 0, 0, 0, {4096, 2048}, 2, 2}, preemptions + 1);
  explore<TypeParam>({2, 4, 2, 4096, {4096, -1, 4096}, 2, 2}, preemptions);
  explore<TypeParam>({1, 7, 0, 8192, {8192, 8192}, 1, 1}, preemptions);
  explore<TypeParam>({1, 8, 0, 8192, {-1, 8192, 8192}, 0, 1}, preemptions);
  explore<TypeParam>({1, 8, 2, 8192, {8192, 8192, 8192}, by_words ? 1u : 2u, 2}, preemptions);
}

TYPED_TEST(interleave_random_walk_allocator, a_free_chunk_changes_its_class) {
  unsigned const preemptions = std::is_same_v<TypeParam, alloc::rw_malloc<space>> ? 1 : 2;
  explore<TypeParam>({1, 16, 2, 4096, {2048, 4096}, 1, 2});
  explore<TypeParam>({1, 16, 2, 4096, {8192, -1, 4096}, 1, 2}, preemptions);
  explore<TypeParam>({1, 16, 4, 4096, {8192, 16384}, 1, 2}, preemptions);
  explore<TypeParam>({1, 8, 8, 8192, {65536, 8192}, 1, 1}, preemptions);
}

// A tile of two lanes, each of which is a thread of the exploration: so the atomic operations of the lanes of a tile
// happen in every order, too.
struct meeting {
  std::uint64_t values[2][2] = {};  // of this collective, and of the previous one, which a lane may still read
  unsigned met[2] = {};             // collectives that each lane has reached
};
class lane_of_two {
 public:
  lane_of_two(meeting& place, unsigned rank) : place_(&place), rank_(rank) {}
  static constexpr unsigned size() { return 2; }
  [[nodiscard]] unsigned rank() const { return rank_; }
  [[nodiscard]] std::uint32_t ballot(bool predicate) const {
    std::uint64_t const* const both = meet(predicate);
    return static_cast<std::uint32_t>(both[0] | both[1] << 1);
  }
  [[nodiscard]] bool any(bool predicate) const { return ballot(predicate) != 0; }
  [[nodiscard]] bool all(bool predicate) const { return ballot(predicate) == 3; }
  template <class T>
  [[nodiscard]] T shfl(T value, unsigned lane) const {
    static_assert(sizeof(T) <= sizeof(std::uint64_t));
    std::uint64_t word = 0;
    std::memcpy(&word, &value, sizeof(T));
    word = meet(word)[lane % 2];
    std::memcpy(&value, &word, sizeof(T));
    return value;
  }
  void sync() const { (void)meet(0); }
  static void backoff(unsigned attempt) { exec::pause(attempt); }

 private:
  // The values of both lanes.
  std::uint64_t const* meet(std::uint64_t mine) const {
    unsigned const now = place_->met[rank_]++;
    place_->values[now % 2][rank_] = mine;
    while (place_->met[1 - rank_] <= now) exec::pause(0);
    return place_->values[now % 2];
  }

  meeting* place_;
  unsigned rank_;
};
static_assert(exec::tile<lane_of_two>);

// Tiles that want the same words of a region, which their lanes set in different orders. If the lanes of one tile set
// the first of them, and those of another tile the last ones, neither tile has all, and both clear theirs.
class competing_tiles {
 public:
  // One region of three chunks, of which `taken` bytes are taken; each tile wants so many bytes, which fit once.
  competing_tiles(std::size_t taken, std::size_t wanted, unsigned tiles) : wanted_(wanted), tiles_(tiles) {
    std::vector<void*> chunks;
    large_ = pool_.ref().malloc(5 * alloc::chunk_bytes);
    for (int i = 0; i < 3; ++i) chunks.push_back(pool_.ref().malloc(alloc::chunk_bytes));
    for (void* const p : chunks) pool_.ref().free(p);
    if (taken > 0) taken_ = pool_.ref().malloc(taken);
    meetings_.resize(tiles);
    answers_.resize(2 * tiles);
  }
  // All lanes; neighbouring ones are of different tiles.
  bodies threads() {
    bodies all;
    for (unsigned i = 0; i < 2 * tiles_; ++i) {
      unsigned const tile = i % tiles_;
      unsigned const lane = (i / tiles_ + tile) % 2;
      all.emplace_back([this, i, tile, lane] {
        answers_[i] = pool_.ref().allocate(lane_of_two(meetings_[tile], lane), lane == 0 ? wanted_ : 0);
      });
    }
    return all;
  }
  [[nodiscard]] std::size_t served() const {
    return answers_.size() -
           static_cast<std::size_t>(std::count(answers_.begin(), answers_.end(), static_cast<void*>(nullptr)));
  }
  void check() const { pool_.check(); }

 private:
  std::size_t wanted_;
  unsigned tiles_;
  alloc::rw_malloc<space> pool_{space(1), {.pool_bytes = unit_bytes, .reserve_bytes = unit_bytes}};
  void* large_ = nullptr;
  void* taken_ = nullptr;
  std::vector<meeting> meetings_;
  std::vector<void*> answers_;
};

TEST(interleave, one_of_competing_tiles_is_served) {
  struct wish {
    std::size_t taken;
    std::size_t wanted;
  };
  for (wish const w : {wish{12288, 8192}, wish{0, 20480}, wish{10000, 14000}})
    for (unsigned const tiles : {2u, 3u}) {
      SCOPED_TRACE(std::to_string(tiles) + " tiles that want " + std::to_string(w.wanted) + " bytes, " +
                   std::to_string(w.taken) + " are taken");
      std::unique_ptr<competing_tiles> all;
      // The order of the first steps matters, and a run has many steps: so one preemption.
      std::size_t const n = interleavings(1, tiles == 2 ? scaled(20, 3) : 0)
                                .explore(
                                    [&] {
                                      all = std::make_unique<competing_tiles>(w.taken, w.wanted, tiles);
                                      return all->threads();
                                    },
                                    [&] {
                                      EXPECT_EQ(all->served(), 1u);
                                      EXPECT_NO_THROW(all->check());
                                      return !testing::Test::HasFailure();
                                    });
      EXPECT_GT(n, 10u) << (n == 0 ? "a thread waits for ever" : "there are more interleavings");
    }
}

// Two threads take the first pages of a class at the same time, and each adds a node to its queue. The second thread
// frees its page and takes it again until the first node is emptied, perhaps before the second node has been added.
// Then the queue needs the room of both nodes.
template <class A>
void empty_a_node_before_the_next_comes(unsigned node_log2) {
  SCOPED_TRACE(std::string(A::name) + ", nodes of " + std::to_string(1u << node_log2));
  unsigned const entries = 1u << node_log2;
  A a(space(1), {.pool_bytes = unit_bytes, .reserve_bytes = unit_bytes}, node_log2);
  void* first = nullptr;
  bool has_first = false;
  std::size_t const n = interleavings(1, 60).explore(
      [&] {
        a.reset();
        has_first = false;
        return bodies{[&] {
                        first = a.ref().malloc(alloc::chunk_bytes);
                        has_first = true;
                      },
                      [&] {
                        auto const ref = a.ref();
                        void* p = ref.malloc(alloc::chunk_bytes);
                        auto const use = [&](unsigned times) {
                          for (unsigned i = 0; i < times; ++i) {
                            ref.free(p);
                            p = ref.malloc(alloc::chunk_bytes);
                          }
                        };
                        use(entries);
                        while (!has_first) exec::pause(0);
                        use(entries - 1);
                        ref.free(p);
                        ref.free(first);
                      }};
      },
      [&] {
        EXPECT_NO_THROW(a.check());
        return !testing::Test::HasFailure();
      });
  EXPECT_GT(n, 10u) << "a thread waits for ever";
}
TEST(interleave, a_node_is_emptied_before_the_next_comes) {
  for (unsigned const node_log2 : {1u, 4u}) {
    empty_a_node_before_the_next_comes<alloc::ouroboros_s_c<space>>(node_log2);
    empty_a_node_before_the_next_comes<alloc::ouroboros_va_c<space>>(node_log2);
    empty_a_node_before_the_next_comes<alloc::ouroboros_vl_c<space>>(node_log2);
  }
}

// A pool of spans of two pages each, with a table that is full: all eight chunks are spans, and all pages are used but
// those of one span.
class full_table {
 public:
  static constexpr std::uint32_t chunks = 8;
  static constexpr std::uint32_t free_span = 3;
  using used_type = alloc::used_bits_ref<std::uint64_t, false>;

  full_table() {
    bool asks = false;
    std::uint64_t page = 0;
    while (state_.count < chunks)
      if (spans().append(exec::scalar_tile{}, chunks, true, asks, page).count == 0) break;
    (void)used().claim(0, ~(std::uint64_t{3} << 2 * free_span));
  }
  [[nodiscard]] alloc::spans_ref<used_type> spans() {
    return {memory_.ref(), state_, {0, 1, 1, 1, table_.data(), owners_.data()}, used()};
  }
  // One span more, as the holder of the lock, or without it; the first page is for the caller.
  bool append(bool has_lock) {
    bool asks = true;
    std::uint64_t page = ~std::uint64_t{0};
    alloc::span_range const got = spans().append(exec::scalar_tile{}, 1, has_lock, asks, page);
    EXPECT_EQ(got.count, asks ? 0u : 1u);
    if (asks) return false;
    EXPECT_EQ(page / 2, got.first);
    EXPECT_LT(page, 2 * chunks);
    EXPECT_EQ(used_ >> page & 1, 1u) << "a page that has an owner is free";
    return true;
  }
  // Each chunk is in the table once or in the extent; holes are counted, and none of their pages is free.
  void verify() {
    EXPECT_EQ(state_.count, chunks);
    std::vector<bool> carved(chunks);
    std::uint32_t holes = 0;
    for (std::uint32_t span = 0; span < chunks; ++span) {
      std::uint32_t const chunk = table_[span];
      if (chunk == alloc::detail::no_span) {
        ++holes;
        EXPECT_EQ(used_ >> 2 * span & 3, 3u) << "a page of a hole is free";
        continue;
      }
      ASSERT_LT(chunk, chunks);
      EXPECT_FALSE(carved[chunk]) << "two spans have chunk " << chunk;
      carved[chunk] = true;
      EXPECT_EQ(owners_[chunk], (alloc::detail::span_owner{span, 0}.word()));
    }
    EXPECT_EQ(state_.holes, holes);
    EXPECT_NO_THROW(memory_.check(carved));
  }
  [[nodiscard]] std::uint32_t holes() const { return state_.holes; }

 private:
  [[nodiscard]] used_type used() { return {&used_, &locks_, 2 * chunks}; }

  alloc::extent<space> memory_{space(1), {.pool_bytes = unit_bytes, .reserve_bytes = unit_bytes}};
  alloc::detail::span_state state_{};
  std::vector<std::uint32_t> table_ = std::vector<std::uint32_t>(64, alloc::detail::no_span);
  std::vector<std::uint32_t> owners_ = std::vector<std::uint32_t>(chunks, alloc::detail::no_span);
  std::uint64_t used_ = ~std::uint64_t{0};
  std::uint64_t locks_ = 0;
};

// One thread finds no hole and takes a chunk that another thread has just returned. The table has no entry for the
// chunk, so the first thread returns it, and fills the hole that the second one has left. A third thread sees at most
// the spans that exist.
TEST(interleave, a_full_table_of_spans_gets_a_hole) {
  std::unique_ptr<full_table> table;
  bool served = false;
  std::size_t times_served = 0;
  std::size_t const n = interleavings(3, 60).explore(
      [&] {
        table = std::make_unique<full_table>();
        served = false;
        return bodies{[&] { served = table->append(true); },
                      [&] { EXPECT_TRUE(table->spans().release_free_spans(exec::scalar_tile{})); },
                      [&] {
                        EXPECT_LE(table->spans().count(exec::scalar_tile{}), full_table::chunks);
                        EXPECT_LE(table->spans().recent_count(), full_table::chunks);
                      }};
      },
      [&] {
        table->verify();
        times_served += served;
        EXPECT_EQ(table->holes(), served ? 0u : 1u);
        EXPECT_EQ(table->append(true), !served) << "the memory of the hole is there";
        table->verify();
        return !testing::Test::HasFailure();
      });
  EXPECT_GT(n, 1000u) << (n == 0 ? "a thread waits for ever" : "there are more interleavings");
  EXPECT_GT(times_served, 0u);
  EXPECT_LT(times_served, n);
}

// The table has a hole, and its chunk is in the extent. The thread that holds the lock of the pool fills the hole; a
// thread without the lock gets no span.
TEST(interleave, a_hole_in_a_full_table_is_filled_by_the_holder_of_the_lock) {
  std::unique_ptr<full_table> table;
  bool served[2] = {};
  std::size_t const n = interleavings(3, 60).explore(
      [&] {
        table = std::make_unique<full_table>();
        EXPECT_TRUE(table->spans().release_free_spans(exec::scalar_tile{}));
        table->verify();
        EXPECT_EQ(table->holes(), 1u);
        return bodies{[&] { served[0] = table->append(true); }, [&] { served[1] = table->append(false); }};
      },
      [&] {
        table->verify();
        EXPECT_TRUE(served[0]);
        EXPECT_FALSE(served[1]);
        EXPECT_EQ(table->holes(), 0u);
        return !testing::Test::HasFailure();
      });
  EXPECT_GT(n, 100u) << (n == 0 ? "a thread waits for ever" : "there are more interleavings");
}

// All pages of a chunk become free while another class looks for such a chunk, and while a thread claims a page of its
// own class. Whether the chunk changes its class or not, each of its pages has one owner, and is found afterwards.
TEST(interleave, a_chunk_with_a_claim_on_its_class_is_found_later) {
  alloc::ouroboros_s_c<space> pool(
      space(1), {.pool_bytes = unit_bytes, .reserve_bytes = unit_bytes, .checked = true, .guards = false});
  for (bool const claims : {false, true}) {
    SCOPED_TRACE(claims ? "a page is taken, and freed" : "a page is freed");
    std::vector<void*> pages;
    void* large = nullptr;
    std::size_t large_served = 0;
    auto const use_page = [&] {
      void* const page = claims ? pool.ref().malloc(4096) : pages[14];
      EXPECT_EQ(std::count(pages.begin(), pages.begin() + 14, page), 0) << "a page has two owners";
      if (page != nullptr) pool.ref().free(page);
    };
    auto const make = [&] {
      pool.reset();
      pages.clear();
      for (unsigned i = 0; i < 16; ++i) pages.push_back(pool.ref().malloc(4096));
      pool.ref().free(pages[15]);
      if (claims) pool.ref().free(pages[14]);
      return bodies{[&] { large = pool.ref().malloc(8192); }, use_page};
    };
    auto const verify = [&] {
      EXPECT_NO_THROW(pool.check());
      large_served += large != nullptr;
      bool const is_found = pool.ref().malloc(8192) != nullptr;
      // A chunk that left the class and came back may be one page in the queue, and one that was never handed out.
      bool const has_two =
          claims && !is_found && pool.ref().malloc(4096) != nullptr && pool.ref().malloc(4096) != nullptr;
      EXPECT_EQ(is_found || has_two, large == nullptr) << "the chunk is free, or was found before";
      EXPECT_NO_THROW(pool.check());
      return !testing::Test::HasFailure();
    };
    std::size_t const n = interleavings(2, scaled(80, 20)).explore(make, verify);
    EXPECT_GT(n, 100u) << (n == 0 ? "a thread waits for ever" : "there are more interleavings");
    EXPECT_GT(large_served, 0u);
    EXPECT_LT(large_served, n);
  }
}

// What a holder of a sequence lock does happens before what the next one does; and what one does that finds nothing,
// before what those do who are told so.
TEST(interleave, a_lock_orders_what_its_holders_do) {
  struct shared {
    std::uint64_t word = 0;
    unsigned held = 0;
    unsigned found = 0;  // written by the only holder that finds nothing
    unsigned told = 0;
  };
  std::unique_ptr<shared> s;
  std::size_t all_told = 0;
  std::size_t const n = interleavings(3, 40).explore(
      [&] {
        s = std::make_unique<shared>();
        bodies all;
        for (unsigned i = 0; i < 3; ++i)
          all.emplace_back([&, i] {
            alloc::sequence_lock lock(s->word);
            if (!lock.take_unless_exhausted()) {
              touch(&s->found, sizeof(s->found), data_use::read);
              ++s->told;
              return;
            }
            touch(&s->held, sizeof(s->held));
            ++s->held;
            if (i != 0) return lock.unlock();
            touch(&s->found, sizeof(s->found));
            lock.unlock_exhausted();
          });
        return all;
      },
      [&] {
        all_told += s->told;
        return s->held + s->told == 3 && s->word % 2 == 0;
      });
  EXPECT_GT(n, 100u) << (n == 0 ? "a thread waits for ever" : "there are more interleavings");
  EXPECT_EQ(s->held + s->told, 3u);
  EXPECT_GT(all_told, 0u);
}

// A page is freed, its span is returned to the extent and becomes a span again, and a third thread takes the page. Its
// first use happens before its last one: through the flags, the tree of the extent, and the fence of the thread that
// opens the pages of a span, whose stores are relaxed.
TEST(interleave, a_page_of_a_span_that_came_back_has_one_user_at_a_time) {
  using used_type = alloc::used_flags_ref<>;
  constexpr std::uint32_t chunks = 8;
  constexpr std::uint32_t span = 3;
  constexpr std::uint64_t page = 2 * span + 1;
  struct shared {
    alloc::extent<space> memory{space(1), {.pool_bytes = unit_bytes, .reserve_bytes = unit_bytes}};
    alloc::detail::span_state state{};
    std::vector<std::uint32_t> table = std::vector<std::uint32_t>(64, alloc::detail::no_span);
    std::vector<std::uint32_t> owners = std::vector<std::uint32_t>(chunks, alloc::detail::no_span);
    std::vector<std::uint32_t> flags = std::vector<std::uint32_t>(2 * chunks, 1);

    used_type used() { return {flags.data(), nullptr, 2 * chunks}; }
    alloc::spans_ref<used_type> spans() {
      return {memory.ref(), state, {0, 1, 1, 1, table.data(), owners.data()}, used()};
    }
    void use(std::uint64_t number) {
      std::uint32_t const chunk = spans().chunk(static_cast<std::uint32_t>(number / 2));
      touch(memory.base() + chunk * alloc::chunk_bytes + number % 2 * 4096, 4096);
    }
  };
  std::unique_ptr<shared> s;
  std::size_t reused = 0;
  bool is_new = false;
  bool is_taken = false;
  std::size_t const n = interleavings(3, 60).explore(
      [&] {
        s = std::make_unique<shared>();
        bool asks = false;
        std::uint64_t none = 0;
        while (s->state.count < chunks)
          if (s->spans().append(exec::scalar_tile{}, chunks, true, asks, none).count == 0) break;
        std::fill(s->flags.begin(), s->flags.end(), 1u);
        s->used().clear(page - 1);
        is_new = is_taken = false;
        return bodies{[&] {
                        s->use(page);
                        s->used().clear(page);
                      },
                      [&] {
                        if (!s->spans().release_free_spans(exec::scalar_tile{})) return;
                        bool wants = true;
                        std::uint64_t got = 0;
                        (void)s->spans().append(exec::scalar_tile{}, 1, true, wants, got);
                        EXPECT_FALSE(wants);
                        if (!wants) s->use(got);
                        is_new = true;
                      },
                      [&] {
                        is_taken = s->used().claim(page, 1) != 0;
                        if (is_taken) s->use(page);
                      }};
      },
      [&] {
        reused += is_new && is_taken;
        return !testing::Test::HasFailure();
      });
  EXPECT_GT(n, 100u) << (n == 0 ? "a thread waits for ever" : "there are more interleavings");
  EXPECT_GT(reused, 0u);
}

}  // namespace

}  // namespace wyrm::tests
