// SPDX-License-Identifier: Apache-2.0
// Kernels on two streams use one pool at the same time. Two threads of the host launch them.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <thread>

#include "../../alloc/registry.hpp"
#include "workload.hpp"

namespace wyrm::tests {

/// All lanes of a tile allocate blocks of several sizes, fill and check them, and free them, for many rounds. Counts
/// the requests that are refused, and the blocks whose contents have changed.
template <class Ref>
struct allocate_and_free {
  Ref ref;
  std::uint32_t rounds;
  std::uint64_t first_tag;
  std::uint64_t* errors;

  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    for (std::uint32_t round = 0; round < rounds; ++round) {
      block b{std::size_t{16} << (i * 7 + round) % 6, first_tag + i, nullptr};
      b.p = static_cast<unsigned char*>(ref.allocate(t, valid ? b.bytes : 0));
      if (valid && b.p != nullptr) fill_block(b);
      t.sync();
      bool const good = !valid || (b.p != nullptr && is_intact(b));
      if (!good) exec::atomic_ref<std::uint64_t>(*errors).fetch_add(1, exec::relaxed);
      ref.deallocate(t, b.p);
    }
  }
};

template <class A>
class streams : public space_test<typename A::space_type> {};
TYPED_TEST_SUITE_P(streams);

TYPED_TEST_P(streams, share_a_pool) {
  using space_type = typename TypeParam::space_type;
  space_type const spaces[2] = {make_space<space_type>(1), make_space<space_type>(2)};
  TypeParam owner(spaces[0],
                  {.pool_bytes = std::size_t{32} << 20, .reserve_bytes = 0, .checked = true, .guards = false});
  auto const ref = owner.ref();
  bool const fibers = std::string_view(space_type::name) == "simt";
  std::size_t const lanes = fibers ? 512 : scaled(20000, 512);
  exec::buffer<std::uint64_t, space_type> errors(spaces[0], 1);
  exec::write(spaces[0], errors.data(), std::uint64_t{0});
  auto const work = [&](unsigned which) {
    for (int launch = 0; launch < 4; ++launch)
      exec::for_each_lane<32>(
          spaces[which], lanes,
          allocate_and_free<typename TypeParam::ref_type>{ref, 8, std::uint64_t{which} << 32, errors.data()});
    spaces[which].synchronize();
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  EXPECT_EQ(exec::read(spaces[0], errors.data()), 0u);
  alloc::statistics const s = owner.stats();
  EXPECT_EQ(s.granted, 0u);
  EXPECT_EQ(s.bad_frees, 0u);
  EXPECT_EQ(s.failures, 0u);
  owner.check();
}

REGISTER_TYPED_TEST_SUITE_P(streams, share_a_pool);

template <class Space>
using shared_pools = testing::Types<alloc::ouroboros_s_p<Space>, alloc::ouroboros_va_c<Space>,
                                    alloc::ouroboros_vl_p<Space>, alloc::corw<Space>, alloc::rw_malloc<Space>>;

}  // namespace wyrm::tests
