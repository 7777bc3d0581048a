// SPDX-License-Identifier: Apache-2.0
// A queue of batches for one graph from several producers. Threads push batches; one thread applies all batches in the
// queue as one update. There are two buffers, in host memory from which the space of the graph copies fastest:
// producers fill one while the other is applied.
//
// A batch gets its position and its number under a lock, and is copied without it. Waiting producers are served in the
// order of their calls, so none waits forever while the consumer continues. If a buffer is full, producers wait until
// the consumer takes it. The consumer waits only for copies that have begun.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "../exec/host_space.hpp"
#include "../exec/memory.hpp"
#include "batch/columns.hpp"
#include "batch/refuse.hpp"
#include "types.hpp"
#include "update_report.hpp"

namespace wyrm::graph {

namespace detail {
/// The type of the values of a graph.
template <class Graph>
struct value_type_of {
  using type = no_value;
};
template <class Graph>
requires requires { typename Graph::value_type; }
struct value_type_of<Graph> {
  using type = typename Graph::value_type;
};
}  // namespace detail

/// A bounded queue of batches in front of a dynamic_graph, whose values have the type Value, or an any_graph without
/// values. push(), try_push() and close() are thread-safe. The other members are for the consumer: one thread at a
/// time, the thread that uses the graph. The consumer must not call push(), because it could wait for itself.
template <class Value = no_value>
class update_queue {
  static constexpr bool has_values = !std::is_same_v<Value, no_value>;

 public:
  /// most_entries: how many entries wait at most, besides those that are being applied; no batch may be larger.
  /// Allocates two buffers of 9 bytes, and a value, per entry. Does not keep a reference to the graph. Throws
  /// error(out_of_memory), and error(bad_argument) if most_entries is 0, or for an any_graph with values.
  template <class Graph>
  update_queue(Graph const& graph, std::size_t most_entries) : most_(most_entries) {
    static_assert(std::is_same_v<typename detail::value_type_of<Graph>::type, Value>,
                  "a queue has the type of the values of its graph");
    if constexpr (!requires { typename Graph::value_type; })
      if (graph.settings().values != number_type::none)
        throw error(error_code::bad_argument,
                    "a queue of an any_graph has no values, and this graph has; use a dynamic_graph");
    if (most_entries == 0)
      throw error(error_code::bad_argument, "a queue of 0 entries takes no batch; it needs room for the largest one");
    for (side& s : sides_) allocate(graph.space(), s);
  }
  update_queue(update_queue const&) = delete;
  update_queue& operator=(update_queue const&) = delete;

  /// Appends a batch, with one operation per edge, and a value in an array or in the edge, and returns its number:
  /// batches are numbered 0, 1, 2, ... in the order in which they are appended, which is also the order in which they
  /// are applied. A batch becomes part of one update. Copies the arrays; waits while the queue is full. Throws
  /// error(bad_argument), and appends nothing, if the batch is larger than the queue, if the arrays differ in length,
  /// if a column has an id that no vertex can have (negative, or at least 2^32 - 1), or if the queue is closed, also
  /// while this call waits. Whether ids are vertices of the graph is checked when the batch is applied.
  std::uint64_t push(std::span<edge const> edges, std::span<operation const> operations) requires(!has_values) {
    return *append(edges, {}, operations, true);
  }
  std::uint64_t push(edge_columns const& edges, std::span<operation const> operations) requires(!has_values) {
    return *append(edges, {}, operations, true);
  }
  std::uint64_t push(std::span<edge const> edges, std::span<operation const> operations,
                     std::span<Value const> values) requires has_values {
    return *append(edges, values, operations, true);
  }
  std::uint64_t push(edge_columns const& edges, std::span<operation const> operations,
                     std::span<Value const> values) requires has_values {
    return *append(edges, values, operations, true);
  }
  std::uint64_t push(std::span<valued_edge<Value> const> edges,
                     std::span<operation const> operations) requires has_values {
    return *append(edges, {}, operations, true);
  }
  /// The same, but returns nothing instead of waiting: if there is no room, or other producers wait for room.
  std::optional<std::uint64_t> try_push(std::span<edge const> edges,
                                        std::span<operation const> operations) requires(!has_values) {
    return append(edges, {}, operations, false);
  }
  std::optional<std::uint64_t> try_push(edge_columns const& edges,
                                        std::span<operation const> operations) requires(!has_values) {
    return append(edges, {}, operations, false);
  }
  std::optional<std::uint64_t> try_push(std::span<edge const> edges, std::span<operation const> operations,
                                        std::span<Value const> values) requires has_values {
    return append(edges, values, operations, false);
  }
  std::optional<std::uint64_t> try_push(edge_columns const& edges, std::span<operation const> operations,
                                        std::span<Value const> values) requires has_values {
    return append(edges, values, operations, false);
  }
  std::optional<std::uint64_t> try_push(std::span<valued_edge<Value> const> edges,
                                        std::span<operation const> operations) requires has_values {
    return append(edges, {}, operations, false);
  }

