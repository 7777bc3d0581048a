// SPDX-License-Identifier: Apache-2.0
// The error for a batch that an update refuses. The device only counts the wrong entries; the host looks for the first
// one, in the batch as the caller wrote it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../../exec/error.hpp"
#include "../../exec/memory.hpp"
#include "../table/record.hpp"
#include "../types.hpp"

namespace wyrm::graph::detail {

/// An array on the host: that of the caller, or a copy.
template <class T>
class host_copy {
 public:
  host_copy(std::span<T const> there, std::vector<T>&& copy) : there_(there), copy_(std::move(copy)) {}
  [[nodiscard]] T const& operator[](std::size_t i) const { return there_.empty() ? copy_[i] : there_[i]; }
  [[nodiscard]] std::vector<T> to_vector() const {
    return there_.empty() ? copy_ : std::vector<T>(there_.begin(), there_.end());
  }

 private:
  std::span<T const> there_;  // empty: the copy
  std::vector<T> copy_;
};

/// Reads the arrays of a batch, wherever they are.
template <class Space>
class host_copies {
 public:
  host_copies(Space const& space, bool are_on_host) : space_(space), are_on_host_(are_on_host) {}
  template <class T>
  [[nodiscard]] host_copy<T> of(T const* array, std::size_t n) const {
    if (are_on_host_) return {std::span<T const>(array, n), {}};
    return {{}, exec::copy_out(space_, array, n)};
  }

 private:
  Space const& space_;
  bool are_on_host_;
};

/// The entries that an update refuses: ids that are no vertices, and insertions at absent vertices.
struct refusal_rule {
  vertex_id vertices;
  std::vector<packed_record> records;  // empty: no vertex is absent
  std::vector<operation> operations;   // empty: all are `all`
  operation all;

  template <class Id>
  [[nodiscard]] bool is_outside(Id v) const {
    return std::cmp_less(v, 0) || std::cmp_greater_equal(v, vertices);
  }
  template <class Id>
  [[nodiscard]] bool refuses(std::size_t i, Id source, Id target) const {
    if (is_outside(source) || is_outside(target)) return true;
    if (records.empty() || (operations.empty() ? all : operations[i]) != operation::insert) return false;
    return records[static_cast<std::size_t>(source)].is_absent() ||
           records[static_cast<std::size_t>(target)].is_absent();
  }
};

/// The error for an entry of a batch.
class refused_entry : public error {
 public:
  refused_entry(std::size_t entry, std::string const& reason)
      : error(error_code::bad_argument, "edge " + std::to_string(entry) + " of the batch is " + reason),
        entry_(entry),
        reason_(reason) {}
  [[nodiscard]] std::size_t entry() const { return entry_; }
  /// The text after "edge ... is ".
  [[nodiscard]] std::string const& reason() const { return reason_; }

 private:
  std::size_t entry_;
  std::string reason_;
};

/// Throws refused_entry for entry i with these ids. Not a template, because otherwise it would be compiled for each
/// type of ids and each type of graph.
[[noreturn]] inline void refuse_entry(std::size_t i, std::string const& source, std::string const& target,
                                      bool is_outside, vertex_id vertices, std::uint64_t count) {
  throw refused_entry(i, "(" + source + ", " + target + "), but " +
                             (is_outside ? "the graph has only " + std::to_string(vertices) + " vertices"
                                         : std::string("one of them was removed; add_vertices() returns ids to use")) +
                             " (" + std::to_string(count) + " such edges in all); nothing was changed");
}
[[nodiscard]] inline std::string id_text(std::uint64_t id) { return std::to_string(id); }
[[nodiscard]] inline std::string id_text(std::int64_t id) { return std::to_string(id); }
[[nodiscard]] inline std::string id_text(std::uint32_t id) { return id_text(std::uint64_t{id}); }
[[nodiscard]] inline std::string id_text(std::int32_t id) { return id_text(std::int64_t{id}); }

/// Throws refused_entry for the first entry that is refused; there are `count`. source(i), target(i): the ids of entry
/// i.
template <class Source, class Target>
[[noreturn]] void refuse_first(refusal_rule const& rule, Source const& source, Target const& target,
                               std::uint64_t count) {
  std::size_t i = 0;
  while (!rule.refuses(i, source(i), target(i))) ++i;
  bool const is_outside = rule.is_outside(source(i)) || rule.is_outside(target(i));
  refuse_entry(i, id_text(source(i)), id_text(target(i)), is_outside, rule.vertices, count);
}

}  // namespace wyrm::graph::detail
