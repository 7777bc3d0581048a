// SPDX-License-Identifier: Apache-2.0
// Each thread of a kernel builds a linked list of its own; another kernel sums it up and frees it.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>
#include <wyrm/alloc.hpp>
#include <wyrm/exec/launch.hpp>
#include <wyrm/exec/memory.hpp>

#include "on_space.hpp"

namespace {

struct node {
  WYRM_HD node(std::uint64_t v, node* n) : value(v), next(n) {}
  std::uint64_t value;
  node* next;
};

// List i has i % 10 nodes, with the values i + 1, i + 2 and so on. If memory runs out, the list ends early.
struct build {
  node** heads;
  WYRM_HD void operator()(std::size_t i) const {
    node* head = nullptr;
    for (std::size_t k = 1; k <= i % 10; ++k) {
      node* const longer = wyrm::make<node>(i + k, head);
      if (longer == nullptr) break;
      head = longer;
    }
    heads[i] = head;
  }
};

struct sum_and_free {
  node** heads;
  std::uint64_t* sums;
  WYRM_HD void operator()(std::size_t i) const {
    sums[i] = 0;
    for (node* n = heads[i]; n != nullptr;) {
      sums[i] += n->value;
      node* const next = n->next;
      wyrm::destroy(n);
      n = next;
    }
  }
};

template <class Space>
int run(Space const& space) {
  constexpr std::size_t lists = 100'000;
  // The family is that of the macro WYRM_GLOBAL_ALLOCATOR.
  wyrm::alloc::global_allocator<Space> pool(space, {.pool_bytes = std::size_t{64} << 20});
  wyrm::alloc::set_global(pool);
  wyrm::exec::buffer<node*, Space> heads(space, lists);
  wyrm::exec::buffer<std::uint64_t, Space> sums(space, lists);
  wyrm::exec::for_each(space, lists, build{heads.data()});
  std::size_t const granted = pool.stats().granted;
  wyrm::exec::for_each(space, lists, sum_and_free{heads.data(), sums.data()});

  std::vector<std::uint64_t> const found = wyrm::exec::copy_out(space, sums.data(), lists);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < lists; ++i) wrong += found[i] != (i % 10) * i + (i % 10) * (i % 10 + 1) / 2;
  wyrm::alloc::statistics const s = pool.stats();
  std::printf("linked_lists on %s: %zu lists had %zu KiB, %zu wrong sums, %zu requests failed, %zu bytes are left\n",
              Space::name, lists, granted >> 10, wrong, s.failures, s.granted);
  wyrm::alloc::unset_global(pool);
  return wrong == 0 && s.failures == 0 && s.granted == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return on_space(argc, argv, [](auto const& space) { return run(space); });
}
