// SPDX-License-Identifier: Apache-2.0
// Queries on any space, compared with a std::set per vertex.
#pragma once

#include <tuple>

#include "../../exec/injected_failure.hpp"
#include "query_case.hpp"

namespace wyrm::tests {

/// A predicate for filtered degrees.
struct sum_is_multiple {
  WYRM_HD bool operator()(graph::vertex_id u, graph::vertex_id v) const { return (u + v) % 3 == 0; }
};

/// Records the pairs of its calls.
struct record_calls {
  graph::edge* to;
  std::uint64_t* count;
  WYRM_HD void operator()(graph::vertex_id u, graph::vertex_id v) const {
    to[exec::atomic_ref<std::uint64_t>(*count).fetch_add(1, exec::relaxed)] = {u, v};
  }
};

template <class Space>
class query_test : public query_fixture<Space> {
 protected:
  /// The calls that `run` makes of a functor, in ascending order.
  template <class Run>
  std::vector<graph::edge> calls(std::size_t most, Run const& run) const {
    exec::buffer<graph::edge, Space> to(this->space(), most);
    exec::buffer<std::uint64_t, Space> count(this->space(), 1);
    this->space().fill(count.data(), 0, count.bytes());
    run(record_calls{to.data(), count.data()});
    std::size_t const n = exec::read(this->space(), count.data());
    auto made = exec::copy_out(this->space(), to.data(), std::min(n, most));
    EXPECT_LE(n, most);
    std::sort(made.begin(), made.end());
    return made;
  }
};

TYPED_TEST_SUITE_P(query_test);

TYPED_TEST_P(query_test, contains) {
  for (query_case const& c : this->cases()) {
    auto const g = this->make(this->space(), c);
    auto const pairs = this->some_pairs(c);
    std::vector<std::uint8_t> expected;
    for (auto const& [u, v] : pairs) expected.push_back(c.rows[u].contains(v) ? 1 : 0);
    EXPECT_EQ(graph::contains(this->space(), g.view(), pairs), expected) << c.name;
    auto const entries = this->resident(pairs);
    graph::query_scratch<TypeParam> scratch(this->space());
    for (int i = 0; i < 2; ++i)
      EXPECT_EQ(graph::contains(scratch, g.view(), this->pairs_in(entries)).to_host(), expected) << c.name;
  }
}

TYPED_TEST_P(query_test, degrees_and_single_neighbours) {
  for (query_case const& c : this->cases()) {
    auto const g = this->make(this->space(), c);
    auto const vertices = this->some_vertices(c);
    std::vector<std::uint32_t> degrees;
    std::vector<std::uint32_t> ks;
    std::vector<graph::vertex_id> at;
    for (std::size_t i = 0; i < vertices.size(); ++i) {
      auto const& row = c.rows[vertices[i]];
      auto const degree = static_cast<std::uint32_t>(row.size());
      degrees.push_back(degree);
      std::uint32_t const choices[] = {0, degree / 2, degree - 1, degree, degree + 5, ~0u};
      ks.push_back(choices[i % 6]);
      at.push_back(ks[i] < degree ? *std::next(row.begin(), ks[i]) : graph::no_vertex);
    }
    EXPECT_EQ(graph::degrees(this->space(), g.view(), vertices), degrees) << c.name;
    EXPECT_EQ(graph::neighbours_at(this->space(), g.view(), vertices, ks), at) << c.name;
    auto const entries = this->resident(vertices);
    auto const numbers = this->resident(ks);
    EXPECT_EQ(graph::degrees(this->space(), g.view(), this->vertices_in(entries)).to_host(), degrees) << c.name;
    EXPECT_EQ(graph::neighbours_at(this->space(), g.view(), this->vertices_in(entries), numbers.data()).to_host(), at)
        << c.name;
  }
}

TYPED_TEST_P(query_test, neighbours) {
  for (query_case const& c : this->cases()) {
    auto const g = this->make(this->space(), c);
    auto const vertices = this->some_vertices(c);
    graph::csr expected{{0}, {}};
    std::vector<graph::edge> arcs;
    std::vector<std::uint32_t> passing;
    for (graph::vertex_id const u : vertices) {
      passing.push_back(0);
      for (graph::vertex_id const v : c.rows[u]) {
        expected.targets.push_back(v);
        arcs.push_back({u, v});
        passing.back() += (u + v) % 3 == 0 ? 1 : 0;
      }
      expected.offsets.push_back(expected.targets.size());
    }
    std::sort(arcs.begin(), arcs.end());
    EXPECT_EQ(graph::neighbours(this->space(), g.view(), vertices), expected) << c.name;
    EXPECT_EQ(graph::filtered_degrees(this->space(), g.view(), vertices, sum_is_multiple{}), passing) << c.name;
    EXPECT_EQ(this->calls(arcs.size(),
                          [&](auto const& f) { graph::for_each_neighbour(this->space(), g.view(), vertices, f); }),
              arcs)
        << c.name;
    auto const entries = this->resident(vertices);
    auto const list = this->vertices_in(entries);
    graph::query_scratch<TypeParam> scratch(this->space());
    EXPECT_EQ(graph::neighbours(scratch, g.view(), list).to_host(), expected) << c.name;
    EXPECT_EQ(graph::filtered_degrees(scratch, g.view(), list, sum_is_multiple{}).to_host(), passing) << c.name;
    EXPECT_EQ(this->calls(arcs.size(), [&](auto const& f) { graph::for_each_neighbour(scratch, g.view(), list, f); }),
              arcs)
        << c.name;
  }
}

TYPED_TEST_P(query_test, in_neighbours) {
  for (query_case const& c : this->cases()) {
    auto const g = this->make(this->space(), c);
    auto const vertices = this->some_vertices(c);
    graph::csr expected{{0}, {}};
    for (graph::vertex_id const v : vertices) {
      expected.targets.insert(expected.targets.end(), c.in_rows[v].begin(), c.in_rows[v].end());
      expected.offsets.push_back(expected.targets.size());
    }
    EXPECT_EQ(graph::neighbours(this->space(), g.view().reversed(), vertices), expected) << c.name;
  }
  graph_on<TypeParam> const g(this->space(), 3, {.directed = true, .in_neighbours = false});
  this->expect_refused([&] { (void)g.view().reversed(); }, "in-neighbours");
}

TYPED_TEST_P(query_test, common_neighbours) {
  for (query_case const& c : this->cases()) {
    auto const g = this->make(this->space(), c);
    auto const pairs = this->some_pairs(c);
    graph::csr expected{{0}, {}};
    std::vector<std::uint32_t> counts;
    for (auto const& [u, v] : pairs) {
      auto const both = c.common(c.rows[u], c.rows[v]);
      expected.targets.insert(expected.targets.end(), both.begin(), both.end());
      expected.offsets.push_back(expected.targets.size());
      counts.push_back(static_cast<std::uint32_t>(both.size()));
    }
    EXPECT_EQ(graph::common_neighbours(this->space(), g.view(), pairs), expected) << c.name;
    EXPECT_EQ(graph::common_neighbours_count(this->space(), g.view(), pairs), counts) << c.name;
    auto const entries = this->resident(pairs);
    graph::query_scratch<TypeParam> scratch(this->space());
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(graph::common_neighbours(scratch, g.view(), this->pairs_in(entries)).to_host(), expected) << c.name;
      EXPECT_EQ(graph::common_neighbours_count(scratch, g.view(), this->pairs_in(entries)).to_host(), counts) << c.name;
    }
  }
}

