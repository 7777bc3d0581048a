// SPDX-License-Identifier: Apache-2.0
// Samples by weight on any space. Statistical tests have seeds of their own, which no environment variable changes.
#pragma once

#include <cmath>
#include <limits>

#include "weighted_sample_case.hpp"

namespace wyrm::tests {

template <class Space>
class weighted_sample_test : public weighted_sample_fixture<Space> {};

TYPED_TEST_SUITE_P(weighted_sample_test);

TYPED_TEST_P(weighted_sample_test, logarithms_are_those_of_the_library) {
  std::mt19937_64 random(seeded(1));
  for (unsigned i = 0; i < 20'000; ++i) {
    std::uint64_t x = random() >> i % 64;
    if (i % 3 == 0) x = ~x;
    // log1p for numbers close to 1
    long double const rest = std::ldexp(static_cast<long double>(0 - (x | 1)), -64);
    long double const exact = -std::log1p(-rest) / std::log(2.0L) * std::ldexp(1.0L, 57);
    auto const computed = static_cast<long double>(graph::detail::negative_log2(x));
    ASSERT_LE(std::fabs(computed - exact), 2 + exact * std::ldexp(1.0L, -48)) << x;
    ASSERT_LE(graph::detail::negative_log2_is_at_least(x), static_cast<double>(computed)) << x;
  }
}

TYPED_TEST_P(weighted_sample_test, subsets_have_the_least_keys) {
  for (std::size_t const degree : {2u, 9u, 33u, 120u, 1000u}) {
    if (this->is_slow && degree == 120) continue;
    auto const weights = this->template rough_weights<float>(degree, 7);
    std::vector<double> ascending(degree);  // neighbours of ever larger weights enter the sample
    for (std::size_t i = 0; i < degree; ++i) ascending[i] = std::pow(1.05, static_cast<double>(i) - 500);
    for (std::uint32_t const k : {1u, 5u, 15u, 32u, 33u, 64u, 100u}) {
      graph::sample_options const o{.fan_out = {k}, .seed = seeded(k)};
      auto const rough = this->split(this->sampled(this->space(), weights, 3, o));
      auto const steep = this->split(this->sampled(this->space(), ascending, 3, o));
      for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(rough[i], this->serial_subset(weights, k, o.seed, i)) << k << " of " << degree;
        EXPECT_EQ(steep[i], this->serial_subset(ascending, k, o.seed, i)) << k << " of " << degree;
      }
    }
  }
}

TYPED_TEST_P(weighted_sample_test, draws_with_replacement_are_those_of_prefix_sums) {
  for (std::size_t const degree : {2u, 9u, 33u, 512u, 513u, 1000u, 3000u}) {
    auto weights = this->template rough_weights<std::uint32_t>(degree, 8);
    weights[degree / 2] = ~0u;
    weights[degree - 1] = 5;
    std::vector<std::uint32_t> small(degree);  // many draws are on the boundary between two neighbours
    for (std::uint32_t i = 0; i < degree; ++i) small[i] = i % 4 == 1 ? 0 : i % 3 + 1;
    std::vector<double> scaled;  // by a power of two, which changes nothing
    for (std::uint32_t const w : weights) scaled.push_back(std::ldexp(w, -700));
    for (std::uint32_t const k : {1u, 15u, 100u}) {
      graph::sample_options const o{.fan_out = {k}, .replace = true, .seed = seeded(k)};
      auto const drawn = this->split(this->sampled(this->space(), weights, 3, o));
      for (std::size_t i = 0; i < 3; ++i)
        EXPECT_EQ(drawn[i], this->serial_draws(weights, k, o.seed, i)) << k << " of " << degree;
      auto const of_small = this->split(this->sampled(this->space(), small, 3, o));
      for (std::size_t i = 0; i < 3; ++i)
        EXPECT_EQ(of_small[i], this->serial_draws(small, k, o.seed, i)) << k << " of " << degree;
      auto const of_doubles = this->split(this->sampled(this->space(), scaled, 3, o));
      for (std::size_t i = 0; i < 3; ++i)
        for (graph::vertex_id const v : of_doubles[i]) EXPECT_GT(weights[v - 1], 0u) << k << " of " << degree;
    }
  }
}

