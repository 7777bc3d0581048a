// SPDX-License-Identifier: Apache-2.0
#include "broker.hpp"

#include <algorithm>
#include <chrono>
#include <iomanip>
#include <ostream>

#include "../exec/config.hpp"
#include "../exec/error.hpp"
#include "../exec/memory_limit.hpp"
#include "report.hpp"
#if WYRM_WITH_CUDA
#include <cuda_runtime_api.h>

#include "../exec/cuda_space.hpp"
#endif

namespace wyrm::apps {

namespace {

#if WYRM_WITH_CUDA
// Does not make a context, which would take memory of the GPU.
std::size_t memory_of_gpu(int number) {
  cudaDeviceProp properties{};
  if (cudaError_t const e = cudaGetDeviceProperties(&properties, number); e != cudaSuccess)
    throw error(error_code::device, "there is no cuda:" + std::to_string(number) + ": " + cudaGetErrorString(e));
  return properties.totalGlobalMem;
}
bool has_gpu() { return exec::cuda_space::device_count() > 0; }
#else
std::size_t memory_of_gpu(int) { return 0; }
bool has_gpu() { return false; }
#endif

// The rest of a GPU is for what processes need beside their leases, such as contexts.
std::size_t default_memory(std::string const& device) {
  if (device != "cpu") return memory_of_gpu(std::stoi(device.substr(5))) / 8 * 7;
  std::size_t const memory = std::min(exec::memory_available(), exec::control_group_limit()) / 2;
  if (memory < exec::no_limit / 2) return memory;
  throw error(error_code::bad_argument, "the system does not say how much memory it has; use --memory");
}

void print_status(std::ostream& out, std::string const& socket, alloc::residency::broker_status const& s) {
  out << "socket   " << socket << "\nbudget   " << s.budget << " bytes\nheld     " << s.held << " bytes\nclients  "
      << s.clients.size() << '\n';
  if (s.clients.empty()) return;
  auto const row = [&](auto pid, auto priority, auto least, auto held, auto waits_for, auto wanted,
                       std::string const& name) {
    out << std::setw(8) << pid << std::setw(10) << priority;
    for (auto const& bytes : {least, held, waits_for, wanted}) out << std::setw(16) << bytes;
    out << "  " << name << '\n';
  };
  row("pid", "priority", "least", "held", "waits for", "wanted", "name");
  for (auto const& c : s.clients) row(c.pid, c.priority, c.least, c.held, c.waits_for, c.wanted, c.name);
}

}  // namespace

void run_broker(broker_command c, std::ostream& out) {
  if (c.device == "auto") c.device = has_gpu() ? "cuda" : "cpu";
  if (c.device == "cuda") c.device = "cuda:0";
  if (c.socket.empty() || !c.status) {
    std::string const socket = alloc::residency::broker_socket(c.device);  // checks the device
    if (c.socket.empty()) c.socket = socket;
  }
  if (c.status) {
    auto const status = alloc::residency::status_of_broker(c.socket);
    if (c.json)
      out << json_report(c, status);
    else
      print_status(out, c.socket, status);
    return;
  }
  if (c.memory == 0) c.memory = default_memory(c.device);
  alloc::residency::broker serves(
      {.socket = c.socket, .memory = c.memory, .idle = std::chrono::seconds(c.idle_seconds)});
  out << "serves " << c.memory << " bytes of " << c.device << " at " << c.socket << std::endl;
  serves.run();
}

}  // namespace wyrm::apps
