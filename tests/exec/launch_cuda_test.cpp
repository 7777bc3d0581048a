// SPDX-License-Identifier: Apache-2.0
// The launches on a GPU.
#include "launch_suite.hpp"

#include "../../exec/cuda_space.hpp"
#include "../../exec/error.hpp"
#include "../../exec/memory.hpp"

namespace wyrm::tests {

using spaces = ::testing::Types<exec::cuda_space>;
INSTANTIATE_TYPED_TEST_SUITE_P(on, launch, spaces, by_name);

namespace {
struct write_seven {
  int* place;
  WYRM_HD void operator()(std::size_t) const { *place = 7; }
};
}  // namespace

// The stream outlives the space, and executes the work of the space.
TEST(cuda_space, on_a_stream_of_the_caller) {
  if (exec::cuda_space::device_count() == 0) GTEST_SKIP() << "there is no device";
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  {
    exec::cuda_space const space(0, stream);
    EXPECT_EQ(space.stream(), stream);
    exec::buffer<int, exec::cuda_space> number(space, 1);
    exec::for_each(space, 1, write_seven{number.data()});
    EXPECT_EQ(exec::read(space, number.data()), 7);
  }
  EXPECT_EQ(cudaStreamQuery(stream), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_THROW(exec::cuda_space(1 << 20, stream), error);
}

}  // namespace wyrm::tests
