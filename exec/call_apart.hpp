// SPDX-License-Identifier: Apache-2.0
// Calls of functions that a kernel rarely needs, without the registers for them.
#pragma once

#include <nv/target>

#include "config.hpp"

namespace wyrm::exec {

namespace detail {

template <auto Function, class Result, class Object, class... Parameters>
WYRM_NOINLINE WYRM_HD Result call_of(Object const& object, Parameters... parameters) {
  return (object.*Function)(parameters...);
}
template <auto Function, class Result, class Object, class... Parameters, class... Arguments>
WYRM_HD Result call_apart(Result (Object::*)(Parameters...) const, Object const& object, Arguments&... arguments) {
  Result (*function)(Object const&, Parameters...) = &call_of<Function, Result, Object, Parameters...>;
  NV_IF_TARGET(NV_IS_DEVICE, (asm("" : "+l"(function));))
  return function(object, arguments...);
}

}  // namespace detail

/// Calls a member function, through a pointer whose value the compiler does not know. So in device code the function
/// follows the calling convention, and the registers of the caller that it uses are saved in memory, during the call.
/// Of a function whose calls the compiler knows, the registers are others than those of its callers, and a kernel needs
/// the sum of both (ptxas of CUDA 13.0). For rare calls of functions that need many registers. `Function` is a const
/// member function of Object, not overloaded; its parameters are values that can be copied, or const references.
template <auto Function, class Object, class... Arguments>
WYRM_HD decltype(auto) call_apart(Object const& object, Arguments&&... arguments) {
  return detail::call_apart<Function>(Function, object, arguments...);
}

}  // namespace wyrm::exec
