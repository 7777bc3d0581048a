// SPDX-License-Identifier: Apache-2.0
// A queue of batches in front of a graph: order, bounds, errors, and many producers at the same time, compared with a
// model to which the batches are applied in the order of their numbers.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "../../graph/any_graph.hpp"
#include "../../graph/dynamic_graph.hpp"
#include "../../graph/update_queue.hpp"
#include "../support/seed.hpp"
#include "../support/spaces.hpp"
#include "graph_case.hpp"
#include "model.hpp"

namespace wyrm::tests {

/// A dynamic_graph with values.
template <class S, template <class> class A, class V>
struct queue_case {
  using value = V;
  static bool is_available() { return available<S>(); }
  static auto make(std::size_t vertices) { return graph::dynamic_graph<S, A<S>, V>(make_space<S>(), vertices); }
};

/// Device: an object with the name of a space, "cpu" or "cuda".
template <class Device>
struct any_queue_case {
  using value = graph::no_value;
  static bool is_available() { return Device::is_available(); }
  static auto make(std::size_t vertices) {
    return graph::any_graph(exec::make_space(Device::name), "ouroboros-s-p", vertices);
  }
};

template <class Case>
class update_queues : public testing::Test {
 protected:
  using value = typename Case::value;
  using queue = graph::update_queue<value>;
  using model_type = basic_model<value>;
  static constexpr bool has_values = !std::is_same_v<value, graph::no_value>;

  void SetUp() override {
    if (!Case::is_available()) GTEST_SKIP() << "there is no device for this space";
  }
  static auto make(std::size_t vertices) { return Case::make(vertices); }

