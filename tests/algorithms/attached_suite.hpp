// SPDX-License-Identifier: Apache-2.0
// The tests of results that are attached to a graph, for any space: all changes that a graph can make, in random order,
// against serial programs; failures of each request for memory; asynchronous updates; graphs and results that are moved
// and destroyed; and results that catch up from a snapshot.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../algorithms/clustering.hpp"
#include "../../exec/injected_failure.hpp"
#include "../../exec/memory.hpp"
#include "../../graph/catch_up.hpp"
#include "../../graph/snapshot.hpp"
#include "../graph/model.hpp"
#include "../support/refusal.hpp"
#include "../support/seed.hpp"
#include "../support/verify.hpp"
#include "maintained_fixture.hpp"

namespace wyrm::tests {

/// The condition of erase_if(): about one edge in five, the same in either direction.
struct every_fifth {
  std::uint32_t k;
  WYRM_HD bool operator()(graph::vertex_id u, graph::vertex_id v) const { return (u * 3 + v * 3 + u * v + k) % 5 == 0; }
};

template <class Space>
class attached_test : public maintained_results<Space> {
 protected:
  using base = maintained_results<Space>;
  using base::attach;
  using base::expect_right;
  using base::make_graph;
  using base::make_results;
  using base::values;
  using typename base::edges;
  using typename base::graph_type;
  using typename base::kind;
  using typename base::results;
  using operations = std::vector<graph::operation>;
  using triangles = algorithms::incremental_triangles<Space>;

  /// Edges and operations in memory of the space.
  struct resident {
    resident(Space const& space, edges const& e, operations const& o)
        : batch(space, e.size()), what(space, o.size()), size(e.size()) {
      exec::copy_in<graph::edge>(space, batch.data(), e);
      exec::copy_in<graph::operation>(space, what.data(), o);
    }
    [[nodiscard]] graph::resident_edges view() const { return graph::resident_edges(batch.data(), size); }
    exec::buffer<graph::edge, Space> batch;
    exec::buffer<graph::operation, Space> what;
    std::size_t size;
  };

  static operations random_operations(std::mt19937& random, std::size_t n) {
    operations all(n);
    for (auto& one : all) one = random() % 2 == 0 ? graph::operation::insert : graph::operation::erase;
    return all;
  }

