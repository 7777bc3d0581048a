// SPDX-License-Identifier: Apache-2.0
// Failure injection for tests: the n-th request of the calling thread for memory of any space fails, and so do all
// later requests. `buffer`, `staging_buffer`, `reservation`, streams and events count their requests.
#pragma once

#include <cstdint>

#include "error.hpp"

namespace wyrm::exec {

namespace detail {
inline constexpr std::uint64_t never = ~std::uint64_t{0};
/// The number of further requests of this thread that succeed. `never`: no failure is injected, and requests are not
/// counted.
inline thread_local std::uint64_t requests_left = never;

/// Called before each request for memory.
inline void count_request() {
  if (requests_left == never) return;
  if (requests_left == 0) throw error(error_code::out_of_memory, "a request for memory was made to fail");
  --requests_left;
}
}  // namespace detail

/// While an object exists, requests of the calling thread fail after `served` more requests have succeeded.
class injected_failure {
 public:
  explicit injected_failure(std::uint64_t served) : previous_(detail::requests_left) {
    if (served < previous_) detail::requests_left = served;  // an enclosing object may have a lower limit
  }
  ~injected_failure() { detail::requests_left = previous_; }
  injected_failure(injected_failure const&) = delete;
  injected_failure& operator=(injected_failure const&) = delete;

  /// The number of further requests that would succeed.
  [[nodiscard]] std::uint64_t left() const { return detail::requests_left; }

 private:
  std::uint64_t previous_;
};

}  // namespace wyrm::exec
