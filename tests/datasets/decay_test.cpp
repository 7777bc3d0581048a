// SPDX-License-Identifier: Apache-2.0
// Tests weights that decay: after every batch the graph is compared with a model that keeps all insertions of each edge
// and computes weights from their definition.
#include "../../datasets/decay.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "../../exec/device.hpp"
#include "../../exec/error.hpp"
#include "../../graph/query/on_any_graph.hpp"
#include "../support/seed.hpp"

namespace wyrm::tests {

namespace {

using datasets::decayed_graph;
using datasets::timed_batch;
using datasets::update;
using datasets::update_action;
using graph::edge;

graph::any_graph weighted_graph(std::size_t vertices, bool directed) {
  return {exec::make_space("cpu"),
          graph::any_graph::allocators().front(),
          vertices,
          {.directed = directed, .combine = graph::combiner::sum, .values = graph::number_type::f64}};
}

struct insertion {
  double weight, time;
};

/// The insertions of each edge that is in the graph.
class model {
 public:
  model(bool directed, double half_life) : directed_(directed), half_life_(half_life) {}

  void apply(update const& u) {
    edge e{u.source, u.target};
    if (!directed_ && e.source > e.target) std::swap(e.source, e.target);
    if (u.action == update_action::insert && e.source != e.target) all_[e].push_back({u.weight, u.time});
    if (u.action == update_action::erase) all_.erase(e);
  }
  void expire(double before) {
    std::erase_if(all_, [&](auto const& one) { return one.second.back().time < before; });
  }
  void forget(double bound, double now) {
    std::erase_if(all_, [&](auto const& one) { return weight(one.second, now) < bound; });
  }
  void expect_equal(graph::any_graph const& g, std::vector<double> const& weights, double now) const {
    graph::csr const rows = g.to_csr();
    ASSERT_EQ(g.edges(), all_.size());
    ASSERT_EQ(weights.size(), rows.targets.size());
    for (graph::vertex_id v = 0; v < g.vertices(); ++v)
      for (std::uint64_t i = rows.offsets[v]; i < rows.offsets[v + 1]; ++i) {
        edge e{v, rows.targets[i]};
        if (!directed_ && e.source > e.target) std::swap(e.source, e.target);
        ASSERT_TRUE(all_.contains(e)) << e.source << ' ' << e.target;
        double const want = weight(all_.at(e), now);
        ASSERT_NEAR(weights[i], want, 1e-9 * want + 1e-140) << e.source << ' ' << e.target << " at " << now;
      }
  }

