// SPDX-License-Identifier: Apache-2.0
// A client of a residency manager: a program, or a part of one, with its own regions, priority and limit.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "../../exec/error.hpp"
#include "client_memory.hpp"
#include "region.hpp"

namespace wyrm::alloc::residency {

/// Movable, not copyable. Thread-safe. Its regions may outlive it.
template <class Space>
class client {
 public:
  client(std::shared_ptr<detail::core> core, Space const& space, client_options const& o)
      : core_(std::move(core)), space_(space), state_(core_->open_client(o)) {
    try {
      memory_ = std::make_unique<detail::client_memory>(core_, state_, exec::host_space(1).memory_limit(),
                                                        [space] { return make_work_span(space); });
    } catch (...) {
      core_->close_client(state_);
      throw;
    }
  }
  client(client&& other) noexcept
      : core_(std::move(other.core_)),
        space_(other.space_),
        state_(std::exchange(other.state_, nullptr)),
        memory_(std::move(other.memory_)) {}
  client& operator=(client&&) = delete;
  ~client() {
    if (state_ != nullptr) core_->close_client(state_);
  }

  /// Reserves addresses, and takes no memory. Throws error(out_of_memory).
  [[nodiscard]] region reserve(std::size_t bytes) { return {core_, core_->reserve(state_, bytes, false)}; }
  /// The space with its memory managed by this client: the address ranges of what is made on it (pools, vertex tables
  /// with a maximum) are regions, and its arrays count against the budget. Each operation on it is a launch that uses
  /// all regions of the client. Valid as long as the client, which must outlive everything that is made on the space.
  /// Throws error(bad_argument) without options::in_place.
  [[nodiscard]] Space space() const {
    if (!core_->runs_in_place())
      throw error(error_code::bad_argument,
                  "client::space() needs options::in_place: operations on the space begin "
                  "launches inside of others, which could wait for each other");
    return space_.managed_by(memory_.get());
  }

  /// Begins a launch of kernels that touch these ranges of the client's regions: all ranges of all regions without any.
  /// Blocks without memory get device memory as far as the budget has some, and host memory else. What is not on the
  /// device is moved there, in the order of the calls of all threads, as far as the budget allows; the rest stays in
  /// host memory, where kernels read and write it, too. Waits for moves, for kernels of earlier launches whose blocks
  /// it evicts, and for its turn if clients compete. Kernels that are enqueued on the space of the client until
  /// use::finish() belong to the launch. Throws error(bad_argument) for a region of another client,
  /// error(out_of_memory) if the host has no memory for a block without any, error(device) if blocks in host memory
  /// cannot be mapped. The backings may have changed then, and nothing else.
  [[nodiscard]] residency::use use(std::span<used_range const> ranges) {
    std::vector<detail::named_blocks> names;
    for (used_range const& u : ranges) {
      if (u.region.core_ != core_ || u.region.state_->owner != state_)
        throw error(error_code::bad_argument, "a use names a region of another client; use it with its own client");
      std::size_t const bytes =
          u.bytes == unlimited && u.offset <= u.region.bytes() ? u.region.bytes() - u.offset : u.bytes;
      names.push_back(core_->name(u.region.state_, u.offset, bytes, u.access, u.hint));
    }
    return {core_, core_->begin_use(state_, std::move(names), make_work_span(space_))};
  }
  [[nodiscard]] residency::use use(std::initializer_list<used_range> ranges) {
    return use(std::span(ranges.begin(), ranges.size()));
  }
  [[nodiscard]] residency::use use() { return use(std::span<used_range const>()); }

  /// Calls f(space), which enqueues kernels, as one launch that uses these ranges; all without any.
  template <class F>
  void launch(std::initializer_list<used_range> ranges, F const& f) {
    residency::use const scope = use(ranges);
    f(space_);
  }
  template <class F>
  void launch(F const& f) {
    launch({}, f);
  }

  [[nodiscard]] statistics counters() const { return core_->of_client(state_); }

 private:
  std::shared_ptr<detail::core> core_;
  Space space_;
  detail::client_state* state_;
  std::unique_ptr<detail::client_memory> memory_;
};

}  // namespace wyrm::alloc::residency