  /// Ends the input: all later calls of push() and those that wait throw. Batches in the queue can still be applied.
  void close() {
    std::lock_guard const lock(mutex_);
    is_closed_ = true;
    room_.notify_all();
    arrival_.notify_all();
  }

  /// Waits until there is a batch to apply. Returns false if there is none and the queue is closed.
  [[nodiscard]] bool wait() {
    if (!taken().batches.empty()) return true;
    std::unique_lock lock(mutex_);
    arrival_.wait(lock, [&] { return is_closed_ || !filling().batches.empty(); });
    return !filling().batches.empty();
  }

  /// Applies all batches that have arrived as one update of the graph, and returns its report; an empty report if there
  /// is no batch. If the graph refuses the update, it is unchanged, and the batches stay at the head of the queue: the
  /// next call applies the same batches again, without later ones, unless drop_failed() is called before. Throws the
  /// errors of apply() of the graph. If ids are no vertices of the graph, the error names the number of the batch, and
  /// its entry. If an attached result fails after the graph has changed, the batches are applied, and leave the queue.
  template <class Graph>
  update_report apply_to(Graph& graph) {
    failed_ = {};
    if (taken().batches.empty()) take();
    side& s = taken();
    if (s.batches.empty()) return {};
    std::size_t const n = s.batches.back().end;
    std::span<edge const> const edges(s.edges, n);
    std::span<operation const> const operations(s.operations, n);
    update_report report;
    std::uint64_t const version = graph.view().version();
    try {
      if constexpr (has_values)
        report = graph.apply(edges, operations, std::span<Value const>(s.values, n));
      else
        report = graph.apply(edges, operations);
    } catch (detail::refused_entry const& e) {
      name(e);
    } catch (error const& e) {
      if (!has_changed(graph, version)) name(e);
      s.batches.clear();
      throw;
    } catch (...) {
      if (has_changed(graph, version))
        s.batches.clear();
      else
        failed_ = {0, s.batches.size()};
      throw;
    }
    s.batches.clear();
    return report;
  }

  /// After an error of apply_to(): discards the batch that the error named, or all batches of the update if the error
  /// named none. Returns the number of discarded batches; 0 if the last apply_to() did not throw.
  /// O(entries of the update).
  std::size_t drop_failed() {
    auto const [first, last] = std::exchange(failed_, {});
    if (first == last) return 0;
    side& s = taken();
    std::size_t const begin = s.begin_of(first);
    std::size_t const end = s.batches[last - 1].end;
    std::size_t const n = s.batches.back().end;
    std::copy(s.edges + end, s.edges + n, s.edges + begin);
    std::copy(s.operations + end, s.operations + n, s.operations + begin);
    if constexpr (has_values) std::copy(s.values + end, s.values + n, s.values + begin);
    for (std::size_t k = last; k < s.batches.size(); ++k) s.batches[k].end -= end - begin;
    auto const at = s.batches.begin();
    s.batches.erase(at + static_cast<std::ptrdiff_t>(first), at + static_cast<std::ptrdiff_t>(last));
    return last - first;
  }

 private:
  struct batch {
    std::size_t end;  // the place after its last entry
    std::uint64_t number;
  };
  struct side {
    std::shared_ptr<void> owners[3];
    edge* edges = nullptr;
    operation* operations = nullptr;
    Value* values = nullptr;
    std::vector<batch> batches;
    std::size_t copies = 0;  // copies into this side that are not complete

    [[nodiscard]] std::size_t begin_of(std::size_t k) const { return k == 0 ? 0 : batches[k - 1].end; }
  };
  /// Batches [first, last) of the side that is taken.
  struct range {
    std::size_t first = 0;
    std::size_t last = 0;
  };

  template <class Space>
  void allocate(Space const& space, side& s) const {
    auto const make = [&]<class T>(std::shared_ptr<void>& owner, T*& array) {
      auto const memory = std::make_shared<exec::staging_buffer<T, Space>>(space, most_);
      array = memory->data();
      owner = memory;
    };
    make(s.owners[0], s.edges);
    make(s.owners[1], s.operations);
    if constexpr (has_values) make(s.owners[2], s.values);
  }
  template <class... Spaces>
  void allocate(std::variant<Spaces...> const& space, side& s) const {
    std::visit([&](auto const& chosen) { allocate(chosen, s); }, space);
  }

  // Producers use filling() under the lock. Only the consumer changes which side that is, so it needs no lock to use
  // the other one.
  [[nodiscard]] side& filling() { return sides_[filling_]; }
  [[nodiscard]] side& taken() { return sides_[1 - filling_]; }