 private:
  [[nodiscard]] double weight(std::vector<insertion> const& of, double now) const {
    double sum = 0;
    for (auto const& [w, t] : of) sum += w * std::pow(0.5, (now - t) / half_life_);
    return sum;
  }
  bool directed_;
  double half_life_;
  std::map<edge, std::vector<insertion>> all_;
};

/// Few vertices, so that edges come again; long gaps, so that the origin moves.
std::vector<update> random_updates(std::size_t n, graph::vertex_id vertices, std::uint32_t seed) {
  std::mt19937 random(seeded(seed));
  std::vector<update> all;
  double time = 1e9;
  for (std::size_t i = 0; i < n; ++i) {
    if (random() % 3 == 0) time += static_cast<double>(random() % 16) / 4;
    if (random() % 300 == 0) time += 1000;
    all.push_back({.action = random() % 8 == 0 ? update_action::erase : update_action::insert,
                   .source = static_cast<graph::vertex_id>(random() % vertices),
                   .target = static_cast<graph::vertex_id>(random() % vertices),
                   .weight = static_cast<double>(1 + random() % 1000) / 100,
                   .time = time});
  }
  return all;
}

TEST(decayed_graphs, equal_a_model_after_every_slide) {
  std::vector<update> const all = random_updates(3000, 14, 3);
  for (bool const directed : {false, true})
    for (double const half_life : {0.75, 10.0, 5000.0})
      for (double const bound : {0.0, 0.5}) {
        SCOPED_TRACE(std::to_string(half_life) + (bound > 0 ? ", forgets" : ""));
        datasets::listed_updates source(all);
        datasets::window_batches batches(source,
                                         {.length = 60, .slide = 10, .directed = directed, .keep_weights = true});
        graph::any_graph g = weighted_graph(14, directed);
        decayed_graph decayed(g, half_life);
        model m(directed, half_life);
        std::size_t at = 0;
        for (timed_batch b; batches.next(b);) {
          (void)decayed.apply(b);
          ASSERT_EQ(decayed.now(), b.end);
          while (at < all.size() && all[at].time < *b.end) m.apply(all[at++]);
          m.expire(*b.end - 60);
          ASSERT_NO_FATAL_FAILURE(m.expect_equal(g, decayed.weights(), *b.end));
          (void)decayed.forget(bound);
          m.forget(bound, *b.end);
          ASSERT_NO_FATAL_FAILURE(m.expect_equal(g, decayed.weights(), *b.end));
        }
        EXPECT_EQ(at, all.size());
        g.check();
      }
}

TEST(decayed_graphs, equal_a_model_in_batches_by_number) {
  std::vector<update> all = random_updates(2000, 10, 9);
  std::mt19937 random(seeded(10));
  for (update& u : all) u.time -= static_cast<double>(random() % 100);  // times in any order
  datasets::listed_updates source(all);
  datasets::count_batches batches(source, 37, true);
  graph::any_graph g = weighted_graph(10, true);
  decayed_graph decayed(g, 3);
  model m(true, 3);
  std::size_t at = 0;
  double now = -1e18;
  for (timed_batch b; batches.next(b);) {
    (void)decayed.apply(b);
    for (std::size_t i = 0; i < b.edges.size(); ++i, ++at) {
      m.apply(all[at]);
      if (all[at].action == update_action::insert) now = std::max(now, all[at].time);
    }
    ASSERT_EQ(decayed.now(), now);
    ASSERT_NO_FATAL_FAILURE(m.expect_equal(g, decayed.weights(), now));
  }
  EXPECT_EQ(at, all.size());
}

timed_batch insertions(std::vector<edge> const& edges, std::vector<double> const& weights,
                       std::vector<double> const& times) {
  timed_batch b;
  for (std::size_t i = 0; i < edges.size(); ++i) b.add(edges[i], graph::operation::insert, weights[i], times[i]);
  return b;
}

TEST(decayed_graphs, weights_halve) {
  graph::any_graph g = weighted_graph(3, true);
  (void)g.insert(std::vector<edge>{{2, 0}}, std::vector<double>{4});
  decayed_graph decayed(g, 10);
  EXPECT_EQ(decayed.now(), std::nullopt);
  EXPECT_EQ(decayed.weights(), std::vector<double>{4});
  (void)decayed.apply(insertions({{0, 1}, {0, 2}}, {8, 16}, {100, 110}));
  EXPECT_EQ(decayed.weights(), (std::vector<double>{4, 16, 2})) << "the loaded edge is of the first time, 100";
  (void)decayed.apply(insertions({{0, 1}, {0, 1}}, {1, 2}, {120, 120}));
  EXPECT_EQ(decayed.weights(), (std::vector<double>{5, 8, 1}));
  EXPECT_EQ(decayed.forget(5).erased, 1u);
  EXPECT_EQ(decayed.weights(), (std::vector<double>{5, 8}));
  timed_batch again;
  again.add({0, 1}, graph::operation::erase, 0, 0);
  again.add({0, 1}, graph::operation::insert, 3, 120);
  (void)decayed.apply(again);
  EXPECT_EQ(decayed.weights(), (std::vector<double>{3, 8})) << "an erasure forgets the weight";
  (void)decayed.apply(insertions({{1, 0}}, {1}, {120 + 10 * 501}));  // the origin moves
  std::vector<double> const late = decayed.weights();
  EXPECT_EQ(late[2], 1);
  EXPECT_NEAR(late[0] / (3 * std::pow(0.5, 501)), 1, 1e-12);
  (void)decayed.apply(insertions({{1, 0}}, {1}, {1e15}));
  EXPECT_EQ(decayed.weights(), (std::vector<double>{0, 0, 1}));
  EXPECT_EQ(decayed.forget(1e-300).erased, 2u);
}

TEST(decayed_graphs, refuse_without_a_change) {
  auto const code_of = [](auto const& f) {
    try {
      f();
    } catch (error const& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  graph::any_graph g = weighted_graph(3, false);
  for (double const bad : {0.0, -1.0, std::nan(""), double{INFINITY}})
    EXPECT_NE(code_of([&] { (void)decayed_graph(g, bad); }).find("half life"), std::string::npos);
  graph::any_graph latest(exec::make_space("cpu"), graph::any_graph::allocators().front(), 3,
                          {.values = graph::number_type::f64});
  EXPECT_NE(code_of([&] { (void)decayed_graph(latest, 1); }).find("must be sum"), std::string::npos);
  decayed_graph decayed(g, 1);
  for (double const bad : {-1.0, 2e100, std::nan(""), double{INFINITY}})
    EXPECT_NE(code_of([&] {
                (void)decayed.apply(insertions({{0, 1}}, {bad}, {5}));
              }).find("the weight"),
              std::string::npos);
  timed_batch plain;
  plain.add({0, 1}, graph::operation::insert);
  EXPECT_NE(code_of([&] { (void)decayed.apply(plain); }).find("keep_weights"), std::string::npos);
  EXPECT_NE(code_of([&] { (void)decayed.apply(insertions({{0, 7}}, {1}, {5})); }), "no error");
  EXPECT_EQ(g.edges(), 0u);
  EXPECT_EQ(decayed.now(), std::nullopt);
  EXPECT_EQ(decayed.forget(1).erased, 0u);
}

// The move of the origin is one update, too: where memory runs out, all weights stay.
TEST(decayed_graphs, keep_all_weights_if_memory_runs_out) {
  bool refused = false;
  for (std::uint64_t k = 0; k < 12; ++k) {
    graph::any_graph g = weighted_graph(400, false);
    decayed_graph decayed(g, 1);
    std::vector<edge> edges;
    for (graph::vertex_id v = 1; v < 400; ++v) edges.push_back({0, v});
    std::vector<double> const ones(edges.size(), 1), times(edges.size(), 7);
    (void)decayed.apply(insertions(edges, ones, times));
    std::vector<double> const before = decayed.weights();
    graph::snapshot const keeps_pages = g.snapshot();
    g.fail_allocations_from(k);
    try {
      (void)decayed.apply(insertions({{5, 6}}, {1}, {7 + 600.0}));
      g.fail_allocations_from(graph::any_graph::never);
    } catch (error const& e) {
      refused = true;
      EXPECT_EQ(e.code(), error_code::out_of_memory);
      g.fail_allocations_from(graph::any_graph::never);
      EXPECT_EQ(decayed.now(), 7);
      EXPECT_EQ(decayed.weights().size(), before.size());
      for (double const w : decayed.weights()) EXPECT_NEAR(w, 1, 1e-12);
      (void)decayed.apply(insertions({{5, 6}}, {1}, {7 + 600.0}));
    }
    EXPECT_EQ(decayed.weights().size(), before.size() + 2);
    g.check();
  }
  EXPECT_TRUE(refused);
}

TEST(erase_below, needs_values_of_type_double) {
  graph::any_graph g(exec::make_space("cpu"), graph::any_graph::allocators().front(), 3);
  EXPECT_THROW((void)graph::erase_below(g, 1), error);
  graph::any_graph w = weighted_graph(4, false);
  (void)w.insert(std::vector<edge>{{0, 1}, {3, 2}, {1, 3}}, std::vector<double>{1, 2, 0.5});
  EXPECT_EQ(graph::erase_below(w, 1).erased, 1u);
  EXPECT_EQ(w.values<double>(), (std::vector<double>{1, 1, 2, 2}));
}

}  // namespace

}  // namespace wyrm::tests
