// SPDX-License-Identifier: Apache-2.0
// Tests that changes of a graph are all or nothing: makes every allocation of a change fail, one after the other,
// without snapshots and while two snapshots exist.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "../../exec/error.hpp"
#include "../../exec/injected_failure.hpp"
#include "../../exec/memory.hpp"
#include "../../graph/dynamic_graph.hpp"
#include "../support/seed.hpp"
#include "model.hpp"
#include "moment.hpp"
#include "reports.hpp"

namespace wyrm::tests {

template <class Graph>
std::size_t granted(Graph const& g) {
  if constexpr (requires { g.pool(); })
    return g.pool().granted;
  else
    return g.allocator().stats().granted;
}

/// Requires an empty graph g. For every k, an insertion without memory from its k-th vertex on changes nothing, or
/// succeeds. Later batches work, and no page is lost if the allocator reclaims memory. An erasure needs no memory.
template <class Graph>
void expect_failures_change_nothing(Graph& g, bool reclaims) {
  graph::vertex_id const n = g.vertices();
  std::mt19937 random(seeded(23));
  graph_model model(n, g.settings().directed, g.settings().self_loops);
  auto const first = random_edges(random, n, 2 * n);
  g.insert(first);
  model.insert(first);
  for (unsigned round = 0; round < 2; ++round) {
    auto const batch = random_edges(random, n, 3 * n);
    graph::csr const before = g.to_csr();
    std::size_t const granted_before = granted(g);
    std::uint64_t failed = 0;
    for (bool done = false; !done; ++failed) {
      ASSERT_LE(failed, 2 * n) << "more than there are vertices";
      g.fail_allocations_from(failed);
      try {
        std::uint64_t const inserted = g.insert(batch).inserted;
        EXPECT_EQ(inserted, model.insert(batch).inserted);
        done = true;
      } catch (error const& e) {
        ASSERT_EQ(e.code(), error_code::out_of_memory) << e.what();
        ASSERT_NE(std::string(e.what()).find("nothing was changed"), std::string::npos) << e.what();
        ASSERT_EQ(g.to_csr(), before) << "failed from " << failed << " on";
        ASSERT_NO_THROW(g.check()) << "failed from " << failed << " on";
        if (reclaims) {
          ASSERT_EQ(granted(g), granted_before) << "failed from " << failed << " on";
        }
      }
    }
    EXPECT_GT(failed, n / 2);
    EXPECT_EQ(g.to_csr(), model.to_csr());
    g.fail_allocations_from(0);
    std::vector<graph::edge> const gone(batch.begin(), batch.begin() + 2 * n);
    EXPECT_EQ(g.erase(gone).erased, model.erase(gone).erased);
    EXPECT_EQ(g.to_csr(), model.to_csr());
    g.check();
    g.fail_allocations_from(Graph::never);
  }
  auto const last = random_edges(random, n, 4 * n);
  EXPECT_EQ(g.insert(last).inserted, model.insert(last).inserted);
  EXPECT_EQ(g.erase(first).erased, model.erase(first).erased);
  EXPECT_EQ(g.to_csr(), model.to_csr());
  g.check();
}

enum class failing {
  pages,    // allocations of pages, and the growth of pools
  requests  // all requests for memory of the space: scratch, tables, and memory that is committed to a pool
};

/// Makes the allocations of all changes of a graph fail while two snapshots of different moments exist.
template <class Graph>
class failures_beside_snapshots {
  static constexpr bool is_any_graph = requires(Graph const& g) { g.pool(); };  // here without values
  static auto value_of_edges() {
    if constexpr (is_any_graph)
      return graph::no_value{};
    else
      return typename Graph::value_type{};
  }

 public:
  using value = decltype(value_of_edges());
  static constexpr bool has_values = !std::is_same_v<value, graph::no_value>;

  /// g has no edges. edges: the number of entries of each batch. reclaims: whether the allocator reuses pages.
  failures_beside_snapshots(Graph& g, std::size_t edges, bool reclaims)
      : g_(g),
        edges_(edges),
        reclaims_(reclaims),
        random_(seeded(29)),
        model_(g.vertices(), g.settings().directed, g.settings().self_loops) {
    insert_some(edges);
    take_snapshot();
    insert_some(2);
    take_snapshot();
  }

