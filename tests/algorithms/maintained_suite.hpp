// SPDX-License-Identifier: Apache-2.0
// The tests of the guarantees of all maintained results, for any space: an update that fails for lack of memory leaves
// the graph and all results unchanged; after() and undo() request no memory; a result refuses a graph that it does not
// belong to, or that has changed without it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../algorithms/components.hpp"
#include "../../algorithms/incremental_clustering.hpp"
#include "../../algorithms/incremental_pagerank.hpp"
#include "../../algorithms/incremental_triangles.hpp"
#include "../../algorithms/maintained_result.hpp"
#include "../../algorithms/pagerank.hpp"
#include "../../exec/injected_failure.hpp"
#include "../graph/model.hpp"
#include "../support/seed.hpp"
#include "../support/verify.hpp"
#include "graphs_fixture.hpp"

namespace wyrm::tests {

/// A maintained result of any kind.
struct maintained {
  virtual ~maintained() = default;
  virtual algorithms::maintained_result& result() = 0;
  /// All values of the result.
  [[nodiscard]] virtual std::vector<double> values() const = 0;
  virtual void expect_right(graph::csr const& rows) const = 0;
};

template <class Space>
struct maintained_ranks final : maintained {
  maintained_ranks(Space const& space, graph::graph_view const& g, double full_run)
      : ranks(space, g, {.tolerance = 1e-7, .full_run = full_run}) {}
  algorithms::maintained_result& result() override { return ranks; }
  [[nodiscard]] std::vector<double> values() const override {
    std::vector<double> all = ranks.rank();
    all.insert(all.end(), {ranks.error_bound(), static_cast<double>(ranks.iterations()), ranks.converged() ? 1.0 : 0.0,
                           static_cast<double>(ranks.ranked())});
    return all;
  }
  void expect_right(graph::csr const& rows) const override {
    std::vector<double> const got = ranks.rank();
    std::vector<double> const want = serial_pagerank(rows, 0.85);
    ASSERT_EQ(got.size(), want.size());
    double distance = 0;
    for (std::size_t v = 0; v < want.size(); ++v) distance += std::abs(got[v] - want[v]);
    EXPECT_TRUE(ranks.converged());
    EXPECT_LE(distance, ranks.error_bound() + serial_pagerank_error(0.85));
    EXPECT_LE(distance, 0.85 / 0.15 * 1e-7);
  }
  algorithms::incremental_pagerank<Space> ranks;
};

template <class Space>
struct maintained_triangles final : maintained {
  maintained_triangles(Space const& space, graph::graph_view const& g) : count(space, g, true) {}
  algorithms::maintained_result& result() override { return count; }
  [[nodiscard]] std::vector<double> values() const override {
    std::vector<double> all{static_cast<double>(count.total())};
    for (std::uint64_t const corners : count.per_vertex()) all.push_back(static_cast<double>(corners));
    return all;
  }
  void expect_right(graph::csr const& rows) const override {
    std::vector<std::uint64_t> const want = serial_triangles(rows);
    EXPECT_EQ(count.per_vertex(), want);
    std::uint64_t sum = 0;
    for (std::uint64_t const corners : want) sum += corners;
    EXPECT_EQ(count.total() * 3, sum);
  }
  algorithms::incremental_triangles<Space> count;
};

template <class Space>
struct maintained_components final : maintained {
  maintained_components(Space const& space, graph::graph_view const& g) : components(space, g) {}
  algorithms::maintained_result& result() override { return components; }
  [[nodiscard]] std::vector<double> values() const override {
    std::vector<double> all{static_cast<double>(components.count()), static_cast<double>(components.largest())};
    for (graph::vertex_id const label : components.label()) all.push_back(label);
    return all;
  }
  void expect_right(graph::csr const& rows) const override {
    std::vector<graph::vertex_id> const want = serial_components(rows);
    EXPECT_EQ(components.label(), want);
    std::vector<std::size_t> sizes(want.size());
    for (graph::vertex_id const label : want) ++sizes[label];
    EXPECT_EQ(components.count(), want.size() - static_cast<std::size_t>(std::count(sizes.begin(), sizes.end(), 0u)));
    EXPECT_EQ(components.largest(), *std::max_element(sizes.begin(), sizes.end()));
  }
  algorithms::incremental_components<Space> components;
};

template <class Space>
struct maintained_clusters final : maintained {
  maintained_clusters(Space const& space, graph::graph_view const& g)
      : clusters(space, g, {}, {.pool_bytes = std::size_t{1} << 14, .reserve_bytes = std::size_t{1} << 26}) {}
  algorithms::maintained_result& result() override { return clusters; }
  [[nodiscard]] std::vector<double> values() const override {
    algorithms::clustering_result const r = clusters.result();
    std::vector<double> all(r.label.begin(), r.label.end());
    all.insert(all.end(), {r.modularity, static_cast<double>(r.count), static_cast<double>(r.iterations),
                           r.converged ? 1.0 : 0.0});
    return all;
  }
  void expect_right(graph::csr const& rows) const override {
    algorithms::clustering_result const r = clusters.result();
    EXPECT_NEAR(r.modularity, serial_modularity(rows, {}, r.label), 1e-6);
    EXPECT_GT(r.modularity, 0.02);
  }
  algorithms::incremental_clustering<Space> clusters;
};

template <class Space>
class maintained_test : public graphs_test<Space> {
 protected:
  using typename graphs_test<Space>::graph_type;
  using edges = std::vector<graph::edge>;
  using results = std::vector<std::unique_ptr<maintained>>;

