// SPDX-License-Identifier: Apache-2.0
// Replays the corpus of the fuzzer, and random sequences, with every compiler.
#include "../support/spaces.hpp"
#include "sequence_cpu.hpp"
#include "sequence_replay.hpp"

namespace wyrm::tests {

TEST(sequence, the_corpus) { replay_the_corpus(run_sequence); }
TEST(sequence, random_ones) { run_random_sequences(scaled(60, 5), run_sequence); }

}  // namespace wyrm::tests