  /// A graph, its model, and one result of each kind. Entries of a batch repeat edges with different operations.
  struct followed_graph {
    followed_graph(kind k, bool self_loops, std::uint64_t seed)
        : n(graphs_test<Space>::sized(60, 40)), random(seeded(seed)), model(n, k != kind::undirected, self_loops) {
      graph::options o{.directed = k != kind::undirected, .in_neighbours = k == kind::directed};
      o.self_loops = self_loops;
      o.pool = {.pool_bytes = std::size_t{1} << 18, .reserve_bytes = std::size_t{1} << 28};
      g.emplace(graphs_test<Space>::one_thread(), n, o);
      edges const first = random_edges(random, n, 80);
      g->insert(first);
      model.insert(first);
      all = make_results(*g, false);
      clusters.emplace(g->space(), g->view(), algorithms::clustering_options{}, pool);
      attach(*g, all, seed);
      g->attach(*clusters);
    }
    void step() {
      edges const batch = edges_of_present(1 + random() % 40);
      operations const what = random_operations(random, batch.size());
      resident const there(g->space(), batch, what);
      switch (random() % 17) {
        case 0: g->insert(batch), model.insert(batch); break;
        case 1: g->erase(batch), model.erase(batch); break;
        case 2: g->apply(batch, what), model.apply(batch, what, {}); break;
        case 3: g->insert(there.view()), model.insert(batch); break;
        case 4: g->erase(there.view()), model.erase(batch); break;
        case 5: g->apply(there.view(), there.what.data()), model.apply(batch, what, {}); break;
        case 6: g->insert_async(batch).get(), model.insert(batch); break;
        case 7: (void)g->erase_async(there.view()), model.erase(batch); break;
        case 8: g->apply_async(batch, what).get(), model.apply(batch, what, {}); break;
        case 9: erase_if(every_fifth{static_cast<std::uint32_t>(random() % 5)}); break;
        case 10: clear(); break;
        case 11: rebuild(); break;
        case 12: kept.emplace(g->snapshot()); break;
        case 13: add_vertices(1 + random() % 5); break;
        case 14: remove_vertices(1 + random() % 6); break;
        case 15: remove_vertices(2), add_vertices(4); break;
        default: kept.reset(); g->compact();
      }
    }
    void check(bool replaced) const {
      ASSERT_EQ(g->to_csr(), model.to_csr());
      expect_right(*g, all, model.absent());
      graph::csr const rows = g->to_csr();
      auto const r = clusters->result();
      ASSERT_EQ(r.label.size(), n);
      ASSERT_EQ(r.count, std::set<std::uint32_t>(r.label.begin(), r.label.end()).size());
      ASSERT_TRUE(clusters->belongs_to(g->view()));
      if (g->arcs() > 0) {
        ASSERT_NEAR(r.modularity, serial_modularity(rows, {}, r.label), 1e-6);
      }
      if (!replaced) return;
      algorithms::clusterer<Space> full(g->space(), pool);
      full.run(g->view());
      ASSERT_EQ(r.label, full.result().label);
    }
    bool clear() {
      g->clear();
      model.clear();
      return true;
    }
    bool rebuild() {
      add_vertices(model.absent().size());  // build() is for graphs without absent vertices
      graph::csr const rows = model.to_csr();
      g->clear();
      g->build(rows);
      return true;
    }
    void add_vertices(std::size_t k) {
      ASSERT_EQ(g->add_vertices(k), model.add_vertices(k));
      n = model.vertices();
    }
    // Some repeat, or are absent.
    void remove_vertices(std::size_t k) {
      std::vector<graph::vertex_id> batch(k);
      for (graph::vertex_id& v : batch) v = static_cast<graph::vertex_id>(random() % n);
      auto const got = g->remove_vertices(batch);
      auto const want = model.remove_vertices(batch);
      ASSERT_EQ(got.removed, want.removed);
      ASSERT_EQ(got.missing, want.missing);
      ASSERT_EQ(got.edges, want.edges);
    }
    edges edges_of_present(std::size_t k) {
      edges some = random_edges(random, n, k);
      std::erase_if(some, [&](graph::edge const& e) {
        return model.absent().contains(e.source) || model.absent().contains(e.target);
      });
      return some;
    }
    void erase_if(every_fifth const& which) {
      edges gone;
      graph::csr const rows = model.to_csr();
      for (graph::vertex_id u = 0; u < n; ++u)
        for (std::uint64_t i = rows.offsets[u]; i < rows.offsets[u + 1]; ++i)
          if (which(u, rows.targets[i])) gone.push_back({u, rows.targets[i]});
      g->erase_if(which);
      model.erase(gone);
    }

    static constexpr alloc::options pool{.pool_bytes = std::size_t{1} << 14, .reserve_bytes = std::size_t{1} << 26};
    std::size_t n;
    std::mt19937 random;
    graph_model model;
    std::optional<graph_type> g;
    std::optional<graph::snapshot> kept;
    results all;
    std::optional<algorithms::incremental_clustering<Space>> clusters;
  };

  /// Makes a change of a graph whose n-th request for memory fails, for all n until it succeeds. before_it: other
  /// changes, which are made first.
  template <class BeforeIt, class Change>
  static void fail_each_request(kind k, bool with_clusters, BeforeIt const& before_it, Change const& change) {
    std::size_t const n = graphs_test<Space>::sized(400, 80);
    std::mt19937 random(seeded(8));
    edges const sparse = random_edges(random, n, n / 2);
    std::uint64_t const stride = std::string_view(Space::name) == "simt" ? 13 : 3;
    bool done = false;
    for (std::uint64_t served = 0; !done; served += stride) {
      ASSERT_LT(served, 400u);
      SCOPED_TRACE(served);
      graph_type g = make_graph(k, n, sparse);
      before_it(g);
      results const all = make_results(g, with_clusters);
      attach(g, all);
      graph::csr const rows = g.to_csr();
      auto const before = values(all);
      try {
        exec::injected_failure const failure(served);
        change(g);
        done = true;
      } catch (error const& e) {
        ASSERT_EQ(e.code(), error_code::out_of_memory) << e.what();
        ASSERT_EQ(g.to_csr(), rows);
        ASSERT_EQ(values(all), before);
        for (auto const& one : all) ASSERT_TRUE(one->result().belongs_to(g.view()));
      }
      g.insert(sparse);
      expect_right(g, all);
    }
  }
};

TYPED_TEST_SUITE_P(attached_test);

TYPED_TEST_P(attached_test, results_follow_any_sequence_of_changes) {
  std::size_t const steps = this->sized(60, 25);
  std::size_t const seeds = std::min<std::size_t>(scaled(20, 3), 6);
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    auto const k = TestFixture::kinds[seed % 3];
    SCOPED_TRACE("seed " + std::to_string(seed));
    typename TestFixture::followed_graph f(k, seed % 2 == 1, seed);
    for (std::size_t i = 0; i < steps; ++i) {
      SCOPED_TRACE("step " + std::to_string(i));
      f.step();
      ASSERT_NO_FATAL_FAILURE(f.check(false));
      if (this->HasFailure()) return;
      if (i % 8 == 3) {  // the graph moves
        auto moved = std::move(*f.g);
        f.g.emplace(std::move(moved));
      }
    }
    f.clear();
    ASSERT_NO_FATAL_FAILURE(f.check(true));
    f.add_vertices(f.model.absent().size());
    f.g->insert({{1, 2}, {2, 3}, {3, 1}});
    f.model.insert(std::vector<graph::edge>{{1, 2}, {2, 3}, {3, 1}});
    f.rebuild();
    ASSERT_NO_FATAL_FAILURE(f.check(true));
  }
}

