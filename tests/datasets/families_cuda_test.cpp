// SPDX-License-Identifier: Apache-2.0
// Generators on a GPU.
#include "../../exec/cuda_space.hpp"

#include "../../datasets/families.hpp"
#include "families_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(on, generators_on_space, testing::Types<exec::cuda_space>, by_name);

class families_on_gpu : public space_fixture<exec::cuda_space> {};

TEST_F(families_on_gpu, give_the_graphs_of_the_host) {
  for (char const* const text :
       {"rmat,scale=9,noise=0.05", "graph500,scale=9", "kronecker,matrix=0.4:0.1:0:0.1:0.2:0.05:0:0.05:0.1,levels=5",
        "rgg,n=5000", "rgg,n=3000,dimensions=3", "rgg,n=1", "grid,x=30,y=20,z=3", "torus,x=30,y=20", "dual,rows=40",
        "nlpkkt,N=6", "gnp,n=3000", "gnp,n=0", "planted,n=3000,times=growth", "road,rows=20,columns=20", "lfr,n=500"}) {
    auto const want = datasets::generate(text, exec::host_space(1));
    auto const got = datasets::generate(text, this->space());
    EXPECT_EQ(got.list.vertices, want.list.vertices) << text;
    EXPECT_EQ(got.list.edges, want.list.edges) << text;
    EXPECT_EQ(got.list.times, want.list.times) << text;
    EXPECT_EQ(got.labels, want.labels) << text;
  }
}

}  // namespace wyrm::tests
