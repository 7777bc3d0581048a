// SPDX-License-Identifier: Apache-2.0
// Interprets any string of bytes as a sequence of operations on a graph, and compares the graph with the model after
// each operation. The fuzzer (sequence_fuzz.cpp) generates sequences; sequence_test.cpp and sequence_cuda_test.cpp
// replay them.
//
// Byte 0: bit 0 directed, 1 with in-neighbours, 2 with self-loops, 3 and 4 the allocator, 5 and 6 the space, 7 with
// values. Byte 1: the number of vertices, divided by 16, minus 1. If bit 6 of byte 0 is set, a byte follows that
// determines the order of lanes. If bit 7 is set, bits 3 and 4 are the type of values instead, and a byte follows that
// determines the combiner. Operations follow to the end: a byte whose lower three bits are the kind and whose upper
// five bits, n, are the size, and the arguments of the operation. The number of the operation, plus n, selects among
// its forms: from the host or from memory of the space, at once or asynchronously. If byte 1 is odd, a result is
// attached to the graph.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../../exec/error.hpp"
#include "../../exec/memory.hpp"
#include "../../graph/catch_up.hpp"
#include "../../graph/dynamic_graph.hpp"
#include "arc_copy.hpp"
#include "model.hpp"
#include "moment.hpp"
#include "sequence_queries.hpp"

namespace wyrm::tests {

class byte_reader {
 public:
  explicit byte_reader(std::span<std::uint8_t const> bytes) : bytes_(bytes) {}
  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  /// The next byte; 0 beyond the end.
  std::uint8_t next() {
    if (bytes_.empty()) return 0;
    std::uint8_t const b = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return b;
  }

 private:
  std::span<std::uint8_t const> bytes_;
};

/// The start of a sequence.
struct sequence_header {
  explicit sequence_header(byte_reader& bytes)
      : flags(bytes.next()),
        vertices(16u * (1u + bytes.next())),
        lane_order((flags & 64) != 0 ? bytes.next() : 0),
        combine(static_cast<graph::combiner>(has_values() ? bytes.next() & 3 : 0)) {}
  [[nodiscard]] bool has_values() const { return (flags & 128) != 0; }
  [[nodiscard]] unsigned allocator() const { return flags >> 3 & 3; }
  [[nodiscard]] unsigned space() const { return flags >> 5 & 3; }

  std::uint8_t flags;
  graph::vertex_id vertices;
  std::uint8_t lane_order;
  graph::combiner combine;
};

/// A value of 16 bytes.
struct sixteen_bytes {
  std::uint32_t words[4];
};

/// A graph and its model.
template <class Space, class Allocator, class Value = graph::no_value>
class sequence {
  static constexpr bool has_values = !std::is_same_v<Value, graph::no_value>;

 public:
  using graph_type = graph::dynamic_graph<Space, Allocator, Value>;

  sequence(Space const& space, sequence_header const& header, byte_reader& bytes)
      : bytes_(bytes), n_(header.vertices), graph_(space, n_, settings(header)), model_(empty_model()) {
    if (n_ / 16 % 2 == 0) graph_.attach(copy_.emplace(graph_.space(), graph_.view()));
  }

  /// Runs the sequence; returns a description of the first failure, or an empty string.
  std::string run() {
    while (!bytes_.empty()) {
      std::string const wrong = one_or_error();
      if (!wrong.empty()) return name() + ", step " + std::to_string(step_) + ": " + wrong;
      ++step_;
    }
    for (basic_moment<Value> const& m : snapshots_)
      if (std::string const wrong = unlike_its_moment(graph_.space(), m); !wrong.empty())
        return name() + ", at the end: " + wrong;
    snapshots_.clear();
    graph_.clear();
    graph_.check();
    return graph_.allocator().stats().granted == 0 ? "" : name() + ": pages are lost";
  }

