// SPDX-License-Identifier: Apache-2.0
// Batches as columns of ids and as arrays of edges with values, on the host and in memory of the space, compared with
// the model.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../../exec/injected_failure.hpp"
#include "../../exec/memory.hpp"
#include "../../graph/dynamic_graph.hpp"
#include "../support/seed.hpp"
#include "../support/spaces.hpp"
#include "graph_case.hpp"
#include "model.hpp"

namespace wyrm::tests {

template <class S, template <class> class A, class V>
struct batch_case {
  using space = S;
  using value = V;
  using graph_type = graph::dynamic_graph<S, A<S>, V>;
};

template <class Case>
class batches : public testing::Test {
 protected:
  using graph_type = typename Case::graph_type;
  using value = typename Case::value;
  using space_type = typename Case::space;
  using model_type = basic_model<value>;
  static constexpr bool has_values = !std::is_same_v<value, graph::no_value>;

  void SetUp() override {
    if (!available<space_type>()) GTEST_SKIP() << "there is no device for the space '" << space_type::name << "'";
  }
  static graph_type make(std::size_t vertices, graph::options o = {}) {
    o.pool.checked = true;
    o.pool.pool_bytes = std::size_t{1} << 20;
    o.pool.reserve_bytes = std::size_t{1} << 30;
    return graph_type(make_space<space_type>(), vertices, o);
  }
  template <class T>
  static exec::buffer<T, space_type> upload(std::vector<T> const& from) {
    exec::buffer<T, space_type> to(make_space<space_type>(), std::max<std::size_t>(from.size(), 1));
    if (!from.empty()) exec::copy_in<T>(make_space<space_type>(), to.data(), from);
    return to;
  }
  static value value_of(std::uint32_t n) {
    if constexpr (has_values) return static_cast<value>(n % 11);
    return {};
  }

  /// A batch in columns of Ids, with operations and values.
  template <class Id>
  struct table {
    std::vector<Id> sources;
    std::vector<Id> targets;
    std::vector<graph::operation> operations;
    std::vector<value> values;
  };
  template <class Id>
  static table<Id> table_of(std::mt19937& random, std::vector<graph::edge> const& edges) {
    table<Id> t;
    for (graph::edge const& e : edges) {
      t.sources.push_back(static_cast<Id>(e.source));
      t.targets.push_back(static_cast<Id>(e.target));
      t.operations.push_back(random() % 3 == 0 ? graph::operation::erase : graph::operation::insert);
      t.values.push_back(value_of(static_cast<std::uint32_t>(random())));
    }
    return t;
  }
  enum class kind { insert, erase, apply };
  template <class Id>
  static graph::update_report run(graph_type& g, kind k, table<Id> const& t, bool resident) {
    if (!resident) {
      graph::edge_columns const columns(t.sources, t.targets);
      if (k == kind::erase) return g.erase(columns);
      if constexpr (has_values)
        return k == kind::insert ? g.insert(columns, t.values) : g.apply(columns, t.operations, t.values);
      else
        return k == kind::insert ? g.insert(columns) : g.apply(columns, t.operations);
    }
    auto const sources = upload(t.sources);
    auto const targets = upload(t.targets);
    auto const operations = upload(t.operations);
    graph::resident_columns const columns(sources.data(), targets.data(), t.sources.size());
    if (k == kind::erase) return g.erase(columns);
    if constexpr (has_values) {
      auto const values = upload(t.values);
      return k == kind::insert ? g.insert(columns, values.data()) : g.apply(columns, operations.data(), values.data());
    } else {
      return k == kind::insert ? g.insert(columns) : g.apply(columns, operations.data());
    }
  }
  static graph::update_report run(model_type& m, kind k, std::vector<graph::edge> const& edges,
                                  std::vector<graph::operation> const& operations, std::vector<value> const& values) {
    if (k == kind::erase) return m.erase(edges);
    return k == kind::insert ? m.insert(edges, values) : m.apply(edges, operations, values);
  }
  static void expect_same(graph_type const& g, model_type const& model) {
    ASSERT_EQ(g.to_csr(), model.to_csr());
    if constexpr (has_values) {
      ASSERT_EQ(g.values(), model.values());
    }
    ASSERT_EQ(damage(g), "");
  }
  template <class F>
  static std::string refusal(F const& f) {
    try {
      f();
    } catch (error const& e) {
      EXPECT_EQ(e.code(), error_code::bad_argument);
      return e.what();
    }
    return "";
  }

