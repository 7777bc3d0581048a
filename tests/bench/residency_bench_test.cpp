// SPDX-License-Identifier: Apache-2.0
// The programs of residency_bench on the CPU and on simulated warps (simt_space); two of them beside each other; and
// what the benchmark computes and writes.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "../../bench/residency/report.hpp"
#include "../../bench/residency/settings.hpp"
#include "../support/simt_space.hpp"
#include "residency_bench_suite.hpp"

namespace wyrm::tests {

#if WYRM_TEST_HOST
INSTANTIATE_TYPED_TEST_SUITE_P(cpu, residency_programs, testing::Types<exec::host_space>);
#endif
#if WYRM_TEST_SIMT
INSTANTIATE_TYPED_TEST_SUITE_P(simt, residency_programs, testing::Types<simt_space>);
#endif

using host = exec::host_space;

TEST(weighted_speedup, is_the_sum_of_solo_over_combo_time) {
  using gdm::solo_and_combo;
  EXPECT_DOUBLE_EQ(gdm::weighted_speedup(std::array{solo_and_combo{2, 4}, solo_and_combo{3, 4}}), 1.25);
  EXPECT_DOUBLE_EQ(gdm::weighted_speedup(std::array{solo_and_combo{2, 2}, solo_and_combo{3, 3}}), 2);
  EXPECT_DOUBLE_EQ(gdm::weighted_speedup({}), 0);
}

TEST(work_efficiency, is_useful_time_over_time_of_the_gpu) {
  using gdm::work_done;
  EXPECT_DOUBLE_EQ(gdm::work_efficiency(std::array{work_done{3, 2}, work_done{0.5, 4}}, 10), 0.8);
  EXPECT_DOUBLE_EQ(gdm::work_efficiency({}, 0), 1);
}

// Section 6.3 of the paper.
TEST(paper_programs, contend_in_14_of_21_pairs) {
  int pairs = 0;
  int contended = 0;
  for (std::size_t i = 0; i < gdm::paper_programs.size(); ++i)
    for (std::size_t j = i + 1; j < gdm::paper_programs.size(); ++j, ++pairs)
      contended += gdm::contend(gdm::paper_programs[i], gdm::paper_programs[j]);
  EXPECT_EQ(pairs, 21);
  EXPECT_EQ(contended, 14);
  for (gdm::table_entry const& e : gdm::paper_programs) EXPECT_LE(e.footprint, gdm::paper_device) << e.name;
  EXPECT_EQ(gdm::scaled(668, std::size_t{1400} << 30), std::size_t{668} << 30);
  EXPECT_EQ(gdm::scaled(700, 2801), 1400u);
  EXPECT_THROW((void)gdm::make_program<host>("theano", 1), error);
}

/// A program with its right result.
gdm::named_program<host> program_of(gdm::table_entry const& e, std::size_t device) {
  gdm::named_program<host> p{std::string(e.name), gdm::make_program<host>(e.name, gdm::scaled(e.allocated, device)), 0};
  p.correct = p.program->expected();
  return p;
}

TEST(programs_beside_each_other, are_right) {
  std::size_t const block = host().granularity();
  std::size_t const budget = 8 * block;
  for (char const* const policy : gdm::residency::policy_names) {
    gdm::shared_device<host> device({host(1), host(1), host(1)}, policy, budget, block);
    for (std::size_t i = 1; i < gdm::paper_programs.size(); ++i) {
      auto const a = program_of(gdm::paper_programs[i - 1], budget);
      auto const b = program_of(gdm::paper_programs[i], budget);
      gdm::combo const c = gdm::run_pair(device, a, b, 2);
      for (unsigned k = 0; k < 2; ++k) {
        EXPECT_GE(c.seconds[k].size(), 2u) << a.name << ", " << b.name;
        EXPECT_GE(c.repetitions[k], static_cast<double>(c.seconds[k].size()));
        EXPECT_LE(c.repetitions[k], static_cast<double>(c.seconds[k].size() + 1));
      }
      EXPECT_GT(c.wall_seconds, 0.0);
    }
    EXPECT_LE(device.counters().resident_bytes, budget);
  }
}

TEST(programs_beside_each_other, are_right_under_attack) {
  std::size_t const block = host().granularity();
  gdm::shared_device<host> device({host(1), host(1), host(1)}, "lru-cost", 8 * block, block);
  for (gdm::table_entry const& e : gdm::paper_programs) {
    auto const p = program_of(e, 8 * block);
    gdm::combo const c = gdm::run_under_attack(device, p, 8 * block, 2);
    EXPECT_EQ(c.seconds[0].size(), 2u);
    EXPECT_EQ(c.seconds[1].size(), 0u);
    EXPECT_GT(c.moved.launches, 0u);
  }
}

TEST(programs_beside_each_other, are_right_beside_a_leak) {
  std::size_t const block = host().granularity();
  gdm::shared_device<host> device({host(1), host(1), host(1)}, "lru-cost", 8 * block, block);
  gdm::leak leaking(gdm::scaled(gdm::paper_leak, 8 * block));
  for (gdm::table_entry const& e : gdm::paper_programs) {
    gdm::combo const c = gdm::run_beside_leak(device, program_of(e, 8 * block), leaking, 1);
    EXPECT_EQ(c.seconds[0].size(), 1u);
    EXPECT_EQ(leaking.checksum(), leaking.expected());
  }
}

TEST(programs_beside_each_other, fail_without_a_manager_if_they_do_not_fit) {
  std::size_t const bytes = std::size_t{1} << 20;
  auto const a = program_of(gdm::paper_programs[5], bytes);
  auto const b = program_of(gdm::paper_programs[6], bytes);
  std::size_t const both = gdm::scaled(gdm::paper_programs[5].footprint + gdm::paper_programs[6].footprint, bytes);
  gdm::plain_device<host> fits({host(1), host(1), host(1)}, both + bytes / 8);
  gdm::combo const c = gdm::run_pair(fits, a, b, 2);
  for (unsigned k = 0; k < 2; ++k) EXPECT_GE(c.seconds[k].size(), 2u);
  EXPECT_EQ(c.moved.moved_in_bytes, 0u);
  gdm::plain_device<host> small({host(1), host(1), host(1)}, both / 4);
  try {
    (void)gdm::run_pair(small, a, b, 1);
    ADD_FAILURE();
  } catch (error const& refused) {
    EXPECT_EQ(refused.code(), error_code::out_of_memory) << refused.what();
  }
}

TEST(programs_beside_each_other, report_a_wrong_result) {
  std::size_t const block = host().granularity();
  gdm::shared_device<host> device({host(1), host(1), host(1)}, "lru", 8 * block, block);
  auto right = program_of(gdm::paper_programs[3], 8 * block);
  auto wrong = program_of(gdm::paper_programs[4], 8 * block);
  ++wrong.correct;
  for (auto const& [a, b] : {std::pair(right, wrong), std::pair(wrong, right)}) {
    try {
      (void)gdm::run_pair(device, a, b, 1);
      ADD_FAILURE();
    } catch (error const& failed) {
      EXPECT_EQ(failed.code(), error_code::corrupt);
      EXPECT_NE(std::string(failed.what()).find("mpe"), std::string::npos) << failed.what();
    }
  }
}

TEST(report_of_benchmark, writes_json) {
  std::filesystem::path const path = std::filesystem::path(testing::TempDir()) / "residency_report.json";
  bench::report r("pair/", path.string());
  EXPECT_TRUE(r.selects("pair/cpu"));
  EXPECT_FALSE(r.selects("alone/cpu"));
  r.about("device", "a \"b\"\\");
  r.add("pair/cpu/x", 0.25, {{"throughput", 1.5}, {"infinite", std::nan("")}});
  r.add_failure("pair/cpu/y", "line\nbreak");
  EXPECT_EQ(r.failures(), 1u);
  r.finish();
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(
      text.str(),
      "{\n \"context\": {\"device\": \"a \\\"b\\\"\\\\\"},\n \"benchmarks\": [\n"
      "  {\"name\": \"pair/cpu/x\", \"run_name\": \"pair/cpu/x\", \"run_type\": \"iteration\", \"real_time\": 250, "
      "\"time_unit\": \"ms\", \"throughput\": 1.5, \"infinite\": null},\n"
      "  {\"name\": \"pair/cpu/y\", \"run_name\": \"pair/cpu/y\", \"error_occurred\": true, \"error_message\": "
      "\"line break\"}\n ]\n}\n");
  std::filesystem::remove(path);
}

TEST(report_of_benchmark, refuses_a_wrong_path_and_a_selection_of_nothing) {
  auto const code_of = [](auto const& f) {
    try {
      f();
    } catch (error const& refused) {
      return std::optional(refused.code());
    }
    return std::optional<error_code>();
  };
  EXPECT_EQ(code_of([] { bench::report("", "/nonexistent/folder/report.json"); }), error_code::io);
  bench::report r("no case");
  EXPECT_FALSE(r.selects("pair/cpu"));
  EXPECT_EQ(code_of([&] { r.finish(); }), error_code::bad_argument);
}

TEST(settings_of_benchmark, are_parsed) {
  auto const parsed = [](std::vector<char const*> arguments) {
    arguments.insert(arguments.begin(), "residency_bench");
    return gdm::parse(static_cast<int>(arguments.size()), arguments.data(), "residency_bench", "--size MIB", 3);
  };
  gdm::settings const usual = parsed({});
  EXPECT_EQ(usual.mib, 0u);
  EXPECT_EQ(usual.repeats, 3u);
  EXPECT_EQ(parsed({"--quick"}).repeats, 1u);
  gdm::settings const s =
      parsed({"--size", "32768", "--quick", "--repeat", "7", "--only", "a", "--space", "cpu", "--json", "f"});
  EXPECT_EQ(s.mib, 32768u);
  EXPECT_EQ(s.repeats, 7u);
  EXPECT_EQ(s.only + s.space + s.json, "acpuf");
  for (std::vector<char const*> const& wrong : {std::vector<char const*>{"--size"},
                                                {"--size", "0"},
                                                {"--size", "32769"},
                                                {"--size", "-1"},
                                                {"--size", "1x"},
                                                {"--size", ""},
                                                {"--size", "99999999999999999999"},
                                                {"--space", "gpu"},
                                                {"--graph", "rmat-3"},
                                                {"--repeat", "1001"},
                                                {"x"},
                                                {""}})
    EXPECT_THROW((void)parsed(wrong), error) << wrong[0];
}

}  // namespace wyrm::tests
