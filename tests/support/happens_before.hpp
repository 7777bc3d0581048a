// SPDX-License-Identifier: Apache-2.0
// Finds data races among a few threads with vector clocks (Fidge 1988, Mattern 1989), by the memory orders of their
// atomic operations. An execution is a sequence of operations. Each thread has a clock with an entry per thread: the
// operations of that thread up to this time happen before its own next operation. A release is recorded with its
// atomic: what its thread did before happens before what a thread does after an acquire that reads this release, or an
// update that follows it. A relaxed store ends this release sequence, a relaxed update continues it (C++20,
// [intro.races]). A release fence turns later relaxed stores and updates of its thread into releases of what was before
// the fence. What happened before the threads started happens before all their operations. The memory orders of
// cuda::atomic_ref at device scope have the same meaning.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

namespace wyrm::tests {

enum class data_use { read, write };

class happens_before {
 public:
  static constexpr unsigned max_threads = 8;

  /// Clears all records.
  void begin(std::size_t threads) {
    if (threads > max_threads) throw std::invalid_argument("happens_before: too many threads");
    for (unsigned t = 0; t < max_threads; ++t) {
      now_[t].fill(0);
      now_[t][t] = 1;
      at_fence_[t].fill(0);
    }
    released_.clear();
    accesses_.clear();
    race_.clear();
  }

  void use(unsigned thread, atomic_use use, void const* place, cuda::memory_order order) {
    bool const acquires = use != atomic_use::store && order != exec::relaxed && order != exec::release;
    bool const releases = use != atomic_use::load && order != exec::relaxed && order != exec::acquire;
    if (use == atomic_use::load && !acquires) return;
    clock& released = released_[place];
    if (acquires) join(now_[thread], released);
    if (use == atomic_use::load) return;
    if (use == atomic_use::store) released.fill(0);
    join(released, releases ? now_[thread] : at_fence_[thread]);
    if (releases) ++now_[thread][thread];
  }
  void release_fence(unsigned thread) {
    at_fence_[thread] = now_[thread];
    ++now_[thread][thread];
  }
  /// Records that a thread reads or writes plain data.
  void touch(unsigned thread, void const* data, std::size_t bytes, data_use use) {
    auto const begin = reinterpret_cast<std::uintptr_t>(data);
    access const mine{begin, begin + bytes, thread, now_[thread][thread], use};
    for (access const& other : accesses_) {
      bool const is_apart = other.end <= mine.begin || mine.end <= other.begin;
      if (is_apart || other.thread == thread || now_[thread][other.thread] >= other.time) continue;
      if (use == data_use::read && other.use == data_use::read) continue;
      if (race_.empty())
        race_ = "a data race: thread " + std::to_string(thread) + (use == data_use::read ? " reads" : " writes") +
                " what thread " + std::to_string(other.thread) + (other.use == data_use::read ? " reads" : " writes") +
                ", and neither happens before the other";
    }
    accesses_.push_back(mine);
  }
  /// A description of the first race; empty if there is none.
  [[nodiscard]] std::string const& race() const { return race_; }

 private:
  using clock = std::array<std::uint32_t, max_threads>;
  struct access {
    std::uintptr_t begin;
    std::uintptr_t end;
    unsigned thread;
    std::uint32_t time;
    data_use use;
  };
  static void join(clock& to, clock const& from) {
    for (unsigned t = 0; t < max_threads; ++t) to[t] = std::max(to[t], from[t]);
  }

  clock now_[max_threads] = {};
  clock at_fence_[max_threads] = {};                 // of each thread, at its last release fence
  std::unordered_map<void const*, clock> released_;  // per atomic
  std::vector<access> accesses_;
  std::string race_;
};

}  // namespace wyrm::tests
