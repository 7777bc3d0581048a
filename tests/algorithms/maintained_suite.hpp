// SPDX-License-Identifier: Apache-2.0
// The tests of the guarantees of all maintained results, for any space: an update that fails for lack of memory leaves
// the graph and all results unchanged; after() and undo() request no memory; a result refuses a graph that it does not
// belong to, or that has changed without it.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../algorithms/components.hpp"
#include "../../algorithms/incremental_clustering.hpp"
#include "../../algorithms/incremental_pagerank.hpp"
#include "../../algorithms/incremental_triangles.hpp"
#include "../../algorithms/pagerank.hpp"
#include "../../exec/injected_failure.hpp"
#include "../../graph/maintained_result.hpp"
#include "../graph/model.hpp"
#include "../support/seed.hpp"
#include "../support/verify.hpp"
#include "maintained_fixture.hpp"

namespace wyrm::tests {

template <class Space>
class maintained_test : public maintained_results<Space> {
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

  /// A sparse graph, and a batch that makes it dense, with a hub that is divided into parts if there are many vertices.
  struct subject {
    std::size_t n;
    edges sparse;
    edges batch;
    edges small;
  };
  static subject make_subject(std::size_t n) {
    std::mt19937 random(seeded(5));
    subject s{n, random_edges(random, n, n / 2), random_edges(random, n, 3 * n), random_edges(random, n, 5)};
    for (graph::vertex_id v = 1; v < n; ++v) s.batch.push_back({v, 0});
    return s;
  }
  static constexpr graph::operation insertion = graph::operation::insert;
  static constexpr graph::operation erasure = graph::operation::erase;
  static void update(graph_type& g, graph::operation what, edges const& batch) {
    if (what == insertion)
      g.insert(batch);
    else
      g.erase(batch);
  }

  /// The distance between requests that fail: larger for all orders of results but the first, and if lanes are fibers.
  static std::uint64_t stride(std::size_t first = 0) {
    return std::string_view(Space::name) == "simt" ? 11 : first == 0 ? 1 : 5;
  }

  /// Runs an update in which the n-th request for memory fails, for all n until the update succeeds.
  static void fail_each_request(kind k, bool with_clusters, graph::operation what, std::size_t first) {
    subject const s = make_subject(graphs_test<Space>::sized(with_clusters ? 500 : 1200, 100));
    bool done = false;
    for (std::uint64_t served = first % stride(first); !done; served += stride(first)) {
      ASSERT_LT(served, 300u);
      SCOPED_TRACE(served);
      graph_type g = make_graph(k, s.n, s.sparse);
      if (what == erasure) g.insert(s.batch);
      results const all = make_results(g, with_clusters);
      attach(g, all, first);
      graph::csr const rows = g.to_csr();
      auto const before = values(all);
      try {
        exec::injected_failure const failure(served);
        update(g, what, s.batch);
        done = true;
      } catch (error const& e) {
        ASSERT_EQ(e.code(), error_code::out_of_memory) << e.what();
        ASSERT_EQ(g.to_csr(), rows);
        ASSERT_EQ(values(all), before);
      }
      if (done) expect_right(g, all);
      // An empty batch, and a smaller one, which only needs buffers that kept their size.
      g.insert({});
      g.insert(s.small);
      expect_right(g, all);
      if (served % 4 != 0 && !done) continue;
      update(g, what, s.batch);
      g.erase(s.small);
      expect_right(g, all);
      if (testing::Test::HasFailure()) return;
    }
  }

  /// Attached before other results, makes all requests for memory fail from the end of an update on; attached after
  /// them, it also refuses the update.
  struct failing_result final : graph::maintained_result {
    failing_result(graph::graph_view const& g, bool refuses_all) : maintained_result("test", g), refuses(refuses_all) {}
    bool refuses;
    std::optional<exec::injected_failure> failure = {};

