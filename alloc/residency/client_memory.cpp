// SPDX-License-Identifier: Apache-2.0
#include "client_memory.hpp"

#include <utility>

namespace wyrm::alloc::residency::detail {

client_memory::~client_memory() { finish_uses(); }

void client_memory::begin() {
  std::lock_guard const lock(mutex_);
  unsigned& depth = depth_[std::this_thread::get_id()];
  if (uses_.empty()) {
    if (paused_ && core_->resume_use(paused_))
      uses_.push_back(std::move(paused_));
    else
      begin_use();
  }
  ++depth;
}

void client_memory::end() noexcept {
  std::lock_guard const lock(mutex_);
  auto const mine = depth_.find(std::this_thread::get_id());
  if (--mine->second > 0) return;
  depth_.erase(mine);
  if (!depth_.empty()) return;
  if (uses_.size() == 1) {
    paused_ = std::move(uses_.front());
    uses_.clear();
    core_->pause_use(paused_);
  } else {
    finish_uses();
  }
}

// Under the mutex, as the next two.
void client_memory::begin_use() {
  paused_.reset();
  uses_.reserve(uses_.size() + 1);
  uses_.push_back(core_->begin_use(client_, {}, make_span_()));
}

void client_memory::finish_uses() noexcept {
  for (std::shared_ptr<use_state> const& u : uses_) core_->finish_use(u);
  uses_.clear();
}

bool client_memory::is_only_mine() const {
  return depth_.size() == 1 && depth_.begin()->first == std::this_thread::get_id();
}

void* client_memory::reserve(std::size_t bytes) {
  std::lock_guard const lock(mutex_);
  region_state* const r = core_->reserve(client_, bytes, true);
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
  core_->commit(regions_.at(base), from, to);
  paused_.reset();
  if (!uses_.empty()) begin_use();
}

void client_memory::unreserve(void* base, std::size_t, std::size_t) noexcept {
  std::lock_guard const lock(mutex_);
  auto const found = regions_.find(base);
  region_state* const r = found->second;
  regions_.erase(found);
  core_->release(r);
}

void client_memory::allocating(std::size_t bytes) {
  std::lock_guard const lock(mutex_);
  if (core_->take_array(client_, bytes, uses_.empty())) return;
  if (!is_only_mine()) return (void)core_->take_array(client_, bytes, true);
  // What is enqueued uses the blocks; nothing else does until this call returns.
  for (std::shared_ptr<use_state> const& u : uses_) core_->finish_use(u);
  for (std::shared_ptr<use_state> const& u : uses_) u->work->wait();
  uses_.clear();
  try {
    (void)core_->take_array(client_, bytes, true);
  } catch (...) {
    begin_use();
    throw;
  }
  begin_use();
}

void client_memory::freed(std::size_t bytes) noexcept { core_->return_array(client_, bytes); }

}  // namespace wyrm::alloc::residency::detail
