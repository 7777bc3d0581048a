// SPDX-License-Identifier: Apache-2.0
// What owners say of themselves. Each part of check() gets a sound state, and then the same state with one planted
// defect, which it must name. The overhead in statistics is compared with the memory that the owner has allocated.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "../../alloc/registry.hpp"
#include "../../exec/host_space.hpp"
#include "../support/corrupt.hpp"
#include "tested_allocators.hpp"

namespace wyrm::tests {
namespace {

using host = exec::host_space;
using alloc::chunk_bytes;

// Chunks 0 to 2 are of a class with four pages per chunk: two are free, none, all. Chunk 3 has left the class, and its
// entry is stale.
struct chunks_of_a_class {
  static constexpr unsigned c = alloc::detail::class_for(2048);
  using word = alloc::detail::chunk_word;
  std::vector<std::uint64_t> words{word::owner(c) | word::queued(c) | 2, word::owner(c),
                                   word::owner(c) | word::queued(c) | word::hinted | 4, word::queued(c)};
  std::vector<std::uint64_t> masks = std::vector<std::uint64_t>(4 * alloc::detail::mask_words);
  std::vector<std::uint32_t> uses{c, c, c, alloc::chunk_of_no_class};
  std::vector<std::uint64_t> entries{2, 3, 0};
  std::vector<std::uint64_t> hints{2};
  std::uint32_t pages = 6;
  std::int32_t stale = 1;
  std::vector<std::uint64_t> taken;

