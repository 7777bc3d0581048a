// SPDX-License-Identifier: Apache-2.0
// Memory that runs out where a test wants it to: the n-th request for memory of any space that the calling thread makes
// is refused, and so are those after it. Requests are counted where `buffer`, `staging_buffer` and `reservation` ask
// their space.
#pragma once

#include <cstdint>

#include "error.hpp"

namespace wyrm::exec {

namespace detail {
inline constexpr std::uint64_t never = ~std::uint64_t{0};
/// Requests of this thread that are still served. Never: all are, and none is counted.
inline thread_local std::uint64_t requests_left = never;

/// Before each request for memory.
inline void count_request() {
  if (requests_left == never) return;
  if (requests_left == 0) throw error(error_code::out_of_memory, "a request for memory was made to fail");
  --requests_left;
}
}  // namespace detail

/// While one of these exists, the calling thread is refused memory after it has been served `served` more times.
class injected_failure {
 public:
  explicit injected_failure(std::uint64_t served) : before_(detail::requests_left) {
    if (served < before_) detail::requests_left = served;  // one that is there already may be stricter
  }
  ~injected_failure() { detail::requests_left = before_; }
  injected_failure(injected_failure const&) = delete;
  injected_failure& operator=(injected_failure const&) = delete;

  /// Requests that would still be served.
  [[nodiscard]] std::uint64_t left() const { return detail::requests_left; }

 private:
  std::uint64_t before_;
};

}  // namespace wyrm::exec
