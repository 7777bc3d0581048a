// SPDX-License-Identifier: Apache-2.0
// The workload of the allocator tests: on the device, functors that allocate, fill, check and free blocks, per tile and
// per thread; on the host, a pool under test with a model of its live blocks.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "../../alloc/allocator.hpp"
#include "../../alloc/size_classes.hpp"
#include "../../exec/atomic.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../support/seed.hpp"
#include "../support/spaces.hpp"

namespace wyrm::tests {

/// A request and the block that it got. `tag` makes the contents of each block different from those of all others.
struct block {
  std::uint64_t bytes;
  std::uint64_t tag;
  unsigned char* p;
};

/// Removes the last n blocks, and returns them.
inline std::vector<block> split_off(std::vector<block>& all, std::size_t n) {
  std::vector<block> last(all.end() - static_cast<std::ptrdiff_t>(n), all.end());
  all.resize(all.size() - n);
  return last;
}

WYRM_HD inline std::uint64_t scramble(std::uint64_t x) {
  x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9ull;
  return x ^ (x >> 32);
}

WYRM_HD inline unsigned char pattern(std::uint64_t scrambled_tag, std::uint64_t at) {
  return static_cast<unsigned char>((scrambled_tag >> (8 * (at & 7))) + (at >> 3) * 37);
}
/// The next byte to write or check: every byte, but in large blocks only every 61st between the first and the last 16
/// KiB.
WYRM_HD inline std::uint64_t next_byte(std::uint64_t at, std::uint64_t bytes) {
  constexpr std::uint64_t ends = 16384;
  constexpr std::uint64_t step = 61;
  return at < ends || at + step + ends >= bytes ? at + 1 : at + step;
}
/// Blocks of impossible sizes are not written, so that a test that gets one fails instead of crashing.
WYRM_HD inline bool is_possible(block const& b) { return b.bytes < std::uint64_t{1} << 40; }
WYRM_HD inline void fill_block(block const& b) {
  if (!is_possible(b)) return;
  std::uint64_t const s = scramble(b.tag);
  for (std::uint64_t at = 0; at < b.bytes; at = next_byte(at, b.bytes)) b.p[at] = pattern(s, at);
}
WYRM_HD inline bool is_intact(block const& b) {
  if (!is_possible(b)) return false;
  std::uint64_t const s = scramble(b.tag);
  for (std::uint64_t at = 0; at < b.bytes; at = next_byte(at, b.bytes))
    if (b.p[at] != pattern(s, at)) return false;
  return true;
}

/// What a churn verifies of its blocks: every byte that next_byte() names; or, where `samples` is not 0, the first and
/// the last 8 bytes and so many between them, which the tag of the block selects. The bytes that it verifies are the
/// bytes that it writes.
struct verification {
  std::uint32_t samples = 0;

  template <class F>
  WYRM_HD void for_each_byte(block const& b, F const& f) const {
    constexpr std::uint64_t ends = 8;
    if (!is_possible(b)) return;
    if (samples == 0 || b.bytes <= 2 * ends + samples) {
      for (std::uint64_t at = 0; at < b.bytes; at = next_byte(at, b.bytes)) f(at);
      return;
    }
    for (std::uint64_t at = 0; at < ends; ++at) f(at);
    for (std::uint64_t k = 1; k <= samples; ++k) f(ends + scramble(b.tag + (k << 40)) % (b.bytes - 2 * ends));
    for (std::uint64_t at = b.bytes - ends; at < b.bytes; ++at) f(at);
  }
  WYRM_HD void fill(block const& b) const {
    std::uint64_t const s = scramble(b.tag);
    for_each_byte(b, [&](std::uint64_t at) { b.p[at] = pattern(s, at); });
  }
  [[nodiscard]] WYRM_HD bool finds_intact(block const& b) const {
    std::uint64_t const s = scramble(b.tag);
    bool good = is_possible(b);
    for_each_byte(b, [&](std::uint64_t at) { good = good && b.p[at] == pattern(s, at); });
    return good;
  }
};

/// Who owns each unit of a pool, as the threads see it that get blocks and free them: so two blocks that overlap are
/// found, whichever of their bytes are verified. Without owners it says that all is good.
struct ownership {
  unsigned char* base = nullptr;
  std::uint64_t unit = 1;           // bytes
  std::uint32_t* owners = nullptr;  // 0: none

