// SPDX-License-Identifier: Apache-2.0
// Parts of results that the entries of the table of algorithms have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "algorithms.hpp"
#include "vertex_values.hpp"

namespace wyrm::apps {

/// Values of all vertices.
template <class T>
[[nodiscard]] value_table one_column(std::vector<T> values, value_column::kind is = value_column::kind::number) {
  value_table table;
  table.columns.push_back({std::move(values), is});
  return table;
}

/// The k largest values, as vertex_values.hpp orders them.
template <class T>
[[nodiscard]] ranking rank_largest(char const* title, char const* name, std::vector<T> const& values, std::size_t k) {
  using number = std::conditional_t<std::is_same_v<T, double>, double, std::uint64_t>;
  ranking r{title, name, {}};
  for (auto const [v, value] : largest(values, k)) r.entries.push_back({v, number{value}});
  return r;
}

}  // namespace wyrm::apps
