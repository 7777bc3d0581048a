// SPDX-License-Identifier: Apache-2.0
// An update that is enqueued on the stream of its graph's space, and not finished.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "../exec/error.hpp"
#include "update_report.hpp"

namespace wyrm::graph {

namespace detail {
/// The common state of a graph and its pending update. At most one update of a graph is pending.
template <class Graph>
struct update_link {
  Graph* graph;  // nullptr after the destruction of the graph
  bool is_pending = false;
};
}  // namespace detail

/// An enqueued update. Movable, not copyable. The thread that uses the graph must finish it.
class pending_update {
 public:
  explicit pending_update(std::function<update_report()> finish) : finish_(std::move(finish)) {}
  pending_update(pending_update&& other) noexcept : finish_(std::exchange(other.finish_, nullptr)) {}
  pending_update& operator=(pending_update&&) = delete;
  /// Finishes an update whose get() was not called; an error of that update is lost.
  ~pending_update() {
    if (!finish_) return;
    try {
      (void)get();
    } catch (...) {  // a destructor must not throw
    }
  }
  /// Waits for the update, performs the steps that need the host (growth of the pool, and plans of large source
  /// groups), and returns the report. Throws the errors of insert() and erase(). Can be called once: throws
  /// error(bad_argument) if the update is finished or moved from, or its graph is destroyed.
  update_report get() {
    if (!finish_)
      throw error(error_code::bad_argument, "get() was called before on this update, or the update was moved from");
    return std::exchange(finish_, nullptr)();
  }

 private:
  std::function<update_report()> finish_;
};

}  // namespace wyrm::graph
