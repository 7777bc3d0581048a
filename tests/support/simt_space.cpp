// SPDX-License-Identifier: Apache-2.0
#include "simt_space.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <random>
#include <thread>
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
    exec::set_host_lanes([](void const* object, void const* place) { return here->gather(object, place); });
    for (lockstep_warp& w : warps_) start(w);
    pauses_ = 0;
    if (choose()) caller_.resume(current_->code);
    exec::set_host_wait(nullptr);
    exec::set_host_lanes(nullptr);
  }

  void meet(lockstep_group& g, collective what) {
    lane& l = *current_;
    if (g.arrived_ > 0 && g.what_ != what) fail("lanes of one tile call different collectives at the same time");
    if (&g == &l.warp->all && l.warp->finished > 0)
      fail("a lane calls a collective that others of its tile will never call");
    if (g.left_) fail("a lane calls a collective that others of its converged tile will never call");
    g.what_ = what;
    ++g.arrived_;
    remove_ready();
    if (g.arrived_ == g.size_) complete(g);
    switch_lane(l);
  }

  static thread_local multiprocessor* here;

 private:
  // The lanes that gathered with a lane, as exec::converged_tile sees them.
  struct gathered final : exec::host_lanes {
    [[nodiscard]] unsigned size() const override { return group->size_; }
    [[nodiscard]] unsigned rank() const override { return mine; }
    [[nodiscard]] std::uint32_t ballot(bool predicate) override {
      group->meet(mine, collective::ballot, predicate);
      return group->mask();
    }
    void shuffle(void* value, std::size_t bytes, unsigned lane) override {
      if (lane >= size()) fail("a lane reads from a lane that its converged tile does not have");
      unsigned char all[lockstep_group::slot_bytes] = {};
      std::memcpy(all, value, bytes);
      group->meet(mine, collective::shfl, all);
      std::memcpy(value, group->slot(lane), bytes);
    }
    void sync() override { group->meet(collective::sync); }

    std::shared_ptr<lockstep_group> group;  // until the lane gathers again
    unsigned mine = 0;
  };
  struct lane {
    lane(multiprocessor& m, lockstep_warp& w, unsigned r)
        : warp(&w), rank(r), code(m.caller_, [this, &m] { m.body(*this); }) {}
    lockstep_warp* warp;
    unsigned rank;
    gathered together;
    bool waits = false;  // in a collective, or for the next tile
    // Where the lane is while it gathers.
    bool gathers = false;
    void const* object = nullptr;
    void const* place = nullptr;
    fiber code;
  };

 public:
  // Others may come to the same place before this lane goes on. It goes on with those that chance chooses. In half of
  // the tiles lanes let others come first, for a while: so whole warps gather, too.
  exec::host_lanes* gather(void const* object, void const* place) {
    lane& l = *current_;
    leave_group(l);
    l.gathers = true;
    l.object = object;
    l.place = place;
    pauses_ = 0;
    for (unsigned turns = l.warp->index % 2 == 0 ? 1 : 500; l.gathers && turns > 0; --turns) {
      switch_lane(l);
      if (!others_may_come(*l.warp)) break;
    }
    if (l.gathers) form_group(l);
    return &l.together;
  }

 private:
  [[nodiscard]] bool others_may_come(lockstep_warp const& w) const {
    std::size_t const first = number_of(w);
    for (std::size_t i = first; i < first + w.all.size_; ++i)
      if (!lanes_[i].gathers && !lanes_[i].waits) return true;
    return false;
  }
  void form_group(lane& leader) {
    auto const group = std::make_shared<lockstep_group>();
    bool const takes_all = random_() % 2 == 0;
    std::size_t const first = number_of(*leader.warp);
    for (std::size_t i = first; i < first + leader.warp->all.size_; ++i) {
      lane& l = lanes_[i];
      bool const could = l.gathers && l.object == leader.object && l.place == leader.place;
      if (&l != &leader && (!could || (!takes_all && random_() % 2 == 0))) continue;
      l.gathers = false;
      l.together.group = group;
      l.together.mine = group->size_;
      group->lanes_[group->size_++] = i;
    }
  }
  static void leave_group(lane& l) {
    if (l.together.group == nullptr) return;
    if (l.together.group->arrived_ > 0)
      fail("a lane leaves a converged tile while others of it wait for it in a collective");
    l.together.group->left_ = true;
    l.together.group.reset();
  }

  [[noreturn]] static void fail(char const* what) {
    std::fprintf(stderr, "simt_space: %s\n", what);
    std::abort();
  }

  void body(lane& l) {
    while (!stop_) {
      job_->f(job_->work, *l.warp, l.rank, l.warp->index);
      if (l.warp->all.arrived_ > 0) fail("a lane returns while others of its tile wait for it in a collective");
      leave_group(l);
      ++l.warp->finished;
      remove_ready();
      if (l.warp->finished == l.warp->all.size_) start(*l.warp);
      switch_lane(l);
    }
  }

  // The running lane has reached a collective, or its end.
  void remove_ready() {
    current_->waits = true;
    ready_[pick_] = ready_.back();
    ready_.pop_back();
    pauses_ = 0;
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
    w.index = index;
    w.finished = 0;
    w.all.arrived_ = 0;
    w.all.size_ = job_->lanes;
    for (unsigned i = 0; i < job_->lanes; ++i) w.all.lanes_[i] = number_of(w) + i;
    make_ready(w.all);
  }
  // The number of the warp's first lane.
  [[nodiscard]] std::size_t number_of(lockstep_warp const& w) const {
    return static_cast<std::size_t>(&w - warps_.data()) * 32;
  }
  void make_ready(lockstep_group const& g) {
    for (unsigned i = 0; i < g.size_; ++i) {
      ready_.push_back(&lanes_[g.lanes_[i]]);
      ready_.back()->waits = false;
    }
  }
  // All lanes have reached a collective.
  void complete(lockstep_group& g) {
    ++g.phase_;
    if (g.what_ != collective::shfl && g.what_ != collective::sync) {
      std::uint32_t mask = 0;
      for (unsigned i = 0; i < g.size_; ++i) mask |= std::uint32_t{g.slots_[g.phase_ & 1][i][0] != 0} << i;
      g.mask_[g.phase_ & 1] = mask;
    }
    g.arrived_ = 0;
    make_ready(g);
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

void lockstep_group::meet(collective what) { multiprocessor::here->meet(*this, what); }

void lockstep_barrier::wait() {
  unsigned const before = passed_.load(std::memory_order_relaxed);  // does not change until this tile arrives
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == tiles_) {
    arrived_.store(0, std::memory_order_relaxed);
    passed_.store(before + 1, std::memory_order_release);
  }
  while (passed_.load(std::memory_order_acquire) == before) exec::host_wait();
}

class simt_machine {
 public:
  simt_machine(std::uint64_t seed, unsigned threads, unsigned resident) : warps_(std::size_t{threads} * resident) {
    for (unsigned i = 0; i < threads; ++i) processors_.emplace_back(seed_of(seed, i), resident);
  }
  void reseed(std::uint64_t seed) {
    for (std::size_t i = 0; i < processors_.size(); ++i) processors_[i].reseed(seed_of(seed, i));
  }
  [[nodiscard]] std::size_t warps() const { return warps_; }
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
  std::size_t warps_;  // resident ones of all processors
};

simt_space::simt_space(std::uint64_t seed, unsigned threads, unsigned resident)
    : machine_(std::make_shared<simt_machine>(seed, threads, resident)) {}

void simt_space::reseed(std::uint64_t seed) const { machine_->reseed(seed); }

std::size_t simt_space::resident_tiles() const { return machine_->warps(); }

void simt_space::launch(unsigned lanes, std::size_t n, void const* work, lane_function f) const {
  guard const current(*this);
  launch_work job{lanes, n, work, f};
  machine_->run(job);
}

}  // namespace wyrm::tests
