// SPDX-License-Identifier: Apache-2.0
// Maintained results: results of algorithms that are updated with each batch of a dynamic graph. One graph may have any
// number of them. An update changes the graph and all of them, or nothing.
//
//   incremental_pagerank ranks(g);
//   incremental_triangles triangles(g);
//   algorithms::insert(g, batch, ranks, triangles);   // g.insert(batch), and an update of both results
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <utility>

#include "../exec/error.hpp"
#include "../graph/types.hpp"
#include "../graph/update_report.hpp"
#include "../graph/view.hpp"

namespace wyrm::algorithms {

enum class change : std::uint8_t { insertion, erasure };

/// A maintained result. It belongs to one graph, also after that graph is moved. Each update calls before() and then
/// after() or undo(). The result stores the id and the version of its graph, so it detects every change of the graph
/// that was made without it. All results are move-constructible, and most are assignable; a moved-from result belongs
/// to no graph. Not thread-safe.
class maintained_result {
 public:
  virtual ~maintained_result() = default;

  /// Called before the graph inserts or erases the batch. Ids in the batch may be out of range; the graph checks them
  /// later. Requests all memory that after() and undo() need. Throws error(bad_argument) if this result does not belong
  /// to the graph in the state that g shows, or if an earlier before() has not been followed by after() or undo();
  /// error(out_of_memory). After any error the result is unchanged.
  void before(graph::graph_view const& g, change what, std::span<graph::edge const> batch);
  /// Called after the batch has changed the graph. Never fails for lack of memory of the space. After an error of the
  /// device, or if g is not the graph of before() with that batch applied, the result is outdated: every later before()
  /// throws.
  void after(graph::graph_view const& g);
  /// Called if the graph has refused the batch and is unchanged. Restores the result that existed before before().
  /// Errors: as after().
  void undo(graph::graph_view const& g);

  /// Whether this result is up to date for the graph that g shows.
  [[nodiscard]] bool belongs_to(graph::graph_view const& g) const {
    return state_ == state::current && id_ != 0 && id_ == g.graph_id() && version_ == g.version();
  }

 protected:
  /// name: the name of the result in messages. g: the graph that the result is computed from.
  maintained_result(char const* name, graph::graph_view const& g)
      : name_(name), id_(g.graph_id()), version_(g.version()) {}
  maintained_result(maintained_result&& other) noexcept
      : name_(other.name_),
        id_(std::exchange(other.id_, 0)),
        version_(other.version_),
        next_version_(other.next_version_),
        state_(other.state_) {}
  maintained_result& operator=(maintained_result&& other) noexcept {
    name_ = other.name_;
    id_ = std::exchange(other.id_, 0);
    version_ = other.version_;
    next_version_ = other.next_version_;
    state_ = other.state_;
    return *this;
  }

  /// The work of before(), after() and undo(), after the checks of the graph. on_before() requests all memory first,
  /// and changes nothing if a request fails; on_after() and on_undo() request none.
  virtual void on_before(graph::graph_view const& g, change what, std::span<graph::edge const> batch) = 0;
  virtual void on_after(graph::graph_view const& g) = 0;
  virtual void on_undo(graph::graph_view const& g) = 0;

 private:
  enum class state : std::uint8_t { current, updating, outdated };

  [[noreturn]] void refuse(std::string const& why) const {
    throw error(error_code::bad_argument, std::string(name_) + ": " + why);
  }
  // Runs f once. The result is outdated unless f returns.
  template <class F>
  void finish(graph::graph_view const& g, std::uint64_t version, F const& f) {
    if (state_ != state::updating) refuse("after() or undo() was called without before()");
    state_ = state::outdated;
    if (g.graph_id() != id_ || g.version() != version)
      refuse(
          "the graph has not changed by the batch that this result was updated for; construct it again from the graph");
    f();
    version_ = version;
    state_ = state::current;
  }

  char const* name_;
  std::uint64_t id_;
  std::uint64_t version_;           // of the graph, for which this result is up to date
  std::uint64_t next_version_ = 0;  // of the graph after the batch that is being applied
  state state_ = state::current;
};

inline void maintained_result::before(graph::graph_view const& g, change what, std::span<graph::edge const> batch) {
  if (state_ == state::updating)
    refuse(
        "before() was called twice; pass each result once to an update, and call after() or undo() after each "
        "before(); nothing was changed");
  if (id_ == 0 || g.graph_id() != id_)
    refuse(
        "this is the result of another graph than the one that is updated; construct one from this graph; nothing "
        "was changed");
  if (state_ == state::outdated)
    refuse(
        "an earlier batch could not be applied to this result; construct it again from the graph; nothing was "
        "changed");
  if (g.version() != version_)
    refuse("the graph has changed " + std::to_string(g.version() - version_) +
           " times without this result; construct it again from the graph, and change the graph only by "
           "algorithms::insert() and erase() with this result as an argument; nothing was changed");
  on_before(g, what, batch);
  next_version_ = version_ + (batch.empty() ? 0 : 1);
  state_ = state::updating;
}
inline void maintained_result::after(graph::graph_view const& g) {
  finish(g, next_version_, [&] { on_after(g); });
}
inline void maintained_result::undo(graph::graph_view const& g) {
  finish(g, version_, [&] { on_undo(g); });
}

/// Inserts the edges into the graph, or erases them, as the graph itself does, and updates all results. If the graph
/// refuses the batch, memory runs out, or a result does not belong to the graph, that error is thrown, and the graph
/// and all results are unchanged. An error of the device is thrown, too; a result that could then neither be updated
/// nor restored is outdated. The cost of an update is documented at each result.
template <class Graph>
graph::update_report update(Graph& g, change what, std::span<graph::edge const> batch,
                            std::span<maintained_result* const> results) {
  std::size_t prepared = 0;
  graph::update_report report;
  try {
    for (; prepared < results.size(); ++prepared) results[prepared]->before(g.view(), what, batch);
    report = what == change::insertion ? g.insert(batch) : g.erase(batch);
  } catch (...) {
    while (prepared > 0) {
      try {
        results[--prepared]->undo(g.view());
      } catch (...) {  // an error of the device: the result is outdated, and the first error is thrown
      }
    }
    throw;
  }
  std::exception_ptr failed;
  for (maintained_result* const result : results) {
    try {
      result->after(g.view());
    } catch (...) {
      if (!failed) failed = std::current_exception();
    }
  }
  if (failed) std::rethrow_exception(failed);
  return report;
}
template <class Graph, class... Results>
graph::update_report insert(Graph& g, std::span<graph::edge const> batch, Results&... results) {
  std::array<maintained_result*, sizeof...(Results)> const all{&results...};
  return update(g, change::insertion, batch, all);
}
template <class Graph, class... Results>
graph::update_report erase(Graph& g, std::span<graph::edge const> batch, Results&... results) {
  std::array<maintained_result*, sizeof...(Results)> const all{&results...};
  return update(g, change::erasure, batch, all);
}

}  // namespace wyrm::algorithms
