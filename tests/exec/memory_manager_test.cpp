// SPDX-License-Identifier: Apache-2.0
// A space that is bound to a memory manager: ranges come from the manager, arrays are counted, and every launch and
// copy is between begin() and end().
#include "../../exec/memory_manager.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../exec/launch.hpp"
#include "../../exec/memory.hpp"
#include "../support/protecting_manager.hpp"
#include "../support/simt_space.hpp"
#include "../support/spaces.hpp"

namespace wyrm::tests {
namespace {

template <class Space>
class memory_manager_test : public space_test<Space> {};
using spaces = ::testing::Types<exec::host_space, simt_space>;
TYPED_TEST_SUITE(memory_manager_test, spaces, by_name);

struct write_index {
  std::uint32_t* to;
  WYRM_HD void operator()(std::size_t i) const { to[i] = static_cast<std::uint32_t>(i); }
};

// The manager takes access to the range away where no work runs: this test ends with a signal if a call forgets it.
TYPED_TEST(memory_manager_test, work_is_between_begin_and_end) {
  protecting_manager manager;
  TypeParam const space = make_space<TypeParam>().managed_by(&manager);
  EXPECT_EQ(space.manager(), &manager);
  constexpr std::size_t n = 100000;
  {
    exec::reservation<TypeParam> range(space, std::size_t{1} << 20);
    EXPECT_EQ(manager.ranges(), 1u);
    range.commit(n * 4);
    auto* const values = reinterpret_cast<std::uint32_t*>(range.data());
    space.fill(values, 0xff, n * 4);
    EXPECT_EQ(exec::read(space, values + n - 1), ~std::uint32_t{0});
    exec::for_each(space, n, write_index{values});
    std::vector<std::uint32_t> const found = exec::copy_out(space, values, n);
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(found[i], i);
    exec::buffer<std::uint32_t, TypeParam> beside(space, n);
    space.copy(beside.data(), values, n * 4);
    exec::write(space, values, std::uint32_t{7});
    EXPECT_EQ(exec::read(space, values), 7u);
    EXPECT_EQ(exec::read(space, beside.data()), 0u);
    typename TypeParam::guard const current(space);
    EXPECT_EQ(values[n - 1], n - 1);  // may be read under a guard
  }
  EXPECT_EQ(manager.ranges(), 0u);
}

TYPED_TEST(memory_manager_test, memory_is_inaccessible_without_work) {
  EXPECT_DEATH(
      {
        protecting_manager manager;
        TypeParam const space = make_space<TypeParam>().managed_by(&manager);
        exec::reservation<TypeParam> range(space, 4096);
        range.commit(4096);
        *reinterpret_cast<volatile std::uint32_t*>(range.data()) = 1;
      },
      "");
}

TYPED_TEST(memory_manager_test, arrays_are_counted) {
  protecting_manager manager;
  TypeParam const space = make_space<TypeParam>().managed_by(&manager);
  {
    exec::buffer<std::uint32_t, TypeParam> a(space, 1000);
    EXPECT_EQ(manager.allocated(), 4000u);
    a.reserve(2000);
    EXPECT_EQ(manager.allocated(), 8000u);
    exec::buffer<std::uint32_t, TypeParam> const of_host(space, 1000, exec::memory_kind::host);
    exec::staging_buffer<std::uint32_t, TypeParam> const staged(space, 1000);
    EXPECT_EQ(manager.allocated(), 8000u);
  }
  EXPECT_EQ(manager.allocated(), 0u);
}

}  // namespace
}  // namespace wyrm::tests
