// SPDX-License-Identifier: Apache-2.0
// The allocators of a family that typed suites run for.
#pragma once

#include <gtest/gtest.h>

#include <tuple>
#include <type_traits>

#include "../../alloc/registry.hpp"

namespace wyrm::tests {

template <class... A>
auto first_and_last(alloc::list<A...>) {
  using all = std::tuple<A...>;
  using first = std::tuple_element_t<0, all>;
  using last = std::tuple_element_t<sizeof...(A) - 1, all>;
  return std::conditional_t<sizeof...(A) == 1, alloc::list<first>, alloc::list<first, last>>{};
}
template <class... A>
::testing::Types<A...> to_types(alloc::list<A...>);

/// All allocators of a family; with WYRM_GRAPH_ALLOCATORS=few the first one and the last one.
template <class Family>
#if WYRM_TEST_FEW_ALLOCATORS
using tested = decltype(first_and_last(Family{}));
#else
using tested = Family;
#endif
/// The same, for typed suites.
template <class Family>
using types_of = decltype(to_types(tested<Family>{}));

}  // namespace wyrm::tests
