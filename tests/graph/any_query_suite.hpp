// SPDX-License-Identifier: Apache-2.0
// Queries on any_graph, its snapshots and its reversed view, with entries on the host and in memory of the space,
// compared with a std::set per vertex.
#pragma once

#include <thread>
#include <utility>
#include <variant>

#include "query_case.hpp"

namespace wyrm::tests {

/// A predicate for filtered degrees.
struct sum_is_even {
  WYRM_HD bool operator()(graph::vertex_id u, graph::vertex_id v) const { return (u + v) % 2 == 0; }
};

template <class Space>
class any_query_test : public query_fixture<Space> {
 protected:
  /// An array of a result, read at its address.
  template <class T>
  [[nodiscard]] std::vector<T> read(exec::any_array<T> const& array) const {
    EXPECT_TRUE(std::holds_alternative<Space>(array.space()));
    EXPECT_EQ(array.bytes(), array.size() * sizeof(T));
    auto all = array.size() == 0 ? std::vector<T>() : exec::copy_out(this->space(), array.data(), array.size());
    EXPECT_EQ(array.to_host(), all);
    return all;
  }
  [[nodiscard]] graph::csr read(graph::any_lists const& lists) const {
    graph::csr all{read(lists.offsets), read(lists.targets)};
    EXPECT_EQ(lists.to_host(), all);
    return all;
  }
  static void append(graph::csr& lists, std::vector<graph::vertex_id> const& list) {
    lists.targets.insert(lists.targets.end(), list.begin(), list.end());
    lists.offsets.push_back(lists.targets.size());
  }

  /// Compares all queries with the rows of c.
  void expect_rows(graph::any_view const& g, query_case const& c) const {
    SCOPED_TRACE(c.name);
    auto const vertices = this->some_vertices(c);
    auto const pairs = this->some_pairs(c);
    std::vector<std::uint32_t> degrees;
    std::vector<std::uint32_t> even;
    std::vector<std::uint32_t> ks;
    std::vector<graph::vertex_id> at;
    graph::csr lists{{0}, {}};
    for (graph::vertex_id const v : vertices) {
      std::vector<graph::vertex_id> const row(c.rows[v].begin(), c.rows[v].end());
      append(lists, row);
      degrees.push_back(static_cast<std::uint32_t>(row.size()));
      ks.push_back(degrees.back() - static_cast<std::uint32_t>(ks.size() % 2));  // every second one has no neighbour
      at.push_back(ks.back() < row.size() ? row[ks.back()] : graph::no_vertex);
      even.push_back(static_cast<std::uint32_t>(
          std::count_if(row.begin(), row.end(), [&](graph::vertex_id w) { return sum_is_even{}(v, w); })));
    }
    std::vector<std::uint8_t> found;
    std::vector<std::uint32_t> counts;
    graph::csr common{{0}, {}};
    for (auto const& [u, v] : pairs) {
      found.push_back(c.rows[u].contains(v) ? 1 : 0);
      append(common, c.common(c.rows[u], c.rows[v]));
      counts.push_back(static_cast<std::uint32_t>(common.offsets.back() - common.offsets[counts.size()]));
    }

    EXPECT_EQ(graph::contains(g, pairs), found);
    EXPECT_EQ(graph::degrees(g, vertices), degrees);
    EXPECT_EQ(graph::neighbours(g, vertices), lists);
    EXPECT_EQ(graph::neighbours_at(g, vertices, ks), at);
    EXPECT_EQ(graph::filtered_degrees(g, vertices, sum_is_even{}), even);
    EXPECT_EQ(graph::common_neighbours_count(g, pairs), counts);
    EXPECT_EQ(graph::common_neighbours(g, pairs), common);

    auto const resident_list = this->resident(vertices);
    auto const resident_pairs = this->resident(pairs);
    auto const resident_ks = this->resident(ks);
    auto const list = this->vertices_in(resident_list);
    auto const there = this->pairs_in(resident_pairs);
    EXPECT_EQ(read(graph::contains(g, there)), found);
    EXPECT_EQ(read(graph::degrees(g, list)), degrees);
    EXPECT_EQ(read(graph::neighbours(g, list)), lists);
    EXPECT_EQ(read(graph::neighbours_at(g, list, resident_ks.data())), at);
    EXPECT_EQ(read(graph::filtered_degrees(g, list, sum_is_even{})), even);
    EXPECT_EQ(read(graph::common_neighbours_count(g, there)), counts);
    EXPECT_EQ(read(graph::common_neighbours(g, there)), common);
  }
};

TYPED_TEST_SUITE_P(any_query_test);

TYPED_TEST_P(any_query_test, queries_of_a_graph) {
  for (query_case const& c : this->cases()) this->expect_rows(this->make(this->space(), c), c);
}

TYPED_TEST_P(any_query_test, queries_of_a_reversed_graph) {
  for (query_case c : this->cases()) {
    auto const g = this->make(this->space(), c);
    for (graph::edge& e : c.edges) std::swap(e.source, e.target);
    std::swap(c.rows, c.in_rows);
    this->expect_rows({g.graph::any_graph::space(), g.view().reversed()}, c);
  }
}

TYPED_TEST_P(any_query_test, queries_of_a_snapshot) {
  for (query_case const& c : this->cases()) {
    auto g = this->make(this->space(), c);
    graph::snapshot const taken = g.snapshot();
    std::mt19937 random(seeded(6));
    auto const half = static_cast<std::ptrdiff_t>(c.edges.size() / 2);
    g.erase(std::vector<graph::edge>(c.edges.begin(), c.edges.begin() + half));
    g.insert(random_edges(random, c.vertices, 500));
    this->expect_rows({g.graph::any_graph::space(), taken.view()}, c);
  }
}

TYPED_TEST_P(any_query_test, queries_of_several_threads) {
  query_case const c = this->cases().back();
  auto g = this->make(this->space(), c);
  graph::snapshot const taken = g.snapshot();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      for (int round = 0; round < 10; ++round) {
        if (i % 2 == 0)
          this->expect_rows(g, c);
        else
          this->expect_rows({g.graph::any_graph::space(), taken.view()}, c);
      }
    });
  for (std::thread& t : threads) t.join();
}