  enum class kind : std::uint8_t { undirected, directed, directed_out_only };
  static constexpr kind kinds[3] = {kind::undirected, kind::directed, kind::directed_out_only};

  static graph_type make_graph(kind k, std::size_t n, edges const& list) {
    graph::options o{.directed = k != kind::undirected, .in_neighbours = k == kind::directed};
    o.pool = {.pool_bytes = std::size_t{1} << 18, .reserve_bytes = std::size_t{1} << 28};
    graph_type g(graphs_test<Space>::one_thread(), n, o);
    g.insert(list);
    return g;
  }
  /// One result of each kind that the graph can have. Ranks twice: by pushes only, and with all vertices processed at
  /// once.
  static results make_results(graph_type const& g, bool with_clusters) {
    results all;
    if (with_clusters) {
      all.push_back(std::make_unique<maintained_clusters<Space>>(g.space(), g.view()));
      return all;
    }
    all.push_back(std::make_unique<maintained_ranks<Space>>(g.space(), g.view(), 0));
    all.push_back(std::make_unique<maintained_components<Space>>(g.space(), g.view()));
    if (!g.settings().directed) all.push_back(std::make_unique<maintained_triangles<Space>>(g.space(), g.view()));
    all.push_back(std::make_unique<maintained_ranks<Space>>(g.space(), g.view(), 1e9));
    return all;
  }
  /// The results in cyclic order from the k-th on.
  static std::vector<algorithms::maintained_result*> list(results const& all, std::size_t k = 0) {
    std::vector<algorithms::maintained_result*> order;
    for (std::size_t i = 0; i < all.size(); ++i) order.push_back(&all[(i + k) % all.size()]->result());
    return order;
  }
  static std::vector<std::vector<double>> values(results const& all) {
    std::vector<std::vector<double>> of;
    for (auto const& one : all) of.push_back(one->values());
    return of;
  }
  static void expect_right(graph_type const& g, results const& all) {
    graph::csr const rows = g.to_csr();
    for (auto const& one : all) one->expect_right(rows);
  }

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
  static constexpr algorithms::change insertion = algorithms::change::insertion;
  static constexpr algorithms::change erasure = algorithms::change::erasure;

  /// The distance between requests that fail: larger for all orders of results but the first, and if lanes are fibers.
  static std::uint64_t stride(std::size_t first = 0) {
    return std::string_view(Space::name) == "simt" ? 11 : first == 0 ? 1 : 5;
  }

  /// Runs an update in which the n-th request for memory fails, for all n until the update succeeds.
  static void fail_each_request(kind k, bool with_clusters, algorithms::change what, std::size_t first) {
    subject const s = make_subject(graphs_test<Space>::sized(with_clusters ? 500 : 1200, 100));
    bool done = false;
    for (std::uint64_t served = first % stride(first); !done; served += stride(first)) {
      ASSERT_LT(served, 300u);
      SCOPED_TRACE(served);
      graph_type g = make_graph(k, s.n, s.sparse);
      if (what == erasure) g.insert(s.batch);
      results const all = make_results(g, with_clusters);
      graph::csr const rows = g.to_csr();
      auto const before = values(all);
      try {
        exec::injected_failure const failure(served);
        algorithms::update(g, what, s.batch, list(all, first));
        done = true;
      } catch (error const& e) {
        ASSERT_EQ(e.code(), error_code::out_of_memory) << e.what();
        ASSERT_EQ(g.to_csr(), rows);
        ASSERT_EQ(values(all), before);
      }
      if (done) expect_right(g, all);
      // An empty batch, and a smaller one, which only needs buffers that kept their size.
      algorithms::update(g, insertion, {}, list(all));
      algorithms::update(g, insertion, s.small, list(all));
      expect_right(g, all);
      if (served % 4 != 0 && !done) continue;
      algorithms::update(g, what, s.batch, list(all));
      algorithms::update(g, erasure, s.small, list(all));
      expect_right(g, all);
      if (testing::Test::HasFailure()) return;
    }
  }

