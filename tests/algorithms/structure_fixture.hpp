// SPDX-License-Identifier: Apache-2.0
// The base of the suites of strong components, spanning forests, independent sets and colourings: edges of graphs, and
// requests for memory that fail.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "../../exec/injected_failure.hpp"
#include "../support/seed.hpp"
#include "any_graph_fixture.hpp"

namespace wyrm::tests {

template <class Space>
class structure_test : public any_graph_test<Space> {
 protected:
  using edges = std::vector<graph::edge>;
  using ids = std::vector<graph::vertex_id>;

  /// Random edges with self-loops, repeats and a hub.
  static edges random_edges(std::mt19937& random, std::size_t n, std::size_t count) {
    std::uniform_int_distribution<graph::vertex_id> vertex(0, static_cast<graph::vertex_id>(n - 1));
    edges all(count);
    for (graph::edge& e : all) {
      e = {vertex(random), vertex(random)};
      if (random() % 8 == 0) e.target = e.source;
      if (random() % 8 == 0) (random() % 2 == 0 ? e.source : e.target) = 1;
    }
    return all;
  }
  static ids random_names(std::size_t n, std::uint64_t seed) {
    ids names(n);
    std::iota(names.begin(), names.end(), graph::vertex_id{0});
    std::shuffle(names.begin(), names.end(), std::mt19937(seeded(seed)));
    return names;
  }
  static edges renamed(edges all, ids const& names) {
    for (graph::edge& e : all) e = {names[e.source], names[e.target]};
    return all;
  }
  /// Runs f with requests for memory that fail after more and more have succeeded, until it succeeds. Returns its
  /// result, and how often it failed.
  template <class F>
  static auto with_failures(F const& f, std::size_t& failures) {
    for (failures = 0;; ++failures) {
      try {
        exec::injected_failure const injected(failures);
        return f();
      } catch (error const& e) {
        EXPECT_EQ(e.code(), error_code::out_of_memory);
      }
    }
  }
};

}  // namespace wyrm::tests
