// SPDX-License-Identifier: Apache-2.0
#include "bounded_space.hpp"

#include <algorithm>

#include "signature_check.hpp"

namespace wyrm::alloc::residency::detail {

options bounded_options(exec::any_space const& space, std::shared_ptr<budget> const& total) {
  return std::visit(
      [&](auto const& s) {
        std::size_t const step = s.granularity();
        options o;
        o.budget = total;
        o.block_bytes = std::clamp(total->limit() / 64 / step * step, step, std::max(step, std::size_t{4} << 20));
#if WYRM_WITH_CUDA
        // The host compares blocks itself where it can.
        if constexpr (std::is_same_v<std::decay_t<decltype(s)>, exec::cuda_space>)
          o.make_dirty_check = by_signatures(s, o.block_bytes);
#endif
        return o;
      },
      space);
}

}  // namespace wyrm::alloc::residency::detail
