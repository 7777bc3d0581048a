// SPDX-License-Identifier: Apache-2.0
// Kernels that use the global pool: lists, and arrays that change their size.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../alloc/global.hpp"
#include "../../exec/atomic.hpp"

namespace wyrm::tests {

/// A list of numbers, one node a block.
struct list_node {
  WYRM_HD list_node(std::uint32_t v, list_node* n) : value(v), next(n) {}
  std::uint32_t value;
  list_node* next;
};

/// Each thread makes a list of i % 7 nodes with wyrm::make, and an array that wyrm::realloc makes longer.
struct build_lists {
  list_node** heads;
  unsigned char** arrays;
  WYRM_HD void operator()(std::size_t i) const {
    heads[i] = nullptr;
    for (std::uint32_t k = 0; k < i % 7; ++k) heads[i] = make<list_node>(k, heads[i]);
    auto* a = static_cast<unsigned char*>(wyrm::malloc(10 + i % 50, std::size_t{1} << (4 + i % 9)));
    arrays[i] = a;
    if (a == nullptr || reinterpret_cast<std::uintptr_t>(a) % (std::size_t{1} << (4 + i % 9)) != 0) return;
    a[0] = static_cast<unsigned char>(i);
    a = static_cast<unsigned char*>(wyrm::realloc(a, 300));
    if (a != nullptr) arrays[i] = a;
  }
};
/// Another kernel checks and frees them.
struct free_lists {
  list_node** heads;
  unsigned char** arrays;
  std::uint32_t* wrong;
  WYRM_HD void operator()(std::size_t i) const {
    std::uint32_t n = 0;
    bool good = true;
    for (list_node* node = heads[i]; node != nullptr; ++n) {
      good = good && node->value + 1 + n == i % 7;
      list_node* const next = node->next;
      wyrm::destroy(node);
      node = next;
    }
    good = good && n == i % 7 && arrays[i] != nullptr && arrays[i][0] == static_cast<unsigned char>(i);
    wyrm::free(arrays[i]);
    wyrm::free(nullptr);
    if (!good) exec::atomic_ref<std::uint32_t>(*wrong).fetch_add(1, exec::relaxed);
  }
};

}  // namespace wyrm::tests
