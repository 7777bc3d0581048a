// SPDX-License-Identifier: Apache-2.0
// Virtualized queues by themselves: entries in order, and the number of their nodes after each operation of a tile,
// compared with a model; the directory and the list of nodes where node numbers wrap around; the table of uses.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <numeric>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "../../alloc/ouroboros/node_directory.hpp"
#include "../../alloc/ouroboros/node_list.hpp"
#include "../../alloc/ouroboros/virtual_queues.hpp"
#include "../support/simt_space.hpp"
#include "../support/spaces.hpp"

namespace wyrm::tests {
namespace {

using alloc::chunk_bytes;

// One tile appends n entries, `first_index` and the following ones, to the queue of class c.
template <class Queues>
struct append_entries {
  Queues queues;
  alloc::chunk_pool_ref pool;
  alloc::queue_ends* ends;
  unsigned c;
  std::uint32_t n;
  std::uint64_t first_index;
  std::uint64_t* granted;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t) const {
    bool const room = t.shfl(queues.reserve(t, pool, *ends, t.rank() == 0, c, n), 0);
    if (t.rank() == 0) *granted = room;
    if (!room) return;
    std::uint32_t first = 0;
    if (t.rank() == 0) first = Queues::claim_back(*ends, n);
    first = t.shfl(first, 0);
    if (t.rank() < n) queues.write(c, first + t.rank(), first_index + t.rank());
  }
};
// One tile takes n entries.
template <class Queues>
struct take_entries {
  Queues queues;
  alloc::chunk_pool_ref pool;
  alloc::queue_ends* ends;
  unsigned c;
  std::uint32_t n;
  std::uint64_t* taken;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t) const {
    std::uint32_t first = 0;
    if (t.rank() == 0) {
      (void)ends->take(n);
      first = ends->claim_front(n);
    }
    std::uint32_t const position = t.shfl(first, 0) + t.rank();
    std::uint32_t chunk = 0;
    if (t.rank() < n) taken[t.rank()] = queues.read(c, position, chunk);
    queues.finish(t, pool, c, chunk, position, t.rank(), t.rank() < n ? n : 0);
  }
};

// A queue under test, and its entries and nodes as they should be.
template <class Space, template <class> class Links>
class queue {
  using queues_type = alloc::virtual_queues<Space, Links>;

 public:
  static constexpr unsigned lanes = Space::template tile_size<32>;
  static constexpr bool is_list = std::is_same_v<Links<Space>, alloc::node_list<Space>>;

  queue(std::size_t chunks, unsigned c, std::size_t reserve_bytes = 0)
      : pool_(space_, {.pool_bytes = chunks * chunk_bytes,
                       .reserve_bytes = reserve_bytes != 0 ? reserve_bytes : chunks * chunk_bytes}),
        queues_(space_, pool_.memory(), node_log2, false),
        c_(c) {
    queues_.reset(pool_.chunks(), 0);
    exec::write(space_, ends_.data(), alloc::queue_ends{});
    each_ = queues_.ref().entries_per_node(c);
  }
  [[nodiscard]] std::uint32_t entries_per_node() const { return each_; }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

