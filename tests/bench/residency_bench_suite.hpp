// SPDX-License-Identifier: Apache-2.0
// The programs of residency_bench on any space, in plain memory and by a residency manager with too little device
// memory, compared with their serial programs.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "../../bench/residency/co_run.hpp"
#include "../support/spaces.hpp"

namespace wyrm::tests {

namespace gdm = bench::gdm;

template <class Space>
class residency_programs : public space_fixture<Space> {
 protected:
  [[nodiscard]] std::array<Space, 3> spaces() const { return {this->space(), this->space(), this->space()}; }
  [[nodiscard]] std::size_t block() const { return this->space().granularity(); }
  /// The least that programs can have, and no round number. All have at least two blocks.
  static std::vector<std::size_t> sizes() { return {1, 123457}; }
};
TYPED_TEST_SUITE_P(residency_programs);

TYPED_TEST_P(residency_programs, are_right_in_plain_memory) {
  for (std::size_t const bytes : this->sizes())
    for (gdm::table_entry const& e : gdm::paper_programs) {
      auto const program = gdm::make_program<TypeParam>(e.name, bytes);
      gdm::plain_memory<TypeParam> memory(this->space(), std::size_t{4} << 20);
      for (int run = 0; run < 2; ++run) {
        program->run(memory);
        EXPECT_EQ(program->checksum(), program->expected()) << e.name << ", " << bytes << ", run " << run;
      }
      EXPECT_GE(memory.kernel_seconds(), 0.0);
    }
}

TYPED_TEST_P(residency_programs, are_right_with_two_blocks_of_device_memory) {
  for (char const* const policy : gdm::residency::policy_names) {
    gdm::shared_device<TypeParam> device(this->spaces(), policy, 2 * this->block(), this->block());
    for (gdm::table_entry const& e : gdm::paper_programs) {
      auto const program = gdm::make_program<TypeParam>(e.name, this->sizes()[1]);
      auto client = device.make_client(0);
      auto memory = device.memory_of(client, 0);
      for (int run = 0; run < 2; ++run) {
        program->run(memory);
        EXPECT_EQ(program->checksum(), program->expected()) << e.name << ", " << policy << ", run " << run;
      }
      EXPECT_LE(device.counters().resident_bytes, 2 * this->block()) << e.name;
    }
    auto const moved = device.counters();
    EXPECT_GT(moved.moved_in_bytes, 0u);
    EXPECT_GT(moved.clean_evictions + moved.dirty_evictions, 0u);
  }
}

// Each array is one block, and there are 100.
TYPED_TEST_P(residency_programs, leak_by_a_manager_and_end_without_one) {
  gdm::leak program(12345);
  {
    gdm::shared_device<TypeParam> device(this->spaces(), "lru-cost", 3 * this->block(), this->block());
    auto client = device.make_client(0);
    auto memory = device.memory_of(client, 0);
    program.run(memory);
  }
  EXPECT_EQ(program.checksum(), program.expected());
  EXPECT_EQ(program.seconds().size(), gdm::leak::iterations);
  gdm::plain_memory<TypeParam> memory(this->space(), program.array_bytes() * 10);
  try {
    program.run(memory);
    ADD_FAILURE();
  } catch (error const& refused) {
    EXPECT_EQ(refused.code(), error_code::out_of_memory) << refused.what();
  }
  EXPECT_EQ(program.seconds().size(), 10u);
}

REGISTER_TYPED_TEST_SUITE_P(residency_programs, are_right_in_plain_memory, are_right_with_two_blocks_of_device_memory,
                            leak_by_a_manager_and_end_without_one);

}  // namespace wyrm::tests
