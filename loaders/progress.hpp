// SPDX-License-Identifier: Apache-2.0
// A callback for the progress of a loader, with which a program can draw a progress bar.
#pragma once

#include <cstddef>
#include <functional>

namespace wyrm::loaders {

/// Called by the loading thread every few mebibytes, and once at the end; may be empty. The numbers are in bytes: the
/// parsed part of the file, and the whole file. An exception of the callback cancels loading, and is rethrown to the
/// caller.
using progress = std::function<void(std::size_t bytes_done, std::size_t bytes_total)>;

}  // namespace wyrm::loaders
