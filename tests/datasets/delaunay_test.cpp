// SPDX-License-Identifier: Apache-2.0
// Delaunay triangulations: small ones literally, empty circles by brute force, Euler's formula, the published graph,
// points on lines and circles, equal points, the ends of the range of coordinates, and errors.
#include "../../datasets/delaunay.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../../datasets/random.hpp"
#include "../../exec/error.hpp"
#include "../support/seed.hpp"
#include "../support/truth.hpp"

namespace wyrm::tests {
namespace {

using datasets::plane_point;
using graph::edge;
using graph::edge_list;

__extension__ using wide = __int128;

// Twice the area of a triangle; positive if it is counterclockwise.
wide area(plane_point a, plane_point b, plane_point c) {
  return (wide{b.x} - a.x) * (wide{c.y} - a.y) - (wide{c.x} - a.x) * (wide{b.y} - a.y);
}

// Whether d is inside the circle through a, b, c, which are counterclockwise; for coordinates below 2^20.
bool in_circle(plane_point a, plane_point b, plane_point c, plane_point d) {
  auto const square = [&](plane_point p) {
    wide const x = wide{p.x} - d.x;
    wide const y = wide{p.y} - d.y;
    return x * x + y * y;
  };
  return square(a) * area(d, b, c) + square(b) * area(d, c, a) + square(c) * area(d, a, b) > 0;
}

struct adjacency {
  explicit adjacency(edge_list const& list) : rows(list.vertices) {
    for (auto const& [u, v] : list.edges) {
      rows[u].insert(v);
      rows[v].insert(u);
    }
  }
  std::vector<std::set<std::uint32_t>> rows;
};

std::size_t components(edge_list const& list) {
  adjacency const g(list);
  std::vector<bool> seen(list.vertices);
  std::size_t count = 0;
  for (std::uint32_t start = 0; start < list.vertices; ++start) {
    if (seen[start]) continue;
    ++count;
    std::vector<std::uint32_t> waiting{start};
    seen[start] = true;
    while (!waiting.empty()) {
      std::uint32_t const v = waiting.back();
      waiting.pop_back();
      for (std::uint32_t const to : g.rows[v])
        if (!seen[to]) {
          seen[to] = true;
          waiting.push_back(to);
        }
    }
  }
  return count;
}

// The points on the border of the convex hull, counterclockwise, with those between its corners (Andrew's monotone
// chain).
std::vector<plane_point> border_of(std::vector<plane_point> points) {
  std::sort(points.begin(), points.end(),
            [](plane_point a, plane_point b) { return a.x != b.x ? a.x < b.x : a.y < b.y; });
  std::vector<plane_point> border;
  for (int side = 0; side < 2; ++side) {
    std::vector<plane_point> chain;
    for (plane_point const p : points) {
      while (chain.size() > 1 && area(chain[chain.size() - 2], chain.back(), p) < 0) chain.pop_back();
      chain.push_back(p);
    }
    border.insert(border.end(), chain.begin(), chain.end() - 1);
    std::reverse(points.begin(), points.end());
  }
  return border;
}

// All triangles of the plane graph that have no other point inside are its faces, if it is a triangulation. Each has an
// empty circle, and their areas have that of the hull as their sum, so they cover it. O(n^2) and more.
void expect_triangulation(std::vector<plane_point> const& points, std::string const& what) {
  SCOPED_TRACE(what);
  edge_list const list = datasets::triangulation(points);
  std::size_t const n = points.size();
  ASSERT_EQ(list.vertices, n);
  ASSERT_FALSE(list.directed);
  for (auto const& [u, v] : list.edges) ASSERT_LT(u, v);
  EXPECT_TRUE(std::is_sorted(list.edges.begin(), list.edges.end()));
  EXPECT_EQ(std::adjacent_find(list.edges.begin(), list.edges.end()), list.edges.end());
  auto const border = border_of(points);
  EXPECT_EQ(list.edges.size(), 3 * n - 3 - border.size());
  adjacency const g(list);
  std::size_t faces = 0;
  wide covered = 0;
  for (auto const& [u, v] : list.edges)
    for (std::uint32_t const w : g.rows[u]) {
      if (w <= v || !g.rows[v].contains(w)) continue;
      std::array<std::uint32_t, 3> t{u, v, w};
      if (area(points[t[0]], points[t[1]], points[t[2]]) < 0) std::swap(t[1], t[2]);
      plane_point const a = points[t[0]];
      plane_point const b = points[t[1]];
      plane_point const c = points[t[2]];
      ASSERT_NE(area(a, b, c), 0) << u << ' ' << v << ' ' << w << " are on a line";
      bool is_face = true;
      bool is_empty = true;
      for (std::size_t i = 0; i < n; ++i) {
        if (i == u || i == v || i == w) continue;
        plane_point const p = points[i];
        is_face = is_face && !(area(a, b, p) >= 0 && area(b, c, p) >= 0 && area(c, a, p) >= 0);
        is_empty = is_empty && !in_circle(a, b, c, p);
      }
      if (!is_face) continue;
      EXPECT_TRUE(is_empty) << u << ' ' << v << ' ' << w;
      ++faces;
      covered += area(a, b, c);
    }
  EXPECT_EQ(faces, 2 * n - 2 - border.size());
  wide whole = 0;
  for (std::size_t i = 0; i < border.size(); ++i) {
    plane_point const p = border[i];
    plane_point const q = border[(i + 1) % border.size()];
    whole += wide{p.x} * q.y - wide{q.x} * p.y;
  }
  EXPECT_TRUE(covered == whole) << "the faces do not cover the hull";
}

std::vector<plane_point> random_points(std::size_t n, unsigned bits, std::uint64_t seed) {
  return datasets::random_points({.vertices = n, .bits = bits, .seed = seed});
}

std::vector<edge> edges_of(std::vector<plane_point> const& points) { return datasets::triangulation(points).edges; }

template <class F>
std::string message_of(F const& f) {
  try {
    f();
  } catch (error const& e) {
    EXPECT_EQ(e.code(), error_code::bad_argument);
    return e.what();
  }
  return "no error";
}

}  // namespace

TEST(delaunay, small_sets) {
  EXPECT_EQ(edges_of({}), std::vector<edge>());
  EXPECT_EQ(edges_of({{5, 5}}), std::vector<edge>());
  EXPECT_EQ(edges_of({{5, 5}, {3, 9}}), (std::vector<edge>{{0, 1}}));
  EXPECT_EQ(edges_of({{0, 0}, {4, 0}, {0, 4}}), (std::vector<edge>{{0, 1}, {0, 2}, {1, 2}}));
  EXPECT_EQ(edges_of({{0, 0}, {0, 4}, {4, 0}}), (std::vector<edge>{{0, 1}, {0, 2}, {1, 2}}));
  EXPECT_EQ(edges_of({{0, 5}, {5, 0}, {10, 5}, {5, 4}}),
            (std::vector<edge>{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}));
  // Kites have the short diagonal.
  EXPECT_EQ(edges_of({{0, 5}, {10, 3}, {20, 5}, {10, 7}}), (std::vector<edge>{{0, 1}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}));
  EXPECT_EQ(edges_of({{5, 0}, {3, 10}, {5, 20}, {7, 10}}), (std::vector<edge>{{0, 1}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}));
}

TEST(delaunay, circles_are_empty) {
  for (unsigned const bits : {4u, 6u, 10u, 20u})
    for (std::size_t const n : {3u, 4u, 5u, 6u, 7u, 8u, 13u, 40u, 120u})
      for (std::uint64_t seed = 1; seed <= (n < 20 ? 20u : 3u); ++seed) {
        auto const points = random_points(n, bits, seeded(seed * 1000 + n));
        if (border_of(points).size() == 2 * n - 2) continue;  // on a line
        expect_triangulation(
            points, std::to_string(bits) + " bits, " + std::to_string(n) + " points, seed " + std::to_string(seed));
      }
}

// Many points on lines and on circles.
TEST(delaunay, grids) {
  for (std::uint32_t const columns : {2u, 3u, 9u}) {
    std::vector<plane_point> points;
    for (std::uint32_t y = 0; y < 8; ++y)
      for (std::uint32_t x = 0; x < columns; ++x) points.push_back({x * 7, y * 7});
    expect_triangulation(points, std::to_string(columns) + " columns");
    std::reverse(points.begin(), points.end());
    expect_triangulation(points, std::to_string(columns) + " columns, reversed");
  }
  // 12 points of the circle of radius 5, and its centre.
  std::vector<plane_point> circle{{15, 10}, {14, 13}, {13, 14}, {10, 15}, {7, 14}, {6, 13},
                                  {5, 10},  {6, 7},   {7, 6},   {10, 5},  {13, 6}, {14, 7}};
  expect_triangulation(circle, "circle");
  circle.push_back({10, 10});
  expect_triangulation(circle, "circle and centre");
  EXPECT_EQ(adjacency(datasets::triangulation(circle)).rows[12].size(), 12u);
}

TEST(delaunay, lines) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> const directions{{1, 0}, {0, 1}, {2, 3}};
  for (auto const& [dx, dy] : directions)
    for (std::uint32_t n = 2; n <= 17; ++n) {
      std::vector<plane_point> points;
      std::vector<edge> path;
      for (std::uint32_t i = 0; i < n; ++i) points.push_back({i * dx, i * dy});
      for (std::uint32_t i = 0; i + 1 < n; ++i) path.push_back({i, i + 1});
      EXPECT_EQ(edges_of(points), path) << dx << ' ' << dy << ' ' << n;
      // One more point beside the line sees all of them.
      points.push_back({40, dx == 0 ? 0u : dy == 0 ? 40u : 1u});
      EXPECT_EQ(edges_of(points).size(), 2 * std::size_t{n} - 1);
    }
}

