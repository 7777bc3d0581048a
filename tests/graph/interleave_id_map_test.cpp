// SPDX-License-Identifier: Apache-2.0
// Claims of slots of an id map in every interleaving of a few threads: equal keys, different keys that want the same
// slot, and keys of which the first slots are occupied or erased.
#include "../support/interleave.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "../../graph/ids/id_kernels.hpp"
#include "../../graph/ids/id_map_ref.hpp"
#include "../../graph/ids/key_store.hpp"

namespace wyrm::tests {
namespace {

using graph::vertex_id;
using graph::detail::number_keys;
using graph::detail::slot_word;
using map_ref = graph::id_map_ref<number_keys>;
using batch_type = graph::detail::key_batch<graph::resident_keys>;

constexpr graph::detail::sip_seed seed{5, 6};
constexpr std::size_t slots = 8;

// Keys whose first slot is this one.
std::vector<std::uint64_t> keys_at(std::size_t slot, std::size_t n) {
  std::vector<std::uint64_t> keys;
  for (std::uint64_t k = 0; keys.size() < n; ++k)
    if (graph::detail::hash_of(k, seed) % slots == slot) keys.push_back(k);
  return keys;
}

// A table in which the keys 0, 1, ... of `old` have the ids 0, 1, ...
struct small_map {
  std::vector<std::uint64_t> table = std::vector<std::uint64_t>(slots, slot_word::empty);
  std::vector<std::uint64_t> keys;
  std::uint32_t marks = 0;

  explicit small_map(std::vector<std::uint64_t> const& old) : keys(old) {
    for (vertex_id id = 0; id < keys.size(); ++id) {
      marks |= 1u << id;
      ref().put(id);
    }
  }
  [[nodiscard]] map_ref ref() {
    return {table.data(), slots, seed, number_keys{keys.data()}, {&marks, static_cast<vertex_id>(keys.size())}};
  }
};

// A thread for each key of the batch claims a slot for it. `prepare` changes the map before.
void explore_claims(std::vector<std::uint64_t> const& old, std::vector<std::uint64_t> const& batch,
                    std::function<void(small_map&)> const& prepare = {}) {
  small_map now({});
  small_map before({});
  std::vector<std::uint64_t> places;
  batch_type const entries(graph::resident_keys(batch.data(), batch.size()));
  auto const make = [&] {
    now = small_map(old);
    if (prepare) prepare(now);
    before = now;
    places.assign(batch.size(), slots);
    std::vector<std::function<void()>> bodies;
    for (std::size_t i = 0; i < batch.size(); ++i)
      bodies.emplace_back([&, i] { places[i] = now.ref().claim(entries, i); });
    return bodies;
  };
  auto const check = [&] {
    std::map<std::uint64_t, std::size_t> first;  // position of each key
    for (std::size_t i = 0; i < batch.size(); ++i) first.try_emplace(batch[i], i);
    auto expected = before.table;
    for (auto const& [key, i] : first) {
      EXPECT_LT(places[i], slots);
      if (places[i] >= slots) return false;
      EXPECT_EQ(expected[places[i]], slot_word::empty) << "a slot that is not empty, or that of two keys";
      expected[places[i]] = slot_word::with_position(graph::detail::hash_of(key, seed), i);
    }
    for (std::size_t i = 0; i < batch.size(); ++i) EXPECT_EQ(places[i], places[first[batch[i]]]) << "key " << i;
    EXPECT_EQ(now.table, expected);
    return !testing::Test::HasFailure();
  };
  EXPECT_GE(interleavings(6, 80).explore(make, check), 20u);
}

TEST(interleave_id_map, equal_keys) {
  auto const k = keys_at(3, 1);
  explore_claims({}, {k[0], k[0]});
  explore_claims({}, {k[0], k[0], k[0]});
}

// The last slot of the table, so that probing goes on at the first one.
TEST(interleave_id_map, different_keys_of_one_slot) {
  auto const k = keys_at(7, 4);
  explore_claims({}, {k[0], k[1]});
  explore_claims({}, {k[0], k[1], k[2]});
  explore_claims({}, {k[0], k[1], k[0]});
  explore_claims({}, {k[1], k[0], k[0]});
  explore_claims({k[3]}, {k[1], k[0], k[1]});
}

TEST(interleave_id_map, erased_slots) {
  auto const k = keys_at(6, 5);
  auto const erase_first = [](small_map& m) { m.table[m.ref().locate(m.keys[0]).slot] = slot_word::erased; };
  explore_claims({k[3], k[4]}, {k[0], k[0]}, erase_first);
  explore_claims({k[3], k[4]}, {k[1], k[0], k[1]}, erase_first);
}

// Keys with neighbouring first slots.
TEST(interleave_id_map, overlapping_probes) {
  auto const a = keys_at(2, 2);
  auto const b = keys_at(3, 2);
  explore_claims({}, {a[0], b[0], a[1]});
  explore_claims({a[1]}, {b[0], a[0], b[0]});
}

// Of the threads that erase the same key the one with the first position remains.
TEST(interleave_id_map, erasures_of_one_key) {
  auto const k = keys_at(1, 2);
  small_map now({});
  std::vector<vertex_id> const ids{1, 0, 1};
  std::vector<std::uint64_t> places;
  auto const make = [&] {
    now = small_map(k);
    places.clear();
    for (vertex_id const id : ids) places.push_back(now.ref().locate(k[id]).slot);
    std::vector<std::function<void()>> bodies;
    for (std::size_t i = 0; i < ids.size(); ++i)
      bodies.emplace_back([&, i] { graph::detail::claim_erased<map_ref>{now.ref(), ids.data(), places.data()}(i); });
    return bodies;
  };
  auto const check = [&] {
    EXPECT_EQ(now.table[places[0]], slot_word::with_position(graph::detail::hash_of(k[1], seed), 0));
    EXPECT_EQ(now.table[places[1]], slot_word::with_position(graph::detail::hash_of(k[0], seed), 1));
    return !testing::Test::HasFailure();
  };
  EXPECT_GE(interleavings(6, 80).explore(make, check), 20u);
}

}  // namespace
}  // namespace wyrm::tests
