// SPDX-License-Identifier: Apache-2.0
// libFuzzer on the files of one format, which the build says as WYRM_FUZZ_FORMAT: FORMAT_fuzz [-max_total_time=SECONDS]
// CORPUS. Whatever the bytes, the outcome is a list that is sound or bad_input. What it finds it writes to a file; put
// that into tests/data/fuzz/FORMAT, where fuzz_corpus_test replays it.
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