  /// Makes b.tag the owner of the block's units; false if one has an owner, or if the block begins inside a unit.
  [[nodiscard]] WYRM_HD bool take(block const& b) const { return exchange(b, 0, name_of(b)); }
  /// Takes that back, before the block is freed; false if a unit has another owner.
  [[nodiscard]] WYRM_HD bool leave(block const& b) const { return exchange(b, name_of(b), 0); }

 private:
  WYRM_HD static std::uint32_t name_of(block const& b) { return static_cast<std::uint32_t>(scramble(b.tag)) | 1; }
  [[nodiscard]] WYRM_HD bool exchange(block const& b, std::uint32_t expected, std::uint32_t next) const {
    if (owners == nullptr) return true;
    auto const offset = static_cast<std::uint64_t>(b.p - base);
    bool good = offset % unit == 0;
    for (std::uint64_t u = offset / unit; u * unit < offset + b.bytes; ++u)
      good = (exec::atomic_ref<std::uint32_t>(owners[u]).exchange(next, exec::relaxed) == expected) && good;
    return good;
  }
};

/// One request per lane.
template <class Ref>
struct allocate_in_tiles {
  Ref ref;
  block* blocks;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    void* const p = ref.allocate(t, valid ? blocks[i].bytes : 0);
    if (!valid) return;
    blocks[i].p = static_cast<unsigned char*>(p);
    if (p != nullptr) fill_block(blocks[i]);
  }
};

/// One block, or nullptr, per lane.
template <class Ref>
struct free_in_tiles {
  Ref ref;
  block const* blocks;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    ref.deallocate(t, valid ? blocks[i].p : nullptr);
  }
};

/// The page sizes that carving tests use: 48, 96, 160, 256, 448, 768, 1168 and 2048 bytes.
inline constexpr unsigned carved_sizes = 8;
WYRM_HD constexpr std::size_t carved_bytes(unsigned s) { return alloc::detail::page_bytes(3 * s + 2); }

/// One tile carves `counts[s]` pages of each size.
template <class Ref>
struct carve_in_tile {
  Ref ref;
  std::uint32_t const* counts;
  alloc::page_array* pages;
  std::uint64_t* missing;
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t) const {
    for (unsigned first = 0; first < carved_sizes; first += Tile::size()) {
      unsigned const s = first + t.rank();
      alloc::page_array mine{};
      *missing = ref.carve(t, carved_bytes(s % carved_sizes), s < carved_sizes ? counts[s] : 0, mine);
      if (*missing > 0) return;
      if (s < carved_sizes) pages[s] = mine;
    }
  }
};

/// Claims a carved page per thread. The size of block i selects the array of pages, its address is the index in it.
template <class Ref>
struct claim_per_thread {
  Ref ref;
  alloc::page_array const* pages;
  block* blocks;
  WYRM_HD void operator()(std::size_t i) const {
    block& b = blocks[i];
    unsigned s = 0;
    while (carved_bytes(s) != b.bytes) ++s;
    auto const k = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(b.p));
    b.p = static_cast<unsigned char*>(ref.claim(pages[s], b.bytes, k));
    fill_block(b);
  }
};

/// Carved pages of one size: thread i claims page (i + 1) * step - 1 modulo their number, fills it, and frees it, while
/// other pages are not claimed yet.
template <class Ref>
struct claim_and_free {
  Ref ref;
  alloc::page_array const* pages;  // by size
  unsigned size;
  std::uint32_t count;
  std::uint32_t step;
  std::uint64_t* changed;
  WYRM_HD void operator()(std::size_t i) const {
    auto const k = static_cast<std::uint32_t>(((i + 1) * std::uint64_t{step} - 1) % count);
    block b{carved_bytes(size), k, nullptr};
    b.p = static_cast<unsigned char*>(ref.claim(pages[size], b.bytes, k));
    fill_block(b);
    if (!is_intact(b)) exec::atomic_ref<std::uint64_t>(*changed).fetch_add(1, exec::relaxed);
    ref.free(b.p);
  }
};

