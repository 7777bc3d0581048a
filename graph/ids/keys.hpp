// SPDX-License-Identifier: Apache-2.0
// Keys of vertices, which the user has instead of ids: numbers of 64 bits, or strings of any bytes. Lists of keys on
// the host and in memory of a space.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../../exec/config.hpp"
#include "sip_hash.hpp"

namespace wyrm::graph {

/// Keys of 64 bits in memory of a space.
struct resident_keys {
  using key = std::uint64_t;
  explicit resident_keys(std::uint64_t const* first, std::size_t n) : data(first), size(n) {}
  [[nodiscard]] WYRM_HD key at(std::size_t i) const { return data[i]; }
  std::uint64_t const* data;
  std::size_t size;
};

/// A string in memory of a space.
struct string_key {
  char const* data;
  std::uint64_t size;
};

/// Strings in memory of a space: string i has the bytes offsets[i] ... offsets[i + 1] - 1. Offsets ascend; there are
/// size + 1 of them. A string has fewer than 2^32 bytes.
struct resident_strings {
  using key = string_key;
  explicit resident_strings(std::uint64_t const* o, char const* b, std::size_t n) : offsets(o), bytes(b), size(n) {}
  [[nodiscard]] WYRM_HD key at(std::size_t i) const {
    std::uint64_t const length = offsets[i + 1] - offsets[i];
    return {length == 0 ? nullptr : bytes + offsets[i], length};
  }
  std::uint64_t const* offsets;
  char const* bytes;
  std::size_t size;
};

/// A range of strings, string views or literals.
template <class T>
concept string_range =
    std::ranges::input_range<T> && std::convertible_to<std::ranges::range_reference_t<T>, std::string_view>;

/// Strings on the host, one after the other in one array; copies of those of a range.
class packed_strings {
 public:
  packed_strings() = default;
  packed_strings(std::initializer_list<std::string_view> list) { add(list); }
  template <string_range Strings>
  packed_strings(Strings const& strings) {
    add(strings);
  }

  void push_back(std::string_view s) {
    bytes_.insert(bytes_.end(), s.begin(), s.end());
    offsets_.push_back(bytes_.size());
  }
  [[nodiscard]] std::size_t size() const { return offsets_.size() - 1; }
  [[nodiscard]] std::span<std::uint64_t const> offsets() const { return offsets_; }
  [[nodiscard]] std::span<char const> bytes() const { return bytes_; }

 private:
  template <class Strings>
  void add(Strings const& strings) {
    for (std::string_view const s : strings) push_back(s);
  }

  std::vector<std::uint64_t> offsets_{0};
  std::vector<char> bytes_;
};

namespace detail {

inline constexpr std::uint64_t longest_key = 0xffffffff;  // bytes of a string

[[nodiscard]] WYRM_HD inline bool is_valid(std::uint64_t) { return true; }
[[nodiscard]] WYRM_HD inline bool is_valid(string_key key) { return key.size <= longest_key; }

[[nodiscard]] WYRM_HD inline bool equal(std::uint64_t a, std::uint64_t b) { return a == b; }
[[nodiscard]] WYRM_HD inline bool equal(string_key a, string_key b) {
  if (a.size != b.size) return false;
  for (std::uint64_t i = 0; i < a.size; ++i)
    if (a.data[i] != b.data[i]) return false;
  return true;
}

[[nodiscard]] WYRM_HD inline std::uint64_t hash_of(string_key key, sip_seed seed) {
  return hash_of(key.data, key.size, seed);
}

/// The keys of an operation: those of one list, or of two lists of the same size in turn (the sources and the targets
/// of edges).
template <class List>
struct key_batch {
  using key = typename List::key;
  explicit key_batch(List const& list) : first(list), second(list), size(list.size), pairs(false) {}
  explicit key_batch(List const& sources, List const& targets)
      : first(sources), second(targets), size(2 * sources.size), pairs(true) {}
  [[nodiscard]] WYRM_HD key operator[](std::size_t i) const {
    if (!pairs) return first.at(i);
    return i % 2 == 0 ? first.at(i / 2) : second.at(i / 2);
  }
  List first;
  List second;
  std::size_t size;
  bool pairs;
};

}  // namespace detail

}  // namespace wyrm::graph
