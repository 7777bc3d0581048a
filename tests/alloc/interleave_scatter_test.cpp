// SPDX-License-Identifier: Apache-2.0
// ScatterAlloc in every interleaving of a few threads with a few preemptions: first the pages alone, in tables of the
// test, then a small pool.
#include "../support/interleave.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "../../alloc/scatter/scatter.hpp"
#include "../../exec/host_space.hpp"
#include "../support/spaces.hpp"

namespace wyrm::tests {
namespace {

using alloc::count_pair;
using alloc::page_word;
using alloc::spot_request;
using exec::scalar_tile;
using host = exec::host_space;

struct spot {
  std::uint32_t page;
  std::uint32_t number;
  std::uint32_t spots;  // of the page
};

// Eight pages in two super blocks of one region of four pages.
class small_table {
 public:
  static constexpr std::uint32_t pages = 8;

  explicit small_table(std::uint32_t page_log2)
      : shape_{page_log2, 2, 1, 1, 1, 512},
        memory_(std::size_t{pages} << page_log2),
        words_(pages),
        fields_(pages * shape_.words()),
        regions_(pages / 4),
        blocks_(pages / 4) {}
  small_table(small_table const&) = delete;
  small_table& operator=(small_table const&) = delete;

  [[nodiscard]] alloc::pages_ref ref() {
    return {shape_, memory_.data(), words_.data(), fields_.data(), regions_.data(), blocks_.data()};
  }
  [[nodiscard]] page_word word(std::uint32_t page) const { return page_word(words_[page]); }
  void open(std::uint32_t first, std::uint32_t count) { ref().open(scalar_tile{}, first, count); }

  // Up to n spots for requests of this size, on this page, which looked like `seen`.
  std::vector<spot> take(std::uint32_t page, page_word seen, std::uint32_t bytes, std::uint32_t n = 1) {
    return mark(page, ref().reserve(page, seen, n, spot_request::of(shape_, bytes, 16)), n);
  }
  std::vector<spot> take_unseen(std::uint32_t page, std::uint32_t bytes, std::uint32_t n = 1) {
    return mark(page, ref().reserve_unseen(page, n, spot_request::of(shape_, bytes, 16)), n);
  }
  // The spots that were reserved on this page, which was `before`.
  std::vector<spot> mark(std::uint32_t page, page_word before, std::uint32_t n) {
    if (before.is_closed()) return {};
    std::uint32_t const count = std::min(n, before.spots() - before.count());
    std::vector<spot> mine;
    // As many as are in one word of the bit field are marked together.
    for (std::uint32_t k = 0; k < count;) {
      std::uint32_t const start = before.count() + k;
      std::uint32_t const together = std::min(count - k, 32 - start % 32);
      std::uint32_t const used = ref().mark_all(page, start, together);
      for (std::uint32_t i = start; i < start + together; ++i) {
        bool const is_taken = (used >> i % 32 & 1) != 0;
        mine.push_back({page, is_taken ? ref().mark(page, i, before.spots()) : i, before.spots()});
      }
      k += together;
    }
    for (spot const& s : mine) use(s);
    return mine;
  }
  std::vector<spot> take(std::uint32_t page, std::uint32_t bytes, std::uint32_t n = 1) {
    return take(page, ref().word(page), bytes, n);
  }
  // Returns whether nothing of the page was used any more.
  bool give(spot const& s) {
    use(s);
    exec::release_fence();
    EXPECT_TRUE(ref().clear(s.page, s.number));
    return ref().release(s.page, 1);
  }
  bool close(std::uint32_t page) {
    bool const is_closed = ref().close(page);
    if (is_closed) use({page, 0, 1});
    return is_closed;
  }