/// Each thread allocates two blocks with malloc, frees the first, and keeps the second. Counts refused requests, and
/// first blocks whose contents have changed.
template <class Ref>
struct malloc_per_thread {
  Ref ref;
  block* blocks;
  std::uint64_t* refused;
  std::uint64_t* changed;
  WYRM_HD void operator()(std::size_t i) const {
    block& kept = blocks[i];
    block first{kept.bytes / 2 + 1, ~kept.tag, nullptr};
    first.p = static_cast<unsigned char*>(ref.malloc(first.bytes));
    if (first.p != nullptr) fill_block(first);
    kept.p = static_cast<unsigned char*>(ref.malloc(kept.bytes));
    if (kept.p != nullptr) fill_block(kept);
    if (first.p != nullptr && !is_intact(first)) exec::atomic_ref<std::uint64_t>(*changed).fetch_add(1, exec::relaxed);
    if (first.p == nullptr || kept.p == nullptr) exec::atomic_ref<std::uint64_t>(*refused).fetch_add(1, exec::relaxed);
    ref.free(first.p);
  }
};

template <class Ref>
struct free_one_block {
  Ref ref;
  block const* blocks;
  WYRM_HD void operator()(std::size_t i) const { ref.free(blocks[i].p); }
};

/// Each lane owns a few blocks. In each round it picks a random entry: it frees the block there, or allocates one if
/// there is none.
template <class Ref>
struct churn_in_tiles {
  static constexpr unsigned blocks_per_lane = 4;
  Ref ref;
  block* blocks;  // blocks_per_lane entries per lane; p is nullptr where the lane has no block
  unsigned rounds;
  std::uint64_t seed;
  std::uint64_t largest;
  std::uint64_t* asked;    // bytes of the requests that were served
  std::uint64_t* refused;  // requests that were refused
  std::uint64_t* changed;  // blocks whose contents, or whose owners, have changed
  verification verify;
  ownership owned;

  // One size in 64 is 8 * largest; among the others all magnitudes are equally likely.
  [[nodiscard]] WYRM_HD std::uint64_t size(std::uint64_t random) const {
    if (random % 64 == 0) return 8 * largest;
    return 1 + (random >> 16) % (1 + ((largest - 1) >> (random >> 8) % 11));
  }
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    for (unsigned round = 0; round < rounds; ++round) {
      std::uint64_t const random = scramble(scramble(seed + i) + round);
      block& b = blocks[(valid ? i : 0) * blocks_per_lane + (random >> 60) % blocks_per_lane];
      bool const has = valid && b.p != nullptr;
      bool const asks = valid && !has && random % 8 != 1;  // in some rounds some lanes are idle
      if (has && !(owned.leave(b) && verify.finds_intact(b)))
        exec::atomic_ref<std::uint64_t>(*changed).fetch_add(1, exec::relaxed);
      ref.deallocate(t, has ? b.p : nullptr);
      if (has) b.p = nullptr;
      std::uint64_t const bytes = asks ? size(random >> 4) : 0;
      void* const p = ref.allocate(t, bytes);
      if (!asks) continue;
      b = {bytes, i << 32 | round, static_cast<unsigned char*>(p)};
      if (p != nullptr) {
        if (!owned.take(b)) exec::atomic_ref<std::uint64_t>(*changed).fetch_add(1, exec::relaxed);
        verify.fill(b);
      }
      exec::atomic_ref<std::uint64_t>(p != nullptr ? *asked : *refused)
          .fetch_add(p != nullptr ? bytes : 1, exec::relaxed);
    }
  }
};

/// The same by malloc and free of single threads, each with a number of rounds of its own. A block is requested at one
/// of three places of the code, and freed at one of two.
template <class Ref>
struct churn_in_threads {
  static constexpr unsigned blocks_per_lane = churn_in_tiles<Ref>::blocks_per_lane;
  churn_in_tiles<Ref> work;

