// SPDX-License-Identifier: Apache-2.0
// Maintained results: they are kept up to date while a graph changes, any number of them at one graph.
//
//   incremental_pagerank ranks(g);
//   incremental_triangles triangles(g);
//   algorithms::insert(g, batch, ranks, triangles);   // g.insert(batch), and both are up to date
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <utility>

#include "../exec/error.hpp"
#include "../graph/report.hpp"
#include "../graph/types.hpp"
#include "../graph/view.hpp"

namespace wyrm::algorithms {

enum class change : std::uint8_t { insertion, erasure };

/// A maintained result. It belongs to one graph, also when that is moved, and is prepared of each batch twice, before
/// and after the batch changes the graph. It remembers the id and the version of the graph, so that a change that it
/// was not prepared of is noticed. Move-constructible, and most can be assigned; what was moved from belongs to no
/// graph. Not thread-safe.
class maintained_result {
 public:
  virtual ~maintained_result() = default;

  /// The graph is about to insert the batch, or to erase it; ids may still turn out to be out of range. Requests all
  /// memory that after() and undo() need. Throws error(bad_argument) if this result does not belong to the graph in the
  /// state that g shows, or has been prepared of a batch that is not over yet; error(out_of_memory). On any error the
  /// result is as before.
  void before(graph::graph_view const& g, change what, std::span<graph::edge const> batch);
  /// The batch has changed the graph. Never fails for want of memory of the space. On an error of the device, or if g
  /// is not the graph of before() with that batch, the result is outdated: before() throws from then on.
  void after(graph::graph_view const& g);
  /// The graph has refused the batch: it is as it was, and so is this result afterwards. Errors: as after().
  void undo(graph::graph_view const& g);

  /// Whether this is the result of the graph as it is now.
  [[nodiscard]] bool belongs_to(graph::graph_view const& g) const {
    return state_ == state::current && id_ != 0 && id_ == g.graph_id() && version_ == g.version();
  }

 protected:
  /// name: of the result, for messages. g: what it is the result of.
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

  /// What before(), after() and undo() do once the graph has been checked. on_before() requests all memory, first, and
  /// changes nothing if there is none; the other two request none.
  virtual void on_before(graph::graph_view const& g, change what, std::span<graph::edge const> batch) = 0;
  virtual void on_after(graph::graph_view const& g) = 0;
  virtual void on_undo(graph::graph_view const& g) = 0;

 private:
  enum class state : std::uint8_t { current, updating, outdated };

  [[noreturn]] void refuse(std::string const& why) const {
    throw error(error_code::bad_argument, std::string(name_) + ": " + why);
  }
  // Once; the result is outdated unless f returns.
  template <class F>
  void finish(graph::graph_view const& g, std::uint64_t version, F const& f) {
    if (state_ != state::updating) refuse("after() or undo() was called without before()");
    state_ = state::outdated;
    if (g.graph_id() != id_ || g.version() != version)
      refuse(
          "the graph did not change by the batch that this result was prepared of; construct it again from the graph");
    f();
    version_ = version;
    state_ = state::current;
  }

  char const* name_;
  std::uint64_t id_;
  std::uint64_t version_;           // of the graph that this is the result of
  std::uint64_t next_version_ = 0;  // with the batch that it was prepared of
  state state_ = state::current;
};

inline void maintained_result::before(graph::graph_view const& g, change what, std::span<graph::edge const> batch) {
  if (state_ == state::updating)
    refuse(
        "this result was prepared of a batch twice; name it once in an update, and end each before() by after() or "
        "undo(); nothing was changed");
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
           " times without this result; construct it again from the graph, and change the graph by "
           "algorithms::insert() and erase() alone, with this result named; nothing was changed");
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

/// Inserts the edges into the graph, or erases them, as the graph itself does, and brings all results up to date. If
/// the graph refuses the batch, memory is short, or a maintained_result does not belong to the graph, that is thrown,
/// and the graph and all results are as before. An error of the device is thrown, too; results that it keeps from being
/// brought up to date, or back, are outdated then. Each maintained_result says what an update costs.
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
      } catch (...) {  // of the device; the maintained_result is outdated, and what came first is thrown
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