  struct batch {
    std::vector<graph::edge> edges;
    std::vector<graph::operation> operations;
    std::vector<value> values;
    std::uint64_t number = 0;
  };
  static batch insertion(std::vector<graph::edge> edges) {
    std::size_t const n = edges.size();
    return {std::move(edges), std::vector<graph::operation>(n), std::vector<value>(n)};
  }
  static batch random_batch(std::mt19937& random, std::size_t vertices, std::size_t size) {
    batch b = insertion(random_edges(random, vertices, size));
    for (std::size_t i = 0; i < size; ++i) {
      b.operations[i] = random() % 2 == 0 ? graph::operation::erase : graph::operation::insert;
      if constexpr (has_values) b.values[i] = static_cast<value>(random() % 100);
    }
    return b;
  }
  static auto valued(batch const& b) {
    std::vector<graph::valued_edge<value>> all;
    for (std::size_t i = 0; i < b.edges.size(); ++i) all.push_back({b.edges[i].source, b.edges[i].target, b.values[i]});
    return all;
  }
  /// Calls f(arguments of push()). Batches of different sizes are pushed in different forms.
  template <class F>
  static auto with_form(batch const& b, F const& f) {
    std::size_t const n = b.edges.size();
    bool const are_whole = b.operations.size() == n && b.values.size() == n;
    auto const pushed = [&](auto const& edges) {
      if constexpr (has_values)
        return f(edges, b.operations, b.values);
      else
        return f(edges, b.operations);
    };
    if (are_whole && n % 3 == 1) return with_columns(b, pushed);
    if constexpr (has_values)
      if (are_whole && n % 3 == 2) return f(std::span<graph::valued_edge<value> const>(valued(b)), b.operations);
    return pushed(std::span<graph::edge const>(b.edges));
  }
  template <class F>
  static auto with_columns(batch const& b, F const& f) {
    auto const columns = [&]<class Id>(Id) {
      std::vector<Id> sources;
      std::vector<Id> targets;
      for (graph::edge const e : b.edges) {
        sources.push_back(static_cast<Id>(e.source));
        targets.push_back(static_cast<Id>(e.target));
      }
      return f(graph::edge_columns(sources, targets));
    };
    switch (b.edges.size() / 3 % 4) {
      case 0: return columns(std::uint32_t{});
      case 1: return columns(std::int32_t{});
      case 2: return columns(std::uint64_t{});
      default: return columns(std::int64_t{});
    }
  }
  static std::uint64_t push(queue& q, batch const& b) {
    return with_form(b, [&](auto const&... arrays) { return q.push(arrays...); });
  }
  static std::optional<std::uint64_t> try_push(queue& q, batch const& b) {
    return with_form(b, [&](auto const&... arrays) { return q.try_push(arrays...); });
  }
  template <class F>
  static std::string failure(error_code code, F const& f) {
    try {
      f();
    } catch (error const& e) {
      EXPECT_EQ(e.code(), code);
      return e.what();
    }
    return "";
  }
  template <class F>
  static std::string refusal(F const& f) {
    return failure(error_code::bad_argument, f);
  }
};
TYPED_TEST_SUITE_P(update_queues);

TYPED_TEST_P(update_queues, all_batches_that_have_arrived_are_one_update) {
  auto g = this->make(50);
  graph::update_queue q(g, 1000);
  typename TestFixture::model_type model(50, false, false);
  expect_equal(q.apply_to(g), {});
  std::mt19937 random(seeded(41));
  std::uint64_t number = 0;
  for (unsigned round = 0; round < 5; ++round) {
    auto all = this->insertion({});
    for (unsigned k = 0; k < 5; ++k) {
      auto const b = this->random_batch(random, 50, random() % 100);
      EXPECT_EQ(k % 2 == 0 ? this->push(q, b) : this->try_push(q, b), number++);
      all.edges.insert(all.edges.end(), b.edges.begin(), b.edges.end());
      all.operations.insert(all.operations.end(), b.operations.begin(), b.operations.end());
      all.values.insert(all.values.end(), b.values.begin(), b.values.end());
    }
    EXPECT_TRUE(q.wait());
    expect_equal(q.apply_to(g), model.apply(all.edges, all.operations, all.values));
    EXPECT_EQ(g.to_csr(), model.to_csr());
    expect_equal(q.apply_to(g), {});
  }
  if constexpr (TestFixture::has_values) {
    EXPECT_EQ(g.values(), model.values());
  }
}

TYPED_TEST_P(update_queues, a_full_queue_takes_no_batch) {
  auto g = this->make(10);
  EXPECT_NE(this->refusal([&] { graph::update_queue(g, 0); }), "");
  graph::update_queue q(g, 3);
  auto const two = this->insertion({{0, 1}, {1, 2}});
  auto const one = this->insertion({{2, 3}});
  auto const none = this->insertion({});
  auto const four = this->insertion({{0, 1}, {1, 2}, {2, 3}, {3, 4}});
  EXPECT_NE(this->refusal([&] { this->push(q, four); }), "");
  EXPECT_EQ(this->push(q, two), 0u);
  EXPECT_EQ(this->try_push(q, two), std::nullopt);
  EXPECT_EQ(this->try_push(q, one), 1u);
  EXPECT_EQ(this->try_push(q, one), std::nullopt);
  EXPECT_EQ(this->try_push(q, none), 2u);
  EXPECT_EQ(this->try_push(q, none), std::nullopt) << "as many batches as entries";
  EXPECT_EQ(q.apply_to(g).inserted, 3u);
  EXPECT_EQ(this->push(q, none), 3u);
  expect_equal(q.apply_to(g), {});
  auto wrong = two;
  wrong.operations.pop_back();
  EXPECT_NE(this->refusal([&] { this->push(q, wrong); }).find("2 edges"), std::string::npos);
  EXPECT_NE(this->refusal([&] { this->try_push(q, wrong); }), "");
  EXPECT_EQ(q.apply_to(g).requested, 0u) << "a refused batch is not in the queue";
}

TYPED_TEST_P(update_queues, columns_have_ids_that_vertices_can_have) {
  auto g = this->make(10);
  graph::update_queue q(g, 10);
  std::vector<graph::operation> const operations(3, graph::operation::insert);
  std::vector<typename TestFixture::value> const values(3);
  auto const push = [&](auto const& sources, auto const& targets) {
    graph::edge_columns const edges(sources, targets);
    if constexpr (TestFixture::has_values)
      return q.push(edges, operations, values);
    else
      return q.push(edges, operations);
  };
  using wide = std::vector<std::int64_t>;
  EXPECT_NE(this->refusal([&] { push(wide{0, 1, 2}, wide{1, 2, -3}); }).find("edge 2 is (2, -3)"), std::string::npos);
  EXPECT_NE(this->refusal([&] {
                  push(wide{0, std::int64_t{1} << 32, 2}, wide{1, 2, 3});
                })
                .find("(4294967296, 2)"),
            std::string::npos);
  EXPECT_NE(this->refusal([&] {
                  push(std::vector<int>{0, 1, 2}, std::vector<int>{1, -2, 3});
                })
                .find("edge 1 is (1, -2)"),
            std::string::npos);
  EXPECT_NE(this->refusal([&] {
    push(std::vector<unsigned>{0, 1, graph::no_vertex}, std::vector<unsigned>{1, 2, 3});
  }),
            "");
  EXPECT_EQ(push(wide{0, 1, 2}, wide{1, 2, 3}), 0u) << "a refused batch has no number";
  EXPECT_EQ(q.apply_to(g).inserted, 3u);
  push(wide{0, 1, 2}, wide{2, 3, 10});
  EXPECT_NE(this->refusal([&] { q.apply_to(g); }).find("edge 2 of batch 1"), std::string::npos);
}

// A producer that waits is not overtaken, also by a batch for which there is room.
TYPED_TEST_P(update_queues, producers_wait_in_a_line) {
  auto g = this->make(10);
  std::size_t const most = 5000;
  graph::update_queue q(g, most);
  auto const nearly_all = this->insertion(std::vector<graph::edge>(most - 1, {0, 1}));
  auto const two = this->insertion({{1, 2}, {2, 3}});
  auto const none = this->insertion({});
  EXPECT_EQ(this->push(q, nearly_all), 0u);
  std::uint64_t number = 0;
  std::thread producer([&] { number = this->push(q, two); });
  std::uint64_t appended = 1;
  while (appended < most && this->try_push(q, none)) {
    ++appended;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_LT(appended, most) << "the producer did not wait";
  EXPECT_EQ(q.apply_to(g).inserted, 1u);
  producer.join();
  EXPECT_EQ(number, appended);
  EXPECT_EQ(q.apply_to(g).inserted, 2u);
}

TYPED_TEST_P(update_queues, a_closed_queue_is_emptied) {
  auto g = this->make(10);
  graph::update_queue q(g, 2);
  auto const two = this->insertion({{0, 1}, {1, 2}});
  this->push(q, two);
  std::string refused[2];
  std::vector<std::thread> producers;
  for (std::string& what : refused) producers.emplace_back([&] { what = this->refusal([&] { this->push(q, two); }); });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));  // so that they probably wait
  q.close();
  for (std::thread& t : producers) t.join();
  for (std::string const& what : refused) EXPECT_NE(what.find("closed"), std::string::npos) << what;
  EXPECT_NE(this->refusal([&] { this->try_push(q, two); }), "");
  EXPECT_TRUE(q.wait());
  EXPECT_EQ(q.apply_to(g).inserted, 2u);
  EXPECT_FALSE(q.wait());
  expect_equal(q.apply_to(g), {});
}

