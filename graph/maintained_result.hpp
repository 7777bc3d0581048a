// SPDX-License-Identifier: Apache-2.0
// Maintained results: results of algorithms that are updated with each change of a dynamic graph. They are attached to
// the graph, any number to one graph. A change updates the graph and all of them, or nothing.
//
//   incremental_pagerank ranks(g);
//   incremental_triangles triangles(g);
//   g.attach(ranks);
//   g.attach(triangles);
//   g.insert(batch);  // updates both results, too
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../exec/error.hpp"
#include "../exec/stream_identity.hpp"
#include "graph_change.hpp"
#include "view.hpp"

namespace wyrm::graph {

class maintained_result;

namespace detail {
/// The results that are attached to one graph, in the order of their attachment. It does not move, as results point to
/// it.
class result_list {
 public:
  result_list() = default;
  result_list(result_list&&) = delete;
  ~result_list();

  [[nodiscard]] bool empty() const { return all_.empty(); }
  void add(maintained_result& result);
  /// Returns false if the result is not in the list.
  bool remove(maintained_result& result) noexcept;
  void replace(maintained_result& old, maintained_result& by) noexcept;
  /// Whether one of the results needs values.
  [[nodiscard]] bool needs_values() const;
  /// Whether one of the results needs weights.
  [[nodiscard]] bool needs_weights() const;

  /// Prepares all results for a change; if one throws, the others are restored.
  void before(graph_view const& g, graph_change const& change);
  /// Finishes the change. Throws the first error, after all results were called.
  void after(graph_view const& g);
  /// Restores all results. An error of the device leaves a result outdated; it is not thrown, as another error is.
  void undo(graph_view const& g) noexcept { undo(g, all_.size()); }

 private:
  void undo(graph_view const& g, std::size_t prepared) noexcept;

  std::vector<maintained_result*> all_;
};
}  // namespace detail

/// A maintained result. It belongs to one graph, also after that graph is moved, and uses the space and the stream of
/// that graph. While it is attached to the graph, every change calls before() and then after() or undo(). The result
/// stores the id and the version of its graph, so it detects every change of the graph that was made without it. While
/// an asynchronous update is pending, its values are undefined.
///
/// All results are move-constructible, and most are assignable. A move moves the attachment. A moved-from result
/// belongs to no graph, and can only be assigned to and destroyed. A result is detached when it is destroyed or
/// assigned to, and when its graph is destroyed. Not thread-safe: the thread that uses the graph attaches, moves and
/// destroys results.
class maintained_result {
 public:
  virtual ~maintained_result() { detach(); }

  /// Called before a change of the graph. Requests all memory that after() and undo() need. Throws error(bad_argument)
  /// if this result does not belong to the graph in the state that g shows, or if an earlier before() has not been
  /// followed by after() or undo(); error(out_of_memory). After any error the result is unchanged.
  void before(graph_view const& g, graph_change const& change);
  /// Called after the change. Never fails for lack of memory of the space. After an error of the device, if g is not
  /// the graph of before() with that change applied, or if the result does not accept the value of an edge (see
  /// needs_weights()), the result is outdated: every later before() throws.
  void after(graph_view const& g) { finish(g, next_version_, &maintained_result::on_after); }
  /// Called if the graph has refused the change and is as it was. Restores the result that existed before before().
  /// Errors: as after().
  void undo(graph_view const& g) { finish(g, version_, &maintained_result::on_undo); }

  /// Whether this result is up to date for the graph that g shows.
  [[nodiscard]] bool belongs_to(graph_view const& g) const {
    return state_ == state::current && id_ != 0 && id_ == g.graph_id() && version_ == g.version();
  }
  [[nodiscard]] bool is_attached() const { return list_ != nullptr; }
  /// The stream that this result works on; nothing if it did not say so.
  [[nodiscard]] std::optional<exec::stream_identity> const& stream() const { return stream_; }

  /// Throws error(bad_argument), which says why, if this result is not up to date for the graph that g shows.
  void require_up_to_date(graph_view const& g) const;
  /// Throws error(bad_argument) if this result works on another stream than the space with this identity: it would
  /// read changes of a graph on that space before they are there.
  void require_stream(exec::stream_identity const& of_graph) const {
    if (stream_ && *stream_ != of_graph)
      refuse(
          "the result works on another stream than the graph; construct it with the space of the graph, g.space(); "
          "nothing was changed");
  }

 protected:
  /// name: the name of the result in messages. g: the graph that the result is computed from. stream: the identity() of
  /// the space that the result works on; a result that enqueues no work, or waits for it itself, needs none.
  maintained_result(char const* name, graph_view const& g, std::optional<exec::stream_identity> stream = {})
      : name_(name), stream_(stream), id_(g.graph_id()), version_(g.version()) {}
  maintained_result(maintained_result&& other) noexcept : name_(other.name_) { take(other); }
  maintained_result& operator=(maintained_result&& other) noexcept {
    if (this == &other) return *this;
    detach();
    take(other);
    return *this;
  }

  /// The work of before(), after() and undo(), after the checks of the graph. on_before() requests all memory first,
  /// and changes nothing if a request fails; on_after() and on_undo() request none. The arrays of the change are valid
  /// until on_after() or on_undo() has returned.
  virtual void on_before(graph_view const& g, graph_change const& change) = 0;
  virtual void on_after(graph_view const& g) = 0;
  virtual void on_undo(graph_view const& g) = 0;

