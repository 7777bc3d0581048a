// SPDX-License-Identifier: Apache-2.0
// Converts the arrays of a batch, in any form that a caller may pass, to one batch_input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "../../exec/error.hpp"
#include "../types.hpp"
#include "columns.hpp"

namespace wyrm::graph::detail {

/// Throws error(bad_argument) unless an array has one entry per edge.
inline void check_length(char const* what, std::size_t got, std::size_t edges) {
  if (got != edges)
    throw error(error_code::bad_argument, "a batch of " + std::to_string(edges) + " edges needs as many " + what +
                                              ", not " + std::to_string(got));
}
template <class T>
T const* not_null(char const* what, T const* entries, std::uint64_t n) {
  if (entries == nullptr && n > 0)
    throw error(error_code::bad_argument, std::string("there are no ") + what + ": the pointer is null");
  return entries;
}
/// Throws error(bad_argument) unless an array of n entries in memory of the space is at a multiple of their size.
inline void check_resident(char const* what, void const* entries, std::size_t entry_bytes, std::uint64_t n) {
  (void)not_null(what, entries, n);
  if (reinterpret_cast<std::uintptr_t>(entries) % entry_bytes != 0)
    throw error(error_code::bad_argument, std::string(what) +
                                              " in memory of the space must be at a multiple of their "
                                              "size, " +
                                              std::to_string(entry_bytes) + " bytes");
}
/// An array of n entries in memory of the space.
template <class T>
T const* checked(char const* what, T const* entries, std::uint64_t n) {
  check_resident(what, entries, sizeof(T), n);
  return entries;
}
/// An array of n entries on the host.
template <class T>
T const* checked(char const* what, std::span<T const> entries, std::size_t n) {
  check_length(what, entries.size(), n);
  return entries.data();
}

inline batch_input const& input(batch_input const& batch) { return batch; }
inline batch_input input(std::span<edge const> batch) {
  return {.edges = batch.data(), .size = batch.size(), .is_on_host = true};
}
inline batch_input input(resident_edges batch) {
  return {.edges = not_null("edges", batch.data, batch.size), .size = batch.size};
}
template <class Value>
batch_input input(std::span<valued_edge<Value> const> batch) {
  return {.structs = batch.data(), .size = batch.size(), .is_on_host = true};
}
template <class Value>
batch_input input(resident_valued_edges<Value> batch) {
  return {.structs = not_null("edges", batch.data, batch.size), .size = batch.size};
}
template <columns Columns>
batch_input input(Columns const& batch) {
  (void)not_null("sources", batch.ids().sources, batch.size());
  (void)not_null("targets", batch.ids().targets, batch.size());
  return {.columns = batch.ids(), .size = batch.size(), .is_on_host = Columns::is_on_host};
}

inline void add(batch_input& all, std::span<operation const> operations) {
  all.operations = checked("operations", operations, all.size);
}
inline void add(batch_input& all, operation const* operations) {
  all.operations = checked("operations", operations, all.size);
}
template <class Values>
void add(batch_input& all, Values const& values) {
  all.values = checked("values", values, all.size);
}
/// A batch with further arrays in the same memory (host or space): values, operations, or both. Throws
/// error(bad_argument) if the length of one of them differs from that of the batch, or if one is null.
template <class Batch, class... Arrays>
requires(sizeof...(Arrays) > 0) batch_input input(Batch const& batch, Arrays const&... arrays) {
  batch_input all = input(batch);
  (add(all, arrays), ...);
  return all;
}

}  // namespace wyrm::graph::detail