TYPED_TEST_P(update_queues, a_refused_batch_is_named_and_can_be_dropped) {
  auto g = this->make(10);
  graph::update_queue q(g, 20);
  EXPECT_EQ(q.drop_failed(), 0u);
  this->push(q, this->insertion({{0, 1}, {1, 2}}));
  this->push(q, this->insertion({}));
  this->push(q, this->insertion({{2, 3}, {3, 10}, {4, 5}}));
  this->push(q, this->insertion({{11, 4}, {5, 6}}));
  this->push(q, this->insertion({{6, 7}}));
  for (unsigned attempt = 0; attempt < 2; ++attempt) {
    std::string const what = this->refusal([&] { q.apply_to(g); });
    EXPECT_NE(what.find("edge 1 of batch 2 of the queue is (3, 10)"), std::string::npos) << what;
    EXPECT_EQ(g.edges(), 0u);
    EXPECT_TRUE(q.wait());
  }
  this->push(q, this->insertion({{7, 8}}));
  EXPECT_EQ(q.drop_failed(), 1u);
  EXPECT_EQ(q.drop_failed(), 0u);
  std::string const what = this->refusal([&] { q.apply_to(g); });
  EXPECT_NE(what.find("edge 0 of batch 3 of the queue is (11, 4)"), std::string::npos) << what;
  EXPECT_EQ(q.drop_failed(), 1u);
  EXPECT_EQ(q.apply_to(g).inserted, 3u) << "the batches 0, 1 and 4";
  EXPECT_EQ(g.to_csr().targets, (std::vector<graph::vertex_id>{1, 0, 2, 1, 7, 6}));
  EXPECT_EQ(q.apply_to(g).inserted, 1u) << "batch 5";
  this->push(q, this->insertion({{1, 99}}));
  EXPECT_NE(this->refusal([&] { q.apply_to(g); }), "");
  EXPECT_EQ(q.drop_failed(), 1u);
  EXPECT_EQ(q.apply_to(g).requested, 0u);
  g.remove_vertices({5});
  this->push(q, this->insertion({{0, 2}}));
  this->push(q, this->insertion({{8, 9}, {5, 1}}));
  this->push(q, this->insertion({{0, 3}}));
  std::string const absent = this->refusal([&] { q.apply_to(g); });
  EXPECT_NE(absent.find("edge 1 of batch 8 of the queue is (5, 1), but one of them was removed"), std::string::npos)
      << absent;
  EXPECT_EQ(q.drop_failed(), 1u);
  EXPECT_EQ(q.apply_to(g).inserted, 2u) << "the batches 7 and 9";
}

