// SPDX-License-Identifier: Apache-2.0
// Runs a few threads, as fibers, in every interleaving of their atomic operations that has at most a given number of
// preemptions (systematic search with bounded preemptions, Musuvathi and Qadeer, PLDI 2007). One thread runs at a time,
// and every operation on exec::atomic_ref is a possible preemption. A thread that polls yields to the next thread.
// Executions are sequentially consistent, but the promises of weaker memory orders are checked, too: every atomic
// operation, and every access to plain data that a test reports (happens_before.hpp), is recorded, and the test fails
// where two threads use the same data and neither access happens before the other. Include this header before any
// header of Wyrm, in a program of its own.
#pragma once

#include <cuda/atomic>

#define WYRM_ATOMIC_REF ::wyrm::tests::preemptible_ref

namespace wyrm::tests {

/// A point of possible preemption. Does nothing outside an exploration.
void step();

/// Records an atomic operation for happens_before.hpp; does nothing outside an exploration.
enum class atomic_use { load, store, update };
void record(atomic_use use, void const* place, cuda::memory_order order);
void record_release_fence();

/// exec::atomic_ref with a point of possible preemption before each operation, which is recorded.
template <class T>
class preemptible_ref : cuda::atomic_ref<T, cuda::thread_scope_device> {
  using base = cuda::atomic_ref<T, cuda::thread_scope_device>;
  using order = cuda::memory_order;

 public:
  explicit preemptible_ref(T& place) : base(place), place_(&place) {}
  T load(order o) const { return watch(atomic_use::load, o), base::load(o); }
  void store(T value, order o) const { watch(atomic_use::store, o), base::store(value, o); }
  T exchange(T value, order o) const { return watch(atomic_use::update, o), base::exchange(value, o); }
  T fetch_add(T value, order o) const { return watch(atomic_use::update, o), base::fetch_add(value, o); }
  T fetch_sub(T value, order o) const { return watch(atomic_use::update, o), base::fetch_sub(value, o); }
  T fetch_max(T value, order o) const { return watch(atomic_use::update, o), base::fetch_max(value, o); }
  T fetch_min(T value, order o) const { return watch(atomic_use::update, o), base::fetch_min(value, o); }
  T fetch_and(T value, order o) const { return watch(atomic_use::update, o), base::fetch_and(value, o); }
  T fetch_or(T value, order o) const { return watch(atomic_use::update, o), base::fetch_or(value, o); }
  bool compare_exchange_weak(T& expected, T value, order good, order bad) const {
    return compare_exchange_strong(expected, value, good, bad);
  }
  bool compare_exchange_strong(T& expected, T value, order o) const {
    order const bad = o == order::acq_rel ? order::acquire : o == order::release ? order::relaxed : o;
    return compare_exchange_strong(expected, value, o, bad);
  }
  bool compare_exchange_strong(T& expected, T value, order good, order bad) const {
    step();
    bool const is_equal = base::compare_exchange_strong(expected, value, good, bad);
    record(is_equal ? atomic_use::update : atomic_use::load, place_, is_equal ? good : bad);
    return is_equal;
  }

 private:
  // No other thread goes on between the record and the operation.
  void watch(atomic_use use, order o) const { step(), record(use, place_, o); }

  T* place_;
};

}  // namespace wyrm::tests

// exec::release_fence() calls this instead of the fence.
namespace cuda {
inline void watched_thread_fence(memory_order, thread_scope) { ::wyrm::tests::record_release_fence(); }
}  // namespace cuda
#define atomic_thread_fence watched_thread_fence
#include "../../exec/atomic.hpp"
#undef atomic_thread_fence

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "../../exec/tile.hpp"
#include "fiber.hpp"
#include "happens_before.hpp"

namespace wyrm::tests {

class interleavings {
 public:
  /// preemptions: the maximum number of preemptions; horizon: preemptions occur only in this number of first steps.
  explicit interleavings(unsigned preemptions, std::size_t horizon) : preemptions_(preemptions), horizon_(horizon) {}

  ~interleavings() {
    over_ = true;
    for (fiber& t : threads_) caller_.resume(t);
  }
  interleavings(interleavings const&) = delete;
  interleavings& operator=(interleavings const&) = delete;

  /// For each interleaving: calls make() for a new set of thread bodies, runs them, and calls check(). Ends when there
  /// is no other interleaving, or check() returns false. Returns the number of interleavings; 0 if a thread waited
  /// forever. A data race fails
  /// the test and ends the exploration.
  template <class Make, class Check>
  std::size_t explore(Make const& make, Check const& check) {
    std::size_t n = 0;
    do {
      run(make());
      if (!order_.race().empty()) {
        ADD_FAILURE() << order_.race() << ", in interleaving " << n;
        return n + 1;
      }
      if (stuck_) return 0;
      ++n;
    } while (check() && next());
    return n;
  }
  /// The number of polling pauses of all threads in the last interleaving.
  [[nodiscard]] unsigned pauses() const { return pauses_; }

