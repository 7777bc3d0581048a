// SPDX-License-Identifier: Apache-2.0
// What the tests of samples by weight need: graphs with weights, serial models of the draws, exact probabilities.
#pragma once

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "../../graph/query/choose_by_weight.hpp"
#include "sample_case.hpp"

namespace wyrm::tests {

template <class Space>
class weighted_sample_fixture : public sample_fixture<Space> {
 protected:
  using ids = std::vector<graph::vertex_id>;

  template <class Weight, class On>
  static graph_on<On, Weight> make_weighted(On const& space, query_case const& c, std::vector<Weight> const& weights) {
    graph::options o{.directed = c.directed, .self_loops = true};
    o.pool = {.pool_bytes = std::size_t{1} << 20, .reserve_bytes = std::size_t{1} << 28};
    graph_on<On, Weight> g(space, c.vertices, o);
    g.insert(c.edges, weights);
    return g;
  }
  /// Vertex 0 has a neighbour for each weight, from 1 on.
  template <class Weight, class On>
  static graph_on<On, Weight> star_of(On const& space, std::vector<Weight> const& weights) {
    return make_weighted(space, sample_fixture<Space>::wheel(static_cast<graph::vertex_id>(weights.size())), weights);
  }
  template <class Weight, class On>
  static graph::sampled_hop sampled(On const& space, std::vector<Weight> const& weights, std::size_t times,
                                    graph::sample_options const& o) {
    auto const g = star_of(space, weights);
    return graph::sample_neighbours_by_weight<Weight>(space, g.view(), ids(times, 0), o).front();
  }
  /// The samples of each entry.
  static std::vector<ids> split(graph::sampled_hop const& hop) {
    std::vector<ids> all;
    for (std::size_t i = 0; i + 1 < hop.offsets.size(); ++i)
      all.emplace_back(hop.targets.begin() + static_cast<std::ptrdiff_t>(hop.offsets[i]),
                       hop.targets.begin() + static_cast<std::ptrdiff_t>(hop.offsets[i + 1]));
    return all;
  }

  /// The keys of draw_subset_by_weight, one after the other, and a sort of all of them.
  template <class Weight>
  static ids serial_subset(std::vector<Weight> const& weights, std::uint32_t k, std::uint64_t seed,
                           std::uint64_t position) {
    std::vector<std::pair<double, graph::vertex_id>> keys;
    for (std::uint32_t i = 0; i < weights.size(); ++i) {
      double const w = graph::detail::weight_of(weights[i]);
      std::uint64_t const x = graph::detail::sample_draws{seed, 0}.bits(position, i, 0);
      if (w > 0) keys.emplace_back(static_cast<double>(graph::detail::negative_log2(x)) / w, i + 1);
    }
    std::sort(keys.begin(), keys.end());
    if (keys.size() > k) keys.resize(k);
    ids chosen;
    for (auto const& [key, v] : keys) chosen.push_back(v);
    std::sort(chosen.begin(), chosen.end());
    return chosen;
  }
  /// Draws of integer weights: the first neighbour whose prefix sum is above the drawn number.
  static ids serial_draws(std::vector<std::uint32_t> const& weights, std::uint32_t k, std::uint64_t seed,
                          std::uint64_t position) {
    std::vector<std::uint64_t> sums(weights.begin(), weights.end());
    std::partial_sum(sums.begin(), sums.end(), sums.begin());
    ids drawn;
    for (std::uint32_t j = 0; j < k; ++j) {
      std::uint64_t const at = graph::detail::sample_draws{seed, 0}.wide_below(sums.back(), position, j);
      drawn.push_back(static_cast<graph::vertex_id>(std::upper_bound(sums.begin(), sums.end(), at) - sums.begin()) + 1);
    }
    return drawn;
  }

  /// Compares how often each sample is drawn with its probability.
  static void expect_distribution(std::vector<ids> const& all, std::map<ids, double> const& probabilities) {
    std::map<ids, double> counts;
    for (ids const& sample : all) ++counts[sample];
    double statistic = 0;
    double drawn = 0;
    for (auto const& [sample, p] : probabilities) {
      double const expected = p * static_cast<double>(all.size());
      drawn += counts[sample];
      statistic += (counts[sample] - expected) * (counts[sample] - expected) / expected;
    }
    EXPECT_EQ(drawn, static_cast<double>(all.size())) << "a sample has no probability";
    sample_fixture<Space>::expect_chi_squared(statistic, static_cast<double>(probabilities.size()) - 1);
  }
  /// The probabilities of all subsets of k neighbours, by enumeration of all orders of draws.
  static void add_orders(std::vector<double> const& weights, std::size_t k, ids const& drawn, double p, double left,
                         std::map<ids, double>& to) {
    if (drawn.size() == k) {
      ids sample = drawn;
      std::sort(sample.begin(), sample.end());
      to[sample] += p;
      return;
    }
    for (graph::vertex_id v = 1; v <= weights.size(); ++v) {
      if (std::find(drawn.begin(), drawn.end(), v) != drawn.end()) continue;
      ids more = drawn;
      more.push_back(v);
      add_orders(weights, k, more, p * weights[v - 1] / left, left - weights[v - 1], to);
    }
  }
  static std::map<ids, double> subsets(std::vector<double> const& weights, std::size_t k) {
    std::map<ids, double> probabilities;
    add_orders(weights, k, {}, 1, std::accumulate(weights.begin(), weights.end(), 0.0), probabilities);
    return probabilities;
  }
  [[nodiscard]] static std::vector<double> one_to_ten() { return {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}; }
  template <class Weight>
  static std::vector<Weight> as(std::vector<double> const& weights) {
    return {weights.begin(), weights.end()};
  }
  /// Weights of very different sizes, some of them 0.
  template <class Weight>
  static std::vector<Weight> rough_weights(std::size_t n, unsigned seed) {
    std::mt19937 random(seeded(seed));
    std::vector<Weight> weights;
    for (std::size_t i = 0; i < n; ++i)
      weights.push_back(random() % 5 == 0 ? Weight{0} : static_cast<Weight>(std::uint32_t{1} << random() % 20));
    return weights;
  }
};

}  // namespace wyrm::tests