 public:
  /// Whether this result depends on the values of edges: changes then list the edges whose values may change, in
  /// graph_change::revalued. The answer does not change while the result is attached.
  [[nodiscard]] virtual bool needs_values() const { return false; }
  /// Whether this result only accepts weights as values: finite numbers that are not negative. The graph then refuses
  /// changes that give an edge another value. The answer does not change while the result is attached.
  [[nodiscard]] virtual bool needs_weights() const { return false; }

 private:
  friend detail::result_list;
  enum class state : std::uint8_t { current, updating, outdated };

  [[noreturn]] void refuse(std::string const& why) const {
    throw error(error_code::bad_argument, std::string(name_) + ": " + why);
  }
  void detach() noexcept {
    if (list_ != nullptr) (void)list_->remove(*this);
  }
  // Out of the list. A change that is being made goes on without this result.
  void leave() noexcept {
    list_ = nullptr;
    if (state_ == state::updating) state_ = state::outdated;
  }
  void take(maintained_result& other) noexcept {
    name_ = other.name_;
    stream_ = other.stream_;
    id_ = std::exchange(other.id_, 0);
    version_ = other.version_;
    next_version_ = other.next_version_;
    state_ = std::exchange(other.state_, state::current);
    if (other.list_ != nullptr) other.list_->replace(other, *this);
  }
  // Runs a step. The result is outdated unless it returns.
  void finish(graph_view const& g, std::uint64_t version, void (maintained_result::*step)(graph_view const&));

  char const* name_;
  std::optional<exec::stream_identity> stream_;
  std::uint64_t id_ = 0;
  std::uint64_t version_ = 0;       // of the graph, for which this result is up to date
  std::uint64_t next_version_ = 0;  // of the graph after the change that is being made
  state state_ = state::current;
  detail::result_list* list_ = nullptr;  // nullptr: not attached
};

inline void maintained_result::require_up_to_date(graph_view const& g) const {
  if (state_ == state::updating)
    refuse(
        "before() was called twice; use each result for one change at a time, and call after() or undo() after each "
        "before(); nothing was changed");
  if (id_ == 0 || g.graph_id() != id_)
    refuse("this is the result of another graph; construct one from this graph; nothing was changed");
  if (state_ == state::outdated)
    refuse(
        "an earlier change could not be applied to this result; detach it, and construct it again from the graph; "
        "nothing was changed");
  if (g.version() != version_)
    refuse("this is the result of version " + std::to_string(version_) + " of the graph, and not of version " +
           std::to_string(g.version()) +
           "; construct it again from the graph, or catch_up() from a snapshot of that version, and attach() it so "
           "that no change is missed; nothing was changed");
}
inline void maintained_result::before(graph_view const& g, graph_change const& change) {
  require_up_to_date(g);
  on_before(g, change);
  next_version_ = change.next_version;
  state_ = state::updating;
}
inline void maintained_result::finish(graph_view const& g, std::uint64_t version,
                                      void (maintained_result::*step)(graph_view const&)) {
  if (state_ != state::updating) refuse("after() or undo() was called without before()");
  state_ = state::outdated;
  if (g.graph_id() != id_ || g.version() != version)
    refuse("the graph has not made the change that this result was updated for; construct it again from the graph");
  (this->*step)(g);
  version_ = version;
  state_ = state::current;
}

namespace detail {

inline result_list::~result_list() {
  for (maintained_result* const result : all_) result->leave();
}
inline void result_list::add(maintained_result& result) {
  if (result.list_ != nullptr) result.refuse("the result is attached already; nothing was changed");
  all_.push_back(&result);
  result.list_ = this;
}
inline bool result_list::remove(maintained_result& result) noexcept {
  if (result.list_ != this) return false;
  std::erase(all_, &result);
  result.leave();
  return true;
}
inline void result_list::replace(maintained_result& old, maintained_result& by) noexcept {
  *std::find(all_.begin(), all_.end(), &old) = &by;
  by.list_ = std::exchange(old.list_, nullptr);
}
inline bool result_list::needs_values() const {
  return std::ranges::any_of(all_, [](maintained_result const* r) { return r->needs_values(); });
}
inline bool result_list::needs_weights() const {
  return std::ranges::any_of(all_, [](maintained_result const* r) { return r->needs_weights(); });
}
inline void result_list::before(graph_view const& g, graph_change const& change) {
  std::size_t prepared = 0;
  try {
    for (; prepared < all_.size(); ++prepared) all_[prepared]->before(g, change);
  } catch (...) {
    undo(g, prepared);
    throw;
  }
}
inline void result_list::after(graph_view const& g) {
  std::exception_ptr failed;
  for (maintained_result* const result : all_) {
    try {
      result->after(g);
    } catch (...) {
      if (!failed) failed = std::current_exception();
    }
  }
  if (failed) std::rethrow_exception(failed);
}
inline void result_list::undo(graph_view const& g, std::size_t prepared) noexcept {
  while (prepared > 0) {
    try {
      all_[--prepared]->undo(g);
    } catch (...) {  // the result is outdated
    }
  }
}

}  // namespace detail

}  // namespace wyrm::graph
