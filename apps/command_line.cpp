// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"

#include <CLI/CLI.hpp>
#include <cstddef>

namespace wyrm::apps {

void add_placement(CLI::App& command, placement& where) {
  command.add_option("--device", where.device, "auto, cpu, cuda or cuda:N")->capture_default_str();
  std::vector<std::string> kinds;
  for (exec::memory_kind const kind : exec::memory_kinds) kinds.emplace_back(exec::to_string(kind));
  command
      .add_option_function<std::string>(
          "--memory", [&where](std::string const& name) { where.memory = exec::memory_kind_named(name); },
          "Memory of the pool for neighbours on a GPU: device, managed (pages move between GPU and host) or host "
          "(pinned memory of the host); on a CPU all are the same [device]")
      ->check(CLI::IsMember(kinds));
  command
      .add_option("--pool-limit", where.pool_limit,
                  "Maximum bytes of the pool for neighbours, up to 1 TiB, rounded up; 0 = the memory of the GPU, a "
                  "quarter of it with --memory managed, or on a CPU, and with --memory host, the least of the host's "
                  "memory, the limits of control groups, and half of the addresses that ulimit -v leaves")
      ->check(decimal)
      ->check(CLI::Range(std::size_t{0}, alloc::pool_limit))
      ->capture_default_str();
  command
      .add_option("--device-memory", where.device_memory,
                  "Maximum bytes of device memory for the graph, its scratch and its results, with an optional suffix "
                  "K, M or G (powers of 1024); pages beyond it lie in memory of the host; 0 = no limit")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::size_t{0}, alloc::pool_limit))
      ->capture_default_str();
}

void flush_output() {
  if (!std::cout.flush())
    throw error(error_code::io, "cannot write to standard output; check the disk, or the program that reads the pipe");
}

}  // namespace wyrm::apps