  WYRM_HD void operator()(std::size_t i) const {
    for (unsigned round = static_cast<unsigned>(scramble(work.seed ^ i) % work.rounds); round < work.rounds; ++round) {
      std::uint64_t const random = scramble(scramble(work.seed + i) + round);
      block& b = work.blocks[i * blocks_per_lane + (random >> 60) % blocks_per_lane];
      if (b.p != nullptr) {
        if (!is_intact(b)) exec::atomic_ref<std::uint64_t>(*work.changed).fetch_add(1, exec::relaxed);
        if (random % 2 == 0)
          work.ref.free(b.p);
        else
          work.ref.free(b.p);
        b.p = nullptr;
      }
      b = {work.size(random >> 4), i << 32 | round, nullptr};
      void* p = nullptr;
      switch (random % 4) {
        case 0: p = work.ref.malloc(b.bytes); break;
        case 1: p = work.ref.malloc(b.bytes = 1 + b.bytes % 100); break;
        case 2: p = work.ref.malloc(b.bytes = 64); break;
        default: continue;
      }
      b.p = static_cast<unsigned char*>(p);
      if (p != nullptr) fill_block(b);
      exec::atomic_ref<std::uint64_t>(p != nullptr ? *work.asked : *work.refused)
          .fetch_add(p != nullptr ? b.bytes : 1, exec::relaxed);
    }
  }
};

struct fill_each {
  block const* blocks;
  WYRM_HD void operator()(std::size_t i) const { fill_block(blocks[i]); }
};
struct count_changed {
  block const* blocks;
  std::uint64_t* changed;
  WYRM_HD void operator()(std::size_t i) const {
    if (blocks[i].p != nullptr && !is_intact(blocks[i]))
      exec::atomic_ref<std::uint64_t>(*changed).fetch_add(1, exec::relaxed);
  }
};

/// The traits of an allocator as a run-time value: nvcc warns of code behind a constant condition that is false.
template <class A>
[[nodiscard]] alloc::traits family() {
  return A::family;
}
/// Whether the allocator has memory of its own. One that cannot reset() has none: tests cannot use it up exactly, and
/// it has no list of live blocks.
template <class A>
[[nodiscard]] bool owns_pool() {
  return family<A>().resets;
}

/// The options, with the kind of memory that WYRM_TEST_MEMORY names (device, managed or host) unless they have another
/// one than that of the device: so each suite runs on each kind. An allocator without a pool has no kinds.
template <class A>
[[nodiscard]] alloc::options in_tested_memory(alloc::options o) {
  char const* const kind = std::getenv("WYRM_TEST_MEMORY");
  if (kind != nullptr && owns_pool<A>() && o.memory == exec::memory_kind::device)
    o.memory = exec::memory_kind_named(kind);
  return o;
}

/// The bytes that a request of this size takes at least.
template <class A>
[[nodiscard]] std::size_t in_units(std::size_t bytes) {
  std::size_t const unit = family<A>().unit_bytes;
  return (bytes + unit - 1) / unit * unit;
}

/// Of so many bytes of a pool, those that one block, or all blocks of one size, can have.
template <class A>
[[nodiscard]] std::size_t share_of(std::size_t bytes) {
  return static_cast<std::size_t>(static_cast<double>(bytes) * family<A>().share);
}
/// The bytes of a pool whose share is so many bytes.
template <class A>
[[nodiscard]] std::size_t with_share(std::size_t bytes) {
  return static_cast<std::size_t>(static_cast<double>(bytes) / family<A>().share);
}
/// Whether the pool is one range of addresses.
template <class A>
[[nodiscard]] bool is_contiguous() {
  return family<A>().share >= 1;
}

inline std::size_t served(std::vector<block> const& blocks) {
  return static_cast<std::size_t>(
      std::count_if(blocks.begin(), blocks.end(), [](block const& b) { return b.p != nullptr; }));
}

/// An allocator under test and a model of its live blocks. All launches on the allocator are made by this class. Tests
/// call expect_sound after each.
template <class A>
class pool {
 public:
  using space_type = typename A::space_type;
  using blocks = std::vector<block>;

  /// more: further arguments of the allocator's constructor.
  template <class... More>
  explicit pool(alloc::options const& o, space_type const& space = make_space<space_type>(), More const&... more)
      : space_(space),
        owner_(std::make_unique<A>(space_, in_tested_memory<A>(o), more...)),
        ref_(owner_->ref()),
        checked_(o.checked),
        device_(space_),
        counters_(space_, 3) {}

