// SPDX-License-Identifier: Apache-2.0
// Blocks of a GPU and of the pinned memory beside it. Each has a mapping of its own, its home, for copies: an exchange
// copies between two homes on a stream of its own while the block's address still serves its old backing, and changes
// the mapping at the address then. Two mappings of one allocation are coherent between launches (CUDA programming
// guide, "virtual aliasing"): a kernel's writes are visible through the other one when the kernel has ended, and the
// residency manager copies and exchanges only then.
//
// The addresses of a range are for the device only, whatever backs them: the host has its home. Where the host may
// touch a part of a range, CUDA fills and copies ranges of both kinds of memory by the host, which faults at the
// device's part; and the access of the host makes an exchange 1.5 times as long (H100, blocks of 4 MiB: 170 us beside
// 86 to map a block of host memory, 119 beside 37 to unmap it; 28 and 21 for a block of the device).
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "block_range.hpp"
#include "cuda_driver.hpp"
#include "cuda_space.hpp"
#include "error.hpp"
#include "injected_failure.hpp"
#include "launch.hpp"

namespace wyrm::exec {

namespace {

using detail::check;
using detail::driver;
using detail::drop;

CUdeviceptr address_of(std::byte const* p) { return reinterpret_cast<CUdeviceptr>(p); }

class cuda_block_ranges final : public block_ranges {
 public:
  cuda_block_ranges(cuda_space const& space, std::size_t block_bytes) : block_ranges(block_bytes), space_(space) {
    cuda_space::guard const current(space_);
    for (detail::stream_owner& one : moves_) one = detail::make_stream();
    for (transfer_stream& one : transfers_) one.stream = detail::make_stream();
    for (CUmemAccessDesc& one : access_) one.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    access_[0].location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access_[0].location.id = space.device();
    access_[1].location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
    access_[1].location.id = std::max(detail::attribute_of(space.device(), cudaDevAttrHostNumaId), 0);
  }
  [[nodiscard]] bool is_device_readable() const override { return false; }

  std::byte* reserve(std::size_t blocks) override {
    detail::count_request();
    bound const current(space_);
    return reserve_addresses(blocks * block_bytes());
  }
  void unreserve(std::byte* base, std::size_t blocks) noexcept override {
    under_device_guard<detail::cuda_device>(space_.device(), [&] {
      drop(detail::bind_context(space_.device()));
      driver().address_free(address_of(base), blocks * block_bytes());
    });
  }

  physical_block create(memory_side side) override {
    detail::count_request();
    bound const current(space_);
    bool const is_on_host = side == memory_side::host;
    if (is_on_host) detail::require_host_memory(block_bytes(), (host_blocks_ + 1) * block_bytes());
    std::string const what =
        "create a block of " + detail::mib(block_bytes()) + (is_on_host ? " of pinned memory" : "");
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = access_[is_on_host ? 1 : 0].location;
    physical_block made;
    made.home = reserve_addresses(block_bytes());
    CUmemGenericAllocationHandle memory = 0;
    CUresult status = driver().create(&memory, block_bytes(), &properties, 0);
    if (status == CUDA_SUCCESS) {
      made.handle = memory;
      status = put(made.home, {&made, 1}, true, is_on_host);
      if (status != CUDA_SUCCESS) driver().release(memory);
    }
    if (status != CUDA_SUCCESS) driver().address_free(address_of(made.home), block_bytes());
    check(status, what.c_str());
    host_blocks_ += is_on_host;
    return made;
  }
  void destroy(memory_side side, physical_block block) noexcept override {
    host_blocks_ -= side == memory_side::host;
    under_device_guard<detail::cuda_device>(space_.device(), [&] {
      drop(detail::bind_context(space_.device()));
      driver().unmap(address_of(block.home), block_bytes());
      driver().address_free(address_of(block.home), block_bytes());
      driver().release(block.handle);
    });
  }

  void map(std::byte* at, std::span<physical_block const> blocks, memory_side /*side*/,
           std::span<physical_block const> before, bool is_usable) override {
    detail::count_request();
    bound const current(space_);
    if (!before.empty()) check(driver().unmap(address_of(at), blocks.size() * block_bytes()), "unmap blocks");
    CUresult const status = put(at, blocks, is_usable);
    if (status == CUDA_SUCCESS) return;
    if (!before.empty()) check(put(at, before, is_usable), "map blocks again after a failure");
    check(status, ("map " + std::to_string(blocks.size()) + " blocks").c_str());
  }
  void unmap(std::byte* at, std::size_t blocks) noexcept override {
    under_device_guard<detail::cuda_device>(space_.device(), [&] {
      drop(detail::bind_context(space_.device()));
      driver().unmap(address_of(at), blocks * block_bytes());
    });
  }
  void protect(std::byte* at, std::size_t blocks, memory_side /*side*/, bool is_usable) override {
    detail::count_request();
    bound const current(space_);
    check(set_access(at, blocks, is_usable), "change the access to blocks");
  }

  void copy(memory_side to, std::byte* target, std::byte const* source, std::size_t bytes) override {
    detail::count_request();
    cuda_space::guard const current(space_);
    check(cudaMemcpyAsync(target, source, bytes, cudaMemcpyDefault, moves_to(to)), "copy a block");
  }
  void finish_copies(memory_side to) override {
    cuda_space::guard const current(space_);
    check(cudaStreamSynchronize(moves_to(to)), "copy blocks");
  }
  void copy_in(std::byte* home, memory_side side, void const* from_host, std::size_t bytes) override {
    copy_now(home, side, from_host, bytes);
  }
  void copy_out(void* to_host, std::byte const* home, memory_side side, std::size_t bytes) override {
    copy_now(to_host, side, home, bytes);
  }

