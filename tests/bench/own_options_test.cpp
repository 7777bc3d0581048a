// SPDX-License-Identifier: Apache-2.0
// The options that benchmarks have beside those of Google Benchmark, and the cases that they select.
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "../../bench/load_cases.hpp"
#include "../../bench/relational_cases.hpp"

namespace wyrm::tests {

namespace {

/// A command line; take() leaves the rest in `left`.
struct command_line {
  std::vector<std::string> left;
  explicit command_line(std::vector<std::string> arguments) : left(std::move(arguments)) {
    left.insert(left.begin(), "program");
  }
  template <class Settings>
  auto take() {
    std::vector<char*> pointers;
    for (std::string& argument : left) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    int count = static_cast<int>(left.size());
    auto const settings = Settings::take(count, pointers.data());
    left = std::vector<std::string>(pointers.begin(), pointers.begin() + count);
    return settings;
  }
};

/// The text of the error that these arguments cause; empty if they cause none.
template <class Settings>
std::string text_of_error(std::vector<std::string> const& arguments) {
  try {
    (void)command_line(arguments).take<Settings>();
  } catch (error const& refused) {
    EXPECT_EQ(refused.code(), error_code::bad_argument);
    return refused.what();
  }
  return "";
}

}  // namespace

TEST(options_of_load_bench, leave_those_of_google_benchmark) {
  command_line none({"--benchmark_filter=fill", "--benchmark_min_time=0.1", "x"});
  EXPECT_FALSE(none.take<bench::load_settings>());
  EXPECT_EQ(none.left,
            (std::vector<std::string>{"program", "--benchmark_filter=fill", "--benchmark_min_time=0.1", "x"}));
  command_line some({"--benchmark_filter=/cpu/", "--p-alloc", "50", "--p-free-x", "--threads=64,4194304", "x"});
  auto const s = some.take<bench::load_settings>();
  ASSERT_TRUE(s);
  EXPECT_EQ(some.left, (std::vector<std::string>{"program", "--benchmark_filter=/cpu/", "--p-free-x", "x"}));
  EXPECT_EQ(s->p_alloc, std::vector<std::size_t>{50});
  EXPECT_EQ(s->p_free, std::vector<std::size_t>{75});
  EXPECT_EQ(s->threads, (std::vector<std::size_t>{64, 4194304}));
}

TEST(options_of_load_bench, select_all_combinations_of_their_values) {
  auto const s = command_line({"--p-alloc=5,100", "--p-free", "0", "--sizes", "128:161,512,4:8192", "--kernels=5,20",
                               "--threads=1,1048576", "--pool=3"})
                     .take<bench::load_settings>();
  ASSERT_TRUE(s);
  auto const cases = bench::cases_of(*s);
  ASSERT_EQ(cases.size(), 2u * 3 * 2 * 2);
  std::set<std::string> names;
  for (bench::load_run const& r : cases) {
    EXPECT_EQ(r.subject, "chosen");
    EXPECT_EQ(r.pool_bytes, std::size_t{3} << 20);
    EXPECT_EQ(r.what.p_free, 0u);
    names.insert(r.arguments);
  }
  EXPECT_EQ(names.size(), cases.size());
  EXPECT_EQ(cases[0].arguments, "p_alloc:5/p_free:0/mean:144/spread:33/kernels:5/threads:1");
  EXPECT_EQ(cases[0].what.smallest, 128u);
  EXPECT_EQ(cases[0].what.largest, 161u);
  EXPECT_EQ(cases[0].kernels, 5);
  bench::load_run const& last = cases.back();
  EXPECT_EQ(last.arguments, "p_alloc:100/p_free:0/mean:4098/spread:8188/kernels:20/threads:1048576");
  EXPECT_EQ(last.what.p_alloc, 100u);
  EXPECT_EQ(last.threads, 1048576u);
  EXPECT_EQ(last.kernels, 20);
}

TEST(options_of_load_bench, have_a_pool_for_their_blocks) {
  auto const pool = [](std::vector<std::string> const& arguments) {
    return bench::cases_of(*command_line(arguments).take<bench::load_settings>()).at(0).pool_bytes;
  };
  EXPECT_EQ(pool({"--threads=64"}), std::size_t{16} << 20);
  EXPECT_EQ(pool({"--threads=1048576", "--sizes=16:256"}), std::size_t{1} << 30);
}

TEST(options_of_load_bench, name_what_is_wrong_and_what_is_allowed) {
  struct {
    std::vector<std::string> arguments;
    std::string text;
  } const wrong[] = {
      {{"--p-alloc", "0"}, "--p-alloc: '0' is not a whole number from 1 to 100"},
      {{"--p-alloc=101"}, "--p-alloc: '101' is not a whole number from 1 to 100"},
      {{"--p-free=-1"}, "--p-free: '-1' is not a whole number from 0 to 100"},
      {{"--p-free=5%"}, "--p-free: '5%' is not a whole number from 0 to 100"},
      {{"--p-free=0.5"}, "--p-free: '0.5' is not a whole number from 0 to 100"},
      {{"--threads=1024,,64"}, "--threads: '' is not a whole number from 1 to 4194304"},
      {{"--threads=64,"}, "--threads: '' is not a whole number from 1 to 4194304"},
      {{"--threads="}, "--threads: '' is not a whole number from 1 to 4194304"},
      {{"--threads=4194305"}, "--threads: '4194305' is not a whole number from 1 to 4194304"},
      {{"--threads=99999999999999999999"}, "--threads: '99999999999999999999' is not a whole number from 1 to 4194304"},
      {{"--sizes=3:64"}, "--sizes: '3' is not a whole number from 4 to 8192"},
      {{"--sizes=64:8193"}, "--sizes: '8193' is not a whole number from 4 to 8192"},
      {{"--sizes=16,64:"}, "--sizes: '' is not a whole number from 4 to 8192"},
      {{"--sizes=64:128:256"}, "--sizes: '128:256' is not a whole number from 4 to 8192"},
      {{"--sizes=160:128"}, "--sizes: '160:128' begins with the larger number; write SMALLEST:LARGEST"},
      {{"--kernels=4"}, "--kernels: '4' is not a whole number from 5 to 10000"},
      {{"--pool=0"}, "--pool: '0' is not a whole number from 1 to 65536"},
      {{"--threads"}, "--threads needs a value"},
  };
  for (auto const& [arguments, text] : wrong)
    EXPECT_NE(text_of_error<bench::load_settings>(arguments).find(text), std::string::npos)
        << text << " / " << text_of_error<bench::load_settings>(arguments);
  for (auto const& arguments : {std::vector<std::string>{"--p-alloc=1"},
                                {"--p-alloc=100"},
                                {"--p-free=0"},
                                {"--p-free=100"},
                                {"--sizes=4"},
                                {"--sizes=8192"},
                                {"--threads=1"},
                                {"--kernels=5"}})
    EXPECT_EQ(text_of_error<bench::load_settings>(arguments), "") << arguments[0];
}

TEST(cases_of_load_bench, are_those_of_the_figures) {
  auto const cases = bench::cases_of_paper(16384);
  auto const find = [&](std::string const& subject, std::string const& arguments) {
    for (bench::load_run const& r : cases)
      if (r.subject == subject && r.arguments == arguments) return r;
    ADD_FAILURE() << subject << ' ' << arguments;
    return bench::load_run();
  };
  auto const fill = find("fill", "kernels:140");
  EXPECT_EQ(fill.threads, 16384u);
  EXPECT_EQ(fill.kernels, 140);
  EXPECT_EQ(fill.what.p_alloc, 5u);
  EXPECT_EQ(fill.what.p_free, 0u);
  auto const load = find("load", "bytes:128/threads:16384");
  EXPECT_EQ(load.what.smallest, 128u);
  EXPECT_EQ(load.what.largest, 128u);
  auto const spread = find("spread", "threads:1024/spread:896");
  EXPECT_EQ(spread.what.smallest, 64u);
  EXPECT_EQ(spread.what.largest, 960u);
  EXPECT_EQ(cases.size(), 13u + 4 * 4 + 2 * 8);
}

TEST(options_of_relational_bench, replace_the_sizes_of_the_figures) {
  command_line usual({"--benchmark_filter=join"});
  auto const none = usual.take<bench::relational_settings>();
  EXPECT_EQ(usual.left.size(), 2u);
  using sizes = std::vector<std::int64_t>;
  EXPECT_EQ(none.join_sizes(true).front(), 1 << 14);
  EXPECT_EQ(none.join_sizes(true).back(), 1 << 26);
  EXPECT_EQ(none.group_sizes(true).back(), 10'000'000);
  EXPECT_EQ(none.join_sizes(false), (sizes{1 << 14, 1 << 16, 1 << 18}));
  EXPECT_EQ(none.group_sizes(false), none.join_sizes(false));

  command_line both({"--tuples", "16777216,33554432", "--keys=1,134217728", "x"});
  auto const s = both.take<bench::relational_settings>();
  EXPECT_EQ(both.left, (std::vector<std::string>{"program", "x"}));
  for (bool const gpu : {false, true}) {
    EXPECT_EQ(s.join_sizes(gpu), (sizes{16777216, 33554432}));
    EXPECT_EQ(s.group_sizes(gpu), (sizes{1, 134217728}));
  }
  auto const keys = command_line({"--keys=5"}).take<bench::relational_settings>();
  EXPECT_EQ(keys.group_sizes(true), sizes{5});
  EXPECT_EQ(keys.join_sizes(true), none.join_sizes(true));
}

TEST(options_of_relational_bench, name_what_is_wrong_and_what_is_allowed) {
  std::string const allowed = " is not a whole number from 1 to 134217728";
  EXPECT_NE(text_of_error<bench::relational_settings>({"--tuples=16,0"}).find("--tuples: '0'" + allowed),
            std::string::npos);
  EXPECT_NE(text_of_error<bench::relational_settings>({"--keys", "134217729"}).find("--keys: '134217729'" + allowed),
            std::string::npos);
  EXPECT_NE(text_of_error<bench::relational_settings>({"--keys", "2.5M"}).find("--keys: '2.5M'" + allowed),
            std::string::npos);
}

}  // namespace wyrm::tests
