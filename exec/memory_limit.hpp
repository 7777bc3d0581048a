// SPDX-License-Identifier: Apache-2.0
// The limits that the system sets for the memory and the addresses of this process.
#pragma once

#include <cstddef>
#include <filesystem>

namespace wyrm::exec {

inline constexpr std::size_t no_limit = ~std::size_t{0};

/// The least memory limit, in bytes, of the control groups of a process and of all groups above them: memory.max in
/// version 2, memory.limit_in_bytes in version 1. `groups` lists the groups of the process; `mount` is where control
/// groups are mounted. A file that is missing, or whose first word is not a number, sets no limit; no_limit without
/// any. Thread-safe.
[[nodiscard]] std::size_t control_group_limit(std::filesystem::path const& groups = "/proc/self/cgroup",
                                              std::filesystem::path const& mount = "/sys/fs/cgroup");

/// The bytes of memory that the machine can give to processes without swapping: MemAvailable of `information`; no_limit
/// if the file does not have it. Thread-safe.
[[nodiscard]] std::size_t memory_available(std::filesystem::path const& information = "/proc/meminfo");

/// The number of bytes of addresses that RLIMIT_AS (`ulimit -v`) leaves this process; no_limit without a limit.
/// Thread-safe.
[[nodiscard]] std::size_t addresses_left();

}  // namespace wyrm::exec
