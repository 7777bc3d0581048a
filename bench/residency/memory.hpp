// SPDX-License-Identifier: Apache-2.0
// Device memory for programs: as a program takes it without a manager (plain_memory), and from a residency manager
// (managed_memory). A program is written once for both, and its kernels are compiled once.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../../alloc/residency/manager.hpp"
#include "../../exec/error.hpp"
#include "../../exec/memory.hpp"

namespace wyrm::bench::gdm {

namespace residency = alloc::residency;
using residency::access;
using residency::use_hint;
/// An element of all arrays.
using word = std::uint32_t;

/// Owns an array of words. Its memory must outlive it.
class held_array {
 public:
  virtual ~held_array() = default;
  [[nodiscard]] virtual word* data() const = 0;
  [[nodiscard]] virtual std::size_t size() const = 0;
  /// Copies from host memory, to the first words. Returns when `from` may be reused.
  virtual void write(std::span<word const> from) = 0;
  /// Copies the first words to host memory, after all launches so far.
  virtual void read(std::span<word> to) const = 0;
};
using array = std::unique_ptr<held_array>;

/// What a launch does with an array.
struct touched {
  array const& what;
  access how;
  use_hint hint = use_hint::normal;
};

/// Where a program has its arrays, and how it launches. For one thread.
template <class Space>
class device_memory {
 public:
  using kernels = std::function<void(Space const&)>;
  virtual ~device_memory() = default;
  /// The contents are undefined. Throws error(out_of_memory).
  [[nodiscard]] virtual array make(std::size_t words) = 0;
  /// Calls f(space), which enqueues kernels that touch these arrays.
  virtual void launch(std::initializer_list<touched> arrays, kernels const& f) = 0;
  /// Waits for all work.
  virtual void synchronize() const = 0;
};

/// The free bytes of a simulated device. Thread-safe.
class free_bytes {
 public:
  explicit free_bytes(std::size_t bytes) : free_(bytes) {}
  /// Throws error(out_of_memory).
  void take(std::size_t bytes) {
    std::size_t free = free_;
    do {
      if (bytes > free)
        throw error(error_code::out_of_memory, "an array of " + std::to_string(bytes) + " bytes does not fit the " +
                                                   std::to_string(free) +
                                                   " bytes that are left; use a manager, or a larger --size");
    } while (!free_.compare_exchange_weak(free, free - bytes));
  }
  void give(std::size_t bytes) { free_ += bytes; }

 private:
  std::atomic<std::size_t> free_;
};

/// Arrays that are memory of the space. A device of limited memory is simulated: what exceeds it is refused.
template <class Space>
class plain_memory final : public device_memory<Space> {
 public:
  plain_memory(Space const& space, std::size_t limit) : plain_memory(space, std::make_shared<free_bytes>(limit)) {}
  /// Of a device that several programs use.
  plain_memory(Space const& space, std::shared_ptr<free_bytes> free) : space_(space), free_(std::move(free)) {}

  [[nodiscard]] array make(std::size_t words) override { return std::make_unique<held>(space_, words, free_); }
  void launch(std::initializer_list<touched>, typename device_memory<Space>::kernels const& f) override {
    spans_.push_back(make_work_span(space_));
    spans_.back()->start();
    f(space_);
    spans_.back()->stop();
  }
  void synchronize() const override { space_.synchronize(); }
  /// The time of all launches so far. Waits.
  [[nodiscard]] double kernel_seconds() const {
    space_.synchronize();
    double sum = 0;
    for (auto const& span : spans_) sum += span->seconds();
    return sum;
  }

 private:
  /// Bytes of the device, until its end.
  struct taken {
    taken(std::shared_ptr<free_bytes> from, std::size_t n) : free(std::move(from)), bytes(n) { free->take(bytes); }
    taken(taken const&) = delete;
    ~taken() { free->give(bytes); }
    std::shared_ptr<free_bytes> free;
    std::size_t bytes;
  };
  class held final : public held_array {
   public:
    held(Space const& space, std::size_t words, std::shared_ptr<free_bytes> const& free)
        : taken_(free, words * sizeof(word)), space_(space), words_(space, words) {}
    [[nodiscard]] word* data() const override { return words_.data(); }
    [[nodiscard]] std::size_t size() const override { return words_.size(); }
    void write(std::span<word const> from) override { space_.copy_in(words_.data(), from.data(), from.size_bytes()); }
    void read(std::span<word> to) const override { space_.copy_out(to.data(), words_.data(), to.size_bytes()); }

   private:
    taken taken_;
    Space space_;
    exec::buffer<word, Space> words_;
  };

  Space space_;
  std::shared_ptr<free_bytes> free_;
  std::vector<std::unique_ptr<exec::work_span>> spans_;
};

/// Arrays that are regions of a client.
template <class Space>
class managed_memory final : public device_memory<Space> {
 public:
  /// is_base: as GDM-Base does, a transfer from the host goes to the device at once, and a launch loads all data of the
  /// program, instead of what it names.
  managed_memory(residency::client<Space>& client, Space const& space, bool is_base)
      : client_(client), space_(space), is_base_(is_base) {}

  [[nodiscard]] array make(std::size_t words) override {
    return std::make_unique<held>(client_, client_.reserve(words * sizeof(word)), is_base_);
  }
  void launch(std::initializer_list<touched> arrays, typename device_memory<Space>::kernels const& f) override {
    std::vector<residency::used_range> ranges;
    for (touched const& t : arrays)
      ranges.push_back({static_cast<held const&>(*t.what).region(), 0, residency::unlimited, t.how, t.hint});
    residency::use const scope = is_base_ ? client_.use() : client_.use(ranges);
    f(space_);
  }
  void synchronize() const override { space_.synchronize(); }

 private:
  class held final : public held_array {
   public:
    held(residency::client<Space>& client, residency::region region, bool is_base)
        : client_(client), region_(std::move(region)), is_base_(is_base) {}
    [[nodiscard]] residency::region const& region() const { return region_; }
    [[nodiscard]] word* data() const override { return reinterpret_cast<word*>(region_.data()); }
    [[nodiscard]] std::size_t size() const override { return region_.bytes() / sizeof(word); }
    void write(std::span<word const> from) override {
      region_.write(0, from.data(), from.size_bytes());
      if (is_base_) (void)client_.use({{region_, 0, from.size_bytes(), access::read}});
    }
    void read(std::span<word> to) const override { region_.read(0, to.data(), to.size_bytes()); }

   private:
    residency::client<Space>& client_;
    residency::region region_;
    bool is_base_;
  };

  residency::client<Space>& client_;
  Space space_;
  bool is_base_;
};

}  // namespace wyrm::bench::gdm
