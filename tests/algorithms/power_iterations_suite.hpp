// SPDX-License-Identifier: Apache-2.0
// The tests of hubs and authorities, Katz and eigenvector centrality, for any space.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "../../algorithms/power_iterations.hpp"
#include "../support/refusal.hpp"
#include "../support/verify_ranks.hpp"
#include "local_fixture.hpp"

namespace wyrm::tests {

template <class Space>
class power_iterations_test : public local_test<Space> {
 protected:
  using typename local_test<Space>::edges;
  using values = std::vector<double>;
  using options = algorithms::power_options;
  using katz_options = algorithms::katz_options;

  static auto hits(graph::any_graph const& g, options const& o = {}) {
    return algorithms::hits(power_iterations_test::space_of(g), g.view(), o);
  }
  static auto katz(graph::any_graph const& g, katz_options const& o = {}) {
    return algorithms::katz(power_iterations_test::space_of(g), g.view(), o);
  }
  static auto eigenvector(graph::any_graph const& g, options const& o = {}) {
    return algorithms::eigenvector_centrality(power_iterations_test::space_of(g), g.view(), o);
  }
  static katz_options of_katz(double alpha, bool normalised = false, double beta = 1) {
    katz_options o;
    o.alpha = alpha;
    o.beta = beta;
    o.normalised = normalised;
    return o;
  }
  static options exact(bool weighted = false) { return {1e-14, 20'000, weighted}; }
  static graph::any_graph weighted(std::size_t n, edges const& all, values const& weights, bool directed) {
    graph::options o{.directed = directed, .self_loops = true};
    o.values = graph::number_type::f64;
    return power_iterations_test::make(n, all, o, std::span<double const>(weights));
  }
  static void expect_near(values const& got, values const& want, double error = 1e-9) {
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t v = 0; v < want.size(); ++v) ASSERT_NEAR(got[v], want[v], error) << "vertex " << v;
  }
  static void expect_verified(graph::any_graph const& g, values const& weights, values const& present) {
    bool const is_weighted = !weights.empty();
    dense_matrix const m = matrix_of(g.to_csr(), weights);
    auto const both = hits(g, exact(is_weighted));
    EXPECT_TRUE(both.converged);
    auto const [hubs, authorities] = serial_hits(m);
    expect_near(both.hubs, hubs);
    expect_near(both.authorities, authorities);
    auto const vector = eigenvector(g, exact(is_weighted));
    EXPECT_TRUE(vector.converged);
    expect_near(vector.value, serial_eigenvector(m, present));
    double most = 0;  // a bound of the greatest eigenvalue
    for (dense_vector const& row : m) most = std::max(most, std::accumulate(row.begin(), row.end(), 0.0));
    katz_options o = of_katz(0.9 / most, false, 2.5);
    o.tolerance = 1e-14;
    o.weighted = is_weighted;
    values want = serial_katz(m, o.alpha, o.beta);
    for (std::size_t v = 0; v < want.size(); ++v) want[v] *= present[v];
    expect_near(katz(g, o).value, want);
    o.normalised = true;
    expect_near(katz(g, o).value, scaled(want, 2));
  }
};

TYPED_TEST_SUITE_P(power_iterations_test);

TYPED_TEST_P(power_iterations_test, values_of_known_graphs) {
  double const half = std::sqrt(0.5);
  // A star is bipartite: multiplication by its matrix alone exchanges the two sides for ever.
  auto const star = this->make(5, {{0, 1}, {0, 2}, {0, 3}, {0, 4}});
  auto const of_star = this->eigenvector(star, this->exact());
  EXPECT_TRUE(of_star.converged);
  this->expect_near(of_star.value, {half, half / 2, half / 2, half / 2, half / 2}, 1e-12);
  auto const both_ways =
      this->make(5, {{0, 1}, {0, 2}, {0, 3}, {0, 4}, {1, 0}, {2, 0}, {3, 0}, {4, 0}}, {.directed = true});
  this->expect_near(this->eigenvector(both_ways, this->exact()).value, of_star.value, 1e-12);
  this->expect_near(this->hits(star).hubs, {0.2, 0.2, 0.2, 0.2, 0.2}, 1e-8);
  // The greatest eigenvector of {{1, 1}, {1, 2}}.
  auto const arcs = this->make(5, {{0, 2}, {1, 2}, {1, 3}}, {.directed = true});
  double const golden = (std::sqrt(5.0) - 1) / 2;
  auto const both = this->hits(arcs, this->exact());
  this->expect_near(both.hubs, {1 - golden, golden, 0, 0, 0}, 1e-12);
  this->expect_near(both.authorities, {0, 0, golden, 1 - golden, 0}, 1e-12);
  EXPECT_LT(both.change, 1e-14);
  auto const path = this->make(3, {{0, 1}, {1, 2}}, {.directed = true});
  this->expect_near(this->katz(path, this->of_katz(0.5)).value, {1, 1.5, 1.75}, 1e-12);
  this->expect_near(this->katz(path, this->of_katz(0.5, false, 4)).value, {4, 6, 7}, 1e-12);
  double const norm = std::sqrt(1 + 2.25 + 3.0625);
  this->expect_near(this->katz(path, this->of_katz(0.5, true, 4)).value, {1 / norm, 1.5 / norm, 1.75 / norm}, 1e-12);
  auto weighted = this->of_katz(0.1);
  weighted.weighted = true;
  this->expect_near(this->katz(this->weighted(3, {{0, 1}, {1, 2}}, {3, 5}, true), weighted).value, {1, 1.3, 1.65},
                    1e-12);
}

TYPED_TEST_P(power_iterations_test, graphs_without_arcs) {
  auto const none = this->make(0, {});
  EXPECT_TRUE(this->hits(none).hubs.empty());
  EXPECT_TRUE(this->katz(none).value.empty());
  EXPECT_TRUE(this->eigenvector(none).converged);
  auto const four = this->make(4, {});
  auto const both = this->hits(four);
  EXPECT_TRUE(both.converged);
  EXPECT_EQ(both.hubs, std::vector<double>(4, 0.0));
  EXPECT_EQ(both.authorities, std::vector<double>(4, 0.0));
  EXPECT_EQ(this->katz(four).value, std::vector<double>(4, 0.5));
  EXPECT_EQ(this->eigenvector(four).value, std::vector<double>(4, 0.5));
}

TYPED_TEST_P(power_iterations_test, values_agree_with_the_verifiers) {
  for (unsigned seed = 0; seed < 4; ++seed) {
    SCOPED_TRACE(seed);
    bool const directed = seed % 2 == 1;
    std::size_t const n = 36;
    auto const all = this->random(seed, n, 5 * n, n);
    auto plain = this->make(n, all, {.directed = directed, .self_loops = seed >= 2});
    std::vector<double> present(n, 1.0);
    this->expect_verified(plain, {}, present);
    std::mt19937 random(seeded(seed + 10));
    std::vector<double> weights(all.size());
    for (double& w : weights) w = random() % 6 == 0 ? 0 : 0.125 + static_cast<double>(random() % 64);
    auto g = this->weighted(n, all, weights, directed);
    this->expect_verified(g, g.template values<double>(), present);
    g.erase(random_edges(random, n, n));
    g.remove_vertices({3, 20});
    present[3] = present[20] = 0;
    this->expect_verified(g, g.template values<double>(), present);
  }
}

// Rows of all bins. The results satisfy the equations.
TYPED_TEST_P(power_iterations_test, rows_of_hubs) {
  auto const n = static_cast<graph::vertex_id>(this->sized(6'000, 1'100));
  for (bool const directed : {false, true}) {
    std::vector<graph::edge> all = this->random(5, n, 2 * n, 300);
    for (graph::vertex_id v = 1; v < n; ++v) all.insert(all.end(), {{v, 7}, {7, v}});
    for (graph::vertex_id v = 10; v < 90; ++v) all.push_back({v, 1});
    auto const g = this->make(n, all, {.directed = directed});
    graph::csr const rows = g.to_csr();
    auto const back = [&](std::vector<double> const& x) {
      std::vector<double> y(n);
      for (graph::vertex_id u = 0; u < n; ++u)
        for (auto i = rows.offsets[u]; i < rows.offsets[u + 1]; ++i) y[rows.targets[i]] += x[u];
      return y;
    };
    auto const of_katz = this->katz(g, this->of_katz(0.004)).value;
    auto want = back(of_katz);
    for (double& x : want) x = 0.004 * x + 1;
    this->expect_near(of_katz, want, 1e-7);
    auto const both = this->hits(g, {.tolerance = 1e-10});
    want = scaled(back(both.hubs), 1);
    this->expect_near(both.authorities, want, 1e-9);
    auto const vector = this->eigenvector(g, {.tolerance = 1e-10});
    this->expect_near(vector.value, scaled(back(vector.value), 2), 1e-8);
    EXPECT_EQ(this->eigenvector(g, {.tolerance = 1e-10}).value, vector.value);
  }
}

TYPED_TEST_P(power_iterations_test, weights_of_hits_and_eigenvectors_are_relative) {
  auto const all = this->random(6, 50, 200, 20);
  std::vector<double> weights(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) weights[i] = 1 + static_cast<double>(all[i].source % 7);
  auto const g = this->weighted(50, all, weights, true);
  for (double& w : weights) w = std::ldexp(w, -400);
  auto const small = this->weighted(50, all, weights, true);
  EXPECT_EQ(this->hits(g, this->exact(true)).hubs, this->hits(small, this->exact(true)).hubs);
  EXPECT_EQ(this->eigenvector(g, this->exact(true)).value, this->eigenvector(small, this->exact(true)).value);
  // Sums of these weights are infinite.
  double const third = 1.0 / 3;
  for (double const weight : {1.7e308, 1e-305})
    for (bool const directed : {false, true}) {
      auto const triangle = this->weighted(3, {{0, 1}, {1, 2}, {2, 0}}, {weight, weight, weight}, directed);
      auto const vector = this->eigenvector(triangle, this->exact(true));
      EXPECT_TRUE(vector.converged);
      this->expect_near(vector.value, {std::sqrt(third), std::sqrt(third), std::sqrt(third)}, 1e-12);
      this->expect_near(this->hits(triangle, this->exact(true)).hubs, {third, third, third}, 1e-12);
    }
}

TYPED_TEST_P(power_iterations_test, parts_and_isolated_vertices) {
  std::size_t const n = 40;
  auto const one = this->random(11, n, 3 * n, 20);
  auto both = one;
  for (graph::edge const& e : one) {  // the same graph with ids in the opposite order
    auto const mirrored = [&](graph::vertex_id v) { return static_cast<graph::vertex_id>(2 * n - 1 - v); };
    both.push_back({mirrored(e.source), mirrored(e.target)});
  }
  auto const want = this->katz(this->make(n, one, {.directed = true}), this->of_katz(0.02)).value;
  auto const got = this->katz(this->make(2 * n + 3, both, {.directed = true}), this->of_katz(0.02)).value;
  for (std::size_t v = 0; v < n; ++v) {
    ASSERT_NEAR(got[v], want[v], 1e-7);
    ASSERT_NEAR(got[2 * n - 1 - v], want[v], 1e-7);
  }
  for (std::size_t v = 2 * n; v < 2 * n + 3; ++v) EXPECT_EQ(got[v], 1);
}

TYPED_TEST_P(power_iterations_test, series_that_diverge) {
  auto const message = [&](graph::any_graph const& g, double alpha) {
    return refusal([&] { (void)this->katz(g, this->of_katz(alpha)); });
  };
  auto const triangle = this->make(3, {{0, 1}, {1, 2}, {2, 0}});
  this->expect_contains(message(triangle, 0.5), "the series diverges after 1 iterations with alpha = 0.5");
  EXPECT_EQ(message(triangle, 0.49), "");
  // The eigenvalue of the clique is 4, and that of the edge is 1.
  auto const parts =
      this->make(7, {{0, 1}, {2, 3}, {2, 4}, {2, 5}, {2, 6}, {3, 4}, {3, 5}, {3, 6}, {4, 5}, {4, 6}, {5, 6}});
  auto few = this->of_katz(0.2505);
  few.max_iterations = 100;
  this->expect_contains(refusal([&] { (void)this->katz(parts, few); }), "the series still grows after 100 iterations");
  this->expect_contains(message(parts, 0.9), "the series diverges");
  EXPECT_EQ(message(parts, 0.2), "");
  // Terms grow along a path, and then end.
  auto const path = this->make(5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}}, {.directed = true});
  this->expect_near(this->katz(path, this->of_katz(2)).value, {1, 3, 7, 15, 31}, 1e-12);
}

