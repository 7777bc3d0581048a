// SPDX-License-Identifier: Apache-2.0
// Callbacks of a loader: for its progress, for example to draw a progress bar, and for warnings.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace wyrm::loaders {

/// Called by the loading thread every few mebibytes, and once at the end; may be empty. The numbers are in bytes: the
/// parsed part of the file, and the whole file. An exception of the callback cancels loading, and is rethrown to the
/// caller.
using progress = std::function<void(std::size_t bytes_done, std::size_t bytes_total)>;

/// Called by the loading thread when an operation failed that does not affect the graph, such as writing a cache; may
/// be empty. The message states what failed, where, and what to do.
using warning = std::function<void(std::string const& message)>;

}  // namespace wyrm::loaders
