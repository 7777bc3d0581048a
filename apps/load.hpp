// SPDX-License-Identifier: Apache-2.0
// Loads a graph file under a progress bar.
#pragma once

#include <string>

#include "../loaders/loaders.hpp"
#include "progress.hpp"

namespace wyrm::apps {

/// Throws what loaders::load throws.
[[nodiscard]] inline graph::edge_list load_file(std::string const& file) {
  progress_bar bar("loading");
  return loaders::load(file, [&](std::size_t done, std::size_t all) { bar(done, all); });
}

}  // namespace wyrm::apps
