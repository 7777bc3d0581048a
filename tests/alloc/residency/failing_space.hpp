// SPDX-License-Identifier: Apache-2.0
// Failure injection for the calls of a residency manager to the device: requests for memory, mappings, protections,
// copies, the waits for them, events of launches, and dirty checks. A space on which they fail on purpose.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../../../alloc/residency/options.hpp"
#include "../../../exec/block_range.hpp"
#include "../../../exec/error.hpp"
#include "../../../exec/host_space.hpp"

namespace wyrm::tests {

enum class device_call : std::uint8_t {
  reserve,
  create,
  map,
  protect,
  copy,
  finish_copies,
  copy_in,
  copy_out,
  start,
  remember,
  check
};
inline constexpr std::size_t device_calls = 11;

/// Which calls fail: the one after `served` others, and all after that with `all_later`. `only`: other calls neither
/// fail nor count.
struct failure_plan {
  error_code code = error_code::device;
  std::uint64_t served = 0;
  bool all_later = false;
  std::optional<device_call> only = std::nullopt;
};

/// Used by one thread.
class failing_calls {
 public:
  explicit failing_calls(std::uint64_t seed) : random_(seed) {}

  void arm(failure_plan const& plan) {
    plan_ = plan;
    failed_.fill(0);
    succeeded_.fill(0);
  }
  void disarm() { plan_.reset(); }
  // Since arm():
  [[nodiscard]] bool has_failed() const { return failed_ != counts{}; }
  [[nodiscard]] bool has_failed(device_call call) const { return failed_[index(call)] > 0; }
  [[nodiscard]] bool has_succeeded(device_call call) const { return succeeded_[index(call)] > 0; }
  /// Whether a transfer to a region was cut off.
  [[nodiscard]] bool has_cut_off_write() const { return has_failed(device_call::copy_in); }

  /// Counts a call, and returns whether it fails: throw_error() must follow.
  [[nodiscard]] bool fails(device_call call) {
    if (plan_ && (!plan_->only || *plan_->only == call)) {
      if (plan_->served > 0) {
        --plan_->served;
      } else if (plan_->all_later || !has_failed()) {
        ++failed_[index(call)];
        return true;
      }
    }
    ++succeeded_[index(call)];
    return false;
  }
  [[noreturn]] void throw_error() const { throw error(plan_->code, "a call was made to fail"); }
  void count(device_call call) {
    if (fails(call)) throw_error();
  }
  [[nodiscard]] std::size_t below(std::size_t n) { return random_() % n; }

 private:
  using counts = std::array<std::uint64_t, device_calls>;
  [[nodiscard]] static std::size_t index(device_call call) { return static_cast<std::size_t>(call); }

  std::mt19937_64 random_;
  std::optional<failure_plan> plan_;
  counts failed_ = {};
  counts succeeded_ = {};
};

/// Blocks of the host of which calls fail. A copy takes place when it is enqueued, or only when it is waited for. A
/// copy that fails is cut off: some of its bytes have arrived. A call that maps or protects changes nothing if it
/// fails.
class failing_ranges final : public exec::block_ranges {
 public:
  failing_ranges(std::size_t bytes, std::shared_ptr<failing_calls> calls)
      : block_ranges(bytes), real_(make_block_ranges(exec::host_space(1), bytes)), calls_(std::move(calls)) {}

