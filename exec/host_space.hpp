// SPDX-License-Identifier: Apache-2.0
// The space of the CPU: tiles of one lane, threads from oneTBB (or std::thread, or no threads, as configured), memory
// from the system, address ranges from mmap. All calls are synchronous.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "memory_kind.hpp"
#include "memory_manager.hpp"
#include "stream_identity.hpp"
#include "team.hpp"
#include "tile.hpp"

namespace wyrm::exec {

class host_bulk;
class host_stopwatch;
class host_upload;

class host_space {
 public:
  using bulk = host_bulk;
  using stopwatch = host_stopwatch;
  using upload = host_upload;
  /// While a guard exists, the memory manager of the space, if there is one, moves no memory.
  class guard {
   public:
    explicit guard(host_space const& space) : work_(space.manager_) {}

   private:
    managed_work work_;
  };
  struct event {};
  /// The block of for_each_block().
  struct scalar_block {
    static constexpr unsigned size() { return 1; }
    static constexpr unsigned rank() { return 0; }
    static void sync() {}
  };
  static constexpr char const* name = "cpu";
  template <unsigned W>
  static constexpr unsigned tile_size = 1;

  /// threads: the maximum number of threads that run at the same time; 0: one per core.
  explicit host_space(unsigned threads = 0);
  /// The same space with its memory managed; see memory_manager.hpp. nullptr: not managed.
  [[nodiscard]] host_space managed_by(memory_manager* manager) const {
    host_space bound = *this;
    bound.manager_ = manager;
    return bound;
  }
  [[nodiscard]] memory_manager* manager() const { return manager_; }

  /// Calls f(i) for each i in [0, n), in parallel.
  template <class F>
  void run(std::size_t n, F const& f) const {
    parallel(n, 1024, &f, [](void const* work, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) (*static_cast<F const*>(work))(i);
    });
  }
  template <unsigned W, class F>
  void run_tiles(std::integral_constant<unsigned, W>, std::size_t n, F const& f) const {
    parallel(n, grain_of<F>(), &f, [](void const* work, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) (*static_cast<F const*>(work))(scalar_tile{}, i);
    });
  }
  template <class F>
  void run_blocks(std::size_t n, F const& f) const {
    parallel(n, 1, &f, [](void const* work, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) (*static_cast<F const*>(work))(scalar_block{}, i);
    });
  }
  template <unsigned W>
  [[nodiscard]] static std::size_t team_tiles(std::integral_constant<unsigned, W>) {
    return scalar_team::tiles();
  }
  template <unsigned W, class F>
  void run_team(std::integral_constant<unsigned, W>, F const& f) const {
    guard const current(*this);
    f(scalar_tile{}, scalar_team{});
  }
  /// The same for all spaces of the host.
  [[nodiscard]] stream_identity identity() const { return {.manager = manager_}; }
  void synchronize() const {}
  /// For code that is generic in the space: work of a host is complete when its call returns.
  void wait_for(event) const {}
  /// Like synchronize(), also for work that may have failed; never throws.
  void wait_for_all() const noexcept {}

  // Memory. Sizes are in bytes. All kinds are the same memory. Throws error(out_of_memory).
  [[nodiscard]] void* allocate(std::size_t bytes, memory_kind kind = memory_kind::device) const;
  void deallocate(void* p, std::size_t bytes, memory_kind kind = memory_kind::device) const noexcept;
  void copy_in(void* to, void const* from_host, std::size_t bytes) const { copy(to, from_host, bytes); }
  void copy_out(void* to_host, void const* from, std::size_t bytes) const { copy(to_host, from, bytes); }
  void enqueue_copy_in(void* to, void const* from_host, std::size_t bytes) const { copy(to, from_host, bytes); }
  void enqueue_copy_out(void* to_host, void const* from, std::size_t bytes) const { copy(to_host, from, bytes); }
  void copy(void* to, void const* from, std::size_t bytes) const;
  void fill(void* p, unsigned char byte, std::size_t bytes) const;

  // Host memory from which, and to which, devices copy fastest.
  [[nodiscard]] void* allocate_staging(std::size_t bytes) const { return allocate(bytes, memory_kind::host); }
  void deallocate_staging(void* p) const noexcept { deallocate(p, 0, memory_kind::host); }

  // Address ranges, for `reservation`.
  [[nodiscard]] void* reserve(std::size_t bytes, memory_kind kind = memory_kind::device,
                              use_rate rate = use_rate::normal) const;
  void commit(void* base, std::size_t from, std::size_t to, memory_kind kind = memory_kind::device) const;
  void unreserve(void* base, std::size_t reserved, std::size_t committed,
                 memory_kind kind = memory_kind::device) const noexcept;
  void prefetch(void*, std::size_t, memory_location) const {}
  void advise(void*, std::size_t, memory_advice, memory_location) const {}
  [[nodiscard]] std::size_t granularity() const { return std::size_t{64} << 10; }
  [[nodiscard]] std::size_t memory_total() const;
  /// The memory that one large object of this process may take: the least of the machine's memory, the limits of the
  /// process's control groups, and half of the addresses that RLIMIT_AS leaves.
  [[nodiscard]] std::size_t memory_limit(memory_kind kind = memory_kind::device) const;

  /// Makes the heap of `malloc` in device code large enough: nothing to do on a host.
  void prepare_malloc(std::size_t) const {}

  [[nodiscard]] unsigned threads() const { return threads_; }
  /// The number of multiprocessors that exec::multiprocessor_number() distinguishes: here the threads.
  [[nodiscard]] std::size_t multiprocessors() const { return threads_; }
  /// The number of lanes for work on a list whose length is in memory of the space.
  [[nodiscard]] std::size_t lanes_for(std::uint32_t const* length) const {
    return std::min(std::size_t{*length}, std::size_t{256} * threads_);
  }
  /// For reports: "cpu (oneTBB, threads: 2)".
  [[nodiscard]] std::string description() const;

 private:
  /// Of memory of that kind.
  [[nodiscard]] memory_manager* managing(memory_kind kind) const {
    return kind == memory_kind::device ? manager_ : nullptr;
  }
  using range_function = void (*)(void const* work, std::size_t begin, std::size_t end);
  /// Splits [0, n) into ranges of at least `grain` items, if there is more than one thread, and calls f for each.
  void parallel(std::size_t n, std::size_t grain, void const* work, range_function f) const;

  unsigned threads_;
  memory_manager* manager_ = nullptr;
};

/// Uploads of a host are synchronous copies.
class host_upload {
 public:
  static constexpr bool is_concurrent = false;
  explicit host_upload(host_space const& space) : space_(space) {}
  void start() {}
  void enqueue(void* to, void const* from_host, std::size_t bytes) { space_.copy_in(to, from_host, bytes); }

 private:
  host_space space_;
};

/// Wall-clock time of work on a host.
class host_stopwatch {
 public:
  explicit host_stopwatch(host_space const&) {}
  void start() { start_ = std::chrono::steady_clock::now(); }
  /// Seconds since start().
  [[nodiscard]] double stop() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_;
};

}  // namespace wyrm::exec
