// SPDX-License-Identifier: Apache-2.0
// Graphs whose edges have values, and batches of insertions and erasures, compared with a model that applies the
// entries of a batch one after the other.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "../../exec/memory.hpp"
#include "../../graph/dynamic_graph.hpp"
#include "../support/seed.hpp"
#include "../support/spaces.hpp"
#include "graph_case.hpp"
#include "model.hpp"

namespace wyrm::tests {

/// A user's value: a time and an amount.
struct payment {
  std::int64_t time;
  double amount;
};
/// Keeps the latest time, and adds amounts.
struct add_payments {
  WYRM_HD payment operator()(payment const& old, payment const& added) const {
    return {added.time > old.time ? added.time : old.time, old.amount + added.amount};
  }
};
struct small_value {
  std::uint8_t bytes[8];
};

template <class S, template <class> class A, class V, class C = void>
struct value_case {
  using space = S;
  using allocator = A<S>;
  using value = V;
  using graph_type = graph::dynamic_graph<S, A<S>, V, C>;
  static constexpr bool has_values = !std::is_same_v<V, graph::no_value>;
};

template <class Case>
class graph_values : public testing::Test {
 protected:
  using graph_type = typename Case::graph_type;
  using value = typename Case::value;
  using space_type = typename Case::space;
  using model_type = basic_model<value>;

