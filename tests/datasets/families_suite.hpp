// SPDX-License-Identifier: Apache-2.0
// Generators that are kernels give the same edges, in the same order, on every space.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "../../datasets/communities.hpp"
#include "../../datasets/geometric.hpp"
#include "../../datasets/kronecker.hpp"
#include "../../datasets/meshes.hpp"
#include "../../datasets/random_graphs.hpp"
#include "../../datasets/rows.hpp"
#include "../../exec/memory.hpp"
#include "../support/spaces.hpp"

namespace wyrm::tests {

template <class Space>
class generators_on_space : public space_fixture<Space> {
 protected:
  /// The edges that make(place) writes to memory of the space.
  template <class F>
  std::vector<graph::edge> fetched(F const& make) {
    exec::buffer<graph::edge, Space> edges(this->space());
    std::size_t count = 0;
    make([&](std::uint64_t n) {
      count = n;
      edges.reserve(n);
      return edges.data();
    });
    std::vector<graph::edge> list(count);
    if (count > 0) this->space().copy_out(list.data(), edges.data(), count * sizeof(graph::edge));
    this->space().synchronize();
    return list;
  }
  template <class Row>
  std::vector<graph::edge> by_row(std::size_t rows, Row const& row) {
    return fetched([&](auto const& place) { datasets::edges_by_row(this->space(), rows, row, place); });
  }
};
TYPED_TEST_SUITE_P(generators_on_space);

TYPED_TEST_P(generators_on_space, kronecker) {
  datasets::kronecker_options o;
  o.levels = 7;
  o.noise = 0.05;
  for (bool const permutes : {false, true}) {
    o.permutes = permutes;
    auto const want = datasets::kronecker(o, exec::host_space(1)).edges;
    auto const got = this->fetched([&](auto const& place) {
      datasets::edges_by_index(this->space(), want.size(), datasets::edges_of(o), place(want.size()));
    });
    EXPECT_EQ(got, want);
  }
}

TYPED_TEST_P(generators_on_space, geometric) {
  for (unsigned const dimensions : {2u, 3u})
    for (std::size_t const n : {2u, 700u}) {
      datasets::geometric_options const o{.vertices = n, .dimensions = dimensions, .seed = 4};
      auto const want = datasets::geometric(o, exec::host_space(1)).edges;
      EXPECT_EQ(this->fetched([&](auto const& place) { datasets::geometric(this->space(), o, place); }), want);
    }
}

TYPED_TEST_P(generators_on_space, rows) {
  EXPECT_EQ(this->by_row(300, datasets::gnp_rows(300, 0.03, 5)),
            datasets::gnp(300, 0.03, 5, exec::host_space(1)).edges);
  EXPECT_EQ(this->by_row(0, datasets::gnp_rows(0, 0.5, 5)).size(), 0u);
  datasets::planted_row const planted{200, 7, datasets::bernoulli_skips(0.3), datasets::bernoulli_skips(0.01),
                                      datasets::random_at(3, 10)};
  EXPECT_EQ(this->by_row(200, planted),
            datasets::planted_partition({.vertices = 200, .groups = 7, .inside = 0.3, .outside = 0.01, .seed = 3},
                                        exec::host_space(1))
                .list.edges);
  EXPECT_EQ(this->by_row(27, datasets::nlpkkt_row{3}), datasets::nlpkkt(3, exec::host_space(1)).edges);
  EXPECT_EQ(this->by_row(60, datasets::grid_row{{3, 4, 5}, true}),
            datasets::grid({.x = 3, .y = 4, .z = 5, .wraps = true}, exec::host_space(1)).edges);
  EXPECT_EQ(this->by_row(77, datasets::dual_row{7, 11, datasets::random_at(2, 3)}),
            datasets::triangulation_dual({.rows = 7, .columns = 11, .seed = 2}, exec::host_space(1)).edges);
}

REGISTER_TYPED_TEST_SUITE_P(generators_on_space, kronecker, geometric, rows);

}  // namespace wyrm::tests
