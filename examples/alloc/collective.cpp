// SPDX-License-Identifier: Apache-2.0
// All lanes of a warp call the allocator together, through a ref that the kernel gets as an argument: each lane
// allocates a block, writes to it and frees it.
#include <cstdint>
#include <cstdio>
#include <wyrm/alloc.hpp>
#include <wyrm/exec/atomic.hpp>
#include <wyrm/exec/launch.hpp>
#include <wyrm/exec/memory.hpp>

#include "on_space.hpp"

namespace {

template <class Ref>
struct use_blocks {
  Ref pool;
  std::uint32_t* served;

  // All lanes of a tile call allocate() at the same place; a lane that needs no block passes 0 bytes.
  template <class Tile>
  WYRM_HD void operator()(Tile const& t, std::size_t i, bool valid) const {
    auto* const block = static_cast<std::uint32_t*>(pool.allocate(t, valid ? 16 + i % 1000 : 0));
    if (block != nullptr) {
      block[0] = static_cast<std::uint32_t>(i);
      if (block[0] == i) wyrm::exec::atomic_ref<std::uint32_t>(*served).fetch_add(1, wyrm::exec::relaxed);
    }
    pool.deallocate(t, block);
  }
};

template <class Space>
int run(Space const& space) {
  constexpr std::uint32_t lanes = 10'000;
  wyrm::alloc::ouroboros_va_p<Space> pool(space, {.pool_bytes = std::size_t{64} << 20});
  wyrm::exec::buffer<std::uint32_t, Space> served(space, 1);
  wyrm::exec::write(space, served.data(), 0u);
  wyrm::exec::for_each_lane<32>(space, lanes, use_blocks<decltype(pool.ref())>{pool.ref(), served.data()});
  std::uint32_t const got = wyrm::exec::read(space, served.data());
  pool.check();
  std::printf("collective: %u of %u lanes on %s got a block; %zu bytes are allocated at the end\n", got, lanes,
              Space::name, pool.stats().granted);
  return got == lanes && pool.stats().granted == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return on_space(argc, argv, [](auto const& space) { return run(space); });
}
