// SPDX-License-Identifier: Apache-2.0
// Arrays of numbers whose type is known at run time only: the values of a graph that is chosen by name.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <string>

#include "../exec/error.hpp"
#include "types.hpp"

namespace wyrm::graph {

template <class T>
concept number = number_type_of<T>
!= number_type::none;

[[nodiscard]] constexpr char const* name_of(number_type type) {
  switch (type) {
    case number_type::u32: return "uint32";
    case number_type::i64: return "int64";
    case number_type::f32: return "float";
    case number_type::f64: return "double";
    default: return "none";
  }
}

/// Numbers on the host: an array, std::vector or std::span of uint32_t, int64_t, float or double. Does not copy it. The
/// default is no array.
class host_numbers {
 public:
  host_numbers() = default;
  template <std::ranges::contiguous_range Numbers>
  requires number<std::ranges::range_value_t<Numbers>> host_numbers(Numbers const& numbers)
      : data_(std::ranges::data(numbers)),
        size_(std::ranges::size(numbers)),
        type_(number_type_of<std::ranges::range_value_t<Numbers>>) {}
  [[nodiscard]] void const* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] number_type type() const { return type_; }
  /// n numbers from the number `first` on; no array if this is none.
  [[nodiscard]] host_numbers part(std::size_t first, std::size_t n) const {
    switch (type_) {
      case number_type::u32: return of<std::uint32_t>(first, n);
      case number_type::i64: return of<std::int64_t>(first, n);
      case number_type::f32: return of<float>(first, n);
      case number_type::f64: return of<double>(first, n);
      default: return {};
    }
  }

 private:
  template <class Number>
  [[nodiscard]] host_numbers of(std::size_t first, std::size_t n) const {
    return std::span(static_cast<Number const*>(data_), size_).subspan(first, n);
  }
  void const* data_ = nullptr;
  std::size_t size_ = 0;
  number_type type_ = number_type::none;
};

/// Numbers in memory of a space, at a multiple of their size. The default is no array.
class resident_numbers {
 public:
  resident_numbers() = default;
  template <number Number>
  resident_numbers(Number const* numbers) : data_(numbers), type_(number_type_of<Number>) {}
  [[nodiscard]] void const* data() const { return data_; }
  [[nodiscard]] number_type type() const { return type_; }

 private:
  void const* data_ = nullptr;
  number_type type_ = number_type::none;
};

/// The Number of valued_edge<Number>; no_value for other types.
template <class Edge>
struct number_of_edge {
  using type = no_value;
};
template <number Number>
struct number_of_edge<valued_edge<Number>> {
  using type = Number;
};

namespace detail {

/// Where an array of edges with numbers is: on the host, or in memory of a space.
class numbered_edges {
 public:
  [[nodiscard]] void const* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] number_type type() const { return type_; }

 protected:
  numbered_edges(void const* data, std::size_t size, number_type type) : data_(data), size_(size), type_(type) {}

 private:
  void const* data_;
  std::size_t size_;
  number_type type_;
};

}  // namespace detail

/// Edges with numbers on the host: an array, std::vector or std::span of valued_edge<Number>. Does not copy it.
class host_numbered_edges : public detail::numbered_edges {
 public:
  template <std::ranges::contiguous_range Edges>
  requires number<typename number_of_edge<std::ranges::range_value_t<Edges>>::type> host_numbered_edges(
      Edges const& edges)
      : numbered_edges(std::ranges::data(edges), std::ranges::size(edges),
                       number_type_of<typename number_of_edge<std::ranges::range_value_t<Edges>>::type>) {}
};

/// Edges with numbers in memory of a space.
class resident_numbered_edges : public detail::numbered_edges {
 public:
  template <number Number>
  resident_numbered_edges(resident_valued_edges<Number> edges)
      : numbered_edges(edges.data, edges.size, number_type_of<Number>) {}
};

}  // namespace wyrm::graph
