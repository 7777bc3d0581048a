// SPDX-License-Identifier: Apache-2.0
// malloc and free of single threads by the lanes of a small warp. Which lanes a GPU takes for one tile depends on how
// they happen to be together. So every partition of the lanes into tiles is tried, in every interleaving of the tiles
// with a few preemptions.
#include "../support/interleave.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "../../alloc/registry.hpp"
#include "../../exec/converged_tile.hpp"
#include "../../exec/host_space.hpp"
#include "../support/spaces.hpp"
#include "tested_allocators.hpp"

namespace wyrm::tests {
namespace {

using host = exec::host_space;
constexpr unsigned lanes = 3;
using partition = std::array<unsigned, lanes>;  // the number of each lane's tile

std::vector<partition> all_partitions() { return {{0, 0, 0}, {0, 0, 1}, {0, 1, 0}, {0, 1, 1}, {0, 1, 2}}; }

// What the lanes of a tile pass to its collectives.
struct meeting {
  static constexpr std::size_t most_bytes = 16;
  unsigned size = 0;
  unsigned char values[2][lanes][most_bytes] = {};  // of this collective, and of the previous one, which some may read
  unsigned met[lanes] = {};                         // collectives that each lane has reached
  int kinds[2][lanes] = {};                         // of these collectives; all lanes of a tile must call the same kind
};
class lane_of_tile final : public exec::host_lanes {
 public:
  lane_of_tile(meeting& place, unsigned rank) : place_(&place), rank_(rank) {}
  [[nodiscard]] unsigned size() const override { return place_->size; }
  [[nodiscard]] unsigned rank() const override { return rank_; }
  [[nodiscard]] std::uint32_t ballot(bool predicate) override {
    auto const* const all = meet(-1, &predicate, sizeof(predicate));
    std::uint32_t bits = 0;
    for (unsigned lane = 0; lane < size(); ++lane) bits |= std::uint32_t{all[lane][0]} << lane;
    return bits;
  }
  void shuffle(void* value, std::size_t bytes, unsigned lane) override {
    EXPECT_LT(lane, size());
    std::memcpy(value, meet(static_cast<int>(bytes), value, bytes)[lane % size()], bytes);
  }
  void sync() override { (void)meet(-2, nullptr, 0); }

 private:
  using slots = unsigned char[meeting::most_bytes];
  // The values of all lanes. `kind`: the bytes of a shuffle, or a negative number.
  slots const* meet(int kind, void const* value, std::size_t bytes) {
    EXPECT_LE(bytes, meeting::most_bytes);
    unsigned const now = place_->met[rank_]++;
    place_->kinds[now % 2][rank_] = kind;
    if (bytes > 0) std::memcpy(place_->values[now % 2][rank_], value, bytes);
    for (unsigned lane = 0; lane < size(); ++lane) {
      while (place_->met[lane] <= now) exec::pause(0);
      EXPECT_EQ(place_->kinds[now % 2][lane], kind) << "lanes of a tile call different collectives";
    }
    return place_->values[now % 2];
  }

  meeting* place_;
  unsigned rank_;
};

// The tiles of a call that all lanes make.
class tiles_of {
 public:
  explicit tiles_of(partition const& p) {
    for (unsigned const tile : p) lanes_.emplace_back(meetings_[tile], meetings_[tile].size++);
  }
  tiles_of(tiles_of const&) = delete;
  tiles_of& operator=(tiles_of const&) = delete;
  // A lane gathers at once when it calls malloc or free, before another lane goes on.
  template <class F>
  auto call(unsigned lane, F const& f) {
    calling = &lanes_[lane];
    return f();
  }
  static inline exec::host_lanes* calling = nullptr;

 private:
  meeting meetings_[lanes];
  std::vector<lane_of_tile> lanes_;
};

class gathering {
 public:
  gathering() {
    exec::set_host_lanes([](void const*, void const*) { return tiles_of::calling; });
  }
  ~gathering() { exec::set_host_lanes(nullptr); }
  gathering(gathering const&) = delete;
  gathering& operator=(gathering const&) = delete;
};

template <class A>
class interleave_lanes : public testing::Test {};

using allocators = types_of<alloc::all<host>>;
TYPED_TEST_SUITE(interleave_lanes, allocators, by_name);

// Each lane allocates a block, writes to it, and frees it. Lanes that are in one tile for malloc are in others for
// free.
TYPED_TEST(interleave_lanes, every_partition_of_a_warp) {
  if (alloc::hosted_allocator<TypeParam>) GTEST_SKIP() << "a thread of the host cannot take turns";
  if (!TypeParam::family.resets || !TypeParam::family.reclaims) GTEST_SKIP() << "the allocator reuses no memory";
  constexpr std::size_t bytes = std::size_t{1} << 18;
  TypeParam pool(host(1), {.pool_bytes = bytes, .reserve_bytes = bytes, .checked = true, .guards = false});
  std::vector<partition> const partitions = all_partitions();
  for (auto const& sizes : {std::array<std::size_t, lanes>{16, 16, 16}, {100, 8192, 100}, {20000, 16, 4096}})
    for (std::size_t k = 0; k < partitions.size(); ++k) {
      partition const& of_malloc = partitions[k];
      partition const& of_free = partitions[(k + 2) % partitions.size()];
      SCOPED_TRACE("sizes " + std::to_string(sizes[0]) + ' ' + std::to_string(sizes[1]) + ' ' +
                   std::to_string(sizes[2]) + ", partition " + std::to_string(k));
      std::unique_ptr<tiles_of> allocating;
      std::unique_ptr<tiles_of> freeing;
      unsigned served = 0;
      bool damaged = false;
      gathering const g;
      std::size_t const n = interleavings(1, scaled(100, 30))
                                .explore(
                                    [&] {
                                      pool.reset();
                                      allocating = std::make_unique<tiles_of>(of_malloc);
                                      freeing = std::make_unique<tiles_of>(of_free);
                                      served = 0;
                                      std::vector<std::function<void()>> all;
                                      for (unsigned lane = 0; lane < lanes; ++lane)
                                        all.emplace_back([&, lane] {
                                          auto* const p = static_cast<unsigned char*>(
                                              allocating->call(lane, [&] { return pool.ref().malloc(sizes[lane]); }));
                                          if (p != nullptr) std::memset(p, static_cast<int>(lane + 1), sizes[lane]);
                                          served += p != nullptr;
                                          exec::pause(0);
                                          for (std::size_t i = 0; p != nullptr && i < sizes[lane]; ++i)
                                            damaged = damaged || p[i] != lane + 1;
                                          freeing->call(lane, [&] { pool.ref().free(p); });
                                        });
                                      return all;
                                    },
                                    [&] {
                                      EXPECT_EQ(served, lanes);
                                      EXPECT_FALSE(damaged) << "blocks overlap";
                                      EXPECT_NO_THROW(pool.check());
                                      alloc::statistics const s = pool.stats();
                                      EXPECT_EQ(s.granted, 0u);
                                      EXPECT_EQ(s.bad_frees, 0u);
                                      return !testing::Test::HasFailure();
                                    });
      EXPECT_GT(n, 3u) << "a lane waits for ever";
      if (testing::Test::HasFailure()) return;
    }
}

}  // namespace
}  // namespace wyrm::tests
