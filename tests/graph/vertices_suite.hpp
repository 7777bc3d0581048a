// SPDX-License-Identifier: Apache-2.0
// Vertices that come and go: ids in the documented order, edges that go with them, growth, and what a failure leaves.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../../algorithms/components.hpp"
#include "../../algorithms/incremental_pagerank.hpp"
#include "../../algorithms/pagerank.hpp"
#include "../../exec/injected_failure.hpp"
#include "../../graph/catch_up.hpp"
#include "../../graph/dynamic_graph.hpp"
#include "../../graph/query/difference.hpp"
#include "../support/refusal.hpp"
#include "snapshot_suite.hpp"

namespace wyrm::tests {

template <class Case>
class vertices : public snapshots<Case> {
 protected:
  using typename snapshots<Case>::graph_type;
  using typename snapshots<Case>::model_type;
  using ids = std::vector<graph::vertex_id>;

  static graph::options settings(unsigned form) {
    graph::options o{.directed = form > 0, .in_neighbours = form == 1, .self_loops = form == 2};
    o.pool = {.pool_bytes = std::size_t{1} << 20, .reserve_bytes = std::size_t{1} << 30, .checked = true};
    return o;
  }
  // A random graph, and its model.
  static std::pair<graph_type, model_type> random_graph(unsigned form, std::size_t n, unsigned seed) {
    std::mt19937 random(seeded(seed));
    auto const o = settings(form);
    std::pair<graph_type, model_type> both{graph_type(make_space<typename Case::space>(), n, o),
                                           model_type(n, o.directed, o.self_loops)};
    auto const batch = random_edges(random, n, 6 * n);
    snapshots<Case>::insert(both.first, both.second, batch, snapshots<Case>::values_for(random, batch.size()));
    return both;
  }
  static void expect_same(graph_type const& g, model_type const& model) {
    ASSERT_EQ(damage(g), "");
    ASSERT_EQ(g.to_csr(), model.to_csr());
    EXPECT_EQ(g.vertices(), model.vertices());
    EXPECT_EQ(g.present_vertices(), model.vertices() - model.absent().size());
    EXPECT_EQ(g.view().present_vertices(), g.present_vertices());
    auto const records = exec::copy_out(g.space(), g.view().out_records(), g.vertices());
    for (graph::vertex_id v = 0; v < g.vertices(); ++v)
      ASSERT_EQ(records[v].is_absent(), model.absent().contains(v)) << "vertex " << v;
  }
};
TYPED_TEST_SUITE_P(vertices);

TYPED_TEST_P(vertices, take_their_edges_with_them) {
  for (unsigned form = 0; form < 4; ++form) {
    std::size_t const n = 300;
    auto both = this->random_graph(form, n, 11 + form);
    auto& g = both.first;
    auto& model = both.second;
    std::mt19937 random(seeded(5));
    for (unsigned round = 0; round < 6; ++round) {
      std::vector<graph::vertex_id> batch;  // the hub is in it, repetitions, and from the second round on absent ones
      for (unsigned i = 0; i < 20; ++i) batch.push_back(static_cast<graph::vertex_id>(random() % 100));
      batch.push_back(round == 0 ? 0 : batch[3]);
      auto const want = model.remove_vertices(batch);
      EXPECT_GT(want.removed + want.missing, 0u);
      if (round % 2 == 0) {
        expect_equal(g.remove_vertices(batch), want);
      } else {
        exec::buffer<graph::vertex_id, typename TypeParam::space> there(g.space(), batch.size());
        exec::copy_in<graph::vertex_id>(g.space(), there.data(), batch);
        expect_equal(g.remove_vertices(graph::resident_vertices(there.data(), batch.size())), want);
      }
      this->expect_same(g, model);
    }
    g.compact();
    this->expect_same(g, model);
    std::size_t const some = g.vertices() - g.present_vertices() + 7;
    EXPECT_EQ(g.add_vertices(some), model.add_vertices(some));
    this->expect_same(g, model);
    std::vector<graph::vertex_id> all;
    for (graph::vertex_id v = 0; v < g.vertices(); ++v) all.push_back(v);
    expect_equal(g.remove_vertices(all), model.remove_vertices(all));
    EXPECT_EQ(g.edges(), 0u);
    this->expect_same(g, model);
  }
}

TYPED_TEST_P(vertices, get_ids_in_the_documented_order) {
  using ids = std::vector<graph::vertex_id>;
  auto g = this->make(10);
  EXPECT_EQ(g.add_vertices(2), (ids{10, 11}));
  g.remove_vertices({7, 3, 3});
  g.remove_vertices({9, 1, 3});
  EXPECT_EQ(g.add_vertices(0), ids());
  EXPECT_EQ(g.add_vertices(1), (ids{1}));
  EXPECT_EQ(g.add_vertices(4), (ids{9, 3, 7, 12}));
  EXPECT_EQ(g.vertices(), 13u);
  EXPECT_EQ(g.present_vertices(), 13u);
}

TYPED_TEST_P(vertices, are_added_in_place_up_to_a_maximum) {
  std::size_t const n = 50;
  graph::options o = this->settings(1);
  o.max_vertices = 20000;
  typename TestFixture::graph_type g(make_space<typename TypeParam::space>(), n, o);
  typename TestFixture::model_type model(n, true, false);
  std::mt19937 random(seeded(3));
  auto const* const table = g.view().out_records();
  for (unsigned round = 0; round < 6; ++round) {
    std::size_t const some = round == 3 ? 15000 : random() % 700;
    EXPECT_EQ(g.add_vertices(some), model.add_vertices(some));
    auto const batch = random_edges(random, g.vertices(), 500);
    this->insert(g, model, batch, this->values_for(random, batch.size()));
    if (round == 4) g.compact();
    this->expect_same(g, model);
  }
  EXPECT_EQ(g.view().out_records(), table);
  std::string const why = refusal([&] { (void)g.add_vertices(20001 - g.vertices()); });
  EXPECT_NE(why.find("20000, its options::max_vertices; nothing was changed"), std::string::npos) << why;
  EXPECT_EQ(g.add_vertices(20000 - g.vertices()).back(), 19999u);
  g.remove_vertices({4, 5});
  EXPECT_NE(refusal([&] { (void)g.add_vertices(3); }), "");
  EXPECT_EQ(g.add_vertices(2), (std::vector<graph::vertex_id>{4, 5}));
  o.max_vertices = n - 1;
  EXPECT_NE(refusal([&] { typename TestFixture::graph_type(g.space(), n, o); }), "");
}

TYPED_TEST_P(vertices, that_are_absent_take_no_edges) {
  for (unsigned form = 0; form < 3; ++form) {
    auto both = this->random_graph(form, 100, 17);
    auto& g = both.first;
    auto& model = both.second;
    model.remove_vertices(std::vector<graph::vertex_id>{40, 41});
    g.remove_vertices({41, 40});
    std::vector<graph::edge> batch{{1, 2}, {41, 3}, {5, 40}, {4, 5}};
    std::vector<typename TypeParam::value> const values(TypeParam::has_values ? batch.size() : 0);
    std::string why = refusal([&] {
      if constexpr (TypeParam::has_values)
        g.insert(batch, values);
      else
        g.insert(batch);
    });
    EXPECT_NE(why.find("edge 1 of the batch is (41, 3), but one of them was removed"), std::string::npos) << why;
    EXPECT_NE(why.find("(2 such edges in all)"), std::string::npos) << why;
    auto const apply = [&](std::vector<graph::operation> const& what) {
      exec::buffer<graph::edge, typename TypeParam::space> there(g.space(), batch.size());
      exec::copy_in<graph::edge>(g.space(), there.data(), batch);
      exec::buffer<graph::operation, typename TypeParam::space> ops(g.space(), batch.size());
      exec::copy_in<graph::operation>(g.space(), ops.data(), what);
      if constexpr (TypeParam::has_values) {
        exec::buffer<typename TypeParam::value, typename TypeParam::space> w(g.space(), batch.size());
        exec::copy_in<typename TypeParam::value>(g.space(), w.data(), values);
        return g.apply(graph::resident_edges(there.data(), batch.size()), ops.data(), w.data());
      } else {
        return g.apply(graph::resident_edges(there.data(), batch.size()), ops.data());
      }
    };
    constexpr auto in = graph::operation::insert;
    constexpr auto out = graph::operation::erase;
    why = refusal([&] { apply({in, out, in, in}); });
    EXPECT_NE(why.find("edge 2 of the batch is (5, 40), but one of them was removed"), std::string::npos) << why;
    this->expect_same(g, model);
    std::vector<graph::operation> const what = {in, out, out, in};
    auto const got = apply(what);
    EXPECT_EQ(got.missing, 2u);
    expect_equal(got, model.apply(batch, what, values));
    expect_equal(g.erase(batch), model.erase(batch));
    this->expect_same(g, model);
    EXPECT_NE(refusal([&] {
                g.remove_vertices({1, 100});
              }).find("entry 1 of the batch is vertex 100"),
              std::string::npos);
    g.clear();
    model.clear();
    this->expect_same(g, model);
  }
}

TYPED_TEST_P(vertices, change_or_nothing_changes) {
  for (unsigned form = 0; form < 4; ++form) {
    auto both = this->random_graph(form, 200, 29 + form);
    auto& g = both.first;
    auto& model = both.second;
    std::vector<graph::vertex_id> const gone{0, 3, 50, 51, 150};
    g.remove_vertices(gone);
    model.remove_vertices(gone);
    auto const moment = this->take(g, model);  // so that an erasure needs memory
    std::vector<graph::vertex_id> const next{7, 8, 120, 50};
    auto const without_memory = [&](auto const& f) {
      for (std::uint64_t k = 0;; ++k) {
        ASSERT_LT(k, 1000u);
        try {
          exec::injected_failure const failure(k);
          f();
          return;
        } catch (error const& e) {
          ASSERT_EQ(e.code(), error_code::out_of_memory) << e.what();
        }
        this->expect_same(g, model);
      }
    };
    graph::removal_report removed;
    without_memory([&] { removed = g.remove_vertices(next); });
    expect_equal(removed, model.remove_vertices(next));
    this->expect_same(g, model);
    std::vector<graph::vertex_id> added;
    without_memory([&] { added = g.add_vertices(300); });
    EXPECT_EQ(added, model.add_vertices(300));
    this->expect_same(g, model);
    // The pages that the removal replaces cannot be allocated: a snapshot has them.
    auto const again = this->take(g, model);
    g.fail_allocations_from(0);
    EXPECT_THROW(g.remove_vertices({60, 61}), error);
    g.fail_allocations_from(g.never);
    this->expect_same(g, model);
    EXPECT_TRUE(this->is_intact(g.space(), moment));
    EXPECT_TRUE(this->is_intact(g.space(), again));
  }
}

TYPED_TEST_P(vertices, of_snapshots_stay) {
  auto both = this->random_graph(1, 100, 31);
  auto& g = both.first;
  auto& model = both.second;
  std::mt19937 random(seeded(8));
  std::deque<typename TestFixture::moment> moments;
  for (unsigned round = 0; round < 30; ++round) {
    moments.push_back(this->take(g, model));
    if (moments.size() > 4) moments.erase(moments.begin() + static_cast<std::ptrdiff_t>(random() % 4));
    std::size_t const n = random() % 40;
    if (round % 3 == 0) {
      EXPECT_EQ(g.add_vertices(n), model.add_vertices(n));
    } else if (round % 3 == 1) {
      std::vector<graph::vertex_id> batch;
      for (std::size_t i = 0; i < n / 4; ++i) batch.push_back(static_cast<graph::vertex_id>(random() % g.vertices()));
      expect_equal(g.remove_vertices(batch), model.remove_vertices(batch));
    } else {
      auto batch = random_edges(random, g.vertices(), 200);
      std::erase_if(
          batch, [&](graph::edge e) { return model.absent().contains(e.source) || model.absent().contains(e.target); });
      this->insert(g, model, batch, this->values_for(random, batch.size()));
    }
    this->expect_same(g, model);
    for (auto const& m : moments) ASSERT_TRUE(this->is_intact(g.space(), m)) << "round " << round;
  }
}

// The edges that came and went between moments with different vertices.
TYPED_TEST_P(vertices, may_differ_between_moments) {
  using value = typename TypeParam::value;
  auto both = this->random_graph(1, 100, 41);
  auto& g = both.first;
  auto& model = both.second;
  auto const before = g.snapshot();
  auto then = model;
  EXPECT_EQ(g.add_vertices(60), model.add_vertices(60));
  expect_equal(g.remove_vertices({0, 5, 130}), model.remove_vertices(std::vector<graph::vertex_id>{0, 5, 130}));
  std::vector<graph::edge> const batch{{120, 3}, {7, 121}, {121, 122}};
  this->insert(g, model, batch, std::vector<value>(TypeParam::has_values ? batch.size() : 0));
  auto const forth = graph::difference<value>(g.space(), before.view(), g.view()).to_host();
  auto const back = graph::difference<value>(g.space(), g.view(), before.view()).to_host();
  then.add_vertices(60);
  auto const old = then.to_csr();
  then.apply(forth.edges, forth.operations, forth.values);
  EXPECT_EQ(then.to_csr(), model.to_csr());
  then.apply(back.edges, back.operations, back.values);
  EXPECT_EQ(then.to_csr(), old);
}

TYPED_TEST_P(vertices, that_are_absent_have_no_rank) {
  auto both = this->random_graph(1, 120, 37);
  auto& g = both.first;
  auto& model = both.second;
  g.remove_vertices({0, 60, 119});
  model.remove_vertices(std::vector<graph::vertex_id>{0, 60, 119});
  // The same graph with the vertices that are present, renumbered.
  std::vector<graph::vertex_id> number(g.vertices());
  graph::vertex_id n = 0;
  for (graph::vertex_id v = 0; v < g.vertices(); ++v)
    if (!model.absent().contains(v)) number[v] = n++;
  typename TestFixture::graph_type without(g.space(), n, this->settings(1));
  typename TestFixture::model_type smaller(n, true, false);
  std::vector<graph::edge> edges;
  graph::csr const rows = model.to_csr();
  for (graph::vertex_id v = 0; v < g.vertices(); ++v)
    for (std::uint64_t i = rows.offsets[v]; i < rows.offsets[v + 1]; ++i)
      edges.push_back({number[v], number[rows.targets[i]]});
  this->insert(without, smaller, edges,
               std::vector<typename TypeParam::value>(TypeParam::has_values ? edges.size() : 0));
  auto const ranks = algorithms::pagerank(g.space(), g.view()).rank;
  auto const want = algorithms::pagerank(g.space(), without.view()).rank;
  for (graph::vertex_id v = 0; v < g.vertices(); ++v)
    EXPECT_NEAR(ranks[v], model.absent().contains(v) ? 0 : want[number[v]], 1e-8) << "vertex " << v;
  algorithms::pagerank_options o;
  o.teleport.assign(g.vertices(), 1);
  EXPECT_NE(refusal([&] { (void)algorithms::pagerank(g.space(), g.view(), o); }).find("vertex 0 was removed"),
            std::string::npos);
  o.teleport[0] = o.teleport[60] = o.teleport[119] = 0;
  auto const jumps = algorithms::pagerank(g.space(), g.view(), o).rank;
  for (graph::vertex_id v = 0; v < g.vertices(); ++v) EXPECT_NEAR(jumps[v], ranks[v], 1e-8) << "vertex " << v;

  // Maintained results follow.
  algorithms::incremental_pagerank maintained(g);
  algorithms::incremental_components components(g);
  g.attach(maintained);
  g.attach(components);
  g.remove_vertices({7, 8});
  model.remove_vertices(std::vector<graph::vertex_id>{7, 8});
  EXPECT_EQ(g.add_vertices(1), model.add_vertices(1));
  std::vector<graph::edge> const batch{{1, 2}, {3, 4}, {118, 5}, {2, 2}};
  this->insert(g, model, batch, std::vector<typename TypeParam::value>(TypeParam::has_values ? batch.size() : 0));
  g.erase({{1, 2}});
  auto const now = algorithms::pagerank(g.space(), g.view()).rank;
  auto const kept = maintained.rank();
  for (graph::vertex_id v = 0; v < g.vertices(); ++v) EXPECT_NEAR(kept[v], now[v], 1e-8) << "vertex " << v;
  std::vector<graph::vertex_id> const label = components.label();
  std::set<graph::vertex_id> labels;
  for (graph::vertex_id v = 0; v < g.vertices(); ++v)
    if (!model.absent().contains(v)) labels.insert(label[v]);
  EXPECT_EQ(components.count(), labels.size());
  g.detach(maintained);
  g.detach(components);
  std::vector<graph::vertex_id> all(g.vertices());
  std::iota(all.begin(), all.end(), 0);
  g.remove_vertices(all);
  EXPECT_EQ(algorithms::pagerank(g.space(), g.view()).rank, std::vector<double>(120, 0.0));
  auto const none = algorithms::components(g.space(), g.view());
  EXPECT_EQ(none.count, 0u);
  EXPECT_EQ(none.largest, 0u);
  algorithms::incremental_pagerank nobody(g);
  EXPECT_EQ(nobody.rank(), std::vector<double>(120, 0.0));
  EXPECT_EQ(nobody.error_bound(), 0);
}

TYPED_TEST_P(vertices, are_those_of_the_undirected_graph) {
  using value = typename TypeParam::value;
  for (unsigned form = 1; form < 4; ++form) {
    auto both = this->random_graph(form, 200, 51 + form);
    auto& g = both.first;
    auto& model = both.second;
    for (std::vector<graph::vertex_id> const& gone : {std::vector<graph::vertex_id>{70, 3}, {9}}) {
      g.remove_vertices(gone);
      model.remove_vertices(gone);
    }
    graph::csr const rows = model.to_csr();
    std::vector<value> const values = model.values();
    // Of both arcs of an edge the one from the greater id is later in the order of rows, and decides.
    std::map<std::pair<graph::vertex_id, graph::vertex_id>, value> edges;
    for (graph::vertex_id u = 0; u < 200; ++u)
      for (std::uint64_t i = rows.offsets[u]; i < rows.offsets[u + 1]; ++i)
        edges[{u, rows.targets[i]}] = edges[{rows.targets[i], u}] = values[i];
    auto made = g.as_undirected();
    EXPECT_FALSE(made.settings().directed);
    EXPECT_EQ(made.settings().self_loops, g.settings().self_loops);
    EXPECT_EQ(damage(made), "");
    graph::csr const got = made.to_csr();
    ASSERT_EQ(got.targets.size(), edges.size());
    auto next = edges.begin();
    for (graph::vertex_id u = 0; u < 200; ++u)
      for (std::uint64_t i = got.offsets[u]; i < got.offsets[u + 1]; ++i)
        ASSERT_EQ(std::pair(u, got.targets[i]), next++->first);
    if constexpr (TypeParam::has_values) {
      for (std::size_t i = 0; value const& one : made.values()) {
        auto const at = std::next(edges.begin(), static_cast<std::ptrdiff_t>(i++));
        ASSERT_TRUE(model.same(one, at->second)) << at->first.first << " " << at->first.second;
      }
    }
    EXPECT_EQ(made.present_vertices(), 197u);
    EXPECT_EQ(made.add_vertices(4), model.add_vertices(4));
    EXPECT_EQ(g.to_csr(), rows);
    EXPECT_NE(refusal([&] { (void)made.as_undirected(); }).find("undirected already"), std::string::npos);
    if constexpr (TypeParam::has_values && std::is_same_v<value, float>) {
      auto o = g.settings();
      o.combine = graph::combiner::max;
      auto const most = g.as_undirected(o).values();
      auto const forward = [&](graph::vertex_id u, graph::vertex_id v) {
        auto const first = rows.targets.begin() + static_cast<std::ptrdiff_t>(rows.offsets[u]);
        auto const last = rows.targets.begin() + static_cast<std::ptrdiff_t>(rows.offsets[u + 1]);
        auto const at = std::find(first, last, v);
        return at == last ? -1.0f : values[static_cast<std::size_t>(at - rows.targets.begin())];
      };
      for (std::size_t i = 0; auto const& [arc, unused] : edges)
        ASSERT_EQ(most[i++], std::max(forward(arc.first, arc.second), forward(arc.second, arc.first)));
    }
    // Slices of arcs are all arcs.
    std::vector<graph::edge> listed;
    graph::detail::for_each_slice_of_arcs<graph::no_value>(
        g.space(), g.view(), 100, [&](graph::resident_edges slice, graph::no_value const*) {
          auto const part = exec::copy_out(g.space(), slice.data, slice.size);
          listed.insert(listed.end(), part.begin(), part.end());
        });
    std::vector<graph::edge> all;
    for (graph::vertex_id u = 0; u < 200; ++u)
      for (std::uint64_t i = rows.offsets[u]; i < rows.offsets[u + 1]; ++i) all.push_back({u, rows.targets[i]});
    EXPECT_EQ(listed, all);
  }
}

// Results of other vertices are refused, also if there are as many, and catch up.
TYPED_TEST_P(vertices, of_a_result_are_known) {
  auto both = this->random_graph(1, 100, 43);
  auto& g = both.first;
  algorithms::incremental_components components(g);
  auto const then = g.snapshot();
  g.remove_vertices({4});
  EXPECT_NE(refusal([&] { g.attach(components); }).find("catch_up()"), std::string::npos);
  EXPECT_EQ(g.add_vertices(1), (std::vector<graph::vertex_id>{4}));
  EXPECT_NE(refusal([&] { g.attach(components); }).find("catch_up()"), std::string::npos);
  EXPECT_TRUE(components.belongs_to(then.view()));
  graph::catch_up(g.space(), components, then.view(), g.view());
  g.attach(components);
  EXPECT_EQ(components.label(), algorithms::components(g.space(), g.view()).label);
  // A warm start needs a rank of each vertex.
  using space_type = typename TypeParam::space;
  algorithms::pagerank_ranker<space_type> ranker(g.space());
  g.detach(components);
  for (unsigned round = 0; round < 3; ++round) {
    (void)ranker.run(g.view(), {});
    (void)g.add_vertices(3);
    EXPECT_NE(refusal([&] { (void)ranker.run(g.view(), {}, true); }).find("a warm start needs"), std::string::npos);
  }
}

REGISTER_TYPED_TEST_SUITE_P(vertices, take_their_edges_with_them, get_ids_in_the_documented_order,
                            are_added_in_place_up_to_a_maximum, that_are_absent_take_no_edges,
                            change_or_nothing_changes, of_snapshots_stay, may_differ_between_moments,
                            that_are_absent_have_no_rank, are_those_of_the_undirected_graph, of_a_result_are_known);

}  // namespace wyrm::tests