// The edges of one triangle are inserted and erased by one batch in all ways, while others keep an edge, gain or lose.
TYPED_TEST_P(attached_test, triangles_of_mixed_batches) {
  constexpr auto in = graph::operation::insert;
  constexpr auto out = graph::operation::erase;
  std::vector<graph::edge> const first{{0, 1}, {1, 2}, {3, 4}, {4, 5}, {5, 3}, {2, 3}, {1, 3}};
  for (unsigned code = 0; code < 729; ++code) {  // of six edges, each is left alone, inserted or erased
    auto g = this->make_graph(TestFixture::kind::undirected, 6, first);
    typename TestFixture::triangles count(g.space(), g.view(), true);
    g.attach(count);
    std::vector<graph::edge> const of{{2, 0}, {1, 0}, {3, 2}, {4, 3}, {0, 3}, {5, 4}};
    std::vector<graph::edge> batch;
    std::vector<graph::operation> what;
    for (unsigned e = 0, rest = code; e < 6; ++e, rest /= 3) {
      if (rest % 3 == 0) continue;
      // An entry before it that has no effect, in the other direction.
      batch.insert(batch.end(), {{of[e].target, of[e].source}, of[e]});
      what.insert(what.end(), {rest % 3 == 1 ? out : in, rest % 3 == 1 ? in : out});
    }
    g.apply(batch, what);
    ASSERT_EQ(count.per_vertex(), serial_triangles(g.to_csr())) << code;
  }
}

// An erasure cuts a component, and an insertion of the same batch links a part of it to another component.
TYPED_TEST_P(attached_test, components_of_mixed_batches) {
  constexpr auto in = graph::operation::insert;
  constexpr auto out = graph::operation::erase;
  for (auto const k : TestFixture::kinds)
    for (bool const forward : {true, false}) {
      // Two paths, 0 ... 9 and 10 ... 19.
      std::vector<graph::edge> paths;
      for (graph::vertex_id v = 0; v < 19; ++v)
        if (v != 9) paths.push_back({v, v + 1});
      auto g = this->make_graph(k, 20, paths);
      algorithms::incremental_components<TypeParam> components(g.space(), g.view());
      g.attach(components);
      std::vector<graph::edge> const batch{{4, 5}, forward ? graph::edge{7, 15} : graph::edge{15, 7}};
      g.apply(batch, std::vector<graph::operation>{out, in});
      EXPECT_EQ(components.label(), serial_components(g.to_csr()));
      EXPECT_EQ(components.count(), 2u);
      EXPECT_EQ(components.largest(), 15u);
      g.apply(batch, std::vector<graph::operation>{in, out});
      EXPECT_EQ(components.label(), serial_components(g.to_csr()));
      EXPECT_EQ(components.largest(), 10u);
    }
}