TEST(delaunay, equal_points_are_isolated_but_the_first) {
  std::vector<plane_point> points = random_points(50, 20, seeded(3));
  auto const want = edges_of(points);
  points.insert(points.end(), points.begin(), points.end());
  EXPECT_EQ(edges_of(points), want);
  EXPECT_EQ(edges_of({{4, 4}, {4, 4}, {4, 4}}), std::vector<edge>());
  EXPECT_EQ(edges_of({{4, 4}, {4, 4}, {1, 4}}), (std::vector<edge>{{0, 2}}));
}

// A permutation of the points permutes the graph, if no four points are on a circle: the graph is unique.
TEST(delaunay, is_unique) {
  auto const points = random_points(3000, 31, seeded(9));
  std::vector<std::uint32_t> order(points.size());
  std::iota(order.begin(), order.end(), 0u);
  datasets::random_numbers random(seeded(4));
  for (std::uint32_t i = static_cast<std::uint32_t>(order.size()); i > 1; --i)
    std::swap(order[i - 1], order[random.below(i)]);
  std::vector<plane_point> moved(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) moved[order[i]] = points[i];
  std::vector<edge> want;
  for (auto const& [u, v] : edges_of(points))
    want.push_back({std::min(order[u], order[v]), std::max(order[u], order[v])});
  std::sort(want.begin(), want.end());
  EXPECT_EQ(edges_of(moved), want);
  // So do a reflection and a rotation of the square.
  for (plane_point& p : moved) p = {0x7fffffff - p.y, p.x};
  EXPECT_EQ(edges_of(moved), want);
}

