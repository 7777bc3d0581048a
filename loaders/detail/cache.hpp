// SPDX-License-Identifier: Apache-2.0
// Caches of parsed graph files: which file is the cache of a graph file, and whether it is up to date.
#pragma once

#include <filesystem>
#include <optional>

#include "../../graph/types.hpp"
#include "../binary.hpp"
#include "../options.hpp"
#include "../progress.hpp"

namespace wyrm::loaders::detail {

class cache {
 public:
  /// The cache of a graph file for these options, with the state of the graph file at this time.
  cache(std::filesystem::path const& source, options const& settings);

  /// The list, if the cache has been written for this state of the graph file and for these options, and is not
  /// damaged.
  [[nodiscard]] std::optional<graph::edge_list> load(options const& settings, progress const& report) const;

  /// Writes the cache. Replaces no other file than an earlier cache of the same graph file. Throws wyrm::error (io),
  /// with advice, when another file has the name of the cache, or the cache cannot be written.
  void write(graph::edge_list const& list) const;

 private:
  std::filesystem::path path_;
  cache_stamp stamp_;
};

}  // namespace wyrm::loaders::detail