TYPED_TEST_P(attached_test, each_request_of_a_change_fails) {
  using graph_type = typename TestFixture::graph_type;
  std::size_t const n = this->sized(400, 80);
  std::mt19937 random(seeded(9));
  auto const batch = random_edges(random, n, 3 * n);
  auto const what = this->random_operations(random, batch.size());
  typename TestFixture::resident const there(this->one_thread(), batch, what);
  auto whole = this->make_graph(TestFixture::kind::directed, n, batch);
  graph::csr const directed_rows = whole.to_csr();
  auto undirected = this->make_graph(TestFixture::kind::undirected, n, batch);
  graph::csr const undirected_rows = undirected.to_csr();
  auto const rows_for = [&](graph_type const& g) {
    return graph::csr_view(g.settings().directed ? directed_rows : undirected_rows);
  };
  for (auto const k : TestFixture::kinds)
    for (bool const with_clusters : {false, true}) {
      if (with_clusters && k == TestFixture::kind::directed_out_only) continue;
      SCOPED_TRACE(std::to_string(static_cast<int>(k)) + (with_clusters ? " clusters" : ""));
      auto const fail = [&](auto const& before_it, auto const& change) {
        this->fail_each_request(k, with_clusters, before_it, change);
      };
      auto const nothing = [](graph_type&) {};
      auto const insert = [&](graph_type& g) { g.insert(batch); };
      ASSERT_NO_FATAL_FAILURE(fail(nothing, [&](graph_type& g) { g.apply(batch, what); }));
      ASSERT_NO_FATAL_FAILURE(fail(insert, [&](graph_type& g) { g.apply(there.view(), there.what.data()); }));
      ASSERT_NO_FATAL_FAILURE(fail(nothing, [&](graph_type& g) { g.insert_async(there.view()).get(); }));
      ASSERT_NO_FATAL_FAILURE(fail(insert, [&](graph_type& g) { g.erase_if(every_fifth{1}); }));
      ASSERT_NO_FATAL_FAILURE(fail([](graph_type& g) { g.clear(); }, [&](graph_type& g) { g.build(rows_for(g)); }));
      ASSERT_NO_FATAL_FAILURE(fail(insert, [](graph_type& g) { g.clear(); }));
    }
}

TYPED_TEST_P(attached_test, updates_may_be_asynchronous) {
  auto const n = static_cast<graph::vertex_id>(this->sized(200, 60));
  std::mt19937 random(seeded(3));
  auto const batch = random_edges(random, n, 100);
  auto const more = random_edges(random, n, 100);
  std::vector<graph::edge> bad = more;
  bad.push_back({0, n});
  for (auto const k : TestFixture::kinds) {
    auto first = this->make_graph(k, n, batch);
    auto const all = this->make_results(first, false);
    this->attach(first, all);
    graph::graph_view const then = first.view();
    auto pending = first.insert_async(more);
    for (auto const& one : all) {
      EXPECT_FALSE(one->result().belongs_to(then));
      this->expect_refusal([&] { first.detach(one->result()); }, "pending");
    }
    auto g = std::move(first);  // the update moves, and the results
    EXPECT_EQ(pending.get().requested, more.size());
    this->expect_right(g, all);
    // An update that is refused, by get() and by the destructor.
    auto const before = this->values(all);
    auto refused = g.erase_async(bad);
    EXPECT_THROW((void)refused.get(), error);
    EXPECT_EQ(this->values(all), before);
    (void)g.insert_async(bad);
    EXPECT_EQ(this->values(all), before);
    { auto const destroyed = g.erase_async(more); }
    this->expect_right(g, all);
    EXPECT_EQ(g.insert_async({}).get().requested, 0u);
    for (auto const& one : all) EXPECT_TRUE(one->result().belongs_to(g.view()));
  }
}

