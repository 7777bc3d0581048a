// SPDX-License-Identifier: Apache-2.0
// Queries of the values of edges, and erasures by a predicate, on any space, compared with a std::map.
#pragma once

#include <map>
#include <tuple>
#include <utility>

#include "../../alloc/ouroboros/ouroboros.hpp"
#include "../../exec/injected_failure.hpp"
#include "../../graph/dynamic_graph.hpp"
#include "query_case.hpp"

namespace wyrm::tests {

/// A graph with values, and the value of each arc.
template <class Space, class Value, class Graph = graph_on<Space, Value>>
struct valued_case {
  using arcs_type = std::map<std::pair<graph::vertex_id, graph::vertex_id>, Value>;
  Graph g;
  arcs_type arcs{};

  valued_case(Space const& space, query_case const& c, bool in_neighbours)
      : g(space, c.vertices, of(c, in_neighbours)) {
    std::vector<Value> given;
    for (graph::edge const e : c.edges) {
      given.push_back(static_cast<Value>(given.size() % 1000) + Value{1} / 2);
      arcs[{e.source, e.target}] = given.back();
      if (!c.directed) arcs[{e.target, e.source}] = given.back();
    }
    g.insert(c.edges, given);
  }
  static graph::options of(query_case const& c, bool in_neighbours) {
    graph::options o{.directed = c.directed, .in_neighbours = in_neighbours, .self_loops = true};
    o.pool = {.pool_bytes = std::size_t{1} << 20, .reserve_bytes = std::size_t{1} << 28};
    return o;
  }
  [[nodiscard]] Value value_or(graph::edge e, Value absent) const {
    auto const at = arcs.find({e.source, e.target});
    return at == arcs.end() ? absent : at->second;
  }
};

/// The same for changes that any_graph does not have.
template <class Space>
using typed_case = valued_case<Space, float, graph::dynamic_graph<Space, alloc::ouroboros_s_p<Space>, float>>;

/// Records the edges of its calls.
template <class Value>
struct record_values {
  graph::valued_edge<Value>* to;
  std::uint64_t* count;
  WYRM_HD void operator()(graph::vertex_id u, graph::vertex_id v, Value value) const {
    to[exec::atomic_ref<std::uint64_t>(*count).fetch_add(1, exec::relaxed)] = {u, v, value};
  }
};

/// Counts its calls, and is true for some edges. The arc of an undirected graph from the greater id is wrong.
struct select_some {
  std::uint64_t* calls;
  bool directed;
  WYRM_HD bool operator()(graph::vertex_id u, graph::vertex_id v) const {
    exec::atomic_ref<std::uint64_t>(*calls).fetch_add(directed || u <= v ? 1 : 1u << 30, exec::relaxed);
    return chooses(u, v);
  }
  template <class Value>
  WYRM_HD bool operator()(graph::vertex_id u, graph::vertex_id v, Value value) const {
    (*this)(u, v);
    return chooses(u, v, value);
  }
  WYRM_HD static bool chooses(graph::vertex_id u, graph::vertex_id v) { return (u + 2 * v) % 3 == 0; }
  template <class Value>
  WYRM_HD static bool chooses(graph::vertex_id, graph::vertex_id, Value value) {
    return value < Value{300};
  }
};
struct select_all {
  bool answer;
  template <class... Arguments>
  WYRM_HD bool operator()(Arguments const&...) const {
    return answer;
  }
};

template <class Space>
class edge_query_test : public query_fixture<Space> {
 protected:
  template <class Value>
  void expect_values() const {
    for (query_case const& c : this->cases()) {
      valued_case<Space, Value> const from(this->space(), c, true);
      auto const view = from.g.view();
      auto pairs = this->some_pairs(c);
      for (graph::vertex_id v = 0; v < std::min<std::size_t>(c.vertices, 40); ++v) pairs.push_back({17 % v_of(c), v});
      std::vector<Value> expected;
      std::vector<Value> turned;
      for (auto const& [u, v] : pairs) {
        expected.push_back(from.value_or({u, v}, Value{7}));
        turned.push_back(from.value_or({v, u}, Value{8}));
      }
      EXPECT_EQ(graph::values<Value>(this->space(), view, pairs, 7), expected) << c.name;
      EXPECT_EQ(graph::values<Value>(this->space(), view.reversed(), pairs, 8), turned) << c.name;
      auto const entries = this->resident(pairs);
      graph::query_scratch<Space> scratch(this->space());
      EXPECT_EQ(graph::values<Value>(scratch, view, this->pairs_in(entries), 7).to_host(), expected) << c.name;

      auto const vertices = this->some_vertices(c);
      graph::valued_csr<Value> lists{{0}, {}, {}};
      for (graph::vertex_id const u : vertices) {
        for (graph::vertex_id const v : c.rows[u]) {
          lists.targets.push_back(v);
          lists.values.push_back(from.arcs.at({u, v}));
        }
        lists.offsets.push_back(lists.targets.size());
      }
      EXPECT_EQ(graph::valued_neighbours<Value>(this->space(), view, vertices), lists) << c.name;
      auto const list = this->resident(vertices);
      EXPECT_EQ(graph::valued_neighbours<Value>(scratch, view, this->vertices_in(list)).to_host(), lists) << c.name;
      expect_each_edge(c, from);
    }
  }
  static graph::vertex_id v_of(query_case const& c) { return static_cast<graph::vertex_id>(c.vertices); }

