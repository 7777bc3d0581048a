// SPDX-License-Identifier: Apache-2.0
// The graphs of TRUTH.tsv as any_graphs on the CPU, for tests that compare algorithms with serial programs.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>

#include "../../alloc/registry.hpp"
#include "../../exec/device.hpp"
#include "../../graph/any_graph.hpp"
#include "../../loaders/loaders.hpp"
#include "truth.hpp"

namespace wyrm::tests {

/// Calls f(g, row) for each undirected graph of TRUTH.tsv whose file is in data_folder(). There must be at least one.
template <class F>
void for_each_undirected_graph(F const& f) {
  std::size_t graphs = 0;
  for (truth_row const& row : read_truth(data_folder())) {
    auto const file = data_folder() / row.file;
    if (row.directed || !std::filesystem::exists(file)) continue;
    SCOPED_TRACE(row.file);
    ++graphs;
    f(graph::build(exec::make_space("cpu"), alloc::default_name, loaders::load(file)), row);
  }
  EXPECT_GT(graphs, 0u) << "no graph of TRUTH.tsv is in " << data_folder();
}

}  // namespace wyrm::tests