TYPED_TEST_P(attached_test, results_and_graphs_end_in_any_order) {
  using triangles = typename TestFixture::triangles;
  std::vector<graph::edge> const ring{{0, 1}, {1, 2}, {2, 3}, {3, 0}};
  std::vector<graph::edge> const chord{{0, 2}};
  auto const make = [&] { return this->make_graph(TestFixture::kind::undirected, 4, ring); };
  {  // a result before its graph, between others
    auto g = make();
    std::optional<triangles> all[3];
    for (auto& one : all) g.attach(one.emplace(g.space(), g.view()));
    all[1].reset();
    g.insert(chord);
    EXPECT_EQ(all[0]->total(), 2u);
    EXPECT_EQ(all[2]->total(), 2u);
    all[0].reset();
    g.erase(chord);
    EXPECT_EQ(all[2]->total(), 0u);
  }
  {  // results that move to other memory
    auto g = make();
    std::vector<triangles> all;
    for (int i = 0; i < 5; ++i) {
      all.emplace_back(g.space(), g.view());
      g.attach(all.back());
    }
    g.insert(chord);
    for (auto const& one : all) EXPECT_EQ(one.total(), 2u);
  }
  {  // a graph before its results
    std::optional<triangles> count;
    {
      auto g = make();
      g.attach(count.emplace(g.space(), g.view()));
      g.insert(chord);
    }
    EXPECT_FALSE(count->is_attached());
    EXPECT_EQ(count->total(), 2u);
    auto other = make();
    this->expect_refusal([&] { other.attach(*count); }, "another graph");
  }
  {  // a graph that gets another one assigned, and is assigned to another one
    auto g = make();
    triangles count(g.space(), g.view());
    g.attach(count);
    auto other = make();
    other = std::move(g);
    EXPECT_TRUE(count.is_attached());
    other.insert(chord);
    EXPECT_EQ(count.total(), 2u);
    other = make();
    EXPECT_FALSE(count.is_attached());
    this->expect_refusal([&] { other.detach(count); }, "not attached");
    this->expect_refusal([&] { g.attach(count); }, "another graph");
  }
  {  // while an update is pending
    std::optional<triangles> late;
    {
      auto g = make();
      g.insert(chord);
      triangles moved(g.space(), g.view());
      std::optional<triangles> gone;
      g.attach(moved);
      g.attach(gone.emplace(g.space(), g.view()));
      auto pending = g.erase_async(chord);
      gone.reset();
      triangles kept = std::move(moved);
      EXPECT_EQ(pending.get().erased, 1u);
      EXPECT_EQ(kept.total(), 0u);
      EXPECT_TRUE(kept.belongs_to(g.view()));
      g.attach(late.emplace(g.space(), g.view()));
      (void)g.insert_async(chord);
      auto last = g.erase_async(chord);
      { auto destroyed = std::move(g); }
      EXPECT_THROW((void)last.get(), error);
    }
    EXPECT_FALSE(late->is_attached());
    auto g = make();
    this->expect_refusal([&] { g.attach(*late); }, "another graph");
  }
}

// Values change no result; erasures and insertions of edges with values do.
TYPED_TEST_P(attached_test, graphs_may_have_values) {
  auto const n = static_cast<graph::vertex_id>(this->sized(100, 40));
  std::mt19937 random(seeded(6));
  for (bool const directed : {false, true}) {
    graph::options o{.directed = directed, .self_loops = true};
    o.pool = {.pool_bytes = std::size_t{1} << 18, .reserve_bytes = std::size_t{1} << 28};
    graph_on<TypeParam, float> g(this->one_thread(), n, o);
    auto const batch = random_edges(random, n, 2 * n);
    std::vector<float> const values(batch.size(), 1.5f);
    std::vector<float> const others(batch.size(), 2.5f);
    g.insert(batch, values);
    auto const all = this->make_results(g, false);
    this->attach(g, all);
    auto const before = this->values(all);
    EXPECT_GT(g.insert(batch, others).updated, 0u);
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i]->values()[0], before[i][0]);
    this->expect_right(g, all);
    for (unsigned round = 0; round < 8; ++round) {
      auto const mixed = random_edges(random, n, 50);
      auto const what = this->random_operations(random, mixed.size());
      std::vector<float> const some(mixed.size(), static_cast<float>(round));
      typename TestFixture::resident const there(g.space(), mixed, what);
      exec::buffer<float, TypeParam> const there_too(g.space(), some.size());
      exec::copy_in<float>(g.space(), there_too.data(), some);
      if (round % 4 == 0) g.apply(mixed, what, some);
      if (round % 4 == 1) g.apply(there.view(), there.what.data(), there_too.data());
      if (round % 4 == 2) g.erase(there.view());
      if (round % 4 == 3) g.insert(there.view(), there_too.data());
      this->expect_right(g, all);
      if (this->HasFailure()) return;
    }
    // A result that follows by differences: values are not read.
    auto& one = all.front()->result();
    auto const then = g.snapshot();
    g.detach(one);
    g.insert(batch, values);
    graph::catch_up(g.space(), one, then.view(), g.view());
    g.attach(one);
    this->expect_right(g, all);
  }
}

