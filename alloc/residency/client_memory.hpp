// SPDX-License-Identifier: Apache-2.0
// Regions as the memory of pools.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

#include "../../exec/range_source.hpp"
#include "core.hpp"

namespace wyrm::alloc::residency::detail {

/// Each range is a region of a client. commit() backs its blocks by host memory. Uses that name nothing use the blocks
/// that are committed.
class client_memory final : public exec::range_source {
 public:
  client_memory(std::shared_ptr<core> owner, client_state* client) : core_(std::move(owner)), client_(client) {}

  [[nodiscard]] void* reserve(std::size_t bytes) override;
  void commit(void* base, std::size_t from, std::size_t to) override;
  void unreserve(void* base, std::size_t reserved, std::size_t committed) noexcept override;

 private:
  std::shared_ptr<core> core_;
  client_state* client_;
  std::mutex mutex_;
  std::map<void*, region_state*> regions_;
};

}  // namespace wyrm::alloc::residency::detail
