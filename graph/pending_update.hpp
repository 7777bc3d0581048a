// SPDX-License-Identifier: Apache-2.0
// An update that was started on the stream of its graph's space and is not finished yet.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "../exec/error.hpp"
#include "report.hpp"

namespace wyrm::graph {

namespace detail {
/// What a graph and its pending update know of each other. One update of a graph is pending at a time.
template <class Graph>
struct update_link {
  Graph* graph;  // where the graph is; nullptr after its destruction
  bool is_pending = false;
};
}  // namespace detail

/// An update that was started. Movable, not copyable. It must be finished by the thread that uses the graph.
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
    } catch (...) {  // a destructor cannot pass it on
    }
  }
  /// Waits for the update, does what only the host can do (where memory has to grow, or the batch is very uneven), and
  /// returns the report. Throws what insert() and erase() throw. To be called once: throws error(bad_argument) for an
  /// update that was finished before, was moved from, or whose graph was destroyed.
  update_report get() {
    if (!finish_)
      throw error(error_code::bad_argument, "get() was called before on this update, or the update was moved from");
    return std::exchange(finish_, nullptr)();
  }

 private:
  std::function<update_report()> finish_;
};

}  // namespace wyrm::graph
