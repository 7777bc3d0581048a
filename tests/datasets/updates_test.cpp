// SPDX-License-Identifier: Apache-2.0
#include "../../datasets/updates.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "../../datasets/random.hpp"

namespace wyrm::tests {

using datasets::update_batch;
using datasets::update_kind;

// The first values of splitmix64 for seed 1234567, as published with the generator.
TEST(random_numbers, are_splitmix64) {
  datasets::random_numbers random(1234567);
  EXPECT_EQ(random.next(), 6457827717110365317u);
  EXPECT_EQ(random.next(), 3203168211198807973u);
  EXPECT_EQ(random.next(), 9817491932198370423u);
}

TEST(update_batch, is_uniform_without_self_loops) {
  auto const batch = update_batch(update_kind::random, 10, 90000, 1);
  std::vector<int> counts(100);
  for (auto const& [u, v] : batch) {
    ASSERT_LT(u, 10u);
    ASSERT_LT(v, 10u);
    ASSERT_NE(u, v);
    ++counts[u * 10 + v];
  }
  // 90 arcs, 1,000 each; six standard deviations are 190.
  for (std::size_t i = 0; i < 100; ++i)
    if (i % 11 != 0) {
      EXPECT_NEAR(counts[i], 1000, 190);
    }
}

TEST(update_batch, pressure_has_sources_in_a_range_of_1000) {
  auto const batch = update_batch(update_kind::pressure, 100000, 50000, 2);
  auto const [low, high] =
      std::minmax_element(batch.begin(), batch.end(), [](auto const& a, auto const& b) { return a.source < b.source; });
  EXPECT_LT(high->source - low->source, 1000u);
  EXPECT_GT(high->source - low->source, 990u);
  EXPECT_GT(std::count_if(batch.begin(), batch.end(), [](auto const& e) { return e.target > 50000; }), 20000);
  auto const small = update_batch(update_kind::pressure, 3, 100, 2);
  EXPECT_TRUE(std::all_of(small.begin(), small.end(), [](auto const& e) { return e.source < 3 && e.target < 3; }));
}

TEST(update_batch, is_a_function_of_the_seed) {
  EXPECT_EQ(update_batch(update_kind::random, 1000, 100, 3), update_batch(update_kind::random, 1000, 100, 3));
  EXPECT_NE(update_batch(update_kind::random, 1000, 100, 3), update_batch(update_kind::random, 1000, 100, 4));
  EXPECT_THROW((void)update_batch(update_kind::random, 1, 1, 0), error);
  EXPECT_TRUE(update_batch(update_kind::random, 2, 0, 0).empty());
}

using datasets::generated_options;
using datasets::generated_updates;
using datasets::stream_kind;
using datasets::update;
using datasets::update_action;

std::vector<update> all_of(generated_options const& o, std::size_t vertices,
                           std::vector<graph::vertex_id> const& arcs = {}) {
  generated_updates source(o, vertices, arcs);
  std::vector<update> all;
  for (update u; source.next(u);) all.push_back(u);
  return all;
}

TEST(generated_updates, have_their_batches_and_erase_what_they_have_inserted) {
  for (stream_kind const kind :
       {stream_kind::random, stream_kind::pressure, stream_kind::preferential, stream_kind::mix})
    for (double const erase : {0.0, 0.4}) {
      generated_options const o{.kind = kind, .batches = 9, .batch = 700, .erase = erase, .seed = 5};
      std::vector<update> const all = all_of(o, 5000, {7, 8, 7, 9});
      ASSERT_EQ(all.size(), 9u * 701);
      std::multiset<graph::edge> inserted;
      std::size_t erased = 0;
      for (std::size_t i = 0; i < all.size(); ++i) {
        ASSERT_EQ(all[i].action == update_action::end_batch, i % 701 == 700) << i;
        if (i % 701 == 700) continue;
        ASSERT_EQ(all[i].time, static_cast<double>(i / 701));
        graph::edge const e{all[i].source, all[i].target};
        ASSERT_LT(std::max(e.source, e.target), 5000u);
        ASSERT_NE(e.source, e.target);
        if (all[i].action == update_action::insert) {
          inserted.insert(e);
          continue;
        }
        ++erased;
        ASSERT_TRUE(inserted.contains(e)) << i;
        inserted.erase(inserted.find(e));
      }
      EXPECT_NEAR(static_cast<double>(erased), 6300 * erase, 250);  // six standard deviations are 233
      std::vector<update> const again = all_of(o, 5000, {7, 8, 7, 9});
      EXPECT_TRUE(std::ranges::equal(all, again, [](update const& a, update const& b) {
        return a.action == b.action && a.source == b.source && a.target == b.target;
      }));
    }
}

/// A source without take_edges().
struct one_by_one : datasets::update_source {
  generated_updates from;
  explicit one_by_one(generated_updates of) : from(std::move(of)) {}
  bool next(update& to) override { return from.next(to); }
};

TEST(generated_updates, are_the_same_in_batches_as_one_by_one) {
  std::vector<graph::vertex_id> const arcs{7, 8, 7, 9};
  for (stream_kind const kind :
       {stream_kind::random, stream_kind::pressure, stream_kind::preferential, stream_kind::mix})
    for (double const erase : {0.0, 0.3})
      for (std::size_t const most : {1u, 300u, 700u, 701u, 100'000u})
        for (bool const keep_weights : {false, true}) {
          generated_options const o{.kind = kind, .batches = 4, .batch = 700, .erase = erase, .seed = 6};
          generated_updates direct(o, 5000, arcs);
          one_by_one single(generated_updates(o, 5000, arcs));
          datasets::count_batches batches(direct, most, keep_weights);
          datasets::count_batches expected(single, most, keep_weights);
          datasets::timed_batch got;
          for (datasets::timed_batch want; expected.next(want);) {
            ASSERT_TRUE(batches.next(got));
            ASSERT_EQ(got.edges, want.edges);
            ASSERT_EQ(got.operations, want.operations);
            ASSERT_EQ(got.weights, want.weights);
            ASSERT_EQ(got.times, want.times);
          }
          ASSERT_FALSE(batches.next(got));
        }
}

TEST(update_batch, draws_two_numbers_for_each_edge) {
  auto const batch = update_batch(update_kind::random, 1000, 5000, 8);
  datasets::random_numbers random(8);
  (void)random.next();  // the range of sources
  for (graph::edge const& e : batch) {
    std::uint32_t const source = random.below(1000);
    std::uint32_t const target = random.below(999);
    ASSERT_EQ(e, (graph::edge{source, target + (target >= source ? 1 : 0)}));
  }
}

TEST(generated_updates, prefer_vertices_of_high_degree) {
  std::vector<graph::vertex_id> arcs(10'000, 42);
  generated_options o{.kind = stream_kind::preferential, .batches = 1, .batch = 1000};
  auto const to_42 = [&](std::vector<graph::vertex_id> const& of) {
    return std::ranges::count_if(all_of(o, 5000, of), [](update const& u) { return u.target == 42; });
  };
  EXPECT_GT(to_42(arcs), 850) << "42 has at least 10,000 of 12,000 ends";
  EXPECT_LT(to_42({}), 100);
  o.kind = stream_kind::random;
  EXPECT_LT(to_42(arcs), 20);
  o = {.kind = stream_kind::mix, .batches = 3, .batch = 1000};
  std::vector<update> const all = all_of(o, 5000, arcs);
  auto const [low, high] = std::minmax_element(all.begin() + 1001, all.begin() + 2001,
                                               [](auto const& a, auto const& b) { return a.source < b.source; });
  EXPECT_LT(high->source - low->source, 1000u) << "the second batch is one of pressure";
  EXPECT_GT(std::count_if(all.begin() + 2002, all.end(), [](update const& u) { return u.target == 42; }), 500);
}

TEST(generated_updates, are_described_by_words) {
  generated_options const o = generated_options::from("mix,batches=100,seed=7,erase=0.25,batch=30");
  EXPECT_EQ(o.kind, stream_kind::mix);
  EXPECT_EQ(o.batches, 100u);
  EXPECT_EQ(o.batch, 30u);
  EXPECT_EQ(o.erase, 0.25);
  EXPECT_EQ(o.seed, 7u);
  EXPECT_EQ(generated_options::from("random").batches, 10u);
  for (char const* const bad : {"", "rmat", "random,batch=0", "random,erase=1.5", "random,batches", "random,x=1"})
    EXPECT_THROW((void)generated_options::from(bad), error) << bad;
  EXPECT_THROW(generated_updates({}, 1, {}), error);
}

}  // namespace wyrm::tests
