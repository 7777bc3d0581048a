// SPDX-License-Identifier: Apache-2.0
// The extent: chunks and runs from one memory, the window that chunks are taken from, growth, and check(). Tested by
// single calls with literal results, and by many tiles at the same time on threads and on warps of fibers.
#include "../../alloc/extent/extent.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "../support/corrupt.hpp"
#include "../support/simt_space.hpp"
#include "../support/spaces.hpp"

namespace wyrm::tests {

using alloc::chunk_bytes;
constexpr std::size_t unit_bytes = 8 * chunk_bytes;  // the step in which host memory is committed

// In host memory, so the thread of the test can use refs.
class extent : public ::testing::Test {
 protected:
  [[nodiscard]] static alloc::options units(std::size_t n, std::size_t reserved) {
    return {.pool_bytes = n * unit_bytes, .reserve_bytes = reserved * unit_bytes};
  }
  // Takes chunks, and records them in carved_.
  alloc::chunk_range take(std::uint32_t count) {
    alloc::chunk_range const r = pool_.ref().take_chunks(count);
    for (std::uint32_t c = r.first; c < r.first + r.count; ++c) {
      EXPECT_FALSE(carved_[c]) << "chunk " << c << " is taken twice";
      carved_[c] = true;
    }
    return r;
  }
  // The chunk at which a run for so many bytes begins, or -1.
  int run(std::size_t bytes) {
    void* const p = pool_.ref().allocate(bytes);
    if (p == nullptr) return -1;
    auto const offset = static_cast<std::size_t>(static_cast<std::byte*>(p) - pool_.base());
    EXPECT_EQ(offset % chunk_bytes, 0u);
    return static_cast<int>(offset / chunk_bytes);
  }
  bool free(std::size_t chunk) { return pool_.ref().free(pool_.base() + chunk * chunk_bytes); }
  void expect_corrupt(std::vector<bool> const& carved, std::string const& what) {
    tests::expect_corrupt(what, [&] { pool_.check(carved); });
  }

