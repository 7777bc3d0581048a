// SPDX-License-Identifier: Apache-2.0
// What is done when the pool has too little for an update: what is free is gathered, or the pool grows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "../../alloc/allocator.hpp"
#include "../../exec/error.hpp"

namespace wyrm::graph::detail {

/// For one update.
template <class Allocator>
class pool_growth {
 public:
  /// never: the pool may not grow, for tests.
  pool_growth(Allocator& allocator, bool never) : allocator_(allocator), never_(never) {}

  /// If as much is free as is missing, it is tied to other sizes, or was on its way from one to another when it was
  /// looked for: makes it usable for all. False if nothing was done; so it is if the last time hardly helped.
  bool gather_if_free(std::uint64_t missing) {
    if (never_ || !Allocator::family.reclaims || missing > gathered_for_ / 2) return false;
    alloc::statistics const pool = allocator_.stats();
    if (pool.granted + missing > pool.committed) return false;
    gather(missing);
    return true;
  }

  /// Lets the pool grow by what is missing and some `more`, or by `generous` if it can; where it cannot, gathers what
  /// is free, unless that hardly helped the last time. Throws error(out_of_memory).
  void find(std::uint64_t missing, std::size_t more, std::size_t generous) {
    try {
      grow(std::max<std::size_t>(missing + more, generous), missing + more);
    } catch (error const& e) {
      if (e.code() == error_code::out_of_memory && missing <= gathered_for_ / 2) return gather(missing);
      throw error(e.code(), "neighbours need " + std::to_string(missing >> 10) +
                                " KiB more than there are; nothing was changed (" + e.what() + ")");
    }
  }

 private:
  void gather(std::uint64_t missing) {
    allocator_.compact();
    gathered_for_ = missing;
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
  std::uint64_t gathered_for_ = ~std::uint64_t{0};  // what was missing the last time
};

}  // namespace wyrm::graph::detail
