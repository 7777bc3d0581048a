// SPDX-License-Identifier: Apache-2.0
// Tests graphs with every allocator that this build has for them: edges of vertices with few and with thousands of
// neighbours are inserted and erased, on the host and on the first GPU, if there is one, and the graph is compared with
// the model.
#include "../../graph/any_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "../../alloc/registry.hpp"
#include "../../graph/update_queue.hpp"
#include "../support/refusal.hpp"
#include "../support/seed.hpp"
#include "../support/spaces.hpp"
#include "failures.hpp"
#include "model.hpp"

namespace wyrm::tests {

namespace {

constexpr graph::vertex_id vertices = 5000;

// Vertex 1 is the source of a third of the edges.
std::vector<graph::edge> random_edges(std::size_t n, std::mt19937_64& random) {
  std::vector<graph::edge> edges;
  for (std::size_t i = 0; i < n; ++i) {
    auto const u = static_cast<graph::vertex_id>(i % 3 == 0 ? 1 : random() % vertices);
    edges.push_back({u, static_cast<graph::vertex_id>(random() % vertices)});
  }
  return edges;
}

void agrees_with_the_model(exec::any_space const& space, std::string const& allocator) {
  SCOPED_TRACE(allocator);
  graph::any_graph g(space, allocator, vertices);
  graph_model model(vertices, g.settings().directed, g.settings().self_loops);
  std::mt19937_64 random(seeded(1));
  std::vector<graph::edge> all;
  for (unsigned round = 0; round < 4; ++round) {
    std::vector<graph::edge> const more = random_edges(scaled(20000, 2000), random);
    EXPECT_EQ(g.insert(more).inserted, model.insert(more).inserted);
    all.insert(all.end(), more.begin(), more.end());
    std::shuffle(all.begin(), all.end(), random);
    std::vector<graph::edge> const gone(all.end() - static_cast<std::ptrdiff_t>(all.size() / 3), all.end());
    all.resize(all.size() - gone.size());
    EXPECT_EQ(g.erase(gone).erased, model.erase(gone).erased);
    g.check();
    EXPECT_EQ(g.to_csr(), model.to_csr());
    graph::csr const rows = model.to_csr();
    graph::snapshot const before = g.snapshot();
    std::vector<graph::operation> operations;
    for (std::size_t i = 0; i < more.size(); ++i)
      operations.push_back(random() % 2 == 0 ? graph::operation::erase : graph::operation::insert);
    graph::update_report const got = g.apply(more, operations);
    graph::update_report const want = model.apply(more, operations, {});
    EXPECT_EQ(got.inserted, want.inserted);
    EXPECT_EQ(got.erased, want.erased);
    EXPECT_EQ(g.to_csr(), model.to_csr());
    g.check();
    std::visit(
        [&](auto const& on) {
          graph::csr taken{{0}, {}};
          for (graph::packed_record const& r : exec::copy_out(on, before.view().out_records(), vertices)) {
            for (graph::vertex_id const v : exec::copy_out(on, r.page(), r.degree)) taken.targets.push_back(v);
            taken.offsets.push_back(taken.targets.size());
          }
          EXPECT_EQ(taken, rows);
        },
        space);
  }
  g.clear();
  g.check();
  EXPECT_EQ(g.edges(), 0u);
}

void survives_failures(exec::any_space const& space, std::string const& allocator) {
  SCOPED_TRACE(allocator);
  bool reclaims = false;
  alloc::visit<exec::host_space>(allocator, [&]<class A> { reclaims = A::family.reclaims; });
  for (bool const directed : {false, true}) {
    graph::any_graph g(space, allocator, static_cast<graph::vertex_id>(scaled(30, 20)), {.directed = directed});
    expect_failures_change_nothing(g, reclaims);
    graph::any_graph other(space, allocator, 20, {.directed = directed, .pool = {.pool_bytes = std::size_t{1} << 20}});
    failures_beside_snapshots<graph::any_graph> test(other, 40, reclaims);
    test.run(failing::pages);
    test.run(failing::requests);
    test.run_compact();
  }
}

template <class Test>
void on_all(Test const& test) {
  for (std::string const& allocator : graph::any_graph::allocators()) {
    test(exec::make_space("cpu"), allocator);
#if WYRM_WITH_CUDA
    if (exec::cuda_space::device_count() > 0) test(exec::make_space("cuda"), allocator);
#endif
  }
}

}  // namespace

TEST(any_graph, every_allocator_works) { on_all(agrees_with_the_model); }
TEST(any_graph, every_allocation_may_fail) { on_all(survives_failures); }

// The copy has both arcs of each edge, with the sum of the values of the arcs of the directed graph.
template <class Value>
void expect_undirected_copy(graph::any_graph const& g) {
  graph::csr const rows = g.to_csr();
  auto const values = g.values<Value>();
  std::vector<std::map<graph::vertex_id, Value>> want(g.vertices());
  for (graph::vertex_id u = 0; u < g.vertices(); ++u)
    for (std::uint64_t i = rows.offsets[u]; i < rows.offsets[u + 1]; ++i) {
      want[u][rows.targets[i]] += values[i];
      want[rows.targets[i]][u] += values[i];
    }
  graph::options o = g.settings();
  o.values = graph::number_type::none;
  graph::any_graph const copy = g.as_undirected(o);
  copy.check();
  EXPECT_FALSE(copy.settings().directed);
  EXPECT_EQ(copy.settings().values, graph::number_type_of<Value>);
  graph::csr got{{0}, {}};
  std::vector<Value> sums;
  for (auto const& row : want) {
    for (auto const& [target, value] : row) {
      got.targets.push_back(target);
      sums.push_back(value);
    }
    got.offsets.push_back(got.targets.size());
  }
  EXPECT_EQ(copy.to_csr(), got);
  EXPECT_EQ(copy.values<Value>(), sums);
  EXPECT_EQ(g.to_csr(), rows);
}
// Values of each type, with each allocator, from the host and from memory of the space, as edges, as columns, and as
// edges with values.
template <class Value>
void has_values_like_the_model(exec::any_space const& space, std::string const& allocator) {
  SCOPED_TRACE(allocator + ", " + graph::name_of(graph::number_type_of<Value>));
  graph::vertex_id const n = 400;
  graph::options o{.directed = true, .combine = graph::combiner::sum};
  o.values = graph::number_type_of<Value>;
  graph::any_graph g(space, allocator, n, o);
  basic_model<Value> model(n, true, false, [](Value a, Value b) { return a + b; });
  std::mt19937 random(seeded(2));
  std::vector<graph::edge> const batch = tests::random_edges(random, n, 3000);
  std::vector<Value> values(batch.size());
  for (Value& v : values) v = static_cast<Value>(random() % 100);
  std::vector<graph::operation> operations(batch.size());
  for (auto& what : operations) what = random() % 3 == 0 ? graph::operation::erase : graph::operation::insert;
  std::vector<std::int64_t> sources;
  std::vector<std::int64_t> targets;
  std::vector<graph::valued_edge<Value>> valued;
  for (graph::edge const& e : batch) {
    sources.push_back(e.source);
    targets.push_back(e.target);
    valued.push_back({e.source, e.target, values[valued.size()]});
  }
  auto const expect_same = [&](graph::update_report const& got, graph::update_report const& want) {
    EXPECT_EQ(got.inserted, want.inserted);
    EXPECT_EQ(got.updated, want.updated);
    EXPECT_EQ(got.erased, want.erased);
    EXPECT_EQ(g.to_csr(), model.to_csr());
    EXPECT_EQ(g.values<Value>(), model.values());
    g.check();
  };
  expect_same(g.insert(batch, values), model.insert(batch, values));
  expect_same(g.apply(batch, operations, values), model.apply(batch, operations, values));
  expect_same(g.insert(graph::edge_columns(sources, targets), values), model.insert(batch, values));
  expect_same(g.apply(graph::edge_columns(sources, targets), operations, values),
              model.apply(batch, operations, values));
  expect_same(g.insert(valued), model.insert(batch, values));
  expect_same(g.apply(valued, operations), model.apply(batch, operations, values));
  expect_same(g.insert_async(valued).get(), model.insert(batch, values));
  expect_same(g.apply_async(valued, operations).get(), model.apply(batch, operations, values));
  std::visit(
      [&](auto const& s) {
        using space_type = std::remove_cvref_t<decltype(s)>;
        exec::buffer<graph::edge, space_type> edges(s, batch.size());
        exec::buffer<Value, space_type> there(s, batch.size());
        exec::copy_in<graph::edge>(s, edges.data(), batch);
        exec::copy_in<Value>(s, there.data(), values);
        graph::resident_edges const resident(edges.data(), batch.size());
        expect_same(g.insert(resident, there.data()), model.insert(batch, values));
        exec::buffer<graph::valued_edge<Value>, space_type> both(s, batch.size());
        exec::buffer<graph::operation, space_type> what(s, batch.size());
        exec::copy_in<graph::valued_edge<Value>>(s, both.data(), valued);
        exec::copy_in<graph::operation>(s, what.data(), operations);
        graph::resident_valued_edges<Value> const structs(both.data(), batch.size());
        expect_same(g.insert(structs), model.insert(batch, values));
        expect_same(g.apply(structs, what.data()), model.apply(batch, operations, values));
        expect_same(g.insert_async(structs).get(), model.insert(batch, values));
        expect_same(g.apply_async(structs, what.data()).get(), model.apply(batch, operations, values));
      },
      space);
  expect_undirected_copy<Value>(g);
  expect_same(g.erase(batch), model.erase(batch));
  expect_same(g.insert(batch, values), model.insert(batch, values));
  graph::csr const rows = g.to_csr();
  auto const all = g.values<Value>();
  g.clear();
  g.build(rows, all);
  EXPECT_EQ(g.to_csr(), rows);
  EXPECT_EQ(g.values<Value>(), all);
  EXPECT_EQ(g.view().numbers(), o.values);
}
TEST(any_graph, has_values_of_each_type) {
  on_all([](exec::any_space const& space, std::string const& allocator) {
    has_values_like_the_model<std::uint32_t>(space, allocator);
    has_values_like_the_model<std::int64_t>(space, allocator);
    has_values_like_the_model<float>(space, allocator);
    has_values_like_the_model<double>(space, allocator);
  });
}
TEST(any_graph, refuses_allocators_that_the_build_leaves_out) {
  auto const in_build = graph::any_graph::allocators();
  EXPECT_TRUE(std::ranges::count(in_build, alloc::default_name) == 1);
  auto const attempt = [](std::string const& allocator) {
    return refusal([&] { graph::any_graph const g(exec::make_space("cpu"), allocator, 10); });
  };
  for (std::string const& name : alloc::names())
    if (std::ranges::count(in_build, name) == 0) {
      EXPECT_NE(attempt(name).find("'" + name + "'; build it with -DWYRM_GRAPH_ALLOCATORS=all"), std::string::npos);
    } else {
      EXPECT_EQ(attempt(name), "");
    }
  std::string const unknown = attempt("best");
  EXPECT_NE(unknown.find("there is no allocator 'best'; there are: "), std::string::npos);
  for (std::string const& name : in_build) EXPECT_NE(unknown.find(name), std::string::npos);
}
TEST(any_graph, refuses_values_of_another_type) {
  graph::options o;
  o.values = graph::number_type::f64;
  graph::any_graph g(exec::make_space("cpu"), "ouroboros-s-p", 10, o);
  std::vector<graph::edge> const batch{{1, 2}, {3, 4}};
  EXPECT_NE(refusal([&] {
              g.insert(batch, std::vector<float>{1, 2});
            }).find("the values of the batch are of type float, but options::values of this graph is double"),
            std::string::npos);
  EXPECT_NE(refusal([&] { g.insert(batch); }).find("are of type none, but"), std::string::npos);
  EXPECT_NE(
      refusal([&] { g.insert(batch, std::vector<double>{1}); }).find("a batch of 2 edges needs as many values, not 1"),
      std::string::npos);
  EXPECT_NE(refusal([&] { (void)g.values<float>(); }).find("but options::values"), std::string::npos);
  EXPECT_EQ(g.arcs(), 0u);
  graph::any_graph without(exec::make_space("cpu"), "ouroboros-s-p", 10);
  EXPECT_NE(refusal([&] {
              without.insert(batch, std::vector<double>{1, 2});
            }).find("of this graph is none"),
            std::string::npos);
  std::vector<graph::valued_edge<float>> const floats{{1, 2, 1}, {3, 4, 2}};
  for (graph::any_graph* const one : {&g, &without}) {
    EXPECT_NE(refusal([&] { one->insert(floats); }).find("of the batch are of type float, but"), std::string::npos);
    EXPECT_NE(refusal([&] {
                one->insert(graph::resident_valued_edges<float>(floats.data(), 2));
              }).find("of the batch are of type float, but"),
              std::string::npos);
  }
  std::vector<graph::valued_edge<double>> const doubles{{1, 2, 1}, {3, 4, 2}};
  std::vector<graph::operation> const one{graph::operation::insert};
  EXPECT_NE(refusal([&] { g.apply(doubles, one); }).find("needs as many operations, not 1"), std::string::npos);
  EXPECT_NE(refusal([&] { g.insert(graph::resident_valued_edges<double>(nullptr, 2)); }).find("the pointer is null"),
            std::string::npos);
  graph::resident_edges const there(batch.data(), 2);
  EXPECT_NE(refusal([&] { g.insert(there, static_cast<double const*>(nullptr)); }).find("the pointer is null"),
            std::string::npos);
  EXPECT_NE(refusal([&] {
              g.insert(there, reinterpret_cast<double const*>(reinterpret_cast<char const*>(batch.data()) + 1));
            }).find("at a multiple of their size, 8 bytes"),
            std::string::npos);
  EXPECT_EQ(g.arcs(), 0u);
  EXPECT_EQ(without.arcs(), 0u);
  EXPECT_TRUE(g.values<double>().empty());
  o.values = static_cast<graph::number_type>(9);
  EXPECT_NE(refusal([&] { graph::any_graph(exec::make_space("cpu"), "ouroboros-s-p", 10, o); }), "");
  EXPECT_NE(refusal([&] { graph::update_queue q(g, 10); }).find("a queue of an any_graph has no values"),
            std::string::npos);
}

TEST(any_graph, is_moved_and_assigned) {
  graph::any_graph a(exec::make_space("cpu"), "ouroboros-s-p", 5);
  EXPECT_EQ(a.insert({{0, 1}, {1, 2}}).inserted, 2u);
  EXPECT_EQ(a.insert({{2, 3}}).inserted, 1u);
  EXPECT_EQ(a.erase({{2, 3}, {0, 4}}).erased, 1u);
  graph::any_graph b(std::move(a));
  // NOLINTBEGIN(bugprone-use-after-move)
  EXPECT_THROW((void)a.edges(), error);
  EXPECT_THROW((void)a.view(), error);
  EXPECT_THROW((void)a.insert({{0, 1}}), error);
  a = graph::any_graph(exec::make_space("cpu"), "malloc", 3);
  EXPECT_EQ(a.vertices(), 3u);
  a = std::move(b);
  EXPECT_EQ(a.edges(), 2u);
  EXPECT_THROW((void)b.to_csr(), error);
  // NOLINTEND(bugprone-use-after-move)
  a.check();
}

// Each operation is that of dynamic_graph of the same name.
TEST(any_graph, has_the_operations_of_a_graph) {
  using graph::edge;
  graph::any_graph g(exec::make_space("cpu"), "ouroboros-s-p", 6, {.directed = true, .hash_seed = 7});
  EXPECT_EQ(g.vertices(), 6u);
  EXPECT_TRUE(g.settings().directed);
  EXPECT_EQ(g.settings().hash_seed, 7u);
  std::vector<edge> const some{{0, 1}, {1, 2}, {2, 3}};
  std::vector<edge> const one{{1, 2}};
  graph::resident_edges const resident_some(some.data(), some.size());
  graph::resident_edges const resident_one(one.data(), one.size());
  graph::csr const all{{0, 1, 2, 3, 3, 3, 3}, {1, 2, 3}};
  graph::csr const left{{0, 1, 1, 2, 2, 2, 2}, {1, 3}};
  auto const expect_row = [&](graph::csr const& want) {
    EXPECT_EQ(g.to_csr(), want);
    EXPECT_EQ(g.edges(), want.targets.size());
    EXPECT_EQ(g.arcs(), want.targets.size());
    EXPECT_EQ(g.view().arcs(), want.targets.size());
  };
  EXPECT_EQ(g.insert(resident_some).inserted, 3u);
  expect_row(all);
  EXPECT_EQ(g.erase(resident_one).erased, 1u);
  expect_row(left);
  EXPECT_EQ(g.insert_async(resident_some).get().inserted, 1u);
  expect_row(all);
  EXPECT_EQ(g.erase_async(resident_one).get().erased, 1u);
  expect_row(left);
  EXPECT_EQ(g.insert_async(std::span<edge const>(some)).get().inserted, 1u);
  EXPECT_EQ(g.erase_async(std::span<edge const>(one)).get().erased, 1u);
  expect_row(left);
  std::vector<std::int64_t> const sources{0, 1, 2};
  std::vector<std::int64_t> const targets{1, 2, 3};
  std::vector<graph::operation> const erasing_one{graph::operation::insert, graph::operation::erase,
                                                  graph::operation::insert};
  graph::edge_columns const columns(sources, targets);
  std::span<std::int64_t const> const from = sources;
  std::span<std::int64_t const> const to = targets;
  graph::edge_columns const column(from.subspan(1, 1), to.subspan(1, 1));
  graph::resident_columns const resident(sources.data(), targets.data(), 3);
  graph::resident_columns const resident_row(sources.data() + 1, targets.data() + 1, 1);
  EXPECT_EQ(g.insert(columns).inserted, 1u);
  expect_row(all);
  EXPECT_EQ(g.erase(column).erased, 1u);
  expect_row(left);
  EXPECT_EQ(g.insert(resident).inserted, 1u);
  EXPECT_EQ(g.erase(resident_row).erased, 1u);
  expect_row(left);
  EXPECT_EQ(g.insert_async(columns).get().inserted, 1u);
  EXPECT_EQ(g.erase_async(column).get().erased, 1u);
  EXPECT_EQ(g.insert_async(resident).get().inserted, 1u);
  EXPECT_EQ(g.erase_async(resident_row).get().erased, 1u);
  EXPECT_EQ(g.apply(columns, erasing_one).missing, 1u);
  EXPECT_EQ(g.apply(resident, erasing_one.data()).missing, 1u);
  EXPECT_EQ(g.apply_async(columns, erasing_one).get().missing, 1u);
  EXPECT_EQ(g.apply_async(resident, erasing_one.data()).get().missing, 1u);
  expect_row(left);
  EXPECT_EQ(g.memory().neighbours, 2 * 2 * sizeof(graph::vertex_id));
  EXPECT_EQ(g.pool().granted, 4u * 16);  // pages of both directions
  std::size_t const scratch = g.memory().scratch;
  g.compact();
  EXPECT_LT(g.memory().scratch, scratch);
  expect_row(left);
  g.clear();
  expect_row({{0, 0, 0, 0, 0, 0, 0}, {}});
  EXPECT_EQ(g.build(all).inserted, 3u);
  expect_row(all);
  g.clear();
  EXPECT_EQ(g.build(graph::resident_csr{left.offsets.data(), left.targets.data(), 2}).inserted, 2u);
  expect_row(left);
  graph::any_graph const both = g.as_undirected();
  EXPECT_EQ(both.to_csr(), (graph::csr{{0, 1, 2, 3, 4, 4, 4}, {1, 0, 3, 2}}));
  EXPECT_EQ(both.settings().hash_seed, 7u);
  EXPECT_THROW((void)both.as_undirected(), error);
  g.fail_allocations_from(0);
  EXPECT_THROW(g.insert({{4, 5}}), error);
  g.fail_allocations_from(graph::any_graph::never);
  EXPECT_EQ(g.insert({{4, 5}}).inserted, 1u);
  g.check();
}

// A list with more edges than a slice.
TEST(any_graph, is_built_from_a_list_in_slices) {
  graph::edge_list list;
  list.vertices = 3000;
  std::mt19937_64 random(seeded(2));
  std::size_t const n = graph::slice_for(0) + 1000;
  for (std::size_t i = 0; i < n; ++i)
    list.edges.push_back({static_cast<graph::vertex_id>(i % 2999), static_cast<graph::vertex_id>(2999)});
  list.edges.back() = {1, 2};
  graph::any_graph const g = graph::build(exec::make_space("cpu"), "ouroboros-s-p", list);
  EXPECT_EQ(g.edges(), 3000u);
  g.check();
}

}  // namespace wyrm::tests