  // Blocks of an allocator without a pool of its own are not freed with it.
  ~pool() {
    if (!owns_pool<A>()) free_in_order(live());
  }
  pool(pool const&) = delete;
  pool& operator=(pool const&) = delete;

  [[nodiscard]] A& owner() { return *owner_; }
  /// Moves the owner to another address. All launches keep using the ref that was made first.
  void move_owner() { owner_ = std::make_unique<A>(std::move(*owner_)); }
  [[nodiscard]] space_type const& space() const { return space_; }
  [[nodiscard]] std::size_t committed() const { return owner_->stats().committed; }

  /// Carves so many pages of each size, and claims them in random order. If memory is short it returns none, and how
  /// many bytes are missing.
  blocks carve(std::vector<std::uint32_t> const& counts, std::uint64_t& missing) {
    using ref_type = typename A::ref_type;
    blocks carved;
    for (unsigned s = 0; s < carved_sizes; ++s)
      for (std::uint32_t k = 0; k < counts[s]; ++k)
        carved.push_back({carved_bytes(s), next_tag_++, reinterpret_cast<unsigned char*>(std::uintptr_t{k})});
    std::shuffle(carved.begin(), carved.end(), std::mt19937(seeded(7)));
    exec::buffer<std::uint32_t, space_type> wanted(space_, carved_sizes);
    exec::buffer<alloc::page_array, space_type> pages(space_, carved_sizes);
    exec::buffer<std::uint64_t, space_type> lacks(space_, 1);
    exec::copy_in<std::uint32_t>(space_, wanted.data(), counts);
    exec::for_each_tile<32>(space_, 1, carve_in_tile<ref_type>{ref_, wanted.data(), pages.data(), lacks.data()});
    missing = exec::read(space_, lacks.data());
    if (missing > 0) return {};
    upload(carved);
    exec::for_each(space_, carved.size(), claim_per_thread<ref_type>{ref_, pages.data(), device_.data()});
    carved = exec::copy_out(space_, device_.data(), carved.size());
    for (block const& b : carved) record(b);
    return carved;
  }
  /// The same, but each page is freed as soon as it is claimed. `step` determines the order, and is coprime to every
  /// count.
  void carve_and_free(std::vector<std::uint32_t> const& counts, std::uint32_t step) {
    using ref_type = typename A::ref_type;
    exec::buffer<std::uint32_t, space_type> wanted(space_, carved_sizes);
    exec::buffer<alloc::page_array, space_type> pages(space_, carved_sizes);
    exec::buffer<std::uint64_t, space_type> lacks(space_, 1);
    exec::copy_in<std::uint32_t>(space_, wanted.data(), counts);
    exec::for_each_tile<32>(space_, 1, carve_in_tile<ref_type>{ref_, wanted.data(), pages.data(), lacks.data()});
    ASSERT_EQ(exec::read(space_, lacks.data()), 0u);
    for (unsigned s = 0; s < carved_sizes; ++s) {
      exec::write(space_, counters_.data(), std::uint64_t{0});
      exec::for_each(space_, counts[s],
                     claim_and_free<ref_type>{ref_, pages.data(), s, counts[s], step, counters_.data()});
      EXPECT_EQ(exec::read(space_, counters_.data()), 0u) << "pages that changed";
      asked_ += carved_bytes(s) * counts[s];
    }
  }

