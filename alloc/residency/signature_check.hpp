// SPDX-License-Identifier: Apache-2.0
// Uses signatures to find blocks that were written, if the host cannot read device memory.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "../../exec/memory.hpp"
#include "options.hpp"
#include "signature.hpp"

namespace wyrm::alloc::residency {

/// Keeps a signature (2 KiB, in memory of the space) for each number of a block.
template <class Space>
class signature_check final : public contents_check {
 public:
  signature_check(Space const& space, std::size_t block_bytes, find_block find)
      : space_(own_space(space)), signer_(space_, block_bytes), find_(std::move(find)) {}

  // Waits, because the kernels that may write the blocks are work of another space.
  void remember(std::span<block_number const> blocks) override {
    signer_.sign(entries(blocks));
    space_.synchronize();
  }
  void check(std::span<block_number const> blocks, std::span<bool> dirty) override {
    signer_.compare(entries(blocks), dirty);
  }

 private:
  static constexpr std::size_t per_array = 512;  // 1 MiB of signatures

  static Space own_space(Space const& space) {
    if constexpr (requires { space.urgent(); })
      return space.urgent();
    else
      return space;
  }

  std::vector<signed_block> entries(std::span<block_number const> blocks) {
    std::vector<signed_block> all;
    for (block_number const n : blocks) {
      while (n / per_array >= signatures_.size()) signatures_.emplace_back(space_, per_array);
      all.push_back({find_(n).device, signatures_[n / per_array].data() + n % per_array});
    }
    return all;
  }

  Space space_;
  block_signer<Space> signer_;
  find_block find_;
  std::deque<exec::buffer<signature, Space>> signatures_;
};

/// For options::make_dirty_check. A GPU computes signatures on a stream of its own, and before waiting kernels of
/// clients; elsewhere the work of the space is signatures only: give a space of its own.
template <class Space>
[[nodiscard]] auto by_signatures(Space const& space, std::size_t block_bytes) {
  return [space, block_bytes](find_block find) -> std::unique_ptr<contents_check> {
    return std::make_unique<signature_check<Space>>(space, block_bytes, std::move(find));
  };
}

}  // namespace wyrm::alloc::residency