  // `live`: all spots that threads have.
  void verify(std::vector<spot> const& live) const {
    std::vector<std::uint32_t> counts(pages);
    std::vector<bool> used(pages * shape_.page_units());
    for (spot const& s : live) {
      EXPECT_EQ(s.spots, word(s.page).spots()) << "page " << s.page << " was split anew although a spot was used";
      EXPECT_LT(s.number, s.spots);
      ++counts[s.page];
      EXPECT_NE(fields_[s.page * shape_.words() + s.number / 32] >> s.number % 32 & 1, 0u);
      std::uint32_t const units = shape_.spot_units(s.spots);
      for (std::uint32_t u = s.number * units; u < (s.number + 1) * units; ++u) {
        EXPECT_FALSE(used[s.page * shape_.page_units() + u]) << "page " << s.page << ": a spot has two owners";
        used[s.page * shape_.page_units() + u] = true;
      }
    }
    std::vector<count_pair> regions(regions_.size());
    for (std::uint32_t page = 0; page < pages; ++page) {
      std::uint32_t bits = 0;
      for (std::uint32_t k = 0; k < shape_.words(); ++k)
        bits += static_cast<std::uint32_t>(std::popcount(fields_[page * shape_.words() + k]));
      EXPECT_EQ(bits, counts[page]) << "page " << page;
      EXPECT_EQ(word(page).count(), counts[page]) << "page " << page;
      regions[page / 4].usable += word(page).is_usable();
      regions[page / 4].empty += word(page).is_empty();
    }
    for (std::size_t k = 0; k < regions.size(); ++k) {
      count_pair const found = count_pair::of(regions_[k]);
      EXPECT_EQ(found.usable, regions[k].usable) << "region " << k;
      EXPECT_EQ(found.empty, regions[k].empty) << "region " << k;
      count_pair const of_block = count_pair::of(blocks_[k]);
      EXPECT_EQ(of_block.usable, regions[k].usable > 0) << "super block " << k;
      EXPECT_EQ(of_block.empty, regions[k].empty >= shape_.room()) << "super block " << k;
    }
  }

 private:
  void use(spot const& s) { touch(ref().address(s.page, s.number, s.spots), shape_.spot_units(s.spots) * 16); }

  alloc::scatter_shape shape_;
  std::vector<std::byte> memory_;
  std::vector<std::uint64_t> words_;
  std::vector<std::uint32_t> fields_;
  std::vector<std::uint64_t> regions_;
  std::vector<std::uint64_t> blocks_;
};

// The tables, the spots that are used before the threads begin, and what each thread has got.
struct stage {
  explicit stage(std::uint32_t page_log2) : table(page_log2) {}
  small_table table;
  std::vector<spot> before;
  std::vector<bool> given;  // of `before`
  std::vector<std::vector<spot>> got;
  std::vector<int> done;  // what a thread has counted