TYPED_TEST_P(power_iterations_test, few_iterations) {
  auto const path = this->make(4, {{0, 1}, {1, 2}, {2, 3}}, {.directed = true});
  auto o = this->of_katz(0.5);
  o.max_iterations = 2;
  auto const got = this->katz(path, o);
  EXPECT_FALSE(got.converged);
  EXPECT_EQ(got.iterations, 2u);
  this->expect_near(got.value, {1, 1.5, 1.75, 1.75}, 1e-15);
  EXPECT_DOUBLE_EQ(got.change, 0.5 / 6);
  auto const vector = this->eigenvector(path, {.max_iterations = 1});
  this->expect_near(vector.value, scaled({1, 2, 2, 2}, 2), 1e-15);
}

// The eigenvectors of paths are sines, and those of grids their products. The power method would need thousands of
// iterations.
TYPED_TEST_P(power_iterations_test, close_eigenvalues) {
  auto const sine = [](std::size_t i, std::size_t n) {
    return std::sin(std::acos(-1.0) * static_cast<double>(i + 1) / static_cast<double>(n + 1));
  };
  auto const n = static_cast<graph::vertex_id>(this->sized(300, 60));
  typename TestFixture::edges path;
  for (graph::vertex_id v = 0; v < n; ++v) {  // two of them, one with even ids
    if (v + 1 < n) path.insert(path.end(), {{2 * v, 2 * v + 2}, {2 * v + 1, 2 * v + 3}});
  }
  auto const paths = this->make(2 * n, path);
  std::vector<double> want(2 * n);
  for (graph::vertex_id v = 0; v < 2 * n; ++v) want[v] = sine(v / 2, n);
  algorithms::power_options const o{.tolerance = 1e-12};
  auto const of_paths = this->eigenvector(paths, o);
  EXPECT_TRUE(of_paths.converged);
  EXPECT_LT(of_paths.iterations, 2 * n + 100);
  this->expect_near(of_paths.value, scaled(want, 2), 1e-8);
  // The square of the matrix has the same greatest eigenvalue for every second vertex of a path and for the others.
  double sums[2] = {0, 0};
  double squares[2] = {0, 0};
  for (graph::vertex_id v = 0; v < n; ++v) {
    sums[v % 2] += sine(v, n);
    squares[v % 2] += sine(v, n) * sine(v, n);
  }
  for (graph::vertex_id v = 0; v < 2 * n; ++v) want[v] *= sums[v / 2 % 2] / squares[v / 2 % 2];
  auto const both = this->hits(paths, o);
  EXPECT_TRUE(both.converged);
  this->expect_near(both.hubs, scaled(want, 1), 1e-8);

  auto const rows = static_cast<graph::vertex_id>(this->sized(40, 9));
  graph::vertex_id const columns = rows - 2;
  typename TestFixture::edges grid;
  std::vector<double> of_grid;
  for (graph::vertex_id r = 0; r < rows; ++r)
    for (graph::vertex_id c = 0; c < columns; ++c) {
      if (c + 1 < columns) grid.push_back({r * columns + c, r * columns + c + 1});
      if (r + 1 < rows) grid.push_back({r * columns + c, (r + 1) * columns + c});
      of_grid.push_back(sine(r, rows) * sine(c, columns));
    }
  auto const g = this->make(rows * columns, grid);
  this->expect_near(this->eigenvector(g, o).value, scaled(of_grid, 2), 1e-9);
}

