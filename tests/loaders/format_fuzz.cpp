// SPDX-License-Identifier: Apache-2.0
// A libFuzzer target for files of one format, the macro WYRM_FUZZ_FORMAT. Usage: FORMAT_fuzz [-max_total_time=SECONDS]
// CORPUS. For all bytes the result must be a valid list or the error bad_input. libFuzzer writes a failing input to a
// file; move that file to tests/data/fuzz/FORMAT, where fuzz_corpus_test replays it.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "any_bytes.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* bytes, std::size_t size) {
  auto const wrong = wyrm::tests::load_any_bytes(WYRM_FUZZ_FORMAT, {reinterpret_cast<char const*>(bytes), size});
  if (wrong.empty()) return 0;
  std::fprintf(stderr, "%s\n", wrong.c_str());
  std::abort();
}
