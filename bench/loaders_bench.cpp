// SPDX-License-Identifier: Apache-2.0
// Loads a file once, in a new process, as for a user of the program; bench/fast_matrix_market.py runs it.
//   loaders_bench write FILE SCALE DEGREE   writes an R-MAT graph of 2^SCALE vertices and DEGREE times as many arcs
//   loaders_bench load FILE THREADS         loads it as an edge list
//   loaders_bench graph FILE THREADS        loads it and builds a dynamic graph on the CPU
// Prints a line of JSON: seconds, size of the file in bytes, edges, and peak memory of the process in MiB.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>

#include "../alloc/registry.hpp"
#include "../datasets/generators.hpp"
#include "../exec/host_space.hpp"
#include "../graph/any_graph.hpp"
#include "../loaders/loaders.hpp"
#include "../loaders/writers.hpp"

namespace {

using namespace wyrm;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

int run(std::string const& what, std::string const& file, char** numbers, int count) {
  auto const number = [&](int i) { return static_cast<unsigned>(std::strtoul(numbers[i], nullptr, 10)); };
  auto start = std::chrono::steady_clock::now();
  double load = 0;
  double build = 0;
  std::size_t edges = 0;
  if (what == "write" && count == 2) {
    auto list = datasets::rmat(number(0), number(1), 1);
    list.directed = true;
    start = std::chrono::steady_clock::now();
    loaders::write(list, file);
    edges = list.edges.size();
    load = seconds_since(start);
  } else if ((what == "load" || what == "graph") && count == 1) {
    auto list = loaders::load(file, {.threads = number(0)});
    load = seconds_since(start);
    edges = list.edges.size();
    if (what == "graph") {
      graph::any_graph const g = graph::build(exec::host_space(number(0)), alloc::default_name, list);
      build = seconds_since(start) - load;
    }
  } else {
    return 2;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("{\"%s_s\": %.3f, \"build_s\": %.3f, \"bytes\": %zu, \"edges\": %zu, \"peak_mib\": %ld}\n",
              what == "write" ? "write" : "load", load, build, std::size_t{std::filesystem::file_size(file)}, edges,
              usage.ru_maxrss >> 10);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc >= 4 && run(argv[1], argv[2], argv + 3, argc - 3) == 0) return 0;
    std::fprintf(stderr, "usage: loaders_bench write FILE SCALE DEGREE | load FILE THREADS | graph FILE THREADS\n");
    return 2;
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
