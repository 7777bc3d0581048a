// SPDX-License-Identifier: Apache-2.0
// Graphs from files, whatever their format: the one door that programs use. A format is known by the file's name and,
// where that does not tell, by how the file starts.
#pragma once

#include <filesystem>

#include "../graph/types.hpp"
#include "progress.hpp"

namespace wyrm::loaders {

/// Loads a graph: METIS/DIMACS10 (.graph, .metis; see metis.hpp) or Matrix Market (.mtx, or any other name when the
/// file starts with %%MatrixMarket; see matrix_market.hpp). Upper and lower case of the name do not matter.
///
/// Throws wyrm::error: bad_argument when neither name nor content is known; bad_input, io and out_of_memory as the
/// formats have them. Ids count from 0, at most graph::max_vertices of them. Safe to call from several threads.
[[nodiscard]] graph::edge_list load(std::filesystem::path const& path, progress const& report = {});

}  // namespace wyrm::loaders
