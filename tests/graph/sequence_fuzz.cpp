// SPDX-License-Identifier: Apache-2.0
// A libFuzzer target for sequences of operations. Usage: sequence_fuzz [-max_total_time=SECONDS] CORPUS. libFuzzer
// writes a failing input to a file; move that file to tests/data/sequences, where sequence_test replays it.
#include <cstdio>
#include <cstdlib>

#include "sequence_cpu.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* bytes, std::size_t size) {
  std::string const wrong = wyrm::tests::run_sequence({bytes, size});
  if (wrong.empty()) return 0;
  std::fprintf(stderr, "%s\n", wrong.c_str());
  std::abort();
}
