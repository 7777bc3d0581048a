// SPDX-License-Identifier: Apache-2.0
// Limits of all text that is read line by line: graph files, updates and labels.
#pragma once

#include <cstddef>

namespace wyrm::loaders {

/// The most bytes of a line, without the line end; METIS files may have longer ones.
inline constexpr std::size_t longest_line = std::size_t{1} << 24;

}  // namespace wyrm::loaders