  [[nodiscard]] bool is_device_readable() const override { return real_->is_device_readable(); }
  [[nodiscard]] std::byte* reserve(std::size_t blocks) override {
    calls_->count(device_call::reserve);
    return real_->reserve(blocks);
  }
  void unreserve(std::byte* base, std::size_t blocks) noexcept override { real_->unreserve(base, blocks); }
  [[nodiscard]] exec::physical_block create(exec::memory_side side) override {
    calls_->count(device_call::create);
    return real_->create(side);
  }
  void destroy(exec::memory_side side, exec::physical_block block) noexcept override {
    expect_idle(block);
    real_->destroy(side, block);
  }
  void map(std::byte* at, std::span<exec::physical_block const> blocks, exec::memory_side side,
           std::span<exec::physical_block const> before, bool is_usable) override {
    for (exec::physical_block const& b : blocks) expect_idle(b);
    calls_->count(device_call::map);
    real_->map(at, blocks, side, before, is_usable);
  }
  void unmap(std::byte* at, std::size_t blocks) noexcept override { real_->unmap(at, blocks); }
  void protect(std::byte* at, std::size_t blocks, exec::memory_side side, bool is_usable) override {
    calls_->count(device_call::protect);
    real_->protect(at, blocks, side, is_usable);
  }
  void copy(exec::memory_side to, std::byte* target, std::byte const* source, std::size_t bytes) override {
    bool const fails = calls_->fails(device_call::copy);
    if (!fails || calls_->below(2) == 0) pending_[index(to)].push_back({target, source, bytes});
    if (fails) calls_->throw_error();
    if (calls_->below(2) == 0) do_copies(to);
  }
  void finish_copies(exec::memory_side to) override {
    if (calls_->fails(device_call::finish_copies)) {
      for (copy_of_bytes& c : pending_[index(to)]) c.bytes = calls_->below(c.bytes + 1);
      do_copies(to);
      calls_->throw_error();
    }
    do_copies(to);
  }
  void copy_in(std::byte* home, exec::memory_side side, void const* from_host, std::size_t bytes) override {
    bool const fails = calls_->fails(device_call::copy_in);
    real_->copy_in(home, side, from_host, fails ? calls_->below(bytes) : bytes);
    if (fails) calls_->throw_error();
  }
  void copy_out(void* to_host, std::byte const* home, exec::memory_side side, std::size_t bytes) override {
    bool const fails = calls_->fails(device_call::copy_out);
    real_->copy_out(to_host, home, side, fails ? calls_->below(bytes) : bytes);
    if (fails) calls_->throw_error();
  }

 private:
  struct copy_of_bytes {
    std::byte* target;
    std::byte const* source;
    std::size_t bytes;
  };
  [[nodiscard]] static std::size_t index(exec::memory_side side) { return static_cast<std::size_t>(side); }
  void do_copies(exec::memory_side to) {
    for (copy_of_bytes const& c : std::exchange(pending_[index(to)], {})) std::memcpy(c.target, c.source, c.bytes);
  }
  void expect_idle(exec::physical_block const& block) const {
    for (auto const& copies : pending_)
      for (copy_of_bytes const& c : copies)
        EXPECT_TRUE(c.target != block.home && c.source != block.home) << "a copy to or from the block is not complete";
  }

  std::unique_ptr<exec::block_ranges> real_;
  std::shared_ptr<failing_calls> calls_;
  std::array<std::vector<copy_of_bytes>, 2> pending_;  // to each side
};

struct failing_space : exec::host_space {
  explicit failing_space(std::shared_ptr<failing_calls> c) : exec::host_space(1), calls(std::move(c)) {}
  std::shared_ptr<failing_calls> calls;
};
[[nodiscard]] inline std::unique_ptr<exec::block_ranges> make_block_ranges(failing_space const& space,
                                                                           std::size_t block_bytes) {
  return std::make_unique<failing_ranges>(block_bytes, space.calls);
}

class failing_span final : public exec::work_span {
 public:
  explicit failing_span(std::shared_ptr<failing_calls> calls) : calls_(std::move(calls)) {}
  void start() override { calls_->count(device_call::start); }
  void stop() noexcept override {}
  [[nodiscard]] bool is_done() const override { return true; }
  void wait() const noexcept override {}
  [[nodiscard]] double seconds() const override { return 0; }

 private:
  std::shared_ptr<failing_calls> calls_;
};
[[nodiscard]] inline std::unique_ptr<exec::work_span> make_work_span(failing_space const& space) {
  return std::make_unique<failing_span>(space.calls);
}

/// A dirty check whose calls fail.
class failing_check final : public alloc::residency::contents_check {
 public:
  failing_check(std::unique_ptr<alloc::residency::contents_check> real, std::shared_ptr<failing_calls> calls)
      : real_(std::move(real)), calls_(std::move(calls)) {}
  void remember(std::span<alloc::residency::block_number const> blocks) override {
    // Of some of them.
    if (calls_->fails(device_call::remember)) {
      real_->remember(blocks.first(calls_->below(blocks.size() + 1)));
      calls_->throw_error();
    }
    real_->remember(blocks);
  }
  void check(std::span<alloc::residency::block_number const> blocks, std::span<bool> dirty) override {
    calls_->count(device_call::check);
    real_->check(blocks, dirty);
  }

 private:
  std::unique_ptr<alloc::residency::contents_check> real_;
  std::shared_ptr<failing_calls> calls_;
};

}  // namespace wyrm::tests
