// SPDX-License-Identifier: Apache-2.0
// Batches in the formats of other libraries: two columns of ids of 32 or 64 bits, signed or unsigned, as in NumPy,
// cuDF, PyTorch and Arrow; and arrays of edges with values. A kernel converts them to edges.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../../exec/config.hpp"
#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../types.hpp"
#include "group.hpp"

namespace wyrm::graph {

/// The types of ids in columns.
template <class Id>
concept column_id = std::same_as<Id, std::uint32_t> || std::same_as<Id, std::int32_t> ||
    std::same_as<Id, std::uint64_t> || std::same_as<Id, std::int64_t>;

namespace detail {

enum class id_type : std::uint8_t { u32, i32, u64, i64 };
template <column_id Id>
inline constexpr id_type id_type_of = sizeof(Id) == 4 ? (std::is_signed_v<Id> ? id_type::i32 : id_type::u32)
                                                      : (std::is_signed_v<Id> ? id_type::i64 : id_type::u64);

/// Two columns of the same type.
struct id_columns {
  void const* sources = nullptr;
  void const* targets = nullptr;
  std::size_t size = 0;
  id_type type = id_type::u32;
};

}  // namespace detail

/// Edges as two columns on the host: edge i is (sources[i], targets[i]). Does not copy the columns.
class edge_columns {
 public:
  /// Values and operations of the edges are also on the host.
  template <class T>
  using array = std::span<T const>;
  static constexpr bool is_on_host = true;

  /// Two arrays, std::vectors or std::spans with elements of the same type. Throws error(bad_argument) if one is longer
  /// than the other.
  template <std::ranges::contiguous_range Sources, std::ranges::contiguous_range Targets>
  requires column_id<std::ranges::range_value_t<Sources>> &&
      std::same_as<std::ranges::range_value_t<Sources>, std::ranges::range_value_t<Targets>>
      edge_columns(Sources const& sources, Targets const& targets)
      : ids_{std::ranges::data(sources), std::ranges::data(targets), std::ranges::size(sources),
             detail::id_type_of<std::ranges::range_value_t<Sources>>} {
    if (std::ranges::size(targets) != ids_.size)
      throw error(error_code::bad_argument, "there are " + std::to_string(ids_.size) + " sources, but " +
                                                std::to_string(std::ranges::size(targets)) +
                                                " targets; both columns must have one id per edge");
  }
  [[nodiscard]] std::size_t size() const { return ids_.size; }
  [[nodiscard]] detail::id_columns const& ids() const { return ids_; }

 private:
  detail::id_columns ids_;
};

/// Edges as two columns in memory of a space.
class resident_columns {
 public:
  /// Values and operations of the edges are also in memory of the space.
  template <class T>
  using array = T const*;
  static constexpr bool is_on_host = false;

  template <column_id Id>
  resident_columns(Id const* sources, Id const* targets, std::size_t n)
      : ids_{sources, targets, n, detail::id_type_of<Id>} {}
  [[nodiscard]] std::size_t size() const { return ids_.size; }
  [[nodiscard]] detail::id_columns const& ids() const { return ids_; }

 private:
  detail::id_columns ids_;
};

namespace detail {

template <class Batch>
concept columns = std::same_as<Batch, edge_columns> || std::same_as<Batch, resident_columns>;

/// A batch in the format of the caller: edges, or an array of valued_edge<Value> or columns, which the space converts
/// to edges.
struct batch_input {
  edge const* edges = nullptr;
  void const* structs = nullptr;
  id_columns columns = {};
  std::size_t size = 0;
  bool is_on_host = false;                // all arrays; otherwise they are in memory of the space
  void const* values = nullptr;           // one per edge; nullptr: none, or in the structs
  operation const* operations = nullptr;  // one per edge; nullptr: all are `all`
  operation all = operation::insert;

  [[nodiscard]] bool is_converted() const { return edges == nullptr && size > 0; }
  [[nodiscard]] batch_arrays arrays() const { return {edges, size, values, operations, all}; }
};

/// One thread per edge. Ids that no vertex can have become no_vertex, so that count_arcs refuses them.
template <class Id>
struct columns_to_edges {
  Id const* sources;
  Id const* targets;
  edge* edges;

  WYRM_HD void operator()(std::size_t i) const { edges[i] = {vertex(sources[i]), vertex(targets[i])}; }
  static WYRM_HD vertex_id vertex(Id id) {
    if constexpr (std::is_signed_v<Id>)
      if (id < 0) return no_vertex;
    return static_cast<std::make_unsigned_t<Id>>(id) < no_vertex ? static_cast<vertex_id>(id) : no_vertex;
  }
};

/// One thread per edge.
template <class Value>
struct split_valued_edges {
  valued_edge<Value> const* from;
  edge* edges;
  Value* values;

  WYRM_HD void operator()(std::size_t i) const {
    valued_edge<Value> const e = from[i];
    edges[i] = {e.source, e.target};
    values[i] = e.value;
  }
};

[[nodiscard]] inline std::size_t bytes_of(id_type type) { return type == id_type::u32 || type == id_type::i32 ? 4 : 8; }

/// Calls f(Id{}) for the type of the columns.
template <class F>
auto with_id_type(id_type type, F const& f) {
  switch (type) {
    case id_type::u32: return f(std::uint32_t{});
    case id_type::i32: return f(std::int32_t{});
    case id_type::u64: return f(std::uint64_t{});
    default: return f(std::int64_t{});
  }
}

/// Enqueues the conversion of columns in memory of the space.
template <class Space>
void convert(Space const& space, id_columns const& from, edge* edges) {
  // Negative 64-bit ids are too large when read as u64, so no kernel for i64 is needed.
  with_id_type(from.type == id_type::i64 ? id_type::u64 : from.type, [&]<class Id>(Id) {
    if constexpr (!std::is_same_v<Id, std::int64_t>)
      exec::for_each(
          space, from.size,
          columns_to_edges<Id>{static_cast<Id const*>(from.sources), static_cast<Id const*>(from.targets), edges});
  });
}

/// n columns from entry `first` on.
[[nodiscard]] inline id_columns part_of(id_columns const& all, std::size_t first, std::size_t n) {
  std::size_t const skipped = first * bytes_of(all.type);
  return {static_cast<std::byte const*>(all.sources) + skipped, static_cast<std::byte const*>(all.targets) + skipped, n,
          all.type};
}

/// Calls f(source, target), which return the ids of entry i as the caller wrote them.
template <class Value, class Copies, class F>
void with_entries(Copies const& copies, batch_input const& batch, F const& f) {
  if (batch.edges != nullptr) {
    auto const edges = copies.of(batch.edges, batch.size);
    return f([&](std::size_t i) { return edges[i].source; }, [&](std::size_t i) { return edges[i].target; });
  }
  if constexpr (!std::is_same_v<Value, no_value>)
    if (batch.structs != nullptr) {
      auto const structs = copies.of(static_cast<valued_edge<Value> const*>(batch.structs), batch.size);
      return f([&](std::size_t i) { return structs[i].source; }, [&](std::size_t i) { return structs[i].target; });
    }
  with_id_type(batch.columns.type, [&]<class Id>(Id) {
    auto const sources = copies.of(static_cast<Id const*>(batch.columns.sources), batch.size);
    auto const targets = copies.of(static_cast<Id const*>(batch.columns.targets), batch.size);
    f([&](std::size_t i) { return sources[i]; }, [&](std::size_t i) { return targets[i]; });
  });
}

}  // namespace detail
}  // namespace wyrm::graph
