// SPDX-License-Identifier: Apache-2.0
// The paths of random walks (random_walks.hpp): lists of pages, and kernels that copy them to arrays or count visits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../exec/config.hpp"
#include "../../graph/types.hpp"

namespace wyrm::algorithms {

/// The number of visits of walks from `start` at `vertex`.
struct co_visit {
  graph::vertex_id start;
  graph::vertex_id vertex;
  std::uint32_t count;
  friend bool operator==(co_visit const&, co_visit const&) = default;
};

namespace detail {

struct path_page {
  static constexpr std::uint32_t capacity = 30;
  path_page* next;
  graph::vertex_id vertices[capacity];
};

struct walker {
  path_page* first;
  path_page* last;
  std::uint32_t length;  // vertices so far; 0: not begun
  std::uint32_t ended;
};

struct copy_lengths {
  walker const* walkers;
  std::uint32_t* lengths;
  std::uint32_t skipped;  // vertices at the beginning of a path that are not counted
  WYRM_HD void operator()(std::size_t i) const { lengths[i] = walkers[i].length - skipped; }
};

/// Copies a path to its place in the result.
struct copy_paths {
  walker const* walkers;
  std::uint64_t const* offsets;
  graph::vertex_id* vertices;
  WYRM_HD void operator()(std::size_t i) const {
    walker const w = walkers[i];
    path_page const* page = w.first;
    for (std::uint32_t k = 0; k < w.length; ++k) {
      if (k > 0 && k % path_page::capacity == 0) page = page->next;
      vertices[offsets[i] + k] = page->vertices[k % path_page::capacity];
    }
  }
};

/// The same without starts; writes each vertex with the start of its walk.
struct copy_visits {
  walker const* walkers;
  std::uint64_t const* offsets;
  unsigned id_bits;
  std::uint64_t* visits;
  WYRM_HD void operator()(std::size_t i) const {
    walker const w = walkers[i];
    path_page const* page = w.first;
    std::uint64_t const start = std::uint64_t{page->vertices[0]} << id_bits;
    for (std::uint32_t k = 1; k < w.length; ++k) {
      if (k % path_page::capacity == 0) page = page->next;
      visits[offsets[i] + k - 1] = start | page->vertices[k % path_page::capacity];
    }
  }
};

/// The length of the run of equal values that begins at each distinct value.
struct count_visits {
  std::uint64_t const* sorted;
  std::uint64_t n;
  std::uint64_t const* distinct;
  unsigned id_bits;
  co_visit* visits;
  WYRM_HD void operator()(std::size_t i) const {
    std::uint64_t const key = distinct[i];
    visits[i] = {static_cast<graph::vertex_id>(key >> id_bits),
                 static_cast<graph::vertex_id>(key & ((std::uint64_t{1} << id_bits) - 1)),
                 static_cast<std::uint32_t>(first_not_below(key + 1) - first_not_below(key))};
  }

 private:
  [[nodiscard]] WYRM_HD std::uint64_t first_not_below(std::uint64_t key) const {
    std::uint64_t first = 0;
    for (std::uint64_t left = n; left > 0;) {
      std::uint64_t const half = left / 2;
      bool const less = sorted[first + half] < key;
      first += less ? half + 1 : 0;
      left = less ? left - half - 1 : half;
    }
    return first;
  }
};

}  // namespace detail

}  // namespace wyrm::algorithms
