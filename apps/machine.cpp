// SPDX-License-Identifier: Apache-2.0
#include "machine.hpp"

#include <sys/utsname.h>

#include <fstream>
#include <thread>

#include "../exec/device.hpp"

namespace wyrm::apps {

machine this_machine() {
  machine m;
  utsname names{};
  if (uname(&names) == 0) m.os = std::string(names.sysname) + " " + names.release + " " + names.machine;
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; m.cpu.empty() && std::getline(cpuinfo, line);)
    if (line.starts_with("model name")) m.cpu = line.substr(line.find(':') + 2);
  m.cores = std::thread::hardware_concurrency();
  m.memory_bytes = exec::host_space().memory_total();
#if WYRM_WITH_CUDA
  for (int i = 0; i < exec::cuda_space::device_count(); ++i) m.gpus.push_back(exec::cuda_space(i).description());
#endif
  return m;
}

build this_build() {
  build b;
  b.version = WYRM_VERSION;
#if defined(__clang__)
  b.compiler = "clang++ " + std::to_string(__clang_major__) + "." + std::to_string(__clang_minor__);
#else
  b.compiler = "g++ " + std::to_string(__GNUC__) + "." + std::to_string(__GNUC_MINOR__);
#endif
  b.type = WYRM_BUILD_TYPE;
  b.host_threads = WYRM_HOST_THREADS == 2 ? "oneTBB" : WYRM_HOST_THREADS == 1 ? "std::thread" : "none";
  b.cuda = WYRM_WITH_CUDA;
  b.checked = WYRM_CHECKED;
  return b;
}

}  // namespace wyrm::apps
