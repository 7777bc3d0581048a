// SPDX-License-Identifier: Apache-2.0
#include "host_space.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "converged_tile.hpp"
#include "error.hpp"
#include "memory_limit.hpp"

#if WYRM_HOST_THREADS == 2
#include <tbb/blocked_range.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <map>
#include <mutex>
#endif

namespace wyrm::exec {

namespace {
thread_local void (*wait_action)() = nullptr;
thread_local host_lanes* (*gather_lanes)(void const* object, void const* place) = nullptr;

// Without huge pages, address translation bounds random access to graphs.
constexpr std::size_t huge_page = std::size_t{2} << 20;
void prefer_huge_pages(void* p, std::size_t bytes) { madvise(p, bytes, MADV_HUGEPAGE); }  // a hint; errors are ignored

#if WYRM_HOST_THREADS == 2
// Arenas are kept, because worker threads enter a new arena only after they have left the previous one. More threads
// than cores would only bring a warning of oneTBB: work is divided for `threads` in any case.
tbb::task_arena& arena_of(unsigned threads) {
  static std::mutex mutex;
  static std::map<unsigned, tbb::task_arena> arenas;
  std::lock_guard const lock(mutex);
  int const most = std::max(1, tbb::info::default_concurrency());
  return arenas.try_emplace(threads, std::min(static_cast<int>(threads), most)).first->second;
}
#endif

std::string mib(std::size_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }
}  // namespace

void host_wait() {
  if (wait_action != nullptr)
    wait_action();
  else
    std::this_thread::yield();
}

void host_sleep(unsigned attempt) {
  if (wait_action != nullptr)
    wait_action();
  else if (attempt >= 200)
    std::this_thread::sleep_for(std::chrono::microseconds(50));
}

void set_host_wait(void (*action)()) { wait_action = action; }

host_lanes* gather_host_lanes(void const* object) {
  return gather_lanes != nullptr ? gather_lanes(object, __builtin_return_address(0)) : nullptr;
}

void set_host_lanes(host_lanes* (*gather)(void const* object, void const* place)) { gather_lanes = gather; }

unsigned host_thread_number() {
  static std::atomic<unsigned> threads = 0;
  thread_local unsigned const number = threads.fetch_add(1, std::memory_order_relaxed);
  return number;
}

host_space::host_space(unsigned threads)
    : threads_(threads != 0 ? threads : std::max(1u, std::thread::hardware_concurrency())) {}

std::string host_space::description() const {
#if WYRM_HOST_THREADS == 2
  return "cpu (oneTBB, threads: " + std::to_string(threads_) + ")";
#elif WYRM_HOST_THREADS == 1
  return "cpu (std::thread, threads: " + std::to_string(threads_) + ")";
#else
  return "cpu (one thread)";
#endif
}

void host_space::parallel(std::size_t n, [[maybe_unused]] std::size_t grain, void const* work, range_function f) const {
  guard const current(*this);
#if WYRM_HOST_THREADS == 2
  if (threads_ > 1 && n > grain) {
    arena_of(threads_).execute([&] {
      tbb::parallel_for(tbb::blocked_range<std::size_t>(0, n, grain),
                        [&](auto const& range) { f(work, range.begin(), range.end()); });
    });
    return;
  }
#elif WYRM_HOST_THREADS == 1
  // Every thread takes an equal range, also of short launches: this form exists to expose races to a checker.
  if (threads_ > 1 && n > 1) {
    std::size_t const ranges = std::min<std::size_t>(threads_, n);
    std::vector<std::thread> others;
    for (std::size_t r = 1; r < ranges; ++r) others.emplace_back(f, work, n * r / ranges, n * (r + 1) / ranges);
    f(work, 0, n / ranges);
    for (std::thread& t : others) t.join();
    return;
  }
#endif
  f(work, 0, n);
}

namespace {
void* allocate_aligned(std::size_t bytes) {
  std::size_t const alignment = bytes < huge_page ? 256 : huge_page;
  bool const is_sum_exact = bytes <= ~std::size_t{0} - huge_page;
  void* const p =
      is_sum_exact
          ? std::aligned_alloc(alignment, (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment)
          : nullptr;
  if (p == nullptr) throw error(error_code::out_of_memory, "the host has no " + mib(bytes) + " of memory left");
  if (alignment == huge_page) prefer_huge_pages(p, bytes);
  return p;
}
}  // namespace

void* host_space::allocate(std::size_t bytes, memory_kind kind) const {
  return allocate_managed(managing(kind), bytes, [&] { return allocate_aligned(bytes); });
}

void host_space::deallocate(void* p, std::size_t bytes, memory_kind kind) const noexcept {
  std::free(p);
  if (managing(kind) != nullptr) manager_->freed(bytes);
}

void host_space::copy(void* to, void const* from, std::size_t bytes) const {
  guard const current(*this);
  if (bytes > 0) std::memcpy(to, from, bytes);
}

void host_space::fill(void* p, unsigned char byte, std::size_t bytes) const {
  guard const current(*this);
  if (bytes > 0) std::memset(p, byte, bytes);
}

void* host_space::reserve(std::size_t bytes, memory_kind kind, use_rate rate) const {
  if (managing(kind) != nullptr) return manager_->reserve(bytes, rate);
  void* const base = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED)
    throw error(error_code::out_of_memory, "cannot reserve " + mib(bytes) + " of addresses: " +
                                               std::generic_category().message(errno) + "; reserve a smaller range");
  prefer_huge_pages(base, bytes);
  return base;
}

void host_space::commit(void* base, std::size_t from, std::size_t to, memory_kind kind) const {
  if (managing(kind) != nullptr) return manager_->commit(base, from, to);
  if (mprotect(static_cast<char*>(base) + from, to - from, PROT_READ | PROT_WRITE) != 0)
    throw error(error_code::out_of_memory,
                "cannot commit " + mib(to - from) + " of memory: " + std::generic_category().message(errno));
}

void host_space::unreserve(void* base, std::size_t reserved, std::size_t committed, memory_kind kind) const noexcept {
  if (managing(kind) != nullptr) return manager_->unreserve(base, reserved, committed);
  munmap(base, reserved);
}

std::size_t host_space::memory_total() const {
  return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

std::size_t host_space::memory_limit(memory_kind kind) const {
  if (managing(kind) != nullptr) return manager_->range_limit();
  return std::min({memory_total(), control_group_limit(), addresses_left() / 2});
}

}  // namespace wyrm::exec