TYPED_TEST_P(attached_test, results_catch_up) {
  std::size_t const n = this->sized(200, 60);
  std::mt19937 random(seeded(4));
  auto const first = random_edges(random, n, n);
  auto const batch = random_edges(random, n, n);
  for (auto const k : TestFixture::kinds)
    for (bool const with_clusters : {false, true}) {
      SCOPED_TRACE(std::to_string(static_cast<int>(k)) + (with_clusters ? " clusters" : ""));
      auto g = this->make_graph(k, n, first);
      auto const all = this->make_results(g, with_clusters);
      this->attach(g, all);
      auto const then = g.snapshot();
      for (auto const& one : all) {
        this->expect_refusal([&] { graph::catch_up(g.space(), one->result(), then.view(), g.view()); }, "attached");
        g.detach(one->result());
      }
      g.insert(batch);
      g.erase(first);
      auto const later = g.snapshot();
      graph::csr const rows = g.to_csr();
      g.clear();
      g.build(rows);
      g.insert(batch);
      g.insert(random_edges(random, n, 20));
      auto const before = this->values(all);
      for (auto const& one : all) {
        auto& result = one->result();
        auto const from = [&](graph::graph_view const& moment) {
          return [&, moment] { graph::catch_up(g.space(), result, moment, g.view()); };
        };
        this->expect_refusal([&] { g.attach(result); }, "catch_up()");
        this->expect_refusal(from(later.view()), "version");
        this->expect_refusal(from(g.view()), "version");
        auto other = this->make_graph(k, n, first);
        this->expect_refusal(from(other.view()), "another graph");
        this->expect_refusal([&] { graph::catch_up(g.space(), result, then.view(), other.view()); },
                             "different graphs");
        // Each request for memory fails.
        bool done = false;
        for (std::uint64_t served = 0; !done; served += 3) {
          ASSERT_LT(served, 300u);
          try {
            exec::injected_failure const failure(served);
            graph::catch_up(g.space(), result, then.view(), g.view());
            done = true;
          } catch (error const& e) {
            ASSERT_EQ(e.code(), error_code::out_of_memory) << e.what();
            ASSERT_TRUE(result.belongs_to(then.view()));
          }
        }
      }
      this->expect_right(g, all);
      EXPECT_NE(this->values(all), before);
      this->attach(g, all);
      g.insert(first);
      this->expect_right(g, all);
      // Back in time.
      for (auto const& one : all) {
        g.detach(one->result());
        graph::catch_up(g.space(), one->result(), g.view(), later.view());
        EXPECT_TRUE(one->result().belongs_to(later.view()));
      }
      g.clear();
      for (auto const& one : all) graph::catch_up(g.space(), one->result(), later.view(), g.view());
      if (!with_clusters) this->expect_right(g, all);
      this->attach(g, all);
      g.insert(batch);
      this->expect_right(g, all);
    }
}

/// A result that says which stream it works on.
struct result_on_stream final : graph::maintained_result {
  result_on_stream(graph::graph_view const& g, exec::stream_identity const& stream)
      : maintained_result("result_on_stream", g, stream) {}

 private:
  void on_before(graph::graph_view const&, graph::graph_change const&) override {}
  void on_after(graph::graph_view const&) override {}
  void on_undo(graph::graph_view const&) override {}
};

TYPED_TEST_P(attached_test, results_work_on_the_stream_of_the_graph) {
  auto g = TestFixture::make_graph(TestFixture::kind::undirected, 10, {{0, 1}, {1, 2}});
  exec::stream_identity const own = g.space().identity();
  for (bool const with_clusters : {false, true})
    for (auto const& one : TestFixture::make_results(g, with_clusters)) EXPECT_EQ(one->result().stream(), own);
  std::string const want =
      "result_on_stream: the result works on another stream than the graph; construct it with the space of the graph";
  for (exec::stream_identity const& other :
       {exec::stream_identity{own.device + 1, own.stream}, exec::stream_identity{own.device, &own}}) {
    result_on_stream result(g.view(), other);
    result_on_stream moved(std::move(result));
    EXPECT_TRUE(refusal([&] { g.attach(moved); }).starts_with(want));
    EXPECT_FALSE(moved.is_attached());
    EXPECT_TRUE(refusal([&] { graph::catch_up(g.space(), moved, g.view(), g.view()); }).starts_with(want));
  }
  result_on_stream right(g.view(), own);
  g.attach(right);
  g.insert({{2, 3}});
  EXPECT_TRUE(right.belongs_to(g.view()));
}

REGISTER_TYPED_TEST_SUITE_P(attached_test, results_work_on_the_stream_of_the_graph,
                            results_follow_any_sequence_of_changes, triangles_of_mixed_batches,
                            components_of_mixed_batches, each_request_of_a_change_fails, updates_may_be_asynchronous,
                            results_and_graphs_end_in_any_order, graphs_may_have_values, results_catch_up);

}  // namespace wyrm::tests
