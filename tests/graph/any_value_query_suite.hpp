// SPDX-License-Identifier: Apache-2.0
// Queries of values and samples by weight on any_graph and its snapshots, with values of each type, and with entries on
// the host and in memory of the space, compared with a std::map.
#pragma once

#include <map>
#include <type_traits>
#include <utility>
#include <variant>

#include "query_case.hpp"

namespace wyrm::tests {

template <class Space>
class any_value_query_test : public query_fixture<Space> {
 protected:
  template <class Value>
  using arcs = std::map<std::pair<graph::vertex_id, graph::vertex_id>, Value>;

  /// Negative values, 0 and fractions, where the type has them.
  template <class Value>
  static std::vector<Value> some_values(query_case const& c) {
    std::vector<Value> list;
    for (std::size_t i = 0; i < c.edges.size(); ++i)
      list.push_back(static_cast<Value>(static_cast<double>(i % 1000) + (i % 2 == 0 ? 0.5 : 0)));
    if constexpr (!std::is_unsigned_v<Value>)
      for (std::size_t i = 0; i < list.size(); i += 7) list[i] = -list[i];
    if constexpr (sizeof(Value) == 8)
      for (std::size_t i = 0; i < list.size(); i += 5) list[i] *= static_cast<Value>(std::int64_t{1} << 40);
    return list;
  }
  template <class Value>
  static arcs<Value> arcs_of(query_case const& c, std::vector<Value> const& list) {
    arcs<Value> all;
    for (std::size_t i = 0; i < list.size(); ++i) {
      graph::edge const e = c.edges[i];
      all[{e.source, e.target}] = list[i];
      if (!c.directed) all[{e.target, e.source}] = list[i];
    }
    return all;
  }
  template <class Value>
  graph::any_graph make_valued(exec::any_space const& on, query_case const& c, std::vector<Value> const& list) const {
    graph::options o{.directed = c.directed, .self_loops = true};
    o.values = graph::number_type_of<Value>;
    o.pool = {.pool_bytes = std::size_t{1} << 20, .reserve_bytes = std::size_t{1} << 28};
    graph::any_graph g(on, "ouroboros-s-p", c.vertices, o);
    g.insert(c.edges, list);
    return g;
  }

  template <class Value>
  void expect_values(graph::any_view const& g, query_case const& c, arcs<Value> const& model) const {
    SCOPED_TRACE(c.name);
    auto const absent = static_cast<Value>(77777);
    auto const pairs = this->some_pairs(c);
    std::vector<Value> found;
    for (auto const& [u, v] : pairs) {
      auto const at = model.find({u, v});
      found.push_back(at == model.end() ? absent : at->second);
    }
    auto const vertices = this->some_vertices(c);
    graph::valued_csr<Value> lists{{0}, {}, {}};
    for (graph::vertex_id const v : vertices) {
      for (auto at = model.lower_bound({v, 0}); at != model.end() && at->first.first == v; ++at) {
        lists.targets.push_back(at->first.second);
        lists.values.push_back(at->second);
      }
      lists.offsets.push_back(lists.targets.size());
    }
    EXPECT_EQ(graph::values<Value>(g, pairs, absent), found);
    EXPECT_EQ(graph::valued_neighbours<Value>(g, vertices), lists);
    auto const entries = this->resident(vertices);
    auto const there = this->resident(pairs);
    exec::any_array<Value> const of_pairs = graph::values<Value>(g, this->pairs_in(there), absent);
    EXPECT_TRUE(std::holds_alternative<Space>(of_pairs.space()));
    EXPECT_EQ(of_pairs.to_host(), found);
    auto const of_vertices = graph::valued_neighbours<Value>(g, this->vertices_in(entries));
    EXPECT_EQ(of_vertices.to_host(), lists);
  }
  template <class Value>
  void expect_values_of_type() const {
    for (query_case const& c : this->cases()) {
      auto list = some_values<Value>(c);
      auto const before = arcs_of(c, list);
      graph::any_graph g = make_valued(this->space(), c, list);
      expect_values(g, c, before);
      graph::snapshot const taken = g.snapshot();
      for (Value& v : list) v = v / 2 + 1;
      g.insert(c.edges, list);
      expect_values({g.space(), taken.view()}, c, before);
      expect_values(g, c, arcs_of(c, list));
    }
  }