  exec::host_space space_{1};
  alloc::extent<exec::host_space> pool_{space_, units(10, 20)};
  std::vector<bool> carved_ = std::vector<bool>(160);
};

TEST_F(extent, sizes) {
  EXPECT_EQ(chunk_bytes, 8192u);
  EXPECT_EQ(pool_.bytes(), 10 * unit_bytes);
  EXPECT_EQ(pool_.capacity(), 20 * unit_bytes);
  EXPECT_EQ(pool_.chunks(), 80u);
  EXPECT_EQ(pool_.allocated(), 0u);
  EXPECT_EQ(pool_.runs(), 0u);
  EXPECT_EQ(pool_.peak(), 0u);
  EXPECT_TRUE(pool_.ref().contains(pool_.base()));
  EXPECT_TRUE(pool_.ref().contains(pool_.base() + 10 * unit_bytes - 1));
  EXPECT_FALSE(pool_.ref().contains(pool_.base() + 10 * unit_bytes));
  EXPECT_FALSE(pool_.ref().contains(pool_.base() - 1));
  pool_.check(carved_);
  // The smallest pool.
  alloc::extent<exec::host_space> const one(space_, {.pool_bytes = 1, .reserve_bytes = 1});
  EXPECT_EQ(one.bytes(), unit_bytes);
  EXPECT_EQ(one.capacity(), unit_bytes);
}

TEST_F(extent, runs_take_the_lowest_free_chunks_then_new_ones) {
  EXPECT_EQ(run(1), 0);
  EXPECT_EQ(run(chunk_bytes), 1);
  EXPECT_EQ(run(chunk_bytes + 1), 2);
  EXPECT_EQ(run(3 * chunk_bytes), 4);
  EXPECT_EQ(pool_.allocated(), 7 * chunk_bytes);
  EXPECT_EQ(pool_.runs(), 4u);
  EXPECT_EQ(run(74 * chunk_bytes), -1);
  EXPECT_EQ(run(80 * chunk_bytes + 1), -1);
  EXPECT_EQ(run(SIZE_MAX), -1);
  pool_.check(carved_);
  EXPECT_EQ(run(73 * chunk_bytes), 7);
  EXPECT_EQ(run(1), -1);
  pool_.check(carved_);
  EXPECT_TRUE(free(1));
  EXPECT_TRUE(free(2));
  EXPECT_EQ(pool_.allocated(), 77 * chunk_bytes);
  EXPECT_EQ(run(4 * chunk_bytes), -1);
  EXPECT_EQ(run(3 * chunk_bytes), 1);  // two adjacent runs have become one
  EXPECT_EQ(pool_.peak(), 80 * chunk_bytes);
  pool_.check(carved_);
  for (std::size_t const chunk : {0u, 1u, 4u, 7u}) EXPECT_TRUE(free(chunk));
  EXPECT_EQ(pool_.allocated(), 0u);
  EXPECT_EQ(run(80 * chunk_bytes), 0);
  pool_.check(carved_);
}

TEST_F(extent, only_allocated_runs_are_freed) {
  EXPECT_EQ(run(3 * chunk_bytes), 0);
  EXPECT_FALSE(free(1));
  EXPECT_FALSE(free(3));
  EXPECT_FALSE(pool_.ref().free(pool_.base() + 16));
  EXPECT_EQ(pool_.allocated(), 3 * chunk_bytes);
  EXPECT_TRUE(free(0));
  EXPECT_FALSE(free(0));
  pool_.check(carved_);
}

TEST_F(extent, chunks_are_taken_in_order) {
  EXPECT_EQ(pool_.peak(), 0u);
  EXPECT_EQ(take(1).first, 0u);
  alloc::chunk_range const r = take(5);
  EXPECT_EQ(r.first, 1u);
  EXPECT_EQ(r.count, 5u);
  EXPECT_EQ(pool_.peak(), 6 * chunk_bytes);
  pool_.check(carved_);
  EXPECT_EQ(run(2 * chunk_bytes), 6);
  EXPECT_EQ(run(70 * chunk_bytes), 8);
  EXPECT_EQ(run(3 * chunk_bytes), -1);  // the rest of the window is moved to the tree
  pool_.check(carved_);
  EXPECT_EQ(pool_.peak(), 78 * chunk_bytes);
  EXPECT_FALSE(pool_.ref().looks_used_up());
  EXPECT_EQ(take(8).count, 2u);
  EXPECT_TRUE(pool_.ref().looks_used_up());
  EXPECT_EQ(take(8).count, 0u);
  EXPECT_EQ(take(1).count, 0u);
  pool_.check(carved_);
  EXPECT_TRUE(free(6));
  alloc::chunk_range const refilled = take(3);
  EXPECT_EQ(refilled.first, 6u);
  EXPECT_EQ(refilled.count, 2u);
  EXPECT_TRUE(free(8));
  EXPECT_EQ(take(80).count, 70u);
  EXPECT_EQ(take(1).count, 0u);
  EXPECT_EQ(pool_.peak(), 80 * chunk_bytes);
  pool_.check(carved_);
}

TEST_F(extent, returned_chunks_become_runs) {
  alloc::chunk_range const all = take(80);
  EXPECT_EQ(all.count, 80u);
  auto const give = [&](std::uint32_t first, std::uint32_t count) {
    pool_.ref().return_chunks(first, count);
    for (std::uint32_t c = first; c < first + count; ++c) carved_[c] = false;
    pool_.check(carved_);
  };
  give(40, 2);
  give(43, 3);
  EXPECT_EQ(run(4 * chunk_bytes), -1);
  give(42, 1);
  EXPECT_EQ(run(4 * chunk_bytes), 40);
  EXPECT_EQ(take(8).first, 44u);
}

TEST_F(extent, runs_of_several_chunks) {
  auto const take_runs = [&](std::uint32_t count, std::uint32_t each) {
    alloc::chunk_range const r = pool_.ref().take_runs(count, each);
    for (std::uint32_t c = r.first; c < r.first + r.count * each; ++c) {
      EXPECT_FALSE(carved_[c]) << "chunk " << c << " is taken twice";
      carved_[c] = true;
    }
    pool_.check(carved_);
    return r;
  };
  alloc::chunk_range r = take_runs(3, 16);
  EXPECT_EQ(r.first, 0u);
  EXPECT_EQ(r.count, 3u);
  r = take_runs(3, 14);  // 32 chunks are left: two runs, and four chunks that are returned
  EXPECT_EQ(r.first, 48u);
  EXPECT_EQ(r.count, 2u);
  EXPECT_EQ(take_runs(1, 5).count, 0u);
  EXPECT_EQ(take_runs(1, 5).count, 0u);  // known without another search
  pool_.ref().return_chunks(0, 16);
  for (std::uint32_t c = 0; c < 16; ++c) carved_[c] = false;
  r = take_runs(2, 3);  // the lowest
  EXPECT_EQ(r.first, 0u);
  EXPECT_EQ(r.count, 2u);
  r = take_runs(9, 4);  // only adjacent runs
  EXPECT_EQ(r.first, 6u);
  EXPECT_EQ(r.count, 2u);
  EXPECT_EQ(take_runs(1, 5).count, 0u);
  EXPECT_EQ(take_runs(1, 4).first, 76u);
  EXPECT_EQ(take_runs(1, 2).first, 14u);
  EXPECT_EQ(take_runs(1, 1).count, 0u);
}

// A carving takes one run, and says by how much the pool must grow if there is none.
TEST_F(extent, exclusive_runs) {
  std::uint32_t missing = 7;
  auto const take_exclusive = [&](std::uint32_t count) {
    alloc::chunk_range const r = pool_.ref().take_exclusive(count, missing);
    EXPECT_EQ(r.count, missing == 0 ? count : 0);
    for (std::uint32_t c = r.first; c < r.first + r.count; ++c) {
      EXPECT_FALSE(carved_[c]) << "chunk " << c << " is taken twice";
      carved_[c] = true;
    }
    pool_.check(carved_);
    return r.first;
  };
  EXPECT_EQ(take_exclusive(70), 0u);
  EXPECT_EQ(missing, 0u);
  EXPECT_EQ(take_exclusive(11), alloc::or_tree::none);
  EXPECT_EQ(missing, 1u);
  pool_.ref().return_chunks(0, 5);
  std::fill_n(carved_.begin(), 5, false);
  EXPECT_EQ(take_exclusive(6), 70u);  // the lowest run is too short
  EXPECT_EQ(take_exclusive(6), alloc::or_tree::none);
  EXPECT_EQ(missing, 2u);  // four chunks are free at the end
  EXPECT_EQ(take_exclusive(80), alloc::or_tree::none);
  EXPECT_EQ(missing, 76u);
  EXPECT_EQ(take_exclusive(4), 0u);
  EXPECT_EQ(take_exclusive(4), 76u);
  EXPECT_EQ(take_exclusive(2), alloc::or_tree::none);
  EXPECT_EQ(missing, 2u);  // no chunk is free at the end
  EXPECT_EQ(take_exclusive(1), 4u);
  pool_.grow(8 * chunk_bytes);
  EXPECT_EQ(take_exclusive(8), 80u);
  pool_.ref().return_chunks(77, 3);
  std::fill_n(carved_.begin() + 77, 3, false);
  pool_.grow(8 * chunk_bytes);
  EXPECT_EQ(take_exclusive(9), alloc::or_tree::none);
  EXPECT_EQ(missing, 1u);
  pool_.grow(missing * chunk_bytes);
  EXPECT_EQ(take_exclusive(9), 88u);
}

// More chunks than one refill moves to the window (32768), than one request takes (4096), than a node of the tree has.
TEST_F(extent, a_large_pool) {
  constexpr std::uint32_t chunks = 40'000;
  alloc::extent<exec::host_space> pool(space_, {.pool_bytes = chunks * chunk_bytes, .reserve_bytes = 1});
  EXPECT_EQ(pool.chunks(), chunks);
  carved_.assign(chunks, false);
  for (int lap = 0; lap < 2; ++lap) {
    std::uint32_t all = 0;
    for (alloc::chunk_range r{}; (r = pool.ref().take_chunks(4096)).count > 0; all += r.count) EXPECT_EQ(r.first, all);
    EXPECT_EQ(all, chunks);
    EXPECT_EQ(pool.peak(), chunks * chunk_bytes);
    pool.ref().return_chunks(0, chunks);
    pool.check(carved_);
  }
  EXPECT_EQ(pool.ref().take_runs(1, 5000).first, 0u);  // a run longer than that
  EXPECT_EQ(pool.ref().take_runs(9, 4375).count, 8u);
  EXPECT_EQ(pool.ref().take_runs(1, 1).count, 0u);
}

TEST_F(extent, how_much_is_left) {
  alloc::extent_ref const memory = pool_.ref();
  EXPECT_TRUE(memory.window_is_large());
  (void)take(40);
  EXPECT_EQ(memory.left(), 40u);
  EXPECT_TRUE(memory.window_is_large());
  (void)take(1);
  EXPECT_FALSE(memory.window_is_large());
  (void)take(19);
  EXPECT_FALSE(memory.window_is_small());
  (void)take(1);
  EXPECT_TRUE(memory.window_is_small());
  (void)take(19);
  EXPECT_FALSE(memory.seems_used_up());
  EXPECT_TRUE(memory.looks_used_up());
  EXPECT_EQ(memory.try_take_chunks(1).count, 0u);
  EXPECT_TRUE(memory.seems_used_up());
  memory.return_chunks(79, 1);
  EXPECT_FALSE(memory.looks_used_up());
}

struct machine {
  std::size_t total;
  [[nodiscard]] std::size_t memory_limit(exec::memory_kind) const { return total; }
};
TEST_F(extent, addresses_of_a_pool) {
  constexpr std::size_t tib = std::size_t{1} << 40;
  EXPECT_EQ(alloc::addresses_for(machine{1000}, {.pool_bytes = 10}), 1000u);
  EXPECT_EQ(alloc::addresses_for(machine{1000}, {.pool_bytes = 1001}), 1001u);
  EXPECT_EQ(alloc::addresses_for(machine{4 * tib}, {.pool_bytes = 10}), tib);
  EXPECT_EQ(alloc::addresses_for(machine{1000}, {.pool_bytes = 10, .reserve_bytes = 5000}), 5000u);
  EXPECT_EQ(alloc::addresses_for(machine{1000}, {.pool_bytes = 10, .reserve_bytes = tib}), tib);
  EXPECT_EQ(alloc::addresses_for(machine{1000}, {.pool_bytes = tib, .reserve_bytes = 1}), tib);
  EXPECT_THROW((void)alloc::addresses_for(machine{1000}, {.pool_bytes = 10, .reserve_bytes = tib + 1}), error);
  EXPECT_THROW((void)alloc::addresses_for(machine{1000}, {.pool_bytes = tib + 1, .reserve_bytes = 1}), error);
  EXPECT_EQ(alloc::grown_size(10, 5), 15u);
  EXPECT_EQ(alloc::grown_size(SIZE_MAX - 6, 5), SIZE_MAX - 1);
  EXPECT_EQ(alloc::grown_size(SIZE_MAX - 5, 5), SIZE_MAX);
  EXPECT_EQ(alloc::grown_size(SIZE_MAX - 5, 6), SIZE_MAX);
}

TEST_F(extent, all_chunks_once) {
  std::uint32_t total = 0;
  for (std::uint32_t count = 1;; count = count % 7 + 1) {
    alloc::chunk_range const r = take(count);
    if (r.count == 0) break;
    total += r.count;
  }
  EXPECT_EQ(total, 80u);
  EXPECT_EQ(run(1), -1);
  pool_.check(carved_);
}

TEST_F(extent, grows_in_place) {
  std::byte* const base = pool_.base();
  EXPECT_EQ(run(10 * unit_bytes), 0);
  EXPECT_EQ(pool_.chunks_after(unit_bytes), 88u);
  EXPECT_EQ(pool_.chunks(), 80u);
  pool_.grow(unit_bytes + 1);  // rounded up
  EXPECT_EQ(pool_.base(), base);
  EXPECT_EQ(pool_.chunks(), 96u);
  pool_.check(carved_);
  EXPECT_EQ(run(3 * unit_bytes), -1);
  EXPECT_EQ(run(unit_bytes), 80);
  EXPECT_EQ(take(8).first, 88u);
  pool_.check(carved_);
  EXPECT_THROW(pool_.grow(9 * unit_bytes), error);
  EXPECT_EQ(pool_.chunks(), 96u);
  pool_.check(carved_);
  pool_.grow(8 * unit_bytes);
  EXPECT_EQ(pool_.bytes(), pool_.capacity());
  EXPECT_EQ(run(8 * unit_bytes), 96);
  EXPECT_TRUE(free(0));
  EXPECT_TRUE(free(80));
  EXPECT_EQ(run(11 * unit_bytes), 0);
  pool_.check(carved_);
}

// In a pool that is not used up, the rest of the window and the new chunks are one range.
TEST_F(extent, growth_extends_the_window) {
  (void)take(3);
  pool_.grow(unit_bytes);
  pool_.check(carved_);
  EXPECT_EQ(run(85 * chunk_bytes), 3);
  pool_.grow(unit_bytes);
  EXPECT_EQ(run(9 * chunk_bytes), -1);
  EXPECT_EQ(run(8 * chunk_bytes), 88);
  EXPECT_TRUE(free(3));
  EXPECT_EQ(take(1).first, 3u);  // a window that does not end where the pool does
  pool_.grow(unit_bytes);
  pool_.check(carved_);
  EXPECT_EQ(run(8 * chunk_bytes), 4);
  EXPECT_EQ(take(200).count, 76u);
  EXPECT_EQ(take(200).count, 8u);
  pool_.check(carved_);
}

// A request that was too large has moved the window to the tree. Growth uses no chunk, so the peak stays.
TEST_F(extent, growth_after_a_refusal) {
  (void)take(3);
  EXPECT_EQ(run(80 * chunk_bytes), -1);
  pool_.grow(unit_bytes);
  pool_.check(carved_);
  EXPECT_EQ(pool_.peak(), 3 * chunk_bytes);
  EXPECT_EQ(run(85 * chunk_bytes), 3);
  EXPECT_EQ(pool_.peak(), 88 * chunk_bytes);
  EXPECT_TRUE(free(3));
  EXPECT_EQ(take(80).first, 3u);
  pool_.check(carved_);
}

TEST_F(extent, reset_frees_everything) {
  (void)take(3);
  (void)run(3 * unit_bytes);
  pool_.reset();
  carved_.assign(carved_.size(), false);
  EXPECT_EQ(pool_.allocated(), 0u);
  EXPECT_EQ(pool_.peak(), 0u);
  pool_.check(carved_);
  EXPECT_EQ(run(10 * unit_bytes), 0);
}

TEST_F(extent, check_finds_lost_chunks_and_second_owners) {
  EXPECT_EQ(run(chunk_bytes), 0);
  (void)take(3);
  EXPECT_EQ(run(2 * chunk_bytes), 4);
  EXPECT_TRUE(free(0));
  pool_.check(carved_);
  std::vector<bool> wrong = carved_;
  wrong[2] = false;
  expect_corrupt(wrong, "chunk 2 has 0 owners");
  wrong = carved_;
  wrong[40] = true;  // in the window
  expect_corrupt(wrong, "chunk 40 has 2 owners");
  wrong = carved_;
  wrong[5] = true;  // in a run
  expect_corrupt(wrong, "chunk 5 has 2 owners");
  wrong = carved_;
  wrong[0] = true;  // in the tree
  expect_corrupt(wrong, "chunk 0 has 2 owners");
}

TEST_F(extent, a_pool_beyond_the_tree_is_refused) {
  using pool = alloc::extent<exec::host_space>;
  try {
    pool const p(space_, {.pool_bytes = unit_bytes, .reserve_bytes = (std::size_t{1} << 40) + unit_bytes});
    ADD_FAILURE() << "nothing was thrown";
  } catch (error const& e) {
    EXPECT_EQ(e.code(), error_code::out_of_memory);
  }
}

// A request for a run that does not fit moves the chunks of the window to the tree. A request for one chunk succeeds at
// every moment of that.
TEST_F(extent, chunks_are_available_while_the_window_is_returned) {
  alloc::extent_ref const memory = pool_.ref();
  std::size_t const rounds = scaled(200000, 20000);
  std::atomic<std::size_t> begun{0};
  std::atomic<std::size_t> done{0};
  std::thread other([&] {
    for (std::size_t i = 1; i <= rounds; ++i) {
      while (begun.load() < i) std::this_thread::yield();
      EXPECT_EQ(memory.allocate(10 * unit_bytes), nullptr);
      done.store(i);
    }
  });
  std::size_t refused = 0;
  for (std::size_t i = 1; i <= rounds; ++i) {
    pool_.reset();
    (void)memory.take_chunks(8);
    begun.store(i);
    for (std::size_t k = 0; k < i % 200; ++k) std::atomic_signal_fence(std::memory_order_seq_cst);  // some time
    refused += memory.take_chunks(1).count == 0;
    while (done.load() < i) std::this_thread::yield();
  }
  other.join();
  EXPECT_EQ(refused, 0u) << "requests for one chunk of 72, in " << rounds << " rounds";
}

// Tiles take chunks, and allocate and free runs, at the same time. No chunk is taken twice.
struct take_and_run {
  alloc::extent_ref memory;
  std::uint32_t* owners;  // per chunk: how often it was taken
  std::uint32_t* broken;  // runs that another lane wrote to, or that could not be freed

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i) const {
    if (t.rank() == 0) {
      alloc::chunk_range const r = memory.take_chunks(1 + static_cast<std::uint32_t>(i % 3));
      for (std::uint32_t c = r.first; c < r.first + r.count; ++c)
        exec::atomic_ref<std::uint32_t>(owners[c]).fetch_add(1, exec::relaxed);
    }
    t.sync();
    for (unsigned round = 0; round < 4; ++round) {
      std::uint64_t const tag = i * 1000 + t.rank() * 10 + round;
      alloc::extent_ref::one_by_one(t, t.ballot(t.rank() % 4 == round), [&] {
        auto* const words = static_cast<std::uint64_t*>(memory.allocate(unit_bytes * (1 + (i + round) % 3)));
        if (words == nullptr) return;
        *words = tag;
        exec::pause(0);
        if (*words != tag || !memory.free(words)) exec::atomic_ref<std::uint32_t>(*broken).fetch_add(1, exec::relaxed);
      });
    }
  }
};

