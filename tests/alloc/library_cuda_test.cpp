// SPDX-License-Identifier: Apache-2.0
// The allocators as a library, on a GPU; the program has two source files with kernels (library_module.hpp).
#include <stdexcept>

#include "../../exec/cuda_space.hpp"
#include "library_module.hpp"
#include "library_suite.hpp"

namespace wyrm::tests {

INSTANTIATE_TYPED_TEST_SUITE_P(cuda, library, ::testing::Types<exec::cuda_space>, by_name);

using library_of_two_files = space_test<exec::cuda_space>;

TEST_F(library_of_two_files, the_global_pool_is_the_same_in_both) {
  auto const space = make_space<exec::cuda_space>();
  alloc::global_allocator<exec::cuda_space> pool(space, {.pool_bytes = std::size_t{1} << 20, .checked = true});
  alloc::set_global(pool);
  constexpr std::size_t n = 1000;
  exec::buffer<list_node*, exec::cuda_space> heads(space, n);
  exec::buffer<unsigned char*, exec::cuda_space> arrays(space, n);
  exec::buffer<std::uint32_t, exec::cuda_space> wrong(space, 1);
  exec::write(space, wrong.data(), 0u);
  exec::for_each(space, n, build_lists{heads.data(), arrays.data()});
  EXPECT_GT(pool.stats().granted, 0u);
  free_in_another_file(space, n, heads.data(), arrays.data(), wrong.data());
  EXPECT_EQ(exec::read(space, wrong.data()), 0u);
  EXPECT_EQ(pool.stats().granted, 0u);
  pool.check();
  alloc::unset_global(pool);
}

TEST_F(library_of_two_files, files_of_different_allocators_are_refused) {
  auto const space = make_space<exec::cuda_space>();
  alloc::global_allocator<exec::cuda_space> pool(space, {.pool_bytes = std::size_t{1} << 20});
  EXPECT_EQ(alloc::detail::modules().size(), 2u);
  alloc::detail::modules().push_back({"corw", nullptr});
  try {
    alloc::set_global(pool);
    ADD_FAILURE() << "two allocators are accepted";
  } catch (error const& e) {
    EXPECT_EQ(e.code(), error_code::bad_argument);
    EXPECT_NE(std::string(e.what()).find("corw"), std::string::npos) << e.what();
  }
  alloc::detail::modules().pop_back();
}

}  // namespace wyrm::tests
