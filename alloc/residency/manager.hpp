// SPDX-License-Identifier: Apache-2.0
// Shares a budget of device memory among programs, or parts of one, that together need more (GDM: Device Memory
// Management for GPGPU Computing, SIGMETRICS 2014). A block of a region is backed by device or host memory, and the
// manager exchanges the backing behind its address. Kernels are correct with either backing; residency only affects
// their speed. docs/residency.md describes the manager and its differences from the paper.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "../../exec/block_range.hpp"
#include "client.hpp"
#include "options.hpp"

namespace wyrm::alloc::residency {

/// Thread-safe. Clients, regions and uses keep its state alive, so that they may outlive it.
template <class Space>
class manager {
 public:
  /// Throws error(bad_argument) without a budget, or for a block size that the space does not have, and
  /// error(out_of_memory) if the host has less memory than options.prepared_host_bytes.
  manager(Space const& space, options const& o)
      : space_(space), core_(std::make_shared<detail::core>(make_block_ranges(space, o.block_bytes), o)) {
    if (o.idle_fetch) worker_ = std::thread([this] { work(); });
  }
  manager(manager const&) = delete;
  manager& operator=(manager const&) = delete;
  ~manager() {
    {
      std::lock_guard const lock(mutex_);
      is_ending_ = true;
    }
    ended_.notify_all();
    if (worker_.joinable()) worker_.join();
  }

  /// Launches of the client are work of the space of the manager, or of another one on the same device.
  [[nodiscard]] client<Space> make_client(client_options const& o = {}) { return make_client(o, space_); }
  [[nodiscard]] client<Space> make_client(client_options const& o, Space const& space) { return {core_, space, o}; }

  /// Moves what the host wrote last to the device, some blocks a call, as long as there is free memory and no launch
  /// waits. Returns the number of blocks, 0 when nothing is left to do. Throws error(device)
  /// or error(out_of_memory); the blocks stay in host memory then.
  std::size_t fetch_idle() { return core_->fetch_idle(); }
  /// Evicts blocks that no launch uses, and gives back their memory, as far as the budget wants it back. Uses do so,
  /// too, when they begin and end.
  void give_back() { core_->give_back(); }

  [[nodiscard]] std::size_t block_bytes() const { return core_->block_bytes(); }
  /// The sums of all clients, also of those that are closed.
  [[nodiscard]] statistics counters() const { return core_->of_all(); }

 private:
  // If a fetch fails, the blocks stay in host memory; an error of the device is reported by its next use.
  void work() noexcept {
    std::unique_lock lock(mutex_);
    while (!is_ending_) {
      lock.unlock();
      std::size_t fetched = 0;
      try {
        core_->give_back();
        fetched = core_->fetch_idle();
      } catch (...) {
        fetched = 0;
      }
      lock.lock();
      if (fetched == 0) ended_.wait_for(lock, std::chrono::milliseconds(2), [&] { return is_ending_; });
    }
  }

  Space space_;
  std::shared_ptr<detail::core> core_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool is_ending_ = false;
  std::thread worker_;
};

}  // namespace wyrm::alloc::residency