  // Insertions, erasures and batches of both, in columns of Ids.
  template <class Id>
  static void expect_as_the_model() {
    for (bool const directed : {false, true}) {
      SCOPED_TRACE("directed " + std::to_string(directed));
      graph::options const o{.directed = directed, .in_neighbours = directed, .self_loops = directed};
      auto g = make(300, o);
      model_type model(300, o.directed, o.self_loops);
      std::mt19937 random(seeded(31));
      for (unsigned round = 0; round < 12; ++round) {
        auto const edges = random_edges(random, 300, round == 3 ? 0 : 1 + random() % 900);
        auto const t = table_of<Id>(random, edges);
        for (kind const k : {kind::insert, kind::erase, kind::apply})
          if (k != kind::erase || round % 3 == 2)
            expect_equal(run(g, k, t, round % 2 == 1), run(model, k, edges, t.operations, t.values));
        ASSERT_NO_FATAL_FAILURE(expect_same(g, model)) << "after round " << round;
      }
      EXPECT_GT(g.arcs(), 0u);
    }
  }

  // One wrong id at different entries, and two wrong entries.
  template <class Id>
  static void expect_refused(Id wrong) {
    SCOPED_TRACE("id " + std::to_string(wrong));
    auto g = make(10);
    run(g, kind::insert, table<Id>{{1, 2}, {3, 4}, std::vector<graph::operation>(2), std::vector<value>(2)}, false);
    EXPECT_EQ(g.edges(), 2u);
    graph::csr const before = g.to_csr();
    for (kind const k : {kind::insert, kind::erase, kind::apply})
      for (bool const resident : {false, true})
        for (std::size_t const at : {0u, 2u, 4u}) {
          table<Id> t{{1, 2, 3, 4, 5}, {6, 7, 8, 9, 0}, std::vector<graph::operation>(5), std::vector<value>(5)};
          (at == 2 ? t.sources : t.targets)[at] = wrong;
          t.targets[4] = wrong;
          std::string const what = refusal([&] { run(g, k, t, resident); });
          std::string const pair = "(" + std::to_string(t.sources[at]) + ", " + std::to_string(t.targets[at]) + ")";
          EXPECT_NE(what.find("edge " + std::to_string(at) + " of the batch is " + pair), std::string::npos) << what;
          EXPECT_NE(what.find(at == 4 ? "(1 such" : "(2 such"), std::string::npos) << what;
          EXPECT_EQ(g.to_csr(), before);
        }
    EXPECT_EQ(damage(g), "");
  }
};
TYPED_TEST_SUITE_P(batches);

TYPED_TEST_P(batches, columns_of_each_type_equal_the_model) {
  this->template expect_as_the_model<std::uint32_t>();
  this->template expect_as_the_model<std::int32_t>();
  this->template expect_as_the_model<std::uint64_t>();
  this->template expect_as_the_model<std::int64_t>();
}

// Among them ids whose lower half is the id of a vertex.
TYPED_TEST_P(batches, ids_that_do_not_fit_are_refused_with_their_value) {
  this->template expect_refused<std::uint32_t>(10);
  this->template expect_refused<std::uint32_t>(0xffffffff);
  this->template expect_refused<std::int32_t>(-1);
  this->template expect_refused<std::int32_t>(std::numeric_limits<std::int32_t>::min());
  this->template expect_refused<std::uint64_t>((std::uint64_t{1} << 32) + 1);
  this->template expect_refused<std::uint64_t>(std::uint64_t{1} << 63);
  this->template expect_refused<std::uint64_t>(~std::uint64_t{0});
  this->template expect_refused<std::int64_t>((std::int64_t{5} << 32) + 3);
  this->template expect_refused<std::int64_t>(-1);
  this->template expect_refused<std::int64_t>(-(std::int64_t{1} << 32) + 2);
  this->template expect_refused<std::int64_t>(std::numeric_limits<std::int64_t>::min());
}

TYPED_TEST_P(batches, lengths_that_differ_are_refused) {
  std::vector<std::int64_t> const three{1, 2, 3};
  std::vector<std::int64_t> const two{4, 5};
  EXPECT_NE(this->refusal([&] { graph::edge_columns(three, two); }).find("3 sources, but 2 targets"),
            std::string::npos);
  auto g = this->make(10);
  using value = typename TestFixture::value;
  graph::edge_columns const batch(three, three);
  graph::resident_columns const resident(three.data(), three.data(), 3);
  std::vector<graph::operation> const operations(2);
  graph::operation const* const no_operations = nullptr;
  if constexpr (TestFixture::has_values) {
    std::vector<value> const values(3);
    value const* const no_values = nullptr;
    EXPECT_NE(this->refusal([&] { g.apply(batch, operations, values); }), "");
    EXPECT_NE(this->refusal([&] { g.insert(batch, std::span(values).first(2)); }), "");
    EXPECT_NE(this->refusal([&] { g.insert(resident, no_values); }), "");
    EXPECT_NE(this->refusal([&] { g.apply(resident, no_operations, values.data()); }), "");
  } else {
    EXPECT_NE(this->refusal([&] { g.apply(batch, operations); }), "");
    EXPECT_NE(this->refusal([&] { g.apply(resident, no_operations); }), "");
  }
  EXPECT_EQ(g.arcs(), 0u);
}

// On a GPU in slices, the last of which is shorter. Operations and values are not small for uploads.
TYPED_TEST_P(batches, a_large_batch_from_the_host_equals_the_model) {
  bool const in_slices = TestFixture::space_type::upload::is_concurrent;
  std::size_t const size = in_slices ? (std::size_t{1} << 21) + 4321 : 40000;
  std::mt19937 random(seeded(32));
  auto const edges = random_edges(random, size / 8, size);
  auto const t = this->template table_of<std::int64_t>(random, edges);
  for (auto const k : {TestFixture::kind::insert, TestFixture::kind::apply}) {
    auto g = this->make(size / 8);
    typename TestFixture::model_type model(size / 8, false, false);
    expect_equal(this->run(g, k, t, false), this->run(model, k, edges, t.operations, t.values));
    ASSERT_NO_FATAL_FAILURE(this->expect_same(g, model));
  }
}

TYPED_TEST_P(batches, columns_can_be_inserted_asynchronously) {
  auto g = this->make(10);
  std::vector<std::int32_t> const sources{1, 2};
  std::vector<std::int32_t> targets{3, 12};
  std::vector<typename TestFixture::value> const values(2);
  graph::edge_columns const batch(sources, targets);
  auto const begin = [&] {
    if constexpr (TestFixture::has_values)
      return g.insert_async(batch, values);
    else
      return g.insert_async(batch);
  };
  graph::pending_update refused = begin();
  EXPECT_THROW((void)g.view(), error);
  EXPECT_NE(this->refusal([&] { refused.get(); }).find("edge 1 of the batch is (2, 12)"), std::string::npos);
  EXPECT_EQ(g.edges(), 0u);
  targets[1] = 4;
  EXPECT_EQ(begin().get().inserted, 2u);
  EXPECT_EQ(g.edges(), 2u);
  graph::pending_update erases = g.erase_async(batch);
  EXPECT_THROW((void)g.view(), error);
  EXPECT_EQ(erases.get().erased, 2u);
  EXPECT_EQ(g.edges(), 0u);
}

TYPED_TEST_P(batches, every_failed_request_for_memory_leaves_the_graph_unchanged) {
  std::mt19937 random(seeded(33));
  auto const edges = random_edges(random, 200, 800);
  auto const t = this->template table_of<std::uint64_t>(random, edges);
  for (bool const resident : {false, true}) {
    typename TestFixture::model_type model(200, false, false);
    this->run(model, TestFixture::kind::apply, edges, t.operations, t.values);
    std::uint64_t failures = 0;
    for (bool done = false; !done; ++failures) {
      ASSERT_LT(failures, 200u);
      auto g = this->make(200);
      try {
        exec::injected_failure const failing(failures);
        this->run(g, TestFixture::kind::apply, t, resident);
        done = true;
      } catch (error const& e) {
        ASSERT_EQ(e.code(), error_code::out_of_memory);
        EXPECT_EQ(g.arcs(), 0u);
        EXPECT_EQ(damage(g), "");
        this->run(g, TestFixture::kind::apply, t, resident);
      }
      ASSERT_NO_FATAL_FAILURE(this->expect_same(g, model));
    }
    EXPECT_GT(failures, 3u);
  }
}

TYPED_TEST_P(batches, arrays_of_edges_with_values_equal_the_model) {
  if constexpr (TestFixture::has_values) {
    using value = typename TestFixture::value;
    using valued = graph::valued_edge<value>;
    auto g = this->make(300);
    typename TestFixture::model_type model(300, false, false);
    std::mt19937 random(seeded(34));
    for (unsigned round = 0; round < 10; ++round) {
      auto const edges = random_edges(random, 300, round == 3 ? 0 : random() % 900);
      auto const t = this->template table_of<std::uint32_t>(random, edges);
      std::vector<valued> batch;
      for (std::size_t i = 0; i < edges.size(); ++i) batch.push_back({edges[i].source, edges[i].target, t.values[i]});
      auto const there = this->upload(batch);
      expect_equal(round % 2 == 0 ? g.insert(std::span<valued const>(batch))
                                  : g.insert(graph::resident_valued_edges<value>(there.data(), batch.size())),
                   model.insert(edges, t.values));
      ASSERT_NO_FATAL_FAILURE(this->expect_same(g, model));
      // With operations, in another order.
      std::shuffle(batch.begin(), batch.end(), random);
      std::vector<graph::edge> arcs;
      std::vector<value> values;
      std::vector<graph::operation> what;
      for (valued const& e : batch) {
        arcs.push_back({e.source, e.target});
        values.push_back(e.value);
        what.push_back(random() % 2 == 0 ? graph::operation::insert : graph::operation::erase);
      }
      auto const shuffled = this->upload(batch);
      auto const operations = this->upload(what);
      expect_equal(round % 2 == 0
                       ? g.apply(std::span<valued const>(batch), what)
                       : g.apply(graph::resident_valued_edges<value>(shuffled.data(), batch.size()), operations.data()),
                   model.apply(arcs, what, values));
      ASSERT_NO_FATAL_FAILURE(this->expect_same(g, model));
    }
    EXPECT_NE(this->refusal([&] {
                    g.apply(std::span<valued const>(std::vector<valued>(3)), std::vector<graph::operation>(2));
                  })
                  .find("operations"),
              std::string::npos);
    std::vector<valued> const wrong{{1, 2, {}}, {3, 300, {}}, {400, 1, {}}};
    auto const there = this->upload(wrong);
    for (bool const resident : {false, true}) {
      std::string const what = this->refusal([&] {
        if (resident)
          g.insert(graph::resident_valued_edges<value>(there.data(), wrong.size()));
        else
          g.insert(std::span<valued const>(wrong));
      });
      EXPECT_NE(what.find("edge 1 of the batch is (3, 300)"), std::string::npos) << what;
      EXPECT_NE(what.find("(2 such"), std::string::npos) << what;
      ASSERT_NO_FATAL_FAILURE(this->expect_same(g, model));
    }
  }
}

REGISTER_TYPED_TEST_SUITE_P(batches, columns_of_each_type_equal_the_model,
                            ids_that_do_not_fit_are_refused_with_their_value, lengths_that_differ_are_refused,
                            a_large_batch_from_the_host_equals_the_model, columns_can_be_inserted_asynchronously,
                            every_failed_request_for_memory_leaves_the_graph_unchanged,
                            arrays_of_edges_with_values_equal_the_model);

}  // namespace wyrm::tests