// Samples of a graph, with seeds on the host, and of its snapshot after a change, with seeds in memory of the space.
TYPED_TEST_P(any_query_test, samples) {
  std::vector<graph::sample_options> const options{{.fan_out = {3, 40, 2}},
                                                   {.fan_out = {4, 5}, .replace = true},
                                                   {.fan_out = {~0u, 2}, .unique = true, .seed = 9},
                                                   {}};
  for (query_case const& c : this->cases()) {
    SCOPED_TRACE(c.name);
    auto g = this->make(this->space(), c);
    auto const seeds = this->some_vertices(c);
    std::vector<std::vector<graph::sampled_hop>> want;
    for (graph::sample_options const& o : options) {
      want.push_back(graph::sample_neighbours(this->space(), g.view(), seeds, o));
      EXPECT_EQ(graph::sample_neighbours(g, seeds, o), want.back());
    }
    graph::snapshot const taken = g.snapshot();
    g.erase(c.edges);
    graph::any_view const view(g.graph::any_graph::space(), taken.view());
    auto const entries = this->resident(seeds);
    for (std::size_t k = 0; k < options.size(); ++k) {
      auto const hops = graph::sample_neighbours(view, this->vertices_in(entries), options[k]);
      ASSERT_EQ(hops.size(), want[k].size());
      for (std::size_t i = 0; i < hops.size(); ++i) {
        EXPECT_EQ(hops[i].to_host(), want[k][i]);
        EXPECT_EQ(this->read(hops[i].offsets), want[k][i].offsets);
        EXPECT_EQ(this->read(hops[i].sources), want[k][i].sources);
        EXPECT_EQ(this->read(hops[i].targets), want[k][i].targets);
      }
    }
  }
}

TYPED_TEST_P(any_query_test, queries_without_entries) {
  for (std::size_t const n : {std::size_t{0}, std::size_t{5}}) {
    graph_on<TypeParam> const g(this->space(), n);
    graph::resident_vertices const list(nullptr, 0);
    graph::resident_edges const pairs(nullptr, 0);
    EXPECT_EQ(this->read(graph::contains(g, pairs)).size(), 0u);
    EXPECT_EQ(this->read(graph::degrees(g, list)).size(), 0u);
    EXPECT_EQ(this->read(graph::neighbours_at(g, list, nullptr)).size(), 0u);
    EXPECT_EQ(this->read(graph::filtered_degrees(g, list, sum_is_even{})).size(), 0u);
    EXPECT_EQ(this->read(graph::common_neighbours_count(g, pairs)).size(), 0u);
    EXPECT_EQ(this->read(graph::neighbours(g, list)), (graph::csr{{0}, {}}));
    EXPECT_EQ(this->read(graph::common_neighbours(g, pairs)), (graph::csr{{0}, {}}));
    EXPECT_EQ(graph::sample_neighbours(g, list, {.fan_out = {3}})[0].to_host(), (graph::sampled_hop{{0}, {}, {}}));
  }
}