  /// A batch without entries needs room, too, so that their number is bounded.
  [[nodiscard]] bool has_room(std::size_t entries) {
    side& s = filling();
    return s.batches.size() < most_ && entries <= most_ - s.begin_of(s.batches.size());
  }
  // Entries: edge_columns, or a std::span of edge or of valued_edge<Value>, which have the values.
  template <class Entries>
  std::optional<std::uint64_t> append(Entries const& edges, std::span<Value const> values,
                                      std::span<operation const> operations, bool waits) {
    constexpr bool are_columns = std::is_same_v<Entries, edge_columns>;
    constexpr bool have_values = std::is_same_v<Entries, std::span<valued_edge<Value> const>>;
    constexpr bool needs_values = has_values && !have_values;
    check(edges.size(), operations.size(), needs_values ? values.size() : edges.size());
    if constexpr (are_columns) check_ids(edges.ids());
    std::unique_lock lock(mutex_);
    if (waits) {
      std::uint64_t const turn = last_turn_++;
      room_.wait(lock, [&] { return is_closed_ || (turn == turn_ && has_room(edges.size())); });
      ++turn_;
      room_.notify_all();
    }
    if (is_closed_)
      throw error(error_code::bad_argument, "the queue is closed, so it takes no more batches; nothing was appended");
    if (!waits && (turn_ != last_turn_ || !has_room(edges.size()))) return {};
    side& s = filling();
    std::size_t const begin = s.begin_of(s.batches.size());
    s.batches.push_back({begin + edges.size(), next_number_});
    std::uint64_t const number = next_number_++;
    ++s.copies;
    lock.unlock();
    if constexpr (are_columns)
      detail::convert(exec::host_space(1), edges.ids(), s.edges + begin);
    else if constexpr (!have_values)
      std::copy(edges.begin(), edges.end(), s.edges + begin);
    else
      for (std::size_t i = 0; i < edges.size(); ++i) {
        s.edges[begin + i] = {edges[i].source, edges[i].target};
        s.values[begin + i] = edges[i].value;
      }
    if constexpr (needs_values) std::copy(values.begin(), values.end(), s.values + begin);
    std::copy(operations.begin(), operations.end(), s.operations + begin);
    lock.lock();
    --s.copies;
    arrival_.notify_all();
    return number;
  }
  void check(std::size_t edges, std::size_t operations, std::size_t values) const {
    if (operations != edges || values != edges)
      throw error(error_code::bad_argument,
                  "a batch of " + std::to_string(edges) + " edges needs as many operations" +
                      (has_values ? " and values" : "") + ", not " + std::to_string(operations) +
                      (has_values ? " and " + std::to_string(values) : "") + "; nothing was appended");
    if (edges > most_)
      throw error(error_code::bad_argument, "a batch of " + std::to_string(edges) +
                                                " edges is larger than the queue, which has room for " +
                                                std::to_string(most_) + "; split it, or make the queue larger");
  }

  static void check_ids(detail::id_columns const& ids) {
    detail::with_id_type(ids.type, [&]<class Id>(Id) {
      auto const* const sources = static_cast<Id const*>(ids.sources);
      auto const* const targets = static_cast<Id const*>(ids.targets);
      auto const is_vertex = [](Id id) { return detail::columns_to_edges<Id>::vertex(id) != no_vertex; };
      for (std::size_t i = 0; i < ids.size; ++i)
        if (!is_vertex(sources[i]) || !is_vertex(targets[i]))
          throw error(error_code::bad_argument, "edge " + std::to_string(i) + " is (" + detail::id_text(sources[i]) +
                                                    ", " + detail::id_text(targets[i]) +
                                                    "): ids must be at least 0 and less than " +
                                                    std::to_string(no_vertex) + "; nothing was appended");
    });
  }

  // Makes the side that producers fill the one that is taken, which was empty.
  void take() {
    std::unique_lock lock(mutex_);
    filling_ = 1 - filling_;
    room_.notify_all();
    arrival_.wait(lock, [&] { return taken().copies == 0; });
  }
  template <class Graph>
  static bool has_changed(Graph const& graph, std::uint64_t version) {
    return graph.view().version() != version;
  }
  // Throws the error of an update of the batches that are taken, with the names that producers know.
  [[noreturn]] void name(detail::refused_entry const& e) {
    side const& s = taken();
    std::size_t k = 0;
    while (s.batches[k].end <= e.entry()) ++k;
    failed_ = {k, k + 1};
    throw error(e.code(), "edge " + std::to_string(e.entry() - s.begin_of(k)) + " of batch " +
                              std::to_string(s.batches[k].number) + " of the queue is " + e.reason() +
                              ": call drop_failed() to go on without this batch");
  }
  [[noreturn]] void name(error const& e) {
    side const& s = taken();
    failed_ = {0, s.batches.size()};
    throw error(e.code(), std::string(e.what()) + " (an update of the queue's batches " +
                              std::to_string(s.batches.front().number) + " to " +
                              std::to_string(s.batches.back().number) + ", which stay in the queue)");
  }

  std::size_t most_;
  side sides_[2];
  range failed_;  // by the last apply_to()
  std::mutex mutex_;
  std::condition_variable room_;     // for producers
  std::condition_variable arrival_;  // for the consumer: a batch, or the end of a copy
  // Under the lock:
  unsigned filling_ = 0;
  bool is_closed_ = false;
  std::uint64_t next_number_ = 0;
  std::uint64_t turn_ = 0;       // the producer that is served
  std::uint64_t last_turn_ = 0;  // one more than that of the producer that came last
};
template <class Graph>
update_queue(Graph const&, std::size_t) -> update_queue<typename detail::value_type_of<Graph>::type>;

}  // namespace wyrm::graph
