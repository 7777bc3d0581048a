// SPDX-License-Identifier: Apache-2.0
// The description of the machine and the build in a report.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace wyrm::apps {

struct machine {
  std::string os;   // "Linux 6.1.0 x86_64"
  std::string cpu;  // model name
  unsigned cores;   // number of logical cores
  std::size_t memory_bytes;
  std::vector<std::string> gpus;  // names of the GPUs
};
[[nodiscard]] machine this_machine();

struct build {
  std::string version;
  std::string compiler;
  std::string type;          // "Release"
  std::string host_threads;  // "oneTBB", "std::thread", "none"
  bool cuda;
  bool checked;
};
[[nodiscard]] build this_build();

}  // namespace wyrm::apps
