// SPDX-License-Identifier: Apache-2.0
// Chooses a space by name at run time.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "config.hpp"
#include "host_space.hpp"
#if WYRM_WITH_CUDA
#include "cuda_space.hpp"
#endif

namespace wyrm::exec {

#if WYRM_WITH_CUDA
using any_space = std::variant<host_space, cuda_space>;
#else
using any_space = std::variant<host_space>;
#endif

/// Names: "cpu"; "cuda" or "cuda:N" for the N-th GPU; "auto" for the first GPU, or the CPU if there is none. Throws
/// error(bad_argument) for another name, error(device) for a GPU that does not exist.
[[nodiscard]] any_space make_space(std::string_view device);

/// A description for reports: "cuda:0 (NVIDIA H200)", "cpu (oneTBB, threads: 2)".
[[nodiscard]] std::string describe(any_space const& space);

}  // namespace wyrm::exec