  /// A graph that makes all requests for memory after its update fail; optionally it refuses the update.
  struct scarce_graph {
    graph_type& g;
    bool refuses;
    std::optional<exec::injected_failure> failure = {};
    [[nodiscard]] graph::graph_view view() const { return g.view(); }
    graph::update_report insert(std::span<graph::edge const> batch) {
      return then_fail([&] { return g.insert(batch); });
    }
    graph::update_report erase(std::span<graph::edge const> batch) {
      return then_fail([&] { return g.erase(batch); });
    }

   private:
    template <class F>
    graph::update_report then_fail(F const& update) {
      graph::update_report r;
      if (!refuses) r = update();
      failure.emplace(0);
      if (refuses) throw error(error_code::out_of_memory, "refused");
      return r;
    }
  };

  /// Calls f, which must throw bad_argument with `part` in its message.
  template <class F>
  static void expect_refusal(F const& f, std::string const& part) {
    try {
      f();
      ADD_FAILURE() << "nothing was thrown";
    } catch (error const& e) {
      EXPECT_EQ(e.code(), error_code::bad_argument) << e.what();
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
    }
  }
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
            typename TestFixture::scarce_graph scarce{g, refuses};
            auto const update = [&] { algorithms::update(scarce, what, s.batch, this->list(all)); };
            if (refuses) {
              EXPECT_THROW(update(), error);
            } else {
              EXPECT_NO_THROW(update());
            }
          }
          if (refuses) {
            EXPECT_EQ(this->values(all), before);
          }
          this->expect_right(g, all);
          algorithms::update(g, TestFixture::insertion, s.small, this->list(all));
          this->expect_right(g, all);
        }
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
      // Each stale result, after results that are up to date in the order of the update, and before them.
      for (auto const& one : stale) {
        std::vector<algorithms::maintained_result*> order = this->list(fresh);
        for (bool const in_front : {false, true}) {
          order.insert(in_front ? order.begin() : order.end(), &one->result());
          for (auto const& batch : std::vector<typename TestFixture::edges>{s.small, {}})
            for (auto const what : {TestFixture::insertion, TestFixture::erasure})
              this->expect_refusal([&] { algorithms::update(g, what, batch, order); }, "construct it again");
          order = this->list(fresh);
        }
      }
      EXPECT_EQ(g.to_csr(), now);
      EXPECT_EQ(this->values(stale), before);
      algorithms::update(g, TestFixture::insertion, s.small, this->list(fresh));
      this->expect_right(g, fresh);
    }
}

TYPED_TEST_P(maintained_test, other_graphs_are_refused) {
  auto const s = this->make_subject(this->sized(200, 60));
  for (bool const with_clusters : {false, true})
    for (std::size_t const n : std::vector<std::size_t>{s.n, 2 * s.n}) {
      auto g = this->make_graph(TestFixture::kind::undirected, s.n, s.sparse);
      auto other = this->make_graph(TestFixture::kind::undirected, n, s.sparse);
      graph::csr const rows = other.to_csr();
      auto const all = this->make_results(g, with_clusters);
      for (auto const& one : all)
        this->expect_refusal(
            [&] { algorithms::update(other, TestFixture::insertion, s.small, std::vector{&one->result()}); },
            "another graph");
      EXPECT_EQ(other.to_csr(), rows);
      algorithms::pagerank_ranker<TypeParam> ranker(g.space());
      ranker.run(g.view(), {});
      if (n > s.n) this->expect_refusal([&] { ranker.run(other.view(), {}, true); }, "warm start");
      algorithms::update(g, TestFixture::insertion, s.small, this->list(all));
      this->expect_right(g, all);
    }
}