 private:
  friend void step();
  friend void record(atomic_use use, void const* place, cuda::memory_order order);
  friend void record_release_fence();
  friend void touch(void const* data, std::size_t bytes, data_use use);
  struct decision {
    unsigned choice;
    unsigned width;
  };
  struct aborted {};
  static constexpr unsigned too_many_steps = 100000;

  void run(std::vector<std::function<void()>> bodies) {
    depth_ = steps_ = preempted_ = pauses_ = 0;
    stuck_ = false;
    alive_.assign(bodies.size(), true);
    bodies_ = std::move(bodies);
    order_.begin(bodies_.size());
    while (threads_.size() < bodies_.size()) threads_.emplace_back(caller_, [this] { run_bodies(); });
    owner = this;
    exec::set_host_wait([] { owner->yield_turn(); });
    current_ = decide(count_alive());
    caller_.resume(threads_[current_]);
    exec::set_host_wait(nullptr);
    owner = nullptr;
  }

  // The body of a fiber: executes one thread body in each interleaving.
  void run_bodies() {
    while (!over_) {
      unsigned const self = current_;
      try {
        bodies_[self]();
      } catch (aborted) {
      }
      alive_[self] = false;
      if (unsigned const others = count_alive(); others == 0)
        threads_[self].leave();
      else
        pass_to(other(decide(others)));
    }
  }

  // The next thread that has not ended, after skipping `further` such threads.
  [[nodiscard]] unsigned other(unsigned further) const {
    auto const n = static_cast<unsigned>(alive_.size());
    for (unsigned at = (current_ + 1) % n;; at = (at + 1) % n) {
      if (at == current_ || !alive_[at]) continue;
      if (further-- == 0) return at;
    }
  }
  [[nodiscard]] unsigned count_alive() const {
    unsigned n = 0;
    for (bool const alive : alive_) n += alive;
    return n;
  }

  void at_step() {
    count_step();
    if (preempted_ == preemptions_ || steps_ > horizon_) return;
    unsigned const choice = decide(count_alive());
    if (choice == 0) return;
    ++preempted_;
    switch_turn(other(choice - 1));
  }
  void yield_turn() {
    count_step();
    ++pauses_;
    if (count_alive() > 1) switch_turn(other(0));
  }
  void count_step() {
    if (++steps_ > too_many_steps) stuck_ = true;
    if (stuck_) throw aborted{};
  }
  void switch_turn(unsigned to) {
    pass_to(to);
    if (stuck_) throw aborted{};
  }
  void pass_to(unsigned to) {
    fiber& self = threads_[current_];
    current_ = to;
    self.pass_to(threads_[to]);
  }

  unsigned decide(unsigned width) {
    if (width <= 1 || stuck_) return 0;
    if (depth_ == path_.size()) path_.push_back({0, width});
    return path_[depth_++].choice;
  }
  bool next() {
    while (!path_.empty() && path_.back().choice + 1 == path_.back().width) path_.pop_back();
    if (path_.empty()) return false;
    ++path_.back().choice;
    return true;
  }

  static inline interleavings* owner = nullptr;  // the running exploration

  unsigned preemptions_;
  std::size_t horizon_;
  std::vector<decision> path_;
  std::vector<bool> alive_;
  fiber::caller caller_;
  std::deque<fiber> threads_;
  happens_before order_;
  std::vector<std::function<void()>> bodies_;
  unsigned current_ = 0;
  std::size_t depth_ = 0;
  unsigned steps_ = 0;
  unsigned preempted_ = 0;
  unsigned pauses_ = 0;
  bool stuck_ = false;
  bool over_ = false;
};

inline void step() {
  if (interleavings::owner != nullptr) interleavings::owner->at_step();
}
inline void record(atomic_use use, void const* place, cuda::memory_order order) {
  if (auto* const all = interleavings::owner; all != nullptr) all->order_.use(all->current_, use, place, order);
}
inline void record_release_fence() {
  if (auto* const all = interleavings::owner; all != nullptr) all->order_.release_fence(all->current_);
}

/// A thread reads or writes plain data, here: for data whose owner changes by what is tested. Nothing outside an
/// exploration.
inline void touch(void const* data, std::size_t bytes, data_use use = data_use::write) {
  if (auto* const all = interleavings::owner; all != nullptr) all->order_.touch(all->current_, data, bytes, use);
}

}  // namespace wyrm::tests
