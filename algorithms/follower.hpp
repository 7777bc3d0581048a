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

/// A maintained result. It belongs to one graph, also when that is moved, and is told of each batch twice, before and
/// after the batch changes the graph. It remembers the id and the version of the graph, so that a change that it was
/// not told of is noticed. Move-constructible, and most can be assigned; what was moved from belongs to no graph. Not
/// thread-safe.
class follower {
 public:
  virtual ~follower() = default;

  /// The graph is about to insert the batch, or to erase it; ids may still turn out to be out of range. Requests all
  /// memory that after() and undo() need. Throws error(bad_argument) if this result does not belong to the graph in the
  /// state that g shows, or has been told of a batch that is not over yet; error(out_of_memory). On any error the
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
  follower(char const* name, graph::graph_view const& g) : name_(name), id_(g.graph_id()), version_(g.version()) {}
  follower(follower&& other) noexcept
      : name_(other.name_),
        id_(std::exchange(other.id_, 0)),
        version_(other.version_),
        next_version_(other.next_version_),
        state_(other.state_) {}
  follower& operator=(follower&& other) noexcept {
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
  enum class state : std::uint8_t { current, told, outdated };

  [[noreturn]] void refuse(std::string const& why) const {
    throw error(error_code::bad_argument, std::string(name_) + ": " + why);
  }
  // Once; the result is outdated unless f returns.
  template <class F>
  void finish(graph::graph_view const& g, std::uint64_t version, F const& f) {
    if (state_ != state::told) refuse("after() or undo() was called without before()");
    state_ = state::outdated;
    if (g.graph_id() != id_ || g.version() != version)
      refuse("the graph did not change by the batch that this result was told of; construct it again from the graph");
    f();
    version_ = version;
    state_ = state::current;
  }

  char const* name_;
  std::uint64_t id_;
  std::uint64_t version_;           // of the graph that this is the result of
  std::uint64_t next_version_ = 0;  // with the batch that it was told of
  state state_ = state::current;
};

inline void follower::before(graph::graph_view const& g, change what, std::span<graph::edge const> batch) {
  if (state_ == state::told)
    refuse(
        "this result was told of a batch twice; name it once in an update, and end each before() by after() or "
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
  state_ = state::told;
}
inline void follower::after(graph::graph_view const& g) {
  finish(g, next_version_, [&] { on_after(g); });
}
inline void follower::undo(graph::graph_view const& g) {
  finish(g, version_, [&] { on_undo(g); });
}

/// Inserts the edges into the graph, or erases them, as the graph itself does, and brings all followers up to date. If
/// the graph refuses the batch, memory is short, or a follower does not belong to the graph, that is thrown, and the
/// graph and all followers are as before. An error of the device is thrown, too; followers that it keeps from being
/// brought up to date, or back, are outdated then. Each follower says what an update costs.
template <class Graph>
graph::update_report update(Graph& g, change what, std::span<graph::edge const> batch,
                            std::span<follower* const> followers) {
  std::size_t told = 0;
  graph::update_report report;
  try {
    for (; told < followers.size(); ++told) followers[told]->before(g.view(), what, batch);
    report = what == change::insertion ? g.insert(batch) : g.erase(batch);
  } catch (...) {
    while (told > 0) {
      try {
        followers[--told]->undo(g.view());
      } catch (...) {  // of the device; the follower is outdated, and what came first is thrown
      }
    }
    throw;
  }
  std::exception_ptr failed;
  for (follower* const f : followers) {
    try {
      f->after(g.view());
    } catch (...) {
      if (!failed) failed = std::current_exception();
    }
  }
  if (failed) std::rethrow_exception(failed);
  return report;
}
template <class Graph, class... Followers>
graph::update_report insert(Graph& g, std::span<graph::edge const> batch, Followers&... followers) {
  std::array<follower*, sizeof...(Followers)> const all{&followers...};
  return update(g, change::insertion, batch, all);
}
template <class Graph, class... Followers>
graph::update_report erase(Graph& g, std::span<graph::edge const> batch, Followers&... followers) {
  std::array<follower*, sizeof...(Followers)> const all{&followers...};
  return update(g, change::erasure, batch, all);
}

}  // namespace wyrm::algorithms
