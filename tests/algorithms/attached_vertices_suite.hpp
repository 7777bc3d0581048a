// SPDX-License-Identifier: Apache-2.0
// The tests of results that follow added and removed vertices, for any space: against serial programs, while each
// request for memory fails, from a graph without vertices to one without vertices, and between moments of a graph.
// Random sequences of all changes are in attached_suite.hpp.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "../../exec/injected_failure.hpp"
#include "../../graph/catch_up.hpp"
#include "../../graph/inspect/export.hpp"
#include "../../graph/snapshot.hpp"
#include "../graph/model.hpp"
#include "../support/seed.hpp"
#include "maintained_fixture.hpp"

namespace wyrm::tests {

template <class Space>
class attached_vertices : public maintained_results<Space> {
 protected:
  using base = maintained_results<Space>;
  using typename base::edges;
  using typename base::graph_type;
  using typename base::kind;
  using typename base::results;
  using ids = std::vector<graph::vertex_id>;

  /// A graph and its model.
  struct pair {
    pair(kind k, std::size_t n, std::uint64_t seed)
        : random(seeded(seed)), g(base::make_graph(k, n, {})), model(n, k != kind::undirected, false) {
      insert(3 * n);
    }
    // Edges of vertices that are in the graph, about so many.
    void insert(std::size_t m) {
      if (g.present_vertices() == 0) return;
      edges batch = random_edges(random, model.vertices(), m);
      std::erase_if(batch, [&](graph::edge const& e) {
        return model.absent().contains(e.source) || model.absent().contains(e.target);
      });
      g.insert(batch);
      model.insert(batch);
    }
    void add(std::size_t k) { ASSERT_EQ(g.add_vertices(k), model.add_vertices(k)); }
    void remove(ids const& batch) {
      g.remove_vertices(batch);
      model.remove_vertices(batch);
    }
    // About one vertex in k, and the hub.
    [[nodiscard]] ids one_in(std::uint32_t k) {
      ids some{0};
      for (graph::vertex_id v = 1; v < model.vertices(); ++v)
        if (random() % k == 0) some.push_back(v);
      return some;
    }
    void expect_right(results const& all) const {
      ASSERT_EQ(g.to_csr(), model.to_csr());
      base::expect_right(g, all, model.absent());
    }
    std::mt19937 random;
    graph_type g;
    graph_model model;
  };