  void give(std::size_t k) {
    given[k] = true;
    (void)table.give(before[k]);
  }
  [[nodiscard]] std::vector<spot> live() const {
    std::vector<spot> all;
    for (std::size_t k = 0; k < before.size(); ++k)
      if (!given[k]) all.push_back(before[k]);
    for (std::vector<spot> const& mine : got) all.insert(all.end(), mine.begin(), mine.end());
    return all;
  }
  [[nodiscard]] std::size_t served() const {
    std::size_t n = 0;
    for (std::vector<spot> const& mine : got) n += mine.size();
    return n;
  }
};

struct page_scenario {
  std::function<void(stage&)> prepare;
  std::vector<std::function<void(stage&, std::size_t self)>> threads;
  std::function<void(stage const&)> expect;
  std::uint32_t page_log2 = 9;
};

void explore(page_scenario const& s, unsigned preemptions = 4) {
  std::unique_ptr<stage> now;
  auto const make = [&] {
    now = std::make_unique<stage>(s.page_log2);
    s.prepare(*now);
    now->given.assign(now->before.size(), false);
    now->got.resize(s.threads.size());
    now->done.resize(s.threads.size());
    std::vector<std::function<void()>> bodies;
    for (std::size_t i = 0; i < s.threads.size(); ++i) bodies.emplace_back([&, i] { s.threads[i](*now, i); });
    return bodies;
  };
  auto const check = [&] {
    now->table.verify(now->live());
    s.expect(*now);
    return !testing::Test::HasFailure();
  };
  std::size_t const n = interleavings(preemptions, scaled(80, 20)).explore(make, check);
  EXPECT_GT(n, 20u) << (n == 0 ? "a thread waits for ever" : "there are more interleavings");
}

// Threads of scenarios.
auto takes(std::uint32_t page, std::uint32_t bytes, std::uint32_t n = 1) {
  return [=](stage& s, std::size_t self) { s.got[self] = s.table.take(page, bytes, n); };
}
// The page looked like `seen` some time ago.
auto takes_late(std::uint32_t page, page_word seen, std::uint32_t bytes, std::uint32_t n = 1) {
  return [=](stage& s, std::size_t self) { s.got[self] = s.table.take(page, seen, bytes, n); };
}
auto takes_unseen(std::uint32_t page, std::uint32_t bytes, std::uint32_t n = 1) {
  return [=](stage& s, std::size_t self) { s.got[self] = s.table.take_unseen(page, bytes, n); };
}
auto gives(std::size_t k) {
  return [=](stage& s, std::size_t) { s.give(k); };
}
auto closes(std::uint32_t page) {
  return [=](stage& s, std::size_t self) { s.done[self] = s.table.close(page); };
}
auto closes_and_opens(std::uint32_t page) {
  return [=](stage& s, std::size_t self) {
    s.done[self] = s.table.close(page);
    if (s.done[self] != 0) s.table.open(page, 1);
  };
}
// Opens some pages, and uses `n` spots of page 0.
auto opened(std::uint32_t pages, std::uint32_t bytes, std::uint32_t n) {
  return [=](stage& s) {
    s.table.open(0, pages);
    if (n > 0) s.before = s.table.take(0, bytes, n);
    EXPECT_EQ(s.before.size(), n);
  };
}
auto serves(std::size_t least, std::size_t most) {
  return [=](stage const& s) {
    EXPECT_GE(s.served(), least);
    EXPECT_LE(s.served(), most);
  };
}

TEST(interleave_scatter, the_last_free_spot) {
  explore({opened(1, 256, 1), {takes(0, 256), takes(0, 256)}, serves(1, 1)}, 6);
  explore({opened(1, 256, 1), {takes(0, 256), takes(0, 256), takes(0, 256)}, serves(1, 1)}, 2);
  explore({opened(1, 256, 1), {takes(0, 256), takes(0, 256), gives(0)}, serves(1, 2)});
  explore({opened(1, 128, 2), {takes(0, 128), takes(0, 128), gives(1)}, serves(2, 2)});
}

TEST(interleave_scatter, the_last_used_spot) {
  explore({opened(1, 64, 1), {gives(0), takes(0, 64)}, serves(1, 1)}, 6);
  explore({opened(1, 64, 1), {gives(0), takes(0, 64), takes(0, 64)}, serves(2, 2)});
  explore({opened(1, 64, 2), {gives(0), gives(1), takes(0, 64)}, serves(1, 1)});
  explore({opened(1, 512, 1), {gives(0), takes(0, 512), takes(0, 512)}, serves(0, 1)});
}

// One thread requests spots of another size than that of the page, which it splits anew if nothing is used.
TEST(interleave_scatter, an_empty_page_is_split_anew) {
  explore({opened(1, 64, 1), {gives(0), takes(0, 64), takes(0, 512)}, serves(1, 1)});
  explore({opened(1, 64, 1), {gives(0), takes(0, 16), takes(0, 512)}, serves(0, 1)});
  explore({opened(1, 64, 1), {gives(0), takes(0, 64, 3), takes(0, 256, 2)}, serves(2, 3)});
  explore({opened(1, 64, 0), {takes(0, 16, 2), takes(0, 128), takes(0, 512)}, serves(1, 2)});
  page_word const old = page_word::split(8, 0);
  explore({opened(1, 64, 1), {gives(0), takes_late(0, old, 64), takes(0, 512)}, serves(1, 1)});
  explore({opened(1, 64, 1), {gives(0), takes_late(0, old, 64, 8), takes_late(0, old, 256, 2)}, serves(1, 8)});
  explore({opened(1, 512, 1), {gives(0), takes_late(0, old, 64), takes_late(0, old, 128, 2)}, serves(0, 2)});
}

// The page is full, but the threads do not know it yet.
TEST(interleave_scatter, an_addition_is_taken_back) {
  page_word const empty = page_word::split(1, 0);
  page_word const half = page_word::split(2, 1);
  explore({opened(1, 512, 1), {takes_late(0, empty, 512), gives(0)}, serves(0, 1)}, 6);
  explore({opened(1, 512, 1), {takes_late(0, empty, 512), takes_late(0, empty, 512), gives(0)}, serves(0, 1)});
  explore({opened(1, 256, 2), {takes_late(0, half, 256), takes_late(0, half, 256, 2), gives(0)}, serves(0, 1)});
  explore({opened(1, 256, 2), {takes_late(0, half, 256), gives(0), gives(1)}, serves(0, 1)});
  explore({opened(2, 256, 2), {takes_late(0, half, 256, 5), gives(0), takes(0, 512)}, serves(0, 1)});
}

TEST(interleave_scatter, a_page_is_closed_or_reserved) {
  auto const one_of_them = [](stage const& s) {
    int const closed = s.done[0] + s.done[1] + s.done[2];
    EXPECT_LE(closed, 1);
    EXPECT_EQ(s.table.word(0).is_closed(), closed == 1);
    EXPECT_TRUE(closed == 0 || s.served() == 0);
  };
  explore({opened(1, 64, 0), {closes(0), takes(0, 64), takes(0, 512)}, [&](stage const& s) {
             one_of_them(s);
             EXPECT_EQ(s.served() + static_cast<std::size_t>(s.done[0]), 1u);
           }});
  explore({opened(1, 64, 1), {closes(0), gives(0), takes(0, 64)}, one_of_them});
  explore({opened(1, 512, 1), {closes(0), gives(0), closes(0)}, one_of_them});
  explore({opened(2, 512, 1), {closes(0), gives(0), takes_late(0, page_word::split(1, 0), 512)}, one_of_them});
}

// A thread that does not know yet that the page has been closed adds to its count, also while it is opened again.
TEST(interleave_scatter, a_page_is_opened_again) {
  explore({opened(1, 64, 0), {closes_and_opens(0), takes(0, 512)}, serves(0, 1)});
  explore({opened(1, 64, 1), {closes_and_opens(0), gives(0), takes(0, 64)}, serves(0, 1)});
  explore({opened(1, 64, 0), {closes_and_opens(0), takes_late(0, page_word::split(8, 3), 64, 2)}, serves(0, 2)});
  explore({opened(2, 512, 1), {closes_and_opens(0), gives(0), takes(0, 512)}, serves(0, 1)});
  auto const all_closed = [](stage&) {};
  auto const opens = [](stage& s, std::size_t) { s.table.open(2, 4); };
  page_word const old = page_word::split(4, 1);
  explore({all_closed, {opens, takes_late(2, old, 128), takes_late(5, old, 128, 3)}, serves(0, 0)});
  explore({all_closed, {opens, takes(3, 512), takes(3, 16, 2)}, serves(0, 2)});
}

TEST(interleave_scatter, several_spots_at_once) {
  explore({opened(1, 128, 1), {takes(0, 128, 5), takes(0, 128)}, serves(3, 3)}, 6);
  explore({opened(1, 64, 5), {takes(0, 64, 5), takes(0, 64, 2), gives(2)}, serves(3, 4)});
  explore({opened(1, 64, 6), {takes(0, 64, 2), gives(0), gives(3)}, serves(2, 2)});
  // Pages of two words of bits.
  explore({opened(1, 16, 30), {takes(0, 16, 4), takes(0, 16, 3), gives(30 - 1)}, serves(7, 7), 10}, 2);
  explore({opened(1, 16, 61), {takes(0, 16, 8), gives(0), takes(0, 16)}, serves(3, 4), 10}, 2);
  explore({opened(1, 16, 63), {takes(0, 16, 2), gives(0), gives(40)}, serves(1, 2), 10}, 2);
}

// A warp takes spots where it had some before, whatever has happened to the page since.
TEST(interleave_scatter, spots_are_taken_unseen) {
  explore({opened(1, 64, 1), {gives(0), takes_unseen(0, 64, 3), takes(0, 64)}, serves(4, 4)});
  explore({opened(1, 64, 6), {takes_unseen(0, 64, 4), takes_unseen(0, 64), gives(0)}, serves(2, 3)});
  explore({opened(1, 64, 1), {gives(0), takes_unseen(0, 128, 2), takes(0, 512)}, serves(0, 2)});
  explore({opened(1, 512, 1), {gives(0), takes_unseen(0, 64, 2), takes_unseen(0, 128)}, serves(0, 0)});
  explore({opened(1, 512, 0), {takes_unseen(0, 64, 2), takes(0, 64)}, serves(0, 3)}, 6);
  explore({opened(1, 64, 1), {closes_and_opens(0), gives(0), takes_unseen(0, 64)}, serves(0, 1)});
  explore({opened(1, 64, 0), {closes(0), takes_unseen(0, 64), takes_unseen(0, 512)}, serves(0, 1)});
  auto const all_closed = [](stage&) {};
  auto const opens = [](stage& s, std::size_t) { s.table.open(2, 4); };
  explore({all_closed, {opens, takes_unseen(2, 128), takes_unseen(5, 512, 3)}, serves(0, 1)});
}

// The counts of the super block change with those of its region.
TEST(interleave_scatter, the_counts_of_a_region) {
  auto const full_region = [](stage& s) {
    s.table.open(0, 4);
    for (std::uint32_t page = 0; page < 4; ++page) s.before.push_back(s.table.take(page, 512).front());
  };
  explore({full_region, {gives(0), gives(1), takes(0, 512)}, serves(0, 1)});
  explore({full_region, {gives(0), takes(0, 16, 32), gives(3)}, serves(0, 32)}, 2);
  explore({opened(4, 512, 0), {takes(0, 512), takes(1, 512), closes(2)}, serves(2, 2)});
  explore({opened(2, 512, 1), {gives(0), takes(1, 512), closes(0)}, serves(1, 1)});
}

// A pool of eight chunks, each of which has 16 pages and is a super block. The pool begins with blocks of these sizes,
// in the order of their addresses, runs last, without those of `freed`. Then each thread performs its actions: it
// requests so many bytes or, if negative, frees block -1, -2, ...
constexpr int pool_bytes = 64 << 10;
struct pool_scenario {
  std::vector<int> blocks;
  std::vector<int> freed;
  std::vector<std::vector<int>> threads;
  std::size_t least;  // requests served
  std::size_t most;
};

class pool_under_test {
  struct answer {
    std::byte* p;
    std::size_t bytes;
  };