// The determinants are largest for points near the corners of the whole square: the point inside a circle through three
// corners differs from the fourth corner by 1.
TEST(delaunay, uses_all_bits) {
  constexpr std::uint32_t most = 0x7fffffff;
  auto const diagonal = [&](std::vector<plane_point> const& points) {
    auto const edges = edges_of(points);
    EXPECT_EQ(edges.size(), 5u);
    return std::find(edges.begin(), edges.end(), edge{0, 2}) != edges.end();
  };
  EXPECT_TRUE(diagonal({{0, 0}, {most, 0}, {most - 1, most - 1}, {0, most}}));
  EXPECT_TRUE(diagonal({{1, 1}, {most, 0}, {most, most}, {0, most}}));
  EXPECT_FALSE(diagonal({{0, 0}, {most - 1, 1}, {most, most}, {0, most}}));
  EXPECT_FALSE(diagonal({{0, 0}, {most, 0}, {most, most}, {1, most - 1}}));
  // Nearly on a line.
  EXPECT_EQ(edges_of({{0, 0}, {most / 2 + 1, most / 2}, {most, most}}).size(), 3u);
  EXPECT_EQ(edges_of({{0, 0}, {most / 2, most / 2}, {most, most}}).size(), 2u);
}

TEST(delaunay, random_points_differ) {
  for (unsigned const bits : {1u, 3u, 5u, 8u}) {
    std::size_t const n = std::size_t{1} << (2 * bits - 1);
    auto const points = random_points(n, bits, seeded(1));
    std::set<std::pair<std::uint32_t, std::uint32_t>> all;
    for (plane_point const p : points) {
      EXPECT_LT(p.x, 1u << bits);
      EXPECT_LT(p.y, 1u << bits);
      all.insert({p.x, p.y});
    }
    EXPECT_EQ(all.size(), n) << bits;
  }
  EXPECT_EQ(random_points(100, 31, 5), random_points(100, 31, 5));
  EXPECT_NE(random_points(100, 31, 5), random_points(100, 31, 6));
  // Uniform: a tenth of the square has a tenth of the points, in each direction.
  auto const points = random_points(100'000, 31, seeded(2));
  for (std::uint32_t slice = 0; slice < 10; ++slice) {
    double across = 0;
    double along = 0;
    for (plane_point const p : points) {
      across += std::uint64_t{p.x} * 10 >> 31 == slice;
      along += std::uint64_t{p.y} * 10 >> 31 == slice;
    }
    EXPECT_NEAR(across, 10'000, 500);
    EXPECT_NEAR(along, 10'000, 500);
  }
}

TEST(delaunay, large_ones_obey_eulers_formula) {
  for (std::size_t const n : {1000u, 40'000u}) {
    datasets::delaunay_options const o{.vertices = n, .seed = seeded(7)};
    edge_list const g = datasets::delaunay(o);
    auto const points = datasets::random_points(o);
    EXPECT_EQ(g.vertices, n);
    EXPECT_EQ(g.edges.size(), 3 * n - 3 - border_of(points).size());
    EXPECT_EQ(g.edges, datasets::triangulation(points).edges);
    EXPECT_EQ(components(g), 1u);
    adjacency const rows(g);
    std::size_t sum = 0;
    for (auto const& row : rows.rows) {
      EXPECT_GE(row.size(), 2u);
      sum += row.size();
    }
    EXPECT_EQ(sum, 2 * g.edges.size());
  }
}

TEST(delaunay, is_like_the_published_graph) {
  // delaunay_n15 of DIMACS10.
  truth_row truth;
  truth.undirected_edges = 98274;
  truth.max_degree_undirected = 18;
  truth.triangles = 65872;
  if (std::getenv("WYRM_DATA") != nullptr)
    for (truth_row const& row : read_truth(data_folder()))
      if (row.file == "delaunay_n15.graph") truth = row;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    edge_list const g = datasets::delaunay({.vertices = 32768, .seed = seeded(seed)});
    EXPECT_NEAR(static_cast<double>(g.edges.size()), static_cast<double>(truth.undirected_edges), 20);
    adjacency const rows(g);
    std::size_t largest = 0;
    std::size_t triangles = 0;
    for (auto const& row : rows.rows) largest = std::max(largest, row.size());
    for (auto const& [u, v] : g.edges)
      for (std::uint32_t const w : rows.rows[u]) triangles += w > v && rows.rows[v].contains(w);
    EXPECT_NEAR(static_cast<double>(largest), static_cast<double>(truth.max_degree_undirected), 6);
    EXPECT_NEAR(static_cast<double>(triangles), static_cast<double>(truth.triangles), 120);
  }
}

TEST(delaunay, refuses_bad_arguments) {
  EXPECT_NE(message_of([] {
              (void)datasets::triangulation({{1, 1}, {3, 1u << 31}});
            }).find("(3, 2147483648), which must be less than 2147483648"),
            std::string::npos);
  EXPECT_NE(message_of([] {
              (void)datasets::triangulation({{1u << 31, 0}});
            }).find("(2147483648, 0)"),
            std::string::npos);
  EXPECT_NE(message_of([] { (void)datasets::delaunay({.vertices = 715'827'883}); }).find("the maximum is 715827882"),
            std::string::npos);
  EXPECT_NE(message_of([] {
              (void)datasets::random_points({.vertices = 33, .bits = 3});
            }).find("33 points are more than half of those with 3 bits"),
            std::string::npos);
  for (unsigned const bits : {0u, 32u})
    EXPECT_NE(message_of([&] { (void)datasets::random_points({.vertices = 1, .bits = bits}); }).find("1 to 31 bits"),
              std::string::npos);
}

}  // namespace wyrm::tests
