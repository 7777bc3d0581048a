// SPDX-License-Identifier: Apache-2.0
// Snapshots, and vertices that come and go, on a GPU; readers have streams of their own.
#include "../../alloc/registry.hpp"
#include "../../exec/cuda_space.hpp"
#include "../support/spaces.hpp"
#include "snapshot_suite.hpp"
#include "vertices_suite.hpp"

namespace wyrm::tests {

using snapshots_on_cuda = testing::Types<snapshot_case<exec::cuda_space, alloc::ouroboros_va_p>,
                                         snapshot_case<exec::cuda_space, alloc::corw, float>>;
INSTANTIATE_TYPED_TEST_SUITE_P(cuda, snapshots, snapshots_on_cuda);
INSTANTIATE_TYPED_TEST_SUITE_P(cuda, vertices, snapshots_on_cuda);

class snapshot_readers : public space_test<exec::cuda_space> {};
TEST_F(snapshot_readers, read_on_streams_of_their_own) {
  read_while_updating<exec::cuda_space, alloc::ouroboros_va_p<exec::cuda_space>>(scaled(3000, 100));
}

}  // namespace wyrm::tests