 private:
  static std::string name() { return Space::name + std::string(", ") + Allocator::name; }
  // The seed of hashing is not random, so that a sequence does the same each time.
  static graph::options settings(sequence_header const& header) {
    graph::options o{.directed = (header.flags & 1) != 0,
                     .in_neighbours = (header.flags & 2) != 0,
                     .self_loops = (header.flags & 4) != 0};
    o.hash_seed = header.vertices + header.lane_order;
    if constexpr (!std::is_same_v<Value, sixteen_bytes>) o.combine = header.combine;
    if (header.vertices % 48 == 0) o.max_vertices = header.vertices + 100;
    o.pool = {.pool_bytes = std::size_t{256} << 10, .reserve_bytes = std::size_t{16} << 20, .checked = true};
    return o;
  }
  [[nodiscard]] basic_model<Value> empty_model() const {
    return basic_model<Value>(n_, graph_.settings().directed, graph_.settings().self_loops,
                              combining(graph_.settings().combine));
  }
  static typename basic_model<Value>::combine_type combining(graph::combiner how) {
    if constexpr (std::is_arithmetic_v<Value>) {
      if (how == graph::combiner::min) return [](Value a, Value b) { return std::min(a, b); };
      if (how == graph::combiner::max) return [](Value a, Value b) { return std::max(a, b); };
      if (how == graph::combiner::sum) return [](Value a, Value b) { return a + b; };
    }
    return {};
  }

  std::string one_or_error() {
    try {
      return one();
    } catch (std::exception const& e) {
      return e.what();
    }
  }
  std::string one() {
    std::uint8_t const op = bytes_.next();
    std::size_t const n = op >> 3;
    form_ = n + step_;
    switch (op & 7) {
      case 0: return updates<true>(edges(n));
      case 1: return applies(edges(n));
      case 2: return updates<false>(edges(n));
      case 3:
        if (n % 4 == 3) return changes_vertices(n / 4);
        if (n % 4 == 1) return queries(n / 4);
        return n % 4 == 2 ? erases_selected(n / 4) : updates<false>(edges(n));
      case 4: return updates<true>(row(64 * n));
      case 5: return updates<false>(row(64 * n));
      case 6: return fails(edges(n), bytes_.next());
      default:
        if (n % 8 == 4) return ends_a_snapshot();
        if (n % 8 == 5) return takes_a_snapshot();
        if (n % 4 == 0) {
          graph_.clear();
          model_.clear();
          return same({}, {});
        }
        if (n % 4 == 1) return compacts();
        if (n % 4 == 2) return rebuilds(n / 4);
        return refuses(n);
    }
  }

  // The attached result follows, or catches up afterwards.
  std::string changes_vertices(std::size_t form) {
    bool const removes = form % 2 == 0 && n_ - model_.absent().size() > 10;
    auto const change = [&] {
      return removes ? removes_vertices(1 + bytes_.next() % 9u) : adds_vertices(bytes_.next() % 24u);
    };
    if (!copy_ || form % 3 > 0) return change();
    graph::snapshot const then = graph_.snapshot();
    graph_.detach(*copy_);
    arc_copy<Space, Value> late = std::move(*copy_);
    copy_.reset();
    std::string const wrong = change();
    graph::catch_up(graph_.space(), late, then.view(), graph_.view());
    graph_.attach(copy_.emplace(std::move(late)));
    return wrong.empty() ? same({}, {}) : wrong;
  }
  // Some of the vertices may be absent, or repeat.
  std::string removes_vertices(std::size_t n) {
    std::vector<graph::vertex_id> batch;
    for (std::size_t i = 0; i < n; ++i) batch.push_back(static_cast<graph::vertex_id>(bytes_.next() * 29u % n_));
    if (form_ % 4 == 3) graph_.fail_allocations_from(bytes_.next() % 8);
    auto const got = unless_refused([&] { return remove(batch); }, error_code::out_of_memory);
    graph_.fail_allocations_from(graph_.never);
    if (!got) return same({}, {});
    graph::removal_report const want = model_.remove_vertices(batch);
    if (got->requested != want.requested || got->removed != want.removed || got->missing != want.missing ||
        got->duplicates != want.duplicates || got->edges != want.edges)
      return "the report of a removal is wrong";
    return same({}, {});
  }
  std::optional<graph::removal_report> remove(std::vector<graph::vertex_id> const& batch) {
    if (form_ % 2 == 0) return graph_.remove_vertices(batch);
    exec::buffer<graph::vertex_id, Space> there(graph_.space(), batch.size());
    exec::copy_in<graph::vertex_id>(graph_.space(), there.data(), batch);
    return graph_.remove_vertices(graph::resident_vertices(there.data(), batch.size()));
  }
  std::string adds_vertices(std::size_t n) {
    std::size_t const most = graph_.settings().max_vertices;
    std::size_t const fresh = n - std::min(n, model_.absent().size());
    if (most > 0 && n_ + fresh > most)
      return is_refused([&] { (void)graph_.add_vertices(n); }, error_code::bad_argument) ? same({}, {})
                                                                                         : "too many vertices";
    std::vector<graph::vertex_id> const got = graph_.add_vertices(n);
    if (got != model_.add_vertices(n)) return "new vertices have the wrong ids";
    n_ = static_cast<graph::vertex_id>(model_.vertices());
    return same({}, {});
  }

