// SPDX-License-Identifier: Apache-2.0
// How a loader tells its caller how far it is, so that a program can draw a progress bar.
#pragma once

#include <cstddef>
#include <functional>

namespace wyrm::loaders {

/// Called now and then, every few mebibytes and once at the end, by the thread that loads; may be empty. Both numbers
/// are bytes: of the file, how many are parsed and how many there are. What it throws ends the loading and reaches the
/// caller, which is how to cancel.
using progress = std::function<void(std::size_t bytes_done, std::size_t bytes_total)>;

}  // namespace wyrm::loaders
