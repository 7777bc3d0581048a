// SPDX-License-Identifier: Apache-2.0
// Lists and walks of the access benchmark: correct lists pass its verification, and damaged ones do not.
#include "../../bench/access.hpp"

#include <gtest/gtest.h>

#include "../../alloc/baseline/bump.hpp"
#include "../../alloc/ouroboros/ouroboros.hpp"
#include "../support/simt_space.hpp"
#include "../support/spaces.hpp"

namespace wyrm::tests {

template <class Allocator>
class access_test : public ::testing::Test {
 protected:
  using space_type = typename Allocator::space_type;
  using lists = bench::access_lists<Allocator>;
  static bench::access_case small(bool linked) {
    return {.linked = linked, .lists = 70, .edges = 12, .nodes = 500, .steps = 9};
  }
  space_type space = make_space<space_type>();
};
using allocators = ::testing::Types<alloc::ouroboros_s_p<exec::host_space>, alloc::bump<exec::host_space>,
                                    alloc::ouroboros_s_p<simt_space>, alloc::bump<simt_space>>;
TYPED_TEST_SUITE(access_test, allocators);

constexpr std::size_t pool_bytes = std::size_t{4} << 20;

TYPED_TEST(access_test, walks_have_expected_results) {
  for (bool const linked : {false, true}) {
    bench::access_case const c = this->small(linked);
    typename TestFixture::lists lists(this->space, c, pool_bytes);
    for (std::uint32_t round = 0; round < 3; ++round) {
      lists.allocate();
      lists.write();
      lists.verify();
      ASSERT_EQ(lists.damaged(), 0u);
      lists.walk(round);
      EXPECT_EQ(lists.sums(), bench::expect_walks(c, round).sums);
      EXPECT_NE(lists.sums(), bench::expect_walks(c, round + 1).sums);
      lists.free();
    }
    lists.pool().check();
  }
}

TYPED_TEST(access_test, accesses_are_steps_and_links) {
  EXPECT_EQ(bench::expect_walks(this->small(false), 1).accesses, 70u * 9);
  std::uint64_t const linked = bench::expect_walks(this->small(true), 1).accesses;
  EXPECT_GT(linked, 70u * 9 * 5);  // 5.5 links on average
  EXPECT_LT(linked, 70u * 9 * 8);
}

TYPED_TEST(access_test, damage_is_detected) {
  for (bool const linked : {false, true}) {
    bench::access_case const c{.linked = linked, .lists = 1, .edges = 1, .nodes = 3, .steps = 2};
    typename TestFixture::lists lists(this->space, c, pool_bytes);
    lists.allocate();
    lists.write();
    exec::write(this->space, &lists.head(0)->word[12], 7u);
    lists.verify();
    EXPECT_EQ(lists.damaged(), 1u);
    lists.walk(0);
    EXPECT_NE(lists.sums(), bench::expect_walks(c, 0).sums);
  }
}

TYPED_TEST(access_test, failed_requests_are_detected) {
  for (bool const linked : {false, true}) {
    bench::access_case const c{.linked = linked, .lists = 64, .edges = 4096};
    typename TestFixture::lists lists(this->space, c, pool_bytes);
    lists.allocate();
    lists.write();
    lists.verify();
    EXPECT_GT(lists.damaged(), 0u);
    EXPECT_LT(lists.damaged(), c.lists * c.edges);
  }
}

}  // namespace wyrm::tests