  chunks_of_a_class() {
    masks[0] = 0b1001;
    masks[2 * alloc::detail::mask_words] = 0b1111;
  }
  std::uint64_t check() {
    alloc::detail::chunk_queue_state queue{};
    queue.stale = stale;
    alloc::detail::page_class_state<alloc::page_counts> state{};
    (void)state.pages.claim_back(pages);
    std::string const what = "class: ";
    alloc::detail::chunk_check const all{"who", what, c, words, masks};
    return all.check(queue, entries, uses, state, [&](std::uint64_t page, char const*) { taken.push_back(page); });
  }
  void check_hints() { alloc::detail::check_hints("who", words, masks, hints); }
};

TEST(check, chunks_of_a_class) {
  using word = alloc::detail::chunk_word;
  constexpr unsigned c = chunks_of_a_class::c;
  chunks_of_a_class sound;
  EXPECT_EQ(sound.check(), 1u);
  EXPECT_EQ(sound.taken, (std::vector<std::uint64_t>{0, 3, 8, 9, 10, 11}));
  auto const expect = [](std::string const& what, auto const& damage) {
    chunks_of_a_class all;
    damage(all);
    expect_corrupt(what, [&] { (void)all.check(); });
  };
  using state = chunks_of_a_class;
  expect("chunk 0 is queued, but its word says that it is not", [](state& s) { s.words[0] &= ~word::queued(c); });
  expect("chunk 1 is not queued, but its word says that it is", [](state& s) { s.words[1] |= word::queued(c); });
  expect("chunk 0 is queued twice", [](state& s) { s.entries.push_back(0); });
  expect("a queued chunk is not of the pool", [](state& s) { s.entries.push_back(4); });
  expect("chunk 1 is used for something else", [](state& s) { s.uses[1] = c + 1; });
  expect("6 pages are free, but 5 are counted", [](state& s) { s.pages = 5; });
  expect("6 pages are free, but 7 are counted", [](state& s) { s.pages = 7; });
  expect("1 entries are stale, but 0 are counted", [](state& s) { s.stale = 0; });
  expect("0 entries are stale, but 1 are counted",
         [](state& s) { s.entries.erase(s.entries.begin() + 1), s.words[3] = 0; });
  expect("chunk 0 has 1 free pages, but counts 2", [](state& s) { s.masks[0] = 0b1000; });
  expect("chunk 0 has free pages, but is not of the class", [](state& s) { s.words[0] += std::uint64_t{1} << 16; });
  expect("chunk 1 has free pages, but is not queued", [](state& s) { s.masks[8] = 0b0100, ++s.words[1], ++s.pages; });
  expect("chunk 2 is free without a hint", [](state& s) { s.words[2] &= ~word::hinted; });
}

// Classes of whole chunks have one bit in common. Chunk 0 is of the class and free; chunk 1 is of another class, and in
// the queue of that class.
TEST(check, chunks_that_are_pages) {
  using word = alloc::detail::chunk_word;
  constexpr unsigned c = alloc::detail::class_for(chunk_bytes);
  auto const check = [](std::uint64_t first, std::vector<std::uint64_t> const& entries) {
    std::vector<std::uint64_t> masks(2 * alloc::detail::mask_words);
    masks[0] = 1;
    alloc::detail::page_class_state<alloc::page_counts> state{};
    (void)state.pages.claim_back(1);
    std::string const what = "class: ";
    alloc::detail::chunk_check const all{"who", what, c, {first, word::owner(c + 1) | word::queued(c + 1) | 1}, masks};
    std::vector<std::uint64_t> taken;
    (void)all.check({}, entries, {c, c + 1}, state, [&](std::uint64_t page, char const*) { taken.push_back(page); });
    EXPECT_EQ(taken, std::vector<std::uint64_t>{0});
  };
  EXPECT_NO_THROW(check(word::owner(c) | word::queued(c) | 1, {0}));
  expect_corrupt("chunk 0 is queued, but its word says that it is not", [&] { check(word::owner(c) | 1, {0}); });
  expect_corrupt("chunk 0 is not queued, but its word says that it is",
                 [&] { check(word::owner(c) | word::queued(c) | 1, {}); });
}

TEST(check, hints) {
  chunks_of_a_class sound;
  EXPECT_NO_THROW(sound.check_hints());
  auto const expect = [](std::string const& what, auto const& damage) {
    chunks_of_a_class all;
    damage(all);
    expect_corrupt(what, [&] { all.check_hints(); });
  };
  using state = chunks_of_a_class;
  expect("a hint is in the ring twice", [](state& s) { s.hints.push_back(2); });
  expect("a hint is in the ring twice", [](state& s) { s.hints.push_back(4); });
  expect("a hint is lost", [](state& s) { s.hints.clear(); });
  expect("chunk 3 has free pages, but no class", [](state& s) { s.masks.back() = 1; });
}

// A page of two chunks, one chunk in the reuse queue, one page, and at the end another page of two chunks.
TEST(check, chunks_of_a_pool) {
  alloc::chunk_pool<host> pool(host(1), {.pool_bytes = 8 * chunk_bytes, .reserve_bytes = 8 * chunk_bytes});
  ASSERT_EQ(pool.ref().take(8).count, 8u);
  for (std::uint32_t const chunk : {2u, 4u, 5u}) pool.ref().free(&chunk, 1);
  constexpr unsigned one = alloc::detail::class_for(chunk_bytes);
  constexpr unsigned two = alloc::detail::class_for(2 * chunk_bytes);
  auto const check = [&](std::vector<std::uint32_t> const& uses) { pool.check("who", uses); };
  constexpr std::uint32_t none = alloc::chunk_of_no_class;
  EXPECT_NO_THROW(check({two, none, none, one, none, none, two, none}));
  expect_corrupt("a page goes beyond the pool", [&] { check({two, none, none, one, none, none, one, two}); });
  expect_corrupt("chunk 1 belongs to two pages", [&] { check({two, one, none, one, none, none, two, none}); });
  expect_corrupt("chunk 5 is in the reuse queue", [&] { check({two, none, none, one, none, one, two, none}); });
  expect_corrupt("chunk 3 has 0 owners", [&] { check({two, none, none, none, none, none, two, none}); });
  expect_corrupt("chunk 7 has 0 owners", [&] { check({two, none, none, one, none, none, one, none}); });
}

TEST(check, entries_of_a_ring) {
  alloc::ring_memory<host> ring{host(1)};
  ring.reset(4, false, {});
  alloc::queue_ends ends;
  for (std::uint32_t i = 0; i < 3; ++i) ring.ring().write(ends.claim_back(1), 10 + i);
  EXPECT_EQ(ring.entries(ends, "who", ""), (std::vector<std::uint64_t>{10, 11, 12}));
  ring.ring().write(3, 13);
  expect_corrupt("4 full slots for 3 entries", [&] { (void)ring.entries(ends, "who", ""); });
  std::uint64_t index = 0;
  EXPECT_TRUE(ring.ring().try_read(2, index));
  expect_corrupt("an entry is missing", [&] { (void)ring.entries(ends, "who", ""); });
}

template <template <class> class Links>
void check_nodes() {
  constexpr unsigned c = 2;
  alloc::chunk_pool<host> pool(host(1), {.pool_bytes = 8 * chunk_bytes, .reserve_bytes = 8 * chunk_bytes});
  alloc::virtual_queues<host, Links> queues(host(1), pool.memory(), 2, false);
  alloc::queue_ends ends;
  queues.reset(pool.chunks(), 0);
  auto const ref = queues.ref();
  auto const check = [&] {
    queues.check("who", pool, [&](unsigned k) { return k == c ? ends : alloc::queue_ends{}; });
  };
  auto const entries = [&] { (void)queues.entries(c, ends, "who", ""); };
  ASSERT_TRUE(ref.reserve(exec::scalar_tile{}, pool.ref(), ends, true, c, 8));
  for (std::uint32_t i = 0; i < 8; ++i) ref.write(c, ref.claim_back(ends, 1), 10 + i);
  EXPECT_NO_THROW(check());
  EXPECT_NO_THROW(entries());
  std::vector<std::uint32_t> const uses = pool.uses();
  auto const node =
      static_cast<std::uint32_t>(std::find(uses.begin(), uses.end(), alloc::chunk_of_queue) - uses.begin());
  pool.ref().set_use(node, 9);
  expect_corrupt("a node is not on a queue chunk", check);
  pool.ref().set_use(node, alloc::chunk_of_queue);
  pool.ref().set_use(7, alloc::chunk_of_queue);
  expect_corrupt("1 queue chunks belong to no queue", check);
  (void)ends.claim_back(1);
  expect_corrupt("an entry is on a node that does not exist", entries);
  ASSERT_TRUE(ref.reserve(exec::scalar_tile{}, pool.ref(), ends, true, c, 1));
  expect_corrupt("an entry is missing", entries);
}
TEST(check, nodes_of_a_directory) { check_nodes<alloc::node_directory>(); }
TEST(check, nodes_of_a_list) { check_nodes<alloc::node_list>(); }

constexpr unsigned small = 8;  // the class of pages of 4 KiB
constexpr unsigned wide = 10;  // the class of pages of 16 KiB

// A pool with a span of two chunks, a span of one chunk with two pages, and a run.
class spans : public alloc::corw<host> {
 public:
  spans()
      : alloc::corw<host>(host(1),
                          {.pool_bytes = 2u << 20, .reserve_bytes = 2u << 20, .checked = true, .guards = false}) {
    for (std::size_t const bytes : {std::size_t{4096}, std::size_t{16384}, std::size_t{1100000}})
      EXPECT_NE(ref().malloc(bytes), nullptr);
  }
  [[nodiscard]] static std::uint64_t entry(unsigned c) { return alloc::span_shape::place(0, c, 17); }
  template <class Damage>
  void expect(std::string const& what, Damage const& damage) {
    auto all = copy();
    damage(all);
    expect_corrupt(what, [&] { check_spans(all); });
  }
  template <class Damage>
  void expect_live(std::string const& what, Damage const& damage) {
    auto all = copy();
    std::vector<std::size_t> blocks{all.chunk(wide, 0) * chunk_bytes, all.chunk(small, 0) * chunk_bytes};
    for (std::uint64_t page = 0; page < 2; ++page)
      if (all.is_used(small, page)) blocks[1] += page * 4096;
    EXPECT_NO_THROW(check_live(all, blocks));
    damage(all, blocks);
    expect_corrupt(what, [&] { check_live(all, blocks); });
  }
};

TEST(check, spans) {
  constexpr std::uint32_t no_span = alloc::detail::no_span;
  spans pool;
  EXPECT_NO_THROW(pool.check());
  pool.expect("16384 bytes: the lock is held", [](auto& all) { all.states[wide].lock = 1; });
  pool.expect("16384 bytes: a span goes beyond the pool", [](auto& all) { all.table[spans::entry(wide)] = 255; });
  pool.expect("4096 bytes: a span goes beyond the pool", [](auto& all) { all.table[spans::entry(small)] = 256; });
  pool.expect(" does not refer to its span", [](auto& all) { ++all.owners[all.chunk(small, 0)]; });
  pool.expect(" belongs to two spans", [](auto& all) {
    std::uint32_t const second = all.chunk(wide, 0) + 1;
    all.table[spans::entry(small)] = second;
    all.owners[second] = alloc::detail::span_owner{0, small}.word();
  });
  pool.expect("4096 bytes: 0 holes, 1 counted", [](auto& all) { all.states[small].holes = 1; });
  pool.expect("4096 bytes: a page of a hole is free", [](auto& all) {
    all.owners[all.chunk(small, 0)] = no_span;
    all.table[spans::entry(small)] = no_span;
    all.states[small].holes = 1;
  });
  pool.expect("16384 bytes: 1 holes, 0 counted", [](auto& all) { all.table[spans::entry(wide)] = no_span; });
  pool.expect(" has 0 owners", [](auto& all) {
    all.owners[all.chunk(wide, 0)] = no_span;
    all.table[spans::entry(wide)] = no_span;
    all.states[wide].holes = 1;
  });
  pool.expect("chunks refer to owners that do not have them", [](auto& all) { all.owners[255] = 7; });
  using blocks = std::vector<std::size_t>;
  pool.expect_live(" is also free", [](auto&, blocks& b) { b.pop_back(); });
  pool.expect_live(" is also free", [](auto&, blocks& b) { b.clear(); });
  pool.expect_live("offset 2088960 is neither live nor free", [](auto&, blocks& b) { b.push_back(255 * chunk_bytes); });
  pool.expect_live("a run of chunks is lost", [](auto& all, blocks&) {
    for (std::uint32_t& owner : all.owners)
      if (owner == no_span) owner = 0;
  });
}

// Counts the memory that exists, also by its kind.
struct counting_space : exec::host_space {
  static inline std::size_t allocated = 0;
  static inline std::size_t committed = 0;
  static inline std::map<exec::memory_kind, std::size_t> of_kind = {};
  counting_space() : exec::host_space(1) {
    allocated = committed = 0;
    of_kind.clear();
  }
  [[nodiscard]] void* allocate(std::size_t bytes, exec::memory_kind kind = exec::memory_kind::device) const {
    of_kind[kind] += bytes;
    allocated += bytes;
    return exec::host_space::allocate(bytes);
  }
  void deallocate(void* p, std::size_t bytes, exec::memory_kind kind = exec::memory_kind::device) const noexcept {
    of_kind[kind] -= bytes;
    allocated -= bytes;
    exec::host_space::deallocate(p, bytes);
  }
  void commit(void* base, std::size_t from, std::size_t to, exec::memory_kind kind) const {
    of_kind[kind] += to - from;
    committed += to - from;
    exec::host_space::commit(base, from, to);
  }
};

template <class A>
class overhead : public ::testing::Test {};
using allocators = types_of<alloc::all<counting_space>>;
struct by_allocator {
  template <class A>
  static std::string GetName(int) {
    std::string name = A::name;
    for (char& letter : name) letter = letter == '-' || letter == '+' ? '_' : letter;
    return name;
  }
};
TYPED_TEST_SUITE(overhead, allocators, by_allocator);

TYPED_TEST(overhead, is_the_memory_beside_the_pool) {
  for (bool const checked : {false, true}) {
    SCOPED_TRACE(checked ? "checked" : "unchecked");
    counting_space const here;
    TypeParam owner(here, {.pool_bytes = 1u << 20, .reserve_bytes = 8u << 20, .checked = checked, .guards = false});
    bool const has_pool = TypeParam::family.resets;
    auto const expect = [&] {
      alloc::statistics const s = owner.stats();
      EXPECT_EQ(s.overhead, counting_space::allocated + counting_space::committed - (has_pool ? s.committed : 0));
    };
    expect();
    owner.grow(3u << 20);
    expect();
  }
}

// The pool is memory of the kind that was asked for; everything beside it is memory of the device.
TYPED_TEST(overhead, is_memory_of_the_device) {
  if (!TypeParam::family.resets) GTEST_SKIP() << "the allocator has no pool of its own";
  for (exec::memory_kind const kind : {exec::memory_kind::managed, exec::memory_kind::host}) {
    SCOPED_TRACE(exec::to_string(kind));
    counting_space const here;
    TypeParam owner(here, {.pool_bytes = 1u << 20, .reserve_bytes = 8u << 20, .checked = true, .memory = kind});
    auto const expect = [&] {
      alloc::statistics const s = owner.stats();
      EXPECT_EQ(counting_space::of_kind[kind], s.committed);
      EXPECT_EQ(counting_space::of_kind[exec::memory_kind::device], s.overhead);
    };
    expect();
    owner.grow(3u << 20);
    expect();
    owner.reset();
    expect();
  }
}

}  // namespace
}  // namespace wyrm::tests