TYPED_TEST_P(maintained_test, operations_without_changes_are_allowed) {
  auto const s = this->make_subject(this->sized(200, 60));
  for (bool const with_clusters : {false, true}) {
    auto first = this->make_graph(TestFixture::kind::undirected, s.n, s.sparse);
    auto const all = this->make_results(first, with_clusters);
    auto g = std::move(first);  // the results belong to the moved graph
    g.compact();
    g.insert({});
    g.erase({});
    EXPECT_THROW(g.insert(std::vector<graph::edge>{{0, static_cast<graph::vertex_id>(s.n)}}), error);
    EXPECT_THROW(g.build(g.to_csr()), error);
    algorithms::update(g, TestFixture::insertion, s.batch, this->list(all));
    this->expect_right(g, all);
    g.compact();
    algorithms::update(g, TestFixture::erasure, s.small, this->list(all));
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

// A moved-from result belongs to no graph.
TYPED_TEST_P(maintained_test, results_move) {
  auto const s = this->make_subject(this->sized(200, 60));
  auto g = this->make_graph(TestFixture::kind::undirected, s.n, s.sparse);
  algorithms::incremental_triangles<TypeParam> first(g.space(), g.view(), true);
  EXPECT_TRUE(first.belongs_to(g.view()));
  algorithms::incremental_triangles<TypeParam> second = std::move(first);
  EXPECT_FALSE(first.belongs_to(g.view()));
  EXPECT_TRUE(second.belongs_to(g.view()));
  this->expect_refusal([&] { algorithms::insert(g, s.batch, second, first); }, "another graph");
  algorithms::insert(g, s.batch, second);
  EXPECT_TRUE(second.belongs_to(g.view()));
  EXPECT_EQ(second.per_vertex(), serial_triangles(g.to_csr()));
  g.insert(s.small);
  EXPECT_FALSE(second.belongs_to(g.view()));
  second = algorithms::incremental_triangles<TypeParam>(g.space(), g.view(), true);
  EXPECT_TRUE(second.belongs_to(g.view()));
  algorithms::erase(g, s.small, second);
  EXPECT_EQ(second.per_vertex(), serial_triangles(g.to_csr()));
}

// Direct calls: after() for another batch, and after() or undo() without before().
TYPED_TEST_P(maintained_test, steps_out_of_order_are_refused) {
  auto const s = this->make_subject(this->sized(200, 60));
  for (bool const with_clusters : {false, true}) {
    for (std::size_t which = 0; which < (with_clusters ? 1u : 4u); ++which) {
      auto g = this->make_graph(TestFixture::kind::undirected, s.n, s.sparse);
      auto const all = this->make_results(g, with_clusters);
      algorithms::maintained_result& result = all[which]->result();
      this->expect_refusal([&] { result.after(g.view()); }, "without before()");
      this->expect_refusal([&] { result.undo(g.view()); }, "without before()");
      EXPECT_TRUE(result.belongs_to(g.view()));
      result.before(g.view(), TestFixture::insertion, s.small);
      EXPECT_FALSE(result.belongs_to(g.view()));
      g.insert(s.small);
      g.insert(s.small);
      this->expect_refusal([&] { result.after(g.view()); }, "construct it again");
      EXPECT_FALSE(result.belongs_to(g.view()));
      this->expect_refusal([&] { algorithms::update(g, TestFixture::insertion, s.small, std::vector{&result}); },
                           "construct it again");
    }
  }
}

// A result that is passed twice to an update is refused.
TYPED_TEST_P(maintained_test, a_result_passed_twice_is_refused) {
  auto const s = this->make_subject(this->sized(200, 60));
  for (bool const with_clusters : {false, true}) {
    auto g = this->make_graph(TestFixture::kind::undirected, s.n, s.sparse);
    auto const all = this->make_results(g, with_clusters);
    graph::csr const rows = g.to_csr();
    for (auto const& one : all)
      this->expect_refusal(
          [&] {
            algorithms::update(g, TestFixture::insertion, s.batch, std::vector{&one->result(), &one->result()});
          },
          "twice");
    EXPECT_EQ(g.to_csr(), rows);
    this->expect_right(g, all);
    algorithms::update(g, TestFixture::insertion, s.batch, this->list(all));
    this->expect_right(g, all);
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
      std::vector<graph::edge> all;
      for (unsigned round = 0; round < 8; ++round) {
        auto const batch = random_edges(random, n, 100);
        all.insert(all.end(), batch.begin(), batch.end());
        algorithms::insert(g, batch, ranks);
      }
      algorithms::erase(g, all, ranks);
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
    for (std::size_t round = 0; round < TestFixture::sized(4, 1); ++round) {
      auto const batch = random_edges(random, n, 50);
      if (round % 2 == 0)
        algorithms::insert(g, batch, ranks);
      else
        algorithms::erase(g, batch, ranks);
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
  for (algorithms::incremental_pagerank_options const o :
       {algorithms::incremental_pagerank_options{.tolerance = 2.5}, {.tolerance = INFINITY}, {.max_iterations = 0}})
    this->expect_refusal([&] { algorithms::incremental_pagerank ranks(g, o); }, "must be in");
}

REGISTER_TYPED_TEST_SUITE_P(maintained_test, each_request_of_an_insertion_fails, each_request_of_an_erasure_fails,
                            each_request_fails_for_clusters, nothing_is_requested_after_the_update,
                            each_request_of_a_constructor_fails, changes_without_the_result_are_detected,
                            other_graphs_are_refused, operations_without_changes_are_allowed,
                            clusters_of_a_pool_that_cannot_grow, graphs_have_ids_and_versions, results_move,
                            steps_out_of_order_are_refused, a_result_passed_twice_is_refused,
                            error_bound_of_equal_ranks, error_bound_after_erasing_all_edges,
                            ranks_that_converged_are_within_the_tolerance, ranks_sum_to_1_for_any_tolerance);

}  // namespace wyrm::tests