  /// For every k: allocation k and all later ones of a change fail. Either nothing changes, or the change succeeds.
  void run(failing what) {
    what_ = what;
    failures_ = 0;
    auto const batch = random_edges(random_, g_.vertices(), edges_);
    auto const values = random_values(edges_);
    fail_each(
        "insert", [&] { return insert(batch, values); }, [&] { return model_.insert(batch, values); });
    std::vector<graph::edge> const gone(batch.begin(), batch.begin() + static_cast<std::ptrdiff_t>(edges_ / 2));
    fail_each(
        "erase", [&] { return g_.erase(gone); }, [&] { return model_.erase(gone); });
    auto const mixed = random_edges(random_, g_.vertices(), edges_);
    std::vector<graph::operation> operations(edges_);
    for (graph::operation& o : operations) o = random_() % 2 == 0 ? graph::operation::erase : graph::operation::insert;
    fail_each(
        "apply", [&] { return apply(mixed, operations, values); },
        [&] { return model_.apply(mixed, operations, values); });
    if constexpr (!is_any_graph) {
      sum_leaves const half{2, 0};
      fail_each(
          "erase_if", [&] { return g_.erase_if(half); }, [&] { return model_.erase(model_.selected(half)); });
    }
    std::vector<graph::vertex_id> const vertices{0, 3, 5, 3};
    fail_each(
        "remove_vertices", [&] { return g_.remove_vertices(vertices); },
        [&] { return model_.remove_vertices(vertices); });
    // Three ids are reused, and others are new: more than there is room for in the tables.
    std::size_t const added = g_.vertices();
    fail_each(
        "add_vertices", [&] { return g_.add_vertices(added); }, [&] { return model_.add_vertices(added); });
    if (what == failing::requests) {
      fail_each(
          "snapshot", [&] { return std::size_t{g_.snapshot().view().arcs()}; },
          [&] { return model_.to_csr().targets.size(); });
    }
    EXPECT_TRUE(failures_ > 10 || testing::Test::HasFailure()) << "only " << failures_ << " failures";
  }
  /// The same for compact(), which is refused while a snapshot exists. Ends both snapshots.
  void run_compact() {
    try {
      g_.compact();
      FAIL() << "a graph with snapshots was compacted";
    } catch (error const& e) {
      ASSERT_EQ(e.code(), error_code::bad_argument) << e.what();
    }
    ASSERT_EQ(wrong(), "");
    older_.reset();
    newer_.reset();
    for (failing const what : {failing::pages, failing::requests}) {
      what_ = what;
      g_.erase({{1, 1}});  // the pages of the snapshots return
      EXPECT_EQ(g_.memory().snapshot_pages, 0u);
      fail_until_done(
          "compact", [&] { return compact(); }, [] { return true; });
    }
  }

 private:
  // A change after the newest snapshot, so that some of its pages are those of the graph and others are not; then f
  // with failures. The snapshots are of this moment and of that before the last change.
  template <class Change, class ModelChange>
  void fail_each(char const* name, Change const& change, ModelChange const& change_model) {
    if (testing::Test::HasFailure()) return;
    take_snapshot();
    insert_some(2);
    fail_until_done(name, change, change_model);
  }
  template <class Change, class ModelChange>
  void fail_until_done(char const* name, Change const& change, ModelChange const& change_model) {
    std::size_t const granted_before = granted(g_);
    std::uint64_t k = 0;
    for (bool done = false; !done; ++k) {
      ASSERT_LT(k, 2000u) << name;
      auto const report = attempt(k, change);
      done = report.has_value();
      if (done) {
        expect_same_report(*report, change_model());
        copy_model();
      }
      ASSERT_EQ(wrong(), "") << name << ", failed from " << k << " on";
      if (!done && reclaims_) {
        ASSERT_EQ(granted(g_), granted_before) << name << ", failed from " << k << " on";
      }
    }
    failures_ += k - 1;
    bool const adds = name == std::string("add_vertices");  // needs no page, but longer tables
    if ((what_ == failing::pages) != adds) {
      EXPECT_GT(k, 1u) << name << " needs no memory";
    }
  }
  // The report of f, or none if f throws for lack of memory. nvcc 13.0 leaves garbage in a variable that a lambda
  // should have assigned when it threw: so a function returns it.
  template <class F>
  auto attempt(std::uint64_t k, F const& f) -> std::optional<decltype(f())> {
    struct reset {
      Graph& g;
      ~reset() { g.fail_allocations_from(Graph::never); }
    } const at_end{g_};
    std::optional<exec::injected_failure> requests;
    if (what_ == failing::requests)
      requests.emplace(k);
    else
      g_.fail_allocations_from(k);
    try {
      return f();
    } catch (error const& e) {
      EXPECT_EQ(e.code(), error_code::out_of_memory) << e.what();
    }
    return std::nullopt;
  }
  template <class Report>
  static void expect_same_report(Report const& got, Report const& want) {
    if constexpr (requires { expect_equal(got, want); })
      expect_equal(got, want);
    else
      EXPECT_EQ(got, want);
  }

