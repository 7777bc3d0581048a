// SPDX-License-Identifier: Apache-2.0
// A range of constant addresses whose blocks are in device or host memory, as the residency manager decides.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "core.hpp"

namespace wyrm::alloc::residency {

/// Owns addresses, and the memory of those of its blocks that were written, named by a use, or committed. A kernel may
/// access these blocks, and fails on others. The contents of a block are undefined before it is first written. Movable,
/// not copyable; thread-safe. Freeing a region does not wait: blocks that launches use are freed when these are done.
class region {
 public:
  region(region&& other) noexcept : core_(std::move(other.core_)), state_(std::exchange(other.state_, nullptr)) {}
  region& operator=(region&& other) noexcept {
    std::swap(core_, other.core_);
    std::swap(state_, other.state_);
    return *this;
  }
  ~region() {
    if (state_ != nullptr) core_->release(state_);
  }

  /// Stable; aligned to the granularity of the space.
  [[nodiscard]] std::byte* data() const { return state_->base; }
  [[nodiscard]] std::size_t bytes() const { return state_->bytes; }
  /// Whether the block of the byte is backed by device memory.
  [[nodiscard]] bool is_resident(std::size_t offset) const { return core_->is_resident(state_, offset); }

  /// Copies `bytes` bytes from host memory into the region, into the memory that backs it. Blocks without memory get
  /// device memory as far as the budget has some, and host memory else; with options.lazy_transfers, and while clients
  /// compete, whole blocks go to host memory (not those of which the region has less than half a block), and to the
  /// device with the next launch that uses them. The whole blocks of a transfer that are not on the device are one
  /// object for the policy, with the new ones. Waits for launches and transfers that use the blocks. Throws
  /// error(bad_argument) outside of the region, or if this thread has a use of the blocks that it has not finished;
  /// error(out_of_memory) if a block has no memory and gets none. Nothing is changed then. Throws error(device) if a
  /// copy fails: the bytes of the range are undefined then, and all others are unchanged.
  void write(std::size_t offset, void const* from, std::size_t bytes) { core_->write(state_, offset, from, bytes); }
  /// Copies bytes to host memory from the device or host memory that backs them. Waits for launches and transfers that
  /// write the blocks. Bytes of blocks without memory are 0. Throws error(bad_argument) as write(), and
  /// error(device) if a copy fails: the region is unchanged then.
  void read(std::size_t offset, void* to, std::size_t bytes) const { core_->read(state_, offset, to, bytes); }
  /// Frees the memory of the blocks that lie in the range as a whole. Waits as write().
  void discard(std::size_t offset, std::size_t bytes) { core_->discard(state_, offset, bytes); }

 private:
  template <class Space>
  friend class client;
  region(std::shared_ptr<detail::core> core, detail::region_state* state) : core_(std::move(core)), state_(state) {}

  std::shared_ptr<detail::core> core_;
  detail::region_state* state_;
};

/// Bytes of a region that a launch touches.
struct used_range {
  residency::region const& region;
  std::size_t offset = 0;
  std::size_t bytes = unlimited;  // to the end of the region
  residency::access access = residency::access::write;
  /// `once`: it is used in place, and not moved. `hot`: it is moved before what is normal. The policy gets the hint,
  /// too.
  use_hint hint = use_hint::normal;
};

/// A launch of kernels. While it exists unfinished, and until the work that it encloses is done, none of its blocks
/// changes its backing. Movable, not copyable. Its destructor finishes it.
class use {
 public:
  use(use&& other) noexcept : core_(std::move(other.core_)), state_(std::move(other.state_)) {}
  use& operator=(use&&) = delete;
  ~use() { finish(); }

  /// Marks the end of the launch: the work that has been enqueued on the space so far. Does not wait.
  void finish() noexcept {
    if (state_) core_->finish_use(std::exchange(state_, nullptr));
  }

 private:
  template <class Space>
  friend class client;
  use(std::shared_ptr<detail::core> core, std::shared_ptr<detail::use_state> state)
      : core_(std::move(core)), state_(std::move(state)) {}

  std::shared_ptr<detail::core> core_;
  std::shared_ptr<detail::use_state> state_;
};

}  // namespace wyrm::alloc::residency
