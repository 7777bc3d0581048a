// SPDX-License-Identifier: Apache-2.0
// All families: published and exact counts, distributions, validity, the same result for any number of threads, and
// errors.
#include "../../datasets/families.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../../datasets/generators.hpp"
#include "../../datasets/powers.hpp"
#include "../../datasets/wiring.hpp"
#include "../support/simt_space.hpp"
#include "../support/truth.hpp"
#include "families_suite.hpp"

namespace wyrm::tests {

using spaces = testing::Types<exec::host_space, simt_space>;
INSTANTIATE_TYPED_TEST_SUITE_P(on, generators_on_space, spaces, by_name);

namespace {

using datasets::generate;
using graph::edge;
using graph::edge_list;

edge_list list_of(std::string const& description) { return generate(description).list; }

std::vector<std::uint32_t> degrees_of(edge_list const& list) {
  std::vector<std::uint32_t> degrees(list.vertices);
  for (auto const& [u, v] : list.edges) {
    ++degrees.at(u);
    ++degrees.at(v);
  }
  return degrees;
}

/// Self-loops and repetitions of an edge in either direction.
std::size_t defects(edge_list const& list) {
  std::set<edge> all;
  std::size_t loops = 0;
  for (auto const& [u, v] : list.edges) {
    loops += u == v;
    all.insert({std::min(u, v), std::max(u, v)});
  }
  return loops + list.edges.size() - all.size();
}

std::set<edge> set_of(edge_list const& list) {
  std::set<edge> all;
  for (auto const& [u, v] : list.edges) all.insert({std::min(u, v), std::max(u, v)});
  return all;
}

std::size_t components(edge_list const& list) {
  std::vector<std::size_t> parent(list.vertices);
  for (std::size_t v = 0; v < parent.size(); ++v) parent[v] = v;
  auto const root = [&](std::size_t v) {
    while (parent[v] != v) v = parent[v] = parent[parent[v]];
    return v;
  };
  std::size_t count = list.vertices;
  for (auto const& [u, v] : list.edges) {
    count -= root(u) != root(v);
    parent[root(u)] = root(v);
  }
  return count;
}

std::string message_of(std::string const& description) {
  try {
    (void)generate(description);
  } catch (error const& e) {
    return e.what();
  }
  return "no error";
}

// FNV-1a of all that a graph has.
std::uint64_t hash_of(datasets::labelled_graph const& g) {
  std::uint64_t hash = 0xcbf29ce484222325;
  auto const add = [&](std::uint64_t word) {
    for (unsigned byte = 0; byte < 8; ++byte) hash = (hash ^ (word >> 8 * byte & 0xff)) * 0x100000001b3;
  };
  add(g.list.vertices);
  for (auto const& [u, v] : g.list.edges) add(std::uint64_t{u} << 32 | v);
  for (double const t : g.list.times) add(static_cast<std::uint64_t>(t));
  for (std::uint32_t const label : g.labels) add(label);
  return hash;
}

}  // namespace

TEST(powers, agree_with_the_library) {
  for (std::uint64_t const k : {1u, 2u, 3u, 7u, 100u, 12345u, 1u << 31})
    for (double const exponent : {0.0, 0.5, 1.0, 2.0, 2.5}) {
      double const want = std::pow(static_cast<double>(k), -exponent);
      if (want < 1e-6) continue;
      EXPECT_NEAR(static_cast<double>(datasets::negative_power(k, exponent)) * 0x1p-63 / want, 1, 1e-11)
          << k << ' ' << exponent;
    }
  for (std::uint64_t const n : {1ull, 2ull, 10ull, 32768ull, 1'000'000'007ull, 1ull << 63})
    EXPECT_NEAR(datasets::natural_log(n), std::log(static_cast<double>(n)), 1e-13) << n;
  EXPECT_EQ(datasets::negative_power(1u << 31, 10), 0u);
  for (std::uint32_t const k : {1000u, 1001u, 1500u, 4000u})
    EXPECT_NEAR(static_cast<double>(datasets::negative_power(k, 10, 1000)) * 0x1p-63 * std::pow(k / 1000.0, 10), 1,
                1e-6)
        << k;
}

void expect_power_law(std::uint32_t least, std::uint32_t most, double exponent) {
  SCOPED_TRACE(std::to_string(least) + " to " + std::to_string(most));
  datasets::power_law const law(least, most, exponent);
  datasets::random_at const random(seeded(3), 0);
  std::map<std::uint32_t, double> counts;
  constexpr int draws = 200000;
  for (int i = 0; i < draws; ++i) ++counts[law(random.bits(static_cast<std::uint64_t>(i)))];
  double total = 0;
  double mean = 0;
  for (std::uint32_t k = least; k <= most; ++k) total += std::pow(1.0 * k / least, -exponent);
  for (std::uint32_t k = least; k <= most; ++k) {
    double const p = std::pow(1.0 * k / least, -exponent) / total;
    mean += k * p;
    EXPECT_NEAR(counts[k] / draws, p, 6 * std::sqrt(p / draws) + 1e-5) << k;
  }
  EXPECT_EQ(counts.size(), most + 1 - least) << "numbers outside the range";
  EXPECT_NEAR(law.mean(), mean, 1e-6 * mean);
}

// 200^-10 is less than 2^-63.
TEST(powers, power_law_has_its_probabilities) {
  expect_power_law(2, 9, 1.5);
  expect_power_law(200, 260, 10);
  expect_power_law(50'000, 50'100, 10);
}

// The formulas for the numbers of vertices and edges, and the degrees by brute force.
TEST(nlpkkt, is_the_graph_of_its_definition) {
  for (std::uint64_t const n : {1u, 2u, 3u, 5u, 8u}) {
    edge_list const g = list_of("nlpkkt,N=" + std::to_string(n));
    EXPECT_EQ(g.vertices, 2 * n * n * n + 6 * n * n);
    EXPECT_EQ(g.edges.size(), 27 * n * n * n + 16 - 36 * n);
    EXPECT_EQ(defects(g), 0u);
    // Cells of a cube with a border: by brute force over all pairs of a multiplier's cell and a variable's cell.
    std::vector<std::array<int, 3>> variables;
    auto const side = static_cast<int>(n);
    for (int z = 0; z <= side + 1; ++z)
      for (int y = 0; y <= side + 1; ++y)
        for (int x = 0; x <= side + 1; ++x) {
          int faces = 0;
          for (int const at : {x, y, z}) faces += at == 0 || at == side + 1;
          if (faces <= 1) variables.push_back({x, y, z});
        }
    ASSERT_EQ(variables.size(), n * n * n + 6 * n * n);
    std::vector<std::uint32_t> of_variables;
    std::vector<std::uint32_t> of_multipliers;
    for (auto const& cell : variables) {
      auto const is_near = [&](auto const& other) {
        return std::abs(other[0] - cell[0]) <= 1 && std::abs(other[1] - cell[1]) <= 1 &&
               std::abs(other[2] - cell[2]) <= 1;
      };
      auto const is_inside = [&](auto const& at) {
        return std::all_of(at.begin(), at.end(), [&](int c) { return c >= 1 && c <= side; });
      };
      of_variables.push_back(static_cast<std::uint32_t>(std::count_if(
          variables.begin(), variables.end(), [&](auto const& v) { return is_near(v) && is_inside(v); })));
      if (is_inside(cell))
        of_multipliers.push_back(
            static_cast<std::uint32_t>(std::count_if(variables.begin(), variables.end(), is_near)));
    }
    // Multipliers have the last ids, in the order of their cells; variables are compared in the order of degrees.
    auto got = degrees_of(g);
    auto const first = got.end() - static_cast<std::ptrdiff_t>(n * n * n);
    EXPECT_EQ(std::vector<std::uint32_t>(first, got.end()), of_multipliers);
    std::sort(got.begin(), first);
    std::sort(of_variables.begin(), of_variables.end());
    EXPECT_EQ(std::vector<std::uint32_t>(got.begin(), first), of_variables);
  }
}

TEST(grid, joins_neighbours) {
  for (bool const wraps : {false, true}) {
    edge_list const g = list_of(std::string(wraps ? "torus" : "grid") + ",x=3,y=4,z=5");
    std::set<edge> want;
    for (std::uint32_t a = 0; a < 60; ++a)
      for (std::uint32_t b = 0; b < a; ++b) {
        auto const distance = [&](std::uint32_t p, std::uint32_t q, std::uint32_t size) {
          std::uint32_t const d = p > q ? p - q : q - p;
          return wraps ? std::min(d, size - d) : d;
        };
        if (distance(a % 3, b % 3, 3) + distance(a / 3 % 4, b / 3 % 4, 4) + distance(a / 12, b / 12, 5) == 1)
          want.insert({b, a});
      }
    EXPECT_EQ(set_of(g), want);
    EXPECT_EQ(g.edges.size(), wraps ? 180u : 2u * 20 + 3u * 15 + 4u * 12);
  }
  EXPECT_EQ(list_of("grid,x=1,y=1").edges.size(), 0u);
  EXPECT_EQ(list_of("torus,x=5,y=1").edges.size(), 5u);
  EXPECT_NE(message_of("torus,x=2").find("no size of 2"), std::string::npos);
}

TEST(dual, has_triangles_with_common_sides) {
  edge_list const g = list_of("dual,rows=30,columns=20,seed=3");
  EXPECT_EQ(g.vertices, 1200u);
  EXPECT_EQ(g.edges.size(), 3u * 600 - 50);
  EXPECT_EQ(defects(g), 0u);
  EXPECT_EQ(components(g), 1u);
  auto const degrees = degrees_of(g);
  EXPECT_EQ(*std::max_element(degrees.begin(), degrees.end()), 3u);
  // Vertices of the triangles of a square: corners are numbered by rows of 21. The diagonal is known from an edge to
  // the square below: the first triangle has the lower side if the diagonal falls from the upper left.
  std::vector<std::set<std::uint32_t>> corners(1200);
  for (std::uint32_t square = 0; square < 600; ++square) {
    std::uint32_t const a = square / 20 * 21 + square % 20;
    bool const falls = (datasets::random_at(3, 3).bits(square) & 1) != 0;
    corners[2 * square] = falls ? std::set{a, a + 21, a + 22} : std::set{a, a + 1, a + 21};
    corners[2 * square + 1] = falls ? std::set{a, a + 1, a + 22} : std::set{a + 1, a + 21, a + 22};
  }
  for (edge const& e : g.edges) {
    auto const common = std::count_if(corners[e.source].begin(), corners[e.source].end(),
                                      [&](auto c) { return corners[e.target].contains(c); });
    EXPECT_EQ(common, 2) << e.source << ' ' << e.target;
  }
}

TEST(road, is_connected_and_has_the_degrees_of_roads) {
  edge_list const g = list_of("road,seed=5");
  EXPECT_EQ(defects(g), 0u);
  EXPECT_EQ(components(g), 1u);
  std::vector<double> share(5);
  for (std::uint32_t const d : degrees_of(g)) ++share.at(d);
  for (double& s : share) s /= static_cast<double>(g.vertices);
  // Shares of the degrees 0 to 4 in luxembourg_osm of DIMACS10 (114,599 vertices).
  double const real[] = {0, 0.0344, 0.8525, 0.1037, 0.0093};
  for (std::size_t d = 0; d < 5; ++d) EXPECT_NEAR(share[d], real[d], 0.02) << d;
  EXPECT_EQ(components(list_of("road,rows=7,columns=1,bends=0")), 1u);
  EXPECT_EQ(list_of("road,rows=30,columns=30,bends=0,loops=0").edges.size(), 899u);
  EXPECT_EQ(list_of("road,rows=30,columns=30,bends=0,loops=1,crossings=1").edges.size(), 2u * 30 * 29);
}

TEST(rgg, is_like_the_published_graph) {
  // rgg_n_2_15_s0 of DIMACS10 has 160,240 edges and a largest degree of 24.
  std::size_t edges = 160240;
  std::uint64_t largest = 24;
  if (std::getenv("WYRM_DATA") != nullptr)
    for (truth_row const& row : read_truth(data_folder()))
      if (row.file == "rgg_n_2_15_s0.graph") {
        edges = row.undirected_edges;
        largest = row.max_degree_undirected;
      }
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    edge_list const g = list_of("rgg,n=32768,seed=" + std::to_string(seeded(seed)));
    EXPECT_NEAR(static_cast<double>(g.edges.size()), static_cast<double>(edges), 2500);
    auto const degrees = degrees_of(g);
    // A degree above 34 has a probability of 1e-5, and one above 30 of 1e-3.
    EXPECT_NEAR(*std::max_element(degrees.begin(), degrees.end()), static_cast<double>(largest), 10);
  }
}

TEST(rgg, has_the_edges_of_its_points) {
  for (unsigned const dimensions : {2u, 3u})
    for (double const radius : {0.0, 0.02, 0.3, 1.0}) {
      datasets::geometric_options const o{
          .vertices = 300, .dimensions = dimensions, .radius = radius, .seed = seeded(2)};
      auto const shape = datasets::detail::shape_of(o);
      // Points by cell, then by number; the radius is that of the options.
      std::vector<std::pair<std::uint64_t, datasets::detail::point>> points;
      for (std::uint64_t i = 0; i < 300; ++i) points.emplace_back(shape.cell_of(shape.point_of(i)), shape.point_of(i));
      std::stable_sort(points.begin(), points.end(), [](auto const& a, auto const& b) { return a.first < b.first; });
      double const expected = radius > 0 ? radius : 0.55 * std::pow(std::log(300) / 300, 1.0 / dimensions);
      EXPECT_NEAR(static_cast<double>(shape.radius) * 0x1p-31, expected, 1e-8);
      std::set<edge> want;
      for (std::uint32_t a = 0; a < 300; ++a)
        for (std::uint32_t b = 0; b < a; ++b) {
          double square = 0;
          for (unsigned d = 0; d < 3; ++d) {
            double const x = (double{1} * points[a].second.at[d] - points[b].second.at[d]) * 0x1p-31;
            square += x * x;
          }
          if (square < static_cast<double>(shape.radius) * 0x1p-31 * (static_cast<double>(shape.radius) * 0x1p-31))
            want.insert({b, a});
        }
      edge_list const g = datasets::geometric(o);
      EXPECT_EQ(set_of(g), want) << dimensions << ' ' << radius;
      EXPECT_EQ(g.edges.size(), want.size());
    }
  edge_list const g = list_of("rgg,n=50000,degree=9");
  EXPECT_NEAR(2.0 * static_cast<double>(g.edges.size()) / 50000, 9, 0.3);
}

// The sum of squares of degrees: at each level the ends are in the halves with the probabilities a + b and c + d.
TEST(graph500, has_the_skew_of_its_matrix) {
  edge_list const g = list_of("graph500,scale=12,edge_factor=64,seed=" + std::to_string(seeded(2)));
  EXPECT_EQ(g.vertices, 4096u);
  EXPECT_EQ(g.edges.size(), 64u * 4096);
  EXPECT_EQ(g.edges, list_of("rmat,scale=12,edge_factor=64,seed=" + std::to_string(seeded(2))).edges);
  EXPECT_EQ(g.edges, datasets::rmat(12, 64, seeded(2)).edges);
  std::vector<double> out(4096);
  for (auto const& [u, v] : g.edges) ++out[u];
  double sum = 0;
  for (double const d : out) sum += d / (64 * 4096) * (d / (64 * 4096));
  double const expected = std::pow(0.76 * 0.76 + 0.24 * 0.24, 12);
  EXPECT_NEAR(sum, expected, 0.05 * expected);
}

TEST(kronecker, has_the_frequencies_of_its_matrix) {
  std::string const three = "0.3:0.05:0.1:0.05:0.2:0:0.1:0.05:0.15";
  double const cells[] = {0.3, 0.05, 0.1, 0.05, 0.2, 0, 0.1, 0.05, 0.15};
  edge_list const g = list_of("kronecker,levels=2,edge_factor=20000,matrix=" + three);
  ASSERT_EQ(g.vertices, 9u);
  std::vector<double> counts(81);
  for (auto const& [u, v] : g.edges) ++counts.at(u * 9 + v);
  double const m = static_cast<double>(g.edges.size());
  for (unsigned u = 0; u < 9; ++u)
    for (unsigned v = 0; v < 9; ++v) {
      double const p = cells[u / 3 * 3 + v / 3] * cells[u % 3 * 3 + v % 3];
      EXPECT_NEAR(counts[u * 9 + v] / m, p, 6 * std::sqrt(p / m)) << u << ' ' << v;
    }
  // The sum may be 1 - 1e-6, and the rest belongs to no cell of probability 0.
  for (auto const& [u, v] : list_of("kronecker,levels=12,edge_factor=500,matrix=0.3333331:0.333333:0.333333:0").edges)
    ASSERT_EQ(u & v, 0u);
  // With noise the matrix of a level is (a - 2ma/(a+d), b + m; c + m, d - 2md/(a+d)).
  auto const noisy = datasets::edges_of({.noise = 0.1, .seed = seeded(4)});
  std::set<double> shifts;
  for (auto const& sums : {noisy.sums[0], noisy.sums[1], noisy.sums[2], noisy.sums[3]}) {
    double const cell[] = {sums[0] * 0x1p-32, (sums[1] - sums[0]) * 0x1p-32, (sums[2] - sums[1]) * 0x1p-32,
                           1 - sums[2] * 0x1p-32};
    double const shift = cell[1] - 0.19;
    EXPECT_LE(std::abs(shift), 0.1);
    EXPECT_NEAR(cell[2] - 0.19, shift, 1e-8);
    EXPECT_NEAR(cell[0], 0.57 - 2 * shift * 0.57 / 0.62, 1e-8);
    EXPECT_NEAR(cell[3], 0.05 - 2 * shift * 0.05 / 0.62, 1e-8);
    shifts.insert(shift);
  }
  EXPECT_EQ(shifts.size(), 4u);
  EXPECT_NE(list_of("kronecker,noise=0.1,levels=8").edges, list_of("kronecker,levels=8").edges);
  EXPECT_EQ(list_of("kronecker,noise=0.1,levels=8").edges.size(), 256u * 16);
  EXPECT_NE(message_of("kronecker,noise=0.3").find("from 0 to 0.19"), std::string::npos);
  EXPECT_NE(message_of("kronecker,matrix=0.5:0.5:0.5:0.5").find("sum 1"), std::string::npos);
  EXPECT_NE(message_of("kronecker,matrix=0.5:0.5").find("4, 9 or 16 cells"), std::string::npos);
  EXPECT_NE(message_of("kronecker,matrix=0.5:x").find("'x' is not a number"), std::string::npos);
  EXPECT_NE(message_of("kronecker,levels=25,matrix=" + three).find("at most 2^31"), std::string::npos);
}

TEST(gnp, has_the_mean_and_the_variance_of_a_binomial_distribution) {
  constexpr double n = 80;
  constexpr double pairs = n * (n - 1) / 2;
  for (double const p : {0.01, 0.3, 0.9}) {
    constexpr int runs = 600;
    double sum = 0;
    double squares = 0;
    for (std::uint64_t seed = 0; seed < runs; ++seed) {
      auto const g = datasets::gnp(80, p, seeded(seed), exec::host_space(1));
      auto const m = static_cast<double>(g.edges.size());
      sum += m;
      squares += m * m;
      if (seed == 0) {
        EXPECT_EQ(defects(g), 0u);
      }
    }
    double const mean = sum / runs;
    double const variance = squares / runs - mean * mean;
    double const want = pairs * p * (1 - p);
    EXPECT_NEAR(mean, pairs * p, 5 * std::sqrt(want / runs)) << p;
    EXPECT_NEAR(variance / want, 1, 5 * std::sqrt(2.0 / runs)) << p;
  }
  EXPECT_EQ(list_of("gnp,n=50,p=1").edges.size(), 50u * 49 / 2);
  EXPECT_EQ(list_of("gnp,n=50,p=0").edges.size(), 0u);
  EXPECT_EQ(list_of("gnp,n=0").vertices, 0u);
  EXPECT_EQ(list_of("gnp,n=1,p=1").edges.size(), 0u);
}

TEST(gnm, has_so_many_different_edges) {
  for (unsigned const m : {0u, 1u, 20u, 23u, 44u, 45u}) {
    edge_list const g = list_of("gnm,n=10,m=" + std::to_string(m));
    EXPECT_EQ(g.edges.size(), m);
    EXPECT_EQ(defects(g), 0u);
  }
  // Each pair is as frequent as the others.
  for (unsigned const m : {3u, 8u}) {
    std::map<edge, double> counts;
    for (std::uint64_t seed = 0; seed < 5000; ++seed)
      for (edge const& e : datasets::gnm(5, m, seeded(seed)).edges) ++counts[e];
    EXPECT_EQ(counts.size(), 10u);
    double const p = m / 10.0;
    for (auto const& [e, count] : counts) EXPECT_NEAR(count / 5000, p, 5 * std::sqrt(p * (1 - p) / 5000));
  }
  EXPECT_NE(message_of("gnm,n=10,m=46").find("at most 45 edges, not 46"), std::string::npos);
  EXPECT_NE(message_of("gnm,n=0,m=1").find("at most 0 edges"), std::string::npos);
}

// The share of vertices with k neighbours tends to 2m(m+1) / (k(k+1)(k+2)) (Bollobas et al., 2001).
TEST(ba, has_the_degrees_of_preferential_attachment) {
  edge_list const g = list_of("ba,n=50000,degree=3,seed=" + std::to_string(seeded(1)));
  EXPECT_EQ(g.edges.size(), 50000u * 3 - 6);
  EXPECT_EQ(defects(g), 0u);
  std::map<std::uint32_t, double> share;
  for (std::uint32_t const d : degrees_of(g)) share[d] += 1.0 / 50000;
  for (std::uint32_t k = 3; k < 10; ++k) EXPECT_NEAR(share[k], 24.0 / (k * (k + 1) * (k + 2)), 0.01) << k;
  EXPECT_EQ(share.begin()->first, 3u);
  EXPECT_NE(message_of("ba,n=4,degree=4").find("not to 4 of 4"), std::string::npos);
  EXPECT_EQ(list_of("ba,n=2,degree=1").edges.size(), 1u);
}

TEST(configuration, has_the_given_degrees) {
  auto const path = std::filesystem::temp_directory_path() / ("wyrm_degrees_" + std::to_string(::getpid()));
  auto const with = [&](std::string const& text, std::string const& more = {}) {
    std::ofstream(path, std::ios::binary) << text;
    return "configuration,degrees=" + path.string() + more;
  };
  for (char const* text : {"# degrees\n3\n2\n2\n1\n0\n", "4\n4\n4\n4\n4\n", "5\n1\n1\n1\n1\r\n1\r\n", "", "0\n"}) {
    edge_list const g = list_of(with(text));
    std::vector<std::uint32_t> const want = datasets::read_degrees(path.string());
    EXPECT_EQ(degrees_of(g), want) << text;
    EXPECT_EQ(defects(g), 0u) << text;
  }
  EXPECT_NE(message_of(with("1\n")).find("has the degree 1"), std::string::npos);
  EXPECT_NE(message_of(with("2\n1\n2\n")).find("is odd"), std::string::npos);
  EXPECT_NE(message_of(with("3\n3\n1\n1\n")).find("no graph without self-loops"), std::string::npos);
  EXPECT_NE(message_of(with("3\n\n1\n")).find(":2: expected one degree"), std::string::npos);
  EXPECT_NE(message_of(with("-1\n")).find(":1: expected one degree"), std::string::npos);
  EXPECT_NE(message_of(with("5000000000\n")).find(":1: expected one degree"), std::string::npos);
  EXPECT_EQ(list_of(with("6\n", ",simple=0")).edges, std::vector<edge>(3));
  std::filesystem::remove(path);
  EXPECT_NE(message_of("configuration,degrees=" + path.string()).find("cannot be opened"), std::string::npos);

  edge_list const g = list_of("configuration,n=20000,exponent=2.2,min_degree=3");
  EXPECT_EQ(defects(g), 0u);
  auto const degrees = degrees_of(g);
  EXPECT_EQ(*std::min_element(degrees.begin(), degrees.end()), 3u);
  EXPECT_LE(*std::max_element(degrees.begin(), degrees.end()), 142u);
  EXPECT_NE(message_of("configuration,min_degree=9,max_degree=8").find("from 1 to the largest one, 8"),
            std::string::npos);
}

TEST(planted, has_groups_and_probabilities) {
  auto const g = generate("planted,n=1003,groups=10,p_in=0.2,p_out=0.01");
  EXPECT_EQ(defects(g.list), 0u);
  std::map<std::uint32_t, std::size_t> sizes;
  for (std::uint32_t const label : g.labels) ++sizes[label];
  ASSERT_EQ(sizes.size(), 10u);
  double own = 0;
  for (auto const& [label, size] : sizes) {
    EXPECT_TRUE(size == 100 || size == 101);
    own += static_cast<double>(size * (size - 1)) / 2;
  }
  double inside = 0;
  for (auto const& [u, v] : g.list.edges) inside += g.labels[u] == g.labels[v];
  double const others = 1003.0 * 1002 / 2 - own;
  double const outside = static_cast<double>(g.list.edges.size()) - inside;
  EXPECT_NEAR(inside, own * 0.2, 5 * std::sqrt(own * 0.2 * 0.8));
  EXPECT_NEAR(outside, others * 0.01, 5 * std::sqrt(others * 0.01));
  EXPECT_NE(message_of("planted,n=5,groups=6").find("1 to that of vertices, 5"), std::string::npos);
}

TEST(lfr, meets_mixing_degrees_and_sizes) {
  for (double const mixing : {0.1, 0.3, 0.5, 0.7}) {
    SCOPED_TRACE(mixing);
    auto const g = generate("lfr,n=5000,mixing=" + std::to_string(mixing) + ",seed=" + std::to_string(seeded(1)));
    EXPECT_EQ(defects(g.list), 0u);
    auto const degrees = degrees_of(g.list);
    std::vector<double> outside(5000);
    for (auto const& [u, v] : g.list.edges)
      if (g.labels[u] != g.labels[v]) ++outside[u], ++outside[v];
    double sum = 0;
    double mean = 0;
    for (std::size_t v = 0; v < 5000; ++v) {
      ASSERT_GT(degrees[v], 0u);
      sum += outside[v] / degrees[v];
      mean += degrees[v];
    }
    EXPECT_NEAR(sum / 5000, mixing, 0.01);
    EXPECT_NEAR(mean / 5000, 15, 0.6);
    EXPECT_LE(*std::max_element(degrees.begin(), degrees.end()), 50u);
    std::map<std::uint32_t, std::size_t> sizes;
    for (std::uint32_t const label : g.labels) ++sizes[label];
    for (auto const& [label, size] : sizes) {
      EXPECT_GE(size, 20u);
      EXPECT_LE(size, 100u);
    }
  }
  EXPECT_NE(message_of("lfr,mixing=0,max_community=40").find("raise max_community"), std::string::npos);
  EXPECT_NE(message_of("lfr,n=200,min_community=200,max_community=200").find("all vertices are in one community"),
            std::string::npos);
  EXPECT_EQ(message_of("lfr,n=200,mixing=0,min_community=200,max_community=200"), "no error");
  EXPECT_NE(message_of("lfr,n=250,min_community=100,max_community=100").find("cannot be divided"), std::string::npos);
  EXPECT_NE(message_of("lfr,degree=60").find("the largest degree, 50"), std::string::npos);
  EXPECT_NE(message_of("lfr,degree=1").find("have the mean"), std::string::npos);
}

TEST(times, are_those_of_their_kind) {
  constexpr double span = 5000;
  std::string const graph = "ba,n=20000,degree=2,span=5000,times=";
  auto const untimed = set_of(list_of("ba,n=20000,degree=2"));
  for (char const* kind : {"uniform", "poisson", "growth"}) {
    SCOPED_TRACE(kind);
    edge_list const g = list_of(graph + kind);
    ASSERT_EQ(g.times.size(), g.edges.size());
    EXPECT_EQ(set_of(g), untimed);
    EXPECT_TRUE(std::is_sorted(g.times.begin(), g.times.end()));
    EXPECT_GE(g.times.front(), 0);
    // 39,997 edges over 5,000 s; half of them are there at half of the time.
    EXPECT_NEAR(g.times[g.times.size() / 2], span / 2, 100);
    EXPECT_NEAR(g.times.back(), span, 150);
    if (std::string(kind) != "growth") continue;
    for (std::size_t i = 0; i < g.edges.size(); ++i)
      ASSERT_EQ(g.times[i], std::max(g.edges[i].source, g.edges[i].target) / 4);
  }
  // The number of arrivals in a second has a Poisson distribution: the variance is the mean, 8.
  edge_list const g = list_of(graph + "poisson");
  std::vector<double> counts(5000);
  for (double const t : g.times)
    if (t < 4500) ++counts[static_cast<std::size_t>(t)];
  double sum = 0;
  double squares = 0;
  for (std::size_t s = 0; s < 4500; ++s) sum += counts[s], squares += counts[s] * counts[s];
  double const mean = sum / 4500;
  EXPECT_NEAR((squares / 4500 - mean * mean) / mean, 1, 0.12);
  EXPECT_NE(message_of("grid,times=never").find("uniform, poisson or growth"), std::string::npos);
  EXPECT_TRUE(list_of("gnp,n=3,p=0,times=growth").times.empty());
}

// What changes here changes the graphs of all users.
TEST(families, have_not_changed) {
  std::map<std::string, std::uint64_t> const want{
      {"rmat,seed=7", 8013698795417975747u},
      {"graph500,seed=7", 8013698795417975747u},
      {"kronecker,seed=7", 15195100989405985774u},
      {"rgg,seed=7", 4135141758522426091u},
      {"delaunay,seed=7", 17616439256054734293u},
      {"delaunay,n=1000,seed=7", 10015869239551323820u},
      {"grid,seed=7", 16322648687399655434u},
      {"torus,seed=7", 12183495300689538896u},
      {"dual,seed=7", 5350068382238030197u},
      {"nlpkkt,seed=7", 5723944499492301307u},
      {"road,seed=7", 2723177224663731864u},
      {"gnp,seed=7", 15067183772455466040u},
      {"gnm,seed=7", 7041381525262886089u},
      {"ba,seed=7", 654095113096887229u},
      {"configuration,seed=7", 2327227361879642178u},
      {"planted,seed=7", 2135664895355731367u},
      {"lfr,seed=7", 1751078794050346939u},
      {"configuration,simple=0,max_degree=50", 7088643507396859355u},
      {"grid,x=9,times=growth", 11760835615776875464u},
      {"kronecker,noise=0.1,levels=8", 6836282398000643391u},
      {"rgg,dimensions=3,n=2000", 5423633016756975145u},
      {"rmat,scale=10,times=poisson", 908546773669388628u},
      {"rmat,scale=10,times=uniform", 1911455284502726935u},
  };
  for (auto const& [description, hash] : want) {
    auto const made = generate(description, exec::host_space(1));
    EXPECT_EQ(hash_of(made), hash) << description << ", now {" << hash_of(made) << "u}";
    EXPECT_EQ(hash_of(generate(description, exec::host_space(2))), hash_of(made)) << description;
  }
  for (datasets::family const& f : datasets::families()) {
    std::string const name(f.name);
    auto const known = want.find(name + ",seed=7");
    ASSERT_NE(known, want.end()) << name;
    auto const made = generate(name + ",seed=8");
    EXPECT_EQ(made.labels.empty(), !f.has_labels) << name;
    bool const is_random = name != "grid" && name != "torus" && name != "nlpkkt";
    EXPECT_EQ(hash_of(made) != known->second, is_random) << name;
  }
}

TEST(families, refuse_bad_values) {
  EXPECT_EQ(message_of("rmat,scale=9,edge_factor=0"), "no error");
  EXPECT_NE(message_of("tree").find("no family of graphs 'tree'; the families are rmat, graph500"), std::string::npos);
  EXPECT_NE(message_of("").find("no family of graphs ''"), std::string::npos);
  EXPECT_NE(message_of("rmat,size=3").find("no parameter 'size'; the parameters are scale, edge_factor, a"),
            std::string::npos);
  EXPECT_NE(message_of("rmat,scale=32").find("rmat: scale: 32 is not in the range 1 to 31"), std::string::npos);
  EXPECT_NE(message_of("rmat,scale=x").find("'x' is not a whole number from 1 to 31"), std::string::npos);
  EXPECT_NE(message_of("rmat,scale=-1").find("not a whole number"), std::string::npos);
  EXPECT_NE(message_of("rmat,scale=1.5").find("not a whole number"), std::string::npos);
  EXPECT_NE(message_of("rmat,scale=").find("not a whole number"), std::string::npos);
  EXPECT_NE(message_of("rmat,scale=3,scale=4").find("twice"), std::string::npos);
  EXPECT_NE(message_of("rmat,scale").find("expected NAME=VALUE, found 'scale'"), std::string::npos);
  EXPECT_NE(message_of("rmat,").find("expected NAME=VALUE"), std::string::npos);
  EXPECT_NE(message_of("rmat,a=nan").find("a: "), std::string::npos);
  EXPECT_NE(message_of("rmat,a=0.9").find("at most 1"), std::string::npos);
  EXPECT_NE(message_of("rmat,seed=18446744073709551616").find("not a whole number"), std::string::npos);
  EXPECT_EQ(message_of("rmat,scale=2,seed=18446744073709551615"), "no error");
  EXPECT_NE(message_of("rmat,scale=31,edge_factor=1e9").find("MiB are available"), std::string::npos);
  EXPECT_NE(message_of("gnp,n=4294967295,p=1").find("MiB are available"), std::string::npos);
  for (char const* const dense : {"rgg,n=1000000,radius=1", "rgg,n=1000000,dimensions=3,radius=0.9"})
    EXPECT_NE(message_of(dense).find("MiB are available"), std::string::npos) << dense;
  EXPECT_NE(message_of("gnp,p=1e-13").find("from 1e-12 to 1"), std::string::npos);
  EXPECT_NE(message_of("gnp,n=4294967296").find("not in the range 0 to 4294967295"), std::string::npos);
  EXPECT_NE(message_of("grid,x=100000,y=100000").find("the maximum is 4294967295"), std::string::npos);
  EXPECT_NE(message_of("grid,x=4294967295,y=4294967295,z=4294967295").find("the maximum is"), std::string::npos);
  EXPECT_NE(message_of("grid,x=0").find("range 1 to"), std::string::npos);
  EXPECT_NE(message_of("nlpkkt,N=1290").find("not in the range 1 to 1289"), std::string::npos);
  EXPECT_NE(message_of("delaunay,scale=30").find("1073741824 points is too large; the maximum is 715827882"),
            std::string::npos);
  EXPECT_NE(message_of("rgg,radius=0.1,degree=3").find("not both"), std::string::npos);
  for (char const* const none : {"rgg,radius=0", "rgg,degree=0"})
    EXPECT_NE(message_of(none).find("are above 0"), std::string::npos) << none;
}

}  // namespace wyrm::tests
