// SPDX-License-Identifier: Apache-2.0
// Samples of neighbours on any space. Statistical tests have seeds of their own, which no environment variable changes.
#pragma once

#include <map>

#include "../../graph/query/choose.hpp"
#include "sample_case.hpp"

namespace wyrm::tests {

template <class Space>
class sample_test : public sample_fixture<Space> {
 protected:
  using ids = std::vector<graph::vertex_id>;

  /// The samples of each of `times` seeds, which all are vertex 0 of such a star; ascending for each seed.
  [[nodiscard]] std::vector<ids> samples(graph::vertex_id degree, std::uint32_t k, std::size_t times, bool replace,
                                         std::uint64_t seed) const {
    auto const g = this->make(this->space(), this->wheel(degree));
    auto const hop = graph::sample_neighbours(this->space(), g.view(), ids(times, 0),
                                              {.fan_out = {k}, .replace = replace, .seed = seed})
                         .front();
    std::vector<ids> all;
    for (std::size_t i = 0; i < times; ++i) {
      all.emplace_back(hop.targets.begin() + static_cast<std::ptrdiff_t>(hop.offsets[i]),
                       hop.targets.begin() + static_cast<std::ptrdiff_t>(hop.offsets[i + 1]));
      if (!replace) std::sort(all.back().begin(), all.back().end());
    }
    return all;
  }
  /// Checks that all `outcomes` different samples are equally likely.
  static void expect_uniform(std::vector<ids> const& all, double outcomes) {
    std::map<ids, double> counts;
    for (ids const& sample : all) ++counts[sample];
    ASSERT_EQ(static_cast<double>(counts.size()), outcomes);
    double const mean = static_cast<double>(all.size()) / outcomes;
    double statistic = 0;
    for (auto const& [sample, count] : counts) statistic += (count - mean) * (count - mean) / mean;
    sample_fixture<Space>::expect_chi_squared(statistic, outcomes - 1);
  }
  /// Checks that all neighbours are equally often in a subset of k. The counts of a draw without replacement have a
  /// smaller variance, and a covariance, which the factor takes into account.
  static void expect_all_equally_often(std::vector<ids> const& all, double degree, double k) {
    std::vector<double> counts(static_cast<std::size_t>(degree) + 1);
    for (ids const& sample : all)
      for (graph::vertex_id const v : sample) ++counts[v];
    double const p = k / degree;
    double const n = static_cast<double>(all.size());
    double statistic = 0;
    for (std::size_t v = 1; v < counts.size(); ++v)
      statistic += (counts[v] - n * p) * (counts[v] - n * p) / (n * p * (1 - p));
    sample_fixture<Space>::expect_chi_squared(statistic * (degree - 1) / degree, degree - 1);
  }
};

TYPED_TEST_SUITE_P(sample_test);

TYPED_TEST_P(sample_test, hops_are_distinct_neighbours) {
  for (query_case const& c : this->cases()) {
    auto const g = this->make(this->space(), c);
    auto const seeds = this->some_vertices(c);
    for (bool const replace : {false, true})
      for (bool const unique : {false, true}) {
        graph::sample_options const o{.fan_out = {3, 40, 2}, .replace = replace, .unique = unique, .seed = 8};
        auto const hops = graph::sample_neighbours(this->space(), g.view(), seeds, o);
        ASSERT_EQ(hops.size(), 3u);
        auto frontier = seeds;
        for (std::size_t h = 0; h < 3; ++h) {
          auto const& [offsets, sources, targets] = hops[h];
          ASSERT_EQ(offsets.size(), frontier.size() + 1) << c.name;
          ASSERT_EQ(offsets.front(), 0u);
          ASSERT_EQ(offsets.back(), targets.size());
          ASSERT_EQ(sources.size(), targets.size());
          for (std::size_t i = 0; i < frontier.size(); ++i) {
            auto const& row = c.rows[frontier[i]];
            std::size_t const k = o.fan_out[h];
            ASSERT_EQ(offsets[i + 1] - offsets[i], replace ? (row.empty() ? 0 : k) : std::min(k, row.size()));
            std::set<graph::vertex_id> seen;
            for (std::uint64_t j = offsets[i]; j < offsets[i + 1]; ++j) {
              ASSERT_EQ(sources[j], frontier[i]);
              ASSERT_TRUE(row.contains(targets[j])) << c.name;
              ASSERT_TRUE(seen.insert(targets[j]).second || replace) << c.name;
            }
            if (replace || row.size() > k) continue;
            ASSERT_TRUE(std::equal(row.begin(), row.end(), targets.begin() + static_cast<std::ptrdiff_t>(offsets[i])));
          }
          frontier = targets;
          if (!unique) continue;
          std::sort(frontier.begin(), frontier.end());
          frontier.erase(std::unique(frontier.begin(), frontier.end()), frontier.end());
        }
      }
  }
}

// Floyd's algorithm as it is published, one draw after another.
TYPED_TEST_P(sample_test, subsets_are_those_of_the_serial_algorithm) {
  for (graph::vertex_id const degree : {2u, 9u, 33u, 34u, 120u, 3000u}) {
    auto const c = this->wheel(degree);
    auto const g = this->make(this->space(), c);
    for (std::uint32_t const k : {1u, 2u, 5u, 8u, 9u, 16u, 17u, 31u, 32u, 33u, 64u, 100u}) {
      if (k >= degree) continue;
      std::size_t const times = this->is_slow ? 4 : 50;
      graph::sample_options const o{.fan_out = {k}, .seed = seeded(k)};
      auto const hop = graph::sample_neighbours(this->space(), g.view(), std::vector<graph::vertex_id>(times, 0), o);
      std::vector<graph::vertex_id> expected;
      for (std::size_t i = 0; i < times; ++i) {
        std::set<std::uint32_t> chosen;
        for (std::uint32_t j = degree - k; j < degree; ++j) {
          std::uint32_t const drawn = graph::detail::sample_draws{o.seed, 0}.below(j + 1, i, j - (degree - k));
          std::uint32_t const index = chosen.contains(drawn) ? j : drawn;
          chosen.insert(index);
          expected.push_back(index + 1);
        }
      }
      EXPECT_EQ(hop.front().targets, expected) << k << " of " << degree;
    }
  }
}

TYPED_TEST_P(sample_test, all_subsets_are_equally_likely) {
  this->expect_uniform(this->samples(5, 2, this->sized(40'000), false, 101), 10);
  this->expect_uniform(this->samples(10, 3, this->sized(60'000), false, 102), 120);
  this->expect_uniform(this->samples(6, 5, this->sized(20'000), false, 103), 6);
  this->expect_all_equally_often(this->samples(10, 3, this->sized(20'000), false, 104), 10, 3);
  this->expect_all_equally_often(this->samples(1000, 15, this->sized(20'000), false, 105), 1000, 15);
  this->expect_all_equally_often(this->samples(100, 40, this->sized(5'000), false, 106), 100, 40);
}

TYPED_TEST_P(sample_test, draws_with_replacement_are_independent) {
  this->expect_uniform(this->samples(5, 2, this->sized(40'000), true, 201), 25);
  this->expect_uniform(this->samples(3, 4, this->sized(40'000), true, 202), 81);
}

TYPED_TEST_P(sample_test, samples_are_a_function_of_the_seed) {
  for (query_case const& c : this->cases()) {
    auto const g = this->make(this->space(), c);
    auto const on_host = this->make(exec::host_space(), c);
    auto const seeds = this->some_vertices(c);
    auto const entries = this->resident(seeds);
    graph::query_scratch<TypeParam> scratch(this->space());
    for (bool const replace : {false, true}) {
      graph::sample_options o{.fan_out = {15, 10, 40}, .replace = replace, .unique = true, .seed = 77};
      auto const first = graph::sample_neighbours(on_host.space(), on_host.view(), seeds, o);
      EXPECT_EQ(graph::sample_neighbours(this->space(), g.view(), seeds, o), first) << c.name;
      auto const hops = graph::sample_neighbours(scratch, g.view(), this->vertices_in(entries), o);
      ASSERT_EQ(hops.size(), first.size());
      for (std::size_t h = 0; h < hops.size(); ++h) EXPECT_EQ(hops[h].to_host(), first[h]) << c.name;
      o.seed = 78;
      if (c.name == "star") {
        EXPECT_NE(graph::sample_neighbours(this->space(), g.view(), seeds, o), first);
      }
    }
  }
}

TYPED_TEST_P(sample_test, hops_and_seeds_draw_differently) {
  // A complete graph with loops: each vertex has the same neighbours.
  std::vector<graph::edge> edges;
  for (graph::vertex_id u = 0; u < 50; ++u)
    for (graph::vertex_id v = u; v < 50; ++v) edges.push_back({u, v});
  auto const g = this->make(this->space(), {"", 50, false, edges});
  std::vector<graph::vertex_id> const seeds{3, 3};
  auto const hops = graph::sample_neighbours(this->space(), g.view(), seeds, {.fan_out = {20, 20}, .seed = 5});
  std::set<std::vector<graph::vertex_id>> different;
  for (auto const& hop : hops)
    for (std::size_t i = 0; i < 2; ++i)
      different.emplace(hop.targets.begin() + static_cast<std::ptrdiff_t>(20 * i),
                        hop.targets.begin() + static_cast<std::ptrdiff_t>(20 * i + 20));
  EXPECT_EQ(different.size(), 4u);
}

TYPED_TEST_P(sample_test, everything_and_nothing) {
  auto const c = this->wheel(700);
  auto const g = this->make(this->space(), c);
  std::vector<graph::vertex_id> const seeds{5, 0, 0};
  auto const all = graph::sample_neighbours(this->space(), g.view(), seeds, {.fan_out = {~0u, 3}});
  EXPECT_EQ(graph::csr({all[0].offsets, all[0].targets}), graph::neighbours(this->space(), g.view(), seeds));
  EXPECT_EQ(all[1].offsets, std::vector<std::uint64_t>(1401));
  EXPECT_TRUE(all[1].targets.empty());
  EXPECT_TRUE(graph::sample_neighbours(this->space(), g.view(), seeds, {}).empty());
  auto const none = graph::sample_neighbours(this->space(), g.view(), std::vector<graph::vertex_id>{},
                                             {.fan_out = {2, 2}, .unique = true});
  ASSERT_EQ(none.size(), 2u);
  EXPECT_EQ(none[1].offsets, std::vector<std::uint64_t>{0});
}

TYPED_TEST_P(sample_test, invalid_arguments) {
  auto const g = this->make(this->space(), this->wheel(9));
  std::vector<graph::vertex_id> const seeds{0, 1, 10, 3, 11};
  this->expect_refused([&] { (void)graph::sample_neighbours(this->space(), g.view(), seeds, {.fan_out = {2}}); },
                       "sample_neighbours: entry 2 is vertex 10, but the graph has 10 vertices");
  this->expect_refused(
      [&] {
        (void)graph::sample_neighbours(this->space(), g.view(), seeds, {.fan_out = {2, 0}});
      },
      "hop 1 is 0");
  graph::sample_options const deep{.fan_out = std::vector<std::uint32_t>(65537, 1)};
  this->expect_refused([&] { (void)graph::sample_neighbours(this->space(), g.view(), seeds, deep); }, "65537 hops");
}

REGISTER_TYPED_TEST_SUITE_P(sample_test, hops_are_distinct_neighbours, subsets_are_those_of_the_serial_algorithm,
                            all_subsets_are_equally_likely, draws_with_replacement_are_independent,
                            samples_are_a_function_of_the_seed, hops_and_seeds_draw_differently, everything_and_nothing,
                            invalid_arguments);

}  // namespace wyrm::tests
