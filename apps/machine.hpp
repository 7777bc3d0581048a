// SPDX-License-Identifier: Apache-2.0
// What a report says about where and how a program ran.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace wyrm::apps {

struct machine {
  std::string os;   // "Linux 6.1.0 x86_64"
  std::string cpu;  // the model's name
  unsigned cores;   // logical
  std::size_t memory_bytes;
  std::vector<std::string> gpus;  // names; empty without any
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