  // False if there is no room; then nothing has changed.
  bool append(std::uint32_t n) {
    exec::for_each_tile<32>(space_, 1,
                            append_entries<typename queues_type::ref_type>{queues_.ref(), pool_.ref(), ends_.data(), c_,
                                                                           n, next_, words_.data()});
    if (exec::read(space_, words_.data()) == 0) return false;
    for (std::uint32_t i = 0; i < n; ++i) {
      if (written_++ % each_ == 0) nodes_.push_back(0);
      entries_.push_back(next_++);
    }
    return true;
  }
  void take(std::uint32_t n) {
    exec::for_each_tile<32>(
        space_, 1,
        take_entries<typename queues_type::ref_type>{queues_.ref(), pool_.ref(), ends_.data(), c_, n, words_.data()});
    EXPECT_EQ(exec::copy_out(space_, words_.data(), n),
              std::vector<std::uint64_t>(entries_.begin(), entries_.begin() + n));
    entries_.erase(entries_.begin(), entries_.begin() + n);
    bool some = false;
    for (std::uint32_t left = n; left > 0;) {
      auto const node = std::find_if(nodes_.begin(), nodes_.end(), [&](std::uint32_t read) { return read < each_; });
      std::uint32_t const here = std::min(left, each_ - *node);
      *node += here;
      left -= here;
      some = some || *node == each_;
    }
    // A node is freed by the lane that reads its last entry; the last node of a list stays until there is another one.
    while (some && nodes_.size() > (is_list ? 1 : 0) && nodes_.front() == each_) nodes_.pop_front();
  }
  // The entries of a new queue on memory that was used: empty until they are written.
  void expect_empty_slots(std::uint32_t n) {
    space_.fill(pool_.memory().base(), 0xee, pool_.memory().bytes());
    auto const ref = queues_.ref();
    EXPECT_TRUE(ref.reserve(exec::scalar_tile{}, pool_.ref(), *ends_.data(), true, c_, n));
    for (std::uint32_t position = 0; position < n; ++position) {
      std::uint64_t index = 0;
      std::uint32_t chunk = 0;
      EXPECT_FALSE(ref.try_read(c_, position, index, chunk)) << "position " << position;
    }
  }
  void expect_sound() {
    std::vector<std::uint32_t> const uses = pool_.uses();
    EXPECT_EQ(std::count(uses.begin(), uses.end(), alloc::chunk_of_queue), static_cast<std::ptrdiff_t>(nodes_.size()));
    alloc::queue_ends const ends = exec::read(space_, ends_.data());
    EXPECT_EQ(queues_.entries(c_, ends, "queue", ""), std::vector<std::uint64_t>(entries_.begin(), entries_.end()));
    EXPECT_NO_THROW(queues_.check("queue", pool_, [&](unsigned c) { return c == c_ ? ends : alloc::queue_ends{}; }));
    EXPECT_NO_THROW(pool_.check("queue", uses));
  }

 private:
  static constexpr unsigned node_log2 = 3;
  Space space_ = make_space<Space>();
  alloc::chunk_pool<Space> pool_;
  queues_type queues_;
  exec::buffer<alloc::queue_ends, Space> ends_{space_, 1};
  exec::buffer<std::uint64_t, Space> words_{space_, 32};
  unsigned c_;
  std::uint32_t each_ = 0;
  std::deque<std::uint64_t> entries_;
  std::deque<std::uint32_t> nodes_;  // entries that were read of each
  std::size_t written_ = 0;
  std::uint64_t next_ = 1000;
};

template <class Space>
class virtual_queues : public space_test<Space> {
 protected:
  template <template <class> class Links>
  static void run(unsigned c, std::size_t reserve_bytes) {
    SCOPED_TRACE(std::string(Links<Space>::kind) + ", class " + std::to_string(c));
    queue<Space, Links> q(128, c, reserve_bytes);
    EXPECT_EQ(q.entries_per_node(), c == 0 && reserve_bytes != 0 ? 4u : 8u);  // 64 bits in a pool beyond 64 GiB
    std::mt19937_64 random(seeded(c + 1));
    for (std::size_t step = 0; step < scaled(300, 100) && !::testing::Test::HasFailure(); ++step) {
      std::uint32_t const n = 1 + random() % q.lanes;
      if (step % 40 == 39) {  // empty it, wherever its entries end
        while (q.size() > 0) q.take(static_cast<std::uint32_t>(std::min<std::size_t>(q.size(), q.lanes)));
      } else if (q.size() >= n && random() % 2 == 0) {
        q.take(n);
      } else if (q.size() < 200) {
        EXPECT_TRUE(q.append(n));
      }
      q.expect_sound();
    }
  }
  template <template <class> class Links>
  static void fill() {
    SCOPED_TRACE(Links<Space>::kind);
    queue<Space, Links> q(8, 2);
    std::uint32_t const n = std::min(q.lanes, 8u);
    // The last node of a list stays when it has been emptied, and is in the way of the next lap.
    for (unsigned lap = 0; lap < (q.is_list ? 1 : 3); ++lap) {
      while (q.size() < 64) ASSERT_TRUE(q.append(n)) << q.size();
      EXPECT_FALSE(q.append(1));
      q.expect_sound();
      for (unsigned some = 0; some < 8; some += n) q.take(n);
      q.expect_sound();
      for (unsigned some = 0; some < 8; some += n) ASSERT_TRUE(q.append(n));
      EXPECT_FALSE(q.append(n));
      q.expect_sound();
      while (q.size() > 0) q.take(n);
      q.expect_sound();
    }
  }
};
using spaces = ::testing::Types<exec::host_space, simt_space>;
TYPED_TEST_SUITE(virtual_queues, spaces, by_name);

