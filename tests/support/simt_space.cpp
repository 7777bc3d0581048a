// SPDX-License-Identifier: Apache-2.0
#include "simt_space.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "fiber.hpp"

namespace wyrm::tests {

struct launch_work {
  unsigned lanes;
  std::size_t n;
  void const* work;
  void (*f)(void const*, lockstep_warp&, unsigned, std::size_t);
  std::atomic<std::size_t> next{0};
};

// The resident warps of one thread.
class multiprocessor {
 public:
  multiprocessor(std::uint64_t seed, unsigned resident) : random_(seed), warps_(resident) {
    for (unsigned i = 0; i < resident * 32; ++i) lanes_.emplace_back(*this, warps_[i / 32], i % 32);
  }
  ~multiprocessor() {
    stop_ = true;
    for (lane& l : lanes_) caller_.resume(l.code);
  }
  multiprocessor(multiprocessor const&) = delete;
  multiprocessor& operator=(multiprocessor const&) = delete;

  void reseed(std::uint64_t seed) { random_.seed(static_cast<std::minstd_rand::result_type>(seed)); }

  void run(launch_work& job) {
    job_ = &job;
    here = this;
    exec::set_host_wait([] { here->yield(); });
    for (lockstep_warp& w : warps_) start(w);
    pauses_ = 0;
    if (choose()) caller_.resume(current_->code);
    exec::set_host_wait(nullptr);
  }

  void meet(collective what) {
    lane& l = *current_;
    lockstep_warp& w = *l.warp;
    if (w.arrived_ > 0 && w.what_ != what) fail("lanes of one tile call different collectives at the same time");
    if (w.finished_ > 0) fail("a lane calls a collective that others of its tile will never call");
    w.what_ = what;
    ++w.arrived_;
    stop(l);
  }

  static thread_local multiprocessor* here;

 private:
  struct lane {
    lane(multiprocessor& m, lockstep_warp& w, unsigned r)
        : warp(&w), rank(r), code(m.caller_, [this, &m] { m.body(*this); }) {}
    lockstep_warp* warp;
    unsigned rank;
    fiber code;
  };

  [[noreturn]] static void fail(char const* what) {
    std::fprintf(stderr, "simt_space: %s\n", what);
    std::abort();
  }

  void body(lane& l) {
    while (!stop_) {
      job_->f(job_->work, *l.warp, l.rank, l.warp->index_);
      if (l.warp->arrived_ > 0) fail("a lane returns while others of its tile wait for it in a collective");
      ++l.warp->finished_;
      stop(l);
    }
  }

  // The running lane has reached a collective, or its end.
  void stop(lane& l) {
    ready_[pick_] = ready_.back();
    ready_.pop_back();
    pauses_ = 0;
    progress(*l.warp);
    switch_lane(l);
  }
  // The running lane polls. When all lanes of this thread poll, lanes of other threads must make progress.
  void yield() {
    if (++pauses_ > 4 * ready_.size()) std::this_thread::yield();
    switch_lane(*current_);
  }
  // Switches to the next lane; returns when this lane is resumed.
  void switch_lane(lane& l) {
    if (!choose())
      l.code.leave();
    else if (current_ != &l)
      l.code.pass_to(current_->code);
  }
  // Chooses the next lane at random; false if no lane is ready.
  bool choose() {
    if (ready_.empty()) return false;
    pick_ = random_() * ready_.size() >> 31;  // of numbers below 2^31
    current_ = ready_[pick_];
    return true;
  }

  // Assigns the next tile of the launch to the warp, if there is one.
  void start(lockstep_warp& w) {
    std::size_t const index = job_->next.fetch_add(1);
    if (index >= job_->n) return;
    w.index_ = index;
    w.lanes_ = job_->lanes;
    w.arrived_ = w.finished_ = 0;
    make_ready(w);
  }
  void make_ready(lockstep_warp& w) {
    std::size_t const first = static_cast<std::size_t>(&w - warps_.data()) * 32;
    for (std::size_t i = first; i < first + w.lanes_; ++i) ready_.push_back(&lanes_[i]);
  }
  // Called after a lane has reached a collective, or its end.
  void progress(lockstep_warp& w) {
    if (w.finished_ == w.lanes_) {
      start(w);
    } else if (w.arrived_ == w.lanes_) {
      ++w.phase_;
      if (w.what_ != collective::shfl && w.what_ != collective::sync) {
        std::uint32_t mask = 0;
        for (unsigned i = 0; i < w.lanes_; ++i) mask |= std::uint32_t{w.slots_[w.phase_ & 1][i][0] != 0} << i;
        w.mask_[w.phase_ & 1] = mask;
      }
      w.arrived_ = 0;
      make_ready(w);
    }
  }

  std::minstd_rand random_;
  std::vector<lockstep_warp> warps_;
  fiber::caller caller_;
  std::deque<lane> lanes_;
  std::vector<lane*> ready_;
  lane* current_ = nullptr;  // the running lane, ready_[pick_]
  std::size_t pick_ = 0;
  std::size_t pauses_ = 0;  // number of consecutive polls
  launch_work* job_ = nullptr;
  bool stop_ = false;
};

thread_local multiprocessor* multiprocessor::here = nullptr;

void lockstep_warp::meet(collective what) { multiprocessor::here->meet(what); }

class simt_machine {
 public:
  simt_machine(std::uint64_t seed, unsigned threads, unsigned resident) {
    for (unsigned i = 0; i < threads; ++i) processors_.emplace_back(seed_of(seed, i), resident);
  }
  void reseed(std::uint64_t seed) {
    for (std::size_t i = 0; i < processors_.size(); ++i) processors_[i].reseed(seed_of(seed, i));
  }
  void run(launch_work& job) {
    std::size_t const used = std::min(processors_.size(), job.n);
    std::vector<std::thread> others;
    for (std::size_t i = 1; i < used; ++i) others.emplace_back([this, &job, i] { processors_[i].run(job); });
    processors_[0].run(job);
    for (std::thread& t : others) t.join();
  }

 private:
  static std::uint64_t seed_of(std::uint64_t seed, std::size_t thread) { return seed * 1000003 + thread; }
  std::deque<multiprocessor> processors_;
};

simt_space::simt_space(std::uint64_t seed, unsigned threads, unsigned resident)
    : machine_(std::make_shared<simt_machine>(seed, threads, resident)) {}

void simt_space::reseed(std::uint64_t seed) const { machine_->reseed(seed); }

void simt_space::launch(unsigned lanes, std::size_t n, void const* work, lane_function f) const {
  launch_work job{lanes, n, work, f};
  machine_->run(job);
}

}  // namespace wyrm::tests
