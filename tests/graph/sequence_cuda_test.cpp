// SPDX-License-Identifier: Apache-2.0
// Replays the corpus of the fuzzer, and random sequences, on a GPU.
#include "../../alloc/registry.hpp"
#include "../../exec/cuda_space.hpp"
#include "../support/spaces.hpp"
#include "sequence.hpp"
#include "sequence_replay.hpp"

namespace wyrm::tests {
namespace {

std::string run_on_gpu(std::span<std::uint8_t const> bytes) {
  using space = exec::cuda_space;
  byte_reader reader(bytes);
  sequence_header const header(reader);
  space const where = make_space<space>();
  if (header.has_values()) return run_with_values<alloc::ouroboros_va_p<space>>(where, header, reader);
  if (header.allocator() % 2 == 0) return sequence<space, alloc::ouroboros_s_p<space>>(where, header, reader).run();
  return sequence<space, alloc::ouroboros_va_c<space>>(where, header, reader).run();
}

class sequence_cuda : public space_test<exec::cuda_space> {};

TEST_F(sequence_cuda, the_corpus) { replay_the_corpus(run_on_gpu); }
TEST_F(sequence_cuda, random_ones) { run_random_sequences(scaled(60, 5), run_on_gpu); }

}  // namespace
}  // namespace wyrm::tests
