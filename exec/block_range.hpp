// SPDX-License-Identifier: Apache-2.0
// Ranges of addresses whose blocks are each backed by device memory or host memory. The backing of a block can be
// exchanged while its address stays the same. Kernels read and write a range with either backing. The residency manager
// (alloc/residency/manager.hpp) decides which blocks are on the device.
//
// On a GPU, a block is one allocation of the driver's virtual memory management: on the device, or pinned on the host's
// NUMA node beside it. On a CPU, two anonymous files represent the two memories, so errors that lose a block, or leave
// it stale, also appear there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "host_space.hpp"

namespace wyrm::exec {

#if WYRM_WITH_CUDA
class cuda_space;
#endif

enum class memory_side : std::uint8_t { device, host };

/// A block of physical memory. It always has its own address, its home, in addition to the addresses of ranges that it
/// backs. The host reads and writes host blocks at their homes. A write through one address is visible through the
/// others to all work that begins later.
struct physical_block {
  std::byte* home = nullptr;
  std::uint64_t handle = 0;

  [[nodiscard]] explicit operator bool() const { return home != nullptr; }
};

/// Creates physical blocks, and maps them into ranges. Thread-safe as long as no two calls concern the same addresses
/// or blocks. Calls that take memory or that map count as requests for `injected_failure`. Changes of a mapping are
/// host calls with immediate effect: no work that may access the addresses may be running.
class block_ranges {
 public:
  virtual ~block_ranges() = default;
  block_ranges(block_ranges const&) = delete;
  block_ranges& operator=(block_ranges const&) = delete;

  [[nodiscard]] std::size_t block_bytes() const { return block_bytes_; }
  /// Whether the host can read the homes of device blocks.
  [[nodiscard]] virtual bool is_device_readable() const = 0;

  /// Reserves addresses for `blocks` blocks. They are unusable until map(). Throws error(out_of_memory).
  [[nodiscard]] virtual std::byte* reserve(std::size_t blocks) = 0;
  /// Frees the addresses. None of their blocks is mapped.
  virtual void unreserve(std::byte* base, std::size_t blocks) noexcept = 0;

  /// Contents are undefined. Throws error(out_of_memory). A call costs 0.8 to 1.4 ms for 4 MiB of pinned memory on an
  /// H200: keep blocks in pools.
  [[nodiscard]] virtual physical_block create(memory_side side) = 0;
  /// No range has the block mapped.
  virtual void destroy(memory_side side, physical_block block) noexcept = 0;

  /// Maps a run of blocks of one side at adjacent addresses. `before` are the blocks of the other side that are mapped
  /// there; none if it is empty. The addresses are usable by kernels if `is_usable`. Contents are not copied. Throws
  /// error(out_of_memory) or error(device), and leaves the addresses as they were.
  virtual void map(std::byte* at, std::span<physical_block const> blocks, memory_side side,
                   std::span<physical_block const> before, bool is_usable) = 0;
  virtual void unmap(std::byte* at, std::size_t blocks) noexcept = 0;
  /// Allows or forbids kernels to access mapped blocks; kernels that access forbidden blocks fail.
  virtual void protect(std::byte* at, std::size_t blocks, memory_side side, bool is_usable) = 0;

  /// Enqueues a copy between homes, to the home of a block of side `to`: concurrent with the work of the space, and
  /// with copies to the other side. Work of the space that writes these bytes must be complete.
  virtual void copy(memory_side to, std::byte* target, std::byte const* source, std::size_t bytes) = 0;
  /// Waits for all copies to a side. Throws error(device) if one failed.
  virtual void finish_copies(memory_side to) = 0;
  /// Copy between the home of a block of a side and any memory of the host. They return when the copy is complete.
  virtual void copy_in(std::byte* home, memory_side side, void const* from_host, std::size_t bytes) = 0;
  virtual void copy_out(void* to_host, std::byte const* home, memory_side side, std::size_t bytes) = 0;

 protected:
  explicit block_ranges(std::size_t block_bytes) : block_bytes_(block_bytes) {}

 private:
  std::size_t block_bytes_;
};

/// A part of the work of a space, from start() to stop(). The host can wait until it is done. Not thread-safe.
class work_span {
 public:
  virtual ~work_span() = default;
  virtual void start() = 0;
  virtual void stop() noexcept = 0;
  /// Whether the work before stop() is done. Does not wait.
  [[nodiscard]] virtual bool is_done() const = 0;
  /// Waits until is_done(). Errors of the work are not thrown: they are reported where the space is synchronised.
  virtual void wait() const noexcept = 0;
  /// The duration of completed work.
  [[nodiscard]] virtual double seconds() const = 0;
};

/// block_bytes: a multiple of the granularity of the space, or it throws error(bad_argument).
[[nodiscard]] std::unique_ptr<block_ranges> make_block_ranges(host_space const& space, std::size_t block_bytes);
[[nodiscard]] std::unique_ptr<work_span> make_work_span(host_space const& space);
#if WYRM_WITH_CUDA
[[nodiscard]] std::unique_ptr<block_ranges> make_block_ranges(cuda_space const& space, std::size_t block_bytes);
[[nodiscard]] std::unique_ptr<work_span> make_work_span(cuda_space const& space);
#endif

namespace detail {
/// Throws error(bad_argument) unless block_bytes is a positive multiple of the granularity.
void require_block_bytes(std::size_t block_bytes, std::size_t granularity);
}  // namespace detail

}  // namespace wyrm::exec
