// SPDX-License-Identifier: Apache-2.0
// Id maps on any space, compared with a std::unordered_map.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../../exec/injected_failure.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../../graph/ids/id_map.hpp"
#include "../support/corrupt.hpp"
#include "../support/spaces.hpp"

namespace wyrm::tests {

/// Keys that are numbers, and how to make many different ones.
struct number_kind {
  using key = std::uint64_t;
  template <class Space>
  using map = graph::id_map<Space>;
  /// Among them are 0 and all bits 1.
  static key make(std::uint64_t i) { return i % 2 == 0 ? i / 2 * 0x9e3779b97f4a7c15u : ~(i / 2); }
  static std::uint64_t hash(key k, graph::detail::sip_seed seed) { return graph::detail::hash_of(k, seed); }
};

/// Strings of several lengths, which have zeros and other bytes that are no letters. The first one is empty.
struct string_kind {
  using key = std::string;
  template <class Space>
  using map = graph::string_id_map<Space>;
  static key make(std::uint64_t i) {
    std::size_t const zeros = i % 13 == 5 ? 40 + i % 50 : 0;
    key k;
    for (; i > 0; i /= 256) k.push_back(static_cast<char>(i % 256));
    return k + key(zeros, 0);
  }
  static std::uint64_t hash(key const& k, graph::detail::sip_seed seed) {
    return graph::detail::hash_of(k.data(), k.size(), seed);
  }
};

template <class Space, class Kind>
struct id_case {
  using space = Space;
  using kind = Kind;
};

/// What an id map does, one key after the other.
template <class Key>
class id_model {
 public:
  std::unordered_map<Key, graph::vertex_id> ids;
  graph::vertex_id end = 0;

  [[nodiscard]] std::vector<graph::vertex_id> find(std::vector<Key> const& keys) const {
    std::vector<graph::vertex_id> found;
    for (Key const& k : keys) {
      auto const at = ids.find(k);
      found.push_back(at == ids.end() ? graph::no_vertex : at->second);
    }
    return found;
  }
  /// next(): the id of a new key.
  template <class Next>
  std::vector<graph::vertex_id> insert(std::vector<Key> const& keys, Next const& next) {
    for (Key const& k : keys)
      if (!ids.contains(k)) {
        graph::vertex_id const id = next();
        ids.emplace(k, id);
        end = std::max(end, id + 1);
      }
    return find(keys);
  }
  std::vector<graph::vertex_id> insert(std::vector<Key> const& keys) {
    return insert(keys, [&] { return end; });
  }
  graph::erased_keys erase(std::vector<Key> const& keys) {
    graph::erased_keys erased;
    std::set<Key> gone;
    for (Key const& k : keys) {
      auto const at = ids.find(k);
      if (at != ids.end()) {
        erased.ids.push_back(at->second);
        gone.insert(k);
        ids.erase(at);
      } else if (!gone.contains(k)) {
        ++erased.missing;
      }
    }
    return erased;
  }
};

/// Looks a key up in a kernel.
template <class Map, class Key>
struct look_up_in_kernel {
  Map map;
  Key const* keys;
  graph::vertex_id* ids;
  std::uint8_t* leads_back;
  WYRM_HD void operator()(std::size_t i) const {
    ids[i] = map.find(keys[i]);
    leads_back[i] = map.has(ids[i]) && graph::detail::equal(map.key_of(ids[i]), keys[i]) ? 1 : 0;
  }
};

/// Overwrites the slot of the key of an id.
template <class Map>
struct damage_slot {
  Map map;
  graph::vertex_id id;
  std::uint64_t word;
  WYRM_HD void operator()(std::size_t) const { map.word(map.locate(map.key_of(id)).slot).store(word, exec::relaxed); }
};

template <class Case>
class id_map_test : public space_fixture<typename Case::space> {
 protected:
  using space_type = typename Case::space;
  using kind = typename Case::kind;
  using key = typename kind::key;
  using keys_type = std::vector<key>;
  using map_type = typename kind::template map<space_type>;
  using ids_type = std::vector<graph::vertex_id>;
  using model_type = id_model<key>;
  static constexpr bool is_slow = std::string_view(space_type::name) == "simt";  // fibers are slow
  static constexpr std::uint64_t seed = 77;

  [[nodiscard]] map_type make() const { return map_type(this->space(), {.hash_seed = seed}); }