  /// One request per size, in this order, with one lane per request; 0: the lane makes no request.
  blocks allocate(std::vector<std::size_t> const& sizes) {
    blocks asked;
    for (std::size_t const bytes : sizes) asked.push_back({bytes, next_tag_++, nullptr});
    upload(asked);
    exec::for_each_lane<32>(space_, asked.size(), allocate_in_tiles<typename A::ref_type>{ref_, device_.data()});
    blocks const served_blocks = exec::copy_out(space_, device_.data(), asked.size());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      EXPECT_TRUE(sizes[i] != 0 || served_blocks[i].p == nullptr) << "a lane without a request gets a block";
      if (sizes[i] != 0) record(served_blocks[i]);
    }
    return served_blocks;
  }
  blocks allocate(std::size_t n, std::size_t bytes) { return allocate(std::vector<std::size_t>(n, bytes)); }

  /// Frees the blocks in random order, so by other lanes and tiles than those that allocated them.
  void free(blocks gone) {
    std::shuffle(gone.begin(), gone.end(), random_);
    free_in_order(gone);
    for (block const& b : gone) erase_live(b);
  }
  /// Passes these pointers to deallocate, one per lane, without any change of the model.
  void free_in_order(blocks const& gone) {
    upload(gone);
    exec::for_each_lane<32>(space_, gone.size(), free_in_tiles<typename A::ref_type>{ref_, device_.data()});
  }

  /// The same, and removes the blocks `gone` from the model, which are freed by it.
  void free_once_each(blocks const& freed, blocks const& gone) {
    free_in_order(freed);
    for (block const& b : gone) erase_live(b);
  }

  /// Allocates per thread; by malloc() of the ref.
  blocks allocate_per_thread(std::vector<std::size_t> const& sizes) {
    blocks asked;
    for (std::size_t const bytes : sizes) {
      asked.push_back({bytes, next_tag_++, nullptr});
      asked_ += bytes / 2 + 1;
    }
    upload(asked);
    clear_counters();
    exec::for_each(
        space_, asked.size(),
        malloc_per_thread<typename A::ref_type>{ref_, device_.data(), counters_.data(), counters_.data() + 1});
    blocks const served_blocks = exec::copy_out(space_, device_.data(), asked.size());
    std::vector<std::uint64_t> const counts = exec::copy_out(space_, counters_.data(), 2);
    EXPECT_EQ(counts[0], 0u) << "requests were refused although there is room for all";
    EXPECT_EQ(counts[1], 0u);
    for (block const& b : served_blocks) record(b);
    return served_blocks;
  }
  void free_per_thread_shuffled(blocks gone) {
    std::shuffle(gone.begin(), gone.end(), random_);
    upload(gone);
    exec::for_each(space_, gone.size(), free_one_block<typename A::ref_type>{ref_, device_.data()});
    for (block const& b : gone) erase_live(b);
  }

  /// Runs churn_in_tiles, or churn_in_threads, with so many lanes, which have no blocks at first. Returns the blocks
  /// that are live afterwards.
  /// verify, owned: for churn_in_tiles.
  blocks churn(std::size_t lanes, unsigned rounds, std::uint64_t seed, std::uint64_t largest, bool threads = false,
               verification const& verify = {}, ownership const& owned = {}) {
    using work = churn_in_tiles<typename A::ref_type>;
    std::size_t const n = lanes * work::blocks_per_lane;
    upload(blocks(n, block{0, 0, nullptr}));
    clear_counters();
    work const rounds_of_lane{ref_,
                              device_.data(),
                              rounds,
                              seeded(seed),
                              largest,
                              counters_.data(),
                              counters_.data() + 1,
                              counters_.data() + 2,
                              verify,
                              owned};
    if (threads)
      exec::for_each(space_, lanes, churn_in_threads<typename A::ref_type>{rounds_of_lane});
    else
      exec::for_each_lane<32>(space_, lanes, rounds_of_lane);
    std::vector<std::uint64_t> const counts = exec::copy_out(space_, counters_.data(), 3);
    asked_ += counts[0];
    refused_ += counts[1];
    EXPECT_EQ(counts[2], 0u) << "blocks whose contents changed while they were live";
    blocks left;
    for (block const& b : exec::copy_out(space_, device_.data(), n)) {
      if (b.p == nullptr) continue;
      left.push_back(b);
      insert_live(b);
    }
    if (verify.samples > 0) refill(left);
    return left;
  }

  /// Allocates blocks of this size until a request is refused: first many in one launch, then one per launch, because a
  /// tile may leave memory when it requests more than there is. Returns the blocks. `wide`: how many the first launch
  /// got.
  blocks exhaust(std::size_t bytes, std::size_t* wide = nullptr) {
    std::size_t const n = (committed() / in_units<A>(bytes) / 32 + 3) * 32;
    blocks served = only_served(allocate(n, bytes));
    if (wide != nullptr) *wide = served.size();
    for (;;) {
      block const one = allocate(1, bytes).front();
      if (one.p == nullptr) return served;
      served.push_back(one);
    }
  }
  static blocks only_served(blocks all) {
    std::erase_if(all, [](block const& b) { return b.p == nullptr; });
    return all;
  }

  /// Resets the owner and the model.
  void reset() {
    owner_->reset();
    live_.clear();
    asked_ = refused_ = bad_frees_ = 0;
  }
  void expect_bad_frees(std::size_t more) { bad_frees_ += more; }

  /// The address of the pool: what a request for the whole pool, or for the share of it, returns. Only for a pool
  /// without blocks; resets it.
  [[nodiscard]] unsigned char* base() {
    unsigned char* const p = allocate(1, share_of<A>(committed())).front().p;
    reset();
    return p;
  }

  /// Checks the owner by its check(), the statistics against the model, and that live blocks are disjoint and
  /// unchanged.
  void expect_sound() {
    owner_->check();
    alloc::statistics const s = owner_->stats();
    std::size_t bytes = 0;
    for (auto const& [p, b] : live_) bytes += b.bytes;
    if (family<A>().reclaims && live_.empty()) {
      EXPECT_EQ(s.granted, 0u);
    } else {
      EXPECT_GE(s.granted, bytes);
    }
    EXPECT_LE(s.granted, s.peak);
    EXPECT_LE(s.peak, s.committed);
    EXPECT_LE(s.committed, s.reserved);
    EXPECT_EQ(s.failures, refused_);
    EXPECT_EQ(s.bad_frees, bad_frees_);
    if (checked_ && owns_pool<A>()) {
      EXPECT_EQ(s.asked, asked_);
    }
    for (alloc::class_statistics const& c : s.classes) EXPECT_LE(c.free, c.pages) << "of " << c.page_bytes << " bytes";
    expect_disjoint();
    expect_intact();
  }

 private:
  void record(block const& b) {
    if (b.p == nullptr) {
      ++refused_;
      return;
    }
    asked_ += b.bytes;
    insert_live(b);
  }
  void insert_live(block const& b) { EXPECT_TRUE(live_.emplace(b.p, b).second) << "a live block is allocated again"; }
  void erase_live(block const& gone) {
    EXPECT_EQ(live_.erase(gone.p), gone.p != nullptr ? 1u : 0u) << "the test frees a block that is not live";
  }

  void expect_disjoint() {
    unsigned char const* end = nullptr;
    for (auto const& [p, b] : live_) {
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(p) % 16, 0u);
      ASSERT_LE(end, p) << "blocks overlap";
      end = p + b.bytes;
    }
    if (live_.empty() || !owns_pool<A>() || !is_contiguous<A>()) return;
    ASSERT_LE(static_cast<std::size_t>(end - live_.begin()->first), committed()) << "blocks are outside the pool";
  }
  void expect_intact() {
    blocks const all = live();
    upload(all);
    clear_counters();
    exec::for_each(space_, all.size(), count_changed{device_.data(), counters_.data()});
    EXPECT_EQ(exec::read(space_, counters_.data()), 0u) << "live blocks whose contents changed";
  }

  [[nodiscard]] blocks live() const {
    blocks all;
    for (auto const& [p, b] : live_) all.push_back(b);
    return all;
  }
  void upload(blocks const& values) {
    device_.reserve(std::max<std::size_t>(values.size(), 1));
    exec::copy_in<block>(space_, device_.data(), values);
  }
  // Writes the whole contents of blocks of which samples have been written.
  void refill(blocks const& some) {
    upload(some);
    exec::for_each(space_, some.size(), fill_each{device_.data()});
  }
  void clear_counters() { space_.fill(counters_.data(), 0, counters_.bytes()); }

  space_type space_;
  std::unique_ptr<A> owner_;
  typename A::ref_type ref_;
  bool checked_;
  exec::buffer<block, space_type> device_;
  exec::buffer<std::uint64_t, space_type> counters_;
  std::mt19937_64 random_{seeded(1)};
  std::uint64_t next_tag_ = 1;
  std::map<unsigned char*, block> live_;  // by address
  std::size_t asked_ = 0;
  std::size_t refused_ = 0;
  std::size_t bad_frees_ = 0;
};

}  // namespace wyrm::tests
