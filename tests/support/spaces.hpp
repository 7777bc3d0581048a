// SPDX-License-Identifier: Apache-2.0
// Construction and names of spaces for typed tests, and scaling of their work. A test of a space without a device is
// skipped. WYRM_TEST_SCALE, in (0, 1], reduces the work for slow checkers. With WYRM_TEST_MANAGED the memory of spaces
// of the CPU is managed: inaccessible while no work runs.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>

#include "../../exec/host_space.hpp"
#include "protecting_manager.hpp"
#include "seed.hpp"

namespace wyrm::tests {

[[nodiscard]] inline exec::memory_manager* manager_of_tests() {
  static auto& manager = *new protecting_manager;  // outlives all that is made on a space
  return std::getenv("WYRM_TEST_MANAGED") != nullptr ? &manager : nullptr;
}

/// seed: determines the order of lanes in simt_space; other spaces ignore it. There is one simt_space per seed, because
/// the construction of lanes is expensive under ThreadSanitizer.
template <class Space>
[[nodiscard]] Space make_space([[maybe_unused]] std::uint64_t seed = 1) {
  if constexpr (std::is_constructible_v<Space, std::uint64_t, unsigned, unsigned>) {
    static std::map<std::uint64_t, Space> made;
    return made.try_emplace(seed, seeded(seed)).first->second.managed_by(manager_of_tests());
  } else if constexpr (std::is_same_v<Space, exec::host_space>) {
    return Space(std::max(2u, std::thread::hardware_concurrency())).managed_by(manager_of_tests());
  } else {
    return Space(0);
  }
}

template <class Space>
[[nodiscard]] bool available() {
  if constexpr (requires { Space::device_count(); })
    return Space::device_count() > 0;
  else
    return true;
}

/// n times WYRM_TEST_SCALE, but not below `least`.
[[nodiscard]] inline std::size_t scaled(std::size_t n, std::size_t least = 1) {
  char const* const text = std::getenv("WYRM_TEST_SCALE");
  double const scale = text != nullptr ? std::atof(text) : 1.0;
  if (!(scale > 0.0 && scale < 1.0)) return std::max(n, least);
  return std::max(static_cast<std::size_t>(static_cast<double>(n) * scale), least);
}

/// How many bytes of each block a long random test verifies, beside its ends: WYRM_TEST_SAMPLES; 0: all.
[[nodiscard]] inline std::uint32_t test_samples() {
  char const* const text = std::getenv("WYRM_TEST_SAMPLES");
  return text != nullptr ? static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10)) : 0;
}

/// The number of operations of a long random test: WYRM_TEST_OPERATIONS, or n.
[[nodiscard]] inline double operations_or(double n) {
  char const* const text = std::getenv("WYRM_TEST_OPERATIONS");
  return text != nullptr ? std::atof(text) : n;
}

/// How long a test with several threads runs, if its usual work takes less time: WYRM_TEST_SECONDS, or 0.
[[nodiscard]] inline std::chrono::seconds test_duration() {
  char const* const text = std::getenv("WYRM_TEST_SECONDS");
  return std::chrono::seconds(text != nullptr ? std::atoi(text) : 0);
}

/// Fixture of a test whose type parameter is a space.
template <class Space>
class space_test : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!available<Space>()) GTEST_SKIP() << "there is no device for the space '" << Space::name << "'";
  }
};

/// The same with a space of its own, which is made only where there is a device for it.
template <class Space>
class space_fixture : public space_test<Space> {
 protected:
  void SetUp() override {
    space_test<Space>::SetUp();
    if (!this->IsSkipped()) space_.emplace(make_space<Space>());
  }
  [[nodiscard]] Space const& space() const { return *space_; }

 private:
  std::optional<Space> space_;
};

/// Names test instances by the `name` of their type. Replaces '-', which has a meaning in filters of GoogleTest.
struct by_name {
  template <class T>
  static std::string GetName(int) {
    std::string name = T::name;
    for (char& letter : name) letter = letter == '-' || letter == '+' ? '_' : letter;
    return name;
  }
};

}  // namespace wyrm::tests