  template <class Weight>
  void expect_samples_of_type() const {
    for (query_case const& c : this->cases()) {
      SCOPED_TRACE(c.name);
      auto const list = some_values<Weight>(c);
      graph::any_graph g = make_valued(this->space(), c, list);
      graph::any_view const view = g;
      auto const seeds = this->some_vertices(c);
      auto const entries = this->resident(seeds);
      for (graph::sample_options const& o :
           {graph::sample_options{.fan_out = {3, 4}}, graph::sample_options{.fan_out = {5, 2}, .replace = true},
            graph::sample_options{.fan_out = {~0u}, .seed = 9}}) {
        auto const want = graph::sample_neighbours_by_weight<Weight>(this->space(), g.view(), seeds, o);
        EXPECT_EQ(graph::sample_neighbours_by_weight(g, seeds, o), want);
        auto const hops = graph::sample_neighbours_by_weight(view, this->vertices_in(entries), o);
        ASSERT_EQ(hops.size(), want.size());
        for (std::size_t i = 0; i < hops.size(); ++i) EXPECT_EQ(hops[i].to_host(), want[i]);
      }
      // With the largest fan-out, all neighbours of positive weight.
      arcs<Weight> const model = arcs_of(c, list);
      graph::sampled_hop all{{0}, {}, {}};
      for (graph::vertex_id const v : seeds) {
        for (auto at = model.lower_bound({v, 0}); at != model.end() && at->first.first == v; ++at)
          if (at->second > 0) {
            all.sources.push_back(v);
            all.targets.push_back(at->first.second);
          }
        all.offsets.push_back(all.targets.size());
      }
      graph::snapshot const taken = g.snapshot();
      g.insert(c.edges, std::vector<Weight>(c.edges.size(), 0));
      graph::any_view const then(g.space(), taken.view());
      EXPECT_EQ(graph::sample_neighbours_by_weight(then, seeds, {.fan_out = {~0u}}).at(0), all);
      EXPECT_TRUE(graph::sample_neighbours_by_weight(g, seeds, {.fan_out = {~0u}}).at(0).targets.empty());
    }
  }
};

TYPED_TEST_SUITE_P(any_value_query_test);

TYPED_TEST_P(any_value_query_test, values_of_each_type) {
  this->template expect_values_of_type<std::uint32_t>();
  this->template expect_values_of_type<std::int64_t>();
  this->template expect_values_of_type<float>();
  this->template expect_values_of_type<double>();
}

TYPED_TEST_P(any_value_query_test, samples_by_weights_of_each_type) {
  this->template expect_samples_of_type<std::uint32_t>();
  this->template expect_samples_of_type<float>();
  this->template expect_samples_of_type<double>();
}

TYPED_TEST_P(any_value_query_test, queries_that_are_refused) {
  query_case const c{"path", 10, false, {{0, 1}, {1, 2}}};
  std::vector<graph::vertex_id> const vertices{3, 10};
  std::vector<graph::edge> const pairs{{1, 2}, {5, 60}};
  auto const entries = this->resident(vertices);
  auto const there = this->resident(pairs);
  auto const list = this->vertices_in(entries);
  auto const resident_pairs = this->pairs_in(there);
  graph::sample_options const o{.fan_out = {1}};

  graph::any_graph const floats = this->make_valued(this->space(), c, std::vector<float>{1, 2});
  std::string const no_vertex = "entry 1 is vertex 10, but the graph has 10 vertices";
  std::string const no_pair = "entry 1 is the pair (5, 60), but the graph has 10 vertices";
  this->expect_refused([&] { (void)graph::values<float>(floats, pairs, 0); }, "values: " + no_pair);
  this->expect_refused([&] { (void)graph::values<float>(floats, resident_pairs, 0); }, "values: " + no_pair);
  this->expect_refused([&] { (void)graph::valued_neighbours<float>(floats, vertices); },
                       "valued_neighbours: " + no_vertex);
  this->expect_refused([&] { (void)graph::valued_neighbours<float>(floats, list); }, "valued_neighbours: " + no_vertex);
  this->expect_refused([&] { (void)graph::sample_neighbours_by_weight(floats, vertices, o); },
                       "sample_neighbours_by_weight: " + no_vertex);
  this->expect_refused([&] { (void)graph::sample_neighbours_by_weight(floats, list, o); },
                       "sample_neighbours_by_weight: " + no_vertex);
  std::string const null = "the pointer to the 2 entries is null";
  graph::resident_vertices const no_list(nullptr, 2);
  this->expect_refused([&] { (void)graph::values<float>(floats, graph::resident_edges(nullptr, 2), 0); },
                       "values: " + null);
  this->expect_refused([&] { (void)graph::valued_neighbours<float>(floats, no_list); }, "valued_neighbours: " + null);
  this->expect_refused([&] { (void)graph::sample_neighbours_by_weight(floats, no_list, o); },
                       "sample_neighbours_by_weight: " + null);

  // uint32 has the size of float.
  std::string const other = "the values of the query are of type uint32, but options::values of this graph is float";
  this->expect_refused([&] { (void)graph::values<std::uint32_t>(floats, pairs, 0); }, "values: " + other);
  this->expect_refused([&] { (void)graph::values<std::uint32_t>(floats, resident_pairs, 0); }, "values: " + other);
  this->expect_refused([&] { (void)graph::valued_neighbours<std::uint32_t>(floats, vertices); },
                       "valued_neighbours: " + other);
  this->expect_refused([&] { (void)graph::valued_neighbours<std::uint32_t>(floats, list); },
                       "valued_neighbours: " + other);

  graph::any_graph const integers = this->make_valued(this->space(), c, std::vector<std::int64_t>{1, 2});
  graph_on<TypeParam> const without(this->space(), 10);
  this->expect_refused([&] { (void)graph::values<float>(without, pairs, 0); },
                       "options::values of this graph is none; make the graph with values");
  std::string const weights = "weights must be of type uint32, float or double, but options::values of this graph is ";
  this->expect_refused([&] { (void)graph::sample_neighbours_by_weight(integers, vertices, o); }, weights + "int64");
  this->expect_refused([&] { (void)graph::sample_neighbours_by_weight(integers, list, o); }, weights + "int64");
  this->expect_refused([&] { (void)graph::sample_neighbours_by_weight(without, vertices, o); }, weights + "none");
}

REGISTER_TYPED_TEST_SUITE_P(any_value_query_test, values_of_each_type, samples_by_weights_of_each_type,
                            queries_that_are_refused);

}  // namespace wyrm::tests