  template <class Value>
  void expect_each_edge(query_case const& c, valued_case<Space, Value> const& from) const {
    exec::buffer<graph::valued_edge<Value>, Space> to(this->space(), from.arcs.size());
    exec::buffer<std::uint64_t, Space> count(this->space(), 1);
    this->space().fill(count.data(), 0, count.bytes());
    graph::for_each_valued_edge<Value>(this->space(), from.g.view(), record_values<Value>{to.data(), count.data()});
    std::size_t const n = exec::read(this->space(), count.data());
    ASSERT_EQ(n, from.g.edges()) << c.name;
    typename valued_case<Space, Value>::arcs_type seen;
    if (n > 0)
      for (auto const& e : exec::copy_out(this->space(), to.data(), n)) seen[{e.source, e.target}] = e.value;
    auto expected = from.arcs;
    if (!c.directed) std::erase_if(expected, [](auto const& arc) { return arc.first.first > arc.first.second; });
    EXPECT_EQ(seen, expected) << c.name;
  }

  /// Erases some edges, and then all, and compares with the arcs that should remain.
  template <class Graph, class Arcs, class Chooses>
  void expect_erased(query_case const& c, Graph& g, Arcs arcs, Chooses const& chooses) const {
    exec::buffer<std::uint64_t, Space> calls(this->space(), 1);
    this->space().fill(calls.data(), 0, calls.bytes());
    std::uint64_t const edges = g.edges();
    std::uint64_t const version = g.view().version();
    EXPECT_EQ(g.erase_if(select_all{false}).requested, 0u) << c.name;
    EXPECT_EQ(g.view().version(), version) << c.name;
    graph::update_report const report = g.erase_if(select_some{calls.data(), c.directed});
    EXPECT_EQ(exec::read(this->space(), calls.data()), edges) << c.name;
    std::erase_if(arcs, [&](auto const& arc) {
      auto const [u, v] = arc.first;
      return !c.directed && v < u ? chooses(v, u, arc.second) : chooses(u, v, arc.second);
    });
    graph::csr expected{{0}, {}};
    std::uint64_t left = 0;
    auto at = arcs.begin();
    for (graph::vertex_id v = 0; v < c.vertices; ++v) {
      for (; at != arcs.end() && at->first.first == v; ++at) {
        expected.targets.push_back(at->first.second);
        left += c.directed || v <= at->first.second ? 1u : 0u;
      }
      expected.offsets.push_back(expected.targets.size());
    }
    EXPECT_EQ(g.to_csr(), expected) << c.name;
    EXPECT_EQ(report.requested, edges - left) << c.name;
    EXPECT_EQ(report.erased, edges - left) << c.name;
    EXPECT_EQ(g.edges(), left) << c.name;
    EXPECT_NO_THROW(g.check()) << c.name;
    if constexpr (requires { g.values(); }) {
      std::vector<typename Graph::value_type> values;
      for (auto const& arc : arcs) values.push_back(arc.second);
      EXPECT_EQ(g.values(), values) << c.name;
    }
    EXPECT_EQ(g.erase_if(select_all{true}).erased, left) << c.name;
    EXPECT_EQ(g.arcs(), 0u) << c.name;
    EXPECT_NO_THROW(g.check()) << c.name;
  }
};

TYPED_TEST_SUITE_P(edge_query_test);

TYPED_TEST_P(edge_query_test, values_of_edges) {
  this->template expect_values<float>();
  this->template expect_values<std::int64_t>();
}

TYPED_TEST_P(edge_query_test, values_of_no_edges) {
  for (std::size_t const n : {std::size_t{0}, std::size_t{3}}) {
    valued_case<TypeParam, double> const from(this->space(), {"", n, false, {}}, true);
    auto const view = from.g.view();
    EXPECT_TRUE(graph::values<double>(this->space(), view, std::vector<graph::edge>{}, 0).empty());
    EXPECT_EQ(graph::valued_neighbours<double>(this->space(), view, std::vector<graph::vertex_id>{}),
              (graph::valued_csr<double>{{0}, {}, {}}));
    this->expect_each_edge({"", n, false, {}}, from);
  }
}

TYPED_TEST_P(edge_query_test, invalid_arguments) {
  auto const& space = this->space();
  valued_case<TypeParam, double> const from(space, {"", 10, false, {{0, 1}, {1, 2}}}, true);
  auto const view = from.g.view();
  std::vector<graph::edge> const pairs{{0, 1}, {4, 12}, {11, 3}};
  std::vector<graph::vertex_id> const vertices{0, 1, 10};
  this->expect_refused([&] { (void)graph::values<double>(space, view, pairs, 0); },
                       "values: entry 1 is the pair (4, 12), but the graph has 10 vertices");
  this->expect_refused([&] { (void)graph::valued_neighbours<double>(space, view, vertices); },
                       "valued_neighbours: entry 2 is vertex 10, but the graph has 10 vertices");
  std::string const size = "have 4 bytes, but those of the graph have 8";
  this->expect_refused([&] { (void)graph::values<float>(space, view, pairs, 0); }, size);
  this->expect_refused([&] { (void)graph::valued_neighbours<float>(space, view, vertices); }, size);
  this->expect_refused([&] { graph::for_each_valued_edge<float>(space, view, record_values<float>{}); }, size);
  auto const plain = this->make(space, {"", 10, false, {{0, 1}}});
  this->expect_refused([&] { (void)graph::values<float>(space, plain.view(), pairs, 0); }, "have 0");
}

TYPED_TEST_P(edge_query_test, erasures_by_a_predicate) {
  for (query_case const& c : this->cases())
    for (bool const in : {true, false}) {
      if (!c.directed && !in) continue;
      typed_case<TypeParam> from(this->space(), c, in);
      using arcs_type = std::map<std::pair<graph::vertex_id, graph::vertex_id>, float>;
      this->expect_erased(c, from.g, from.arcs, [](auto u, auto v, float x) { return select_some::chooses(u, v, x); });
      graph::dynamic_graph<TypeParam, alloc::ouroboros_s_p<TypeParam>> g(this->space(), c.vertices,
                                                                         typed_case<TypeParam>::of(c, in));
      g.insert(c.edges);
      this->expect_erased(c, g, arcs_type(from.arcs), [](auto u, auto v, float) { return select_some::chooses(u, v); });
    }
}

TYPED_TEST_P(edge_query_test, out_of_memory) {
  auto const c = this->star(300);
  typed_case<TypeParam> from(this->space(), c, true);
  auto const vertices = this->some_vertices(c);
  auto const pairs = this->some_pairs(c);
  auto const run = [&](auto& on) {
    graph::sample_options const o{.fan_out = {2, 40}, .unique = true};
    return std::tuple(graph::values<float>(on, from.g.view(), pairs, 0),
                      graph::valued_neighbours<float>(on, from.g.view(), vertices),
                      graph::sample_neighbours_by_weight<float>(on, from.g.view(), vertices, o));
  };
  // Makes one request for memory after the other fail, until none fails.
  auto const fail_each = [](auto const& f, auto const& after_failure) {
    std::uint64_t requests = 0;
    for (bool failed = true; failed; ++requests) {
      ASSERT_LT(requests, 200u);
      exec::injected_failure const failure(requests);
      failed = false;
      try {
        f();
      } catch (error const& e) {
        EXPECT_EQ(e.code(), error_code::out_of_memory);
        failed = true;
      }
      if (failed) after_failure();
    }
    EXPECT_GT(requests, 5u);
  };
  auto const expected = run(this->space());
  graph::query_scratch<TypeParam> scratch(this->space());
  fail_each([&] { EXPECT_EQ(run(scratch), expected); }, [] {});

  exec::buffer<std::uint64_t, TypeParam> calls(this->space(), 1);
  this->space().fill(calls.data(), 0, calls.bytes());
  std::uint64_t const version = from.g.view().version();
  auto const unchanged = [&] {
    EXPECT_EQ(from.g.view().version(), version);
    EXPECT_EQ(from.g.arcs(), from.arcs.size());
  };
  std::uint64_t erased = 0;
  fail_each([&] { erased = from.g.erase_if(select_some{calls.data(), false}).erased; }, unchanged);
  EXPECT_GT(erased, 0u);
  EXPECT_NO_THROW(from.g.check());
}

REGISTER_TYPED_TEST_SUITE_P(edge_query_test, values_of_edges, values_of_no_edges, invalid_arguments,
                            erasures_by_a_predicate, out_of_memory);

}  // namespace wyrm::tests
