// SPDX-License-Identifier: Apache-2.0
// The memory of spaces that are bound to a client: its address ranges are regions, and work on such a space uses all of
// them.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "../../exec/memory_manager.hpp"
#include "core.hpp"

namespace wyrm::alloc::residency::detail {

/// begin() begins a launch that uses all regions of the client, and the last end() finishes it. The next begin()
/// continues the launch if nothing has moved in between, so a client without competitors pays only for a lock and an
/// event.
class client_memory final : public exec::memory_manager {
 public:
  using make_span = std::function<std::unique_ptr<exec::work_span>()>;

  /// range_limit: the most bytes of a range, as all of them may need host memory.
  client_memory(std::shared_ptr<core> owner, client_state* client, std::size_t range_limit, make_span span)
      : core_(std::move(owner)), client_(client), range_limit_(range_limit), make_span_(std::move(span)) {}
  client_memory(client_memory const&) = delete;
  client_memory& operator=(client_memory const&) = delete;
  ~client_memory() override;

  void begin() override;
  void end() noexcept override;

  [[nodiscard]] void* reserve(std::size_t bytes, exec::use_rate rate) override;
  /// Backs the blocks. The current launch also uses them. For a range of a high rate, other blocks of the client make
  /// room, if necessary after the work that uses them.
  void commit(void* base, std::size_t from, std::size_t to) override;
  void unreserve(void* base, std::size_t reserved, std::size_t committed) noexcept override;
  [[nodiscard]] std::size_t range_limit() const override { return range_limit_; }

  /// Arrays count against the budget, and never move. If the blocks that the launch of this thread uses leave no room,
  /// waits for its work, and evicts them.
  void allocating(std::size_t bytes) override;
  void freed(std::size_t bytes) noexcept override;
  [[nodiscard]] std::size_t room_for_arrays() const override { return core_->room_for_arrays(client_); }
  [[nodiscard]] std::size_t in_host_memory(void const* base, std::size_t bytes) const override;

 private:
  void begin_use();
  void finish_uses() noexcept;
  [[nodiscard]] bool is_held_by_this_thread() const;
  [[nodiscard]] bool is_held_by_this_thread_only() const;

  std::shared_ptr<core> core_;
  client_state* client_;
  std::size_t range_limit_;
  make_span make_span_;
  mutable std::mutex mutex_;  // is locked before that of the core
  std::map<void*, region_state*> regions_;
  std::vector<std::shared_ptr<use_state>> uses_;  // of the launch that goes on
  std::shared_ptr<use_state> paused_;             // of the last launch
  mutable std::mutex depth_mutex_;                // is locked after all others
  std::map<std::thread::id, unsigned> depth_;     // of threads between begin() and end()
};

}  // namespace wyrm::alloc::residency::detail
