// SPDX-License-Identifier: Apache-2.0
// All allocators by name, for the program, the tests and the benchmarks. A new allocator is one entry in its
// family.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "../exec/host_space.hpp"
#include "align/align.hpp"
#include "align/align_small.hpp"
#include "allocator.hpp"
#include "baseline/bump.hpp"
#include "baseline/system.hpp"
#include "lists/lists.hpp"
#include "ouroboros/ouroboros.hpp"
#include "random_walk/random_walk.hpp"
#include "random_walk/rw_malloc.hpp"
#include "scatter/scatter.hpp"

namespace wyrm::alloc {

template <class... A>
struct list {};

/// The families of allocators.
template <class Space>
using ouroboros_family = list<ouroboros_s_p<Space>, ouroboros_s_c<Space>, ouroboros_va_p<Space>, ouroboros_va_c<Space>,
                              ouroboros_vl_p<Space>, ouroboros_vl_c<Space>>;
template <class Space>
using random_walk_family = list<rw<Space>, rw_bm<Space>, corw<Space>, crw<Space>, rw_malloc<Space>>;
template <class Space>
using scatter_family = list<scatteralloc<Space>>;
template <class Space>
using list_family = list<list_size<Space>, list_mp<Space>>;
template <class Space>
using align_family = list<align_malloc<Space>, align_malloc_small<Space>>;
template <class Space>
using baseline_family = list<bump<Space>, system_malloc<Space>>;

namespace detail {
template <class... A, class... B, class... C, class... D, class... E, class... F>
list<A..., B..., C..., D..., E..., F...> join(list<A...>, list<B...>, list<C...>, list<D...>, list<E...>, list<F...>);
template <class... A>
consteval bool all_are_allocators(list<A...>) {
  return (device_allocator<A> && ...);
}
}  // namespace detail

/// All allocators.
template <class Space>
using all = decltype(detail::join(ouroboros_family<Space>{}, random_walk_family<Space>{}, scatter_family<Space>{},
                                  list_family<Space>{}, align_family<Space>{}, baseline_family<Space>{}));
static_assert(detail::all_are_allocators(all<exec::host_space>{}));

/// The name of the default allocator.
inline constexpr char const* default_name = "ouroboros-s-p";

/// The names of the allocators of a list.
template <class... A>
[[nodiscard]] std::vector<std::string> names_of(list<A...>) {
  return {A::name...};
}

/// The names of all allocators.
[[nodiscard]] inline std::vector<std::string> names() { return names_of(all<exec::host_space>{}); }

/// Calls f.template operator()<A>() for the allocator A of a list that has that name. Throws error(bad_argument), which
/// lists all names, if there is none.
template <class... A, class F>
void visit(list<A...> among, std::string_view wanted, F const& f) {
  if (((wanted == A::name ? (f.template operator()<A>(), true) : false) || ...)) return;
  std::string known;
  for (std::string const& one : names_of(among)) known += (known.empty() ? "" : ", ") + one;
  throw error(error_code::bad_argument, "there is no allocator '" + std::string(wanted) + "'; there are: " + known);
}
/// The same for all allocators.
template <class Space, class F>
void visit(std::string_view wanted, F const& f) {
  alloc::visit(all<Space>{}, wanted, f);
}

}  // namespace wyrm::alloc