  // What is wrong with the graph or a snapshot.
  std::string wrong() {
    try {
      g_.check();
    } catch (error const& e) {
      return e.what();
    }
    if (g_.to_csr() != rows_) return "the graph has changed";
    if (g_.vertices() != model_.vertices() || g_.present_vertices() != model_.vertices() - model_.absent().size())
      return "the vertices of the graph have changed";
    if constexpr (has_values)
      if (!std::ranges::equal(g_.values(), values_, basic_model<value>::same))
        return "the values of the graph have changed";
    if (older_)
      if (std::string const of_older = wrong(*older_); !of_older.empty()) return "the older one: " + of_older;
    return newer_ ? wrong(*newer_) : "";
  }
  std::string wrong(basic_moment<value> const& m) const {
    if constexpr (is_any_graph)
      return std::visit([&](auto const& space) { return wrong_rows(space, m); }, g_.space());
    else
      return unlike_its_moment(g_.space(), m);
  }
  // Without kernels, which a host compiler cannot launch on a GPU.
  template <class Space>
  static std::string wrong_rows(Space const& space, basic_moment<value> const& m) {
    graph::csr rows{{0}, {}};
    for (graph::packed_record const& r :
         exec::copy_out(space, m.taken.view().out_records(), m.taken.view().vertices())) {
      for (graph::vertex_id const v : exec::copy_out(space, r.page(), r.degree)) rows.targets.push_back(v);
      rows.offsets.push_back(rows.targets.size());
    }
    return rows == m.rows ? "" : "a snapshot has changed";
  }

  void copy_model() {
    rows_ = model_.to_csr();
    values_ = model_.values();
  }
  void take_snapshot() {
    older_ = std::move(newer_);
    newer_ = moment_of(g_, model_);
  }
  // Edges of vertices that are in the graph. The erasure returns pages of ended snapshots.
  void insert_some(std::size_t n) {
    g_.erase({{1, 1}});
    model_.erase(std::vector<graph::edge>{{1, 1}});
    auto batch = random_edges(random_, g_.vertices(), n);
    std::erase_if(
        batch, [&](graph::edge e) { return model_.absent().contains(e.source) || model_.absent().contains(e.target); });
    auto const values = random_values(batch.size());
    expect_equal(insert(batch, values), model_.insert(batch, values));
    copy_model();
  }
  std::vector<value> random_values(std::size_t n) {
    std::vector<value> values(has_values ? n : 0);
    if constexpr (has_values)
      for (value& v : values) v = static_cast<value>(random_() % 7);
    return values;
  }
  graph::update_report insert(std::span<graph::edge const> batch, std::span<value const> values) {
    if constexpr (has_values)
      return g_.insert(batch, values);
    else
      return g_.insert(batch);
  }
  graph::update_report apply(std::span<graph::edge const> batch, std::span<graph::operation const> operations,
                             std::span<value const> values) {
    if constexpr (has_values)
      return g_.apply(batch, operations, values);
    else
      return g_.apply(batch, operations);
  }
  bool compact() {
    g_.compact();
    return true;
  }

  Graph& g_;
  std::size_t edges_;
  bool reclaims_;
  std::uint64_t failures_ = 0;
  failing what_ = failing::pages;
  std::mt19937 random_;
  basic_model<value> model_;
  graph::csr rows_;  // of the model
  std::vector<value> values_;
  std::optional<basic_moment<value>> older_;
  std::optional<basic_moment<value>> newer_;
};

}  // namespace wyrm::tests
