// SPDX-License-Identifier: Apache-2.0
// Kinds of memory of batches for a graph on a GPU: pageable, pinned and managed for what comes from the host, memory of
// the device and managed for what is resident. Updates that wait for an event read what other streams write, and change
// nothing that other streams still read.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "../../exec/cuda_space.hpp"
#include "../../exec/memory.hpp"
#include "../../graph/any_graph.hpp"
#include "../support/seed.hpp"
#include "../support/spaces.hpp"

namespace wyrm::tests {
namespace {

using exec::cuda_space;
using graph::edge;

constexpr std::size_t vertices = 5000;

enum class memory { pageable, pinned, managed, device };

/// An array of a kind of memory with these contents.
template <class T>
class array {
 public:
  array(memory kind, std::vector<T> const& contents) : size_(contents.size()) {
    std::size_t const bytes = size_ * sizeof(T);
    T* p = nullptr;
    switch (kind) {
      case memory::pageable: owner_ = {new T[size_], [](T* q) { delete[] q; }}; break;
      case memory::pinned:
        EXPECT_EQ(cudaMallocHost(&p, bytes), cudaSuccess);
        owner_ = {p, [](T* q) { cudaFreeHost(q); }};
        break;
      case memory::managed:
        EXPECT_EQ(cudaMallocManaged(&p, bytes), cudaSuccess);
        owner_ = {p, [](T* q) { cudaFree(q); }};
        break;
      case memory::device:
        EXPECT_EQ(cudaMalloc(&p, bytes), cudaSuccess);
        owner_ = {p, [](T* q) { cudaFree(q); }};
        break;
    }
    if (owner_) {
      EXPECT_EQ(cudaMemcpy(owner_.get(), contents.data(), bytes, cudaMemcpyDefault), cudaSuccess);
    }
  }
  [[nodiscard]] T* data() const { return owner_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::span<T const> span() const { return {owner_.get(), size_}; }

 private:
  std::size_t size_;
  std::shared_ptr<T> owner_;
};

std::vector<edge> edges_of(std::size_t n) {
  std::mt19937 random(seeded(61));
  std::vector<edge> edges;
  for (std::size_t i = 0; i < n; ++i)
    edges.push_back(
        {static_cast<graph::vertex_id>(random() % vertices), static_cast<graph::vertex_id>(random() % vertices)});
  return edges;
}
// The rows of a directed graph with these edges.
graph::csr rows_of(std::vector<edge> edges) {
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  graph::csr rows{std::vector<std::uint64_t>(vertices + 1), {}};
  for (edge const& e : edges) {
    ++rows.offsets[e.source + 1];
    rows.targets.push_back(e.target);
  }
  for (std::size_t v = 0; v < vertices; ++v) rows.offsets[v + 1] += rows.offsets[v];
  return rows;
}
graph::any_graph make() {
  return graph::any_graph(exec::make_space("cuda"), "ouroboros-s-p", vertices, {.directed = true, .self_loops = true});
}
cuda_space const& space_of(graph::any_graph const& g) { return std::get<cuda_space>(g.space()); }

class batch_memory : public space_test<cuda_space> {};

// In one copy, and in slices.
TEST_F(batch_memory, batches_from_pageable_pinned_and_managed_memory_of_the_host) {
  for (std::size_t const n : {std::size_t{3000}, (std::size_t{1} << 21) + 100}) {
    auto const edges = edges_of(n);
    graph::csr const want = rows_of(edges);
    std::vector<std::int64_t> sources;
    std::vector<std::int64_t> targets;
    for (edge const& e : edges) {
      sources.push_back(e.source);
      targets.push_back(e.target);
    }
    std::vector<graph::operation> const erase_all(n, graph::operation::erase);
    for (memory const kind : {memory::pageable, memory::pinned, memory::managed}) {
      SCOPED_TRACE(std::to_string(n) + " edges, kind " + std::to_string(int(kind)));
      array<edge> const batch(kind, edges);
      array<std::int64_t> const from(kind, sources);
      array<std::int64_t> const to(kind, targets);
      array<graph::operation> const operations(kind, erase_all);
      auto g = make();
      g.insert(batch.span());
      EXPECT_EQ(g.to_csr(), want);
      g.apply(batch.span(), operations.span());
      EXPECT_EQ(g.edges(), 0u);
      g.insert(graph::edge_columns(from.span(), to.span()));
      EXPECT_EQ(g.to_csr(), want);
      g.apply(graph::edge_columns(from.span(), to.span()), operations.span());
      EXPECT_EQ(g.edges(), 0u);
    }
  }
}

TEST_F(batch_memory, batches_in_memory_of_the_device_and_in_managed_memory) {
  auto const edges = edges_of(20000);
  graph::csr const want = rows_of(edges);
  std::vector<std::int32_t> sources;
  std::vector<std::int32_t> targets;
  for (edge const& e : edges) {
    sources.push_back(static_cast<std::int32_t>(e.source));
    targets.push_back(static_cast<std::int32_t>(e.target));
  }
  for (memory const kind : {memory::device, memory::managed}) {
    array<edge> const batch(kind, edges);
    array<std::int32_t> const from(kind, sources);
    array<std::int32_t> const to(kind, targets);
    array<graph::operation> const operations(kind, std::vector(edges.size(), graph::operation::erase));
    auto g = make();
    g.insert(graph::resident_edges(batch.data(), batch.size()));
    EXPECT_EQ(g.to_csr(), want);
    g.apply(graph::resident_columns(from.data(), to.data(), from.size()), operations.data());
    EXPECT_EQ(g.edges(), 0u);
    g.insert(graph::resident_columns(from.data(), to.data(), from.size()));
    EXPECT_EQ(g.to_csr(), want);
  }
}

// One block, which sleeps for about 50 ms before it works.
__device__ void sleep_long() {
  for (unsigned i = 0; i < 100; ++i) __nanosleep(500000);
  __syncthreads();
}
__global__ void copy_late(edge const* from, edge* to, std::size_t n) {
  sleep_long();
  for (std::size_t i = threadIdx.x; i < n; i += blockDim.x) to[i] = from[i];
}
__global__ void read_degree_late(graph::graph_view g, graph::vertex_id v, std::uint32_t* degree) {
  sleep_long();
  if (threadIdx.x == 0) *degree = g.degree(v);
}

/// A stream and an event of the caller.
class other_work {
 public:
  other_work() {
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess);
    EXPECT_EQ(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), cudaSuccess);
  }
  ~other_work() {
    cudaStreamSynchronize(stream_);
    cudaEventDestroy(event_);
    cudaStreamDestroy(stream_);
  }
  other_work(other_work const&) = delete;
  other_work& operator=(other_work const&) = delete;
  [[nodiscard]] cudaStream_t stream() const { return stream_; }
  [[nodiscard]] cudaEvent_t record() const {
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    EXPECT_EQ(cudaEventRecord(event_, stream_), cudaSuccess);
    return event_;
  }