TYPED_TEST_P(query_test, each_edge_once) {
  for (query_case const& c : this->cases()) {
    auto const g = this->make(this->space(), c);
    std::set<graph::edge> expected;
    for (auto const& [u, v] : c.edges) expected.insert(c.directed || u < v ? graph::edge{u, v} : graph::edge{v, u});
    EXPECT_EQ(this->calls(g.arcs(), [&](auto const& f) { graph::for_each_edge(this->space(), g.view(), f); }),
              std::vector<graph::edge>(expected.begin(), expected.end()))
        << c.name;
  }
}

TYPED_TEST_P(query_test, empty_queries) {
  for (std::size_t const n : {std::size_t{0}, std::size_t{3}}) {
    auto const g = this->make(this->space(), {"", n, false, {}});
    graph::csr const none{{0}, {}};
    std::vector<graph::vertex_id> const vertices;
    std::vector<graph::edge> const pairs;
    EXPECT_TRUE(graph::contains(this->space(), g.view(), pairs).empty());
    EXPECT_TRUE(graph::degrees(this->space(), g.view(), vertices).empty());
    EXPECT_TRUE(graph::neighbours_at(this->space(), g.view(), vertices, vertices).empty());
    EXPECT_TRUE(graph::common_neighbours_count(this->space(), g.view(), pairs).empty());
    EXPECT_TRUE(graph::filtered_degrees(this->space(), g.view(), vertices, sum_is_multiple{}).empty());
    EXPECT_EQ(graph::neighbours(this->space(), g.view(), vertices), none);
    EXPECT_EQ(graph::common_neighbours(this->space(), g.view(), pairs), none);
    EXPECT_TRUE(this->calls(0, [&](auto const& f) { graph::for_each_edge(this->space(), g.view(), f); }).empty());
    EXPECT_TRUE(this->calls(0, [&](auto const& f) { graph::for_each_neighbour(this->space(), g.view(), vertices, f); })
                    .empty());
  }
}

