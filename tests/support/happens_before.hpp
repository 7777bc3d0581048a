// SPDX-License-Identifier: Apache-2.0
// Which accesses of a few threads happen before which others, by vector clocks (Fidge 1988, Mattern 1989), as the
// memory orders of their atomic operations say. An execution is one operation after the other; each thread has a clock
// with an entry for each thread: up to where that one's operations happen before its own next one. A release is
// recorded with the atomic: what its thread did before happens before what a thread does that reads it, or an update
// behind it, with acquire. A relaxed store ends that, a relaxed update does not (C++20, [intro.races]). A release fence
// makes the relaxed stores and updates of its thread behind it releases of what was before the fence. What happened
// before the threads began happens before all. Memory orders of cuda::atomic_ref at device scope, as all of these have
// it, mean the same.
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
  static constexpr unsigned most_threads = 8;

  /// All that was recorded is forgotten.
  void begin(std::size_t threads) {
    if (threads > most_threads) throw std::invalid_argument("happens_before: too many threads");
    for (unsigned t = 0; t < most_threads; ++t) {
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
  /// A thread reads or writes plain data.
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
  /// The first one, in words; empty if there is none.
  [[nodiscard]] std::string const& race() const { return race_; }

 private:
  using clock = std::array<std::uint32_t, most_threads>;
  struct access {
    std::uintptr_t begin;
    std::uintptr_t end;
    unsigned thread;
    std::uint32_t time;
    data_use use;
  };
  static void join(clock& to, clock const& from) {
    for (unsigned t = 0; t < most_threads; ++t) to[t] = std::max(to[t], from[t]);
  }

  clock now_[most_threads] = {};
  clock at_fence_[most_threads] = {};                // up to the last release fence of each
  std::unordered_map<void const*, clock> released_;  // with an atomic
  std::vector<access> accesses_;
  std::string race_;
};

}  // namespace wyrm::tests