  // Queries of the graph, or of a snapshot.
  std::string queries(std::size_t form) {
    auto const kind = static_cast<unsigned>((form + step_) % sequence_queries<Space, Value>::kinds);
    bool const of_snapshot = !snapshots_.empty() && bytes_.next() % 2 == 0;
    if (!of_snapshot) {
      graph::csr const rows = model_.to_csr();
      std::vector<Value> const values = model_.values();
      return wrong_queries(kind, graph_.view(), rows, values);
    }
    basic_moment<Value> const& then = snapshots_[step_ % snapshots_.size()];
    return wrong_queries(kind, then.taken.view(), then.rows, then.values);
  }
  // Up to 39 entries that repeat; half of the pairs are arcs.
  std::string wrong_queries(unsigned kind, graph::graph_view const& g, graph::csr const& rows,
                            std::vector<Value> const& values) {
    std::size_t const n = rows.offsets.size() - 1;
    std::vector<graph::vertex_id> vertices;
    std::vector<graph::edge> pairs;
    std::size_t const entries = bytes_.next() % 40u;
    for (std::size_t i = 0; i < entries; ++i) {
      auto const u = static_cast<graph::vertex_id>(bytes_.next() * 29u % n);
      std::uint64_t const degree = rows.offsets[u + 1] - rows.offsets[u];
      vertices.push_back(u);
      pairs.push_back({u, i % 2 == 0 && degree > 0 ? rows.targets[rows.offsets[u] + bytes_.next() % degree]
                                                   : static_cast<graph::vertex_id>(bytes_.next() * 31u % n)});
    }
    if (sequence_queries<Space, Value>(graph_.space(), g, rows, values).is_wrong(kind, vertices, pairs, form_))
      return "the result of query " + std::to_string(kind) + " is wrong";
    return {};
  }
  // Erases the edges that a predicate selects.
  std::string erases_selected(std::size_t form) {
    sum_leaves const predicate{static_cast<graph::vertex_id>(5 + form), bytes_.next() % 5u};
    graph::update_report const got = graph_.erase_if(predicate);
    return same(got, model_.erase(model_.selected(predicate)));
  }

  // A batch of insertions and erasures.
  std::string applies(std::vector<graph::edge> const& batch) {
    draw_values(batch.size());
    std::vector<graph::operation> operations(batch.size());
    for (graph::operation& o : operations)
      o = bytes_.next() % 3 == 0 ? graph::operation::erase : graph::operation::insert;
    auto const with_values = [&](auto const& arcs, auto const* ops, auto const& values) {
      if constexpr (has_values)
        return graph_.apply(arcs, ops, values);
      else
        return graph_.apply(arcs, ops);
    };
    graph::update_report got;
    if (form_ % 2 == 0) {
      std::span<graph::operation const> const ops = operations;
      if constexpr (has_values)
        got = graph_.apply_async(batch, ops, std::span<Value const>(values_)).get();
      else
        got = graph_.apply_async(batch, ops).get();
    } else {
      exec::buffer<graph::edge, Space> there(graph_.space(), batch.size());
      exec::copy_in<graph::edge>(graph_.space(), there.data(), batch);
      exec::buffer<graph::operation, Space> ops(graph_.space(), batch.size());
      exec::copy_in<graph::operation>(graph_.space(), ops.data(), operations);
      exec::buffer<Value, Space> const values = resident_values();
      got = with_values(graph::resident_edges(there.data(), batch.size()), ops.data(), values.data());
    }
    return same(got, model_.apply(batch, operations, values_));
  }
  // Values for n entries, few enough that equal ones occur.
  void draw_values(std::size_t n) {
    values_.assign(has_values ? n : 0, Value{});
    if constexpr (std::is_arithmetic_v<Value>)
      for (Value& v : values_) v = static_cast<Value>(bytes_.next() % 5) - static_cast<Value>(std::is_signed_v<Value>);
    if constexpr (std::is_same_v<Value, sixteen_bytes>)
      for (Value& v : values_) v = {{bytes_.next() % 2u, 7, n_, static_cast<std::uint32_t>(step_ % 2)}};
  }
  [[nodiscard]] exec::buffer<Value, Space> resident_values() const {
    exec::buffer<Value, Space> there(graph_.space(), values_.size());
    if constexpr (has_values) exec::copy_in<Value>(graph_.space(), there.data(), values_);
    return there;
  }

