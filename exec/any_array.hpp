// SPDX-License-Identifier: Apache-2.0
// Results in memory of a space that is chosen at run time (exec/device.hpp).
#pragma once

#include <cstddef>
#include <utility>
#include <variant>
#include <vector>

#include "device.hpp"
#include "device_array.hpp"

namespace wyrm::exec {

namespace detail {
template <class T, class Spaces>
struct array_on;
template <class T, class... Spaces>
struct array_on<T, std::variant<Spaces...>> {
  using type = std::variant<device_array<T, Spaces>...>;
};
}  // namespace detail

/// Owns n elements in memory of a space: a device_array of one of the spaces of any_space. The allocation contains
/// these elements and nothing else, so other libraries can use the array without a copy (docs/queries.md has the fields
/// for DLPack). Movable, not copyable.
template <class T>
class any_array {
 public:
  using value_type = T;

  template <class Space>
  any_array(device_array<T, Space>&& array) : array_(std::move(array)) {}

  /// The first element, in memory of the space; nullptr if there is none.
  [[nodiscard]] T* data() const {
    return std::visit([](auto const& array) { return array.data(); }, array_);
  }
  [[nodiscard]] std::size_t size() const {
    return std::visit([](auto const& array) { return array.size(); }, array_);
  }
  [[nodiscard]] std::size_t bytes() const { return size() * sizeof(T); }
  [[nodiscard]] any_space space() const {
    return std::visit([](auto const& array) { return any_space(array.space()); }, array_);
  }
  /// A copy on the host. Waits for the work of the space.
  [[nodiscard]] std::vector<T> to_host() const {
    return std::visit([](auto const& array) { return array.to_host(); }, array_);
  }

 private:
  typename detail::array_on<T, any_space>::type array_;
};

}  // namespace wyrm::exec
