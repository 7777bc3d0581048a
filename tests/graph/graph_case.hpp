// SPDX-License-Identifier: Apache-2.0
// What the suites of dynamic_graph have in common: spaces with allocators, and graphs compared with a model of
// std::set.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "../../graph/dynamic_graph.hpp"
#include "../support/seed.hpp"
#include "../support/spaces.hpp"
#include "failures.hpp"
#include "model.hpp"
#include "reports.hpp"

namespace wyrm::tests {

template <class S, template <class> class A>
struct graph_case {
  using space = S;
  using graph_type = graph::dynamic_graph<S, A<S>>;
  static constexpr bool reclaims = A<S>::family.reclaims;
  static constexpr bool carves = alloc::carving_ref<typename A<S>::ref_type>;  // has pages of fixed sizes
  static constexpr bool counts_only_pages = reclaims && A<S>::family.resets;   // granted bytes without headers
};

template <class Case>
class dynamic_graph_test : public testing::Test {
 protected:
  using graph_type = typename Case::graph_type;
  using space_type = typename Case::space;

  void SetUp() override {
    if (!available<space_type>()) GTEST_SKIP() << "there is no device for the space '" << space_type::name << "'";
  }

  static constexpr std::size_t pool = std::size_t{1} << 20;
  graph_type make(std::size_t vertices, graph::options o = {}) {
    o.pool.checked = true;
    if (o.pool.pool_bytes == alloc::options{}.pool_bytes) o.pool.pool_bytes = pool;
    if (o.pool.reserve_bytes == 0) o.pool.reserve_bytes = std::size_t{1} << 30;
    return graph_type(make_space<space_type>(), vertices, o);
  }
  static graph::packed_record const* in_records(graph_type const& g) { return g.view().in_records(); }
  static graph::vertex_id const* page_of(graph_type const& g, std::size_t v) {
    return exec::read(g.space(), g.view().out_records() + v).page();
  }
  static std::vector<graph::edge> edges_of(graph::csr const& c) {
    std::vector<graph::edge> edges;
    for (graph::vertex_id v = 0; v + 1 < c.offsets.size(); ++v)
      for (std::uint64_t i = c.offsets[v]; i < c.offsets[v + 1]; ++i) edges.push_back({v, c.targets[i]});
    return edges;
  }
};

template <class Graph>
std::string damage(Graph const& g) {
  try {
    g.check();
    return "";
  } catch (error const& e) {
    return e.what();
  }
}

// Applies random batches to graph and model; compares reports after each batch, and everything else after some.
template <class Graph>
void churn(Graph& g, std::size_t rounds, std::size_t vertices, std::size_t largest_batch, unsigned seed) {
  graph_model model(vertices, g.settings().directed, g.settings().self_loops);
  std::mt19937 random(seeded(seed));
  for (std::size_t round = 0; round < rounds; ++round) {
    auto const batch = random_edges(random, vertices, random() % (largest_batch + 1));
    // Long phases of growth and of decline, so that pages change their size in both directions.
    bool const insert = random() % 8 < (round / 16 % 2 == 0 ? 6 : 2);
    expect_equal(insert ? g.insert(batch) : g.erase(batch), insert ? model.insert(batch) : model.erase(batch));
    if (round % 16 == 0 || round + 1 == rounds) {
      ASSERT_EQ(g.to_csr(), model.to_csr()) << "after round " << round << " of seed " << seed;
      ASSERT_EQ(damage(g), "") << "after round " << round << " of seed " << seed;
      EXPECT_EQ(g.arcs(), model.to_csr().targets.size());
    }
    if (testing::Test::HasFailure()) FAIL() << "in round " << round << " of seed " << seed;
  }
}

}  // namespace wyrm::tests