  template <bool Inserts>
  std::string updates(std::vector<graph::edge> const& batch) {
    draw_values(Inserts ? batch.size() : 0);
    std::optional<graph::update_report> const got = update<Inserts>(batch, true);
    graph::update_report const want = Inserts ? model_.insert(batch, values_) : model_.erase(batch);
    if (!wrong_.empty()) return std::exchange(wrong_, {});
    return got ? same(*got, want) : same({}, {});
  }
  // Updates the graph in one of the forms. Without a report if the pending update is destroyed before get(), which
  // happens only where an error may be lost.
  template <bool Inserts>
  std::optional<graph::update_report> update(std::vector<graph::edge> const& batch, bool may_lose_errors) {
    if (form_ % 2 == 0)
      return from<Inserts>(std::span<graph::edge const>(batch), std::span<Value const>(values_), may_lose_errors);
    exec::buffer<graph::edge, Space> there(graph_.space(), batch.size());
    exec::copy_in<graph::edge>(graph_.space(), there.data(), batch);
    exec::buffer<Value, Space> const values = resident_values();
    return from<Inserts>(graph::resident_edges(there.data(), batch.size()), static_cast<Value const*>(values.data()),
                         may_lose_errors);
  }
  template <bool Inserts, class Batch, class Values>
  graph::pending_update start(Batch const& batch, [[maybe_unused]] Values const& values) {
    if constexpr (!Inserts)
      return graph_.erase_async(batch);
    else if constexpr (has_values)
      return graph_.insert_async(batch, values);
    else
      return graph_.insert_async(batch);
  }
  template <bool Inserts, class Batch, class Values>
  std::optional<graph::update_report> from(Batch const& batch, Values const& values, bool may_lose_errors) {
    if (form_ / 2 % 2 == 0) return start<Inserts>(batch, values).get();
    std::uint64_t const arcs = graph_.arcs();
    graph::pending_update pending = start<Inserts>(batch, values);
    switch (form_ / 4 % 4) {
      case 0: break;
      case 1:
        if (may_lose_errors) return std::nullopt;
        break;
      case 2:
        if (!is_empty(batch) && !is_busy()) wrong_ = "a graph with a pending update was read";
        if (graph_.arcs() != arcs) wrong_ = "a pending update has changed the number of arcs";
        break;
      default: {  // the graph moves, and comes back with its update done
        graph_type other(std::move(graph_));
        struct back {
          graph_type& to;
          graph_type& from;
          ~back() { to = std::move(from); }
        } const returned{graph_, other};
        return pending.get();
      }
    }
    return pending.get();
  }
  static bool is_empty(std::span<graph::edge const> batch) { return batch.empty(); }
  static bool is_empty(graph::resident_edges batch) { return batch.size == 0; }
  bool is_busy() {
    try {
      (void)graph_.to_csr();
    } catch (error const& e) {
      return e.code() == error_code::bad_argument;
    }
    return false;
  }

  std::string compacts() {
    if (snapshots_.empty()) {
      graph_.compact();
    } else if (!is_refused([&] { graph_.compact(); }, error_code::bad_argument)) {
      return "a graph with a snapshot was compacted";
    }
    return same({}, {});
  }