TYPED_TEST_P(query_test, ids_out_of_range) {
  auto const g = this->make(this->space(), {"", 10, false, {{0, 1}, {1, 2}}});
  std::vector<graph::vertex_id> vertices(100, 1);
  vertices[70] = vertices[41] = 10;
  vertices[99] = graph::no_vertex;
  std::vector<graph::edge> pairs(100, {0, 1});
  pairs[80] = {11, 3};
  pairs[23] = {4, 12};
  auto const& space = this->space();
  graph::query_scratch<TypeParam> scratch(space);  // is usable after an error
  for (int i = 0; i < 2; ++i) {
    std::string const vertex = "entry 41 is vertex 10, but the graph has 10 vertices";
    std::string const pair = "entry 23 is the pair (4, 12), but the graph has 10 vertices";
    this->expect_refused([&] { (void)graph::contains(scratch, g.view(), pairs); }, "contains: " + pair);
    this->expect_refused([&] { (void)graph::common_neighbours_count(scratch, g.view(), pairs); }, pair);
    this->expect_refused([&] { (void)graph::common_neighbours(scratch, g.view(), pairs); }, pair);
    this->expect_refused([&] { (void)graph::degrees(scratch, g.view(), vertices); }, "degrees: " + vertex);
    this->expect_refused([&] { (void)graph::neighbours(scratch, g.view(), vertices); }, vertex);
    this->expect_refused([&] { (void)graph::neighbours_at(scratch, g.view(), vertices, vertices); }, vertex);
    this->expect_refused([&] { (void)graph::filtered_degrees(scratch, g.view(), vertices, sum_is_multiple{}); },
                         vertex);
    EXPECT_TRUE(this->calls(0,
                            [&](auto const& f) {
                              this->expect_refused([&] { graph::for_each_neighbour(space, g.view(), vertices, f); },
                                                   vertex);
                            })
                    .empty());
    EXPECT_EQ(graph::degrees(scratch, g.view(), std::vector<graph::vertex_id>{1, 9}),
              (std::vector<std::uint32_t>{2, 0}));
  }
  std::vector<std::uint32_t> const one{1};
  this->expect_refused([&] { (void)graph::neighbours_at(space, g.view(), vertices, one); }, "100 vertices, but 1");
}

TYPED_TEST_P(query_test, out_of_memory) {
  auto const c = this->star(300);
  auto const g = this->make(this->space(), c);
  auto const vertices = this->some_vertices(c);
  auto const pairs = this->some_pairs(c);
  auto const run = [&](auto& on) {
    return std::tuple(graph::contains(on, g.view(), pairs), graph::neighbours(on, g.view(), vertices),
                      graph::common_neighbours(on, g.view(), pairs),
                      graph::sample_neighbours(on, g.view(), vertices, {.fan_out = {2, 40}, .unique = true}));
  };
  auto const& space = this->space();
  auto const expected = run(space);
  graph::query_scratch<TypeParam> scratch(space);
  bool failed = true;
  std::uint64_t requests = 0;
  for (; failed; ++requests) {
    ASSERT_LT(requests, 200u);
    exec::injected_failure const failure(requests);
    failed = false;
    try {
      EXPECT_EQ(run(scratch), expected);
    } catch (error const& e) {
      EXPECT_EQ(e.code(), error_code::out_of_memory);
      failed = true;
    }
  }
  EXPECT_GT(requests, 10u);
}

REGISTER_TYPED_TEST_SUITE_P(query_test, contains, degrees_and_single_neighbours, neighbours, in_neighbours,
                            common_neighbours, each_edge_once, empty_queries, ids_out_of_range, out_of_memory);

}  // namespace wyrm::tests
