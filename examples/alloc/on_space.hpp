// SPDX-License-Identifier: Apache-2.0
// The main function of the examples: PROGRAM [auto|cpu|cuda|cuda:N]. `auto` is a GPU if there is one and nvcc compiled
// the program, otherwise the CPU.
#pragma once

#include <cstdio>
#include <string_view>
#include <variant>
#include <wyrm/exec/device.hpp>

/// Calls run(space), which returns the exit status, with the space that the first argument names.
template <class Run>
int on_space(int argc, char** argv, Run const& run) try {
  std::string_view const name = argc > 1 ? argv[1] : "auto";
#if WYRM_CUDACC
  return std::visit(run, wyrm::exec::make_space(name));
#else  // the C++ compiler has no kernels, even if the installed Wyrm has CUDA
  if (name != "auto" && name != "cpu")
    throw wyrm::error(wyrm::error_code::bad_argument, "this program was compiled for the CPU only");
  return run(wyrm::exec::host_space());
#endif
} catch (wyrm::error const& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
