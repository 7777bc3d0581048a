// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <mutex>
#include <string>
#include <system_error>
#include <vector>

#include "block_range.hpp"
#include "error.hpp"
#include "injected_failure.hpp"

namespace wyrm::exec {

void detail::require_block_bytes(std::size_t block_bytes, std::size_t granularity) {
  if (block_bytes > 0 && block_bytes % granularity == 0) return;
  throw error(error_code::bad_argument, "blocks of " + std::to_string(block_bytes) +
                                            " bytes: the size must be a positive multiple of " +
                                            std::to_string(granularity));
}

namespace {

[[noreturn]] void fail(std::string const& what) {
  throw error(error_code::out_of_memory, what + ": " + std::generic_category().message(errno));
}

std::string mib(std::size_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

/// An anonymous file in which each block has a place. The place of a block that was destroyed is used again.
class arena {
 public:
  arena(char const* name, std::size_t block_bytes) : block_bytes_(block_bytes), file_(memfd_create(name, MFD_CLOEXEC)) {
    if (file_ < 0) fail("cannot create an anonymous file for blocks of memory");
  }
  ~arena() { close(file_); }
  arena(arena const&) = delete;
  arena& operator=(arena const&) = delete;

  physical_block create() {
    std::lock_guard const lock(mutex_);
    std::uint64_t const place = free_.empty() ? places_ : free_.back();
    free_.reserve(places_ + 1);  // so that destroy() needs no memory
    off_t const begin = offset_of(place);
    if (fallocate(file_, 0, begin, static_cast<off_t>(block_bytes_)) != 0)
      fail("the host has no " + mib(block_bytes_) + " left for another block beside " +
           mib((places_ - free_.size()) * block_bytes_));
    void* const home = mmap(nullptr, block_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, begin);
    if (home == MAP_FAILED) {
      free_file_space(place);
      fail("cannot map a block of " + mib(block_bytes_));
    }
    if (free_.empty())
      ++places_;
    else
      free_.pop_back();
    return {static_cast<std::byte*>(home), place};
  }

  void destroy(physical_block block) noexcept {
    std::lock_guard const lock(mutex_);
    munmap(block.home, block_bytes_);
    free_file_space(block.handle);
    free_.push_back(block.handle);
  }

  [[nodiscard]] bool map(std::byte* at, physical_block block, int protection) const noexcept {
    return mmap(at, block_bytes_, protection, MAP_SHARED | MAP_FIXED, file_, offset_of(block.handle)) != MAP_FAILED;
  }

 private:
  [[nodiscard]] off_t offset_of(std::uint64_t place) const { return static_cast<off_t>(place * block_bytes_); }
  void free_file_space(std::uint64_t place) noexcept {
    (void)fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset_of(place),
                    static_cast<off_t>(block_bytes_));
  }

  std::size_t block_bytes_;
  int file_;
  std::mutex mutex_;
  std::uint64_t places_ = 0;
  std::vector<std::uint64_t> free_;
};

class host_block_ranges final : public block_ranges {
 public:
  explicit host_block_ranges(std::size_t block_bytes)
      : block_ranges(block_bytes), device_("wyrm-device", block_bytes), host_("wyrm-host", block_bytes) {}

  [[nodiscard]] bool is_device_readable() const override { return true; }

  std::byte* reserve(std::size_t blocks) override {
    detail::count_request();
    void* const base =
        mmap(nullptr, blocks * block_bytes(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) fail("cannot reserve " + mib(blocks * block_bytes()) + " of addresses");
    return static_cast<std::byte*>(base);
  }
  void unreserve(std::byte* base, std::size_t blocks) noexcept override { munmap(base, blocks * block_bytes()); }

  physical_block create(memory_side side) override {
    detail::count_request();
    return arena_of(side).create();
  }
  void destroy(memory_side side, physical_block block) noexcept override { arena_of(side).destroy(block); }

  void map(std::byte* at, std::span<physical_block const> blocks, memory_side side,
           std::span<physical_block const> before, bool is_usable) override {
    detail::count_request();
    int const protection = is_usable ? PROT_READ | PROT_WRITE : PROT_NONE;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (arena_of(side).map(at + i * block_bytes(), blocks[i], protection)) continue;
      int const reason = errno;
      for (std::size_t j = 0; j <= i; ++j) restore(at + j * block_bytes(), before, j, side, protection);
      errno = reason;
      fail("cannot map " + std::to_string(blocks.size()) + " blocks");
    }
  }
  void unmap(std::byte* at, std::size_t blocks) noexcept override {
    (void)mmap(at, blocks * block_bytes(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  }
  void protect(std::byte* at, std::size_t blocks, memory_side, bool is_usable) override {
    detail::count_request();
    if (mprotect(at, blocks * block_bytes(), is_usable ? PROT_READ | PROT_WRITE : PROT_NONE) != 0)
      fail("cannot protect " + std::to_string(blocks) + " blocks");
  }

  void copy(memory_side, std::byte* target, std::byte const* source, std::size_t bytes) override {
    detail::count_request();
    std::memcpy(target, source, bytes);
  }
  void finish_copies(memory_side) override {}
  void copy_in(std::byte* home, memory_side, void const* from_host, std::size_t bytes) override {
    std::memcpy(home, from_host, bytes);
  }
  void copy_out(void* to_host, std::byte const* home, memory_side, std::size_t bytes) override {
    std::memcpy(to_host, home, bytes);
  }

 private:
  arena& arena_of(memory_side side) { return side == memory_side::device ? device_ : host_; }
  // Blocks of the other side are exchanged for those of `side`.
  void restore(std::byte* at, std::span<physical_block const> before, std::size_t i, memory_side side,
               int protection) noexcept {
    memory_side const other = side == memory_side::device ? memory_side::host : memory_side::device;
    if (before.empty() || !arena_of(other).map(at, before[i], protection)) unmap(at, 1);
  }

  arena device_;
  arena host_;
};

class host_work_span final : public work_span {
 public:
  void start() override { start_ = std::chrono::steady_clock::now(); }
  void stop() noexcept override { stop_ = std::chrono::steady_clock::now(); }
  [[nodiscard]] bool is_done() const override { return true; }
  void wait() const noexcept override {}
  [[nodiscard]] double seconds() const override { return std::chrono::duration<double>(stop_ - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point stop_;
};

}  // namespace

std::unique_ptr<block_ranges> make_block_ranges(host_space const& space, std::size_t block_bytes) {
  detail::require_block_bytes(block_bytes, space.granularity());
  return std::make_unique<host_block_ranges>(block_bytes);
}

std::unique_ptr<work_span> make_work_span(host_space const&) {
  detail::count_request();
  return std::make_unique<host_work_span>();
}

}  // namespace wyrm::exec