  /// n keys with many duplicates, of which the first `universe` of the kind are drawn.
  static keys_type draw(std::mt19937& random, std::size_t n, std::uint64_t universe) {
    keys_type keys;
    for (std::size_t i = 0; i < n; ++i) keys.push_back(kind::make(random() % universe));
    return keys;
  }
  static keys_type range(std::uint64_t first, std::uint64_t last) {
    keys_type keys;
    for (std::uint64_t i = first; i < last; ++i) keys.push_back(kind::make(i));
    return keys;
  }
  template <class T>
  [[nodiscard]] exec::buffer<T, space_type> resident(std::vector<T> const& entries) const {
    exec::buffer<T, space_type> copy(this->space(), entries.size());
    if (!entries.empty()) exec::copy_in<T>(this->space(), copy.data(), entries);
    return copy;
  }

  /// Checks the map against the model: all its keys, keys that it does not have, and the way back.
  static void expect_same(map_type const& map, model_type const& model) {
    ASSERT_NO_THROW(map.check());
    ASSERT_EQ(map.size(), model.ids.size());
    ASSERT_EQ(map.ids_end(), model.end);
    keys_type keys;
    ids_type ids;
    for (auto const& [k, id] : model.ids) {
      keys.push_back(k);
      ids.push_back(id);
    }
    ASSERT_EQ(map.keys(ids), keys);
    keys_type const others = range(1'000'000, 1'000'020);
    keys.insert(keys.end(), others.begin(), others.end());
    ASSERT_EQ(map.find(keys), model.find(keys));
  }
  /// Checks that f() throws error(bad_argument) with a message that contains the text.
  template <class F>
  static void expect_refused(F const& f, std::string const& text) {
    try {
      f();
      ADD_FAILURE() << "no error; expected: " << text;
    } catch (error const& e) {
      EXPECT_EQ(e.code(), error_code::bad_argument);
      EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
    }
  }
  /// Runs change(map) on maps with the contents of the model (which insert(map) makes), and makes one request for
  /// memory after the other fail, until none fails. After a failure the map is unchanged, and the same change succeeds.
  template <class Insert, class Change, class Expect>
  void fail_each(model_type const& before, model_type const& after, unsigned least, Insert const& insert,
                 Change const& change, Expect const& expect) const {
    for (unsigned requests = 0; requests < 200; ++requests) {
      auto map = make();
      insert(map);
      bool failed = false;
      try {
        exec::injected_failure const failure(requests);
        expect(change(map));
      } catch (error const& e) {
        ASSERT_EQ(e.code(), error_code::out_of_memory) << e.what();
        failed = true;
      }
      if (failed) {
        ASSERT_NO_FATAL_FAILURE(expect_same(map, before)) << "request " << requests;
        expect(change(map));
      }
      ASSERT_NO_FATAL_FAILURE(expect_same(map, after)) << "request " << requests;
      if (failed) continue;
      EXPECT_GE(requests, least);
      return;
    }
    FAIL() << "200 requests";
  }
};

TYPED_TEST_SUITE_P(id_map_test);

TYPED_TEST_P(id_map_test, random_operations) {
  std::mt19937 random(seeded(1));
  for (std::uint64_t const universe : {20u, 300u, 4000u}) {
    auto map = this->make();
    typename TestFixture::model_type model;
    typename TestFixture::ids_type free;
    for (std::size_t step = 0; step < scaled(this->is_slow ? 20 : 60, 8); ++step) {
      auto const keys = this->draw(random, random() % (this->is_slow ? 150 : 1500), universe);
      unsigned const what = random() % 8;
      if (what < 2) {
        ASSERT_EQ(map.insert(keys), model.insert(keys));
      } else if (what < 4) {  // ids that were freed come first, then some that leave gaps
        unsigned calls = 0;
        auto expected_free = free;
        graph::vertex_id next = model.end;
        std::size_t const before = model.ids.size();
        auto const expected = model.insert(keys, [&] {
          if (expected_free.empty()) return next += 3;
          graph::vertex_id const id = expected_free.back();
          expected_free.pop_back();
          return id;
        });
        graph::vertex_id last = map.ids_end();
        auto const ids = map.insert(keys, [&](std::size_t n) {
          EXPECT_EQ(n, model.ids.size() - before);
          ++calls;
          typename TestFixture::ids_type given;
          for (; given.size() < n && !free.empty(); free.pop_back()) given.push_back(free.back());
          while (given.size() < n) given.push_back(last += 3);
          return given;
        });
        ASSERT_EQ(ids, expected);
        ASSERT_EQ(calls, model.ids.size() > before ? 1u : 0u);
      } else if (what < 6) {
        auto const expected = model.erase(keys);
        auto const erased = map.erase(keys);
        ASSERT_EQ(erased.ids, expected.ids);
        ASSERT_EQ(erased.missing, expected.missing);
        free.insert(free.end(), erased.ids.begin(), erased.ids.end());
      } else if (what == 6) {
        ASSERT_EQ(map.find(keys), model.find(keys));
      } else if (random() % 4 == 0) {
        map.clear();
        model = {};
        free.clear();
      }
      ASSERT_NO_FATAL_FAILURE(this->expect_same(map, model)) << "step " << step << ", operation " << what;
    }
  }
}

TYPED_TEST_P(id_map_test, order_of_first_appearance) {
  using kind = typename TestFixture::kind;
  auto map = this->make();
  auto const a = kind::make(5), b = kind::make(9), c = kind::make(0), d = kind::make(1);
  typename TestFixture::keys_type const first{a, b, a, c, b, c, a};
  EXPECT_EQ(map.insert(first), (typename TestFixture::ids_type{0, 1, 0, 2, 1, 2, 0}));
  typename TestFixture::keys_type const second{d, a, kind::make(77), d, b};
  EXPECT_EQ(map.insert(second,
                       [](std::size_t n) {
                         EXPECT_EQ(n, 2u);
                         return typename TestFixture::ids_type{40, 7};
                       }),
            (typename TestFixture::ids_type{40, 0, 7, 40, 1}));
  EXPECT_EQ(map.ids_end(), 41u);
  auto const erased = map.erase(typename TestFixture::keys_type{kind::make(77), kind::make(8), a, kind::make(8), a, c});
  EXPECT_EQ(erased.ids, (typename TestFixture::ids_type{7, 0, 2}));
  EXPECT_EQ(erased.missing, 2u);
  EXPECT_EQ(map.size(), 2u);
  EXPECT_EQ(map.insert(typename TestFixture::keys_type{c, b}), (typename TestFixture::ids_type{41, 1}));
  EXPECT_NO_THROW(map.check());
}

/// All keys of one batch many times, and of another one each only once, so that lanes with equal keys meet.
TYPED_TEST_P(id_map_test, duplicates) {
  std::mt19937 random(seeded(2));
  for (std::uint64_t const universe : {1u, 2u, 7u, 100u}) {
    auto map = this->make();
    typename TestFixture::model_type model;
    auto const keys = this->draw(random, this->is_slow ? 500 : 20'000, universe);
    ASSERT_EQ(map.insert(keys), model.insert(keys));
    auto const erased = map.erase(keys);
    EXPECT_EQ(erased.ids, model.erase(keys).ids);
    EXPECT_EQ(erased.missing, 0u);
    EXPECT_EQ(map.size(), 0u);
    EXPECT_NO_THROW(map.check());
  }
}

/// Keys of one slot, which is the last one of the table: probing goes on at the first slot.
TYPED_TEST_P(id_map_test, collisions_at_the_end_of_the_table) {
  using kind = typename TestFixture::kind;
  typename TestFixture::keys_type keys;
  for (std::uint64_t i = 0; keys.size() < 40; ++i)
    if (kind::hash(kind::make(i), {TestFixture::seed, 0}) % 64 == 63) keys.push_back(kind::make(i));
  auto map = this->make();
  typename TestFixture::model_type model;
  auto const part = [&](std::size_t first, std::size_t last) {
    return typename TestFixture::keys_type(keys.begin() + static_cast<std::ptrdiff_t>(first),
                                           keys.begin() + static_cast<std::ptrdiff_t>(last));
  };
  auto const insert = [&](std::size_t first, std::size_t last) {
    ASSERT_EQ(map.insert(part(first, last)), model.insert(part(first, last)));
    ASSERT_NO_FATAL_FAILURE(this->expect_same(map, model));
  };
  auto const erase = [&](std::size_t first, std::size_t last) {
    ASSERT_EQ(map.erase(part(first, last)).ids, model.erase(part(first, last)).ids);
    ASSERT_NO_FATAL_FAILURE(this->expect_same(map, model));
  };
  insert(0, 4);
  insert(4, 8);
  erase(1, 3);
  EXPECT_EQ(map.find(part(8, 12)), model.find(part(8, 12)));
  insert(1, 2);
  erase(0, 8);
  insert(3, 20);
  erase(5, 10);
  insert(0, 40);
  erase(0, 40);
}

/// Different keys with the same 31 bits of the hash, in slots next to each other.
TYPED_TEST_P(id_map_test, equal_tags) {
  using kind = typename TestFixture::kind;
  std::unordered_map<std::uint64_t, std::uint64_t> seen;
  typename TestFixture::keys_type keys;
  for (std::uint64_t i = 0; keys.empty() && i < 3'000'000; ++i) {
    std::uint64_t const hash = kind::hash(kind::make(i), {TestFixture::seed, 0});
    auto const [at, is_new] = seen.try_emplace(hash >> 33 << 4 | hash % 16, i);
    if (!is_new) keys = {kind::make(at->second), kind::make(i)};
  }
  ASSERT_EQ(keys.size(), 2u);
  std::swap(keys[0], keys[1]);
  auto map = this->make();
  EXPECT_EQ(map.insert(keys), (typename TestFixture::ids_type{0, 1}));
  EXPECT_EQ(map.find(keys), (typename TestFixture::ids_type{0, 1}));
  EXPECT_EQ(map.erase(typename TestFixture::keys_type{keys[1]}).ids, (typename TestFixture::ids_type{1}));
  EXPECT_EQ(map.find(keys), (typename TestFixture::ids_type{0, graph::no_vertex}));
  EXPECT_EQ(map.insert(keys), (typename TestFixture::ids_type{0, 2}));
  EXPECT_NO_THROW(map.check());
}

TYPED_TEST_P(id_map_test, growth) {
  auto map = this->make();
  typename TestFixture::model_type model;
  std::uint64_t first = 0;
  for (std::size_t n : {1u, 7u, 1u, 8u, 100u, 3u, 1000u, 1u, 20'000u}) {
    if (this->is_slow && n > 1000) continue;
    auto const keys = this->range(first, first + n);
    ASSERT_EQ(map.insert(keys), model.insert(keys));
    ASSERT_NO_FATAL_FAILURE(this->expect_same(map, model));
    first += n;
  }
  // With a capacity, the table does not grow.
  typename TestFixture::map_type large(this->space(), {.capacity = 500, .hash_seed = TestFixture::seed});
  EXPECT_GE(large.bytes(), 8000u);
  EXPECT_EQ(large.insert(this->range(0, 500)).back(), 499u);
  EXPECT_NO_THROW(large.check());
}

/// Erased slots and the bytes of erased strings are used again: memory does not grow with the number of operations.
TYPED_TEST_P(id_map_test, reclaims_memory) {
  auto map = this->make();
  typename TestFixture::ids_type ids(100);
  for (graph::vertex_id i = 0; i < 100; ++i) ids[i] = i;
  auto const same_ids = [&](std::size_t n) {
    return typename TestFixture::ids_type(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(n));
  };
  std::size_t bytes = 0;
  for (std::uint64_t round = 0; round < (this->is_slow ? 30u : 100u); ++round) {
    auto const keys = this->range(1000 + 100 * round, 1100 + 100 * round);
    ASSERT_EQ(map.insert(keys, same_ids), ids);
    ASSERT_EQ(map.keys(ids), keys);
    ASSERT_EQ(map.erase(keys).ids, ids);
    ASSERT_NO_THROW(map.check());
    if (round == 10) bytes = map.bytes();
    if (round > 10) {
      ASSERT_LE(map.bytes(), bytes + bytes / 2) << "round " << round;
    }
  }
  EXPECT_EQ(map.ids_end(), 100u);
}

TYPED_TEST_P(id_map_test, out_of_memory) {
  using map_type = typename TestFixture::map_type;
  using ids_type = typename TestFixture::ids_type;
  std::size_t const n = this->is_slow ? 40 : 500;
  std::mt19937 random(seeded(3));
  auto const old_keys = this->draw(random, n, n);
  auto const keys = this->draw(random, 4 * n, 3 * n);
  typename TestFixture::model_type before;
  before.insert(old_keys);
  auto const insert = [&](map_type& map) { map.insert(old_keys); };

  auto after = before;
  auto const ids = after.insert(keys);
  auto const expect_ids = [&](ids_type const& got) { EXPECT_EQ(got, ids); };
  this->fail_each(
      before, after, 8, insert, [&](map_type& map) { return map.insert(keys); }, expect_ids);

  // A source whose ids leave gaps, so that there must be room for more ids than the map could foresee.
  after = before;
  graph::vertex_id next = before.end + 4;
  auto const spread = after.insert(keys, [&] { return next += 5; });
  graph::id_source const source = [&](std::size_t count) {
    ids_type given(count);
    for (std::size_t i = 0; i < count; ++i) given[i] = before.end + static_cast<graph::vertex_id>(5 * i + 9);
    return given;
  };
  auto const expect_spread = [&](ids_type const& got) { EXPECT_EQ(got, spread); };
  this->fail_each(
      before, after, 10, insert, [&](map_type& map) { return map.insert(keys, source); }, expect_spread);

  after = before;
  auto const erased = after.erase(keys);
  auto const expect_erased = [&](graph::erased_keys const& got) { EXPECT_EQ(got.ids, erased.ids); };
  this->fail_each(
      before, after, 4, insert, [&](map_type& map) { return map.erase(keys); }, expect_erased);

  auto const expect_edges = [&](std::vector<graph::edge> const& got) { EXPECT_EQ(got.size(), old_keys.size()); };
  this->fail_each(
      before, before, 2, insert, [&](map_type& map) { return map.find_edges(old_keys, old_keys).to_host(); },
      expect_edges);
}

TYPED_TEST_P(id_map_test, id_sources) {
  auto map = this->make();
  typename TestFixture::model_type model;
  using ids_type = typename TestFixture::ids_type;
  map.insert(this->range(0, 10));
  model.insert(this->range(0, 10));
  auto const gone = this->range(3, 4);
  map.erase(gone);
  model.erase(gone);
  auto const keys = this->range(5, 13);  // 10, 11 and 12 are new
  auto const refused = [&](ids_type const& ids, std::string const& text) {
    this->expect_refused([&] { map.insert(keys, [&](std::size_t) { return ids; }); }, text);
    ASSERT_NO_FATAL_FAILURE(this->expect_same(map, model));
  };
  refused({20, 21}, "2 ids for 3 new keys");
  refused({20, 21, 22, 23}, "4 ids for 3 new keys");
  refused({20, 9, 21}, "id 9, which has a key");
  refused({0, 9, 9}, "id 0, which has a key");
  refused({20, graph::no_vertex, 21}, "id 4294967295, which has a key in the map, or is no_vertex");
  refused({20, 3, 20}, "id 20 more than once");
  EXPECT_THROW(map.insert(keys, [](std::size_t) -> ids_type { throw std::runtime_error("no ids"); }),
               std::runtime_error);
  ASSERT_NO_FATAL_FAILURE(this->expect_same(map, model));
  EXPECT_EQ(map.insert(keys, [](std::size_t) { return ids_type{20, 3, 19}; }), (ids_type{5, 6, 7, 8, 9, 20, 3, 19}));
  EXPECT_NO_THROW(map.check());
}

TYPED_TEST_P(id_map_test, edges) {
  std::mt19937 random(seeded(4));
  auto map = this->make();
  typename TestFixture::model_type model;
  auto const sources = this->draw(random, 300, 200);
  auto const targets = this->draw(random, 300, 250);
  typename TestFixture::keys_type both;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    both.push_back(sources[i]);
    both.push_back(targets[i]);
  }
  auto const ids = model.insert(both);
  std::vector<graph::edge> expected;
  for (std::size_t i = 0; i < sources.size(); ++i) expected.push_back({ids[2 * i], ids[2 * i + 1]});
  EXPECT_EQ(map.insert_edges(sources, targets).to_host(), expected);
  ASSERT_NO_FATAL_FAILURE(this->expect_same(map, model));
  EXPECT_EQ(map.find_edges(sources, targets).to_host(), expected);
  auto others = targets;
  others[17] = TestFixture::kind::make(1000);
  others[18] = others[17];
  this->expect_refused([&] { (void)map.find_edges(sources, others); }, "find_edges: the target of edge 17 is not");
  this->expect_refused([&] { (void)map.find_edges(others, targets); }, "find_edges: the source of edge 17 is not");
  others.pop_back();
  this->expect_refused([&] { (void)map.find_edges(sources, others); }, "300 sources, but 299 targets");
  this->expect_refused([&] { map.insert_edges(sources, others); }, "300 sources, but 299 targets");
  ASSERT_NO_FATAL_FAILURE(this->expect_same(map, model));
}

TYPED_TEST_P(id_map_test, empty_batches_and_ids_without_keys) {
  typename TestFixture::keys_type const none;
  auto map = this->make();
  EXPECT_EQ(map.find(this->range(0, 3)), (typename TestFixture::ids_type(3, graph::no_vertex)));
  EXPECT_TRUE(map.insert(none, [](std::size_t) -> typename TestFixture::ids_type { throw 1; }).empty());
  EXPECT_TRUE(map.find(none).empty());
  EXPECT_TRUE(map.erase(none).ids.empty());
  EXPECT_EQ(map.erase(this->range(0, 3)).missing, 3u);
  EXPECT_TRUE(map.keys(typename TestFixture::ids_type{}).empty());
  EXPECT_EQ(map.insert_edges(none, none).size(), 0u);
  EXPECT_NO_THROW(map.check());
  map.insert(this->range(0, 40));
  map.erase(this->range(7, 8));
  this->expect_refused([&] { (void)map.keys(typename TestFixture::ids_type{3, 7, 90}); }, "keys: entry 1 is id 7,");
  this->expect_refused([&] { (void)map.keys(typename TestFixture::ids_type{0, 40}); }, "keys: entry 1 is id 40,");
  auto moved = std::move(map);
  EXPECT_EQ(moved.find(this->range(39, 40)), (typename TestFixture::ids_type{39}));
  map = std::move(moved);
  EXPECT_EQ(map.insert(this->range(7, 8)), (typename TestFixture::ids_type{40}));
  EXPECT_NO_THROW(map.check());
}

TYPED_TEST_P(id_map_test, look_ups_in_a_kernel) {
  using space_type = typename TestFixture::space_type;
  using map_type = typename TestFixture::map_type;
  using device_key = typename map_type::ref_type::key;
  auto map = this->make();
  typename TestFixture::ids_type ids;
  for (graph::vertex_id i = 0; i < 50; ++i) ids.push_back(49 - i);
  map.insert(this->range(0, 50));
  auto const listed = this->resident(ids);
  auto const keys = map.keys(graph::resident_vertices(listed.data(), ids.size()));
  exec::buffer<graph::vertex_id, space_type> found(this->space(), 50);
  exec::buffer<std::uint8_t, space_type> back(this->space(), 50);
  exec::buffer<device_key, space_type> entries(this->space(), 50);
  if constexpr (std::is_same_v<device_key, std::uint64_t>) {
    this->space().copy(entries.data(), keys.data(), entries.bytes());
  } else {
    std::vector<device_key> views;
    auto const offsets = keys.offsets.to_host();
    for (std::size_t i = 0; i < 50; ++i) views.push_back({keys.bytes.data() + offsets[i], offsets[i + 1] - offsets[i]});
    exec::copy_in<device_key>(this->space(), entries.data(), views);
  }
  using ref_type = typename map_type::ref_type;
  exec::for_each(this->space(), 50,
                 look_up_in_kernel<ref_type, device_key>{map.ref(), entries.data(), found.data(), back.data()});
  EXPECT_EQ(exec::copy_out(this->space(), found.data(), 50), ids);
  EXPECT_EQ(exec::copy_out(this->space(), back.data(), 50), std::vector<std::uint8_t>(50, 1));
}

TYPED_TEST_P(id_map_test, check_finds_damage) {
  using ref_type = typename TestFixture::map_type::ref_type;
  using word = graph::detail::slot_word;
  auto const expect = [&](std::uint64_t bits, std::string const& text) {
    auto map = this->make();
    map.insert(this->range(0, 5));
    ASSERT_NO_THROW(map.check());
    exec::for_each(this->space(), 1, damage_slot<ref_type>{map.ref(), 3, bits});
    expect_corrupt(text, [&] { map.check(); });
  };
  expect(word::empty, "4 slots with an id, but should have 5");
  expect(word::erased, "4 slots with an id, but should have 5");
  expect(word::with_position(77, 1), "4 slots with an id, but should have 5");
  expect(word::with_id(TestFixture::kind::hash(TestFixture::kind::make(2), {TestFixture::seed, 0}), 2),
         "4 keys that lead to their ids, but should have 5");
}

REGISTER_TYPED_TEST_SUITE_P(id_map_test, check_finds_damage, random_operations, order_of_first_appearance, duplicates,
                            collisions_at_the_end_of_the_table, equal_tags, growth, reclaims_memory, out_of_memory,
                            id_sources, edges, empty_batches_and_ids_without_keys, look_ups_in_a_kernel);

}  // namespace wyrm::tests