TYPED_TEST(virtual_queues, nodes_are_freed_with_their_last_entry) {
  for (std::size_t const reserve_bytes : {std::size_t{0}, std::size_t{128} << 30})
    for (unsigned const c : {0u, 3u}) {
      this->template run<alloc::node_directory>(c, reserve_bytes);
      this->template run<alloc::node_list>(c, reserve_bytes);
    }
}

// Eight chunks have room for 64 entries.
TYPED_TEST(virtual_queues, all_chunks_of_a_pool_become_nodes) {
  this->template fill<alloc::node_directory>();
  this->template fill<alloc::node_list>();
}

TYPED_TEST(virtual_queues, slots_of_a_node_are_empty_at_first) {
  for (std::size_t const reserve_bytes : {std::size_t{0}, std::size_t{128} << 30}) {
    queue<TypeParam, alloc::node_directory>(8, 0, reserve_bytes).expect_empty_slots(16);
    queue<TypeParam, alloc::node_list>(8, 0, reserve_bytes).expect_empty_slots(16);
  }
}

// A directory has 1024 entries.
TYPED_TEST(virtual_queues, more_nodes_than_a_directory_has) {
  queue<TypeParam, alloc::node_directory> q(8, 2);
  std::uint32_t const n = std::min(q.lanes, 8u);
  for (std::uint32_t entries = 0; entries < 8 * 1030; entries += n) {
    ASSERT_TRUE(q.append(n)) << entries;
    q.take(n);
  }
  q.expect_sound();
}

struct set_some_uses {
  alloc::chunk_pool_ref pool;
  std::uint32_t first;
  std::uint32_t n;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t) const {
    pool.set_uses(t, first, n, 7);
  }
};
TYPED_TEST(virtual_queues, uses_of_adjacent_chunks) {
  TypeParam const space = make_space<TypeParam>();
  alloc::chunk_pool<TypeParam> pool(space, {.pool_bytes = 48 * chunk_bytes, .reserve_bytes = 48 * chunk_bytes});
  (void)pool.ref().memory().take_chunks(48);
  for (std::uint32_t first = 0; first < 6; ++first)
    for (std::uint32_t const n : {0u, 1u, 2u, 3u, 4u, 5u, 7u, 8u, 9u, 41u, 48u - first}) {
      pool.reset();
      (void)pool.ref().memory().take_chunks(48);
      exec::for_each_tile<32>(space, 1, set_some_uses{pool.ref(), first, n});
      std::vector<std::uint32_t> expected(48, alloc::chunk_of_no_class);
      std::fill_n(expected.begin() + first, n, 7u);
      ASSERT_EQ(pool.uses(), expected) << n << " chunks from " << first << " on";
    }
}

