// SPDX-License-Identifier: Apache-2.0
// Provides memory if the pool has too little for an update: compacts free memory, or makes the pool grow.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "../../alloc/allocator.hpp"
#include "../../exec/error.hpp"

namespace wyrm::graph::detail {

/// One object per update.
template <class Allocator>
class pool_growth {
 public:
  /// never: the pool cannot grow, for tests.
  pool_growth(Allocator& allocator, bool never) : allocator_(allocator), never_(never) {}

  /// Compacts the pool if it has at least `missing` free bytes: these are in pages of other sizes, or were in transit
  /// between threads at the time of the allocation. Compaction makes them usable for all sizes. Returns false if it
  /// does nothing, also if the previous compaction had little effect.
  bool compact_if_free(std::uint64_t missing) {
    if (never_ || !Allocator::family.reclaims || missing > compacted_for_ / 2) return false;
    alloc::statistics const pool = allocator_.stats();
    if (pool.granted + missing > pool.committed) return false;
    compact(missing);
    return true;
  }

  /// Makes the pool grow by `generous` bytes, or by missing + more if that is larger or the pool cannot grow by
  /// `generous`. If the pool cannot grow, compacts free memory, unless the previous compaction had little effect.
  /// Throws error(out_of_memory).
  void find(std::uint64_t missing, std::size_t more, std::size_t generous) {
    try {
      grow(std::max<std::size_t>(missing + more, generous), missing + more);
    } catch (error const& e) {
      if (e.code() == error_code::out_of_memory && missing <= compacted_for_ / 2) return compact(missing);
      throw error(e.code(), "neighbours need " + std::to_string(missing >> 10) +
                                " KiB more than there are; nothing was changed (" + e.what() + ")");
    }
  }

 private:
  void compact(std::uint64_t missing) {
    allocator_.compact();
    compacted_for_ = missing;
  }
  void grow(std::size_t generous, std::size_t needed) {
    if (never_) throw error(error_code::out_of_memory, "allocations are made to fail");
    if (generous > needed) {
      try {
        allocator_.grow(generous);
        return;
      } catch (error const& e) {
        if (e.code() != error_code::out_of_memory) throw;
      }
    }
    allocator_.grow(needed);
  }

  Allocator& allocator_;
  bool never_;
  std::uint64_t compacted_for_ = ~std::uint64_t{0};  // missing bytes at the previous compaction
};

}  // namespace wyrm::graph::detail
