// SPDX-License-Identifier: Apache-2.0
#include "client_memory.hpp"

#include <utility>

namespace wyrm::alloc::residency::detail {

client_memory::~client_memory() { finish_uses(); }

void client_memory::begin() {
  std::lock_guard const lock(mutex_);
  std::thread::id const me = std::this_thread::get_id();
  {
    std::lock_guard const leaf(depth_mutex_);
    ++depth_[me];
  }
  if (!uses_.empty()) return;
  try {
    if (paused_ && core_->resume_use(paused_))
      uses_.push_back(std::move(paused_));  // has room for one
    else
      begin_use();
  } catch (...) {
    std::lock_guard const leaf(depth_mutex_);
    if (--depth_[me] == 0) depth_.erase(me);
    throw;
  }
}

void client_memory::end() noexcept {
  std::lock_guard const lock(mutex_);
  {
    std::lock_guard const leaf(depth_mutex_);
    auto const mine = depth_.find(std::this_thread::get_id());
    if (--mine->second > 0) return;
    depth_.erase(mine);
    if (!depth_.empty()) return;
  }
  if (uses_.size() == 1) {
    paused_ = std::move(uses_.front());
    uses_.clear();
    core_->pause_use(paused_);
  } else {
    finish_uses();
  }
}

// Under the mutex, as the next one.
void client_memory::begin_use() {
  paused_.reset();
  uses_.reserve(uses_.size() + 1);
  uses_.push_back(core_->begin_use_of_backed(client_, make_span_(), [this] { return is_held_by_this_thread(); }));
}

void client_memory::finish_uses() noexcept {
  for (std::shared_ptr<use_state> const& u : uses_) core_->finish_use(u);
  uses_.clear();
}

bool client_memory::is_held_by_this_thread() const {
  std::lock_guard const leaf(depth_mutex_);
  return depth_.contains(std::this_thread::get_id());
}

bool client_memory::is_held_by_this_thread_only() const {
  std::lock_guard const leaf(depth_mutex_);
  return depth_.size() == 1 && depth_.contains(std::this_thread::get_id());
}

void* client_memory::reserve(std::size_t bytes, exec::use_rate rate) {
  std::lock_guard const lock(mutex_);
  region_state* const r =
      core_->reserve(client_, bytes, true, rate == exec::use_rate::high ? use_hint::hot : use_hint::normal);
  try {
    regions_.emplace(r->base, r);
  } catch (...) {
    core_->release(r);
    throw;
  }
  return r->base;
}

void client_memory::commit(void* base, std::size_t from, std::size_t to) {
  std::lock_guard const lock(mutex_);
  region_state* const r = regions_.at(base);
  bool const goes_on = !uses_.empty();
  try {
    if (!core_->make_room_for_commit(r, from, to) && is_held_by_this_thread_only()) {
      finish_uses();  // this thread enqueues nothing before the call returns
      (void)core_->make_room_for_commit(r, from, to);
    }
    core_->commit(r, from, to);
  } catch (...) {
    if (goes_on && uses_.empty()) begin_use();
    throw;
  }
  paused_.reset();
  if (goes_on) begin_use();
}

void client_memory::unreserve(void* base, std::size_t, std::size_t) noexcept {
  std::lock_guard const lock(mutex_);
  auto const found = regions_.find(base);
  region_state* const r = found->second;
  regions_.erase(found);
  core_->release(r);
}

void client_memory::allocating(std::size_t bytes) {
  {
    std::lock_guard const lock(mutex_);
    if (core_->take_array(client_, bytes, core::if_full::give_up)) return;
    if (is_held_by_this_thread_only()) {
      // What is enqueued uses the blocks; this thread enqueues nothing before the call returns.
      std::vector<std::shared_ptr<use_state>> const mine = uses_;
      finish_uses();
      for (std::shared_ptr<use_state> const& u : mine) u->work->wait();
    }
  }
  // Without the mutex, so that other threads can end what they do.
  auto const go_on = [&] {
    std::lock_guard const lock(mutex_);
    if (uses_.empty() && is_held_by_this_thread()) begin_use();
  };
  try {
    (void)core_->take_array(client_, bytes, is_held_by_this_thread() ? core::if_full::refuse : core::if_full::wait);
  } catch (...) {
    go_on();
    throw;
  }
  try {
    go_on();
  } catch (...) {
    core_->return_array(client_, bytes);
    throw;
  }
}

void client_memory::freed(std::size_t bytes) noexcept { core_->return_array(client_, bytes); }

std::size_t client_memory::in_host_memory(void const* base, std::size_t bytes) const {
  std::lock_guard const lock(mutex_);
  return core_->in_host_memory(regions_.at(const_cast<void*>(base)), bytes);
}

}  // namespace wyrm::alloc::residency::detail
