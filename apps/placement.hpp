// SPDX-License-Identifier: Apache-2.0
// Where a graph is built, of which kind of memory its pool is, and how large it may become: common to the commands that
// build one on any device.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

#include "../exec/error.hpp"
#include "../exec/memory_kind.hpp"
#include "../graph/options.hpp"

namespace wyrm::apps {

struct placement {
  std::string device = "auto";
  exec::memory_kind memory = exec::memory_kind::device;  // of the pool of the graph
  std::size_t pool_limit = 0;  // bytes that the pool of the graph may grow to; 0: see alloc::options::reserve_bytes

  /// weighted: whether edges have weights, as values of type double.
  [[nodiscard]] graph::options settings(bool directed, bool weighted = false) const {
    graph::options s{.directed = directed};
    if (weighted) s.values = graph::number_type::f64;
    s.pool.memory = memory;
    s.pool.reserve_bytes = pool_limit;
    if (pool_limit != 0) s.pool.pool_bytes = std::min(s.pool.pool_bytes, pool_limit);
    return s;
  }

  /// Calls work(), and names --pool-limit in its error(out_of_memory) if the user has set it.
  template <class F>
  auto with_hint(F const& work) const {
    try {
      return work();
    } catch (error const& e) {
      if (e.code() != error_code::out_of_memory || pool_limit == 0) throw;
      throw error(e.code(), std::string(e.what()) + "; --pool-limit is " + std::to_string(pool_limit) + " bytes");
    }
  }
};

}  // namespace wyrm::apps
