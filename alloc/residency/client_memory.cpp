// SPDX-License-Identifier: Apache-2.0
#include "client_memory.hpp"

namespace wyrm::alloc::residency::detail {

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
}

void client_memory::unreserve(void* base, std::size_t, std::size_t) noexcept {
  std::lock_guard const lock(mutex_);
  auto const found = regions_.find(base);
  region_state* const r = found->second;
  regions_.erase(found);
  core_->release(r);
}

}  // namespace wyrm::alloc::residency::detail