TYPED_TEST_P(weighted_sample_test, probabilities_are_those_of_the_weights) {
  auto const weights = this->one_to_ten();
  std::size_t const times = this->sized(60'000);
  auto const first = this->subsets(weights, 1);
  auto const draw = [&](auto const& of, std::uint32_t k, bool replace, std::uint64_t seed) {
    return this->split(this->sampled(this->space(), of, times, {.fan_out = {k}, .replace = replace, .seed = seed}));
  };
  this->expect_distribution(draw(weights, 1, false, 301), first);
  this->expect_distribution(draw(weights, 3, false, 302), this->subsets(weights, 3));
  this->expect_distribution(draw(weights, 9, false, 303), this->subsets(weights, 9));
  this->expect_distribution(draw(weights, 1, true, 304), first);
  this->expect_distribution(draw(this->template as<float>(weights), 1, true, 305), first);
  this->expect_distribution(draw(this->template as<std::uint32_t>(weights), 3, false, 306), this->subsets(weights, 3));
  std::map<typename TestFixture::ids, double> pairs;
  for (auto const& [a, p] : first)
    for (auto const& [b, q] : first) pairs[{a[0], b[0]}] = p * q;
  this->expect_distribution(draw(this->template as<std::uint32_t>(weights), 2, true, 307), pairs);
}

TYPED_TEST_P(weighted_sample_test, extreme_weights_count_as_powers_of_two) {
  double const infinity = std::numeric_limits<double>::infinity();
  std::map<typename TestFixture::ids, double> const equal{{{1}, 0.5}, {{2}, 0.5}};
  for (bool const replace : {false, true})
    for (auto const& weights : {std::vector{1e300, infinity, 1e100}, std::vector{1e-320, 1e-300}}) {
      graph::sample_options const o{.fan_out = {1}, .replace = replace, .seed = 308};
      this->expect_distribution(this->split(this->sampled(this->space(), weights, this->sized(10'000), o)), equal);
    }
}

// A heavy neighbour among 1000: how often it is in the sample.
TYPED_TEST_P(weighted_sample_test, heavy_neighbours_of_long_rows) {
  std::vector<float> weights(1000, 0.5f);
  weights[700] = 100;  // a sixth of the sum, 599.5
  std::size_t const times = this->sized(5'000);
  double const p = 100 / 599.5;
  double const n = static_cast<double>(times);
  for (bool const replace : {false, true}) {
    auto const all =
        this->split(this->sampled(this->space(), weights, times, {.fan_out = {15}, .replace = replace, .seed = 401}));
    double with = 0;
    for (auto const& sample : all) {
      ASSERT_EQ(sample.size(), 15u);
      with += std::find(sample.begin(), sample.end(), 701) != sample.end() ? 1 : 0;
    }
    // Light neighbours that are drawn hardly change the sum of those that remain.
    double without = 1;
    for (int j = 0; j < 15; ++j) without *= 1 - 100 / (599.5 - (replace ? 0 : 0.5 * j));
    EXPECT_NEAR(with, n * (1 - without), 4 * std::sqrt(n * without * (1 - without))) << replace;
    double first = 0;
    for (auto const& sample : all) first += sample.front() == 701 ? 1 : 0;
    if (replace) {
      EXPECT_NEAR(first, n * p, 4 * std::sqrt(n * p * (1 - p)));
    }
  }
}

TYPED_TEST_P(weighted_sample_test, only_positive_weights_are_drawn) {
  double const nan = std::numeric_limits<double>::quiet_NaN();
  double const infinity = std::numeric_limits<double>::infinity();
  std::vector<double> weights{0, -1, nan, -infinity, 1e-310, -0.0, 2, 1e308, infinity, 0};
  using ids = std::vector<graph::vertex_id>;
  EXPECT_EQ(this->sampled(this->space(), weights, 2, {.fan_out = {4}}).targets, (ids{5, 7, 8, 9, 5, 7, 8, 9}));
  EXPECT_EQ(this->sampled(this->space(), weights, 1, {.fan_out = {~0u}}).targets, (ids{5, 7, 8, 9}));
  for (graph::vertex_id const v : this->sampled(this->space(), weights, 9, {.fan_out = {2}}).targets)
    EXPECT_TRUE(v == 8 || v == 9) << v;
  for (graph::vertex_id const v : this->sampled(this->space(), weights, 9, {.fan_out = {9}, .replace = true}).targets)
    EXPECT_TRUE(v == 8 || v == 9) << v;
  weights[4] = weights[6] = weights[7] = weights[8] = 0;
  for (bool const replace : {false, true}) {
    auto const none = this->sampled(this->space(), weights, 2, {.fan_out = {2}, .replace = replace});
    EXPECT_EQ(none.offsets, (std::vector<std::uint64_t>{0, 0, 0}));
    EXPECT_TRUE(none.targets.empty());
  }
  weights[9] = 1e-320;  // the only one
  EXPECT_EQ(this->sampled(this->space(), weights, 1, {.fan_out = {3}, .replace = true}).targets, (ids{10, 10, 10}));
  std::vector<float> rough = this->template rough_weights<float>(1000, 9);
  for (bool const replace : {false, true})
    for (graph::vertex_id const v :
         this->sampled(this->space(), rough, 20, {.fan_out = {15}, .replace = replace}).targets)
      EXPECT_GT(rough[v - 1], 0) << v;
}

TYPED_TEST_P(weighted_sample_test, samples_are_the_same_on_all_spaces) {
  for (query_case const& c : this->cases()) {
    auto const weights = this->template rough_weights<float>(c.edges.size(), 11);
    auto const g = this->make_weighted(this->space(), c, weights);
    auto const on_host = this->make_weighted(exec::host_space(), c, weights);
    auto const seeds = this->some_vertices(c);
    auto const entries = this->resident(seeds);
    graph::query_scratch<TypeParam> scratch(this->space());
    for (bool const replace : {false, true}) {
      graph::sample_options o{.fan_out = {15, 3, 40}, .replace = replace, .unique = true, .seed = 77};
      auto const first = graph::sample_neighbours_by_weight<float>(on_host.space(), on_host.view(), seeds, o);
      ASSERT_EQ(first.size(), 3u);
      EXPECT_EQ(graph::sample_neighbours_by_weight<float>(this->space(), g.view(), seeds, o), first) << c.name;
      auto const hops = graph::sample_neighbours_by_weight<float>(scratch, g.view(), this->vertices_in(entries), o);
      for (std::size_t h = 0; h < hops.size(); ++h) EXPECT_EQ(hops[h].to_host(), first[h]) << c.name;
      auto const& [offsets, sources, targets] = first[0];
      ASSERT_EQ(offsets.size(), seeds.size() + 1);
      ASSERT_EQ(offsets.back(), targets.size());
      for (std::size_t i = 0; i < seeds.size(); ++i)
        for (std::uint64_t j = offsets[i]; j < offsets[i + 1]; ++j) {
          ASSERT_EQ(sources[j], seeds[i]);
          ASSERT_TRUE(c.rows[seeds[i]].contains(targets[j])) << c.name;
          ASSERT_TRUE(replace || j == offsets[i] || targets[j - 1] < targets[j]) << c.name;
        }
      o.seed = 78;
      if (c.name == "star") {
        EXPECT_NE(graph::sample_neighbours_by_weight<float>(this->space(), g.view(), seeds, o), first);
      }
    }
  }
}

TYPED_TEST_P(weighted_sample_test, wrong_arguments) {
  auto const g = this->star_of(this->space(), this->one_to_ten());
  std::vector<graph::vertex_id> const seeds{0, 11, 1};
  auto const sample = [&](auto weight, graph::sample_options const& o) {
    (void)graph::sample_neighbours_by_weight<decltype(weight)>(this->space(), g.view(), seeds, o);
  };
  std::string const query = "sample_neighbours_by_weight: ";
  this->expect_refused([&] { sample(1.0, {.fan_out = {2}}); }, query + "entry 1 is vertex 11, but the graph has 11");
  this->expect_refused([&] { sample(1.0, {.fan_out = {2, 0}}); }, query + "the fan-out of hop 1 is 0");
  this->expect_refused([&] { sample(1.0f, {.fan_out = {2}}); }, query + "the values of the query have 4 bytes");
  EXPECT_TRUE(graph::sample_neighbours_by_weight<double>(this->space(), g.view(), seeds, {}).empty());
}

REGISTER_TYPED_TEST_SUITE_P(weighted_sample_test, logarithms_are_those_of_the_library, subsets_have_the_least_keys,
                            draws_with_replacement_are_those_of_prefix_sums, probabilities_are_those_of_the_weights,
                            extreme_weights_count_as_powers_of_two, heavy_neighbours_of_long_rows,
                            only_positive_weights_are_drawn, samples_are_the_same_on_all_spaces, wrong_arguments);

}  // namespace wyrm::tests
