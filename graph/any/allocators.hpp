// SPDX-License-Identifier: Apache-2.0
// The allocators that an any_graph can use in this build. Not for users: any_graph::allocators() names them.
#pragma once

#include "../../alloc/registry.hpp"

namespace wyrm::graph::detail {

/// All allocators; or with the CMake option WYRM_GRAPH_ALLOCATORS=few one for each way in which graphs treat a family:
/// one whose pool can be reset, and one without a pool (alloc::traits::resets).
template <class Space>
#ifdef WYRM_FEW_GRAPH_ALLOCATORS
using graph_allocators = alloc::list<alloc::ouroboros_s_p<Space>, alloc::system_malloc<Space>>;
#else
using graph_allocators = alloc::all<Space>;
#endif

}  // namespace wyrm::graph::detail