 private:
  /// A core writes pinned memory at 3.5 GB/s, a fifteenth of the speed of the bus (H200).
  struct copy_piece {
    static constexpr std::size_t grain = 1;
    static constexpr std::size_t bytes_at_once = std::size_t{1} << 20;
    std::byte* to;
    std::byte const* from;
    std::size_t bytes;
    template <class Tile>
    void operator()(Tile const&, std::size_t i) const {
      std::size_t const first = i * bytes_at_once;
      std::memcpy(to + first, from + first, std::min(bytes_at_once, bytes - first));
    }
  };
  /// The device of the space is current, and the thread has its context.
  struct bound {
    explicit bound(cuda_space const& space) : current(space) {
      check(detail::bind_context(space.device()), "cudaSetDevice");
    }
    cuda_space::guard current;
  };

  [[nodiscard]] CUstream_st* moves_to(memory_side side) const { return moves_[static_cast<std::size_t>(side)].get(); }
  [[nodiscard]] std::byte* reserve_addresses(std::size_t bytes) const {
    CUdeviceptr base = 0;
    check(driver().address_reserve(&base, bytes, 0, 0, 0), "reserve addresses for blocks");
    return reinterpret_cast<std::byte*>(base);
  }
  [[nodiscard]] CUresult set_access(std::byte* at, std::size_t blocks, bool is_usable, bool for_host = false) const {
    CUmemAccessDesc access[2] = {access_[0], access_[1]};
    if (!is_usable)
      for (CUmemAccessDesc& one : access) one.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return driver().set_access(address_of(at), blocks * block_bytes(), access, for_host ? 2 : 1);
  }
  // One call for the access of the run. What was mapped is unmapped again if a call fails.
  [[nodiscard]] CUresult put(std::byte* at, std::span<physical_block const> blocks, bool is_usable,
                             bool for_host = false) const {
    CUresult status = CUDA_SUCCESS;
    std::size_t mapped = 0;
    for (; mapped < blocks.size(); ++mapped) {
      status = driver().map(address_of(at + mapped * block_bytes()), block_bytes(), 0, blocks[mapped].handle, 0);
      if (status != CUDA_SUCCESS) break;
    }
    // Fresh mappings are inaccessible.
    if (status == CUDA_SUCCESS && is_usable) status = set_access(at, blocks.size(), true, for_host);
    if (status != CUDA_SUCCESS && mapped > 0) driver().unmap(address_of(at), mapped * block_bytes());
    return status;
  }
  // On a stream of its own, so that a transfer waits for no kernel, and for no transfer of another thread as long as
  // there are streams. side: that of the home.
  void copy_now(void* to, memory_side side, void const* from, std::size_t bytes) const {
    if (side == memory_side::host) {
      copy_piece const copies{static_cast<std::byte*>(to), static_cast<std::byte const*>(from), bytes};
      for_each_tile<1>(copiers_, (bytes + copy_piece::bytes_at_once - 1) / copy_piece::bytes_at_once, copies);
      return;
    }
    cuda_space::guard const current(space_);
    auto [stream, busy] = take_stream();
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "copy to or from a block");
    check(cudaStreamSynchronize(stream), "copy to or from a block");
  }
  struct transfer_stream {
    std::mutex busy;
    detail::stream_owner stream;
  };
  std::pair<CUstream_st*, std::unique_lock<std::mutex>> take_stream() const {
    for (transfer_stream& one : transfers_)
      if (std::unique_lock lock(one.busy, std::try_to_lock); lock) return {one.stream.get(), std::move(lock)};
    return {transfers_[0].stream.get(), std::unique_lock(transfers_[0].busy)};
  }

  cuda_space space_;
  host_space copiers_{std::clamp(std::thread::hardware_concurrency(), 1u, 4u)};
  std::array<detail::stream_owner, 2> moves_;  // to each side
  mutable std::array<transfer_stream, 4> transfers_;
  std::atomic<std::size_t> host_blocks_ = 0;
  CUmemAccessDesc access_[2] = {};
};

class cuda_work_span final : public work_span {
 public:
  explicit cuda_work_span(cuda_space const& space) : space_(space) {
    cuda_space::guard const current(space_);
    start_ = detail::make_event(cudaEventDefault);
    stop_ = detail::make_event(cudaEventDefault);
  }
  void start() override {
    cuda_space::guard const current(space_);
    check(cudaEventRecord(start_.get(), space_.stream()), "cudaEventRecord");
  }
  // An event that cannot be recorded counts as done: the device has failed then.
  void stop() noexcept override {
    under_device_guard<detail::cuda_device>(space_.device(),
                                            [&] { drop(cudaEventRecord(stop_.get(), space_.stream())); });
  }
  [[nodiscard]] bool is_done() const override {
    cudaError_t const status = cudaEventQuery(stop_.get());
    drop(status);
    return status != cudaErrorNotReady;
  }
  void wait() const noexcept override { drop(cudaEventSynchronize(stop_.get())); }
  [[nodiscard]] double seconds() const override {
    float milliseconds = 0;
    drop(cudaEventElapsedTime(&milliseconds, start_.get(), stop_.get()));
    return double{milliseconds} / 1e3;
  }

 private:
  cuda_space space_;
  detail::event_owner start_;
  detail::event_owner stop_;
};

}  // namespace

std::unique_ptr<block_ranges> make_block_ranges(cuda_space const& space, std::size_t block_bytes) {
  detail::require_block_bytes(block_bytes, space.granularity());
  return std::make_unique<cuda_block_ranges>(space, block_bytes);
}

std::unique_ptr<work_span> make_work_span(cuda_space const& space) { return std::make_unique<cuda_work_span>(space); }

}  // namespace wyrm::exec