 public:
  explicit pool_under_test(pool_scenario const& s) : scenario_(s), answers_(s.threads.size()) {
    pool().reset();
    for (int const bytes : s.blocks) {
      blocks_.push_back(allocate(bytes));
      if (blocks_.back().p == nullptr) ADD_FAILURE() << "the scenario takes more than there is";
    }
    std::sort(blocks_.begin(), blocks_.end(), [](answer const& a, answer const& b) {
      bool const a_is_run = a.bytes > 8192;
      bool const b_is_run = b.bytes > 8192;
      return a_is_run != b_is_run ? b_is_run : a.p < b.p;
    });
    for (int const number : s.freed) free(number);
  }
  std::vector<std::function<void()>> threads() {
    std::vector<std::function<void()>> all;
    for (std::size_t i = 0; i < answers_.size(); ++i)
      all.emplace_back([this, i] {
        for (int const action : scenario_.threads[i]) {
          if (action < 0)
            free(action);
          else
            answers_[i].push_back(allocate(action));
        }
      });
    return all;
  }
  void verify() {
    EXPECT_NO_THROW(pool().check());
    std::vector<answer> live;
    for (std::vector<answer> const& mine : answers_)
      for (answer const& a : mine)
        if (a.p != nullptr) live.push_back(a);
    EXPECT_GE(live.size(), scenario_.least);
    EXPECT_LE(live.size(), scenario_.most);
    for (answer const& a : blocks_)
      if (a.p != nullptr) live.push_back(a);
    std::sort(live.begin(), live.end(), [](answer const& a, answer const& b) { return a.p < b.p; });
    for (std::size_t k = 1; k < live.size(); ++k) EXPECT_LE(live[k - 1].p + live[k - 1].bytes, live[k].p);
    // When all is freed, the whole pool is one block.
    for (answer const& a : live) pool().ref().free(a.p);
    void* const whole = pool().ref().malloc(pool_bytes);
    EXPECT_NE(whole, nullptr);
  }