TYPED_TEST_P(update_queues, batches_survive_a_lack_of_memory) {
  auto g = this->make(10);
  graph::update_queue q(g, 20);
  for (bool const drops : {false, true}) {
    std::uint64_t const before = g.edges();
    std::uint64_t const first = this->push(q, this->insertion({{0, drops ? 3u : 1u}}));
    std::uint64_t const last = this->push(q, this->insertion({{1, drops ? 4u : 2u}}));
    g.fail_allocations_from(0);
    std::string const what = this->failure(error_code::out_of_memory, [&] { q.apply_to(g); });
    EXPECT_NE(what.find("batches " + std::to_string(first) + " to " + std::to_string(last)), std::string::npos) << what;
    g.fail_allocations_from(~std::uint64_t{0});
    EXPECT_EQ(g.edges(), before);
    if (drops) {
      EXPECT_EQ(q.drop_failed(), 2u);
    }
    EXPECT_EQ(q.apply_to(g).inserted, drops ? 0u : 2u);
  }
}

// The graph after each update is that of the model after some batch, so no batch is split; and no batch is lost or
// applied twice. Bounds from the size of the largest batch on.
TYPED_TEST_P(update_queues, many_producers_equal_the_model) {
  std::size_t const vertices = 12;
  std::size_t const largest = 8;
  std::size_t const batches = scaled(400, 60);
  unsigned const producers = 3;
  for (std::size_t const most : {largest, largest + 1, std::size_t{100}}) {
    SCOPED_TRACE("entries: " + std::to_string(most));
    auto g = this->make(vertices);
    graph::update_queue q(g, most);
    std::vector<std::vector<typename TestFixture::batch>> pushed(producers);
    std::atomic<unsigned> active = producers;
    std::vector<std::thread> threads;
    for (unsigned p = 0; p < producers; ++p)
      threads.emplace_back([&, p] {
        std::mt19937 random(seeded(50 + p));
        for (std::size_t i = 0; i < batches; ++i) {
          auto b = this->random_batch(random, vertices, random() % (largest + 1));
          if (random() % 2 == 0) {
            b.number = this->push(q, b);
          } else {
            std::optional<std::uint64_t> number;
            while (!(number = this->try_push(q, b))) std::this_thread::yield();
            b.number = *number;
          }
          pushed[p].push_back(b);
        }
        if (--active == 0) q.close();
      });
    std::vector<graph::csr> states;
    std::uint64_t requested = 0;
    while (q.wait()) {
      requested += q.apply_to(g).requested;
      states.push_back(g.to_csr());
    }
    for (std::thread& t : threads) t.join();

    std::vector<typename TestFixture::batch> all;
    std::uint64_t entries = 0;
    for (auto const& some : pushed) {
      EXPECT_TRUE(std::is_sorted(some.begin(), some.end(), [](auto& a, auto& b) { return a.number < b.number; }));
      all.insert(all.end(), some.begin(), some.end());
    }
    std::sort(all.begin(), all.end(), [](auto& a, auto& b) { return a.number < b.number; });
    typename TestFixture::model_type model(vertices, false, false);
    auto state = states.begin();
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(all[i].number, i);
      entries += all[i].edges.size();
      model.apply(all[i].edges, all[i].operations, all[i].values);
      while (state != states.end() && *state == model.to_csr()) ++state;
    }
    EXPECT_EQ(state, states.end()) << "update " << state - states.begin() << " ends between two batches";
    EXPECT_EQ(requested, entries);
    EXPECT_EQ(g.to_csr(), model.to_csr());
    if constexpr (TestFixture::has_values) {
      EXPECT_EQ(g.values(), model.values());
    }
  }
}

REGISTER_TYPED_TEST_SUITE_P(update_queues, columns_have_ids_that_vertices_can_have,
                            all_batches_that_have_arrived_are_one_update, a_full_queue_takes_no_batch,
                            producers_wait_in_a_line, a_closed_queue_is_emptied,
                            a_refused_batch_is_named_and_can_be_dropped, batches_survive_a_lack_of_memory,
                            many_producers_equal_the_model);

}  // namespace wyrm::tests