  std::string takes_a_snapshot() {
    if (snapshots_.size() >= 6) return ends_a_snapshot();
    snapshots_.push_back(moment_of(graph_, model_));
    return same({}, {});
  }
  // Ends any of them: the newest, the oldest, or one between others.
  std::string ends_a_snapshot() {
    if (snapshots_.empty()) return {};
    auto const at = snapshots_.begin() + static_cast<std::ptrdiff_t>(bytes_.next() % snapshots_.size());
    std::string const wrong = unlike_its_moment(graph_.space(), *at);
    snapshots_.erase(at);
    return wrong.empty() ? same({}, {}) : wrong;
  }
  // Builds the same graph from its CSR: from the host or from memory of the space, at once or in slices. Some builds
  // fail first, for a wrong number of arcs or without memory, and must leave the graph empty.
  std::string rebuilds(std::size_t form) {
    graph::csr const rows = graph_.to_csr();
    if constexpr (has_values) values_ = graph_.values();
    exec::buffer<Value, Space> const values = resident_values();
    graph_.clear();
    graph_.build_in_slices_of(form < 4 ? 0 : 1 + rows.targets.size() / 3);
    std::uint64_t const arcs = rows.targets.size();
    exec::buffer<std::uint64_t, Space> offsets(graph_.space(), rows.offsets.size());
    exec::buffer<graph::vertex_id, Space> targets(graph_.space(), rows.targets.size() + 1);
    exec::copy_in<std::uint64_t>(graph_.space(), offsets.data(), rows.offsets);
    exec::copy_in<graph::vertex_id>(graph_.space(), targets.data(), rows.targets);
    auto const build = [&](std::uint64_t count) {
      graph::resident_csr const there{offsets.data(), targets.data(), count};
      if constexpr (has_values)
        form % 2 == 0 ? graph_.build(rows, values_) : graph_.build(there, values.data());
      else
        form % 2 == 0 ? graph_.build(rows) : graph_.build(there);
    };
    if (!model_.absent().empty()) {
      if (!is_refused([&] { build(arcs); }, error_code::bad_argument)) return "a graph with absent vertices was built";
      std::size_t const absent = model_.absent().size();
      if (graph_.add_vertices(absent) != model_.add_vertices(absent)) return "new vertices have the wrong ids";
    }
    if (form == 5 && !is_refused([&] { build(arcs + 1); }, error_code::bad_argument))
      return "a CSR with a wrong number of arcs was accepted";
    if (form == 6 || form == 7) {
      graph_.fail_allocations_from(bytes_.next());
      bool const failed = is_refused([&] { build(arcs); }, error_code::out_of_memory);
      graph_.fail_allocations_from(graph_.never);
      if (!failed) return same({}, {});
      if (graph_.arcs() != 0 || graph_.to_csr().targets.size() != 0) return "a build that failed left arcs";
    }
    build(arcs);
    return same({}, {});
  }
  template <class F>
  static bool is_refused(F const& f, error_code wanted) {
    try {
      f();
    } catch (error const& e) {
      if (e.code() != wanted) throw;
      return true;
    }
    return false;
  }
  // The result of f(), or none if f throws that error.
  template <class F>
  static auto unless_refused(F const& f, error_code wanted) -> decltype(f()) {
    try {
      return f();
    } catch (error const& e) {
      if (e.code() != wanted) throw;
    }
    return std::nullopt;
  }
  // An insertion without memory from the k-th vertex on: either fails and changes nothing, or succeeds.
  std::string fails(std::vector<graph::edge> const& batch, std::uint64_t k) {
    draw_values(batch.size());
    graph_.fail_allocations_from(k);
    // nvcc 13.0 leaves garbage in a variable that a lambda should have assigned when it threw: so a function returns
    // it.
    auto const report = unless_refused([&] { return update<true>(batch, false); }, error_code::out_of_memory);
    graph_.fail_allocations_from(graph_.never);
    if (!wrong_.empty()) return std::exchange(wrong_, {});
    return report ? same(*report, model_.insert(batch, values_)) : same({}, {});
  }
  // A batch with an id out of range, or of an absent vertex.
  std::string refuses(std::size_t n) {
    std::vector<graph::edge> batch = edges(n);
    if (batch.empty()) return {};
    draw_values(batch.size());
    bool const absent = !model_.absent().empty() && n % 4 > 1;
    (n % 2 == 0 ? batch[n / 2].source : batch[n / 2].target) = absent ? *model_.absent().begin() : n_ + bytes_.next();
    bool const erases = !absent && n % 3 == 0;
    bool const refused = is_refused([&] { erases ? update<false>(batch, false) : update<true>(batch, false); },
                                    error_code::bad_argument);
    if (!wrong_.empty()) return std::exchange(wrong_, {});
    return refused ? same({}, {}) : "an id out of range was accepted";
  }

