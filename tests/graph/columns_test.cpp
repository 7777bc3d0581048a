// SPDX-License-Identifier: Apache-2.0
// Columns of ids and arrays of edges with values on the CPU, and on simulated warps (simt_space); and uploads in
// slices.
#include "../../alloc/registry.hpp"
#include "../support/simt_space.hpp"
#include "columns_suite.hpp"

namespace wyrm::tests {

#if WYRM_TEST_HOST
using batches_on_host = testing::Types<batch_case<exec::host_space, alloc::ouroboros_va_p, graph::no_value>,
                                       batch_case<exec::host_space, alloc::ouroboros_va_p, double>>;
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, batches, batches_on_host);
#endif
#if WYRM_TEST_SIMT
using batches_on_simt = testing::Types<batch_case<simt_space, alloc::ouroboros_va_p, graph::no_value>>;
INSTANTIATE_TYPED_TEST_SUITE_P(simt, batches, batches_on_simt);
#endif

namespace {

/// What generic code writes before an update compiles for each space.
template <class Space>
concept waits_for_events = requires(Space const& space, typename Space::event e) {
  space.wait_for(e);
};
static_assert(waits_for_events<exec::host_space> && waits_for_events<simt_space>);

/// A host whose uploads are those of a device: from other memory, and in slices.
struct uploading_space : exec::host_space {
  struct upload : exec::host_upload {
    using exec::host_upload::host_upload;
    static constexpr bool is_concurrent = true;
  };
};

// Also for graphs with so many vertices that the lower half of the id would be one.
TEST(batch_inputs, ids_that_no_graph_has_become_no_vertex) {
  using namespace graph::detail;
  EXPECT_EQ(columns_to_edges<std::int32_t>::vertex(-2), graph::no_vertex);
  EXPECT_EQ(columns_to_edges<std::int32_t>::vertex(0x7fffffff), 0x7fffffffu);
  EXPECT_EQ(columns_to_edges<std::uint32_t>::vertex(0xfffffffe), 0xfffffffeu);
  EXPECT_EQ(columns_to_edges<std::uint64_t>::vertex(0xfffffffe), 0xfffffffeu);
  EXPECT_EQ(columns_to_edges<std::uint64_t>::vertex(0xffffffff), graph::no_vertex);
  EXPECT_EQ(columns_to_edges<std::uint64_t>::vertex(0x100000002), graph::no_vertex);
  EXPECT_EQ(columns_to_edges<std::uint64_t>::vertex(static_cast<std::uint64_t>(-2)), graph::no_vertex);
}

constexpr std::size_t slice = std::size_t{1} << 20;

// Returns the edges that the uploader converts a batch to, and checks that its slices are complete, and sorted by
// source if they should be.
template <class Value>
std::vector<graph::edge> converted(graph::detail::uploader<uploading_space>& uploader,
                                   graph::detail::batch_input const& batch, bool sorts) {
  graph::detail::batch_arrays const there = uploader.template room_for<Value>(batch);
  std::size_t next = 0;
  uploader.template convert<Value>(batch, 1 << 20, sorts, [&](std::size_t first, std::size_t n) {
    EXPECT_EQ(first, next);
    EXPECT_LE(n, 2 * slice);
    next += n;
    if (sorts && next < batch.size) {
      EXPECT_TRUE(std::ranges::is_sorted(there.edges + first, there.edges + next, {},
                                         [](graph::edge e) { return std::pair(e.target, e.source); }));
    }
  });
  EXPECT_EQ(next, batch.size);
  return {there.edges, there.edges + batch.size};
}

TEST(batch_inputs, are_uploaded_and_converted_in_slices) {
  uploading_space const space;
  graph::detail::uploader<uploading_space> uploader(space);
  std::mt19937 random(seeded(35));
  for (std::size_t const n : {std::size_t{3}, 2 * slice - 1, 2 * slice + 77}) {
    auto const edges = random_edges(random, 1 << 20, n);
    std::vector<std::int64_t> sources;
    std::vector<std::int64_t> targets;
    std::vector<graph::valued_edge<double>> structs;
    for (graph::edge const& e : edges) {
      sources.push_back(e.source);
      targets.push_back(e.target);
      structs.push_back({e.source, e.target, e.source * 0.5});
    }
    graph::edge_columns const columns(sources, targets);
    graph::detail::batch_input const of_columns{.columns = columns.ids(), .size = n, .is_on_host = true};
    EXPECT_EQ(converted<graph::no_value>(uploader, of_columns, false), edges);
    std::size_t const part = graph::detail::uploader<uploading_space>::slice_of(n);
    EXPECT_EQ(part > 0, n >= 2 * slice);
    auto in_slices = edges;
    auto sorted = converted<graph::no_value>(uploader, of_columns, true);
    for (std::size_t first = 0; first<n; first += part> 0 ? part : n) {
      std::size_t const end = part > 0 ? std::min(first + part, n) : n;
      std::sort(in_slices.begin() + static_cast<std::ptrdiff_t>(first),
                in_slices.begin() + static_cast<std::ptrdiff_t>(end));
      std::sort(sorted.begin() + static_cast<std::ptrdiff_t>(first), sorted.begin() + static_cast<std::ptrdiff_t>(end));
    }
    EXPECT_EQ(sorted, in_slices);
    graph::detail::batch_input const of_structs{.structs = structs.data(), .size = n, .is_on_host = true};
    auto const there = uploader.room_for<double>(of_structs);
    EXPECT_EQ(converted<double>(uploader, of_structs, false), edges);
    auto const* const values = static_cast<double const*>(there.values);
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(values[i], structs[i].value);
  }
}

}  // namespace
}  // namespace wyrm::tests
