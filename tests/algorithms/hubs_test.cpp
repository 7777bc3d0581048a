// SPDX-License-Identifier: Apache-2.0
// PageRank with hubs first on the CPU, and with tiles of fibers.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "../support/simt_space.hpp"
#include "hubs_suite.hpp"

namespace wyrm::tests {

#if WYRM_TEST_HOST
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, hubs_test, testing::Types<exec::host_space>);
#endif
#if WYRM_TEST_SIMT
INSTANTIATE_TYPED_TEST_SUITE_P(simt, hubs_test, testing::Types<simt_space>);
#endif

// Memory of a given size, for all copies of a space.
class limited_space : public simt_space {
 public:
  explicit limited_space(std::size_t limit = ~std::size_t{0}) : used_(std::make_shared<usage>(usage{limit, 0, 0})) {}
  [[nodiscard]] std::size_t most() const { return used_->most; }
  [[nodiscard]] void* allocate(std::size_t bytes, exec::memory_kind kind = exec::memory_kind::device) const {
    if (bytes > used_->limit - used_->now) throw error(error_code::out_of_memory, "the limit is reached");
    void* const p = simt_space::allocate(bytes, kind);
    used_->now += bytes;
    used_->most = std::max(used_->most, used_->now);
    return p;
  }
  void deallocate(void* p, std::size_t bytes, exec::memory_kind kind = exec::memory_kind::device) const noexcept {
    used_->now -= bytes;
    simt_space::deallocate(p, bytes, kind);
  }

 private:
  struct usage {
    std::size_t limit;
    std::size_t now;
    std::size_t most;
  };
  std::shared_ptr<usage> used_;
};

// Whatever the request that fails, a run that does not copy arcs has the memory it needs.
TEST(hubs, are_not_first_if_memory_is_short) {
  std::vector<graph::edge> edges;
  for (graph::vertex_id v = 10; v < 101; ++v)
    for (graph::vertex_id hub = 0; hub < 10; ++hub) edges.push_back({hub, v});
  graph::any_graph g(exec::make_space("cpu"), alloc::default_name, 101);
  g.insert(edges);
  auto const run = [&](std::size_t limit, std::uint64_t hubs_first_from) {
    limited_space const space(limit);
    algorithms::pagerank_ranker<limited_space> ranker(space);
    ranker.run(g.view(), {.tolerance = 1e-6, .hubs_first_from = hubs_first_from});
    return std::pair(exec::copy_out(space, ranker.rank(), 101), space.most());
  };
  auto const [want, least] = run(~std::size_t{0}, ~std::uint64_t{0});
  std::size_t const most = run(~std::size_t{0}, 0).second;
  ASSERT_GT(most, least + 4 * g.arcs());
  for (std::size_t step = 0; step <= 16; ++step) {
    auto const got = run(least + (most - least) * step / 16, 0).first;
    for (std::size_t v = 0; v < want.size(); ++v) ASSERT_NEAR(got[v], want[v], 1e-7);
  }
}

}  // namespace wyrm::tests
