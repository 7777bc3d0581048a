// SPDX-License-Identifier: Apache-2.0
// A space can be bound to a memory manager: a copy of the space made by `managed_by(manager)`. The manager then
// provides the address ranges of the space (those of `reservation`), and may exchange the memory behind them while no
// work of the space runs. All objects on the bound space (pools, graphs, results) use its memory.
#pragma once

#include <cstddef>

#include "memory_kind.hpp"

namespace wyrm::exec {

/// Thread-safe. It must outlive the spaces that are bound to it, and all objects on them.
class memory_manager {
 public:
  virtual ~memory_manager() = default;

  /// The calling thread begins to enqueue work on the space. Until the matching end() no memory moves. Calls nest: each
  /// launch and each copy has a pair of calls, and so has each public operation around them. May throw.
  virtual void begin() = 0;
  /// The calling thread has enqueued its work. After the last end() memory may move, as soon as the work that is then
  /// on the space is complete.
  virtual void end() noexcept = 0;

  /// Address ranges, as those of a space, of memory_kind::device. Throw error(out_of_memory).
  [[nodiscard]] virtual void* reserve(std::size_t bytes, use_rate rate) = 0;
  virtual void commit(void* base, std::size_t from, std::size_t to) = 0;
  virtual void unreserve(void* base, std::size_t reserved, std::size_t committed) noexcept = 0;
  /// The most memory that a range can have.
  [[nodiscard]] virtual std::size_t range_limit() const = 0;

  /// allocating() is called before an array in device memory, outside the ranges, is allocated: the manager makes room
  /// for it, or throws error(out_of_memory). freed() is called after the array is freed.
  virtual void allocating(std::size_t bytes) = 0;
  virtual void freed(std::size_t bytes) noexcept = 0;
  /// How many bytes of arrays could be allocated now without waiting for others, if all ranges that may leave the
  /// device left it. An estimate: others may take memory before, and other processes may have it.
  [[nodiscard]] virtual std::size_t room_for_arrays() const = 0;
  /// How many of the first bytes of a range are in host memory now; they are committed.
  [[nodiscard]] virtual std::size_t in_host_memory(void const* base, std::size_t bytes) const = 0;
};

/// Calls begin() of a manager, if there is one, and end() in the destructor.
class managed_work {
 public:
  explicit managed_work(memory_manager* manager) : manager_(manager) {
    if (manager_ != nullptr) manager_->begin();
  }
  ~managed_work() {
    if (manager_ != nullptr) manager_->end();
  }
  managed_work(managed_work const&) = delete;
  managed_work& operator=(managed_work const&) = delete;

 private:
  memory_manager* manager_;
};

/// Allocates an array by f(), and tells the manager, if there is one.
template <class F>
[[nodiscard]] void* allocate_managed(memory_manager* manager, std::size_t bytes, F const& f) {
  if (manager == nullptr) return f();
  manager->allocating(bytes);
  try {
    return f();
  } catch (...) {
    manager->freed(bytes);
    throw;
  }
}

}  // namespace wyrm::exec
