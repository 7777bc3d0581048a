// SPDX-License-Identifier: Apache-2.0
// How many bytes of device memory a residency manager may hold: a fixed number, or a lease from the broker that several
// processes share.
#pragma once

#include <cstddef>

#include "../../exec/error.hpp"

namespace wyrm::alloc::residency {

/// Thread-safe. The manager acquires before it takes device memory, and gives back after it has freed it.
class budget {
 public:
  virtual ~budget() = default;

  /// Takes up to `bytes` more, in multiples of `step`, and returns how many. It is 0 if others hold all and nobody can
  /// give any back within the patience of the budget.
  [[nodiscard]] virtual std::size_t acquire(std::size_t bytes, std::size_t step) = 0;
  virtual void give_back(std::size_t bytes) noexcept = 0;
  /// Bytes that others wait for. The manager evicts and gives back so many as soon as its launches allow it.
  [[nodiscard]] virtual std::size_t wanted_back() const = 0;
  /// The most that acquire() can ever add up to.
  [[nodiscard]] virtual std::size_t limit() const = 0;
};

}  // namespace wyrm::alloc::residency