// A directory of four entries; node numbers of two rounds and more, also where they wrap around.
TEST(node_directory, entries_are_reused_in_order) {
  constexpr unsigned size_log2 = 2;
  for (alloc::detail::node_size const size : {alloc::detail::node_size{1, 0}, alloc::detail::node_size{11, 17}})
    for (std::uint32_t const start : {0u, 60u, size.last_node(0) - 17}) {
      SCOPED_TRACE("from node " + std::to_string(start) + " on");
      std::vector<std::uint32_t> entries(17 * 5);
      alloc::node_directory_ref const nodes(entries.data(), size_log2);
      auto const node = [&](std::uint32_t k) { return (start + k) & size.last_node(0); };
      for (std::uint32_t k = 0; k < 4; ++k)
        entries[node(k) % 4] = alloc::detail::directory_entry::unpublished(node(k) / 4 % 16);
      for (std::uint32_t k = 0; k < 100; ++k) {
        SCOPED_TRACE("node " + std::to_string(node(k)));
        EXPECT_EQ(nodes.chunk_to_read(size, 0, node(k)), alloc::detail::no_chunk);
        EXPECT_TRUE(nodes.try_count_node(size, 0));
        ASSERT_TRUE(nodes.try_publish(size, 0, node(k), 100 + k));
        EXPECT_EQ(nodes.chunk_to_read(size, 0, node(k)), 100 + k);
        EXPECT_EQ(nodes.chunk_to_write(size, 0, node(k)), 100 + k);
        if (k < 3) continue;
        EXPECT_TRUE(nodes.is_full(size, 0));  // four nodes, the first of which is in the way of the next
        EXPECT_FALSE(nodes.try_count_node(size, 0));
        EXPECT_FALSE(nodes.try_publish(size, 0, node(k + 1), 1));
        EXPECT_EQ(nodes.chunk_to_read(size, 0, node(k + 1)), alloc::detail::no_chunk);
        std::uint32_t freed = 0;
        nodes.emptied(size, nullptr, 0, node(k - 3), 97 + k,
                      [&](std::uint32_t const* chunks, std::uint32_t n) { freed += n == 1 && *chunks == 97 + k; });
        EXPECT_EQ(freed, 1u);
        nodes.uncount_nodes(0, 1);
        EXPECT_FALSE(nodes.is_full(size, 0));
        EXPECT_EQ(nodes.chunk_to_read(size, 0, node(k - 3)), alloc::detail::no_chunk);
      }
    }
}

// 20 nodes, of which the first ones have been read; node numbers wrap around in the middle.
TEST(node_list, finds_and_frees_nodes) {
  alloc::detail::node_size const size{11, 0};
  for (std::uint32_t const start : {0u, size.last_node(0) - 9})
    for (std::uint32_t const emptied : {0u, 1u, 15u, 16u, 17u, 19u, 20u}) {
      SCOPED_TRACE(std::to_string(emptied) + " emptied nodes, from node " + std::to_string(start) + " on");
      alloc::detail::list_state state{alloc::detail::list_end(start, alloc::detail::no_chunk),
                                      alloc::detail::list_end((start - 1) & size.last_node(0), alloc::detail::no_chunk),
                                      0};
      std::vector<alloc::detail::list_links> links(50);
      std::vector<std::uint32_t> read(50);
      alloc::node_list_ref const nodes(&state, links.data());
      auto const node = [&](std::uint32_t k) { return (start + k) & size.last_node(0); };
      EXPECT_EQ(nodes.chunk_to_read(size, 0, start), alloc::detail::no_chunk);
      for (std::uint32_t k = 0; k < 20; ++k) EXPECT_TRUE(nodes.try_publish(size, 0, node(k), 30 + k));
      for (std::uint32_t k = 0; k < 20; ++k) {
        EXPECT_EQ(nodes.chunk_to_read(size, 0, node(k)), 30 + k);
        EXPECT_EQ(nodes.chunk_to_write(size, 0, node(k)), 30 + k);
        if (k < emptied) read[30 + k] = size.entries(0);
      }
      EXPECT_EQ(nodes.chunk_to_read(size, 0, node(20)), alloc::detail::no_chunk);
      EXPECT_EQ(nodes.chunk_to_write(size, 0, node(20)), alloc::detail::no_chunk);
      std::vector<std::uint32_t> freed;
      nodes.remove_emptied(size, read.data(), 0, [&](std::uint32_t const* chunks, std::uint32_t n) {
        freed.insert(freed.end(), chunks, chunks + n);
      });
      std::vector<std::uint32_t> expected(std::min(emptied, 19u));
      std::iota(expected.begin(), expected.end(), 30u);
      EXPECT_EQ(freed, expected);
      for (auto k = static_cast<std::uint32_t>(expected.size()); k < 20; ++k)
        EXPECT_EQ(nodes.chunk_to_read(size, 0, node(k)), 30 + k);
    }
}

}  // namespace
}  // namespace wyrm::tests