  static alloc::scatteralloc<host>& pool() {
    static alloc::scatteralloc<host> one(
        host(1), {.pool_bytes = pool_bytes, .reserve_bytes = pool_bytes, .checked = true, .guards = false},
        {.page_bytes = 512, .region_pages = 4, .super_block_bytes = 8192});
    return one;
  }

 private:
  static answer allocate(int bytes) {
    auto const n = static_cast<std::size_t>(bytes);
    auto* const p = static_cast<std::byte*>(pool().ref().malloc(n));
    if (p != nullptr) touch(p, n);
    return {p, n};
  }
  void free(int number) {
    answer& a = blocks_[static_cast<std::size_t>(-number - 1)];
    touch(a.p, a.bytes);
    pool().ref().free(a.p);
    a.p = nullptr;
  }

  pool_scenario scenario_;
  std::vector<answer> blocks_;
  std::vector<std::vector<answer>> answers_;
};

void explore(pool_scenario const& s, unsigned preemptions = 2, std::size_t horizon = 60) {
  std::string name;
  for (std::vector<int> const& actions : s.threads) {
    name += " |";
    for (int const action : actions) name += " " + std::to_string(action);
  }
  SCOPED_TRACE(name + "; " + std::to_string(s.blocks.size()) + " blocks, " + std::to_string(s.freed.size()) + " freed");
  std::unique_ptr<pool_under_test> p;
  std::size_t const n = interleavings(preemptions, scaled(horizon, 15))
                            .explore(
                                [&] {
                                  p = std::make_unique<pool_under_test>(s);
                                  return p->threads();
                                },
                                [&] {
                                  p->verify();
                                  return !testing::Test::HasFailure();
                                });
  EXPECT_GT(n, 20u) << (n == 0 ? "a thread waits for ever" : "there are more interleavings");
}

// Two chunks in pages of this size, and one run of the other six.
std::vector<int> two_chunks_of(int bytes) {
  std::vector<int> all{6 * 8192};  // first, as requests for pages may open more chunks than they need
  all.insert(all.end(), static_cast<std::size_t>(16384 / bytes), bytes);
  return all;
}

TEST(interleave_scatter, a_pool_has_room_for_all) {
  explore({{}, {}, {{100}, {100}, {2000}}, 3, 3});
  explore({{}, {}, {{512}, {16, 300}}, 3, 3}, 3, 40);
  explore({{64, 64}, {}, {{-1, 512}, {64, -2}}, 2, 2}, 3, 40);
  explore({{512}, {}, {{-1, 16}, {512, 512}}, 3, 3}, 3, 40);
  explore({{}, {}, {{9000}, {100}, {30000}}, 3, 3});
}

TEST(interleave_scatter, a_pool_is_used_up) {
  std::vector<int> const full = two_chunks_of(512);
  explore({full, {}, {{-5}, {512}}, 0, 1}, 2, 120);
  explore({full, {-5}, {{512}, {512}}, 1, 1}, 2, 120);
  explore({full, {-5}, {{512}, {-20, 512}}, 2, 2}, 2, 120);
  explore({full, {-5, -20}, {{512}, {16}, {300}}, 2, 2}, 1, 300);
  explore({full, {-5}, {{16, 16}, {512}}, 1, 2}, 2, 120);
}

// A large request takes the empty pages of a chunk, or is refused.
TEST(interleave_scatter, pages_become_a_run) {
  std::vector<int> const full = two_chunks_of(512);
  std::vector<int> first;
  for (int k = 1; k <= 16; ++k) first.push_back(-k);
  std::vector<int> all_but_one = first;
  all_but_one.pop_back();
  explore({full, all_but_one, {{-16}, {8192}}, 0, 1}, 2, 120);
  explore({full, first, {{8192}, {512}}, 1, 2}, 2, 120);
  explore({full, first, {{8192}, {8192}}, 1, 1}, 2, 120);
  explore({full, first, {{8192}, {512}, {16}}, 1, 3}, 1, 300);
  explore({full, all_but_one, {{-16, 512}, {8192}, {512}}, 1, 3}, 1, 300);
}

// A large request finds no chunk of which nothing is used: it closes pages, and opens them again.
TEST(interleave_scatter, pages_are_closed_in_vain) {
  std::vector<int> const full = two_chunks_of(512);
  explore({full, {-1}, {{512}, {8192}}, 0, 1}, 3, 100);
  explore({full, {-1, -2}, {{512}, {8192}}, 0, 1}, 3, 100);
}
// Meanwhile there is a page for the small request all the time.
TEST(interleave_scatter, a_chunk_that_is_used_stays_open) {
  std::vector<int> const full = two_chunks_of(512);
  explore({full, {-1}, {{512}, {8192}}, 1, 1}, 1, 300);
  explore({full, {-1, -2, -3}, {{512}, {8192}}, 1, 1}, 1, 300);
}

// The run is freed, and its chunks become pages.
TEST(interleave_scatter, a_run_becomes_pages) {
  std::vector<int> const full = two_chunks_of(512);
  explore({full, {}, {{-33}, {512}}, 0, 1}, 2, 120);
  explore({full, {-33}, {{512}, {64}}, 2, 2}, 2, 120);
  explore({full, {-33}, {{512}, {40000}, {64}}, 2, 3}, 1, 300);
  explore({full, {}, {{-33}, {8192, 512}, {512}}, 0, 3}, 1, 300);
}

// Two requests, each of which there is room for, after `prepare` has reset the pool and left hints of earlier requests.
void explore_two(std::function<void()> const& prepare, std::size_t first, std::size_t second) {
  auto& pool = pool_under_test::pool();
  std::size_t const bytes[] = {first, second};
  void* got[2];
  auto const make = [&] {
    pool.reset();
    prepare();
    std::vector<std::function<void()>> threads;
    for (std::size_t i = 0; i < 2; ++i)
      threads.emplace_back([&, i] {
        got[i] = pool.ref().malloc(bytes[i]);
        if (got[i] != nullptr) touch(static_cast<std::byte*>(got[i]), bytes[i]);
      });
    return threads;
  };
  auto const check = [&] {
    EXPECT_NE(got[0], nullptr);
    EXPECT_NE(got[1], nullptr);
    EXPECT_NO_THROW(pool.check());
    return !testing::Test::HasFailure();
  };
  EXPECT_GT(interleavings(2, scaled(60, 20)).explore(make, check), 20u);
}

std::uintptr_t page_of(void* p) { return reinterpret_cast<std::uintptr_t>(p) / 512; }
void* malloc_here(std::size_t bytes) { return pool_under_test::pool().ref().malloc(bytes); }
void free_here(void* p) { pool_under_test::pool().ref().free(p); }

// The page of the last request of 64 bytes has been split anew, and has one spot, for 16 bytes. The pool is full
// otherwise, but for a spot for 64 bytes on a page for 80.
TEST(interleave_scatter, a_stale_hint_hides_no_spot) {
  auto const prepare = [] {
    ASSERT_NE(malloc_here(6 * 8192), nullptr);
    for (int k = 0; k < 16; ++k) ASSERT_NE(malloc_here(512), nullptr);  // the first super block
    void* const other = malloc_here(64);
    void* const last = malloc_here(64);
    ASSERT_EQ(page_of(other), page_of(last));
    ASSERT_NE(page_of(malloc_here(80)), page_of(last));
    free_here(other);
    free_here(last);
    void* at_last = nullptr;
    for (void* p = malloc_here(512); p != nullptr; p = malloc_here(512))
      if (page_of(p) == page_of(last)) at_last = p;
    ASSERT_NE(at_last, nullptr);
    free_here(at_last);
    for (int k = 0; k < 31; ++k) ASSERT_EQ(page_of(malloc_here(16)), page_of(last));
  };
  explore_two(prepare, 16, 64);
}

// The same, with many free pages, so that a thread adds to the page of its hint.
TEST(interleave_scatter, a_hint_is_a_page_with_another_split) {
  auto const prepare = [] {
    void* const last = malloc_here(64);
    free_here(last);
    while (page_of(malloc_here(16)) != page_of(last)) continue;
  };
  explore_two(prepare, 64, 64);
  explore_two(prepare, 64, 16);
}

TEST(interleave_scatter, a_hint_is_a_part_of_a_run) {
  auto const prepare = [] {
    void* const last = malloc_here(64);
    free_here(last);
    pool_under_test::pool().compact();
    std::vector<std::byte*> others;
    auto* run = static_cast<std::byte*>(malloc_here(8192));
    for (; run != nullptr && page_of(run) / 16 != page_of(last) / 16; run = static_cast<std::byte*>(malloc_here(8192)))
      others.push_back(run);
    ASSERT_NE(run, nullptr) << "no run has the page";
    for (std::byte* p : others) free_here(p);
  };
  explore_two(prepare, 64, 64);
}

}  // namespace
}  // namespace wyrm::tests
