// SPDX-License-Identifier: Apache-2.0
// The Ouroboros allocators on a GPU.
#include "blocks_suite.hpp"
#include "conformance.hpp"

#include "../../exec/cuda_space.hpp"
#include "full_queue.hpp"

namespace wyrm::tests {

using on_cuda = types_of<alloc::ouroboros_family<exec::cuda_space>>;
INSTANTIATE_TYPED_TEST_SUITE_P(cuda, conformance, on_cuda, by_name);
INSTANTIATE_TYPED_TEST_SUITE_P(cuda, blocks_suite, on_cuda, by_name);

// Page numbers beyond 32 bits: one thread allocates 66 GiB first, and the blocks are behind that.
template <class Ref>
struct take_run {
  Ref ref;
  std::size_t bytes;
  void** block;
  WYRM_HD void operator()(std::size_t) const { *block = ref.malloc(bytes); }
};
template <class A>
class ouroboros_cuda : public space_test<exec::cuda_space> {};
TYPED_TEST_SUITE(ouroboros_cuda, on_cuda, by_name);

TYPED_TEST(ouroboros_cuda, queues_that_are_full) {
  fill_a_queue<TypeParam>(make_space<exec::cuda_space>(), scaled(6000, 500), 9);
}

TYPED_TEST(ouroboros_cuda, small_pages_behind_66_gib) {
  constexpr std::size_t gib = std::size_t{1} << 30;
  auto const space = make_space<exec::cuda_space>();
  if (std::getenv("WYRM_TEST_MEMORY") != nullptr) GTEST_SKIP() << "the test is of memory of the device";
  if (space.memory_total() < 80 * gib) GTEST_SKIP() << "the device has less than 80 GiB";
  pool<TypeParam> p({.pool_bytes = 67 * gib, .reserve_bytes = 70 * gib, .checked = false}, space);
  exec::buffer<void*, exec::cuda_space> run(space, 1);
  exec::for_each(space, 1, take_run<typename TypeParam::ref_type>{p.owner().ref(), 66 * gib, run.data()});
  ASSERT_NE(exec::read(space, run.data()), nullptr);
  for (std::size_t const bytes : {16u, 32u, 100u, 8192u, 100000u}) {
    SCOPED_TRACE(std::to_string(bytes) + " bytes");
    for (int round = 0; round < 2; ++round) {
      auto const some = p.allocate(std::min<std::size_t>(20000, (std::size_t{1} << 28) / bytes), bytes);
      EXPECT_EQ(served(some), some.size());
      for (block const& b : some) ASSERT_GE(b.p, static_cast<unsigned char*>(exec::read(space, run.data())) + 66 * gib);
      p.free(some);
    }
  }
  p.free(p.churn(scaled(20000), 50, 1, 9000));
  p.free_in_order({{66 * gib, 0, static_cast<unsigned char*>(exec::read(space, run.data()))}});  // not in the model
  p.expect_sound();
}

}  // namespace wyrm::tests