TYPED_TEST_P(any_query_test, entries_that_are_refused) {
  graph_on<TypeParam> const g(this->space(), 10);
  auto const vertices = this->resident(std::vector<graph::vertex_id>{3, 10, 11});
  auto const pairs = this->resident(std::vector<graph::edge>{{1, 2}, {3, 4}, {5, 60}});
  auto const ks = this->resident(std::vector<std::uint32_t>{0, 0, 0});
  auto const list = this->vertices_in(vertices);
  auto const there = this->pairs_in(pairs);
  auto const every = [&](auto const& v, auto const& p, auto const& k, std::string const& text_of_vertices,
                         std::string const& text_of_pairs) {
    graph::sample_options const o{.fan_out = {1}};
    this->expect_refused([&] { (void)graph::contains(g, p); }, "contains: " + text_of_pairs);
    this->expect_refused([&] { (void)graph::degrees(g, v); }, "degrees: " + text_of_vertices);
    this->expect_refused([&] { (void)graph::neighbours(g, v); }, "neighbours: " + text_of_vertices);
    this->expect_refused([&] { (void)graph::neighbours_at(g, v, k); }, "neighbours_at: " + text_of_vertices);
    this->expect_refused([&] { (void)graph::filtered_degrees(g, v, sum_is_even{}); },
                         "filtered_degrees: " + text_of_vertices);
    this->expect_refused([&] { (void)graph::common_neighbours_count(g, p); },
                         "common_neighbours_count: " + text_of_pairs);
    this->expect_refused([&] { (void)graph::common_neighbours(g, p); }, "common_neighbours: " + text_of_pairs);
    this->expect_refused([&] { (void)graph::sample_neighbours(g, v, o); }, "sample_neighbours: " + text_of_vertices);
  };
  std::string const no_vertex = "entry 1 is vertex 10, but the graph has 10 vertices";
  std::string const no_pair = "entry 2 is the pair (5, 60), but the graph has 10 vertices";
  every(list, there, ks.data(), no_vertex, no_pair);
  every(std::vector<graph::vertex_id>{3, 10, 11}, std::vector<graph::edge>{{1, 2}, {3, 4}, {5, 60}},
        std::vector<std::uint32_t>{0, 0, 0}, no_vertex, no_pair);
  std::string const null = "the pointer to the 3 entries is null; pass an array in memory of the space";
  every(graph::resident_vertices(nullptr, 3), graph::resident_edges(nullptr, 3), ks.data(), null, null);
  auto const shifted = []<class T>(T const* p) {
    return reinterpret_cast<T const*>(reinterpret_cast<std::uintptr_t>(p) + 1);
  };
  auto const unaligned = [](std::size_t bytes) {
    return "the entries in memory of the space must be at a multiple of " + std::to_string(bytes) + " bytes";
  };
  every(graph::resident_vertices(shifted(vertices.data()), 2), graph::resident_edges(shifted(pairs.data()), 2),
        ks.data(), unaligned(alignof(graph::vertex_id)), unaligned(alignof(graph::edge)));
  this->expect_refused([&] { (void)graph::neighbours_at(g, list, static_cast<std::uint32_t const*>(nullptr)); },
                       "neighbours_at: the pointer to the 3 numbers of neighbours is null");
  this->expect_refused([&] { (void)graph::neighbours_at(g, list, shifted(ks.data())); },
                       "neighbours_at: the numbers of neighbours in memory of the space must be at a multiple of 4");
  this->expect_refused(
      [&] {
        (void)graph::sample_neighbours(g, list, {.fan_out = {1, 0}});
      },
      "the fan-out of hop 1 is 0");
}

REGISTER_TYPED_TEST_SUITE_P(any_query_test, queries_of_a_graph, queries_of_a_reversed_graph, queries_of_a_snapshot,
                            queries_of_several_threads, samples, queries_without_entries, entries_that_are_refused);

}  // namespace wyrm::tests