  /// Calls f(pair, with clusters) for each kind of graph.
  template <class F>
  static void for_each_kind(std::size_t n, F const& f) {
    for (auto const k : base::kinds)
      for (bool const with_clusters : {false, true}) {
        SCOPED_TRACE(std::to_string(static_cast<int>(k)) + (with_clusters ? " clusters" : ""));
        pair p(k, n, 31 + static_cast<std::uint64_t>(k));
        ASSERT_NO_FATAL_FAILURE(f(p, with_clusters));
      }
  }
  /// Calls f, whose n-th request for memory fails, for more and more n until it succeeds; unchanged() after each
  /// failure.
  template <class F, class Unchanged>
  static void fail_each_request(F const& f, Unchanged const& unchanged) {
    std::uint64_t const stride = std::string_view(Space::name) == "simt" ? 5 : 1;
    for (std::uint64_t served = 0;; served += stride) {
      ASSERT_LT(served, 400u);
      SCOPED_TRACE(served);
      try {
        exec::injected_failure const failure(served);
        f();
        return;
      } catch (error const& e) {
        ASSERT_EQ(e.code(), error_code::out_of_memory) << e.what();
        ASSERT_NO_FATAL_FAILURE(unchanged());
      }
    }
  }
  /// That a result is right for one moment of the graph.
  static void expect_right_at(Space const& space, graph::graph_view const& g, results const& all,
                              std::set<graph::vertex_id> const& absent) {
    graph::csr const rows = graph::detail::export_csr(space, g.out_records(), g.vertices());
    for (auto const& one : all) {
      ASSERT_TRUE(one->result().belongs_to(g));
      one->expect_right(rows, absent);
    }
  }
};

TYPED_TEST_SUITE_P(attached_vertices);

TYPED_TEST_P(attached_vertices, all_or_nothing_changes) {
  this->for_each_kind(this->sized(300, 60), [&](auto& p, bool with_clusters) {
    for (unsigned round = 0; round < 2; ++round) {  // absent ids are reused in the second round
      auto const all = this->make_results(p.g, with_clusters);
      this->attach(p.g, all);
      auto const unchanged = [&, before = this->values(all), present = p.g.present_vertices()] {
        ASSERT_EQ(p.g.vertices(), p.model.vertices());
        ASSERT_EQ(p.g.present_vertices(), present);
        ASSERT_EQ(p.g.to_csr(), p.model.to_csr());
        ASSERT_EQ(this->values(all), before);
        for (auto const& one : all) ASSERT_TRUE(one->result().belongs_to(p.g.view()));
      };
      auto const gone = p.one_in(4);
      ASSERT_NO_FATAL_FAILURE(this->fail_each_request([&] { p.g.remove_vertices(gone); }, unchanged));
      p.model.remove_vertices(gone);
      p.expect_right(all);
      p.insert(40);
      p.expect_right(all);
      std::size_t const more = p.model.vertices();
      auto const still = [&, before = this->values(all), present = p.g.present_vertices(), n = p.g.vertices()] {
        ASSERT_EQ(p.g.vertices(), n);
        ASSERT_EQ(p.g.present_vertices(), present);
        ASSERT_EQ(this->values(all), before);
        for (auto const& one : all) ASSERT_TRUE(one->result().belongs_to(p.g.view()));
      };
      ASSERT_NO_FATAL_FAILURE(this->fail_each_request([&] { (void)p.g.add_vertices(more); }, still));
      (void)p.model.add_vertices(more);
      p.expect_right(all);
      p.insert(200);
      p.expect_right(all);
    }
    p.g.check();
  });
}

// The pool refuses pages while a snapshot has the present ones.
TYPED_TEST_P(attached_vertices, results_are_restored_when_a_removal_finds_no_pages) {
  this->for_each_kind(this->sized(120, 50), [&](auto& p, bool with_clusters) {
    auto const all = this->make_results(p.g, with_clusters);
    this->attach(p.g, all);
    auto const then = p.g.snapshot();
    auto const before = this->values(all);
    p.g.fail_allocations_from(2);
    EXPECT_THROW(p.g.remove_vertices({0, 1, 2}), error);
    p.g.fail_allocations_from(p.g.never);
    EXPECT_EQ(this->values(all), before);
    p.expect_right(all);
    p.remove({0, 1, 2});
    p.expect_right(all);
  });
}

TYPED_TEST_P(attached_vertices, come_to_an_empty_graph_and_all_go) {
  for (auto const k : TestFixture::kinds)
    for (bool const with_clusters : {false, true}) {
      SCOPED_TRACE(std::to_string(static_cast<int>(k)) + (with_clusters ? " clusters" : ""));
      typename TestFixture::pair p(k, 0, 5);
      auto const all = this->make_results(p.g, with_clusters);
      this->attach(p.g, all);
      auto const expect_ranks = [&] {
        if (!with_clusters) p.expect_right(all);
      };
      for (std::size_t const more : {1u, 1u, 3u, 40u, 1u, 30u}) {
        p.add(more);
        expect_ranks();
        p.insert(2 * more);
        expect_ranks();
      }
      typename TestFixture::ids everyone(p.g.vertices());
      std::iota(everyone.begin(), everyone.end(), 0);
      std::shuffle(everyone.begin(), everyone.end(), p.random);
      while (!everyone.empty()) {  // half of them at a time
        auto const half = everyone.begin() + static_cast<std::ptrdiff_t>(everyone.size() / 2);
        p.remove({half, everyone.end()});
        everyone.erase(half, everyone.end());
        expect_ranks();
        if (everyone.size() == 1) p.remove({everyone[0]}), everyone.clear();
        expect_ranks();
      }
      EXPECT_EQ(p.g.present_vertices(), 0u);
      p.add(10);
      p.insert(20);
      expect_ranks();
      p.g.clear();
      p.model.clear();
      expect_ranks();
    }
}

// Ranks are not pushed for vertices without edges.
TYPED_TEST_P(attached_vertices, without_edges_cost_nothing) {
  for (auto const k : TestFixture::kinds) {
    typename TestFixture::pair p(k, 100, 6);
    algorithms::incremental_pagerank<TypeParam> ranks(p.g.space(), p.g.view());
    p.g.attach(ranks);
    (void)p.g.add_vertices(1);  // more than there were: computed anew, with room
    (void)p.g.add_vertices(5);
    EXPECT_EQ(ranks.ranked(), 0u);
    p.g.remove_vertices({101, 103});
    EXPECT_EQ(ranks.ranked(), 0u);
    (void)p.g.add_vertices(1);
    EXPECT_EQ(ranks.ranked(), 0u);
    EXPECT_TRUE(ranks.converged());
  }
}

TYPED_TEST_P(attached_vertices, differ_between_moments) {
  this->for_each_kind(this->sized(150, 50), [&](auto& p, bool with_clusters) {
    p.remove({3, 4, 5});
    auto const all = this->make_results(p.g, with_clusters);
    auto const first = p.g.snapshot();
    auto const absent = p.model.absent();
    p.remove(p.one_in(5));
    p.insert(60);
    p.add(p.model.absent().size() / 2);  // some ids are used again
    p.insert(60);
    p.add(p.model.absent().size() + 70);
    p.remove(p.one_in(8));
    p.insert(60);
    auto const before = this->values(all);
    for (auto const& one : all)
      ASSERT_NO_FATAL_FAILURE(
          this->fail_each_request([&] { graph::catch_up(p.g.space(), one->result(), first.view(), p.g.view()); },
                                  [&] { ASSERT_TRUE(one->result().belongs_to(first.view())); }));
    EXPECT_NE(this->values(all), before);
    p.expect_right(all);
    // They go on as if they had been attached.
    this->attach(p.g, all);
    p.add(3);
    p.insert(20);
    p.remove(p.one_in(9));
    p.expect_right(all);
    // Back to fewer ids, and forth.
    for (auto const& one : all) {
      p.g.detach(one->result());
      graph::catch_up(p.g.space(), one->result(), p.g.view(), first.view());
    }
    this->expect_right_at(p.g.space(), first.view(), all, absent);
    for (auto const& one : all) graph::catch_up(p.g.space(), one->result(), first.view(), p.g.view());
    this->expect_right_at(p.g.space(), p.g.view(), all, p.model.absent());
  });
}

// Ids that are new in the later moment, of vertices that are gone again; with and without other changes.
TYPED_TEST_P(attached_vertices, come_and_go_between_moments) {
  this->for_each_kind(200, [&](auto& p, bool with_clusters) {
    for (bool const other_changes : {false, true}) {
      auto const all = this->make_results(p.g, with_clusters);
      auto const first = p.g.snapshot();
      auto const from = static_cast<graph::vertex_id>(p.model.vertices());
      p.add(p.model.absent().size() + 3);
      p.remove({from, from + 1, from + 2});
      if (other_changes) p.insert(5);
      for (auto const& one : all) graph::catch_up(p.g.space(), one->result(), first.view(), p.g.view());
      this->expect_right_at(p.g.space(), p.g.view(), all, p.model.absent());
      this->attach(p.g, all);
      p.insert(20);
      p.expect_right(all);
      for (auto const& one : all) p.g.detach(one->result());
    }
  });
}

REGISTER_TYPED_TEST_SUITE_P(attached_vertices, all_or_nothing_changes,
                            results_are_restored_when_a_removal_finds_no_pages, come_to_an_empty_graph_and_all_go,
                            without_edges_cost_nothing, differ_between_moments, come_and_go_between_moments);

}  // namespace wyrm::tests