TYPED_TEST_P(power_iterations_test, iterations_of_symmetric_matrices_end) {
  std::size_t const n = 500;
  auto const g = this->make(n, this->random(12, n, n, 40));  // many components
  for (unsigned const most : {1u, 2u, 3u, 9u, 20u}) {
    algorithms::power_options const o{.tolerance = 1e-15, .max_iterations = most};
    auto const vector = this->eigenvector(g, o);
    EXPECT_EQ(vector.iterations, most);
    EXPECT_FALSE(vector.converged);
    EXPECT_GT(vector.change, 0);
    EXPECT_NEAR(std::inner_product(vector.value.begin(), vector.value.end(), vector.value.begin(), 0.0), 1, 1e-12);
    auto const both = this->hits(g, o);
    EXPECT_EQ(both.iterations, most);
    EXPECT_NEAR(std::accumulate(both.hubs.begin(), both.hubs.end(), 0.0), 1, 1e-12);
    EXPECT_NEAR(std::accumulate(both.authorities.begin(), both.authorities.end(), 0.0), 1, 1e-12);
    for (auto const* const values : {&vector.value, &both.hubs, &both.authorities})
      for (double const value : *values) ASSERT_GE(value, 0);
  }
}

TYPED_TEST_P(power_iterations_test, bad_arguments_of_power_iterations) {
  auto const g = this->make(3, {{0, 1}});
  auto const message = [&](algorithms::power_options const& o) { return refusal([&] { (void)this->hits(g, o); }); };
  this->expect_contains(message({.tolerance = 0}), "hits: the tolerance");
  this->expect_contains(message({.max_iterations = 0}), "must be positive");
  this->expect_contains(message({.weighted = true}), "no numbers as values");
  for (double const alpha : {-0.1, std::numeric_limits<double>::infinity(), std::nan("")})
    this->expect_contains(refusal([&] { (void)this->katz(g, this->of_katz(alpha)); }), "katz: alpha must be finite");
  this->expect_contains(refusal([&] { (void)this->katz(g, this->of_katz(0.1, true, 0)); }), "beta finite and positive");
  auto const one_way = this->make(3, {{0, 1}}, {.directed = true, .in_neighbours = false});
  this->expect_contains(refusal([&] { (void)this->eigenvector(one_way); }), "does not keep in-neighbours");
  auto const negative = this->weighted(3, {{0, 1}, {1, 2}}, {1, -2}, true);
  this->expect_contains(refusal([&] { (void)this->eigenvector(negative, this->exact(true)); }),
                        "eigenvector_centrality: the weight of the arc 1 -> 2 is -2");
}

REGISTER_TYPED_TEST_SUITE_P(power_iterations_test, values_of_known_graphs, graphs_without_arcs,
                            values_agree_with_the_verifiers, rows_of_hubs,
                            weights_of_hits_and_eigenvectors_are_relative, parts_and_isolated_vertices,
                            series_that_diverge, few_iterations, close_eigenvalues,
                            iterations_of_symmetric_matrices_end, bad_arguments_of_power_iterations);

}  // namespace wyrm::tests
