// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "../graph/any_graph.hpp"

namespace wyrm::apps {

namespace {

std::string tolerance(std::string const& text) {
  double value = 0;
  bool const good = CLI::detail::lexical_cast(text, value) && value > 0 && value <= 2;
  return good ? "" : "'" + text + "' is not a number above 0, and at most 2";
}

}  // namespace

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
  auto* const limit =
      command
          .add_option(
              "--device-memory", where.device_memory,
              "Maximum bytes of device memory for the graph, its scratch and its results, with an optional suffix "
              "K, M or G (powers of 1024); pages beyond it lie in memory of the host; 0 = no limit")
          ->transform(CLI::AsSizeValue(false))
          ->check(CLI::Range(std::size_t{0}, alloc::pool_limit))
          ->capture_default_str();
  command
      .add_flag("--share-device", where.shares_device,
                "Take as much device memory as other processes with this flag leave; a broker, which the first process "
                "starts, divides it (wyrm broker). Fails if the arrays of an algorithm do not fit")
      ->excludes(limit);
}

void add_graph_options(CLI::App& command, graph_options& o, std::vector<std::string> const& known,
                       std::string const& algorithms) {
  add_graph_file(command, o.file, true);
  add_order(command, o.file);
  add_placement(command, o);
  command.add_option("--allocator", o.allocator, "Allocator of the pages")
      ->check(CLI::IsMember(graph::any_graph::allocators()))
      ->capture_default_str();
  command.add_option("--algorithms", o.algorithms, algorithms)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember(known))
      ->type_name("LIST");
  command
      .add_option("--source", o.source, "The vertex at which bfs and others begin [the first one with the most edges]")
      ->check(not_empty)
      ->type_name("ID");
  command
      .add_option("--tolerance", o.tolerance,
                  "Tolerance of PageRank and other power iterations: L1 norm of the last change")
      ->check(tolerance)
      ->capture_default_str();
  command
      .add_option("--top", o.top,
                  "Print this many vertices with the largest values, such as ranks, of each algorithm that orders them")
      ->check(decimal)
      ->check(CLI::Range(0, 1'000'000'000))
      ->capture_default_str();
  command
      .add_option("--output", o.output,
                  "Write the values of all vertices to DIR/pagerank.txt, and so for each algorithm")
      ->check(not_empty)
      ->type_name("DIR");
  command.add_option("--report", o.report, "Write a JSON report to this file")->check(not_empty);
}

void add_batch(CLI::App& command, std::size_t& batch, char const* what) {
  command.add_option("--batch", batch, what)
      ->check(decimal)
      ->check(CLI::Range(1, 1'000'000'000))
      ->capture_default_str();
}

void flush_output() {
  if (!std::cout.flush())
    throw error(error_code::io, "cannot write to standard output; check the disk, or the program that reads the pipe");
}

}  // namespace wyrm::apps