template <class Space>
class shared_extent : public space_test<Space> {};
using spaces = ::testing::Types<exec::host_space, simt_space>;
TYPED_TEST_SUITE(shared_extent, spaces, by_name);

TYPED_TEST(shared_extent, chunks_and_runs_at_the_same_time) {
  for (std::uint64_t seed = 1; seed <= scaled(20, 3); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    TypeParam const space = make_space<TypeParam>(seed);
    alloc::extent<TypeParam> pool(space, {.pool_bytes = 30 * unit_bytes, .reserve_bytes = 40 * unit_bytes});
    exec::buffer<std::uint32_t, TypeParam> owners(space, pool.chunks() + 1);
    space.fill(owners.data(), 0, owners.bytes());
    std::size_t const tiles = 100;
    exec::for_each_tile<32>(space, tiles, take_and_run{pool.ref(), owners.data(), owners.data() + pool.chunks()});
    std::vector<std::uint32_t> const taken = exec::copy_out(space, owners.data(), owners.size());
    EXPECT_EQ(taken.back(), 0u) << "runs that another lane wrote to, or that could not be freed";
    std::vector<bool> carved;
    for (std::uint32_t c = 0; c < pool.chunks(); ++c) {
      ASSERT_LE(taken[c], 1u) << "chunk " << c;
      carved.push_back(taken[c] == 1);
    }
    EXPECT_EQ(pool.runs(), 0u);
    pool.check(carved);
  }
}

}  // namespace wyrm::tests