  void SetUp() override {
    if (!available<space_type>()) GTEST_SKIP() << "there is no device for the space '" << space_type::name << "'";
  }
  graph_type make(std::size_t vertices, graph::options o = {}) {
    o.pool.checked = true;
    o.pool.pool_bytes = std::size_t{1} << 20;
    o.pool.reserve_bytes = std::size_t{1} << 30;
    return graph_type(make_space<space_type>(), vertices, o);
  }
  static model_type model_of(graph_type const& g) {
    graph::combiner const how = g.settings().combine;
    typename model_type::combine_type combine;
    if constexpr (std::is_arithmetic_v<value>) {
      if (how == graph::combiner::min) combine = [](value a, value b) { return std::min(a, b); };
      if (how == graph::combiner::max) combine = [](value a, value b) { return std::max(a, b); };
      if (how == graph::combiner::sum) combine = [](value a, value b) { return a + b; };
    }
    if constexpr (std::is_same_v<value, payment>) combine = add_payments{};
    return model_type(g.vertices(), g.settings().directed, g.settings().self_loops, combine);
  }
  static value value_of(std::uint32_t n) {
    if constexpr (std::is_arithmetic_v<value>)
      return static_cast<value>(n % 11) - static_cast<value>(std::is_signed_v<value> ? 5 : 0);
    if constexpr (std::is_same_v<value, payment>) return {static_cast<std::int64_t>(n % 3), n % 5 * 0.25};
    if constexpr (std::is_same_v<value, small_value>) return {{static_cast<std::uint8_t>(n % 3), 1, 2, 3, 4, 5, 6, 7}};
    return {};
  }
  struct entries {
    std::vector<graph::edge> edges;
    std::vector<graph::operation> operations;
    std::vector<value> values;
  };
  /// Entries for these edges; `erasing` of 8 are erasures.
  static entries entries_of(std::mt19937& random, std::vector<graph::edge> edges, unsigned erasing) {
    entries e{std::move(edges), {}, {}};
    for (std::size_t i = 0; i < e.edges.size(); ++i) {
      e.operations.push_back(random() % 8 < erasing ? graph::operation::erase : graph::operation::insert);
      e.values.push_back(value_of(static_cast<std::uint32_t>(random())));
    }
    return e;
  }
  static graph::update_report apply(graph_type& g, entries const& e, bool resident) {
    if (!resident) {
      std::span<graph::operation const> const ops = e.operations;
      if constexpr (Case::has_values)
        return g.apply(e.edges, ops, e.values);
      else
        return g.apply(e.edges, ops);
    }
    auto const there = [&](auto const& from) {
      using type = typename std::remove_cvref_t<decltype(from)>::value_type;
      exec::buffer<type, space_type> to(g.space(), from.size());
      exec::copy_in<type>(g.space(), to.data(), from);
      return to;
    };
    auto const edges = there(e.edges);
    auto const ops = there(e.operations);
    if constexpr (Case::has_values) {
      auto const values = there(e.values);
      return g.apply(graph::resident_edges(edges.data(), e.edges.size()), ops.data(), values.data());
    } else {
      return g.apply(graph::resident_edges(edges.data(), e.edges.size()), ops.data());
    }
  }
  static void expect_same(graph_type const& g, model_type const& model) {
    ASSERT_EQ(g.to_csr(), model.to_csr());
    if constexpr (Case::has_values) {
      ASSERT_TRUE(std::ranges::equal(g.values(), model.values(), model_type::same));
    }
    ASSERT_EQ(damage(g), "");
  }
  static std::vector<graph::options> kinds() {
    std::vector<graph::options> all;
    for (auto const& [directed, in] : {std::pair{false, false}, {true, false}, {true, true}}) {
      graph::options o{.directed = directed, .in_neighbours = in, .self_loops = directed != in};
      all.push_back(o);
      if constexpr (std::is_arithmetic_v<value>)
        for (auto const how : {graph::combiner::min, graph::combiner::max, graph::combiner::sum}) {
          o.combine = how;
          all.push_back(o);
        }
    }
    return all;
  }
};
TYPED_TEST_SUITE_P(graph_values);

// Small and large batches, sparse and dense ones, hubs, and runs of entries of one edge; phases of growth and of
// decline.
TYPED_TEST_P(graph_values, batches_in_any_order_equal_the_model) {
  for (graph::options const& o : this->kinds()) {
    SCOPED_TRACE("directed " + std::to_string(o.directed) + ", combiner " + std::to_string(int(o.combine)));
    for (std::size_t const n : {40u, 3000u}) {
      auto g = this->make(n, o);
      auto model = this->model_of(g);
      std::mt19937 random(seeded(static_cast<unsigned>(n)));
      for (unsigned round = 0; round < scaled(24, 6); ++round) {
        std::size_t const most = round % 3 == 0 ? 5 * n : 60;
        auto const e = this->entries_of(random, random_edges(random, n, random() % most), round / 6 % 2 == 0 ? 2 : 6);
        expect_equal(this->apply(g, e, round % 2 == 0), model.apply(e.edges, e.operations, e.values));
        ASSERT_NO_FATAL_FAILURE(this->expect_same(g, model)) << "round " << round;
        ASSERT_FALSE(testing::Test::HasFailure()) << "round " << round;
        if (round % 5 != 4) continue;
        g.compact();
        ASSERT_NO_FATAL_FAILURE(this->expect_same(g, model)) << "round " << round << ", compacted";
      }
    }
  }
}

// One vertex has thousands of entries, more than a tile sorts: all steps of plan_large_entries, and hubs.
TYPED_TEST_P(graph_values, a_vertex_of_most_entries) {
  for (graph::options const& o : this->kinds()) {
    SCOPED_TRACE("directed " + std::to_string(o.directed) + ", combiner " + std::to_string(int(o.combine)));
    graph::vertex_id const n = 4000;
    auto g = this->make(n, o);
    auto model = this->model_of(g);
    std::mt19937 random(seeded(5));
    for (unsigned round = 0; round < 4; ++round) {
      std::vector<graph::edge> edges = random_edges(random, n, 200);
      for (unsigned i = 0; i < 3000; ++i) edges.push_back({7, static_cast<graph::vertex_id>(random() % 2500)});
      for (unsigned i = 0; i < 100; ++i) edges.push_back(i % 2 == 0 ? graph::edge{7, 2600} : graph::edge{2600, 7});
      auto const e = this->entries_of(random, edges, round == 2 ? 7 : 2);
      expect_equal(this->apply(g, e, round % 2 == 0), model.apply(e.edges, e.operations, e.values));
      ASSERT_NO_FATAL_FAILURE(this->expect_same(g, model)) << "round " << round;
      ASSERT_FALSE(testing::Test::HasFailure()) << "round " << round;
    }
  }
}

// Batches of two arcs per vertex up to an eighth of the arcs of the graph, in which one block changes the lists of hubs
// in place: adds, updates and erases in one list.
TYPED_TEST_P(graph_values, long_lists_in_large_batches) {
  for (graph::options const& o : this->kinds()) {
    SCOPED_TRACE("directed " + std::to_string(o.directed) + ", combiner " + std::to_string(int(o.combine)));
    graph::vertex_id const n = 1500;
    auto g = this->make(n, o);
    auto model = this->model_of(g);
    std::mt19937 random(seeded(43));
    for (unsigned round = 0; round < scaled(6, 4); ++round) {
      std::vector<graph::edge> edges = random_edges(random, n, round == 0 ? 40 * n : 2 * n);
      for (graph::vertex_id hub = 0; hub < 3; ++hub)
        for (unsigned i = 0; i < (round == 0 ? 1000u : 60u) * (hub + 1); ++i)
          edges.push_back({hub, static_cast<graph::vertex_id>(random() % n)});
      auto const e = this->entries_of(random, edges, round == 0 ? 2 : 4);
      expect_equal(this->apply(g, e, round % 2 == 0), model.apply(e.edges, e.operations, e.values));
      ASSERT_NO_FATAL_FAILURE(this->expect_same(g, model)) << "round " << round;
      ASSERT_FALSE(testing::Test::HasFailure()) << "round " << round;
    }
  }
}

TYPED_TEST_P(graph_values, the_last_entry_of_an_edge_decides) {
  using graph::operation;
  auto g = this->make(10);
  auto model = this->model_of(g);
  auto const both = [&](std::vector<graph::edge> edges, std::vector<operation> operations) {
    typename graph_values<TypeParam>::entries e{std::move(edges), std::move(operations), {}};
    for (std::size_t i = 0; i < e.edges.size(); ++i) e.values.push_back(this->value_of(static_cast<unsigned>(i) + 1));
    auto const got = this->apply(g, e, false);
    expect_equal(got, model.apply(e.edges, e.operations, e.values));
    this->expect_same(g, model);
    return got;
  };
  operation const in = operation::insert;
  operation const out = operation::erase;
  EXPECT_EQ(both({{1, 2}, {2, 1}}, {out, in}).inserted, 1u);
  EXPECT_EQ(both({{1, 2}, {2, 1}}, {in, out}).erased, 1u);
  EXPECT_EQ(both({{1, 2}, {2, 1}, {1, 2}}, {in, out, in}).inserted, 1u);
  EXPECT_EQ(both({{1, 2}, {3, 4}, {2, 1}}, {out, out, out}).missing, 1u);
  EXPECT_EQ(both({{5, 5}, {3, 4}}, {in, in}).self_loops, 1u);
  EXPECT_EQ(both({{4, 3}, {8, 9}, {3, 4}}, {out, in, in}).duplicates, 1u);
}

// Every allocation of a batch fails, one after the other: all or nothing.
TYPED_TEST_P(graph_values, failures_change_nothing) {
  for (bool const directed : {false, true}) {
    graph::vertex_id const n = 60;
    auto g = this->make(n, {.directed = directed});
    auto model = this->model_of(g);
    std::mt19937 random(seeded(11));
    auto const first = this->entries_of(random, random_edges(random, n, 2 * n), 0);
    this->apply(g, first, false);
    model.apply(first.edges, first.operations, first.values);
    auto const batch = this->entries_of(random, random_edges(random, n, 4 * n), 3);
    std::uint64_t failed = 0;
    for (bool done = false; !done; ++failed) {
      ASSERT_LE(failed, 2 * n + 1);
      g.fail_allocations_from(failed);
      try {
        graph::update_report const got = this->apply(g, batch, failed % 2 == 0);
        expect_equal(got, model.apply(batch.edges, batch.operations, batch.values));
        done = true;
      } catch (error const& e) {
        ASSERT_EQ(e.code(), error_code::out_of_memory) << e.what();
      }
      ASSERT_NO_FATAL_FAILURE(this->expect_same(g, model)) << "failed from " << failed << " on";
    }
    EXPECT_GT(failed, n / 2);
    g.fail_allocations_from(0);  // erasures need no memory
    expect_equal(g.erase(first.edges), model.erase(first.edges));
    this->expect_same(g, model);
  }
}

TYPED_TEST_P(graph_values, ids_out_of_range_and_wrong_lengths_are_refused) {
  auto g = this->make(10);
  std::mt19937 random(1);
  auto e = this->entries_of(random, {{0, 1}, {3, 10}, {1, 2}}, 0);
  for (bool const resident : {false, true}) {
    try {
      this->apply(g, e, resident);
      FAIL() << "an id out of range was accepted";
    } catch (error const& refused) {
      EXPECT_EQ(refused.code(), error_code::bad_argument);
      EXPECT_NE(std::string(refused.what()).find("edge 1 of the batch is (3, 10)"), std::string::npos)
          << refused.what();
    }
  }
  EXPECT_EQ(g.arcs(), 0u);
  e.operations.pop_back();
  EXPECT_THROW(this->apply(g, e, false), error);
  EXPECT_EQ(this->apply(g, {}, false).requested, 0u);
  EXPECT_EQ(damage(g), "");
}

TYPED_TEST_P(graph_values, a_csr_keeps_its_values) {
  if constexpr (TypeParam::has_values) {
    for (graph::options o : {graph::options{}, graph::options{.directed = true}}) {
      graph::vertex_id const n = 900;
      auto from = this->make(n, o);
      auto model = this->model_of(from);
      std::mt19937 random(seeded(3));
      auto edges = random_edges(random, n, 4000);
      for (unsigned i = 0; i < 1500; ++i) edges.push_back({1, static_cast<graph::vertex_id>(random() % n)});
      auto const e = this->entries_of(random, edges, 0);
      this->apply(from, e, false);
      model.apply(e.edges, e.operations, e.values);
      auto to = this->make(n, o);
      to.build(from.to_csr(), from.values());
      this->expect_same(to, model);
      to.build_in_slices_of(701);
      to.clear();
      to.build(from.to_csr(), from.values());
      this->expect_same(to, model);
      auto values = from.values();
      values.pop_back();
      to.clear();
      EXPECT_THROW(to.build(from.to_csr(), values), error);
      if (o.directed) continue;
      values = from.values();  // the first arc has another value than its reverse
      reinterpret_cast<unsigned char&>(values[0]) ^= 1;
      EXPECT_THROW(to.build(from.to_csr(), values), error);
      EXPECT_EQ(to.arcs(), 0u);
      EXPECT_EQ(damage(to), "");
    }
  }
}

// The view has values beside neighbours, in both directions.
template <class Value>
struct copy_values_of_vertex {
  graph::graph_view g;
  graph::vertex_id v;
  Value* out;
  Value* in;
  WYRM_HD void operator()(std::size_t i) const {
    if (i < g.degree(v)) out[i] = g.values<Value>(v)[i];
    if (i < g.in_neighbours(v).size) in[i] = g.in_values<Value>(v)[i];
  }
};
TYPED_TEST_P(graph_values, kernels_read_values) {
  if constexpr (TypeParam::has_values) {
    using value = typename TypeParam::value;
    using model_type = basic_model<value>;
    auto g = this->make(20, {.directed = true});
    std::vector<value> given;
    for (unsigned i = 0; i < 5; ++i) given.push_back(this->value_of(i));
    std::vector<graph::edge> const edges{{3, 4}, {3, 1}, {3, 9}, {2, 3}, {1, 3}};
    g.insert(edges, given);
    EXPECT_EQ(g.view().value_bytes(), sizeof(value));
    exec::buffer<value, typename TypeParam::space> out(g.space(), 3);
    exec::buffer<value, typename TypeParam::space> in(g.space(), 2);
    exec::for_each(g.space(), 3, copy_values_of_vertex<value>{g.view(), 3, out.data(), in.data()});
    EXPECT_TRUE(std::ranges::equal(exec::copy_out(g.space(), out.data(), 3), std::vector{given[1], given[0], given[2]},
                                   model_type::same));
    EXPECT_TRUE(
        std::ranges::equal(exec::copy_out(g.space(), in.data(), 2), std::vector{given[4], given[3]}, model_type::same));
    EXPECT_EQ(g.memory().neighbours, 10 * (4 + sizeof(value)));
  }
}

REGISTER_TYPED_TEST_SUITE_P(graph_values, batches_in_any_order_equal_the_model, a_vertex_of_most_entries,
                            long_lists_in_large_batches, the_last_entry_of_an_edge_decides, failures_change_nothing,
                            ids_out_of_range_and_wrong_lengths_are_refused, a_csr_keeps_its_values,
                            kernels_read_values);

}  // namespace wyrm::tests