  // A vertex that is in the graph.
  graph::vertex_id vertex() { return present(bytes_.next() * 29u); }
  [[nodiscard]] graph::vertex_id present(std::size_t number) const {
    auto v = static_cast<graph::vertex_id>(number % n_);
    while (model_.absent().contains(v)) v = (v + 1) % n_;
    return v;
  }
  std::vector<graph::edge> const& edges(std::size_t n) {
    last_.clear();
    for (std::size_t i = 0; i < n; ++i) {
      graph::vertex_id const u = vertex();
      last_.push_back({u, vertex()});
    }
    return last_;
  }
  // Edges from one vertex to n vertices with consecutive ids.
  std::vector<graph::edge> const& row(std::size_t n) {
    last_.clear();
    graph::vertex_id const u = vertex();
    graph::vertex_id const first = vertex();
    for (std::size_t i = 0; i < n; ++i) last_.push_back({u, present(first + i)});
    return last_;
  }

  std::string same(graph::update_report const& got, graph::update_report const& want) {
    if (got.requested != want.requested || got.inserted != want.inserted || got.erased != want.erased ||
        got.updated != want.updated || got.unchanged != want.unchanged || got.missing != want.missing ||
        got.duplicates != want.duplicates || got.self_loops != want.self_loops)
      return "the report is wrong";
    try {
      graph_.check();
    } catch (error const& e) {
      return e.what();
    }
    if (graph_.to_csr() != model_.to_csr()) return "the neighbours are wrong";
    if (graph_.vertices() != n_ || graph_.present_vertices() != n_ - model_.absent().size())
      return "the number of vertices is wrong";
    if (copy_ && !copy_->wrong().empty()) return copy_->wrong();
    if (copy_ && copy_->to_csr(n_) != model_.to_csr()) return "the neighbours of the attached result are wrong";
    if (!snapshots_.empty())
      if (std::string wrong = unlike_its_moment(graph_.space(), snapshots_[step_ % snapshots_.size()]); !wrong.empty())
        return wrong;
    if constexpr (has_values)
      if (!std::ranges::equal(graph_.values(), model_.values(), basic_model<Value>::same))
        return "the values are wrong";
    if constexpr (has_values)
      if (copy_ && !std::ranges::equal(copy_->values(), model_.values(), basic_model<Value>::same))
        return "the values of the attached result are wrong";
    return "";
  }

  byte_reader& bytes_;
  graph::vertex_id n_;
  graph_type graph_;
  basic_model<Value> model_;
  std::optional<arc_copy<Space, Value>> copy_;  // attached
  std::vector<graph::edge> last_;
  std::vector<Value> values_;  // of the batch
  std::vector<basic_moment<Value>> snapshots_;
  std::size_t step_ = 0;  // the number of the operation
  std::size_t form_ = 0;  // of the operation
  std::string wrong_;     // what was seen while an update was pending
};

/// Runs a sequence on a graph with values; returns a description of the first failure, or an empty string.
template <class Allocator, class Space>
std::string run_with_values(Space const& space, sequence_header const& header, byte_reader& bytes) {
  switch (header.allocator()) {
    case 0: return sequence<Space, Allocator, std::uint32_t>(space, header, bytes).run();
    case 1: return sequence<Space, Allocator, float>(space, header, bytes).run();
    case 2: return sequence<Space, Allocator, double>(space, header, bytes).run();
    default: return sequence<Space, Allocator, sixteen_bytes>(space, header, bytes).run();
  }
}

}  // namespace wyrm::tests
