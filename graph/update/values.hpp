// SPDX-License-Identifier: Apache-2.0
// The values of edges, as words of 4, 8 or 16 bytes: kernels are compiled for the width of a value, not for its type.
// The values of a page follow its ids, in the same order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda/std/bit>
#include <type_traits>

#include "../../exec/config.hpp"
#include "../types.hpp"

namespace wyrm::graph {

/// The bytes of a value.
template <class Value>
inline constexpr unsigned width_of = std::is_same_v<Value, no_value> ? 0 : sizeof(Value);

namespace detail {

struct alignas(16) word16 {
  std::uint64_t low;
  std::uint64_t high;
  friend WYRM_HD bool operator==(word16 a, word16 b) { return ((a.low ^ b.low) | (a.high ^ b.high)) == 0; }
};
template <unsigned Width>
using value_word = std::conditional_t<
    Width == 0, no_value,
    std::conditional_t<Width == 4, std::uint32_t, std::conditional_t<Width == 8, std::uint64_t, word16>>>;

/// The values of a page.
template <unsigned Width>
[[nodiscard]] WYRM_HD value_word<Width>* values_of(vertex_id* page, std::uint32_t capacity) {
  return reinterpret_cast<value_word<Width>*>(page + capacity);
}
template <unsigned Width>
[[nodiscard]] WYRM_HD value_word<Width> const* values_of(vertex_id const* page, std::uint32_t capacity) {
  return reinterpret_cast<value_word<Width> const*>(page + capacity);
}

template <class T>
[[nodiscard]] WYRM_HD T combined(combiner how, T old, T added) {
  switch (how) {
    case combiner::min: return added < old ? added : old;
    case combiner::max: return old < added ? added : old;
    case combiner::sum: return old + added;
    default: return added;
  }
}

/// Combines words by a combiner and a type that are known at run time only. A combiner has the members is_latest(), and
/// operator()(old, added) for words.
template <unsigned Width>
struct standard_combiner {
  combiner how;
  number_type type;

  [[nodiscard]] WYRM_HD bool is_latest() const { return how == combiner::latest; }
  [[nodiscard]] WYRM_HD value_word<Width> operator()(value_word<Width> old, value_word<Width> added) const {
    if constexpr (Width == 4)
      return type == number_type::f32 ? as<float>(old, added) : combined(how, old, added);
    else if constexpr (Width == 8)
      return type == number_type::f64 ? as<double>(old, added) : as<std::int64_t>(old, added);
    else
      return added;
  }

 private:
  template <class T>
  [[nodiscard]] WYRM_HD value_word<Width> as(value_word<Width> old, value_word<Width> added) const {
    if constexpr (std::is_same_v<T, std::int64_t>)  // unsigned addition: a sum that overflows wraps
      if (how == combiner::sum) return old + added;
    return cuda::std::bit_cast<value_word<Width>>(
        combined(how, cuda::std::bit_cast<T>(old), cuda::std::bit_cast<T>(added)));
  }
};

/// Combines words by a functor of the user for values of type Value.
template <class Value, class F>
struct typed_combiner {
  F combine;
  using word = value_word<width_of<Value>>;
  [[nodiscard]] WYRM_HD bool is_latest() const { return false; }
  [[nodiscard]] WYRM_HD word operator()(word old, word added) const {
    return cuda::std::bit_cast<word>(combine(cuda::std::bit_cast<Value>(old), cuda::std::bit_cast<Value>(added)));
  }
};

}  // namespace detail
}  // namespace wyrm::graph
