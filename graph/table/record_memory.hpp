// SPDX-License-Identifier: Apache-2.0
// The memory of the records of a vertex table, which may grow. With a maximum number of vertices, addresses for this
// number are reserved, and the table grows in place. Without a maximum, a full table moves to an array of 1.5 times the
// size, so that adding vertices one by one costs O(1) each, amortised.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "../../exec/memory.hpp"
#include "../layout/carved_rows.hpp"
#include "../types.hpp"
#include "record.hpp"

namespace wyrm::graph::detail {

template <class Space>
class record_memory {
 public:
  using array = exec::buffer<packed_record, Space>;

  /// most: the maximum number of vertices; 0: none. The records are not initialised.
  record_memory(Space const& space, vertex_id vertices, std::size_t most)
      : space_(space), array_(most > 0 ? array(space) : table_for(space, vertices)) {
    if (most == 0) return;
    range_ = std::make_unique<exec::reservation<Space>>(
        space, table_size(static_cast<vertex_id>(most)) * sizeof(packed_record), exec::memory_kind::device,
        exec::use_rate::high);
    range_->commit(table_size(vertices) * sizeof(packed_record));
  }

  [[nodiscard]] packed_record* data() { return range_ ? records_in(*range_) : array_.data(); }
  [[nodiscard]] packed_record const* data() const { return range_ ? records_in(*range_) : array_.data(); }
  [[nodiscard]] std::size_t bytes() const { return range_ ? range_->committed() : array_.bytes(); }

  /// The argument of grow(): an array if the table must move, or empty.
  [[nodiscard]] array room_for(vertex_id vertices) {
    std::size_t const size = table_size(vertices);
    if (range_) {
      range_->commit(size * sizeof(packed_record));
    } else if (size > array_.size()) {
      std::size_t const most = table_size(static_cast<vertex_id>(max_vertices));
      return array(space_, std::max(size, std::min(array_.size() + array_.size() / 2, most)));
    }
    return array(space_);
  }
  /// Clears the records from `before` to `after`, moving the others to `room` if that is not empty.
  void grow(vertex_id before, vertex_id after, array&& room) {
    if (room.size() > 0) {
      if (before > 0) space_.copy(room.data(), data(), std::size_t{before} * sizeof(packed_record));
      array_ = std::move(room);
    }
    space_.fill(data() + before, 0, std::size_t{after - before} * sizeof(packed_record));
  }
  /// Takes over the records of an array of this number of vertices.
  void replace(array&& records, vertex_id vertices) {
    if (!range_)
      array_ = std::move(records);
    else if (vertices > 0)
      space_.copy(data(), records.data(), std::size_t{vertices} * sizeof(packed_record));
  }

 private:
  [[nodiscard]] static packed_record* records_in(exec::reservation<Space> const& range) {
    return reinterpret_cast<packed_record*>(range.data());
  }

  Space space_;
  array array_;                                      // without a maximum
  std::unique_ptr<exec::reservation<Space>> range_;  // with one
};

}  // namespace wyrm::graph::detail