 private:
  cudaStream_t stream_ = nullptr;
  cudaEvent_t event_ = nullptr;
};

// Until the event, the batch has ids that are refused. Batches in memory of the device, and in pinned memory that is
// uploaded in one copy and in slices.
TEST_F(batch_memory, an_update_waits_for_the_event_after_which_its_batch_is_written) {
  other_work const other;
  for (std::size_t const n : {std::size_t{1000}, std::size_t{100000}, (std::size_t{1} << 21) + 100}) {
    auto const edges = edges_of(n);
    graph::csr const want = rows_of(edges);
    array<edge> const from(memory::device, edges);
    array<edge> const there(memory::device, std::vector<edge>(n, {vertices, vertices}));
    array<edge> const pinned(memory::pinned, std::vector<edge>(n, {vertices, vertices}));
    {
      auto g = make();
      copy_late<<<1, 256, 0, other.stream()>>>(from.data(), there.data(), n);
      space_of(g).wait_for(other.record());
      g.insert(graph::resident_edges(there.data(), n));
      EXPECT_EQ(g.to_csr(), want);
    }
    auto g = make();
    copy_late<<<1, 256, 0, other.stream()>>>(from.data(), there.data(), n);
    ASSERT_EQ(cudaMemcpyAsync(pinned.data(), there.data(), n * sizeof(edge), cudaMemcpyDeviceToHost, other.stream()),
              cudaSuccess);
    space_of(g).wait_for(other.record());
    g.insert(pinned.span());
    EXPECT_EQ(g.to_csr(), want);
  }
}

TEST_F(batch_memory, an_update_waits_for_the_event_after_which_the_graph_is_not_read) {
  other_work const other;
  auto g = make();
  g.insert({{0, 1}, {0, 2}});
  exec::buffer<std::uint32_t, cuda_space> degree(space_of(g), 1);
  read_degree_late<<<1, 32, 0, other.stream()>>>(g.view(), 0, degree.data());
  space_of(g).wait_for(other.record());
  g.insert({{0, 3}, {0, 4}});
  EXPECT_EQ(exec::read(space_of(g), degree.data()), 2u);
  EXPECT_EQ(g.edges(), 4u);
}

// When get() has returned, work on any stream sees the result.
TEST_F(batch_memory, other_streams_see_the_result_of_an_update) {
  other_work const other;
  auto g = make();
  exec::buffer<std::uint32_t, cuda_space> degree(space_of(g), 1);
  for (graph::vertex_id round = 1; round < 20; ++round) {
    std::vector<edge> const batch{{0, round}};
    g.insert_async(batch).get();
    read_degree_late<<<1, 32, 0, other.stream()>>>(g.view(), 0, degree.data());
    ASSERT_EQ(cudaStreamSynchronize(other.stream()), cudaSuccess);
    ASSERT_EQ(exec::read(space_of(g), degree.data()), round);
  }
}

}  // namespace
}  // namespace wyrm::tests