   private:
    void on_before(graph::graph_view const&, graph::graph_change const&) override {
      if (!refuses) return;
      failure.emplace(0);
      throw error(error_code::out_of_memory, "refused");
    }
    void on_after(graph::graph_view const&) override { failure.emplace(0); }
    void on_undo(graph::graph_view const&) override {}
  };
};

TYPED_TEST_SUITE_P(maintained_test);

TYPED_TEST_P(maintained_test, each_request_of_an_insertion_fails) {
  for (auto const k : TestFixture::kinds)
    for (std::size_t first = 0; first < 3; ++first) {
      SCOPED_TRACE(static_cast<int>(k));
      ASSERT_NO_FATAL_FAILURE(this->fail_each_request(k, false, TestFixture::insertion, first));
    }
}

TYPED_TEST_P(maintained_test, each_request_of_an_erasure_fails) {
  for (auto const k : TestFixture::kinds) {
    SCOPED_TRACE(static_cast<int>(k));
    ASSERT_NO_FATAL_FAILURE(this->fail_each_request(k, false, TestFixture::erasure, 1));
  }
}

TYPED_TEST_P(maintained_test, each_request_fails_for_clusters) {
  for (auto const k : {TestFixture::kind::undirected, TestFixture::kind::directed}) {
    SCOPED_TRACE(static_cast<int>(k));
    ASSERT_NO_FATAL_FAILURE(this->fail_each_request(k, true, TestFixture::insertion, 0));
  }
}

TYPED_TEST_P(maintained_test, nothing_is_requested_after_the_update) {
  auto const s = this->make_subject(this->sized(1200, 100));
  for (auto const k : TestFixture::kinds)
    for (bool const with_clusters : {false, true})
      for (bool const refuses : {true, false}) {
        SCOPED_TRACE(std::to_string(static_cast<int>(k)) + (with_clusters ? " clusters" : "") +
                     (refuses ? " refused" : ""));
        auto g = this->make_graph(k, s.n, s.sparse);
        auto const all = this->make_results(g, with_clusters);
        for (auto const what : {TestFixture::insertion, TestFixture::erasure}) {
          auto const before = this->values(all);
          {
            typename TestFixture::failing_result failing(g.view(), refuses);
            if (!refuses) g.attach(failing);
            this->attach(g, all);
            if (refuses) {
              g.attach(failing);
              EXPECT_THROW(this->update(g, what, s.batch), error);
            } else {
              EXPECT_NO_THROW(this->update(g, what, s.batch));
            }
          }
          if (refuses) {
            EXPECT_EQ(this->values(all), before);
          }
          this->expect_right(g, all);
          g.insert(s.small);
          this->expect_right(g, all);
          for (auto const& one : all) g.detach(one->result());
        }
      }
}

// A change that needs more memory than there is leaves nothing behind that a small change would need, too.
TYPED_TEST_P(maintained_test, changes_that_are_too_large_leave_nothing_behind) {
  for (auto const k : TestFixture::kinds) {
    auto g = this->make_graph(k, 4, {{0, 1}, {1, 2}});
    auto const all = this->make_results(g, false);
    graph::graph_change huge;
    huge.vertices = 4;
    huge.max_arcs = std::uint64_t{1} << 50;
    huge.next_version = g.view().version() + 1;
    for (auto const& one : all) {
      exec::injected_failure const failure(0);
      try {
        one->result().before(g.view(), huge);
        one->result().undo(g.view());  // it needs no memory for arcs
      } catch (error const& e) {
        EXPECT_EQ(e.code(), error_code::out_of_memory) << e.what();
      }
    }
    this->attach(g, all);
    g.insert({{2, 0}});
    this->expect_right(g, all);
  }
}

TYPED_TEST_P(maintained_test, each_request_of_a_constructor_fails) {
  auto const s = this->make_subject(this->sized(500, 100));
  for (auto const k : TestFixture::kinds)
    for (bool const with_clusters : {false, true}) {
      auto const g = this->make_graph(k, s.n, s.batch);
      bool done = false;
      for (std::uint64_t served = 0; !done; served += this->stride()) {
        ASSERT_LT(served, 300u);
        try {
          exec::injected_failure const failure(served);
          auto const all = this->make_results(g, with_clusters);
          done = true;
          this->expect_right(g, all);
        } catch (error const& e) {
          ASSERT_EQ(e.code(), error_code::out_of_memory) << e.what();
        }
      }
    }
}

TYPED_TEST_P(maintained_test, changes_without_the_result_are_detected) {
  auto const s = this->make_subject(this->sized(200, 60));
  auto const rows = [&] {
    auto whole = this->make_graph(TestFixture::kind::undirected, s.n, s.batch);
    return whole.to_csr();
  }();
  for (unsigned way = 0; way < 4; ++way)
    for (bool const with_clusters : {false, true}) {
      SCOPED_TRACE(way);
      auto g = this->make_graph(TestFixture::kind::undirected, s.n, s.sparse);
      auto const stale = this->make_results(g, with_clusters);
      auto const before = this->values(stale);
      if (way == 0) g.insert(s.batch);
      if (way == 1) g.erase(s.sparse);
      if (way >= 2) g.clear();
      if (way == 3) g.build(rows);
      graph::csr const now = g.to_csr();
      auto const fresh = this->make_results(g, false);
      this->attach(g, fresh);
      for (auto const& one : stale) {
        EXPECT_FALSE(one->result().belongs_to(g.view()));
        this->expect_refusal([&] { g.attach(one->result()); }, "construct it again");
        EXPECT_FALSE(one->result().is_attached());
      }
      EXPECT_EQ(g.to_csr(), now);
      EXPECT_EQ(this->values(stale), before);
      g.insert(s.small);
      this->expect_right(g, fresh);
    }
}

TYPED_TEST_P(maintained_test, other_graphs_are_refused) {
  auto const s = this->make_subject(this->sized(200, 60));
  for (bool const with_clusters : {false, true})
    for (std::size_t const n : std::vector<std::size_t>{s.n, 2 * s.n}) {
      auto g = this->make_graph(TestFixture::kind::undirected, s.n, s.sparse);
      auto other = this->make_graph(TestFixture::kind::undirected, n, s.sparse);
      auto const all = this->make_results(g, with_clusters);
      for (auto const& one : all) this->expect_refusal([&] { other.attach(one->result()); }, "another graph");
      other.insert(s.batch);
      algorithms::pagerank_ranker<TypeParam> ranker(g.space());
      ranker.run(g.view(), {});
      if (n > s.n) this->expect_refusal([&] { ranker.run(other.view(), {}, true); }, "warm start");
      this->attach(g, all);
      for (auto const& one : all) this->expect_refusal([&] { other.detach(one->result()); }, "not attached");
      g.insert(s.small);
      this->expect_right(g, all);
    }
}

TYPED_TEST_P(maintained_test, operations_without_changes_are_allowed) {
  auto const s = this->make_subject(this->sized(200, 60));
  for (bool const with_clusters : {false, true}) {
    auto first = this->make_graph(TestFixture::kind::undirected, s.n, s.sparse);
    auto const all = this->make_results(first, with_clusters);
    this->attach(first, all);
    auto g = std::move(first);  // the results move with it
    g.compact();
    g.insert({});
    g.erase({});
    EXPECT_THROW(g.insert(std::vector<graph::edge>{{0, static_cast<graph::vertex_id>(s.n)}}), error);
    EXPECT_THROW(g.build(g.to_csr()), error);
    g.insert(s.batch);
    this->expect_right(g, all);
    g.compact();
    g.erase(s.small);
    this->expect_right(g, all);
  }
}

// Vertices do not vote if their affinities do not fit into the pool; all other results are correct.
TYPED_TEST_P(maintained_test, clusters_of_a_pool_that_cannot_grow) {
  // A device commits memory by 2 MiB, which lists of 200,000 vertices exceed as those of 3,000 exceed 32 KiB.
  bool const is_device = std::string_view(TypeParam::name) == "cuda";
  auto const s = this->make_subject(is_device ? 200000 : this->sized(3000, 600));
  auto const g = this->make_graph(TestFixture::kind::undirected, s.n, s.batch);
  algorithms::clusterer<TypeParam> clusters(
      g.space(), {.pool_bytes = std::size_t{1} << 15, .reserve_bytes = std::size_t{1} << 15});
  try {
    clusters.run(g.view());
    FAIL() << "the pool is too large for this test";
  } catch (error const& e) {
    EXPECT_EQ(e.code(), error_code::out_of_memory) << e.what();
  }
  clusters.run(g.view(), {}, algorithms::clusterer<TypeParam>::memory::reserved);
  algorithms::clustering_result const r = clusters.result();
  EXPECT_NEAR(r.modularity, serial_modularity(g.to_csr(), {}, r.label), 1e-6);
  EXPECT_GT(r.modularity, 0.02);
  // Labels of another number of vertices are refused.
  auto const other = this->make_graph(TestFixture::kind::undirected, 2 * s.n, s.batch);
  exec::buffer<graph::edge, TypeParam> const edges(g.space(), 1);
  this->expect_refusal([&] { clusters.refresh(other.view(), {}, edges.data(), 0); }, "vertices");
}

TYPED_TEST_P(maintained_test, graphs_have_ids_and_versions) {
  auto const s = this->make_subject(this->sized(200, 60));
  auto const id = [](auto const& g) { return std::pair(g.view().graph_id(), g.view().version()); };
  auto g = this->make_graph(TestFixture::kind::undirected, s.n, {});
  auto const first = id(g);
  EXPECT_NE(first.first, 0u);
  auto other = this->make_graph(TestFixture::kind::undirected, s.n, {});
  EXPECT_NE(id(other).first, 0u);
  EXPECT_NE(id(other).first, first.first);
  // Only changes of the contents change the version.
  auto const version = [&](auto const& change) {
    auto const before = id(g);
    try {
      change();
    } catch (error const&) {
    }
    EXPECT_EQ(id(g).first, before.first);
    return id(g).second - before.second;
  };
  EXPECT_EQ(version([&] { g.insert(s.sparse); }), 1u);
  EXPECT_EQ(version([&] { g.erase(s.sparse); }), 1u);
  EXPECT_EQ(version([&] { g.build(other.to_csr()); }), 1u);
  EXPECT_EQ(version([&] { g.clear(); }), 0u);  // of a graph without edges
  EXPECT_EQ(version([&] { g.insert_async(s.batch).get(); }), 1u);
  EXPECT_EQ(version([&] { g.insert({}); }), 0u);
  EXPECT_EQ(version([&] { g.insert(std::vector<graph::edge>{{0, static_cast<graph::vertex_id>(s.n)}}); }), 0u);
  EXPECT_EQ(version([&] { g.build(other.to_csr()); }), 0u);
  EXPECT_EQ(version([&] { g.compact(); }), 0u);
  EXPECT_EQ(version([&] {
              exec::injected_failure const failure(0);
              g.compact();
            }),
            0u);
  EXPECT_EQ(version([&] { g.clear(); }), 1u);
  EXPECT_EQ(version([&] { g.build(graph::csr{{1}, {}}); }), 0u);
  // A failed build() does not change an empty graph.
  graph::csr bad{std::vector<std::uint64_t>(s.n + 1, 1), {static_cast<graph::vertex_id>(s.n)}};
  bad.offsets[0] = 0;
  EXPECT_EQ(version([&] { g.build(bad); }), 0u);
  g.insert(s.sparse);
  auto const last = id(g);
  auto moved = std::move(g);
  EXPECT_EQ(id(moved), last);
  EXPECT_EQ(id(g).first, 0u);
}

// A moved-from result belongs to no graph, and is not attached.
TYPED_TEST_P(maintained_test, results_move) {
  using triangles = algorithms::incremental_triangles<TypeParam>;
  auto const s = this->make_subject(this->sized(200, 60));
  auto g = this->make_graph(TestFixture::kind::undirected, s.n, s.sparse);
  triangles first(g.space(), g.view(), true);
  EXPECT_TRUE(first.belongs_to(g.view()));
  g.attach(first);
  triangles second = std::move(first);
  EXPECT_FALSE(first.belongs_to(g.view()));
  EXPECT_FALSE(first.is_attached());
  EXPECT_TRUE(second.belongs_to(g.view()));
  EXPECT_TRUE(second.is_attached());
  this->expect_refusal([&] { g.attach(first); }, "another graph");
  this->expect_refusal([&] { g.detach(first); }, "not attached");
  g.insert(s.batch);
  EXPECT_TRUE(second.belongs_to(g.view()));
  EXPECT_EQ(second.per_vertex(), serial_triangles(g.to_csr()));
  // An assignment replaces the attachment, too.
  second = triangles(g.space(), g.view(), true);
  EXPECT_FALSE(second.is_attached());
  g.insert(s.small);
  EXPECT_FALSE(second.belongs_to(g.view()));
  second = triangles(g.space(), g.view(), true);
  g.attach(second);
  triangles third(g.space(), g.view());
  g.attach(third);
  third = std::move(second);
  EXPECT_TRUE(third.is_attached());
  g.erase(s.small);
  EXPECT_EQ(third.per_vertex(), serial_triangles(g.to_csr()));
}

// Direct calls: after() for another batch, and after() or undo() without before().
TYPED_TEST_P(maintained_test, steps_out_of_order_are_refused) {
  auto const s = this->make_subject(this->sized(200, 60));
  for (bool const with_clusters : {false, true}) {
    for (std::size_t which = 0; which < (with_clusters ? 1u : 8u); ++which) {
      auto g = this->make_graph(TestFixture::kind::undirected, s.n, s.sparse);
      auto const all = this->make_results(g, with_clusters);
      graph::maintained_result& result = all[which]->result();
      this->expect_refusal([&] { result.after(g.view()); }, "without before()");
      this->expect_refusal([&] { result.undo(g.view()); }, "without before()");
      EXPECT_TRUE(result.belongs_to(g.view()));
      graph::graph_change change;  // without effect
      change.max_arcs = g.arcs();
      change.vertices = g.vertices();
      change.next_version = g.view().version() + 1;
      result.before(g.view(), change);
      EXPECT_FALSE(result.belongs_to(g.view()));
      this->expect_refusal([&] { result.before(g.view(), change); }, "twice");
      g.insert(s.small);
      g.insert(s.small);
      this->expect_refusal([&] { result.after(g.view()); }, "construct it again");
      EXPECT_FALSE(result.belongs_to(g.view()));
      this->expect_refusal([&] { g.attach(result); }, "construct it again");
    }
  }
}

TYPED_TEST_P(maintained_test, a_result_is_attached_once) {
  auto const s = this->make_subject(this->sized(200, 60));
  for (bool const with_clusters : {false, true}) {
    auto g = this->make_graph(TestFixture::kind::undirected, s.n, s.sparse);
    auto const all = this->make_results(g, with_clusters);
    this->attach(g, all);
    for (auto const& one : all) this->expect_refusal([&] { g.attach(one->result()); }, "attached already");
    g.insert(s.batch);
    this->expect_right(g, all);
    for (auto const& one : all) g.detach(one->result());
    for (auto const& one : all) this->expect_refusal([&] { g.detach(one->result()); }, "not attached");
  }
}

// The ranks of equivalent vertices are known exactly, for any number of vertices and any rounding.
TYPED_TEST_P(maintained_test, error_bound_of_equal_ranks) {
  for (std::size_t const n : {std::size_t{300}, std::size_t{1000}, scaled(200000, 5000)}) {
    graph::options const o{.directed = true, .in_neighbours = false};
    typename TestFixture::graph_type g(TestFixture::one_thread(), n, o);
    algorithms::incremental_pagerank ranks(g, {.tolerance = 1e-12});
    long double distance = 0;
    for (double const r : ranks.rank()) distance += std::abs(r - 1.0L / static_cast<long double>(n));
    EXPECT_LE(distance, ranks.error_bound()) << n << " vertices";
    EXPECT_LE(ranks.error_bound(), 1e-14);
  }
}

// Small sums of large terms: all inserted edges are erased again, after which all vertices are equivalent.
TYPED_TEST_P(maintained_test, error_bound_after_erasing_all_edges) {
  graph::vertex_id const n = 100;
  for (unsigned seed = 0; seed < TestFixture::sized(300, 10); ++seed)
    for (bool const directed : {true, false}) {
      std::mt19937 random(seeded(seed));
      typename TestFixture::graph_type g(TestFixture::one_thread(), n, {.directed = directed, .in_neighbours = false});
      algorithms::incremental_pagerank ranks(g, {.tolerance = 1e-2});
      g.attach(ranks);
      std::vector<graph::edge> all;
      for (unsigned round = 0; round < 8; ++round) {
        auto const batch = random_edges(random, n, 100);
        all.insert(all.end(), batch.begin(), batch.end());
        g.insert(batch);
      }
      g.erase(all);
      ASSERT_EQ(g.arcs(), 0u);
      long double distance = 0;
      for (double const r : ranks.rank()) distance += std::abs(r - 1.0L / n);
      ASSERT_GE(ranks.error_bound(), 0) << "seed " << seed;
      ASSERT_LE(distance, ranks.error_bound()) << "seed " << seed;
      ASSERT_LE(ranks.error_bound(), 0.85 / 0.15 * 1e-2 + 1e-15) << "seed " << seed;
    }
}

// Tolerances below the least one that can be reached, and above it: converged() says which was reached.
TYPED_TEST_P(maintained_test, ranks_that_converged_are_within_the_tolerance) {
  graph::vertex_id const n = 400;
  double const d = 0.99;
  for (bool const is_reached : {false, true}) {
    std::mt19937 random(seeded(3));
    typename TestFixture::graph_type g(TestFixture::one_thread(), n, {.directed = true, .in_neighbours = false});
    g.insert(random_edges(random, n, 2 * n));
    std::vector<graph::edge> ring;  // so that all vertices have out-neighbours
    for (graph::vertex_id v = 0; is_reached && v < n; ++v) ring.push_back({v, (v + 1) % n});
    g.insert(ring);
    double const tolerance = static_cast<double>(g.arcs()) * 2e-16 * (is_reached ? 200 : 1);
    algorithms::incremental_pagerank ranks(g, {.damping = d, .tolerance = tolerance, .max_iterations = 20000});
    g.attach(ranks);
    for (std::size_t round = 0; round < TestFixture::sized(4, 1); ++round) {
      auto const batch = random_edges(random, n, 50);
      if (round % 2 == 0)
        g.insert(batch);
      else
        g.erase(batch);
      std::vector<double> const got = ranks.rank();
      std::vector<double> const want = serial_pagerank(g.to_csr(), d);
      double distance = 0;
      for (std::size_t v = 0; v < n; ++v) distance += std::abs(got[v] - want[v]);
      EXPECT_LE(distance, ranks.error_bound() + serial_pagerank_error(d));
      EXPECT_EQ(ranks.converged(), is_reached) << ranks.error_bound();
      if (!ranks.converged()) continue;
      EXPECT_LE(distance, d / (1 - d) * tolerance);
      EXPECT_LE(ranks.error_bound(), d / (1 - d) * tolerance + 1e-15);
    }
  }
}

// All residuals are below the limits: nothing is pushed, and the update ends.
TYPED_TEST_P(maintained_test, ranks_sum_to_1_for_any_tolerance) {
  std::size_t const n = 300;
  for (bool const directed : {true, false})
    for (double const tolerance : {2.0, 1.0, 0.1}) {
      typename TestFixture::graph_type g(TestFixture::one_thread(), n, {.directed = directed, .in_neighbours = false});
      std::vector<graph::edge> ring;
      for (graph::vertex_id v = 0; v < n; ++v) ring.push_back({v, static_cast<graph::vertex_id>((v + 1) % n)});
      for (graph::vertex_id v = 0; v < n / 2; ++v) ring.push_back({v, static_cast<graph::vertex_id>((v + 7) % n)});
      g.insert(ring);
      algorithms::incremental_pagerank ranks(g, {.tolerance = tolerance});
      double sum = 0;
      for (double const r : ranks.rank()) sum += r;
      EXPECT_NEAR(sum, 1, 1e-12);
    }
  typename TestFixture::graph_type g(TestFixture::one_thread(), 3);
  for (algorithms::incremental_pagerank_options const& o :
       {algorithms::incremental_pagerank_options{.tolerance = 2.5}, {.tolerance = INFINITY}, {.max_iterations = 0}})
    this->expect_refusal([&] { algorithms::incremental_pagerank ranks(g, o); }, "must be in");
}

REGISTER_TYPED_TEST_SUITE_P(maintained_test, each_request_of_an_insertion_fails, each_request_of_an_erasure_fails,
                            each_request_fails_for_clusters, nothing_is_requested_after_the_update,
                            changes_that_are_too_large_leave_nothing_behind, each_request_of_a_constructor_fails,
                            changes_without_the_result_are_detected, other_graphs_are_refused,
                            operations_without_changes_are_allowed, clusters_of_a_pool_that_cannot_grow,
                            graphs_have_ids_and_versions, results_move, steps_out_of_order_are_refused,
                            a_result_is_attached_once, error_bound_of_equal_ranks, error_bound_after_erasing_all_edges,
                            ranks_that_converged_are_within_the_tolerance, ranks_sum_to_1_for_any_tolerance);

}  // namespace wyrm::tests
